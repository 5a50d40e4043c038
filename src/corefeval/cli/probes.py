"""`corefeval probe`: questions about pronouns, and which candidates responses choose."""

from __future__ import annotations

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
    from corefeval.evaluation import load_all
    from corefeval.probes import ProbeResult, read_probe
    from corefeval.probes import probe as score_probe
    from corefeval.probes.result import compare_all
    from corefeval.results import is_saved

    limits = []
    for name, limit in split_limits(options.fail_under or ()):
        check_choice("a limit", name, ("accuracy", "recall", "precision", "f1"))
        limits.append(("accuracy", "f1", limit) if name == "accuracy" else ("links", name, limit))
    arguments = [options.probe, *options.response]
    inputs = [label(argument) for argument in arguments]
    is_probe = not is_saved(inputs[0][1])
    labels = inputs[is_probe:]
    check_paths(labels, [p for _, p in inputs], options.output, options.save, options.write)
    request, view = make_request(options, "muc"), options.given("by", "contrast", "level")
    reading = {"format": options.probe_format, "encoding": options.encoding}
    questions = read_probe(options.probe, **reading) if is_probe else None
    results: list[Any] = []
    for name, (stated, path) in zip(names_of(labels, options.probe), labels, strict=True):
        if not is_saved(path):
            if questions is None:
                raise UsageError(
                    f"{path} needs a probe before it: {options.probe} is a saved result"
                )
            scored = score_probe(questions, path, **view, **options.given(*REQUEST_OPTIONS))
            results.append(scored.rename(name))
            continue
        for result in load_all(path):
            check_choices(result, path, options, request)
            if not isinstance(result, ProbeResult):
                raise UsageError(f"{path} is no result of a probe: score and compare take it")
            results.append(result.view(**view).rename(stated or result.response))
    if not results and (questions is None or options.write is None):
        raise UsageError("RESPONSE is missing: corefeval probe PROBE RESPONSE…, or --write FILE")
    if results:
        with show_trials(options.quiet):
            pairs = compare_all(results, **options.given("trials", "seed"))
        drawing = {"by_document": options.by_item, "comparisons": pairs}
        drawing |= options.given(*TABLE_OPTIONS.split())
        show(results, options.output, format=options.format, **drawing)
    if questions is not None and options.write is not None:
        questions.write(options.write)
    if results and options.save is not None:
        keep(results, options.save, quiet=options.quiet)
    tell((notice for result in results for notice in result.notices), quiet=options.quiet)
    return fail(find_low(results, limits))
