"""The frame: the mentions of all responses and candidates, from which draws are made."""

from __future__ import annotations

import hashlib
import tomllib
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from importlib.resources import files
from itertools import islice

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError
from corefeval.display import csv_cell, distinct_names, plain_cell
from corefeval.formats import read_ahead
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, plain_rows, ragged_arange
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
Shown = tuple[str, str, str]  # the text before, in and after a span
CONTEXT = 40  # tokens on each side of a mention
_LETTERS = 6  # that stand for a token in a text without tokens
_NOBODY = ("", "-", "_")  # in columns of speakers
DECLARED = tomllib.loads(files(__package__).joinpath("designs.toml").read_text(encoding="utf-8"))


def plain_text(text: str) -> str:
    """Text as it is read from the cell that it was written to."""
    return plain_cell(str(csv_cell(text)))


def join_parts(parts: Iterable[tuple[int, int]]) -> str:
    """The id of a mention with these spans.

    >>> join_parts([(3, 5)]), join_parts([(3, 5), (7, 8)])
    ('3..5', '3..5+7..8')
    """
    return "+".join(f"{start}..{end}" for start, end in parts)


@dataclass(frozen=True, eq=False)
class Units:
    """What can be drawn, in the order of documents and text: mentions or sentences.

    Each has a place, which is its document and its id there, and a span.
    """

    places: list[tuple[str, str]]
    spans: list[Span]

    @cached_property
    def numbers(self) -> dict[tuple[str, str], int]:
        """The number of each unit by its place."""
        return {place: number for number, place in enumerate(self.places)}


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
    corpus: Corpus
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
        return distinct_names([plain_text(str(name)) for name in self.corpus.documents])

    @cached_property
    def mentions(self) -> Units:
        """The mentions; those of plain Python stand in a line, and are called m1 and so on."""
        corpus, rows = self.corpus, range(self.corpus.n_mentions)
        is_plain = corpus.labels is not None
        edges = (rows, rows) if is_plain else (corpus.mention_start, corpus.mention_end)
        spans = [*plain_rows(corpus.mention_document, *edges)]
        ids = [f"m{start + 1}" if is_plain else f"{start}..{end}" for _, start, end in spans]
        for row in corpus.gaps_of:
            ids[row] = join_parts(Mention(corpus[spans[row][0]], row).parts)
        documents = (self.documents[document] for document, _, _ in spans)
        return Units([*zip(documents, ids, strict=True)], spans)

    @cached_property
    def labels(self) -> dict[tuple[str, str], Hashable]:
        """The labels of plain Python by document and id; none for other mentions."""
        return dict(zip(self.mentions.places, self.corpus.labels or (), strict=False))

    @cached_property
    def sentences(self) -> Units:
        """The sentences of all documents that any response has."""
        spans, places = list[Span](), list[tuple[str, str]]()
        for document, name in enumerate(self.documents):
            sides = (corpus.tokens for corpus in self.corpora[: len(self.names)])
            tokens = next((side for side in sides if side and side.counts[document]), None)
            if self.corpus.labels is not None or (tokens and not tokens.marks_sentences):
                raise InputError(
                    "sentences cannot be drawn, because nothing says where they begin",
                    file=self.corpora[0].name or None,
                    expected="a format with tokens and sentences",
                    fix="take another design: names, entities or pairs",
                )
            for number, part in enumerate(tokens.sentence_ranges(document) if tokens else (), 1):
                spans.append((document, part.start, part.stop))
                places.append((name, str(number)))
        return Units(places, spans)

    def begin_in(self, sentence: Span) -> range:
        """The mentions that begin in a sentence."""
        document, *edges = sentence
        return range(*(bisect_left(self.mentions.spans, (document, edge)) for edge in edges))

    @cached_property
    def digest(self) -> str:
        """What tells responses and candidates from changed ones: 16 digits of their SHA-256."""
        digest = hashlib.sha256()
        for name, row in zip((*self.names, "+candidates"), self.entity.tolist(), strict=False):
            entities: dict[tuple[int, str], list[str]] = {}
            for (document, mention), entity in zip(self.mentions.places, row, strict=True):
                if entity >= 0:
                    entities.setdefault((entity, document), []).append(mention)
            lines = (f"{document}\t{' '.join(ids)}\n" for (_, document), ids in entities.items())
            digest.update(f"{name}\n{''.join(lines)}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    def show(self, spans: Iterable[Span], context: int = CONTEXT) -> dict[Span, Shown]:
        """The words before, in and after spans; empty where a document has no words."""
        shown: dict[Span, Shown] = dict.fromkeys(spans, ("", "", ""))
        if self.corpus.labels is not None:
            return {span: ("", str(self.corpus.labels[span[1]]), "") for span in shown}
        for tokens in filter(None, (corpus.tokens for corpus in reversed(self.corpora))):
            present = [span for span in shown if tokens.counts[span[0]]]
            for document, start, end in present if tokens.has_texts else ():
                text, near = text_of(tokens, document) or "", _LETTERS * context
                before, after = text[max(start - near, 0) : start], text[end : end + near]
                shown[document, start, end] = before, text[start:end], after
            if "word" in tokens.columns and present:
                shown |= zip(present, _join_words(tokens, present, context), strict=True)
        return shown


def _join_words(tokens: Tokens, spans: Sequence[Span], context: int) -> Iterator[Shown]:
    """The words before, in and after spans; names of speakers stand before what they say."""
    document, start, end = np.array(spans).T
    first = np.maximum(start - context, 0)
    lengths = np.minimum(end + context, tokens.counts[document]) - first
    rows = ragged_arange(tokens.offsets[document] + first, lengths)
    columns = [
        iter(tokens.coded(name, rows).values() if name in tokens.columns else [""] * rows.size)
        for name in ("word", "speaker")
    ]
    for inner, outer, length in zip(start - first, end - first, lengths, strict=True):
        words, names = ([cell or "" for cell in islice(column, length)] for column in columns)
        turns = [
            f"[{name}:] " if name not in _NOBODY and name != previous else ""
            for name, previous in zip(names, ["", *names], strict=False)
        ]
        spoken = [*map(str.__add__, turns, words)]
        before = " ".join([*spoken[:inner], turns[inner]]).rstrip()
        yield before, " ".join(words[inner:outer]), " ".join(spoken[outer:])


def make_frame(responses: Responses, candidates: Input | None, request: Request) -> Frame:
    """Read responses and candidates, and number their mentions, as the protocol leaves them.

    `responses` is one response, or maps names to responses.
    """
    protocol, reading = request.protocol, request.response_reading
    for name, value in protocol.values:
        if name in DECLARED["choices"] and value != "drop":
            raise UsageError(f"{name}:{value} cannot be estimated: {DECLARED['choices'][name]}")
    titles: Mapping[str, Input] = {"response": responses}
    if isinstance(responses, Mapping) and not all(
        isinstance(value, list | tuple) for value in responses.values()
    ):  # a mapping to lists is a response in plain Python
        titles = responses
    for name in titles:
        if set(name) & set(";|") or plain_text(name) != name or name in ("", "frame"):
            raise UsageError(f"{name!r} cannot be the name of a response: use letters and digits")
    inputs = sorted(titles.items())
    n, names = len(inputs), tuple(name for name, _ in inputs)
    inputs += [("candidates", candidates)] if candidates is not None else []
    corpora = [*read_ahead([partial(as_corpus, source, name, reading) for name, source in inputs])]
    notices = [notice for corpus in corpora for notice in corpus.notices]
    corpora, codes, pairing_notices = pair_responses(corpora, protocol)
    notices += pairing_notices
    kept, kept_codes = list[Corpus](), list[IntArray]()
    for sides, policies in (slice(n), protocol), (slice(n, None), protocol.but(singletons="keep")):
        left, left_codes, dropped, _ = apply_policies(corpora[sides], codes[sides], policies)
        kept, kept_codes = kept + left, kept_codes + left_codes
        notices += dropped
    corpus, entity = _number_mentions(kept, kept_codes)
    entity[n:] = np.where(entity[n:] >= 0, corpus.mention_document, -1)  # candidates have none
    return Frame(tuple(titles), names, kept, corpus, entity, protocol, tuple(notices))


def _number_mentions(
    corpora: Sequence[Corpus], codes: Sequence[IntArray]
) -> tuple[Corpus, IntArray]:
    """Each mention of the corpora once, in the order of text, and its entity in every corpus."""
    stacked = reduce(stack_mentions, map(strip_details, corpora))
    _, first, inverse = np.unique(np.concatenate(codes), return_index=True, return_inverse=True)
    spans = () if stacked.labels is not None else (stacked.mention_end, stacked.mention_start)
    keys = (np.asarray(column)[first] for column in (*spans, stacked.mention_document))
    order = np.lexsort((first, *keys))
    entity = np.full((len(corpora), order.size), -1)
    owner = np.repeat(np.arange(len(corpora)), [corpus.n_mentions for corpus in corpora])
    entity[owner, np.argsort(order)[inverse.reshape(-1)]] = stacked.mention_entity
    return stacked.take_mentions(first[order]), entity
