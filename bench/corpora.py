"""Corpora to measure with: made here, of any size, with realistic chains and typical errors."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

MENTIONS_PER_TOKEN = 0.12
SENTENCE = 22

# (start, length, entity) of each mention of a document
Mentions = list[tuple[int, int, int]]


def vocabulary(rng: random.Random, size: int = 20_000) -> list[str]:
    letters = "eeeettaaooiinnsshhrrdlucmwfgypbvk"
    return [
        "".join(rng.choice(letters) for _ in range(1 + min(int(rng.expovariate(0.25)), 14)))
        for _ in range(size)
    ]


def key_mentions(rng: random.Random, n_tokens: int) -> Mentions:
    """Chains with a few frequent and many rare entities; no span twice, no crossing."""
    n_entities = max(2, int(n_tokens * MENTIONS_PER_TOKEN / 4))
    mentions: Mentions = []
    position = rng.randrange(4)
    while position < n_tokens - 6:
        length = rng.choice((1, 1, 1, 2, 2, 3, 4))
        entity = min(int(rng.paretovariate(0.9)) - 1, n_entities - 1)
        entity = entity if entity < n_entities - 1 else rng.randrange(n_entities)
        mentions.append((position, length, entity))
        position += length + 1 + int(rng.expovariate(1 / 5.5))
    return mentions


def response_mentions(rng: random.Random, key: Mentions, n_tokens: int) -> Mentions:
    """A tenth missed, a tenth in another entity, a tenth with another end, some invented."""
    found: dict[tuple[int, int], int] = {}
    highest = max((entity for _, _, entity in key), default=0)
    for start, length, entity in key:
        if rng.random() < 0.1:
            continue
        if rng.random() < 0.1:
            entity = rng.randint(0, highest + 1)
        if rng.random() < 0.1 and start + length < n_tokens:
            length += 1
        found.setdefault((start, length), entity)
    for _ in range(len(key) // 12):
        found.setdefault((rng.randrange(n_tokens), 1), rng.randint(0, highest + 20))
    return [(start, length, entity) for (start, length), entity in found.items()]


def cells(mentions: Mentions, n_tokens: int) -> list[str]:
    opening: list[list[str]] = [[] for _ in range(n_tokens)]
    closing: list[list[str]] = [[] for _ in range(n_tokens)]
    for start, length, entity in mentions:
        if length == 1:
            opening[start].append(f"({entity})")
        else:
            opening[start].append(f"({entity}")
            closing[start + length - 1].append(f"{entity})")
    return ["|".join(c + o) or "-" for o, c in zip(opening, closing, strict=True)]


def write_corpus(
    folder: Path, name: str, n_documents: int, n_tokens: int
) -> tuple[Path, Path, Path]:
    """A key, a response with the same columns, and the same response with five columns."""
    rng = random.Random(f"{name} {n_documents} {n_tokens}")
    words = vocabulary(rng)
    paths = tuple(folder / f"{name}.{kind}.conll" for kind in ("key", "response", "other"))
    with (
        open(paths[0], "w", encoding="utf-8") as key_file,
        open(paths[1], "w", encoding="utf-8") as response_file,
        open(paths[2], "w", encoding="utf-8") as other_file,
    ):
        for document in range(n_documents):
            identifier = f"nw/{name}/{document // 100:02d}/{name}_{document:04d}"
            key = key_mentions(rng, n_tokens)
            response = response_mentions(rng, key, n_tokens)
            key_cells, response_cells = cells(key, n_tokens), cells(response, n_tokens)
            header = f"#begin document ({identifier}); part 000\n"
            for file in (key_file, response_file, other_file):
                file.write(header)
            for token in range(n_tokens):
                word = rng.choice(words)
                front = f"{identifier}\t0\t{token % SENTENCE}\t{word}"
                rest = "\tNN\t(NP*)\t-\t-\t-\tSpeaker#1\t*\t"
                end = "\n\n" if token % SENTENCE == SENTENCE - 1 else "\n"
                key_file.write(front + rest + key_cells[token] + end)
                response_file.write(front + rest + response_cells[token] + end)
                other_file.write(front + "\t" + response_cells[token] + end)
            for file in (key_file, response_file, other_file):
                file.write("#end document\n")
    return paths  # type: ignore[return-value]


def write_conllu(path: Path, n_documents: int, n_tokens: int) -> Path:
    """CorefUD with all columns filled; the trees are flat."""
    rng = random.Random(f"conllu {n_documents} {n_tokens}")
    words = vocabulary(rng)
    with open(path, "w", encoding="utf-8") as file:
        for document in range(n_documents):
            file.write(f"# newdoc id = doc{document}\n# global.Entity = eid-etype-head\n")
            starts, ends = defaultdict(str), defaultdict(str)
            for start, length, entity in key_mentions(rng, n_tokens):
                closing = ")" if length == 1 else ""
                starts[start] += f"(e{entity}-person-1{closing}"
                ends[start + length - 1] += "" if closing else f"e{entity})"
            for token in range(n_tokens):
                place, word = token % SENTENCE, rng.choice(words)
                mark = ends[token] + starts[token]
                misc = f"Entity={mark}|SpaceAfter=No" if mark else "_"
                if place == 0:
                    blank = "\n" if token else ""
                    file.write(f"{blank}# sent_id = doc{document}-{token}\n# text = {word}\n")
                before = f"{place + 1}\t{word}\t{word}\tNOUN\tNN\tNumber=Sing|Person=3"
                file.write(f"{before}\t{min(place, 1)}\tdep\t_\t{misc}\n")
            file.write("\n")
    return path


def mention_arrays(n_mentions: int, seed: int = 0) -> Iterator[dict[str, np.ndarray]]:
    """Key and response of one huge document as arrays, with the same kinds of errors."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.zipf(1.8, size=n_mentions // 3), 5000)
    entity = np.repeat(np.arange(sizes.size), sizes)[:n_mentions]
    entity = np.concatenate((entity, sizes.size + np.arange(n_mentions - entity.size)))
    rng.shuffle(entity)
    start = np.arange(n_mentions) * 2
    yield {"entity": entity, "start": start}
    other = entity.copy()
    moved = np.flatnonzero(rng.random(n_mentions) < 0.1)
    other[moved] = other[rng.permutation(moved)]
    new = rng.random(n_mentions) < 0.05
    other[new] = sizes.size + n_mentions + rng.integers(0, n_mentions // 20, int(new.sum()))
    shifted = np.where(rng.random(n_mentions) < 0.1, start + 1, start)
    kept = rng.random(n_mentions) > 0.1
    yield {"entity": other[kept], "start": shifted[kept]}
