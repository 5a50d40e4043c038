"""Cells of brackets with attributes: `(EntityID=4|MarkableID=markable_3|Min=7`, and bare `)`."""

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
    """A cell of HEAD or DEPS with other numbers of tokens.

    >>> renumber("4:nsubj|7:conj", {"4": "12"})
    '12:nsubj|7:conj'
    """
    return _PARENT.sub(lambda match: numbers.get(match[0], match[0]), cell)


class Cell(NamedTuple):
    """A cell that says something: the position of its token in the document, and its line."""

    position: int
    line: int
    text: str


@dataclass(slots=True)
class Markable:
    """What a bracket says, and the tokens from `start` up to `end`: several parts where there are.

    `misspelt` are names of attributes that were understood all the same.
    """

    line: int
    attributes: dict[str, str]
    misspelt: list[str]
    parts: list[tuple[int, int]] = field(default_factory=list)

    def get(self, name: str) -> str:
        """What an attribute says; nothing where it is not there, or says `_`."""
        value = self.attributes.get(name, "")
        return "" if value == "_" else value

    def list(self, name: str) -> list[str]:
        """The values of an attribute that has several."""
        return [value for value in re.split(r"[,;\s]+", self.get(name)) if value]


def read_brackets(cells: Iterable[Cell], file: str, column: str) -> list[Markable]:
    """The markables of a column of a document, in the order in which they open.

    From left to right, `)` closes what was opened last and is still open, so that an outer bracket
    may close before or behind one of its last token.
    """
    found: list[Markable] = []
    still_open: list[tuple[Markable, Cell]] = []
    for cell in cells:
        for mark in _MARK.finditer(cell.text):
            if mark[1] is not None:
                markable = _open_markable(cell, mark[1])
                found.append(markable)
                still_open.append((markable, cell))
            elif mark[2] and still_open:
                markable, begin = still_open.pop()
                markable.parts.append((begin.position, cell.position + 1))
            elif mark[2]:
                raise _balance_error(cell, file, column, "closes that was never opened")
            elif mark[3]:
                raise InputError(
                    f"a cell of {column} is no list of brackets",
                    file=file,
                    line=cell.line,
                    found=excerpt(cell.text),
                    expected="‘_’, or brackets such as (EntityID=1|MarkableID=markable_1)",
                    fix="check that columns are where ‘# global.columns’ says",
                    kind="unreadable-cell",
                )
    if still_open:
        raise _balance_error(still_open[-1][1], file, column, "never closes")
    return found


def means_else(name: str) -> bool:
    """Whether no attribute of its own may be called so: it would be taken for another one."""
    return re.fullmatch(r"\w+", name) is None or _JOINTS.sub("", name).lower() in _NAMES


def _open_markable(cell: Cell, text: str) -> Markable:
    attributes: dict[str, str] = {}
    misspelt = []
    for part in text.strip("@").split("|"):
        name, equals, value = part.partition("=")
        known = _NAMES.get(_JOINTS.sub("", name).lower(), name.strip())
        misspelt += [name] if equals and known != name else []
        if equals:
            attributes.setdefault(known, value.strip())
    return Markable(cell.line, attributes, misspelt)


def _balance_error(cell: Cell, file: str, column: str, problem: str) -> InputError:
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
    """Markables with their parts together, and those that have the id of another entity's.

    The same id, opened again for the same entity, is another part of a discontinuous markable.
    """
    whole: list[Markable] = []
    known: dict[str, Markable] = {}
    repeated = []
    for one in markables:
        identifier = one.get("MarkableID")
        first = known.setdefault(identifier, one) if identifier else one
        if first is one:
            whole.append(one)
        elif first.get("EntityID") == one.get("EntityID"):
            first.parts += one.parts
            first.attributes = one.attributes | first.attributes
        else:
            whole.append(one)
            repeated.append(one)
    return whole, repeated
