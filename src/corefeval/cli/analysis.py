"""`corefeval errors`, `agree` and `explain`: what lies behind numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, Format, Metrics, Output, file_parameter
from corefeval.cli.printing import check_paths, label, names_of, short, show, tell
from corefeval.cli.reading import (
    AGREEMENT,
    ERRORS,
    READING,
    AgreementReading,
    ErrorReading,
    Reading,
)
from corefeval.diagnostics import UsageError
from corefeval.display import distinct_names

if TYPE_CHECKING:
    from corefeval.analysis.explanation import Explanation, ResultDifference, Search, Sensitivity

_ERRORS_FILE = file_parameter("errors")
_AGREE_FILE = file_parameter("agree")
_EXPLAIN_FILE = file_parameter("explain")
_FAMILIES = ("set", "bridging")  # of kinds: each stands for missed, spurious and wrong ones


def errors(
    key: Annotated[
        str, _ERRORS_FILE(help="The key: a file, folder or pattern; `-` is standard input.")
    ],
    response: Annotated[str, _ERRORS_FILE(help="A response, as PATH or NAME=PATH.")],
    /,
    *more: Annotated[str, _ERRORS_FILE(name="MORE", help="More responses.")],
    metrics: Metrics = "conll, lea",
    list: Annotated[str, Parameter(alias="-l", show_default=False)] = "",
    top: Annotated[int, Parameter(alias="-n")] = 5,
    by: Annotated[str, Parameter(alias="-b")] = "kind",
    format: Format = "text",
    output: Output = None,
    reading: ErrorReading = ERRORS,
) -> None:
    """Show what is wrong with responses, and what each kind of error costs.

    ```
    corefeval errors key.conll response.conll
    corefeval errors key.conll old=a.conll new=b.conll --metrics conll,lea --top 0
    corefeval errors key.conll response.conll --list divided
    corefeval errors key.conll response.conll --list all -f csv -o errors.csv
    ```

    Parameters
    ----------
    list
        List all errors of these kinds, separated by commas: `span`, `conflated`, `extra mention`,
        `extra entity`, `missing mention`, `missing entity`, `divided`, `missed set`,
        `spurious set`, `wrong set`, or `set` for all three, the same with `bridging`, or `all`.
    top
        How many of the most expensive mentions and entities to show.
    by
        The feature of mentions to break links down by.
    """
    from corefeval.analysis.errors import analyse_prepared, judge_alike
    from corefeval.analysis.errors.classification import KINDS, OTHERS, error_kind
    from corefeval.cli.responses import make_request, read_all
    from corefeval.preparation import prepare_corpora

    if top < 0:
        raise UsageError(f"--top must be 0 or more, not {top}")
    parts = [part for part in list.split(",") if part.strip()]
    kind_names = [*map(str.strip, parts)]
    kinds: tuple[str, ...] = (*KINDS, *OTHERS)
    if "all" not in kind_names:
        named = {family: [kind for kind in OTHERS if kind.endswith(family)] for family in _FAMILIES}
        kinds = tuple(k for part in kind_names for k in named.get(part) or [error_kind(part)])
    labels = [label(argument) for argument in (response, *more)]
    paths = [path for _, path in labels]
    check_paths(labels, [key, *paths], output)
    request = make_request(metrics, {**reading.policies, "by": (by,)}, reading)
    files = [*zip(names_of(labels, key), paths, strict=True)]
    key_corpus, corpora = read_all(key, files, request, quiet=reading.quiet)
    analyses = judge_alike(
        [
            analyse_prepared(prepare_corpora(key_corpus, corpus, request), request.metrics, by=by)
            for corpus in corpora
        ]
    )
    # Features that cannot be had are an error before anything is written.
    notices = [notice for analysis in analyses for notice in analysis.notices]
    show(analyses, output, format=format, kinds=kinds, top=top)
    tell(
        [*notices, *(notice for analysis in analyses for notice in analysis.notices)],
        quiet=reading.quiet,
    )


def agree(
    file: Annotated[
        str, _AGREE_FILE(help="One annotator's file, folder or pattern, or NAME=PATH.")
    ],
    other: Annotated[str, _AGREE_FILE(help="Another annotator's.")],
    /,
    *more: Annotated[str, _AGREE_FILE(name="MORE", help="More annotators.")],
    metrics: Metrics = "standard",
    distances: str = "all",
    by_document: Annotated[bool, FLAG()] = False,
    format: Format = "text",
    output: Output = None,
    file_format: str | None = None,
    reading: AgreementReading = AGREEMENT,
) -> None:
    """Measure the agreement between annotators: F1 of each pair, and Krippendorff's α over chains.

    ```
    corefeval agree ann.conll bob.conll
    corefeval agree ann=a.conll bob=b.conll cleo=c.conll --metrics conll,lea
    corefeval agree ann/ bob/ --distances masi --unmarked missing --by-document
    ```

    Parameters
    ----------
    distances
        Distances between chains for α, separated by commas: `passonneau`, `jaccard`, `masi`,
        `dice`, or `all`.
    by_document
        Show each document's agreement too.
    file_format
        The files' format (conll, corefud, e2e, …); by default it is recognised by their content.
    """
    from corefeval.analysis.agreement import agree
    from corefeval.analysis.alpha import parse_distances
    from corefeval.cli.responses import make_request
    from corefeval.formats import read, read_ahead

    labels = [label(argument) for argument in (file, other, *more)]
    paths = [path for _, path in labels]
    _check_annotators(labels, paths, output)
    make_request(metrics, reading.policies, reading)  # a mistake is told before files are read
    parse_distances(distances)
    names = names_of(labels)
    jobs = [
        partial(read, path, name=name, **{**reading.of_key, "format": file_format})
        for path, name in zip(paths, names, strict=True)
    ]
    agreement = agree(
        dict(zip(names, read_ahead(jobs), strict=True)),
        metrics=metrics,
        distances=distances,
        **reading.policies,
    )
    show(agreement, output, format=format, by_document=by_document)
    tell(agreement.notices, quiet=reading.quiet)


def _check_annotators(
    labels: list[tuple[str | None, str]], paths: list[str], output: str | None
) -> None:
    titles = [name or path for name, path in labels]
    twice = max(titles, key=titles.count)
    if titles.count(twice) > 1 and twice != "-":
        raise UsageError(f"two annotators are called {twice!r}: name them, as in NAME={twice}")
    check_paths(labels, paths, output)


def explain(
    key: Annotated[
        str | None, _EXPLAIN_FILE(help="The key: a file, folder or pattern; `-` is standard input.")
    ] = None,
    response: Annotated[str | None, _EXPLAIN_FILE(help="A response, as PATH or NAME=PATH.")] = None,
    /,
    *more: Annotated[str, _EXPLAIN_FILE(name="MORE", help="More responses.")],
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    metrics: Annotated[str | None, Parameter(alias=("-m", "--metric"))] = None,
    results: Annotated[tuple[str, str] | None, Parameter(negative=())] = None,
    format: Format = "text",
    output: Output = None,
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

    Without options, it shows how much numbers depend on each choice and, with several responses,
    whether their order does. With `--to` and one response, it shows what makes two protocols
    differ, or which protocols and choices give a number.

    Parameters
    ----------
    from_
        The protocol to start from; corefeval's own by default. `corefeval protocols` lists them.
    to
        The protocol to compare with, or a published number in percent, digits as published.
    metrics
        Metrics and presets, separated by commas; by default muc, b3, ceafe and conll, or only
        conll for a number.
    results
        Two files that `--save` wrote: show how their protocols differ. With the key and the
        response, also show what each difference is worth.
    """
    labelled = [label(argument) for argument in (response, *more) if argument is not None]
    paths = [*([] if key is None else [key]), *(path for _, path in labelled)]
    check_paths(labelled, [*paths, *(results or ())], output)
    if from_ is not None and reading.protocol is not None:
        raise UsageError("--from and --protocol are the same here: leave one of them out")
    if results is not None:
        conflicts = {"--from": from_, "--to": to, "--metrics": metrics, "MORE": more}
        for name, value in conflicts.items():
            if value:
                raise UsageError(f"--results does not go with {name}: leave it out")
        difference = _explain_results(results, paths, _options(reading))
        show(difference, output, format=format)
        notices = difference.explanation.notices if difference.explanation is not None else ()
    else:
        if key is None or not labelled:
            raise UsageError("nothing to explain: write corefeval explain KEY RESPONSE…")
        explanation = _explain(key, labelled, (from_, to, metrics), reading)
        show(explanation, output, format=format)
        notices = explanation.notices
    tell(notices, quiet=reading.quiet)


def _options(reading: Reading) -> dict[str, Any]:
    """The choices, and how files are read, as keywords of `explain` and `explain_results`."""
    if reading.features is not None:
        raise UsageError("no choice depends on features: leave out --features")
    names = ("key_format", "response_format", "word_column")
    return {**reading.policies, **{name: getattr(reading, name) for name in names}}


def _explain(
    key: str,
    labelled: Sequence[tuple[str | None, str]],
    question: tuple[str | None, str | None, str | None],
    reading: Reading,
) -> Explanation | Search | Sensitivity:
    """Explain the numbers of responses; `question` is --from, --to and --metrics.

    Without --to, it is a Sensitivity: how much the numbers depend on each choice. With it, what
    makes two protocols differ, or which choices give a number.
    """
    from corefeval.analysis.explanation import check_choosing, explain, measure_corpora
    from corefeval.analysis.explanation.scorings import CONLL
    from corefeval.cli.responses import read_all
    from corefeval.request import Request

    from_, to, metrics = question
    options = _options(reading)
    names, paths = names_of(labelled, key), [path for _, path in labelled]
    if to is None:
        base = options.pop("protocol", None) if from_ is None else from_
        measured_metrics = CONLL if metrics is None else metrics
        request = Request.of(base, options)
        check_choosing(request, measured_metrics)
        files = [*zip(names, paths, strict=True)]
        key_corpus, corpora = read_all(key, files, request, quiet=reading.quiet)
        return measure_corpora(key_corpus, list(corpora), request, measured_metrics, sources=paths)
    # Files, not what was read of them: some programs read them in their own way.
    explanation: Explanation | Search = explain(
        key, *paths, from_=from_, to=to, metrics=metrics, **options
    )
    return replace(explanation, key=short(key), response=names[0])


def _explain_results(
    results: Sequence[str], paths: Sequence[str], options: dict[str, Any]
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
    difference = explain_results(first, second, *paths, **options)
    explanation = difference.explanation
    if explanation is not None:
        start, goal = explanation.start, explanation.goal
        start, goal = replace(start, name=names[0]), replace(goal, name=names[1])
        explanation = replace(explanation, start=start, goal=goal)
    return replace(difference, names=(names[0], names[1]), explanation=explanation)
