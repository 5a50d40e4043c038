"""CoNLL-U as corefud-scorer 1.2 reads it: blocks of lines, numbered sentences, nodes in order.

What it refuses is refused here, with file and line. One crash is not copied: a file that begins or
ends in exactly one line end is read, and a notice says that the program does not get that far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.formats.source import Source

NodePlace = tuple[int, float]  # the number of a sentence in the file, and the id of a node in it
# The name of a document: its id, or its number if it has none; None before the first document.
Name = str | int | None

_NEW_DOCUMENT = re.compile(r"# newdoc(?: +id *= *(.+)| *)$")
_SENTENCE_ID = re.compile(r"# sent_id *=? *(\S+)")
_HEADER = re.compile(r"# global\.Entity = (\S+)")
_ZONE = re.compile(r"[a-z-]*(_[A-Za-z0-9-]+)?")
_INTEGER = re.compile(r"\d{1,9}")
_DECIMAL = re.compile(r"\d{1,9}\.\d{1,9}")
_ID, _FORM, _HEAD, _DEPS, _MISC = 0, 1, 6, 8, 9


@dataclass(eq=False, slots=True)
class Node:
    """A word, whose id is an integer, or an empty node, whose id is a floating-point number."""

    sentence: Sentence
    id: float
    form: str
    head: str
    deps: str
    misc: str
    line: int

    @property
    def is_empty(self) -> bool:
        """Whether it is an empty node."""
        return isinstance(self.id, float)

    @property
    def place(self) -> NodePlace:
        """Its sentence and id, by which mentions are compared; words are not."""
        return (self.sentence.number, self.id)


@dataclass(eq=False, slots=True)
class Sentence:
    """A sentence: its number in the file, its document and its nodes in the order of their ids."""

    line: int
    number: int = 0
    identifier: str = ""
    is_new_document: bool = False
    document_id: str = ""
    document: Name = None
    header: str = ""
    nodes: list[Node] = field(default_factory=list)
    words: list[Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SentenceFile:
    """The sentences of a file, the last header of all of them, and what was noticed."""

    file: str
    sentences: list[Sentence]
    header: str
    notices: tuple[Notice, ...] = ()

    def refuse(self, problem: str, line: int, **details: str) -> InputError:
        """An error at a line of this file."""
        return InputError(problem, file=self.file, line=line, **details)


def read_sentences(source: Source) -> SentenceFile:
    """The sentences of a CoNLL-U file.

    Raises an InputError with file and line for what corefud-scorer 1.2 does not read.
    """
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    sentences: list[Sentence] = []
    header = ""
    for line, block in _blocks(text):
        sentence = _read_block(source, line, block)
        if sentence is None:  # without a word, even its comments are forgotten
            continue
        header = sentence.header or header
        sentences.append(sentence)
    if not sentences:
        raise source.error(
            "there is no sentence in the file", expected="CoNLL-U: ten columns, separated by tabs"
        )
    _number_sentences(source, sentences)
    _name_documents(sentences)
    return SentenceFile(source.file, sentences, header, _crash_notice(source.file, text))


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines between empty ones, with the number of the first."""
    block: list[str] = []
    for number, line in enumerate((*text.split("\n"), ""), start=1):
        if line:
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


def _crash_notice(file: str, text: str) -> tuple[Notice, ...]:
    single_end = text.endswith("\n") and not text.endswith("\n\n")
    single_start = text.startswith("\n") and not text.startswith("\n\n")
    if not single_end and not single_start:
        return ()
    where = "ends without an empty line" if single_end else "begins with one empty line"
    return (Notice("crash", f"{file} {where}, at which corefud-scorer 1.2 itself crashes"),)


def _read_block(source: Source, line: int, block: Sequence[str]) -> Sentence | None:
    """The sentence of a block; None where it has no word."""
    sentence = Sentence(line)
    for number, text in enumerate(block, start=line):
        if text.startswith("#"):
            _read_comment(sentence, text)
            continue
        cells = text.split("\t")
        if "-" in cells[_ID]:
            continue  # a token of several words, which is no word itself
        sentence.nodes.append(_read_node(source, number, sentence, cells))
    sentence.words = [node for node in sentence.nodes if not node.is_empty]
    if not sentence.words:
        return None
    if len(sentence.nodes) == 1 and sentence.words[0].misc == "Empty=Yes":
        sentence.nodes, sentence.words = [], []
    _check_words(source, sentence.words)
    sentence.nodes.sort(key=lambda node: node.id)
    return sentence


def _read_comment(sentence: Sentence, text: str) -> None:
    if match := _NEW_DOCUMENT.match(text):
        sentence.is_new_document, sentence.document_id = True, match[1] or ""
    elif match := _SENTENCE_ID.match(text):
        sentence.identifier = match[1]
    elif match := _HEADER.match(text):
        sentence.header = match[1]


def _read_node(source: Source, line: int, sentence: Sentence, cells: list[str]) -> Node:
    cells += ["_"] * (_MISC + 1 - len(cells))
    text = cells[_ID]
    if not (_DECIMAL if "." in text else _INTEGER).fullmatch(text):
        raise source.error(
            "the first column is not a CoNLL-U id",
            line,
            found=excerpt(text),
            expected="1 for a word, 1-2 for a token of several words, 1.1 for an empty node",
            fix="corefud-scorer reads only CorefUD: corefeval convert FILE NEW --to corefud, or "
            "score by --match head --singletons drop without it",
        )
    # As in the program, 5.10 is a number, and the same as 5.1.
    number = float(text) if "." in text else int(text)
    form, head, deps, misc = (cells[index] for index in (_FORM, _HEAD, _DEPS, _MISC))
    return Node(sentence, number, form, head, deps, misc, line)


def _check_words(source: Source, words: Sequence[Node]) -> None:
    """Raise if words are not numbered from 1, or if their heads form a circle."""
    heads = [0]
    for expected, node in enumerate(words, start=1):
        if node.id != expected:
            raise source.error(
                "the words of a sentence are not numbered from 1",
                node.line,
                found=str(node.id),
                expected=str(expected),
            )
        text = "0" if node.head == "_" else node.head
        if not _INTEGER.fullmatch(text) or int(text) > len(words):
            raise source.error(
                "the head of the word is not a word of its sentence",
                node.line,
                found=excerpt(node.head),
                expected=f"a number from 0 to {len(words)}, in the seventh column",
            )
        heads.append(int(text))
    reached = [True, *([False] * len(words))]
    for start, node in enumerate(words, start=1):
        path, place = [], start
        while not reached[place]:
            reached[place] = True
            path.append(place)
            place = heads[place]
        if place in path:
            raise source.error("the heads of the sentence form a circle", node.line)


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
