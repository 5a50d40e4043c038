"""What a mention is: kind, head, tag, class, distance and more, for every mention of a corpus.

Most scores need no feature: all but the door to them is imported when it is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corefeval.diagnostics import Notice
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
    from corefeval.features.lookup import Features
    from corefeval.features.tagsets import TAGSETS, TagSet
    from corefeval.model import Corpus
    from corefeval.model.arrays import IntArray
    from corefeval.model.categories import Categories

__all__ = [
    "FEATURES",
    "TAGSETS",
    "FeatureDeclaration",
    "FeatureRequest",
    "Features",
    "MissingFeatureError",
    "PartFeatures",
    "SideFeatures",
    "TagSet",
    "canonical_feature",
    "level_of",
    "shows_words",
    "split_crossed",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'corefeval.features' has no attribute {name!r}")
    home = {"Features": "lookup", "TAGSETS": "tagsets", "TagSet": "tagsets"}.get(name)
    value = getattr(importlib.import_module(f"corefeval.features.{home or 'declarations'}"), name)
    globals()[name] = value
    return value


class SideFeatures:
    """What `Features` knows, loaded and worked out when it is first asked for.

    Most scores need no feature, and should not wait for what finds heads and names. What the
    caller states is looked at at once, so that mistakes are told in any case. The arguments are
    those of `Features`; `twins` are the other side's features, and for each mention its row there,
    −1 for one that has no mention of the same tokens there. `others` are the other side and the
    same rows, for the side that is asked first.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        texts: Sequence[Corpus] = (),
        given: Mapping[str, object] | None = None,
        tagset: object = None,
        twins: tuple[SideFeatures, IntArray] | None = None,
        others: tuple[Corpus, IntArray] | None = None,
    ) -> None:
        self.corpus, self.texts, self.twins, self.others = corpus, texts, twins, others
        self.given, self.tagset = given, tagset
        if given is not None or tagset is not None:
            self.lookup  # noqa: B018

    def __getstate__(self) -> dict[str, Any]:
        """What was asked for; what was worked out is worked out anew."""
        return {name: value for name, value in vars(self).items() if name != "lookup"}

    @cached_property
    def lookup(self) -> Features:
        """The features themselves."""
        from corefeval.features.lookup import Features

        twins = None if self.twins is None else (self.twins[0].lookup, self.twins[1])
        return Features(
            self.corpus,
            texts=self.texts,
            given=self.given,
            tagset=self.tagset,
            twins=twins,
            others=self.others,
        )

    def __call__(self, feature: str) -> Categories:
        """A value for each mention."""
        return self.lookup(feature)

    def of(self, corpus: Corpus) -> SideFeatures:
        """The features of another corpus on the same texts."""
        return SideFeatures(corpus, texts=self.texts, given=self.given, tagset=self.tagset)

    def of_documents(self, feature: str) -> list[str | None]:
        """The value of each document, of a feature that documents have."""
        return self.lookup.of_documents(feature)

    @property
    def tagset_name(self) -> str | None:
        """The name of the tag set by which features were worked out; None if none was."""
        return self.lookup.tagset_name if "lookup" in vars(self) else None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was guessed on the way to the features that were asked for."""
        return self.lookup.notices if "lookup" in vars(self) else ()

    @property
    def head_positions(self) -> IntArray:
        """The position of each mention's head token in its document; −1 where it is not known."""
        return self.lookup.head_positions


class PartFeatures(SideFeatures):
    """The features of some mentions of a side whose single document was cut into segments."""

    def __init__(self, whole: SideFeatures, rows: IntArray, n_documents: int) -> None:
        self.whole, self.rows, self.n_documents = whole, rows, n_documents

    def __call__(self, feature: str) -> Categories:
        """A value for each mention."""
        return self.whole(feature).take(self.rows)

    def of(self, corpus: Corpus) -> SideFeatures:
        """The features of another corpus on the text of the whole document."""
        return self.whole.of(corpus)

    def of_documents(self, feature: str) -> list[str | None]:
        """The document's value for each of its segments."""
        return self.whole.of_documents(feature) * self.n_documents

    @property
    def tagset_name(self) -> str | None:
        """The name of the tag set by which features were worked out; None if none was."""
        return self.whole.tagset_name

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was guessed for the document is said of it, not of its segments."""
        return ()
