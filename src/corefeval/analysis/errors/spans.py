"""Wrong spans: extra mentions that stand in the place of missing ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from corefeval.diagnostics import Notice, plural
from corefeval.features import SideFeatures
from corefeval.features.declarations import MissingFeatureError
from corefeval.matching import Matches, resolve
from corefeval.matching.overlaps import find_overlaps
from corefeval.model.arrays import IntArray
from corefeval.preparation import Prepared
from corefeval.protocol import WrongSpans

Rule = Literal["head", "overlap"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What tells wrong spans (None where mentions have no spans), and why, where it is no wish."""

    rule: Rule | None
    notices: tuple[Notice, ...] = ()


def decide(key: SideFeatures, response: SideFeatures, policy: WrongSpans) -> Decision:
    """What tells wrong spans; `auto` are heads where those of all mentions are known.

    By `head`, mentions without a known head are never wrong spans, and a notice counts them. Where
    no mention of several tokens has one, `MissingFeatureError` says what is missing.
    """
    if key.corpus.labels is not None or response.corpus.labels is not None:
        return Decision(None)
    if policy == "overlap":
        return Decision("overlap")
    try:
        unknown = sum(int((side.head_positions < 0).sum()) for side in (key, response))
    except MissingFeatureError as error:
        if policy == "head":
            raise
        return Decision("overlap", (explain_overlap(str(error).splitlines()[0]),))
    if not unknown:
        return Decision("head")
    count = plural(unknown, "mention")
    if policy == "auto":
        return Decision(
            "overlap", (explain_overlap(f"the heads of {count} are not known", unknown),)
        )
    if not any(map(_knows_heads, (key, response))):
        for side in (key, response):
            side.lookup.annotations.heads("--wrong-spans head")  # says what is missing
    message = f"{count} without a known head, which are never taken for wrong spans"
    return Decision("head", (Notice("wrong-spans", message, unknown),))


def _knows_heads(side: SideFeatures) -> bool:
    """Whether the head of any mention of several tokens is known; of one token it always is."""
    start, end = side.corpus.mention_start, side.corpus.mention_end
    if start is None or end is None:
        return False
    return bool(((side.head_positions >= 0) & (end - start > 1)).any())


def explain_overlap(why: str, count: int = 1) -> Notice:
    """The notice that heads do not tell wrong spans, and why."""
    message = f"{why}, so any overlap makes a wrong span; with heads there may be fewer"
    return Notice("wrong-spans", message, count)


def match_wrong_spans(
    prepared: Prepared, missing: IntArray, extra: IntArray, rule: Rule | None
) -> Matches:
    """Missing mentions of the key and extra ones of the response that are meant to be the same.

    Both must overlap; by `head` they also have the same head token, as Kummerfeld and Klein demand.
    Of all ways to pair them one to one, the one with the largest shares of common tokens in all.
    """
    if rule is None:
        return Matches(missing[:0], extra[:0])
    sides = prepared.key_mentions, prepared.response_mentions
    heads = None
    if rule == "head":
        heads = prepared.key_features.head_positions, prepared.response_features.head_positions
    return resolve(find_overlaps(sides[0], missing, sides[1], extra, heads=heads), *sides)
