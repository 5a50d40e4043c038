"""How each feature is worked out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from corefeval.checks import did_you_mean
from corefeval.diagnostics import Notice, UsageError
from corefeval.features.annotations import (
    NAMED,
    find_classes_of_mentions,
    find_column,
    find_head_tags,
    find_head_words,
    find_kinds_of_mentions,
    find_named_entities,
    find_nouns,
    find_sentence_types,
    find_sentences_of_mentions,
    find_single_tags,
    find_speakers,
    find_tags,
    find_zeros,
)
from corefeval.features.declarations import (
    FEATURES,
    SINGLE,
    SIZES,
    Bin,
    FeatureRequest,
    bin_name,
    canonical_feature,
    level_of,
    split_crossed,
)
from corefeval.features.kinds import NOMINAL, find_entity_classes, vote_for_classes
from corefeval.features.lookup import Features
from corefeval.features.statements import (
    LINKS,
    YES_NO,
    describe_mentions,
    find_genres,
    find_metadata,
    find_property,
    find_stated_classes,
    find_stated_kinds,
    read_given,
    read_given_of_documents,
)
from corefeval.features.token_columns import TokenSpans
from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    all_false,
    all_zero,
    begin_runs,
    find_previous,
    integers,
    plain_rows,
    ranks_in_runs,
    stable_order,
)
from corefeval.model.categories import Categories
from corefeval.model.relations import bridging_pairs

UNLABELLED = "unlabelled"  # of bridging whose relation has no name
NOUN, PRONOUN = "NOUN", "PRONOUN"

# Features that follow from a mention's own tokens, so that both sides of a score have them alike.
TEXTUAL = frozenset(
    ("kind", "noun", "tag", "head_tag", "class", "head", "words", "length", "speaker")
) | {"sentence_type", "column"}


def make_feature(features: Features, feature: str) -> Categories:
    """A value for each mention: of a feature, or of several that are crossed."""
    requests = split_crossed(feature)

    def make(features: Features) -> Categories:
        if len(requests) > 1:
            return Categories.cross([make_feature(features, str(part)) for part in requests])
        return _make(features, requests[0])

    return features.remember(f"feature {canonical_feature(feature)}", make)


def _make(features: Features, request: FeatureRequest) -> Categories:
    if level_of(request.name) == "document":
        return _spread(features, find_values_of_documents(features, str(request)))
    if request.name in features.statements:
        return _read_given(features, request.name)
    is_textual = request.name in TEXTUAL or request.name not in _MAKERS
    if features.joint is not None and is_textual and not features.statements:
        joint, rows = features.joint
        return joint.features(str(request)).take(rows)
    make = _MAKERS.get(request.name, _find_undeclared)
    return make(features, request)


def find_values_of_documents(features: Features, feature: str) -> list[str | None]:
    """The value of each document, of a feature that documents have."""
    request, *crossed = split_crossed(feature)
    if crossed:
        parts = (find_values_of_documents(features, str(part)) for part in (request, *crossed))
        return Categories.cross([Categories.of(values) for values in parts]).values()
    if request.name in features.statements:
        source = features.statements[request.name]
        stated = read_given_of_documents(features.corpus, request.name, source)
        if stated is not None:
            return stated
        return _find_first_values(features, _read_given(features, request.name))
    if request.name == "genre":
        return find_genres(features.texts)
    return find_metadata(features.texts, request.arguments[0])


def _find_first_values(features: Features, values: Categories) -> list[str | None]:
    """The value of each document's first mention."""
    of_documents: list[str | None] = [None] * len(features.corpus.documents)
    documents, rows = np.unique(features.corpus.mention_document, return_index=True)
    for document, value in plain_rows(documents, values.take(rows).values()):
        of_documents[document] = value
    return of_documents


def _spread(features: Features, values: Sequence[str | None]) -> Categories:
    """For each mention the value of its document."""
    return Categories.of(values).take(features.corpus.mention_document).sort_names()


def _read_given(features: Features, name: str) -> Categories:
    """What the caller states of each mention, or of its document."""
    source = features.statements[name]
    of_documents = read_given_of_documents(features.corpus, name, source)
    if features.corpus.labels is None and of_documents is not None:
        return _spread(features, of_documents)
    return read_given(features.corpus, name, source, key=features.texts[0])


def _find_undeclared(features: Features, request: FeatureRequest) -> Categories:
    """A property that the source states, or a token column."""
    stated = find_property(features.corpus, features.texts, request.name)
    if stated is not None:
        return stated.sort_names()
    if features.corpus.mention_start is not None:
        column = find_column(features, request.name, at="head")
        if column is not None:
            return column.sort_names()
    texts = features.texts
    choices = [
        *FEATURES,
        *features.statements,
        *(name for corpus in texts for name in corpus.features),
        *(name for corpus in texts if corpus.tokens for name in corpus.tokens.columns),
    ]
    raise UsageError(
        f"there is no feature {request.name!r}, and no property or token column of that name: "
        + did_you_mean(request.name, choices, shown=FEATURES)
    )


def _is_noun(features: Features) -> BoolArray:
    return features("noun").where("yes".__eq__)


def _make_kind(features: Features, request: FeatureRequest) -> Categories:
    stated = _find_stated_kinds(features, "kind")
    if stated is None:
        return find_kinds_of_mentions(features)
    unknown = stated.codes < 0
    if unknown.any() and find_tags(features, "kind") is not None:
        return stated.replace_where(unknown, find_kinds_of_mentions(features))
    _note_unstated(features, "kind", "nominal", unknown)
    return Categories(np.where(unknown, NOMINAL, stated.codes), stated.names)


def _make_noun(features: Features, request: FeatureRequest) -> Categories:
    if "kind" in features.statements:
        return _yes_no(~features("kind").where("pronoun".__eq__))
    stated = _find_stated_kinds(features, "noun")
    if stated is None:
        return _yes_no(find_nouns(features))
    is_noun, unknown = ~stated.where("pronoun".__eq__), stated.codes < 0
    if unknown.any() and find_tags(features, "noun") is not None:
        is_noun[unknown] = find_nouns(features)[unknown]
    else:
        _note_unstated(features, "noun", "yes", unknown)
    return _yes_no(is_noun)


def _find_stated_kinds(features: Features, feature: str) -> Categories | None:
    """Kinds that the source states; None where tags count instead, or nobody states any.

    What the key states counts first, tags next, and what only the response states last.
    """
    stated = find_stated_kinds(features.corpus, features.texts)
    if stated is None:
        return None
    by_key = find_stated_kinds(features.texts[0], features.texts[:1]) is not None
    features.uses_stated_kinds = by_key or find_tags(features, feature) is None
    return stated if features.uses_stated_kinds else None


def _note_unstated(features: Features, feature: str, value: str, unknown: BoolArray) -> None:
    """Note that a value stands for what neither the source nor tags tell of some mentions."""
    if unknown.any():
        mentions = describe_mentions(features.corpus, np.flatnonzero(unknown).tolist())
        message = f"{feature} is not stated, and taken to be {value}, of {mentions}; tags or "
        message += "--features would settle it"
        notice = Notice("guessed-kinds", message, int(unknown.sum()))
        features.collected_notices.append(notice)


def _make_tag(features: Features, request: FeatureRequest) -> Categories:
    is_noun = _is_noun(features)
    uses_stated = features.uses_stated_kinds or {"kind", "noun"} & features.statements.keys()
    noun = Categories(all_zero(is_noun.size), (NOUN,))
    tags = None
    if features.corpus.mention_start is not None:
        tags = find_single_tags(features, required=not uses_stated)
    if tags is None:
        tags = Categories(noun.codes, (PRONOUN,))
    return tags.replace_where(is_noun, noun).sort_names()


def _make_class(features: Features, request: FeatureRequest) -> Categories:
    column, texts = request.setting("column"), features.texts
    stated = find_stated_classes(features.corpus, texts) if column is None else None
    # The key's named entities come before what only the response states.
    if stated is not None and (
        find_stated_classes(texts[0], texts[:1]) is not None
        or find_named_entities(features, "class", NAMED) is None
    ):
        return stated.sort_names()
    return find_classes_of_mentions(features, column).sort_names()


def _make_entity_class(features: Features, request: FeatureRequest) -> Categories:
    column = request.setting("column")
    classes = features("class" if column is None else f"class(column={column})")
    entity, number = features.corpus.mention_entity, features.corpus.n_entities
    if "vote" in request.arguments:
        return vote_for_classes(entity, number, classes).sort_names()
    return find_entity_classes(entity, number, classes, lambda: _is_noun(features)).sort_names()


def _make_zero(features: Features, request: FeatureRequest) -> Categories:
    if features.corpus.labels is not None:  # words of the caller, not of a text
        return _yes_no(all_false(features.corpus.n_mentions))
    return _yes_no(find_zeros(features))


def _make_words(features: Features, request: FeatureRequest) -> Categories:
    labels = features.corpus.labels
    if labels is not None:
        return Categories.of([str(label).lower() for label in labels]).sort_names()
    return features.columns("words").mention_texts().sort_names()


def _make_distance(features: Features, request: FeatureRequest) -> Categories:
    features.columns("distance")  # an error where mentions have no positions
    before = find_previous(features.corpus.mention_entity)
    place = np.arange(before.size)
    if "sentences" in request.arguments:
        place = features.remember("sentences of mentions", find_sentences_of_mentions)
    distance = place - place[before] if before.size else before
    return put_into_bins(distance, request.bins or SINGLE, before >= 0)


def _make_link(features: Features, request: FeatureRequest) -> Categories:
    corpus, name = features.corpus, request.setting("column")
    if name is not None:
        origin = _read_column(features, request, name, "start").codes
    elif corpus.mention_origin is not None:
        origin = corpus.mention_origin
    else:
        origin = corpus.mention_document
    before = find_previous(corpus.mention_entity)
    codes = np.where(origin == origin[before], 0, 1) if before.size else before
    return Categories(np.where(before >= 0, codes, -1), LINKS)


def _make_size(features: Features, request: FeatureRequest) -> Categories:
    sizes = features.corpus.entity_sizes[features.corpus.mention_entity]
    return put_into_bins(sizes, request.bins or SIZES)


def _make_relation(features: Features, request: FeatureRequest) -> Categories:
    pairs = bridging_pairs(features.corpus)
    labels_of: dict[int, dict[str, None]] = {}
    for row, label in plain_rows(pairs.anaphor, pairs.label.values()):
        labels_of.setdefault(row, {})[label or UNLABELLED] = None
    values: list[str | None] = [None] * features.corpus.n_mentions
    for row, labels in labels_of.items():
        values[row] = "+".join(labels)
    return Categories.of(values).sort_names()


def _read_column(
    features: Features, request: FeatureRequest, name: str, at: Literal["head", "start"]
) -> Categories:
    column = find_column(features, name, at=at)
    if column is None:
        fix = "name an existing column"
        raise features.columns(name).missing(str(request), "a token column", [name], fix)
    return column


def _yes_no(values: BoolArray) -> Categories:
    return Categories(integers(np.where(values, 0, 1)), YES_NO)


def number_in_chains(entity: IntArray) -> IntArray:
    """1 for the first mention of each entity, 2 for the second, and so on.

    >>> number_in_chains(np.array([4, 4, 1, 4])).tolist()
    [1, 2, 1, 3]
    """
    return ranks_in_runs(entity, stable_order(entity)) + 1


def find_nested(spans: TokenSpans) -> BoolArray:
    """Which mentions lie inside another one that is longer. Mentions are in textual order."""
    start, end = spans.start, spans.end
    if not start.size:
        return all_false(0)
    new = begin_runs(start, end)
    ends = end[new]  # of each span once: a mention that appears twice is not inside itself
    inside = all_false(ends.size)
    inside[1:] = np.maximum.accumulate(ends)[:-1] >= ends[1:]
    result: BoolArray = inside[np.cumsum(new) - 1]
    return result


def put_into_bins(
    values: IntArray, bins: Sequence[Bin], is_known: BoolArray | None = None
) -> Categories:
    """Each value's bin; none where it is in no bin, or not known. Bins without values go."""
    lows = integers([low for low, _ in bins])
    highs = integers([np.iinfo(np.int64).max if h is None else h for _, h in bins])
    place = np.searchsorted(lows, values, side="right") - 1
    inside = (place >= 0) & (values <= highs[place])
    codes = np.where(inside if is_known is None else inside & is_known, place, -1)
    present = np.bincount(codes + 1, minlength=len(bins) + 1)[1:] > 0
    rank = np.append(np.cumsum(present) - 1, -1)
    names = tuple(
        bin_name(bounds) for bounds, is_present in plain_rows(bins, present) if is_present
    )
    return Categories(rank[codes], names)


_MAKERS: dict[str, Callable[[Features, FeatureRequest], Categories]] = {
    "kind": _make_kind,
    "noun": _make_noun,
    "tag": _make_tag,
    "head_tag": lambda features, _: find_head_tags(features, "head_tag").sort_names(),
    "class": _make_class,
    "entity_class": _make_entity_class,
    "head": lambda features, _: find_head_words(features).renamed(str.lower).sort_names(),
    "zero": _make_zero,
    "words": _make_words,
    "length": lambda features, request: put_into_bins(
        features.columns("length").spans.length, request.bins or SINGLE
    ),
    "chain_position": lambda features, request: put_into_bins(
        number_in_chains(features.corpus.mention_entity), request.bins or SINGLE
    ),
    "distance": _make_distance,
    "link": _make_link,
    "nested": lambda features, _: _yes_no(find_nested(features.columns("nested").spans)),
    "size": _make_size,
    "speaker": lambda features, _: find_speakers(features).sort_names(),
    "sentence_type": lambda features, request: find_sentence_types(
        features, request.setting("column")
    ).sort_names(),
    "column": lambda features, request: _read_column(
        features, request, request.arguments[0], "head"
    ).sort_names(),
    "relation": _make_relation,
}
