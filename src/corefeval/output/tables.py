"""Tables, sheets of tables, and the drawings that make them of results, for every format."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from corefeval._version import __version__
from corefeval.checks import CROSS, check_choice, did_you_mean, split_list
from corefeval.diagnostics import UsageError
from corefeval.display import Row, columns_of, csv_text, json_text, shorten
from corefeval.results import Score

Width = Literal["column", "page"]

RATES = {"recall": "R", "precision": "P", "f1": "F1"}
MOST_DIGITS = 10
_DRAWN = ("text", "markdown", "latex")  # the formats that have tables


class Style(NamedTuple):
    """How tables are set, for a paper say; fields that are empty or None leave the usual form.

    `digits` are those behind the point of percentages, `rates` names of rates in the order of their
    columns. `caption` stands with the first table; `label` names it in LaTeX, where it then is a
    float that fits into a `width`: a column, or the page.
    """

    digits: int | None = None
    rates: tuple[str, ...] = ()
    caption: str = ""
    label: str = ""
    width: Width | None = None

    @classmethod
    def of(cls, format: str, wishes: Mapping[str, Any]) -> Style:
        """The style that options of `render` ask for; a UsageError says what cannot be had.

        >>> Style.of("latex", {"rates": "P, R, F1", "digits": 1}).rates
        ('precision', 'recall', 'f1')
        """
        chosen = {name: value for name, value in wishes.items() if value is not None}
        if chosen and format not in _DRAWN:
            raise UsageError(
                f"{next(iter(chosen))} is for tables, of text, Markdown or LaTeX: {format} has none"
            )
        for name in ("label", "width"):
            if name in chosen and format != "latex":
                raise UsageError(f"{name} is for LaTeX, not for {format}: add the format latex")
        digits, label = chosen.get("digits"), chosen.get("label", "")
        if digits is not None and not (type(digits) is int and 0 <= digits <= MOST_DIGITS):
            raise UsageError(f"digits must be from 0 to {MOST_DIGITS}, not {digits!r}")
        if not re.fullmatch(r"[\w:.+/-]*", label, re.ASCII):
            raise UsageError(f"a label has letters, digits and any of :.+/-_ in it, not {label!r}")
        check_choice("width", chosen.get("width", "page"), get_args(Width))
        rates = parse_rates(chosen["rates"]) if "rates" in chosen else ()
        return cls(**{**chosen, "rates": rates})


STYLE_OPTIONS = Style._fields
# The style in which tables are set now.
STYLE: ContextVar[Style] = ContextVar("style", default=Style())  # noqa: B039 (it is frozen)


def shown_rates() -> dict[str, str]:
    """The rates of a full table in their order, each with its heading."""
    return {rate: RATES[rate] for rate in STYLE.get().rates or RATES}


def parse_rates(
    text: str | Sequence[str], available: Collection[str] = tuple(RATES)
) -> tuple[str, ...]:
    """Names of rates from a list, or one with commas: whole names, or R, P, F1."""
    text = text if isinstance(text, str) else ",".join(map(str, text))
    names = {short.lower(): rate for rate, short in RATES.items()} | {"f": "f1"}
    rates = []
    for word in (part.strip() for part in text.split(",") if part.strip()):
        rate = names.get(word.lower(), word.lower())
        if rate not in available:
            raise UsageError(f"there is no rate {word!r} here: {did_you_mean(word, available)}")
        if rate in rates:
            raise UsageError(f"the rate {rate} appears twice")
        rates.append(rate)
    if text and not rates:
        raise UsageError("rates are any of recall, precision and f1, separated by commas")
    return tuple(rates)


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


Columns = Iterable[Column | str]  # of a table; plain text is the heading of a column of text
Cells = Sequence[Cell | str]  # of a row; plain text is a cell of that text


def table_of(columns: Columns, *sections: Iterable[Cells], caption: str = "") -> Table:
    """A table of columns and sections of rows, where plain text is a column or a cell of text."""
    return Table(
        tuple(Column(column) if isinstance(column, str) else column for column in columns),
        tuple(
            tuple(
                tuple(Cell(cell) if isinstance(cell, str) else cell for cell in row) for row in rows
            )
            for rows in sections
        ),
        caption,
    )


def number_columns(*headings: str, group: str = "") -> tuple[Column, ...]:
    """Columns of numbers with these headings."""
    return tuple(Column(heading, group, numeric=True) for heading in headings)


def row_label(text: str) -> Cell:
    """The cell that says what a row is about."""
    return Cell(text, label=True)


def titled_rows(title: Cell, rows: Iterable[Cells]) -> list[Cells]:
    """Rows with one more cell in front: the title in the first of them, and nothing below it."""
    below = title._replace(text="")
    return [(below if number else title, *row) for number, row in enumerate(rows)]


# Rows that belong together: their title, and the cells of each response.
Group = tuple[Cell, Iterable[tuple[str, Cells]]]


def response_table(
    columns: Columns, *stacks: Iterable[Group], several: bool, caption: str = ""
) -> Table:
    """A table of groups of rows, which have one column more where there are several responses.

    Of several responses each group is a section, which has its title once; of a single one all
    groups of a stack are a section.
    """
    heading, *further = columns
    sections: list[list[Cells]] = []
    for groups in stacks:
        titled = [
            titled_rows(title, ((name, *cells) if several else cells for name, cells in rows))
            for title, rows in groups
        ]
        sections += titled if several else [[row for section in titled for row in section]]
    names = ("Response",) if several else ()
    return table_of((heading, *names, *further), *filter(None, sections), caption=caption)


def name_sides(result: Any) -> str:
    """What was scored against what: the names of the response and the key of anything."""
    return f"{shorten(result.response)} against {shorten(result.key)}"


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
    digits = STYLE.get().digits
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
    wish = STYLE.get().digits
    digits = 1 if wish is None else wish
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"


@dataclass(frozen=True)
class Drawing:
    """Results of one type, drawn together; fields besides `results` are options of `render`.

    A type says what it is as a sheet (for text, Markdown and LaTeX), as rows (for CSV) and as a
    record (for JSON). Here all three are made of its rows, which serves types without a drawing of
    their own.
    """

    results: Sequence[Any]

    formats: ClassVar[tuple[str, ...]] = ("text", "json", "csv", "markdown", "latex")
    has_rates: ClassVar[bool] = False  # whether a style may choose rates, and their order

    def sheet(self, format: str) -> Sheet:
        """Tables and sentences."""
        rows = self.rows()
        names = columns_of(rows)
        first, *following = names
        cells = [[_show_value(row.get(name)) for name in names] for row in rows]
        return Sheet((table_of((first, *number_columns(*following)), cells),))

    def rows(self) -> list[Row]:
        """The rows of all results."""
        return [row for result in self.results for row in self.list_rows(result)]

    def list_rows(self, result: Any) -> list[Row]:
        """The rows of one result."""
        rows: list[Row] = result.rows()
        return rows

    def record(self) -> object:
        """Everything that JSON has: here the rows."""
        return self.rows()

    def draw_form(self, format: str) -> str:
        """The results in a format that only this type has."""
        raise NotImplementedError

    def draw(self, format: str, color: bool) -> str:
        """The results as text in a format."""
        if format not in Drawing.formats:
            return self.draw_form(format)
        if format == "json":
            return json_text(self.record())
        if format == "csv":
            rows = self.rows()
            names = columns_of(rows)
            return csv_text(names, ([row.get(name) for name in names] for row in rows))
        sheet = self.sheet(format)
        if format == "latex":
            from corefeval.output.forms import draw_latex

            return draw_latex(sheet)
        if caption := STYLE.get().caption:
            parts = list(sheet.parts)
            for place, part in enumerate(parts):
                if isinstance(part, Table):  # the first has it, before its own
                    captions = filter(None, (caption, part.caption))
                    parts[place] = part._replace(caption=" – ".join(captions))
                    break
            sheet = sheet._replace(parts=tuple(parts))
        if format == "markdown":
            from corefeval.output.forms import draw_markdown

            return draw_markdown(sheet)
        from corefeval.output.terminal import draw_text

        return draw_text(sheet, color=color)


class SoloDrawing(Drawing):
    """Results that each have tables of their own, which stand below each other."""

    def sheet_of(self, result: Any, format: str) -> Sheet:
        """The tables and sentences of one result."""
        raise NotImplementedError

    def record_of(self, result: Any) -> object:
        """Everything that JSON has of one result."""
        return {"corefeval": __version__, **result.as_dict()}

    def sheet(self, format: str) -> Sheet:
        """The sheets of all results, joined."""
        sheets = [self.sheet_of(result, format) for result in self.results]
        return sheets[0]._replace(
            parts=tuple(part for sheet in sheets for part in sheet.parts),
            about=tuple(line for sheet in sheets for line in sheet.about),
            signatures=tuple(dict.fromkeys(line for sheet in sheets for line in sheet.signatures)),
        )

    def record(self) -> object:
        """The record of a single result, or a list of the records of several."""
        records = [self.record_of(result) for result in self.results]
        return records[0] if len(records) == 1 else records


@dataclass(frozen=True)
class NotedDrawing(SoloDrawing):
    """Results that each have tables of their own, and notices, which JSON has too."""

    def record_of(self, result: Any) -> object:
        """Everything that JSON has of one result, and its notices."""
        notices = [notice.as_dict() for notice in result.notices]
        return {"corefeval": __version__, **result.as_dict(), "notices": notices}


def _show_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else str(value)
