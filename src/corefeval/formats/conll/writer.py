"""Writing CoNLL: the columns that a corpus has, and its mentions as brackets in the last one."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

from corefeval.diagnostics import Notice
from corefeval.formats.conll.tokens import COLUMNS, ConllTokens
from corefeval.formats.losses import check_writable, unwritten, with_tokens
from corefeval.formats.nesting import nested_mentions
from corefeval.formats.registry import Written
from corefeval.model import Corpus, Document, Mention

_BLANKS = re.compile(r"[\x00-\x20]+")
_SAFE_NAME = re.compile(r"[^\s()|]+")


def write_conll(corpus: Corpus) -> Written:
    """Write all documents; says what could not be written as it is.

    Brackets of one entity close in the order last opened, first closed, so of two mentions of one
    entity that cross each other only the first can be written; a mention with gaps is written
    with them filled. Names are one line without blanks at their ends, parts are numbers.
    """
    check_writable(corpus, "CoNLL")
    corpus, made_up = with_tokens(corpus)
    parts = []
    crossing = renamed = 0
    for document in corpus:
        text, left_out = _document_text(document)
        crossing += left_out
        renamed += _header(document) != tuple(document.id) or not document.id.name
        parts.append(text.encode(errors="backslashreplace"))
    gapped = len(set(corpus.gaps[:, 0].tolist()))
    told = {
        "crossing-mentions": (
            crossing,
            "mention",
            "left out: crossing another one of the same entity, which brackets cannot express",
        ),
        "discontinuous-mentions": (gapped, "mention", "with gaps written as one span"),
        "blank-words": (_blank_words(corpus), "word", "with blanks, written as ‘_’"),
        "document-names": (renamed, "document", "whose name CoNLL cannot carry as it is"),
    }
    notices = tuple(
        Notice(kind, f"{{n}} {what}", count, noun=noun)
        for kind, (count, noun, what) in told.items()
        if count
    )
    lost = unwritten(corpus, columns=COLUMNS, relations=len(corpus.relations))
    return Written({"": b"".join(parts)}, (*made_up, *notices, *lost))


def _blank_words(corpus: Corpus) -> int:
    tokens = corpus.tokens
    if tokens is None or isinstance(tokens, ConllTokens) or "word" not in tokens.columns:
        return 0
    return sum(_plain(word) != word for document in corpus for word in document.words)


def _header(document: Document) -> tuple[str, int | None]:
    """Name and part as the file can carry them."""
    name, part = document.id
    plain = re.sub(r"[\r\n]+", " ", str(name)).strip()
    return plain, part if isinstance(part, int) and part >= 0 else None


def _document_text(document: Document) -> tuple[str, int]:
    mentions, left_out = nested_mentions(document.mentions)
    cells = _cells(document, mentions)
    rows, sentence_starts = _rows(document, mentions)
    name, number = _header(document)
    part = "" if number is None else f" part {number:03d}"
    lines = [f"#begin document ({name});{part}"]
    for position, row in enumerate(rows):
        if position and position in sentence_starts:
            lines.append("")
        line = "\t".join((*row, cells.get(position, "-")))
        # A blank before a token tells it from a comment.
        lines.append(f" {line}" if line.startswith("#") else line)
    return "\n".join((*lines, "", "#end document", "")), left_out


def _rows(document: Document, mentions: list[Mention]) -> tuple[list[list[str]], set[int]]:
    """The columns before coreference, and where sentences begin."""
    tokens = document.corpus.tokens
    if tokens is None:
        n_tokens = max((mention.end for mention in mentions), default=0)
        return _made_up_rows(document, {}, n_tokens, [0]), set()
    sentence_starts = tokens.sentence_starts(document.index)
    if isinstance(tokens, ConllTokens):
        return tokens.rows_before_coreference(document.index), set(sentence_starts)
    columns = {name: tokens.column(document.index, name) for name in tokens.columns}
    n_tokens = int(tokens.counts[document.index])
    return _made_up_rows(document, columns, n_tokens, sentence_starts), set(sentence_starts)


def _made_up_rows(
    document: Document, columns: dict[str, list[str]], n_tokens: int, sentence_starts: list[int]
) -> list[list[str]]:
    """Document, part and number, and as many further columns as are known."""
    identifier = re.sub(r"\s|^#", "_", str(document.id.name)) or "-"
    part = str(document.id.part or 0)
    last = max((COLUMNS[name] for name in columns if name in COLUMNS), default=3)
    nothing = ["-"] * n_tokens
    blocks = [columns.get(name, nothing) for name, number in COLUMNS.items() if 3 < number <= last]
    return [
        [identifier, part, number, *(_plain(block[position]) for block in blocks)]
        for position, number in enumerate(_numbers(n_tokens, sentence_starts))
    ]


def _plain(text: str) -> str:
    """A cell without blanks, which would make several of it."""
    return _BLANKS.sub("_", text) or "_"


def _numbers(n_tokens: int, sentence_starts: list[int]) -> list[str]:
    bounds = [*sentence_starts, n_tokens]
    return [str(number) for start, end in pairwise(bounds) for number in range(end - start)]


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
        position: "|".join((*reversed(closing[position]), *opening[position]))
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
