"""Which formats there are, and how to tell them apart by their content.

Only what detection needs is here; readers and writers are imported when a file asks for them.
"""

from __future__ import annotations

import importlib
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
    `Source` (and `name=`) to a `Corpus`, the writer one from a `Corpus` to `Written`.
    """

    name: str
    summary: str
    looks_like: Callable[[bytes], bool]
    reader: str
    writer: str

    @property
    def has_columns(self) -> bool:
        """Whether the reader can be told which column is the words (`word_column=`)."""
        return self.name == "conll"


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
    ),
)

FORMATS = {
    name: Format(
        name, summary, looks_like, f"corefeval.formats.{reader}", f"corefeval.formats.{writer}"
    )
    for name, summary, looks_like, reader, writer in _DECLARED
}


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
