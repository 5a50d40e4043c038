"""Live objects: what systems return in Python, loaded JSON, and plain spans, as corpora.

Objects are recognised by their shape, so that no system has to be installed to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.formats.json.reader import is_record, read_loaded, record_ids
from corefeval.live.pipelines import (
    fastcoref_ids,
    is_fastcoref,
    is_spacy,
    is_stanza,
    read_fastcoref,
    read_spacy,
    read_stanza,
    spacy_ids,
    stanza_ids,
)
from corefeval.model import Corpus
from corefeval.model.arrays import ArrayPair, integers
from corefeval.model.construction import assemble
from corefeval.protocol import Spans

__all__ = ["corpus_from_object", "spans_reading", "with_positions"]

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
    ObjectKind("record of JSON", is_record, record_ids, read_loaded),
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
    raise InputError(
        f"{nameless} of {len(pairs)} documents have no id, so they cannot be paired",
        file=name or None,
        found=f"a list; documents never pair by their position in it ({kind.name}s)",
        expected="an id for every document",
        fix="pass a mapping from ids to documents: {‘essay’: document, …}",
    )


# ── plain (start, end) pairs as token spans, where the other side has token positions ──


def spans_reading(labelled: Corpus, spans: Spans) -> Spans | None:
    """Whether the ends of a labelled corpus' spans are inclusive or exclusive.

    None if its mentions are not spans, each two whole numbers. `auto` takes ends as inclusive if
    some span starts where it ends, which with exclusive ends would have no token, and as exclusive
    otherwise.
    """
    if not all(map(_is_span, labelled.labels or ())):
        return None
    if spans != "auto":
        return spans
    return "inclusive" if any(start == end for start, end in _pairs(labelled)) else "exclusive"


def with_positions(labelled: Corpus, partner: Corpus, reading: Spans, *, guessed: bool) -> Corpus:
    """A labelled corpus with token positions instead, checked against the tokens of its partner.

    Corpus and partner (the key of a response, or the reverse) number their documents alike.
    """
    start, last = _numbers(labelled)
    end = last + 1 if reading == "inclusive" else last
    document = labelled.mention_document
    wrong = (start < 0) | (end <= start)
    if partner.tokens is not None:
        limit = partner.tokens.counts[document]
        wrong |= (limit > 0) & (end > limit)  # a document that the other side lacks has no tokens
    if wrong.any():
        raise _outside(labelled, partner, int(np.argmax(wrong)), reading)
    corpus = assemble(
        documents=labelled.documents,
        mention_document=document,
        entity=labelled.mention_entity,
        start=start,
        end=end,
        name=labelled.name,
    )
    notices = labelled.notices
    if guessed and start.size:
        notices = (*notices, _guess(labelled, reading))
    return corpus.with_details(notices=notices)


def _is_span(label: Hashable) -> bool:
    return (
        isinstance(label, tuple)
        and len(label) == 2
        and all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in label)
    )


def _pairs(labelled: Corpus) -> Sequence[tuple[int, int]]:
    return cast("Sequence[tuple[int, int]]", labelled.labels or ())


def _numbers(labelled: Corpus) -> ArrayPair:
    try:
        pairs = integers(_pairs(labelled)).reshape(-1, 2)
    except OverflowError:
        raise InputError(
            "a span with a number too large for any text", file=labelled.name or None
        ) from None
    # Beyond any text, but so that an end may still be counted up.
    pairs = np.minimum(pairs, np.iinfo(np.int64).max - 1)
    return pairs[:, 0], pairs[:, 1]


def _guess(labelled: Corpus, reading: Spans) -> Notice:
    why = "one" if reading == "inclusive" else "none"
    message = (
        f"{labelled.name}: (start, end) spans were read with {reading} ends, as {why} of them has "
        f"start = end; use spans='inclusive' or 'exclusive', or corefeval.corpus_from_arrays, "
        "to leave nothing to guess"
    )
    return Notice("spans", message, labelled.n_mentions)


def _outside(labelled: Corpus, partner: Corpus, row: int, reading: Spans) -> InputError:
    """The error for a span that is not within its document."""
    index = int(labelled.mention_document[row])
    start, end = _pairs(labelled)[row]
    count = int(partner.tokens.counts[index]) if partner.tokens is not None else 0
    top = f", end up to {count - 1 if reading == 'inclusive' else count}" if count else ""
    relation = "<=" if reading == "inclusive" else "<"
    fix = f"ends were read as {reading}: "
    fix += (
        "if they point after the last token, use spans='exclusive'"
        if reading == "inclusive"
        else "if they point at the last token, use spans='inclusive'"
    )
    return InputError(
        f"a span outside document {excerpt(str(labelled.documents[index]))}",
        file=labelled.name or None,
        found=f"({start}, {end})" + (f" in {count:,} tokens" if count else ""),
        expected=f"0 <= start {relation} end{top}, counted in the document",
        fix=fix,
    )
