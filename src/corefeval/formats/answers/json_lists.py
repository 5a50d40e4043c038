"""Lists of mentions in JSON as language models write it: with comments, all kinds of quotes, and
without its end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from corefeval.formats.answers.text import fold_text


@dataclass(slots=True)
class Listed:
    """A mention as a string, with what is said of its place: a sentence, or where it begins.

    `lost` says why it is no
    mention after all, such as a string that was cut off.
    """

    text: str
    entity: str
    where: int
    sentence: int | None = None
    start: int | None = None
    end: int | None = None
    lost: str = ""


class Text(str):
    """A string of an answer, where it stands, and whether it has its end."""

    where: int = 0
    complete: bool = True


@dataclass(slots=True)
class Node:
    """A list, or an object as a list of keys and values; `complete` if it was closed."""

    is_object: bool
    items: list[object]
    keys: list[str]
    complete: bool = False
    where: int = 0

    @property
    def values(self) -> dict[str, object]:
        """The values by their keys, as `plain_key` spells them."""
        return dict(zip(map(plain_key, self.keys), self.items, strict=True))


_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/|(?m:^\s*\#[^\n]*))
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<single>'(?:[^'\\]|\\.|'(?=\w))*'(?=\s*(?:[,\]}:]|$)))
      | (?P<half>(?<![^\s\[{(,:])["'](?:[^"\\]|\\.)*\\?\Z)
      | (?P<open>[\[{(]) | (?P<close>[\]})]) | (?P<colon>:) | (?P<comma>,)
      | (?P<number>-?\d+(?:\.\d+)?) | (?P<word>[^\W\d]\w*)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _unquote(token: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", plain, token, flags=re.DOTALL)


_STRAIGHT = re.compile(r"""[\[{(,:]\s*["']""")
_CURLED = re.compile(r"[\[{(,:]\s*“")
_ESCAPED = re.compile(r'[\[{(,:](?:\s|\\[nt])*\\"')


def plain_quotes(text: str) -> str:
    """The text with straight quotes, where its strings have none but curled or escaped ones.

    JSON within a string of JSON is such a case. All stays in its place.
    """
    if _STRAIGHT.search(text):
        return text
    if _CURLED.search(text):
        text = text.replace("“", '"').replace("”", '"')
    if _ESCAPED.search(text):
        text = re.sub(r"\\[nt]", "  ", text).replace('\\"', ' "')
        text = re.sub(
            r'^\s*"(?=\s*[\[{])|(?<=[\]}])\s*"\s*$', lambda match: " " * len(match[0]), text
        )
    return text


def parse_json(text: str) -> list[Node]:
    """The lists and objects in a text, with or without talk around them; nothing is refused.

    Comments, trailing commas, single quotes and missing ends are taken as they come.
    """
    roots: list[Node] = []
    stack: list[Node] = []
    waiting: str | None = None  # the key whose value comes next
    for match in _TOKEN.finditer(plain_quotes(text)):
        kind, token = match.lastgroup, match.group()
        if kind == "open":
            node = Node(token == "{", [], [], where=match.start())
            if stack:
                _put(stack[-1], node, waiting)
            else:
                roots.append(node)
            stack.append(node)
            waiting = None
        elif not stack:
            continue
        elif kind == "close":
            stack.pop().complete = True
            waiting = None
        elif kind == "colon":
            if stack[-1].is_object and stack[-1].items and isinstance(stack[-1].items[-1], str):
                waiting = str(stack[-1].items.pop())
                stack[-1].keys.pop()
        elif kind in ("string", "single", "half"):
            value = Text(_unquote(token[1:] if kind == "half" else token[1:-1]))
            value.where, value.complete = match.start(), kind != "half"
            _put(stack[-1], value, waiting)
            waiting = None
        elif kind == "number":
            unsure = match.end() == len(text) or len(token) > 15  # cut off, or no place at all
            _put(stack[-1], None if unsure else float(token), waiting)
            waiting = None
        elif kind == "word":
            waiting = None if waiting is not None else waiting
    return [root for root in roots if root.items]


def _put(node: Node, value: object, key: str | None) -> None:
    node.items.append(value)
    node.keys.append(key or "")


_MENTION_KEYS = (
    "text", "mention", "token", "surface", "expression", "span", "string", "phrase", "name",
)  # fmt: skip
_CLUSTER_KEYS = ("mentions", "cluster", "items", "members", "coreferences", "references", "aliases")
_GROUP_KEYS = (
    "refersto", "cluster", "clusterid", "entity", "entityid", "chain", "chainid", "id", "coref",
    "label",
)  # fmt: skip
_SENTENCE_KEYS = (
    "sentence", "sent", "sentenceid", "sentencenumber", "sentenceindex", "sentid", "line",
)  # fmt: skip
_START_KEYS = (
    "start", "starttoken", "begin", "startoffset", "startchar", "charstart", "offset", "position",
)  # fmt: skip
_END_KEYS = ("end", "endtoken", "stop", "endoffset", "endchar", "charend")


def plain_key(key: str) -> str:
    """The letters and digits of a key, in lower case."""
    return re.sub(r"[\W_]", "", key).lower()


def read_json(text: str) -> list[Listed]:
    """Mentions in JSON; clusters are lists, objects of lists, or objects with `mentions`.

    Entities are numbered in their order.
    """
    mentions: list[Listed] = []
    number = 0
    waiting = parse_json(text)[::-1]
    while waiting:  # the first one first; nothing here is deep, but answers may be
        node = waiting.pop()
        named = node.values if node.is_object else {}
        inner = next((v for k in _CLUSTER_KEYS if isinstance(v := named.get(k), Node)), node)
        if not _is_cluster(inner):
            waiting += [item for item in reversed(node.items) if isinstance(item, Node)]
            continue
        read = [(item, _read_mention(item, inner)) for item in inner.items]
        pairs = [(item, mention) for item, mention in read if mention is not None]
        labels = [_label(item) for item, _ in pairs]
        numbers: dict[str | None, int] = {}
        for (_, mention), label in zip(pairs, labels, strict=True):
            # One cluster, unless each mention names its entity.
            name = None if None in labels else label
            mention.entity = str(numbers.setdefault(name, number + len(numbers)))
            mentions.append(mention)
        number += max(len(numbers), 1)
    return mentions


def _read_mention(item: object, cluster: Node) -> Listed | None:
    """A string, a list of a string and its place, or an object with the text of a mention."""
    if isinstance(item, Text):
        return Listed(str(item), "", item.where, lost="" if item.complete else "cut off")
    if not isinstance(item, Node):
        return None
    if not item.is_object:
        text = next((value for value in item.items if isinstance(value, Text)), None)
        numbers = [int(value) for value in item.items if isinstance(value, float)]
        sentence, start, end = (None, *numbers[:2], None, None)[:3]
        is_complete = item.complete
    else:
        text = _first_text(item)
        sentence, start, end = (
            next((int(v) for k in keys if isinstance(v := item.values.get(k), float)), None)
            for keys in (_SENTENCE_KEYS, _START_KEYS, _END_KEYS)
        )
        is_complete = item.complete or _has_all_keys(item, cluster)
        is_complete = is_complete and text is not None and text.complete
    if text is None:
        return None
    lost = "" if is_complete else "cut off"
    return Listed(str(text), "", text.where, sentence, start, end, lost=lost)


def _first_text(item: Node) -> Text | None:
    return next((v for k in _MENTION_KEYS if isinstance(v := item.values.get(k), Text)), None)


def _has_all_keys(item: Node, cluster: Node) -> bool:
    """Whether an object that was cut off has all keys of the first one, each with a value."""
    first = cluster.items[0]
    is_other = isinstance(first, Node) and first is not item and first.keys == item.keys
    return is_other and None not in item.items


def _label(item: object) -> str | None:
    """The entity that a mention says it belongs to."""
    for key, value in item.values.items() if isinstance(item, Node) else ():
        if key in _GROUP_KEYS and isinstance(value, Text | float):
            return fold_text(str(value))
    return None


def _is_cluster(node: Node) -> bool:
    """Whether it is a list of strings, of strings with numbers, or of objects with a mention."""
    return not node.is_object and any(_is_mention(item) for item in node.items)


def _is_mention(item: object) -> bool:
    if not isinstance(item, Node):
        return isinstance(item, Text)
    if item.is_object:
        has_cluster = any(isinstance(item.values.get(key), Node) for key in _CLUSTER_KEYS)
        return not has_cluster and _first_text(item) is not None
    numbers = item.items[1:]
    is_placed = bool(numbers) and all(isinstance(value, float) for value in numbers)
    return is_placed and isinstance(item.items[0], Text)
