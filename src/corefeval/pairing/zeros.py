"""Empty nodes (zeros): where they stand, and what becomes of those that not all sides have.

The place of an empty node is the number of words before it in its document, the sentence that it
stands in, and its own number: 5.1 and 5.2 follow the fifth word of a sentence, 0.1 precedes the
first. Words need no such care: all sides have the same ones. Two nodes that are aligned share the
earlier of their places, so that nothing depends on which side is the key; of more than two sides
all go by the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notice, Notices, note
from corefeval.model import Corpus, Tokens
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_false,
    all_true,
    begin_runs,
    dense_ranks,
    distinct,
    integers,
    mark_rows,
    offsets_of,
    stable_order,
    unset,
)
from corefeval.model.moving import move_mentions
from corefeval.model.tokens import documents_of_tokens
from corefeval.pairing.node_alignment import STRIDE, NodeTable, align_nodes, encode_id
from corefeval.protocol import Zeros


class _Nodes(NamedTuple):
    """The empty nodes of one side, in order: token numbered through, document and place.

    `opens` is 1 for a node before the first word of its sentence, else 0; `id` is the whole number
    of a node, such as 5.1, as `encode_id` has it.
    """

    token: IntArray
    document: IntArray
    word: IntArray
    opens: IntArray
    id: IntArray

    @property
    def number(self) -> IntArray:
        """The second part of each node's id; −1 where there is none."""
        return np.where(self.id >= 0, self.id % STRIDE - 1, -1)

    def take(self, rows: IntArray | BoolArray) -> _Nodes:
        """Some of the nodes."""
        return _Nodes(*(column[rows] for column in self))

    @staticmethod
    def join(*parts: _Nodes) -> _Nodes:
        """The nodes of all parts, one part after the other."""
        return _Nodes(*map(np.concatenate, zip(*parts, strict=True)))


@dataclass(slots=True)
class _Side:
    """A corpus, how many tokens its documents have, and its empty nodes."""

    corpus: Corpus
    counts: IntArray
    nodes: _Nodes

    @property
    def offsets(self) -> IntArray:
        """Where each document's tokens begin, tokens numbered through, and the end."""
        return offsets_of(self.counts)

    @property
    def nodes_in(self) -> IntArray:
        """How many empty nodes each document has."""
        return np.bincount(self.nodes.document, minlength=self.counts.size)


def settle_zeros(
    corpora: Sequence[Corpus], zeros: Zeros, differing: Sequence[int] | IntArray = ()
) -> tuple[list[Corpus], Notices]:
    """Corpora of the same documents whose positions mean the same, empty nodes or not.

    With "place" each text gets the empty nodes of all, so that nodes at the same place have the
    same position. With "align", nodes that are aligned with a node of the first corpus by their
    dependencies have its position, and only nodes that are not aligned go by their place. With
    "drop" no text has any. A side that marks no empty node in a document, but has as many tokens
    there as one that does, has the same nodes. Documents whose numbers of words differ are left as
    they are, unless nodes are dropped, and so are those that are said to be `differing`.
    """
    marked = any(c.tokens is not None and "empty" in c.tokens.columns for c in corpora)
    if not marked or any(corpus.labels is not None for corpus in corpora):
        return list(corpora), ()
    if zeros != "drop" and all(corpus.tokens is corpora[0].tokens for corpus in corpora):
        return list(corpora), ()
    sides = _sides(corpora)
    if not any(side.nodes.token.size for side in sides):
        return list(corpora), ()
    if zeros != "drop":
        return _on_one_axis(sides, differing, align=zeros == "align")
    settled = [_without_nodes(side) for side in sides]
    return [corpus for corpus, _ in settled], tuple(n for _, notices in settled for n in notices)


def _sides(corpora: Sequence[Corpus]) -> list[_Side]:
    """The sides with their empty nodes, including those that only another side marks."""
    model = next(corpus.tokens for corpus in corpora if corpus.tokens is not None)
    sides = []
    for corpus in corpora:
        if corpus.tokens is not None:
            sides.append(_Side(corpus, corpus.tokens.counts, _nodes_of(corpus.tokens)))
            continue
        counts = model.counts.copy()  # positions without tokens: those of the side that has some
        if corpus.mention_end is not None:
            np.maximum.at(counts, corpus.mention_document, corpus.mention_end)
        sides.append(_Side(corpus, counts, _nodes_of(None)))
    original = [(side.nodes, side.nodes_in) for side in sides]
    for side, (side_nodes, _) in zip(sides, original, strict=True):
        for marking, (nodes, number) in zip(sides, original, strict=True):
            is_marked_there = (side.nodes_in == 0) & (number > 0) & (side.counts == marking.counts)
            if nodes is not side_nodes and is_marked_there.any():
                taken = nodes.take(is_marked_there[nodes.document])
                shift = (side.offsets - marking.offsets)[taken.document]
                joined = _Nodes.join(side.nodes, taken._replace(token=taken.token + shift))
                side.nodes = joined.take(stable_order(joined.token))
    return sides


def _nodes_of(tokens: Tokens | None) -> _Nodes:
    """The empty nodes that tokens mark; an id is −1 where the format has none."""
    if tokens is None or "empty" not in tokens.columns:
        return _Nodes(*np.empty((5, 0), dtype=np.int64))
    token = np.flatnonzero(tokens.coded("empty").where(bool))
    document = documents_of_tokens(tokens.offsets, token)
    rank = np.arange(token.size) - np.searchsorted(document, document)
    word = token - tokens.offsets[document] - rank
    node_id = unset(token.size)
    if "number" in tokens.columns and token.size:
        texts = tokens.coded("number", token)
        node_id = integers([*map(encode_id, texts.names), -1])[texts.codes]
    # The word before a run of nodes, if it is of the document, ends the sentence or not.
    runs = token - np.arange(token.size)
    word_before = token[np.searchsorted(runs, runs)] - 1
    opens = word_before < tokens.offsets[document]
    opens |= tokens.sentence_of(token) != tokens.sentence_of(np.maximum(word_before, 0))
    return _Nodes(token, document, word, integers(opens), node_id)


class _Axis(NamedTuple):
    """The empty nodes of all sides in order, each place once.

    `group` is twice the number of words before a node, and one more where it is of the sentence
    behind them; `bases` is the number of words before each document. `code` numbers the places.
    """

    nodes: _Nodes
    group: IntArray
    code: IntArray
    bases: IntArray


def _on_one_axis(
    sides: Sequence[_Side], differing: Sequence[int] | IntArray, *, align: bool
) -> tuple[list[Corpus], Notices]:
    """All sides with the empty nodes of all, and notices on nodes that not all sides have."""
    _leave_out_other_texts(sides, differing)
    axis, groups, codes, moves = _axis(sides, align=align)
    present = np.sum([side.counts > 0 for side in sides], axis=0)
    where = [np.searchsorted(axis.code, code) for code in codes]
    having = np.bincount(np.concatenate(where), minlength=axis.code.size)
    lonely = having < present[axis.nodes.document]
    notices: list[Notice] = []
    elsewhere = "the other side" if len(sides) == 2 else "another response"
    for side, places, moved in zip(sides, where, moves, strict=True):
        name = side.corpus.name or "corpus"
        outcome = "matched by dependencies with one at another place"
        notices += note("aligned-nodes", moved, "empty node", outcome, whose=name)
        outcome = f"where {elsewhere} has none; their mentions match nothing"
        outcome += " (--zeros drop leaves them out)"
        notices += note("empty-nodes", int(lonely[places].sum()), "empty node", outcome, whose=name)
    pieces = zip(sides, groups, codes, strict=True)
    return [_move(side, axis, group, code) for side, group, code in pieces], tuple(notices)


def _leave_out_other_texts(sides: Sequence[_Side], differing: Sequence[int] | IntArray) -> None:
    """Treat empty nodes as words in documents whose words differ, where they cannot be placed."""
    words = [side.counts - side.nodes_in for side in sides]
    most = np.max(words, axis=0)
    is_one_text = np.all(
        [(n_words == most) | (s.counts == 0) for n_words, s in zip(words, sides, strict=True)], 0
    )
    is_one_text[list(differing)] = False
    for side in sides:
        side.nodes = side.nodes.take(is_one_text[side.nodes.document])


def _axis(
    sides: Sequence[_Side], *, align: bool
) -> tuple[_Axis, list[IntArray], list[IntArray], list[int]]:
    """The places of all nodes; for each side groups and codes of its nodes, and how many moved."""
    words = np.max([side.counts - side.nodes_in for side in sides], axis=0)
    bases = offsets_of(words + 1)[:-1]
    ends = np.cumsum([side.nodes.token.size for side in sides])[:-1]
    every = _Nodes.join(*(side.nodes for side in sides))
    # Without the same sentences, or without numbers on all sides, the order of nodes must do.
    starts = _sentence_starts(sides, bases)
    is_unlike = _other_sentences(starts, bases)[every.document]
    group = 2 * (bases[every.document] + every.word) + np.where(is_unlike, 0, every.opens)
    order = np.concatenate([_ordinals(part) for part in np.split(group, ends)])
    pieces = zip(np.split(group, ends), np.split(every.number, ends), strict=True)
    unusable = np.concatenate([_is_unsorted(*piece) for piece in pieces])
    unusable |= is_unlike | np.isin(every.document, every.document[every.number < 0])
    ranks, distinct = dense_ranks(np.where(unusable, order, every.number))
    code = dense_ranks(group)[0] * max(distinct.size, 1) + ranks
    moves, home = [0] * len(sides), all_true(code.size)
    if align:
        word = (group - 1) // 2  # of the same sentence
        sentence = np.searchsorted(np.union1d(bases, starts[0][1]), word, side="right")
        sentence = np.where(is_unlike, -1, sentence)
        code, home, moves = _align(sides, np.split(code, ends), np.split(sentence, ends))
    by_code = np.lexsort((~home, code))  # nodes that stand where those of their code are put first
    union, first = np.unique(code[by_code], return_index=True)
    example = by_code[first]
    axis = _Axis(every.take(example), group[example], union, bases)
    return axis, np.split(group, ends), np.split(code, ends), moves


def _align(
    sides: Sequence[_Side], codes: Sequence[IntArray], sentences: Sequence[IntArray]
) -> tuple[IntArray, BoolArray, list[int]]:
    """Codes of all nodes, the same for nodes of the first side and those aligned with them.

    Also whether a node stands at the place of its code, and of each side the number of nodes that
    are aligned with one at another place. A node whose place was taken by an aligned one gets a new
    place behind it.
    """
    first, moves = codes[0], [0]
    # What orders places: the place, that of the partner, what stands there, and who came second.
    ranks = [np.stack((code, code, 0 * code, 0 * code)) for code in codes]
    for side, code, sentence, rank in zip(
        sides[1:], codes[1:], sentences[1:], ranks[1:], strict=True
    ):
        first_rows = np.flatnonzero((sentences[0] >= 0) & np.isin(sentences[0], sentence))
        side_rows = np.flatnonzero((sentence >= 0) & np.isin(sentence, sentences[0]))
        first_table = _table(sides[0], first_rows, sentences[0], first)
        side_table = _table(side, side_rows, sentence, code)
        moves.append(0)
        if first_table is None or side_table is None:
            continue
        partner, contents = align_nodes(first_table, side_table)
        rows = partner[partner >= 0], np.flatnonzero(partner >= 0)
        first_rows, side_rows = first_rows[rows[0]], side_rows[rows[1]]
        rank[3] = np.isin(code, first[first_rows])
        if len(sides) == 2:
            first_places, side_places = first[first_rows], code[side_rows]
            is_second = first_places > side_places
            ranks[0][:, first_rows] = (
                np.minimum(first_places, side_places),
                np.maximum(first_places, side_places),
                np.where(is_second, contents[1][rows[1]], contents[0][rows[0]]),
                is_second,
            )
        rank[:, side_rows] = ranks[0][:, first_rows]
        moves[-1] = int((first[first_rows] != code[side_rows]).sum())
    every = np.concatenate(ranks, axis=1)
    order = np.lexsort(every[::-1])
    places = unset(order.size)
    places[order] = np.cumsum(np.any(np.diff(every[:, order], prepend=-1) != 0, axis=0))
    return places, every[0] == np.concatenate(codes), moves


def _table(side: _Side, rows: IntArray, sentence: IntArray, place: IntArray) -> NodeTable | None:
    """Some nodes of a side with their dependencies; None where there are none."""
    tokens, nodes = side.corpus.tokens, side.nodes
    if tokens is None or "deps" not in tokens.columns or not rows.size:
        return None
    dependencies = tokens.coded("deps", nodes.token[rows])
    return NodeTable(sentence[rows], place[rows], nodes.id[rows], dependencies)


def _ordinals(group: IntArray) -> IntArray:
    """The position of each node within its group, from 1; groups ascend."""
    return np.arange(1, group.size + 1) - np.searchsorted(group, group)


def _is_unsorted(group: IntArray, number: IntArray) -> BoolArray:
    """Which nodes are in a group whose numbers do not ascend."""
    wrong = (group[1:] == group[:-1]) & (number[1:] <= number[:-1])
    is_unsorted: BoolArray = np.isin(group, group[1:][wrong])
    return is_unsorted


def _sentence_starts(sides: Sequence[_Side], bases: IntArray) -> list[ArrayPair]:
    """Of each side that has tokens, their number by document, and words that begin sentences."""
    starts_of_sides = []
    for side in sides:
        if side.corpus.tokens is None:
            continue
        starts = side.corpus.tokens.starts
        document = documents_of_tokens(side.offsets, starts)
        before = np.searchsorted(side.nodes.token, starts) - np.searchsorted(
            side.nodes.token, side.offsets[document]
        )
        word = starts - side.offsets[document] - before
        inside = (word > 0) & (word < (side.counts - side.nodes_in)[document])
        starts_of_sides.append((side.counts, distinct((bases[document] + word)[inside])))
    return starts_of_sides


def _other_sentences(starts_of_sides: Sequence[ArrayPair], bases: IntArray) -> BoolArray:
    """In which documents not all sides begin sentences at the same words."""
    different = all_false(bases.size)
    for counts, places in starts_of_sides[1:]:
        unequal = np.setxor1d(starts_of_sides[0][1], places, assume_unique=True)
        documents = np.unique(documents_of_tokens(bases, unequal))
        have_tokens = (counts[documents] > 0) & (starts_of_sides[0][0][documents] > 0)
        different[documents[have_tokens]] = True
    return different


def _move(side: _Side, axis: _Axis, own_group: IntArray, code: IntArray) -> Corpus:
    """A side with the nodes of all sides in its documents.

    `own_group` has the groups of its nodes, `code` their codes on the axis.
    """
    present = np.flatnonzero(side.counts[axis.nodes.document] > 0)
    union, group = axis.code[present], axis.group[present]
    if np.array_equal(union, code) and np.array_equal(group, own_group):
        return side.corpus
    nodes = axis.nodes.take(present)
    n_tokens, node_tokens = int(side.counts.sum()), side.nodes.token
    is_word = ~mark_rows(node_tokens, n_tokens)
    n_words = n_tokens - node_tokens.size
    words = offsets_of(side.counts - side.nodes_in)
    # Words, numbered through, before each node of the axis.
    before = words[nodes.document] + nodes.word
    new = unset(n_tokens)
    new[is_word] = np.arange(n_words) + np.cumsum(np.bincount(before, minlength=n_words + 1))[:-1]
    new[node_tokens] = (before + np.arange(union.size))[np.searchsorted(union, code)]
    counts = side.counts - side.nodes_in + np.bincount(nodes.document, minlength=side.counts.size)
    tokens = side.corpus.tokens
    if tokens is None:
        return move_mentions(side.corpus, side.offsets, new, counts)
    # A sentence begins with the nodes before its first word, be they of another side.
    starts = tokens.starts
    document = documents_of_tokens(side.offsets, starts)
    word = starts - np.searchsorted(node_tokens, starts)
    first = 2 * (axis.bases[document] + word - words[document]) + 1
    begins = word + np.searchsorted(group, first)
    on_nodes = np.flatnonzero(~is_word[starts])
    at = np.searchsorted(node_tokens, starts[on_nodes])
    run = word[on_nodes] + np.searchsorted(group, own_group[at])
    begins[on_nodes] = np.where(begin_runs(own_group)[at], run, new[starts[on_nodes]])
    return move_mentions(side.corpus, side.offsets, new, counts, begins)


def _without_nodes(side: _Side) -> tuple[Corpus, Notices]:
    """A side without empty nodes, and without the mentions that are headed by one."""
    corpus, node_tokens = side.corpus, side.nodes.token
    if not node_tokens.size:
        return corpus, ()
    offsets, n_tokens = side.offsets, int(side.counts.sum())
    is_word = ~mark_rows(node_tokens, n_tokens)
    kept = corpus
    if corpus.mention_head is not None and corpus.n_mentions:
        heads = np.asarray(corpus.mention_head)
        stated = np.where(heads >= 0, offsets[corpus.mention_document] + heads, 0)
        kept = corpus.keep_mentions((heads < 0) | is_word[stated])
    new = np.where(is_word, np.cumsum(is_word) - 1, -1)
    kept = move_mentions(kept, offsets, new, side.counts - side.nodes_in)
    name = corpus.name or "corpus"
    lost = corpus.n_mentions - kept.n_mentions
    return kept, (
        *note("empty-nodes", node_tokens.size, "empty node", "left out", whose=name),
        *note("zero-mentions", lost, "mention", "of empty nodes left out", whose=name),
    )
