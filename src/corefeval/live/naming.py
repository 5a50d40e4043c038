"""What live documents call themselves."""

from __future__ import annotations

from typing import Any

Named = tuple[str, Any]  # a document id, empty where there is none, and the object


def first_name(*candidates: object) -> str:
    """The first candidate that names anything; empty if none does.

    >>> first_name(None, "", 7)
    '7'
    """
    return next((str(name) for name in candidates if name is not None and str(name)), "")
