"""Tuggener's (2014) metrics written down a second time, straight from their definitions, slowly.

Entities and nouns are those of `reference_papers`.
"""

from __future__ import annotations

from collections import defaultdict


def before(mention, entities) -> list | None:
    """The mentions before this one in its chain; None where it is in none."""
    for chain in entities:
        if mention in chain:
            return chain[: chain.index(mention)]
    return None


def tally(events, by=None):
    """Counts of (outcome, mention) pairs, in all or for each category of the mention."""
    if by is None:
        outcomes = [outcome for outcome, _ in events]
        return {name: outcomes.count(name) for name in ("tp", "wl", "fn", "fp")}
    return {c: tally([e for e in events if by[e[1]] == c]) for c in {by[m] for _, m in events}}


def immediate(key, response, nouns, chains="all", by=None):
    """Is the mention right before it in its chain the right one?

    `chains="nominal"` is the author's program: key chains without a noun are skipped, and so are
    pronouns with no noun before them. Only what the key is asked for changes: spurious mentions
    are counted as ever, also those in response chains without a noun, and a mention that was
    skipped because of its key chain is not spurious (it has a predecessor in the key).
    """
    events = []
    for k in key:
        for i, m in enumerate(k[1:], 1):
            if chains == "nominal" and m not in nouns and not nouns & set(k[:i]):
                continue  # (a chain without a noun has such mentions only)
            found = before(m, response)
            right = found and found[-1] == k[i - 1]
            events.append(("tp" if right else "wl" if found else "fn", m))
    events += [("fp", m) for r in response for m in r[1:] if not before(m, key)]
    return tally(events, by)


def inferred(key, response, nouns, spurious="wl", by=None):
    """Is the closest noun before it in its response chain one of its key chain?

    A noun that has no noun before it in its key chain (the chain begins with pronouns) but one in
    the response is counted twice: in the key's loop, and as spurious in the response's.
    """
    events = []
    for k in key:
        for i, m in enumerate(k[1:], 1):
            has_noun = bool(nouns & set(k[:i]))
            if m not in nouns and not has_noun:
                continue
            chain = before(m, response)
            closest = [other for other in chain or () if other in nouns][-1:]
            if closest:
                events.append(("tp" if closest[0] in k else "wl", m))
            elif not chain or has_noun:
                events.append(("fn", m))
    for r in response:
        for i, m in enumerate(r[1:], 1):
            if nouns & set(r):
                how = _formula if spurious == "formula" else _spurious
                events += [(o, m) for o in how(m, nouns & set(r[:i]), key, nouns, spurious)]
    return tally(events, by)


def _spurious(mention, nouns_before, key, nouns, outcome):
    """What a response mention adds, if its response chain has a noun. Key singletons are key."""
    chain = before(mention, key)
    if chain is None:
        return ["fp"]
    return [outcome] if nouns_before and not nouns & set(chain) else []


def _formula(mention, nouns_before, key, nouns, _):
    """The same by the paper's formula, which does not ask for a noun before the mention.

    The first mention of a key chain without a noun is both wl by the formula and fp by line 8 of
    the algorithm. It is counted once, as wl, in the order in which the definition names them; no
    published figure decides this.
    """
    own = next((set(k) for k in key if mention in k), None)
    if own is not None and mention not in nouns and not nouns & own:
        return ["wl"]
    return [] if before(mention, key) else ["fp"]


def anchors(key, response, nouns, classes=None):
    """Counts of entity detection and of entity mentions, singletons left out first.

    With `classes`, a function from an entity to its class: a pair for each class. A key entity's
    outcome and all mentions that are counted for it go to its own class, a spurious entity to its
    own.
    """
    key, response = ([e for e in side if len(e) > 1] for side in (key, response))
    empty = {"tp": 0, "fn": 0, "fp": 0}
    table = defaultdict(lambda: (dict(empty), dict(empty)))
    if classes is None:
        table["all"]
    of = classes or (lambda entity: "all")
    for k in key:
        for anchor in [m for m in k if m in nouns][:1]:
            detection, mentions = table[of(k)]
            aligned = [set(r) for r in response if anchor in r]
            detection["tp" if aligned else "fn"] += 1
            for r in aligned:
                mentions["tp"] += len(set(k) & r)
                mentions["fn"] += len(set(k) - r)
                mentions["fp"] += len(r - set(k))
    for r in response:
        for anchor in [m for m in r if m in nouns][:1]:
            table[of(r)][0]["fp"] += not any(anchor in k for k in key)
    return table["all"] if classes is None else dict(table)
