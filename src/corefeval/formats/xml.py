"""XML from anywhere: a light tree with the line of each element, and nothing else is ever opened.

A document type may be named, and is not read; one that declares an entity is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.source import Source

DEEPEST = 1000  # so many elements may be open at a time
_LONGEST = 10_000  # characters that declarations may have that count again for each element
_WIDE = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["']utf-?(16|32)""", re.IGNORECASE)
_PACKAGE = re.compile(r"http:///(.+)\.ecore")
XML = "http://www.w3.org/XML/1998/namespace "  # what `xml:` stands for before attributes


@dataclass(slots=True)
class Element:
    """An element: its name, attributes and line, and what is in it.

    Its name is without a prefix; those of UIMA are types such as `uima.cas.Sofa`. An attribute with
    a prefix has the address of its namespace, a blank and its name. `content` has texts and
    elements in their order.
    """

    name: str
    attributes: dict[str, str]
    line: int | None
    content: list[Element | str] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """The value of an attribute."""
        return self.attributes.get(name, default)

    @property
    def children(self) -> list[Element]:
        """The elements directly in this one."""
        return [part for part in self.content if not isinstance(part, str)]

    def walk(self) -> Iterator[Element | str]:
        """All elements and texts in this one, at any depth, in textual order."""
        remaining = self.content[::-1]
        while remaining:
            part = remaining.pop()
            yield part
            if not isinstance(part, str):
                remaining += reversed(part.content)

    def find_all(self, *names: str) -> Iterator[Element]:
        """The elements of these names anywhere in this one, in textual order."""
        for part in self.walk():
            if not isinstance(part, str) and part.name in names:
                yield part

    @property
    def text(self) -> str:
        """All text in this element."""
        return "".join(part for part in self.walk() if isinstance(part, str))


def parse_xml(source: Source, *, with_text: bool = True) -> Element:
    """The root element of a file; an InputError with a line where it is not well-formed.

    A document type that declares an entity, and elements that nest deeper than `DEEPEST`, are
    InputErrors, too. Attributes that only a document type states are left out. Without `with_text`,
    elements have no texts, which is faster.
    """
    data, encoding = _find_encoding(source)
    parser = _make_parser(source, encoding)
    document = Element("", {}, 0)
    stack = [document]
    plain_names = _PlainNames()

    def open_element(name: str, attributes: dict[str, str]) -> None:
        element = Element(plain_names[name], attributes, parser.CurrentLineNumber, [])
        stack[-1].content.append(element)
        stack.append(element)
        if len(stack) > DEEPEST + 1:
            problem, fix = f"elements are nested more than {DEEPEST:,} deep", "export it again"
            raise source.error(problem, element.line, found=f"<{excerpt(name)}>", fix=fix)

    parser.StartElementHandler = open_element
    parser.EndElementHandler = lambda _: stack.pop()
    if with_text:
        parser.CharacterDataHandler = lambda text: stack[-1].content.append(text)
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        place = f"in the <{stack[-1].name}> of line {stack[-1].line}"
        found = place if stack[1:] else excerpt(data[:100].decode("utf-8", "replace"))
        raise _parsing_error(source, error, found) from None
    (root,) = document.children
    document.content.clear()  # the parser and its handlers hold each other, and this: not the tree
    return root


def _make_parser(source: Source, encoding: str | None) -> expat.XMLParserType:
    """A parser that refuses declarations by which small files take much time or memory."""
    parser = expat.ParserCreate(encoding, " ")
    parser.buffer_text = parser.specified_attributes = True
    n_declared = 0  # attributes and characters of their values

    def refuse(problem: str, found: str, expected: str) -> NoReturn:
        fix = "remove the declaration, or export the file again"
        line = parser.CurrentLineNumber
        raise source.error(problem, line, found=found, expected=expected, fix=fix)

    def refuse_entity(name: str, *_: object) -> None:
        problem = "the document type declares an entity, which is never read"
        refuse(problem, f"<!ENTITY {excerpt(name)} …>", "XML without entity declarations")

    def check_namespace(_: str | None, address: str | None) -> None:
        if address and len(address) > _LONGEST:
            expected = f"an address of at most {_LONGEST:,} characters"
            refuse("the address of a namespace is too long", excerpt(address), expected)

    def check_attribute(element: str, name: str, kind: str, default: str | None, _: int) -> None:
        nonlocal n_declared
        n_declared += 1 + len(default or "")
        if n_declared > _LONGEST:
            expected = f"at most {_LONGEST:,} attributes and characters of their values"
            problem = "the document type declares too much about attributes"
            refuse(problem, f"<!ATTLIST {excerpt(element)} {excerpt(name)} …>", expected)

    parser.StartNamespaceDeclHandler = check_namespace
    parser.AttlistDeclHandler = check_attribute
    parser.EntityDeclHandler = refuse_entity
    return parser


def _parsing_error(source: Source, error: Exception, found: str) -> InputError:
    """The error for XML that is not well-formed, or whose encoding the parser does not know."""
    problem = "the encoding that the XML declaration names is not known"
    line, fix = 1, "name the file's encoding with --encoding"
    if isinstance(error, expat.ExpatError):
        reason, line = expat.ErrorString(error.code), error.lineno
        problem = f"the XML is not well-formed: {reason} at column {error.offset + 1}"
        fix = "export the file again, or mend it at this place"
    return source.error(problem, line, found=found, expected="well-formed XML", fix=fix)


def _find_encoding(source: Source) -> tuple[bytes, str | None]:
    """The bytes of a file, and their encoding unless the XML declaration names it."""
    if source.encoding.lower() not in ("utf-8", "utf8"):
        return source.text.encode(), "utf-8"
    data = source.data.tobytes()
    return data, "utf-8" if _WIDE.match(data) else None  # which it was, before it became a source


def places_by(source: Source, elements: Iterable[Element], attribute: str) -> dict[str, int]:
    """The places of elements in a list by their ids; two of one id are an InputError."""
    places: dict[str, int] = {}
    for place, element in enumerate(elements):
        identifier = element.get(attribute)
        if places.setdefault(identifier, place) != place and identifier:
            raise source.error(
                f"two elements have the id {excerpt(identifier)}",
                element.line,
                found=f"{element.name} with the id of an earlier one",
                expected="a different id for each of them",
                fix="export the document again",
            )
    places.pop("", None)
    return places


class _PlainNames(dict[str, str]):
    """Names of elements by those with namespaces that the parser gives them."""

    def __missing__(self, name: str) -> str:
        namespace, _, local = name.rpartition(" ")
        package = _PACKAGE.fullmatch(namespace)
        self[name] = f"{package[1].replace('/', '.')}.{local}" if package else local
        return self[name]
