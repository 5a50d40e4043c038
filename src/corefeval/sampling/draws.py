"""Draws: which mentions or sentences people are asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_choice, check_seed
from corefeval.diagnostics import InputError, UsageError, note
from corefeval.files import PathLike
from corefeval.model.arrays import stable_order
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions
from corefeval.sampling.frame import Frame, Responses, Span, make_frame
from corefeval.sampling.page import make_page
from corefeval.sampling.sheets import DESIGNS, Row, Sheet, Signature, make_row, read_sheet

STEPS = ("reading", "pairing", "policies", "matching")
_TEXTS = ("before", "mention", "after")


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
        raise UsageError(f"n, the number of draws, is a whole number of at least 2, not {n!r}")
    if chosen == "pairs" and candidates is not None:
        raise UsageError("a pair is of one entity, and candidates have no entities: leave them out")
    request = Request.of(protocol, options, steps=STEPS, sound=True)
    frame = make_frame(responses, candidates, request)
    if older is not None:
        check_digest(older, frame)
    sheet = _draw(frame, chosen, n, seed)
    return sheet if older is None else _take_over(sheet, older)


def check_digest(sheet: Sheet, frame: Frame) -> None:
    """Raise an InputError unless a sheet is about the responses and candidates of a frame."""
    signature, size = sheet.signature, _count_draws(frame, sheet.design)
    if (signature.responses, signature.digest) != (frame.names, frame.digest):
        fix = "take the files that the sheet was drawn from, and the same candidates, or draw again"
        if signature.responses != frame.names:
            fix = "give each response the name that it had (NAME=PATH)"
        responses = ", ".join(frame.names) + ", and candidates" * (
            len(frame.corpora) > len(frame.names)
        )
        raise sheet.error(
            "the sheet is about other responses",
            found=f"{responses}, with the digest {frame.digest}",
            expected=f"{', '.join(signature.responses)} as they were when the sheet was drawn, "
            f"with the digest {signature.digest}",
            fix=fix,
        )
    if signature.frame != size:
        raise sheet.error(
            "the sheet was drawn from another frame",
            found=f"frame:{signature.frame}",
            expected=f"frame:{size}",
            fix="take the sheet as `corefeval sample` wrote it",
        )


def _count_draws(frame: Frame, design: str) -> int:
    """How many mentions or sentences there are to draw."""
    return len(frame.sentences if design == "sentences" else frame.ids)


def _draw(frame: Frame, design: str, n: int, seed: int) -> Sheet:
    """A sheet of n draws: the first of a permutation that depends on seed and digest alone."""
    size = _count_draws(frame, design)
    if not size:
        raise InputError("there is nothing to draw from", file=frame.corpora[0].name or None)
    bits = np.random.PCG64(np.random.SeedSequence((seed, int(frame.digest, 16))))
    numbers = np.asarray(bits.random_raw(2 * size)).reshape(2, size)
    drawn = stable_order(numbers[0])[:n].tolist()
    if design == "sentences":
        questions = [*_ask_about_sentences(frame, drawn)]
    else:
        questions = [*_ask_about_mentions(frame, design, drawn, numbers)]
    texts = iter(frame.show([span for _, spans in questions for span in spans]))
    columns, rows = DESIGNS[design].columns.split(), []
    for number, (cells, spans) in enumerate(questions, 1):
        cells["row"] = str(number)
        for prefix, shown in zip(("", "partner_"), islice(texts, len(spans)), strict=False):
            cells |= zip((f"{prefix}{name}" for name in _TEXTS), shown, strict=True)
        cells["text"] = cells["mention"]
        cells = {column: cells.get(column, "") for column in columns}
        rows.append(make_row(cells, number, frame.list_labels(cells["document"])))
    return Sheet(
        tuple(rows),
        Signature(design, n, size, seed, frame.names, frame.digest, frame.protocol),
        notices=(
            *frame.notices,
            *note("all-drawn", size * (n >= size), "draw", "in all: there is nothing more to draw"),
        ),
        page=partial(make_page, frame),
    )


# The cells of a row, but for the texts of its one or two spans.
_Question = tuple[dict[str, str], list[Span]]


def _ask_about_sentences(frame: Frame, drawn: list[int]) -> Iterator[_Question]:
    names = [(d, number) for d, numbers in frame.sentence_numbers.items() for number in numbers]
    for index in drawn:
        (document, number), sentence = names[index], frame.sentences[index]
        ids = " ".join(frame.ids[mention] for mention in frame.list_mentions(sentence))
        yield {"document": document, "sentence": number, "mentions": ids}, [sentence]


def _ask_about_mentions(
    frame: Frame, design: str, drawn: list[int], numbers: NDArray[np.uint64]
) -> Iterator[_Question]:
    """The questions on each draw, also those on a second mention of entities that it is in.

    For pairs that is a partner, or None; for names a companion, where nothing else of the entity is
    drawn. It is the mention whose first random number has the least product with the second one of
    the draw, modulo 2**64. So any other mention of an entity is as likely, and systems whose
    entities agree are asked one question.
    """
    systems = frame.entity[: len(frame.names)] if design in ("names", "pairs") else ()
    orders = [stable_order(row) for row in systems]
    counts = [np.bincount(row[drawn] + 1) for row in systems]

    def ask(mentions: Sequence[int], **cells: str) -> _Question:
        cells["id"], cells["partner"] = ([frame.ids[m] for m in mentions] + [""])[:2]
        spans = [*map(tuple, frame.spans[[*mentions]].tolist())]
        return {"document": frame.documents[spans[0][0]], **cells}, spans

    for mention in drawn:
        if design != "pairs":
            yield ask([mention], role="draw")
        partners: dict[tuple[int, ...], list[str]] = {}
        for name, row, order, count in zip(frame.names, systems, orders, counts, strict=False):
            entity = row[mention]
            if entity >= 0 and (design == "pairs" or count[entity + 1] == 1):
                members = order[slice(*np.searchsorted(row, (entity, entity + 1), sorter=order))]
                members = members[members != mention]
                products = numbers[0, members] * (numbers[1, mention] | np.uint64(1))
                chosen = [int(members[np.argmin(products)])] if members.size else []
                partners.setdefault(tuple(chosen), []).append(name)
        for partner, names in partners.items():
            if design == "pairs":
                yield ask([mention, *partner], systems=";".join(names))
            elif partner:
                yield ask(partner, role="companion", of=frame.ids[mention], systems=";".join(names))


def _take_over(sheet: Sheet, older: Sheet) -> Sheet:
    """The sheet with the answers of an older one to the same questions."""

    def identify(row: Row) -> tuple[str | None, ...]:
        return tuple(map(row.cells.get, ("document", "id", "partner", "sentence")))

    columns = {"answer", "missed", "members"}.intersection(sheet.columns)
    answers = {identify(row): {name: row.cells[name] for name in columns} for row in older}
    rows = tuple(row.changed(**answers.get(identify(row), {})) for row in sheet)
    idle = answers.keys() - map(identify, sheet)
    n_idle = sum(bool(answers[question]["answer"]) for question in idle)
    notices = note(
        "idle-answers",
        n_idle,
        "answer",
        "of the older sheet not asked for here",
    )
    return replace(sheet, questions=rows, notices=(*sheet.notices, *notices))
