"""WebAnno TSV 3, of WebAnno, INCEpTION and GUM: a token per line, layers in columns."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from typing import NamedTuple

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.annotations import (
    JOINING_LAYER,
    AnnotatedDocument,
    build_corpus,
    choose_layer,
)
from corefeval.formats.declarations import Tally, Written
from corefeval.formats.losses import (
    carry_words,
    count_gapped,
    encode_text,
    note_losses,
    sentence_bounds,
    words_of,
)
from corefeval.formats.source import Source
from corefeval.formats.standoff import document_id, file_stems, lines_of
from corefeval.model import Corpus, Document
from corefeval.model.identity import writable_text

_VERSION = "#FORMAT=WebAnno TSV 3"
_HEADER = re.compile(r"#T_(SP|CH|RL)=([^|]*)\|?(.*)")
_PART = re.compile(r"\d+-\d+\.\d+")
_FIRST_COLUMN = 3  # before it are sentence and token, begin and end, and the word
_PARTS = re.compile(r"(?:\\.|[^\\|])+", re.DOTALL)
_PLAIN = re.compile(r"([^\[]*)(?:\[(\d+)\])?")
_VALUE = re.compile(r"((?:\\.|[^\\])*?)(?:\[(\d+)\])?", re.DOTALL)
_LINK = re.compile(r"(.*)->(\d+)-(\d+)", re.DOTALL)
_SOURCE = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)_(\d+)\])?")
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}
_ODDITIES = (
    Tally("unrelated-spans", "annotation", "left out: no relation in the document joins any"),
)


class _Layer(NamedTuple):
    """A layer of the header: a span, chain or relation layer, and its first and last column."""

    kind: str
    name: str
    features: list[str]
    first: int
    last: int

    @property
    def base(self) -> str:
        """The name of the layer whose spans a relation layer joins."""
        return self.features[-1].removeprefix("BT_") if self.features else ""


class _Row(NamedTuple):
    """A token, or a part of one: its id, line, position in the document, and cells."""

    identifier: str
    line: int
    position: int
    is_part: bool
    cells: list[str]


@dataclass(slots=True)
class _Span:
    """The rows of an annotation, and its features."""

    rows: list[_Row] = field(default_factory=list)
    features: dict[str, str] = field(default_factory=dict)


def read_webanno(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a document of WebAnno TSV 3.

    The layer is a chain layer or a relation layer, by its name or the last part of it, or
    `Layer.feature`: then values of this feature of spans name the entities.
    """
    lines = lines_of(source.text)
    if not lines or not lines[0].lstrip().startswith(_VERSION):
        expected = f"{_VERSION}.x in the first line"
        raise _refuse(source, 1, "this is not WebAnno TSV 3", "".join(lines[:1]), expected)
    layers = _read_header(lines)
    tsv = _Tsv(source, layers, *_read_rows(source, lines, layers))
    tsv.read(layer)
    return build_corpus([tsv.document], source, name, _ODDITIES)


def _refuse(source: Source, line: int, problem: str, found: str, expected: str) -> InputError:
    """The error of a line that is not as WebAnno writes it."""
    fix = "export the document again, as WebAnno TSV 3.x"
    return source.error(problem, line, found=excerpt(found), expected=expected, fix=fix)


def _read_header(lines: Sequence[str]) -> dict[str, _Layer]:
    """The layers that have columns by their names, in their order."""
    layers: dict[str, _Layer] = {}
    column = _FIRST_COLUMN
    for line in takewhile(lambda line: not line[:1].isdigit(), lines):
        if match := _HEADER.fullmatch(line):
            kind, name, features = match[1], match[2], match[3].split("|") if match[3] else []
            width = 2 if kind == "CH" else max(len(features), 1)
            layers[name] = _Layer(kind, name, features, column, column + width - 1)
            column += width
    return layers


def _read_rows(
    source: Source, lines: Sequence[str], layers: Mapping[str, _Layer]
) -> tuple[list[_Row], AnnotatedDocument]:
    """The rows of tokens and of parts of tokens, and the document with words and sentences."""
    last = max((layer.last for layer in layers.values()), default=_FIRST_COLUMN - 1)
    rows: list[_Row] = []
    words: list[str] = []
    starts: list[int] = []
    sentence = ""
    for number, line in enumerate(lines, start=1):
        if not line or line[0] == "#":
            continue
        cells = line.split("\t")
        identifier = cells[0]
        first, _, token = identifier.partition("-")
        is_token = first.isdecimal() and token.isdecimal()
        is_part = not is_token and bool(words) and _PART.fullmatch(identifier) is not None
        if len(cells) <= last or not cells[last] or not (is_token or is_part):
            if line.isspace():
                continue
            expected = f"sentence-token, begin-end, word and {last - 2} columns, with tabs"
            raise _refuse(source, number, "this is not a line of a token", line, expected)
        if is_token:
            if first != sentence:
                starts.append(len(words))
                sentence = first
            words.append(cells[2])
        rows.append(_Row(identifier, number, len(words) - 1, is_part and bool(cells[2]), cells))
    stem = str(source.stem)
    name = document_id(stem) if "%" in stem else None  # as this module writes it
    return rows, AnnotatedDocument(source, name, words=words, sentence_starts=starts)


def _read_values(cell: str) -> list[tuple[str, str | None]]:
    """The annotations in a cell with their numbers, if they have any; `*` is without a value."""
    if cell in ("_", ""):
        return []
    is_plain = "\\" not in cell  # as nearly all are
    parts, value = (cell.split("|"), _PLAIN) if is_plain else (_PARTS.findall(cell), _VALUE)
    matches = [(part, value.fullmatch(part)) for part in parts]
    return [(match[1], match[2]) if match else (part, None) for part, match in matches]


def _unescape(value: str) -> str:
    """The text that a value stands for; nothing for `*` and `_`."""
    if value in ("*", "_"):
        return ""
    return _ESCAPED.sub(lambda match: _CONTROLS.get(match[1], match[1]), value)


@dataclass(slots=True)
class _Tsv:
    """The layers and rows of a file, and the document to which mentions of a layer are added."""

    source: Source
    layers: dict[str, _Layer]
    rows: list[_Row]
    document: AnnotatedDocument

    def read(self, name: str | None) -> None:
        """Add the mentions of a layer to the document."""
        joining = [layer.name for layer in self.layers.values() if layer.kind != "SP"]
        features = {s.name: s.features for s in self.layers.values() if s.kind == "SP"}
        named = {layer: values for layer, values in features.items() if values}
        name, feature = choose_layer(self.source, name, self.prefer(), joining, named)
        if not name:
            bases = {self.layers[relation].base for relation in self.list_relations()}
            spans = [self.read_spans(self.layers[base]) for base in bases if base in features]
            self.document.counts["unrelated-spans"] = sum(map(len, spans))
        elif feature:
            for span in self.read_spans(self.layers[name]).values():
                self.add(span, span.features.get(feature))
        elif self.layers[name].kind == "CH":
            self.add_chains(self.layers[name])
        else:
            self.add_relations(self.layers[name])

    def prefer(self) -> Iterator[list[str]]:
        """The layers that count where none is named: those with annotations, chains first."""
        chains = [layer.name for layer in self.layers.values() if layer.kind == "CH"]
        for names in (chains, self.list_relations()):
            columns = {name: self.layers[name].last for name in names}
            yield [
                name
                for name, column in columns.items()
                if any(row.cells[column] not in ("_", "") for row in self.rows)
            ]
        yield [""] if chains or self.list_relations() else []

    def list_relations(self) -> list[str]:
        """The relation layers that join, by their names."""
        relations = (layer.name for layer in self.layers.values() if layer.kind == "RL")
        return list(filter(JOINING_LAYER.search, relations))

    def add(self, span: _Span, entity: str | None = None) -> int | None:
        """Add an annotation to the document; returns its number there."""
        self.document.counts["widened-mentions"] += any(row.is_part for row in span.rows)
        positions = {row.position for row in span.rows}
        parts = [(min(positions), max(positions) + 1)]
        if parts[0][1] - parts[0][0] != len(positions):
            parts = [(position, position + 1) for position in positions]
        return self.document.add(parts, entity or None, span.features, span.rows[0].line)

    def read_spans(self, layer: _Layer) -> dict[str, _Span]:
        """The annotations of a span layer by their numbers, or by the rows of those without."""
        spans: dict[str, _Span] = defaultdict(_Span)
        for row in self.rows:
            for column, feature in enumerate(layer.features or ("",), start=layer.first):
                for text, number in _read_values(row.cells[column]):
                    span = spans[number or row.identifier]
                    if not span.rows or span.rows[-1] is not row:
                        span.rows.append(row)
                    if feature and not span.features.get(feature):
                        span.features[feature] = _unescape(text)
        return spans

    def add_chains(self, layer: _Layer) -> None:
        """Add the mentions of a chain layer: rows of one link of one chain."""
        is_first = layer.features[:1] == ["referenceRelation"]
        relation, kind = layer.first + (not is_first), layer.first + is_first
        links: dict[tuple[str, str], _Span] = {}
        parsed: dict[str, list[tuple[str, str, str]]] = {}
        for row in self.rows:
            cell = row.cells[relation]
            if cell == "_":  # as in most rows
                continue
            if cell not in parsed:
                parsed[cell] = self.read_links(cell, row.line)
            for place, (label, chain, link) in enumerate(parsed[cell]):
                span = links.get((chain, link))
                if span is None:
                    kinds = [_unescape(text) for text, _ in _read_values(row.cells[kind])]
                    stated = kinds[place] if len(kinds) == len(parsed[cell]) else ""
                    span = links[chain, link] = _Span()
                    span.features = {"referenceType": stated, "referenceRelation": label}
                span.rows.append(row)
        for (chain, _), span in links.items():
            self.add(span, chain)

    def read_links(self, cell: str, line: int) -> list[tuple[str, str, str]]:
        """Label, chain and link of each mention in a cell."""
        matches = [_LINK.fullmatch(text) for text, number in _read_values(cell) if not number]
        links = [(_unescape(match[1]), match[2], match[3]) for match in matches if match]
        if not links or len(links) < len(matches):
            expected = "a label, ->, and the numbers of the chain and the link, as in *->1-2"
            raise _refuse(self.source, line, "this is no link of a chain", cell, expected)
        return links

    def add_relations(self, layer: _Layer) -> None:
        """Add all annotations of the base of a relation layer, and join them by its relations."""
        relations = list(self.read_relations(layer))
        if layer.base in self.layers:
            spans = self.read_spans(self.layers[layer.base])
        else:
            ends = {end for _, *pair, _ in relations for end in pair}
            spans = {row.identifier: _Span([row]) for row in self.rows if row.identifier in ends}
        numbers = {identifier: self.add(span) for identifier, span in spans.items()}
        for labels, anaphor, antecedent, line in relations:
            for identifier in (anaphor, antecedent):
                if identifier not in numbers:
                    problem = "a relation has an annotation that is not there"
                    expected = f"an annotation of the layer {excerpt(layer.base)}"
                    raise _refuse(self.source, line, problem, identifier, expected)
            self.document.join(numbers[anaphor], numbers[antecedent], labels)

    def read_relations(self, layer: _Layer) -> Iterator[tuple[list[str], str, str, int]]:
        """Labels, source, target and line of each relation; both by their numbers or rows."""
        for row in self.rows:
            cell = row.cells[layer.last]
            places = cell.split("|") if cell not in ("_", "") else []
            labels = [_read_values(cell) for cell in row.cells[layer.first : layer.last]]
            for number, place in enumerate(places):
                match = _SOURCE.fullmatch(place)
                if match is None:
                    expected = "a token, and the numbers of source and target, as in 10-8[60_1]"
                    problem = "this is no source of a relation"
                    raise _refuse(self.source, row.line, problem, cell, expected)
                stated = [_unescape(v[number][0]) for v in labels if len(v) == len(places)]
                identifier, first, second = match.groups()
                anaphor = identifier if first in (None, "0") else first
                antecedent = row.identifier if second in (None, "0") else second
                yield stated, anaphor, antecedent, row.line


_LAYER = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
_FIRST_LINES = f"{_VERSION}.3\n#T_CH={_LAYER}|referenceType|referenceRelation\n\n"
_BREAKS = re.compile(r"[\t\r\n]")
_TEXT_ESCAPES = str.maketrans({"\\": "\\\\", "\b": "\\b", "\f": "\\f"})


def write_webanno(corpus: Corpus) -> Written:
    """Write `NAME.tsv` for each document, with one chain layer, as INCEpTION imports it."""
    counts = count_gapped(corpus)
    stems, counts["document-names"] = file_stems(corpus.documents)
    files = {
        f"{stem}.tsv": encode_text(_write_document(document, counts), counts)
        for document, stem in zip(corpus, stems, strict=True)
    }
    return Written(files, note_losses("webanno", corpus, counts, relations=corpus.relations))


def _plain_word(word: str) -> str:
    """A word that can stand between tabs, and that somebody can see."""
    return _BREAKS.sub(" ", writable_text(word)) if word.strip() else "_"


def _write_document(document: Document, counts: Counter[str]) -> str:
    """The lines of a document; offsets count UTF-16 units of the words with blanks between."""
    words = carry_words(words_of(document), _plain_word, counts)
    kinds, links = defaultdict(list), defaultdict(list)
    for chain, entity in enumerate(document.entities, start=1):
        counts["entity-names"] += document.corpus.names is not None and entity.name != str(chain)
        for link, mention in enumerate(entity.mentions, start=1):
            for position in range(*mention.span):
                kinds[position].append(f"*[{chain}]")
                links[position].append(f"*->{chain}-{link}")
    lengths = [len(word.encode("utf-16-le", "surrogatepass")) // 2 for word in words]
    begins = list(accumulate((length + 1 for length in lengths), initial=0))
    parts = [_FIRST_LINES]
    for sentence, (start, end) in enumerate(sentence_bounds(document, len(words)), start=1):
        parts.append(f"\n#Text={' '.join(words[start:end]).translate(_TEXT_ESCAPES)}\n")
        for position in range(start, end):
            begin = begins[position]
            cells = "|".join(kinds[position]) or "_", "|".join(links[position]) or "_"
            parts.append(
                f"{sentence}-{position - start + 1}\t{begin}-{begin + lengths[position]}\t"
                f"{words[position]}\t{cells[0]}\t{cells[1]}\t\n"
            )
    return "".join(parts)
