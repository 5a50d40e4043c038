"""Findings: a comparison, and on request where systems differ, what metrics agree on, and power."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.results import Result
from corefeval.stats.checks import chosen_metrics, named
from corefeval.stats.comparison import Comparison, compare
from corefeval.stats.concordance import Concordance, concordance
from corefeval.stats.differences import Differences, differences
from corefeval.stats.power import Power, documents_needed

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Findings:
    """A comparison with what else was asked for; `slices` are by feature and value.

    `metric` is the one that `differences` and `powers` go by.
    """

    comparison: Comparison
    slices: Mapping[str, Mapping[str, Comparison]] = field(default_factory=dict)
    differences: tuple[Differences, ...] = ()
    concordance: Concordance | None = None
    powers: tuple[Power, ...] | None = None
    metric: str = ""
    notices: tuple[Notice, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        found = self.comparison.as_dict()
        found["notices"] = [str(notice) for notice in self.notices]
        if self.slices:
            found["slices"] = {
                feature: {
                    value: {"scores": one.rows(), "differences": one.pair_rows()}
                    for value, one in values.items()
                }
                for feature, values in self.slices.items()
            }
        if self.differences:
            found["where"] = [one.as_dict() for one in self.differences]
        if self.concordance is not None:
            found["agreement"] = self.concordance.rows()
        if self.powers is not None:
            found["power"] = [one.as_dict() for one in self.powers]
        return found


def compare_in_detail(
    results: Sequence[Result] | Mapping[str, Result],
    *,
    by_slice: bool = False,
    where: bool = False,
    agreement: bool = False,
    power: bool = False,
    metric: object = None,
    **options: Any,
) -> Findings:
    """Compare results, and look further where asked to.

    `by_slice` compares within each slice that all results have, `where` says in which documents
    and slices systems differ, `agreement` how far metrics agree, and `power` how many documents the
    differences that are not significant would need. `where` and `power` go by `metric`, or by
    `conll` where it was compared, else by the first. `options` are those of `compare`.

    >>> import corefeval
    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> systems = {"full": [list("abc")], "half": [list("ab")]}
    >>> found = compare_in_detail({
    ...     name: corefeval.score(key, dict.fromkeys(key, entities), metrics="muc")
    ...     for name, entities in systems.items()
    ... }, where=True)
    >>> found.differences[0].outcomes
    {'win': 8, 'loss': 0, 'tie': 0}
    """
    systems = named(results)
    compared = compare(systems, **options)
    notices = [*(n for result in systems.values() for n in result.notices), *compared.notices]
    slices, said = _slices(systems, options) if by_slice else ({}, [])
    chosen = _metric(compared, metric)
    return Findings(
        comparison=compared,
        slices=slices,
        differences=_differences(compared, chosen) if where else (),
        concordance=_concordance(compared) if agreement else None,
        powers=_powers(compared, chosen) if power else None,
        metric=chosen,
        notices=tuple(dict.fromkeys((*notices, *said))),
    )


def _metric(compared: Comparison, metric: object) -> str:
    if metric is None:
        return "conll" if "conll" in compared.metrics else compared.metrics[0]
    [name] = chosen_metrics(compared.results, [metric], rate=compared.rate)
    if name not in compared.metrics:
        raise UsageError(f"{name} was not compared: there are {', '.join(compared.metrics)}")
    return name


def _pairs(compared: Comparison, metric: str) -> list[Pair]:
    """All with the baseline, or the best with all others."""
    if compared.baseline is not None:
        return [(one, compared.baseline) for one in compared.systems if one != compared.baseline]
    if len(compared.systems) == 2:
        return [(compared.systems[0], compared.systems[1])]
    best = compared.best(metric)[0]
    return [(best, other) for other in compared.systems if other != best]


def _unclear(compared: Comparison, metric: str) -> list[Pair]:
    """The pairs without a significant difference, the better one first."""
    return [
        (pair.first, pair.second) if pair.difference >= 0 else (pair.second, pair.first)
        for pair in compared.pairs
        if pair.metric == metric and not pair.significant
    ]


def _differences(compared: Comparison, metric: str) -> tuple[Differences, ...]:
    found = []
    for pair in _pairs(compared, metric):
        one, other = (compared.results[name] for name in pair)
        found.append(differences(one, other, metric=metric, rate=compared.rate, names=pair))
    return tuple(found)


def _concordance(compared: Comparison) -> Concordance:
    return concordance(compared.results, metrics=compared.metrics, rate=compared.rate)


def _powers(compared: Comparison, metric: str) -> tuple[Power, ...]:
    found = []
    pairs = sum(pair.metric == metric for pair in compared.pairs)
    tests = 1 if compared.settings["correction"] == "none" else pairs
    for pair in _unclear(compared, metric):
        one, other = (compared.results[name] for name in pair)
        found.append(
            documents_needed(
                one,
                other,
                metric=metric,
                rate=compared.rate,
                alpha=compared.alpha,
                seed=int(compared.settings["seed"]),
                names=pair,
                tests=tests,
            )
        )
    return tuple(found)


def _slices(
    systems: Mapping[str, Result], options: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Comparison]], list[Notice]]:
    """A comparison for each value of each feature that all results have."""
    first = next(iter(systems.values()))
    found: dict[str, dict[str, Comparison]] = {}
    few: list[str] = []
    hopeless: list[str] = []
    for feature, slices in first.slices.items():
        if not all(feature in result.slices for result in systems.values()):
            continue
        for value in slices:
            parts = {name: result.slices[feature].get(value) for name, result in systems.items()}
            known = {name: part for name, part in parts.items() if part is not None}
            metrics = _defined(known.values(), first, options)
            if len(known) < len(systems) or not metrics:
                continue
            if len(slices[value].document_ids) < 2:
                few.append(f"{feature}={value}")
                continue
            compared = compare(known, **{**options, "metrics": metrics})
            found.setdefault(feature, {})[value] = compared
            if any(notice.kind == "hopeless-test" for notice in compared.notices):
                hopeless.append(f"{feature}={value}")
    notices = []
    if few:
        message = f"{plural(len(few), 'slice')} of fewer than two documents left out: "
        notices.append(Notice("small-slices", message + ", ".join(few[:5]), len(few), tuple(few)))
    if hopeless:
        message = f"{plural(len(hopeless), 'slice')} with too few documents for anything to be "
        message += "significant, so that all systems share a rank: "
        names = ", ".join(hopeless[:5]) + (", …" if len(hopeless) > 5 else "")
        notices.append(Notice("hopeless-slices", message + names, len(hopeless), tuple(hopeless)))
    return found, notices


def _defined(parts: Iterable[Result], whole: Result, options: Mapping[str, Any]) -> list[str]:
    """The metrics that were asked for and that slices have."""
    rate = options.get("rate", "f1")
    wanted = chosen_metrics({"": whole}, options.get("metrics"), rate=rate)
    tables = [part.tables for part in parts]
    return [metric for metric in wanted if all(metric in table for table in tables)]
