"""What the commands' arguments have in common."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from functools import partial

from cyclopts import Parameter

from corefeval.diagnostics import UsageError

FLAG = partial(Parameter, negative=(), show_default=False)


def file_parameter(command: str, options: Sequence[str]) -> Callable[..., Parameter]:
    """A parameter for a file of a command; a lone hyphen is standard input.

    A misspelt option in the place of a file is refused with the option that it resembles.
    """

    def refuse_options(_: object, value: object) -> None:
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and text.startswith("-") and text != "-":
                close = difflib.get_close_matches(text, options, n=1)
                advice = f"did you mean {close[0]}?" if close else f"see corefeval {command} --help"
                raise UsageError(f"there is no option {text}: {advice}")

    return partial(Parameter, allow_leading_hyphen=True, validator=refuse_options)
