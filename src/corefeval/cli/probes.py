"""`corefeval probe`: questions about pronouns, and which candidates responses choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from corefeval.checks import check_choice
from corefeval.cli.options import REQUEST_OPTIONS, TABLE_OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import check_paths, fail, label, names_of, show, show_trials, tell
from corefeval.cli.responses import check_choices, keep, make_request
from corefeval.cli.scoring import find_low, split_limits
from corefeval.diagnostics import UsageError


def probe(options: ParsedOptions) -> int:
    """Score responses to a probe; the exit status says whether a figure is under its limit."""
    from corefeval.probes import read_probe
    from corefeval.probes.result import compare_all
    from corefeval.results import is_saved

    limits = []
    for name, limit in split_limits(options.fail_under or ()):
        check_choice("a limit", name, ("accuracy", "recall", "precision", "f1"))
        limits.append(("accuracy", "f1", limit) if name == "accuracy" else ("links", name, limit))
    inputs = [label(argument) for argument in (options.probe, *options.response)]
    labels = inputs if is_saved(inputs[0][1]) else inputs[1:]
    check_paths(labels, [p for _, p in inputs], options.output, options.save, options.write)
    reading = {"format": options.probe_format, "encoding": options.encoding}
    questions = None if labels is inputs else read_probe(options.probe, **reading)
    results = [*_list_results(options, questions, labels)]
    if results:
        with show_trials(options.quiet):
            pairs = compare_all(results, **options.given("trials", "seed"))
        drawing = {"by_document": options.by_item, "comparisons": pairs}
        drawing |= options.given(*TABLE_OPTIONS.split())
        show(results, options.output, format=options.format, **drawing)
    elif options.write is None or options.output is not None or options.save is not None:
        raise UsageError("RESPONSE is missing: corefeval probe PROBE RESPONSE…, or --write FILE")
    if questions is not None and options.write is not None:
        questions.write(options.write)
    if results and options.save is not None:
        keep(results, options.save, quiet=options.quiet)
    tell((notice for result in results for notice in result.notices), quiet=options.quiet)
    return fail(find_low(results, limits))


def _list_results(
    options: ParsedOptions, questions: Any, labels: Sequence[tuple[str | None, str]]
) -> Iterator[Any]:
    """The results of responses to a probe, and those that were saved."""
    from corefeval.evaluation import load_all
    from corefeval.probes import ProbeResult, probe
    from corefeval.results import is_saved

    request, view = make_request(options, "muc"), options.given("by", "contrast", "level")
    for name, (stated, path) in zip(names_of(labels, options.probe), labels, strict=True):
        if is_saved(path):
            for result in load_all(path):
                check_choices(result, path, options, request)
                if not isinstance(result, ProbeResult):
                    raise UsageError(f"{path} is no result of a probe: score and compare take it")
                yield result.view(**view).rename(stated or result.response)
        elif questions is None:
            raise UsageError(f"{path} needs a probe before it: {options.probe} is a saved result")
        else:
            result = probe(questions, path, **view, **options.given(*REQUEST_OPTIONS))
            yield result.rename(name)
