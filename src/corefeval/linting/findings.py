"""Findings: what is odd about a file, and where.

Here are also the checks of documents, lines and answers of language models; those of mentions are
in `oddities`. The kinds of findings are in `kinds.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt, plural
from corefeval.formats.conll.lines import OFFICIAL_DOCUMENT
from corefeval.formats.conll.repair import Repair
from corefeval.formats.conll.tokens import ConllLines
from corefeval.formats.conllu.tokens import ConlluLines
from corefeval.formats.source import Source
from corefeval.model import IDENTITY, Corpus, Document, Mention
from corefeval.model.arrays import offsets_of, plain_rows
from corefeval.model.ledger import Entry, Ledger
from corefeval.model.moving import OwnText, list_tokens
from corefeval.model.text_tokens import text_of
from corefeval.model.tokens import documents_of_tokens

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
_WORDS, _CHARACTERS = 100, 600  # the most that is shown of a mention: nested ones add up


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
    fix = fix.replace("--response-format", "--input-format")
    file = place.pop("file", None) or error.file
    return Finding(kind, message, file=file, line=error.line, fix=fix, **place)  # type: ignore[arg-type]


def count_severities(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many findings there are of each severity."""
    counts = Counter(finding.severity for finding in findings)
    return {severity: counts[severity] for severity in SEVERITIES}


class Locator:
    """Makes findings about the documents and mentions of a corpus, with lines and words."""

    def __init__(
        self,
        corpus: Corpus,
        file: str | None,
        files: Sequence[str] | None = None,
        skipped: Collection[str] = (),
    ) -> None:
        """`files` are those of each document, where a corpus has several.

        Kinds of findings in `skipped` are of no interest, and need not be looked for.
        """
        self.corpus = corpus
        self.file = file
        self.files = files
        self.skipped = skipped
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


def document_findings(locator: Locator) -> Iterator[Finding]:
    """All findings about documents, and about the file as a whole."""
    corpus = locator.corpus
    if corpus.tokens is not None:
        counts = corpus.tokens.counts
        for index in np.flatnonzero(counts == 0).tolist():
            yield locator.about_document("empty-document", index, "no tokens")
        if int(counts.sum()) == 1:
            index = int(np.argmax(counts))
            yield locator.about_document("one-token-file", index, "one token in all", 0)
        else:
            for index in np.flatnonzero(counts == 1).tolist():
                yield locator.about_document("one-token-document", index, "one token", 0)
    yield from _find_word_ids(locator)
    yield from whole_file_findings(locator.file, Contents.of(corpus), corpus.notices)


def _find_word_ids(locator: Locator) -> Iterator[Finding]:
    tokens = locator.corpus.tokens
    lines = None if tokens is None else tokens.lines
    if tokens is None or not isinstance(lines, ConlluLines):
        return
    scan = lines.scan
    for index, (first, count) in enumerate(zip(tokens.run_first, tokens.counts, strict=True)):
        bounds = np.searchsorted(scan.misnumbered, (first, first + count))
        for row in scan.misnumbered[slice(*bounds)].tolist():
            number, word = scan.text(int(scan.token_line[row])).split(b"\t", 2)[:2]
            shown_word = excerpt(lines.origin.decode(word))
            message = f"{shown_word} has number {number.decode()}, which is out of order"
            yield locator.about_document("word-ids", index, message, row - int(first))


@dataclass(frozen=True, slots=True)
class Contents:
    """How much a file contains; `tokens` is None where it has no tokens."""

    documents: int
    tokens: int | None
    entities: int
    mentions: int
    singletons: int

    @staticmethod
    def of(corpus: Corpus) -> Contents:
        """The contents of a corpus."""
        tokens, identity = corpus.tokens, corpus.keep_layer(IDENTITY)
        sizes = identity.entity_sizes
        return Contents(
            len(corpus.documents),
            None if tokens is None or tokens.has_texts else int(tokens.counts.sum()),
            int((sizes > 0).sum()),
            identity.n_mentions,
            int((sizes == 1).sum()),
        )

    @staticmethod
    def total(parts: Sequence[Contents]) -> Contents:
        """The contents of several parts of a file together."""
        columns: Iterable[Any] = zip(*map(astuple, parts), strict=True)
        totals: list[Any] = [None if None in column else sum(column) for column in columns]
        return Contents(*totals)


# Kinds of notices for which there are findings with the numbers of lines, too.
_WITH_LINES = ("unfinished-file", "word-ids")


def whole_file_findings(
    file: str | None, contents: Contents, notices: Iterable[Notice]
) -> Iterator[Finding]:
    """Findings about a file as a whole."""
    for notice in notices:
        if notice.kind not in _WITH_LINES:
            yield Finding("reading-notice", notice.message, file)
    if not contents.mentions:
        documents = plural(contents.documents, "document")
        yield Finding("no-mentions", f"no mentions in {documents}", file)
    if single := contents.singletons:
        entities = plural(contents.entities, "entity")
        verb = "has" if single == 1 else "have"
        yield Finding("singletons", f"{single:,} of {entities} {verb} one mention", file)


# A document line as corefeval reads it, whether or not the official scorer does.
_DOCUMENT_LINE = re.compile(rb"(?i)\n#[^\S\n]*begin[^\S\n]+document\b[^\n]*")
_END_LINE = re.compile(rb"(?i)#\s*end\s+document\b")


def conll_findings(source: Source, repairs: Iterable[Repair]) -> Iterator[tuple[Finding, str]]:
    """Findings about the lines of a CoNLL file, each with what a repair does about it."""
    for repair in repairs:
        yield from_error(repair.error, repair.kind, document=repair.document), repair.done
    data = source.data.tobytes()
    yield from _find_unfinished(source, data)
    line, seen, data = 0, 0, b"\n" + data  # `\n#` is found ten times faster than `^#`
    for match in _DOCUMENT_LINE.finditer(data):
        if not OFFICIAL_DOCUMENT.match(match[0][1:]):
            line += data.count(b"\n", seen, match.start() + 1)
            seen = match.start() + 1
            text = excerpt(match[0].decode(source.encoding, "replace").strip())
            place = source.line(line - 1)
            finding = Finding("document-line", f"found {text}", source.file, place)
            yield finding, "written as the official scorer reads it"


def _find_unfinished(source: Source, data: bytes) -> Iterator[tuple[Finding, str]]:
    """A file whose last document does not end, which may mean that the file was cut."""
    last = data.rstrip().rpartition(b"\n")[2]
    if last and not _END_LINE.match(last):
        text = excerpt(last.decode(source.encoding, "replace").strip())
        line = source.line(data.rstrip().count(b"\n"))
        finding = Finding("unfinished-file", f"the last line is {text}", source.file, line)
        yield finding, "an ‘#end document’ line added"


def find_unaligned(locator: Locator, key: Corpus, response: Corpus) -> Iterator[Finding]:
    """A finding for each token, and for each mention, that the other side has no text for.

    Those of the key have no line of the file that is checked: the message has the key's, or the
    number of the token where a format has no lines.
    """
    for corpus in (response, key):
        if corpus.own_text is None:
            continue
        lacks = f"which {'the key' if corpus is response else 'this file'} lacks"
        tokens = corpus.own_text.tokens
        n_before = offsets_of(tokens.rows() >= 0)
        for kind, document, position, subject in _list_unaligned(corpus, corpus.own_text):
            line, begin = tokens.line(document, position), tokens.offsets[document]
            number = int(n_before[begin + position] - n_before[begin])
            message, identifier = f"{subject}, {lacks}", str(key.documents[document])
            if corpus is key:
                place = f"line {line:,}" if line else f"token {number}"
                message += f" ({place} of {key.name or 'the key'})"
                yield Finding(kind, message, locator.file, document=identifier)
            else:
                span = number, number + 1
                yield Finding(kind, message, locator.file, line, identifier, span)


def _list_unaligned(corpus: Corpus, own_text: OwnText) -> Iterator[tuple[str, int, int, str]]:
    """Kind, document, position and description of each unaligned token and mention of a side."""
    is_unaligned = own_text.places[:, 0] == own_text.places[:, 1]
    tokens = np.flatnonzero(is_unaligned & (own_text.tokens.rows() >= 0))
    documents = documents_of_tokens(own_text.tokens.offsets, tokens)
    positions = tokens - own_text.tokens.offsets[documents]
    words = own_text.tokens.coded("word", tokens).values()
    for word, document, position in plain_rows(words, documents, positions):
        yield "unaligned-token", document, position, excerpt(word or "")
    text, rows = corpus.on_own_text, np.arange(corpus.n_mentions)
    owner, place = list_tokens(text, rows)
    n_pieces, _ = own_text.list_pieces(corpus.mention_document[owner], place)
    is_aligned = np.bincount(owner, n_pieces, minlength=rows.size) > 0
    for row in np.flatnonzero(~is_aligned).tolist():
        document = int(corpus.mention_document[row])
        mention = Mention(Document(text, document), row)
        words_of_mention = excerpt(mention.text or "")
        yield "unaligned-mention", document, mention.start, f"the mention {words_of_mention}"


def answer_findings(ledger: Ledger, file: str) -> Iterator[Finding]:
    """A finding for each mention that was lost, changed, repeated or unclear, with its words.

    Also one for each document whose answer ends early or cannot be read at all.
    """
    for entry in ledger.entries:
        kind = _kind_of_entry(entry)
        if kind:
            yield _about_entry(kind, entry, file, entry.why or entry.state)
        if entry.places > 1 and entry.state not in ("lost", "unclear"):
            message = f"occurs {entry.places:,} times in the text"
            yield _about_entry("llm-ambiguous", entry, file, message)
    for answer in ledger.documents:
        if answer.state == "refused":
            message = f"the model refused ({answer.finish})" if answer.finish else "it says sorry"
            yield Finding("llm-refusal", message, file, document=answer.document)
        elif answer.state == "unread":
            message = "nothing could be read as a mention, or less than half of what was written"
            yield Finding("llm-unread", message, file, document=answer.document)
        elif answer.ends_early or answer.finish == "length":
            share = answer.reached / max(answer.tokens, 1)
            tokens = f"{answer.reached:,} of {answer.tokens:,} tokens ({share:.0%})"
            message = f"the answer ends after {tokens}"
            cause = {"length": "a token limit"}.get(answer.finish, excerpt(answer.finish))
            message += f", because of {cause}, according to its record" if answer.finish else ""
            yield Finding("llm-cut", message, file, document=answer.document)


def _kind_of_entry(entry: Entry) -> str:
    if entry.state == "lost":
        return "llm-invented" if "not in the document" in entry.why else "llm-lost"
    if entry.state in ("repeated", "unclear"):
        return f"llm-{entry.state}"
    mended = ("never closed", "never opened", "another number")
    if any(words in entry.why for words in mended):
        return "llm-unclosed"
    return "llm-changed" if entry.state == "changed" else ""


def _about_entry(kind: str, entry: Entry, file: str, message: str) -> Finding:
    span = (entry.start, entry.end) if entry.is_placed else None
    place = f"of entity {excerpt(entry.entity)}, at character {entry.where:,} of the answer"
    message = f"{place}: {message}"
    return Finding(kind, message, file, document=entry.document, span=span, text=entry.written)
