"""Lists of mentions in lines, tables and questions with answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corefeval.formats.answers.json_lists import Listed, plain_key, plain_quotes, read_json
from corefeval.formats.answers.text import fold_text

# ------------------------------------------------------------------ lines

_BULLET, _SET = r"(?:[-*•]|\d+[.)])", r"(?:entity|cluster|chain|group)"
_LINE = re.compile(
    rf"^[ \t]*(?:{_BULLET}?[ \t]*\**(?:(?:entity|cluster|chain|group|e)[ _]?[\w-]*|\d+)"
    r"[^:\n\"“]{0,60}?\**[ \t]*:\**[ \t]*|"
    # - Ada: "Ada", "she": any name, or none, where there are several strings
    rf"{_BULLET}[ \t]+(?:[^:\n\"“]{{0,60}}(?::\**|[–—]|[ \t]-)[ \t]*)?"
    r"(?=[\"“][^\"“”\n]*[\"”][,; \t]+[\"“]))(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
# Cluster 1, and below it a line with a bullet for each mention
_HEADED = re.compile(
    rf"^[ \t]*(?:\#+|{_BULLET})?[ \t]*\**{_SET}\b[^\n,;\"“]{{0,80}}\n"
    rf"(?:[ \t]*\n)?((?:[ \t]*[-*•][ \t]+(?!\**{_SET}\b)[^\n]+(?:\n|\Z))+)",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"^[ \t]*[-*•][ \t]+\**(.+?)\**[ \t]*$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.+)\|[ \t]*$", re.MULTILINE)
_CELL = re.compile(r"[^|]+")
_SETS = ("entity", "cluster", "chain", "group", "referent")
_QUOTED = re.compile(
    r"[\"“]([^\"“”\n]*)[\"”](?:\s*\((?:sentence|sent\.?|s)\s*(\d+)\))?", re.IGNORECASE
)
_HALF_QUOTE = re.compile(r"[\"“]([^\"“”\n]*)$")
_PART = re.compile(r"[^;,|]+")
_SAID = re.compile(r"\s*\((?:sentence|sent\.?|s)\s*(\d+)\)\s*$", re.IGNORECASE)


def read_lines(text: str) -> list[Listed]:
    """An entity on each line: `Entity 1: "Ada" (sentence 1); "She"`, quoted or not.

    Or a heading for each entity, and a line for each of its mentions; or a table.
    """
    mentions: list[Listed] = []
    if _HEADED.search(text):
        return _read_headed(text)
    if table := _read_table(text):
        return table
    for number, line in enumerate(_LINE.finditer(text)):
        content, shift = line[1], line.start(1)
        quoted = list(_QUOTED.finditer(content))
        for match in quoted:
            sentence = int(match[2][:9]) if match[2] else None
            mentions.append(Listed(match[1], str(number), shift + match.start(), sentence))
        last = quoted[-1].end() if quoted else 0
        if half := _HALF_QUOTE.search(content, last):
            place = shift + half.start()
            mentions.append(Listed(half[1], str(number), place, lost="cut off"))
        if quoted:
            continue
        for match in _PART.finditer(content):
            said = _SAID.search(match.group())
            words = _SAID.sub("", match.group()).strip(" .")
            if words and half is None:
                sentence = int(said[1][:9]) if said else None
                mentions.append(Listed(words, str(number), shift + match.start(), sentence))
    return mentions


def _read_headed(text: str) -> list[Listed]:
    mentions: list[Listed] = []
    for number, block in enumerate(_HEADED.finditer(text)):
        for item in _ITEM.finditer(block[1]):
            said, quoted = _SAID.search(item[1]), _QUOTED.match(item[1])
            words = quoted[1] if quoted else _SAID.sub("", item[1]).strip(" .")
            sentence = int(said[1][:9]) if said else None
            place = block.start(1) + item.start(1)
            mentions.append(Listed(words, str(number), place, sentence))
    return mentions


def _read_table(text: str) -> list[Listed]:
    """Mentions in a Markdown table with a column of mentions and, if any, one of entities."""
    mentions: list[Listed] = []
    numbers: dict[str, str] = {}
    mention_column = entity_column = -1
    for row in _ROW.finditer(text):
        cells = list(_CELL.finditer(text, *row.span(1)))
        names = [plain_key(cell.group()) for cell in cells]
        if mention_column >= len(cells) or not any(names):
            continue
        if mention_column < 0:
            mention_column = next(
                (n for n, name in enumerate(names) if name.startswith("mention")), -1
            )
            groups = (
                n for n, name in enumerate(names) if name.startswith(_SETS) and n != mention_column
            )
            entity_column = next(groups, -1)
            continue
        label = (
            fold_text(cells[entity_column].group())
            if 0 <= entity_column < len(cells)
            else str(len(numbers))
        )
        entity = numbers.setdefault(label, str(len(numbers)))
        cell = cells[mention_column]
        quoted = list(_QUOTED.finditer(text, *cell.span()))
        for part in quoted or _PART.finditer(text, *cell.span()):
            words = (part[1] if quoted else part.group()).strip(" .*\t")
            if words:
                mentions.append(Listed(words, entity, part.start()))
    return mentions


# ------------------------------------------------------------------ questions and answers

_QUOTE = (
    r"(?:\*{{1,3}}(?P<{0}marked>[^*\n]{{1,400}})\*{{1,3}}|"
    r"[\"“](?P<{0}quoted>[^\"“”\n]{{1,400}})[\"”])"
)
_IN = r"(?:\s*\(sentence\s*(?P<{0}sentence>\d{{1,9}})\))?"
_QA = re.compile(
    r"(?:mention\s*:\s*(?P<mention>[^\n]{1,400}?)\s*\n[\s\S]{0,400}?|"
    + (_QUOTE + _IN).format("")
    + r"\s+)refers?\s+to\s*:?\s*(?P<to>[^\n]+)",
    re.IGNORECASE,
)
_TO = re.compile(
    r"(?:\[(?P<bracketed>[^\[\]]+)\]|" + _QUOTE.format("to_") + ")" + _IN.format("to_"),
    re.IGNORECASE,
)


def read_questions(text: str) -> list[Listed]:
    """`Mention: his wife … refers to: Mrs. Bennet`: mentions of the same answer are one entity.

    The answer itself is a mention too where it stands in brackets or quotes, as in
    `*It* refers to [the park]`; a bare name is only a label.
    """
    mentions: list[Listed] = []
    entity_of: dict[tuple[str, str | None], str] = {}
    for match in _QA.finditer(text):
        mention = (match["mention"] or match["marked"] or match["quoted"]).strip(' .*"“”{}')
        cited = _TO.search(match["to"])
        to = next(filter(None, cited.groups())) if cited else match["to"].strip(" .")
        sentence = cited["to_sentence"] if cited else None
        name = fold_text(to), sentence
        entity = entity_of.get(name)
        if entity is None:
            entity = entity_of[name] = str(len(set(entity_of.values())))
            if cited:
                mentions.append(Listed(to, entity, match.start("to"), _number(sentence)))
        entity_of[fold_text(mention), match["sentence"]] = entity
        mentions.append(Listed(mention, entity, match.start(), _number(match["sentence"])))
    return mentions


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def list_counts(text: str) -> Iterator[tuple[str, int]]:
    """How many mentions each kind of list has in a text."""
    yield "qa", sum(1 for _ in _QA.finditer(text))
    lines = [match[1] for match in _LINE.finditer(text)]
    listed = [line for line in lines if '"' in line or "“" in line or ";" in line]
    if not listed and len(lines) > 1:  # Entity 1: Ada, she
        listed = [line for line in lines if "," in line]
    headed = sum(len(_ITEM.findall(block[1])) for block in _HEADED.finditer(text))
    headed = headed or len(_read_table(text))
    yield "lines", headed or sum(max(line.count('"') // 2, 1) for line in listed)
    text = plain_quotes(text)
    strings = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'(?=\s*[,\]}:])"
    unquoted, number = re.subn(strings, "", text)
    talk = len(re.findall(r"[^\W\d_]{2,}", unquoted))  # a text with tags may have quotes, too
    looks = re.search(r"[\[{(]\s*[\"']", text) and talk <= 3 * number + 40
    yield "json", len(read_json(text)) if looks else 0
