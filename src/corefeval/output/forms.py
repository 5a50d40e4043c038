"""What tables and scores look like outside of a terminal: Markdown, LaTeX, other scorers' text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

from corefeval.diagnostics import UsageError
from corefeval.display import shorten, visible
from corefeval.output.tables import RATES, STYLE, Cell, Column, Sheet, Table
from corefeval.results import Result, Score


def draw_markdown(sheet: Sheet) -> str:
    """Tables below their captions, sentences, and signatures as code."""
    parts = []
    for part in sheet.parts:
        if isinstance(part, str):
            parts += _draw_paragraphs(part)
        else:
            parts += [f"**{_escape_markdown(part.caption)}**"] if part.caption else []
            parts.append(table_markdown(part))
    parts += [*map(_escape_markdown, sheet.about), *map(_show_code, sheet.signatures)]
    return "\n\n".join(parts) + "\n"


def _draw_paragraphs(text: str) -> list[str]:
    """A text with its lines as paragraphs; those that are indented are a list."""
    paragraphs = []
    for is_list, lines in groupby(filter(None, text.split("\n")), key=lambda line: line[0] == " "):
        members = [("- " if is_list else "") + _escape_markdown(line) for line in lines]
        paragraphs.append(("\n" if is_list else "\n\n").join(members))
    return paragraphs


def table_markdown(table: Table) -> str:
    """Columns padded, so that the source can be read too."""
    headings = [f"{column.group} {column.heading}".strip() for column in table.columns]
    rows = [[_escape_markdown(shorten(heading)) for heading in headings]]
    rows += [list(map(_markdown_cell, row)) for section in table.sections for row in section]
    widths = [max(2, *map(len, column)) for column in zip(*rows, strict=True)]
    numeric = [column.numeric for column in table.columns]
    rule = [
        "-" * (width - 1) + ":" if number else "-" * width
        for width, number in zip(widths, numeric, strict=True)
    ]
    rows.insert(1, rule)
    return "\n".join(
        "| "
        + " | ".join(
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(row, widths, numeric, strict=True)
        )
        + " |"
        for row in rows
    )


def _markdown_cell(cell: Cell) -> str:
    text = _escape_markdown(shorten(cell.text))
    text = f"**{text}**" if cell.bold and text else text
    return f"{text}<sup>{_escape_markdown(cell.mark)}</sup>" if cell.mark else text


def _escape_markdown(text: str) -> str:
    """Text of any origin as text; very long words are cut short."""
    words = visible(" ".join(map(shorten, text.split())))
    return re.sub(r"([\\`*_\[\]<>|&~])", r"\\\1", words)


def _show_code(text: str) -> str:
    """Text of any origin as code, fenced by more backticks than stand together in it."""
    text = visible(" ".join(text.split()))
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


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
    style = STYLE.get()
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
    style = STYLE.get()
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
        escape_latex(text, keep_long_words=True).replace(r"\textbar{}", r"\textbar\allowbreak{}")
        for text in sheet.signatures
    )
    caption = style.caption or sheet.caption or ("" if groups[0][1] else "Scores")
    groups[0][1][:0] = [caption if caption[-1] in ".!?" else f"{caption}."] if caption else []
    for number, (tables, sentences) in enumerate(groups):
        lines = [f"\\begin{{{float_name}}}[t]", r"\centering\small\setlength{\tabcolsep}{4pt}"]
        lines += ["\n\n\\medskip\n".join(map(tabular, tables))]
        lines += [f"\\caption{{{escape_latex(' '.join(sentences))}}}"]
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
    alignment = ""
    for column in table.columns:
        letter = "r" if column.numeric else "l"
        alignment += f"@{{\\hspace{{3pt}}}}{letter}@{{\\hspace{{9pt}}}}" if column.close else letter
    lines = [f"{_FIT}{{%\n\\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    lines += [
        *_group_lines(table.columns),
        " & ".join(escape_latex(shorten(column.heading)) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    tails = [_find_tail(column) for column in zip(*chain(*table.sections), strict=True)]
    for number, section in enumerate(table.sections):
        lines += [r"\addlinespace"] if number else []
        lines += [" & ".join(map(_latex_cell, row, tails)) + r" \\" for row in section]
    return "\n".join((*lines, r"\bottomrule", r"\end{tabular}}"))


def _group_lines(columns: Sequence[Column]) -> list[str]:
    """A line of headings over several columns, and rules below them."""
    if not any(column.group for column in columns):
        return []
    cells, rules, at = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        width = len(list(members))
        name = f"\\multicolumn{{{width}}}{{c}}{{{escape_latex(group)}}}"
        cells += [name] if group else [""] * width
        rules += [f"\\cmidrule(lr){{{at}-{at + width - 1}}}"] if group else []
        at += width
    return [" & ".join(cells) + r" \\", " ".join(rules)]


def _find_tail(column: Sequence[Cell]) -> tuple[str, str]:
    """The longest deviation and the longest mark of a column, which stand behind its numbers."""
    deviations = (cell.text[cell.text.find(" ±") :] for cell in column if " ±" in cell.text)
    return max(deviations, key=len, default=""), max((cell.mark for cell in column), key=len)


def _latex_cell(cell: Cell, tail: tuple[str, str] = ("", "")) -> str:
    """A cell; numbers have the room of the longest tail behind them, so that points align."""
    text = escape_latex(shorten(cell.text))
    text = re.sub(r"^-(?=\d)", "$-$", text)
    text = f"\\textbf{{{text}}}" if cell.bold and text else text
    # Behind the end of a row a bracket would be taken for an argument, and a star too.
    text = f"{{{text[0]}}}{text[1:]}" if text[:1] in ("[", "*") else text
    mark, widest = (
        f"\\textsuperscript{{{escape_latex(letters)}}}" if letters else ""
        for letters in (cell.mark, tail[1])
    )
    if not cell.text[:1].isdigit():
        return text + mark
    widest = f"~{escape_latex(tail[0])}{widest}" if tail[0] and "±" not in cell.text else widest
    text += f"\\rlap{{{mark}}}" if mark else ""
    return f"{text}\\phantom{{{widest}}}" if widest else text


def escape_latex(text: str, *, keep_long_words: bool = False) -> str:
    """Text of any origin as text that LaTeX sets.

    Long words are cut short unless `keep_long_words`.
    """
    words = visible(" ".join(text.split() if keep_long_words else map(shorten, text.split())))
    plain = "".join(_SPECIAL.get(character, character) for character in words)
    return re.sub(r"^CEAF([em])\b", r"CEAF\\textsubscript{\1}", plain)


# Other scorers by their formats: what they are called, and the metrics that they print.
PROGRAMS = {
    "conll": ("the official scorer", ("muc", "b3", "ceafm", "ceafe", "blanc", "lea")),
    "coval": ("coval", ("mentions", "muc", "b3", "ceafe", "lea")),
    "corefud": (
        "corefud-scorer",
        ("muc", "b3", "ceafe", "ceafm", "blanc", "lea", "mor", "zero"),
    ),
}
OWN_RULES = "corefeval's own rules, not corefud-scorer's (--protocol corefud-1.2 has these)"
_NAMES = {"b3": "bcub"}  # which all of these programs call so
_RULE = "-" * 74
_AVERAGE = ("muc", "b3", "ceafe")
_METHODS = {"align": "dependent", "place": "linear"}
_MATCHES = {"partial": "partial-corefud"}


def draw_program(results: Sequence[Result], format: str, *, by_document: bool = False) -> str:
    """Scores as another scorer prints them, for scripts that parse its output.

    coval and corefud-scorer themselves print no documents; `by_document` adds them before the
    whole. Where other rules than corefud-scorer's made the numbers, its first line says so.
    """
    program, metrics = PROGRAMS[format]
    if any(result.protocol.aggregate != "micro" for result in results):
        raise UsageError(f"{program} sums over documents: it has no macro average")
    lines = []
    for result in results:
        lines += [f"response: {visible(result.response)}"] if len(results) > 1 else []
        order = result.tables if format == "corefud" else metrics
        chosen = [name for name in order if name in metrics and name in result.tables]
        if not chosen:
            raise UsageError(f"{program} prints only {', '.join(metrics)}")
        if format == "conll":
            lines += _official_lines(result, chosen, by_document)
        elif format == "coval":
            lines += _score_lines(result, chosen, "{:<10} ", by_document)
        else:
            lines += _corefud_lines(result, chosen)
            lines += _score_lines(result, chosen, "{}\n", by_document)
    return "\n".join(lines).rstrip("\n") + "\n"


def _official_lines(result: Result, chosen: Sequence[str], by_document: bool) -> Iterator[str]:
    if "mentions" not in result.tables:
        raise UsageError("the official scorer prints mentions too: add mentions to the metrics")
    for metric in chosen:
        yield f"METRIC {_NAMES.get(metric, metric)}:\n"
        for document in result.documents if by_document else ():
            yield from (f"{visible(document.id)}:", *_total_lines(document.scores, metric), "")
        yield from ("====== TOTALS =======", *_total_lines(result.scores, metric), "")


def _total_lines(scores: Mapping[str, Score], metric: str) -> list[str]:
    lines = [f"Identification of Mentions: {_show_ratios(scores['mentions'])}", _RULE]
    score = scores[metric]
    if metric != "blanc":
        return [*lines, f"Coreference: {_show_ratios(score)}", _RULE]
    lines += ["", "Coreference:"]
    for kind, label in (("coreference", "Coreference"), ("non_coreference", "Non-coreference")):
        common, key, response = (
            score.counts[f"{kind}_{side}"] for side in ("common", "key", "response")
        )
        lines += [f"{label} links: {_show_rates(common, key, common, response)}", _RULE]
    rates = _show_rates(score.recall, 1, score.precision, 1, score.f1)
    return [*lines, f"BLANC: {rates}", _RULE]


def _show_ratios(score: Score) -> str:
    counts, parts = score.counts, ("numerator", "denominator")
    return _show_rates(*(counts[f"{r}_{p}"] for r in ("recall", "precision") for p in parts))


def _show_rates(
    recall_top: float,
    recall_bottom: float,
    precision_top: float,
    precision_bottom: float,
    f1: float | None = None,
) -> str:
    """Recall, precision and F1 as the official scorer prints them."""
    recall = recall_top / recall_bottom if recall_bottom else 0.0
    precision = precision_top / precision_bottom if precision_bottom else 0.0
    if f1 is None:
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    return (
        f"Recall: ({recall_top:.15g} / {recall_bottom:.15g}) {_truncate(recall)}\t"
        f"Precision: ({precision_top:.15g} / {precision_bottom:.15g}) {_truncate(precision)}\t"
        f"F1: {_truncate(f1)}"
    )


def _truncate(rate: float) -> str:
    return f"{int(10000 * rate) / 100:.15g}%"


def _score_lines(
    result: Result, chosen: Sequence[str], form: str, by_document: bool
) -> Iterator[str]:
    """Metrics with their rates, the average behind them; those of documents before the whole."""
    for document in result.documents if by_document else ():
        yield from (f"{visible(document.id)}:", *_rate_lines(document.scores, chosen, form), "")
    yield from _rate_lines(result.scores, chosen, form)


def _rate_lines(scores: Mapping[str, Score], chosen: Sequence[str], form: str) -> Iterator[str]:
    for name in chosen:
        recall, precision, f1 = (100 * scores[name].rates[rate] for rate in RATES)
        text = f"Recall: {recall:.2f}  Precision: {precision:.2f}  F1: {f1:.2f}"
        yield form.format(_NAMES.get(name, name)) + text
    if all(name in chosen for name in _AVERAGE):
        yield f"CoNLL score: {100 * sum(scores[name].f1 for name in _AVERAGE) / 3:.2f}"


def _corefud_lines(result: Result, chosen: Sequence[str]) -> list[str]:
    """The lines with which corefud-scorer begins."""
    protocol = result.protocol
    kinds = []
    if chosen != ["mor"]:  # which looks at mentions alone
        kinds.append("coreferential mentions")
        kinds += ["singletons"] if protocol.singletons == "keep" else []
        if protocol.zeros in _METHODS:
            kinds.append(f"zeros (using {_METHODS[protocol.zeros]} match method)")
    setting = _MATCHES.get(protocol.match, protocol.match)
    metrics = ", ".join(_NAMES.get(name, name) for name in chosen)
    scorer = "The scorer" if protocol.reads_itself else f"These are {OWN_RULES}.\ncorefeval"
    return [
        f"{scorer} is evaluating {', '.join(kinds)} using {setting} match evaluation setting.",
        f"The following metrics will be evaluated: {metrics}",
        "",
    ]
