"""What people decided: mentions to keep or drop, and pairs that are the same or apart."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from corefeval.analysis.units import PlainMention, Units, list_mentions
from corefeval.diagnostics import InputError, excerpt
from corefeval.display import Row, csv_cell, visible
from corefeval.formats.source import read_source
from corefeval.formats.standoff import lines_of
from corefeval.model.arrays import BoolArray, IntArray

WORDS = {"mention": ("keep", "drop"), "link": ("same", "apart")}
_SIZES = {word: size for size, words in enumerate(WORDS.values(), start=1) for word in words}
COLUMNS = (
    "document", "kind", "start", "end", "other_start", "other_end", "votes", "of", "size",
    "outcome", "stakes", "text", "other_text", "decision",
)  # fmt: skip


class Decision(NamedTuple):
    """A decision on one mention or two, and the line of a file or number under which it stands."""

    word: str
    document: Any
    mentions: tuple[PlainMention, ...]
    number: int
    file: str | None = None


class Constraints(NamedTuple):
    """What decisions mean: units that are kept or dropped, and the node of each group of units.

    Groups that are the same are one node; pairs of nodes that are `apart` are never in one entity.
    """

    is_settled: BoolArray
    is_kept: BoolArray
    node: IntArray
    apart: set[tuple[int, int]]

    def decide(self, groups: Sequence[int]) -> bool:
        """Whether two groups are said to be the same, or apart."""
        first, second = sorted(self.node[groups].tolist())
        return first == second or (first, second) in self.apart


def read_decisions(source: object, encoding: str) -> Iterator[Decision]:
    """The decisions of a list, or of a file that `--contested` wrote."""
    if isinstance(source, str | os.PathLike):
        yield from _read_table(source, encoding)
        return
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
        yield Decision(word, document, tuple(map(_freeze, mentions)), number)


def _freeze(mention: Any) -> PlainMention:
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
        if not (word := row["decision"]):
            continue
        if word not in WORDS.get(row["kind"], ()):
            problem, pair = "a decision that is none", f"{row['kind']} {word}"
            expected = "mention with keep or drop, or link with same or apart"
            raise source.error(problem, number, found=excerpt(pair), expected=expected)
        try:
            ends = [(row[f"{name}start"], row[f"{name}end"]) for name in ("", "other_")]
            mentions = tuple(_parse(*pair) for pair in ends[: _SIZES[word]])
        except ValueError:
            expected = "tokens counted from 0, the end after the last one"
            problem = "a mention without start and end"
            raise source.error(problem, number, found=excerpt(line), expected=expected) from None
        yield Decision(word, row["document"], mentions, number, os.fspath(path))


def _parse(starts: str, ends: str) -> PlainMention:
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


def constrain(
    decisions: Sequence[Decision], units: Units, group: IntArray, quorum: int
) -> Constraints:
    """What decisions mean for units and their groups; an InputError where they contradict."""
    placed = _place(decisions, units) if decisions else []
    is_kept, is_settled = units.votes >= quorum, np.zeros(group.size, dtype=np.bool_)
    node = np.arange(int(group.max(initial=-1)) + 1)
    settled: dict[int, Decision] = {}
    for decision, numbers in placed:
        for unit in numbers if decision.word != "apart" else ():
            earlier = settled.setdefault(unit, decision)
            if (earlier.word == "drop") != (decision.word == "drop"):
                raise _error("a mention that is dropped, and kept as well", earlier, decision)
            is_kept[unit], is_settled[unit] = decision.word != "drop", True
        if decision.word == "same":
            first, second = node[group[numbers]]
            node[node == second] = first
    apart = set()
    for decision, numbers in placed:
        groups = group[numbers].tolist()
        pair = sorted(node[groups].tolist())
        if decision.word != "apart":
            continue
        if groups[0] == groups[1]:
            raise _error("apart within one group: all who marked both link them", decision)
        if pair[0] == pair[1]:
            joined = {
                link: {*group[rows].tolist()} == {*groups}  # the very pair, or a link to others
                for link, rows in placed
                if link.word == "same" and node[group[rows[0]]] == pair[0]
            }
            link = max(joined, key=lambda link: joined[link])
            raise _error("a pair is apart, and the same as well", link, decision)
        if is_kept[numbers].all():
            apart.add((pair[0], pair[1]))
    return Constraints(is_settled, is_kept, node, apart)


def _place(decisions: Iterable[Decision], units: Units) -> list[tuple[Decision, list[int]]]:
    """Each decision with the units that it is about."""
    documents = {str(name): place for place, name in enumerate(units.stacked.documents)}
    documents |= {visible(name).strip(): place for name, place in documents.items()}
    places = zip(units.stacked.mention_document.tolist(), list_mentions(units.stacked), strict=True)
    unit_of = dict(zip(places, units.unit.tolist(), strict=True))
    placed = []
    for decision in decisions:
        document = documents.get(str(decision.document), -1)
        numbers = [unit_of.get((document, mention), -1) for mention in decision.mentions]
        if min(numbers) < 0:
            raise _error(
                f"a {'mention' if document >= 0 else 'document'} that no annotation has",
                decision,
                found=excerpt(f"{decision.document} {list(decision.mentions)}"),
                fix="take documents and mentions as --contested writes them",
            )
        placed.append((decision, numbers))
    return placed


def _error(problem: str, *decisions: Decision, **details: str) -> InputError:
    """An error about decisions, the last of which it stands at."""
    *_, last = decisions
    noun = "line" if last.file else "decision"
    named = " and ".join(f"{noun} {decision.number}" for decision in decisions)
    line = last.number if last.file else None
    return InputError(f"{problem} ({named})", file=last.file, line=line, **details)
