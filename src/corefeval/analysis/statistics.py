"""What a corpus contains, in numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np

from corefeval.diagnostics import plural
from corefeval.display import Record, Row, Tabular
from corefeval.features import Features
from corefeval.features.declarations import bin_name
from corefeval.features.kinds import kinds_if_known, name_entity
from corefeval.features.makers import UNLABELLED
from corefeval.model import DEIXIS, IDENTITY, LAYERS, NON_REFERRING, Corpus, Document
from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    all_false,
    begin_runs,
    plain_rows,
    stable_order,
)
from corefeval.model.relations import bridging_pairs, find_elements
from corefeval.model.views import Mention
from corefeval.preparation import as_corpus, stated_features
from corefeval.request import Input, Reading, Stated

SIZES = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 50), (51, None))
_FEW_VALUES = 15  # a feature with more values is text, not a kind


@dataclass(frozen=True, repr=False)
class Statistics(Tabular):
    """Counts over all documents; None where the corpus does not say.

    `sentences` are known where blank lines or the like mark them: `sentence_starts` is their number
    if each document without such marks is one sentence.
    `nested` are mentions inside another mention, `zeros` those of nothing but empty nodes, `kinds`
    the values of each property of mentions that has few of them. All of these are of identity.
    `sets` are entities that stand for several others, `bridging` pairs of mentions, by relation in
    `relations`; `non_referring` are mentions that refer to nothing, `deixis` and `deixis_entities`
    mentions and entities of discourse deixis.
    """

    name: str
    document_ids: tuple[str, ...]
    sentences: int | None
    tokens: int | None
    empty_nodes: int | None
    mentions: int
    entities: int
    singletons: int
    largest_entity: int
    mean_entity_size: float
    mean_mention_length: float | None
    nested: int | None
    discontinuous: int
    zeros: int | None
    repeated: int | None
    sets: int = 0
    bridging: int = 0
    non_referring: int = 0
    deixis: int = 0
    deixis_entities: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, dict[str, int]] = field(default_factory=dict)
    relations: dict[str, int] = field(default_factory=dict)

    sentence_starts: int = field(default=0, compare=False)
    properties: tuple[str, ...] = field(default=(), compare=False)
    corpus: Corpus | None = field(default=None, compare=False)
    stated: Mapping[str, object] | None = field(default=None, compare=False)

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return len(self.document_ids)

    @property
    def id(self) -> str:
        """Name and part of the document, where it is one."""
        return ", ".join(self.document_ids)

    @property
    def documents(self) -> list[Statistics]:
        """The counts of each document, worked out when they are asked for."""
        if self.corpus is None:
            return []
        places = (np.array([index]) for index in range(self.n_documents))
        corpora = (self.corpus.select_documents(place) for place in places)
        parts = [count_contents(corpus, self.stated) for corpus in corpora]
        if self.sentences is None:
            return parts
        return [replace(part, sentences=part.sentence_starts) for part in parts]

    def entity_table(self, n: int = 30) -> list[EntityRow]:
        """The `n` largest entities: names, numbers of mentions, first and last places."""
        return [] if self.corpus is None else list_entities(self.corpus.keep_layer(IDENTITY), n)

    def rows(self) -> list[Row]:
        """One row for each number: of `counts`, of `sizes` of entities, or of a kind's values."""
        counts = {"documents": self.n_documents, **{n: getattr(self, n) for n in _COUNTS}}
        return [
            {"corpus": self.name, "table": table, "measure": measure, "value": value}
            for table, values in (
                ("counts", counts),
                ("sizes", self.sizes),
                ("bridging", self.relations),
                *self.kinds.items(),
            )
            for measure, value in values.items()
        ]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        tables = {"sizes": dict(self.sizes), "kinds": {k: dict(v) for k, v in self.kinds.items()}}
        tables["relations"] = dict(self.relations)
        return {"name": self.name, "documents": self.n_documents, **counts, **tables}

    def __repr__(self) -> str:
        counts = plural(self.entities, "entity"), plural(self.mentions, "mention")
        return f"<Statistics of {plural(self.n_documents, 'document')}: {', '.join(counts)}>"


_COUNTS = tuple(statistic.name for statistic in fields(Statistics))[2:-7]


def statistics(
    source: Input,
    *,
    documents: str = "*",
    features: Stated = None,
    format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
    layer: str | None = None,
) -> Statistics:
    """Count what is in a corpus: documents, tokens, mentions, entities and their sizes.

    `source` is whatever `score` takes as a key; `documents` is a pattern of ids. `features` are
    stated of mentions as in `score`, and counted too. The other keywords say how files are read, as
    in `read`.

    >>> counts = statistics([["Ada", "she"], ["it"]])
    >>> counts.mentions, counts.entities, counts.singletons
    (3, 2, 1)
    """
    reading = Reading(format, encoding, word_column, layer=layer)
    corpus = as_corpus(source, "", reading).choose_documents(documents)
    return count_contents(corpus, stated_features(features, corpus, encoding=encoding)[0])


def count_contents(corpus: Corpus, features: Mapping[str, object] | None = None) -> Statistics:
    """The statistics of a corpus, with the values of features that are stated of its mentions."""
    all_layers, corpus = corpus, corpus.keep_layer(IDENTITY)
    sizes = corpus.entity_sizes[corpus.entity_sizes > 0]
    start, end = corpus.mention_start, corpus.mention_end
    in_characters = corpus.tokens is not None and corpus.tokens.has_texts
    tokens = None if in_characters else corpus.tokens
    positions = start is not None and end is not None
    repeated = _find_repeats(corpus) if positions else None
    empty = _find_empty_nodes(corpus)
    sentence_starts = int(tokens.starts.size) if tokens is not None else 0
    return Statistics(
        name=corpus.name,
        document_ids=tuple(map(str, corpus.documents)),
        sentences=sentence_starts if tokens is not None and tokens.marks_sentences else None,
        tokens=int(tokens.counts.sum()) if tokens is not None else None,
        empty_nodes=int(empty.sum()) if empty is not None else None,
        mentions=corpus.n_mentions,
        entities=int(sizes.size),
        singletons=int((sizes == 1).sum()),
        largest_entity=int(sizes.max(initial=0)),
        mean_entity_size=float(sizes.mean()) if sizes.size else 0.0,
        mean_mention_length=(
            float((end - start).mean())
            if start is not None and end is not None and start.size and not in_characters
            else None
        ),
        nested=int((_find_nested(corpus) & ~repeated).sum()) if repeated is not None else None,
        discontinuous=int(np.unique(corpus.gaps[:, 0]).size),
        zeros=_count_zeros(corpus, empty) if positions and empty is not None else None,
        repeated=int(repeated.sum()) if repeated is not None else None,
        sizes=_count_sizes(sizes),
        kinds=_count_kinds(corpus) | _count_stated(corpus, features or {}),
        sentence_starts=sentence_starts,
        properties=tuple(name for name in corpus.features if name != "mention_id"),
        corpus=all_layers,
        stated=features,
        **_count_other_layers(all_layers),
    )


def _count_other_layers(corpus: Corpus) -> dict[str, Any]:
    """Counts of sets, bridging, non-referring mentions and deixis, by field of `Statistics`."""
    counts: dict[str, Any] = {}
    if len(corpus.relations):
        labels = bridging_pairs(corpus).label
        label_counts = Counter(label or UNLABELLED for label in labels.values())
        counts = {"sets": len(find_elements(corpus.keep_layer(IDENTITY)))}
        counts |= {"bridging": len(labels), "relations": dict(label_counts.most_common())}
    if corpus.entity_layer is not None:
        mentions = np.bincount(corpus.mention_layer, minlength=len(LAYERS)).tolist()
        entities = (corpus.entity_layer == DEIXIS) & (corpus.entity_sizes > 0)
        counts |= {"non_referring": mentions[NON_REFERRING], "deixis": mentions[DEIXIS]}
        counts["deixis_entities"] = int(entities.sum())
    return counts


def total(parts: Sequence[Statistics]) -> Statistics:
    """The statistics of several corpora together, without those of single documents."""
    first = parts[0]
    added = {name: _add([getattr(part, name) for part in parts]) for name in _ADDITIVE}
    sentence_starts = sum(part.sentence_starts for part in parts)
    if any(part.sentences is not None for part in parts):
        added["sentences"] = sentence_starts
    mentions, entities = added["mentions"] or 0, added["entities"] or 0
    lengths = [
        None
        if part.mean_mention_length is None
        else round(part.mean_mention_length * part.mentions)
        for part in parts
        if part.mentions
    ]
    length = _add(lengths) if lengths else None
    return replace(
        first,
        document_ids=tuple(name for part in parts for name in part.document_ids),
        largest_entity=max(part.largest_entity for part in parts),
        mean_entity_size=mentions / entities if entities else 0.0,
        mean_mention_length=None if length is None else length / mentions,
        sizes={name: sum(part.sizes[name] for part in parts) for name in first.sizes},
        kinds=_add_kinds(parts),
        relations=dict(sum((Counter(part.relations) for part in parts), Counter()).most_common()),
        sentence_starts=sentence_starts,
        corpus=None,
        **added,  # type: ignore[arg-type]
    )


_OF_ALL = ("largest_entity", "mean_entity_size", "mean_mention_length")
_ADDITIVE = tuple(name for name in _COUNTS if name not in _OF_ALL)


def _add(values: Sequence[int | None]) -> int | None:
    """The sum; None where a part does not say."""
    stated_values = [value for value in values if value is not None]
    return sum(stated_values) if len(stated_values) == len(values) else None


def _add_kinds(parts: Sequence[Statistics]) -> dict[str, dict[str, int]]:
    """The counts of each property's values, without properties that have too many values in a part.

    All mentions of a part that lacks a property count with an empty value.
    """
    kinds: dict[str, dict[str, int]] = {}
    for name in dict.fromkeys(name for part in parts for name in part.properties):
        counts: Counter[str] = Counter()
        for part in parts:
            lacking = {} if name in part.properties else {"": part.mentions}
            counts.update({k: v for k, v in part.kinds.get(name, lacking).items() if v})
        wordy = any(name in part.properties and name not in part.kinds for part in parts)
        if not wordy and 0 < len(counts) <= _FEW_VALUES:
            kinds[name] = dict(sorted(sorted(counts.items()), key=lambda item: -item[1]))
    return kinds


def _count_sizes(sizes: IntArray) -> dict[str, int]:
    """How many entities there are of each range of sizes."""
    return {
        bin_name((low, high)): int(
            ((sizes >= low) & (sizes <= (high or sizes.max(initial=0)))).sum()
        )
        for low, high in SIZES
    }


def _find_repeats(corpus: Corpus) -> BoolArray:
    """Mentions that have the document, start and end of the one before them."""
    columns = corpus.mention_document, corpus.mention_start, corpus.mention_end
    return ~begin_runs(*map(np.asarray, columns))


def _find_nested(corpus: Corpus) -> BoolArray:
    """Mentions that end no later than one that began no later: mentions are in textual order."""
    end = corpus.mention_end
    if end is None or not end.size:
        return all_false(corpus.n_mentions)
    reach = corpus.mention_document * (int(end.max()) + 1) + end
    nested = all_false(end.size)
    nested[1:] = np.maximum.accumulate(reach)[:-1] >= reach[1:]
    return nested


def _find_empty_nodes(corpus: Corpus) -> BoolArray | None:
    """Which tokens, of all documents together, are empty nodes."""
    tokens = corpus.tokens
    if tokens is None or "empty" not in tokens.columns:
        return None
    return tokens.coded("empty").where(bool)


def _count_zeros(corpus: Corpus, empty: BoolArray) -> int:
    """Mentions all of whose tokens are empty nodes."""
    start, end, tokens = corpus.mention_start, corpus.mention_end, corpus.tokens
    if start is None or end is None or tokens is None:
        return 0
    before = np.append(0, np.cumsum(empty))
    first = tokens.offsets[corpus.mention_document]
    return int((before[first + end] - before[first + start] == end - start).sum())


def _count_kinds(corpus: Corpus) -> dict[str, dict[str, int]]:
    kinds = {}
    for name, values in corpus.features.items():
        if name == "mention_id":
            continue
        distinct, counts = np.unique(values.astype(str), return_counts=True)
        if distinct.size <= _FEW_VALUES:
            table = plain_rows(distinct, counts)
            kinds[name] = dict(sorted(table, key=lambda item: -item[1]))
    return kinds


def _count_stated(corpus: Corpus, features: Mapping[str, object]) -> dict[str, dict[str, int]]:
    """How many mentions have each value of each stated feature."""
    mention_features = Features(corpus, given=features)
    counts = {}
    for name in features:
        values = mention_features(name)
        table = zip(("", *values.names), np.bincount(values.codes + 1).tolist(), strict=False)
        counts[name] = {value: count for value, count in table if count}
    return counts


# ── the largest entities, one by one ──


@dataclass(frozen=True, slots=True)
class EntityRow(Record):
    """An entity: the mention that names it, how many mentions it has, and where.

    `first` and `last` are the positions where its first and last mention begin, `first_sentence`
    and `last_sentence` the numbers of their sentences, from 1; None where these are not known. Of
    an entity of a key that a response was compared with, `recall` is the share of its mentions that
    the response has, and `together` the share that one response entity has. `merged` are the other
    entities of the key in that one, `split` all response entities that have some of its mentions:
    names, each with the number of mentions, the largest first.
    """

    document: str
    name: str
    mentions: int
    first: int | None = None
    last: int | None = None
    first_sentence: int | None = None
    last_sentence: int | None = None
    recall: float | None = None
    together: float | None = None
    merged: tuple[tuple[str, int], ...] = ()
    split: tuple[tuple[str, int], ...] = ()


def list_entities(corpus: Corpus, number: int) -> list[EntityRow]:
    """The `number` largest entities, equally large ones in the order of the text."""
    kinds = kinds_if_known(Features(corpus))
    rows = []
    for members in split_largest(corpus, number):
        document = Document(corpus, int(corpus.mention_document[members[0]]))
        has_words = corpus.labels is not None or "word" in document.columns
        name = Mention(document, int(members[0])).entity.name
        if has_words or document.text is not None:
            named = name_entity(members, kinds, partial(_read_text, document))
            name = _read_text(document, named)
        places = find_places_of(corpus, members)
        rows.append(EntityRow(str(document.id), name, int(members.size), *places))
    return rows


def _read_text(document: Document, row: int) -> str:
    return Mention(document, row).text


def split_largest(corpus: Corpus, number: int) -> list[IntArray]:
    """The rows of the mentions of the largest entities, in the order of the text."""
    order = stable_order(corpus.mention_entity)
    groups = np.split(order, np.cumsum(corpus.entity_sizes)[:-1]) if order.size else []
    groups = [group for group in groups if group.size]
    return sorted(groups, key=lambda group: (-group.size, group[0]))[:number]


def find_places_of(
    corpus: Corpus, members: IntArray
) -> tuple[int | None, int | None, int | None, int | None]:
    """Positions and sentences of the first and the last mention."""
    if corpus.mention_start is None:
        return None, None, None, None
    tokens, document = corpus.tokens, int(corpus.mention_document[members[0]])
    first, last = corpus.mention_start[members[[0, -1]]].tolist()
    if tokens is None or not tokens.marks_sentences:
        return first, last, None, None
    starts = tokens.sentence_starts(document)
    return first, last, bisect_right(starts, first), bisect_right(starts, last)
