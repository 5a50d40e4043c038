"""Features of a side that cost nothing until somebody asks for one."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corefeval.diagnostics import Notice
    from corefeval.features.lookup import Features
    from corefeval.model import Corpus
    from corefeval.model.arrays import IntArray
    from corefeval.model.categories import Categories


class LaterFeatures:
    """What `Features` knows, loaded and worked out when it is first asked for.

    Most scores need no feature, and should not wait for what finds heads and names. What the
    caller states is looked at at once, so that mistakes are told in any case.
    """

    def __init__(
        self, corpus: Corpus, *, twins: tuple[LaterFeatures, IntArray] | None = None, **options: Any
    ) -> None:
        self.corpus = corpus
        self._twins = twins
        self._options = options
        if options.get("given") is not None or options.get("tagset") is not None:
            self.features  # noqa: B018

    @cached_property
    def features(self) -> Features:
        """The features themselves."""
        from corefeval.features.lookup import Features

        twins = None if self._twins is None else (self._twins[0].features, self._twins[1])
        return Features(self.corpus, twins=twins, **self._options)

    def __call__(self, feature: str) -> Categories:
        """A value for each mention of the corpus."""
        return self.features(feature)

    def of_documents(self, feature: str) -> list[str | None]:
        """The value of each document, of a feature that documents have."""
        return self.features.of_documents(feature)

    @property
    def tagset_name(self) -> str | None:
        """The name of the tag set by which features were worked out; None if none was."""
        return self.features.tagset_name if "features" in vars(self) else None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was guessed on the way to the features that were asked for."""
        return self.features.notices if "features" in vars(self) else ()

    @property
    def head_positions(self) -> IntArray:
        """The position of each mention's head token in its document; −1 where it is not known."""
        return self.features.head_positions
