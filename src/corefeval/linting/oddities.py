"""Findings about mentions, about documents, and about the lines of CoNLL files."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from corefeval.diagnostics import Notice, excerpt, plural
from corefeval.formats.conll.lines import OFFICIAL_DOCUMENT
from corefeval.formats.conll.repair import Repair
from corefeval.formats.conllu.tokens import ConlluLines
from corefeval.formats.source import Source
from corefeval.linting.findings import Finding, Locator, from_error
from corefeval.model import DEIXIS, IDENTITY, LAYERS, Corpus
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.identity import mention_codes
from corefeval.model.text_tokens import has_texts

_TRIED = 64
_NAMED = 10


def mention_findings(locator: Locator) -> Iterator[Finding]:
    """All findings about mentions."""
    corpus = locator.corpus
    if not corpus.n_mentions:
        return
    codes, _ = mention_codes(corpus, corpus)
    layers = corpus.mention_layer
    yield from _find_repeats(locator, codes * len(LAYERS) + layers)
    if corpus.labels is not None:
        return
    yield from _find_out_of_range(locator)
    first = first_copies(corpus, codes)
    for layer in np.unique(layers).tolist():
        yield from _find_overlaps(locator, first & (layers == layer))
    yield from _find_across_sentences(locator)
    yield from _find_on_blanks(locator)


def first_copies(corpus: Corpus, codes: IntArray) -> BoolArray:
    """Which mentions are the first of their tokens in their entity; codes tell tokens apart."""
    order = np.lexsort((corpus.mention_entity, codes))
    is_copy = (np.diff(codes[order]) == 0) & (np.diff(corpus.mention_entity[order]) == 0)
    first: BoolArray = np.ones(corpus.n_mentions, dtype=np.bool_)
    first[order[1:][is_copy]] = False
    return first


def _find_repeats(locator: Locator, codes: IntArray) -> Iterator[Finding]:
    """Spans that one entity has several times, and spans of several entities."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.concatenate(([True], np.diff(codes[order]) != 0)))
    sizes = np.diff(np.append(starts, codes.size))
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        by_entity: dict[int, list[int]] = {}
        for row in order[start : start + size].tolist():
            by_entity.setdefault(int(locator.corpus.mention_entity[row]), []).append(row)
        for rows in by_entity.values():
            if len(rows) > 1:
                message = f"{_times(len(rows))} in entity {_entity(locator, rows[0])}"
                yield locator.about_mention("repeated-mention", rows[0], message)
        if len(by_entity) > 1:
            firsts = [rows[0] for rows in by_entity.values()]
            names = " and ".join(_entity(locator, row) for row in firsts[:_NAMED])
            remainder = f" and {len(firsts) - _NAMED:,} more" if len(firsts) > _NAMED else ""
            message = f"in the entities {names}{remainder}"
            yield locator.about_mention("span-in-two-entities", firsts[0], message)


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _entity(locator: Locator, row: int) -> str:
    return excerpt(locator.mention(row).entity.name, 30)


def _find_out_of_range(locator: Locator) -> Iterator[Finding]:
    corpus = locator.corpus
    start, end = _positions(corpus)
    if corpus.tokens is None:
        return
    counts = corpus.tokens.counts[corpus.mention_document]
    for row in np.flatnonzero((end > counts) | (start < 0)).tolist():
        count = plural(int(counts[row]), "token")
        yield locator.about_mention("out-of-range", row, f"goes beyond the {count} of its document")


def _positions(corpus: Corpus) -> tuple[IntArray, IntArray]:
    nothing = np.zeros(0, dtype=np.int64)
    start, end = corpus.mention_start, corpus.mention_end
    return (nothing if start is None else start), (nothing if end is None else end)


def _find_overlaps(locator: Locator, first: BoolArray) -> Iterator[Finding]:
    """Mentions that cross other mentions, or are nested in a mention of their entity.

    Each mention is reported once per kind, with the nearest of those that it crosses. Mentions that
    overlap no other mention (most of them) are skipped.
    """
    corpus = locator.corpus
    rows = np.flatnonzero(first)
    start, end = (positions[rows] for positions in _positions(corpus))
    document = corpus.mention_document[rows]
    stride = int(end.max()) + 1
    reach = np.maximum.accumulate(document * stride + end)
    fresh = np.concatenate(([True], (document * stride + start)[1:] >= reach[:-1]))
    begins = np.flatnonzero(fresh)
    sizes = np.diff(np.append(begins, rows.size))
    overlap = _overlap(locator)
    for begin, size in zip(begins[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        yield from _sweep(locator, rows[begin : begin + size], overlap)


def _overlap(locator: Locator) -> Callable[[int, int], bool]:
    """A function that says whether two mentions (by row) whose extents overlap share a token."""
    gapped = locator.corpus.gaps_of

    def overlap(row: int, other_row: int) -> bool:
        if row not in gapped and other_row not in gapped:
            return True
        positions = set(locator.mention(row).positions)
        return not positions.isdisjoint(locator.mention(other_row).positions)

    return overlap


# Mentions that are open at some place: (end, row) of each, ascending.
_Open = list[tuple[int, int]]


def _sweep(
    locator: Locator, rows: IntArray, overlap: Callable[[int, int], bool]
) -> Iterator[Finding]:
    """The findings about overlapping mentions, which are given in textual order.

    Mentions that are still open are kept by their ends. For each mention, the nearest few of them
    are tried: with gaps, mentions may share no token although their extents overlap.
    """
    starts, ends = _positions(locator.corpus)
    spans = dict(
        zip(
            rows.tolist(), zip(starts[rows].tolist(), ends[rows].tolist(), strict=True), strict=True
        )
    )
    open_mentions: _Open = []
    by_entity: dict[int, _Open] = defaultdict(list)
    for row, entity in zip(spans, locator.corpus.mention_entity[rows].tolist(), strict=True):
        start, end = spans[row]
        of_entity = by_entity[entity]
        for still_open in (open_mentions, of_entity):
            del still_open[: bisect_right(still_open, (start, locator.corpus.n_mentions))]
        nested = bisect_right(of_entity, (end, -1))
        n_foreign = bisect_right(open_mentions, (end, -1)) - nested
        foreign = _list_foreign(open_mentions, of_entity, n_foreign)
        crossed = (inner for _, inner in of_entity[: min(nested, _TRIED)])
        around = (outer for _, outer in of_entity[nested : nested + _TRIED])
        around = (outer for outer in around if spans[outer] != spans[row])
        for kind, verb, candidates in (
            ("crossing-entities", "crosses", foreign),
            ("crossing-mentions", "crosses", crossed),
            ("self-nested-mention", "is inside", around),
        ):
            other_row = next(filter(partial(overlap, row), candidates), None)
            if other_row is not None:
                yield _about_two(locator, kind, row, other_row, verb)
        insort(open_mentions, (end, row))
        insort(of_entity, (end, row))


def _list_foreign(open_mentions: _Open, of_entity: _Open, count: int) -> Iterator[int]:
    """The first open mentions, up to a count, that do not belong to an entity.

    `of_entity` are the open mentions of the entity. The n-th mention of other entities is at the
    first place up to which there are n more open mentions than open mentions of the entity.
    """
    for number in range(1, min(count, _TRIED) + 1):
        place = bisect_left(
            range(len(open_mentions)),
            number,
            key=lambda place: place + 1 - bisect_right(of_entity, open_mentions[place]),
        )
        yield open_mentions[place][1]


def _about_two(locator: Locator, kind: str, row: int, other_row: int, verb: str) -> Finding:
    mention = locator.mention(other_row)
    text = locator.text(mention)
    name = f"{excerpt(text, 40)} ({tell_span(*mention.span)})" if text else tell_span(*mention.span)
    is_one_entity = locator.corpus.mention_entity[row] == locator.corpus.mention_entity[other_row]
    entity = _entity(locator, row)
    whose = f"both of entity {entity}" if is_one_entity else f"of entities {entity} and "
    whose += "" if is_one_entity else _entity(locator, other_row)
    return locator.about_mention(kind, row, f"{verb} {name}, {whose}")


def tell_span(start: int, end: int) -> str:
    """Token positions in words, the last one included."""
    return f"token {start}" if end - start == 1 else f"tokens {start} to {end - 1}"


def _find_across_sentences(locator: Locator) -> Iterator[Finding]:
    corpus = locator.corpus
    starts, ends = _positions(corpus)
    if corpus.tokens is None:
        return
    offsets, layers = corpus.mention_offsets, corpus.mention_layer
    for index in np.flatnonzero(np.diff(offsets)).tolist():
        sentences = np.array(corpus.tokens.sentence_starts(index), dtype=np.int64)
        begin, stop = int(offsets[index]), int(offsets[index + 1])
        first = np.searchsorted(sentences, starts[begin:stop], side="right")
        last = np.searchsorted(sentences, ends[begin:stop] - 1, side="right")
        segment = layers[begin:stop] == DEIXIS  # deixis may refer to several sentences
        for place in np.flatnonzero((first != last) & ~segment).tolist():
            message = f"from sentence {first[place]} into sentence {last[place]}"
            yield locator.about_mention("cross-sentence-mention", begin + place, message)


def _find_on_blanks(locator: Locator) -> Iterator[Finding]:
    """Mentions that begin or end on white space, unless that is an empty node."""
    corpus = locator.corpus
    starts, ends = _positions(corpus)
    if corpus.tokens is None or "word" not in corpus.tokens.columns:
        return
    offsets = corpus.mention_offsets
    for index in np.flatnonzero(np.diff(offsets)).tolist():
        words = locator.document(index).words
        blank = np.array([not word or word.isspace() for word in words], dtype=np.bool_)
        if "empty" in corpus.tokens.columns:
            zeros = np.array(corpus.tokens.column(index, "empty"), dtype=np.str_) == "1"
            blank &= ~zeros
        if not blank.any():
            continue
        for row in range(int(offsets[index]), int(offsets[index + 1])):
            edges = [p for p in (int(starts[row]), int(ends[row]) - 1) if p < blank.size]
            where = [side for p, side in zip(edges, ("begins", "ends"), strict=False) if blank[p]]
            if where:
                message = f"{' and '.join(where)} on a blank token"
                yield locator.about_mention("blank-tokens", row, message)


def document_findings(locator: Locator) -> Iterator[Finding]:
    """All findings about documents, and about the file as a whole."""
    corpus = locator.corpus
    if corpus.tokens is not None:
        counts = corpus.tokens.counts
        for index in np.flatnonzero(counts == 0).tolist():
            yield locator.about_document("empty-document", index, "no tokens")
        if int(counts.sum()) == 1:
            index = int(np.argmax(counts))
            yield locator.about_document("one-token-file", index, "one token in all", 0)
        else:
            for index in np.flatnonzero(counts == 1).tolist():
                yield locator.about_document("one-token-document", index, "one token", 0)
    yield from _find_word_ids(locator)
    yield from whole_file_findings(locator.file, Contents.of(corpus), corpus.notices)


def _find_word_ids(locator: Locator) -> Iterator[Finding]:
    tokens = locator.corpus.tokens
    lines = None if tokens is None else tokens.lines
    if tokens is None or not isinstance(lines, ConlluLines):
        return
    scan = lines.scan
    for index, (first, count) in enumerate(zip(tokens.run_first, tokens.counts, strict=True)):
        bounds = np.searchsorted(scan.misnumbered, (first, first + count))
        for row in scan.misnumbered[slice(*bounds)].tolist():
            number, word = scan.text(int(scan.token_line[row])).split(b"\t", 2)[:2]
            shown_word = excerpt(lines.origin.decode(word))
            message = f"{shown_word} has number {number.decode()}, which is out of order"
            yield locator.about_document("word-ids", index, message, row - int(first))


@dataclass(frozen=True, slots=True)
class Contents:
    """How much a file contains; `tokens` is None where it has no tokens."""

    documents: int
    tokens: int | None
    entities: int
    mentions: int
    singletons: int

    @staticmethod
    def of(corpus: Corpus) -> Contents:
        """The contents of a corpus."""
        tokens, identity = corpus.tokens, corpus.keep_layer(IDENTITY)
        sizes = identity.entity_sizes
        return Contents(
            len(corpus.documents),
            None if tokens is None or has_texts(tokens) else int(tokens.counts.sum()),
            int((sizes > 0).sum()),
            identity.n_mentions,
            int((sizes == 1).sum()),
        )

    @staticmethod
    def total(parts: Sequence[Contents]) -> Contents:
        """The contents of several parts of a file together."""
        tokens = [part.tokens for part in parts if part.tokens is not None]
        return Contents(
            sum(part.documents for part in parts),
            sum(tokens) if len(tokens) == len(parts) else None,
            sum(part.entities for part in parts),
            sum(part.mentions for part in parts),
            sum(part.singletons for part in parts),
        )


# Kinds of notices for which there are findings with the numbers of lines, too.
_WITH_LINES = ("unfinished-file", "word-ids")


def whole_file_findings(
    file: str | None, contents: Contents, notices: Iterable[Notice]
) -> Iterator[Finding]:
    """Findings about a file as a whole."""
    for notice in notices:
        if notice.kind not in _WITH_LINES:
            yield Finding("reading-notice", notice.message, file)
    if not contents.mentions:
        documents = plural(contents.documents, "document")
        yield Finding("no-mentions", f"no mentions in {documents}", file)
    if single := contents.singletons:
        entities = plural(contents.entities, "entity")
        verb = "has" if single == 1 else "have"
        yield Finding("singletons", f"{single:,} of {entities} {verb} one mention", file)


# A document line as corefeval reads it, whether or not the official scorer does.
_DOCUMENT_LINE = re.compile(rb"(?im)^#[^\S\n]*begin[^\S\n]+document\b[^\n]*")
_END_LINE = re.compile(rb"(?i)#\s*end\s+document\b")


def conll_findings(source: Source, repairs: Iterable[Repair]) -> Iterator[tuple[Finding, str]]:
    """Findings about the lines of a CoNLL file, each with what a repair does about it."""
    for repair in repairs:
        yield from_error(repair.error, repair.kind, document=repair.document), repair.done
    data = source.data.tobytes()
    yield from _find_unfinished(source, data)
    line, seen = 1, 0
    for match in _DOCUMENT_LINE.finditer(data):
        if not OFFICIAL_DOCUMENT.match(match[0]):
            line += data.count(b"\n", seen, match.start())
            seen = match.start()
            text = excerpt(match[0].decode(source.encoding, "replace").strip())
            place = source.line(line - 1)
            finding = Finding("document-line", f"found {text}", source.file, place)
            yield finding, "written as the official scorer reads it"


def _find_unfinished(source: Source, data: bytes) -> Iterator[tuple[Finding, str]]:
    """A file whose last document does not end, which may mean that the file was cut."""
    last = data.rstrip().rpartition(b"\n")[2]
    if last and not _END_LINE.match(last):
        text = excerpt(last.decode(source.encoding, "replace").strip())
        line = source.line(data.rstrip().count(b"\n"))
        finding = Finding("unfinished-file", f"the last line is {text}", source.file, line)
        yield finding, "an ‘#end document’ line added"
