"""The metrics written down once more, straight from their definitions and as slow as they like.

Entities are lists of mentions, one document at a time. Every function gives (recall numerator,
recall denominator, precision numerator, precision denominator), or BLANC's six counts.
"""

from __future__ import annotations

from itertools import combinations, permutations

Entities = list[list[int]]


def both(recall):
    def metric(key: Entities, response: Entities) -> tuple[float, ...]:
        return (*recall(key, response), *recall(response, key))

    return metric


@both
def mentions(key, response):
    found = {m for entity in response for m in entity}
    return sum(m in found for k in key for m in k), sum(map(len, key))


@both
def muc(key, response):
    owner = {m: j for j, r in enumerate(response) for m in r}
    parts = [len({owner.get(m, ("alone", m)) for m in k}) for k in key]
    return sum(len(k) - p for k, p in zip(key, parts, strict=True)), sum(len(k) - 1 for k in key)


@both
def b3(key, response):
    owner = {m: set(r) for r in response for m in r}
    credit = sum(len(set(k) & owner.get(m, set())) / len(k) for k in key for m in k)
    return credit, sum(map(len, key))


def _best_alignment(key, response, similarity) -> float:
    small, large = sorted((key, response), key=len)
    return max(
        (
            sum(similarity(set(a), set(b)) for a, b in zip(small, chosen, strict=True))
            for chosen in permutations(large, len(small))
        ),
        default=0.0,
    )


def ceafm(key, response):
    best = _best_alignment(key, response, lambda a, b: len(a & b))
    return best, sum(map(len, key)), best, sum(map(len, response))


def ceafe(key, response):
    best = _best_alignment(key, response, lambda a, b: 2 * len(a & b) / (len(a) + len(b)))
    return best, len(key), best, len(response)


def _links(entities) -> tuple[set, set]:
    together = {frozenset(pair) for entity in entities for pair in combinations(entity, 2)}
    everyone = [m for entity in entities for m in entity]
    return together, {frozenset(pair) for pair in combinations(everyone, 2)} - together


def blanc(key, response):
    key_together, key_apart = _links(key)
    response_together, response_apart = _links(response)
    return (
        len(key_together & response_together),
        len(key_together),
        len(response_together),
        len(key_apart & response_apart),
        len(key_apart),
        len(response_apart),
    )


@both
def lea(key, response):
    def resolved(k) -> float:
        if len(k) == 1:
            return float(k in response)
        found = sum(any({a, b} <= set(r) for r in response) for a, b in combinations(k, 2))
        return found / (len(k) * (len(k) - 1) / 2)

    return sum(len(k) * resolved(k) for k in key), sum(map(len, key))


REFERENCES = {
    "mentions": mentions,
    "muc": muc,
    "b3": b3,
    "ceafm": ceafm,
    "ceafe": ceafe,
    "blanc": blanc,
    "lea": lea,
}
# Metrics that are made of others, and are tested as such.
COMPOSED = {"conll"}
