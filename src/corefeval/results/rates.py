"""From counts to rates: recall, precision and F1, for one document or for arrays of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Rates = dict[str, Numbers]


def divide(numerator: Any, denominator: Any, undefined: float = 0.0) -> Numbers:
    """A ratio in which x/0 is 0, or what else `undefined` says."""
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    ratio: Numbers = np.divide(top, bottom, out=np.full_like(bottom, undefined), where=bottom != 0)
    return ratio


def harmonic_mean(recall: Numbers, precision: Numbers) -> Numbers:
    """F1."""
    return divide(2.0 * recall * precision, recall + precision)


def ratio_rates(counts: Mapping[str, Any], undefined: float = 0.0) -> Rates:
    """Recall and precision are fractions, F1 their harmonic mean."""
    recall = divide(counts["recall_numerator"], counts["recall_denominator"], undefined)
    precision = divide(counts["precision_numerator"], counts["precision_denominator"], undefined)
    return {"recall": recall, "precision": precision, "f1": harmonic_mean(recall, precision)}


def blanc_rates(
    counts: Mapping[str, Any], undefined: float = 0.0, *, of_both: bool = False
) -> Rates:
    """Each rate is the mean of two halves; a half that the key does not have is left out.

    With `of_both`, one that neither side has.
    """
    halves = []
    present = []
    for kind in ("coreference", "non_coreference"):
        recall = divide(counts[f"{kind}_common"], counts[f"{kind}_key"], undefined)
        # In slices a link may be shared out otherwise on the response's side than on the key's.
        common = counts.get(f"{kind}_common_response", counts[f"{kind}_common"])
        precision = divide(common, counts[f"{kind}_response"], undefined)
        halves.append((recall, precision, harmonic_mean(recall, precision)))
        known = np.asarray(counts[f"{kind}_key"]) + (of_both and counts[f"{kind}_response"])
        present.append((known > 0).astype(np.float64))
    return {
        name: divide(first * present[0] + second * present[1], present[0] + present[1], undefined)
        for name, first, second in zip(("recall", "precision", "f1"), *halves, strict=True)
    }


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


RATES: dict[str, Callable[[Mapping[str, Any], float], Rates]] = {
    "ratio": ratio_rates,
    "blanc": blanc_rates,
    "blanc-of-both": partial(blanc_rates, of_both=True),
    "antecedents": antecedent_rates,
    "anchors": anchor_rates,
}


def rates_of(shape: str, counts: Mapping[str, Any], undefined: str = "0") -> Rates:
    """The rates that follow from counts of a shape; `undefined` is what x/0 is, "0" or "1"."""
    return RATES[shape](counts, float(undefined))
