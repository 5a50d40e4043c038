"""Reading JSON of any kind: from records to a corpus."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

from corefeval.diagnostics import InputError, excerpt, plural
from corefeval.formats import reader_options
from corefeval.formats.annotations import AnnotatedDocument, build_corpus
from corefeval.formats.json.records import (
    BOOK,
    CHARACTERS,
    ID_KEYS,
    KINDS,
    Kind,
    Record,
    kind_of,
    parquet_records,
    records_of,
    show,
    tool_of,
)
from corefeval.formats.losses import ZERO
from corefeval.formats.registry import FORMATS
from corefeval.formats.source import Source, source_of
from corefeval.model import Corpus

Cluster = list[tuple[int, int]]  # spans with the end excluded


def read_json(
    source: Source, *, name: str = "", kind: str = "json", layer: str | None = None
) -> Corpus:
    """Read JSON or JSON lines of a kind; for `json`, the keys of each record tell its kind.

    Only files of annotation tools, which their first record tells, have a `layer` to choose.
    """
    records = records_of(source)
    if kind == "json":
        tool = tool_of(records[0])
        format = tool or FORMATS[kind_of(records[0])]
        options = reader_options(format, source.file, None, layer)
        if tool:
            return tool.read(source, name=name, **options)
    return _read_records(records, source, name=name, kind=kind)


def read_parquet(source: Source, *, name: str = "") -> Corpus:
    """Read Parquet whose rows are records of any kind of JSON, as datasets on hubs have them."""
    return _read_records(parquet_records(source), source, name=name)


def _read_records(
    records: Sequence[Record], source: Source, *, name: str = "", kind: str = "json"
) -> Corpus:
    """The corpus of the records of a file, of one kind or for `json` of any."""
    has_speakers = any("speakers" in record.values for record in records)
    kinds = [KINDS[kind_of(record) if kind == "json" else kind] for record in records]
    pairs = zip(records, kinds, strict=True)
    documents = [_read_document(record, layout, has_speakers) for record, layout in pairs]
    return build_corpus(documents, source, name, first_number=kinds[0].first_number)


def _read_document(record: Record, kind: Kind, has_speakers: bool) -> AnnotatedDocument:
    """The document of a record; with speakers if any document of the file has some."""
    text = record.text("text") if kind.words == "text" else None
    sentences = [] if text is not None else _read_sentences(record, kind.words)
    lengths = [len(text)] if text is not None else list(map(len, sentences))
    starts = accumulate(lengths, initial=0)
    document = AnnotatedDocument(
        record,
        record.stated_id(),
        text=text,
        words=None if text is not None else list(chain(*sentences)),
        sentence_starts=[start for start, n in zip(starts, lengths, strict=False) if n],
        keeps_blanks=True,
    )
    named = _named_clusters(record.values.get(CHARACTERS)) if kind.has_characters else []
    key = next((key for key in kind.clusters if key in record.values), None)
    if key is None and named:
        key, value = CHARACTERS, [cluster for _, cluster in named]
    else:
        key, value = key or kind.clusters[0], record.value(*kind.clusters)
    clusters = _read_clusters(record, value, key, kind, lengths)
    document.counts["other-clusters"] += sum(key in record.values for key in kind.clusters) > 1
    document.names = {number: str(number) for number in range(len(clusters))}
    if kind.has_characters:
        _name_entities(document, record, clusters, named)
    if kind.has_zeros:
        zeros = ["1" if word.startswith(ZERO) else "" for word in chain(*sentences)]
        document.columns = {"empty": zeros}
    elif kind.has_speakers and has_speakers:
        speakers = _read_speakers(record.values.get("speakers"), sentences)
        document.counts["unread-speakers"] += speakers is None and "speakers" in record.values
        document.columns = {"speaker": speakers or [""] * sum(lengths)}
    for number, cluster in enumerate(clusters):
        for span in cluster:
            document.add([span], number)
    return document


def _name_entities(
    document: AnnotatedDocument,
    record: Record,
    clusters: list[Cluster],
    named: list[tuple[str, Any]],
) -> None:
    """Name clusters after the characters, and keep those that name none as metadata."""
    names, unplaced = _character_names(clusters, record.values.get(CHARACTERS), named)
    document.names |= {number: name for number, name in enumerate(names) if name is not None}
    if unplaced:
        document.metadata[CHARACTERS] = json.dumps(unplaced, ensure_ascii=False)
        document.counts["unplaced-characters"] += 1
    if isinstance(record.values.get(BOOK), str | int):
        document.metadata[BOOK] = str(record.values[BOOK])


def _read_sentences(record: Record, key: str) -> list[list[str]]:
    """The sentences of a document, each a list of words; `tokens` may be one flat list."""
    value = record.value(key)
    if not isinstance(value, list):
        raise _word_error(record, key, show(value))
    has_sentences = value and all(isinstance(element, list) for element in value)
    is_flat = key in ("tokens", "document") and not has_sentences
    sentences = [value] if is_flat else value
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, list):
            raise _word_error(record, key, f"{show(sentence)} as sentence {number}")
        for position, word in enumerate(sentence):
            if not isinstance(word, str):
                place = f"word {position}" + ("" if is_flat else f" of sentence {number}")
                raise _word_error(record, key, f"{show(word)} as {place}")
    return sentences


def _word_error(record: Record, key: str, found: str) -> InputError:
    flat = ", or a list of words" if key in ("tokens", "document") else ""
    return record.error(
        f"‘{key}’ does not hold words",
        found=found,
        expected=f"a list of sentences, each a list of words (strings){flat}",
    )


def _read_speakers(value: Any, sentences: list[list[str]]) -> list[str] | None:
    """A speaker for each token, from lists per sentence, a name per sentence, or one per token.

    None where the value has another shape.
    """
    n_tokens = sum(map(len, sentences))
    if _are_strings(value) and len(value) == n_tokens:
        return list(value)
    if not isinstance(value, list) or len(value) != len(sentences):
        return None
    speakers: list[str] = []
    for speaker, sentence in zip(value, sentences, strict=True):
        names = [speaker] * len(sentence) if isinstance(speaker, str) else speaker
        if not _are_strings(names) or len(names) != len(sentence):
            return None
        speakers += names
    return speakers


def _are_strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _read_clusters(
    record: Record, value: Any, key: str, kind: Kind, lengths: Sequence[int]
) -> list[Cluster]:
    """Clusters of spans in the document, the end excluded; `lengths` are those of sentences."""
    if not isinstance(value, list):
        expected = "a list of clusters of mentions"
        raise record.error(f"‘{key}’ is not a list", found=show(value), expected=expected)
    starts = list(accumulate(lengths, initial=0))
    clusters = []
    for number, mentions in enumerate(value):
        place = f"cluster {number} of ‘{key}’"
        if not isinstance(mentions, list):
            expected = "a list of mentions"
            raise record.error(f"{place} is not a list", found=show(mentions), expected=expected)
        cluster = []
        for mention in mentions:
            span = _read_span(mention, kind, starts)
            if span is None:
                raise _span_error(record, place, mention, kind, lengths)
            cluster.append(span)
        clusters.append(cluster)
    return clusters


def _read_span(mention: Any, kind: Kind, starts: list[int]) -> tuple[int, int] | None:
    """The span of a mention in the document, the end excluded; None where it is none."""
    if not _are_offsets(mention, kind):
        return None
    first, limit = 0, starts[-1]
    if kind.by_sentence:
        if not 0 <= mention[0] < len(starts) - 1:
            return None
        first, limit = starts[mention[0]], starts[mention[0] + 1]
    start, end = first + mention[-2], first + mention[-1] + kind.inclusive
    return (start, end) if first <= start < end <= limit else None


def _are_offsets(mention: Any, kind: Kind) -> bool:
    """Whether a mention has as many whole numbers as its kind; `True` is an int, but no offset."""
    return type(mention) is list and [*map(type, mention)] == [int] * (2 + kind.by_sentence)


def _span_error(
    record: Record, place: str, mention: Any, kind: Kind, lengths: Sequence[int]
) -> InputError:
    """The error of a mention that is no span of its document or sentence."""
    form, container, size = "[start, end]", "text", sum(lengths)
    unit = "character" if kind.words == "text" else "token"
    if kind.by_sentence:
        form, size, unit = "[sentence, start, end]", len(lengths), "sentence"
        if _are_offsets(mention, kind) and 0 <= mention[0] < len(lengths):
            container, size, unit = "sentence", lengths[mention[0]], "token"
    relation, ends = ("≤", "inclusive") if kind.inclusive else ("<", "exclusive")
    return record.error(
        f"a mention in {place} is no span of the document",
        found=show(mention),
        expected=f"{form} with 0 ≤ start {relation} end, in a {container} of {plural(size, unit)}",
        fix=f"ends are {ends} here, and positions are counted from 0",
    )


def _named_clusters(characters: Any) -> list[tuple[str, Any]]:
    """Names of characters with their clusters; nothing where they come in another shape."""
    if not isinstance(characters, list):
        return []
    fitting = all(
        isinstance(character, dict)
        and isinstance(character.get("name"), str)
        and isinstance(character.get("cluster"), list)
        for character in characters
    )
    return [(character["name"], character["cluster"]) for character in characters if fitting]


def _character_names(
    clusters: list[Cluster], characters: Any, named: list[tuple[str, Any]]
) -> tuple[list[str | None], Any]:
    """The name of each cluster, None where it has none, and the characters that name no cluster."""
    if _are_strings(characters) and len(characters) == len(clusters):
        return list(characters), None
    names: list[str | None] = [None] * len(clusters)
    if not named:
        return names, characters
    numbers = defaultdict(list)
    for number, cluster in reversed(list(enumerate(clusters))):
        numbers[frozenset(cluster)].append(number)
    unplaced = []
    for name, cluster in named:
        candidates = numbers.get(_spans(cluster))
        if candidates:
            names[candidates.pop()] = name
        else:
            unplaced.append({"name": name, "cluster": cluster})
    return names, unplaced


def _spans(cluster: Any) -> frozenset[tuple[int, int]]:
    """The spans of a character's cluster, the end excluded; none where they are not spans."""
    try:
        return frozenset((start, end + 1) for start, end in cluster)
    except (TypeError, ValueError):
        return frozenset()


def is_record(value: object) -> bool:
    """Whether there are words and clusters, or those of CoreNLP."""
    return isinstance(value, Mapping) and any(
        words in value and any(key in value for key in clusters)
        for words, clusters in (*(kind[1:3] for kind in KINDS.values()), ("sentences", ["corefs"]))
    )


def record_ids(record: Any) -> list[object]:
    """`doc_key`, `doc_id`, `id`, or CoreNLP's `docId`."""
    return [record.get(key) for key in (*ID_KEYS, "docId")]


def read_loaded(documents: Sequence[tuple[str, Any]], name: str) -> Corpus:
    """The corpus of records that are in memory, with the ids of their documents.

    Arrays and numbers may be numpy's. What else JSON cannot hold is an InputError.

    >>> record = {"sentences": [["Ada", "met", "her"]], "clusters": [[(0, 0), (2, 2)]]}
    >>> read_loaded([("essay", record)], "response").n_mentions
    2
    """
    records = [{**record, "doc_key": identifier} for identifier, record in documents]
    try:
        text = json.dumps(records, default=lambda value: value.tolist())
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "a record has values that JSON cannot hold",
            file=name or None,
            found=excerpt(str(error)),
            expected="strings, numbers, lists and objects",
        ) from None
    return read_json(source_of(text, name), name=name)
