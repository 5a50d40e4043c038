"""Judgements: what a person's sheet says about draws, checked against the frame."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import sqrt
from typing import Any

from corefeval.diagnostics import Notice, excerpt, list_names, note
from corefeval.sampling.draws import list_sentences
from corefeval.sampling.frame import Frame
from corefeval.sampling.sheets import NO_MENTION, NONE, UNSURE, Row, Sheet

_SOME_ID = re.compile(r"m\d+|\d+\.\.\d+(\+\d+\.\.\d+)*")
Name = tuple[str, str]  # a document, and what a person calls an entity of it


@dataclass
class Judgements:
    """The answers of one sheet by draw: numbers of mentions in the frame, or of sentences.

    `answers` has what is answered: a name or None for no mention (`names`, `entities`), an answer
    for each system (`pairs`), or wrong mentions and how many are missed (`sentences`). `members`
    has the entities whose mentions are known, `companions` answers by draw and system.
    """

    sheet: Sheet
    frame: Frame
    answers: dict[int, Any] = field(default_factory=dict)
    unsure: dict[int, Any] = field(default_factory=dict)
    draws: int = 0
    members: dict[Name, set[int]] = field(default_factory=dict)
    companions: dict[tuple[int, int], Name | None] = field(default_factory=dict)
    row_of: dict[object, Row] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

    @property
    def finite(self) -> float:
        """The square root of the share of the frame that is not answered."""
        return sqrt(max(1 - len(self.answers) / self.sheet.signature.frame, 0))


def read_judgements(sheet: Sheet, frame: Frame) -> Judgements:
    """What a sheet says; an InputError for ids that are not in the frame and for contradictions."""
    judgements = Judgements(sheet, frame)
    {"pairs": _read_pairs, "sentences": _read_sentences}.get(sheet.design, _read_names)(judgements)
    unanswered = judgements.draws - len(judgements.answers) - len(judgements.unsure)
    unanswered += max(min(sheet.signature.n, sheet.signature.frame) - judgements.draws, 0)
    unsure = len(judgements.unsure)
    judgements.notices += (
        *note("unanswered", unanswered, "draw", "without an answer left out"),
        *note("unsure", unsure, "draw", f"answered with {UNSURE} left out"),
    )
    if unsure > 0.05 * (unsure + len(judgements.answers)):
        text = f"more than 5 % of the answers are {UNSURE}: scores are about the others alone"
        judgements.notices.append(Notice("many-unsure", text, unsure))
    return judgements


def _find(judgements: Judgements, row: Row, column: str = "id") -> int:
    """The number in the frame of the mention that a row names in a column."""
    text = row.cells[column]
    number = judgements.frame.find(row.document, text)
    if number is None:
        raise judgements.sheet.error(
            f"{excerpt(text)} is no mention of document {excerpt(row.document)}",
            row,
            expected="the documents and ids with which the sheet was written",
            fix="restore the row as `corefeval sample` wrote it",
        )
    return number


def _find_systems(judgements: Judgements, row: Row) -> Iterator[int]:
    names = judgements.frame.names
    for name in row.systems:
        if name not in names:
            raise judgements.sheet.error(
                f"there is no response {excerpt(name)}", row, expected="; ".join(names)
            )
        yield names.index(name)


def _read_names(judgements: Judgements) -> None:
    """Read names of draws and companions, and the members of entities."""
    names: dict[int, Row] = {}
    listed: dict[Name, list[Row]] = {}
    ignored = 0
    for row in judgements.sheet:
        mention, answer = _find(judgements, row), row.answer
        twin = names.setdefault(mention, row) if answer not in ("", UNSURE) else row
        if twin.answer != answer:
            raise judgements.sheet.error(
                f"rows {twin.row} and {row.row} give one mention two names", row,
                found=f"{excerpt(twin.answer)} and {excerpt(answer)}", expected="one name",
            )  # fmt: skip
        is_named = row.is_draw and answer not in ("", NO_MENTION, UNSURE)
        ignored += row.members is not None and not is_named
        if row.is_draw:
            judgements.draws += 1
            name = (row.document, answer) if is_named else None
            if answer in ("", UNSURE):
                judgements.unsure |= {mention: None} if answer else {}
                continue
            judgements.answers[mention] = name
            judgements.row_of.setdefault(name or mention, row)
            if name is not None and row.members is not None:
                listed.setdefault(name, []).append(row)
        elif answer not in ("", UNSURE):
            draw = _find(judgements, row, "of")
            for system in _find_systems(judgements, row):
                companion = None if answer == NO_MENTION else (row.document, answer)
                judgements.companions[draw, system] = companion
    outcome = "in rows of companions or of what is no mention ignored"
    judgements.notices += note("idle-members", ignored, "list of members", outcome)
    _collect_members(judgements, listed, names)
    _drop_singletons(judgements)
    judgements.notices += _note_similar({name for name in judgements.answers.values() if name})


def _collect_members(
    judgements: Judgements, listed: Mapping[Name, list[Row]], names: Mapping[int, Row]
) -> None:
    """The mentions of each entity that a person lists; errors for those with other names."""
    find, sheet = judgements.frame.find, judgements.sheet
    outside = added = unions = 0
    named: dict[Name, set[int]] = {}
    for mention, row in names.items():
        named.setdefault((row.document, row.answer), set()).add(mention)
    for name, rows in listed.items():
        lists = []
        for row in rows:
            ids = [word for word in row.cells["members"].split() if word != NONE]
            for word in ids:
                if not _SOME_ID.fullmatch(word):
                    raise sheet.error(
                        f"{excerpt(word)} is no id of a mention", row,
                        expected="ids such as 3..5 with blanks between them, or none",
                    )  # fmt: skip
            present = [n for word in ids if (n := find(row.document, word)) is not None]
            outside += len(ids) - len(present)
            for mention in present:
                if (twin := names.get(mention, row)).answer != row.answer:
                    raise sheet.error(
                        f"row {row.row} has the mention of row {twin.row} among its members", row,
                        found=f"{excerpt(row.answer)} and {excerpt(twin.answer)}",
                        expected="one name for one mention",
                    )  # fmt: skip
            lists.append({*present, _find(judgements, row)})
        joint = set().union(*lists)
        unions += any(members != joint for members in lists)
        added += len(named[name] - joint)
        judgements.members[name] = joint | named[name]
    judgements.notices += (
        *note("outside", outside, "member", "outside of the frame left out"),
        *note("union", unions, "name", "with different members in several rows: all of them count"),
        *note("added", added, "mention", "with a name, but not among its members, added to them"),
    )


def _drop_singletons(judgements: Judgements) -> None:
    """With singletons dropped, an entity that is known to have one mention is none."""
    if judgements.frame.protocol.singletons == "drop":
        single = {name for name, members in judgements.members.items() if len(members) == 1}
        judgements.answers |= {m: None for m, name in judgements.answers.items() if name in single}
        for name in single:
            del judgements.members[name]


def _note_similar(names: set[Name]) -> Iterator[Notice]:
    """A notice on names of a document that differ only by case or by one letter."""
    from rapidfuzz.distance import Levenshtein

    by_document: dict[str, list[str]] = {}
    for document, name in sorted(names):
        by_document.setdefault(document, []).append(name)
    pairs = [
        f"{first}/{second}"
        for listed in by_document.values()
        for first, second in combinations(listed, 2)
        if first.casefold() == second.casefold()
        or Levenshtein.distance(first, second, score_cutoff=1) <= 1
    ]
    if pairs:
        text = "names that differ only by case or by one letter are different names: {items}"
        text = text.replace("{items}", list_names(pairs))
        yield Notice("similar-names", text, len(pairs), tuple(pairs))


def _read_pairs(judgements: Judgements) -> None:
    """Read the answers of each system's row of a draw; a draw needs all of its rows."""
    frame, draws = judgements.frame, dict[int, dict[int, str]]()
    for row in judgements.sheet:
        if row.cells["partner"]:
            _find(judgements, row, "partner")
        answers = draws.setdefault(_find(judgements, row), {})
        answers |= dict.fromkeys(_find_systems(judgements, row), row.answer)
        judgements.row_of[row.row] = row
    judgements.draws = len(draws)
    for mention, answers in draws.items():
        systems = (frame.entity[:, mention] >= 0).nonzero()[0].tolist()
        values = [answers.get(system, "") for system in systems]
        if "" not in values:
            target = judgements.unsure if UNSURE in values else judgements.answers
            target[mention] = {system: answers[system] for system in systems}


def _read_sentences(judgements: Judgements) -> None:
    """Read which mentions of sentences are wrong, and how many are missed."""
    sentences = list_sentences(judgements.frame)
    documents = judgements.frame.documents
    places = {(documents[s.document], str(s.number)): n for n, s in enumerate(sentences)}
    for row in judgements.sheet:
        number = places.get((row.document, row.cells["sentence"]))
        if number is None:
            raise judgements.sheet.error(
                f"document {excerpt(row.document)} has no sentence {row.cells['sentence']}", row,
                fix="restore the row as `corefeval sample` wrote it",
            )  # fmt: skip
        judgements.draws += 1
        judgements.row_of[row.row] = row
        answer = row.cells["answer"]
        if answer == UNSURE:
            judgements.unsure[number] = None
        elif answer:
            words = [word for word in answer.split() if word != NONE]
            wrong = {judgements.frame.find(row.document, word) for word in words}
            mentions = {*sentences[number].mentions}
            if not wrong <= mentions:
                raise judgements.sheet.error(
                    "an id that is no mention of the sentence", row, found=excerpt(answer)
                )
            judgements.answers[number] = mentions - wrong, mentions, row.answer[1]
