"""Key and response with hardly a mention in common, and why that may be.

A score near zero does not tell that spans were counted differently. Only a response that has next
to nothing in common with the key is examined; all others pay for comparing two numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notice, excerpt, list_names, plural
from corefeval.model import Corpus, join
from corefeval.model.arrays import BoolArray, IntArray, ragged_arange
from corefeval.model.joining import strip_details
from corefeval.pairing.texts import find_differing_documents

_FEW = 4  # at most one mention of so many in common is suspicious
_ENOUGH = 5  # mentions of which, in some of many documents, one should be in common
_EXAMPLES = 20  # documents that tell whether they were exchanged

MISMATCHES = ("no-common-mentions", "shifted-spans")  # kinds of notices

_INCLUSIVE = "ends are inclusive on one side and exclusive on the other"
_FROM_ZERO = "one side counts from 0, the other from 1"
# What is added to start and end of the response's spans, and what that means; likely ones first.
_SHIFTS = {
    (0, 1): f"ends one higher ({_INCLUSIVE})",
    (0, -1): f"ends one lower ({_INCLUSIVE})",
    (1, 1): f"starts and ends one higher ({_FROM_ZERO})",
    (-1, -1): f"starts and ends one lower ({_FROM_ZERO})",
}


class Mismatch(NamedTuple):
    """Documents (by index) in which hardly a mention is on both sides.

    For each of them, `sizes` is the number of mentions of the side that has fewer, `common` how
    many both have, and `shifted` how many they would have in common with `shift` added to start and
    end of the response's spans. Without such a shift, no mention is common, and `cause` names the
    likely cause.
    """

    documents: IntArray
    sizes: IntArray
    common: IntArray
    shifted: IntArray
    shift: tuple[int, int] | None = None
    cause: str = ""

    @property
    def kind(self) -> str:
        """The kind of the notices and findings about it."""
        return MISMATCHES[self.shift is not None]

    def take(self, rows: BoolArray) -> Mismatch:
        """The mismatch in some of its documents."""
        documents, sizes, common, shifted = (column[rows] for column in self[:4])
        return Mismatch(documents, sizes, common, shifted, self.shift, self.cause)


def find_mismatch(key: Corpus, response: Corpus, key_rows: IntArray) -> Mismatch | None:
    """The documents in which hardly a mention is common; None where there is no such document.

    Both number their documents alike; `key_rows` are the key's mentions that the response has. Of
    several documents, single ones count if both sides have a handful of mentions there.
    """
    if _poor_documents(key, response, key_rows) is None:
        return None
    suspects = find_suspects(key, response, key_rows)
    mismatch = _examine(suspects)
    if mismatch is None:
        return None
    places = {identifier: place for place, identifier in enumerate(key.documents)}
    indices = [places[suspects.key.documents[index]] for index in mismatch.documents.tolist()]
    return mismatch._replace(documents=np.array(indices, dtype=np.int64))


def _examine(suspects: Suspects) -> Mismatch | None:
    """The mismatch in suspect documents, by their index among these, with its shift or cause."""
    key, response = suspects.key, suspects.response
    any_common = suspects.n_common > 0
    mismatch = _poor_documents(key, response, suspects.key_rows, any_common=any_common)
    if mismatch is None:
        return None
    mismatch = _with_shift(mismatch, key, response)
    if mismatch.shift is not None:
        return mismatch.take(2 * mismatch.shifted >= mismatch.sizes)
    mismatch = mismatch.take(mismatch.common == 0)
    if not mismatch.documents.size:
        return None
    return mismatch._replace(cause=_cause(mismatch, suspects))


class Suspects(NamedTuple):
    """Corpora of only those documents of a piece that may have hardly a mention in common.

    `key_rows` are the key's mentions in them that the response has too, and `other_tokens` says
    whether the tokens of each document differ. The piece has `n_documents` in all, and `n_common`
    mentions that are on both sides.
    """

    key: Corpus
    response: Corpus
    key_rows: IntArray
    other_tokens: BoolArray
    n_documents: int
    n_common: int


def find_suspects(key: Corpus, response: Corpus, key_rows: IntArray) -> Suspects:
    """The suspect documents of a piece, from which the notices of all pieces can be made.

    All documents of a piece without common mentions are suspect: the other pieces may have none,
    too.
    """
    n_documents = len(key.documents)
    documents = np.arange(n_documents)
    if key_rows.size:
        mismatch = _poor_documents(key, response, key_rows)
        documents = documents[:0] if mismatch is None else mismatch.documents
    different = []
    if key.tokens is not None and response.tokens is not None and documents.size:
        different = find_differing_documents(key.tokens, response.tokens, documents)
    common = np.zeros(key.n_mentions, dtype=np.bool_)
    common[key_rows] = True
    suspect_rows = ragged_arange(
        key.mention_offsets[documents],
        key.mention_offsets[documents + 1] - key.mention_offsets[documents],
    )
    return Suspects(
        strip_details(key).select_documents(documents),
        strip_details(response).select_documents(documents),
        key_rows=np.flatnonzero(common[suspect_rows]),
        other_tokens=np.isin(documents, different),
        n_documents=n_documents,
        n_common=int(key_rows.size),
    )


def joint_mismatch_notices(pieces: Sequence[Suspects]) -> list[Notice]:
    """The notices of all pieces together."""
    suspicious = [piece for piece in pieces if piece.key.documents]
    if not suspicious:
        return []
    key, response = (
        join([getattr(piece, side) for piece in suspicious], name=getattr(suspicious[0], side).name)
        for side in ("key", "response")
    )
    shifts = np.cumsum([0, *(piece.key.n_mentions for piece in suspicious)])[:-1]
    key_rows = [piece.key_rows + shift for piece, shift in zip(suspicious, shifts, strict=True)]
    suspects = Suspects(
        key,
        response,
        key_rows=np.concatenate(key_rows),
        other_tokens=np.concatenate([piece.other_tokens for piece in suspicious]),
        n_documents=sum(piece.n_documents for piece in pieces),
        n_common=sum(piece.n_common for piece in pieces),
    )
    return _notices(suspects)


def mismatch_notices(key: Corpus, response: Corpus, key_rows: IntArray) -> list[Notice]:
    """A notice where key and response have hardly a mention in common, with the likely cause."""
    if _poor_documents(key, response, key_rows) is None:
        return []
    return _notices(find_suspects(key, response, key_rows))


def _notices(suspects: Suspects) -> list[Notice]:
    key, response = suspects.key, suspects.response
    mismatch = _examine(suspects)
    if mismatch is None:
        return []
    names = tuple(str(key.documents[index]) for index in mismatch.documents.tolist())
    if not suspects.n_common:
        counts = f"{plural(response.n_mentions, 'mention')} and the key's {key.n_mentions:,}"
        message = f"no mention in common between its {counts}: "
    else:
        documents = plural(suspects.n_documents, "document")
        share = f"{int(mismatch.common.sum()):,} of {plural(int(mismatch.sizes.sum()), 'mention')}"
        message = f"only {share} in common with the key in {len(names):,} of {documents} "
        message += f"({list_names(names)}): "
    message += tell_cause(mismatch)
    items = names if suspects.n_common else ()
    return [Notice(mismatch.kind, f"{response.name or 'response'}: {message}", len(names), items)]


def tell_cause(mismatch: Mismatch, index: int | None = None) -> str:
    """The cause in words, for all documents or one of them (by its place in `documents`)."""
    if mismatch.shift is None:
        return mismatch.cause
    chosen = slice(None) if index is None else slice(index, index + 1)
    count, size = int(mismatch.shifted[chosen].sum()), int(mismatch.sizes[chosen].sum())
    shift = _SHIFTS[mismatch.shift]
    return f"spans are off by one: {count:,} of {size:,} would be, with {shift}"


def _poor_documents(
    key: Corpus, response: Corpus, key_rows: IntArray, *, any_common: bool | None = None
) -> Mismatch | None:
    """The documents in which few mentions are common; None if that may be chance.

    `any_common` says whether there are common mentions at all, in these documents or others.
    """
    any_common = key_rows.size > 0 if any_common is None else any_common
    if not key.n_mentions or not response.n_mentions:
        return None
    number = len(key.documents)
    if number == 1:
        smaller = min(key.n_mentions, response.n_mentions)
        if any_common and _FEW * key_rows.size >= smaller:
            return None
        sizes, common = np.array([smaller]), np.array([key_rows.size])
    else:
        sizes = np.minimum(np.diff(key.mention_offsets), np.diff(response.mention_offsets))
        common = np.bincount(key.mention_document[key_rows], minlength=number)
    poor = _FEW * common < sizes
    if any_common:
        poor &= sizes >= _ENOUGH
    elif not poor.any():  # the sides have mentions in different documents
        poor[:] = True
    documents = np.flatnonzero(poor)
    if not documents.size:
        return None
    return Mismatch(documents, sizes[poor], common[poor], np.zeros_like(documents))


def _with_shift(mismatch: Mismatch, key: Corpus, response: Corpus) -> Mismatch:
    """The mismatch with the shift that brings most mentions together, if it brings half of them."""
    key_spans, spans = _distinct_spans(key, mismatch), _distinct_spans(response, mismatch)
    if key_spans is None or spans is None or key_spans.shape[1] != spans.shape[1]:
        return mismatch
    best, best_shift = np.zeros(len(key.documents), dtype=np.int64), None
    for shift in _SHIFTS:
        moved = spans.copy()
        moved[:, -2:] += shift
        rows, is_repeated = _sort_rows(np.concatenate((key_spans, moved)))
        shifted = np.bincount(rows[is_repeated, 0], minlength=len(key.documents))
        if shifted.sum() > best.sum():
            best, best_shift = shifted, shift
    shifted = best[mismatch.documents]
    total = int(shifted.sum())
    if 2 * total < mismatch.sizes.sum() or total <= _FEW * mismatch.common.sum():
        return mismatch
    return mismatch._replace(shifted=shifted, shift=best_shift)


def _distinct_spans(corpus: Corpus, mismatch: Mismatch) -> IntArray | None:
    """Rows of document, start and end of the mentions in some documents, each row once.

    Labels count as spans if they are whole numbers or tuples of two or three of them: one number is
    a span that starts where it ends, and the first of three is a sentence, a column before the
    start. None if there are no mentions or other labels.
    """
    rows = np.flatnonzero(np.isin(corpus.mention_document, mismatch.documents))
    if not rows.size:
        return None
    document = corpus.mention_document[rows]
    if corpus.labels is None:
        if corpus.mention_start is None or corpus.mention_end is None:
            return None
        return _distinct_rows(document, corpus.mention_start[rows], corpus.mention_end[rows])
    labels = [corpus.labels[row] for row in rows.tolist()]
    if set(map(type, labels)) not in ({int}, {tuple}):
        return None
    try:
        values = np.array(labels)
    except ValueError:  # tuples of different lengths
        return None
    if values.dtype.kind != "i" or values.shape[1:] not in ((), (2,), (3,)):
        return None
    return _distinct_rows(document, *((values, values) if values.ndim == 1 else values.T))


def _distinct_rows(*columns: IntArray) -> IntArray:
    rows, is_repeated = _sort_rows(np.column_stack(columns))
    return rows[~is_repeated]


def _sort_rows(rows: IntArray) -> tuple[IntArray, BoolArray]:
    """The rows in ascending order, and which of them equal the row before."""
    rows = rows[np.lexsort(rows.T[::-1])]
    is_repeated = np.zeros(len(rows), dtype=np.bool_)
    is_repeated[1:] = (rows[1:] == rows[:-1]).all(axis=1)
    return rows, is_repeated


def _cause(mismatch: Mismatch, suspects: Suspects) -> str:
    """The likely cause in words, where no shift explains the mismatch."""
    key, response = suspects.key, suspects.response
    return (
        _other_types(key, response)
        or _other_tokens(mismatch, suspects)
        or _explain_exchange(mismatch, key, response)
        or "the cause is unclear; the first mentions are "
        f"{_first(response)} here and {_first(key)} in the key: check that both are of the same "
        "text and tokens"
    )


def _other_types(key: Corpus, response: Corpus) -> str:
    """In words, that labels would be equal if they were text on both sides; else nothing."""
    if key.labels is None or response.labels is None:
        return ""
    texts = [
        set(zip(side.mention_document.tolist(), map(_as_text, side.labels or ()), strict=True))
        for side in (key, response)
    ]
    if 2 * len(texts[0] & texts[1]) < min(map(len, texts)):
        return ""
    response_type, key_type = (_type_of(side.labels or ()) for side in (response, key))
    return f"mentions are of different types: {response_type} here, {key_type} in the key"


def _as_text(label: Hashable) -> Hashable:
    return tuple(map(_as_text, label)) if isinstance(label, tuple) else str(label)


def _type_of(labels: Sequence[Hashable]) -> str:
    label = labels[0]
    inside = ", ".join(type(part).__name__ for part in label) if isinstance(label, tuple) else ""
    return f"tuple ({inside})" if inside else type(label).__name__


def _other_tokens(mismatch: Mismatch, suspects: Suspects) -> str:
    different = int(suspects.other_tokens[mismatch.documents].sum())
    if not different:
        return ""
    share = f"{different:,} of {plural(mismatch.documents.size, 'document')}"
    return f"another tokenisation: the tokens of {share} differ from the key's"


def _explain_exchange(mismatch: Mismatch, key: Corpus, response: Corpus) -> str:
    """In words, that most documents have the mentions of another document; else nothing."""
    numbers: dict[Hashable, int] = {}
    codes = [_number(side, numbers) for side in (key, response)]
    if mismatch.documents.size < 2 or codes[0] is None or codes[1] is None:
        return ""
    sizes = np.diff(response.mention_offsets)
    looked_at = mismatch.documents[:_EXAMPLES].tolist()
    pairs = []
    for index in looked_at:
        key_codes = codes[0][slice(*key.mention_offsets[index : index + 2].tolist())]
        shared = np.bincount(
            response.mention_document[np.isin(codes[1], key_codes)], minlength=sizes.size
        )
        best = int(np.argmax(shared))
        enough = max(2, min(key_codes.size, sizes[best]) / 2)
        if best != index and shared[best] >= enough:
            pairs.append((index, best))
    if 2 * len(pairs) <= len(looked_at):
        return ""
    response_name, key_name = (excerpt(str(key.documents[index])) for index in pairs[0][::-1])
    return f"documents are mixed up: what is {key_name} in the key seems to be {response_name} here"


def _number(corpus: Corpus, numbers: dict[Hashable, int]) -> IntArray | None:
    """A number for each mention, the same for the same span or label in any document."""
    if corpus.labels is not None:
        labels = [numbers.setdefault(label, len(numbers)) for label in corpus.labels]
        order = np.argsort(corpus.mention_document, kind="stable")
        return np.array(labels, dtype=np.int64)[order]
    if corpus.mention_start is None or corpus.mention_end is None:
        return None
    return (corpus.mention_start << 31) + (corpus.mention_end - corpus.mention_start)


def _first(corpus: Corpus) -> str:
    if corpus.labels is not None:
        return excerpt(repr(corpus.labels[0]), 40)
    starts, ends = corpus.mention_start, corpus.mention_end
    return f"{starts[0]}:{ends[0]}" if starts is not None and ends is not None else "unknown"
