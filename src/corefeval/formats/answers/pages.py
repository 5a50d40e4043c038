"""What an answer says about a document of the key: its mentions, and a row for all that it has."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np

from corefeval.formats.answers.items import QUOTED, words_of
from corefeval.formats.answers.lookup import KeyDocument
from corefeval.formats.answers.placing import Laid, Projector, lay
from corefeval.formats.answers.strings import Chooser, Links
from corefeval.formats.answers.tags import MENDED, TaggedText
from corefeval.formats.answers.text import Atoms, atoms_of_text, fold_text, show_escapes
from corefeval.formats.answers.units import Unit
from corefeval.model.ledger import Coverage, Entry, Span

_LONG = 2000  # characters of a mention that are kept in the ledger
NO_FORM, _OTHER_FORM = "in no known form", "in another form than the rest"
_VAGUE = ("table", "lines")  # forms that other texts may look like
_FEW = 3  # mentions that prose around an answer may seem to have
_SIGN = 4  # characters of a label before a bracket
_COPIED = 0.3  # the share of a text that is a copy of the document, or of another text


@dataclass(slots=True)
class Page:
    """What was read for one document: a row of the ledger for each unit, and the mentions."""

    document: KeyDocument
    coverage: Coverage
    entries: list[Entry] = field(default_factory=list)
    asides: list[Entry] = field(default_factory=list)
    mentions: dict[tuple[Span, str], None] = field(default_factory=dict)

    def add(self, unit: Unit) -> None:
        """A unit with the words it got: none, one, or several; with a reason, it was changed."""
        spans, why = [self.document.shift(span) for span in unit.spans], unit.why
        new = [(span, unit.entity) for span in spans if (span, unit.entity) not in self.mentions]
        self.mentions.update(dict.fromkeys(new))
        state = unit.state or "lost"
        if spans:
            state = ("changed" if why else "placed") if new else "repeated"
        start, end = spans[0] if new else (-1, -1)
        if len(spans) > 1:
            why = ", ".join(filter(None, (why, f"and {len(spans) - 1} more places")))
        words, name, places = unit.text[:_LONG], self.document.identifier, len(unit.places.every)
        entry = Entry(name, words, unit.entity, start, end, state, why, unit.where, max(places, 1))  # type: ignore[arg-type]
        (self.asides if state == "aside" else self.entries).append(entry)

    def blank(self, text: str) -> str:
        """The answer with blanks in the place of what was read, and of what is quoted."""
        signs = list(QUOTED.sub(lambda match: " " * len(match[0]), text))
        for entry in self.entries:
            signs[entry.where : entry.where + len(entry.written)] = " " * len(entry.written)
        return "".join(signs)

    def unread_lines(self, text: str) -> str:
        """The lines of an answer of which nothing was read, with blanks for the others."""
        lines = text.splitlines(keepends=True)
        ends = list(accumulate(map(len, lines)))
        read = {bisect_right(ends, entry.where) for entry in (*self.entries, *self.asides)}
        return "".join(
            re.sub(r"\S", " ", line) if row in read else line for row, line in enumerate(lines)
        )

    def add_other(self, page: Page) -> None:
        """What other lines say in a form of their own; unclear where it is much, else remarks."""
        known = {(entry.start, entry.end) for entry in self.entries}
        new = [e for e in page.entries if e.is_placed and (e.start, e.end) not in known]
        for e in new if 2 * len(new) > max(len(self.mentions), _FEW) else ():
            self.add(Unit(e.written, f"?{e.entity}", e.where, state="unclear", why=_OTHER_FORM))

    def add_loose(self, text: str, *, is_copy: bool) -> None:
        """Units that no form says anything of; all are unclear if nothing, or too little, was read.

        Else they are asides: remarks around what was read. Too little was read if more words of the
        document are left in them than were placed, without those that a line has beside its
        mentions. In a copy of the document, its own quotes and brackets are none.
        """
        form, states = self.coverage.convention, {entry.state for entry in self.entries}
        is_read = bool(states - {"lost", "unclear"} or ("lost" in states and form not in _VAGUE))
        if not is_read:
            rows = (*self.entries, *self.asides)
            self.entries = [replace(row, state="unclear", why=row.why or NO_FORM) for row in rows]
            self.asides = []
        ends = [match.end() for match in re.finditer("\n", text)] if form in _VAGUE else []
        rows = (*self.entries, *self.asides)
        taken = {entry.where + shift for entry in rows for shift in range(_SIGN if is_copy else 1)}
        lines = {bisect_right(ends, entry.where) for entry in self.entries if ends and is_read}
        free = list(self._find_loose(text, is_copy, taken))
        unknown = [
            unit
            for unit in free
            if bisect_right(ends, unit.where) not in lines and self.document.stands(unit.text)
        ]
        n_placed = sum(entry.is_placed for entry in self.entries)
        is_read = is_read and len(unknown) <= max(n_placed, _FEW)
        for number, unit in enumerate(free):
            is_aside = is_read and not (is_copy and unit in unknown)
            unit.entity = f"?{number}"
            unit.state, unit.why = ("aside", "") if is_aside else ("unclear", NO_FORM)
            self.add(unit)

    def _find_loose(self, text: str, is_copy: bool, taken: set[int]) -> Iterator[Unit]:
        """All that is quoted or bracketed in a text, else the items of lists in lines."""
        if self.coverage.convention == "resolved":  # whose brackets have antecedents in them
            return
        for pattern in (QUOTED, _BRACKETED, _BULLET)[is_copy and bool(self.entries) :]:
            matches = list(pattern.finditer(text))
            for match in matches:
                is_known = match.start() in taken or (is_copy and self.document.stands(match[0]))
                if not is_known:
                    yield Unit(words_of(match), where=match.start())
            if matches:
                return

    def mark_copies(self) -> None:
        """Call lost mentions repeated that are copies of placed ones, as in a loop."""
        placed = {
            (entry.entity, fold_text(entry.written))
            for entry in self.entries
            if entry.state != "lost"
        }
        for row, entry in enumerate(self.entries):
            if entry.state == "lost" and (entry.entity, fold_text(entry.written)) in placed:
                self.entries[row] = replace(entry, state="repeated", why="a second copy")

    @property
    def value(self) -> float:
        """How well a reading does: what it places counts, what it loses speaks against it."""
        counts = Counter(entry.state for entry in self.entries)
        placed = counts["placed"] + 0.9 * counts["changed"]
        return placed - 0.5 * counts["lost"] - 0.2 * counts["unclear"]

    @property
    def is_copy(self) -> bool:
        """Whether the answer has much of the document's text."""
        return self.coverage.copied >= _COPIED * self.coverage.tokens


def read_tagged(document: KeyDocument, parsed: TaggedText, convention: str) -> Page:
    """Mentions in a copied text; none where it is no copy, or lacks what it says of words."""
    text, units, vocabulary = show_escapes(parsed.text), parsed.mentions, document.vocabulary
    cuts, key_numbers = parsed.cuts, document.atoms.numbers
    known_numbers = set(key_numbers.tolist()) if cuts else set[int]()
    atoms = atoms_of_text(text, vocabulary, cuts, known_numbers)
    laid = lay(atoms.numbers, key_numbers, vocabulary.words)
    page = Page(document, _coverage(document, atoms, laid, convention))
    cover = page.coverage
    if cover.added > (1 - _COPIED) * len(atoms) and not page.is_copy:
        return page
    if convention == "resolved" and cover.missing > 0.1 * cover.tokens:
        return page
    if 2 * sum(unit.why in MENDED for unit in units) > len(units):
        return page  # which are no tags of this kind
    for unit in units:
        start, end = unit.chars
        unit.text = " ".join(text[start : min(end, start + _LONG)].split())
    if convention in ("tanl", "resolved"):
        _refer(units, always=convention == "resolved")
    Projector(atoms, document.atoms, laid, vocabulary).place(units)
    for unit in [*units, *Links(document).link(units)]:
        page.add(unit)
    page.mark_copies()
    return page


def _refer(units: Sequence[Unit], *, always: bool) -> None:
    """Take labels for the words of antecedents, unless every mention has one, as names have."""
    nameless = [unit for unit in units if unit.entity.startswith("?")]
    if not always and not nameless:
        return
    for unit in units:
        if unit.entity.startswith("?"):
            unit.why = ""
        elif not unit.entity.isdigit():
            unit.antecedent = Unit(unit.entity, where=unit.where)
            unit.rows = True


def read_list(
    document: KeyDocument, blocks: Sequence[Sequence[Unit]], convention: str, occurrences: str
) -> Page:
    """Mentions as strings."""
    size = len(document.words)
    page = Page(document, Coverage(document.identifier, convention, size, reached=size))
    _set_drafts_aside(blocks, document)
    units = [unit for block in blocks for unit in block]
    _mark_repeated(units)
    chooser = Chooser(document, units)
    chooser.choose(occurrences)
    for unit in [*units, *Links(document, chooser.points).link(units)]:
        page.add(unit)
    for target in {id(u.antecedent): u.antecedent for u in units if u.antecedent}.values():
        if not target.spans:
            target.state, target.why = "aside", "an antecedent"
            page.add(target)
    return page


def _set_drafts_aside(blocks: Sequence[Sequence[Unit]], key: KeyDocument) -> None:
    """Set lists aside that a later one says again, as in an answer that corrects itself."""
    later: set[str] = set()
    for block in reversed(blocks):
        sure = [unit.text for unit in block if len(key.look_up(unit.text).every) == 1]
        if len(sure) > 1 and 2 * sum(text in later for text in sure) >= len(sure):
            for unit in block:
                unit.state, unit.why = "aside", "repeated below"
        later.update(sure)


def _mark_repeated(units: Sequence[Unit]) -> None:
    """Mark the strings of an entity that is listed twice, word for word."""
    entities: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        if not unit.rows and not unit.state:
            entities[unit.entity].append(unit)
    seen: set[tuple[str, ...]] = set()
    for members in entities.values():
        words = tuple(fold_text(unit.text) for unit in members)
        if len(words) > 2 and words in seen:
            for unit in members:
                unit.state, unit.why = "repeated", "a second copy"
        seen.add(words)


_BRACKETED = re.compile(
    r"\[([^\[\]\n]{1,200})\]|<\w+>([^<>\n]{1,200})</\w+>|【([^【】\n]{1,200})】|\*\*([^*\n]{1,200})\*\*"
)
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+(.*\S)", re.MULTILINE)


def _coverage(document: KeyDocument, atoms: Atoms, laid: Laid, convention: str) -> Coverage:
    """How much of a document a text has."""
    size, key = len(document.words), document.atoms
    rows = np.flatnonzero(laid.first >= 0)
    tokens = key.start[laid.first[rows]]
    is_equal = key.numbers[laid.first[rows]] == atoms.numbers[rows]
    equal = np.bincount(tokens[is_equal], minlength=size)
    atom_counts = np.bincount(key.start, minlength=size)
    copied = int(((equal == atom_counts) & (atom_counts > 0)).sum())
    touched = np.unique(tokens).size
    return Coverage(
        document.identifier,
        convention,
        size,
        copied,
        touched - copied,
        len(atoms) - rows.size,
        size - touched,
        int(tokens.max(initial=-1)) + 1,
    )
