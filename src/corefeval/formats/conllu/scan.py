"""The lines of a CoNLL-U file and its documents, found by array operations over its bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

import numpy as np

from corefeval.diagnostics import InputError, excerpt
from corefeval.display import PlainState
from corefeval.formats.conll.lines import BLANK_BYTE, HASH_BYTE, NEWLINE, RETURN, newlines
from corefeval.formats.source import Source
from corefeval.model import DocumentId
from corefeval.model.arrays import (
    ArrayPair,
    BoolArray,
    ByteArray,
    IntArray,
    all_false,
    all_true,
    all_zero,
    integers,
    plain_rows,
    unset,
)

TAB, BAR = 9, ord("|")
N_COLUMNS = 10

_COREFERENCE = re.compile(r"(Entity|Bridge|Split|SplitAnte)=")
_RANGE = re.compile(rb"\d+-\d+")
_EMPTY_NODE = re.compile(rb"\d+\.\d+")


@dataclass(frozen=True)
class Scan(PlainState):
    """The token lines of a file (those of empty nodes among them), and the lines around them.

    `last_column` is where each token's MISC begins, `new_sentence` whether a sentence begins with
    it; `ranges` are the lines of multi-word tokens and `comments` all comment lines, by number.
    `misnumbered` are the tokens whose number does not follow that of the word before them.
    """

    data: ByteArray
    line_start: IntArray
    line_end: IntArray
    token_line: IntArray
    last_column: IntArray
    new_sentence: BoolArray
    empty: BoolArray
    ranges: IntArray
    comments: IntArray
    misnumbered: IntArray

    def text(self, line: int) -> bytes:
        """The bytes of a line."""
        return self.data[self.line_start[line] : self.line_end[line]].tobytes()

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.data.tobytes()

    @cached_property
    def stops(self) -> IntArray:
        """Where attributes end: bars and newlines."""
        return np.flatnonzero((self.data == BAR) | (self.data == NEWLINE))


def scan_lines(source: Source) -> Scan:
    """The lines of a file; raises InputError where one is not CoNLL-U."""
    data = source.data
    if data.size and data[-1] != NEWLINE:
        data = np.append(data, np.uint8(NEWLINE))
    line_start, line_end = line_bounds(data)
    first_byte = data[line_start] if line_start.size else line_start
    blank = line_end <= line_start
    is_content = ~blank & (first_byte != HASH_BYTE)
    content = np.flatnonzero(is_content)
    start, end = line_start[content], line_end[content]
    tabs = np.flatnonzero(data == TAB)
    first = np.searchsorted(tabs, start)
    wrong = np.searchsorted(tabs, end) - first != N_COLUMNS - 1
    if wrong.any():
        line = int(content[np.argmax(wrong)])
        line_text = data[line_start[line] : line_end[line]].tobytes()
        problem, expected = "a line with another number of columns", "ten, separated by tabs"
        raise not_conllu(source, line, line_text, problem, expected)
    first_tab = tabs[first] if content.size else first
    last_column = tabs[first + N_COLUMNS - 2] + 1 if content.size else first
    is_range, is_empty, number = _numbers(source, data, content, start, first_tab)
    new_sentence = all_true(content.size)
    new_sentence[content > 0] = ~is_content[content[content > 0] - 1]
    is_token = ~is_range
    # Behind the line of a multi-word token, its first word begins the sentence.
    sentence = np.cumsum(new_sentence)[is_token]
    new_sentence = np.diff(sentence, prepend=0) > 0
    empty = is_empty[is_token]
    return Scan(
        data=data,
        line_start=line_start,
        line_end=line_end,
        token_line=content[is_token],
        last_column=last_column[is_token],
        new_sentence=new_sentence,
        empty=empty,
        ranges=content[is_range],
        comments=np.flatnonzero(~blank & (first_byte == HASH_BYTE)),
        misnumbered=_find_misnumbered(number[is_token], empty, new_sentence),
    )


def line_bounds(data: ByteArray) -> ArrayPair:
    """Where lines start and end, without a return before the newline; lines of blanks are empty."""
    pieces = list(newlines(data))
    end = np.concatenate(pieces) if pieces else unset(0)
    start = np.concatenate((all_zero(min(end.size, 1)), end[:-1] + 1))
    end -= (end > start) & (data[end - 1] == RETURN)
    # A line of nothing but blanks would be looked at as a token otherwise.
    blank = np.flatnonzero((end > start) & (data[start] <= BLANK_BYTE))
    for line in blank.tolist():
        if data[start[line] : end[line]].tobytes().isspace():
            end[line] = start[line]
    return start, end


def _find_misnumbered(number: IntArray, empty: BoolArray, new_sentence: BoolArray) -> IntArray:
    """Words whose number is not the next one in their sentence, and misplaced empty nodes.

    The number of an empty node is that of the word that it should stand behind.
    """
    if not empty.any():
        expected = np.concatenate((all_zero(min(number.size, 1)), number[:-1])) + 1
        expected[new_sentence] = 1
        return np.flatnonzero(number != expected)
    sentence = np.cumsum(new_sentence)
    words = np.flatnonzero(~empty)
    before = all_zero(number.size)
    goes_on = np.flatnonzero(np.diff(sentence[words]) == 0)
    before[words[goes_on + 1]] = number[words[goes_on]]
    nodes = np.flatnonzero(empty)
    place = np.searchsorted(words, nodes) - 1
    with_word = np.flatnonzero(place >= 0)
    with_word = with_word[sentence[words[place[with_word]]] == sentence[nodes[with_word]]]
    before[nodes[with_word]] = number[words[place[with_word]]]
    return np.flatnonzero(number != before + ~empty)


def _numbers(
    source: Source, data: ByteArray, content: IntArray, start: IntArray, first_tab: IntArray
) -> tuple[BoolArray, BoolArray, IntArray]:
    """Which lines are of multi-word tokens (`7-8`), which of empty nodes (`7.1`); and numbers."""
    length = first_tab - start
    plain = length > 0
    value = all_zero(content.size)
    for place in range(min(int(length.max(initial=0)), 8)):
        byte = data[np.minimum(start + place, first_tab)]
        inside = place < length
        plain &= ~inside | ((byte >= ord("0")) & (byte <= ord("9")))
        value = np.where(inside, 10 * value + byte - ord("0"), value)
    plain &= length <= 8
    is_range = all_false(content.size)
    is_empty = all_false(content.size)
    for row in np.flatnonzero(~plain).tolist():
        number = data[start[row] : first_tab[row]].tobytes()
        if _RANGE.fullmatch(number):
            is_range[row] = True
        elif _EMPTY_NODE.fullmatch(number):
            is_empty[row] = True
            value[row] = int(number.partition(b".")[0][:18])
        elif not number.isdigit():
            problem, expected = "no token number", "a number such as 7, 7.1 or 7-8"
            raise not_conllu(source, int(content[row]), number, problem, expected)
    return is_range, is_empty, value


def attributes(scan: Scan, key: bytes) -> tuple[IntArray, list[bytes]]:
    """The tokens that have an attribute in MISC, and its values."""
    pieces = scan.content.split(key)
    if len(pieces) == 1 or not scan.token_line.size:
        return unset(0), []
    lengths = integers([len(piece) for piece in pieces[:-1]])
    begin = np.cumsum(lengths + len(key))
    place = begin - len(key)
    token = np.searchsorted(scan.line_start[scan.token_line], place, side="right") - 1
    line_end = scan.line_end[scan.token_line[token]]
    before = scan.data[place - 1]
    real = (token >= 0) & ((before == TAB) | (before == BAR))
    real &= (place >= scan.last_column[token]) & (begin <= line_end)
    end = np.minimum(scan.stops[np.searchsorted(scan.stops, begin)], line_end)
    rows = np.flatnonzero(real)
    bounds = plain_rows(begin[rows], end[rows])
    return token[rows], [scan.content[start:stop].rstrip() for start, stop in bounds]


def without_coreference(misc: str) -> str:
    """A cell of MISC without the attributes of entities and their relations.

    >>> without_coreference("Entity=(e1)|SpaceAfter=No|SplitAnte=e1<e2")
    'SpaceAfter=No'
    """
    return "|".join(
        part for part in misc.split("|") if part != "_" and not _COREFERENCE.match(part)
    )


def not_conllu(source: Source, line: int, text: bytes, problem: str, expected: str) -> InputError:
    """An error about a line, counted from 0."""
    return source.error(
        problem,
        source.line(line),
        found=excerpt(text.decode("utf-8", "replace")),
        expected=expected,
        fix="check that this is the right file, and its format",
    )


TELLING = (b"newdoc", b"global.", b"meta::")
NEW_DOCUMENT = ("newdoc", "newdoc id")
_TELLING_LINE = re.compile(rb"(?m)^# (?:newdoc|global\.Entity|meta::)")
_OF_DOCUMENTS = ("newdoc", "global.", "meta::")
_DEFAULT_FIELDS = ("eid", "etype", "head", "minspan", "infstat", "link", "identity")
_ID_FIELDS = ("eid", "GRP")
_NO_FEATURES = frozenset((*_ID_FIELDS, "head"))


def read_comment(comment: str) -> tuple[str, str]:
    """The key and value of a comment.

    >>> read_comment("# s_type = decl")
    ('s_type', 'decl')
    """
    key, _, value = comment.lstrip("# ").partition("=")
    return key.strip(), value.strip()


def read_sentence_comment(comment: str) -> tuple[str, str] | None:
    """The key and value of a comment about a sentence; None for comments about a document."""
    return None if comment.lstrip("# ").startswith(_OF_DOCUMENTS) else read_comment(comment)


@dataclass(frozen=True, slots=True)
class Header:
    """The order of the fields of an opening bracket, from `# global.Entity`."""

    fields: tuple[str, ...] = _DEFAULT_FIELDS

    @staticmethod
    def parse(text: str) -> Header:
        """The header that a text such as `eid-etype-head` states."""
        return Header(tuple(field.strip() for field in text.strip().split("-")))

    @property
    def id_index(self) -> int | None:
        """The index of the entity's id; None where no field is."""
        return next((self.fields.index(name) for name in _ID_FIELDS if name in self.fields), None)

    def head_field(self, text: str) -> str | None:
        """The field of the head word's number in an opening bracket; None where no field is."""
        if "head" not in self.fields:
            return None
        place = self.fields.index("head")
        return "".join(text.split("-", place + 1)[place : place + 1])

    def values(self, text: str) -> dict[str, str]:
        """The values in an opening bracket by field, without id and head.

        Hyphens beyond the last field belong to it.
        """
        parts = text.split("-", len(self.fields) - 1)
        return {
            name: unquote(value) if "%" in value else value
            for name, value in zip(self.fields, parts, strict=False)
            if value and value != "_" and name not in _NO_FEATURES
        }


@dataclass(slots=True)
class Documents:
    """One entry for each document; `header` is None where no order of fields was declared."""

    identifiers: list[DocumentId] = field(default_factory=list)
    metadata: list[dict[str, str]] = field(default_factory=list)
    headers: list[Header | None] = field(default_factory=list)
    first: IntArray = field(default_factory=lambda: unset(0))
    counts: IntArray = field(default_factory=lambda: unset(0))


def find_documents(source: Source, scan: Scan) -> Documents:
    """The documents that comments declare; tokens before the first one make one without a name."""
    documents = Documents()
    begin: list[int] = []
    seen: dict[DocumentId, int] = {}
    places = [match.start() for match in _TELLING_LINE.finditer(scan.content)]
    telling = [
        (line, *read_comment(source.decode(scan.text(line), line)))
        for line in np.searchsorted(scan.line_start, places).tolist()
    ]
    named = [line for line, key, _ in telling if key in NEW_DOCUMENT]
    if scan.token_line.size and (not named or scan.token_line[0] < named[0]):
        telling.insert(0, (0, "newdoc", ""))
    taken = {
        DocumentId.parse(value) for _, key, value in telling if value and key.startswith("newdoc")
    }
    header: Header | None = None
    metadata: dict[str, str] = {}
    for line, key, value in telling:
        if key in NEW_DOCUMENT:
            number = len(documents.identifiers) + 1
            if value:
                identifier = DocumentId.parse(value)
            else:
                identifier = source.name_document(number if number > 1 else None, taken)
            if identifier in seen:
                raise source.repetition_error(identifier, seen[identifier], line)
            seen[identifier] = line
            metadata = {}
            documents.identifiers.append(identifier)
            documents.metadata.append(metadata)
            documents.headers.append(header)
            begin.append(line)
        elif key == "global.Entity":
            header = Header.parse(value)
            documents.headers[-1:] = [header] if documents.headers else []
        else:
            metadata[key.removeprefix("meta::")] = value
    documents.first = np.searchsorted(scan.token_line, begin)
    documents.counts = np.diff(np.append(documents.first, scan.token_line.size))
    return documents
