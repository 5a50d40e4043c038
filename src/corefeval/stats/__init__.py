"""Statistics: intervals, tests and comparisons, from per-document counts alone."""

from corefeval.stats.comparison import Comparison, DocumentComparison, PairDifference
from corefeval.stats.corpora import compare_corpora
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
from corefeval.stats.replicability import (
    Combination,
    Replication,
    partial_conjunction,
    replicate,
)
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
from corefeval.stats.standings import (
    CorporaComparison,
    CorporaDifference,
    CorporaOptions,
    CorpusDifference,
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
    "PairedTest",
    "Power",
    "Replication",
    "SliceDifference",
    "Standing",
    "Test",
    "adjust",
    "bootstrap_test",
    "compare",
    "compare_corpora",
    "concordance",
    "differences",
    "documents_needed",
    "exact",
    "intervals",
    "partial_conjunction",
    "randomization",
    "replicate",
    "with_intervals",
]
