"""The token columns of several corpora of the same documents, in order of preference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from string import ascii_uppercase
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError
from corefeval.features.declarations import MissingFeatureError
from corefeval.features.positions import TokenSpans
from corefeval.model import Corpus, Tokens
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.categories import Categories
from corefeval.model.text_tokens import has_texts
from corefeval.model.tokens import documents_of_tokens

WORD = ("word",)
NO_WORDS = "read a format that has words"
BLANK = frozenset(("", "-", "_"))
_NO_BRACKETS = BLANK | {"*"}
_SAMPLE = 2000
# Several views of the same tokens ask what is in a column; it is looked at once.
_SAMPLES: WeakKeyDictionary[Tokens, dict[str | int, Counter[str]]] = WeakKeyDictionary()

_CASE = 0x20  # the bit by which small letters differ from capitals in ASCII

Samples = Mapping[str | int, Counter[str]]


def settle_samples(tokens: Tokens | None, samples: Samples) -> None:
    """Let what is in the columns of tokens be told by more tokens than these.

    A named column that the samples lack is not there.
    """
    if tokens is not None:
        missing: dict[str | int, Counter[str]] = {name: Counter() for name in tokens.columns}
        _SAMPLES[tokens] = {**missing, **samples}


def take_samples(tokens: Tokens | None, names: Iterable[str | int] | None = None) -> Samples:
    """What is in the columns of tokens, or in some of them, as it can be settled for others."""
    if tokens is None or has_texts(tokens):
        return {}
    return {name: _sample(tokens, name) for name in (tokens.columns if names is None else names)}


def empty_columns(tokens: Tokens | None) -> list[str | int]:
    """The columns that somebody asked for, and that have nothing in them but may have elsewhere."""
    if tokens is None:
        return []
    named = set(tokens.columns)
    return [
        name
        for name, sample in _SAMPLES.get(tokens, {}).items()
        if not sample and (name in named or isinstance(name, int) or not tokens.columns_hold)
    ]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column at some tokens, of which only those are decoded that may matter.

    `begin` are their first two bytes, where these are known and ASCII characters are what they are.
    """

    coded: Callable[[IntArray], Categories]
    tokens: IntArray
    begin: NDArray[np.uint16] | None

    def values(self) -> list[str | None]:
        """The texts of the cells."""
        return self.coded(self.tokens).values()

    def are_one_of(self, texts: Collection[str], which: BoolArray | None = None) -> BoolArray:
        """Which cells, of all or of `which`, are in lower case one of some texts."""
        return self._where(lambda cells: cells.where_lower(texts), texts, _CASE, which)

    def are_capitalized(self, which: BoolArray | None = None) -> BoolArray:
        """Which cells, of all or of `which`, begin with a capital."""

        def begin_with_capitals(cells: Categories) -> BoolArray:
            return cells.where(lambda cell: cell[:1].isupper())

        return self._where(begin_with_capitals, ascii_uppercase, 0, which)

    def _where(
        self,
        hold: Callable[[Categories], BoolArray],
        beginnings: Iterable[str],
        case: int,
        which: BoolArray | None,
    ) -> BoolArray:
        """Where something holds, which it does only for cells that begin as one of some texts."""
        possible = np.ones(self.tokens.size, dtype=np.bool_) if which is None else which
        if self.begin is not None:
            possible = possible & _may_begin(beginnings, case)[self.begin | (case << 8 | case)]
        rows = np.flatnonzero(possible)
        holding = np.zeros(self.tokens.size, dtype=np.bool_)
        holding[rows] = hold(self.coded(self.tokens[rows]))
        return holding


def _may_begin(texts: Iterable[str], case: int) -> BoolArray:
    """For each pair of bytes whether it may be the beginning of one of some texts.

    The bits of `case` are set in all bytes. What is not ASCII may be anything.
    """
    may = np.zeros((256, 256), dtype=np.bool_)  # by the second byte and the first
    may[128:] = may[:, 128:] = True
    for text in texts:
        begin = text[:2].encode(errors="replace")
        first, second = (begin[n] | case if n < len(begin) else slice(None) for n in (0, 1))
        may[second, first] = True
    return may.ravel()


class TokenColumns:
    """Token columns for the tokens that mentions cover, each from the first text that has it.

    A column of nothing but `-` and `_` is not there, nor named entities that are all `*`. With
    `others`, another corpus and the rows of its mentions here, the tokens of those that are not
    here (−1) are covered too. They can be asked `beside` these, and what all have is read once.
    """

    def __init__(
        self,
        corpora: Sequence[Corpus],
        corpus: Corpus,
        feature: str,
        others: tuple[Corpus, IntArray] | None = None,
    ) -> None:
        tokens = [(c.name, c.tokens) for c in corpora]
        self.texts = [(name, t) for name, t in tokens if t is not None and not has_texts(t)]
        self.in_characters = any(t is not None and has_texts(t) for _, t in tokens)
        self.corpora = corpora
        self.spans = self._spans(corpus, feature)
        self._covered = [self.spans]
        if others is not None and others[0].mention_start is not None:
            spans = self._spans(others[0], feature).take(np.flatnonzero(others[1] < 0))
            if np.array_equal(spans.offsets, self.spans.offsets):
                self._covered.append(spans)
        self._columns: dict[tuple[int, str | int, bool], Categories] = {}

    def _spans(self, corpus: Corpus, feature: str) -> TokenSpans:
        return TokenSpans.of(corpus, [t.counts for _, t in self.texts], feature)

    def beside(self, corpus: Corpus, feature: str) -> TokenColumns:
        """The columns for a corpus of the other mentions that were covered, where any were."""
        columns = TokenColumns(self.corpora, corpus, feature)
        if len(self._covered) > 1 and np.array_equal(columns.spans.offsets, self.spans.offsets):
            columns._covered, columns._columns = self._covered, self._columns
        return columns

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
            places = self._places(only_long)
            values = self.cells(*place, places)
            codes = np.full(self.spans.n_tokens, -1, dtype=np.int64)
            codes[places] = values.codes
            self._columns[key] = Categories(codes, values.names)
        return self._columns[key]

    def _places(self, only_long: bool) -> IntArray:
        """The tokens that are in a mention, in ascending order."""
        inside = [spans.inside_many if only_long else spans.inside for spans in self._covered]
        if len(inside) == 1:
            return inside[0]
        covered = np.zeros(self.spans.n_tokens, dtype=np.bool_)
        for tokens in inside:
            covered[tokens] = True
        return np.flatnonzero(covered)

    def cells(self, index: int, name: str | int, places: IntArray) -> Categories:
        """A column of one text at some tokens, of the next that has it where that lacks them.

        A text may lack documents, and empty nodes that others have.
        """
        values = self._own_cells(index, name, places)
        for other in range(len(self.texts)):
            lacking = np.flatnonzero(values.codes < 0)
            if not lacking.size:
                break
            if other != index and self.sample(other, name):
                more = self._own_cells(other, name, places[lacking])
                rows = np.arange(len(values))
                rows[lacking] = len(values) + np.arange(lacking.size)
                values = Categories.concatenate(values, more).take(rows)
        return values

    def _own_cells(self, index: int, name: str | int, places: IntArray) -> Categories:
        """A column of one text at some tokens; none where the text is shorter than others."""
        tokens, spans = self.texts[index][1], self.spans
        if np.array_equal(tokens.offsets, spans.offsets):
            return tokens.coded(name, tokens=places)
        document = np.searchsorted(spans.offsets, places, side="right") - 1
        position = places - spans.offsets[document]
        there = position < tokens.counts[document]
        values = tokens.coded(name, tokens=(position + tokens.offsets[document])[there])
        codes = np.full(places.size, -1, dtype=np.int64)
        codes[there] = values.codes
        return Categories(codes, values.names)

    def cells_at(self, index: int, name: str | int, places: IntArray) -> Cells:
        """The same for those who ask little of them."""
        tokens, begin = self.texts[index][1], None
        if np.array_equal(tokens.offsets, self.spans.offsets):
            begin = tokens.first_bytes(name, places)
        return Cells(partial(self.cells, index, name), places, begin)

    def require(self, feature: str, what: str, names: Sequence[str | int], fix: str) -> Categories:
        """One of some columns; an error that says who lacks it where there is none."""
        column = self.column(*names)
        if column is None:
            raise self.missing(feature, what, names, fix)
        return column

    def missing(
        self, feature: str, what: str, names: Sequence[str | int], fix: str
    ) -> MissingFeatureError:
        """The error for a column that no text has."""
        wanted = " or ".join(str(name) for name in names)
        reasons = [
            f"{name or 'the corpus'} has no {wanted} column (it has "
            f"{', '.join(self._fill(index)) or 'none'})"
            for index, (name, _) in enumerate(self.texts)
        ]
        if not reasons:
            text = "are texts without tokens" if self.in_characters else "have no tokens"
            owners = dict.fromkeys(corpus.name for corpus in self.corpora if corpus.name)
            whose = f" of {' and '.join(owners)}" if owners else ""
            reasons = [f"the documents{whose} {text}"]
        return MissingFeatureError(feature, f"needs {what}: {'; '.join(reasons)}", fix=fix)

    def sample(self, index: int, name: str | int) -> Counter[str]:
        """How often some of a column's cells occur; nothing where a text does not have it."""
        tokens = self.texts[index][1]
        known = _SAMPLES.setdefault(tokens, {})
        if name not in known:
            known[name] = _sample(tokens, name)
        return known[name]

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

    def sentence_comments(self, key: str) -> tuple[IntArray, Categories] | None:
        """A comment of each sentence: where the sentences begin, and what it says.

        Documents that no text with such comments has are a sentence without one.
        """
        known = {}
        for corpus in self.corpora:
            tokens = corpus.tokens
            if tokens is not None and not has_texts(tokens):
                comments = tokens.sentence_comments(key) or _comments(corpus, tokens, key)
                if comments.names and (comments.codes >= 0).any():
                    known[tokens] = comments
        if not known:
            return None
        bare = np.all([tokens.counts == 0 for tokens in known], axis=0)
        starts, values = [self.spans.offsets[:-1][bare]], [Categories(np.full(bare.sum(), -1), ())]
        for tokens, rows in _sentences([*known]):
            starts.append(self._move(tokens, tokens.starts)[rows])
            values.append(known[tokens].take(rows))
        joint = np.concatenate(starts)
        order = np.argsort(joint, kind="stable")
        return joint[order], Categories.concatenate(*values).take(order)

    def _move(self, tokens: Tokens, rows: IntArray) -> IntArray:
        """Tokens of one text in the numbering of all."""
        if np.array_equal(tokens.offsets, self.spans.offsets):
            return rows
        shift = np.repeat(self.spans.offsets[:-1] - tokens.offsets[:-1], tokens.counts)
        return rows + shift[rows]

    def _fill(self, index: int) -> list[str]:
        tokens = self.texts[index][1]
        settled = (name for name in _SAMPLES.get(tokens, {}) if isinstance(name, str))
        return [n for n in dict.fromkeys((*tokens.columns, *settled)) if self.sample(index, n)]


def _comments(corpus: Corpus, tokens: Tokens, key: str) -> Categories:
    """What is stated of each sentence, where that is not read off comments in a file."""
    documents = documents_of_tokens(tokens.offsets, tokens.starts)
    numbers = np.bincount(documents, minlength=tokens.counts.size).tolist()
    if not corpus.sentence_metadata:
        return Categories(np.full(documents.size, -1), ())
    return Categories.of(
        [
            sentences[place].get(key) if place < len(sentences) else None
            for sentences, number in zip(corpus.sentence_metadata, numbers, strict=True)
            for place in range(number)
        ]
    )


def _sentences(texts: Sequence[Tokens]) -> Iterator[tuple[Tokens, IntArray]]:
    """Each of some texts with its sentences in documents that those before it lack."""
    lacking = np.ones(texts[0].counts.size, dtype=np.bool_)
    for tokens in texts:
        own = lacking[documents_of_tokens(tokens.offsets, tokens.starts)]
        yield tokens, np.flatnonzero(own)
        lacking &= tokens.counts == 0
        if not lacking.any():
            return


def _sample(tokens: Tokens, name: str | int) -> Counter[str]:
    total = int(tokens.offsets[-1])
    if not total or (isinstance(name, str) and name not in tokens.columns):
        return Counter()
    some = np.unique(np.linspace(0, total - 1, min(total, _SAMPLE)).astype(np.int64))
    try:
        for rows in (some, None):
            counts = _counts(tokens.coded(name, tokens=rows))
            if not counts.keys() <= (_NO_BRACKETS if name == "named_entity" else BLANK):
                return counts
    except InputError:  # a number of a column that is not there
        pass
    return Counter()


def _counts(values: Categories) -> Counter[str]:
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.names)).tolist()
    return Counter({n: c for n, c in zip(values.names, counts, strict=True) if c})
