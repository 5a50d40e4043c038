"""Annotations of a key that look wrong, because responses agree against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.agreement import read_annotations
from corefeval.analysis.units import Units, list_mentions
from corefeval.checks import check_seed
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Row, Tabular
from corefeval.model import Corpus
from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    all_false,
    all_true,
    all_zero,
    dense_ranks,
    plain_rows,
    ranks_in_runs,
    unset,
)
from corefeval.pairing.annotators import pair_annotations
from corefeval.preparation import as_corpus, prepare_corpora
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions

# Units that look wrong, entities they should be in, responses against the key, and for it.
Suspects = tuple[IntArray, IntArray, IntArray, IntArray]
_RARE = 50  # mentions of a document for one planted error
_LEAST = 3  # mentions of an entity that an error is planted in


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Tabular):
    """What looks wrong in a key: `findings`, the most suspicious first.

    A mention may have been `moved` from where it belongs, or be `missing`. `entity` and `other` are
    the first mentions of the key's entities that it is in, and that responses put it into.
    `calibration` says for each suspicion how many findings there are at or above it in a copy of
    the key with planted errors, which share of these errors is among them (recall), and which
    share of the findings are planted ones (precision).
    """

    responses: tuple[str, ...]
    units: Units
    suspects: Suspects
    calibration: list[Row]
    protocol: Protocol
    notices: tuple[Notice, ...] = ()

    @cached_property
    def findings(self) -> list[Row]:
        """What looks wrong, the most suspicious first."""
        return _describe(self.units, *self.suspects)

    @property
    def signature(self) -> str:
        """The protocol behind the findings, to be quoted with them."""
        return self.protocol.signature

    def rows(self, *, top: int = 0) -> list[Row]:
        """A row for each finding, or for `top` of them; mentions are texts such as `3:5`."""
        names = ("mention", "entity", "other")
        findings = _describe(self.units, *(column[: top or None] for column in self.suspects))
        for row in findings:
            row |= {name: _write(row[name]) for name in names}
        return findings

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        names = ("responses", "signature", "findings", "calibration")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return f"<Audit by {plural(len(self.responses), 'response')}: {self.suspects[0].size:,}>"


def audit(
    key: Input,
    responses: Mapping[str, Input] | Iterable[Input],
    *,
    plant: int = 0,
    seed: int = 0,
    protocol: Protocol | str | None = None,
    **options: Unpack[ScoreOptions],
) -> Audit:
    """Find annotations of a key that responses agree against.

    Responses that put a mention together with mentions of another entity of the key, and with none
    of its own, are against the key. The suspicion is their number less that of the responses that
    support the key, over the number of all. `plant` errors are planted into copies of the key to
    see how many are found.

    >>> key = [["Ada", "she", "her"], ["it", "the engine", "this"]]
    >>> wrong = [["Ada", "she"], ["it", "the engine", "this", "her"]]
    >>> [(row["kind"], row["mention"]) for row in audit(key, [wrong, wrong]).findings]
    [('moved', 'her')]
    """
    request = Request.of(protocol, options, sound=True)
    key_corpus = as_corpus(key, "key", request.key_reading)
    corpora = read_annotations(responses, request.response_reading, least=1, key=key_corpus)
    return audit_corpora(key_corpus, corpora, request, plant=plant, seed=seed)


def audit_corpora(
    key: Corpus, responses: Sequence[Corpus], request: Request, *, plant: int = 0, seed: int = 0
) -> Audit:
    """The audit of a key by named responses, as a request says."""
    if type(plant) is not int or plant < 0:
        raise UsageError(f"plant is a number of errors, not {plant!r:.60}")
    check_seed(seed)
    # What an answer has that is not in the text is nothing to vote with.
    request = replace(request, protocol=request.protocol.but(lost="drop"))
    annotations = pair_annotations([key, *responses], request.protocol, on_first_tokens=True)
    corpus, *sides = annotations.corpora
    codes, protocol = annotations.codes, request.protocol
    for place, side in enumerate(sides if protocol.match != "exact" else ()):
        prepared = prepare_corpora(corpus, side, request)
        partner = prepared.matches.partners_of_response(side.n_mentions)
        new_codes = np.where(partner >= 0, np.append(codes[0], -1)[partner], codes[place + 1])
        keeps = (partner >= 0) | ~np.isin(new_codes, codes[0])  # no key mention twice
        sides[place], codes[place + 1] = side.keep_mentions(keeps), new_codes[keeps]
        protocol = prepared.protocol
    units = Units.of([corpus, *sides], codes)
    unseen = int(((units.entity[0] >= 0) & (units.votes == 1)).sum())
    notices = [notice for source in (key, *responses) for notice in source.notices]
    notices += annotations.notices
    outcome = "of the key in no response, so nothing speaks for or against them"
    notices += note("unseen-mentions", unseen, "mention", outcome)
    return Audit(
        responses=tuple(side.name for side in responses),
        units=units,
        suspects=_find(units, units.entity[0]),
        calibration=_calibrate(units, plant, seed) if plant else [],
        protocol=protocol,
        notices=tuple(dict.fromkeys(notices)),
    )


def _find(units: Units, owner: IntArray) -> Suspects:
    """What looks wrong where `owner` has the key's entity of each unit (−1: not in the key)."""
    is_response = units.annotator > 0
    unit, entity = units.unit[is_response], units.stacked.mention_entity[is_response]
    begin, current = _begin(owner), owner[unit]
    inside = current >= 0
    cell, holder, target, counts, rank = _rank_targets(entity[inside], current[inside], begin)
    best = unset(2 * units.stacked.n_entities).reshape(2, -1)
    best[rank[rank < 2], holder[rank < 2]] = target[rank < 2]
    is_alone = all_true(unit.size)
    is_alone[inside] = counts[cell] == 1
    first, second = best[:, entity]
    vote = np.where(inside & (first == current), second, first)
    voters = is_alone & (vote >= 0)
    _, voted, target, counts, rank = _rank_targets(unit[voters], vote[voters], begin)
    against, chosen = all_zero(2 * owner.size).reshape(2, -1)
    against[voted[rank == 0]], chosen[voted[rank == 0]] = counts[rank == 0], target[rank == 0]
    marked, support = (np.bincount(rows, minlength=owner.size) for rows in (unit, unit[~is_alone]))
    support = np.where(owner >= 0, support, units.n_annotators - 1 - marked)
    rows = np.flatnonzero(against > support)
    sizes = np.bincount(owner[owner >= 0], minlength=begin.size)[chosen[rows]]
    rows = rows[np.lexsort((-sizes, (support - against)[rows]))]
    return rows, chosen[rows], against[rows], support[rows]


def _rank_targets(
    holder: IntArray, target: IntArray, begin: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """The cell of each pair, then of each cell its holder, target, number, and rank in the holder.

    The most frequent target of a holder has rank 0; of equally frequent ones, that begins first.
    """
    cell, codes = dense_ranks(holder * begin.size + target)
    holder, target = np.divmod(codes, begin.size)
    counts = np.bincount(cell, minlength=codes.size)
    order = np.lexsort((begin[target], -counts, holder))
    return cell, holder, target, counts, ranks_in_runs(holder, order)


def _begin(owner: IntArray) -> IntArray:
    """The first unit of each entity of the key."""
    first = all_zero(int(owner.max(initial=0)) + 1)
    rows = np.flatnonzero(owner >= 0)[::-1]
    first[owner[rows]] = rows
    return first


def _describe(
    units: Units, unit: IntArray, target: IntArray, against: IntArray, support: IntArray
) -> list[Row]:
    """What was found, as people read it."""
    owner, corpus, total = units.entity[0], units.corpus, units.n_annotators - 1
    begin, is_moved = _begin(owner), owner[unit] >= 0
    rows = unit, begin[owner[unit]], begin[target]
    mentions = (list_mentions(corpus, chosen) for chosen in rows)
    return [
        {
            "document": units.document_ids[row],
            "kind": "moved" if moved else "missing",
            "mention": mention,
            "entity": entity if moved else None,
            "other": other,
            "against": votes,
            "support": backing,
            "suspicion": (votes - backing) / total,
            "text": units.text(row),
        }
        for row, moved, votes, backing, mention, entity, other in plain_rows(
            unit, is_moved, against, support, *mentions
        )
    ]


def _write(mention: Any) -> Any:
    """A mention as a text; the parts of discontinuous ones have commas between."""
    if not isinstance(mention, list):
        return mention
    has_parts = isinstance(mention[0], list)
    return ",".join(map(_write, mention)) if has_parts else ":".join(map(str, mention))


def _calibrate(units: Units, plant: int, seed: int) -> list[Row]:
    """How many planted errors are found at each suspicion, over copies of the key."""
    generator, total = np.random.default_rng(seed), units.n_annotators - 1
    levels = np.arange(total, 0, -1)
    counts = np.zeros((2, levels.size))  # findings, and planted errors among them
    planted = copies = 0
    while planted < plant:
        copy, errors = _plant(units, generator, plant - planted, planted)
        if not errors.any():
            raise UsageError(f"there is no entity of {_LEAST} mentions to plant an error in")
        unit, _, against, support = _find(units, copy)
        is_listed = (against - support)[:, None] >= levels
        counts += is_listed.sum(axis=0), is_listed[errors[unit]].sum(axis=0)
        planted, copies = planted + int(errors.sum()), copies + 1
    return [
        {
            "suspicion": level / total,
            "findings": number / copies,
            "recall": hits / planted,
            "precision": hits / number if number else None,
        }
        for level, number, hits in plain_rows(levels, *counts)
    ]


def _plant(
    units: Units, generator: np.random.Generator, number: int, done: int
) -> tuple[IntArray, BoolArray]:
    """A copy of the key's entities with errors, and which units these are.

    By turns a mention is moved to another entity of its document, or removed; at most one in 50
    mentions of a document, and one of a shorter document.
    """
    owner, document = units.entity[0], units.document
    copy, errors = owner.copy(), all_false(owner.size)
    inside = np.flatnonzero(owner >= 0)
    sizes = np.bincount(owner[inside])
    room = np.maximum(np.bincount(document[inside]) // _RARE, 1)
    for unit in generator.permutation(inside[sizes[owner[inside]] >= _LEAST]).tolist():
        if room[document[unit]] and number:
            targets = np.unique(owner[inside[document[inside] == document[unit]]])
            targets = targets[targets != owner[unit]]
            is_moved = done % 2 == 0 and targets.size
            copy[unit] = generator.choice(targets) if is_moved else -1
            errors[unit] = True
            room[document[unit]] -= 1
            number, done = number - 1, done + 1
    return copy, errors
