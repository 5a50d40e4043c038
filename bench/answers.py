"""Texts as language models copy them, with tags and mistakes, and the time to lay them on a key."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from time import process_time

import numpy as np
from rapidfuzz.distance import Levenshtein

import corefeval
from bench.timing import best
from corefeval.model import Corpus, CorpusBuilder

SIZES = (1_000, 10_000, 100_000)
Times = tuple[int, float, float]
NONSENSE = 10_000  # characters, and four times as many
# What slow patterns and repeated scans stumble over.
UNITS = (
    "-", "=", "?", "«", "「", '[\\"', "](#", "a|[e", "│(", " 'a", "/* ", "|", '{"a":[', "a: ",
    "Entity 1\n- a\n", '<m id="a b', "| a | b |\n", "\n\n", "a₁", '"she", ',
)  # fmt: skip


def tagged_copy(size: int, seed: int = 0) -> tuple[Corpus, str, list[str], list[str]]:
    """A key of some tokens, an answer with a mention to ten words, and the words of both.

    9 % of the words are changed, dropped or added.
    """
    random = np.random.default_rng(seed)
    words = [f"w{number}" for number in random.zipf(1.3, size).clip(max=20_000).tolist()]
    builder = CorpusBuilder(name="key")
    document = builder.document("d", words=words, sentence_starts=range(0, size, 20))
    before, behind = defaultdict[int, str](str), defaultdict[int, str](str)
    for start in range(0, size - 4, 10):
        end, entity = start + int(random.integers(1, 4)), int(random.integers(1, size // 50 + 2))
        document.mention(str(entity), start, end)
        before[start] += "["
        behind[end - 1] += f"](#cluster_{entity})"
    draws, others = random.random(size), random.integers(0, size, size)
    written, copied = [], []
    for place, word in enumerate(words):
        chance = draws[place]
        word = words[others[place]] if chance < 0.05 else "" if chance < 0.07 else word
        written.append(f"{before[place]}{word}{behind[place]}")
        written += ["really"] if chance > 0.98 else []
        copied += [word] if word else []
        copied += ["really"] if chance > 0.98 else []
    return builder.build(), " ".join(written), words, copied


def answer_times(scale: int) -> list[Times]:
    """For each size the time of the whole way, and of an edit distance on the same words."""
    times: list[Times] = []
    for size in SIZES:
        key, answer, words, copied = tagged_copy(size // scale)
        reading = best(partial(corefeval.read_answers, {"d": answer}, key), 2)
        edits = best(partial(Levenshtein.opcodes, copied, words), 2)
        times.append((size // scale, reading, edits))
    return times


def growth_of_nonsense(scale: int) -> tuple[str, float, float]:
    """The unit whose time grows most from a text of it to one four times as long; both times."""
    builder = CorpusBuilder(name="key")
    builder.document("d", words=["Ada", "met", "her", "captain"])
    key = builder.build()
    rows = []
    for unit in UNITS:
        count = NONSENSE // scale // len(unit)
        times = (
            best(partial(corefeval.read_answers, {"d": unit * n}, key), 2, process_time)
            for n in (count, 4 * count)
        )
        rows.append((unit, *times))
    return max(rows, key=lambda row: row[2] / row[1])
