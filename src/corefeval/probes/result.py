"""The result of a probe: what was chosen for each item, and the figures that follow."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, product
from math import comb, hypot, sqrt
from operator import truediv
from statistics import NormalDist, fmean
from typing import Any

import numpy as np

from corefeval.checks import check_probability
from corefeval.diagnostics import UsageError, note, plural
from corefeval.display import Record, Row
from corefeval.request import feature_names
from corefeval.results import Result, Score, Slices
from corefeval.results.rates import CountTable
from corefeval.results.scores import Decision
from corefeval.stats import adjust, compare

Ends = tuple[float, float]
_CONTRASTS = (
    "stereotype=pro,anti",
    "ambiguity=unambiguous,ambiguous",
    "gender=feminine,masculine",
)


@dataclass(frozen=True)
class Difference(Record):
    """The difference of two shares, with the ends of its interval."""

    difference: float
    low: float
    high: float

    @property
    def interval(self) -> Ends:
        """The ends of the interval."""
        return self.low, self.high


@dataclass(frozen=True)
class Paired(Difference):
    """Pairs by whether something holds of both, the first only, the second only, or neither.

    The interval of the difference is that of Agresti and Min (2005), and `p` is of McNemar's exact
    test.
    """

    cells: tuple[int, ...]
    p: float


@dataclass(frozen=True)
class PairedTwins(Paired):
    """The twins among the items with two values of a group."""

    pairs: int
    unpaired: int


@dataclass(frozen=True)
class PairedSystems(Paired):
    """Two systems on the scored items of a probe.

    F1 of links is tested by approximate randomization; `adjusted_p` is `p` by Holm's correction.
    """

    first: str
    second: str
    adjusted_p: float
    f1_difference: float
    f1_p: float


@dataclass(frozen=True)
class Contrast(Difference):
    """How often items with two values of a group are right, or `of` which they are decided.

    The interval of the difference is Newcombe's (1998, method 10), `ratio` is that of F1, and
    `paired` is about twins.
    """

    group: str
    first: str
    second: str
    of: str
    items: tuple[int, ...]
    rates: Ends
    ratio: float | None
    paired: PairedTwins | None


@dataclass(frozen=True)
class Consistency(Record):
    """Pairs of two or more items: how many there are, and in how many all choices are the same.

    Of those without open items (`scored`), in `all_right` all items are right.
    """

    pairs: int
    same_choice: int
    scored: int
    all_right: int


def _find_z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(count: int, total: int, level: float) -> Ends:
    """Wilson's interval of a share (1927)."""
    z = _find_z(level)
    scale = total + z * z
    middle = (count + z * z / 2) / scale
    width = z * sqrt(count * (total - count) / total + z * z / 4) / scale
    return max(0.0, middle - width), min(1.0, middle + width)


def pair_up(pairs: Iterable[Sequence[Decision]], of: str, level: float) -> Paired:
    """The figures of pairs of decisions, by whether they are `right`, or `decided`."""
    counts = Counter(tuple(getattr(decision, of) for decision in pair) for pair in pairs)
    cells = tuple(counts[pair] for pair in product((True, False), repeat=2))
    total, (_, wins, losses, _) = sum(cells), cells
    gap, split, size = wins - losses, wins + losses, total + 2
    width = _find_z(level) * sqrt(split + 1 - gap * gap / size) / size
    tail = sum(comb(split, number) for number in range(min(wins, losses) + 1))
    p = min(1.0, 2 * tail / 2**split)
    return Paired(gap / max(total, 1), gap / size - width, gap / size + width, cells, p)


@dataclass(frozen=True, eq=False, repr=False)
class ProbeResult(Result):
    """What a response chose for the items of a probe, and the figures that follow.

    Results of different items add up. `shown` are the groups whose values are shown, and
    `contrasted` is a group with two of its values, `GROUP=FIRST,SECOND`; neither is saved.
    """

    shown: tuple[str, ...] = ()
    contrasted: str = ""

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
        return {
            label: fmean(numbers.get(label, 0) / sum(numbers.values()) for numbers in counts)
            for label in dict.fromkeys(chain(*counts))
        }

    def by(self, feature: str) -> Slices:
        """The result of each value of a group: `result.by("gender")["feminine"]`."""
        members = self._collect(feature)
        if not members:
            names = dict.fromkeys(chain(*(decision.groups for decision in self.decisions)))
            raise UsageError(f"no item has a group {feature!r}: there are {', '.join(names)}")
        parts = {}
        for value, kept in sorted(members.items()):
            protocol = self.protocol.but(slice=f"{feature}={value}")
            parts[value] = replace(self, **count(kept), protocol=protocol)
        return Slices(feature, "document", self, parts)

    def _collect(self, group: str | None = None) -> dict[str, list[Decision]]:
        """The decisions of each pair, or with each value of a group."""
        members = defaultdict[str, list[Decision]](list)
        for decision in self.decisions:
            name = decision.groups.get(group) if group else decision.pair
            if name is not None:
                members[name].append(decision)
        return members

    def view(
        self, by: object = None, contrast: str | None = None, level: float | None = None
    ) -> ProbeResult:
        """The result with groups to show, a contrast (`GROUP=FIRST,SECOND`) and another level."""
        level = self.level if level is None else level
        check_probability("the level of an interval", level)
        if contrast and not re.fullmatch("[^=,]+=[^=,]+,[^=,]+", contrast):
            raise UsageError(f"a contrast is GROUP=FIRST,SECOND, not {contrast!r:.60}")
        shown, contrasted = feature_names(by or self.shown), contrast or self.contrasted
        protocol = self.protocol.but(ci=f"wilson({float(level)})")
        view = replace(self, shown=shown, contrasted=contrasted, protocol=protocol)
        view.parts()  # which refuses what there is not
        twins = view.contrast and view.contrast.paired
        remark = "without a twin of the other value, left out of pairs"
        unpaired = note("unpaired-items", twins.unpaired if twins else 0, "item", remark)
        notices = [notice for notice in self.notices if notice.kind != "unpaired-items"]
        return replace(view, notices=(*notices, *unpaired))

    @cached_property
    def contrast(self) -> Contrast | None:
        """The contrast of two values of a group; None if there is no group to contrast."""
        for text in [self.contrasted] if self.contrasted else _CONTRASTS:
            group, *values = map(str.strip, re.split("[=,]", text))
            if self.contrasted or self._collect(group).keys() >= {*values}:
                return self._contrast(group, *values)
        return None

    def _contrast(self, group: str, *values: str) -> Contrast:
        sides: list[Any] = [self.by(group)[value] for value in values]
        of = "decided" if any(side.scored < side.items for side in sides) else "right"
        sizes = [side.items for side in sides]
        counts = [sum(getattr(d, of) for d in side.decisions) for side in sides]
        (low, high), (second_low, second_high) = map(wilson, counts, sizes, [self.level] * 2)
        first, second = map(truediv, counts, sizes)
        gap, scores = first - second, [side.links.f1 for side in sides]
        left, right = (side._collect() for side in sides)
        twins = [name for name in left if len(left[name]) == len(right.get(name, ())) == 1]
        unpaired = sum(map(len, chain(left.values(), right.values()))) - 2 * len(twins)
        pairs = [(*left[name], *right[name]) for name in twins]
        paired = pair_up(pairs, of, self.level).as_dict()
        return Contrast(
            gap,
            gap - hypot(first - low, second_high - second),
            gap + hypot(high - first, second - second_low),
            *(group, values[0], values[1], of),
            items=tuple(sizes),
            rates=(first, second),
            ratio=scores[0] / scores[1] if of == "right" and all(scores) else None,
            paired=PairedTwins(**paired, pairs=len(pairs), unpaired=unpaired) if pairs else None,
        )

    @property
    def consistency(self) -> Consistency:
        """How often twins have the same choice, or are all right."""
        pairs = [pair for pair in self._collect().values() if len(pair) > 1]
        alike = sum(len({d.choice_set for d in pair}) == 1 for pair in pairs)
        rights = [{d.right for d in pair} for pair in pairs]
        scored = sum(None not in right for right in rights)
        return Consistency(len(pairs), alike, scored, rights.count({True}))

    def compare(self, result: ProbeResult, trials: int = 10_000, seed: int = 0) -> PairedSystems:
        """The difference of two results of the same items, and tests of it."""
        systems = {"first": self, "second": result}
        tested = compare(systems, metrics=["links"], trials=trials, seed=seed, samples=1)
        links = tested.difference("links", "first", "second")
        pairs = zip(self.decisions, result.decisions, strict=True)
        scored = (pair for pair in pairs if pair[0].right is not None)
        paired = pair_up(scored, "right", self.level)
        return PairedSystems(
            **paired.as_dict(),
            first=self.response,
            second=result.response,
            adjusted_p=paired.p,
            f1_difference=links.difference,
            f1_p=links.p,
        )

    def as_dict(self) -> Row:
        """The figures of all items, for JSON; no rates of links without scored items."""
        low, high = self.interval or (None, None)
        links: Row = {name: int(number) for name, number in self.links.counts.items()}
        links |= self.links.rates if self.scored else dict.fromkeys(self.links.rates)
        names = ("items", "scored", "right", "accuracy", "outcomes", "choices", "human")
        figures = {name: getattr(self, name) for name in names}
        return figures | {"low": low, "high": high, "links": links}

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
    return [replace(pair, adjusted_p=p) for pair, p in zip(pairs, adjusted, strict=True)]


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
