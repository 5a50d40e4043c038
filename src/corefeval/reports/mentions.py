"""Mentions as short lists by document: what the text view draws."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corefeval.alignment import Side
from corefeval.analysis.errors.classification import KINDS, Classification
from corefeval.diagnostics import CorefEvalError
from corefeval.model import Corpus
from corefeval.model.arrays import FloatArray, IntArray, looked_up
from corefeval.reports.costs import Costs
from corefeval.reports.texts import DocumentText, Positions

Json = dict[str, Any]
MILLION = 1_000_000


def key_documents(errors: Classification, place: Positions, *, text: bool) -> list[Json]:
    """The text and the key's mentions of each document."""
    columns = _columns(errors.key, place) | _kinds(errors.alignment.key)
    names = _entity_names(errors.key) if text else None
    return [
        {**_text(document), **mentions, **({"names": names[index]} if names else {})}
        for index, (document, mentions) in enumerate(
            zip(place.documents, _by_document(errors.key, place, columns), strict=True)
        )
    ]


def response_documents(
    errors: Classification, place: Positions, shares: Costs, *, text: bool
) -> list[Json]:
    """The response's mentions of each document, with their errors and costs.

    `twin` is the key mention that a mention stands for (its span may be wrong), −1 for none;
    `wrong` has a bit for each kind of error. `keyWrong` and `keyCost` say the same of the key's
    mentions. Costs are in millionths; those of a side without shares are left out.
    """
    key, response = errors.key, errors.response
    wrong, key_wrong = error_bits(errors)
    first = key.mention_offsets[:-1]
    twin = errors.items.key_row[: response.n_mentions]
    twin = np.where(twin >= 0, twin - first[response.mention_document], -1)
    columns = _columns(response, place) | {"twin": twin, "wrong": wrong}
    columns |= _kinds(errors.alignment.response)
    of_key: dict[str, IntArray] = {"keyWrong": key_wrong}
    if shares.response_mentions is not None and shares.key_mentions is not None:
        columns["cost"] = _millionths(shares.response_mentions)
        of_key["keyCost"] = _millionths(shares.key_mentions)
    names = _entity_names(response) if text else None
    found = _by_document(response, place, columns)
    for index, more in enumerate(_split(of_key, key.mention_offsets)):
        found[index] |= more
    if shares.key_entities is not None and shares.response_entities is not None:
        for name, corpus, values in (
            ("keyEntityCost", key, shares.key_entities),
            ("entityCost", response, shares.response_entities),
        ):
            for index, more in enumerate(_split({name: _millionths(values)}, _entities(corpus))):
                found[index] |= more
    for index, one in enumerate(found):
        one |= {"names": names[index]} if names else {}
    return found


def error_bits(errors: Classification) -> tuple[IntArray, IntArray]:
    """The errors of each mention of the response and of the key: bit k is kind k."""
    items = errors.items
    bits = np.zeros(items.owner.size, dtype=np.int64)
    for number, kind in enumerate(KINDS):
        bits |= errors.of_kind(kind).astype(np.int64) << number
    key_bits = np.zeros(errors.key.n_mentions, dtype=np.int64)
    known = items.key_row >= 0
    key_bits[items.key_row[known]] = bits[known]
    return bits[: items.n_response], key_bits


def _columns(corpus: Corpus, place: Positions) -> dict[str, IntArray]:
    start, end = place.spans(corpus)
    first = looked_up(_entities(corpus)[:-1], corpus.mention_document)
    return {"start": start, "length": end - start, "entity": corpus.mention_entity - first}


def _entities(corpus: Corpus) -> IntArray:
    """Where each document's entities begin, and the end."""
    counts = np.bincount(corpus.entity_document, minlength=len(corpus.documents))
    return np.concatenate(([0], np.cumsum(counts)))


def _kinds(side: Side) -> dict[str, IntArray]:
    """Name, nominal or pronoun, as numbers; nothing where that is not known."""
    try:
        kinds = side.feature("kind").recoded(MENTION_KINDS)
    except (CorefEvalError, KeyError):
        return {}
    return {"kind": kinds.codes}


MENTION_KINDS = ("name", "nominal", "pronoun")


def _by_document(corpus: Corpus, place: Positions, columns: dict[str, IntArray]) -> list[Json]:
    found = _split(columns, corpus.mention_offsets)
    for row, start, end in place.gaps(corpus).tolist():  # rare
        document = int(corpus.mention_document[row])
        local = row - int(corpus.mention_offsets[document])
        found[document].setdefault("gaps", []).append([local, start, end])
    return found


def _split(columns: dict[str, IntArray], offsets: IntArray) -> list[Json]:
    lists = {name: values.tolist() for name, values in columns.items()}
    return [
        {name: values[start:end] for name, values in lists.items()}
        for start, end in pairwise(offsets.tolist())
    ]


def _entity_names(corpus: Corpus) -> list[list[str]] | None:
    """What the source calls the entities of each document."""
    if corpus.names is None:
        return None
    names = list(corpus.names)
    return [names[start:end] for start, end in pairwise(_entities(corpus).tolist())]


def _millionths(values: NDArray[np.float64] | FloatArray) -> IntArray:
    return np.rint(values * MILLION).astype(np.int64)


def _text(document: DocumentText) -> Json:
    shown: Json = {"count": document.count, "sentences": document.sentences}
    if document.words is not None:
        # A blank ends a word here, so that a text is one string; blanks in words are no-break.
        text = " ".join(document.words)
        if text.count(" ") != max(document.count - 1, 0):
            text = " ".join(word.replace(" ", "\N{NO-BREAK SPACE}") for word in document.words)
        shown["words"] = text
    if document.speakers is not None:
        shown["speakers"] = document.speakers
    if document.glued is not None:
        shown["glued"] = document.glued
    return shown
