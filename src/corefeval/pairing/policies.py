"""Which mentions take part: repeated mentions and singletons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, is_sorted
from corefeval.model.construction import assemble
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


def with_lost(corpus: Corpus, codes: IntArray) -> tuple[Corpus, IntArray]:
    """The corpus with a mention for each one that was written and could not be placed.

    It stands in its entity, on tokens that nobody else has, and its code is negative: it is never
    matched. Documents without tokens have no room for any.
    """
    lost = [] if corpus.ledger is None else [e for e in corpus.ledger.entries if e.state == "lost"]
    start, end, tokens = corpus.mention_start, corpus.mention_end, corpus.tokens
    if not lost or start is None or end is None or tokens is None:
        return corpus, codes
    documents = {str(identifier): index for index, identifier in enumerate(corpus.documents)}
    owners = corpus.entity_document.tolist()
    names = list(corpus.names or map(str, range(len(owners))))
    entities = {pair: number for number, pair in enumerate(zip(owners, names, strict=True))}
    columns = zip(corpus.mention_document.tolist(), start.tolist(), end.tolist(), strict=True)
    taken = set(columns)
    rows: list[tuple[int, ...]] = []
    room = {index: _spans(int(tokens.counts[index])) for index in documents.values()}
    for entry in lost:
        index = documents.get(entry.document, -1)
        free = (one for one in room.get(index, ()) if (index, *one) not in taken)
        span = next(free, None)
        if span is not None:
            entity = entities.setdefault((index, entry.entity), len(entities))
            rows.append((index, *span, entity, -1 - len(rows)))
    added = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    whole = assemble(
        documents=corpus.documents,
        mention_document=np.concatenate((corpus.mention_document, added[0])),
        start=np.concatenate((start, added[1])),
        end=np.concatenate((end, added[2])),
        entity=np.concatenate((corpus.mention_entity, added[3])),
        features={"code": np.concatenate((codes, added[4]))},
        tokens=tokens,
        name=corpus.name,
    )
    named = [name for (_, name), _ in sorted(entities.items(), key=lambda one: (one[0][0], one[1]))]
    kept = {"ledger": corpus.ledger, "notices": corpus.notices}
    return whole.with_details(names=named, features={}, **kept), whole.features["code"]


def _spans(count: int) -> Iterator[tuple[int, int]]:
    """All spans of a document, the longest first."""
    return (
        (start, start + size) for size in range(count, 0, -1) for start in range(count - size + 1)
    )


def apply_policies(
    corpora: Sequence[Corpus], codes: Sequence[IntArray], protocol: Protocol
) -> tuple[list[Corpus], list[IntArray], list[Notice]]:
    """Corpora without repeated mentions and singletons, as the protocol says, and their codes.

    Codes are negative for mentions of answers that were lost, where these are to count.
    """
    kept, kept_codes = [], []
    notices: list[Notice] = []
    # The first corpus is the key; all others are responses.
    first = {"drop": 0, "drop-response": 1}.get(protocol.singletons, len(corpora))
    for place, (corpus, own) in enumerate(zip(corpora, codes, strict=True)):
        lost = protocol.lost == "strict"
        apply = partial(_apply, corpus, own, protocol.duplicates, place >= first, lost)
        choices = f"policies {protocol.duplicates} {place >= first} {lost}"
        # A key comes again with the next response, and mostly with the same codes.
        made = apply() if place else corpus.remember(choices, apply, of=own)
        kept.append(corpus if made[0] is None else made[0])
        kept_codes.append(made[1])
        notices += made[2]
    return kept, kept_codes, notices


def _apply(
    corpus: Corpus,
    codes: IntArray,
    duplicates: Duplicates,
    drops_singletons: bool,
    counts_lost: bool,
) -> tuple[Corpus | None, IntArray, tuple[Notice, ...]]:
    """What the protocol leaves; no corpus where that is all, for none is to keep itself alive."""
    left = corpus
    if counts_lost:
        left, codes = with_lost(left, codes)
    left, codes, notices = without_duplicates(left, codes, duplicates)
    if drops_singletons:
        left, codes, dropped = without_singletons(left, codes)
        notices += dropped
    return None if left is corpus else left, codes, notices
