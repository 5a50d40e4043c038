"""corefeval: evaluation of coreference resolution.

>>> import corefeval
>>> result = corefeval.score([["Ada", "she", "her"]], [["Ada", "she"], ["her"]])
>>> round(result["conll"].f1, 4)
0.6381
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corefeval._version import __version__
from corefeval.checks import import_on_demand

if TYPE_CHECKING:
    from corefeval.analysis.agreement import Agreement, agree
    from corefeval.analysis.auditing import Audit, audit
    from corefeval.analysis.errors import ErrorAnalysis, analyse
    from corefeval.analysis.explanation import (
        Explanation,
        ResultDifference,
        Search,
        Sensitivity,
        explain,
        explain_results,
    )
    from corefeval.analysis.statistics import Statistics, statistics
    from corefeval.consensus import Merged, merge
    from corefeval.diagnostics import (
        CorefEvalError,
        InputError,
        Notice,
        PairingError,
        UndefinedMetricError,
        UndefinedRateError,
        UsageError,
    )
    from corefeval.evaluation import compare, count, load, load_all, score
    from corefeval.examples import example
    from corefeval.features import TagSet
    from corefeval.files import unpack_limit
    from corefeval.formats import read, write
    from corefeval.formats.answers.prompts import Prompts, write_prompts
    from corefeval.formats.answers.reading import read_answers
    from corefeval.metrics import Declaration, Metric, Parameter, register
    from corefeval.metrics.bibliography import cite
    from corefeval.metrics.own import metric
    from corefeval.model import (
        Corpus,
        Document,
        DocumentId,
        corpus_from_arrays,
        corpus_from_entities,
    )
    from corefeval.output import render
    from corefeval.preparation import Prepared, prepare
    from corefeval.probes.decisions import probe
    from corefeval.probes.readers import Probe, read_probe
    from corefeval.probes.result import ProbeResult
    from corefeval.protocol import Protocol
    from corefeval.reports import Report, report
    from corefeval.results import Result, Score, Slices
    from corefeval.sampling.draws import sample
    from corefeval.sampling.estimates import Difference, Estimate, Estimates, estimate
    from corefeval.sampling.sheets import Sheet, read_sheet
    from corefeval.scorer import Scorer
    from corefeval.stats import Comparison
    from corefeval.suites.definition import Suite, SuiteCorpus, SuiteSystem, read_suite
    from corefeval.suites.outcome import SuiteResult, load_suite
    from corefeval.suites.running import run_suite

# Names are imported when they are first used, so that `import corefeval` and `corefeval --help`
# cost next to nothing.
_HOMES = {
    "analysis.agreement": "Agreement agree",
    "analysis.auditing": "Audit audit",
    "analysis.errors": "ErrorAnalysis analyse",
    "analysis.explanation": (
        "Explanation ResultDifference Search Sensitivity explain explain_results"
    ),
    "analysis.statistics": "Statistics statistics",
    "consensus": "Merged merge",
    "diagnostics": (
        "CorefEvalError InputError Notice PairingError UndefinedMetricError UndefinedRateError "
        "UsageError"
    ),
    "evaluation": "compare count load load_all score",
    "examples": "example",
    "features": "TagSet",
    "files": "unpack_limit",
    "formats": "read write",
    "formats.answers.prompts": "Prompts write_prompts",
    "formats.answers.reading": "read_answers",
    "metrics": "Declaration Metric Parameter register",
    "metrics.own": "metric",
    "metrics.bibliography": "cite",
    "model": "Corpus Document DocumentId corpus_from_arrays corpus_from_entities",
    "output": "render",
    "preparation": "Prepared prepare",
    "probes.decisions": "probe",
    "probes.readers": "Probe read_probe",
    "probes.result": "ProbeResult",
    "protocol": "Protocol",
    "reports": "Report report",
    "results": "Result Score Slices",
    "sampling.draws": "sample",
    "sampling.estimates": "Difference Estimate Estimates estimate",
    "sampling.sheets": "Sheet read_sheet",
    "scorer": "Scorer",
    "stats": "Comparison",
    "suites.definition": "Suite SuiteCorpus SuiteSystem read_suite",
    "suites.outcome": "SuiteResult load_suite",
    "suites.running": "run_suite",
}
__getattr__ = import_on_demand(
    __name__, {name: f".{home}" for home, names in _HOMES.items() for name in names.split()}
)

__all__ = [
    "Agreement",
    "Audit",
    "Comparison",
    "CorefEvalError",
    "Corpus",
    "Declaration",
    "Difference",
    "Document",
    "DocumentId",
    "ErrorAnalysis",
    "Estimate",
    "Estimates",
    "Explanation",
    "InputError",
    "Merged",
    "Metric",
    "Notice",
    "PairingError",
    "Parameter",
    "Prepared",
    "Probe",
    "ProbeResult",
    "Prompts",
    "Protocol",
    "Report",
    "Result",
    "ResultDifference",
    "Score",
    "Scorer",
    "Search",
    "Sensitivity",
    "Sheet",
    "Slices",
    "Statistics",
    "Suite",
    "SuiteCorpus",
    "SuiteResult",
    "SuiteSystem",
    "TagSet",
    "UndefinedMetricError",
    "UndefinedRateError",
    "UsageError",
    "__version__",
    "agree",
    "analyse",
    "audit",
    "cite",
    "compare",
    "corpus_from_arrays",
    "corpus_from_entities",
    "count",
    "estimate",
    "example",
    "explain",
    "explain_results",
    "load",
    "load_all",
    "load_suite",
    "merge",
    "metric",
    "prepare",
    "probe",
    "read",
    "read_answers",
    "read_probe",
    "read_sheet",
    "read_suite",
    "register",
    "render",
    "report",
    "run_suite",
    "sample",
    "score",
    "statistics",
    "unpack_limit",
    "write",
    "write_prompts",
]


def __dir__() -> list[str]:
    return __all__
