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

    @staticmethod
    def parse(text: str) -> DocumentId:
        """An id from its text: `bc/cctv_0000; part 001`, or a name without a part.

        >>> DocumentId.parse("bc/cctv_0000; part 001")
        DocumentId(name='bc/cctv_0000', part=1)
        """
        name, _, part = text.rpartition("; part ")
        if name and part.isascii() and part.isdigit() and len(part) < 19:
            return DocumentId(name, int(part))
        return DocumentId(text)

    def __str__(self) -> str:
        return self.name if self.part is None else f"{self.name}; part {self.part:0>3}"
