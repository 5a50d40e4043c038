"""CoNLL-U as corefud-scorer 1.2 reads it: blocks of lines, numbered sentences, nodes in order.

What it refuses is refused here, with file and line. One crash is not copied: a file that begins or
ends in exactly one line end is read, and a notice says that the program does not get that far.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

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
    _number_sentences(source, sentences)
    _name_documents(sentences)
    numbers = [sentence.number for sentence in sentences]
    nodes.place = [(numbers[n], id) for n, id in zip(nodes.sentence, nodes.id, strict=True)]
    return SentenceFile(source.file, sentences, nodes, header, _crash_notice(source.file, text))


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines between empty ones, with the number of the first."""
    block: list[str] = []
    for number, line in enumerate((*text.split("\n"), ""), start=1):
        if line:
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


def _crash_notice(file: str, text: str) -> Notices:
    single_end = text.endswith("\n") and not text.endswith("\n\n")
    single_start = text.startswith("\n") and not text.startswith("\n\n")
    if not single_end and not single_start:
        return ()
    where = "ends without an empty line" if single_end else "begins with one empty line"
    return (Notice("crash", f"{file} {where}, at which corefud-scorer 1.2 itself crashes"),)


def _read_block(
    source: Source, line: int, block: Sequence[str]
) -> tuple[Sentence | None, list[_Row]]:
    """The sentence of a block, and its nodes in the order of their ids; None without a word."""
    sentence = Sentence(line)
    rows: list[_Row] = []
    for number, text in enumerate(block, start=line):
        if text[0] == "#":
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
    _check_words(source, words)
    if len(words) < len(rows):
        rows.sort(key=itemgetter(0))
    return sentence, rows


def _add_nodes(nodes: Nodes, sentence: Sentence, rows: Sequence[_Row], place: int) -> None:
    """Add the nodes of a sentence, the one at this place in the file."""
    first = len(nodes.id)
    nodes.id += [id for id, _, _ in rows]
    nodes.line += [line for _, line, _ in rows]
    nodes.form += [cells[_FORM] for _, _, cells in rows]
    nodes.deps += [cells[_DEPS] for _, _, cells in rows]
    nodes.misc += [cells[_MISC] for _, _, cells in rows]
    nodes.sentence += [place] * len(rows)
    sentence.nodes = range(first, len(nodes.id))
    sentence.words = [node for node in sentence.nodes if not nodes.is_empty(node)]


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
        "score by --match head --singletons drop without it",
    )


def _is_integer(text: str) -> bool:
    return text.isdecimal() and len(text) <= _LONGEST


def _check_words(source: Source, words: Sequence[_Row]) -> None:
    """Raise if words are not numbered from 1, or if their heads form a circle."""
    texts = ["0" if cells[_HEAD] == "_" else cells[_HEAD] for _, _, cells in words]
    ids = [id for id, _, _ in words]
    if ids != [*range(1, len(words) + 1)] or not all(map(_is_integer, texts)):
        raise _word_error(source, words)
    heads = [0, *map(int, texts)]
    if max(heads) > len(words):
        raise _word_error(source, words)
    reached = [True, *([False] * len(words))]
    for start, (_, line, _) in enumerate(words, start=1):
        path, place = [], start
        while not reached[place]:
            reached[place] = True
            path.append(place)
            place = heads[place]
        if path and heads[path[-1]] in path:
            raise source.error("the heads of the sentence form a circle", line)


def _word_error(source: Source, words: Sequence[_Row]) -> InputError:
    """What is wrong with the id or the head of the first word that has a wrong one."""
    for expected, (id, line, cells) in enumerate(words, start=1):
        if id != expected:
            problem = "the words of a sentence are not numbered from 1"
            return source.error(problem, line, found=str(id), expected=str(expected))
        text = "0" if cells[_HEAD] == "_" else cells[_HEAD]
        if not _is_integer(text) or int(text) > len(words):
            break
    return source.error(
        "the head of the word is not a word of its sentence",
        line,
        found=excerpt(cells[_HEAD]),
        expected=f"a number from 0 to {len(words)}, in the seventh column",
    )


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
