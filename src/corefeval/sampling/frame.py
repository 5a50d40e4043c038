"""The frame: the mentions of all responses and candidates, from which draws are made."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError
from corefeval.display import csv_cell, distinct_names, plain_cell
from corefeval.formats import read_ahead
from corefeval.model import Corpus
from corefeval.model.arrays import (
    ByteArray,
    IntArray,
    begin_runs,
    plain_rows,
    ragged_arange,
    stable_order,
    starts_of,
)
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
Span = tuple[int, int, int]  # document, start, end
CONTEXT = 40  # tokens on each side of a mention
_IDENTITY = "the mentions of a sheet must be the same for every response: leave it out"
_DOCUMENTS = "documents of all responses are drawn from, by their names: leave it out"
_REFUSED = {
    "match": _IDENTITY,
    "tokens": _IDENTITY,
    "across": "names hold within a document: leave it out",
    "split": "sets of antecedents are not entities that could be drawn: leave it out",
    "pairing": _DOCUMENTS,
    "missing": _DOCUMENTS,
    "extra": _DOCUMENTS,
    "singletons": "it needs a key: use keep or drop",
    "lost": "mentions that are not in the text cannot be shown to anybody: leave it out",
}


def plain_text(text: str) -> str:
    """Text as it is read from the cell that it was written to."""
    return plain_cell(str(csv_cell(text)))


def name_mention(mention: Any) -> str:
    """The id of a span, or of several; other values as text.

    >>> name_mention((3, 5)), name_mention(((3, 5), (7, 8))), name_mention("m1")
    ('3..5', '3..5+7..8', 'm1')
    """
    if not isinstance(mention, tuple):
        return str(mention)
    parts = mention if isinstance(mention[0], tuple) else (mention,)
    return "+".join("..".join(map(str, part)) for part in parts)


@dataclass(frozen=True, eq=False)
class Frame:
    """The mentions of all responses and candidates, each once, in the order of documents and text.

    `titles` are the names of responses as they came. `corpora` are the responses in the order of
    their `names`, and candidates behind them. `entity` has a row for each of them: the entity of
    each mention, and −1 where it is lacking.
    """

    titles: tuple[str, ...]
    names: tuple[str, ...]
    corpora: Sequence[Corpus]
    mentions: Corpus
    entity: IntArray
    protocol: Protocol
    notices: tuple[Notice, ...]

    @cached_property
    def sizes(self) -> IntArray:
        """The size of the entity that each system gives to each mention, 0 without one."""
        rows = self.entity[: len(self.names)]
        return np.array([np.bincount(row + 1)[row + 1] * (row >= 0) for row in rows])

    @cached_property
    def documents(self) -> list[str]:
        """The ids of the documents, as they are read from sheets."""
        return distinct_names([plain_text(str(name)) for name in self.mentions.documents])

    @cached_property
    def spans(self) -> IntArray:
        """Document, start and end of each mention; those of plain Python stand in a line."""
        corpus, places = self.mentions, np.arange(self.mentions.n_mentions + 1)
        start, end = corpus.mention_start, corpus.mention_end
        if corpus.labels is not None:
            start, end = places[:-1], places[1:]
        return np.array((corpus.mention_document, start, end)).T

    @cached_property
    def _characters(self) -> ByteArray:
        """A blank and the id of each mention in a row of characters, with zeros among them."""
        corpus = self.mentions
        if not corpus.labels and not corpus.gaps_of:
            return _print_spans(self.spans)
        names = [f" {start}..{end}" for _, start, end in self.spans.tolist()]
        if corpus.labels is not None:
            names = [f" m{number}" for number in self.spans[:, 2].tolist()]
        for row in corpus.gaps_of:
            parts = Mention(corpus[int(self.spans[row, 0])], row).parts
            names[row] = f" {name_mention(tuple(parts))}"
        return np.array(names, dtype="S").view(np.uint8).reshape(len(names), -1)

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the mentions: spans such as 3..5, parts joined by +, or m1 and so on."""
        return _join_characters(self._characters).decode().split()

    @cached_property
    def numbers(self) -> dict[str, dict[str, int]]:
        """The numbers of mentions by document and id."""
        edges = zip(self.documents, pairwise(self.mentions.mention_offsets.tolist()), strict=True)
        return {
            name: dict(zip(self.ids[first:last], range(first, last), strict=True))
            for name, (first, last) in edges
        }

    def list_labels(self, document: str) -> dict[str, Hashable]:
        """The labels of plain Python in a document, by id; none for other mentions."""
        labels = self.mentions.labels or ()
        numbers = self.numbers[document] if labels else {}
        return {name: labels[row] for name, row in numbers.items()}

    @cached_property
    def digest(self) -> str:
        """What tells responses and candidates from changed ones: 16 digits of their SHA-256."""
        places, digest = self.mentions.mention_document, hashlib.sha256()
        heads = [f"\n{name}\t".encode("utf-8", "surrogatepass") for name in self.mentions.documents]
        for name, row in zip((*self.names, "+candidates"), self.entity, strict=False):
            owner = row if name in self.names else np.where(row >= 0, places, -1)
            mentions = np.flatnonzero(owner >= 0)
            first = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.int64)
            first[owner[mentions[::-1]]] = mentions[::-1]  # the first mention of each entity
            mentions = mentions[stable_order(first[owner[mentions]])]
            lines = self._characters[mentions]
            lines[begin_runs(owner[mentions]), 0] = ord("\n")
            edges = np.searchsorted(places[mentions], np.arange(len(heads) + 1)).tolist()
            digest.update(name.encode("utf-8", "surrogatepass"))
            for head, (start, end) in zip(heads, pairwise(edges), strict=True):
                digest.update(_join_characters(lines[start:end]).replace(b"\n", head))
            digest.update(b"\n")
        return digest.hexdigest()[:16]

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences of all documents that any response has."""
        sentences: list[Span] = []
        for document in range(len(self.documents)):
            tokens = self.find_tokens(document, self.corpora[: len(self.names)])
            if self.mentions.labels is not None or (tokens and not tokens.marks_sentences):
                raise InputError(
                    "sentences cannot be drawn, because nothing says where they begin",
                    file=self.corpora[0].name or None,
                    expected="a format with tokens and sentences",
                    fix="take another design: names, entities or pairs",
                )
            ranges = tokens.sentence_ranges(document) if tokens else ()
            sentences += [(document, part.start, part.stop) for part in ranges]
        return sentences

    @cached_property
    def sentence_numbers(self) -> dict[str, dict[str, int]]:
        """The numbers of sentences by document, and by their number in it, from 1."""
        numbers: dict[str, dict[str, int]] = {}
        for index, (document, _, _) in enumerate(self.sentences):
            in_document = numbers.setdefault(self.documents[document], {})
            in_document[str(len(in_document) + 1)] = index
        return numbers

    def list_mentions(self, sentence: Span) -> list[int]:
        """The mentions that begin in a sentence."""
        document, start, end = sentence
        first, last = self.mentions.mention_offsets[document : document + 2].tolist()
        edges = first + np.searchsorted(self.spans[first:last, 1], (start, end))
        return [*range(*edges.tolist())]

    def find_tokens(self, document: int, corpora: Sequence[Corpus] = ()) -> Tokens | None:
        """The tokens of a document, from the first corpus that has any."""
        tokens = (corpus.tokens for corpus in corpora or self.corpora)
        return next((t for t in tokens if t is not None and t.counts[document]), None)

    def show(self, spans: Sequence[Span]) -> list[tuple[str, str, str]]:
        """The texts before, in and after spans; empty where a document has no words."""
        if self.mentions.labels is not None:
            return [("", str(self.mentions.labels[start]), "") for _, start, _ in spans]
        contexts: dict[Span, tuple[str, str, str]] = {}
        for tokens in filter(None, (corpus.tokens for corpus in self.corpora)):
            new = [span for span in spans if span not in contexts and tokens.counts[span[0]]]
            if tokens.has_texts:
                contexts |= zip(new, _cut_texts(tokens, new), strict=True)
            elif new and "word" in tokens.columns:
                contexts |= zip(new, _join_words(tokens, np.array(new)), strict=True)
        return [contexts.get(span, ("", "", "")) for span in spans]


def _print_spans(spans: IntArray) -> ByteArray:
    """A blank and the id of each span as rows of characters; zeros stand before the digits.

    It takes a tenth of the time of making texts, which would be a third of that of a sheet.
    """
    columns = [np.full(len(spans), ord(" "))]
    for positions, mark in zip(spans.T[1:], ("..", ""), strict=True):
        for power in reversed(range(len(str(positions.max(initial=0))))):
            quotient = positions // 10**power
            is_shown = quotient > 0 if power else True
            columns.append(np.where(is_shown, quotient % 10 + ord("0"), 0))
        columns += [np.full(len(spans), ord(character)) for character in mark]
    return np.stack([column.astype(np.uint8) for column in columns], axis=1)


def _join_characters(rows: ByteArray) -> bytes:
    return rows.tobytes().translate(None, b"\0")


def _cut_texts(tokens: Tokens, spans: Sequence[Span]) -> Iterator[tuple[str, str, str]]:
    """The words before, in and after spans of characters."""
    for document, start, end in spans:
        text = text_of(tokens, document) or ""
        before, after = text[:start].split()[-CONTEXT:], text[end:].split()[:CONTEXT]
        yield " ".join(before), " ".join(text[start:end].split()), " ".join(after)


def _join_words(tokens: Tokens, spans: IntArray) -> Iterator[tuple[str, str, str]]:
    """The words before, in and after spans; names of speakers stand before what they say."""
    document, start, end = spans.T
    first = np.maximum(start - CONTEXT, 0)
    lengths = np.minimum(end + CONTEXT, tokens.counts[document]) - first
    rows = ragged_arange(tokens.offsets[document] + first, lengths)
    words = [word or "" for word in tokens.coded("word", rows).values()]
    turns = [""] * rows.size
    if "speaker" in tokens.columns:
        speakers = tokens.coded("speaker", rows)
        begins = begin_runs(speakers.codes, np.repeat(np.arange(lengths.size), lengths))
        begins &= speakers.where(lambda name: name not in ("", "-", "_"))
        for place in np.flatnonzero(begins).tolist():
            turns[place] = f"[{speakers.names[speakers.codes[place]]}:] "
    spoken = [*map(str.__add__, turns, words)]
    shift = starts_of(lengths) - first
    for bounds in plain_rows(first + shift, start + shift, end + shift, first + lengths + shift):
        outer, inner, after, last = bounds
        before = " ".join([*spoken[outer:inner], turns[inner]]).rstrip()
        yield before, " ".join(words[inner:after]), " ".join(spoken[after:last])


def list_responses(responses: Responses) -> dict[str, Input]:
    """Responses by name; a single one, also a mapping to lists in plain Python, is `response`."""
    if not isinstance(responses, Mapping) or all(
        isinstance(value, list | tuple) for value in responses.values()
    ):
        return {"response": responses}
    for name in responses:
        if set(name) & set(";|") or plain_text(name) != name or name in ("", "frame"):
            raise UsageError(f"{name!r} cannot be the name of a response: use letters and digits")
    return dict(responses)


def make_frame(responses: Responses, candidates: Input | None, request: Request) -> Frame:
    """Read responses and candidates, and number their mentions, as the protocol leaves them."""
    protocol = request.protocol
    for name, value in protocol.values:
        if name in _REFUSED and value != "drop":
            raise UsageError(f"{name}:{value} cannot be estimated: {_REFUSED[name]}")
    titles = list_responses(responses)
    inputs = sorted(titles.items())
    names = tuple(sorted(titles))
    inputs += [("candidates", candidates)] if candidates is not None else []
    reading = request.response_reading
    corpora = [*read_ahead([partial(as_corpus, source, name, reading) for name, source in inputs])]
    notices = [notice for corpus in corpora for notice in corpus.notices]
    corpora, codes, pairing_notices = pair_responses(corpora, protocol)
    n, policies = len(names), protocol.but(singletons="keep")  # candidates keep theirs
    kept, kept_codes, dropped, _ = apply_policies(corpora[:n], codes[:n], protocol)
    further, further_codes, repeated, _ = apply_policies(corpora[n:], codes[n:], policies)
    mentions, entity = _number_mentions(kept + further, kept_codes + further_codes)
    notices += (*pairing_notices, *dropped, *repeated)
    return Frame(tuple(titles), names, kept + further, mentions, entity, protocol, tuple(notices))


def _number_mentions(
    corpora: Sequence[Corpus], codes: Sequence[IntArray]
) -> tuple[Corpus, IntArray]:
    """Each mention of the corpora once, in the order of text, and its entity in every corpus."""
    stacked = reduce(stack_mentions, map(strip_details, corpora))
    _, first, inverse = np.unique(np.concatenate(codes), return_index=True, return_inverse=True)
    spans = () if stacked.labels is not None else (stacked.mention_end, stacked.mention_start)
    keys = (np.asarray(column)[first] for column in (*spans, stacked.mention_document))
    order = np.lexsort((first, *keys))
    entity = np.full((len(corpora), order.size), -1, dtype=np.int64)
    owner = np.repeat(np.arange(len(corpora)), [corpus.n_mentions for corpus in corpora])
    entity[owner, np.argsort(order)[inverse.reshape(-1)]] = stacked.mention_entity
    return stacked.take_mentions(first[order]), entity
