"""A short text that tells whether two corpora have the same entities."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from corefeval.model.corpus import Corpus

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
