"""Mentions as corefud-scorer 1.2 compares them, in entities, by document.

A mention's *identity* is its places, in head match with the place of its head. Its hash is that of
the program's own objects, because the program's order of mentions with the same start, end and size
is that of a Python set. An identity in several entities is one mention for matching (that of the
first), and belongs to the last of them wherever its entity is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from corefeval.diagnostics import InputError, excerpt
from corefeval.emulation.brackets import Bracketed, MentionFile
from corefeval.emulation.sentences import Name, Node, Place

Dependencies = frozenset[tuple[Place, str]]  # parents' places and relations of an empty node


@dataclass(frozen=True, eq=False, slots=True)
class Mention:
    """A mention of a document: equal to another one where their identities are the same."""

    places: tuple[Place, ...]
    span: frozenset[Place]
    head: Place
    is_zero: bool
    dependencies: Dependencies
    file: str
    line: int
    head_counts: bool
    code: int = field(repr=False)

    @staticmethod
    def of(file: str, mention: Bracketed, *, head_counts: bool) -> Mention:
        """What the program keeps of a mention; it parses DEPS of every head on the way."""
        span, head = frozenset(mention.places), mention.head.place
        code = hash((span, frozenset({head}))) if head_counts else hash(span)
        dependencies = _parse_dependencies(file, mention.head)
        is_zero, line = mention.head.is_empty, mention.head.line
        return Mention(
            mention.places, span, head, is_zero, dependencies, file, line, head_counts, code
        )

    def __hash__(self) -> int:
        return self.code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mention):
            return NotImplemented
        return self.places == other.places and (not self.head_counts or self.head == other.head)

    @property
    def order(self) -> tuple[Place, Place, int]:
        """Mentions are sorted by their first place, their last, and how many there are."""
        return (self.places[0], self.places[-1], len(self.places))

    def __str__(self) -> str:
        ids = ",".join(str(place[1]) for place in self.places)
        return f"{self.places[0][0]}:{ids}*{self.head[1]}"


Entities = list[list[Mention]]


def split_documents(mentions: MentionFile) -> dict[Name, list[list[Bracketed]]]:
    """The entities of each document in order; one in several documents is split.

    An InputError says where a mention lies outside of documents, or in two.
    """
    documents: dict[Name, list[list[Bracketed]]] = {}
    for sentence in mentions.text.sentences:
        if sentence.document is not None:
            documents.setdefault(sentence.document, [])
    for entity in mentions.entities:
        parts: dict[Name, list[Bracketed]] = {}
        for mention in entity:
            names = {node.sentence.document for node in mention.nodes}
            if len(names) > 1 or None in names:
                raise mentions.text.refuse(
                    "a mention lies in two documents"
                    if len(names) > 1
                    else "there is a mention before the first # newdoc",
                    mention.nodes[0].line,
                    expected="a line such as # newdoc id = NAME before every mention",
                )
            parts.setdefault(names.pop(), []).append(mention)
        for name, part in parts.items():
            documents[name].append(part)
    return documents


def make_entities(
    file: str, entities: list[list[Bracketed]], *, head_counts: bool, keep_singletons: bool
) -> Entities:
    """The entities of a document: each identity once in an entity, then singletons dropped."""
    made = []
    for entity in entities:
        mentions = [Mention.of(file, one, head_counts=head_counts) for one in entity]
        made.append(list(dict.fromkeys(mentions)))
    return [entity for entity in made if keep_singletons or len(entity) > 1]


def _parse_dependencies(file: str, head: Node) -> Dependencies:
    """The parents and relations in DEPS; the root is place 0 of the sentence."""
    if head.deps == "_":
        return frozenset()
    found = []
    for entry in head.deps.split("|"):
        parent, colon, relation = entry.partition(":")
        place = _find_parent(head, parent)
        if not colon or place is None:
            raise InputError(
                "DEPS of the head of a mention names a node that its sentence lacks",
                file=file,
                line=head.line,
                found=excerpt(entry),
                expected="PARENT:RELATION, PARENT being 0, a word or an empty node such as 5.1 "
                "(corefud-scorer never finds 5.10)",
            )
        found.append((place, relation))
    return frozenset(found)


def _find_parent(head: Node, parent: str) -> Place | None:
    sentence = head.sentence
    if "." in parent:  # as text, so that 5.10, which is the number 5.1, is never found
        ids = [node.id for node in sentence.nodes if node.is_empty and str(node.id) == parent]
        return (sentence.number, ids[0]) if ids else None
    if not parent.isdecimal() or len(parent) > 9 or int(parent) > len(sentence.words):
        return None
    return (sentence.number, int(parent))
