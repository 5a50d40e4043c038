"""Documents as other programs see them: entities as lists of mentions, in some order.

A mention is the pair of its first and last token, or whatever else a program tells mentions apart
by; where there are no tokens, it is the label that it was given.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, Notice, PairingError, excerpt
from corefeval.live.spans import spans_reading, with_positions
from corefeval.model import Corpus, DocumentId
from corefeval.pairing import join_groups, pair
from corefeval.protocol import Protocol, Spans, programs_with

Mention = Any  # hashable; a tuple (first token, last token, gaps …) where there are tokens
Entities = list[list[Mention]]


@dataclass(frozen=True, slots=True)
class Document:
    """The entities of both sides of a document; `index` is None where all documents are one."""

    name: str
    index: int | None
    key: Entities
    response: Entities

    @property
    def sides(self) -> tuple[Entities, Entities]:
        """Both sides, the key first."""
        return self.key, self.response


@dataclass(frozen=True, slots=True)
class Paired:
    """Both corpora with the same documents in the same places, and what was noticed.

    `spans` says how plain (start, end) mentions were read, where they were.
    """

    key: Corpus
    response: Corpus
    spans: Spans
    notices: tuple[Notice, ...] = ()

    @property
    def has_spans(self) -> bool:
        """Whether mentions are spans of tokens."""
        return self.key.labels is None and self.response.labels is None


def pair_corpora(key: Corpus, response: Corpus, protocol: Protocol) -> Paired:
    """Pair documents as the protocol says; plain (start, end) mentions become spans of tokens.

    With `pairing:one` documents are only put beside each other, as many as the longer side has.
    """
    if protocol.pairing == "one":
        _check_sentences(key, response, protocol)
        number = max(len(key.documents), len(response.documents))
        names = [DocumentId(str(place)) for place in range(number)]
        places = np.arange(number)
        key, response = (
            side.select_documents(np.where(places < len(side.documents), places, -1), names)
            for side in (key, response)
        )
        paired = Paired(key, response, protocol.spans, (*key.notices, *response.notices))
    else:
        try:
            made = pair(key, response, protocol)
        except PairingError as error:
            raise _of_program(error, protocol) from None
        (key, response), joined = join_groups((made.key, made.response), protocol.across)
        told = (*made.key.notices, *made.response.notices, *made.notices, *joined)
        paired = Paired(key, response, made.spans or protocol.spans, told)
    return _with_spans(paired)


def _of_program(error: PairingError, protocol: Protocol) -> PairingError:
    """The error, with the programs that end where a document is missing or extra."""
    for name, mark in (("missing", "key document"), ("extra", "response document")):
        if getattr(protocol, name) == "error" and mark in error.problem:
            return PairingError(
                f"{error.problem}, which ends {programs_with(name, 'error')}",
                file=error.file,
                found=error.found,
                fix=error.fix,
            )
    return error


def _with_spans(paired: Paired) -> Paired:
    """The same with token positions, where both sides have plain spans."""
    sides = paired.key, paired.response
    if any(side.labels is None for side in sides):
        return paired
    readings = {spans_reading(side, paired.spans) for side in sides if side.n_mentions}
    if None in readings or not readings:
        return paired
    reading = "inclusive" if "inclusive" in readings else "exclusive"
    key, response = (_placed(side, other, reading) for side, other in (sides, sides[::-1]))
    return replace(paired, key=key, response=response)


def _placed(side: Corpus, other: Corpus, reading: Any) -> Corpus:
    try:
        return with_positions(side, other, reading, guessed=False)
    except InputError:  # two numbers, but no spans: they are labels
        return side


def _check_sentences(key: Corpus, response: Corpus, protocol: Protocol) -> None:
    if protocol.missing != "error" or key.tokens is None or response.tokens is None:
        return
    mine, theirs = key.tokens.starts.size, response.tokens.starts.size
    if mine != theirs:
        raise PairingError(
            f"there are other numbers of sentences, which ends {programs_with('pairing', 'one')}",
            file=response.name or None,
            found=f"{theirs:,} sentences in the response",
            expected=f"{mine:,} as in the key",
            fix="give both sides the same sentences; --missing empty goes on, with all of them "
            "shifted, and --pairing name takes documents by their names",
        )


def list_documents(paired: Paired, *, is_one: bool) -> list[Document]:
    """The documents with their entities, or one that has the entities of all."""
    corpora = paired.key, paired.response
    longest = max(_longest(corpus) for corpus in corpora) if is_one else 0
    sides = [_joined(one, longest) if is_one else _entities(one) for one in corpora]
    names = ["all documents"] if is_one else [str(name) for name in paired.key.documents]
    return [
        Document(name, None if is_one else index, sides[0][index], sides[1][index])
        for index, name in enumerate(names)
    ]


def order_entities(documents: Sequence[Document], order: str) -> list[Document]:
    """The documents with their entities in an order of their mentions."""
    place = _PLACES[order]
    return [
        replace(one, key=_ordered(one.key, place), response=_ordered(one.response, place))
        for one in documents
    ]


def _entities(corpus: Corpus) -> list[Entities]:
    """The entities of each document, in the order of the corpus."""
    entities: Entities = [[] for _ in range(corpus.n_entities)]
    for entity, mention in zip(corpus.mention_entity.tolist(), _mentions(corpus), strict=True):
        entities[entity].append(mention)
    documents: list[Entities] = [[] for _ in corpus.documents]
    for document, own in zip(corpus.entity_document.tolist(), entities, strict=True):
        if own:
            documents[document].append(own)
    return documents


def _longest(corpus: Corpus) -> int:
    """How many tokens the mentions of the longest document need."""
    return 0 if corpus.mention_end is None else int(corpus.mention_end.max(initial=0))


def _mentions(corpus: Corpus, longest: int | None = None) -> list[Mention]:
    """Every mention; with `longest`, tokens are counted through all documents.

    Where there is no text, all documents are taken to be as long as the longest.
    """
    documents = corpus.mention_document
    if corpus.mention_start is None or corpus.mention_end is None:
        labels = list(corpus.labels or ())
        return labels if longest is None else list(zip(documents.tolist(), labels, strict=True))
    shift: Any = 0
    if longest is not None:
        tokens = corpus.tokens
        shift = documents * longest if tokens is None else tokens.offsets[documents]
    start, last = corpus.mention_start + shift, corpus.mention_end + shift - 1
    mentions: list[Mention] = list(zip(start.tolist(), last.tolist(), strict=True))
    for row, gaps in corpus.gaps_of.items():
        mentions[row] = (*mentions[row], *gaps)
    return mentions


def _joined(corpus: Corpus, longest: int) -> list[Entities]:
    """All documents as one: entities of the same number are one entity."""
    first = np.searchsorted(corpus.entity_document, np.arange(len(corpus.documents)))
    names: Sequence[Any] = corpus.names or [
        row - int(first[document]) for row, document in enumerate(corpus.entity_document.tolist())
    ]
    entities: dict[Any, list[Mention]] = {name: [] for name in names}  # in the order of the list
    rows = zip(corpus.mention_entity.tolist(), _mentions(corpus, longest), strict=True)
    for entity, mention in rows:
        entities[names[entity]].append(mention)
    return [[entity for entity in entities.values() if entity]]


def cut_windows(
    documents: Sequence[Document], paired: Paired, length: int
) -> tuple[list[Document], list[Notice]]:
    """Windows of so many tokens as documents: mentions that start behind their first token.

    One more window ends with the document, and so has tokens of the one before it too.
    """
    if not paired.has_spans:
        raise InputError(
            "windows need mentions with places in a text",
            found="mentions that are no (start, end) spans",
            fix="give (start, end) spans or files, or --window none",
        )
    cut: list[Document] = []
    lost = 0
    for one in documents:
        mentions = {mention for side in one.sides for entity in side for mention in entity}
        size = _size(paired.key, one.index) or max((m[1] + 1 for m in mentions), default=0)
        last = size - length
        # Windows without a mention, of which there may be any number, are left out.
        starts = sorted({m[0] - m[0] % length for m in mentions if m[0] - m[0] % length <= last})
        for start in (*starts, last):
            sides = (_within(side, start, start + length) for side in one.sides)
            end = start + length - 1
            cut.append(Document(f"{one.name} tokens {max(start, 0)}–{end}", one.index, *sides))
        lost += sum(not m[0] % length and m[0] <= last for m in mentions)
    text = "{n} at the start of a window left out"
    return cut, [Notice("windows", text, lost, noun="mention")] if lost else []


def _size(corpus: Corpus, index: int | None) -> int:
    """How many tokens a document has, or all documents; 0 where there is no text."""
    if corpus.tokens is None:
        return 0
    return int(corpus.tokens.counts.sum() if index is None else corpus.tokens.counts[index])


def _within(entities: Entities, start: int, end: int) -> Entities:
    parts = ([m for m in entity if start < m[0] < end] for entity in entities)
    return [part for part in parts if part]


_PLACES: dict[str, Callable[[Mention], tuple[int, ...]]] = {
    "open": lambda mention: (mention[0],),
    "close": lambda mention: (mention[1], mention[0] != mention[1], -mention[0]),
    "start": lambda mention: (mention[0], mention[1]),
}


def _ordered(entities: Entities, place: Callable[[Mention], tuple[int, ...]]) -> Entities:
    return sorted(entities, key=lambda entity: min(map(place, entity)))


def identify(documents: list[Document], paired: Paired, identity: str) -> list[Document]:
    """The documents with mentions by what a program tells them apart by.

    They are the same ones where that changes nothing: where sentences are the same on both sides,
    and no mention goes over a boundary.
    """
    if identity == "token" or not paired.has_spans:
        return documents
    sides = paired.key, paired.response
    starts = [[sentence_starts(corpus, one.index) for corpus in sides] for one in documents]
    changes = any(mine != theirs for mine, theirs in starts)
    for one, both in zip(documents, starts, strict=True):
        for entities, own, corpus in zip(one.sides, both, sides, strict=True):
            found = _over_boundary(entities, own)
            if found is not None and identity == "bounded":
                raise _boundary_error(one, found, corpus.name)
            changes |= found is not None
    if identity == "bounded" or not changes:
        return documents
    return [
        replace(one, key=_by_sentence(one.key, own[0]), response=_by_sentence(one.response, own[1]))
        for one, own in zip(documents, starts, strict=True)
    ]


def sentence_starts(corpus: Corpus, index: int | None) -> list[int]:
    """Where the sentences of a document begin, or those of all documents; none without a text."""
    if corpus.tokens is None:
        return []
    starts: list[int] = (
        corpus.tokens.starts.tolist() if index is None else corpus.tokens.sentence_starts(index)
    )
    return starts


def _over_boundary(entities: Entities, starts: list[int]) -> Mention | None:
    """A mention that begins in another sentence than it ends in."""
    for entity in entities:
        for mention in entity:
            if starts and mention[0] < starts[bisect_right(starts, mention[1]) - 1]:
                return mention
    return None


def _by_sentence(entities: Entities, starts: list[int]) -> Entities:
    """Mentions by the sentence of their end, and both ends, each in its own sentence."""
    return [[_place(mention, starts) for mention in entity] for entity in entities]


def _place(mention: Mention, starts: list[int]) -> Mention:
    if not starts:
        return mention
    first, last, *gaps = mention
    sentence, other = (bisect_right(starts, token) - 1 for token in (last, first))
    return sentence, first - starts[other], last - starts[sentence], *gaps


def _boundary_error(document: Document, mention: Mention, file: str) -> InputError:
    return InputError(
        f"a mention over a sentence boundary ends {programs_with('identity', 'bounded')}",
        file=file or None,
        found=f"tokens {mention[0]} to {mention[1]} of {excerpt(document.name)}",
        expected="each mention inside of a sentence",
        fix="--identity token goes on with it",
    )
