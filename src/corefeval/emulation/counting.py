"""The counts of corefud-scorer 1.2 for one document.

Most metrics see the pairs through a table T of what is matched with another identity: first
T[key] = response for all pairs, then T[response] = key, which overwrites what is there. An identity
knows no side. Where zeros are matched with other places, one that is on both sides may therefore
lose its image, or an unmatched one borrow the image of another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from corefeval.assignment import heaviest_matching
from corefeval.emulation.matching import Pair
from corefeval.emulation.mentions import Entities, Mention
from corefeval.emulation.sentences import Place

Counts = dict[str, dict[str, float]]  # of a metric, by the names that its shape has
Table = Mapping[Mention, Mention]


def count_document(key: Entities, response: Entities, pairs: Sequence[Pair]) -> Counts:
    """Every metric's counts."""
    table = {one: other for one, other in pairs if one != other}
    table.update({other: one for one, other in pairs if one != other})
    recall, precision = _owners(key, response, table), _owners(response, key, table)
    return {
        "muc": _ratio(_muc(recall), _muc(precision)),
        "b3": _ratio(_b3(recall), _b3(precision)),
        "ceafe": _ceafe(key, response, table),
        "ceafm": _ceafm(key, response, table),
        "blanc": _blanc(key, response, recall),
        "lea": _ratio(_lea(recall, response), _lea(precision, key)),
        "mor": _mor(key, response),
        "zero": _zero(key, response, table),
    }


Ratio = tuple[float, float]
Owners = list[tuple[int, list[int]]]  # of each entity its size, and who has its mentions' images


def _last_owners(entities: Entities) -> dict[Mention, int]:
    """The entity of each identity: the last of several."""
    return {mention: index for index, entity in enumerate(entities) for mention in entity}


def _owners(entities: Entities, others: Entities, table: Table) -> Owners:
    """For each entity, which entities of the other side own the images of its mentions."""
    owner = _last_owners(others)
    found = []
    for entity in entities:
        images = (table.get(mention, mention) for mention in entity)
        found.append((len(entity), [owner[image] for image in images if image in owner]))
    return found


def _ratio(recall: Ratio, precision: Ratio) -> dict[str, float]:
    names = ("recall_numerator", "recall_denominator", "precision_numerator")
    return dict(zip((*names, "precision_denominator"), (*recall, *precision), strict=True))


def _muc(owners: Owners) -> Ratio:
    return (
        sum(len(found) - len(set(found)) for _, found in owners),
        sum(size - 1 for size, _ in owners),
    )


def _b3(owners: Owners) -> Ratio:
    squares = (sum(n * n for n in Counter(found).values()) / size for size, found in owners)
    return sum(squares), sum(size for size, _ in owners)


def _lea(owners: Owners, others: Entities) -> Ratio:
    total = 0.0
    for size, found in owners:
        if size == 1:
            total += bool(found) and len(others[found[0]]) == 1
        else:
            total += size * sum(map(_links, Counter(found).values())) / _links(size)
    return total, sum(size for size, _ in owners)


def _links(size: int) -> float:
    return size * (size - 1) / 2


def _overlaps(key: Entities, response: Entities, table: Table) -> Counter[tuple[int, int]]:
    """How many mentions of a key entity have their images in a response entity, as it is listed."""
    listed: dict[Mention, list[int]] = {}
    for index, entity in enumerate(response):
        for mention in entity:
            listed.setdefault(mention, []).append(index)
    overlaps: Counter[tuple[int, int]] = Counter()
    for index, entity in enumerate(key):
        for mention in entity:
            for other in listed.get(table.get(mention, mention), ()):
                overlaps[index, other] += 1
    return overlaps


def _ceafm(key: Entities, response: Entities, table: Table) -> dict[str, float]:
    best = _best_total(_overlaps(key, response, table))
    return _ratio((best, sum(map(len, key))), (best, sum(map(len, response))))


def _ceafe(key: Entities, response: Entities, table: Table) -> dict[str, float]:
    overlaps = _overlaps(key, response, table)
    best = _best_total(
        {(a, b): 2 * n / (len(key[a]) + len(response[b])) for (a, b), n in overlaps.items()}
    )
    return _ratio((best, len(key)), (best, len(response)))


def _best_total(weights: Mapping[tuple[int, int], float]) -> float:
    """The total of the heaviest one-to-one assignment, which has no ties."""
    if not weights:
        return 0.0
    rows, columns = np.array(list(weights), dtype=np.int64).T
    weight = np.array(list(weights.values()), dtype=np.float64)
    return float(weight[heaviest_matching(rows, columns, weight)].sum())


def _blanc(key: Entities, response: Entities, owners: Owners) -> dict[str, float]:
    """Both halves, whose numerators are counted on the key's side only."""
    cells = [Counter(found) for _, found in owners]
    together = sum(_links(n) for cell in cells for n in cell.values())
    in_key = sum(_links(len(found)) for _, found in owners)
    in_response = sum(map(_links, Counter(e for _, found in owners for e in found).values()))
    everything = _links(sum(len(found) for _, found in owners))
    coreferent = [sum(_links(len(entity)) for entity in side) for side in (key, response)]
    links = [_links(sum(map(len, side))) for side in (key, response)]
    return {
        "coreference_common": together,
        "coreference_key": coreferent[0],
        "coreference_response": coreferent[1],
        "non_coreference_common": everything - in_key - in_response + together,
        "non_coreference_key": links[0] - coreferent[0],
        "non_coreference_response": links[1] - coreferent[1],
    }


def _mor(key: Entities, response: Entities) -> dict[str, float]:
    """Mention overlap ratio: places that mentions share, whatever they were matched with."""
    ours, theirs = ([m for entity in side for m in entity] for side in (key, response))
    at: dict[Place, list[int]] = {}
    for column, mention in enumerate(theirs):
        for place in mention.span:
            at.setdefault(place, []).append(column)
    overlaps: Counter[tuple[int, int]] = Counter()
    for row, mention in enumerate(ours):
        overlaps.update((row, column) for place in mention.span for column in at.get(place, ()))
    best = _best_total(overlaps)
    return _ratio((best, _n_places(ours)), (best, _n_places(theirs)))


def _n_places(mentions: Iterable[Mention]) -> int:
    return sum(len(mention.places) for mention in mentions)


def _zero(key: Entities, response: Entities, table: Table) -> dict[str, float]:
    """The anaphor-decomposable score of zeros; what stands at the same place comes before T."""
    owner = _last_owners(response)
    first = {min(entity, key=lambda mention: mention.order) for entity in response}
    counts = {"tp": 0.0, "wl": 0.0, "fn": 0.0, "fp": 0.0}
    covered: set[Mention] = set()
    for entity in key:
        before: set[int] = set()
        for index, mention in enumerate(sorted(entity, key=lambda one: one.order)):
            twin = mention if mention in owner else table.get(mention)
            if index and mention.is_zero:
                if twin is None or twin in first:
                    counts["fn"] += 1
                else:
                    counts["tp" if owner[twin] in before else "wl"] += 1
                if twin is not None:
                    covered.add(twin)
            if twin is not None:
                before.add(owner[twin])
    counts["fp"] = sum(
        mention.is_zero and mention not in first and mention not in covered
        for entity in response
        for mention in entity
    )
    return counts
