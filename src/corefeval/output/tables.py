"""Tables as rows of cells, and sheets of tables, which each format draws in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from corefeval.output.style import current_style
from corefeval.results import Score
from corefeval.syntax import CROSS, split_list

# Small raised letters, as far as there are any.
RAISED = dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))


class Column(NamedTuple):
    """A column: its heading, the group that it stands in, whether it holds numbers.

    One that is `close` belongs to the column before it, and stands nearer to it where that can be.
    Cells of a column that is `unbroken`, or holds numbers, are never cut or folded.
    """

    heading: str
    group: str = ""
    numeric: bool = False
    close: bool = False
    unbroken: bool = False


class Cell(NamedTuple):
    """A cell of text; what stands out is bold. `mark` is set high behind the text.

    A `label` says what a row is about; a terminal shows it bold, too.
    """

    text: str
    bold: bool = False
    mark: str = ""
    label: bool = False


class Table(NamedTuple):
    """Columns, and sections of rows with a little space between them."""

    columns: tuple[Column, ...]
    sections: tuple[tuple[tuple[Cell, ...], ...], ...]
    caption: str = ""


class Sheet(NamedTuple):
    """Tables and sentences below each other, lines on what they are of, and signatures.

    `gap` is the number of blanks between columns in a terminal. With a `label` LaTeX sets tables as
    floats, which have the `caption`, if the style has none, and the sentences behind them as
    captions.
    """

    parts: tuple[Table | str, ...]
    about: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    gap: int = 3
    label: str = ""
    caption: str = ""

    def with_caption(self, caption: str) -> Sheet:
        """The sheet with a caption for its first table, put before the one that it has."""
        place = next((n for n, part in enumerate(self.parts) if isinstance(part, Table)), None)
        if not caption or place is None:
            return self
        table = cast("Table", self.parts[place])
        full_caption = f"{caption} – {table.caption}" if table.caption else caption
        parts = (
            *self.parts[:place],
            table._replace(caption=full_caption),
            *self.parts[place + 1 :],
        )
        return self._replace(parts=parts)


def table_of(headings: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "") -> Table:
    """A table of plain text: what the first column names, and numbers behind it."""
    first, *number_headings = headings
    columns = (Column(first), *(Column(heading, numeric=True) for heading in number_headings))
    return Table(columns, (tuple(tuple(map(Cell, row)) for row in rows),), caption)


def label_columns(heading: str, several: bool) -> list[Column]:
    """The columns that name the rows: what they are of, and of `several` responses which one."""
    return [Column(heading), *([Column("Response")] if several else [])]


def stack_rows(
    groups: Iterable[tuple[str, Iterable[tuple[str, Sequence[Cell]]]]],
    several: bool,
    *,
    label: bool = True,
) -> list[tuple[tuple[Cell, ...], ...]]:
    """Sections of rows behind `label_columns`: groups are a name and, by response, its cells.

    Of several responses each group is a section, which has its name once; the rows of one response
    are all in one.
    """
    sections = []
    for name, members in groups:
        rows: list[tuple[Cell, ...]] = []
        for response, cells in members:
            response_cell = (Cell(response),) if several else ()
            rows.append((Cell("" if rows else name, label=label), *response_cell, *cells))
        sections.append(tuple(rows))
    return sections if several else [tuple(row for section in sections for row in section)]


def feature_heading(feature: str) -> str:
    """The heading of a feature's values: its name without arguments.

    >>> feature_heading("entity_class(vote)*genre")
    'Entity class*genre'
    """
    names = (part.partition("(")[0] for part in split_list(feature, CROSS))
    return CROSS.join(names).replace("_", " ").capitalize()


def percent(value: float | None, rounding: str = "none") -> str:
    """A rate as a percentage, rounded as a protocol's `rounding` says.

    It has the digits that the style asks for, or else those of the rounding, or else two.

    >>> percent(2 / 3), percent(None), percent(2 / 3, "truncate(2)"), percent(2 / 3, "round(1)")
    ('66.67', '', '66.66', '66.7')
    """
    if value is None or value != value:
        return "" if value is None else "nan"
    word, _, decimals = rounding.rstrip(")").partition("(")
    digits = current_style().digits
    digits = int(decimals or 2) if digits is None else digits
    if word == "truncate":
        scale = 10**digits
        return f"{int(100 * scale * value) / scale:.{digits}f}"
    return f"{100 * value:.{digits}f}"


def interval(score: Score, rate: str = "f1") -> str:
    """The interval of a rate in percent, with the digits of the style, or else one.

    It is empty for a rate without an interval.

    >>> interval(Score("muc", {"f1": 0.74}, intervals={"f1": (0.7093, 0.7728)}))
    '70.9–77.3'
    """
    if rate not in score.intervals:
        return ""
    low, high = score.intervals[rate]
    wish = current_style().digits
    digits = 1 if wish is None else wish
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"
