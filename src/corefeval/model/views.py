"""Documents, entities and mentions as people think of them: views of a corpus."""

from __future__ import annotations

import importlib
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from corefeval.diagnostics import InputError, plural
from corefeval.model.arrays import ArrayPair
from corefeval.model.tokens import Tokens

if TYPE_CHECKING:
    from corefeval.model.corpus import Corpus, DocumentId


@dataclass(frozen=True, slots=True, repr=False)
class Mention:
    """One mention: its token positions, or its label in a corpus of plain Python mentions."""

    document: Document
    row: int

    def __repr__(self) -> str:
        if self.label is not None:
            return f"<Mention {self.label!r}>"
        text = f" {self.text!r}" if self.document.has_words else ""
        return f"<Mention {self.start}:{self.end}{text}>"

    @property
    def label(self) -> Hashable | None:
        """What plain Python input called this mention."""
        labels = self.document.corpus.labels
        return labels[self.row] if labels is not None else None

    @property
    def start(self) -> int:
        """The position of the first token in the document."""
        return int(self._positions()[0][self.row])

    @property
    def end(self) -> int:
        """The position after the last token in the document."""
        return int(self._positions()[1][self.row])

    @property
    def span(self) -> tuple[int, int]:
        """Start and end (exclusive)."""
        return self.start, self.end

    @property
    def positions(self) -> tuple[int, ...]:
        """Every token position, gaps left out."""
        return tuple(chain.from_iterable(range(start, end) for start, end in self.parts))

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Start and end (exclusive) of what the gaps leave: one part where there are none."""
        gaps = self.document.corpus.gaps_of.get(self.row, ())
        edges = [self.start, *(edge for gap in gaps for edge in gap), self.end]
        return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

    @property
    def head(self) -> int | None:
        """The position of the head token, where it is known."""
        heads = self.document.corpus.mention_head
        return None if heads is None or heads[self.row] < 0 else int(heads[self.row])

    @property
    def features(self) -> dict[str, object]:
        """What the source states about this mention, by name."""
        columns = self.document.corpus.features
        return {
            name: values[self.row : self.row + 1].tolist()[0] for name, values in columns.items()
        }

    @property
    def words(self) -> list[str]:
        """The words of the mention."""
        words = self.document.words
        return [words[position] for position in self.positions]

    @property
    def text(self) -> str:
        """The words, or the parts of a text without tokens, with blanks between; or the label."""
        if self.label is not None:
            return str(self.label)
        text = self.document.text
        parts = self.words if text is None else [text[start:end] for start, end in self.parts]
        return " ".join(parts)

    @property
    def entity(self) -> Entity:
        """The entity that the mention belongs to."""
        return Entity(self.document, int(self.document.corpus.mention_entity[self.row]))

    def _positions(self) -> ArrayPair:
        corpus = self.document.corpus
        if corpus.mention_start is None or corpus.mention_end is None:
            raise InputError("mentions of plain Python input have labels, not token positions")
        return corpus.mention_start, corpus.mention_end


@dataclass(frozen=True, slots=True, repr=False)
class Entity:
    """One entity: its mentions in textual order."""

    document: Document
    index: int

    def __repr__(self) -> str:
        return f"<Entity {self.name}: {self.mentions}>"

    def __len__(self) -> int:
        return int(self.document.corpus.entity_sizes[self.index])

    def __iter__(self) -> Iterator[Mention]:
        return iter(self.mentions)

    @property
    def name(self) -> str:
        """What the file calls the entity; its number where it has no name."""
        names = self.document.corpus.names
        return names[self.index] if names is not None else str(self.index)

    @property
    def mentions(self) -> list[Mention]:
        """The mentions in textual order."""
        corpus, rows = self.document.corpus, self.document.rows
        places = np.flatnonzero(corpus.mention_entity[rows.start : rows.stop] == self.index)
        return [Mention(self.document, rows.start + row) for row in places.tolist()]


@dataclass(frozen=True, repr=False)
class Document:
    """One document of a corpus: sentences, tokens, entities, mentions."""

    corpus: Corpus
    index: int

    def __repr__(self) -> str:
        counts = plural(len(self.entities), "entity"), plural(len(self.rows), "mention")
        return f"<Document {str(self.id)!r}: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        # By name: the model knows nothing of how it is shown.
        notebook = importlib.import_module("corefeval.reports.notebook")
        return str(notebook.document_html(self))

    @property
    def id(self) -> DocumentId:
        """Name and part."""
        return self.corpus.documents[self.index]

    @cached_property
    def rows(self) -> range:
        """The rows of the corpus' mention arrays that belong to this document."""
        offsets = self.corpus.mention_offsets
        return range(int(offsets[self.index]), int(offsets[self.index + 1]))

    @property
    def mentions(self) -> list[Mention]:
        """All mentions, in textual order where they have positions."""
        return [Mention(self, row) for row in self.rows]

    @property
    def entities(self) -> list[Entity]:
        """All entities that have a mention, in the order of their numbers."""
        rows = self.rows
        present = np.unique(self.corpus.mention_entity[rows.start : rows.stop])
        return [Entity(self, index) for index in present.tolist()]

    @property
    def metadata(self) -> Mapping[str, str]:
        """What the source says about the document as a whole: genre, title and so on."""
        metadata = self.corpus.metadata
        return metadata[self.index] if metadata else {}

    @property
    def sentence_metadata(self) -> Sequence[Mapping[str, str]]:
        """What the source says about each sentence."""
        metadata = self.corpus.sentence_metadata
        return metadata[self.index] if metadata else ()

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return int(self._tokens().counts[self.index])

    @property
    def columns(self) -> tuple[str, ...]:
        """The token columns that this corpus has by name."""
        return self.corpus.tokens.columns if self.corpus.tokens is not None else ()

    def column(self, name: str | int) -> list[str]:
        """A token column by its name, or by its number counted from 1."""
        return self._tokens().column(self.index, name)

    @property
    def text(self) -> str | None:
        """The text of a document whose positions are characters; None if it has tokens."""
        tokens = self.corpus.tokens
        table = None if tokens is None else tokens.table(self.index)
        return None if table is None else table.text

    @property
    def has_words(self) -> bool:
        """Whether there are words, or a text."""
        return "word" in self.columns or self.text is not None

    @cached_property
    def words(self) -> list[str]:
        """The tokens' words."""
        return self.column("word")

    @property
    def tags(self) -> list[str]:
        """The tokens' part-of-speech tags."""
        return self.column("tag")

    @property
    def parse(self) -> list[str]:
        """The tokens' bits of the parse tree, `(NP*` and the like."""
        return self.column("parse")

    @property
    def speakers(self) -> list[str]:
        """The tokens' speakers."""
        return self.column("speaker")

    @property
    def named_entities(self) -> list[tuple[int, int, str]]:
        """The named entities: start, end (exclusive) and class."""
        return _bracketed_spans(self.column("named_entity"))

    @property
    def sentences(self) -> list[list[str]]:
        """The words, sentence by sentence."""
        words = self.words
        return [words[s.start : s.stop] for s in self._tokens().sentence_ranges(self.index)]

    def _tokens(self) -> Tokens:
        if self.corpus.tokens is None:
            raise InputError("this corpus has no tokens")
        return self.corpus.tokens


def _bracketed_spans(cells: Sequence[str]) -> list[tuple[int, int, str]]:
    """The spans in a column of `(PERSON*`, `*`, `*)` and `(GPE)` cells."""
    spans: list[tuple[int, int, str]] = []
    open_spans: list[tuple[int, str]] = []
    for position, cell in enumerate(cells):
        for label, close in re.findall(r"\(([^()*\s]+)|(\))", cell):
            if label:
                open_spans.append((position, label))
            elif close and open_spans:
                start, opened = open_spans.pop()
                spans.append((start, position + 1, opened))
    spans += [(start, len(cells), label) for start, label in open_spans]
    return sorted(spans, key=lambda span: (span[0], -span[1]))
