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
from corefeval.display import Tabular, plain_cell
from corefeval.files import PathLike, write_file
from corefeval.formats.source import Source, read_source
from corefeval.protocol import Protocol
from corefeval.sampling.frame import escape_cell, name_mention

Name = tuple[str, str]  # a document, and what a person calls an entity of it
Mention = Hashable
MARK = "# corefeval sheet"
NO_MENTION, UNSURE, NONE = "-", "?", "none"
_SPANS = r"\d{1,15}\.\.\d{1,15}(\+\d{1,15}\.\.\d{1,15})*"
_ID = rf"({NONE}|m\d{{1,15}}|{_SPANS})"
_IDS = rf"({_ID}(\s+{_ID})*)?"
_YES_OR_NO = re.compile(r"(?i)(y|yes|1|ja|j|oui|o)|(n|no|0|nein|non)|[-?]?")
_RESTORE = "correct it, or restore the row as `corefeval sample` wrote it"


class Design(NamedTuple):
    """What sheets of a design ask for, and the metrics that answers give.

    `answer` is a pattern for answers, and `expected` says in words what they are. `{wrong}` and
    `{single}` in instructions stand for sentences that depend on what becomes of singletons.
    """

    columns: str
    metrics: tuple[str, ...]
    answer: str | re.Pattern[str]
    expected: str
    instructions: tuple[str, ...]


_STOP = "Rows are in random order: stop whenever you like, but not because of what you saw."
_NAME = "Write who or what it is into the column answer: one name for one entity of a document."
_MEMBERS = "list the ids of its other mentions in the column members, or none"
_NAMES = Design(
    "row role of systems document id before mention after answer members",
    ("b3", "lea", "mentions"),
    r"[^\x00-\x1f\x7f]*",
    "a name, - for no mention, or ?",
    (_NAME, "{wrong}", f"If a name occurs in one draw only, {_MEMBERS}.", _STOP),
)
DESIGNS = {
    "names": _NAMES,
    "entities": _NAMES._replace(
        metrics=("muc", *_NAMES.metrics),
        instructions=(_NAME, "{wrong}", f"In the first row of each name, {_MEMBERS}.", _STOP),
    ),
    "pairs": Design(
        "row systems document id partner before mention after "
        "partner_before partner_mention partner_after answer",
        _NAMES.metrics,
        _YES_OR_NO,
        "y or n, - for no mention, or ?",
        (
            "Write y into the column answer if the mention and its partner are the same, and n if "
            "not.",
            "Without a partner, write y if it is the only mention of its entity, and n if it is "
            "not.",
            "{wrong}",
            _STOP,
        ),
    ),
    "sentences": Design(
        "row document sentence text mentions answer missed",
        ("mentions",),
        rf"{_IDS}|\?",
        "ids of the row's mentions that are none, with blanks between them, none, or ?",
        (
            "Write the ids of mentions that are none into the column answer, or none, or ?.",
            "Write into the column missed how many mentions that begin in the sentence are "
            "missing.",
            "{single}",
            _STOP,
        ),
    ),
}
_SINGLETONS = {
    "keep": {
        "wrong": "Write - if it is no mention at all, and ? if nobody can know.",
        "single": "The only mention of an entity is a mention, too.",
    },
    "drop": {
        "wrong": "Write - if it is no mention, or the only one of its entity, and ? if nobody can "
        "know.",
        "single": "The only mention of an entity in its document counts as none.",
    },
}
# What cells of other columns must be: a pattern, what is wrong with others, and what was expected.
_CELLS = {
    "row": ("[1-9][0-9]{0,14}", "a row without its number", "the number that it had at first"),
    "role": ("draw|companion", "a role that there is not", "draw or companion"),
    "missed": ("[0-9]{0,9}", "missed is no number", "how many mentions are missing, or nothing"),
    "members": (
        _IDS,
        "a list of members with what is no id of a mention",
        "ids such as 3..5 with blanks between them, or none",
    ),
}
_HEAD = re.compile(
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


@dataclass(frozen=True)
class Row:
    """A question and its answer; `cells` are those of the sheet, by column.

    Mentions are spans `(start, end)`, the end exclusive, or the labels of plain Python, which
    `labels` has by id. `line` is the row's line in its file.
    """

    cells: Mapping[str, str]
    line: int
    labels: Mapping[str, Mention]

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
        """The mention that the row asks about; None for a sentence."""
        return self._parse_mention("id")

    @property
    def text(self) -> str:
        """The words of the mention or sentence."""
        return self.cells.get("mention", self.cells.get("text", ""))

    @property
    def role(self) -> str:
        """`draw`, or `companion` for a mention that is named beside a draw."""
        return self.cells.get("role", "draw")

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that the row counts for, where it does not count for all."""
        return tuple(filter(None, self.cells.get("systems", "").split(";")))

    @property
    def of(self) -> Mention | None:
        """The draw that a companion belongs to."""
        return self._parse_mention("of")

    @property
    def partner(self) -> Mention | None:
        """The second mention of a pair."""
        return self._parse_mention("partner")

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """The mentions that begin in a sentence."""
        return self._parse("mentions")

    @property
    def answer(self) -> Any:
        """A name, `-`, `?`, `y` or `n`; of a sentence wrong mentions and the number missed."""
        text = unicodedata.normalize("NFC", self.cells["answer"])
        if "missed" in self.cells and self.is_answered:
            return self._parse("answer"), int(self.cells["missed"] or 0)
        if "partner" in self.cells and (match := _YES_OR_NO.fullmatch(text)) and match.lastindex:
            return "yn"[match.lastindex - 1]
        return text

    @property
    def members(self) -> tuple[Mention, ...] | None:
        """The other mentions of the entity; None where nobody has listed them yet."""
        return self._parse("members") if self.cells.get("members") else None

    @property
    def is_draw(self) -> bool:
        """Whether the row is no companion."""
        return self.role == "draw"

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer that says something."""
        return self.cells["answer"] not in ("", UNSURE)

    @property
    def name(self) -> Name | None:
        """The document, and what a person calls the entity; None where it is no mention."""
        answer = self.answer
        return None if answer in ("", UNSURE, NO_MENTION) else (self.document, answer)

    def list_ids(self, column: str) -> list[str]:
        """The ids in a cell, which may say that there are none."""
        return [word for word in self.cells.get(column, "").split() if word != NONE]

    def _parse(self, column: str) -> tuple[Mention, ...]:
        return tuple(self.labels.get(word, parse_id(word)) for word in self.list_ids(column))

    def _parse_mention(self, column: str) -> Mention | None:
        return next(iter(self._parse(column)), None)

    def join_ids(self, mentions: Iterable[Any]) -> str:
        """The text of a cell with some mentions of the row's document."""
        ids = {label: name for name, label in self.labels.items()}
        return " ".join(ids.get(m) or name_mention(m) for m in mentions) or NONE

    def changed(self, **cells: str) -> Row:
        """The row with other cells."""
        return replace(self, cells={**self.cells, **cells})


def parse_id(text: str) -> Mention:
    """The span of an id, or its spans where it has several; other text as it is.

    >>> parse_id("3..5"), parse_id("3..5+7..8"), parse_id("m1")
    ((3, 5), ((3, 5), (7, 8)), 'm1')
    """
    if not re.fullmatch(_SPANS, text):
        return text
    spans = tuple(tuple(map(int, part.split(".."))) for part in text.split("+"))
    return spans if len(spans) > 1 else spans[0]


def list_incomplete(
    rows: Iterable[Row], design: str, complete: Container[Name | None]
) -> list[Row]:
    """The first row of each name whose members must be known, and are not: of draws alone.

    In a sheet of names, that is so for names that occur in one draw only.
    """
    groups: dict[Name, list[Row]] = {}
    for row in rows:
        if row.name and row.name not in complete:
            groups.setdefault(row.name, []).append(row)
    return [group[0] for group in groups.values() if design == "entities" or len(group) == 1]


@dataclass(frozen=True, eq=False, repr=False)
class Sheet(Tabular, Sequence[Row]):
    """Rows for people to answer, and the signature of what they are about.

    `page` makes the page of a sheet that was drawn here; `file` is that of one that was read.
    """

    questions: tuple[Row, ...]
    signature: Signature
    file: str | None = None
    notices: tuple[Notice, ...] = ()
    page: Callable[[Sheet], str] | None = None

    @property
    def design(self) -> str:
        """The design: names, entities, pairs or sentences."""
        return self.signature.design

    @property
    def instructions(self) -> list[str]:
        """What people should do, in sentences."""
        singletons = _SINGLETONS[self.signature.protocol.singletons]
        return [line.format(**singletons) for line in DESIGNS[self.design].instructions]

    @property
    def columns(self) -> list[str]:
        """The columns of the design."""
        return DESIGNS[self.design].columns.split()

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
        rows = []
        for row in self:
            value = answer(row)
            cells = {"answer": str(value)}
            if isinstance(value, tuple):
                cells = {"answer": row.join_ids(value[0]), "missed": str(value[1])}
            rows.append(self.check(row.changed(**cells)))
        return replace(self, questions=tuple(rows))

    def complete(self, members: Callable[[Row], Iterable[Mention]]) -> Sheet:
        """The sheet with the other mentions of its entity for each row of `incomplete`."""
        rows = {row.row: row for row in self}
        for row in self.incomplete:
            rows[row.row] = self.check(row.changed(members=row.join_ids(members(row))))
        return replace(self, questions=tuple(rows.values()))

    def check(self, row: Row) -> Row:
        """The row; an InputError for a cell that is not what the design asks for."""
        design = DESIGNS[self.design]
        answer = design.answer, "an answer that the sheet does not ask for", design.expected
        for column, (pattern, problem, expected) in {**_CELLS, "answer": answer}.items():
            cell = row.cells.get(column)
            is_right = cell is None or bool(re.fullmatch(pattern, cell))
            if "mentions" in row.cells and column == "answer" and row.is_answered:
                is_right = {*row.list_ids("answer")} <= {*row.list_ids("mentions")}
            if not is_right:
                raise self.error(problem, row, found=excerpt(str(cell)), expected=expected)
        return row

    @property
    def csv(self) -> str:
        """The sheet as CSV, without a byte order mark."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([MARK, str(self.signature)])
        writer.writerows([f"# {line}"] for line in self.instructions)
        writer.writerow(self.columns)
        writer.writerows(map(escape_cell, row.values()) for row in self.rows())
        return stream.getvalue()

    def write(self, path: PathLike) -> None:
        """Write the sheet: as a page for labelling where the path ends in .html, else as CSV."""
        text = check_path(path, "name the file to write")
        if not text.lower().endswith((".html", ".htm")):
            write_file(text, f"\ufeff{self.csv}")
        elif self.page is not None:
            write_file(text, self.page(self))
        else:
            raise UsageError(
                f"{text}: a page needs the texts: draw the sheet again (with answers=…), "
                "or open the CSV in the page that it was drawn with"
            )

    def error(
        self, problem: str, row: Row | None = None, *, fix: str = _RESTORE, **details: str
    ) -> InputError:
        """A mistake in the sheet; for a sheet that was not read from a file, with its row."""
        line = (row.line if row else 1) if self.file else None
        where = f"row {row.row}: " if row and not self.file else ""
        return InputError(where + problem, file=self.file, line=line, fix=fix, **details)


def read_sheet(path: PathLike) -> Sheet:
    """Read a sheet that `Sheet.write` or its page wrote, also after a spreadsheet saved it.

    Cells may be separated by commas, semicolons or tabs, and rows may be in any order or missing.
    """
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
    signature = _read_signature("".join(lines[0][1][1:2]) if head else "", source)
    table = [line for line in lines[1:] if any(line[1]) and not line[1][0].startswith("#")]
    sheet = Sheet((), signature, source.file)
    first, header = table[0] if table else (1, [])
    if missing := [column for column in sheet.columns if column not in header]:
        raise source.error(
            f"the column {missing[0]} is missing",
            first,
            found=excerpt(", ".join(header)),
            expected=", ".join(sheet.columns),
            fix="restore the line of the columns as `corefeval sample` wrote it",
        )
    rows: dict[int, Row] = {}
    for line, cells in table[1:]:
        values = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        row = sheet.check(Row({column: values[column] for column in sheet.columns}, line, {}))
        if row.row in rows:
            raise sheet.error(
                f"two rows have the number {row.row}",
                row,
                expected="each row once",
                fix=f"remove this row, or the one on line {rows[row.row].line}",
            )
        rows[row.row] = row
    if not rows:
        fix = "take the sheet as `corefeval sample` wrote it"
        raise source.error("a sheet without rows", first, fix=fix)
    return replace(sheet, questions=tuple(rows[number] for number in sorted(rows)))


def _read_signature(text: str, source: Source) -> Signature:
    if (match := _HEAD.fullmatch(text)) is None:
        raise source.error(
            "this is no sheet: there is no signature",
            1,
            expected=f"{MARK}, and in the next cell the signature that begins with design:",
            fix="keep the first line as `corefeval sample` wrote it",
        )
    design, n, frame, seed, names, digest, protocol = match.groups()
    fix = "restore the first line as `corefeval sample` wrote it"
    if design not in DESIGNS:
        problem = f"there is no design {excerpt(design)}"
        raise source.error(problem, 1, expected=", ".join(DESIGNS), fix=fix)
    about = design, int(n), int(frame), int(seed), tuple(names.split(";")), digest
    try:
        return Signature(*about, Protocol.parse(protocol))
    except UsageError as error:
        raise source.error(str(error), 1, fix=fix) from None
