"""Which mentions take part: policies for layers, repeated mentions, singletons and sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import InputError, Notice, Notices, excerpt, note
from corefeval.model import DEIXIS, NON_REFERRING, Corpus
from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    integers,
    mark_rows,
    plain_rows,
    stable_order,
    unset,
)
from corefeval.model.construction import assemble
from corefeval.protocol import Duplicates, Layer, Protocol


def without_duplicates(
    corpus: Corpus, codes: IntArray, policy: Duplicates
) -> tuple[Corpus, IntArray, Notices]:
    """The corpus with the first or the last of repeated mentions alone, its codes, and notices.

    `codes` are equal where mentions are the same. Mentions that do not refer and mentions that do
    never count as repetitions of each other.
    """
    layered = codes
    if corpus.entity_layer is not None:
        layered = codes * 2 + (corpus.mention_layer == NON_REFERRING)
    order = stable_order(layered)
    equals_next = layered[order[1:]] == layered[order[:-1]]
    if not equals_next.any():
        return corpus, codes, ()
    rows = order[:-1] if policy == "last" else order[1:]
    repeated, count = mark_rows(rows[equals_next], codes.size), int(equals_next.sum())
    if policy == "error":
        raise _duplicate_error(corpus, codes, int(np.argmax(repeated)), count)
    keep = ~repeated
    if len(corpus.relations):
        corpus = _hand_on_relations(corpus, layered, keep)
    outcome, whose = f"dropped, the {policy} of each kept", corpus.name or "corpus"
    notices = note("repeated-mentions", count, "repeated mention", outcome, whose=whose)
    return corpus.keep_mentions(keep), codes[keep], notices


def _hand_on_relations(corpus: Corpus, codes: IntArray, keep: BoolArray) -> Corpus:
    """The corpus with the relations of repeated mentions given to the mentions that are kept.

    Relations to an entity that loses all of its mentions go to what is kept for its first mention.
    """
    rows = np.flatnonzero(keep)
    rows = rows[stable_order(codes[rows])]
    twin = np.append(rows[np.searchsorted(codes[rows], codes)], -1)
    owner = np.append(corpus.mention_entity, -1)
    relations = corpus.relations
    first = unset(corpus.n_entities)
    first[corpus.mention_entity[::-1]] = np.arange(corpus.n_mentions)[::-1]
    first[corpus.mention_entity[keep]] = -1  # entities that have mentions left
    stated = relations.antecedent_mention
    mention = twin[relations.mention]
    antecedent = twin[np.where(stated >= 0, stated, first[relations.antecedent_entity])]
    related = replace(
        relations,
        mention=mention,
        entity=np.where(mention >= 0, owner[mention], relations.entity),
        antecedent_mention=antecedent,
        antecedent_entity=np.where(antecedent >= 0, owner[antecedent], relations.antecedent_entity),
    )
    return corpus.with_details(relations=related)


def _duplicate_error(corpus: Corpus, codes: IntArray, row: int, count: int) -> InputError:
    document = corpus[int(corpus.mention_document[row])]
    first = document.mentions[int(np.argmax(codes == codes[row])) - document.rows.start]
    again = document.mentions[row - document.rows.start]
    tokens = corpus.tokens
    source = None if tokens is None else tokens.source  # of a folder: none, nor lines
    has_line = source is not None and again.label is None
    line = tokens.line(document.index, again.start) if tokens is not None and has_line else None
    mention = again.label if again.label is not None else f"tokens {again.start} to {again.end - 1}"
    return InputError(
        f"a mention is repeated in document {excerpt(str(document.id))}"
        + (f" (and {count - 1:,} more)" if count > 1 else ""),
        file=source or corpus.name or None,
        line=line,
        found=f"{mention} in entity {excerpt(first.entity.name)} and in "
        f"{excerpt(again.entity.name)}",
        expected="each mention once",
        fix="--duplicates first (or last) keeps one of them",
    )


def with_lost(corpus: Corpus, codes: IntArray) -> tuple[Corpus, IntArray]:
    """The corpus with a mention for each one that an answer has and that could not be placed.

    Such a mention is in its entity, on a span that no other mention has, and its code is negative,
    so that it is never matched. There are none in documents without tokens.
    """
    entries = () if corpus.ledger is None else corpus.ledger.entries
    lost = [entry for entry in entries if entry.state in ("lost", "unclear")]
    start, end, tokens = corpus.mention_start, corpus.mention_end, corpus.tokens
    if not lost or start is None or end is None or tokens is None:
        return corpus, codes
    documents = {str(identifier): index for index, identifier in enumerate(corpus.documents)}
    owners = corpus.entity_document.tolist()
    names = list(corpus.names or map(str, range(len(owners))))
    entities = {pair: number for number, pair in enumerate(zip(owners, names, strict=True))}
    columns = plain_rows(corpus.mention_document, start, end)
    taken = set(columns)
    rows: list[tuple[int, ...]] = []
    room = {index: _spans(int(tokens.counts[index])) for index in documents.values()}
    for entry in lost:
        index = documents.get(entry.document, -1)
        span = next((span for span in room.get(index, ()) if (index, *span) not in taken), None)
        if span is not None:
            entity = entities.setdefault((index, entry.entity), len(entities))
            rows.append((index, *span, entity, -1 - len(rows)))
    added = integers(rows).reshape(-1, 5).T
    complete = assemble(
        documents=corpus.documents,
        mention_document=np.concatenate((corpus.mention_document, added[0])),
        start=np.concatenate((start, added[1])),
        end=np.concatenate((end, added[2])),
        entity=np.concatenate((corpus.mention_entity, added[3])),
        features={"code": np.concatenate((codes, added[4]))},
        tokens=tokens,
        name=corpus.name,
    )
    numbered = sorted((index, number, name) for (index, name), number in entities.items())
    named = [name for _, _, name in numbered]
    kept = {"ledger": corpus.ledger, "notices": corpus.notices}
    return complete.with_details(names=named, features={}, **kept), complete.features["code"]


def _spans(count: int) -> Iterator[tuple[int, int]]:
    """All spans of a document, the longest first."""
    return (
        (start, start + size) for size in range(count, 0, -1) for start in range(count - size + 1)
    )


class Kept(NamedTuple):
    """What the policies leave of a corpus: the corpus that is scored, and codes of its mentions.

    `full` is its whole layer, without repeated mentions, in which `rows` are those that are scored
    (None for all of them). A corpus is None where the policies leave the original as it is.
    """

    corpus: Corpus | None
    codes: IntArray
    full: Corpus | None
    full_codes: IntArray
    rows: IntArray | None
    notices: Notices


def apply_policies(
    corpora: Sequence[Corpus], codes: Sequence[IntArray], protocol: Protocol
) -> tuple[list[Corpus], list[IntArray], list[Notice], list[Kept]]:
    """Corpora with only what the protocol scores, their codes, notices, and details on each.

    Codes are negative for mentions of answers that were lost, where these are to count.
    """
    all_kept = []
    notices: list[Notice] = []
    # The first corpus is the key; all others are responses.
    first = {"drop": 0, "drop-response": 1}.get(protocol.singletons, len(corpora))
    for place, (corpus, corpus_codes) in enumerate(zip(corpora, codes, strict=True)):
        apply = partial(apply_to_side, corpus, corpus_codes, protocol, place >= first)
        if place:
            kept = apply()
        else:  # the key of the next response is mostly the same, with the same codes
            names = "duplicates", "lost", "layer", "split"
            choices = (str(place >= first), *(getattr(protocol, name) for name in names))
            kept = corpus.remember(f"policies {' '.join(choices)}", apply, of=corpus_codes)
        kept = kept._replace(corpus=kept.corpus or corpus, full=kept.full or corpus)
        all_kept.append(kept)
        notices += (
            *kept.notices,
            *(() if place else _note_unscored(corpus, all_kept[0], protocol)),
        )
    corpora = [kept.corpus for kept in all_kept if kept.corpus is not None]
    return corpora, [kept.codes for kept in all_kept], notices, all_kept


def _note_unscored(original: Corpus, key: Kept, protocol: Protocol) -> Iterator[Notice]:
    """Notices about mentions and sets of the key that the protocol does not score."""
    corpus = key.full
    if original.entity_layer is not None and protocol.layer == "identity":
        layers = original.mention_layer
        deixis = "of discourse deixis left out (--layer deixis scores them)"
        for layer, kind, outcome in (
            (DEIXIS, "unscored-deixis", deixis),
            (NON_REFERRING, "unscored-pseudo", "without a referent left out of coreference"),
        ):
            count = int((layers == layer).sum())
            yield from note(kind, count, "mention", outcome, whose=original.name or "key")
    if corpus is None or protocol.split != "off" or not len(corpus.relations):
        return
    from corefeval.model.relations import find_sets

    outcome = "of antecedents left out of coreference (--split score counts them)"
    number = len(find_sets(corpus))
    yield from note("unscored-sets", number, "set", outcome, whose=corpus.name or "key")


def apply_to_side(
    corpus: Corpus, codes: IntArray, protocol: Protocol, drops_singletons: bool
) -> Kept:
    """What the protocol leaves of a corpus; None stands for the corpus itself, left as it is.

    The corpus remembers the result, which therefore must not refer to the corpus.
    """
    left, name = corpus, corpus.name or "corpus"
    if protocol.lost == "strict":
        left, codes = with_lost(left, codes)
    left, codes, notices = _in_layer(left, codes, protocol.layer)
    left, codes, repeated = without_duplicates(left, codes, protocol.duplicates)
    notices += repeated
    full, full_codes = left, codes
    sets = None
    if protocol.split == "score" and len(left.relations):
        from corefeval.model.relations import find_sets

        sets = find_sets(left)
        left = replace(left, mention_entity=sets.merge(left.mention_entity))
        notices += sets.notices(name)
    keep = None if left.entity_layer is None else left.mention_layer != NON_REFERRING
    if drops_singletons:
        sizes = left.entity_sizes if sets is None else left.entity_sizes + (sets.owner >= 0)
        alone = sizes[left.mention_entity] == 1
        alone &= True if keep is None else keep
        keep = ~alone if keep is None else keep & ~alone
        notices += note("singletons", int(alone.sum()), "singleton", "dropped", whose=name)
    rows = None if keep is None or keep.all() else np.flatnonzero(keep)
    if rows is not None:
        left, codes = left.take_mentions(rows), codes[rows]
    if left.entity_layer is not None:  # there is one layer from here on
        left = replace(left, entity_layer=None)
    scored = None if left is corpus else left
    return Kept(scored, codes, None if full is corpus else full, full_codes, rows, notices)


def _in_layer(corpus: Corpus, codes: IntArray, layer: Layer) -> tuple[Corpus, IntArray, Notices]:
    """The mentions of a layer; mentions that do not refer stay with identity at this point."""
    if corpus.entity_layer is None and layer == "identity":
        return corpus, codes, ()
    keep = (corpus.mention_layer == DEIXIS) == (layer == "deixis")
    notices: Notices = ()
    if layer == "deixis" and not keep.any():
        text = f"{corpus.name or 'corpus'}: there is no discourse deixis"
        notices = (Notice("no-deixis", text),)
    if keep.all():
        return corpus, codes, notices
    return corpus.keep_mentions(keep), codes[keep], notices
