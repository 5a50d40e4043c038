"""Two results that were saved: what differs in how they were made, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from corefeval.analysis.explanation.differences import explain_difference, without_data_fields
from corefeval.analysis.explanation.explanation import Explanation, Points
from corefeval.analysis.explanation.scorings import Scorings, subtract
from corefeval.diagnostics import UsageError
from corefeval.preparation import Input, Plan
from corefeval.results import Result
from corefeval.tabular import Row, Tabular

_SAME = 1e-9


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
        what = f"{number} choice{'s' * (number != 1)}"
        return f"<ResultDifference of {' and '.join(self.names)}: {what} differ>"


def explain_saved(
    first: Result,
    second: Result,
    plan: Plan | None = None,
    key: Input = None,
    response: Input = None,
    *,
    shapley: bool = False,
) -> ResultDifference:
    """What differs between two results; what it is worth, where a plan says how to read the data.

    Raises a UsageError where they have no metric in common.
    """
    metrics = [metric for metric in first.metrics if metric in second.metrics]
    if not metrics:
        both = [", ".join(one.metrics) for one in (first, second)]
        raise UsageError(f"the results have no metric in common: {' against '.join(both)}")
    names = first.response or "first", second.response or "second"
    names = ("first", "second") if names[0] == names[1] else names
    explanation: Explanation | None = None
    more: tuple[str, ...] = ()
    if plan is not None:
        scorings = Scorings(key, response, plan, metrics)
        protocols = without_data_fields(first.protocol), without_data_fields(second.protocol)
        explanation = explain_difference(scorings, protocols, names, shapley=shapley)
        ends = zip(names, (first, second), (explanation.start, explanation.goal), strict=True)
        more = tuple(text for name, one, end in ends for text in _check(name, one, end.scores))
    return ResultDifference(
        names=names,
        signatures=(first.signature, second.signature),
        choices=first.protocol.differences(second.protocol),
        remarks=(*_remarks(first, second), *more),
        scores={one: (first[one].f1, second[one].f1) for one in metrics},
        titles={**(second.titles or {}), **(first.titles or {})},
        explanation=explanation,
    )


def _check(name: str, result: Result, scores: Points) -> Iterator[str]:
    """What to say where the data does not give the numbers that were saved."""
    saved = {metric: result[metric].f1 for metric in scores}
    for metric, less in subtract(scores, saved, [*saved]).items():
        if less is not None and abs(less) > _SAME:
            now = f"{100 * (scores[metric] or 0):.2f}"
            yield (
                f"{name}: this key and response give {metric} {now}, not the saved "
                f"{100 * saved[metric]:.2f}: they are not its data"
            )
            return


def _remarks(first: Result, second: Result) -> Iterator[str]:
    """What differs besides choices."""
    if first.key_digest and second.key_digest and first.key_digest != second.key_digest:
        yield f"they were scored against different keys: {first.key} and {second.key}"
    mine, theirs = ({*one.document_ids} for one in (first, second))
    if mine != theirs:
        yield (
            f"they are of different documents: {len(mine - theirs):,} only in the first, "
            f"{len(theirs - mine):,} only in the second"
        )
    if first.version != second.version:
        yield f"they were made by corefeval {first.version} and {second.version}"
    if first.tables == second.tables and first.protocol != second.protocol:
        yield "their counts are the same: only rates differ, if anything"
