"""What may be a mention, on its way from an answer to the key's tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from corefeval.model.ledger import Span


@dataclass(frozen=True)
class Places:
    """All places of a string, those in its own case, and how it was changed to be found."""

    every: list[Span] = field(default_factory=list)
    exact: list[Span] = field(default_factory=list)
    why: str = ""

    @cached_property
    def cased(self) -> frozenset[Span]:
        """The exact ones."""
        return frozenset(self.exact)


@dataclass(slots=True, eq=False)
class Unit:
    """What may be a mention: its words, its entity's label, and what is said of its place.

    `sentence` and `nth` count from 1, `start` is an offset; `contexts` are words around it.
    `remark` is what else is said. `antecedent` is what a pair says that the mention refers to.
    Units of `rows` stand in textual order as a whole, others within their entity. `chars` is where
    a tagged mention stands in the plain text. `state` is `lost`, `unclear` or `aside` where that is
    settled; `why` says so, or how it was changed. `places` are where its words stand in the key,
    `spans` those that it gets.
    """

    text: str
    entity: str = ""
    where: int = 0
    sentence: int | None = None
    start: int | None = None
    nth: int | None = None
    contexts: tuple[str, ...] = ()
    remark: str = ""
    state: str = ""
    why: str = ""
    antecedent: Unit | None = None
    rows: bool = False
    chars: Span = (0, 0)
    places: Places = Places()
    spans: list[Span] = field(default_factory=list)

    @property
    def is_placed(self) -> bool:
        """Whether it is a mention of the document."""
        return self.state in ("placed", "changed")
