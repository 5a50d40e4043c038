"""What an explanation is: of what choices are worth, and of what differs between results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from corefeval.diagnostics import Notice
from corefeval.display import Row, Tabular
from corefeval.protocol import Protocol

Points = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class End:
    """One of the two protocols: exact scores, and scores as the program prints them."""

    name: str
    protocol: Protocol
    scores: Points
    printed: Points

    def as_dict(self) -> Row:
        """For JSON."""
        return {
            "name": self.name,
            "protocol": str(self.protocol),
            "scores": dict(self.scores),
            "printed": dict(self.printed),
        }


@dataclass(frozen=True, slots=True)
class Step:
    """A choice that differs, and what it is worth in each metric; None where that is no number."""

    choice: str
    before: str
    after: str
    alone: Points
    last: Points
    turn: Points
    shapley: Points

    @property
    def change(self) -> str:
        """The choice and its two values."""
        return describe_change(self.choice, self.before, self.after)

    def as_dict(self) -> Row:
        """For JSON."""
        worth = {name: dict(getattr(self, name)) for name in ("alone", "last", "turn", "shapley")}
        return {"choice": self.choice, "from": self.before, "to": self.after, **worth}


@dataclass(frozen=True, slots=True)
class Relation:
    """Two choices that do the same work (`redundant`) in a metric, or of which one needs the other.

    Of a kind `needs`, the first does nothing but with the second; of a kind `need each other`,
    neither does. `alone` is what each is worth alone, `together` what both are.
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
    quiet: tuple[str, ...]
    relations: tuple[Relation, ...]
    refusals: tuple[Refusal, ...]
    number: int
    notices: tuple[Notice, ...] = ()
    gaps: tuple[str, ...] = ()

    def rows(self) -> list[Row]:
        """One row for each choice that has an effect and each metric."""
        return [
            {
                "choice": step.choice,
                "from": step.before,
                "to": step.after,
                "metric": metric,
                **{
                    name: getattr(step, name).get(metric)
                    for name in ("alone", "last", "turn", "shapley")
                },
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
            "refusals": [
                {"name": refusal.name, "reason": refusal.reason, "choices": list(refusal.choices)}
                for refusal in self.refusals
            ],
            "steps": [step.as_dict() for step in self.steps],
            "gaps": list(self.gaps),
            "without_effect": list(self.quiet),
            "relations": [
                {
                    "kind": relation.kind,
                    "choices": list(relation.choices),
                    "metric": relation.metric,
                    "alone": list(relation.alone),
                    "together": relation.together,
                }
                for relation in self.relations
            ],
            "scorings": self.number,
            "notices": [notice.as_dict() for notice in self.notices],
        }

    def __repr__(self) -> str:
        metric = self.metrics[-1]
        ends = (self.start.scores.get(metric), self.goal.scores.get(metric))
        first, second = ("no number" if score is None else f"{100 * score:.2f}" for score in ends)
        number = f"{len(self.steps)} choice{'s' * (len(self.steps) != 1)}"
        names = f"{self.start.name} → {self.goal.name}"
        return f"<Explanation {names}: {metric} {first} → {second} by {number}>"


@dataclass(frozen=True, repr=False)
class ResultDifference(Tabular):
    """What differs between two results.

    `choices` are those of their protocols with both values, `remarks` say what else differs: key,
    documents, response, version. `scores` has the F1 of both by metric. `explanation` says what the
    choices are worth, where the data was at hand.
    """

    names: tuple[str, str]
    signatures: tuple[str, str]
    choices: Mapping[str, tuple[str, str]]
    remarks: tuple[str, ...]
    scores: Mapping[str, tuple[float, float]]
    titles: Mapping[str, str]
    explanation: Explanation | None = None

    def rows(self) -> list[Row]:
        """One row for each choice that differs, and one for each metric."""
        rows = [
            {"what": "choice", "name": name, "first": values[0], "second": values[1]}
            for name, values in self.choices.items()
        ]
        return rows + [
            {"what": "f1", "name": name, "first": values[0], "second": values[1]}
            for name, values in self.scores.items()
        ]

    def as_dict(self) -> Row:
        """For JSON."""
        return {
            "results": list(self.names),
            "signatures": list(self.signatures),
            "choices": {name: list(values) for name, values in self.choices.items()},
            "remarks": list(self.remarks),
            "scores": {name: list(values) for name, values in self.scores.items()},
            "explanation": None if self.explanation is None else self.explanation.as_dict(),
        }

    def __repr__(self) -> str:
        number = len(self.choices)
        choices = f"{number} choice{'s' * (number != 1)}"
        return f"<ResultDifference of {' and '.join(self.names)}: {choices} differ>"


def describe_change(choice: str, before: str, after: str) -> str:
    """A choice and its two values, as people read it."""
    return f"{choice.replace('_', '-')}: {before} → {after}"
