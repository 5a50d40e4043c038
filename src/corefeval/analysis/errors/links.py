"""Errors of links: each anaphor and its nearest antecedent, by what both are.

A key mention with one before it in its entity is an anaphor. The response resolves it *correctly*
if the nearest antecedent that it has for it is of its key entity; with another one it is a *wrong
link*, with none it is *missed*. A response mention with an antecedent that is no anaphor in the key
is *spurious* (after Martschat and Strube 2014, with the nearest antecedent for every mention).

Sets of antecedents and bridging are missed, spurious or wrong, too. They have no points: what is
wrong with them is not in the entities that errors are fixed in. Sets are aligned as B³ aligns them.
An anaphor of bridging is wrong where an antecedent of it is neither one that the key has for it nor
a mention of the same entity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.analysis.errors.classification import Classification
from corefeval.analysis.errors.listing import ErrorInstance, Lookup, SideName
from corefeval.diagnostics import CorefEvalError, Notice, Notices, UndefinedMetricError, cut_short
from corefeval.display import Record
from corefeval.metrics import Metric
from corefeval.model.arrays import IntArray, all_zero, integers, looked_up
from corefeval.model.categories import Categories

OUTCOMES = ("correct", "wrong", "missed", "spurious")
NO_VALUE = "none"
_ANYTHING = "mention"


@dataclass(frozen=True, slots=True)
class LinkRow(Record):
    """What became of the links between an anaphor of one kind and an antecedent of another.

    A missed anaphor counts with its antecedent in the key, everything else with the antecedent that
    the response has for it. So `response` are the links of the response, and over all rows
    `correct + wrong + missed` are the anaphors of the key.
    """

    anaphor: str
    antecedent: str
    correct: int
    wrong: int
    missed: int
    spurious: int

    @property
    def response(self) -> int:
        """The links that the response has."""
        return self.correct + self.wrong + self.spurious


@dataclass(frozen=True, eq=False)
class LinkCounts:
    """Links by document, kind of the anaphor, kind of the antecedent, and outcome.

    `antecedents` has Tuggener's tp, wl, fn and fp by document and kind of the anaphor, for
    `immediate` and, where nouns are known, `inferred`.
    """

    feature: str
    names: tuple[str, ...]
    values: IntArray
    antecedents: Mapping[str, Mapping[str, IntArray]]
    notices: Notices = ()

    @property
    def rows(self) -> tuple[LinkRow, ...]:
        """All pairs of kinds that there are, over all documents."""
        total = self.values.sum(axis=0)
        return tuple(
            LinkRow(anaphor, antecedent, *total[i, j].tolist())
            for i, anaphor in enumerate(self.names)
            for j, antecedent in enumerate(self.names)
            if total[i, j].any()
        )

    @property
    def by_anaphor(self) -> dict[str, dict[str, dict[str, int]]]:
        """Tuggener's counts over all documents: metric, kind of the anaphor, count."""
        return {
            metric: {
                name: {count: int(values[:, index].sum()) for count, values in counts.items()}
                for index, name in enumerate(self.names)
                if any(values[:, index].any() for values in counts.values())
            }
            for metric, counts in self.antecedents.items()
        }


def count_links(alignment: Alignment, feature: str = "kind") -> LinkCounts:
    """Count the links of an alignment; where the feature is not known, all mentions are alike."""
    notices = []
    try:
        kinds = alignment.key.feature(feature), alignment.response.feature(feature)
    except UndefinedMetricError as error:
        notices.append(
            Notice("unknown-kinds", f"links are not broken down by {feature}: {error.command_text}")
        )
        kinds = _make_all_alike(alignment.key), _make_all_alike(alignment.response)
    all_kinds = Categories.concatenate(*kinds)
    names = all_kinds.names
    key, response = np.split(all_kinds.codes, [len(kinds[0])])
    if (key < 0).any() or (response < 0).any():
        names = (*names, NO_VALUE)
        key, response = (np.where(codes < 0, len(names) - 1, codes) for codes in (key, response))
    values = _count_outcomes(alignment, key, response, len(names))
    antecedents, skipped = _count_antecedents(alignment, key, response, len(names))
    return LinkCounts(feature, names, values, antecedents, (*notices, *skipped))


def _make_all_alike(side: Side) -> Categories:
    return Categories(all_zero(side.mention_entity.size), (_ANYTHING,))


def _count_outcomes(
    alignment: Alignment, key_kind: IntArray, response_kind: IntArray, number: int
) -> IntArray:
    """Links by document, kind of the anaphor, kind of the antecedent, and outcome."""
    key, response = alignment.key, alignment.response
    partner, key_of = alignment.partner, alignment.swapped.partner
    rows = np.flatnonzero(key.previous >= 0)
    antecedent = looked_up(response.previous, partner[rows])
    missed = antecedent < 0
    entity = looked_up(key.mention_entity, looked_up(key_of, antecedent))
    right = ~missed & (entity == key.mention_entity[rows])
    resolved = np.flatnonzero(response.previous >= 0)
    spurious = resolved[looked_up(key.previous, key_of[resolved]) < 0]
    wrong = ~missed & ~right
    links = (
        (rows[right], response_kind[antecedent[right]]),
        (rows[wrong], response_kind[antecedent[wrong]]),
        (rows[missed], key_kind[key.previous[rows[missed]]]),
    )
    cells = [
        _cells(key, anaphors, key_kind, antecedent_kinds, number, outcome)
        for outcome, (anaphors, antecedent_kinds) in enumerate(links)
    ]
    before = response_kind[response.previous[spurious]]
    cells.append(_cells(response, spurious, response_kind, before, number, len(links)))
    shape = alignment.n_documents, number, number, len(OUTCOMES)
    counts = np.bincount(np.concatenate(cells), minlength=int(np.prod(shape)))
    return counts.reshape(shape)


def _cells(
    side: Side, rows: IntArray, kinds: IntArray, antecedent: IntArray, number: int, outcome: int
) -> IntArray:
    """The cell of the flat table of counts that each link belongs to."""
    document = side.entity_document[side.mention_entity[rows]]
    pair = (document * number + kinds[rows]) * number + antecedent
    cells: IntArray = pair * len(OUTCOMES) + outcome
    return cells


def _count_antecedents(
    alignment: Alignment, key_kind: IntArray, response_kind: IntArray, number: int
) -> tuple[dict[str, dict[str, IntArray]], list[Notice]]:
    """Tuggener's counts by document and kind of the anaphor; notices on what is skipped."""
    divided = alignment.divided(key_kind, response_kind, number)
    tables, notices = {}, []
    for metric in map(Metric.parse, ("immediate", "inferred")):
        try:
            counts = metric.count(divided)
        except CorefEvalError as error:
            notices.append(Notice("skipped-metric", f"{metric} was skipped: {error.command_text}"))
            continue
        tables[str(metric)] = {
            name: integers(values.reshape(alignment.n_documents, number))
            for name, values in counts.items()
        }
    return tables, notices


_LONGEST = 24  # characters of an antecedent


def list_relations(errors: Classification, kind: str) -> Iterator[ErrorInstance]:
    """All errors of a kind, in the order of the text, with the antecedents of either side.

    The mention is the anaphor: of an entity with a set, its first mention.
    """
    alignment = errors.alignment
    if alignment.prepared_sides is None:
        return
    full_alignment, lookup = alignment.full_sides, Lookup(errors)
    find = _find_set_errors if kind.endswith("set") else _find_bridging_errors
    corpora = full_alignment.key.corpus, full_alignment.response.corpus
    for side, row, key_rows, response_rows in sorted(find(lookup, kind.split()[0])):
        texts = [
            " + ".join(
                cut_short(" ".join(lookup.mention(corpus, mention_row).text.split()), _LONGEST)
                for mention_row in rows
            )
            or None
            for corpus, rows in zip(corpora, (key_rows, response_rows), strict=True)
        ]
        document = lookup.document(int(corpora[side].mention_document[row]))
        place = lookup.mention(corpora[side], row)
        yield ErrorInstance(kind, document, (place,), texts[0], texts[1])


# The side of an anaphor, its row there, and the antecedents of both sides.
_RelationError = tuple[int, int, list[int], list[int]]


def _find_set_errors(lookup: Lookup, outcome: str) -> Iterator[_RelationError]:
    """Sets of antecedents that are missed, spurious or wrong."""
    from corefeval.metrics.anaphora import align_sets

    alignment = lookup.errors.alignment
    full_alignment, aligned = alignment.full_sides, align_sets(alignment, "b3")
    sides = full_alignment.key, full_alignment.response
    if outcome == "wrong":
        for key, response, f1 in zip(aligned.key, aligned.response, aligned.f1, strict=True):
            if f1 < 1:
                key_elements = _name_elements(lookup, "key", int(key))
                response_elements = _name_elements(lookup, "response", int(response))
                yield 0, int(full_alignment.key.sets.first[key]), key_elements, response_elements
        return
    at = int(outcome == "spurious")
    aligned_numbers = (aligned.key, aligned.response)[at]
    sets = sides[at].sets
    for number in np.setdiff1d(np.arange(len(sets)), aligned_numbers).tolist():
        elements = _name_elements(lookup, "response" if at else "key", number)
        key_elements, response_elements = ([], elements) if at else (elements, [])
        yield at, int(sets.first[number]), key_elements, response_elements


def _name_elements(lookup: Lookup, side: SideName, number: int) -> list[int]:
    """The mentions that name the elements of a set, in the order of their first mentions."""
    full_alignment = lookup.errors.alignment.full_sides
    full = full_alignment.key if side == "key" else full_alignment.response
    leaves = full.sets.leaf[full.sets.leaf_set == number]
    entities = [np.flatnonzero(full.corpus.mention_entity == leaf) for leaf in leaves]
    entities.sort(key=lambda rows: int(rows[0]))
    return [lookup.name(side, rows, full.corpus) for rows in entities]


def _find_bridging_errors(lookup: Lookup, outcome: str) -> Iterator[_RelationError]:
    """Anaphors of bridging that are missed, spurious or wrong."""
    from corefeval.metrics.anaphora import right_pairs
    from corefeval.model.relations import bridging_pairs

    alignment = lookup.errors.alignment
    full_alignment = alignment.full_sides
    key, response = (bridging_pairs(side.corpus) for side in full_alignment)
    back = full_alignment.swapped.partner
    right = right_pairs(alignment)

    def antecedents(anaphors: IntArray, ends: IntArray, row: int) -> list[int]:
        return [int(end) for end in ends[anaphors == row]]

    resolved_anaphors = back[np.unique(response.anaphor)] if response.anaphor.size else back[:0]
    if outcome == "missed":
        for row in np.setdiff1d(key.anaphor, resolved_anaphors).tolist():
            yield 0, row, antecedents(key.anaphor, key.antecedent, row), []
        return
    is_key_anaphor = np.isin(back[response.anaphor], key.anaphor)
    is_error = ~is_key_anaphor if outcome == "spurious" else is_key_anaphor & ~right
    for row in np.unique(response.anaphor[is_error]):
        response_antecedents = antecedents(response.anaphor, response.antecedent, int(row))
        key_antecedents = antecedents(key.anaphor, key.antecedent, int(back[row]))
        yield 1, int(row), key_antecedents if outcome == "wrong" else [], response_antecedents
