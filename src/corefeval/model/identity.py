"""What tells mentions apart: a code for each, equal across corpora, and a digest of all of them."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError
from corefeval.model.arrays import IntArray
from corefeval.model.corpus import Corpus

_LIMIT = 1 << 62


def mention_codes(key: Corpus, response: Corpus) -> tuple[IntArray, IntArray]:
    """Codes of the mentions of two corpora that number their documents alike.

    Two mentions have the same code when they are in the same document and have the same token
    positions (or the same label). Where mentions have positions, codes ascend in textual order.
    """
    if key.labels is not None and response.labels is not None:
        return _label_codes(key, response)
    if key.labels is not None or response.labels is not None:
        raise InputError(
            "one side has token positions, the other has plain Python mentions",
            expected="files or corpora with positions on both sides, or plain Python on both",
            fix="make every plain mention a tuple (start, end) of token positions, "
            "or use corefeval.corpus_from_arrays",
        )
    return _span_codes(key, response)


def _label_codes(*corpora: Corpus) -> tuple[IntArray, IntArray]:
    numbers: dict[tuple[int, Hashable], int] = {}
    codes = []
    for corpus in corpora:
        pairs = zip(corpus.mention_document.tolist(), corpus.labels or (), strict=True)
        codes.append([numbers.setdefault(pair, len(numbers)) for pair in pairs])
    left, right = (np.array(code, dtype=np.int64) for code in codes)
    _check_identity(corpora, left, right)
    return left, right


def _check_identity(corpora: Sequence[Corpus], left: IntArray, right: IntArray) -> None:
    """Refuse mentions that equal none but themselves, where no such mention is on both sides.

    The same objects on both sides are as good as names.
    """
    kinds: set[type] = set().union(*(map(type, corpus.labels or ()) for corpus in corpora))
    alone = {kind for kind in kinds if _is_by_identity(kind)}
    if not alone:
        return
    rows = [
        [row for row, label in enumerate(corpus.labels or ()) if type(label) in alone]
        for corpus in corpora
    ]
    if not rows[0] or not rows[1] or np.isin(left[rows[0]], right[rows[1]]).any():
        return
    label = (corpora[1].labels or ())[rows[1][0]]
    raise InputError(
        f"mentions of type {type(label).__name__} equal only themselves, and no such object is on "
        "both sides",
        found=f"{label!r:.60}",
        expected="mentions that are equal where they are the same: numbers, strings, tuples",
        fix=f"give {type(label).__name__} an __eq__ and a __hash__ (a frozen dataclass has both), "
        "or pass (start, end) in its place",
    )


def _is_by_identity(kind: type) -> bool:
    own = {name for one in kind.__mro__[:-1] for name in vars(one)}
    return not own & {"__eq__", "__hash__"} and kind is not type(None)


def _span_codes(*corpora: Corpus) -> tuple[IntArray, IntArray]:
    starts = [corpus.mention_start for corpus in corpora if corpus.mention_start is not None]
    lengths = [
        corpus.mention_end - corpus.mention_start
        for corpus in corpora
        if corpus.mention_end is not None and corpus.mention_start is not None
    ]
    if len(lengths) < len(corpora):
        raise InputError("a corpus has neither token positions nor labels for its mentions")
    shapes, n_shapes = _shapes(*corpora)
    width = 1 + max(int(length.max(initial=0)) for length in lengths)
    stride = 1 + max(int(start.max(initial=0)) for start in starts)
    n_documents = len(corpora[0].documents)
    if n_documents * stride * width * n_shapes >= _LIMIT:
        return _rank(*corpora, shapes=shapes)
    codes = []
    for corpus, start, length, shape in zip(corpora, starts, lengths, shapes, strict=True):
        place = start if n_documents == 1 else corpus.mention_document * stride + start
        code = place * width + (width - 1 - length)
        codes.append(code if n_shapes == 1 else code * n_shapes + shape)
    left, right = codes
    return left, right


def _rank(*corpora: Corpus, shapes: list[IntArray]) -> tuple[IntArray, IntArray]:
    """The same by sorting, where one number cannot hold it all."""
    rows = [
        np.stack(
            np.broadcast_arrays(
                corpus.mention_document, corpus.mention_start, -corpus.mention_end, shape
            ),
            axis=1,
        )
        for corpus, shape in zip(corpora, shapes, strict=True)
        if corpus.mention_start is not None and corpus.mention_end is not None
    ]
    _, ranks = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    ranks = ranks.reshape(-1).astype(np.int64)
    return ranks[: len(rows[0])], ranks[len(rows[0]) :]


def _shapes(*corpora: Corpus) -> tuple[list[IntArray], int]:
    """Number the ways in which mentions are interrupted; 0 is a mention without gaps.

    The numbers do not depend on which corpus comes first: they order what is equal otherwise.
    """
    distinct = {tuple(spans) for corpus in corpora for spans in corpus.gaps_of.values()}
    numbers = {spans: number for number, spans in enumerate(sorted(distinct), 1)}
    shapes = []
    for corpus in corpora:
        shape = np.zeros(corpus.n_mentions if corpus.gaps.size else 1, dtype=np.int64)
        for row, spans in corpus.gaps_of.items():
            shape[row] = numbers[tuple(spans)]
        shapes.append(shape)
    return shapes, 1 + len(numbers)


_ODD = tuple(np.uint64(number) for number in (
    0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93,
    0xFF51AFD7ED558CCD,
))  # fmt: skip


VERSION = "v2"  # digests of another version are not comparable


def digest(corpus: Corpus) -> str:
    """The same for the same documents with the same mentions in the same entities.

    What entities are called, their order, the order of documents and the text do not matter. It is
    a sum over documents, so that the digests of the parts of a corpus add up to its own (see
    `Result.total`). It is no protection against somebody who wants to deceive.
    """
    documents = np.array([zlib.crc32(str(name).encode()) for name in corpus.documents], np.uint64)
    parts: list[NDArray[np.uint64]] = [column.astype(np.uint64) for column in _identities(corpus)]
    parts.append(documents[corpus.mention_document])
    own = _mix(parts)
    # What tells the entities apart are all mentions of each: first ones may be the same tokens.
    entities = np.zeros(corpus.n_entities, dtype=np.uint64)
    np.add.at(entities, corpus.mention_entity, own)
    whole = _mix([own, entities[corpus.mention_entity]])
    total = int(whole.sum(dtype=np.uint64)) + int(_mix([documents]).sum(dtype=np.uint64))
    return f"{VERSION}-{total % (1 << 64):016x}-{corpus.n_mentions}"


def _identities(corpus: Corpus) -> list[NDArray[np.int64]]:
    """What tells the mentions of a document apart."""
    if corpus.mention_start is None or corpus.mention_end is None:
        labels = [zlib.crc32(repr(label).encode()) for label in corpus.labels or ()]
        return [np.array(labels, dtype=np.int64)]
    if not corpus.gaps.size:
        return [corpus.mention_start, corpus.mention_end]
    gaps = np.zeros(corpus.n_mentions, dtype=np.int64)
    np.add.at(gaps, corpus.gaps[:, 0], corpus.gaps[:, 1] * 1_000_003 + corpus.gaps[:, 2])
    return [corpus.mention_start, corpus.mention_end + gaps * 31]


def _mix(columns: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """One number for each row, spread over all bits."""
    mixed = np.zeros(columns[0].size, dtype=np.uint64)
    for column, odd in zip(columns, _ODD, strict=False):
        mixed = (mixed + column) * odd
        mixed ^= mixed >> np.uint64(29)
    return mixed * _ODD[-1]
