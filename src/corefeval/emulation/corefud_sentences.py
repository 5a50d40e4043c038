"""CoNLL-U as corefud-scorer 1.2 reads it: blocks of lines, numbered sentences, nodes in order.

What it refuses is refused here, with file and line. One crash is not copied: a file that begins or
ends in exactly one line end is read, and a notice says that the program does not get that far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from corefeval.diagnostics import InputError, Notice, Notices, excerpt
from corefeval.formats.source import Source

NodePlace = tuple[int, float]  # the number of a sentence in the file, and the id of a node in it
_Row = tuple[float, int, list[str]]  # the id of a node, its line, and its cells
# The name of a document: its id, or its number if it has none; None before the first document.
Name = str | int | None

_NEW_DOCUMENT = re.compile(r"# newdoc(?: +id *= *(.+)| *)$")
_SENTENCE_ID = re.compile(r"# sent_id *=? *(\S+)")
_HEADER = re.compile(r"# global\.Entity = (\S+)")
_ZONE = re.compile(r"[a-z-]*(_[A-Za-z0-9-]+)?")
_LONGEST = 9  # digits
_DECIMAL = re.compile(r"\d{1,9}\.\d{1,9}")
_ID, _FORM, _HEAD, _DEPS, _MISC = 0, 1, 6, 8, 9


@dataclass(eq=False, slots=True)
class Nodes:
    """The nodes of a file by number: a list for each column, sentence by sentence, ordered by id.

    The id of a word is an integer, that of an empty node a floating-point number. `place` is the
    number of a node's sentence and its id, by which mentions are compared; words are not.
    `sentence` is the place of its sentence in the file.
    """

    id: list[float] = field(default_factory=list)
    form: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    deps: list[str] = field(default_factory=list)
    misc: list[str] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    place: list[NodePlace] = field(default_factory=list)
    sentence: list[int] = field(default_factory=list)

    def is_empty(self, node: int) -> bool:
        """Whether it is an empty node."""
        return isinstance(self.id[node], float)


@dataclass(eq=False, slots=True)
class Sentence:
    """A sentence: its number in the file, its document, and the numbers of its nodes and words."""

    line: int
    number: int = 0
    identifier: str = ""
    is_new_document: bool = False
    document_id: str = ""
    document: Name = None
    header: str = ""
    nodes: range = range(0)
    words: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class SentenceFile:
    """The sentences and nodes of a file, the last header of all, and what was noticed."""

    file: str
    sentences: list[Sentence]
    nodes: Nodes
    header: str
    notices: Notices = ()

    def refuse(self, problem: str, line: int, **details: str) -> InputError:
        """An error at a line of this file."""
        return InputError(problem, file=self.file, line=line, **details)

    def sentence_of(self, node: int) -> Sentence:
        """The sentence that a node is in."""
        return self.sentences[self.nodes.sentence[node]]


def read_sentences(source: Source) -> SentenceFile:
    """The sentences of a CoNLL-U file.

    Raises an InputError with file and line for what corefud-scorer 1.2 does not read.
    """
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    sentences: list[Sentence] = []
    nodes = Nodes()
    header = ""
    for line, block in _blocks(text):
        sentence, rows = _read_block(source, line, block)
        if sentence is None:  # without a word, even its comments are forgotten
            continue
        header = sentence.header or header
        _add_nodes(nodes, sentence, rows, len(sentences))
        sentences.append(sentence)
    if not sentences:
        raise source.error(
            "there is no sentence in the file", expected="CoNLL-U: ten columns, separated by tabs"
        )
    _check_heads(source, nodes, sentences)
    _number_sentences(source, sentences)
    _name_documents(sentences)
    numbers = [sentence.number for sentence in sentences]
    nodes.place = [(numbers[n], id) for n, id in zip(nodes.sentence, nodes.id, strict=True)]
    return SentenceFile(source.file, sentences, nodes, header, _crash_notice(source.file, text))


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines between empty ones, with the number of the first; empty ones may come with them."""
    number = 1
    for block in text.split("\n\n"):
        lines = block.split("\n")
        yield number, lines
        number += len(lines) + 1


def _crash_notice(file: str, text: str) -> Notices:
    single_end = text.endswith("\n") and not text.endswith("\n\n")
    single_start = text.startswith("\n") and not text.startswith("\n\n")
    if not single_end and not single_start:
        return ()
    where = "ends without an empty line" if single_end else "begins with one empty line"
    text = f"{file} {where}, at which corefud-scorer 1.2 itself crashes: its other rules are kept"
    return (Notice("crash", text),)


def _read_block(
    source: Source, line: int, block: Sequence[str]
) -> tuple[Sentence | None, list[_Row]]:
    """The sentence of a block, and its nodes in the order of their ids; None without a word."""
    sentence = Sentence(line + (not block[0]))
    rows: list[_Row] = []
    for number, text in enumerate(block, start=line):
        if not text or text[0] == "#":
            _read_comment(sentence, text)
            continue
        cells = text.split("\t")
        id = cells[_ID]
        if "-" in id:
            continue  # a token of several words, which is no word itself
        if len(cells) <= _MISC:
            cells += ["_"] * (_MISC + 1 - len(cells))
        rows.append(
            (int(id) if _is_integer(id) else _parse_decimal(source, number, id), number, cells)
        )
    words = [row for row in rows if row[0].__class__ is int]
    if not words:
        return None, []
    if len(rows) == 1 and words[0][2][_MISC] == "Empty=Yes":
        return sentence, []
    for expected, (id, number, _) in enumerate(words, start=1):
        if id != expected:
            problem = "the words of a sentence are not numbered from 1"
            raise source.error(problem, number, found=str(id), expected=str(expected))
    if len(words) < len(rows):
        rows.sort(key=itemgetter(0))
    return sentence, rows


def _add_nodes(nodes: Nodes, sentence: Sentence, rows: Sequence[_Row], place: int) -> None:
    """Add the nodes of a sentence, the one at this place in the file."""
    first = len(nodes.id)
    if rows:
        ids, lines, cells = zip(*rows, strict=True)
        columns = [*zip(*cells, strict=False)]
        nodes.id += ids
        nodes.line += lines
        nodes.form += columns[_FORM]
        nodes.head += columns[_HEAD]
        nodes.deps += columns[_DEPS]
        nodes.misc += columns[_MISC]
        nodes.sentence += [place] * len(rows)
    sentence.nodes = range(first, len(nodes.id))
    sentence.words = [n for n, row in enumerate(rows, start=first) if row[0].__class__ is int]


def _read_comment(sentence: Sentence, text: str) -> None:
    if match := _NEW_DOCUMENT.match(text):
        sentence.is_new_document, sentence.document_id = True, match[1] or ""
    elif match := _SENTENCE_ID.match(text):
        sentence.identifier = match[1]
    elif match := _HEADER.match(text):
        sentence.header = match[1]


def _parse_decimal(source: Source, line: int, text: str) -> float:
    """The id of an empty node; as in the program, 5.10 is a number, and the same as 5.1."""
    if _DECIMAL.fullmatch(text):
        return float(text)
    raise source.error(
        "the first column is not a CoNLL-U id",
        line,
        found=excerpt(text),
        expected="1 for a word, 1-2 for a token of several words, 1.1 for an empty node",
        fix="corefud-scorer reads only CorefUD: corefeval convert FILE NEW --to corefud, or "
        "score with --match head --singletons drop instead",
    )


def _is_integer(text: str) -> bool:
    return text.isdecimal() and len(text) <= _LONGEST


def _check_heads(source: Source, nodes: Nodes, sentences: Sequence[Sentence]) -> None:
    """Raise if the head of a word is not in its sentence, or if heads form a circle."""
    words = [node for sentence in sentences for node in sentence.words]
    sizes = np.array([len(sentence.words) for sentence in sentences], dtype=np.intp)
    firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    texts = [nodes.head[node] for node in words]
    heads = [
        int(text[:_LONGEST]) if text.isdecimal() else 0 if text == "_" else -1 for text in texts
    ]
    head, size = np.array(heads, dtype=np.intp), np.repeat(sizes, sizes)
    outside = (head < 0) | (head > size)
    if outside.any():
        word = int(np.argmax(outside))
        raise source.error(
            "the head of the word is not a word of its sentence",
            nodes.line[words[word]],
            found=excerpt(texts[word]),
            expected=f"a number from 0 to {size[word]}, in the seventh column",
        )
    root = len(words)  # every other word has it as an ancestor, unless it is in a circle or below
    ancestor = np.append(np.where(head == 0, root, firsts + head - 1), root)
    for _ in range(int(sizes.max(initial=1)).bit_length()):
        ancestor = ancestor[ancestor]
    circular = ancestor != root
    if circular.any():
        line = nodes.line[words[int(np.argmax(circular))]]
        raise source.error("the heads of the sentence form a circle", line)


def _number_sentences(source: Source, sentences: Sequence[Sentence]) -> None:
    """Number the sentences; those with the same part of `sent_id` before a slash share a number."""
    number, last, zones = 0, "", set()
    for sentence in sentences:
        name, _, zone = sentence.identifier.partition("/")
        if not _ZONE.fullmatch(zone):
            raise source.error(
                "corefud-scorer takes what follows a slash in sent_id as a language",
                sentence.line,
                found=excerpt(sentence.identifier),
                expected="a language code after the slash, or no slash",
                fix="replace the slash in both files",
            )
        if not name or name != last:
            number, last, zones = number + 1, name, {zone}
        elif zone in zones:
            raise source.error(
                "two neighbouring sentences have the same sent_id",
                sentence.line,
                found=excerpt(sentence.identifier),
            )
        else:
            zones.add(zone)
        sentence.number = number


def _name_documents(sentences: Sequence[Sentence]) -> None:
    document: Name = None
    count = 0
    for sentence in sentences:
        if sentence.is_new_document:
            count += 1
            document = sentence.document_id or count
        sentence.document = document
