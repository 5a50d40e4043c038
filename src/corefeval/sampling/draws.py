"""Draws: which mentions or sentences people are asked about, and in what words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_choice, check_seed
from corefeval.diagnostics import InputError, UsageError, note
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions
from corefeval.sampling.frame import Frame, Responses, make_frame
from corefeval.sampling.page import make_page
from corefeval.sampling.sheets import COLUMNS, Row, Sheet, Signature, read_sheet

Design = Literal["names", "entities", "pairs", "sentences"]
STEPS = ("reading", "pairing", "policies", "matching")
_ODD, *_FACTORS = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFT = np.uint64(29)
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
    request = Request.of(protocol, options, steps=STEPS, sound=True)
    frame = make_frame(responses, candidates, request)
    if older is None:
        return _draw(frame, chosen, n, seed)
    check_digest(older, frame)
    return _take_over(_draw(frame, chosen, n, seed), older)


def _draw(frame: Frame, design: str, n: int, seed: int) -> Sheet:
    """A sheet of n draws: the first of a permutation that depends on seed and digest alone."""
    sentences = list_sentences(frame) if design == "sentences" else []
    size = len(sentences) if design == "sentences" else len(frame.ids)
    if not size:
        raise InputError("there is nothing to draw from", file=frame.corpora[0].name or None)
    order = np.argsort(_random_numbers(size, seed, int(frame.digest, 16)), kind="stable")
    drawn = order[:n].tolist()
    if design == "sentences":
        cells = _show_sentences(frame, [sentences[index] for index in drawn])
    else:
        cells = _show_mentions(frame, [*_QUESTIONS[design](frame, drawn, seed)])
    places = map(frame.documents.__getitem__, frame.mentions.mention_document.tolist())
    labels = dict(zip(zip(places, frame.ids), frame.mentions.labels or ()))  # noqa: B905
    empty = dict.fromkeys(COLUMNS[design], "")
    policy = _SINGLETONS[frame.protocol.singletons]
    names = tuple(sorted(frame.names))
    return Sheet(
        tuple(Row({**empty, **row, "row": f"{k}"}, k, labels) for k, row in enumerate(cells, 1)),
        tuple(line.format(**policy) for line in _INSTRUCTIONS[design]),
        Signature(design, n, size, seed, names, frame.digest, frame.protocol),
        notices=(
            *frame.notices,
            *note("all-drawn", size * (n >= size), "draw", "in all: there are no more to draw"),
        ),
        page=partial(make_page, frame),
    )


def check_digest(sheet: Sheet, frame: Frame) -> None:
    """Raise an InputError unless a sheet is about the responses and candidates of a frame."""
    signature, names = sheet.signature, tuple(sorted(frame.names))
    if signature.responses == names and signature.digest == frame.digest:
        return
    expected = f"{', '.join(signature.responses)} as they were when the sheet was drawn"
    actual = ", ".join(names) + (", and candidates" if frame.candidates is not None else "")
    renamed = "give each response the name that it had (NAME=PATH)"
    changed = "take the files that the sheet was drawn from, and the same candidates, or draw again"
    raise sheet.error(
        "the sheet is about other responses", sheet[0] if len(sheet) and not sheet.file else None,
        found=f"{actual}, with the digest {frame.digest}",
        expected=f"{expected}, with the digest {signature.digest}",
        fix=changed if signature.responses == names else renamed,
    )  # fmt: skip


def _random_numbers(size: int, *seeds: int) -> NDArray[np.uint64]:
    """Numbers that depend on seeds alone, and not on how many of them are made."""
    return np.asarray(np.random.PCG64(np.random.SeedSequence(seeds)).random_raw(size))


def _group_partners(
    frame: Frame, mention: int, seed: int, systems: Iterable[int]
) -> dict[int | None, str]:
    """Names of systems by a second mention of the entity that they give to a mention, or None.

    It is the one of the lowest priority, which depends on the seed and the two mentions alone.
    """
    partners: dict[int | None, str] = {}
    start = _random_numbers(1, seed, int(frame.digest, 16), mention)[0]
    for name, system in sorted((frame.names[system], system) for system in systems):
        if frame.entity[system, mention] < 0:
            continue
        members = frame.members(system, mention)
        members = members[members != mention]
        with np.errstate(over="ignore"):
            priority = start + members.astype(np.uint64) * _ODD
            for factor in _FACTORS:
                priority = (priority ^ (priority >> _SHIFT)) * factor
        partner = int(members[np.argmin(priority)]) if members.size else None
        partners[partner] = f"{partners[partner]};{name}" if partner in partners else name
    return partners


# The cells of a row, and its mention and partner, whose texts are yet to come.
_Question = tuple[dict[str, str], int, int | None]


def _ask_entities(frame: Frame, drawn: list[int], seed: int) -> Iterator[_Question]:
    return (({"role": "draw"}, mention, None) for mention in drawn)


def _ask_names(frame: Frame, drawn: list[int], seed: int) -> Iterator[_Question]:
    """Draws, and behind each its companions in entities of which only this mention is drawn."""
    counts = [np.bincount(row[drawn] + 1) for row in frame.entity]
    for mention in drawn:
        yield {"role": "draw"}, mention, None
        alone = [
            system
            for system, row in enumerate(frame.entity)
            if counts[system][row[mention] + 1] == 1
        ]
        for partner, names in _group_partners(frame, mention, seed, alone).items():
            if partner is not None:
                cells = {"role": "companion", "of": frame.ids[mention], "systems": names}
                yield cells, partner, None


def _ask_pairs(frame: Frame, drawn: list[int], seed: int) -> Iterator[_Question]:
    for mention in drawn:
        partners = _group_partners(frame, mention, seed, range(len(frame.names)))
        yield from (({"systems": names}, mention, partner) for partner, names in partners.items())


_QUESTIONS = {"names": _ask_names, "entities": _ask_entities, "pairs": _ask_pairs}
_TEXTS = ("before", "mention", "after")


def _show_mentions(frame: Frame, questions: Sequence[_Question]) -> Iterator[dict[str, str]]:
    """The cells of questions, with documents, ids and texts in context."""
    corpus = frame.mentions
    mentions = [mention for _, *pair in questions for mention in pair if mention is not None]
    documents = corpus.mention_document[mentions].tolist()
    if corpus.mention_start is not None and corpus.mention_end is not None:
        columns = corpus.mention_start[mentions].tolist(), corpus.mention_end[mentions].tolist()
        contexts = frame.show_contexts([*zip(documents, *columns, strict=True)])
    else:
        contexts = [["", str((corpus.labels or ())[mention]), ""] for mention in mentions]
    texts = dict(zip(mentions, contexts, strict=True))
    for cells, mention, partner in questions:
        document = frame.documents[corpus.mention_document[mention]]
        cells |= {"document": document, "id": frame.ids[mention]}
        cells |= zip(_TEXTS, texts[mention], strict=True)
        if partner is not None:
            cells["partner"] = frame.ids[partner]
            cells |= zip((f"partner_{name}" for name in _TEXTS), texts[partner], strict=True)
        yield cells


def _show_sentences(frame: Frame, sentences: Sequence[Sentence]) -> Iterator[dict[str, str]]:
    texts = frame.show_contexts([(s.document, s.start, s.end) for s in sentences])
    for sentence, (_, text, _) in zip(sentences, texts, strict=True):
        yield {
            "document": frame.documents[sentence.document],
            "sentence": str(sentence.number),
            "text": text,
            "mentions": " ".join(frame.ids[mention] for mention in sentence.mentions),
        }


class Sentence(NamedTuple):
    """A sentence: its document, its number in it from 1, its tokens, and mentions of the frame."""

    document: int
    number: int
    start: int
    end: int
    mentions: range


def list_sentences(frame: Frame) -> list[Sentence]:
    """The sentences of all documents that any response has, with the mentions that begin there."""
    sentences, offsets = [], frame.mentions.mention_offsets.tolist()
    for document, (first, last) in enumerate(pairwise(offsets)):
        responses = frame.corpora[: len(frame.names)]
        tokens = [c.tokens for c in responses if c.tokens and c.tokens.counts[document]]
        starts = frame.mentions.mention_start
        if starts is None or (tokens and not tokens[0].marks_sentences):
            raise InputError(
                "sentences cannot be drawn, because nothing says where they begin",
                file=frame.corpora[0].name or None,
                expected="a format with tokens and sentences",
                fix="take another design: names, entities or pairs",
            )
        ranges = [*tokens[0].sentence_ranges(document)] if tokens else []
        cuts = np.searchsorted(starts[first:last], [part.start for part in ranges[1:]])
        edges = [first, *(cuts + first).tolist(), last]
        for number, part in enumerate(ranges):
            mentions = range(edges[number], edges[number + 1])
            sentences.append(Sentence(document, number + 1, part.start, part.stop, mentions))
    return sentences


def _take_over(sheet: Sheet, older: Sheet) -> Sheet:
    """The sheet with the answers of an older one to the same questions."""
    names = ("document", "id", "partner", "sentence")
    answers = {tuple(row.cells.get(name) for name in names): row for row in older}
    idle = {place for place, row in answers.items() if row.cells["answer"]}
    rows = []
    for row in sheet:
        place = tuple(row.cells.get(name) for name in names)
        idle.discard(place)
        if (answered := answers.get(place)) is not None:
            columns = ("answer", "missed", *(("members",) if row.is_draw else ()))
            cells = {n: v for n in columns if (v := answered.cells.get(n)) is not None}
            row = row.changed(**cells)
        rows.append(row)
    notices = note("idle-answers", len(idle), "answer", "of the older sheet not needed any more")
    return replace(sheet, design_rows=tuple(rows), notices=(*sheet.notices, *notices))
