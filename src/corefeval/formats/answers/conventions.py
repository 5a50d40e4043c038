"""The conventions in which language models tag a text, and how each is read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from corefeval.formats.answers.tags import (
    CLOSE,
    CUT,
    OPEN,
    REMOVE,
    TEXT_CLOSE,
    TEXT_OPEN,
    Assembly,
    Mark,
    TaggedText,
    find_marks,
    normal_label,
    read_labelled,
    read_nested,
)
from corefeval.formats.answers.text import fold_text


@dataclass(frozen=True, slots=True)
class Convention:
    """A way to tag a text: how it looks, how often it is seen, and how it is read."""

    name: str
    example: str
    seen: re.Pattern[str]
    read: Callable[[str], TaggedText]

    def count(self, text: str) -> int:
        """How many well-formed tags of this convention there are."""
        return sum(1 for _ in self.seen.finditer(text))


_CRAC_MARK = r"(?:\[e?[\w.-]+\]?|e?[\w.-]+\])"
_CRAC_NEXT = r",\s?(?:\[e\d+\]?|e\d+\])"  # behind a blank only what is a mark for sure
_CRAC = re.compile(rf"\|({_CRAC_MARK}(?:,{_CRAC_MARK}|{_CRAC_NEXT})*)", re.IGNORECASE)
_HALF_CRAC = re.compile(r"(?<=\S)[|,]\[e?\Z", re.IGNORECASE)  # whose number is cut off


def _read_crac(text: str) -> TaggedText:
    """Marks hang on words: on a word, what closes an earlier mention is read first."""
    half = _HALF_CRAC.search(text)
    assembly = Assembly(text[: half.start()] if half else text)
    text = assembly.answer
    marks: list[Mark] = []
    last = 0
    open_labels: dict[str, int] = defaultdict(int)
    for match in _CRAC.finditer(text):
        begin = _word_start(text, last, match.start())
        if begin == match.start():
            continue
        last = match.end()
        assembly.removed.append(match.span())
        listed = re.findall(_CRAC_MARK, match[1])
        opening = [token.strip("[]") for token in listed if token[0] == "["]
        single = [token.strip("[]") for token in listed if token[0] == "[" and token[-1] == "]"]
        for name in single:
            assembly.add(begin, match.start(), name, begin)
            opening.remove(name)
        for token in listed:
            if token[0] == "[":
                continue
            name = token[:-1]
            matching = [label for label in opening if normal_label(label) == normal_label(name)]
            if not open_labels[normal_label(name)] and matching:
                assembly.add(begin, match.start(), name, begin)
                opening.remove(matching[0])
                continue
            open_labels[normal_label(name)] -= open_labels[normal_label(name)] > 0
            marks.append(Mark(CLOSE, match.start(), match.start(), name))
        for name in opening:
            open_labels[normal_label(name)] += 1
            marks.append(Mark(OPEN, begin, begin, name))
    if half:
        begin = _word_start(text, 0, len(text))
        assembly.lose(begin, begin + len(text[begin:].partition("|")[0]), begin, "cut off")
    return read_labelled(text, marks, assembly)


def _word_start(text: str, low: int, high: int) -> int:
    """Where the word begins that ends at a place: without quotes and brackets before it."""
    begin = high
    while begin > low and not text[begin - 1].isspace():
        begin -= 1
    inner = begin
    while inner < high - 1 and text[inner] in "([{\"“‘«¿¡'’":
        inner += 1
    return (
        inner
        if text[inner].isalnum() and inner > begin and text[begin:inner] not in "'’"
        else begin
    )


_NUMBER = r"[\w.-]*\d[\w.-]*"
_BRACKET = re.compile(r"\[\s?(?:e|entity|ent|cluster|c)[_ -]?(\d+)\s?[:|]?\s+(?=[^\s\]])")
_PAREN = re.compile(r"\((?:e|entity)[_ -]?(\d+)\s?[:|]?\s+(?=[^\s)])")
# Numbers and signs alone are a reference of the text, [12 13] or [3 – 5]; but a year is a mention.
_NUMBERED = re.compile(r"\[#?(\d+)\s?[:|]?\s+(?=\d{4}\s*\]|(?![\d\s,;–—-]*\])\S)")
_NESTED = 50  # brackets in brackets: nobody closes what was opened further out
_SQUARE, _SQUARE_END = re.compile(r"\["), re.compile(r"\]")


def _read_brackets(pattern: re.Pattern[str]) -> Callable[[str], TaggedText]:
    """`[e1 the man]`: an opening bracket without a number is text, and so is what closes it."""

    def read(text: str) -> TaggedText:
        kinds = [(OPEN, pattern), (TEXT_OPEN, _SQUARE), (TEXT_CLOSE, _SQUARE_END)]
        if not _PAREN.search(text):
            return read_nested(text, find_marks(text, *kinds))
        rounds = [(OPEN, _PAREN), (TEXT_OPEN, re.compile(r"\(")), (TEXT_CLOSE, re.compile(r"\)"))]
        marks = find_marks(text, *kinds[:1], *rounds[:1], *kinds[1:], *rounds[1:])
        return read_nested(text, _by_shape(text, marks))

    return read


def _by_shape(text: str, marks: Iterable[Mark]) -> list[Mark]:
    """Marks where round and square brackets are told apart: what another shape closes is text."""
    stack: list[str] = []
    kept: list[Mark] = []
    for mark in marks:
        shape = text[mark.start]
        if mark.kind in (OPEN, TEXT_OPEN):
            stack.append(shape)
            kept.append(mark)
            continue
        opening = {"]": "[", ")": "("}[shape]
        if opening not in stack[-_NESTED:]:
            continue
        while stack.pop() != opening:
            kept.append(Mark(TEXT_CLOSE, mark.start, mark.start))
        kept.append(mark)
    return kept


def _closing(name: str) -> Callable[[str], TaggedText]:
    """Square brackets whose closing one carries the label; a plain one closes text."""

    def read(text: str) -> TaggedText:
        kinds = ((CLOSE, _CLOSINGS[name]), (CUT, _HALF_CLOSING), (OPEN, _SQUARE))
        return read_nested(text, find_marks(text, *kinds, (TEXT_CLOSE, _SQUARE_END)))

    return read


_LINK = r"\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+)\)"
_CLOSINGS = {
    "markdown": re.compile(r"\]\s?\((#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+)\)"),
    "hash": re.compile(r"\]\s?(?:#(\w+)|\(#(\w+)\))"),
    "subscript": re.compile(
        r"\](?:\$?_(e?\d+)\$?|\$?_\{([^{}\n]{0,40})\}\$?|<sub>([^<\n]{0,40})</sub>|([₀-₉]+))"
    ),
    "colon": re.compile(rf"\s?:\s?({_NUMBER})\s?\]"),
}
_HALF_CLOSING = re.compile(
    r"\](?:\s?\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w*)?|\s?#|\$?_\{?[^{}\s]{0,40}|"
    r"<(?:s|su|sub|sub>[^<\n]{0,40}(?:</?\w{0,3})?)?)\Z"
)
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_PILED = re.compile(rf"(?<!\])(?<!\]\s)((?:\]\s?){{2,}})((?:{_LINK}\s?){{2,}})")


def _read_markdown(text: str) -> TaggedText:
    """`[x](#cluster_1)`; links piled up behind nested brackets go to them from the inside out."""

    def unpile(match: re.Match[str]) -> str:
        brackets, links = match[1].count("]"), re.findall(_LINK, match[2])
        if brackets < len(links):
            return match.group()
        spread = "".join("]" + link for link in links)
        return "]" * (brackets - len(links)) + spread + match.group()[len(match.group().rstrip()) :]

    return _closing("markdown")(_PILED.sub(unpile, text))


def _read_subscript(text: str) -> TaggedText:
    parsed = _closing("subscript")(text)
    for mention in parsed.mentions:
        mention.entity = mention.entity.translate(_SUBSCRIPTS)
    return parsed


_NAMES = r"(?:m|mention|entity|coref|rs|span|e|ref|np|ent)"
_ATTRIBUTE = r"(?:\b(?:xml:)?(?:id|cluster|entity|cluster_id|entity_id|eid|chain|set)\s*=\s*)"
# A name in quotes may have blanks in it: id="the captain".
_VALUE = r"""(?:["“”]([^"“”<>]*)["“”]|'([^'<>]*)'|["'“”]?([^"'“”\s<>]*))"""
_XML_OPEN = re.compile(rf"<{_NAMES}\b[^<>]{{0,200}}?{_ATTRIBUTE}{_VALUE}[^<>]{{0,200}}>")
_XML_REF = re.compile(rf"<coref\b[^<>]{{0,200}}?\bref\s*=\s*{_VALUE}", re.IGNORECASE)
_REF_ONLY = re.compile(rf"<{_NAMES}\b[^<>]{{0,200}}?\bref\s*=\s*{_VALUE}[^<>]{{0,200}}>")
_NAMED_OPEN = re.compile(r"<(?:e|entity|ent|c|cluster|m)[ _-]?(\d+)>")
_NAMED_CLOSE = re.compile(r"</(?:e|entity|ent|c|cluster|m)[ _-]?(\d+)>")
_XML_CLOSE = re.compile(rf"</\s?{_NAMES}\s?>")


def _read_xml(text: str) -> TaggedText:
    """Tags of any of the usual names; never an XML parser, for texts have `&` and tags cross."""
    kinds = [(OPEN, _XML_OPEN), (OPEN, _REF_ONLY), (OPEN, _NAMED_OPEN)]
    marks = find_marks(text, *kinds, (CLOSE, _NAMED_CLOSE), (CLOSE, _XML_CLOSE))
    parsed = read_labelled(text, marks)
    references = {
        mark.start: next(value for value in match.groups() if value is not None)
        for mark in marks
        if mark.kind == OPEN and (match := _XML_REF.match(text[mark.start : mark.end]))
    }
    if references:  # as in MUC: ID is the mention's own, REF that of its antecedent
        entity_of: dict[str, str] = {}
        for mention in parsed.mentions:
            to = normal_label(references.get(mention.where, ""))
            label = mention.entity
            mention.entity = entity_of.setdefault(label, entity_of.get(to, to or label))
    return parsed


_M_OPEN = re.compile(r"<m>\s?")
_SEQ2SEQ_CLOSE = re.compile(r"\s?(?:\|\s?([\w.-]+)\s?</m>|</m(\d+)>|<c(\d+)>(?:\s?</m>)?)")
_SEQ2SEQ_NEW = re.compile(r"\s?</new>")
_SEQ2SEQ_REMOVED = re.compile(r"</?(?:speaker|sentence)>|<copy>")
_M_CLOSE = re.compile(r"\s?</m>")
_MASK_CLOSE = re.compile(r"\s?</m>\s?#(\w+)")


def _read_seq2seq(text: str) -> TaggedText:
    """`<m> x | 1 </m>`; `</new>` closes the first mention of the next entity."""
    kinds = ((CLOSE, _SEQ2SEQ_CLOSE), (OPEN, _M_OPEN), (CLOSE, _SEQ2SEQ_NEW))
    text_kinds = ((TEXT_CLOSE, _M_CLOSE), (REMOVE, _SEQ2SEQ_REMOVED))
    marks, new = [], 0
    for mark in find_marks(text, *kinds, *text_kinds):
        if mark.kind == CLOSE and mark.label is None:
            mark = Mark(CLOSE, mark.start, mark.end, str(new))
            new += 1
        marks.append(mark)
    return read_nested(text, marks, bare=True)


def _read_mask(text: str) -> TaggedText:
    kinds = ((CLOSE, _MASK_CLOSE), (OPEN, _M_OPEN), (TEXT_CLOSE, _M_CLOSE))
    return read_nested(text, find_marks(text, *kinds), bare=True)


_CURLY_OPEN, _CURLY_END = re.compile(r"\{\{\s?"), re.compile(r"\s?\}\}")
_CURLY_CLOSE = re.compile(r"\s?\|\s?([\w .#-]{1,40}?)\s?\}\}")


def _read_curly(text: str) -> TaggedText:
    kinds = ((CLOSE, _CURLY_CLOSE), (OPEN, _CURLY_OPEN), (TEXT_CLOSE, _CURLY_END))
    return read_nested(text, find_marks(text, *kinds), bare=True)


_TANL_OPEN = re.compile(r"\[\s+(?!\d+\s*\])")
_TANL_CLOSE = re.compile(r"\s*\|\s*([^\[\]|\n]{1,400}?)\s*\]")
_TANL_END = re.compile(r"\s*\]")


def _read_tanl(text: str) -> TaggedText:
    """`[ it | the book ]`: linked to the newest earlier mention of the antecedent's text."""
    kinds = (
        (CLOSE, _TANL_CLOSE),
        (OPEN, _TANL_OPEN),
        (TEXT_OPEN, _SQUARE),
        (TEXT_CLOSE, _TANL_END),
    )
    parsed = read_nested(text, find_marks(text, *kinds), bare=True)
    newest: dict[str, str] = {}
    number = 0
    for mention in sorted(parsed.mentions, key=lambda tagged: (tagged.start, -tagged.end)):
        if mention.lost:
            continue
        words = fold_text(parsed.text[mention.start : mention.end])
        nameless = mention.entity.startswith("?")
        linked = None if nameless else newest.get(fold_text(mention.entity))
        mention.why = "" if nameless or linked else "the antecedent was not marked before"
        if linked is None:
            number += 1
            linked = str(number)
            if not nameless:  # the first time that its text is mentioned
                newest[fold_text(mention.entity)] = linked
        mention.entity = newest[words] = linked
    return parsed


_DECLARED: tuple[tuple[str, str, str | re.Pattern[str], Callable[[str], TaggedText]], ...] = (
    ("crac", "mention|[e1]", r"(?<=\S)\|(?:\[e?\d+\]?|e?\d+\])(?=[\s,.;:!?)\]\"'’”]|$)",
     _read_crac),
    ("bracket", "[e1 mention]", _BRACKET, _read_brackets(_BRACKET)),
    ("number", "[1 mention]", _NUMBERED, _read_brackets(_NUMBERED)),
    ("markdown", "[mention](#cluster_1)", _CLOSINGS["markdown"], _read_markdown),
    ("xml", '<m id="1">mention</m>', rf"{_XML_OPEN.pattern}|{_REF_ONLY.pattern}", _read_xml),
    # A <c2> that no other tag of its kind follows is a closing tag of seq2seq.
    ("named", "<e1>mention</e1>", r"<(?:e|entity|ent|m)[ _-]?\d+>|"
     r"<c(?:luster)?[ _-]?\d+>(?=[^<>]*(?:</?c|\Z))", _read_xml),
    ("subscript", "[mention]_1", _CLOSINGS["subscript"], _read_subscript),
    ("hash", "[mention]#1", r"\]\s?#\w+", _closing("hash")),
    ("colon", "[mention: 1]", _CLOSINGS["colon"], _closing("colon")),
    ("seq2seq", "<m> mention | 1 </m>", r"\|\s?[\w.-]+\s?</m>|</m\d+>|<c\d+>(?![^<>]*</c)|</new>",
     _read_seq2seq),
    ("mask", "<m>mention</m>#1", _MASK_CLOSE, _read_mask),
    ("curly", "{{mention|1}}", _CURLY_CLOSE, _read_curly),
    ("tanl", "[ mention | antecedent ]", r"\[\s[^\[\]|]{1,200}\s\|\s[^\[\]|]{1,200}\s\]",
     _read_tanl),
)  # fmt: skip
CONVENTIONS = {
    name: Convention(
        name,
        example,
        re.compile(seen if isinstance(seen, str) else seen.pattern, re.IGNORECASE),
        read,
    )
    for name, example, seen, read in _DECLARED
}
