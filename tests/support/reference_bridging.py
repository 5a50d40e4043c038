"""Bridging and non-referring mentions counted by hand, on sets of plain tuples."""

from __future__ import annotations

from dataclasses import dataclass, field

LEVELS = ("anaphor", "mention", "entity")


@dataclass
class Side:
    """A document: spans by entity, spans that refer to nothing, bridging as (span, span, name)."""

    entities: list[list[int]] = field(default_factory=list)
    nothing: list[int] = field(default_factory=list)
    bridging: list[tuple[int, int, str]] = field(default_factory=list)


def bridging(key: Side, response: Side, level: str = "entity", typed: bool = False):
    """True positives, false negatives and false positives; spans are their own identity."""
    together = {span: set(entity) for entity in key.entities for span in entity}
    gold = {}
    for anaphor, antecedent, name in key.bridging:
        gold.setdefault(anaphor, []).append((antecedent, name))
    guessed = {}
    for anaphor, antecedent, name in response.bridging:
        guessed.setdefault(anaphor, []).append((antecedent, name))

    def right(anaphor, antecedent, name) -> bool:
        return any(
            (level == "anaphor" or antecedent == one
             or (level == "entity" and antecedent in together.get(one, ())))
            and (not typed or name == other)
            for one, other in gold.get(anaphor, ())
        )  # fmt: skip

    hits = sum(all(right(a, *pair) for pair in pairs) for a, pairs in guessed.items())
    return hits, len(gold) - hits, len(guessed) - hits


def refers_not(key: Side, response: Side):
    """The same of mentions that refer to nothing."""
    hits = len({*key.nothing} & {*response.nothing})
    return hits, len({*key.nothing}) - hits, len({*response.nothing}) - hits
