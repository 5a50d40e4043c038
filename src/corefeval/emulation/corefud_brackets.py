"""The brackets of `Entity=` as corefud-scorer 1.2 understands them, one node after the other.

Its accidents are these. The last `global.Entity` of the file holds everywhere. A mention that
closes at the node at which it opened, in another bracket, runs to the end of the sentence, and so
does one from 5.1 to 5.10: as numbers they are the same, and nothing behind 5.1 closes it. Without
a head, or with head 0, the first node is the head; in a last part of one word, 0 is the last node.
A mention whose last part never comes stays as it is. A node may join a mention twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from corefeval.diagnostics import InputError, Notices, excerpt, note
from corefeval.emulation.corefud_sentences import NodePlace, SentenceFile

_BRACKET = re.compile(r"(\([^()]+\)?|[^()]+\))")
_PART = re.compile(r"(.*)\[(\d{1,9})/(\d{1,9})\]", re.DOTALL)
_NOT_IN_IDS = re.compile(r"[-=|()\s]")


@dataclass(eq=False, slots=True)
class Bracketed:
    """A mention as its brackets give it: nodes in the order in which they joined, and the head.

    `places`, which the last bracket of the file leaves complete, are those of its nodes in order; a
    node that joined twice appears twice.
    """

    entity: str
    nodes: list[int]
    head: int
    is_open: bool = False
    places: tuple[NodePlace, ...] = ()

    @property
    def order(self) -> tuple[NodePlace, int, NodePlace]:
        """By what mentions of an entity, and entities by their first mentions, are ordered."""
        return (self.places[0], -len(self.places), self.places[-1])


@dataclass(eq=False, slots=True)
class _Entity:
    """What is known of an entity so far: open mentions with their heads, and incomplete ones."""

    mentions: list[Bracketed] = field(default_factory=list)
    open: list[tuple[Bracketed, int]] = field(default_factory=list)
    incomplete: list[Bracketed] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Header:
    """Which fields of a bracket matter, and whether ids are valid within one document only."""

    id: int
    head: int | None
    by_document: bool

    @staticmethod
    def of(text: str) -> _Header | None:
        """The fields of `global.Entity`; None without `eid` or `GRP`."""
        names = text.split("-")
        if "eid" not in names and "GRP" not in names:
            return None
        head = names.index("head") if "head" in names else None
        return _Header(names.index("eid" if "eid" in names else "GRP"), head, "GRP" in names)


@dataclass(frozen=True, slots=True)
class CorefudText:
    """A CorefUD file as the program reads it: its entities in order, each with its mentions."""

    name: str
    file: SentenceFile
    entities: list[list[Bracketed]]
    notices: Notices


def read_mentions(file: SentenceFile, name: str = "") -> CorefudText:
    """The mentions of a file; an InputError with file and line for what the program refuses."""
    reader = _Reader(file)
    documents = 0
    for sentence in file.sentences:
        documents += sentence.is_new_document
        for node in sentence.nodes:
            misc = file.nodes.misc[node]
            if "Entity=" not in misc:
                continue
            attributes = dict(part.partition("=")[::2] for part in misc.split("|"))
            if attributes.get("Entity"):
                reader.read_node(node, attributes, documents)
    return CorefudText(name or file.file, file, *reader.finish())


class _Reader:
    """The state between brackets: entities by id."""

    def __init__(self, text: SentenceFile) -> None:
        self.text, self.nodes = text, text.nodes
        self.entities: dict[str, _Entity] = {}
        self.targets: list[tuple[str, int]] = []  # entities that Bridge and SplitAnte name
        self.header = _Header.of(text.header)
        self.prefix = ""
        self.ignored = 0
        self.headless = 0
        if text.header and self.header is None:
            raise InputError(
                "global.Entity names neither eid nor GRP",
                file=text.file,
                found=excerpt(text.header),
                expected="a header such as eid-etype-head-other",
            )

    def read_node(self, node: int, attributes: dict[str, str], documents: int) -> None:
        """The brackets of one node from left to right, then what it says of other relations."""
        if self.header is None:
            raise self._refuse(
                "there is no global.Entity in the file",
                node,
                expected="a line such as # global.Entity = eid-etype-head-other",
            )
        self.prefix = f"{documents}." if self.header.by_document else ""
        for bracket in self._brackets(node, attributes["Entity"]):
            content = bracket.strip("()")
            if bracket.startswith("("):
                self._open(node, content, is_closed=bracket.endswith(")"))
            else:
                self._close(node, content)
        for name in ("Bridge", "SplitAnte", "Split"):
            if name in attributes:
                self._check_relations(node, name, attributes[name])

    def _refuse(self, problem: str, node: int, **details: str) -> InputError:
        return self.text.refuse(problem, self.nodes.line[node], **details)

    def _brackets(self, node: int, value: str) -> Iterator[str]:
        for index, piece in enumerate(_BRACKET.split(value)):
            if index % 2:
                yield piece
            elif "(" in piece or ")" in piece:
                problem = "a bracket of Entity is empty or has no partner"
                raise self._refuse(problem, node, found=excerpt(value))
            else:
                self.ignored += bool(piece)

    def _open(self, node: int, content: str, *, is_closed: bool) -> None:
        header = self.header
        assert header is not None  # read_node has looked
        values = content.split("-")
        identifier = values[header.id] if header.id < len(values) else ""
        name, part, parts = self._identify(node, identifier, content)
        head = self._head_number(node, values, header)
        entity = self.entities.setdefault(name, _Entity())
        if part is None or part == 1:
            mention = Bracketed(name, [node], node)
            entity.mentions.append(mention)
            if part == 1:
                entity.incomplete.append(mention)
        else:
            waiting = [mention for mention in entity.incomplete if not mention.is_open]
            if not waiting:
                problem = "a part of a mention comes before its first part"
                raise self._refuse(problem, node, found=excerpt(content))
            mention = waiting[0]
            mention.nodes.append(node)
            if is_closed and part == parts:
                self._complete(node, entity, mention, content)
                if head is None or head > len(mention.nodes):
                    raise self._head_error(node, content)
                mention.head = mention.nodes[head - 1]
        if not is_closed:
            mention.is_open = True
            entity.open.append((mention, head or 0))

    def _close(self, node: int, content: str) -> None:
        name, part, parts = _parse_id(content)
        entity = self.entities.get(self.prefix + name)
        if entity is None or not entity.open:
            raise self._refuse(
                "a bracket closes without being opened", node, found=excerpt(content + ")")
            )
        mention, head = entity.open.pop()
        nodes = self.nodes
        mention.nodes.sort(key=nodes.place.__getitem__)
        last = mention.nodes[-1]
        if nodes.sentence[last] != nodes.sentence[node]:
            raise self._refuse(
                "a mention runs across the end of its sentence",
                node,
                found=f"{excerpt(content + ')')} of a mention from line {nodes.line[last]}",
                expected="a bracket that closes in the same sentence",
            )
        mention.is_open = False
        first, end = last + 1, self.text.sentence_of(node).nodes.stop
        while first < end and nodes.id[first] == nodes.id[last]:
            first += 1
        mention.nodes += range(first, node + 1 if node >= first else end)
        if part != parts:
            return
        self.headless += not head and len(mention.nodes) > 1
        if head:
            if head > len(mention.nodes):
                raise self._head_error(node, content)
            mention.head = mention.nodes[head - 1]
        if part is not None:
            self._complete(node, entity, mention, content)

    def _identify(
        self, node: int, identifier: str, content: str
    ) -> tuple[str, int | None, int | None]:
        name, part, parts = _parse_id(identifier)
        if not name or _NOT_IN_IDS.search(name):
            raise self._refuse(
                "a bracket has no id, or one with blanks or signs",
                node,
                found=excerpt(content),
                expected="an id without - = | ( ) and blanks, where the header has it",
            )
        return self.prefix + name, part, parts

    def _head_number(self, node: int, values: list[str], header: _Header) -> int | None:
        """The number that the head field has; None where there is no field or no value."""
        if header.head is None or header.head >= len(values):
            return None
        text = values[header.head]
        if not text.isdecimal() or len(text) > 9:
            raise self._refuse(
                "the head of a mention is not a number",
                node,
                found=excerpt("-".join(values)),
                expected="the number of a word of the mention, from 1",
            )
        return int(text)

    def _complete(self, node: int, entity: _Entity, mention: Bracketed, content: str) -> None:
        if not entity.incomplete or entity.incomplete[-1] is not mention:
            raise self._refuse(
                "the parts of two mentions of one entity cross",
                node,
                found=excerpt(content),
                expected="mentions in parts that follow or contain each other",
            )
        entity.incomplete.pop()

    def _head_error(self, node: int, content: str) -> InputError:
        return self._refuse(
            "the head of a mention is missing, or outside it",
            node,
            found=excerpt(content),
            expected="the number of one of its words, from 1",
        )

    def _check_relations(self, node: int, name: str, value: str) -> None:
        """Raise for relations that the program refuses; they have no score."""
        for relation in value.split(","):
            target, arrow, source = relation.partition("<")
            if name == "Bridge":
                source = source.partition(":")[0]
            source, target = self.prefix + source, self.prefix + target
            entity = self.entities.get(source)
            if not arrow or source == target or entity is None or not entity.mentions:
                raise self._refuse(
                    f"{name} names no entity, or one that has not been mentioned yet",
                    node,
                    found=excerpt(relation),
                    expected="target<source, where the other entity has a mention here or before",
                )
            self.targets.append((target, node))

    def finish(self) -> tuple[list[list[Bracketed]], Notices]:
        """The entities in order, without mentions that never close; and what was noticed."""
        unclosed = 0
        for entity in self.entities.values():
            unclosed += sum(mention.is_open for mention in entity.mentions)
            entity.mentions = [mention for mention in entity.mentions if not mention.is_open]
            for mention in entity.mentions:
                mention.places = tuple(sorted(map(self.nodes.place.__getitem__, mention.nodes)))
        for target, node in self.targets:
            if target not in self.entities:
                raise self._refuse(
                    "Bridge or SplitAnte names an entity that has no mention",
                    node,
                    found=excerpt(target.removeprefix(self.prefix)),
                )
        order = attrgetter("order")
        entities = [sorted(entity.mentions, key=order) for entity in self.entities.values()]
        entities = [mentions for mentions in entities if mentions]
        entities.sort(key=lambda mentions: (mentions[0].order, mentions[0].entity))
        incomplete = sum(
            not mention.is_open
            for entity in self.entities.values()
            for mention in entity.incomplete
        )
        return entities, self._notices(unclosed, incomplete)

    def _notices(self, unclosed: int, incomplete: int) -> Notices:
        file, part = self.text.file, "whose last part is missing, kept without it"
        outside = "of Entity outside brackets, ignored"
        head = "of several words without a head, matched by the first word, as in corefud-scorer "
        head += "1.2; `corefeval convert FILE NEW --heads dependencies` adds heads"
        return (
            *self.text.notices,
            *note("unclosed", unclosed, "mention", "never closed, and dropped", whose=file),
            *note("incomplete", incomplete, "mention", part, whose=file),
            *note("outside-brackets", self.ignored, "piece", outside, whose=file),
            *note("no-heads", self.headless, "mention", head, whose=file),
        )


def _parse_id(text: str) -> tuple[str, int | None, int | None]:
    """The id of an entity, and which part of how many; None for a mention without parts."""
    if match := _PART.fullmatch(text):
        return match[1], int(match[2]), int(match[3])
    return text, None, None
