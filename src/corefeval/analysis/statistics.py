"""What a corpus contains, in numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from corefeval.model import Corpus
from corefeval.model.arrays import BoolArray
from corefeval.model.text_tokens import has_texts

SIZES = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 50), (51, None))
_FEW_VALUES = 15  # a feature with more values is text, not a kind


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over all documents; None where the corpus does not say.

    `nested` are mentions inside another mention, `zeros` those of nothing but empty nodes, `kinds`
    the values of each property of mentions that has few of them.
    """

    name: str
    documents: int
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
    sizes: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, dict[str, int]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def statistics(corpus: Corpus) -> Statistics:
    """Count what there is."""
    sizes = corpus.entity_sizes[corpus.entity_sizes > 0]
    start, end = corpus.mention_start, corpus.mention_end
    in_characters = has_texts(corpus.tokens)
    tokens = None if in_characters else corpus.tokens
    positions = start is not None and end is not None
    repeated = _repeated(corpus) if positions else None
    empty = _empty_nodes(corpus)
    n_documents = len(corpus.documents)
    return Statistics(
        name=corpus.name,
        documents=n_documents,
        sentences=(
            sum(len(tokens.sentence_starts(index)) for index in range(n_documents))
            if tokens is not None
            else None
        ),
        tokens=int(tokens.counts.sum()) if tokens is not None else None,
        empty_nodes=sum(map(sum, empty)) if empty is not None else None,
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
        nested=int((_nested(corpus) & ~repeated).sum()) if repeated is not None else None,
        discontinuous=int(np.unique(corpus.gaps[:, 0]).size),
        zeros=_zeros(corpus, empty) if positions and empty is not None else None,
        repeated=int(repeated.sum()) if repeated is not None else None,
        sizes={
            _range(low, high): int(
                ((sizes >= low) & (sizes <= (high or sizes.max(initial=0)))).sum()
            )
            for low, high in SIZES
        },
        kinds=_kinds(corpus),
    )


def _range(low: int, high: int | None) -> str:
    return f"{low}" if low == high else f"{low}+" if high is None else f"{low}–{high}"


def _repeated(corpus: Corpus) -> BoolArray:
    """Mentions that have the document, start and end of the one before them."""
    same = np.zeros(corpus.n_mentions, dtype=np.bool_)
    start, end = corpus.mention_start, corpus.mention_end
    if start is None or end is None or not start.size:
        return same
    document = corpus.mention_document
    same[1:] = (document[1:] == document[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1])
    return same


def _nested(corpus: Corpus) -> BoolArray:
    """Mentions that end no later than one that began no later: mentions are in textual order."""
    end = corpus.mention_end
    if end is None or not end.size:
        return np.zeros(corpus.n_mentions, dtype=np.bool_)
    reach = corpus.mention_document * (int(end.max()) + 1) + end
    nested = np.zeros(end.size, dtype=np.bool_)
    nested[1:] = np.maximum.accumulate(reach)[:-1] >= reach[1:]
    return nested


def _empty_nodes(corpus: Corpus) -> list[list[bool]] | None:
    tokens = corpus.tokens
    if tokens is None or "empty" not in tokens.columns:
        return None
    return [
        [bool(mark) for mark in tokens.column(index, "empty")]
        for index in range(len(corpus.documents))
    ]


def _zeros(corpus: Corpus, empty: list[list[bool]]) -> int:
    """Mentions all of whose tokens are empty nodes."""
    start, end = corpus.mention_start, corpus.mention_end
    if start is None or end is None:
        return 0
    spans = zip(corpus.mention_document.tolist(), start.tolist(), end.tolist(), strict=True)
    return sum(all(empty[document][a:b]) for document, a, b in spans)


def _kinds(corpus: Corpus) -> dict[str, dict[str, int]]:
    kinds = {}
    for name, values in corpus.features.items():
        if name == "mention_id":
            continue
        distinct, counts = np.unique(values.astype(str), return_counts=True)
        if distinct.size <= _FEW_VALUES:
            table = zip(distinct.tolist(), counts.tolist(), strict=True)
            kinds[name] = dict(sorted(table, key=lambda item: -item[1]))
    return kinds
