"""`corefeval probe`: questions about pronouns, and which candidates responses choose."""

from __future__ import annotations

from corefeval.checks import check_choice
from corefeval.cli.options import TABLE_OPTIONS
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
    has_probe = not is_saved(label(options.probe)[1])
    labels = [label(path) for path in (*([] if has_probe else [options.probe]), *options.response)]
    inputs = [path for _, path in labels] + ([options.probe] if has_probe else [])
    check_paths(labels, inputs, options.output, options.save, options.write)
    request, view = make_request(options, "muc"), options.given("by", "contrast", "level")
    asked = None
    if has_probe:
        asked = read_probe(options.probe, format=options.probe_format, encoding=options.encoding)
        if options.write is not None:
            asked.write(options.write)
    if not labels and (asked is None or options.write is None):
        raise UsageError("there is no RESPONSE: corefeval probe PROBE RESPONSE…, or --write FILE")
    results: list[ProbeResult] = []
    for name, (given_name, path) in zip(names_of(labels, options.probe), labels, strict=True):
        if not is_saved(path):
            if asked is None:
                raise UsageError(f"{path} needs a probe before it; {options.probe} is saved")
            result = score_probe(asked, path, **view, **options.policies)
            results.append(result.rename(name))
            continue
        for saved in load_all(path):
            check_choices(saved, path, options, request)
            if not isinstance(saved, ProbeResult):
                raise UsageError(f"{path} is no result of a probe: score and compare take it")
            saved = saved.rename(given_name) if given_name else saved
            results.append(saved.view(**{"by": None, "contrast": None, "level": None, **view}))
    if not results:
        return 0
    with show_trials(options.quiet):
        comparisons = compare_all(results, **options.given("trials", "seed"))
    tables = options.given(*TABLE_OPTIONS.split())
    drawing = {"by_document": options.by_item, "comparisons": comparisons}
    show(results, options.output, format=options.format, **drawing, **tables)
    if options.save is not None:
        keep(results, options.save, quiet=options.quiet)
    tell((notice for result in results for notice in result.notices), quiet=options.quiet)
    return fail(find_low(results, limits))
