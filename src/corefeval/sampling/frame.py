"""The frame: the mentions of all responses and candidates, from which draws are made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import pairwise, repeat

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError
from corefeval.display import csv_cell
from corefeval.formats import read_ahead
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.joining import stack_mentions, strip_details
from corefeval.model.text_tokens import text_of
from corefeval.model.tokens import Tokens
from corefeval.model.views import Mention
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
    "singletons": "it needs both sides: use keep or drop",
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
    """The mentions of all responses and candidates, each once, in the order of documents and text.

    `entity` has a row for each system: the entity of each mention, and −1 where it lacks it.
    `corpora` are the responses in the order of their names, and candidates behind them.
    """

    names: tuple[str, ...]
    corpora: Sequence[Corpus]
    mentions: Corpus
    entity: IntArray
    candidates: BoolArray | None
    protocol: Protocol
    notices: tuple[Notice, ...]

    @cached_property
    def sizes(self) -> IntArray:
        """The size of the entity that each system gives to each mention, 0 without one."""
        rows = [np.bincount(row + 1)[row + 1] * (row >= 0) for row in self.entity]
        return np.array(rows, dtype=np.int64).reshape(self.entity.shape)

    @cached_property
    def documents(self) -> list[str]:
        """The ids of the documents, as they are read from sheets."""
        return [plain_text(str(identifier)) for identifier in self.mentions.documents]

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the mentions: spans such as 3..5, parts joined by +, or m1 and so on."""
        corpus = self.mentions
        if corpus.mention_start is None or corpus.mention_end is None:
            return [f"m{number}" for number in range(1, corpus.n_mentions + 1)]
        edges = corpus.mention_start.tolist(), corpus.mention_end.tolist()
        ids = [f"{start}..{end}" for start, end in zip(*edges, strict=True)]
        for row in corpus.gaps_of:
            parts = Mention(corpus[int(corpus.mention_document[row])], row).parts
            ids[row] = "+".join(f"{start}..{end}" for start, end in parts)
        return ids

    @cached_property
    def _numbers(self) -> dict[str, dict[str, int]]:
        edges = zip(self.documents, pairwise(self.mentions.mention_offsets.tolist()), strict=True)
        return {
            name: dict(zip(self.ids[first:last], range(first, last), strict=True))
            for name, (first, last) in edges
        }

    def find(self, document: str, mention: str) -> int | None:
        """The number of a mention, by its document and id; None where there is none."""
        return self._numbers.get(document, {}).get(mention)

    @cached_property
    def digest(self) -> str:
        """What tells responses and candidates from changed ones: 16 digits of their SHA-256."""
        owned, digest = self.mentions.mention_document, hashlib.sha256()
        texts = [str(identifier) for identifier in self.mentions.documents]
        groups = [(name, self.entity[self.names.index(name)]) for name in sorted(self.names)]
        if self.candidates is not None:
            groups.append(("+candidates", np.where(self.candidates, owned, -1)))
        for name, owner in groups:
            rows = np.flatnonzero(owner >= 0)
            leader = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.int64)
            leader[owner[rows[::-1]]] = rows[::-1]  # the first mention of each entity
            leaders = leader[owner[rows]]
            order = np.argsort(leaders, kind="stable")
            words = [*map(self.ids.__getitem__, rows[order].tolist())]
            begins = np.flatnonzero(np.diff(leaders[order], prepend=-1))
            documents = owned[rows[order][begins]].tolist()
            for place, document in zip(begins.tolist(), documents, strict=True):
                words[place] = f"\n{texts[document]}\t{words[place]}"
            lines = " ".join(words).replace(" \n", "\n")
            digest.update(f"{name}{lines}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    @cached_property
    def _groups(self) -> list[tuple[IntArray, IntArray]]:
        orders = [np.argsort(row, kind="stable") for row in self.entity]
        return [(order, row[order]) for order, row in zip(orders, self.entity, strict=True)]

    def members(self, system: int, mention: int) -> IntArray:
        """The mentions of the entity that a system gives to a mention, in order."""
        order, entities = self._groups[system]
        entity = self.entity[system, mention]
        first, last = np.searchsorted(entities, (entity, entity + 1))
        return order[first:last]

    def find_tokens(self, document: int) -> Tokens | None:
        """The tokens of a document, from the first corpus that has any."""
        tokens = (corpus.tokens for corpus in self.corpora)
        return next((t for t in tokens if t is not None and t.counts[document]), None)

    def show_contexts(self, spans: Sequence[tuple[int, int, int]]) -> list[list[str]]:
        """The texts before, in and after spans of documents; empty where there are no words."""
        texts = [["", "", ""] for _ in spans]
        windows: dict[int, list[tuple[int, range]]] = {}
        for number, (document, start, end) in enumerate(spans):
            tokens = self.find_tokens(document)
            if (text := text_of(tokens, document)) is not None:
                sides = text[:start].split()[-CONTEXT:], text[start:end].split(), text[end:].split()
                texts[number] = [" ".join(words[:CONTEXT]) for words in sides]
            elif tokens is not None and "word" in tokens.columns:
                place = next(n for n, corpus in enumerate(self.corpora) if corpus.tokens is tokens)
                last = min(end + CONTEXT, int(tokens.counts[document]))
                window = range(max(start - CONTEXT, 0), last)
                windows.setdefault(place, []).append((number, window))
        for place, listed in windows.items():
            tokens = self.corpora[place].tokens
            assert tokens is not None
            offsets = tokens.offsets.tolist()
            rows = np.array([offsets[spans[n][0]] + t for n, window in listed for t in window])
            words = iter(tokens.coded("word", rows).values())
            has_speakers = "speaker" in tokens.columns
            speakers = tokens.coded("speaker", rows).values() if has_speakers else repeat(None)
            turns = iter(speakers)
            for number, window in listed:
                _, start, end = spans[number]
                texts[number] = _join_words(window, start, end, words, turns)
        return texts


def _join_words(
    window: range,
    start: int,
    end: int,
    words: Iterator[str | None],
    speakers: Iterator[str | None],
) -> list[str]:
    """The texts before, in and after a span; names of speakers stand before what they say."""
    pieces: list[list[str]] = [[], [], []]
    before: str | None = ""
    for place, word, speaker in zip(window, words, speakers, strict=False):
        piece = (place >= start) + (place >= end)
        if speaker not in (before, None, "", "-", "_"):
            pieces[piece - (place == start)].append(f"[{speaker}:]")
        pieces[piece].append(word or "")
        before = speaker
    return [" ".join(piece) for piece in pieces]


def list_responses(responses: Responses) -> dict[str, Input]:
    """Responses by name; a single one, also a mapping to lists in plain Python, is `response`."""
    if not isinstance(responses, Mapping) or all(
        isinstance(value, list | tuple) for value in responses.values()
    ):
        return {"response": responses}
    for name in responses:
        if not name or set(name) & set(';|"') or plain_text(name) != name or name == "frame":
            raise UsageError(f"{name!r} cannot be the name of a response: use letters and digits")
    return dict(responses)


def make_frame(responses: Responses, candidates: Input | None, request: Request) -> Frame:
    """Read responses and candidates, and number their mentions, as the protocol leaves them."""
    protocol, reading = request.protocol, request.response_reading
    for name, value in protocol.values:
        if name in _REFUSED and value != "drop":
            raise UsageError(f"{name}:{value} cannot be estimated: {_REFUSED[name]}")
    inputs = list_responses(responses)
    jobs = [partial(as_corpus, source, name, reading) for name, source in sorted(inputs.items())]
    if candidates is not None:
        jobs.append(partial(as_corpus, candidates, "candidates", reading))
    corpora = [*read_ahead(jobs)]
    notices = [notice for corpus in corpora for notice in corpus.notices]
    corpora, codes, pairing_notices = pair_responses(corpora, protocol)
    notices += pairing_notices
    kept: list[Corpus] = []
    kept_codes: list[IntArray] = []
    sides = (
        (slice(len(inputs)), protocol),
        (slice(len(inputs), None), protocol.but(singletons="keep")),
    )
    for chosen, policies in sides:  # singletons of candidates are to stay
        left = apply_policies(corpora[chosen], codes[chosen], policies)
        kept, kept_codes, notices = kept + left[0], kept_codes + left[1], notices + left[2]
    names, has_candidates = tuple(inputs), candidates is not None
    frame = _number_mentions(names, kept, kept_codes, protocol, notices, has_candidates)
    if len(set(frame.documents)) < len(frame.documents):
        raise InputError(
            "the names of two documents differ only by what cannot be seen in a sheet",
            file=corpora[0].name or None,
            fix="give each document a name of its own",
        )
    return frame


def _number_mentions(
    names: tuple[str, ...],
    corpora: Sequence[Corpus],
    codes: Sequence[IntArray],
    protocol: Protocol,
    notices: Sequence[Notice],
    has_candidates: bool,
) -> Frame:
    """The frame of corpora in the order of their names, of which the last may be candidates."""
    stacked = reduce(stack_mentions, map(strip_details, corpora))
    _, first, inverse = np.unique(np.concatenate(codes), return_index=True, return_inverse=True)
    spans = () if stacked.labels is not None else (stacked.mention_end, stacked.mention_start)
    keys = (np.asarray(column)[first] for column in (*spans, stacked.mention_document))
    order = np.lexsort((first, *keys))
    numbers = np.argsort(order)[inverse.reshape(-1)]
    owners = np.full((len(corpora), order.size), -1, dtype=np.int64)
    ends = np.cumsum([corpus.n_mentions for corpus in corpora])[:-1]
    columns = np.split(numbers, ends), np.split(stacked.mention_entity, ends)
    for owner, rows, entities in zip(owners, *columns, strict=True):
        owner[rows] = entities
    return Frame(
        names,
        corpora,
        stacked.take_mentions(first[order]),
        owners[np.argsort(np.argsort(np.array(names)))],
        owners[-1] >= 0 if has_candidates else None,
        protocol,
        tuple(notices),
    )
