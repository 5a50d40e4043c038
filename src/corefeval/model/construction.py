"""Corpora made from arrays and from plain Python."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corefeval.diagnostics import InputError, Notice
from corefeval.model.arrays import IntArray, all_zero, dense_ranks, is_sorted, stable_order
from corefeval.model.categories import LazyArray, LazyNames
from corefeval.model.corpus import NO_GAPS, Corpus, DocumentId
from corefeval.model.relations import NO_RELATIONS, Relations
from corefeval.model.tokens import Tokens


def corpus_from_arrays(
    *,
    entity: ArrayLike,
    start: ArrayLike,
    end: ArrayLike | None = None,
    document: ArrayLike | None = None,
    document_ids: Sequence[DocumentId | str] | None = None,
    head: ArrayLike | None = None,
    features: Mapping[str, ArrayLike] | None = None,
    tokens: Tokens | None = None,
    name: str = "",
) -> Corpus:
    """A corpus from one array per mention property.

    `entity` numbers are unique within a document; equal numbers in other documents are the same
    entity only where a protocol says so (`across`). `start` and `end` are token positions, end
    exclusive, `start + 1` by default; `document` numbers index `document_ids` and may be left out
    for a single document; `head` is the position of each head token, `features` any other property
    of mentions. Mentions may come in any order.

    >>> corpus = corpus_from_arrays(entity=[0, 1, 0], start=[0, 4, 7], end=[2, 5, 8])
    >>> corpus.n_entities, corpus[0].mentions[0].positions
    (2, (0, 1))
    """
    entities = _integers("entity", entity)
    starts = _integers("start", start, entities.size)
    ends = starts + 1 if end is None else _integers("end", end, entities.size)
    _check_spans(starts, ends)
    documents = None if document is None else _integers("document", document, entities.size)
    identifiers = _identify_documents(document_ids, documents, entities.size)
    return assemble(
        documents=identifiers,
        mention_document=documents,
        entity=entities,
        start=starts,
        end=ends,
        head=None if head is None else _integers("head", head, entities.size),
        features={
            key: _array(key, values, entities.size) for key, values in (features or {}).items()
        },
        tokens=tokens,
        name=name,
        names_hold=True,
    )


def _check_spans(starts: IntArray, ends: IntArray) -> None:
    bad = (starts < 0) | (ends <= starts)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"mention {row} spans no tokens",
            found=f"start {starts[row]}, end {ends[row]}",
            expected="0 <= start < end (end exclusive)",
        )


def _identify_documents(
    document_ids: Sequence[DocumentId | str] | None, documents: IntArray | None, n_mentions: int
) -> tuple[DocumentId, ...]:
    """The ids of documents, made of their numbers where there are none.

    `documents` has the number of each mention's document; an InputError where it has no id.
    """
    numbers = all_zero(1) if documents is None or not n_mentions else documents
    lowest, highest = int(numbers.min()), int(numbers.max())
    if document_ids is not None:
        identifiers = tuple(
            value if isinstance(value, DocumentId) else DocumentId.parse(str(value))
            for value in _iterate(document_ids, "document_ids is", "a list of ids")
        )
    elif highest > 10 * n_mentions + 1000:
        raise InputError(
            f"there is a document {highest}, but only {n_mentions} mentions",
            fix="number documents from 0 without gaps, or give document_ids",
        )
    elif documents is None:
        identifiers = (DocumentId(""),)
    else:
        identifiers = tuple(DocumentId(str(number)) for number in range(highest + 1))
    _check_document_ids(identifiers)
    if n_mentions and (highest >= len(identifiers) or lowest < 0):
        limit = f", and below {len(identifiers)} for as many document ids" if lowest >= 0 else ""
        raise InputError(
            "mentions belong to a document that does not exist",
            found=f"document {min(lowest, 0) or highest}",
            expected="a number from 0" + limit,
        )
    return identifiers


def assemble(
    *,
    documents: tuple[DocumentId, ...],
    mention_document: IntArray | None,
    entity: IntArray,
    start: IntArray,
    end: IntArray,
    head: IntArray | LazyArray | None = None,
    features: Mapping[str, NDArray[Any]] | None = None,
    tokens: Tokens | None = None,
    name: str = "",
    gaps: IntArray = NO_GAPS,
    relations: Relations = NO_RELATIONS,
    names_hold: bool = False,
    entity_layer: IntArray | None = None,
) -> Corpus:
    """Put checked arrays into the corpus' order and number the entities.

    `relations` are by rows of these arrays, and with `entity_layer` by the numbers that entities
    will have: ascending by document, then by `entity`. With `names_hold` entities are called by
    their numbers.
    """
    if len(documents) == 1:
        mention_document = None
    numbers = LazyNames(partial(_entity_numbers, mention_document, entity))
    built = Corpus(
        documents=documents,
        entity_document=entity[:0],
        mention_entity=entity,
        mention_start=start,
        mention_end=end,
        mention_head=head,
        features={} if features is None else features,
        gaps=gaps,
        tokens=tokens,
        names=numbers if names_hold else None,
        names_hold=names_hold,
        relations=relations,
        entity_layer=entity_layer,
        name=name,
    )
    return number_entities(built, mention_document, entity)


def number_entities(corpus: Corpus, document: IntArray | None, entity: IntArray) -> Corpus:
    """The corpus with its mentions in these documents and entities, and in order.

    `entity` numbers may be any; mentions with the same one in the same document are an entity. The
    document may be None where there is only one. What the corpus says of its entities must fit the
    new numbers already.
    """
    numbers, distinct = dense_ranks(entity)
    entity_document = all_zero(distinct.size)
    if document is not None and len(corpus.documents) != 1:
        width = max(int(distinct.size), 1)
        numbers, codes = dense_ranks(document * width + numbers)
        entity_document = codes // width
    numbered = replace(corpus, entity_document=entity_document, mention_entity=numbers)
    if numbered.labels is None:
        return in_textual_order(numbered)
    # Plain mentions stand entity by entity: they have no other order.
    return numbered.take_mentions(stable_order(numbers))


def _entity_numbers(document: IntArray | None, entity: IntArray) -> list[str]:
    """The numbers that the caller gave to entities, as texts, in the order of the corpus."""
    ranks, distinct = dense_ranks(entity)
    if document is not None:
        width = max(int(distinct.size), 1)
        _, codes = dense_ranks(document * width + ranks)
        distinct = distinct[codes % width]
    return list(map(str, distinct.tolist()))


def corpus_from_entities(entities: object, *, name: str = "") -> Corpus:
    """A corpus from plain Python: entities of one document, or a mapping from document ids to them.

    An entity is an iterable of hashable mentions in textual order (lists of two or three numbers,
    as JSON has them, count as tuples).

    >>> corpus = corpus_from_entities({"essay": [["Ada", "she"], ["it"]]})
    >>> [[m.text for m in entity.mentions] for entity in corpus["essay"].entities]
    [['Ada', 'she'], ['it']]
    """
    documents = entities if isinstance(entities, Mapping) else {"": entities}
    identifiers = _identifiers(documents)
    side = f"the {name}" if name else "the input"
    read = []
    for identifier, document in zip(identifiers, documents.values(), strict=True):
        where = f"document {identifier.name!r}" if identifier.name else side
        read.append(_read_document(document, where))
    return _from_plain(identifiers, read, name)


class PlainDocument(NamedTuple):
    """The mentions of a document in plain Python, entity by entity, and how many each has."""

    sizes: list[int]
    labels: list[Hashable]
    notices: list[Notice]


def is_plain(entities: object) -> bool:
    """Whether these are the entities of one document, lists, sets or arrays in a list."""
    return type(entities) in (list, tuple) and _ENTITIES.issuperset(map(type, entities))  # type: ignore[call-overload]


def read_plain(entities: object, identifier: str) -> PlainDocument | None:
    """The entities of one document, as `corpus_from_entities` takes them; None for anything else.

    Raises an InputError where a mention is none.
    """
    return _read_document(entities, f"document {identifier!r}") if is_plain(entities) else None


def corpus_from_plain(documents: Mapping[str, PlainDocument], *, name: str = "") -> Corpus:
    """A corpus of what `read_plain` gave, by the ids of the documents."""
    return _from_plain(_identifiers(documents), list(documents.values()), name)


def _identifiers(documents: Iterable[object]) -> tuple[DocumentId, ...]:
    identifiers = tuple(
        key if isinstance(key, DocumentId) else DocumentId.parse(str(key)) for key in documents
    )
    _check_document_ids(identifiers)
    return identifiers


def _read_document(document: object, where: str) -> PlainDocument:
    if type(document) is not list:
        document = list(_iterate(document, f"{where} is", "a list of entities"))
    notices = _flat_spans(document, where)
    if not _GROUPS.issuperset(map(type, document)):
        subject = f"an entity of {where} is"
        document = [list(_iterate(entity, subject, "a list of mentions")) for entity in document]
    sizes, labels = list(map(len, document)), list(chain.from_iterable(document))
    if not _are_plain(labels):
        labels = [_label(mention, where) for mention in labels]
    return PlainDocument(sizes, labels, notices)


def _from_plain(
    identifiers: tuple[DocumentId, ...], documents: Sequence[PlainDocument], name: str
) -> Corpus:
    sizes = [size for document in documents for size in document.sizes if size]
    numbers = [len(document.sizes) - document.sizes.count(0) for document in documents]
    return Corpus(
        documents=identifiers,
        entity_document=np.arange(len(numbers)).repeat(numbers),
        mention_entity=np.arange(len(sizes)).repeat(sizes),
        labels=list(chain.from_iterable([document.labels for document in documents])),
        name=name,
        notices=tuple(notice for document in documents for notice in document.notices),
    )


_GROUPS = frozenset((list, tuple, set, frozenset))
_ENTITIES = _GROUPS | {np.ndarray}
_ATOMS = frozenset((int, str))


def _are_plain(labels: Sequence[Any]) -> bool:
    """Whether all labels are numbers, strings or tuples of these, which need no further look."""
    kinds = set(map(type, labels))
    if kinds != {tuple}:
        return kinds <= _ATOMS
    return _ATOMS.issuperset(map(type, chain.from_iterable(labels)))


def _flat_spans(entities: Sequence[object], where: str) -> list[Notice]:
    """Refuse tuples of numbers in the place of entities; lists of two numbers may be entities."""
    first = entities[0] if entities else None
    if isinstance(first, np.ndarray):
        entities = [
            entity.tolist() if isinstance(entity, np.ndarray) else entity for entity in entities
        ]
        first = entities[0]
    if not isinstance(first, tuple | list) or len(first) not in (2, 3) or not _are_numbers(first):
        return []
    if not all(
        isinstance(entity, type(first)) and len(entity) == len(first) and _are_numbers(entity)
        for entity in entities
    ):
        return []
    fix = "put the spans of each entity into a list: [[(0, 1), (3, 4)], [(6, 6)]]"
    if isinstance(first, tuple):
        raise InputError(
            f"an entity of {where} is a tuple of {len(first)} numbers, like a span",
            found=f"{first!r:.60}",
            expected="a list of entities, each a list of mentions",
            fix=f"{fix}; numbers that are mentions go into a list: [[0, 1], [3, 4]]",
        )
    pairs = cast("Sequence[tuple[int, int]]", entities)
    if len(first) != 2 or len(pairs) < 2 or any(start > end for start, end in pairs):
        return []
    message = f"{where}: every entity has two numbers as its mentions; if these are spans, {fix}"
    return [Notice("flat-spans", message, len(entities))]


def _are_numbers(values: Iterable[object]) -> bool:
    return all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in values)


def _iterate(value: object, subject: str, expected: str) -> Iterable[Any]:
    try:
        if not isinstance(value, str | bytes | Mapping):
            return iter(value)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        pass
    raise InputError(
        f"{subject} no list", found=f"{type(value).__name__} {value!r:.60}", expected=expected
    )


def _label(mention: Any, where: str) -> Hashable:
    """A mention as a value that can be compared; an InputError for one that cannot."""
    try:
        if isinstance(mention, np.ndarray | np.generic):
            mention = mention.tolist()
        if isinstance(mention, list):  # two or three numbers, as JSON has spans
            if len(mention) not in (2, 3) or not all(isinstance(n, int) for n in mention):
                raise TypeError
            mention = tuple(mention)
        elif (
            isinstance(mention, tuple | frozenset)
            and mention
            and all(isinstance(part, tuple | list | set | frozenset) for part in mention)
        ):
            raise TypeError
        hash(mention)
    except (TypeError, RecursionError):
        raise InputError(
            f"a mention of {where} cannot be compared with others",
            found=f"{type(mention).__name__} {mention!r:.60}",
            expected="a hashable value: a number, a string, a tuple such as (start, end)",
            fix="if this is a list of documents, make it a mapping from document ids to entities; "
            "a mention of several pieces is one tuple: (start, end, start, end)",
        ) from None
    return mention  # type: ignore[no-any-return]


def _integers(name: str, values: ArrayLike, size: int | None = None) -> IntArray:
    """Values as an array of whole numbers, of this size if one is given."""
    array = _array(name, values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"‘{name}’ is not a list of whole numbers",
            found=f"values of type {array.dtype}",
            expected="one whole number per mention",
        )
    if size is not None and array.size != size:
        raise InputError(
            f"‘{name}’ differs in length from ‘entity’",
            found=f"{array.size} values",
            expected=f"{size}, one per mention",
        )
    return array.astype(np.int64, copy=False)


def _array(name: str, values: ArrayLike, size: int | None = None) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or (size is not None and array.size != size):
        raise InputError(
            f"‘{name}’ is not a list with one value per mention",
            found=f"{array.shape} values",
            expected=f"{size} values" if size is not None else "one value per mention",
        )
    return array


def _check_document_ids(identifiers: Sequence[DocumentId]) -> None:
    if len(set(identifiers)) != len(identifiers):
        twice = next(value for value in identifiers if identifiers.count(value) > 1)
        raise InputError(f"document {str(twice)!r} appears twice", fix="give each its own id")


def textual_order(
    document: IntArray | None, start: IntArray, end: IntArray, gaps: IntArray = NO_GAPS
) -> IntArray | None:
    """The order by document, start, longer span first; None where the mentions already have it.

    Of mentions with the same start and end the one with more tokens comes first, then the one whose
    first gap is later. Mentions that are equal in all of these keep the order in which they came.
    """
    if gaps.size:
        missing = np.bincount(gaps[:, 0], gaps[:, 2] - gaps[:, 1], minlength=start.size)
        first_gap = np.full(start.size, np.iinfo(np.int64).max)
        np.minimum.at(first_gap, gaps[:, 0], gaps[:, 1])
        keys = (-first_gap, missing, -end, start)
        return np.lexsort(keys if document is None else (*keys, document))
    rises = start[1:] > start[:-1]
    if document is not None:
        rises |= document[1:] > document[:-1]
    (level,) = (~rises).nonzero()  # mentions that stand where the next one does, at best
    is_ordered = (start[level + 1] == start[level]) & (end[level + 1] <= end[level])
    if is_ordered.all() and (document is None or is_sorted(document)):
        return None
    width = int((end - start).max()) + 1
    if document is None and (int(start.max()) + 1) * width < 1 << 62:
        # One number that sorts alike: on data that is nearly in order the sort is nearly linear.
        return stable_order(start * width + (width + start - end))
    return np.lexsort((-end, start) if document is None else (-end, start, document))


def in_textual_order(corpus: Corpus) -> Corpus:
    """The corpus with its mentions in textual order again, which moving may have disturbed."""
    start, end = corpus.mention_start, corpus.mention_end
    if start is None or end is None:
        return corpus
    document = corpus.mention_document if len(corpus.documents) > 1 else None
    order = textual_order(document, start, end, corpus.gaps)
    return corpus if order is None else corpus.take_mentions(order)
