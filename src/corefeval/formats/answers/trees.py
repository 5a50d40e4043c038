"""Lists and objects in answers, as language models write JSON, YAML, XML and tables: with comments,
all kinds of quotes, and without their ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


class Text(str):
    """A string of an answer, where it stands, and whether it has its end."""

    where: int = 0
    complete: bool = True


@dataclass(slots=True)
class Node:
    """A list, or an object as a list of keys and values; `complete` if it was closed."""

    is_object: bool
    items: list[object] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    complete: bool = False
    where: int = 0

    def get(self, key: str) -> object:
        """The value of a key, or None."""
        return self.items[self.keys.index(key)] if key and key in self.keys else None


_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/|(?m:^\s*\#[^\n]*))
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<single>'(?:[^'\\]|\\.|'(?=\w))*'(?=\s*(?:[,\]}:]|$)))
      | (?P<half>(?<![^\s\[{(,:])["'](?:[^"\\]|\\.)*\\?\Z)
      | (?P<open>[\[{(]) | (?P<close>[\]})]) | (?P<colon>:) | (?P<comma>,)
      | (?P<number>-?\d+(?:\.\d+)?) | (?P<word>[^\W\d]\w*)""",
    re.VERBOSE | re.DOTALL,
)
_DEEP = 50  # lists in lists
_COLON = re.compile(r"\s*:")
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
            node = Node(token == "{", where=match.start())
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
        elif kind == "word" and stack[-1].is_object and _COLON.match(text, match.end()):
            _put(stack[-1], token, None)  # a key without quotes
        elif kind == "word":
            waiting = None
    # A lone quote in parentheses is a remark.
    is_remark = [text[r.where] == "(" and [*map(type, r.items)] == [Text] for r in roots]
    return [r for r, remark in zip(roots, is_remark, strict=True) if r.items and not remark]


def _put(node: Node, value: object, key: str | None) -> None:
    node.items.append(value)
    node.keys.append(key or "")


def plain_key(key: str) -> str:
    """The letters and digits of a key, in lower case."""
    return re.sub(r"[\W_]", "", key).lower()


# ------------------------------------------------------------------ YAML

_LINE = re.compile(r"^([ ]*)((?:-[ ]+|-$)*)(.*\S|)", re.MULTILINE)
_PAIR = re.compile(r"""("[^"]*"|'[^']*'|[^\s\[\]{}"'#:,&*-][^:#]{0,60}?)[ ]*:(?:[ ]+|$)(.*)""")
_FLOW = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^,\[\]{}]+)\s*(?:,|$)""")
_Row = tuple[int, str, int]  # column, text, and its place


_HEADED = re.compile(r"^\#{1,6} .*\n\s*[-*•] ", re.MULTILINE)
_COMMENT = re.compile(r"(?<=\S)[ ]+\#[ ]*([^\n]*)")


def parse_yaml(text: str) -> list[Node]:
    """The tree of block lists and objects in a text, by their columns; other lines are passed.

    Lists below headings are Markdown. A comment behind an item is a remark on it.
    """
    rows: list[_Row] = []
    if len(_HEADED.findall(text)) > 1:
        return []
    text = _COMMENT.sub(r" (\1)", text)
    for match in _LINE.finditer(text):
        column, where = len(match[1]), match.start(3)
        dashes = re.findall(r"-[ ]*", match[2])
        for dash in dashes:
            rows.append((column, "-", where))
            column += len(dash)
        if match[3] and (dashes or _PAIR.fullmatch(match[3])):
            rows.append((column, match[3], where))
    if not any(_PAIR.fullmatch(row[1]) for row in rows):
        return []
    roots = []
    while rows:
        value = _parse_block(rows, 0)
        roots += [value] if isinstance(value, Node) else []
    return roots


def _parse_block(rows: list[_Row], depth: int) -> object:
    """The value that the first rows have, which are taken away."""
    column, text, where = rows[0]
    pair = _PAIR.fullmatch(text)
    if depth > _DEEP or (text != "-" and not pair):
        return _parse_scalar(rows.pop(0)[1], where)
    node = Node(text != "-", complete=True, where=where)
    while rows and rows[0][0] == column and (rows[0][1] == "-") == (not node.is_object):
        pair = _PAIR.fullmatch(rows[0][1]) if node.is_object else None
        if node.is_object and pair is None:
            break
        value = _parse_scalar(pair[2], rows[0][2] + pair.start(2)) if pair else None
        rows.pop(0)
        is_below = rows and (rows[0][0] > column or (pair and rows[0][:2] == (column, "-")))
        if value is None and is_below:
            value = _parse_block(rows, depth + 1)
        _put(node, value, pair[1].strip("\"'") if pair else None)
    return node


def _parse_scalar(value: str, where: int) -> object:
    """A string or number, or a flow of them; None where there is nothing."""
    if value[:1] in ("[", "{") and value[-1:] in ("]", "}"):
        if '"' in value or "{" in value:
            return next(iter(parse_json(value)), None)
        inner = [
            _parse_scalar(m[1].strip(), where + m.start(1)) for m in _FLOW.finditer(value[1:-1])
        ]
        return Node(False, inner, [""] * len(inner), True, where)
    if not value or value[0] in "|>#":
        return None
    is_quoted = len(value) > 1 and value[0] in "\"'" and value[0] == value[-1]
    return make_value(value[1:-1] if is_quoted else value, where)


def make_value(value: str, where: int) -> object:
    """A number, or a string with its place."""
    scalar = Text(value)
    scalar.where = where
    return float(value) if re.fullmatch(r"\d{1,9}", value) else scalar


# ------------------------------------------------------------------ XML

_ELEMENT = re.compile(
    r"<([^\W\d][\w.:-]*)((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(?:(/)>|>\s*"
    r"([^<>]*?)\s*(?=<)(</\1>\s*(?=</?\w|\Z))?)"
)
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def parse_xml(text: str) -> list[Node]:
    """Elements of mentions in elements of entities, without text between them, as lists."""
    root, group = Node(False), Node(False, complete=True)
    for match in _ELEMENT.finditer(text):
        if not match[3] and not match[5]:
            if match[4]:
                return []
            group = Node(False, complete=True, where=match.start())
            _put(root, group, None)
            continue
        mention = Node(True, complete=True, where=match.start())
        for pair in _ATTRIBUTE.finditer(match[2]):
            _put(mention, make_value(pair[2] or pair[3] or "", match.start()), pair[1])
        if match[4]:
            _put(mention, make_value(match[4], match.start(4)), "text")
        _put(group, mention, None)
    return [root]


# ------------------------------------------------------------------ tables

_CELLS = [
    re.compile(rf'(?:\A|(?<={sign}))(\s*"[^"]*"\s*(?={sign}|\Z)|(?:(?!{sign}).)*)', re.DOTALL)
    for sign in (r"\|", r"\t", ";", ",")
]
_MARKS = re.compile(r"[-_*]|\(?\d+\)?(?:\|\(?\d+\)?)*")


def parse_tables(text: str) -> list[list[list[Text]]]:
    """The rows of each table: lines in a row with as many cells, between bars, tabs or commas."""
    for pattern in _CELLS:
        tables: list[list[list[Text]]] = [[]]
        low = 0
        for line in text.splitlines(keepends=True):
            bare = re.sub(r"^\s*\||\|?\s*$", lambda match: " " * len(match[0]), line)
            cells = [(m.start(1), m[1].strip()) for m in pattern.finditer(bare)]
            words = [Text(cell) for _, cell in cells]
            for cell, (start, _) in zip(words, cells, strict=True):
                cell.where = low + start
            low += len(line)
            if re.fullmatch(r"[\s|:+=-]+", line) and "-" in line:
                continue
            if tables[-1] and len(words) != len(tables[-1][0]):
                tables.append([])
            if len(words) > 1:
                tables[-1].append(words)
        tables = [rows for rows in tables if len(rows) > 1 and not _is_conll(rows)]
        if tables:
            return tables
    return []


def _is_conll(rows: list[list[Text]]) -> bool:
    """Whether it is a text with a word on each line, and not a table of mentions."""
    marks = [row[-1] for row in rows if _MARKS.fullmatch(row[-1])]
    return len(marks) > 0.9 * len(rows) and 3 * sum(not m[0].isdigit() for m in marks) > len(rows)
