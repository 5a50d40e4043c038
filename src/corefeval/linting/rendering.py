"""What was found in files, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from corefeval.diagnostics import excerpt, plural
from corefeval.display import json_text, visible
from corefeval.linting.findings import KINDS, Finding, count_severities
from corefeval.linting.inspection import Inspection
from corefeval.linting.oddities import tell_span
from corefeval.linting.repairing import Change, FileRepair

_SHOWN = 5  # findings of a kind without --all
_MEANINGS = {
    "error": "scoring stops, or mentions are lost",
    "warning": "scores may not mean what you think",
    "note": "good to know",
}
# Of a finding, in JSON.
_FIELDS = ("severity", "kind", "file", "line", "document", "span", "text", "message", "effect")
_COLORS = {"error": "1;31", "warning": "1;33", "note": "1;36", "good": "1;32"}


def render_text(
    inspections: Sequence[Inspection],
    repair: FileRepair | None = None,
    *,
    all: bool = False,
    quiet: bool = False,
    strict: bool = False,
    color: bool = False,
) -> str:
    """The findings, file by file and kind by kind; then how many, and a verdict on each file.

    With `quiet` there are only verdicts; with `strict` a file with warnings fails, too.
    """
    verdicts = "\n".join(_verdict(inspection, strict, color) for inspection in inspections)
    if quiet:
        return f"{verdicts}\n"
    blocks = [_repair_block(repair, color)] if repair is not None else []
    blocks += [_file_block(inspection, all, color) for inspection in inspections]
    findings = [finding for inspection in inspections for finding in inspection.findings]
    return "\n\n".join((*blocks, _summary(findings, color), verdicts)) + "\n"


def _verdict(inspection: Inspection, strict: bool, color: bool) -> str:
    """Whether a file passes, and how many findings of each severity it has."""
    fails = inspection.fails(strict)
    word = _paint("fails" if fails else "passes", "error" if fails else "good", color)
    counts = count_severities(inspection.findings).items()
    tallies = [plural(count, severity) for severity, count in counts if count]
    return f"{visible(inspection.file)} {word}: {', '.join(tallies) or 'nothing found'}"


def _file_block(inspection: Inspection, all: bool, color: bool) -> str:
    lines = [f"{visible(inspection.file)}{_contents(inspection)}"]
    if not inspection.findings:
        lines.append(f"  {_paint('nothing found', 'good', color)}")
    for kind, group in groupby(inspection.findings, key=lambda finding: finding.kind):
        lines += ["", *_kind_block(kind, list(group), all, color)]
    return "\n".join(lines)


def _contents(inspection: Inspection) -> str:
    contents = inspection.contents
    if contents is None or inspection.format is None:
        return ""
    counts = [plural(contents.documents, "document")]
    if contents.tokens is not None:
        counts.append(plural(contents.tokens, "token"))
    counts += [plural(contents.entities, "entity"), plural(contents.mentions, "mention")]
    return f": {inspection.format.name}, {', '.join(counts)}"


def _kind_block(kind: str, findings: list[Finding], all: bool, color: bool) -> Iterator[str]:
    declaration = KINDS[kind]
    label = _paint(declaration.severity, declaration.severity, color)
    count = f" ({len(findings):,})" if len(findings) > 1 else ""
    yield f"{label}: {kind}: {declaration.summary}{count}"
    first = findings if all or len(findings) <= _SHOWN else findings[:_SHOWN]
    for finding in first:
        yield f"  {_describe(finding)}"
    if len(first) < len(findings):
        yield f"  … and {len(findings) - len(first):,} more (--all shows them)"
    yield _paint(f"  effect: {declaration.effect}", "", color)
    for advice in dict.fromkeys(finding.advice for finding in first):
        yield _paint(f"  fix: {visible(advice)}", "", color)


def _describe(finding: Finding) -> str:
    """A finding on one line: its line number, mention, message and document."""
    where = f"line {finding.line}: " if finding.line else ""
    place = [finding.document] if finding.document else []
    subject = ""
    if finding.span is not None:
        place.append(tell_span(*finding.span))
    if finding.text is not None:
        subject = f"{excerpt(finding.text)} "
    elif finding.span is None and place:
        name = excerpt(place.pop())
        subject = "" if name in finding.message else f"{name}: "
    behind = f" ({', '.join(map(visible, place))})" if place else ""
    return f"{where}{subject}{visible(finding.message)}{behind}"


def _repair_block(repair: FileRepair, color: bool) -> str:
    count = len(repair.changes)
    summary = plural(count, "repair") if count else "nothing to repair, written again"
    files = visible(f"{repair.file} → {repair.target}")
    lines = [f"{files}: {_paint(summary, 'good', color)}"]
    for change in repair.changes:
        where = f"line {change.line}: " if change.line else ""
        lines.append(f"  {where}{change.kind}: {visible(_describe_change(change))}")
    return "\n".join(lines)


def _describe_change(change: Change) -> str:
    finding = change.finding
    if finding is None or finding.text is None:
        return change.done
    return f"{excerpt(finding.text)} {finding.message}; {change.done}"


def _summary(findings: Sequence[Finding], color: bool) -> str:
    """A line for each severity: how many, what that means, and of which kinds."""
    lines = []
    for severity, count in count_severities(findings).items():
        number = _paint(plural(count, severity), severity if count else "", color and count > 0)
        kinds = Counter(finding.kind for finding in findings if finding.severity == severity)
        members = ", ".join(f"{kind} {number:,}" for kind, number in kinds.items())
        lines.append(f"{number} ({_MEANINGS[severity]})" + (f": {members}" if members else ""))
    return "\n".join(lines)


def _paint(text: str, style: str, color: bool) -> str:
    code = _COLORS.get(style, "2")
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def render_json(
    inspections: Sequence[Inspection], repair: FileRepair | None = None, *, strict: bool = False
) -> str:
    """Everything that was found, for programs; ends of spans are exclusive."""
    findings = [finding for inspection in inspections for finding in inspection.findings]
    content: dict[str, object] = {
        "files": [
            {**_as_json(inspection), "verdict": "fails" if inspection.fails(strict) else "passes"}
            for inspection in inspections
        ]
    }
    if repair is not None:
        content["repaired"] = {
            "file": repair.file,
            "target": repair.target,
            "repairs": [
                {
                    "kind": change.kind,
                    "line": change.line,
                    "document": change.finding.document if change.finding else None,
                    "message": _describe_change(change),
                }
                for change in repair.changes
            ],
        }
    counts = count_severities(findings)
    content["summary"] = {f"{severity}s": count for severity, count in counts.items()}
    return json_text(content)


def _as_json(inspection: Inspection) -> dict[str, object]:
    contents = inspection.contents
    return {
        "file": inspection.file,
        "format": inspection.format.name if inspection.format else None,
        **{
            name: None if contents is None else getattr(contents, name)
            for name in ("documents", "tokens", "entities", "mentions")
        },
        "findings": [
            {**{name: getattr(finding, name) for name in _FIELDS}, "fix": finding.advice}
            for finding in inspection.findings
        ],
    }
