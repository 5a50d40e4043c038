"""The report: one HTML file that shows where the points went."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

from corefeval.analysis.errors import ErrorAnalysis, analyse_prepared, judge_alike
from corefeval.checks import check_choice, split_list
from corefeval.diagnostics import Notice, UndefinedMetricError, UsageError
from corefeval.display import distinct_names
from corefeval.evaluation import count, prepare_nearest
from corefeval.features import canonical_feature, shows_words
from corefeval.metrics import DEFAULT_PRESET, Metrics
from corefeval.model import Corpus, Document
from corefeval.preparation import Prepared, as_corpus
from corefeval.protocol import STEPS, Protocol
from corefeval.reports.page import Report, check_library
from corefeval.reports.payload import Scored, collect_notices, describe_choices, make_payload
from corefeval.request import Input, Request, Sampling, ScoreOptions, Stated

__all__ = ["DEFAULT_FEATURES", "Report", "report"]

DEFAULT_FEATURES = (
    "genre",
    "kind",
    "entity_class",
    "size",
    "distance(sentences, 0, 1, 2-5, 6+)",
    "nested",
)


def report(
    key: Input,
    responses: Input,
    *,
    metrics: Metrics = DEFAULT_PRESET,
    by: str | Iterable[str] = DEFAULT_FEATURES,
    text: bool = True,
    title: str | None = None,
    ci: float | None = 0.95,
    samples: int = 1000,
    seed: int = 0,
    protocol: Protocol | str | None = None,
    features: Stated = None,
    explain: bool = False,
    sort: Literal["score", "given"] = "given",
    **options: Unpack[ScoreOptions],
) -> Report:
    """Make a report on one or more responses: `report(key, responses).save("report.html")`.

    `responses` is a path or a `Corpus`, a list of responses, or a mapping from the names that the
    report shows to responses; plain Python entities go into such a list or mapping. Other options
    are those of `score`; with several ways to match mentions (`match="exact, head"`) each response
    is there once for each. Features in `by` that the data lack are left out, with a notice. `ci` is
    the level of the intervals, or None. With `text=False` there are no words of the corpus. With
    `explain` there is what each choice of a scorer is worth, after some forty scorings. Responses
    are in the given order, or the best first (`sort="score"`), by CoNLL or else the first metric.

    >>> report([["Ada", "she"], ["it"]], {"mine": [["Ada", "she", "it"]]}, metrics="b3")
    <Report of 1 document, 1 response>
    """
    check_library()
    scoring: dict[str, Any] = {"metrics": metrics, "by": by, "features": features}
    requests = _make_requests(protocol, options, sampling=Sampling(ci, samples, seed), **scoring)
    check_choice("sort", sort, ("score", "given"))
    feature_names = [canonical_feature(name) for name in requests[0].by]
    key_corpus = as_corpus(key, "key", requests[0].key_reading)
    sides = list(_read_responses(responses, key_corpus, requests))
    shown = [name for name in feature_names if text or not shows_words(name)]
    scored = _score_responses(key_corpus, sides, shown)
    scored = _sort_responses(scored, len(requests)) if sort == "score" else scored
    title = title or _base_name(key_corpus.name) or "key"
    page = make_payload(scored, text=text, title=title, seed=seed)
    if explain:
        page["choices"] = _explain_choices(key_corpus, sides, requests[0])
    return Report(page, _list_notices(scored, [n for n in feature_names if n not in shown]))


def _read_responses(
    responses: Input, key: Corpus, requests: Sequence[Request]
) -> Iterator[tuple[Corpus, Request]]:
    """Each response for each way to match mentions, by the name that the report shows."""
    for name, source in _name_responses(responses).items():
        corpus = as_corpus(source, name, requests[0].response_reading, key=key)
        for request in requests:
            shown = f"{name} ({request.protocol.match})" if len(requests) > 1 else name
            yield replace(corpus, name=shown), request


def _score_responses(
    key: Corpus, sides: Sequence[tuple[Corpus, Request]], features: Sequence[str]
) -> list[Scored]:
    """Scores and errors of each response, with spans judged alike in all of them."""
    prepared = [prepare_nearest(key, corpus, request) for corpus, request in sides]
    request = sides[0][1]
    analyses = judge_alike(
        [analyse_prepared(preparation, request.metrics) for preparation in prepared]
    )
    return [
        _score(preparation, analysis, request, features)
        for preparation, analysis in zip(prepared, analyses, strict=True)
    ]


def _sort_responses(scored: Sequence[Scored], n_matches: int) -> list[Scored]:
    """The best response first, each with all the ways in which it was matched."""
    groups = [scored[at : at + n_matches] for at in range(0, len(scored), n_matches)]
    metrics = [name for name in scored[0].result.metrics if name != "mentions"] or ["mentions"]
    headline = "conll" if "conll" in metrics else metrics[0]
    groups.sort(key=lambda group: -group[0].result[headline].rates.get("f1", 0.0))
    return [response for group in groups for response in group]


def _make_requests(
    protocol: Protocol | str | None, options: Mapping[str, Any], **wishes: Any
) -> list[Request]:
    """A request for each of the ways to match mentions."""
    matches = dict.fromkeys(split_list(str(options.get("match") or "")))
    each = [{**options, "match": match} for match in matches] if len(matches) > 1 else [options]
    steps = (*STEPS, "errors")
    return [Request.of(protocol, chosen, **wishes, steps=steps, nearest=True) for chosen in each]


def _explain_choices(
    key: Corpus, sides: Sequence[tuple[Corpus, Request]], first_request: Request
) -> dict[str, Any]:
    """What each choice of a scorer is worth, for each response matched in the first way."""
    # Other reports do not pay for importing what other programs do.
    from corefeval.analysis.explanation import measure_responses

    corpora = [corpus for corpus, request in sides if request is first_request]
    return describe_choices(measure_responses(key, corpora, first_request))


def _list_notices(scored: Sequence[Scored], hidden: Sequence[str]) -> tuple[Notice, ...]:
    """What was dropped, repaired or left out, and why there are no tests, each once."""
    notices = [notice for response in scored for notice in collect_notices(response)]
    notices += [
        Notice("skipped-slices", f"no slices by {feature}: they would show words of the text")
        for feature in hidden
    ]
    if len(scored) > 1 and len(scored[0].result.document_ids) == 1:
        message = "on a single document nothing is tested here; `corefeval compare` tests "
        notices.append(Notice("no-tests", message + "differences on its segments"))
    return tuple({str(notice): notice for notice in notices}.values())


def _score(
    prepared: Prepared, analysis: ErrorAnalysis, request: Request, by: Sequence[str]
) -> Scored:
    """One response's scores and errors, from one preparation."""
    sampling = request.sampling
    features, notices = _find_features(prepared, by)
    if len(prepared.document_ids) == 1 and sampling.ci is not None:
        # Those of its segments do not belong beside the scores of the whole.
        sampling = replace(sampling, ci=None)
        message = "a single document has no intervals here; `corefeval score --ci` has those of "
        notices.append(Notice("no-interval", message + "its segments"))
    result = count(prepared, request.metrics, by=features, sampling=sampling)
    protocol = result.protocol.but(wrong_spans=analysis.result.protocol.wrong_spans)
    result = replace(result, protocol=protocol, notices=(*result.notices, *notices))
    return Scored(prepared.response.name, result, analysis)


def _find_features(prepared: Prepared, by: Sequence[str]) -> tuple[list[str], list[Notice]]:
    """The features that both sides have, and a notice on those that they do not."""
    available, notices = [], []
    for feature in by:
        try:
            prepared.key_features(feature)
            prepared.response_features(feature)
        except UndefinedMetricError as error:
            why = str(error).splitlines()[0]
            notices.append(Notice("skipped-slices", f"no slices by {feature}: {why}"))
        else:
            available.append(feature)
    return available, notices


def _name_responses(responses: Input) -> dict[str, Input]:
    """The responses by the names that the report shows."""
    if isinstance(responses, Mapping):
        named = {str(name): source for name, source in responses.items()}
        if not named:
            raise UsageError("there is no response to report on")
        return named
    single = isinstance(responses, str | os.PathLike | Corpus | Document)
    if not single and not isinstance(responses, Iterable):
        raise UsageError(
            f"responses are paths, corpora, or a mapping from names to them, not {responses!r}"
        )
    sources: list[Input] = [responses] if single else list(responses)  # type: ignore[call-overload]
    if not sources:
        raise UsageError("there is no response to report on")
    names = distinct_names(
        [_name_source(source, number) for number, source in enumerate(sources, 1)]
    )
    return dict(zip(names, sources, strict=True))


def _name_source(source: Input, number: int) -> str:
    if isinstance(source, str | os.PathLike):
        return _base_name(os.fspath(source)) or str(source)
    if isinstance(source, Corpus) and source.name:
        return _base_name(source.name)
    return f"response {number}"


def _base_name(path: str) -> str:
    return os.path.basename(path.rstrip("/\\")) if "://" not in path else path
