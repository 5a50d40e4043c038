"""From counts to rates, and the score that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import UndefinedRateError
from corefeval.display import Row

Numbers = NDArray[np.float64]
Rates = dict[str, Numbers]


EPSILON = 1e-7  # what some programs add to every denominator


def divide(numerator: Any, denominator: Any, undefined: float = 0.0) -> Numbers:
    """A ratio in which x/0 is `undefined`."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    ratio: Numbers = np.divide(top, bottom, out=np.full_like(bottom, undefined), where=bottom != 0)
    return ratio


def harmonic_mean(recall: Numbers, precision: Numbers) -> Numbers:
    """The harmonic mean of recall and precision, F1."""
    return divide(2.0 * recall * precision, recall + precision)


def ratio_rates(counts: Mapping[str, Any], undefined: float = 0.0) -> Rates:
    """Recall and precision are fractions, F1 their harmonic mean."""
    recall = divide(counts["recall_numerator"], counts["recall_denominator"], undefined)
    precision = divide(counts["precision_numerator"], counts["precision_denominator"], undefined)
    return {"recall": recall, "precision": precision, "f1": harmonic_mean(recall, precision)}


def blanc_rates(
    counts: Mapping[str, Any], undefined: float = 0.0, *, of_both: bool = False
) -> Rates:
    """Each rate is the mean of two halves: of coreference and of non-coreference links.

    A half is left out where the key has no such links; with `of_both`, where neither side has any.
    """
    halves = []
    present = []
    for kind in ("coreference", "non_coreference"):
        recall = divide(counts[f"{kind}_common"], counts[f"{kind}_key"], undefined)
        # In slices the ends of a link may be in other groups in the response than in the key.
        common = counts.get(f"{kind}_common_response", counts[f"{kind}_common"])
        precision = divide(common, counts[f"{kind}_response"], undefined)
        halves.append((recall, precision, harmonic_mean(recall, precision)))
        links = np.asarray(counts[f"{kind}_key"]) + (of_both and counts[f"{kind}_response"])
        present.append((links > 0).astype(np.float64))
    return {
        name: divide(first * present[0] + second * present[1], present[0] + present[1], undefined)
        for name, first, second in zip(("recall", "precision", "f1"), *halves, strict=True)
    }


def scorch_rates(counts: Mapping[str, Any], undefined: float = 0.0) -> Rates:
    """BLANC as scorch counts it: 1 where neither side has links and both have the same mentions."""
    rates = blanc_rates(counts, undefined)
    kinds = ("coreference", "non_coreference")
    links = sum(np.asarray(counts[f"{kind}_{side}"]) for kind in kinds for side in _SIDES)
    common = np.asarray(counts["common_mentions"])
    are_same = (common == counts["key_mentions"]) & (common == counts["response_mentions"])
    return {name: np.where((links == 0) & are_same, 1.0, rate) for name, rate in rates.items()}


_SIDES = ("key", "response")


def antecedent_rates(counts: Mapping[str, Any], undefined: float = 0.0) -> Rates:
    """Wrong linkage (wl) counts against recall and precision; accuracy is of what was resolved."""
    correct, resolved = counts["tp"], counts["tp"] + counts["wl"]
    recall = divide(correct, resolved + counts["fn"], undefined)
    precision = divide(correct, resolved + counts["fp"], undefined)
    return {
        "recall": recall,
        "precision": precision,
        "f1": harmonic_mean(recall, precision),
        "accuracy": divide(correct, resolved, undefined),
    }


def anchor_rates(counts: Mapping[str, Any], undefined: float = 0.0) -> Rates:
    """Detection and mentions have rates of their own; F1 is the harmonic mean of their F1."""
    rates: Rates = {}
    for part in ("detection", "mentions"):
        correct = counts[f"{part}_tp"]
        recall = divide(correct, correct + counts[f"{part}_fn"], undefined)
        precision = divide(correct, correct + counts[f"{part}_fp"], undefined)
        rates[f"{part}_recall"], rates[f"{part}_precision"] = recall, precision
        rates[f"{part}_f1"] = harmonic_mean(recall, precision)
    return {**rates, "f1": harmonic_mean(rates["detection_f1"], rates["mentions_f1"])}


def link_rates(counts: Mapping[str, Any], undefined: float = 0.0) -> Rates:
    """Recall and precision of what is chosen among all that may be chosen."""
    return ratio_rates(
        {
            "recall_numerator": counts["tp"],
            "recall_denominator": counts["tp"] + counts["fn"],
            "precision_numerator": counts["tp"],
            "precision_denominator": counts["tp"] + counts["fp"],
        },
        undefined,
    )


RATES: dict[str, Callable[[Mapping[str, Any], float], Rates]] = {
    "ratio": ratio_rates,
    "blanc": blanc_rates,
    "blanc-of-both": partial(blanc_rates, of_both=True),
    "blanc-of-scorch": scorch_rates,
    "antecedents": antecedent_rates,
    "anchors": anchor_rates,
    "links": link_rates,
}


def rates_of(shape: str, counts: Mapping[str, Any], undefined: str = "0") -> Rates:
    """The rates that follow from counts of a shape; `undefined` is what x/0 is, "0" or "1".

    With "epsilon" or "nan-ceafe" EPSILON is added to the denominators of recall and precision.
    """
    if undefined in _EPSILONS and shape == "ratio":
        recall, precision = (
            np.asarray(counts[f"{rate}_numerator"]) / (counts[f"{rate}_denominator"] + EPSILON)
            for rate in ("recall", "precision")
        )
        return {"recall": recall, "precision": precision, "f1": epsilon_mean(recall, precision)}
    return RATES[shape](counts, float(undefined == "1"))


_EPSILONS = ("epsilon", "nan-ceafe")


def epsilon_mean(recall: Numbers, precision: Numbers) -> Numbers:
    """F1 with EPSILON added to the denominator."""
    return np.asarray(2.0 * recall * precision / (recall + precision + EPSILON))


T = TypeVar("T")

RATE_NAMES = ("recall", "precision", "f1", "accuracy")


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
