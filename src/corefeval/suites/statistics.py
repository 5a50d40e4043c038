"""Statistics of a suite: its systems compared over its corpora."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from corefeval.stats.corpora import compare_corpora
from corefeval.stats.standings import CorporaComparison
from corefeval.suites.outcome import SuiteResult

_KEPT = ("trials", "seed", "correction", "alpha", "level", "combination", "resample")


def with_statistics(
    outcome: SuiteResult, metrics: Iterable[str], **options: Any
) -> CorporaComparison:
    """The comparison of an outcome, completed by those of `metrics` that it lacks.

    Metrics that it lacks are compared with the options of the comparison. With other `options` all
    metrics are compared anew.
    """
    previous = outcome.statistics
    names = list(metrics)
    if previous is not None:
        before = {name: getattr(previous.options, name) for name in _KEPT}
        if not options and all(name in previous.metrics for name in names):
            return previous
        options = before | options
        if options == before:
            names = [name for name in names if name not in previous.metrics]
        else:
            previous = None
    comparison = compare_suite(outcome, names, **options)
    if previous is None:
        return comparison
    standings, tests = (
        (*previous.standings, *comparison.standings),
        {**previous.tests, **comparison.tests},
    )
    return replace(previous, standings=standings, tests=tests)


def with_tests(outcome: SuiteResult, metric: str | None = None) -> SuiteResult:
    """The outcome with tests of a metric (by default the headline), if it has tests of others."""
    name = outcome.metric(metric)
    scored = {
        system
        for (_, system, _), cell in outcome.cells.items()
        if cell.result is not None
        and outcome.rate in getattr(cell.result.scores.get(name), "rates", ())
    }
    if outcome.statistics is None or outcome.is_tested(name) or len(scored) < 2:
        return outcome
    return replace(outcome, statistics=with_statistics(outcome, [name]))


def compare_suite(
    outcome: SuiteResult, metrics: Iterable[str] | None = None, **options: Any
) -> CorporaComparison:
    """Compare the systems of a suite by the headline, or by other metrics.

    Corpora whose key is broken are left out; weights, groups, the rate and what a missing response
    counts are those of the suite. `options` are others of `corefeval.stats.compare_corpora`. The
    result is plain numbers: its `as_dict` is JSON, which `CorporaComparison.from_dict` takes back.
    """
    corpora = [corpus for corpus in outcome.corpora if not outcome.has_broken_key(corpus.name)]
    names = {corpus.name for corpus in corpora}
    groups = {
        group: [outcome.corpora[place].name for place in places]
        for group, places in outcome.groups.items()
        if names.intersection(outcome.corpora[place].name for place in places)
    }
    cells = {
        corpus.name: {
            system.name: [
                outcome.cells[corpus.name, system.name, run].result for run in system.runs
            ]
            for system in outcome.systems
        }
        for corpus in corpora
    }
    return compare_corpora(
        cells,
        metrics=[outcome.metric(metric) for metric in metrics or (outcome.headline,)],
        weights={corpus.name: corpus.weight for corpus in corpora},
        groups=groups if len(groups) > 1 else {},
        rate=outcome.rate,
        absent=outcome.missing,
        **options,
    )
