"""Whether the first bytes of a file look like a format; without numpy, as every file is asked."""

from __future__ import annotations

import re


def _has_document_line(head: bytes) -> bool:
    return re.search(rb"(?im)^#\s*begin\s+document\b", head) is not None


def is_conll(head: bytes) -> bool:
    """Whether there is a document line, or a last column of brackets and dashes."""
    if _has_document_line(head):
        return True
    lines = [line.split() for line in head.splitlines()[:200] if line.strip()]
    cells = [line[-1] for line in lines if len(line) > 1]
    marks = [cell for cell in cells if cell in (b"-", b"_") or b"(" in cell or b")" in cell]
    return bool(marks) and len(marks) > 0.8 * len(lines)


def is_conllu(head: bytes) -> bool:
    """Whether there are ten columns, the first of numbers, or comments that only CoNLL-U has."""
    if _has_document_line(head):
        return False
    if re.search(rb"(?m)^# (global\.Entity|sent_id) ?=", head):
        return True
    rows = [line for line in head.splitlines()[:200] if re.match(rb"\d+([-.]\d+)?\t", line)]
    return bool(rows) and all(row.count(b"\t") == 9 for row in rows[:-1] or rows)


def is_conllua(head: bytes) -> bool:
    """Whether a line names columns of Universal Anaphora, or brackets have its attributes."""
    if b"ID=" not in head and b"Id=" not in head and b"global.columns" not in head:
        return False  # told at once, as every file is looked at
    columns = rb"(?m)^#\s*global\.columns\s*=.*\b(IDENTITY|BRIDGING|DISCOURSE_DEIXIS)\b"
    cells = rb"(?mi)^\d+(\.\d+)?[ \t].*[ \t]\)*\((Entity|Markable)_?ID="
    return re.search(columns, head) is not None or re.search(cells, head) is not None


def is_json(head: bytes) -> bool:
    """Whether there is an object, or a list of objects."""
    return re.match(rb'\s*(\[\s*)?\{\s*("|\})|\s*\[\s*\]', head) is not None


def is_crac_text(head: bytes) -> bool:
    """Whether words have `|[e1`, `|e1]` or `|[e1]` behind them, or lines of words have titles."""
    mark = rb"(?<=\S)\|(\[[^\s\[\],|]+\]?|[^\s\[\],|]+\])(,\S+)?(?=\s|$)"
    return re.search(mark, head) is not None or _is_plain_text(head)


def _is_plain_text(head: bytes) -> bool:
    """Whether the first line names a document, as in CoNLL-U, and no line has columns."""
    lines = [line for line in head.splitlines() if line.strip()]
    heads = [line.startswith(b"# newdoc id =") for line in lines]
    return bool(heads) and heads[0] and not any(b"\t" in line for line in lines)


def is_litbank(head: bytes) -> bool:
    """Whether there are lines of MENTION or COREF, tab-separated."""
    return re.search(rb"(?m)^(MENTION\t[^\t\n]+(\t\d+){4}\t|COREF\t[^\t\n]+\t)", head) is not None


def is_brat(head: bytes) -> bool:
    """Whether there are text-bound annotations, or an equivalence of them."""
    return re.search(rb"(?m)^(T\S*\t\S+ \d+ \d+[\t; ]|\*\tEquiv )", head) is not None


def is_answers(head: bytes) -> bool:
    """Whether the first record has an answer of a language model, and nothing of a corpus."""
    line = head.lstrip().split(b"\n", 1)[0]
    answer = rb'"(answer|output|response|completion|prediction|generated_text|generation|choices|'
    answer += rb'candidates|message|result|content)"\s*:'
    corpus = rb'"(sentences|tokens|clusters|mention_clusters|clusters_token_offsets)"\s*:'
    start = re.match(rb'\s*(\[\s*)?\{\s*"', head) is not None
    return start and re.search(answer, line) is not None and re.search(corpus, line) is None


def is_parquet(head: bytes) -> bool:
    """Whether there are the four bytes that such files begin with."""
    return head.startswith(b"PAR1")


def never(head: bytes) -> bool:
    """False: the format is only read where somebody names it."""
    return False
