"""An experiment's result in words: its tables, and which statements hold."""

from __future__ import annotations

from corefeval.figures.selection import shown_titles
from corefeval.figures.tables import tables
from corefeval.lab import ExperimentResult, Statement
from corefeval.output.tables import Table
from corefeval.output.terminal import drawn_text


def render_result(
    result: ExperimentResult, *, everything: bool = False, color: bool = False
) -> str:
    """Tables, then the statements that hold and those that do not.

    Without `everything` tables and statements are about those metrics that most papers report,
    and a line says how many statements there are about others.
    """
    parts: list[Table | str] = list(tables(result, everything=everything))
    about = _findings(result, everything)
    groups = []
    for heading, holds in (("Holds", True), ("Does not hold", False)):
        those = [_sentence(finding) for finding in about if finding.holds == holds]
        groups += ["\n".join((heading, *those))] if those else []
    parts += ["\n\n".join(groups)] if groups else []
    footer = [", ".join(f"{name} {value}" for name, value in _settings(result).items())]
    if left := len(result.statements) - len(about):
        footer.insert(0, f"{left} statements are about other metrics: name these with --metrics")
    return drawn_text(parts, footer, color=color)


def _settings(result: ExperimentResult) -> dict[str, object]:
    """What it takes to get the same again, without names that say nothing."""
    return {name: value for name, value in result.settings.items() if name != value}


def _findings(result: ExperimentResult, everything: bool) -> list[Statement]:
    """The statements that are about a metric that is shown, or about several."""
    if everything:
        return list(result.statements)
    titles = {str(row["title"]) for row in result.rows} - shown_titles(result)
    return [one for one in result.statements if one.text.partition(":")[0] not in titles]


def _sentence(finding: Statement) -> str:
    detail = f" ({finding.detail})" if finding.detail else ""
    source = f" [{finding.source}]" if finding.source else ""
    return f"  {finding.text}{detail}{source}"
