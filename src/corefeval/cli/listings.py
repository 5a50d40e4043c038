"""`corefeval metrics`, `features`, `protocols` and `example`: what there is to choose from."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from corefeval.checks import did_you_mean
from corefeval.diagnostics import InputError, UsageError
from corefeval.display import json_text, visible
from corefeval.examples import NAMES
from corefeval.examples import example as path_of
from corefeval.features.declarations import FEATURES, FeatureDeclaration
from corefeval.files import write_folder
from corefeval.metrics import REGISTRY, Declaration, Metric, presets
from corefeval.protocol import NAMED, Choice, NamedProtocol, Protocol, choices

Format = Annotated[Literal["text", "json"], Parameter(alias="-f")]


def metrics(*names: str, format: Format = "text") -> None:
    """List metrics with their definitions and papers: all of them, or those that are named.

    Parameters
    ----------
    names
        Metrics, in any spelling.
    format
        How to print.
    """
    chosen = [Metric.parse(name).declaration for name in names] or list(REGISTRY.values())
    if format == "json":
        sys.stdout.write(_metrics_json(chosen))
        return
    sys.stdout.write("\n".join(_metric_entry(declaration) for declaration in chosen) + "\n")
    if not names:
        sys.stdout.write(_presets())


def _presets() -> str:
    lists = [f"{name:10}{', '.join(members)}" for name, members in presets().items()]
    return "\n".join(("Presets", *(f"  {line}" for line in lists))) + "\n"


def _metric_entry(declaration: Declaration) -> str:
    lines = [f"{declaration.name:10}{declaration.summary}"]
    lines += textwrap.wrap(declaration.definition, 68)
    for parameter in declaration.parameters:
        choices = f": {' | '.join(parameter.choices)}" if parameter.choices else ""
        lines.append(f"{parameter.name}={parameter.default}  {parameter.summary}{choices}")
    if declaration.aliases:
        lines.append(f"also: {', '.join(declaration.aliases)}")
    lines.append(declaration.reference)
    return "\n".join((lines[0], *(f"          {line}" for line in lines[1:]), ""))


def _metrics_json(chosen: list[Declaration]) -> str:
    entries = [
        {
            "name": declaration.name,
            "title": declaration.title,
            "summary": declaration.summary,
            "definition": declaration.definition,
            "reference": declaration.reference,
            "aliases": list(declaration.aliases),
            "parts": list(declaration.parts),
            "parameters": [
                {
                    "name": parameter.name,
                    "default": parameter.default,
                    "choices": list(parameter.choices),
                    "summary": parameter.summary,
                }
                for parameter in declaration.parameters
            ],
        }
        for declaration in chosen
    ]
    return json_text({"metrics": entries, "presets": presets()})


_OTHERS = """\
Also: any property of mentions that a file states (CorefUD's infstat, …), by its name.
Your own: score … --features FILE.tsv --by mine, with columns document, start, end, mine; in Python
also any mapping or function: score(…, features={"mine": …}, by="mine").
"""


def features(*names: str, format: Format = "text") -> None:
    """List the features of documents, entities and mentions that scores can be shown by.

    Parameters
    ----------
    names
        Features; all of them if none is named.
    format
        How to print.
    """
    for name in names:
        if name.lower() not in FEATURES:
            raise UsageError(f"there is no feature {name!r}: there are {', '.join(FEATURES)}")
    chosen = [FEATURES[name.lower()] for name in names] or list(FEATURES.values())
    if format == "json":
        listed = {"features": [asdict(feature) for feature in chosen]}
        sys.stdout.write(json_text(listed))
        return
    sys.stdout.write("\n".join(map(_feature_entry, chosen)) + "\n")
    if not names:
        sys.stdout.write(_OTHERS)


def _feature_entry(feature: FeatureDeclaration) -> str:
    lines = [*textwrap.wrap(f"{feature.summary} (of {_article(feature.level)})", 76)]
    if feature.arguments:
        lines += textwrap.wrap(feature.arguments.replace("`", ""), 76)
    lines += [f"needs {feature.needs}"] if feature.needs else []
    first, *rest = lines
    indented = (f"{'':16}{line}" for line in rest)
    return "\n".join((f"{feature.name:16}{first}", *indented, ""))


def _article(level: str) -> str:
    return f"an {level}" if level == "entity" else f"a {level}"


def protocols(*names: str, format: Format = "text") -> None:
    """List what can be chosen about how scores are made, and the names of common choices.

    A protocol is written as the signature under a score: `--protocol 'singletons:drop'`.

    Parameters
    ----------
    names
        Named protocols, or choices; all of them if none is named.
    format
        How to print.
    """
    known = {**NAMED, **choices()}
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no protocol or choice {name!r}: {did_you_mean(name, known)}"
            )
    wanted = {name: known[name] for name in names} or known
    named = [one for one in wanted.values() if isinstance(one, NamedProtocol)]
    chosen = {name: one for name, one in wanted.items() if isinstance(one, Choice)}
    if format == "json":
        listed = {
            "protocols": [{**asdict(one), "text": _text(one)} for one in named],
            "choices": [{"name": name, **asdict(choice)} for name, choice in chosen.items()],
        }
        sys.stdout.write(json_text(listed))
        return
    entries = [_protocol_entry(one) for one in named]
    entries += [_choice_entry(name, choice) for name, choice in chosen.items()]
    sys.stdout.write("\n".join(entries) + "\n")


def _text(named: NamedProtocol) -> str:
    return str(Protocol.of(named.name))


def _protocol_entry(named: NamedProtocol) -> str:
    lines = [named.summary, _text(named), *([named.reference] if named.reference else [])]
    return _entry(f"{named.name} (protocol)", lines)


def _choice_entry(name: str, choice: Choice) -> str:
    lines = textwrap.wrap(choice.summary, 62)
    for value, meaning in choice.spellings.items():
        default = " (default)" if value == choice.default else ""
        lines += textwrap.wrap(f"{value}: {meaning}{default}", 62, subsequent_indent="    ")
    if not choice.values:
        lines.append(f"default: {choice.default}")
    if choice.flag:
        lines.append(f"option: --{choice.flag.replace('_', '-')}")
    return _entry(name, lines)


def _entry(name: str, lines: list[str]) -> str:
    """A name with what is said of it beside and below."""
    shown = f"{name:16}" if len(name) < 16 else f"{name}\n{'':16}"
    return shown + f"\n{'':16}".join(lines) + "\n"


def example(folder: str = ".", /) -> None:
    """Copy the example corpus to a folder: key.conll, cautious.conll and eager.conll.

    With them come two language models' answers, tagged.jsonl and listed.jsonl.

    Parameters
    ----------
    folder
        Where to put the files; the current folder by default.
    """
    sources = [Path(path_of(name)) for name in NAMES]
    targets = [Path(folder) / source.name for source in sources]
    contents = {source.name: source.read_bytes() for source in sources}
    for target in targets:
        if target.exists() and not _has(target, contents[target.name]):
            raise InputError(
                "there is another file of this name",
                file=str(target),
                fix="choose another folder: corefeval example FOLDER",
            )
    write_folder(folder, contents)
    sys.stdout.writelines(f"{visible(str(target))}\n" for target in targets)


def _has(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False
