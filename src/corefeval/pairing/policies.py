"""Which mentions take part: repeated mentions and singletons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, is_sorted
from corefeval.protocol import Duplicates, Protocol


def without_duplicates(
    corpus: Corpus, codes: IntArray, policy: Duplicates
) -> tuple[Corpus, IntArray, tuple[Notice, ...]]:
    """Keep one of the mentions that are repeated: the first- or the last-opened one.

    `codes` are equal where mentions are the same; they come back for the mentions that stay.
    """
    repeated = _find_repeats(codes, keep_last=policy == "last")
    if repeated is None:
        return corpus, codes, ()
    count = int(repeated.sum())
    if policy == "error":
        raise _duplicate_error(corpus, codes, int(np.argmax(repeated)), count)
    keep = ~repeated
    text = f"{corpus.name or 'corpus'}: {{n}} dropped, the {policy} of each kept"
    notice = Notice("repeated-mentions", text, count, noun="repeated mention")
    return corpus.keep_mentions(keep), codes[keep], (notice,)


def _find_repeats(codes: IntArray, keep_last: bool) -> BoolArray | None:
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
    tokens = corpus.tokens
    source = None if tokens is None else tokens.source  # a folder has no single one, nor lines
    has_line = tokens is not None and source is not None and again.label is None
    line = tokens.line(document.index, again.start) if tokens is not None and has_line else None
    what = again.label if again.label is not None else f"tokens {again.start} to {again.end - 1}"
    return InputError(
        f"a mention is repeated in document {excerpt(str(document.id))}"
        + (f" (and {count - 1:,} more)" if count > 1 else ""),
        file=source or corpus.name or None,
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
    text = f"{corpus.name or 'corpus'}: {{n}} dropped"
    notice = Notice("singletons", text, count, noun="singleton")
    return corpus.keep_mentions(keep), codes[keep], (notice,)


def apply_policies(
    corpora: Sequence[Corpus], codes: Sequence[IntArray], protocol: Protocol
) -> tuple[list[Corpus], list[IntArray], list[Notice]]:
    """Corpora without repeated mentions and singletons, as the protocol says, and their codes."""
    kept, kept_codes = [], []
    notices: list[Notice] = []
    for place, (corpus, own) in enumerate(zip(corpora, codes, strict=True)):
        apply = partial(_apply, corpus, own, protocol)
        choices = f"policies {protocol.duplicates} {protocol.singletons}"
        # A key comes again with the next response, and mostly with the same codes.
        made = apply() if place else corpus.remember(choices, apply, of=own)
        kept.append(corpus if made[0] is None else made[0])
        kept_codes.append(made[1])
        notices += made[2]
    return kept, kept_codes, notices


def _apply(
    corpus: Corpus, codes: IntArray, protocol: Protocol
) -> tuple[Corpus | None, IntArray, tuple[Notice, ...]]:
    """What the protocol leaves; no corpus where that is all, for none is to keep itself alive."""
    left, codes, notices = without_duplicates(corpus, codes, protocol.duplicates)
    if protocol.singletons == "drop":
        left, codes, dropped = without_singletons(left, codes)
        notices += dropped
    return None if left is corpus else left, codes, notices
