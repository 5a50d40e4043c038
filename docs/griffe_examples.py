"""Examples in docstrings are code on the site, wherever in the docstring they are."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


class FenceExamples(griffe.Extension):
    """Puts a fence around each run of lines that begins with `>>>`."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a function, class or attribute."""
        if obj.docstring:
            text = _EXAMPLE.sub(r"```python\n\g<0>\n```", obj.docstring.value)
            obj.docstring.value = text
