"""A score in pieces: indexed, paired and decided once, counted anywhere, summed once."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from corefeval.diagnostics import (
    InputError,
    Notice,
    Notices,
    UndefinedMetricError,
    UsageError,
    merge_notices,
)
from corefeval.evaluation import count
from corefeval.features.statements import ORDERED_VALUES
from corefeval.features.token_columns import Samples, empty_columns, take_samples
from corefeval.files import current_limit, unpack_limit
from corefeval.formats import fingerprint
from corefeval.metrics import parse_metrics
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, integers
from corefeval.model.identity import digest
from corefeval.pairing import DocumentPairs, find_suspects, mismatch_notices, pair_documents
from corefeval.pairing.mismatches import MISMATCH
from corefeval.pieces import Cutting, NamedFile, watch_workers
from corefeval.pieces.execution import Kept, Share, map_pieces
from corefeval.pieces.planning import (
    Ids,
    Notes,
    Piece,
    Side,
    index_side,
    make_pieces,
    make_specimen,
)
from corefeval.preparation import Prepared, compare_evidence, drop_idle, prepare_corpora
from corefeval.request import Reading, Request
from corefeval.results import Result
from corefeval.results.result import add_digests

Columns = tuple[str | int, ...]
Properties = tuple[tuple[str, ...], tuple[str, ...]]

_SPECIMEN = 2_000_000  # bytes of the key, spread over all of it, that tell what is in the columns
_READ_AGAIN = 64_000_000  # bytes; of less, the whole in memory tells mistakes best
# What was guessed by all mentions together, or by the values of all of them.
_OF_THE_WHOLE = ("guessed-kinds", "rare-values")
# The steps that tell something, in their order; some speak of the key first, then the response.
_READING = (
    "word-column",
    "unfinished-documents",
    "unfinished-file",
    "minimum-outside",
    "no-entity",
    "repeated-markables",
    "contradictory-anchors",
    "misspelt-attributes",
    "multiword-lines",
    "unread-columns",
    "",  # all others
    "unresolved-relations",
)
_STEPS = (
    ("positions", "missing-documents", "extra-documents"),
    ("widened-mentions", "unplaced-mentions", "unplaced-documents"),
    ("aligned-nodes", "empty-nodes", "zero-mentions"),
    ("other-tokens", "aligned-tokens", "unaligned-tokens", "unaligned-mentions", "widened-pairs"),
    ("no-mentions",),
    (
        "no-deixis",
        "repeated-mentions",
        "circular-sets",
        "empty-sets",
        "singletons",
        "unscored-deixis",
        "unscored-pseudo",
        "unscored-sets",
    ),
    ("heads",),
    ("minimum-outside", "minimum-unknown", "minimum-long"),
    ("borrowed",),
    ("other-heads", "other-minimum", MISMATCH, "other-spans"),
    ("circular-sets", "empty-sets", "self-bridging"),
    ("skipped-metric",),
)
_BY_SIDE = (2, 4, 5, 6, 7, 10)
_OF_SETS = 5  # the step that looks at sets where they are scored; else metrics do


def score_files(key: NamedFile, response: NamedFile, request: Request) -> Result | None:
    """The result of two files in pieces; None where they are to be scored in memory.

    None comes back for few documents or bytes, for entities across documents, for features that the
    caller states, and where a notice or a guess depends on all mentions together.
    """
    if request.features is not None or request.protocol.across != "none":
        return None
    with tempfile.TemporaryDirectory(prefix="corefeval-") as folder:
        work = _prepare_work((key, response), request, folder)
        if work is None:
            return None
        try:
            shares = map_pieces(
                _decide(work, request),
                work.pieces,
                request.cutting,
                find=None if work.kept is None else work.kept.find_piece,
                keep=None if work.kept is None else work.kept.keep_piece,
            )
        except InputError:
            if work.size > _READ_AGAIN:
                raise
            return None
        except UndefinedMetricError:
            return None
    return _join(shares, work, request)


@dataclass(frozen=True, slots=True)
class _Work:
    """The pieces of both sides, without the ids that would fill memory."""

    pieces: list[Piece]
    specimen: Piece
    notes: tuple[Notes, Notes]
    size: int
    kept: Kept | None


def _prepare_work(
    sources: tuple[NamedFile, NamedFile], request: Request, folder: str
) -> _Work | None:
    """Index and pair two sides; None where they make one piece."""
    readings = request.key_reading, request.response_reading
    folders = [tempfile.mkdtemp(dir=folder) for _ in sources]
    key, response = _index_both([*zip(sources, readings, folders, strict=True)], request.cutting)
    response = response.sharing(key.documents)
    names = key.name, response.name
    pairs = pair_documents(key.documents, response.documents, request.protocol, names)
    pieces = make_pieces(key, response, pairs, request.cutting.bytes)
    if len(pieces) < 2 or len(pairs.identifiers) < 2:
        return None
    kept = None
    if request.cutting.resume is not None:
        kept = Kept(request.cutting.resume, _describe_run(sources, pieces, request))
    specimen = make_specimen(key, response, pairs, _SPECIMEN)
    size = int(key.sizes.sum() + response.sizes.sum())
    return _Work(pieces, specimen, (key.notes, response.notes), size, kept)


def _index_both(tasks: Sequence[tuple[NamedFile, Reading, str]], cutting: Cutting) -> list[Side]:
    """Index the key in this thread and the response in a worker at the same time."""
    how = cutting.bytes, current_limit()
    # Workers of this machine see the same files, and do not wait for each other as threads do.
    workers = cutting.executor if isinstance(cutting.executor, ProcessPoolExecutor) else None
    with nullcontext(workers) if workers else ThreadPoolExecutor(1) as pool:
        with watch_workers():
            response_task = pool.submit(_index, *tasks[1], *how)
        try:
            key = _index(*tasks[0], *how)
            with watch_workers():
                return [key, response_task.result()]
        finally:
            if not response_task.cancel():  # what is unpacked is in a folder that goes away
                wait([response_task])


def _index(source: NamedFile, reading: Reading, folder: str, size: int, limit: int) -> Side:
    with unpack_limit(limit):
        return index_side(source.path, reading, piece_size=size, folder=folder, name=source.name)


def _describe_run(
    sources: tuple[NamedFile, NamedFile], pieces: Sequence[Piece], request: Request
) -> dict[str, object]:
    """Files, protocol, metrics and pieces of a run, which must be equal for it to be resumed."""
    (key, response), readings = sources, (request.key_reading, request.response_reading)
    formats = [reading.format for reading in readings]
    encodings = [reading.encoding for reading in readings]
    return {
        "key": [*key, *fingerprint(key.path, formats[0])],
        "response": [*response, *fingerprint(response.path, formats[1])],
        "protocol": str(request.protocol),
        "metrics": [item.metric.identity for item in parse_metrics(request.metrics)],
        "slices": list(request.by),
        "reading": [*encodings, readings[0].word_column, *formats],
        "tag set": repr(request.tagset),
        "pieces": [piece.size for piece in pieces],
    }


def _decide(work: _Work, request: Request) -> Callable[[Piece], Share]:
    """How pieces are scored: with the samples of columns and the properties of a specimen.

    Columns that are needed and empty in the specimen are looked for in all pieces.
    """
    # An executor stays where it is.
    request, executor = replace(request, cutting=Cutting()), request.cutting.executor
    needs = any(
        item.metric.declaration.needs
        or item.metric.by is not None
        or "zeros" in dict(item.metric.parameters)
        for item in parse_metrics(request.metrics)
    )
    if not needs and not request.by and request.protocol.match == "exact":
        return partial(score_piece, request=request)
    prepared, *_ = prepare_piece(work.specimen, request)
    with suppress(UndefinedMetricError):
        count(prepared, request.metrics, by=request.by)
    sides = prepared.key.on_own_text, prepared.response.on_own_text
    samples = [dict(take_samples(side.tokens)) for side in sides]
    empty = [tuple(empty_columns(side.tokens)) for side in sides]
    if any(empty) and work.specimen.size < work.size:
        find = partial(find_columns, key_names=empty[0], response_names=empty[1])
        by_piece = map_pieces(find, [*work.pieces], Cutting(executor=executor))
        for by_column, of_pieces in zip(samples, zip(*by_piece, strict=True), strict=True):
            for columns in reversed(of_pieces):  # of several pieces that have it, the first counts
                by_column.update({name: sample for name, sample in columns.items() if sample})
    request = replace(request, samples=(samples[0], samples[1]))
    properties = tuple(sides[0].features), tuple(sides[1].features)
    return partial(score_piece, request=request, properties=properties)


def _join(shares: Sequence[Share], work: _Work, request: Request) -> Result | None:
    """The result of all pieces; None where it cannot be summed from theirs."""
    results = [share.result for share in shares if share.result is not None]
    kinds = {notice.kind for result in results for notice in result.notices}
    # Without a mention there are no values to go by.
    if kinds & {*_OF_THE_WHOLE} or not any(share.has_mentions for share in shares):
        return None
    try:
        total = Result.total(results)
    except UsageError:  # a metric or a tag set that is not that of all
        return None
    total = replace(total, key_digest=add_digests([s.digest for s in shares if s.digest]))
    slices = {
        name: sliced.as_of_whole(total, ORDERED_VALUES) for name, sliced in total.slices.items()
    }
    joint_notices = (
        *mismatch_notices([s.suspects for s in shares if s.suspects is not None], total.response),
        *compare_evidence(request.base, total.protocol),
    )
    notices = (
        *read_notices([n for share in shares for n in share.of_key], work.notes[0]),
        *read_notices([n for share in shares for n in share.of_response], work.notes[1]),
        *_settle(results, total, joint_notices),
        *(work.kept.notices if work.kept is not None else ()),
    )
    return replace(total, slices=slices, notices=tuple(dict.fromkeys(notices)))


def read_notices(notices: Sequence[Notice], notes: Notes) -> list[Notice]:
    """The notices on reading a side, in the order of its files and then by kind."""
    files = {file: number for number, file in enumerate(notes.files)}
    ranked = []
    for notice in merge_notices((*notices, *notes.notices)):
        if notice.kind == "overlapping-mentions" and notice.items:
            first = min(notice.items, key=lambda item: int("0" + re.sub(r"\D", "", item)))
            notice = replace(notice, items=(first,))
        number = next(
            (n for file, n in files.items() if notice.text.startswith(f"{file}: ")), len(files)
        )
        kind = _READING.index(notice.kind if notice.kind in _READING else "")
        ranked.append((number, kind, notice))
    return [notice for _, _, notice in sorted(ranked, key=lambda entry: entry[:2])]


def _settle(
    results: Sequence[Result], total: Result, joint_notices: Sequence[Notice]
) -> list[Notice]:
    """The notices that are not on reading, from those of pieces, in the order of a whole score."""
    # Nobody is told that mentions of the response lack a value where some of the key do too.
    lacking = [
        f" have no {name}, and " for name, sliced in total.slices.items() if sliced.lacks_value
    ]
    notices = [*joint_notices]
    for notice in drop_idle(merge_notices(n for result in results for n in result.notices)):
        if notice.kind in ("no-mentions", "no-deixis") and not all(
            notice in result.notices for result in results
        ):
            continue
        if notice.kind == "no-value" and any(text in notice.text for text in lacking):
            continue
        notices.append(notice)
    return sorted(notices, key=lambda notice: _rank(notice, total))


def _rank(notice: Notice, total: Result) -> tuple[int, int, int]:
    """Where a notice stands among those of all steps."""
    is_late = notice.kind in ("circular-sets", "empty-sets") and total.protocol.split == "off"
    for step, kinds in enumerate(_STEPS):
        if notice.kind in kinds and not (is_late and step == _OF_SETS):
            is_response = step in _BY_SIDE and notice.text.startswith(f"{total.response}: ")
            return step, int(is_response), kinds.index(notice.kind)
    features = [n for n, name in enumerate(total.slices) if f" {name}" in notice.text]
    return len(_STEPS), min(features, default=len(total.slices)), int(notice.kind != "no-value")


# ── what comes of one piece ──


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
