"""Gates: conditions under which a command fails on purpose, for people's continuous integration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from corefeval.cli.printing import remark
from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from corefeval.results import Result
    from corefeval.stats import Comparison

Limit = tuple[str, str, float]  # metric, rate, per cent

_RATES = ("recall", "precision", "f1", "accuracy")


def parse_limits(texts: Sequence[str]) -> list[Limit]:
    """Limits from `conll=60`, `muc.recall=55.5`, or several with commas between them.

    >>> parse_limits(["conll=60, lea.recall = 40"])
    [('conll', 'f1', 60.0), ('lea', 'recall', 40.0)]
    """
    from corefeval.checks import split_list
    from corefeval.metrics import Metric

    if texts and not any(split_list("".join(texts))):
        raise UsageError("--fail-under needs a limit: METRIC=NUMBER, such as conll=60")
    limits = []
    for text in (part for argument in texts for part in split_list(argument)):
        name, equals, number = text.rpartition("=")
        metric, dot, rate = name.strip().rpartition(".")
        if not dot or rate.strip() not in _RATES:
            metric, rate = name.strip(), "f1"
        try:
            limit = float(number)
        except ValueError:
            limit = -1.0
        if not equals or not metric or not 0 <= limit <= 100:
            raise UsageError(
                f"a limit is METRIC=NUMBER in percent, such as conll=60 or muc.recall=55.5, "
                f"not {text!r}"
            )
        if 0 < limit < 1:
            remark("note", f"limits are in percent: {text} is {limit:g} %")
        limits.append((str(Metric.parse(metric)), rate.strip(), limit))
    return limits


def check_rates(results: Sequence[Result], limits: Sequence[Limit]) -> None:
    """Refuse limits of what was not scored, before anything is written."""
    for metric, rate, _ in limits:
        for result in results:
            if rate not in (rates := result[metric].rates):
                raise UsageError(f"{metric} has no {rate}, only {', '.join(rates)}")


def find_low(results: Sequence[Result], limits: Sequence[Limit]) -> list[str]:
    """A sentence for each score that is under its limit."""
    low = []
    for metric, rate, limit in limits:
        for result in results:
            value = 100 * result[metric].rates[rate]
            if not value >= limit:
                rate_name = metric if rate == "f1" else f"{metric} {rate}"
                name = result.response or "the response"
                low.append(f"{rate_name} of {name} is {value:.2f}, under {limit:g}")
    return low


def find_worse(comparison: Comparison, baseline: str, metrics: str | None) -> list[str]:
    """A sentence for each system that is significantly worse than the baseline.

    Only metrics that were named count: with `conll`, not its parts.
    """
    names = comparison.metrics if metrics is None else _list_as_written(metrics)
    worse = []
    for system in comparison.systems:
        losses = [
            comparison.difference(metric, system, baseline)
            for metric in comparison.metrics
            if metric in names
            and system != baseline
            and comparison.is_better(metric, baseline, system)
        ]
        if losses:
            reasons = (
                f"{p.metric} ({100 * p.difference:.2f}, p = {p.adjusted_p:.2g})" for p in losses
            )
            worse.append(f"{system} is significantly worse than {baseline} by {', '.join(reasons)}")
    return worse


def _list_as_written(metrics: str) -> list[str]:
    """The metrics that a text names, presets expanded, but not the parts of a metric."""
    from corefeval.checks import split_list
    from corefeval.metrics import presets, spell

    names: list[str] = []
    for name in split_list(metrics):
        names += [spell(member) for member in presets().get(name.lower(), (name,))]
    return names
