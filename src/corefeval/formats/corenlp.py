"""CoreNLP's output, JSON and XML: chains of mentions by sentence and token, both from 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate, chain
from typing import Any

from corefeval.diagnostics import excerpt
from corefeval.formats.annotations import AnnotatedDocument, build_corpus
from corefeval.formats.json.records import Record, records_of, show
from corefeval.formats.source import Source
from corefeval.formats.xml import Element, parse_xml
from corefeval.model import Corpus

_KINDS = {"PROPER": "PROP", "NOMINAL": "NOM", "PRONOMINAL": "PRON"}
_PLACES = {"sentence": "sentNum", "start": "startIndex", "end": "endIndex"}
_FIX = "run CoreNLP with the annotator coref"


def read_corenlp(source: Source, *, name: str = "") -> Corpus:
    """Read CoreNLP's JSON or XML; without the output of its annotator `coref`, an InputError."""
    is_xml = source.data[:100].tobytes().lstrip().startswith(b"<")
    documents = _read_xml(source) if is_xml else map(_read_record, records_of(source))
    return build_corpus([_add_mentions(source, *parts) for parts in documents], source, name)


_Document = tuple[str, list[list[str]], dict[str, list[Any]]]  # its id, sentences and chains


def _read_record(record: Record) -> _Document:
    """The document of a JSON object, whose chains may still be anything."""
    sentences, chains = record.value("sentences"), record.values.get("corefs")
    if not isinstance(chains, dict) or not all(isinstance(c, list) for c in chains.values()):
        shown = show(chains) if chains is not None else record.list_keys()
        raise record.error("there are no chains in ‘corefs’", found=shown, fix=_FIX)
    try:
        words = [[str(token["word"]) for token in sentence["tokens"]] for sentence in sentences]
    except (TypeError, KeyError):
        expected = "sentences with tokens, each with its word"
        raise record.error("a sentence has no words", expected=expected) from None
    identifier = record.stated_id() or str(record.values.get("docId") or "")
    return identifier, words, chains


def _read_xml(source: Source) -> Iterable[_Document]:
    for document in parse_xml(source).find_all("document"):
        parts = {child.name: child for child in document.children}
        if "coreference" not in parts or "sentences" not in parts:
            names = f"the elements {', '.join(parts)}"
            raise source.error("there are no chains", document.line, found=names, fix=_FIX)
        sentences = [
            ["".join(word.text for word in token.find_all("word")) for token in tokens]
            for tokens in (s.find_all("token") for s in parts["sentences"].children)
        ]
        chains = {
            str(number): [_mention_values(mention) for mention in entity.children]
            for number, entity in enumerate(parts["coreference"].children, start=1)
        }
        identifier = parts["docId"].text.strip() if "docId" in parts else ""
        yield identifier, sentences, chains


def _mention_values(mention: Element) -> dict[str, object]:
    """What an element says of a mention, as JSON does; `line` is where it stands."""
    texts = {child.name: child.text.strip() for child in mention.children}
    numbers = {
        _PLACES[key]: int(t)
        for key, t in texts.items()
        if key in _PLACES and t.isdecimal() and len(t) < 10
    }
    return {**numbers, "line": mention.line}


def _add_mentions(
    source: Source,
    identifier: str,
    sentences: list[list[str]],
    chains: Mapping[str, Iterable[object]],
) -> AnnotatedDocument:
    """The document with its mentions; one outside of its sentence is an InputError."""
    lengths = list(map(len, sentences))
    offsets = list(accumulate(lengths, initial=0))
    starts = [start for start, n in zip(offsets, lengths, strict=False) if n]
    words = list(chain(*sentences))
    document = AnnotatedDocument(source, identifier or None, words=words, sentence_starts=starts)
    for entity, mention in ((name, m) for name, mentions in chains.items() for m in mentions):
        values = mention if isinstance(mention, dict) else {}
        places = map(values.get, _PLACES.values())
        sentence, start, end = (p if type(p) is int else 0 for p in places)
        length = lengths[sentence - 1] if 0 < sentence <= len(lengths) else 0
        if not 0 < start < end <= length + 1:
            raise source.error(
                f"a mention of chain {excerpt(entity)} is outside of its sentence",
                values.get("line"),
                found=f"sentence {sentence}, tokens {start} up to {end}, of {length} tokens",
                expected=f"a sentence from 1 to {len(lengths)}, tokens from 1, the end exclusive",
                fix="run CoreNLP again",
            )
        features = {k: v for k, v in values.items() if isinstance(v, str) and k != "text"}
        kind = features.pop("type", "")
        features["mention_type"] = _KINDS.get(kind, kind)
        offset = offsets[sentence - 1] - 1
        document.add([(offset + start, offset + end)], entity, features)
    return document
