"""The conventions in which language models tag a text, and how each is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

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
    read_marks,
)


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
    for match in _CRAC.finditer(text):
        begin = _word_start(text, last, match.start())
        if begin == match.start():
            continue
        last = match.end()
        assembly.removed.append(match.span())
        for token in sorted(re.findall(_CRAC_MARK, match[1]), key=lambda token: token[0] == "["):
            name, place = token.strip("[]"), match.start()
            if token[0] != "[":
                marks.append(Mark(CLOSE, place, place, name))
            elif token[-1] == "]":
                assembly.add(begin, place, name, begin)
            else:
                marks.append(Mark(OPEN, begin, begin, name))
    if half:
        begin = _word_start(text, 0, len(text))
        assembly.lose(begin, begin + len(text[begin:].partition("|")[0]), begin, "cut off")
    return read_marks(text, marks, assembly)


def _word_start(text: str, low: int, high: int) -> int:
    """Where the word begins that ends at a place: without quotes and brackets before it."""
    begin = high
    while begin > low and not text[begin - 1].isspace():
        begin -= 1
    inner = begin
    while inner < high - 1 and text[inner] in "([{\"“„‘«¿¡'’":
        inner += 1
    return (
        inner
        if text[inner].isalnum() and inner > begin and text[begin:inner] not in "'’"
        else begin
    )


# ------------------------------------------------------------------ brackets of all shapes

BOLD = "\ue100", "\ue101"  # what stands for ** before and behind words
_SHAPES = dict(zip("]})⟧】〕〉》⟩»›」』" + BOLD[1], "[{(⟦【〔〈《⟨«‹「『" + BOLD[0], strict=True))
_SHAPES |= {"}}": "{{", "</m>": "<m>"}
_SQUARE, _ROUND, _CURLY, _M = {"]": "["}, {")": "("}, {"}}": "{{"}, {"</m>": "<m>"}
_ANY = {end: start for end, start in _SHAPES.items() if end != "</m>"}
_NESTED = 50  # brackets in brackets: nobody closes what was opened further out
_NUMBER = r"[\w.-]{0,30}\d[\w.-]{0,30}"
_E = r"(?:entity|ent|cluster|chain|e|c)[_ -]?"
_LINK = r"\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+)\)"
_SIGN = r"([①-➿⬀-⯿🀀-🫿]\ufe0f?)"  # a picture or a circled number as a label
_BEHIND = {
    "markdown": r"\s?\((#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+|[A-Z]?\d{1,4})\)",
    "hash": r"\s?(?:#([A-Za-z0-9_]+)|\(#(\w+)\))",
    "subscript": r"(?:\$?_(e?\d+)\$?|\$?_\{([^{}\n]{0,40})\}\$?|<su[bp]>([^<\n]{0,40})</su[bp]>"
    r"|([₀-₉]+)|([⁰¹²³⁴-⁹]+)|\$?\^\{?(\w{1,9})\}?\$?)",
    "marked": r"\s?\[\^?#?([A-Za-z]?\d{1,4}|(?-i:[A-Z]))\]|\{#?([\w-]{1,30})\}|@([A-Za-z0-9_]+)"
    r"|(?-i:([A-Z0-9][A-Z0-9_]*)(?![a-z\d]))|_([A-Za-z]\w{0,20})"
    rf"|\s?{_SIGN}",
}
_HALF_CLOSING = re.compile(
    r"\](?:\s?\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w*)?|\s?#|\$?_\{?[^{}\s]{0,40}|"
    r"<(?:s|su|sub|sub>[^<\n]{0,40}(?:</?\w{0,3})?)?)\Z"
)
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789")
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
_NEAR = 80  # characters of a phrase


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _brackets(
    shapes: dict[str, str],
    close: str,
    opening: str = "",
    *,
    bare: bool = False,
    hanging: re.Pattern[str] | None = None,
) -> Callable[[str], TaggedText]:
    """A reader of brackets: `close` has a label before or behind the closing one, for `END`.

    In `opening`, the label stands before or behind the opening one, for `START`. Plain ones are
    text, and so is what another shape closes; with `bare`, they are mentions without a label.
    `hanging` labels stand behind single words.
    """
    starts, ends = f"(?:{_alternatives(shapes.values())})", f"(?:{_alternatives(shapes)})"
    kinds = [(CLOSE, re.compile(close.replace("END", ends)))] if close else []
    kinds += [(OPEN, re.compile(opening.replace("START", starts)))] if opening else []
    kinds += [(CUT, _HALF_CLOSING)] if "[" in shapes.values() and close else []
    kinds.append((TEXT_OPEN if opening else OPEN, re.compile(starts + (r"\s?" if bare else ""))))
    kinds.append((TEXT_CLOSE, re.compile((r"\s?" if bare else "") + ends)))

    def read(text: str) -> TaggedText:
        labels = list(_on_words(text, hanging)) if hanging else []
        taken = {place for label in labels for place in range(label.start, label.end)}
        marks = [mark for mark in find_marks(text, *kinds) if mark.start not in taken]
        if len(shapes) > 1:
            marks = _by_shape(text, marks, shapes)
        marks = sorted([*marks, *labels], key=lambda mark: (mark.start, mark.end))
        parsed = read_marks(text, marks, bare=bare)
        for mention in parsed.mentions:
            mention.entity = mention.entity.translate(_DIGITS)
        return parsed

    return read


def _by_shape(text: str, marks: Iterable[Mark], shapes: dict[str, str]) -> list[Mark]:
    """Marks where shapes of brackets are told apart: what another shape closes is text."""
    openings, closings = _alternatives(shapes.values()), _alternatives(shapes)
    any_bracket = re.compile(f"(?P<open>{openings})|(?P<close>{closings})")
    stack: list[str] = []
    kept: list[Mark] = []
    for mark in marks:
        brackets = list(any_bracket.finditer(text, mark.start, mark.end))
        if mark.kind in (OPEN, TEXT_OPEN):
            stack.append(brackets[0][0])
            kept.append(mark)
            continue
        shape = next((m["close"] for m in brackets if m["close"]), "]")
        if shapes.get(shape) not in stack[-_NESTED:]:
            continue
        while stack.pop() != shapes[shape]:
            kept.append(Mark(TEXT_CLOSE, mark.start, mark.start))
        kept.append(mark)
    return kept


_PILED = re.compile(rf"(?<!\])(?<!\]\s)((?:\]\s?){{2,}})((?:{_LINK}\s?){{2,}})")


def _read_markdown(text: str) -> TaggedText:
    """`[x](#cluster_1)`; links piled up behind nested brackets go to them from the inside out."""

    def unpile(match: re.Match[str]) -> str:
        brackets, links = match[1].count("]"), re.findall(_LINK, match[2])
        if brackets < len(links):
            return match.group()
        spread = "".join("]" + link for link in links)
        return "]" * (brackets - len(links)) + spread + match.group()[len(match.group().rstrip()) :]

    return _brackets(_SQUARE, f"END{_BEHIND['markdown']}")(_PILED.sub(unpile, text))


def _on_words(
    text: str, pattern: re.Pattern[str], before: re.Pattern[str] | None = None
) -> Iterable[Mark]:
    """Marks for labels behind single words: `she[^1]`, `she₁`, `she [Ada]`."""
    for match in pattern.finditer(text):
        end = match.start()
        begin = _word_start(text, max(end - _NEAR, 0), end)
        if before and (phrase := before.search(text, max(end - _NEAR, 0), end)):
            begin = phrase.start()
        if "#" in text[begin - 1 : match.start()]:  # within a link
            continue
        label = next(group for group in match.groups() if group is not None)
        yield Mark(OPEN, begin, begin)
        yield Mark(CLOSE, match.start(), match.end(), label)


def _read_resolved(text: str) -> TaggedText:
    """`she [Ada] smiled`: words behind a word say whom it refers to."""
    return read_marks(text, list(_on_words(text, _RESOLVED, _PHRASE)))


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
_REF = re.compile(
    rf"(?<![\w-])(?:data-)?(?:ref|name|class|style|color|colour){_VALUE}", re.IGNORECASE
)


def _value(match: re.Match[str] | None) -> str | None:
    return next((group for group in match.groups() if group is not None), "") if match else None


def _label_of(name: str, attributes: str) -> str | None:
    """The entity of an element: an attribute says it, else its name, unless every one has that."""
    label = _value(_ID.search(attributes))
    if label is None:
        label = _value(_REF.search(attributes))
    if label is None and not _GENERIC.match(name):
        label = name
    return label


def _read_xml(text: str) -> TaggedText:
    """Elements of any name; never an XML parser, for texts have `&` and tags cross."""
    marks, references = [], dict[int, str]()
    for match in _ELEMENT.finditer(text):
        closing, name, attributes = match[1], match[2], match[3] or ""
        if _WRAPPER.match(name):
            marks.append(Mark(REMOVE, *match.span()))
            continue
        label = _label_of(name, attributes)
        if closing:
            marks.append(Mark(CLOSE, *match.span(), label))
        elif label is not None:
            marks.append(Mark(OPEN, *match.span(), label))
            if "id" in attributes.lower() and name.lower() == "coref":
                references[match.start()] = _value(_REF.search(attributes)) or ""
    assembly = Assembly(text, removed=[(m.start, m.end) for m in marks if m.kind == REMOVE])
    parsed = read_marks(text, [mark for mark in marks if mark.kind != REMOVE], assembly)
    if any(references.values()):  # as in MUC: ID is the mention's own, REF that of its antecedent
        entity_of: dict[str, str] = {}
        for mention in parsed.mentions:
            to = normal_label(references.get(mention.where, ""))
            label = mention.entity
            mention.entity = entity_of.setdefault(label, entity_of.get(to, to or label))
    return parsed


_SEQ2SEQ = r"\s?(?:\|\s?([\w.-]+)\s?</m>|</m(\d+)>|<c(\d+)>(?:\s?</m>)?)"


def _read_seq2seq(text: str) -> TaggedText:
    """`<m> x | 1 </m>`; `</new>` closes the first mention of the next entity."""
    numbers = count()
    text = re.sub("</new>", lambda _: f"| {next(numbers)} </m>", text)
    return _brackets(_M, _SEQ2SEQ, bare=True)(text)


# ------------------------------------------------------------------ columns

_TAG = r"([-_*]|O|[BIES]-\w[\w-]*|\(?\d{1,5}\)?(?:\|\(?\d{1,5}\)?)*)"
_ROW = re.compile(
    rf"(?:^(.*\S)[ \t]+|(?<!\S)(\S+)/){_TAG}(?:[ \t]*$|(?<=[\w-])(?=\s))", re.MULTILINE
)
_COLUMN = re.compile(r"(\()?(\d{1,5})(\))?")


def _read_columns(text: str) -> TaggedText:
    """A word on each line with a last column of CoNLL, `Ada (1)`, or words with tags: `Ada/B-1`."""
    words, low = [], 0
    marks: list[Mark] = []
    inside = ""  # the entity of the tags before
    for row in _ROW.finditer(text):
        word, tag = (row[1] or row[2]).split()[-1], row[3]
        entity = tag[2:] if tag[1:2] == "-" else ""
        if inside and (entity != inside or tag[0] in "BS"):
            marks.append(Mark(CLOSE, low - 1, low - 1, inside))
            inside = ""
        if entity and not inside:
            marks.append(Mark(OPEN, low, low, entity))
        high, inside = low + len(word), entity
        for opening, number, closing in _COLUMN.findall(tag) if not entity else ():
            if opening:
                marks.append(Mark(OPEN, low, low, number))
            if closing:
                marks.append(Mark(CLOSE, high, high, number))
        words.append(word)
        low = high + 1
    if inside:
        marks.append(Mark(CLOSE, low - 1, low - 1, inside))
    return read_marks(" ".join(words), sorted(marks, key=lambda mark: mark.start))


# ------------------------------------------------------------------ all of them

# Numbers and signs alone are a reference of the text, [12 13] or [3 – 5]; but a year is a mention.
_WORDS = r"\s?[:|]?\s{1,5}(?=\d{4}\s*\]|(?![\d\s,;–—-]*\])\S)"
_LEADING = rf"\s?(?:{_E}(\d+)|#?(\d+)|([^\W\d_][\w .'-]{{0,40}}?)(?=[:|]\s)){_WORDS}"
_INSIDE = r"\s?(?:\|[^\[\]{}|\n]{1,40})??\|\s?([^\[\]{}|\n]{1,400}?)\s?END"
_NUMBERED = rf"#?(\d+){_WORDS}"
_EVERY = "|".join(_BEHIND.values())
_ENDS = f"(?:{_alternatives(_ANY)})"
_STARTS = f"(?:{_alternatives(_ANY.values())})"
_BEFORE = rf"(?:{_SIGN}\s?START|START{_LEADING})"
_Row = tuple[str, str, str, Callable[[str], TaggedText]]
_DECLARED: tuple[_Row, ...] = (
    ("crac", "mention|[e1]", r"(?<=\S)\|(?:\[e?\d+\]?|e?\d+\])(?=[\s,.;:!?)\]\"'’”]|$)",
     _read_crac),
    ("bracket", "[e1 mention]", rf"[\[(]\s?{_E}\d+\s?[:|]?\s+(?=[^\s\])])",
     _brackets(_SQUARE | _ROUND, "", rf"START\s?{_E}(\d+)\s?[:|]?\s+(?=[^\s\])])")),
    ("number", "[1 mention]", r"\[" + _NUMBERED, _brackets(_SQUARE, "", f"START{_NUMBERED}")),
    ("markdown", "[mention](#1)", r"\]" + _BEHIND["markdown"], _read_markdown),
    ("xml", '<m id="1">mention</m>', _ELEMENT.pattern, _read_xml),
    ("subscript", "[mention]_1", r"\]" + _BEHIND["subscript"],
     _brackets(_SQUARE, f"END{_BEHIND['subscript']}")),
    ("hash", "[mention]#1", r"\]\s?#\w+", _brackets(_SQUARE, f"END{_BEHIND['hash']}")),
    ("colon", "[mention: 1]", rf"\s?:\s?{_NUMBER}\s?\]",
     _brackets(_SQUARE, rf"\s?:\s?({_NUMBER})\s?END")),
    ("seq2seq", "<m> mention | 1 </m>", r"\|\s?[\w.-]+\s?</m>|</m\d+>|<c\d+>(?![^<>]*</c)|</new>",
     _read_seq2seq),
    ("mask", "<m>mention</m>#1", r"</m>\s?#\w+", _brackets(_M, r"\s?END\s?#(\w+)", bare=True)),
    ("curly", "{{mention|1}}", r"\|[^{}|\n]{1,40}\}\}",
     _brackets(_CURLY, _INSIDE, bare=True)),
    ("tanl", "[ mention | antecedent ]", r"\|[^\[\]{}|\n]{1,400}\]",
     _brackets(_SQUARE, _INSIDE, bare=True)),
    ("inside", "{mention | 1}", rf"\|[^\[\]{{}}|\n]{{1,400}}{_ENDS}", _brackets(_ANY, _INSIDE)),
    ("behind", "{mention}_1, mention[^1]", rf"{_ENDS}(?:{_EVERY})|{_HANGING.pattern}",
     _brackets(_ANY, f"END(?:{_EVERY})", hanging=_HANGING)),
    ("leading", "{1 mention}", _BEFORE.replace("START", _STARTS), _brackets(_ANY, "", _BEFORE)),
    ("resolved", "mention [antecedent]", _RESOLVED.pattern, _read_resolved),
    ("columns", "a word and (1) on each line", r"\(?\d{1,5}\)[ \t]*$|[\s/][BS]-\w", _read_columns),
)  # fmt: skip
CONVENTIONS = {
    name: Convention(name, example, re.compile(seen, re.IGNORECASE | re.MULTILINE), read)
    for name, example, seen, read in _DECLARED
}
