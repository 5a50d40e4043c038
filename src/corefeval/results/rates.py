"""From counts to rates: of documents, and of a corpus, for which counts or rates add up.

Whatever the aggregation, each document has a row of numbers, and the rates of a corpus are a
function of their sums: of counts (micro), of rates and how many there are (macro), of rates times
weights and of weights (weighted). So resampling is a matrix product under all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import UsageError
from corefeval.display import Comparable
from corefeval.protocol import Protocol

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


def share_rates(correct: Any, in_key: Any, in_response: Any, undefined: float) -> Rates:
    """Recall, precision and F1 of what is correct, of all in the key and all in the response."""
    tops = {"recall_numerator": correct, "precision_numerator": correct}
    bottoms = {"recall_denominator": in_key, "precision_denominator": in_response}
    return ratio_rates(tops | bottoms, undefined)


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
    rates = share_rates(correct, resolved + counts["fn"], resolved + counts["fp"], undefined)
    return {**rates, "accuracy": divide(correct, resolved, undefined)}


def anchor_rates(counts: Mapping[str, Any], undefined: float = 0.0) -> Rates:
    """Detection and mentions have rates of their own; F1 is the harmonic mean of their F1."""
    rates: Rates = {}
    for part in ("detection", "mentions"):
        part_counts = {name: counts[f"{part}_{name}"] for name in ("tp", "fn", "fp")}
        part_rates = link_rates(part_counts, undefined)
        rates |= {f"{part}_{name}": rate for name, rate in part_rates.items()}
    return {**rates, "f1": harmonic_mean(rates["detection_f1"], rates["mentions_f1"])}


def link_rates(counts: Mapping[str, Any], undefined: float = 0.0) -> Rates:
    """Recall and precision of what is chosen among all that may be chosen."""
    correct = counts["tp"]
    return share_rates(correct, correct + counts["fn"], correct + counts["fp"], undefined)


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


_POOLED = ("key", "response", "common")


@dataclass(frozen=True, eq=False)
class CountTable(Comparable):
    """One metric's counts: a row per document, a column per count. A mean has parts instead.

    `by` is the feature that the metric itself goes by, as p-link does.
    """

    shape: str
    names: tuple[str, ...] = ()
    values: Numbers | None = None
    parts: tuple[str, ...] = ()
    by: str = ""

    def columns(self) -> dict[str, Numbers]:
        """Each count as an array of documents."""
        if self.values is None:
            return {}
        return {name: self.values[:, index] for index, name in enumerate(self.names)}

    def counted(self) -> NDArray[np.bool_]:
        """The documents in which there is anything to count: a macro mean is over these."""
        if self.values is None:
            return np.zeros(0, dtype=np.bool_)
        return np.asarray(self.values.any(axis=1))

    @staticmethod
    def join(tables: Sequence[CountTable]) -> CountTable:
        """The rows of several tables of one metric below each other."""
        first = tables[0]
        if any((table.shape, table.names) != (first.shape, first.names) for table in tables):
            raise UsageError("results with other counts of a metric cannot be added")
        if first.values is None:
            return first
        arrays = [table.values for table in tables if table.values is not None]
        return replace(first, values=np.concatenate(arrays))


class Aggregation(NamedTuple):
    """How a metric's rates of a corpus follow from its documents' counts."""

    metric: str
    shape: str
    names: tuple[str, ...]
    aggregate: str = "micro"
    undefined: str = "0"

    @staticmethod
    def of(metric: str, table: CountTable, protocol: Protocol) -> Aggregation:
        """The aggregation that a protocol says for a metric."""
        aggregate = protocol.aggregate
        if aggregate == "macro-rates" and metric == "lea":  # stanza sums the counts of LEA
            aggregate = "micro"
        return Aggregation(metric, table.shape, table.names, aggregate, protocol.undefined)

    @property
    def width(self) -> int:
        """How many numbers of each document add up."""
        return len(self.additive({name: np.zeros(1) for name in self.names}))

    def rates(self, counts: Mapping[str, Any], undefined: str = "") -> Rates:
        """The rates of single documents, or of counts however summed.

        Where the protocol says so, CEAFe without key entities is no number.
        """
        rates = rates_of(self.shape, counts, undefined or self.undefined)
        if self.undefined != "nan-ceafe" or self.metric != "ceafe":
            return rates
        bottoms = (np.asarray(counts[f"{side}_denominator"]) for side in ("recall", "precision"))
        no_key, no_response = (bottom == 0 for bottom in bottoms)
        holes = (no_key, no_key & no_response, no_key)
        return {
            name: np.where(hole, np.nan, rate)
            for (name, rate), hole in zip(rates.items(), holes, strict=True)
        }

    def additive(self, counts: Mapping[str, Numbers]) -> Numbers:
        """What adds up over documents: a row for each number, a column for each document."""
        columns = [counts[name] for name in self.names]
        if self._adds_counts:
            return np.stack(columns)
        if self.aggregate == "pool":
            mentions = [counts[f"{side}_mentions"] for side in _POOLED]
            return np.stack([*columns, *(_count_pairs(number) for number in mentions)])
        undefined = "0" if self.aggregate == "macro-rates" else self.undefined
        rates = self.rates(counts, undefined)
        if self.aggregate == "weighted":
            key, response = counts["key_weight"], counts["response_weight"]
            weights = (key, response, key + response)
            weighed = (rate * weight for rate, weight in zip(rates.values(), weights, strict=True))
            return np.stack([*weighed, *weights])
        counted: Numbers = np.ones(columns[0].size)
        if self.aggregate == "macro":
            counted = np.asarray(np.stack(columns).any(axis=0), dtype=np.float64)
        return np.stack([*(rate * counted for rate in rates.values()), counted])

    def rates_of_sums(self, sums: Numbers) -> Rates:
        """The rates that follow from sums, of any further shape, of what `additive` gives."""
        if self._adds_counts:
            return self.rates(dict(zip(self.names, sums, strict=True)))
        if self.aggregate == "pool":
            return self.rates(self._pool(sums))
        rate_names = self.rates({name: np.zeros(1) for name in self.names})
        if self.aggregate == "weighted":
            half = len(rate_names)
            return {name: divide(sums[i], sums[half + i]) for i, name in enumerate(rate_names)}
        if self.aggregate != "macro-rates":
            return {name: divide(sums[index], sums[-1]) for index, name in enumerate(rate_names)}
        # stanza adds EPSILON to the denominators of means, and not to those of documents.
        epsilon, mean = (0.0, harmonic_mean)
        if self.undefined in ("epsilon", "nan-ceafe"):
            epsilon, mean = EPSILON, epsilon_mean
        rates = {
            name: divide(sums[index], sums[-1] + epsilon) for index, name in enumerate(rate_names)
        }
        if "recall" not in rates:  # such as accuracy alone
            return rates
        return {**rates, "f1": mean(rates["recall"], rates["precision"])}

    def rate_of_sums(self, sums: Numbers, name: str) -> Numbers:
        """One rate that follows from sums; F1 of plain ratios takes a shortcut of one division."""
        plain = self.aggregate in ("micro", "pool") and self.undefined == "0"
        if name != "f1" or self.shape != "ratio" or not plain:
            return self.rates_of_sums(sums)[name]
        counts = dict(zip(self.names, sums, strict=True))
        sides = ("recall", "precision")
        (recall_top, recall_total), (precision_top, precision_total) = (
            (counts[f"{side}_numerator"], counts[f"{side}_denominator"]) for side in sides
        )
        bottom = np.asarray(recall_top * precision_total + precision_top * recall_total)
        f1: Numbers = np.multiply(recall_top, precision_top, out=np.empty_like(bottom))
        f1 *= 2.0
        if bottom.all() and recall_total.all() and precision_total.all():
            f1 /= bottom
            return f1
        is_defined = (bottom != 0) & (recall_total != 0) & (precision_total != 0)
        return divide(f1, np.where(is_defined, bottom, 0.0))

    @property
    def _adds_counts(self) -> bool:
        """Whether the rates of a corpus follow from the sums of its counts alone."""
        is_pooled = self.aggregate == "pool" and not self.shape.startswith("blanc")
        return is_pooled or self.aggregate == "micro"

    def _pool(self, sums: Numbers) -> dict[str, Numbers]:
        """Counts with the pairs of mentions across documents, which are no links."""
        counts = dict(zip(self.names, sums, strict=False))
        for side, pairs_within in zip(_POOLED, sums[len(self.names) :], strict=True):
            across = _count_pairs(counts[f"{side}_mentions"]) - pairs_within
            counts[f"non_coreference_{side}"] = counts[f"non_coreference_{side}"] + across
        return counts

    def total(self, counts: Mapping[str, Numbers]) -> tuple[dict[str, float], Rates]:
        """Each count summed over the documents, and the rates of all documents together."""
        sums = {name: float(column.sum()) for name, column in counts.items()}
        if self.aggregate == "pool" and not self._adds_counts and sums:
            pooled = self._pool(self.additive(counts).sum(axis=1))
            sums = {name: float(pooled[name]) for name in sums}
        if self.aggregate in ("micro", "pool"):
            return sums, self.rates(sums)
        return sums, self.rates_of_sums(self.additive(counts).sum(axis=1))


def average_rates(parts: Sequence[Rates], protocol: Protocol) -> Rates:
    """The rates of a mean of metrics, such as CoNLL: the mean of F1, or with `rates` of all rates.

    With `truncated`, F1 is cut to four decimals before the mean is taken.
    """
    names = ("recall", "precision", "f1") if protocol.average == "rates" else ("f1",)
    rates: Rates = {}
    for name in names:
        if name in parts[0]:
            values = np.stack([part[name] for part in parts])
            if protocol.average == "truncated":
                values = np.trunc(values * 10000) / 10000
            rates[name] = np.asarray(values.mean(axis=0))
    return rates


def _count_pairs(number: Numbers) -> Numbers:
    """The number of pairs of `number` mentions."""
    return number * (number - 1) / 2
