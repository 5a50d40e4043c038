"""fastcoref's JSON: a text, and clusters of character spans."""

from __future__ import annotations

from itertools import accumulate

from corefeval.formats.json.assembly import Assembly, read_kind
from corefeval.formats.json.parsing import Record, shown
from corefeval.formats.json.values import clusters_in
from corefeval.formats.json.writing import Spans, UnpackedDocument, json_lines, unpacked
from corefeval.formats.losses import counted
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus


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
    invisible = at_blanks = 0
    for document in documents:
        text, spans = _in_characters(document)
        clusters = [[span for span in cluster if span[0] < span[1]] for cluster in spans]
        strings = [[text[start:end] for start, end in cluster] for cluster in clusters]
        invisible += sum(map(len, spans)) - sum(map(len, clusters))
        at_blanks += _at_blank_words(document)
        records.append(
            {
                "doc_key": document.identifier,
                "text": text,
                "clusters": [cluster for cluster in clusters if cluster],
                "clusters_strings": [cluster for cluster in strings if cluster],
            }
        )
    notices = (
        *notices,
        *counted("empty-mentions", invisible, "mention", "left out: no character in its words"),
        *counted("blank-edges", at_blanks, "mention", "with blank words at the edges, now lost"),
    )
    return Written({"": json_lines(records)}, notices)


def _at_blank_words(document: UnpackedDocument) -> int:
    """Mentions that begin or end with a blank word, which nobody can find again in a text."""
    blank = [not word.strip() for word in document.words]
    return sum(
        (blank[start] or blank[last]) and bool(last > start or document.words[start])
        for cluster in document.clusters
        for start, last in cluster
        if document.text is None
    )


def _in_characters(document: UnpackedDocument) -> tuple[str, Spans]:
    """The text, and the clusters as character spans with the end excluded."""
    if document.text is not None:
        return document.text, [[[start, last + 1] for start, last in c] for c in document.clusters]
    text = "\n".join(" ".join(sentence) for sentence in document.sentences if sentence)
    # Every word is followed by one character, a blank or a newline.
    starts = list(accumulate((len(word) + 1 for word in document.words), initial=0))
    clusters = [
        [[starts[start], starts[last + 1] - 1] for start, last in cluster]
        for cluster in document.clusters
    ]
    return text, clusters
