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

from corefeval.formats.annotations import (
    JOINING_LAYER,
    AnnotatedDocument,
    build_corpus,
    choose_layer,
)
from corefeval.formats.json.records import Record, records_of, show
from corefeval.formats.source import Source
from corefeval.formats.xml import Element, parse_xml, places_by
from corefeval.model import Corpus

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
_TOKEN, _SENTENCE = (f"{_DKPRO}segmentation.type.{name}" for name in ("Token", "Sentence"))
_VIEW = "_InitialView"
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
_ID, _OLD_ID = "http://www.omg.org/XMI id", "http://schema.omg.org/spec/XMI/2.1 id"
_STRUCTURE = {_ID, "sofa", "begin", "end", "next", "Flags", *_POINTERS}
_STRUCTURE |= {"Entity", "Surface", "Discontinuous", "Dependent", "target"}


Table = dict[str, Element]  # feature structures by id: their names are types


def read_xmi(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a CAS from XMI; the layer is a type or its last part, or `Layer.feature`."""
    structures = parse_xml(source, with_text=False).children
    return build_corpus([_read_cas(source, structures, layer)], source, name)


def read_cas_json(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a CAS from JSON; the layer is a type or its last part, or `Layer.feature`."""
    records = map(_list_structures, records_of(source))
    documents = [_read_cas(source, structures, layer) for structures in records]
    return build_corpus(documents, source, name)


def _index_structures(source: Source, structures: list[Element]) -> Table:
    """The structures by their ids; an InputError where two have one.

    One without an id, to which nothing can refer, has a blank and a number in its place.
    """
    for number, structure in enumerate(structures):
        values = structure.attributes
        values[_ID] = values.get(_ID) or values.pop(_OLD_ID, "") or f" {number}"
    places = places_by(source, structures, _ID)
    return {identifier: structures[place] for identifier, place in places.items()}


def _list_structures(record: Record) -> list[Element]:
    """The feature structures of a JSON object, with ids and references as XMI has them."""
    value = record.value("%FEATURE_STRUCTURES")
    listed = value if isinstance(value, list | dict) else [value]
    numbered = listed if isinstance(listed, dict) else dict(enumerate(listed))
    structures = []
    for number, structure in numbered.items():
        if not isinstance(structure, dict):
            expected = "an object with %ID and %TYPE"
            raise record.error("this is no structure", found=show(structure), expected=expected)
        values = {
            key.lstrip("@%"): " ".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in structure.items()
            if value is not None
        }
        values[_ID] = values.pop("ID", str(number))
        structures.append(Element(values.pop("TYPE", ""), values, record.line))
    return structures


def _read_cas(source: Source, structures: list[Element], layer: str | None) -> AnnotatedDocument:
    """The document of a CAS, with the mentions of a layer."""
    table = _index_structures(source, structures)
    sofas = {
        identifier: structure
        for identifier, structure in table.items()
        if structure.name == "uima.cas.Sofa" and "sofaString" in structure.attributes
    }
    if not sofas:
        raise source.error(
            "there is no text",
            expected="a Sofa with its text in sofaString",
            fix="export the document with its text",
        )
    number, sofa = min(
        sofas.items(), key=lambda s: (not s[1].get("sofaString"), s[1].get("sofaID") != _VIEW)
    )
    by_type: defaultdict[str, Table] = defaultdict(dict)
    for identifier, structure in table.items():
        values = structure.attributes
        if "begin" in values and values.get("sofa", number) == number:
            by_type[structure.name][identifier] = structure
    tokens = sorted(s for s in map(_span, by_type[_TOKEN].values()) if s[0] != s[1])
    sentences = map(_span, by_type[_SENTENCE].values())
    starts = {bisect_left(tokens, sentence[:1]) for sentence in sentences}
    address = next((a.get("documentUri") for a in by_type[_METADATA].values()), "")
    file = unquote(address.rstrip("/").rpartition("/")[2])
    document = AnnotatedDocument(
        source,
        os.path.splitext(file)[0] or None,
        text=sofa.get("sofaString"),
        bounds=tokens,
        sentence_starts=sorted({0, *starts} - {len(tokens)}) if tokens else None,
        in_utf16=True,
    )
    _Cas(source, table, by_type, document).read(layer)
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
    """All structures, and by their types the annotations of the text that is read.

    `annotations` are those of all types. `chains` have the ids of the first links of chains by the
    type of their links, `relations` structures with the ids of source and target by their type.
    """

    source: Source
    table: Table
    by_type: dict[str, Table]
    document: AnnotatedDocument
    annotations: Table = field(default_factory=dict)
    chains: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    relations: dict[str, list[tuple[Element, str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def read(self, layer: str | None) -> None:
        """Add the mentions of a layer to the document."""
        annotations = self.annotations
        for table in self.by_type.values():
            annotations |= table
        for structure in self.table.values():
            values = structure.attributes
            if structure.name == _TOKEN or values.keys().isdisjoint(_POINTERS):
                continue
            if (first := values.get("first", "")) in annotations:
                self.chains[annotations[first].name].append(first)
            start = values.get("Governor", values.get("source", ""))
            end = values.get("Dependent", values.get("target", ""))
            is_relation = start and end and (start in annotations or end in annotations)
            if is_relation and _DEPENDENCY not in structure.name:
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
            for annotation in self.by_type[kind].values():
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
        unchained = [link for link in self.by_type[kind] if link not in reached]
        self.document.counts["unchained-links"] += len(unchained)
        for identifier in unchained:
            self.add(self.annotations[identifier])

    def read_relations(self, kind: str) -> None:
        """Add the annotations that relations point at, and all others of their type."""
        relations = self.relations[kind]
        named = (end for _, *pair in relations for end in pair)
        ends = {end: self.annotations[end] for end in named if end in self.annotations}
        base, _ = Counter(end.name for end in ends.values()).most_common(1)[0]
        mentions = ends if base == _TOKEN else self.by_type[base]
        numbers = {number: self.add(m) for number, m in mentions.items() if m.name == base}
        for relation, start, end in relations:
            if start not in numbers or end not in numbers:
                self.document.counts["other-relations"] += 1
            else:
                self.document.join(numbers[start], numbers[end], _features(relation).values())

    def read_annotator(self) -> None:
        """Add the mentions of CorefAnnotator, whose parts may be structures of their own."""
        parts: defaultdict[str, list[str]] = defaultdict(list)
        used: set[str] = set()
        for kind in filter(_PART.fullmatch, self.by_type):
            for identifier, part in self.by_type[kind].items():
                parts[part.get("Mention")].append(identifier)
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
            used.update(places)
            self.document.counts["lost-parts"] += sum(place not in self.table for place in places)
            entity = structure.get("Entity")
            key = (entity,) if entity in self.table else None
            self.document.counts["unlinked-mentions"] += key is None
            if key and (label := self.table[entity].get("Label")):
                self.document.names[key] = label
            self.document.add(spans, key, _features(structure), structure.line)
        self.document.counts["lost-parts"] += sum(
            part not in used for listed in parts.values() for part in listed
        )

    def list_references(self, text: str) -> Iterable[str]:
        """The ids in a text; what an array has stands in the place of its id."""
        for identifier in text.split():
            structure = self.table.get(identifier)
            elements = structure.get("elements", structure.get("ELEMENTS")) if structure else ""
            yield from elements.split() or [identifier]
