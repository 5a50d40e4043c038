"""Judgements: what a person's sheet says about draws, checked against the frame."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, compress
from math import sqrt

from corefeval.diagnostics import Notice, excerpt, list_names, note
from corefeval.model.arrays import IntArray, integers
from corefeval.sampling.draws import find_units
from corefeval.sampling.frame import Frame, Units
from corefeval.sampling.sheets import UNSURE, Name, Row, Sheet, list_ids

_FEW = 30  # answered draws, below which intervals were not checked
_OUTCOMES = {
    "unanswered": ("draw", "left out, as there is no answer"),
    "unsure": ("draw", f"left out, as the answer is {UNSURE}"),
    "companions": ("draw", "left out of precision, as a companion has no answer"),
    "idle-members": ("row", "with members that are not needed: ignored"),
    "outside": ("member", "not in any response or candidate, left out"),
    "union": ("name", "with different lists of members, which were joined"),
    "added": ("mention", "added to the members of the entity with that name"),
}


@dataclass
class Judgements:
    """The answers of one sheet by draw: numbers of mentions in the frame, or of sentences.

    `rows` has the first row of each answered draw. `answers` has, by draw and system, the answer on
    a companion or on a pair. `members` has the mentions of names that people list. `counts` are
    what notices are about.
    """

    sheet: Sheet
    frame: Frame
    units: Units
    rows: dict[int, Row]
    answers: dict[tuple[int, int], str]
    members: dict[Name | None, set[int]]
    counts: Counter[str]

    @property
    def finite(self) -> float:
        """The square root of the share of the frame that is not answered."""
        return sqrt(1 - len(self.rows) / len(self.units.spans))

    @property
    def draws(self) -> IntArray:
        """The numbers of the answered draws."""
        return integers([*self.rows])

    @cached_property
    def names(self) -> list[Name | None]:
        """What a person calls the entity of each draw; None for no mention.

        Where singletons are dropped, an entity of one mention is none.
        """
        drops = self.frame.protocol.singletons == "drop"
        dropped = {name for name, mentions in self.members.items() if drops and len(mentions) == 1}
        return [None if row.name in dropped else row.name for row in self.rows.values()]

    @property
    def codes(self) -> IntArray:
        """A number for the name of each draw; −1 for no mention."""
        numbers: dict[Name | None, int] = {None: -1}
        return integers([numbers.setdefault(name, len(numbers) - 1) for name in self.names])

    @property
    def has_many_unsure(self) -> bool:
        """Whether nobody knows about more than 5 % of the draws."""
        return self.counts["unsure"] > 0.05 * (self.counts["unsure"] + self.counts["answered"])

    @property
    def notices(self) -> Iterator[Notice]:
        """What was left out, ignored or added, and names that may be meant to be one."""
        for kind, outcome in _OUTCOMES.items():
            yield from note(kind, self.counts[kind], *outcome)
        if self.has_many_unsure:
            text = f"more than 5 % of the answers are {UNSURE}: scores are about the rest only"
            yield Notice("many-unsure", text, self.counts["unsure"])
        if (n := len(self.rows)) < _FEW:
            text = f"only {n} answered draws: intervals were not checked below {_FEW}"
            yield Notice("few-draws", text, n)
        yield from _note_similar({row.name for row in self.sheet if row.name})


def read_judgements(sheet: Sheet, frame: Frame) -> Judgements:
    """What a sheet says; an InputError for ids that are not in the frame and for contradictions."""
    units, answers = find_units(sheet, frame), dict[tuple[int, int], str]()
    counts, rows = Counter[str](), dict[int, Row]()
    draws: dict[int, list[Row]] = defaultdict(list)
    for row in sheet:
        columns = ["sentence" if sheet.design == "sentences" else "id"]
        columns += ["partner"] if row.partner else [] if row.is_draw else ["of"]
        mentions = [_find(sheet, row, column, units) for column in columns]
        if unknown := {*row.systems}.difference(frame.names):
            raise sheet.error(f"there is no response {excerpt(min(unknown))}", row.line)
        draw = mentions[0 if row.is_draw else 1]
        if row.is_draw:
            if any(row.systems == twin.systems for twin in draws[draw]):
                raise sheet.error("a draw has two rows", row.line, fix="remove this one")
            draws[draw].append(row)
        if row.is_answered:
            answers |= {(draw, frame.names.index(name)): row.answer for name in row.systems}
    for draw, twins in draws.items():
        cells = {row.answer for row in twins}
        systems = {name for row in twins for name in row.systems}
        has = frame.entity[:, draw] >= 0 if sheet.design == "pairs" else ()
        is_complete = systems.issuperset(compress(frame.names, has)) and "" not in cells
        state = "unanswered" if not is_complete else "unsure" if UNSURE in cells else "answered"
        counts[state] += 1
        rows |= {draw: twins[0]} if state == "answered" else {}
    counts["unanswered"] += max(min(sheet.signature.n, len(units.spans)) - len(draws), 0)
    members = _read_members(sheet, units, counts) if "members" in sheet.columns else {}
    return Judgements(sheet, frame, units, rows, answers, members, counts)


def _find(sheet: Sheet, row: Row, column: str, units: Units) -> int:
    """The number of the mention or sentence that a cell names."""
    place = row.document, row.cells[column]
    if place not in units.numbers:
        noun = "sentence" if column == "sentence" else "mention"
        raise sheet.error(
            f"document {excerpt(place[0])} has no {noun} {excerpt(place[1])}",
            row.line,
            expected="documents, ids and responses with which the sheet was written",
        )
    return units.numbers[place]


def _read_members(sheet: Sheet, units: Units, counts: Counter[str]) -> dict[Name | None, set[int]]:
    """The mentions of names with members, after a check that no mention has two names."""
    owners: dict[int, Row] = {}  # the first row that names a mention
    named: dict[Name | None, set[int]] = defaultdict(set)
    lists: dict[Name, list[set[int]]] = defaultdict(list)
    for row in sheet:
        mentions = {units.numbers[row.place]}
        named[row.name] |= mentions
        if row.name and row.is_draw and row.cells["members"]:
            places = [(row.document, name) for name in list_ids(row.cells, "members")]
            mentions |= {units.numbers[place] for place in places if place in units.numbers}
            counts["outside"] += sum(place not in units.numbers for place in places)
            lists[row.name].append(mentions)
        else:
            counts["idle-members"] += bool(row.cells["members"])
        for mention in mentions if row.is_answered else ():
            twin = owners.setdefault(mention, row)
            if twin.answer != row.answer:
                raise sheet.error(
                    f"rows {twin.row} and {row.row} give one mention two names",
                    row.line,
                    found=f"{excerpt(twin.answer)} and {excerpt(row.answer)}",
                    expected="one name for a mention, also where another row has it as a member",
                    fix="correct one of the two rows",
                )
    members: dict[Name | None, set[int]] = {}
    for name, sets in lists.items():
        union = set[int]().union(*sets)
        members[name] = union | named[name]
        counts["union"] += any(entry != union for entry in sets)
        counts["added"] += len(named[name] - union)
    return members


def _note_similar(names: Iterable[Name]) -> Iterator[Notice]:
    """A notice on names of a document that differ only by case or by one letter."""
    from rapidfuzz.distance import Levenshtein

    pairs = tuple(
        f"{first}/{second}"
        for (document, first), (owner, second) in combinations(sorted(names), 2)
        if document == owner
        and (first.casefold() == second.casefold() or Levenshtein.distance(first, second) == 1)
    )
    if pairs:
        text = f"names that differ by case or one letter only: {list_names(pairs)}; "
        text += "if they mean the same, use one name"
        yield Notice("similar-names", text, len(pairs), pairs)
