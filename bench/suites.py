"""Suites: a second run with nothing changed, and tests over corpora, against scoring the cells."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import corefeval
from bench.corpora import write_corpus
from corefeval import Suite, SuiteCorpus, SuiteSystem, run_suite
from corefeval.lab.perturbations import drop_mentions

SIZE = 100, 200  # documents, and tokens in each
VARIANTS = 5
TRIALS = 10_000
METRICS = "muc, b3, ceafe, conll, lea"


def write_suite(folder: Path, size: int) -> Suite:
    """As many corpora as systems, of which some share their files."""
    place = folder / "suite"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for number in range(size):
        name = f"c{number:02d}"
        key, response, _ = (corefeval.read(one) for one in write_corpus(place, name, *SIZE))
        for system in range(size):
            target = place / f"{name}.s{system:02d}.conll"
            if system < VARIANTS:
                share = 0.02 * system
                worse = (
                    drop_mentions(key, response, share=share, seed=system) if share else response
                )
                corefeval.write(worse, target, format="conll")
            else:
                os.link(place / f"{name}.s{system % VARIANTS:02d}.conll", target)
    return Suite(
        corpora=tuple(
            SuiteCorpus(name=f"c{number:02d}", key=str(place / f"c{number:02d}.key.conll"))
            for number in range(size)
        ),
        systems=tuple(
            SuiteSystem(
                name=f"s{number:02d}", responses=str(place / f"{{corpus}}.s{number:02d}.conll")
            )
            for number in range(size)
        ),
        metrics=METRICS,
    )


def run_times(folder: Path, size: int) -> tuple[float, float, float]:
    """Processor seconds: cells one by one with `score`, a first run with trials, a second one."""
    suite = write_suite(folder, size)
    cache = folder / "suite.cache"
    shutil.rmtree(cache, ignore_errors=True)
    corpus = suite.corpora[0]
    corefeval.score(corpus.key, suite.systems[0].path(corpus.name), metrics=METRICS)  # warms up

    def timed(function: object) -> float:
        start = time.process_time()
        function()  # type: ignore[operator]
        return time.process_time() - start

    def cells() -> None:
        for corpus in suite.corpora:
            for system in suite.systems:
                corefeval.score(corpus.key, system.path(corpus.name), metrics=METRICS)

    def run() -> None:
        corefeval.render(run_suite(suite, cache=cache, trials=TRIALS))

    return timed(cells), timed(run), min(timed(run) for _ in range(3))
