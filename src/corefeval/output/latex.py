"""LaTeX tables in the style of booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from corefeval.output.rows import HEADINGS, Block, Row, blocks
from corefeval.results import Result

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "³": r"\textsuperscript{3}",
    "φ": r"$\varphi$",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def render_latex(results: Sequence[Result], *, by_document: bool = False) -> str:
    """A tabular of percentages (needs the package booktabs), the best F1 in bold."""
    signatures = dict.fromkeys(result.signature for result in results)
    comments = [f"% {' '.join(signature.split())}" for signature in signatures]
    tables = [_table(block, len(results) > 1) for block in blocks(results, by_document)]
    return "\n".join((*comments, "\n\n".join(tables))) + "\n"


def _table(block: Block, several: bool) -> str:
    columns = ["Metric", *(["Response"] if several else []), *HEADINGS.values()]
    alignment = "l" * (len(columns) - len(HEADINGS)) + "r" * len(HEADINGS)
    title = [f"\\multicolumn{{{len(columns)}}}{{l}}{{{_escape(block.document)}}} \\\\"]
    lines = [
        f"\\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *(title if block.document else []),
        " & ".join(columns) + r" \\",
        r"\midrule",
    ]
    last = None
    for row in block.rows:
        if several and last not in (None, row.metric):
            lines.append(r"\addlinespace")
        lines.append(_line(row, several, repeat=row.metric == last))
        last = row.metric
    return "\n".join((*lines, r"\bottomrule", r"\end{tabular}"))


def _line(row: Row, several: bool, repeat: bool) -> str:
    *rates, f1 = row.percentages()
    name = [_escape(row.response)] if several else []
    title = "" if repeat else _escape(row.title)
    return " & ".join((title, *name, *rates, f"\\textbf{{{f1}}}" if row.best else f1)) + r" \\"


def _escape(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))
