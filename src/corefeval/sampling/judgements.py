"""Judgements: what a person's sheet says about draws, checked against the frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, compress, groupby
from math import sqrt
from operator import itemgetter

from corefeval.diagnostics import Notice, excerpt, list_names, note
from corefeval.model.arrays import IntArray, integers
from corefeval.sampling.frame import Frame
from corefeval.sampling.sheets import NO_MENTION, UNSURE, Name, Row, Sheet, list_ids


@dataclass
class Judgements:
    """The answers of one sheet by draw: numbers of mentions in the frame, or of sentences.

    `rows` has the first row of each answered draw. `members` has the mentions of names that people
    list. `companions` has, by draw and system, the name of a companion, or the answer on a pair.
    """

    sheet: Sheet
    frame: Frame
    rows: dict[int, Row] = field(default_factory=dict)
    members: dict[Name, set[int]] = field(default_factory=dict)
    companions: dict[tuple[int, int], Name | None] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

    @property
    def finite(self) -> float:
        """The square root of the share of the frame that is not answered."""
        return sqrt(max(1 - len(self.rows) / self.sheet.signature.frame, 0))

    @cached_property
    def draws(self) -> IntArray:
        """The numbers of the answered draws."""
        return integers([*self.rows])

    @property
    def names(self) -> list[Name | None]:
        """What a person calls the entity of each draw; None for no mention."""
        return [row.name for row in self.rows.values()]

    @cached_property
    def codes(self) -> IntArray:
        """A number for the name of each draw; −1 for no mention."""
        numbers: dict[Name | None, int] = {None: -1}
        return integers([numbers.setdefault(name, len(numbers) - 1) for name in self.names])

    def find(self, row: Row, column: str, name: str | None = None) -> int:
        """The number of the mention, sentence or system that a row names in a column."""
        name = row.cells[column] if name is None else name
        noun, numbers = "mention", self.frame.numbers.get(row.document, {})
        if column == "systems":
            noun, numbers = "response", {n: index for index, n in enumerate(self.frame.names)}
        elif column == "sentence":
            noun, numbers = "sentence", self.frame.sentence_numbers.get(row.document, {})
        if name not in numbers:
            raise self.sheet.error(
                f"document {excerpt(row.document)} has no {noun} {excerpt(name)}",
                row.line,
                expected="documents, ids and responses with which the sheet was written",
            )
        return numbers[name]


def read_judgements(sheet: Sheet, frame: Frame) -> Judgements:
    """What a sheet says; an InputError for ids that are not in the frame and for contradictions."""
    person = Judgements(sheet, frame)
    draws: dict[int, list[Row]] = {}
    unit = "sentence" if sheet.design == "sentences" else "id"
    for row in sheet:
        draw = person.find(row, unit if row.is_draw else "of")
        systems = [person.find(row, "systems", name) for name in row.systems]
        if row.cells.get("partner"):
            person.find(row, "partner")
        if row.is_draw:
            if any(row.systems == twin.systems for twin in draws.setdefault(draw, [])):
                raise sheet.error("a draw has two rows", row.line, fix="remove this one")
            draws[draw].append(row)
        if row.is_answered:
            person.companions |= {(draw, system): row.name for system in systems}
    unsure = 0
    for draw, rows in draws.items():
        answers = [row.answer for row in rows]
        names = {name for row in rows for name in row.systems}
        has = frame.entity[:, draw] >= 0 if sheet.design == "pairs" else ()
        if "" not in answers and names.issuperset(compress(frame.names, has)):
            unsure += UNSURE in answers
            person.rows |= {} if UNSURE in answers else {draw: rows[0]}
    if sheet.design in ("names", "entities"):
        _read_names(person)
    n_draws = max(min(sheet.signature.n, sheet.signature.frame), len(draws))
    unanswered = n_draws - unsure - len(person.rows)
    person.notices += (
        *note("unanswered", unanswered, "draw", "left out, as there is no answer"),
        *note("unsure", unsure, "draw", f"left out, as the answer is {UNSURE}"),
    )
    if unsure > 0.05 * (unsure + len(person.rows)):
        text = f"more than 5 % of the answers are {UNSURE}: scores are about the rest only"
        person.notices.append(Notice("many-unsure", text, unsure))
    return person


def _read_names(person: Judgements) -> None:
    """Check that a mention has one name, and read the members of entities."""
    owners: dict[int, Row] = {}  # the first row that names a mention
    named: dict[Name | None, set[int]] = {}
    lists: dict[Name, list[set[int]]] = {}
    ignored = outside = 0
    for row in person.sheet:
        mentions = {person.find(row, "id")}
        named.setdefault(row.name, set()).update(mentions)
        if row.name and row.is_draw and row.cells["members"]:
            numbers, ids = person.frame.numbers[row.document], list_ids(row.cells, "members")
            mentions |= {numbers[name] for name in ids if name in numbers}
            outside += sum(name not in numbers for name in ids)
            lists.setdefault(row.name, []).append(mentions)
        else:
            ignored += bool(row.cells["members"])
        for mention in mentions if row.is_answered else ():
            twin = owners.setdefault(mention, row)
            if twin is not row and twin.answer != row.answer:
                raise person.sheet.error(
                    f"rows {twin.row} and {row.row} give one mention two names",
                    row.line,
                    found=f"{excerpt(twin.answer)} and {excerpt(row.answer)}",
                    expected="one name for a mention, also where another row has it as a member",
                    fix="correct one of the two rows",
                )
    unions = {name: set[int]().union(*members) for name, members in lists.items()}
    person.members = {name: members | named[name] for name, members in unions.items()}
    if person.frame.protocol.singletons == "drop":  # an entity of one mention is none
        for draw, row in person.rows.items():
            if row.name and len(person.members.get(row.name, ())) == 1:
                person.rows[draw] = row.changed(answer=NO_MENTION)
    differing = sum(any(m != unions[name] for m in members) for name, members in lists.items())
    added = sum(len(named[name] - members) for name, members in unions.items())
    person.notices += (
        *note("idle-members", ignored, "row", "with members that are not needed: ignored"),
        *note("outside", outside, "member", "not in any response or candidate, left out"),
        *note("union", differing, "name", "with different lists of members, which were joined"),
        *note("added", added, "mention", "added to the members of the entity with that name"),
        *_note_similar(filter(None, named)),
    )


def _note_similar(names: Iterable[Name]) -> Iterator[Notice]:
    """A notice on names of a document that differ only by case or by one letter."""
    from rapidfuzz.distance import Levenshtein

    pairs = [
        f"{first}/{second}"
        for _, group in groupby(sorted(names), itemgetter(0))
        for (_, first), (_, second) in combinations(group, 2)
        if Levenshtein.distance(first, second, score_cutoff=1) == 1
        or first.casefold() == second.casefold()
    ]
    if pairs:
        text = f"names that differ by case or one letter only: {list_names(pairs)}; "
        text += "if they mean the same, use one name"
        yield Notice("similar-names", text, len(pairs), tuple(pairs))
