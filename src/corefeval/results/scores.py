"""One metric's score: rates that follow from counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from corefeval.diagnostics import UndefinedRateError


@dataclass(frozen=True, slots=True)
class Score:
    """The rates of one metric, the counts behind them, and how they came about.

    `counts` are sums over documents, also where `rates` are means over documents (macro).
    """

    metric: str
    rates: Mapping[str, float]
    counts: Mapping[str, float] = field(default_factory=dict)
    signature: str = ""

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

    def _rate(self, name: str) -> float:
        if name not in self.rates:
            raise UndefinedRateError(f"{self.metric} has no {name}, only {', '.join(self.rates)}")
        return self.rates[name]

    def as_dict(self) -> dict[str, object]:
        """The rates, and the counts where there are any, for JSON."""
        rates: dict[str, object] = dict(self.rates)
        return {**rates, "counts": dict(self.counts)} if self.counts else rates

    def __repr__(self) -> str:
        rates = ", ".join(f"{name}={value:.4f}" for name, value in self.rates.items())
        return f"<{self.metric}: {rates}>"
