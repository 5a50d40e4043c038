"""What tells mentions and texts apart.

A code for each mention, equal across corpora; a digest of all mentions; words as formats can write
them, and the first word in which two texts differ.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corefeval.diagnostics import InputError
from corefeval.model.arrays import (
    ArrayPair,
    IntArray,
    all_zero,
    begin_runs,
    integers,
    mark_rows,
    ragged_arange,
    set_rows,
    stable_order,
    unset,
)
from corefeval.model.categories import Categories
from corefeval.model.corpus import Corpus
from corefeval.model.tokens import Rows, Tokens

_LIMIT = 1 << 62


def mention_codes(key: Corpus, response: Corpus) -> ArrayPair:
    """Codes of the mentions of two corpora that number their documents alike.

    Two mentions have the same code when they are in the same document and have the same token
    positions (or the same label). Where mentions have positions, codes ascend in textual order.
    """
    if key.labels is not None and response.labels is not None:
        return _label_codes(key, response)
    if key.labels is not None or response.labels is not None:
        raise InputError(
            "one side has token positions, the other has plain Python mentions",
            expected="files or corpora with positions on both sides, or plain Python on both",
            fix="make every plain mention a tuple (start, end) of token positions, "
            "or use corefeval.corpus_from_arrays",
        )
    return _span_codes(key, response)


def _label_codes(*corpora: Corpus) -> ArrayPair:
    """Codes of plain Python mentions, equal for equal labels of one document."""
    sides: list[Sequence[Hashable]] = [corpus.labels or () for corpus in corpora]
    if min(map(len, sides)) > _MANY:
        spans = [span for span in map(_spans_of, corpora) if span is not None]
        codes = _number_spans(corpora, spans) if len(spans) == len(sides) else None
        if codes is not None:
            return codes[: len(sides[0])], codes[len(sides[0]) :]
    if len(corpora[0].documents) > 1:
        documents = (corpus.mention_document.tolist() for corpus in corpora)
        sides = [list(zip(*pair, strict=True)) for pair in zip(documents, sides, strict=True)]
    numbers = dict(zip(dict.fromkeys(chain(*sides)), count()))
    left, right = (
        np.fromiter(map(numbers.__getitem__, side), dtype=np.int64, count=len(side))
        for side in sides
    )
    _check_identity(corpora, left, right)
    return left, right


_MANY = 2000  # labels; fewer are numbered in less time than arrays of them take to make


def _spans_of(corpus: Corpus) -> IntArray | None:
    """Labels that are all tuples of two numbers, as an array of two columns; None for others."""
    return corpus.remember("spans", lambda: _read_spans(corpus.labels or ()))


def _read_spans(labels: Sequence[Any]) -> IntArray | None:
    if set(map(type, labels)) != {tuple} or set(map(len, labels)) != {2}:
        return None
    if set(map(type, chain.from_iterable(labels))) != {int}:
        return None
    try:
        numbers = np.fromiter(chain.from_iterable(labels), np.int64, 2 * len(labels))
    except OverflowError:
        return None
    return numbers.reshape(-1, 2)


def _number_spans(corpora: Sequence[Corpus], spans: Sequence[IntArray]) -> IntArray | None:
    """The numbers that a dictionary would give to all labels, by one sort; None if they are large.

    Numbers follow the order in which labels come first.
    """
    places = np.concatenate([corpus.mention_document for corpus in corpora])
    start, end = np.concatenate(spans).T
    low = int(start.min()), int(end.min())
    stride, width = int(start.max()) - low[0] + 1, int(end.max()) - low[1] + 1
    if len(corpora[0].documents) * stride * width >= _LIMIT:
        return None
    values = (places * stride + (start - low[0])) * width + (end - low[1])
    order = stable_order(values)
    new = begin_runs(values[order])
    is_first = mark_rows(order[new], order.size)
    return set_rows(order, (np.cumsum(is_first) - 1)[order[new]][np.cumsum(new) - 1], order.size)


def _check_identity(corpora: Sequence[Corpus], left: IntArray, right: IntArray) -> None:
    """Raise an InputError where mentions equal only themselves, and none is on both sides.

    The same objects on both sides are as good as names.
    """
    kinds: set[type] = set().union(*(map(type, corpus.labels or ()) for corpus in corpora))
    alone = {kind for kind in kinds if _is_by_identity(kind)}
    if not alone:
        return
    rows = [
        [row for row, label in enumerate(corpus.labels or ()) if type(label) in alone]
        for corpus in corpora
    ]
    if not rows[0] or not rows[1] or np.isin(left[rows[0]], right[rows[1]]).any():
        return
    label = (corpora[1].labels or ())[rows[1][0]]
    raise InputError(
        f"mentions of type {type(label).__name__} equal only themselves, and no such object is on "
        "both sides",
        found=f"{label!r:.60}",
        expected="mentions that are equal where they are the same: numbers, strings, tuples",
        fix=f"give {type(label).__name__} an __eq__ and a __hash__ (a frozen dataclass has both), "
        "or pass (start, end) in its place",
    )


@lru_cache(maxsize=64)
def _is_by_identity(kind: type) -> bool:
    attributes = {name for base in kind.__mro__[:-1] for name in vars(base)}
    return not attributes & {"__eq__", "__hash__"} and kind is not type(None)


def _span_codes(*corpora: Corpus) -> ArrayPair:
    """Codes of spans: document, start, length and gaps in one number, as far as it holds them."""
    starts = [corpus.mention_start for corpus in corpora if corpus.mention_start is not None]
    lengths = [
        corpus.mention_end - corpus.mention_start
        for corpus in corpora
        if corpus.mention_end is not None and corpus.mention_start is not None
    ]
    if len(lengths) < len(corpora):
        raise InputError("a corpus has neither token positions nor labels for its mentions")
    shapes, n_shapes = [all_zero(1)] * len(corpora), 1
    if any(corpus.gaps.size for corpus in corpora):
        shapes, n_shapes = _shapes(*corpora)
    # Powers of two, so that most responses leave the codes of a key as they were.
    width, stride = (
        1 << max(int(values.max(initial=0)) for values in sides).bit_length()
        for sides in (lengths, starts)
    )
    n_documents = len(corpora[0].documents)
    if n_documents * stride * width * n_shapes >= _LIMIT:
        return _rank(*corpora, shapes=shapes)

    def encode(side: int) -> IntArray:
        corpus, start, shape = corpora[side], starts[side], shapes[side]
        place = start if n_documents == 1 else corpus.mention_document * stride + start
        code = place * width + (width - 1 - lengths[side])
        return code if n_shapes == 1 else code * n_shapes + shape

    if n_shapes > 1:
        return encode(0), encode(1)
    return corpora[0].remember("codes", lambda: encode(0), of=(width, stride)), encode(1)


def _rank(*corpora: Corpus, shapes: list[IntArray]) -> ArrayPair:
    """Codes of spans by sorting them, where one number cannot hold all parts of a span."""
    rows = [
        np.stack(
            np.broadcast_arrays(
                corpus.mention_document, corpus.mention_start, -corpus.mention_end, shape
            ),
            axis=1,
        )
        for corpus, shape in zip(corpora, shapes, strict=True)
        if corpus.mention_start is not None and corpus.mention_end is not None
    ]
    _, ranks = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    ranks = integers(ranks.reshape(-1))
    return ranks[: len(rows[0])], ranks[len(rows[0]) :]


def _shapes(*corpora: Corpus) -> tuple[list[IntArray], int]:
    """Number the ways in which mentions are interrupted; 0 is a mention without gaps.

    The numbers do not depend on which corpus comes first: they order what is equal otherwise.
    """
    distinct = {tuple(spans) for corpus in corpora for spans in corpus.gaps_of.values()}
    numbers = {spans: number for number, spans in enumerate(sorted(distinct), 1)}
    shapes = []
    for corpus in corpora:
        shape = all_zero(corpus.n_mentions if corpus.gaps.size else 1)
        for row, spans in corpus.gaps_of.items():
            shape[row] = numbers[tuple(spans)]
        shapes.append(shape)
    return shapes, 1 + len(numbers)


_ODD = tuple(np.uint64(number) for number in (
    0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93,
    0xFF51AFD7ED558CCD,
))  # fmt: skip
_SPREAD = np.uint64(29)

VERSION = "v2"  # digests of another version are not comparable


def digest(corpus: Corpus) -> str:
    """A text that is equal for equal documents with equal mentions in equal entities.

    What entities are called, their order, the order of documents and the text do not matter. It is
    a sum over documents, so that the digests of the parts of a corpus add up to its own (see
    `Result.total`). It is no protection against somebody who wants to deceive.
    """
    return corpus.remember("digest", lambda: _digest(corpus))


def _digest(corpus: Corpus) -> str:
    """The digest that `digest` keeps."""
    names = (str(name).encode(errors="surrogatepass") for name in corpus.documents)
    documents = np.array([*map(zlib.crc32, names)], np.uint64)
    start, end = corpus.mention_start, corpus.mention_end
    if start is None or end is None:
        columns = [integers([zlib.crc32(repr(label).encode()) for label in corpus.labels or ()])]
    else:
        gaps = all_zero(corpus.n_mentions if corpus.gaps.size else 1)
        np.add.at(gaps, corpus.gaps[:, 0], corpus.gaps[:, 1] * 1_000_003 + corpus.gaps[:, 2])
        columns = [start, end + gaps * 31]
    parts: list[NDArray[np.uint64]] = [column.view(np.uint64) for column in columns]
    parts.append(documents if documents.size == 1 else documents[corpus.mention_document])
    if corpus.entity_layer is not None and corpus.entity_layer.any():
        # Added, so that corpora without layers keep the digests that they had.
        parts[-1] = parts[-1] + (corpus.mention_layer.astype(np.uint64) << np.uint64(40))
    mention_hashes = _mix(parts)
    # What tells the entities apart are all mentions of each: first ones may be the same tokens.
    entities = np.zeros(corpus.n_entities, dtype=np.uint64)
    np.add.at(entities, corpus.mention_entity, mention_hashes)
    hashes = _mix([mention_hashes, entities[corpus.mention_entity]])
    total = int(hashes.sum()) + int(_mix([documents]).sum())
    return f"{VERSION}-{total % (1 << 64):016x}-{corpus.n_mentions}"


def _mix(columns: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """One number for each row, spread over all bits."""
    mixed = columns[0] * _ODD[0]
    mixed ^= mixed >> _SPREAD
    for column, odd in zip(columns[1:], _ODD[1:], strict=False):
        mixed += column
        mixed *= odd
        mixed ^= mixed >> _SPREAD
    mixed *= _ODD[-1]
    return mixed


_BLANKS = r"[\x00-\x20]"
_SURROGATES = r"[\ud800-\udfff]"
_UNBROKEN = r"[^\x00-\x20\ud800-\udfff]+"


def plain_word(word: str) -> str:
    """A word as all formats can carry it: `_` for each blank, and for a word that nobody can see.

    Whatever a format makes of a word, this stays the same, so that texts are compared by it.

    >>> [plain_word(word) for word in ("tea", "ice cream", "", "\u3000", "_")]
    ['tea', 'ice_cream', '_', '_', '_']
    """
    if _is_usual(word):
        return word
    return re.sub(_BLANKS, "_", writable_text(word)) if word.strip() else "_"


def writable_text(text: str) -> str:
    """A text as files can hold it: lone surrogates, which are no characters, as one � each."""
    return text if text.isprintable() else re.sub(_SURROGATES, "\ufffd", text)


def seen_word(word: str) -> str:
    """A word as it can be found again in a text: as it is, or `_` where nobody can see it."""
    return word if word.strip() else "_"


def unbroken_word(word: str) -> str:
    """A word as it can stand between blanks: as it is, or plain."""
    return word if _is_usual(word) or re.fullmatch(_UNBROKEN, word) else plain_word(word)


def _is_usual(word: str) -> bool:
    """Whether all of a word can be seen, as nearly always, and no pattern need be asked."""
    return word.isprintable() and word != "" and " " not in word


class TokenDifference(NamedTuple):
    """The first token at which two texts differ; its position is that in the response's file."""

    document: int
    position: int
    key_word: str
    response_word: str
    key_line: int | None = None
    response_line: int | None = None


def find_difference(
    key: Tokens, response: Tokens, documents: Sequence[int] | IntArray
) -> TokenDifference | None:
    """The first token that differs, over documents that both sides number alike.

    Blanks in words are as good as `_`, which some formats must write for them. Corpora without
    words agree; numbers of tokens must be compared before.
    """
    chosen = np.asarray(documents, dtype=np.int64)
    if key.has_texts:
        return _find_in_texts(key, response, chosen)
    if "word" not in key.columns or "word" not in response.columns:
        return None
    chosen, size = _skip_equal_bytes(key, response, chosen), 1
    while chosen.size:  # ever more at once: who asks for all differences asks again and again
        difference = _find_in_words(key, response, chosen[:size])
        if difference is not None:
            return difference
        chosen, size = chosen[size:], 2 * size
    return None


def _find_in_texts(key: Tokens, response: Tokens, documents: IntArray) -> TokenDifference | None:
    """The first character that differs, with some of the text around it."""
    for document in documents.tolist():
        tables = key.table(document), response.table(document)
        texts = [table.text for table in tables if table is not None and table.text is not None]
        if len(texts) == len(tables) and writable_text(texts[0]) != writable_text(texts[1]):
            place = first_unequal(*texts)
            shown = [text[place : place + 20] for text in texts]
            return TokenDifference(document, place, shown[0], shown[1])
    return None


def _skip_equal_bytes(key: Tokens, response: Tokens, documents: IntArray) -> IntArray:
    """The documents without those at the beginning whose words are equal as bytes.

    A score of two CoNLL files takes half of the time where this is possible.
    """
    sides = (key, response)
    tables = [side.tables_in_use[0] for side in sides if side.lines is not None]
    words = [table.word_bytes for table in tables if table.word_bytes is not None]
    if len(words) < len(sides) or words[0].encoding != words[1].encoding:
        return documents
    counts = np.minimum(key.counts[documents], response.counts[documents])
    rows: list[Rows] = []
    for first in (side.run_first[documents] for side in sides):
        if first.size and bool((first[1:] == first[:-1] + counts[:-1]).all()):
            rows.append(range(int(first[0]), int(first[-1] + counts[-1])))
        else:
            rows.append(ragged_arange(first, counts))
    place = words[0].first_unequal_word(rows[0], words[1], rows[1])
    if place is None:
        return documents[:0]
    return documents[int(np.searchsorted(np.cumsum(counts), place, side="right")) :]


def _find_in_words(key: Tokens, response: Tokens, documents: IntArray) -> TokenDifference | None:
    """The first word of some documents that differs; None where all are equal."""
    counts = np.minimum(key.counts[documents], response.counts[documents])
    rows = [ragged_arange(side.offsets[documents], counts) for side in (key, response)]
    words = [side.coded("word", places) for side, places in zip((key, response), rows, strict=True)]
    if words[0].names == words[1].names and np.array_equal(words[0].codes, words[1].codes):
        return None  # nearly always: words are named in the order of the text
    numbers: dict[str, int] = {}
    key_words, response_words = (
        _number_words(side, places, coded, numbers)
        for side, places, coded in zip((key, response), rows, words, strict=True)
    )
    differ = (key_words != response_words) & (key_words >= 0) & (response_words >= 0)
    if not differ.any():
        return None
    place = int(np.argmax(differ))
    ends = np.cumsum(counts)
    index = int(np.searchsorted(ends, place, side="right"))
    document, position = int(documents[index]), place - int(ends[index] - counts[index])
    tokens = [np.array([side.offsets[document] + position]) for side in (key, response)]
    return TokenDifference(
        document,
        response.position_in_file(document, position),
        key.coded("word", tokens[0]).values()[0] or "",
        response.coded("word", tokens[1]).values()[0] or "",
        key.line(document, position),
        response.line(document, position),
    )


def _number_words(
    side: Tokens, tokens: IntArray, words: Categories, numbers: dict[str, int]
) -> IntArray:
    """A number for each word; −1 for an empty node, as it does not matter what it is called."""
    table = unset(len(words.names) + 1)
    present = np.flatnonzero(np.bincount(words.codes + 1, minlength=table.size)[1:])
    table[present] = [
        numbers.setdefault(plain_word(words.names[code]), len(numbers)) for code in present.tolist()
    ]
    codes: IntArray = table[words.codes]
    if "empty" in side.columns:
        codes[side.coded("empty", tokens).where(bool)] = -1
    return codes


def first_unequal(text: str, other_text: str) -> int:
    """The first position at which two texts differ, or where the shorter one ends."""
    pairs = enumerate(zip(text, other_text, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(text), len(other_text)))
