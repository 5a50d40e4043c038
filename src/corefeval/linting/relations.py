"""What can be odd about relations: sets of antecedents and bridging."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from corefeval.diagnostics import excerpt, plural
from corefeval.linting.findings import Finding, Locator
from corefeval.model.arrays import IntArray
from corefeval.model.bridging import bridging_pairs
from corefeval.model.sets import find_elements

_NAMED = 3


def relation_findings(locator: Locator) -> Iterator[Finding]:
    """All findings about relations."""
    if len(locator.corpus.relations):
        yield from _find_odd_sets(locator)
        yield from _find_odd_bridging(locator)


def _find_odd_sets(locator: Locator) -> Iterator[Finding]:
    """Sets of one element, that contain themselves, or have elements that nobody mentions."""
    corpus = locator.corpus
    elements = find_elements(corpus)
    if not elements:
        return
    entities, rows = np.unique(corpus.mention_entity, return_index=True)
    first = dict(zip(entities.tolist(), rows.tolist(), strict=True))
    circle = _circles(elements, corpus.n_entities)
    for whole, parts in elements.items():
        others = sorted(parts - {whole})
        if whole not in first:
            continue
        if whole in parts:
            message = f"entity {_name(locator, whole)} is an element of itself"
            yield locator.about_mention("self-reference", first[whole], message)
        if len(others) == 1:
            message = f"entity {_name(locator, whole)} stands for a set of "
            message += f"{_name(locator, others[0])} alone"
            yield locator.about_mention("set-of-one", first[whole], message)
        around = [one for one in others if circle[one] == circle[whole]]
        if around:
            message = f"entity {_name(locator, whole)} has an element, {_name(locator, around[0])}"
            message += ", that leads back to it"
            yield locator.about_mention("circular-set", first[whole], message)
        gone = [_name(locator, one) for one in others if one not in first]
        if gone:
            message = f"nobody mentions {', '.join(gone[:_NAMED])}"
            message += f" and {plural(len(gone) - _NAMED, 'more')}" if len(gone) > _NAMED else ""
            yield locator.about_mention("unmentioned-entity", first[whole], message)


def _name(locator: Locator, entity: int) -> str:
    names = locator.corpus.names
    return excerpt(str(entity) if names is None else names[entity], 30)


def _circles(elements: dict[int, set[int]], number: int) -> IntArray:
    """A number for each entity, the same for those that lead to each other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = np.array([(one, other) for one in elements for other in elements[one]]).reshape(-1, 2)
    table = coo_array((np.ones(len(pairs)), pairs.T), shape=(number, number))
    labels: IntArray = connected_components(table, connection="strong")[1]
    return labels


def _find_odd_bridging(locator: Locator) -> Iterator[Finding]:
    """Bridging to the anaphor's own entity, and pairs that are there twice."""
    corpus = locator.corpus
    pairs = bridging_pairs(corpus)
    seen = set()
    columns = (pairs.anaphor, pairs.antecedent, pairs.entity)
    rows = zip(*(column.tolist() for column in columns), pairs.label.values(), strict=True)
    for anaphor, antecedent, entity, label in rows:
        if (pair := (anaphor, antecedent, entity, label)) in seen:
            message = f"bridging to entity {_name(locator, entity)} again"
            yield locator.about_mention("repeated-relation", anaphor, message)
        elif corpus.mention_entity[anaphor] == entity:
            message = f"bridges to its own entity, {_name(locator, entity)}"
            yield locator.about_mention("self-reference", anaphor, message)
        seen.add(pair)
