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
        if self.gold is None:
            return None
        return self.choice_set == self.gold

    @property
    def outcome(self) -> str | None:
        """`right`, `wrong` if one other candidate was chosen, or else the choice."""
        if self.right is None:
            return None
        return "right" if self.right else "wrong" if len(self.chosen) == 1 else self.choice

    @property
    def choice_set(self) -> object:
        """What makes two choices the same: the labels, or that it is missing or unclear."""
        return self.choice if self.choice in ("missing", "unclear") else self.chosen

    def as_row(self) -> dict[str, object]:
        """The decision as a flat row, in which labels are joined."""
        gold = "?" if self.gold is None else "+".join(self.gold) or "neither"
        row: dict[str, object] = {
            "id": self.id,
            "choice": self.choice,
            "chosen": "+".join(self.chosen),
            "gold": gold,
        }
        row |= {"right": self.right, "outcome": self.outcome, "pair": self.pair}
        return row | {f"group:{name}": value for name, value in self.groups.items()}

    @property
    def links(self) -> tuple[int, int, int, int]:
        """Candidates by whether they were chosen and are right: tp, fp, fn, tn.

        All candidates of a missing item are fn.
        """
        gold = self.gold or ()
        if self.choice == "missing":
            return 0, 0, self.candidates, 0
        correct = len({*self.chosen} & {*gold})
        extra, lacking = len(self.chosen) - correct, len(gold) - correct
        return correct, extra, lacking, self.candidates - correct - extra - lacking
