"""Draws: which mentions or sentences people are asked about, and what they answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, compress
from math import sqrt
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_choice, check_seed
from corefeval.diagnostics import InputError, Notice, UsageError, excerpt, list_names, note
from corefeval.files import PathLike
from corefeval.model.arrays import IntArray, integers, stable_order
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions
from corefeval.sampling.frame import DECLARED, Frame, Responses, Units, make_frame
from corefeval.sampling.sheets import (
    DESIGNS,
    UNSURE,
    Name,
    Row,
    Sheet,
    Signature,
    read_sheet,
)

STEPS = ("reading", "pairing", "policies", "matching")
_TEXTS = ("before", "mention", "after", "partner_before", "partner_mention", "partner_after")
_FEW = 30  # answered draws, below which intervals were not checked


def sample(
    responses: Responses,
    *,
    n: int,
    design: Literal["names", "entities", "pairs", "sentences"] | None = None,
    seed: int = 0,
    candidates: Input | None = None,
    answers: Sheet | PathLike | None = None,
    protocol: Protocol | str | None = None,
    **options: Unpack[ScoreOptions],
) -> Sheet:
    """Draw mentions or sentences of responses for people to judge.

    `responses` is one response or maps names to responses, each whatever `score` takes. `design` is
    "names", "entities", "pairs" or "sentences"; `n` is the number of draws. The mentions of
    `candidates`, another corpus, can be drawn as well. `answers` is an older sheet of the same
    responses, whose design, seed, protocol and answers are taken over. Options are those choices of
    a protocol that concern one side (`singletons`, `duplicates`), and how files are read.

    >>> sheet = sample([["Ada", "she"], ["it"]], design="names", n=2)
    >>> sorted(row.role for row in sheet)[-2:]
    ['draw', 'draw']
    """
    chosen = str(design)
    older = None if answers is None else read_sheet(answers)
    if older is not None:
        if design not in (None, older.design) or seed not in (0, older.signature.seed):
            raise UsageError("the answers have a design and a seed already: leave them out")
        chosen, seed, protocol = older.design, older.signature.seed, older.signature.protocol
    check_choice("design", chosen, DESIGNS)
    check_seed(seed)
    if type(n) is not int or n < 2:
        raise UsageError(f"--n, the number of draws, is a whole number of at least 2, not {n!r}")
    if chosen == "pairs" and candidates is not None:
        raise UsageError("a pair is of one entity, and candidates have no entities: leave them out")
    request = Request.of(protocol, options, steps=STEPS, sound=True)
    frame = make_frame(responses, candidates, request)
    if older is not None:
        find_units(older, frame)
    sheet = _draw(frame, chosen, n, seed)
    return sheet if older is None else _take_over(sheet, older)


def find_units(sheet: Sheet, frame: Frame) -> Units:
    """What a sheet was drawn from; an InputError if that is not in the frame of the responses."""
    signature = sheet.signature
    units = frame.sentences if sheet.design == "sentences" else frame.mentions
    drawn_from = signature.responses, signature.frame, signature.digest
    if drawn_from != (frame.names, len(units.spans), frame.digest):
        has_candidates = len(frame.corpora) > len(frame.names)
        raise sheet.error(
            "the sheet is about other responses",
            found=f"{', '.join(frame.names)}{', and candidates' * has_candidates}, "
            f"with frame:{len(units.spans)} and digest:{frame.digest}",
            expected=f"{', '.join(signature.responses)} as they were when the sheet was drawn, "
            f"with frame:{signature.frame} and digest:{signature.digest}",
            fix="take the files that the sheet was drawn from, under the names that they had "
            "(NAME=PATH), and the same candidates, or draw again",
        )
    return units


def _draw(frame: Frame, design: str, n: int, seed: int) -> Sheet:
    """A sheet of n draws: the first of a permutation that depends on seed and digest alone."""
    units = frame.sentences if design == "sentences" else frame.mentions
    size = len(units.spans)
    if not size:
        raise InputError("there is nothing to draw from", file=frame.corpora[0].name or None)
    bits = np.random.PCG64(np.random.SeedSequence((seed, int(frame.digest, 16))))
    numbers = np.asarray(bits.random_raw(2 * size)).reshape(2, size)
    signature = Signature(design, n, size, seed, frame.names, frame.digest, frame.protocol)
    notices = note("all-drawn", size * (n >= size), "draw", "in all: there is nothing more to draw")
    sheet = Sheet(signature, notices=(*frame.notices, *notices), frame=frame)
    questions = [*_ask(frame, design, stable_order(numbers[0])[:n].tolist(), numbers)]
    shown = frame.show([units.spans[unit] for drawn, _ in questions for unit in drawn])
    rows = []
    for number, (drawn, cells) in enumerate(questions, 1):
        document, name = units.places[drawn[0]]
        texts = chain.from_iterable(shown[units.spans[unit]] for unit in drawn)
        cells |= {"row": str(number), "document": document, "id": name, "sentence": name}
        cells |= zip(_TEXTS, texts, strict=False)
        cells["text"] = cells["mention"]
        kept = {column: cells.get(column, "") for column in sheet.columns}
        rows.append(Row(sheet, kept, number))
    return replace(sheet, questions=rows)


def _ask(
    frame: Frame, design: str, drawn: list[int], numbers: NDArray[np.uint64]
) -> Iterator[tuple[list[int], dict[str, str]]]:
    """The questions on each draw: the one or two units that each is about, and some of its cells.

    In names and pairs there are questions on a second mention of entities that a draw is in: a
    partner where there is any, or a companion where nothing else of the entity is drawn. It is the
    mention whose first random number has the least product with the second one of the draw, modulo
    2**64. So any other mention of an entity is as likely, and systems whose entities agree are
    asked one question.
    """
    places = frame.mentions.places
    systems = frame.entity[: len(frame.names)] if design in ("names", "pairs") else ()
    orders = [stable_order(entity) for entity in systems]
    for unit in drawn:
        cells = {"role": "draw"}
        if design == "sentences":
            mentions = frame.begin_in(frame.sentences.spans[unit])
            cells["mentions"] = " ".join(places[mention][1] for mention in mentions)
        if design != "pairs":
            yield [unit], cells
        partners: dict[tuple[int, ...], list[str]] = {}
        for name, entity, order in zip(frame.names, systems, orders, strict=False):
            count = (entity[drawn] == entity[unit]).sum()
            if entity[unit] >= 0 and (design == "pairs" or count == 1):
                edges = np.searchsorted(entity, entity[unit] + np.arange(2), sorter=order)
                members = order[slice(*edges)]
                members = members[members != unit]
                products = numbers[0, members] * (numbers[1, unit] | np.uint64(1))
                chosen = members[np.argsort(products)[:1]].tolist()
                partners.setdefault(tuple(chosen), []).append(name)
        for partner, names in partners.items():
            cells = {"systems": ";".join(names)}
            if design == "pairs":
                cells["partner"] = "".join(places[mention][1] for mention in partner)
                yield [unit, *partner], cells
            elif partner:
                yield [*partner], {**cells, "role": "companion", "of": places[unit][1]}


def _take_over(sheet: Sheet, older: Sheet) -> Sheet:
    """The sheet with the answers of an older one to the same questions."""

    def identify(row: Row) -> tuple[object, ...]:
        return row.place, row.cells.get("partner")

    columns = {"answer", "missed", "members"}.intersection(sheet.columns)
    given = [row for row in older if row.cells["answer"]]
    answers = {identify(row): {name: row.cells[name] for name in columns} for row in given}
    n_idle = len(answers.keys() - map(identify, sheet))
    notices = note("idle-answers", n_idle, "answer", "of the older sheet not asked for here")
    filled = sheet.change(answers.get(identify(row), {}) for row in sheet)
    return replace(filled, notices=(*sheet.notices, *notices))


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
        for kind, outcome in DECLARED["notices"].items():
            yield from note(kind, self.counts[kind], *outcome)
        if self.has_many_unsure:
            text = f"more than 5 % of the answers are {UNSURE}: scores are about the rest only"
            yield Notice("many-unsure", text, self.counts["unsure"])
        if (n := len(self.rows)) < _FEW:
            text = f"only {n} answered draws: intervals were not checked below {_FEW}"
            yield Notice("few-draws", text, n)
        names = sorted({row.name for row in self.sheet if row.name})
        pairs = tuple(
            f"{first}/{second}"
            for (document, first), (owner, second) in combinations(names, 2)
            if document == owner and _are_similar(first, second)
        )
        if pairs:
            text = f"names that differ by case or one letter only: {list_names(pairs)}; "
            text += "if they mean the same, use one name"
            yield Notice("similar-names", text, len(pairs), pairs)


def _are_similar(first: str, second: str) -> bool:
    """Whether two names differ only by case or by one letter."""
    from rapidfuzz.distance import Levenshtein

    is_near = Levenshtein.distance(first, second, score_cutoff=1) == 1
    return is_near or first.casefold() == second.casefold()


def read_judgements(sheet: Sheet, frame: Frame) -> Judgements:
    """What a sheet says; an InputError for ids that are not in the frame and for contradictions."""
    units, answers = find_units(sheet, frame), dict[tuple[int, int], str]()
    counts, rows = Counter[str](), dict[int, Row]()
    draws: dict[int, list[Row]] = defaultdict(list)
    noun = "sentence" if sheet.design == "sentences" else "mention"
    for row in sheet:
        places = [row.place]
        if row.partner or not row.is_draw:
            places.append((row.document, row.cells["partner" if row.partner else "of"]))
        for document, name in places:
            if (document, name) not in units.numbers:
                problem = f"document {excerpt(document)} has no {noun} {excerpt(name)}"
                raise sheet.error(problem, row.line, expected="ids as the sheet was written")
        draw = units.numbers[places[0 if row.is_draw else 1]]
        if unknown := {*row.systems}.difference(frame.names):
            raise sheet.error(f"there is no response {excerpt(min(unknown))}", row.line)
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


def _read_members(sheet: Sheet, units: Units, counts: Counter[str]) -> dict[Name | None, set[int]]:
    """The mentions of names with members, after a check that no mention has two names."""
    owners: dict[int, Row] = {}  # the first row that names a mention
    named: dict[Name | None, set[int]] = defaultdict(set)
    lists: dict[Name, list[set[int]]] = defaultdict(list)
    for row in sheet:
        mentions = {units.numbers[row.place]}
        named[row.name] |= mentions
        if row.name and row.is_draw and row.cells["members"]:
            places = [(row.document, name) for name in row.list_ids("members")]
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
