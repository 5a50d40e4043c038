"""What is scored again and again: many responses to a key, training loops, and start-up."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import corefeval
from bench.timing import compiled_modules, times_in_turns

MENTIONS, ENTITIES = 58, 16
FOUR = "muc, b3, ceafe, lea"

Entities = list[list[tuple[int, int]]]


def repeated_responses(key: Path, response: Path) -> dict[str, tuple[float, float]]:
    """A second response to a key, as a path and as arrays, and path against path."""
    scorer = corefeval.Scorer(key)
    corpus = corefeval.read(response)
    arrays = {
        "entity": corpus.mention_entity,
        "start": corpus.mention_start,
        "end": corpus.mention_end,
        "document": corpus.mention_document,
        "document_ids": corpus.documents,
    }
    made = corefeval.corpus_from_arrays(**arrays)
    whole, second, third = times_in_turns(
        4, lambda: corefeval.score(key, response), lambda: scorer(response), lambda: scorer(made)
    )
    return {"a second response": (second, whole), "a response given as arrays": (third, whole)}


def training_loop(n_documents: int) -> dict[str, tuple[float, float]]:
    """The time of a document alone, of one among many, and in plain dictionaries."""
    rng = random.Random(5)
    pairs = [make_document(rng) for _ in range(n_documents)]
    some = pairs[: max(n_documents // 10, 1)]
    sides = [{str(n): pair[side] for n, pair in enumerate(pairs)} for side in (0, 1)]

    def add_up() -> object:
        scorer = corefeval.Scorer(metrics=FOUR)
        for key, response in some:
            scorer.update(key, response)
        return scorer.compute()

    plain, alone, added, together = times_in_turns(
        5,
        lambda: [plain_counts(*pair) for pair in some],
        lambda: [corefeval.score(*pair, metrics=FOUR) for pair in some],
        add_up,
        lambda: corefeval.score(*sides, metrics=FOUR),
    )
    per_document = plain / len(some)
    return {
        "score(), a document of 58 mentions": (alone / len(some), per_document),
        "Scorer.update, a document of 58 mentions": (added / len(some), per_document),
        "score(), a thousand documents, each": (together / n_documents, per_document),
    }


def make_document(rng: random.Random) -> tuple[Entities, Entities]:
    """The entities of a key and of a response with the usual mistakes."""
    starts = sorted(rng.sample(range(400), MENTIONS))
    spans = [(start, start + rng.randrange(4)) for start in starts]
    sides: tuple[Entities, Entities] = (
        [[] for _ in range(ENTITIES)],
        [[] for _ in range(ENTITIES)],
    )
    for start, end in spans:
        entity, chance = rng.randrange(ENTITIES), rng.random()
        sides[0][entity].append((start, end))
        if chance > 0.1:
            other = entity if chance < 0.85 else rng.randrange(ENTITIES)
            sides[1][other].append((start, end + (chance > 0.95)))
    key, response = ([entity for entity in side if entity] for side in sides)
    return key, response


def plain_counts(key: Entities, response: Entities) -> list[float]:
    """MUC, B³, LEA and CEAFe as people write them: dictionaries, and scipy for the assignment."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    sides = [{m: n for n, entity in enumerate(side) for m in entity} for side in (key, response)]
    counts = []
    for entities, owner in ((key, sides[1]), (response, sides[0])):
        muc = b3 = lea = size = 0.0
        for entity in entities:
            shared: dict[int, int] = {}
            for mention in entity:
                if mention in owner:
                    shared[owner[mention]] = shared.get(owner[mention], 0) + 1
            found = sum(shared.values())
            muc += found - len(shared)
            b3 += sum(n * n for n in shared.values()) / len(entity)
            links = len(entity) * (len(entity) - 1) / 2
            if links:
                lea += len(entity) * sum(n * (n - 1) / 2 for n in shared.values()) / links
            size += len(entity)
        counts += [muc, b3, lea, size - len(entities), size]
    table = np.zeros((len(key), len(response)))
    for mention, entity in sides[0].items():
        if mention in sides[1]:
            table[entity, sides[1][mention]] += 1
    sizes = [np.array([len(entity) for entity in side]) for side in (key, response)]
    table = 2 * table / (sizes[0][:, None] + sizes[1])
    rows, columns = linear_sum_assignment(-table)
    return [*counts, float(table[rows, columns].sum())]


def start_up(key: Path, response: Path) -> tuple[float, float]:
    """The command line on tiny files and `import numpy`, by the clock, best of some turns.

    Both have compiled modules, as they have where they are installed.
    """
    commands = (
        ["-m", "corefeval", "score", str(key), str(response)],
        ["-c", "import numpy"],
    )
    best = [float("inf")] * len(commands)
    with compiled_modules() as known:
        for turn in range(11):
            for place, command in enumerate(commands):
                start = time.perf_counter()
                subprocess.run(
                    [sys.executable, *command], capture_output=True, check=True, env=known
                )
                if turn:
                    best[place] = min(best[place], time.perf_counter() - start)
    return best[0], best[1]
