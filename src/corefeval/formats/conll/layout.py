"""Which column of a CoNLL file is which, judged by the contents of the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from corefeval.diagnostics import InputError, Notice, UsageError, excerpt

# Column numbers count from 1. A column has a name only in files that have a further column
# behind it, for the last one is always coreference.
COLUMNS = {
    "document": 1,
    "part": 2,
    "number": 3,
    "word": 4,
    "tag": 5,
    "parse": 6,
    "lemma": 7,
    "frameset": 8,
    "sense": 9,
    "speaker": 10,
    "named_entity": 11,
}

_UNIVERSAL = re.compile(
    "ADJ|ADP|ADV|AUX|CCONJ|CONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X"
)
_PENN = re.compile(
    "CC|CD|DT|EX|FW|IN|JJ[RS]?|LS|MD|NNP?S?|PDT|POS|W?PRP[$]?|W?RB[RS]?|RP|TO|UH|VB[DGNPZ]?|WDT|"
    "WP[$]?|[.,:$#]|``|''|-LRB-|-RRB-"
)
_CHOOSE = "choose their column with --word-column"
_MOST = 0.9
_ENOUGH = 5  # values; of fewer nobody can say whether they are tags


class Layout(NamedTuple):
    """The numbers of columns by name; `notice` says what was guessed, or looks wrong.

    `width` is the number of columns, coreference included; a part of a file has that of the file.
    """

    numbers: dict[str, int]
    notice: Notice | None = None
    width: int | None = None


class Sample(NamedTuple):
    """Some token lines of a file: their cells, and whether each begins a sentence.

    `n_columns` is the width of the file, coreference included.
    """

    file: str
    rows: Sequence[Sequence[str]]
    begins: Sequence[bool]
    n_columns: int

    def column(self, number: int) -> list[str]:
        """The cells of a column, an empty text for lines that are too short."""
        return [row[number - 1] if number <= len(row) else "" for row in self.rows]

    def counts_tokens(self, number: int) -> bool:
        """Whether a column numbers the tokens of each sentence.

        Where sentences do not stand apart, a small number behind a larger one begins the next.
        """
        cells = self.column(number)
        steps = [
            number_cell.isdecimal()
            and next_cell.isdecimal()
            and (
                int(next_cell[-9:]) == int(number_cell[-9:]) + 1
                or int(next_cell[-9:]) < 2 <= int(number_cell[-9:])
            )
            for (number_cell, next_cell), begins in zip(
                pairwise(cells), self.begins[1:], strict=True
            )
            if not begins
        ]
        return bool(steps) and sum(steps) >= _MOST * len(steps)

    def has_words(self, number: int) -> bool:
        """Whether a column may be the words: many texts, neither tags nor numbers."""
        cells = self.column(number)
        texts = sum(not cell.replace("_", "").replace("-", "").isdecimal() for cell in cells)
        varied = len(set(cells)) > 1 or len(cells) < _ENOUGH
        return varied and 2 * texts > len(cells) and not are_tags(cells)


def are_tags(cells: Sequence[str]) -> bool:
    """Whether nearly all texts are universal or Penn part-of-speech tags, with letters in some."""
    if len(cells) < _ENOUGH:
        return False
    return any(
        sum(tags.fullmatch(cell) is not None for cell in cells) >= _MOST * len(cells)
        for tags in (_UNIVERSAL, _PENN)
    ) and any(cell.isalpha() for cell in cells)


def usual_numbers(n_columns: int) -> dict[str, int]:
    """The columns of CoNLL-2012 that a file of this width has."""
    return {name: number for name, number in COLUMNS.items() if number < n_columns}


def find_layout(sample: Sample) -> Layout:
    """The columns judged by their contents: those of CoNLL-2012, unless the words are elsewhere.

    The word stands behind the number of its token. Where nothing is numbered, and the fourth column
    is tags or not there, the words are the column with the most different texts, if any has texts.
    """
    word, n_columns = COLUMNS["word"], sample.n_columns
    if n_columns == 3 and all(row[0].isdecimal() for row in sample.rows):
        return Layout({"number": 1, "word": 2})
    has_tags = n_columns > word and are_tags(sample.column(word))
    candidates: list[int] = []
    if not sample.counts_tokens(COLUMNS["number"]):
        places = range(2, n_columns)
        candidates = [n for n in places if sample.counts_tokens(n - 1) and sample.has_words(n)]
        if not candidates and (has_tags or n_columns <= word):
            candidates = [word] if has_tags else []
            candidates += (n for n in (1, *places) if n < n_columns and sample.has_words(n))
            candidates.sort(key=lambda n: len(set(sample.column(n))), reverse=True)
    if candidates and candidates[0] != word:
        message = f"{sample.file}: the words seem to be in column {candidates[0]}; {_CHOOSE}"
        guessed = n_columns > word or len(candidates) > 1
        notice = Notice("word-column", message) if guessed else None
        return Layout(_neighbouring_columns(sample, candidates[0]), notice)
    notice = _tags_notice(sample, word) if has_tags else None
    if n_columns <= word and sample.rows:
        message = f"{sample.file}: no column looks like words, so texts cannot be compared; "
        notice = Notice("word-column", message + _CHOOSE)
    return Layout(usual_numbers(n_columns), notice)


def check_word_column(word: int) -> None:
    """Raise UsageError unless `word` is a column number, counted from 1."""
    if isinstance(word, bool) or not isinstance(word, int) or word < 1:
        raise UsageError(f"the word column must be 1 or more, not {word!r}")


def stated_layout(sample: Sample, word: int) -> Layout:
    """The columns of a file whose words are in column `word`, counted from 1."""
    check_word_column(word)
    if word >= sample.n_columns:
        raise InputError(
            f"there is no column {word} that could be the words",
            file=sample.file,
            found=f"{sample.n_columns} columns, of which the last is coreference",
            expected=f"a word column from 1 to {sample.n_columns - 1}",
            fix="name another column with --word-column, or leave it out",
        )
    usual = word == COLUMNS["word"]
    numbers = usual_numbers(sample.n_columns) if usual else _neighbouring_columns(sample, word)
    return Layout(numbers, _tags_notice(sample, word) if are_tags(sample.column(word)) else None)


def _neighbouring_columns(sample: Sample, word: int) -> dict[str, int]:
    """The column of words, and its neighbours where they are numbers, lemmas or tags."""
    numbers = {"word": word}
    if word > 1 and sample.counts_tokens(word - 1):
        numbers = {"number": word - 1, "word": word}
    if word + 3 <= sample.n_columns and are_tags(sample.column(word + 2)):
        numbers |= {"lemma": word + 1, "tag": word + 2}
    return numbers


def _tags_notice(sample: Sample, word: int) -> Notice:
    examples = ", ".join(map(excerpt, list(dict.fromkeys(sample.column(word)))[:3]))
    message = f"{sample.file}: the words, column {word}, look like tags ({examples}); "
    return Notice("word-column", message + _CHOOSE)
