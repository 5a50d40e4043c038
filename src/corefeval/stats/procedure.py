"""The procedure of a comparison: trials, tests, and what should make people careful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import Notice, plural
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.comparison import Comparison, PairDifference
from corefeval.stats.differences import TIE, document_rates, measure_effect
from corefeval.stats.intervals import middle, warn_of_few
from corefeval.stats.resampling import Stack, bootstrap, name_results, stack_comparable, unit_of
from corefeval.stats.significance import (
    Correction,
    Options,
    Pairs,
    Test,
    adjust,
    bootstrap_p,
    exact_p,
    least_swap_p,
    observe_differences,
    randomization_p,
)
from corefeval.syntax import split_list

_SHOWN = 5  # of what a notice lists


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
    at most 20 documents), with 10,000 `trials` where nothing else is said; `correction` is over all
    pairs of systems, for each metric. Intervals of scores and of differences, of which `level` is
    the share of samples that they hold, are from a bootstrap of `samples` samples (1,000); the
    bootstrap test takes its own trials for them. With a `baseline` the others are compared with it
    alone. A UsageError says what cannot be compared, or would not be used.

    >>> import corefeval
    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> systems = {"full": [list("abc")], "half": [list("ab")], "none": [["a"]]}
    >>> compared = compare({
    ...     name: corefeval.score(key, dict.fromkeys(key, entities), metrics="muc, lea")
    ...     for name, entities in systems.items()
    ... })
    >>> compared.better_than("muc", "full"), compared.ranks("lea")
    (('half', 'none'), {'full': 1, 'half': 2, 'none': 3})
    >>> compared.differences("muc")[0].outcomes
    {'win': 8, 'loss': 0, 'tie': 0}
    """
    options = Options.of(
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
    systems = name_results(results)
    stacked = stack_comparable(systems, metrics, rate=rate)
    if baseline is not None:
        check_choice("the baseline", baseline, systems)
    wanted = list(split_list(by) if isinstance(by, str) else by)
    for result in systems.values():  # all must have them, in whatever spelling
        features = tuple(dict.fromkeys(result.by(name).feature for name in wanted))
    compared = replace(_compare(systems, stacked, options), by=features)
    every = [notice for result in systems.values() for notice in result.notices]
    own = [*compared.notices, *_warn_of_slices(compared)]
    if metrics is None:
        own += _left_out_metrics(compared)
    # What was said of the key is the same for all: it is not added up.
    return replace(compared, notices=tuple(dict.fromkeys((*every, *own))))


def compare_slice(parts: Mapping[str, Result], whole: Comparison) -> Comparison:
    """A slice of each system's results, compared as the whole was."""
    metrics = whole.metrics_of(parts)
    return _compare(parts, stack_comparable(parts, metrics, rate=whole.rate), whole.options)


def _compare(systems: Mapping[str, Result], stacked: Stack, options: Options) -> Comparison:
    samples = options.trials if options.test == "bootstrap" else options.samples
    by_rate = bootstrap(stacked, samples, options.seed, rate=options.rate)
    resampled = np.stack([by_rate[metric][options.rate] for metric in stacked.metrics])
    names = tuple(systems)
    first, second = _pairs(names, options.baseline)
    p = _p_values(stacked, (first, second), options, resampled)
    scores, of_segments = _scores(systems, stacked, options.rate)
    pairs = _pair_differences(stacked, names, (first, second), options, p, resampled)
    agreeing, reversals = _hold_to_whole(pairs, scores)
    unit = unit_of(systems[names[0]])
    return Comparison(
        metrics=stacked.metrics,
        scores=scores,
        intervals={
            metric: {name: middle(resampled[m, s], options.level) for s, name in enumerate(names)}
            for m, metric in enumerate(stacked.metrics)
        },
        pairs=agreeing,
        results=systems,
        options=options,
        notices=(
            *warn_of_few(systems[names[0]]),
            *_warn_of_hopeless(stacked.n_documents, first.size, options, unit),
            *reversals,
            *_warn_of_opposite_means(agreeing, unit),
        ),
        segment_scores=of_segments,
    )


def _scores(
    systems: Mapping[str, Result], stacked: Stack, rate: str
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """By metric and system: of whole documents; of segments, where the results are of these."""
    rows = stacked.rate(stacked.totals.__getitem__, rate)
    compared = {
        metric: dict(zip(systems, row.tolist(), strict=True))
        for metric, row in zip(stacked.metrics, rows, strict=True)
    }
    if not any(result.whole_rates for result in systems.values()):
        return compared, {}
    whole = {
        metric: {
            name: result.whole_rates.get(metric, {}).get(rate, compared[metric][name])
            for name, result in systems.items()
        }
        for metric in compared
    }
    return whole, compared


def _pairs(names: tuple[str, ...], baseline: str | None) -> Pairs:
    """The systems that are compared: all with all, or each with the baseline."""
    pairs = list(combinations(range(len(names)), 2))
    if baseline is not None:
        place = names.index(baseline)
        pairs = [(other, place) for other in range(len(names)) if other != place]
    first, second = np.array(pairs).T
    return first, second


def _p_values(stacked: Stack, pairs: Pairs, options: Options, resampled: Numbers) -> Numbers:
    """Metrics × pairs; `resampled` is the rate of samples, metrics × systems × samples."""
    rate = options.rate
    if options.test == "randomization":
        return randomization_p(stacked, pairs, rate, options.trials, options.seed)
    if options.test == "exact":
        return exact_p(stacked, pairs, rate)
    differences = observe_differences(stacked, pairs, rate)
    least = least_swap_p(stacked.n_documents)
    columns = [
        bootstrap_p(resampled[:, one] - resampled[:, other], differences[:, index], least)
        for index, (one, other) in enumerate(zip(*pairs, strict=True))
    ]
    return np.stack(columns, axis=1)


def _pair_differences(
    stacked: Stack,
    names: tuple[str, ...],
    pairs: Pairs,
    options: Options,
    p: Numbers,
    resampled: Numbers,
) -> Iterator[PairDifference]:
    differences = observe_differences(stacked, pairs, options.rate)
    for index, metric in enumerate(stacked.metrics):
        documents = document_rates(stacked, metric, options.rate)
        corrected = adjust(p[index], options.correction)
        for pair, (one, other) in enumerate(zip(*pairs, strict=True)):
            counted = stacked.counted(metric, (one, other))
            yield PairDifference(
                first=names[one],
                second=names[other],
                metric=metric,
                difference=float(differences[index, pair]),
                interval=middle(resampled[index, one] - resampled[index, other], options.level),
                p=float(p[index, pair]),
                adjusted_p=float(corrected[pair]),
                significant=bool(corrected[pair] <= options.alpha),
                effect=measure_effect((documents[one] - documents[other])[counted]),
            )


def _hold_to_whole(
    pairs: Iterable[PairDifference], scores: Mapping[str, Mapping[str, float]]
) -> tuple[tuple[PairDifference, ...], list[Notice]]:
    """A difference of segments that the whole document turns round is not significant."""
    checked, reversals = [], []
    for pair in pairs:
        whole = scores[pair.metric][pair.first] - scores[pair.metric][pair.second]
        if whole * pair.difference < 0:
            pair = replace(pair, significant=False)
            reversals.append(f"{pair.first} and {pair.second} by {pair.metric}")
        checked.append(pair)
    message = "the whole document and its segments rank systems differently, which is not "
    message += f"counted as significant: {_list(reversals, '; ')}"
    return tuple(checked), _notice("turned-by-segments", message, reversals)


def _warn_of_opposite_means(pairs: Sequence[PairDifference], unit: str) -> list[Notice]:
    """A notice where the mean over documents speaks for another system than all together."""
    opposites = [
        f"{pair.first} and {pair.second} by {pair.metric}"
        for pair in pairs
        if pair.difference * pair.effect.mean < 0
        and min(abs(pair.difference), abs(pair.effect.mean)) > TIE
    ]
    message = f"one system is better on all {unit}s together, the other on average over {unit}s, "
    message += f"which effect sizes measure: {_list(opposites, '; ')}"
    return _notice("opposite-means", message, opposites)


def _warn_of_hopeless(n_documents: int, n_pairs: int, options: Options, unit: str) -> list[Notice]:
    """A notice where not even the clearest difference could be significant."""
    tests = 1 if options.correction == "none" else n_pairs
    by_trials = {"randomization": 1, "bootstrap": 2, "exact": 0}[options.test]
    by_trials_p = by_trials / (options.trials + 1)
    by_documents_p = least_swap_p(n_documents)
    least = max(by_trials_p, by_documents_p)
    if least * tests <= options.alpha:
        return []
    few_trials = by_trials_p > by_documents_p
    what = plural(options.trials, "trial") if few_trials else plural(n_documents, unit)
    message = (
        f"with {what} no p-value is much below {least:.2g}: with {plural(tests, 'test')} "
        f"nothing can be significant at {options.alpha:g}"
    )
    return [Notice("hopeless-test", message)]


def _warn_of_slices(compared: Comparison) -> list[Notice]:
    """Notices on slices that cannot be compared, or in which nothing can be significant."""
    few, hopeless = [], []
    n_pairs = len(compared.pairs) // len(compared.metrics)
    for feature, value, parts in compared._slice_parts():
        number = len(next(iter(parts.values())).document_ids)
        if number < 2:
            few.append(f"{feature}={value}")
        elif _warn_of_hopeless(number, n_pairs, compared.options, compared.unit):
            hopeless.append(f"{feature}={value}")
    left_out = f"{plural(len(few), 'slice')} of fewer than two documents left out: {_list(few)}"
    message = f"{plural(len(hopeless), 'slice')} with too few documents for anything to be "
    message += f"significant, so all systems share a rank: {_list(hopeless)}"
    return [
        *_notice("small-slices", left_out, few),
        *_notice("hopeless-slices", message, hopeless),
    ]


def _left_out_metrics(compared: Comparison) -> list[Notice]:
    """A notice on metrics that not all results have."""
    results = compared.results.values()
    every = dict.fromkeys(metric for result in results for metric in result.metrics)
    missing = [m for m in every if not all(m in result.tables for result in results)]
    message = f"not compared, because not all responses were scored by it: {', '.join(missing)}"
    return _notice("left-out-metrics", message, missing)


def _notice(kind: str, message: str, items: Sequence[str]) -> list[Notice]:
    return [Notice(kind, message, len(items), tuple(items))] if items else []


def _list(names: Sequence[str], separator: str = ", ") -> str:
    return separator.join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])
