"""Lists of mentions: JSON, however broken, lines, questions with answers, and link-append."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corefeval.formats.answers.broken_json import Node, Text, parse_json, plain_quotes
from corefeval.formats.answers.text import fold_text


@dataclass(slots=True)
class Listed:
    """A mention as a string, with what is said of its place: a sentence, or where it begins.

    `behind` are words that follow it, where the answer quotes them. `lost` says why it is no
    mention after all, such as a string that was cut off.
    """

    text: str
    entity: str
    where: int
    sentence: int | None = None
    start: int | None = None
    end: int | None = None
    behind: str = ""
    lost: str = ""


# ------------------------------------------------------------------ JSON

_MENTION_KEYS = (
    "text",
    "mention",
    "token",
    "surface",
    "expression",
    "span",
    "string",
    "phrase",
    "name",
)
_CLUSTER_KEYS = ("mentions", "cluster", "items", "members", "coreferences", "references", "aliases")
_GROUP_KEYS = (
    "refersto", "cluster", "clusterid", "entity", "entityid", "chain", "chainid", "id", "coref",
    "label",
)  # fmt: skip
_SENTENCE_KEYS = (
    "sentence",
    "sent",
    "sentenceid",
    "sentencenumber",
    "sentenceindex",
    "sentid",
    "line",
)
_START_KEYS = (
    "start",
    "starttoken",
    "begin",
    "startoffset",
    "startchar",
    "charstart",
    "offset",
    "position",
)
_END_KEYS = ("end", "endtoken", "stop", "endoffset", "endchar", "charend")


def _plain_key(key: str) -> str:
    return re.sub(r"[\W_]", "", key).lower()


class _Clusters:
    """Mentions of the lists and objects of an answer; entities are numbered in their order."""

    def __init__(self) -> None:
        self.mentions: list[Listed] = []
        self.number = -1

    def walk(self, root: Node) -> None:
        """Read a list or an object: a cluster, or something with clusters in it."""
        waiting = [root]
        while waiting:  # the first one first; nothing here is deep, but answers may be
            node = waiting.pop()
            if _is_cluster(node):
                self.cluster(node)
                continue
            named = dict(zip(map(_plain_key, node.keys), node.items, strict=True))
            listed = next((named[k] for k in _CLUSTER_KEYS if isinstance(named.get(k), Node)), None)
            if node.is_object and isinstance(listed, Node) and _is_cluster(listed):
                self.cluster(listed)
                continue
            waiting += [item for item in reversed(node.items) if isinstance(item, Node)]

    def cluster(self, node: Node) -> None:
        """Add the mentions of a list: of one cluster, or of several if each names its entity."""
        pairs = [(item, self._mention(item, node)) for item in node.items]
        groups = {}
        for item, mention in pairs:
            label = _group(item) if isinstance(item, Node) else None
            if mention is not None and label is not None:
                groups[id(item)] = label
        if len(groups) == sum(mention is not None for _, mention in pairs) and groups:
            numbers: dict[str, int] = {}
            for item, mention in pairs:
                if mention is not None:
                    label = groups[id(item)]
                    entity = numbers.setdefault(label, self.number + 1 + len(numbers))
                    mention.entity = str(entity)
                    self.mentions.append(mention)
            self.number += len(numbers)
            return
        self.number += 1
        for _, mention in pairs:
            if mention is not None:
                mention.entity = str(self.number)
                self.mentions.append(mention)

    def _mention(self, item: object, cluster: Node) -> Listed | None:
        cut = "cut off"
        if isinstance(item, Text):
            return Listed(str(item), "", item.where, lost="" if item.complete else cut)
        if not isinstance(item, Node):
            return None
        if not item.is_object:
            text = next((value for value in item.items if isinstance(value, Text)), None)
            if text is None:
                return None
            numbers = [int(value) for value in item.items if isinstance(value, float)]
            start, end = (*numbers[:2], None, None)[:2]
            return Listed(
                str(text), "", text.where, None, start, end, lost="" if item.complete else cut
            )
        values = dict(zip(map(_plain_key, item.keys), item.items, strict=True))
        text = _first_text(values)
        if text is None:
            return None
        is_complete = item.complete or _has_all_keys(item, cluster)
        sentence, start, end = (
            next((int(v) for k in keys if isinstance(v := values.get(k), float)), None)
            for keys in (_SENTENCE_KEYS, _START_KEYS, _END_KEYS)
        )
        lost = "" if text.complete and is_complete else cut
        return Listed(str(text), "", text.where, sentence, start, end, lost=lost)


def _first_text(values: dict[str, object]) -> Text | None:
    return next((v for k in _MENTION_KEYS if isinstance(v := values.get(k), Text)), None)


def _has_all_keys(item: Node, cluster: Node) -> bool:
    """Whether an object that was cut off has all keys of the first one, each with a value."""
    first = cluster.items[0]
    return (
        isinstance(first, Node)
        and first is not item
        and first.keys == item.keys
        and None not in item.items
    )


def _group(item: Node) -> str | None:
    """The entity that a mention says it belongs to."""
    for key, value in zip(item.keys, item.items, strict=True):
        if _plain_key(key) in _GROUP_KEYS and isinstance(value, Text | float):
            return fold_text(str(value))
    return None


def _is_cluster(node: Node) -> bool:
    """A list of strings, of strings with numbers, or of objects with the text of a mention."""
    if node.is_object or not node.items:
        return False
    return any(_is_mention(item) for item in node.items)


def _is_mention(item: object) -> bool:
    if isinstance(item, Text):
        return True
    if not isinstance(item, Node) or not item.items:
        return False
    if not item.is_object:
        numbers = item.items[1:]
        return (
            isinstance(item.items[0], Text)
            and bool(numbers)
            and all(isinstance(v, float) for v in numbers)
        )
    values = dict(zip(map(_plain_key, item.keys), item.items, strict=True))
    if any(isinstance(values.get(key), Node) for key in _CLUSTER_KEYS):
        return False
    return _first_text(values) is not None


def read_json(text: str) -> list[Listed]:
    """Mentions in JSON; clusters are lists, objects of lists, or objects with `mentions`."""
    clusters = _Clusters()
    for root in parse_json(text):
        clusters.walk(root)
    return clusters.mentions


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
        names = [_plain_key(cell.group()) for cell in cells]
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


# ------------------------------------------------------------------ link-append

_LINK = re.compile(
    # A mention may be a zero, which is ## itself.
    r"(?<![^;\n])(?P<from>\s*(?:##\w*\s+)?(?:(?!##)[^;\n])*+)##(?P<behind>(?:(?!->)[^;\n])*+)->"
    r"(?P<to>[^;\n]*)"
)


def read_links(text: str) -> list[Listed]:
    """`it ## . ** _ -> cabin door ## opened . | ;;`: links to an antecedent, or to entity `[1`.

    The words behind a mention tell which of several places is meant. Entities are numbered from 1
    in the order of their first link.
    """
    mentions: list[Listed] = []
    entity_of: dict[tuple[str, str], str] = {}
    number = 0
    for match in _LINK.finditer(text):
        mention, to = _context(match["from"], match["behind"]), match["to"].strip(" |")
        if cluster := re.match(r"\[(\d{1,9})", to):
            entity = cluster[1]
            number = max(number, int(entity))
        else:
            zero = re.match(r"\s*##\w*\s+(?=##)", to)
            place = to.find("##", zero.end() if zero else 0)
            antecedent = _context(to[:place], to[place + 2 :]) if place >= 0 else _context(to, "")
            antecedent_entity = entity_of.get(antecedent)
            if antecedent_entity is None:
                number += 1
                antecedent_entity = entity_of[antecedent] = str(number)
                mentions.append(
                    Listed(
                        antecedent[0], antecedent_entity, match.start("to"), behind=antecedent[1]
                    )
                )
            entity = antecedent_entity
        entity_of[mention] = entity
        mentions.append(Listed(mention[0], entity, match.start(), behind=mention[1]))
    return mentions


def _context(mention: str, behind: str) -> tuple[str, str]:
    """A mention and the words behind it, without the marks of sentences."""
    words = " ".join(word for word in behind.split() if word not in ("**", "_", "|"))
    return " ".join(mention.replace("**", " ").split()), words


def count_links(text: str) -> int:
    """How many links a text has in the style of link-append."""
    return sum("##" in link.rpartition("->")[0] for link in re.split(r"[;\n]", text))


def list_counts(text: str) -> Iterator[tuple[str, int]]:
    """How many mentions each kind of list has in a text."""
    yield "link-append", count_links(text)
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
