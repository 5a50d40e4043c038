"""Comparing: several responses of one key, or results that were saved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from corefeval.checks import check_choice
from corefeval.diagnostics import UsageError
from corefeval.evaluation.scoring import read_key, score_pieces, score_whole
from corefeval.metrics import Metrics, parse_metrics, spell
from corefeval.model import Corpus
from corefeval.model.identity import digest
from corefeval.pieces import Cutting
from corefeval.protocol import Protocol
from corefeval.request import (
    SEGMENTS,
    Input,
    Options,
    Request,
    Sampling,
    Stated,
)
from corefeval.results import Result
from corefeval.results import load_all as load_saved

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from corefeval.stats import Comparison, Correction, Test

COMPARED = "muc, b3, ceafe, conll, lea"


def compare(
    key: Input,
    responses: Mapping[str, Input] | Iterable[Input],
    *,
    metrics: Metrics = COMPARED,
    by: str | Iterable[str] = (),
    protocol: Protocol | str | None = None,
    features: Stated = None,
    rate: str = "f1",
    test: Test = "randomization",
    trials: int | None = None,
    seed: int = 0,
    correction: Correction = "holm",
    alpha: float = 0.05,
    level: float = 0.95,
    samples: int | None = None,
    baseline: str | None = None,
    segments: int = SEGMENTS,
    piece_size: int | str | None = None,
    executor: Executor | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Score several responses against a key, and compare each with each.

    `responses` may be a mapping from names, and include results (of `score` or `load`); if all are
    results, the key may be None. A single document is compared by its `segments`. Options are those
    of `score` and of `stats.compare`.

    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> full, half = (dict.fromkeys(key, [list(side)]) for side in ("abc", "ab"))
    >>> compared = compare(key, {"full": full, "half": half}, metrics="muc")
    >>> compared.is_better("muc", "full", "half")
    True
    >>> compared
    <Comparison of 8 documents, by muc: full 100.00, half 66.67>
    """
    from corefeval.stats import compare as compare_results
    from corefeval.stats.significance import Options as Testing

    names, sources = _list_responses(responses, baseline)
    testing: dict[str, Any] = {"rate": rate, "test": test, "trials": trials, "seed": seed}
    testing |= {"correction": correction, "alpha": alpha, "level": level, "samples": samples}
    testing |= {"baseline": baseline}
    Testing.of(**testing)  # what is wrong is told before anything is read
    sampling, cutting = Sampling(segments=segments, as_segments=True), Cutting(piece_size, executor)
    request = Request.of(
        protocol, options, sampling, cutting, metrics=metrics, by=by, features=features
    )
    if all(isinstance(source, Result) for source in sources):
        settings = {"features": features, "protocol": protocol, "segments": segments != SEGMENTS}
        _refuse_choices([*options, *(name for name, value in settings.items() if value)])
    results = _score_responses(key, sources, request, is_default=metrics == COMPARED)
    chosen = None if metrics == COMPARED else common_metrics(results, request.metrics, rate)
    named = results if names is None else dict(zip(names, results, strict=True))
    return compare_results(named, metrics=chosen, by=request.by, **testing)


def _list_responses(
    responses: Mapping[str, Input] | Iterable[Input], baseline: str | None
) -> tuple[list[str] | None, list[Input]]:
    """The names of responses, where they have names, and what they are."""
    if isinstance(responses, str | os.PathLike | Result) or not isinstance(responses, Iterable):
        raise UsageError(f"a comparison needs at least two responses, not only {responses!r:.60}")
    if not isinstance(responses, Mapping):
        return None, list(responses)
    if baseline is not None:
        check_choice("the baseline", baseline, list(responses))
    return list(responses), list(responses.values())


def _refuse_choices(names: Sequence[str]) -> None:
    """Refuse choices where there are only results, of which counts cannot be redone."""
    if names:
        raise UsageError(f"results are already scored: {', '.join(names)} would change nothing")


def _score_responses(
    key: Input, sources: Sequence[Input], request: Request, *, is_default: bool
) -> list[Result]:
    """A result for each source; of those that are results already, the default metrics alone.

    Raises a UsageError for a result that was scored against another key.
    """
    # A comparison has its own intervals.
    request = replace(request, sampling=replace(request.sampling, ci=None))
    results = [
        source if isinstance(source, Result) else score_pieces(key, source, request)
        for source in sources
    ]
    saved = [source for source in sources if isinstance(source, Result)]
    is_read = key is not None and (saved or None in results)
    known_key = read_key(key, request) if is_read else None
    check_keys(saved, known_key)
    scored = []
    for source, result in zip(sources, results, strict=True):
        if result is None:
            if known_key is None:
                raise UsageError("responses that are not results need a key")
            result = score_whole(known_key, source, request)
        elif isinstance(source, Result) and is_default:
            names = [str(metric_request.metric) for metric_request in parse_metrics(COMPARED)]
            kept = [name for name in names if name in result.tables]
            result = result.only(kept) if kept else result
        scored.append(result)
    return scored


def common_metrics(results: Sequence[Result], metrics: Metrics, rate: str) -> list[str]:
    """The metrics to compare: those asked for by name, and of presets what all results have.

    What a preset has without this rate, or a mean as a part, is left out: it is no mistake.
    """
    return [
        name
        for name, by_name in (
            (str(request.metric), request.by_name) for request in parse_metrics(metrics)
        )
        if by_name or _has(results, name, rate)
    ]


def _has(results: Sequence[Result], metric: str, rate: str) -> bool:
    return all(
        metric in result.tables and rate in result.scores[metric].rates for result in results
    )


def check_keys(results: Iterable[Result], key: object) -> None:
    """Raise a UsageError for a result that was scored against another key; None is no key.

    `key` is a corpus, or for results of another program what that program's reading gave.
    """
    digests: dict[bool, str] = {}
    for result in results:
        emulates = result.protocol.reads_itself
        if key is None or not result.key_digest:
            continue
        if emulates not in digests:
            digests[emulates] = _digest(key, emulates=emulates)
        key_digest = digests[emulates]
        if (
            result.key_digest.split("-")[0] == key_digest.split("-")[0]
            and result.key_digest != key_digest
        ):
            raise UsageError(
                f"{result.response} was scored against another key ({result.key}), whose entities "
                f"are not those of {getattr(key, 'name', '') or 'this key'}"
            )


def _digest(key: object, *, emulates: bool) -> str:
    """The digest of a key; empty for what is no corpus."""
    if emulates:
        from corefeval.emulation import digest_text

        return digest_text(key)
    return digest(key) if isinstance(key, Corpus) else ""


def load(path: str | os.PathLike[str]) -> Result:
    """The result in a file that `result.save` or `--save` wrote."""
    results = load_all(path)
    if len(results) != 1:
        raise UsageError(f"{os.fspath(path)} has {len(results)} results: use load_all")
    return results[0]


def load_all(path: str | os.PathLike[str]) -> list[Result]:
    """All results in a file that `--save` wrote."""
    return load_saved(path, spell=spell)
