"""TEI P5: the text of a document, and mentions as elements that point at their entities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from corefeval.formats.annotations import AnnotatedDocument, build_corpus
from corefeval.formats.source import Source
from corefeval.formats.xml import XML, Element, parse_xml
from corefeval.model import Corpus

_MENTIONS = frozenset(
    ("rs", "name", "persName", "placeName", "orgName", "geogName", "objectName", "eventName")
)
_ID = f"{XML}id"
_POINTERS = ("ref", "key", "corresp", "sameAs", "ana")
_BLOCKS = re.compile(
    "ab|argument|back|body|byline|caption|cast(Group|Item|List)|cell|cit|closer|dateline|"
    "div[1-7]?|doc(Author|Date|Imprint|Title)|epigraph|epilogue|figure|floatingText|front|group|"
    "head|imprimatur|item|l|lb|lg|list(Bibl|Person|Place)?|opener|p|performance|postscript|"
    "prologue|row|salute|signed|sp|speaker|spGrp|stage|table|text|titlePage|titlePart|trailer|u"
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
    documents = [root]
    if root.name == "teiCorpus":
        documents = list(root.find_all("TEI", "TEI.2"))
    if not any(child.name == "text" for document in documents for child in document.children):
        raise source.error(
            "there is no text",
            root.line,
            found=f"<{root.name}> without <text>",
            expected="the text in <text>, beside <teiHeader>",
            fix="export the document with its text",
        )
    texts = (_read_text(document, elements) for document in documents)
    pointers = (pointer,) if pointer else _POINTERS
    return build_corpus([_add_mentions(source, text, pointers) for text in texts], source, name)


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


def _add_mentions(source: Source, text: _Text, pointers: Sequence[str]) -> AnnotatedDocument:
    """The document of a text with its mentions; sets of entities are split antecedents."""
    document = AnnotatedDocument(source, text="".join(text.parts))
    for start, end, element in text.mentions:
        used = next((pointer for pointer in pointers if element.get(pointer).strip("# ")), "")
        # A key is one name, which may have blanks; all others are lists of pointers.
        targets = [element.get(used)] if used == "key" else element.get(used).split()
        members = sorted({target.removeprefix("#") for target in targets})
        names = [name for name in ("+".join(members), element.get(_ID)) if name]
        if not names:
            continue
        features = {
            attribute.replace(XML, "xml:"): value
            for attribute, value in element.attributes.items()
            if attribute not in (used, _ID)
        }
        document.add([(start, end)], names[0], features, element.line)
        document.join_names(names[0], names[-1])
        if len(members) > 1:
            document.group(names[0], members)
    document.counts["texts-without-mentions"] += not document.mentions
    return document
