"""BookNLP 1.0: mentions by their first and last tokens in `.entities`, the tokens in `.tokens`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.annotations import AnnotatedDocument, build_corpus
from corefeval.formats.feature_table import read_table
from corefeval.formats.source import Source
from corefeval.formats.standoff import read_companion
from corefeval.model import Corpus

_NUMBER = re.compile(r"[0-9]{1,15}")
_TOKENS = ("sentence_ID", "token_ID_within_document", "word")
_ENTITIES = ("COREF", "start_token", "end_token", "prop", "cat", "text")


def read_booknlp(source: Source, *, name: str = "") -> Corpus:
    """Read `.entities` and the `.tokens` beside it, through either of them.

    The last token of a mention is part of it; mentions of chain −1 are entities of their own.
    """
    is_tokens = source.data[:5].tobytes() != b"COREF"
    partner = read_companion(source, ".entities" if is_tokens else ".tokens")
    entities, tokens = (partner, source) if is_tokens else (source, partner)
    words: list[str] = []
    starts: list[int] = []
    last_sentence = None
    for line, (sentence, number, word) in _read_rows(tokens, _TOKENS):
        if number != str(len(words)):
            raise tokens.error(
                "tokens are not numbered one after the other",
                line,
                found=f"token {excerpt(number)}",
                expected=f"token_ID_within_document {len(words)}: from 0, without gaps",
                fix="run BookNLP again",
            )
        if sentence != last_sentence:
            starts.append(len(words))
            last_sentence = sentence
        words.append(word)
    document = AnnotatedDocument(entities, words=words, sentence_starts=starts)
    for line, (chain, first, last, kind, category, text) in _read_rows(entities, _ENTITIES):
        if not all(_NUMBER.fullmatch(token) for token in (first, last)):
            raise _row_error(entities, "a token is not a number", line, f"{first}\t{last}")
        start, end = int(first), int(last) + 1
        features = {"mention_type": kind, "entity_type": category}
        document.add([(start, end)], chain if chain != "-1" else None, features, line)
        document.counts["other-text"] += text.split() != " ".join(words[start:end]).split()
    return build_corpus([document], source, name)


def _read_rows(source: Source, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each row in the columns of these names; there are no quotes."""
    names, rows = read_table(source)
    if missing := [name for name in columns if name not in names]:
        raise _row_error(source, f"there is no column {excerpt(missing[0])}", 1, "\t".join(names))
    return ((line, [row[name] for name in columns]) for line, row in rows)


def _row_error(source: Source, problem: str, line: int, found: str) -> InputError:
    expected = f"the columns {', '.join(_ENTITIES)}, or in .tokens {', '.join(_TOKENS)}"
    fix = "run BookNLP again"
    return source.error(problem, line, found=excerpt(found), expected=expected, fix=fix)
