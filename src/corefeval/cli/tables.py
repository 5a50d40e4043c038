"""The options of commands that print tables for papers."""

# No `annotations` from __future__ here: the library of commands looks at the types of fields.

from dataclasses import dataclass, fields
from typing import Any, Literal

from cyclopts import Group, Parameter

_GROUP = Group("Tables", sort_key=1)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How tables are set.

    Parameters
    ----------
    digits
        How many digits percentages have behind the point, two by default.
    rates
        Which rates in which order, with commas between them: some of R, P and F1.
    caption
        What stands with the table.
    label
        The name of the table in LaTeX, which then is a float.
    width
        What the table has to fit into in LaTeX: a column, or the page; it then is a float.
    """

    digits: int | None = None
    rates: str | None = None
    caption: str | None = None
    label: str | None = None
    width: Literal["column", "page"] | None = None

    @property
    def wishes(self) -> dict[str, Any]:
        """The options of `render` that were given."""
        values = {field.name: getattr(self, field.name) for field in fields(TableOptions)}
        return {name: value for name, value in values.items() if value is not None}

    def check(self, format: str, rate: str | None = None) -> None:
        """Refuse what cannot be had before anything is scored; `rate` is the one compared."""
        from corefeval.diagnostics import UsageError
        from corefeval.output.style import Style

        rates = Style.of(format, self.wishes).rates
        if rate is not None and rates and rate not in rates:
            raise UsageError(f"--rates must have {rate} among them, which is compared")


TABLES = TableOptions()
