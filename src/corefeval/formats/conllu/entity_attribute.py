"""The `Entity` attribute: `(e1-person-2`, `e1)`, `(e1[1/2]-…` and what its fields mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

DEFAULT_FIELDS = ("eid", "etype", "head", "minspan", "infstat", "link", "identity")
ID_FIELDS = ("eid", "GRP")

BRACKET = re.compile(r"\(([^()\n]+)(\))?|([^()\n]+)\)|(\n)|(.)", re.DOTALL)
OWN = re.compile(r"(Entity|Bridge|Split|SplitAnte)=")
PART = re.compile(r"(.*)\[(\d{1,6})/(\d{1,6})\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Header:
    """The order of the fields of an opening bracket, from `# global.Entity`."""

    fields: tuple[str, ...] = DEFAULT_FIELDS

    @staticmethod
    def parse(text: str) -> Header:
        """The header from its text, `eid-etype-head` and the like."""
        return Header(tuple(field.strip() for field in text.strip().split("-")))

    @property
    def id_index(self) -> int | None:
        """Which field is the entity's id; None where no field is."""
        return next((self.fields.index(name) for name in ID_FIELDS if name in self.fields), None)

    @property
    def head_index(self) -> int | None:
        """Which field is the number of the head word; None where no field is."""
        return self.fields.index("head") if "head" in self.fields else None

    def values(self, text: str) -> dict[str, str]:
        """What an opening bracket says about its mention, by field, without id and head.

        What is too much belongs to the last field.
        """
        parts = text.split("-", len(self.fields) - 1)
        return {
            name: unquote(value) if "%" in value else value
            for name, value in zip(self.fields, parts, strict=False)
            if value and value != "_" and name not in (*ID_FIELDS, "head")
        }


def without_coreference(misc: str) -> str:
    """What a cell of MISC says beside entities and their relations.

    >>> without_coreference("Entity=(e1)|SpaceAfter=No|SplitAnte=e1<e2")
    'SpaceAfter=No'
    """
    return "|".join(part for part in misc.split("|") if part != "_" and not OWN.match(part))


def identity(text: str) -> tuple[str, int, int]:
    """An id, and which part of how many of a discontinuous mention it stands for.

    >>> identity("e7[1/2]")
    ('e7', 1, 2)
    """
    match = PART.fullmatch(text) if "[" in text else None
    if match is None:
        return (unquote(text) if "%" in text else text), 1, 1
    return unquote(match[1]), int(match[2]), int(match[3])
