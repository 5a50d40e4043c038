"""ECB+: tokens, markables that anchor on them, and relations to instances in all documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from corefeval.diagnostics import excerpt, list_names
from corefeval.formats.annotations import AnnotatedDocument, build_corpus, layer_error
from corefeval.formats.source import Source
from corefeval.formats.xml import Element, parse_xml, places_by
from corefeval.model import Corpus

_RELATIONS = ("CROSS_DOC_COREF", "INTRA_DOC_COREF")
_EVENT = re.compile(r"(NEG_)?ACTION.*")
_TAG = re.compile(r"(NEG_)?ACTION_.+|LOC_.+|TIME_.+|(NON_)?HUMAN_PART.*|UNKNOWN_INSTANCE_TAG")


def read_ecb(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a document of ECB+; the layer is `event`, `entity` or the tag of markables.

    Entities of several documents have one name in all of them; others are named after their
    document. A markable that no relation names is an entity of its own.
    """
    root = parse_xml(source)
    if root.name != "Document":
        raise source.error(
            "this is not ECB+",
            root.line,
            found=f"the root <{excerpt(root.name)}>",
            expected="the root <Document>, with <token> elements",
            fix="name the format that the file really has",
        )
    tokens = list(root.find_all("token"))
    identifier = root.get("doc_name").removesuffix(".xml") or str(source.stem)
    places = places_by(source, tokens, "t_id")
    sentences = [token.get("sentence") for token in tokens]
    document = AnnotatedDocument(
        source,
        identifier,
        words=[token.text.strip() for token in tokens],
        sentence_starts=[n for n, s in enumerate(sentences) if not n or s != sentences[n - 1]],
    )
    listed = [m for part in root.find_all("Markables") for m in part.children]
    markables = {number: listed[m] for number, m in places_by(source, listed, "m_id").items()}
    names = _name_entities(source, root, markables, identifier)
    for number in _choose_markables(source, markables, layer):
        markable = markables[number]
        features = {"mention_id": number, "entity_type": markable.name}
        anchors = [anchor.get("t_id") for anchor in markable.find_all("token_anchor")]
        for entity in names[number] or [f"{identifier}/{number}"]:
            parts = [(place, place + 1) for place in map(places.get, anchors) if place is not None]
            if len(parts) < len(anchors):
                raise source.error(
                    f"markable {excerpt(number)} is outside of the document",
                    markable.line,
                    found=f"the tokens {list_names(anchors, 20)}",
                    expected=f"t_ids of the {len(places)} tokens",
                    fix="export the document again",
                )
            document.add(parts, entity, features)
    return build_corpus([document], source, name, names_hold=True)


def _choose_markables(
    source: Source, markables: dict[str, Element], layer: str | None
) -> Sequence[str]:
    """The numbers of the mentions in a layer, in their order: markables that have tokens."""
    tags = sorted({markable.name for markable in markables.values()})
    if layer and layer not in ("event", "entity", *tags) and not _TAG.fullmatch(layer):
        problem = f"there is no layer {excerpt(layer)}"
        raise layer_error(source, problem, tags, "event, entity or a tag of markables")
    chosen = {
        tag: layer in (None, tag, "event" if _EVENT.fullmatch(tag) else "entity") for tag in tags
    }
    return [
        number
        for number, markable in markables.items()
        if chosen[markable.name] and next(markable.find_all("token_anchor"), None) is not None
    ]


def _name_entities(
    source: Source, root: Element, markables: dict[str, Element], identifier: str
) -> defaultdict[str, dict[str, None]]:
    """The names of the entities that each markable belongs to, by its number."""
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for relation in root.find_all(*_RELATIONS):
        numbers = [(child.name, child.get("m_id")) for child in relation.children]
        for _, number in numbers:
            if number not in markables:
                raise source.error(
                    f"there is no markable {excerpt(number)}",
                    relation.line,
                    found=f"relation {excerpt(relation.get('r_id'))}",
                    expected="the m_id of a markable of this document",
                    fix="export the document again",
                )
        target = next((number for role, number in numbers if role == "target"), "")
        name = ""
        if relation.name == "CROSS_DOC_COREF":
            instance = markables[target].get("instance_id") if target else ""
            name = relation.get("note") or instance
        name = name or f"{identifier}/{target or 'relation ' + relation.get('r_id')}"
        for role, number in numbers:
            if role == "source":
                names[number][name] = None
    return names
