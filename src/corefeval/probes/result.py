"""The result of a probe: what was chosen for each item, and the figures that follow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import comb, sqrt
from statistics import NormalDist
from typing import Any, cast

import numpy as np

from corefeval.checks import split_call, split_list
from corefeval.diagnostics import UsageError, plural
from corefeval.display import Row
from corefeval.results import Result, Score, Slices
from corefeval.results.aggregation import CountTable
from corefeval.results.decisions import Decision
from corefeval.stats import compare

Ends = tuple[float, float]
_CONTRASTS = (
    ("stereotype", "pro", "anti"),
    ("ambiguity", "unambiguous", "ambiguous"),
    ("gender", "feminine", "masculine"),
)


def wilson(count: int, total: int, level: float) -> Ends:
    """Wilson's interval of a share (1927)."""
    z, share = NormalDist().inv_cdf((1 + level) / 2), count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    width = z / (1 + z * z / total) * sqrt(share * (1 - share) / total + (z / total / 2) ** 2)
    return max(0.0, middle - width), min(1.0, middle + width)


@dataclass(frozen=True)
class Paired:
    """Pairs by whether something holds of the first, of the second, of both or of neither.

    `cells` are (both, first only, second only, neither). The interval of the `difference` is that
    of Agresti and Min (2005), and `p` is of McNemar's exact test.
    """

    cells: tuple[int, int, int, int]
    level: float
    unpaired: int = 0

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return sum(self.cells)

    @property
    def difference(self) -> float:
        """By how much the share of the first exceeds that of the second."""
        return (self.cells[1] - self.cells[2]) / max(self.pairs, 1)

    @property
    def interval(self) -> Ends:
        """The ends of the interval of the difference."""
        first, second, total = self.cells[1] + 0.5, self.cells[2] + 0.5, self.pairs + 2
        z, gap = NormalDist().inv_cdf((1 + self.level) / 2), first - second
        width = z * sqrt(first + second - gap * gap / total) / total
        return gap / total - width, gap / total + width

    @property
    def p(self) -> float:
        """How likely a difference is at least as large by chance."""
        _, first, second, _ = self.cells
        tail = sum(comb(first + second, number) for number in range(min(first, second) + 1))
        return min(1.0, 2 * tail / 2 ** (first + second))


@dataclass(frozen=True)
class PairedSystems(Paired):
    """Two systems on the scored items of a probe; `f1_p` is of approximate randomization."""

    first: str = ""
    second: str = ""
    f1_difference: float = 0.0
    f1_p: float = 1.0
    adjusted_p: float | None = None


@dataclass(frozen=True)
class Contrast:
    """The items with two values of a group: how often they are right, or decided if any is open.

    The interval of the difference is Newcombe's (1998, method 10); `ratio` is that of F1, and
    `paired` is about twins.
    """

    group: str
    first: str
    second: str
    of: str
    items: tuple[int, int]
    rates: Ends
    interval: Ends
    ratio: float | None
    paired: Paired | None

    @property
    def difference(self) -> float:
        """By how much the rate of the first exceeds that of the second."""
        return self.rates[0] - self.rates[1]


@dataclass(frozen=True)
class Consistency:
    """Pairs of two or more items, and in how many of them all choices are the same, or right."""

    pairs: int
    same_choice: int
    scored: int
    all_right: int


@dataclass(frozen=True, eq=False, repr=False)
class ProbeResult(Result):
    """What a response chose for the items of a probe, and the figures that follow.

    Results of different items add up. `shown` are the groups whose values are shown, and
    `contrasted` is a group with two of its values; neither is saved.
    """

    shown: tuple[str, ...] = ()
    contrasted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        repeated = Counter(self.document_ids).most_common(1)
        if repeated and repeated[0][1] > 1:
            raise UsageError(f"the item {repeated[0][0]!r} is in two results, or twice in one")

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
        return sum(decision.right is True for decision in self.decisions)

    @property
    def accuracy(self) -> float | None:
        """The share of scored items that are right."""
        return self.right / self.scored if self.scored else None

    @property
    def level(self) -> float:
        """The level of all intervals."""
        return float(split_call(self.protocol.ci)[1] or 0)

    @property
    def interval(self) -> Ends | None:
        """Wilson's interval of the accuracy."""
        return wilson(self.right, self.scored, self.level) if self.scored else None

    @property
    def links(self) -> Score:
        """Recall, precision and F1 over the candidates of scored items."""
        return self.scores["links"]

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
        asked = [d.human for d in self.decisions if sum(d.human.values())]
        shares: Counter[str] = Counter()
        for counts in asked:
            total = sum(counts.values()) * len(asked)
            shares.update({label: number / total for label, number in counts.items()})
        return dict(shares)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The values of each group, in order."""
        values: dict[str, set[str]] = defaultdict(set)
        for decision in self.decisions:
            for group, value in decision.groups.items():
                values[group].add(value)
        return {group: sorted(names) for group, names in values.items()}

    def by(self, feature: str) -> Slices:
        """The result of each value of a group: `result.by("gender")["feminine"]`."""
        parts = {}
        for value in self.find_values(feature):
            kept = [d for d in self.decisions if d.groups.get(feature) == value]
            protocol = self.protocol.but(slice=f"{feature}={value}")
            parts[value] = replace(self, protocol=protocol, **count(kept))
        return Slices(feature, "document", self, parts, {v: p.items for v, p in parts.items()})

    def find_values(self, group: str, *values: str) -> list[str]:
        """All values of a group; a UsageError for a group or one of some values that nobody has."""
        if group not in self.groups:
            raise UsageError(f"there is no group {group!r}: there are {', '.join(self.groups)}")
        for value in values:
            if value not in self.groups[group]:
                available = ", ".join(self.groups[group])
                raise UsageError(f"no item has {group} {value!r}: there are {available}")
        return self.groups[group]

    def view(self, by: str | Iterable[str] | None, contrast: str | None) -> ProbeResult:
        """The result with other groups to show, and another contrast: `GROUP=FIRST,SECOND`."""
        names = split_list(by) if isinstance(by, str) else by or ()
        shown, contrasted = tuple(names), self.contrasted
        if contrast is not None:
            group, _, values = contrast.partition("=")
            contrasted = (group.strip(), *split_list(values))
            if len(contrasted) != 3:
                raise UsageError(f"a contrast is GROUP=FIRST,SECOND, not {contrast!r}")
            self.find_values(*contrasted)
        for group in shown:
            self.find_values(group)
        return replace(self, shown=shown or self.shown, contrasted=contrasted)

    @cached_property
    def contrast(self) -> Contrast | None:
        """The contrast of two values of a group; None if there is no group to contrast."""
        usual = (c for c in _CONTRASTS if {*c[1:]} <= {*self.groups.get(c[0], ())})
        contrasted = self.contrasted or next(usual, ())
        if not contrasted:
            return None
        group, *values = contrasted
        sides = [cast("ProbeResult", self.by(group)[value]) for value in values]
        is_open = any(side.scored < side.items for side in sides)
        holds = [[_holds(d, is_open) for d in side.decisions] for side in sides]
        counts, totals = [sum(side) for side in holds], [len(side) for side in holds]
        rates = (counts[0] / totals[0], counts[1] / totals[1])
        ends = [wilson(n, total, self.level) for n, total in zip(counts, totals, strict=True)]
        low = sqrt((rates[0] - ends[0][0]) ** 2 + (ends[1][1] - rates[1]) ** 2)
        high = sqrt((ends[0][1] - rates[0]) ** 2 + (rates[1] - ends[1][0]) ** 2)
        gap, f1 = rates[0] - rates[1], [side.links.f1 for side in sides]
        return Contrast(
            *(group, values[0], values[1]),
            "decided" if is_open else "right",
            (totals[0], totals[1]),
            rates,
            (gap - low, gap + high),
            None if is_open or not all(f1) else f1[0] / f1[1],
            self._pair(group, values, is_open),
        )

    def _pair(self, group: str, values: Sequence[str], is_open: bool) -> Paired | None:
        """The twins of which each has another one of two values; None if there are none."""
        cells, unpaired = [0, 0, 0, 0], 0
        for twins in self._twins.values():
            sides = [[d for d in twins if d.groups.get(group) == value] for value in values]
            if len(sides[0]) == len(sides[1]) == 1:
                first, second = (_holds(side[0], is_open) for side in sides)
                cells[2 * (not first) + (not second)] += 1
            else:
                unpaired += len(sides[0]) + len(sides[1])
        if not sum(cells):
            return None
        return Paired((cells[0], cells[1], cells[2], cells[3]), self.level, unpaired)

    @cached_property
    def _twins(self) -> dict[str, list[Decision]]:
        twins: dict[str, list[Decision]] = defaultdict(list)
        for decision in self.decisions:
            if decision.pair is not None:
                twins[decision.pair].append(decision)
        return twins

    @property
    def consistency(self) -> Consistency:
        """How often twins have the same choice, or are all right."""
        pairs = [twins for twins in self._twins.values() if len(twins) > 1]
        scored = [twins for twins in pairs if all(d.right is not None for d in twins)]
        own = ("missing", "unclear")
        same = sum(len({d.choice if d.choice in own else d.chosen for d in p}) == 1 for p in pairs)
        right = sum(all(d.right for d in twins) for twins in scored)
        return Consistency(len(pairs), same, len(scored), right)

    def compare(self, result: ProbeResult, trials: int = 10_000, seed: int = 0) -> PairedSystems:
        """The difference of two results of the same items, and tests of it."""
        cells = Counter(
            (first.right, second.right)
            for first, second in zip(self.decisions, result.decisions, strict=False)
            if first.right is not None
        )
        systems = {"first": self, "second": result}
        tested = compare(systems, metrics=["links"], trials=trials, seed=seed, samples=1)
        pair = tested.difference("links", "first", "second")
        order = [(True, True), (True, False), (False, True), (False, False)]
        return PairedSystems(
            cast("tuple[int, int, int, int]", tuple(cells[cell] for cell in order)),
            self.level,
            first=self.response,
            second=result.response,
            f1_difference=pair.difference,
            f1_p=pair.p,
        )

    def figures(self) -> dict[str, Any]:
        """The figures of all items, for JSON."""
        low, high = self.interval or (None, None)
        names = ("items", "scored", "right", "accuracy")
        links = {**{name: int(n) for name, n in self.links.counts.items()}, **self.links.rates}
        return {
            **{name: getattr(self, name) for name in names},
            **{"low": low, "high": high, "links": links},
            **{name: getattr(self, name) for name in ("outcomes", "choices", "human")},
        }

    def parts(self) -> list[tuple[str, str, ProbeResult]]:
        """All items, and those with each value of the groups that are shown."""
        groups = self.shown or ((self.contrast.group,) if self.contrast else ())
        values = ((group, value, part) for group in groups for value, part in self.by(group).items())
        return [("", "", self), *cast("Any", values)]

    def rows(self, *, by_item: bool = False, by_document: bool = False) -> list[Row]:  # type: ignore[override]
        """A row for all items and one for each value of the groups shown, or one for each item."""
        if by_item or by_document:
            return [{"response": self.response, **describe(d)} for d in self.decisions]
        rows = []
        for group, value, part in self.parts():
            figures = part.figures()
            links = figures.pop("links")
            names = ("outcomes", "choices", "human")
            rest = {name: number for name, number in figures.items() if name not in names}
            row = {"response": self.response, "group": group, "value": value, **rest, **links}
            rows.append({**row, "signature": part.signature})
        return rows


def _holds(decision: Decision, is_open: bool) -> bool:
    """Whether an item is right, or with open ones decided: one candidate was chosen."""
    return len(decision.chosen) == 1 if is_open else bool(decision.right)


def describe(decision: Decision) -> Row:
    """A decision for rows and JSON."""
    names = ("id", "choice", "chosen", "gold", "right", "outcome", "groups", "pair")
    return {name: getattr(decision, name) for name in names}


def count(decisions: Sequence[Decision]) -> dict[str, Any]:
    """The fields of a result that follow from decisions."""
    right = np.array([[d.right is True, d.right is not None] * 2 for d in decisions], dtype=float)
    links = np.array([decision.links for decision in decisions], dtype=float)
    rates = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
    return {
        "tables": {
            "accuracy": CountTable("ratio", rates, right),
            "links": CountTable("links", ("tp", "fp", "fn", "tn"), links),
        },
        "document_ids": tuple(decision.id for decision in decisions),
        "decisions": tuple(decisions),
    }


def as_probe_result(result: Result) -> ProbeResult:
    """The result of a probe that was saved as a result."""
    return ProbeResult(**{field.name: getattr(result, field.name) for field in fields(result)})
