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
from corefeval.evaluation import Method, Metrics, Sampling, count
from corefeval.features import canonical_feature, shows_words
from corefeval.metrics import DEFAULT_PRESET
from corefeval.model import Corpus, Document
from corefeval.preparation import Input, Options, Plan, Prepared, Stated, plan, prepare_corpora
from corefeval.protocol import STEPS, Protocol
from corefeval.reports.page import Report, check_library
from corefeval.reports.payload import Scored, collect_notices, describe_choices, make_payload

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
    **options: Unpack[Options],
) -> Report:
    """Make a report on one or more responses: `report(key, responses).save("report.html")`.

    `responses` is a path or a `Corpus`, a list of responses, or a mapping from the names that the
    report shows to responses; plain Python entities go into such a list or mapping. Other options
    are those of `score`; with several ways to match mentions (`match="exact, head"`) each response
    is there once for each, to switch between. Features in `by` that the data do not have are left
    out, and the report says so. `ci` is the level of the intervals (None: no intervals). With
    `text=False` the report has no words of the corpus in it, for texts that may not be shared:
    scores, errors and the shape of the annotation stay. With `explain` it also shows how much
    scores depend on the choices that scorers make, which takes the time of some forty scorings.
    Responses are shown in the given order, or the best first (`sort="score"`), by CoNLL or else by
    the first metric.

    >>> made = report([["Ada", "she"], ["it"]], {"mine": [["Ada", "she", "it"]]}, metrics="b3")
    >>> made
    <Report of 1 document, 1 response>
    """
    check_library()
    check_choice("sort", sort, ("score", "given"))
    plans = _make_plans(protocol, options, features)
    for match_plan in plans:
        match_plan.protocol.check_sound()
    methods = [
        Method.of(metrics, by, match_plan, Sampling(ci, samples, seed)) for match_plan in plans
    ]
    feature_names = [canonical_feature(name) for name in methods[0].by]
    key_corpus = plans[0].read(key, "key", is_key=True)
    shown_features = [name for name in feature_names if text or not shows_words(name)]
    left_out = [_explain_words(name) for name in feature_names if name not in shown_features]
    planned = [
        (corpus, match_plan)
        for name, source in _name_responses(responses).items()
        for corpus, match_plan in _name_matches(
            plans[0].read(source, name, key=key_corpus), name, plans
        )
    ]
    prepared = [prepare_corpora(key_corpus, corpus, match_plan) for corpus, match_plan in planned]
    scored = _score_responses(prepared, methods[0], shown_features)
    if sort == "score":
        scored = _sort_responses(scored, len(plans))
    name = title or _base_name(key_corpus.name) or "key"
    notices = {str(notice): notice for response in scored for notice in collect_notices(response)}
    left_out += _explain_tests(scored)
    notices |= {str(notice): notice for notice in left_out}
    page = make_payload(scored, text=text, title=name, seed=seed)
    if explain:
        # Other reports do not pay for importing what other programs do.
        from corefeval.analysis.explanation import measure_corpora

        corpora = [corpus for corpus, match_plan in planned if match_plan is plans[0]]
        page["choices"] = describe_choices(measure_corpora(key_corpus, corpora, plans[0]))
    return Report(page, tuple(notices.values()))


def _score_responses(
    prepared: Sequence[Prepared], method: Method, features: Sequence[str]
) -> list[Scored]:
    """Scores and errors of each response, with spans judged alike in all of them."""
    analyses = judge_alike(
        [analyse_prepared(preparation, method.metrics) for preparation in prepared]
    )
    return [
        _score(preparation, analysis, method.metrics, features, method.sampling)
        for preparation, analysis in zip(prepared, analyses, strict=True)
    ]


def _sort_responses(scored: Sequence[Scored], n_matches: int) -> list[Scored]:
    """The best response first, each with all the ways in which it was matched."""
    groups = [scored[at : at + n_matches] for at in range(0, len(scored), n_matches)]
    metrics = [name for name in scored[0].result.metrics if name != "mentions"] or ["mentions"]
    headline = "conll" if "conll" in metrics else metrics[0]
    groups.sort(key=lambda group: -group[0].result[headline].rates.get("f1", 0.0))
    return [response for group in groups for response in group]


def _make_plans(
    protocol: Protocol | str | None, options: Mapping[str, Any], features: Stated
) -> list[Plan]:
    """A plan for each of the ways to match mentions."""
    matches = dict.fromkeys(split_list(str(options.get("match") or "")))
    each = [{**options, "match": match} for match in matches] if len(matches) > 1 else [options]
    steps = (*STEPS, "errors")
    return [plan(protocol, match_options, features=features, steps=steps) for match_options in each]


def _name_matches(
    corpus: Corpus, name: str, plans: Sequence[Plan]
) -> Iterator[tuple[Corpus, Plan]]:
    """The response for each way to match mentions, by the name that the report shows."""
    for match_plan in plans:
        shown = f"{name} ({match_plan.protocol.match})" if len(plans) > 1 else name
        yield replace(corpus, name=shown), match_plan


def _explain_tests(scored: Sequence[Scored]) -> list[Notice]:
    if len(scored) < 2 or len(scored[0].result.document_ids) != 1:
        return []
    message = "on a single document nothing is tested here; `corefeval compare` tests differences "
    return [Notice("no-tests", message + "on its segments")]


def _explain_words(feature: str) -> Notice:
    return Notice("skipped-slices", f"no slices by {feature}: they would show words of the text")


def _score(
    prepared: Prepared,
    analysis: ErrorAnalysis,
    metrics: Metrics,
    by: Sequence[str],
    sampling: Sampling,
) -> Scored:
    """One response's scores and errors, from one preparation."""
    features, notices = _find_features(prepared, by)
    if len(prepared.document_ids) == 1 and sampling.ci is not None:
        # Those of its segments do not belong beside the scores of the whole.
        sampling = replace(sampling, ci=None)
        message = "a single document has no intervals here; `corefeval score --ci` has those of "
        notices.append(Notice("no-interval", message + "its segments"))
    result = count(prepared, metrics, by=features, sampling=sampling)
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
