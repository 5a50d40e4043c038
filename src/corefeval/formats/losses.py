"""What writers share: corpora fitted to a format, and notices of what it cannot express."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from operator import ne
from pathlib import Path

import numpy as np

from corefeval.diagnostics import InputError, Notice, Notices, excerpt, note, plural
from corefeval.formats.declarations import EVERYTHING, Format, Written
from corefeval.model import IDENTITY, LAYERS, Corpus, Document, Mention, Relation
from corefeval.model.arrays import plain_rows
from corefeval.model.identity import writable_text
from corefeval.model.text_tokens import tokenise

ZERO = "##"  # before the words of zeros, in the formats of CRAC
_SURROGATE = re.compile("[\ud800-\udfff]")
# Columns that say where a token stands, and its word: every format has these in its own way.
_STRUCTURE = ("word", "document", "part", "number")


def adapt_corpus(corpus: Corpus, format: Format) -> tuple[Corpus, Notices]:
    """The part of a corpus that a format can express, and notices of what is left out or made up.

    Layers other than identity are left out and texts are cut into tokens where the format has none.
    A corpus that no format with positions can carry is an InputError.
    """
    notices: Notices = ()
    if corpus.entity_layer is not None and not format.has_layers:
        corpus, notices = _leave_out_layers(corpus)
    _check_writable(corpus, format.title)
    if not format.has_texts:
        n_notices = len(corpus.notices)
        corpus = tokenise(corpus)
        notices += corpus.notices[n_notices:]
    return corpus, notices


def _leave_out_layers(corpus: Corpus) -> tuple[Corpus, Notices]:
    """The corpus with its mentions of identity alone, and notices of all others."""
    identity = corpus.keep_layer(IDENTITY)
    counts = np.bincount(corpus.mention_layer, minlength=len(LAYERS)).tolist()
    layers = ", ".join(f"{n} {name}" for n, name in zip(counts[1:], LAYERS[1:], strict=True) if n)
    n_mentions = corpus.n_mentions - identity.n_mentions
    n_relations = len(corpus.relations) - len(identity.relations)
    return identity, (
        *note("layers", n_mentions, "mention", f"of other layers left out: {layers}"),
        *note("relations", n_relations, "relation", "of these left out"),
    )


def _check_writable(corpus: Corpus, title: str) -> None:
    """Refuse corpora that no format with positions can carry."""
    if corpus.labels is not None:
        raise InputError(
            f"plain Python mentions have no token positions, so they cannot be written as {title}",
            fix="make the corpus with corpus_from_arrays",
        )
    if not corpus.documents:
        raise InputError(
            f"a corpus without documents cannot be written as {title}",
            fix="make the corpus with corpus_from_arrays",
        )
    for name in map(str, corpus.documents):
        if writable_text(name) != name:
            raise InputError(
                f"a document whose id has half a character cannot be written as {title}",
                found=excerpt(name),
                expected="an id of whole characters: files cannot hold lone surrogates",
                fix="rename the document",
            )


def encode_text(text: str | bytes) -> bytes:
    """A text for a file; what UTF-8 cannot hold is an escape.

    A byte order mark is dropped when the file is read: it takes another one to keep it.
    """
    if isinstance(text, bytes):
        return text
    return re.sub("^\ufeff", "\ufeff\ufeff", text).encode(errors="backslashreplace")


def check_distinct(names: Iterable[str], format: str) -> None:
    """Refuse documents whose names in a format are equal, so that they could not be read again."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"two documents would both be called {excerpt(name)} in {format}",
                found="ids that differ only in what the format cannot express, such as line ends",
                fix="rename one of the two",
            )
        seen.add(name)


def note_losses(format: Format, corpus: Corpus, written: Written) -> Notices:
    """Notices of all that files do not keep of a corpus, as the format's declaration says."""
    relations, features = written.relations, written.features
    texts = (text for text in written.files.values() if isinstance(text, str))
    n_escaped = sum(len(_SURROGATE.findall(text)) for text in texts)
    return (
        *note_counts({**written.counts, "surrogates": n_escaped}, format.title),
        *_note_columns(corpus, format.columns, written.partial),
        *_note_features(corpus, format.features if features is None else features),
        *_note_relations([*corpus.relations] if relations is None else relations),
        *_note_metadata(corpus, format.metadata),
    )


def note_counts(
    counts: Mapping[str, int], title: str = "reading", *, whose: str = ""
) -> Iterator[Notice]:
    """Notices of what was counted, by kind; `whose` is the file that they are about.

    The words are those of `notices.toml` for the writer of a format of this title, or for readers.
    A kind that has none there is noted by its name.
    """
    if not any(counts.values()):
        return
    table = _words_of_notices()
    words = table.get(title, {}) | table["writing"]
    undeclared = sorted(counts.keys() - words.keys())
    words |= {kind: ("item", f"counted as ‘{kind}’") for kind in undeclared}
    for kind, (noun, text) in words.items():
        yield from note(kind, counts.get(kind, 0), noun, text, whose=whose)


@cache
def _words_of_notices() -> dict[str, dict[str, tuple[str, str]]]:
    """The nouns and texts of notices by the titles of formats and by kinds."""
    table = Path(__file__).with_name("notices.toml").read_text(encoding="utf-8")
    return tomllib.loads(table)


def _note_columns(
    corpus: Corpus, written: Collection[str], partial: Collection[str] | None
) -> Iterator[Notice]:
    tokens = corpus.tokens
    if tokens is None:
        return
    lost = [name for name in tokens.columns if name not in {*_STRUCTURE, *written}]
    yield from _list_names("token-columns", [c for c in lost if c != "empty"], "token column")
    scattered = tokens.partial_columns
    left_out = {*scattered} - {*_STRUCTURE, *written}
    left_out |= {*(scattered if partial is None else partial)} - {*_STRUCTURE[1:]}
    names = [name for name in scattered if name in left_out]
    yield from _list_names("token-columns", names, "token column", " that only some documents have")
    if "empty" in lost:
        n_empty = sum(tokens.column(d, "empty").count("1") for d in range(len(corpus)))
        yield from note("empty-nodes", n_empty, "empty node", "written as ordinary tokens")


def _note_features(corpus: Corpus, written: Collection[str]) -> Iterator[Notice]:
    names = [*corpus.features, *(["head"] if corpus.mention_head is not None else [])]
    lost = [name for name in names if name not in written]
    yield from _list_names("mention-features", lost, "mention feature")


def _note_relations(relations: Sequence[Relation]) -> Iterator[Notice]:
    if relations:
        kinds = Counter(relation.kind for relation in relations)
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        message = f"{plural(len(relations), 'relation')} left out: {listed}"
        yield Notice("relations", message, len(relations), tuple(kinds))


def _note_metadata(corpus: Corpus, written: Collection[str]) -> Iterator[Notice]:
    if EVERYTHING not in written:
        lost = sum(len(metadata.keys() - {*written}) for metadata in corpus.metadata)
        lost += sum(len(lines) for sentences in corpus.sentence_metadata for lines in sentences)
        yield from note("metadata", lost, "line", "about documents or sentences left out")


def _list_names(kind: str, names: list[str], noun: str, which: str = "") -> Iterator[Notice]:
    if names:
        message = f"{plural(len(names), noun)}{which} left out: {', '.join(names)}"
        yield Notice(kind, message, len(names), tuple(names))


def count_gapped(corpus: Corpus) -> Counter[str]:
    """How many mentions have gaps, as `discontinuous-mentions`, for formats that fill them."""
    return Counter({"discontinuous-mentions": len(set(corpus.gaps[:, 0].tolist()))})


def relations_of(document: Document) -> dict[int, Relation]:
    """The relations of a document, by their numbers in the corpus."""
    corpus = document.corpus
    of_document = corpus.entity_document[corpus.relations.entity] == document.index
    numbers = np.flatnonzero(of_document)
    return dict(plain_rows(numbers, corpus.relations.take(numbers)))


def words_of(document: Document) -> list[str]:
    """The words of a document; `_` for each token where the corpus has tokens but no words.

    Without tokens there are as many as the mentions need.
    """
    tokens = document.corpus.tokens
    if tokens is None:
        return ["_"] * max((mention.end for mention in document.mentions), default=0)
    if "word" not in tokens.columns:
        return ["_"] * int(tokens.counts[document.index])
    return document.words


def carry_words(
    words: Sequence[str], change: Callable[[str], str], counts: Counter[str]
) -> list[str]:
    """Words as a format can carry them; those that change are counted as `changed-words`."""
    carried = list(map(change, words))
    counts["changed-words"] += sum(map(ne, carried, words))
    return carried


def mark_zeros(document: Document, words: Sequence[str], counts: Counter[str]) -> list[str]:
    """Words with ## before those of zeros.

    Words that get the mark are counted as `zero-words`, and words that have it without being zeros
    as `false-zeros`.
    """
    zeros = document.column("empty") if "empty" in document.columns else [""] * len(words)
    marked = []
    for word, zero in zip(words, zeros, strict=True):
        is_marked, is_zero = word.startswith(ZERO), zero == "1"
        counts["zero-words"] += is_zero and not is_marked
        counts["false-zeros"] += is_marked and not is_zero
        mark = ZERO if is_zero and not is_marked else ""
        marked.append(mark if mark and word == "_" else mark + word)
    return marked


def name_entities(
    document: Document,
    safe: re.Pattern[str],
    counts: Counter[str],
    numbered: str = "{}",
    first: int = 0,
) -> dict[int, str]:
    """The entities' names where all are distinct and safe, or `numbered` ones, by entity.

    Names that are lost are counted as `entity-names`; numbers begin with `first`.
    """
    entities = document.entities
    names = {entity.index: entity.name for entity in entities}
    distinct = len(set(names.values())) == len(names)
    if distinct and all(safe.fullmatch(name) for name in names.values()):
        return names
    counts["entity-names"] += len(names)
    return {entity.index: numbered.format(n) for n, entity in enumerate(entities, start=first)}


def bracket_mentions(
    mentions: Iterable[Mention], names: Mapping[int, str], marks: str
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """What closes and what opens at each token, such as `1)`, and `(0` or `(0)` for "()".

    Brackets that close are in the order in which they were opened.
    """
    closing: dict[int, list[str]] = defaultdict(list)
    opening: dict[int, list[str]] = defaultdict(list)
    for mention in mentions:
        start, end = mention.span
        name = names[mention.entity.index] + marks[1]
        opening[start].append(marks[0] + (name if end - start == 1 else name[:-1]))
        if end - start > 1:
            closing[end - 1].append(name)
    return closing, opening


def sentence_bounds(document: Document, n_tokens: int) -> list[tuple[int, int]]:
    """Start and end of the sentences of a document that have tokens."""
    tokens = document.corpus.tokens
    starts = tokens.sentence_starts(document.index) if tokens is not None else []
    bounds = sorted({0, *(start for start in starts if 0 <= start < n_tokens), n_tokens})
    return list(pairwise(bounds))


def sentence_numbers(n_tokens: int, starts: Collection[int], empty: Sequence[str]) -> list[str]:
    """Token numbers from 1 in each sentence; empty nodes count behind the token before them."""
    numbers, starts = [], frozenset(starts)
    word = node = 0
    for position in range(n_tokens):
        if position in starts:
            word = node = 0
        if position < len(empty) and empty[position]:
            node += 1
            numbers.append(f"{word}.{node}")
        else:
            word, node = word + 1, 0
            numbers.append(str(word))
    return numbers


def nested_mentions(mentions: Sequence[Mention]) -> tuple[list[Mention], int]:
    """The mentions that brackets can carry, and how many they cannot.

    Brackets of one entity close in the order last opened, first closed. A mention that opens inside
    an earlier one of its entity and ends behind it cannot be written. Where it opens on the earlier
    one's last token all is well, as closing brackets are written before opening ones.
    """
    kept = []
    open_ends: dict[int, list[int]] = defaultdict(list)
    for mention in mentions:
        start, end = mention.span
        ends = open_ends[mention.entity.index]  # the innermost is the last
        while ends and ends[-1] - 1 <= start:
            ends.pop()
        if not ends or end <= ends[-1]:
            ends.append(end)
            kept.append(mention)
    return kept, len(mentions) - len(kept)
