"""Mentions on tokens instead of characters.

Texts without tokens have characters for positions. White space never counts: characters are
compared, and tokens found, by the characters that are visible.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notices, note
from corefeval.model.arrays import IntArray, all_zero, integers, plain_rows, ragged_arange
from corefeval.model.construction import in_textual_order
from corefeval.model.corpus import Corpus
from corefeval.model.token_tables import DocumentTokens, mix_tokens, tokens_of_documents
from corefeval.model.tokens import Tokens

_VISIBLE = re.compile(r"\S+")
_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+|\S")  # letters and digits, or another character
_LINE_END = re.compile(r"\r\n|\n|\r")
_LEFT_OUT = "of nothing but white space, left out"
_WIDENED, _BLANK, _UNPLACED = 1, 2, 3  # what may become of a mention


def has_texts(tokens: Tokens | None) -> bool:
    """Whether any document is a text without tokens."""
    return tokens is not None and tokens.has_texts


def text_of(tokens: Tokens | None, document: int) -> str | None:
    """The text of a document that has no tokens; None where it has, or is not there."""
    table = None if tokens is None else tokens.table(document)
    return None if table is None else table.text


class Places(NamedTuple):
    """Where the tokens of a document are in its text.

    `visible` has the position of each character that is no white space; tokens begin and end
    (exclusively) at such characters, by number. A token of white space alone is nowhere: its end
    is its start.
    """

    visible: IntArray
    start: IntArray
    end: IntArray

    @staticmethod
    def of(text: str, lengths: Sequence[int]) -> Places:
        """The places of tokens that follow each other, from their numbers of visible characters."""
        ends = np.cumsum(lengths, dtype=np.int64)
        return Places(visible_positions(text), ends - np.asarray(lengths, dtype=np.int64), ends)

    def tokens(self, start: IntArray, end: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """The tokens that spans of characters touch: the first, the one after the last.

        The third array says where a span does not begin and end with a token, or is blank.
        """
        first_character = np.searchsorted(self.visible, start)
        end_character = np.searchsorted(self.visible, end)
        first = np.searchsorted(self.end, first_character, side="right")
        after = np.searchsorted(self.start, end_character, side="left")
        blank = first_character >= end_character
        kept = np.flatnonzero(~blank)
        state = np.where(blank, _BLANK, 0)
        state[kept] = (self.start[first[kept]] != first_character[kept]) | (
            self.end[after[kept] - 1] != end_character[kept]
        )
        return first, after, state

    def inside(self, start: int, end: int) -> tuple[int, int, bool]:
        """The tokens that lie within a span of characters, and whether they fill it."""
        first_character, end_character = np.searchsorted(self.visible, (start, end)).tolist()
        first = int(np.searchsorted(self.start, first_character, side="left"))
        after = max(int(np.searchsorted(self.end, end_character, side="right")), first)
        filled = int((self.end[first:after] - self.start[first:after]).sum())
        return first, after, filled == end_character - first_character


def visible_positions(text: str) -> IntArray:
    """The positions of the characters that are no white space."""
    runs = [match.span() for match in _VISIBLE.finditer(text)]
    spans = integers(runs).reshape(-1, 2)
    return ragged_arange(spans[:, 0], spans[:, 1] - spans[:, 0])


def without_blanks(text: str) -> str:
    """The characters that are no white space."""
    return "".join(text.split())


def move_to_tokens(
    corpus: Corpus, places: Mapping[int, Places | None], tokens: Tokens | None
) -> tuple[Corpus, Notices]:
    """The corpus with `tokens` instead of characters in some documents; None empties a document."""
    if not places or corpus.mention_start is None or corpus.mention_end is None:
        return corpus, ()
    is_moved = [index in places for index in range(len(corpus))]
    if tokens is not None and corpus.tokens is not None and not all(is_moved):
        tokens = mix_tokens(tokens, corpus.tokens, is_moved)
    start, end = corpus.mention_start.copy(), corpus.mention_end.copy()
    head = None if corpus.mention_head is None else np.array(corpus.mention_head)
    state = all_zero(corpus.n_mentions)
    for document, place in places.items():
        rows = slice(*corpus.mention_offsets[document : document + 2].tolist())
        if place is None:
            state[rows] = _UNPLACED
            continue
        start[rows], end[rows], state[rows] = place.tokens(start[rows], end[rows])
        if head is not None:
            has_head = np.flatnonzero(head[rows] >= 0) + rows.start
            characters = np.searchsorted(place.visible, head[has_head])
            head[has_head] = np.searchsorted(place.end, characters, side="right")
    gaps, widened = _move_gaps(corpus, places, state, start, end)
    state[widened] = _WIDENED
    state[(end <= start) & (state <= _WIDENED)] = _BLANK
    moved = replace(
        corpus, mention_start=start, mention_end=end, mention_head=head, gaps=gaps, tokens=tokens
    )
    counts = np.bincount(state, minlength=_UNPLACED + 1).tolist()
    name, remark = corpus.name or "response", "widened to the tokens of the key that they touch"
    return in_textual_order(moved.keep_mentions(state <= _WIDENED)), (
        *note("widened-mentions", counts[_WIDENED], "mention", remark, whose=name),
        *note("blank-mentions", counts[_BLANK], "mention", _LEFT_OUT, whose=name),
    )


def _move_gaps(
    corpus: Corpus,
    places: Mapping[int, Places | None],
    state: IntArray,
    first: IntArray,
    after: IntArray,
) -> tuple[IntArray, list[int]]:
    """The gaps on tokens, and the mentions that touch a token which was partly in a gap.

    A gap with nothing but white space before or behind it is none: the mention (from `first` up to
    `after`) begins or ends there, which is put right in place.
    """
    moved: list[list[int]] = []
    widened = []
    for row, start, end in corpus.gaps.tolist():
        document = int(corpus.mention_document[row])
        place = places.get(document)
        if document in places and (place is None or state[row] > _WIDENED):
            continue
        if place is not None:
            start, end, exact = place.inside(start, end)
            widened += [] if exact else [row]
        if moved and moved[-1][0] == row and moved[-1][2] == start:
            moved[-1][2] = end  # what was between the two was only white space
        elif start < end:
            moved.append([row, start, end])
    inner = []
    for row, start, end in moved:
        if start <= first[row]:
            first[row] = end
        elif end >= after[row]:
            after[row] = start
        else:
            inner.append([row, start, end])
    return integers(inner).reshape(-1, 3), widened


def tokenise(corpus: Corpus) -> Corpus:
    """The corpus with tokens in place of characters, where it has texts; else the corpus itself.

    Tokens are cut at white space, before and behind punctuation at the edges of a word, and
    wherever a mention begins or ends, so that each mention is made of whole tokens. Lines are
    sentences, unless a mention goes on in the next one. Mentions of white space alone are left out;
    that, and how many documents were cut, is noted.
    """
    if not has_texts(corpus.tokens) or corpus.mention_start is None or corpus.mention_end is None:
        return corpus
    from corefeval.model.builder import note_unresolved

    is_text = [text_of(corpus.tokens, index) is not None for index in range(len(corpus))]
    blank = {
        mention.row
        for document in corpus
        if (text := text_of(corpus.tokens, document.index)) is not None
        for mention in document.mentions
        if not any(text[start:end].strip() for start, end in mention.parts)
    }
    named = replace(corpus, names=_unique_names(corpus))
    moved, _ = cut_texts(named, range(len(corpus)), _split_words)
    lost = sum(
        not blank.isdisjoint(row for _, row in (relation.anaphor, *relation.antecedents))
        for relation in corpus.relations
    )
    remark = "cut into tokens at white space, punctuation and mentions"
    notices = (
        *corpus.notices,
        *note_unresolved(lost, corpus.name),
        *note("made-up-tokens", sum(is_text), "text", remark),
        *note("blank-mentions", len(blank), "mention", _LEFT_OUT),
    )
    return replace(moved, notices=notices)


def token_spans(text: str, cuts: Iterable[int] = ()) -> list[tuple[int, int]]:
    """Where the tokens of a text are; `cuts` are positions at which a token must not go on.

    >>> [text[s:e] for text in ["(It isn't well-known...)"] for s, e in token_spans(text)]
    ['(', 'It', "isn't", 'well-known', '...', ')']
    """
    return _cut_spans(_split_words(text), cuts)


def _split_words(text: str) -> Iterator[tuple[int, int]]:
    """Where words are that white space or punctuation ends."""
    for word in _VISIBLE.finditer(text):
        yield from _without_punctuation(text, *word.span())


def _find_words(text: str) -> Iterator[tuple[int, int]]:
    """Where runs of letters and digits are, and single other characters."""
    return (word.span() for word in _WORD.finditer(text))


def _cut_spans(spans: Iterable[tuple[int, int]], cuts: Iterable[int]) -> list[tuple[int, int]]:
    """The spans, each cut at the positions inside it."""
    places = sorted(set(cuts))
    pieces: list[tuple[int, int]] = []
    for start, end in spans:
        inside = places[bisect_right(places, start) : bisect_left(places, end)]
        pieces += zip((start, *inside), (*inside, end), strict=True)
    return pieces


def cut_texts(
    corpus: Corpus,
    documents: Iterable[int],
    split: Callable[[str], Iterable[tuple[int, int]]] = _find_words,
) -> tuple[Corpus, Notices]:
    """The corpus with words in place of characters in those of some documents that are texts.

    Words are what `split` returns, cut at edges of mentions.
    """
    tables, places = [DocumentTokens()] * len(corpus), {}
    for index in documents:
        text = text_of(corpus.tokens, index)
        if text is None:
            continue
        mentions = corpus[index].mentions
        edges = {bound for mention in mentions for part in mention.parts for bound in part}
        cuts = _cut_spans(split(text), edges)
        tables[index] = _table(text, cuts, [mention.span for mention in mentions])
        places[index] = Places.of(text, [end - start for start, end in cuts])
    source = None if corpus.tokens is None else corpus.tokens.source
    return move_to_tokens(corpus, places, tokens_of_documents(tables, source))


def count_widened(corpus: Corpus, document: int, place: Places) -> int:
    """How many mentions of a document, which is a text, do not begin and end with tokens."""
    widened = 0
    for mention in corpus[document].mentions:
        start, end = integers(mention.parts).T
        widened += int((place.tokens(start, end)[2] == _WIDENED).any())
    return widened


def _without_punctuation(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut off punctuation at the edges of a word; a run of one sign is one token."""
    while start < end and _is_punctuation(text[start]):
        after = start + 1
        while after < end and text[after] == text[start]:
            after += 1
        yield start, after
        start = after
    behind = []
    while end > start and _is_punctuation(text[end - 1]):
        before = end - 1
        while before > start and text[before - 1] == text[end - 1]:
            before -= 1
        behind.append((before, end))
        end = before
    if start < end:
        yield start, end
    yield from reversed(behind)


def _is_punctuation(character: str) -> bool:
    import unicodedata  # which only those need who have texts without tokens

    return unicodedata.category(character)[0] in "PS"


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
