"""The types of brat's annotations: a class, a kind and a class, or the name of a chain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

from corefeval.formats.standoff import feature_values
from corefeval.model import Document

# As LitBank and ACE spell them. PRO_PER is a kind and a class; PRO alone may well be a product.
_KIND_AND_CLASS = re.compile(r"(PROP|NOM|PRON|NAM|PRO)_(\S+)")
_UNTYPED = "Mention"  # the type of mentions that have none, which says nothing
_KINDS = frozenset(("PROP", "NOM", "PRON", "NAM", "PRO"))

_NAME_AND_NUMBER = re.compile(r"(.*[^\W\d_].*)-([0-9]+)")  # Kellynch_Hall-1
_CLUSTER = re.compile(r"(?:coref|cluster|chain)[a-z_-]*[0-9]+", re.IGNORECASE)
_ENTITY = re.compile(r"entity[-_]?[0-9]+", re.IGNORECASE)
_ENOUGH_ENTITIES = 3  # Entity1 and Entity2 may be the two sides of relations
_NO_WORD = re.compile(r"[\W_]+")
_UNSAFE = re.compile(r"[\s;]+")


def chain_types(annotations: Collection[tuple[str, str]]) -> frozenset[str]:
    """The types that are names of entities, so that mentions of one type are one entity.

    `annotations` are types and texts of all mentions of a file. Types are names where several
    mentions share one, and they are clusters with a number (`Cluster1`, `chain_2`), three or more
    numbered entities (`Entity4`), or names with numbers of their own (`Kellynch_Hall-1`,
    `Sir_Walter-2`) of which one at least is the text of a mention, or which are several. None are
    where types are classes (`Person`, `PROP_PER`, `Stage-1` beside `Stage-2`).

    >>> sorted(chain_types([("Cluster1", "a"), ("Cluster1", "b"), ("Entity", "c")]))
    ['Cluster1']
    >>> sorted(chain_types([("PER", "Ada"), ("PER", "she"), ("LOC", "Rome")]))
    []
    """
    uses = Counter(kind for kind, _ in annotations)
    entities = {kind for kind in uses if _ENTITY.fullmatch(kind)}
    entities = entities if len(entities) >= _ENOUGH_ENTITIES else set()
    numbered = {kind for kind in uses if _CLUSTER.fullmatch(kind)} | entities
    matches = {kind: match for kind in uses if (match := _NAME_AND_NUMBER.fullmatch(kind))}
    names = {match[1] for match in matches.values()}
    numbers = {int(match[2]) for match in matches.values()}
    all_differ = len(names) > 1 and len(numbers) == len(matches)
    if all_differ or any(
        kind in matches and _words(matches[kind][1]) == _words(text) for kind, text in annotations
    ):
        numbered |= matches.keys()
    return frozenset(numbered if any(uses[kind] > 1 for kind in numbered) else ())


def _words(text: str) -> str:
    """A text without what types cannot have: blanks and signs."""
    return _NO_WORD.sub(" ", text).strip().lower()


def are_kinds(types: Iterable[str]) -> bool:
    """Whether types without a class are kinds: they are if there are several types, and no class.

    >>> are_kinds(["PROP", "NOM"]), are_kinds(["PRO", "LOC"]), are_kinds(["PRO"])
    (True, False, False)
    """
    distinct = set(types) - {_UNTYPED, ""}
    without_class = {kind for kind in distinct if not _KIND_AND_CLASS.fullmatch(kind)}
    return len(distinct) > 1 and without_class <= _KINDS


def kind_and_class(type: str, *, kinds: bool = False) -> tuple[str, str]:
    """The kind and the class of a type, either of which may be empty; `kinds`: see `are_kinds`.

    >>> kind_and_class("PROP_PER"), kind_and_class("Person"), kind_and_class("NOM", kinds=True)
    (('PROP', 'PER'), ('', 'Person'), ('NOM', ''))
    """
    if match := _KIND_AND_CLASS.fullmatch(type):
        return match[1], match[2]
    if type == _UNTYPED:
        return "", ""
    return (type, "") if kinds else ("", type)


def _join(kind: str, entity_class: str) -> str:
    """The type of a kind and a class, or the class alone where the kind could not be read again."""
    parts = (kind if kind in _KINDS else "", entity_class)
    return "_".join(filter(None, parts))


def make_types(document: Document, counts: Counter[str]) -> list[str]:
    """A type for each mention, of its kind and its class where these can be told apart again.

    What cannot be carried is counted as `mention-kinds` and `changed-types`.
    """
    kinds = feature_values(document, "mention_type")
    classes = feature_values(document, "entity_type")
    joined = list(map(_join, kinds, classes))
    types = [
        _UNSAFE.sub("_", text.encode(errors="backslashreplace").decode()) or _UNTYPED
        for text in joined
    ]
    kinds_alone = are_kinds(types)
    for kind, text, type in zip(kinds, joined, types, strict=True):
        counts["mention-kinds"] += kind != kind_and_class(type, kinds=kinds_alone)[0]
        counts["changed-types"] += bool(text) and text != type
    return types
