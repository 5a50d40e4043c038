"""Corpora that are as unlike language as can be, to see how times grow with their size."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.corpora import Mentions, cells
from corefeval.cli import main

# The mentions of key and response, and the number of tokens, of each document
Documents = Iterator[tuple[Mentions, Mentions, int]]

COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {
    "score": lambda key, response: ["score", str(key), str(response)],
    "check": lambda key, response: ["check", str(response), "--against", str(key)],
    "errors": lambda key, response: ["errors", str(key), str(response)],
    "convert": lambda key, response: ["convert", str(response), f"{response}u", "--to", "corefud"],
}


def nested(n: int) -> Documents:
    """Every mention inside the one before it, all of different entities, every span wrong."""
    key = [(i, 2 * (n - i), i) for i in range(n)]
    yield key, [(start, length + 1, entity) for start, length, entity in key], 2 * n + 1


def nested_in_one_entity(n: int) -> Documents:
    """The same, all of one entity."""
    for key, response, n_tokens in nested(n):
        yield [(*span, 0) for *span, _ in key], [(*span, 0) for *span, _ in response], n_tokens


def crossing(n: int) -> Documents:
    """Every mention crosses every other, and every span is wrong."""
    yield [(i, n, i) for i in range(n)], [(i, n + 1, i) for i in range(n)], 2 * n + 1


def one_span(n: int) -> Documents:
    """All entities on the same span, which the response has wrong."""
    yield [(0, 2, i) for i in range(n)], [(0, 3, i) for i in range(n)], 4


def one_entity(n: int) -> Documents:
    """A single entity, of which the response has nine tenths, and a tenth too much."""
    key = [(2 * i, 1, 0) for i in range(n)]
    yield key, [(s + (i % 10 == 0), 1, 0) for i, (s, _, _) in enumerate(key)], 2 * n


def singletons(n: int) -> Documents:
    """Nothing but singletons; a tenth of the spans are wrong."""
    key = [(3 * i, 1, i) for i in range(n)]
    yield key, [(s, 1 + (e % 10 == 0), e) for s, _, e in key], 3 * n


def documents(n: int) -> Documents:
    """Documents of three tokens, each with an entity of two mentions, one of them wrong."""
    for _ in range(n):
        yield [(0, 1, 0), (1, 2, 0)], [(0, 1, 0), (1, 1, 0)], 3


def unclosed(n: int) -> Documents:
    """Brackets of one cell that never close; the tokens in which they would are cut off."""
    yield [], [(0, 3, i) for i in range(n)], 2


class Shape(NamedTuple):
    """What makes a corpus of a size, the smaller of two sizes, and the commands that read it."""

    make: Callable[[int], Documents]
    size: int
    commands: tuple[str, ...] = tuple(COMMANDS)


SHAPES = {
    "nested mentions": Shape(nested, 10_000),
    "nested mentions of one entity": Shape(nested_in_one_entity, 10_000),
    "crossing mentions": Shape(crossing, 10_000),
    "entities on one span": Shape(one_span, 20_000),
    "mentions of one entity": Shape(one_entity, 20_000),
    "singletons": Shape(singletons, 20_000),
    "unclosed brackets in one cell": Shape(unclosed, 200_000, ("check",)),
    "documents": Shape(documents, 100_000),
}


def growths(folder: Path, scale: int = 1) -> Iterator[tuple[str, float, float]]:
    """For each shape and command the larger corpus, the seconds for half of it, and for it."""
    for name, shape in SHAPES.items():
        size = shape.size // scale
        pairs = [_written(folder, shape, times * size, f"{times}") for times in (1, 2)]
        for command in shape.commands:
            # In turns, so that what else the machine does falls upon both.
            turns = [[seconds(COMMANDS[command](*pair)) for pair in pairs] for _ in range(2)]
            small, large = map(min, zip(*turns, strict=True))
            yield f"{command}, {2 * size:,} {name}", small, large


def _written(folder: Path, shape: Shape, n: int, name: str) -> tuple[Path, Path]:
    """Key and response of a shape, of a size."""
    paths = folder / f"{name}.key.conll", folder / f"{name}.response.conll"
    for side, path in enumerate(paths):
        with open(path, "w", encoding="utf-8") as file:
            for number, (*sides, n_tokens) in enumerate(shape.make(n)):
                file.write(f"#begin document (d{number}); part 000\n")
                reach = max((start + length for start, length, _ in sides[side]), default=0)
                row = zip(range(n_tokens), cells(sides[side], max(n_tokens, reach)), strict=False)
                file.writelines(
                    f"d{number}\t0\t{place}\tword\tNN\t*\t-\t-\t-\t-\t*\t{cell}\n"
                    for place, cell in row
                )
                file.write("\n#end document\n")
    return paths


def seconds(command: list[str]) -> float:
    """The time of the processor that a command takes in this process, the shortest of three runs.

    A command that fails is no measurement.
    """
    times = []
    for _ in range(3):
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            status = main(command)
        times.append(time.process_time() - start)
        if status and command[0] != "check":  # which says 1 where it found something
            raise SystemExit(f"corefeval {' '.join(command)}: exit status {status}")
        if times[0] > 1:
            break
    return min(times)
