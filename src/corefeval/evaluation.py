"""Scoring: the one way through, from two inputs to a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np

from corefeval._version import __version__
from corefeval.alignment import Alignment, align
from corefeval.diagnostics import Notice, UndefinedMetricError, UsageError
from corefeval.features import Features
from corefeval.formats import read, read_ahead
from corefeval.live.spans import Spans, spans_reading, with_positions
from corefeval.matching import match_exactly
from corefeval.metrics import Metric, canonical, requested
from corefeval.metrics.metric import DEFAULT_PRESET, Request, split_list
from corefeval.model import Corpus, Document, corpus_from_entities
from corefeval.model.identity import mention_codes
from corefeval.pairing import (
    Duplicates,
    Pairing,
    Singletons,
    pair,
    without_duplicates,
    without_singletons,
)
from corefeval.results import Aggregate, CountTable, Result, Slices
from corefeval.slicing import Cut, count_table, cuts, sliced

Input = object  # a path, a Corpus, what a system returned, or plain Python


def score(
    key: Input,
    response: Input,
    *,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_PRESET,
    singletons: Singletons = "keep",
    duplicates: Duplicates = "first",
    aggregate: Aggregate = "micro",
    documents: str | None = None,
    ignore_tokens: bool = False,
    encoding: str = "utf-8",
    key_format: str | None = None,
    response_format: str | None = None,
    spans: Spans = "auto",
    by: str | Iterable[str] = (),
    features: Mapping[str, object] | None = None,
    tagset: object = None,
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
    token positions; `auto` guesses, and a notice says what.

    `by` names features of documents, entities or mentions (`genre`, `entity_class`, `kind`) and
    gives a result for each of their values in `result.slices`. `features` states features itself:
    for each name a mapping from mentions to values (with several documents, from document ids to
    such mappings), or a function of a mention. `tagset` ("penn", "upos", "stts", or your own) says
    what tags mean, where they do not tell by themselves.

    >>> result = score([["a", "b", "c"]], [["a", "b"], ["c"]], metrics="muc, b3")
    >>> result["muc"].recall, result["b3"].precision
    (0.5, 1.0)
    >>> kinds = {"kind": {"Ada": "name", "she": "pronoun", "her": "pronoun"}}
    >>> score([["Ada", "she", "her"]], [["she", "her"]], metrics="lmuc", features=kinds)["lmuc"]
    <lmuc: recall=0.2500, precision=1.0000, f1=0.4000>
    """
    for name, value, choices in (
        ("singletons", singletons, Singletons),
        ("duplicates", duplicates, Duplicates),
        ("aggregate", aggregate, Aggregate),
        ("spans", spans, Spans),
    ):
        if value not in get_args(choices):
            raise UsageError(f"{name} is one of {', '.join(get_args(choices))}, not {value!r}")
    wanted = requested(metrics)
    key_corpus, response_corpus = read_ahead(
        (
            partial(as_corpus, key, "key", format=key_format, encoding=encoding),
            partial(as_corpus, response, "response", format=response_format, encoding=encoding),
        )
    )
    pairing = pair(key_corpus, response_corpus, documents=documents, ignore_tokens=ignore_tokens)
    pairing, reading = positioned(pairing, spans)
    known = partial(Features, given=features, tagset=tagset)
    alignment, notices = aligned(
        pairing, duplicates=duplicates, singletons=singletons, features=known
    )
    tables, skipped = _count(alignment, wanted)
    scored = [request.metric for request in wanted if str(request.metric) in tables]
    wanted_cuts = cuts(scored, split_list(by) if isinstance(by, str) else by)
    for cut in wanted_cuts:  # which tag set it took is part of the signature
        alignment.key.feature(cut.feature)
    settings = {"match": "exact", "singletons": singletons, "duplicates": duplicates}
    settings |= {"documents": documents} if documents is not None else {}
    settings |= {"tokens": "ignored"} if ignore_tokens else {}
    settings |= {"spans": reading} if reading is not None else {}
    settings |= {"features": ",".join(features)} if features else {}
    tags = getattr(alignment.key.feature, "tagset_name", None)
    settings |= {"tagset": tags} if tags else {}
    settings |= {"aggregate": aggregate, "version": __version__}
    result = Result(
        tables=tables,
        document_ids=tuple(map(str, pairing.key.documents)),
        settings=settings,
        aggregate=aggregate,
        key=pairing.key.name,
        response=pairing.response.name,
        notices=(
            *pairing.key.notices,
            *pairing.response.notices,
            *pairing.notices,
            *notices,
            *skipped,
        ),
        spell=canonical,
        titles={str(request.metric): request.metric.title for request in wanted},
    )
    return _with_slices(result, alignment, wanted_cuts)


def _with_slices(result: Result, alignment: Alignment, wanted: Sequence[Cut]) -> Result:
    """The result with its slices; what cannot be sliced is in the notices."""
    slices: dict[str, Slices] = {}
    notices: list[Notice] = []
    for cut in wanted:
        slices[cut.feature], said = sliced(result, alignment, cut)
        notices += said
    return replace(result, slices=slices, notices=(*result.notices, *notices))


def as_corpus(
    source: Input, name: str, *, format: str | None = None, encoding: str = "utf-8"
) -> Corpus:
    """A corpus from whatever stands for one."""
    if isinstance(source, Corpus):
        return source
    if isinstance(source, Document):
        return source.corpus.select_documents(np.array([source.index]))
    if isinstance(source, str | os.PathLike):
        return read(source, format=format, encoding=encoding)
    if isinstance(source, Iterator):
        source = list(source)
    # Only those who score Python objects pay for what recognises them.
    from corefeval.formats.json.loaded import corpus_from_records
    from corefeval.live import corpus_from_object

    for known in (corpus_from_object, corpus_from_records):
        corpus = known(source, name)
        if corpus is not None:
            return corpus
    return corpus_from_entities(source, name=name)


def positioned(pairing: Pairing, spans: Spans = "auto") -> tuple[Pairing, Spans | None]:
    """The pairing with token spans on both sides where one has plain spans, and how these end."""
    key, response = pairing.key, pairing.response
    if (key.labels is None) == (response.labels is None):
        return pairing, None
    plain, other = (response, key) if key.labels is None else (key, response)
    reading = spans_reading(plain, spans)
    if reading is None:
        return pairing, None
    plain = with_positions(plain, other, reading, guessed=spans == "auto")
    key, response = (other, plain) if key.labels is None else (plain, other)
    return replace(pairing, key=key, response=response), reading if plain.n_mentions else None


def aligned(
    pairing: Pairing,
    *,
    duplicates: Duplicates = "first",
    singletons: Singletons = "keep",
    features: Callable[..., Features] = Features,
) -> tuple[Alignment, list[Notice]]:
    """Apply the policies for repeated mentions and singletons, and match mentions."""
    sides = []
    notices: list[Notice] = []
    for corpus, codes in zip(
        (pairing.key, pairing.response),
        mention_codes(pairing.key, pairing.response),
        strict=True,
    ):
        corpus, codes, dropped = without_duplicates(corpus, codes, duplicates)
        notices += dropped
        if singletons == "drop":
            corpus, codes, dropped = without_singletons(corpus, codes)
            notices += dropped
        sides.append((corpus, codes))
    (key, key_codes), (response, response_codes) = sides
    rows = match_exactly(key_codes, response_codes)
    known = features(key, texts=(key, response)), features(response, texts=(key, response))
    return align(key, response, rows, known), notices


def _count(
    alignment: Alignment, wanted: list[Request]
) -> tuple[dict[str, CountTable], list[Notice]]:
    """Every metric's counts; a preset skips what the data cannot define, a name insists on it."""
    tables: dict[str, CountTable] = {}
    skipped: list[Notice] = []
    for request in wanted:
        metric = request.metric
        try:
            if metric.by is not None:
                alignment.key.feature(metric.by)
            tables[str(metric)] = count_table(metric, alignment)
        except UndefinedMetricError as error:
            if request.by_name:
                raise
            skipped.append(Notice("skipped-metric", f"{metric} was skipped: {error}"))
    return tables, skipped
