"""The JSON lines of e2e-coref and of many OntoNotes tools."""

from __future__ import annotations

from typing import Any

from corefeval.formats.json.assembly import Assembly, read_kind
from corefeval.formats.json.parsing import Record
from corefeval.formats.json.values import Words, clusters_in, sentences_in, strings
from corefeval.formats.json.writing import json_lines, unpacked
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus

CLUSTER_KEYS = ("clusters", "predicted_clusters")


def read_e2e(source: Source, *, name: str = "") -> Corpus:
    """Read records of `doc_key`, `sentences` and `clusters` (token offsets, both inclusive).

    `predicted_clusters` stand for `clusters` where these are not there; `speakers` become a token
    column.
    """
    return read_kind(source, add_e2e, name)


def add_e2e(record: Record, assembly: Assembly) -> None:
    """Add the document of one record."""
    words = sentences_in(record, "sentences")
    key = next((key for key in CLUSTER_KEYS if key in record.values), CLUSTER_KEYS[0])
    clusters = clusters_in(record, record.value(*CLUSTER_KEYS), key, len(words.words))
    if all(key in record.values for key in CLUSTER_KEYS):
        assembly.note(
            "other-clusters",
            "document",
            "with both ‘clusters’ and ‘predicted_clusters’: ‘clusters’ were read, the others not",
        )
    assembly.tokens(record, words, clusters, columns=_columns(record, words, assembly))


def _columns(record: Record, words: Words, assembly: Assembly) -> dict[str, list[str]]:
    """The speakers as a column, for every document of a file that states any."""
    if not assembly.anywhere("speakers"):
        return {}
    speakers: list[str] | None = [""] * len(words.words)
    if "speakers" in record.values:
        speakers = _speakers(record.values["speakers"], words)
    if speakers is None:
        assembly.note(
            "unread-speakers", "document", "whose ‘speakers’ do not fit its sentences: left out"
        )
        speakers = [""] * len(words.words)
    return {"speaker": speakers}


def _speakers(value: Any, words: Words) -> list[str] | None:
    """One speaker per token, from lists per sentence, a name per sentence, or one per token."""
    if strings(value, len(words.words)):
        return list(value)
    if not isinstance(value, list) or len(value) != len(words.lengths):
        return None
    speakers: list[str] = []
    for speaker, length in zip(value, words.lengths, strict=True):
        if isinstance(speaker, str):
            speakers += [speaker] * length
        elif strings(speaker, length):
            speakers += speaker
        else:
            return None
    return speakers


def write_e2e(corpus: Corpus) -> Written:
    """Write all documents, a record per line; what the format cannot carry is told.

    A part becomes part of the `doc_key`. Corpora without words get `_` for each token.
    """
    documents, notices = unpacked(corpus, "speaker")
    records = []
    for document in documents:
        record: dict[str, Any] = {"doc_key": document.identifier, "sentences": document.sentences}
        if "speaker" in document.columns:
            record["speakers"] = document.by_sentence(document.columns["speaker"])
        records.append(record | {"clusters": document.clusters})
    return Written({"": json_lines(records)}, notices)
