"""Several annotations of the same documents, side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np

from corefeval.diagnostics import (
    InputError,
    Notice,
    PairingError,
    excerpt,
    note,
)
from corefeval.model import Corpus, DocumentId
from corefeval.model.arrays import IntArray, integers, ragged_arange
from corefeval.model.corpus import match_documents
from corefeval.model.identity import mention_codes
from corefeval.model.joining import stack_mentions, strip_details
from corefeval.model.moving import list_tokens, respan, show_on_key
from corefeval.pairing.documents import Pairing, find_partners, pair, put_on_tokens, unify_positions
from corefeval.pairing.policies import apply_policies
from corefeval.pairing.regrouping import join_groups
from corefeval.pairing.texts import check_tokens
from corefeval.pairing.zeros import settle_zeros
from corefeval.protocol import Protocol, Spans, Zeros, join_protocols

_SHOWN = 3
_TEXT = 1


@dataclass(frozen=True, eq=False)
class Annotations:
    """Several annotations of the same documents, which they number alike.

    `codes` has an array for each: a number for each mention, equal where mentions are the same.
    `sources` are what pairs of them are scored from. `spans` says how plain spans were read, where
    there were any.
    """

    corpora: list[Corpus]
    sources: list[Corpus]
    codes: list[IntArray]
    spans: Spans | None
    notices: list[Notice]

    def join_protocols(self, protocols: Iterable[Protocol]) -> Protocol:
        """The protocol behind results of several pairs, which have these."""
        joint = join_protocols([*protocols])
        return joint if self.spans is None else joint.but(spans=self.spans)


def pair_annotations(
    corpora: Sequence[Corpus], protocol: Protocol, *, on_first_tokens: bool = False
) -> Annotations:
    """Annotations of the documents that all have, their texts checked, with policies applied.

    All are paired with the first of them that has tokens, or else texts or positions: characters
    are mapped to tokens, and plain spans get positions. Where tokens differ, the mentions of more
    than two (`on_first_tokens`: of any number) are sets of the tokens of the first; those in text
    that the first lacks are dropped for `on_first_tokens`, with a notice.
    """
    read = [notice for corpus in corpora for notice in corpus.notices]
    corpora, sources, spans, notices = _on_common_documents(corpora, protocol, on_first_tokens)
    corpora, joined = join_groups(corpora, protocol.across)
    kept, codes, dropped, _ = apply_policies(corpora, _common_codes(corpora), protocol)
    return Annotations(kept, sources or kept, codes, spans, [*read, *notices, *joined, *dropped])


def _on_common_documents(
    corpora: Sequence[Corpus], protocol: Protocol, on_first_tokens: bool
) -> tuple[list[Corpus], list[Corpus], Spans | None, list[Notice]]:
    """The corpora on one axis, how plain spans were read, and notices.

    Where tokens differ, each pair is aligned on its own when it is scored: second come the corpora
    for that, on their own tokens.
    """
    corpora, notices = _with_common_documents(corpora, protocol.documents)
    standard = min(range(len(corpora)), key=lambda index: _rank(corpora[index]))
    placed = []
    for corpus in corpora:
        with name_sides(corpora[standard].name, corpus.name):
            placed.append(put_on_tokens(corpora[standard], corpus, protocol)[1:])
    sources = [corpus for corpus, _ in placed]
    settled, zero_notices = _settle_all_zeros(list(sources), protocol.zeros)
    notices += zero_notices
    pairings = []
    for response in (*settled[:standard], *settled[standard + 1 :]):
        with name_sides(settled[standard].name, response.name) as reword:
            pairings.append(pair(settled[standard], response, protocol, zeros_settled=True))
        notices += [replace(n, text=reword(n.text)) for n in pairings[-1].notices]
    if all(pairing.key.own_text is None for pairing in pairings):
        sources = []
    elif len(pairings) > 1 or on_first_tokens:
        pairings, token_notices = _on_first_tokens(pairings, on_first_tokens)
        notices += token_notices
    paired = [pairing.response for pairing in pairings]
    paired.insert(standard, pairings[0].key if pairings else settled[standard])
    for before, after in zip(corpora, paired, strict=True):
        notices += after.notices[len(before.notices) :]
    readings = dict.fromkeys(spans for _, spans in placed if spans is not None)
    reading = next(iter(readings)) if len(readings) == 1 else None
    return paired, sources, reading, notices


@contextmanager
def name_sides(key: str, response: str) -> Iterator[Callable[[str], str]]:
    """While this is entered, errors call key and response, which are annotations, by their names.

    It gives the function that changes the words of a text.
    """

    def reword(text: str) -> str:
        text = re.sub(r"(key|response) (?=document)", "", text)
        return text.replace("the key", key).replace("the response", response)

    try:
        yield reword
    except InputError as error:
        raise error.reworded(reword) from None


def pair_responses(
    corpora: Sequence[Corpus], protocol: Protocol
) -> tuple[list[Corpus], list[IntArray], list[Notice]]:
    """Responses on all documents that any of them has, codes of their mentions, and notices.

    A document that a response lacks is empty there. Texts and empty nodes must be the same.
    """
    documents, places = _list_documents(corpora, protocol.documents)
    order = sorted(range(len(documents)), key=lambda index: str(documents[index]))
    documents, places = [documents[index] for index in order], places[:, order]
    outcome = "that some responses lack, counted there as documents without mentions"
    notices = _note_lacking(documents, places, outcome)
    placed = [c.select_documents(rows, documents) for c, rows in zip(corpora, places, strict=True)]
    if protocol.zeros == "drop":
        placed, zero_notices = settle_zeros(placed, protocol.zeros)
        notices += zero_notices
    try:
        notices += _check_responses(placed, places, protocol)
    except PairingError as error:  # which speaks of a key
        raise PairingError(
            "the responses do not have the same text",
            file=error.file,
            line=error.line,
            found=error.found,
            expected=(error.expected or "the same tokens").replace("the key", "another response"),
            fix="run all systems on the same tokens: mentions are identified by their tokens",
        ) from None
    codes = _common_codes(placed) if len(placed) > 1 else [mention_codes(*placed, *placed)[0]]
    return placed, codes, notices


def _check_responses(placed: list[Corpus], places: IntArray, protocol: Protocol) -> list[Notice]:
    """Check that texts and empty nodes are the same, and put all responses on one sort of tokens.

    Responses are replaced in `placed`. All are compared with the one that has the best tokens, and
    with each other where it lacks a document.
    """
    notices = []
    standard = min(range(len(placed)), key=lambda index: _rank(placed[index]))
    for index, corpus in enumerate(placed):
        if index != standard:
            paired = np.flatnonzero((places[index] >= 0) & (places[standard] >= 0))
            _, placed[index], _, differing = unify_positions(
                placed[standard], corpus, paired, protocol, zeros_settled=True
            )
            notices += differing
            _check_nodes(placed[standard], placed[index], paired)
    for first, second in combinations(range(len(placed)), 2):
        corpus, tokens, partner = placed[second], placed[first].tokens, placed[second].tokens
        alone = (places[first] >= 0) & (places[second] >= 0) & (places[standard] < 0)
        if tokens is not None and partner is not None and alone.any():
            check_tokens(corpus.documents, tokens, partner, np.flatnonzero(alone), corpus.name)
    return notices


def _list_documents(corpora: Sequence[Corpus], pattern: str) -> tuple[list[DocumentId], IntArray]:
    """Ids of documents that any corpus has and a glob matches, and their places in every corpus."""
    identifiers: list[DocumentId] = []
    rows: list[dict[int, int]] = []
    for corpus in corpora:
        row = find_partners(identifiers, corpus.documents)
        extra = sorted({*range(len(corpus.documents))}.difference(row.values()))
        row |= {len(identifiers) + number: index for number, index in enumerate(extra)}
        identifiers += [corpus.documents[index] for index in extra]
        rows.append(row)
    chosen = match_documents(identifiers, pattern, corpora[0].name).tolist()
    places = integers([[row.get(i, -1) for i in chosen] for row in rows])
    return [identifiers[i] for i in chosen], places


def _note_lacking(
    identifiers: Sequence[DocumentId], places: IntArray, outcome: str
) -> list[Notice]:
    """A notice on documents that some corpora lack."""
    names = tuple(str(identifiers[i]) for i in np.flatnonzero(places.min(axis=0) < 0).tolist())
    text = f"{{n}} {outcome}: {{items}}"
    return [Notice("missing-documents", text, len(names), names, "document")] if names else []


def _check_nodes(first: Corpus, second: Corpus, paired: IntArray) -> None:
    """Raise an InputError unless empty nodes of documents that both have are in the same places."""
    nodes = []
    for corpus in (first, second):
        places = np.empty(0, dtype=np.int64)
        if corpus.tokens is not None and "empty" in corpus.tokens.columns:
            tokens = corpus.tokens
            rows = ragged_arange(tokens.offsets[paired], tokens.counts[paired])
            places = np.flatnonzero(tokens.coded("empty", rows).where(bool))
        nodes.append(places)
    if not np.array_equal(nodes[0], nodes[1]):
        raise InputError(
            f"the empty nodes (zeros) are not those of {first.name or 'the first response'}",
            file=second.name or None,
            expected="the same tokens and empty nodes in all responses: mentions are identified by "
            "their positions",
            fix="--zeros drop leaves out zeros and their mentions",
        )


def _on_first_tokens(
    pairings: Sequence[Pairing], drop_bare: bool
) -> tuple[list[Pairing], list[Notice]]:
    """Mentions of all annotators as sets of the tokens of the first, with whom all are paired.

    Mentions in text that the first one lacks are dropped, or else are on tokens of their own,
    behind all others.
    """
    shown, n_bare = [], 0
    room: int | IntArray = 0  # tokens of the annotators so far
    for key, response, *_ in pairings:
        first, placed = show_on_key(key, key), show_on_key(key, response)
        own_text = response.own_text
        if own_text is not None and first.tokens is not None:
            is_bare = np.asarray(placed.mention_start) == placed.mention_end
            n_bare += int(is_bare.sum())
            if drop_bare:
                placed = placed.keep_mentions(~is_bare)
            else:
                bare = np.flatnonzero(is_bare)
                owner, positions = list_tokens(response.on_own_text, bare)
                behind = (first.tokens.counts + room)[response.mention_document[bare][owner]]
                placed = respan(placed, bare, owner, positions + behind)
                room = room + own_text.tokens.counts
        shown.append(Pairing(first, placed))
    name = shown[0].key.name or "the first"
    if drop_bare:
        text = f"all annotations were aligned with the tokens of {name}, where mentions are shown"
        left_out = note("bare-mentions", n_bare, "mention", f"left out: not in the text of {name}")
        return shown, [Notice("first-tokens", text), *left_out]
    text = f"for α, all annotations were aligned with the tokens of {name}, and mentions are "
    text += "compared there"
    return shown, [Notice("alpha-tokens", text)]


def _common_codes(corpora: Sequence[Corpus]) -> list[IntArray]:
    """A number for each mention, equal where mentions of any of the corpora are the same.

    The corpora number their documents alike.
    """
    first, *further = corpora
    for corpus in further:
        if (corpus.labels is None) != (first.labels is None):
            raise InputError(
                "some annotators have token positions, others have plain Python mentions",
                file=corpus.name or None,
                expected="positions for all, or plain Python for all",
                fix="make every plain mention a tuple (start, end) of token positions, "
                "or use corefeval.corpus_from_arrays",
            )
    stacked = reduce(stack_mentions, map(strip_details, further or [first]))
    codes, further_codes = mention_codes(first, stacked)
    ends = np.cumsum([corpus.n_mentions for corpus in further])
    return [codes, *np.split(further_codes, ends[:-1])][: len(corpora)]


def _rank(corpus: Corpus) -> int:
    """How badly a corpus serves as the one that all others are paired with, from 0 to 3."""
    if corpus.labels is not None:
        return 3
    if corpus.tokens is None:
        return 2
    return _TEXT if corpus.tokens.has_texts else 0


def _settle_all_zeros(
    corpora: list[Corpus], zeros: Zeros
) -> tuple[list[Corpus], tuple[Notice, ...]]:
    """The corpora with empty nodes settled among all that count tokens; texts stay as they are."""
    rows = [index for index, corpus in enumerate(corpora) if _rank(corpus) != _TEXT]
    settled, notices = settle_zeros([corpora[index] for index in rows], zeros)
    for index, corpus in zip(rows, settled, strict=True):
        corpora[index] = corpus
    return corpora, notices


def _with_common_documents(
    corpora: Sequence[Corpus], pattern: str
) -> tuple[list[Corpus], list[Notice]]:
    """The documents that all corpora have and a glob matches, under the names of the first."""
    first, *further = corpora
    if all(corpus.documents == first.documents for corpus in further):
        return [corpus.choose_documents(pattern) for corpus in corpora], []
    identifiers, places = _list_documents(corpora, pattern)
    common = np.flatnonzero(places.min(axis=0) >= 0)
    if not common.size:
        raise _absence_error(corpora)
    names = [identifiers[i] for i in common.tolist()]
    chosen = [
        corpus.select_documents(rows[common], names)
        for corpus, rows in zip(corpora, places, strict=True)
    ]
    return chosen, _note_lacking(identifiers, places, "that some annotators lack, left out")


def _absence_error(corpora: Sequence[Corpus]) -> PairingError:
    examples = [
        f"{corpus.name or 'an annotation'} has "
        + (excerpt(str(corpus.documents[0])) if corpus.documents else "no documents")
        for corpus in corpora[:_SHOWN]
    ]
    return PairingError(
        "there is no document that all annotations have",
        found="; ".join(examples),
        fix="documents are paired by id and part: use the same names in all annotations",
    )
