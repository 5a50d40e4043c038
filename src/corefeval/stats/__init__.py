"""Statistics: intervals, tests and comparisons, from per-document counts alone."""

from corefeval.stats.comparison import Comparison, PairDifference, compare
from corefeval.stats.concordance import Concordance, MetricAgreement, concordance
from corefeval.stats.confidence import with_intervals
from corefeval.stats.correction import Correction, adjusted
from corefeval.stats.differences import (
    Differences,
    DocumentDifference,
    SliceDifference,
    differences,
)
from corefeval.stats.effects import Effect
from corefeval.stats.findings import Findings, compare_in_detail
from corefeval.stats.intervals import Interval, Intervals, intervals
from corefeval.stats.power import Power, documents_needed
from corefeval.stats.significance import PairedTest, Test, bootstrap_test, exact, randomization

__all__ = [
    "Comparison",
    "Concordance",
    "Correction",
    "Differences",
    "DocumentDifference",
    "Effect",
    "Findings",
    "Interval",
    "Intervals",
    "MetricAgreement",
    "PairDifference",
    "PairedTest",
    "Power",
    "SliceDifference",
    "Test",
    "adjusted",
    "bootstrap_test",
    "compare",
    "compare_in_detail",
    "concordance",
    "differences",
    "documents_needed",
    "exact",
    "intervals",
    "randomization",
    "with_intervals",
]
