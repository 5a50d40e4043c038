"""Two protocols on the same data: which choices make their numbers differ, and what each is worth.

Let D be the choices in which the two differ, and v(S) the number of the first with the choices S of
D taken from the second. A choice is worth its Shapley value: its step from v(S) to v(S ∪ {p}) in
the mean over all orders of the choices, where S are the choices before it. Where more than ten
choices have an effect, or some of them together give no number, it is worth its step in one order,
that of the pipeline. The points add up to v(D) − v(∅) either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from math import factorial
from typing import Literal

import numpy as np

from corefeval.analysis.explanation.scorings import (
    SHOWN,
    Outcome,
    Points,
    Scorings,
    one_line,
    round_scores,
    subtract,
)
from corefeval.diagnostics import Notices, merge_notices, plural
from corefeval.display import Row, Tabular
from corefeval.model.arrays import BoolArray, FloatArray
from corefeval.protocol import Protocol

# The choices in the order in which they act.
PIPELINE = (
    "occurrences", "choice", "pieces", "documents", "pairing", "missing", "extra", "across",
    "tokens", "spans", "zeros", "window", "order", "brackets", "tagset", "match", "identity",
    "min_span", "np_only", "remove_nested", "lost", "layer", "duplicates", "repeats_key",
    "repeats_response", "limit", "owner", "split", "singletons", "b3_singletons",
    "ceafe_singletons", "lea_singletons", "keyless", "twinless", "nothing", "muc", "b3", "ceaf",
    "ceafm", "lea", "blanc", "aggregate", "undefined", "average", "rounding", "emulate",
)  # fmt: skip
_MOST_SHAPLEY = 10  # choices, of which there are 1,024 sets
_NOTHING = 1e-9

Names = frozenset[str]
Sharing = Literal["shapley", "in turn"]


@dataclass(frozen=True, slots=True)
class End:
    """One of the two protocols: exact scores, and scores as the program prints them."""

    name: str
    protocol: Protocol
    scores: Points
    printed: Points

    def as_dict(self) -> Row:
        """For JSON."""
        return {**asdict(self), "protocol": str(self.protocol)}


@dataclass(frozen=True, slots=True)
class Step:
    """A choice that differs, and the points of F1 that it is worth in each metric.

    A metric in which that is no number has None.
    """

    choice: str
    before: str
    after: str
    points: Points

    @property
    def change(self) -> str:
        """The choice and its two values."""
        return describe_change(self.choice, self.before, self.after)

    def as_dict(self) -> Row:
        """For JSON."""
        points = dict(self.points)
        return {"choice": self.choice, "from": self.before, "to": self.after, "points": points}


@dataclass(frozen=True, slots=True)
class Relation:
    """Two choices that do the same work in a metric (`redundant`), or one that needs the other.

    Where the kind is `needs`, the first does nothing without the second; where it is `need each
    other`, neither does anything alone. `alone` is what each is worth alone, `together` what both
    are worth.
    """

    kind: str
    choices: tuple[str, str]
    metric: str
    alone: tuple[float, float]
    together: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """A protocol that gives no number: why, and which choices of the other one would help."""

    name: str
    reason: str
    choices: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Explanation(Tabular):
    """Why two protocols give different numbers on the same data.

    `steps` are the choices that have an effect, in the order of the pipeline, with rounding last;
    `quiet` says which ones have none here, and `number` how many protocols were scored for it.
    `sharing` says what the points of the steps are: Shapley values, or the changes of the number
    when the choices are switched in turn. Without rounding, they add up to the difference.
    Where a protocol gives no number, `refusals` say why, and the steps are between protocols that
    go on; `gaps` say why some choices of both together, which no program has, give none. All scores
    and points are F1 from 0 to 1.

    >>> from corefeval import explain
    >>> key, response = [["a", "b"], ["c"]], [["a", "b"], ["c"]]
    >>> explain(key, response, from_="conll-8.01", to="e2e")
    <Explanation conll-8.01 → e2e: conll 100.00 → 88.89 by 1 choice>
    """

    key: str
    response: str
    metrics: tuple[str, ...]
    titles: Mapping[str, str]
    start: End
    goal: End
    steps: tuple[Step, ...]
    sharing: Sharing
    quiet: tuple[str, ...]
    relations: tuple[Relation, ...]
    refusals: tuple[Refusal, ...]
    number: int
    notices: Notices = ()
    gaps: tuple[str, ...] = ()

    def rows(self) -> list[Row]:
        """One row for each choice that has an effect and each metric."""
        return [
            {
                "choice": step.choice,
                "from": step.before,
                "to": step.after,
                "metric": metric,
                "points": step.points.get(metric),
            }
            for step in self.steps
            for metric in self.metrics
        ]

    def as_dict(self) -> Row:
        """For JSON."""
        return {
            "key": self.key,
            "response": self.response,
            "from": self.start.as_dict(),
            "to": self.goal.as_dict(),
            "refusals": [asdict(refusal) for refusal in self.refusals],
            "sharing": self.sharing,
            "steps": [step.as_dict() for step in self.steps],
            "gaps": list(self.gaps),
            "without_effect": list(self.quiet),
            "relations": [asdict(relation) for relation in self.relations],
            "scorings": self.number,
            "notices": [notice.as_dict() for notice in self.notices],
        }

    def __repr__(self) -> str:
        metric = self.metrics[-1]
        ends = (self.start.scores.get(metric), self.goal.scores.get(metric))
        first, second = ("no number" if score is None else f"{100 * score:.2f}" for score in ends)
        names = f"{self.start.name} → {self.goal.name}"
        choices = plural(len(self.steps), "choice")
        return f"<Explanation {names}: {metric} {first} → {second} by {choices}>"


def describe_change(choice: str, before: str, after: str) -> str:
    """A choice and its two values, as people read it."""
    return f"{choice.replace('_', '-')}: {before} → {after}"


def explain_difference(
    scorings: Scorings, protocols: tuple[Protocol, Protocol], names: tuple[str, str]
) -> Explanation:
    """Why two protocols give different numbers, and what each of their choices is worth.

    Raises the error of both where both refuse the data for the same reason.
    """
    switch = _Switch(scorings, *protocols)
    none, every = frozenset[str](), frozenset(switch.names)
    outcomes = switch.score(none), switch.score(every)
    if outcomes[0].error and str(outcomes[0].error) == str(outcomes[1].error):
        raise outcomes[0].error
    # A protocol that refuses the data takes the choices that it needs from the other one.
    needs = (
        _find_needs(switch.names, switch.score),
        _find_needs(switch.names, lambda back: switch.score(every - back)),
    )
    lower, upper = needs[0] or none, every - (needs[1] or none)
    worth = _Worth(switch, lower, lower if None in needs else upper)
    ends = [
        End(name, protocol, outcome.scores, round_scores(outcome.scores, protocol.rounding))
        for name, protocol, outcome in zip(names, protocols, outcomes, strict=True)
    ]
    return Explanation(
        key=scorings.key.name,
        response=scorings.response.name,
        metrics=scorings.metrics,
        titles=dict(scorings.titles),
        start=ends[0],
        goal=ends[1],
        steps=(*worth.steps(), *_rounding_step(ends[0], ends[1], scorings.metrics)),
        sharing=worth.sharing,
        quiet=worth.quiet,
        relations=tuple(worth.relations()),
        refusals=tuple(
            Refusal(name, one_line(outcome.error.command_text), tuple(sorted(need or ())))
            for name, outcome, need in zip(names, outcomes, needs, strict=True)
            if outcome.error
        ),
        number=scorings.number,
        notices=merge_notices(dict.fromkeys(n for outcome in outcomes for n in outcome.notices)),
        gaps=worth.gaps,
    )


class _Switch:
    """Two protocols, and all that are between them."""

    def __init__(self, scorings: Scorings, start: Protocol, goal: Protocol) -> None:
        self.scorings, self.goal = scorings, goal
        self.start = start.but(rounding="none")
        differ = start.differences(goal)
        order = {name: place for place, name in enumerate(PIPELINE)}
        # A program that takes no other choices is left first and entered last; so are matches.
        order["emulate"] = -1 if start.emulate != "none" else len(PIPELINE)
        order["match"] += len(PIPELINE) if goal.match != "exact" else 0
        self.names = sorted((n for n in differ if n != "rounding" and n in order), key=order.get)  # type: ignore[arg-type]

    def change(self, name: str) -> tuple[str, str]:
        """A choice's values in both protocols."""
        return getattr(self.start, name), getattr(self.goal, name)

    def score(self, names: Names) -> Outcome:
        """What the first protocol gives with some choices of the second."""
        chosen = {name: getattr(self.goal, name) for name in names}
        return self.scorings.score(Protocol.of_fields(chosen, self.start))


class _Worth:
    """What the choices between a lower and an upper set are worth.

    Scores are arrays of F1 by metric, NaN where there is no number. `_alone` has the step of each
    choice when it is switched first, `_last` when it is switched last, and `_in_turn` in the order
    of the pipeline. `_active` are the choices that have an effect.
    """

    def __init__(self, switch: _Switch, lower: Names, upper: Names) -> None:
        self._switch, self._lower = switch, lower
        self._metrics = switch.scorings.metrics
        self._names = [name for name in switch.names if name in upper - lower]
        self._reasons: dict[str, None] = {}  # why some choices together give no number
        start, goal = self._scores(()), self._scores(self._names)
        self._alone = {name: self._scores([name]) - start for name in self._names}
        self._last = {name: goal - self._scores({*self._names} - {name}) for name in self._names}
        self._in_turn = self._take_turns()
        self._active = [name for name in self._names if not self._is_quiet(name)]
        self._activate_quiet(goal)
        self._shapley = self._share(~np.isnan(goal - start))

    def _scores(self, names: Iterable[str]) -> FloatArray:
        outcome = self._switch.score(self._lower | {*names})
        if outcome.error:
            self._reasons[one_line(outcome.error.command_text)] = None
        return np.array([outcome.scores.get(metric) for metric in self._metrics], dtype=float)

    def _take_turns(self) -> dict[str, FloatArray]:
        """Each choice's step; a step without a number is added to the next that has one."""
        steps: dict[str, FloatArray] = {}
        before = self._scores(())
        for place, name in enumerate(self._names, 1):
            after = self._scores(self._names[:place])
            steps[name] = after - before
            before = np.where(np.isnan(after), before, after)
        return steps

    def _is_quiet(self, name: str) -> bool:
        steps = np.abs([self._alone[name], self._last[name], self._in_turn[name]])
        return not np.isnan(steps).all() and bool(np.nanmax(steps) < _NOTHING)

    def _activate_quiet(self, goal: FloatArray) -> None:
        """Make quiet choices active, where they have an effect together: in pairs, or all."""
        while quiet := [name for name in self._names if name not in self._active]:
            before = self._scores(self._active)
            if _are_equal(before, goal):
                return
            with_effect = {
                name
                for pair in combinations(quiet, 2)
                if not _are_equal(self._scores((*self._active, *pair)), before)
                for name in pair
            }
            chosen = {*self._active, *(with_effect or quiet)}
            self._active = [name for name in self._names if name in chosen]

    def _share(self, is_comparable: BoolArray) -> dict[str, FloatArray] | None:
        """The Shapley value of each active choice, from the scores of all sets of them.

        None for too many choices, and where a set has no number in a metric that both ends have.
        """
        count = len(self._active)
        if count > _MOST_SHAPLEY:
            return None
        scores: dict[Names, FloatArray] = {}
        for size in range(count + 1):
            for chosen in map(frozenset, combinations(self._active, size)):
                scores[chosen] = np.where(is_comparable, self._scores(chosen), 0)
                if np.isnan(scores[chosen]).any():
                    return None
        orders = [factorial(size) * factorial(count - size - 1) for size in range(count)]
        return {
            name: sum(
                (scores[chosen | {name}] - before) * (orders[len(chosen)] / factorial(count))
                for chosen, before in scores.items()
                if name not in chosen
            )
            + np.where(is_comparable, 0, np.nan)
            for name in self._active
        }

    @property
    def sharing(self) -> Sharing:
        """How the points were shared out between the choices."""
        return "in turn" if self._shapley is None else "shapley"

    @property
    def gaps(self) -> tuple[str, ...]:
        """Why some choices together give no number, where that is why they are taken in turn."""
        return () if self._shapley is not None else tuple(self._reasons)

    @property
    def quiet(self) -> tuple[str, ...]:
        """The choices without an effect."""
        return tuple(
            describe_change(name, *self._switch.change(name))
            for name in self._names
            if name not in self._active
        )

    def steps(self) -> Iterator[Step]:
        """The choices with an effect."""
        shares = self._in_turn if self._shapley is None else self._shapley
        for name in self._active:
            values = [None if np.isnan(value) else float(value) for value in shares[name]]
            points = dict(zip(self._metrics, values, strict=True))
            yield Step(name, *self._switch.change(name), points)

    def relations(self) -> Iterator[Relation]:
        """The pairs of choices that do the same work or need each other, by metric."""
        start = self._scores(())
        # What is worth the same alone and last is worth it whatever else is chosen.
        names = [
            name
            for name in self._active
            if not _are_equal(self._alone[name], self._last[name], SHOWN)
        ]
        for chosen in combinations(names, 2):
            # Those that do nothing alone, in no metric, come first.
            first, second = sorted(chosen, key=lambda name: not self._is_idle(name))
            idle = self._is_idle(first) + self._is_idle(second)
            together = self._scores(chosen) - start
            steps = zip(self._alone[first], self._alone[second], together, strict=True)
            for metric, points in zip(self._metrics, steps, strict=True):
                kind = "" if np.isnan(points).any() else _name_relation(*points, idle)
                if kind:
                    alone = float(points[0]), float(points[1])
                    yield Relation(kind, (first, second), metric, alone, float(points[2]))

    def _is_idle(self, name: str) -> bool:
        return bool((np.abs(self._alone[name]) < SHOWN).all())


def _name_relation(first_points: float, second_points: float, together: float, idle: int) -> str:
    """The kind of relation of two choices, or ""; the first `idle` of them do nothing alone."""
    interaction = together - first_points - second_points
    if idle:
        return ("", "needs", "need each other")[idle] if abs(interaction) >= SHOWN else ""
    least, most = sorted((abs(first_points), abs(second_points)))
    is_large = first_points * second_points > 0 and least > max(SHOWN, most / 10)
    is_overlap = interaction * first_points < 0 and abs(interaction) >= least / 2
    return "redundant" if is_large and is_overlap else ""


def _are_equal(first: FloatArray, second: FloatArray, tolerance: float = _NOTHING) -> bool:
    """Whether all scores are numbers and differ by less than the tolerance."""
    return bool((np.abs(first - second) < tolerance).all())


def _find_needs(names: Sequence[str], score: Callable[[Names], Outcome]) -> Names | None:
    """The fewest choices that have to be switched for a number; None where nothing helps."""
    if not score(frozenset()).error:
        return frozenset()
    for name in names:
        if not score(frozenset((name,))).error:
            return frozenset((name,))
    chosen = frozenset[str]()
    for name in names:
        chosen |= {name}
        if not score(chosen).error:
            break
    else:
        return None
    for name in names:
        if not score(chosen - {name}).error:
            chosen -= {name}
    return chosen


def _rounding_step(start: End, goal: End, metrics: Sequence[str]) -> Iterator[Step]:
    """The last step: the number that is printed, less the exact one."""
    if goal.protocol.rounding != "none" and goal.scores:
        points = subtract(goal.printed, goal.scores, metrics)
        yield Step("rounding", start.protocol.rounding, goal.protocol.rounding, points)


def without_data_fields(protocol: Protocol) -> Protocol:
    """The choices of a protocol alone, without what a result says of its data."""
    return replace(
        protocol, values=tuple(choice for choice in protocol.values if choice[0] in PIPELINE)
    )
