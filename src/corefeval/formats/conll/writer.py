"""Writing CoNLL: the columns that a corpus has, and its mentions as brackets in the last one."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import IO

from corefeval.diagnostics import InputError, Notice, plural
from corefeval.model import Corpus, Document, Mention

_SAFE_NAME = re.compile(r"[^\s()|]+")


def write_conll(corpus: Corpus, stream: IO[bytes]) -> tuple[Notice, ...]:
    """Write all documents; says which mentions brackets could not express.

    Brackets of one entity close in the order last opened, first closed, so of two mentions of one
    entity that cross each other only the first can be written; a mention with gaps is written
    with them filled.
    """
    if corpus.labels is not None:
        raise InputError(
            "plain Python mentions have no token positions, so they cannot be written as CoNLL",
            fix="make the corpus with corpus_from_arrays",
        )
    crossing = 0
    for document in corpus:
        text, left_out = _document_text(document)
        crossing += left_out
        stream.write(text.encode())
    gapped = len(set(corpus.gaps[:, 0].tolist()))
    notices = []
    if crossing:
        message = (
            f"{plural(crossing, 'mention')} left out: crossing another one of the same entity, "
            "which CoNLL brackets cannot express"
        )
        notices.append(Notice("crossing-mentions", message, crossing))
    if gapped:
        message = f"{plural(gapped, 'mention')} with gaps written as one span, gaps filled"
        notices.append(Notice("discontinuous-mentions", message, gapped))
    return tuple(notices)


def _document_text(document: Document) -> tuple[str, int]:
    mentions, left_out = _without_crossings(document.mentions)
    cells = _cells(document, mentions)
    rows, sentence_starts = _rows(document, mentions)
    part = "" if document.id.part is None else f" part {document.id.part:03d}"
    lines = [f"#begin document ({document.id.name});{part}"]
    for position, row in enumerate(rows):
        if position and position in sentence_starts:
            lines.append("")
        lines.append("\t".join((*row, cells.get(position, "-"))))
    return "\n".join((*lines, "", "#end document", "")), left_out


def _rows(document: Document, mentions: list[Mention]) -> tuple[list[list[str]], set[int]]:
    """The columns before coreference: those of the file, or as many as are known."""
    tokens = document.corpus.tokens
    if tokens is None:
        n_tokens = max((mention.end for mention in mentions), default=0)
        columns, sentence_starts = {}, [0]
    else:
        n_tokens = int(tokens.counts[document.index])
        columns = {name: tokens.column(document.index, name) for name in tokens.columns}
        sentence_starts = tokens.sentence_starts(document.index)
    from corefeval.formats.conll.tokens import COLUMNS, ConllTokens

    if isinstance(tokens, ConllTokens):
        width = range(1, tokens.n_columns)
        cells = [tokens.column(document.index, number) for number in width]
        return [[cell or "-" for cell in row] for row in zip(*cells, strict=True)], set(
            sentence_starts
        )
    identifier = re.sub(r"\s", "_", document.id.name) or "-"
    part = str(document.id.part or 0)
    wanted = [name for name in COLUMNS if name in columns]
    last = max((COLUMNS[name] for name in wanted), default=3)
    empty = ["-"] * n_tokens
    blocks = [columns.get(name, empty) for name, number in COLUMNS.items() if 3 < number <= last]
    numbers = _numbers(n_tokens, sentence_starts)
    return [
        [identifier, part, number, *(block[position] for block in blocks)]
        for position, number in enumerate(numbers)
    ], set(sentence_starts)


def _numbers(n_tokens: int, sentence_starts: list[int]) -> list[str]:
    bounds = [*sentence_starts, n_tokens]
    return [str(number) for start, end in pairwise(bounds) for number in range(end - start)]


def _without_crossings(mentions: list[Mention]) -> tuple[list[Mention], int]:
    """Leave out mentions that open inside an earlier one of their entity and end behind it.

    Where the later one opens on the earlier one's last token all is well: that token's closing
    brackets are written before its opening ones.
    """
    kept = []
    open_ends: dict[int, list[int]] = defaultdict(list)
    for mention in mentions:
        ends = open_ends[mention.entity.index]
        ends[:] = [end for end in ends if end - 1 > mention.start]
        if all(mention.end <= end for end in ends):
            ends.append(mention.end)
            kept.append(mention)
    return kept, len(mentions) - len(kept)


def _cells(document: Document, mentions: list[Mention]) -> dict[int, str]:
    names = _names(document)
    closing: dict[int, list[str]] = defaultdict(list)
    opening: dict[int, list[str]] = defaultdict(list)
    for mention in mentions:
        name = names[mention.entity.index]
        if mention.end - mention.start == 1:
            opening[mention.start].append(f"({name})")
        else:
            opening[mention.start].append(f"({name}")
            closing[mention.end - 1].append(f"{name})")
    return {
        position: "|".join((*closing[position], *opening[position]))
        for position in {*closing, *opening}
    }


def _names(document: Document) -> dict[int, str]:
    """Entity names as brackets may carry them: the corpus' own, or numbers."""
    entities = document.entities
    names = {entity.index: entity.name for entity in entities}
    distinct = len(set(names.values())) == len(names)
    if distinct and all(_SAFE_NAME.fullmatch(name) for name in names.values()):
        return names
    return {entity.index: str(number) for number, entity in enumerate(entities)}
