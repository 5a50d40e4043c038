"""The report: one HTML file that shows where the points went."""

from corefeval.reports.page import Report
from corefeval.reports.reporting import DEFAULT_FEATURES, report

__all__ = ["DEFAULT_FEATURES", "Report", "report"]
