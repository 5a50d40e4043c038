"""Universal Anaphora's CoNLL-U, and its cells: `(EntityID=4|MarkableID=markable_3|Min=7`, `)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from corefeval.diagnostics import InputError, excerpt

COLUMNS = (
    "ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC",
    "IDENTITY", "BRIDGING", "DISCOURSE_DEIXIS", "REFERENCE", "NOM_SEM",
)  # fmt: skip
EMPTY = frozenset(("_", "", "-", "*"))

_MARK = re.compile(r"\(([^()]*)|(\))|@|([^()@]+)")
_NAMES = {
    name.lower(): name
    for name in (
        "EntityID", "MarkableID", "Min", "SemType", "ElementOf", "Rel", "MentionAnchor",
        "EntityAnchor",
    )
} | {"mentionid": "MarkableID"}  # fmt: skip
_PARENT = re.compile(r"(?<![^|])[0-9]+(?:\.[0-9]+)?(?=:|$)")
_JOINTS = re.compile(r"[_\-\s]")


def renumber(cell: str, numbers: Mapping[str, str]) -> str:
    """A cell of HEAD or DEPS with its token numbers replaced.

    >>> renumber("4:nsubj|7:conj", {"4": "12"})
    '12:nsubj|7:conj'
    """
    return _PARENT.sub(lambda match: numbers.get(match[0], match[0]), cell)


class MarkedCell(NamedTuple):
    """A cell that is not empty: the position of its token in the document, its line, its text."""

    position: int
    line: int
    text: str


@dataclass(slots=True)
class Markable:
    """The attributes of a bracket, and its tokens: `parts` are pairs of start and end (exclusive).

    `misspelt` are names of attributes that were recognised despite their spelling.
    """

    line: int
    attributes: dict[str, str]
    misspelt: list[str]
    parts: list[tuple[int, int]] = field(default_factory=list)

    def get(self, name: str) -> str:
        """The value of an attribute; empty where it is missing or `_`."""
        value = self.attributes.get(name, "")
        return "" if value == "_" else value

    def list(self, name: str) -> list[str]:
        """The values of an attribute that has several."""
        return [value for value in re.split(r"[,;\s]+", self.get(name)) if value]


def read_brackets(cells: Iterable[MarkedCell], file: str, column: str) -> list[Markable]:
    """The markables of a column of a document, in the order in which they open.

    From left to right, `)` closes what was opened last and is still open, so that an outer bracket
    may close before or behind one of its last token.
    """
    markables: list[Markable] = []
    still_open: list[tuple[Markable, MarkedCell]] = []
    for cell in cells:
        for mark in _MARK.finditer(cell.text):
            if mark[1] is not None:
                markable = _open_markable(cell, mark[1])
                markables.append(markable)
                still_open.append((markable, cell))
            elif mark[2] and still_open:
                markable, begin = still_open.pop()
                markable.parts.append((begin.position, cell.position + 1))
            elif mark[2]:
                raise _balance_error(cell, file, column, "closes without being opened")
            elif mark[3]:
                raise InputError(
                    f"a cell of {column} is not a list of brackets",
                    file=file,
                    line=cell.line,
                    found=excerpt(cell.text),
                    expected="‘_’, or brackets such as (EntityID=1|MarkableID=markable_1)",
                    fix="check that columns are where ‘# global.columns’ says",
                    kind="unreadable-cell",
                )
    if still_open:
        raise _balance_error(still_open[-1][1], file, column, "never closes")
    return markables


def means_else(name: str) -> bool:
    """Whether a feature cannot be written under this name: it would be read as something else."""
    return re.fullmatch(r"\w+", name) is None or _JOINTS.sub("", name).lower() in _NAMES


def _open_markable(cell: MarkedCell, text: str) -> Markable:
    attributes: dict[str, str] = {}
    misspelt = []
    for part in text.strip("@").split("|"):
        name, equals, value = part.partition("=")
        attribute = _NAMES.get(_JOINTS.sub("", name).lower(), name.strip())
        misspelt += [name] if equals and attribute != name else []
        if equals:
            attributes.setdefault(attribute, value.strip())
    return Markable(cell.line, attributes, misspelt)


def _balance_error(cell: MarkedCell, file: str, column: str, problem: str) -> InputError:
    return InputError(
        f"a bracket of {column} {problem}",
        file=file,
        line=cell.line,
        found=excerpt(cell.text),
        expected="‘(’ and ‘)’ in turn, in the same column of the same document",
        fix="add the missing bracket, or remove this one",
        kind="unbalanced-bracket",
    )


def join_parts(markables: Iterable[Markable]) -> tuple[list[Markable], list[Markable]]:
    """Markables with their parts joined, and those that repeat the id of another entity's markable.

    An id that opens again for its entity is another part of a discontinuous markable.
    """
    joined: list[Markable] = []
    by_id: dict[str, Markable] = {}
    repeated = []
    for markable in markables:
        identifier = markable.get("MarkableID")
        first = by_id.setdefault(identifier, markable) if identifier else markable
        if first is markable:
            joined.append(markable)
        elif first.get("EntityID") == markable.get("EntityID"):
            first.parts += markable.parts
            first.attributes = markable.attributes | first.attributes
        else:
            joined.append(markable)
            repeated.append(markable)
    return joined, repeated
