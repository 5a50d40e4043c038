"""Estimates: scores with intervals from the answers of people, differences, and plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import ceil, isnan, nan, sqrt
from statistics import fmean
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.agreement import agree
from corefeval.analysis.alpha import measure_alpha
from corefeval.checks import check_probability
from corefeval.diagnostics import Notice, UsageError, merge_notices, note
from corefeval.display import Record, Row, Tabular
from corefeval.files import PathLike
from corefeval.metrics import Metrics, parse_metrics
from corefeval.model.arrays import FloatArray
from corefeval.request import Input, Request, ScoreOptions
from corefeval.sampling.draws import Judgements, read_judgements
from corefeval.sampling.estimators import Part, Parts, combine, measure, refuse
from corefeval.sampling.frame import DECLARED, Frame, Responses, make_frame
from corefeval.sampling.sheets import UNSURE, Sheet, read_sheet

_TINY = 1e-12  # what rounding leaves of 0
_WITHIN = (
    "recall counts only mentions that a response or candidate has: a sheet of sentences tells how "
    "many there are beside them"
)
_ALONE = (
    "recall counts only mentions that the response itself has: add candidates, or a sheet of "
    "sentences, to learn what it missed"
)


@dataclass(frozen=True)
class Estimate:
    """A rate with its standard error, interval, and number of draws; None where there is none.

    `spread` is the variance of what draws add to the rate, `frame` what they are drawn from.
    """

    value: float | None
    error: float | None
    low: float | None
    high: float | None
    counted: int
    spread: float
    frame: int
    level: float

    def needed(self, width: float) -> int | None:
        """How many draws in all an interval of ± `width` needs; 0.02 are 2 points.

        None where there is no rate, or a single draw, which does not show how much rates vary.
        """
        check_probability("a width", width)
        if self.error is None:
            return None
        from scipy.special import ndtri

        allowed = (width / float(ndtri(0.5 + self.level / 2))) ** 2  # 0 for the tiniest widths
        total = allowed * self.frame + self.spread
        return max(2, min(ceil(self.spread * self.frame / total if total else 0), self.frame))

    def as_dict(self, margin: float | None = None) -> dict[str, Any]:
        """For JSON, with the draws that a margin needs."""
        names = ("value", "error", "low", "high", "counted")
        needed = None if margin is None else self.needed(margin)
        return {**{name: getattr(self, name) for name in names}, "needed": needed}


@dataclass(frozen=True)
class Difference(Record):
    """The difference between two systems by a rate, and its two-sided p-value."""

    metric: str
    rate: str
    first: str
    second: str
    value: float | None
    error: float | None
    low: float | None
    high: float | None
    p: float | None


Rates = Mapping[str, Mapping[str, Estimate]]  # by metric and rate


@dataclass(eq=False, repr=False)
class Estimates(Tabular, dict[str, Rates]):
    """Estimates by system, metric and rate: `estimates["a"]["b3"]["recall"].value`.

    `parts` are what the rates of each person follow from. `n` is the number of draws that all
    people answered, `frame` what they were drawn from. `refused` says why a rate is not there,
    `agreement` how far several people agree.
    """

    parts: Sequence[Parts]
    refused: Mapping[str, str]
    signature: str
    design: str
    n: int
    frame: int
    level: float
    agreement: Mapping[str, float] | None
    notices: tuple[Notice, ...]

    def __post_init__(self) -> None:
        for system, metrics in self.parts[0].items():
            self[system] = {
                metric: {
                    rate: _make_estimate([p[system][metric][rate] for p in self.parts], self.level)
                    for rate in rates
                }
                for metric, rates in metrics.items()
            }

    @property
    def annotators(self) -> tuple[Estimates, ...]:
        """The estimates of each of several people."""
        people = self.parts if self.agreement else ()
        return tuple(replace(self, parts=[parts], agreement=None) for parts in people)

    def __repr__(self) -> str:
        return f"<Estimates of {', '.join(self)} from {self.n:,} draws of {self.frame:,}>"

    def difference(self, metric: str, rate: str, first: str, second: str) -> Difference:
        """The first system less the second, by a rate."""
        try:
            pairs = [[person[s][metric][rate] for s in (first, second)] for person in self.parts]
        except KeyError:
            text = f"{metric}.{rate} of {first} and {second} was not estimated"
            raise UsageError(text) from None
        parts = [combine(pair, pair[0].value - pair[1].value, 1, -1) for pair in pairs]
        return Difference(metric, rate, first, second, *_test(parts, self.level))

    @property
    def differences(self) -> list[Difference]:
        """The differences of all pairs of systems, by metric and rate."""
        systems = [system for system in self.parts[0] if system != "frame"]
        return [
            self.difference(metric, rate, *pair)
            for metric, rates in self[systems[0]].items()
            for rate in rates
            for pair in combinations(systems, 2)
        ]

    def rows(self, *, margin: float | None = None) -> list[Row]:
        """A row for each system, metric and rate; `margin` adds the draws that it needs."""
        return [
            {"system": system, "metric": metric, "rate": rate, **estimate.as_dict(margin)}
            for system, metrics in self.items()
            for metric, rates in metrics.items()
            for rate, estimate in rates.items()
        ]

    def as_dict(self, margin: float | None = None) -> dict[str, Any]:
        """Everything, for JSON."""
        names = ("signature", "design", "n", "frame", "refused", "agreement")
        return {
            **{name: getattr(self, name) for name in names},
            "scores": {
                system: {
                    metric: {rate: entry.as_dict(margin) for rate, entry in rates.items()}
                    for metric, rates in metrics.items()
                }
                for system, metrics in self.items()
            },
            "differences": [entry.as_dict() for entry in self.differences],
            "notices": [entry.as_dict() for entry in self.notices],
        }


def estimate(
    sheet: Sheet | PathLike | Sequence[Sheet | PathLike],
    responses: Responses,
    *,
    metrics: Metrics | None = None,
    level: float = 0.95,
    candidates: Input | None = None,
    sentences: Sheet | PathLike | None = None,
    **options: Unpack[ScoreOptions],
) -> Estimates:
    """Scores with intervals from a sheet that a person filled in, or from those of several people.

    A sheet may be the path of its file. `responses` and `candidates` are those that it was drawn
    from; how they are scored is in its signature. `sentences` is a filled sheet of sentences, which
    tells how many mentions the frame has. ScoreOptions say how files are read.

    >>> from corefeval import sample
    >>> response = [["Ada", "she"], ["it", "her"]]
    >>> sheet = sample(response, design="pairs", n=4).fill(lambda row: "y")
    >>> estimate(sheet, response)["response"]["lea"]["precision"].value
    1.0
    """
    check_probability("the level of an interval", level)
    sheets = [*map(read_sheet, sheet if isinstance(sheet, list | tuple) else [sheet])]
    further = [] if sentences is None else [read_sheet(sentences)]
    if not sheets:
        raise UsageError("there is no sheet to estimate from")
    if further and (sheets[0].design == "sentences" or further[0].design != "sentences"):
        raise UsageError("sentences takes a sheet of that design, beside one of another design")
    chosen = _choose_metrics(metrics, sheets[0].design)
    request = Request.of(sheets[0].signature.protocol, options, steps=())
    frame = make_frame(responses, candidates, request)
    people = _read_people(sheets, frame)
    refused = {name: text for person in people for name, text in refuse(person, chosen).items()}
    parts = [measure(person, chosen, refused) for person in people]
    watchers = [read_judgements(entry, frame) for entry in further]
    notices = [notice for person in (*people, *watchers) for notice in person.notices]
    notices += [notice for person in people for notice in _note_ranges(person, chosen)]
    for watcher in watchers:
        reach = measure(watcher, ["mentions"], ())["frame"]
        parts = [{**entry, "frame": reach} for entry in parts]
    if not watchers and "members" in sheets[0].columns:
        notices.append(Notice("frame-recall", _ALONE if len(frame.corpora) == 1 else _WITHIN))
    about = sheets[0].design, len(people[0].rows), sheets[0].signature.frame, level
    agreement = _agree(people) if len(people) > 1 else None
    estimates = Estimates(parts, refused, str(sheets[0].signature), *about, agreement, ())
    n_void = sum(row["value"] is None for row in estimates.rows())
    notices += note("no-value", n_void, "rate", "without a value: there is nothing to count")
    return replace(estimates, notices=merge_notices([*frame.notices, *notices]))


def _choose_metrics(metrics: Metrics | None, design: str) -> list[str]:
    """The metrics to estimate; a UsageError says why a design does not offer one."""
    offered = DECLARED["designs"][design]["metrics"].split()
    names = offered if metrics is None else [str(entry.metric) for entry in parse_metrics(metrics)]
    for name in (*DECLARED["metrics"], *names):
        if name in names and name not in offered:
            reason = DECLARED["metrics"].get(name, f"there are {', '.join(offered)}")
            raise UsageError(f"{name} cannot be estimated from {design}: {reason}")
    return [*names]


def _read_people(sheets: Sequence[Sheet], frame: Frame) -> list[Judgements]:
    """What people say about the draws that all of them answered."""
    for sheet in sheets:
        if sheet.signature != sheets[0].signature:
            raise sheet.error(
                "the sheets have different signatures",
                found=str(sheet.signature),
                expected=str(sheets[0].signature),
                fix="take copies of one sheet, one per person",
            )
    people = [read_judgements(sheet, frame) for sheet in sheets]
    draws = [draw for draw in people[0].rows if all(draw in person.rows for person in people)]
    return [replace(person, rows={d: person.rows[d] for d in draws}) for person in people]


def _join(parts: Sequence[Part], level: float) -> tuple[float, float, int, float]:
    """The mean over people, its error, how many draws count, and half an interval.

    The error is that of the draws, and that of what people differ in. The half is by Student's
    distribution, and not a number where fewer than two draws count.
    """
    from scipy.special import stdtrit

    values = np.array([part.value for part in parts])
    squares = fmean(_vary(part.linear[1]) / max(part.linear[1].size, 1) for part in parts)
    error = sqrt(squares + (_vary(values) if len(parts) > 1 else 0))
    counted = min(part.counted for part in parts)
    half = error * float(stdtrit(counted - 1, 0.5 + level / 2)) if counted > 1 else nan
    return float(values.mean()), error, counted, half


def _vary(numbers: FloatArray) -> float:
    """The sample variance; not a number for fewer than two."""
    return float(np.var(numbers, ddof=1)) if numbers.size > 1 else nan


def _describe(*numbers: float) -> list[Any]:
    """Numbers, with None for what is not a number."""
    return [None if isnan(number) else number for number in numbers]


def _make_estimate(parts: Sequence[Part], level: float) -> Estimate:
    """The estimate of one or several people's rate.

    Its interval is made on the scale of logits; at 0 and 1 it is that of a share without
    exceptions.
    """
    from scipy.special import expit, logit

    value, error, counted, half = _join(parts, level)
    edge = ((1 - level) / 2) ** (1 / max(counted, 1))
    if value < _TINY:
        ends = 0.0, 1 - edge
    elif value > 1 - _TINY:
        ends = edge, 1.0
    else:
        half /= value * (1 - value)
        ends = expit(logit(value) - half), expit(logit(value) + half)
    low, high = ends if counted > 1 else (nan, nan)
    spread = _vary(np.mean([part.linear[0] for part in parts], axis=0))
    value, error, low, high = _describe(value, error, float(low), float(high))
    return Estimate(value, error, low, high, counted, spread, parts[0].frame, level)


def _test(parts: Sequence[Part], level: float) -> list[Any]:
    """The value of a difference, its error, interval, and p by Student's distribution."""
    from scipy.special import stdtr

    value, error, counted, half = _join(parts, level)
    p = float(abs(value) < _TINY)
    if not p and error:
        p = 2 * float(stdtr(counted - 1, -abs(value) / error))
    return _describe(value, error, value - half, value + half, p if counted > 1 else nan)


def _note_ranges(person: Judgements, metrics: Sequence[str]) -> Iterator[Notice]:
    """A notice on what scores would be if all unsure answers of pairs were n, or y."""
    if not person.has_many_unsure or person.sheet.design != "pairs":
        return
    bounds, ranges = [], []
    for answer in ({"answer": "n"}, {"answer": "y"}):
        changes = (answer if row.answer == UNSURE else {} for row in person.sheet)
        sheet = person.sheet.change(changes)
        bounds.append(measure(read_judgements(sheet, person.frame), metrics, ()))
    for system, metric in product(bounds[0], metrics):
        low, high = (100 * bound[system][metric]["precision"].value for bound in bounds)
        if not isnan(low):
            ranges.append(f"{metric}.precision of {system} {low:.2f}–{high:.2f}")
    text = f"if all {UNSURE} were n, or all were y: {', '.join(ranges)}"
    yield Notice("unsure-range", text, len(ranges), tuple(ranges))


def _agree(people: Sequence[Judgements]) -> dict[str, float]:
    """How far people agree: rows, α of pairs, or `-` and B³ F1 of names on the draws."""
    answers = [{row.row: str(row.answer) for row in p.sheet if row.is_answered} for p in people]
    rows = set(answers[0]).intersection(*answers)
    labels = np.array([[by_row[row] for row in rows] for by_row in answers])
    n_agreed = int((labels == labels[0]).all(axis=0).sum())
    agreement: dict[str, float] = {"rows": len(rows), "agreed": n_agreed}
    if people[0].sheet.design == "pairs":
        unlike = (labels[:, None] != labels).sum() / (len(people) - 1)
        _, counts = np.unique(labels, return_counts=True)
        agreement["alpha"] = measure_alpha(labels.size, unlike, (counts**2).sum()).alpha
    elif "members" in people[0].sheet.columns and people[0].rows:
        codes = np.array([person.codes for person in people])
        agreement["no_mention"] = float(((codes >= 0) == (codes[0] >= 0)).all(axis=0).mean())
        entities = [
            [np.flatnonzero(row == code).tolist() for code in range(row.max() + 1)] for row in codes
        ]
        agreement["b3"] = agree(entities, metrics="b3").means["b3"]
    return agreement
