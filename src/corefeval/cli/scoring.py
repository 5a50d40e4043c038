"""`corefeval score`, `compare` and `probe`, with limits at which they fail on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from corefeval.checks import check_choice
from corefeval.cli.options import REQUEST_OPTIONS, TABLE_OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import fail, label, plain_names, remark, show, show_trials, tell
from corefeval.cli.responses import keep, list_matches, make_request, results_of
from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from corefeval.results import Result
    from corefeval.stats import Comparison

Limit = tuple[str, str, float]  # metric, rate, per cent

_RATES = ("recall", "precision", "f1", "accuracy")
READ = "read"  # the share of answers that were read, as a limit


def score(options: ParsedOptions) -> int:
    """Score responses and print them; the exit status says whether a score is under its limit."""
    from corefeval.metrics import DEFAULT_PRESET, parse_metrics
    from corefeval.request import Sampling

    format, tables = options.format, options.given(*TABLE_OPTIONS.split())
    if tables:
        from corefeval.output.tables import Style

        Style.of(format, tables)  # which refuses what cannot be drawn before anything is scored
    limits = parse_limits(options.fail_under) if options.fail_under else []
    metrics = DEFAULT_PRESET if options.metrics is None else options.metrics
    if format == "conll":  # it prints mentions with every metric
        requested = parse_metrics(["mentions", *parse_metrics(metrics)])
        metrics = [item.metric for item in requested]
    sampling = Sampling()
    if options.ci:
        sampling = Sampling(options.level, options.samples, options.seed, options.segments)
    requests = [
        make_request(options, metrics, options.by, sampling, sound=False, match=match)
        for match in list_matches(options)
    ]
    with show_trials(options.quiet) if options.ci else nullcontext():
        results = results_of("score", options, requests)
    if limits:
        check_rates(results, limits)
    show(results, options.output, format=format, by_document=options.by_document, **tables)
    if options.save is not None:  # after the table, which may be refused
        keep(results, options.save, quiet=options.quiet)
    if not options.quiet:
        tell(notice for result in results for notice in result.notices)
        if format in ("conll", "coval", "corefud"):
            _print_left_out(results[0], format)
    return fail(find_low(results, limits)) if limits else 0


def _print_left_out(result: Result, format: str) -> None:
    from corefeval.output.forms import OWN_RULES, PROGRAMS

    if format == "corefud" and not result.protocol.reads_itself:
        remark("note", f"these are {OWN_RULES}")
    program, names = PROGRAMS[format]
    names += ("mentions",) if format == "conll" else ()
    omissions = [name for name in result.metrics if name not in (*names, "conll")]
    omissions += [f"by {feature}" for feature in result.slices]
    if omissions:
        remark("note", f"not in {program}'s form: {', '.join(omissions)}")


def parse_limits(texts: Sequence[str]) -> list[Limit]:
    """Limits from `conll=60`, `muc.recall=55.5`, `read=95`, or several with commas between them.

    >>> parse_limits(["conll=60, lea.recall = 40"])
    [('conll', 'f1', 60.0), ('lea', 'recall', 40.0)]
    """
    from corefeval.metrics import Metric

    limits = []
    for name, limit in split_limits(texts):
        metric, dot, rate = name.rpartition(".")
        if not dot or rate.strip() not in _RATES:
            metric, rate = name, "f1"
        metric = metric if name == READ else str(Metric.parse(metric))
        limits.append((metric, rate.strip(), limit))
    return limits


def _rates_of(result: Result, metric: str) -> Mapping[str, float]:
    """The rates of a metric; `read` is the share of documents whose answers were read."""
    if metric != READ:
        return result[metric].rates
    if not result.answers:
        raise UsageError(f"{READ} is a limit for answers of language models")
    documents: Any = result.answers["documents"]
    n_read = sum(document.get("state") == READ for document in documents)
    return {"f1": n_read / max(len(result.document_ids), 1)}


def split_limits(texts: Sequence[str]) -> list[tuple[str, float]]:
    """The names and numbers of limits, separated by commas."""
    from corefeval.checks import split_list

    if texts and not any(split_list("".join(texts))):
        raise UsageError("--fail-under needs a limit: METRIC=NUMBER, such as conll=60")
    limits = []
    for text in (part for argument in texts for part in split_list(argument)):
        name, equals, number = text.rpartition("=")
        try:
            limit = float(number)
        except ValueError:
            limit = -1.0
        if not equals or not name.strip() or not 0 <= limit <= 100:
            raise UsageError(
                f"a limit is METRIC=NUMBER in percent, such as conll=60 or muc.recall=55.5, "
                f"not {text!r}"
            )
        if 0 < limit < 1:
            remark("note", f"limits are in percent: {text} is {limit:g} %")
        limits.append((name.strip(), limit))
    return limits


def check_rates(results: Sequence[Result], limits: Sequence[Limit]) -> None:
    """Refuse limits of what was not scored, before anything is written."""
    for metric, rate, _ in limits:
        for result in results:
            if rate not in (rates := _rates_of(result, metric)):
                raise UsageError(f"{metric} has no {rate}, only {', '.join(rates)}")


def find_low(results: Sequence[Result], limits: Sequence[Limit]) -> list[str]:
    """A sentence for each score that is under its limit."""
    low = []
    for metric, rate, limit in limits:
        for result in results:
            value = 100 * _rates_of(result, metric)[rate]
            if not value >= limit:
                rate_name = metric if rate == "f1" else f"{metric} {rate}"
                name = result.response or "the response"
                low.append(f"{rate_name} of {name} is {value:.2f}, under {limit:g}")
    return low


def compare(options: ParsedOptions) -> int:
    """Compare responses; the exit status says whether one is worse than it may be."""
    from corefeval.evaluation import COMPARED, other_rule
    from corefeval.output.tables import Style
    from corefeval.request import Sampling
    from corefeval.stats.grids import add_effects, factors_of
    from corefeval.stats.significance import ComparisonOptions

    tables = options.given(*TABLE_OPTIONS.split())
    rates = Style.of(options.format, tables).rates
    if rates and options.rate not in rates:
        raise UsageError(f"--rates must include {options.rate}, which is compared")
    if options.baseline is not None and options.fail_if_worse not in (None, options.baseline):
        raise UsageError("--fail-if-worse needs its own comparisons: leave out --baseline")
    names = ("rate", "test", "trials", "seed", "correction", "alpha", "level", "samples")
    testing = {name: getattr(options, name) for name in names}
    ComparisonOptions.of(**testing)  # which refuses what is out of range before anything is read
    metrics = COMPARED if options.metrics is None else options.metrics
    sampling = Sampling(segments=options.segments, as_segments=True)
    request = make_request(options, metrics, options.by, sampling, sound=False)
    results = results_of("compare", options, [request])
    with show_trials(options.quiet):
        comparison, worst = _compare_results(results, options, testing)
        if factors := factors_of([label(argument)[0] or "" for argument in options.response]):
            score_again = partial(results_of, "compare", options, [other_rule(request)])
            comparison = add_effects(comparison, factors, score_again)
        main_metric = comparison.main_metric(options.metric)  # a misspelt one is refused
        if options.sort == "score":  # only now: `score_again` returns results in the order given
            comparison = comparison.order_by(main_metric)
        _ = comparison.slices  # which have trials of their own
    shown = ("pairs", "differences", "agreement", "power", "metric")
    drawing = {name: getattr(options, name) for name in shown}
    show(comparison, options.output, format=options.format, **drawing, **tables)
    if options.save is not None:
        keep(results, options.save, quiet=options.quiet)
    tell(comparison.notices, quiet=options.quiet)
    return 0 if worst is None else fail(_find_worse(comparison, worst, options.metrics))


def _compare_results(
    results: Sequence[Result], options: ParsedOptions, testing: dict[str, Any]
) -> tuple[Comparison, str | None]:
    """The comparison by names without extensions, and the system that none may be worse than."""
    from corefeval.evaluation import common_metrics
    from corefeval.stats import compare
    from corefeval.stats.resampling import name_results

    systems = name_results(results)
    labels = {label(argument)[0] for argument in (options.key, *options.response)}
    plain = dict(zip(systems, plain_names([*systems], labels), strict=True))
    systems = {plain[name]: result for name, result in systems.items()}
    baseline, worst = (
        None if name is None else plain.get(name, name)
        for name in (options.baseline, options.fail_if_worse)
    )
    for option, name in (("baseline", baseline), ("fail-if-worse", worst)):
        if name is not None and name not in systems:
            raise UsageError(f"--{option} {name}: the responses are {', '.join(systems)}")
    metrics = options.metrics
    if metrics is not None:
        metrics = common_metrics(results, metrics, options.rate)
    compared = compare(systems, metrics=metrics, by=options.by, baseline=baseline, **testing)
    return compared, worst


def _find_worse(comparison: Comparison, baseline: str, metrics: str | None) -> list[str]:
    """A sentence for each system that is significantly worse than the baseline.

    Only metrics that were named count: with `conll`, not its parts.
    """
    names = comparison.metrics if metrics is None else _list_as_written(metrics)
    worse = []
    for system in comparison.systems:
        losses = [
            comparison.difference(metric, system, baseline)
            for metric in comparison.metrics
            if metric in names
            and system != baseline
            and comparison.is_better(metric, baseline, system)
        ]
        if losses:
            reasons = (
                f"{p.metric} ({100 * p.difference:.2f}, p = {p.adjusted_p:.2g})" for p in losses
            )
            worse.append(f"{system} is significantly worse than {baseline} by {', '.join(reasons)}")
    return worse


def _list_as_written(metrics: str) -> list[str]:
    """The metrics that a text names, presets expanded, but not the parts of a metric."""
    from corefeval.checks import split_list
    from corefeval.metrics import presets, spell

    names: list[str] = []
    for name in split_list(metrics):
        names += [spell(member) for member in presets().get(name.lower(), (name,))]
    return names


def probe(options: ParsedOptions) -> int:
    """Score responses to a probe; the exit status says whether a figure is under its limit."""
    from corefeval.probes.result import ProbeResult, compare_all
    from corefeval.results import is_saved

    limits = []
    for name, limit in split_limits(options.fail_under or ()):
        check_choice("a limit", name, ("accuracy", "recall", "precision", "f1"))
        limits.append(("accuracy", "f1", limit) if name == "accuracy" else ("links", name, limit))
    if options.write is not None and is_saved(options.probe):
        raise UsageError("--write needs the probe: a saved result has no texts")
    options.key, request = options.probe, make_request(options, "muc")
    results: list[Any] = results_of("probe", options, [request], _score_probe)
    for number, result in enumerate(results):
        if not isinstance(result, ProbeResult):
            raise UsageError(
                f"{result.response} is no result of a probe: score and compare take it"
            )
        results[number] = result.view(**options.given("by", "contrast", "level"))
    if results:
        with show_trials(options.quiet):
            pairs = compare_all(results, **options.given("trials", "seed"))
        drawing = {"by_document": options.by_item, "comparisons": pairs}
        drawing |= options.given(*TABLE_OPTIONS.split())
        show(results, options.output, format=options.format, **drawing)
    if options.write is not None:
        _read(options).write(options.write)
    if options.save is not None:
        keep(results, options.save, quiet=options.quiet)
    tell((notice for result in results for notice in result.notices), quiet=options.quiet)
    return fail(find_low(results, limits))


def _read(options: ParsedOptions) -> Any:
    from corefeval.probes.readers import read_probe

    return read_probe(options.probe, format=options.probe_format, encoding=options.encoding)


def _score_probe(
    key: str, files: Sequence[tuple[str, str]], options: ParsedOptions, requests: object
) -> Iterator[list[Any]]:
    """A list with the result of each response."""
    from corefeval.probes.decisions import probe

    questions = _read(options)
    for name, path in files:
        yield [probe(questions, path, **options.given(*REQUEST_OPTIONS)).rename(name)]
