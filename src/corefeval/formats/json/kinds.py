"""JSON of any kind: each record is read as what its keys say, from files or loaded already."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from corefeval.formats.json.assembly import Adder, read_kinds
from corefeval.formats.json.bookcoref import add_bookcoref
from corefeval.formats.json.fastcoref import add_fastcoref
from corefeval.formats.json.parsing import Record
from corefeval.formats.json.token_lists import (
    CLUSTER_KEYS,
    OFFSETS,
    add_crac,
    add_e2e,
    add_maverick,
    add_preco,
)
from corefeval.formats.source import Source
from corefeval.model import Corpus

_KINDS = (
    "e2e (doc_key, sentences, clusters); bookcoref (doc_id, sentences, clusters, characters); "
    "preco (id, sentences, mention_clusters); crac-json (doc_id, tokens, clusters_token_offsets); "
    "maverick (tokens, clusters_token_offsets); fastcoref (text, clusters)"
)


def read_json(source: Source, *, name: str = "") -> Corpus:
    """Read JSON or JSON lines; the kind of each record is told by its keys."""
    return read_kinds(source, lambda record: _ADDERS[kind_of(record)], name)


_ADDERS: dict[str, Adder] = {
    "e2e": add_e2e,
    "bookcoref": add_bookcoref,
    "preco": add_preco,
    "crac-json": add_crac,
    "maverick": add_maverick,
    "fastcoref": add_fastcoref,
}


def kind_of(record: Record) -> str:
    """The format that a record is of; its own clusters decide, then what else it has."""
    keys = record.values.keys()
    if "mention_clusters" in keys:
        return "preco"
    if OFFSETS in keys:
        return "crac-json" if "doc_id" in keys else "maverick"
    if "sentences" in keys and "characters" in keys:
        return "bookcoref"
    if "sentences" in keys and any(key in keys for key in CLUSTER_KEYS):
        return "e2e"
    if {"clusters", "text"} <= keys and not {"sentences", "tokens"} & keys:
        return "fastcoref"
    raise record.error(
        "no known kind of JSON has these keys",
        found=record.keys_found(),
        expected=_KINDS,
        fix="convert the file to one of these, or name its kind as the format if you know better",
    )


_TELLING = (
    {"sentences", "clusters"},
    {"sentences", "predicted_clusters"},
    {"sentences", "mention_clusters"},
    {"text", "clusters"},
)


def corpus_from_records(source: object, name: str) -> Corpus | None:
    """The corpus of a record, of a list of them, or of a mapping from document ids to them.

    None where these are no such records, or hold what JSON cannot.

    >>> record = {"sentences": [["Ada", "met", "her"]], "clusters": [[[0, 0], [2, 2]]]}
    >>> corpus_from_records({"essay": record}, "response").n_mentions
    2
    """
    if _is_record(source):
        records = [source]
    elif isinstance(source, Mapping):
        records = [
            {"doc_key": key, **value} if _is_record(value) else value
            for key, value in source.items()
        ]
    elif isinstance(source, list | tuple):
        records = list(source)
    else:
        return None
    if not records or not all(map(_is_record, records)):
        return None
    try:
        text = json.dumps(records)
    except (TypeError, ValueError, RecursionError):
        return None
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    return read_json(Source(data, name), name=name)


def _is_record(value: object) -> bool:
    return isinstance(value, Mapping) and any(keys <= set(value) for keys in _TELLING)
