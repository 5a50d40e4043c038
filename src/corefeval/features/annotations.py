"""What follows from the token columns of mentions: tags, heads, named entities, sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Literal, TypeVar, cast

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt, note, plural
from corefeval.features.brackets import Nodes, are_brackets, find_named_spans, number_regions
from corefeval.features.declarations import MissingFeatureError
from corefeval.features.heads import find_dependency_heads, find_parsed_heads, find_tagged_heads
from corefeval.features.kinds import find_classes, find_kinds
from corefeval.features.lookup import Features
from corefeval.features.statements import find_stated_heads
from corefeval.features.tagsets import PENN, TAGSETS, UPOS, TagSet, recognise_tagset
from corefeval.features.token_columns import BLANK, NO_WORDS, WORD
from corefeval.model import Corpus
from corefeval.model.arrays import ArrayPair, BoolArray, IntArray, all_false, distinct, unset
from corefeval.model.categories import Categories

_BRACKETS = re.compile(r"\*|\*?\)+|\([^()]*\)*\*?\)*")
_LIST_TAGS = (
    "choose one with --tagset penn, upos or stts, or with --tagset FILE for your own lists: "
    '{"pronoun": ["PRP*"], "name": ["NNP*"], "noun": ["NN*"]}'
)
NAMED: tuple[str | int, ...] = ("named_entity",)
# What tells the head of a mention, the best first.
HEAD_RULES = ("file", "dependencies", "parse", "tags")

Tags = tuple[TagSet, Categories]
HeadFinder = Callable[[Features, IntArray, str], IntArray]


Finder = TypeVar("Finder", bound=Callable[..., Any])


def _remember(find: Finder) -> Finder:
    """A finder that works out its value once; error messages name the feature of the first call."""

    @wraps(find)
    def look_up(features: Features, feature: str, *arguments: Any) -> Any:
        name = f"{find.__name__} {arguments}"
        return features.remember(name, lambda _: find(features, feature, *arguments))

    return cast("Finder", look_up)


@_remember
def find_tags(features: Features, feature: str) -> Tags | None:
    """The tag set and the tags of the first text that has any; None where no text has any."""
    tagset, columns = features.tagset, features.columns(feature)
    names = ("upos", "tag") if tagset is None else (tagset.column, "tag", "upos")
    place = columns.find(names)
    tags = columns.column(*names)
    if place is None or tags is None:
        return None
    sample = columns.sample(*place)
    if tagset is None:
        return UPOS if place[1] == "upos" else _recognise(sample, feature), tags
    recognised = recognise_tagset(sample)
    if recognised not in (None, tagset) and tagset in TAGSETS.values():
        assert recognised is not None
        raise MissingFeatureError(
            feature,
            f"needs tags of {tagset.name}; these look like {recognised.name}",
            fix=f"leave the tag set out, or use --tagset {recognised.name}",
        )
    return tagset, tags


def _recognise(sample: Counter[str], feature: str) -> TagSet:
    tagset = recognise_tagset(sample)
    if tagset is None:
        common = ", ".join(f"{tag} ({count})" for tag, count in sample.most_common(8))
        problem = f"needs known tags; the most frequent ones here are {common}"
        raise MissingFeatureError(feature, problem, fix=_LIST_TAGS)
    return tagset


def require_tags(features: Features, feature: str) -> Tags:
    """The tag set and the tags; an error where there are none."""
    tags = find_tags(features, feature)
    if tags is None:
        stated = "kind" if feature == "noun" else feature  # kinds tell what is a noun
        fix = f"state the {stated} of each mention, with --features FILE; or add tags"
        raise features.columns(feature).missing(feature, "tags", ("tag",), fix)
    features.used_tagset = tags[0]
    return tags


def find_head_tags(features: Features, feature: str) -> Categories:
    """The tag of each mention's head: in the tag column, else the universal one."""
    tags = require_tags(features, feature)[1]
    finest = features.columns(feature).column("tag", "upos")
    return (finest if finest is not None else tags).take(require_heads(features, feature))


def find_single_tags(features: Features, *, required: bool) -> Categories | None:
    """The tags of heads, to tell mentions that are no nouns apart; None without tags.

    What the tag column calls a noun and the universal tag does not (`everyone`) has the universal
    tag. Without tags there is an error if they are required.
    """
    if not required and find_tags(features, "tag") is None:
        return None
    finest, (tagset, tags) = find_head_tags(features, "tag"), require_tags(features, "tag")
    columns = features.columns("tag")
    place = columns.find(("tag",))
    finer = None if place is None else recognise_tagset(columns.sample(*place))
    if tagset is not UPOS or finer is None:
        return finest
    universal = tags.take(require_heads(features, "tag"))
    return finest.replace_where(finest.where(finer.is_noun), universal)


@_remember
def find_sentence_starts(features: Features, feature: str) -> IntArray:
    """The tokens with which sentences and documents begin."""
    columns = features.columns(feature)
    starts, offsets = columns.sentence_starts(), columns.spans.offsets[:-1]
    return offsets if starts is None else distinct(np.concatenate((starts, offsets)))


def find_empty(features: Features, feature: str) -> BoolArray | None:
    """Which tokens are empty nodes; None where no text marks any."""
    marks = features.columns(feature).column("empty")
    return None if marks is None else marks.where(lambda mark: mark not in BLANK)


@_remember
def find_heads(features: Features, feature: str) -> IntArray:
    """The head token of each mention, tokens numbered through; −1 where nothing tells."""
    spans = features.columns(feature).spans
    stated = find_stated_heads(features.corpus, features.texts)
    stated = np.where(stated >= 0, stated + spans.offsets[spans.document], -1)
    heads = np.where(_is_function_word(features, stated, feature), -1, stated)
    single = spans.length == 1
    heads[single] = spans.start[single]
    for find in _HEAD_FINDERS:
        rows = np.flatnonzero(heads < 0)
        if rows.size:
            heads[rows] = find(features, rows, feature)
    return np.where(heads < 0, stated, heads)


def find_matched_heads(features: Features, feature: str, *, prefer_nouns: bool = True) -> ArrayPair:
    """The head of each mention as its file states it, else as other files do, else as derived.

    Returns positions in documents, −1 where nothing tells, and for each mention of several tokens
    the place in `HEAD_RULES` of what told it; −1 for others. What is stated stays as it is, but a
    head outside of its mention tells nothing. Of several tokens that depend on none of their
    mention the first noun or pronoun is the head, the first of all unless `prefer_nouns`.
    """
    spans = features.columns(feature).spans
    base = spans.offsets[spans.document]
    stated = find_stated_heads(features.corpus, (features.corpus, *features.texts))
    heads = np.where(stated >= 0, stated + base, -1)
    heads[~spans.contain(heads)] = -1
    single = spans.length == 1
    heads[single] = spans.start[single]
    rule = np.where(heads >= 0, 0, -1)
    by_dependencies: HeadFinder = partial(_find_by_dependencies, prefer_nouns=prefer_nouns)
    for number, find in enumerate((by_dependencies, *_HEAD_FINDERS[1:]), start=1):
        rows = np.flatnonzero(heads < 0)
        if rows.size:
            heads[rows] = find(features, rows, feature)
            rule[rows[heads[rows] >= 0]] = number
    tags = find_tags(features, feature)
    if tags is not None and (rule > HEAD_RULES.index("dependencies")).any():
        features.used_tagset = tags[0]
    return np.where(heads >= 0, heads - base, -1), np.where(single, -1, rule)


def _is_function_word(features: Features, heads: IntArray, feature: str) -> BoolArray:
    """Which stated heads are determiners and other function words, by their tags.

    Programs state the first token of a mention that depends on no other of it. Where there are
    several such tokens, another one may be the head: the dependencies tell.
    """
    tags = find_tags(features, feature) if (heads >= 0).any() else None
    if tags is None:
        return all_false(heads.size)
    tagset, column = tags
    tag = column.take(np.maximum(heads, 0))
    content = tag.where(tagset.is_noun) | tag.where(tagset.is_pronoun)
    return (heads >= 0) & ~content & tag.where(tagset.is_alone)


def _find_by_dependencies(
    features: Features, rows: IntArray, feature: str, prefer_nouns: bool = True
) -> IntArray:
    """The heads of some mentions by their dependencies; −1 where these do not tell."""
    columns = features.columns(feature)
    governors = columns.column("head", only_long=True)
    numbers = None if governors is None else columns.column("number", only_long=True)
    if numbers is None or governors is None:
        return unset(rows.size)
    suits = None
    tags = find_tags(features, feature) if prefer_nouns else None
    if tags is not None:
        suits = tags[1].where(tags[0].is_noun) | tags[1].where(tags[0].is_pronoun)
    starts = find_sentence_starts(features, feature)
    return find_dependency_heads(columns.spans, rows, numbers, governors, starts, suits)


def _find_by_constituents(features: Features, rows: IntArray, feature: str) -> IntArray:
    tags, columns = find_tags(features, feature), features.columns(feature)
    is_english = tags is not None and tags[0] is PENN
    parse = columns.column("parse", only_long=True) if is_english else None
    if parse is None or tags is None:
        return unset(rows.size)
    starts = find_sentence_starts(features, feature)
    return find_parsed_heads(columns.spans, rows, parse, tags[1], starts)


def _find_by_tags(features: Features, rows: IntArray, feature: str) -> IntArray:
    tags = find_tags(features, feature)
    if tags is None:
        return unset(rows.size)
    return find_tagged_heads(features.columns(feature).spans, rows, tags[1], tags[0])


_HEAD_FINDERS: tuple[HeadFinder, ...] = (
    _find_by_dependencies,
    _find_by_constituents,
    _find_by_tags,
)


def require_heads(features: Features, feature: str) -> IntArray:
    """The head token of each mention; an error where nothing tells."""
    heads = find_heads(features, feature)
    if (heads < 0).any():
        raise features.columns(feature).missing(
            feature,
            "tags to find the head of a mention of several tokens",
            ("tag",),
            "add tags, or use a format that states heads",
        )
    return heads


def find_head_positions(features: Features) -> IntArray:
    """The heads' positions in their documents; −1 where a head is not known."""
    heads, spans = find_heads(features, "head"), features.columns("head").spans
    return np.where(heads >= 0, heads - spans.offsets[spans.document], -1)


def find_head_words(features: Features) -> Categories:
    """The head word of each mention."""
    words = features.columns("head").require("head", "words", WORD, NO_WORDS)
    return words.take(require_heads(features, "head"))


def find_nouns(features: Features) -> BoolArray:
    """Which mentions have more than one token, or a noun's tag."""
    tagset, tags = require_tags(features, "noun")
    spans = features.columns("noun").spans
    several, first = spans.length > 1, tags.take(spans.start)
    _check_tagged(features, "noun", (first.codes >= 0) | several)
    return several | first.where(tagset.is_noun)


def find_zeros(features: Features) -> BoolArray:
    """Which mentions have an empty node as head; one whose head is not known is none."""
    spans, empty = features.columns("zero").spans, find_empty(features, "zero")
    if empty is None:
        return all_false(spans.start.size)
    heads, _ = find_matched_heads(features, "zero")
    tokens = np.where(heads >= 0, heads + spans.offsets[spans.document], 0)
    return np.asarray((heads >= 0) & empty[tokens])


def find_kinds_of_mentions(features: Features) -> Categories:
    """The kind of each mention: name, nominal or pronoun."""
    tagset, tags = require_tags(features, "kind")
    columns, heads = features.columns("kind"), require_heads(features, "kind")
    place = columns.find(WORD)
    _check_tagged(features, "kind", tags.codes[heads] >= 0)
    return find_kinds(
        columns.spans,
        heads,
        tags,
        tagset,
        empty=find_empty(features, "kind"),
        words=None if place is None else partial(columns.cells, *place),
        named=find_named_entities(features, "kind", NAMED),
        sentences=find_sentence_starts(features, "kind"),
    )


def _check_tagged(features: Features, feature: str, is_tagged: BoolArray) -> None:
    """An error where the text that has the tags lacks documents, or parts of them."""
    if is_tagged.all():
        return
    rows = np.flatnonzero(~is_tagged)
    document = features.corpus.documents[int(features.corpus.mention_document[rows[0]])]
    raise MissingFeatureError(
        feature,
        f"needs tags, and {plural(rows.size, 'mention')} have none: the text with the tags is "
        f"shorter, or lacks documents, such as {excerpt(str(document))}",
        fix="add tags to the key",
    )


@_remember
def find_named_entities(
    features: Features, feature: str, names: tuple[str | int, ...]
) -> Nodes | None:
    """The named entities in mentions, from a column; None where no text has it."""
    columns = features.columns(feature)
    place, tokens = columns.find(names), columns.spans.inside
    if place is None:
        return None
    cells = columns.cells(*place, tokens)
    if not are_brackets(cells):  # then what stands before a mention tells where one begins
        tokens = np.arange(columns.spans.n_tokens)
        cells = columns.cells(*place, tokens)
    region = number_regions(tokens, find_sentence_starts(features, feature))
    return find_named_spans(cells, tokens, region)


def find_classes_of_mentions(features: Features, column: str | None) -> Categories:
    """The named-entity class of each mention, from a column of that name or number."""
    names: tuple[str | int, ...] = NAMED if column is None else (_column_key(column),)
    named = find_named_entities(features, "class", names)
    if named is None:
        fix = "name the column that has them, class(column=10), or state the class"
        raise features.columns("class").missing("class", "named entities", names, fix)
    return find_classes(features.columns("class").spans, find_heads(features, "class"), named)


def find_column(
    features: Features, name: str, *, at: Literal["head", "start"]
) -> Categories | None:
    """A token column at the head or the first token of each mention; None for no such column.

    `-`, `_` and nothing are no values.
    """
    feature = f"column({name})"
    columns = features.columns(feature)
    column = columns.column(_column_key(name))
    if column is None:
        return None
    place = columns.spans.start if at == "start" else require_heads(features, feature)
    return _without_blanks(column.take(place))


def _without_blanks(cells: Categories) -> Categories:
    return cells.renamed(lambda cell: None if cell in BLANK else cell)


def find_speakers(features: Features) -> Categories:
    """Who speaks the first token of each mention."""
    columns = features.columns("speaker")

    def are_speakers(sample: Counter[str]) -> bool:  # files of other columns have brackets there
        return not all(cell in BLANK or _BRACKETS.fullmatch(cell) for cell in sample)

    speakers = columns.column("speaker", suits=are_speakers)
    if speakers is not None:
        return _without_blanks(speakers.take(columns.spans.start))
    comments = find_comments(features, "speaker", "speaker")
    if comments is not None:
        return comments
    fix = "use a format that states speakers, or name the column: column(NUMBER)"
    if columns.find(("speaker",)) is not None:
        problem = "needs speakers; the column in their place has only brackets"
        raise MissingFeatureError("speaker", problem, fix=fix)
    raise columns.missing("speaker", "speakers", ("speaker",), fix)


def find_sentence_types(features: Features, column: str | None) -> Categories:
    """The type of the sentence in which each mention begins."""
    if column is not None:
        values = find_column(features, column, at="start")
        if values is None:
            fix, names = "name an existing column, or its number", (_column_key(column),)
            columns = features.columns("sentence_type")
            raise columns.missing("sentence_type", "a column", names, fix)
        return values
    values = find_comments(features, "sentence_type", "s_type")
    if values is None:
        raise MissingFeatureError(
            "sentence_type",
            "needs sentences that state their type (# s_type = … in CoNLL-U)",
            fix="name a token column that has it: sentence_type(column=11)",
        )
    return values


def find_comments(features: Features, feature: str, key: str) -> Categories | None:
    """What a comment says of the sentence in which each mention begins."""
    columns = features.columns(feature)
    comments = columns.sentence_comments(key)
    if comments is None:
        return None
    starts, values = comments
    return values.take(np.searchsorted(starts, columns.spans.start, side="right") - 1)


def find_sentences_of_mentions(features: Features) -> IntArray:
    """The number of the sentence in which each mention begins, for distances.

    A notice counts documents in which nobody marks sentences: each is a single sentence.
    """
    columns = features.columns("distance")
    if columns.sentence_starts() is None:
        raise MissingFeatureError(
            "distance", "needs sentences, and the documents have no tokens", fix="add the text"
        )
    if features.corpus is features.texts[0]:  # once for both sides of a score
        outcome = "in which no sentences are marked, each taken as one sentence"
        unmarked, name = columns.count_unmarked_documents(), features.corpus.name or "key"
        notices = features.collected_notices
        notices += note("unmarked-sentences", unmarked, "document", outcome, whose=name)
    starts = find_sentence_starts(features, "distance")
    return np.searchsorted(starts, columns.spans.start, side="right")


def _column_key(column: str) -> str | int:
    """A column as tokens know it: by its number where it is one."""
    return int(column) if column.isascii() and column.isdigit() and len(column) < 6 else column


def add_dependency_heads(corpus: Corpus) -> Corpus:
    """The corpus with a head for each mention without one: its first top token, as in CorefUD.

    A notice says how many were added; an InputError that there are no dependencies.
    """
    heads, rules = find_matched_heads(Features(corpus), "head", prefer_nouns=False)
    heads[rules > HEAD_RULES.index("dependencies")] = -1
    has_none = heads < 0
    if has_none.any() and HEAD_RULES.index("dependencies") not in rules:
        raise InputError("there are no dependencies (HEAD) to find heads by", file=corpus.name)
    added = int((heads != find_stated_heads(corpus, ())).sum())
    text = f"{corpus.name}: {plural(added, 'head')} added from the dependencies"
    text += f"; {plural(has_none.sum(), 'mention')} without a head" if has_none.any() else ""
    notices = (*corpus.notices, Notice("added-heads", text, added))
    return corpus.with_details(mention_head=heads, notices=notices)
