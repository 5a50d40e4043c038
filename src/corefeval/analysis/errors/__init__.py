"""Error analysis: what is wrong with a response, where it is, and what it costs."""

from corefeval.analysis.errors.analysis import (
    ErrorAnalysis,
    KindRow,
    analyse,
    analyse_prepared,
    judge_alike,
)
from corefeval.analysis.errors.classification import KINDS, OTHERS, SUMMARIES, ErrorKind, error_kind
from corefeval.analysis.errors.costs import Attribution
from corefeval.analysis.errors.links import LinkCounts, LinkRow
from corefeval.analysis.errors.listing import EntityCost, ErrorInstance, MentionCost, Place

__all__ = [
    "KINDS",
    "OTHERS",
    "SUMMARIES",
    "Attribution",
    "EntityCost",
    "ErrorAnalysis",
    "ErrorInstance",
    "ErrorKind",
    "KindRow",
    "LinkCounts",
    "LinkRow",
    "MentionCost",
    "Place",
    "analyse",
    "analyse_prepared",
    "error_kind",
    "judge_alike",
]
