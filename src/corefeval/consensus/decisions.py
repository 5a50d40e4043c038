"""What people decided: mentions to keep or drop, and pairs that are the same or apart."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from corefeval.analysis.units import Units, list_mentions, split_mention
from corefeval.diagnostics import InputError, excerpt
from corefeval.display import Row, csv_cell, plain_cell, visible
from corefeval.formats.feature_table import read_table
from corefeval.formats.source import read_source
from corefeval.model.arrays import BoolArray, IntArray, all_false, integers, plain_rows

WORDS = {"mention": ("keep", "drop"), "link": ("same", "apart")}
COLUMNS = (
    "document", "kind", "start", "end", "other_start", "other_end", "votes", "of", "size",
    "outcome", "stakes", "text", "other_text", "decision",
)  # fmt: skip
_READ = (*COLUMNS[:6], "decision")
Place = tuple[str, str]  # start and end of a mention, as they are written


class Decision(NamedTuple):
    """A decision on one mention or two, and where it stands: the line of a file, or its number."""

    word: str
    document: str
    mentions: tuple[Place, ...]
    number: int
    file: str | None = None

    @property
    def where(self) -> str:
        """The line of a file, or the number of the decision."""
        return f"{'line' if self.file else 'decision'} {self.number}"

    def error(self, problem: str, **details: str) -> InputError:
        """The error that this decision is."""
        places = (":".join(filter(None, place)) for place in self.mentions)
        text = f"{self.word} {excerpt(self.document)} {' '.join(places)}"
        problem, line = (problem, self.number) if self.file else (f"{self.where}: {problem}", None)
        return InputError(problem, file=self.file, line=line, found=text, **details)

    def contradict(self, earlier: Decision, reason: str) -> InputError:
        """The error that this decision is beside an earlier one."""
        problem = f"this contradicts {earlier.where}: {reason}"
        return self.error(problem, fix="remove one of the two decisions")


class Constraints(NamedTuple):
    """What decisions mean: units that are kept or dropped, and the node of each group of units.

    Groups that are the same are one node; pairs of nodes that are `apart` are never in one entity.
    """

    is_settled: BoolArray
    is_kept: BoolArray
    node: IntArray
    apart: set[tuple[int, ...]]

    def decide(self, groups: IntArray) -> bool:
        """Whether two groups are said to be the same, or apart."""
        first, second = sorted(self.node[groups].tolist())
        return first == second or (first, second) in self.apart


def read_decisions(source: object, encoding: str) -> Iterator[Decision]:
    """The decisions of a list, or of a file that `--contested` wrote."""
    if isinstance(source, str | os.PathLike):
        yield from _read_decided(source, encoding)
        return
    for number, entry in enumerate(source if isinstance(source, Iterable) else [source], start=1):
        match entry:
            case ["keep" | "drop" as word, document, _] | [
                "same" | "apart" as word,
                document,
                _,
                _,
            ]:
                mentions = tuple(_place(*split_mention(mention)) for mention in entry[2:])
                yield Decision(word, str(document), mentions, number)
            case _:
                raise InputError(
                    f"decision {number} is not a decision",
                    found=excerpt(repr(entry)),
                    expected='("keep", document, mention) or ("drop", document, mention), '
                    '("same", document, mention, mention) or ("apart", document, mention, mention)',
                )


def _read_decided(path: str | os.PathLike[str], encoding: str) -> Iterator[Decision]:
    """The decisions of a table, whose other columns are not looked at."""
    source = read_source(path, encoding=encoding)
    names, rows = read_table(source)
    if any(names.count(name) != 1 for name in _READ):
        raise source.error(
            "not the header of a table of decisions",
            1,
            found=excerpt("\t".join(names)),
            expected=f"each of these columns once, with tabs between them: {', '.join(_READ)}",
        )
    for number, row in rows:
        word, kind = row["decision"], row["kind"]
        if word and word not in WORDS.get(kind, ()):
            raise source.error(
                f"an unknown decision on a {excerpt(kind)}",
                number,
                found=excerpt(word),
                expected="keep or drop for a mention, same or apart for a link",
            )
        if word:
            sides = ("",) if kind == "mention" else ("", "other_")
            mentions = tuple((plain_cell(row[f"{side}start"]), row[f"{side}end"]) for side in sides)
            yield Decision(word, row["document"], mentions, number, source.file)


def _place(start: object, end: object) -> Place:
    """Start and end as they are read from the cells that they were written to."""
    return plain_cell(str(csv_cell(start))), str(csv_cell(end))


def make_table(rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> str:
    """Rows as a tab-separated table, which is safe to open, and ids of documents as they are."""
    lines = [columns]
    for row in rows:
        cells = [row[name] if name == "document" else csv_cell(row[name]) for name in columns]
        lines.append([visible(str(cell)) for cell in cells])
    return "".join("\t".join(line) + "\n" for line in lines)


def constrain(
    decisions: Sequence[Decision], units: Units, group: IntArray, is_kept: BoolArray
) -> Constraints:
    """What decisions mean for units and their groups; an InputError where they contradict.

    `is_kept` says which units have a quorum, and is changed to what was decided.
    """
    placed = _find_units(decisions, units) if decisions else []
    is_settled, node = all_false(group.size), np.arange(int(group.max(initial=-1)) + 1)
    settled: dict[int, Decision] = {}
    for decision, rows in placed:
        for unit in rows if decision.word != "apart" else ():
            earlier = settled.setdefault(unit, decision)
            if (earlier.word == "drop") != (decision.word == "drop"):
                raise decision.contradict(earlier, "a mention cannot be kept and dropped")
            is_kept[unit], is_settled[unit] = decision.word != "drop", True
    separations = [(decision, rows) for decision, rows in placed if decision.word == "apart"]
    first, second = group[integers([rows for _, rows in separations]).reshape(-1, 2).T]
    for place in np.flatnonzero(first == second).tolist():
        problem = "these mentions cannot be apart: all who marked both link them"
        raise separations[place][0].error(problem, fix="remove this decision, or drop a mention")
    for decision, rows in placed:
        if decision.word == "same":
            target, source = node[group[rows]]
            node[node == source] = target
            for place in np.flatnonzero(node[first] == node[second]).tolist():
                early, late = sorted((decision, separations[place][0]), key=lambda d: d.number)
                raise late.contradict(
                    early, "two mentions cannot be apart and the same, not even through others"
                )
    kept = [rows for _, rows in separations if is_kept[rows].all()]
    apart = {tuple(sorted(node[group[rows]].tolist())) for rows in kept}
    return Constraints(is_settled, is_kept, node, apart)


def _find_units(decisions: Iterable[Decision], units: Units) -> list[tuple[Decision, list[int]]]:
    """Each decision with the units that it is about."""
    corpus = units.stacked
    names = [visible(str(name)).strip() for name in corpus.documents]
    mentions = list_mentions(corpus, np.arange(corpus.n_mentions))
    unit_of: dict[tuple[str, Place], int] = {}
    for document, mention, unit in plain_rows(corpus.mention_document, mentions, units.unit):
        place = names[document], _place(*split_mention(mention))
        unit_of[place] = unit if unit_of.get(place, unit) == unit else -1
    placed = []
    for decision in decisions:
        name = visible(decision.document).strip()
        rows = [unit_of.get((name, place), -1) for place in decision.mentions]
        if min(rows) < 0:
            raise decision.error(
                "a mention that no annotation has, or that another one is written like"
                if name in names
                else "a document that not all annotations have",
                fix="take documents and mentions from the table of contested decisions",
            )
        placed.append((decision, rows))
    return placed
