"""`corefeval explain`: which scorer made a number, and what its choices are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import (
    FLAG,
    check_paths,
    file_parameter,
    label,
    names_of,
    short,
    show,
    tell,
)
from corefeval.cli.reading import READING, Reading
from corefeval.diagnostics import UsageError
from corefeval.display import distinct_names

if TYPE_CHECKING:
    from corefeval.analysis.explanation import Explanation, ResultDifference, Search, Sensitivity

_FILE = file_parameter("explain")

OutputFormat = Literal["text", "json", "csv", "markdown", "latex"]


def explain(
    key: Annotated[
        str | None, _FILE(help="The key: a file, folder or pattern; `-` is standard input.")
    ] = None,
    response: Annotated[str | None, _FILE(help="A response, as PATH or NAME=PATH.")] = None,
    /,
    *more: Annotated[str, _FILE(name="MORE", help="More responses.")],
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    metrics: Annotated[str | None, Parameter(alias=("-m", "--metric"))] = None,
    shapley: Annotated[bool, FLAG()] = False,
    results: Annotated[tuple[str, str] | None, Parameter(negative=())] = None,
    format: Annotated[OutputFormat, Parameter(alias="-f")] = "text",
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    reading: Reading = READING,
) -> None:
    """Explain why numbers differ: which choices of scorers they depend on, and how much.

    ```
    corefeval explain key.conll response.conll --from conll-8.01 --to e2e
    corefeval explain key.conll response.conll --to 61.3 --metric conll
    corefeval explain key.conll old=a.conll new=b.conll
    corefeval explain --results mine.json theirs.json
    corefeval explain key.conll response.conll --results mine.json theirs.json
    ```

    Alone it shows how much numbers depend on each choice, and with several responses whether their
    order does. With `--to` it is one response: what makes two protocols differ, or which protocols
    and choices give a number.

    Parameters
    ----------
    from_
        The protocol to begin with; corefeval's own by default. `corefeval protocols` lists them.
    to
        The protocol to end with, or a published number in per cent, as it was written.
    metrics
        Metrics and presets, separated by commas; by default muc, b3, ceafe and conll, and conll
        alone for a number.
    shapley
        Show also the mean of what a choice is worth over all orders of the choices.
    results
        Two files that `--save` wrote: what differs in how they were made. With the key and the
        response, also what it is worth.
    format
        How to print.
    output
        Write to this file instead of the terminal.
    """
    labelled = [label(argument) for argument in (response, *more) if argument is not None]
    paths = [*([] if key is None else [key]), *(path for _, path in labelled)]
    check_paths(labelled, [*paths, *(results or ())], output)
    if from_ is not None and reading.protocol is not None:
        raise UsageError("--from and --protocol are the same here: leave one of them out")
    if results is not None:
        given = {"--from": from_, "--to": to, "--metrics": metrics, "MORE": more}
        for name, value in given.items():
            if value:
                raise UsageError(f"with --results there is no {name}: leave it out")
        found = _explain_results(results, paths, _options(reading), shapley)
        show(found, output, format=format)
        notices = found.explanation.notices if found.explanation is not None else ()
    else:
        if key is None or not labelled:
            raise UsageError("there is nothing to explain: corefeval explain KEY RESPONSE…")
        made = _explain(key, labelled, (from_, to, metrics, shapley), reading)
        show(made, output, format=format)
        notices = made.notices
    if not reading.quiet:
        tell(notices)


def _options(reading: Reading) -> dict[str, Any]:
    """Choices, and how files are read, as the functions take them."""
    if reading.features is not None:
        raise UsageError("no choice goes by features: leave out --features")
    names = ("key_format", "response_format", "word_column")
    return {**reading.policies, **{name: getattr(reading, name) for name in names}}


def _explain(
    key: str,
    labelled: Sequence[tuple[str | None, str]],
    asked: tuple[str | None, str | None, str | None, bool],
    reading: Reading,
) -> Explanation | Search | Sensitivity:
    """What was asked for: of several responses how much they depend on choices, else of one."""
    from corefeval.analysis.explanation import explain, measure_corpora
    from corefeval.analysis.explanation.scorings import CONLL
    from corefeval.cli.responses import read_all
    from corefeval.preparation import plan

    from_, to, metrics, shapley = asked
    options = _options(reading)
    names, paths = names_of(labelled), [path for _, path in labelled]
    if to is None:
        if shapley:
            raise UsageError("--shapley goes with --to, the protocol to end with")
        key_corpus, corpora = read_all(key, [*zip(names, paths, strict=True)], reading)
        base = options.pop("protocol", None) if from_ is None else from_
        wanted = CONLL if metrics is None else metrics
        made = plan(base, options)
        return measure_corpora(key_corpus, list(corpora), made, wanted, sources=paths)
    # Files, not what was read of them: some programs read them in their own way.
    found: Explanation | Search = explain(
        key, *paths, from_=from_, to=to, metrics=metrics, shapley=shapley, **options
    )
    return replace(found, key=short(key), response=names[0])


def _explain_results(
    results: Sequence[str], paths: Sequence[str], options: dict[str, Any], shapley: bool
) -> ResultDifference:
    """What differs between two saved results, by the names of their files."""
    from corefeval.analysis.explanation import explain_results
    from corefeval.evaluation import load

    if len(paths) == 1:
        raise UsageError(f"{paths[0]} is a key without a RESPONSE: give both, or none")
    if len(results) != 2:
        raise UsageError("--results takes two files that --save wrote: --results a.json b.json")
    first, second = map(load, results)
    names = distinct_names([short(path) for path in results], results)
    found = explain_results(first, second, *paths, shapley=shapley, **options)
    explanation = found.explanation
    if explanation is not None:
        start, goal = explanation.start, explanation.goal
        start, goal = replace(start, name=names[0]), replace(goal, name=names[1])
        explanation = replace(explanation, start=start, goal=goal)
    return replace(found, names=(names[0], names[1]), explanation=explanation)
