"""A file against its key: documents that do not pair, and texts that differ."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

import numpy as np

from corefeval.diagnostics import PairingError, excerpt, plural
from corefeval.linting.findings import Finding, Locator, from_error
from corefeval.model import Corpus, DocumentId, TokenDifference, Tokens
from corefeval.model.arrays import IntArray
from corefeval.pairing.characters import on_tokens
from corefeval.pairing.documents import partners
from corefeval.pairing.zeros import settle_zeros

_SHOWN = 3
_CANDIDATE_TEXT = 100_000  # looking for a similar id in more takes longer than it helps
_SIMILAR = 0.6


def comparison_findings(locator: Locator, key: Corpus) -> Iterator[Finding]:
    """What does not fit the key."""
    corpus = locator.corpus
    pairs = partners(key.documents, corpus.documents)
    paired = set(pairs.values())
    missing = [d for index, d in enumerate(key.documents) if index not in pairs]
    extra = [index for index in range(len(corpus.documents)) if index not in paired]
    if not pairs:
        message = f"{_listed(corpus.documents)} here, {_listed(key.documents)} in the key"
        yield locator.about_file("nothing-pairs", message)
        return
    others = [corpus.documents[index] for index in extra]
    for identifier in missing:
        message = f"in {key.name or 'the key'}, but not here{_hint(identifier, others)}"
        yield Finding("missing-document", message, locator.file, document=str(identifier))
    for index in extra:
        hint = _hint(corpus.documents[index], missing)
        message = f"not in {key.name or 'the key'}{hint}"
        yield locator.about_document("extra-document", index, message, 0)
    if key.tokens is not None and corpus.tokens is not None:
        yield from _text_findings(locator, key, key.tokens, pairs)


def _listed(documents: Sequence[DocumentId]) -> str:
    shown = ", ".join(excerpt(str(identifier)) for identifier in documents[:_SHOWN])
    return (shown or "nothing") + (", …" if len(documents) > _SHOWN else "")


def _hint(identifier: DocumentId, others: Sequence[DocumentId]) -> str:
    enough = _CANDIDATE_TEXT // (1 + max((len(other.name) for other in others), default=0))
    candidates = [str(other) for other in others[:enough]]
    close = difflib.get_close_matches(str(identifier), candidates, n=1, cutoff=_SIMILAR)
    return f"; did you mean {excerpt(close[0])}?" if close else ""


def _text_findings(
    locator: Locator, key: Corpus, mine: Tokens, pairs: dict[int, int]
) -> Iterator[Finding]:
    """The first difference of each document, in the order of the key."""
    indices = np.array(list(pairs), dtype=np.int64)
    old = np.full(len(key.documents), -1, dtype=np.int64)
    old[indices] = list(pairs.values())
    try:
        placed, notices = on_tokens(
            locator.corpus.select_documents(old, key.documents), key, ignore_tokens=True
        )
    except PairingError as error:
        yield from_error(error, "differing-tokens", file=locator.file)
        return
    for notice in notices:
        if not notice.items:
            yield locator.about_file("reading-notice", notice.message)
        for identifier in notice.items:
            message = "a text that is not made of the key's words"
            yield Finding("differing-tokens", message, locator.file, document=identifier)
    (key, placed), notices = settle_zeros((key, placed), "place")
    for notice in notices:
        yield locator.about_file("reading-notice", notice.message)
    mine, theirs = key.tokens or mine, placed.tokens
    if theirs is None:
        return
    differences = {d.document: d for d in _differences(mine, theirs, indices)}
    for index in indices.tolist():
        n_mine, n_theirs = int(mine.counts[index]), int(theirs.counts[index])
        difference = differences.get(index)
        counts = f"{plural(n_theirs, 'token')} of the key's {n_mine:,}"
        if _is_truncated(difference, n_mine, n_theirs):
            message, kind, position = f"{counts}, then it ends", "truncated-document", n_theirs - 1
        elif difference is not None:
            message = _told(difference, mine) + (f"; {counts}" if n_mine != n_theirs else "")
            kind, position = "differing-tokens", difference.position
        elif n_mine != n_theirs:
            message, kind, position = counts, "differing-tokens", n_mine
        else:
            continue
        yield locator.about_document(kind, int(old[index]), message, max(position, 0))


def _differences(mine: Tokens, theirs: Tokens, indices: IntArray) -> Iterator[TokenDifference]:
    while (difference := mine.first_difference(theirs, indices)) is not None:
        yield difference
        indices = indices[indices > difference.document]


def _is_truncated(difference: TokenDifference | None, n_mine: int, n_theirs: int) -> bool:
    """Whether a document is the beginning of the key's; its last word may be cut."""
    cut = difference is None or (
        difference.position == n_theirs - 1 and difference.mine.startswith(difference.theirs)
    )
    return n_theirs < n_mine and cut


def _told(difference: TokenDifference, key: Tokens) -> str:
    place = f" as on line {difference.my_line:,} of {key.source}" if difference.my_line else ""
    found, expected = excerpt(difference.theirs, 30), excerpt(difference.mine, 30)
    return f"token {difference.position} is {found}, not {expected}{place}"
