"""The options of commands that print tables for papers."""

# No `annotations` from __future__ here: the library of commands looks at the types of fields.

from dataclasses import dataclass
from typing import Any, Literal

from cyclopts import Group, Parameter

from corefeval.diagnostics import UsageError

_GROUP = Group("Tables", sort_key=1)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class StyleOptions:
    """How tables are set.

    Parameters
    ----------
    digits
        How many digits percentages have after the point; 2 by default.
    caption
        The caption of the table.
    label
        The label of the table in LaTeX, for references to it; makes it a float.
    width
        What the table has to fit into in LaTeX, a column or the page; makes it a float.
    """

    digits: int | None = None
    caption: str | None = None
    label: str | None = None
    width: Literal["column", "page"] | None = None

    @property
    def wishes(self) -> dict[str, Any]:
        """The options of `render` that were given."""
        from corefeval.output.style import STYLE_OPTIONS

        values = {name: getattr(self, name, None) for name in STYLE_OPTIONS}
        return {name: value for name, value in values.items() if value is not None}

    def check(self, format: str, rate: str | None = None) -> None:
        """Refuse what cannot be had before anything is scored; `rate` is the one compared."""
        from corefeval.output.style import Style

        rates = Style.of(format, self.wishes).rates
        if rate is not None and rates and rate not in rates:
            raise UsageError(f"--rates must have {rate} among them, which is compared")


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class TableOptions(StyleOptions):
    """How tables of rates are set.

    Parameters
    ----------
    rates
        Which rates to show, and in which order: some of R, P and F1, with commas.
    """

    rates: str | None = None


STYLE = StyleOptions()
TABLES = TableOptions()
