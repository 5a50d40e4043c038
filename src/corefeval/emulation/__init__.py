"""Emulation: other programs' numbers, with the accidents by which these came about.

Nothing of the core imports this room but the door of a protocol that names a program
(`emulate:corefud-1.2`) or has an accident of one (`b3:response`), and only when such a protocol is
asked for.
"""

from __future__ import annotations

from corefeval.emulation import corefud_scorer, programs, universal_anaphora
from corefeval.emulation.corefud_scorer import digest_text, read_text, score_emulated
from corefeval.emulation.programs import Material
from corefeval.emulation.universal_anaphora import score_anaphora
from corefeval.metrics import Metrics
from corefeval.protocol import Protocol

__all__ = [
    "Material",
    "check_request",
    "digest_text",
    "read_text",
    "score_anaphora",
    "score_emulated",
]


def check_request(metrics: Metrics, protocol: Protocol) -> None:
    """Refuse metrics and choices that the program does not have: before anything is read."""
    if protocol.reads_itself:
        corefud_scorer.choose_metrics(metrics, protocol)
    elif protocol.emulate != "none":
        universal_anaphora.choose_metrics(metrics, protocol)
    else:
        programs.choose_metrics(metrics, protocol)
