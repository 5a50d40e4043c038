"""What becomes of repeated mentions, singletons and mentions that only the response has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt, note
from corefeval.emulation.documents import Document, Entities, Paired, ranks_in_cells
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, all_false
from corefeval.model.identity import mention_codes
from corefeval.pairing.policies import without_duplicates
from corefeval.protocol import Protocol, programs_with


def have_repeats(documents: Sequence[Document]) -> bool:
    """Whether a mention is repeated on one side of a document."""
    sides = [side for document in documents for side in document.sides]
    return any(len({m for e in side for m in e}) < sum(map(len, side)) for side in sides)


def have_singletons(documents: Sequence[Document]) -> bool:
    """Whether documents have entities of one mention."""
    return any(len(e) == 1 for document in documents for side in document.sides for e in side)


def drop_repeats(paired: Paired, protocol: Protocol) -> Paired:
    """Both sides without the repeats that reading leaves out; `paired` itself where there are none.

    Under `once` each mention stays once, by corefeval's own rule: that is about who opens first,
    and so needs brackets and entities as written. Under `adjacent`, of mentions with the same place
    that end side by side only the last stays.
    """
    keeps_once = (protocol.order, protocol.brackets) == ("list", "written")
    keeps_once &= protocol.duplicates != "error"
    rules = {protocol.repeats_key, protocol.repeats_response}
    if not rules & ({"once", "adjacent"} if keeps_once else {"adjacent"}):
        return paired
    sides, dropped = [paired.key, paired.response], [0, 0]
    codes = mention_codes(*sides)
    for place, rule in enumerate((protocol.repeats_key, protocol.repeats_response)):
        before = sides[place]
        if rule == "once" and keeps_once:
            sides[place] = without_duplicates(before, codes[place], protocol.duplicates)[0]
        elif rule == "adjacent":
            sides[place] = before.keep_mentions(~_find_followed(before, codes[place]))
        dropped[place] = before.n_mentions - sides[place].n_mentions
    if not any(dropped):
        return paired
    return replace(paired, key=sides[0], response=sides[1], dropped=(dropped[0], dropped[1]))


def _find_followed(corpus: Corpus, codes: IntArray) -> BoolArray:
    """Which mentions have one with the same code right behind their own end.

    Without cells, mentions of several tokens end in the order of their entities, then those of one.
    """
    followed = all_false(codes.size)
    if np.unique(codes).size == codes.size:
        return followed
    keys = [corpus.mention_entity, corpus.mention_document]
    if corpus.mention_start is not None and corpus.mention_end is not None:
        ranks = ranks_in_cells(corpus, is_opening=False)
        single = corpus.mention_end - corpus.mention_start == 1
        tie_breakers = [np.array(ranks)] if ranks else [corpus.mention_entity, single]
        keys = [*tie_breakers, corpus.mention_end, corpus.mention_document]
    order = np.lexsort(keys)
    followed[order[:-1]] = codes[order[:-1]] == codes[order[1:]]
    return followed


def settle_repeats(
    documents: list[Document], paired: Paired, protocol: Protocol
) -> tuple[list[Document], list[Notice]]:
    """Documents in which mentions are repeated only as the protocol lets them be.

    Raises an InputError where repeats are errors, or more than a program allows.
    """
    if not any(paired.dropped) and not have_repeats(documents):
        return documents, []
    files = {"key": paired.key.name, "response": paired.response.name}
    settled = []
    for document in documents:
        in_key = {mention for entity in document.key for mention in entity}
        if protocol.duplicates == "error":
            _refuse_repeats(document, protocol, files)
        key = _settle_entities(document.key, protocol.repeats_key, protocol, in_key)
        response = _settle_entities(document.response, protocol.repeats_response, protocol, in_key)
        settled.append(replace(document, key=key, response=response))
    notices: list[Notice] = []
    for side, earlier in zip(("key", "response"), paired.dropped, strict=True):
        before, after = (
            sum(len(entity) for document in documents_then for entity in getattr(document, side))
            for documents_then in (documents, settled)
        )
        count = earlier + before - after
        if side == "response" and protocol.limit != "none" and count > int(protocol.limit):
            raise InputError(
                f"{count:,} repeated mentions in the response, more than "
                f"{protocol.limit}, stop {programs_with('limit', protocol.limit)}",
                file=files[side] or None,
                expected="each mention once",
                fix="--limit none scores without them",
            )
        text = f"left out (--repeats-{side} {getattr(protocol, f'repeats_{side}')})"
        notices += note("repeated-mentions", count, "repeated mention", text, whose=side)
    return settled, notices


def _refuse_repeats(document: Document, protocol: Protocol, files: Mapping[str, str]) -> None:
    """Raise an InputError if a side that must have each mention once repeats one."""
    for side in ("key", "response"):
        every = [mention for entity in getattr(document, side) for mention in entity]
        if getattr(protocol, f"repeats_{side}") == "once" and len({*every}) < len(every):
            raise InputError(
                f"a mention is repeated in document {excerpt(document.name)}",
                file=files[side] or None,
                expected="each mention once",
                fix="--duplicates first (or last) keeps one of them",
            )


def _settle_entities(
    entities: Entities, rule: str, protocol: Protocol, in_key: set[object]
) -> Entities:
    if rule == "keep":
        return entities
    if rule not in ("once", "known"):
        return [list(dict.fromkeys(entity)) for entity in entities]
    if rule == "known":
        return _keep_first(entities, in_key)
    every = {mention for entity in entities for mention in entity}
    if protocol.duplicates == "first":
        return _keep_first(entities, every)
    kept = _keep_first([entity[::-1] for entity in entities[::-1]], every)
    return [entity[::-1] for entity in kept[::-1]]


def _keep_first(entities: Entities, mentions: Iterable[object]) -> Entities:
    """Entities in which each of `mentions` stays at its first place only."""
    once = set(mentions)
    unseen = set(once)
    kept = []
    for entity in entities:
        kept_mentions = []
        for mention in entity:
            if mention not in once or mention in unseen:
                kept_mentions.append(mention)
                unseen.discard(mention)
        kept.append(kept_mentions)
    return [entity for entity in kept if entity]


def settle_singletons(documents: list[Document], protocol: Protocol) -> list[Document]:
    """Documents without the entities of one mention, or with these doubled in the response."""
    rule = protocol.singletons
    if rule == "keep" or not have_singletons(documents):
        return documents
    if rule == "double-response":
        return [
            replace(document, response=[e * 2 if len(e) == 1 else e for e in document.response])
            for document in documents
        ]
    return [
        replace(
            document,
            key=_drop_singletons(document.key) if rule == "drop" else document.key,
            response=_drop_singletons(document.response),
        )
        for document in documents
    ]


def _drop_singletons(entities: Entities) -> Entities:
    return [entity for entity in entities if len(entity) > 1]


def drop_keyless(documents: list[Document], protocol: Protocol) -> list[Document]:
    """The documents in which the key has mentions, where only these count."""
    if protocol.keyless != "skip" or all(document.key for document in documents):
        return documents
    return [document for document in documents if document.key]


def settle_twinless(documents: list[Document], protocol: Protocol) -> list[Document]:
    """Documents whose keys have the response's own mentions as singletons, where that is asked."""
    if protocol.twinless == "as-is":
        return documents
    settled = []
    for document in documents:
        in_key = {mention for entity in document.key for mention in entity}
        new = dict.fromkeys(m for entity in document.response for m in entity if m not in in_key)
        settled.append(replace(document, key=[*document.key, *([mention] for mention in new)]))
    return settled
