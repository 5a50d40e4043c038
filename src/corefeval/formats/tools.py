"""The formats of annotation tools and pipelines: declared, and recognised by their content."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from corefeval.formats.declarations import Format, Tally

_ROOT = re.compile(
    rb"\A\s*(?>(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)\s*)*"
    rb"<(?:[\w.-]+:)?([\w.#-]+)",
    re.DOTALL,
)
_KEY = re.compile(rb'"([\w%-]+)"\s*:')


@lru_cache(maxsize=8)
def root_of(head: bytes) -> str:
    """The name of the first element in the first bytes of a file; "" where this is no XML.

    Declarations, comments, processing instructions and a document type may stand before it.

    >>> root_of(b'<?xml version="1.0"?><!-- a play --><tei:TEI xmlns:tei="x">'), root_of(b"a < b")
    ('TEI', '')
    """
    root = _ROOT.match(head) if head.lstrip()[:1] == b"<" else None
    return root[1].decode(errors="replace") if root else ""


def _has_root(names: str, inside: bytes, head: bytes) -> bool:
    """Whether the root of an XML file is one of the `names`, with a pattern `inside` the head."""
    return root_of(head) in names.split() and re.search(inside, head) is not None


@lru_cache(maxsize=8)
def keys_of(head: bytes) -> frozenset[str]:
    """All keys in the first bytes of a JSON file, at any depth; none where this is no JSON."""
    if head.lstrip()[:1] not in (b"{", b"["):
        return frozenset()
    return frozenset(key.decode() for key in _KEY.findall(head))


def _has_keys(needed: str, absent: str, head: bytes) -> bool:
    """Whether JSON has a key of each choice `needed`, such as `data|result`, and none `absent`."""
    keys = keys_of(head)
    choices = (choice.split("|") for choice in needed.split())
    return keys.isdisjoint(absent.split()) and not any(map(keys.isdisjoint, choices))


def _is_corenlp(head: bytes) -> bool:
    """Whether this is CoreNLP's XML or JSON, in which `corefs` may come very late."""
    is_json = _has_keys("sentences corefs|characterOffsetBegin", "clusters", head)
    return is_json or _has_root("root", rb"<document\b", head)


def _is_label_studio(head: bytes) -> bool:
    """Whether tasks have lists of annotations; so have answers of models, whose choices differ."""
    lists = rb'"(annotations|completions|predictions)"\s*:\s*\['
    contents = rb'"result"\s*:\s*\[|"data"\s*:\s*\{'
    is_answer = re.search(rb'"choices"\s*:\s*\[\s*\{|"output_text"', head)
    is_json = _has_keys("annotations|completions|predictions data|result", "clusters", head)
    return is_json and not is_answer and all(re.search(sign, head) for sign in (lists, contents))


def _is_sacr(head: bytes) -> bool:
    """Whether there is a mention in braces, with an attribute, and this is no JSON."""
    is_json = re.match(rb'\s*(\{|\[\s*\{)\s*"', head)
    return is_json is None and re.search(rb'\{[^\s{}:"]+:\w+="', head) is not None


def _declare_xml(
    name: str, summary: str, reader: str, names: str, inside: bytes = b"", **details: Any
) -> Format:
    """A format of XML files whose root is one of the `names`, and which have layers."""
    sign = partial(_has_root, names, inside)
    return Format(name, summary, reader, looks_like=sign, title=name, takes_layer=True, **details)


def _declare_spans(name: str, summary: str, looks_like: Callable[[bytes], bool]) -> Format:
    """A format of JSON with spans and relations, of which all have one reader."""
    reader = "spans:read_spans"
    return Format(
        name, summary, reader, looks_like=looks_like, kind=name, title=name, takes_layer=True
    )


# In the order in which they are tried.
TOOLS = (
    Format(
        "webanno",
        "WebAnno TSV 3 of WebAnno, INCEpTION and GUM",
        "webanno:read_webanno",
        "webanno:write_webanno",
        sign=rb"\A\s*#FORMAT=WebAnno TSV",
        title="WebAnno TSV",
        takes_layer=True,
        endings=(".tsv",),
        losses=(
            Tally("discontinuous-mentions", "mention", "with gaps, written as one span"),
            Tally("changed-words", "word", "with tabs or line ends, or without text"),
            Tally("entity-names", "entity", "numbered, because chains have no names"),
            Tally("document-names", "document", "whose id cannot be a file name as it is"),
        ),
    ),
    _declare_xml(
        "xmi",
        "UIMA CAS as XMI: INCEpTION, DKPro, CorefAnnotator (.xmi, .ca2)",
        "cas:read_xmi",
        "XMI",
    ),
    Format(
        "cas-json",
        "UIMA CAS as JSON",
        "cas:read_cas_json",
        looks_like=partial(_has_keys, "%FEATURE_STRUCTURES|%TYPES|%VIEWS", ""),
        title="CAS JSON",
        takes_layer=True,
    ),
    _declare_xml(
        "tei",
        "TEI P5 with rs, name, persName and the like",
        "tei:read_tei",
        "TEI TEI.2 teiCorpus #root",
    ),
    Format(
        "booknlp",
        "BookNLP's .entities with .tokens beside it",
        "booknlp:read_booknlp",
        sign=rb"\A(COREF\tstart_token\tend_token|paragraph_ID\tsentence_ID\t.*token_ID_within_doc)",
        title="BookNLP",
        endings=(".entities",),
        companions=(".tokens", ".book", ".book.html", ".quotes", ".supersense", ".txt"),
        in_archives=False,
    ),
    _declare_xml(
        "mmax",
        "MMAX2: a .mmax with its words and levels, or its words",
        "mmax:read_mmax",
        "mmax_project words",
        rb"<mmax_project|<word[\s>]",
        in_archives=False,
    ),
    _declare_xml("ecb", "ECB+'s XML", "ecb:read_ecb", "Document", rb"<token [^>]*\bt_id="),
    Format(
        "corenlp",
        "CoreNLP's JSON or XML",
        "corenlp:read_corenlp",
        looks_like=_is_corenlp,
        title="CoreNLP",
    ),
    _declare_spans(
        "label-studio",
        "Label Studio's JSON export: spans and relations on characters",
        _is_label_studio,
    ),
    _declare_spans(
        "doccano",
        "doccano's JSON lines: text, entities, relations",
        partial(_has_keys, "text entities relations", "clusters"),
    ),
    _declare_spans(
        "prodigy",
        "Prodigy's JSON lines: text, spans, relations",
        partial(_has_keys, "text spans|ws relations|ws", "clusters"),
    ),
    Format(
        "allennlp",
        "AllenNLP's predictions: document, clusters (inclusive token offsets)",
        "json.reader:read_json",
        looks_like=partial(_has_keys, "document clusters", "sentences tokens text"),
        kind="allennlp",
        title="JSON",
    ),
    Format(
        "sacr",
        'SACR\'s text with braces: {Ada:type="PER" Ada} met {Bob:type="PER" him}',
        "sacr:read_sacr",
        looks_like=_is_sacr,
        title="SACR",
    ),
)
