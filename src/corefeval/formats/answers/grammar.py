"""Trees as units: which strings are mentions of which entity, and which are labels or remarks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from corefeval.formats.answers.items import (
    ARROW,
    ASKED,
    QUOTED,
    VERB,
    Text,
    heed,
    marked_items,
    mask_remarks,
    place_named,
    split_items,
    words_of,
)
from corefeval.formats.answers.lookup import KeyDocument
from corefeval.formats.answers.shapes import (
    Scope,
    every,
    has_text,
    inner_lists,
    is_line,
    is_place,
    lists_mentions,
    make_unclear,
    name_units,
    number_at,
    read_pairs,
    role_of,
    split_parts,
    text_at,
)
from corefeval.formats.answers.text import fold_text
from corefeval.formats.answers.trees import Node
from corefeval.formats.answers.units import Unit

_ALONE = re.compile(  # labels of what is in no chain
    r"singleton|einzel|unresolved|excluded|left out|only once|mentioned once|keine kette"
    r"|\b(?:not?|non)\b (?:chain|coref|coréf|antecedent|resolved|annotated|linked|included)",
    re.I,
)
_BOLD = re.compile(r"\*\*[^*\"“„«]+\*\*")
_EQUAL = re.compile(
    r"(?P<label>[^\"“„«=]{1,60}?)\s+(?:&?=|[←→⇒]|[-=]+>|<[-=]+)\s+(?P<items>[^=←→⇒]*)"
)
_SAME = re.compile(
    r"(?:one and )?(?:the )?same\b|d(?:as|ie|er)selbe|l[ea] même|(?:el|la) mism", re.I
)
_WORD = re.compile(r"\w+")
_SEMI = re.compile(r"\s*[;；]\s*")
_SEPARATED = re.compile(rf"[;；]|{ARROW.pattern.strip()}|\s[/|=·+]\s")
_MOST, _LABEL = 40, 8  # words of a mention in a link, and of a label
_DEEP = 50  # lists in lists
_NOBODY = ("", "none", "null", "-", "–", "—")
Fields = dict[str, str]  # the label of the field for each role


def read_units(roots: Sequence[Node], key: KeyDocument) -> list[list[Unit]]:
    """The units of each tree of an answer; entities are numbered in their order."""
    if len(roots) > 1 and all(node.is_record for node in roots):  # without a list around them
        roots = [Node(items=list(roots))]
    roots = read_pairs(roots)
    reader = _Reader(key, roots)
    blocks = [list(reader.walk(root, Scope())) for root in roots]
    numbers: dict[str, str] = {}
    for unit in (unit for block in blocks for unit in block):
        entity = reader.joined.get(unit.entity, unit.entity)
        unit.entity = numbers.setdefault(entity, str(len(numbers)))
    return blocks


class _Reader:
    """Reads trees as units."""

    def __init__(self, key: KeyDocument, roots: Sequence[Node]) -> None:
        self.key = key
        self.labels: dict[str, str] = {}  # the entities of labels
        self.joined: dict[str, str] = {}  # entities that are one with another
        self.listed: dict[int, list[Unit]] = {}  # the mentions of lines
        nodes = list(every(roots))
        # Whether sentences are parts of entities, or entities parts of sentences.
        self.has_places = sum(any(map(is_place, node.items)) for node in nodes) > 1
        lines = [n for n in nodes if isinstance(n.value, Text) and n.value.is_line]
        texts = [str(node.value) for node in lines]
        plain = [str(node.value) for node in lines if not node.label]
        self.has_chains = any(len(split_parts(text, ARROW)) > 2 for text in plain)
        equal = [match for text in texts if (match := _EQUAL.fullmatch(mask_remarks(text)))]
        lists = [match for match in equal if re.search("[,;]", match["items"])]
        self.has_equal_lists = 2 * len(lists) > len(equal)
        self.has_lists = any(len(self._items(node)) > 1 for node in lines if node.label)

    def walk(self, node: Node, scope: Scope) -> Iterator[Unit]:
        """The units of a part of an answer, by what its label says: a place, a role, a name."""
        entity, sentence, depth = scope
        place = place_named(node.label)
        if place is not None:
            sentence = place
        elif entity and self._is_mention(node):
            unit = Unit(str(node.label), entity, node.where, sentence)
            yield from heed(unit, " ".join([str(node.value or ""), *node.texts]), self.key)
            return
        elif (node.label or node.value) and not (entity and lists_mentions(node)):
            entity = self._name(node, scope) if self._is_entity(node) else ""
        scope = Scope(entity, sentence, depth + 1)
        if depth > _DEEP:
            return
        if node.is_record:
            yield from self._record(node, scope, self._fields([node]))
            return
        if isinstance(node.value, Text) and (place is None or not node.items):
            yield from self._text(node, scope)
        yield from self._list(node, scope)

    def _name(self, node: Node, scope: Scope) -> str:
        """The entity of a part of an answer; under sentences, equal labels are one entity."""
        label = fold_text(node.label)
        is_global = label and scope.sentence is not None
        return label if is_global else f"{(node.label or node).where} {label}"

    def _is_mention(self, node: Node) -> bool:
        """Whether a label is a mention, with remarks in the lines below it, or a quoted context."""
        if node.is_record or not self.key.stands(node.label):
            return False
        if node.value:
            quotes = [words_of(match) for match in QUOTED.finditer(str(node.value))]
            words = len(node.label.split()) + 2
            return len(quotes) == 1 and node.label in quotes[0] and len(quotes[0].split()) >= words
        remarks = [str(item.value) for item in node.items if is_line(item)]
        are_remarks = not any(self.key.stands(remark.strip('"“”„«»')) for remark in remarks)
        return are_remarks and len(remarks) == len(node.items)

    def _is_entity(self, node: Node) -> bool:
        """Whether a part of an answer has mentions itself, and not only parts with other names."""
        rows = [item for item in node.items if item.is_record and not item.label]
        if isinstance(node.value, Text) or any(map(has_text, node.items)):
            return True
        if any(map(lists_mentions, node.items)):
            return True
        if any(item.value and self._is_mention(item) for item in node.items if item.label):
            return True
        if self.has_places and any(map(is_place, node.items)):
            return True
        fields = self._fields(rows)
        is_flat = "mention" in fields and not any(map(inner_lists, rows))
        is_flat = is_flat and "antecedent" not in fields and not self._labels(rows, fields)
        return is_flat and not self._has_lists(rows, fields)

    # -------------------------------------------------------------- lists

    def _list(self, node: Node, scope: Scope) -> Iterator[Unit]:
        """The units of a list, which may be an entity itself."""
        rows = [item for item in node.items if item.is_record and not item.label]
        lines = [item for item in node.items if is_line(item)]
        fields = self._fields(rows)
        if not scope.entity and not lines and self._is_entity(node):
            scope = scope._replace(entity=self._name(node, scope))
        if node.numbers and not any(isinstance(i.value, Text) or i.items for i in node.items):
            yield make_unclear(node, scope.entity or f"{node.where}")
        labels = self._labels(rows, fields) if not scope.entity else []
        for row, label in zip(rows, labels, strict=False):
            name = label if scope.sentence is not None else f"{node.where} {label}"
            inner = scope._replace(entity=name)
            for unit in self._record(row, inner, fields):
                unit.rows = True
                yield unit
        is_own = scope.depth == 1 or sum(len(self._items(line)) > 1 for line in lines) > 1
        for item in node.items:
            if item.is_record and not item.label:
                yield from self._record(item, scope, fields) if not labels else ()
            elif is_line(item):
                yield from self._text(item, scope, is_own=is_own)
            elif has_text(item):
                yield from self._string(item, scope)
            elif item.label or item.value or item.items:
                is_inner = item.label or item.value or len(item.items) == 1
                yield from self.walk(item, scope if is_inner else scope._replace(entity=""))

    def _has_lists(self, rows: Sequence[Node], fields: Fields) -> bool:
        """Whether strings have several mentions, as in a table with a row for each entity."""
        cells = [v for row in rows if (v := text_at(row, fields["mention"])) is not None]
        several = [cell for cell in cells if len(split_items(str(cell), 0, self.key)) > 1]
        return role_of(fields["mention"]) == "mentions" or 2 * len(several) > max(len(cells), 1)

    def _labels(self, rows: Sequence[Node], fields: Fields) -> list[str]:
        """The entities that rows of mentions name; none where they are pairs, or name no entity."""
        label = fields.get("group") or fields.get("entity", "")
        cells = [cell for row in rows if (cell := row.get(label)) and cell.value is not None]
        labels = [fold_text(str(cell.value)) for cell in cells]
        is_pair = "antecedent" in fields or "mention" not in fields or any(map(inner_lists, rows))
        is_named = len(labels) == len(rows) and (
            "group" in fields or len(set(labels)) < len(labels) or len(rows) == 1
        )
        return labels if is_named and not is_pair and not self._has_lists(rows, fields) else []

    def _fields(self, rows: Sequence[Node]) -> Fields:
        """The field for each role: by its name, else by whether its strings stand in the text."""
        fields: Fields = {}
        cells = defaultdict[str, list[Text]](list)
        for field in (field for row in rows for field in row.items):
            role = role_of(field.label)
            fields.setdefault(role, field.label)
            if isinstance(field.value, Text) and role in ("", "entity", "group"):
                cells[field.label].append(field.value)
        standing = {
            label: sum(2 * self.key.stands(text) + (not role_of(label)) for text in texts)
            for label, texts in cells.items()
        }
        best = max(standing, key=lambda label: standing[label], default="")
        if not best or standing[best] < max(len(rows), 1) or self._is_grid(cells):
            best = ""
        mention = fields.get("mention") or fields.get("mentions") or best
        fields = {role: label for role, label in fields.items() if role and label != mention}
        return fields | ({"mention": mention} if mention else {})

    def _is_grid(self, cells: Mapping[str, Sequence[Text]]) -> bool:
        """Whether columns are entities, or places of the entities in the rows of a table."""
        columns = [
            texts
            for label, texts in cells.items()
            if not role_of(label) and all(map(self._is_cell, texts))
        ]
        return len(columns) > 1 and any(text in _NOBODY for texts in columns for text in texts)

    def _is_cell(self, text: Text) -> bool:
        units = split_items(text, 0, self.key)
        return text in _NOBODY or any(self.key.stands(unit.text) for unit in units)

    # -------------------------------------------------------------- records

    def _record(self, node: Node, scope: Scope, fields: Fields) -> Iterator[Unit]:
        """The units of a record: a mention, a pair, or entities with their lists."""
        mention = node.get(fields.get("mention", ""))
        inner = scope if scope.entity else scope._replace(entity=self._name(node, scope))
        if mention is None or inner_lists(node) or not (mention.value or mention.items):
            yield from self._entities(node, scope, fields)
        elif not isinstance(mention.value, Text):
            bare = replace(mention, label=Text())
            for unit in self.walk(bare, inner):
                yield self._with_fields(unit, node, fields)
        elif scope is not inner and "antecedent" not in fields and self._has_lists([node], fields):
            yield from name_units(split_items(mention.value, mention.where, self.key), inner)
        elif scope is not inner and not set(fields) - {"mention", "entity"}:
            yield from self._entities(node, scope, fields)
        else:
            for unit in self._string(mention, inner):
                if not node.complete and not unit.state:
                    unit.state, unit.why = "lost", "cut off"
                yield self._with_fields(unit, node, fields)
            for field in node.items:
                if isinstance(field.value, Text) and field is not mention:
                    yield Unit(field.value, unit.entity, field.where, state="aside", why="a field")

    def _with_fields(self, unit: Unit, node: Node, fields: Fields) -> Unit:
        """A unit with what the fields of its record say of its place and antecedent."""
        numbers = [field for field in node.items if isinstance(field.value, float)]
        unknown = [field.label for field in numbers if not role_of(field.label)]
        if len(unknown) == 1 and not {"sentence", "start", "nth"} & set(fields):
            fields = {**fields, "sentence": unknown[0]}  # the only number
        for role in ("sentence", "nth", "start"):
            number = number_at(node, fields.get(role, ""))
            if number is not None:
                setattr(unit, role, number)
        context = text_at(node, fields.get("context", ""))
        if context is not None and self.key.stands(context):
            unit.contexts += (str(context),)
        if target := node.get(fields.get("antecedent", "")):
            bare = replace(target, label=Text())
            inner = bare if bare.items else Node(items=[bare])
            targets = (u for u in self.walk(inner, Scope("-")) if u.text.lower() not in _NOBODY)
            unit.rows, unit.antecedent = True, next(targets, None)
        return unit

    def _entities(self, node: Node, scope: Scope, fields: Fields) -> Iterator[Unit]:
        """The units of a record of lists, which are one entity if it has a label, or of a map."""
        lists = {id(field) for field in inner_lists(node)}
        labels = [
            field.value
            for field in node.items
            if isinstance(field.value, Text)
            and (not field.value.is_line or role_of(field.label) == "entity")
            and role_of(field.label) != "remark"
        ]
        if scope.entity and not (lists or node.texts or any(item.items for item in node.items)):
            yield make_unclear(node, scope.entity)
        own = scope.entity or (self._name(node, scope) if labels else "")
        number = number_at(node, fields.get("sentence", ""))
        scope = scope._replace(sentence=scope.sentence if number is None else number)
        for field in node.items:
            role = role_of(field.label)
            if id(field) in lists and (labels or role == "mentions") and self._is_entity(field):
                inner = scope._replace(entity=own or self._name(node, scope), depth=scope.depth + 1)
                units = list(self._list(field, inner))
                listed = [fold_text(unit.text) for unit in units]
                for label in labels if role not in ("mentions", "mention") else ():
                    plain = fold_text(label)  # a label that the list leaves out is a mention
                    if self.key.stands(label) and not any(plain in text for text in listed):
                        units.insert(0, Unit(str(label), inner.entity, label.where))
                        break
                yield from units
            elif field.items or (not lists and (not role or lists_mentions(field))):
                yield from self.walk(
                    field, scope._replace(entity=own) if is_place(field) else scope
                )

    # -------------------------------------------------------------- strings

    def _string(self, node: Node, scope: Scope) -> list[Unit]:
        """A mention as a string, with a remark behind it, or with numbers that say its place."""
        text = node.value if isinstance(node.value, Text) else node.texts[0]
        unit, numbers = Unit(str(text), scope.entity, text.where, scope.sentence), node.numbers
        if numbers:  # a sentence, or where it begins and ends
            unit.sentence, unit.start = (None, numbers[0]) if numbers[1:] else (numbers[0], None)
        if not (text.complete and node.complete):
            unit.state, unit.why = "lost", "cut off"
        elif not self.key.stands(text):
            unit.text = text.strip(' *_`"“”„«»')
            match = re.fullmatch(r"(.[^(（\[]*)([(（\[].*[)）\]])", unit.text, re.DOTALL)
            if match and self.key.stands(match[1]):
                unit.text = match[1].strip()
                return heed(unit, match[2], self.key)
        return [unit]

    def _labelled(self, node: Node, text: Text) -> list[Unit]:
        """The units of a string with a label: mentions by their names, or a pair."""
        units = split_items(text, node.where, self.key) if text not in _NOBODY else []
        standing = sum(self.key.stands(unit.text) for unit in units)
        if text.kind == "string" and len(units) == standing == 1 and self.key.stands(node.label):
            return [Unit(node.label, where=node.where, antecedent=units[0], rows=True)]
        is_list = len(units) > 1 or text.kind == "cell"
        return units if is_list and 2 * standing >= len(units) else []

    # -------------------------------------------------------------- lines

    def _text(self, node: Node, scope: Scope, *, is_own: bool = False) -> Iterator[Unit]:
        """The units of a text; `is_own` says that lists are entities here."""
        text, entity = node.value, scope.entity
        assert isinstance(text, Text)
        if not text.is_line:
            yield from name_units(self._labelled(node, text), scope)
            return
        if not node.label or is_place(node):
            line = Text(text, text.where, kind="bullet") if node.label else text
            if (link := self._link(line, scope.sentence)) is not None:
                yield from link
                return
        marked = marked_items(text, text.where, self.key) if entity else []
        items = marked or self._items(node)
        names = [self.labels.get(n.strip(), "") for n in re.split("[,;]", text.strip("{}[] "))]
        if all(names) and not node.label:  # labels of mentions, which are one entity
            self.joined |= dict.fromkeys(names, names[0])
        elif not entity and scope.sentence is not None:  # remarks say the entity
            for unit in items:
                label = fold_text(unit.remark)
                state = "" if label else "unclear"
                yield Unit(unit.text, label, unit.where, scope.sentence, state=state, rows=True)
        elif node.label or (len(items) > 1 and is_own):
            name = entity if node.label else self._name(node, scope)
            self.labels[node.label] = name
            for unit in items if _ALONE.search(node.label) else ():
                unit.state, unit.why = "aside", "in no chain"
            yield from name_units(items, scope._replace(entity=name))
        elif entity and (text.kind == "bullet" or items[1:] or self.key.stands(text)):
            yield from name_units(items, scope)

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
        standing = sum(self.key.stands(unit.text) for unit in units)
        if quotes:
            bare = re.sub(r"[–—-]\s[^\"“„«]*|_\{?\d+", " ", mask_remarks(text, quotes=True))
            inside = sum(len(_WORD.findall("".join(groups))) for groups in quotes)
            most = max(inside, 2) if is_bullet or has_label else 0
            if 2 * standing > len(units) > 1 and (is_bullet or len(_BOLD.findall(text)) == 1):
                most = _MOST  # prose about an entity
            return units if len(_WORD.findall(bare)) <= most else []
        is_list = 2 * standing >= len(units) or (is_bullet and has_label)
        if not (is_bullet or has_label or shift) and not _SEPARATED.search(text):
            is_list = len(units) == 1  # prose has commas, too
        return units if is_list else []

    def _link(self, line: Text, sentence: int | None) -> list[Unit] | None:
        """A pair of a mention and what it refers to, or None where the line is no link."""
        if self.has_lists and line.kind != "bullet":  # a remark about the lists
            return None
        text = str(line)
        if self.has_equal_lists and _EQUAL.fullmatch(mask_remarks(text)):
            return None
        pairs = [
            Text(text[a:b], line.where + a, kind="bullet") for a, b in split_parts(text, _SEMI)
        ]
        if len(pairs) > 1 and all(len(split_parts(pair, ARROW)) == 2 for pair in pairs):
            return [unit for pair in pairs for unit in self._link(pair, sentence) or ()]
        parts = split_parts(text, ARROW if ASKED.search(text) else VERB)
        if len(parts) != 2 and not self.has_chains:
            parts = split_parts(text, ARROW)
        if len(parts) != 2 and not self.has_equal_lists and " = " in text:
            parts = split_parts(text, re.compile(r"\s+=\s+"))
        if len(parts) != 2:
            return None
        (low, high), (begin, end) = parts
        left = split_items(text[low:high], line.where + low, self.key)
        outside = _WORD.findall(mask_remarks(text[low:high], quotes=True))
        most = 3 if len(left) > 1 else _LABEL + 4  # a question may have more
        if not left or len(outside) > (most if QUOTED.search(text[low:high]) else _MOST):
            return None
        target = text[begin:end].strip(" .。")
        to = [unit for unit in split_items(target, line.where + begin, self.key) if unit.text]
        whole = to[0].text if len(to) == 1 else target
        if not QUOTED.search(target) and not self.key.stands(whole):
            if len(target.split()) > _LABEL:
                return None
            label = re.sub(r"\s*\([^()]*\)$", "", target) or target
            label = f"{label} {line.where}" if _SAME.match(label) else label
            to = [Unit(label, where=line.where + begin, state="aside")]
        if not to:
            return None
        for unit in left:
            unit.antecedent, unit.rows = to[0], True
            unit.sentence = sentence if unit.sentence is None else unit.sentence
        return left
