"""Annotations of a key that look wrong, because responses agree against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.agreement import read_annotations
from corefeval.checks import check_seed
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Row, Tabular
from corefeval.matching import Mentions, match_exactly
from corefeval.model import Corpus, Mention
from corefeval.model.arrays import BoolArray, IntArray, dense_ranks
from corefeval.model.joining import stack_mentions, strip_details
from corefeval.pairing.annotators import pair_annotations
from corefeval.preparation import as_corpus, prepare_corpora
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions

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
    views: Views
    calibration: tuple[Row, ...]
    protocol: Protocol
    notices: tuple[Notice, ...] = ()

    @cached_property
    def findings(self) -> tuple[Row, ...]:
        """What looks wrong, the most suspicious first."""
        return tuple(self.views.describe())

    @property
    def signature(self) -> str:
        """The protocol behind the findings, to be quoted with them."""
        return self.protocol.signature

    def rows(self) -> list[Row]:
        """A row for each finding; mentions are texts such as `3:5`, start and end."""
        return [{name: _write(value) for name, value in row.items()} for row in self.findings]

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        return {
            "responses": list(self.responses),
            "signature": self.signature,
            "findings": list(self.findings),
            "calibration": list(self.calibration),
        }

    def __repr__(self) -> str:
        return f"<Audit by {plural(len(self.responses), 'response')}: {len(self.findings):,}>"


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
    if isinstance(plant, bool) or not isinstance(plant, int) or plant < 0:
        raise UsageError(f"plant is a number of errors, not {plant!r:.60}")
    check_seed(seed)
    # What an answer has that is not in the text is nothing to vote with.
    request = replace(request, protocol=request.protocol.but(lost="drop"))
    annotations = pair_annotations([key, *responses], request.protocol, on_first_tokens=True)
    corpus, *sides = annotations.corpora
    protocol = request.protocol
    matches = []
    for side, codes in zip(sides, annotations.codes[1:], strict=True):
        if protocol.match == "exact":
            pair = Mentions(corpus, annotations.codes[0]), Mentions(side, codes)
            matches.append(match_exactly(*pair).partners_of_response(side.n_mentions))
        else:
            prepared = prepare_corpora(corpus, side, request)
            matches.append(prepared.matches.partners_of_response(side.n_mentions))
            protocol = prepared.protocol
    views = Views.of(corpus, sides, annotations.codes, matches)
    unseen = np.bincount(views.unit, minlength=corpus.n_mentions)[: corpus.n_mentions] == 0
    notices = [notice for source in (key, *responses) for notice in source.notices]
    notices += annotations.notices
    notices += note(
        "unseen-mentions", int(unseen.sum()), "mention", "of the key that no response has"
    )
    return Audit(
        responses=tuple(side.name for side in responses),
        views=views,
        calibration=tuple(_calibrate(views, plant, seed)) if plant else (),
        protocol=protocol,
        notices=tuple(dict.fromkeys(notices)),
    )


@dataclass(frozen=True, eq=False)
class Views:
    """What responses say: the unit and the entity of each of their mentions, all in one.

    Units are the mentions of the key, and behind these the mentions that only responses have.
    Entities of responses are numbered through; `number` is how many responses there are.
    """

    units: Corpus
    unit: IntArray
    entity: IntArray
    number: int
    owner: IntArray
    """The key's entity of each unit, −1 where the key does not have it."""

    @staticmethod
    def of(
        key: Corpus, sides: Sequence[Corpus], codes: Sequence[IntArray], matches: list[IntArray]
    ) -> Views:
        """The views of responses, whose mentions are matched with rows of the key (−1: none)."""
        stacked = reduce(stack_mentions, map(strip_details, sides))
        unit, all_codes = np.concatenate(matches), np.concatenate(codes[1:])
        new = np.flatnonzero((unit < 0) & ~np.isin(all_codes, codes[0]))
        _, first, rank = np.unique(all_codes[new], return_index=True, return_inverse=True)
        unit[new] = key.n_mentions + rank
        kept = np.flatnonzero(unit >= 0)
        units = stack_mentions(strip_details(key), stacked.take_mentions(new[first]))
        units = units.with_details(tokens=key.tokens)
        owner = np.full(units.n_mentions, -1)
        owner[: key.n_mentions] = key.mention_entity
        return Views(units, unit[kept], stacked.mention_entity[kept], len(sides), owner)

    @cached_property
    def rank(self) -> IntArray:
        """The place of each unit in the text, by start and end; plain mentions as they stand."""
        units, rows = self.units, np.arange(self.units.n_mentions)
        spans = (rows,) if units.labels is not None else (units.mention_end, units.mention_start)
        rank = np.empty_like(rows)
        rank[np.lexsort([*map(np.asarray, spans), units.mention_document])] = rows
        return rank

    def begin(self, owner: IntArray) -> IntArray:
        """The rank of the first unit of each entity of the key."""
        first = np.full(int(owner.max(initial=0)) + 1, owner.size)
        np.minimum.at(first, owner[owner >= 0], self.rank[owner >= 0])
        return first

    def find(self, owner: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """What looks wrong where the key's entity of each unit is `owner` (−1: not in the key).

        Units come with the entity that they should be in, responses against the key, and for it.
        """
        begin, width = self.begin(owner), int(owner.max(initial=0)) + 1
        current = owner[self.unit]
        cell, cells = dense_ranks((self.entity * width + current)[current >= 0])
        entity, target = np.divmod(cells, width)
        size = np.bincount(cell, minlength=cells.size)
        # Of each response entity the two of the key's entities that it shares most with.
        order = np.lexsort((begin[target], -size, entity))
        place = np.arange(order.size) - np.searchsorted(entity[order], entity[order])
        best = np.full((2, int(self.entity.max(initial=-1)) + 1), -1, dtype=np.int64)
        for rank in (0, 1):
            best[rank, entity[order[place == rank]]] = target[order[place == rank]]
        is_alone = np.ones(self.unit.size, dtype=np.bool_)
        is_alone[current >= 0] = size[cell] == 1
        first, second = best[:, self.entity]
        vote = np.where((current >= 0) & (first == current), second, first)
        voters = np.flatnonzero(is_alone & (vote >= 0))
        vote, votes = dense_ranks(self.unit[voters] * width + vote[voters])
        voted, target = np.divmod(votes, width)
        counts = np.bincount(vote, minlength=votes.size)
        order = np.lexsort((-begin[target], counts, voted))
        against, chosen = np.zeros((2, owner.size), dtype=np.int64)
        against[voted[order]], chosen[voted[order]] = counts[order], target[order]
        support = np.bincount(self.unit[~is_alone], minlength=owner.size)
        marked = np.bincount(self.unit, minlength=owner.size)
        support = np.where(owner >= 0, support, self.number - marked)
        units = np.flatnonzero((against > support) & (against > 0))
        sizes = np.bincount(owner[owner >= 0], minlength=width)[chosen[units]]
        units = units[np.lexsort((self.rank[units], -sizes, (support - against)[units]))]
        return units, chosen[units], against[units], support[units]

    def describe(self) -> list[Row]:
        """What looks wrong, as people read it."""
        owner = self.owner
        documents, place = list(self.units), self.units.mention_document
        first = np.append(np.argsort(self.rank), -1)[self.begin(owner)]
        findings = []
        for unit, target, against, support in zip(*map(list, self.find(owner)), strict=True):
            mention, is_moved = Mention(documents[place[unit]], unit), owner[unit] >= 0
            entity, aim = (
                Mention(mention.document, int(first[number])) for number in (owner[unit], target)
            )
            has_text = mention.label is not None or mention.document.has_words
            findings.append(
                {
                    "document": str(mention.document.id),
                    "kind": "moved" if is_moved else "missing",
                    "mention": _place(mention),
                    "entity": _place(entity) if is_moved else None,
                    "other": _place(aim),
                    "against": int(against),
                    "support": int(support),
                    "suspicion": float((against - support) / self.number),
                    "text": mention.text if has_text else "",
                }
            )
        return findings


def _write(value: Any) -> Any:
    """A value, or a mention as a text; parts of discontinuous ones with commas between."""
    if not isinstance(value, list):
        return value
    return ",".join(map(_write, value)) if isinstance(value[0], list) else ":".join(map(str, value))


def _place(mention: Mention) -> Any:
    """A mention as JSON has it: start and end, a list of these with gaps, or its label."""
    parts = [] if mention.label is not None else [list(part) for part in mention.parts]
    return parts[0] if len(parts) == 1 else parts or mention.label


def _calibrate(views: Views, plant: int, seed: int) -> list[Row]:
    """How many planted errors are found at each suspicion, over copies of the key."""
    generator = np.random.default_rng(seed)
    levels = np.arange(views.number, 0, -1)
    counts = np.zeros((2, levels.size))  # findings, and planted errors among them
    planted = copies = 0
    while planted < plant:
        copy, errors = _plant(views.units, views.owner, generator, plant - planted, planted)
        if not errors.any():
            raise UsageError(f"there is no entity of {_LEAST} mentions to plant an error in")
        unit, _, against, support = views.find(copy)
        is_listed = (against - support)[:, None] >= levels
        counts += is_listed.sum(axis=0), is_listed[errors[unit]].sum(axis=0)
        planted, copies = planted + int(errors.sum()), copies + 1
    return [
        {
            "suspicion": level / views.number,
            "findings": number / copies,
            "recall": hits / planted,
            "precision": hits / number if number else None,
        }
        for level, number, hits in zip(levels.tolist(), *counts.tolist(), strict=True)
    ]


def _plant(
    units: Corpus, owner: IntArray, generator: np.random.Generator, number: int, done: int
) -> tuple[IntArray, BoolArray]:
    """A copy of the key's entities with errors, and which units these are.

    By turns a mention is moved to another entity of its document, or removed; at most one in 50
    mentions of a document, and one of a shorter document.
    """
    copy, errors = owner.copy(), np.zeros(owner.size, dtype=np.bool_)
    inside = np.flatnonzero(owner >= 0)
    sizes, document = np.bincount(owner[inside]), units.mention_document
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
