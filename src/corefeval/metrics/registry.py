"""All metrics that there are, and the named lists of them."""

from __future__ import annotations

from typing import get_args

from corefeval.checks import check_choice
from corefeval.diagnostics import UsageError
from corefeval.metrics.declarations import Declaration, Shape
from corefeval.metrics.papers import PAPERS
from corefeval.metrics.standard import STANDARD

REGISTRY: dict[str, Declaration] = {
    declaration.name: declaration for declaration in (*STANDARD, *PAPERS)
}

# The standard metrics are those of the official scorer, and LEA. Of the papers' policies for
# twinless mentions the presets have the one that their authors advise.
_STANDARD = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll")
_PAPERS = (
    *("lea", "b3(twinless=sys)", "ceafm(twinless=sys)", "lmuc", "lb3", "lceafm", "lceafe"),
    *("immediate", "inferred", "anchors", "p-link"),
)


def presets() -> dict[str, tuple[str, ...]]:
    """The named lists of metrics; `all` follows the registry."""
    return {
        "standard": _STANDARD,
        "papers": _PAPERS,
        "all": tuple(dict.fromkeys((*_STANDARD, *_PAPERS, *REGISTRY))),
    }


def register(declaration: Declaration) -> None:
    """Add a metric of your own: it is then parsed, listed and scored like the others."""
    if declaration.name in REGISTRY or declaration.name in presets():
        raise UsageError(f"there is a metric or preset {declaration.name!r} already")
    check_choice(f"the shape of {declaration.name}", declaration.shape, get_args(Shape))
    function = declaration.function
    if declaration.shape != "mean" and not callable(function) and ":" not in str(function):
        raise UsageError(
            f"{declaration.name} has no function that counts but {function!r}: declare it as "
            "function=f, or as text, 'module:function'"
        )
    REGISTRY[declaration.name] = declaration
