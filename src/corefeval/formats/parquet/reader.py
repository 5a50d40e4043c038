"""Reading Parquet: a row for each document with lists, or a row for each mention."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.formats.parquet.table import TOKEN, ParquetRows, ParquetTable, import_pyarrow
from corefeval.formats.source import Source
from corefeval.model import IDENTITY, LAYERS, Corpus, DocumentId, Relation, Relations
from corefeval.model.arrays import IntArray
from corefeval.model.construction import assemble, textual_order
from corefeval.model.corpus import NO_GAPS
from corefeval.model.tokens import Tokens

FEATURE = "feature:"
IDS = b"corefeval.ids"  # whether ids of entities hold across documents: `corpus` or `document`
_OF_MENTIONS = ("document", "part", "entity", "start", "end", "head")
_OF_DOCUMENTS = (
    *_OF_MENTIONS, "layer", "gaps", "word", "sentence", "n_tokens", "metadata", "sentence_metadata",
    "relations",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Mentions:
    """The mentions of a file in their own order, and the documents that they stand in."""

    documents: tuple[DocumentId, ...]
    document: IntArray
    start: IntArray
    end: IntArray
    entity: IntArray
    names: list[str]
    head: IntArray | None
    features: Mapping[str, NDArray[Any]]
    gaps: IntArray = field(default_factory=NO_GAPS.copy)
    layer: IntArray | None = None

    def where(self, row: int) -> str:
        """Which mention it is, for people."""
        span = f"tokens {self.start[row]} to {self.end[row]} (exclusive)"
        return f"{span} in document {excerpt(str(self.documents[self.document[row]]))}"


def read_parquet(source: Source, *, name: str = "") -> Corpus:
    """Read a corpus from a Parquet file.

    Its rows are documents, with lists of the mentions' starts, ends and entities; or mentions, with
    the documents that they stand in.
    """
    table = ParquetTable(source)
    table.require(("document", "start", "end", "entity"))
    by_document = table.is_list("start")
    mentions = _of_lists(table) if by_document else _of_rows(table)
    tokens = _tokens(table) if by_document else None
    _check(table, mentions, tokens)
    layer, n_layers = mentions.layer, len(LAYERS)
    corpus = assemble(
        documents=mentions.documents,
        mention_document=mentions.document,
        entity=mentions.entity if layer is None else mentions.entity * n_layers + layer,
        start=mentions.start,
        end=mentions.end,
        head=mentions.head,
        features=mentions.features,
        gaps=mentions.gaps,
        tokens=tokens,
        name=name or source.file,
        names_hold=True,
    )
    numbers = np.array(list(map(int, corpus.names or ())), dtype=np.int64)
    if layer is not None:
        corpus = corpus.with_details(entity_layer=numbers % n_layers)
        numbers //= n_layers
    corpus = corpus.with_details(
        names=[mentions.names[number] for number in numbers.tolist()],
        names_hold=table.notes.get(IDS, b"corpus") == b"corpus",
        notices=_note_unknown(table) if by_document else (),
    )
    return _with_texts(table, corpus, mentions) if by_document else corpus


def _note_unknown(table: ParquetTable) -> tuple[Notice, ...]:
    others = [
        n for n in table.types if n not in _OF_DOCUMENTS and not n.startswith((TOKEN, FEATURE))
    ]
    text = f"{table.source.file}: {{n}} with no meaning here, left out: {{items}}"
    return (Notice("unknown-columns", text, len(others), (*others,), "column"),) if others else ()


def _documents(table: ParquetTable) -> list[DocumentId]:
    """The id of each row."""
    column = table.column("document")
    if column.null_count:
        found = f"{column.null_count} without one"
        raise table.error("a row has no document", found, "its id")
    names = table.texts("document", column).tolist()
    if "part" not in table.types:
        return [DocumentId(name or table.source.stem) for name in names]
    parts = table.numbers("part", table.column("part"), missing=-1).tolist()
    if len(parts) != len(names):  # of a damaged file
        found = f"{len(names)} documents and {len(parts)} parts"
        raise table.error("columns differ in length", found, "one")
    return [
        DocumentId(name or table.source.stem, part if part >= 0 else None)
        for name, part in zip(names, parts, strict=True)
    ]


def _of_lists(table: ParquetTable) -> _Mentions:
    """Mentions from a table whose rows are documents."""
    documents = _documents(table)
    if len(set(documents)) < len(documents):
        twice = next(one for one in documents if documents.count(one) > 1)
        raise table.source.error(
            f"document {excerpt(str(twice))} appears twice",
            expected="one row for each document and part",
            fix="rename or remove one of the two",
        )
    counts, starts = table.lists("start")
    values = {name: _as_many(table, name, counts) for name in ("end", "entity")}
    entity, names = table.coded("entity", values["entity"])
    heads = None
    if "head" in table.types:
        heads = table.numbers("head", _as_many(table, "head", counts), missing=-1)
    stated = [name for name in table.types if name.startswith(FEATURE)]
    return _Mentions(
        tuple(documents),
        np.repeat(np.arange(counts.size), counts),
        table.numbers("start", starts),
        table.numbers("end", values["end"]),
        entity,
        names,
        heads,
        {n.removeprefix(FEATURE): table.texts(n, _as_many(table, n, counts)) for n in stated},
        _gaps(table, counts) if "gaps" in table.types else NO_GAPS,
        _layers(table, counts) if "layer" in table.types else None,
    )


def _layers(table: ParquetTable, counts: IntArray) -> IntArray | None:
    """The layer of each mention; None where all are identity."""
    codes, names = table.coded("layer", _as_many(table, "layer", counts))
    unknown = [name for name in names if name not in LAYERS]
    if unknown or (codes < 0).any():
        problem = "column 'layer' has an unknown layer"
        found = excerpt(unknown[0]) if unknown else "nothing"
        raise table.error(problem, found, ", ".join(LAYERS))
    layers = np.array([LAYERS.index(name) for name in names], dtype=np.int64)
    return layers[codes] if layers.any() else None


def _of_rows(table: ParquetTable) -> _Mentions:
    """Mentions from a table whose rows are mentions; its other columns are features of them."""
    numbers: dict[DocumentId, int] = {}
    document = [numbers.setdefault(one, len(numbers)) for one in _documents(table)]
    entity, names = table.coded("entity", table.column("entity"))
    start, end = (table.numbers(name, table.column(name)) for name in ("start", "end"))
    has_head = "head" in table.types
    heads = table.numbers("head", table.column("head"), missing=-1) if has_head else None
    nested = import_pyarrow().types.is_nested
    others = [n for n, kind in table.types.items() if n not in _OF_MENTIONS and not nested(kind)]
    features = {
        n: np.array(
            ["" if v is None else str(v) for v in table.column(n).to_pylist()], dtype=object
        )
        for n in others
    }
    return _Mentions(
        tuple(numbers),
        np.array(document, dtype=np.int64),
        start,
        end,
        entity,
        names,
        heads,
        features,
    )


def _as_many(table: ParquetTable, name: str, counts: IntArray) -> Any:
    """The values of a column that has as many in each row as there are mentions."""
    lengths, values = table.lists(name)
    if not np.array_equal(lengths, counts):
        row = int(np.argmax(lengths != counts))
        problem = f"columns 'start' and {name!r} do not fit together"
        found = f"{counts[row]:,} and {lengths[row]:,} values in row {row + 1}"
        raise table.error(problem, found, "one for each mention")
    return values


def _gaps(table: ParquetTable, counts: IntArray) -> IntArray:
    """Rows of mention, start and end; a mention's gaps are a list of starts and ends."""
    column = _as_many(table, "gaps", counts)
    types = import_pyarrow().types
    if not (types.is_list(column.type) or types.is_large_list(column.type)):
        raise table.wrong_type("gaps", "a list of starts and ends for each mention")
    lengths = np.array([len(one or ()) for one in column.to_pylist()], dtype=np.int64)
    edges = table.numbers("gaps", column.flatten())
    if (lengths % 2).any():
        problem = "column 'gaps' has a start without an end"
        found = f"{lengths[np.argmax(lengths % 2)]} numbers for one mention"
        raise table.error(problem, found, "starts and ends in turn")
    owner = np.repeat(np.arange(lengths.size), lengths // 2)
    return np.stack((owner, edges[::2], edges[1::2]), axis=1)


def _tokens(table: ParquetTable) -> Tokens | None:
    """The tokens, where there are any columns of them."""
    counted = [n for n in table.types if n == "word" or n.startswith(TOKEN)]
    if "n_tokens" in table.types:
        counts = table.numbers("n_tokens", table.column("n_tokens"))
        if (counts < 0).any():
            found = str(counts.min())
            raise table.error("a document has too few tokens", found)
    elif counted:
        counts = table.lists(counted[0])[0]
    else:
        return None
    tokens = ParquetRows(table, counts).tokens()
    _ = tokens.sentences  # a mistake in them, or in the number of words, is told at once
    if "word" in tokens.columns:
        tokens.coded("word")
    return tokens


def _check(table: ParquetTable, mentions: _Mentions, tokens: Tokens | None) -> None:
    """Refuse mentions of no entity, of no tokens, or of tokens that are not there."""
    length = None if tokens is None else tokens.counts[mentions.document]
    wrong = (mentions.start < 0) | (mentions.end <= mentions.start)
    expected = "0 ≤ start < end (end exclusive)"
    if length is not None and not wrong.any():
        wrong = mentions.end > length
        expected = f"at most {length[np.argmax(wrong)]:,} tokens" if wrong.any() else ""
    if wrong.any():
        found = mentions.where(int(np.argmax(wrong)))
        raise table.error("a mention spans no tokens of its document", found, expected)
    if (mentions.entity < 0).any():
        found = mentions.where(int(np.argmin(mentions.entity)))
        raise table.error("a mention has no entity", found, "an id for each")
    if mentions.head is not None:
        outside = (mentions.head < mentions.start) | (mentions.head >= mentions.end)
        outside &= mentions.head >= 0
        if outside.any():
            found = mentions.where(int(np.argmax(outside)))
            raise table.error("a head is outside its mention", found)
    row, begin, end = mentions.gaps.T
    inside = (mentions.start[row] < begin) & (begin < end) & (end < mentions.end[row])
    inside[1:] &= (row[1:] > row[:-1]) | (begin[1:] > end[:-1])
    if not inside.all():
        found = mentions.where(int(row[np.argmin(inside)]))
        expected = "gaps inside their mention, in order and separate"
        raise table.error("a gap is not inside its mention", found, expected)


def _with_texts(table: ParquetTable, corpus: Corpus, mentions: _Mentions) -> Corpus:
    """The corpus with what the file says of documents and sentences, and with relations."""
    found: dict[str, Any] = {}
    for name, kind in (("metadata", dict), ("sentence_metadata", list)):
        if name in table.types:
            found[name] = tuple(_values(table, name, kind))
    if "sentence_metadata" in found and not all(
        isinstance(one, dict) for known in found["sentence_metadata"] for one in known
    ):
        raise _not_json(table, "sentence_metadata")
    if "relations" in table.types:
        found["relations"] = _relations(table, corpus, mentions)
    return corpus.with_details(**found)


def _values(table: ParquetTable, name: str, kind: type) -> list[Any]:
    """Objects or lists in JSON, one for each row."""
    values = []
    for text in table.texts(name, table.column(name)).tolist():
        try:
            values.append(json.loads(text) if text else kind())
        except (ValueError, RecursionError):
            raise _not_json(table, name) from None
        if not isinstance(values[-1], kind):
            raise _not_json(table, name)
    return values


def _not_json(table: ParquetTable, name: str) -> InputError:
    problem = f"column {name!r} has the wrong contents"
    return table.error(problem, "other values", "JSON, as described")


def _relations(table: ParquetTable, corpus: Corpus, mentions: _Mentions) -> Relations:
    """Relations of entities by name, and of mentions by their place in the document."""
    order = textual_order(mentions.document, mentions.start, mentions.end, mentions.gaps)
    new = np.arange(mentions.start.size)
    if order is not None:
        new[order] = np.arange(order.size)
    layers = [IDENTITY] * corpus.n_entities
    if corpus.entity_layer is not None:
        layers = corpus.entity_layer.tolist()
    names = zip(corpus.entity_document.tolist(), corpus.names or (), layers, strict=True)
    number = {name: entity for entity, name in enumerate(names)}
    first = np.searchsorted(mentions.document, np.arange(len(mentions.documents)))

    def place(document: int, one: list[Any]) -> tuple[int, int]:
        entity, mention, *layer = one
        if mention < 0:
            return number[document, entity, LAYERS.index(layer[0]) if layer else IDENTITY], -1
        row = int(new[first[document] + mention])
        if corpus.mention_document[row] != document:
            raise IndexError
        return int(corpus.mention_entity[row]), row

    try:
        return Relations.of(
            Relation(
                str(kind), place(d, anaphor), tuple(place(d, one) for one in others), str(label)
            )
            for d, known in enumerate(_values(table, "relations", list))
            for kind, anaphor, others, label in known
        )
    except (TypeError, ValueError, KeyError, IndexError):
        raise _not_json(table, "relations") from None
