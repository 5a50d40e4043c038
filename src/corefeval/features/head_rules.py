"""Which child of an English constituent is its head: rules after Collins (1999) and Magerman.

A rule is steps; a step is a direction and some labels or tags, and the first child in that
direction that has one of them is the head. NP searches for any of a step's labels at once; the
other tables search for one label after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from corefeval.model.arrays import BoolArray, IntArray

Direction = Literal["left", "right"]  # from the left, from the right
Step = tuple[Direction, frozenset[str]]

PUNCTUATION = frozenset((",", ".", ":", "``", "''", '"', "-LRB-", "-RRB-", "(", ")", "NFP", "POS"))


def _steps(*steps: tuple[Direction, str]) -> tuple[Step, ...]:
    return tuple((direction, frozenset(labels.split())) for direction, labels in steps)


def _one_by_one(direction: Direction, labels: str) -> tuple[Step, ...]:
    return tuple((direction, frozenset((label,))) for label in labels.split())


# A possessive ’s is never a head here, as it is none of a mention. Pronouns come before numbers
# and adjectives ("us three", "you all"), which Collins' NPs leave to chance.
_NOUN_PHRASE = _steps(
    ("right", "NN NNP NNPS NNS NX NML JJR"),
    ("left", "NP"),
    ("left", "PRP WP EX WHNP"),
    ("right", "$ ADJP PRN"),
    ("right", "CD"),
    ("right", "JJ JJS RB QP"),
)
RULES: dict[str, tuple[Step, ...]] = {
    **dict.fromkeys(("NP", "NX", "NML"), _NOUN_PHRASE),
    "ADJP": _one_by_one(
        "left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"
    ),
    "ADVP": _one_by_one("right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": _one_by_one("right", "CC RB IN"),
    "NAC": _one_by_one("left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": _one_by_one("right", "IN TO VBG VBN RP FW"),
    "PRT": _one_by_one("right", "RP"),
    "QP": _one_by_one("left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": _one_by_one("right", "VP NP ADVP ADJP PP"),
    "S": _one_by_one("left", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": _one_by_one("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": _one_by_one("left", "SQ S SINV SBARQ FRAG"),
    "SINV": _one_by_one("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": _one_by_one("left", "VBZ VBD VBP VB MD VP SQ"),
    "VP": _one_by_one("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": _one_by_one("left", "CC WRB JJ ADJP"),
    "WHADVP": _one_by_one("right", "CC WRB"),
    "WHNP": _one_by_one("left", "NN NNS NNP NNPS NP WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": _one_by_one("right", "IN TO FW"),
}
# Where no step finds a head: the first child from there that is no punctuation.
DEFAULT: dict[str, Direction] = {
    **dict.fromkeys(
        ("ADJP", "INTJ", "NAC", "PRN", "QP", "S", "SBAR", "SBARQ", "SINV", "SQ", "VP"), "left"
    ),
    **dict.fromkeys(("WHADJP", "WHNP", "TOP"), "left"),
}


def plain_label(label: str) -> str:
    """A label without its function: `NP-SBJ` and `NP=2` are NPs; `-LRB-` stays as it is."""
    if label.startswith("-"):
        return label
    return label.partition("-")[0].partition("=")[0]


def rank_of(parent: str, child: str) -> tuple[int, Direction]:
    """The step of the parent's rule that finds a child, from 0, and its direction."""
    steps = RULES.get(parent, ())
    for number, (direction, labels) in enumerate(steps):
        if child in labels:
            return number, direction
    rank = len(steps) + (child in PUNCTUATION)
    return rank, DEFAULT.get(parent, "right")


@dataclass(frozen=True, eq=False)
class RankTable:
    """`rank_of` for all pairs of some labels and symbols."""

    rank: NDArray[np.int64]
    from_left: NDArray[np.bool_]

    @staticmethod
    def of(parents: Sequence[str], symbols: Sequence[str]) -> RankTable:
        """Look every pair up once."""
        plain = [plain_label(symbol) for symbol in symbols]
        found = [[rank_of(plain_label(parent), child) for child in plain] for parent in parents]
        shape = (len(parents), len(symbols))
        return RankTable(
            np.array([[r for r, _ in row] for row in found], dtype=np.int64).reshape(shape),
            np.array([[d == "left" for _, d in row] for row in found], np.bool_).reshape(shape),
        )

    def look_up(self, parent: IntArray, symbol: IntArray) -> tuple[IntArray, BoolArray]:
        """The rank and the direction of some pairs."""
        return self.rank[parent, symbol], self.from_left[parent, symbol]
