"""Scripts, styles and templates that lie beside this module, and the library of charts."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from corefeval.diagnostics import UsageError

if TYPE_CHECKING:
    from jinja2 import Template

# In the order in which they are put together: each one uses only what stands before it when the
# page is loaded.
SCRIPTS = (
    "data",
    "elements",
    "state",
    "documents_model",
    "palette",
    "overview",
    "charts",
    "documents",
    "layout",
    "text",
    "details",
    "flow",
    "errors",
    "search",
    "comparison",
    "keyboard",
    "main",
)
STYLES = ("theme", "page", "text", "print")

_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def _read(*path: str) -> str:
    return files(__package__).joinpath(*path).read_text(encoding="utf-8")


@cache
def bundle() -> str:
    """All scripts as one: modules in one scope, without their imports and exports."""
    parts = [_read("scripts", f"{name}.js") for name in SCRIPTS]
    joined = "\n".join(_EXPORT.sub("", _IMPORT.sub("", part)) for part in parts)
    return f'"use strict";\n(() => {{\n{joined}\n}})();\n'


@cache
def style() -> str:
    """All styles as one."""
    return "\n".join(_read("styles", f"{name}.css") for name in STYLES)


def check_library() -> None:
    """Complain where the library of charts is not installed, before any work is done."""
    if find_spec("vl_convert") is None:
        raise UsageError(
            "the report draws its charts with Vega-Lite, which is not installed: "
            "pip install 'corefeval[charts]'"
        )


@cache
def charts_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that needs no network.

    It runs in a function of its own, as its names would meet those of other scripts.
    """
    check_library()
    import vl_convert

    library: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # The end of a script, in a string of it, would end the element.
    library = re.sub(r"</(?=script)", r"<\\/", library, flags=re.IGNORECASE).replace(
        "<!--", r"<\!--"
    )
    return f"(() => {{\n{library}\n}})();\n"


def fingerprint(script: str) -> str:
    """The hash by which a content security policy knows a script."""
    digest = hashlib.sha256(script.encode("utf-8", "backslashreplace")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def template(name: str) -> Template:
    """A template whose values are escaped unless it says otherwise."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_read(name))
