"""Which formats there are, and how to tell them apart by their content.

Only what detection needs is here; readers and writers are imported when a file asks for them.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from corefeval.diagnostics import InputError, Notice, UsageError, excerpt
from corefeval.formats import detection


class UnknownFormatError(InputError):
    """A file whose format nobody recognises."""


HEAD = 1 << 16  # so many bytes are looked at to tell the format


@dataclass(frozen=True, slots=True)
class Written:
    """What a writer made: the content of files by name, and what the format could not carry.

    A format of one file uses the empty name, which stands for the target itself; a format with
    files for each document names them, and the target is their folder.
    """

    files: dict[str, bytes]
    notices: tuple[Notice, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: its name, how to recognise it, and where its reader and writer are.

    `looks_like` sees the first bytes of a file. The reader is a function from a
    `Source` (and `name=`) to a `Corpus`, the writer one from a `Corpus` to `Written`. A file whose
    name ends in one of `endings` is written in this format where none is named.
    """

    name: str
    summary: str
    looks_like: Callable[[bytes], bool]
    reader: str
    writer: str
    endings: tuple[str, ...] = ()


# The order is the order in which formats are tried: those that are recognised for sure come first.
# `json` reads any kind of JSON by its keys; the kinds have names of their own to be insisted on,
# and to be written.
_DECLARED = (
    (
        "corefud",
        "CorefUD CoNLL-U: ten columns, coreference in MISC as Entity=…",
        detection.is_conllu,
        "conllu.reader:read_conllu",
        "conllu.writer:write_conllu",
        (".conllu",),
    ),
    (
        "json",
        "JSON or JSON lines of any of the kinds below, told by its keys",
        detection.is_json,
        "json.records:read_json",
        "json.e2e:write_e2e",
    ),
    (
        "e2e",
        "JSON lines with doc_key, sentences, clusters (inclusive token offsets)",
        detection.never,
        "json.e2e:read_e2e",
        "json.e2e:write_e2e",
        (".json", ".jsonl", ".jsonlines"),
    ),
    (
        "bookcoref",
        "BookCoref's JSON: doc_id, sentences, clusters, characters",
        detection.never,
        "json.bookcoref:read_bookcoref",
        "json.bookcoref:write_bookcoref",
    ),
    (
        "preco",
        "PreCo's JSON: id, sentences, mention_clusters as sentence, begin, end (exclusive)",
        detection.never,
        "json.preco:read_preco",
        "json.preco:write_preco",
    ),
    (
        "crac-json",
        "CRAC's JSON: doc_id, tokens, clusters_token_offsets (inclusive), ## for zeros",
        detection.never,
        "json.crac:read_crac",
        "json.crac:write_crac",
    ),
    (
        "maverick",
        "Maverick's dictionaries: tokens, clusters_token_offsets (inclusive)",
        detection.never,
        "json.maverick:read_maverick",
        "json.maverick:write_maverick",
    ),
    (
        "fastcoref",
        "fastcoref's JSON: text, clusters as character spans (half-open)",
        detection.never,
        "json.fastcoref:read_fastcoref",
        "json.fastcoref:write_fastcoref",
    ),
    (
        "litbank",
        "LitBank's TSV: MENTION and COREF lines, with the text beside it",
        detection.is_litbank,
        "litbank:read_litbank",
        "litbank:write_litbank",
    ),
    (
        "brat",
        "brat standoff: T, R Coreference and * Equiv lines, with the text beside it",
        detection.is_brat,
        "brat:read_brat",
        "brat:write_brat",
        (".ann",),
    ),
    (
        "crac-text",
        "CRAC's plain text: words with |[e1, |e1] or |[e1] behind them",
        detection.is_crac_text,
        "crac_text:read_crac_text",
        "crac_text:write_crac_text",
    ),
    (
        "conll",
        "CoNLL-2011/2012: a token per line, coreference as brackets in the last column",
        detection.is_conll,
        "conll.reader:read_conll",
        "conll.writer:write_conll",
        (".conll", "_conll"),
    ),
)

FORMATS = {
    name: Format(
        name,
        summary,
        looks_like,
        f"corefeval.formats.{reader}",
        f"corefeval.formats.{writer}",
        *endings,
    )
    for name, summary, looks_like, reader, writer, *endings in _DECLARED
}


def format_for(name: str) -> Format:
    """The format that a file of this name is written in; a UsageError where it does not say.

    >>> format_for("out/key.jsonl.gz").name, format_for("train.v4_gold_conll").name
    ('e2e', 'conll')
    """
    plain = os.path.basename(name).removesuffix(".gz").lower()
    for one in FORMATS.values():
        if plain.endswith(one.endings):
            return one
    if not os.path.splitext(plain)[1]:
        return FORMATS["conll"]
    known = (f"{', '.join(one.endings)} ({one.name})" for one in FORMATS.values() if one.endings)
    raise UsageError(
        f"{name} does not say in which format to write: name it with format=…, one of "
        f"{', '.join(FORMATS)}; or end it in {', '.join(known)}"
    )


def named(name: str) -> Format:
    """The format of a name."""
    if not isinstance(name, str) or name not in FORMATS:
        raise UsageError(f"there is no format {name!r}: there are {', '.join(FORMATS)}")
    return FORMATS[name]


def detected(head: bytes, file: str) -> Format:
    """The format that a file seems to have."""
    for candidate in FORMATS.values():
        if candidate.looks_like(head):
            return candidate
    first = head.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    raise UnknownFormatError(
        "this is no format that corefeval knows",
        file=file,
        line=1,
        found=excerpt(first),
        expected="; ".join(f"{known.name} ({known.summary})" for known in FORMATS.values()),
        fix="convert the file to one of these, or name its format if you know better",
    )


def load(path: str) -> Callable[..., Any]:
    """The function behind `module:function`."""
    module, _, function = path.partition(":")
    loaded: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return loaded
