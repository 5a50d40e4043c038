"""Writing Parquet: a row for each document, in row groups."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from corefeval.diagnostics import note
from corefeval.formats.losses import check_writable, note_partial, relations_of, with_tokens
from corefeval.formats.parquet.reader import FEATURE, IDS
from corefeval.formats.parquet.table import TOKEN, import_pyarrow
from corefeval.formats.registry import Written
from corefeval.model import LAYERS, Corpus, Document
from corefeval.model.arrays import IntArray
from corefeval.model.tokens import Tokens
from corefeval.model.words import writable_text

GROUP = 1000  # documents of a row group
_STRUCTURE = ("document", "part", "number")  # columns that say what rows and places say


def write_parquet(corpus: Corpus) -> Written:
    """Write all documents; lone surrogates, which are no text, as � each."""
    arrow = import_pyarrow()
    check_writable(corpus, "Parquet")
    corpus, notices = with_tokens(corpus)
    columns = _Columns(arrow)
    names = corpus.names
    columns.add("document", columns.texts([one.name for one in corpus.documents]))
    columns.add("part", arrow.array([one.part for one in corpus.documents], arrow.int64()))
    bounds = corpus.mention_offsets
    for name, values in (("start", corpus.mention_start), ("end", corpus.mention_end)):
        columns.add(name, columns.lists(bounds, arrow.array(np.asarray(values))))
    entities = [str(e) if names is None else names[e] for e in corpus.mention_entity.tolist()]
    columns.add("entity", columns.lists(bounds, columns.texts(entities)))
    if corpus.mention_head is not None:
        heads = np.asarray(corpus.mention_head)
        columns.add("head", columns.lists(bounds, arrow.array(heads, mask=heads < 0)))
    if corpus.entity_layer is not None:
        layers = [LAYERS[layer] for layer in corpus.mention_layer.tolist()]
        columns.add("layer", columns.lists(bounds, columns.texts(layers)))
    if corpus.gaps.size:
        columns.add("gaps", columns.lists(bounds, _gaps(arrow, corpus)))
    for name, values in corpus.features.items():
        texts = columns.texts(["" if v is None else str(v) for v in values.tolist()])
        columns.add(FEATURE + name, columns.lists(bounds, texts))
    if corpus.tokens is not None:
        _add_tokens(columns, corpus.tokens)
    _add_notes(columns, corpus)
    ids = b"corpus" if corpus.names_hold else b"document"
    table = arrow.table(columns.arrays).replace_schema_metadata({IDS: ids})
    target = io.BytesIO()
    arrow.parquet.write_table(table, target, row_group_size=GROUP)
    if corpus.tokens is not None:
        notices += (*note_partial(corpus.tokens.partial_columns),)
    notices += note("surrogates", columns.replaced, "text", "with invalid characters, written as �")
    return Written({"": target.getvalue()}, notices)


class _Columns:
    """Columns in the making, and how many texts had characters that no file can hold."""

    def __init__(self, arrow: Any) -> None:
        self.arrow = arrow
        self.arrays: dict[str, Any] = {}
        self.replaced = 0

    def add(self, name: str, array: Any) -> None:
        safe = writable_text(name)
        self.replaced += safe != name
        self.arrays[safe] = array

    def texts(self, values: Sequence[str | None]) -> Any:
        try:
            return self.arrow.array(values, self.arrow.string())
        except UnicodeEncodeError:
            safe = [None if value is None else writable_text(value) for value in values]
            self.replaced += sum(one != other for one, other in zip(values, safe, strict=True))
            return self.arrow.array(safe, self.arrow.string())

    def lists(self, bounds: IntArray, values: Any) -> Any:
        offsets = self.arrow.array(bounds, self.arrow.int32())
        return self.arrow.ListArray.from_arrays(offsets, values)


def _gaps(arrow: Any, corpus: Corpus) -> Any:
    """Starts and ends of the gaps of each mention in turn."""
    gaps = corpus.gaps[np.lexsort((corpus.gaps[:, 1], corpus.gaps[:, 0]))]
    counts = np.bincount(gaps[:, 0], minlength=corpus.n_mentions)
    offsets = arrow.array(np.concatenate(([0], 2 * np.cumsum(counts))), arrow.int32())
    return arrow.ListArray.from_arrays(offsets, arrow.array(gaps[:, 1:].ravel()))


def _add_tokens(columns: _Columns, tokens: Tokens) -> None:
    arrow = columns.arrow
    columns.add("n_tokens", arrow.array(tokens.counts))
    starts = [
        tokens.sentence_starts(d) if tokens.counts[d] else [] for d in range(tokens.counts.size)
    ]
    columns.add("sentence", arrow.array(starts, arrow.list_(arrow.int64())))
    for name in tokens.columns:
        if name not in _STRUCTURE:
            found = tokens.coded(name)
            texts = columns.texts([*found.names, ""])
            values = texts.take(
                arrow.array(np.where(found.codes < 0, len(found.names), found.codes))
            )
            stored = name if name == "word" else TOKEN + name
            columns.add(stored, columns.lists(tokens.offsets, values))


def _add_notes(columns: _Columns, corpus: Corpus) -> None:
    """What is said of documents and sentences, and relations, in JSON."""
    notes: dict[str, list[Any]] = {
        "metadata": [dict(one) for one in corpus.metadata],
        "sentence_metadata": [list(map(dict, known)) for known in corpus.sentence_metadata],
        "relations": [_relations(one) for one in corpus] if len(corpus.relations) else [],
    }
    for name, values in notes.items():
        if any(values):
            columns.add(name, columns.texts([json.dumps(one) if one else None for one in values]))


def _relations(document: Document) -> list[Any]:
    """Kind, anaphor, antecedents and label of each: entities by name, mentions by their place.

    Entities of a layer that is not identity are followed by it.
    """
    names, first = document.corpus.names, document.rows.start
    layers = document.corpus.entity_layer

    def place(entity: int, mention: int) -> list[Any]:
        name = str(entity) if names is None else names[entity]
        layer = [] if layers is None or not layers[entity] else [LAYERS[layers[entity]]]
        return [name, max(mention - first, -1), *layer]

    return [
        [one.kind, place(*one.anaphor), [place(*other) for other in one.antecedents], one.label]
        for one in relations_of(document).values()
    ]
