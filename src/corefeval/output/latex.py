"""LaTeX tables in the style of booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from corefeval.display import shorten, visible
from corefeval.output.style import current_style
from corefeval.output.tables import Cell, Column, Sheet, Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "…": r"\ldots{}",
    "→": r"$\rightarrow$",
    "α": r"$\alpha$",
    "−": "$-$",
    "±": r"$\pm$",
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


_FLOATS = {"column": "table", "page": "table*"}
# What is wider than a column or the page is set smaller; what is narrower stays as it is.
_FIT = r"\resizebox{\ifdim\width>\linewidth \linewidth\else\width\fi}{!}"


def draw_latex(sheet: Sheet) -> str:
    """Tabulars of percentages, or floats to be put into a paper; signatures in comments."""
    lines = (*sheet.about, *sheet.signatures)
    style = current_style()
    if sheet.label or style.caption or style.label or style.width:
        return "\n\n".join((_draw_comments(lines), *_draw_floats(sheet))) + "\n"
    parts = []
    for part in sheet.parts:
        if isinstance(part, Table):
            caption = f"% {visible(' '.join(part.caption.split()))}\n" if part.caption else ""
            parts.append(rf"{caption}\noindent{tabular(part)}")
        elif part:
            parts.append("\n".join(f"% {visible(line)}" for line in part.split("\n")))
    return "\n\n".join((_draw_comments(lines), *parts)) + "\n"


def _draw_floats(sheet: Sheet) -> Iterator[str]:
    """A float for all tables without a caption, and one for each table that has one.

    Sentences become the caption of the table before them; the first float has the caption of the
    style before them, and the signatures below.
    """
    style = current_style()
    float_name = _FLOATS[style.width or "page"]
    label = style.label or sheet.label or "scores"
    label = label if ":" in label else f"tab:{label}"
    groups: list[tuple[list[Table], list[str]]] = [([], [])]
    for part in sheet.parts:
        if isinstance(part, str):
            groups[-1][1].extend([part] if part else [])
        elif part.caption:
            groups.append(([part], [f"{part.caption}."]))
        else:
            groups[-1][0].append(part)
    groups = [group for group in groups if any(group)] or groups
    codes = r" \\ ".join(
        escape(text, keep_long_words=True).replace(r"\textbar{}", r"\textbar\allowbreak{}")
        for text in sheet.signatures
    )
    caption = style.caption or sheet.caption or ("" if groups[0][1] else "Scores")
    groups[0][1][:0] = [caption if caption[-1] in ".!?" else f"{caption}."] if caption else []
    for number, (tables, sentences) in enumerate(groups):
        lines = [f"\\begin{{{float_name}}}[t]", r"\centering\small\setlength{\tabcolsep}{4pt}"]
        lines += ["\n\n\\medskip\n".join(map(tabular, tables))]
        lines += [f"\\caption{{{escape(' '.join(sentences))}}}"]
        lines += [f"\\label{{{label}{f'-{number}' if number else ''}}}"]
        if not number:
            lines += [f"\\par\\smallskip{{\\tiny\\ttfamily\\raggedright {codes}\\par}}"]
        yield "\n".join((*lines, f"\\end{{{float_name}}}"))


def _draw_comments(texts: Iterable[str]) -> str:
    """The packages that tables need, and texts of any origin, as comments of one line each."""
    needs = r"needs \usepackage{booktabs,graphicx}"
    comments = (needs, *(visible(" ".join(text.split())) for text in texts))
    return "\n".join(f"% {comment}" for comment in comments)


def tabular(table: Table) -> str:
    """A tabular in the style of booktabs, set smaller where it is wider than its place."""
    alignment = "".join(map(_alignment, table.columns))
    lines = [f"{_FIT}{{%\n\\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    lines += [
        *_group_lines(table.columns),
        " & ".join(escape(shorten(column.heading)) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    for number, section in enumerate(table.sections):
        lines += [r"\addlinespace"] if number else []
        lines += [" & ".join(map(_draw_cell, row)) + r" \\" for row in section]
    return "\n".join((*lines, r"\bottomrule", r"\end{tabular}}"))


def _alignment(column: Column) -> str:
    letter = "r" if column.numeric else "l"
    return f"@{{\\hspace{{3pt}}}}{letter}@{{\\hspace{{9pt}}}}" if column.close else letter


def _group_lines(columns: Sequence[Column]) -> list[str]:
    """A line of headings over several columns, and rules below them."""
    if not any(column.group for column in columns):
        return []
    cells, rules, at = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        width = len(list(members))
        cells += [f"\\multicolumn{{{width}}}{{c}}{{{escape(group)}}}"] if group else [""] * width
        rules += [f"\\cmidrule(lr){{{at}-{at + width - 1}}}"] if group else []
        at += width
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _draw_cell(cell: Cell) -> str:
    text = escape(shorten(cell.text))
    text = re.sub(r"^-(?=\d)", "$-$", text)
    text = f"\\textbf{{{text}}}" if cell.bold and text else text
    # Behind the end of a row a bracket would be taken for an argument, and a star too.
    text = f"{{{text[0]}}}{text[1:]}" if text[:1] in ("[", "*") else text
    return f"{text}\\textsuperscript{{{escape(cell.mark)}}}" if cell.mark else text


def escape(text: str, *, keep_long_words: bool = False) -> str:
    """Text of any origin as text that LaTeX sets.

    Long words are cut short unless `keep_long_words`.
    """
    words = visible(" ".join(text.split() if keep_long_words else map(shorten, text.split())))
    plain = "".join(_SPECIAL.get(character, character) for character in words)
    return re.sub(r"^CEAF([em])\b", r"CEAF\\textsubscript{\1}", plain)
