"""The conventions in which language models tag a text, and how each is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, zip_longest

from corefeval.formats.answers.tags import (
    CLOSE,
    CUT,
    OPEN,
    REMOVE,
    TEXT,
    Mark,
    TaggedText,
    read_marks,
)


@dataclass(frozen=True, slots=True)
class Convention:
    """A way to tag a text: how it looks, what tells it, where its marks are.

    `prepare` makes it easier to read. With `bare`, tags without labels are mentions, too.
    """

    name: str
    example: str
    seen: re.Pattern[str]
    find_marks: Callable[[str], Iterable[Mark]]
    bare: bool = False
    prepare: Callable[[str], str] = str

    def count(self, text: str) -> int:
        """How many well-formed tags of this convention there are."""
        return sum(1 for _ in self.seen.finditer(text))

    def read(self, text: str) -> TaggedText:
        """The text without its tags, and its mentions."""
        text = self.prepare(text)
        return read_marks(text, self.find_marks(text), bare=self.bare)


# ------------------------------------------------------------------ marks on words

_NEAR = 80  # characters of a word, or of a phrase
# The word before a place, without quotes and brackets that open before it.
_WORD = re.compile(r"(?:(?!['’]\w)[(\[{\"“„‘«¿¡'’]+(?=[^\W_]))?(?P<word>\S+)\Z")


def _word_start(text: str, low: int, high: int) -> int:
    """Where the word begins that ends at a place."""
    match = _WORD.search(text, max(low, high - _NEAR), high)
    return match.start("word") if match else high


_CRAC_MARK = r"(?:\[(?:[\w.-]+\]?|\Z)|[\w.-]+\])"
_CRAC_NEXT = r",\s?(?:\[e\d+\]?|e\d+\])"  # behind a blank only what is a mark for sure
_CRAC = re.compile(rf"\|({_CRAC_MARK}(?:,{_CRAC_MARK}|{_CRAC_NEXT})*)", re.IGNORECASE)


def _find_crac(text: str) -> Iterator[Mark]:
    """Marks hang on words: on a word, what closes an earlier mention is read first."""
    last = 0
    for match in _CRAC.finditer(text):
        place = match.start()
        begin = _word_start(text, last, place)
        if begin == place:
            continue
        last = match.end()
        yield Mark(REMOVE, place, last)
        for mark in sorted(re.findall(_CRAC_MARK, match[1]), key=lambda mark: mark[0] == "["):
            label = mark.strip("[]")
            if last == len(text) and mark.lower() in ("[", "[e"):
                yield from (Mark(OPEN, begin, begin), Mark(CUT, place, place))
                continue
            if mark[0] == "[":
                yield Mark(OPEN, begin, begin, label)
            if mark[-1] == "]":
                yield Mark(CLOSE, place, place, label)


def _on_words(
    text: str, labels: re.Pattern[str], phrase: re.Pattern[str] | None = None
) -> Iterator[Mark]:
    """Marks for labels behind single words or phrases: `she[^1]`, `she₁`, `she [Ada]`."""
    for match in labels.finditer(text):
        end = match.start()
        before = phrase and phrase.search(text, max(end - _NEAR, 0), end)
        begin = before.start() if before else _word_start(text, 0, end)
        if "#" not in text[begin - 1 : end]:  # within a link
            yield Mark(OPEN, begin, begin)
            yield Mark(CLOSE, *match.span(), match[match.lastindex or 0])


# ------------------------------------------------------------------ brackets of all shapes

BOLD = "\ue100", "\ue101"  # what stands for ** before and behind words
_BOLD = " ".join(BOLD)
_ANY = "{{ }} [ ] { } ( ) ⟦ ⟧ 【 】 〔 〕 〈 〉 《 》 ⟨ ⟩ « » ‹ › 「 」 『 』 " + _BOLD
_NUMBER = r"[\w.-]{0,30}\d[\w.-]{0,30}"
_E = r"(?:entity|ent|cluster|chain|e|c)[_ -]?"
_LINK = r"\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+)\)"
_PILED = re.compile(rf"\]\s?\]\s?({_LINK})\s?({_LINK})")
_SIGN = r"([①-➿⬀-⯿🀀-🫿]\ufe0f?)"  # a picture or a circled number as a label
_BEHIND = {
    "markdown": r"\s?\((#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+|[A-Z]?\d{1,4})\)",
    "hash": r"\s?#([A-Za-z0-9_]+)",
    "subscript": r"(?:\$?_(e?\d+)\$?|\$?_\{([^{}\n]{0,40})\}\$?|<su[bp]>([^<\n]{0,40})</su[bp]>"
    r"|([₀-₉]+)|([⁰¹²³⁴-⁹]+)|\$?\^\{?(\w{1,9})\}?\$?)",
    "marked": r"\s?\[\^?#?([A-Za-z]?\d{1,4}|(?-i:[A-Z]))\]|\{#?([\w-]{1,30})\}|@([A-Za-z0-9_]+)"
    r"|(?-i:([A-Z0-9][A-Z0-9_]*)(?![a-z\d]))|_([A-Za-z]\w{0,20})"
    rf"|\s?{_SIGN}",
}
_HALF_CLOSING = (
    r"\](?:\s?\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w*)?|\s?#|\$?_\{?[^{}\s]{0,40}|"
    r"<(?:s|su|sub|sub>[^<\n]{0,40}(?:</?\w{0,3})?)?)\Z"
)
_HANGING = re.compile(
    r"(?<=[\w'’])(?:\[\^?([A-Za-z]?\d{1,3}|(?-i:[A-Z]))\]|([₀-₉]+)|([⁰¹²³⁴-⁹]+)|<su[bp]>([^<\n]{0,40})</su[bp]>"
    r"|\$?[_^]\{?(\d{1,3}|[a-z])\}?\$?(?!\w))"
)
_RESOLVED = re.compile(r"(?<=[\w'’])\s?[\[(]\s?(?:=\s?|→\s?|i\.e\.,?\s)?([^\[\]()\n=|]{1,80})[\])]")
_ARTICLE = r"the|an?|this|these|those|el|l[aeo]s?|un[ae]?|il|gli|de|het|een"
# The end of a noun phrase: names with an article, or one word with one; in German, a noun.
_PHRASE = re.compile(
    rf"(?<!\w)(?:(?:(?i:{_ARTICLE}|d(?:er|ie|as|en|em|es)|eine?[nmrs]?)\s)?"
    rf"(?:[A-ZÀ-ÖØ-Þ]\w+\s)*[A-ZÀ-ÖØ-Þ]\S*|(?i:{_ARTICLE})\s\S+)\Z"
)


def _brackets(
    name: str,
    example: str,
    shapes: str,
    *,
    close: str = "",
    opening: str = "",
    hanging: re.Pattern[str] | None = None,
    bare: bool = False,
    prepare: Callable[[str], str] = str,
) -> Convention:
    """A convention of brackets; `shapes` are the pairs of them.

    `close` has a label before or behind the closing one, for `END`; in `opening`, the label stands
    before or behind the opening one, for `START`; `hanging` labels stand behind single words.
    """
    sides = shapes.split()[::2], shapes.split()[1::2]
    start, end = (f"(?:{'|'.join(map(re.escape, side))})" for side in sides)
    close, opening = close.replace("END", end), opening.replace("START", start)
    blank = r"\s?" if bare else ""
    openings = "|".join(filter(None, (opening, start + blank)))
    kinds = {CLOSE: close, CUT: _HALF_CLOSING, OPEN: openings, TEXT: blank + end}
    named = (f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items() if pattern)
    union = re.compile("|".join(named), re.IGNORECASE)
    shape_of = dict(zip(sides[0] + sides[1], sides[0] * 2, strict=True)) if sides[0][1:] else {}

    def find_marks(text: str) -> list[Mark]:
        marks = list(_on_words(text, hanging)) if hanging else []
        taken = {place for label in marks for place in range(label.start, label.end)}
        for match in union.finditer(text):
            kind, labels = match.lastgroup or "", match.groups()[match.lastindex or 0 :]
            shape = ""
            if shape_of:
                shape = shape_of[re.findall(start if kind == OPEN else end, match[0])[0]]
            label = next((label for label in labels if label is not None), None)
            if match.start() not in taken:
                marks.append(Mark(kind, *match.span(), label, shape))
        return sorted(marks, key=lambda mark: (mark.start, mark.end))

    patterns = close.removeprefix(r"\s?"), opening, hanging and hanging.pattern
    seen = "|".join(filter(None, patterns))
    return Convention(name, example, re.compile(seen, re.IGNORECASE), find_marks, bare, prepare)


def _name_new(text: str) -> str:
    """The text with numbers for `</new>`, which closes the first mention of the next entity."""
    numbers = count()
    return re.sub("</new>", lambda _: f"| {next(numbers)} </m>", text)


def _spread_links(text: str) -> str:
    """The text with links that are piled up behind nested brackets given to each, inside out."""
    return _PILED.sub(r"]\1]\2", text)


# ------------------------------------------------------------------ elements

_ELEMENT = re.compile(r"<(/?)\s?([^\W\d_][\w.-]{0,40}?)(\s[^<>]{0,300})?\s?>")
_GENERIC = re.compile(
    r"(?:m|mention|entity|coref|rs|span|e|ref|np|ent|mark|tag|font|annotation)\Z", re.I
)
_WRAPPER = re.compile(
    r"(?:answer|text|p|b|i|u|em|strong|div|output|result|response|document|doc|html|body|br|s|sent"
    r"|sentence|paragraph|li|ul|ol|h\d|code|pre|xml|root|speaker|sub|sup|copy|new|table|tr|td|th)\Z",
    re.IGNORECASE,
)
_VALUE = r"""\s*=\s*(?:["“”]([^"“”<>]*)["“”]|'([^'<>]*)'|["'“”]?([^"'“”\s<>]*))"""
_ID = re.compile(
    r"(?<![\w-])(?:xml:|data-)?(?:id|cluster|entity|cluster_?id|entity_?id|eid|chain|set|coref)(?![\w-])"
    + _VALUE,
    re.IGNORECASE,
)
# Any other attribute, but those that say what kind of words an element has, or where it stands.
_REF = re.compile(
    rf"(?<![\w:-])(?!(?:id|n|lang|type|kind|pos|gender|number)(?![\w-]))[\w-]+{_VALUE}",
    re.IGNORECASE,
)


def _find_elements(text: str) -> Iterator[Mark]:
    """Elements of any name; never an XML parser, for texts have `&` and tags cross.

    An attribute says the entity, else the name of the element, unless every one has that. As in
    MUC, the `ID` of `COREF` is the mention's, and `REF` that of its antecedent.
    """
    entity_of: dict[str, str] = {}
    for match in _ELEMENT.finditer(text):
        name, attributes = match[2].lower(), match[3] or ""
        said = [pattern.search(attributes) for pattern in (_ID, _REF)]
        labels = [value[value.lastindex or 0] for value in said if value]
        if all(said) and name == "coref":
            entity_of[labels[0]] = entity_of.get(labels[1], labels[1])
        label = entity_of.get(labels[0], labels[0]) if labels else name
        is_named = bool(labels) or not _GENERIC.match(name)
        if _WRAPPER.match(name):
            yield Mark(REMOVE, *match.span())
        elif match[1] or is_named:
            kind = CLOSE if match[1] else OPEN
            yield Mark(kind, *match.span(), label if is_named else None)


# ------------------------------------------------------------------ columns

_TAG = r"(?P<tag>[-_*]|O|[BIES]-\w[\w-]*|\(?\d{1,5}\)?(?:\|\(?\d{1,5}\)?)*)"
_ROW = re.compile(
    rf"(?:^(?:.*[ \t])?(?P<cell>\S+)[ \t]+|(?<!\S)(?P<word>\S+)/){_TAG}"
    r"(?:[ \t]*$|(?<=[\w-])(?=\s))",
    re.MULTILINE,
)
_COLUMN = re.compile(r"(\()?(\d{1,5})(\))?")


def _find_columns(text: str) -> Iterator[Mark]:
    """A word on each line with a last column of CoNLL, `Ada (1)`, or words with tags: `Ada/B-1`."""
    rows = list(_ROW.finditer(text))
    for row, following in zip_longest(rows, rows[1:]):
        low, high = row.span("cell" if row["cell"] else "word")
        tag, next_tag = row["tag"], following["tag"] if following else ""
        parts = _COLUMN.findall(tag)
        if tag[1:2] == "-":
            parts = [("BS".find(tag[0]) >= 0, tag[2:], next_tag[:2] not in ("I-", "E-"))]
        yield Mark(REMOVE, row.start(), low)
        for is_first, label, is_last in parts:
            if is_first:
                yield Mark(OPEN, low, low, label)
            if is_last:
                yield Mark(CLOSE, high, high, label)
        yield Mark(REMOVE, high, row.end())


# ------------------------------------------------------------------ all of them

# Numbers and signs alone are a reference of the text, [12 13] or [3 – 5]; but a year is a mention.
_WORDS = r"\s?[:|]?\s{1,5}(?=\d{4}\s*\]|(?![\d\s,;–—-]*\])\S)"
_LEADING = rf"\s?(?:{_E}(\d+)|#?(\d+)|([^\W\d_][\w .'-]{{0,40}}?)(?=[:|]\s)){_WORDS}"
_INSIDE = r"\s?\|(?:[^\[\]{}|\n]{1,40}\|)??\s?([^\[\]{}|\n]{1,400}?)\s?END"
_SEQ2SEQ = r"\s?(?:\|\s?([\w.-]+)\s?</m>|</m(\d+)>|<c(\d+)>(?![^<>]*</c)(?:\s?</m>)?)"
_DECLARED = (
    Convention("crac", "mention|[e1]", re.compile(
        r"(?<=\S)\|(?:\[e?\d+\]?|e?\d+\])(?=[\s,.;:!?)\]\"'’”]|$)", re.IGNORECASE), _find_crac),
    _brackets("bracket", "[e1 mention]", "[ ] ( )",
              opening=rf"START\s?{_E}(\d+)\s?[:|]?\s+(?=[^\s\])])"),
    _brackets("number", "[1 mention]", "[ ]", opening=rf"START#?(\d+){_WORDS}"),
    _brackets("markdown", "[mention](#1)", "[ ]", close=f"END{_BEHIND['markdown']}",
              prepare=_spread_links),
    Convention("xml", '<m id="1">mention</m>', _ELEMENT, _find_elements),
    _brackets("subscript", "[mention]_1", "[ ]", close=f"END{_BEHIND['subscript']}"),
    _brackets("hash", "[mention]#1", "[ ]", close=f"END{_BEHIND['hash']}"),
    _brackets("colon", "[mention: 1]", "[ ]", close=rf"\s?:\s?({_NUMBER})\s?END"),
    _brackets("seq2seq", "<m> mention | 1 </m>", "<m> </m>", close=_SEQ2SEQ, bare=True,
              prepare=_name_new),
    _brackets("mask", "<m>mention</m>#1", "<m> </m>", close=r"\s?END\s?#(\w+)", bare=True),
    _brackets("curly", "{{mention|1}}", "{{ }}", close=_INSIDE, bare=True),
    _brackets("tanl", "[ mention | antecedent ]", "[ ]", close=_INSIDE, bare=True),
    _brackets("inside", "{mention | 1}", _ANY, close=_INSIDE),
    _brackets("arrow", "[mention → 1]", _ANY,
              close=r"\s?(?:→|[-=]>|\s[=@])\s?([^\[\]{}\n]{1,40}?)\s?END"),
    _brackets("behind", "{mention}_1, mention[^1]", _ANY,
              close=f"END(?:{'|'.join(_BEHIND.values())})", hanging=_HANGING),
    _brackets("leading", "{1 mention}", _ANY, opening=rf"(?:{_SIGN}\s?START|START{_LEADING})"),
    Convention("resolved", "mention [antecedent]", _RESOLVED,
               lambda text: _on_words(text, _RESOLVED, _PHRASE)),
    _brackets("glossed", "**mention** [antecedent]", _BOLD,
              close=r"END\s?[\[(]([^\[\]()\n]{1,80})[\])]"),
    _brackets("macro", r"\entity{1}{mention}", "{ }",
              opening=r"\\[A-Za-z]+\{([^{}\n]{1,40})\}START"),
    Convention("columns", "a word and (1) on each line",
               re.compile(r"\(?\d{1,5}\)[ \t]*$|[\s/][BS]-\w", re.MULTILINE), _find_columns),
)  # fmt: skip
CONVENTIONS = {convention.name: convention for convention in _DECLARED}
