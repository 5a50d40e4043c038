"""Which formats there are, and how to tell them apart by their content.

Only what detection needs is here; readers and writers are imported when a file asks for them.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from corefeval.diagnostics import InputError, Notice, UsageError, excerpt


class UnknownFormatError(InputError):
    """A file whose format nobody recognises."""


HEAD = 1 << 16  # so many bytes are looked at to tell the format


class Written(NamedTuple):
    """What a writer made: the content of files by name, and what the format could not carry.

    A format of one file uses the empty name, which stands for the target itself; a format with
    files for each document names them, and the target is their folder.
    """

    files: dict[str, bytes]
    notices: tuple[Notice, ...] = ()


class Format(NamedTuple):
    """A file format: its name, how to recognise it, and where its reader and writer are.

    `looks_like` sees the first bytes of a file. The reader is a function from a
    `Source` (and `name=`) to a `Corpus`, the writer one from a `Corpus` to `Written`. A file whose
    name ends in one of `endings` is written in this format where none is named.

    A format that `needs_key` is read against the key's tokens: its reader takes `key=`, a corpus,
    and a path or what else has answers in the place of a `Source`. It is not written.
    """

    name: str
    summary: str
    looks_like: Callable[[bytes], bool]
    reader: str
    writer: str
    endings: tuple[str, ...] = ()
    needs_key: bool = False

    @property
    def companions(self) -> tuple[str, ...]:
        """The endings of files of the same name that the reader opens as well."""
        return (".txt",) if self.name in ("brat", "litbank") else ()

    @property
    def has_layers(self) -> bool:
        """Whether discourse deixis and mentions that refer to nothing can be written."""
        return self.name in ("conllua", "parquet")

    @property
    def has_columns(self) -> bool:
        """Whether the reader can be told which column is the words (`word_column=`)."""
        return self.name == "conll"


def _has_document_line(head: bytes) -> bool:
    return re.search(rb"(?im)^#\s*begin\s+document\b", head) is not None


def is_conll(head: bytes) -> bool:
    """A document line, or a last column of brackets and dashes."""
    if _has_document_line(head):
        return True
    lines = [line.split() for line in head.splitlines()[:200] if line.strip()]
    cells = [line[-1] for line in lines if len(line) > 1]
    marks = [cell for cell in cells if cell in (b"-", b"_") or b"(" in cell or b")" in cell]
    return bool(marks) and len(marks) > 0.8 * len(lines)


def is_conllu(head: bytes) -> bool:
    """Ten columns, numbered from 1 in each sentence, or the comments that only CoNLL-U has."""
    if _has_document_line(head):
        return False
    if re.search(rb"(?m)^# (global\.Entity|sent_id) ?=", head):
        return True
    rows = [line for line in head.splitlines()[:200] if re.match(rb"\d+([-.]\d+)?\t", line)]
    return bool(rows) and all(row.count(b"\t") == 9 for row in rows[:-1] or rows)


def is_conllua(head: bytes) -> bool:
    """A line that names columns of Universal Anaphora, or brackets with its attributes."""
    if b"ID=" not in head and b"Id=" not in head and b"global.columns" not in head:
        return False  # told at once, as every file is looked at
    columns = rb"(?m)^#\s*global\.columns\s*=.*\b(IDENTITY|BRIDGING|DISCOURSE_DEIXIS)\b"
    cells = rb"(?mi)^\d+(\.\d+)?[ \t].*[ \t]\)*\((Entity|Markable)_?ID="
    return re.search(columns, head) is not None or re.search(cells, head) is not None


def is_json(head: bytes) -> bool:
    """An object, or a list of objects."""
    return re.match(rb'\s*(\[\s*)?\{\s*("|\})|\s*\[\s*\]', head) is not None


def is_crac_text(head: bytes) -> bool:
    """Words with `|[e1`, `|e1]` or `|[e1]` behind them, or documents in lines without mentions."""
    mark = rb"(?<=\S)\|(\[[^\s\[\],|]+\]?|[^\s\[\],|]+\])(,\S+)?(?=\s|$)"
    return re.search(mark, head) is not None or _is_plain_text(head)


def _is_plain_text(head: bytes) -> bool:
    """Lines that name documents, as CoNLL-U has them, and lines of words between them."""
    lines = [line for line in head.splitlines() if line.strip()]
    heads = [line.startswith(b"# newdoc id =") for line in lines]
    return bool(heads) and heads[0] and not any(b"\t" in line for line in lines)


def is_litbank(head: bytes) -> bool:
    """Lines of MENTION and COREF, tab-separated."""
    return re.search(rb"(?m)^(MENTION\t[^\t\n]+(\t\d+){4}\t|COREF\t[^\t\n]+\t)", head) is not None


def is_brat(head: bytes) -> bool:
    """Text-bound annotations, or an equivalence of them."""
    return re.search(rb"(?m)^(T\S*\t\S+ \d+ \d+[\t; ]|\*\tEquiv )", head) is not None


def is_answers(head: bytes) -> bool:
    """A record with an answer of a language model, and nothing of a corpus."""
    line = head.lstrip().split(b"\n", 1)[0]
    answer = rb'"(answer|output|response|completion|prediction|generated_text|generation|choices|'
    answer += rb'candidates|message|result|content)"\s*:'
    corpus = rb'"(sentences|tokens|clusters|mention_clusters|clusters_token_offsets)"\s*:'
    start = re.match(rb'\s*(\[\s*)?\{\s*"', head) is not None
    return start and re.search(answer, line) is not None and re.search(corpus, line) is None


def is_parquet(head: bytes) -> bool:
    """The four bytes that such files begin with."""
    return head.startswith(b"PAR1")


def never(head: bytes) -> bool:
    """For formats that are never guessed, only named."""
    return False


# The order is the order in which formats are tried: those that are recognised for sure come first.
# `json` reads any kind of JSON by its keys; the kinds have names of their own to be insisted on,
# and to be written.
_DECLARED = (
    (
        "parquet",
        "Parquet: a row per document with lists of mentions and tokens, or a row per mention",
        is_parquet,
        "parquet.reader:read_parquet",
        "parquet.writer:write_parquet",
        (".parquet",),
    ),
    (
        "conllua",
        "Universal Anaphora's CoNLL-U Plus: columns IDENTITY, BRIDGING, DISCOURSE_DEIXIS",
        is_conllua,
        "conllua.reader:read_conllua",
        "conllua.writer:write_conllua",
        (".conllua",),
    ),
    (
        "corefud",
        "CorefUD CoNLL-U: ten columns, coreference in MISC as Entity=…",
        is_conllu,
        "conllu.reader:read_conllu",
        "conllu.writer:write_conllu",
        (".conllu",),
    ),
    (
        "json",
        "JSON or JSON lines of any of the kinds below, recognised by its keys",
        is_json,
        "json.kinds:read_json",
        "json.token_lists:write_e2e",
    ),
    (
        "e2e",
        "JSON lines with doc_key, sentences, clusters (inclusive token offsets)",
        never,
        "json.token_lists:read_e2e",
        "json.token_lists:write_e2e",
        (".json", ".jsonl", ".jsonlines"),
    ),
    (
        "bookcoref",
        "BookCoref's JSON: doc_id, sentences, clusters, characters",
        never,
        "json.kinds:read_bookcoref",
        "json.kinds:write_bookcoref",
    ),
    (
        "preco",
        "PreCo's JSON: id, sentences, mention_clusters as sentence, begin, end (exclusive)",
        never,
        "json.token_lists:read_preco",
        "json.token_lists:write_preco",
    ),
    (
        "crac-json",
        "CRAC's JSON: doc_id, tokens, clusters_token_offsets (inclusive), ## for zeros",
        never,
        "json.token_lists:read_crac",
        "json.token_lists:write_crac",
    ),
    (
        "maverick",
        "Maverick's dictionaries: tokens, clusters_token_offsets (inclusive)",
        never,
        "json.token_lists:read_maverick",
        "json.token_lists:write_maverick",
    ),
    (
        "fastcoref",
        "fastcoref's JSON: text, clusters as character spans (half-open)",
        never,
        "json.kinds:read_fastcoref",
        "json.kinds:write_fastcoref",
    ),
    (
        "litbank",
        "LitBank's TSV: MENTION and COREF lines, with the text beside it",
        is_litbank,
        "litbank:read_litbank",
        "litbank:write_litbank",
    ),
    (
        "brat",
        "brat standoff: T, R Coreference and * Equiv lines, with the text beside it",
        is_brat,
        "brat:read_brat",
        "brat:write_brat",
        (".ann",),
    ),
    (
        "crac-text",
        "CRAC's plain text: words followed by |[e1, |e1] or |[e1]",
        is_crac_text,
        "crac_text:read_crac_text",
        "crac_text:write_crac_text",
    ),
    (
        "conll",
        "CoNLL-2011/2012: a token per line, coreference as brackets in the last column",
        is_conll,
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

# How language models write coreference; `llm` finds out which of them it is.
_ANSWERS = {
    "llm": "answers of language models in any of the styles below, read against a key",
    "llm-crac": "CRAC's marks after words, repaired: `Ada|[e1] met`",
    "llm-bracket": "brackets that open with the entity: `[e1 Ada]`, `[1 Ada]`",
    "llm-markdown": "links: `[Ada](#cluster_1)`",
    "llm-xml": 'XML-like tags: `<m id="1">Ada</m>`, `<e1>Ada</e1>`, MUC\'s COREF',
    "llm-subscript": "subscripts: `[Ada]_1`",
    "llm-hash": "hashes: `[Ada]#1`",
    "llm-colon": "numbers after colons: `[Ada: 1]`",
    "llm-seq2seq": "Seq2seqCoref's: `<m> Ada | 1 </m>`",
    "llm-mask": "CorefInst's: `<m>Ada</m>#1`",
    "llm-curly": "braces: `{{Ada|1}}`",
    "llm-tanl": "TANL's, linked by words: `[ she | Ada ]`",
    "llm-link-append": "link-append's links with the words after mentions",
    "llm-qa": "questions and answers: `*It* refers to [the park]`",
    "llm-json": "JSON of clusters, of strings or objects, broken or not",
    "llm-lines": 'a line for each entity: `Entity 1: "Ada"; "she"`',
}
ANSWERS = {
    name: Format(
        name,
        summary,
        is_answers if name == "llm" else never,
        "corefeval.formats.answers.reading:read_answers",
        "",
        needs_key=True,
    )
    for name, summary in _ANSWERS.items()
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
        f"{name} does not show which format to write: end it in {', '.join(known)}\n"
        f"  or name it with format=… / --to: {', '.join(FORMATS)}"
    )


def find_format(name: str) -> Format:
    """The format of a name."""
    known = FORMATS | ANSWERS
    if not isinstance(name, str) or name not in known:
        raise UsageError(_unknown(name))
    return known[name]


def _unknown(name: object) -> str:
    """What is said of a name that no format has: the one that may be meant, and all on a line."""
    import difflib

    endings = {end.lstrip("._"): one.name for one in FORMATS.values() for end in one.endings}
    text = str(name).lower().lstrip("._")
    known = [*FORMATS, *ANSWERS]
    close = difflib.get_close_matches(text, known, n=1)
    meant = endings.get(text) or next(iter(close), None)
    hint = f": did you mean {meant!r}?" if meant else ""
    return f"there is no format {name!r:.60}{hint}\n  there are: {', '.join(known)}"


def detect_format(head: bytes, file: str) -> Format:
    """The format that a file seems to have."""
    if head.startswith(b'{"corefeval_results":'):
        raise UnknownFormatError(
            "these are saved results, not documents",
            file=file,
            fix="name the files that were scored; score, compare and explain --results take "
            "saved results",
        )
    for candidate in (ANSWERS["llm"], *FORMATS.values()):  # which is JSON, too
        if candidate.looks_like(head):
            return candidate
    if not head.strip():
        raise UnknownFormatError("there is only white space", file=file, fix="check the path")
    first = head.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    raise UnknownFormatError(
        f"this is not in a format that corefeval knows: {excerpt(first)}",
        file=file,
        line=1,
        fix=f"name its format if it is one of {', '.join(FORMATS)}, or llm for answers of a "
        "language model; or convert it",
    )


def load(path: str) -> Callable[..., Any]:
    """The function behind `module:function`."""
    module, _, function = path.partition(":")
    loaded: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return loaded
