"""Records of JSON files that somebody has loaded already."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from corefeval.formats.json.records import read_json
from corefeval.formats.source import Source
from corefeval.model import Corpus

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
