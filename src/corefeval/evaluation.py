"""Scoring: the one way through, from two inputs to a result."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from corefeval.alignment import Alignment
from corefeval.diagnostics import KeyNeededError, Notice, UndefinedMetricError, UsageError
from corefeval.metrics import Metric, parse_metrics, spell
from corefeval.metrics.metric import DEFAULT_PRESET, MetricRequest
from corefeval.model import Corpus
from corefeval.model.identity import digest
from corefeval.pairing import segment_notice
from corefeval.pairing.segments import LEAST
from corefeval.pieces import Cutting, Progress, as_file
from corefeval.preparation import (
    Input,
    Options,
    Plan,
    Prepared,
    Stated,
    plan,
    prepare_inputs,
    segment_prepared,
)
from corefeval.protocol import Protocol
from corefeval.results import CountTable, Result, Slices
from corefeval.results import load_all as load_saved
from corefeval.slicing import count_table, cuts, own_feature, slice_result
from corefeval.syntax import split_list

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from corefeval.stats import Comparison, Correction, Test

COMPARED = "muc, b3, ceafe, conll, lea"
SEGMENTS = 20  # into which a single document is cut

Metrics = str | Metric | Iterable[str | Metric]


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
    `papers`, `all`). `by` names features of documents, entities or mentions (`genre`,
    `entity_class`, `kind`) and gives a result for each of their values in `result.slices`.

    `protocol` says how to score: a name, a `Protocol`, or a signature that was printed under a
    number. Every choice of it is also an option, which overrides it: `singletons="drop"`,
    `duplicates="error"`, `documents="bc/*"`, `aggregate="macro"`, `ignore_tokens=True` and so on;
    `corefeval protocols` lists them. `encoding`, `key_format`, `response_format` and
    `word_column` (of CoNLL files, counted from 1) say how files are read, if they do not tell.

    `features` states features itself: for each name a mapping from mentions to values (with several
    documents, from document ids to such mappings), or a function of a mention; or it is a file that
    states them (`kinds.tsv`).

    `ci` is the level of intervals (.95) for every rate, metric and slice, from a bootstrap over
    documents of `samples` samples: `result["muc"].intervals["f1"]`. A single document is cut into
    about `segments` runs of sentences, which are resampled instead; a notice says so. With
    `as_segments` the result of a single document is that of its segments, each a document of its
    own, so that it can be compared with others.

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
    made = plan(protocol, options, features=features)
    method = Method.of(metrics, by, made, sampling)
    cutting = Cutting(piece_size, executor, resume, progress)
    result = _score_pieces(key, response, method.plan, method.metrics, method.by, cutting)
    if result is None:
        return method.score(key, response)
    return result if method.sampling.ci is None else with_intervals(result, method.sampling)


def _score_pieces(
    key: Input,
    response: Input,
    made: Plan,
    metrics: Metrics,
    by: Sequence[str],
    cutting: Cutting,
) -> Result | None:
    """The result in pieces; None where key and response are for the memory as a whole."""
    mine, theirs = as_file(key), as_file(response)
    if mine is None or theirs is None or not cutting.suits(key, response):
        return None
    if made.protocol.emulates:  # which reads files as a whole
        return None
    from corefeval.pieces.scoring import score_files

    try:
        return score_files(mine, theirs, made, metrics, by, cutting)
    except KeyNeededError:
        if cutting.is_asked_for:
            message = (
                f"{theirs.path} has answers, which are laid upon the whole key: leave out pieces"
            )
            raise UsageError(message) from None
        return None


@dataclass(frozen=True, slots=True)
class Sampling:
    """Whether intervals are wanted, and of what: see `score`."""

    ci: float | None = None
    samples: int = 1000
    seed: int = 0
    segments: int = SEGMENTS
    as_segments: bool = False

    def __post_init__(self) -> None:
        number = self.segments
        if isinstance(number, bool) or not isinstance(number, int) or number < LEAST:
            raise UsageError(f"segments is a whole number from {LEAST}, not {number!r}")


@dataclass(frozen=True, slots=True)
class Method:
    """All that a score depends on beside its inputs."""

    plan: Plan
    metrics: Metrics
    wanted: tuple[MetricRequest, ...]
    by: tuple[str, ...]
    sampling: Sampling

    @staticmethod
    def of(metrics: Metrics, by: object, made: Plan, sampling: Sampling | None = None) -> Method:
        """What the arguments of `score` ask for; what is misspelt is told before anything is read.

        Another program has metrics of its own, which it looks at itself.
        """
        made, sampling = _with_protocol(made, sampling or Sampling())
        if isinstance(metrics, Iterator):  # which is gone through once, and asked twice
            metrics = list(metrics)
        wanted = () if made.protocol.emulates else tuple(parse_metrics(metrics))
        return Method(made, metrics, wanted, _feature_names(by), sampling)

    @property
    def choices(self) -> tuple[object, ...]:
        """What must be the same for counts to add up."""
        return self.wanted, self.by, self.plan.protocol

    def read_key(self, key: Input) -> Input:
        """A key to be scored against again and again, read where it is a file."""
        if self.plan.protocol.emulate == "none":
            return self.plan.read(key, "key", is_key=True)
        from corefeval.emulation import read_text

        return read_text(key, encoding=self.plan.encodings[0])

    def score(self, key: Input, response: Input) -> Result:
        """The result of a response."""
        if self.plan.protocol.emulates:
            return _emulate(key, response, self.metrics, self.by, self.plan, self.sampling)
        prepared = prepare_inputs(key, response, self.plan)
        return _count_and_sample(prepared, self.wanted, self.by, self.sampling)


def _with_protocol(made: Plan, sampling: Sampling) -> tuple[Plan, Sampling]:
    """What a protocol says of segments and intervals, done again."""
    protocol = made.protocol
    if protocol.segments != "none":
        sampling = replace(sampling, segments=int(protocol.segments), as_segments=True)
    if protocol.ci != "none" and sampling.ci is None:
        text = re.search(r"level=([\d.]+),samples=(\d+),seed=(\d+)", protocol.ci)
        if text is None:
            raise UsageError(f"the protocol says ci:{protocol.ci}, which cannot be done again")
        level, samples, seed = text.groups()
        sampling = replace(sampling, ci=float(level), samples=int(samples), seed=int(seed))
    if protocol.segments != "none" or protocol.ci != "none":
        made = replace(made, protocol=protocol.but(segments="none", ci="none"))
    return made, sampling


def _emulate(
    key: Input,
    response: Input,
    metrics: Metrics,
    by: Sequence[str],
    made: Plan,
    sampling: Sampling,
) -> Result:
    """The numbers of another program, which has scores alone: no features, slices or segments."""
    from corefeval.emulation import Material, score_emulated

    protocol = made.protocol
    name, value = next(iter(protocol.accidents.items()))
    accident = f"{name.replace('_', '-')}:{value}"
    if by or made.features:
        asked = f"scores by {', '.join(by)}" if by else "features of mentions"
        raise UsageError(f"{accident} has no {asked}: leave them out")
    if protocol.emulate == "none":
        parse_metrics(metrics)  # what is misspelt is told before anything is read
        corpus = made.read(key, "key", is_key=True)
        read_response = made.read(response, "response", key=corpus)
        result = Material(corpus, read_response).result(protocol, metrics)
    else:
        if {made.key_format, made.response_format} - {None, "corefud"} or made.word_column:
            raise UsageError(f"{accident} reads corefud alone: leave out formats")
        result = score_emulated(key, response, metrics, protocol, encodings=made.encodings)
    if len(result.document_ids) == 1:
        text = f"{result.document_ids[0]} is a single document, which is not cut into segments "
        text += f"under {accident}"
        if sampling.as_segments:
            raise UsageError(f"{text}, so that there is nothing to compare")
        if sampling.ci is not None:
            notices = (*result.notices, Notice("no-segments", text))
            result = replace(result, notices=notices)
    return result if sampling.ci is None else with_intervals(result, sampling)


def count(
    prepared: Prepared,
    metrics: Metrics = DEFAULT_PRESET,
    *,
    by: str | Iterable[str] = (),
    sampling: Sampling | None = None,
) -> Result:
    """The result of some metrics on what was prepared, with a slice for each value of `by`.

    >>> from corefeval.preparation import prepare
    >>> count(prepare([["Ada", "she"], ["it"]], [["Ada", "she", "it"]]), "muc")["muc"].recall
    1.0
    """
    wanted, features = parse_metrics(metrics), _feature_names(by)
    return _count_and_sample(prepared, wanted, features, sampling or Sampling())


def _count_and_sample(
    prepared: Prepared, wanted: Sequence[MetricRequest], features: Sequence[str], sampling: Sampling
) -> Result:
    """The result, with intervals or of segments where that is asked for."""
    result = _count(prepared, wanted, features)
    if len(result.document_ids) > 1 or (sampling.ci is None and not sampling.as_segments):
        return result if sampling.ci is None else with_intervals(result, sampling)
    parts = segment_prepared(prepared, sampling.segments)
    if isinstance(parts, Notice):
        result = replace(result, notices=(*result.notices, parts))
        return result if sampling.ci is None else with_intervals(result, sampling)
    # What a preset skipped for the whole document is not there for its segments either.
    wanted = [one for one in wanted if str(one.metric) in result.tables]
    of_parts = replace(_count(parts, wanted, features), notices=())
    name, number = result.document_ids[0], len(of_parts.document_ids)
    if sampling.as_segments:
        result = _of_segments(result, of_parts)
        return result if sampling.ci is None else with_intervals(result, sampling)
    result = replace(result, notices=(*result.notices, segment_notice(number, name)))
    return with_intervals(result, sampling, of_parts)


def with_intervals(result: Result, sampling: Sampling, segments: Result | None = None) -> Result:
    """The result with the intervals that a sampling asks for."""
    from corefeval.stats.intervals import with_intervals as bootstrap

    level = 0.95 if sampling.ci is None else sampling.ci
    return bootstrap(
        result, level=level, samples=sampling.samples, seed=sampling.seed, segments=segments
    )


def _of_segments(result: Result, parts: Result) -> Result:
    """The segments' result in place of the document's, and what to say of it."""
    text = f"{result.document_ids[0]}: one document alone cannot be tested; tests are on {{n}} of "
    text += "it, each a document of its own, which do not see what is split or merged over long "
    text += "distances"
    notice = Notice("segments", text, len(parts.document_ids), noun="segment")
    return replace(
        parts,
        notices=(*result.notices, notice),
        whole_rates={metric: dict(one.rates) for metric, one in result.scores.items()},
    )


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


def _count(prepared: Prepared, wanted: Sequence[MetricRequest], by: Sequence[str]) -> Result:
    """The result of metrics, and of their slices."""
    tables, skipped = _count_tables(prepared.alignment, wanted, by)
    scored = [request.metric for request in wanted if str(request.metric) in tables]
    slicing = cuts(scored, by)
    for cut in slicing:  # which tag set it took is part of the signature
        prepared.key_features(cut.feature)
    protocol = prepared.protocol
    if tags := prepared.key_features.tagset_name:
        protocol = protocol.but(tagset=tags)
    result = Result(
        tables=tables,
        document_ids=prepared.document_ids,
        protocol=protocol,
        key=prepared.key.name,
        response=prepared.response.name,
        key_digest=prepared.key_digest,
        notices=(*prepared.notices, *skipped),
        spell=spell,
        titles={str(request.metric): request.metric.title for request in wanted},
    )
    if prepared.variants:
        result = _with_bounds(result, prepared)
    slices: dict[str, Slices] = {}
    notices = [*result.notices]
    for cut in slicing:
        slices[cut.feature], more = slice_result(result, prepared, cut)
        notices += more
    notices += prepared.feature_notices
    if not slices and not notices:
        return result
    return replace(result, slices=slices, notices=tuple(dict.fromkeys(notices)))


def _with_bounds(result: Result, prepared: Prepared) -> Result:
    """A result of answers of a language model, with what other readings of them would score."""
    figures = {}
    for name, variant in prepared.variants:
        tables, _ = _count_tables(variant.alignment, parse_metrics("muc, b3, ceafe, conll"), ())
        whole = Result(tables, variant.document_ids, variant.protocol, spell=spell)
        figures[name] = whole["conll"].f1
    texts = {
        "strict": "{} if lost mentions count as wrong",
        "reached": "{} on the text that was reached",
        "lowest": "{} if strings with several places are all wrong",
        "highest": "{} if they are all placed as the key would like",
    }
    shown = [texts[name].format(f"{100 * figures[name]:.2f}") for name in texts if name in figures]
    first = f"{prepared.response.name}: CoNLL {100 * figures['drop']:.2f}"
    notices = [Notice("llm-bounds", "; ".join([first, *shown]))] if shown else []
    ledger = prepared.response.ledger
    answers = {"conll": figures, **(ledger.as_dict() if ledger is not None else {})}
    return replace(result, answers=answers, notices=(*result.notices, *notices))


def compare(
    key: Input,
    responses: Mapping[str, Input] | Iterable[Input],
    *,
    metrics: Metrics = COMPARED,
    by: str | Iterable[str] = (),
    protocol: Protocol | str | None = None,
    features: Stated = None,
    rate: str = "f1",
    test: Test = "randomization",
    trials: int | None = None,
    seed: int = 0,
    correction: Correction = "holm",
    alpha: float = 0.05,
    level: float = 0.95,
    samples: int | None = None,
    baseline: str | None = None,
    segments: int = SEGMENTS,
    piece_size: int | str | None = None,
    executor: Executor | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Score several responses against a key, and compare each with each.

    `responses` may be a mapping, which names them, and may have results among them (of `score`, or
    from `load`); with nothing but results the key may be None, and there is nothing left to choose
    about how they are scored. A single document is compared by its `segments`. `by`, `protocol`,
    `features`, `piece_size`, `executor` and `options` are those of `score`; the others are those of
    `stats.compare`.

    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> full, half = (dict.fromkeys(key, [list(side)]) for side in ("abc", "ab"))
    >>> compared = compare(key, {"full": full, "half": half}, metrics="muc")
    >>> compared.is_better("muc", "full", "half")
    True
    >>> compared
    <Comparison of 8 documents, by muc: full 100.00, half 66.67>
    """
    from corefeval.stats import compare as compare_results

    if isinstance(responses, str | os.PathLike | Result) or not isinstance(responses, Iterable):
        raise UsageError(f"a comparison needs two responses at least, not only {responses!r:.60}")
    metrics = metrics if isinstance(metrics, str | Metric) else list(metrics)
    parse_metrics(metrics)  # what is misspelt is told before anything is read
    made, by = plan(protocol, options, features=features), _feature_names(by)
    names = list(responses) if isinstance(responses, Mapping) else None
    sources = list(responses.values() if isinstance(responses, Mapping) else responses)
    if all(isinstance(one, Result) for one in sources):
        asked = [*options, *(["features"] if features else []), *(["protocol"] if protocol else [])]
        asked += ["segments"] if segments != SEGMENTS else []
        if asked:
            message = f"results were scored already: {', '.join(asked)} would change nothing"
            raise UsageError(message)
    cutting = Cutting(piece_size, executor)
    in_pieces = [
        None
        if isinstance(source, Result) or made.protocol.emulates
        else _score_pieces(key, source, made, metrics, by, cutting)
        for source in sources
    ]
    is_read_by_program = key is not None and made.protocol.emulate != "none"
    from_corpora = key is not None and not is_read_by_program and None in in_pieces
    corpus = made.read(key, "key", is_key=True) if from_corpora else None
    if is_read_by_program:
        from corefeval.emulation import read_text

        key = read_text(key, encoding=made.encodings[0])
    texts = key if is_read_by_program else corpus
    check_keys((one for one in sources if isinstance(one, Result)), texts)
    sampling = Sampling(segments=segments, as_segments=True)
    results = [
        scored
        if scored is not None
        else _narrow(source, metrics)
        if isinstance(source, Result)
        else _emulate(key if corpus is None else corpus, source, metrics, by, made, sampling)
        if made.protocol.emulates
        else count(prepare_inputs(_needed(corpus), source, made), metrics, by=by, sampling=sampling)
        for source, scored in zip(sources, in_pieces, strict=True)
    ]
    return compare_results(
        results if names is None else dict(zip(names, results, strict=True)),
        metrics=None if metrics == COMPARED else common_metrics(results, metrics, rate),
        by=by,
        rate=rate,
        test=test,
        trials=trials,
        seed=seed,
        correction=correction,
        alpha=alpha,
        level=level,
        samples=samples,
        baseline=baseline,
    )


def common_metrics(results: Sequence[Result], metrics: Metrics, rate: str) -> list[str]:
    """The metrics to compare: those asked for by name, and of presets what all results have.

    What a preset has without this rate, or a mean as a part, is left out: it is no mistake.
    """
    return [
        name
        for name, by_name in ((str(one.metric), one.by_name) for one in parse_metrics(metrics))
        if by_name or _has(results, name, rate)
    ]


def _has(results: Sequence[Result], metric: str, rate: str) -> bool:
    return all(metric in one.tables and rate in one.scores[metric].rates for one in results)


def _narrow(result: Result, metrics: Metrics) -> Result:
    """A saved result with the metrics of a comparison, where nobody said which."""
    names = [str(one.metric) for one in parse_metrics(metrics)]
    kept = [name for name in names if name in result.tables]
    return result.only(kept) if kept and metrics == COMPARED else result


def _needed(key: Corpus | None) -> Corpus:
    if key is None:
        raise UsageError("responses that are no results need a key")
    return key


def check_keys(results: Iterable[Result], key: object) -> None:
    """An error where a result was scored against another key than this one; None is no key.

    `key` is a corpus, or for results of another program what that program's reading gave.
    """
    digests: dict[bool, str] = {}
    for result in results:
        emulates = result.protocol.emulate != "none"
        if key is None or not result.key_digest:
            continue
        if emulates not in digests:
            digests[emulates] = _digest(key, emulates=emulates)
        own = digests[emulates]
        if result.key_digest.split("-")[0] == own.split("-")[0] and result.key_digest != own:
            raise UsageError(
                f"{result.response} was scored against another key ({result.key}), whose entities "
                f"are not those of {getattr(key, 'name', '') or 'this key'}"
            )


def _digest(key: object, *, emulates: bool) -> str:
    """The digest of a key; nothing where one is not to be had of it."""
    if emulates:
        from corefeval.emulation import digest_text

        return digest_text(key)
    return digest(key) if isinstance(key, Corpus) else ""


def load(path: str | os.PathLike[str]) -> Result:
    """The result in a file that `result.save` or `--save` wrote."""
    results = load_all(path)
    if len(results) != 1:
        raise UsageError(f"{os.fspath(path)} has {len(results)} results: use load_all")
    return results[0]


def load_all(path: str | os.PathLike[str]) -> list[Result]:
    """All results in a file that `--save` wrote."""
    return load_saved(path, spell=spell)


def _count_tables(
    alignment: Alignment, wanted: Sequence[MetricRequest], by: Sequence[str]
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
            table = count_table(metric, alignment)
            tables[str(metric)] = table if own is None else replace(table, by=own)
        except UndefinedMetricError as error:
            if request.by_name:
                raise
            skipped.setdefault(str(error), []).append(str(metric))
    return tables, [
        Notice("skipped-metric", f"skipped: {', '.join(metrics)}: {why}", len(metrics), (*metrics,))
        for why, metrics in skipped.items()
    ]
