"""The frame: the mentions of all responses and candidates, from which draws are made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError
from corefeval.display import csv_cell
from corefeval.formats import read_ahead
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, ragged_arange, stable_order
from corefeval.model.joining import stack_mentions, strip_details
from corefeval.model.text_tokens import has_texts, text_of
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


def name_mention(mention: Any) -> str:
    """The id of a span, or of several.

    >>> name_mention((3, 5)), name_mention(((3, 5), (7, 8)))
    ('3..5', '3..5+7..8')
    """
    parts = mention if isinstance(mention[0], tuple) else (mention,)
    return "+".join(f"{start}..{end}" for start, end in parts)


class Sentence(NamedTuple):
    """A sentence: its document, its number in it from 1, its tokens, and mentions of the frame."""

    document: int
    number: int
    tokens: range
    mentions: range

    @property
    def span(self) -> Span:
        """Where it is."""
        return self.document, self.tokens.start, self.tokens.stop


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

    @property
    def has_candidates(self) -> bool:
        """Whether there are candidates further the responses."""
        return len(self.corpora) > len(self.names)

    @cached_property
    def sizes(self) -> IntArray:
        """The size of the entity that each system gives to each mention, 0 without one."""
        rows = self.entity[: len(self.names)]
        return np.array([np.bincount(row + 1)[row + 1] * (row >= 0) for row in rows])

    @cached_property
    def documents(self) -> list[str]:
        """The ids of the documents, as they are read from sheets."""
        return [plain_text(str(identifier)) for identifier in self.mentions.documents]

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the mentions: spans such as 3..5, parts joined by +, or m1 and so on."""
        corpus = self.mentions
        if corpus.labels is not None:
            return [f"m{number}" for number in range(1, corpus.n_mentions + 1)]
        starts, ends = (np.asarray(e).tolist() for e in (corpus.mention_start, corpus.mention_end))
        ids = [f"{start}..{end}" for start, end in zip(starts, ends, strict=True)]
        for row in corpus.gaps_of:
            ids[row] = name_mention(Mention(corpus[int(corpus.mention_document[row])], row).parts)
        return ids

    @cached_property
    def numbers(self) -> dict[str, dict[str, int]]:
        """The numbers of mentions by document and id."""
        edges = zip(self.documents, pairwise(self.mentions.mention_offsets.tolist()), strict=True)
        return {
            name: dict(zip(self.ids[first:last], range(first, last), strict=True))
            for name, (first, last) in edges
        }

    @cached_property
    def digest(self) -> str:
        """What tells responses and candidates from changed ones: 16 digits of their SHA-256."""
        places, digest = self.mentions.mention_document, hashlib.sha256()
        texts = [*map(str, self.mentions.documents)]
        for name, row in zip((*self.names, "+candidates"), self.entity, strict=False):
            owner = row if name in self.names else np.where(row >= 0, places, -1)
            rows = np.flatnonzero(owner >= 0)
            first = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.int64)
            first[owner[rows[::-1]]] = rows[::-1]  # the first mention of each entity
            order = stable_order(first[owner[rows]])
            words = [*map(self.ids.__getitem__, rows[order].tolist())]
            begins = np.flatnonzero(np.diff(first[owner[rows[order]]], prepend=-1))
            for place, document in zip(begins.tolist(), places[rows[order][begins]], strict=True):
                words[place] = f"\n{texts[document]}\t{words[place]}"
            lines = " ".join(words).replace(" \n", "\n")
            digest.update(f"{name}{lines}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of all documents that any response has, with mentions that begin there."""
        sentences, starts = [], self.mentions.mention_start
        for document, (first, last) in enumerate(pairwise(self.mentions.mention_offsets.tolist())):
            tokens = self.find_tokens(document, self.corpora[: len(self.names)])
            if starts is None or (tokens and not tokens.marks_sentences):
                raise InputError(
                    "sentences cannot be drawn, because nothing says where they begin",
                    file=self.corpora[0].name or None,
                    expected="a format with tokens and sentences",
                    fix="take another design: names, entities or pairs",
                )
            ranges = [*tokens.sentence_ranges(document)] if tokens else []
            cuts = np.searchsorted(starts[first:last], [part.start for part in ranges[1:]])
            edges = pairwise([first, *(cuts + first).tolist(), last])
            for number, (part, edge) in enumerate(zip(ranges, edges, strict=False), 1):
                sentences.append(Sentence(document, number, part, range(*edge)))
        return sentences

    @cached_property
    def sentence_numbers(self) -> dict[str, dict[str, int]]:
        """The numbers of sentences by document, and by their number in it."""
        numbers: dict[str, dict[str, int]] = {}
        for number, sentence in enumerate(self.sentences):
            document = self.documents[sentence.document]
            numbers.setdefault(document, {})[str(sentence.number)] = number
        return numbers

    def find_tokens(self, document: int, corpora: Sequence[Corpus] | None = None) -> Tokens | None:
        """The tokens of a document, from the first corpus that has any."""
        tokens = (corpus.tokens for corpus in corpora or self.corpora)
        return next((t for t in tokens if t is not None and t.counts[document]), None)

    def show_contexts(self, spans: Iterable[Span]) -> dict[Span, Sequence[str]]:
        """The texts before, in and after spans of documents that have any."""
        contexts: dict[Span, Sequence[str]] = {}
        for tokens in filter(None, (corpus.tokens for corpus in self.corpora)):
            new = [s for s in dict.fromkeys(spans) if s not in contexts and tokens.counts[s[0]]]
            for document, start, end in new if has_texts(tokens) else ():
                text = text_of(tokens, document) or ""
                sides = text[:start].split()[-CONTEXT:], [text[start:end]], text[end:].split()
                shown = (" ".join(" ".join(words[:CONTEXT]).split()) for words in sides)
                contexts[document, start, end] = tuple(shown)
            if new and not has_texts(tokens) and "word" in tokens.columns:
                contexts |= zip(new, _join_words(tokens, np.array(new)), strict=True)
        return contexts


def _join_words(tokens: Tokens, spans: IntArray) -> Iterator[Sequence[str]]:
    """The words before, in and after spans; names of speakers stand before what they say."""
    document, start, end = spans.T
    first = np.maximum(start - CONTEXT, 0)
    lengths = np.minimum(end + CONTEXT, tokens.counts[document]) - first
    rows = ragged_arange(tokens.offsets[document] + first, lengths)
    words = iter(tokens.coded("word", rows).values())
    has_speakers = "speaker" in tokens.columns
    speakers = iter(tokens.coded("speaker", rows).values() if has_speakers else [None] * rows.size)
    columns = (start - first, end - first, lengths)
    for inner, outer, length in zip(*(column.tolist() for column in columns), strict=True):
        text = [word or "" for word in islice(words, length)]
        turns = [
            f"[{speaker}:] " * (speaker not in (before, None, "", "-", "_"))
            for before, speaker in pairwise([None, *islice(speakers, length), None])
        ]
        spoken = [turn + word for turn, word in zip(turns, text, strict=False)]
        before = " ".join([*spoken[:inner], turns[inner]])
        yield before.rstrip(), " ".join(text[inner:outer]), " ".join(spoken[outer:])


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
    frame = Frame(tuple(titles), names, kept + further, mentions, entity, protocol, tuple(notices))
    if len({*frame.documents}) < len(frame.documents):
        raise InputError(
            "the names of two documents differ only by what cannot be seen in a sheet",
            file=corpora[0].name or None,
            fix="give each document a name of its own",
        )
    return frame


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
