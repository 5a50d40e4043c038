"""The metrics: declared in one place, counted by small pure functions over an alignment."""

from corefeval.metrics.declarations import REGISTRY, Declaration, Parameter, presets, register
from corefeval.metrics.metric import Metric, canonical, requested

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
