"""What people decided: mentions to keep or drop, and pairs that are the same or apart."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from corefeval.consensus.units import Mention, Units
from corefeval.diagnostics import InputError, excerpt
from corefeval.display import Row, csv_cell, visible
from corefeval.formats.source import read_source
from corefeval.formats.standoff import lines_of
from corefeval.model.arrays import BoolArray, IntArray

WORDS = {"mention": ("keep", "drop"), "link": ("same", "apart")}
_SIZES = {"keep": 1, "drop": 1, "same": 2, "apart": 2}  # mentions that a decision is about
COLUMNS = (
    "document", "kind", "start", "end", "other_start", "other_end", "votes", "of", "size",
    "outcome", "stakes", "text", "other_text", "decision",
)  # fmt: skip


class Decision(NamedTuple):
    """A decision on one mention or two, and the line or number under which it was made."""

    word: str
    document: Any
    mentions: tuple[Mention, ...]
    line: int


@dataclass(frozen=True, eq=False)
class Constraints:
    """What decisions mean: units that are kept or dropped, and the node of each group of units.

    Groups that are the same are one node; nodes that are `apart` are never in one entity.
    """

    is_settled: BoolArray
    is_kept: BoolArray
    node: IntArray
    apart: Mapping[int, set[int]] = field(default_factory=dict)

    def decides(self, group: int, partner: int) -> bool:
        """Whether two groups are said to be the same, or apart."""
        nodes = self.node[group], self.node[partner]
        return nodes[0] == nodes[1] or nodes[1] in self.apart.get(int(nodes[0]), ())


def read_decisions(source: object, encoding: str) -> tuple[list[Decision], str | None]:
    """The decisions of a list, or of a file that `--contested` wrote; the name of the file."""
    if isinstance(source, str | os.PathLike):
        return list(_read_table(source, encoding)), os.fspath(source)
    decisions = []
    for number, entry in enumerate(source if isinstance(source, Iterable) else [source], start=1):
        is_whole = isinstance(entry, tuple | list) and len(entry) > 1
        word, document, *mentions = entry if is_whole else (entry, "")
        if not isinstance(word, str) or len(mentions) != _SIZES.get(word):
            raise InputError(
                f"decision {number} is none",
                found=excerpt(repr(entry)),
                expected='("keep", document, mention) or "drop", or with two mentions "same" or '
                '"apart"',
            )
        decisions.append(Decision(word, document, tuple(map(_freeze, mentions)), number))
    return decisions, None


def _freeze(mention: Any) -> Mention:
    """A mention as a hashable value; lists are tuples."""
    if isinstance(mention, list | tuple):
        return tuple(map(_freeze, mention))
    return mention if isinstance(mention, Hashable) else repr(mention)


def _read_table(path: str | os.PathLike[str], encoding: str) -> Iterator[Decision]:
    source = read_source(path, encoding=encoding)
    header, *lines = lines_of(source.text) or [""]
    names = [name.strip() for name in header.split("\t")]
    if not {*COLUMNS[:6], COLUMNS[-1]} <= {*names}:
        expected = f"the columns that --contested writes: {', '.join(COLUMNS)}"
        problem = "not the header of a table of decisions"
        raise source.error(problem, 1, found=excerpt(header), expected=expected)
    for number, line in enumerate(lines, start=2):
        row = defaultdict(str, zip(names, map(str.strip, line.split("\t")), strict=False))
        word = row["decision"]
        if word and word not in WORDS.get(row["kind"], ()):
            problem, pair = "a decision that is none", f"{row['kind']} {word}"
            expected = "mention with keep or drop, or link with same or apart"
            raise source.error(problem, number, found=excerpt(pair), expected=expected)
        try:
            ends = [(row[f"{name}start"], row[f"{name}end"]) for name in ("", "other_")]
            mentions = tuple(_parse(*pair) for pair in ends[: _SIZES.get(word, 0)])
        except ValueError:
            expected = "tokens counted from 0, the end after the last one"
            problem = "a mention without start and end"
            raise source.error(problem, number, found=excerpt(line), expected=expected) from None
        if word:
            yield Decision(word, row["document"], mentions, number)


def _parse(starts: str, ends: str) -> Mention:
    """A mention from its start and end; a discontinuous one has several, with commas between."""
    parts = tuple(zip(map(int, starts.split(",")), map(int, ends.split(",")), strict=True))
    return parts[0] if len(parts) == 1 else parts


def make_table(rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> str:
    """Rows as a tab-separated table, which is safe to open, and ids of documents as they are."""
    lines = [columns]
    for row in rows:
        cells = [row[name] if name == "document" else csv_cell(row[name]) for name in columns]
        lines.append([visible(str(cell)) for cell in cells])
    return "".join("\t".join(line) + "\n" for line in lines)


class _Judge:
    """Decisions put together, with an error for those that cannot hold at once."""

    def __init__(self, units: Units, group: IntArray, file: str | None) -> None:
        self.units, self.group, self.file = units, group, file
        self.documents = {str(d): place for place, d in enumerate(units.corpus.documents)}
        self.documents |= {visible(name).strip(): n for name, n in self.documents.items()}
        self.kept: dict[int, Decision] = {}
        self.dropped: dict[int, Decision] = {}
        self.node = np.arange(int(group.max(initial=-1)) + 1)
        self.links: list[tuple[int, int, Decision]] = []

    def error(self, problem: str, *decisions: Decision, **details: str) -> InputError:
        """An error about decisions, the last of which it stands at."""
        place = "line" if self.file else "decision"
        named = " and ".join(f"{place} {decision.line}" for decision in decisions)
        line = decisions[-1].line if self.file else None
        return InputError(f"{problem} ({named})", file=self.file, line=line, **details)

    def find(self, decision: Decision) -> list[int]:
        """The units that a decision is about."""
        document = self.documents.get(str(decision.document), -1)
        units = [self.units.numbers.get((document, mention), -1) for mention in decision.mentions]
        if min(units) < 0:
            problem = "a mention" if document >= 0 else "a document"
            raise self.error(
                f"{problem} that no annotation has",
                decision,
                found=excerpt(f"{decision.document} {list(decision.mentions)}"),
                fix="take documents and mentions as --contested writes them",
            )
        return units

    def settle(self, decision: Decision, units: list[int]) -> None:
        """Keep or drop what a decision says."""
        target, rival = self.kept, self.dropped
        if decision.word == "drop":
            target, rival = rival, target
        for unit in units if decision.word != "apart" else ():
            if unit in rival:
                problem = "a mention that is dropped, and kept as well"
                raise self.error(problem, rival[unit], decision)
            target.setdefault(unit, decision)
        if decision.word == "same":
            first, second = self.group[units].tolist()
            self.links.append((first, second, decision))
            self.node[self.node == self.node[second]] = self.node[first]

    def separate(self, decision: Decision, units: list[int]) -> tuple[int, int]:
        """The nodes that a decision keeps apart."""
        groups = self.group[units].tolist()
        if groups[0] == groups[1]:
            raise self.error("apart within one group: all who marked both link them", decision)
        first, second = self.node[groups].tolist()
        if first == second:
            joined = [link for link in self.links if self.node[link[0]] == first]
            link = next((d for *pair, d in joined if {*pair} == {*groups}), joined[-1][2])
            raise self.error("a pair is apart, and the same as well", link, decision)
        return first, second


def constrain(
    decisions: Iterable[Decision], file: str | None, units: Units, group: IntArray, quorum: int
) -> Constraints:
    """What decisions mean for units and their groups; an InputError where they contradict."""
    judge = _Judge(units, group, file)
    placed = [(decision, judge.find(decision)) for decision in decisions]
    for decision, numbers in placed:
        judge.settle(decision, numbers)
    is_kept = units.votes >= quorum
    is_kept[list(judge.kept)] = True
    is_kept[list(judge.dropped)] = False
    apart: dict[int, set[int]] = defaultdict(set)
    for decision, numbers in placed:
        if decision.word == "apart":
            nodes = judge.separate(decision, numbers)
            for node, rival in (nodes, nodes[::-1]) if is_kept[numbers].all() else ():
                apart[node].add(rival)
    is_settled = np.zeros(is_kept.size, dtype=np.bool_)
    is_settled[[*judge.kept, *judge.dropped]] = True
    return Constraints(is_settled, is_kept, judge.node, apart)
