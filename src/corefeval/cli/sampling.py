"""`corefeval sample` and `estimate`: scores with intervals, without a key."""

from __future__ import annotations

import sys
from contextlib import suppress

from corefeval.cli.options import REQUEST_OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import show, tell
from corefeval.cli.responses import name_systems
from corefeval.diagnostics import UsageError, plural
from corefeval.display import visible


def sample(options: ParsedOptions) -> None:
    """Draw what people should look at, and write it as a sheet."""
    from corefeval.sampling.draws import sample

    if options.design is None and options.answers is None:
        raise UsageError("--design is missing: choose names, entities, pairs or sentences")
    responses = name_systems(options, options.answers, options.candidates)
    _keep_answers(options.output)
    names = ("design", "seed", "candidates", "answers", *REQUEST_OPTIONS)
    sheet = sample(responses, n=options.n, **options.given(*names))
    sheet.write(options.output)
    size = sheet.signature.frame
    draws = plural(min(sheet.signature.n, size), "draw")
    total = f"{draws} of {size:,}, {plural(len(sheet), 'row')}"
    sys.stdout.write(f"{visible(options.output)}: {total}\n")
    tell(sheet.notices, quiet=options.quiet)


def _keep_answers(path: str) -> None:
    """Raise a UsageError if a sheet that somebody has begun to fill in would be replaced."""
    from corefeval.sampling.sheets import MARK, read_sheet

    with suppress(OSError, UnicodeError), open(path, encoding="utf-8-sig") as file:
        if not file.read(len(MARK) + 1).strip('"').startswith(MARK):
            return  # what is no sheet is replaced, as by other commands
        if any(row.is_answered for row in read_sheet(path)):
            raise UsageError(
                f"{visible(path)} has answers, which would be lost: name another file with --output"
            )


def estimate(options: ParsedOptions) -> None:
    """Estimate scores from sheets that people filled in."""
    from corefeval.sampling.estimates import estimate

    sheets = [options.sheet, *(options.annotator or ())]
    responses = name_systems(options, *sheets, options.sentences, options.candidates)
    margin = options.margin
    if margin is not None and not 0 < margin < 100:
        raise UsageError(f"--margin is a number of points between 0 and 100, not {margin:g}")
    names = ("metrics", "level", "candidates", "sentences", *REQUEST_OPTIONS)
    estimates = estimate(sheets, responses, **options.given(*names))
    wishes = options.given("format", "margin", "digits", "caption", "label", "width")
    show(estimates, options.output, **wishes)
    tell(estimates.notices, quiet=options.quiet)
