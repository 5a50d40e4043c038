"""The ledger: what became of every mention that an answer about a text contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from corefeval.display import Row, Tabular

State = Literal["placed", "changed", "repeated", "lost", "unclear", "aside"]
STATES: tuple[State, ...] = ("placed", "changed", "repeated", "lost", "unclear")

Span = tuple[int, int]
_REACHED = 0.97  # an answer that has less of its document ends early


@dataclass(frozen=True, slots=True)
class Entry:
    """One written mention: its words and entity, and its tokens, half open, where it was placed.

    `changed` is placed, but not as it was written, and `why` says what was done; `repeated` is a
    second copy of one that was placed; `lost` could not be placed; `unclear` may be a mention, but
    no reading says so; an `aside` is a label, a context or a remark. `where` is its character in
    the answer. `places` is how often the text has a string that was listed without its place.
    """

    document: str
    written: str
    entity: str
    start: int
    end: int
    state: State
    why: str = ""
    where: int = 0
    places: int = 1

    @property
    def is_placed(self) -> bool:
        """Whether it is a mention of the corpus."""
        return self.start >= 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a document an answer has: its tokens, and what was done with them.

    `added` are words that the document does not have; `reached` is the token behind the last one
    that the answer has. A list of strings has no text: all but `tokens` and `reached` are 0 there.
    `finish` is why the answer ended, where that is known: `length`, `refusal`, or what else was
    said. `state` is what became of the answer: `read`, `unread`, `refused` or `empty`.
    """

    document: str
    convention: str
    tokens: int
    copied: int = 0
    changed: int = 0
    added: int = 0
    missing: int = 0
    reached: int = 0
    finish: str = ""
    state: str = "read"

    @property
    def ends_early(self) -> bool:
        """Whether the answer stops before the end of its document."""
        return 0 < self.reached < _REACHED * self.tokens


@dataclass(frozen=True, eq=False)
class Ledger(Tabular):
    """What became of every written mention, in the order of the answers; `asides` are no mentions.

    >>> entries = Entry("a", "Ada", "1", 0, 1, "placed"), Entry("a", "a", "1", -1, -1, "lost")
    >>> ledger = Ledger(entries)
    >>> ledger.written, ledger.placed, ledger.lost
    (2, 1, 1)
    """

    entries: Sequence[Entry]
    documents: Sequence[Coverage] = ()
    asides: Sequence[Entry] = ()
    counts: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        counts = Counter(entry.state for entry in self.entries)
        object.__setattr__(self, "counts", {state: counts[state] for state in STATES})
        if self.written != self.placed + self.repeated + self.lost + self.unclear:
            raise AssertionError("a written mention is in none of the states of the ledger")

    @property
    def written(self) -> int:
        """How many mentions were written."""
        return len(self.entries)

    @property
    def placed(self) -> int:
        """How many of them have tokens, `changed` ones among them."""
        return self.counts["placed"] + self.counts["changed"]

    @property
    def changed(self) -> int:
        """How many were placed, but not as they were written."""
        return self.counts["changed"]

    @property
    def repeated(self) -> int:
        """How many are second copies."""
        return self.counts["repeated"]

    @property
    def lost(self) -> int:
        """How many could not be placed."""
        return self.counts["lost"]

    @property
    def unclear(self) -> int:
        """How many no reading says anything of."""
        return self.counts["unclear"]

    def __repr__(self) -> str:
        return (
            f"<Ledger: {self.written:,} written, {self.placed:,} placed "
            f"({self.changed:,} changed), {self.repeated:,} repeated, {self.lost:,} lost, "
            f"{self.unclear:,} unclear>"
        )

    def rows(self) -> list[Row]:
        """A row for each mention that was written."""
        names = ("document", "written", "entity", "start", "end", "state", "why", "where")
        return [{name: getattr(entry, name) for name in names} for entry in self.entries]

    def as_dict(self) -> dict[str, object]:
        """The numbers, and those of each document, for JSON."""
        documents = [
            {name: getattr(entry, name) for name in Coverage.__dataclass_fields__}
            for entry in self.documents
        ]
        counts = {**self.counts, "placed": self.placed}
        return {"written": self.written, **counts, "documents": documents}

    def select(self, documents: Sequence[str]) -> Ledger:
        """The ledger of some documents."""
        chosen = set(documents)
        return Ledger(
            tuple(entry for entry in self.entries if entry.document in chosen),
            tuple(entry for entry in self.documents if entry.document in chosen),
            tuple(entry for entry in self.asides if entry.document in chosen),
        )
