"""The documents of a key, prepared for what is laid upon them, and which one an answer is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from corefeval.diagnostics import InputError
from corefeval.formats.answers.ledgers import Remarks
from corefeval.formats.answers.lookup import KeyDocument
from corefeval.formats.answers.placing import SEED
from corefeval.formats.answers.records import Answer
from corefeval.formats.answers.text import (
    ATOM,
    Atoms,
    Vocabulary,
    atoms_of_text,
    atoms_of_tokens,
    clean,
    shown_words,
)
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, distinct, integers
from corefeval.model.text_tokens import text_of
from corefeval.texts import hash_runs

_LEAST_SHARE = 0.2  # of a document's seeds that an answer must have to be taken for it
_PIECE = re.compile(r"(.*)(?:#(\d{1,6})/\d{1,6}|_(\d{1,6})_\d{1,6})", re.DOTALL)


class KeyTexts:
    """The texts of a key, with one vocabulary for all of them."""

    def __init__(self, key: Corpus) -> None:
        tokens = key.tokens
        if tokens is None or ("word" not in tokens.columns and text_of(tokens, 0) is None):
            raise InputError(
                "the key has no words with which answers of language models could be aligned",
                file=key.name or None,
                fix="use a key with words: CoNLL, CoNLL-U, JSON with sentences or tokens …",
            )
        self.key, self.tokens, self.vocabulary = key, tokens, Vocabulary()
        self.identifiers = [str(identifier) for identifier in key.documents]
        names = [identifier.name for identifier in key.documents]
        bare = [*map(_bare, self.identifiers)]
        self._numbers: dict[str, int] = {}  # of documents, by names that only one has
        for spellings in (bare, names, self.identifiers):
            self._numbers |= _number_unique(spellings)
        self.document = cache(self._prepare)
        self._words = cache(lambda index: self._list_words(self.document(index).atoms)[0])

    def _prepare(self, index: int) -> KeyDocument:
        """A document by its number."""
        text = text_of(self.tokens, index)
        if text is not None:
            spans = [match.span() for match in ATOM.finditer(text)]
            words, starts = [text[start:end] for start, end in spans], [0]
        else:
            words, starts = shown_words(self.tokens, index), self.tokens.sentence_starts(index)
            spans = [*pairwise(range(len(words) + 1))]
        low, high = integers(spans).reshape(-1, 2).T
        sentence = np.maximum(np.searchsorted(starts, np.arange(len(words)), side="right") - 1, 0)
        atoms = atoms_of_tokens(words, self.vocabulary)
        name = self.identifiers[index]
        return KeyDocument(index, name, words, atoms, sentence, (low, high), self.vocabulary)

    def pair(self, answers: Sequence[Answer], remarks: Remarks) -> None:
        """Find the documents of every answer, by id, else by content."""
        size = len(self.identifiers)
        for answer in answers:
            answer.text = clean(answer.text)
            self._find_by_id(answer)
        free = {*range(size)} - {index for answer in answers for index, _ in answer.parts}
        for answer in answers:
            has_id, name = bool(answer.parts), answer.identifier
            if free and not answer.piece:
                self._find_by_content(answer, sorted(free))
            if not answer.parts and size == len(answers) == 1:
                answer.parts = [(0, 0)]
            if not answer.parts:
                remarks["llm-unknown"].append(name or answer.text.strip()[:40])
            elif name is not None and not has_id:
                remarks["llm-guessed"].append(name)
            if answer.parts[1:]:
                remarks["llm-several"].append(name or "")
            free -= {index for index, _ in answer.parts}

    def _find_by_id(self, answer: Answer) -> None:
        """The document of an id, or of a name or file name that only one document has."""
        name = answer.identifier or ""
        piece = _PIECE.fullmatch(name)
        for stem, number in ((name, 0), (piece[1], piece[2] or piece[3]) if piece else ("", 0)):
            index = self._numbers.get(stem, self._numbers.get(_bare(stem)))
            if index is not None and not answer.parts:
                answer.parts, answer.piece = [(index, 0)], int(number)

    def _find_by_content(self, answer: Answer, free: Sequence[int]) -> None:
        """Find documents that the text of an answer fits, or else the words in it."""
        text, named = answer.text, [index for index, _ in answer.parts]
        ranges = self.find_ranges(text, [*named, *free])
        if not ranges and not named:
            words = distinct(self._list_words(atoms_of_text(text, self.vocabulary))[0])
            common = [np.isin(words, self._words(index)).sum() for index in free]
            if 2 * max(common) > max(words.size, 2):
                answer.parts = [(free[common.index(max(common))], 0)]
        elif {*named} <= {index for *_, index in ranges}:
            edges = [0]
            for (_, end, _), (start, _, _) in pairwise(ranges):
                newline = text.rfind("\n", end, start)
                edges.append(newline if newline >= 0 else (end + start) // 2)
            answer.parts = [(index, edge) for (*_, index), edge in zip(ranges, edges, strict=True)]

    def find_ranges(self, text: str, among: Iterable[int]) -> list[tuple[int, int, int]]:
        """Documents that a text has much of, in its order: first and last character, and number.

        Words alone are compared, and of the text only those that the document has: no tags.
        """
        atoms, ranges = atoms_of_text(text, self.vocabulary), []
        numbers, rows = self._list_words(atoms)
        for index in among:
            words = self._words(index)
            is_common = np.isin(numbers, words)
            seeds, key_seeds = hash_runs(numbers[is_common], SEED), hash_runs(words, SEED)
            hits = np.flatnonzero(np.isin(seeds, key_seeds))
            least = _LEAST_SHARE * min(np.unique(key_seeds).size, seeds.size)
            if np.unique(seeds[hits]).size >= max(least, 1):
                edges = np.percentile(hits, (2, 98)).astype(np.int64)
                first, last = rows[is_common][edges].tolist()
                ranges.append((int(atoms.start[first]), int(atoms.end[last]), index))
        return sorted(ranges)

    def _list_words(self, atoms: Atoms) -> tuple[IntArray, IntArray]:
        """The numbers of atoms that are words, and their places."""
        words = self.vocabulary.words
        rows = np.flatnonzero([words[number].isalpha() for number in atoms.numbers.tolist()])
        return atoms.numbers[rows], rows


def _number_unique(names: Sequence[str]) -> dict[str, int]:
    counts = Counter(names)
    return {name: number for number, name in enumerate(names) if counts[name] == 1}


def _bare(identifier: str) -> str:
    """An id as batch services allow it: all but letters and digits is `_`."""
    return re.sub(r"[\W_]+", "_", identifier)
