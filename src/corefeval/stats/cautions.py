"""What should make people careful about a comparison, as notices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from corefeval.diagnostics import Notice, plural
from corefeval.stats.effects import TIE

if TYPE_CHECKING:
    from corefeval.stats.comparison import Options, PairDifference


def with_the_whole(
    pairs: Iterable[PairDifference], scores: Mapping[str, Mapping[str, float]]
) -> tuple[tuple[PairDifference, ...], list[Notice]]:
    """A difference of segments that the whole document turns round is not significant."""
    found, turned = [], []
    for pair in pairs:
        whole = scores[pair.metric][pair.first] - scores[pair.metric][pair.second]
        if whole * pair.difference < 0:
            pair = replace(pair, significant=False)
            turned.append(f"{pair.first} and {pair.second} by {pair.metric}")
        found.append(pair)
    if not turned:
        return tuple(found), []
    message = "the whole document and its segments put systems in different orders, which is not "
    message += f"taken for significant: {'; '.join(turned[:5])}{'; …' if len(turned) > 5 else ''}"
    return tuple(found), [Notice("turned-by-segments", message, len(turned), tuple(turned))]


def opposed(pairs: Sequence[PairDifference], unit: str) -> list[Notice]:
    """A notice where the mean over documents speaks for another system than all together."""
    turned = tuple(
        f"{pair.first} and {pair.second} by {pair.metric}"
        for pair in pairs
        if pair.difference * pair.effect.mean < 0
        and min(abs(pair.difference), abs(pair.effect.mean)) > TIE
    )
    if not turned:
        return []
    message = f"one system is better on all {unit}s together, the other in the mean over {unit}s, "
    message += f"which effect sizes are of: {'; '.join(turned[:5])}"
    message += "; …" if len(turned) > 5 else ""
    return [Notice("opposite-means", message, len(turned), turned)]


def hopeless(n_documents: int, n_pairs: int, options: Options, unit: str) -> tuple[Notice, ...]:
    """A notice where not even the clearest difference could be significant."""
    tests = 1 if options.correction == "none" else n_pairs
    by_trials = {"randomization": 1, "bootstrap": 2, "exact": 0}[options.test]
    by_trials_p = by_trials / (options.trials + 1)
    by_documents_p = 0.0 if options.test == "bootstrap" else 2.0 ** (1 - n_documents)
    least = max(by_trials_p, by_documents_p)
    if least * tests <= options.alpha:
        return ()
    few_trials = by_trials_p > by_documents_p
    what = plural(options.trials, "trial") if few_trials else plural(n_documents, unit)
    message = (
        f"with {what} no p-value is much below {least:.2g}: with {plural(tests, 'test')} "
        f"nothing can be significant at {options.alpha:g}"
    )
    return (Notice("hopeless-test", message),)
