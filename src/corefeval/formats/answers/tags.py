"""Tags in a text: which of them belong together, and the text without them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

import numpy as np

from corefeval.formats.answers.units import Unit
from corefeval.model.arrays import IntArray, all_true
from corefeval.model.ledger import Span

OPEN, CLOSE, TEXT, CUT, REMOVE = "open", "close", "text", "cut", "remove"

_PREFIX = re.compile(r"(?i)^#?\s*(?:cluster|entity|chain|coref|ent|id|e|c)?[\s_:-]*(?=\d)")
_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789")
_CUT_OFF = re.compile(r"[\w,;\[-]\s*\Z")  # the end of an answer that does not end a sentence
MENDED = ("never closed", "never opened")  # tags, by guessing a word
CUT_OFF = "cut off"
_FIRST_WORD = re.compile(r"\s*[^\w\s]*(\w+|[^\w\s]+)")
_LAST_WORD = re.compile(r"([\w'’-]+|[^\w\s]+)[^\w\s]*\s*\Z")
_STRETCH = 40  # characters in which the word of a tag without its partner is looked for
_NESTED = 50  # brackets in brackets: nobody closes what was opened further out
_SLIP = 40  # tags: no slip in a number reaches further


@dataclass(slots=True)
class TaggedText:
    """The text of an answer without its tags, and the mentions in it."""

    text: str
    mentions: list[Unit]

    @property
    def cuts(self) -> list[int]:
        """Where mentions begin or end within what would else be one word, in order."""
        edges = {place for unit in self.mentions if not unit.state for place in unit.chars}
        return sorted(place for place in edges if self.text[place - 1 : place + 1].isalnum())


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


def read_marks(text: str, marks: Iterable[Mark], *, bare: bool = False) -> TaggedText:
    """The mentions between tags, in the text without these.

    With `bare`, tags without a label are a mention without an entity, else they are text. A tag
    without its partner stands for the nearest word where it says whose it is, else it is lost.
    """
    every, units = list(marks), list[Unit]()
    has_labels = any(mark.label is not None for mark in every if mark.kind == OPEN)
    partner = _pair(every, has_labels)
    last = max((m.start for m in every if m.kind in (CLOSE, TEXT) and m in partner), default=-1)
    half = _CUT_OFF.search(text, max(len(text.rstrip()) - 1, 0))
    is_kept = all_true(len(text) + 1)
    for mark in every:
        match, label, chars, why = partner.get(mark), mark.label, None, ""
        if mark.kind == OPEN and match:
            label = match.label if label is None else label
            chars = (mark.end, match.start) if bare or label is not None else None
            if match.kind == CUT:
                chars, why = (mark.end, match.start), CUT_OFF
            elif normal_label(match.label or label or "") != normal_label(label or ""):
                why = "closed with another number"
        elif mark.kind == OPEN and (label is not None or not has_labels):
            is_cut = mark.start > last and half is not None and mark.end <= half.start()
            why = CUT_OFF if is_cut else MENDED[0]
            chars = _nearest_word(text, mark)
        elif mark.kind == CLOSE and not match and not mark.shape:
            why, chars = MENDED[1], _nearest_word(text, mark)
        if chars is not None:
            is_lost = why == CUT_OFF or (label is None and why in MENDED)
            name = "" if is_lost else normal_label(label or "")
            why = why or ("" if name else "no entity is named")
            name, state = name or f"?{len(units) + 1}", "lost" if is_lost else ""
            units.append(Unit("", name, mark.start, chars=chars, state=state, why=why))
        if mark.kind == REMOVE or (chars and (label is not None or why != MENDED[0])):
            for tag in (mark, match or mark):
                is_kept[tag.start : tag.end] = False
    places: IntArray = np.cumsum(is_kept) - is_kept  # how much of the text is before each character
    for unit in units:
        unit.chars = int(places[unit.chars[0]]), int(places[unit.chars[1]])
    units.sort(key=lambda unit: (unit.where, unit.chars))
    return TaggedText("".join(compress(text, is_kept.tolist())), units)


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
    partner: dict[Mark, Mark] = {}
    stack: list[Mark] = []  # of opening tags; what is closed already is passed over
    by_label = defaultdict[str, list[Mark]](list)
    unopened: list[int] = []
    for place, mark in enumerate(marks):
        name = normal_label(mark.label or "")
        if mark.kind == OPEN:
            stack.append(mark)
            by_label[name].append(mark)
            continue
        candidates = by_label[name] if has_labels and mark.label is not None else stack
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
        before = marks[max(place - _SLIP, 0) : place]
        for opened in [m for m in before if m.kind == OPEN and m not in partner][-1:]:
            partner[opened], partner[marks[place]] = marks[place], opened
    return partner
