"""Writing CoNLL: the columns that a corpus has, and its mentions as brackets in the last one."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from corefeval.formats.conll.layout import COLUMNS
from corefeval.formats.conll.tokens import ConllLines
from corefeval.formats.declarations import Written
from corefeval.formats.losses import (
    bracket_mentions,
    check_distinct,
    count_gapped,
    name_entities,
    nested_mentions,
)
from corefeval.model import Corpus, Document, DocumentId, Mention
from corefeval.model.identity import unbroken_word

_NUMBER = re.compile(r"[0-9]{1,9}")  # all that the official scorer reads as an entity


def write_conll(corpus: Corpus) -> Written:
    """The file with all documents, and notices of what could not be written as it is.

    Brackets of one entity close in the order last opened, first closed, so of two mentions of one
    entity that cross each other only the first can be written; a mention with gaps is written
    with them filled. Names are one line without blanks at their ends, parts are numbers: a document
    without one is part 000, but for documents of CoNLL files, which stay as they are. Entities are
    numbers, which is all that the official scorer reads.
    """
    counts = count_gapped(corpus)
    headers = _headers(corpus)
    check_distinct(map(str, headers), "CoNLL")
    pairs = zip(corpus, headers, strict=True)
    text = "".join(_document_text(document, header, counts) for document, header in pairs)
    counts["document-names"] = sum(map(_is_renamed, corpus.documents, headers))
    return Written({"": text}, counts=counts)


def _headers(corpus: Corpus) -> list[DocumentId]:
    """Names and parts as the file can carry them, and as other tools expect them."""
    plain = [_plain_id(identifier) for identifier in corpus.documents]
    taken = set(plain)
    return [
        identifier
        if identifier.part is not None
        or (first := DocumentId(identifier.name, 0)) in taken
        or _is_of_conll(corpus, index)
        else first
        for index, identifier in enumerate(plain)
    ]


def _is_of_conll(corpus: Corpus, index: int) -> bool:
    table = None if corpus.tokens is None else corpus.tokens.table(index)
    return table is not None and isinstance(table.lines, ConllLines)


def _plain_id(identifier: DocumentId) -> DocumentId:
    name, part = identifier
    plain = re.sub(r"[\x00-\x08]", "_", re.sub(r"[\r\n]+", " ", str(name))).strip()
    return DocumentId(plain, part if isinstance(part, int) and part >= 0 else None)


def _is_renamed(old: DocumentId, new: DocumentId) -> bool:
    """Whether a document's id has changed by more than a part 000 where it had no part."""
    return not old.name or old not in (new, DocumentId(new.name))


def _document_text(document: Document, header: DocumentId, counts: Counter[str]) -> str:
    mentions, left_out = nested_mentions(document.mentions)
    counts["crossing-mentions"] += left_out
    cells = _cells(document, mentions, counts)
    rows, sentence_starts = _rows(document, mentions, counts)
    part = "" if header.part is None else f" part {header.part:03d}"
    lines = [f"#begin document ({header.name});{part}"]
    for position, row in enumerate(rows):
        if position and position in sentence_starts:
            lines.append("")
        line = "\t".join((*row, cells.get(position, "-")))
        # A blank before a token tells it from a comment.
        lines.append(f" {line}" if line.startswith("#") else line)
    return "\n".join((*lines, "", "#end document", ""))


def _rows(
    document: Document, mentions: list[Mention], counts: Counter[str]
) -> tuple[list[list[str]], set[int]]:
    """The columns before coreference, and where sentences begin."""
    tokens = document.corpus.tokens
    if tokens is None:
        n_tokens = max((mention.end for mention in mentions), default=0)
        return _made_up_rows(document, {}, n_tokens, [0]), set()
    sentence_starts = tokens.sentence_starts(document.index)
    n_tokens = int(tokens.counts[document.index])
    if isinstance(tokens.lines, ConllLines):
        first = int(tokens.run_first[document.index])
        rows = range(first, first + n_tokens)
        return [tokens.lines.cells(row, coreference=False) for row in rows], set(sentence_starts)
    columns = {name: tokens.column(document.index, name) for name in tokens.columns}
    for name in columns.keys() & COLUMNS.keys() - {"document", "part", "number"}:
        kind = "blank-words" if name == "word" else "changed-values"
        values = (value for value in columns[name] if value.strip() or name == "word")
        counts[kind] += sum(unbroken_word(value) != value for value in values)
    return _made_up_rows(document, columns, n_tokens, sentence_starts), set(sentence_starts)


def _made_up_rows(
    document: Document, columns: dict[str, list[str]], n_tokens: int, sentence_starts: list[int]
) -> list[list[str]]:
    """A row for each token: document, part and number, and the further columns that there are."""
    identifier = re.sub(r"[\x00-\x08\s]|^#", "_", str(document.id.name)) or "-"
    part = str(document.id.part or 0)
    last = max((COLUMNS[name] for name in columns if name in COLUMNS), default=3)
    bounds = pairwise((*sentence_starts, n_tokens))
    numbers = [str(number) for start, end in bounds for number in range(end - start)]
    nothing = ["-"] * n_tokens
    blocks = [columns.get(name, nothing) for name, number in COLUMNS.items() if 3 < number <= last]
    return [
        [identifier, part, number, *(unbroken_word(block[position]) for block in blocks)]
        for position, number in enumerate(numbers)
    ]


def _cells(document: Document, mentions: list[Mention], counts: Counter[str]) -> dict[int, str]:
    names = name_entities(document, _NUMBER, counts)
    closing, opening = bracket_mentions(mentions, names, "()")
    places = {*closing, *opening}
    counts["overlapping-mentions"] += sum(
        not {name[:-1] for name in closing[place]}.isdisjoint(name[1:] for name in opening[place])
        for place in places
    )
    return {place: "|".join((*reversed(closing[place]), *opening[place])) for place in places}
