"""Maverick's dictionaries: tokens and clusters of token offsets."""

from __future__ import annotations

from corefeval.formats.json.assembly import Assembly, read_kind
from corefeval.formats.json.crac import OFFSETS
from corefeval.formats.json.parsing import Record
from corefeval.formats.json.values import clusters_in, tokens_in
from corefeval.formats.json.writing import boundaries_lost, cluster_texts, json_lines, unpacked
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus


def read_maverick(source: Source, *, name: str = "") -> Corpus:
    """Read records of `tokens` and `clusters_token_offsets` (both inclusive).

    Other keys are passed over. A record without an id is called after the file.
    """
    return read_kind(source, add_maverick, name)


def add_maverick(record: Record, assembly: Assembly) -> None:
    """Add the document of one record."""
    words = tokens_in(record, "tokens")
    clusters = clusters_in(record, record.value(OFFSETS), OFFSETS, len(words.words))
    assembly.tokens(record, words, clusters)


def write_maverick(corpus: Corpus) -> Written:
    """Write all documents, a record per line; sentences are not carried.

    The id is written as `doc_key`, a part as part of it. Corpora without words get `_` for each
    token.
    """
    documents, notices = unpacked(corpus)
    records = [
        {
            "doc_key": document.identifier,
            "tokens": document.words,
            OFFSETS: document.clusters,
            "clusters_token_text": cluster_texts(document.words, document.clusters),
        }
        for document in documents
    ]
    return Written({"": json_lines(records)}, notices + boundaries_lost(documents))
