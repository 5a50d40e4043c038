"""The documents of a key, prepared for what is laid upon them; and which document a text is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from corefeval.diagnostics import InputError
from corefeval.formats.answers.lookup import KeyDocument
from corefeval.formats.answers.placing import SEED
from corefeval.formats.answers.text import ATOM, Atoms, Vocabulary, atoms_of_tokens
from corefeval.model import Corpus
from corefeval.model.text_tokens import text_of
from corefeval.texts import hash_runs

_LEAST_SHARE = 0.2  # of a document's seeds that an answer must have to be taken for it


class KeyTexts:
    """The texts of a key, with one vocabulary for all of them."""

    def __init__(self, key: Corpus) -> None:
        if key.tokens is None or (
            "word" not in key.tokens.columns and text_of(key.tokens, 0) is None
        ):
            raise InputError(
                "the key has no words with which answers of language models could be aligned",
                file=key.name or None,
                fix="use a key with words: CoNLL, CoNLL-U, JSON with sentences or tokens …",
            )
        self.key = key
        self.vocabulary = Vocabulary()
        self.identifiers = [str(identifier) for identifier in key.documents]
        self._documents: dict[int, KeyDocument] = {}

    def find(self, identifier: str) -> int | None:
        """The document of an id, or of a name or file name that only one document has."""
        names = [document_id.name for document_id in self.key.documents]
        plain = list(map(_bare, self.identifiers))
        for spellings in (self.identifiers, names, plain):
            name = _bare(identifier) if spellings is plain else identifier
            if spellings.count(name) == 1:
                return spellings.index(name)
        return None

    def document(self, index: int) -> KeyDocument:
        """A document by its number."""
        if index not in self._documents:
            self._documents[index] = self._prepare(index)
        return self._documents[index]

    def _prepare(self, index: int) -> KeyDocument:
        tokens = self.key.tokens
        assert tokens is not None
        text = text_of(tokens, index)
        if text is not None:
            matches = list(ATOM.finditer(text))
            words = [match.group() for match in matches]
            spots = np.array([match.span() for match in matches], dtype=np.int64).reshape(-1, 2)
            bounds = spots[:, 0], spots[:, 1]
            starts, empty = [0] if words else [], None
        else:
            words = tokens.column(index, "word") if tokens.counts[index] else []
            every = np.arange(len(words), dtype=np.int64)
            bounds = every, every + 1
            starts = tokens.sentence_starts(index)
            empty = None
            if "empty" in tokens.columns and words:
                empty = [bool(cell) for cell in tokens.column(index, "empty")]
        atoms = atoms_of_tokens(words, empty, self.vocabulary)
        first = np.zeros(len(words) + 1, dtype=np.bool_)
        first[[0, *starts]] = True
        sentence = np.maximum(np.cumsum(first[: len(words)]) - 1, 0)
        name, vocabulary = self.identifiers[index], self.vocabulary
        return KeyDocument(index, name, words, atoms, sentence, bounds, vocabulary)

    def find_by_text(self, text: Atoms, among: Iterable[int]) -> list[tuple[int, int, int]]:
        """Documents that a text has much of, in its order: first and last seed, and number."""
        seeds = hash_runs(text.numbers, SEED)
        ranges = []
        for index in among:
            document_seeds = np.unique(hash_runs(self.document(index).atoms.numbers, SEED))
            hits = np.flatnonzero(np.isin(seeds, document_seeds))
            least = _LEAST_SHARE * min(document_seeds.size, seeds.size)
            if np.unique(seeds[hits]).size >= max(least, 1):
                first, last = np.percentile(hits, (2, 98)).astype(int).tolist()
                ranges.append((first, last, index))
        return sorted(ranges)

    def find_by_strings(self, strings: Sequence[str], among: Sequence[int]) -> list[int]:
        """The document that has most of some strings, if any has."""
        of_strings = [[self.vocabulary[atom] for atom in ATOM.findall(text)] for text in strings]

        def score(index: int) -> int:
            atoms = set(self.document(index).atoms.numbers.tolist())
            return sum(len(numbers) for numbers in of_strings if atoms.issuperset(numbers))

        best = max(among, key=score)
        return [best] if score(best) else []


def _bare(identifier: str) -> str:
    """An id as batch services allow it: all but letters and digits is `_`."""
    return re.sub(r"[\W_]+", "_", identifier)
