"""What people decided: mentions to keep or drop, and pairs that are the same or apart."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from corefeval.analysis.units import Units, list_mentions, split_mention
from corefeval.diagnostics import InputError, excerpt
from corefeval.display import Row, csv_cell, plain_cell, visible
from corefeval.formats.feature_table import read_table
from corefeval.formats.source import read_source
from corefeval.model.arrays import BoolArray, IntArray, integers

COLUMNS = (
    "document", "kind", "start", "end", "other_start", "other_end", "votes", "of", "size",
    "outcome", "stakes", "text", "other_text", "decision",
)  # fmt: skip
_READ = (*COLUMNS[:6], "decision")
_SIZES = {"keep": 1, "drop": 1, "same": 2, "apart": 2}  # in mentions
Place = tuple[str, str]  # start and end of a mention, as they are written


class Decision(NamedTuple):
    """A decision on one mention or two, and where it stands: in a line of a file, or a list."""

    word: str
    document: str
    mentions: Sequence[Place]
    file: str
    line: int | None = None

    def error(self, problem: str) -> InputError:
        """The error that this decision is."""
        places = (":".join(filter(None, place)) for place in self.mentions)
        found = f"{self.word} {excerpt(self.document)} {' '.join(places)}"
        return InputError(problem, file=self.file, line=self.line, found=found)

    def contradict(self, decision: Decision, reason: str) -> InputError:
        """The error that this decision is beside another one."""
        where = f"line {decision.line}" if decision.line else decision.file
        return self.error(f"this contradicts {where}: {reason}; remove one of the two")


class Constraints(NamedTuple):
    """What decisions mean: mentions that are settled, and the node of each group of units.

    Groups that are the same are one node; pairs of nodes that are `apart` are never in one entity.
    """

    settled: dict[int, Decision]
    node: IntArray
    apart: set[tuple[int, ...]]

    def decide(self, groups: IntArray) -> bool:
        """Whether two groups are said to be the same, or apart."""
        first, second = sorted(self.node[groups].tolist())
        return first == second or (first, second) in self.apart


def read_decisions(source: object, encoding: str) -> Iterator[Decision]:
    """The decisions of a list, or of a file that `--contested` wrote."""
    is_file = isinstance(source, str | os.PathLike)
    for decision in _read_file(source, encoding) if is_file else _read_list(source):
        if _SIZES.get(decision.word) != len(decision.mentions):
            problem = "an unknown decision: there are keep and drop of a mention, "
            raise decision.error(problem + "same and apart of two")
        yield decision


def _read_file(path: Any, encoding: str) -> Iterator[Decision]:
    """What is decided in a table, whose other columns are not looked at."""
    source = read_source(path, encoding=encoding)
    names, rows = read_table(source)
    if any(names.count(name) != 1 for name in _READ):
        expected = f"each of these columns once, with tabs between them: {', '.join(_READ)}"
        problem, header = "not the header of a table of decisions", excerpt("\t".join(names))
        raise source.error(problem, 1, found=header, expected=expected)
    for number, row in rows:
        sides = {"mention": ("",), "link": ("", "other_")}.get(row["kind"], ())
        places = [(plain_cell(row[f"{side}start"]), row[f"{side}end"]) for side in sides]
        if row["decision"]:
            yield Decision(row["decision"], row["document"], places, source.file, number)


def _read_list(entries: Any) -> Iterator[Decision]:
    """What a list says, of which each entry is a word, a document, and one mention or two."""
    for number, entry in enumerate(entries if isinstance(entries, Iterable) else [entries], 1):
        is_pair = isinstance(entry, Sequence) and len(entry) > 1
        word, document, *mentions = entry if is_pair else (entry, "")
        places = [_place(*split_mention(mention)) for mention in mentions]
        yield Decision(str(word), str(document), places, f"decision {number}")


def _place(start: object, end: object) -> Place:
    """Start and end as they are read from the cells that they were written to."""
    return plain_cell(str(csv_cell(start))), str(csv_cell(end))


def make_table(rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> str:
    """Rows as a tab-separated table, which is safe to open, and ids of documents as they are."""
    lines = [
        [visible(row[n]) if n == "document" else str(csv_cell(row[n])) for n in columns]
        for row in rows
    ]
    return "".join("\t".join(line) + "\n" for line in (columns, *lines))


def constrain(
    decisions: Sequence[Decision], units: Units, group: IntArray, is_kept: BoolArray
) -> Constraints:
    """What decisions mean for units and their groups; an InputError where they contradict.

    `is_kept` says which units have a quorum, and is changed to what was decided.
    """
    settled, placed = dict[int, Decision](), _find_units(decisions, units)
    for decision, rows in placed:
        for unit in rows.tolist() if decision.word != "apart" else ():
            earlier = settled.setdefault(unit, decision)
            if (earlier.word == "drop") != (decision.word == "drop"):
                raise decision.contradict(earlier, "a mention cannot be kept and dropped")
            is_kept[unit] = decision.word != "drop"
    separations = [(decision, rows) for decision, rows in placed if decision.word == "apart"]
    node = np.arange(int(group.max(initial=-1)) + 1)
    for separation, rows in separations:
        if np.ptp(group[rows]) == 0:
            raise separation.error("these cannot be apart: all who marked both link them")
    for decision, rows in placed:
        if decision.word == "same":
            target, source = node[group[rows]]
            node[node == source] = target
            for separation, ends in separations:
                if np.ptp(node[group[ends]]) == 0:
                    reason = "two mentions cannot be apart and the same, not even through others"
                    raise separation.contradict(decision, reason)
    kept = [rows for _, rows in separations if is_kept[rows].all()]
    return Constraints(settled, node, {tuple(sorted(node[group[rows]].tolist())) for rows in kept})


def _find_units(decisions: Sequence[Decision], units: Units) -> list[tuple[Decision, IntArray]]:
    """Each decision with the units that it is about."""
    corpus, unit_of, placed = units.stacked, dict[tuple[str, Place], int](), []
    names = [visible(str(name)).strip() for name in corpus.documents]
    mentions = list_mentions(corpus, np.arange(corpus.n_mentions)) if decisions else []
    for row, mention in enumerate(mentions):
        place = names[corpus.mention_document[row]], _place(*split_mention(mention))
        unit = int(units.unit[row])
        unit_of[place] = unit if unit_of.get(place, unit) == unit else -1
    for decision in decisions:
        name = visible(decision.document).strip()
        rows = [unit_of.get((name, place), -1) for place in decision.mentions]
        if min(rows) < 0:
            problem = "not all annotations have this document, or none has this mention, "
            raise decision.error(problem + "or another one is written like it")
        placed.append((decision, integers(rows)))
    return placed
