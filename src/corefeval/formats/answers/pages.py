"""What an answer says about a document of the key: its best reading, a row for all that it has."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from corefeval.formats.answers.conventions import CONVENTIONS, MENDED
from corefeval.formats.answers.grammar import read_units
from corefeval.formats.answers.items import QUOTED, words_of
from corefeval.formats.answers.lookup import (
    KeyDocument,
    Unit,
    atoms_of_text,
    blank_out,
    fold_text,
    hide_escapes,
    show_escapes,
    unescape,
)
from corefeval.formats.answers.placing import Chooser, Layout, link
from corefeval.formats.answers.shapes import SCATTERED, scatter_of
from corefeval.formats.answers.trees import TREES
from corefeval.model.ledger import Coverage, Entry, Span

_LONG = 2000  # characters of a mention that are kept in the ledger
_NO_FORM, _OTHER_FORM = "in no known form", "in another form than the rest"
_VALUE = {"placed": 1.0, "changed": 0.9, "lost": -0.5, "unclear": -0.2}
_VAGUE = ("table", "lines")  # forms that other texts may look like
# Forms that other texts look like, and forms that include others, count less.
_LOOSE, _WEIGHT = (*_VAGUE, "resolved", "inside", "behind", "leading"), 0.8
# Conventions that name the antecedent behind a mention, and the share of the text they may lack.
_RESOLVED = {"resolved": 0.1, "glossed": 0.5}
_TOLD = 2  # forms at most, where a format was named
_FEW = 3  # mentions that prose around an answer may seem to have
_MARK = 4  # characters of a label before a bracket
_COPIED = 0.3  # the share of a text that is a copy of the document, or of another text
# For each word of the document: mentions that a copy of it may seem to have, and words it may add.
_SPARSE, _ADDED = 0.1, 0.3
# A form is not tried if this share of its signs is placed already: what is left of them are
# mentions that the answer changed beyond recognition, which no form would place.
_NEARLY_ALL = 0.9


@dataclass(slots=True)
class Page:
    """What was read for one document: all units, each in its state, and the mentions."""

    document: KeyDocument
    coverage: Coverage
    units: list[Unit] = field(default_factory=list)
    mentions: dict[tuple[Span, str], None] = field(default_factory=dict)

    @property
    def written(self) -> list[Unit]:
        """All units but the asides."""
        return [unit for unit in self.units if unit.state != "aside"]

    @property
    def value(self) -> float:
        """How well a reading does: what it places counts, what it loses speaks against it."""
        return sum(_VALUE.get(unit.state, 0.0) for unit in self.units)

    @property
    def is_linked(self) -> bool:
        """Whether entities come back in the text after others, or are too few to tell.

        They do in every text; what is grouped by lines, or not at all, does not.
        """
        entities = [entity for _, entity in sorted(self.mentions)]
        largest = Counter(entities).most_common(1)
        smaller = [entity for entity in entities if entity != largest[0][0]]
        size, is_scattered = len({*smaller}), scatter_of(entities) > SCATTERED
        return size < _FEW or (is_scattered and (size <= 2 * _FEW or scatter_of(smaller) > 1))

    @property
    def is_copy(self) -> bool:
        """Whether the answer has much of the document's text."""
        return self.coverage.copied >= _COPIED * self.coverage.tokens

    def add(self, units: Iterable[Unit]) -> None:
        """Add units, and say what became of each that has no state yet.

        With a new place it is placed, or changed if there is a reason; repeated without a new one,
        and lost without any.
        """
        for unit in units:
            mentions = dict.fromkeys((span, unit.entity) for span in unit.spans)
            is_new = not mentions.keys() <= self.mentions.keys()
            self.mentions |= mentions
            if unit.spans:
                unit.state = ("changed" if unit.why else "placed") if is_new else "repeated"
            unit.state = unit.state or "lost"
            self.units.append(unit)

    def entry(self, unit: Unit) -> Entry:
        """The row of the ledger for a unit."""
        span = (
            self.document.shift(unit.spans[0]) if unit.state in ("placed", "changed") else (-1, -1)
        )
        about = unit.state, unit.why, unit.where, max(len(unit.places.every), 1)
        return Entry(self.document.identifier, unit.text[:_LONG], unit.entity, *span, *about)  # type: ignore[arg-type]

    def mark_copies(self) -> None:
        """Call lost mentions repeated that are copies of placed ones, as in a loop."""
        placed = {(u.entity, fold_text(u.text)) for u in self.units if u.state != "lost"}
        for unit in self.units:
            if unit.state == "lost" and (unit.entity, fold_text(unit.text)) in placed:
                unit.state, unit.why = "repeated", "a second copy"

    # -------------------------------------------------------------- what else there is

    def blank(self, text: str) -> str:
        """The answer with blanks in the place of what was read, and of what is quoted."""
        signs = list(QUOTED.sub(blank_out, text))
        for unit in self.written:
            signs[unit.where : unit.where + len(unit.text)] = " " * len(unit.text)
        return "".join(signs)

    def unread_lines(self, text: str) -> str:
        """The lines of an answer of which nothing was read, with blanks for the others."""
        places = sorted(unit.where for unit in self.units)

        def blank_read(line: re.Match[str]) -> str:
            first, behind = (bisect_left(places, edge) for edge in line.span())
            return " " * len(line[0]) if first < behind else line[0]

        return re.sub(".+", blank_read, text)

    def add_other(self, page: Page) -> None:
        """Add what other lines say in a form of their own, as unclear, if it is not very little."""
        taken = {span for span, _ in self.mentions}
        new = [
            unit
            for unit in page.units
            if unit.state in ("placed", "changed") and unit.spans[0] not in taken
        ]
        if 4 * len(new) >= max(len(self.mentions), _FEW):
            self.add(
                Unit(u.text, u.where, f"?{u.entity}", state="unclear", why=_OTHER_FORM) for u in new
            )

    def add_loose(self, text: str, *, is_copy: bool, is_told: bool) -> None:
        """Units that no form says anything of: remarks, or unclear if nothing was read.

        Nothing was read, and all is unclear, where forms that nobody named link nothing, or lose
        more than they place. In a copy of the document, quotes and brackets of the text itself are
        left alone.
        """
        form, states = self.coverage.convention, [unit.state for unit in self.written]
        is_kept = bool(self.mentions or (states and (is_told or len(self.units) <= _FEW)))
        if form in _LOOSE and not is_told:
            is_kept = self.is_linked and states.count("lost") < max(len(self.mentions), _FEW)
            is_kept &= form not in _VAGUE or "placed" in states
        if not is_kept:
            self.mentions = {}
            for unit in self.units:
                unit.state, unit.why = "unclear", unit.why or _NO_FORM
        loose, unread = list(self._find_loose(text, is_copy)), self.unread_lines(text)
        unread_texts = [u.text for u in loose if is_copy or unread[u.where].strip()]
        unknown = {*filter(self.document.stands, unread_texts)} - {u.text for u in self.units}
        n_unread = max(len(_ROW.findall(unread)), len(unknown if self.mentions else loose))
        is_read = is_kept and n_unread <= max(len(self.mentions), _FEW)
        is_much = is_copy or 4 * len(unknown) >= max(len(self.mentions), 4 * _FEW)
        for number, unit in enumerate(loose):
            is_aside = is_read and not (is_much and unit.text in unknown)
            unit.entity = f"?{number}"
            unit.state, unit.why = ("aside", "") if is_aside else ("unclear", _NO_FORM)
        self.add(loose)

    def _find_loose(self, text: str, is_copy: bool) -> Iterator[Unit]:
        """All that is quoted or bracketed in a text, else the items of lists in lines."""
        if self.coverage.convention in _RESOLVED:  # whose brackets have antecedents in them
            return
        taken = {unit.where + shift for unit in self.units for shift in range(_MARK)}
        patterns = (_BRACKETED,) if is_copy else (_QUOTED, _BRACKETED)
        matches = [match for pattern in patterns for match in pattern.finditer(text)]
        matches.sort(key=re.Match.end)  # inner ones first
        for match in matches or _BULLET.finditer(text):
            is_new = taken.isdisjoint(range(*match.span()))
            if is_new and not (is_copy and self.document.stands(match[0])):
                taken.add(match.start())
                yield Unit(words_of(match), match.start())


_BRACKETED = re.compile(
    r"\[([^\[\]\n]{1,200})\]|<\w+>([^<>\n]{1,200})</\w+>|【([^【】\n]{1,200})】|\*\*([^*\n]{1,200})\*\*"
    r"|(?<![^\s(（])[①-➿⬀-⯿🀀-🫿]\ufe0f?(\w+)"  # a picture as a label
)
_QUOTED = re.compile(rf"{QUOTED.pattern}|\*\*([^*\n]{{1,200}})\*\*")
_ROW = re.compile(r"(?m)^[ \t]*[|*•-][ \t*]*\w")  # of a table or a list
_BULLET = re.compile(r"(?m)^[ \t]*(?:[-*•|]|\d{1,3}[.)])[ \t]+(.*\S)")


# ------------------------------------------------------------------ the best reading


def read_answer(
    document: KeyDocument, text: str, finish: str, forms: Sequence[str], occurrences: str
) -> Page:
    """What an answer says about a document: its best reading, what else it has, and its state."""
    page = _read_best(document, text, forms, occurrences)
    size, is_copy = len(document.words), False
    is_vague = page.coverage.convention in ("", *_VAGUE)
    if is_vague and len(page.mentions) <= _SPARSE * size:
        # Only to see how much of it is a copy.
        plain = read_tagged(document, page.blank(text), [], "")
        if plain.is_copy:  # the text in other words, and no list
            page = Page(document, page.coverage)
        is_copy = plain.is_copy and plain.coverage.added <= _ADDED * size
    if page.units and (unread := page.unread_lines(text)).strip():
        page.add_other(_read_best(document, unread, forms, occurrences))
    page.add_loose(text, is_copy=page.is_copy or is_copy, is_told=len(forms) <= _TOLD)
    state = _state_of(page, text, finish, is_copy)
    if state == "unread" and not page.written:
        page.add([Unit(text.strip()[:60], state="unclear", why=_NO_FORM)])
    page.coverage = replace(page.coverage, finish=finish, state=state)
    return page


REFUSED = ("refusal", "error")  # reasons why an answer ended
_SORRY = re.compile(
    r"(?i)\b(?:sorry|apologi[sz]e|cannot|can['’]t|unable|won['’]t|lo siento|désolée?|leider)\b"
    r"|抱歉|无法|申し訳|не могу",
)
_NOTHING = re.compile(r"(?:\s|[\[\]{}(),:]|\"[\w ]*\"(?=\s*:)|```\w*)*")


def _state_of(page: Page, text: str, finish: str, is_plain_copy: bool) -> str:
    """What became of an answer: the first rule that holds."""
    states = [unit.state for unit in page.written]
    if finish in REFUSED or (not states and _SORRY.search(text[:300])):
        return "refused"
    if _NOTHING.fullmatch(text) or (not states and is_plain_copy):
        return "empty"
    return "read" if 2 * states.count("unclear") <= len(states) > 0 else "unread"


def _read_best(document: KeyDocument, text: str, forms: Sequence[str], occurrences: str) -> Page:
    """The reading that places most, of all forms that are tried; the first of equals."""
    size, most = len(document.words), 0.0
    best = Page(document, Coverage(document.identifier, "", size, missing=size))
    for variant in unfenced(text):
        for n_signs, form, spelling in _list_forms(variant, forms):
            weight = _WEIGHT if form in _LOOSE else 1.0
            if most >= _NEARLY_ALL * weight * n_signs:  # it cannot place more than it has signs
                continue
            if form in TREES:
                units = read_units(TREES[form](spelling), document)
                page = read_list(document, units, form, occurrences)
            else:
                page = read_tagged(document, *CONVENTIONS[form].read(spelling), form)
            is_sure = page.written and (form != "lines" or len(forms) <= _TOLD)
            value = page.value * weight * (1.0 if page.is_linked else 0.5)
            if value > most or (is_sure and not best.written):
                best, most = page, max(value, 0.0)
    return best


_SIGNS = re.compile(r"[,;，；、\n→⇒/=|\t\"“„«「'<]|->|\Z")  # a list has one for each of its items
_FENCE = r"(?m:^)[ \t]*```[^\n]*(?m:$)"
_UNFENCED = re.compile(rf"(?s)(?:\A|{_FENCE}).*?(?:{_FENCE}|\Z)")


def unfenced(text: str) -> list[str]:
    """The answer; or what its fences enclose, and all of it without the lines of its fences.

    All stays in its place.
    """
    bare = re.sub(_FENCE, blank_out, text)
    return [text] if bare == text else [_UNFENCED.sub(blank_out, text), bare]


def _list_forms(text: str, forms: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The forms that a text may have with how often they are seen: tags, the most ones first.

    Tags may be escaped themselves; other escaped signs belong to the text.
    """
    spellings = map(hide_escapes, dict.fromkeys((text, unescape(text))))
    tags = [
        (CONVENTIONS[form].count(spelling), form, spelling)
        for spelling in spellings for form in forms if form in CONVENTIONS
    ]  # fmt: skip
    yield from sorted(tags, key=lambda seen: (seen[1] in _LOOSE, -seen[0]))
    n_signs = len(_SIGNS.findall(text))
    yield from ((n_signs, form, text) for form in forms if form in TREES)


# ------------------------------------------------------------------ tags


def read_tagged(document: KeyDocument, text: str, units: Sequence[Unit], convention: str) -> Page:
    """The mentions of a tagged copy.

    There are none if the text is no copy, lacks too much of the document, or has mostly tags that
    are none of this convention.
    """
    text = show_escapes(text)
    first = units[0].chars[0] if units else 0
    if first > len(document.letters):  # the text itself, before the copy with tags
        text = text[text.rfind("\n", 0, first) + 1 :].rjust(len(text))
    edges = {place for unit in units if not unit.state for place in unit.chars}
    cuts = sorted(edge for edge in edges if text[edge - 1 : edge + 1].isalnum())  # within a word
    atoms = atoms_of_text(text, document.vocabulary, cuts)
    layout = Layout(atoms, document)
    page = Page(document, layout.measure(convention))
    cover = page.coverage
    if cover.added > (1 - _COPIED) * len(atoms) and not page.is_copy:
        return page
    if cover.missing > _RESOLVED.get(convention, 1.0) * cover.tokens:
        return page
    has_words = convention == "resolved"  # of antecedents, which stand in the text
    odd = [u for u in units if u.why in MENDED or (has_words and not document.stands(u.entity))]
    if 2 * len(odd) > len(units):
        return page  # which are no tags of this kind
    for unit in units:
        unit.text = " ".join(text[slice(*unit.chars)][:_LONG].split())
    has_new = any(unit.entity.startswith("?") for unit in units)
    if convention in _RESOLVED or (convention == "tanl" and has_new):  # or the labels are names
        _refer(units, by_name=convention == "glossed")
    layout.place(units)
    page.add([*units, *link(units, document)])
    page.mark_copies()
    return page


def _refer(units: Sequence[Unit], *, by_name: bool) -> None:
    """Read labels as the words of antecedents.

    With `by_name`, mentions without a label are of the entity that their own words name.
    """
    for unit in units:
        if unit.entity.startswith("?"):
            unit.entity, unit.why = (unit.text.lower() if by_name else unit.entity), ""
        elif not unit.entity.isdigit():
            unit.antecedent, unit.in_text_order = Unit(unit.entity, unit.where), True


# ------------------------------------------------------------------ lists


def read_list(
    document: KeyDocument, units: Sequence[Unit], convention: str, occurrences: str
) -> Page:
    """The strings that an answer lists, each with its place in the document."""
    size = len(document.words)
    page = Page(document, Coverage(document.identifier, convention, size, reached=size))
    _mark_drafts(units, document)
    chooser = Chooser(document, units)
    chooser.choose(occurrences)
    page.add([*units, *link(units, document, chooser.cost)])
    for target in dict.fromkeys(unit.antecedent for unit in units):
        if target and not target.spans and target.state != "lost":
            target.state, target.why = "aside", "an antecedent"
            page.units.append(target)
    return page


def _mark_drafts(units: Sequence[Unit], key: KeyDocument) -> None:
    """Mark entities that a later one says again, as in an answer that corrects or repeats itself.

    Of a draft, all strings with just one place come again.
    """
    entities = defaultdict[str, list[Unit]](list)
    for unit in units:
        entities[unit.entity] += [] if unit.in_text_order or unit.state else [unit]
    later: set[str] = set()
    for members in reversed(entities.values()):
        texts = [unit.text for unit in members]
        sure = {text for text in texts if len(key.look_up(text).every) == 1}
        if sure and sure <= later:
            for unit in members:
                unit.state = "repeated" if unit.text in later else "aside"
                unit.why = "said again below"
        later.update(texts)
