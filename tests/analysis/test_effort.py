"""Effort grows with the mentions, whatever they are like: counted in lines of Python, not seconds.

What arrays do within a line is measured by `make bench`, and by memory in the tests of wrong spans.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

import corefeval
from conll_texts import document
from corefeval.analysis.errors import analyse
from corefeval.formats.registry import FORMATS
from corefeval.linting import check_corpus, inspect

WRITABLE = [name for name, format in FORMATS.items() if format.writer]


def lines_run(function: Callable[[], object]) -> int:
    """How many lines of Python a call runs."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


SHAPES = {
    "nested": lambda n: [(place, 2 * n - place) for place in range(n)],
    "crossing": lambda n: [(place, place + n) for place in range(n)],
    "on one span": lambda n: [(0, 2)] * n,
    "apart": lambda n: [(place, place + 1) for place in range(n)],
}


@pytest.fixture(params=[(shape, several) for shape in SHAPES for several in (False, True)])
def corpus_of(request, conll):
    """A function from a number of mentions to a corpus: of one entity, or of as many."""
    shape, several = request.param

    def corpus_of(n: int) -> corefeval.Corpus:
        cells: list[list[str]] = [[] for _ in range(2 * n)]
        for number, (start, end) in enumerate(SHAPES[shape](n)):
            name = f"{number if several else 0}"
            cells[start].append(f"({name}" if end - start > 1 else f"({name})")
            if end - start > 1:
                cells[end - 1].append(f"{name})")
        return corefeval.read(conll(document(*("|".join(cell) or "-" for cell in cells))))

    return corpus_of


def check_growth(work: Callable[[corefeval.Corpus], object], corpus_of) -> None:
    corpora = [corpus_of(n) for n in (20, 150, 300)]
    _, small, large = (lines_run(lambda corpus=corpus: work(corpus)) for corpus in corpora)
    assert large < 2.5 * small


def test_checking(corpus_of):
    check_growth(check_corpus, corpus_of)


def test_errors(corpus_of):
    def work(corpus: corefeval.Corpus) -> object:
        half = corpus.keep_mentions(corpus.mention_start % 2 == 0)
        return analyse(corpus, half).as_dict()

    check_growth(work, corpus_of)


# In WebAnno TSV, the row of a token names every mention around it: the file itself grows faster.
@pytest.mark.parametrize("format", [name for name in WRITABLE if name != "webanno"])
def test_writing(corpus_of, format, tmp_path):
    target = tmp_path / format
    check_growth(lambda corpus: corefeval.write(corpus, target, format=format), corpus_of)


def test_unclosed_brackets(conll):
    def effort(n: int) -> int:
        path = conll(document("|".join(f"({number}" for number in range(n)), "-"))
        return lines_run(lambda: inspect(path))

    assert effort(1) and effort(400) < 2.5 * effort(200)
