"""Building a corpus document by document, mention by mention: for formats that are read so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from corefeval.diagnostics import InputError, Notice, Notices, excerpt, note
from corefeval.model.arrays import integers
from corefeval.model.categories import tabulate
from corefeval.model.construction import assemble
from corefeval.model.corpus import IDENTITY, NO_GAPS, Corpus, DocumentId
from corefeval.model.relations import Relation, Relations
from corefeval.model.token_tables import DocumentTokens, tokens_of_documents
from corefeval.model.tokens import Tokens

# The name of an entity of identity, a name and a layer, or the number of a mention.
Reference = str | tuple[str, int] | int
_Entity = tuple[int, int, str]  # its document, layer and name
_Relation = tuple[int, str, Reference, tuple[Reference, ...], str]


@dataclass(slots=True)
class _Mention:
    document: int
    entity: str
    start: int
    end: int
    gaps: tuple[tuple[int, int], ...]
    head: int
    features: Mapping[str, str]
    layer: int


@dataclass(slots=True)
class DocumentBuilder:
    """One document in the making; mentions come in the order in which they open."""

    index: int
    identifier: DocumentId
    tokens: DocumentTokens
    metadata: Mapping[str, str]
    sentence_metadata: Sequence[Mapping[str, str]]
    builder: CorpusBuilder

    def mention(
        self,
        entity: str,
        start: int,
        end: int,
        *,
        gaps: Iterable[tuple[int, int]] = (),
        head: int | None = None,
        features: Mapping[str, str] | None = None,
        layer: int = IDENTITY,
    ) -> int:
        """Add a mention of the tokens from `start` up to but not including `end`, less gaps.

        Returns its number, by which `relation` knows it. Entities of one name in several layers
        are several.
        """
        if not 0 <= start < end <= self.tokens.count:
            raise InputError(
                f"a mention outside document {excerpt(str(self.identifier))}",
                file=self.builder.source,
                found=f"tokens {start} to {end - 1} for entity {excerpt(entity)}",
                expected=f"positions from 0 to {self.tokens.count - 1}",
                fix="check whether ends are inclusive, and whether positions count from the "
                "start of the document or of the sentence",
            )
        place = -1 if head is None else head
        self.builder.mentions.append(
            _Mention(self.index, entity, start, end, tuple(gaps), place, features or {}, layer)
        )
        return len(self.builder.mentions) - 1

    def mention_at(
        self,
        entity: str,
        positions: Iterable[int],
        *,
        head: int | None = None,
        features: Mapping[str, str] | None = None,
        layer: int = IDENTITY,
    ) -> int:
        """Add a mention by all of its token positions; returns its number."""
        ordered = sorted(set(positions))
        if not ordered:
            raise InputError(
                f"a mention of {excerpt(entity)} without tokens", file=self.builder.source
            )
        gaps = [(before + 1, after) for before, after in pairwise(ordered) if after > before + 1]
        start, end = ordered[0], ordered[-1] + 1
        return self.mention(
            entity, start, end, gaps=gaps, head=head, features=features, layer=layer
        )

    def relation(
        self, kind: str, anaphor: Reference, antecedents: Iterable[Reference], label: str = ""
    ) -> None:
        """Keep a relation of an anaphor to a set of antecedents: bridging, split antecedents.

        Each is an entity, by its name (and layer), or a mention, by its number. What has no
        mention when the corpus is built is left out, which is noted.
        """
        self.builder.relations.append((self.index, kind, anaphor, tuple(antecedents), label))


@dataclass(slots=True)
class CorpusBuilder:
    """A corpus in the making."""

    name: str = ""
    source: str | None = None
    documents: list[DocumentBuilder] = field(default_factory=list)
    mentions: list[_Mention] = field(default_factory=list)
    relations: list[_Relation] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    identifiers: set[DocumentId] = field(default_factory=set)
    names_hold: bool = False

    def document(
        self,
        identifier: DocumentId | str,
        *,
        words: Sequence[str] | None = None,
        n_tokens: int | None = None,
        sentence_starts: Sequence[int] | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
        metadata: Mapping[str, str] | None = None,
        sentence_metadata: Sequence[Mapping[str, str]] = (),
        lines: Sequence[int] | None = None,
    ) -> DocumentBuilder:
        """Begin a document; without `sentence_starts` it is one sentence.

        A format that brings tokens of its own gives only their number, and `build` the tokens.
        """
        if isinstance(identifier, str):
            identifier = DocumentId.parse(identifier)
        if identifier in self.identifiers:
            raise InputError(
                f"document {excerpt(str(identifier))} appears twice",
                file=self.source,
                expected="one document for each id and part",
                fix="rename or remove one of the two",
            )
        self.identifiers.add(identifier)
        stated = {"word": words, **(columns or {})} if words is not None else {}
        count = len(words) if words is not None else n_tokens or 0
        starts = ([0] if count else []) if sentence_starts is None else sentence_starts
        tokens = DocumentTokens(stated, count, starts, lines)
        document = DocumentBuilder(
            len(self.documents), identifier, tokens, metadata or {}, sentence_metadata, self
        )
        self.documents.append(document)
        return document

    def build(self, tokens: Tokens | None = None) -> Corpus:
        """The corpus, with tokens that the format made, or those of the documents."""
        mentions = self.mentions
        numbers: dict[_Entity, int] = {}
        entity = [
            numbers.setdefault((m.document, m.layer, m.entity), len(numbers)) for m in mentions
        ]
        gaps = [(row, *gap) for row, mention in enumerate(mentions) for gap in mention.gaps]
        # Entities are numbered document by document, in the order of their first mentions.
        entities = sorted(numbers, key=lambda entity: (entity[0], numbers[entity]))
        relations, unresolved = self._relations(entities)
        corpus = assemble(
            documents=tuple(document.identifier for document in self.documents),
            mention_document=integers([mention.document for mention in mentions]),
            entity=integers(entity),
            start=integers([mention.start for mention in mentions]),
            end=integers([mention.end for mention in mentions]),
            head=integers([m.head for m in mentions])
            if any(m.head >= 0 for m in mentions)
            else None,
            features=tabulate([mention.features for mention in mentions]),
            gaps=integers(gaps) if gaps else NO_GAPS,
            tokens=tokens
            or tokens_of_documents([document.tokens for document in self.documents], self.source),
            relations=relations,
            entity_layer=integers([layer for _, layer, _ in entities])
            if any(layer for _, layer, _ in entities)
            else None,
            name=self.name or self.source or "",
        )
        return corpus.with_details(
            names=[name for _, _, name in entities],
            names_hold=self.names_hold,
            metadata=tuple(document.metadata for document in self.documents),
            sentence_metadata=tuple(document.sentence_metadata for document in self.documents),
            notices=(*self.notices, *unresolved),
        )

    def _relations(self, entities: Sequence[_Entity]) -> tuple[Relations, Notices]:
        """The relations by the numbers of entities, and a notice on those without entities."""
        numbers = {name: number for number, name in enumerate(entities)}

        def place(owner: int, reference: Reference) -> tuple[int, int] | None:
            if isinstance(reference, int):
                mention = self.mentions[reference]
                return numbers[mention.document, mention.layer, mention.entity], reference
            name, layer = (reference, IDENTITY) if isinstance(reference, str) else reference
            number = numbers.get((owner, layer, name))
            return None if number is None else (number, -1)

        resolved, unresolved = [], 0
        for owner, kind, anaphor, antecedents, label in self.relations:
            whose = place(owner, anaphor)
            places = [place(owner, antecedent) for antecedent in antecedents]
            placed = [antecedent for antecedent in places if antecedent is not None]
            unresolved += whose is None or len(placed) < len(places)
            if whose is not None and placed:
                resolved.append(Relation(kind, whose, tuple(placed), label))
        return Relations.of(resolved), note_unresolved(unresolved, self.source or self.name)


def note_unresolved(count: int, file: str) -> Notices:
    """A notice on relations of entities that no mention belongs to."""
    problem = "left out, or without an antecedent, because mentions are missing"
    return note("unresolved-relations", count, "relation", problem, whose=file or "corpus")
