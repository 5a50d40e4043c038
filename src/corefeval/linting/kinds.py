"""Kinds of findings, from the table in `kinds.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding: its severity, what it is, its effect on scores, and how it is fixed.

    An error stops scoring or loses mentions; a warning changes scores, here or in other scorers,
    without anybody noticing; a note is good to know.
    """

    name: str
    severity: Severity
    summary: str
    effect: str
    fix: str


_TABLE = tomllib.loads(files(__package__).joinpath("kinds.toml").read_text(encoding="utf-8"))
KINDS = {name: FindingKind(name, **texts) for name, texts in _TABLE.items()}
