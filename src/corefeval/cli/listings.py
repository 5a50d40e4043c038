"""`corefeval metrics`, `features`, `protocols`, `example` and the like: what there is to have."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from corefeval.checks import did_you_mean
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import remark
from corefeval.diagnostics import InputError, UsageError
from corefeval.display import json_text, visible
from corefeval.examples import NAMES, SUITE
from corefeval.examples import example as path_of
from corefeval.features.declarations import FEATURES, FeatureDeclaration
from corefeval.files import write_folder
from corefeval.metrics import REGISTRY, Declaration, Metric, presets
from corefeval.metrics.own import load_offered
from corefeval.protocol import NAMED, Choice, NamedProtocol, Protocol, choices, find_named


def metrics(options: ParsedOptions) -> None:
    """List metrics with their definitions and papers."""
    names = options.name
    for problem in load_offered() if not names else ():
        remark("note", str(problem))
    declarations = [Metric.parse(text).declaration for text in names] or list(REGISTRY.values())
    if options.format == "json":
        sys.stdout.write(_metrics_json(declarations))
        return
    sys.stdout.write("\n".join(_metric_entry(declaration) for declaration in declarations) + "\n")
    if not names:
        sys.stdout.write(_list_presets())


def _list_presets() -> str:
    lists = [
        line
        for name, members in presets().items()
        for line in textwrap.wrap(f"{name:10}{', '.join(members)}", 78, subsequent_indent=" " * 10)
    ]
    return "\n".join(("Presets", *(f"  {line}" for line in lists))) + "\n"


def _metric_entry(declaration: Declaration) -> str:
    lines = [*textwrap.wrap(declaration.summary, 70), *textwrap.wrap(declaration.definition, 70)]
    for parameter in declaration.parameters:
        choices = f": {' | '.join(parameter.choices)}" if parameter.choices else ""
        text = f"{parameter.name}={parameter.default}  {parameter.summary}{choices}"
        lines += textwrap.wrap(text, 70, subsequent_indent="    ")
    if declaration.aliases:
        lines += textwrap.wrap(f"also: {', '.join(declaration.aliases)}", 70)
    lines += textwrap.wrap(declaration.reference, 70)
    return _entry(declaration.name, 10, lines)


def _entry(name: str, width: int, lines: list[str]) -> str:
    """A name, and lines about it in a column beside it; below it where the name is too long."""
    first = f"{name:{width}}" if len(name) < width else f"{name}\n{'':{width}}"
    return first + f"\n{'':{width}}".join(lines) + "\n"


def _metrics_json(declarations: list[Declaration]) -> str:
    names = ("name", "title", "summary", "definition", "reference", "aliases", "parts")
    of_parameter = ("name", "default", "choices", "summary")
    entries = [
        {
            **{name: getattr(declaration, name) for name in names},
            "parameters": [
                {name: getattr(parameter, name) for name in of_parameter}
                for parameter in declaration.parameters
            ],
        }
        for declaration in declarations
    ]
    return json_text({"metrics": entries, "presets": presets()})


_UNLISTED_FEATURES = """\
Also: any property of mentions in a file (CorefUD's infstat, …), by its name.
Your own: score … --features FILE.tsv --by mine, with columns document,
start, end, mine; in Python also any mapping or function:
score(…, features={"mine": …}, by="mine").
"""


def features(options: ParsedOptions) -> None:
    """List the features that scores can be broken down by."""
    names = options.name
    for text in names:
        if text.lower() not in FEATURES:
            raise UsageError(f"there is no feature {text!r}: {did_you_mean(text, FEATURES)}")
    declarations = [FEATURES[text.lower()] for text in names] or list(FEATURES.values())
    if options.format == "json":
        sys.stdout.write(json_text({"features": [asdict(feature) for feature in declarations]}))
        return
    sys.stdout.write("\n".join(map(_feature_entry, declarations)) + "\n")
    if not names:
        sys.stdout.write(_UNLISTED_FEATURES)


def _feature_entry(feature: FeatureDeclaration) -> str:
    article = "an" if feature.level == "entity" else "a"
    lines = textwrap.wrap(f"{feature.summary} (of {article} {feature.level})", 62)
    lines += textwrap.wrap(feature.arguments.replace("`", ""), 62)
    lines += textwrap.wrap(f"needs {feature.needs}", 62) if feature.needs else []
    return _entry(feature.name, 16, lines)


def protocols(options: ParsedOptions) -> None:
    """List the choices that affect scores, and named protocols that bundle them."""
    selection = _find_entries(options.name)
    bundles = [bundle for bundle in selection.values() if isinstance(bundle, NamedProtocol)]
    declarations = {
        name: choice for name, choice in selection.items() if isinstance(choice, Choice)
    }
    if options.format == "json":
        content = {
            "protocols": [
                {**bundle._asdict(), "text": _write_signature(bundle)} for bundle in bundles
            ],
            "choices": [
                {"name": name, **choice._asdict()} for name, choice in declarations.items()
            ],
        }
        sys.stdout.write(json_text(content))
        return
    if not options.name:
        sys.stdout.write(_protocol_table(bundles) + "\n")
    entries = [_protocol_entry(bundle) for bundle in bundles if options.name]
    entries += [_choice_entry(name, choice) for name, choice in declarations.items()]
    sys.stdout.write("\n".join(entries) + "\n")


def _find_entries(names: Sequence[str]) -> dict[str, NamedProtocol | Choice]:
    """Protocols and choices by their names, all of them for no name; a UsageError for others."""
    catalogue: dict[str, NamedProtocol | Choice] = {**NAMED, **choices()}
    selection: dict[str, NamedProtocol | Choice] = {}
    for text in names:
        entry = catalogue.get(text) or catalogue.get(text.replace("-", "_")) or find_named(text)
        if entry is None:
            raise UsageError(
                f"there is no protocol or choice {text!r}: {did_you_mean(text, catalogue)}"
            )
        selection[text.replace("-", "_") if isinstance(entry, Choice) else text] = entry
    return selection or catalogue


def _write_signature(bundle: NamedProtocol) -> str:
    return str(Protocol.of(bundle.name))


def _protocol_table(bundles: Sequence[NamedProtocol]) -> str:
    """A table of named protocols: whose numbers they give, and how they differ from the default."""
    from corefeval.output.tables import Cell, Column, Sheet, Table
    from corefeval.output.terminal import draw_text

    rows = []
    for bundle in bundles:
        changes = Protocol.of(bundle.name).differences(Protocol())
        values = {name.replace("_", "-"): value for name, (value, _) in changes.items()}
        repeats = values.get("repeats-key", "")
        if repeats and repeats == values.get("repeats-response"):
            values = {"repeats": repeats} | values
            del values["repeats-key"], values["repeats-response"]
        differences = ", ".join(f"{name} {value}" for name, value in values.items())
        rows.append((Cell(bundle.name), Cell(bundle.summary), Cell(differences or "–")))
    columns = (Column("Protocol", unbroken=True), Column("Whose numbers"), Column("What differs"))
    footnote = "corefeval protocols NAME shows the quirks and the source of one."
    return draw_text(
        Sheet((Table(columns, tuple((row,) for row in rows)), footnote), gap=2), most=80
    )


def _protocol_entry(bundle: NamedProtocol) -> str:
    """What a protocol is, which choices it makes, and what is odd about it."""
    text = _write_signature(bundle)
    signature = _wrap(text.replace("|", "| ") if len(text) > 78 else text)
    lines = [*textwrap.wrap(bundle.summary, 78), *(line.replace("| ", "|") for line in signature)]
    lines += _wrap(f"metrics: {bundle.metrics}") if bundle.metrics else []
    for oddity in bundle.oddities:
        lines += textwrap.wrap(oddity, 78, initial_indent="- ", subsequent_indent="  ")
    lines += _wrap(bundle.reference)
    return "\n  ".join((f"{bundle.name} (protocol)", *lines)) + "\n"


def _wrap(text: str) -> list[str]:
    """A text in lines, in which nothing is cut at a hyphen."""
    return textwrap.wrap(text, 78, break_on_hyphens=False, break_long_words=False)


def _choice_entry(name: str, choice: Choice) -> str:
    lines = textwrap.wrap(choice.summary, 62)
    for value, meaning in choice.spellings.items():
        default = " (default)" if value == choice.default else ""
        lines += textwrap.wrap(f"{value}: {meaning}{default}", 62, subsequent_indent="    ")
    if not choice.values:
        lines.append(f"default: {choice.default}")
    if choice.example:
        lines += textwrap.wrap(f"example: {choice.example}", 62, subsequent_indent="    ")
    if choice.option:
        lines.append(f"option: --{name.replace('_', '-')}")
    else:
        value = list(choice.values)[-1] if choice.values else "…"
        lines.append(f"no option of its own: --protocol '{name}:{value}'")
    return _entry(name, 18, lines)


def cite(options: ParsedOptions) -> None:
    """Print BibTeX for corefeval and for the papers of metrics."""
    from corefeval.evaluation import load_all
    from corefeval.metrics.bibliography import cite as entries

    for path in options.file:
        if path and not os.path.exists(path):
            fix = f"name a file that score --save wrote; metrics are chosen with --metrics {path}"
            raise InputError("there is no such saved result", file=path, fix=fix)
    results = [result for path in options.file for result in load_all(path)]
    used = [name for result in results for name in result.metrics]
    protocols = [result.protocol for result in results]
    sys.stdout.write(entries(options.metrics or (), saved=used, protocols=protocols))


def example(options: ParsedOptions) -> None:
    """Copy the example corpus, or the example of a suite, to a folder."""
    folder = options.folder
    files = {path.name: path for path in map(Path, map(path_of, NAMES))}
    if not folder:
        raise UsageError("'' names no folder")
    if options.suite:
        paths = sorted((*SUITE.glob("*.toml"), *SUITE.glob("*/*.conll*"), *SUITE.glob("*/*.jsonl")))
        files = {path.relative_to(SUITE).as_posix(): path for path in paths}
    contents = {name: path.read_bytes() for name, path in files.items()}
    for name, content in contents.items():
        target = Path(folder) / name
        if os.path.exists(target) and not _holds(target, content):
            raise InputError(
                "another file of this name exists",
                file=str(target),
                fix="choose another folder: corefeval example FOLDER",
            )
    for place, names in groupby(contents, key=os.path.dirname):
        folder_contents = {os.path.basename(name): contents[name] for name in names}
        write_folder(os.path.join(folder, place) if place else folder, folder_contents)
    sys.stdout.writelines(f"{visible(str(Path(folder) / name))}\n" for name in contents)


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False
