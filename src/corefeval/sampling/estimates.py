"""Estimates: scores with intervals from the answers of people, differences, and plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import combinations, permutations, product
from math import ceil, isnan, nan, sqrt
from statistics import fmean
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.alpha import AlphaCounts
from corefeval.checks import check_probability
from corefeval.diagnostics import Notice, UsageError, merge_notices
from corefeval.display import Record, Row, Tabular
from corefeval.evaluation import score
from corefeval.files import PathLike
from corefeval.metrics import Metrics, parse_metrics
from corefeval.model.arrays import FloatArray
from corefeval.request import Input, Request, ScoreOptions
from corefeval.sampling.draws import check_digest
from corefeval.sampling.estimators import Part, Parts, measure, refuse, subtract
from corefeval.sampling.frame import Frame, Responses, make_frame
from corefeval.sampling.judgements import Judgements, read_judgements
from corefeval.sampling.sheets import DESIGNS, UNSURE, Sheet, read_sheet
from corefeval.stats.significance import adjust

_TINY = 1e-12  # what rounding leaves of 0
_FEW = 30  # answered draws, below which intervals were not checked
_CEAF = (
    "it needs the best one-to-one pairing of all entities, which no sample has: annotate whole "
    "documents, drawn at random, and use score and compare"
)
_LINKS = "a few large entities decide it, and intervals would cover half of what they should"
_REASONS = {
    **dict.fromkeys(("conll", "ceafe", "ceafm"), _CEAF),
    **dict.fromkeys(("blanc", "links"), _LINKS),
    "muc": "it needs the number of response entities that share a key entity: take design entities",
}


@dataclass(frozen=True)
class Estimate(Record):
    """A rate with its standard error, interval, and number of draws; None where there is none."""

    value: float | None
    error: float | None
    low: float | None
    high: float | None
    counted: int
    spread: float = 0.0
    frame: int = 0
    level: float = 0.95

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


Rates = Mapping[str, Mapping[str, Estimate]]  # by metric and rate


@dataclass(frozen=True)
class Difference(Record):
    """The difference between two systems, and whether it is significant after Holm's correction."""

    metric: str
    rate: str
    first: str
    second: str
    value: float | None
    error: float | None
    low: float | None
    high: float | None
    p: float | None
    is_significant: bool = False

    @property
    def turned(self) -> Difference:
        """The second system less the first."""
        value, low, high = (number and -number for number in (self.value, self.high, self.low))
        turned = replace(self, first=self.second, second=self.first)
        return replace(turned, value=value, low=low, high=high)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, where only the numbers are."""
        record = super().as_dict()
        del record["is_significant"]
        return record


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Tabular, Mapping[str, Rates]):
    """Estimates by system, metric and rate: `estimates["a"]["b3"]["recall"].value`.

    `n` is the number of draws that all people answered, `frame` what they were drawn from.
    `refused` says why a rate is not there, `agreement` how far several people agree, `annotators`
    has the estimates of each of them.
    """

    scores: Mapping[str, Rates]
    differences: tuple[Difference, ...]
    refused: Mapping[str, str]
    signature: str
    design: str
    n: int
    frame: int
    notices: tuple[Notice, ...] = ()
    agreement: Mapping[str, float] | None = None
    annotators: tuple[Estimates, ...] = ()

    def __getitem__(self, system: str) -> Rates:
        return self.scores[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<Estimates of {', '.join(self)} from {self.n:,} draws of {self.frame:,}>"

    def difference(self, metric: str, rate: str, first: str, second: str) -> Difference:
        """The first system less the second, by a rate."""
        for entry in self.differences:
            for difference in (entry, entry.turned):
                if astuple(difference)[:4] == (metric, rate, first, second):
                    return difference
        raise UsageError(f"{metric}.{rate} of {first} and {second} was not estimated")

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
            **{
                name: [entry.as_dict() for entry in getattr(self, name)]
                for name in ("differences", "notices")
            },
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
    beside = None if sentences is None else read_sheet(sentences)
    _check_sheets(sheets, beside)
    chosen = _choose_metrics(metrics, sheets[0].design)
    request = Request.of(sheets[0].signature.protocol, options, steps=())
    frame = make_frame(responses, candidates, request)
    estimates = _estimate(sheets, frame, chosen, level)
    notices = [*frame.notices, *estimates.notices]
    notices += _advise(frame, estimates) if beside is None else ()
    scores = dict(estimates.scores)
    if beside is not None:
        reach = _estimate([beside], frame, ("mentions",), level)
        scores["frame"] = reach["frame"]
        notices += reach.notices
    estimates = replace(estimates, scores=scores)
    rows = [row for row in estimates.rows() if row["value"] is None]
    names = tuple(f"{row['metric']}.{row['rate']} of {row['system']}" for row in rows)
    if names:
        text = "{n} without a value, because there is nothing to count: {items}"
        notices.append(Notice("no-value", text, len(names), names, "rate"))
    return replace(estimates, notices=merge_notices(notices))


def _check_sheets(sheets: Sequence[Sheet], sentences: Sheet | None) -> None:
    """Refuse what is no sheet, and sheets that do not belong together."""
    if not sheets:
        raise UsageError("there is no sheet to estimate from")
    for sheet in sheets:
        if sheet.signature != sheets[0].signature:
            raise sheet.error(
                "the sheets have different signatures",
                found=str(sheet.signature),
                expected=str(sheets[0].signature),
                fix="take copies of one sheet, one per person",
            )
    is_beside = sheets[0].design != "sentences"
    if sentences is not None and not (is_beside and sentences.design == "sentences"):
        raise UsageError("sentences takes a sheet of that design, beside one of another design")


def _choose_metrics(metrics: Metrics | None, design: str) -> tuple[str, ...]:
    """The metrics to estimate; a UsageError says why a design does not offer one."""
    names = [str(entry.metric) for entry in parse_metrics(metrics)] if metrics is not None else ()
    for name in (*_REASONS, *names):  # CoNLL before what it is the mean of
        if name in names and name not in DESIGNS[design].metrics:
            reason = _REASONS.get(name, f"there are {', '.join(DESIGNS[design].metrics)}")
            raise UsageError(f"{name} cannot be estimated from {design}: {reason}")
    return tuple(names) or DESIGNS[design].metrics


def _estimate(
    sheets: Sequence[Sheet], frame: Frame, metrics: Sequence[str], level: float
) -> Estimates:
    """The estimates of one or several people, over the draws that all of them answered."""
    signature, size = sheets[0].signature, sheets[0].signature.frame
    for sheet in sheets:
        check_digest(sheet, frame)
    people = [read_judgements(sheet, frame) for sheet in sheets]
    common = [n for n in people[0].rows if all(n in person.rows for person in people)]
    people = [replace(person, rows={n: person.rows[n] for n in common}) for person in people]
    reasons = [item for person in people for item in refuse(person).items()]
    refused = {name: text for name, text in reasons if name.partition(".")[0] in metrics}
    parts = [measure(person, metrics, refused) for person in people]
    notices = [notice for person in people for notice in person.notices]
    if signature.design == "pairs":
        notices += [
            _note_ranges(person, metrics)
            for person in people
            if "many-unsure" in {notice.kind for notice in person.notices}
        ]
    if len(common) < _FEW:
        text = f"only {len(common)} answered draws: intervals were not checked below {_FEW}"
        notices.append(Notice("few-draws", text, len(common)))

    def collect(parts: Sequence[Parts], **details: Any) -> Estimates:
        scores = {
            system: {
                metric: {
                    rate: _make_estimate(
                        [entry[system][metric][rate] for entry in parts], size, level
                    )
                    for rate in rates
                }
                for metric, rates in metrics.items()
            }
            for system, metrics in parts[0].items()
        }
        about = str(signature), signature.design, len(common), size
        return Estimates(scores, tuple(_compare(parts, level)), refused, *about, **details)

    estimates = collect(parts, notices=tuple(notices))
    if len(people) == 1:
        return estimates
    annotators = tuple(collect([entry]) for entry in parts)
    return replace(estimates, agreement=_agree(people), annotators=annotators)


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


def _make_estimate(parts: Sequence[Part], frame_size: int, level: float) -> Estimate:
    """The estimate of one or several people's rate.

    Its interval is made on the scale of logits; at 0 and 1 it is that of a share without
    exceptions.
    """
    from scipy.special import expit, logit

    value, error, counted, half = _join(parts, level)
    low = high = nan
    if not isnan(half):
        edge = ((1 - level) / 2) ** (1 / counted)
        if value < _TINY:
            low, high = 0.0, 1 - edge
        elif value > 1 - _TINY:
            low, high = edge, 1.0
        else:
            half /= value * (1 - value)
            low, high = (float(expit(logit(value) + step)) for step in (-half, half))
    spread = _vary(np.mean([part.linear[0] for part in parts], axis=0))
    value, error, low, high = _describe(value, error, low, high)
    return Estimate(value, error, low, high, counted, spread, frame_size, level)


def _compare(parts: Sequence[Parts], level: float) -> Iterator[Difference]:
    """The differences of all pairs of systems, by metric and rate."""
    systems = [system for system in parts[0] if system != "frame"]
    for metric, rates in parts[0][systems[0]].items():
        for rate in rates:
            differences = []
            for pair in combinations(systems, 2):
                steps = [subtract(*(entry[s][metric][rate] for s in pair)) for entry in parts]
                differences.append(Difference(metric, rate, *pair, *_test(steps, level)))
            adjusted = adjust([1.0 if entry.p is None else entry.p for entry in differences])
            for entry, p in zip(differences, adjusted.tolist(), strict=True):
                yield replace(entry, is_significant=p < 1 - level)


def _test(parts: Sequence[Part], level: float) -> list[Any]:
    """The value of a difference, its error, interval, and p by Student's distribution."""
    from scipy.special import stdtr

    value, error, counted, half = _join(parts, level)
    p = nan
    if not isnan(half):
        p = float(abs(value) < _TINY)
        if not p and error:
            p = 2 * float(stdtr(counted - 1, -abs(value) / error))
    return _describe(value, error, value - half, value + half, p)


def _note_ranges(person: Judgements, metrics: Sequence[str]) -> Notice:
    """A notice on what scores would be if all unsure answers of pairs were n, or y."""
    bounds = []
    for answer in "ny":
        rows = [r.changed(answer=answer) if r.answer == UNSURE else r for r in person.sheet]
        sheet = replace(person.sheet, questions=tuple(rows))
        bounds.append(measure(read_judgements(sheet, person.frame), metrics, ()))
    ranges = []
    for system, metric in product(bounds[0], metrics):
        low, high = (100 * bound[system][metric]["precision"].value for bound in bounds)
        if not isnan(low):
            ranges.append(f"{metric}.precision of {system} {low:.2f}–{high:.2f}")
    text = f"if all {UNSURE} were n, or all were y: {', '.join(ranges)}"
    return Notice("unsure-range", text, len(ranges), tuple(ranges))


def _agree(people: Sequence[Judgements]) -> dict[str, float]:
    """How far people agree: rows, α of pairs, or `-` and B³ F1 of names on the draws."""
    answers = [{row.row: row.answer for row in p.sheet if row.is_answered} for p in people]
    rows = set(answers[0]).intersection(*answers)
    units = [[by_row[row] for by_row in answers] for row in rows]
    agreed = sum(len({*unit}) == 1 for unit in units)
    agreement: dict[str, float] = {"rows": len(units), "agreed": agreed}
    if people[0].sheet.design == "pairs":
        counts = Counter(answer for unit in units for answer in unit)
        total = sum(counts.values())
        unlike = sum(a != b for unit in units for a, b in permutations(unit, 2))
        parts = total, unlike / (len(people) - 1), sum(count**2 for count in counts.values())
        agreement["alpha"] = AlphaCounts(*np.array(parts, dtype=float)).total.alpha
    elif people[0].sheet.design != "sentences" and people[0].rows:
        codes = np.array([person.codes for person in people])
        agreement["no_mention"] = float(((codes >= 0) == (codes[0] >= 0)).all(axis=0).mean())
        entities = [
            [np.flatnonzero(row == code).tolist() for code in range(row.max() + 1)] for row in codes
        ]
        pairs = combinations(entities, 2)
        agreement["b3"] = fmean(score(a, b, metrics="b3")["b3"].f1 for a, b in pairs)
    return agreement


def _advise(frame: Frame, estimates: Estimates) -> Iterator[Notice]:
    """A notice on what recall is about, where nobody knows how many mentions the frame has."""
    if estimates.design in ("names", "entities"):
        text = "recall counts only mentions that a response or candidate has: a sheet of sentences "
        text += "tells how many there are beside them"
        if len(frame.corpora) == 1:
            text = "recall counts only mentions that the response itself has: add candidates, or a "
            text += "sheet of sentences, to learn what it missed"
        yield Notice("frame-recall", text)
