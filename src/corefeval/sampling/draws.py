"""Draws: which mentions or sentences people are asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_choice, check_seed
from corefeval.diagnostics import InputError, UsageError, note
from corefeval.files import PathLike
from corefeval.model.arrays import stable_order
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions
from corefeval.sampling.frame import Frame, Responses, Units, make_frame
from corefeval.sampling.sheets import DESIGNS, Row, Sheet, Signature, read_sheet

STEPS = ("reading", "pairing", "policies", "matching")
_TEXTS = "before mention after partner_before partner_mention partner_after".split()


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
    units = frame.list_units(sheet.design)
    signature = sheet.signature
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
    units = frame.list_units(design)
    size = len(units.spans)
    if not size:
        raise InputError("there is nothing to draw from", file=frame.corpora[0].name or None)
    bits = np.random.PCG64(np.random.SeedSequence((seed, int(frame.digest, 16))))
    numbers = np.asarray(bits.random_raw(2 * size)).reshape(2, size)
    signature = Signature(design, n, size, seed, frame.names, frame.digest, frame.protocol)
    notices = note("all-drawn", size * (n >= size), "draw", "in all: there is nothing more to draw")
    sheet = Sheet(signature, notices=(*frame.notices, *notices), frame=frame)
    questions = [*_ask(frame, design, stable_order(numbers[0])[:n].tolist(), numbers)]
    shown = frame.show([units.spans[unit] for asked, _ in questions for unit in asked])
    rows = []
    for number, (asked, cells) in enumerate(questions, 1):
        document, name = units.places[asked[0]]
        texts = chain.from_iterable(shown[units.spans[unit]] for unit in asked)
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

    def identify(row: Row) -> tuple[str | None, ...]:
        return tuple(map(row.cells.get, ("document", "id", "partner", "sentence")))

    columns = {"answer", "missed", "members"}.intersection(sheet.columns)
    answers = {identify(row): {name: row.cells[name] for name in columns} for row in older}
    idle = [answers[question] for question in answers.keys() - map(identify, sheet)]
    n_idle = sum(bool(cells["answer"]) for cells in idle)
    notices = note("idle-answers", n_idle, "answer", "of the older sheet not asked for here")
    filled = sheet.change(lambda row: answers.get(identify(row), {}))
    return replace(filled, notices=(*sheet.notices, *notices))
