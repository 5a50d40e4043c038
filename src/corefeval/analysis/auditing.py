"""Annotations of a key that look wrong, because responses agree against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Unpack

import numpy as np

from corefeval.analysis.agreement import Signed, read_annotations
from corefeval.analysis.units import Units, list_mentions, write_mention
from corefeval.checks import check_count, check_seed
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Row
from corefeval.model import Corpus
from corefeval.model.arrays import (
    IntArray,
    all_true,
    dense_ranks,
    looked_up,
    plain_rows,
    ranks_in_runs,
    set_rows,
)
from corefeval.pairing.annotators import pair_annotations
from corefeval.preparation import as_corpus, prepare_corpora
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions

# Units that look wrong, the first ones of entities they should be in,
# responses against the key, and for it.
Suspects = tuple[IntArray, IntArray, IntArray, IntArray]
_RARE = 50  # mentions of a document for one planted error
_LEAST = 3  # mentions of an entity that an error is planted in


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Signed):
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
        units, (unit, target, *votes) = self.units, self.suspects
        home = _label(units.entity[0])[unit]
        mentions = (list_mentions(units.corpus, rows) for rows in (unit, home, target))
        names = [str(name) for name in units.corpus.documents]
        columns = units.document[unit], home, *mentions, *votes, units.list_texts(unit)
        return [
            {
                "document": names[document],
                "kind": "missing" if first < 0 else "moved",
                "mention": mention,
                "entity": None if first < 0 else entity,
                "other": other_entity,
                "against": against,
                "support": support,
                "suspicion": (against - support) / len(self.responses),
                "text": text,
            }
            for document, first, mention, entity, other_entity, against, support, text in (
                plain_rows(*columns)
            )
        ]

    def rows(self, *, top: int = 0) -> list[Row]:
        """A row for each finding, or for `top` of them; mentions are texts such as `3:5`."""
        names = ("mention", "entity", "other")
        return [
            row | {name: write_mention(row[name]) for name in names}
            for row in self.findings[: top or None]
        ]

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
    if plant:
        check_count("plant", plant)
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
    outcome = "of the key in no response, so nothing speaks for or against them"
    notices = *annotations.notices, *note("unseen-mentions", unseen, "mention", outcome)
    return Audit(
        responses=tuple(side.name for side in responses),
        units=units,
        suspects=_find(units, units.entity[0]),
        calibration=_calibrate(units, plant, seed) if plant else [],
        protocol=protocol,
        notices=tuple(dict.fromkeys(notices)),
    )


def _label(owner: IntArray) -> IntArray:
    """The first unit of each unit's entity, −1 where it has none."""
    rows = np.flatnonzero(owner >= 0)[::-1]
    return looked_up(set_rows(owner[rows], rows, int(owner.max(initial=0)) + 1), owner)


def _find(units: Units, owner: IntArray) -> Suspects:
    """What looks wrong where `owner` has the key's entity of each unit (−1: not in the key)."""
    home, is_response = _label(owner), units.annotator > 0
    unit, entity = units.unit[is_response], units.stacked.mention_entity[is_response]
    current, is_alone = home[unit], all_true(unit.size)
    inside = np.flatnonzero(current >= 0)
    times, (first, second), _ = _rank(entity[inside], current[inside], units.stacked.n_entities)
    is_alone[inside] = times == 1
    vote = np.where(first[entity] == current, second[entity], first[entity])
    voters = is_alone & (vote >= 0)
    _, (chosen, _), against = _rank(unit[voters], vote[voters], home.size)
    marked, support = (np.bincount(rows, minlength=home.size) for rows in (unit, unit[~is_alone]))
    support = np.where(home >= 0, support, units.n_annotators - 1 - marked)
    rows = np.flatnonzero(against > support)
    sizes = np.bincount(home[home >= 0], minlength=home.size)[chosen[rows]]
    rows = rows[np.lexsort((-sizes, (support - against)[rows]))]
    return rows, chosen[rows], against[rows], support[rows]


def _rank(
    holder: IntArray, target: IntArray, n_holders: int
) -> tuple[IntArray, list[IntArray], IntArray]:
    """How often each pair occurs; the two most frequent targets of all holders, and how often.

    Of equally frequent targets, that which begins first is taken.
    """
    width = int(target.max(initial=0)) + 1
    cell, codes = dense_ranks(holder * width + target)
    holders, targets = np.divmod(codes, width)
    counts = np.bincount(cell, minlength=codes.size)
    rank = ranks_in_runs(holders, np.lexsort((targets, -counts, holders)))
    best = [set_rows(holders[rank == n], targets[rank == n], n_holders) for n in (0, 1)]
    return counts[cell], best, set_rows(holders[rank == 0], counts[rank == 0], n_holders)


def _calibrate(units: Units, plant: int, seed: int) -> list[Row]:
    """How many planted errors are found at each suspicion, over copies of the key."""
    generator, total = np.random.default_rng(seed), units.n_annotators - 1
    levels = np.arange(total, 0, -1)
    counts = np.zeros((2, total))  # findings, and planted errors among them
    planted = copies = 0
    while planted < plant:
        copy, errors = _plant(units, generator, plant - planted, planted)
        if not errors:
            raise UsageError(f"there is no entity of {_LEAST} mentions to plant an error in")
        unit, _, against, support = _find(units, copy)
        is_listed = (against - support)[:, None] >= levels
        counts += is_listed.sum(axis=0), is_listed[np.isin(unit, errors)].sum(axis=0)
        planted, copies = planted + len(errors), copies + 1
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
) -> tuple[IntArray, list[int]]:
    """A copy of the key's entities with errors, and the units that have them.

    By turns a mention is moved to another entity of its document, or removed; at most one in 50
    mentions of a document, and one of a shorter document.
    """
    owner, document, errors = units.entity[0], units.document, list[int]()
    copy, inside = owner.copy(), np.flatnonzero(owner >= 0)
    room = np.maximum(np.bincount(document[inside]) // _RARE, 1)
    is_large = np.bincount(owner[inside])[owner[inside]] >= _LEAST
    for unit in generator.permutation(inside[is_large]).tolist():
        if room[document[unit]] and len(errors) < number:
            room[document[unit]] -= 1
            neighbours = owner[inside[document[inside] == document[unit]]]
            targets = np.setdiff1d(neighbours, owner[unit])
            is_moved = (done + len(errors)) % 2 == 0 and targets.size
            copy[unit] = generator.choice(targets) if is_moved else -1
            errors.append(unit)
    return copy, errors
