"""Documents joined into groups, and a document cut into segments.

Documents of a group become one, and entities of the same name in them too: entities across
documents. A novel alone cannot be resampled, but its segments can: runs of whole sentences of about
equal numbers of tokens. A mention belongs to the segment in which it begins; an entity that has
mentions in several segments becomes an entity in each of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from corefeval.diagnostics import InputError, Notice, plural
from corefeval.model import NO_RELATIONS, Corpus, DocumentId
from corefeval.model.arrays import IntArray, all_zero, dense_ranks, integers, unset


def join_groups(corpora: Sequence[Corpus], across: str) -> tuple[list[Corpus], list[Notice]]:
    """Corpora in which the documents of each group are joined into one.

    `across` is `none`, `all`, or a regular expression: documents in whose ids it finds the same
    text are a group, and one in which it finds nothing stays alone. Entities of a group that have
    the same name are one. Raises an InputError where the entities have no names of their own.
    """
    if across == "none":
        return list(corpora), []
    from corefeval.model.joining import merge_documents  # only where it is used

    for corpus in corpora:
        if corpus.n_mentions and not (corpus.names_hold and corpus.mention_start is not None):
            raise _nameless(corpus)
    documents = corpora[0].documents
    groups, alone = _groups(documents, across)
    identifiers = list(groups)
    group = unset(len(documents))
    for number, members in enumerate(groups.values()):
        group[members] = number
    lengths = np.maximum.reduce([_lengths(corpus) for corpus in corpora])
    merged = [merge_documents(corpus, group, identifiers, lengths) for corpus in corpora]
    text = "{n} joined into " + f"{len(groups):,} by --across {across}: entities with the same id "
    notices = [
        Notice("joined-documents", text + "in them are one", len(documents), noun="document")
    ]
    if alone:
        text = f"{{n}} with ids that do not match {across!r}, each kept by itself: {{items}}"
        notices.append(Notice("alone", text, len(alone), alone, "document"))
    return merged, notices


def _groups(
    documents: Sequence[DocumentId], across: str
) -> tuple[dict[DocumentId, list[int]], tuple[str, ...]]:
    """The documents of each group, by its name, and those that are in none."""
    if across == "all":
        return {DocumentId("all documents"): list(range(len(documents)))}, ()
    groups: dict[DocumentId, list[int]] = {}
    alone: list[int] = []
    for index, identifier in enumerate(documents):
        match = re.search(across, str(identifier))
        if match is None:
            alone.append(index)
        else:
            groups.setdefault(DocumentId(match[0]), []).append(index)
    for index in alone:
        identifier = documents[index]
        while identifier in groups:
            identifier = DocumentId(f"{identifier.name} (alone)", identifier.part)
        groups[identifier] = [index]
    return groups, tuple(str(documents[index]) for index in alone)


def _lengths(corpus: Corpus) -> IntArray:
    """The tokens of each document, at least as many as its mentions reach."""
    lengths = all_zero(len(corpus.documents))
    if corpus.tokens is not None:
        lengths += corpus.tokens.counts
    if corpus.mention_end is not None:
        np.maximum.at(lengths, corpus.mention_document, corpus.mention_end)
    return lengths


def _nameless(corpus: Corpus) -> InputError:
    return InputError(
        "documents cannot be joined, because no ids of entities hold across documents",
        file=corpus.name or None,
        found="entities without ids, or with ids that hold only within a document",
        expected="a format with ids of entities: conll, corefud or crac-text, or "
        "corefeval.corpus_from_arrays(entity=…, document=…)",
        fix="leave out --across, or merge the documents that belong together",
    )


LEAST = 2  # fewer segments cannot vary


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A key and a response of one document each, cut at the same token positions.

    `cuts` are the positions at which the second and each further segment begins.
    """

    key: Corpus
    response: Corpus
    cuts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.cuts) + 1


def segment(
    key: Corpus, response: Corpus, partners: IntArray, number: int = 20
) -> Segmentation | Notice:
    """Cut two corpora of the same single document into `number` segments, or say why not.

    Segments begin with sentences where the key (or else the response) has any, and with mentions
    of the key elsewhere. A segment in which the key has no mention joins the one before it, so
    that there may be fewer than `number`. `partners` has the key's row for each mention of
    the response, −1 for one that the key lacks: matched mentions are in one segment.

    >>> from corefeval.model import corpus_from_arrays
    >>> novel = corpus_from_arrays(entity=[0, 1, 0, 1, 0, 0], start=range(6))
    >>> cut = segment(novel, novel, np.arange(6), 3)
    >>> cut.cuts, cut.key.entity_document.tolist(), cut.key.mention_entity.tolist()
    ((2, 4), [0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 4])
    """
    starts = key.mention_start
    if starts is None or response.mention_start is None:
        message = "the only document has no token positions and cannot be cut into segments: "
        message += "no intervals"
        return Notice("no-segments", message)
    cuts = _with_mentions(_cuts(key, response, number), starts)
    if cuts.size + 1 < LEAST:
        message = (
            "the only document has mentions in fewer than two sentences and cannot be cut into "
            "segments: no intervals"
        )
        return Notice("no-segments", message)
    places = [np.searchsorted(cuts, s, side="right") for s in (starts, response.mention_start)]
    places[1] = np.where(partners >= 0, np.append(places[0], 0)[partners], places[1])
    sides = [
        _split(side, place, cuts.size + 1)
        for side, place in zip((key, response), places, strict=True)
    ]
    return Segmentation(sides[0], sides[1], tuple(cuts.tolist()))


def _cuts(key: Corpus, response: Corpus, number: int) -> IntArray:
    """Where segments begin: as near to equal parts as sentences (or else mentions) allow."""
    length, sentences = _sentences(key, response)
    number = min(number, 2 * max(length, key.n_mentions, 1))  # beyond it, every place is a cut
    shares = np.arange(1, number) / number
    if sentences.size > 1:
        targets = shares * length
        after = np.clip(np.searchsorted(sentences, targets), 1, sentences.size - 1)
        nearer = targets - sentences[after - 1] <= sentences[after] - targets
        return np.unique(sentences[after - nearer])
    starts = np.sort(key.mention_start) if key.mention_start is not None else unset(0)
    if not starts.size:
        return starts
    return np.unique(starts[integers(np.rint(shares * starts.size)).clip(0, starts.size - 1)])


def _sentences(key: Corpus, response: Corpus) -> tuple[int, IntArray]:
    """How many tokens there are, and where sentences begin."""
    for corpus in (key, response):
        if corpus.tokens is not None and corpus.tokens.counts[0]:
            starts = np.asarray(corpus.tokens.sentence_starts(0), dtype=np.int64)
            if starts.size > 1:
                return int(corpus.tokens.counts[0]), starts
    return 0, unset(0)


def _with_mentions(cuts: IntArray, starts: IntArray) -> IntArray:
    """Only the cuts that leave a mention of the key in each segment."""
    place = np.searchsorted(cuts, starts, side="right")
    filled = np.bincount(place, minlength=cuts.size + 1) > 0
    # Segments before the first one that has mentions join it.
    kept = np.flatnonzero(filled)[1:]
    return cuts[kept - 1]


def _split(corpus: Corpus, place: IntArray, number: int) -> Corpus:
    """The corpus with segments for documents; entities are split, mentions stay in their rows."""
    width = max(corpus.n_entities, 1)
    rank, distinct = dense_ranks(place * width + corpus.mention_entity)
    [name] = corpus.documents
    return replace(
        corpus,
        documents=tuple(
            DocumentId(f"{name} segment {index + 1} of {number}") for index in range(number)
        ),
        entity_document=distinct // width,
        mention_entity=rank,
        tokens=None,
        names=None,
        metadata=(),
        sentence_metadata=(),
        relations=NO_RELATIONS,
        own_text=None,
    )


def segment_notice(number: int, document: str) -> Notice:
    """The notice on intervals that come from segments of a document."""
    message = (
        f"{document}: a single document cannot be resampled; intervals are from "
        f"{plural(number, 'segment')} of it, each scored as a document"
    )
    return Notice("segments", message, number)
