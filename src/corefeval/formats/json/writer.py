"""Writing JSON of any kind: a record for each document, on a line."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import ne
from typing import Any

from corefeval.diagnostics import InputError, excerpt, plural
from corefeval.formats.declarations import Written
from corefeval.formats.json.records import BOOK, CHARACTERS, KINDS, Kind
from corefeval.formats.losses import (
    count_gapped,
    mark_zeros,
    sentence_bounds,
    words_of,
)
from corefeval.model import Corpus, Document, DocumentId
from corefeval.model.identity import seen_word
from corefeval.model.text_tokens import text_of

Spans = list[list[list[int]]]  # of each cluster, the start and the last position
Bounds = list[tuple[int, int]]  # start and end of each sentence
_NO_WORD = "_"
_NUMBERED = re.compile(r"[a-zA-Z]?\d+")  # names that say nothing


def write_json(corpus: Corpus, *, kind: str = "json") -> Written:
    """Write all documents as records of a kind, a record per line; `json` is written as e2e.

    A part becomes part of the id. Corpora without words get `_` for each token. What UTF-8 cannot
    hold is written as JSON's own escapes.
    """
    layout = KINDS["e2e" if kind == "json" else kind]
    counts = count_gapped(corpus)
    if not layout.has_characters:
        counts["entity-names"] = sum(not _NUMBERED.fullmatch(name) for name in corpus.names or ())
    lines = [
        json.dumps(_make_record(document, identifier, layout, counts), ensure_ascii=False) + "\n"
        for document, identifier in zip(corpus, _identifiers(corpus.documents), strict=True)
    ]
    data = "".join(lines).encode(errors="backslashreplace")
    scattered = () if corpus.tokens is None else corpus.tokens.partial_columns
    partial = [name for name in scattered if name != "word"]
    return Written({"": data}, counts=counts, partial=partial)


def _identifiers(documents: Sequence[DocumentId]) -> list[str]:
    """`name_part` for each document, but spelt out where two would have one name."""
    short = [d.name if d.part is None else f"{d.name}_{d.part}" for d in documents]
    counts = Counter(short)
    return [
        name if counts[name] == 1 else str(identifier)
        for name, identifier in zip(short, documents, strict=True)
    ]


def _make_record(
    document: Document, identifier: str, kind: Kind, counts: Counter[str]
) -> dict[str, Any]:
    clusters, names, reordered = _clusters(document)
    counts["repeated-mentions"] += reordered
    record: dict[str, Any] = {kind.id: identifier}
    if kind.has_characters and BOOK in document.metadata:
        record[BOOK] = document.metadata[BOOK]
    text = text_of(document.corpus.tokens, document.index)
    words = _words(document, counts) if text is None else []
    sentences = sentence_bounds(document, len(words))
    if kind.has_zeros:
        words = mark_zeros(document, words, counts)
    if kind.words == "text":
        text, clusters = _in_characters(text, words, sentences, clusters, counts)
        record["text"] = text
    elif kind.words == "tokens":
        record["tokens"] = words
        counts["sentence-boundaries"] += max(len(sentences) - 1, 0)
    else:
        record["sentences"] = _cut(words, sentences)
    if kind.has_speakers and "speaker" in document.columns:
        record["speakers"] = _cut(document.column("speaker"), sentences)
    if kind.by_sentence:
        clusters = _in_sentences(clusters, sentences, counts)
    record[kind.clusters[0]] = clusters
    if kind.mention_texts and text is not None:
        record[kind.mention_texts] = [[text[start:end] for start, end in c] for c in clusters]
    elif kind.mention_texts:
        record[kind.mention_texts] = [
            [" ".join(words[start : last + 1]) for start, last in cluster] for cluster in clusters
        ]
    if kind.has_characters:
        record[CHARACTERS] = [
            {"name": name, "cluster": cluster}
            for name, cluster in zip(names, clusters, strict=True)
        ]
    return record


def _clusters(document: Document) -> tuple[Spans, list[str], int]:
    """The mentions of each entity in textual order, and the entities' names.

    Also the number of mentions that follow an equal one of an entity whose cluster comes later:
    clusters come one after the other, so the order of equal mentions of two may get lost.
    """
    entities = document.entities
    if document.corpus.mention_start is None:
        return [], [], 0
    numbers = {entity.index: number for number, entity in enumerate(entities)}
    places = [(*m.span, numbers[m.entity.index]) for m in document.mentions]
    reordered = sum(a[:2] == b[:2] and a > b for a, b in pairwise(places))
    clusters = [[[m.start, m.end - 1] for m in entity.mentions] for entity in entities]
    return clusters, [entity.name for entity in entities], reordered


def _words(document: Document, counts: Counter[str]) -> list[str]:
    """The words of a document, `_` for each token where its file has none."""
    tokens = document.corpus.tokens
    needed = max((mention.end for mention in document.mentions), default=0)
    if tokens is not None and tokens.has_column(document.index, "word"):
        words = tokens.column(document.index, "word")
    else:
        words = words_of(document)
        words += [_NO_WORD] * (needed - len(words))
        counts["no-words"] += len(words) > 0
    if needed > len(words):
        raise InputError(
            f"a mention goes beyond document {excerpt(str(document.id))}",
            found=f"a mention of token {needed - 1}",
            expected=f"positions in a document of {plural(len(words), 'token')}",
        )
    return words


def _cut(column: list[str], sentences: Bounds) -> list[list[str]]:
    """A column, sentence by sentence."""
    return [column[start:end] for start, end in sentences]


def _in_characters(
    text: str | None, words: list[str], sentences: Bounds, clusters: Spans, counts: Counter[str]
) -> tuple[str, Spans]:
    """The text, of words if there is none, and clusters of characters with the end excluded.

    There is a blank between words, and a newline between sentences.
    """
    if text is not None:
        return text, [[[start, last + 1] for start, last in cluster] for cluster in clusters]
    visible = list(map(seen_word, words))
    counts["changed-words"] += sum(map(ne, visible, words))
    text = "\n".join(" ".join(sentence) for sentence in _cut(visible, sentences) if sentence)
    # Every word is followed by one character, a blank or a newline.
    starts = list(accumulate((len(word) + 1 for word in visible), initial=0))
    return text, [
        [[starts[start], starts[last + 1] - 1] for start, last in cluster] for cluster in clusters
    ]


def _in_sentences(clusters: Spans, sentences: Bounds, counts: Counter[str]) -> Spans:
    """Clusters of [sentence, start, end], without mentions that do not stay in their sentence."""
    starts = [start for start, _ in sentences]
    kept = []
    for cluster in clusters:
        mentions = []
        for start, last in cluster:
            number = bisect_right(starts, start) - 1
            first, end = sentences[number]
            if last < end:
                mentions.append([number, start - first, last + 1 - first])
        counts["cross-sentence-mentions"] += len(cluster) - len(mentions)
        kept += [mentions] if mentions else []
    return kept
