"""Tags in a text: which of them belong together, and the text without them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from corefeval.formats.answers.units import Unit

OPEN, CLOSE, TEXT_OPEN, TEXT_CLOSE, REMOVE = "open", "close", "text_open", "text_close", "remove"
CUT = "cut"  # a closing tag that the end of the answer cuts off

_PREFIX = re.compile(r"(?i)^#?\s*(?:cluster|entity|chain|coref|ent|id|e|c)?[\s_:-]*(?=\d)")
_CUT_OFF = re.compile(r"[\w,;-]\s*\Z")  # the end of an answer that does not end a sentence
MENDED = ("never closed", "never opened")  # tags, by guessing a word
_FIRST_WORD = re.compile(r"\s*[^\w\s]*(?P<word>\w+|[^\w\s]+)")
_LAST_WORD = re.compile(r"(?P<word>[\w'’-]+|[^\w\s]+)[^\w\s]*\s*$")


@dataclass(slots=True)
class TaggedText:
    """The text of an answer without its tags, and the mentions in it."""

    text: str
    mentions: list[Unit]

    @property
    def cuts(self) -> list[int]:
        """Where mentions begin or end within what would else be one word, in order."""
        ends = {place for unit in self.mentions if not unit.state for place in unit.chars}
        inner = (place for place in ends if 0 < place < len(self.text))
        return sorted(p for p in inner if self.text[p - 1 : p + 1].isalnum())


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A tag in an answer, or a bracket of the text that may be taken for one."""

    kind: str
    start: int
    end: int
    label: str | None = None


def normal_label(label: str) -> str:
    """One label for all spellings of an entity: `#Cluster 2`, `e2` and `2`.

    >>> [normal_label(text) for text in ("#Cluster 2", "cluster_2", "E2", "Hong_Kong")]
    ['2', '2', '2', 'hong_kong']
    """
    return _PREFIX.sub("", label.strip()).strip(" #").lower()


def find_marks(text: str, *patterns: tuple[str, re.Pattern[str]]) -> list[Mark]:
    """All marks in order; of two at the same place the pattern that comes first wins."""
    union = re.compile("|".join(f"({p.pattern})" for _, p in patterns), re.IGNORECASE)
    first = list(accumulate((1 + p.groups for _, p in patterns), initial=1))
    marks = []
    for match in union.finditer(text):
        index = next(i for i, group in enumerate(first) if match[group] is not None)
        labels = (match[group] for group in range(first[index] + 1, first[index + 1]))
        label = next((value for value in labels if value is not None), None)
        marks.append(Mark(patterns[index][0], *match.span(), label))
    return marks


@dataclass(slots=True)
class Assembly:
    """Mentions by their tags, to be put into the plain text at the end."""

    answer: str
    mentions: list[Unit] = field(default_factory=list)
    removed: list[tuple[int, int]] = field(default_factory=list)
    nameless: int = 0
    last: int = 0  # the last closing tag
    cut: int = -1  # the last sign, where it does not end a sentence

    def __post_init__(self) -> None:
        if match := _CUT_OFF.search(self.answer, len(self.answer.rstrip()) - 1):
            self.cut = match.start()

    def pair(self, opened: Mark, closed: Mark, label: str | None, why: str = "") -> None:
        """A mention between two tags; one that names no entity is an entity of its own."""
        self.removed += [(opened.start, opened.end), (closed.start, closed.end)]
        self.last = max(self.last, closed.end)
        if label is None or not normal_label(label):
            label, why = self._name(), why or "no entity is named"
        self.add(opened.end, closed.start, label, opened.start, why)

    def add(self, start: int, end: int, label: str, where: int, why: str = "") -> None:
        """A mention between two places of the answer."""
        label = normal_label(label) or label
        self.mentions.append(Unit("", label, where, chars=(start, end), why=why))

    def lose(self, start: int, end: int, where: int, why: str) -> None:
        """A lost mention whose entity cannot be told: it gets an entity of its own."""
        self.add(start, end, self._name(), where, why)
        self.mentions[-1].state = "lost"

    def _name(self) -> str:
        self.nameless += 1
        return f"?{self.nameless}"

    def leave_open(self, mark: Mark) -> None:
        """An opening tag that nothing closes: the first word behind it, where it says whose."""
        is_cut = self.last < mark.end <= self.cut
        if mark.label is None or is_cut:
            self.removed += [(mark.start, mark.end)] if is_cut else []
            end = min(mark.end + 40, len(self.answer))
            self.lose(mark.end, end, mark.start, "cut off" if is_cut else "never closed")
            return
        self.removed.append((mark.start, mark.end))
        word = _FIRST_WORD.match(self.answer, mark.end, mark.end + 80)
        start, end = word.span("word") if word else (mark.end, mark.end)
        self.add(start, end, mark.label, mark.start, "never closed")

    def leave_closed(self, mark: Mark) -> None:
        """A closing tag that nothing opened: the last word before it, where it says whose."""
        self.removed.append((mark.start, mark.end))
        if mark.label is None:
            self.lose(max(mark.start - 40, 0), mark.start, mark.start, "never opened")
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
            mention.chars = plain(mention.chars[0]), plain(mention.chars[1])
        self.mentions.sort(key=lambda mention: (mention.where, mention.chars))
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


def read_marks(
    text: str, marks: Sequence[Mark], assembly: Assembly | None = None, *, bare: bool = False
) -> TaggedText:
    """Mentions between tags: a closing one takes the newest opening one, or that of its label.

    With labels on both sides, mentions may cross, and what is left over is paired too, for models
    slip in numbers. With `bare`, tags without a label are a mention without an entity, else text.
    """
    assembly = assembly or Assembly(text)
    has_labels = any(mark.label is not None for mark in marks if mark.kind == OPEN)
    stack: list[Mark] = []  # of opening tags; what is closed already is passed over
    by_label: dict[str, list[Mark]] = defaultdict(list)
    closed_by: dict[Mark, Mark] = {}
    unopened: list[Mark] = []
    for mark in marks:
        label = normal_label(mark.label or "")
        if mark.kind in (OPEN, TEXT_OPEN):
            stack.append(mark)
            by_label[label].append(mark)
            continue
        candidates = by_label[label] if has_labels and mark.label is not None else stack
        passed = (TEXT_OPEN,) if mark.kind == CLOSE else ()
        while candidates and (candidates[-1] in closed_by or candidates[-1].kind in passed):
            candidates.pop()
        if candidates:
            closed_by[candidates.pop()] = mark
        elif mark.kind == CLOSE:
            unopened.append(mark)
    waiting = [mark for mark in marks if mark.kind == OPEN and mark not in closed_by]
    repaired = _pair_leftovers(closed_by, waiting, unopened)
    for opened, closed in closed_by.items():
        if closed.kind == CUT and opened.kind == OPEN:
            assembly.removed += [(opened.start, opened.end), (closed.start, closed.end)]
            assembly.lose(opened.end, closed.start, opened.start, "cut off")
        elif closed.kind == CLOSE or (opened.kind == OPEN and (bare or opened.label is not None)):
            why = "closed with another number" if opened in repaired else ""
            whose = closed.label if opened.label is None else opened.label
            assembly.pair(opened, closed, whose, why)
    taken = set(closed_by.values())
    for mark in (*waiting, *unopened):
        if mark.kind == OPEN and mark not in closed_by:
            assembly.leave_open(mark)
        elif mark.kind == CLOSE and mark not in taken:
            assembly.leave_closed(mark)
    return assembly.finish()


_FAR = 600  # characters: no slip in a number reaches so far


def _pair_leftovers(
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
    for openings in by_label.values():
        openings.sort(key=lambda mark: mark.start)
    places = [mark.start for mark in waiting]
    for closed in unopened:
        low, high = bisect_right(places, closed.start - _FAR), bisect_right(places, closed.start)
        before = [mark for mark in waiting[low:high] if mark not in closed_by]
        if not before:
            continue
        opened = before[-1]
        openings = by_label[normal_label(closed.label or "")]
        near = bisect_right(openings, opened.start, key=lambda mark: mark.start)
        outer = next(
            (o for o in reversed(openings[max(near - 4, 0) : near])
             if opened.start < closed_by[o].end < closed.end),
            None,
        )  # fmt: skip
        if outer is not None:
            closed, closed_by[outer] = closed_by[outer], closed
        closed_by[opened] = closed
        repaired.add(opened)
    return repaired
