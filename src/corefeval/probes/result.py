"""The result of a probe: what was chosen for each item, and the figures that follow."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, product
from math import comb, hypot, sqrt
from statistics import NormalDist, fmean
from typing import Any, Self

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

    @classmethod
    def of(cls, pairs: Iterable[Sequence[Decision]], of: str, level: float, *details: Any) -> Self:
        """The figures of pairs of decisions by whether these are `right`, or `decided`."""
        counts = Counter(tuple(getattr(decision, of) for decision in pair) for pair in pairs)
        cells = tuple(counts[pair] for pair in product((True, False), repeat=2))
        _, wins, losses, _ = cells
        gap, split, size = wins - losses, wins + losses, sum(cells) + 2
        z = NormalDist().inv_cdf((1 + level) / 2)
        width = z * sqrt(split + 1 - gap * gap / size) / size
        tail = sum(comb(split, number) for number in range(min(wins, losses) + 1))
        p = min(1.0, 2 * tail / 2**split)
        ends = gap / size - width, gap / size + width
        return cls(gap / max(size - 2, 1), *ends, cells, p, *details)


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
    f1_difference: float
    f1_p: float
    adjusted_p: float = 1.0


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


def _estimate(count: int, total: int, level: float) -> tuple[float, ...]:
    """A share, and the ends of its interval by Wilson (1927)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    scale = total + z * z
    middle = (count + z * z / 2) / scale
    width = z * sqrt(count * (total - count) / total + z * z / 4) / scale
    return count / total, max(0.0, middle - width), min(1.0, middle + width)


def _gather(decisions: Iterable[Decision], group: str = "") -> dict[str, list[Decision]]:
    """The decisions of each pair, or with each value of a group."""
    members = defaultdict[str, list[Decision]](list)
    for decision in decisions:
        name = decision.groups.get(group) if group else decision.pair
        if name is not None:
            members[name].append(decision)
    return members


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
        return sum(self.outcomes.values())

    @property
    def right(self) -> int:
        """How many items are right."""
        return self.outcomes.get("right", 0)

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
    def interval(self) -> tuple[float, ...] | None:
        """Wilson's interval of the accuracy."""
        return _estimate(self.right, self.scored, self.level)[1:] if self.scored else None

    @property
    def links(self) -> Score:
        """Recall, precision and F1 over the candidates of scored items."""
        return self["links"]

    @cached_property
    def outcomes(self) -> dict[str, int]:
        """How many scored items have each outcome."""
        outcomes = (decision.outcome for decision in self.decisions)
        return dict(Counter(filter(None, outcomes)))

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
        members = _gather(self.decisions, feature)
        if not members:
            names = dict.fromkeys(chain(*(decision.groups for decision in self.decisions)))
            raise UsageError(f"no item has a group {feature!r}: there are {', '.join(names)}")
        parts = {}
        for value, kept in sorted(members.items()):
            protocol = self.protocol.but(slice=f"{feature}={value}")
            parts[value] = replace(self, **count(kept), protocol=protocol)
        return Slices(feature, "document", self, parts)

    def view(
        self, by: object = None, contrast: str | None = None, level: float | None = None
    ) -> ProbeResult:
        """The result with groups to show, a contrast (`GROUP=FIRST,SECOND`) and another level."""
        level = self.level if level is None else level
        check_probability("the level of an interval", level)
        view = replace(
            self,
            shown=feature_names(by or self.shown),
            contrasted=contrast or self.contrasted,
            protocol=self.protocol.but(ci=f"wilson({float(level)})"),
        )
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
            stated = re.fullmatch(r"\s*([^=]+?)\s*=\s*([^=,]+?)\s*,\s*([^=,]+?)\s*", text)
            if stated is None:
                raise UsageError(f"a contrast is GROUP=FIRST,SECOND, not {text!r:.60}")
            group, *values = stated.groups()
            if self.contrasted or _gather(self.decisions, group).keys() >= {*values}:
                break
        else:
            return None
        parts: Any = self.by(group)
        sides = [parts[value] for value in values]
        of = "decided" if any(side.scored < side.items for side in sides) else "right"
        counts = ((sum(getattr(d, of) for d in side.decisions), side.items) for side in sides)
        shares = [_estimate(*numbers, self.level) for numbers in counts]
        (first, low, high), (second, second_low, second_high) = shares
        gap, scores = first - second, [side.links.f1 for side in sides]
        pairs = _gather(decision for side in sides for decision in side.decisions)
        twins = [pair for pair in pairs.values() if [d.groups[group] for d in pair] == [*values]]
        unpaired = sum(map(len, pairs.values())) - 2 * len(twins)
        return Contrast(
            gap,
            gap - hypot(first - low, second_high - second),
            gap + hypot(high - first, second - second_low),
            *(group, values[0], values[1], of),
            tuple(side.items for side in sides),
            (first, second),
            scores[0] / scores[1] if of == "right" and all(scores) else None,
            PairedTwins.of(twins, of, self.level, len(twins), unpaired) if twins else None,
        )

    @property
    def consistency(self) -> Consistency:
        """How often twins have the same choice, or are all right."""
        pairs = [pair for pair in _gather(self.decisions).values() if len(pair) > 1]
        alike = sum(len({d.choice_set for d in pair}) == 1 for pair in pairs)
        rights = [{d.right for d in pair} for pair in pairs]
        scored = sum(None not in right for right in rights)
        return Consistency(len(pairs), alike, scored, rights.count({True}))

    def compare(self, result: ProbeResult, trials: int = 10_000, seed: int = 0) -> PairedSystems:
        """The difference of two results of the same items, and tests of it."""
        return compare_all([self, result], trials=trials, seed=seed)[0]

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
        groups = self.shown or ([self.contrast.group] if self.contrast else ())
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
    compared = []
    for first, second in combinations(results, 2):
        links = compare([first, second], metrics=["links"], samples=1, **options).pairs[0]
        pairs = zip(first.decisions, second.decisions, strict=True)
        scored = (pair for pair in pairs if pair[0].right is not None)
        details = first.response, second.response, links.difference, links.p
        compared.append(PairedSystems.of(scored, "right", first.level, *details))
    adjusted = adjust([pair.p for pair in compared]).tolist()
    return [replace(pair, adjusted_p=p) for pair, p in zip(compared, adjusted, strict=True)]


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
