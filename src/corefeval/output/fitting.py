"""How tables fit into a width: narrower gaps, folded text, blocks of columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from corefeval.display import shorten, visible
from corefeval.output.tables import Cell, Column, Table

_NARROW_GAP = 2
_LEAST = 12  # text is not folded more narrowly
_WORD = 24  # and words up to this width stay whole
_LABELS = 3  # columns that may have to be repeated in each block
_MOST = 80  # nor wider
# Latin letters and signs that always take one column, and what our own tables have beside them.
_NARROW = re.compile("[ -~¡-¬®-˿φ–−]*")


class Block(NamedTuple):
    """Columns that stand side by side: their places in the table, their widths, the gap."""

    places: tuple[int, ...]
    widths: tuple[int, ...]
    gap: int

    @property
    def width(self) -> int:
        """The width of a row."""
        return sum(self.widths) + self.gap * (len(self.widths) - 1)


def cell_len(text: str) -> int:
    """How many columns of a terminal a visible text takes; rich is imported only if need be.

    >>> cell_len("B³"), cell_len("日本")
    (2, 4)
    """
    if text.isascii() or _NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len as measure

    return measure(text)


def make_presentable(table: Table) -> Table:
    """The table with all text visible, on one line, and cut where it is very long."""
    return Table(
        tuple(
            Column(
                _plain(column.heading),
                _plain(column.group),
                numeric=column.numeric,
                close=column.close,
                unbroken=column.unbroken,
            )
            for column in table.columns
        ),
        tuple(
            tuple(
                tuple(Cell(_plain(cell.text), cell.bold, cell.mark, cell.label) for cell in row)
                for row in section
            )
            for section in table.sections
        ),
        visible(table.caption),
    )


def _plain(text: str) -> str:
    return shorten(visible(text), 2 * _MOST)


def blocks(table: Table, gap: int, room: int) -> list[Block]:
    """Blocks of columns that fit into `room`, as few as possible.

    Columns that name the rows are in each block, and groups of columns stay together if they have
    room. Only a single cell that is wider than `room`, a very long name or a number, makes
    a block too wide.
    """
    widest, least = _widths(table)
    everything = tuple(range(len(table.columns)))
    for spacing in (gap, min(gap, _NARROW_GAP)):
        full_block = _block(table, everything, widest, spacing)
        if full_block.width <= room:
            return [full_block]
    gap = min(gap, _NARROW_GAP)
    if _block(table, everything, least, gap).width <= room:
        return [_narrow(table, everything, widest, least, gap, room)]
    return _split(table, widest, least, gap, room)


def _split(
    table: Table, widest: Sequence[int], least: Sequence[int], gap: int, room: int
) -> list[Block]:
    labels = _labels(table.columns)
    while labels and not _has_room(labels, least, gap, room):
        labels = labels[:-1]
    together = [places for places in _groups(table.columns) if places[0] not in labels]
    together = [tuple(place for place in places if place not in labels) for places in together]
    groups = [
        part
        for group in together
        for part in (
            [group]
            if _block(table, (*labels, *group), least, gap).width <= room
            else _apart(table.columns, group)
        )
    ]
    widest_group = max(_block(table, group, least, gap).width for group in groups)
    label_block = _narrow(
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
            if extended and _block(table, (*labels, *extended), widths, gap).width <= limit:
                groupings[-1] = extended
            else:
                groupings.append(group)
        return [_block(table, (*labels, *places), widths, gap) for places in groupings]

    full = fill(room)
    for limit in range(room - 1, 0, -1):  # blocks of about the same width look better
        even = fill(limit)
        if len(even) > len(full) or max(block.width for block in even) > limit:
            break
        full = even
    return full


def _has_room(labels: Sequence[int], least: Sequence[int], gap: int, room: int) -> bool:
    """Whether any other column fits beside the labels."""
    other_widths = [width for place, width in enumerate(least) if place not in labels]
    return sum(least[place] + gap for place in labels) + max(other_widths, default=0) <= room


def _labels(columns: Sequence[Column]) -> tuple[int, ...]:
    """The columns that name the rows: those of text at the beginning."""
    first_other = next(
        (place for place, column in enumerate(columns) if column.numeric or column.unbroken),
        len(columns),
    )
    return tuple(range(min(first_other, _LABELS, len(columns) - 1)))


def _groups(columns: Sequence[Column]) -> Iterator[tuple[int, ...]]:
    """Columns that stay together: those of a group, and close ones with those before them."""
    for _, members in groupby(enumerate(columns), key=lambda pair: pair[1].group or pair[0]):
        yield tuple(place for place, _ in members)


def _apart(columns: Sequence[Column], group: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The columns of a group that is too wide, one by one, close ones with those before them."""
    starts = [at for at, place in enumerate(group) if not (at and columns[place].close)]
    for start, end in pairwise((*starts, len(group))):
        yield tuple(group[start:end])


def _widths(table: Table) -> tuple[list[int], list[int]]:
    """How wide each column is at most and at least."""
    rows = [row for section in table.sections for row in section]
    widest, least = [], []
    for place, column in enumerate(table.columns):
        title = max(map(cell_len, heading(column)), default=0)
        cells = max((cell_len(row[place].text) for row in rows), default=0)
        texts = [column.heading]
        if column.numeric or column.unbroken:
            solid = cells
        else:
            solid = min(cells, _LEAST)
            texts += [row[place].text for row in rows]
        word = max((cell_len(word) for text in texts for word in text.split()), default=0)
        widest.append(max(solid, min(max(title, cells), _MOST)))
        least.append(min(widest[-1], max(solid, min(word, _WORD))))
    return widest, least


def _block(table: Table, places: Sequence[int], widths: Sequence[int], gap: int) -> Block:
    """A block; columns grow where the name of their group is longer."""
    block_widths = [widths[place] for place in places]
    at = 0
    for group, members in groupby(places, key=lambda place: table.columns[place].group):
        number = len(list(members))
        inside = sum(block_widths[at : at + number]) + gap * (number - 1)
        block_widths[at + number - 1] += max(min(cell_len(group), _MOST) - inside, 0)
        at += number
    return Block(tuple(places), tuple(block_widths), gap)


def _narrow(
    table: Table,
    places: Sequence[int],
    widest: Sequence[int],
    least: Sequence[int],
    gap: int,
    room: int,
) -> Block:
    """The block with its widest columns as narrow as need be, and no narrower than they may be."""
    widths = list(widest)
    while (block := _block(table, places, widths, gap)).width > room:
        spare = [place for place in places if widths[place] > least[place]]
        if not spare:
            break
        widths[max(spare, key=widths.__getitem__)] -= 1
    return block


def heading(column: Column) -> list[str]:
    """The lines of a heading: long names over two, so that numbers need not stand far apart."""
    if column.numeric and not column.group and not column.heading.endswith("% CI"):
        return column.heading.split(" ", 1)
    return [column.heading]


def fold(text: str, width: int) -> list[str]:
    """The lines of a text in a column: cut between words, and a longer word in its middle.

    >>> fold("not worse when mentions are removed", 16)
    ['not worse when', 'mentions are', 'removed']
    >>> fold("a-long-name.conll", 9)
    ['a-lo…onll']
    """
    if cell_len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip(" "))][: width // 2]
    lines: list[str] = []
    for word in text.split():
        word = cut(word, width - len(indent))
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word)
    return lines


def cut(word: str, width: int) -> str:
    """The beginning and the end of a text that is wider than its column."""
    if cell_len(word) <= width:
        return word
    from rich.cells import set_cell_size

    end = max(width - 1, 0) // 2
    tail = set_cell_size(word[::-1], end)[::-1].strip()
    return f"{set_cell_size(word, max(width - 1 - end, 0)).strip()}…{tail}"
