"""JSON of any kind: each record is read as what its keys say."""

from __future__ import annotations

from corefeval.formats.json.assembly import Adder, read_kinds
from corefeval.formats.json.bookcoref import add_bookcoref
from corefeval.formats.json.crac import OFFSETS, add_crac
from corefeval.formats.json.e2e import CLUSTER_KEYS, add_e2e
from corefeval.formats.json.fastcoref import add_fastcoref
from corefeval.formats.json.maverick import add_maverick
from corefeval.formats.json.parsing import Record
from corefeval.formats.json.preco import add_preco
from corefeval.formats.source import Source
from corefeval.model import Corpus

_KINDS = (
    "e2e (doc_key, sentences, clusters); bookcoref (doc_id, sentences, clusters, characters); "
    "preco (id, sentences, mention_clusters); crac-json (doc_id, tokens, clusters_token_offsets); "
    "maverick (tokens, clusters_token_offsets); fastcoref (text, clusters)"
)


def read_json(source: Source, *, name: str = "") -> Corpus:
    """Read JSON or JSON lines; the kind of each record is told by its keys."""
    return read_kinds(source, _adder, name)


def _adder(record: Record) -> Adder:
    """How to read a record; its own clusters decide, then what else it has."""
    keys = record.values.keys()
    if "mention_clusters" in keys:
        return add_preco
    if OFFSETS in keys:
        return add_crac if "doc_id" in keys else add_maverick
    if "sentences" in keys and "characters" in keys:
        return add_bookcoref
    if "sentences" in keys and any(key in keys for key in CLUSTER_KEYS):
        return add_e2e
    if {"clusters", "text"} <= keys and not {"sentences", "tokens"} & keys:
        return add_fastcoref
    raise record.error(
        "no known kind of JSON has these keys",
        found=record.keys_found(),
        expected=_KINDS,
        fix="convert the file to one of these, or name its kind as the format if you know better",
    )
