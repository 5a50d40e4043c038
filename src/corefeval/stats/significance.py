"""Significance: whether two systems would differ so much if they were the same.

Tests of one pair of results, p-values of many, and their correction for how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_choice, check_count, check_probability, check_seed
from corefeval.diagnostics import UsageError
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.intervals import Interval, middle
from corefeval.stats.resampling import (
    Stack,
    bootstrap,
    every_swap,
    name_pair,
    stack_comparable,
    swaps,
)

Test = Literal["randomization", "bootstrap", "exact"]
Correction = Literal["holm", "bonferroni", "none"]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

EXACT_LIMIT = 20  # half a million ways to swap
# Scores that are equal on paper may differ in their last bits.
TOLERANCE = 1e-12

_TRIALS, _SAMPLES = 10_000, 1000


@dataclass(frozen=True, slots=True)
class Options:
    """How systems are compared; an exact test has no `trials`, and a bootstrap no `samples`."""

    rate: str = "f1"
    test: Test = "randomization"
    trials: int = _TRIALS
    seed: int = 0
    correction: Correction = "holm"
    alpha: float = 0.05
    level: float = 0.95
    samples: int = _SAMPLES
    baseline: str | None = None

    @classmethod
    def of(cls, *, test: Test, trials: int | None, samples: int | None, **others: Any) -> Options:
        """The options that were asked for; a UsageError for one that is out of range, or unused."""
        check_choice("test", test, get_args(Test))
        if test == "exact" and trials is not None:
            raise UsageError("an exact test tries all swaps: leave out trials")
        if test == "bootstrap" and samples is not None:
            raise UsageError("a bootstrap test uses its trials for intervals: leave out samples")
        options = cls(
            test=test,
            trials=_TRIALS if trials is None else trials,
            samples=_SAMPLES if samples is None else samples,
            **others,
        )
        check_choice("correction", options.correction, get_args(Correction))
        check_count("the number of trials", options.trials)
        check_count("the number of samples", options.samples)
        check_seed(options.seed)
        check_probability("alpha", options.alpha)
        check_probability("the level of an interval", options.level)
        return options

    @property
    def settings(self) -> dict[str, str]:
        """What the numbers depend on, in the order of the signature."""
        trials = {} if self.test == "exact" else {"trials": str(self.trials)}
        samples = {} if self.test == "bootstrap" else {"samples": str(self.samples)}
        return {
            "test": self.test,
            **trials,
            **samples,
            "seed": str(self.seed),
            "correction": self.correction,
            "alpha": f"{self.alpha:g}",
            **({} if self.baseline is None else {"baseline": self.baseline}),
        }


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The difference of a rate (first − second) and its p-value.

    `interval` is that of the difference, where the test gives one.
    """

    metric: str
    rate: str
    test: Test
    difference: float
    p: float
    trials: int
    interval: Interval | None = None


def randomization(
    first: Result,
    second: Result,
    *,
    metrics: Iterable[object] | None = None,
    rate: str = "f1",
    trials: int = 10_000,
    seed: int = 0,
) -> dict[str, PairedTest]:
    """Paired approximate randomization, two-sided, for all metrics from one set of swaps.

    In each trial the counts of each document change sides with probability ½. With c of n trials
    in which the scores are at least as far apart as observed, p = (c + 1) / (n + 1).
    (Noreen 1989; Moosavi & Strube 2016, section 6.)

    >>> import corefeval
    >>> key = {name: [["a", "b", "c"]] for name in "12345678"}
    >>> better, worse = ({name: [list(side)] for name in key} for side in ("abc", "ab"))
    >>> a, b = (corefeval.score(key, side, metrics="muc") for side in (better, worse))
    >>> test = randomization(a, b)["muc"]
    >>> round(test.difference, 3), 0.005 < test.p < 0.011, exact(a, b)["muc"].p
    (0.333, True, 0.0078125)
    """
    check_count("the number of trials", trials)
    check_seed(seed)
    stacked = stack_comparable(name_pair(first, second), metrics, rate=rate)
    p = randomization_p(stacked, one_pair(), rate, trials, seed)[:, 0]
    return _tests(stacked, rate, "randomization", p, trials)


def exact(
    first: Result,
    second: Result,
    *,
    metrics: Iterable[object] | None = None,
    rate: str = "f1",
) -> dict[str, PairedTest]:
    """The share of all 2ⁿ ways to swap n documents in which scores are as far apart as observed.

    What `randomization` approximates; for 20 documents at most.
    """
    stacked = stack_comparable(name_pair(first, second), metrics, rate=rate)
    p = exact_p(stacked, one_pair(), rate)[:, 0]
    return _tests(stacked, rate, "exact", p, 2**stacked.n_documents)


def bootstrap_test(
    first: Result,
    second: Result,
    *,
    metrics: Iterable[object] | None = None,
    rate: str = "f1",
    trials: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> dict[str, PairedTest]:
    """Paired bootstrap, two-sided: how often the better one is not better on drawn documents.

    With c of n such samples, p = 2 (c + 1) / (n + 1), at most 1; and 1 where there is no difference
    to begin with. Of d documents p is never below 2¹⁻ᵈ, the least that swapping them could give: if
    all say the same, so do all samples, however few they are. `interval` is that of the difference.
    """
    check_count("the number of trials", trials)
    check_seed(seed)
    check_probability("the level of an interval", level)
    stacked = stack_comparable(name_pair(first, second), metrics, rate=rate)
    rates = bootstrap(stacked, trials, seed, rate=rate)
    samples = np.stack([rates[metric][rate] for metric in stacked.metrics])
    gaps = samples[:, 0] - samples[:, 1]
    observed = observe_differences(stacked, one_pair(), rate)[:, 0]
    p = bootstrap_p(gaps, observed, least_swap_p(stacked.n_documents))
    between = [middle(values, level) for values in gaps]
    return _tests(stacked, rate, "bootstrap", p, trials, between)


def observe_differences(stacked: Stack, pairs: Pairs, rate: str) -> Numbers:
    """The differences of the rate: metrics × pairs."""
    scores = stacked.rate(stacked.totals.__getitem__, rate)
    return np.asarray(scores[:, pairs[0]] - scores[:, pairs[1]])


def randomization_p(stacked: Stack, pairs: Pairs, rate: str, trials: int, seed: int) -> Numbers:
    """P-values of `randomization`: metrics × pairs."""
    blocks = swaps(stacked.n_documents, trials, seed, bytes_each=_swap_bytes(stacked))
    distant, _ = _distant_swaps(stacked, pairs, rate, blocks)
    return np.asarray((distant + 1) / (trials + 1))


def exact_p(stacked: Stack, pairs: Pairs, rate: str) -> Numbers:
    """P-values of `exact`: metrics × pairs."""
    documents = stacked.n_documents
    if documents > EXACT_LIMIT:
        raise UsageError(
            f"an exact test is for {EXACT_LIMIT} documents at most, and here are {documents:,}: "
            "use randomization"
        )
    blocks = every_swap(documents, bytes_each=_swap_bytes(stacked))
    distant, _ = _distant_swaps(stacked, pairs, rate, blocks)
    return np.asarray(distant / 2 ** (documents - 1))


def one_sided_p(
    stacked: Stack, pairs: Pairs, rate: str, trials: int, seed: int
) -> tuple[Numbers, Numbers]:
    """P-values that the first of each pair is better, and that the second is: metrics × pairs.

    The share of swaps by which the better one is at least as much better as observed. Each way to
    swap counts together with its opposite, which turns the difference round: so this is half the
    two-sided p for the system that is ahead, and ½ and half the share of swaps no further apart
    than observed for the one that is not. Where there are no more ways than trials, all are gone
    through, and nothing is random.
    """
    documents = stacked.n_documents
    room = _swap_bytes(stacked)
    if documents <= EXACT_LIMIT and 2 ** (documents - 1) <= trials:
        more, ways = 0, 2 ** (documents - 1)
        blocks = every_swap(documents, bytes_each=room)
    else:
        more, ways = 1, trials + 1
        blocks = swaps(documents, trials, seed, bytes_each=room)
    distant, beyond = _distant_swaps(stacked, pairs, rate, blocks)
    ahead, behind = (distant + more) / ways / 2, 0.5 + (ways - beyond) / ways / 2
    gaps = observe_differences(stacked, pairs, rate)
    first = np.where(gaps > TOLERANCE, ahead, behind)
    second = np.where(gaps < -TOLERANCE, ahead, behind)
    return first, second


_TOGETHER = 24  # pairs whose counts stay in fast memory


def _distant_swaps(
    stacked: Stack, pairs: Pairs, rate: str, blocks: Iterator[Numbers]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In how many trials each pair is at least as far apart as observed, and further: two arrays.

    Both are metrics × pairs. The counts of one side are those of the second system, with what the
    swapped documents add and take away; the other side has the rest. So one product for each system
    serves all its pairs.
    """
    totals = stacked.totals[:, :, None]
    observed = np.abs(observe_differences(stacked, pairs, rate))[:, :, None]
    distant, beyond = np.zeros((2, *observed.shape[:2]), dtype=np.int64)
    for block in blocks:
        moved = stacked.sums(block)
        for at in range(0, pairs[0].size, _TOGETHER):
            some = slice(at, at + _TOGETHER)
            left, right = pairs[0][some], pairs[1][some]
            one = moved[:, left]
            one -= moved[:, right]
            one += totals[:, right]
            other = totals[:, left] + totals[:, right] - one
            gaps = stacked.rate(one.__getitem__, rate)
            gaps -= stacked.rate(other.__getitem__, rate)
            np.abs(gaps, out=gaps)
            distant[:, some] += (gaps >= observed[:, some] - TOLERANCE).sum(axis=-1)
            beyond[:, some] += (gaps > observed[:, some] + TOLERANCE).sum(axis=-1)
    return distant, beyond


def _swap_bytes(stacked: Stack) -> int:
    """About how many bytes a trial needs besides those of its swaps."""
    counts, results, _ = stacked.values.shape
    rates = len(stacked.columns) * 3 + 16
    return 8 * int(counts * results + 2 * _TOGETHER * (rates + counts))


def least_swap_p(units: int) -> float:
    """The smallest p-value, two-sided, that there is if so many documents (or corpora) are swapped.

    >>> least_swap_p(1), least_swap_p(6)
    (1.0, 0.03125)
    """
    return 2.0 ** (1 - max(1, units))


def bootstrap_p(gaps: Numbers, difference: Numbers, least: float) -> Numbers:
    """P-values from differences on samples (… × samples) and the observed ones (…).

    None is below `least`, which is what can be known from so many documents.
    """
    samples = gaps.shape[-1]
    direction = np.sign(difference)[..., None]
    reversals = (gaps * direction <= TOLERANCE).sum(axis=-1)
    p = np.clip(2 * (reversals + 1) / (samples + 1), least, 1.0)
    return np.asarray(np.where(np.abs(difference) <= TOLERANCE, 1.0, p))


def adjust(p_values: Sequence[float] | Numbers, correction: Correction = "holm") -> Numbers:
    """P-values to be held against alpha as they are, whatever the number of tests.

    `holm` (Holm 1979): the smallest of m p-values times m, the next times m − 1 and so on, none
    smaller than the one before it; it holds the probability of any false alarm below alpha, and
    finds no less than `bonferroni`, which multiplies all by m. `none` leaves them. All are at
    most 1 and keep their order.

    >>> adjust([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> adjust([0.01, 0.04, 0.03], "bonferroni").round(3).tolist()
    [0.03, 0.12, 0.09]
    """
    check_choice("correction", correction, get_args(Correction))
    values = np.asarray(p_values, dtype=np.float64)
    if correction == "none" or not values.size:
        return values.copy()
    if correction == "bonferroni":
        return np.asarray(np.minimum(1.0, values * values.size))
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(values.size, 0, -1)
    result = np.empty_like(values)
    result[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return result


def one_pair() -> Pairs:
    """The first against the second."""
    return np.array([0]), np.array([1])


def _tests(
    stacked: Stack,
    rate: str,
    test: Test,
    p: Numbers,
    trials: int,
    between: Sequence[Interval] | None = None,
) -> dict[str, PairedTest]:
    differences = observe_differences(stacked, one_pair(), rate)[:, 0]
    return {
        metric: PairedTest(
            metric,
            rate,
            test,
            float(differences[index]),
            float(p[index]),
            trials,
            between[index] if between else None,
        )
        for index, metric in enumerate(stacked.metrics)
    }
