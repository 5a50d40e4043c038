"""Two CorefUD files, scored as corefud-scorer 1.2 scores them: from texts to an ordinary result."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from corefeval.diagnostics import (
    Notice,
    PairingError,
    UsageError,
    excerpt,
    list_names,
    memory_for,
    merge_notices,
    note,
    plural,
)
from corefeval.emulation.brackets import Bracketed, MentionFile, read_mentions
from corefeval.emulation.counting import Counts, count_document
from corefeval.emulation.matching import Pair, match_mentions
from corefeval.emulation.mentions import make_entities, split_documents
from corefeval.emulation.sentences import Name, Sentence, SentenceFile, read_sentences
from corefeval.formats import files_of
from corefeval.formats.conllu.tokens import ConlluLines
from corefeval.formats.source import Source, read_source
from corefeval.metrics import Metric, parse_metrics, spell
from corefeval.model import Corpus
from corefeval.protocol import Protocol, fields
from corefeval.results import CountTable, Result
from corefeval.syntax import split_list

Metrics = str | Metric | Iterable[str | Metric]

# In the program's order, with the shapes of their counts and names for tables.
METRICS = {
    "muc": ("ratio", "MUC"),
    "b3": ("ratio", "B³"),
    "ceafe": ("ratio", "CEAFe"),
    "ceafm": ("ratio", "CEAFm"),
    "blanc": ("blanc-of-both", "BLANC"),
    "lea": ("ratio", "LEA"),
    "mor": ("ratio", "MOR"),
    "zero": ("antecedents", "Zero"),
    "conll": ("mean", "CoNLL"),
}
_CONLL = ("muc", "b3", "ceafe")

# What a protocol that names the program may say besides; all else is the program's own affair.
# Sums and means of documents; the others need numbers of mentions.
AGGREGATES = ("micro", "macro", "macro-f", "macro-rates")
_VALUES: Mapping[str, tuple[str, ...]] = {
    "match": ("exact", "partial", "head"),
    "zeros": ("place", "align"),
    "aggregate": AGGREGATES,
}
_FREE = ("singletons", "undefined", "emulate")


@dataclass(frozen=True, slots=True)
class CorefudText:
    """A CorefUD file as the program reads it."""

    name: str
    mentions: MentionFile

    @property
    def text(self) -> SentenceFile:
        """Its sentences."""
        return self.mentions.text


@dataclass(frozen=True, slots=True)
class EmulatedDocument:
    """What the program makes of a document: its name, the pairs of mentions and the counts."""

    name: Name
    pairs: list[Pair]
    counts: Counts


def read_text(source: object, *, encoding: str = "utf-8") -> CorefudText:
    """A file by its path, or the file that a corpus was read from, as the program reads it.

    Raises an InputError with file and line for what the program refuses, and a UsageError for what
    is no single CorefUD file.
    """
    if isinstance(source, CorefudText):
        return source
    origin = _origin(source, encoding)
    with memory_for(origin.file):
        mentions = read_mentions(read_sentences(origin))
    name = source.name if isinstance(source, Corpus) else origin.file
    return CorefudText(name or origin.file, mentions)


def _origin(source: object, encoding: str) -> Source:
    if isinstance(source, str | os.PathLike):
        files, several = files_of(source)
        if several and len(files) > 1:
            raise UsageError(
                f"corefud-scorer scores one file, and {os.fspath(source)} has {len(files)}: "
                "score them one by one"
            )
        return read_source(files[0], encoding=encoding)
    if isinstance(source, Corpus) and source.tokens is not None:
        lines = source.tokens.lines
        if isinstance(lines, ConlluLines):
            return lines.origin
    label = f"{getattr(source, 'name', source)!s:.60}"
    raise UsageError(f"corefud-scorer scores single CorefUD files, not {label}: convert makes them")


def score_emulated(
    key: object,
    response: object,
    metrics: Metrics,
    protocol: Protocol,
    *,
    encodings: tuple[str, str] = ("utf-8", "utf-8"),
) -> Result:
    """The program's result, with counts for each document of the key.

    `key` and `response` are paths, corpora that were read from CorefUD files whole, or what
    `read_text` gave. A UsageError names a choice of the protocol that the program does not have.
    """
    wanted = choose_metrics(metrics, protocol)
    texts = read_text(key, encoding=encodings[0]), read_text(response, encoding=encodings[1])
    notices = (*texts[0].mentions.notices, *texts[1].mentions.notices, *_extra_notices(*texts))
    with memory_for():
        documents = emulate(*texts, protocol)
    return Result(
        tables={name: _table(name, [one.counts for one in documents]) for name in wanted},
        document_ids=tuple(str(one.name) for one in documents),
        protocol=protocol,
        key=texts[0].name,
        response=texts[1].name,
        key_digest=digest_text(texts[0]),
        notices=merge_notices(
            notice for notice in notices if (notice.kind, protocol.match) != ("no-heads", "exact")
        ),
        spell=spell,
        titles={name: METRICS[name][1] for name in wanted},
    )


def check_choices(
    protocol: Protocol, values: Mapping[str, tuple[str, ...]], free: Sequence[str]
) -> None:
    """Refuse choices that a program does not have: none may be left unheeded."""
    for name, choice in fields().items():
        value = getattr(protocol, name)
        allowed = values.get(name, (choice.default,))
        if name not in free and value not in allowed:
            raise UsageError(
                f"emulate:{protocol.emulate} has {name} {' or '.join(allowed)} only, not {value}: "
                "the program has nothing else"
            )


def choose_metrics(metrics: Metrics, protocol: Protocol) -> list[str]:
    """The program's metrics among those asked for; all of them for `standard` and `all`.

    Raises a UsageError for a metric or a choice that the program does not have.
    """
    check_choices(protocol, _VALUES, _FREE)
    items = [metrics] if isinstance(metrics, str | Metric) else metrics
    if not isinstance(items, Iterable):
        raise UsageError(f"metrics are names, Metric values or a list of them, not {items!r:.60}")
    chosen: dict[str, None] = {}
    for item in items:
        for text in split_list(item) if isinstance(item, str) else [str(item)]:
            if text.strip().lower() in ("standard", "all"):
                chosen.update(dict.fromkeys(METRICS))
                continue
            known = (
                text if text in METRICS else [str(one.metric) for one in parse_metrics(text)][-1]
            )
            if known not in METRICS:
                raise UsageError(f"corefud-scorer has no {text}: it has {', '.join(METRICS)}")
            parts = _CONLL if known == "conll" else ()
            chosen.update(dict.fromkeys((*parts, known)))
    if not chosen:
        raise UsageError("no metric was chosen")
    return list(chosen)


def emulate(key: CorefudText, response: CorefudText, protocol: Protocol) -> list[EmulatedDocument]:
    """What the program makes of each document of the key.

    Raises a PairingError where the texts differ as far as the program looks, or where the response
    lacks a document.
    """
    _check_texts(key.text, response.text)
    sides = split_documents(key.mentions), split_documents(response.mentions)
    if missing := [str(name) for name in sides[0] if name not in sides[1]]:
        raise PairingError(
            f"the response lacks {plural(len(missing), 'document')}: {list_names(missing)}",
            file=response.text.file,
            expected=f"all {len(sides[0])} documents of {key.text.file}",
            fix="add them with their sentences, without mentions",
        )
    return [
        _emulate_document(
            name, ((key.text.file, sides[0][name]), (response.text.file, sides[1][name])), protocol
        )
        for name in sides[0]
    ]


def _emulate_document(
    name: Name, sides: Iterable[tuple[str, list[list[Bracketed]]]], protocol: Protocol
) -> EmulatedDocument:
    key, response = (
        make_entities(
            file,
            entities,
            head_counts=protocol.match == "head",
            keep_singletons=protocol.singletons == "keep",
        )
        for file, entities in sides
    )
    pairs = match_mentions(key, response, protocol.match, protocol.zeros)
    return EmulatedDocument(name, pairs, count_document(key, response, pairs))


def _check_texts(key: SentenceFile, response: SentenceFile) -> None:
    """Sentence by sentence up to the end of the shorter file, word by word likewise."""
    for one, other in zip(key.sentences, response.sentences, strict=False):
        for what, mine, theirs in (
            ("newdoc", _new_document(one), _new_document(other)),
            ("sent_id", one.identifier, other.identifier),
        ):
            if mine != theirs:
                raise _text_error(what, mine, theirs, key.file, response.file, other.line)
        for word, its in zip(one.words, other.words, strict=False):
            if word.form != its.form:
                raise _text_error("word", word.form, its.form, key.file, response.file, its.line)


def _new_document(sentence: Sentence) -> str:
    return f"newdoc {sentence.document_id}" if sentence.is_new_document else ""


def _text_error(
    what: str, mine: str, theirs: str, key: str, response: str, line: int
) -> PairingError:
    return PairingError(
        f"the {what} is not the key's",
        file=response,
        line=line,
        found=excerpt(theirs) if theirs else "nothing",
        expected=f"{excerpt(mine) if mine else 'nothing'}, as in {key}",
    )


def _extra_notices(key: CorefudText, response: CorefudText) -> list[Notice]:
    """What sticks out at the ends, which the program does not notice."""
    notices = []
    documents = [{one.document: 0 for one in side.text.sentences} for side in (key, response)]
    extra = [str(name) for name in documents[1] if name not in documents[0] and name is not None]
    if extra:
        text = f"{response.name}: {{n}} not in the key, ignored: {{items}}"
        notices.append(Notice("extra-documents", text, len(extra), tuple(extra), "document"))
    unequal = 0
    for one, other in zip_longest(key.text.sentences, response.text.sentences):
        unequal += one is None or other is None or len(one.words) != len(other.words)
    what = "longer or shorter than the key's, or on one side only; as in corefud-scorer 1.2, "
    what += "mentions there count like all others"
    return [*notices, *note("misaligned", unequal, "sentence", what, whose=response.name)]


def _table(name: str, documents: list[Counts]) -> CountTable:
    shape = METRICS[name][0]
    if shape == "mean":
        return CountTable(shape, parts=_CONLL)
    empty = count_document([], [], [])[name]
    values = np.array([list(one[name].values()) for one in documents], dtype=np.float64)
    return CountTable(shape, tuple(empty), values.reshape(-1, len(empty)))


def digest_text(source: object) -> str:
    """Tells whether two keys have the same mentions in the same entities, as `model.digest`.

    `source` is what `read_text` takes.
    """
    total, number = 0, 0
    for name, entities in split_documents(read_text(source).mentions).items():
        total += zlib.crc32(repr(name).encode())
        for entity in entities:
            first = repr(entity[0].places)
            number += len(entity)
            for mention in entity:
                text = f"{name!r} {first} {mention.places!r} {mention.head.place!r}"
                total += zlib.crc32(text.encode()) << 32 | zlib.crc32(text[::-1].encode())
    return f"corefud-{total % (1 << 64):016x}-{number}"
