"""The conventions in which language models tag a text, and the mentions between their tags."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress, count, zip_longest

import numpy as np

from corefeval.formats.answers.lookup import Unit
from corefeval.model.arrays import IntArray, all_true
from corefeval.model.ledger import Span

OPEN, CLOSE, TEXT, CUT, REMOVE = "open", "close", "text", "cut", "remove"

_PREFIX = re.compile(r"(?i)^#?\s*(?:cluster|entity|chain|coref|ent|id|e|c)?[\s_:-]*(?=\d)")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789")
_MID_SENTENCE = re.compile(r"[\w,;\[-]\s*\Z")  # the end of an answer that does not end a sentence
MENDED = _UNCLOSED, _UNOPENED = "never closed", "never opened"  # tags that got the nearest word
_CUT_OFF = "cut off"
_FIRST_WORD = re.compile(r"\s*[^\w\s]*(\w+|[^\w\s]+)")
_LAST_WORD = re.compile(r"([\w'’-]+|[^\w\s]+)[^\w\s]*\s*\Z")
_STRETCH = 40  # characters in which the word of a tag without its partner is looked for
_NESTED = 50  # brackets in brackets: nobody closes what was opened further out
_SLIP = 40  # tags: no slip in a number reaches further


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A tag in an answer, or a bracket of the text that may be taken for one.

    Where it says the entity, it has a `label`. Of its kinds, `open` and `close` stand around a
    mention; `text` is a closing bracket that says nothing, `cut` a closing tag that the end of the
    answer cuts off, and `remove` what is neither tag nor text. Where brackets are told apart,
    `shape` is the opening one: what another shape closes is text.
    """

    kind: str
    start: int
    end: int
    label: str | None = None
    shape: str = ""


@lru_cache(maxsize=1 << 14)
def normal_label(label: str) -> str:
    """One label for all spellings of an entity: `#Cluster 2`, `e2`, `₂` and `2`.

    >>> [normal_label(text) for text in ("#Cluster 2", "cluster_2", "E2", "Hong_Kong")]
    ['2', '2', '2', 'hong_kong']
    """
    return _PREFIX.sub("", label.strip().translate(_DIGITS)).strip(" #").lower()


def read_marks(text: str, marks: Iterable[Mark], *, bare: bool = False) -> tuple[str, list[Unit]]:
    """A text without its tags, and the mentions between these.

    With `bare`, tags without a label are a mention without an entity, else they are text. A tag
    without its partner stands for the nearest word where it says whose it is, else it is lost.
    """
    every, units = list(marks), list[Unit]()
    has_labels = any(mark.label is not None for mark in every if mark.kind == OPEN)
    partner = _pair(every, has_labels)
    last = max((m.start for m in every if m.kind != OPEN and m in partner), default=-1)
    is_half = _MID_SENTENCE.match(text, len(text.rstrip()) - 1) is not None
    is_kept = all_true(len(text) + 1)
    for mark in every:
        match, label, chars, why = partner.get(mark), mark.label, None, ""
        if mark.kind == OPEN and match:
            label = match.label if label is None else label
            if bare or label is not None or match.kind == CUT:
                chars = mark.end, match.start
            if match.kind == CUT:
                why = _CUT_OFF
            elif normal_label(match.label or label or "") != normal_label(label or ""):
                why = "closed with another number"
            elif mark.start == mark.end and mark.label is None:
                why = "where it begins is not said"
        elif mark.kind == OPEN and (label is not None or not has_labels):
            why = _CUT_OFF if is_half and mark.start > last else _UNCLOSED
            chars = _nearest_word(text, mark)
        elif mark.kind == CLOSE and not match and not mark.shape:
            why, chars = _UNOPENED, _nearest_word(text, mark)
        if chars is not None:
            is_lost = why == _CUT_OFF or (label is None and why in MENDED)
            name = normal_label(label or "")
            why = why or ("" if name else "no entity is named")
            name, state = name or f"?{len(units) + 1}", "lost" if is_lost else ""
            units.append(Unit("", mark.start, name, chars=chars, state=state, why=why))
        if mark.kind == REMOVE or (chars and (label is not None or why != _UNCLOSED)):
            for tag in (mark, match or mark):
                is_kept[tag.start : tag.end] = False
    places: IntArray = np.cumsum(is_kept) - is_kept  # how much of the text is before each character
    for unit in units:
        unit.chars = places[unit.chars[0]], places[unit.chars[1]]
    return "".join(compress(text, is_kept.tolist())), units


def _nearest_word(text: str, mark: Mark) -> Span:
    """The word behind an opening tag, or before a closing one."""
    if mark.kind == OPEN:
        word = _FIRST_WORD.match(text, mark.end, mark.end + _STRETCH)
    else:
        word = _LAST_WORD.search(text, max(mark.start - _STRETCH, 0), mark.start)
    return word.span(1) if word else (mark.end, mark.end)


def _pair(marks: Sequence[Mark], has_labels: bool) -> dict[Mark, Mark]:
    """Opening and closing tags by each other.

    A closing tag takes the newest opening one of its label where both have one, so that mentions
    may cross; else the newest one of its shape, and what stands open within is closed as well. What
    closes nothing then has a wrong number: it takes the newest one before it that is left.
    """
    partner = {}
    stack = []  # of opening tags; what is closed already is passed over
    by_label = defaultdict(list)
    unopened = []
    for place, mark in enumerate(marks):
        if mark.kind == REMOVE:
            continue
        name = normal_label(mark.label or "")
        if mark.kind == OPEN:
            stack.append(mark)
            by_label[name].append(mark)
            continue
        candidates = by_label[name] if has_labels and mark.label is not None else stack
        while candidates and candidates[-1] in partner:
            candidates.pop()
        if all(m.shape != mark.shape for m in candidates[-_NESTED:]):
            unopened += [place] if mark.kind == CLOSE else []
            continue
        while candidates[-1].shape != mark.shape:
            partner[candidates.pop()] = Mark(TEXT, mark.start, mark.start)
        partner[mark] = opened = candidates.pop()
        partner[opened] = mark
    for place in unopened:
        before = marks[max(place - _SLIP, 0) : place]
        for opened in [m for m in before if m.kind == OPEN and m not in partner][-1:]:
            partner[opened], partner[marks[place]] = marks[place], opened
    return partner


# ------------------------------------------------------------------ conventions

_NEAR = 80  # characters of a word, or of a phrase
# The word before a place, without quotes and brackets that open before it.
_WORD = re.compile(r"(?:(?!['’]\w)[(\[{\"“„‘«¿¡'’]+(?=[^\W_]))?(\S+)\Z")


def _word_start(text: str, low: int, high: int, pattern: re.Pattern[str] = _WORD) -> int:
    """Where the word or phrase begins that ends at a place."""
    match = pattern.search(text, max(low, high - _NEAR), high)
    return match.start(match.lastindex or 0) if match else high


_NOTHING = "\uffff"  # a pattern of what is no character, so that no text has it


@dataclass(frozen=True)
class Convention:
    """A way to tag a text: how it looks, and how its marks are found.

    `shapes` are pairs of brackets. In `close`, `END` stands for a closing one, with a label beside
    it, and in `opening`, `START` for an opening one. `hanging` is a label behind words without
    brackets, and `before` finds where these words begin. Other conventions have a pattern of what
    is `seen` of them, and a function to `find` their marks. With `bare`, tags without labels are
    mentions, too.
    """

    example: str
    shapes: str = ""
    close: str = _NOTHING
    opening: str = _NOTHING
    hanging: str = _NOTHING
    before: re.Pattern[str] = _WORD
    seen: str = _NOTHING
    find: Callable[[str], Iterable[Mark]] | None = None
    bare: bool = False

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Well-formed tags, and all brackets by their kinds."""
        signs = [re.escape(sign) for sign in self.shapes.split()]
        start, end = (f"(?:{'|'.join(side)})" for side in (signs[::2], signs[1::2]))
        close, opening = self.close.replace("END", end), self.opening.replace("START", start)
        # A blank before tags, which nothing depends on here, would make the search slow.
        seen = self.seen, close.removeprefix(r"\s?"), opening, self.hanging
        blank = r"\s?" if self.bare else ""
        openings = f"{opening}|{start}{blank}"
        kinds = {CLOSE: close, CUT: _HALF_CLOSING, OPEN: openings, TEXT: blank + end}
        named = (f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items())
        tags, brackets = (re.compile(f"(?im){'|'.join(side)}") for side in (seen, named))
        return tags, brackets

    def count(self, text: str) -> int:
        """How many well-formed tags of this convention there are."""
        return len(self._patterns[0].findall(text))

    def read(self, text: str) -> tuple[str, list[Unit]]:
        """The text without its tags, and its mentions.

        `</new>` closes the first mention of the next entity, and links that are piled up behind
        nested brackets are given to each, inside out.
        """
        numbers = count()
        text = re.sub("</new>", lambda _: f"| {next(numbers)} </m>", text)
        text = _PILED.sub(r"]\1]\2", text)
        marks = self.find(text) if self.find else self._find_marks(text)
        return read_marks(text, marks, bare=self.bare)

    def _find_marks(self, text: str) -> list[Mark]:
        """The marks of brackets, and of labels behind words: `she[^1]`, `she₁`, `she [Ada]`."""
        marks, has_shapes = [], self.shapes.count(" ") > 1
        for match in self._patterns[1].finditer(text) if self.shapes else ():
            kind, labels = match.lastgroup or "", match.groups()[match.lastindex or 0 :]
            label = next((label for label in labels if label is not None), None)
            signs = match[0] if has_shapes else ""
            shape = next((_SHAPE_OF[sign] for sign in signs if sign in _SHAPE_OF), "")
            marks.append(Mark(kind, *match.span(), label, shape))
        for match in re.finditer(self.hanging, text, re.IGNORECASE):
            begin = _word_start(text, 0, match.start(), self.before)
            marks.append(Mark(OPEN, begin, begin))
            marks.append(Mark(CLOSE, *match.span(), match[match.lastindex or 0]))
        return sorted(marks, key=lambda mark: (mark.start, mark.end))


# ------------------------------------------------------------------ marks on words

_CRAC_MARK = r"(?:\[(?:[\w.-]+\]?|\Z)|[\w.-]+\])"
_CRAC_NEXT = r",\s?(?:\[e\d+\]?|e\d+\])"  # behind a blank only what is a mark for sure
_CRAC = re.compile(rf"(?i)\|({_CRAC_MARK}(?:,{_CRAC_MARK}|{_CRAC_NEXT})*)")


def _find_crac(text: str) -> Iterator[Mark]:
    """Marks hang on words: on a word, what closes an earlier mention is read first."""
    last = 0
    for match in _CRAC.finditer(text):
        place = match.start()
        begin = _word_start(text, last, place)
        last = match.end()
        yield Mark(REMOVE, place, last)
        for mark in sorted(re.findall(_CRAC_MARK, match[1]), key=lambda mark: mark[0] == "["):
            label = mark.strip("[]")
            if mark[0] == "[":
                yield Mark(OPEN, begin, begin, label)
            if mark[-1] == "]":
                yield Mark(CLOSE, place, place, label)


# ------------------------------------------------------------------ brackets of all shapes

_BOLD = "\ue100\ue101"  # what `hide_escapes` puts around bold and italic words
_PAIRS = f"[]{{}}()⟦⟧【】〔〕〈〉《》⟨⟩«»‹›「」『』{_BOLD}"
_SHAPE_OF = {sign: _PAIRS[place // 2 * 2] for place, sign in enumerate(_PAIRS)}
_ANY = " ".join(_PAIRS)
_NUMBER = r"[\w.-]{0,30}\d[\w.-]{0,30}"
_E = r"(?:entity|ent|cluster|chain|e|c)[_ -]?"
_LINK = r"\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+)\)"
_PILED = re.compile(rf"\]\s?\]\s?({_LINK})\s?({_LINK})")
_RAISED = "⁰¹²³⁴-⁹ʰ-ʸˠ-ˤᴬ-ᵪᶛ-ᶿⁱⁿ⁺"  # digits and letters
_SIGN = r"([①-➿⬀-⯿🀀-🫿]\ufe0f?)"  # a picture or a circled number as a label
_BEHIND = {
    "markdown": r"\s?\((#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+|[A-Z]?\d{1,4}|(?-i:[A-Z]))\)",
    "hash": r"\s?#([A-Za-z0-9_]+)",
    "subscript": r"(?:\$?_(e?\d+)\$?|\$?_\{([^{}\n]{0,40})\}\$?|<su[bp]>([^<\n]{0,40})</su[bp]>"
    rf"|([₀-₉]+)|([{_RAISED}]+)|\$?\^\{{?(\w{{1,9}})\}}?\$?)",
    "marked": r"\s?\[\^?#?([A-Za-z]?\d{1,4}|(?-i:[A-Z]))\]|\{#?([\w-]{1,30})\}|@([A-Za-z0-9_]+)"
    r"|(?-i:([A-Z0-9٠-٩][A-Z0-9٠-٩_]*)(?![a-z\d]))|_([A-Za-z]\w{0,20})"
    rf"|\s?{_SIGN}",
}
# Closing tags that the end of the answer cuts off.
_HALF_CLOSING = (
    r"\](?:\s?\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w*)?|\s?#|\$?_\{?[^{}\s]{0,40}|"
    r"<(?:s|su|sub|sub>[^<\n]{0,40}(?:</?\w{0,3})?)?)\Z"
)
_HANGING = (
    r"(?<=[\w'’])(?:\[\^?([A-Za-z]?\d{1,3}|(?-i:[A-Z]))\]|([₀-₉]+)|<su[bp]>([^<\n]{0,40})</su[bp]>"
    rf"|([{_RAISED}]+)"
    r"|(?-i:(?<![A-Z][A-Z]))\$?[_^]\{?(\d{1,3}|[a-z])\}?\$?(?!\w)"
    r"|\s?\(((?:[EC]|entity |cluster )\d{1,3})\))"
)
_RESOLVED = (
    r"[\s\[(](?:(?<=[\w'’]\s)[\[(]|(?<=[\w'’][\[(]))"
    r"\s?(?:=\s?|→\s?|i\.e\.,?\s)?([^\[\]()\n=|]{1,80})[\])]"
)
_ARTICLE = r"the|an?|this|these|those|el|l[aeo]s?|un[ae]?|il|gli|de|het|een"
# The end of a noun phrase: names with an article, or one word with one; in German, a noun.
_PHRASE = re.compile(
    rf"(?<!\w)((?:(?i:{_ARTICLE}|d(?:er|ie|as|en|em|es)|eine?[nmrs]?)\s)?"
    rf"(?:[A-ZÀ-ÖØ-Þ]\w+\s)*[A-ZÀ-ÖØ-Þ]\S*|(?i:{_ARTICLE})\s\S+)\Z|{_WORD.pattern}"
)


# ------------------------------------------------------------------ XML

_ELEMENT = r"<(/?)\s?([^\W_][\w.-]{0,40}?)(\s[^<>]{0,300})?\s?>"
_GENERIC = re.compile(
    r"(?i)(?:m|mention|entity|coref|rs|span|e|ref|np|ent|mark|tag|font|annotation)\Z"
)
_WRAPPER = re.compile(
    r"(?i)(?:answer|text|p|b|i|u|em|strong|div|output|result|response|document|doc|html|body|br|s|q|v|l|lg"
    r"|sent|sentence|zin|satz|frase|phrase|line|turn|utterance|dialogue|chapter|section|scene|stage"
    r"|paragraph|said|li|ul|ol|h\d|code|pre|xml|root|speaker|sub|sup|copy|new|table|tr|td|th|date|tei|txt)\Z",
)
_VALUE = r"""\s*=\s*\\?(?:["“”]([^"“”<>\\]*)\\?["“”]|'([^'<>]*)'|["'“”]?([^"'“”\s<>\\]*))"""
_ID = re.compile(
    r"(?i)(?<![\w-])(?:xml:|data-)?(?:id|cluster|entity|cluster_?id|entity_?id|eid|chain|set|coref)(?![\w-])"
    + _VALUE,
)
# Any other attribute, but those that say what kind of words an element has, or where it stands.
_REF = re.compile(
    rf"(?i)(?<![\w:-])(?!(?:id|n|lang|type|kind|pos|gender|number)(?![\w-]))[\w-]+{_VALUE}",
)


def _find_xml(text: str) -> Iterator[Mark]:
    """Elements of any name; no XML parser, because texts contain `&` and tags may cross.

    An attribute says the entity, else the name of the element, unless every one has that. As in
    MUC, the `ID` of `COREF` is the mention's, and `REF` that of its antecedent.
    """
    entity_of, labelled = dict[str, str](), set()  # names with attributes
    for match in re.finditer(_ELEMENT, text):
        name, attributes = match[2].lower(), match[3] or ""
        said = [pattern.search(attributes) for pattern in (_ID, _REF)]
        labels = [value[value.lastindex or 0] for value in said if value]
        if all(said) and name == "coref":
            entity_of[labels[0]] = entity_of.get(labels[1], labels[1])
        label = entity_of.get(labels[0], labels[0]) if labels else name
        labelled |= {name} if labels else set()
        is_named = labels or not (_GENERIC.match(name) or name in labelled)
        if _WRAPPER.match(name):
            yield Mark(REMOVE, *match.span())
        elif match[1] or is_named:
            kind = CLOSE if match[1] else OPEN
            yield Mark(kind, *match.span(), label if is_named else None)


# ------------------------------------------------------------------ columns

_TAG = r"(?P<tag>[-_*]|O|[BIES]-\w[\w-]*|\(?\d{1,5}\)?(?:\|\(?\d{1,5}\)?)*)"
_ROW = re.compile(
    rf"(?m)(?:^(?:.*[ \t])?(?P<cell>(?![-_*][ \t]+[-_*(\d])\S+)[ \t]+(?:[-_*][ \t]+)*"
    rf"|(?<!\S)(?P<word>\S+)/){_TAG}"
    r"(?:[ \t]*$|(?<=[\w-])(?=\s))",
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
_WORDS = r"\s?(?:[:|]?\s{1,5}|：\s?)(?=\d{4}\s*\]|(?![\d\s,;–—-]*\])\S)"
_LEADING = rf"\s?(?:{_E}(\d+)|#?(\d+)|([^\W\d_][\w .'-]{{0,40}}?)(?=[:|]\s|：)){_WORDS}"
_INSIDE = (
    r"\s?(?:\||=(?=\s)|/(?=(?-i:[A-Z]|\d{1,3})\s?END))"
    r"(?:[^\[\]{}|\n]{1,40}\|)??\s?([^\[\]{}|\n]{1,400}?)\s?END"
)
_SEQ2SEQ = r"\s?(?:\|\s?([\w.-]+)\s?</m>|</m(\d+)>|<c(\d+)>(?![^<>]*</c)(?:\s?</m>)?)"
# Of equals, the first counts.
CONVENTIONS = {
    "crac": Convention("mention|[e1]", find=_find_crac,
                       seen=r"\|(?<=\S\|)(?:\[e?\d+\]?|e?\d+\])(?=[\s,.;:!?)\]\"'’”]|$)"),
    "bracket": Convention("[e1 mention]", "[ ] ( )",
                          opening=rf"START\s?{_E}(\d+)\s?[:|]?\s+(?=[^\s\])])"),
    "number": Convention("[1 mention]", "[ ]", opening=rf"START#?(\d+){_WORDS}"),
    "markdown": Convention("[mention](#1)", "[ ]", f"END{_BEHIND['markdown']}"),
    "xml": Convention('<m id="1">mention</m>', seen=_ELEMENT, find=_find_xml),
    "subscript": Convention("[mention]_1", "[ ]", f"END{_BEHIND['subscript']}"),
    "hash": Convention("[mention]#1", "[ ]", f"END{_BEHIND['hash']}"),
    "colon": Convention("[mention: 1]", "[ ]", rf"\s?[:=/]\s?({_NUMBER})\s?END"),
    "seq2seq": Convention("<m> mention | 1 </m>", "<m> </m>", _SEQ2SEQ, bare=True),
    "mask": Convention("<m>mention</m>#1", "<m> </m>", r"\s?END\s?#(\w+)", bare=True),
    "wiki": Convention("[[entity|mention]]", "[[ ]]", opening=r"START([^\[\]|\n]{1,60})\|(?=\S)"),
    "curly": Convention("{{mention|1}}", "{{ }}", _INSIDE, bare=True),
    "tanl": Convention("[ mention | antecedent ]", "[ ]", _INSIDE, bare=True),
    "inside": Convention("{mention | 1}", _ANY, _INSIDE),
    "behind": Convention("{mention}_1, mention[^1]", _ANY, f"END(?:{'|'.join(_BEHIND.values())})",
                         hanging=_HANGING),
    "leading": Convention("{1 mention}", _ANY, opening=rf"(?:{_SIGN}\s?START|START{_LEADING})"),
    "resolved": Convention("mention [antecedent]", hanging=_RESOLVED, before=_PHRASE),
    "glossed": Convention("**mention** [antecedent]", " ".join(_BOLD),
                          r"\s?END\s?[\[(](?:[=→]\s?)?([^\[\]()\n]{1,80})[\])]", bare=True),
    "macro": Convention(r"\entity{1}{mention}", "{ }",
                        opening=r"\\[A-Za-z]+\{([^{}\n]{1,40})\}START"),
    "columns": Convention("a word and (1) on each line", find=_find_columns,
                          seen=r"\d\)[ \t]*$|[\s/](?-i:[BS])-\w"),
}  # fmt: skip
