"""Annotations of a key that look wrong, because responses agree against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, Unpack

import numpy as np

from corefeval.analysis.agreement import read_annotations
from corefeval.checks import check_seed
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Record, Row, Tabular
from corefeval.matching import Mentions, match_exactly
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, FloatArray, IntArray, dense_ranks
from corefeval.model.joining import stack_mentions, strip_details
from corefeval.pairing.annotators import pair_annotations
from corefeval.preparation import as_corpus, prepare_corpora
from corefeval.protocol import Protocol
from corefeval.request import Input, Options, Request

_RARE = 50  # mentions of a document for one planted error
_LEAST = 3  # mentions of an entity that an error is planted in


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """A mention that may be wrong in the key: `moved` to its entity, or `missing`.

    `entity` and `other` are the first mentions of the key's entities that it is in (None for one
    that is missing), and that responses put it into.
    """

    document: str
    kind: str
    mention: Any
    entity: Any
    other: Any
    against: int
    support: int
    suspicion: float
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Tabular):
    """What looks wrong in a key: `findings`, the most suspicious first.

    `calibration` says for each suspicion how many findings there are at or above it in a copy of
    the key with planted errors, which share of these errors is among them (recall), and which share
    of the findings are planted ones (precision).
    """

    responses: tuple[str, ...]
    findings: tuple[Finding, ...]
    calibration: tuple[Row, ...]
    protocol: Protocol
    notices: tuple[Notice, ...] = ()

    @property
    def signature(self) -> str:
        """The protocol behind the findings, to be quoted with them."""
        return self.protocol.signature

    def rows(self) -> list[Row]:
        """A row for each finding."""
        return [finding.as_dict() for finding in self.findings]

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        return {
            "responses": list(self.responses),
            "signature": self.signature,
            "findings": self.rows(),
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
    **options: Unpack[Options],
) -> Audit:
    """Find annotations of a key that responses agree against.

    Responses that put a mention together with mentions of another entity of the key, and with none
    of its own, are against the key. The suspicion is their number less that of the responses that
    support the key, over the number of all. `plant` errors are planted into copies of the key to
    see how many are found.

    >>> key = [["Ada", "she", "her"], ["it", "the engine", "this"]]
    >>> wrong = [["Ada", "she"], ["it", "the engine", "this", "her"]]
    >>> [(finding.kind, finding.mention) for finding in audit(key, [wrong, wrong]).findings]
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
    views = _Views.of(corpus, sides, annotations.codes, matches)
    owner = np.concatenate((corpus.mention_entity, np.full(views.extra.n_mentions, -1)))
    suspects = views.find(owner)
    unseen = corpus.n_mentions - np.unique(views.unit[views.unit < corpus.n_mentions]).size
    notices = [notice for source in (key, *responses) for notice in source.notices]
    notices += annotations.notices
    notices += note("unseen-mentions", unseen, "mention", "of the key that no response has")
    return Audit(
        responses=tuple(side.name for side in responses),
        findings=tuple(views.describe(suspects, owner)),
        calibration=tuple(_calibrate(views, owner, plant, seed)) if plant else (),
        protocol=protocol,
        notices=tuple(dict.fromkeys(notices)),
    )


class _Suspects(NamedTuple):
    """Units that look wrong, the most suspicious first, and the entity that they should be in."""

    unit: IntArray
    target: IntArray
    against: IntArray
    support: IntArray
    suspicion: FloatArray


@dataclass(frozen=True, eq=False)
class _Views:
    """What responses say: the unit and the entity of each of their mentions, all in one.

    Units are the mentions of the key, and behind these the mentions that only responses have
    (`extra`). Entities of responses are numbered through; `response` has whose a mention is.
    """

    key: Corpus
    extra: Corpus
    unit: IntArray
    entity: IntArray
    response: IntArray
    number: int

    @staticmethod
    def of(
        key: Corpus, sides: Sequence[Corpus], codes: Sequence[IntArray], matches: list[IntArray]
    ) -> _Views:
        """The views of responses, whose mentions are matched with rows of the key (−1: none)."""
        stacked = reduce(stack_mentions, map(strip_details, sides))
        unit, all_codes = np.concatenate(matches), np.concatenate(codes[1:])
        response = np.repeat(np.arange(len(sides)), [side.n_mentions for side in sides])
        is_new = (unit < 0) & ~np.isin(all_codes, codes[0])
        number, distinct = dense_ranks(all_codes[is_new])
        first = np.zeros(distinct.size, dtype=np.int64)
        first[number[::-1]] = np.flatnonzero(is_new)[::-1]
        unit[is_new] = key.n_mentions + number
        kept = np.flatnonzero(unit >= 0)
        columns = unit[kept], stacked.mention_entity[kept], response[kept]
        extra = stacked.take_mentions(first).with_details(tokens=key.tokens)
        return _Views(key, extra, *columns, len(sides))

    def find(self, owner: IntArray) -> _Suspects:
        """What looks wrong where the key's entity of each unit is `owner` (−1: not in the key)."""
        begin = self._begins(owner)
        in_key = owner[self.unit] >= 0
        width = int(owner.max(initial=0)) + 1
        cell, cells = dense_ranks((self.entity * width + owner[self.unit])[in_key])
        entity, target = np.divmod(cells, width)
        size = np.bincount(cell, minlength=cells.size)
        # Of each response entity the two of the key's entities that it shares most with.
        order = np.lexsort((begin[target], -size, entity))
        rank = np.arange(order.size) - np.searchsorted(entity[order], entity[order])
        best = np.full((2, int(self.entity.max(initial=-1)) + 1), -1, dtype=np.int64)
        for place in (0, 1):
            chosen = order[rank == place]
            best[place, entity[chosen]] = target[chosen]
        alone = np.ones(self.unit.size, dtype=np.bool_)
        alone[in_key] = size[cell] == 1
        first, second = best[:, self.entity]
        vote = np.where(in_key & (first == owner[self.unit]), second, first)
        is_vote = alone & (vote >= 0)
        against, chosen = self._count_votes(self.unit[is_vote], vote[is_vote], begin, owner.size)
        marked = np.bincount(self.unit, minlength=owner.size)
        support = np.bincount(self.unit[in_key & ~alone], minlength=owner.size)
        support = np.where(owner >= 0, support, self.number - marked)
        suspicion = (against - support) / self.number
        units = np.flatnonzero((against > 0) & (suspicion > 0))
        sizes = np.bincount(owner[owner >= 0], minlength=width)
        place = self._places()
        order = np.lexsort((*place[::-1][:, units], -sizes[chosen[units]], -suspicion[units]))
        units = units[order]
        return _Suspects(units, chosen[units], against[units], support[units], suspicion[units])

    def _count_votes(
        self, unit: IntArray, target: IntArray, begin: IntArray, number: int
    ) -> tuple[IntArray, IntArray]:
        """The most votes that any target has for each unit, and the target."""
        width = max(begin.size, 1)
        vote, votes = dense_ranks(unit * width + target)
        voted, targets = np.divmod(votes, width)
        counts = np.bincount(vote, minlength=votes.size)
        order = np.lexsort((begin[targets], -counts, voted))[::-1]
        against, chosen = np.zeros(number, np.int64), np.full(number, -1)
        against[voted[order]], chosen[voted[order]] = counts[order], targets[order]
        return against, chosen

    def _places(self) -> IntArray:
        """Document, start and end of each unit, in rows; plain mentions are in their own order."""
        columns = []
        for corpus in (self.key, self.extra):
            start, end = corpus.mention_start, corpus.mention_end
            if start is None or end is None:
                start = end = np.arange(corpus.n_mentions)
            columns.append(np.stack((corpus.mention_document, start, end)))
        return np.concatenate(columns, axis=1)

    def _begins(self, owner: IntArray) -> IntArray:
        """The rank of the key's entities by their first mentions."""
        order = np.lexsort(self._places()[::-1])
        order = order[owner[order] >= 0][::-1]
        begin = np.full(int(owner.max(initial=0)) + 1, owner.size, dtype=np.int64)
        begin[owner[order]] = np.arange(order.size)[::-1]
        return begin

    def describe(self, suspects: _Suspects, owner: IntArray) -> list[Finding]:
        """Suspects as people read them."""
        order = np.lexsort(self._places()[::-1])
        order = order[owner[order] >= 0][::-1]
        first = np.full(int(owner.max(initial=0)) + 1, -1, dtype=np.int64)
        first[owner[order]] = order
        findings = []
        for unit, target, against, support, suspicion in zip(
            *(column.tolist() for column in suspects), strict=True
        ):
            mention, text, document = self._show(unit)
            is_moved = owner[unit] >= 0
            findings.append(
                Finding(
                    document,
                    "moved" if is_moved else "missing",
                    mention,
                    self._show(int(first[owner[unit]]))[0] if is_moved else None,
                    self._show(int(first[target]))[0],
                    against,
                    support,
                    suspicion,
                    text,
                )
            )
        return findings

    def _show(self, unit: int) -> tuple[Any, str, str]:
        """A unit as a mention of JSON, its text, and its document."""
        corpus, row = self.key, unit
        if unit >= self.key.n_mentions:
            corpus, row = self.extra, unit - self.key.n_mentions
        document = corpus[int(corpus.mention_document[row])]
        mention = document.mentions[row - document.rows.start]
        name = str(document.id)
        if mention.label is not None:
            return mention.label, str(mention.label), name
        parts = [list(part) for part in mention.parts]
        text = mention.text if document.text is not None or "word" in document.columns else ""
        return parts[0] if len(parts) == 1 else parts, text, name


def _calibrate(views: _Views, owner: IntArray, plant: int, seed: int) -> list[Row]:
    """How many planted errors are found at each suspicion, over copies of the key."""
    generator = np.random.default_rng(seed)
    levels = np.arange(views.number, 0, -1)
    counts = np.zeros((3, levels.size))  # findings, planted errors found, copies
    planted = copies = 0
    while planted < plant:
        copy, errors = _plant(views.key, owner, generator, plant - planted, planted)
        if not errors.any():
            raise UsageError(f"there is no entity of {_LEAST} mentions to plant an error in")
        suspects = views.find(copy)
        level = np.rint(suspects.suspicion * views.number)
        is_planted = errors[suspects.unit]
        counts[0] += [(level >= least).sum() for least in levels]
        counts[1] += [(level[is_planted] >= least).sum() for least in levels]
        planted, copies = planted + int(errors.sum()), copies + 1
    return [
        {
            "suspicion": float(level / views.number),
            "findings": float(n / copies),
            "recall": float(hits / planted),
            "precision": float(hits / n) if n else None,
        }
        for level, n, hits in zip(levels.tolist(), *counts[:2].tolist(), strict=True)
    ]


def _plant(
    key: Corpus, owner: IntArray, generator: np.random.Generator, number: int, done: int
) -> tuple[IntArray, BoolArray]:
    """A copy of the key's entities with errors, and which units these are.

    By turns a mention is moved to another entity of its document, or removed; at most one in 50
    mentions of a document, and one of a shorter document.
    """
    copy, errors = owner.copy(), np.zeros(owner.size, dtype=np.bool_)
    sizes, document = key.entity_sizes, key.mention_document
    room = np.maximum(np.bincount(document, minlength=len(key.documents)) // _RARE, 1)
    rows = np.flatnonzero(sizes[key.mention_entity] >= _LEAST)
    for row in generator.permutation(rows).tolist():
        if not number:
            break
        place = document[row]
        if not room[place]:
            continue
        targets = np.flatnonzero((key.entity_document == place) & (sizes > 0))
        targets = targets[targets != owner[row]]
        is_moved = done % 2 == 0 and targets.size
        copy[row] = generator.choice(targets) if is_moved else -1
        errors[row] = True
        room[place] -= 1
        number, done = number - 1, done + 1
    return copy, errors
