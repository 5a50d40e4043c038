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
    SCATTERED,
    Scope,
    every,
    has_text,
    inner_lists,
    is_line,
    is_place,
    label_rows,
    list_categories,
    list_recurring,
    lists_mentions,
    make_unclear,
    name_units,
    number_at,
    read_pairs,
    role_of,
    scatter_of,
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
_SEPARATED = re.compile(rf"[;；]|{ARROW.pattern.strip()}|[=@]|\s[/|·+]\s")
_MOST, _LABEL = 40, 8  # words of a mention in a link, and of a label
_DEEP = 50  # lists in lists
_NOBODY = ("", "none", "null", "-", "–", "—")
Fields = dict[str, str]  # the label of the field for each role


def read_units(roots: Sequence[Node], key: KeyDocument) -> list[Unit]:
    """The units of the trees of an answer; entities are numbered in their order."""
    roots = label_rows([*roots], key)
    if len(roots) > 1 and all(node.is_record for node in roots):  # without a list around them
        roots = [Node(items=list(roots))]
    roots = read_pairs(roots)
    for node in every(roots):
        node.items = label_rows(node.items, key)
    reader = _Reader(key, roots)
    units = [unit for root in roots for unit in reader.walk(root, Scope())]
    numbers: dict[str, str] = {}
    for unit in units:
        unit.entity = numbers.setdefault(unit.entity, str(len(numbers)))
    return units


class _Reader:
    """Reads trees as units."""

    def __init__(self, key: KeyDocument, roots: Sequence[Node]) -> None:
        self.key = key
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
        self.recurring = list_recurring(nodes)
        self.categories = list_categories(nodes, key)
        self.has_lists = any(len(self._items(node)) > 1 for node in lines if node.label)

    def walk(self, node: Node, scope: Scope) -> Iterator[Unit]:
        """The units of a part of an answer; those of a part called `left out` are no mentions."""
        is_last = not any(item.label for item in node.items)
        is_aside = is_last and _ALONE.search(node.label.replace("_", " "))
        for unit in self._walk(node, scope):
            if is_aside:
                unit.state, unit.why = "aside", "in no chain"
            yield unit

    def _walk(self, node: Node, scope: Scope) -> Iterator[Unit]:
        """The units of a part of an answer, by what its label says: a place, a role, a name."""
        entity, sentence, depth = scope
        place = place_named(node.label)
        if place is not None:
            sentence = place
        elif entity and self._is_mention(node):
            remark = " ".join([str(node.value or ""), *node.texts])
            quotes = [match[0] for match in QUOTED.finditer(str(node.value or ""))]
            for part in quotes if len(quotes) > 1 else [remark]:  # each is another place
                unit = Unit(str(node.label), entity, node.where, sentence)
                yield from heed(unit, part, self.key)
            return
        elif (node.label or node.value) and not (entity and self._lists_mentions(node)):
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
        """The entity of a part of an answer; under sentences and the like, equal labels are one."""
        label = fold_text(node.label)
        is_global = label and (scope.sentence is not None or label in self.recurring)
        return label if is_global else f"{(node.label or node).where} {label}"

    def _lists_mentions(self, node: Node) -> bool:
        """Whether a part's label says that mentions of what it stands in are in it."""
        return lists_mentions(node) or fold_text(node.label) in self.categories

    def _is_mention(self, node: Node) -> bool:
        """Whether a label is a mention, with remarks in the lines below it, or a quoted context."""
        if node.is_record or not self.key.stands(node.label):
            return False
        if node.value:
            quotes = [words_of(match).lower() for match in QUOTED.finditer(str(node.value))]
            longer = [quote for quote in quotes if len(quote.split()) > len(node.label.split())]
            return len(longer) == len(quotes) > 0 and all(node.label.lower() in q for q in quotes)
        remarks = [str(item.value) for item in node.items if is_line(item)]
        are_remarks = not any(self.key.stands(remark.strip('"“”„«»')) for remark in remarks)
        return are_remarks and len(remarks) == len(node.items)

    def _is_entity(self, node: Node) -> bool:
        """Whether a part of an answer has mentions itself, and not only parts with other names."""
        rows = [item for item in node.items if item.is_record and not item.label]
        if isinstance(node.value, Text) or any(map(has_text, node.items)):
            return True
        kinds = [str(item.label) for item in node.items if self._lists_mentions(item)]
        if len(set(kinds)) == len(kinds) > 0:
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
        is_own = scope.depth == 1 or sum(map(self._has_several, lines)) > 1
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
            if role == "mention" and len(field.numbers) == len(field.items) > 1:
                role = "start"  # a span of numbers
            fields.setdefault(role, field.label)
            if field.value is not None and role in ("", "entity", "group", "context"):
                cells[field.label].append(Text(str(field.value)))
        standing = {
            label: sum(map(self._is_cell, [*texts, *set(texts)])) * (0.6 if role_of(label) else 1)
            for label, texts in cells.items()
        }
        best = max(standing, key=lambda label: standing[label], default="")
        for label, texts in cells.items():  # words that stand in those of the best are its mentions
            pairs = [*zip(texts, cells[best], strict=False)]
            inside = [
                word != text and word in text and self.key.stands(text) for word, text in pairs
            ]
            if 2 * sum(inside) > len(cells[best]):
                fields["context"], best = best, label
                break
        if not best or 2 * standing[best] < len(cells[best]) or self._is_grid(cells):
            best = ""
        mention = fields.get("mention") or fields.get("mentions") or best
        fields = {role: label for role, label in fields.items() if role and label != mention}
        if mention and not {"group", "entity", "antecedent"} & fields.keys():
            scatter = {name: scatter_of(cells[name]) for name in cells.keys() - {mention}}
            name = max(scatter, key=lambda label: scatter[label], default="")
            if scatter.get(name, 0) > SCATTERED:
                names = set(cells[name])
                is_link = 2 * len(names) > len(rows) and all(map(self.key.stands, names))
                fields["antecedent" if is_link else "group"] = name
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
        """Whether a cell has a mention, or says that it has none."""
        units = split_items(text, 0, self.key)
        return text in _NOBODY or any(self.key.stands(unit.text) for unit in units)

    # -------------------------------------------------------------- records

    def _record(self, node: Node, scope: Scope, fields: Fields) -> Iterator[Unit]:
        """The units of a record: a mention, a pair, a map, or entities with their lists."""
        if self._is_map(node):
            for field in node.items:
                label = fold_text(str(field.value))
                yield Unit(str(field.label), label, field.where, scope.sentence, rows=True)
            return
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

    def _is_map(self, node: Node) -> bool:
        """Whether a record maps mentions to the labels of entities: `{"she": "E1"}`."""
        if len(node.texts) < len(node.items) or any(map(self.key.stands, node.texts)):
            return False
        return all(self.key.stands(item.label) and not role_of(item.label) for item in node.items)

    def _with_fields(self, unit: Unit, node: Node, fields: Fields) -> Unit:
        """A unit with what the fields of its record say of its place and antecedent."""
        numbers = [field for field in node.items if isinstance(field.value, float)]
        unknown = [
            f.label for f in numbers if not role_of(f.label) and f.label not in fields.values()
        ]
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
            targets = [u for u in self.walk(inner, Scope("-")) if u.text.lower() not in _NOBODY]
            if len(targets) > 1 and isinstance(target.value, Text):  # `Ada + Bo` is a label
                targets = [Unit(str(target.value), where=target.where, state="aside")]
            unit.rows, unit.antecedent = True, next(iter(targets), None)
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
            elif field.items or (not lists and (not role or self._lists_mentions(field))):
                inner = scope._replace(entity=own)
                if own and isinstance(field.value, Text) and {"entity", "group"} & fields.keys():
                    units = split_items(field.value, field.where, self.key)
                    yield from name_units([u for u in units if u.text not in _NOBODY], inner)
                else:
                    yield from self.walk(field, inner if is_place(field) else scope)

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
            units = split_items(str(text), text.where, self.key)
            bare = len(mask_remarks(text).replace("\0", ""))
            is_list = (len(units) == 1 or text.kind == "cell") and bare > 0
            is_list &= 2 * sum(len(item.text) for item in units) >= bare  # and no prose
            if is_list and all(self.key.stands(item.text) for item in units):
                return [*name_units(units, scope)]
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
        pairs = [split_parts(text[a:b], ARROW) for a, b in split_parts(text, _SEMI)]
        is_linked = all(len(pair) == 2 for pair in pairs) and len(QUOTED.findall(text)) == len(
            pairs
        )
        if not node.label or is_place(node) or (is_linked and QUOTED.match(text)):
            line = Text(text, text.where, kind="bullet") if node.label else text
            if (link := self._link(line, scope.sentence)) is not None:
                yield from link
                return
        marked = marked_items(text, text.where, self.key) if entity else []
        items = marked or self._items(node)
        if not entity and scope.sentence is not None:  # remarks say the entity
            for unit in items:
                label = fold_text(unit.remark)
                state = "" if label else "unclear"
                yield Unit(unit.text, label, unit.where, scope.sentence, state=state, rows=True)
        elif node.label or (is_own and self._has_several(node)):
            name = entity if node.label else self._name(node, scope)
            yield from name_units(items, scope._replace(entity=name))
        elif entity and (text.kind == "bullet" or items[1:] or self.key.stands(text)):
            yield from name_units(items, scope)

    def _items(self, node: Node) -> list[Unit]:
        """The mentions that a line lists; none where it is prose."""
        assert isinstance(node.value, Text)
        if node.value.where not in self.listed:
            self.listed[node.value.where] = self._find_items(node.value, bool(node.label))
        return self.listed[node.value.where]

    def _has_several(self, node: Node) -> bool:
        """Whether a line lists several strings, and not one with several places."""
        return len({unit.where for unit in self._items(node)}) > 1

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
