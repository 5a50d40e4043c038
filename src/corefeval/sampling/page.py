"""The page for labelling: a sheet with the texts that it needs, in one file without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corefeval.sampling.frame import Frame

if TYPE_CHECKING:
    from corefeval.sampling.sheets import Sheet


def make_page(frame: Frame, sheet: Sheet) -> str:
    """The page of a sheet."""
    return ""
