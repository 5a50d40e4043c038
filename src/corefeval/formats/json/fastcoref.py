"""fastcoref's JSON: a text, and clusters of character spans."""

from __future__ import annotations

from itertools import accumulate
from operator import ne

from corefeval.formats.json.assembly import Assembly, read_kind
from corefeval.formats.json.parsing import Record, clusters_in, shown
from corefeval.formats.json.writing import Spans, UnpackedDocument, json_lines, unpacked
from corefeval.formats.losses import counted
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus
from corefeval.model.tokens import seen_word


def read_fastcoref(source: Source, *, name: str = "") -> Corpus:
    """Read records of `text` and `clusters` (character offsets, the end exclusive).

    Positions of this corpus are characters; it is scored on the tokens of its key.
    """
    return read_kind(source, add_fastcoref, name)


def add_fastcoref(record: Record, assembly: Assembly) -> None:
    """Add the document of one record."""
    text = record.value("text")
    if not isinstance(text, str):
        raise record.error("‘text’ is no text", found=shown(text), expected="a string")
    value = record.value("clusters")
    clusters = clusters_in(record, value, "clusters", len(text), inclusive=False, unit="character")
    assembly.text(record, text, clusters)


def write_fastcoref(corpus: Corpus) -> Written:
    """Write all documents, a record per line: a blank between words, a newline between sentences.

    A part becomes part of the id, `doc_key`. Corpora without words get `_` for each token.
    """
    documents, notices = unpacked(corpus, texts=True)
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
    notices = (
        *notices,
        *counted("changed-words", changed, "word", "without text, written as _"),
    )
    return Written({"": json_lines(records)}, notices)


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
