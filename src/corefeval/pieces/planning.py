"""Pieces: which documents of both sides are scored together, and what comes of one piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from corefeval.diagnostics import InputError, Notices
from corefeval.evaluation import count
from corefeval.features.token_columns import Samples, take_samples
from corefeval.model import Corpus, DocumentId
from corefeval.model.arrays import IntArray, integers, mark_rows, set_rows
from corefeval.model.identity import digest
from corefeval.pairing import DocumentPairs, Suspects, find_suspects
from corefeval.pieces.index import Portion, Side, WholeFile
from corefeval.preparation import Prepared, prepare_corpora
from corefeval.request import Request
from corefeval.results import Result

Columns = tuple[str | int, ...]
Ids = tuple[DocumentId | None, ...]
Properties = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Piece:
    """Documents that are read together, and those of them that are scored, by id on either side.

    None is a document that a side lacks. Documents that take no part are read all the same: those
    of the key are in its digest, and there may be something to tell of any. A side of which a
    piece has no document (`has_key`, `has_response`) lends one, of which only the columns count.
    """

    key: Portion
    response: Portion
    size: int
    identifiers: tuple[DocumentId, ...] = ()
    key_ids: Ids = ()
    response_ids: Ids = ()
    has_key: bool = True
    has_response: bool = True
    notices: Notices = field(default=())


@dataclass(frozen=True, slots=True)
class Share:
    """What comes of a piece: there is no result where none of its documents is scored.

    `of_key` and `of_response` are the notices on reading, `result` has the others.
    """

    digest: str
    of_key: Notices
    of_response: Notices
    result: Result | None = None
    suspects: Suspects | None = None
    has_mentions: bool = False


def make_pieces(key: Side, response: Side, pairs: DocumentPairs, piece_size: int) -> list[Piece]:
    """Pieces of about the same size, by the bytes of the key, in its order.

    What only the response has comes last. Notices on pairs are those of the first piece.
    """
    with_key_document = np.flatnonzero(pairs.key >= 0)
    # Among the documents that are scored.
    place = set_rows(pairs.key[with_key_document], with_key_document, len(key.documents))
    pieces = [
        _piece(key, response, pairs, rows, place[rows][place[rows] >= 0])
        for rows in cut_side(key, np.arange(len(key.documents)), piece_size)
    ]
    scored = set_rows(
        pairs.response[pairs.response >= 0],
        np.flatnonzero(pairs.response >= 0),
        len(response.documents),
    )
    with_key = mark_rows(pairs.response[pairs.both], len(response.documents))
    pieces += [
        _piece(key, response, pairs, rows[:0], scored[rows][scored[rows] >= 0], rows)
        for rows in cut_side(response, np.flatnonzero(~with_key), piece_size)
    ]
    first = next(number for number, piece in enumerate(pieces) if piece.identifiers)
    pieces[first] = replace(pieces[first], notices=pairs.notices)
    return _report_files_once(pieces)


def _report_files_once(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, with files that several of them read whole quiet in all but the first."""
    seen: set[tuple[str, str]] = set()

    def report_once(portion: Portion, side: str) -> Portion:
        whole_files = [(side, read.file) for read in portion.reads if isinstance(read, WholeFile)]
        if seen.isdisjoint(whole_files):
            seen.update(whole_files)
            return portion
        reads = tuple(
            replace(read, quiet=(side, read.file) in seen) if isinstance(read, WholeFile) else read
            for read in portion.reads
        )
        seen.update(whole_files)
        return replace(portion, reads=reads)

    return [
        replace(
            piece,
            key=report_once(piece.key, "key") if piece.has_key else piece.key,
            response=report_once(piece.response, "response")
            if piece.has_response
            else piece.response,
        )
        for piece in pieces
    ]


def make_specimen(key: Side, response: Side, pairs: DocumentPairs, size: int) -> Piece:
    """Documents spread over all that are scored, of so many bytes; all of fewer bytes."""
    rows = pairs.key[pairs.both]
    step = -(-int(key.sizes[rows].sum()) // size)
    scored = pairs.both[:: max(step, 1)]
    if step <= 1:
        scored = np.arange(len(pairs.identifiers))
    key_rows = pairs.key[scored]
    return _piece(key, response, pairs, key_rows[key_rows >= 0], scored)


def cut_side(side: Side, rows: IntArray, piece_size: int) -> Iterator[IntArray]:
    """Runs of documents of about the same size; files that are not cut stay together."""
    if not rows.size:
        return
    sizes, files = side.sizes[rows], side.file_of[rows]
    total = int(sizes.sum())
    number = max(1, -(-total // piece_size))
    middle = np.cumsum(sizes) - sizes / 2
    piece = np.minimum(integers(middle * (number / max(total, 1))), number - 1)
    is_uncut = np.array([file.ranges is None for file in side.files])[files]
    starts = np.append(True, (np.diff(piece) > 0) & ~(is_uncut[1:] & (np.diff(files) == 0)))
    yield from np.split(rows, np.flatnonzero(starts)[1:])


def _piece(
    key: Side,
    response: Side,
    pairs: DocumentPairs,
    rows: IntArray,
    scored: IntArray,
    response_rows: IntArray | None = None,
) -> Piece:
    """The piece of documents `rows` of the key and `response_rows` of the response.

    `scored` are pairs of documents; without `response_rows` the response has those of the pairs.
    """
    scored_key, scored_response = pairs.key[scored], pairs.response[scored]
    read_rows = scored_response[scored_response >= 0] if response_rows is None else response_rows
    of_key = rows if rows.size else np.array([int(np.argmin(key.sizes))])
    of_response = read_rows if read_rows.size else np.array([int(np.argmin(response.sizes))])
    return Piece(
        key.only(of_key),
        response.only(of_response),
        int(key.sizes[rows].sum() + response.sizes[read_rows].sum()),
        tuple(pairs.identifiers[index] for index in scored.tolist()),
        tuple(key.documents[index] if index >= 0 else None for index in scored_key.tolist()),
        tuple(
            response.documents[index] if index >= 0 else None for index in scored_response.tolist()
        ),
        has_key=bool(rows.size),
        has_response=bool(read_rows.size),
    )


def score_piece(piece: Piece, request: Request, properties: Properties = ((), ())) -> Share:
    """Read, prepare and count a piece; `properties` are those of mentions on each side."""
    if not piece.identifiers:
        return _read_only(piece)
    prepared, of_key, of_response = prepare_piece(piece, request, properties)
    result = count(prepared, request.metrics, by=request.by)
    has_mentions = bool(prepared.key.n_mentions or prepared.response.n_mentions)
    if not has_mentions:
        slices = {name: sliced.without_nothing() for name, sliced in result.slices.items()}
        result = replace(result, slices=slices)
    rows, _ = prepared.matches.rows(prepared.key.n_mentions)
    return Share(
        prepared.key_digest if piece.has_key else "",
        of_key,
        of_response,
        result,
        find_suspects(prepared.key, prepared.response, rows),
        has_mentions,
    )


def find_columns(
    piece: Piece, key_names: Columns, response_names: Columns
) -> tuple[Samples, Samples]:
    """Samples of what a piece has in the named columns of the key and of the response."""
    return (
        take_samples(piece.key.read().tokens, key_names) if key_names else {},
        take_samples(piece.response.read().tokens, response_names) if response_names else {},
    )


def _read_only(piece: Piece) -> Share:
    key = piece.key.read() if piece.has_key else None
    response = piece.response.read() if piece.has_response else None
    return Share(
        "" if key is None else digest(key),
        () if key is None else key.notices,
        () if response is None else response.notices,
    )


def prepare_piece(
    piece: Piece, request: Request, properties: Properties = ((), ())
) -> tuple[Prepared, Notices, Notices]:
    """Read and prepare a piece; with the notices on reading the key and the response."""
    key = _with_properties(piece.key.read(), properties[0])
    response = _with_properties(piece.response.read(), properties[1])
    pairs = DocumentPairs(
        piece.identifiers,
        _places(key, piece.key_ids),
        _places(response, piece.response_ids),
        piece.notices,
    )
    reading_notices = (
        key.notices if piece.has_key else (),
        response.notices if piece.has_response else (),
    )
    key, response = (replace(side, notices=()) for side in (key, response))
    return prepare_corpora(key, response, request, pairs=pairs), *reading_notices


def _with_properties(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """The corpus with all properties of its side, empty where its mentions have none."""
    if all(name in corpus.features for name in names):
        return corpus
    nothing = np.full(corpus.n_mentions, "", dtype=object)
    return replace(corpus, features={**dict.fromkeys(names, nothing), **corpus.features})


def _places(corpus: Corpus, identifiers: Ids) -> IntArray:
    place_of = {identifier: index for index, identifier in enumerate(corpus.documents)}
    try:
        places = [-1 if identifier is None else place_of[identifier] for identifier in identifiers]
    except KeyError as missing:
        raise InputError(
            f"document {missing.args[0]} is not where it was",
            file=corpus.name or None,
            fix="the file changed while it was being scored: score it again",
        ) from None
    return integers(places)
