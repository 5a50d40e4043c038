"""TEI P5: the text of a document, and mentions as elements that point at their entities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from corefeval.formats.declarations import Tally
from corefeval.formats.losses import note_counts
from corefeval.formats.source import Source
from corefeval.formats.standoff import join_links
from corefeval.formats.xml import Element, parse_xml
from corefeval.model import Corpus, CorpusBuilder, DocumentBuilder
from corefeval.model.relations import SPLIT
from corefeval.model.token_tables import tokens_of_texts

_MENTIONS = frozenset(
    ("rs", "name", "persName", "placeName", "orgName", "geogName", "objectName", "eventName")
)
_POINTERS = ("ref", "key", "corresp", "sameAs", "ana")
_BLOCKS = re.compile(
    "ab|argument|back|body|byline|caption|cast(Group|Item|List)|cell|cit|closer|dateline|"
    "div[1-7]?|doc(Author|Date|Imprint|Title)|epigraph|epilogue|figure|floatingText|front|group|"
    "head|imprimatur|item|l|lb|lg|list(Bibl|Person|Place)?|opener|p|performance|postscript|"
    "prologue|row|salute|signed|sp|speaker|spGrp|stage|table|text|titlePage|titlePart|trailer|u"
)
_ODDITIES = (
    Tally("empty-mentions", "mention", "without visible characters left out"),
    Tally(
        "texts-without-mentions",
        "text",
        "without mentions: no element of the layer has a pointer or an xml:id",
    ),
)
_RUNS = re.compile(r"\s+|\S+")


@dataclass(slots=True)
class _Text:
    """The text of a document so far, and its mentions: where they begin and end, and whose."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    separator: str = ""  # between the last visible character and the next one
    mentions: list[tuple[int, int, Element]] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Add text; a run of white space becomes a blank, or a line end between blocks."""
        for run in _RUNS.findall(text):
            if run.isspace():
                self.separator = self.separator or " "
                continue
            run = self.separator + run if self.parts else run
            self.separator = ""
            self.parts.append(run)
            self.length += len(run)


def read_tei(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read the documents of a TEI file; their positions are characters of the text.

    The layer is an element (`rs`), an attribute that points (`@ana`), or both (`seg@corresp`).
    """
    element, _, pointer = (layer or "").partition("@")
    elements = frozenset([element]) if element else _MENTIONS
    root = parse_xml(source)
    is_corpus = root.name == "teiCorpus"
    documents = list(root.find_all("TEI", "TEI.2")) if is_corpus else [root]
    if not any(child.name == "text" for document in documents for child in document.children):
        raise source.error(
            "there is no text",
            root.line,
            found=f"<{root.name}> without <text>",
            expected="the text in <text>, beside <teiHeader>",
            fix="export the document with its text",
        )
    builder = CorpusBuilder(name=name, source=source.file)
    texts: list[str] = []
    counts: Counter[str] = Counter()
    for number, document in enumerate(documents, start=1):
        identifier = source.name_document(number if is_corpus else None, ())
        text = _read_text(document, elements)
        texts.append("".join(text.parts))
        builder_document = builder.document(identifier, n_tokens=text.length)
        counts += _add_mentions(builder_document, text, (pointer,) if pointer else _POINTERS)
    builder.notices += note_counts(counts, _ODDITIES, whose=source.file)
    return builder.build(tokens_of_texts(texts, source.file))


def _read_text(document: Element, elements: frozenset[str]) -> _Text:
    """The text of a document, with the elements of these names that are in it."""
    text = _Text()
    texts = [part for part in document.children if part.name == "text"]
    open_elements = [(part, iter(part.content), 0) for part in reversed(texts)]
    while open_elements:
        element, content, start = open_elements[-1]
        part = next(content, None)
        if isinstance(part, str):
            text.add(part)
            continue
        if part is None:
            open_elements.pop()
            if element.name in elements:
                text.mentions.append((start, text.length, element))
        else:
            open_elements.append((part, iter(part.content), text.length))
            element = part
        if _BLOCKS.fullmatch(element.name) and element.get("break") != "no":
            text.separator = "\n"
    return text


def _add_mentions(document: DocumentBuilder, text: _Text, pointers: Sequence[str]) -> Counter[str]:
    """Add the mentions of a text, and its sets as split antecedents; counts what is odd."""
    characters = "".join(text.parts)
    counts: Counter[str] = Counter()
    mentions, sets = [], {}
    for start, end, element in sorted(text.mentions, key=lambda m: (m[0], -m[1])):
        used = next((pointer for pointer in pointers if element.get(pointer).strip("# ")), "")
        members = sorted({target.removeprefix("#") for target in element.get(used).split()})
        name, identifier = "+".join(members), element.get("xml:id")
        if not name and not identifier:
            continue
        if len(members) > 1:
            sets[name] = members
        features = {k: v for k, v in element.attributes.items() if k not in (used, "xml:id")}
        mentions.append((start, end, name, identifier, features))
    groups = join_links(
        (name, identifier) for _, _, name, identifier, _ in mentions if name and identifier
    )
    for start, end, name, identifier, features in mentions:
        if start >= end:
            counts["empty-mentions"] += 1
            continue
        first = start + characters[start].isspace()
        entity = groups.get(name or identifier, name or identifier)
        document.mention(entity, first, end, features=features)
    for name, members in sets.items():
        elements = [groups.get(member, member) for member in members]
        document.relation(SPLIT, groups.get(name, name), elements)
    counts["texts-without-mentions"] += not mentions
    return counts
