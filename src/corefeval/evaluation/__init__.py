"""Evaluation: from two inputs to a result, and from several to a comparison."""

from corefeval.evaluation.comparing import (
    COMPARED,
    check_keys,
    common_metrics,
    compare,
    load,
    load_all,
)
from corefeval.evaluation.counting import SEGMENTS, Metrics, Sampling, count, with_intervals
from corefeval.evaluation.scoring import Method, score

__all__ = [
    "COMPARED",
    "SEGMENTS",
    "Method",
    "Metrics",
    "Sampling",
    "check_keys",
    "common_metrics",
    "compare",
    "count",
    "load",
    "load_all",
    "score",
    "with_intervals",
]
