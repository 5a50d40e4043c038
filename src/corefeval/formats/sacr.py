"""SACR's text: mentions in braces, `{Ada:type="PER",head=1 Ada} met {Bob:type="PER" him}`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, groupby

from corefeval.diagnostics import excerpt
from corefeval.formats.annotations import AnnotatedDocument, build_corpus
from corefeval.formats.source import Source
from corefeval.formats.standoff import lines_of
from corefeval.model import Corpus

_ATTRIBUTE = re.compile(r'([^\s=,"{}]++)=(?:"((?:\\.|[^"\\])*+)"|([^\s,"{}]*+))')
_PIECE = re.compile(
    r'\{(?P<entity>[^\s:{}]++):(?P<attributes>(?:[^\s=,"{}]++=(?:"(?:\\.|[^"\\])*+"|[^\s,"{}]*+),?)*+)'
    r"(?:\s|(?=[{}]))"
    r"|(?P<brace>[{}])|(?P<line_end>\\n)|(?P<text>[^{}\\]+|\\)"
)
_NO_TEXT = re.compile(r"#|\*+\s*$")
_NAME = re.compile(r"^#\s*textid\s*:\s*(\S.*)", re.MULTILINE)


# The part of the text that a mention is, its entity, its features and its line.
_Mention = tuple[tuple[int, int], str, dict[str, str], int]


def read_sacr(source: Source, *, name: str = "") -> Corpus:
    """Read a text with mentions in braces; positions are characters of the text without them.

    Attributes are features of mentions. Lines that begin with `#` and lines of stars are no text.
    A brace that does not open or close a mention in its paragraph is an InputError.
    """
    content = source.text
    texts, mentions, offset = [], [], 0
    for paragraph in _paragraphs(content):
        text, closed = _read_paragraph(source, paragraph, offset)
        texts.append(text)
        mentions += closed
        offset += len(text) + 1
    identifier = _NAME.search(content)
    annotation = AnnotatedDocument(
        source, identifier and identifier[1].strip(), text="\n".join(texts)
    )
    for place, entity, features, line in mentions:
        annotation.add([place], entity, features, line)
    return build_corpus([annotation], source, name)


def _paragraphs(text: str) -> Iterator[list[tuple[int, str]]]:
    """The lines of each paragraph with their numbers; blank lines are between paragraphs."""
    lines = enumerate(lines_of(text), start=1)
    kept = ((number, line) for number, line in lines if not _NO_TEXT.match(line))
    for has_text, paragraph in groupby(kept, key=lambda line: bool(line[1].strip())):
        if has_text:
            yield list(paragraph)


def _read_paragraph(
    source: Source, lines: list[tuple[int, str]], offset: int
) -> tuple[str, list[_Mention]]:
    """The text of a paragraph, which begins at `offset`, and its mentions as they close."""
    content = " ".join(line for _, line in lines)
    starts = list(accumulate((len(line) + 1 for _, line in lines), initial=0))
    parts: list[str] = []
    mentions: list[_Mention] = []
    open_mentions: list[_Mention] = []
    for piece in _PIECE.finditer(content):
        line = lines[bisect_right(starts, piece.start()) - 1][0]
        if piece["entity"]:
            attributes = _ATTRIBUTE.findall(piece["attributes"])
            features = {key: quoted.replace('\\"', '"') or word for key, quoted, word in attributes}
            open_mentions.append(((offset, offset), piece["entity"], features, line))
        elif piece["brace"] == "}" and open_mentions:
            (start, _), entity, features, line = open_mentions.pop()
            mentions.append(((start, offset), entity, features, line))
        elif piece["brace"]:
            raise source.error(
                "a brace neither opens nor closes a mention",
                line,
                found=excerpt(content[piece.start() :]),
                expected='{Entity:key="value" text}',
                fix="remove the brace, or write the mention in full",
            )
        else:
            parts.append("\n" if piece["line_end"] else piece["text"])
            offset += len(parts[-1])
    for _, entity, _, line in open_mentions:
        raise source.error(
            f"the mention of {excerpt(entity)} does not close in its paragraph",
            line,
            expected="a closing brace before the next blank line",
            fix="add the brace, or remove the one that opens the mention",
        )
    return "".join(parts), mentions
