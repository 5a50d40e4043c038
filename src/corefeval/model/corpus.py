"""The corpus: all documents' mentions in arrays, and the ids of documents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import (
    InputError,
    Notices,
    PairingError,
    excerpt,
    list_names,
    plural,
)
from corefeval.display import PlainState
from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    all_false,
    all_zero,
    find_places,
    integers,
    offsets_of,
    ragged_arange,
    stable_order,
    unset,
)
from corefeval.model.categories import LazyArray, LazyNames, take_columns
from corefeval.model.relations import NO_RELATIONS, Relations
from corefeval.model.token_tables import select_tokens
from corefeval.model.tokens import Tokens

if TYPE_CHECKING:
    from corefeval.model.ledger import Ledger
    from corefeval.model.moving import OwnText
    from corefeval.model.views import Document

T = TypeVar("T")

NO_GAPS: IntArray = np.empty((0, 3), dtype=np.int64)
IDENTITY, DEIXIS, NON_REFERRING = range(3)
LAYERS = ("identity", "deixis", "non-referring")
# The fields of a corpus that have a number for each mention.
MENTION_COLUMNS = (
    "mention_entity",
    "mention_start",
    "mention_end",
    "mention_head",
    "mention_origin",
)


class DocumentId(NamedTuple):
    """A document's name and part; two documents pair when both are equal.

    >>> str(DocumentId("bc/cctv_0000", 1))
    'bc/cctv_0000; part 001'
    >>> str(DocumentId("essay"))
    'essay'
    """

    name: str
    part: int | None = None

    @staticmethod
    def parse(text: str) -> DocumentId:
        """An id from its text: `bc/cctv_0000; part 001`, or a name without a part.

        >>> DocumentId.parse("bc/cctv_0000; part 001")
        DocumentId(name='bc/cctv_0000', part=1)
        """
        name, _, part = text.rpartition("; part ")
        if name and part.isascii() and part.isdigit() and len(part) < 19:
            return DocumentId(name, int(part))
        return DocumentId(text)

    def __str__(self) -> str:
        return self.name if self.part is None else f"{self.name}; part {self.part:0>3}"


class FileName(str):
    """The name of a document that nothing in its file names: that of the file, perhaps numbered."""

    def __add__(self, ending: str, /) -> FileName:
        """The name with an ending, which is still that of a nameless document."""
        return FileName(super().__add__(ending))


@dataclass(frozen=True, eq=False, kw_only=True)
class Corpus(PlainState):
    """Entities and mentions of many documents, one array per property.

    Entities are numbered through the whole corpus, document by document; mentions too, in textual
    order (start ascending, then the longer span first) where they have positions and in each
    entity's own order where they have only labels.

    A mention is a set of token positions: `mention_start` up to but not including `mention_end`,
    less its `gaps` (rows of mention, start, end), which are rare. A corpus made of plain Python
    mentions has `labels` instead of positions. `mention_head` is the position of each head token
    (−1 where unknown) and `features` has an array per mention property that the source states;
    `names` are what the source calls the entities, where it calls them anything; with `names_hold`
    these are ids that hold across documents: equal names there may be the same entity.
    `mention_origin` numbers the documents that mentions come from, where documents were merged.
    `entity_layer` says where entities are no identity of things but discourse deixis, or mentions
    that refer to nothing (`IDENTITY`, `DEIXIS`, `NON_REFERRING`); None where all are identity.
    `metadata` (per document), `sentence_metadata` (per document and sentence) and `relations`
    (bridging, split antecedents) are kept where a format has them. `ledger` says what became of
    mentions that were written in words, where these had to be placed. `own_text` says where
    mentions stand in the text of their file, where they were put on an axis with another text.
    """

    documents: tuple[DocumentId, ...]
    entity_document: IntArray
    mention_entity: IntArray
    mention_start: IntArray | None = None
    mention_end: IntArray | None = None
    gaps: IntArray = field(default_factory=NO_GAPS.copy)
    labels: Sequence[Hashable] | None = None
    mention_head: IntArray | LazyArray | None = None
    features: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    tokens: Tokens | None = None
    names: Sequence[str] | None = None
    names_hold: bool = False
    mention_origin: IntArray | None = None
    entity_layer: IntArray | None = None
    metadata: Sequence[Mapping[str, str]] = ()
    sentence_metadata: Sequence[Sequence[Mapping[str, str]]] = ()
    relations: Relations = NO_RELATIONS
    name: str = ""
    notices: Notices = ()
    ledger: Ledger | None = None
    own_text: OwnText | None = None

    def __repr__(self) -> str:
        return (
            f"<Corpus {self.name!r}: {plural(len(self.documents), 'document')}, "
            f"{plural(self.n_entities, 'entity')}, {plural(self.n_mentions, 'mention')}>"
        )

    def remember(self, name: str, make: Callable[[], T], *, of: object = None) -> T:
        """A value derived from this corpus, made once, and left out when the corpus is pickled.

        Where it also depends on something else (`of`, the same object or an equal tuple), what was
        made last is kept.
        """
        kept = vars(self).setdefault("_kept", {})
        entry = kept.get(name)
        if entry is None or not (entry[0] is of or (isinstance(of, tuple) and entry[0] == of)):
            entry = kept[name] = of, make()
        value: T = entry[1]
        return value

    @property
    def n_mentions(self) -> int:
        """How many mentions there are in all documents together."""
        return int(self.mention_entity.size)

    @property
    def n_entities(self) -> int:
        """How many entities there are in all documents together."""
        return int(self.entity_document.size)

    @cached_property
    def mention_document(self) -> IntArray:
        """The document of each mention."""
        if len(self.documents) == 1:
            return all_zero(self.n_mentions)
        return self.entity_document[self.mention_entity]

    @cached_property
    def entity_sizes(self) -> IntArray:
        """The number of mentions of each entity."""
        return np.bincount(self.mention_entity, minlength=self.n_entities)

    @cached_property
    def mention_offsets(self) -> IntArray:
        """Where each document's mentions begin, and the end: document d has [d] up to [d + 1]."""
        counts = np.bincount(self.mention_document, minlength=len(self.documents))
        return offsets_of(counts)

    @cached_property
    def entity_offsets(self) -> IntArray:
        """Where each document's entities begin, and the end: document d has [d] up to [d + 1]."""
        return offsets_of(np.bincount(self.entity_document, minlength=len(self.documents)))

    @cached_property
    def gaps_of(self) -> dict[int, list[tuple[int, int]]]:
        """Start and end of the gaps of each mention that has any, in textual order."""
        gaps: dict[int, list[tuple[int, int]]] = {}
        for row, start, end in sorted(self.gaps.tolist()):
            gaps.setdefault(row, []).append((start, end))
        return gaps

    @property
    def on_own_text(self) -> Corpus:
        """The corpus with its mentions in the text of their own file."""
        return self if self.own_text is None else self.remember("own text", self._move_back)

    def _move_back(self) -> Corpus:
        assert self.own_text is not None
        names = ("mention_start", "mention_end", "gaps", "mention_head", "tokens", "own_text")
        return replace(self, **{name: getattr(self.own_text.corpus, name) for name in names})

    @property
    def is_aligned(self) -> BoolArray:
        """In which documents mentions are compared on another axis than that of their tokens."""
        if self.own_text is None or self.tokens is None:
            return all_false(len(self.documents))
        return np.not_equal(self.tokens.counts, self.own_text.tokens.counts)

    def find_axis_heads(self, heads: IntArray) -> IntArray:
        """Where heads, given by their positions in the corpus's own text, are compared."""
        return (
            heads
            if self.own_text is None
            else self.own_text.find_units(self.mention_document, heads)
        )

    @cached_property
    def _document_index(self) -> dict[DocumentId, int]:
        return {identifier: index for index, identifier in enumerate(self.documents)}

    def keep_layer(self, layer: int) -> Corpus:
        """The mentions of one layer as if there were no other; entities keep their numbers.

        Relations of its entities stay, those to entities of other layers among them, which have no
        mentions any more.
        """
        layers = self.entity_layer
        if layers is None and layer == IDENTITY:
            return self
        kept = self.keep_mentions(self.mention_layer == layer)
        of_layer = np.flatnonzero((0 if layers is None else layers[kept.relations.entity]) == layer)
        relations = kept.relations.take(of_layer) if len(kept.relations) else kept.relations
        return replace(kept, entity_layer=None, relations=relations)

    @property
    def mention_layer(self) -> IntArray:
        """The layer of each mention."""
        if self.entity_layer is None:
            return all_zero(self.n_mentions)
        return self.entity_layer[self.mention_entity]

    @property
    def non_referring(self) -> BoolArray:
        """Which entities refer to nothing."""
        if self.entity_layer is None:
            return all_false(self.n_entities)
        return np.asarray(self.entity_layer == NON_REFERRING)

    def keep_mentions(self, keep: BoolArray) -> Corpus:
        """The corpus without the mentions where `keep` is false; entities keep their numbers."""
        return self.take_mentions(np.flatnonzero(keep))

    def select_documents(
        self, old: IntArray, identifiers: Sequence[DocumentId] | None = None
    ) -> Corpus:
        """The corpus with document `old[d]` in place d, and an empty one where that is −1."""
        names = identifiers or [self.documents[index] for index in old.tolist()]
        new = unset(len(self.documents))
        present = old >= 0
        new[old[present]] = np.flatnonzero(present)
        entity_target = new[self.entity_document]
        kept_entities = np.flatnonzero(entity_target >= 0)
        entity_order = kept_entities[stable_order(entity_target[kept_entities])]
        entity_rank = find_places(entity_order, self.n_entities)
        starts = self.mention_offsets[old[present]]
        rows = ragged_arange(starts, self.mention_offsets[old[present] + 1] - starts)
        corpus = self.take_mentions(rows)
        entities = self.names
        return replace(
            corpus,
            documents=tuple(names),
            entity_document=entity_target[entity_order],
            mention_entity=entity_rank[corpus.mention_entity],
            metadata=_pick_or_empty(self.metadata, old, {}),
            sentence_metadata=_pick_or_empty(self.sentence_metadata, old, ()),
            relations=corpus.relations.on_entities(entity_rank),
            tokens=None if self.tokens is None else select_tokens(self.tokens, old),
            names=None if entities is None else _pick_names(entities, entity_order),
            entity_layer=None if self.entity_layer is None else self.entity_layer[entity_order],
            ledger=self.ledger and self.ledger.select(list(map(str, names))),
            own_text=self.own_text and self.own_text.select(old),
        )

    def choose_documents(self, pattern: str) -> Corpus:
        """The documents whose id or name a glob matches; an error where there are none."""
        if pattern == "*":
            return self
        return self.select_documents(match_documents(self.documents, pattern, self.name))

    def with_details(self, **details: Any) -> Corpus:
        """The corpus with other names, metadata, relations or notices."""
        return replace(self, **details)

    def take_mentions(self, rows: IntArray) -> Corpus:
        """The mentions of these rows, in this order; entities keep their numbers."""
        gaps, relations = self.gaps, self.relations
        if gaps.size or len(relations):
            new_row = find_places(rows, self.n_mentions)
            relations = relations.on_mentions(new_row)
            gaps = gaps[new_row[gaps[:, 0]] >= 0].copy()
            gaps[:, 0] = new_row[gaps[:, 0]]
            gaps = gaps[stable_order(gaps[:, 0])]
        columns: dict[str, Any] = {name: getattr(self, name) for name in MENTION_COLUMNS}
        columns = {
            name: values if values is None else values[rows] for name, values in columns.items()
        }
        return replace(
            self,
            **columns,
            gaps=gaps,
            labels=None if self.labels is None else _pick(self.labels, rows),
            features=take_columns(self.features, rows),
            relations=relations,
            own_text=self.own_text and self.own_text.take(rows),
        )

    def __len__(self) -> int:
        return len(self.documents)

    def __contains__(self, key: object) -> bool:
        try:
            return self.document_index(key) >= 0  # type: ignore[arg-type]
        except InputError:
            return False

    def __iter__(self) -> Iterator[Document]:
        return map(self.__getitem__, range(len(self.documents)))

    def __getitem__(self, key: int | str | DocumentId) -> Document:
        """A document by its index, its id, or its name where only one document has it."""
        from corefeval.model.views import Document  # which scores do without

        return Document(self, self.document_index(key))

    def document_index(self, key: int | str | DocumentId) -> int:
        """The index of a document, from its index, its id, or an unambiguous name."""
        return find_document(self.documents, key, self._document_index)


def find_document(
    documents: Sequence[DocumentId],
    key: int | str | DocumentId,
    index: dict[DocumentId, int] | None = None,
) -> int:
    """The index of a document, from its index, its id, or an unambiguous name."""
    if isinstance(key, int):
        if not -len(documents) <= key < len(documents):
            raise InputError(f"there is no document {key}: there are {len(documents)}")
        return key % len(documents)
    if isinstance(key, DocumentId) and index is not None and key in index:
        return index[key]
    matches = [
        position
        for position, identifier in enumerate(documents)
        if key in (identifier, str(identifier), identifier.name)
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        parts = ", ".join(excerpt(str(documents[index])) for index in matches[:3])
        raise InputError(f"{len(matches)} documents are called {key!r}", fix=f"say which: {parts}")
    import difflib

    close = difflib.get_close_matches(str(key), [str(d) for d in documents[:5000]], n=1)
    raise InputError(
        f"there is no document {key!r}",
        fix=f"did you mean {excerpt(close[0])}?" if close else "use one of `documents`",
    )


def match_documents(
    documents: Sequence[DocumentId], pattern: str, name: str, *, may_be_empty: bool = False
) -> IntArray:
    """The places of documents whose id or name a glob matches."""
    chosen = [
        index
        for index, identifier in enumerate(documents)
        if pattern == "*"
        or any(fnmatchcase(name, pattern) for name in (str(identifier), identifier.name))
    ]
    if not chosen and not may_be_empty and documents:
        raise PairingError(
            f"no document of {name or 'the key'} matches {pattern!r}",
            found=list_names([str(identifier) for identifier in documents]),
            fix="`*` stands for any text: 'bc/*', '*_0001; part 000'",
        )
    return integers(chosen)


def _pick_or_empty(values: Sequence[T], rows: IntArray, nothing: T) -> tuple[T, ...]:
    """The values of some documents, where there are any; nothing for row −1."""
    return tuple(values[row] if row >= 0 else nothing for row in rows.tolist()) if values else ()


def _pick_names(names: Sequence[str], rows: IntArray) -> Sequence[str]:
    return names.take(rows) if isinstance(names, LazyNames) else _pick(names, rows)


def _pick(values: Sequence[T], rows: IntArray) -> tuple[T, ...]:
    return tuple(values[row] for row in rows.tolist())
