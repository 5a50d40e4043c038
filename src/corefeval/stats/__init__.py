"""Statistics: intervals, tests and comparisons, from per-document counts alone.

Here systems are compared on one corpus; `compare_corpora` compares them over several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from corefeval.checks import check_choice, split_list
from corefeval.diagnostics import Notice, plural
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.bootstraps import (
    Interval,
    middle,
    warn_of_few,
    with_intervals,
)
from corefeval.stats.comparison import (
    Comparison,
    concordance,
)
from corefeval.stats.corpora import compare_corpora
from corefeval.stats.pairs import (
    differences,
    documents_needed,
)
from corefeval.stats.resampling import Stack, bootstrap, name_results, stack_comparable, unit_of
from corefeval.stats.significance import (
    TIE,
    ComparisonOptions,
    Correction,
    Pairs,
    Test,
    adjust,
    bootstrap_p,
    document_rates,
    exact_p,
    least_swap_p,
    measure_effect,
    observe_differences,
    partial_conjunction,
    randomization_p,
    replicate,
)
from corefeval.stats.standings import (
    EVERYTHING,
    CorporaComparison,
    PairDifference,
    Standing,
    conclude,
)

__all__ = [
    "Comparison",
    "CorporaComparison",
    "Correction",
    "Interval",
    "PairDifference",
    "Test",
    "adjust",
    "compare",
    "compare_corpora",
    "concordance",
    "differences",
    "documents_needed",
    "partial_conjunction",
    "replicate",
    "with_intervals",
]

_SHOWN = 5  # names that a notice lists


def compare(
    results: Sequence[Result] | Mapping[str, Result],
    *,
    metrics: Iterable[object] | None = None,
    by: str | Iterable[str] = (),
    rate: str = "f1",
    test: Test = "randomization",
    trials: int | None = None,
    seed: int = 0,
    correction: Correction = "holm",
    alpha: float = 0.05,
    level: float = 0.95,
    samples: int | None = None,
    baseline: str | None = None,
) -> Comparison:
    """Compare the results of several systems on the same documents, each with each.

    `results` may be a mapping, which names the systems; otherwise each has the name of its
    response. `metrics` are by default those that all results have. `by` names features by which all
    were scored: systems are then compared within each of their values too, in `slices`.

    `test` is `randomization` (paired, approximate), `bootstrap` (paired) or `exact` (all swaps of
    at most 20 documents), with 10,000 `trials` by default; `correction` is over all pairs of
    systems, for each metric. Intervals of scores and differences, which hold the middle `level`,
    come from a bootstrap of `samples` samples (1,000), or from that of the test. With a `baseline`
    the others are compared with it alone. A UsageError says what cannot be compared.

    >>> import corefeval
    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> systems = {"full": [list("abc")], "half": [list("ab")], "none": [["a"]]}
    >>> compared = compare({
    ...     name: corefeval.score(key, dict.fromkeys(key, entities), metrics="muc, lea")
    ...     for name, entities in systems.items()
    ... })
    >>> compared.better_than("muc", "full"), compared.ranks("lea")
    (('half', 'none'), {'full': 1, 'half': 2, 'none': 3})
    """
    testing = {"rate": rate, "seed": seed, "correction": correction, "alpha": alpha, "level": level}
    options = ComparisonOptions.of(
        test=test, trials=trials, samples=samples, baseline=baseline, **testing
    )
    features = split_list(by) if isinstance(by, str) else by
    return _compare_results(name_results(results), metrics, [*features], options)


def _compare_results(
    systems: Mapping[str, Result],
    metrics: Iterable[object] | None,
    by: Sequence[str],
    options: ComparisonOptions,
) -> Comparison:
    """The comparison with all its notices: those of the results, of slices and of metrics."""
    stacked = stack_comparable(systems, metrics, rate=options.rate)
    if options.baseline is not None:
        check_choice("the baseline", options.baseline, systems)
    for result in systems.values():  # raises for a result that lacks a feature
        features = tuple(dict.fromkeys(result.by(name).feature for name in by))
    compared = replace(_compare(systems, stacked, options), by=features)
    # Notices about the key are equal for all results: they are not added up.
    notices = [notice for result in systems.values() for notice in result.notices]
    notices += [*compared.notices, *_warn_of_slices(compared)]
    if metrics is None:
        every = dict.fromkeys(name for result in systems.values() for name in result.metrics)
        missing = [m for m in every if not all(m in result.tables for result in systems.values())]
        message = f"not compared, because not all responses were scored by it: {', '.join(missing)}"
        notices += _make_notice("left-out-metrics", message, missing)
    return replace(compared, notices=tuple(dict.fromkeys(notices)))


def compare_slice(parts: Mapping[str, Result], compared: Comparison) -> Comparison:
    """A slice of each system's results, compared as their results were."""
    stacked = stack_comparable(parts, compared.metrics_of(parts), rate=compared.rate)
    return _compare(parts, stacked, compared.options)


def _compare(
    systems: Mapping[str, Result], stacked: Stack, options: ComparisonOptions
) -> Comparison:
    """Systems on one corpus, with notices on what their numbers are worth."""
    samples = options.trials if options.test == "bootstrap" else options.samples
    by_rate = bootstrap(stacked, samples, options.seed, rate=options.rate)
    resampled = np.stack([by_rate[metric][options.rate] for metric in stacked.metrics])
    first = next(iter(systems.values()))
    unit = unit_of(first)
    standings = _make_standings(tuple(systems), stacked, options, resampled)
    segment_scores = {}
    reversals: list[Notice] = []
    if any(result.whole_rates for result in systems.values()):
        segment_scores = {standing.metric: standing.scores for standing in standings}
        standings, reversals = _hold_to_document(standings, systems, options.rate)
    pairs = [pair for standing in standings for pair in standing.pairs]
    notices = [
        *warn_of_few(first),
        *_warn_of_hopeless(stacked.n_documents, len(standings[0].pairs), options, unit),
        *reversals,
        *_warn_of_opposite_means(pairs, unit),
    ]
    return Comparison(
        tuple(standings), systems, options, (), tuple(notices), segment_scores=segment_scores
    )


def _make_standings(
    names: tuple[str, ...], stacked: Stack, options: ComparisonOptions, resampled: Numbers
) -> list[Standing[PairDifference]]:
    """The standing by each metric; `resampled` is metrics × systems × samples."""
    places = list(combinations(range(len(names)), 2))
    if options.baseline is not None:
        baseline = names.index(options.baseline)
        places = [(system, baseline) for system in range(len(names)) if system != baseline]
    first, second = np.array(places).T
    p_values = _p_values(stacked, (first, second), options, resampled)
    scores = stacked.rate(stacked.totals.__getitem__, options.rate)
    standings = []
    for row, metric in enumerate(stacked.metrics):
        rates = document_rates(stacked, metric, options.rate)
        effects = [
            measure_effect((rates[a] - rates[b])[stacked.counted(metric, (a, b))])
            for a, b in places
        ]
        pairs = conclude(
            PairDifference,
            [(names[a], names[b]) for a, b in places],
            scores[row, first] - scores[row, second],
            [resampled[row, a] - resampled[row, b] for a, b in places],
            p_values[row],
            [(metric, effect) for effect in effects],
            options,
        )
        by_name = dict(zip(names, scores[row].tolist(), strict=True))
        ends = (middle(samples, options.level) for samples in resampled[row])
        by_name_ends = dict(zip(names, ends, strict=True))
        standings.append(Standing(metric, EVERYTHING, (), by_name, by_name_ends, pairs))
    return standings


def _p_values(
    stacked: Stack, pairs: Pairs, options: ComparisonOptions, resampled: Numbers
) -> Numbers:
    """Metrics × pairs; `resampled` is metrics × systems × samples."""
    rate = options.rate
    if options.test == "randomization":
        return randomization_p(stacked, pairs, rate, 1, options.trials, options.seed)
    if options.test == "exact":
        return exact_p(stacked, pairs, rate)
    differences = observe_differences(stacked, pairs, rate)
    least = least_swap_p(stacked.n_documents)
    columns = [
        bootstrap_p(resampled[:, a] - resampled[:, b], differences[:, column], least)
        for column, (a, b) in enumerate(zip(*pairs, strict=True))
    ]
    return np.stack(columns, axis=1)


def _hold_to_document(
    standings: Iterable[Standing[PairDifference]], systems: Mapping[str, Result], rate: str
) -> tuple[list[Standing[PairDifference]], list[Notice]]:
    """Standings of segments with the scores of the document that they were cut from.

    A difference of segments that the document turns round is not significant.
    """
    held, reversals = [], []
    for standing in standings:
        scores = {
            name: result.whole_rates.get(standing.metric, {}).get(rate, standing.scores[name])
            for name, result in systems.items()
        }
        pairs = []
        for pair in standing.pairs:
            if (scores[pair.first] - scores[pair.second]) * pair.difference < 0:
                pair = replace(pair, significant=False)
                reversals.append(f"{pair.first} and {pair.second} by {pair.metric}")
            pairs.append(pair)
        held.append(replace(standing, scores=scores, pairs=tuple(pairs)))
    message = "the whole document and its segments rank systems differently, which is not "
    message += f"counted as significant: {_list_first(reversals, '; ')}"
    return held, _make_notice("turned-by-segments", message, reversals)


def _warn_of_opposite_means(pairs: Sequence[PairDifference], unit: str) -> list[Notice]:
    """A notice where the mean over documents favours another system than the corpus score."""
    opposites = [
        f"{pair.first} and {pair.second} by {pair.metric}"
        for pair in pairs
        if pair.difference * pair.effect.mean < 0
        and min(abs(pair.difference), abs(pair.effect.mean)) > TIE
    ]
    message = f"one system is better on all {unit}s together, the other on average over {unit}s, "
    message += f"which effect sizes measure: {_list_first(opposites, '; ')}"
    return _make_notice("opposite-means", message, opposites)


def _warn_of_hopeless(
    n_documents: int, n_pairs: int, options: ComparisonOptions, unit: str
) -> list[Notice]:
    """A notice where not even the clearest difference could be significant."""
    tests = options.count_tests(n_pairs)
    by_trials = {"randomization": 1, "bootstrap": 2, "exact": 0}[options.test]
    by_trials_p = by_trials / (options.trials + 1)
    by_documents_p = least_swap_p(n_documents)
    least = max(by_trials_p, by_documents_p)
    if least * tests <= options.alpha:
        return []
    few_trials = by_trials_p > by_documents_p
    shortage = plural(options.trials, "trial") if few_trials else plural(n_documents, unit)
    message = (
        f"with {shortage} no p-value is much below {least:.2g}: with {plural(tests, 'test')} "
        f"nothing can be significant at {options.alpha:g}"
    )
    return [Notice("hopeless-test", message)]


def _warn_of_slices(compared: Comparison) -> list[Notice]:
    """Notices on slices that cannot be compared, or in which nothing can be significant."""
    few, hopeless = [], []
    n_pairs = len(compared.standings[0].pairs)
    for feature, value, parts in compared._slice_parts():
        number = len(next(iter(parts.values())).document_ids)
        if number < 2:
            few.append(f"{feature}={value}")
        elif _warn_of_hopeless(number, n_pairs, compared.options, compared.unit):
            hopeless.append(f"{feature}={value}")
    left_out = (
        f"{plural(len(few), 'slice')} with fewer than two documents left out: {_list_first(few)}"
    )
    message = f"{plural(len(hopeless), 'slice')} with too few documents for anything to be "
    message += f"significant, so all systems share a rank: {_list_first(hopeless)}"
    return [
        *_make_notice("small-slices", left_out, few),
        *_make_notice("hopeless-slices", message, hopeless),
    ]


def _make_notice(kind: str, message: str, items: Sequence[str]) -> list[Notice]:
    return [Notice(kind, message, len(items), tuple(items))] if items else []


def _list_first(names: Sequence[str], separator: str = ", ") -> str:
    return separator.join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])
