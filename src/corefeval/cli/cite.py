"""`corefeval cite`: what to cite for a number, as BibTeX."""

from __future__ import annotations

import os
import sys
from typing import Annotated

from cyclopts import Parameter

from corefeval.cli.arguments import file_parameter

_FILE = file_parameter("cite")


def cite(
    *file: Annotated[str, _FILE()], metrics: Annotated[str | None, Parameter(alias="-m")] = None
) -> None:
    """Print BibTeX for corefeval and for the papers of the metrics that you used.

    Parameters
    ----------
    file
        Saved results (score … --save FILE): all of their metrics.
    metrics
        Metrics and presets with commas between, as for score.
    """
    from corefeval.diagnostics import InputError, UsageError
    from corefeval.evaluation import load_all
    from corefeval.metrics.bibliography import cite as entries

    for path in file:
        if not path:
            raise UsageError("'' names no file")
        if not os.path.exists(path):
            fix = f"name a file that score --save wrote; metrics are named by --metrics {path}"
            raise InputError("there is no such saved result", file=path, fix=fix)
    used = [name for path in file for result in load_all(path) for name in result.metrics]
    sys.stdout.write(entries([*filter(None, (metrics,)), *used]))
