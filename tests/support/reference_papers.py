"""The papers' own metrics written down a second time, straight from their definitions, slowly.

One document at a time. Entities are lists of mentions in textual order; a mention is in at most one
entity of a side. `kinds` says of each mention whether it is a name, a nominal or a pronoun, `nouns`
are the mentions that are nouns, `categories` (or `by`) put each mention into one category.
Ratios are (recall numerator, recall denominator, precision numerator, precision denominator).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise

import reference
from reference_antecedents import anchors, immediate, inferred

POLICIES = (None, "0", "all", "rn", "sys")
WEIGHTS = (1, 0.75, 0.5, 1)


def rates(counts) -> tuple[float, float, float]:
    """Recall, precision and F1 of a ratio's four counts; x/0 = 0."""
    recall, precision = (counts[i] / counts[i + 1] if counts[i + 1] else 0.0 for i in (0, 2))
    total = recall + precision
    return recall, precision, 2 * recall * precision / total if total else 0.0


def mentions_of(entities) -> list:
    return [m for entity in entities for m in entity]


# Cai & Strube 2010 -------------------------------------------------------------------------------


def twinless_pairs(policy, key, response, family):
    """The (key, response) that recall sees and the one that precision sees.

    `family` is "muc", "b3" or "ceaf": Rahman & Ng's policy (rn) puts twinless mentions into the
    other side for the first two only.
    """
    known = set(mentions_of(key))
    found = set(mentions_of(response))
    missed = [[m] for m in mentions_of(key) if m not in found]
    if policy is None:
        return (key, response), (key, response)
    twins = [kept for r in response if (kept := [m for m in r if m in known])]
    if policy == "0":
        return (key, twins), (key, twins)
    if policy in ("rn", "sys"):
        response = [r for r in response if len(r) > 1 or r[0] in known]
    if policy == "rn" and family == "ceaf":
        return (key, response), (key, response)
    spurious = [[m] for m in mentions_of(response) if m not in known]
    if policy == "sys":
        return (key, twins + missed), (key + spurious, response + missed)
    return (key, response + missed), (key + spurious, response)


def under(policy, metric, family, key, response, *options):
    """A metric's recall counts on the one pair, its precision counts on the other."""
    for_recall, for_precision = twinless_pairs(policy, key, response, family)
    return (*metric(*for_recall, *options)[:2], *metric(*for_precision, *options)[2:])


def best_alignment(key, response, similarity) -> float:
    """The best sum over all one-to-one alignments; all of them are tried.

    Pairs that are worth nothing may as well stay apart, so they are not tried.
    """
    worth = [[(j, similarity(k, r)) for j, r in enumerate(response)] for k in key]
    best = {frozenset(): 0.0}  # response entities that are taken: the most that was made of them
    for row in worth:
        longer = dict(best)
        for taken, total in best.items():
            for j, value in row:
                if value > 0 and j not in taken:
                    now = taken | {j}
                    longer[now] = max(longer.get(now, 0.0), total + value)
        best = longer
    return max(best.values())


def ceafm(key, response):
    best = best_alignment(key, response, lambda k, r: len(set(k) & set(r)))
    return best, sum(map(len, key)), best, sum(map(len, response))


def ceafe(key, response):
    best = best_alignment(key, response, lambda k, r: 2 * len(set(k) & set(r)) / (len(k) + len(r)))
    return best, len(key), best, len(response)


def b3_twinless(policy, key, response):
    return under(policy, reference.b3, "b3", key, response)


def ceafm_twinless(policy, key, response):
    return under(policy, ceafm, "ceaf", key, response)


def ceafe_twinless(policy, key, response):
    return under(policy, ceafe, "ceaf", key, response)


# Chen & Ng 2013 ----------------------------------------------------------------------------------


class Weighing:
    """The three weights of Section 3, with spanning trees that are really grown (Kruskal)."""

    def __init__(self, key, response, kinds, weights):
        self.key, self.response, self.kinds = key, response, kinds
        self.weight = dict(zip(("name", "nominal", "pronoun", "singleton"), weights, strict=True))

    def link(self, one, other) -> float:
        ends = (self.kinds[one], self.kinds[other])
        return self.weight[next(k for k in ("name", "nominal", "pronoun") if k in ends)]

    def tree(self, parts) -> float:
        """The heaviest links that join the parts, each of which already hangs together."""
        part = {m: i for i, mentions in enumerate(parts) for m in mentions}
        links = sorted(combinations(part, 2), key=lambda pair: self.link(*pair), reverse=True)
        total = 0.0
        for one, other in links:
            if part[one] != part[other]:
                total += self.link(one, other)
                gone, stays = part[one], part[other]
                part = {m: stays if p == gone else p for m, p in part.items()}
        return total

    def common(self, k, r) -> float:
        shared = [m for m in k if m in r]
        if len(shared) > 1:
            return self.tree([[m] for m in shared])
        return self.weight["singleton"] if len(k) == len(r) == len(shared) == 1 else 0.0

    def of_key(self, k) -> float:
        return self.tree([[m] for m in k]) if len(k) > 1 else self.weight["singleton"]

    def of_response(self, r) -> float:
        if len(r) == 1:
            return self.weight["singleton"]
        shares = [share for k in self.key if (share := [m for m in r if m in k])]
        known = mentions_of(self.key)
        alone = [[m] for m in r if m not in known]
        return sum(self.common(k, r) for k in self.key) + self.tree(shares + alone)


def _lmuc(key, response, kinds, weights):
    w = Weighing(key, response, kinds, weights)
    common = sum(w.common(k, r) for k in key for r in response)
    return common, sum(map(w.of_key, key)), common, sum(map(w.of_response, response))


def _lb3(key, response, kinds, weights):
    w = Weighing(key, response, kinds, weights)
    pairs = [(k, r) for k in key for r in response for m in k if m in r]  # one for each twin
    return (
        sum(w.common(k, r) / w.of_key(k) for k, r in pairs),
        sum(map(len, key)),
        sum(w.common(k, r) / w.of_response(r) for k, r in pairs),
        sum(map(len, response)),
    )


def _lceafm(key, response, kinds, weights):
    w = Weighing(key, response, kinds, weights)
    best = best_alignment(key, response, w.common)
    return best, sum(map(w.of_key, key)), best, sum(map(w.of_response, response))


def _lceafe(key, response, kinds, weights):
    w = Weighing(key, response, kinds, weights)
    best = best_alignment(
        key, response, lambda k, r: 2 * w.common(k, r) / (w.of_key(k) + w.of_response(r))
    )
    return best, len(key), best, len(response)


def lmuc(key, response, kinds, weights=WEIGHTS, policy=None):
    return under(policy, _lmuc, "muc", key, response, kinds, weights)


def lb3(key, response, kinds, weights=WEIGHTS, policy=None):
    return under(policy, _lb3, "b3", key, response, kinds, weights)


def lceafm(key, response, kinds, weights=WEIGHTS, policy=None):
    return under(policy, _lceafm, "ceaf", key, response, kinds, weights)


def lceafe(key, response, kinds, weights=WEIGHTS, policy=None):
    return under(policy, _lceafe, "ceaf", key, response, kinds, weights)


# Zeldes & Simonson 2016 --------------------------------------------------------------------------


def p_link(key, response, categories, anaphor=0.5, antecedent=0.5):
    """A category's counts: points for the ends of links between neighbours of a chain."""
    points = defaultdict(lambda: [0.0] * 4)

    def add(chain, place):
        for before, after in pairwise(chain):
            points[categories[before]][place] += antecedent
            points[categories[after]][place] += anaphor

    for place, side, other in ((0, key, response), (2, response, key)):
        for chain in side:
            add(chain, place + 1)
            for partner in other:
                add([m for m in chain if m in partner], place)
    return {category: tuple(counts) for category, counts in points.items()}


# Slices: each mention's share of a metric goes to the mention's category ------------------------


def _sliced(shares):
    """Make of a function that yields (mention, numerator, denominator) for recall both rates."""

    def metric(key, response, by):
        counts = defaultdict(lambda: [0.0] * 4)
        for place, sides in ((0, (key, response)), (2, (response, key))):
            for mention, numerator, denominator in shares(*sides):
                counts[by[mention]][place] += numerator
                counts[by[mention]][place + 1] += denominator
        return {category: tuple(values) for category, values in counts.items()}

    return metric


@_sliced
def mentions_by(key, response):
    return [(m, m in mentions_of(response), 1) for m in mentions_of(key)]


@_sliced
def b3_by(key, response):
    owner = {m: set(r) for r in response for m in r}
    return [(m, len(set(k) & owner.get(m, set())) / len(k), 1) for k in key for m in k]


def _together(pair, entities) -> bool:
    return any(pair <= set(entity) for entity in entities)


@_sliced
def links_by(key, response):
    for k in key:
        for pair in map(set, combinations(k, 2)):
            for end in pair:
                yield end, 0.5 * _together(pair, response), 0.5


@_sliced
def lea_by(key, response):
    for k in key:
        links = list(map(set, combinations(k, 2)))
        if not links:
            yield k[0], float(k in response), 1
        for pair in links:
            for end in pair:
                share = len(k) / len(links) / 2
                yield end, share * _together(pair, response), share


def blanc_by(key, response, by):
    """BLANC's six counts for each category, each link half to each end."""
    counts = defaultdict(lambda: [0.0] * 6)
    links = zip(reference._links(key), reference._links(response), strict=True)
    for half, (ours, theirs) in enumerate(links):
        for place, chosen in enumerate((ours & theirs, ours, theirs)):
            for end in mentions_of(chosen):
                counts[by[end]][3 * half + place] += 0.5
    return {category: tuple(values) for category, values in counts.items()}


# For the lists over all metrics: mentions are numbers, and the number says the kind ---------------


def kind_of(mention: int) -> str:
    """A kind for each mention that is a number."""
    return ("name", "nominal", "pronoun")[mention * 7 % 5 % 3]


class _Kinds(dict):
    def __missing__(self, mention):
        return kind_of(mention)


class _Nouns(set):
    def __contains__(self, mention):
        return kind_of(mention) != "pronoun"

    def __and__(self, others):
        return {mention for mention in others if mention in self}


def is_zero(mention: int) -> bool:
    """Whether a mention that is a number is a zero."""
    return mention * 5 % 7 % 2 == 0


def zero(key, response):
    """tp, wl, fn and fp of zeros that follow others in their entities (matching.md, 4.1)."""
    owner = {m: number for number, entity in enumerate(response) for m in entity}
    first = {entity[0] for entity in response}
    counts = dict.fromkeys(("tp", "wl", "fn", "fp"), 0)
    covered = set()
    for entity in key:
        before = set()
        for place, mention in enumerate(entity):
            if place and is_zero(mention):
                if mention not in owner or mention in first:
                    counts["fn"] += 1
                else:
                    counts["tp" if owner[mention] in before else "wl"] += 1
                covered.add(mention)
            if mention in owner:
                before.add(owner[mention])
    resolved = {m for entity in response for m in entity[1:] if is_zero(m)}
    counts["fp"] = len(resolved - covered)
    return tuple(counts.values())


def _links(key, response):
    """All pairs of coreferent mentions."""
    parts = links_by(key, response, defaultdict(int)).values()
    return tuple(map(sum, zip(*parts, strict=True))) if parts else (0, 0, 0, 0)


OF_THE_PAPERS = {
    "mor": reference.mentions,  # a mention that is a number is one token
    "zero": zero,
    "links": _links,
    "lmuc": lambda key, response: lmuc(key, response, _Kinds()),
    "lb3": lambda key, response: lb3(key, response, _Kinds()),
    "lceafm": lambda key, response: lceafm(key, response, _Kinds()),
    "lceafe": lambda key, response: lceafe(key, response, _Kinds()),
    "immediate": lambda key, response: tuple(immediate(key, response, _Nouns()).values()),
    "inferred": lambda key, response: tuple(inferred(key, response, _Nouns()).values()),
    "anchors": lambda key, response: tuple(
        count for part in anchors(key, response, _Nouns()) for count in part.values()
    ),
    "p-link": lambda key, response: p_link(key, response, defaultdict(int)).get(0, (0, 0, 0, 0)),
}
