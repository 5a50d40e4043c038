"""From records to a corpus: ids, documents of tokens or of characters, and what was noticed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from corefeval.diagnostics import Notice, excerpt
from corefeval.formats.json.parsing import Cluster, Record, Words, records_of, shown, unique_names
from corefeval.formats.source import Source
from corefeval.model import Corpus, CorpusBuilder, DocumentId, join
from corefeval.model.text_tokens import TextTokens

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
        return self.builder.build(TextTokens(self.texts, self.builder.source))


@dataclass(slots=True)
class Assembly:
    """A corpus in the making, out of the records of one file."""

    source: Source
    records: Sequence[Record]
    keys: frozenset[str]
    _runs: list[_Run] = field(default_factory=list)
    _seen: dict[DocumentId, Record] = field(default_factory=dict)
    _tallies: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def note(self, kind: str, noun: str, what: str, count: int = 1) -> None:
        """Count things that were left out or repaired: how many of which, and what was done."""
        self._tallies[kind, noun, what] = self._tallies.get((kind, noun, what), 0) + count

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
        notices = tuple(
            Notice(kind, f"{self.source.file}: {{n}} {what}", count, noun=noun)
            for (kind, noun, what), count in self._tallies.items()
        )
        return corpus.with_details(notices=(*corpus.notices, *notices))

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
                f"document {excerpt(str(identifier))} is there twice",
                found=f"an id that {other} has already",
                expected="one document for each id and part",
                fix="rename or remove one of the two",
            )
        return identifier

    def _made_up(self, record: Record) -> DocumentId:
        stem = self.source.stem
        return DocumentId(stem if len(self.records) == 1 else f"{stem}_{record.number}")


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
        raise record.error(f"‘{key}’ is no id", found=shown(value), expected="a string or a number")
    return None


def read_kind(source: Source, add: Adder, name: str) -> Corpus:
    """Read a file all of whose records are of one kind."""
    return read_kinds(source, lambda record: add, name)


def read_kinds(source: Source, adder: Callable[[Record], Adder], name: str) -> Corpus:
    """Read a file, asking for each record how to add it."""
    records = records_of(source)
    assembly = Assembly(source, records, frozenset().union(*(r.values for r in records)))
    for record in records:
        adder(record)(record, assembly)
    return assembly.corpus(name)
