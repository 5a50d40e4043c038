"""Judgements: what a person's sheet says about draws, checked against the frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, compress, groupby
from math import sqrt
from operator import itemgetter

import numpy as np

from corefeval.diagnostics import Notice, excerpt, list_names, note
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.sampling.frame import Frame
from corefeval.sampling.sheets import NO_MENTION, UNSURE, Name, Row, Sheet, list_words


@dataclass
class Judgements:
    """The answers of one sheet by draw: numbers of mentions in the frame, or of sentences.

    `rows` has the rows of each answered draw: one, or those of all systems for pairs. `members` has
    the mentions of names that a person lists, `companions` names by draw and system, and `wrong`
    the mentions of sentences that are none.
    """

    sheet: Sheet
    frame: Frame
    rows: dict[int, list[Row]] = field(default_factory=dict)
    members: dict[Name, set[int]] = field(default_factory=dict)
    companions: dict[tuple[int, int], Name | None] = field(default_factory=dict)
    wrong: set[int] = field(default_factory=set)
    notices: list[Notice] = field(default_factory=list)

    @property
    def finite(self) -> float:
        """The square root of the share of the frame that is not answered."""
        return sqrt(max(1 - len(self.rows) / self.sheet.signature.frame, 0))

    @cached_property
    def draws(self) -> IntArray:
        """The numbers of the answered draws."""
        return np.array([*self.rows], dtype=np.int64)

    @cached_property
    def names(self) -> list[Name | None]:
        """What a person calls the entity of each draw; None for no mention."""
        return [row.name for row, *_ in self.rows.values()]

    @cached_property
    def codes(self) -> IntArray:
        """A number for the name of each draw; −1 for no mention."""
        numbers = {name: n for n, name in enumerate(dict.fromkeys(filter(None, self.names)))}
        return np.array([numbers[name] if name else -1 for name in self.names], dtype=np.int64)

    def find_silent(self, system: int) -> BoolArray:
        """Which draws need a companion in the entity of a system, and have none with an answer."""
        entity = self.frame.entity[system, self.draws]
        is_alone = np.bincount(entity + 1)[entity + 1] == 1
        is_silent = np.array([(draw, system) not in self.companions for draw in self.rows], bool)
        return np.asarray(is_silent & is_alone & (self.frame.sizes[system, self.draws] > 1))


def read_judgements(sheet: Sheet, frame: Frame) -> Judgements:
    """What a sheet says; an InputError for ids that are not in the frame and for contradictions."""
    person = Judgements(sheet, frame)
    draws: dict[int, list[Row]] = {}
    unit = "sentence" if sheet.design == "sentences" else "id"
    for row in sheet:
        draw = _find(person, row, unit if row.is_draw else "of")
        systems = [_find(person, row, "systems", name) for name in row.systems]
        if row.cells.get("partner"):
            _find(person, row, "partner")
        if row.is_draw:
            draws.setdefault(draw, []).append(row)
        elif row.is_answered:
            person.companions |= {(draw, system): row.name for system in systems}
    unsure = 0
    for draw, rows in draws.items():
        answers = [row.answer for row in rows]
        names = {name for row in rows for name in row.systems}
        has = frame.entity[:, draw] >= 0 if sheet.design == "pairs" else ()
        if "" not in answers and names.issuperset(compress(frame.names, has)):
            unsure += UNSURE in answers
            person.rows |= {} if UNSURE in answers else {draw: rows}
        if sheet.design == "sentences":
            _read_sentence(person, draw, rows[0])
    if sheet.design in ("names", "entities"):
        _read_names(person)
    n_draws = max(min(sheet.signature.n, sheet.signature.frame), len(draws))
    unanswered = n_draws - unsure - len(person.rows)
    person.notices += (
        *note("unanswered", unanswered, "draw", "without an answer left out"),
        *note("unsure", unsure, "draw", f"answered with {UNSURE} left out"),
    )
    if unsure > 0.05 * (unsure + len(person.rows)):
        text = f"more than 5 % of the answers are {UNSURE}: scores are about the others alone"
        person.notices.append(Notice("many-unsure", text, unsure))
    return person


def _find(person: Judgements, row: Row, column: str, text: str | None = None) -> int:
    """The number of the mention, sentence or system that a row names in a column."""
    frame, name = person.frame, row.cells[column] if text is None else text
    if column == "systems":
        noun, numbers = "response", {title: n for n, title in enumerate(frame.names)}
    elif column == "sentence":
        noun, numbers = "sentence", frame.sentence_numbers.get(row.document, {})
    else:
        noun, numbers = "mention", frame.numbers.get(row.document, {})
    if name not in numbers:
        raise person.sheet.error(
            f"{excerpt(name)} is no {noun} of document {excerpt(row.document)}",
            row,
            expected="documents, ids and responses with which the sheet was written",
            fix="restore the row as `corefeval sample` wrote it",
        )
    return numbers[name]


def _read_names(person: Judgements) -> None:
    """Check that a mention has one name, and read the members of entities."""
    first: dict[int, Row] = {}
    named: dict[Name | None, set[int]] = {}
    lists: dict[Name, list[set[int]]] = {}
    ignored = outside = 0
    for row in person.sheet:
        mention = _find(person, row, "id")
        if row.is_answered:
            twin = first.setdefault(mention, row)
            _check_name(person.sheet, twin, row, "rows {} and {} give one mention two names")
            named.setdefault(row.name, set()).add(mention)
    for row in person.sheet:
        if row.members is None:
            continue
        if row.name is None or not (row.is_draw and row.is_answered):
            ignored += 1
            continue
        numbers = person.frame.numbers[row.document]
        ids = list_words(row.cells["members"])
        members = {numbers[word] for word in ids if word in numbers}
        outside += sum(word not in numbers for word in ids)
        for mention in members & first.keys():
            problem = "row {} has the mention of row {} among its members"
            _check_name(person.sheet, row, first[mention], problem)
        lists.setdefault(row.name, []).append(members | {numbers[row.cells["id"]]})
    unions = {name: set[int]().union(*members) for name, members in lists.items()}
    person.members = {name: members | named[name] for name, members in unions.items()}
    if person.frame.protocol.singletons == "drop":
        _drop_singletons(person)
    differing = sum(any(m != unions[name] for m in members) for name, members in lists.items())
    added = sum(len(named[name] - members) for name, members in unions.items())
    person.notices += (
        *note("idle-members", ignored, "list of members", "in rows that need none ignored"),
        *note("outside", outside, "member", "outside of the frame left out"),
        *note("union", differing, "name", "with different members in several rows: all count"),
        *note("added", added, "mention", "with a name, but not among its members, added to them"),
        *_note_similar(sorted(filter(None, named))),
    )


def _check_name(sheet: Sheet, row: Row, twin: Row, problem: str) -> None:
    """Raise an InputError where two rows about one mention give it different names."""
    if row.answer != twin.answer:
        raise sheet.error(
            problem.format(row.row, twin.row),
            twin,
            found=f"{excerpt(row.answer)} and {excerpt(twin.answer)}",
            expected="one name for one mention",
        )


def _drop_singletons(person: Judgements) -> None:
    """With singletons dropped, an entity that is known to have one mention is none."""
    for draw, (row, *_) in person.rows.items():
        if row.name and len(person.members.get(row.name, ())) == 1:
            person.rows[draw] = [row.changed(answer=NO_MENTION)]


def _note_similar(names: Sequence[Name]) -> Iterator[Notice]:
    """A notice on names of a document that differ only by case or by one letter."""
    from rapidfuzz.distance import Levenshtein

    pairs = [
        f"{first}/{second}"
        for _, group in groupby(names, key=itemgetter(0))
        for (_, first), (_, second) in combinations(group, 2)
        if first.casefold() == second.casefold()
        or Levenshtein.distance(first, second, score_cutoff=1) <= 1
    ]
    if pairs:
        text = f"names that differ only by case or one letter are different: {list_names(pairs)}"
        yield Notice("similar-names", text, len(pairs), tuple(pairs))


def _read_sentence(person: Judgements, draw: int, row: Row) -> None:
    """Read which mentions of a sentence are none."""
    words = list_words(row.cells["answer"]) if row.is_answered else ()
    wrong = {_find(person, row, "id", word) for word in words}
    if not wrong.issubset(person.frame.sentences[draw].mentions):
        raise person.sheet.error("a mention of another sentence", row, expected="its own")
    person.wrong |= wrong
