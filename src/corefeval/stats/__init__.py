"""Statistics: intervals, tests and comparisons, from per-document counts alone."""

from corefeval.stats.comparison import Comparison, DocumentComparison
from corefeval.stats.corpora import compare_corpora
from corefeval.stats.differences import (
    Concordance,
    Differences,
    DocumentDifference,
    Effect,
    MetricAgreement,
    SliceDifference,
    concordance,
    differences,
)
from corefeval.stats.intervals import Interval, Intervals, intervals, with_intervals
from corefeval.stats.power import Power, documents_needed
from corefeval.stats.procedure import compare
from corefeval.stats.significance import (
    Combination,
    CorporaOptions,
    Correction,
    Options,
    Replication,
    Test,
    adjust,
    partial_conjunction,
    replicate,
)
from corefeval.stats.standings import (
    CorporaComparison,
    CorporaDifference,
    CorpusDifference,
    PairDifference,
    Standing,
)

__all__ = [
    "Combination",
    "Comparison",
    "Concordance",
    "CorporaComparison",
    "CorporaDifference",
    "CorporaOptions",
    "CorpusDifference",
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
    "Power",
    "Replication",
    "SliceDifference",
    "Standing",
    "Test",
    "adjust",
    "compare",
    "compare_corpora",
    "concordance",
    "differences",
    "documents_needed",
    "intervals",
    "partial_conjunction",
    "replicate",
    "with_intervals",
]
