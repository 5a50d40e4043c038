"""A score in pieces: indexed, paired and decided once, counted anywhere, summed once."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace

from corefeval.diagnostics import (
    InputError,
    Notice,
    UndefinedMetricError,
    UsageError,
    merge_notices,
)
from corefeval.evaluation import Metrics
from corefeval.features.token_columns import take_samples
from corefeval.files import current_limit
from corefeval.metrics import parse_metrics
from corefeval.pairing import joint_mismatch_notices, pair_documents
from corefeval.pieces import Cutting, NamedFile
from corefeval.pieces.execution import Kept, map_pieces
from corefeval.pieces.index import Reading, Side, index_side
from corefeval.pieces.planning import (
    Piece,
    Request,
    Share,
    make_pieces,
    make_specimen,
    prepare_piece,
    score_piece,
)
from corefeval.preparation import Plan, other_heads, told
from corefeval.results import Result
from corefeval.results.result import add_digests

_SPECIMEN = 2_000_000  # bytes of the key, spread over all of it, that tell what is in the columns
_READ_AGAIN = 64_000_000  # bytes; of less, the whole in memory tells mistakes best
# What was guessed by all mentions together, or by the values of all of them.
_OF_THE_WHOLE = ("guessed-kinds", "rare-values")
_LAST = ("other-spans", "skipped-metric", "undefined-slice", "no-value")


def score_files(
    key: NamedFile,
    response: NamedFile,
    plan: Plan,
    metrics: Metrics,
    by: Sequence[str],
    cutting: Cutting,
) -> Result | None:
    """The result of two files in pieces; None where they are for the memory as a whole.

    That is so for few documents or bytes, for features that somebody states, and where something
    can only be told of all mentions together.
    """
    if plan.features is not None:
        return None
    with tempfile.TemporaryDirectory(prefix="corefeval-") as folder:
        sides = [
            index_side(
                source.path,
                Reading(format, plan.encoding, plan.word_column),
                piece_size=cutting.bytes,
                folder=tempfile.mkdtemp(dir=folder),
                name=source.name,
            )
            for source, format in ((key, plan.key_format), (response, plan.response_format))
        ]
        names = sides[0].name, sides[1].name
        pairs = pair_documents(sides[0].documents, sides[1].documents, plan.protocol, names)
        pieces = make_pieces(sides[0], sides[1], pairs, cutting.bytes)
        if len(pieces) < 2 or len(pairs.identifiers) < 2:
            return None
        request = Request(plan, metrics, tuple(by), current_limit())
        kept = None
        if cutting.resume is not None:
            kept = Kept(os.fspath(cutting.resume), _described(sides, pieces, request))
        try:
            specimen = make_specimen(sides[0], sides[1], pairs, _SPECIMEN)
            request = _decide(specimen, request)
            shares = map_pieces(
                score_piece,
                pieces,
                request,
                executor=cutting.executor,
                kept=kept,
                progress=cutting.progress,
            )
        except InputError:
            if sum(int(side.sizes.sum()) for side in sides) > _READ_AGAIN:
                raise
            return None
        except UndefinedMetricError:
            return None
    return _join(shares, request.plan)


def _described(
    sides: Sequence[Side], pieces: Sequence[Piece], request: Request
) -> dict[str, object]:
    """What a run is, so that finished pieces are only taken for the same one."""
    plan = request.plan
    return {
        "key": sides[0].stamp,
        "response": sides[1].stamp,
        "protocol": str(plan.protocol),
        "metrics": [str(one.metric) for one in parse_metrics(request.metrics)],
        "slices": list(request.by),
        "reading": [plan.encoding, plan.word_column, plan.key_format, plan.response_format],
        "tag set": repr(plan.tagset),
        "pieces": [piece.size for piece in pieces],
    }


def _decide(specimen: Piece, request: Request) -> Request:
    """The request with what a specimen tells of columns and properties, decided once."""
    wanted = [one.metric for one in parse_metrics(request.metrics)]
    needs = any(metric.declaration.needs or metric.by is not None for metric in wanted)
    if not needs and not request.by and request.plan.protocol.match == "exact":
        return request
    prepared = prepare_piece(specimen, request)
    sides = prepared.key, prepared.response
    samples = take_samples(sides[0].tokens), take_samples(sides[1].tokens)
    return replace(
        request,
        plan=replace(request.plan, samples=samples),
        properties=(tuple(sides[0].features), tuple(sides[1].features)),
    )


def _join(shares: Sequence[Share], plan: Plan) -> Result | None:
    """The result of all pieces; None where pieces cannot have it."""
    results = [share.result for share in shares if share.result is not None]
    kinds = {notice.kind for result in results for notice in result.notices}
    if kinds & {*_OF_THE_WHOLE}:
        return None
    try:
        total = Result.total(results)
    except UsageError:  # a metric or a tag set that is not that of all
        return None
    mismatches = joint_mismatch_notices([s.suspects for s in shares if s.suspects is not None])
    digest = add_digests([share.digest for share in shares if share.digest])
    slices = {name: one.with_digest(digest) for name, one in total.slices.items()}
    total = replace(total, key_digest=digest, slices=slices)
    return replace(total, notices=_settle(results, total, mismatches, plan))


def _settle(
    results: Sequence[Result], total: Result, mismatches: Sequence[Notice], plan: Plan
) -> tuple[Notice, ...]:
    """The notices on the whole, from those of pieces."""
    notices: list[Notice] = []
    for notice in told(merge_notices(_in_order([result.notices for result in results]))):
        if notice.kind == "no-mentions" and not all(notice in one.notices for one in results):
            continue
        if notice.kind == "overlapping-mentions":
            first = min(notice.items, key=lambda item: int(re.sub(r"\D", "", item)))
            notice = replace(notice, items=(first,))
        notices.append(notice)
    place = next((n for n, one in enumerate(notices) if one.kind in _LAST), len(notices))
    notices[place:place] = [*other_heads(plan.heads, total.protocol), *mismatches]
    return tuple(notices)


def _in_order(sequences: Sequence[Sequence[Notice]]) -> list[Notice]:
    """All notices, those that only some pieces have where they stand there."""
    known: list[tuple[str, str]] = []
    seen: set[tuple[str, str]] = set()
    for sequence in sequences:
        after = -1
        for notice in sequence:
            kind = notice.kind, notice.text
            if kind in seen:
                after = known.index(kind)
            else:
                after += 1
                known.insert(after, kind)
                seen.add(kind)
    place = {kind: number for number, kind in enumerate(known)}
    every = [notice for sequence in sequences for notice in sequence]
    return sorted(every, key=lambda notice: place[notice.kind, notice.text])
