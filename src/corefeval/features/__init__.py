"""What a mention is: kind, head, tag, class, distance and more, for every mention of a corpus.

Most scores need no feature: everything is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corefeval.features.declarations import (
        FEATURES,
        FeatureDeclaration,
        FeatureRequest,
        MissingFeatureError,
        canonical_feature,
        level_of,
        shows_words,
        split_crossed,
    )
    from corefeval.features.lookup import Features, PartFeatures, pair_features
    from corefeval.features.tagsets import TAGSETS, TagSet

_HOMES = {
    **dict.fromkeys(("Features", "PartFeatures", "pair_features"), "lookup"),
    **dict.fromkeys(("TAGSETS", "TagSet"), "tagsets"),
}

__all__ = [
    "FEATURES",
    "TAGSETS",
    "FeatureDeclaration",
    "FeatureRequest",
    "Features",
    "MissingFeatureError",
    "PartFeatures",
    "TagSet",
    "canonical_feature",
    "level_of",
    "pair_features",
    "shows_words",
    "split_crossed",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'corefeval.features' has no attribute {name!r}")
    home = _HOMES.get(name, "declarations")
    value = getattr(importlib.import_module(f"corefeval.features.{home}"), name)
    globals()[name] = value
    return value
