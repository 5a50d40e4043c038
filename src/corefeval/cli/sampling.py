"""`corefeval sample` and `estimate`: scores with intervals, without a key."""

from __future__ import annotations

import sys
from contextlib import suppress

from corefeval.cli.options import REQUEST_OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import check_paths, label, names_of, plain_names, show, tell
from corefeval.diagnostics import CorefEvalError, UsageError, plural
from corefeval.display import visible

_OF_TABLES = ("digits", "caption", "label", "width")


def _name_responses(options: ParsedOptions, *files: str | None) -> dict[str, str]:
    """Responses by name, after a check of all paths."""
    labels = [label(argument) for argument in (options.response, *options.more)]
    paths = [path for _, path in labels]
    check_paths(labels, [*paths, *filter(None, files)], options.output)
    names = plain_names(names_of(labels), {name for name, _ in labels})
    return dict(zip(names, paths, strict=True))


def sample(options: ParsedOptions) -> None:
    """Draw what people should look at, and write it as a sheet."""
    from corefeval.sampling.draws import sample

    if options.design is None and options.answers is None:
        raise UsageError("--design is missing: choose names, entities, pairs or sentences")
    if options.n is None:
        raise UsageError("--n is missing: say how many draws people should look at")
    responses = _name_responses(options, options.answers, options.candidates)
    _keep_answers(options.output)
    names = ("design", "n", "seed", "candidates", "answers")
    sheet = sample(responses, **options.given(*names), **options.given(*REQUEST_OPTIONS))
    sheet.write(options.output)
    size = sheet.signature.frame
    draws = plural(min(sheet.signature.n, size), "draw")
    total = f"{draws} of {size:,}, {plural(len(sheet), 'row')}"
    sys.stdout.write(f"{visible(options.output)}: {total}\n")
    tell(sheet.notices, quiet=options.quiet)


def _keep_answers(path: str) -> None:
    """Raise a UsageError if a sheet that somebody has begun to fill in would be replaced."""
    from corefeval.sampling.sheets import read_sheet

    answered = 0
    with suppress(CorefEvalError, OSError):  # what is no sheet is replaced, as by other commands
        answered = sum(row.is_answered for row in read_sheet(path))
    if answered:
        raise UsageError(
            f"{visible(path)} has {plural(answered, 'row')} with answers, which would be lost: "
            "name another file with --output"
        )


def estimate(options: ParsedOptions) -> None:
    """Estimate scores from sheets that people filled in."""
    from corefeval.sampling.estimates import estimate

    sheets = [options.sheet, *(options.annotator or ())]
    responses = _name_responses(options, *sheets, options.sentences, options.candidates)
    margin = options.margin
    if margin is not None and not 0 < margin < 100:
        raise UsageError(f"--margin is a number of points between 0 and 100, not {margin:g}")
    estimates = estimate(
        sheets,
        responses,
        **options.given("metrics", "level", "candidates", "sentences"),
        **options.given(*REQUEST_OPTIONS),
    )
    wishes = options.given(*_OF_TABLES)
    show(estimates, options.output, format=options.format, margin=margin, **wishes)
    tell(estimates.notices, quiet=options.quiet)
