"""Tokens made from lists and texts, and from other tokens: selected, joined, merged, moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain

import numpy as np

from corefeval.model.arrays import (
    IntArray,
    all_zero,
    integers,
    looked_up,
    offsets_of,
    ragged_arange,
    starts_of,
)
from corefeval.model.categories import Categories
from corefeval.model.tokens import (
    NO_ROW,
    NODE_ROW,
    OF_NODES,
    Column,
    Sentences,
    Tokens,
    TokenTable,
)


@dataclass(frozen=True, slots=True)
class DocumentTokens:
    """One document's token columns (a list of strings each), sentences and lines."""

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    count: int = 0
    sentence_starts: Sequence[int] = ()
    lines: Sequence[int] | None = None


class ListedColumn:
    """A column of strings, document by document, which is coded when cells are first needed."""

    def __init__(self, cells: Sequence[Sequence[str]]) -> None:
        self.cells = cells

    @cached_property
    def coded(self) -> Categories:
        """All cells; two fast passes, instead of one that asks of each cell whether it is new."""
        cells = list(chain.from_iterable(self.cells))
        names = dict.fromkeys(cells)
        numbers = dict(zip(names, range(len(names)), strict=True))
        codes = np.fromiter(map(numbers.__getitem__, cells), dtype=np.int64, count=len(cells))
        return Categories(codes, tuple(names))

    def __call__(self, rows: IntArray) -> Categories:
        """The cells of some rows."""
        return self.coded.take(rows)


def tokens_of_documents(documents: Sequence[DocumentTokens], source: str | None = None) -> Tokens:
    """Tokens of documents that are lists of strings; documents with the same columns are a table.

    Columns of empty nodes that only some documents have are blank in the others.
    """
    filled = [document for document in documents if document.count] or documents
    of_nodes = [name for name in OF_NODES if any(name in d.columns for d in filled)]
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, document in enumerate(documents):
        groups.setdefault((document.lines is None, *document.columns), []).append(index)
    common = [
        name
        for name in dict.fromkeys(name for document in filled for name in document.columns)
        if name in of_nodes or all(name in document.columns for document in filled)
    ]
    counts = integers([document.count for document in documents])
    run_table, first = np.zeros_like(counts), np.zeros_like(counts)
    tables = []
    for number, members in enumerate(groups.values()):
        run_table[members] = number
        first[members] = np.cumsum(counts[members]) - counts[members]
        rows = [documents[index] for index in members]
        names = dict.fromkeys((*rows[0].columns, *of_nodes))
        columns: dict[str | int, Column] = {
            name: ListedColumn([d.columns.get(name) or [""] * d.count for d in rows])
            for name in names
        }
        columns |= {place: columns[n] for place, n in enumerate(common, 1) if n in columns}
        lines = None if rows[0].lines is None else list(chain(*(d.lines or () for d in rows)))
        find_line = None if lines is None else lines.__getitem__
        tables.append(TokenTable(columns, find_line=find_line, source=source))
    sentences = partial(
        _list_sentences, [document.sentence_starts for document in documents], counts
    )
    return Tokens(tuple(tables), run_table, first, counts, sentences)


def _list_sentences(starts: Sequence[Sequence[int]], counts: IntArray) -> Sentences:
    lengths = np.fromiter(map(len, starts), dtype=np.int64, count=len(starts))
    positions = np.fromiter(chain.from_iterable(starts), dtype=np.int64, count=int(lengths.sum()))
    tokens = positions + np.repeat(starts_of(counts), lengths)
    return tokens, tokens


def tokens_of_texts(texts: Sequence[str | None], source: str | None = None) -> Tokens:
    """Texts without tokens: every character is a position, and each text is one sentence.

    None stands for a document that is not there.
    """
    counts = integers([len(text or "") for text in texts])
    is_there = np.array([text is not None for text in texts], dtype=np.bool_)
    starts = starts_of(counts)[counts > 0]
    return Tokens(
        tuple(TokenTable(text=text, source=source) for text in texts if text is not None),
        np.where(is_there, np.cumsum(is_there) - 1, -1),
        np.zeros_like(counts),
        counts,
        (starts, starts),
    )


def select_tokens(tokens: Tokens, documents: IntArray) -> Tokens:
    """The tokens of some documents, in this order; −1 stands for a document without tokens."""
    runs, bounds = documents, None
    if tokens.bounds is not None:
        sizes = np.where(documents >= 0, np.append(np.diff(tokens.bounds), 0)[documents], 0)
        runs = ragged_arange(tokens.bounds[documents], sizes)
        bounds = offsets_of(sizes)
    run_table, tables = looked_up(tokens.run_table, runs), tokens.tables
    if len(tables) > 1:
        used = np.unique(run_table[run_table >= 0])
        run_table = np.where(run_table >= 0, np.searchsorted(used, run_table), -1)
        tables = tuple(tables[number] for number in used.tolist())
    rows = tokens.token_rows
    if rows is not None:
        present = documents[documents >= 0]
        rows = rows[ragged_arange(tokens.offsets[present], tokens.counts[present])]
    return Tokens(
        tables,
        run_table,
        np.append(tokens.run_first, 0)[runs],
        np.append(tokens.run_counts, 0)[runs],
        partial(_select_sentences, tokens, documents),
        bounds,
        rows,
    )


def _select_sentences(tokens: Tokens, documents: IntArray) -> Sentences:
    present = np.flatnonzero(documents >= 0)
    old = documents[present]
    counts = all_zero(documents.size)
    counts[present] = tokens.counts[old]
    starts, rows = tokens.sentences
    edges = np.searchsorted(starts, tokens.offsets)
    lengths = np.diff(edges)[old]
    chosen = ragged_arange(edges[old], lengths)
    shift = starts_of(counts)[present] - tokens.offsets[old]
    return starts[chosen] + np.repeat(shift, lengths), rows[chosen]


def join_tokens(parts: Sequence[Tokens | None]) -> Tokens | None:
    """The tokens of all parts, part after part; None where a part has none."""
    present = [part for part in parts if part is not None]
    if len(present) < len(parts):
        return None
    n_tables = np.cumsum([0, *(len(part.tables) for part in present)])
    run_tables = [
        np.where(part.run_table >= 0, part.run_table + shift, -1)
        for part, shift in zip(present, n_tables.tolist(), strict=False)
    ]
    bounds = None
    if any(part.bounds is not None for part in present):
        sizes = [
            np.ones_like(part.counts) if part.bounds is None else np.diff(part.bounds)
            for part in present
        ]
        bounds = offsets_of(np.concatenate(sizes))
    is_moved = any(part.token_rows is not None for part in present)
    return Tokens(
        tuple(table for part in present for table in part.tables),
        np.concatenate(run_tables),
        np.concatenate([part.run_first for part in present]),
        np.concatenate([part.run_counts for part in present]),
        partial(_join_sentences, present),
        bounds,
        np.concatenate([part.rows() for part in present]) if is_moved else None,
    )


def mix_tokens(tokens: Tokens, other_tokens: Tokens, is_of_first: Sequence[bool]) -> Tokens:
    """The first tokens for some documents, the others for all other documents."""
    joint = join_tokens([tokens, other_tokens])
    assert joint is not None  # as both are there
    documents = np.arange(len(is_of_first))
    return select_tokens(joint, np.where(is_of_first, documents, documents + len(is_of_first)))


def _join_sentences(parts: Sequence[Tokens]) -> Sentences:
    shifts = np.cumsum([0, *(int(part.offsets[-1]) for part in parts)]).tolist()
    starts = [part.starts + shift for part, shift in zip(parts, shifts, strict=False)]
    return np.concatenate(starts), np.concatenate([part.sentences[1] for part in parts])


def merge_tokens(tokens: Tokens, lengths: IntArray, bounds: IntArray) -> Tokens:
    """Tokens of documents that follow each other as those of one document.

    Merged document g has the documents from `bounds[g]` up to `bounds[g + 1]`. `lengths` is how
    many tokens each document is to have, at least as many as it has: there is nothing in the
    others. Apart from these, tokens keep their numbers.
    """
    if not np.array_equal(tokens.counts, lengths):
        new = ragged_arange(starts_of(lengths), tokens.counts)
        tokens = place_tokens(tokens, new, lengths, row_of_new=NO_ROW)
    return replace(
        tokens,
        stated_sentences=partial(getattr, tokens, "sentences"),
        bounds=bounds if tokens.bounds is None else tokens.bounds[bounds],
    )


def place_tokens(
    tokens: Tokens,
    new: IntArray,
    counts: IntArray,
    starts: IntArray | None = None,
    *,
    row_of_new: int = NODE_ROW,
) -> Tokens:
    """The tokens under new numbers, some left out, with room for tokens that these lack.

    `new` is the new number of each token, −1 for one that is left out. A new number that no token
    has is an empty node of another text, or what `row_of_new` says. `counts` is how many tokens
    each run has then. `starts` are the new numbers at which the old sentences begin; by default,
    those of the first of their tokens that are left. Sentences without tokens are dropped.
    """
    size = int(counts.sum())
    is_kept = new >= 0
    rows = np.full(size, row_of_new, dtype=np.int64)
    rows[new[is_kept]] = tokens.rows()[is_kept]
    if starts is None:
        following = np.minimum.accumulate(np.where(is_kept, new, size)[::-1])[::-1]
        starts = following[tokens.starts]
    kept = np.flatnonzero(np.diff(np.append(starts, size)))
    return replace(
        tokens,
        run_counts=counts,
        stated_sentences=(starts[kept], tokens.sentences[1][kept]),
        token_rows=rows,
    )
