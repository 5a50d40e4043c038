"""Statistics: intervals, tests and comparisons, from per-document counts alone."""

from corefeval.stats.comparison import Comparison, DocumentComparison, PairDifference
from corefeval.stats.differences import (
    Differences,
    DocumentDifference,
    Effect,
    SliceDifference,
    differences,
)
from corefeval.stats.intervals import Interval, Intervals, intervals, with_intervals
from corefeval.stats.power import Power, documents_needed
from corefeval.stats.procedure import compare
from corefeval.stats.ranking import Concordance, MetricAgreement, concordance
from corefeval.stats.significance import (
    Correction,
    Options,
    PairedTest,
    Test,
    adjust,
    bootstrap_test,
    exact,
    randomization,
)

__all__ = [
    "Comparison",
    "Concordance",
    "Correction",
    "Differences",
    "DocumentComparison",
    "DocumentDifference",
    "Effect",
    "Interval",
    "Intervals",
    "MetricAgreement",
    "Options",
    "PairDifference",
    "PairedTest",
    "Power",
    "SliceDifference",
    "Test",
    "adjust",
    "bootstrap_test",
    "compare",
    "concordance",
    "differences",
    "documents_needed",
    "exact",
    "intervals",
    "randomization",
    "with_intervals",
]
