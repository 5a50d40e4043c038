"""Emulation: other programs' numbers, with the accidents by which these came about.

Nothing of the core imports this room but the door of a protocol that names a program
(`emulate:corefud-1.2`) or has an accident of one (`b3:response`), and only when such a protocol is
asked for.
"""

from __future__ import annotations

from corefeval.emulation.programs import Material
from corefeval.emulation.scoring import digest_text, read_text, score_emulated
from corefeval.emulation.universal_anaphora import score_anaphora

__all__ = ["Material", "digest_text", "read_text", "score_anaphora", "score_emulated"]
