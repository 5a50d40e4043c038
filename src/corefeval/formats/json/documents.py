"""From records to a corpus, and from a corpus to plain documents that records are made of."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from corefeval.diagnostics import InputError, Notice, excerpt, note, plural
from corefeval.formats.json.parsing import Cluster, Record, Words, records_of, show, unique_names
from corefeval.formats.losses import (
    GAPS,
    check_writable,
    count_gapped,
    list_losses,
    note_counts,
    with_tokens,
)
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus, CorpusBuilder, Document, DocumentId, join
from corefeval.model.text_tokens import text_of
from corefeval.model.token_tables import tokens_of_texts

ID_KEYS = ("doc_key", "doc_id", "id")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Adder = Callable[[Record, "Assembly"], None]  # adds the document of a record


@dataclass(slots=True)
class _Run:
    """Documents that follow each other and are all of tokens, or all texts."""

    builder: CorpusBuilder
    texts: list[str] | None

    def corpus(self) -> Corpus:
        if self.texts is None:
            return self.builder.build()
        return self.builder.build(tokens_of_texts(self.texts, self.builder.source))


@dataclass(slots=True)
class Assembly:
    """A corpus in the making, out of the records of one file."""

    source: Source
    records: Sequence[Record]
    keys: frozenset[str]
    _runs: list[_Run] = field(default_factory=list)
    _seen: dict[DocumentId, Record] = field(default_factory=dict)
    _tallies: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def tally(self, kind: str, noun: str, what: str) -> None:
        """Count something that was left out or repaired: what it is, and what was done."""
        self._tallies[kind, noun, what] += 1

    def anywhere(self, key: str) -> bool:
        """Whether any record of the file has a key."""
        return key in self.keys

    def tokens(
        self,
        record: Record,
        words: Words,
        clusters: Sequence[Cluster],
        *,
        names: Sequence[str | None] = (),
        columns: Mapping[str, Sequence[str]] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Add a document of tokens."""
        builder = self._run(of_texts=False).builder
        document = builder.document(
            self._identifier(record),
            words=words.words,
            sentence_starts=words.sentence_starts,
            columns=columns,
            metadata=metadata,
        )
        numbered = unique_names(names or [None] * len(clusters))
        for name, cluster in zip(numbered, clusters, strict=True):
            for start, end in cluster:
                document.mention(name, start, end)

    def text(self, record: Record, text: str, clusters: Sequence[Cluster]) -> None:
        """Add a document that is a text, whose positions are characters."""
        run = self._run(of_texts=True)
        document = run.builder.document(self._identifier(record), n_tokens=len(text))
        if run.texts is not None:
            run.texts.append(text)
        for number, cluster in enumerate(clusters):
            for start, end in cluster:
                document.mention(str(number), start, end)

    def corpus(self, name: str) -> Corpus:
        """The corpus of all documents."""
        corpus = join([run.corpus() for run in self._runs], name=name or self.source.file)
        notices = list(corpus.notices)
        for (kind, noun, what), count in self._tallies.items():
            notices += note(kind, count, noun, what, whose=self.source.file)
        return corpus.with_details(notices=tuple(notices))

    def _run(self, of_texts: bool) -> _Run:
        if not self._runs or (self._runs[-1].texts is not None) != of_texts:
            builder = CorpusBuilder(source=self.source.file)
            self._runs.append(_Run(builder, [] if of_texts else None))
        return self._runs[-1]

    def _identifier(self, record: Record) -> DocumentId:
        """The document's own id, or one made of the file's name."""
        stated = id_text(record)
        identifier = self._made_up(record) if stated is None else DocumentId.parse(stated)
        before = self._seen.setdefault(identifier, record)
        if before is not record:
            other = f"record {before.number + 1}" if before.line is None else f"line {before.line}"
            raise record.error(
                f"document {excerpt(str(identifier))} appears twice",
                found=f"an id that {other} already has",
                expected="one document for each id and part",
                fix="rename or remove one of the two",
            )
        return identifier

    def _made_up(self, record: Record) -> DocumentId:
        stem = self.source.stem
        return DocumentId(stem if len(self.records) == 1 else stem + f"_{record.number}")


def id_text(record: Record) -> str | None:
    """The id that a record states, if it does."""
    for key in ID_KEYS:
        value = record.values.get(key)
        if value is None:
            continue
        if isinstance(value, str) and not _LONE_SURROGATE.search(value):
            return value
        if type(value) is int:
            return str(value)
        expected = "a string or a number"
        raise record.error(f"‘{key}’ is not an id", found=show(value), expected=expected)
    return None


def read_kind(add: Adder, source: Source, *, name: str = "") -> Corpus:
    """Read a file all of whose records are of one kind."""
    return read_kinds(source, lambda record: add, name)


def read_kinds(source: Source, adder: Callable[[Record], Adder], name: str) -> Corpus:
    """Read a file, asking for each record how to add it."""
    records = records_of(source)
    assembly = Assembly(source, records, frozenset().union(*(r.values for r in records)))
    for record in records:
        adder(record)(record, assembly)
    return assembly.corpus(name)


Spans = list[list[list[int]]]
NO_WORD = "_"
_NUMBERED = re.compile(r"[a-zA-Z]?\d+")  # names that say nothing


@dataclass(frozen=True, slots=True)
class UnpackedDocument:
    """A document in plain Python: clusters of [start, last], as most kinds of JSON have them.

    A document that is a text has `text`, and its positions are characters.
    """

    identifier: str
    words: list[str]
    sentences: list[list[str]]
    clusters: Spans
    names: list[str]
    columns: dict[str, list[str]]
    metadata: Mapping[str, str]
    text: str | None
    reordered: int

    def by_sentence(self, column: Sequence[str]) -> list[list[str]]:
        """A column, sentence by sentence."""
        rest = iter(column)
        return [[next(rest) for _ in sentence] for sentence in self.sentences]


def unpack(
    corpus: Corpus,
    *columns: str,
    names: bool = False,
    metadata: Sequence[str] = (),
    texts: bool = False,
) -> tuple[list[UnpackedDocument], tuple[Notice, ...]]:
    """All documents, and notices of what is neither in them nor among what a kind can carry.

    `columns` and `metadata` are those that the kind can carry; `names`: whether it names entities;
    `texts`: whether it holds texts without tokens (which are cut into tokens elsewhere).
    """
    check_writable(corpus, "JSON")
    notices: tuple[Notice, ...] = ()
    if not texts:
        corpus, notices = with_tokens(corpus)
    identifiers = _identifiers(corpus.documents)
    documents = [
        _unpack_document(document, identifier, columns)
        for document, identifier in zip(corpus, identifiers, strict=True)
    ]
    return documents, (*notices, *_note_losses(corpus, documents, columns, names, metadata))


def _identifiers(documents: Sequence[DocumentId]) -> list[str]:
    """`name_part` for each, but spelt out where two documents would be called the same."""
    short = [d.name if d.part is None else f"{d.name}_{d.part}" for d in documents]
    counts = Counter(short)
    return [
        name if counts[name] == 1 else str(identifier)
        for name, identifier in zip(short, documents, strict=True)
    ]


def _unpack_document(
    document: Document, identifier: str, columns: Sequence[str]
) -> UnpackedDocument:
    tokens = document.corpus.tokens
    clusters, names, reordered = _clusters(document)
    text = text_of(tokens, document.index)
    words = _words(document, clusters) if text is None else []
    starts = tokens.sentence_starts(document.index) if tokens is not None else [0]
    return UnpackedDocument(
        identifier,
        words,
        [words[start:end] for start, end in pairwise([*starts, len(words)])] if words else [],
        clusters,
        names,
        {name: document.column(name) for name in columns if name in document.columns},
        document.metadata,
        text,
        reordered,
    )


def _has_words(corpus: Corpus, document: int) -> bool:
    """Whether a document has words of its own; the other documents of a corpus may have none."""
    return corpus.tokens is not None and corpus.tokens.has_column(document, "word")


def _words(document: Document, clusters: Spans) -> list[str]:
    """The words of a document, made up where it has none."""
    tokens, index = document.corpus.tokens, document.index
    needed = max((last + 1 for cluster in clusters for _, last in cluster), default=0)
    if tokens is None or not tokens.has_column(index, "word"):
        return [NO_WORD] * max(needed, int(tokens.counts[index]) if tokens is not None else 0)
    words = tokens.column(index, "word")
    if needed > len(words):
        raise InputError(
            f"a mention goes beyond document {excerpt(str(document.id))}",
            found=f"a mention of token {needed - 1}",
            expected=f"positions in a document of {plural(len(words), 'token')}",
        )
    return words


def _clusters(document: Document) -> tuple[Spans, list[str], int]:
    """The mentions of each entity in textual order, as [start, last], and the entities' names.

    Also the number of mentions that follow an equal one of an entity whose cluster comes later.
    """
    corpus, rows = document.corpus, document.rows
    if corpus.mention_start is None or corpus.mention_end is None:
        return [], [], 0
    by_entity: dict[int, list[list[int]]] = {}
    number: dict[int, int] = {}
    before, reordered = (-1, -1, -1), 0
    for entity, start, end in zip(
        corpus.mention_entity[rows.start : rows.stop].tolist(),
        corpus.mention_start[rows.start : rows.stop].tolist(),
        corpus.mention_end[rows.start : rows.stop].tolist(),
        strict=True,
    ):
        by_entity.setdefault(entity, []).append([start, end - 1])
        this = (start, end, number.setdefault(entity, len(number)))
        reordered += before[:2] == this[:2] and before > this
        before = this
    known = corpus.names
    names = [str(entity) if known is None else known[entity] for entity in by_entity]
    return list(by_entity.values()), names, reordered


def _note_losses(
    corpus: Corpus,
    documents: Sequence[UnpackedDocument],
    columns: Sequence[str],
    names: bool,
    metadata: Sequence[str],
) -> list[Notice]:
    """What a corpus has and this kind of JSON has not."""
    made_up = sum(bool(d.words) and not _has_words(corpus, n) for n, d in enumerate(documents))
    # Clusters come one after the other, so the order of equal mentions of two may get lost.
    reordered = sum(document.reordered for document in documents)
    told = [name for name in corpus.names or () if not names and not _NUMBERED.fullmatch(name)]
    others = tuple(
        {key: value for key, value in known.items() if key not in metadata}
        for known in corpus.metadata
    )
    some = () if corpus.tokens is None else corpus.tokens.partial_columns
    return [
        *note("no-words", made_up, "document", f"without words: {NO_WORD} for each token"),
        *note("repeated-mentions", reordered, "repeated mention", "in another order"),
        *note_counts(count_gapped(corpus), GAPS),
        *note("entity-names", len(told), "entity name", "left out"),
        *list_losses(
            corpus.with_details(metadata=others),
            columns=columns,
            relations=corpus.relations,
            partial=[name for name in some if name != "word"],
        ),
    ]


def boundaries_lost(documents: Sequence[UnpackedDocument]) -> tuple[Notice, ...]:
    """What a flat list of tokens does not tell."""
    count = sum(max(len(document.sentences) - 1, 0) for document in documents)
    return note("sentence-boundaries", count, "sentence boundary", "left out")


def cluster_texts(words: Sequence[str], clusters: Spans) -> list[list[str]]:
    """The words of each mention, cluster by cluster."""
    return [[" ".join(words[start : last + 1]) for start, last in c] for c in clusters]


def json_lines(records: Iterable[Mapping[str, Any]], notices: Iterable[Notice]) -> Written:
    """A record per line; what UTF-8 cannot hold is written as JSON's own escapes."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return Written({"": "".join(lines).encode(errors="backslashreplace")}, tuple(notices))
