"""All metrics that there are, and the named lists of them."""

from __future__ import annotations

from corefeval.diagnostics import UsageError
from corefeval.metrics.declarations import Declaration
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
    REGISTRY[declaration.name] = declaration
