"""Scoring: the one way through, from two inputs to a result."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from corefeval.alignment import Alignment, FeatureLookup, align
from corefeval.diagnostics import Notice, UndefinedMetricError, UsageError, plural
from corefeval.features.later import LaterFeatures
from corefeval.live.spans import Spans
from corefeval.matching import match_exactly
from corefeval.metrics import Metric, canonical, requested
from corefeval.metrics.metric import DEFAULT_PRESET, Request
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories
from corefeval.model.digest import digest
from corefeval.model.identity import mention_codes
from corefeval.pairing import (
    Duplicates,
    Singletons,
    segment_notice,
    segmented,
    without_singletons,
)
from corefeval.pairing.segments import LEAST
from corefeval.preparation import Input, Stated, as_corpus, prepared
from corefeval.results import Aggregate, CountTable, Result, Slices
from corefeval.results import load_all as load_saved
from corefeval.slicing import Cut, count_table, cuts, own_feature, sliced
from corefeval.syntax import split_list

if TYPE_CHECKING:
    from corefeval.stats import Comparison, Correction, Test

COMPARED = "muc, b3, ceafe, conll, lea"

Metrics = str | Metric | Iterable[str | Metric]


def score(
    key: Input,
    response: Input,
    *,
    metrics: Metrics = DEFAULT_PRESET,
    singletons: Singletons = "keep",
    duplicates: Duplicates = "first",
    aggregate: Aggregate = "micro",
    documents: str | None = None,
    ignore_tokens: bool = False,
    encoding: str = "utf-8",
    word_column: int | None = None,
    key_format: str | None = None,
    response_format: str | None = None,
    spans: Spans = "auto",
    by: str | Iterable[str] = (),
    features: Stated = None,
    tagset: object = None,
    ci: float | None = None,
    samples: int = 1000,
    seed: int = 0,
    segments: int = 20,
    as_segments: bool = False,
) -> Result:
    """Score a response against a key.

    Both sides take a path, a `Corpus`, or plain Python: a list of entities, each a list of
    hashable mentions in textual order, is one document; a mapping from document ids to such
    lists is a corpus. So are spaCy and stanza documents, fastcoref results and Maverick
    dictionaries: one, a list of them, or a mapping from document ids to them.

    `metrics` are names with parameters in parentheses, `Metric` values, or presets (`standard`,
    `papers`, `all`). `singletons` ("keep" or "drop"): whether entities of one mention take part, on
    both sides. `duplicates` ("first", "last" or "error"): which of repeated mentions stays.
    `aggregate` ("micro" or "macro"): rates of summed counts, or means over documents. `documents`
    is a glob of document ids; `ignore_tokens` allows the texts to differ. `spans` ("auto",
    "inclusive" or "exclusive") says how plain mentions `(start, end)` end, where the other side has
    token positions; `auto` guesses, and a notice says what. `word_column` is the column of the
    words in CoNLL files, counted from 1, if it is not to be told by what is in it.

    `by` names features of documents, entities or mentions (`genre`, `entity_class`, `kind`) and
    gives a result for each of their values in `result.slices`. `features` states features itself:
    for each name a mapping from mentions to values (with several documents, from document ids to
    such mappings), or a function of a mention; or it is a file that states them (`kinds.tsv`).
    `tagset` ("penn", "upos", "stts", or your own) says what tags mean, where they do not tell by
    themselves.

    `ci` is the level of intervals (.95) for every rate, metric and slice, from a bootstrap over
    documents of `samples` samples: `result["muc"].intervals["f1"]`. A single document is cut into
    about `segments` runs of sentences, which are resampled instead; a notice says so. With
    `as_segments` the result of a single document is that of its segments, each a document of its
    own, so that it can be compared with others.

    >>> result = score([["a", "b", "c"]], [["a", "b"], ["c"]], metrics="muc, b3")
    >>> result["muc"].recall, result["b3"].precision
    (0.5, 1.0)
    >>> kinds = {"kind": {"Ada": "name", "she": "pronoun", "her": "pronoun"}}
    >>> score([["Ada", "she", "her"]], [["she", "her"]], metrics="lmuc", features=kinds)["lmuc"]
    <lmuc: recall=0.2500, precision=1.0000, f1=0.4000>
    """
    wanted = requested(metrics)
    blank, alignment = prepared(
        key,
        response,
        singletons=singletons,
        duplicates=duplicates,
        aggregate=aggregate,
        documents=documents,
        ignore_tokens=ignore_tokens,
        encoding=encoding,
        word_column=word_column,
        key_format=key_format,
        response_format=response_format,
        spans=spans,
        features=features,
        tagset=tagset,
    )
    recipe = _Recipe(wanted, _feature_names(by))
    result = recipe.filled(blank, alignment)
    if as_segments and len(result.document_ids) == 1:
        found, said = _segments(result, alignment, recipe, segments, singletons)
        result = _of_segments(result, found, said)
    if ci is None:
        return result
    from corefeval.stats.confidence import with_intervals

    found, said = _segments(result, alignment, recipe, segments, singletons)
    result = replace(result, notices=(*result.notices, *said))
    return with_intervals(result, level=ci, samples=samples, seed=seed, segments=found)


def _of_segments(result: Result, found: Result | None, said: Sequence[Notice]) -> Result:
    """The segments' result in place of the document's, and what to say of it."""
    if found is None:
        return replace(result, notices=(*result.notices, *said))
    number = len(found.document_ids)
    message = f"{result.document_ids[0]}: one document alone cannot be tested; tests are on "
    message += f"{plural(number, 'segment')} of it, each a document of its own, which do not see "
    message += "what is split or merged over long distances"
    notices = (*result.notices, Notice("segments", message, number))
    last = {name: found.settings[name] for name in ("aggregate", "version")}
    settings = {name: value for name, value in found.settings.items() if name not in last}
    return replace(
        found,
        settings={**settings, "segments": str(number), **last},
        notices=notices,
        whole_rates={metric: dict(one.rates) for metric, one in result.scores.items()},
    )


def counted(blank: Result, alignment: Alignment, metrics: Metrics) -> Result:
    """The result of some metrics on what was prepared."""
    return _Recipe(requested(metrics), ()).filled(blank, alignment)


def _feature_names(by: object) -> tuple[str, ...]:
    """The features that scores are asked for by."""
    names = split_list(by) if isinstance(by, str) else by
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise UsageError(f"by is a list of features, not {by!r:.60}")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise UsageError(f"a feature is written as text, not {name!r:.60}")
    return found


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What is counted, and what it is sliced by."""

    wanted: list[Request]
    by: Sequence[str]

    def filled(self, blank: Result, alignment: Alignment) -> Result:
        """The result with the counts of an alignment, sliced."""
        tables, skipped = _count(alignment, self.wanted, self.by)
        scored = [request.metric for request in self.wanted if str(request.metric) in tables]
        wanted = cuts(scored, self.by)
        for cut in wanted:  # which tag set it took is part of the signature
            alignment.key.feature(cut.feature)
        settings = dict(blank.settings)
        if tags := getattr(alignment.key.feature, "tagset_name", None):
            last = {name: settings.pop(name) for name in ("aggregate", "version")}
            settings |= {"tagset": tags, **last}
        notices = (*blank.notices, *skipped)
        titles = {str(request.metric): request.metric.title for request in self.wanted}
        result = replace(blank, tables=tables, settings=settings, notices=notices, titles=titles)
        result = _with_slices(result, alignment, wanted)
        return replace(result, notices=(*result.notices, *feature_notices(alignment)))


def feature_notices(alignment: Alignment) -> list[Notice]:
    """What was guessed for features of either side that were asked for so far."""
    sides = (alignment.key, alignment.response)
    return [notice for side in sides for notice in getattr(side.feature, "notices", ())]


def _segments(
    result: Result, alignment: Alignment, recipe: _Recipe, number: int, singletons: Singletons
) -> tuple[Result | None, list[Notice]]:
    """The result of the segments of a single document, where there is but one; and what to say."""
    if isinstance(number, bool) or not isinstance(number, int) or number < LEAST:
        raise UsageError(f"segments is a whole number from {LEAST}, not {number!r}")
    if len(result.document_ids) != 1:
        return None, []
    sides = [cast("LaterFeatures", side.feature) for side in (alignment.key, alignment.response)]
    cut = segmented(sides[0].corpus, sides[1].corpus, number)
    if isinstance(cut, Notice):
        return None, [cut]
    corpora = [cut.key, cut.response]
    codes = list(mention_codes(cut.key, cut.response))
    lookups: list[FeatureLookup] = list(sides)
    if singletons == "drop":  # of an entity that runs on, a segment may have one mention
        for index, corpus in enumerate(corpora):
            kept = np.flatnonzero(corpus.entity_sizes[corpus.mention_entity] > 1)
            corpora[index], codes[index], _ = without_singletons(corpus, codes[index])
            lookups[index] = partial(_taken, sides[index], kept)
    rows = match_exactly(codes[0], codes[1])
    parts = align(corpora[0], corpora[1], rows, (lookups[0], lookups[1]))
    blank = replace(result, document_ids=tuple(map(str, cut.key.documents)), notices=())
    # What a preset skipped for the whole document is not there for its segments either.
    wanted = [one for one in recipe.wanted if str(one.metric) in result.tables]
    name = result.document_ids[0]
    return replace(recipe, wanted=wanted).filled(blank, parts), [segment_notice(len(cut), name)]


def _taken(features: FeatureLookup, rows: IntArray, feature: str) -> Categories:
    return features(feature).take(rows)


def _with_slices(result: Result, alignment: Alignment, wanted: Sequence[Cut]) -> Result:
    """The result with its slices; what cannot be sliced is in the notices."""
    slices: dict[str, Slices] = {}
    notices: list[Notice] = []
    for cut in wanted:
        slices[cut.feature], said = sliced(result, alignment, cut)
        notices += said
    return replace(result, slices=slices, notices=(*result.notices, *notices))


def compare(
    key: Input,
    responses: Mapping[str, Input] | Sequence[Input],
    *,
    metrics: Metrics = COMPARED,
    test: Test = "randomization",
    trials: int = 10_000,
    seed: int = 0,
    correction: Correction = "holm",
    alpha: float = 0.05,
    rate: str = "f1",
    baseline: str | None = None,
    **options: Any,
) -> Comparison:
    """Score several responses against a key, and compare each with each.

    `responses` may be a mapping, which names them, and may have results among them (of `score`, or
    from `load`); with nothing but results the key may be None. A single document is compared by its
    segments. `options` are those of `score`; the
    others are those of `stats.compare`.

    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> full, half = (dict.fromkeys(key, [list(side)]) for side in ("abc", "ab"))
    >>> compared = compare(key, {"full": full, "half": half}, metrics="muc")
    >>> compared.is_better("muc", "full", "half")
    True
    """
    from corefeval.stats.comparison import compare as compare_results

    if isinstance(responses, str | os.PathLike) or not isinstance(responses, Iterable):
        raise UsageError(f"a comparison needs two responses at least, not only {responses!r:.60}")
    reading = {name: options[name] for name in ("encoding", "word_column") if name in options}
    key_format = options.pop("key_format", None)
    corpus = None if key is None else as_corpus(key, "key", format=key_format, **reading)

    def scored(response: Input) -> Result:
        if not isinstance(response, Result):
            if corpus is None:
                raise UsageError("responses that are no results need a key")
            return score(corpus, response, metrics=metrics, as_segments=True, **options)
        if corpus is not None:
            check_key(response, corpus)
        return response

    systems: dict[str, Result] | list[Result]
    if isinstance(responses, Mapping):
        systems = {name: scored(response) for name, response in responses.items()}
        results = list(systems.values())
    else:
        systems = results = [scored(response) for response in responses]
    common = [
        name
        for name in (str(request.metric) for request in requested(metrics))
        if all(name in result.tables for result in results)
    ]
    return compare_results(
        systems,
        metrics=common or None,
        rate=rate,
        test=test,
        trials=trials,
        seed=seed,
        correction=correction,
        alpha=alpha,
        baseline=baseline,
    )


def check_key(result: Result, key: Corpus) -> None:
    """An error where a result was scored against another key than this one."""
    if result.key_digest and result.key_digest != digest(key):
        raise UsageError(
            f"{result.response} was scored against another key ({result.key}), whose entities are "
            f"not those of {key.name or 'this key'}"
        )


def load(path: str | os.PathLike[str]) -> Result:
    """The result in a file that `result.save` or `--save` wrote."""
    results = load_all(path)
    if len(results) != 1:
        raise UsageError(f"{os.fspath(path)} has {len(results)} results: use load_all")
    return results[0]


def load_all(path: str | os.PathLike[str]) -> list[Result]:
    """All results in a file that `--save` wrote."""
    return load_saved(path, spell=canonical)


def _count(
    alignment: Alignment, wanted: list[Request], by: Sequence[str]
) -> tuple[dict[str, CountTable], list[Notice]]:
    """Every metric's counts; a preset skips what the data cannot define, a name insists on it."""
    tables: dict[str, CountTable] = {}
    skipped: dict[str, list[str]] = {}
    for request in wanted:
        metric = request.metric
        own = own_feature(metric, by)
        try:
            for side in (alignment.key, alignment.response) if own else ():
                side.feature(own or "")
            tables[str(metric)] = replace(count_table(metric, alignment), by=own)
        except UndefinedMetricError as error:
            if request.by_name:
                raise
            skipped.setdefault(str(error), []).append(str(metric))
    return tables, [
        Notice("skipped-metric", f"skipped: {', '.join(metrics)}: {why}", len(metrics), (*metrics,))
        for why, metrics in skipped.items()
    ]
