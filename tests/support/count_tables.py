"""Count tables of simulated systems, for the tests of statistics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corefeval.protocol import Protocol
from corefeval.results import CountTable, Result
from corefeval.stats import PairDifference, compare

RATIO = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
BLANC = tuple(
    f"{kind}_{count}"
    for kind in ("coreference", "non_coreference")
    for count in ("common", "key", "response")
)


def result_of(tables, *, response="response", **choices) -> Result:
    """A result from count tables, its documents numbered."""
    size = next(len(table.values) for table in tables.values() if table.values is not None)
    ids = tuple(f"document {index}" for index in range(size))
    return Result(tables, ids, Protocol.of(**choices), "1", response=response)


def simulated(
    generator: np.random.Generator, sizes, *, quality=0.6, noise=0.15, **options
) -> Result:
    """A system that finds about `quality` of documents of the given sizes, by every metric."""
    sizes = np.asarray(sizes, dtype=np.float64)
    good = np.clip(generator.normal(quality, noise, sizes.size), 0, 1)
    tables = {}
    for index, metric in enumerate(("muc", "b3", "ceafe")):
        claimed = np.rint(sizes * generator.uniform(0.5, 1.3, sizes.size))
        # Whole numbers, thirds and other fractions, as the real metrics have.
        found = np.rint(np.minimum(sizes, claimed) * good * 3**index) / 3**index
        tables[metric] = CountTable("ratio", RATIO, np.stack([found, sizes, found, claimed], 1))
    links, others = sizes * (sizes - 1) / 2, sizes * sizes
    halves = (np.rint(links * good), links, links, np.rint(others * good), others, others)
    tables["blanc"] = CountTable("blanc", BLANC, np.stack(halves, axis=1))
    tables["conll"] = CountTable("mean", parts=("muc", "b3", "ceafe"))
    return result_of(tables, **options)


def drawn(result: Result, documents) -> Result:
    """The result of some documents, each as often as it is named."""
    tables = {
        name: table if table.values is None else replace(table, values=table.values[documents])
        for name, table in result.tables.items()
    }
    ids = tuple(result.document_ids[index] for index in documents)
    return replace(result, tables=tables, document_ids=ids)


def rates_of(result: Result) -> dict[tuple[str, str], float]:
    return {(m, r): v for m, score in result.scores.items() for r, v in score.rates.items()}


def compare_two(first: Result, second: Result, test="randomization", **options):
    """The differences of two results by each metric, each as the test has it."""
    if test != "bootstrap":
        options.setdefault("samples", 2)  # of intervals, which are tested elsewhere
    pairs: tuple[PairDifference, ...] = compare([first, second], test=test, **options).pairs
    return {pair.metric: pair for pair in pairs}


QUALITIES = {"good": 0.75, "twin": 0.75, "fair": 0.6, "poor": 0.3}


def systems_of(seed=0, size=40, qualities=QUALITIES, **options):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 40, size)
    return {
        name: simulated(generator, sizes, quality=quality, response=name, **options)
        for name, quality in qualities.items()
    }


def twin_of(result):
    """A system that is a little better and worse in turn, from the smallest document on.

    Two systems of the same quality that are drawn at random differ significantly in one corpus of
    twenty, as they should; this one does not by construction.
    """
    tables = {}
    for name, table in result.tables.items():
        if table.values is not None:
            values = table.values.copy()
            signs = np.empty(len(values))
            signs[np.argsort(values[:, 0], kind="stable")] = np.resize((1.0, -1.0), len(values))
            found = [i for i, n in enumerate(table.names) if n.endswith(("numerator", "common"))]
            values[:, found] *= (1 + 0.03 * signs)[:, None]
            table = replace(table, values=values)
        tables[name] = table
    return replace(result, tables=tables, response="twin")
