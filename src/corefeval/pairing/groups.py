"""Entities across documents: the documents of a group are joined, and their entities by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from corefeval.diagnostics import InputError, Notice
from corefeval.model import Corpus, DocumentId
from corefeval.model.arrays import IntArray


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
    group = np.empty(len(documents), dtype=np.int64)
    for number, members in enumerate(groups.values()):
        group[members] = number
    lengths = np.maximum.reduce([_lengths(corpus) for corpus in corpora])
    merged = [merge_documents(corpus, group, identifiers, lengths) for corpus in corpora]
    text = "{n} joined into " + f"{len(groups):,} by --across {across}: entities with the same id "
    notices = [
        Notice("joined-documents", text + "in them are one", len(documents), noun="document")
    ]
    if alone:
        text = f"{{n}} in whose ids {across!r} finds nothing, each kept by itself: {{items}}"
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
    lengths = np.zeros(len(corpus.documents), dtype=np.int64)
    if corpus.tokens is not None:
        lengths += corpus.tokens.counts
    if corpus.mention_end is not None:
        np.maximum.at(lengths, corpus.mention_document, corpus.mention_end)
    return lengths


def _nameless(corpus: Corpus) -> InputError:
    return InputError(
        "joining entities across documents needs ids that are valid across documents",
        file=corpus.name or None,
        found="entities without ids, or with ids that are valid within a document only",
        expected="a format with ids of entities: conll, corefud or crac-text, or "
        "corefeval.corpus_from_arrays(entity=…, document=…)",
        fix="leave out --across, or merge the documents that belong together",
    )
