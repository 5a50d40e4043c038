"""Which response document is which key document, and which mentions take part."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from corefeval.diagnostics import InputError, Notice, PairingError, UsageError, excerpt, plural
from corefeval.model import Corpus, DocumentId, TokenDifference, Tokens
from corefeval.model.arrays import BoolArray, IntArray, is_sorted

Duplicates = Literal["first", "last", "error"]
Singletons = Literal["keep", "drop"]

_SHOWN = 3
_CANDIDATE_TEXT = 100_000  # looking for a similar id in more takes longer than it helps


@dataclass(frozen=True, eq=False)
class Pairing:
    """A key and a response that number their documents alike: the key's documents, in its order."""

    key: Corpus
    response: Corpus
    notices: tuple[Notice, ...] = ()


def pair(
    key: Corpus, response: Corpus, *, documents: str | None = None, ignore_tokens: bool = False
) -> Pairing:
    """Pair documents by id and part, never by position, and check that their texts are the same.

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
    if not ignore_tokens and key.tokens is not None and response.tokens is not None:
        _check_tokens(key.documents, key.tokens, response.tokens, paired)
    return Pairing(key, response, tuple(notices))


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
    index = {identifier: position for position, identifier in enumerate(response.documents)}
    old = np.array([index.get(identifier, -1) for identifier in key.documents], dtype=np.int64)
    known = set(key.documents)
    missing = [d for d in key.documents if d not in index]
    extra = [d for d in response.documents if d not in known]
    if len(missing) == len(key.documents):
        raise PairingError(
            "no document of the response is in the key",
            file=response.name or None,
            found=_listed([str(d) for d in response.documents]) or "no documents",
            expected=_listed([str(d) for d in key.documents]) or "a key with documents",
            fix="documents pair by id and part: give both files the same ‘#begin document’ lines",
        )
    notices = []
    if missing:
        notices.append(
            Notice(
                "missing-documents",
                f"{plural(len(missing), 'key document')} not in the response, counted as empty: "
                + _with_suggestions(missing, extra or response.documents),
                len(missing),
            )
        )
    if extra:
        notices.append(
            Notice(
                "extra-documents",
                f"{plural(len(extra), 'response document')} not in the key, left out: "
                + _with_suggestions(extra, missing or key.documents),
                len(extra),
            )
        )
    return response.select_documents(old, key.documents), np.flatnonzero(old >= 0), notices


def _with_suggestions(identifiers: Sequence[DocumentId], others: Sequence[DocumentId]) -> str:
    enough = _CANDIDATE_TEXT // (1 + max(len(other.name) for other in others))
    candidates = [str(other) for other in others[:enough]]
    shown = []
    for identifier in identifiers[:_SHOWN]:
        close = difflib.get_close_matches(str(identifier), candidates, n=1)
        hint = f" (closest: {excerpt(close[0])})" if close else ""
        shown.append(excerpt(str(identifier)) + hint)
    return ", ".join(shown) + (", …" if len(identifiers) > _SHOWN else "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(excerpt, names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "")


def _check_tokens(
    documents: Sequence[DocumentId], key: Tokens, response: Tokens, paired: IntArray
) -> None:
    """Refuse a response of another text, at the first difference."""
    line = None
    unequal = paired[key.counts[paired] != response.counts[paired]]
    if unequal.size:
        document = int(unequal[0])
        difference = key.first_difference(response, [document])
        found = f"{response.counts[document]:,} tokens"
        expected = f"{key.counts[document]:,} tokens as in the key"
        if difference is not None:
            found, expected = _told(difference, key, f"; {found} in all", f"; {expected}")
        elif "word" in key.columns and "word" in response.columns:
            shorter = int(min(key.counts[document], response.counts[document]))
            found += f"; the first {shorter:,} are the same"
        last = int(response.counts[document]) - 1
        if last >= 0:
            line = response.line(document, min(last, int(key.counts[document])))
    else:
        difference = key.first_difference(response, paired)
        if difference is None:
            return
        document = difference.document
        found, expected = _told(difference, key)
    raise PairingError(
        f"document {excerpt(str(documents[document]))} is another text than in the key",
        file=response.source,
        line=difference.their_line if difference else line,
        found=found,
        expected=expected,
        fix="score the same tokenisation, or go on with --ignore-tokens / ignore_tokens=True",
    )


def _told(
    difference: TokenDifference, key: Tokens, also_found: str = "", also_expected: str = ""
) -> tuple[str, str]:
    place = f" as on line {difference.my_line} of {key.source}" if difference.my_line else ""
    return (
        f"token {difference.position} is {excerpt(difference.theirs)}{also_found}",
        f"{excerpt(difference.mine)}{place}{also_expected}",
    )


def without_duplicates(
    corpus: Corpus, codes: IntArray, policy: Duplicates
) -> tuple[Corpus, IntArray, tuple[Notice, ...]]:
    """Keep one of the mentions that are repeated: the first- or the last-opened one.

    `codes` are equal where mentions are the same; they come back for the mentions that stay.
    """
    repeated = _repeated(codes, keep_last=policy == "last")
    if repeated is None:
        return corpus, codes, ()
    count = int(repeated.sum())
    if policy == "error":
        raise _duplicate_error(corpus, codes, int(np.argmax(repeated)), count)
    keep = ~repeated
    notice = Notice(
        "repeated-mentions",
        f"{corpus.name or 'corpus'}: {plural(count, 'repeated mention')} dropped, "
        f"the {policy} of each kept",
        count,
    )
    return corpus.keep_mentions(keep), codes[keep], (notice,)


def _repeated(codes: IntArray, keep_last: bool) -> BoolArray | None:
    """Which mentions are there already, before (or after) them in their own order."""
    order = None if is_sorted(codes) else np.argsort(codes, kind="stable")
    ordered = codes if order is None else codes[order]
    same = ordered[1:] == ordered[:-1]
    if not same.any():
        return None
    repeated = np.concatenate((same, [False]) if keep_last else ([False], same))
    if order is None:
        return repeated
    result = np.empty_like(repeated)
    result[order] = repeated
    return result


def _duplicate_error(corpus: Corpus, codes: IntArray, row: int, count: int) -> InputError:
    document = corpus[int(corpus.mention_document[row])]
    first = document.mentions[int(np.argmax(codes == codes[row])) - document.rows.start]
    again = document.mentions[row - document.rows.start]
    has_lines = corpus.tokens is not None and again.label is None
    line = corpus.tokens.line(document.index, again.start) if has_lines and corpus.tokens else None
    what = again.label if again.label is not None else f"tokens {again.start} to {again.end - 1}"
    return InputError(
        f"a mention is repeated in document {excerpt(str(document.id))}"
        + (f" (and {count - 1:,} more)" if count > 1 else ""),
        file=corpus.tokens.source if corpus.tokens else corpus.name or None,
        line=line,
        found=f"{what} in entity {excerpt(first.entity.name)} and in {excerpt(again.entity.name)}",
        expected="each mention once",
        fix="--duplicates first (or last) keeps one of them",
    )


def without_singletons(
    corpus: Corpus, codes: IntArray
) -> tuple[Corpus, IntArray, tuple[Notice, ...]]:
    """Leave out the entities that have one mention."""
    keep = corpus.entity_sizes[corpus.mention_entity] > 1
    count = int(keep.size - keep.sum())
    if not count:
        return corpus, codes, ()
    message = f"{corpus.name or 'corpus'}: {plural(count, 'singleton')} dropped"
    return corpus.keep_mentions(keep), codes[keep], (Notice("singletons", message, count),)
