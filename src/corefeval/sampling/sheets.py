"""Sheets: rows with questions for people, written as CSV or as a page, and read again."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from corefeval.checks import check_path
from corefeval.diagnostics import InputError, Notice, UsageError, excerpt, plural
from corefeval.display import Row as Cells
from corefeval.display import Tabular
from corefeval.files import write_file
from corefeval.formats.source import read_source
from corefeval.protocol import Protocol
from corefeval.sampling.frame import escape_cell, plain_cell

Mention = Hashable
MARK = "# corefeval sheet"
NO_MENTION, UNSURE, NONE = "-", "?", "none"
YES, NO = ("y", "yes", "1", "ja", "j", "oui", "o"), ("n", "no", "0", "nein", "non")
_NAMED = "row role of systems document id before mention after answer members"
COLUMNS = {
    design: tuple(columns.split())
    for design, columns in {
        "names": _NAMED,
        "entities": _NAMED,
        "pairs": "row systems document id partner before mention after "
        "partner_before partner_mention partner_after answer",
        "sentences": "row document sentence text mentions answer missed",
    }.items()
}
_HEAD = re.compile(
    r"design:(?P<design>[^|]*)\|n:(?P<n>\d{1,15})\|frame:(?P<frame>\d{1,15})\|seed:(?P<seed>\d{1,30})"
    r"\|key:frame\|responses:(?P<responses>[^|]*)\|digest:(?P<digest>[0-9a-f]{16})\|(?P<protocol>.*)"
)
_ID = re.compile(r"(\d{1,15})\.\.(\d{1,15})")


class Signature(NamedTuple):
    """What a sheet is of: its design, draws, frame, seed and responses, and the protocol."""

    design: str
    n: int
    frame: int
    seed: int
    responses: tuple[str, ...]
    digest: str
    protocol: Protocol

    def __str__(self) -> str:
        head = f"design:{self.design}|n:{self.n}|frame:{self.frame}|seed:{self.seed}|key:frame"
        head += f"|responses:{';'.join(self.responses)}|digest:{self.digest}|"
        return head + self.protocol.signature.replace("aggregate:micro|", "")


@dataclass(frozen=True)
class Row:
    """A question and its answer: `cells` are those of the sheet, by column.

    Mentions are spans `(start, end)`, the end exclusive, or the labels of plain Python.
    """

    cells: Mapping[str, str]
    line: int
    labels: Mapping[tuple[str, str], Mention]

    @property
    def row(self) -> int:
        """The number of the row, from 1."""
        return int(self.cells["row"])

    @property
    def document(self) -> str:
        """The id of the document."""
        return self.cells["document"]

    @property
    def mention(self) -> Mention | None:
        """The mention that is asked about; None for a sentence."""
        return self._mention("id")

    @property
    def text(self) -> str:
        """The text of the mention, or of the sentence."""
        return self.cells.get("mention", self.cells.get("text", ""))

    @property
    def role(self) -> str:
        """`draw`, or `companion` for one that is named beside a draw."""
        return self.cells.get("role", "draw")

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that the row counts for, where it does not count for all."""
        return tuple(filter(None, self.cells.get("systems", "").split(";")))

    @property
    def of(self) -> Mention | None:
        """The draw that a companion belongs to."""
        return self._mention("of")

    @property
    def partner(self) -> Mention | None:
        """The second mention of a pair."""
        return self._mention("partner")

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """The mentions of a sentence."""
        return self._list(self.cells.get("mentions", ""))

    @property
    def answer(self) -> Any:
        """A name, `-`, `?`, `y` or `n`; of a sentence wrong mentions and the number missed."""
        answer = unicodedata.normalize("NFC", self.cells["answer"])
        if "partner" in self.cells:
            return "y" if answer.lower() in YES else "n" if answer.lower() in NO else answer
        if "sentence" not in self.cells or answer in ("", UNSURE):
            return answer
        return self._list(answer), int(self.cells.get("missed") or 0)

    @property
    def members(self) -> tuple[Mention, ...] | None:
        """The other mentions of the entity; None where nobody has listed them yet."""
        members = self.cells.get("members", "")
        return self._list(members) if members else None

    @property
    def is_draw(self) -> bool:
        """Whether the row is no companion."""
        return self.role != "companion"

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer that says something."""
        return self.cells["answer"] not in ("", UNSURE)

    def _mention(self, column: str) -> Mention | None:
        mentions = self._list(self.cells.get(column, ""))
        return mentions[0] if mentions else None

    def _list(self, text: str) -> tuple[Mention, ...]:
        return tuple(
            self.labels.get((self.document, word), parse_id(word))
            for word in text.split()
            if word != NONE
        )

    def changed(self, **cells: str) -> Row:
        """The row with other cells."""
        return replace(self, cells={**self.cells, **cells})


def parse_id(text: str) -> Mention:
    """The span of an id, or its spans where it has several; other text as it is.

    >>> parse_id("3..5"), parse_id("3..5+7..8"), parse_id("m1")
    ((3, 5), ((3, 5), (7, 8)), 'm1')
    """
    parts = [_ID.fullmatch(part) for part in text.split("+")]
    spans = tuple((int(part[1]), int(part[2])) for part in parts if part)
    return text if len(spans) < len(parts) else spans if len(spans) > 1 else spans[0]


def name_mention(mention: Any) -> str:
    """The id of a span, or of several.

    >>> name_mention((3, 5)), name_mention(((3, 5), (7, 8)))
    ('3..5', '3..5+7..8')
    """
    if isinstance(mention, str):
        return mention
    parts = mention if isinstance(mention[0], tuple) else (mention,)
    return "+".join(f"{start}..{end}" for start, end in parts)


@dataclass(frozen=True, eq=False, repr=False)
class Sheet(Tabular):
    """Rows for people to answer, and the signature of what they are about.

    `frame` is there in a sheet that was drawn here, for its page; `file` in one that was read.
    """

    design_rows: tuple[Row, ...]
    instructions: tuple[str, ...]
    signature: Signature
    file: str | None = None
    notices: tuple[Notice, ...] = ()
    page: Callable[[Sheet], str] | None = None

    @property
    def design(self) -> str:
        """The design: names, entities, pairs or sentences."""
        return self.signature.design

    def __len__(self) -> int:
        return len(self.design_rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.design_rows)

    def __getitem__(self, index: int) -> Row:
        return self.design_rows[index]

    def __repr__(self) -> str:
        answers = sum(bool(row.cells["answer"]) for row in self)
        return f"<Sheet of {self.design}: {plural(len(self), 'row')}, {answers:,} answered>"

    def rows(self) -> list[Cells]:
        """The rows as they are written, by column."""
        return [{column: row.cells[column] for column in COLUMNS[self.design]} for row in self]

    @property
    def incomplete(self) -> list[Row]:
        """The rows that still need `members`, so that the size of their entity is known."""
        if self.design not in ("names", "entities"):
            return []
        names: dict[tuple[str, str], list[Row]] = {}
        for row in self:
            if row.is_draw and row.answer not in ("", NO_MENTION, UNSURE):
                names.setdefault((row.document, row.answer), []).append(row)
        return [
            rows[0]
            for rows in names.values()
            if (self.design == "entities" or len(rows) == 1)
            and all(row.members is None for row in rows)
        ]

    def fill(self, answer: Callable[[Row], Any]) -> Sheet:
        """The sheet with the answer that a function gives to each row, in a person's place."""
        rows = []
        for row in self:
            value = answer(row)
            cells = {"answer": str(value)}
            if self.design == "sentences" and value not in ("", UNSURE):
                cells = {"answer": self._list(row, value[0]), "missed": str(value[1])}
            rows.append(row.changed(**cells))
        return self._checked(rows)

    def complete(self, members: Callable[[Row], Iterable[Mention]]) -> Sheet:
        """The sheet with the other mentions of its entity for each row of `incomplete`."""
        lists = {row.row: self._list(row, members(row)) for row in self.incomplete}
        return self._checked(
            [row.changed(members=lists[row.row]) if row.row in lists else row for row in self]
        )

    def _list(self, row: Row, mentions: Iterable[Mention]) -> str:
        ids = {(place[0], label): place[1] for place, label in row.labels.items()}
        try:
            words = [ids.get((row.document, m)) or name_mention(m) for m in mentions]
        except (TypeError, IndexError, ValueError):
            raise UsageError(
                f"row {row.row}: mentions are spans such as (3, 5), or labels"
            ) from None
        return " ".join(words) or NONE

    def _checked(self, rows: Sequence[Row]) -> Sheet:
        sheet = replace(self, design_rows=tuple(rows))
        for row in rows:
            check_answer(sheet, row)
        return sheet

    @property
    def csv(self) -> str:
        """The sheet as CSV, without a byte order mark."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([MARK, str(self.signature)])
        writer.writerows([f"# {line}"] for line in self.instructions)
        writer.writerow(COLUMNS[self.design])
        writer.writerows(map(escape_cell, row.values()) for row in self.rows())
        return stream.getvalue()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the sheet: as a page for labelling where the path ends in .html, else as CSV."""
        text = check_path(path, "name the file to write")
        if text.lower().endswith((".html", ".htm")):
            if self.page is None:
                raise UsageError(
                    f"{text}: a page needs the texts: draw the sheet again (with answers=…), "
                    "or open the CSV in the page that it was drawn with"
                )
            write_file(text, self.page(self))
        else:
            write_file(text, f"\ufeff{self.csv}")

    def error(self, problem: str, row: Row | None = None, **details: str) -> InputError:
        """A mistake in the sheet; for a sheet that was not read from a file, with its row."""
        line = None if row is None or self.file is None else row.line
        where = "" if line is not None or row is None else f"row {row.row}: "
        return InputError(where + problem, file=self.file, line=line, **details)


_EXPECTED = {
    "names": "a name, - for no mention, or ?",
    "entities": "a name, - for no mention, or ?",
    "pairs": "y or n, - for no mention, or ?",
    "sentences": "ids of the row's mentions that are none, with blanks between them, none, or ?",
}


def check_answer(sheet: Sheet, row: Row) -> None:
    """Raise an InputError for an answer that is none of the design's."""
    answer, missed = row.cells["answer"], row.cells.get("missed", "")
    if missed and not re.fullmatch(r"\d{1,9}", missed):
        raise sheet.error(
            "missed is no number",
            row,
            found=excerpt(missed),
            expected="how many mentions are missing",
        )
    if not answer:
        return
    wrong = sheet.design == "pairs" and row.answer not in ("y", "n", NO_MENTION, UNSURE)
    if sheet.design == "sentences" and answer not in (UNSURE, NONE):
        wrong = not {*answer.split()} <= {*row.cells["mentions"].split()}
    if wrong or not row.cells["answer"].isprintable():
        raise sheet.error(
            "an answer that the sheet does not ask for", row, found=excerpt(answer),
            expected=_EXPECTED[sheet.design], fix="correct it, or write ? if nobody knows",
        )  # fmt: skip


def read_sheet(path: str | os.PathLike[str]) -> Sheet:
    """Read a sheet that `Sheet.write` or its page wrote, also after a spreadsheet saved it.

    Cells may be separated by commas, semicolons or tabs, and rows may be in any order or missing.
    """
    source = read_source(check_path(path, "name the sheet to read"))
    text = source.text
    head = re.match(rf'"?{MARK}"?([,;\t])', text)
    before = csv.field_size_limit(sys.maxsize)  # an entity may have many members
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=head[1] if head else ",")
        lines = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise source.error(f"this is no CSV: {error}", reader.line_num) from None
    finally:
        csv.field_size_limit(before)
    signature = _read_signature(lines[0][1][1] if head and len(lines[0][1]) > 1 else "", source)
    sheet = Sheet((), (), signature, source.file)
    instructions = [cells[0][1:].strip() for _, cells in lines[1:] if cells and cells[0][:1] == "#"]
    table = [line for line in lines[1:] if any(line[1]) and line[1][0][:1] != "#"]
    header = [cell.strip() for cell in table[0][1]] if table else []
    columns = COLUMNS[sheet.design]
    if missing := [column for column in columns if column not in header]:
        raise source.error(
            f"the column {missing[0]} is missing", table[0][0] if table else 1,
            found=excerpt(", ".join(header)), expected=", ".join(columns),
        )  # fmt: skip
    rows: dict[int, Row] = {}
    for line, cells in table[1:]:
        padded = [*cells, *[""] * (len(header) - len(cells))]
        values = {n: plain_cell(cell) for n, cell in zip(header, padded, strict=False)}
        row = Row({column: values[column] for column in columns}, line, {})
        if not re.fullmatch(r"\d{1,15}", values["row"]):
            raise source.error(
                "a row without its number", line, found=excerpt(values["row"]),
                expected="a number, as the sheet had when it was written",
            )  # fmt: skip
        if (twin := rows.setdefault(row.row, row)) is not row:
            raise source.error(
                f"two rows have the number {row.row}", line, found=f"also on line {twin.line}",
                expected="each row once", fix="remove one of the two",
            )  # fmt: skip
        check_answer(sheet, row)
    if not rows:
        raise source.error("a sheet without rows", fix="take the sheet as it was written")
    ordered = tuple(rows[number] for number in sorted(rows))
    return replace(sheet, design_rows=ordered, instructions=tuple(instructions))


def _read_signature(text: str, source: Any) -> Signature:
    match = _HEAD.fullmatch(plain_cell(text))
    if match is None:
        raise source.error(
            "this is no sheet: there is no signature", 1,
            expected=f"{MARK}, and in the next cell the signature that begins with design:",
            fix="keep the first line as `corefeval sample` wrote it",
        )  # fmt: skip
    if match["design"] not in COLUMNS:
        raise source.error(
            f"there is no design {excerpt(match['design'])}", 1, expected=", ".join(COLUMNS)
        )
    try:
        protocol = Protocol.parse(match["protocol"])
    except UsageError as error:
        raise source.error(str(error), 1, fix="restore the first line of the sheet") from None
    n, frame, seed = (int(match[name]) for name in ("n", "frame", "seed"))
    names = tuple(match["responses"].split(";"))
    return Signature(match["design"], n, frame, seed, names, match["digest"], protocol)
