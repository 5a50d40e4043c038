"""Which results can be compared, and resampling: all rates of resampled documents at once.

Results are stacked: the counts of all metrics side by side. Everything here is linear in the
documents: the counts of a resampled corpus are a matrix product of how often each document was
drawn and the counts of each document. A macro average is linear too, once each document carries its
rates and a 1 where it has anything to count. Trials come in blocks, so that memory does not grow
with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from corefeval.checks import split_list
from corefeval.diagnostics import UsageError, excerpt, plural
from corefeval.display import distinct_names
from corefeval.protocol import OF_MENTIONS, Protocol, fields
from corefeval.results import CountTable, Result
from corefeval.results.rates import Aggregation, Numbers, Rates, average_rates

# Choices in which results that are compared may differ: how plain spans were read, and intervals.
_OWN_FIELDS = ("spans", "ci")


def name_results(results: Iterable[Result] | Mapping[str, Result]) -> dict[str, Result]:
    """Results by the name of their response; a name that comes again gets a number."""
    if isinstance(results, Mapping) and not _is_result(results):
        return dict(results)
    several: list[Any] = [] if _is_result(results) else list(results)
    if not several or not all(map(_is_result, several)):
        raise UsageError(f"a list of results or a mapping of them is needed, not {results!r:.60}")
    names = distinct_names([result.response or "response" for result in several])
    return dict(zip(names, several, strict=True))


def _is_result(value: object) -> TypeGuard[Result]:
    return isinstance(value, Result)


def unit_of(result: Result) -> str:
    """What the documents of a result are: documents, segments of one, or items of a probe."""
    return "segment" if result.whole_rates else "item" if result.decisions else "document"


def check_documents(result: Result) -> None:
    """A UsageError unless there are two documents: one alone cannot vary."""
    if len(result.document_ids) < 2:
        for notice in result.notices:
            if notice.kind == "no-segments":
                why = notice.message.removesuffix(": no intervals")
                raise UsageError(f"tests and intervals are over documents or segments: {why}")
        raise UsageError(
            "tests and intervals are over documents, and this result has "
            f"{plural(len(result.document_ids), 'document')}: compare the responses themselves "
            "with the key, which is then cut into segments, or results that `compare` saved"
        )


def check_comparable(results: Mapping[str, Result]) -> None:
    """A UsageError unless there are two results that `check_alike` accepts, of two documents."""
    if len(results) < 2:
        raise UsageError(f"a comparison needs at least two responses, not {len(results)}")
    check_alike(results)
    check_documents(next(iter(results.values())))


def check_alike(results: Mapping[str, Result]) -> None:
    """A UsageError unless results are of one key's documents, in one order, and scored alike."""
    (first, reference), *further = results.items()
    for name, result in further:
        _check_same_documents(first, reference, name, result)
        _check_same_settings(first, reference, name, result)
        if "" not in (keys := {reference.key_digest, result.key_digest}) and len(keys) > 1:
            raise UsageError(
                f"{first} and {name} were scored against different keys "
                f"({reference.key}, {result.key}): only results with one key can be compared"
            )


def _check_same_documents(first: str, reference: Result, name: str, result: Result) -> None:
    """A UsageError that names the first document in which two results differ."""
    if reference.document_ids == result.document_ids:
        return
    index, (left, right) = next(
        (index, pair)
        for index, pair in enumerate(zip_longest(reference.document_ids, result.document_ids))
        if pair[0] != pair[1]
    )
    if {unit_of(reference), unit_of(result)} == {"segment"}:
        raise UsageError(
            f"{first} has {plural(len(reference.document_ids), 'segment')} of the document and "
            f"{name} has {len(result.document_ids):,}: a key without tokens is cut where each "
            "response has sentences; convert the key to a format with tokens, or give all "
            "responses the same sentences, and the same --segments"
        )
    left, right = (excerpt(side) if side is not None else "nothing" for side in (left, right))
    if sorted(reference.document_ids) == sorted(result.document_ids):
        raise UsageError(
            f"{first} and {name} have the same documents in another order: document {index + 1} is "
            f"{left} in {first} and {right} in {name}; documents are compared one by one, so score "
            "them in the order of one key (a loop must add them in the same order in every run)"
        )
    raise UsageError(
        f"only results of the same documents can be compared: document {index + 1} is {left} "
        f"in {first} ({len(reference.document_ids):,} in all) and {right} in {name} "
        f"({len(result.document_ids):,} in all); score both against the same key"
    )


def _check_same_settings(first: str, reference: Result, name: str, result: Result) -> None:
    for choice, values in reference.protocol.differences(result.protocol).items():
        # Tags, heads and the like are looked at only where something needs them.
        nothing = fields()[choice].default if choice in OF_MENTIONS else None
        if choice in _OWN_FIELDS or nothing in values:
            continue
        raise UsageError(
            f"only results that were scored alike can be compared: {choice} is {values[0]} for "
            f"{first} and {values[1]} for {name}"
        )


def choose_metrics(
    results: Mapping[str, Result], metrics: Iterable[object] | None, *, rate: str | None = None
) -> list[str]:
    """The metrics to look at: those that were asked for, or those that all results have.

    With a `rate`, metrics without it are left out (the CoNLL average has no recall), or are
    an error where they were asked for.
    """
    first = next(iter(results.values()))
    if metrics is None:
        tables = [result.tables for result in results.values()]
        names = [metric for metric in first.metrics if all(metric in table for table in tables)]
        names = [m for m in names if rate is None or rate in first.scores[m].rates]
        if not names:
            missing = "metric" if rate is None else f"metric with the rate {rate!r}"
            raise UsageError(f"the results have no {missing} in common")
        return names
    if isinstance(metrics, str):
        metrics = split_list(metrics)
    names = list(dict.fromkeys(first[metric].metric for metric in metrics))
    for name in names:
        for result in results.values():
            rates = result[name].rates
            if rate is not None and rate not in rates:
                raise UsageError(f"{name} has no {rate}, only {', '.join(rates)}")
    if not names:
        raise UsageError("no metric was chosen")
    return names


Bools = NDArray[np.bool_]
Pick = Callable[[slice], Numbers]

_BLOCK_BYTES = 2**25
# More trials in a block make its products no faster, and its rates fall out of the cache.
_BLOCK_TRIALS = 512
# Threads slow products down unless the matrices are large: other products are done in parts, each
# so small that a single thread does it.
_LARGE, _ONE_THREAD = 2**26, 2**19
# Sums of numbers on a grid of 2**48 steps are exact in 53 bits, with room for 16 such sums.
_GRID_BITS = 48


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a metric's counts stand, and how its rates follow from their sums."""

    rows: slice
    aggregation: Aggregation | None = None
    parts: tuple[str, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)

    def rates(self, sums: Numbers) -> Rates:
        """The rates of summed counts: `sums` has a row for each count."""
        if self.aggregation is None:
            raise TypeError("a mean has no counts of its own")
        return self.aggregation.rates_of_sums(sums)


@dataclass(frozen=True, eq=False)
class Stack:
    """The counts of one or more results: `values` are counts × results × documents.

    Counts are rounded to a grid of 48 bits below the total of their row (whole numbers stay what
    they are), so that sums are exact in whatever order they are added: a seed gives the same
    numbers with any size of block and any number of threads, and ties are ties.
    """

    columns: Mapping[str, Columns]
    metrics: tuple[str, ...]
    values: Numbers

    @staticmethod
    def of(columns: Mapping[str, Columns], metrics: tuple[str, ...], values: Numbers) -> Stack:
        """A stack of these values, which are rounded here."""
        _round_to_grid(values)
        return Stack(columns, metrics, values)

    @property
    def n_documents(self) -> int:
        """How many documents there are to draw from."""
        return int(self.values.shape[2])

    @property
    def totals(self) -> Numbers:
        """Counts × results: the counts of the whole corpus."""
        return np.asarray(self.values.sum(axis=2))

    def sums(self, weights: Numbers) -> Numbers:
        """Counts × results × trials: sums over documents, by weights (trials × documents)."""
        flat = self.values.reshape(-1, self.n_documents)
        sums = np.empty((len(flat), len(weights)))
        step = max(1, _ONE_THREAD // max(1, weights.size))
        if weights.size * len(flat) > _LARGE or step >= len(flat):
            step = max(1, len(flat))
        for at in range(0, len(flat), step):
            np.matmul(flat[at : at + step], weights.T, out=sums[at : at + step])
        return sums.reshape(*self.values.shape[:2], -1)

    def rates(self, pick: Pick, metrics: Iterable[str] | None = None) -> dict[str, Rates]:
        """All rates of metrics; `pick` gives the sums of some rows, of any further shape."""
        chosen = self.metrics if metrics is None else tuple(metrics)
        rates: dict[str, Rates] = {}
        for metric in chosen:
            columns = self.columns[metric]
            for name in columns.parts or (metric,):
                if name not in rates:
                    rates[name] = self.columns[name].rates(pick(self.columns[name].rows))
            if columns.parts:
                parts = [rates[part] for part in columns.parts]
                rates[metric] = average_rates(parts, columns.protocol)
        return {metric: rates[metric] for metric in chosen}

    def rate(self, pick: Pick, name: str) -> Numbers:
        """One rate of every metric, stacked: metrics × the shape of the sums."""
        rates: dict[str, Numbers] = {}
        for metric, columns in self.columns.items():  # parts stand before their means
            if columns.aggregation is None:
                parts = [{name: rates[part]} for part in columns.parts]
                rates[metric] = average_rates(parts, columns.protocol)[name]
            else:
                rates[metric] = columns.aggregation.rate_of_sums(pick(columns.rows), name)
        return np.stack([rates[metric] for metric in self.metrics])

    def rows(self, metric: str) -> NDArray[np.intp]:
        """The rows of `values` on which a metric depends."""
        columns = self.columns[metric]
        names = columns.parts or (metric,)
        spans = [np.arange(self.values.shape[0])[self.columns[name].rows] for name in names]
        return np.unique(np.concatenate(spans))

    def counted(self, metric: str, results: Sequence[int]) -> Bools:
        """The documents in which any of some results has anything to count."""
        return np.asarray(self.values[self.rows(metric)][:, results].any(axis=(0, 1)))


def stack(results: Sequence[Result], metrics: Sequence[str]) -> Stack:
    """Put the counts of results of the same documents side by side."""
    first = results[0]
    needed = [part for metric in metrics for part in (*first.tables[metric].parts, metric)]
    columns: dict[str, Columns] = {}
    end = 0
    for metric in dict.fromkeys(needed):
        tables = [result.tables[metric] for result in results]
        columns[metric] = _columns(metric, tables, end, first.protocol)
        end = max(end, columns[metric].rows.stop)
    values = np.empty((end, len(results), len(first.document_ids)))
    for metric, column in columns.items():
        for index, result in enumerate(results):
            if column.aggregation is not None:
                counts = result.tables[metric].columns()
                values[column.rows, index] = column.aggregation.additive(counts)
    return Stack.of(columns, tuple(metrics), values)


def stack_comparable(
    results: Mapping[str, Result], metrics: Iterable[object] | None, *, rate: str
) -> Stack:
    """The counts of named results, once it is clear that they can be compared by this rate."""
    check_comparable(results)
    return stack(list(results.values()), choose_metrics(results, metrics, rate=rate))


def swaps(n_documents: int, trials: int, seed: int, *, bytes_each: int = 0) -> Iterator[Numbers]:
    """Which documents change sides, 1 or 0 with probability ½: blocks of trials × documents."""
    generator = np.random.default_rng(seed)
    # A trial takes whole words, so that the size of the blocks does not change what it gets.
    words = -(-n_documents // 64)
    for size in _block_sizes(trials, 10 * n_documents + bytes_each):
        bits = generator.integers(0, 2**64, size=(size, words), dtype=np.uint64)
        flags = np.unpackbits(bits.astype("<u8").view(np.uint8), axis=1, count=n_documents)
        yield flags.astype(np.float64)


def every_swap(n_documents: int, *, bytes_each: int = 0) -> Iterator[Numbers]:
    """Every way to swap documents; of a way and its opposite, which give the same distance, one."""
    done = 0
    for size in _block_sizes(2 ** (n_documents - 1), 24 * n_documents + bytes_each):
        numbers = np.arange(done, done + size)[:, None]
        yield ((numbers >> np.arange(n_documents)) & 1).astype(np.float64)
        done += size


def resamples(
    n_documents: int, samples: int, seed: int | tuple[int, ...], *, bytes_each: int = 0
) -> Iterator[Numbers]:
    """How often each document is drawn, with replacement: blocks of samples × documents."""
    generator = np.random.default_rng(seed)
    for size in _block_sizes(samples, 32 * n_documents + bytes_each):
        picks = generator.integers(0, n_documents, size=(size, n_documents))
        picks += np.arange(size)[:, None] * n_documents
        times = np.bincount(picks.ravel(), minlength=size * n_documents)
        del picks
        yield times.reshape(size, n_documents).astype(np.float64)


def bootstrap(
    stacked: Stack, samples: int, seed: int, *, rate: str | None = None
) -> dict[str, Rates]:
    """Every rate (or one) of resampled documents: results × samples for each metric and rate.

    All results see the same samples, so that differences between them are paired.
    """
    blocks: dict[str, dict[str, list[Numbers]]] = {}
    counts, results, documents = stacked.values.shape
    for weights in resamples(documents, samples, seed, bytes_each=16 * counts * results):
        pick = stacked.sums(weights).__getitem__
        if rate is None:
            by_metric = stacked.rates(pick)
        else:
            rows = stacked.rate(pick, rate)
            by_metric = {m: {rate: row} for m, row in zip(stacked.metrics, rows, strict=True)}
        for metric, rates in by_metric.items():
            for name, values in rates.items():
                blocks.setdefault(metric, {}).setdefault(name, []).append(values)
    return {
        metric: {name: np.concatenate(parts, axis=-1) for name, parts in rates.items()}
        for metric, rates in blocks.items()
    }


def _block_sizes(trials: int, bytes_each: int) -> Iterator[int]:
    """The sizes of the blocks that trials come in; the watcher is told of each block."""
    size = max(1, min(_BLOCK_TRIALS, _BLOCK_BYTES // bytes_each))
    watcher = _WATCHER.get()
    for done in range(0, trials, size):
        if watcher is not None:
            watcher(done, trials)
        yield min(size, trials - done)


_WATCHER: ContextVar[Callable[[int, int], None] | None] = ContextVar("watcher", default=None)


T = TypeVar("T")


def watch_parts(parts: Sequence[T], trials: int) -> Iterator[T]:
    """The parts of some work, one by one; a watcher is told of all their trials together."""
    watcher = _WATCHER.get()
    with watch_trials(None):
        for done, part in enumerate(parts):
            if watcher is not None:
                watcher(done * trials, len(parts) * trials)
            yield part


@contextmanager
def watch_trials(show: Callable[[int, int], None] | None) -> Iterator[None]:
    """While this is entered, `show` is told of trials: how many are done, and of how many."""
    before = _WATCHER.set(show)
    try:
        yield
    finally:
        _WATCHER.reset(before)


def _columns(metric: str, tables: Sequence[CountTable], start: int, protocol: Protocol) -> Columns:
    table = tables[0]
    if table.parts:
        return Columns(slice(0, 0), parts=table.parts, protocol=protocol)
    if len({(table.shape, table.names) for table in tables}) > 1:
        raise UsageError(f"the results count {metric} in different ways: score them again")
    aggregation = Aggregation.of(metric, table, protocol)
    return Columns(slice(start, start + aggregation.width), aggregation)


def _round_to_grid(values: Numbers) -> None:
    for row in values:
        _, exponent = np.frexp(max(float(np.abs(side).sum()) for side in row))
        unit = np.ldexp(1.0, int(exponent) - _GRID_BITS)
        row /= unit
        np.rint(row, out=row)
        row *= unit
