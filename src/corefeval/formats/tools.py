"""The formats of annotation tools and pipelines: declared, and recognised by their content."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from corefeval.formats.declarations import Format

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


@lru_cache(maxsize=8)
def keys_of(head: bytes) -> frozenset[str]:
    """All keys in the first bytes of a JSON file, at any depth; none where this is no JSON."""
    if head.lstrip()[:1] not in (b"{", b"["):
        return frozenset()
    return frozenset(key.decode() for key in _KEY.findall(head))


def has_keys(format: Format, keys: Collection[str]) -> bool:
    """Whether JSON with these keys may be in a format: one of each choice, and none that is absent.

    Choices are such as `data annotations|completions`.
    """
    choices = [choice.split("|") for choice in format.keys.split()]
    is_absent = not any(key in keys for key in format.absent.split())
    return bool(choices) and is_absent and all(any(k in keys for k in c) for c in choices)


def recognises(format: Format, head: bytes) -> bool:
    """Whether the first bytes of a file show that it is in a format."""
    if format.looks_like is not None and format.looks_like(head):
        return True
    fits = root_of(head) in format.roots.split() or has_keys(format, keys_of(head))
    is_plain = bool(format.sign) and not format.roots and not format.keys
    return (fits or is_plain) and re.search(format.sign, head) is not None


def _is_sacr(head: bytes) -> bool:
    """Whether there is a mention in braces, with an attribute, and this is no JSON."""
    is_json = re.match(rb'\s*(\{|\[\s*\{)\s*"', head)
    return is_json is None and re.search(rb'\{[^\s{}:"]+:\w+="', head) is not None


def _declare_spans(name: str, summary: str, keys: str, sign: bytes = b"") -> Format:
    """A format of JSON with spans and relations, of which all have one reader."""
    return Format(
        name,
        summary,
        "spans:read_spans",
        sign=sign,
        keys=keys,
        kind=name,
        takes_layer=True,
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
    ),
    Format(
        "xmi",
        "UIMA CAS as XMI: INCEpTION, DKPro, CorefAnnotator (.xmi, .ca2)",
        "cas:read_xmi",
        roots="XMI",
        takes_layer=True,
    ),
    Format(
        "cas-json",
        "UIMA CAS as JSON",
        "cas:read_cas_json",
        keys="%FEATURE_STRUCTURES|%TYPES|%VIEWS",
        absent="",
        takes_layer=True,
    ),
    Format(
        "tei",
        "TEI P5 with rs, name, persName and the like",
        "tei:read_tei",
        roots="TEI TEI.2 teiCorpus #root",
        takes_layer=True,
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
    Format(
        "mmax",
        "MMAX2: a .mmax with its words and levels, or its words",
        "mmax:read_mmax",
        sign=rb"<mmax_project|<word[\s>]",
        roots="mmax_project words",
        title="MMAX2",
        takes_layer=True,
        in_archives=False,
    ),
    Format(
        "ecb",
        "ECB+'s XML",
        "ecb:read_ecb",
        sign=rb"<token [^>]*\bt_id=",
        roots="Document",
        takes_layer=True,
    ),
    Format(
        "corenlp",
        "CoreNLP's JSON or XML",
        "corenlp:read_corenlp",
        sign=rb'<document\b|"sentences"',
        roots="root",
        keys="sentences corefs|characterOffsetBegin",  # corefs may come very late
    ),
    _declare_spans(
        "label-studio",
        "Label Studio's JSON export: spans and relations on characters",
        "annotations|completions|predictions data|result",
        # Answers of models have lists of annotations, too, but their choices differ.
        rb'\A(?!(?s:.*)("choices"\s*:\s*\[\s*\{|"output_text"))'
        rb'(?=(?s:.*)"(annotations|completions|predictions)"\s*:\s*\[)'
        rb'(?=(?s:.*)("result"\s*:\s*\[|"data"\s*:\s*\{))',
    ),
    _declare_spans(
        "doccano",
        "doccano's JSON lines: text, entities, relations",
        "text entities relations",
    ),
    _declare_spans(
        "prodigy",
        "Prodigy's JSON lines: text, spans, relations",
        "text spans|ws relations|ws",
    ),
    Format(
        "allennlp",
        "AllenNLP's predictions: document, clusters (inclusive token offsets)",
        "json.reader:read_json",
        keys="document clusters",
        absent="sentences tokens text",
        kind="allennlp",
    ),
    Format(
        "sacr",
        'SACR\'s text with braces: {Ada:type="PER" Ada} met {Bob:type="PER" him}',
        "sacr:read_sacr",
        looks_like=_is_sacr,
    ),
)
