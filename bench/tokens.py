"""Texts whose tokens differ, against the same texts compared by token numbers alone."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import corefeval
from bench.corpora import vocabulary
from bench.timing import times_in_turns

EDITED = 0.015  # the share of words that are changed, added or lost
PASSAGE = 400  # words that a text of repetitions repeats


def token_times(folder: Path, scale: int) -> Iterator[tuple[str, float, float, str, str]]:
    """What is scored, the yardstick's seconds and ours, the yardstick, and the goal."""
    size = 200_000 // scale
    pairs = {
        name: _write_pair(folder, name, words)
        for name, words in (
            ("ordinary", _words(size)),
            ("four times", _words(4 * size)),
            ("repeated", (_words(PASSAGE) * (size // PASSAGE + 1))[:size]),
        )
    }

    def align(name: str) -> object:
        return corefeval.score(*pairs[name], tokens="align")

    ignored, *aligned = times_in_turns(
        3,
        lambda: corefeval.score(*pairs["ordinary"], tokens="ignore"),
        *(lambda name=name: align(name) for name in pairs),
        clock=time.process_time,
    )
    ordinary, longer, repeated = aligned
    yield "200,000 tokens, 1.5 % edited, aligned", ignored, ordinary, "ignored", "at most 30"
    yield "four times the text, aligned", ordinary, longer, "200,000 tokens", "at most 8"
    yield "repeated passages, aligned", ordinary, repeated, "ordinary text", "at most 6"


def _words(number: int) -> list[str]:
    rng = random.Random(number)
    words = vocabulary(rng)
    return [rng.choice(words) for _ in range(number)]


def _write_pair(folder: Path, name: str, words: list[str]) -> tuple[Path, Path]:
    """A key, and a response with some words edited, which marks the mentions that are left."""
    rng = random.Random(name)
    places: dict[int, int] = {}
    edited: list[str] = []
    for place, word in enumerate(words):
        edit = rng.choice(("change", "add", "lose")) if rng.random() < EDITED else "keep"
        if edit == "lose":
            continue
        places[place] = len(edited)
        edited.append(word[::-1] + "x" if edit == "change" else word)
        edited += ["added"] if edit == "add" else []
    entities = [[] for _ in range(len(words) // 50)]
    for place in range(0, len(words), 8):
        rng.choice(entities).append(place)
    paths = folder / f"{name}-key.jsonl", folder / f"{name}-response.jsonl"
    for path, text, position in zip(
        paths, (words, edited), (dict(enumerate(range(len(words)))), places), strict=True
    ):
        clusters = [[[position[p]] * 2 for p in entity if p in position] for entity in entities]
        record = {"doc_key": name, "sentences": [text], "clusters": list(filter(None, clusters))}
        path.write_text(json.dumps(record), encoding="utf-8")
    return paths
