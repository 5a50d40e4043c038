"""What annotations of texts have in common: lines, ids, types, and how their files are named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from urllib.parse import unquote_to_bytes

from corefeval.diagnostics import CorefEvalError
from corefeval.formats.source import Source
from corefeval.model import Document, DocumentId

_SAFE_ID = re.compile(r"T[^\s:;]*[0-9]")
_UNSAFE = re.compile(r"[\t\r\n]+")


def read_companion(source: Source, ending: str) -> Source:
    """The file of the same name with another ending, without which an annotation means nothing."""
    try:
        return source.sibling(ending)
    except (CorefEvalError, ValueError) as error:
        raise source.error(
            f"the {ending} file that belongs to this one cannot be read",
            found=getattr(error, "problem", None),
            expected=f"a file of the same name with {ending} beside it",
            fix=f"put the {ending} file into the same folder",
        ) from None


def lines_of(text: str) -> list[str]:
    """The lines of a text; an empty one after the last line end does not count."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def feature_values(document: Document, name: str) -> list[str]:
    """A feature of each mention of a document, without line ends; "" where it is not known."""
    values, rows = document.corpus.features.get(name), document.rows
    if values is None:
        return [""] * len(rows)
    return [_UNSAFE.sub(" ", str(values[row])) for row in rows]


def mention_ids(
    document: Document, counts: Counter[str] | None = None, *, shared: bool = False
) -> list[str]:
    """An id for each mention of a document: those of the corpus if they are usable, else numbers.

    With `shared`, mentions of several entities may have one id, if they span equal tokens. Ids that
    are lost are counted as `mention-ids`.
    """
    identifiers = feature_values(document, "mention_id")
    pairs = list(zip(identifiers, document.mentions, strict=True))
    distinct = {(value, m.entity.index) if shared else value for value, m in pairs}
    places = {(value, mention.span) for value, mention in pairs}
    unambiguous = len(distinct) == len(identifiers) and len(places) == len(set(identifiers))
    if unambiguous and all(_SAFE_ID.fullmatch(value) for value in identifiers):
        return identifiers
    if counts is not None:
        counts["mention-ids"] += sum(map(bool, identifiers))
    return [f"T{number}" for number in range(1, len(identifiers) + 1)]


# As LitBank and ACE spell them. PRO_PER is a kind and a class; PRO alone may well be a product.
_KIND_AND_CLASS = re.compile(r"(PROP|NOM|PRON|NAM|PRO)_(\S+)")
_UNTYPED = "Mention"  # the type of mentions that have none, which says nothing
_KINDS = frozenset(("PROP", "NOM", "PRON", "NAM", "PRO"))

_NAME_AND_NUMBER = re.compile(r"(.*[^\W\d_].*)-([0-9]+)")  # Kellynch_Hall-1
_CLUSTER = re.compile(r"(?:coref|cluster|chain)[a-z_-]*[0-9]+", re.IGNORECASE)
_ENTITY = re.compile(r"entity[-_]?[0-9]+", re.IGNORECASE)
_ENOUGH_ENTITIES = 3  # Entity1 and Entity2 may be the two sides of relations
_NO_WORD = re.compile(r"[\W_]+")
_UNSAFE_TYPE = re.compile(r"[\s;]+")


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


def make_types(document: Document, counts: Counter[str]) -> list[str]:
    """A type for each mention, of its kind and its class where these can be told apart again.

    What cannot be carried is counted as `mention-kinds` and `changed-types`.
    """
    kinds = feature_values(document, "mention_type")
    classes = feature_values(document, "entity_type")
    # A kind that could not be read again is left out.
    pairs = zip(kinds, classes, strict=True)
    joined = ["_".join(filter(None, (k if k in _KINDS else "", c))) for k, c in pairs]
    types = [
        _UNSAFE_TYPE.sub("_", text.encode(errors="backslashreplace").decode()) or _UNTYPED
        for text in joined
    ]
    kinds_alone = are_kinds(types)
    for kind, text, type in zip(kinds, joined, types, strict=True):
        counts["mention-kinds"] += kind != kind_and_class(type, kinds=kinds_alone)[0]
        counts["changed-types"] += bool(text) and text != type
    return types


_EMPTY = "%"  # no escaped name looks like this
_LONGEST = 200  # bytes; file systems take 255, and there is an ending to come
# Names that some systems keep for devices, whatever their ending.
_RESERVED = {"con", "prn", "aux", "nul"}
_RESERVED |= {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}


def file_stems(documents: Sequence[DocumentId]) -> tuple[list[str], int]:
    """A file name without ending for each document, and how many do not give the id back.

    Part 0 of `bc/x` becomes `bc%2Fx_0`: what is no letter, digit, `-`, `_` or dot is escaped as in
    web addresses. Names differ even where capitals do not count. Only very long ids, and ids with
    equal names, are changed.

    >>> file_stems([DocumentId("bc/x", 0), DocumentId("a"), DocumentId("A")])
    (['bc%2Fx_0', 'a', '%41'], 0)
    """
    taken = set(_RESERVED)
    given_back: set[DocumentId] = set()
    stems = [""] * len(documents)
    # Ids without a part have only one spelling, so they choose first.
    for index in sorted(range(len(documents)), key=lambda d: documents[d].part is not None):
        stem = next(
            stem
            for stem in _candidates(documents[index])
            if stem.casefold() not in taken and document_id(stem) not in given_back
        )
        taken.add(stem.casefold())
        given_back.add(document_id(stem))
        stems[index] = stem
    lost = sum(
        document_id(stem) not in (identifier, DocumentId(_with_part(identifier)))
        for stem, identifier in zip(stems, documents, strict=True)
    )
    return stems, lost


def unique_names(names: Sequence[str | None]) -> list[str]:
    """A name for each entity of a document: its name where no earlier one has it, else a new one.

    >>> unique_names(["Ada", None, "Ada"])
    ['Ada', '1', 'Ada (2)']
    """
    stated = {name for name in names if name is not None}
    used: dict[str, None] = {}
    counts: Counter[str] = Counter()
    for number, name in enumerate(names):
        base = str(number) if name is None else name
        unique = base
        while unique in used or (name is None and unique in stated):
            counts[base] += 1
            unique = f"{base} ({counts[base] + 1})"
        used[unique] = None
    return list(used)


def document_id(stem: str) -> DocumentId:
    """The id of the document in a file, from the file's name without its ending.

    >>> document_id("bc%2Fx_0")
    DocumentId(name='bc/x_0', part=None)
    """
    if stem == _EMPTY:
        return DocumentId("")
    try:
        return DocumentId.parse(unquote_to_bytes(stem).decode())
    except UnicodeError:  # somebody else's percent signs
        return DocumentId.parse(stem)


def _candidates(identifier: DocumentId) -> Iterator[str]:
    """Names for a document without end, the best first: with little escaped, then all of it."""
    for text in dict.fromkeys((_with_part(identifier), str(identifier))):
        stems = (_escape(text, length) or _EMPTY for length in (0, 1, len(text)))
        yield from (stem for stem in stems if len(stem.encode()) <= _LONGEST)
    import hashlib  # few names need it, and it takes its time

    escaped = _escape(_with_part(identifier)).encode()
    shortened = escaped[: _LONGEST - 40].decode(errors="ignore")
    for number in count(1):
        digest = hashlib.sha256(f"{number} {identifier!r}".encode(errors="replace")).hexdigest()
        yield f"{shortened}_{digest[:16]}"


def _escape(text: str, length: int = 0) -> str:
    """The text with all unsafe characters escaped, and all of the first `length` characters."""
    return _escape_all(text[:length]) + re.sub(
        r"^\.|[^\w.-]|\.$", lambda unsafe: _escape_all(unsafe[0]), text[length:]
    )


def _escape_all(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def _with_part(identifier: DocumentId) -> str:
    name, part = identifier
    return str(name) if part is None else f"{name}_{part}"
