"""JSON of any kind, each record read as what its keys say; and fastcoref's and BookCoref's own."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from itertools import accumulate
from operator import ne
from typing import Any

import numpy as np

from corefeval.diagnostics import note
from corefeval.formats.json.documents import (
    Adder,
    Assembly,
    Spans,
    UnpackedDocument,
    json_lines,
    read_kind,
    read_kinds,
    unpack,
)
from corefeval.formats.json.parsing import Cluster, Record, clusters_in, sentences_in, show, strings
from corefeval.formats.json.token_lists import (
    CLUSTER_KEYS,
    OFFSETS,
    add_crac,
    add_e2e,
    add_maverick,
    add_preco,
)
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus
from corefeval.model.words import seen_word


def add_fastcoref(record: Record, assembly: Assembly) -> None:
    """Add the document of a record of `text` and `clusters` (character offsets, the end exclusive).

    Positions of this corpus are characters; it is scored on the tokens of its key.
    """
    text = record.value("text")
    if not isinstance(text, str):
        raise record.error("‘text’ is not a string", found=show(text), expected="a string")
    value = record.value("clusters")
    clusters = clusters_in(record, value, "clusters", len(text), inclusive=False, unit="character")
    assembly.text(record, text, clusters)


read_fastcoref = partial(read_kind, add_fastcoref)


def write_fastcoref(corpus: Corpus) -> Written:
    """Write all documents, a record per line: a blank between words, a newline between sentences.

    A part becomes part of the id, `doc_key`. Corpora without words get `_` for each token.
    """
    documents, notices = unpack(corpus, texts=True)
    records = []
    changed = 0
    for document in documents:
        words = list(map(seen_word, document.words))
        changed += sum(map(ne, words, document.words))
        text, clusters = _in_characters(document, words)
        strings = [[text[start:end] for start, end in cluster] for cluster in clusters]
        records.append(
            {
                "doc_key": document.identifier,
                "text": text,
                "clusters": clusters,
                "clusters_strings": strings,
            }
        )
    lost = note("changed-words", changed, "word", "without text, written as _")
    return json_lines(records, (*notices, *lost))


def _in_characters(document: UnpackedDocument, words: list[str]) -> tuple[str, Spans]:
    """The text, and the clusters as character spans with the end excluded."""
    if document.text is not None:
        return document.text, [[[start, last + 1] for start, last in c] for c in document.clusters]
    sentences = document.by_sentence(words)
    text = "\n".join(" ".join(sentence) for sentence in sentences if sentence)
    # Every word is followed by one character, a blank or a newline.
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    clusters = [
        [[starts[start], starts[last + 1] - 1] for start, last in cluster]
        for cluster in document.clusters
    ]
    return text, clusters


_BOOK = "gutenberg_key"


def add_bookcoref(record: Record, assembly: Assembly) -> None:
    """Add the document of a record of `doc_id`, `sentences`, `clusters` and `characters`.

    Ends of spans are inclusive.
    Characters are objects with a `name` and a `cluster`, or names in the order of the clusters;
    they name the entities. What cannot be given to an entity is kept in the metadata.
    """
    words = sentences_in(record, "sentences")
    characters = record.values.get("characters")
    named = _named_clusters(characters)
    key = next((key for key in CLUSTER_KEYS if key in record.values), None)
    if key is None and named:
        key, value = "characters", [cluster for _, cluster in named]
    else:
        key, value = key or CLUSTER_KEYS[0], record.value(*CLUSTER_KEYS)
    clusters = clusters_in(record, value, key, len(words.words))
    names, rest = _character_names(clusters, characters, named)
    metadata = {}
    if rest:
        metadata["characters"] = json.dumps(rest, ensure_ascii=False)
        assembly.tally(
            "unplaced-characters",
            "document",
            "with characters that are not an entity, or in an unknown shape: kept as metadata",
        )
    if isinstance(record.values.get(_BOOK), str | int):
        metadata[_BOOK] = str(record.values[_BOOK])
    assembly.tokens(record, words, clusters, names=names, metadata=metadata)


read_bookcoref = partial(read_kind, add_bookcoref)


def _named_clusters(characters: Any) -> list[tuple[str, Any]]:
    """Names with their clusters; nothing where they come in another shape."""
    if not isinstance(characters, list):
        return []
    fitting = all(
        isinstance(character, dict)
        and isinstance(character.get("name"), str)
        and isinstance(character.get("cluster"), list)
        for character in characters
    )
    return [(character["name"], character["cluster"]) for character in characters if fitting]


def _character_names(
    clusters: list[Cluster], characters: Any, named: list[tuple[str, Any]]
) -> tuple[list[str | None], Any]:
    """The name of each cluster, where it has one, and the characters that name none."""
    if strings(characters, len(clusters)):
        return list(characters), None
    names: list[str | None] = [None] * len(clusters)
    if not named:
        return names, characters
    owners = defaultdict(list)
    for number, cluster in reversed(list(enumerate(clusters))):
        owners[frozenset(cluster)].append(number)
    rest = []
    for name, cluster in named:
        candidates = owners.get(_spans(cluster))
        if candidates:
            names[candidates.pop()] = name
        else:
            rest.append({"name": name, "cluster": cluster})
    return names, rest


def _spans(cluster: Any) -> frozenset[tuple[int, int]]:
    """The spans of a character's cluster; none where they are not spans."""
    try:
        return frozenset((start, end + 1) for start, end in cluster)
    except (TypeError, ValueError):
        return frozenset()


def write_bookcoref(corpus: Corpus) -> Written:
    """Write all documents, a record per line, the names of entities as characters.

    A part becomes part of the `doc_id`. Corpora without words get `_` for each token.
    """
    documents, notices = unpack(corpus, names=True, metadata=(_BOOK, "characters"))
    records = []
    for document in documents:
        record: dict[str, Any] = {"doc_id": document.identifier}
        if _BOOK in document.metadata:
            record[_BOOK] = document.metadata[_BOOK]
        characters = [
            {"name": name, "cluster": cluster}
            for name, cluster in zip(document.names, document.clusters, strict=True)
        ]
        record["sentences"] = document.sentences
        record["clusters"] = document.clusters
        record["characters"] = characters
        records.append(record)
    return json_lines(records, notices)


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
        found=record.list_keys(),
        expected=_KINDS,
        fix="convert the file to one of these, or name its format if you know it "
        "(llm for answers of a language model)",
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
