"""The brackets of `Entity=` as corefud-scorer 1.2 understands them, one node after the other.

Its accidents are these. The last `global.Entity` of the file holds everywhere. A mention that
closes at the node at which it opened, in another bracket, runs to the end of the sentence, and so
does one from 5.1 to 5.10: as numbers they are the same, and nothing behind 5.1 closes it. Without
a head, or with head 0, the first node is the head; in a last part of one word, 0 is the last node.
A mention whose last part never comes stays as it is. A node may join a mention twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import attrgetter

from corefeval.diagnostics import InputError, Notices, excerpt, note
from corefeval.emulation.corefud_sentences import Name, NodePlace, SentenceFile

_ATTRIBUTE = re.compile(r"(?:^|\|)(Entity|Bridge|SplitAnte|Split)(?:=([^|]*)|(?=\||$))")
_PIECE = re.compile(r"\(?[^()]+\)?")
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


Entities = list[list[Bracketed]]
Documents = dict[Name, Entities]


@dataclass(frozen=True, slots=True)
class CorefudText:
    """A CorefUD file as the program reads it: each document's entities in order, as mentions."""

    name: str
    file: SentenceFile
    documents: Documents
    notices: Notices


def read_mentions(file: SentenceFile, name: str = "") -> CorefudText:
    """The mentions of a file; an InputError with file and line for what the program refuses."""
    reader = _Reader(file)
    documents = 0
    for sentence in file.sentences:
        documents += sentence.is_new_document
        for node in sentence.nodes:
            misc = file.nodes.misc[node]
            attributes = dict(_ATTRIBUTE.findall(misc)) if "Entity=" in misc else {}
            if attributes.get("Entity"):
                reader.read_node(node, attributes, documents)
    entities, notices = reader.finish()
    return CorefudText(name or file.file, file, _split_documents(file, entities), notices)


def _split_documents(file: SentenceFile, entities: Entities) -> Documents:
    """The entities of each document in order; one in several documents is split.

    An InputError says where a mention lies outside of documents, or in two.
    """
    document_of = [file.sentences[place].document for place in file.nodes.sentence]
    documents: Documents = {
        sentence.document: [] for sentence in file.sentences if sentence.document is not None
    }
    for entity in entities:
        parts: dict[Name, list[Bracketed]] = {}
        for mention in entity:
            names = {*map(document_of.__getitem__, mention.nodes)}
            if len(names) > 1 or None in names:
                raise file.refuse(
                    "a mention lies in two documents"
                    if len(names) > 1
                    else "there is a mention before the first # newdoc",
                    file.nodes.line[mention.nodes[0]],
                    expected="a line such as # newdoc id = NAME before every mention",
                )
            parts.setdefault(names.pop(), []).append(mention)
        for name, part in parts.items():
            documents[name].append(part)
    return documents


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
        pieces = _PIECE.findall(attributes["Entity"])
        if "".join(pieces) != attributes["Entity"]:
            problem = "a bracket of Entity is empty or has no partner"
            raise self._refuse(problem, node, found=excerpt(attributes["Entity"]))
        for piece in pieces:
            content = piece.strip("()")
            if piece[0] == "(":
                self._open(node, content, is_closed=piece[-1] == ")")
            elif piece[-1] == ")":
                self._close(node, content)
            else:
                self.ignored += 1
        for name in ("Bridge", "SplitAnte", "Split"):
            if name in attributes:
                self._check_relations(node, name, attributes[name])

    def _refuse(self, problem: str, node: int, **details: str) -> InputError:
        return self.text.refuse(problem, self.nodes.line[node], **details)

    def _open(self, node: int, content: str, *, is_closed: bool) -> None:
        header = self.header
        assert header is not None  # read_node has looked
        values = content.split("-")
        identifier, part, parts = _parse_id(values[header.id] if header.id < len(values) else "")
        name = self.prefix + identifier
        head = self._head_number(node, values, header)
        entity = self.entities.get(name)
        if entity is None:
            if not identifier or _NOT_IN_IDS.search(identifier):
                raise self._refuse(
                    "a bracket has no id, or one with blanks or signs",
                    node,
                    found=excerpt(content),
                    expected="an id without - = | ( ) and blanks, where the header has it",
                )
            entity = self.entities[name] = _Entity()
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

    def finish(self) -> tuple[Entities, Notices]:
        """The entities in order, without mentions that never close; and what was noticed."""
        entities: Entities = []
        unclosed = incomplete = 0
        for entity in self.entities.values():
            closed = [mention for mention in entity.mentions if not mention.is_open]
            unclosed += len(entity.mentions) - len(closed)
            incomplete += sum(not mention.is_open for mention in entity.incomplete)
            for mention in closed:
                mention.places = tuple(sorted(map(self.nodes.place.__getitem__, mention.nodes)))
            if closed:
                entities.append(sorted(closed, key=attrgetter("order")))
        for target, node in self.targets:
            if target not in self.entities:
                raise self._refuse(
                    "Bridge or SplitAnte names an entity that has no mention",
                    node,
                    found=excerpt(target.removeprefix(self.prefix)),
                )
        entities.sort(key=lambda mentions: (mentions[0].order, mentions[0].entity))
        return entities, self._notices(unclosed, incomplete)

    def _notices(self, unclosed: int, incomplete: int) -> Notices:
        head = "of several words without a head, matched by the first word, as in corefud-scorer "
        head += "1.2; `corefeval convert FILE NEW --heads dependencies` adds heads"
        rows = (
            ("unclosed", unclosed, "mention", "never closed, left out as in corefud-scorer 1.2"),
            ("incomplete", incomplete, "mention", "whose last part is missing, kept without it"),
            ("outside-brackets", self.ignored, "piece", "of Entity outside brackets, ignored"),
            ("no-heads", self.headless, "mention", head),
        )
        return sum((note(*row, whose=self.text.file) for row in rows), self.text.notices)


def _parse_id(text: str) -> tuple[str, int | None, int | None]:
    """The id of an entity, and which part of how many; None for a mention without parts."""
    if "[" in text and (match := _PART.fullmatch(text)):
        return match[1], int(match[2]), int(match[3])
    return text, None, None
