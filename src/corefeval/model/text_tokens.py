"""Mentions on tokens instead of characters.

Texts without tokens have characters for positions. White space never counts: characters are
compared, and tokens found, by the characters that are visible.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notices, note
from corefeval.model.arrays import (
    IntArray,
    all_zero,
    integers,
    mark_rows,
    plain_rows,
    ragged_arange,
    starts_of,
)
from corefeval.model.construction import in_textual_order
from corefeval.model.corpus import Corpus
from corefeval.model.moving import respan
from corefeval.model.token_tables import DocumentTokens, mix_tokens, tokens_of_documents
from corefeval.model.tokens import Tokens

_VISIBLE = re.compile(r"\S+")
_RUN = re.compile(r"(.)\1*", re.DOTALL)  # of one character
# Letters and digits, or another character, each with the marks on it.
_WORD = re.compile(r"(?:[^\W_]\u0301*)+|\S\u0301*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LEFT_OUT = "of nothing but white space, left out"


def text_of(tokens: Tokens | None, document: int) -> str | None:
    """The text of a document that has no tokens; None where it has, or is not there."""
    table = None if tokens is None else tokens.table(document)
    return None if table is None else table.text


class Cut(NamedTuple):
    """A text cut into tokens, which follow each other: `lengths` are their visible characters."""

    text: str
    lengths: Sequence[int]


class Places(NamedTuple):
    """Where the tokens of some documents are in their texts, one text put behind the other.

    `visible` has the position of each character that is no white space; tokens begin and end
    (exclusively) at such characters, by number. A token of white space alone is nowhere: its end
    is its start. Each of the `documents` has its first character and its first token at `bases`.
    """

    visible: IntArray
    start: IntArray
    end: IntArray
    documents: IntArray
    bases: IntArray

    @staticmethod
    def of(cuts: Mapping[int, Cut | None]) -> Places:
        """The places of tokens in the texts of documents, which are in order, without None."""
        placed = {document: cut for document, cut in cuts.items() if cut is not None}
        text = "".join(cut.text for cut in placed.values())
        runs = integers([match.span() for match in _VISIBLE.finditer(text)]).reshape(-1, 2)
        visible = ragged_arange(runs[:, 0], runs[:, 1] - runs[:, 0])
        counts = integers([length for cut in placed.values() for length in cut.lengths])
        sizes = integers([[len(part) for part in cut] for cut in placed.values()]).reshape(-1, 2)
        bases = np.cumsum(sizes, axis=0) - sizes
        return Places(visible, starts_of(counts), np.cumsum(counts), integers([*placed]), bases)

    def find_bases(self, documents: IntArray) -> IntArray:
        """The first characters of documents, and their first tokens."""
        return self.bases[np.searchsorted(self.documents, documents)].T


def without_blanks(text: str) -> str:
    """The characters that are no white space."""
    return "".join(text.split())


def move_to_tokens(
    corpus: Corpus, cuts: Mapping[int, Cut | None], tokens: Tokens | None
) -> tuple[Corpus, Notices]:
    """The corpus with `tokens` instead of characters in some documents; None empties a document."""
    if not cuts or corpus.mention_start is None:
        return corpus, ()
    is_moved, document = mark_rows([*cuts], len(corpus)), corpus.mention_document
    if tokens is not None and corpus.tokens is not None and not is_moved.all():
        tokens = mix_tokens(tokens, corpus.tokens, is_moved.tolist())
    places = Places.of(cuts)
    (row, position), widened = touch_tokens(corpus, places)
    is_placed = mark_rows(places.documents, len(corpus))
    head = None if corpus.mention_head is None else np.array(corpus.mention_head)
    if head is not None:
        headed = np.flatnonzero((head >= 0) & is_placed[document])
        characters, first_tokens = places.find_bases(document[headed])
        numbers = np.searchsorted(places.visible, characters + head[headed])
        head[headed] = np.searchsorted(places.end, numbers, side="right") - first_tokens
    rows = np.flatnonzero(is_moved[document])
    moved = respan(corpus, rows, np.searchsorted(rows, row), position)
    moved = replace(moved, mention_head=head, tokens=tokens)
    is_kept = np.asarray(moved.mention_end) > np.asarray(moved.mention_start)
    n_blank = int((~is_kept & (is_placed | ~is_moved)[document]).sum())
    name, remark = corpus.name or "response", "widened to the tokens that they touch"
    return in_textual_order(moved.keep_mentions(is_kept)), (
        *note("widened-mentions", widened.size, "mention", remark, whose=name),
        *note("blank-mentions", n_blank, "mention", _LEFT_OUT, whose=name),
    )


def touch_tokens(corpus: Corpus, places: Places) -> tuple[IntArray, IntArray]:
    """The tokens that mentions of texts touch, and the rows of mentions that cut through a token.

    The first array has two rows, with a column for each mention and token that it touches: the row
    of the mention, and the position of the token in its document.
    """
    edges = corpus.mention_offsets[places.documents], corpus.mention_offsets[places.documents + 1]
    row = ragged_arange(edges[0], edges[1] - edges[0])
    low, high = np.searchsorted(corpus.gaps[:, 0], edges)
    gaps = corpus.gaps[ragged_arange(low, high - low)]
    start, end = np.asarray(corpus.mention_start)[row], np.asarray(corpus.mention_end)[row]
    if gaps.size:  # of a mention with gaps each part: it ends with the mention, or before a gap
        row = np.concatenate((row, gaps[:, 0]))
        start, end = np.concatenate((start, gaps[:, 2])), np.concatenate((end, gaps[:, 1]))
        start, end = start[np.lexsort((start, row))], end[np.lexsort((end, row))]
        row.sort()
    characters, first_tokens = places.find_bases(corpus.mention_document[row])
    begin, stop = np.searchsorted(places.visible, (characters + start, characters + end))
    is_seen = begin < stop
    row, begin, stop = row[is_seen], begin[is_seen], stop[is_seen]
    first = np.searchsorted(places.end, begin, side="right")
    after = np.searchsorted(places.start, stop)
    is_widened = (places.start[first] != begin) | (places.end[after - 1] != stop)
    positions = ragged_arange(first - first_tokens[is_seen], after - first)
    return np.stack((np.repeat(row, after - first), positions)), np.unique(row[is_widened])


def tokenise(corpus: Corpus) -> Corpus:
    """The corpus with tokens in place of characters, where it has texts; else the corpus itself.

    Tokens are cut at white space, before and behind punctuation at the edges of a word, and
    wherever a mention begins or ends, so that each mention is made of whole tokens. Lines are
    sentences, unless a mention goes on in the next one. Mentions of white space alone are left out;
    that, and how many documents were cut, is noted.
    """
    if corpus.tokens is None or not corpus.tokens.has_texts or corpus.mention_start is None:
        return corpus
    from corefeval.model.builder import note_unresolved

    is_text = [text_of(corpus.tokens, index) is not None for index in range(len(corpus))]
    named = replace(corpus, names=_unique_names(corpus))
    moved, blank_notices = cut_texts(named, range(len(corpus)), _split_words)
    n_relations = len(corpus.relations) - len(moved.relations)
    remark = "cut into tokens at white space, punctuation and mentions"
    notices = (
        *corpus.notices,
        *note_unresolved(n_relations, corpus.name),
        *note("made-up-tokens", sum(is_text), "text", remark),
        *blank_notices,
    )
    return replace(moved, notices=notices)


def _split_words(text: str) -> Iterator[tuple[int, int]]:
    """Where words are that white space or punctuation ends; a run of one sign is one word.

    >>> [text[s:e] for text in ["(It isn't well-known...)"] for s, e in _split_words(text)]
    ['(', 'It', "isn't", 'well-known', '...', ')']
    """
    for word in _VISIBLE.finditer(text):
        runs = [run.span() for run in _RUN.finditer(text, *word.span())]
        kinds = [unicodedata.category(text[start])[0] for start, _ in runs]
        core = [index for index, kind in enumerate(kinds) if kind not in "PS"]
        if core:
            runs[core[0] : core[-1] + 1] = [(runs[core[0]][0], runs[core[-1]][1])]
        yield from runs


def _find_words(text: str) -> Iterator[tuple[int, int]]:
    """Where runs of letters and digits are, and single other characters, with their marks."""
    marks = (c for c in set(text) if unicodedata.category(c) in ("Mn", "Mc", "Me", "Cf"))
    shape = text.translate(dict.fromkeys(map(ord, marks), "\u0301"))
    return (word.span() for word in _WORD.finditer(shape))


def cut_texts(
    corpus: Corpus,
    documents: Iterable[int],
    split: Callable[[str], Iterable[tuple[int, int]]] = _find_words,
) -> tuple[Corpus, Notices]:
    """The corpus with words in place of characters in those of some documents that are texts.

    Words are what `split` returns, cut at edges of mentions.
    """
    tables, pieces = [DocumentTokens()] * len(corpus), {}
    for index in documents:
        text = text_of(corpus.tokens, index)
        if text is None:
            continue
        mentions = corpus[index].mentions
        edges = sorted({bound for mention in mentions for part in mention.parts for bound in part})
        cuts: list[tuple[int, int]] = []
        for start, end in split(text):
            inside = edges[bisect_right(edges, start) : bisect_left(edges, end)]
            cuts += zip((start, *inside), (*inside, end), strict=True)
        tables[index] = _table(text, cuts, [mention.span for mention in mentions])
        pieces[index] = Cut(text, [end - start for start, end in cuts])
    source = None if corpus.tokens is None else corpus.tokens.source
    return move_to_tokens(corpus, pieces, tokens_of_documents(tables, source))


def _table(
    text: str, cuts: list[tuple[int, int]], mentions: Iterable[tuple[int, int]]
) -> DocumentTokens:
    """The tokens at `cuts`; a line end inside one of the `mentions` does not end a sentence."""
    changes = all_zero(len(text) + 2)
    for start, end in mentions:
        changes[start + 1] += 1
        changes[end] -= 1
    is_inside = np.cumsum(changes) > 0
    line_ends = [line_end.end() for line_end in _LINE_END.finditer(text)]
    words = [text[start:end] for start, end in cuts]
    starts = [start for start, _ in cuts]
    lines = {bisect_left(starts, end) for end in line_ends if not is_inside[end]}
    sentence_starts = sorted(({0} | lines) - {len(words)}) if words else []
    return DocumentTokens({"word": words}, len(words), sentence_starts)


def _unique_names(corpus: Corpus) -> Sequence[str]:
    """The entities' names, or their numbers where two of a document have the same name."""
    names = corpus.names
    if names is not None:
        distinct = set(plain_rows(corpus.entity_document, names))
        if len(distinct) == corpus.n_entities:
            return names
    return [str(number) for number in range(corpus.n_entities)]
