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
from corefeval.formats.source import Source, read_source
from corefeval.protocol import Protocol
from corefeval.sampling.frame import name_mention

Name = tuple[str, str]  # a document, and what a person calls an entity of it
Mention = Hashable
MARK = "# corefeval sheet"
NO_MENTION, UNSURE, NONE = "-", "?", "none"
_SPANS = r"\d{1,15}\.\.\d{1,15}(\+\d{1,15}\.\.\d{1,15})*"
_ID = rf"({NONE}|m\d{{1,15}}|{_SPANS})"
_IDS = rf"({_ID}(\s+{_ID})*)?"
_YES_OR_NO = re.compile(r"(?i)(y|yes|1|ja|j|oui|o)|(n|no|0|nein|non)|[-?]?")
_PAGES = (".html", ".htm")
_RESTORE = "correct it, or restore the row as `corefeval sample` wrote it"


class Design(NamedTuple):
    """What sheets of a design ask for, and the metrics that answers give.

    `answer` is a pattern for answers, and `expected` says in words what they are; `roles` are the
    roles of rows. `{wrong}` and `{single}` in instructions stand for sentences that depend on what
    becomes of singletons.
    """

    columns: str
    metrics: tuple[str, ...]
    answer: str | re.Pattern[str]
    expected: str
    instructions: tuple[str, ...]
    roles: str = "draw"


_STOP = "Rows are in random order: stop whenever you like, but not because of what you saw."
_NAME = "Write who or what it is into the column answer: one name for one entity of a document."
_MEMBERS = "list the ids of its other mentions in the column members, or none"
_NAMES = Design(
    "row role of systems document id before mention after answer members",
    ("b3", "lea", "mentions"),
    r"[^\x00-\x1f\x7f]*",
    "a name, - for no mention, or ?",
    (_NAME, "{wrong}", f"If a name occurs in one draw only, {_MEMBERS}.", _STOP),
    "draw|companion",
)
DESIGNS = {
    "names": _NAMES,
    "entities": _NAMES._replace(
        metrics=("muc", *_NAMES.metrics),
        instructions=(_NAME, "{wrong}", f"In the first row of each name, {_MEMBERS}.", _STOP),
        roles="draw",
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
        "ids of those that are not mentions, with blanks between them; none; or ?",
        (
            "Write into the column answer the ids of those that are not mentions, none if all are, "
            "and ? if nobody can know.",
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
        "single": "The only mention of an entity in its document does not count as a mention.",
    },
}
# What cells of other columns must be: a pattern, what is wrong with others, and what was expected.
_CELLS = {
    "row": ("[1-9][0-9]{0,14}", "a row without its number", "the number that it had at first"),
    "missed": ("[0-9]{0,9}", "missed is not a number", "how many mentions are missing, or nothing"),
    "members": (
        _IDS,
        "members has something that is not the id of a mention",
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
    """A question and its answer, with the `cells` of the sheet by column.

    Mentions are spans `(start, end)`, the end exclusive, or the labels of plain Python, which
    `labels` has by id. `of` is the draw that a companion belongs to, `partner` the second mention
    of a pair, and `mentions` are those that begin in a sentence. `systems` are those that the row
    counts for, where it does not count for all.

    The answer is a name, `-`, `?`, `y` or `n`; of a sentence it is wrong mentions and the number
    missed. `name` is the document and what a person calls the entity, None where it is no mention.
    `members` are the other mentions of the entity, None where nobody has listed them yet. `line` is
    the row's line in its file.
    """

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
    is_answered: bool
    name: Name | None
    members: tuple[Mention, ...] | None
    cells: Mapping[str, str]
    line: int
    labels: Mapping[str, Mention]

    @property
    def is_draw(self) -> bool:
        """Whether the row is no companion."""
        return self.role == "draw"

    def join_ids(self, mentions: Iterable[Any]) -> str:
        """The text of a cell with some mentions of the row's document."""
        ids = {label: name for name, label in self.labels.items()}
        return " ".join(ids.get(m) or name_mention(m) for m in mentions) or NONE

    def changed(self, **cells: str) -> Row:
        """The row with other cells."""
        return make_row({**self.cells, **cells}, self.line, self.labels)


def make_row(cells: Mapping[str, str], line: int, labels: Mapping[str, Mention]) -> Row:
    """The row of cells that are what its design asks for."""

    def parse(column: str) -> tuple[Mention, ...]:
        return tuple(labels.get(word, parse_id(word)) for word in list_ids(cells, column))

    mention, of, partner = (next(iter(parse(name)), None) for name in ("id", "of", "partner"))
    answer: Any = unicodedata.normalize("NFC", cells["answer"])
    is_answered = answer not in ("", UNSURE)
    if "partner" in cells and (match := _YES_OR_NO.fullmatch(answer)) and match.lastindex:
        answer = "yn"[match.lastindex - 1]
    name = (cells["document"], answer) if is_answered and answer != NO_MENTION else None
    if "missed" in cells and is_answered:
        answer = parse("answer"), int(cells["missed"] or 0)
    return Row(
        int(cells["row"]),
        cells["document"],
        mention,
        cells.get("mention", cells.get("text", "")),
        cells.get("role", "draw"),
        tuple(filter(None, cells.get("systems", "").split(";"))),
        *(of, partner, parse("mentions"), answer, is_answered, name),
        parse("members") if cells.get("members") else None,
        *(cells, line, labels),
    )


def list_ids(cells: Mapping[str, str], column: str) -> list[str]:
    """The ids in a cell, which may say that there are none."""
    return [word for word in cells.get(column, "").split() if word != NONE]


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
            rows.append(self._change(row, **cells))
        return replace(self, questions=tuple(rows))

    def complete(self, members: Callable[[Row], Iterable[Mention]]) -> Sheet:
        """The sheet with the other mentions of its entity for each row of `incomplete`."""
        rows = {row.row: row for row in self}
        for row in self.incomplete:
            rows[row.row] = self._change(row, members=row.join_ids(members(row)))
        return replace(self, questions=tuple(rows.values()))

    def _change(self, row: Row, **cells: str) -> Row:
        self.check({**row.cells, **cells}, row.line)
        return row.changed(**cells)

    def check(self, row: Mapping[str, str], line: int) -> None:
        """Raise an InputError for a cell of a row that is not what the design asks for."""
        design = DESIGNS[self.design]
        cells = {
            "answer": (design.answer, "an answer that the sheet does not ask for", design.expected),
            "role": (
                design.roles,
                f"a role that a sheet of {self.design} does not have",
                design.roles.replace("|", " or "),
            ),
        }
        for column, (pattern, problem, expected) in {**_CELLS, **cells}.items():
            cell = row.get(column)
            is_right = cell is None or bool(re.fullmatch(pattern, cell))
            if "mentions" in row and column == "answer" and cell != UNSURE:
                is_right = {*list_ids(row, "answer")} <= {*list_ids(row, "mentions")}
            if not is_right:
                raise self.error(problem, line, found=excerpt(str(cell)), expected=expected)

    @property
    def csv(self) -> str:
        """The sheet as CSV, without a byte order mark."""
        instructions = [[f"# {line}"] for line in self.instructions]
        rows = [[*row.values()] for row in self.rows()]
        return csv_text([MARK, str(self.signature)], [*instructions, self.columns, *rows])

    def write(self, path: PathLike) -> None:
        """Write the sheet: as CSV, or as a page for labelling if the path ends in .html."""
        text = check_path(path, "name the file to write")
        is_page = text.lower().endswith(_PAGES)
        if not is_page and not text.lower().endswith((".csv", ".csv.gz")):
            raise UsageError(
                f"{text}: a sheet is a .csv file, which spreadsheets open, or a .html page: "
                "name such a file"
            )
        if is_page and self.page is None:
            raise UsageError(
                f"{text}: a page needs the texts: draw the sheet again with these answers, or open "
                "the CSV in the page that it was drawn with"
            )
        write_file(text, self.page(self) if is_page and self.page else f"\ufeff{self.csv}")

    def error(
        self, problem: str, line: int | None = None, *, fix: str = _RESTORE, **details: str
    ) -> InputError:
        """A mistake in a line of the file, or in a row of a sheet that was not read from a file."""
        where = f"row {line}: " if line and not self.file else ""
        place = (line or 1) if self.file else None
        return InputError(where + problem, file=self.file, line=place, fix=fix, **details)


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
        kept = {column: values[column] for column in sheet.columns}
        sheet.check(kept, line)
        row = make_row(kept, line, {})
        if row.row in rows:
            fix = f"remove this row, or the one on line {rows[row.row].line}"
            raise sheet.error(f"two rows have the number {row.row}", line, fix=fix)
        rows[row.row] = row
    if not rows:
        fix = "take the sheet as `corefeval sample` wrote it"
        raise source.error("a sheet without rows", first, fix=fix)
    return replace(sheet, questions=tuple(rows[number] for number in sorted(rows)))


def _read_signature(text: str, source: Source) -> Signature:
    fix = "restore the first line as `corefeval sample` wrote it"
    if (match := _HEAD.fullmatch(text)) is None:
        if source.file.lower().endswith(_PAGES):
            fix = "open this page in a browser, press Save, and use the CSV file that it saves"
        raise source.error(
            "this is not a sheet: its first line has no signature",
            1,
            expected=f"{MARK}, and in the next cell the signature that begins with design:",
            fix=fix,
        )
    design, n, frame, seed, names, digest, protocol = match.groups()
    if design not in DESIGNS:
        problem = f"there is no design {excerpt(design)}"
        raise source.error(problem, 1, expected=", ".join(DESIGNS), fix=fix)
    about = design, int(n), int(frame), int(seed), tuple(names.split(";")), digest
    try:
        return Signature(*about, Protocol.parse(protocol))
    except UsageError as error:
        raise source.error(str(error), 1, fix=fix) from None
