"""The features of a corpus, worked out when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from corefeval.checks import did_you_mean
from corefeval.diagnostics import Notice, UsageError
from corefeval.features.annotations import TokenAnnotations
from corefeval.features.declarations import (
    FEATURES,
    SINGLE,
    SIZES,
    FeatureRequest,
    MissingFeatureError,
    canonical_feature,
    level_of,
    split_crossed,
)
from corefeval.features.kinds import KINDS, find_entity_classes, guess_kinds, vote_for_classes
from corefeval.features.positions import (
    find_antecedents,
    find_nested,
    number_in_chains,
    put_into_bins,
)
from corefeval.features.statements import (
    LINKS,
    YES_NO,
    check_given,
    describe_mentions,
    find_genres,
    find_metadata,
    find_property,
    find_stated_classes,
    find_stated_kinds,
    read_given,
    read_given_of_documents,
)
from corefeval.features.tagsets import read_tagset
from corefeval.features.token_columns import WORD, TokenColumns
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray
from corefeval.model.bridging import bridging_pairs
from corefeval.model.categories import Categories

UNLABELLED = "unlabelled"  # of bridging whose relation has no name
NOUN, PRONOUN = "NOUN", "PRONOUN"
_STATED = "stated"

# Features that follow from a mention's own tokens: the same mention has the same value on both
# sides, so it is worked out once.
TEXTUAL = frozenset(
    ("kind", "noun", "tag", "head_tag", "class", "head", "words", "length", "speaker")
) | {"sentence_type", "column"}


class Features:
    """What is known of the mentions of one corpus, worked out when asked for, and kept.

    `texts` are the corpora whose token columns count, in order of preference, with the same
    documents in the same places (for a score: key and response); by default the corpus itself.
    `given` is what the caller states. `tagset` is what tags mean: a name, a `TagSet`, a mapping of
    lists or a JSON file of them; without it the tag set is recognised from the tags. `twins` are
    the features of another corpus with the same texts, and for each mention its row there (−1 for
    one that is not there): what follows from the tokens alone is taken from it. `others`
    are another corpus and the rows of its mentions here, of which those that are not here will be
    asked for `beside` these: the tokens of all are read at once.

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
        twins: tuple[Features, IntArray] | None = None,
        others: tuple[Corpus, IntArray] | None = None,
        beside: Features | None = None,
    ) -> None:
        self.corpus = corpus
        self.twins = twins
        self._others, self._beside = others, beside
        self.texts = tuple(texts) or (corpus,)
        self.given: dict[str, Any] = {
            _key(name): source for name, source in check_given(given).items()
        }
        self._tagset = None if tagset is None else read_tagset(tagset)
        self._known: dict[str, Categories] = {}
        self._kinds_stated = False
        self._notices: list[Notice] = []
        self._rest: Features | None = None  # of the mentions that only this side has

    def __call__(self, feature: str) -> Categories:
        """A value for each mention of the corpus: `kind`, `size(1, 2-5, 6+)`, `genre*kind`."""
        requests, text = split_crossed(feature), canonical_feature(feature)
        if text not in self._known:
            parts = [self(str(one)) for one in requests] if len(requests) > 1 else []
            self._known[text] = Categories.cross(parts) if parts else self._make(requests[0])
        return self._known[text]

    @property
    def tagset_name(self) -> str | None:
        """The name of the tag set by which features were worked out; None if none was.

        Kinds that the source states are `stated`, with a tag set for the rest `stated+penn`.
        """
        used = self.__dict__.get("annotations")
        tagset = used.tagset_name if isinstance(used, TokenAnnotations) else None
        return "+".join(filter(None, (_STATED if self._kinds_stated else None, tagset))) or None

    @property
    def head_positions(self) -> IntArray:
        """The position of each mention's head token in its document; −1 where it is not known."""
        return self.annotations.head_positions()

    @cached_property
    def annotations(self) -> TokenAnnotations:
        """What is derived from token columns."""
        beside = None if self._beside is None else vars(self._beside).get("annotations")
        return TokenAnnotations(
            self.corpus, self.texts, self._tagset, others=self._others, beside=beside
        )

    def _make(self, request: FeatureRequest) -> Categories:
        if level_of(request.name) == "document":
            return self._of_documents(self.of_documents(str(request)))
        if request.name in self.given:
            return self._read_given(request.name)
        if self.twins is not None and (request.name in TEXTUAL or request.name not in _MAKERS):
            return self._copy_from_twins(str(request), *self.twins)
        make = _MAKERS.get(request.name)
        if make is not None:
            return make(self, request)
        return self._find_undeclared(request)

    def _read_given(self, name: str) -> Categories:
        """What the caller states of each mention, or of its document."""
        source = self.given[name]
        of_documents = read_given_of_documents(self.corpus, name, source)
        if self.corpus.labels is None and of_documents is not None:
            return self._of_documents(of_documents)
        return read_given(self.corpus, name, self.given[name], key=self.texts[0])

    def _copy_from_twins(self, feature: str, other: Features, rows: IntArray) -> Categories:
        """The values of the mentions that the other side has too, and those of the rest."""
        if self._rest is None:
            rest = self.corpus.keep_mentions(rows < 0)
            self._rest = Features(
                rest, texts=self.texts, given=self.given, tagset=self._tagset, beside=other
            )
        theirs, mine = other(feature), self._rest(feature)
        own = rows < 0
        return Categories.concatenate(theirs, mine).take(
            np.where(own, len(theirs) + np.cumsum(own) - 1, rows)
        )

    def _find_undeclared(self, request: FeatureRequest) -> Categories:
        """A property that the source states, or a token column."""
        stated = find_property(self.corpus, self.texts, request.name)
        if stated is not None:
            return stated.sort_names()
        if self.corpus.mention_start is not None:
            column = self.annotations.column(request.name, at="head")
            if column is not None:
                return column.sort_names()
        there = [
            *FEATURES,
            *self.given,
            *(name for corpus in self.texts for name in corpus.features),
            *(name for corpus in self.texts if corpus.tokens for name in corpus.tokens.columns),
        ]
        raise UsageError(
            f"there is no feature {request.name!r}, and no property or token column of that name: "
            + did_you_mean(request.name, there, shown=FEATURES)
        )

    def _is_noun(self) -> BoolArray:
        return self("noun").where("yes".__eq__)

    def _kind(self, request: FeatureRequest) -> Categories:
        stated = self._stated_kinds("kind")
        if stated is None:
            return self.annotations.kinds()
        unknown = np.flatnonzero(stated.codes < 0)
        if not unknown.size:
            return stated
        if self.annotations.has_tags("kind"):
            return stated.replace_where(stated.codes < 0, self.annotations.kinds())
        codes = stated.codes.copy()
        codes[unknown] = self._guess_kinds("kind", unknown).codes
        return Categories(codes, stated.names)

    def _noun(self, request: FeatureRequest) -> Categories:
        if "kind" in self.given:
            return _yes_no(~self("kind").where("pronoun".__eq__))
        stated = self._stated_kinds("noun")
        if stated is None:
            return _yes_no(self.annotations.is_noun())
        is_noun, unknown = ~stated.where("pronoun".__eq__), stated.codes < 0
        if unknown.any() and self.annotations.has_tags("noun"):
            is_noun[unknown] = self.annotations.is_noun()[unknown]
        elif unknown.any():
            if not self.annotations.columns.in_characters:  # several tokens are a noun in any case
                unknown &= self.annotations.spans.length == 1
            guessed = self._guess_kinds("noun", np.flatnonzero(unknown))
            is_noun[unknown] = ~guessed.where("pronoun".__eq__)
        return _yes_no(is_noun)

    def _stated_kinds(self, feature: str) -> Categories | None:
        """Kinds that the source states; None where others count, or nobody states any.

        What the key states counts first, tags next, and what only the response states last.
        """
        stated = find_stated_kinds(self.corpus, self.texts)
        if stated is None:
            return None
        by_key = find_stated_kinds(self.texts[0], self.texts[:1]) is not None
        self._kinds_stated = by_key or not self.annotations.has_tags(feature)
        return stated if self._kinds_stated else None

    def _guess_kinds(self, feature: str, rows: IntArray) -> Categories:
        """The kinds of mentions that neither the source nor tags tell, by what is stated of others.

        A notice counts them; an error where there are no words to go by.
        """
        if not rows.size:
            return Categories(rows, KINDS)
        stating = (one for one in self.texts if find_stated_kinds(one, (one,)) is not None)
        owner = next(stating, self.corpus)
        stated = find_stated_kinds(owner, (owner,))
        mentions = describe_mentions(self.corpus, rows.tolist())
        if stated is None or self.annotations.columns.find(WORD) is None:
            raise MissingFeatureError(
                feature,
                f"is not stated of {mentions}, and there are no tags",
                fix="state the kind of every mention, those of the response too: in the file, with "
                "--features FILE, or features= in Python",
            )
        message = f"{feature} is guessed for {mentions}: as the same "
        message += f"words in {owner.name or 'the key'} have it, else by capital letters; tags or "
        message += "--features would settle it"
        self._notices.append(Notice("guessed-kinds", message, rows.size))
        examples = TokenColumns(self.texts, owner, feature)
        return guess_kinds(self.annotations.columns, rows, examples, stated)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was guessed on the way to the features that were asked for."""
        rest = () if self._rest is None else self._rest.notices
        return (*self._notices, *rest)

    def _tag(self, request: FeatureRequest) -> Categories:
        is_noun = self._is_noun()
        stated = {"kind", "noun"} & self.given.keys() or self._kinds_stated
        noun = Categories(np.zeros(is_noun.size, dtype=np.int64), (NOUN,))
        tags = None
        if self.corpus.mention_start is not None:
            tags = self.annotations.single_tags(required=not stated)
        if tags is None:
            tags = Categories(noun.codes, (PRONOUN,))
        return tags.replace_where(is_noun, noun).sort_names()

    def _head_tag(self, request: FeatureRequest) -> Categories:
        return self.annotations.head_tags("head_tag").sort_names()

    def _class(self, request: FeatureRequest) -> Categories:
        column = request.setting("column")
        stated = find_stated_classes(self.corpus, self.texts) if column is None else None
        # The key's named entities come before what only the response states.
        by_key = (
            stated is not None and find_stated_classes(self.texts[0], self.texts[:1]) is not None
        )
        if stated is not None and (by_key or not self.annotations.has_named_entities()):
            return stated.sort_names()
        return self.annotations.classes(column).sort_names()

    def _entity_class(self, request: FeatureRequest) -> Categories:
        column = request.setting("column")
        classes = self("class" if column is None else f"class(column={column})")
        entity, number = self.corpus.mention_entity, self.corpus.n_entities
        if "vote" in request.arguments:
            return vote_for_classes(entity, number, classes).sort_names()
        return find_entity_classes(entity, number, classes, self._is_noun).sort_names()

    def _head(self, request: FeatureRequest) -> Categories:
        return self.annotations.head_words().renamed(str.lower).sort_names()

    def _zero(self, request: FeatureRequest) -> Categories:
        if self.corpus.labels is not None:  # words of the caller, not of a text
            return _yes_no(np.zeros(self.corpus.n_mentions, dtype=np.bool_))
        return _yes_no(self.annotations.is_zero())

    def _words(self, request: FeatureRequest) -> Categories:
        if self.corpus.labels is not None:
            return Categories.of([str(label).lower() for label in self.corpus.labels]).sort_names()
        return self.annotations.columns.mention_texts().sort_names()

    def _length(self, request: FeatureRequest) -> Categories:
        return _put_into_bins(request, self.annotations.spans_for("length").length)

    def _chain_position(self, request: FeatureRequest) -> Categories:
        return _put_into_bins(request, number_in_chains(self.corpus.mention_entity))

    def _distance(self, request: FeatureRequest) -> Categories:
        self.annotations.spans_for("distance")
        before = find_antecedents(self.corpus.mention_entity)
        place = np.arange(before.size)
        if "sentences" in request.arguments:
            place = self.annotations.sentence_of_mentions("distance")
        return _put_into_bins(
            request, place - place[before] if before.size else before, before >= 0
        )

    def _link(self, request: FeatureRequest) -> Categories:
        origin = self.corpus.mention_origin
        if (name := request.setting("column")) is not None:
            origin = self._column_at(request, name, "start").codes
        before = find_antecedents(self.corpus.mention_entity)
        if origin is None:
            origin = self.corpus.mention_document
        codes = np.where(origin == origin[before], 0, 1) if before.size else before
        return Categories(np.where(before >= 0, codes, -1), LINKS)

    def _find_nested(self, request: FeatureRequest) -> Categories:
        return _yes_no(find_nested(self.annotations.spans_for("nested")))

    def _size(self, request: FeatureRequest) -> Categories:
        sizes = self.corpus.entity_sizes[self.corpus.mention_entity]
        return put_into_bins(sizes, request.bins or SIZES)

    def _speaker(self, request: FeatureRequest) -> Categories:
        return self.annotations.speakers().sort_names()

    def _sentence_type(self, request: FeatureRequest) -> Categories:
        return self.annotations.sentence_types(request.setting("column")).sort_names()

    def _relation(self, request: FeatureRequest) -> Categories:
        pairs = bridging_pairs(self.corpus)
        found: dict[int, dict[str, None]] = {}
        for row, label in zip(pairs.anaphor.tolist(), pairs.label.values(), strict=True):
            found.setdefault(row, {})[label or UNLABELLED] = None
        values = [None] * self.corpus.n_mentions
        for row, labels in found.items():
            values[row] = "+".join(labels)  # type: ignore[call-overload]
        return Categories.of(values).sort_names()

    def of_documents(self, feature: str) -> list[str | None]:
        """The value of each document, of a feature that documents have."""
        request, *others = split_crossed(feature)
        if others:
            parts = [Categories.of(self.of_documents(str(one))) for one in (request, *others)]
            return Categories.cross(parts).values()
        if request.name in self.given:
            source = self.given[request.name]
            stated = read_given_of_documents(self.corpus, request.name, source)
            if stated is not None:
                return stated
            return self._first_values(self._read_given(request.name))
        if request.name == "genre":
            return find_genres(self.texts)
        return find_metadata(self.texts, request.arguments[0])

    def _first_values(self, values: Categories) -> list[str | None]:
        """The value of each document's first mention."""
        of_documents: list[str | None] = [None] * len(self.corpus.documents)
        documents, rows = np.unique(self.corpus.mention_document, return_index=True)
        for document, value in zip(documents.tolist(), values.take(rows).values(), strict=True):
            of_documents[document] = value
        return of_documents

    def _of_documents(self, values: Sequence[str | None]) -> Categories:
        return Categories.of(values).take(self.corpus.mention_document).sort_names()

    def _column(self, request: FeatureRequest) -> Categories:
        (name,) = request.arguments
        return self._column_at(request, name, "head").sort_names()

    def _column_at(
        self, request: FeatureRequest, name: str, at: Literal["head", "start"]
    ) -> Categories:
        column = self.annotations.column(name, at=at)
        if column is None:
            raise self.annotations.columns.missing(
                str(request), "a token column", [name], "name an existing column"
            )
        return column


def _key(name: str) -> str:
    return name.strip().lower() if name.strip().lower() in FEATURES else name.strip()


def _yes_no(values: BoolArray) -> Categories:
    return Categories(np.where(values, 0, 1).astype(np.int64), YES_NO)


def _put_into_bins(
    request: FeatureRequest, values: IntArray, known: BoolArray | None = None
) -> Categories:
    return put_into_bins(values, request.bins or SINGLE, known)


_MAKERS: dict[str, Callable[[Features, FeatureRequest], Categories]] = {
    "kind": Features._kind,
    "noun": Features._noun,
    "tag": Features._tag,
    "head_tag": Features._head_tag,
    "class": Features._class,
    "entity_class": Features._entity_class,
    "head": Features._head,
    "zero": Features._zero,
    "words": Features._words,
    "length": Features._length,
    "chain_position": Features._chain_position,
    "distance": Features._distance,
    "link": Features._link,
    "nested": Features._find_nested,
    "size": Features._size,
    "speaker": Features._speaker,
    "sentence_type": Features._sentence_type,
    "column": Features._column,
    "relation": Features._relation,
}
