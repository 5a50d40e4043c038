"""What can be tested against what: results of the same documents, and arguments in range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any, TypeGuard

from corefeval.diagnostics import UsageError, excerpt, plural
from corefeval.display import distinct_names
from corefeval.results import Result
from corefeval.syntax import split_list

# How the mentions of one response were read says nothing about how they were scored, nor do
# intervals; a version may differ where results were kept for years.
_OWN_FIELDS = ("spans", "ci")


def name_results(results: Iterable[Result] | Mapping[str, Result]) -> dict[str, Result]:
    """Results by the name of their response; a name that comes again gets a number."""
    if isinstance(results, Mapping) and not _is_result(results):
        return dict(results)
    several: list[Any] = [] if _is_result(results) else list(results)
    if not several or not all(map(_is_result, several)):
        raise UsageError(f"a list of results or a mapping of them is needed, not {results!r:.60}")
    names = distinct_names([result.response or "response" for result in several])
    return dict(zip(names, several, strict=True))


def _is_result(value: object) -> TypeGuard[Result]:
    return isinstance(value, Result)


def name_pair(
    first: Result, second: Result, names: tuple[str, str] | None = None
) -> dict[str, Result]:
    """Two results by their names, or by those of their responses."""
    return name_results((first, second) if names is None else {names[0]: first, names[1]: second})


def unit_of(result: Result) -> str:
    """What the documents of a result are: documents, or segments of one."""
    return "segment" if result.whole_rates else "document"


def check_documents(result: Result) -> None:
    """At least two documents: one alone cannot vary."""
    if len(result.document_ids) < 2:
        raise UsageError(
            "tests and intervals are over documents, and this result has "
            f"{plural(len(result.document_ids), 'document')}: compare the responses themselves "
            "with the key, which is then cut into segments, or results that `compare` saved"
        )


def check_comparable(results: Mapping[str, Result]) -> None:
    """The same documents in the same order, scored alike."""
    if len(results) < 2:
        raise UsageError(f"a comparison needs two results at least, not {len(results)}")
    (first, reference), *others = results.items()
    for name, result in others:
        _check_same_documents(first, reference, name, result)
        _check_same_settings(first, reference, name, result)
        if "" not in (keys := {reference.key_digest, result.key_digest}) and len(keys) > 1:
            raise UsageError(
                f"{first} and {name} were scored against different keys "
                f"({reference.key}, {result.key}): only results with one key can be compared"
            )
    check_documents(reference)


def _check_same_documents(first: str, reference: Result, name: str, result: Result) -> None:
    if reference.document_ids == result.document_ids:
        return
    index, (left, right) = next(
        (index, pair)
        for index, pair in enumerate(zip_longest(reference.document_ids, result.document_ids))
        if pair[0] != pair[1]
    )
    left, right = (excerpt(side) if side is not None else "nothing" for side in (left, right))
    raise UsageError(
        f"only results of the same documents can be compared: document {index + 1} is {left} "
        f"in {first} ({len(reference.document_ids):,} in all) and {right} in {name} "
        f"({len(result.document_ids):,} in all); score both against the same key"
    )


def _check_same_settings(first: str, reference: Result, name: str, result: Result) -> None:
    for choice, (mine, theirs) in reference.protocol.differences(result.protocol).items():
        # Tags are looked at only where a metric or a slice needs them.
        if choice in _OWN_FIELDS or (choice == "tagset" and "auto" in (mine, theirs)):
            continue
        raise UsageError(
            f"only results that were scored alike can be compared: {choice} is {mine} for {first} "
            f"and {theirs} for {name}"
        )


def choose_metrics(
    results: Mapping[str, Result], metrics: Iterable[object] | None, *, rate: str | None = None
) -> list[str]:
    """The metrics to look at: those that were asked for, or those that all results have.

    They have the rate, where one is given: the CoNLL average, say, has no recall. One that was
    asked for and does not have it is an error; others are left out.
    """
    first, *others = results.values()
    if metrics is None:
        names = [m for m in first.metrics if all(m in other.tables for other in others)]
        names = [m for m in names if rate is None or rate in first.scores[m].rates]
        if not names:
            what = "metric" if rate is None else f"metric with the rate {rate!r}"
            raise UsageError(f"the results have no {what} in common")
        return names
    if isinstance(metrics, str):
        metrics = split_list(metrics)
    names = list(dict.fromkeys(first[metric].metric for metric in metrics))
    for name in names:
        for result in results.values():
            rates = result[name].rates
            if rate is not None and rate not in rates:
                raise UsageError(f"{name} has no {rate}, only {', '.join(rates)}")
    if not names:
        raise UsageError("no metric was chosen")
    return names
