"""What the types of brat's annotations say: a class, a kind and a class, or the name of a chain."""

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
    found = {kind: match for kind in uses if (match := _NAME_AND_NUMBER.fullmatch(kind))}
    names = {match[1] for match in found.values()}
    numbers = {int(match[2]) for match in found.values()}
    apart = len(names) > 1 and len(numbers) == len(found)
    if apart or any(k in found and _words(found[k][1]) == _words(text) for k, text in annotations):
        numbered |= found.keys()
    return frozenset(numbered if any(uses[kind] > 1 for kind in numbered) else ())


def _words(text: str) -> str:
    """A text without what types cannot have: blanks and signs."""
    return _NO_WORD.sub(" ", text).strip().lower()


def are_kinds(types: Iterable[str]) -> bool:
    """Whether types without a class are kinds: beside others or kinds with a class, no classes.

    >>> are_kinds(["PROP", "NOM"]), are_kinds(["PRO", "LOC"]), are_kinds(["PRO"])
    (True, False, False)
    """
    distinct = set(types) - {_UNTYPED, ""}
    alone = {one for one in distinct if not _KIND_AND_CLASS.fullmatch(one)}
    return len(distinct) > 1 and alone <= _KINDS


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
    """One type for both, or the class alone where they would not be read again as they are."""
    known = [kind] if kind in _KINDS else []
    return "_".join(part for part in (*known, entity_class) if part)


def make_types(document: Document, counts: Counter[str]) -> list[str]:
    """A type for each mention, of its kind and its class where these can be told apart again.

    What cannot be carried is counted as `mention-kinds` and `changed-types`.
    """
    kinds = feature_values(document, "mention_type")
    classes = feature_values(document, "entity_type")
    wanted = [_join(*pair) for pair in zip(kinds, classes, strict=True)]
    types = [
        _UNSAFE.sub("_", one.encode(errors="backslashreplace").decode()) or _UNTYPED
        for one in wanted
    ]
    alone = are_kinds(types)
    counts["mention-kinds"] += sum(
        kind != kind_and_class(made, kinds=alone)[0]
        for kind, made in zip(kinds, types, strict=True)
    )
    counts["changed-types"] += sum(
        bool(one) and one != made for one, made in zip(wanted, types, strict=True)
    )
    return types
