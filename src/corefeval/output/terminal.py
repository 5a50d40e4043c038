"""Sheets drawn for a terminal.

Tables fit into its width by narrower gaps, folded text, and blocks of columns below each other.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, zip_longest
from typing import NamedTuple

from corefeval.display import shorten, visible
from corefeval.output.tables import RAISED, Cell, Column, Sheet, Table

_PLAIN = {"─": "-", "³": "3", "φ": "phi", "–": "-", "−": "-", "τ": "tau", "≤": "<=", "±": "+-"}
_PLAIN |= {"α": "alpha", "→": "->", "…": "...", "’": "'", "‘": "'"}
_PLAIN |= {raised: letter for letter, raised in RAISED.items()}
_WIDE = 10_000  # so that lines stay as they are
_BOLD, _DIM, _PLAIN_AGAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_USUAL, _LEAST = 120, 40  # columns: where nobody says how many there are, and at least
_SENTENCE = 96  # longer lines are hard to read
_NARROW_GAP = 2
_LEAST_TEXT = 12  # text is not folded more narrowly
_WORD = 24  # and words up to this width stay whole
_LABELS = 3  # columns that may have to be repeated in each block
_MOST_TEXT = 80  # nor wider
# Latin letters and signs that always take one column, and what our own tables have beside them.
_NARROW = re.compile("[ -~¡-¬®-˿φ–−]*")


def draw_text(sheet: Sheet, *, color: bool = False, most: int = _USUAL) -> str:
    """Tables and sentences one below the other, and a footer that does not stand out.

    Sentences that follow each other stand together. Everything but signatures fits into the
    terminal (or into COLUMNS, or `most` columns, if there is none), and nothing in it but our own
    colours acts on the terminal. Signs that the terminal lacks are spelled out.
    """
    columns = _terminal_width()
    room = max(columns or most, _LEAST)
    list_room = room if columns else _WIDE  # lines of a list stay whole for programs such as grep
    lines: list[str] = []
    for is_text, members in groupby(sheet.parts, key=lambda part: isinstance(part, str)):
        for part in members:
            if isinstance(part, str):
                lines += _wrap(part, room, list_room)
            else:
                lines += [*_table_lines(part, sheet.gap, room), ""]
        lines += [""] if is_text else []
    about = [line for text in sheet.about for line in _wrap(text, room)]
    # A signature is to be copied, so that it stays on one line.
    footer = (*about, *map(visible, sheet.signatures))
    lines += [f"{_DIM}{line}{_PLAIN_AGAIN}" for line in footer if line]
    text = "\n".join(lines)
    if not color or os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
        text = re.sub("\x1b\\[[012]m", "", text)
    text = "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeError:
        for sign, plain in _PLAIN.items():
            text = text.replace(sign, plain)
    return text


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


def _wrap(text: str, room: int, list_room: int | None = None) -> list[str]:
    """The lines of a text, each broken where it is too long.

    Lines of a list are indented, may be as wide as `list_room`, and are indented further where they
    go on.
    """
    lines = []
    for line in map(visible, text.split("\n")):
        line = re.sub(r"\S+", lambda match: _cut_word(match[0], room), line)
        indent = " " * (len(line) - len(line.lstrip()) + 2) if line.startswith(" ") else ""
        lines += textwrap.wrap(
            line,
            list_room or room if indent else min(room, _SENTENCE),
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return lines


def _table_lines(table: Table, gap: int, room: int) -> list[str]:
    """A caption, and the blocks of columns that the table has room for.

    All text is visible, on one line, and cut where it is very long.
    """
    columns = tuple(
        column._replace(heading=_make_plain(column.heading), group=_make_plain(column.group))
        for column in table.columns
    )
    sections = tuple(
        tuple(tuple(cell._replace(text=_make_plain(cell.text)) for cell in row) for row in section)
        for section in table.sections
    )
    caption = _wrap(visible(table.caption), room) if table.caption else []
    lines = [f"{_BOLD}{line}{_PLAIN_AGAIN}" for line in caption]
    table = Table(columns, sections)
    for number, block in enumerate(_make_blocks(table, gap, room)):
        lines += [""] if number else []
        lines += _block_lines(table, block)
    return lines


def _make_plain(text: str) -> str:
    return shorten(visible(text), 2 * _MOST_TEXT)


def _block_lines(table: Table, block: Block) -> list[str]:
    """Names of groups over their columns, headings, a rule, and rows."""
    columns = [table.columns[place] for place in block.places]
    names = _group_line(columns, block) if any(column.group for column in columns) else ""
    headings = [
        [line for part in _heading_lines(column) for line in _fold_text(part, width)]
        for column, width in zip(columns, block.widths, strict=True)
    ]
    depth = max(max(map(len, headings), default=0), 2 if names else 1)
    lines: list[str] = []
    for level in range(depth):
        words = [
            ([""] * (depth - len(heading_lines)) + heading_lines)[level]
            for heading_lines in headings
        ]
        [line] = _row_lines([Cell(word) for word in words], columns, block)
        # Above the headings of groups there is room for their names.
        lines.append(line if level or not names else _join_lines(line, names))
    lines.append("─" * block.width)
    for number, section in enumerate(table.sections):
        lines += [""] if number else []
        for row in section:
            lines += _row_lines([row[place] for place in block.places], columns, block)
    return lines


def _group_line(columns: Sequence[Column], block: Block) -> str:
    """The names of groups in the middle over their columns."""
    names = []
    at = 0
    for group, members in groupby(columns, key=lambda column: column.group):
        number = len(list(members))
        inside = sum(block.widths[at : at + number]) + block.gap * (number - 1)
        name = _cut_word(group, inside)
        before = (inside - _measure_text(name)) // 2
        names.append(" " * before + name + " " * (inside - before - _measure_text(name)))
        at += number
    return (" " * block.gap).join(names)


def _join_lines(first: str, second: str) -> str:
    """Two lines as one, where each is blank wherever the other is not."""
    pairs = zip_longest(first, second, fillvalue=" ")
    return "".join(above if above != " " else below for above, below in pairs)


def _row_lines(cells: Sequence[Cell], columns: Sequence[Column], block: Block) -> list[str]:
    """The lines of a row: one, or several where a cell is folded."""
    texts = [
        [cell.text] if column.numeric or column.unbroken else _fold_text(cell.text, width)
        for cell, column, width in zip(cells, columns, block.widths, strict=True)
    ]
    lines = []
    for pieces in zip_longest(*texts, fillvalue=""):
        padded = []
        for text, cell, column, width in zip(pieces, cells, columns, block.widths, strict=True):
            pad = " " * (width - _measure_text(text))
            if text and (cell.bold or cell.label):
                text = f"{_BOLD}{text}{_PLAIN_AGAIN}"
            padded.append(pad + text if column.numeric else text + pad)
        lines.append((" " * block.gap).join(padded))
    return lines


class Block(NamedTuple):
    """Columns that stand side by side: their places in the table, their widths, the gap."""

    places: tuple[int, ...]
    widths: tuple[int, ...]
    gap: int

    @property
    def width(self) -> int:
        """The width of a row."""
        return sum(self.widths) + self.gap * (len(self.widths) - 1)


def _measure_text(text: str) -> int:
    """How many columns of a terminal a visible text takes; rich is imported only if need be.

    >>> _measure_text("B³"), _measure_text("日本")
    (2, 4)
    """
    if text.isascii() or _NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len as measure

    return measure(text)


def _make_blocks(table: Table, gap: int, room: int) -> list[Block]:
    """Blocks of columns that fit into `room`, as few as possible.

    Columns that name the rows are in each block, and groups of columns stay together if they have
    room. Only a single cell that is wider than `room`, a very long name or a number, makes
    a block too wide.
    """
    widest, least = _measure_widths(table)
    everything = tuple(range(len(table.columns)))
    for spacing in (gap, min(gap, _NARROW_GAP)):
        full_block = _make_block(table, everything, widest, spacing)
        if full_block.width <= room:
            return [full_block]
    gap = min(gap, _NARROW_GAP)
    if _make_block(table, everything, least, gap).width <= room:
        return [_narrow_block(table, everything, widest, least, gap, room)]
    return _split_table(table, widest, least, gap, room)


def _split_table(
    table: Table, widest: Sequence[int], least: Sequence[int], gap: int, room: int
) -> list[Block]:
    """Blocks one below the other, each with the columns that name the rows."""
    labels = _label_places(table.columns)
    while labels and sum(least[at] + gap for at in labels) + max(least[len(labels) :]) > room:
        labels = labels[:-1]  # so that any other column fits beside them
    together = [places for places in _group_places(table.columns) if places[0] not in labels]
    groups = [
        part
        for group in together
        for part in (
            [group]
            if _make_block(table, (*labels, *group), least, gap).width <= room
            else _split_group(table.columns, group)
        )
    ]
    widest_group = max(_make_block(table, group, least, gap).width for group in groups)
    label_block = _narrow_block(
        table, labels, widest, least, gap, min(3 * room // 5, room - gap - widest_group)
    )
    widths = list(widest)
    for place, width in zip(label_block.places, label_block.widths, strict=True):
        widths[place] = width
    remaining = room - label_block.width - gap
    for place in set(range(len(widths))) - set(labels):
        widths[place] = min(widths[place], max(least[place], remaining))

    def fill(limit: int) -> list[Block]:
        groupings: list[tuple[int, ...]] = []
        for group in groups:
            extended = (*groupings[-1], *group) if groupings else ()
            if extended and _make_block(table, (*labels, *extended), widths, gap).width <= limit:
                groupings[-1] = extended
            else:
                groupings.append(group)
        return [_make_block(table, (*labels, *places), widths, gap) for places in groupings]

    full = fill(room)
    for limit in range(room - 1, 0, -1):  # blocks of about the same width look better
        even = fill(limit)
        if len(even) > len(full) or max(block.width for block in even) > limit:
            break
        full = even
    return full


def _label_places(columns: Sequence[Column]) -> tuple[int, ...]:
    """The columns that name the rows: those of text at the beginning."""
    first_other = next(
        (place for place, column in enumerate(columns) if column.numeric or column.unbroken),
        len(columns),
    )
    return tuple(range(min(first_other, _LABELS, len(columns) - 1)))


def _group_places(columns: Sequence[Column]) -> Iterator[tuple[int, ...]]:
    """Columns that stay together: those of a group, and close ones with those before them."""
    for _, members in groupby(enumerate(columns), key=lambda pair: pair[1].group or pair[0]):
        yield tuple(place for place, _ in members)


def _split_group(columns: Sequence[Column], group: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The columns of a group that is too wide, one by one, close ones with those before them."""
    starts = [at for at, place in enumerate(group) if not (at and columns[place].close)]
    for start, end in pairwise((*starts, len(group))):
        yield tuple(group[start:end])


def _measure_widths(table: Table) -> tuple[list[int], list[int]]:
    """How wide each column is at most and at least."""
    rows = [row for section in table.sections for row in section]
    widest, least = [], []
    for place, column in enumerate(table.columns):
        title = max(map(_measure_text, _heading_lines(column)), default=0)
        cells = max((_measure_text(row[place].text) for row in rows), default=0)
        texts = [column.heading]
        if column.numeric or column.unbroken:
            solid = cells
        else:
            solid = min(cells, _LEAST_TEXT)
            texts += [row[place].text for row in rows]
        word = max((_measure_text(word) for text in texts for word in text.split()), default=0)
        widest.append(max(solid, min(max(title, cells), _MOST_TEXT)))
        least.append(min(widest[-1], max(solid, min(word, _WORD))))
    return widest, least


def _make_block(table: Table, places: Sequence[int], widths: Sequence[int], gap: int) -> Block:
    """A block; columns grow where the name of their group is longer."""
    block_widths = [widths[place] for place in places]
    at = 0
    for group, members in groupby(places, key=lambda place: table.columns[place].group):
        number = len(list(members))
        inside = sum(block_widths[at : at + number]) + gap * (number - 1)
        block_widths[at + number - 1] += max(min(_measure_text(group), _MOST_TEXT) - inside, 0)
        at += number
    return Block(tuple(places), tuple(block_widths), gap)


def _narrow_block(
    table: Table,
    places: Sequence[int],
    widest: Sequence[int],
    least: Sequence[int],
    gap: int,
    room: int,
) -> Block:
    """The block with its widest columns as narrow as need be, and no narrower than they may be."""
    widths = list(widest)
    while (block := _make_block(table, places, widths, gap)).width > room:
        spare = [place for place in places if widths[place] > least[place]]
        if not spare:
            break
        widths[max(spare, key=widths.__getitem__)] -= 1
    return block


def _heading_lines(column: Column) -> list[str]:
    """The lines of a heading: long names over two, so that numbers need not stand far apart."""
    if column.numeric and not column.group and not column.heading.endswith("% CI"):
        return column.heading.split(" ", 1)
    return [column.heading]


def _fold_text(text: str, width: int) -> list[str]:
    """The lines of a text in a column: cut between words, and a longer word in its middle.

    >>> _fold_text("not worse when mentions are removed", 16)
    ['not worse when', 'mentions are', 'removed']
    >>> _fold_text("a-long-name.conll", 9)
    ['a-lo…onll']
    """
    if _measure_text(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip(" "))][: width // 2]
    lines: list[str] = []
    for word in text.split():
        word = _cut_word(word, width - len(indent))
        if lines and _measure_text(lines[-1]) + 1 + _measure_text(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word)
    return lines


def _cut_word(word: str, width: int) -> str:
    """The beginning and the end of a text that is wider than its column."""
    if _measure_text(word) <= width:
        return word
    from rich.cells import set_cell_size

    end = max(width - 1, 0) // 2
    tail = set_cell_size(word[::-1], end)[::-1].strip()
    return f"{set_cell_size(word, max(width - 1 - end, 0)).strip()}…{tail}"
