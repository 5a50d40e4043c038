"""Evaluation: from two inputs to a result, and from several to a comparison."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from corefeval.checks import check_choice
from corefeval.diagnostics import CorefEvalError, KeyNeededError, Notice, UsageError, uncollected
from corefeval.evaluation.counting import count, count_requested, with_intervals
from corefeval.files import PathLike
from corefeval.metrics import DEFAULT_PRESET, MetricRequest, Metrics, parse_metrics, spell
from corefeval.model import Corpus
from corefeval.model.identity import digest
from corefeval.pieces import Cutting, Progress, as_file
from corefeval.preparation import Prepared, as_corpus, prepare_inputs
from corefeval.protocol import Protocol
from corefeval.request import (
    SEGMENTS,
    Input,
    Request,
    Sampling,
    ScoreOptions,
    Stated,
    name_accident,
)
from corefeval.results import Result
from corefeval.results import load_all as load_saved

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from corefeval.emulation.corefud_brackets import CorefudText
    from corefeval.stats import Comparison, Correction, Test

__all__ = [
    "COMPARED",
    "check_keys",
    "common_metrics",
    "compare",
    "count",
    "load",
    "load_all",
    "read_key",
    "score",
    "score_request",
    "score_whole",
    "with_intervals",
]

COMPARED = "muc, b3, ceafe, conll, lea"  # the metrics of comparisons


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
    resume: PathLike | None = None,
    progress: Progress | None = None,
    **options: Unpack[ScoreOptions],
) -> Result:
    """Score a response against a key.

    Both are paths, corpora or plain Python: a list of entities, each a list of hashable mentions in
    textual order, is a document, and a mapping from ids to such lists a corpus. They may also be
    documents of spaCy or stanza, fastcoref results or Maverick dictionaries, or lists of these.

    `metrics` are names with parameters in parentheses, `Metric` values, or presets (`standard`,
    `papers`, `anaphora`, `all`). `by` names features (`genre`, `kind`, `genre*kind`), for whose
    values there are results in `result.slices`. `features` is a file, or for each name a mapping
    from mentions to values (with several documents, from ids to such mappings) or a function of a
    mention. `protocol` is a name, a `Protocol` or a printed signature; each choice of it is also an
    option (`singletons="drop"`), and so is how files are read: `encoding`, `key_format`, ….

    `ci` is the level of intervals of a bootstrap over documents. A single document is cut into
    about `segments` runs of sentences; with `as_segments` these are the documents of the result.
    Files above 200 MB are scored in pieces: `piece_size` (`"16MB"`) asks for them, an `executor` of
    `concurrent.futures` works on them, the folder `resume` keeps them for a run that broke, and
    `progress` is called with pieces done, all pieces, bytes done.

    >>> score([["a", "b", "c"]], [["a", "b"], ["c"]], metrics="muc, b3")["b3"].precision
    1.0
    """
    sampling = Sampling(ci, samples, seed, segments, as_segments)
    cutting = Cutting(piece_size, executor, resume, progress)
    wishes: dict[str, Any] = {"metrics": metrics, "by": by, "features": features}
    return score_request(key, response, Request.of(protocol, options, sampling, cutting, **wishes))


def score_request(key: Input, response: Input, request: Request) -> Result:
    """The result that a request asks for, in pieces where files are to be cut."""
    result = score_pieces(key, response, request)
    if result is not None:
        return with_intervals(result, request.sampling)
    result = score_whole(key, response, request)
    if request.cutting.resume is None:
        return result
    message = f"--resume {os.fspath(request.cutting.resume)}: nothing is kept, because the input "
    message += "is scored whole; a smaller --piece-size cuts small files into pieces"
    return replace(result, notices=(*result.notices, Notice("nothing-kept", message)))


def score_pieces(key: Input, response: Input, request: Request) -> Result | None:
    """The result of two files scored in pieces; None where they are to be scored in memory."""
    key_file, response_file = as_file(key), as_file(response)
    if key_file is None or response_file is None or not request.cutting.suits(key, response):
        return None
    if request.protocol.emulates:  # other programs read files as a whole
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
    metrics = cast("Sequence[MetricRequest]", request.metrics)  # parsed: nothing is emulated
    return count_requested(prepared, metrics, request.by, request.sampling)


def prepare_nearest(key: Input, response: Input, request: Request) -> Prepared:
    """Two inputs prepared, by the nearest sound rules where the request is for another program.

    A notice then says what both score: by CoNLL if that was asked for, or else the first metric.
    """
    if request.emulated is None:
        return prepare_inputs(key, response, request)
    key = as_corpus(key, "key", request.key_reading)
    response = as_corpus(response, "response", request.response_reading, key=key)
    prepared = prepare_inputs(key, response, request)
    names = [str(metric.metric) for metric in parse_metrics(request.metrics)]
    [*_, metric] = parse_metrics("conll" if "conll" in names else names[0])
    program, name = request.protocol.stands_for, str(metric.metric)
    try:
        plain = replace(request, protocol=request.emulated, by=(), features=None)
        result = score_whole(key, response, plain.with_metrics(name))
        total = f"{100 * result[name].f1:.2f} by {program}"
    except CorefEvalError as error:
        total = f"no number by {program} ({str(error).splitlines()[0]})"
    own_total = count(prepared, name)[name].f1
    message = (
        f"{response.name or 'response'}: the rules of {program} do not tell single errors, so "
        f"corefeval's nearest rules are used: {metric.metric.title} F1 is "
        f"{100 * own_total:.2f} by these, {total}"
    )
    return replace(prepared, notices=(*prepared.notices, Notice("nearest-rules", message)))


def read_key(key: Input, request: Request) -> Input:
    """A key to be scored against again and again, read where it is a file."""
    if request.protocol.reads_itself:
        return read_as_program(key, request.key_reading.encoding)
    return as_corpus(key, "key", request.key_reading)


def read_as_program(source: Input, encoding: str) -> CorefudText:
    """An input as another program reads it; a `NamedFile` keeps its name."""
    from corefeval.emulation import read_text

    file = as_file(source)
    text = read_text(source if file is None else file.path, encoding=encoding)
    return replace(text, name=file.name) if file is not None and file.name else text


@uncollected()
def _emulate(key: Input, response: Input, request: Request) -> Result:
    """The result with the numbers that another program gives."""
    from corefeval.emulation import Material, score_anaphora, score_emulated

    protocol, sampling, metrics = request.protocol, request.sampling, request.metrics
    key_as_read = read_key(key, request)
    if protocol.reads_itself:
        response_text = read_as_program(response, request.response_reading.encoding)
        result = score_emulated(key_as_read, response_text, metrics, protocol)
    else:
        corpus = cast("Corpus", key_as_read)
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


class SignificanceOptions(TypedDict, total=False):
    """How systems are compared: see `stats.compare`, which has the defaults."""

    rate: str
    test: Test
    trials: int | None
    seed: int
    correction: Correction
    alpha: float
    level: float
    samples: int | None


class CompareOptions(ScoreOptions, SignificanceOptions, total=False):
    """What a comparison takes besides responses and metrics."""


def compare(
    key: Input,
    responses: Mapping[str, Input] | Iterable[Input],
    *,
    metrics: Metrics = COMPARED,
    by: str | Iterable[str] = (),
    protocol: Protocol | str | None = None,
    features: Stated = None,
    baseline: str | None = None,
    factors: Sequence[str] = (),
    segments: int = SEGMENTS,
    piece_size: int | str | None = None,
    executor: Executor | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Score several responses against a key, and compare each with each.

    `responses` may be a mapping from names, and include results (of `score` or `load`); if all are
    results, the key may be None. A single document is compared by its `segments`. With `factors`,
    such as ("model", "prompt"), names such as `gpt@json` are cells of a grid. Options are those of
    `score` and of `stats.compare`.

    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> full, half = (dict.fromkeys(key, [list(side)]) for side in ("abc", "ab"))
    >>> compare(key, {"full": full, "half": half}, metrics="muc")
    <Comparison of 8 documents, by muc: full 100.00, half 66.67>
    """
    from corefeval.stats import compare as compare_results
    from corefeval.stats.grids import add_effects
    from corefeval.stats.significance import ComparisonOptions

    names, sources = _list_responses(responses, baseline)
    testing, scoring = _split_options(options, baseline)
    rate = ComparisonOptions.of(**testing).rate  # raises for wrong options, before anything is read
    sampling, cutting = Sampling(segments=segments, as_segments=True), Cutting(piece_size, executor)
    wishes: dict[str, Any] = {"metrics": metrics, "by": by, "features": features}
    request = Request.of(protocol, scoring, sampling, cutting, **wishes)
    settings = {"features": features, "protocol": protocol, "segments": segments != SEGMENTS}
    _refuse_idle(sources, [*scoring, *(name for name, value in settings.items() if value)])
    results = _score_responses(key, sources, request, is_default=metrics == COMPARED)
    chosen = None if metrics == COMPARED else common_metrics(results, request.metrics, rate)
    named = results if names is None else dict(zip(names, results, strict=True))
    compared = compare_results(named, metrics=chosen, by=request.by, **testing)
    again = partial(_score_responses, key, sources, other_rule(request), is_default=False)
    return add_effects(compared, factors, again) if factors else compared


def _split_options(
    options: Mapping[str, Any], baseline: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of tests, with the baseline, and those of scores."""
    scoring = dict(options)
    tested = [name for name in SignificanceOptions.__annotations__ if name in options]
    return {"baseline": baseline, **{name: scoring.pop(name) for name in tested}}, scoring


def other_rule(request: Request) -> Request:
    """The request with the other rule for a language model's mentions that are not in the text."""
    lost = {"lost": "drop" if request.protocol.lost == "strict" else "strict"}
    return replace(request, protocol=Protocol.of_fields(lost, request.protocol))


def _list_responses(
    responses: Mapping[str, Input] | Iterable[Input], baseline: str | None
) -> tuple[list[str] | None, list[Input]]:
    """The names of responses, where they have names, and what they are."""
    if isinstance(responses, str | os.PathLike | Result) or not isinstance(responses, Iterable):
        raise UsageError(f"a comparison needs at least two responses, not only {responses!r:.60}")
    if not isinstance(responses, Mapping):
        return None, list(responses)
    if baseline is not None:
        check_choice("the baseline", baseline, list(responses))
    return list(responses), list(responses.values())


def _refuse_idle(sources: Sequence[Input], names: Sequence[str]) -> None:
    """Refuse options of scoring, by their names, where all sources are results already."""
    if names and all(isinstance(source, Result) for source in sources):
        raise UsageError(f"results are already scored: {', '.join(names)} would change nothing")


def _score_responses(
    key: Input, sources: Sequence[Input], request: Request, *, is_default: bool
) -> list[Result]:
    """A result for each source; of those that are results already, the default metrics alone.

    Raises a UsageError for a result that was scored against another key.
    """
    # A comparison has its own intervals.
    request = replace(request, sampling=replace(request.sampling, ci=None))
    results = [
        source if isinstance(source, Result) else score_pieces(key, source, request)
        for source in sources
    ]
    saved = [source for source in sources if isinstance(source, Result)]
    needs_key = key is not None and (saved or None in results)
    key_in_memory = read_key(key, request) if needs_key else None
    check_keys(saved, key_in_memory)
    scored = []
    for source, result in zip(sources, results, strict=True):
        if result is None:
            if key_in_memory is None:
                raise UsageError("responses that are not results need a key")
            result = score_whole(key_in_memory, source, request)
        elif isinstance(source, Result) and is_default:
            names = [str(metric_request.metric) for metric_request in parse_metrics(COMPARED)]
            kept = [name for name in names if name in result.tables]
            result = result.only(kept) if kept else result
        scored.append(result)
    return scored


def common_metrics(results: Sequence[Result], metrics: Metrics, rate: str) -> list[str]:
    """The metrics to compare: those asked for by name, and of presets those that can be compared.

    A metric of a preset, or a part of a mean, is left out where a result lacks it or its rate.
    """
    names = []
    for request in parse_metrics(metrics):
        scores = [result.scores.get(str(request.metric)) for result in results]
        if request.by_name or all(score is not None and rate in score.rates for score in scores):
            names.append(str(request.metric))
    return names


def check_keys(results: Iterable[Result], key: object) -> None:
    """Raise a UsageError for a result that was scored against another key.

    `key` is what `read_key` gave: a corpus, or a text as another program reads it. With None,
    nothing is checked.
    """
    digests: dict[bool, str] = {}
    for result in results:
        emulates = result.protocol.reads_itself
        if key is None or not result.key_digest:
            continue
        if emulates not in digests:
            digests[emulates] = _digest(key, emulates=emulates)
        key_digest = digests[emulates]
        if (
            result.key_digest.split("-")[0] == key_digest.split("-")[0]
            and result.key_digest != key_digest
        ):
            raise UsageError(
                f"{result.response} was scored against another key ({result.key}), whose entities "
                f"are not those of {getattr(key, 'name', '') or 'this key'}"
            )


def _digest(key: object, *, emulates: bool) -> str:
    """The digest of a key; empty for what is no corpus."""
    if emulates:
        from corefeval.emulation import digest_text

        return digest_text(key)
    return digest(key) if isinstance(key, Corpus) else ""


def load(path: PathLike) -> Result:
    """The result in a file that `result.save` or `--save` wrote."""
    results = load_all(path)
    if len(results) != 1:
        raise UsageError(f"{os.fspath(path)} has {len(results)} results: use load_all")
    return results[0]


def load_all(path: PathLike) -> list[Result]:
    """All results in a file that `--save` wrote."""
    results = load_saved(path, spell=spell)
    if not any(result.decisions for result in results):
        return results
    from corefeval.probes.result import ProbeResult

    return [ProbeResult(**vars(result)) if result.decisions else result for result in results]
