"""Which mentions brackets can express: those of one entity must nest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from corefeval.model import Mention


def nested_mentions(mentions: Sequence[Mention]) -> tuple[list[Mention], int]:
    """The mentions that brackets can carry, and how many they cannot.

    Brackets of one entity close in the order last opened, first closed. A mention that opens inside
    an earlier one of its entity and ends behind it cannot be written. Where it opens on the earlier
    one's last token all is well, as closing brackets are written before opening ones.
    """
    kept = []
    open_ends: dict[int, list[int]] = defaultdict(list)
    for mention in mentions:
        start, end = mention.span
        ends = open_ends[mention.entity.index]  # the innermost is the last
        while ends and ends[-1] - 1 <= start:
            ends.pop()
        if not ends or end <= ends[-1]:
            ends.append(end)
            kept.append(mention)
    return kept, len(mentions) - len(kept)
