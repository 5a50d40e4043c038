"""Statistics of a suite: averages over seeds, corpora and groups, and its systems compared."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from corefeval.checks import check_choice, split_list
from corefeval.diagnostics import UsageError, plural
from corefeval.display import Row, Tabular
from corefeval.output.tables import RATES, parse_rates
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.corpora import compare_corpora
from corefeval.stats.standings import CorporaComparison
from corefeval.suites.outcome import SuiteResult

AVERAGES = ("macro", "micro", "groups")
_KEPT = ("trials", "seed", "correction", "alpha", "level", "combination", "resample")


@dataclass(frozen=True, eq=False, slots=True)
class Line:
    """A corpus or an average: for each rate the mean of each system, and its deviation over seeds.

    Deviations are those of samples, and NaN where there are not two seeds. `better_than` has the
    systems that each system is significantly better than, where that was tested.
    """

    title: str
    kind: str  # macro, micro, group or corpus
    means: Mapping[str, Numbers]
    deviations: Mapping[str, Numbers]
    better_than: Mapping[str, Sequence[str]] = field(default_factory=dict)
    group: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class SuiteTable(Tabular):
    """Corpora and averages × systems for a metric; `order` are the systems as they are shown.

    `lacking` are rates that were asked for and that the metric does not have: rows have None there.
    `remarks` are sentences on what the numbers are of, where that is not plain.
    """

    outcome: SuiteResult
    metric: str
    rates: tuple[str, ...]
    lines: tuple[Line, ...]
    ranks: Mapping[str, int]
    order: tuple[int, ...]
    remarks: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The systems as they are shown."""
        return [self.outcome.systems[at].name for at in self.order]

    @property
    def is_tested(self) -> bool:
        """Whether there are tests of this metric, whose letters tables show."""
        return self.outcome.is_tested(self.metric)

    def rows(self) -> list[Row]:
        """One row for each line and system; averages have no corpus."""
        systems = self.outcome.systems
        rows: list[Row] = []
        for line in self.lines:
            is_corpus = line.kind == "corpus"
            place = {
                "corpus": line.title if is_corpus else "",
                "average": "" if is_corpus else line.kind,
                "group": line.group,
            }
            for at in self.order:
                name = systems[at].name
                row: Row = {**place, "system": name, "rank": self.ranks.get(name)}
                row |= {"metric": self.metric, "seeds": len(systems[at].seeds)}
                row |= dict.fromkeys(self.lacking)
                for rate in self.rates:
                    row[rate] = _none_if_nan(line.means[rate][at])
                    row[f"{rate}_deviation"] = _none_if_nan(line.deviations[rate][at])
                row["better_than"] = list(line.better_than.get(name, ()))
                row["results"] = self.n_results(line, name)
                rows.append(row)
        return rows

    def n_results(self, line: Line, system: str) -> int:
        """The number of a system's results behind the line of a corpus or an average."""
        corpora = [
            corpus.name
            for corpus in self.outcome.corpora
            if line.title
            == {"corpus": corpus.name, "group": corpus.group}.get(line.kind, line.title)
        ]
        return sum(self.outcome.n_results(system, corpus) for corpus in corpora)


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def make_table(
    outcome: SuiteResult,
    metric: str | None = None,
    *,
    rates: str = "",
    averages: str = "macro, groups",
    sort: str = "score",
) -> SuiteTable:
    """The table of a metric (the headline, if none is named).

    `rates` are names or letters in the order wanted (`r,p,f1`), by default that of the suite;
    `averages` some of `macro`, `micro` and `groups`. Systems come best first, or as in the file.
    """
    name = outcome.metric(metric)
    chosen = parse_rates(rates, outcome.rates or tuple(RATES)) or (outcome.rate,)
    chosen_averages = check_averages(averages)
    check_choice("sort", sort, ("score", "file"))
    scores = {rate: outcome.scores(name, rate) for rate in chosen}
    scores = {rate: table for rate, table in scores.items() if not np.isnan(table).all()}
    if not scores:
        if outcome.scored:
            raise UsageError(f"{name} has no {', '.join(chosen)}: name other rates")
        scores = {rate: outcome.scores(name, rate) for rate in chosen}
    lacking = tuple(rate for rate in chosen if rate not in scores)
    listed = " and ".join(f"no {rate}" for rate in lacking)
    remarks = [f"{outcome.title_of(name)} has {listed}."] if listed else []
    lines = [*_average_lines(outcome, name, scores, chosen_averages, remarks)]
    lines += _corpus_lines(outcome, name, scores)
    remarks += _note_fewer_corpora(outcome, next(iter(scores.values())))
    main = next(iter(reversed(scores.values())))
    best = macro(main, outcome.weights)[0]
    order = list(range(len(outcome.systems)))
    if sort == "score":
        order.sort(key=lambda at: (math.isnan(best[at]), -best[at]))
    ranks = outcome.ranks(name)
    return SuiteTable(
        outcome, name, tuple(scores), tuple(lines), ranks, tuple(order), tuple(remarks), lacking
    )


def check_averages(text: str) -> list[str]:
    """The averages that a text names; `none` is none of them."""
    names = list(split_list(text))
    for name in names:
        check_choice("an average", name, (*AVERAGES, "none"))
    return names


def _average_lines(
    outcome: SuiteResult,
    metric: str,
    scores: Mapping[str, Numbers],
    chosen_averages: Sequence[str],
    remarks: list[str],
) -> Iterator[Line]:
    """Averages over all corpora, and over those of each group."""
    weights = outcome.weights
    if "macro" in chosen_averages:
        averages = {rate: macro(table, weights) for rate, table in scores.items()}
        yield _line("Macro", "macro", averages, outcome.better_than(metric))
    if "micro" in chosen_averages:
        averages, problem, fewer = _micro_average(outcome, metric, list(scores))
        remarks += [f"No micro-average: {problem}."] if problem else []
        listed = ", ".join(
            f"{name} has {n} of {plural(of, 'run')}" for name, (n, of) in fewer.items()
        )
        remarks += (
            [f"Micro-averages use only runs that have every corpus: {listed}."] if listed else []
        )
        yield from [] if problem else [_line("Micro", "micro", averages)]
    if "groups" in chosen_averages and len(outcome.groups) > 1:
        for group, places in outcome.groups.items():
            averages = {r: macro(table[:, places], weights[places]) for r, table in scores.items()}
            yield _line(group, "group", averages, outcome.better_than(metric, group=group), group)


def _corpus_lines(
    outcome: SuiteResult, metric: str, scores: Mapping[str, Numbers]
) -> Iterator[Line]:
    weight = np.ones(1)
    for place, corpus in enumerate(outcome.corpora):
        averages = {rate: macro(table[:, [place]], weight) for rate, table in scores.items()}
        better = outcome.better_than(metric, corpus.name)
        yield _line(corpus.name, "corpus", averages, better, corpus.group)


Averaged = tuple[Numbers, Numbers]  # of each system: the mean, and its deviation over seeds


def _line(
    title: str,
    kind: str,
    averages: Mapping[str, Averaged],
    better_than: Mapping[str, Sequence[str]] | None = None,
    group: str = "",
) -> Line:
    means = {rate: mean for rate, (mean, _) in averages.items()}
    deviations = {rate: deviation for rate, (_, deviation) in averages.items()}
    return Line(title, kind, means, deviations, better_than or {}, group)


def macro(scores: Numbers, weights: Numbers) -> Averaged:
    """The weighted mean over corpora of scores (systems × corpora × seeds), and its deviation.

    A corpus counts with the mean over its seeds, and one without any score does not count. The
    deviation is that of the seeds that have all corpora which count.

    >>> mean, deviation = macro(np.array([[[0.5, 0.7], [0.8, 1.0]]]), np.array([1.0, 3.0]))
    >>> mean.round(3).tolist(), deviation.round(3).tolist()
    ([0.825], [0.141])
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing, which are NaN
        by_corpus = np.nanmean(scores, axis=2)
        counts = ~np.isnan(by_corpus)
        shares = weights * counts
        shares = shares / shares.sum(axis=1, keepdims=True)
        means = np.where(counts.any(axis=1), np.nansum(shares * by_corpus, axis=1), math.nan)
        by_seed = np.nansum(shares[:, :, None] * scores, axis=1)
        is_whole = (~np.isnan(scores) | ~counts[:, :, None]).all(axis=1)
        is_whole &= ~np.isnan(means)[:, None]
        deviations = np.nanstd(np.where(is_whole, by_seed, math.nan), axis=1, ddof=1)
    return means, deviations


def _micro_average(
    outcome: SuiteResult, metric: str, rates: Sequence[str]
) -> tuple[dict[str, Averaged], str, dict[str, tuple[int, int]]]:
    """Rates of the counts of all corpora together, or why there are none.

    A response without a result counts like an empty one, if the suite says 0 and the counts of an
    empty one can be derived. Otherwise a run that lacks a corpus has no micro-average: for each
    system with such runs, the last value has how many runs have one, and how many there are.
    """
    fewer: dict[str, tuple[int, int]] = {}
    corpora = outcome.sound_corpora
    most = max(len(system.runs) for system in outcome.systems)
    tables = {rate: np.full((len(outcome.systems), 1, most), math.nan) for rate in rates}
    empty = {corpus: _empty_result(outcome, corpus, metric) for corpus in corpora}
    for row, system in enumerate(outcome.systems):
        n_runs = 0
        for at, seed in enumerate(system.runs):
            cells = [
                outcome.cells[corpus, system.name, seed].result or empty[corpus]
                for corpus in corpora
            ]
            results = [result for result in cells if result is not None and metric in result.tables]
            if len(results) < len(corpora) or not results:
                continue
            try:
                total = Result.total(
                    replace(result.only([metric]), slices={}) for result in results
                )
            except UsageError as error:
                return {}, str(error), {}
            n_runs += 1
            for rate in rates:
                tables[rate][row, 0, at] = total.scores[metric].rates.get(rate, math.nan)
        if n_runs < len(system.runs):
            fewer[system.name] = (n_runs, len(system.runs))
    return {rate: macro(table, np.ones(1)) for rate, table in tables.items()}, "", fewer


# Metrics of which an empty response has the counts of the key, and 0 for all other counts.
_PLAIN = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "links")
_OF_KEY = ("recall_denominator", "coreference_key", "non_coreference_key")


def _empty_result(outcome: SuiteResult, corpus: str, metric: str) -> Result | None:
    """The result of an empty response to a corpus, derived from the key's counts in all results.

    None if missing responses do not count as 0, or if the counts cannot be derived.
    """
    cells = [cell.result for place, cell in outcome.cells.items() if place[0] == corpus]
    results = [result for result in cells if result is not None and metric in result.tables]
    if outcome.missing != "zero" or len({result.document_ids for result in results}) != 1:
        return None
    tables = dict(results[0].only([metric]).tables)
    for name, table in tables.items():
        if table.values is None:  # a mean of the others
            continue
        counts_of_results = (
            result.tables[name].values for result in results if name in result.tables
        )
        counts_of_key = np.stack([values for values in counts_of_results if values is not None])
        counts_of_key = np.where(np.isin(table.names, _OF_KEY), counts_of_key, 0.0)
        if (
            name not in _PLAIN
            or results[0].protocol.emulates
            or (counts_of_key != counts_of_key[0]).any()
        ):
            return None
        tables[name] = replace(table, values=counts_of_key[0])
    return replace(results[0].without_intervals(), tables=tables, slices={})


def _note_fewer_corpora(outcome: SuiteResult, scores: Numbers) -> Iterator[str]:
    """A remark on systems whose averages are over fewer corpora than the suite has."""
    counts = (~np.isnan(scores)).any(axis=2).sum(axis=1)
    number = len(outcome.sound_corpora)
    fewer = {
        system.name: int(count)
        for system, count in zip(outcome.systems, counts, strict=True)
        if count < number
    }
    if fewer:
        listed = ", ".join(f"{name} over {count} of {number}" for name, count in fewer.items())
        yield f"Some averages are over fewer corpora: {listed}."


# ── systems compared over corpora ──


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
    standings = (*previous.standings, *comparison.standings)
    return replace(previous, standings=standings, tests={**previous.tests, **comparison.tests})


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
    if outcome.resample:
        options = {"resample": tuple(split_list(outcome.resample)), **options}
    names = outcome.sound_corpora
    corpora = [corpus for corpus in outcome.corpora if corpus.name in names]
    groups = {
        group: [outcome.corpora[place].name for place in places]
        for group, places in outcome.groups.items()
        if any(outcome.corpora[place].name in names for place in places)
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
