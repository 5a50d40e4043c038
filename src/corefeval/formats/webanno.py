"""WebAnno TSV 3, of WebAnno, INCEpTION and GUM: a token per line, layers in columns."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from corefeval.diagnostics import InputError, excerpt, list_names
from corefeval.formats.annotations import LAYER_FIX, AnnotatedDocument, build_corpus, is_bridging
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
_VALUE = re.compile(r"((?:\\.|[^\\])*?)(?:\[(\d+)\])?", re.DOTALL)
_LINK = re.compile(r"(.*)->(\d+)-(\d+)", re.DOTALL)
_SOURCE = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)_(\d+)\])?")
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}
_ANAPHORIC = re.compile("coref|anaph", re.IGNORECASE)
_ODDITIES = (
    Tally("unrelated-spans", "annotation", "left out: no relation in the document joins any"),
)


class _Layer(NamedTuple):
    """A layer of the header: a span, chain or relation layer, and its first column."""

    kind: str
    name: str
    features: tuple[str, ...]
    column: int

    @property
    def width(self) -> int:
        return 2 if self.kind == "CH" else max(len(self.features), 1)

    @property
    def short_name(self) -> str:
        return self.name.rpartition(".")[2]


class _Row(NamedTuple):
    """A token, or a part of one: its id, line, position in the document, and cells."""

    identifier: str
    line: int
    position: int
    is_part: bool
    cells: list[str]


class _Value(NamedTuple):
    """An annotation in a cell, and its number where it has one."""

    text: str
    number: str | None = None


@dataclass(slots=True)
class _Span:
    """The rows of an annotation, and its features."""

    rows: list[_Row] = field(default_factory=list)
    features: dict[str, str] = field(default_factory=dict)

    def add(self, document: AnnotatedDocument, entity: str | None = None) -> int | None:
        """Add the mention to a document; returns its number there."""
        document.counts["widened-mentions"] += any(row.is_part for row in self.rows)
        parts = [(row.position, row.position + 1) for row in self.rows]
        return document.add(parts, entity or None, self.features, self.rows[0].line)


def read_webanno(source: Source, *, name: str = "", layer: str | None = None) -> Corpus:
    """Read a document of WebAnno TSV 3.

    The layer is a chain layer or a relation layer, by its name or the last part of it, or
    `Layer.feature`: then values of this feature of spans name the entities.
    """
    lines = lines_of(source.text)
    if not lines or not lines[0].lstrip().startswith(_VERSION):
        raise source.error(
            "this is not WebAnno TSV 3",
            1,
            found=excerpt(lines[0] if lines else ""),
            expected=f"{_VERSION}.x in the first line",
            fix="export the document again, as WebAnno TSV 3.x",
        )
    layers = _read_header(lines)
    stem = str(source.stem)
    identifier = document_id(stem) if "%" in stem else None  # as this module writes it
    document = AnnotatedDocument(source, identifier, words=[], sentence_starts=[])
    rows = _read_rows(source, lines, layers, document)
    chosen, feature = _choose_layer(source, layers, rows, layer)
    if chosen is None:
        document.counts["unrelated-spans"] = _count_unrelated(rows, layers)
        return build_corpus([document], source, name, _ODDITIES)
    if feature is not None:
        spans = _read_spans(rows, chosen)
        for span in spans.values():
            span.add(document, span.features.get(feature))
    elif chosen.kind == "CH":
        _add_chains(source, document, rows, chosen)
    else:
        _add_relations(source, document, rows, chosen, layers)
    return build_corpus([document], source, name)


def _read_header(lines: Sequence[str]) -> list[_Layer]:
    """The layers that have columns, in their order."""
    layers: list[_Layer] = []
    column = _FIRST_COLUMN
    for line in lines:
        if line[:1].isdigit():
            break
        if match := _HEADER.fullmatch(line):
            features = tuple(match[3].split("|")) if match[3] else ()
            layers.append(_Layer(match[1], match[2], features, column))
            column += layers[-1].width
    return layers


def _read_rows(
    source: Source, lines: Sequence[str], layers: Sequence[_Layer], document: AnnotatedDocument
) -> list[_Row]:
    """The rows of tokens and of parts of tokens; words and sentences are added to the document."""
    n_columns = _FIRST_COLUMN + sum(layer.width for layer in layers)
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
        if len(cells) < n_columns or not cells[n_columns - 1] or not (is_token or is_part):
            if line.isspace():
                continue
            raise source.error(
                "this is not a line of a token",
                number,
                found=excerpt(line),
                expected=f"sentence-token, begin-end, word and {n_columns - 3} columns, with tabs",
                fix="export the document again, as WebAnno TSV 3.x",
            )
        if is_token:
            if first != sentence:
                starts.append(len(words))
                sentence = first
            words.append(cells[2])
        rows.append(_Row(identifier, number, len(words) - 1, is_part and bool(cells[2]), cells))
    document.words, document.sentence_starts = words, starts
    return rows


def _choose_layer(
    source: Source, layers: Sequence[_Layer], rows: Sequence[_Row], name: str | None
) -> tuple[_Layer | None, str | None]:
    """The layer that counts, None where it is empty, and the feature that names entities."""
    joining = [layer for layer in layers if layer.kind != "SP"]
    if name is not None:
        named = [layer for layer in joining if name in (layer.name, layer.short_name)]
        if len(named) == 1:
            return named[0], None
        start, _, feature = name.rpartition(".")
        spans = [layer for layer in layers if layer.kind == "SP" and feature in layer.features]
        spans = [layer for layer in spans if start in (layer.name, layer.short_name)]
        if len(spans) == 1 and not named:
            return spans[0], feature
        raise _layer_error(source, layers, f"there is no layer {excerpt(name)}")
    chains = [layer for layer in joining if layer.kind == "CH"]
    relations = [
        layer for layer in joining if layer.kind == "RL" and _ANAPHORIC.search(layer.short_name)
    ]
    for candidates in (chains, relations):
        filled = [layer for layer in candidates if _has_annotations(rows, layer)]
        if len(filled) > 1:
            names = list_names([layer.name for layer in filled])
            raise _layer_error(source, layers, f"several layers have coreference: {names}")
        if filled:
            return filled[0], None
    if not chains and not relations:
        raise _layer_error(source, layers, "there is no layer of coreference")
    return None, None


def _count_unrelated(rows: Sequence[_Row], layers: Sequence[_Layer]) -> int:
    """How many spans there are that relations of coreference could join, but none does."""
    joining = (layer for layer in layers if layer.kind == "RL" and layer.features)
    bases = {
        layer.features[-1].removeprefix("BT_")
        for layer in joining
        if _ANAPHORIC.search(layer.short_name)
    }
    spans = (layer for layer in layers if layer.kind == "SP" and layer.name in bases)
    return sum(len(_read_spans(rows, layer)) for layer in spans)


def _has_annotations(rows: Sequence[_Row], layer: _Layer) -> bool:
    column = layer.column + layer.width - 1
    return any(row.cells[column] not in ("_", "") for row in rows)


def _layer_error(source: Source, layers: Sequence[_Layer], problem: str) -> InputError:
    """The error of a layer that cannot be chosen, with all that there are."""
    names = [layer.name for layer in layers if layer.kind != "SP"]
    names += [f"{s.name}.{feature}" for s in layers if s.kind == "SP" for feature in s.features]
    listed = ", ".join(map(excerpt, names)) or "no layers"
    return source.error(problem, found=f"the layers {listed}", fix=LAYER_FIX)


def _read_values(cell: str) -> list[_Value]:
    """The annotations in a cell; `*` is one without a value."""
    if cell in ("_", ""):
        return []
    parts = cell.split("|") if "\\" not in cell else _PARTS.findall(cell)
    matches = [(part, _VALUE.fullmatch(part)) for part in parts]
    return [_Value(*match.groups()) if match else _Value(part) for part, match in matches]


def _unescape(value: str) -> str:
    """The text that a value stands for; nothing for `*` and `_`."""
    if value in ("*", "_"):
        return ""
    return _ESCAPED.sub(lambda match: _CONTROLS.get(match[1], match[1]), value)


def _read_spans(rows: Sequence[_Row], layer: _Layer) -> dict[str, _Span]:
    """The annotations of a span layer by their numbers, or by the rows of those without one."""
    spans: dict[str, _Span] = defaultdict(_Span)
    for row in rows:
        for column, feature in enumerate(layer.features or ("",), start=layer.column):
            for text, number in _read_values(row.cells[column]):
                span = spans[number or row.identifier]
                if not span.rows or span.rows[-1] is not row:
                    span.rows.append(row)
                if feature and not span.features.get(feature):
                    span.features[feature] = _unescape(text)
    return spans


def _add_chains(
    source: Source, document: AnnotatedDocument, rows: Sequence[_Row], layer: _Layer
) -> None:
    """Add the mentions of a chain layer: rows of one link of one chain."""
    is_first = layer.features[:1] == ("referenceRelation",)
    relation, kind = layer.column + (not is_first), layer.column + is_first
    links: dict[tuple[str, str], _Span] = {}
    parsed: dict[str, list[tuple[str, str, str]]] = {}
    for row in rows:
        cell = row.cells[relation]
        if cell == "_":  # as in most rows
            continue
        if cell not in parsed:
            parsed[cell] = _read_links(source, row, cell)
        for place, (label, chain, link) in enumerate(parsed[cell]):
            span = links.get((chain, link))
            if span is None:
                kinds = [_unescape(value.text) for value in _read_values(row.cells[kind])]
                stated = kinds[place] if len(kinds) == len(parsed[cell]) else ""
                span = links[chain, link] = _Span()
                span.features = {"referenceType": stated, "referenceRelation": label}
            span.rows.append(row)
    for (chain, _), span in links.items():
        span.add(document, chain)


def _read_links(source: Source, row: _Row, cell: str) -> list[tuple[str, str, str]]:
    """Label, chain and link of each mention in a cell."""
    matches = [_LINK.fullmatch(value.text) for value in _read_values(cell) if not value.number]
    links = [(_unescape(match[1]), match[2], match[3]) for match in matches if match]
    if not links or len(links) < len(matches):
        raise source.error(
            "this is no link of a chain",
            row.line,
            found=excerpt(cell),
            expected="a label, ->, and the numbers of the chain and the link, as in *->1-2",
            fix="export the document again, as WebAnno TSV 3.x",
        )
    return links


def _add_relations(
    source: Source,
    document: AnnotatedDocument,
    rows: Sequence[_Row],
    layer: _Layer,
    layers: Sequence[_Layer],
) -> None:
    """Add all annotations of the base of a relation layer, and join them by its relations."""
    base_name = layer.features[-1].removeprefix("BT_") if layer.features else ""
    base = next((b for b in layers if b.kind == "SP" and b.name == base_name), None)
    spans = {} if base is None else _read_spans(rows, base)
    tokens = {row.identifier: row for row in rows} if base is None else {}
    relations = list(_read_relations(source, rows, layer))
    for _, *ends, _ in relations if base is None else ():
        spans |= {end: _Span([tokens[end]]) for end in ends if end in tokens}
    numbers = {identifier: span.add(document) for identifier, span in spans.items()}
    for label, anaphor, antecedent, line in relations:
        for identifier in (anaphor, antecedent):
            if identifier not in numbers:
                raise source.error(
                    f"a relation has an annotation {excerpt(identifier)} that is not there",
                    line,
                    expected=f"an annotation of the layer {excerpt(base_name)}",
                    fix="export the document again, as WebAnno TSV 3.x",
                )
        if is_bridging(label):
            document.relate(numbers[anaphor], numbers[antecedent], label.partition(":")[2])
        else:
            document.join(numbers[antecedent], numbers[anaphor])


def _read_relations(
    source: Source, rows: Sequence[_Row], layer: _Layer
) -> Iterator[tuple[str, str, str, int]]:
    """Label, source, target and line of each relation; both by their numbers or their rows."""
    last = layer.column + layer.width - 1
    for row in rows:
        places = row.cells[last].split("|") if row.cells[last] not in ("_", "") else []
        labels = [_read_values(cell) for cell in row.cells[layer.column : last]]
        for number, place in enumerate(places):
            match = _SOURCE.fullmatch(place)
            if match is None:
                raise source.error(
                    "this is no source of a relation",
                    row.line,
                    found=excerpt(row.cells[last]),
                    expected="a token, and the numbers of source and target, as in 10-8[60_1]",
                    fix="export the document again, as WebAnno TSV 3.x",
                )
            stated = [_unescape(v[number].text) for v in labels if len(v) == len(places)]
            identifier, first, second = match.groups()
            anaphor = identifier if first in (None, "0") else first
            antecedent = row.identifier if second in (None, "0") else second
            yield next(filter(None, stated), ""), anaphor, antecedent, row.line


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
