"""Preparation: from two inputs to an alignment, and a result that nothing was counted for yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypedDict, get_args

import numpy as np

from corefeval._version import __version__
from corefeval.alignment import Alignment, align
from corefeval.checks import check_choice
from corefeval.diagnostics import Notice
from corefeval.features.later import LaterFeatures
from corefeval.formats import read, read_ahead
from corefeval.live.spans import Spans, spans_reading, with_positions
from corefeval.matching import match_exactly
from corefeval.metrics import canonical
from corefeval.model import Corpus, Document, corpus_from_entities
from corefeval.model.arrays import IntArray
from corefeval.model.digest import digest
from corefeval.model.identity import mention_codes
from corefeval.pairing import (
    Duplicates,
    Pairing,
    Singletons,
    mismatch_notices,
    pair,
    without_duplicates,
    without_singletons,
)
from corefeval.results import Aggregate, Result

Stated = Mapping[str, object] | str | os.PathLike[str] | None  # features, or a file of them
Input = object  # a path, a Corpus, what a system returned, or plain Python


class Options(TypedDict, total=False):
    """The options of `score` that decide what is counted on; others hand them on as they are."""

    singletons: Singletons
    duplicates: Duplicates
    documents: str | None
    ignore_tokens: bool
    encoding: str
    word_column: int | None
    key_format: str | None
    response_format: str | None
    spans: Spans
    features: Stated
    tagset: object


def prepared(
    key: Input,
    response: Input,
    *,
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
    features: Stated = None,
    tagset: object = None,
) -> tuple[Result, Alignment]:
    """A result without counts, and the alignment to count on; options are those of `score`."""
    for name, value, choices in (
        ("singletons", singletons, Singletons),
        ("duplicates", duplicates, Duplicates),
        ("aggregate", aggregate, Aggregate),
        ("spans", spans, Spans),
    ):
        check_choice(name, value, get_args(choices))
    corpus = partial(as_corpus, encoding=encoding, word_column=word_column)
    key_corpus, response_corpus = read_ahead(
        (
            partial(corpus, key, "key", format=key_format),
            partial(corpus, response, "response", format=response_format),
        )
    )
    pairing = pair(key_corpus, response_corpus, documents=documents, ignore_tokens=ignore_tokens)
    pairing, reading = positioned(pairing, spans)
    given, said = stated_features(features, pairing.key, pairing.response, encoding=encoding)
    known = partial(LaterFeatures, given=given, tagset=tagset)
    alignment, notices = aligned(
        pairing, duplicates=duplicates, singletons=singletons, features=known
    )
    settings = {"match": "exact", "singletons": singletons, "duplicates": duplicates}
    settings |= {"documents": documents} if documents is not None else {}
    settings |= {"tokens": "ignored"} if ignore_tokens else {}
    settings |= {"spans": reading} if reading is not None else {}
    settings |= {"features": ",".join(given)} if given else {}
    blank = Result(
        tables={},
        document_ids=tuple(map(str, pairing.key.documents)),
        settings={**settings, "aggregate": aggregate, "version": __version__},
        aggregate=aggregate,
        key=pairing.key.name,
        response=pairing.response.name,
        key_digest=digest(key_corpus),
        notices=(
            *pairing.key.notices,
            *pairing.response.notices,
            *pairing.notices,
            *notices,
            *said,
        ),
        spell=canonical,
    )
    return blank, alignment


def stated_features(
    features: Stated, key: Corpus, response: Corpus | None = None, *, encoding: str = "utf-8"
) -> tuple[Mapping[str, object] | None, list[Notice]]:
    """The features that a mapping or a file states, and what a file leaves out or has too much."""
    if features is None or not isinstance(features, str | os.PathLike):
        return features, []
    from corefeval.features.given import CHOICES, file_coverage
    from corefeval.formats.feature_table import read_features

    given = read_features(features, encoding=encoding, choices=CHOICES)
    return given, file_coverage(os.fspath(features), given, key, response)


def as_corpus(
    source: Input,
    name: str,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
) -> Corpus:
    """A corpus from whatever stands for one."""
    if isinstance(source, Corpus):
        return source
    if isinstance(source, Document):
        return source.corpus.select_documents(np.array([source.index]))
    if isinstance(source, str | os.PathLike):
        return read(source, format=format, encoding=encoding, word_column=word_column)
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
    said = plain.n_mentions or spans != "auto"  # nothing was guessed from no spans
    return replace(pairing, key=key, response=response), reading if said else None


def aligned(
    pairing: Pairing,
    *,
    duplicates: Duplicates = "first",
    singletons: Singletons = "keep",
    features: Callable[..., LaterFeatures] = LaterFeatures,
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
    if rows is not None:
        notices += mismatch_notices(key, response, rows[0])
    texts = key, response
    of_key = features(key, texts=texts)
    of_response = features(response, texts=texts, twins=(of_key, _twins(response, rows)))
    return align(key, response, rows, (of_key, of_response)), notices


def _twins(response: Corpus, rows: tuple[IntArray, IntArray] | None) -> IntArray:
    """The key's row for each mention of the response; −1 for one that the key lacks."""
    if rows is None:
        return np.arange(response.n_mentions)
    twins = np.full(response.n_mentions, -1, dtype=np.int64)
    twins[rows[1]] = rows[0]
    return twins
