"""Sheets: rows with questions for people, written as CSV or as a page, and read again."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

from corefeval.checks import check_path
from corefeval.diagnostics import InputError, Notice, UsageError, excerpt
from corefeval.display import Row as Cells
from corefeval.display import Tabular, csv_text, plain_cell
from corefeval.files import PathLike, write_file
from corefeval.formats.source import read_source
from corefeval.protocol import Protocol
from corefeval.sampling.frame import DECLARED, Frame, join_parts
from corefeval.sampling.page import make_page

Name = tuple[str, str]  # a document, and what a person calls an entity of it
Mention = Hashable
MARK = "# corefeval sheet"
NO_MENTION, UNSURE, NONE = "-", "?", "none"
DESIGNS: dict[str, dict[str, Any]] = DECLARED["designs"]
_SIGNATURE = re.compile(
    r"design:([^|]*)\|n:(\d{1,15})\|frame:(\d{1,15})\|seed:(\d{1,30})\|key:frame"
    r"\|responses:([^|]*)\|digest:([0-9a-f]{16})\|(.*)"
)


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

    @staticmethod
    def parse(text: str) -> Signature:
        """The signature that a text is; a UsageError for any other text."""
        if (match := _SIGNATURE.fullmatch(text)) is None:
            raise UsageError("this is not a sheet: its first line has no signature")
        design, n, frame, seed, names, digest, protocol = match.groups()
        if design not in DESIGNS:
            raise UsageError(f"there is no design {excerpt(design)}: take {', '.join(DESIGNS)}")
        about = design, int(n), int(frame), int(seed), tuple(names.split(";")), digest
        return Signature(*about, Protocol.parse(protocol))


class Row:
    """A question and its answer, with the `cells` of the sheet by column.

    Making one raises an InputError for a cell that is not what the design asks for.

    Mentions are spans `(start, end)`, the end exclusive, or the labels of plain Python. `of` is the
    draw that a companion belongs to, `partner` the second mention of a pair, and `mentions` are
    those that begin in a sentence. `systems` are those that the row counts for, where it does not
    count for all.

    The answer is a name, `-`, `?`, `y` or `n`; of a sentence it is wrong mentions and the number
    missed. `name` is the document and what a person calls the entity, None where it is no mention.
    `members` are the other mentions of the entity, None where nobody has listed them yet. `line` is
    the row's line in its file.
    """

    def __init__(self, sheet: Sheet, cells: Mapping[str, str], line: int) -> None:
        ids = re.escape(cells.get("mentions", "")).replace("\\ ", "|")
        for column, (pattern, problem, expected) in DESIGNS[sheet.design]["cells"].items():
            if not re.fullmatch(pattern.replace("IDS", ids), cells[column]):
                cell = excerpt(cells[column])
                raise sheet.error(problem, line, found=cell, expected=expected)
        self.cells, self.line = cells, line
        self.labels = sheet.frame.labels if sheet.frame else {}
        self.row, self.document = int(cells["row"]), cells["document"]
        self.place = self.document, cells.get("sentence", cells.get("id", ""))
        self.text = cells.get("mention") or cells.get("text", "")
        self.role = cells.get("role", "draw")
        self.is_draw = self.role == "draw"
        self.systems = tuple(filter(None, cells.get("systems", "").split(";")))
        self.mention, self.of, self.partner = (
            next(iter(self._parse(column)), None) for column in ("id", "of", "partner")
        )
        self.mentions = self._parse("mentions")
        self.members = self._parse("members") if cells.get("members") else None
        self.answer: Any = unicodedata.normalize("NFC", cells["answer"])
        self.is_answered = self.answer not in ("", UNSURE)
        if sheet.design == "pairs":
            match = re.fullmatch(DESIGNS["pairs"]["cells"]["answer"][0], self.answer)
            self.answer = "yn"[match.lastindex - 1] if match and match.lastindex else self.answer
        is_named = "members" in cells and self.is_answered and self.answer != NO_MENTION
        self.name: Name | None = (self.document, self.answer) if is_named else None
        if sheet.design == "sentences" and self.is_answered:
            self.answer = self._parse("answer"), int(cells["missed"] or 0)

    def list_ids(self, column: str) -> list[str]:
        """The ids in a cell, which may say that there are none."""
        return [word for word in self.cells.get(column, "").split() if word != NONE]

    def _parse(self, column: str) -> tuple[Mention, ...]:
        """The mentions in a cell: labels or spans, several spans where an id has parts."""
        mentions = []
        for name in self.list_ids(column):
            spans = tuple((int(a), int(b)) for a, b in re.findall(r"(\d+)\.\.(\d+)", name))
            mention = spans[0] if len(spans) == 1 else spans or name
            mentions.append(self.labels.get((self.document, name), mention))
        return tuple(mentions)

    def join_ids(self, mentions: Iterable[Any]) -> str:
        """The text of a cell with some mentions of the row's document."""
        labels = self.labels.items()
        ids = {label: name for (document, name), label in labels if document == self.document}
        names = [ids.get(m) or ("m0" if ids else name_mention(m)) for m in mentions]  # m0: unknown
        return " ".join(names) or NONE


def name_mention(mention: Any) -> str:
    """The id of a span, or of several; other values as text.

    >>> name_mention((3, 5)), name_mention(((3, 5), (7, 8))), name_mention("m1")
    ('3..5', '3..5+7..8', 'm1')
    """
    if not isinstance(mention, tuple):
        return str(mention)
    return join_parts(mention if isinstance(mention[0], tuple) else [mention])


def list_incomplete(
    draws: Iterable[Row], design: str, complete: Container[Name | None]
) -> list[Row]:
    """The first row of each name whose members must be known, and are not.

    In a sheet of names, that is so for names that occur in one draw only.
    """
    groups: dict[Name, list[Row]] = {}
    for row in draws:
        if row.name and row.name not in complete:
            groups.setdefault(row.name, []).append(row)
    return [group[0] for group in groups.values() if design == "entities" or len(group) == 1]


@dataclass(frozen=True, eq=False, repr=False)
class Sheet(Tabular, Sequence[Row]):
    """Rows for people to answer, and the signature of what they are about.

    `file` is that of a sheet that was read; one that was drawn here has its `frame`.
    """

    signature: Signature
    questions: Sequence[Row] = ()
    file: str | None = None
    notices: tuple[Notice, ...] = ()
    frame: Frame | None = None

    @property
    def design(self) -> str:
        """The design: names, entities, pairs or sentences."""
        return self.signature.design

    @property
    def columns(self) -> list[str]:
        """The columns of the design."""
        columns: str = DESIGNS[self.design]["columns"]
        return columns.split()

    @property
    def instructions(self) -> list[str]:
        """What people should do, in sentences."""
        singletons = DECLARED["singletons"][self.signature.protocol.singletons]
        text: str = DESIGNS[self.design]["instructions"].format(**singletons)
        return text.strip().splitlines()

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, index: Any) -> Any:
        return self.questions[index]

    def rows(self) -> list[Cells]:
        """The rows as they are written, by column."""
        return [dict(row.cells) for row in self]

    @property
    def incomplete(self) -> list[Row]:
        """The rows that still need `members`, so that the size of their entity is known."""
        draws = [row for row in self if row.is_draw and "members" in row.cells]
        complete = {row.name for row in draws if row.members is not None}
        return list_incomplete(draws, self.design, complete)

    def fill(self, answer: Callable[[Row], Any]) -> Sheet:
        """The sheet with the answer that a function gives to each row, in a person's place."""
        changes = []
        for row in self:
            value = answer(row)
            cells = {"answer": str(value)}
            if isinstance(value, tuple):
                cells = {"answer": row.join_ids(value[0]), "missed": str(value[1])}
            changes.append(cells)
        return self.change(changes)

    def complete(self, members: Callable[[Row], Iterable[Mention]]) -> Sheet:
        """The sheet with the other mentions of its entity for each row of `incomplete`."""
        lists = {row.row: {"members": row.join_ids(members(row))} for row in self.incomplete}
        return self.change(lists.get(row.row, {}) for row in self)

    def change(self, changes: Iterable[Mapping[str, str]]) -> Sheet:
        """The sheet with other cells in each row."""
        changed = zip(self, changes, strict=True)
        rows = [Row(self, {**row.cells, **cells}, row.line) for row, cells in changed]
        return replace(self, questions=rows)

    @property
    def csv(self) -> str:
        """The sheet as CSV, without a byte order mark."""
        lines = [[f"# {line}"] for line in self.instructions]
        rows = [row.cells.values() for row in self]
        return csv_text([MARK, str(self.signature)], [*lines, self.columns, *rows])

    def write(self, path: PathLike) -> None:
        """Write the sheet: as CSV, or as a page for labelling if the path ends in .html."""
        file = check_path(path, "name the file to write")
        if re.search(r"(?i)\.html?$", file):
            if self.frame is None:
                raise UsageError(
                    f"{file}: a page needs the texts: draw the sheet again with these answers, or "
                    "open the CSV in the page that it was drawn with"
                )
            text = make_page(self.frame, self.csv, {row.document for row in self})
        elif re.search(r"(?i)\.csv(\.gz)?$", file):
            text = f"\ufeff{self.csv}"
        else:
            raise UsageError(f"{file}: name a .csv file, which spreadsheets open, or a .html page")
        write_file(file, text)

    def error(
        self,
        problem: str,
        line: int = 1,
        *,
        fix: str = "correct it, or restore it as `corefeval sample` wrote it",
        **details: Any,
    ) -> InputError:
        """A mistake in a line of the file, or in a row of a sheet that was not read from a file."""
        if self.file is None:
            return InputError(f"row {line}: {problem}", fix=fix, **details)
        return InputError(problem, file=self.file, line=line, fix=fix, **details)


def read_sheet(path: PathLike | Sheet) -> Sheet:
    """Read a sheet that `Sheet.write` or its page wrote, also after a spreadsheet saved it.

    Commas, semicolons or tabs separate cells; rows may be in any order or missing. A sheet is
    returned as it is.
    """
    if isinstance(path, Sheet):
        return path
    source = read_source(check_path(path, "name the sheet to read"))
    try:
        text = source.text
    except InputError as error:
        fix = "save it as CSV UTF-8"
        raise source.error(error.problem, error.line, found=error.found, fix=fix) from None
    head = re.match(rf'"?{MARK}"?([,;\t])', text)
    csv.field_size_limit(2**31 - 1)  # an entity may have many members
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=head[1] if head else ",")
    lines = [(reader.line_num, [*map(plain_cell, cells)]) for cells in reader]
    try:
        sheet = Sheet(Signature.parse("".join(lines[0][1][1:2]) if head else ""), file=source.file)
    except UsageError as error:
        fix = "restore the first line; of a page, press Save, and take the CSV file that it saves"
        raise source.error(str(error), 1, expected=f"{MARK}, and a signature", fix=fix) from None
    table = [line for line in lines[1:] if any(line[1]) and not line[1][0].startswith("#")]
    first, header = table[0] if table else (1, [])
    missing = [f"the column {name} is missing" for name in sheet.columns if name not in header]
    if missing or not table[1:]:
        expected = ", ".join(sheet.columns)
        raise sheet.error([*missing, "a sheet without rows"][0], first, expected=expected)
    rows: dict[int, Row] = {}
    for line, cells in table[1:]:
        values = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        row = Row(sheet, {name: values[name] for name in sheet.columns}, line)
        if rows.setdefault(row.row, row) is not row:
            fix = f"remove this row, or the one on line {rows[row.row].line}"
            raise sheet.error(f"two rows have the number {row.row}", line, fix=fix)
    return replace(sheet, questions=[rows[number] for number in sorted(rows)])
