"""What a mention is: kind, head, tag, class, distance and more, for every mention of a corpus.

`declarations` lists the features without numpy; everything else is imported when it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from corefeval.features.declarations import (
    FEATURES,
    FeatureDeclaration,
    level_of,
    shows_words,
)
from corefeval.features.errors import MissingFeatureError
from corefeval.features.requests import FeatureRequest
from corefeval.features.tagsets import TAGSETS, TagSet

if TYPE_CHECKING:
    from corefeval.features.lookup import Features

__all__ = [
    "FEATURES",
    "TAGSETS",
    "FeatureDeclaration",
    "FeatureRequest",
    "Features",
    "MissingFeatureError",
    "TagSet",
    "level_of",
    "shows_words",
]


def __getattr__(name: str) -> object:
    if name == "Features":
        return importlib.import_module("corefeval.features.lookup").Features
    raise AttributeError(f"module 'corefeval.features' has no attribute {name!r}")
