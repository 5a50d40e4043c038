"""Tags in a text: which of them belong together, and the text without them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import compress

import numpy as np

from corefeval.formats.answers.units import Unit
from corefeval.model.arrays import IntArray, unset
from corefeval.model.ledger import Span

OPEN, CLOSE, TEXT, CUT, REMOVE = "open", "close", "text", "cut", "remove"

_PREFIX = re.compile(r"(?i)^#?\s*(?:cluster|entity|chain|coref|ent|id|e|c)?[\s_:-]*(?=\d)")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789")
_CUT_OFF = re.compile(r"[\w,;-]\s*\Z")  # the end of an answer that does not end a sentence
MENDED = ("never closed", "never opened")  # tags, by guessing a word
_FIRST_WORD = re.compile(r"\s*[^\w\s]*(\w+|[^\w\s]+)")
_LAST_WORD = re.compile(r"([\w'’-]+|[^\w\s]+)[^\w\s]*\s*\Z")
_STRETCH = 40  # characters in which the word of a tag without its partner is looked for
_NESTED = 50  # brackets in brackets: nobody closes what was opened further out
_SLIP = 40  # tags: no slip in a number reaches further


@dataclass(slots=True)
class TaggedText:
    """The text of an answer without its tags, the mentions in it, and where its signs stood."""

    text: str
    mentions: list[Unit]
    origins: IntArray = field(default_factory=partial(unset, 0))

    @property
    def cuts(self) -> list[int]:
        """Where mentions begin or end within what would else be one word, in order."""
        edges = {place for unit in self.mentions if not unit.state for place in unit.chars}
        inner = (place for place in edges if 0 < place < len(self.text))
        return sorted(p for p in inner if self.text[p - 1 : p + 1].isalnum())


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A tag in an answer, or a bracket of the text that may be taken for one.

    Where it says the entity, it has a label. It may `open` or `close` a mention; `text` is a
    closing bracket that says nothing, `cut` a closing tag that the end of the answer cuts off, and
    what to `remove` is neither tag nor text. Where kinds of brackets are told apart, `shape` is the
    opening one: what another shape closes is text.
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


class _Assembly:
    """Mentions by their tags, to be put into the plain text at the end."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.mentions: list[Unit] = []
        self.kept = np.ones(len(answer) + 1, dtype=np.bool_)
        self.nameless = 0

    def remove(self, *marks: Mark) -> None:
        """Take tags out of the text."""
        for mark in marks:
            self.kept[mark.start : mark.end] = False

    def add(self, mark: Mark, chars: Span, label: str | None, why: str, state: str = "") -> None:
        """A mention at a place of the answer; one that names no entity is an entity of its own."""
        name = normal_label(label or "")
        if not name:
            self.nameless += 1
            name, why = f"?{self.nameless}", why or "no entity is named"
        self.mentions.append(Unit("", name, mark.start, chars=chars, state=state, why=why))

    def mend(self, mark: Mark, why: str) -> None:
        """A tag without its partner: the nearest word where it says whose, else it is lost."""
        if mark.kind == OPEN:
            low, high = mark.end, min(mark.end + _STRETCH, len(self.answer))
            word = _FIRST_WORD.match(self.answer, low, high)
        else:
            low, high = max(mark.start - _STRETCH, 0), mark.start
            word = _LAST_WORD.search(self.answer, low, high)
        if mark.label is None or why not in MENDED:
            self.add(mark, (low, high), None, why, "lost")
        else:
            self.add(mark, word.span(1) if word else (low, high), mark.label, why)
        if mark.label is not None or why != "never closed":
            self.remove(mark)

    def finish(self) -> TaggedText:
        """The plain text with all mentions in it, in the order in which they were written."""
        places: IntArray = (
            np.cumsum(self.kept) - self.kept
        )  # how much of the text is before each character
        for mention in self.mentions:
            mention.chars = int(places[mention.chars[0]]), int(places[mention.chars[1]])
        self.mentions.sort(key=lambda mention: (mention.where, mention.chars))
        origins = np.flatnonzero(self.kept)
        text = "".join(compress(self.answer, self.kept.tolist()))
        return TaggedText(text, self.mentions, origins)


def read_marks(text: str, marks: Iterable[Mark], *, bare: bool = False) -> TaggedText:
    """The mentions between tags, in the text without these.

    With `bare`, tags without a label are a mention without an entity, else they are text.
    """
    every = list(marks)
    has_labels = any(mark.label is not None for mark in every if mark.kind == OPEN)
    partner = _pair(every, has_labels)
    closings = [n for n, mark in enumerate(every) if mark.kind in (CLOSE, TEXT) and mark in partner]
    last = closings[-1] if closings else -1
    half = _CUT_OFF.search(text, max(len(text.rstrip()) - 1, 0))
    assembly = _Assembly(text)
    for number, mark in enumerate(every):
        match = partner.get(mark)
        if mark.kind == REMOVE:
            assembly.remove(mark)
        elif mark.kind == OPEN and match:
            chars, label = (mark.end, match.start), mark.label
            label = match.label if label is None else label
            is_slip = normal_label(match.label or label or "") != normal_label(label or "")
            if match.kind == CUT:
                assembly.remove(mark, match)
                assembly.add(mark, chars, None, "cut off", "lost")
            elif bare or label is not None:
                assembly.remove(mark, match)
                assembly.add(mark, chars, label, "closed with another number" if is_slip else "")
        elif mark.kind == OPEN and (mark.label is not None or not has_labels):
            is_cut = number > last and half is not None and mark.end <= half.start()
            assembly.mend(mark, "cut off" if is_cut else "never closed")
        elif mark.kind == CLOSE and not match and not mark.shape:
            assembly.mend(mark, "never opened")
    return assembly.finish()


def _pair(marks: Sequence[Mark], has_labels: bool) -> dict[Mark, Mark]:
    """Opening and closing tags by each other.

    A closing tag takes the newest opening one of its label where both have one, so that mentions
    may cross; else the newest one of its shape, and what stands open within is closed as well.
    """
    partner: dict[Mark, Mark] = {}
    stack: list[Mark] = []  # of opening tags; what is closed already is passed over
    by_label = defaultdict[str, list[Mark]](list)
    unopened: list[int] = []
    for place, mark in enumerate(marks):
        if mark.kind == OPEN:
            stack.append(mark)
            by_label[normal_label(mark.label or "")].append(mark)
            continue
        is_named = has_labels and mark.label is not None
        candidates = by_label[normal_label(mark.label or "")] if is_named else stack
        while candidates and candidates[-1] in partner:
            candidates.pop()
        if mark.kind == REMOVE or all(m.shape != mark.shape for m in candidates[-_NESTED:]):
            unopened += [place] if mark.kind == CLOSE else []
            continue
        while candidates[-1].shape != mark.shape:
            partner[candidates.pop()] = Mark(TEXT, mark.start, mark.start)
        partner[mark] = opened = candidates.pop()
        partner[opened] = mark
    for place in unopened:
        _pair_slip(partner, marks[max(place - _SLIP, 0) : place], marks[place])
    return partner


def _pair_slip(partner: dict[Mark, Mark], before: Sequence[Mark], closed: Mark) -> None:
    """Pair a closing tag with an opening one before it whose number differs.

    A closing tag with the number of an outer mention closes that one too early. Its own closing tag
    is left over then: they are exchanged, so that mentions nest.
    """
    waiting = [mark for mark in before if mark.kind == OPEN and mark not in partner]
    if not waiting:
        return
    opened, label = waiting[-1], normal_label(closed.label or "")
    for mark in before[before.index(opened) :]:
        is_early = mark.kind == CLOSE and normal_label(mark.label or "") == label
        if is_early and mark in partner and partner[mark].start < opened.start:
            outer = partner[mark]
            partner[outer], partner[closed], closed = closed, outer, mark
            break
    partner[opened], partner[closed] = closed, opened
