"""What parts of trees are: what labels say, shapes, fields of records, scopes of units."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from corefeval.formats.answers.items import Text, sentence_named, split_items
from corefeval.formats.answers.lookup import KeyDocument, Unit, fold_text
from corefeval.formats.answers.trees import Node

# What labels say, by how they begin, in some languages; the first that fits.
_ROLE = re.compile(
    r"""(?x)
    (?P<antecedent>ant[eé]c[eé]d|antezedens|bezug|bezieht|refersto|referent|corefer(?!ence)
      |target|linkedto|standsfor|to$|verw(?:ij|ei)st|renvoie|sameas|先行)
  | (?P<context>context|snippet|quote|excerpt|kontext|contexto|上下文|in$|near|surround)
  | (?P<sentence>where$|(?:ana|mention|pron|from)\w*?(?:sent|line)|sent(?!e?id)|sentid|line|zin
      |satz|zeile|regel|oraci|frase|phrase|ligne|riga|предлож|строк|句|文$|行|s$|o$)
  | (?P<nth>nth|occurrence|instance|ocurrencia|vorkommen)
  | (?P<start>(?:token|char|word)?(?:start|begin|offset|position)|char(?!end)|tokens?$|indices)
  | (?P<mentions>(?:all|alle)?mention(?:s|es|en)|menciones|menzioni|erwähnungen|vermeldingen
      |nennungen|упоминания|items|members|mitglieder|spans|expressions|occurrences|called
      |strings)
  | (?P<mention>mention(?!id)|text|token(?!end)|surface|expression|span|string|phrase|anaph|anáf
      |pronoun$|pronomen$|form|vermelding|menci|menzion|erwähnung|ausdruck|expresi|упоминан|提及
      |文本|word(?!end)|from$)
  | (?P<group>cluster|entity|entidad|entit|chain|cadena|cadeia|catena|chaîne|kette|keten|łańcuch
      |group|coref|ref$|сущность|цепочк|кореф|实体|共指)
  | (?P<entity>label|set|eid|head|represent|canonical|name|nombre|id$|who|what|number)
  | (?P<remark>type?$|tip[oi]$|тип$|rodzaj|soort|kind|note|comment|reason|gender|count
      |confidence|explan|role|class|art$|category|before|after|preced|follow|hinweis|anmerkung
      |nota$|opmerking|类型|词性|说明|注$|(?:token|char|word)?(?:end|stop))
    """
)
# What lists of the mentions of one entity are called, by the kind of words in them.
_KIND = (
    r"(?:\w+ )?(?:pronouns|pronomina|pronomen|pronombres|pronoms|pronomi|possessives?|reflexives?"
    r"|noun phrases|nominals?|(?:proper )?names|proper nouns|descriptions)"
)
_CATEGORY = re.compile(rf"(?i){_KIND}(?:\W+{_KIND})*\Z")


def role_of(label: str) -> str:
    """What a field says: `mention`, `group`, …, or nothing where its name is unknown."""
    match = _ROLE.match(re.sub(r"[\W_]", "", label).lower())
    return (match.lastgroup or "") if match else ""


SCATTERED = 1.2  # more than this, and values come back, as entities do in a text or a column


def scatter_of(cells: Sequence[object]) -> float:
    """Runs of equal values for each value that is there several times: 1 if none comes back."""
    counts = Counter(cells)
    runs = [value for value, _ in groupby(cells) if counts[value] > 1]
    return len(runs) / max(len(set(runs)), 1)


def every(nodes: Sequence[Node]) -> Iterator[Node]:
    """All parts of trees, in their order."""
    stack = [*reversed(nodes)]
    while stack:
        yield (node := stack.pop())
        stack += reversed(node.items)


def names_sentence(node: Node) -> bool:
    """Whether a part's label names a sentence."""
    return sentence_named(node.label) is not None


def lists_mentions(node: Node) -> bool:
    """Whether a part's label says that mentions are in it."""
    return bool(_CATEGORY.match(node.label)) or "mention" in role_of(node.label)


def is_plain_line(node: Node) -> bool:
    """Whether a part is a line of text, without a label and without parts of its own."""
    is_line = isinstance(node.value, Text) and node.value.is_line
    return is_line and not node.label and not node.items


def is_row(node: Node) -> bool:
    """Whether a part is a row of a table."""
    return any(text.kind == "cell" for text in node.texts)


def is_string(node: Node) -> bool:
    """Whether it is a string without a label, alone or with numbers: `["Ada", 0, 3]`."""
    if node.label or node.is_record or any(item.items for item in node.items):
        return False
    return (
        not node.items if isinstance(node.value, Text) else len(node.texts) == 1 < len(node.items)
    )


def number_at(node: Node, label: str | None) -> int | None:
    """The first number in a field of a record; None where there is none."""
    field = node.get(label)
    digits = re.search(r"\d{1,9}", str((field.items or [field])[0].value)) if field else None
    return int(digits[0]) if digits else None


def inner_lists(node: Node) -> list[Node]:
    """The fields of a record that are lists of strings, objects or lists."""
    return [
        field
        for field in node.items
        if not field.is_record and any(isinstance(i.value, Text) or i.items for i in field.items)
    ]


# What cells have that name no mention.
NOBODY = ("", ".", "none", "null", "-", "–", "—")
Fields = dict[str, str]  # the label of the field for each role


def find_fields(rows: Sequence[Node], key: KeyDocument) -> Fields:
    """The field for each role: by its label, else by what its cells have.

    `name` is the field that says the entity of each row; there are `lists` if cells have several
    mentions each.
    """
    roles: dict[str, str] = {}
    cells = defaultdict[str, list[str]](list)
    for field in (field for row in rows for field in row.items):
        role = roles.setdefault(field.label, role_of(field.label))
        if role == "mention" and len(field.numbers) == len(field.items) > 1:
            roles[field.label] = "start"  # a span of numbers
        if field.value is not None:
            cells[field.label].append(str(field.value))
    named = {role: label for label, role in reversed(roles.items())}
    mention = named.get("mention") or named.get("mentions") or _find_mentions(cells, key)
    fields = {role: label for role, label in named.items() if role and label != mention}
    if mention:
        fields["mention"] = mention
        if name := _find_name(cells, fields):
            fields["name"] = name
        texts = cells[mention]
        lists = [t for t in texts if not key.stands(t) and len(split_items(t, 0, key)) > 1]
        if role_of(mention) == "mentions" or 2 * len(lists) > len(texts):
            fields["lists"] = fields.pop("antecedent", mention)  # which is a label
    return fields


def _find_mentions(cells: Mapping[str, Sequence[str]], key: KeyDocument) -> str:
    """The column whose cells stand in the text; none in a grid of entities and sentences."""

    def find_words(text: str) -> set[str]:
        units = split_items(text, 0, key)
        return {u.text for u in units if key.stands(u.text)} or {text}.intersection(NOBODY)

    words = {
        label: [*map(find_words, texts)]
        for label, texts in cells.items()
        if role_of(label) in ("", "entity", "group", "context", "sentence")
    }
    shares = {label: sum(map(bool, rows)) / len(rows) for label, rows in words.items()}
    best = max(words, key=lambda label: len(set().union(*words[label])), default="")
    columns = [cells[label] for label, share in shares.items() if share > 0.75]
    is_grid = len(columns) > 1 and any(text in NOBODY for texts in columns for text in texts)
    return best if shares.get(best, 0) >= 0.25 and not is_grid else ""


def _find_name(cells: Mapping[str, Sequence[str]], fields: Fields) -> str:
    """The column that says the entity of each row: its values come back."""
    mentions = cells[fields["mention"]]
    if target := fields.get("antecedent"):
        names, listed = ({*map(fold_text, texts)} for texts in (cells[target], mentions))
        is_name = 3 * len(names) <= len(mentions) and 2 * len(names & listed) >= len(names) > 0
        return fields.pop("antecedent") if is_name else ""
    if label := fields.get("group"):
        return label
    if (label := fields.get("entity")) and len({*cells[label]}) < max(len(mentions), 2):
        return label
    columns = [
        label
        for label, texts in cells.items()
        if label not in fields.values() and not role_of(label) and scatter_of(texts) > SCATTERED
    ]  # not what kinds of words there are, which are few
    return max(columns, key=lambda label: len({*cells[label]}), default="")


class Scope(NamedTuple):
    """What a part of an answer stands in: an entity, a sentence, and so many other parts."""

    entity: str = ""
    sentence: int | None = None
    depth: int = 0


def make_unclear(node: Node, entity: str) -> Unit:
    """A unit for numbers that no words go with."""
    words = " ".join(str(item.value) for item in node.items if not item.items)
    return Unit(words, node.where, entity, state="unclear", why="numbers without words")


def name_units(units: Sequence[Unit], scope: Scope) -> Iterator[Unit]:
    """The units with the entity of what they stand in, and its sentence where they name none."""
    for unit in units:
        unit.entity = scope.entity
        unit.sentence = scope.sentence if unit.sentence is None else unit.sentence
        yield unit
