"""Draws: which mentions or sentences people are asked about, and in what words."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_choice, check_seed
from corefeval.diagnostics import InputError, UsageError, note
from corefeval.model.arrays import stable_order
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions
from corefeval.sampling.frame import Frame, Responses, make_frame
from corefeval.sampling.page import make_page
from corefeval.sampling.sheets import COLUMNS, Sheet, Signature, make_row, read_sheet

Design = Literal["names", "entities", "pairs", "sentences"]
STEPS = ("reading", "pairing", "policies", "matching")
_ODD, *_FACTORS = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFT = np.uint64(29)
_TEXTS = ("before", "mention", "after")
_STOP = "Rows are in random order: stop whenever you like, but not because of what you saw."
_NAME = "Write who or what it is into the column answer: one name for one entity of a document."
_MEMBERS = "list the ids of its other mentions in the column members, or none"
_INSTRUCTIONS = {
    "names": (_NAME, "{wrong}", f"If a name occurs in one draw only, {_MEMBERS}.", _STOP),
    "entities": (_NAME, "{wrong}", f"In the first row of each name, {_MEMBERS}.", _STOP),
    "pairs": (
        "Write y into the column answer if the mention and its partner are the same, and n if not.",
        "Without a partner, write y if it is the only mention of its entity, and n if it is not.",
        "{wrong}",
        _STOP,
    ),
    "sentences": (
        "Write the ids of mentions that are none into the column answer, or none, or ?.",
        "Write into the column missed how many mentions that begin in the sentence are missing.",
        "{single}",
        _STOP,
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


def sample(
    responses: Responses,
    *,
    n: int,
    design: Design | None = None,
    seed: int = 0,
    candidates: Input | None = None,
    answers: Sheet | str | os.PathLike[str] | None = None,
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
    older = read_sheet(answers) if isinstance(answers, str | os.PathLike) else answers
    if older is not None:
        if design not in (None, older.design) or seed not in (0, older.signature.seed):
            raise UsageError("design and seed are those of the answers: leave them out")
        seed, protocol = older.signature.seed, older.signature.protocol
    chosen = older.design if older is not None else str(design)
    check_choice("design", chosen, get_args(Design))
    check_seed(seed)
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise UsageError(f"n, the number of draws, is a whole number of at least 2, not {n!r}")
    if chosen == "pairs" and candidates is not None:
        raise UsageError("a pair is of one entity, and candidates have none: leave them out")
    frame = make_frame(
        responses, candidates, Request.of(protocol, options, steps=STEPS, sound=True)
    )
    if older is not None:
        check_digest(older, frame)
    sheet = _draw(frame, chosen, n, seed)
    return sheet if older is None else _take_over(sheet, older)


def _draw(frame: Frame, design: str, n: int, seed: int) -> Sheet:
    """A sheet of n draws: the first of a permutation that depends on seed and digest alone."""
    size = len(frame.sentences if design == "sentences" else frame.ids)
    if not size:
        raise InputError("there is nothing to draw from", file=frame.corpora[0].name or None)
    order = np.argsort(_random_numbers(frame, size, seed), kind="stable")
    drawn = order[:n].tolist()
    if design == "sentences":
        questions = _show_sentences(frame, drawn)
    else:
        questions = _show_mentions(frame, [*_ask(frame, design, drawn, seed)])
    labels = frame.mentions.labels or ()
    places = zip(frame.mentions.mention_document.tolist(), frame.ids, labels, strict=False)
    labels_by_id = {(frame.documents[place], name): label for place, name, label in places}
    empty = dict.fromkeys(COLUMNS[design], "")
    rows = [empty | cells for cells in questions]
    singletons = _SINGLETONS[frame.protocol.singletons]
    return Sheet(
        tuple(make_row(r | {"row": f"{k}"}, k, labels_by_id) for k, r in enumerate(rows, 1)),
        tuple(line.format(**singletons) for line in _INSTRUCTIONS[design]),
        Signature(design, n, size, seed, frame.names, frame.digest, frame.protocol),
        notices=(
            *frame.notices,
            *note("all-drawn", size * (n >= size), "draw", "in all: there are no more to draw"),
        ),
        page=partial(make_page, frame),
    )


def check_digest(sheet: Sheet, frame: Frame) -> None:
    """Raise an InputError unless a sheet is about the responses and candidates of a frame."""
    signature = sheet.signature
    if (signature.responses, signature.digest) != (frame.names, frame.digest):
        fix = "take the files that the sheet was drawn from, and the same candidates, or draw again"
        if signature.responses != frame.names:
            fix = "give each response the name that it had (NAME=PATH)"
        responses = ", ".join(frame.names) + ", and candidates" * frame.has_candidates
        raise sheet.error(
            "the sheet is about other responses",
            sheet[0] if len(sheet) and not sheet.file else None,
            found=f"{responses}, with the digest {frame.digest}",
            expected=f"{', '.join(signature.responses)} as they were when the sheet was drawn, "
            f"with the digest {signature.digest}",
            fix=fix,
        )


def _random_numbers(frame: Frame, size: int, *seeds: int) -> NDArray[np.uint64]:
    """Numbers that depend on seeds and digest alone, and not on how many of them are made."""
    sequence = np.random.SeedSequence((seeds[0], int(frame.digest, 16), *seeds[1:]))
    return np.asarray(np.random.PCG64(sequence).random_raw(size))


# The cells of a row, and its mention and partner, whose texts are yet to come.
_Question = tuple[dict[str, str], int, int | None]


def _ask(frame: Frame, design: str, drawn: list[int], seed: int) -> Iterator[_Question]:
    """The questions on each draw, also those on a second mention of entities that it is in.

    For pairs that is a partner, or None; for names a companion, where nothing else of the entity is
    drawn. It is the mention of the lowest priority, which depends on the seed and the two mentions.
    """
    systems = frame.entity[: len(frame.names)] if design in ("names", "pairs") else ()
    orders = [stable_order(row) for row in systems]
    counts = [np.bincount(row[drawn] + 1) for row in systems]
    for mention in drawn:
        if design != "pairs":
            yield {"role": "draw"}, mention, None
        partners: dict[int | None, list[str]] = {}
        for name, row, order, count in zip(frame.names, systems, orders, counts, strict=False):
            entity = row[mention]
            if entity >= 0 and (design == "pairs" or count[entity + 1] == 1):
                edges = np.searchsorted(row, (entity, entity + 1), sorter=order)
                members = order[slice(*edges)]
                members = members[members != mention]
                priority = (
                    _random_numbers(frame, 1, seed, mention) + members.astype(np.uint64) * _ODD
                )
                for factor in _FACTORS:
                    priority = (priority ^ (priority >> _SHIFT)) * factor
                partner = int(members[np.argmin(priority)]) if members.size else None
                partners.setdefault(partner, []).append(name)
        for partner, names in partners.items():
            cells = {"systems": ";".join(names)}
            if design == "pairs":
                yield cells, mention, partner
            elif partner is not None:
                yield {**cells, "role": "companion", "of": frame.ids[mention]}, partner, None


def _show_mentions(frame: Frame, questions: Sequence[_Question]) -> Iterator[dict[str, str]]:
    """The cells of questions, with documents, ids and texts in context."""
    corpus, labels = frame.mentions, frame.mentions.labels
    mentions = [mention for _, *pair in questions for mention in pair if mention is not None]
    if labels is not None:
        texts: dict[int, Sequence[str]] = {m: ("", str(labels[m]), "") for m in mentions}
    else:
        columns = corpus.mention_document, corpus.mention_start, corpus.mention_end
        columns_of_mentions = (np.asarray(column)[mentions].tolist() for column in columns)
        spans = dict(zip(mentions, zip(*columns_of_mentions, strict=True), strict=True))
        contexts = frame.show_contexts([*spans.values()])
        texts = {mention: contexts.get(span, ("", "", "")) for mention, span in spans.items()}
    for cells, mention, partner in questions:
        document = frame.documents[corpus.mention_document[mention]]
        cells |= {"document": document, "id": frame.ids[mention]}
        cells |= zip(_TEXTS, texts[mention], strict=True)
        if partner is not None:
            cells["partner"] = frame.ids[partner]
            cells |= zip((f"partner_{name}" for name in _TEXTS), texts[partner], strict=True)
        yield cells


def _show_sentences(frame: Frame, drawn: list[int]) -> Iterator[dict[str, str]]:
    sentences = [frame.sentences[number] for number in drawn]
    contexts = frame.show_contexts([s.span for s in sentences])
    for sentence in sentences:
        yield {
            "document": frame.documents[sentence.document],
            "sentence": str(sentence.number),
            "text": contexts.get(sentence.span, ("", ""))[1],
            "mentions": " ".join(frame.ids[mention] for mention in sentence.mentions),
        }


def _take_over(sheet: Sheet, older: Sheet) -> Sheet:
    """The sheet with the answers of an older one to the same questions."""
    columns = ("document", "id", "partner", "sentence")
    answers = {tuple(map(row.cells.get, columns)): row.cells for row in older}
    rows = []
    for row in sheet:
        cells = answers.get(tuple(map(row.cells.get, columns)), row.cells)
        names = cells.keys() & {"answer", "missed", "members"}
        rows.append(row.changed(**{name: cells[name] for name in names}))
    places = {tuple(map(row.cells.get, columns)) for row in sheet}
    idle = sum(bool(cells["answer"]) for key, cells in answers.items() if key not in places)
    notices = note("idle-answers", idle, "answer", "of the older sheet not needed any more")
    return replace(sheet, design_rows=tuple(rows), notices=(*sheet.notices, *notices))
