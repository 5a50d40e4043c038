"""The tokens that mentions cover, and their columns, from several corpora of the same documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np

from corefeval.diagnostics import InputError
from corefeval.features.declarations import MissingFeatureError
from corefeval.model import Corpus, Tokens
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    all_true,
    all_zero,
    integers,
    is_sorted,
    offsets_of,
    ragged_arange,
    set_rows,
    stable_order,
    unset,
)
from corefeval.model.categories import Categories
from corefeval.model.moving import list_span_tokens
from corefeval.model.tokens import NO_ROW, documents_of_tokens

WORD = ("word",)
NO_WORDS = "read a format that has words"
BLANK = frozenset(("", "-", "_"))
_NO_BRACKETS = BLANK | {"*"}
_SAMPLE_SIZE = 2000
# Several views of the same tokens ask what is in a column; it is looked at once.
_SAMPLES: WeakKeyDictionary[Tokens, dict[str | int, Counter[str]]] = WeakKeyDictionary()

Samples = Mapping[str | int, Counter[str]]


def settle_samples(tokens: Tokens | None, samples: Samples) -> None:
    """Have columns of some tokens judged by samples from the larger text that these are part of.

    A column of the tokens that the samples lack counts as empty.
    """
    if tokens is not None:
        missing: dict[str | int, Counter[str]] = {name: Counter() for name in tokens.columns}
        _SAMPLES[tokens] = {**missing, **samples}


def take_samples(tokens: Tokens | None, names: Iterable[str | int] | None = None) -> Samples:
    """Samples of the columns of tokens, or of some of them, for `settle_samples`."""
    if tokens is None or tokens.has_texts:
        return {}
    return {
        name: _take_sample(tokens, name) for name in (tokens.columns if names is None else names)
    }


def empty_columns(tokens: Tokens | None) -> list[str | int]:
    """The columns that were looked for and are empty here, but may be filled elsewhere."""
    if tokens is None:
        return []
    is_elsewhere = not all(table.is_same_everywhere for table in tokens.tables)
    return [
        name
        for name, sample in _SAMPLES.get(tokens, {}).items()
        if not sample and (name in tokens.columns or isinstance(name, int) or is_elsewhere)
    ]


@dataclass(frozen=True, eq=False)
class TokenSpans:
    """The mentions' tokens, numbered through all documents; documents begin at `offsets`.

    `start` and `end` (exclusive) are those of the mentions; `gaps` has rows of mention, start, end.
    """

    offsets: IntArray
    document: IntArray
    start: IntArray
    end: IntArray
    gaps: IntArray

    @staticmethod
    def of(corpus: Corpus, counts: Sequence[IntArray], feature: str) -> TokenSpans:
        """The spans of a corpus, whose documents are as long as in the longest of its texts."""
        if corpus.mention_start is None or corpus.mention_end is None:
            raise MissingFeatureError(
                feature,
                "needs token positions, and plain Python mentions have none",
                fix=f"state the {feature} of each mention, or score files or spans of tokens",
            )
        ends = all_zero(len(corpus.documents))
        if corpus.n_mentions:
            np.maximum.at(ends, corpus.mention_document, corpus.mention_end)
        for count in counts:
            ends = np.maximum(ends, count)
        offsets = offsets_of(ends)
        shift = offsets[corpus.mention_document]
        gaps = corpus.gaps
        if gaps.size:
            gaps = gaps + np.outer(shift[gaps[:, 0]], [0, 1, 1])
        return TokenSpans(
            offsets,
            corpus.mention_document,
            corpus.mention_start + shift,
            corpus.mention_end + shift,
            gaps,
        )

    @property
    def n_tokens(self) -> int:
        """How many tokens there are in all documents together."""
        return int(self.offsets[-1])

    @cached_property
    def length(self) -> IntArray:
        """The number of tokens of each mention, gaps left out."""
        length = self.end - self.start
        if self.gaps.size:
            np.subtract.at(length, self.gaps[:, 0], self.gaps[:, 2] - self.gaps[:, 1])
        return length

    def contain(self, tokens: IntArray) -> BoolArray:
        """Whether each mention contains the token given for it."""
        inside: BoolArray = (self.start <= tokens) & (tokens < self.end)
        if self.gaps.size:
            token = tokens[self.gaps[:, 0]]
            inside[self.gaps[(self.gaps[:, 1] <= token) & (token < self.gaps[:, 2]), 0]] = False
        return inside

    @cached_property
    def many(self) -> IntArray:
        """The mentions of more than one token."""
        return np.flatnonzero(self.length > 1)

    @cached_property
    def inside(self) -> IntArray:
        """The tokens that are in a mention, in ascending order."""
        return self.list_tokens(np.arange(self.start.size))

    @cached_property
    def inside_many(self) -> IntArray:
        """The tokens that are in a mention of more than one token, in ascending order."""
        return self.list_tokens(self.many)

    def list_tokens(self, rows: IntArray) -> IntArray:
        """The tokens from the start to the end of some mentions, each once, in ascending order."""
        start, end = self.start[rows], self.end[rows]
        if not is_sorted(start):
            order = stable_order(start)
            start, end = start[order], end[order]
        reach = np.maximum.accumulate(end)
        apart = np.flatnonzero(start[1:] >= reach[:-1]) + 1
        first = np.concatenate(([0], apart))[: start.size]
        last = np.append(apart, start.size)[: start.size] - 1
        return ragged_arange(start[first], reach[last] - start[first])

    def tokens(
        self, rows: IntArray, *, reach: int | None = None
    ) -> tuple[IntArray, IntArray, IntArray]:
        """The tokens of some mentions one after the other, gaps left out.

        Returns the tokens, the place in `rows` that each belongs to, and where the tokens of each
        mention begin. With a `reach`, only so many tokens from the start of a mention count:
        thousands of mentions inside each other have millions of tokens.
        """
        place, tokens = list_span_tokens(self.start, self.end, self.gaps, rows, reach)
        return tokens, place, np.searchsorted(place, np.arange(rows.size))


def find_spans(start: IntArray, end: IntArray, spans: ArrayPair) -> IntArray:
    """For each span, the first index at which `start` and `end` have it; −1 for none.

    >>> starts, ends = np.array([4, 0, 4]), np.array([6, 2, 5])
    >>> find_spans(starts, ends, (np.array([4, 0]), np.array([5, 1]))).tolist()
    [2, -1]
    """
    if not start.size or not spans[0].size:
        return unset(spans[0].size)
    width = 1 + max(int((end - start).max()), int((spans[1] - spans[0]).max()))
    codes = start * width + (end - start)
    span_codes = spans[0] * width + (spans[1] - spans[0])
    order = stable_order(codes)
    place = np.minimum(np.searchsorted(codes, span_codes, sorter=order), codes.size - 1)
    row = order[place]
    return np.where(codes[row] == span_codes, row, -1)


class TokenColumns:
    """Token columns for the tokens that mentions cover, each from the first text that has it.

    `corpora` are the texts in order of preference. A column of nothing but `-` and `_` is not
    there, nor named entities that are all `*`. `feature` is who needs them, for error messages.
    """

    def __init__(self, corpora: Sequence[Corpus], corpus: Corpus, feature: str) -> None:
        tokens = [(c.name, c.tokens) for c in corpora]
        self.texts = [(name, t) for name, t in tokens if t is not None and not t.has_texts]
        self.in_characters = any(t is not None and t.has_texts for _, t in tokens)
        self.corpora = corpora
        self.spans = TokenSpans.of(corpus, [t.counts for _, t in self.texts], feature)
        self._columns: dict[tuple[int, str | int, bool], Categories] = {}

    def find(
        self, names: Sequence[str | int], suits: Callable[[Counter[str]], bool] | None = None
    ) -> tuple[int, str | int] | None:
        """The first text that has one of some columns, and which one.

        `suits` may refuse a column by a sample of its cells.
        """
        for index in range(len(self.texts)):
            for name in names:
                sample = self.sample(index, name)
                if sample and (suits is None or suits(sample)):
                    return index, name
        return None

    def column(
        self,
        *names: str | int,
        only_long: bool = False,
        suits: Callable[[Counter[str]], bool] | None = None,
    ) -> Categories | None:
        """One of some columns, of the first text that has one: a value per token.

        Tokens outside of mentions have none, nor those of mentions of one token if `only_long`.
        """
        place = self.find(names, suits)
        if place is None:
            return None
        key = (*place, only_long)
        if key not in self._columns:
            places = self.spans.inside_many if only_long else self.spans.inside
            values = self.cells(*place, places)
            codes = set_rows(places, values.codes, self.spans.n_tokens)
            self._columns[key] = Categories(codes, values.names)
        return self._columns[key]

    def cells(self, index: int, name: str | int, places: IntArray) -> Categories:
        """The cells of some tokens in a column of one text, or of the next text that has them.

        A text may lack documents, and empty nodes that others have.
        """
        values = self._cells_of_text(index, name, places)
        for next_index in range(len(self.texts)):
            lacking = np.flatnonzero(values.codes < 0)
            if not lacking.size:
                break
            if next_index != index and self.sample(next_index, name):
                missing_cells = self._cells_of_text(next_index, name, places[lacking])
                rows = np.arange(len(values))
                rows[lacking] = len(values) + np.arange(lacking.size)
                values = Categories.concatenate(values, missing_cells).take(rows)
        return values

    def _cells_of_text(self, index: int, name: str | int, places: IntArray) -> Categories:
        """The cells of some tokens in one text; none where the text is too short."""
        tokens, spans = self.texts[index][1], self.spans
        if np.array_equal(tokens.offsets, spans.offsets):
            return tokens.coded(name, tokens=places)
        document = documents_of_tokens(spans.offsets, places)
        position = places - spans.offsets[document]
        has_token = position < tokens.counts[document]
        values = tokens.coded(name, tokens=(position + tokens.offsets[document])[has_token])
        codes = set_rows(has_token, values.codes, places.size)
        return Categories(codes, values.names)

    def require(self, feature: str, need: str, names: Sequence[str | int], fix: str) -> Categories:
        """One of some columns; an error that says who lacks it where there is none."""
        column = self.column(*names)
        if column is None:
            raise self.missing(feature, need, names, fix)
        return column

    def missing(
        self, feature: str, need: str, names: Sequence[str | int], fix: str
    ) -> MissingFeatureError:
        """The error for a column that no text has."""
        listed = " or ".join(str(name) for name in names)
        reasons = [
            f"{name or 'the corpus'} has no {listed} column (it has "
            f"{', '.join(self._filled_columns(index)) or 'none'})"
            for index, (name, _) in enumerate(self.texts)
        ]
        if not reasons:
            text = "are texts without tokens" if self.in_characters else "have no tokens"
            owners = dict.fromkeys(corpus.name for corpus in self.corpora if corpus.name)
            whose = f" of {' and '.join(owners)}" if owners else ""
            reasons = [f"the documents{whose} {text}"]
        return MissingFeatureError(feature, f"needs {need}: {'; '.join(reasons)}", fix=fix)

    def sample(self, index: int, name: str | int) -> Counter[str]:
        """How often some of a column's cells occur; nothing where a text does not have it."""
        tokens = self.texts[index][1]
        samples = _SAMPLES.setdefault(tokens, {})
        if name not in samples:
            samples[name] = _take_sample(tokens, name)
        return samples[name]

    def mention_texts(self) -> Categories:
        """The words of each mention, in lower case, with blanks between; gaps are left out."""
        words = self.require("words", "words", WORD, NO_WORDS)
        lower = [*map(str.lower, words.names), ""]
        tokens, _, begin = self.spans.tokens(np.arange(self.spans.start.size))
        codes = words.codes[tokens].tolist()
        bounds = pairwise([*begin.tolist(), len(codes)])
        return Categories.of(
            [" ".join([lower[code] for code in codes[first:after]]) for first, after in bounds]
        )

    def sentence_starts(self) -> IntArray | None:
        """The tokens at which sentences begin; None where no text has tokens."""
        if not self.texts:
            return None
        texts = [tokens for _, tokens in self.texts]
        parts = [self._move(text, text.starts)[rows] for text, rows in _sentences(texts)]
        return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))

    def count_unmarked_documents(self) -> int:
        """How many documents are one sentence because nobody marks where sentences end."""
        unmarked: set[int] = set()
        for tokens, rows in _sentences([tokens for _, tokens in self.texts]):
            documents = documents_of_tokens(tokens.offsets, tokens.starts[rows])
            if not tokens.marks_ends_of_sentences:
                unmarked.update(np.flatnonzero(np.bincount(documents) == 1).tolist())
        return len(unmarked)

    def sentence_comments(self, key: str) -> tuple[IntArray, Categories] | None:
        """A comment of each sentence: where the sentences begin, and what it says.

        Documents that no text with such comments has are a sentence without one.
        """
        comments_of = {}
        for corpus in self.corpora:
            tokens = corpus.tokens
            if tokens is not None and not tokens.has_texts:
                comments = tokens.sentence_comments(key) or _stated_comments(corpus, tokens, key)
                if comments.names and (comments.codes >= 0).any():
                    comments_of[tokens] = comments
        if not comments_of:
            return None
        bare = np.all([tokens.counts == 0 for tokens in comments_of], axis=0)
        starts, values = [self.spans.offsets[:-1][bare]], [Categories(unset(bare.sum()), ())]
        for tokens, rows in _sentences([*comments_of]):
            starts.append(self._move(tokens, tokens.starts)[rows])
            values.append(comments_of[tokens].take(rows))
        joint = np.concatenate(starts)
        order = stable_order(joint)
        return joint[order], Categories.concatenate(*values).take(order)

    def _move(self, tokens: Tokens, rows: IntArray) -> IntArray:
        """Tokens of one text in the numbering of all."""
        if np.array_equal(tokens.offsets, self.spans.offsets):
            return rows
        shift = np.repeat(self.spans.offsets[:-1] - tokens.offsets[:-1], tokens.counts)
        return rows + shift[rows]

    def _filled_columns(self, index: int) -> list[str]:
        tokens = self.texts[index][1]
        settled = (name for name in _SAMPLES.get(tokens, {}) if isinstance(name, str))
        return [n for n in dict.fromkeys((*tokens.columns, *settled)) if self.sample(index, n)]


def _stated_comments(corpus: Corpus, tokens: Tokens, key: str) -> Categories:
    """What is stated of each sentence, where that is not read off comments in a file."""
    documents = documents_of_tokens(tokens.offsets, tokens.starts)
    numbers = np.bincount(documents, minlength=tokens.counts.size).tolist()
    if not corpus.sentence_metadata:
        return Categories(unset(documents.size), ())
    return Categories.of(
        [
            sentences[place].get(key) if place < len(sentences) else None
            for sentences, number in zip(corpus.sentence_metadata, numbers, strict=True)
            for place in range(number)
        ]
    )


def _sentences(texts: Sequence[Tokens]) -> Iterator[tuple[Tokens, IntArray]]:
    """Each of some texts with its sentences in documents that those before it lack.

    In a document that has the tokens of two texts one after the other, each has its own.
    """
    first = texts[0]
    lacking = all_true(first.counts.size)
    has_holes = first.token_rows is not None and bool((first.token_rows == NO_ROW).any())
    for tokens in texts:
        document = documents_of_tokens(tokens.offsets, tokens.starts)
        is_first = lacking[document]
        if has_holes and tokens is not first:
            position = tokens.starts - tokens.offsets[document]
            is_inside = position < first.counts[document]
            rows = first.rows((first.offsets[document] + position)[is_inside])
            is_first[is_inside] |= rows == NO_ROW
        yield tokens, np.flatnonzero(is_first)
        lacking &= tokens.counts == 0
        if not lacking.any() and not has_holes:
            return


def _take_sample(tokens: Tokens, name: str | int) -> Counter[str]:
    total = int(tokens.offsets[-1])
    if not total or (isinstance(name, str) and name not in tokens.columns):
        return Counter()
    spread = np.unique(integers(np.linspace(0, total - 1, min(total, _SAMPLE_SIZE))))
    try:
        for rows in (spread, None):
            counts = _counts(tokens.coded(name, tokens=rows))
            if not counts.keys() <= (_NO_BRACKETS if name == "named_entity" else BLANK):
                return counts
    except InputError:  # a number of a column that is not there
        pass
    return Counter()


def _counts(values: Categories) -> Counter[str]:
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.names)).tolist()
    return Counter({n: c for n, c in zip(values.names, counts, strict=True) if c})
