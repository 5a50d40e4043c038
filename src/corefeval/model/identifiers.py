"""Document identity: a name and, where the corpus is cut into parts, a part number."""

from __future__ import annotations

from typing import NamedTuple


class DocumentId(NamedTuple):
    """A document's name and part; two documents pair when both are equal.

    >>> str(DocumentId("bc/cctv_0000", 1))
    'bc/cctv_0000; part 001'
    >>> str(DocumentId("essay"))
    'essay'
    """

    name: str
    part: int | None = None

    def __str__(self) -> str:
        return self.name if self.part is None else f"{self.name}; part {self.part:0>3}"
