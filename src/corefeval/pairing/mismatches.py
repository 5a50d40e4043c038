"""Key and response with hardly a mention in common, and why that may be.

Nobody sees from a score near zero that spans were counted otherwise. A response is looked at only
where it has next to nothing of the key, so that all others pay for a comparison of two numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notice, excerpt, list_names, plural
from corefeval.model import Corpus, join
from corefeval.model.arrays import BoolArray, IntArray, distinct, ragged_arange
from corefeval.model.joining import strip_details
from corefeval.pairing.texts import find_differing_documents

_FEW = 4  # at most one mention of so many in common is suspicious
_ENOUGH = 5  # mentions of which, in some of many documents, one should be in common
_SAMPLE = 100_000  # mentions that tell which shift it is
_EXAMPLES = 20  # documents that tell whether they were exchanged
_LIMIT = 1 << 62
_OTHER_UNITS = 1.5  # positions that run so much further do not count the same things

MISMATCHES = ("no-common-mentions", "shifted-spans")  # kinds of notices

# What is added to start and end of the response's spans; the likely ones first.
_SHIFTS = ((0, 1), (0, -1), (1, 1), (-1, -1), (1, 0), (-1, 0), (-1, 1), (1, -1))


class Mismatch(NamedTuple):
    """Documents (by index) in which hardly a mention is on both sides.

    For each of them, `sizes` is the number of mentions of the side that has fewer, `common` how
    many both have, and `shifted` how many they would have in common with `shift` added to start and
    end of the response's spans. Without such a shift, not one mention is common, and `cause` says
    what may be behind that.
    """

    documents: IntArray
    sizes: IntArray
    common: IntArray
    shifted: IntArray
    shift: tuple[int, int] | None = None
    cause: str = ""

    @property
    def kind(self) -> str:
        """What notices and findings call it."""
        return MISMATCHES[self.shift is not None]


def find_mismatch(key: Corpus, response: Corpus, key_rows: IntArray) -> Mismatch | None:
    """Where hardly a mention is common; None where there is no such document.

    Both number their documents alike; `key_rows` are the key's mentions that the response has. Of
    several documents, single ones count if both sides have a handful of mentions there.
    """
    if _poor_documents(key, response, key_rows) is None:
        return None
    suspects = find_suspects(key, response, key_rows)
    found = _find(suspects)
    if found is None:
        return None
    places = {identifier: place for place, identifier in enumerate(key.documents)}
    own = [places[suspects.key.documents[index]] for index in found.documents.tolist()]
    return found._replace(documents=np.array(own, dtype=np.int64))


def _find(whole: Suspects) -> Mismatch | None:
    """Where hardly a mention is common, by the documents that are suspect."""
    key, response = whole.key, whole.response
    found = _poor_documents(key, response, whole.key_rows, any_common=whole.n_common > 0)
    if found is None:
        return None
    rows = [np.flatnonzero(_mark(found, side)[side.mention_document]) for side in (key, response)]
    found = _with_shift(found, key, response, rows)
    if found.shift is None:
        nothing = found.common == 0
        found = _choose(found, nothing)
        if not nothing.any():
            return None
        return found._replace(cause=_cause(found, whole))
    return _choose(found, 2 * found.shifted >= found.sizes)


class Suspects(NamedTuple):
    """The documents of a piece that may have hardly a mention in common, all by themselves.

    `key_rows` are the key's mentions in them that the response has too, `other_tokens` how many of
    the documents have other tokens. The piece has `n_documents`, and `n_common` such mentions.
    """

    key: Corpus
    response: Corpus
    key_rows: IntArray
    other_tokens: BoolArray
    n_documents: int
    n_common: int


def find_suspects(key: Corpus, response: Corpus, key_rows: IntArray) -> Suspects:
    """What a piece has to tell, so that mismatches can be told of all pieces together.

    What is rare in a piece may be all there is: a piece without common mentions is all suspect.
    """
    n_documents = len(key.documents)
    documents = np.arange(n_documents)
    if key_rows.size:
        found = _poor_documents(key, response, key_rows)
        documents = documents[:0] if found is None else found.documents
    different = []
    if key.tokens is not None and response.tokens is not None and documents.size:
        different = find_differing_documents(key.tokens, response.tokens, documents)
    common = np.zeros(key.n_mentions, dtype=np.bool_)
    common[key_rows] = True
    own = ragged_arange(
        key.mention_offsets[documents],
        key.mention_offsets[documents + 1] - key.mention_offsets[documents],
    )
    mine, theirs = (strip_details(side).select_documents(documents) for side in (key, response))
    other_tokens = np.isin(documents, different)
    rows = np.flatnonzero(common[own])
    return Suspects(mine, theirs, rows, other_tokens, n_documents, int(key_rows.size))


def joint_mismatch_notices(pieces: Sequence[Suspects]) -> list[Notice]:
    """The notices of all pieces together."""
    n_common = sum(piece.n_common for piece in pieces)
    n_documents = sum(piece.n_documents for piece in pieces)
    some = [piece for piece in pieces if piece.key.documents]
    if not some:
        return []
    sides = [
        join([getattr(piece, side) for piece in some], name=getattr(some[0], side).name)
        for side in ("key", "response")
    ]
    shifts = np.cumsum([0, *(piece.key.n_mentions for piece in some)])
    shifted = [piece.key_rows + shift for piece, shift in zip(some, shifts[:-1], strict=True)]
    whole = Suspects(
        sides[0],
        sides[1],
        np.concatenate(shifted),
        np.concatenate([piece.other_tokens for piece in some]),
        n_documents,
        n_common,
    )
    return _notices(whole)


def mismatch_notices(key: Corpus, response: Corpus, key_rows: IntArray) -> list[Notice]:
    """A notice where key and response have hardly a mention in common, with the likely cause."""
    if _poor_documents(key, response, key_rows) is None:
        return []
    return _notices(find_suspects(key, response, key_rows))


def _notices(whole: Suspects) -> list[Notice]:
    key, response = whole.key, whole.response
    found = _find(whole)
    if found is None:
        return []
    names = tuple(str(key.documents[index]) for index in found.documents.tolist())
    where = ""
    if not whole.n_common:
        counts = f"{plural(response.n_mentions, 'mention')} and the key's {key.n_mentions:,}"
        message = f"no mention in common between its {counts}: "
    else:
        documents = plural(whole.n_documents, "document")
        where = f" in {len(names):,} of {documents} ({list_names(names)})"
        share = f"{int(found.common.sum()):,} of {plural(int(found.sizes.sum()), 'mention')}"
        message = f"only {share} in common with the key{where}: "
    message += tell_cause(found)
    items = names if whole.n_common else ()
    return [Notice(found.kind, f"{response.name or 'response'}: {message}", len(names), items)]


def tell_cause(found: Mismatch, index: int | None = None) -> str:
    """What is behind it, of all documents or of one of them (by its place in `documents`)."""
    if found.shift is None:
        return found.cause
    start, end = found.shift
    chosen = slice(None) if index is None else slice(index, index + 1)
    count, size = int(found.shifted[chosen].sum()), int(found.sizes[chosen].sum())
    steps = {1: "one higher", -1: "one lower"}
    if start == end:
        how, why = f"starts and ends {steps[start]}", "one side counts from 0, the other from 1"
    elif not start:
        how = f"ends {steps[end]}"
        why = "ends are inclusive on one side and exclusive on the other"
    else:
        how = f"starts {steps[start]}" + (f" and ends {steps[end]}" if end else "")
        why = "the two sides count spans differently"
    return f"spans are off by one: {count:,} of {size:,} would be, with {how} ({why})"


def _poor_documents(
    key: Corpus, response: Corpus, key_rows: IntArray, *, any_common: bool | None = None
) -> Mismatch | None:
    """The documents in which few mentions are common, or none if that may be chance.

    `any_common`: whether there are common mentions at all, in these documents or others.
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


def _choose(found: Mismatch, rows: BoolArray) -> Mismatch:
    names = ("documents", "sizes", "common", "shifted")
    return found._replace(**{name: getattr(found, name)[rows] for name in names})


def _mark(found: Mismatch, corpus: Corpus) -> BoolArray:
    marked = np.zeros(len(corpus.documents), dtype=np.bool_)
    marked[found.documents] = True
    return marked


def _with_shift(
    found: Mismatch, key: Corpus, response: Corpus, rows: Sequence[IntArray]
) -> Mismatch:
    """The same with the shift that brings most mentions together, if it brings at least half."""
    columns = [_columns(side, chosen) for side, chosen in zip((key, response), rows, strict=True)]
    if columns[0] is None or columns[1] is None or columns[0].shape[1] != columns[1].shape[1]:
        return found
    lowest = np.minimum(columns[0].min(axis=0), columns[1].min(axis=0)).tolist()
    highest = np.maximum(columns[0].max(axis=0), columns[1].max(axis=0)).tolist()
    widths = [high - low + 3 for low, high in zip(lowest, highest, strict=True)]  # one on each side
    *steps, whole = np.cumprod(np.array([1, *widths[::-1]], dtype=object)).tolist()
    if whole >= _LIMIT:  # one number cannot hold it all
        return found
    steps, low = steps[::-1], np.array(lowest) - 1
    mine, theirs = (distinct((one - low) @ np.array(steps)) for one in columns)
    offsets = [start * steps[-2] + end for start, end in _SHIFTS]
    sample = theirs[:: 1 + theirs.size // _SAMPLE]
    best = int(np.argmax([are_among(sample + offset, mine).sum() for offset in offsets]))
    together = theirs[are_among(theirs + offsets[best], mine)]
    document = together // steps[0] + low[0]
    shifted = np.bincount(document, minlength=len(key.documents))[found.documents]
    total = int(shifted.sum())
    if 2 * total < found.sizes.sum() or total <= _FEW * found.common.sum():
        return found
    return found._replace(shifted=shifted, shift=_SHIFTS[best])


def are_among(values: IntArray, ascending: IntArray) -> BoolArray:
    """Which values are among others, of which there is at least one."""
    place = np.searchsorted(ascending, values)
    found: BoolArray = ascending[np.minimum(place, ascending.size - 1)] == values
    return found


def _columns(corpus: Corpus, rows: IntArray) -> IntArray | None:
    """Document, start and end of mentions, also of labels that are such numbers.

    A whole number is a span that starts where it ends; of three numbers the first is a sentence.
    """
    if not rows.size:
        return None
    document = corpus.mention_document[rows]
    if corpus.labels is None:
        if corpus.mention_start is None or corpus.mention_end is None:
            return None
        return np.column_stack((document, corpus.mention_start[rows], corpus.mention_end[rows]))
    labels = [corpus.labels[row] for row in rows.tolist()]
    if set(map(type, labels)) not in ({int}, {tuple}):
        return None
    try:
        values = np.array(labels)
    except ValueError:  # tuples of different lengths
        return None
    if values.dtype.kind != "i" or values.shape[1:] not in ((), (2,), (3,)):
        return None
    return np.column_stack((document, *((values, values) if values.ndim == 1 else values.T)))


def _cause(found: Mismatch, whole: Suspects) -> str:
    """What else may be behind it, in words."""
    key, response = whole.key, whole.response
    return (
        _other_types(key, response)
        or _other_tokens(found, whole)
        or _explain_exchange(found, key, response)
        or _other_units(found, key, response)
        or "the cause is unclear; the first mentions are "
        f"{_first(response)} here and {_first(key)} in the key: check that both are of the same "
        "text and tokens"
    )


def _other_types(key: Corpus, response: Corpus) -> str:
    """Labels that would be the same if both were text."""
    if key.labels is None or response.labels is None:
        return ""
    texts = [
        set(zip(side.mention_document.tolist(), map(_as_text, side.labels or ()), strict=True))
        for side in (key, response)
    ]
    if 2 * len(texts[0] & texts[1]) < min(map(len, texts)):
        return ""
    here, there = (_type_of(side.labels or ()) for side in (response, key))
    return f"mentions are of different types: {here} here, {there} in the key"


def _as_text(label: Hashable) -> Hashable:
    return tuple(map(_as_text, label)) if isinstance(label, tuple) else str(label)


def _type_of(labels: Sequence[Hashable]) -> str:
    label = labels[0]
    inside = ", ".join(type(one).__name__ for one in label) if isinstance(label, tuple) else ""
    return f"tuple ({inside})" if inside else type(label).__name__


def _other_tokens(found: Mismatch, whole: Suspects) -> str:
    different = int(whole.other_tokens[found.documents].sum())
    if not different:
        return ""
    share = f"{different:,} of {plural(found.documents.size, 'document')}"
    return f"another tokenisation: the tokens of {share} differ from the key's"


def _explain_exchange(found: Mismatch, key: Corpus, response: Corpus) -> str:
    """Documents most of whose mentions are those of another document."""
    numbers: dict[Hashable, int] = {}
    codes = [_number(side, numbers) for side in (key, response)]
    if found.documents.size < 2 or codes[0] is None or codes[1] is None:
        return ""
    sizes = np.diff(response.mention_offsets)
    looked_at = found.documents[:_EXAMPLES].tolist()
    pairs = []
    for index in looked_at:
        mine = codes[0][slice(*key.mention_offsets[index : index + 2].tolist())]
        shared = np.bincount(
            response.mention_document[np.isin(codes[1], mine)], minlength=sizes.size
        )
        best = int(np.argmax(shared))
        if best != index and shared[best] > 1 and 2 * shared[best] >= min(mine.size, sizes[best]):
            pairs.append((index, best))
    if 2 * len(pairs) <= len(looked_at):
        return ""
    here, there = (excerpt(str(key.documents[index])) for index in pairs[0][::-1])
    return f"documents are mixed up: what is {there} in the key seems to be {here} here"


def _number(corpus: Corpus, numbers: dict[Hashable, int]) -> IntArray | None:
    """A number for each mention, the same for the same span or label in any document."""
    if corpus.labels is not None:
        labels = [numbers.setdefault(label, len(numbers)) for label in corpus.labels]
        order = np.argsort(corpus.mention_document, kind="stable")
        return np.array(labels, dtype=np.int64)[order]
    if corpus.mention_start is None or corpus.mention_end is None:
        return None
    return (corpus.mention_start << 31) + (corpus.mention_end - corpus.mention_start)


def _other_units(found: Mismatch, key: Corpus, response: Corpus) -> str:
    ends = []
    for side in (response, key):
        columns = _columns(side, np.flatnonzero(_mark(found, side)[side.mention_document]))
        if columns is None:
            return ""
        ends.append(int(columns[:, -1].max()))
    if max(ends) < _OTHER_UNITS * (min(ends) + 1):
        return ""
    return (
        f"another tokenisation or text: positions go up to {ends[0]:,} here and up to {ends[1]:,} "
        "in the key (characters, or parts of words, instead of tokens?)"
    )


def _first(corpus: Corpus) -> str:
    if corpus.labels is not None:
        return excerpt(repr(corpus.labels[0]), 40)
    starts, ends = corpus.mention_start, corpus.mention_end
    return f"{starts[0]}:{ends[0]}" if starts is not None and ends is not None else "unknown"
