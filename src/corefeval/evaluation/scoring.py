"""Scoring: the one way through, from two inputs to a result."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, cast

from corefeval.diagnostics import KeyNeededError, Notice, UsageError
from corefeval.evaluation.counting import count, with_intervals
from corefeval.metrics import DEFAULT_PRESET, Metrics
from corefeval.pieces import Cutting, Progress, as_file
from corefeval.preparation import as_corpus, prepare_inputs
from corefeval.protocol import Protocol
from corefeval.request import (
    SEGMENTS,
    Input,
    Options,
    Request,
    Sampling,
    Stated,
    name_accident,
)
from corefeval.results import Result

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from corefeval.emulation.corefud_brackets import CorefudText
    from corefeval.model import Corpus


def score(
    key: Input,
    response: Input,
    *,
    metrics: Metrics = DEFAULT_PRESET,
    by: str | Iterable[str] = (),
    protocol: Protocol | str | None = None,
    features: Stated = None,
    ci: float | None = None,
    samples: int = 1000,
    seed: int = 0,
    segments: int = SEGMENTS,
    as_segments: bool = False,
    piece_size: int | str | None = None,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Result:
    """Score a response against a key.

    Both sides take a path, a `Corpus`, or plain Python: a list of entities, each a list of
    hashable mentions in textual order, is one document; a mapping from document ids to such
    lists is a corpus. So are spaCy and stanza documents, fastcoref results and Maverick
    dictionaries: one, a list of them, or a mapping from document ids to them.

    `metrics` are names with parameters in parentheses, `Metric` values, or presets (`standard`,
    `papers`, `anaphora`, `all`). `by` names features of documents, entities or mentions (`genre`,
    `entity_class`, `kind`), crossed or not (`genre*kind`), and gives a result for each of their
    values in `result.slices`.

    `protocol` says how to score: a name, a `Protocol`, or a signature that was printed under a
    number. Every choice of it is also an option, which overrides it: `singletons="drop"`,
    `duplicates="error"`, `documents="bc/*"`, `aggregate="macro"`, `ignore_tokens=True` and so on;
    `corefeval protocols` lists them. `encoding`, `key_format`, `response_format` and
    `word_column` (of CoNLL files, counted from 1) say how to read files, if they do not show it.

    `features` gives features of your own: for each name a mapping from mentions to values (with
    several documents, from document ids to such mappings) or a function of a mention; or a file of
    features (`kinds.tsv`).

    `ci` is the level of intervals (.95) for every rate, metric and slice, from a bootstrap over
    documents of `samples` samples: `result["muc"].intervals["f1"]`. A single document is cut into
    about `segments` runs of sentences, which are resampled instead; a notice says so. With
    `as_segments` the result of a single document is that of its segments, each taken as a document,
    so that it can be compared with others.

    Files larger than 200 MB are scored in pieces of their documents, with the same result and far
    less memory. `piece_size` says how large these are (`"16MB"`), of files of any size; `executor`
    is any `concurrent.futures.Executor` that works on them, such as Dask's; `resume` is a folder
    in which finished pieces are kept, so that a run that broke goes on. `progress` is called with
    the number of pieces that are done, of all pieces, and of bytes that are done.

    >>> result = score([["a", "b", "c"]], [["a", "b"], ["c"]], metrics="muc, b3")
    >>> result["muc"].recall, result["b3"].precision
    (0.5, 1.0)
    >>> score([["a", "b", "c"]], [["a", "b"], ["c"]], protocol=result.signature) == score(
    ...     [["a", "b", "c"]], [["a", "b"], ["c"]]
    ... )
    True
    >>> kinds = {"kind": {"Ada": "name", "she": "pronoun", "her": "pronoun"}}
    >>> score([["Ada", "she", "her"]], [["she", "her"]], metrics="lmuc", features=kinds)["lmuc"]
    <lmuc: recall=0.2500, precision=1.0000, f1=0.4000>
    """
    request = Request.of(
        protocol,
        options,
        metrics=metrics,
        by=by,
        features=features,
        sampling=Sampling(ci, samples, seed, segments, as_segments),
        cutting=Cutting(piece_size, executor, resume, progress),
    )
    return score_request(key, response, request)


def score_request(key: Input, response: Input, request: Request) -> Result:
    """The result that a request asks for, in pieces where files are to be cut."""
    result = score_pieces(key, response, request)
    if result is not None:
        return with_intervals(result, request.sampling)
    result = score_whole(key, response, request)
    if request.cutting.resume is None:
        return result
    message = f"--resume {os.fspath(request.cutting.resume)}: nothing is kept, because the input "
    message += "is scored whole; a smaller --piece-size / piece_size=… cuts small files into pieces"
    return replace(result, notices=(*result.notices, Notice("nothing-kept", message)))


def score_pieces(key: Input, response: Input, request: Request) -> Result | None:
    """The result of two files scored in pieces; None where they are to be scored in memory."""
    key_file, response_file = as_file(key), as_file(response)
    if key_file is None or response_file is None or not request.cutting.suits(key, response):
        return None
    if request.protocol.emulates:  # which reads files as a whole
        return None
    from corefeval.pieces.scoring import score_files

    try:
        return score_files(key_file, response_file, request)
    except KeyNeededError:
        if not request.cutting.is_asked_for:
            return None
        raise UsageError(
            f"{response_file.path} has answers, which are aligned with the whole key: "
            "leave out pieces"
        ) from None


def score_whole(key: Input, response: Input, request: Request) -> Result:
    """The result that a request asks for, with both inputs in memory."""
    if request.protocol.emulates:
        return _emulate(key, response, request)
    prepared = prepare_inputs(key, response, request)
    return count(prepared, request.metrics, by=request.by, sampling=request.sampling)


def read_key(key: Input, request: Request) -> Input:
    """A key to be scored against again and again, read where it is a file."""
    if request.protocol.reads_itself:
        return read_as_program(key, request.key_reading.encoding)
    return as_corpus(key, "key", request.key_reading)


def read_as_program(source: Input, encoding: str) -> CorefudText:
    """An input as another program reads it; a file is called by the name that it was given."""
    from corefeval.emulation import read_text

    file = as_file(source)
    text = read_text(source if file is None else file.path, encoding=encoding)
    return replace(text, name=file.name) if file is not None and file.name else text


def _emulate(key: Input, response: Input, request: Request) -> Result:
    """The result with the numbers that another program gives."""
    from corefeval.emulation import Material, score_anaphora, score_emulated

    protocol, sampling, metrics = request.protocol, request.sampling, request.metrics
    read_text = read_key(key, request)
    if protocol.reads_itself:
        response_text = read_as_program(response, request.response_reading.encoding)
        result = score_emulated(read_text, response_text, metrics, protocol)
    else:
        corpus = cast("Corpus", read_text)
        read_response = as_corpus(response, "response", request.response_reading, key=corpus)
        if protocol.emulate == "none":
            result = Material(corpus, read_response).result(protocol, metrics)
        else:
            result = score_anaphora(corpus, read_response, metrics, protocol)
    if len(result.document_ids) == 1:
        text = f"{result.document_ids[0]} is a single document, which is not cut into segments "
        text += f"under {name_accident(protocol)}"
        if sampling.as_segments:
            raise UsageError(f"{text}, so there is nothing to compare")
        if sampling.ci is not None:
            notices = (*result.notices, Notice("no-segments", text))
            result = replace(result, notices=notices)
    return with_intervals(result, sampling)
