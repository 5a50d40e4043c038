"""Pieces: which documents of both sides are scored together, and what comes of one piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from corefeval.diagnostics import InputError, Notice
from corefeval.evaluation import Metrics, count
from corefeval.files import unpack_limit
from corefeval.model import Corpus, DocumentId
from corefeval.model.identity import digest
from corefeval.pairing import DocumentPairs, Suspects, find_suspects
from corefeval.pieces.index import Portion, Side
from corefeval.preparation import Plan, Prepared, prepare_corpora
from corefeval.results import Result

Ids = tuple[DocumentId | None, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Documents that are scored together, by id: on the key's side and on the response's.

    None is a document that a side lacks. `unscored` documents of the key take no part, but are in
    its digest; of a piece that has no document of the key there is no digest.
    """

    key: Portion
    response: Portion
    identifiers: tuple[DocumentId, ...]
    key_ids: Ids
    response_ids: Ids
    size: int
    has_key: bool = True
    pairing_notices: tuple[Notice, ...] = field(default=())
    key_notices: tuple[Notice, ...] = field(default=())
    response_notices: tuple[Notice, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of every piece; it pickles. `properties` are those of mentions on each side."""

    plan: Plan
    metrics: Metrics
    by: tuple[str, ...]
    limit: int
    properties: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


@dataclass(frozen=True, slots=True)
class Share:
    """What comes of a piece: there is no result where none of its documents is scored."""

    digest: str
    result: Result | None = None
    suspects: Suspects | None = None


def make_pieces(key: Side, response: Side, pairs: DocumentPairs, piece_size: int) -> list[Piece]:
    """Pieces of about the same size, by the bytes of the key, in its order.

    What only the response has comes last. Notices on the whole are those of the first piece.
    """
    place = np.full(len(key.documents), -1, dtype=np.int64)  # among the documents that are scored
    known = np.flatnonzero(pairs.key >= 0)
    place[pairs.key[known]] = known
    pieces = [
        _piece(key, response, pairs, rows, place[rows][place[rows] >= 0])
        for rows in _cut(key.sizes, key.file_of, _uncut(key), piece_size)
    ]
    extra = np.flatnonzero(pairs.key < 0)
    theirs = pairs.response[extra]
    pieces += [
        _piece(key, response, pairs, extra[:0], extra[rows])
        for rows in _cut(
            response.sizes[theirs], response.file_of[theirs], _uncut(response), piece_size
        )
    ]
    first = next(number for number, piece in enumerate(pieces) if piece.identifiers)
    pieces[first] = replace(
        pieces[first],
        pairing_notices=pairs.notices,
        key_notices=_file_notices(key),
        response_notices=_file_notices(response),
    )
    return pieces


def make_specimen(key: Side, response: Side, pairs: DocumentPairs, size: int) -> Piece:
    """Documents spread over all that are scored, of so many bytes; all of fewer bytes."""
    rows = pairs.key[pairs.both]
    step = -(-int(key.sizes[rows].sum()) // size)
    scored = pairs.both[:: max(step, 1)]
    if step <= 1:
        scored = np.arange(len(pairs.identifiers))
    mine = pairs.key[scored]
    return _piece(key, response, pairs, mine[mine >= 0], scored)


def _file_notices(side: Side) -> tuple[Notice, ...]:
    of_files = (n for file in side.files if file.ranges is not None for n in file.ranges.notices)
    return (*of_files, *side.notices)


def _uncut(side: Side) -> np.ndarray:
    return np.array([file.ranges is None for file in side.files])


def _cut(
    sizes: np.ndarray, files: np.ndarray, uncut: np.ndarray, piece_size: int
) -> Iterator[np.ndarray]:
    """Runs of documents of about the same size; files that are not cut stay together."""
    if not sizes.size:
        return
    total = int(sizes.sum())
    number = max(1, -(-total // piece_size))
    middle = np.cumsum(sizes) - sizes / 2
    piece = np.minimum((middle * (number / max(total, 1))).astype(np.int64), number - 1)
    for file in np.flatnonzero(uncut).tolist():
        inside = files == file
        if inside.any():
            piece[inside] = piece[inside].min()
    piece = np.maximum.accumulate(piece)
    yield from np.split(np.arange(sizes.size), np.flatnonzero(np.diff(piece)) + 1)


def _piece(
    key: Side, response: Side, pairs: DocumentPairs, rows: np.ndarray, scored: np.ndarray
) -> Piece:
    """The piece of some documents of the key, of which (or beside which) some are scored."""
    mine, theirs = pairs.key[scored], pairs.response[scored]
    wanted = theirs[theirs >= 0]
    # A side without a document has none of its columns either: one that nobody asks for tells them.
    of_key = rows if rows.size else np.array([int(np.argmin(key.sizes))])
    of_response = wanted if wanted.size else np.array([int(np.argmin(response.sizes))])
    return Piece(
        key.only(of_key),
        response.only(of_response),
        tuple(pairs.identifiers[index] for index in scored.tolist()),
        tuple(key.documents[index] if index >= 0 else None for index in mine.tolist()),
        tuple(response.documents[index] if index >= 0 else None for index in theirs.tolist()),
        int(key.sizes[rows].sum() + response.sizes[wanted].sum()),
        has_key=bool(rows.size),
    )


def score_piece(piece: Piece, request: Request) -> Share:
    """Read, prepare and count a piece."""
    with unpack_limit(request.limit):
        if not piece.identifiers:
            return Share(digest(piece.key.read()))
        prepared = prepare_piece(piece, request)
        result = count(prepared, request.metrics, by=request.by)
        rows = prepared.matches.key
        suspects = None
        if rows is not None:
            suspects = find_suspects(prepared.key, prepared.response, rows)
        return Share(prepared.key_digest if piece.has_key else "", result, suspects)


def prepare_piece(piece: Piece, request: Request) -> Prepared:
    """Read a piece, and go through the ordinary door."""
    key = _with_properties(piece.key.read(), request.properties[0])
    response = _with_properties(piece.response.read(), request.properties[1])
    pairs = DocumentPairs(
        piece.identifiers,
        _places(key, piece.key_ids),
        _places(response, piece.response_ids),
        piece.pairing_notices,
    )
    key = replace(key, notices=(*key.notices, *piece.key_notices))
    response = replace(response, notices=(*response.notices, *piece.response_notices))
    return prepare_corpora(key, response, request.plan, pairs=pairs)


def _with_properties(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """The corpus with all properties that its side has, though none of its mentions may."""
    if all(name in corpus.features for name in names):
        return corpus
    nothing = np.full(corpus.n_mentions, "", dtype=object)
    return replace(corpus, features={**dict.fromkeys(names, nothing), **corpus.features})


def _places(corpus: Corpus, identifiers: Ids) -> np.ndarray:
    known = {identifier: index for index, identifier in enumerate(corpus.documents)}
    try:
        places = [-1 if one is None else known[one] for one in identifiers]
    except KeyError as missing:
        raise InputError(
            f"document {missing.args[0]} is not where it was",
            file=corpus.name or None,
            fix="the file changed while it was being scored: score it again",
        ) from None
    return np.array(places, dtype=np.int64)
