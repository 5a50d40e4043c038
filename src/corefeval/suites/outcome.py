"""The outcome of a suite: a result for each corpus, system and seed, or why there is none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from corefeval.checks import check_path
from corefeval.diagnostics import InputError, Notice, Notices, UsageError, plural
from corefeval.display import Row, Tabular
from corefeval.files import PathLike
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.results.saved import read_saved, result_of_record, result_record, write_saved
from corefeval.results.scores import Absent
from corefeval.stats import CorporaComparison
from corefeval.stats.significance import TOLERANCE
from corefeval.suites.definition import Suite

CellPlace = tuple[str, str, str | None]  # corpus, system, seed
Fault = Literal["", "response", "key"]
NO_PART = "the system does not take part"


@dataclass(frozen=True, slots=True)
class SuiteCell:
    """The result of a response, or the problem that prevented it and whose fault it is.

    A corpus whose key is broken is left out of everything; the suite says what a broken response
    counts.
    """

    result: Result | None = None
    problem: str = ""
    fault: Fault = ""


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """What averages and tables need to know of a corpus."""

    name: str
    weight: float = 1.0
    group: str = ""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """What averages and tables need to know of a system."""

    name: str
    seeds: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[str | None, ...]:
        """Its seeds, or None where it has no seeds."""
        return self.seeds or (None,)


@dataclass(frozen=True, eq=False, repr=False)
class SuiteResult(Tabular):
    """The results of all systems on all corpora: `outcome.cells["gum", "mine", None].result`.

    There is a cell for every corpus, system and seed. `notices` are of the suite as a whole; each
    result has its own. `resample` is what averages are resampled by, as the suite says it.
    `statistics` are what tests over corpora told, where they were asked for.
    """

    corpora: tuple[CorpusFacts, ...]
    systems: tuple[SystemFacts, ...]
    metrics: tuple[str, ...]
    headline: str
    cells: Mapping[CellPlace, SuiteCell]
    rate: str = "f1"
    missing: Absent = "zero"
    title: str = ""
    resample: str = ""
    notices: Notices = ()
    statistics: CorporaComparison | None = None

    @staticmethod
    def of(suite: Suite, cells: Mapping[CellPlace, SuiteCell]) -> SuiteResult:
        """The outcome of a suite, with notices of what is missing in it."""
        scored = [cell.result for cell in cells.values() if cell.result is not None]
        names = dict.fromkeys(name for result in scored for name in result.metrics)
        outcome = SuiteResult(
            corpora=tuple(
                CorpusFacts(corpus.name, corpus.weight, corpus.group) for corpus in suite.corpora
            ),
            systems=tuple(SystemFacts(system.name, system.seeds) for system in suite.systems),
            metrics=tuple(names) or suite.metric_names,
            headline=suite.headline,
            cells=cells,
            rate=suite.rate,
            missing=suite.missing,
            title=suite.title,
            resample=suite.resample,
        )
        return replace(outcome, notices=tuple(outcome._remarks()))

    def _remarks(self) -> Iterator[Notice]:
        """Notices of cells without results, and of corpora and systems without any result."""
        for corpus in self.corpora:
            cells = [cell for place, cell in self.cells.items() if place[0] == corpus.name]
            faults = [cell.problem for cell in cells if cell.fault == "key"]
            if faults:
                text = f"{corpus.name}: left out for all systems because of its key: {faults[0]}"
                yield Notice("broken-key", text)
            elif all(cell.result is None for cell in cells):
                text = f"{corpus.name}: no system has a response to it that could be scored"
                yield Notice("empty-corpus", text)
        scored_systems = {system for system, _ in self._result_counts}
        for system in self.systems:
            if system.name not in scored_systems:
                text = f"{system.name} has no response that could be scored"
                yield Notice("empty-system", text)
        for (name, system_name, seed), cell in self.cells.items():
            if cell.fault == "response":
                who = system_name if seed is None else f"{system_name}, seed {seed}"
                counts = "counts as 0" if self.missing == "zero" else "left out"
                text = f"{who} on {name}: {counts}: {cell.problem}"
                kind = "no-part" if cell.problem == NO_PART else "no-result"
                yield Notice(kind, text, 1, (f"{system_name} on {name}",))
        skipped = dict.fromkeys(
            notice.message
            for result in self.scored
            for notice in result.notices
            if notice.kind == "skipped-slices"
        )
        if skipped:
            suffix = f" ({len(skipped) - 1:,} more like this)" if len(skipped) > 1 else ""
            yield Notice("skipped-slices", next(iter(skipped)) + suffix, len(skipped))
        kinds = Counter(
            kind
            for result in self.scored
            for kind in dict.fromkeys(notice.kind for notice in result.notices)
            if kind not in ("skipped-slices", "undefined-slice")  # told above, or of no consequence
        )
        if kinds:
            listed = ", ".join(f"{kind} in {plural(n, 'result')}" for kind, n in kinds.items())
            text = f"some results have notices, which the JSON output lists: {listed}"
            yield Notice("cell-notices", text)

    def results(self, corpus: str, seed: int = 0) -> dict[str, Result]:
        """The results on a corpus by system, of the seed at this place: what `compare` takes."""
        results: dict[str, Result] = {}
        for system in self.systems:
            run = system.runs[seed] if seed < len(system.runs) else None
            cell = self.cells.get((corpus, system.name, run))
            if cell is not None and cell.result is not None:
                results[system.name] = cell.result
        return results

    def metric(self, name: str | None = None) -> str:
        """A metric of this outcome by any spelling of it; the headline if there is no name."""
        from corefeval.metrics import spell

        text = self.headline if name is None else name
        for spelling in (text, spell(text)):
            if spelling in self.metrics:
                return spelling
        raise UsageError(f"{text!r} was not scored: there are {', '.join(self.metrics)}")

    @property
    def rates(self) -> tuple[str, ...]:
        """The rates that any metric has."""
        every = (
            rate for result in self.scored for score in result.values() for rate in score.rates
        )
        return tuple(dict.fromkeys(every))

    @property
    def scored(self) -> list[Result]:
        """All results that there are."""
        return [cell.result for cell in self.cells.values() if cell.result is not None]

    def title_of(self, metric: str) -> str:
        """What tables call a metric."""
        titles = (result.titles[metric] for result in self.scored if metric in result.titles)
        return next(titles, metric)

    def scores(self, metric: str | None = None, rate: str | None = None) -> Numbers:
        """A rate of a metric: an array of systems × corpora × seeds.

        NaN is what does not count: seeds that a system does not have, corpora whose key is broken,
        metrics that a corpus does not define, and responses without a result where these are left
        out; they are 0 where the suite says so.
        """
        metric, rate = self.metric(metric), rate or self.rate
        table = np.full(self.shape, math.nan)
        for place, cell in self.list_cells():
            table[place] = self._score(cell, metric, rate)
        return table

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many systems and corpora there are, and the most seeds that a system has."""
        most = max(len(system.runs) for system in self.systems)
        return len(self.systems), len(self.corpora), most

    def list_cells(self) -> Iterator[tuple[tuple[int, int, int], SuiteCell]]:
        """Every cell, with the numbers of its system, corpus and seed."""
        for row, system in enumerate(self.systems):
            for column, corpus in enumerate(self.corpora):
                for at, seed in enumerate(system.runs):
                    yield (row, column, at), self.cells[corpus.name, system.name, seed]

    def _score(self, cell: SuiteCell, metric: str, rate: str) -> float:
        if cell.result is None:
            return 0.0 if self.missing == "zero" and cell.fault == "response" else math.nan
        score = cell.result.scores.get(metric)
        return math.nan if score is None else score.rates.get(rate, math.nan)

    def ranks(self, metric: str | None = None) -> dict[str, int]:
        """The rank of each system by its macro-average, 1 for the best; ties share one.

        Ties are what the statistics say, where there are any of this metric; else equal averages.
        A system without any score has no rank.
        """
        from corefeval.stats.standings import rank_systems
        from corefeval.suites.statistics import macro

        name = self.metric(metric)
        if self.statistics is not None and self.is_tested(name):
            return self.statistics.ranks(name)
        means = macro(self.scores(name), self.weights)[0].tolist()
        scores = {
            system.name: mean
            for system, mean in zip(self.systems, means, strict=True)
            if not math.isnan(mean)
        }
        return rank_systems(
            scores, lambda system, rival: scores[system] - scores[rival] > TOLERANCE
        )

    def better_than(
        self, metric: str | None = None, corpus: str | None = None, *, group: str = ""
    ) -> dict[str, tuple[str, ...]]:
        """The systems that each is significantly better than: on a corpus, or in a group of them.

        Without either it is on average over all corpora. A group of one corpus is that corpus.
        """
        name = self.metric(metric)
        compared = self.statistics
        if compared is None or not self.is_tested(name) or group not in compared.groups:
            return {}
        corpora = compared.standing(name, group).corpora
        corpus = corpora[0] if group and len(corpora) == 1 else corpus
        return {
            system.name: compared.better_than(name, system.name, corpus, group)
            for system in self.systems
        }

    def is_tested(self, metric: str) -> bool:
        """Whether there are statistics of a metric."""
        return self.statistics is not None and metric in self.statistics.metrics

    @cached_property
    def sound_corpora(self) -> list[str]:
        """The corpora whose keys are not broken."""
        broken = {name for (name, _, _), cell in self.cells.items() if cell.fault == "key"}
        return [corpus.name for corpus in self.corpora if corpus.name not in broken]

    def n_results(self, system: str, corpus: str) -> int:
        """How many results there are of a system on a corpus."""
        return self._result_counts[system, corpus]

    @cached_property
    def _result_counts(self) -> Counter[tuple[str, str]]:
        scored = [place for place, cell in self.cells.items() if cell.result is not None]
        return Counter((system, corpus) for corpus, system, _ in scored)

    @cached_property
    def weights(self) -> Numbers:
        """The weight of each corpus."""
        return np.array([corpus.weight for corpus in self.corpora])

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The places of the corpora of each group, where there are groups."""
        groups: dict[str, list[int]] = {}
        for place, corpus in enumerate(self.corpora):
            if corpus.group:
                groups.setdefault(corpus.group, []).append(place)
        return groups

    def rows(self) -> list[Row]:
        """One row for each corpus, system, seed and metric, and for each cell without a result."""
        group = {corpus.name: corpus.group for corpus in self.corpora}
        rows: list[Row] = []
        for (corpus, system, seed), cell in self.cells.items():
            place = {"corpus": corpus, "group": group[corpus], "system": system, "seed": seed}
            scores = {} if cell.result is None else cell.result.scores
            rows += [
                {**place, "metric": name, **score.rates, "problem": ""}
                for name, score in scores.items()
            ]
            if cell.result is None:
                rows.append({**place, "metric": None, "problem": cell.problem})
        return rows

    def save(self, path: PathLike) -> None:
        """Save the outcome in a file (.gz: compressed), for `load_suite`.

        It is a file of saved results too: `corefeval score` shows all of them.
        """
        write_saved(
            {
                "results": [result_record(result) for result in self.scored],
                "suite": {
                    "title": self.title,
                    "corpora": [asdict(corpus) for corpus in self.corpora],
                    "systems": [asdict(system) for system in self.systems],
                    "metrics": list(self.metrics),
                    "headline": self.headline,
                    "rate": self.rate,
                    "missing": self.missing,
                    "resample": self.resample,
                    "problems": [
                        {"cell": list(place), "problem": cell.problem, "fault": cell.fault}
                        for place, cell in self.cells.items()
                        if cell.result is None
                    ],
                    **(
                        {} if self.statistics is None else {"statistics": self.statistics.as_dict()}
                    ),
                },
            },
            path,
        )

    def __repr__(self) -> str:
        size = f"{len(self.corpora)} × {plural(len(self.systems), 'system')}"
        return f"<SuiteResult of {size}, {len(self.scored)} of {len(self.cells)} cells scored>"


def load_suite(path: PathLike) -> SuiteResult:
    """The outcome in a file that `SuiteResult.save` or `suite run --save` wrote."""
    from corefeval.metrics import spell

    file = check_path(path, "name what suite run --save wrote")
    return read_saved(file, lambda record: _parse_outcome(record, file, spell))


def _parse_outcome(record: Mapping[str, Any], file: str, spell: Any) -> SuiteResult:
    if "suite" not in record:
        raise InputError(
            "these are results, but not of a suite",
            file=file,
            fix="corefeval suite run SUITE --save FILE writes such files",
        )
    facts = record["suite"]
    corpora, systems = _check_facts(facts)
    problems = {
        tuple(entry["cell"]): SuiteCell(None, str(entry["problem"]), entry["fault"])
        for entry in facts["problems"]
    }
    every = list(places(corpora, systems))
    scored = [place for place in every if place not in problems]
    results = [result_of_record(result, spell) for result in record["results"]]
    if len(set(every)) < len(every):
        raise ValueError("two cells have the same place")
    cells = problems | {
        place: SuiteCell(result) for place, result in zip(scored, results, strict=True)
    }
    outcome = SuiteResult(
        corpora, systems, tuple(facts["metrics"]), facts["headline"],
        {place: cells[place] for place in every}, facts["rate"], facts["missing"], facts["title"],
        str(facts.get("resample", "")),
    )  # fmt: skip
    notices = tuple(outcome._remarks())
    if "statistics" not in facts:
        return replace(outcome, notices=notices)
    comparison = CorporaComparison.from_dict(facts["statistics"])
    if not (
        {corpus.name for corpus in corpora}.issuperset(comparison.corpora)
        and {system.name for system in systems}.issuperset(comparison.systems)
        and {*facts["metrics"]}.issuperset(comparison.metrics)
    ):
        raise ValueError("the statistics are of other systems, corpora or metrics")
    return replace(outcome, statistics=comparison, notices=(*notices, *comparison.notices))


def _check_facts(
    facts: Mapping[str, Any],
) -> tuple[tuple[CorpusFacts, ...], tuple[SystemFacts, ...]]:
    """The corpora and systems of a saved suite; raises ValueError where they cannot be right."""
    corpora = tuple(CorpusFacts(**corpus) for corpus in facts["corpora"])
    systems = tuple(
        SystemFacts(system["name"], tuple(system["seeds"])) for system in facts["systems"]
    )
    texts = [corpus.name for corpus in corpora] + [system.name for system in systems]
    texts += [corpus.group for corpus in corpora]
    texts += [*facts["metrics"], *(facts[name] for name in ("headline", "rate", "title"))]
    if not (corpora and systems and all(isinstance(text, str) for text in texts)):
        raise ValueError("corpora, systems or metrics are missing, or not names")
    if facts["missing"] not in get_args(Absent) or facts["headline"] not in facts["metrics"]:
        raise ValueError("the headline or the value of missing is unknown")
    if not all(0 < corpus.weight < math.inf for corpus in corpora):
        raise ValueError("a weight is not a number above 0")
    return corpora, systems


def places(
    corpora: tuple[CorpusFacts, ...], systems: tuple[SystemFacts, ...]
) -> Iterator[CellPlace]:
    """The place of every cell, in the order of the suite: corpora, systems, seeds."""
    for corpus in corpora:
        for system in systems:
            for seed in system.runs:
                yield corpus.name, system.name, seed
