"""The frame: the mentions of all responses and candidates, from which draws are made."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError
from corefeval.display import csv_cell
from corefeval.formats import read_ahead
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, ragged_arange
from corefeval.model.text_tokens import text_of
from corefeval.pairing.annotators import pair_responses
from corefeval.pairing.policies import apply_policies
from corefeval.preparation import as_corpus
from corefeval.protocol import Protocol
from corefeval.request import Input, Request

Responses = Input | Mapping[str, Input]
CONTEXT = 40  # tokens on each side of a mention
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_IDENTITY = "the mentions of a sheet must be the same for every response: leave it out"
_REFUSED = {
    "match": _IDENTITY,
    "tokens": _IDENTITY,
    "across": "names hold within a document: leave it out",
    "split": "sets of antecedents are no entities that can be drawn: leave it out",
    "pairing": "documents are told apart by their names: leave it out",
    "missing": "a document that a response lacks has no mentions there: leave it out",
    "extra": "documents of all responses are drawn from: leave it out",
    "lost": "mentions that are not in the text cannot be shown to anybody: leave it out",
}


def escape_cell(text: str) -> str:
    """Text as a cell of a sheet: one visible line, and never a formula; `-` alone is none."""
    return text if text == "-" else str(csv_cell(text))


def plain_cell(text: str) -> str:
    """The text of a cell, without blanks around it and without the apostrophe of `escape_cell`."""
    text = text.strip()
    return text[1:] if text[:1] == "'" and text[1:].startswith(_FORMULA) else text


def plain_text(text: str) -> str:
    """Text as it is read from the cell that it was written to."""
    return plain_cell(escape_cell(text))


@dataclass(frozen=True, eq=False)
class Frame:
    """Distinct mentions by document and place, and the entities that each system gives them.

    `entity` has a row for each system, and −1 for mentions that it lacks. `spans` are start and end
    of mentions, unless they have `labels` of plain Python. `text_place` is the number of the corpus
    that has the text of each document.
    """

    names: tuple[str, ...]
    corpora: Sequence[Corpus]
    candidates: IntArray | None
    text_place: IntArray
    document: IntArray
    entity: IntArray
    digest: str
    protocol: Protocol
    notices: tuple[Notice, ...]
    ids: list[str]
    spans: IntArray
    labels: Sequence[Hashable] | None

    @property
    def size(self) -> int:
        """How many mentions there are."""
        return len(self.ids)

    @cached_property
    def sizes(self) -> IntArray:
        """The size of the entity that each system gives to each mention, 0 without one."""
        rows = [np.bincount(row + 1)[row + 1] * (row >= 0) for row in self.entity]
        return np.array(rows, dtype=np.int64).reshape(self.entity.shape)

    @cached_property
    def documents(self) -> list[str]:
        """The documents by their places in the corpora, as sheets write them."""
        return [plain_text(str(identifier)) for identifier in self.corpora[0].documents]

    @cached_property
    def document_order(self) -> list[int]:
        """The places of the documents in the order of their ids, which is that of mentions."""
        return _order_documents(self.corpora[0])

    @cached_property
    def index(self) -> dict[tuple[str, str], int]:
        """The number of each mention, by document and id."""
        names = map(self.documents.__getitem__, self.document.tolist())
        return {place: number for number, place in enumerate(zip(names, self.ids, strict=True))}

    @cached_property
    def _groups(self) -> list[tuple[IntArray, IntArray]]:
        orders = [np.argsort(row, kind="stable") for row in self.entity]
        return [(order, row[order]) for order, row in zip(orders, self.entity, strict=True)]

    def members(self, system: int, mention: int) -> IntArray:
        """The mentions of the entity that a system gives to a mention, in order."""
        order, entities = self._groups[system]
        entity = self.entity[system, mention]
        first, last = np.searchsorted(entities, entity), np.searchsorted(entities, entity, "right")
        return order[first:last]


def list_responses(responses: Responses) -> dict[str, Input]:
    """Responses by name; a single one, also a mapping to lists in plain Python, is `response`."""
    is_plain = isinstance(responses, Mapping) and all(
        isinstance(value, list | tuple) for value in responses.values()
    )
    if not isinstance(responses, Mapping) or is_plain:
        return {"response": responses}
    names = [*map(str, responses)]
    for name in names:
        if not name or set(name) & set(';|"') or plain_text(name) != name or name == "frame":
            raise UsageError(f"{name!r} cannot be the name of a response: use letters and digits")
    return dict(zip(names, responses.values(), strict=True))


def make_frame(responses: Responses, candidates: Input | None, request: Request) -> Frame:
    """Read responses and candidates, and number their mentions, as the protocol leaves them."""
    protocol = request.protocol
    for name, value in protocol.values:
        if name in _REFUSED:
            raise UsageError(f"{name}:{value} cannot be estimated: {_REFUSED[name]}")
    if protocol.singletons not in ("keep", "drop"):
        raise UsageError(f"singletons:{protocol.singletons} needs both sides: use keep or drop")
    inputs = list_responses(responses)
    reading = request.response_reading
    jobs = [partial(as_corpus, source, name, reading) for name, source in sorted(inputs.items())]
    if candidates is not None:
        jobs.append(partial(as_corpus, candidates, "candidates", reading))
    corpora = [*read_ahead(jobs)]
    notices = [notice for corpus in corpora for notice in corpus.notices]
    corpora, codes, pairing_notices = pair_responses(corpora, protocol)
    count = len(inputs)
    kept, kept_codes, dropped, _ = apply_policies(corpora[:count], codes[:count], protocol)
    if candidates is not None:  # of which singletons are to stay
        further = apply_policies(corpora[count:], codes[count:], protocol.but(singletons="keep"))
        kept, kept_codes = [*kept, *further[0]], [*kept_codes, *further[1]]
        dropped += further[2]
    notices += [*pairing_notices, *dropped]
    return _number_mentions(kept, kept_codes, tuple(inputs), protocol, tuple(notices))


def _number_mentions(
    corpora: Sequence[Corpus],
    codes: Sequence[IntArray],
    names: tuple[str, ...],
    protocol: Protocol,
    notices: tuple[Notice, ...],
) -> Frame:
    """The frame of corpora in the order of their names, candidates last."""
    _, first, inverse = np.unique(np.concatenate(codes), return_index=True, return_inverse=True)
    texts = [str(identifier) for identifier in corpora[0].documents]
    rank = np.empty(len(texts), dtype=np.int64)
    rank[_order_documents(corpora[0])] = np.arange(len(texts))
    document = np.concatenate([corpus.mention_document for corpus in corpora])[first]
    has_labels = corpora[0].labels is not None
    spans = [
        np.concatenate([np.asarray(getattr(corpus, name)) for corpus in corpora])[first]
        for name in ("mention_end", "mention_start")
        if not has_labels
    ]
    order = np.lexsort((first, *spans, rank[document]))
    new = np.empty(order.size, dtype=np.int64)
    new[order] = np.arange(order.size)
    ends = np.cumsum([corpus.n_mentions for corpus in corpora])
    places = [new[rows] for rows in np.split(inverse.reshape(-1), ends[:-1])]
    labels = [label for corpus in corpora for label in corpus.labels or ()]
    if has_labels:
        ids = [f"m{number}" for number in range(1, order.size + 1)]
    else:
        edges = (edge[order].tolist() for edge in reversed(spans))
        ids = [f"{start}..{end}" for start, end in zip(*edges, strict=True)]
        _name_gaps(corpora, first[order], ids)
    entity = np.full((len(names), order.size), -1, dtype=np.int64)
    by_name = sorted(range(len(names)), key=names.__getitem__)
    for number, system in enumerate(by_name):
        entity[system, places[number]] = corpora[number].mention_entity
    candidates = np.sort(places[-1]) if len(corpora) > len(names) else None
    text_of = [texts[index] for index in document[order].tolist()]
    digest = _digest([(names[s], entity[s]) for s in by_name], candidates, text_of, ids)
    held = [np.array([_has_text(c, d) for d in range(len(texts))]) for c in corpora]
    frame = Frame(
        names, corpora, candidates, np.argmax(held, axis=0), document[order], entity, digest,
        protocol, notices, ids, np.array(spans[::-1]).T[order] if spans else order,
        [labels[row] for row in first[order].tolist()] if has_labels else None,
    )  # fmt: skip
    if len(set(frame.documents)) < len(texts):
        raise InputError(
            "the names of two documents differ only by what cannot be seen in a sheet",
            file=corpora[0].name or None,
            fix="give each document a name of its own",
        )
    return frame


def _order_documents(corpus: Corpus) -> list[int]:
    texts = [str(identifier) for identifier in corpus.documents]
    return sorted(range(len(texts)), key=texts.__getitem__)


def _has_text(corpus: Corpus, document: int) -> bool:
    return corpus.tokens is not None and bool(corpus.tokens.counts[document])


def _name_gaps(corpora: Sequence[Corpus], rows: IntArray, ids: list[str]) -> None:
    """Put the parts of mentions that have gaps into their ids."""
    shift, new = 0, {row: number for number, row in enumerate(rows.tolist())}
    for corpus in corpora:
        for row in corpus.gaps_of:
            if (number := new.get(row + shift)) is not None:
                document = corpus[int(corpus.mention_document[row])]
                parts = document.mentions[row - document.rows.start].parts
                ids[number] = "+".join(f"{start}..{end}" for start, end in parts)
        shift += corpus.n_mentions


def _digest(
    systems: Iterable[tuple[str, IntArray]],
    candidates: IntArray | None,
    texts: Sequence[str],
    ids: Sequence[str],
) -> str:
    """What tells responses and candidates from changed ones: 16 digits of their SHA-256."""
    digest = hashlib.sha256()

    def add(line: str) -> None:
        digest.update(line.encode("utf-8", "surrogatepass"))

    for name, entity in systems:
        entities: dict[int, list[str]] = {}
        for number, mention, text in zip(entity.tolist(), ids, texts, strict=True):
            if number >= 0:
                entities.setdefault(number, [f"{text}\t{mention}"]).append(mention)
        lines = (" ".join([first, *further[1:]]) for first, *further in entities.values())
        add("\n".join((name, *lines, "")))
    if candidates is not None:
        add("+candidates\n")
        for text, rows_of_text in groupby(candidates.tolist(), key=texts.__getitem__):
            add(f"{text}\t{' '.join(ids[row] for row in rows_of_text)}\n")
    return digest.hexdigest()[:16]


def show_contexts(frame: Frame, spans: Sequence[tuple[int, int, int]]) -> list[list[str]]:
    """The texts before, in and after spans of documents; empty ones where a corpus has no words.

    Where the corpus has speakers, their names stand before what they begin to say.
    """
    texts = [["", "", ""] for _ in spans]
    for place in {int(frame.text_place[document]) for document, _, _ in spans}:
        tokens = frame.corpora[place].tokens
        chosen = [number for number, span in enumerate(spans) if frame.text_place[span[0]] == place]
        ranges = []
        for number in chosen:
            document, start, end = spans[number]
            if (text := text_of(tokens, document)) is not None:
                pieces = (
                    text[:start].split()[-CONTEXT:],
                    text[start:end].split(),
                    text[end:].split(),
                )
                texts[number] = [" ".join(piece[:CONTEXT]) for piece in pieces]
            count = 0 if tokens is None or text is not None else int(tokens.counts[document])
            ranges.append((max(start - CONTEXT, 0), max(min(end + CONTEXT, count), 0)))
        if tokens is None or "word" not in tokens.columns:
            continue
        first, last = np.array(ranges).T + tokens.offsets[[spans[number][0] for number in chosen]]
        rows = ragged_arange(first, np.maximum(last - first, 0))
        words = [word or "" for word in tokens.coded("word", rows).values()]
        has_speakers = "speaker" in tokens.columns
        speakers = tokens.coded("speaker", rows).values() if has_speakers else [None] * len(words)
        after = 0
        for number, (begin, end) in zip(chosen, ranges, strict=True):
            piece = slice(after, after := after + max(end - begin, 0))
            _, start, stop = spans[number]
            if piece.start < piece.stop:
                cuts = start - begin, stop - begin
                texts[number] = _join_words(words[piece], speakers[piece], *cuts)
    return texts


def _join_words(
    words: Sequence[str], speakers: Sequence[str | None], start: int, end: int
) -> list[str]:
    """The texts before, in and after a span, with speakers where they begin; `-` is nobody."""
    pieces: list[list[str]] = [[], [], []]
    before: str | None = ""
    for place, (word, speaker) in enumerate(zip(words, speakers, strict=True)):
        piece = (place >= start) + (place >= end)
        if speaker not in (before, None, "", "-", "_"):
            pieces[piece - (place == start)].append(f"[{speaker}:]")
        pieces[piece].append(word)
        before = speaker
    return [" ".join(piece) for piece in pieces]
