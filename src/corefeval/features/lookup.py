"""The features of a corpus, worked out when they are needed.

Most scores need no feature: what works features out is imported with the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories

if TYPE_CHECKING:
    from corefeval.diagnostics import Notice, Notices
    from corefeval.features.tagsets import TagSet
    from corefeval.features.token_columns import TokenColumns
    from corefeval.model import Corpus

T = TypeVar("T")
_STATED = "stated"


class Features:
    """What is known of the mentions of one corpus, worked out when asked for, and kept.

    `texts` are the corpora whose token columns count, in order of preference, with the same
    documents in the same places (for a score: key and response); by default the corpus itself.
    `given` is what the caller states. `tagset` is what tags mean: a name, a `TagSet`, a mapping of
    lists or a JSON file of them; without it the tag set is recognised from the tags. `joint` are
    the features of all mentions of both sides of a score and the rows there of these mentions: what
    follows from tokens alone is worked out for both sides together. Positions are those of each
    corpus's own text, also where mentions are compared on another axis.

    >>> from corefeval.model import corpus_from_entities
    >>> corpus = corpus_from_entities([["Ada", "she"], ["it"]])
    >>> kinds = {"Ada": "name", "she": "pronoun", "it": "pronoun"}
    >>> features = Features(corpus, given={"kind": kinds})
    >>> features("noun").values(), features("size").values()
    (['yes', 'no', 'no'], ['2–10', '2–10', '1'])
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        texts: Sequence[Corpus] = (),
        given: Mapping[str, object] | None = None,
        tagset: object = None,
        joint: tuple[JointFeatures, IntArray] | None = None,
    ) -> None:
        self.corpus, self.joint = corpus.on_own_text, joint
        self.texts = tuple(text.on_own_text for text in texts) or (self.corpus,)
        self.statements: dict[str, Any] = {}
        self.tagset: TagSet | None = None
        if given is not None:  # mistakes are told in any case
            from corefeval.features.statements import check_given

            self.statements = check_given(given)
        if tagset is not None:
            from corefeval.features.tagsets import read_tagset

            self.tagset = read_tagset(tagset)
        self._values: dict[str, Any] = {}
        self.collected_notices: list[Notice] = []
        self.used_tagset: TagSet | None = None
        self.uses_stated_kinds = False

    def __reduce__(self) -> tuple[Any, ...]:
        """What was asked for; what was worked out is worked out anew."""
        return partial(Features, self.corpus, joint=self.joint, **self._options), ()

    @property
    def _options(self) -> dict[str, Any]:
        given = self.statements or None
        return {"texts": self.texts, "given": given, "tagset": self.tagset}

    def remember(self, name: str, make: Callable[[Features], T]) -> T:
        """What a function makes of these features, made once."""
        if name not in self._values:
            self._values[name] = make(self)
        value: T = self._values[name]
        return value

    def __call__(self, feature: str) -> Categories:
        """A value for each mention of the corpus: `kind`, `size(1, 2-5, 6+)`, `genre*kind`."""
        from corefeval.features.makers import make_feature

        return make_feature(self, feature)

    def of_documents(self, feature: str) -> list[str | None]:
        """The value of each document, of a feature that documents have."""
        from corefeval.features.makers import find_values_of_documents

        return find_values_of_documents(self, feature)

    def of(self, corpus: Corpus) -> Features:
        """The features of another corpus on the same texts."""
        return Features(corpus, **self._options)

    def columns(self, feature: str) -> TokenColumns:
        """The columns of the mentions' tokens; `feature` is who needs them, for error messages."""
        if "token columns" not in self._values:
            from corefeval.features.token_columns import TokenColumns

            self._values["token columns"] = TokenColumns(self.texts, self.corpus, feature)
        columns: TokenColumns = self._values["token columns"]
        return columns

    @property
    def tagset_name(self) -> str | None:
        """The name of the tag set by which features were worked out; None if none was.

        Kinds that the source states are `stated`, with a tag set for the others `stated+penn`.
        """
        if self.joint is not None and self.joint[0].is_used:
            return self.joint[0].features.tagset_name
        tags = None if self.used_tagset is None else self.used_tagset.name
        return "+".join(filter(None, (_STATED * self.uses_stated_kinds, tags))) or None

    @property
    def notices(self) -> Notices:
        """What was guessed on the way to the features that were asked for."""
        joint = None if self.joint is None else self.joint[0]
        if joint is None or not joint.is_used or joint.key is not self.corpus:
            return tuple(self.collected_notices)
        return (*self.collected_notices, *joint.features.notices)  # which are told once

    @property
    def head_positions(self) -> IntArray:
        """The position of each mention's head token in its document; −1 where it is not known."""
        from corefeval.features.annotations import find_head_positions

        return find_head_positions(self)


@dataclass(eq=False)
class JointFeatures:
    """The features of the mentions of both sides of a score, made when they are first needed.

    These are all mentions of the key, and those of the response that the key has not: `twins` has
    for each mention of the response the row of the key's mention of the same tokens, −1 for none.
    """

    key: Corpus
    response: Corpus
    twins: IntArray
    tagset: object = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "features"}

    @property
    def is_used(self) -> bool:
        """Whether any feature was asked for."""
        return "features" in vars(self)

    @cached_property
    def features(self) -> Features:
        """The features of all these mentions."""
        from corefeval.model.joining import stack_mentions

        texts = self.key, self.response
        stacked = stack_mentions(self.key, self.response.keep_mentions(self.twins < 0))
        names = dict.fromkeys(corpus.name for corpus in texts if corpus.name)
        stacked = replace(stacked, name=" and ".join(names))
        return Features(stacked, texts=texts, tagset=self.tagset)


def pair_features(
    key: Corpus,
    response: Corpus,
    twins: IntArray,
    *,
    given: Mapping[str, object] | None = None,
    tagset: object = None,
) -> tuple[Features, Features]:
    """The features of both sides of a score; for `twins` see `JointFeatures`.

    Mentions of documents whose tokens differ have features of their own tokens.
    """
    if response.own_text is not None:
        twins = np.where(response.is_aligned[response.mention_document], -1, twins)
    joint = JointFeatures(key, response, twins, tagset)
    is_alone = twins < 0
    rows = np.where(is_alone, key.n_mentions + np.cumsum(is_alone) - 1, twins)
    options: dict[str, Any] = {"texts": (key, response), "given": given, "tagset": tagset}
    return (
        Features(key, joint=(joint, np.arange(key.n_mentions)), **options),
        Features(response, joint=(joint, rows), **options),
    )


class PartFeatures(Features):
    """The features of some mentions of a side whose single document was cut into segments."""

    def __init__(self, document: Features, rows: IntArray, n_segments: int) -> None:
        super().__init__(document.corpus, texts=document.texts)
        self.document, self.rows, self.n_segments = document, rows, n_segments

    def __reduce__(self) -> tuple[Any, ...]:
        return PartFeatures, (self.document, self.rows, self.n_segments)

    def __call__(self, feature: str) -> Categories:
        """A value for each mention."""
        return self.document(feature).take(self.rows)

    def of(self, corpus: Corpus) -> Features:
        """The features of another corpus on the text of the document."""
        return self.document.of(corpus)

    def of_documents(self, feature: str) -> list[str | None]:
        """The document's value for each of its segments."""
        return self.document.of_documents(feature) * self.n_segments

    @property
    def tagset_name(self) -> str | None:
        """The name of the tag set by which features were worked out; None if none was."""
        return self.document.tagset_name

    @property
    def head_positions(self) -> IntArray:
        """The position of each mention's head token in the document; −1 where it is not known."""
        return self.document.head_positions[self.rows]
