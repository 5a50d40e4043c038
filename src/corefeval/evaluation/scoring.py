"""Scoring: the one way through, from two inputs to a result."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Unpack

from corefeval.diagnostics import KeyNeededError, Notice, UsageError
from corefeval.evaluation.counting import (
    SEGMENTS,
    Sampling,
    count_and_sample,
    feature_names,
    with_intervals,
)
from corefeval.metrics import DEFAULT_PRESET, MetricRequest, Metrics, parse_metrics
from corefeval.pieces import Cutting, Progress, as_file
from corefeval.preparation import Input, Options, Plan, Stated, plan, prepare_inputs
from corefeval.protocol import Protocol
from corefeval.results import Result

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from corefeval.emulation.corefud_scorer import CorefudText


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
    sampling = Sampling(ci, samples, seed, segments, as_segments)
    scoring_plan = plan(protocol, options, features=features)
    method = Method.of(metrics, by, scoring_plan, sampling)
    cutting = Cutting(piece_size, executor, resume, progress)
    result = score_pieces(key, response, method.plan, method.metrics, method.by, cutting)
    if result is not None:
        return result if method.sampling.ci is None else with_intervals(result, method.sampling)
    result = method.score(key, response)
    if resume is None:
        return result
    message = f"--resume {os.fspath(resume)}: nothing is kept, because the input is scored whole; "
    message += "a smaller --piece-size / piece_size=… cuts small files into pieces"
    return replace(result, notices=(*result.notices, Notice("nothing-kept", message)))


def score_pieces(
    key: Input,
    response: Input,
    scoring_plan: Plan,
    metrics: Metrics,
    by: Sequence[str],
    cutting: Cutting,
) -> Result | None:
    """The result of two files scored in pieces; None where they are to be scored in memory."""
    key_file, response_file = as_file(key), as_file(response)
    if key_file is None or response_file is None or not cutting.suits(key, response):
        return None
    if scoring_plan.protocol.emulates:  # which reads files as a whole
        return None
    from corefeval.pieces.scoring import score_files

    try:
        return score_files(key_file, response_file, scoring_plan, metrics, by, cutting)
    except KeyNeededError:
        if cutting.is_asked_for:
            message = (
                f"{response_file.path} has answers, which are aligned with the whole key: "
                "leave out pieces"
            )
            raise UsageError(message) from None
        return None


class Method(NamedTuple):
    """How inputs are scored: the plan, the metrics, the features to slice by and the sampling.

    `requests` are the parsed `metrics`; there are none where another program is emulated.
    """

    plan: Plan
    metrics: Metrics
    requests: tuple[MetricRequest, ...]
    by: tuple[str, ...]
    sampling: Sampling

    @staticmethod
    def of(
        metrics: Metrics, by: object, scoring_plan: Plan, sampling: Sampling | None = None
    ) -> Method:
        """The method that the arguments of `score` ask for.

        Raises a UsageError, before anything is read, for metrics that do not exist and for choices
        that a program which is emulated does not have.
        """
        scoring_plan, sampling = _with_protocol(scoring_plan, sampling or Sampling())
        if isinstance(metrics, Iterator):  # it is parsed here, and read again by emulation
            metrics = list(metrics)
        features, requests = feature_names(by), tuple[MetricRequest, ...]()
        if scoring_plan.protocol.emulates:
            _check_emulated(metrics, features, scoring_plan)
        else:
            requests = tuple(parse_metrics(metrics))
        return Method(scoring_plan, metrics, requests, features, sampling)

    @property
    def choices(self) -> tuple[object, ...]:
        """Metrics, features and protocol, which must be equal for counts to add up."""
        return self.requests, self.by, self.plan.protocol

    def read_key(self, key: Input) -> Input:
        """A key to be scored against again and again, read where it is a file."""
        if not self.plan.protocol.reads_itself:
            return self.plan.read(key, "key", is_key=True)
        return read_as_program(key, self.plan.encodings[0])

    def score(self, key: Input, response: Input) -> Result:
        """The result of a response."""
        if self.plan.protocol.emulates:
            return _emulate(key, response, self)
        prepared = prepare_inputs(key, response, self.plan)
        return count_and_sample(prepared, self.requests, self.by, self.sampling)


def _with_protocol(scoring_plan: Plan, sampling: Sampling) -> tuple[Plan, Sampling]:
    """The plan and the sampling, with the segments and intervals that the protocol states.

    The protocol of the plan that comes back states neither. Raises a UsageError for intervals that
    cannot be repeated.
    """
    protocol = scoring_plan.protocol
    if protocol.segments != "none":
        sampling = replace(sampling, segments=int(protocol.segments), as_segments=True)
    if protocol.ci != "none" and sampling.ci is None:
        text = re.search(r"level=([\d.]+),samples=(\d+),seed=(\d+)", protocol.ci)
        if text is None:
            raise UsageError(f"the protocol says ci:{protocol.ci}, which cannot be repeated")
        level, samples, seed = text.groups()
        sampling = replace(sampling, ci=float(level), samples=int(samples), seed=int(seed))
    if protocol.segments != "none" or protocol.ci != "none":
        scoring_plan = scoring_plan._replace(protocol=protocol.but(segments="none", ci="none"))
    return scoring_plan, sampling


def read_as_program(source: Input, encoding: str) -> CorefudText:
    """An input as another program reads it; a file is called by the name that it was given."""
    from corefeval.emulation import read_text

    file = as_file(source)
    text = read_text(source if file is None else file.path, encoding=encoding)
    return replace(text, name=file.name) if file is not None and file.name else text


def _accident(protocol: Protocol) -> str:
    """The first choice by which a protocol is that of another program."""
    name, value = next(iter(protocol.accidents.items()))
    return f"{name.replace('_', '-')}:{value}"


def _check_emulated(metrics: Metrics, by: Sequence[str], scoring_plan: Plan) -> None:
    """Refuse what another program does not have: features, slices, formats, metrics, choices."""
    from corefeval.emulation import check_request

    if by or scoring_plan.features:
        unsupported = f"scores by {', '.join(by)}" if by else "features of mentions"
        raise UsageError(f"{_accident(scoring_plan.protocol)} has no {unsupported}: leave them out")
    formats = {scoring_plan.key_format, scoring_plan.response_format} - {None, "corefud"}
    if scoring_plan.protocol.reads_itself and (formats or scoring_plan.word_column):
        raise UsageError(
            f"{_accident(scoring_plan.protocol)} reads only corefud: leave out formats"
        )
    check_request(metrics, scoring_plan.protocol)


def _emulate(key: Input, response: Input, method: Method) -> Result:
    """The result with the numbers that another program gives."""
    from corefeval.emulation import Material, score_anaphora, score_emulated

    scoring_plan, sampling, metrics = method.plan, method.sampling, method.metrics
    protocol = scoring_plan.protocol
    if protocol.reads_itself:
        key_encoding, response_encoding = scoring_plan.encodings
        texts = read_as_program(key, key_encoding), read_as_program(response, response_encoding)
        result = score_emulated(texts[0], texts[1], metrics, protocol)
    else:
        corpus = scoring_plan.read(key, "key", is_key=True)
        read_response = scoring_plan.read(response, "response", key=corpus)
        if protocol.emulate == "none":
            result = Material(corpus, read_response).result(protocol, metrics)
        else:
            result = score_anaphora(corpus, read_response, metrics, protocol)
    if len(result.document_ids) == 1:
        text = f"{result.document_ids[0]} is a single document, which is not cut into segments "
        text += f"under {_accident(protocol)}"
        if sampling.as_segments:
            raise UsageError(f"{text}, so there is nothing to compare")
        if sampling.ci is not None:
            notices = (*result.notices, Notice("no-segments", text))
            result = replace(result, notices=notices)
    return result if sampling.ci is None else with_intervals(result, sampling)
