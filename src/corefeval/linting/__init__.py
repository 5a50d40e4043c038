"""Checking files before they are scored: findings, and files without what can be mended."""

from corefeval.linting.findings import Finding, counted
from corefeval.linting.inspection import Inspection, check_corpus, inspect
from corefeval.linting.kinds import KINDS, Kind
from corefeval.linting.restoration import Restoration, restore

__all__ = [
    "KINDS",
    "Finding",
    "Inspection",
    "Kind",
    "Restoration",
    "check_corpus",
    "counted",
    "inspect",
    "restore",
]
