"""Findings: what is odd about a file, and where it is; their kinds are in `kinds.toml`."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Literal

from corefeval.diagnostics import InputError
from corefeval.formats.conll.tokens import ConllLines
from corefeval.model import Corpus, Document, Mention
from corefeval.model.text_tokens import text_of

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding: its severity, what it is, its effect on scores, and how it is fixed.

    An error stops scoring or loses mentions; a warning changes scores, here or in other scorers,
    without anybody noticing; a note is good to know.
    """

    name: str
    severity: Severity
    summary: str
    effect: str
    fix: str


_TABLE = Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8")
KINDS = {name: FindingKind(name, **texts) for name, texts in tomllib.loads(_TABLE).items()}
_WORDS, _CHARACTERS = 100, 600  # at most so many of a mention: those of nested ones add up


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: its kind, its place as far as it has one, and what to say about it.

    `span` is the first token and the one behind the last, counted from 0 in the document; `text`
    the first words of the mention. `fix` is empty where the advice of the kind applies.
    """

    kind: str
    message: str
    file: str | None = None
    line: int | None = None
    document: str | None = None
    span: tuple[int, int] | None = None
    text: str | None = None
    fix: str = ""

    @property
    def severity(self) -> Severity:
        """Whether this is an error, a warning or a note."""
        return KINDS[self.kind].severity

    @property
    def effect(self) -> str:
        """The effect of the finding on scores."""
        return KINDS[self.kind].effect

    @property
    def advice(self) -> str:
        """How to fix it."""
        return self.fix or KINDS[self.kind].fix


def from_error(error: InputError, kind: str = "", **place: str | None) -> Finding:
    """The finding for an error: of `kind`, else of the error's kind, else an unreadable file."""
    kind = kind or error.kind or "unreadable-file"
    details = [
        f"{label} {text}"
        for label, text in (("found", error.found), ("expected", error.expected))
        if text
    ]
    message = ": ".join((error.problem, ", ".join(details))) if details else error.problem
    fix = (error.fix or "") if kind == "unreadable-file" else ""
    file = place.pop("file", None) or error.file
    return Finding(kind, message, file=file, line=error.line, fix=fix, **place)  # type: ignore[arg-type]


def count_severities(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many findings there are of each severity."""
    counts = Counter(finding.severity for finding in findings)
    return {severity: counts[severity] for severity in SEVERITIES}


class Locator:
    """Makes findings about the documents and mentions of a corpus, with lines and words."""

    def __init__(
        self, corpus: Corpus, file: str | None, files: Sequence[str] | None = None
    ) -> None:
        """`files` are those of each document, where a corpus has several."""
        self.corpus = corpus
        self.file = file
        self.files = files
        self._documents: dict[int, Document] = {}

    def document(self, index: int) -> Document:
        """A document, the same object each time, so that its words are decoded once."""
        return self._documents.setdefault(index, self.corpus[index])

    def mention(self, row: int) -> Mention:
        """A mention by its row in the corpus."""
        return Mention(self.document(int(self.corpus.mention_document[row])), row)

    def about_file(self, kind: str, message: str) -> Finding:
        """A finding about the whole file."""
        return Finding(kind, message, file=self.file)

    def about_document(
        self, kind: str, index: int, message: str, position: int | None = None
    ) -> Finding:
        """A finding about a document, or one of its tokens."""
        tokens = self.corpus.tokens
        inside = tokens is not None and position is not None and position < tokens.counts[index]
        line = tokens.line(index, position) if tokens and inside and position is not None else None
        identifier = str(self.corpus.documents[index])
        file = self.files[index] if self.files else self.file
        return Finding(kind, message, file, line, identifier)

    def about_mention(self, kind: str, row: int, message: str) -> Finding:
        """A finding about a mention."""
        mention = self.mention(row)
        index = mention.document.index
        identifier = str(mention.document.id)
        if mention.label is not None:
            return Finding(kind, message, self.file, None, identifier, text=str(mention.label))
        line = self.about_document(kind, index, message, mention.start).line
        return Finding(kind, message, self.file, line, identifier, mention.span, self.text(mention))

    def text(self, mention: Mention) -> str | None:
        """The words of a mention, where they are known; of a very long one the first."""
        if mention.label is not None:
            return str(mention.label)
        text = text_of(self.corpus.tokens, mention.document.index)
        if text is not None:  # positions are characters
            end = min(mention.end, mention.start + _CHARACTERS)
            return text[mention.start : end] + ("…" if end < mention.end else "")
        words = self._words(mention.document.index)
        positions = chain.from_iterable(range(start, end) for start, end in mention.parts)
        beginning = [words[p] for p in islice(positions, _WORDS) if p < len(words)]
        ellipsis = ["…"] if next(positions, len(words)) < len(words) else []
        return " ".join(beginning + ellipsis) if beginning else None

    def _words(self, index: int) -> Sequence[str]:
        document = self.document(index)
        column = self._word_column
        if column is None:
            return ()
        return document.words if column == "word" else document.column(column)

    @cached_property
    def _word_column(self) -> str | int | None:
        """Where the words are: narrow CoNLL files have them right before coreference."""
        tokens = self.corpus.tokens
        if tokens is None or "word" in tokens.columns:
            return None if tokens is None else "word"
        lines = tokens.lines
        is_narrow = isinstance(lines, ConllLines) and lines.n_columns > 1
        return lines.n_columns - 1 if is_narrow and isinstance(lines, ConllLines) else None
