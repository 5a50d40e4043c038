"""UIMA CAS as XMI or JSON: chains and relations of INCEpTION and DKPro, CorefAnnotator's mentions.

Both are tables of feature structures by id, whose references to each other are ids.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from corefeval.diagnostics import excerpt
from corefeval.formats.annotations import (
    JOINING_LAYER,
    AnnotatedDocument,
    build_corpus,
    choose_layer,
)
from corefeval.formats.declarations import Tally
from corefeval.formats.json.records import Record, records_of, show
from corefeval.formats.source import Source
from corefeval.formats.xml import Element, parse_xml
from corefeval.model import Corpus

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
_TOKEN, _SENTENCE = (f"{_DKPRO}segmentation.type.{name}" for name in ("Token", "Sentence"))
_LINK = f"{_DKPRO}coref.type.CoreferenceLink"
_METADATA = f"{_DKPRO}metadata.type.DocumentMetaData"
_TECHNICAL = re.compile(r"uima\..*|.*\.(segmentation|metadata)\.type\..*")
_DEPENDENCY = ".syntax.type.dependency."
_ANNOTATOR = r"de\.unistuttgart\.ims\.coref\.annotator\.api\.(v[12]\.)?"
_MENTION = re.compile(_ANNOTATOR + "Mention")
_PART = re.compile(_ANNOTATOR + "(DetachedMentionPart|MentionSurface)")
# A file that declares the types of a layer has the layer, perhaps without any annotation.
_DECLARED = re.compile(rb"(dkpro[./]core[./]api|unistuttgart[./]ims)[./]coref[./]")
_POINTERS = ("first", "Governor", "source")
_XMI_NAMES = {"%ID": "xmi:id", "%ELEMENTS": "elements"}
_STRUCTURE = {"xmi:id", "sofa", "begin", "end", "next", "%TYPE", "Flags", *_POINTERS}
_STRUCTURE |= {"Entity", "Surface", "Discontinuous", "Dependent", "target"}
_ODDITIES = (
    Tally("chain-loops", "chain", "that comes back to a link of a chain, ended there"),
    Tally("unchained-links", "link", "that no chain reaches, each an entity of its own"),
    Tally("unlinked-mentions", "mention", "without an entity, each an entity of its own"),
    Tally("other-relations", "relation", "left out: of annotations of another layer"),
)


Table = dict[str, Element]  # feature structures by id: their names are types


def read_xmi(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a CAS from XMI; the layer is a type or its last part, or `Layer.feature`."""
    structures = parse_xml(source, with_text=False).children
    table = _index_structures(source, (s for s in structures if "xmi:id" in s.attributes))
    return build_corpus([_read_cas(source, table, layer)], source, name, _ODDITIES)


def read_cas_json(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a CAS from JSON; the layer is a type or its last part, or `Layer.feature`."""
    tables = (_index_structures(source, _list_structures(r)) for r in records_of(source))
    documents = [_read_cas(source, table, layer) for table in tables]
    return build_corpus(documents, source, name, _ODDITIES)


def _index_structures(source: Source, structures: Iterable[Element]) -> Table:
    """The structures by id; an InputError where two have one id, as one would be lost."""
    table: Table = {}
    for structure in structures:
        first = table.setdefault(structure.attributes["xmi:id"], structure)
        if first is not structure:
            identifier = excerpt(structure.get("xmi:id"))
            raise source.error(
                f"two structures have the id {identifier}",
                structure.line,
                found=f"{first.name} and {structure.name}",
                expected="a different id for each structure",
                fix="export the document again",
            )
    return table


def _list_structures(record: Record) -> Iterator[Element]:
    """The feature structures of a JSON object, with references and arrays as XMI has them."""
    value = record.value("%FEATURE_STRUCTURES")
    listed = value if isinstance(value, list | dict) else [value]
    numbered = listed if isinstance(listed, dict) else dict(enumerate(listed))
    for number, structure in numbered.items():
        if not isinstance(structure, dict):
            expected = "an object with %ID and %TYPE"
            raise record.error("this is no structure", found=show(structure), expected=expected)
        texts = {
            key: " ".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in structure.items()
            if value is not None
        }
        texts.setdefault("%ID", str(number))
        values = {_XMI_NAMES.get(key, key.removeprefix("@")): text for key, text in texts.items()}
        yield Element(texts.get("%TYPE", ""), values, record.line)


def _read_cas(source: Source, table: Table, layer: str | None) -> AnnotatedDocument:
    """The document of a CAS, with the mentions of a layer."""
    sofas = [
        s for s in table.values() if s.name == "uima.cas.Sofa" and "sofaString" in s.attributes
    ]
    if not sofas:
        raise source.error(
            "there is no text",
            expected="a Sofa with its text in sofaString",
            fix="export the document with its text",
        )
    sofa = min(sofas, key=lambda s: (not s.get("sofaString"), s.get("sofaID") != "_InitialView"))
    text, number = sofa.get("sofaString"), sofa.get("xmi:id")
    annotations = {
        identifier: structure
        for identifier, structure in table.items()
        if "begin" in structure.attributes and structure.get("sofa", number) == number
    }
    by_type: defaultdict[str, list[Element]] = defaultdict(list)
    for annotation in annotations.values():
        by_type[annotation.name].append(annotation)
    tokens = sorted(span for span in map(_span, by_type[_TOKEN]) if span[0] != span[1])
    starts = {bisect_left(tokens, _span(sentence)[:1]) for sentence in by_type[_SENTENCE]}
    address = next((a.get("documentUri") for a in by_type[_METADATA]), "")
    file = unquote(address.rstrip("/").rpartition("/")[2])
    document = AnnotatedDocument(
        source,
        os.path.splitext(file)[0] or None,
        text=text,
        bounds=tokens,
        sentence_starts=sorted({0, *starts} - {len(tokens)}) if tokens else None,
        in_utf16=True,
    )
    _Cas(source, table, annotations, by_type, document).read(layer)
    return document


def _span(annotation: Element) -> tuple[int, int]:
    """The offsets of an annotation in UTF-16 units, −1 for what is no number."""
    try:
        return int(annotation.attributes["begin"]), int(annotation.attributes["end"])
    except (KeyError, ValueError):
        return -1, -1


def _features(structure: Element) -> dict[str, str]:
    """What a structure says beside its place and its references."""
    return {k: v for k, v in structure.attributes.items() if k not in _STRUCTURE}


@dataclass(slots=True)
class _Cas:
    """All structures, the annotations of the text that is read, and those by type.

    `chains` have the ids of the first links of chains by the type of their links, `relations`
    structures with the ids of their source and target by their type.
    """

    source: Source
    table: Table
    annotations: Table
    by_type: dict[str, list[Element]]
    document: AnnotatedDocument
    chains: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    relations: dict[str, list[tuple[Element, str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def read(self, layer: str | None) -> None:
        """Add the mentions of a layer to the document."""
        annotations = self.annotations
        for structure in self.table.values():
            values = structure.attributes
            if values.keys().isdisjoint(_POINTERS):
                continue
            if (first := values.get("first", "")) in annotations:
                self.chains[annotations[first].name].append(first)
            start = values.get("Governor", values.get("source", ""))
            end = values.get("Dependent", values.get("target", ""))
            if start in annotations and end in annotations and _DEPENDENCY not in structure.name:
                self.relations[structure.name].append((structure, start, end))
        if _LINK in self.by_type:
            self.chains[_LINK] += []
        mentions = sorted(filter(_MENTION.fullmatch, {s.name for s in self.table.values()}))
        joining = {*mentions, *self.chains, *self.relations}
        spans = {kind: () for kind in self.by_type if not _TECHNICAL.fullmatch(kind)}
        kind, feature = choose_layer(self.source, layer, self.prefer(mentions), joining, spans)
        if _MENTION.fullmatch(kind):
            self.read_annotator()
        elif feature:
            for annotation in self.by_type[kind]:
                self.add(annotation, annotation.get(feature) or None)
        elif kind in self.chains:
            self.read_chains(kind)
        elif kind in self.relations:
            self.read_relations(kind)

    def prefer(self, mentions: list[str]) -> Iterator[list[str]]:
        """The layers that count where none is named; the best first."""
        yield mentions[:1]
        yield list(self.chains)
        yield [kind for kind in self.relations if JOINING_LAYER.search(kind)]
        yield [""] if _DECLARED.search(self.source.data.tobytes()) else []

    def add(self, annotation: Element, entity: Hashable = None) -> int | None:
        """Add an annotation as a mention; returns its number, None where nothing is left of it."""
        features = _features(annotation) if annotation.name != _TOKEN else {}
        return self.document.add([_span(annotation)], entity, features, annotation.line)

    def read_chains(self, kind: str) -> None:
        """Add the links of all chains; a link belongs to the first chain that reaches it."""
        reached: set[str] = set()
        for number, first in enumerate(self.chains[kind]):
            identifier = first
            while identifier in self.annotations and identifier not in reached:
                reached.add(identifier)
                self.add(self.annotations[identifier], number)
                identifier = self.annotations[identifier].get("next")
            self.document.counts["chain-loops"] += identifier in reached
        for annotation in self.by_type[kind]:
            if annotation.get("xmi:id") not in reached:
                self.document.counts["unchained-links"] += 1
                self.add(annotation)

    def read_relations(self, kind: str) -> None:
        """Add the annotations that relations point at, and all others of their type."""
        relations = self.relations[kind]
        ends = {end: self.annotations[end] for _, *pair in relations for end in pair}
        base, _ = Counter(end.name for end in ends.values()).most_common(1)[0]
        mentions = list(ends.values()) if base == _TOKEN else self.by_type[base]
        numbers = {m.get("xmi:id"): self.add(m) for m in mentions if m.name == base}
        for relation, start, end in relations:
            if start not in numbers or end not in numbers:
                self.document.counts["other-relations"] += 1
            else:
                self.document.join(numbers[start], numbers[end], _features(relation).values())

    def read_annotator(self) -> None:
        """Add the mentions of CorefAnnotator, whose parts may be structures of their own."""
        parts: defaultdict[str, list[str]] = defaultdict(list)
        for kind in filter(_PART.fullmatch, self.by_type):
            for part in self.by_type[kind]:
                parts[part.get("Mention")].append(part.get("xmi:id"))
        for identifier, structure in self.table.items():
            if "Members" in structure.attributes:
                members = self.list_references(structure.get("Members"))
                self.document.group((identifier,), [(member,) for member in members])
            if not structure.name.endswith(".Mention") or not _MENTION.fullmatch(structure.name):
                continue
            listed = f"{structure.get('Discontinuous')} {structure.get('Surface')}"
            places = dict.fromkeys((identifier, *parts[identifier], *self.list_references(listed)))
            spans = [
                _span(self.annotations[place]) for place in places if place in self.annotations
            ]
            entity = self.table.get(structure.get("Entity"))
            self.document.counts["unlinked-mentions"] += entity is None
            key = None if entity is None else (entity.get("xmi:id"),)
            if entity is not None and entity.get("Label"):
                self.document.names[key] = entity.get("Label")
            self.document.add(spans, key, _features(structure), structure.line)

    def list_references(self, text: str) -> Iterable[str]:
        """The ids in a text; what an array has stands in the place of its id."""
        for identifier in text.split():
            structure = self.table.get(identifier)
            elements = structure.get("elements") if structure else ""
            yield from elements.split() or [identifier]
