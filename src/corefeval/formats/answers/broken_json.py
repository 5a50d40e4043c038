"""JSON as language models write it: with comments, all kinds of quotes, and without its end."""

from __future__ import annotations

import re
from dataclasses import dataclass


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
