"""Estimates: scores with intervals from the answers of people, differences, and plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import ceil, sqrt
from statistics import fmean, variance
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.alpha import AlphaCounts
from corefeval.checks import check_probability
from corefeval.diagnostics import Notice, UsageError, merge_notices
from corefeval.display import Record, Row, Tabular
from corefeval.evaluation import score
from corefeval.metrics import Metrics, parse_metrics
from corefeval.request import Input, Request, ScoreOptions
from corefeval.sampling.draws import check_digest
from corefeval.sampling.estimators import ESTIMATORS, Part, Parts, add_f1
from corefeval.sampling.frame import Frame, Responses, make_frame
from corefeval.sampling.judgements import Judgements, read_judgements
from corefeval.sampling.sheets import UNSURE, Sheet
from corefeval.stats.significance import adjust

OFFERED = {
    "names": ("b3", "lea", "mentions"),
    "entities": ("muc", "b3", "lea", "mentions"),
    "pairs": ("b3", "lea", "mentions"),
    "sentences": ("mentions",),
}
_TINY = 1e-12  # what rounding leaves of 0
_FEW = 30  # answered draws, below which intervals were not checked
_CEAF = (
    "it needs the best one-to-one pairing of all entities, which no sample has: annotate whole "
    "documents, drawn at random, and use score and compare"
)
_LINKS = "a few large entities decide it, and intervals would cover half of what they should"
_REASONS = {
    **dict.fromkeys(("ceafe", "ceafm", "conll"), _CEAF),
    **dict.fromkeys(("blanc", "links"), _LINKS),
    "muc": "it needs the number of response entities that share a key entity: use design entities",
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
        """How many draws in all an interval of ± `width` needs; 0.02 are 2 points."""
        check_probability("a width", width)
        if self.value is None:
            return None
        from scipy.special import ndtri

        draws = self.spread * (float(ndtri(0.5 + self.level / 2)) / width) ** 2
        return max(2, min(ceil(draws / (1 + draws / self.frame)), self.frame))

    def as_dict(self, margin: float | None = None) -> dict[str, Any]:
        """For JSON, with the draws that a margin needs."""
        names = ("value", "error", "low", "high", "counted")
        needed = None if margin is None else self.needed(margin)
        return {**{name: getattr(self, name) for name in names}, "needed": needed}


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


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Tabular, Mapping[str, Mapping[str, Mapping[str, Estimate]]]):
    """Estimates by system, metric and rate: `estimates["a"]["b3"]["recall"].value`.

    `n` is the number of draws that all people answered, `frame` what they were drawn from.
    `refused` says why a rate is not there, `agreement` how far several people agree, `annotators`
    has the estimates of each of them.
    """

    scores: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    differences: tuple[Difference, ...]
    refused: Mapping[str, str]
    signature: str
    design: str
    n: int
    frame: int
    notices: tuple[Notice, ...] = ()
    agreement: Mapping[str, float] | None = None
    annotators: tuple[Estimates, ...] = ()

    def __getitem__(self, system: str) -> Mapping[str, Mapping[str, Estimate]]:
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
            if (entry.metric, entry.rate) == (metric, rate):
                if (entry.first, entry.second) == (first, second):
                    return entry
                if (entry.second, entry.first) == (first, second):
                    value, low, high = (
                        None if x is None else -x for x in (entry.value, entry.high, entry.low)
                    )
                    turned = replace(entry, first=first, second=second)
                    return replace(turned, value=value, low=low, high=high)
        raise UsageError(f"there is no difference of {first} and {second} by {metric}.{rate}")

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
        names = ("metric", "rate", "first", "second", "value", "error", "low", "high", "p")
        return {
            "signature": self.signature,
            "design": self.design,
            "n": self.n,
            "frame": self.frame,
            "scores": {
                system: {
                    metric: {rate: entry.as_dict(margin) for rate, entry in rates.items()}
                    for metric, rates in metrics.items()
                }
                for system, metrics in self.items()
            },
            "differences": [{n: getattr(entry, n) for n in names} for entry in self.differences],
            "refused": dict(self.refused),
            "agreement": self.agreement,
            "notices": [notice.as_dict() for notice in self.notices],
        }


def estimate(
    sheet: Sheet | Sequence[Sheet],
    responses: Responses,
    *,
    metrics: Metrics | None = None,
    level: float = 0.95,
    candidates: Input | None = None,
    sentences: Sheet | None = None,
    **options: Unpack[ScoreOptions],
) -> Estimates:
    """Scores with intervals from a sheet that a person filled in, or from those of several people.

    `responses` and `candidates` are those that the sheet was drawn from; how they are scored is in
    its signature. `sentences` is a filled sheet of sentences, which tells how many mentions the
    frame has. ScoreOptions say how files are read.

    >>> from corefeval import sample
    >>> response = [["Ada", "she"], ["it", "her"]]
    >>> sheet = sample(response, design="pairs", n=4).fill(lambda row: "y")
    >>> estimate(sheet, response)["response"]["lea"]["precision"].value
    1.0
    """
    sheets = [sheet] if isinstance(sheet, Sheet) else [*sheet]
    check_probability("the level of an interval", level)
    extra = [] if sentences is None else [sentences]
    _check_sheets(sheets, extra)
    chosen = _choose_metrics(metrics, sheets[0].design)
    request = Request.of(sheets[0].signature.protocol, options, steps=())
    frame = make_frame(responses, candidates, request)
    for filled in (*sheets, *extra):
        check_digest(filled, frame)
    estimates = _estimate([read_judgements(filled, frame) for filled in sheets], chosen, level)
    notices = [*frame.notices, *estimates.notices, *_advise(frame, estimates, sentences)]
    scores = dict(estimates.scores)
    for filled in extra:
        reach = _estimate([read_judgements(filled, frame)], ("mentions",), level)
        scores["frame"] = reach["frame"]
        notices += reach.notices
    return replace(estimates, scores=scores, notices=merge_notices(notices))


def _check_sheets(sheets: Sequence[object], extra: Sequence[object]) -> None:
    """Refuse what is no sheet, and sheets that do not belong together."""
    signatures = []
    for sheet in (*sheets, *extra):
        if not isinstance(sheet, Sheet):
            raise UsageError(f"a sheet is what read_sheet or sample return, not {sheet!r:.60}")
        signatures.append(sheet.signature)
        if len(signatures) <= len(sheets) and sheet.signature != signatures[0]:
            raise sheet.error(
                "the sheets have different signatures", found=str(sheet.signature),
                expected=str(signatures[0]), fix="take copies of one sheet, one per person",
            )  # fmt: skip
    if not sheets:
        raise UsageError("there is no sheet to estimate from")
    designs = [signature.design for signature in signatures]
    if extra and (designs[-1] != "sentences" or designs[0] == "sentences"):
        raise UsageError("sentences is a sheet of the design sentences, beside another one")


def _choose_metrics(metrics: Metrics | None, design: str) -> tuple[str, ...]:
    """The metrics to estimate; a UsageError says why a design does not offer one."""
    names = [str(entry.metric) for entry in parse_metrics(metrics)] if metrics is not None else ()
    for name in names:
        if name not in OFFERED[design]:
            reason = _REASONS.get(name, f"there are {', '.join(OFFERED[design])}")
            raise UsageError(f"{name} cannot be estimated from {design}: {reason}")
    return tuple(names) or OFFERED[design]


def _estimate(people: Sequence[Judgements], metrics: Sequence[str], level: float) -> Estimates:
    """The estimates of one or several people, over the draws that all of them answered."""
    signature = people[0].sheet.signature
    common = [n for n in people[0].answers if all(n in person.answers for person in people)]
    for person in people:
        person.answers = {number: person.answers[number] for number in common}
    refused: dict[str, str] = {}
    scores = [ESTIMATORS[signature.design](person, refused) for person in people]
    kept = [
        {system: _select(parts, metrics, refused) for system, parts in entry.items()}
        for entry in scores
    ]
    refused = {key: text for key, text in refused.items() if key.partition(".")[0] in metrics}
    notices = [notice for person in people for notice in person.notices]
    notices += _note_ranges(people[0], metrics) if signature.design == "pairs" else ()
    if len(common) < _FEW:
        text = f"{len(common)} answered draws are few: intervals were not checked below {_FEW}"
        notices.append(Notice("few-draws", text, len(common)))

    def collect(entries: Sequence[Mapping[str, Parts]], **details: Any) -> Estimates:
        joint = {
            system: {
                metric: {
                    rate: _join([e[system][metric][rate] for e in entries], signature.frame, level)
                    for rate in rates
                }
                for metric, rates in parts.items()
            }
            for system, parts in entries[0].items()
        }
        differences = tuple(_compare(entries, level))
        about = str(signature), signature.design, len(common), signature.frame
        return Estimates(joint, differences, refused, *about, **details)

    if len(people) == 1:
        return collect(kept, notices=tuple(notices))
    annotators = tuple(collect([entry]) for entry in kept)
    agreement = _agree(people, common)
    return collect(kept, notices=tuple(notices), agreement=agreement, annotators=annotators)


def _select(parts: Parts, metrics: Sequence[str], refused: Mapping[str, str]) -> Parts:
    """The rates of metrics that are not refused, with F1 where both of its parts are there."""
    return {
        metric: add_f1({r: p for r, p in parts[metric].items() if f"{metric}.{r}" not in refused})
        for metric in metrics
        if metric in parts
    }


def _average(parts: Sequence[Part]) -> tuple[float | None, float | None]:
    """The mean over people and its error: that of their draws, and that of what they differ in."""
    values = [part.value for part in parts if part.value is not None]
    if len(values) < len(parts):
        return None, None
    if parts[0].weighted.size < 2:
        return fmean(values), None
    errors = [float(np.var(part.weighted, ddof=1)) / part.weighted.size for part in parts]
    return fmean(values), sqrt(fmean(errors) + (variance(values) if len(values) > 1 else 0.0))


def _join(parts: Sequence[Part], frame_size: int, level: float) -> Estimate:
    """The estimate of one or several people's rate, with its interval."""
    value, error = _average(parts)
    counted = min(part.counted for part in parts)
    linear = np.mean([part.linear for part in parts], axis=0)
    spread = float(np.var(linear, ddof=1)) if linear.size > 1 else 0.0
    interval = _find_interval(value, error, counted, level)
    return Estimate(value, error, *interval, counted, spread, frame_size, level)


def _find_interval(
    value: float | None, error: float | None, counted: int, level: float
) -> tuple[float | None, float | None]:
    """The interval on the scale of logits; at 0 and 1 that of a share without exceptions."""
    from scipy.special import expit, logit, stdtrit

    if counted < 2 or value is None or error is None:
        return None, None
    edge = ((1 - level) / 2) ** (1 / counted)
    if value < _TINY:
        return 0.0, 1 - edge
    if value > 1 - _TINY:
        return edge, 1.0
    half = float(stdtrit(counted - 1, 0.5 + level / 2)) * error / (value * (1 - value))
    return float(expit(logit(value) - half)), float(expit(logit(value) + half))


def _compare(entries: Sequence[Mapping[str, Parts]], level: float) -> Iterator[Difference]:
    """The differences of all pairs of systems, by metric and rate."""
    from scipy.special import stdtr, stdtrit

    systems = [system for system in entries[0] if system != "frame"]
    for metric, rates in entries[0][systems[0]].items():
        for rate in rates:
            differences = []
            for pair in combinations(systems, 2):
                sides = ([entry[system][metric][rate] for system in pair] for entry in entries)
                parts = [first.minus(second) for first, second in sides]
                value, error, free = *_average(parts), min(part.counted for part in parts) - 1
                low, high, p = None, None, None
                if value is not None and error is not None and free > 0:
                    half = float(stdtrit(free, 0.5 + level / 2)) * error
                    low, high, p = value - half, value + half, float(abs(value) < _TINY)
                    if not p and error:
                        p = 2 * float(stdtr(free, -abs(value) / error))
                differences.append(Difference(metric, rate, *pair, value, error, low, high, p))
            adjusted = adjust([1.0 if entry.p is None else entry.p for entry in differences])
            for entry, p in zip(differences, adjusted.tolist(), strict=True):
                yield replace(entry, is_significant=p < 1 - level)


def _note_ranges(person: Judgements, metrics: Sequence[str]) -> Iterator[Notice]:
    """A notice on what scores would be if all unsure answers of pairs were n, or y."""
    if not any(notice.kind == "many-unsure" for notice in person.notices):
        return
    bounds = []
    for value in ("n", "y"):
        answers = {
            mention: {s: value if answer == UNSURE else answer for s, answer in systems.items()}
            for mention, systems in person.unsure.items()
        }
        bounds.append(ESTIMATORS["pairs"](replace(person, answers=person.answers | answers), {}))
    ranges = []
    for system, metric in product(bounds[0], metrics):
        values = [100 * (b[system][metric]["precision"].value or 0) for b in bounds]
        ranges.append(f"{metric}.precision of {system} {values[0]:.2f}–{values[1]:.2f}")
    text = f"if all {UNSURE} were n, or all were y: {', '.join(ranges)}"
    yield Notice("unsure-range", text, len(person.unsure), tuple(ranges))


def _agree(people: Sequence[Judgements], common: Sequence[int]) -> dict[str, float]:
    """How far people agree: rows, α of pairs, or `-` and B³ F1 of names on the draws."""
    rows = [{row.row: row.answer for row in person.sheet if row.is_answered} for person in people]
    shared = [row for row in rows[0] if all(row in answers for answers in rows)]
    units = [[answers[row] for answers in rows] for row in shared]
    agreement: dict[str, float] = {
        "rows": len(units),
        "agreed": sum(all(answer == unit[0] for answer in unit) for unit in units),
    }
    design = people[0].sheet.design
    if design == "pairs":
        count, partners = len(units) * len(people), len(people) - 1
        unlike = sum(a != b for unit in units for a in unit for b in unit) / partners
        times = Counter(answer for unit in units for answer in unit)
        likeness = sum(number * number for number in times.values())
        counts = (np.array([float(number)]) for number in (count, unlike, likeness))
        agreement["alpha"] = AlphaCounts(*counts).total.alpha
    elif design != "sentences" and common:
        wrong = [[person.answers[number] is None for person in people] for number in common]
        agreement["no_mention"] = fmean(len(set(unit)) == 1 for unit in wrong)
        entities = []
        for person in people:
            named: dict[object, list[int]] = {}
            for number in common:
                if person.answers[number] is not None:
                    named.setdefault(person.answers[number], []).append(number)
            entities.append([*named.values()])
        pairs = combinations(entities, 2)
        agreement["b3"] = fmean(score(a, b, metrics="b3")["b3"].f1 for a, b in pairs)
    return agreement


def _advise(frame: Frame, estimates: Estimates, sentences: Sheet | None) -> Iterator[Notice]:
    """Notices on rates without a value, and on what recall is about."""
    for row in estimates.rows():
        if row["value"] is None:
            name = f"{row['metric']}.{row['rate']} of {row['system']}"
            yield Notice("no-value", f"{name} has no value, because there is nothing to count")
    if estimates.design in ("names", "entities") and sentences is None:
        if len(frame.names) == 1 and frame.candidates is None:
            text = "recall is what the only response links of what it found: add candidates, or "
            text += "a sheet of sentences, to learn what it missed"
        else:
            text = "recall is within the frame, the mentions that any response or candidate has: "
            text += "a sheet of sentences tells how many mentions that is"
        yield Notice("frame-recall", text)
