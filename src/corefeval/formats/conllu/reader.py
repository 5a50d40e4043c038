"""Reading CorefUD: lines and documents first, then the brackets of all of them at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import Notice, excerpt, note
from corefeval.formats.conllu.mentions import Mentions, find_mentions
from corefeval.formats.conllu.scan import (
    Documents,
    Header,
    Scan,
    attributes,
    find_documents,
    scan_lines,
)
from corefeval.formats.conllu.tokens import ConlluLines, SentenceComments
from corefeval.formats.source import Oddity, Source
from corefeval.model import BRIDGING, NO_RELATIONS, SPLIT, Corpus, Relation, Relations
from corefeval.model.arrays import IntArray, integers, plain_rows
from corefeval.model.builder import note_unresolved
from corefeval.model.categories import LazyArray, LazyColumns, tabulate
from corefeval.model.construction import assemble

_RELATION = re.compile(r"([^<,]+)<([^,:]+)(?::([^,]*))?")
# Attributes with relations, and whether these are split antecedents. The last is of older GUM.
_RELATION_KEYS = ((b"Bridge=", False), (b"SplitAnte=", True), (b"Split=", True))


def read_conllu(source: Source, *, name: str = "", oddities: list[Oddity] | None = None) -> Corpus:
    """Read documents, tokens, entities, mentions, bridging and split antecedents.

    Relations that cannot be used are counted in a notice; `oddities`, where given, get their lines.
    """
    scan = scan_lines(source)
    documents = find_documents(source, scan)
    if not documents.identifiers:
        raise source.error(
            "there is no sentence in the file",
            expected="CoNLL-U: ten columns, separated by tabs",
            fix="check that this is the right file, and its format",
        )
    lines = ConlluLines(source, scan, documents.first, documents.counts)
    description = "not numbered 1, 2, 3, …; the order of lines counts"
    notices = [*note("word-ids", scan.misnumbered.size, "word", description, whose=source.file)]
    mentions = find_mentions(source, scan, documents, notices)
    headers = [header or Header() for header in documents.headers]
    has_heads = any("head" in header.fields for header in headers)
    document = mentions.document
    corpus = assemble(
        documents=tuple(documents.identifiers),
        mention_document=document,
        entity=mentions.entity,
        start=mentions.start - documents.first[document],
        end=mentions.end - documents.first[document],
        head=LazyArray(partial(_heads, documents, headers, mentions)) if has_heads else None,
        features=LazyColumns(partial(_fields, headers, mentions)),
        gaps=mentions.gaps - np.outer(documents.first[document[mentions.gaps[:, 0]]], [0, 1, 1]),
        tokens=lines.tokens(),
        name=name or source.file,
    )
    corpus = corpus.with_details(names=mentions.names, names_hold=True)
    return corpus.with_details(
        metadata=tuple(documents.metadata),
        sentence_metadata=tuple(SentenceComments(lines, i) for i in range(len(headers))),
        relations=_relations(source, scan, documents, corpus, notices, oddities),
        notices=tuple(notices),
    )


def _fields(headers: Sequence[Header], mentions: Mentions) -> dict[str, NDArray[Any]]:
    """The fields of the brackets as features of mentions."""
    pairs = plain_rows(mentions.document, mentions.text)
    return tabulate([headers[index].values(text) for index, text in pairs])


def _heads(documents: Documents, headers: Sequence[Header], mentions: Mentions) -> IntArray:
    """Head positions in the document, as the head field states them; −1 where it states none."""
    gaps: dict[int, list[tuple[int, int]]] = {}
    for row, start, end in mentions.gaps.tolist():
        gaps.setdefault(row, []).append((start, end))
    numbers = integers(_head_numbers(headers, mentions))
    heads = mentions.start + numbers - 1
    heads[(numbers < 1) | (heads >= mentions.end)] = -1
    for row, holes in gaps.items():
        for start, end in holes:
            heads[row] += end - start if heads[row] >= start else 0
    heads[heads >= mentions.end] = -1
    return np.where(heads >= 0, heads - documents.first[mentions.document], -1)


def stated_heads(lines: ConlluLines) -> Iterator[tuple[int, int, int, str]]:
    """Document, start, end and head field of each mention that has such a field in its header.

    Documents, and positions in them, are those of the file as it was read.
    """
    documents = find_documents(lines.origin, lines.scan)
    mentions = find_mentions(lines.origin, lines.scan, documents, [])
    first = documents.first[mentions.document]
    columns = (mentions.document, mentions.start - first, mentions.end - first)
    rows = plain_rows(*columns, mentions.text)
    for document, start, end, text in rows:
        header = documents.headers[document]
        field = None if header is None else header.head_field(text)
        if field is not None:
            yield document, start, end, field


def _head_numbers(headers: Sequence[Header], mentions: Mentions) -> list[int]:
    """The number in the head field of each mention, counted from 1; 0 for none."""
    numbers = []
    for document, text in plain_rows(mentions.document, mentions.text):
        number = (headers[document].head_field(text) or "").partition(",")[0]
        plain = number.isascii() and number.isdigit() and len(number) < 10
        numbers.append(int(number) if plain else 0)
    return numbers


class _RelationAttribute(NamedTuple):
    """The relations in an attribute of a token: its document and position, line, and texts."""

    document: int
    position: int
    line: int
    texts: list[str]
    is_split: bool


def _relation_attributes(
    source: Source, scan: Scan, documents: Documents
) -> Iterator[_RelationAttribute]:
    """All attributes with relations, key by key; lines are counted from 0."""
    for key, is_split in _RELATION_KEYS:
        tokens, values = attributes(scan, key)
        owners = np.searchsorted(documents.first, tokens, side="right") - 1
        positions = tokens - documents.first[owners]
        lines = scan.token_line[tokens].tolist()
        places = plain_rows(owners, positions, lines, values)
        for document, position, line, value in places:
            texts = list(filter(None, source.decode(value).split(",")))
            yield _RelationAttribute(document, position, line, texts, is_split)


def _resolve_relations(
    source: Source,
    attribute: _RelationAttribute,
    entities: Mapping[tuple[int, str], int],
    oddities: list[Oddity],
) -> Iterator[tuple[int | None, int | None, str]]:
    """Antecedent, anaphor and label of each relation in an attribute; None for unknown entities.

    `oddities` get what is wrong with them.
    """
    seen = set()
    for text in attribute.texts:
        line, shown = source.line(attribute.line), excerpt(text, 40)
        match = _RELATION.fullmatch(text)
        if match is None:
            message = f"{shown} is not a relation of two entities, such as e1<e2"
            oddities.append(Oddity("unmentioned-entity", line, message))
            yield None, None, ""
            continue
        antecedent, anaphor = (entities.get((attribute.document, match[n])) for n in (1, 2))
        if attribute.is_split and text in seen:
            oddities.append(Oddity("repeated-relation", line, f"{shown} again"))
        seen.add(text)
        if antecedent is None or anaphor is None:
            missing = excerpt(match[1 if antecedent is None else 2], 30)
            message = f"{shown}: no mention of {missing}"
            oddities.append(Oddity("unmentioned-entity", line, message))
        yield antecedent, anaphor, match[3] or ""


def _relations(
    source: Source,
    scan: Scan,
    documents: Documents,
    corpus: Corpus,
    notices: list[Notice],
    oddities: list[Oddity] | None,
) -> Relations:
    """Bridging, of the mention that opens on the token; split antecedents, of entities."""
    stated = [*_relation_attributes(source, scan, documents)]
    if not stated:
        return NO_RELATIONS
    named = plain_rows(corpus.entity_document, corpus.names or ())
    entities = {name: number for number, name in enumerate(named)}
    starts = np.asarray(corpus.mention_start).tolist()
    keyed = plain_rows(corpus.mention_entity, starts)
    opening = {key: row for row, key in enumerate(keyed)}  # the last one that opens there
    relations: list[Relation] = []
    sets: dict[tuple[int, int], list[tuple[int, int]]] = {}
    unresolved = 0
    noted = [] if oddities is None else oddities
    for attribute in stated:
        resolved = _resolve_relations(source, attribute, entities, noted)
        for antecedent, anaphor, label in resolved:
            if antecedent is None or anaphor is None:
                unresolved += 1
            elif attribute.is_split:
                sets.setdefault((anaphor, -1), []).append((antecedent, -1))
            else:
                mention = (anaphor, opening.get((anaphor, attribute.position), -1))
                relations.append(Relation(BRIDGING, mention, ((antecedent, -1),), label))
    notices += note_unresolved(unresolved, source.file)
    relations += [Relation(SPLIT, anaphor, tuple(sets[anaphor])) for anaphor in sets]
    return Relations.of(relations)
