"""What results consist of: scores of metrics, with their rows, and decisions on items of probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar, get_args

from corefeval.diagnostics import UndefinedRateError
from corefeval.display import Record, Row

T = TypeVar("T")

RATE_NAMES = ("recall", "precision", "f1", "accuracy")
# What averages of scores over corpora are resampled by, and what a missing score counts in them.
Level = Literal["corpora", "documents", "seeds"]
LEVELS: tuple[Level, ...] = get_args(Level)
Absent = Literal["zero", "leave-out"]


@dataclass(frozen=True, slots=True)
class Score:
    """The rates of one metric, the counts behind them, and how they came about.

    `counts` are sums over documents, also where `rates` are means over documents (macro). A metric
    that goes by a feature, like p-link, has a score for each value in `categories`. `intervals` are
    (low, high) for each rate, where intervals were asked for. A single document has none of its
    own: `segments` then is the score of its segments, with their intervals. `rounding` is how the
    program that the protocol describes prints rates; `rates` are never rounded.
    """

    metric: str
    rates: Mapping[str, float]
    counts: Mapping[str, float] = field(default_factory=dict)
    signature: str = ""
    categories: Mapping[str, Score] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    segments: Score | None = None
    rounding: str = "none"

    @property
    def has_counted(self) -> bool:
        """Whether there was anything to count; the rates are 0 where there was not."""
        return any(self.counts.values()) if self.counts else True

    @property
    def recall(self) -> float:
        """How much of the key was found."""
        return self._rate("recall")

    @property
    def precision(self) -> float:
        """How much of the response is right."""
        return self._rate("precision")

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision, unless the metric says otherwise."""
        return self._rate("f1")

    @property
    def accuracy(self) -> float:
        """Of what was resolved, how much is right."""
        return self._rate("accuracy")

    @property
    def parts(self) -> dict[str, Score]:
        """The scores that this one consists of: for anchors `detection` and `mentions`."""
        names = dict.fromkeys(rate.rpartition("_")[0] for rate in self.rates)
        return {name: self._part(name) for name in names if name}

    @property
    def detection(self) -> Score:
        """Of anchors: whether the entities were found."""
        return self._part("detection")

    @property
    def mentions(self) -> Score:
        """Of anchors: whether the mentions of the entities found are right."""
        return self._part("mentions")

    def _part(self, part: str) -> Score:
        start = part + "_"
        rates = _select_prefixed(start, self.rates)
        if not rates:
            raise UndefinedRateError(f"{self.metric} has no part {part}")
        return Score(
            f"{self.metric}.{part}",
            rates,
            _select_prefixed(start, self.counts),
            self.signature,
            intervals=_select_prefixed(start, self.intervals),
            segments=self.segments and self.segments._part(part),
        )

    def _rate(self, name: str) -> float:
        if name not in self.rates:
            raise UndefinedRateError(f"{self.metric} has no {name}, only {', '.join(self.rates)}")
        return self.rates[name]

    def as_dict(self) -> dict[str, object]:
        """The rates, and the intervals and counts where there are any, for JSON."""
        shown: dict[str, object] = {
            **{name: part.as_dict() for name, part in self.parts.items()},
            **{name: self.rates[name] for name in RATE_NAMES if name in self.rates},
        }
        if self.intervals:
            names = [name for name in RATE_NAMES if name in self.intervals]
            shown["ci"] = {name: list(self.intervals[name]) for name in names}
        if self.segments and not self.parts:
            shown["segments"] = self.segments.as_dict()
        if self.counts and not self.parts:
            shown["counts"] = dict(self.counts)
        if self.categories:
            shown["categories"] = {name: score.as_dict() for name, score in self.categories.items()}
        return shown

    def __repr__(self) -> str:
        rates = ", ".join(f"{name}={value:.4f}" for name, value in self.rates.items())
        return f"<{self.metric}: {rates}>"


def _select_prefixed(start: str, values: Mapping[str, T]) -> dict[str, T]:
    """The values whose names begin with `start`, by their names without it."""
    return {
        name.removeprefix(start): value for name, value in values.items() if name.startswith(start)
    }


def score_rows(names: Row, scores: Mapping[str, Score]) -> Iterator[Row]:
    """A row for each metric, and before it for each of its parts: names, rates and signature.

    Where there are intervals, their ends follow the rates (`f1_low`, `f1_high`); if they are
    intervals of segments, so does the rate of the segments (`f1_segments`). In a slice, which has a
    `size`, rates are None where there was nothing to count.
    """
    for score in scores.values():
        for part in (*score.parts.values(), score):
            rates = part.rates if part.has_counted or names["size"] is None else {}
            row = {**names, "metric": part.metric, **{rate: rates.get(rate) for rate in RATE_NAMES}}
            intervals = (part.segments or part).intervals
            for rate in RATE_NAMES if intervals else ():
                if part.segments is not None:
                    row[f"{rate}_segments"] = part.segments.rates.get(rate)
                low, high = intervals.get(rate, (None, None))
                row |= {f"{rate}_low": low, f"{rate}_high": high}
            yield {**row, "signature": part.signature}


@dataclass(frozen=True, slots=True)
class Decision(Record):
    """What was chosen for an item, and what is right; both are labels of candidates.

    `choice` is the label, `both` (of two or more), `none`, `unmarked` if the target is no mention,
    `unclear` for an answer that is not understood, or `missing`. An item whose `gold` is None is
    open: it can be neither right nor wrong.
    """

    id: str
    choice: str
    chosen: tuple[str, ...]
    gold: tuple[str, ...] | None
    groups: Mapping[str, str]
    pair: str | None
    human: Mapping[str, float]
    candidates: int

    @property
    def right(self) -> bool | None:
        """Whether exactly the right candidates were chosen; None for an open item."""
        return None if self.gold is None else self.choice_set == self.gold

    @property
    def decided(self) -> bool:
        """Whether one candidate was chosen."""
        return len(self.chosen) == 1

    @property
    def outcome(self) -> str | None:
        """`right`, `wrong` if one other candidate was chosen, or else the choice."""
        if self.right is None:
            return None
        return "right" if self.right else "wrong" if self.decided else self.choice

    @property
    def choice_set(self) -> object:
        """What makes two choices the same: the labels, or that it is missing or unclear."""
        return self.choice if self.choice in ("missing", "unclear") else self.chosen

    @property
    def figures(self) -> dict[str, object]:
        """What people see of the decision."""
        names = ("id", "choice", "chosen", "gold", "right", "outcome", "groups", "pair")
        return {name: getattr(self, name) for name in names}

    @property
    def links(self) -> tuple[int, int, int, int]:
        """Candidates by whether they were chosen and are right: tp, fp, fn, tn.

        Those of an open item are none of these, and those of a missing one are all fn.
        """
        if self.gold is None:
            return 0, 0, 0, 0
        if self.choice == "missing":
            return 0, 0, self.candidates, 0
        chosen, gold = {*self.chosen}, {*self.gold}
        correct, unnamed = len(chosen & gold), self.candidates - len(chosen | gold)
        return correct, len(chosen - gold), len(gold - chosen), unnamed
