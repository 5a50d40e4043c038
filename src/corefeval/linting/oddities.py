"""Findings about mentions, and what they state: heads, minimum spans, relations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np

from corefeval.diagnostics import excerpt, plural
from corefeval.formats.conllu.reader import stated_heads
from corefeval.formats.conllu.tokens import ConlluLines
from corefeval.linting.findings import Finding, Locator
from corefeval.model import DEIXIS, LAYERS, Corpus, Tokens
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    IntArray,
    find_runs,
    integers,
    mark_rows,
    plain_rows,
    stable_order,
    unset,
)
from corefeval.model.identity import mention_codes
from corefeval.model.relations import bridging_pairs, find_elements
from corefeval.model.tokens import documents_of_tokens
from corefeval.pairing.node_alignment import encode_id

_TRIED = 64  # open mentions that are compared with a mention, the nearest first
_NAMED = 10  # entities that a message names


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
    return ~mark_rows(order[1:][is_copy], corpus.n_mentions)


def _find_repeats(locator: Locator, codes: IntArray) -> Iterator[Finding]:
    """Spans that one entity has several times, and spans of several entities."""
    order = stable_order(codes)
    starts, sizes = find_runs(codes[order])
    for start, size in plain_rows(starts[sizes > 1], sizes[sizes > 1]):
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


def _positions(corpus: Corpus) -> ArrayPair:
    nothing = unset(0)
    start, end = corpus.mention_start, corpus.mention_end
    return (nothing if start is None else start), (nothing if end is None else end)


def _find_overlaps(locator: Locator, first: BoolArray) -> Iterator[Finding]:
    """Mentions that cross other mentions, or are nested in a mention of their entity.

    Each mention is reported once per kind, with the nearest of those that it crosses. Groups of
    overlapping mentions in which there is nothing to report (most of them) are skipped.
    """
    corpus = locator.corpus
    rows = np.flatnonzero(first)
    start, end = (positions[rows] for positions in _positions(corpus))
    offset = corpus.mention_document[rows] * (int(end.max()) + 1)
    start, end = start + offset, end + offset
    is_odd = _find_close_kin(start, end, corpus.mention_entity[rows])
    if "crossing-entities" not in locator.skipped:
        is_odd |= _find_crossing(start, end)
    begins = np.concatenate(([True], start[1:] >= np.maximum.accumulate(end)[:-1]))
    group = np.cumsum(begins)
    overlap = _make_overlap_test(locator)
    for number in np.unique(group[is_odd]).tolist():
        yield from _sweep(locator, rows[group == number], overlap)


def _find_crossing(start: IntArray, end: IntArray) -> BoolArray:
    """Some of the mentions that cross others, in each group of overlapping ones that has any.

    Where none cross, those that are open when a mention opens are also open after it closes, except
    those that close with it. The first mention that crosses another one has more of them there.
    """
    ends = np.sort(end)
    n_before = np.arange(end.size) - np.searchsorted(ends, start, side="right")
    n_after = np.searchsorted(start, end) - np.searchsorted(ends, end, side="right")
    order = stable_order(end)
    n_together = unset(end.size)
    n_together[order] = np.arange(end.size) - np.searchsorted(ends, ends)
    crossing: BoolArray = n_after + n_together > n_before
    return crossing


def _find_close_kin(start: IntArray, end: IntArray, entity: IntArray) -> BoolArray:
    """The mentions that overlap an earlier one of their entity."""
    order = stable_order(entity)
    offset = entity[order] * (int(end.max()) + 1)
    reach = np.maximum.accumulate(offset + end[order])
    return mark_rows(order[1:][(offset + start[order])[1:] < reach[:-1]], entity.size)


def _make_overlap_test(locator: Locator) -> Callable[[int, int], bool]:
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
    spans = dict(plain_rows(rows, plain_rows(starts[rows], ends[rows])))
    open_mentions: _Open = []
    by_entity: dict[int, _Open] = defaultdict(list)
    for row, entity in plain_rows(spans, locator.corpus.mention_entity[rows]):
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
            if other_row is not None and kind not in locator.skipped:
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
    """Mentions that begin in one sentence and end in another."""
    corpus = locator.corpus
    starts, ends = _positions(corpus)
    if corpus.tokens is None:
        return
    offsets, layers = corpus.mention_offsets, corpus.mention_layer
    for index in np.flatnonzero(np.diff(offsets)).tolist():
        sentences = integers(corpus.tokens.sentence_starts(index))
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
    tokens = corpus.tokens
    counts, offsets = (each[corpus.mention_document] for each in (tokens.counts, tokens.offsets))
    places = np.stack((starts, ends - 1))
    on_blank = (places >= 0) & (places < counts)
    edges = (offsets + places)[on_blank]
    is_blank = tokens.coded("word", edges).where(lambda word: not word.strip())
    if "empty" in tokens.columns:
        is_blank &= ~tokens.coded("empty", edges).where(bool)
    on_blank[on_blank] = is_blank
    for row in np.flatnonzero(on_blank.any(axis=0)).tolist():
        sides = zip(("begins", "ends"), on_blank[:, row], strict=True)
        where = " and ".join(side for side, is_blank in sides if is_blank)
        yield locator.about_mention("blank-tokens", row, f"{where} on a blank token")


_NO_DEPENDENCIES = ("", "_")
_ROOT = encode_id("0")
_LISTED = 3


def matching_findings(locator: Locator) -> Iterator[Finding]:
    """Findings about heads, minimum spans and empty nodes that matching cannot use."""
    if locator.corpus.labels is not None:
        return
    yield from _find_heads(locator)
    yield from _find_minima(locator)
    tokens = locator.corpus.tokens
    if tokens is not None and {"empty", "number", "deps"} <= {*tokens.columns}:
        yield from _find_dependencies(locator, tokens)


def _find_heads(locator: Locator) -> Iterator[Finding]:
    """Stated heads of a CoNLL-U file that are missing or not in their mentions."""
    corpus = locator.corpus
    lines = None if corpus.tokens is None else corpus.tokens.lines
    if not isinstance(lines, ConlluLines) or not corpus.n_mentions:
        return
    if corpus.mention_head is None:
        if (np.asarray(corpus.mention_end) - corpus.mention_start > 1).any():
            yield locator.about_file("no-heads", "‘# global.Entity’ names no head")
        return
    if (np.asarray(corpus.mention_head) >= 0).all():
        return
    rows: dict[tuple[int, int, int], int] = {}
    columns = (corpus.mention_document, corpus.mention_start, corpus.mention_end)
    for number, place in enumerate(plain_rows(*(np.asarray(c) for c in columns))):
        rows.setdefault(place, number)
    for document, start, end, text in stated_heads(lines):
        row = rows.get((document, start, end))
        if row is None:
            continue
        size = len(locator.mention(row).positions)
        if not _is_number_up_to(size, text.partition(",")[0]):
            value = f"the head is {excerpt(text, 20)}" if text.strip("_") else "there is no head"
            message = f"{value} of {plural(size, 'token')}"
            yield locator.about_mention("unusable-head", row, message)


def _is_number_up_to(most: int, text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most


def _find_minima(locator: Locator) -> Iterator[Finding]:
    """Minimum spans (`minspan`) with numbers of tokens that their mentions do not have."""
    corpus = locator.corpus
    if "unusable-minimum" in locator.skipped or "minspan" not in corpus.features:
        return
    start, end = _positions(corpus)
    gaps = np.bincount(corpus.gaps[:, 0], corpus.gaps[:, 2] - corpus.gaps[:, 1], corpus.n_mentions)
    sizes = integers(end - start - gaps)
    for row, (text, size) in enumerate(plain_rows(corpus.features["minspan"], sizes)):
        numbers = str(text).replace(";", ",").split(",") if text else ()
        if not all(_is_number_up_to(size, number.strip()) for number in numbers):
            message = f"the minimum span is {excerpt(str(text), 20)} of {plural(size, 'token')}"
            yield locator.about_mention("unusable-minimum", row, message)


def _find_dependencies(locator: Locator, tokens: Tokens) -> Iterator[Finding]:
    """Empty nodes without dependencies, or with some that lead nowhere."""
    nodes = np.flatnonzero(tokens.coded("empty").where(bool))
    if not nodes.size:
        return
    documents = documents_of_tokens(tokens.offsets, nodes)
    sentences = tokens.sentence_of(nodes).tolist()
    positions = (nodes - tokens.offsets[documents]).tolist()
    cells = tokens.coded("deps", nodes).values()
    starts = np.append(tokens.starts, tokens.offsets[-1])

    @cache
    def ids(sentence: int) -> frozenset[int]:
        inside = np.arange(starts[sentence], starts[sentence + 1])
        return frozenset(map(encode_id, tokens.coded("number", inside).names)) | {_ROOT}

    nodes_in_order = plain_rows(documents, positions, sentences, cells)
    for document, position, sentence, cell in nodes_in_order:
        if cell is None or cell in _NO_DEPENDENCIES:
            kind, message = "node-without-dependencies", "no dependencies"
            yield locator.about_document(kind, document, message, position)
            continue
        for entry in cell.split("|"):
            parent, colon, relation = entry.partition(":")
            number = encode_id(parent)
            if not colon or not relation or number < 0:
                message = f"{excerpt(entry, 30)} is not of the form parent:relation"
            elif sentence >= 0 and number not in ids(sentence):
                message = f"{excerpt(entry, 30)}: the sentence has no {excerpt(parent, 20)}"
            else:
                continue
            yield locator.about_document("unknown-parent", document, message, position)


def relation_findings(locator: Locator) -> Iterator[Finding]:
    """All findings about relations."""
    if len(locator.corpus.relations):
        yield from _find_odd_sets(locator)
        yield from _find_odd_bridging(locator)


def _find_odd_sets(locator: Locator) -> Iterator[Finding]:
    """Findings about sets of one element, circular sets, and elements without mentions."""
    corpus = locator.corpus
    elements = find_elements(corpus)
    if not elements:
        return
    entities, rows = np.unique(corpus.mention_entity, return_index=True)
    first = dict(plain_rows(entities, rows))
    circle = _number_circles(elements, corpus.n_entities)
    for entity, parts in elements.items():
        members = sorted(parts - {entity})
        if entity not in first:
            continue
        if entity in parts:
            message = f"entity {_name(locator, entity)} is an element of itself"
            yield locator.about_mention("self-reference", first[entity], message)
        if len(members) == 1:
            message = f"entity {_name(locator, entity)} is a set of "
            message += f"{_name(locator, members[0])} alone"
            yield locator.about_mention("set-of-one", first[entity], message)
        around = [member for member in members if circle[member] == circle[entity]]
        if around:
            message = f"entity {_name(locator, entity)} has an element, {_name(locator, around[0])}"
            message += ", that leads back to it"
            yield locator.about_mention("circular-set", first[entity], message)
        gone = [_name(locator, member) for member in members if member not in first]
        if gone:
            message = f"no mention of {', '.join(gone[:_LISTED])}"
            message += f" and {len(gone) - _LISTED:,} more" if len(gone) > _LISTED else ""
            yield locator.about_mention("unmentioned-entity", first[entity], message)


def _name(locator: Locator, entity: int) -> str:
    names = locator.corpus.names
    return excerpt(str(entity) if names is None else names[entity], 30)


def _number_circles(elements: dict[int, set[int]], number: int) -> IntArray:
    """A number for each entity, the same for those that lead to each other."""
    pairs = [(entity, part) for entity in elements for part in elements[entity] & elements.keys()]
    if not pairs:  # no set has a set as an element
        return np.arange(number)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    columns = np.array(pairs).reshape(-1, 2).T
    table = coo_array((np.ones(len(pairs)), columns), shape=(number, number))
    labels: IntArray = connected_components(table, connection="strong")[1]
    return labels


def _find_odd_bridging(locator: Locator) -> Iterator[Finding]:
    """Findings about bridging to the entity of the anaphor, and about repeated pairs."""
    corpus = locator.corpus
    pairs = bridging_pairs(corpus)
    seen = set()
    columns = (pairs.anaphor, pairs.antecedent, pairs.entity)
    rows = plain_rows(*columns, pairs.label.values())
    for anaphor, antecedent, entity, label in rows:
        if (pair := (anaphor, antecedent, entity, label)) in seen:
            message = f"bridging to entity {_name(locator, entity)} again"
            yield locator.about_mention("repeated-relation", anaphor, message)
        elif corpus.mention_entity[anaphor] == entity:
            message = f"bridges to its own entity, {_name(locator, entity)}"
            yield locator.about_mention("self-reference", anaphor, message)
        seen.add(pair)
