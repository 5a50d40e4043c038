"""What matching stumbles over: stated heads and minimum spans, and dependencies of empty nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from corefeval.diagnostics import excerpt, plural
from corefeval.formats.conllu.reader import stated_heads
from corefeval.formats.conllu.tokens import ConlluTokens
from corefeval.linting.findings import Finding, Locator
from corefeval.model import Tokens
from corefeval.model.tokens import documents_of_tokens
from corefeval.pairing.node_alignment import encode_id

_NO_DEPENDENCIES = ("", "_")
_ROOT = encode_id("0")


def matching_findings(locator: Locator) -> Iterator[Finding]:
    """What matching by heads, by minimum spans and by empty nodes cannot use."""
    if locator.corpus.labels is not None:
        return
    yield from _find_heads(locator)
    yield from _find_minima(locator)
    tokens = locator.corpus.tokens
    if tokens is not None and {"empty", "number", "deps"} <= {*tokens.columns}:
        yield from _find_dependencies(locator, tokens)


def _find_heads(locator: Locator) -> Iterator[Finding]:
    """Heads that a CoNLL-U file states, and that are none."""
    corpus = locator.corpus
    if not isinstance(corpus.tokens, ConlluTokens) or not corpus.n_mentions:
        return
    rows: dict[tuple[int, int, int], int] = {}
    columns = (corpus.mention_document, corpus.mention_start, corpus.mention_end)
    for number, place in enumerate(zip(*(np.asarray(c).tolist() for c in columns), strict=True)):
        rows.setdefault(place, number)
    for document, start, end, text in stated_heads(corpus.tokens):
        row = rows.get((document, start, end))
        if row is None:
            continue
        size = len(locator.mention(row).positions)
        if not _is_number_up_to(size, text.partition(",")[0]):
            value = f"the head is {excerpt(text, 20)}" if text.strip("_") else "there is no head"
            message = f"{value} of {plural(size, 'token')}"
            yield locator.about_mention("unusable-head", row, message)


def _is_number_up_to(most: int, text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most


def _find_minima(locator: Locator) -> Iterator[Finding]:
    """Minimum spans (`minspan`) with what is no number of a token."""
    texts = locator.corpus.features.get("minspan")
    for row, text in enumerate(() if texts is None else texts.tolist()):
        numbers = [part.strip() for part in str(text).replace(";", ",").split(",")] if text else []
        size = len(locator.mention(row).positions) if numbers else 0
        if not all(_is_number_up_to(size, number) for number in numbers):
            message = f"the minimum span is {excerpt(str(text), 20)} of {plural(size, 'token')}"
            yield locator.about_mention("unusable-minimum", row, message)


def _find_dependencies(locator: Locator, tokens: Tokens) -> Iterator[Finding]:
    """Empty nodes without dependencies, or with some that lead nowhere."""
    nodes = np.flatnonzero(tokens.coded("empty").where(bool))
    if not nodes.size:
        return
    documents = documents_of_tokens(tokens.offsets, nodes)
    sentences = tokens.sentence_of(nodes).tolist()
    positions = (nodes - tokens.offsets[documents]).tolist()
    cells = tokens.coded("deps", nodes).values()
    starts = np.append(tokens.starts, tokens.offsets[-1])

    @cache
    def ids(sentence: int) -> frozenset[int]:
        inside = np.arange(starts[sentence], starts[sentence + 1])
        return frozenset(map(encode_id, tokens.coded("number", inside).names)) | {_ROOT}

    nodes_in_order = zip(documents.tolist(), positions, sentences, cells, strict=True)
    for document, position, sentence, cell in nodes_in_order:
        if cell is None or cell in _NO_DEPENDENCIES:
            kind, message = "node-without-dependencies", "no dependencies"
            yield locator.about_document(kind, document, message, position)
            continue
        for entry in cell.split("|"):
            parent, colon, relation = entry.partition(":")
            number = encode_id(parent)
            if not colon or not relation or number < 0:
                message = f"{excerpt(entry, 30)} is no parent:relation"
            elif sentence >= 0 and number not in ids(sentence):
                message = f"{excerpt(entry, 30)}: the sentence has no {excerpt(parent, 20)}"
            else:
                continue
            yield locator.about_document("unknown-parent", document, message, position)
