"""The token lines of a CoNLL-U file, left as bytes until somebody asks for a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from corefeval.diagnostics import InputError
from corefeval.formats.conllu.scan import Scan
from corefeval.formats.source import Source
from corefeval.model import Tokens
from corefeval.model.arrays import IntArray

COLUMNS = {
    "number": 0,
    "word": 1,
    "lemma": 2,
    "upos": 3,
    "tag": 4,
    "features": 5,
    "head": 6,
    "relation": 7,
    "deps": 8,
    "misc": 9,
}


@dataclass(eq=False)
class ConlluTokens(Tokens):
    """Token lines, empty nodes among them; the column `empty` says which are such."""

    origin: Source
    scan: Scan
    first: IntArray
    counts: IntArray

    @property
    def source(self) -> str:
        """The file that the tokens come from."""
        return self.origin.file

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of CoNLL-U by name, and `empty`."""
        return (*COLUMNS, "empty")

    def column(self, document: int, name: str | int) -> list[str]:
        """One column of one document; a number counts columns from 1."""
        rows = self._rows(document)
        if name == "empty":
            return ["1" if empty else "" for empty in self.scan.empty[rows].tolist()]
        index = name - 1 if isinstance(name, int) else COLUMNS.get(name, -1)
        if not 0 <= index < len(COLUMNS):
            raise InputError(
                f"the file has no column {name!r}",
                file=self.source,
                expected=f"one of {', '.join(self.columns)}, or a number from 1 to 10",
            )
        decode = self.origin.decode
        return [
            decode(self.scan.text(line).split(b"\t", index + 1)[index], line + 1)
            for line in self.scan.token_line[rows].tolist()
        ]

    def rows(self, document: int) -> list[list[str]]:
        """All columns of each token."""
        return [
            self.origin.decode(self.scan.text(line), line + 1).split("\t")
            for line in self.scan.token_line[self._rows(document)].tolist()
        ]

    def sentence_starts(self, document: int) -> list[int]:
        """The token positions at which sentences begin."""
        starts: list[int] = np.flatnonzero(self.scan.new_sentence[self._rows(document)]).tolist()
        return starts

    def line(self, document: int, position: int) -> int:
        """The line number of a token, counted from 1."""
        return int(self.scan.token_line[self.first[document] + position]) + 1

    def select(self, documents: IntArray) -> ConlluTokens:
        """The same tokens for other documents; −1 is a document without tokens."""
        present = documents >= 0
        return replace(
            self,
            first=np.where(present, self.first[documents], 0),
            counts=np.where(present, self.counts[documents], 0),
        )

    def multiword_lines(self, document: int) -> dict[int, list[str]]:
        """The lines of multi-word tokens, by the position of the token behind them."""
        rows = self._rows(document)
        lines = self.scan.token_line[rows]
        found: dict[int, list[str]] = {}
        for line in self.scan.ranges.tolist():
            position = int(np.searchsorted(lines, line))
            if lines.size and position < lines.size and line > lines[0] - 2:
                text = self.origin.decode(self.scan.text(line), line + 1)
                found.setdefault(position, []).append(text)
        return found

    def _rows(self, document: int) -> slice:
        first = int(self.first[document])
        return slice(first, first + int(self.counts[document]))


class SentenceComments(Sequence[Mapping[str, str]]):
    """The comments before each sentence of a document, as `key = value`, decoded when asked for."""

    def __init__(self, tokens: ConlluTokens, document: int) -> None:
        self._tokens = tokens
        self._document = document

    def __len__(self) -> int:
        return len(self._tokens.sentence_starts(self._document))

    @overload
    def __getitem__(self, index: int) -> Mapping[str, str]: ...

    @overload
    def __getitem__(self, index: slice) -> list[Mapping[str, str]]: ...

    def __getitem__(self, index: int | slice) -> Mapping[str, str] | list[Mapping[str, str]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        start = self._tokens.sentence_starts(self._document)[index]
        return dict(self._comments(self._tokens.line(self._document, start) - 1))

    def _comments(self, line: int) -> Iterator[tuple[str, str]]:
        """The comment lines above a line, document-wide ones left out."""
        scan = self._tokens.scan
        comments = set(scan.comments.tolist())
        ranges = set(scan.ranges.tolist())
        above = line - 1
        while above in ranges:
            above -= 1
        first = above
        while first in comments:
            first -= 1
        for number in range(first + 1, above + 1):
            text = self._tokens.origin.decode(scan.text(number), number + 1).lstrip("# ")
            key, _, value = text.partition("=")
            if not key.startswith(("newdoc", "global.", "meta::")):
                yield key.strip(), value.strip()
