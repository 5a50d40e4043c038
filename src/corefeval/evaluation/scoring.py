"""Scoring: the one way through, from two inputs to a result."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, cast

from corefeval.diagnostics import KeyNeededError, Notice, UsageError
from corefeval.evaluation.counting import count_requested, with_intervals
from corefeval.metrics import DEFAULT_PRESET, MetricRequest, Metrics
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

    Both are paths, corpora or plain Python: a list of entities, each a list of hashable mentions in
    textual order, is a document, and a mapping from ids to such lists a corpus. Documents of spaCy
    and stanza, fastcoref results and Maverick dictionaries will do, too, as will lists of them.

    `metrics` are names with parameters in parentheses, `Metric` values, or presets (`standard`,
    `papers`, `anaphora`, `all`). `by` names features (`genre`, `kind`, `genre*kind`), for whose
    values there are results in `result.slices`. `features` states features: for each name a mapping
    from mentions to values (with several documents, from ids to such mappings) or a function of a
    mention, or a file. `protocol` is a name, a `Protocol` or a signature that was printed under a
    number; each choice of it is also an option (`singletons="drop"`), and so is how files are read:
    `encoding`, `key_format`, `response_format`, `word_column` (of CoNLL files, from 1).

    `ci` is the level of intervals of a bootstrap over documents, of `samples` samples. A single
    document is cut into about `segments` runs of sentences instead; with `as_segments` these are
    the documents of the result. Files above 200 MB are scored in pieces: `piece_size` (`"16MB"`)
    asks for them, any `executor` of `concurrent.futures` works on them, the folder `resume` keeps
    them for a run that broke, and `progress` is called with pieces done, all pieces, bytes done.

    >>> result = score([["a", "b", "c"]], [["a", "b"], ["c"]], metrics="muc, b3")
    >>> result["muc"].recall, result["b3"].precision
    (0.5, 1.0)
    >>> score([["a", "b"]], [["a", "b"]], protocol=result.signature).protocol == result.protocol
    True
    """
    sampling = Sampling(ci, samples, seed, segments, as_segments)
    cutting = Cutting(piece_size, executor, resume, progress)
    request = Request.of(
        protocol, options, sampling, cutting, metrics=metrics, by=by, features=features
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
    metrics = cast("Sequence[MetricRequest]", request.metrics)  # which are parsed
    return count_requested(prepared, metrics, request.by, request.sampling)


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
