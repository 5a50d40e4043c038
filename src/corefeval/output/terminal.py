"""Sheets drawn for a terminal."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Sequence
from itertools import groupby, zip_longest

from corefeval.display import visible
from corefeval.output.fitting import Block, blocks, cell_len, cut, fold, heading, make_presentable
from corefeval.output.tables import RAISED, Cell, Column, Sheet, Table

_PLAIN = {"─": "-", "³": "3", "φ": "phi", "–": "-", "−": "-", "τ": "tau", "≤": "<=", "±": "+-"}
_PLAIN |= {"α": "alpha", "→": "->", "…": "...", "’": "'", "‘": "'"}
_PLAIN |= {raised: letter for letter, raised in RAISED.items()}
_WIDE = 10_000  # so that lines stay as they are
_BOLD, _DIM, _PLAIN_AGAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
Line = list[tuple[str, str]]  # pieces of a line, each with a style or an empty one
_USUAL, _LEAST = 120, 40  # columns: where nobody says how many there are, and at least
_SENTENCE = 96  # longer lines are hard to read


def draw_text(sheet: Sheet, *, color: bool = False, most: int = _USUAL) -> str:
    """Tables and sentences one below the other, and a footer that does not stand out.

    Sentences that follow each other stand together. Everything but signatures fits into the
    terminal (or into COLUMNS, or `most` columns, if there is none), and nothing in it but our own
    colours acts on the terminal.
    """
    columns = _terminal_width()
    room = max(columns or most, _LEAST)
    list_room = room if columns else _WIDE  # lines of a list stay whole for programs such as grep
    lines: list[Line] = []
    for is_text, members in groupby(sheet.parts, key=lambda part: isinstance(part, str)):
        for part in members:
            if isinstance(part, str):
                lines += [[(line, "")] for line in _wrap(part, room, list_room)]
            else:
                lines += [*_lines(part, sheet.gap, room), []]
        lines += [[]] if is_text else []
    about = [line for text in sheet.about for line in _wrap(text, room)]
    # A signature is to be copied, so that it stays on one line.
    lines += [[(line, _DIM)] for line in (*about, *map(visible, sheet.signatures))]
    color = color and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    return _printable("\n".join(_style_line(line, color) for line in lines))


def _terminal_width() -> int:
    """How many columns the terminal has, or COLUMNS says; 0 where neither is known."""
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    try:
        return columns if columns > 0 else os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # closed, or no terminal
        return 0


def _style_line(line: Line, color: bool) -> str:
    return "".join(
        f"{style}{text}{_PLAIN_AGAIN}" if color and style and text else text for text, style in line
    )


def _printable(text: str) -> str:
    """The text without blanks at line ends, in ASCII signs where the terminal has no others."""
    text = "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeError:
        for sign, plain in _PLAIN.items():
            text = text.replace(sign, plain)
    return text


def _wrap(text: str, room: int, list_room: int | None = None) -> list[str]:
    """The lines of a text, each broken where it is too long.

    Lines of a list are indented, may be as wide as `list_room`, and are indented further where they
    go on.
    """
    lines = []
    for line in map(visible, text.split("\n")):
        line = re.sub(r"\S+", lambda match: cut(match[0], room), line)
        indent = " " * (len(line) - len(line.lstrip()) + 2) if line.startswith(" ") else ""
        lines += textwrap.wrap(
            line,
            list_room or room if indent else min(room, _SENTENCE),
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return lines


def _lines(table: Table, gap: int, room: int) -> list[Line]:
    """A caption, and the blocks of columns that the table has room for."""
    table = make_presentable(table)
    caption = _wrap(table.caption, room) if table.caption else []
    lines: list[Line] = [[(line, _BOLD)] for line in caption]
    for number, block in enumerate(blocks(table, gap, room)):
        lines += [[]] if number else []
        lines += _block_lines(table, block)
    return lines


def _block_lines(table: Table, block: Block) -> list[Line]:
    """Names of groups over their columns, headings, a rule, and rows."""
    columns = [table.columns[place] for place in block.places]
    names = _group_line(columns, block)
    headings = [
        [line for part in heading(column) for line in fold(part, width)]
        for column, width in zip(columns, block.widths, strict=True)
    ]
    depth = max(max(map(len, headings), default=0), 2 if names.strip() else 1)
    lines: list[Line] = []
    for level in range(depth):
        words = [
            ([""] * (depth - len(heading_lines)) + heading_lines)[level]
            for heading_lines in headings
        ]
        [line] = _row([Cell(word) for word in words], columns, block)
        # Above the headings of groups there is room for their names.
        text = "".join(piece for piece, _ in line)
        lines.append([(text if level or not names.strip() else _overlay(text, names), "")])
    lines.append([("─" * block.width, "")])
    for number, section in enumerate(table.sections):
        lines += [[]] if number else []
        for row in section:
            lines += _row([row[place] for place in block.places], columns, block)
    return lines


def _group_line(columns: Sequence[Column], block: Block) -> str:
    """The names of groups in the middle over their columns."""
    line = ""
    at = 0
    for group, members in groupby(columns, key=lambda column: column.group):
        number = len(list(members))
        inside = sum(block.widths[at : at + number]) + block.gap * (number - 1)
        name = cut(group, inside)
        before = (inside - cell_len(name)) // 2
        line += " " * ((block.gap if at else 0) + before) + name
        line += " " * (inside - before - cell_len(name))
        at += number
    return line


def _overlay(first: str, second: str) -> str:
    """Two lines as one, where each is blank wherever the other is not."""
    pairs = zip_longest(first, second, fillvalue=" ")
    return "".join(
        first_character if first_character != " " else second_character
        for first_character, second_character in pairs
    )


def _row(cells: Sequence[Cell], columns: Sequence[Column], block: Block) -> list[Line]:
    """The lines of a row: one, or several where a cell is folded."""
    texts = [
        [cell.text] if column.numeric or column.unbroken else fold(cell.text, width)
        for cell, column, width in zip(cells, columns, block.widths, strict=True)
    ]
    rows: list[Line] = [[] for _ in range(max(map(len, texts), default=0))]
    for at, (cell, column, width, lines) in enumerate(
        zip(cells, columns, block.widths, texts, strict=True)
    ):
        for number, row in enumerate(rows):
            text = lines[number] if number < len(lines) else ""
            pad = " " * (width - cell_len(text))
            row.append((" " * (block.gap if at else 0) + (pad if column.numeric else ""), ""))
            row.append((text, _BOLD if cell.bold or cell.label else ""))
            row.append(("" if column.numeric else pad, ""))
    return rows
