"""The page: data, scripts and styles in one HTML file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from corefeval.diagnostics import Notice, plural
from corefeval.files import write_file
from corefeval.reports.assets import bundle, charts_library, fingerprint, style, template


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A report: `.save(path)` writes it, `.html` is the text of the page.

    The page needs nothing but itself: no network, no server. Notebooks show it in a frame.
    """

    payload: dict[str, Any] = field(repr=False)
    notices: tuple[Notice, ...] = ()

    @cached_property
    def html(self) -> str:
        """The whole page."""
        script, library = bundle(), charts_library()
        return template("page.html.jinja").render(
            title=self.payload["title"],
            data=_embedded(self.payload),
            script=script,
            library=library,
            style=style(),
            policy=_policy(script, library),
            version=self.payload["version"],
            systems=[system["name"] for system in self.payload["systems"]],
            rows=self._rows(),
        )

    def _rows(self) -> list[tuple[str, list[str]]]:
        """F1 of each metric and response, for browsers without scripts."""
        scores = self.payload["scores"]
        return [
            (metric["title"], [f"{100 * one['f1']:.2f}" for one in scores[metric["name"]]])
            for metric in self.payload["metrics"]
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_file(path, self.html, problem="the report cannot be written")

    @property
    def summary(self) -> str:
        """What the report is on: how many documents and responses."""
        documents = plural(len(self.payload["documents"]), "document")
        return f"{documents}, {plural(len(self.payload['systems']), 'response')}"

    def __repr__(self) -> str:
        return f"<Report of {self.summary}>"

    def _repr_html_(self) -> str:
        from corefeval.reports.notebook import framed

        return framed(self.html)


def _embedded(payload: dict[str, Any]) -> str:
    """JSON that can stand in an HTML page: nothing in it ends the element or opens a comment."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(script: str, library: str) -> str:
    """What the page may do: run its own scripts, known by their hashes, and nothing else.

    Even if a text of the corpus found its way into the page as HTML, it would not run.
    """
    sources = " ".join(fingerprint(text) for text in (script, library))
    return (
        f"default-src 'none'; script-src {sources}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
