"""Two protocols on the same data: which choices make their numbers differ, and what each is worth.

Let D be the choices in which the two differ, and v(S) the number of the first with the choices S of
D taken from the second. A choice p is worth v({p}) − v(∅) alone, v(D) − v(D∖{p}) last, the step
that it makes when choices are switched one after the other as the pipeline has them (in turn), and
the mean of its steps over all orders (Shapley). In turn and Shapley add up to v(D) − v(∅).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import factorial

from corefeval.analysis.explanation.explanation import (
    End,
    Explanation,
    Points,
    Refusal,
    Relation,
    Step,
    describe_change,
)
from corefeval.analysis.explanation.scorings import (
    SHOWN,
    Outcome,
    Scorings,
    one_line,
    round_as,
    subtract,
)
from corefeval.diagnostics import UsageError, merge_notices
from corefeval.protocol import Protocol

# The choices in the order in which they act.
PIPELINE = (
    "occurrences", "documents", "pairing", "missing", "extra", "across", "tokens", "spans", "zeros",
    "window", "order", "brackets", "tagset", "match", "identity", "min_span", "np_only",
    "remove_nested", "lost", "layer", "duplicates", "repeats_key", "repeats_response", "limit",
    "owner", "split", "singletons", "b3_singletons", "ceafe_singletons", "lea_singletons",
    "keyless", "twinless", "nothing", "muc", "b3", "ceaf", "ceafm", "lea", "blanc", "aggregate",
    "undefined", "average", "rounding", "emulate",
)  # fmt: skip
MOST_SHAPLEY = 10  # choices, of which there are 1,024 sets
_NOTHING = 1e-9

Names = frozenset[str]


def explain_difference(
    scorings: Scorings,
    protocols: tuple[Protocol, Protocol],
    names: tuple[str, str],
    *,
    shapley: bool = False,
) -> Explanation:
    """Why two protocols give different numbers.

    Raises the error of both where both refuse the data for the same reason, and a UsageError where
    Shapley values are asked for more choices than can be.
    """
    switch = _Switch(scorings, *protocols)
    none, every = frozenset[str](), frozenset(switch.names)
    outcomes = switch.score(none), switch.score(every)
    errors = outcomes[0].error, outcomes[1].error
    if errors[0] and errors[1] and str(errors[0]) == str(errors[1]):
        raise errors[0]
    # A protocol that refuses the data takes the choices that it needs from the other one.
    needs = (
        _needs(switch.names, switch.score),
        _needs(switch.names, lambda back: switch.score(every - back)),
    )
    refusals = tuple(
        Refusal(name, one_line(str(outcome.error)), tuple(sorted(need or ())))
        for name, outcome, need in zip(names, outcomes, needs, strict=True)
        if outcome.error
    )
    worth = None
    if None not in needs:
        lower, upper = needs[0] or none, every - (needs[1] or none)
        worth = _Worth(switch, lower, upper) if lower <= upper else None
    steps = worth.steps(shapley) if worth else ()
    ends = [
        End(name, protocol, outcome.scores, _print(outcome, protocol))
        for name, protocol, outcome in zip(names, protocols, outcomes, strict=True)
    ]
    rounding = _rounding(ends[0], ends[1], scorings.metrics, shapley)
    notices = merge_notices(dict.fromkeys(n for outcome in outcomes for n in outcome.notices))
    return Explanation(
        key=scorings.key.name,
        response=scorings.response.name,
        metrics=scorings.metrics,
        titles=dict(scorings.titles),
        start=ends[0],
        goal=ends[1],
        steps=(*steps, *rounding),
        quiet=worth.quiet if worth else (),
        relations=tuple(worth.relations(steps)) if worth else (),
        refusals=refusals,
        number=scorings.number,
        notices=notices,
        gaps=tuple(worth.gaps) if worth and any(map(_has_gap, steps)) else (),
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
    """What the choices between a lower and an upper set are worth."""

    def __init__(self, switch: _Switch, lower: Names, upper: Names) -> None:
        self.switch, self.lower, self.upper = switch, lower, upper
        self.metrics = switch.scorings.metrics
        self.gaps: dict[str, None] = {}
        self.names = [name for name in switch.names if name in upper - lower]
        start, end = self._scores(), self._scores(*self.names)
        self.alone = {n: subtract(self._scores(n), start, self.metrics) for n in self.names}
        remaining_names = {n: [name for name in self.names if name != n] for n in self.names}
        self.last = {
            n: subtract(end, self._scores(*remaining_names[n]), self.metrics) for n in self.names
        }
        self.turn = self._turns()
        self.active = [name for name in self.names if not self._is_quiet(name)]

    def _scores(self, *names: str) -> Points:
        outcome = self.switch.score(self.lower | {*names})
        if outcome.error:
            self.gaps[one_line(str(outcome.error))] = None
        return outcome.scores

    def _turns(self) -> dict[str, Points]:
        """Each choice's step; a step without a number is added to the next that has one."""
        turns: dict[str, Points] = {}
        latest_scores = dict(self._scores())
        for place, name in enumerate(self.names):
            scores = self._scores(*self.names[: place + 1])
            turns[name] = subtract(scores, latest_scores, self.metrics)
            latest_scores.update(
                {metric: score for metric, score in scores.items() if score is not None}
            )
        return turns

    def _is_quiet(self, name: str) -> bool:
        tables = (self.alone, self.last, self.turn)
        values = [value for table in tables for value in table[name].values()]
        numbers = [value for value in values if value is not None]
        return bool(numbers) and max(map(abs, numbers)) < _NOTHING

    @property
    def quiet(self) -> tuple[str, ...]:
        """The choices without an effect."""
        return tuple(
            describe_change(name, *self.switch.change(name))
            for name in self.names
            if name not in self.active
        )

    def steps(self, shapley: bool) -> tuple[Step, ...]:
        """The choices with an effect."""
        shares = self._shapley() if shapley else {}
        return tuple(
            Step(
                name,
                *self.switch.change(name),
                self.alone[name],
                self.last[name],
                self.turn[name],
                shares.get(name, {}),
            )
            for name in self.active
        )

    def _shapley(self) -> dict[str, Points]:
        """Each choice's mean step over all orders, exactly: from all sets of active choices."""
        self._call_back()
        number = len(self.active)
        if number > MOST_SHAPLEY:
            raise UsageError(
                f"{number} choices have an effect here, and Shapley values are for up to "
                f"{MOST_SHAPLEY}: leave --shapley out"
            )
        sets = {
            frozenset(chosen): self._scores(*chosen)
            for size in range(number + 1)
            for chosen in combinations(self.active, size)
        }
        return {name: self._mean_step(name, sets, number) for name in self.active}

    def _mean_step(self, name: str, sets: Mapping[Names, Points], number: int) -> Points:
        shares: dict[str, float | None] = dict.fromkeys(self.metrics, 0.0)
        for chosen in sets:
            if name in chosen:
                continue
            weight = factorial(len(chosen)) * factorial(number - len(chosen) - 1)
            steps = subtract(sets[chosen | {name}], sets[chosen], self.metrics)
            for metric, step in steps.items():
                share = shares[metric]
                missing = step is None or share is None
                shares[metric] = None if missing else share + weight * step / factorial(number)  # type: ignore[operator]
        return shares

    def _call_back(self) -> None:
        """Make quiet choices active, where they have an effect together: in pairs, or all."""
        goal = self._scores(*self.names)
        while quiet := [name for name in self.names if name not in self.active]:
            if _are_equal(self._scores(*self.active), goal):
                return
            before = self._scores(*self.active)
            called = {
                name
                for pair in combinations(quiet, 2)
                if not _are_equal(self._scores(*self.active, *pair), before)
                for name in pair
            }
            chosen = {*self.active, *(called or quiet)}
            self.active = [name for name in self.names if name in chosen]

    def relations(self, steps: Sequence[Step]) -> Iterable[Relation]:
        """The pairs of choices that do the same work or need each other, by metric."""
        start = self._scores()
        # What is worth the same alone and last is worth it whatever else is chosen.
        names = [step.choice for step in steps if _differs(step.alone, step.last)]
        for chosen in combinations(names, 2):
            pair_points = subtract(self._scores(*chosen), start, self.metrics)
            # Those that do nothing alone, in no metric, come first.
            pair = sorted(chosen, key=lambda name: not self._is_idle(name))
            idle = sum(map(self._is_idle, pair))
            for metric, together in pair_points.items():
                first_points, second_points = (self.alone[name][metric] for name in pair)
                if together is None or first_points is None or second_points is None:
                    continue
                kind = _relation(first_points, second_points, together, idle)
                if kind:
                    yield Relation(
                        kind, (pair[0], pair[1]), metric, (first_points, second_points), together
                    )

    def _is_idle(self, name: str) -> bool:
        return all(value is not None and abs(value) < SHOWN for value in self.alone[name].values())


def _relation(first_points: float, second_points: float, together: float, idle: int) -> str:
    """The kind of relation of two choices, or ""; the first `idle` of them do nothing alone."""
    interaction = together - first_points - second_points
    if idle:
        return ("", "needs", "need each other")[idle] if abs(interaction) >= SHOWN else ""
    least, most = sorted((abs(first_points), abs(second_points)))
    is_large = first_points * second_points > 0 and least > max(SHOWN, most / 10)
    is_overlap = interaction * first_points < 0 and abs(interaction) >= least / 2
    return "redundant" if is_large and is_overlap else ""


def _has_gap(step: Step) -> bool:
    return any(None in points.values() for points in (step.alone, step.last, step.turn))


def _differs(first: Points, second: Points) -> bool:
    differences = subtract(first, second, [*first]).values()
    return any(value is None or abs(value) >= SHOWN for value in differences)


def _are_equal(first: Points, second: Points) -> bool:
    differences = subtract(first, second, [*second]).values()
    return all(value is not None and abs(value) < _NOTHING for value in differences)


def _needs(names: Sequence[str], score: Callable[[Names], Outcome]) -> Names | None:
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


def _print(outcome: Outcome, protocol: Protocol) -> Points:
    return {
        metric: None if score is None else round_as(score, protocol.rounding)
        for metric, score in outcome.scores.items()
    }


def _rounding(start: End, goal: End, metrics: Sequence[str], shapley: bool) -> tuple[Step, ...]:
    """The last step: the number that is printed, less the exact one."""
    before, after = start.protocol.rounding, goal.protocol.rounding
    if after == "none" or not goal.scores:
        return ()
    less = subtract(goal.printed, goal.scores, metrics)
    return (Step("rounding", before, after, {}, {}, less, less if shapley else {}),)


def without_data_fields(protocol: Protocol) -> Protocol:
    """The choices of a protocol alone, without what a result says of its data."""
    return replace(
        protocol, values=tuple(choice for choice in protocol.values if choice[0] in PIPELINE)
    )
