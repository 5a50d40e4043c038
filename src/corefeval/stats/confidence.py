"""Confidence: results with an interval beside every score, and beside those of their slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from corefeval.checks import check_count, check_probability, check_seed
from corefeval.diagnostics import Notice, plural
from corefeval.results import Result, Slices
from corefeval.stats.intervals import Interval, few_documents, middle
from corefeval.stats.resampling import bootstrap, stack

_LEAST = 2  # one document cannot vary
_TOGETHER = 64  # slices that are resampled together: more would take much memory

ByRate = Mapping[str, Mapping[str, Interval]]


@dataclass(frozen=True, slots=True)
class _Plan:
    level: float
    samples: int
    seed: int
    unit: str

    def setting(self, number: int) -> str:
        return (
            f"bootstrap({plural(number, self.unit)},level={self.level:g},"
            f"samples={self.samples},seed={self.seed})"
        )


def with_intervals(
    result: Result,
    *,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
    segments: Result | None = None,
) -> Result:
    """The result with an interval for every rate of every metric, in its slices too.

    See `intervals` for how they are made. Where fewer than two documents have anything to count
    there is no interval, and a notice says so. `segments` is the result of the parts of a single
    document, which are then resampled in its stead: scores stay those of the document, and beside
    them are those of its segments, with the intervals.

    >>> import corefeval
    >>> key = {"one": [["a", "b"]], "two": [["c", "d", "e"]], "three": [["f", "g"]]}
    >>> response = {"one": [["a", "b"]], "two": [["c", "d"]], "three": [["f"], ["g"]]}
    >>> found = with_intervals(corefeval.score(key, response, metrics="muc"), seed=1)
    >>> found["muc"].intervals["recall"]
    Interval(low=0.0, high=1.0)
    """
    check_probability("the level of an interval", level)
    check_count("the number of samples", samples)
    check_seed(seed)
    plan = _Plan(level, samples, seed, "document" if segments is None else "segment")
    units = result if segments is None else segments
    missing: list[str] = []
    notices = list(few_documents(units)) if len(units.document_ids) >= _LEAST else []
    slices = {
        feature: _sliced(one, units.slices[feature], plan, missing)
        for feature, one in result.slices.items()
        if feature in units.slices
    }
    [own] = _intervals([units], plan)
    found = _equipped(result, own, units, plan)
    if absent := [metric for metric in result.metrics if metric not in own]:
        missing.insert(0, ", ".join(absent))
    if missing:
        message = f"no interval where fewer than two {plan.unit}s have anything to count: "
        notices.append(Notice("no-interval", message + _listed(missing), len(missing), (*missing,)))
    return replace(found, slices=slices, notices=(*found.notices, *notices))


def _sliced(slices: Slices, units: Slices, plan: _Plan, missing: list[str]) -> Slices:
    """Slices with intervals; the names of those that have none are put on the list."""
    pairs = {value: units[value] for value in slices if value in units}
    found: dict[str, ByRate] = {}
    if slices.level == "document":
        for value, one in pairs.items():  # each has documents of its own
            found[value] = _intervals([one], plan)[0]
    else:
        names = list(pairs)
        for at in range(0, len(names), _TOGETHER):
            some = names[at : at + _TOGETHER]
            found.update(zip(some, _intervals([pairs[v] for v in some], plan), strict=True))
    missing += [
        f"{slices.feature}={value}"
        for value in slices
        if slices[value].tables and not found.get(value)
    ]
    results = {
        value: _equipped(one, found.get(value, {}), pairs[value], plan) if value in pairs else one
        for value, one in slices.items()
    }
    [whole] = _intervals([units.whole], plan)
    equipped = _equipped(slices.whole, whole, units.whole, plan)
    return replace(slices, whole=equipped, results=results)


def _intervals(results: Sequence[Result], plan: _Plan) -> list[ByRate]:
    """The intervals of results of the same documents, of the metrics that may vary."""
    first = results[0]
    metrics = [metric for metric in first.metrics if all(metric in r.tables for r in results)]
    if len(first.document_ids) < _LEAST or not metrics:
        return [{} for _ in results]
    drawn = bootstrap(stack(results, metrics), plan.samples, plan.seed)
    return [
        {
            metric: {rate: middle(values[index], plan.level) for rate, values in rates.items()}
            for metric, rates in drawn.items()
            if _counted(result, metric) >= _LEAST
        }
        for index, result in enumerate(results)
    ]


def _counted(result: Result, metric: str) -> int:
    """In how many documents a metric has anything to count."""
    names = result.tables[metric].parts or (metric,)
    return max(int(result.tables[name].counted().sum()) for name in names)


def _equipped(result: Result, found: ByRate, units: Result, plan: _Plan) -> Result:
    """The result with the intervals that were found on its units: its documents or segments."""
    if not found:
        return result
    own = {metric: units[metric].rates for metric in found} if plan.unit == "segment" else {}
    protocol = result.protocol.but(ci=plan.setting(len(units.document_ids)))
    return replace(result, ci=plan.level, intervals=found, segment_rates=own, protocol=protocol)


def _listed(names: Sequence[str], shown: int = 5) -> str:
    return ", ".join(names[:shown]) + (f", and {len(names) - shown} more" if names[shown:] else "")
