"""Evaluation: from two inputs to a result, and from several to a comparison."""

from typing import TYPE_CHECKING

from corefeval.evaluation.counting import count, with_intervals
from corefeval.evaluation.scoring import score, score_request, score_whole
from corefeval.request import Sampling

if TYPE_CHECKING:
    from corefeval.evaluation.comparing import (
        COMPARED,
        check_keys,
        common_metrics,
        compare,
        load,
        load_all,
    )

__all__ = [
    "COMPARED",
    "Sampling",
    "check_keys",
    "common_metrics",
    "compare",
    "count",
    "load",
    "load_all",
    "score",
    "score_request",
    "score_whole",
    "with_intervals",
]


def __getattr__(name: str) -> object:
    """What compares is imported by those alone who compare."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from corefeval.evaluation import comparing

    return getattr(comparing, name)
