"""UIMA CAS as XMI or JSON: chains and relations of INCEpTION and DKPro, CorefAnnotator's mentions.

Both are tables of feature structures by id, whose references to each other are ids.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from corefeval.diagnostics import InputError, excerpt, list_names
from corefeval.formats.annotations import LAYER_FIX, AnnotatedDocument, build_corpus, is_bridging
from corefeval.formats.declarations import Tally
from corefeval.formats.json.records import Record, records_of, show
from corefeval.formats.source import Source
from corefeval.formats.xml import parse_xml
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
_COREFERENCE = re.compile("coref|anaph", re.IGNORECASE)
# A file that declares the types of a layer has the layer, perhaps without any annotation.
_DECLARED = re.compile(rb"(dkpro[./]core[./]api|unistuttgart[./]ims)[./]coref[./]")
_ENDS = (("Governor", "Dependent"), ("source", "target"))
_STRUCTURE = re.compile(
    "xmi:id|%.*|sofa|begin|end|next|Entity|Surface|Discontinuous|Flags|Governor|Dependent|"
    "source|target"
)
_ODDITIES = (
    Tally("chain-loops", "chain", "that comes back to a link of a chain, ended there"),
    Tally("unchained-links", "link", "that no chain reaches, each an entity of its own"),
    Tally("unlinked-mentions", "mention", "without an entity, each an entity of its own"),
    Tally("other-relations", "relation", "left out: of annotations of another layer"),
)


class Structure(NamedTuple):
    """A feature structure: its id and type, its features as texts, and its line."""

    identifier: str
    type: str
    values: Mapping[str, str]
    line: int | None = None

    @property
    def features(self) -> dict[str, str]:
        """What the structure says beside its place and its references."""
        return {key: value for key, value in self.values.items() if not _STRUCTURE.fullmatch(key)}


Table = dict[str, Structure]


def read_xmi(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a CAS from XMI; the layer is a type or its last part, or `Layer.feature`."""
    table: Table = {}
    for element in parse_xml(source, with_text=False).children:
        package = element.namespace.removeprefix("http:///").removesuffix(".ecore")
        kind = f"{package.replace('/', '.')}.{element.name}"
        identifier = element.get("xmi:id", f"nameless {len(table)}")
        table[identifier] = Structure(identifier, kind, element.attributes, element.line)
    return build_corpus([_read_cas(source, table, layer)], source, name, _ODDITIES)


def read_cas_json(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a CAS from JSON; the layer is a type or its last part, or `Layer.feature`."""
    tables = map(_read_table, records_of(source))
    documents = [_read_cas(source, table, layer) for table in tables]
    return build_corpus(documents, source, name, _ODDITIES)


def _read_table(record: Record) -> Table:
    """The feature structures of a JSON object, with references and arrays as XMI has them."""
    listed = record.value("%FEATURE_STRUCTURES")
    entries = listed.items() if isinstance(listed, dict) else enumerate(listed or ())
    table: Table = {}
    for number, structure in entries:
        if not isinstance(structure, dict):
            expected = "an object with %ID and %TYPE"
            raise record.error("this is no structure", found=show(structure), expected=expected)
        values = {
            "elements" if key == "%ELEMENTS" else key.removeprefix("@"): " ".join(map(str, value))
            if isinstance(value, list)
            else str(value)
            for key, value in structure.items()
            if value is not None
        }
        default = str(number) if isinstance(listed, dict) else f"nameless {number}"
        identifier = values.get("%ID", default)
        table[identifier] = Structure(identifier, values.get("%TYPE", ""), values, record.line)
    return table


def _read_cas(source: Source, table: Table, layer: str | None) -> AnnotatedDocument:
    """The document of a CAS, with the mentions of a layer."""
    sofas = [s for s in table.values() if s.type == "uima.cas.Sofa" and "sofaString" in s.values]
    if not sofas:
        raise source.error(
            "there is no text",
            expected="a Sofa with its text in sofaString",
            fix="export the document with its text",
        )
    sofa = min(
        sofas,
        key=lambda s: (not s.values["sofaString"], s.values.get("sofaID") != "_InitialView"),
    )
    annotations = {
        identifier: structure
        for identifier, structure in table.items()
        if "begin" in structure.values
        and "end" in structure.values
        and structure.values.get("sofa", sofa.identifier) == sofa.identifier
    }
    text = sofa.values["sofaString"]
    spans = sorted(_span(a) for a in annotations.values() if a.type == _TOKEN)
    tokens = [(begin, end) for begin, end in spans if begin != end]
    sentences = (_span(a)[0] for a in annotations.values() if a.type == _SENTENCE)
    starts = {0, *(bisect_left(tokens, (begin, 0)) for begin in sentences)}
    units = text.encode("utf-16-le", "surrogatepass")
    words = [
        units[2 * begin : 2 * end].decode("utf-16-le", "surrogatepass") for begin, end in tokens
    ]
    document = AnnotatedDocument(
        source,
        _identify(annotations),
        text=text,
        words=words if tokens else None,
        bounds=tokens,
        sentence_starts=sorted(starts - {len(tokens)}) if tokens else None,
        in_utf16=True,
    )
    _Cas(source, table, annotations, document).read(layer)
    return document


def _span(annotation: Structure) -> tuple[int, int]:
    """The offsets of an annotation in UTF-16 units, −1 for what is no number."""
    begin, end = annotation.values["begin"], annotation.values["end"]
    is_number = begin.isdecimal() and end.isdecimal() and len(begin) < 16 and len(end) < 16
    return (int(begin), int(end)) if is_number else (-1, -1)


def _identify(annotations: Table) -> str | None:
    """The name of the document in its address; what calls itself an id is an annotator's name."""
    for structure in annotations.values():
        if structure.type == _METADATA and (address := structure.values.get("documentUri")):
            file = unquote(address.rstrip("/").rpartition("/")[2])
            return os.path.splitext(file)[0] or None
    return None


@dataclass(slots=True)
class _Cas:
    """All structures, and the annotations of the text that is read; chains and relations by type.

    `chains` have the first links of chains by the type of their links, `relations` structures with
    the ids of their source and target.
    """

    source: Source
    table: Table
    annotations: Table
    document: AnnotatedDocument
    chains: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    relations: dict[str, list[tuple[Structure, str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def read(self, layer: str | None) -> None:
        """Add the mentions of a layer to the document."""
        annotations = self.annotations
        for structure in self.table.values():
            values = structure.values
            if (first := values.get("first")) in annotations:
                self.chains[annotations[first].type].append(first)
            elif structure.type == _LINK:
                self.chains[_LINK] += []
            for ends in _ENDS if _DEPENDENCY not in structure.type else ():
                start, end = (values.get(key, "") for key in ends)
                if start in annotations and end in annotations:
                    self.relations[structure.type].append((structure, start, end))
        kind, feature = self.choose(layer)
        if _MENTION.fullmatch(kind):
            self.read_annotator()
        elif feature:
            for structure in annotations.values():
                if structure.type == kind:
                    self.add(structure, structure.values.get(feature) or None)
        elif kind in self.chains:
            self.read_chains(kind)
        elif kind in self.relations:
            self.read_relations(kind)

    def choose(self, layer: str | None) -> tuple[str, str]:
        """The type of the layer that counts, "" where it is empty, and the feature that names."""
        mentions = [s.type for s in self.table.values() if _MENTION.fullmatch(s.type)]
        joining = [*mentions, *self.chains, *self.relations]
        used = {*joining, *(a.type for a in self.annotations.values())}
        layers = sorted(kind for kind in used if not _TECHNICAL.fullmatch(kind))
        feature = ""
        if layer is None:
            relations = [k for k in self.relations if _COREFERENCE.search(k.rpartition(".")[2])]
            matches = mentions[:1] or list(self.chains) or relations
            if not matches and _DECLARED.search(self.source.data.tobytes()):
                return "", ""
        else:
            matches = _find_layer(layers, layer)
            if not matches and "." in layer:
                layer, _, feature = layer.rpartition(".")
                matches = _find_layer(layers, layer)
            if len(matches) == 1 and not feature and matches[0] not in joining:
                raise self.refuse(
                    f"nothing joins annotations of the layer {excerpt(layer)}", layers
                )
        if len(matches) == 1:
            return matches[0], feature
        if matches:
            raise self.refuse("there are several layers of coreference", matches)
        problem = (
            f"there is no layer {excerpt(layer)}" if layer else "there is no coreference layer"
        )
        raise self.refuse(problem, layers)

    def refuse(self, problem: str, layers: list[str]) -> InputError:
        """The error of a layer that cannot be chosen."""
        return self.source.error(
            problem,
            found=f"the layers {list_names(layers, 40)}" if layers else "no layers",
            expected="a layer of chains or relations, or LAYER.FEATURE whose values name entities",
            fix=LAYER_FIX,
        )

    def add(self, annotation: Structure, entity: object = None) -> int | None:
        """Add an annotation as a mention; returns its number, None where nothing is left of it."""
        features = annotation.features if annotation.type != _TOKEN else {}
        return self.document.add([_span(annotation)], entity, features, annotation.line)

    def read_chains(self, kind: str) -> None:
        """Add the links of all chains; a link belongs to the first chain that reaches it."""
        reached: set[str] = set()
        for number, first in enumerate(self.chains[kind]):
            identifier = first
            while identifier in self.annotations and identifier not in reached:
                reached.add(identifier)
                self.add(self.annotations[identifier], number)
                identifier = self.annotations[identifier].values.get("next", "")
            self.document.counts["chain-loops"] += identifier in reached
        for identifier, annotation in self.annotations.items():
            if annotation.type == kind and identifier not in reached:
                self.document.counts["unchained-links"] += 1
                self.add(annotation)

    def read_relations(self, kind: str) -> None:
        """Add the annotations that relations point at, and all others of their type."""
        relations = self.relations[kind]
        ends = [end for _, *pair in relations for end in pair]
        base, _ = Counter(self.annotations[end].type for end in ends).most_common(1)[0]
        candidates = dict.fromkeys(ends) if base == _TOKEN else self.annotations
        numbers = {
            identifier: self.add(self.annotations[identifier])
            for identifier in candidates
            if self.annotations[identifier].type == base
        }
        for relation, start, end in relations:
            labels = relation.features.values()
            if start not in numbers or end not in numbers:
                self.document.counts["other-relations"] += 1
            elif bridging := next(filter(is_bridging, labels), None):
                self.document.relate(numbers[start], numbers[end], bridging)
            else:
                self.document.join(numbers[start], numbers[end])

    def read_annotator(self) -> None:
        """Add the mentions of CorefAnnotator, whose parts may be structures of their own."""
        parts: defaultdict[str, list[str]] = defaultdict(list)
        for structure in self.annotations.values():
            if _PART.fullmatch(structure.type):
                parts[structure.values.get("Mention", "")].append(structure.identifier)
        for identifier, structure in self.table.items():
            values = structure.values
            if "Members" in values:
                members = self.list_references(values["Members"])
                self.document.group((identifier,), [(member,) for member in members])
            if not _MENTION.fullmatch(structure.type):
                continue
            listed = [values.get(key, "") for key in ("Discontinuous", "Surface")]
            further = [part for text in listed for part in self.list_references(text)]
            places = dict.fromkeys((identifier, *parts[identifier], *further))
            spans = [
                _span(self.annotations[place]) for place in places if place in self.annotations
            ]
            entity = self.table.get(values.get("Entity", ""))
            self.document.counts["unlinked-mentions"] += entity is None
            key = None if entity is None else (entity.identifier,)
            if entity is not None and (label := entity.values.get("Label")):
                self.document.names[key] = label
            self.document.add(spans, key, structure.features, structure.line)

    def list_references(self, text: str) -> list[str]:
        """The ids in a text, with what arrays have in the place of their ids."""
        identifiers = text.split()
        structures = (self.table.get(identifier) for identifier in identifiers)
        values = [structure.values if structure else {} for structure in structures]
        pairs = zip(identifiers, values, strict=True)
        return " ".join(value.get("elements", identifier) for identifier, value in pairs).split()


def _find_layer(layers: list[str], name: str) -> list[str]:
    """The layers of a name, which may be the last part of their types."""
    return [name] if name in layers else [k for k in layers if k.rpartition(".")[2] == name]
