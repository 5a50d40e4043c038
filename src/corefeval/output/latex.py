"""LaTeX tables in the style of booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from corefeval.display import shorten, visible
from corefeval.output.fitting import blocks, make_presentable
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
_ROOM = {"column": 219, "page": 455}  # points: a narrow column and page, those of ACL
_EDGES = 3  # characters


class _Size(NamedTuple):
    """A size of type: points of a digit, those beside each column, and characters for these."""

    name: str
    digit: float
    separation: int
    gap: int


# A gap and the point in a number, which is half as wide as a digit, make up for one another.
_SIZES = (_Size("small", 5.0, 4, 2), _Size("footnotesize", 4.5, 3, 1))


def draw_latex(sheet: Sheet) -> str:
    """Tabulars of percentages, or floats to be put into a paper; signatures in comments."""
    lines = (*sheet.about, *sheet.signatures)
    style = current_style()
    if sheet.label or style.caption or style.label or style.width:
        return "\n\n".join((_comments(lines), *_floats(sheet))) + "\n"
    parts = []
    for part in sheet.parts:
        if isinstance(part, Table):
            caption = f"% {visible(' '.join(part.caption.split()))}\n" if part.caption else ""
            parts.append(caption + tabular(part))
        elif part:
            parts.append("\n".join(f"% {visible(line)}" for line in part.split("\n")))
    return "\n\n".join((_comments(lines), *parts)) + "\n"


def _floats(sheet: Sheet) -> Iterator[str]:
    """A float for all tables without a caption, and one for each other, of the style's width.

    Sentences are the caption of the table before them, behind what the style has for the first.
    Signatures stand below the first.
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
    groups = [one for one in groups if any(one)] or groups
    codes = r" \\ ".join(
        escape(text, whole=True).replace(r"\textbar{}", r"\textbar\allowbreak{}")
        for text in sheet.signatures
    )
    caption = style.caption or sheet.caption or ("" if groups[0][1] else "Scores")
    groups[0][1][:0] = [caption if caption[-1] in ".!?" else f"{caption}."] if caption else []
    for number, (tables, sentences) in enumerate(groups):
        size, tabulars = _fit(tables, style.width)
        lines = [f"\\begin{{{float_name}}}[t]", f"\\centering\\{size.name}"]
        lines += [f"\\setlength{{\\tabcolsep}}{{{size.separation}pt}}"]
        lines += ["\n\n\\medskip\n".join(tabulars)]
        lines += [f"\\caption{{{escape(' '.join(sentences))}}}"]
        lines += [f"\\label{{{label}{f'-{number}' if number else ''}}}"]
        if not number:
            lines += [f"\\par\\smallskip{{\\tiny\\ttfamily\\raggedright {codes}\\par}}"]
        yield "\n".join((*lines, f"\\end{{{float_name}}}"))


def _fit(tables: Sequence[Table], width: str | None) -> tuple[_Size, list[str]]:
    """A size, and tabulars: of columns below each other where all of them are too wide."""
    if width is None:
        return _SIZES[0], [*map(tabular, tables)]
    for size in _SIZES:
        tabulars = [part for table in tables for part in _parts(table, _ROOM[width], size)]
        if len(tabulars) == len(tables):
            break
    return size, tabulars


def _parts(table: Table, room: int, size: _Size) -> Iterator[str]:
    """The tabulars of a table that take so many points at most."""
    # Marks take room, too, and no heading is folded.
    headings = (one._replace(heading=one.heading.replace(" ", "_")) for one in table.columns)
    sections = tuple(
        tuple(tuple(c._replace(text=shorten(c.text) + c.mark) for c in row) for row in section)
        for section in table.sections
    )
    shown = make_presentable(Table(tuple(headings), sections))
    [whole] = blocks(shown, size.gap, 10**6)
    for block in blocks(shown, size.gap, int(room / size.digit) - _EDGES):
        folded = [
            f"p{{{width * size.digit:g}pt}}" if width < whole.widths[place] else ""
            for place, width in zip(block.places, block.widths, strict=True)
        ]
        columns = tuple(table.columns[place] for place in block.places)
        mine = tuple(
            tuple(tuple(row[place] for place in block.places) for row in section)
            for section in table.sections
        )
        yield tabular(Table(columns, mine), folded)


def _comments(texts: Iterable[str]) -> str:
    """What a table needs, and texts of any origin, as comments of one line each."""
    comments = ("needs \\usepackage{booktabs}", *(visible(" ".join(one.split())) for one in texts))
    return "\n".join(f"% {comment}" for comment in comments)


def tabular(table: Table, folded: Sequence[str] = ()) -> str:
    """A tabular in the style of booktabs; columns whose text is folded have their own alignment."""
    own = folded or [""] * len(table.columns)
    alignment = "".join(
        other or _alignment(one) for one, other in zip(table.columns, own, strict=True)
    )
    lines = [f"\\begin{{tabular}}{{{alignment}}}", r"\toprule", *_group_lines(table.columns)]
    lines += [
        " & ".join(escape(shorten(column.heading)) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    for number, section in enumerate(table.sections):
        lines += [r"\addlinespace"] if number else []
        lines += [" & ".join(map(_cell, row)) + r" \\" for row in section]
    return "\n".join((*lines, r"\bottomrule", r"\end{tabular}"))


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


def _cell(cell: Cell) -> str:
    text = escape(shorten(cell.text))
    text = re.sub(r"^-(?=\d)", "$-$", text)
    text = f"\\textbf{{{text}}}" if cell.bold and text else text
    # Behind the end of a row a bracket would be taken for an argument, and a star too.
    text = f"{{{text[0]}}}{text[1:]}" if text[:1] in ("[", "*") else text
    return f"{text}\\textsuperscript{{{escape(cell.mark)}}}" if cell.mark else text


def escape(text: str, *, whole: bool = False) -> str:
    """Text of any origin as text that LaTeX sets; long words are cut unless it is `whole`."""
    words = visible(" ".join(text.split() if whole else map(shorten, text.split())))
    plain = "".join(_SPECIAL.get(character, character) for character in words)
    return re.sub(r"^CEAF([em])\b", r"CEAF\\textsubscript{\1}", plain)
