"""Checking files before they are scored: findings, and repaired copies of files."""

from corefeval.linting.findings import KINDS, Finding, FindingKind, count_severities
from corefeval.linting.inspection import Inspection, check_corpus, inspect
from corefeval.linting.repairing import FileRepair, repair_file

__all__ = [
    "KINDS",
    "FileRepair",
    "Finding",
    "FindingKind",
    "Inspection",
    "check_corpus",
    "count_severities",
    "inspect",
    "repair_file",
]
