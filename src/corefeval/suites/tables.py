"""Suites in every format: systems by corpora and averages, or the other way round."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, groupby
from typing import ClassVar, Literal

import numpy as np

from corefeval._version import __version__
from corefeval.checks import check_choice
from corefeval.diagnostics import plural
from corefeval.display import Row, distinct_names, json_text
from corefeval.output.differences import join_letters, letters, raise_letters
from corefeval.output.tables import RATES, Cell, Column, Sheet, SoloDrawing, Table, percent
from corefeval.suites.outcome import SuiteResult
from corefeval.suites.statistics import Line, SuiteTable, check_averages, make_table

NOTHING = "–"


@dataclass(frozen=True)
class SuiteDrawing(SoloDrawing):
    """A table of a suite for one metric; see `make_table` for the options.

    `rows_of` says what the rows are.
    """

    results: Sequence[SuiteResult]
    metric: str | None = None
    rates: str = ""
    averages: str = "macro, groups"
    sort: str = "score"
    rows_of: Literal["systems", "corpora"] = "systems"

    formats: ClassVar = (*SoloDrawing.formats, "codabench")

    def __post_init__(self) -> None:
        check_choice("rows_of", self.rows_of, ("systems", "corpora"))
        check_averages(self.averages)

    def _table(self, outcome: SuiteResult) -> SuiteTable:
        return make_table(
            outcome, self.metric, rates=self.rates, averages=self.averages, sort=self.sort
        )

    def sheet_of(self, outcome: SuiteResult, format: str) -> Sheet:
        """The table, what it means, and how cells were scored."""
        table = self._table(outcome)
        draw = _by_corpora if self.rows_of == "corpora" else _by_systems
        align: Align = _align if format == "text" else list
        drawn = draw(table, align, "" if format == "latex" else outcome.title)
        sentences = " ".join((legend(table), *table.remarks))
        return Sheet(
            (drawn, sentences),
            (),
            tuple(signatures(outcome)),
            label="suite" if format == "latex" else "",
            caption=outcome.title,
        )

    def draw_form(self, format: str) -> str:
        """The scores as Codabench reads them."""
        every = (self._scores(outcome).items() for outcome in self.results)
        return json_text(dict(chain.from_iterable(every)))

    def _scores(self, outcome: SuiteResult) -> dict[str, float]:
        """A number in per cent for each line and system; 0 for none, as Codabench has no gaps.

        With a single system names are those of corpora and averages alone. A group that is called
        like a corpus, or a corpus like an average, has its kind before its name.
        """
        table = self._table(outcome)
        scores: dict[str, float] = {}
        for line in sorted(table.lines, key=lambda line: line.kind == "group"):
            for at, system in zip(table.order, table.names, strict=True):
                for rate in table.rates:
                    who = [] if len(table.names) == 1 else [system]
                    title = line.title if line.kind == "corpus" else line.title.lower()
                    parts_of_name = [title] if len(table.rates) == 1 else [title, rate]
                    name, longer = (
                        "_".join(parts).replace(" ", "_")
                        for parts in ((*who, *parts_of_name), (*who, line.kind, *parts_of_name))
                    )
                    name = distinct_names([*scores, longer])[-1] if name in scores else name
                    scores[name] = 100 * np.nan_to_num(float(line.means[rate][at]))
        return scores

    def list_rows(self, outcome: SuiteResult) -> list[Row]:
        """The rows of a suite's table."""
        return self._table(outcome).rows()

    def record_of(self, outcome: SuiteResult) -> Row:
        """The table, and every cell."""
        return {
            "corefeval": __version__,
            "title": outcome.title,
            "metric": outcome.metric(self.metric),
            "headline": outcome.headline,
            "missing": outcome.missing,
            "corpora": [asdict(corpus) for corpus in outcome.corpora],
            "systems": [asdict(system) for system in outcome.systems],
            "table": self._table(outcome).rows(),
            "cells": outcome.rows(),
            "cell_notices": [
                {"corpus": corpus, "system": system, "seed": seed, **notice.as_dict()}
                for (corpus, system, seed), cell in outcome.cells.items()
                if cell.result is not None
                for notice in cell.result.notices
            ],
            **({} if outcome.statistics is None else {"statistics": outcome.statistics.as_dict()}),
            "signatures": list(signatures(outcome)),
            "notices": [notice.as_dict() for notice in outcome.notices],
        }


def _draw_line(table: SuiteTable, line: Line, rate: str) -> list[Cell]:
    """The cells of a rate, system by system as they are shown.

    Each has a number, its deviation, and a mark of what it is better than.
    """
    outcome, order, names = table.outcome, table.order, letters(table.names)
    means = line.means[rate]
    best = max((float(means[at]) for at in order if means[at] == means[at]), default=0.0)
    cells = []
    for at in order:
        system, mean = outcome.systems[at].name, float(means[at])
        if math.isnan(mean) or not table.n_results(line, system):
            cells.append(Cell(NOTHING))
            continue
        deviation = float(line.deviations[rate][at])
        spread = "" if math.isnan(deviation) else f" ±{percent(deviation)}"
        # What was tested is the suite's own rate.
        beaten = line.better_than.get(system, ()) if rate == outcome.rate else ()
        mark = join_letters(sorted(names[name] for name in beaten))
        cells.append(Cell(percent(mean) + spread, mean == best, mark))
    return cells


def _align(column: Sequence[Cell]) -> list[Cell]:
    """The cells of a column in a terminal: points and deviations below each other."""
    parts = [(*cell.text.partition(" "), raise_letters(cell.mark)) for cell in column]
    width, gap, room, behind = (max(map(len, texts)) for texts in zip(*parts, strict=True))
    tails = [
        f" {spread:<{room}}{mark}" if spread else mark  # not far behind
        for _, _, spread, mark in parts
    ]
    return [
        Cell(f"{number:>{width}}{tail:<{gap + room + behind}}", cell.bold)
        for cell, (number, *_), tail in zip(column, parts, tails, strict=True)
    ]


Align = Callable[[Sequence[Cell]], Sequence[Cell]]


def _by_systems(table: SuiteTable, align: Align, caption: str) -> Table:
    """Systems below each other, with their ranks; averages before corpora."""
    marks = letters(table.names)
    columns = [Column("System"), Column("#", numeric=True)]
    bodies: list[Sequence[Cell]] = [
        [Cell(name) for name in table.names],
        [Cell(str(table.ranks.get(name, ""))) for name in table.names],
    ]
    if table.is_tested:
        columns.insert(0, Column(""))
        bodies.insert(0, [Cell(marks[name]) for name in table.names])
    for line in table.lines:
        columns += _columns(line.title, table.rates)
        bodies += [align(_draw_line(table, line, rate)) for rate in table.rates]
    return Table(tuple(columns), (tuple(zip(*bodies, strict=True)),), caption)


def _by_corpora(table: SuiteTable, align: Align, caption: str) -> Table:
    """Corpora below each other, group by group, then averages and ranks."""
    marks = letters(table.names)
    groups = list(dict.fromkeys(line.group for line in table.lines if line.kind == "corpus"))
    corpus_lines = (line for line in table.lines if line.kind == "corpus")
    lines = sorted(corpus_lines, key=lambda line: groups.index(line.group))
    lines += [line for line in table.lines if line.kind != "corpus"]
    grid = [[_draw_line(table, line, rate) for rate in table.rates] for line in lines]
    columns = [Column("")]
    bodies: list[Sequence[Cell]] = [[*(Cell(line.title) for line in lines), Cell("Rank")]]
    for at, name in enumerate(table.names):
        columns += _columns(f"{marks[name]} {name}" if table.is_tested else name, table.rates)
        for which, _ in enumerate(table.rates):
            is_last = which == len(table.rates) - 1
            rank = Cell(str(table.ranks.get(name, "")) if is_last else "")
            bodies.append(align([*(row[which][at] for row in grid), rank]))
    rows = list(zip(*bodies, strict=True))
    kinds = [line.group if line.kind == "corpus" else None for line in lines]
    sections = [
        tuple(rows[place] for place, _ in members)
        for _, members in groupby(enumerate([*kinds, None]), key=lambda pair: pair[1])
    ]
    return Table(tuple(columns), tuple(sections), caption)


def _columns(title: str, rates: Sequence[str]) -> list[Column]:
    if len(rates) == 1:
        return [Column(title, numeric=True)]
    return [Column(RATES.get(rate, rate), title, True) for rate in rates]


def legend(table: SuiteTable) -> str:
    """What the numbers are, in a few sentences."""
    outcome = table.outcome
    rates = ", ".join(RATES.get(rate, rate) for rate in table.rates)
    sentences = [f"{outcome.title_of(table.metric)} {rates}, the best in bold."]
    kinds = [line.kind for line in table.lines]
    if "macro" in kinds:
        weighted = len({corpus.weight for corpus in outcome.corpora}) > 1
        how = "weighted mean" if weighted else "mean"
        sentences.append(f"Macro is the {how} over {plural(len(outcome.sound_corpora), 'corpus')}.")
    if "micro" in kinds:
        sentences.append("Micro is computed from the counts of all corpora together.")
    if any(len(system.seeds) > 1 for system in outcome.systems):
        sentences.append("± is the standard deviation over seeds.")
    sentences.append(_describe_ranks(table))
    problems = [cell for cell in outcome.cells.values() if cell.result is None]
    if any(cell.fault == "response" for cell in problems):
        counts = "counts as 0" if outcome.missing == "zero" else "is left out of averages"
        counts += " and is not tested" if table.is_tested else ""
        sentences.append(f"{NOTHING} means no result, which {counts}.")
    return " ".join(sentences)


def _describe_ranks(table: SuiteTable) -> str:
    statistics = table.outcome.statistics
    if statistics is None or not table.is_tested:
        return "Ranks are by the macro-average; equal ones share a rank."
    options = statistics.options
    how = f"{options.trials:,} trials, p ≤ {options.alpha:g}"
    how += (
        "" if options.correction == "none" else f" after {options.correction.title()}'s correction"
    )
    return (
        f"A superscript names the systems that this one is significantly better than ({how}): on a "
        f"corpus by paired randomization of documents, on average by a paired {options.question}. "
        "Systems of the same rank do not differ significantly."
    )


def signatures(outcome: SuiteResult) -> Iterator[str]:
    """How cells were scored: one line for all corpora, or for those that were scored alike."""
    alike: dict[str, dict[str, None]] = {}
    for (corpus, _, _), cell in outcome.cells.items():
        if cell.result is not None:
            alike.setdefault(cell.result.signature, {})[corpus] = None
    for signature, names in alike.items():
        yield signature if len(alike) == 1 else f"{', '.join(names)}: {signature}"
    if outcome.statistics is not None:
        yield outcome.statistics.signature
