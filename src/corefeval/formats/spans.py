"""Label Studio, doccano and Prodigy: spans of a text with labels, and relations between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from corefeval.diagnostics import excerpt
from corefeval.formats.annotations import (
    BRIDGES,
    AnnotatedDocument,
    build_corpus,
    layer_error,
)
from corefeval.formats.json.records import Record, records_of, show
from corefeval.formats.source import Source
from corefeval.model import Corpus

_JOINING = re.compile(r"(?:coref|ident|same|anaph|appos|equiv).*|(?:ana|cata)?", re.I | re.S)
_EXPECTED = "no label, or one that begins with coref, ident, same, anaph, appos or equiv"

_Values = dict[str, Any]  # an object of JSON


@dataclass(slots=True)
class _Span:
    """Characters with a label, the text that the file states for them, and further attributes."""

    start: int
    end: int
    label: str
    stated: str | None = None
    features: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Markup:
    """What a record says: its id and text, spans by id, relations as (label, from, to).

    `tokens` are words with their first character and the one behind their last.
    """

    record: Record
    identifier: str | None
    text: str
    spans: dict[str, _Span] = field(default_factory=dict)
    relations: list[tuple[str, str, str]] = field(default_factory=list)
    tokens: list[tuple[str, int, int]] | None = None

    def add_span(self, identifier: str, values: _Values, start: str, end: str) -> _Span:
        """Add the span whose start and end are under these keys, unless its id is known."""
        label = values.get("label")
        span = _Span(*_positions(self.record, values, start, end), str(label or ""))
        return self.spans.setdefault(identifier, span)


def _positions(record: Record, values: _Values, *keys: str) -> tuple[int, int]:
    """The start and the end of a span, in characters."""
    start, end = map(values.get, keys)
    if type(start) is not int or type(end) is not int:
        raise record.error(
            "the positions of a span are no numbers of characters",
            found=f"from {show(start)} to {show(end)}",
            expected="whole numbers from 0, the end exclusive",
            fix="annotate plain text: positions in pages and dialogues cannot be read",
        )
    return start, end


def _objects(record: Record, key: str) -> list[_Values]:
    """The objects that are listed under a key of a record."""
    listed = record.values.get(key) or []
    if not isinstance(listed, list) or not all(isinstance(value, dict) for value in listed):
        expected = "a list of objects"
        raise record.error(f"‘{key}’ is no such list", found=show(listed), expected=expected)
    return listed


def _read_task(record: Record, counts: Counter[str]) -> _Markup:
    """A task of Label Studio, by its first annotation that was not cancelled."""
    annotations = _objects(record, "annotations") + _objects(record, "completions")
    valid = [a for a in annotations if not (a.get("was_cancelled") or a.get("skipped"))]
    predictions = [] if valid else _objects(record, "predictions")  # which may be mere ids
    counts["other-annotations"] += len(annotations) - bool(valid)
    counts["predicted-tasks"] += bool(predictions)
    counts["unlabelled-tasks"] += not valid and not predictions
    chosen: _Values = next(iter(valid + predictions), {})
    results = _objects(replace(record, values=chosen), "result")
    data = record.values.get("data")
    key = _text_key(data if isinstance(data, dict) else {}, results)
    if not isinstance(data, dict) or key is None:
        raise record.error(
            "the task has no text",
            found=show(data) if "data" in record.values else record.list_keys(),
            expected="a string in ‘data’: as ‘text’, under the name that the labels refer to, or "
            "the only one",
            fix="export tasks of plain text",
        )
    markup = _Markup(record, record.stated_id(), data[key])
    for number, result in enumerate(results):
        value, target = result.get("value"), result.get("to_name")
        if result.get("type") == "relation":
            ends = str(result.get("from_id")), str(result.get("to_id"))
            ends = ends[::-1] if result.get("direction") == "left" else ends
            stated = result.get("labels")
            labels = list(map(str, stated)) if isinstance(stated, list) else [str(stated or "")]
            label = next(filter(_JOINING.fullmatch, labels), "".join(labels[:1]))
            markup.relations.append((label, *ends))
        elif not isinstance(value, dict) or "end" not in value or target in [*data.keys() - {key}]:
            counts["other-results"] += 1
        else:
            _add_result(markup, str(result.get("id", f"result {number}")), result, value)
    return markup


def _add_result(markup: _Markup, identifier: str, result: _Values, value: _Values) -> None:
    """Add a span of Label Studio; further results of its id are attributes of it."""
    labels = value.get(str(result.get("type")))
    label = ",".join(map(str, labels)) if isinstance(labels, list) else str(labels or "")
    if earlier := markup.spans.get(identifier):
        if (earlier.start, earlier.end) != (value.get("start"), value.get("end")):
            problem = f"two spans have the id {excerpt(identifier)}"
            expected = "a different id for each span of a text"
            raise markup.record.error(problem, found=show(value), expected=expected)
        earlier.features[str(result.get("from_name"))] = label
        return
    span = markup.add_span(identifier, value, "start", "end")
    span.label = label
    span.stated = value.get("text") if isinstance(value.get("text"), str) else None


def _text_key(data: _Values, results: list[_Values]) -> str | None:
    """The key of a task's text: `text`, what the labels refer to, or the only string; or None."""
    strings = [key for key, value in data.items() if isinstance(value, str)]
    targets = [result.get("to_name") for result in results]
    named = [key for key in ("text", *targets) if key in strings]
    return next(iter(named or (strings if len(strings) == 1 else ())), None)


def _read_doccano(record: Record, counts: Counter[str]) -> _Markup:
    """A record of doccano."""
    markup = _Markup(record, record.stated_id(), record.text("text"))
    for entity in _objects(record, "entities"):
        identifier = str(entity.get("id"))
        if identifier in markup.spans:
            raise record.error(f"span {excerpt(identifier)} appears twice", found=show(entity))
        markup.add_span(identifier, entity, "start_offset", "end_offset")
    for relation in _objects(record, "relations"):
        ends = str(relation.get("from_id")), str(relation.get("to_id"))
        markup.relations.append((str(relation.get("type") or ""), *ends))
    return markup


def _read_prodigy(record: Record, counts: Counter[str]) -> _Markup | None:
    """A record of Prodigy, whose spans are known by their positions; None if it was rejected."""
    if record.values.get("answer", "accept") != "accept":
        counts["rejected-records"] += 1
        return None
    meta = record.values.get("meta")
    named = replace(record, values=meta) if isinstance(meta, dict) and "id" in meta else record
    markup = _Markup(record, named.stated_id(), record.text("text"))

    def add(span: _Values, number: int | None = None) -> str:
        identifier = f"{span.get('start')}-{span.get('end')}"
        if number is not None and identifier in markup.spans:
            identifier += f" ({number})"
        markup.add_span(identifier, span, "start", "end")
        return identifier

    for number, span in enumerate(_objects(record, "spans")):
        add(span, number)
    for relation in _objects(record, "relations"):
        ends = [relation.get(key) for key in ("head_span", "child_span")]
        head, child = (add(span if isinstance(span, dict) else {}) for span in ends)
        markup.relations.append((str(relation.get("label") or ""), head, child))
    if record.values.get("tokens") is not None:
        markup.tokens = [
            (replace(record, values=token).text("text"), *_positions(record, token, "start", "end"))
            for token in _objects(record, "tokens")
        ]
    return markup


_READERS: dict[str, Callable[[Record, Counter[str]], _Markup | None]] = {
    "label-studio": _read_task,
    "doccano": _read_doccano,
    "prodigy": _read_prodigy,
}


def read_spans(source: Source, *, kind: str, name: str = "", layer: str | None = None) -> Corpus:
    """Read an export of one of these tools; `layer` is the label of relations that join.

    Without one, relations join mentions if they have no label, or one that says so (`coref…`,
    `same…`). Where there are no relations, labels may name the entities: see `chain_types`.
    """
    counts: Counter[str] = Counter()
    read = _READERS[kind]
    markups = [m for record in records_of(source) if (m := read(record, counts)) is not None]
    if not markups:
        raise source.error("no record was accepted", expected="records with the answer ‘accept’")
    labels = {label for markup in markups for label, _, _ in markup.relations}
    if layer is not None and layer not in labels:
        raise layer_error(source, f"no relation has the label {excerpt(layer)}", labels, _EXPECTED)
    in_utf16 = _fits_utf16(markups, counts)
    annotations = [_annotate(markup, layer, in_utf16) for markup in markups]
    annotations[0].counts.update(counts)
    return build_corpus(annotations, source, name)


def _fits_utf16(markups: Sequence[_Markup], counts: Counter[str]) -> bool:
    """Whether more of the texts that spans state fit if offsets count UTF-16 units.

    Those that do not fit in the better way are counted.
    """
    misfits = [0, 0]
    for markup in markups:
        units = markup.text.encode("utf-16-le", "surrogatepass")
        for span in markup.spans.values():
            if span.stated is not None:
                characters = markup.text[span.start : span.end]
                wide = units[2 * span.start : 2 * span.end].decode("utf-16-le", "replace")
                misfits[0] += span.stated.split() != characters.split()
                misfits[1] += span.stated.split() != wide.split()
    counts["other-text"] += min(misfits)
    return misfits[1] < misfits[0]


def _annotate(markup: _Markup, layer: str | None, in_utf16: bool) -> AnnotatedDocument:
    """The mentions and entities of a record."""
    tokens = markup.tokens
    document = AnnotatedDocument(
        markup.record,
        markup.identifier,
        text=markup.text,
        words=None if tokens is None else [word for word, _, _ in tokens],
        bounds=[(start, end) for _, start, end in tokens or ()],
        in_utf16=in_utf16,
    )
    for identifier, span in markup.spans.items():
        features = {**span.features, "entity_type": span.label}
        document.add([(span.start, span.end)], None, features, identifier=identifier)
    n_joined = _add_relations(markup, document, layer)
    if not markup.relations:
        document.name_by_types()
    elif not n_joined:
        document.counts["nothing-joined"] += len(markup.spans)
    return document


def _add_relations(markup: _Markup, document: AnnotatedDocument, layer: str | None) -> int:
    """Add relations that join mentions, whose number is returned, and those that do not."""
    n_joined, unclear = 0, []
    for label, *ends in markup.relations:
        first, second = map(document.find, ends)
        if label == layer if layer is not None else _JOINING.fullmatch(label):
            document.join(first, second)
            n_joined += 1
        elif BRIDGES.fullmatch(label):
            document.join(first, second, [label])
        else:
            document.relate(first, second, "", label or "relation")
            unclear.append(label)
    if unclear and not n_joined and layer is None:
        problem = "no relation joins mentions: their labels may not mean identity"
        raise layer_error(markup.record, problem, unclear, _EXPECTED)
    return n_joined
