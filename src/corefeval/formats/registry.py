"""The formats, each declared once; found by their names, by endings and by the content of files."""

from __future__ import annotations

import os
import re
from typing import Any

from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.formats.declarations import EVERYTHING, Format
from corefeval.formats.tools import TOOLS, recognises, root_of

HEAD = 1 << 16  # so many bytes are looked at to tell the format
_BEGIN_DOCUMENT = rb"(?im)^#\s*begin\s+document\b"


def is_conll(head: bytes) -> bool:
    """Whether the first bytes of a file have a last column of brackets and dashes."""
    lines = [line.split() for line in head.splitlines()[:200] if line.strip()]
    cells = [line[-1] for line in lines if len(line) > 1]
    marks = [cell for cell in cells if cell in (b"-", b"_") or b"(" in cell or b")" in cell]
    return bool(marks) and len(marks) > 0.8 * len(lines)


def is_conllu(head: bytes) -> bool:
    """Whether there are ten columns, the first of numbers, or comments that only CoNLL-U has."""
    if re.search(_BEGIN_DOCUMENT, head):
        return False
    if re.search(rb"(?m)^# (global\.Entity|sent_id) ?=", head):
        return True
    rows = [line for line in head.splitlines()[:200] if re.match(rb"\d+([-.]\d+)?\t", line)]
    return bool(rows) and all(row.count(b"\t") == 9 for row in rows[:-1] or rows)


def is_crac_text(head: bytes) -> bool:
    """Whether words have marks, or the first line names a document and no line has columns."""
    if re.search(rb"\|(?<=\S\|)(\[[^\s\[\],|]+\]?|[^\s\[\],|]+\])(,\S+)?(?=\s|$)", head):
        return True
    lines = [line for line in head.splitlines() if line.strip()]
    return bool(lines) and lines[0].startswith(b"# newdoc id =") and b"\t" not in b"".join(lines)


def _declare_json(name: str, summary: str, **details: Any) -> Format:
    """A kind of the JSON family, which has one reader and one writer."""
    return Format(
        name,
        summary,
        "json.reader:read_json",
        "json.writer:write_json",
        kind=name,
        title="JSON",
        cutter="ranges:find_json_lines",
        **details,
    )


_CONLLU_COLUMNS = (
    "lemma", "upos", "tag", "features", "head", "relation", "deps", "misc", "empty",
)  # fmt: skip
_TYPES = ("mention_id", "entity_type", "mention_type")

# The order is the order in which formats are tried: those that are recognised for sure come first.
# `json` reads any kind of JSON by its keys; the kinds have names to be insisted on, and written.
_DECLARED = (
    Format(
        "parquet",
        "Parquet whose rows are records of any of the kinds of JSON below",
        "json.reader:read_parquet",
        sign=rb"\APAR1",
    ),
    Format(
        "conllua",
        "Universal Anaphora's CoNLL-U Plus: columns IDENTITY, BRIDGING, DISCOURSE_DEIXIS",
        "conllua.reader:read_conllua",
        "conllua.writer:write_conllua",
        sign=rb"(?m)^#\s*global\.columns\s*=.*\b(IDENTITY|BRIDGING|DISCOURSE_DEIXIS)\b|"
        rb"^\d+(\.\d+)?([ \t]+\S+){9,}[ \t]+\)*\((?i:Entity|Markable)_?(?i:ID)=",
        title="Universal Anaphora's CoNLL-U",
        endings=(".conllua",),
        has_layers=True,
        columns=_CONLLU_COLUMNS,
        metadata=(EVERYTHING,),
        cutter="ranges:find_conllua",
    ),
    Format(
        "corefud",
        "CorefUD CoNLL-U: ten columns, coreference in MISC as Entity=…",
        "conllu.reader:read_conllu",
        "conllu.writer:write_conllu",
        looks_like=is_conllu,
        title="CoNLL-U",
        endings=(".conllu",),
        columns=_CONLLU_COLUMNS,
        metadata=(EVERYTHING,),
        cutter="ranges:find_conllu",
    ),
    _declare_json(
        "json",
        "JSON or JSON lines of any of the kinds below, recognised by its keys",
        sign=rb'\A\s*(\[\s*)?\{\s*("|\})|\A\s*\[\s*\]',
        takes_layer=True,
        columns=("speaker",),
    ),
    _declare_json(
        "e2e",
        "JSON lines with doc_key, sentences, clusters (inclusive token offsets)",
        endings=(".json", ".jsonl", ".jsonlines"),
        columns=("speaker",),
    ),
    _declare_json(
        "bookcoref",
        "BookCoref's JSON: doc_id, sentences, clusters, characters",
        metadata=("gutenberg_key", "characters"),
    ),
    _declare_json(
        "preco",
        "PreCo's JSON: id, sentences, mention_clusters as sentence, begin, end (exclusive)",
    ),
    _declare_json(
        "crac-json",
        "CRAC's JSON: doc_id, tokens, clusters_token_offsets (inclusive), ## for zeros",
        columns=("empty",),
    ),
    _declare_json(
        "maverick",
        "Maverick's dictionaries: tokens, clusters_token_offsets (inclusive)",
    ),
    _declare_json(
        "fastcoref",
        "fastcoref's JSON: text, clusters as character spans (half-open)",
        has_texts=True,
    ),
    Format(
        "litbank",
        "LitBank's TSV: MENTION and COREF lines, with the text beside it",
        "litbank:read_litbank",
        "litbank:write_litbank",
        sign=rb"(?m)^(MENTION\t[^\t\n]+(\t\d+){4}\t|COREF\t[^\t\n]+\t)",
        title="LitBank",
        companions=(".txt",),
        features=_TYPES,
    ),
    Format(
        "brat",
        "brat standoff: T, R Coreference and * Equiv lines, with the text beside it",
        "brat:read_brat",
        "brat:write_brat",
        sign=rb"(?m)^(T\S*\t\S+ \d+ \d+[\t; ]|\*\tEquiv )",
        title="brat",
        endings=(".ann",),
        companions=(".txt",),
        has_texts=True,
        features=_TYPES,
    ),
    Format(
        "crac-text",
        "CRAC's plain text: words followed by |[e1, |e1] or |[e1]",
        "crac_text:read_crac_text",
        "crac_text:write_crac_text",
        looks_like=is_crac_text,
        title="CRAC plain text",
        columns=("empty",),
    ),
    Format(
        "conll",
        "CoNLL-2011/2012: a token per line, coreference as brackets in the last column",
        "conll.reader:read_conll",
        "conll.writer:write_conll",
        sign=_BEGIN_DOCUMENT,
        looks_like=is_conll,
        title="CoNLL",
        endings=(".conll", "_conll"),
        has_columns=True,
        columns=("tag", "parse", "lemma", "frameset", "sense", "speaker", "named_entity"),
        cutter="ranges:find_conll",
    ),
)

FORMATS = {format.name: format for format in (*_DECLARED, *TOOLS)}

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
    "llm-qa": "questions and answers: `*It* refers to [the park]`",
    "llm-json": "JSON of clusters, of strings or objects, broken or not",
    "llm-lines": 'a line for each entity: `Entity 1: "Ada"; "she"`',
}
# A record has the key of an answer, and none of a corpus, unless it is a harness's.
_ANSWER_SIGN = (
    rb'\A\s*+(?:\[\s*)*\{\s*(?:"version":\s*\d+,\s*"status"|"doc_id":\s*\d+,\s*"doc"\s*:\s*\{|'
    rb'(?=[^\n]*"(?:answer|outputs?|response|completion|prediction|generated_text|generation|'
    rb'choices|candidates|messages?|conversations|modelOutput|outputText|result|content)"\s*:'
    rb'|(?![^\n{]*"text"\s*:)[^\n]*"clusters"\s*:\s*\[[\s\[]*[{"])'
    rb'(?![^\n]*"(?:sentences|tokens|document|mention_clusters|clusters_token_offsets)"\s*:)")'
)
ANSWERS = {
    name: Format(
        name,
        summary,
        "answers.reading:read_answers",
        sign=_ANSWER_SIGN if name == "llm" else b"",
        needs_key=True,
    )
    for name, summary in _ANSWERS.items()
}


class UnknownFormatError(InputError):
    """A file whose format nobody recognises."""


def format_for(name: str) -> Format:
    """The format that a file of this name is written in; a UsageError where it does not say.

    >>> format_for("out/key.jsonl.gz").name, format_for("train.v4_gold_conll").name
    ('e2e', 'conll')
    """
    plain = os.path.basename(name).removesuffix(".gz").lower()
    writable = [format for format in FORMATS.values() if format.writer]
    for format in writable:
        if plain.endswith(format.endings):
            return format
    if not os.path.splitext(plain)[1]:
        return FORMATS["conll"]
    endings = (f"{', '.join(f.endings)} ({f.name})" for f in writable if f.endings)
    raise UsageError(
        f"{name} does not show which format to write: end it in {', '.join(endings)}\n"
        f"  or name it with format=… / --to: {', '.join(format.name for format in writable)}"
    )


def find_format(name: str) -> Format:
    """The format of a name; a UsageError that lists all of them where none has it."""
    formats = FORMATS | ANSWERS
    if isinstance(name, str) and name in formats:
        return formats[name]
    import difflib

    text = str(name).lower().lstrip("._")
    by_ending = {end.lstrip("._"): f.name for f in FORMATS.values() for end in f.endings}
    similar = [by_ending[text]] if text in by_ending else difflib.get_close_matches(text, formats)
    hint = f": did you mean {similar[0]!r}?" if similar else ""
    raise UsageError(f"there is no format {name!r:.60}{hint}\n  there are: {', '.join(formats)}")


def detect_format(head: bytes, file: str) -> Format:
    """The format that a file seems to have."""
    if head.startswith(b'{"corefeval_results":'):
        raise UnknownFormatError(
            "these are saved results, not documents",
            file=file,
            fix="name the files that were scored; score, compare and explain --results take "
            "saved results",
        )
    if re.match(_BEGIN_DOCUMENT, head):  # words of a text may look like the signs of others
        return FORMATS["conll"]
    # Exports of tools may look like answers, which are JSON, too. XML is nothing else.
    is_xml = root_of(head) and head.lstrip().startswith((b"<?", b"<!"))
    for candidate in TOOLS if is_xml else (*TOOLS, ANSWERS["llm"], *FORMATS.values()):
        if recognises(candidate, head):
            return candidate
    raise _refuse_content(head, file)


def _refuse_content(head: bytes, file: str) -> UnknownFormatError:
    """The error for a file whose first bytes show no format that is known."""
    if not head.strip():
        return UnknownFormatError("there is only white space", file=file, fix="check the path")
    first = head.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    problem = f"this is not in a format that corefeval knows: {excerpt(first)}"
    fix = f"name its format if it is one of {', '.join(FORMATS)}, or llm for answers of a "
    fix += "language model; or convert it"
    if root := root_of(head):
        problem = f"this is XML of a kind that corefeval does not know: its root is {excerpt(root)}"
        fix = "export it in a format that is known: XMI, TEI, MMAX2, ECB+ or CoreNLP"
    if root == "markables":
        problem = "these are markables of MMAX2, without the words that they are about"
        fix = "name the .mmax file"
    return UnknownFormatError(problem, file=file, line=1, fix=fix)
