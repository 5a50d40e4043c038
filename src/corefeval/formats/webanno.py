"""WebAnno TSV 3, of WebAnno, INCEpTION and GUM: a token per line, layers in columns."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
from corefeval.formats.declarations import Written
from corefeval.formats.losses import (
    carry_words,
    count_gapped,
    sentence_bounds,
    words_of,
)
from corefeval.formats.source import Source
from corefeval.formats.standoff import document_id, file_stems, lines_of
from corefeval.model import Corpus, Document, DocumentId
from corefeval.model.identity import writable_text

_VERSION = "#FORMAT=WebAnno TSV 3"
_HEADER = re.compile(r"#T_(SP|CH|RL)=([^|]*)\|?(.*)")
_EXPORTED = re.compile(
    r".*[/\\](?:annotation|curation)[/\\]([^/\\]+)\.(?:txt|html?|xml|xmi|pdf|tsv|conllu?|json)"
    r"[/\\][^/\\]+"
)
_PART = re.compile(r"\d+-\d+\.\d+")
_FIRST_COLUMN = 3  # before it are sentence and token, begin and end, and the word
_PARTS = re.compile(r"(?:\\.|[^\\|])+", re.DOTALL)
_LINK = re.compile(r"(.*)->(\d+)-(\d+)", re.DOTALL)
_SOURCE = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)_(\d+)\])?")
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}


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


@dataclass(slots=True)
class _Span:
    """The rows of an annotation by their numbers, and its features."""

    rows: list[int]
    features: dict[str, str]


def read_webanno(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a document of WebAnno TSV 3.

    The layer is a chain layer or a relation layer, by its name or the last part of it, or
    `Layer.feature`: then values of this feature of spans name the entities.
    """
    lines = lines_of(source.text)
    first = next(filter(str.strip, lines), "")
    if not first.lstrip().startswith(_VERSION):
        expected = f"{_VERSION}.x in the first line"
        raise _refuse(source, 1, "this is not WebAnno TSV 3", first, expected)
    layers = _read_header(source, lines)
    tsv = _read_rows(source, lines, layers)
    tsv.read(layer)
    return build_corpus([tsv.document], source, name)


def _refuse(source: Source, line: int, problem: str, found: str, expected: str) -> InputError:
    """The error of a line that is not as WebAnno writes it."""
    fix = "export the document again, as WebAnno TSV 3.x"
    return source.error(problem, line, found=excerpt(found), expected=expected, fix=fix)


def _read_header(source: Source, lines: Sequence[str]) -> dict[str, _Layer]:
    """The layers that have columns by their names, in their order; none may be there twice."""
    layers: dict[str, _Layer] = {}
    column = _FIRST_COLUMN
    header = takewhile(lambda line: not line[:1].isdigit(), lines)
    for number, line in enumerate(header, start=1):
        if match := _HEADER.fullmatch(line):
            kind, name, features = match[1], match[2], match[3].split("|") if match[3] else []
            if name in layers:
                expected = "a different name for each layer"
                raise _refuse(source, number, "two layers have one name", name, expected)
            width = 2 if kind == "CH" else max(len(features), 1)
            layers[name] = _Layer(kind, name, features, column, column + width - 1)
            column += width
    return layers


def _read_rows(source: Source, lines: Sequence[str], layers: dict[str, _Layer]) -> _Tsv:
    """The rows of tokens and of parts of tokens, and the document with words and sentences."""
    last = max((layer.last for layer in layers.values()), default=_FIRST_COLUMN - 1)
    words: list[str] = []
    starts: list[int] = []
    document = AnnotatedDocument(source, _find_name(source), words=words, sentence_starts=starts)
    tsv = _Tsv(source, layers, document)
    sentence, places = "", set()
    for number, line in enumerate(lines, start=1):
        if not line or line[0] == "#":
            continue
        cells = line.split("\t")
        first, _, token = cells[0].partition("-")
        is_token = first.isdecimal() and token.isdecimal()
        is_part = not is_token and bool(words) and _PART.fullmatch(cells[0]) is not None
        if len(cells) <= last or not cells[last] or not (is_token or is_part):
            if line.isspace():
                continue
            expected = f"sentence-token, begin-end, word and {last - 2} columns, with tabs"
            raise _refuse(source, number, "this is not a line of a token", line, expected)
        if cells[0] in places:
            expected = "each token once, in one document"
            raise _refuse(source, number, "a token appears twice", line, expected)
        places.add(cells[0])
        if is_token:
            if first != sentence:
                starts.append(len(words))
                sentence = first
            words.append(cells[2])
        elif cells[2]:
            tsv.part_rows.add(len(tsv.rows))
        tsv.rows.append(cells)
        tsv.lines.append(number)
        tsv.positions.append(len(words) - 1)
    return tsv


def _find_name(source: Source) -> DocumentId | None:
    """The id of a document that folder or file are named after; None if the file's name will do.

    INCEpTION exports `annotation/story.txt/anna.tsv`; this module writes ids with escapes.
    """
    exported = _EXPORTED.fullmatch(os.path.abspath(source.file))
    stem = exported[1] if exported else str(source.stem)
    return document_id(stem) if exported or "%" in stem else None


def _split(cell: str) -> list[str]:
    """What a cell says of each annotation."""
    if cell in ("_", ""):
        return []
    return _PARTS.findall(cell) if "\\" in cell else cell.split("|")


def _cut_number(text: str) -> tuple[str, str]:
    """The value of an annotation, escaped, and its number, which is "" without one."""
    value, _, number = text.rpartition("[")
    has_number = number.endswith("]") and number[:-1].isdecimal()
    return (value, number[:-1]) if has_number else (text, "")


def _read_value(text: str) -> str:
    """The value of an annotation without its number; nothing for `*` and `_`."""
    if text == "*":  # as most labels of links
        return ""
    value, _ = _cut_number(text)
    if "\\" not in value:
        return "" if value in ("*", "_") else value
    return _ESCAPED.sub(lambda match: _CONTROLS.get(match[1], match[1]), value)


@dataclass(slots=True)
class _Tsv:
    """The layers of a file, the document to which mentions of one are added, and its rows.

    `rows` are the cells of tokens and parts of tokens, `lines` their lines, `positions` their
    tokens; `part_rows` are those rows that are parts of tokens.
    """

    source: Source
    layers: dict[str, _Layer]
    document: AnnotatedDocument
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    part_rows: set[int] = field(default_factory=set)

    def read(self, name: str | None) -> None:
        """Add the mentions of a layer to the document."""
        layers = self.layers.values()
        chains = [layer for layer in layers if layer.kind == "CH"]
        relations = [layer for layer in layers if layer.kind == "RL"]
        coreference = [layer for layer in relations if JOINING_LAYER.search(layer.name)]
        spans = {s.name: s.features for s in layers if s.kind == "SP" and s.features}
        preferred = [self.list_used(chains), self.list_used(coreference)]
        preferred.append([""] if chains or coreference else [])
        joining = [layer.name for layer in (*chains, *relations)]
        name, feature = choose_layer(self.source, name, preferred, joining, spans)
        if not name:
            bases = {layer.base for layer in coreference} & self.layers.keys()
            counts = (len(self.read_spans(self.layers[base])) for base in bases)
            self.document.counts["unrelated-spans"] = sum(counts)
        elif feature:
            for span in self.read_spans(self.layers[name]).values():
                self.add(span, span.features.get(feature))
        elif self.layers[name].kind == "CH":
            self.add_chains(self.layers[name])
        else:
            self.add_relations(self.layers[name])

    def list_used(self, layers: Iterable[_Layer]) -> list[str]:
        """The names of those layers that have links or relations."""
        return [
            layer.name
            for layer in layers
            if any(cells[layer.last] not in ("_", "") for cells in self.rows)
        ]

    def add(self, span: _Span, entity: str | None = None, identifier: str | None = None) -> None:
        """Add an annotation to the document, known by an id if relations may name it."""
        self.document.counts["widened-mentions"] += not self.part_rows.isdisjoint(span.rows)
        positions = (self.positions[row] for row in span.rows)
        parts = [(position, position + 1) for position in positions]
        line = self.lines[span.rows[0]]
        self.document.add(parts, entity or None, span.features, line, identifier)

    def read_spans(self, layer: _Layer) -> dict[str, _Span]:
        """The annotations of a span layer by their numbers.

        Those without are on one row, known by its id, with stars for the second and later ones.
        """
        spans: dict[str, _Span] = {}
        numbers: dict[str, str] = {}  # by what cells say of annotations, row after row
        nothing = ["_"] * (layer.last + 1 - layer.first)
        for row, cells in enumerate(self.rows):
            values = cells[layer.first : layer.last + 1]
            if values == nothing:  # as in many rows
                continue
            columns = list(map(_split, values))
            for place, text in enumerate(next(filter(None, columns), [])):
                if text not in numbers:
                    _, numbers[text] = _cut_number(text)
                identifier = numbers[text] or cells[0] + "*" * place
                if identifier not in spans:
                    stated = zip(layer.features, columns, strict=False)
                    features = {n: _read_value(c[place]) for n, c in stated if place < len(c)}
                    spans[identifier] = _Span([], features)
                spans[identifier].rows.append(row)
        return spans

    def add_chains(self, layer: _Layer) -> None:
        """Add the mentions of a chain layer: rows of one link of one chain."""
        is_first = layer.features[:1] == ["referenceRelation"]
        relation, kind = layer.first + (not is_first), layer.first + is_first
        links: dict[tuple[str, str], _Span] = {}
        spans: dict[str, _Span] = {}  # by the texts of links, of which most are in several rows
        for row, cells in enumerate(self.rows):
            texts, kinds = _split(cells[relation]), _split(cells[kind])
            for place, text in enumerate(texts):
                if text not in spans:
                    match = _LINK.fullmatch(text)
                    if match is None:
                        expected = "a label, ->, and numbers of chain and link, as in *->1-2"
                        problem = "this is no link of a chain"
                        raise _refuse(self.source, self.lines[row], problem, text, expected)
                    label, chain, link = match.groups()
                    stated = kinds[place] if len(kinds) == len(texts) else "_"
                    features = {"referenceRelation": _read_value(label)}
                    if stated[:1] not in ("*", "_", ""):
                        features["referenceType"] = _read_value(stated)
                    spans[text] = links.setdefault((chain, link), _Span([], features))
                spans[text].rows.append(row)
        for (chain, _), span in links.items():
            self.add(span, chain)

    def add_relations(self, layer: _Layer) -> None:
        """Add all annotations of the base of a relation layer, and join them by its relations."""
        relations = list(self.read_relations(layer))
        if layer.base in self.layers:
            spans = self.read_spans(self.layers[layer.base])
        else:
            ends = {end for _, *pair, _ in relations for end in pair}
            rows = enumerate(self.rows)
            spans = {cells[0]: _Span([row], {}) for row, cells in rows if cells[0] in ends}
        for identifier, span in spans.items():
            self.add(span, None, identifier)
        for labels, anaphor, antecedent, line in relations:
            first, second = (self.document.find(end, line) for end in (anaphor, antecedent))
            self.document.join(first, second, labels)

    def read_relations(self, layer: _Layer) -> Iterator[tuple[list[str], str, str, int]]:
        """Labels, source, target and line of each relation; both by their numbers or rows."""
        for row, cells in enumerate(self.rows):
            if cells[layer.last] == "_":  # as in most rows
                continue
            places = _split(cells[layer.last])
            labels = list(map(_split, cells[layer.first : layer.last]))
            for number, place in enumerate(places):
                match = _SOURCE.fullmatch(place)
                if match is None:
                    expected = "a token, and the numbers of source and target, as in 10-8[60_1]"
                    problem = "this is no source of a relation"
                    raise _refuse(self.source, self.lines[row], problem, place, expected)
                stated = [_read_value(v[number]) for v in labels if len(v) == len(places)]
                identifier, first, second = match.groups()
                anaphor = identifier if first in (None, "0") else first
                antecedent = cells[0] if second in (None, "0") else second
                yield stated, anaphor, antecedent, self.lines[row]


_LAYER = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
_FIRST_LINES = f"{_VERSION}.3\n#T_CH={_LAYER}|referenceType|referenceRelation\n\n"
_BREAKS = re.compile(r"[\t\r\n]")
_TEXT_ESCAPES = str.maketrans({"\\": "\\\\", "\b": "\\b", "\f": "\\f"})


def write_webanno(corpus: Corpus) -> Written:
    """Write `NAME.tsv` for each document, with one chain layer, as INCEpTION imports it."""
    counts = count_gapped(corpus)
    stems, counts["document-names"] = file_stems(corpus.documents)
    files = {
        f"{stem}.tsv": _write_document(document, counts)
        for document, stem in zip(corpus, stems, strict=True)
    }
    return Written(files, counts=counts)


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
