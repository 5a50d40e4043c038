"""Answers as trees: JSON, XML, tables, and lines with headings, bullets or keys (YAML, too).

They are read as language models write them: with comments, all kinds of quotes, and without ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from corefeval.formats.answers.items import LINK, QUOTED, VERB, Text, mask_remarks, sentence_named
from corefeval.formats.answers.lookup import blank_out

_NO_LABEL = Text()


@dataclass(slots=True, eq=False)
class Node:
    """A part of an answer: its label, its text or number, and the parts below it.

    A label is a key, a heading, the name of a column. The parts of a record are its fields.
    `complete` says whether it was closed.
    """

    where: int = 0
    label: Text = _NO_LABEL
    value: Text | float | None = None
    items: list[Node] = field(default_factory=list)
    complete: bool = True
    is_record: bool = False

    @property
    def texts(self) -> list[Text]:
        """The strings that it has itself, except for names of sentences."""
        texts = [item.value for item in self.items if isinstance(item.value, Text)]
        return [text for text in texts if sentence_named(text) is None]

    @property
    def numbers(self) -> list[int]:
        """The numbers that it has itself, and those of sentences: `5`, `"line 5"`."""
        values = [item.value for item in self.items if item.value is not None]
        numbers = [v if isinstance(v, float) else sentence_named(v) for v in values]
        return [int(number) for number in numbers if number is not None]

    @property
    def rows(self) -> list[Node]:
        """The records in it that have no labels."""
        return [item for item in self.items if item.is_record and not item.label]

    def get(self, label: str | None) -> Node | None:
        """The part with a label, or None."""
        return next((item for item in self.items if label and item.label == label), None)


_TOKEN = re.compile(
    r"""(?xs)(?P<comment>//[^\n]*|/\*(?:(?!/\*).)*?\*/|(?m:^[^\S\n]*\#[^\n]*))
      | (?P<string>"(?:[^"\\]|\\.)*"|“[^“”]*”)
      | (?P<single>'(?:[^'\\\n]|\\.|'(?=\w)){0,300}'(?=\s*(?:[,\]}):]|$)))
      | (?P<half>"(?:[^"\\]|\\.)*\\?\Z|(?<![^\s\[{(,:])'(?:[^"'\\\n]|\\.|'(?=\w)){0,300}\\?\Z)
      | (?P<open>[\[{(]) | (?P<close>[\]})]) | (?P<colon>:)
      | (?P<number>-?\d+(?:\.\d+)?) | (?P<word>[^\W\d](?:[^"\[\]{}(),:\n]*[^\s"\[\]{}(),:])?)""",
)
# Strings have no quotes: `{name: Ada, mentions: [Ada, she]}`.
_BARE = re.compile(r"[\[{,]\s*[\w ]{1,60}:\s*[\[{]\s*[^\W\d]|\{[^{}\"\n]{0,99}?\w:\s[^\W\d]")
_COLON = re.compile(r"\s*:")
_GLUED = re.compile(r"\w[\[{]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def unquote(token: str) -> str:
    """A string of JSON without its escapes."""

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", plain, token, flags=re.DOTALL)


_ENCODED = re.compile(
    r'(?<!\\)"(?=(?:\s|\\[nt])*[\[{][^"\\]*\\)(?:[^"\\]|\\.)*[\]}](?:\s|\\[nt])*"'
)


def _decode(string: re.Match[str]) -> str:
    """The JSON in a string of JSON; all stays in its place."""
    escapes = r'\\\\\\"|\\[nt]|\\(?=")|(?<!\\)"'
    return re.sub(escapes, lambda match: match[0][2:].rjust(len(match[0])), string[0])


def parse_json(text: str, shift: int = 0) -> list[Node]:
    """The lists and objects in a text, with or without talk around them; nothing is refused.

    Comments, trailing commas, single quotes and missing ends are taken as they come. `shift` is
    where the text begins in the answer.
    """
    text = _ENCODED.sub(_decode, text)
    is_bare = _BARE.search(text)
    roots: list[Node] = []
    stack: list[Node] = []
    label = _NO_LABEL  # the key whose value comes next
    for match in _TOKEN.finditer(text):
        kind, token, where = match.lastgroup, match.group(), match.start() + shift
        if not stack and (token not in "[{" or _GLUED.match(text, max(match.start() - 1, 0))):
            continue  # what stands in parentheses is a remark, and `a["b"]` is code
        if kind == "open":
            node = Node(where, label, complete=False, is_record=token == "{")
            (stack[-1].items if stack else roots).append(node)
            stack.append(node)
        elif kind == "comment":
            continue
        elif kind == "close":
            node = stack.pop()
            node.complete = True
            node.is_record &= any(item.label for item in node.items)  # else a set
        elif kind == "colon":
            items = stack[-1].items if stack[-1].is_record else []
            if items and isinstance(before := items[-1].value, Text):
                label = before
                items.pop()
            continue
        elif kind == "number":
            number = float(token) if len(token) < 16 else None  # which is no place
            stack[-1].items.append(Node(where, label, number))
        elif kind != "word" or is_bare or _COLON.match(text, match.end()):  # keys may be bare
            bare = token[kind != "word" :][: -1 if kind in ("string", "single") else None]
            value = Text(unquote(bare).strip(), where, kind != "half")
            stack[-1].items.append(Node(where, label, value))
        label = _NO_LABEL
    return roots


# ------------------------------------------------------------------ elements

_ELEMENT = re.compile(
    r"<([^\W\d][\w.:-]*)(?P<attributes>(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*"
    r"(?:(?P<alone>/)>|>\s*(?P<words>(?!\s)[^<>]*)(?=<)(?P<end></\1>\s*(?=</?\w|\Z))?)"
)


_ATTRIBUTE = re.compile(r"(?s)([\w:.-]+)\s*=\s*([\"'])(.*?)\2")


def parse_elements(text: str) -> list[Node]:
    """Elements of mentions in elements of entities, without text between them, as lists."""
    root = group = Node()
    for match in _ELEMENT.finditer(text):
        words = (match["words"] or "").rstrip()
        where = match.start("words" if words else 0)
        if not (match["alone"] or match["end"]):
            if words:
                return []
            group = Node(where)
            root.items.append(group)
            continue
        cells = [(name, value) for name, _, value in _ATTRIBUTE.findall(match["attributes"])]
        cells += [("text", words)] if words else []
        items = [Node(where, Text(label), Text(value, where)) for label, value in cells]
        group.items.append(Node(where, items=items, is_record=True))
    return [root]


# ------------------------------------------------------------------ standoff

_STANDOFF = re.compile(
    r"(?m)^(?:(?P<id>T\d+)\s+\S+ (?P<start>\d+)[ \d;]*\s(?P<text>\S.*)|(?:\*|[ER]\d+)\s"
    r"(?P<ids>.+))",
)


def parse_standoff(text: str) -> list[Node]:
    """Lines as in files of brat: mentions with ids, in their order, and relations of these ids."""
    mentions, relations = Node(), Node()
    for match in _STANDOFF.finditer(text):
        where, words = match.start(), match["text"]
        ids = [Text(name, where) for name in re.findall(r"T\d+", match["id"] or match["ids"])]
        if words:
            items = [
                Node(where, Text("id"), ids[0]),
                Node(where, Text("start"), float(match["start"])),
                Node(match.start("text"), Text("text"), Text(words, match.start("text"))),
            ]
            mentions.items.append(Node(where, items=items, is_record=True))
        else:
            relations.items.append(Node(where, items=[Node(value=name) for name in ids]))
    return [mentions, relations]


# ------------------------------------------------------------------ tables

_CELLS = [
    re.compile(
        rf'(?s)(?:\A|(?<={sign}))(?:\s*"(?P<quoted>(?:[^"]|"")*)"\s*(?={sign}|\Z)|(?P<bare>(?:(?!{sign}).)*))',
    )
    for sign in (r"\|", r"\t", ";", ",")
]
_TABLE_LINE = re.compile(r"(?m)^(?![ \t|:+=-]*$).+")  # any but a rule
_HEADER = 8  # words of a label above a column
_MARKS = re.compile(r"[-_*O]|[BIES]-\S+|\(?\d+\)?(?:\|\(?\d+\)?)*")


def parse_tables(text: str) -> list[Node]:
    """Tables as lists of objects: lines in a row with as many cells.

    Between cells are bars, tabs, semicolons or commas. The first row says what fields are called.
    """
    best: list[list[list[Node]]] = []
    for pattern in _CELLS:
        tables: list[list[list[Node]]] = [[]]
        for line in _TABLE_LINE.finditer(text):
            cells = []
            for match in pattern.finditer(re.sub(r"^\s*\||\|\s*$", blank_out, line[0])):
                kind = match.lastgroup or ""
                words = re.sub(r"\A\*+([^*]*)\*+\Z", r"\1", match[kind].strip())
                where = line.start() + match.start(kind)
                text_of_cell = Text(words.replace('""', '"'), where, kind="cell")
                cells.append(Node(where, value=text_of_cell))
            if tables[-1] and len(cells) != len(tables[-1][0]):
                tables.append([])
            if len(cells) > 1:
                tables[-1].append(cells)
        tables = [rows for rows in tables if rows and _is_table(rows)]
        best = max(best, tables, key=lambda tables: sum(map(len, tables)))
    return [_label_rows(rows) for rows in best]


def _label_rows(rows: list[list[Node]]) -> Node:
    labels = [Text(str(cell.value), cell.where) for cell in rows[0]]
    n_places = sum(sentence_named(label) is not None for label in labels)  # many in a grid
    body = rows if n_places == 1 or any(map(str.isdecimal, labels)) else rows[1:]
    for row in body:
        for number, (cell, label) in enumerate(zip(row, labels, strict=True)):
            cell.label = label or Text(f"column {number}" if number else "name")
    return Node(items=[Node(row[0].where, items=row, is_record=True) for row in body])


def _is_table(rows: list[list[Node]]) -> bool:
    """Whether rows have short labels above them, and are no text with a word on each line."""
    longest = max(len(str(cell.value).split()) for cell in rows[0])
    marks = [mark for row in rows if _MARKS.fullmatch(mark := str(row[-1].value))]
    n_signs = sum(not mark[0].isdigit() for mark in marks)
    is_text = len(marks) > 0.9 * len(rows) and 3 * n_signs > len(rows)
    return len(rows) > 1 and longest <= _HEADER and not is_text


# ------------------------------------------------------------------ lines

_LINE = re.compile(
    r"(?m)^(?P<indent>[ \t]*)(?=\S)(?:(?P<heading>\#{1,6}(?=[ \t])|"
    r"(?=[^\n:：,;→、|\"“„«]{1,40}[:：]"
    r"[^\n:：,;→、\"“„«]{1,60}\n[ \t]*(?![-*•>#\d])[^\n:：|]*[,;→、][^\n:：]*$))[ \t]*)?"
    r"(?P<bullet>(?:[-•·・◦▪‣+–—:>①-⓿❶-➓]|\*+|[├└][─╴]*|\(?\d{1,3}[.):]|[a-z]\))"
    r"(?:[ \t]+|(?<=[.)・])(?=[\"“„«「*])))?"
    r"(?:[^\w\s\"'“„«»「『‹`(\[{*#<&\\-]+\s+)?(?P<body>.*\S)",
)
_BOLD = re.compile(
    r"(\*\*|__)(?P<label>(?:(?!\1).)+?)\1\s*(?:\([^()]*\)\s*)?"
    r"(?:[:：=]|[–—-]+(?=\s|$)|(?<=[:：.]\*\*)|(?<=[:：.]\*\*\s)|(?=[\"“„«「『‹`'{\[])|$)\s*(?P<items>(?:(?!\*\*\s*[=:]).)*)"
)
_COLONED = re.compile(
    r"(?P<label>[^:：\"“„«「『]{1,80}?(?P<name>(?<=\d)[:：]\s*[^:：,;、\"“„«「『]{1,40}?\s(?=[–—-]))?)"
    r"(?(name)[–—-]+\s|\s*[:：](?!//))\s*(?P<items>.*)"
)
_DASHED = re.compile(
    r"(?P<label>(?:(?!\s[–—]\s)[^\"“„«「『:,;]){1,60}?)\s+(?:[–—-]+|\.{3,})\s+"
    r"(?P<items>(?!.*\s[–—]\s).*)"
)
_FLOW = re.compile(r"\{\s*(?:[\"'“\[{(}]|[\w ]+:).*|\{\s*\}|\[[^\"'{]*[\"'{].*\]")
# A label and its list; that its lists have several items tells it from a link.
_EQUAL = re.compile(
    r"(?P<label>[^\"“„«=:]{1,60}?)\s+(?:&?=|[←→⇒]|[-=]+>|<[-=]+)\s+(?P<items>(?=[^=]*(?:[,;{]|\s[|/·]\s))[^=←→⇒]*)"
)


def parse_lines(text: str) -> list[Node]:
    """The lines of an answer as a tree: what is indented stands below what comes before it."""
    lines = []
    matches = _LINE.finditer(text.replace("│", " "))  # beside the branches of a tree
    for match in matches:
        heading, bullet, body = match["heading"], (match["bullet"] or "").strip(), match["body"]
        kind, indent = "bullet" if bullet else "line", len(match["indent"].expandtabs(4))
        label, items, shift = (body, "", 0) if heading is not None else _split_label(body)
        where = match.start("body") + (shift if items else 0)
        level = len(heading) - 10.0 if heading is not None else indent + 0.5 * bool(bullet)
        node = Node(where, value=Text(items or label, where, kind=kind))
        if _FLOW.fullmatch(body):
            node = next(iter(parse_json(body, where)), node)
        if items:
            node.label = Text(label.strip(" :：*_"), where, kind=kind)
        if bullet and items:  # as in YAML, lines below may go on with a record
            lines.append((level, Node(where, is_record=True)))
            level = max(match.start("body") - match.start(), level + 0.1)
        lines.append((level, node))
    return [_nest(lines)]


def _split_label(body: str) -> tuple[str, str, int]:
    """The label of a line, what it has behind it, and where that begins."""
    masked = mask_remarks(body)
    is_whole = VERB.search(mask_remarks(body, quotes=True)) or _FLOW.fullmatch(body)
    for pattern in () if is_whole else (_BOLD, _COLONED, _EQUAL, _DASHED):
        match = pattern.fullmatch(body if pattern is _BOLD else masked)
        if match is None or QUOTED.search(match["label"]):  # which is a mention
            continue
        label, items = body[slice(*match.span("label"))], body[match.start("items") :].strip()
        return label + ("" if items else ":"), items, match.start("items")
    return body, "", 0


def _nest(lines: list[tuple[float, Node]]) -> Node:
    """Lines as a tree by their levels; a text with others below it is their label."""
    stack = [(-100.0, root := Node())]
    for level, node in lines:
        while stack[-1][0] >= level:
            stack.pop()
        stack[-1][1].items.append(node)
        stack.append((level, node))
    records = [node for _, node in lines if node.is_record and node.items and not node.label]
    fields = {node.items[0].label for node in records if node.items[1:]}
    # A line with one field is just this field, unless longer records begin with the same field.
    short = {node for node in records if str(node.items[0].label) not in fields}
    for _, node in [*lines, stack[0]]:
        text = node.value
        if isinstance(text, Text) and node.items and not (node.label or LINK.search(text)):
            node.label, node.value = Text(text.strip(' :：*_"“”„«»'), node.where), None
        node.items = [item.items[0] if item in short else item for item in node.items]
    return root


TREES = {
    "json": parse_json,
    "elements": parse_elements,
    "standoff": parse_standoff,
    "table": parse_tables,
    "lines": parse_lines,
}
