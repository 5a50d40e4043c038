"""BookCoref's JSON: whole books, with the names of their characters."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from corefeval.formats.json.assembly import Assembly, read_kind
from corefeval.formats.json.parsing import Cluster, Record, clusters_in, sentences_in, strings
from corefeval.formats.json.token_lists import CLUSTER_KEYS
from corefeval.formats.json.writing import json_lines, unpacked
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus

_BOOK = "gutenberg_key"


def read_bookcoref(source: Source, *, name: str = "") -> Corpus:
    """Read records of `doc_id`, `sentences`, `clusters` (both inclusive) and `characters`.

    Characters are objects with a `name` and a `cluster`, or names in the order of the clusters;
    they name the entities. What cannot be given to an entity is kept in the metadata.
    """
    return read_kind(source, add_bookcoref, name)


def add_bookcoref(record: Record, assembly: Assembly) -> None:
    """Add the document of one record."""
    words = sentences_in(record, "sentences")
    characters = record.values.get("characters")
    named = _named_clusters(characters)
    key = next((key for key in CLUSTER_KEYS if key in record.values), None)
    if key is None and named:
        key, value = "characters", [cluster for _, cluster in named]
    else:
        key, value = key or CLUSTER_KEYS[0], record.value(*CLUSTER_KEYS)
    clusters = clusters_in(record, value, key, len(words.words))
    names, rest = _names(clusters, characters, named)
    metadata = {}
    if rest:
        metadata["characters"] = json.dumps(rest, ensure_ascii=False)
        assembly.note(
            "unplaced-characters",
            "document",
            "with characters that are no entity, or in an unknown shape: kept as metadata",
        )
    if isinstance(record.values.get(_BOOK), str | int):
        metadata[_BOOK] = str(record.values[_BOOK])
    assembly.tokens(record, words, clusters, names=names, metadata=metadata)


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


def _names(
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
    """The spans of a character's cluster; none where they are no spans."""
    try:
        return frozenset((start, end + 1) for start, end in cluster)
    except (TypeError, ValueError):
        return frozenset()


def write_bookcoref(corpus: Corpus) -> Written:
    """Write all documents, a record per line, the names of entities as characters.

    A part becomes part of the `doc_id`. Corpora without words get `_` for each token.
    """
    documents, notices = unpacked(corpus, names=True, metadata=(_BOOK, "characters"))
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
    return Written({"": json_lines(records)}, notices)
