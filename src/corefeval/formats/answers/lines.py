"""Lists of mentions in lines: bullets, headings, chains of arrows, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from corefeval.formats.answers.items import (
    ARROW,
    QUOTED,
    Unit,
    heed,
    mask_remarks,
    place_named,
    split_items,
)
from corefeval.formats.answers.lookup import KeyText
from corefeval.formats.answers.text import fold_text

_LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?P<heading>\#{1,6})[ \t]+)?"
    r"(?P<bullet>(?:[-*•·◦▪‣+–—:>]|\(?\d{1,3}[.):]|[a-z]\))(?:[ \t]+|(?<=[.)])(?=[\"“„«「*])))?"
    r"(?:[^\w\s\"'“„«»「『‹`(\[*#<&-]+\s+)?(?P<body>.*\S)",
    re.MULTILINE,
)
_BOLD = re.compile(
    r"(\*\*|__)(?P<label>.+?)\1\s*(?:\([^()]*\)\s*)?(?:[:：=]|[–—-]+(?=\s|$))?\s*(?P<items>.*)"
)
_COLON = re.compile(r"(?P<label>[^:：\"“„«「『]{1,80}?)\s*[:：](?!//)\s*(?P<items>.*)")
_DASHED = re.compile(r"(?P<label>[^\"“„«「『:,;]{1,60}?)\s+[–—-]+\s+(?P<items>.*)")
_EQUAL = re.compile(r"(?P<label>[^\"“„«=]{1,60}?)\s+=\s+(?P<items>[^=]*)")
_VERB = re.compile(
    r"\s*(?:(?:back\s+)?(?:refers?|referring|points?)(?:\s+back)?\s+to|corefers?\s+with"
    r"|is\s+coreferent\s+with|stands\s+for|verwijst\s+naar|slaat\s+op|bezieht\s+sich\s+auf"
    r"|verweist\s+auf|meint|renvoie\s+à|désigne|se\s+réfère\s+à|se\s+refiere\s+a|remite\s+a"
    r"|alude\s+a|si\s+riferisce\s+a|rimanda\s+a|относится\s+к|указывает\s+на|指的是|指代|指向|指)"
    r"\s*[:：]?\s*",
    re.IGNORECASE,
)
MENTIONS = re.compile(
    r"(?:all\s+|alle\s+)?(?:co-?ref\w*\s+)?(?:mention|menci|menzion|erwähnung|vermelding|nennung"
    r"|упоминан|提及|member|mitglied|expression|occurrence|span|chain$|called)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_SEMI = re.compile(r"\s*[;；]\s*")
_SEPARATED = re.compile(rf"[;；]|{ARROW.pattern.strip()}|\s[/|=·+]\s")
_MOST, _LABEL = 40, 8  # words of a mention in a link, and of a label


@dataclass(slots=True)
class Line:
    """A line of an answer: how deep it stands, its label, its text, and the lines below it."""

    level: float
    where: int
    label: str
    text: str
    bullet: str = ""
    children: list[Line] = field(default_factory=list)
    items: list[Unit] | None = None

    @property
    def content(self) -> str:
        """What the line says, whether that is its label or its text."""
        return self.text or self.label


def read_lines(text: str, key: KeyText) -> list[list[Unit]]:
    """The units of each list of an answer, by lines: entities with mentions, or links."""
    blocks = list(_blocks(text))
    lines = [line for block in blocks for line in block]
    reader = _LineReader(key, lines)
    units = [reader.read(block) for block in blocks]
    numbers: dict[str, str] = {}
    for unit in (unit for block in units for unit in block):
        entity = reader.joined.get(unit.entity, unit.entity)
        unit.entity = numbers.setdefault(entity, str(len(numbers)))
    return units


def _blocks(text: str) -> Iterator[list[Line]]:
    """The lines of an answer; where numbers start anew behind prose, a new list begins."""
    block: list[Line] = []
    numbered = has_headings = False
    for match in _LINE.finditer(text):
        bullet = (match["bullet"] or "").strip()
        body, indent = match["body"], len(match["indent"].expandtabs(4))
        is_headed = bool(block) and len(block[-1].content.split()) <= _LABEL
        if bullet.strip("().:") == "1" and not indent:
            if numbered and not (has_headings and is_headed):
                yield block
                block = []
            numbered, has_headings = True, is_headed
        label, items, shift = _split_label(body)
        level = indent + (0.5 if bullet else 0.0)
        if match["heading"]:
            level = len(match["heading"]) - 10.0
        elif not items and not bullet:
            level = indent - 0.5 if label.endswith((":", "：")) or body[:2] == "**" else level
        where = match.start("body") + shift
        block.append(Line(level, where, label.strip(" :：*_"), items, bullet))
    yield block


def _split_label(body: str) -> tuple[str, str, int]:
    """The label of a line, what it has behind it, and where that begins."""
    if _VERB.search(mask_remarks(body, quotes=True)):
        return "", body, 0
    bold = _BOLD.fullmatch(body)
    masked = mask_remarks(body)
    for match in (bold, *(pattern.fullmatch(masked) for pattern in (_COLON, _DASHED))):
        if match is None or not _WORD.search(match["label"]):
            continue
        if match is bold and QUOTED.fullmatch(match["label"]):  # a mention in bold
            continue
        if match is not bold and (QUOTED.search(match["label"]) or ARROW.search(match["label"])):
            continue
        low = match.start("items")
        label = body[match.start("label") : match.end("label")]
        items = body[low:].strip()
        return label + ("" if items else ":"), items, low
    return ("", body, 0) if QUOTED.match(body) else (body, "", 0)


class _LineReader:
    """Reads lines as units."""

    def __init__(self, key: KeyText, lines: list[Line]) -> None:
        self.key = key
        self.names: dict[str, str] = {}  # the entities of labels
        self.joined: dict[str, str] = {}  # entities that are one with another
        chains = [
            len(_parts(line.content, ARROW)) for line in lines if not line.text or not line.label
        ]
        self.has_chains = max(chains, default=0) > 2
        self.by_sentence = any(place_named(line.label) is not None and line.text for line in lines)
        equal = [match for line in lines if (match := _EQUAL.fullmatch(mask_remarks(line.content)))]
        self.has_equal_lists = any(re.search("[,;]", match["items"]) for match in equal)
        self.has_lists = any(
            len(self._items(line)) > 1 for line in lines if line.label and line.text
        )

    def read(self, lines: list[Line]) -> list[Unit]:
        """The units of lines that stand below each other."""
        root = Line(-100, 0, "", "")
        stack = [root]
        for line in lines:
            while stack[-1].level >= line.level:
                stack.pop()
            stack[-1].children.append(line)
            stack.append(line)
        return list(self._children(root, "", None))

    def _children(self, parent: Line, entity: str, sentence: int | None) -> Iterator[Unit]:
        lists = [c for c in parent.children if not c.children and len(self._items(c)) > 1]
        is_entity = len(lists) > 1 or parent.level <= -100
        for line in parent.children:
            yield from self._line(line, entity, sentence, is_entity)

    def _line(
        self, line: Line, entity: str, sentence: int | None, is_entity: bool
    ) -> Iterator[Unit]:
        """The units of a line and of those below it; `own` says that lists are entities here."""
        place = place_named(line.label if line.text else line.content)
        if place is not None and (line.text or line.children):
            yield from self._in_sentence(line, place)
            return
        if line.children:
            yield from self._parent(line, entity, sentence)
            return
        link = self._link(line, sentence)
        if link is not None:
            yield from link
            return
        items = self._items(line)
        names = [
            self.names.get(name.strip(), "")
            for name in re.split("[,;]", line.content.strip("{}[] "))
        ]
        if all(names):  # labels of mentions, which are one entity
            self.joined |= dict.fromkeys(names, names[0])
        elif line.label and line.text:
            self.names[line.label] = f"{line.where}"
            name = entity if entity and MENTIONS.match(line.label) else f"{line.where}"
            yield from _named(items, name, sentence)
        elif len(items) > 1 and is_entity:
            yield from _named(items, f"{line.where}", sentence)
        elif entity and items and (line.bullet or items[1:] or self.key.stands(items[0].text)):
            yield from _named(items, entity, sentence)

    def _parent(self, line: Line, entity: str, sentence: int | None) -> Iterator[Unit]:
        """A line with others below it: an entity with its mentions, or a mention with remarks."""
        below = [child for child in line.children if not child.children]
        remarks = [
            child
            for child in below
            if not (child.label and child.text)
            and not self.key.stands(child.content.strip('"“”„«»'))
        ]
        if (
            entity
            and not line.text
            and self.key.stands(line.content)
            and len(remarks) == len(line.children)
        ):
            unit = Unit(line.content, entity, line.where, sentence)
            yield from heed(unit, " ".join(child.content for child in remarks), self.key)
            return
        name = f"{line.where} {line.label}"
        if line.text:
            yield from _named(self._items(line), name, sentence)
        yield from self._children(line, name, sentence)

    def _in_sentence(self, line: Line, sentence: int) -> Iterator[Unit]:
        """Mentions of a sentence, each with its entity in a remark, or links."""
        links = self._link(Line(line.level, line.where, "", line.text, "-"), sentence)
        yield from links or ()
        for unit in self._items(line) if line.text and not links else ():
            label = fold_text(unit.remark)
            state = "" if label else "unclear"
            yield Unit(unit.text, label, unit.where, sentence, state=state, rows=True)
        for child in line.children:
            yield from self._link(child, sentence) or self._line(child, "", sentence, True)

    def _items(self, line: Line) -> list[Unit]:
        """The mentions that a line lists; none where it is prose."""
        if line.items is None:
            line.items = self._find_items(line)
        return line.items

    def _find_items(self, line: Line) -> list[Unit]:
        text = line.content
        match = _EQUAL.fullmatch(mask_remarks(text)) if self.has_equal_lists else None
        shift = 0
        if match and not (line.label and line.text):
            shift = match.start("items")
            text = text[shift:]
        units = split_items(text, line.where + shift, self.key)
        quotes = QUOTED.findall(mask_remarks(text))
        if quotes:
            outside = _WORD.findall(
                re.sub(r"[–—-]\s[^\"“„«]*", " ", mask_remarks(text, quotes=True))
            )
            inside = sum(len(_WORD.findall("".join(groups))) for groups in quotes)
            most = max(inside, 2) if line.bullet or (line.label and line.text) else 0
            return units if len(outside) <= most else []
        standing = sum(self.key.stands(unit.text) for unit in units)
        is_list = 2 * standing >= len(units) or bool(line.bullet and line.label and line.text)
        if not (line.bullet or (line.text and line.label) or shift) and not _SEPARATED.search(text):
            is_list = len(units) == 1  # prose has commas, too
        return units if is_list else []

    def _link(self, line: Line, sentence: int | None) -> list[Unit] | None:
        """A pair of a mention and what it refers to, or None where the line is no link."""
        text = line.content if not (line.label and line.text) else ""
        if self.has_lists and not line.bullet:  # a remark about the lists
            return None
        pairs = [
            Line(0, line.where + low, "", text[low:high], "-") for low, high in _parts(text, _SEMI)
        ]
        if len(pairs) > 1 and all(len(_parts(pair.text, ARROW)) == 2 for pair in pairs):
            return [unit for pair in pairs for unit in self._link(pair, sentence) or ()]
        parts = _parts(text, _VERB)
        if len(parts) != 2 and not self.has_chains:
            parts = _parts(text, ARROW)
        if len(parts) != 2 and not self.has_equal_lists and " = " in text:
            parts = _parts(text, re.compile(r"\s+=\s+"))
        if len(parts) != 2:
            return None
        (low, high), (begin, end) = parts
        left = split_items(text[low:high], line.where + low, self.key)
        outside = _WORD.findall(mask_remarks(text[low:high], quotes=True))
        if not left or len(outside) > _MOST or (QUOTED.search(text[low:high]) and len(outside) > 3):
            return None
        target = text[begin:end].strip(" .。")
        if target[:1] == "[":
            target = f'"{target.strip("[]")}"'
        to = [unit for unit in split_items(target, line.where + begin, self.key) if unit.text]
        if not QUOTED.search(target) and not self.key.stands(
            to[0].text if len(to) == 1 else target
        ):
            if len(target.split()) > _LABEL:
                return None
            label = re.sub(r"\s*\([^()]*\)$", "", target) or target
            to = [Unit(label, where=line.where + begin, state="aside")]
        if not to:
            return None
        for unit in left:
            unit.antecedent, unit.rows = to[0], True
            unit.sentence = sentence if unit.sentence is None else unit.sentence
        return left


def _parts(text: str, separator: re.Pattern[str]) -> list[tuple[int, int]]:
    """What stands between separators that are neither quoted nor in remarks; never empty."""
    masked = mask_remarks(text, quotes=True)
    edges = [
        0,
        *(place for match in separator.finditer(masked) for place in match.span()),
        len(text),
    ]
    parts = list(zip(edges[::2], edges[1::2], strict=True))
    return parts if all(text[low:high].strip() for low, high in parts) else []


def _named(units: list[Unit], entity: str, sentence: int | None) -> Iterator[Unit]:
    for unit in units:
        unit.entity = entity
        unit.sentence = sentence if unit.sentence is None else unit.sentence
        yield unit
