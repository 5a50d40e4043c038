"""LaTeX tables in the style of booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from corefeval.display import shortened, visible
from corefeval.output.slice_tables import count_tables, slice_tables
from corefeval.output.tables import (
    Cell,
    Column,
    Table,
    document_table,
    metric_table,
    system_table,
)
from corefeval.results import Result

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "…": r"\ldots{}",
    "→": r"$\rightarrow$",
    "α": r"$\alpha$",
    "−": "$-$",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    "τ": r"$\tau$",
    "≤": r"$\leq$",
    "³": r"\textsuperscript{3}",
    "φ": r"$\varphi$",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def render_latex(results: Sequence[Result], *, by_document: bool = False) -> str:
    """A tabular of percentages, the best F1 of several responses in bold."""
    tables = [system_table(results) if len(results) > 1 else metric_table(results)]
    tables += [*count_tables(results), *slice_tables(results)]
    tables += [document_table(results)] if by_document else []
    signatures = dict.fromkeys(result.signature for result in results)
    return latex_comments(signatures) + "\n" + "\n\n".join(map(drawn_latex, tables)) + "\n"


def latex_comments(texts: Iterable[str]) -> str:
    """What a table needs, and texts of any origin, as comments of one line each."""
    comments = ("needs \\usepackage{booktabs}", *(visible(" ".join(one.split())) for one in texts))
    return "\n".join(f"% {comment}" for comment in comments)


def drawn_latex(table: Table) -> str:
    """A tabular in the style of booktabs."""
    alignment = "".join(map(_alignment, table.columns))
    lines = [f"\\begin{{tabular}}{{{alignment}}}", r"\toprule", *_group_lines(table.columns)]
    lines += [
        " & ".join(escaped(shortened(column.heading)) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    for number, section in enumerate(table.sections):
        lines += [r"\addlinespace"] if number else []
        lines += [" & ".join(map(_cell, row)) + r" \\" for row in section]
    return "\n".join((*lines, r"\bottomrule", r"\end{tabular}"))


def _alignment(column: Column) -> str:
    letter = "r" if column.numeric else "l"
    return f"@{{\\hspace{{3pt}}}}{letter}@{{\\hspace{{12pt}}}}" if column.close else letter


def _group_lines(columns: Sequence[Column]) -> list[str]:
    """A line of headings over several columns, and rules below them."""
    if not any(column.group for column in columns):
        return []
    cells, rules, at = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        width = len(list(members))
        cells += [f"\\multicolumn{{{width}}}{{c}}{{{escaped(group)}}}"] if group else [""] * width
        rules += [f"\\cmidrule(lr){{{at}-{at + width - 1}}}"] if group else []
        at += width
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _cell(cell: Cell) -> str:
    text = escaped(shortened(cell.text))
    text = re.sub(r"^-(?=\d)", "$-$", text)
    text = f"\\textbf{{{text}}}" if cell.bold and text else text
    # Behind the end of a row a bracket would be taken for an argument, and a star too.
    text = f"{{{text[0]}}}{text[1:]}" if text[:1] in ("[", "*") else text
    return f"{text}\\textsuperscript{{{escaped(cell.mark)}}}" if cell.mark else text


def escaped(text: str, *, whole: bool = False) -> str:
    """Text of any origin as text that LaTeX sets; long words are cut unless it is `whole`."""
    words = visible(" ".join(text.split() if whole else map(shortened, text.split())))
    plain = "".join(_SPECIAL.get(character, character) for character in words)
    return re.sub(r"^CEAF([em])\b", r"CEAF\\textsubscript{\1}", plain)
