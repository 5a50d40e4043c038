"""Sheets: rows with questions for people, written as CSV or as a page, and read again."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

from corefeval.checks import check_path
from corefeval.diagnostics import InputError, Notice, UsageError, excerpt, plural
from corefeval.display import Row as Cells
from corefeval.display import Tabular
from corefeval.files import write_file
from corefeval.formats.source import Source, read_source
from corefeval.protocol import Protocol
from corefeval.sampling.frame import escape_cell, name_mention, plain_cell

Name = tuple[str, str]  # a document, and what a person calls an entity of it
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
_EXPECTED = {
    "names": "a name, - for no mention, or ?",
    "pairs": "y or n, - for no mention, or ?",
    "sentences": "ids of the row's mentions that are none, with blanks between them, none, or ?",
}
_HEAD = re.compile(
    r"design:([^|]*)\|n:(\d{1,15})\|frame:(\d{1,15})\|seed:(\d{1,30})\|key:frame"
    r"\|responses:([^|]*)\|digest:([0-9a-f]{16})\|(.*)"
)
_ID = r"\d{1,15}\.\.\d{1,15}(\+\d{1,15}\.\.\d{1,15})*"


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
    """A question and its answer; `cells` are those of the sheet, by column.

    Mentions are spans `(start, end)`, the end exclusive, or the labels of plain Python. `role` is
    `draw`, or `companion` for one that is named beside the draw `of`; `systems` are those that the
    row counts for, where it does not count for all. An answer is a name, `-`, `?`, `y` or `n`, and
    of a sentence wrong mentions and the number missed. `members` are the other mentions of the
    entity, None where nobody has listed them yet.
    """

    cells: Mapping[str, str]
    line: int
    labels: Mapping[tuple[str, str], Mention]
    row: int
    document: str
    mention: Mention | None
    text: str
    role: str
    systems: tuple[str, ...]
    of: Mention | None
    partner: Mention | None
    mentions: tuple[Mention, ...]
    answer: Any
    members: tuple[Mention, ...] | None

    @property
    def is_draw(self) -> bool:
        """Whether the row is no companion."""
        return self.role != "companion"

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer that says something."""
        return self.answer not in ("", UNSURE)

    @property
    def name(self) -> Name | None:
        """The document, and what a person calls the entity; None where it is no mention."""
        is_named = self.is_answered and self.answer != NO_MENTION
        return (self.document, self.answer) if is_named else None

    def changed(self, **cells: str) -> Row:
        """The row with other cells."""
        return make_row({**self.cells, **cells}, self.line, self.labels)


def make_row(cells: Mapping[str, str], line: int, labels: Mapping[tuple[str, str], Mention]) -> Row:
    """The row of some cells; `labels` has the mentions of plain Python by document and id."""

    def parse(column: str) -> tuple[Mention, ...]:
        ids = list_words(cells.get(column, ""))
        return tuple(labels.get((cells["document"], word), parse_id(word)) for word in ids)

    answer: Any = unicodedata.normalize("NFC", cells["answer"])
    if "partner" in cells:
        answer = "y" if answer.lower() in YES else "n" if answer.lower() in NO else answer
    elif "sentence" in cells and answer not in ("", UNSURE):
        missed = cells["missed"]
        answer = parse("answer"), int(missed) if missed.isdecimal() else 0
    return Row(
        cells,
        line,
        labels,
        int(cells["row"]),
        cells["document"],
        mention=next(iter(parse("id")), None),
        text=cells.get("mention", cells.get("text", "")),
        role=cells.get("role", "draw"),
        systems=tuple(filter(None, cells.get("systems", "").split(";"))),
        of=next(iter(parse("of")), None),
        partner=next(iter(parse("partner")), None),
        mentions=parse("mentions"),
        answer=answer,
        members=parse("members") if cells.get("members") else None,
    )


def list_words(text: str) -> list[str]:
    """The ids in a cell, which may say that there are none."""
    return [word for word in text.split() if word != NONE]


def parse_id(text: str) -> Mention:
    """The span of an id, or its spans where it has several; other text as it is.

    >>> parse_id("3..5"), parse_id("3..5+7..8"), parse_id("m1")
    ((3, 5), ((3, 5), (7, 8)), 'm1')
    """
    if not re.fullmatch(_ID, text):
        return text
    spans = tuple(tuple(map(int, part.split(".."))) for part in text.split("+"))
    return spans if len(spans) > 1 else spans[0]


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
        names: dict[Name, list[Row]] = {}
        for row in self:
            if row.name and row.is_draw and "members" in row.cells:
                names.setdefault(row.name, []).append(row)
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
            rows.append(self.check(row.changed(**cells)))
        return replace(self, design_rows=tuple(rows))

    def complete(self, members: Callable[[Row], Iterable[Mention]]) -> Sheet:
        """The sheet with the other mentions of its entity for each row of `incomplete`."""
        rows = {row.row: row for row in self}
        for row in self.incomplete:
            rows[row.row] = self.check(row.changed(members=self._list(row, members(row))))
        return replace(self, design_rows=tuple(rows.values()))

    def _list(self, row: Row, mentions: Iterable[Mention]) -> str:
        ids = {(document, label): name for (document, name), label in row.labels.items()}
        try:
            words = [ids.get((row.document, m)) or name_mention(m) for m in mentions]
        except (TypeError, IndexError, ValueError):
            text = f"row {row.row}: mentions are spans such as (3, 5), or labels"
            raise UsageError(text) from None
        return " ".join(words) or NONE

    def check(self, row: Row) -> Row:
        """The row; an InputError for an answer that is none of the design's."""
        answer, expected = row.cells["answer"], _EXPECTED.get(self.design, _EXPECTED["names"])
        if not re.fullmatch(r"\d{0,9}", row.cells.get("missed", "")):
            raise self.error(
                "missed is no number", row, expected="how many mentions are missing, or nothing"
            )
        for word in list_words(row.cells.get("members", "")):
            if not re.fullmatch(rf"m\d+|{_ID}", word):
                raise self.error(
                    f"{excerpt(word)} is no id of a mention",
                    row,
                    expected="ids such as 3..5 with blanks between them, or none",
                )
        is_wrong = self.design == "pairs" and answer and row.answer not in ("y", "n", *"-?")
        if self.design == "sentences" and row.is_answered:
            is_wrong = not {*list_words(answer)} <= {*row.cells["mentions"].split()}
        if is_wrong or not answer.isprintable():
            raise self.error(
                "an answer that the sheet does not ask for",
                row,
                found=excerpt(answer),
                expected=expected,
                fix="correct it, or write ? if nobody knows",
            )
        return row

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


def read_sheet(path: str | os.PathLike[str]) -> Sheet:
    """Read a sheet that `Sheet.write` or its page wrote, also after a spreadsheet saved it.

    Cells may be separated by commas, semicolons or tabs, and rows may be in any order or missing.
    """
    source = read_source(check_path(path, "name the sheet to read"))
    head = re.match(rf'"?{MARK}"?([,;\t])', source.text)
    limit = csv.field_size_limit(sys.maxsize)  # an entity may have many members
    reader = csv.reader(io.StringIO(source.text, newline=""), delimiter=head[1] if head else ",")
    try:
        lines = [(reader.line_num, [*map(plain_cell, cells)]) for cells in reader]
    except csv.Error as error:
        raise source.error(f"this is no CSV: {error}", reader.line_num) from None
    finally:
        csv.field_size_limit(limit)
    signature = _read_signature("".join(lines[0][1][1:2]) if head else "", source)
    comments = [cells[0] for _, cells in lines[1:] if cells and cells[0].startswith("#")]
    instructions = tuple(comment[1:].strip() for comment in comments)
    table = [line for line in lines[1:] if any(line[1]) and not line[1][0].startswith("#")]
    header, columns = table[0][1] if table else [], COLUMNS[signature.design]
    if missing := [column for column in columns if column not in header]:
        raise source.error(
            f"the column {missing[0]} is missing",
            table[0][0] if table else 1,
            found=excerpt(", ".join(header)),
            expected=", ".join(columns),
        )
    sheet, rows = Sheet((), instructions, signature, source.file), dict[int, Row]()
    for line, cells in table[1:]:
        values = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        number = int(values["row"]) if re.fullmatch(r"\d{1,15}", values["row"]) else 0
        if not number or number in rows:
            raise source.error(
                f"two rows have the number {number}" if number else "a row without its number",
                line,
                found=excerpt(values["row"]),
                expected="each row once, with the number that it had when the sheet was written",
            )
        row = make_row({column: values[column] for column in columns}, line, {})
        rows[number] = sheet.check(row)
    if not rows:
        raise source.error("a sheet without rows", fix="take the sheet as it was written")
    return replace(sheet, design_rows=tuple(rows[number] for number in sorted(rows)))


def _read_signature(text: str, source: Source) -> Signature:
    if (match := _HEAD.fullmatch(text)) is None:
        raise source.error(
            "this is no sheet: there is no signature",
            1,
            expected=f"{MARK}, and in the next cell the signature that begins with design:",
            fix="keep the first line as `corefeval sample` wrote it",
        )
    design, n, frame, seed, names, digest, protocol = match.groups()
    if design not in COLUMNS:
        raise source.error(f"there is no design {excerpt(design)}", 1, expected=", ".join(COLUMNS))
    about = design, int(n), int(frame), int(seed), tuple(names.split(";")), digest
    try:
        return Signature(*about, Protocol.parse(protocol))
    except UsageError as error:
        raise source.error(str(error), 1, fix="restore the first line of the sheet") from None
