"""Documents pair by id and part, never by position."""

from __future__ import annotations

import difflib
import fnmatch
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from corefeval.diagnostics import Notice, PairingError, UsageError, excerpt, plural
from corefeval.model import Corpus, DocumentId
from corefeval.model.arrays import IntArray
from corefeval.pairing.characters import on_tokens, with_key_on_tokens
from corefeval.pairing.texts import check_tokens, differing_documents
from corefeval.pairing.zeros import on_equal_terms

_SHOWN = 3
_CANDIDATE_TEXT = 100_000  # looking for a similar id in more takes longer than it helps
_SIMILAR = 0.75


@dataclass(frozen=True, eq=False)
class Pairing:
    """A key and a response that number their documents alike: the key's documents, in its order."""

    key: Corpus
    response: Corpus
    notices: tuple[Notice, ...] = ()


def pair(
    key: Corpus, response: Corpus, *, documents: str | None = None, ignore_tokens: bool = False
) -> Pairing:
    """Pair documents by id and part, and check that their texts are the same.

    A key document that the response lacks counts as empty; a response document that the key lacks
    is left out. `documents` is a glob: only documents whose id or name matches take part.
    """
    if documents is not None:
        if not isinstance(documents, str):
            raise UsageError(f"documents is a glob such as 'bc/*', not {documents!r}")
        key = _matching_documents(key, documents)
        response = _matching_documents(response, documents, may_be_empty=True)
    if not key.documents:
        raise PairingError("the key has no documents", file=key.name or None)
    notices: list[Notice] = []
    paired = np.arange(len(key.documents))
    if key.documents != response.documents:
        response, paired, notices = _on_the_keys_documents(key, response)
    key, told = with_key_on_tokens(key, response)
    notices += told
    response, told = on_tokens(response, key, ignore_tokens=ignore_tokens)
    notices += told
    key, response, told = on_equal_terms(key, response)
    notices += told
    if key.tokens is not None and response.tokens is not None:
        if not ignore_tokens:
            check_tokens(key.documents, key.tokens, response.tokens, paired, response.name)
        elif different := differing_documents(key.tokens, response.tokens, paired):
            names = tuple(str(key.documents[index]) for index in different)
            message = f"{plural(len(names), 'document')} with other tokens than in the key: "
            notices.append(_about(response, "other-tokens", message + _listed(names), names))
    for side, corpus in (("key", key), ("response", response)):
        if not corpus.n_mentions:
            message = f"{corpus.name or side}: there is not a single mention"
            notices.append(Notice("no-mentions", message))
    return Pairing(key, response, tuple(notices))


def _about(corpus: Corpus, kind: str, message: str, names: tuple[str, ...]) -> Notice:
    return Notice(kind, f"{corpus.name or 'response'}: {message}", max(len(names), 1), names)


def _matching_documents(corpus: Corpus, pattern: str, may_be_empty: bool = False) -> Corpus:
    chosen = [
        index
        for index, identifier in enumerate(corpus.documents)
        if any(fnmatch.fnmatchcase(name, pattern) for name in (str(identifier), identifier.name))
    ]
    if not chosen and not may_be_empty:
        raise PairingError(
            f"no document of {corpus.name or 'the key'} matches {pattern!r}",
            found=_listed([str(identifier) for identifier in corpus.documents]),
            fix="`*` stands for any text: 'bc/*', '*_0001; part 000'",
        )
    return corpus.select_documents(np.array(chosen, dtype=np.int64))


def _on_the_keys_documents(key: Corpus, response: Corpus) -> tuple[Corpus, IntArray, list[Notice]]:
    """The response on the key's documents, which of these it has, and what does not fit."""
    partner = partners(key.documents, response.documents)
    old = np.array([partner.get(index, -1) for index in range(len(key.documents))], dtype=np.int64)
    taken = set(partner.values())
    missing = [d for index, d in enumerate(key.documents) if index not in partner]
    extra = [d for index, d in enumerate(response.documents) if index not in taken]
    if not partner:
        raise PairingError(
            "no document of the response is in the key",
            file=response.name or None,
            found=_listed([str(d) for d in response.documents]) or "no documents",
            expected=_listed([str(d) for d in key.documents]),
            fix="documents pair by id and part: both sides must call them the same",
        )
    notices = []
    if missing:
        message = f"{plural(len(missing), 'key document')} not in the response, counted as empty: "
        message += _with_suggestions(missing, extra)
        notices.append(_about(response, "missing-documents", message, tuple(map(str, missing))))
    if extra:
        message = f"{plural(len(extra), 'response document')} not in the key, left out: "
        message += _with_suggestions(extra, missing)
        notices.append(_about(response, "extra-documents", message, tuple(map(str, extra))))
    return response.select_documents(old, key.documents), np.flatnonzero(old >= 0), notices


def partners(key: Sequence[DocumentId], response: Sequence[DocumentId]) -> dict[int, int]:
    """The response document of each key document, by index.

    Ids that are the same pair first. Then `bc/x_0` is part 0 of `bc/x`, as some formats write it.
    Then an id without a part pairs with the only part that the other side has; then names that
    differ in white space, and names with a part in them that are themselves part 0, as of files
    that were converted. A single document without a name pairs with the only document of the other
    side.

    >>> key = [DocumentId("bc/x", 0), DocumentId("y", 3)]
    >>> partners(key, [DocumentId("y"), DocumentId("bc/x_0")])
    {0: 1, 1: 0}
    """
    found: dict[int, int] = {}
    for of_key, of_response in (
        (_exactly, _exactly),
        (_with_part_in_name, _with_part_in_name),
        (_by_name_alone, _by_name_alone),
        (_by_words, _by_words),
        (_with_own_part, _as_part_0),
        (_as_part_0, _with_own_part),
    ):
        left = [index for index in range(len(key)) if index not in found]
        taken = set(found.values())
        right = [index for index in range(len(response)) if index not in taken]
        if not left or not right:
            break
        theirs = _unambiguous(response, right, of_response)
        for text, index in _unambiguous(key, left, of_key).items():
            if text not in theirs:
                continue
            if of_key is not of_response or not _two_parts(key[index], response[theirs[text]]):
                found[index] = theirs[text]
    if len(key) == len(response) == 1 and "" in (key[0].name, response[0].name):
        found[0] = 0
    return dict(sorted(found.items()))


def _exactly(identifier: DocumentId) -> Hashable:
    return identifier


def _with_part_in_name(identifier: DocumentId) -> Hashable:
    return identifier.name if identifier.part is None else f"{identifier.name}_{identifier.part}"


def _by_name_alone(identifier: DocumentId) -> Hashable:
    return identifier.name


def _by_words(identifier: DocumentId) -> Hashable:
    return " ".join(str(identifier.name).split())


def _with_own_part(identifier: DocumentId) -> Hashable:
    """The name with its part; a document without one has no such spelling."""
    return identifier if identifier.part is None else _with_part_in_name(identifier)


def _as_part_0(identifier: DocumentId) -> Hashable:
    """The name of a document that is part 0; others have no such spelling."""
    return identifier.name if identifier.part == 0 else identifier


def _two_parts(one: DocumentId, other: DocumentId) -> bool:
    return None not in (one.part, other.part) and one.part != other.part


def _unambiguous(
    identifiers: Sequence[DocumentId],
    chosen: Iterable[int],
    spelling: Callable[[DocumentId], Hashable],
) -> dict[Hashable, int]:
    spelled: dict[Hashable, list[int]] = defaultdict(list)
    for index in chosen:
        spelled[spelling(identifiers[index])].append(index)
    return {text: indices[0] for text, indices in spelled.items() if len(indices) == 1}


def _with_suggestions(identifiers: Sequence[DocumentId], others: Sequence[DocumentId]) -> str:
    enough = _CANDIDATE_TEXT // (1 + max((len(other.name) for other in others), default=0))
    candidates = [str(other) for other in others[:enough]]
    shown = []
    for identifier in identifiers[:_SHOWN]:
        close = difflib.get_close_matches(str(identifier), candidates, n=1, cutoff=_SIMILAR)
        hint = f" (closest: {excerpt(close[0])})" if close else ""
        shown.append(excerpt(str(identifier)) + hint)
    return ", ".join(shown) + (", …" if len(identifiers) > _SHOWN else "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(excerpt, names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "")
