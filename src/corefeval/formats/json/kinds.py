"""The kinds of JSON: under which keys each has its ids, words and clusters, and how it counts."""

from __future__ import annotations

from typing import NamedTuple

from corefeval.formats.json.parsing import Record

CHARACTERS = "characters"
BOOK = "gutenberg_key"
_OFFSETS = "clusters_token_offsets"
_CLUSTERS = ("clusters", "predicted_clusters")


class Kind(NamedTuple):
    """A kind of record.

    Words stand under the key `words`, which is `sentences` (lists of words), `tokens` (words, or
    sentences when read) or `text` (whose characters mentions count). Of the keys `clusters`, the
    first that a record has is read, and the first is written. A mention is [start, end] in the
    document, or with `by_sentence` [sentence, start, end] in the sentence, its end `inclusive` or
    not. The id is written under `id`, and the words of mentions under `mention_texts`.

    Records with clusters that also have all of the keys `signs` are of this kind.
    """

    id: str
    words: str
    clusters: tuple[str, ...]
    signs: frozenset[str] = frozenset()
    by_sentence: bool = False
    inclusive: bool = True
    mention_texts: str = ""
    has_speakers: bool = False  # under `speakers`
    has_characters: bool = False  # which name entities, and may hold the clusters
    has_zeros: bool = False  # tokens that begin with ##


# The order is the order in which kinds are tried.
KINDS = {
    "preco": Kind("id", "sentences", ("mention_clusters",), by_sentence=True, inclusive=False),
    "crac-json": Kind(
        "doc_id",
        "tokens",
        (_OFFSETS,),
        signs=frozenset({"doc_id"}),
        mention_texts="clusters_text_mentions",
        has_zeros=True,
    ),
    "maverick": Kind("doc_key", "tokens", (_OFFSETS,), mention_texts="clusters_token_text"),
    "bookcoref": Kind(
        "doc_id",
        "sentences",
        _CLUSTERS,
        signs=frozenset({"sentences", CHARACTERS}),
        has_characters=True,
    ),
    "e2e": Kind(
        "doc_key", "sentences", _CLUSTERS, signs=frozenset({"sentences"}), has_speakers=True
    ),
    "fastcoref": Kind(
        "doc_key",
        "text",
        ("clusters",),
        signs=frozenset({"text"}),
        inclusive=False,
        mention_texts="clusters_strings",
    ),
}


def kind_of(record: Record) -> str:
    """The name of the kind that a record's keys tell; an InputError where they tell none."""
    keys = record.values.keys()
    for name, kind in KINDS.items():
        has_clusters = kind.has_characters or not keys.isdisjoint(kind.clusters)
        has_other_words = kind.words == "text" and "tokens" in keys
        if has_clusters and kind.signs <= keys and not has_other_words:
            return name
    raise record.error(
        "no known kind of JSON has these keys",
        found=record.list_keys(),
        expected="; ".join(f"{name} ({_list_keys(kind)})" for name, kind in KINDS.items()),
        fix="convert the file to one of these, or name its format if you know it "
        "(llm for answers of a language model)",
    )


def _list_keys(kind: Kind) -> str:
    keys = (kind.id, kind.words, kind.clusters[0], *((CHARACTERS,) if kind.has_characters else ()))
    return ", ".join(keys)
