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
    """The comparison that an outcome has, with what it lacks of some metrics.

    Metrics that it does not have are compared as the others were. With `options` all are compared
    anew, with these in the place of those before.
    """
    known = outcome.statistics
    wanted = list(metrics)
    if known is not None:
        before = {name: getattr(known.options, name) for name in _KEPT}
        if not options and all(name in known.metrics for name in wanted):
            return known
        options = before | options
        if options == before:
            wanted = [name for name in wanted if name not in known.metrics]
        else:
            known = None
    found = compare_suite(outcome, wanted, **options)
    if known is None:
        return found
    standings, tests = (*known.standings, *found.standings), {**known.tests, **found.tests}
    return replace(known, standings=standings, tests=tests)


def with_tests(outcome: SuiteResult, metric: str | None = None) -> SuiteResult:
    """The outcome with tests of a metric (the headline) as well, if it has any and this can be."""
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
    corpora = [one for one in outcome.corpora if not outcome.has_broken_key(one.name)]
    names = {one.name for one in corpora}
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
        metrics=[outcome.metric(one) for one in metrics or (outcome.headline,)],
        weights={one.name: one.weight for one in corpora},
        groups=groups if len(groups) > 1 else {},
        rate=outcome.rate,
        absent=outcome.missing,
        **options,
    )
