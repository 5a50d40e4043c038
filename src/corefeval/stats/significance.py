"""Significance: whether two systems would differ so much if they were the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_count, check_probability, check_seed
from corefeval.diagnostics import UsageError
from corefeval.results import Result
from corefeval.results.rates import Numbers
from corefeval.stats.checks import named
from corefeval.stats.intervals import Interval, middle
from corefeval.stats.resampling import Stack, bootstrap, comparable, every_swap, swaps

Test = Literal["randomization", "bootstrap", "exact"]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

EXACT_LIMIT = 20  # half a million ways to swap
# Scores that are equal on paper may differ in their last bits.
TOLERANCE = 1e-12


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
    >>> found = randomization(a, b)["muc"]
    >>> round(found.difference, 3), 0.005 < found.p < 0.011, exact(a, b)["muc"].p
    (0.333, True, 0.0078125)
    """
    check_count("the number of trials", trials)
    check_seed(seed)
    stacked = comparable(named((first, second)), metrics, rate=rate)
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
    stacked = comparable(named((first, second)), metrics, rate=rate)
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
    to begin with. `interval` is that of the difference.
    """
    check_count("the number of trials", trials)
    check_seed(seed)
    check_probability("the level of an interval", level)
    stacked = comparable(named((first, second)), metrics, rate=rate)
    rates = bootstrap(stacked, trials, seed, rate=rate)
    drawn = np.stack([rates[metric][rate] for metric in stacked.metrics])
    moved = drawn[:, 0] - drawn[:, 1]
    p = bootstrap_p(moved, observed(stacked, one_pair(), rate)[:, 0])
    between = [middle(values, level) for values in moved]
    return _tests(stacked, rate, "bootstrap", p, trials, between)


def observed(stacked: Stack, pairs: Pairs, rate: str) -> Numbers:
    """The differences of the rate: metrics × pairs."""
    scores = stacked.rate(stacked.totals.__getitem__, rate)
    return np.asarray(scores[:, pairs[0]] - scores[:, pairs[1]])


def randomization_p(stacked: Stack, pairs: Pairs, rate: str, trials: int, seed: int) -> Numbers:
    """P-values of `randomization`: metrics × pairs."""
    blocks = swaps(stacked.n_documents, trials, seed, bytes_each=_swap_bytes(stacked, pairs))
    return np.asarray((_distant_swaps(stacked, pairs, rate, blocks) + 1) / (trials + 1))


def exact_p(stacked: Stack, pairs: Pairs, rate: str) -> Numbers:
    """P-values of `exact`: metrics × pairs."""
    documents = stacked.n_documents
    if documents > EXACT_LIMIT:
        raise UsageError(
            f"an exact test is for {EXACT_LIMIT} documents at most, and here are {documents:,}: "
            "use randomization"
        )
    blocks = every_swap(documents, bytes_each=_swap_bytes(stacked, pairs))
    return np.asarray(_distant_swaps(stacked, pairs, rate, blocks) / 2 ** (documents - 1))


def _distant_swaps(
    stacked: Stack, pairs: Pairs, rate: str, blocks: Iterator[Numbers]
) -> NDArray[np.int64]:
    """In how many trials each pair is at least as far apart as observed: metrics × pairs.

    The counts of one side are those of the second system, with what the swapped documents add and
    take away; the other side has the rest. So one product for each system serves all its pairs.
    """
    left, right = pairs
    totals = stacked.totals[:, :, None]
    threshold = np.abs(observed(stacked, pairs, rate))[:, :, None] - TOLERANCE
    found = np.zeros(threshold.shape[:2], dtype=np.int64)
    for block in blocks:
        moved = stacked.sums(block)

        def sides(rows: slice, moved: Numbers = moved) -> Numbers:
            some, whole = moved[rows], totals[rows]
            one = some[:, left] - some[:, right] + whole[:, right]
            return np.stack((one, whole[:, left] + whole[:, right] - one), axis=1)

        rates = stacked.rates(sides)
        for index, metric in enumerate(stacked.metrics):
            one, other = rates[metric][rate]
            found[index] += (np.abs(one - other) >= threshold[index]).sum(axis=1)
    return found


def _swap_bytes(stacked: Stack, pairs: Pairs) -> int:
    """About how many bytes a trial needs besides those of its swaps."""
    counts, results, _ = stacked.values.shape
    rates = len(stacked.columns) * 3 + 16
    return 8 * (int(counts * results) + 2 * pairs[0].size * rates)


def bootstrap_p(moved: Numbers, difference: Numbers) -> Numbers:
    """P-values from differences on samples (… × samples) and the observed ones (…)."""
    samples = moved.shape[-1]
    direction = np.sign(difference)[..., None]
    turned = (moved * direction <= TOLERANCE).sum(axis=-1)
    p = np.minimum(1.0, 2 * (turned + 1) / (samples + 1))
    return np.asarray(np.where(np.abs(difference) <= TOLERANCE, 1.0, p))


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
    differences = observed(stacked, one_pair(), rate)[:, 0]
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
