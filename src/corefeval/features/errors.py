"""What goes wrong with features."""

from __future__ import annotations

from corefeval.diagnostics import UndefinedMetricError


class MissingFeatureError(UndefinedMetricError):
    """A corpus that lacks what a feature needs: says what, where, and what to do."""

    def __init__(self, feature: str, problem: str, *, fix: str = "") -> None:
        self.feature = feature
        self.problem = problem
        self.fix = fix
        super().__init__(f"{feature} {problem}" + (f"\n  fix: {fix}" if fix else ""))
