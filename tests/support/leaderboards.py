"""Outcomes of suites of simulated systems, for the tests of leaderboards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from corefeval.results import Slices
from corefeval.suites.outcome import CorpusFacts, SuiteCell, SuiteResult, SystemFacts
from count_tables import simulated

VALUES = {"kind": ("name", "nominal", "pronoun"), "size": ("1", "2", "3–5", "6+")}


def make_outcome(
    systems, corpora, *, documents=12, seeds=(), groups=("en", "de"), slices=True, **changes
) -> SuiteResult:
    """Systems of these names, each a little better than the next, on corpora of these names."""
    generator = np.random.default_rng(7)
    facts = tuple(
        CorpusFacts(name, 1.0 + n % 2, groups[n % len(groups)]) for n, name in enumerate(corpora)
    )
    runs = tuple(SystemFacts(name, tuple(seeds)) for name in systems)
    cells = {}
    for corpus in facts:
        sizes = generator.integers(2, 40, documents)
        for place, system in enumerate(runs):
            for seed in system.runs:
                quality = 0.9 - 0.4 * place / len(runs)
                result = simulated(generator, sizes, quality=quality, response=system.name)
                parts = {
                    feature: Slices(
                        feature,
                        "mention",
                        result,
                        {v: simulated(generator, sizes, quality=quality) for v in values},
                    )
                    for feature, values in VALUES.items()
                }
                cell = SuiteCell(replace(result, slices=parts if slices else {}))
                cells[corpus.name, system.name, seed] = cell
    metrics = tuple(simulated(generator, [1]).metrics)
    outcome = SuiteResult(facts, runs, metrics, "conll", cells, title="Simulated")
    return replace(outcome, **changes)
