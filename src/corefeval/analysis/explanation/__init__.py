"""Why numbers differ: the choices of scorers, and what each is worth on given data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack, overload

from corefeval.analysis.explanation.differences import (
    Explanation,
    Step,
    explain_difference,
    without_data_fields,
)
from corefeval.analysis.explanation.scorings import CONLL, Points, Scorings, subtract
from corefeval.analysis.explanation.sensitivity import (
    Search,
    Sensitivity,
    measure_choices,
    parse_number,
    search_number,
)
from corefeval.checks import check_type
from corefeval.diagnostics import UsageError, plural
from corefeval.display import Row, Tabular
from corefeval.metrics import Metrics, parse_metrics
from corefeval.preparation import as_corpus
from corefeval.protocol import NAMED, Protocol
from corefeval.request import Input, Request, ScoreOptions
from corefeval.results import Result

__all__ = [
    "Explanation",
    "ResultDifference",
    "Search",
    "Sensitivity",
    "explain",
    "explain_results",
    "measure_responses",
]

_TOLERANCE = 1e-9  # scores that differ by less are the same


@overload
def explain(
    key: Input,
    response: Input,
    *more_responses: Input,
    from_: Protocol | str | None = None,
    to: None = None,
    metrics: Metrics | None = None,
    protocol: Protocol | str | None = None,
    **options: Unpack[ScoreOptions],
) -> Sensitivity: ...


@overload
def explain(
    key: Input,
    response: Input,
    *more_responses: Input,
    from_: Protocol | str | None = None,
    to: Protocol | str | float,
    metrics: Metrics | None = None,
    protocol: Protocol | str | None = None,
    **options: Unpack[ScoreOptions],
) -> Explanation | Search: ...


def explain(
    key: Input,
    response: Input,
    *more_responses: Input,
    from_: Protocol | str | None = None,
    to: Protocol | str | float | None = None,
    metrics: Metrics | None = None,
    protocol: Protocol | str | None = None,
    **options: Unpack[ScoreOptions],
) -> Explanation | Search | Sensitivity:
    """Explain why a score is what it is: which choices of scorers it depends on, and how much.

    If `to` is a protocol, the answer is which choices make its numbers differ from those of `from_`
    (by default corefeval's own), and what each is worth. If `to` is a number, in percent and as it
    was published (61.3, or "61.30" for two decimals), it is which named protocols and single
    choices give that number. Without `to`, it is how much numbers depend on each choice and, with
    several responses, whether their order changes.

    `metrics` are muc, b3, ceafe and conll by default, and conll for a number. Options are those of
    `score`; choices among them apply to both protocols. See docs/explain.md.

    >>> key = [["a", "b"], ["c"], ["d"]]
    >>> explanation = explain(key, key, from_="conll-8.01", to="e2e")
    >>> [(step.change, round(100 * step.points["conll"], 2)) for step in explanation.steps]
    [('ceafe-singletons: count → skip-response', -16.67)]
    """
    if from_ is not None and protocol is not None:
        raise UsageError("from and protocol are the same here: leave one of them out")
    base = protocol if from_ is None else from_
    request = Request.of(base, options)
    metrics = list(metrics) if isinstance(metrics, Iterator) else metrics
    if to is None:
        measured = CONLL if metrics is None else metrics
        return measure_responses(key, (response, *more_responses), request, measured)
    if more_responses:
        raise UsageError("to explain two protocols or a number, give one response, not several")
    if _is_number(to):
        parse_number(to)  # a misspelling is an error before anything is read
        scorings = Scorings(key, response, request, "conll" if metrics is None else metrics)
        return search_number(scorings, request.protocol, to)
    goal = Request.of(to if isinstance(to, Protocol) else str(to), options)
    scorings = Scorings(key, response, request, CONLL if metrics is None else metrics)
    protocols = without_data_fields(request.protocol), without_data_fields(goal.protocol)
    return _explain_rules(scorings, protocols, (_name(base), _name(to)))


def _is_number(text: object) -> bool:
    """Whether this is a published number and no protocol."""
    if isinstance(text, str):
        return bool(re.fullmatch(r"\s*[+-]?[\d.]+%?\s*", text))
    return isinstance(text, int | float) and not isinstance(text, bool)


def _explain_rules(
    scorings: Scorings, protocols: tuple[Protocol, Protocol], names: tuple[str, str]
) -> Explanation:
    """The explanation, with groups of rules in place of corefud-scorer as a whole.

    They are measured beside the other choices of the second protocol; the last has what remains.
    """
    explanation = explain_difference(scorings, protocols, names)
    goal = protocols[1].but(rounding="none")
    names_of_steps = [step.choice for step in explanation.steps]
    if not goal.reads_itself or "emulate" not in names_of_steps:
        return explanation
    place = names_of_steps.index("emulate")
    remaining = explanation.steps[place].points
    *groups, last = scorings.split_emulation(goal).items()
    parts: list[Step] = []
    for rules, points in groups:
        parts.append(Step("emulate", "none", f"{goal.emulate}, {rules}", points))
        remaining = subtract(remaining, points, scorings.metrics)
    parts.append(Step("emulate", "none", f"{goal.emulate}, {last[0]}", remaining))
    active = [step for step in parts if any(abs(n or 0) > _TOLERANCE for n in step.points.values())]
    steps = (*explanation.steps[:place], *active, *explanation.steps[place + 1 :])
    quiet = (*explanation.quiet, *(step.change for step in parts if step not in active))
    return replace(explanation, steps=steps, quiet=quiet, number=scorings.number)


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
        choices = plural(len(self.choices), "choice")
        return f"<ResultDifference of {' and '.join(self.names)}: {choices} differ>"


def explain_results(
    first: Result,
    second: Result,
    key: Input = None,
    response: Input = None,
    **options: Unpack[ScoreOptions],
) -> ResultDifference:
    """What differs between two results: their choices, their data and their numbers.

    Given the key and the response of both, it also says what each choice is worth. Raises a
    UsageError if they have no metric in common.

    >>> from corefeval import score
    >>> key = [["a", "b"], ["c"]]
    >>> results = [score(key, key, metrics="conll", protocol=name) for name in ("default", "e2e")]
    >>> explain_results(*results).choices["b3_singletons"]
    ('count', 'skip')
    >>> explain_results(*results, key, key).explanation
    <Explanation first → second: conll 100.00 → 88.89 by 1 choice>
    """
    for result in (first, second):
        check_type("explain_results", result, Result, "score(key, response) makes one")
    metrics = [metric for metric in first.metrics if metric in second.metrics]
    if not metrics:
        metric_lists = [", ".join(result.metrics) for result in (first, second)]
        raise UsageError(f"the results have no metric in common: {' against '.join(metric_lists)}")
    names = first.response or "first", second.response or "second"
    names = ("first", "second") if names[0] == names[1] else names
    explanation: Explanation | None = None
    remarks = [*_compare_data(first, second)]
    if key is not None and response is not None:
        scorings = Scorings(key, response, Request.of(None, options), metrics)
        protocols = without_data_fields(first.protocol), without_data_fields(second.protocol)
        explanation = _explain_rules(scorings, protocols, names)
        remarks += _check_saved(names[0], first, explanation.start.scores)
        remarks += _check_saved(names[1], second, explanation.goal.scores)
    return ResultDifference(
        names=names,
        signatures=(first.signature, second.signature),
        choices=first.protocol.differences(second.protocol),
        remarks=tuple(remarks),
        scores={metric: (first[metric].f1, second[metric].f1) for metric in metrics},
        titles={**second.titles, **first.titles},
        explanation=explanation,
    )


def _check_saved(name: str, result: Result, scores: Points) -> Iterator[str]:
    """A remark on the first metric for which the data does not give the saved number."""
    saved = {metric: result[metric].f1 for metric in scores}
    for metric, less in subtract(scores, saved, [*saved]).items():
        if less is not None and abs(less) > _TOLERANCE:
            now = f"{100 * (scores[metric] or 0):.2f}"
            yield (
                f"{name}: this key and response give {metric} {now}, not the saved "
                f"{100 * saved[metric]:.2f}: it was made from other data"
            )
            return


def _compare_data(first: Result, second: Result) -> Iterator[str]:
    """Remarks on what differs besides choices: keys, documents, versions."""
    if first.key_digest and second.key_digest and first.key_digest != second.key_digest:
        yield f"they were scored against different keys: {first.key} and {second.key}"
    first_documents, second_documents = ({*result.document_ids} for result in (first, second))
    if first_documents != second_documents:
        yield (
            "they are of different documents: "
            f"{len(first_documents - second_documents):,} only in the first, "
            f"{len(second_documents - first_documents):,} only in the second"
        )
    if first.version != second.version:
        yield f"they were saved by corefeval {first.version} and {second.version}"
    if first.tables == second.tables and first.protocol != second.protocol:
        yield "their counts are the same: only rates differ, if anything"


def measure_responses(
    key: Input, responses: Sequence[Input], request: Request, metrics: Metrics = CONLL
) -> Sensitivity:
    """How much the numbers of responses depend on each choice of a request's protocol.

    Raises a UsageError for unknown metrics, or a program that takes no choices of others, before
    anything is read.
    """
    parse_metrics(metrics)
    if request.protocol.emulate != "none":
        raise UsageError(
            f"{request.protocol.emulate} takes no choices of other programs: "
            "say what to compare it with: to=… / --to"
        )
    key_corpus = as_corpus(key, "key", request.key_reading)
    scored = [Scorings(key_corpus, response, request, metrics) for response in responses]
    return measure_choices(scored, request.protocol)


def _name(protocol: object) -> str:
    """What a protocol is called: its name, or the text that was given."""
    if protocol is None or protocol == Protocol():
        return "default"
    if isinstance(protocol, str):
        return protocol
    named = (name for name in NAMED if Protocol.parse(name) == protocol)
    return next(named, str(protocol))
