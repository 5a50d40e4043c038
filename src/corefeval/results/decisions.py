"""What a response chose for an item of a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from corefeval.display import Record


@dataclass(frozen=True, slots=True)
class Decision(Record):
    """What was chosen for an item, and what is right; both are labels of candidates.

    `choice` is the label, `both` (of two or more), `none`, `unmarked` if the target is no mention,
    `unclear` for an answer that is not understood, or `missing`. An item whose `gold` is None is
    open: it can be neither right nor wrong.
    """

    id: str
    choice: str
    chosen: tuple[str, ...]
    gold: tuple[str, ...] | None
    groups: Mapping[str, str]
    pair: str | None
    human: Mapping[str, float]
    candidates: int

    @property
    def right(self) -> bool | None:
        """Whether exactly the right candidates were chosen; None for an open item."""
        return None if self.gold is None else self.choice_set == self.gold

    @property
    def decided(self) -> bool:
        """Whether one candidate was chosen."""
        return len(self.chosen) == 1

    @property
    def outcome(self) -> str | None:
        """`right`, `wrong` if one other candidate was chosen, or else the choice."""
        if self.right is None:
            return None
        return "right" if self.right else "wrong" if self.decided else self.choice

    @property
    def choice_set(self) -> object:
        """What makes two choices the same: the labels, or that it is missing or unclear."""
        return self.choice if self.choice in ("missing", "unclear") else self.chosen

    @property
    def figures(self) -> dict[str, object]:
        """What people see of the decision."""
        names = ("id", "choice", "chosen", "gold", "right", "outcome", "groups", "pair")
        return {name: getattr(self, name) for name in names}

    @property
    def links(self) -> tuple[int, int, int, int]:
        """Candidates by whether they were chosen and are right: tp, fp, fn, tn.

        Those of an open item are none of these, and those of a missing one are all fn.
        """
        if self.gold is None:
            return 0, 0, 0, 0
        if self.choice == "missing":
            return 0, 0, self.candidates, 0
        chosen, gold = {*self.chosen}, {*self.gold}
        correct, unnamed = len(chosen & gold), self.candidates - len(chosen | gold)
        return correct, len(chosen - gold), len(gold - chosen), unnamed
