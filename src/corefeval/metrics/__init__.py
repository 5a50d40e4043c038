"""The metrics: declared in one place, counted by small pure functions over an alignment."""

from corefeval.metrics.declarations import Declaration, Parameter
from corefeval.metrics.metric import Metric, canonical, requested
from corefeval.metrics.registry import REGISTRY, presets, register

__all__ = [
    "REGISTRY",
    "Declaration",
    "Metric",
    "Parameter",
    "canonical",
    "presets",
    "register",
    "requested",
]
