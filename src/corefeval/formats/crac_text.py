"""CRAC plain text: a document per line, and the marks of mentions behind the words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.annotations import AnnotatedDocument, build_corpus
from corefeval.formats.declarations import Written
from corefeval.formats.losses import (
    ZERO,
    bracket_mentions,
    check_distinct,
    count_gapped,
    mark_zeros,
    name_entities,
    nested_mentions,
    sentence_bounds,
    words_of,
)
from corefeval.formats.source import Source
from corefeval.formats.standoff import lines_of
from corefeval.model import Corpus, Document, DocumentId
from corefeval.model.identity import unbroken_word

_NAME = r"[^\s\[\],|]+"
_MARK = rf"(?:\[{_NAME}\]?|{_NAME}\])"
_MARKED = re.compile(rf"(.+)\|({_MARK}(?:,{_MARK})*)", re.DOTALL)
_SAFE_NAME = re.compile(_NAME)
# A word that ends as if it were marked is written with a bar behind it.
_BARRED = re.compile(rf"(.+\|{_MARK}(?:,{_MARK})*\|*)\|", re.DOTALL)
_NEW_DOCUMENT = re.compile(r"# newdoc id =(?: (.*))?")
_COMMENT = re.compile(r"# \S+ = ")
_BLANK_RUN = re.compile(r"[ \t]+")


@dataclass(slots=True)
class _Line:
    """A document being read from its line: its words, and mentions in the order of opening."""

    number: int
    source: Source
    words: list[str] = field(default_factory=list)
    mentions: list[tuple[str, int, int]] = field(default_factory=list)
    open_rows: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    doubtful: int = 0

    def add(self, cell: str) -> None:
        """Read a word with its marks."""
        marked = _MARKED.fullmatch(cell) if "|" in cell else None
        if marked is None:
            barred = _BARRED.fullmatch(cell) if cell.endswith("|") else None
            self.words.append(cell if barred is None else barred[1])
            before, _, behind = cell.rpartition("|")
            self.doubtful += bool(before) and ("[" in behind or "]" in behind)
            return
        self.words.append(marked[1])
        marks = marked[2].split(",")
        unopened = [mark[:-1] for mark in marks if mark[0] != "[" and not self.close(mark[:-1])]
        position = len(self.words) - 1
        for mark in marks:
            entity = mark.strip("[]")
            if mark[0] == "[" and (mark[-1] == "]" or entity in unopened):
                if mark[-1] != "]":  # a mention of one word, written with two marks
                    unopened.remove(entity)
                self.mentions.append((entity, position, position + 1))
            elif mark[0] == "[":
                self.open_rows[entity].append(len(self.mentions))
                self.mentions.append((entity, position, 0))
        if unopened:
            raise self.bracket_error(unopened[0], position, opens=False)

    def close(self, entity: str) -> bool:
        """Close the mention that was opened last, on an earlier word; says if there is any."""
        if not self.open_rows[entity]:
            return False
        row = self.open_rows[entity].pop()
        self.mentions[row] = entity, self.mentions[row][1], len(self.words)
        return True

    def finish(self) -> None:
        """Make sure that every mention is closed."""
        for entity, rows in self.open_rows.items():
            if rows:
                raise self.bracket_error(entity, self.mentions[rows[-1]][1], opens=True)

    def bracket_error(self, entity: str, position: int, *, opens: bool) -> InputError:
        """The error of a mark without its counterpart, on a word of the line."""
        where = f"on word {position + 1}, {excerpt(self.words[position])}, "
        return self.source.bracket_error(self.number, entity, opens, where, marks="[]")


def read_crac_text(source: Source, *, name: str = "") -> Corpus:
    """Read CRAC plain text: `Los|[e1 jugadores|e1]`; words that begin with `##` are zeros.

    On a word, `e1]` closes the mention of e1 that was opened last on an earlier word, wherever it
    stands among the marks.
    """
    documents = []
    for number, title, text in _documents(source.text):
        line = _Line(number, source)
        for cell in _BLANK_RUN.split(text.strip(" \t")) if text else ():
            line.add(cell)
        line.finish()
        document = AnnotatedDocument(
            source,
            title or None,
            words=line.words,
            columns={"empty": ["1" if word.startswith(ZERO) else "" for word in line.words]},
            lines=[number] * len(line.words),
        )
        document.counts["unread-marks"] += line.doubtful
        for entity, start, end in line.mentions:
            document.add([(start, end)], entity)
        documents.append(document)
    return build_corpus(documents, source, name, names_hold=True)


def _documents(text: str) -> list[tuple[int, str, str]]:
    """The line, title and text of each document; a title without text is an empty document."""
    documents: list[tuple[int, str, str]] = []
    for number, line in enumerate(lines_of(text), start=1):
        header = _NEW_DOCUMENT.fullmatch(line)
        if header is not None:
            documents.append((number, (header[1] or "").strip(), ""))
        elif line.strip(" \t") and not _COMMENT.match(line):
            title = ""
            if documents and not documents[-1][2]:
                _, title, _ = documents.pop()
            documents.append((number, title, line))
    return documents


def write_crac_text(corpus: Corpus) -> Written:
    """Write a line for each document, with its id on a line before; `_` where there are no words.

    Of two mentions of one entity that cross each other only the first can be written; gaps are
    filled; blanks in words become `_`; words of zeros get `##` before them.
    """
    counts = count_gapped(corpus)
    parts = []
    headers = [_header(document) for document in corpus]
    check_distinct(map(str, headers), "CRAC plain text")
    for document, identifier in zip(corpus, headers, strict=True):
        counts["document-names"] += identifier != document.id or not identifier.name
        parts.append(f"# newdoc id = {identifier}\n")
        words = _carry_words(document, counts)
        line = _mark_line(document, words, counts)
        counts["sentence-boundaries"] += max(len(sentence_bounds(document, len(words))) - 1, 0)
        parts += [line, "\n"] if line else []
    return Written({"": "".join(parts)}, counts=counts)


def _header(document: Document) -> DocumentId:
    """The id as the file can carry it."""
    name, part = document.id
    number = part if isinstance(part, int) and part >= 0 else None
    return DocumentId(" ".join(str(name).split()), number)


def _carry_words(document: Document, counts: Counter[str]) -> list[str]:
    """Words that marks can stand behind; those that change are counted, but for those of zeros."""
    words = words_of(document)
    unbroken = list(map(unbroken_word, words))
    carried = mark_zeros(document, unbroken, counts)
    for word, safe, marked in zip(words, unbroken, carried, strict=True):
        counts["changed-words"] += word != safe == marked
    return carried


def _mark_line(document: Document, words: list[str], counts: Counter[str]) -> str:
    if document.corpus.names is None:
        names = {entity.index: f"e{n}" for n, entity in enumerate(document.entities, start=1)}
    else:
        names = name_entities(document, _SAFE_NAME, counts, "e{}", 1)
    mentions, crossing = nested_mentions(document.mentions)
    counts["crossing-mentions"] += crossing
    closing, opening = bracket_mentions(mentions, names, "[]")
    cells = []
    for position, word in enumerate(words):
        marks = [*closing.get(position, ()), *opening.get(position, ())]
        if marks:
            cells.append(f"{word}|{','.join(marks)}")
        else:
            barred = "|" in word and _BARRED.fullmatch(word + "|")
            cells.append(word + "|" if barred else word)
    line = " ".join(cells)
    # A blank before them keeps words from being read as a comment.
    return f" {line}" if _COMMENT.match(line) or _NEW_DOCUMENT.fullmatch(line) else line
