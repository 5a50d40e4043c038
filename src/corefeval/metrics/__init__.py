"""The metrics: declared in one place, counted by small pure functions over an alignment."""

from corefeval.metrics.declarations import Declaration, Parameter
from corefeval.metrics.metric import REGISTRY, Metric, parse_metrics, presets, register, spell

__all__ = [
    "REGISTRY",
    "Declaration",
    "Metric",
    "Parameter",
    "parse_metrics",
    "presets",
    "register",
    "spell",
]
