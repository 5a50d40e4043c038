"""Live objects: what coreference systems return in Python, as corpora.

Objects are recognised by their shape, so that no system has to be installed to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corefeval.diagnostics import InputError, excerpt
from corefeval.live.pipelines import (
    fastcoref_ids,
    is_fastcoref,
    is_maverick,
    is_spacy,
    is_stanza,
    maverick_ids,
    read_fastcoref,
    read_maverick,
    read_spacy,
    read_stanza,
    spacy_ids,
    stanza_ids,
)
from corefeval.model import Corpus

__all__ = ["corpus_from_object"]

Named = tuple[str, Any]  # a document id, empty where there is none, and the object


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """A kind of object: how to recognise one, where its id may stand, and a corpus of several."""

    name: str
    recognises: Callable[[object], bool]
    ids: Callable[[object], list[object]]
    read: Callable[[Sequence[Named], str], Corpus]

    def identify(self, value: object) -> Named:
        """An object with its id: the first that names anything, or an empty one."""
        texts = (str(named) for named in self.ids(value) if named is not None)
        return next(filter(None, texts), ""), value


_OBJECT_KINDS = (
    ObjectKind("spaCy document", is_spacy, spacy_ids, read_spacy),
    ObjectKind("stanza document", is_stanza, stanza_ids, read_stanza),
    ObjectKind("fastcoref result", is_fastcoref, fastcoref_ids, read_fastcoref),
    ObjectKind("Maverick dictionary", is_maverick, maverick_ids, read_maverick),
)
_PLAIN = (str, bytes, int, list, tuple, set, frozenset)  # never such an object, and often looked at


def corpus_from_object(source: object, name: str) -> Corpus | None:
    """The corpus of one object, of a list of them, or of a mapping from document ids to them.

    None if these are objects of no known kind. `name` is what messages call the corpus.

    >>> words = {"tokens": ["Ada", "met", "her"], "clusters_token_offsets": [[(0, 0), (2, 2)]]}
    >>> corpus = corpus_from_object({"essay": words}, "response")
    >>> corpus["essay"].entities
    [<Entity 0: [<Mention 0:1 'Ada'>, <Mention 2:3 'her'>]>]
    >>> corpus_from_object([["Ada", "her"]], "response") is None
    True
    """
    kind = _kind_of(source)
    if kind is not None:
        return kind.read([kind.identify(source)], name)
    if isinstance(source, Mapping):
        pairs: list[Named] = [(str(key), value) for key, value in source.items()]
        kind = _common_kind([value for _, value in pairs], name)
        return None if kind is None else kind.read(pairs, name)
    if not isinstance(source, Sequence) or isinstance(source, str | bytes):
        return None
    kind = _common_kind(source, name)
    if kind is None:
        return None
    pairs = [kind.identify(value) for value in source]
    _check_named(pairs, kind, name)
    return kind.read(pairs, name)


def _kind_of(value: object) -> ObjectKind | None:
    if isinstance(value, _PLAIN):
        return None
    return next((kind for kind in _OBJECT_KINDS if kind.recognises(value)), None)


def _common_kind(values: Sequence[object], name: str) -> ObjectKind | None:
    """The kind of all values; None where none of them is of any."""
    kinds = [_kind_of(value) for value in values]
    kind = next((kind for kind in kinds if kind is not None), None)
    if kind is None or all(each is kind for each in kinds):
        return kind
    stranger = next(value for value, each in zip(values, kinds, strict=True) if each is not kind)
    raise InputError(
        f"one of the documents is not a {kind.name}, but others are",
        file=name or None,
        found=f"{type(stranger).__name__} {stranger!r:.60}",
        expected=f"a {kind.name} for every document",
    )


def _check_named(pairs: Sequence[Named], kind: ObjectKind, name: str) -> None:
    """Several documents need ids, as they never pair by position."""
    if len(pairs) == 1 or all(identifier for identifier, _ in pairs):
        return
    nameless = sum(not identifier for identifier, _ in pairs)
    example = next((identifier for identifier, _ in pairs if identifier), "essay")
    raise InputError(
        f"{nameless} of {len(pairs)} documents have no id, so they cannot be paired",
        file=name or None,
        found=f"a list; documents never pair by their position in it ({kind.name}s)",
        expected="an id for every document",
        fix=f"pass a mapping from ids to documents: {{{excerpt(example)}: document, …}}",
    )
