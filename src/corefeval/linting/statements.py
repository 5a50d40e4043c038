"""Findings about heads, minimum spans, dependencies and relations.

Also about answers of language models: what their ledger says of each mention.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from corefeval.diagnostics import excerpt, plural
from corefeval.formats.conllu.reader import stated_heads
from corefeval.formats.conllu.tokens import ConlluLines
from corefeval.linting.findings import Finding, Locator
from corefeval.model import Tokens
from corefeval.model.arrays import IntArray
from corefeval.model.ledger import Entry, Ledger
from corefeval.model.relations import bridging_pairs, find_elements
from corefeval.model.tokens import documents_of_tokens
from corefeval.pairing.node_alignment import encode_id

_NO_DEPENDENCIES = ("", "_")
_ROOT = encode_id("0")
_NAMED = 3


def matching_findings(locator: Locator) -> Iterator[Finding]:
    """Findings about heads, minimum spans and empty nodes that matching cannot use."""
    if locator.corpus.labels is not None:
        return
    yield from _find_heads(locator)
    yield from _find_minima(locator)
    tokens = locator.corpus.tokens
    if tokens is not None and {"empty", "number", "deps"} <= {*tokens.columns}:
        yield from _find_dependencies(locator, tokens)


def _find_heads(locator: Locator) -> Iterator[Finding]:
    """Stated heads of a CoNLL-U file that are missing or not in their mentions."""
    corpus = locator.corpus
    lines = None if corpus.tokens is None else corpus.tokens.lines
    if not isinstance(lines, ConlluLines) or not corpus.n_mentions:
        return
    if corpus.mention_head is None:
        if (np.asarray(corpus.mention_end) - corpus.mention_start > 1).any():
            yield locator.about_file("no-heads", "‘# global.Entity’ names no head")
        return
    rows: dict[tuple[int, int, int], int] = {}
    columns = (corpus.mention_document, corpus.mention_start, corpus.mention_end)
    for number, place in enumerate(zip(*(np.asarray(c).tolist() for c in columns), strict=True)):
        rows.setdefault(place, number)
    for document, start, end, text in stated_heads(lines):
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
    """Minimum spans (`minspan`) with numbers of tokens that their mentions do not have."""
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
                message = f"{excerpt(entry, 30)} is not of the form parent:relation"
            elif sentence >= 0 and number not in ids(sentence):
                message = f"{excerpt(entry, 30)}: the sentence has no {excerpt(parent, 20)}"
            else:
                continue
            yield locator.about_document("unknown-parent", document, message, position)


def relation_findings(locator: Locator) -> Iterator[Finding]:
    """All findings about relations."""
    if len(locator.corpus.relations):
        yield from _find_odd_sets(locator)
        yield from _find_odd_bridging(locator)


def _find_odd_sets(locator: Locator) -> Iterator[Finding]:
    """Findings about sets of one element, circular sets, and elements without mentions."""
    corpus = locator.corpus
    elements = find_elements(corpus)
    if not elements:
        return
    entities, rows = np.unique(corpus.mention_entity, return_index=True)
    first = dict(zip(entities.tolist(), rows.tolist(), strict=True))
    circle = _circles(elements, corpus.n_entities)
    for entity, parts in elements.items():
        members = sorted(parts - {entity})
        if entity not in first:
            continue
        if entity in parts:
            message = f"entity {_name(locator, entity)} is an element of itself"
            yield locator.about_mention("self-reference", first[entity], message)
        if len(members) == 1:
            message = f"entity {_name(locator, entity)} is a set of "
            message += f"{_name(locator, members[0])} alone"
            yield locator.about_mention("set-of-one", first[entity], message)
        around = [member for member in members if circle[member] == circle[entity]]
        if around:
            message = f"entity {_name(locator, entity)} has an element, {_name(locator, around[0])}"
            message += ", that leads back to it"
            yield locator.about_mention("circular-set", first[entity], message)
        gone = [_name(locator, member) for member in members if member not in first]
        if gone:
            message = f"no mention of {', '.join(gone[:_NAMED])}"
            message += f" and {plural(len(gone) - _NAMED, 'more')}" if len(gone) > _NAMED else ""
            yield locator.about_mention("unmentioned-entity", first[entity], message)


def _name(locator: Locator, entity: int) -> str:
    names = locator.corpus.names
    return excerpt(str(entity) if names is None else names[entity], 30)


def _circles(elements: dict[int, set[int]], number: int) -> IntArray:
    """A number for each entity, the same for those that lead to each other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = [(entity, element) for entity in elements for element in elements[entity]]
    columns = np.array(pairs).reshape(-1, 2).T
    table = coo_array((np.ones(len(pairs)), columns), shape=(number, number))
    labels: IntArray = connected_components(table, connection="strong")[1]
    return labels


def _find_odd_bridging(locator: Locator) -> Iterator[Finding]:
    """Findings about bridging to the entity of the anaphor, and about repeated pairs."""
    corpus = locator.corpus
    pairs = bridging_pairs(corpus)
    seen = set()
    columns = (pairs.anaphor, pairs.antecedent, pairs.entity)
    rows = zip(*(column.tolist() for column in columns), pairs.label.values(), strict=True)
    for anaphor, antecedent, entity, label in rows:
        if (pair := (anaphor, antecedent, entity, label)) in seen:
            message = f"bridging to entity {_name(locator, entity)} again"
            yield locator.about_mention("repeated-relation", anaphor, message)
        elif corpus.mention_entity[anaphor] == entity:
            message = f"bridges to its own entity, {_name(locator, entity)}"
            yield locator.about_mention("self-reference", anaphor, message)
        seen.add(pair)


def answer_findings(ledger: Ledger, file: str) -> Iterator[Finding]:
    """A finding for each mention that was lost, changed, repeated or repaired, with its words.

    Also one for each document whose answer ends early or cannot be read at all.
    """
    for entry in ledger.entries:
        kind = _kind(entry)
        if kind:
            yield _finding(kind, entry, file, entry.why or entry.state)
        if entry.places > 1 and entry.state != "lost":
            message = f"occurs {entry.places:,} times in the text"
            yield _finding("llm-ambiguous", entry, file, message)
    written = {entry.document for entry in ledger.entries}
    for answer in ledger.documents:
        if answer.document not in written:
            message = (
                f"nothing can be read ({answer.finish})" if answer.finish else "nothing can be read"
            )
            yield Finding("llm-refusal", message, file, document=answer.document)
        elif answer.ends_early or answer.finish == "length":
            share = answer.reached / max(answer.tokens, 1)
            tokens = f"{answer.reached:,} of {answer.tokens:,} tokens ({share:.0%})"
            message = f"the answer ends after {tokens}"
            message += f"; it says {answer.finish}" if answer.finish else ""
            yield Finding("llm-cut", message, file, document=answer.document)


def _kind(entry: Entry) -> str:
    if entry.state == "lost":
        return "llm-invented" if "not in the document" in entry.why else "llm-lost"
    if entry.state == "repeated":
        return "llm-repeated"
    mended = ("never closed", "never opened", "another number")
    if any(words in entry.why for words in mended):
        return "llm-unclosed"
    return "llm-changed" if entry.state == "changed" else ""


def _finding(kind: str, entry: Entry, file: str, message: str) -> Finding:
    span = (entry.start, entry.end) if entry.is_placed else None
    place = f"of entity {excerpt(entry.entity)}, at character {entry.where:,} of the answer"
    message = f"{place}: {message}"
    return Finding(kind, message, file, document=entry.document, span=span, text=entry.written)
