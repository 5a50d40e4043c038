"""Pairing documents by id and part, or by position where they have no names of their own."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notice, Notices, PairingError, excerpt, list_names, plural
from corefeval.model import Corpus, DocumentId, FileName
from corefeval.model.arrays import IntArray, integers, looked_up, unset
from corefeval.model.corpus import match_documents
from corefeval.pairing.texts import check_tokens, find_differing_documents, put_texts_on_tokens
from corefeval.protocol import Protocol, Spans, TokenRule, Zeros

_SHOWN = 3
_CANDIDATE_TEXT = 100_000  # looking for a similar id in more takes longer than it helps
_SIMILAR = 0.75
_NO_DOCUMENTS: IntArray = unset(0)


class Pairing(NamedTuple):
    """A key and a response that number their documents alike: the key's documents, in its order.

    `spans` says how the plain (start, end) mentions of one side were read, where they were.
    """

    key: Corpus
    response: Corpus
    notices: Notices = ()
    spans: Spans | None = None


class DocumentPairs(NamedTuple):
    """The documents that are scored, and the place of each on either side; −1 where it has none."""

    identifiers: tuple[DocumentId, ...]
    key: IntArray
    response: IntArray
    notices: Notices = ()

    @property
    def both(self) -> IntArray:
        """The documents that both sides have: texts can be compared only there."""
        return np.flatnonzero((self.key >= 0) & (self.response >= 0))


def pair(
    key: Corpus,
    response: Corpus,
    protocol: Protocol,
    *,
    zeros_settled: bool = False,
    pairs: DocumentPairs | None = None,
    may_widen: bool = False,
) -> Pairing:
    """Pair documents by id and part, and check that their texts are the same, or align them.

    `pairs` says which document is which, where that is known already. With `zeros_settled`, empty
    nodes are left as they are, because they are already settled among more than these two sides.
    Mentions of a key of texts `may_widen` to the tokens of the response, or must fit them.
    """
    if pairs is None:
        names = key.name, response.name
        pairs = pair_documents(key.documents, response.documents, protocol, names)
    key, response = (
        _put_in_places(side, places, pairs.identifiers)
        for side, places in ((key, pairs.key), (response, pairs.response))
    )
    key, response, spans, text_notices = unify_positions(
        key, response, pairs.both, protocol, zeros_settled=zeros_settled, may_widen=may_widen
    )
    notices = [*pairs.notices, *text_notices]
    for side, corpus in (("key", key), ("response", response)):
        if not corpus.n_mentions:
            message = f"{corpus.name or side}: there are no mentions"
            notices.append(Notice("no-mentions", message))
    return Pairing(key, response, tuple(notices), spans)


def unify_positions(
    key: Corpus,
    response: Corpus,
    paired: IntArray,
    protocol: Protocol,
    *,
    zeros_settled: bool = False,
    may_widen: bool = False,
) -> tuple[Corpus, Corpus, Spans | None, list[Notice]]:
    """Two sides that number their documents alike, with positions that mean the same.

    `paired` are the documents that both have. Their texts are compared, and aligned or refused, as
    the protocol says. Also returns how plain spans were read.
    """
    rule: TokenRule = protocol.tokens
    if protocol.pairing == "position" and rule == "same":
        rule = "ignore"  # by position, documents pair whatever is in them
    notices: list[Notice] = []
    key, response, cut, text_notices = put_texts_on_tokens(key, response, rule, may_widen=may_widen)
    notices += text_notices
    key, response, spans = put_on_tokens(key, response, protocol)
    zeros: Zeros | None = None if zeros_settled else protocol.zeros
    settled_key, settled_response, zero_notices = _settle(key, response, zeros)
    differing = _compare_tokens(settled_key, settled_response, paired, rule, cut)
    if isinstance(differing, Notice):
        zero_notices = (*zero_notices, differing)
    elif differing.size:
        from corefeval.pairing.axis import put_on_axis

        key, response, zero_notices = _settle(key, response, zeros, differing)
        settled_key, settled_response, axis_notices = put_on_axis(
            key, response, differing, protocol.zeros
        )
        zero_notices = (*zero_notices, *axis_notices)
    notices += zero_notices
    return settled_key, settled_response, spans, notices


def _settle(
    key: Corpus, response: Corpus, zeros: Zeros | None, differing: IntArray = _NO_DOCUMENTS
) -> tuple[Corpus, Corpus, Notices]:
    """Both sides with their empty nodes settled, but for documents whose words differ."""
    tokens = [side.tokens for side in (key, response) if side.tokens is not None]
    if zeros is None or not any("empty" in side.columns for side in tokens):
        return key, response, ()
    from corefeval.pairing.zeros import settle_zeros

    (key, response), notices = settle_zeros((key, response), zeros, differing)
    return key, response, notices


def _compare_tokens(
    key: Corpus, response: Corpus, paired: IntArray, rule: TokenRule, cut: IntArray
) -> IntArray | Notice:
    """The documents that are to be aligned, those that were texts (`cut`) among them.

    Where tokens that differ are ignored, a notice on them; where they must be the same, a
    PairingError.
    """
    if key.tokens is None or response.tokens is None:
        return _NO_DOCUMENTS
    has_words = all("word" in side.columns for side in (key.tokens, response.tokens))
    if rule == "same" or (rule == "align" and not has_words and not cut.size):
        check_tokens(key.documents, key.tokens, response.tokens, paired, response.name)
        return _NO_DOCUMENTS
    indices = find_differing_documents(key.tokens, response.tokens, np.setdiff1d(paired, cut))
    if rule == "align" or not indices:
        return integers(np.union1d(cut, indices))
    names = tuple(str(key.documents[index]) for index in indices)
    text = f"{response.name or 'response'}: {{n}} whose tokens differ from the key's, compared by "
    text += "number: {items}"
    return Notice("other-tokens", text, len(names), names, "document")


def put_on_tokens(
    key: Corpus, response: Corpus, protocol: Protocol
) -> tuple[Corpus, Corpus, Spans | None]:
    """Token spans on both sides, where one side has plain spans, and how these were read."""
    if (key.labels is None) == (response.labels is None):
        return key, response, None
    from corefeval.live import spans_reading, with_positions

    plain, positioned = (response, key) if key.labels is None else (key, response)
    reading = spans_reading(plain, protocol.spans)
    if reading is None:
        return key, response, None
    plain = with_positions(plain, positioned, reading, guessed=protocol.spans == "auto")
    key, response = (positioned, plain) if key.labels is None else (plain, positioned)
    # Without spans there was nothing to guess.
    is_guess = protocol.spans == "auto" and not plain.n_mentions
    return key, response, None if is_guess else reading


def _put_in_places(corpus: Corpus, places: IntArray, identifiers: tuple[DocumentId, ...]) -> Corpus:
    """The corpus with document `places[d]` in place d, under other ids; an empty one for −1."""
    if corpus.documents == identifiers and bool((places == np.arange(places.size)).all()):
        return corpus
    return corpus.select_documents(places, identifiers)


def pair_documents(
    key: Sequence[DocumentId],
    response: Sequence[DocumentId],
    protocol: Protocol,
    names: tuple[str, str] = ("", ""),
) -> DocumentPairs:
    """Which documents are scored, by the ids of both sides and their names.

    The protocol's `documents` is a glob: only documents whose id or name matches take part. Its
    `missing` and `extra` say what becomes of documents that only one side has.
    """
    key_places = match_documents(key, protocol.documents, names[0])
    in_order = protocol.pairing == "position"
    name = names[1] or "the response"
    response_places = match_documents(response, protocol.documents, name, may_be_empty=not in_order)
    if not key_places.size:
        raise PairingError("the key has no documents", file=names[0] or None)
    identifiers = tuple(key[index] for index in key_places.tolist())
    response_ids = tuple(response[index] for index in response_places.tolist())
    if in_order:
        return _pair_in_order(identifiers, response_ids, key_places, response_places, names[1])
    if identifiers == response_ids:
        return DocumentPairs(identifiers, key_places, response_places)
    partner = find_partners(identifiers, response_ids)
    if not partner:
        raise _nothing_pairs(identifiers, response_ids, names[1])
    missing = [d for index, d in enumerate(identifiers) if index not in partner]
    partner_places = unset(key_places.size)
    partner_places[list(partner)] = list(partner.values())
    extra_places = np.setdiff1d(np.arange(response_places.size), partner_places)
    extra = [response_ids[index] for index in extra_places.tolist()]
    notices = (
        *_list_lacking(names[1], missing, extra, "missing", _MISSING, protocol.missing),
        *_list_lacking(names[1], extra, missing, "extra", _EXTRA, protocol.extra),
    )
    if missing and protocol.missing == "skip":
        kept = np.flatnonzero(partner_places >= 0)
        identifiers = tuple(identifiers[index] for index in kept.tolist())
        key_places, partner_places = key_places[kept], partner_places[kept]
    if extra and protocol.extra == "count":
        identifiers = (*identifiers, *extra)
        key_places = np.append(key_places, unset(len(extra)))
        partner_places = np.append(partner_places, extra_places)
    response_places = looked_up(response_places, partner_places)
    return DocumentPairs(identifiers, key_places, response_places, notices)


def _nothing_pairs(
    identifiers: Sequence[DocumentId], response_ids: Sequence[DocumentId], name: str
) -> PairingError:
    in_order = ", or --pairing position if both have the same documents in the same order"
    return PairingError(
        "no document of the response is in the key",
        file=name or None,
        found=list_names([*map(str, response_ids)]) or "no documents",
        expected=list_names([*map(str, identifiers)]),
        fix="documents are paired by id and part: use the same ids on both sides"
        + in_order * (len(identifiers) == len(response_ids)),
    )


def _pair_in_order(
    identifiers: tuple[DocumentId, ...],
    response_ids: tuple[DocumentId, ...],
    key_places: IntArray,
    response_places: IntArray,
    name: str,
) -> DocumentPairs:
    """The documents in the same places, up to the end of the shorter side."""
    number = min(key_places.size, response_places.size)
    renames = sum(map(operator.ne, identifiers, response_ids))
    notices: Notices = ()
    if renames or key_places.size != response_places.size:
        text = f"{name or 'response'}: documents are paired by position: {key_places.size} in the "
        text += f"key, {response_places.size} in the response; {{n}} with other names there"
        notices = (Notice("positions", text, renames, noun="document"),)
    return DocumentPairs(
        identifiers[:number], key_places[:number], response_places[:number], notices
    )


# Texts of notices, by the value of the protocol's `missing` or `extra`.
_MISSING = {
    "empty": "{n} not in the response, counted as empty: {items}",
    "skip": "{n} not in the response, left out on both sides: {items}",
}
_EXTRA = {
    "ignore": "{n} not in the key, left out: {items}",
    "count": "{n} not in the key, everything in them counted as spurious: {items}",
}


def _list_lacking(
    name: str,
    lacking: Sequence[DocumentId],
    candidates: Sequence[DocumentId],
    which: str,
    texts: Mapping[str, str],
    policy: str,
) -> list[Notice]:
    """A notice on documents that one side lacks, or an error where the policy is one."""
    if not lacking:
        return []
    side, opposite = ("key", "response") if which == "missing" else ("response", "key")
    noun = f"{side} document"
    hint = _suggestions(lacking, candidates)
    if policy == "error":
        raise PairingError(
            f"{plural(len(lacking), noun)} not in the {opposite}",
            file=name or None,
            found=list_names([str(identifier) for identifier in lacking]) + hint,
            fix=f"use the same names for documents on both sides, or --{which} "
            + " or ".join(texts),
        )
    text = f"{name or 'response'}: {texts[policy]}{hint}"
    names = tuple(map(str, lacking))
    return [Notice(f"{which}-documents", text, len(names), names, noun)]


def find_partners(key: Sequence[DocumentId], response: Sequence[DocumentId]) -> dict[int, int]:
    """The response document of each key document, by index.

    Equal ids pair first; then `bc/x_0` with part 0 of `bc/x`, as some formats write it; then names
    that are equal but for white space, if one has no part or the parts are equal; then names that
    are equal but for a part 0 that a conversion added. Each step pairs only what is unambiguous. A
    single document without a name pairs with the only document of the other side. If nothing pairs
    and all documents are named by their files alone, they pair in their order.

    >>> key = [DocumentId("bc/x", 0), DocumentId("y", 3)]
    >>> find_partners(key, [DocumentId("y"), DocumentId("bc/x_0")])
    {0: 1, 1: 0}
    """
    pairs: dict[int, int] = {}
    for spell in (_exactly, _with_part_in_name, _by_words, _without_part_0):
        left = [index for index in range(len(key)) if index not in pairs]
        taken = set(pairs.values())
        right = [index for index in range(len(response)) if index not in taken]
        if not left or not right:
            break
        response_spellings = _find_unambiguous(response, right, spell)
        for text, index in _find_unambiguous(key, left, spell).items():
            partner = response_spellings.get(text)
            if partner is None:
                continue
            parts = {key[index].part, response[partner].part}
            if spell is _without_part_0 or None in parts or len(parts) == 1:
                pairs[index] = partner
    if not pairs and all(isinstance(document.name, FileName) for document in (*key, *response)):
        return {index: index for index in range(min(len(key), len(response)))}
    if len(key) == len(response) == 1 and "" in (key[0].name, response[0].name):
        pairs[0] = 0
    return dict(sorted(pairs.items()))


def _exactly(identifier: DocumentId) -> Hashable:
    return identifier


def _with_part_in_name(identifier: DocumentId) -> Hashable:
    return identifier.name if identifier.part is None else f"{identifier.name}_{identifier.part}"


def _by_words(identifier: DocumentId) -> Hashable:
    """The name without its part, one blank between its words."""
    return " ".join(identifier.name.split())


def _without_part_0(identifier: DocumentId) -> Hashable:
    """The name without a part 0 that was added to it, or to the part in it: `x_0`, `x_1_0`."""
    if identifier.part is None:
        return DocumentId(identifier.name.removesuffix("_0"))
    return re.sub(r"(_\d+)_0$", r"\1", f"{identifier.name}_{identifier.part}")


def _find_unambiguous(
    identifiers: Sequence[DocumentId],
    chosen: Iterable[int],
    spelling: Callable[[DocumentId], Hashable],
) -> dict[Hashable, int]:
    """The index of each chosen document whose spelling no other chosen one has."""
    spelled: dict[Hashable, list[int]] = defaultdict(list)
    for index in chosen:
        spelled[spelling(identifiers[index])].append(index)
    return {text: indices[0] for text, indices in spelled.items() if len(indices) == 1}


def _suggestions(identifiers: Sequence[DocumentId], candidates: Sequence[DocumentId]) -> str:
    """A hint at what one of the first documents may be called on the other side, or nothing."""
    for identifier in identifiers[:_SHOWN]:
        close = find_similar(identifier, candidates, _SIMILAR)
        if close is not None:
            return f" (closest to {excerpt(str(identifier))}: {excerpt(close)})"
    return ""


def find_similar(
    identifier: DocumentId, candidates: Sequence[DocumentId], least: float
) -> str | None:
    """The candidate most similar to an id, if its similarity (0 to 1) is at least `least`."""
    import difflib

    longest = max((len(candidate.name) for candidate in candidates), default=0)
    texts = [str(candidate) for candidate in candidates[: _CANDIDATE_TEXT // (1 + longest)]]
    close = difflib.get_close_matches(str(identifier), texts, n=1, cutoff=least)
    return close[0] if close else None
