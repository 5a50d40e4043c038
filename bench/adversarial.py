"""Corpora that are as unlike language as can be, to see how times grow with their size."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.corpora import Mentions, cells
from corefeval.cli import main

# The mentions of key and response, and the number of tokens, of each document
Documents = Iterator[tuple[Mentions, Mentions, int]]


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
    """Documents of six tokens, each with two mentions of an entity, and one that is wrong."""
    for _ in range(n):
        yield [(0, 1, 0), (3, 2, 0)], [(0, 1, 0), (3, 1, 0)], 6


def unclosed(n: int) -> Documents:
    """All mentions begin on one token and never end."""
    yield [], [(0, n + 2, i) for i in range(n)], n + 2


SHAPES: dict[str, tuple[Callable[[int], Documents], int]] = {
    "nested mentions": (nested, 10_000),
    "nested mentions of one entity": (nested_in_one_entity, 10_000),
    "crossing mentions": (crossing, 10_000),
    "entities on one span": (one_span, 10_000),
    "mentions of one entity": (one_entity, 30_000),
    "singletons": (singletons, 30_000),
    "documents": (documents, 100_000),
}
COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {
    "score": lambda key, response: ["score", str(key), str(response)],
    "check": lambda key, response: ["check", str(response), "--against", str(key)],
    "errors": lambda key, response: ["errors", str(key), str(response)],
    "convert": lambda key, response: ["convert", str(response), f"{response}u", "--to", "corefud"],
}


def write_documents(path: Path, documents: Iterator[tuple[Mentions, int]]) -> Path:
    """A CoNLL file with words and tags."""
    with open(path, "w", encoding="utf-8") as file:
        for number, (mentions, n_tokens) in enumerate(documents):
            file.write(f"#begin document (d{number}); part 000\n")
            for place, cell in enumerate(cells(mentions, n_tokens)):
                rest = "NN\t*\t-\t-\t-\t-\t*"
                file.write(f"d{number}\t0\t{place}\tword\t{rest}\t{cell}\n")
            file.write("\n#end document\n")
    return path


def write_shape(folder: Path, shape: str, n: int) -> tuple[Path, Path]:
    """Key and response of a shape, of a size."""
    make, _ = SHAPES[shape]
    key = write_documents(folder / "key.conll", ((key, size) for key, _, size in make(n)))
    other = folder / "response.conll"
    return key, write_documents(other, ((response, size) for _, response, size in make(n)))


def run(command: list[str]) -> float:
    """The seconds that a command takes in this process; its output goes nowhere."""
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(command)
    return time.perf_counter() - start
