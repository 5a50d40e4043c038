"""Live objects: what coreference systems return in Python, as corpora.

Objects are recognised by their shape, so that no system has to be installed to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from corefeval.diagnostics import InputError, excerpt
from corefeval.live import fastcoref, maverick, spacy, stanza
from corefeval.live.naming import Named
from corefeval.model import Corpus

__all__ = ["corpus_from_object"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object: how to recognise one, what it calls itself, and a corpus of several."""

    name: str
    recognises: Callable[[object], bool]
    identifier: Callable[[object], str]
    corpus: Callable[[Sequence[Named], str], Corpus]


_KINDS = (
    Kind("spaCy document", spacy.recognises, spacy.identifier, spacy.corpus),
    Kind("stanza document", stanza.recognises, stanza.identifier, stanza.corpus),
    Kind("fastcoref result", fastcoref.recognises, fastcoref.identifier, fastcoref.corpus),
    Kind("Maverick dictionary", maverick.recognises, maverick.identifier, maverick.corpus),
)
_PLAIN = (str, bytes, int, list, tuple, set, frozenset)  # never such an object: asked millions


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
        return kind.corpus([(kind.identifier(source), source)], name)
    if isinstance(source, Mapping):
        pairs: list[Named] = [(str(key), value) for key, value in source.items()]
        kind = _common_kind([value for _, value in pairs], name)
        return None if kind is None else kind.corpus(pairs, name)
    if not isinstance(source, Sequence) or isinstance(source, str | bytes):
        return None
    kind = _common_kind(source, name)
    if kind is None:
        return None
    pairs = [(kind.identifier(value), value) for value in source]
    _check_named(pairs, kind, name)
    return kind.corpus(pairs, name)


def _kind_of(value: object) -> Kind | None:
    if isinstance(value, _PLAIN):
        return None
    return next((kind for kind in _KINDS if kind.recognises(value)), None)


def _common_kind(values: Sequence[object], name: str) -> Kind | None:
    """The kind of all values; None where none of them is of any."""
    kinds = [_kind_of(value) for value in values]
    kind = next((kind for kind in kinds if kind is not None), None)
    if kind is None or all(other is kind for other in kinds):
        return kind
    stranger = next(value for value, other in zip(values, kinds, strict=True) if other is not kind)
    raise InputError(
        f"one of the documents is no {kind.name}, but others are",
        file=name or None,
        found=f"{type(stranger).__name__} {stranger!r:.60}",
        expected=f"a {kind.name} for every document",
    )


def _check_named(pairs: Sequence[Named], kind: Kind, name: str) -> None:
    """Several documents need ids, as they never pair by position."""
    if len(pairs) == 1 or all(identifier for identifier, _ in pairs):
        return
    nameless = sum(not identifier for identifier, _ in pairs)
    example = next((identifier for identifier, _ in pairs if identifier), "essay")
    raise InputError(
        f"{nameless} of {len(pairs)} documents have no id, so that they cannot be paired",
        file=name or None,
        found=f"a list; documents never pair by their position in it ({kind.name}s)",
        expected="an id for every document",
        fix=f"pass a mapping from ids to documents: {{{excerpt(example)}: document, …}}",
    )
