"""What a format cannot carry: counted, so that nothing is dropped silently."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import ne

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt, note, plural
from corefeval.model import IDENTITY, LAYERS, Corpus, Document, Mention, Relation, Relations
from corefeval.model.text_tokens import tokenise
from corefeval.model.words import writable_text

GAPS = {"discontinuous-mentions": ("mention", "with gaps, written as one span")}
_HALVES = {"surrogates": ("half character", "(lone surrogate) written as an escape, like \\udc80")}
IDS = {"mention-ids": ("mention", "with an id, numbered again")}
# Columns that say where a token stands, and its word: every format has these in its own way.
_STRUCTURE = ("word", "document", "part", "number")


def check_writable(corpus: Corpus, format: str) -> None:
    """Refuse corpora that no format with positions can carry."""
    if corpus.labels is not None:
        raise InputError(
            f"plain Python mentions have no token positions, so they cannot be written as {format}",
            fix="make the corpus with corpus_from_arrays",
        )
    if not corpus.documents:
        raise InputError(
            f"a corpus without documents cannot be written as {format}",
            fix="make the corpus with corpus_from_arrays",
        )
    for name in map(str, corpus.documents):
        if writable_text(name) != name:
            raise InputError(
                f"a document whose id has half a character cannot be written as {format}",
                found=excerpt(name),
                expected="an id of whole characters: files cannot hold lone surrogates",
                fix="rename the document",
            )


def encode_text(text: str, counts: Counter[str]) -> bytes:
    """A text for a file; what UTF-8 cannot hold is an escape, and counted as `surrogates`."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        counts["surrogates"] += sum(map(ne, text, writable_text(text)))
        return text.encode(errors="backslashreplace")


def check_distinct(names: Iterable[str], format: str) -> None:
    """Refuse documents that a format would call the same, so that they could not be read again."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"two documents would both be called {excerpt(name)} in {format}",
                found="ids that differ only in what the format cannot express, such as line ends",
                fix="rename one of the two",
            )
        seen.add(name)


def with_tokens(corpus: Corpus) -> tuple[Corpus, tuple[Notice, ...]]:
    """The corpus with tokens where it has texts in characters, and what is to say about it."""
    made = tokenise(corpus)
    return made, made.notices[len(corpus.notices) :]


def note_counts(
    counts: Mapping[str, int], texts: Mapping[str, tuple[str, str]], *, whose: str = ""
) -> Iterator[Notice]:
    """Notices of what was counted by kind; `texts` has for each the noun, and what was done."""
    for kind, (noun, what) in {**texts, **_HALVES}.items():
        yield from note(kind, counts[kind], noun, what, whose=whose)


def list_losses(
    corpus: Corpus,
    *,
    columns: Collection[str] = (),
    features: Collection[str] = (),
    relations: Sequence[Relation] | Relations = (),
    metadata: bool = False,
    partial: Collection[str] | None = None,
) -> list[Notice]:
    """What there is beside words, mentions and entities that a format does not write.

    `columns` and `features` (`head` among them) are those that it writes, `relations` are those
    that it left out, `metadata` whether it writes what is said about documents and sentences.
    `partial` are columns that it does not write as only some documents have them: by default all.
    """
    known_columns = corpus.tokens.columns if corpus.tokens is not None else ()
    some = corpus.tokens.partial_columns if corpus.tokens is not None else ()
    not_written = {*(some if partial is None else partial)} | {*some} - {*_STRUCTURE, *columns}
    lost_columns = [name for name in known_columns if name not in {*_STRUCTURE, *columns}]
    zeros = count_empty(corpus) if "empty" in lost_columns else 0
    lost_columns = [name for name in lost_columns if name != "empty"]
    lost_features = [name for name in corpus.features if name not in features]
    if corpus.mention_head is not None and "head" not in features:
        lost_features.append("head")
    lost = 0 if metadata else sum(map(len, corpus.metadata))
    lost += 0 if metadata else sum(len(a) for known in corpus.sentence_metadata for a in known)
    return [
        *_list_names("token-columns", lost_columns, "token column"),
        *note_partial(name for name in some if name in not_written),
        *note("empty-nodes", zeros, "empty node", "written as ordinary tokens"),
        *_list_names("mention-features", lost_features, "mention feature"),
        *_note_relations(relations),
        *note("metadata", lost, "line", "about documents or sentences left out"),
    ]


def note_partial(names: Iterable[str]) -> list[Notice]:
    """What to say of token columns that are left out as only some documents have them."""
    lost = [name for name in names if name not in _STRUCTURE[1:]]
    return _list_names("token-columns", lost, "token column", " that only some documents have")


def _note_relations(relations: Sequence[Relation] | Relations) -> list[Notice]:
    if not relations:
        return []
    kinds = Counter(relation.kind for relation in relations)
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    message = f"{plural(len(relations), 'relation')} left out: {listed}"
    return [Notice("relations", message, len(relations), tuple(kinds))]


def without_layers(corpus: Corpus) -> tuple[Corpus, tuple[Notice, ...]]:
    """The corpus with its mentions of identity alone, and what is lost with all others."""
    kept = corpus.keep_layer(IDENTITY)
    counts = np.bincount(corpus.mention_layer, minlength=len(LAYERS)).tolist()
    others = ", ".join(f"{n} {name}" for n, name in zip(counts[1:], LAYERS[1:], strict=True) if n)
    lost = len(corpus.relations) - len(kept.relations)
    told = corpus.n_mentions - kept.n_mentions
    return kept, (
        *note("layers", told, "mention", f"of other layers left out: {others}"),
        *note("relations", lost, "relation", "of these left out"),
    )


def count_empty(corpus: Corpus) -> int:
    """How many tokens stand for nothing in the text."""
    tokens = corpus.tokens
    if tokens is None or "empty" not in tokens.columns:
        return 0
    return sum(tokens.column(index, "empty").count("1") for index in range(len(corpus)))


def count_gapped(corpus: Corpus) -> Counter[str]:
    """How many mentions have gaps, for formats that fill them (see `GAPS`)."""
    return Counter({"discontinuous-mentions": len(set(corpus.gaps[:, 0].tolist()))})


def relations_of(document: Document) -> dict[int, Relation]:
    """The relations of a document, by their numbers in the corpus."""
    corpus = document.corpus
    of_document = corpus.entity_document[corpus.relations.entity] == document.index
    numbers = np.flatnonzero(of_document)
    return dict(zip(numbers.tolist(), corpus.relations.take(numbers), strict=True))


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


def name_entities(
    document: Document,
    safe: re.Pattern[str],
    counts: Counter[str],
    made: str = "{}",
    first: int = 0,
) -> dict[int, str]:
    """The entities' own names where all are distinct and safe, or numbered ones, by entity.

    Names that are lost are counted as `entity-names`.
    """
    entities = document.entities
    names = {entity.index: entity.name for entity in entities}
    distinct = len(set(names.values())) == len(names)
    if distinct and all(safe.fullmatch(name) for name in names.values()):
        return names
    counts["entity-names"] += len(names)
    return {entity.index: made.format(n) for n, entity in enumerate(entities, start=first)}


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


def _list_names(kind: str, names: list[str], noun: str, which: str = "") -> list[Notice]:
    message = f"{plural(len(names), noun)}{which} left out: {', '.join(names)}"
    return [Notice(kind, message, len(names), tuple(names))] if names else []


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
