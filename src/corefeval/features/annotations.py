"""What follows from the token columns of a corpus: tags, heads, named entities, sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Literal

import numpy as np

from corefeval.diagnostics import InputError, Notice, excerpt, plural
from corefeval.features.brackets import Nodes, are_brackets, find_named_spans, number_regions
from corefeval.features.declarations import MissingFeatureError
from corefeval.features.heads import find_dependency_heads, find_parsed_heads, find_tagged_heads
from corefeval.features.kinds import find_classes, find_kinds
from corefeval.features.positions import TokenSpans
from corefeval.features.statements import find_stated_heads
from corefeval.features.tagsets import PENN, TAGSETS, UPOS, TagSet, recognise_tagset
from corefeval.features.token_columns import BLANK, NO_WORDS, WORD, TokenColumns
from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray, IntArray, distinct, ragged_arange
from corefeval.model.categories import Categories

_BRACKETS = re.compile(r"\*|\*?\)+|\([^()]*\)*\*?\)*")
_OWN_TAGS = (
    'choose a tagset: tagset="penn", "upos" or "stts", or your own lists '
    '{"pronoun": ["PRP*"], "name": ["NNP*"], "noun": ["NN*"]}'
)
_NAMED: tuple[str | int, ...] = ("named_entity",)
# What tells the head of a mention, the best first.
HEAD_RULES = ("file", "dependencies", "parse", "tags")


class TokenAnnotations:
    """Tags, heads, kinds, classes, speakers and sentences of the mentions of a corpus.

    Those that only another corpus has, `others`, may be asked `beside` these; see `TokenColumns`.
    Of tokens that depend on none of their mention, nouns and pronouns are its heads, or the first.
    """

    def __init__(
        self,
        corpus: Corpus,
        texts: Sequence[Corpus],
        tagset: TagSet | None,
        *,
        others: tuple[Corpus, IntArray] | None = None,
        beside: TokenAnnotations | None = None,
        prefer_nouns: bool = True,
    ) -> None:
        self.corpus, self._prefer_nouns = corpus, prefer_nouns
        self._others, self._beside = others, beside
        self.corpora = texts
        self._asked = tagset
        self._feature = "this feature"
        self._named: dict[tuple[str | int, ...], Nodes | None] = {}
        self.tagset_name: str | None = None

    def spans_for(self, feature: str) -> TokenSpans:
        """The mentions' tokens; the feature is who needs them."""
        self._feature = feature
        return self.spans

    @property
    def spans(self) -> TokenSpans:
        """The mentions' tokens."""
        return self.columns.spans

    @cached_property
    def columns(self) -> TokenColumns:
        """The token columns."""
        if self._beside is not None and "columns" in vars(self._beside):
            return self._beside.columns.beside(self.corpus, self._feature)
        return TokenColumns(self.corpora, self.corpus, self._feature, self._others)

    @cached_property
    def _tags(self) -> tuple[TagSet, Categories] | None:
        """The tag set and the tags of the first text that has any; None for no text."""
        names = ("upos", "tag") if self._asked is None else (self._asked.column, "tag", "upos")
        place = self.columns.find(names)
        tags = self.columns.column(*names)
        if place is None or tags is None:
            return None
        if self._asked is not None:
            self._check_asked(self._asked, self.columns.sample(*place))
            return self._asked, tags
        return UPOS if place[1] == "upos" else self._recognise(self.columns.sample(*place)), tags

    def _check_asked(self, asked: TagSet, sample: Counter[str]) -> None:
        """An error for one of our tag sets where the tags are clearly of another."""
        known = recognise_tagset(sample)
        if known is not None and known is not asked and asked in TAGSETS.values():
            raise MissingFeatureError(
                self._feature,
                f"needs tags of {asked.name}; these look like {known.name}",
                fix=f'leave the tag set out, or use tagset="{known.name}"',
            )

    def _recognise(self, sample: Counter[str]) -> TagSet:
        known = recognise_tagset(sample)
        if known is None:
            common = ", ".join(f"{tag} ({count})" for tag, count in sample.most_common(8))
            raise MissingFeatureError(
                self._feature,
                f"needs known tags; the most frequent ones here are {common}",
                fix=_OWN_TAGS,
            )
        return known

    def has_tags(self, feature: str) -> bool:
        """Whether some text has tags."""
        return self._for(feature)._tags is not None

    def tags(self, feature: str) -> tuple[TagSet, Categories]:
        """The tag set and the tags; an error where there are none."""
        self._feature = feature
        tags = self._tags
        if tags is None:
            stated = "kind" if feature == "noun" else feature  # kinds tell what is a noun
            fix = f"state the {stated} of each mention, with --features FILE or features= in Python"
            raise self.columns.missing(feature, "tags", ("tag",), f"{fix}; or add tags")
        self.tagset_name = tags[0].name
        return tags

    def head_tags(self, feature: str) -> Categories:
        """The tag of each mention's head: in the tag column, else the universal one."""
        tags = self.tags(feature)[1]
        finest = self.columns.column("tag", "upos")
        return (finest if finest is not None else tags).take(self.heads(feature))

    def single_tags(self, *, required: bool) -> Categories | None:
        """The tags of heads, to tell mentions that are no nouns apart; None without tags.

        What the tag column calls a noun and the universal tag does not (`everyone`) has the
        universal tag.
        """
        self._feature = "tag"
        if not required and self._tags is None:
            return None
        finest, (tagset, tags) = self.head_tags("tag"), self.tags("tag")
        place = self.columns.find(("tag",))
        finer = None if place is None else recognise_tagset(self.columns.sample(*place))
        if tagset is not UPOS or finer is None:
            return finest
        universal = tags.take(self.heads("tag"))
        return finest.replace_where(finest.where(finer.is_noun), universal)

    @cached_property
    def _sentence_starts(self) -> IntArray:
        starts = self.columns.sentence_starts()
        offsets = self.spans.offsets[:-1]
        return offsets if starts is None else distinct(np.concatenate((starts, offsets)))

    @cached_property
    def empty(self) -> BoolArray | None:
        """Which tokens are empty nodes."""
        marks = self.columns.column("empty")
        return None if marks is None else marks.where(lambda mark: mark not in BLANK)

    @cached_property
    def _heads(self) -> IntArray:
        """The head token of each mention; −1 where nothing tells."""
        spans = self.spans
        stated = find_stated_heads(self.corpus, self.corpora)
        stated = np.where(stated >= 0, stated + spans.offsets[spans.document], -1)
        heads = np.where(self._is_function_word(stated), -1, stated)
        single = spans.length == 1
        heads[single] = spans.start[single]
        for find in (self._by_dependencies, self._by_constituents, self._by_tags):
            rows = np.flatnonzero(heads < 0)
            if rows.size:
                heads[rows] = find(rows)
        return np.where(heads < 0, stated, heads)

    def own_heads(self, feature: str) -> tuple[IntArray, IntArray]:
        """The head of each mention as its own file states it, else as others do, else as found.

        Returns positions in documents, −1 where nothing tells, and for each mention of several
        tokens the place in `HEAD_RULES` of what told it; −1 for others. What is stated stays as it
        is, but a head outside of its mention tells nothing.
        """
        spans = self.spans_for(feature)
        base = spans.offsets[spans.document]
        stated = find_stated_heads(self.corpus, (self.corpus, *self.corpora))
        heads = np.where(stated >= 0, stated + base, -1)
        heads[~spans.contain(heads)] = -1
        single = spans.length == 1
        heads[single] = spans.start[single]
        rule = np.where(heads >= 0, 0, -1)
        finders = self._by_dependencies, self._by_constituents, self._by_tags
        for number, find in enumerate(finders, start=1):
            rows = np.flatnonzero(heads < 0)
            if rows.size:
                heads[rows] = find(rows)
                rule[rows[heads[rows] >= 0]] = number
        if self._tags is not None and (rule > HEAD_RULES.index("dependencies")).any():
            self.tagset_name = self._tags[0].name
        return np.where(heads >= 0, heads - base, -1), np.where(single, -1, rule)

    def _is_function_word(self, heads: IntArray) -> BoolArray:
        """Which stated heads are determiners and the like: programs state the first top token.

        Whether it is the only one, the dependencies tell.
        """
        if self._tags is None or not (heads >= 0).any():
            return np.zeros(heads.size, dtype=np.bool_)
        tagset, tags = self._tags
        tag = tags.take(np.maximum(heads, 0))
        content = tag.where(tagset.is_noun) | tag.where(tagset.is_pronoun)
        return (heads >= 0) & ~content & tag.where(tagset.is_alone)

    def _by_dependencies(self, rows: IntArray) -> IntArray:
        governors = self.columns.column("head", only_long=True)
        numbers = None if governors is None else self.columns.column("number", only_long=True)
        if numbers is None or governors is None:
            return np.full(rows.size, -1, dtype=np.int64)
        suits = None
        if self._prefer_nouns and self._tags is not None:
            tagset, tags = self._tags
            suits = tags.where(lambda tag: tagset.is_noun(tag) or tagset.is_pronoun(tag))
        return find_dependency_heads(
            self.spans, rows, numbers, governors, self._sentence_starts, suits
        )

    def _by_constituents(self, rows: IntArray) -> IntArray:
        english = self._tags is not None and self._tags[0] is PENN
        parse = self.columns.column("parse", only_long=True) if english else None
        if parse is None or self._tags is None:
            return np.full(rows.size, -1, dtype=np.int64)
        return find_parsed_heads(self.spans, rows, parse, self._tags[1], self._sentence_starts)

    def _by_tags(self, rows: IntArray) -> IntArray:
        if self._tags is None:
            return np.full(rows.size, -1, dtype=np.int64)
        return find_tagged_heads(self.spans, rows, self._tags[1], self._tags[0])

    def heads(self, feature: str) -> IntArray:
        """The head token of each mention; an error where nothing tells."""
        self._feature = feature
        if (self._heads < 0).any():
            raise self.columns.missing(
                feature,
                "tags to find the head of a mention of several tokens",
                ("tag",),
                "add tags, or use a format that states heads",
            )
        return self._heads

    def head_positions(self) -> IntArray:
        """The heads' positions in their documents."""
        self._feature = "head"
        heads = self._heads
        return np.where(heads >= 0, heads - self.spans.offsets[self.spans.document], -1)

    def head_words(self) -> Categories:
        """The head word of each mention."""
        words = self._for("head").columns.require("head", "words", WORD, NO_WORDS)
        return words.take(self.heads("head"))

    def is_noun(self) -> BoolArray:
        """Which mentions have more than one token, or a noun's tag."""
        tagset, tags = self.tags("noun")
        several, first = self.spans.length > 1, tags.take(self.spans.start)
        self._check_known("noun", (first.codes >= 0) | several)
        return several | first.where(tagset.is_noun)

    def is_zero(self) -> BoolArray:
        """Which mentions have an empty node as head; one whose head is not known is none."""
        self._feature = "zero"
        spans = self.spans
        if self.empty is None:
            return np.zeros(spans.start.size, dtype=np.bool_)
        heads, _ = self.own_heads("zero")
        tokens = np.where(heads >= 0, heads + spans.offsets[spans.document], 0)
        return np.asarray((heads >= 0) & self.empty[tokens])

    def kinds(self) -> Categories:
        """The kind of each mention."""
        tagset, tags = self.tags("kind")
        place, heads = self.columns.find(WORD), self.heads("kind")
        named = self.columns.find(_NAMED)
        self._check_known("kind", tags.codes[heads] >= 0)
        return find_kinds(
            self.spans,
            heads,
            tags,
            tagset,
            empty=self.empty,
            words=None if place is None else partial(self.columns.cells_at, *place),
            named=None if named is None else partial(self._named_around, named),
            sentences=self._sentence_starts,
        )

    def _check_known(self, feature: str, known: BoolArray) -> None:
        """An error where the text that has the tags lacks documents, or parts of them."""
        if known.all():
            return
        rows = np.flatnonzero(~known)
        document = self.corpus.documents[int(self.spans.document[rows[0]])]
        raise MissingFeatureError(
            feature,
            f"needs tags, and {plural(rows.size, 'mention')} have none: the text with the tags is "
            f"shorter, or lacks documents, such as {excerpt(str(document))}",
            fix="add tags to the key",
        )

    def named_entities(self, names: tuple[str | int, ...]) -> Nodes | None:
        """The named entities in mentions, from a column; None where no text has it."""
        if names not in self._named:
            place, tokens = self.columns.find(names), self.spans.inside
            if place is None:
                self._named[names] = None
                return None
            cells = self.columns.cells(*place, tokens)
            if not are_brackets(cells):  # then what stands before a mention tells where one begins
                tokens = np.arange(self.spans.n_tokens)
                cells = self.columns.cells(*place, tokens)
            region = number_regions(tokens, self._sentence_starts)
            self._named[names] = find_named_spans(cells, tokens, region)
        return self._named[names]

    def _named_around(self, place: tuple[int, str | int], rows: IntArray) -> Nodes | None:
        """The named entities near some mentions, so that all of those in these are among them.

        Brackets are matched within runs of tokens of mentions: other runs need not be looked at.
        """
        tokens = self.spans.inside
        start, length = self.spans.start[rows], self.spans.end[rows] - self.spans.start[rows]
        region = number_regions(tokens, self._sentence_starts)
        chosen = np.zeros(int(region[-1]) + 1, dtype=np.bool_)
        chosen[region[ragged_arange(np.searchsorted(tokens, start), length)]] = True
        near = np.flatnonzero(chosen[region])
        cells = self.columns.cells(*place, tokens[near])
        if not are_brackets(cells):
            return self.named_entities(_NAMED)
        return find_named_spans(cells, tokens[near], region[near])

    def has_named_entities(self) -> bool:
        """Whether some text has named entities."""
        return self._for("class").named_entities(_NAMED) is not None

    def classes(self, column: str | None) -> Categories:
        """The named-entity class of each mention."""
        names: tuple[str | int, ...] = _NAMED if column is None else (_name(column),)
        named = self._for("class").named_entities(names)
        if named is None:
            raise self.columns.missing(
                "class",
                "named entities",
                names,
                "name the column that has them, class(column=10), or state the class",
            )
        return find_classes(self.spans, self._heads, named)

    def column(self, name: str, *, at: Literal["head", "start"]) -> Categories | None:
        """A token column at the head or the first token of each mention; None for no such column.

        `-`, `_` and nothing are no values.
        """
        column = self._for(f"column({name})").columns.column(_name(name))
        if column is None:
            return None
        place = self.spans.start if at == "start" else self.heads(f"column({name})")
        return column.take(place).renamed(lambda cell: None if cell in BLANK else cell)

    def speakers(self) -> Categories:
        """Who speaks the first token of each mention."""
        columns = self._for("speaker").columns
        speakers = columns.column("speaker", suits=_are_speakers)
        if speakers is not None:
            at_start = speakers.take(self.spans.start)
            return at_start.renamed(lambda cell: None if cell in BLANK else cell)
        comments = self.sentence_values("speaker")
        if comments is not None:
            return comments
        fix = "use a format that states speakers, or name the column: column(NUMBER)"
        if columns.find(("speaker",)) is not None:
            raise MissingFeatureError(
                "speaker",
                "needs speakers; the column in their place has only brackets",
                fix=fix,
            )
        raise columns.missing("speaker", "speakers", ("speaker",), fix)

    def sentence_types(self, column: str | None) -> Categories:
        """The type of the sentence in which each mention begins."""
        if column is not None:
            values = self.column(column, at="start")
            if values is None:
                fix = "name an existing column, or its number"
                raise self.columns.missing("sentence_type", "a column", (_name(column),), fix)
            return values
        values = self._for("sentence_type").sentence_values("s_type")
        if values is None:
            raise MissingFeatureError(
                "sentence_type",
                "needs sentences that state their type (# s_type = … in CoNLL-U)",
                fix="name a token column that has it: sentence_type(column=11)",
            )
        return values

    def sentence_values(self, key: str) -> Categories | None:
        """What a comment says of the sentence in which each mention begins."""
        comments = self.columns.sentence_comments(key)
        if comments is None:
            return None
        starts, values = comments
        return values.take(np.searchsorted(starts, self.spans.start, side="right") - 1)

    def sentence_of_mentions(self, feature: str) -> IntArray:
        """The number of the sentence in which each mention begins."""
        self._feature = feature
        if self.columns.sentence_starts() is None:
            raise MissingFeatureError(
                feature, "needs sentences, and the documents have no tokens", fix="add the text"
            )
        return np.searchsorted(self._sentence_starts, self.spans.start, side="right")

    def _for(self, feature: str) -> TokenAnnotations:
        self._feature = feature
        return self


def _name(column: str) -> str | int:
    return int(column) if column.isascii() and column.isdigit() and len(column) < 6 else column


def _are_speakers(sample: Counter[str]) -> bool:
    """Whether a column has speakers: files of other columns have named entities in that place."""
    cells = [cell for cell in sample if cell not in BLANK]
    return not all(_BRACKETS.fullmatch(cell) for cell in cells)


def add_dependency_heads(corpus: Corpus) -> Corpus:
    """The corpus with a head for each mention without one: its first top token, as in CorefUD.

    A notice says how many were added; an InputError that there are no dependencies.
    """
    heads, rules = TokenAnnotations(corpus, (corpus,), None, prefer_nouns=False).own_heads("head")
    heads[rules > HEAD_RULES.index("dependencies")] = -1
    has_none = heads < 0
    if has_none.any() and HEAD_RULES.index("dependencies") not in rules:
        raise InputError("there are no dependencies (HEAD) to find heads by", file=corpus.name)
    added = int((heads != find_stated_heads(corpus, ())).sum())
    text = f"{corpus.name}: {plural(added, 'head')} added from the dependencies"
    text += f"; {plural(has_none.sum(), 'mention')} without a head" if has_none.any() else ""
    notices = (*corpus.notices, Notice("added-heads", text, added))
    return corpus.with_details(mention_head=heads, notices=notices)
