"""Lists and objects as units: which strings are mentions, and which are labels or remarks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from corefeval.formats.answers.items import Unit, heed, split_items
from corefeval.formats.answers.lookup import KeyText
from corefeval.formats.answers.text import fold_text
from corefeval.formats.answers.trees import Node, Text, plain_key

# What the fields of records say, by how their names begin, in some languages; the first that fits.
_ROLES = {
    "antecedent": r"antec[eé]d|antezedens|bezug|refersto|referent|corefer|target|linkedto|verwijst"
    r"|先行",
    "context": r"context|snippet|quote|excerpt|kontext|contexto|上下文",
    "sentence": r"sent(?!e?id)|sentid|line|zin|satz|zeile|regel|oraci|frase|phrase|ligne|riga"
    r"|предлож|строк|句|行|s$|o$",
    "nth": r"nth|occurrence|instance|ocurrencia|vorkommen",
    "start": r"start|begin|offset|position|char|tokens?$|indices",
    "mentions": r"mentions|menciones|menzioni|erwähnungen|vermeldingen|упоминания|items|members"
    r"|spans|expressions|called|strings",
    "mention": r"mention|text|token|surface|expression|span|string|phrase|anaph|anáf|pronoun$|form"
    r"|vermelding|menci|menzion|erwähnung|ausdruck|expresi|упоминание|提及|文本|word",
    "group": r"cluster|entity|entidad|entit|chain|cadena|kette|group|coref|сущность|实体|共指",
    "entity": r"label|set|eid|head|represent|canonical|name|nombre|id$|who|what|number|ref$",
    "remark": r"type|note|comment|reason|gender|count|confidence|explan|role|class|end|stop",
}
_ROLE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _ROLES.items()))
_DEEP = 50  # lists in lists
Fields = dict[str, str]  # the name of the field for each role


def role_of(key: str) -> str:
    """What a field says: `mention`, `group`, …, or nothing where its name is unknown."""
    match = _ROLE.match(plain_key(key))
    return (match.lastgroup or "") if match else ""


class ListReader:
    """Reads trees as units; entities are numbered in their order."""

    def __init__(self, key: KeyText) -> None:
        self.key = key
        self.names: dict[object, str] = {}

    def read(self, roots: Sequence[Node]) -> list[list[Unit]]:
        """The units of each tree; objects in a row without a list around them are one."""
        if len(roots) > 1 and all(node.is_object for node in roots):
            roots = [Node(False, list(roots), [""] * len(roots), True)]
        return [list(self._walk(root, "", 0)) for root in roots]

    def _name(self, node: Node, label: str = "") -> str:
        """The entity of a list or object, or one that a label has there."""
        return self.names.setdefault((id(node), label), str(len(self.names)))

    def _walk(self, node: Node, entity: str, depth: int) -> Iterator[Unit]:
        """The units of a list, which may be an entity itself, or of an object."""
        if depth > _DEEP:
            return
        rows = [node] if node.is_object else _objects(node)
        fields = self._fields(rows)
        if node.is_object:
            yield from self._object(node, entity, fields, depth)
            return
        if not entity and self._is_entity(node):
            entity = self._name(node)
        if not any(isinstance(item, Text | Node) for item in node.items):
            yield from [_unclear(node, entity or self._name(node))] if node.items else ()
        labels = self._labels(rows, fields) if not entity else []
        for row, label in zip(rows, labels, strict=False):
            for unit in self._object(row, self._name(node, label), fields, depth + 1):
                unit.rows = True
                yield unit
        for item in node.items:
            if isinstance(item, Text):
                yield from self._string(item, entity)
            elif isinstance(item, Node) and _is_placed(item):
                yield self._placed(item, entity)
            elif isinstance(item, Node) and not item.is_object:
                yield from self._walk(item, entity if len(item.items) == 1 else "", depth + 1)
            elif isinstance(item, Node) and not labels:
                yield from self._object(item, entity, fields, depth + 1, rows[0].keys)

    def _is_entity(self, node: Node) -> bool:
        """Whether a list has the mentions of an entity: strings, or objects that name no other."""
        if any(isinstance(item, Text) or _is_placed(item) for item in node.items):
            return True
        rows = _objects(node)
        fields = self._fields(rows)
        is_flat = "mention" in fields and not any(map(_inner_lists, rows))
        is_flat = is_flat and "antecedent" not in fields and not self._labels(rows, fields)
        return is_flat and not self._has_lists(rows, fields)

    def _has_lists(self, rows: Sequence[Node], fields: Fields) -> bool:
        """Whether strings have several mentions, as in a table with a row for each entity."""
        cells = [v for row in rows if isinstance(v := row.get(fields["mention"]), Text)]
        several = [cell for cell in cells if len(split_items(str(cell), 0, self.key)) > 1]
        return role_of(fields["mention"]) == "mentions" or 2 * len(several) > max(len(cells), 1)

    def _labels(self, rows: Sequence[Node], fields: Fields) -> list[str]:
        """The entities that rows of mentions name; none where they are pairs, or name no entity."""
        key = fields.get("group") or fields.get("entity", "")
        labels = [fold_text(str(v)) for r in rows if isinstance(v := r.get(key), Text | float)]
        is_pair = "antecedent" in fields or "mention" not in fields or any(map(_inner_lists, rows))
        is_named = len(labels) == len(rows) and (len(set(labels)) < len(labels) or len(rows) == 1)
        return labels if is_named and not is_pair else []

    def _fields(self, rows: Sequence[Node]) -> Fields:
        """The field for each role: by its name, else by whether its strings stand in the text."""
        fields: Fields = {}
        standing: Counter[str] = Counter()
        for row in rows:
            for key, value in zip(row.keys, row.items, strict=True):
                role = role_of(key)
                fields.setdefault(role, key)
                if isinstance(value, Text) and role in ("", "entity", "group"):
                    standing[key] += 2 * self.key.stands(str(value)) + (role == "")
        best = max(standing, key=lambda key: standing[key], default="")
        best = best if standing[best] >= max(len(rows), 1) else ""
        mention = fields.get("mention") or fields.get("mentions") or best
        unnamed = [key for key in standing if key != mention]
        fields = {role: key for role, key in fields.items() if role and key != mention}
        if unnamed and not {"group", "entity"} & set(fields):
            fields["entity"] = unnamed[0]
        return fields | ({"mention": mention} if mention else {})

    # -------------------------------------------------------------- mentions

    def _string(self, text: Text, entity: str) -> list[Unit]:
        """A mention as a string, with a remark behind it or not."""
        unit = Unit(str(text), entity, text.where)
        if not text.complete:
            unit.state, unit.why = "lost", "cut off"
        elif not self.key.stands(str(text)):
            unit.text = str(text).strip(' *_`"“”„«»')
            match = re.fullmatch(r"(.+?)\s*([(（\[].*[)）\]])", unit.text, re.DOTALL)
            if match and self.key.stands(match[1]):
                unit.text = match[1]
                return heed(unit, match[2], self.key)
        return [unit]

    def _placed(self, item: Node, entity: str) -> Unit:
        """A string with numbers: its sentence, or where it begins and ends."""
        text = next(value for value in item.items if isinstance(value, Text))
        numbers = [int(value) for value in item.items if isinstance(value, float)]
        unit = self._string(text, entity)[0]
        if numbers:
            unit.sentence, unit.start = (None, numbers[0]) if numbers[1:] else (numbers[0], None)
        if not item.complete:
            unit.state, unit.why = "lost", "cut off"
        return unit

    def _object(
        self, node: Node, entity: str, fields: Fields, depth: int, first: Sequence[str] = ()
    ) -> Iterator[Unit]:
        """The units of an object: a mention, a pair, or entities with their lists."""
        text = node.get(fields.get("mention", ""))
        if (lists := _inner_lists(node)) or not isinstance(text, Text | Node):
            yield from self._entities(node, entity, lists, depth)
        elif isinstance(text, Node):
            for unit in self._walk(text, entity or self._name(node), depth + 1):
                yield self._with_fields(unit, node, fields)
        elif not entity and "antecedent" not in fields and self._has_lists([node], fields):
            for unit in split_items(str(text), text.where, self.key):
                unit.entity = self._name(node)
                yield unit
        elif not entity and not set(fields) - {"mention", "entity"}:
            yield from self._keyed(node)
        else:
            is_complete = node.complete or (list(first) == node.keys and None not in node.items)
            for unit in self._string(text, entity or self._name(node)):
                if not is_complete and not unit.state:
                    unit.state, unit.why = "lost", "cut off"
                yield self._with_fields(unit, node, fields)

    def _with_fields(self, unit: Unit, node: Node, fields: Fields) -> Unit:
        """A unit with what the fields of its object say of its place and antecedent."""
        numbers = [k for k, v in zip(node.keys, node.items, strict=True) if isinstance(v, float)]
        unknown = [key for key in numbers if not role_of(key)]
        if len(unknown) == 1 and not {"sentence", "start", "nth"} & set(fields):
            fields = {**fields, "sentence": unknown[0]}  # the only number
        for role in ("sentence", "nth", "start"):
            value = node.get(fields.get(role, ""))
            value = next(iter(value.items), None) if isinstance(value, Node) else value
            if digits := re.search(r"\d{1,9}", str(value)):
                setattr(unit, role, int(digits[0]))
        context = node.get(fields.get("context", ""))
        if isinstance(context, Text) and self.key.stands(str(context)):
            unit.contexts += (str(context),)
        if "antecedent" in fields:
            value = node.get(fields["antecedent"])
            inner = value if isinstance(value, Node) else Node(False, [value], [""])
            targets = (u for u in self._walk(inner, "-", 0) if u.text.lower() not in _NOBODY)
            unit.rows, unit.antecedent = True, next(targets, None)
        return unit

    def _entities(
        self, node: Node, entity: str, lists: Sequence[tuple[str, Node]], depth: int
    ) -> Iterator[Unit]:
        """The units of an object of lists, which are one entity if it has a label."""
        fields = list(zip(node.keys, node.items, strict=True))
        labels = [v for k, v in fields if isinstance(v, Text) and role_of(k) != "remark"]
        inner = [value for _, value in fields if isinstance(value, Node) and value.is_object]
        for value in inner:
            yield from self._walk(value, entity, depth + 1)
        if entity and not lists and not inner:
            yield _unclear(node, entity)
        for key, value in lists:
            role = role_of(key)
            is_entity = (labels or role == "mentions") and self._is_entity(value)
            name = entity or self._name(node) if is_entity else ""
            units = list(self._walk(value, name, depth + 1))
            listed = [fold_text(unit.text) for unit in units]
            for label in labels if is_entity and role not in ("mentions", "mention") else ():
                plain = fold_text(str(label))  # a label that the list leaves out is a mention
                if self.key.stands(str(label)) and not any(plain in text for text in listed):
                    units.insert(0, Unit(str(label), name, label.where))
                    break
            yield from units

    def _keyed(self, node: Node) -> Iterator[Unit]:
        """An object of strings: mentions by their names, or pairs."""
        for key, value in zip(node.keys, node.items, strict=True):
            where = value.where if isinstance(value, Text) else node.where
            units = split_items(str(value), where, self.key)
            standing = sum(self.key.stands(unit.text) for unit in units)
            if len(units) == standing == 1 and self.key.stands(key):
                units = [Unit(key, where=where, antecedent=units[0], rows=True)]
            is_named = len(units) > 1 or bool(units and units[0].antecedent)
            for unit in units if is_named and 2 * standing >= len(units) else ():
                unit.entity = self._name(node, key)
                yield unit


_NOBODY = ("", "none", "null", "-")


def _unclear(node: Node, entity: str) -> Unit:
    words = str([item for item in node.items if not isinstance(item, Node)])
    state, why = ("unclear", "numbers without words") if node.complete else ("lost", "cut off")
    return Unit(words, entity, node.where, state=state, why=why)


def _objects(node: Node) -> list[Node]:
    return [item for item in node.items if isinstance(item, Node) and item.is_object]


def _is_placed(item: object) -> bool:
    """Whether it is a string with numbers: `["Ada", 0, 3]`."""
    if not isinstance(item, Node) or item.is_object:
        return False
    texts = [value for value in item.items if isinstance(value, Text | Node)]
    return len(texts) == 1 < len(item.items) and isinstance(texts[0], Text)


def _inner_lists(node: Node) -> list[tuple[str, Node]]:
    """The fields of an object that are lists of strings, objects or lists."""
    return [
        (key, value)
        for key, value in zip(node.keys, node.items, strict=True)
        if isinstance(value, Node) and not value.is_object
        and any(isinstance(item, Text | Node) for item in value.items)
    ]  # fmt: skip


def table_nodes(tables: Sequence[list[list[Text]]]) -> list[Node]:
    """Tables as lists of objects; without a heading that says anything, fields have numbers."""
    roots = []
    for rows in tables:
        keys = [cell.strip(" *") for cell in rows[0]]
        has_heading = any(
            role_of(key) in ("mention", "mentions", "group", "entity") for key in keys
        )
        keys = keys if has_heading else [f"column {number}" for number in range(len(keys))]
        objects = [Node(True, list(row), keys, True, row[0].where) for row in rows[has_heading:]]
        roots.append(Node(False, list(objects), [""] * len(objects), True))
    return roots
