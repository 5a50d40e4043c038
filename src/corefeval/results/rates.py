"""From counts to rates: recall, precision and F1, for one document or for arrays of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Rates = dict[str, Numbers]


def divide(numerator: Any, denominator: Any) -> Numbers:
    """A ratio in which x/0 is 0."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    ratio: Numbers = np.divide(top, bottom, out=np.zeros_like(bottom), where=bottom != 0)
    return ratio


def harmonic_mean(recall: Numbers, precision: Numbers) -> Numbers:
    """F1."""
    return divide(2.0 * recall * precision, recall + precision)


def ratio_rates(counts: Mapping[str, Any]) -> Rates:
    """Recall and precision are fractions, F1 their harmonic mean."""
    recall = divide(counts["recall_numerator"], counts["recall_denominator"])
    precision = divide(counts["precision_numerator"], counts["precision_denominator"])
    return {"recall": recall, "precision": precision, "f1": harmonic_mean(recall, precision)}


def blanc_rates(counts: Mapping[str, Any]) -> Rates:
    """Each rate is the mean of two halves; a half that the key does not have is left out."""
    halves = []
    present = []
    for kind in ("coreference", "non_coreference"):
        recall = divide(counts[f"{kind}_common"], counts[f"{kind}_key"])
        # In slices a link may be shared out otherwise on the response's side than on the key's.
        common = counts.get(f"{kind}_common_response", counts[f"{kind}_common"])
        precision = divide(common, counts[f"{kind}_response"])
        halves.append((recall, precision, harmonic_mean(recall, precision)))
        present.append((np.asarray(counts[f"{kind}_key"]) > 0).astype(np.float64))
    return {
        name: divide(first * present[0] + second * present[1], present[0] + present[1])
        for name, first, second in zip(("recall", "precision", "f1"), *halves, strict=True)
    }


def antecedent_rates(counts: Mapping[str, Any]) -> Rates:
    """Wrong linkage (wl) counts against recall and precision; accuracy is of what was resolved."""
    correct, resolved = counts["tp"], counts["tp"] + counts["wl"]
    recall = divide(correct, resolved + counts["fn"])
    precision = divide(correct, resolved + counts["fp"])
    return {
        "recall": recall,
        "precision": precision,
        "f1": harmonic_mean(recall, precision),
        "accuracy": divide(correct, resolved),
    }


def anchor_rates(counts: Mapping[str, Any]) -> Rates:
    """Detection and mentions have rates of their own; F1 is the harmonic mean of their F1."""
    rates: Rates = {}
    for part in ("detection", "mentions"):
        correct = counts[f"{part}_tp"]
        recall = divide(correct, correct + counts[f"{part}_fn"])
        precision = divide(correct, correct + counts[f"{part}_fp"])
        rates[f"{part}_recall"], rates[f"{part}_precision"] = recall, precision
        rates[f"{part}_f1"] = harmonic_mean(recall, precision)
    return {**rates, "f1": harmonic_mean(rates["detection_f1"], rates["mentions_f1"])}


RATES: dict[str, Callable[[Mapping[str, Any]], Rates]] = {
    "ratio": ratio_rates,
    "blanc": blanc_rates,
    "antecedents": antecedent_rates,
    "anchors": anchor_rates,
}
