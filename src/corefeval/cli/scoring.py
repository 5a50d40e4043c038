"""The work of `corefeval score`, and the plainest ways to ask for it.

The library that parses commands takes longer to import than a small score takes to be made. Where
all arguments are plain, they are understood here; all others, and all mistakes, go its way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from corefeval.cli.gates import check_limits, check_rates, parse_limits
from corefeval.cli.printing import remark, show, show_trials, tell
from corefeval.cli.responses import ReadingOptions, Request, keep, results_of
from corefeval.protocol import STEPS, choices

if TYPE_CHECKING:
    from corefeval.cli.pieces import PieceOptions
    from corefeval.results import Result

OutputFormat = Literal["text", "json", "csv", "markdown", "latex", "conll", "coval", "corefud"]

NOTHING: Mapping[str, Any] = {}


def run_score(
    key: str,
    response: Sequence[str],
    *,
    metrics: str | None = None,
    by: str = "",
    by_document: bool = False,
    ci: bool = False,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    segments: int = 20,
    format: OutputFormat = "text",
    output: str | None = None,
    save: str | None = None,
    fail_under: Sequence[str] | None = None,
    reading: ReadingOptions,
    tables: Mapping[str, Any] = NOTHING,
    pieces: PieceOptions | None = None,
) -> int:
    """Score responses, print them, and give the exit status; the arguments are the command's."""
    from corefeval.metrics import parse_metrics

    if tables:
        from corefeval.output.tables import Style

        Style.of(format, tables)  # which refuses what cannot be had before anything is scored
    limits = parse_limits(fail_under or ())
    members = None if metrics is None else [item.metric for item in parse_metrics(metrics)]
    if format == "conll":  # it prints mentions with every metric
        selection = members if members is not None else ["standard"]
        members = [item.metric for item in parse_metrics(["mentions", *selection])]
    request = Request(
        command="score",
        metrics=members if format == "conll" else metrics,
        default="standard",
        options={
            **reading.policies,
            "by": by,
            **({"ci": level, "samples": samples, "seed": seed, "segments": segments} if ci else {}),
        },
        reading=reading,
        pieces=pieces,
        targets=(output, save),
    )
    with show_trials(reading.quiet or not ci):
        results = results_of(key, response, request)
    check_rates(results, limits)
    show(
        results, output, format=format, by_document=by_document, **tables
    )  # which may refuse the form
    if save is not None:
        keep(results, save, quiet=reading.quiet)
    if not reading.quiet:
        tell(notice for result in results for notice in result.notices)
        if format in ("conll", "coval", "corefud"):
            _print_left_out(results[0], format)
    return check_limits(results, limits)


def parse_plain(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The arguments of `run_score`, where they are plain; None for all others.

    They mean what they mean to the parser of all commands; a test compares the two. Arguments that
    are repeated, misspelt or written in an unusual way are not plain.
    """
    options = _plain_options()
    files: list[str] = []
    values: dict[str, Any] = {}
    remaining_arguments = iter(arguments)
    for argument in remaining_arguments:
        if not argument.startswith("-") or argument == "-":
            files.append(argument)
            continue
        spelled, equals, text = argument.partition("=")
        option = options.get(spelled)
        if option is None or option[0] in values or (equals and not spelled.startswith("--")):
            return None
        name, pattern = option
        if pattern is None:
            if equals:
                return None
            values[name] = True
            continue
        text = text if equals else next(remaining_arguments, "-")
        if text.startswith("-") or not re.fullmatch(pattern, text, re.DOTALL):
            return None
        values[name] = text
    if not files:
        return None
    numbers = {name: int(values[name]) for name in _NUMBERS if name in values}
    values |= numbers | ({"level": float(values["level"])} if "level" in values else {})
    command_values = {name: values.pop(name) for name in _COMMAND_OPTIONS if name in values}
    return {
        "key": files[0],
        "response": files[1:],
        **command_values,
        "reading": ReadingOptions(**values),
    }


_TEXT, _NUMBER = ".+", "0|[1-9][0-9]{0,8}"
_NUMBERS = ("samples", "seed", "segments", "word_column")
# The options of the command itself; those of reading, and of the protocol, are all others.
_COMMAND_OPTIONS: dict[str, str | None] = {
    "metrics": _TEXT,
    "by": _TEXT,
    "by_document": None,
    "ci": None,
    "samples": _NUMBER,
    "seed": _NUMBER,
    "level": r"0?\.[0-9]{1,8}",
    "segments": _NUMBER,
    "format": "|".join(get_args(OutputFormat)),
    "output": _TEXT,
    "save": _TEXT,
}
_READING = {
    **dict.fromkeys(("protocol", "features", "key_format", "response_format"), _TEXT),
    **dict.fromkeys(("encoding", "key_encoding", "response_encoding"), _TEXT),
    "word_column": _NUMBER,
    "quiet": None,
}
_SHORT = {"-m": "metrics", "-b": "by", "-f": "format", "-o": "output", "-q": "quiet"}


def _plain_options() -> dict[str, tuple[str, str | None]]:
    """The name of each option by its spellings, and what its value looks like; None for flags."""
    patterns = _COMMAND_OPTIONS | _READING
    for name, choice in choices(STEPS).items():
        if choice.flag:
            patterns[choice.flag] = None
        elif choice.option:
            free = choice.values is None or choice.shares
            patterns[name] = _TEXT if free else "|".join(map(re.escape, choice.values or ()))
    options = {"--" + name.replace("_", "-"): (name, form) for name, form in patterns.items()}
    return options | {short: (name, patterns[name]) for short, name in _SHORT.items()}


def _print_left_out(result: Result, format: OutputFormat) -> None:
    from corefeval.output.forms import OWN_RULES, PROGRAMS

    if format == "corefud" and not result.protocol.reads_itself:
        remark("note", f"these are {OWN_RULES}")
    program, names = PROGRAMS[format]
    names += ("mentions",) if format == "conll" else ()
    omissions = [name for name in result.metrics if name not in (*names, "conll")]
    omissions += [f"by {feature}" for feature in result.slices]
    if omissions:
        remark("note", f"not in {program}'s form: {', '.join(omissions)}")
