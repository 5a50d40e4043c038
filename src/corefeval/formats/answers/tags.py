"""Text with tags: which conventions there are, and how each is read."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from corefeval.formats.answers.text import fold

OPEN, CLOSE, TEXT_OPEN, TEXT_CLOSE, REMOVE = "open", "close", "text_open", "text_close", "remove"

_PREFIX = re.compile(r"(?i)^#?\s*(?:cluster|entity|chain|coref|ent|id|e|c)?[\s_:-]*(?=\d)")
_FIRST_WORD = re.compile(r"\s*[^\w\s]*(?P<word>\w+|[^\w\s]+)")
_LAST_WORD = re.compile(r"(?P<word>[\w'’-]+|[^\w\s]+)[^\w\s]*\s*$")
_BLANK_BEFORE = re.compile(r"\s+$")


@dataclass(slots=True)
class Tagged:
    """A mention as it was written: its characters in the plain text, and its entity's label.

    `where` is its place in the answer. `why` says how its tags were mended, or why it is `lost`.
    """

    start: int
    end: int
    entity: str
    where: int
    why: str = ""
    lost: bool = False


@dataclass(slots=True)
class TaggedText:
    """The text of an answer without its tags, and the mentions in it."""

    text: str
    mentions: list[Tagged]


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A tag in an answer, or a bracket of the text that may be taken for one."""

    kind: str
    start: int
    end: int
    label: str | None = None


def normal_label(label: str) -> str:
    """What is the same entity in different spellings: `#Cluster 2`, `e2` and `2`.

    >>> [normal_label(text) for text in ("#Cluster 2", "cluster_2", "E2", "Hong_Kong")]
    ['2', '2', '2', 'hong_kong']
    """
    return _PREFIX.sub("", label.strip()).strip(" #").lower()


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


def _marks(text: str, *patterns: tuple[str, re.Pattern[str]]) -> list[Mark]:
    """All marks in order; of two at the same place the pattern that comes first wins."""
    union = re.compile("|".join(f"({p.pattern})" for _, p in patterns), re.IGNORECASE)
    first = list(accumulate((1 + p.groups for _, p in patterns), initial=1))
    marks = []
    for match in union.finditer(text):
        index = next(i for i, group in enumerate(first) if match[group] is not None)
        labels = (match[group] for group in range(first[index] + 1, first[index + 1]))
        label = next((one for one in labels if one is not None), None)
        marks.append(Mark(patterns[index][0], *match.span(), label))
    return marks


@dataclass(slots=True)
class _Assembly:
    """Mentions by their tags, to be put into the plain text at the end."""

    answer: str
    mentions: list[Tagged] = field(default_factory=list)
    removed: list[tuple[int, int]] = field(default_factory=list)
    nameless: int = 0

    def pair(self, opened: Mark, closed: Mark, label: str | None, why: str = "") -> None:
        """A mention between two tags; one that names no entity is an entity of its own."""
        self.removed += [(opened.start, opened.end), (closed.start, closed.end)]
        if label is None or not normal_label(label):
            self.nameless += 1
            label, why = f"?{self.nameless}", why or "no entity is named"
        self.add(opened.end, closed.start, label, opened.start, why)

    def add(self, start: int, end: int, label: str, where: int, why: str = "") -> None:
        """A mention between two places of the answer."""
        self.mentions.append(Tagged(start, end, normal_label(label) or label, where, why))

    def leave_open(self, mark: Mark) -> None:
        """An opening tag that nothing closes: the first word behind it, where it says whose."""
        if mark.label is None:
            end = min(mark.end + 40, len(self.answer))
            self.mentions.append(Tagged(mark.end, end, "", mark.start, "never closed", lost=True))
            return
        self.removed.append((mark.start, mark.end))
        word = _FIRST_WORD.match(self.answer, mark.end)
        start, end = word.span("word") if word else (mark.end, mark.end)
        self.add(start, end, mark.label, mark.start, "never closed")

    def leave_closed(self, mark: Mark) -> None:
        """A closing tag that nothing opened: the last word before it, where it says whose."""
        self.removed.append((mark.start, mark.end))
        if mark.label is None:
            start = max(mark.start - 40, 0)
            self.mentions.append(
                Tagged(start, mark.start, "", mark.start, "never opened", lost=True)
            )
            return
        before = self.answer[max(mark.start - 80, 0) : mark.start]
        word = _LAST_WORD.search(before)
        shift = mark.start - len(before)
        start, end = word.span("word") if word else (len(before), len(before))
        self.add(shift + start, shift + end, mark.label or "", mark.start, "never opened")

    def finish(self) -> TaggedText:
        """The plain text with all mentions in it, in the order in which they were written."""
        removed = _union(self.removed)
        kept, last = [], 0
        for start, end in removed:
            kept.append(self.answer[last:start])
            last = end
        kept.append(self.answer[last:])
        ends = [end for _, end in removed]
        gone = [0, *accumulate(end - start for start, end in removed)]

        def plain(place: int) -> int:
            index = bisect_right(ends, place)
            inside = max(place - removed[index][0], 0) if index < len(removed) else 0
            return place - gone[index] - inside

        for mention in self.mentions:
            mention.start, mention.end = plain(mention.start), plain(mention.end)
        self.mentions.sort(key=lambda one: (one.where, one.start))
        return TaggedText("".join(kept), self.mentions)


def _union(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that touch made one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _read_nested(text: str, marks: Iterable[Mark], *, bare: bool = False) -> TaggedText:
    """Tags that nest: a closing one takes the newest opening one.

    With `bare`, opening and closing tags without a label are a mention without an entity; else they
    are brackets of the text.
    """
    made, stack = _Assembly(text), list[Mark]()
    for mark in marks:
        if mark.kind in (OPEN, TEXT_OPEN):
            stack.append(mark)
        elif mark.kind == REMOVE:
            made.removed.append((mark.start, mark.end))
        elif mark.kind == TEXT_CLOSE:
            if (
                stack
                and (opened := stack.pop()).kind == OPEN
                and (bare or opened.label is not None)
            ):
                made.pair(opened, mark, opened.label)
        else:
            while stack and stack[-1].kind == TEXT_OPEN:
                stack.pop()
            if stack:
                opened = stack.pop()
                label = mark.label if mark.label is not None else opened.label
                made.pair(opened, mark, label)
            else:
                made.leave_closed(mark)
    for mark in stack:
        if mark.kind == OPEN:
            made.leave_open(mark)
    return made.finish()


def _read_labelled(text: str, marks: Sequence[Mark], made: _Assembly | None = None) -> TaggedText:
    """Tags with labels on both sides, which may cross: a closing tag closes its own label.

    What is left over is paired too, for models slip in one of the two numbers.
    """
    made = made or _Assembly(text)
    stack: list[Mark] = []  # of opening tags; what is closed already is passed over
    by_label: dict[str, list[Mark]] = defaultdict(list)
    closed_by: dict[Mark, Mark] = {}
    unopened: list[Mark] = []
    for mark in marks:
        if mark.kind == OPEN:
            stack.append(mark)
            by_label[normal_label(mark.label or "")].append(mark)
            continue
        own = stack if mark.label is None else by_label[normal_label(mark.label)]
        while own and own[-1] in closed_by:
            own.pop()
        if own:
            closed_by[own.pop()] = mark
        else:
            unopened.append(mark)
    waiting = [mark for mark in marks if mark.kind == OPEN and mark not in closed_by]
    repaired = _pair_rest(closed_by, waiting, unopened)
    for opened, closed in closed_by.items():
        why = "closed with another number" if opened in repaired else ""
        made.pair(opened, closed, opened.label, why)
    for mark in waiting:
        if mark not in closed_by:
            made.leave_open(mark)
    taken = set(closed_by.values())
    for mark in unopened:
        if mark not in taken:
            made.leave_closed(mark)
    return made.finish()


_FAR = 600  # characters: no slip in a number reaches so far


def _pair_rest(
    closed_by: dict[Mark, Mark], waiting: Sequence[Mark], unopened: Sequence[Mark]
) -> set[Mark]:
    """Pair opening and closing tags whose numbers differ; says which opening tags these are.

    A closing tag with the number of an outer mention closes that one too early. Its own closing tag
    is left over then: they are exchanged, so that mentions nest.
    """
    repaired: set[Mark] = set()
    if not unopened or not waiting:
        return repaired
    by_label: dict[str, list[Mark]] = defaultdict(list)
    for opened in closed_by:
        by_label[normal_label(opened.label or "")].append(opened)
    for same in by_label.values():
        same.sort(key=lambda one: one.start)
    places = [one.start for one in waiting]
    for closed in unopened:
        low, high = bisect_right(places, closed.start - _FAR), bisect_right(places, closed.start)
        opened = next((o for o in reversed(waiting[low:high]) if o not in closed_by), None)
        if opened is None:
            continue
        same = by_label[normal_label(closed.label or "")]
        near = bisect_right(same, opened.start, key=lambda one: one.start)
        outer = next(
            (o for o in reversed(same[max(near - 4, 0) : near])
             if opened.start < closed_by[o].end < closed.end),
            None,
        )  # fmt: skip
        if outer is not None:
            closed, closed_by[outer] = closed_by[outer], closed
        closed_by[opened] = closed
        repaired.add(opened)
    return repaired


# ------------------------------------------------------------------ the conventions

_CRAC_MARK = r"(?:\[e?[\w.-]+\]?|e?[\w.-]+\])"
_CRAC_NEXT = r",\s?(?:\[e\d+\]?|e\d+\])"  # behind a blank only what is a mark for sure
_CRAC = re.compile(rf"\|({_CRAC_MARK}(?:,{_CRAC_MARK}|{_CRAC_NEXT})*)", re.IGNORECASE)


def _read_crac(text: str) -> TaggedText:
    """Marks hang on words: on a word, what closes an earlier mention is read first."""
    made = _Assembly(text)
    marks: list[Mark] = []
    last = 0
    open_labels: dict[str, int] = defaultdict(int)
    for match in _CRAC.finditer(text):
        begin = _word_start(text, last, match.start())
        if begin == match.start():
            continue
        last = match.end()
        made.removed.append(match.span())
        listed = re.findall(_CRAC_MARK, match[1])
        opening = [one.strip("[]") for one in listed if one[0] == "["]
        single = [one.strip("[]") for one in listed if one[0] == "[" and one[-1] == "]"]
        for name in single:
            made.add(begin, match.start(), name, begin)
            opening.remove(name)
        for one in listed:
            if one[0] == "[":
                continue
            name = one[:-1]
            here = [other for other in opening if normal_label(other) == normal_label(name)]
            if not open_labels[normal_label(name)] and here:
                made.add(begin, match.start(), name, begin)
                opening.remove(here[0])
                continue
            open_labels[normal_label(name)] -= open_labels[normal_label(name)] > 0
            marks.append(Mark(CLOSE, match.start(), match.start(), name))
        for name in opening:
            open_labels[normal_label(name)] += 1
            marks.append(Mark(OPEN, begin, begin, name))
    return _read_labelled(text, marks, made)


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
_NUMBERED = re.compile(r"\[#?(\d+)\s?[:|]?\s+(?!\d+\s*\])(?=[^\s\]])")
_SQUARE, _SQUARE_END = re.compile(r"\["), re.compile(r"\]")


def _read_brackets(pattern: re.Pattern[str]) -> Callable[[str], TaggedText]:
    """`[e1 the man]`: an opening bracket without a number is text, and so is what closes it."""

    def read(text: str) -> TaggedText:
        kinds = [(OPEN, pattern), (TEXT_OPEN, _SQUARE), (TEXT_CLOSE, _SQUARE_END)]
        if not _PAREN.search(text):
            return _read_nested(text, _marks(text, *kinds))
        rounds = [(OPEN, _PAREN), (TEXT_OPEN, re.compile(r"\(")), (TEXT_CLOSE, re.compile(r"\)"))]
        both = _marks(text, *kinds[:1], *rounds[:1], *kinds[1:], *rounds[1:])
        return _read_nested(text, _by_shape(text, both))

    return read


def _by_shape(text: str, marks: Iterable[Mark]) -> list[Mark]:
    """Marks where round and square brackets are told apart: what another shape closes is text."""
    stack: list[Mark] = []
    kept: list[Mark] = []
    for mark in marks:
        shape = text[mark.start]
        if mark.kind in (OPEN, TEXT_OPEN):
            stack.append(mark)
            kept.append(mark)
        elif stack and text[stack[-1].start] == {"]": "[", ")": "("}[shape]:
            stack.pop()
            kept.append(mark)
        elif any(text[one.start] == {"]": "[", ")": "("}[shape] for one in stack):
            while text[stack[-1].start] != {"]": "[", ")": "("}[shape]:
                stack.pop()
                kept.append(Mark(TEXT_CLOSE, mark.start, mark.start))
            stack.pop()
            kept.append(mark)
    return kept


def _closing(name: str) -> Callable[[str], TaggedText]:
    """Square brackets whose closing one carries the label; a plain one closes text."""

    def read(text: str) -> TaggedText:
        kinds = ((CLOSE, _CLOSINGS[name]), (OPEN, _SQUARE), (TEXT_CLOSE, _SQUARE_END))
        return _read_nested(text, _marks(text, *kinds))

    return read


_LINK = r"\((?:#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+)\)"
_CLOSINGS = {
    "markdown": re.compile(r"\]\s?\((#[^()\n]{0,60}|(?:cluster|entity)[ _-]?\w+)\)"),
    "hash": re.compile(r"\]\s?(?:#(\w+)|\(#(\w+)\))"),
    "subscript": re.compile(
        r"\](?:_(\d+)|_\{([^{}\n]{0,40})\}|<sub>([^<\n]{0,40})</sub>|([₀-₉]+))"
    ),
    "colon": re.compile(rf"\s?:\s?({_NUMBER})\s?\]"),
}
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_PILED = re.compile(rf"((?:\]\s?){{2,}})((?:{_LINK}\s?){{2,}})")


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
_XML_OPEN = re.compile(
    rf"""<{_NAMES}\b[^<>]{{0,200}}?{_ATTRIBUTE}["'“”]?([^"'“”\s<>]*)[^<>]{{0,200}}>"""
)
_XML_REF = re.compile(r"""<coref\b[^<>]{0,200}?\bref\s*=\s*["'“”]?([^"'“”\s<>]*)""", re.IGNORECASE)
_REF_ONLY = re.compile(
    rf"""<{_NAMES}\b[^<>]{{0,200}}?\bref\s*=\s*["'“”]?([^"'“”\s<>]*)[^<>]{{0,200}}>"""
)
_NAMED_OPEN = re.compile(r"<(?:e|entity|ent|c|cluster|m)[ _-]?(\d+)>")
_NAMED_CLOSE = re.compile(r"</(?:e|entity|ent|c|cluster|m)[ _-]?(\d+)>")
_XML_CLOSE = re.compile(rf"</\s?{_NAMES}\s?>")


def _read_xml(text: str) -> TaggedText:
    """Tags of any of the usual names; never an XML parser, for texts have `&` and tags cross."""
    kinds = [(OPEN, _XML_OPEN), (OPEN, _REF_ONLY), (OPEN, _NAMED_OPEN)]
    marks = _marks(text, *kinds, (CLOSE, _NAMED_CLOSE), (CLOSE, _XML_CLOSE))
    parsed = _read_labelled(text, marks)
    references = {
        mark.start: found[1]
        for mark in marks
        if mark.kind == OPEN and (found := _XML_REF.match(text[mark.start : mark.end]))
    }
    if references:  # as in MUC: ID is the mention's own, REF that of its antecedent
        entity_of: dict[str, str] = {}
        for mention in parsed.mentions:
            to = normal_label(references.get(mention.where, ""))
            own = mention.entity
            mention.entity = entity_of.setdefault(own, entity_of.get(to, to or own))
    return parsed


_M_OPEN = re.compile(r"<m>\s?")
_SEQ2SEQ_CLOSE = re.compile(r"\s?(?:\|\s?([\w.-]+)\s?</m>|</m(\d+)>|<c(\d+)>\s?(?:</m>)?)")
_SEQ2SEQ_NEW = re.compile(r"\s?</new>")
_SEQ2SEQ_OTHER = re.compile(r"</?(?:speaker|sentence)>|<copy>")
_M_CLOSE = re.compile(r"\s?</m>")
_MASK_CLOSE = re.compile(r"\s?</m>\s?#(\w+)")


def _read_seq2seq(text: str) -> TaggedText:
    """`<m> x | 1 </m>`; `</new>` closes the first mention of the next entity."""
    kinds = ((CLOSE, _SEQ2SEQ_CLOSE), (OPEN, _M_OPEN), (CLOSE, _SEQ2SEQ_NEW))
    rest = ((TEXT_CLOSE, _M_CLOSE), (REMOVE, _SEQ2SEQ_OTHER))
    marks, new = [], 0
    for mark in _marks(text, *kinds, *rest):
        if mark.kind == CLOSE and mark.label is None:
            mark = Mark(CLOSE, mark.start, mark.end, str(new))
            new += 1
        marks.append(mark)
    return _read_nested(text, marks, bare=True)


def _read_mask(text: str) -> TaggedText:
    kinds = ((CLOSE, _MASK_CLOSE), (OPEN, _M_OPEN), (TEXT_CLOSE, _M_CLOSE))
    return _read_nested(text, _marks(text, *kinds), bare=True)


_CURLY_OPEN, _CURLY_END = re.compile(r"\{\{\s?"), re.compile(r"\s?\}\}")
_CURLY_CLOSE = re.compile(r"\s?\|\s?([\w .#-]{1,40}?)\s?\}\}")


def _read_curly(text: str) -> TaggedText:
    kinds = ((CLOSE, _CURLY_CLOSE), (OPEN, _CURLY_OPEN), (TEXT_CLOSE, _CURLY_END))
    return _read_nested(text, _marks(text, *kinds), bare=True)


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
    parsed = _read_nested(text, _marks(text, *kinds), bare=True)
    newest: dict[str, str] = {}
    number = 0
    for mention in sorted(parsed.mentions, key=lambda one: (one.start, -one.end)):
        if mention.lost:
            continue
        own = folded_text(parsed.text[mention.start : mention.end])
        nameless = mention.entity.startswith("?")
        linked = None if nameless else newest.get(folded_text(mention.entity))
        mention.why = "" if nameless or linked else "the antecedent was not marked before"
        if linked is None:
            number += 1
            linked = str(number)
            if not nameless:  # the first time that its text is mentioned
                newest[folded_text(mention.entity)] = linked
        mention.entity = newest[own] = linked
    return parsed


def folded_text(text: str) -> str:
    """A text as strings are compared: folded words with one blank between them."""
    return " ".join(map(fold, re.findall(r"\w+|[^\w\s]", text)))


_DECLARED: tuple[tuple[str, str, str | re.Pattern[str], Callable[[str], TaggedText]], ...] = (
    ("crac", "mention|[e1]", r"(?<=\S)\|(?:\[e?\d+\]?|e?\d+\])(?=[\s,.;:!?)\]\"'’”]|$)", _read_crac),
    ("bracket", "[e1 mention]", _BRACKET, _read_brackets(_BRACKET)),
    ("number", "[1 mention]", _NUMBERED, _read_brackets(_NUMBERED)),
    ("markdown", "[mention](#cluster_1)", _CLOSINGS["markdown"], _read_markdown),
    ("xml", '<m id="1">mention</m>', _XML_OPEN, _read_xml),
    ("named", "<e1>mention</e1>", _NAMED_OPEN, _read_xml),
    ("subscript", "[mention]_1", _CLOSINGS["subscript"], _read_subscript),
    ("hash", "[mention]#1", r"\]\s?#\w+", _closing("hash")),
    ("colon", "[mention: 1]", _CLOSINGS["colon"], _closing("colon")),
    ("seq2seq", "<m> mention | 1 </m>", rf"{_SEQ2SEQ_CLOSE.pattern}|</new>", _read_seq2seq),
    ("mask", "<m>mention</m>#1", _MASK_CLOSE, _read_mask),
    ("curly", "{{mention|1}}", _CURLY_CLOSE, _read_curly),
    ("tanl", "[ mention | antecedent ]", r"\[\s[^\[\]|]{1,200}\s\|\s[^\[\]|]{1,200}\s\]", _read_tanl),
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
