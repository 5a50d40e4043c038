"""What must be true of every run, whatever the command line and the files."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from corefeval import CorefEvalError, load_suite
from corefeval.cli.printing import short
from corefeval.formats import read
from corefeval.results import load_all
from fuzzing.cases import Case
from fuzzing.running import Outcome, lay_out, make_folder
from fuzzing.values import ACCIDENTS

DONE, BAD_INPUT, BAD_USAGE, GATE = 0, 1, 2, 3

_LINES = ("error: ", "note: ", "failed: ", "  ")  # what is indented goes on
# Controls of terminals and of direction, ends of lines, halves of characters.
_ACTIVE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FEATURE = re.compile(r"[\w()=,.:+* -]+ (needs|is neither given|has no definition) ")
_RATES = ("recall", "precision", "f1", "accuracy", "score")


@dataclass(frozen=True)
class Problem:
    """A rule that was broken: its name, what was seen, and a text that is alike for like causes."""

    rule: str
    what: str
    cause: str = ""

    @property
    def signature(self) -> tuple[str, str]:
        """What problems of the same cause have in common: not their numbers, but controls."""
        alike = re.sub(r"(\\x..|\\u....)|\d+", lambda found: found[1] or "0", self.what)
        return self.rule, self.cause or alike[:60]


def problems_of(case: Case, outcome: Outcome, *, skip: Container[str] = ()) -> list[Problem]:
    """The rules that a run broke, but for those that are to be skipped."""
    if outcome.escaped is not None:
        error = outcome.escaped
        name = type(error).__name__
        return [Problem("traceback", f"{name}: {error!s:.200}", f"{name} at {outcome.place}")]
    return [
        Problem(name, what)
        for name, rule in RULES.items()
        if name not in skip
        for what in rule(case, outcome)
    ]


def _status(case: Case, outcome: Outcome) -> Iterator[str]:
    """The exit status is one of the documented ones, and fits what was said."""
    errors = len(re.findall(r"(?m)^error: ", outcome.err))
    failures = len(re.findall(r"(?m)^failed: ", outcome.err))
    if case.command == "suite run":  # which has one for each cell
        failures = min(failures, 1)
    expected = {DONE: (0, 0), BAD_INPUT: (1, 0), BAD_USAGE: (1, 0), GATE: (0, 1)}
    if outcome.status not in expected:
        yield f"exit status {outcome.status}"
    elif _reports_findings(case, outcome):
        if errors or not (outcome.out or outcome.err or case.option("--output", "-o")):
            yield f"check found something and said {errors} errors"
    elif (errors, failures) != expected[outcome.status]:
        yield f"exit status {outcome.status} with {errors} errors, {failures} failures"


def _reports_findings(case: Case, outcome: Outcome) -> bool:
    return (
        case.command in ("check", "suite check")
        and outcome.status == BAD_INPUT
        and "error: " not in outcome.err
    )


def _lines(case: Case, outcome: Outcome) -> Iterator[str]:
    """Whatever is on the error stream is a note, a failure or an error in its usual form."""
    if case.option("--fix") == "-":  # then the report is there
        return
    for line in outcome.err.split("\n")[:-1]:
        if not line.startswith(_LINES):
            yield f"a stray line on the error stream: {line[:80]!r}"
            return
    for message in re.findall(r"(?m)^error: (.*(?:\n  .*)*)", outcome.err):
        if len(message) < 8 or re.search(r" at 0x[0-9a-f]{6,}", message):
            yield f"an error that says nothing: {message!r}"


def _blame(case: Case, outcome: Outcome) -> Iterator[str]:
    """Bad input is told with the name of the file, unless it is a feature that nobody states.

    A file of a folder that was given may be told by its own path: `.` says nothing.
    """
    message = next((m for m in re.findall(r"(?ms)^error: (.*)", outcome.err)), "")
    if outcome.status != BAD_INPUT or not message or _FEATURE.match(message):
        return
    names = {"standard input", "tags.json", "features.tsv", "decisions.tsv"}
    names |= {"document"} if case.command == "lab" else set()  # of the only key
    for text in (word for group in case.arguments[1:] for word in group[1:] or group):
        for part in (text, text.rpartition("=")[2], text.partition("=")[0]):
            names |= {part, short(part), part.rstrip("*/"), os.path.splitext(part)[0]}
            names.add(os.path.splitext(short(part))[0])  # what reports call a response
            names |= {path for path in outcome.before if part and _is_below(path, part)}
    if not any(_mentions(message, name, case.encoding) for name in names if name):
        yield f"no file is named: {message[:120]}"


def _is_below(path: str, folder: str) -> bool:
    folder = os.path.normpath(folder)
    return folder == "." or path.startswith(f"{folder}/")


def _mentions(message: str, name: str, encoding: str) -> bool:
    """Whether a message has a name in it; one that must not be shown as it is may look anyhow."""
    plain = name.encode(encoding, "replace").decode(encoding)
    whole = rf"(?<!\w){re.escape(name)}(?!\w)"
    return plain != name or not name.isprintable() or re.search(whole, message) is not None


def _controls(case: Case, outcome: Outcome) -> Iterator[str]:
    """Nothing that a terminal obeys, nothing that turns text around."""
    texts = {"error stream": outcome.err}
    printed = outcome.status in (DONE, GATE) and not _is_data(case)
    if printed and _format(case) in ("text", "markdown", "latex", "conll"):
        shown = _shown(case, outcome)
        texts["output"] = _COLOURS.sub("", shown) if case.terminal else shown
        if _format(case) == "conll":  # the official form has tabs
            texts["output"] = texts["output"].replace("\t", "")
    for where, text in texts.items():
        if bad := _ACTIVE.search(text):
            yield f"{bad[0]!a} in the {where}"


def _format(case: Case) -> str:
    return case.option("--format", "-f") or "text"


def _is_data(case: Case) -> bool:
    """Whether standard output is a file that was asked for."""
    is_merged = case.command == "merge" and case.option("--output", "-o") == "-"
    return case.command == "convert" or case.option("--fix") == "-" or is_merged


def _shown(case: Case, outcome: Outcome) -> str:
    """What was printed, or written in its place."""
    target = case.option("--output", "-o")
    if target is None or case.command in _MAKERS or (case.command, target) == _PRINTED:
        return outcome.out.decode(case.encoding, "surrogateescape")
    data = outcome.files.get(os.path.normpath(target), b"")
    return data.decode("utf-8", "surrogateescape")


_PRINTED = ("suite init", "-")
# What they print is beside what they make.
_MAKERS = ("report", "lab", "suite page", "merge", "sample")


def _form(case: Case, outcome: Outcome) -> Iterator[str]:
    """What is printed has the form that was asked for; numbers are finite, rates from 0 to 1.

    With the accidents of another program, which `--protocol` or an option brings, rates may pass 1;
    where the undefined is asked to be no number, they may be none.
    """
    if outcome.status not in (DONE, GATE) or _is_data(case) or case.only_informs:
        return
    shown = _shown(case, outcome)
    if case.option("--output", "-o") and not shown and case.command not in _MAKERS:
        yield "no output was written"
    check = _FORMS.get(_format(case))
    if check is not None:
        if any(group[0] in (*ACCIDENTS, "--protocol") for group in case.arguments):
            allowed = r"\w+ is ([\d.]|nan)"
        else:
            allowed = r"\w+ is nan\b" if case.option("--undefined") == "nan-ceafe" else "(?!)"
        yield from (one for one in check(shown) if not re.match(allowed, one))


def _json(text: str) -> Iterator[str]:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} in JSON")

    try:
        content = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        yield f"no JSON: {error}"
        return
    yield from _rates(content)


def _rates(content: Any) -> Iterator[str]:
    if isinstance(content, dict):
        for key, value in content.items():
            if key in _RATES and isinstance(value, float | int) and not 0 <= value <= 1 + 1e-9:
                yield f"{key} is {value}"
    inner = content.values() if isinstance(content, dict) else content
    for value in inner if isinstance(content, dict | list) else ():
        yield from _rates(value)


def _csv(text: str) -> Iterator[str]:
    try:
        rows = [*csv.DictReader(io.StringIO(text, newline=""), strict=True)]
    except csv.Error as error:
        yield f"no CSV: {error}"
        return
    for row in rows:
        if None in row or None in row.values():
            yield f"CSV with rows of different lengths: {row!s:.100}"
            return
        for name in _RATES:
            value = row.get(name) or "0"
            try:
                inside = 0 <= float(value) <= 100 + 1e-6
            except ValueError:
                continue
            if not inside:
                yield f"{name} is {value} in CSV"


def _markdown(text: str) -> Iterator[str]:
    widths = [
        len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) if line.startswith("|") else 0
        for line in text.split("\n")
    ]
    for one, other in pairwise(widths):
        if one and other and one != other:
            yield "a Markdown table with rows of different lengths"
            return


def _latex(text: str) -> Iterator[str]:
    plain = re.sub(r"(?m)(\\.|(?<!\\)%.*$)", "", text)
    depth = 0
    for character in plain:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            break
    if depth:
        yield "LaTeX with braces that do not match"


_FORMS: dict[str, Callable[[str], Iterator[str]]] = {
    "json": _json, "csv": _csv, "markdown": _markdown, "latex": _latex,
}  # fmt: skip


def _files(case: Case, outcome: Outcome) -> Iterator[str]:
    """Nothing is left behind, no input is changed, and a failure leaves what was there."""
    targets = {os.path.normpath(path) for path in case.written}
    # The text of an annotation stands beside it.
    targets |= {f"{one.removesuffix('.ann')}.txt" for one in targets if one.endswith(".ann")}
    if case.command == "example":
        targets.add(".")
    failed = outcome.status in (BAD_INPUT, BAD_USAGE) and not _reports_findings(case, outcome)
    resume = case.option("--resume") or case.cache
    for path, data in outcome.files.items():
        wanted = any(
            path.rstrip("/") == target or target == "." or path.startswith(f"{target}/")
            for target in targets
        )
        if path not in outcome.before and not wanted:
            yield f"left behind: {path}"
        elif path not in outcome.before and failed and not path.endswith("/"):
            if resume is not None and path.startswith(f"{os.path.normpath(resume)}/"):
                continue  # finished pieces stay, to go on from
            yield f"left behind by a failure: {path}"
        elif path in outcome.before and data != outcome.before[path]:
            if not wanted or path in _read_by(case):
                yield f"an input was changed: {path}"
            elif failed:
                yield f"changed by a failure: {path}"
    for path in outcome.before:
        if path not in outcome.files and not path.endswith("/"):
            yield f"gone: {path}"


def _read_by(case: Case) -> set[str]:
    """The paths that a command reads, as far as they are files."""
    last = 1 if case.command == "convert" else None
    return {path for text in case.inputs[:last] for path in (text, text.rpartition("=")[2])}


def _written(case: Case, outcome: Outcome) -> Iterator[str]:
    """What was written can be read again, with all its mentions or a word about those lost."""
    save, fix = case.option("--save"), case.option("--fix")
    target = case.inputs[1] if case.command == "convert" and len(case.inputs) == 2 else None
    path = save or fix or target
    finished = outcome.status in (DONE, GATE) or _reports_findings(case, outcome)
    if not finished or path in (None, "-", ".") or case.only_informs:
        return
    with make_folder() as folder:
        lay_out(outcome.files, Path(folder))
        place = os.path.normpath(os.path.join(folder, path))
        try:
            if save:
                (load_suite if case.command == "suite run" else load_all)(place)
            elif target:
                yield from _converted(case, outcome, Path(folder), place)
            elif outcome.status == DONE:
                read(place, format=case.option("--input-format"))
        except CorefEvalError as error:
            told = str(error).replace(folder, "")
            yield f"what was written by {case.command} cannot be read: {told[:300]}"


def _converted(case: Case, outcome: Outcome, folder: Path, place: str) -> Iterator[str]:
    source, format = case.inputs[0], case.option("--to")
    after = read(place, format=format)
    if source == "-" or "note: " in outcome.err or {"-q", "--quiet"} & {*case.line}:
        return
    encoding = case.option("--encoding") or "utf-8"
    before = read(
        folder / source,
        format=case.option("--input-format"),
        encoding=encoding,
        layer=case.option("--layer"),
    )
    before = before.choose_documents(case.option("--documents") or "*")
    if before.n_mentions != after.n_mentions:
        yield f"{before.n_mentions} mentions became {after.n_mentions} in {format}, in silence"


def _pages(case: Case, outcome: Outcome) -> Iterator[str]:
    """Reports are whole pages, whose data parses."""
    pages = {"report": "report.html", "suite page": "leaderboard.html", "sample": "sheet.csv"}
    page = case.option("--page") if case.command == "merge" else pages.get(case.command)
    if page is None or outcome.status != DONE or case.only_informs:
        return
    name = page if case.command == "merge" else case.option("--output", "-o") or page
    if not name.endswith(".html") and case.command == "sample":
        return
    page = outcome.files.get(os.path.normpath(name), b"").decode("utf-8", "replace")
    if not page.lstrip().lower().startswith("<!doctype html>") or "</html>" not in page[-20:]:
        yield "the report is no whole page"
    for content in re.findall(r"(?s)<script[^>]*application/json[^>]*>(.*?)</script>", page):
        try:
            json.loads(content)
        except ValueError as error:
            yield f"the report's data does not parse: {error}"


RULES: dict[str, Callable[[Case, Outcome], Iterator[str]]] = {
    "status": _status,
    "lines": _lines,
    "blame": _blame,
    "controls": _controls,
    "form": _form,
    "files": _files,
    "written": _written,
    "pages": _pages,
}
