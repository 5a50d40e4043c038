"""What annotators contest, and what people decide: to keep or drop, the same or apart."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from corefeval.analysis.units import Units, list_mentions, split_mention
from corefeval.diagnostics import InputError, excerpt
from corefeval.display import Row, csv_cell, plain_cell, visible
from corefeval.formats.feature_table import read_table
from corefeval.formats.source import read_source
from corefeval.model.arrays import BoolArray, IntArray, integers, plain_rows

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

    def error(self, problem: str, **details: str) -> InputError:
        """The error that this decision is, with what was expected and how to mend it."""
        places = (":".join(filter(None, place)) for place in self.mentions)
        text = f"{self.word} {excerpt(self.document)} {' '.join(places)}"
        return InputError(problem, file=self.file, line=self.line, found=text, **details)

    def contradict(self, decision: Decision, reason: str) -> InputError:
        """The error that this decision is beside another one."""
        where = f"line {decision.line}" if decision.line else decision.file
        return self.error(f"this contradicts {where}: {reason}", fix="remove one of the two")


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
            expected = "keep or drop of a mention, same or apart of two, which are a link"
            raise decision.error("an unknown decision", expected=expected)
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
        if word := row["decision"]:
            word = word if sides else f"{word} of a {excerpt(row['kind'])}"
            yield Decision(word, row["document"], places, source.file, number)


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
            raise decision.error(
                "this mention cannot be decided on: it is in no annotation, its document is not in "
                "all of them, or two mentions are written alike",
                fix="copy the row from the table that --contested wrote",
            )
        placed.append((decision, integers(rows)))
    return placed


class Contest(NamedTuple):
    """A decision that annotators contest: on a unit, or on a group and a consensus entity.

    `votes` of `of` are for keeping a mention, or for a link between the first mention of the group
    and the entity that `partner` (−1 for a mention) stands for. `stakes` is the number of votes
    that are overruled whatever is decided.
    """

    kind: str
    unit: int
    partner: int
    votes: int
    of: int
    size: int
    outcome: str
    stakes: int


def list_contests(
    units: Units, group: IntArray, entity: IntArray, constraints: Constraints
) -> list[Contest]:
    """All contested decisions of a consensus; the greatest stakes come first.

    `group` has the group of each unit, and `entity` its entity of the consensus, −1 where the unit
    is not kept; lone mentions are entities here.
    """
    total = units.n_annotators
    rows = plain_rows(np.arange(group.size), units.votes, np.where(entity < 0, "drop", "keep"))
    contests = [
        Contest("mention", unit, -1, votes, total, 1, outcome, min(votes, total - votes))
        for unit, votes, outcome in rows
        if votes < total and unit not in constraints.settled
    ]
    pairs = set[tuple[frozenset[int], str]]()
    for contest in _list_links(units, group, entity):
        groups = group[[contest.unit, contest.partner]]
        pair = frozenset(groups.tolist()), contest.outcome
        if pair not in pairs and not constraints.decide(groups):
            contests.append(contest)
        pairs.add(pair)
    return sorted(contests, key=lambda contest: (-contest.stakes, *contest[1:3]))


def _list_links(units: Units, group: IntArray, entity: IntArray) -> Iterator[Contest]:
    """For each group the contested link to its own entity, and to the best of all others."""
    first, sizes = dict[int, int](), Counter[int]()  # of the kept mentions of each group
    held = defaultdict[int, Counter[int]](Counter)  # mentions of entities, by label and annotator
    leaders = defaultdict[int, dict[int, list[int]]](dict)  # first mentions, by label and entity
    ballots = [
        [(label, -1 - annotator) for annotator, label in enumerate(labels) if label >= 0]
        for labels in units.entity.T.tolist()
    ]
    for unit, number, home in plain_rows(np.arange(group.size), group, entity):
        if home >= 0:
            sizes[number] += 1
            is_first = first.setdefault(number, unit) == unit
            for label, annotator in ballots[unit]:
                held[home].update((label, annotator))
                if is_first:
                    leaders[label].setdefault(home, []).append(unit)
    for number, unit in first.items():
        ballot, size, best = ballots[unit], sizes[number], dict[str, tuple[int, ...]]()
        for rival in {home for label, _ in ballot for home in leaders[label]}:
            cells, outcome = held[rival], "same" if rival == entity[unit] else "apart"
            inside = size * len(ballot) if outcome == "same" else 0
            votes = sum([cells[label] for label, _ in ballot]) - inside
            of = sum([cells[annotator] for _, annotator in ballot]) - inside
            if 0 < votes < of:
                best[outcome] = max(best.get(outcome, ()), (2 * votes - of, -rival, votes, of))
        for outcome, (_, rival, votes, of) in sorted(best.items(), reverse=True):
            linked = {m for label, _ in ballot for m in leaders[label].get(-rival, ())[:2]}
            stakes = size * min(votes, of - votes)
            yield Contest("link", unit, min(linked - {unit}), votes, of, size, outcome, stakes)
