"""Trees as units: which strings are mentions of which entity, and which are labels or remarks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from corefeval.formats.answers.items import (
    ARROW,
    QUOTED,
    VERB,
    Text,
    Unit,
    heed,
    marked_items,
    mask_remarks,
    place_named,
    split_items,
)
from corefeval.formats.answers.lookup import KeyText
from corefeval.formats.answers.text import fold_text
from corefeval.formats.answers.trees import Node, parse_json, parse_lines, parse_tables, parse_xml

# What labels say, by how they begin, in some languages; the first that fits.
_ROLES = {
    "antecedent": r"antec[eé]d|antezedens|bezug|refersto|referent|corefer(?!ence)|target|linkedto"
    r"|verwijst|先行",
    "context": r"context|snippet|quote|excerpt|kontext|contexto|上下文|in$",
    "sentence": r"sent(?!e?id)|sentid|line|zin|satz|zeile|regel|oraci|frase|phrase|ligne|riga"
    r"|предлож|строк|句|行|s$|o$",
    "nth": r"nth|occurrence|instance|ocurrencia|vorkommen",
    "start": r"start|begin|offset|position|char|tokens?$|indices",
    "mentions": r"(?:all|alle)?mention(?:s|es|en)|menciones|menzioni|erwähnungen|vermeldingen|nennungen"
    r"|упоминания|items|members|mitglieder|spans|expressions|occurrences|called|strings|chain$",
    "mention": r"mention|text|token|surface|expression|span|string|phrase|anaph|anáf|pronoun$|form"
    r"|vermelding|menci|menzion|erwähnung|ausdruck|expresi|упоминан|提及|文本|word",
    "group": r"cluster|entity|entidad|entit|chain|cadena|kette|group|coref|сущность|实体|共指",
    "entity": r"label|set|eid|head|represent|canonical|name|nombre|id$|who|what|number|ref$",
    "remark": r"type|note|comment|reason|gender|count|confidence|explan|role|class|end|stop",
}
_ROLE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _ROLES.items()))
_ALONE = re.compile(  # labels of what is in no chain
    r"singleton|einzel|unresolved|excluded|left out|only once|mentioned once|keine kette"
    r"|\b(?:not?|non)\b (?:chain|coref|coréf|antecedent|resolved|annotated|linked|included)", re.I
)
_BOLD = re.compile(r"\*\*[^*\"“„«]+\*\*")
_EQUAL = re.compile(r"(?P<label>[^\"“„«=]{1,60}?)\s+&?=\s+(?P<items>[^=]*)")
_WORD = re.compile(r"\w+")
_SEMI = re.compile(r"\s*[;；]\s*")
_SEPARATED = re.compile(rf"[;；]|{ARROW.pattern.strip()}|\s[/|=·+]\s")
_MOST, _LABEL = 40, 8  # words of a mention in a link, and of a label
_DEEP = 50  # lists in lists
_NOBODY = ("", "none", "null", "-", "–", "—")
Fields = dict[str, str]  # the label of the field for each role


def role_of(label: str) -> str:
    """What a field says: `mention`, `group`, …, or nothing where its name is unknown."""
    match = _ROLE.match(re.sub(r"[\W_]", "", label).lower())
    return (match.lastgroup or "") if match else ""


def _is_heading(label: str) -> bool:
    return role_of(label) in ("mention", "mentions", "group", "entity", "sentence")


TREES: Mapping[str, Callable[[str], Sequence[Node]]] = {
    "json": parse_json,
    "elements": parse_xml,
    "table": lambda text: parse_tables(text, _is_heading),
    "lines": lambda text: list(parse_lines(text)),
}


def read_units(roots: Sequence[Node], key: KeyText) -> list[list[Unit]]:
    """The units of each tree of an answer; entities are numbered in their order."""
    if len(roots) > 1 and all(node.is_record for node in roots):  # without a list around them
        roots = [Node(items=list(roots))]
    reader = _Reader(key, roots)
    blocks = [list(reader.walk(root, "", None, 0)) for root in roots]
    numbers: dict[str, str] = {}
    for unit in (unit for block in blocks for unit in block):
        entity = reader.joined.get(unit.entity, unit.entity)
        unit.entity = numbers.setdefault(entity, str(len(numbers)))
    return blocks


def _every(nodes: Sequence[Node]) -> Iterator[Node]:
    """All parts of trees, in their order."""
    stack = [*reversed(nodes)]
    while stack:
        yield (node := stack.pop())
        stack += reversed(node.items)


class _Reader:
    """Reads trees as units."""

    def __init__(self, key: KeyText, roots: Sequence[Node]) -> None:
        self.key = key
        self.labels: dict[str, str] = {}  # the entities of labels
        self.joined: dict[str, str] = {}  # entities that are one with another
        self.listed: dict[int, list[Unit]] = {}  # the mentions of lines
        nodes = list(_every(roots))
        lines = [n for n in nodes if isinstance(n.value, Text) and n.value.kind != "string"]
        # Whether sentences are parts of entities, or entities parts of sentences.
        self.has_places = 1 < sum(any(map(_is_place, node.items)) for node in nodes)
        texts = [str(node.value) for node in lines]
        plain = [text for node, text in zip(lines, texts, strict=True) if not node.label]
        self.has_chains = any(len(_parts(text, ARROW)) > 2 for text in plain)
        equal = [match for text in texts if (match := _EQUAL.fullmatch(mask_remarks(text)))]
        self.has_equal_lists = any(re.search("[,;]", match["items"]) for match in equal)
        self.has_lists = any(len(self._items(node)) > 1 for node in lines if node.label)

    def walk(self, node: Node, entity: str, sentence: int | None, depth: int) -> Iterator[Unit]:
        """The units of a part of an answer, by what its label says: a place, a role, a name."""
        if depth > _DEEP:
            return
        place, role = place_named(node.label), role_of(node.label)
        if place is not None:
            sentence = place
        elif self._is_mention(node, entity):
            unit = Unit(str(node.label), entity, node.where, sentence)
            yield from heed(unit, " ".join(node.texts), self.key)
            return
        elif (node.label or node.value) and (role not in ("mentions", "mention") or not entity):
            entity = self._name(node, sentence) if self._has_mentions(node) else ""
        if node.is_record:
            yield from self._record(node, entity, self._fields([node]), sentence, depth)
            return
        if isinstance(node.value, Text) and not (_is_place(node) and node.items):
            yield from self._text(node, entity, sentence, False)
        yield from self._list(node, entity, sentence, depth)

    def _name(self, node: Node, sentence: int | None = None, label: str = "") -> str:
        """The entity of a part of an answer; under sentences, equal labels are one entity."""
        label = fold_text(label or node.label)
        return label if sentence is not None else f"{node.where} {label}"

    def _has_mentions(self, node: Node) -> bool:
        """Whether a part of an answer has mentions itself, and not only parts with other names."""
        if isinstance(node.value, Text) or self._is_entity(node):
            return True
        labels = [item.label for item in node.items if item.label]
        has_places = self.has_places and any(map(_is_place, node.items))
        return has_places or any(role_of(label) in ("mentions", "mention") for label in labels)

    def _is_mention(self, node: Node, entity: str) -> bool:
        """Whether a line is a mention of an entity, with remarks in the lines below it."""
        if not entity or node.value or node.is_record or not self.key.stands(node.label):
            return False
        remarks = [str(item.value) for item in node.items if _is_line(item)]
        are_remarks = not any(self.key.stands(remark.strip('"“”„«»')) for remark in remarks)
        return are_remarks and len(remarks) == len(node.items)

    # -------------------------------------------------------------- lists

    def _list(self, node: Node, entity: str, sentence: int | None, depth: int) -> Iterator[Unit]:
        """The units of a list, which may be an entity itself."""
        rows = [item for item in node.items if item.is_record and not item.label]
        fields = self._fields(rows)
        if not entity and not any(map(_is_line, node.items)) and self._is_entity(node):
            entity = self._name(node)
        if node.numbers and not any(isinstance(i.value, Text) or i.items for i in node.items):
            yield _unclear(node, entity or self._name(node))
        if columns := self._entity_columns(rows, fields):
            yield from self._grid(node, columns, fields)
            return
        labels = self._labels(rows, fields) if not entity else []
        for row, label in zip(rows, labels, strict=False):
            for unit in self._record(
                row, self._name(node, label=label), fields, sentence, depth + 1
            ):
                unit.rows = True
                yield unit
        lists = [i for i in node.items if _is_line(i) and len(self._items(i)) > 1]
        is_own = len(lists) > 1 or not depth
        for item in node.items:
            if _is_line(item):
                yield from self._text(item, entity, sentence, is_own)
            elif isinstance(item.value, Text) and not item.label and not item.items:
                yield from self._string(item.value, entity, sentence)
            elif _is_placed(item):
                yield self._placed(item, entity)
            elif item.is_record and not item.label:
                if not labels:
                    first = rows[0]
                    yield from self._record(item, entity, fields, sentence, depth + 1, first)
            elif item.label or item.items:
                inner = entity if item.label or item.value or len(item.items) == 1 else ""
                yield from self.walk(item, inner, sentence, depth + 1)

    def _entity_columns(self, rows: Sequence[Node], fields: Fields) -> list[str]:
        """The columns of a table that are entities, or places of the entities in its rows."""
        if role_of(fields.get("mention", "")) or "antecedent" in fields:
            return []
        cells = [cell for row in rows for cell in row.items if isinstance(cell.value, Text)]
        cells = [cell for cell in cells if not role_of(cell.label)]
        blank = {cell.label for cell in cells if cell.value in _NOBODY}
        lists = [(c.label, split_items(c.value, 0, self.key)) for c in cells if c.value not in _NOBODY]
        wrong = {label for label, units in lists if not any(self.key.stands(u.text) for u in units)}
        columns = [label for label in dict.fromkeys(cell.label for cell in cells) if label not in wrong]
        return columns if len(columns) > 1 and blank & set(columns) else []

    def _grid(self, node: Node, columns: Sequence[str], fields: Fields) -> Iterator[Unit]:
        """The units of a table of entities by sentences."""
        for row in node.items:
            place = row.get(fields.get("sentence", ""))
            digits = re.search(r"\d{1,6}", str(place.value)) if place else None
            for cell in row.items:
                if cell.label in columns and cell.value not in _NOBODY:
                    sentence, name = place_named(cell.label), str(row.items[0].value)
                    if sentence is None:
                        sentence, name = int(digits[0]) if digits else None, cell.label
                    units = split_items(str(cell.value), cell.where, self.key)
                    yield from _named(units, self._name(node, label=name), sentence)

    def _is_entity(self, node: Node) -> bool:
        """Whether a list has the mentions of an entity: strings, or objects that name no other."""
        items = [item for item in node.items if not item.label]
        if any(isinstance(item.value, Text) or _is_placed(item) for item in items):
            return True
        rows = [item for item in items if item.is_record]
        fields = self._fields(rows)
        is_flat = "mention" in fields and not any(map(_inner_lists, rows))
        is_flat = is_flat and "antecedent" not in fields and not self._labels(rows, fields)
        return is_flat and not self._has_lists(rows, fields)

    def _has_lists(self, rows: Sequence[Node], fields: Fields) -> bool:
        """Whether strings have several mentions, as in a table with a row for each entity."""
        cells = [v for row in rows if (v := _text_at(row, fields["mention"])) is not None]
        several = [cell for cell in cells if len(split_items(str(cell), 0, self.key)) > 1]
        return role_of(fields["mention"]) == "mentions" or 2 * len(several) > max(len(cells), 1)

    def _labels(self, rows: Sequence[Node], fields: Fields) -> list[str]:
        """The entities that rows of mentions name; none where they are pairs, or name no entity."""
        label = fields.get("group") or fields.get("entity", "")
        cells = [cell for row in rows if (cell := row.get(label)) and cell.value is not None]
        labels = [fold_text(str(cell.value)) for cell in cells]
        is_pair = "antecedent" in fields or "mention" not in fields or any(map(_inner_lists, rows))
        is_named = len(labels) == len(rows) and (len(set(labels)) < len(labels) or len(rows) == 1)
        return labels if is_named and not is_pair else []

    def _fields(self, rows: Sequence[Node]) -> Fields:
        """The field for each role: by its name, else by whether its strings stand in the text."""
        fields: Fields = {}
        standing: Counter[str] = Counter()
        for field in (field for row in rows for field in row.items):
            role = role_of(field.label)
            fields.setdefault(role, field.label)
            if isinstance(field.value, Text) and role in ("", "entity", "group"):
                standing[field.label] += 2 * self.key.stands(field.value) + (role == "")
        best = max(standing, key=lambda label: standing[label], default="")
        best = best if standing[best] >= max(len(rows), 1) else ""
        mention = fields.get("mention") or fields.get("mentions") or best
        unnamed = [label for label in standing if label != mention]
        fields = {role: label for role, label in fields.items() if role and label != mention}
        if unnamed and not {"group", "entity"} & set(fields):
            fields["entity"] = unnamed[0]
        return fields | ({"mention": mention} if mention else {})

    # -------------------------------------------------------------- records

    def _record(
        self, node: Node, entity: str, fields: Fields, sentence: int | None, depth: int,
        first: Node | None = None,
    ) -> Iterator[Unit]:  # fmt: skip
        """The units of a record: a mention, a pair, or entities with their lists."""
        mention = node.get(fields.get("mention", ""))
        text = mention.value if mention else None
        if _inner_lists(node) or mention is None or not (isinstance(text, Text) or mention.items):
            yield from self._entities(node, entity, fields, sentence, depth)
        elif not isinstance(text, Text):
            inner = Node(items=mention.items, is_record=mention.is_record, where=mention.where)
            for unit in self.walk(inner, entity or self._name(node), sentence, depth + 1):
                yield self._with_fields(unit, node, fields)
        elif not entity and "antecedent" not in fields and self._has_lists([node], fields):
            for unit in split_items(text, text.where, self.key):
                unit.entity = self._name(node)
                yield unit
        elif not entity and not set(fields) - {"mention", "entity"}:
            yield from self._pairs(node)
        else:
            labels = [field.label for field in node.items]
            is_complete = node.complete or (
                first is not None and labels == [field.label for field in first.items]
                and all(field.value is not None for field in node.items)
            )  # fmt: skip
            for unit in self._string(text, entity or self._name(node), sentence):
                if not is_complete and not unit.state:
                    unit.state, unit.why = "lost", "cut off"
                yield self._with_fields(unit, node, fields)
            for field in node.items:
                if isinstance(field.value, Text) and field is not mention:
                    where = field.value.where
                    yield Unit(field.value, unit.entity, where, state="aside", why="a field")

    def _with_fields(self, unit: Unit, node: Node, fields: Fields) -> Unit:
        """A unit with what the fields of its record say of its place and antecedent."""
        unknown = [
            f.label for f in node.items if isinstance(f.value, float) and not role_of(f.label)
        ]
        if len(unknown) == 1 and not {"sentence", "start", "nth"} & set(fields):
            fields = {**fields, "sentence": unknown[0]}  # the only number
        for role in ("sentence", "nth", "start"):
            field = node.get(fields.get(role, ""))
            value = field and (field.items[0].value if field.items else field.value)
            if digits := re.search(r"\d{1,9}", str(value)):
                setattr(unit, role, int(digits[0]))
        context = _text_at(node, fields.get("context", ""))
        if context is not None and self.key.stands(context):
            unit.contexts += (str(context),)
        if target := node.get(fields.get("antecedent", "")):
            inner = Node(
                items=target.items or [Node(value=target.value)], is_record=target.is_record
            )
            targets = (u for u in self.walk(inner, "-", None, 0) if u.text.lower() not in _NOBODY)
            unit.rows, unit.antecedent = True, next(targets, None)
        return unit

    def _entities(
        self, node: Node, entity: str, fields: Fields, sentence: int | None, depth: int
    ) -> Iterator[Unit]:
        """The units of a record of lists, which are one entity if it has a label."""
        lists = _inner_lists(node)
        labels = [
            field.value
            for field in node.items
            if (isinstance(field.value, Text) and field.value.kind == "string")
            or (field.value is not None and role_of(field.label) == "entity")
            if role_of(field.label) != "remark"
        ]
        if entity and not lists and not node.texts and not any(item.items for item in node.items):
            yield _unclear(node, entity)
        for field in node.items:
            role = role_of(field.label)
            if field in lists and (labels or role == "mentions") and self._is_entity(field):
                name = entity or self._name(node)
                units = list(self._list(field, name, sentence, depth + 1))
                listed = [fold_text(unit.text) for unit in units]
                for label in labels if role not in ("mentions", "mention") else ():
                    plain = fold_text(str(label))  # a label that the list leaves out is a mention
                    if (
                        isinstance(label, Text)
                        and self.key.stands(label)
                        and not any(plain in text for text in listed)
                    ):
                        units.insert(0, Unit(str(label), name, label.where))
                        break
                yield from units
            elif field.items or not lists:
                yield from self.walk(field, entity, sentence, depth + 1)

    def _pairs(self, node: Node) -> Iterator[Unit]:
        """A record of strings: mentions by their names, or pairs."""
        for field in node.items:
            units = split_items(str(field.value), field.where, self.key)
            standing = sum(self.key.stands(unit.text) for unit in units)
            if len(units) == standing == 1 and self.key.stands(field.label):
                units = [Unit(field.label, where=field.where, antecedent=units[0], rows=True)]
            is_named = len(units) > 1 or bool(units and units[0].antecedent)
            for unit in units if is_named and 2 * standing >= len(units) else ():
                unit.entity = self._name(node, label=field.label)
                yield unit

    # -------------------------------------------------------------- strings

    def _string(self, text: Text, entity: str, sentence: int | None) -> list[Unit]:
        """A mention as a string, with a remark behind it or not."""
        unit = Unit(str(text), entity, text.where, sentence)
        if not text.complete:
            unit.state, unit.why = "lost", "cut off"
        elif not self.key.stands(text):
            unit.text = text.strip(' *_`"“”„«»')
            match = re.fullmatch(r"(.+?)\s*([(（\[].*[)）\]])", unit.text, re.DOTALL)
            if match and self.key.stands(match[1]):
                unit.text = match[1]
                return heed(unit, match[2], self.key)
        return [unit]

    def _placed(self, item: Node, entity: str) -> Unit:
        """A string with numbers: its sentence, or where it begins and ends."""
        unit, numbers = self._string(item.texts[0], entity, None)[0], item.numbers
        if numbers:
            unit.sentence, unit.start = (None, numbers[0]) if numbers[1:] else (numbers[0], None)
        if not item.complete:
            unit.state, unit.why = "lost", "cut off"
        return unit

    # -------------------------------------------------------------- lines

    def _text(self, node: Node, entity: str, sentence: int | None, is_own: bool) -> Iterator[Unit]:
        """The units of a line; `is_own` says that lists are entities here."""
        text = node.value
        assert isinstance(text, Text)
        if text.kind == "string":
            yield from self._string(text, entity or self._name(node), sentence)
            return
        link = None
        if not node.label or _is_place(node):
            line = Text(text, text.where, kind="bullet") if node.label else text
            link = self._link(line, sentence)
        if link is not None:
            yield from link
            return
        marked = marked_items(text, text.where, self.key) if entity else []
        items = marked or self._items(node)
        names = [self.labels.get(n.strip(), "") for n in re.split("[,;]", text.strip("{}[] "))]
        if all(names) and not node.label:  # labels of mentions, which are one entity
            self.joined |= dict.fromkeys(names, names[0])
        elif not entity and sentence is not None and not node.items:  # remarks say the entity
            for unit in items:
                label = fold_text(unit.remark)
                state = "" if label else "unclear"
                yield Unit(unit.text, label, unit.where, sentence, state=state, rows=True)
        elif node.label or (len(items) > 1 and is_own):
            self.labels[node.label] = name = entity if node.label else self._name(node)
            for unit in items if _ALONE.search(node.label) else ():
                unit.state, unit.why = "aside", "in no chain"
            yield from _named(items, name, sentence)
        elif (
            entity
            and items
            and (text.kind == "bullet" or items[1:] or self.key.stands(items[0].text))
        ):
            yield from _named(items, entity, sentence)

    def _items(self, node: Node) -> list[Unit]:
        """The mentions that a line lists; none where it is prose."""
        assert isinstance(node.value, Text)
        if node.value.where not in self.listed:
            self.listed[node.value.where] = self._find_items(node.value, bool(node.label))
        return self.listed[node.value.where]

    def _find_items(self, line: Text, has_label: bool) -> list[Unit]:
        text, shift, is_bullet = str(line), 0, line.kind == "bullet"
        match = _EQUAL.fullmatch(mask_remarks(text)) if self.has_equal_lists else None
        if match and not has_label:
            shift = match.start("items")
            text = text[shift:]
        units = split_items(text, line.where + shift, self.key)
        quotes = QUOTED.findall(mask_remarks(text))
        if quotes:
            bare = re.sub(r"[–—-]\s[^\"“„«]*|_\{?\d+", " ", mask_remarks(text, quotes=True))
            inside = sum(len(_WORD.findall("".join(groups))) for groups in quotes)
            most = max(inside, 2) if is_bullet or has_label else 0
            if len(_BOLD.findall(text)) == 1 and all(self.key.stands(u.text) for u in units):
                most = _MOST if len(units) > 1 else most  # prose about an entity in bold
            return units if len(_WORD.findall(bare)) <= most else []
        standing = sum(self.key.stands(unit.text) for unit in units)
        is_list = 2 * standing >= len(units) or (is_bullet and has_label)
        if not (is_bullet or has_label or shift) and not _SEPARATED.search(text):
            is_list = len(units) == 1  # prose has commas, too
        return units if is_list else []

    def _link(self, line: Text, sentence: int | None) -> list[Unit] | None:
        """A pair of a mention and what it refers to, or None where the line is no link."""
        if self.has_lists and line.kind != "bullet":  # a remark about the lists
            return None
        text = str(line)
        pairs = [Text(text[a:b], line.where + a, kind="bullet") for a, b in _parts(text, _SEMI)]
        if len(pairs) > 1 and all(len(_parts(pair, ARROW)) == 2 for pair in pairs):
            return [unit for pair in pairs for unit in self._link(pair, sentence) or ()]
        parts = _parts(text, VERB)
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
        whole = to[0].text if len(to) == 1 else target
        if not QUOTED.search(target) and not self.key.stands(whole):
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


def _is_place(node: Node) -> bool:
    return place_named(node.label) is not None


def _is_line(node: Node) -> bool:
    is_text = isinstance(node.value, Text) and node.value.kind != "string"
    return is_text and not node.label and not node.items


def _text_at(node: Node, label: str) -> Text | None:
    field = node.get(label)
    return field.value if field and isinstance(field.value, Text) else None


def _unclear(node: Node, entity: str) -> Unit:
    words = str([item.value for item in node.items if not item.items])
    state, why = ("unclear", "numbers without words") if node.complete else ("lost", "cut off")
    return Unit(words, entity, node.where, state=state, why=why)


def _is_placed(node: Node) -> bool:
    """Whether it is a string with numbers: `["Ada", 0, 3]`."""
    is_flat = not node.is_record and not any(item.items for item in node.items)
    return is_flat and len(node.texts) == 1 < len(node.items)


def _inner_lists(node: Node) -> list[Node]:
    """The fields of a record that are lists of strings, objects or lists."""
    return [
        field
        for field in node.items
        if not field.is_record and any(isinstance(i.value, Text) or i.items for i in field.items)
    ]


def _parts(text: str, separator: re.Pattern[str]) -> list[tuple[int, int]]:
    """What stands between separators that are neither quoted nor in remarks; never empty."""
    edges = [
        0,
        *(place for m in separator.finditer(mask_remarks(text, quotes=True)) for place in m.span()),
        len(text),
    ]
    parts = list(zip(edges[::2], edges[1::2], strict=True))
    return parts if all(text[low:high].strip() for low, high in parts) else []


def _named(units: list[Unit], entity: str, sentence: int | None) -> Iterator[Unit]:
    for unit in units:
        unit.entity = entity
        unit.sentence = sentence if unit.sentence is None else unit.sentence
        yield unit
