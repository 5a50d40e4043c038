"""The result of a probe: what was chosen for each item, and the figures that follow."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from math import comb, hypot, sqrt
from operator import attrgetter
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from corefeval.checks import check_probability, split_list
from corefeval.diagnostics import UsageError, plural
from corefeval.display import Row
from corefeval.results import Result, Score, Slices
from corefeval.results.decisions import Decision
from corefeval.results.rates import CountTable
from corefeval.stats import adjust, compare

Ends = tuple[float, float]
_CONTRASTS = (
    ("stereotype", "pro", "anti"),
    ("ambiguity", "unambiguous", "ambiguous"),
    ("gender", "feminine", "masculine"),
)


_FIGURES = [
    "items",
    "scored",
    "right",
    "accuracy",
    "interval",
    "links",
    "outcomes",
    "choices",
    "human",
]


class Paired(NamedTuple):
    """Pairs by whether something holds of the first, of the second, of both or of neither.

    `cells` are (both, first only, second only, neither). The interval of the difference is that of
    Agresti and Min (2005), and `p` is of McNemar's exact test.
    """

    pairs: int
    unpaired: int
    cells: tuple[int, ...]
    difference: float
    interval: Ends
    p: float


class PairedSystems(NamedTuple):
    """Two systems on the scored items of a probe, as `Paired`.

    F1 of links is tested by approximate randomization; `adjusted_p` is `p` by Holm's correction.
    """

    first: str
    second: str
    cells: tuple[int, ...]
    difference: float
    interval: Ends
    p: float
    adjusted_p: float
    f1_difference: float
    f1_p: float


class Contrast(NamedTuple):
    """How often items with two values of a group are right, or `of` which they are decided.

    The interval of the difference is Newcombe's (1998, method 10), `ratio` is that of F1, and
    `paired` is about twins.
    """

    group: str
    first: str
    second: str
    of: str
    items: tuple[int, ...]
    rates: tuple[float, ...]
    difference: float
    interval: Ends
    ratio: float | None
    paired: Paired | None


class Consistency(NamedTuple):
    """Pairs of two or more items: how many there are, and in how many all choices are the same.

    Of those without open items (`scored`), in `all_right` all items are right.
    """

    pairs: int
    same_choice: int
    scored: int
    all_right: int


def flatten(figures: Mapping[str, Any]) -> Row:
    """Figures for JSON, in which an interval is its two ends, and a tuple of names a dictionary."""
    row: Row = {}
    for name, value in figures.items():
        if name == "interval":
            row["low"], row["high"] = value or (None, None)
        else:
            row[name] = flatten(value._asdict()) if hasattr(value, "_asdict") else value
    return row


def _find_z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(count: int, total: int, level: float) -> Ends:
    """Wilson's interval of a share (1927)."""
    z = _find_z(level)
    scale = total + z * z
    middle = (count + z * z / 2) / scale
    width = z * sqrt(count * (total - count) / total + z * z / 4) / scale
    return max(0.0, middle - width), min(1.0, middle + width)


def pair_up(pairs: Iterable[tuple[object, object]], level: float, unpaired: int = 0) -> Paired:
    """The figures of pairs, each of which says what holds of the first and of the second."""
    counts: Counter[object] = Counter(pairs)
    cells = tuple(counts[pair] for pair in product((True, False), repeat=2))
    total, (_, wins, losses, _) = sum(cells), cells
    gap, split, size = wins - losses, wins + losses, total + 2
    width = _find_z(level) * sqrt(split + 1 - gap * gap / size) / size
    interval = (gap / size - width, gap / size + width)
    tail = sum(comb(split, number) for number in range(min(wins, losses) + 1))
    p = min(1.0, 2 * tail / 2**split)
    return Paired(total, unpaired, cells, gap / max(total, 1), interval, p)


@dataclass(frozen=True, eq=False, repr=False)
class ProbeResult(Result):
    """What a response chose for the items of a probe, and the figures that follow.

    Results of different items add up. `shown` are the groups whose values are shown, and
    `contrasted` is a group with two of its values; neither is saved.
    """

    shown: tuple[str, ...] = ()
    contrasted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ids = Counter(self.document_ids)
        if len(ids) < len(self.document_ids):
            raise UsageError(f"the item {ids.most_common(1)[0][0]!r} cannot be counted twice")

    def __repr__(self) -> str:
        return f"<ProbeResult of {plural(self.items, 'item')}: {self.right} of {self.scored} right>"

    @property
    def items(self) -> int:  # type: ignore[override]
        """How many items there are, open ones among them."""
        return len(self.decisions)

    @property
    def scored(self) -> int:
        """How many items are not open."""
        return sum(decision.right is not None for decision in self.decisions)

    @property
    def right(self) -> int:
        """How many items are right."""
        return sum(bool(decision.right) for decision in self.decisions)

    @property
    def accuracy(self) -> float | None:
        """The share of scored items that are right."""
        return self.right / self.scored if self.scored else None

    @property
    def level(self) -> float:
        """The level of all intervals."""
        stated = re.fullmatch(r"wilson\((\d(?:\.\d+)?(?:e-\d+)?)\)", self.protocol.ci)
        return float(stated[1]) if stated else 0.95

    @property
    def interval(self) -> Ends | None:
        """Wilson's interval of the accuracy."""
        return wilson(self.right, self.scored, self.level) if self.scored else None

    @property
    def links(self) -> Score:
        """Recall, precision and F1 over the candidates of scored items."""
        return self["links"]

    @property
    def outcomes(self) -> dict[str, int]:
        """How many scored items have each outcome."""
        return dict(Counter(d.outcome for d in self.decisions if d.outcome is not None))

    @property
    def choices(self) -> dict[str, int]:
        """How many items have each choice."""
        return dict(Counter(decision.choice for decision in self.decisions))

    @property
    def human(self) -> dict[str, float]:
        """The mean share of people for each label, over the items with such numbers."""
        counts = [d.human for d in self.decisions if any(d.human.values())]
        shares: Counter[str] = Counter()
        for numbers in counts:
            total = sum(numbers.values()) * len(counts)
            shares.update({label: number / total for label, number in numbers.items()})
        return dict(shares)

    def by(self, feature: str) -> Slices:
        """The result of each value of a group: `result.by("gender")["feminine"]`."""
        members = self._collect(feature)
        if not members:
            names = dict.fromkeys(name for decision in self.decisions for name in decision.groups)
            raise UsageError(f"no item has a group {feature!r}: there are {', '.join(names)}")
        parts = {
            value: replace(
                self, **count(kept), protocol=self.protocol.but(slice=f"{feature}={value}")
            )
            for value, kept in sorted(members.items())
        }
        return Slices(feature, "document", self, parts)

    def view(
        self,
        by: str | Iterable[str] | None = None,
        contrast: str | None = None,
        level: float | None = None,
    ) -> ProbeResult:
        """The result with groups to show, a contrast (`GROUP=FIRST,SECOND`) and another level."""
        level = self.level if level is None else level
        check_probability("the level of an interval", level)
        shown = tuple(split_list(by) if isinstance(by, str) else by or self.shown)
        group, _, values = (contrast or "").partition("=")
        contrasted = (group, *split_list(values)) if contrast else self.contrasted
        if contrast and len(contrasted) != 3:
            raise UsageError(f"a contrast is GROUP=FIRST,SECOND, not {contrast!r:.60}")
        protocol = self.protocol.but(ci=f"wilson({float(level)})")
        view = replace(self, shown=shown, contrasted=contrasted, protocol=protocol)
        view.parts()  # which refuses what there is not
        return view

    @property
    def contrast(self) -> Contrast | None:
        """The contrast of two values of a group; None if there is no group to contrast."""
        present = {entry for decision in self.decisions for entry in decision.groups.items()}
        usual = (c for c in _CONTRASTS if {(c[0], c[1]), (c[0], c[2])} <= present)
        group, *values = self.contrasted or next(usual, ("",))
        if not group:
            return None
        sides: list[Any] = [self.by(group)[value] for value in values]
        of = "decided" if any(side.scored < side.items for side in sides) else "right"
        holds = attrgetter(of)
        counts = [(sum(map(holds, side.decisions)), side.items) for side in sides]
        (first, low, high), (second, second_low, second_high) = (
            (number / items, *wilson(number, items, self.level)) for number, items in counts
        )
        gap, scores = first - second, [side.links.f1 for side in sides]
        lower, upper = (
            hypot(first - low, second_high - second),
            hypot(high - first, second - second_low),
        )
        left, right = (side._collect() for side in sides)
        twins = [name for name in left if len(left[name]) == len(right.get(name, ())) == 1]
        pairs = [(holds(left[name][0]), holds(right[name][0])) for name in twins]
        unpaired = sum(map(len, (*left.values(), *right.values()))) - 2 * len(pairs)
        return Contrast(
            *(group, values[0], values[1], of),
            items=tuple(items for _, items in counts),
            rates=(first, second),
            difference=gap,
            interval=(gap - lower, gap + upper),
            ratio=scores[0] / scores[1] if of == "right" and all(scores) else None,
            paired=pair_up(pairs, self.level, unpaired) if pairs else None,
        )

    def _collect(self, group: str | None = None) -> dict[str, list[Decision]]:
        """The decisions of each pair, or with each value of a group."""
        members = defaultdict[str, list[Decision]](list)
        for decision in self.decisions:
            name = decision.groups.get(group) if group else decision.pair
            if name is not None:
                members[name].append(decision)
        return members

    @property
    def consistency(self) -> Consistency:
        """How often twins have the same choice, or are all right."""
        twins = self._collect().values()
        pairs = [pair for pair in twins if len(pair) > 1]
        scored = [pair for pair in pairs if all(d.right is not None for d in pair)]
        alike = sum(len({d.choice_set for d in pair}) == 1 for pair in pairs)
        right = sum(all(d.right for d in pair) for pair in scored)
        return Consistency(len(pairs), alike, len(scored), right)

    def compare(self, result: ProbeResult, trials: int = 10_000, seed: int = 0) -> PairedSystems:
        """The difference of two results of the same items, and tests of it."""
        systems = {"first": self, "second": result}
        tested = compare(systems, metrics=["links"], trials=trials, seed=seed, samples=1)
        links = tested.difference("links", "first", "second")
        decisions = zip(self.decisions, result.decisions, strict=True)
        scored = [(a.right, b.right) for a, b in decisions if a.right is not None]
        _, _, cells, difference, interval, p = pair_up(scored, self.level)
        names, f1 = (self.response, result.response), (links.difference, links.p)
        return PairedSystems(*names, cells, difference, interval, p, p, *f1)

    def as_dict(self) -> Row:
        """The figures of all items, for JSON; no rates of links without scored items."""
        figures = flatten({name: getattr(self, name) for name in _FIGURES})
        links: Row = {name: int(number) for name, number in self.links.counts.items()}
        for name, rate in self.links.rates.items():
            links[name] = rate if self.scored else None
        return {**figures, "links": links}

    def parts(self) -> list[tuple[str, str, ProbeResult]]:
        """All items, and those with each value of the groups that are shown."""
        contrast = self.contrast
        groups = self.shown or ((contrast.group,) if contrast else ())
        parts: list[Any] = [("", "", self)]
        return parts + [(group, *part) for group in groups for part in self.by(group).items()]

    def rows(self, *, by_item: bool = False) -> list[Row]:  # type: ignore[override]
        """A row for all items and one for each value of the groups shown, or one for each item."""
        rows: list[Row] = []
        for decision in self.decisions if by_item else ():
            row: Row = {"response": self.response, **decision.figures}
            gold = "?" if decision.gold is None else "+".join(decision.gold) or "neither"
            row |= {"chosen": "+".join(decision.chosen), "gold": gold}
            rows.append(row | {f"group:{name}": value for name, value in row.pop("groups").items()})
        for group, value, part in () if by_item else self.parts():
            row = {"response": self.response, "group": group, "value": value, **part.as_dict()}
            row |= row.pop("links") | {"signature": part.signature}
            rows.append({n: cell for n, cell in row.items() if not isinstance(cell, dict)})
        return rows


def compare_all(results: Sequence[ProbeResult], **options: Any) -> list[PairedSystems]:
    """The comparisons of each result with each, with Holm's correction."""
    pairs = [first.compare(second, **options) for first, second in combinations(results, 2)]
    adjusted = adjust([pair.p for pair in pairs]).tolist()
    return [pair._replace(adjusted_p=p) for pair, p in zip(pairs, adjusted, strict=True)]


def count(decisions: Sequence[Decision]) -> dict[str, Any]:
    """The fields of a result that follow from decisions; an item that is wrong is fp and fn."""
    rights = [(d.right is True, d.right is False, d.right is False, False) for d in decisions]
    counts = {"accuracy": rights, "links": [decision.links for decision in decisions]}
    tables = {
        name: CountTable("links", ("tp", "fp", "fn", "tn"), np.array(rows, dtype=float))
        for name, rows in counts.items()
    }
    ids = tuple(decision.id for decision in decisions)
    return {"tables": tables, "document_ids": ids, "decisions": tuple(decisions)}


def as_probe_result(result: Result) -> ProbeResult:
    """The result of a probe that was saved as a result."""
    return ProbeResult(**{field.name: getattr(result, field.name) for field in fields(result)})
