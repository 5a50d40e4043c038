"""The leaderboard: one HTML file with the standing of all systems of a suite.

It is made of results alone, and has no words of a corpus in it: no documents, no features whose
values are words, and of broken files not what was found in them.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar
from urllib.parse import quote

import numpy as np

from corefeval._version import __version__
from corefeval.diagnostics import UsageError, plural
from corefeval.display import visible
from corefeval.features import shows_words
from corefeval.files import PathLike
from corefeval.reports.page import BOARD_SCRIPTS, BOARD_STYLES, Page, PlainTable
from corefeval.reports.payload import make_visible
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.results.slices import all_values
from corefeval.stats.standings import EVERYTHING, CorporaComparison, CorporaDifference, Standing
from corefeval.suites.outcome import SuiteResult
from corefeval.suites.statistics import macro, with_statistics

Json = dict[str, Any]


class Leaderboard(Page):
    """A leaderboard: `.save(path)` writes it, `.html` is the text of the page."""

    noun: ClassVar[str] = "leaderboard"
    scripts: ClassVar[tuple[str, ...]] = BOARD_SCRIPTS
    styles: ClassVar[tuple[str, ...]] = BOARD_STYLES
    has_charts: ClassVar[bool] = False

    @property
    def plain_table(self) -> PlainTable:
        """Rank and average of each system by the headline."""
        page = self.payload
        standing = page["standings"][page["headline"]][0]
        numbers = zip(standing["scores"], standing["ranks"], page["systems"], strict=True)
        ordered = sorted(numbers, key=lambda row: -math.inf if row[0] is None else -row[0])
        rows = [
            (system["name"], ["–", "–"] if score is None else [str(rank), f"{100 * score:.2f}"])
            for score, rank, system in ordered
        ]
        return ["System", "Rank", page["metrics"][page["headline"]]["title"]], rows

    @property
    def summary(self) -> str:
        """What the leaderboard is on."""
        systems = plural(len(self.payload["systems"]), "system")
        return f"{systems} on {plural(len(self.payload['corpora']), 'corpus')}"


def make_leaderboard(
    outcome: SuiteResult,
    *,
    title: str | None = None,
    reports: PathLike | None = None,
    beside: PathLike = "leaderboard.html",
    **options: Any,
) -> Leaderboard:
    """The leaderboard of a suite's outcome: `make_leaderboard(outcome).save("leaderboard.html")`.

    Statistics are those of the outcome, where it has any; other metrics are compared in the same
    way. With `options`, those of `corefeval.stats.compare_corpora`, all are compared anew.
    `reports` is a folder with a report for each corpus (`CORPUS.html`) or each response
    (`CORPUS/SYSTEM.html`), or a pattern of paths with `{corpus}` and `{system}` in it; what is
    there is linked, as seen from where the page will lie (`beside`).
    """
    compared = _compare(outcome, options)
    page = {
        "title": title or outcome.title or "Leaderboard",
        **_describe_outcome(outcome, compared),
    }
    shown = {name: make_visible(value) for name, value in page.items()}
    shown["links"] = _link_reports(outcome, reports, beside)
    return Leaderboard(shown, compared.notices if compared else ())


def _describe_outcome(outcome: SuiteResult, compared: CorporaComparison | None) -> Json:
    """Everything that the page shows but its title and links to reports."""
    groups = _group_corpora(outcome)
    return {
        "version": __version__,
        "kinds": [],
        "metrics": [
            {"name": metric, "title": outcome.title_of(metric)} for metric in outcome.metrics
        ],
        "headline": outcome.metrics.index(outcome.metric()),
        "rate": outcome.rate,
        "missing": outcome.missing,
        "systems": [
            {
                "name": system.name,
                "seeds": len(system.seeds),
                "signature": _find_signature(outcome, system.name),
            }
            for system in outcome.systems
        ],
        "corpora": [{"name": corpus.name, "weight": corpus.weight} for corpus in outcome.corpora],
        "groups": [{"name": name, "corpora": places} for name, places in groups.items()],
        "scores": [_average_scores(outcome, metric) for metric in outcome.metrics],
        "standings": [
            [_describe_standing(outcome, compared, metric, group) for group in groups]
            for metric in outcome.metrics
        ],
        "slices": list(_describe_slices(outcome, groups)),
        "unsliced": [str(notice) for notice in outcome.notices if notice.kind == "skipped-slices"],
        "problems": list(_list_problems(outcome)),
        **{
            name: getattr(compared.options, name) if compared else None
            for name in ("level", "alpha", "trials", "resample")
        },
        "signature": compared.signature if compared else "",
        "notices": _list_notices(outcome, compared),
    }


def _list_notices(outcome: SuiteResult, compared: CorporaComparison | None) -> list[str]:
    """Each notice once, without words of the corpus; missing results are shown elsewhere."""
    notices = (
        _hide_words(str(notice)) if notice.kind == "broken-key" else str(notice)
        for notice in (*outcome.notices, *(compared.notices if compared else ()))
        if notice.kind not in ("no-result", "no-part")
    )
    return list(dict.fromkeys(notices))


def _compare(outcome: SuiteResult, options: Mapping[str, Any]) -> CorporaComparison | None:
    """The systems compared by all metrics; None where there are not two of them, or no results."""
    has = [name for name in outcome.metrics if not np.isnan(outcome.scores(name)).all()]
    has = [name for name in has if any(name in result.tables for result in outcome.scored)]
    if len(outcome.systems) < 2 or not has:
        return None
    return with_statistics(outcome, has, **options)


def _group_corpora(outcome: SuiteResult) -> dict[str, list[int]]:
    """The places of the corpora of each group, all together first."""
    several = outcome.groups if len(outcome.groups) > 1 else {}
    return {EVERYTHING: list(range(len(outcome.corpora))), **several}


def _find_signature(outcome: SuiteResult, system: str) -> str:
    """How a system was scored; the first signature where corpora differ."""
    results = (cell.result for (_, name, _), cell in outcome.cells.items() if name == system)
    return next(
        (result.without_intervals().signature for result in results if result is not None), ""
    )


def _round(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 6)


def _average_scores(outcome: SuiteResult, metric: str) -> list[list[list[float | None] | None]]:
    """By system and corpus the mean and the deviation over seeds, or None."""
    table = outcome.scores(metric)
    averages = [macro(table[:, [place]], np.ones(1)) for place in range(table.shape[1])]
    return [
        [
            None
            if math.isnan(means[system])
            else [_round(means[system]), _round(deviations[system])]
            for means, deviations in averages
        ]
        for system in range(table.shape[0])
    ]


def _describe_standing(
    outcome: SuiteResult, compared: CorporaComparison | None, metric: str, group: str
) -> Json:
    """Scores, intervals and ranks by system; what is known of each pair."""
    names = [system.name for system in outcome.systems]
    places = _group_corpora(outcome)[group]
    means, deviations = macro(outcome.scores(metric)[:, places], outcome.weights[places])
    record: Json = {
        "scores": list(map(_round, means.tolist())),
        "deviations": list(map(_round, deviations.tolist())),
    }
    system_scores = {
        n: score for n, score in zip(names, means.tolist(), strict=True) if score == score
    }
    corpora = tuple(outcome.corpora[place].name for place in places)
    standing: Standing[CorporaDifference] = Standing(metric, group, corpora, system_scores, {}, ())
    for candidate in compared.standings if compared else ():
        standing = candidate if (candidate.metric, candidate.group) == (metric, group) else standing
    return {
        **record,
        "intervals": [
            list(map(_round, standing.intervals[name])) if name in standing.intervals else None
            for name in names
        ],
        "ranks": [standing.ranks.get(name) for name in names],
        "pairs": [_describe_pair(pair, names, outcome) for pair in standing.pairs],
    }


def _describe_pair(
    pair: CorporaDifference, names: Sequence[str], outcome: SuiteResult
) -> list[Any]:
    """A pair of systems as a list of plain values."""
    corpora = {corpus.name: place for place, corpus in enumerate(outcome.corpora)}
    sides = [
        [side.count, [corpora[name] for name in side.corpora]] for side in (pair.better, pair.worse)
    ]
    return [
        names.index(pair.first),
        names.index(pair.second),
        _round(pair.difference),
        *map(_round, pair.interval),
        _round(pair.adjusted_p),
        int(pair.significant),
        pair.better.tested,
        *sides,
    ]


def _list_problems(outcome: SuiteResult) -> Iterator[list[Any]]:
    """System, corpus, seed and why there is no result, without what was found in the file."""
    systems = [system.name for system in outcome.systems]
    corpora = [corpus.name for corpus in outcome.corpora]
    for (corpus, system, seed), cell in outcome.cells.items():
        if cell.result is None and cell.fault != "key":
            why = _hide_words(cell.problem)
            run = None if seed is None else visible(seed)
            yield [systems.index(system), corpora.index(corpus), run, visible(why)]


def _hide_words(problem: str) -> str:
    """What is wrong with a file, without what was found there: nothing in quotes is left.

    Quotes are hidden from the first to the last, as there may be quotes in what is quoted.
    """
    message = re.split(r" \(found |; fix: ", problem)[0]
    message = re.sub("‘.*’", "‘…’", message, flags=re.DOTALL)
    return re.sub(r"(?<!\w)(['\"]).*\1(?!\w)", r"\1…\1", message, flags=re.DOTALL)


def _describe_slices(outcome: SuiteResult, groups: Mapping[str, list[int]]) -> Iterator[Json]:
    """By feature its values, and by metric, group and system the average of each value.

    An average is over the corpora and seeds that have the value.
    """
    results = outcome.scored
    features = dict.fromkeys(name for result in results for name in result.slices)
    for feature in features:
        if shows_words(feature):
            continue
        values = all_values(
            result.slices[feature] for result in results if feature in result.slices
        )
        tables = _collect_slices(outcome, feature, values)
        yield {
            "feature": feature,
            "values": values,
            "scores": [
                [_average_slices(tables[metric], outcome, places) for places in groups.values()]
                if metric in tables
                else None
                for metric in outcome.metrics
            ],
        }


def _average_slices(
    tables: Numbers, outcome: SuiteResult, places: list[int]
) -> list[list[float | None]]:
    """Systems × values: the average of each value over some corpora."""
    means = [macro(table[:, places], outcome.weights[places])[0] for table in tables]
    return [list(map(_round, row)) for row in np.array(means).T.tolist()]


def _collect_slices(outcome: SuiteResult, feature: str, values: Sequence[str]) -> Json:
    """By metric an array of values × systems × corpora × seeds; NaN where there is nothing."""
    shape = (len(values), *outcome.shape)
    tables: Json = {}
    for place, cell in outcome.list_cells():
        slices: Mapping[str, Result] = {}
        if cell.result is not None:
            slices = cell.result.slices.get(feature, slices)
        for number, value in enumerate(values):
            for metric, score in slices[value].scores.items() if value in slices else ():
                if score.has_counted and outcome.rate in score.rates:
                    table = tables.setdefault(metric, np.full(shape, math.nan))
                    table[number, *place] = score.rates[outcome.rate]
    return tables


_PATTERNS = ("{corpus}.html", "{corpus}/{system}.html")


def _link_reports(
    outcome: SuiteResult, reports: PathLike | None, page_path: PathLike
) -> list[list[str | None]]:
    """By system and corpus the address of a report that has the system, as seen from the page."""
    if reports is None:
        return []
    text = os.fspath(reports)
    folder = os.path.dirname(os.path.abspath(os.fspath(page_path)))
    patterns = (
        [text] if "{corpus}" in text else [os.path.join(text, pattern) for pattern in _PATTERNS]
    )

    find_systems = cache(_read_systems)

    def find(system: str, corpus: str) -> str | None:
        for pattern in patterns if outcome.n_results(system, corpus) else ():
            path = pattern.replace("{corpus}", corpus).replace("{system}", system)
            if not os.path.isfile(path):
                continue
            relative = os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")
            address = quote(relative, errors="surrogateescape")
            if "{system}" in pattern:
                return address
            if visible(system) in find_systems(path):
                return f"{address}#system={quote(visible(system), safe='')}"
        return None

    links = [[find(s.name, c.name) for c in outcome.corpora] for s in outcome.systems]
    if not any(map(any, links)):
        raise UsageError(
            f"there are no reports {' or '.join(patterns)} of these systems: `corefeval report KEY "
            "SYSTEM=RESPONSE … --output CORPUS.html` makes one for a corpus"
        )
    return links


def _read_systems(path: str) -> set[str]:
    """The names of the systems in a report; none where the page is of another kind."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        data = stream.read().partition(' id="data">')[2].partition("</script>")[0]
    try:
        return {system["name"] for system in json.loads(data)["systems"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        return set()
