"""What is in files, counted in pieces."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace

from corefeval.analysis.statistics import Statistics, statistics, total
from corefeval.diagnostics import Notice
from corefeval.files import current_limit, unpack_limit
from corefeval.model.corpus import match_documents
from corefeval.pieces import Cutting
from corefeval.pieces.execution import map_pieces
from corefeval.pieces.index import Portion, Reading, Side, index_side
from corefeval.pieces.planning import cut_side
from corefeval.pieces.scoring import read_notices


@dataclass(frozen=True, slots=True)
class _Part:
    portion: Portion
    size: int


def count_files(
    path: str, reading: Reading, cutting: Cutting, documents: str = "*"
) -> tuple[Statistics, tuple[Notice, ...]] | None:
    """The statistics of files in pieces, and what reading told; None where they are one piece."""
    with tempfile.TemporaryDirectory(prefix="corefeval-") as folder:
        side = index_side(path, reading, piece_size=cutting.bytes, folder=folder)
        parts = _cut(side, cutting.bytes, documents)
        if len(parts) < 2:
            return None
        shares = map_pieces(
            _count,
            parts,
            current_limit(),
            executor=cutting.executor,
            progress=cutting.progress,
        )
    told = [notice for _, notices in shares for notice in notices]
    return total([one for one, _ in shares]), tuple(read_notices(told, side.notes))


def _cut(side: Side, piece_size: int, documents: str) -> list[_Part]:
    runs = cut_side(side, match_documents(side.documents, documents, side.name), piece_size)
    return [_Part(side.only(rows), int(side.sizes[rows].sum())) for rows in runs]


def _count(part: _Part, limit: int) -> tuple[Statistics, tuple[Notice, ...]]:
    with unpack_limit(limit):
        corpus = part.portion.read()
    return replace(statistics(corpus), corpus=None), corpus.notices
