"""The JSON of the CRAC shared tasks: flat tokens, with marks for zeros."""

from __future__ import annotations

from corefeval.formats.json.assembly import Assembly, read_kind
from corefeval.formats.json.parsing import Record
from corefeval.formats.json.values import clusters_in, tokens_in
from corefeval.formats.json.writing import boundaries_lost, cluster_texts, json_lines, unpacked
from corefeval.formats.losses import counted
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus

OFFSETS = "clusters_token_offsets"
_ZERO = "##"


def read_crac(source: Source, *, name: str = "") -> Corpus:
    """Read records of `doc_id`, `tokens` and `clusters_token_offsets` (both inclusive).

    Tokens that begin with `##` are zeros: the column `empty` says so.
    """
    return read_kind(source, add_crac, name)


def add_crac(record: Record, assembly: Assembly) -> None:
    """Add the document of one record."""
    words = tokens_in(record, "tokens")
    clusters = clusters_in(record, record.value(OFFSETS), OFFSETS, len(words.words))
    empty = ["1" if word.startswith(_ZERO) else "" for word in words.words]
    assembly.tokens(record, words, clusters, columns={"empty": empty})


def write_crac(corpus: Corpus) -> Written:
    """Write all documents, a record per line, zeros with their mark; sentences are not carried.

    A part becomes part of the `doc_id`. Corpora without words get `_` for each token.
    """
    documents, notices = unpacked(corpus, "empty")
    records = []
    marked = mistakable = 0
    for document in documents:
        empty = document.columns.get("empty") or [""] * len(document.words)
        tokens = []
        for word, zero in zip(document.words, empty, strict=True):
            is_marked = word.startswith(_ZERO)
            marked += bool(zero) and not is_marked
            mistakable += is_marked and not zero
            tokens.append(_marked(word) if zero and not is_marked else word)
        records.append(
            {
                "doc_id": document.identifier,
                "tokens": tokens,
                OFFSETS: document.clusters,
                "clusters_text_mentions": cluster_texts(tokens, document.clusters),
            }
        )
    notices = (
        *notices,
        *boundaries_lost(documents),
        *counted("zero-words", marked, "zero", "whose word is written with ## before it"),
        *counted("false-zeros", mistakable, "word", "that will read as a zero"),
    )
    return Written({"": json_lines(records)}, notices)


def _marked(word: str) -> str:
    return _ZERO if word == "_" else _ZERO + word
