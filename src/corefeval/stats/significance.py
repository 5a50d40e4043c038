"""Significance: whether systems would differ so much by chance, on documents and over corpora.

P-values of many pairs at once, their correction for how many there are, and on how many corpora
one system is better. Counting the corpora with a small p-value promises too much: among twenty, one
is significant by chance. Partial conjunction tests ask instead whether at least u of n corpora hold
an effect (Dror, Baumer, Bogomolov & Reichart 2017).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import check_choice, check_count, check_probability, check_seed
from corefeval.diagnostics import UsageError
from corefeval.results.rates import Numbers
from corefeval.results.scores import LEVELS, Absent, Level
from corefeval.stats.resampling import Stack, every_swap, swaps

Test = Literal["randomization", "bootstrap", "exact"]
Correction = Literal["holm", "bonferroni", "none"]
Combination = Literal["bonferroni", "fisher"]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

EXACT_LIMIT = 20  # half a million ways to swap
# Scores that are equal on paper may differ in their last bits.
TOLERANCE = 1e-12
# Equal rates of a document may differ by what the grid of large corpora leaves of its counts.
TIE = 1e-9

_TRIALS, _SAMPLES = 10_000, 1000


@dataclass(frozen=True)
class TestingOptions:
    """How differences of systems are tested: what comparisons of every sort have in common."""

    rate: str = "f1"
    trials: int = _TRIALS
    seed: int = 0
    correction: Correction = "holm"
    alpha: float = 0.05
    level: float = 0.95

    def __post_init__(self) -> None:
        check_choice("correction", self.correction, get_args(Correction))
        check_count("the number of trials", self.trials)
        check_seed(self.seed)
        check_probability("alpha", self.alpha)
        check_probability("the level of an interval", self.level)

    @property
    def settings(self) -> dict[str, str]:
        """What the numbers depend on, in the order of the signature."""
        raise NotImplementedError

    @property
    def signature(self) -> str:
        """What the numbers depend on, to be quoted with them."""
        return "|".join(f"{name}:{value}" for name, value in self.settings.items())

    def count_tests(self, pairs: int) -> int:
        """How many tests p-values are corrected for, where there are `pairs` of systems."""
        return 1 if self.correction == "none" else pairs


@dataclass(frozen=True)
class ComparisonOptions(TestingOptions):
    """How systems are compared; an exact test has no `trials`, and a bootstrap no `samples`."""

    test: Test = "randomization"
    samples: int = _SAMPLES
    baseline: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("the number of samples", self.samples)

    @classmethod
    def of(
        cls,
        *,
        test: Test = "randomization",
        trials: int | None = None,
        samples: int | None = None,
        **options: Any,
    ) -> ComparisonOptions:
        """The options of a user; a UsageError for one that is out of range, or unused."""
        check_choice("test", test, get_args(Test))
        if test == "exact" and trials is not None:
            raise UsageError("an exact test tries all swaps: leave out trials")
        if test == "bootstrap" and samples is not None:
            raise UsageError("a bootstrap test uses its trials for intervals: leave out samples")
        trials = _TRIALS if trials is None else trials
        samples = _SAMPLES if samples is None else samples
        return cls(test=test, trials=trials, samples=samples, **options)

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


@dataclass(frozen=True)
class CorporaOptions(TestingOptions):
    """How systems are compared over corpora; see `compare_corpora`."""

    combination: Combination = "bonferroni"
    resample: tuple[Level, ...] = LEVELS
    absent: Absent = "zero"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("the combination", self.combination, get_args(Combination))
        check_choice("absent", self.absent, get_args(Absent))
        if not self.resample:
            raise UsageError(f"resample needs at least one of {', '.join(LEVELS)}")
        for level in self.resample:
            check_choice("resample", level, LEVELS)

    @property
    def question(self) -> str:
        """What averages are tested by, and the question that this answers."""
        holds = "would hold on other corpora like these"
        holds = holds if "corpora" in self.resample else "is certain on these corpora"
        return f"bootstrap of {', '.join(self.resample)}, which asks whether the order {holds}"

    @property
    def settings(self) -> dict[str, str]:
        """What the numbers depend on, in the order of the signature."""
        names = ("trials", "seed", "correction", "alpha", "level", "combination", "absent")
        return {
            "rate": self.rate,
            "resample": "+".join(self.resample),
            **{name: str(getattr(self, name)) for name in names},
        }


def observe_differences(stacked: Stack, pairs: Pairs, rate: str, cells: int = 1) -> Numbers:
    """The differences of the rate: metrics × pairs, or × means of so many `cells` in a row."""
    scores = stacked.rate(stacked.totals.__getitem__, rate)
    return _mean_of_cells(scores[:, pairs[0]] - scores[:, pairs[1]], cells)


def _mean_of_cells(gaps: Numbers, cells: int) -> Numbers:
    """The means of each `cells` pairs: the pairs of one comparison in all cells of a grid."""
    return gaps if cells == 1 else gaps.reshape(len(gaps), -1, cells, *gaps.shape[2:]).mean(axis=2)


def randomization_p(
    stacked: Stack, pairs: Pairs, rate: str, cells: int, trials: int, seed: int
) -> Numbers:
    """P-values of paired approximate randomization, two-sided: metrics × pairs (of `cells` each).

    In each trial the counts of each document change sides with probability ½. With c of n trials
    in which the scores are at least as far apart as observed, p = (c + 1) / (n + 1).
    (Noreen 1989; Moosavi & Strube 2016, section 6.)
    """
    blocks = swaps(stacked.n_documents, trials, seed, bytes_each=_swap_bytes(stacked))
    distant, _ = _count_distant_swaps(stacked, pairs, rate, blocks, cells)
    return np.asarray((distant + 1) / (trials + 1))


def exact_p(stacked: Stack, pairs: Pairs, rate: str, cells: int = 1) -> Numbers:
    """The share of all 2ⁿ swaps of n documents that part scores as far as observed.

    It is what randomization approximates, for 20 documents at most: metrics × pairs.
    """
    documents = stacked.n_documents
    if documents > EXACT_LIMIT:
        raise UsageError(
            f"an exact test is for {EXACT_LIMIT} documents at most, and there are {documents:,}: "
            "use randomization"
        )
    blocks = every_swap(documents, bytes_each=_swap_bytes(stacked))
    distant, _ = _count_distant_swaps(stacked, pairs, rate, blocks, cells)
    return np.asarray(distant / 2 ** (documents - 1))


def one_sided_p(
    stacked: Stack, pairs: Pairs, rate: str, trials: int, seed: int
) -> tuple[Numbers, Numbers]:
    """P-values that the first of each pair is better, and that the second is: metrics × pairs.

    Each is the share of swaps in which the system is ahead by at least as much as observed. A swap
    counts together with its opposite, which reverses the difference. So for the system that is
    ahead it is half the two-sided p; for the other one it is ½ plus half the share of swaps whose
    scores are no further apart than observed. If there are no more ways to swap than trials, all
    are tried, and nothing is random.
    """
    documents = stacked.n_documents
    room = _swap_bytes(stacked)
    if documents <= EXACT_LIMIT and 2 ** (documents - 1) <= trials:
        observed, ways = 0, 2 ** (documents - 1)
        blocks = every_swap(documents, bytes_each=room)
    else:
        observed, ways = 1, trials + 1  # the observed assignment counts as one more
        blocks = swaps(documents, trials, seed, bytes_each=room)
    distant, further = _count_distant_swaps(stacked, pairs, rate, blocks)
    ahead, behind = (distant + observed) / ways / 2, 0.5 + (ways - further) / ways / 2
    gaps = observe_differences(stacked, pairs, rate)
    first = np.where(gaps > TOLERANCE, ahead, behind)
    second = np.where(gaps < -TOLERANCE, ahead, behind)
    return first, second


_TOGETHER = 24  # pairs whose counts stay in fast memory


def _count_distant_swaps(
    stacked: Stack, pairs: Pairs, rate: str, blocks: Iterator[Numbers], cells: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In how many trials each pair is at least as far apart as observed, and further: two arrays.

    Each is metrics × pairs. The counts of one side are those of the second system, with what the
    swapped documents add and take away; all other counts are on the other side. So one product for
    each system serves all its pairs.
    """
    totals = stacked.totals[:, :, None]
    observed = np.abs(observe_differences(stacked, pairs, rate, cells))[:, :, None]
    together = max(_TOGETHER // cells, 1)
    distant, further = np.zeros((2, *observed.shape[:2]), dtype=np.int64)
    for block in blocks:
        moved = stacked.sums(block)
        for start in range(0, observed.shape[1], together):
            part = slice(start, start + together)
            columns = slice(start * cells, (start + together) * cells)
            first, second = pairs[0][columns], pairs[1][columns]
            counts = moved[:, first]
            counts -= moved[:, second]
            counts += totals[:, second]
            opposite = totals[:, first] + totals[:, second] - counts
            gaps = stacked.rate(counts.__getitem__, rate)
            gaps -= stacked.rate(opposite.__getitem__, rate)
            gaps = np.abs(_mean_of_cells(gaps, cells))
            distant[:, part] += (gaps >= observed[:, part] - TOLERANCE).sum(axis=-1)
            further[:, part] += (gaps > observed[:, part] + TOLERANCE).sum(axis=-1)
    return distant, further


def _swap_bytes(stacked: Stack) -> int:
    """About how many bytes a trial needs besides those of its swaps."""
    counts, results, _ = stacked.values.shape
    rates = len(stacked.columns) * 3 + 16
    return 8 * int(counts * results + 2 * _TOGETHER * (rates + counts))


def least_swap_p(units: int) -> float:
    """The smallest two-sided p-value that swaps of `units` documents (or corpora) can give.

    >>> least_swap_p(1), least_swap_p(6)
    (1.0, 0.03125)
    """
    return 2.0 ** (1 - max(1, units))


def bootstrap_p(gaps: Numbers, difference: Numbers, least: float) -> Numbers:
    """P-values of a paired bootstrap, from differences on samples (… × samples) and observed (…).

    With c of n samples in which the better system is not better, p = 2 (c + 1) / (n + 1), at most
    1; and 1 where there is no difference to begin with. None is below `least`, the smallest p that
    swapping so few units could give: if all units agree, all samples do, however few they are.
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


class LevelDifference(NamedTuple):
    """How two levels of a factor differ on average over all others, and how likely by chance.

    It is `firm` if it is significant, with one sign, whether lost mentions are left out or kept.
    """

    first: str
    second: str
    difference: float
    p: float
    adjusted: float
    significant: bool
    firm: bool = False


Effects = Mapping[str, Sequence[LevelDifference]]  # by factors


class Effect(NamedTuple):
    """Effect sizes of a difference over documents.

    `mean` is the mean of the documents' differences, which all weigh alike: long documents
    may turn the difference of all documents together the other way. `d` is Cohen's d for pairs
    (d_z): that mean over the standard deviation, infinite where all documents differ alike.
    `win_rate` is the probability that the first system is better on a document, ties counting half.
    """

    d: float
    win_rate: float
    mean: float

    def __neg__(self) -> Effect:
        return Effect(-self.d, 1.0 - self.win_rate, -self.mean)


def document_rates(stacked: Stack, metric: str, rate: str) -> Numbers:
    """A rate of each document on its own: results × documents."""
    return stacked.rates(stacked.values.__getitem__, [metric])[metric][rate]


def measure_effect(differences: Numbers) -> Effect:
    """The effect sizes of the differences of documents in which there is anything to count.

    >>> size = measure_effect(np.array([0.1, 0.3, 0.0, 0.2]))
    >>> round(size.d, 4), size.win_rate
    (1.1619, 0.875)
    """
    if not differences.size:
        return Effect(0.0, 0.5, 0.0)
    ties = np.abs(differences) <= TIE
    wins = float(((differences > 0) & ~ties).mean() + 0.5 * ties.mean())
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1)) if differences.size > 1 else 0.0
    if spread > TIE:
        return Effect(mean / spread, wins, mean)
    return Effect(0.0 if abs(mean) <= TIE else math.copysign(math.inf, mean), wins, mean)


@dataclass(frozen=True, slots=True)
class Replication:
    """`count` corpora of `tested` hold the effect at least, and `corpora` are those to name.

    `p_values` are those of the claims "one corpus at least", "two at least" and so on. `corpora`
    come from Holm's procedure; with Fisher's combination they need not be as many as `count`.
    """

    count: int
    corpora: tuple[str, ...]
    p_values: tuple[float, ...]

    @property
    def tested(self) -> int:
        """On how many corpora there was a test."""
        return len(self.p_values)


def partial_conjunction(
    p_values: Sequence[float] | Numbers, combination: Combination = "bonferroni"
) -> Numbers:
    """For u = 1 … n, the p-value of the claim that u of n hypotheses at least are false.

    The u − 1 smallest are given away, and the others combined: `bonferroni`, (n − u + 1) times the
    u-th smallest, whatever the dependence between the tests; `fisher`, −2 Σ ln p held against χ²
    with 2 (n − u + 1) degrees of freedom, where they are independent. No value is smaller than the
    one before it, or greater than 1. (Benjamini & Heller 2008.)

    >>> partial_conjunction([0.01, 0.02, 0.8]).round(3).tolist()
    [0.03, 0.04, 0.8]
    >>> partial_conjunction([0.01, 0.02, 0.8], "fisher").round(3).tolist()
    [0.008, 0.082, 0.8]
    """
    check_choice("the combination", combination, get_args(Combination))
    values = np.sort(np.asarray(p_values, dtype=np.float64))
    if values.size and not 0 <= values[0] <= values[-1] <= 1:
        raise UsageError(f"p-values must be between 0 and 1, not {p_values!r:.60}")
    remaining = np.arange(values.size, 0, -1)
    if combination == "bonferroni":
        claims = values * remaining
    else:
        with np.errstate(divide="ignore"):
            sums = np.cumsum(-np.log(values)[::-1])[::-1]
        tails = map(_chi_square_tail, sums.tolist(), remaining.tolist())
        claims = np.array(list(tails))
    return np.minimum(1.0, np.maximum.accumulate(claims)) if values.size else values


def _chi_square_tail(half: float, pairs: int) -> float:
    """How likely χ² with 2 `pairs` degrees of freedom is to be above twice `half`.

    Of an even number of degrees it is the chance that a Poisson variable with mean `half` stays
    below `pairs`.
    """
    if half == 0 or math.isinf(half):
        return float(half == 0)
    logs = np.cumsum([0.0, *(math.log(half / j) for j in range(1, pairs))])
    return min(1.0, float(np.exp(logs - half).sum()))


def replicate(
    p_values: Mapping[str, float], *, alpha: float = 0.05, combination: Combination = "bonferroni"
) -> Replication:
    """On how many corpora there is an effect, from the one-sided p-value of each.

    The number is a lower bound: that it is too high has a probability of `alpha` at most.

    >>> replicate({"news": 0.001, "novels": 0.01, "web": 0.04, "talk": 0.6})
    Replication(count=2, corpora=('news', 'novels'), p_values=(0.004, 0.03, 0.08, 0.6))
    """
    check_probability("alpha", alpha)
    numbers = list(p_values.values())
    claims = partial_conjunction(numbers, combination)
    named = adjust(numbers, "holm") <= alpha
    return Replication(
        count=int((claims <= alpha).sum()),
        corpora=tuple(name for name, is_named in zip(p_values, named, strict=True) if is_named),
        p_values=tuple(claims.tolist()),
    )
