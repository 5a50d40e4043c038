"""A score in pieces: indexed, paired and decided once, counted anywhere, summed once."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace

from corefeval.diagnostics import (
    InputError,
    Notice,
    UndefinedMetricError,
    UsageError,
    merge_notices,
)
from corefeval.evaluation import Metrics, count
from corefeval.features.statements import ORDERED_VALUES
from corefeval.features.tagsets import read_tagset
from corefeval.features.token_columns import empty_columns, take_samples
from corefeval.files import current_limit, unpack_limit
from corefeval.formats import fingerprint
from corefeval.metrics import parse_metrics
from corefeval.pairing import mismatch_notices, pair_documents
from corefeval.pairing.mismatches import MISMATCH
from corefeval.pieces import Cutting, NamedFile, watch_workers
from corefeval.pieces.execution import map_pieces
from corefeval.pieces.index import Notes, Reading, Side, index_side
from corefeval.pieces.kept import Kept
from corefeval.pieces.planning import (
    Columns,
    Piece,
    Request,
    Share,
    find_columns,
    make_pieces,
    make_specimen,
    prepare_piece,
    score_piece,
)
from corefeval.preparation import Plan, compare_evidence, drop_idle
from corefeval.results import Result
from corefeval.results.result import add_digests

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
    ("other-tokens",),
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


def score_files(
    key: NamedFile,
    response: NamedFile,
    plan: Plan,
    metrics: Metrics,
    by: Sequence[str],
    cutting: Cutting,
) -> Result | None:
    """The result of two files in pieces; None where they are to be scored in memory.

    None comes back for few documents or bytes, for entities across documents, for features that the
    caller states, and where a notice or a guess depends on all mentions together.
    """
    if plan.features is not None or plan.protocol.across != "none":
        return None
    with tempfile.TemporaryDirectory(prefix="corefeval-") as folder:
        request = Request(plan, parse_metrics(metrics), tuple(by), 0)
        work = _prepare_work((key, response), request, cutting, folder)
        if work is None:
            return None
        try:
            request = _decide(work, cutting)
            shares = map_pieces(
                score_piece,
                work.pieces,
                request,
                executor=cutting.executor,
                progress=cutting.progress,
                find=None if work.kept is None else work.kept.find_piece,
                keep=None if work.kept is None else work.kept.keep_piece,
            )
        except InputError:
            if work.size > _READ_AGAIN:
                raise
            return None
        except UndefinedMetricError:
            return None
    return _join(shares, work, plan)


@dataclass(frozen=True, slots=True)
class _Work:
    """The pieces of both sides and how to score them, without the ids that would fill memory."""

    pieces: list[Piece]
    specimen: Piece
    request: Request
    notes: tuple[Notes, Notes]
    size: int
    kept: Kept | None


def _prepare_work(
    sources: tuple[NamedFile, NamedFile], request: Request, cutting: Cutting, folder: str
) -> _Work | None:
    """Index and pair two sides; None where they make one piece."""
    plan = request.plan
    formats = plan.key_format, plan.response_format

    readings = [
        Reading(format, encoding, plan.word_column)
        for format, encoding in zip(formats, plan.encodings, strict=True)
    ]
    folders = [tempfile.mkdtemp(dir=folder) for _ in sources]
    key, response = _index_both([*zip(sources, readings, folders, strict=True)], cutting)
    response = response.sharing(key.documents)
    names = key.name, response.name
    pairs = pair_documents(key.documents, response.documents, plan.protocol, names)
    pieces = make_pieces(key, response, pairs, cutting.bytes)
    if len(pieces) < 2 or len(pairs.identifiers) < 2:
        return None
    kept = None
    if cutting.resume is not None:
        kept = Kept(cutting.resume, _describe_run(sources, pieces, request))
    specimen = make_specimen(key, response, pairs, _SPECIMEN)
    size = int(key.sizes.sum() + response.sizes.sum())
    request = replace(request, limit=current_limit())
    return _Work(pieces, specimen, request, (key.notes, response.notes), size, kept)


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
    plan, (key, response) = request.plan, sources
    return {
        "key": [*key, *fingerprint(key.path, plan.key_format)],
        "response": [*response, *fingerprint(response.path, plan.response_format)],
        "protocol": str(plan.protocol),
        "metrics": [metric_request.metric.identity for metric_request in request.metrics],
        "slices": list(request.by),
        "reading": [*plan.encodings, plan.word_column, plan.key_format, plan.response_format],
        "tag set": repr(plan.tagset and read_tagset(plan.tagset)),
        "pieces": [piece.size for piece in pieces],
    }


def _decide(work: _Work, cutting: Cutting) -> Request:
    """The request with the samples of columns and the properties of mentions, from a specimen.

    Columns that are needed and empty in the specimen are looked for in all pieces.
    """
    request = work.request
    metrics = [metric_request.metric for metric_request in parse_metrics(request.metrics)]
    needs = any(
        metric.declaration.needs or metric.by is not None or "zeros" in dict(metric.parameters)
        for metric in metrics
    )
    if not needs and not request.by and request.plan.protocol.match == "exact":
        return request
    prepared, *_ = prepare_piece(work.specimen, request)
    with suppress(UndefinedMetricError):
        count(prepared, request.metrics, by=request.by)
    sides = prepared.key, prepared.response
    samples = [dict(take_samples(side.tokens)) for side in sides]
    key_columns, response_columns = (tuple(empty_columns(side.tokens)) for side in sides)
    empty = Columns(key_columns, response_columns, request.limit)
    if (empty.key or empty.response) and work.specimen.size < work.size:
        by_piece = map_pieces(find_columns, [*work.pieces], empty, executor=cutting.executor)
        for by_column, of_pieces in zip(samples, zip(*by_piece, strict=True), strict=True):
            for columns in reversed(of_pieces):  # of several pieces that have it, the first counts
                by_column.update({name: sample for name, sample in columns.items() if sample})
    return replace(
        request,
        plan=request.plan._replace(samples=(samples[0], samples[1])),
        properties=(tuple(sides[0].features), tuple(sides[1].features)),
    )


def _join(shares: Sequence[Share], work: _Work, plan: Plan) -> Result | None:
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
        *compare_evidence(plan.base, total.protocol),
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
