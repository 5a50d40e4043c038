"""Trees as units: which strings are mentions of which entity, and which are labels or remarks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from corefeval.formats.answers.items import (
    ARROW,
    LINK,
    QUOTED,
    VERB,
    Text,
    apply_remark,
    cut_at,
    mask_remarks,
    sentence_named,
    split_items,
    words_of,
)
from corefeval.formats.answers.lookup import KeyDocument, Unit, fold_text
from corefeval.formats.answers.shapes import (
    NOBODY,
    Fields,
    Scope,
    every,
    find_fields,
    inner_lists,
    is_plain_line,
    is_row,
    is_string,
    lists_mentions,
    make_unclear,
    name_units,
    names_sentence,
    number_at,
    role_of,
)
from corefeval.formats.answers.trees import Node

# Labels of what is in no chain, and of lists in which each mention is an entity of its own.
_ALONE = re.compile(
    r"(?i)(?P<single>singleton|einzeln|only once|mentioned once|une seule)"
    r"|unresolved|excluded|left out|keine kette"
    r"|\b(?:not?|non)\b (?:chain|coref|coréf|antecedent|resolved|annotated|linked|included)",
)
_SAME = re.compile(r"(?i)(?:one and )?(?:the )?same\b|d(?:as|ie|er)selbe|l[ea] même|(?:el|la) mism")
_WORD = re.compile(r"\w+")
# Between pairs: `her → Ada; him → Bo`, `{her→Ada, him→Bo}`.
_PAIRS = re.compile(
    r"\s*[;；]\s*|\s*\|\s*(?=[^|=→]*[=→])|\s*[,，]\s*(?=[^,，;>→=＝]*(?:[→＝]|[-=]>|\s=\s))"
)
_SEPARATED = re.compile(rf"[;；]|<br|{ARROW.pattern.strip()}|[=@]|\s[/|·+~>]\s")
_MOST, _LABEL = 40, 8  # words of prose about an entity, or parts of a list; words of a label
_POINT = re.compile(r"[.,;:!?。，！？]\W*\Z")  # the end of a clause, which mentions do not have
_DEEP = 50  # lists in lists


def read_units(roots: Sequence[Node], key: KeyDocument) -> list[Unit]:
    """The units of the trees of an answer; entities are numbered in their order."""
    reader = _Reader(key, roots)
    units = [unit for root in roots for unit in reader.walk(root, Scope())]
    _join_ids(roots, units, key)
    ids = {unit.entity: unit.entity.partition("\0")[2] for unit in units if unit.state != "aside"}
    numbers = ids if all(ids.values()) and len({*ids.values()}) == len(ids) else {}
    labels = {unit.antecedent.text for unit in units if unit.antecedent and unit.antecedent.state}
    for unit in units:
        alone = _ALONE.search(unit.entity)
        if unit.text in labels or (alone and not alone["single"]):
            unit.state, unit.why = "aside", "in no chain"
        elif alone:
            unit.entity = f"{unit.where}"
        unit.entity = numbers.setdefault(unit.entity, str(len(numbers)))
    return units


def _join_ids(roots: Sequence[Node], units: Sequence[Unit], key: KeyDocument) -> None:
    """Link mentions in records with ids, where antecedents or lists name these ids."""
    at, ids = {unit.where: unit for unit in units}, {}
    for node in every(roots):
        names = [field.value for field in node.items if field.label.lower().endswith("id")]
        name = str([*names, node.label][0])
        for field in node.items:
            if field.where in at and not key.stands(name):
                ids[name] = at[field.where]
    heads: dict[str, Unit] = {}
    for unit in units:
        if unit.antecedent:
            unit.antecedent = ids.get(unit.antecedent.text, unit.antecedent)
        named = re.findall(r"[^\[\], ]+", unit.text)
        if unit.state == "aside" or not named or not ids.keys() >= {*named}:
            continue
        unit.state, unit.why = "aside", "the ids of mentions"
        for mention in (ids[name] for name in named):
            head = heads.setdefault(unit.entity, unit.antecedent or mention)
            if mention is not head:
                first, later = (mention, head) if mention.antecedent else (head, mention)
                later.antecedent = first
    for mention in ids.values() if heads else ():
        mention.in_text_order = True


def _name_of(node: Node) -> str:
    """The entity of a part of an answer, with its id, if it has a number for that."""
    number = number_at(node, "id") or ""
    return f"{(node.label or node).where} {fold_text(node.label)}\0{number}"


def _remark_of(node: Node) -> str:
    """What stands behind a label and in the lines below it."""
    return "; ".join([str(node.value or ""), *node.texts])


class _Reader:
    """Reads trees as units."""

    def __init__(self, key: KeyDocument, roots: Sequence[Node]) -> None:
        self.key = key
        # Whether entities are divided by sentences, and not sentences by entities.
        self.has_sentences = sum(any(map(names_sentence, node.items)) for node in every(roots)) > 1

    def walk(self, node: Node, scope: Scope) -> Iterator[Unit]:
        """The units of a part of an answer, by what its label says: a place, a role, a name."""
        entity, sentence, depth = scope
        place = sentence_named(node.label)
        if place is not None:
            sentence = place
        elif entity and self._is_mention(node):
            unit = Unit(node.label, node.where, entity, sentence)
            yield from apply_remark(unit, _remark_of(node), self.key)
            return
        elif (node.label or node.value) and not (entity and lists_mentions(node)):
            entity = _name_of(node) if self._is_entity(node) else ""
        scope = Scope(entity, sentence, depth + 1)
        if depth > _DEEP:
            return
        if node.is_record:
            yield from self._record(node, scope, find_fields([node], self.key))
        else:
            yield from self._text(node, scope)
            yield from self._list(node, scope)

    def _is_mention(self, node: Node) -> bool:
        """Whether a label is a mention, with remarks in the lines below it, or quoted contexts."""
        if not (all(map(is_plain_line, node.items)) and self.key.stands(node.label)):
            return False
        quotes = [words_of(match) for match in QUOTED.finditer(_remark_of(node))]
        if quotes:
            return all(
                node.label.lower() in quote.lower() != node.label.lower() for quote in quotes
            )
        items = split_items(_remark_of(node), 0, self.key)
        return not any(self.key.stands(item.text) for item in items)

    def _is_entity(self, node: Node) -> bool:
        """Whether a part of an answer has mentions itself, and not only parts with other names."""
        kinds = [item.label for item in node.items if lists_mentions(item)]
        if (
            isinstance(node.value, Text)
            or any(map(is_string, node.items))
            or len(set(kinds)) == len(kinds) > 0
            or (self.has_sentences and any(map(names_sentence, node.items)))
            or any(item.label and item.value and self._is_mention(item) for item in node.items)
        ):
            return True
        fields = find_fields(node.rows, self.key)
        is_flat = "mention" in fields and not {"name", "antecedent", "lists"} & fields.keys()
        return is_flat and not any(is_row(row) or inner_lists(row) for row in node.rows)

    # -------------------------------------------------------------- lists

    def _list(self, node: Node, scope: Scope) -> Iterator[Unit]:
        """The units of a list, which may be an entity itself."""
        texts = [text for part in islice(every([node]), _MOST) for text in part.texts]
        words = " ".join(texts)
        if texts[1:] and any(map(_POINT.search, texts)) and self.key.stands(words):
            yield Unit(words, node.where, state="aside", why="the text")
            return
        lines, fields = [*filter(is_plain_line, node.items)], find_fields(node.rows, self.key)
        if not scope.entity and not lines and self._is_entity(node):
            scope = scope._replace(entity=_name_of(node))
        if node.numbers:
            yield make_unclear(node, scope.entity or f"{node.where}")
        several = {  # lines that list several mentions, and may be entities themselves
            line for line in lines if len({unit.where for unit in self._items(line)}) > 1
        }
        if scope.depth > 1 and not 1 < len(several) >= len(lines) / 2:
            several = set()
        for item in node.items:
            if item.is_record and not item.label:
                yield from self._record(item, scope, fields)
            elif is_plain_line(item):
                yield from self._text(item, scope, is_entity=item in several)
            elif is_string(item):
                yield from self._string(item, scope)
            else:
                yield from self.walk(item, scope)

    # -------------------------------------------------------------- records

    def _record(self, node: Node, scope: Scope, fields: Fields) -> Iterator[Unit]:
        """The units of a record: mentions, a pair, or entities with their lists."""
        mention = node.get(fields.get("mention"))
        is_map = not scope.entity and fields.keys() <= {"mention", "entity"} and not is_row(node)
        has_lists = any(map(inner_lists, [node, *node.items]))
        if mention is None or is_map or has_lists:
            yield from self._entities(node, scope, fields)
            return
        name = node.get(fields.get("name")) if not scope.entity else None
        entity = scope.entity or _name_of(node)
        if name and name.value is not None:
            entity = fold_text(str(name.value))
        scope = scope._replace(entity=entity)
        read = self._string if isinstance(mention.value, Text) else self._inner
        for unit in read(mention, scope):
            unit.in_text_order |= bool(name and "lists" not in fields)
            yield self._with_fields(unit, node, fields)
        for field in node.items:
            if isinstance(field.value, Text) and field is not mention:
                yield Unit(field.value, field.where, scope.entity, state="aside", why="a field")

    def _inner(self, field: Node, scope: Scope) -> Iterator[Unit]:
        """The units of what a field has, whatever its label says."""
        inner = Node(field.where, items=[replace(field, label=Text())])
        return self.walk(inner, scope)

    def _with_fields(self, unit: Unit, node: Node, fields: Fields) -> Unit:
        """A unit with what the fields of its record say of its place and antecedent."""
        unknown = [
            field.label
            for field in node.items
            if isinstance(field.value, float)
            if not role_of(field.label) and field.label not in fields.values()
        ]
        if len(unknown) == 1 and not {"sentence", "start", "nth"} & set(fields):
            fields = {**fields, "sentence": unknown[0]}  # the only number
        for role in ("sentence", "nth", "start"):
            number = number_at(node, fields.get(role))
            if number is not None:
                setattr(unit, role, number)
        context = node.get(fields.get("context"))
        if context:
            unit.contexts += (str(context.value),)
        if target := node.get(fields.get("antecedent")):
            targets = self._inner(target, Scope("-"))
            named = (unit for unit in targets if unit.text.lower() not in NOBODY)
            unit.in_text_order, unit.antecedent = True, next(named, None)
        return unit

    def _entities(self, node: Node, scope: Scope, fields: Fields) -> Iterator[Unit]:
        """The units of a record of lists, which are one entity if it has a label, or of a map."""
        lists, labels = {*inner_lists(node)}, node.texts
        if (sentence := number_at(node, fields.get("sentence"))) is not None:
            scope = scope._replace(sentence=sentence)
        if not (lists or labels or any(item.items for item in node.items)):
            yield make_unclear(node, scope.entity)
        entity = scope.entity or (_name_of(node) if labels else "")
        asides = [Unit(t, t.where, entity, state="aside", why="a label") for t in labels]
        yield from asides if lists else ()
        for field in node.items:
            role = role_of(field.label)
            inner = scope._replace(entity=entity)
            if field in lists and (labels or role == "mentions") and self._is_entity(field):
                inner = inner._replace(entity=entity or _name_of(node))
                units = list(self._list(field, inner))
                listed = fold_text(" ".join(unit.text for unit in units))
                for label in asides if role not in ("mention", "mentions") else ():
                    if self.key.stands(label.text) and fold_text(label.text) not in listed:
                        label.state = label.why = ""  # the first mention
                        break
                yield from units
            elif any(role_of(item.label) == "mention" for item in field.items):
                yield from self._record(field, inner, find_fields([field], self.key))
            elif field.items or (not lists and (not role or lists_mentions(field))):
                is_part = names_sentence(field) or lists_mentions(field)
                yield from self.walk(field, inner if is_part else scope)

    # -------------------------------------------------------------- strings

    def _string(self, node: Node, scope: Scope) -> Iterator[Unit]:
        """A mention as a string, with a remark behind it, or with numbers that say its place."""
        text = node.value if isinstance(node.value, Text) else node.texts[0]
        units, numbers = [Unit(text, text.where)], node.numbers
        if numbers:  # a sentence, or where it begins and ends
            setattr(units[0], "start" if numbers[1:] else "sentence", numbers[0])
        if not (text.complete and node.complete):
            units[0].state, units[0].why = "lost", "cut off"
        elif not self.key.stands(text):
            items = split_items(text, text.where, self.key)
            if items and 2 * sum(self.key.stands(item.text) for item in items) >= len(items):
                units = items
        return name_units(units, scope)

    # -------------------------------------------------------------- lines

    def _text(self, node: Node, scope: Scope, *, is_entity: bool = False) -> Iterator[Unit]:
        """The units of a text; `is_entity` says that a line without a label lists an entity."""
        text, entity = node.value, scope.entity
        if not isinstance(text, Text):
            return
        if not text.is_line:
            units = split_items(text, node.where, self.key) if text not in NOBODY else []
            standing = sum(self.key.stands(unit.text) for unit in units)
            is_pair = text.kind == "string" and len(units) == standing == 1
            if is_pair and self.key.stands(node.label):
                units = [Unit(node.label, node.where, antecedent=units[0], in_text_order=True)]
            yield from name_units(units, scope) if 2 * standing >= len(units) else ()
            return
        if role_of(node.label) == "remark":
            return
        is_free = not node.label or names_sentence(node) or LINK.search(node.label)
        if is_free and (pairs := self._link(text) or self._link(node.label)):
            yield from name_units(pairs, scope)
            return
        items = self._items(node)
        is_named = any(unit.remark for unit in items)
        if not entity and scope.sentence is not None and is_named:  # remarks say the entity
            for unit in items:
                label = fold_text(unit.remark)
                state = "" if label else "unclear"
                yield Unit(
                    unit.text, unit.where, label, scope.sentence, state=state, in_text_order=True
                )
        elif node.label or is_entity:
            is_part = node.label and not _ALONE.search(node.label)
            name = (entity if is_part else "") or _name_of(node)
            yield from name_units(items, scope._replace(entity=name))
        elif entity and (text.kind == "bullet" or items[1:] or QUOTED.match(text)):
            yield from name_units(items, scope)

    def _items(self, node: Node) -> list[Unit]:
        """The mentions that a line lists; none where it is prose."""
        text = node.value
        assert isinstance(text, Text)
        is_bullet = text.kind == "bullet"
        is_item = is_bullet or node.label
        units = split_items(text, text.where, self.key)
        quotes = QUOTED.findall(mask_remarks(text))
        standing = sum(self.key.stands(unit.text) for unit in units)
        if VERB.search(mask_remarks(text, quotes=True)):  # of a link that is not clear
            return []
        if quotes:
            bare = re.sub(r"[–—-]\s[^\"“„«]*|_\{?\d+", " ", mask_remarks(text, quotes=True))
            inside = sum(len(_WORD.findall("".join(groups))) for groups in quotes)
            most = max(inside, 2) if is_item else 0
            if 2 * standing > len(units) > 1 and is_bullet:
                most = _MOST  # prose about an entity
            if any(text.startswith(unit.text, unit.where - text.where) for unit in units):
                return units  # which are not all quoted
            return units if len(_WORD.findall(bare)) <= most else []
        is_short = len(_WORD.findall(mask_remarks(text))) <= _LABEL
        is_list = 2 * standing >= len(units) or (is_bullet and is_short)
        if node.label and units[1:]:
            is_list = is_list or standing > 0 or len(node.label.split()) <= 2
        if not is_item and not _SEPARATED.search(text):  # prose has commas, too
            is_list = len(units) == 1 or standing == len(units)
        return units if is_list else []

    def _link(self, line: Text) -> list[Unit]:
        """Mentions with what they refer to; none where a line has anything but pairs of these."""
        parts = cut_at(_PAIRS, mask_remarks(line, quotes=True))
        pairs = [self._pair(line[low:high], line.where + low) for low, high in parts]
        return [unit for pair in pairs for unit in pair] if all(pairs) else []

    def _pair(self, text: str, where: int) -> list[Unit]:
        """Mentions and what they refer to, in its words or by a label."""
        sides = cut_at(LINK, mask_remarks(text, quotes=True))
        if len(sides) != 2:
            return []
        left, target = (text[low:high].strip(" .。{}") for low, high in sides)
        if len(_WORD.findall(mask_remarks(left, quotes=True))) > _LABEL:
            return []
        units = split_items(left, where, self.key)
        where += sides[1][0]
        targets = split_items(target, where, self.key)
        words = targets[0].text if len(targets) == 1 else target
        is_code = words.isupper() and words.split()[0] not in self.key.words
        is_name = is_code or not self.key.stands(words)
        if is_name and not QUOTED.search(target):
            if len(target.split()) > _LABEL:
                return []
            label = f"{words} {where}" if _SAME.match(words) else words
            targets = [Unit(label, where, state="aside")]
        if not targets or re.fullmatch(r"[A-HJ-Z]", left.strip("*")):  # a name
            return []
        for unit in units:
            unit.antecedent, unit.in_text_order = targets[0], True
        return units
