"""Several annotations in memory: agreement with responses and audits, against plain scoring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import corefeval
from bench.timing import times_in_turns

_CHANGED, _KEPT = 0.15, 0.9  # shares of mentions that are put elsewhere, and that are marked


def noisy_annotations(
    n_documents: int, n_mentions: int, n_entities: int, number: int
) -> list[corefeval.Corpus]:
    """Annotations of the same made documents, each with errors of its own."""
    size = n_documents * n_mentions
    document = np.repeat(np.arange(n_documents), n_mentions)
    start = np.tile(3 * np.arange(n_mentions), n_documents)
    true_entity = np.random.default_rng(0).zipf(1.6, size) % n_entities
    corpora = []
    for seed in range(1, number + 1):
        random = np.random.default_rng(seed)
        elsewhere = random.integers(0, n_entities, size)
        entity = np.where(random.random(size) < _CHANGED, elsewhere, true_entity)
        kept = random.random(size) < _KEPT
        arrays = {"document": document, "entity": document * n_entities + entity, "start": start}
        columns = {name: column[kept] for name, column in arrays.items()}
        corpora.append(corefeval.corpus_from_arrays(**columns, name=f"annotation {seed}"))
    return corpora


def annotation_times(gum: Path, scale: int) -> Iterator[tuple[str, float, float]]:
    """What is measured, the seconds of scoring, and those of agreement or of an audit."""
    cases = {
        "a novel of 20,000 mentions": noisy_annotations(1, 20_000 // scale, 2_000 // scale, 6),
        "1,000 documents of 30 mentions": noisy_annotations(1_000 // scale, 30, 10, 6),
    }
    if gum.is_dir():
        names = ("key", "baseline", "corefgraph", "cort-latent", "cort-pair", "xrenner")
        cases["GUM"] = [corefeval.read(gum / f"{name}.conll") for name in names]
    for name, corpora in cases.items():
        times = _agreement_times(corpora[:2], corpora[2:3])
        yield (f"{name}, two annotators and a response", *times)
        times = _agreement_times(corpora[:3], corpora[3:])
        yield (f"{name}, three annotators and three responses", *times)
        times = _audit_times(corpora[0], corpora[1:])
        yield (f"{name}, audit by five responses, all findings", *times)


def _agreement_times(
    keys: list[corefeval.Corpus], responses: list[corefeval.Corpus]
) -> list[float]:
    return times_in_turns(
        10,
        lambda: [corefeval.score(key, side) for key in keys for side in responses],
        lambda: corefeval.agree(keys, responses=responses),
    )


def _audit_times(key: corefeval.Corpus, responses: list[corefeval.Corpus]) -> list[float]:
    return times_in_turns(
        10,
        lambda: [corefeval.score(key, side) for side in responses],
        lambda: corefeval.audit(key, responses).findings,
    )
