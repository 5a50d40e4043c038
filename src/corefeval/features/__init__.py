"""What a mention is: kind, head, tag, class, distance and more, for every mention of a corpus.

Most scores need no feature: everything is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corefeval.checks import import_on_demand

if TYPE_CHECKING:
    from corefeval.features.declarations import (
        FEATURES,
        FeatureRequest,
        MissingFeatureError,
        canonical_feature,
        level_of,
        shows_words,
    )
    from corefeval.features.lookup import Features, PartFeatures, pair_features
    from corefeval.features.tagsets import TagSet

__all__ = [
    "FEATURES",
    "FeatureRequest",
    "Features",
    "MissingFeatureError",
    "PartFeatures",
    "TagSet",
    "canonical_feature",
    "level_of",
    "pair_features",
    "shows_words",
]
__getattr__ = import_on_demand(
    __name__,
    {
        **dict.fromkeys(__all__, ".declarations"),
        **dict.fromkeys(("Features", "PartFeatures", "pair_features"), ".lookup"),
        "TagSet": ".tagsets",
    },
)
