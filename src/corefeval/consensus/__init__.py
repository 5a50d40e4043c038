"""The consensus of several annotations: the partition of mentions that overrules fewest votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import Unpack

import numpy as np

from corefeval.analysis.agreement import Signed, make_request, read_annotations, result_notices
from corefeval.analysis.ceilings import MOST_KEYS, count_common_links, count_united_links
from corefeval.analysis.units import Units, split_mention, state, unite
from corefeval.consensus.decisions import (
    COLUMNS,
    Constraints,
    Contest,
    constrain,
    list_contests,
    read_decisions,
)
from corefeval.consensus.partition import BOUNDED, count_cost, divide, in_order
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Row
from corefeval.evaluation import count
from corefeval.metrics import Metrics
from corefeval.model import DEIXIS, NON_REFERRING, Corpus
from corefeval.model.arrays import IntArray, all_zero, integers, plain_rows, set_rows
from corefeval.model.construction import number_entities
from corefeval.pairing.annotators import pair_annotations
from corefeval.pairing.axis import ALIGNED
from corefeval.preparation import prepare_corpora
from corefeval.protocol import Protocol
from corefeval.request import Input, Request, ScoreOptions, Stated
from corefeval.results import Result

DEFAULT_METRICS = "conll, lea"
VOTES = ("document", "start", "end", "votes", "annotators")
_LONE = "linked to nothing left out, as no input has singletons"
_NO_BOUND = f"of more than {BOUNDED:,} groups of mentions without a bound: it is 0 there"
_OVERRULED = "of groups of mentions put together though nobody links them"
_CLASS = "etype"  # said of an entity, on each of its mentions


@dataclass(frozen=True, eq=False, repr=False)
class Merged(Signed):
    """The consensus of several annotations.

    `corpus` is the consensus. `cost` is the number of votes that it overrules, no partition can
    overrule fewer than `bound`, and where it is `exact`, none overrules fewer. A mention is kept if
    at least `quorum` annotators marked it. `contested` are the decisions that a person may want to
    make, `votes` says who marked each kept mention, and `results` has the result of each annotator
    against the consensus.
    """

    annotators: tuple[str, ...]
    quorum: int
    corpus: Corpus
    units: Units
    group: IntArray
    entity: IntArray
    """The entity of each unit, lone mentions among them; −1 where it is not kept."""
    shown: IntArray
    """The entity of each unit in the corpus, −1 where it has none."""
    costs: IntArray
    """The cost of each document, and behind it the least that it can be."""
    constraints: Constraints
    results: Mapping[str, Result]
    protocol: Protocol
    notices: tuple[Notice, ...] = ()

    @property
    def cost(self) -> int:
        """How many votes are overruled."""
        return int(self.costs[0].sum())

    @property
    def bound(self) -> int:
        """How many votes any partition overrules at least."""
        return int(self.costs[1].sum())

    @property
    def exact(self) -> bool:
        """Whether no partition of any document can cost less."""
        return self.cost == self.bound

    @cached_property
    def contested(self) -> list[Contest]:
        """What annotators did not agree on; the greatest stakes come first."""
        return list_contests(self.units, self.group, self.entity, self.constraints)

    @cached_property
    def votes(self) -> list[Row]:
        """Who marked each kept mention: rows of a table of features, one for each span.

        A plain mention stands for its start, and has no end.
        """
        units, documents = self.units, self.corpus.documents
        rows: dict[tuple[object, ...], Row] = {}  # discontinuous mentions may have the same ends
        for unit in np.flatnonzero(self.entity >= 0).tolist():
            names = [*compress(self.annotators, units.entity[:, unit] >= 0)]
            start, end = units.mentions[unit], None
            if units.corpus.labels is None:
                start, *_, end = np.ravel(start).tolist()
            place = str(documents[units.document[unit]]), start, end
            cells = *place, len(names), "+".join(names)
            rows.setdefault(place, dict(zip(VOTES, cells, strict=True)))
        return list(rows.values())

    def rows(self) -> list[Row]:
        """The contested decisions, a row each; `decision` is empty.

        The starts and ends of discontinuous mentions have commas between. A plain mention stands
        for its start, and has no end.
        """
        units, rows = self.units, []
        texts = [*units.list_texts(np.arange(units.row.size)), ""]
        for kind, unit, partner, *figures in self.contested:
            ends = chain(*(split_mention(units.mentions[row]) for row in (unit, partner)))
            name = str(units.corpus.documents[units.document[unit]])
            cells = name, kind, *ends, *figures, texts[unit], texts[partner], ""
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
        return rows

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        names = ("annotators", "quorum", "signature", "cost", "bound", "exact")
        return {name: getattr(self, name) for name in names} | {
            "documents": self._list_documents(),
            "agreement": {
                name: {metric: result[metric].f1 for metric in result.metrics}
                for name, result in self.results.items()
            },
        }

    def _list_documents(self) -> list[Row]:
        units, places, records = self.units, dict[int, int](), list[Row]()
        for name, cost, bound in plain_rows(self.corpus.documents, *self.costs):
            records.append({"id": str(name), "cost": cost, "bound": bound, "exact": cost == bound})
            records[-1] |= {"entities": [], "mentions": [], "contested": []}
        columns = units.document, units.mentions[:-1], units.votes, self.shown
        for document, mention, votes, entity in plain_rows(*columns):
            entities, place = records[document]["entities"], None
            if entity >= 0:
                place = places.setdefault(entity, len(entities))
                if place == len(entities):
                    entities.append([])
                entities[place].append(mention)
            row = {"mention": mention, "votes": votes, "entity": place}
            records[document]["mentions"].append(row)
        for kind, unit, partner, *figures in self.contested:
            row = {"kind": kind, "mention": units.mentions[unit]}
            if partner >= 0:
                row["other"] = units.mentions[partner]
            row |= zip(Contest._fields[3:], figures, strict=True)
            records[units.document[unit]]["contested"].append(row)
        return records

    def __repr__(self) -> str:
        annotators = plural(len(self.annotators), "annotator")
        return f"<Merged {annotators}: {self.corpus.n_mentions:,} mentions, cost {self.cost:,}>"


def merge(
    sources: Mapping[str, Input] | Iterable[Input],
    *,
    decisions: object = None,
    metrics: Metrics = DEFAULT_METRICS,
    protocol: Protocol | str | None = None,
    format: str | None = None,
    file_layer: str | None = None,
    features: Stated = None,
    **options: Unpack[ScoreOptions],
) -> Merged:
    """Merge annotations of the same documents into one that overrules the fewest votes.

    `sources` are as for `agree`; one is enough. A mention is kept if at least `quorum` annotators
    marked it, by default half of them. Of two kept mentions, all who marked both have a vote on
    whether they are in one entity. Of partitions that overrule equally few votes, one with the
    fewest links is taken. `decisions`, a table that `--contested` wrote or a list such as
    `[("same", document, mention, mention), ("drop", document, mention)]`, hold in any case.

    >>> ann, bob, cleo = [["Ada", "she", "her"]], [["Ada", "she"]], [["Ada", "she"], ["it", "her"]]
    >>> merged = merge({"ann": ann, "bob": bob, "cleo": cleo})
    >>> merged.cost, merged.as_dict()["documents"][0]["entities"]
    (2, [['Ada', 'she']])
    """
    details = {"metrics": metrics, "features": features}
    request = make_request(protocol, options, "merge", file_layer, **details)
    reading = request.response_reading._replace(format=format)
    return merge_corpora(read_annotations(sources, reading, least=1), request, decisions)


def merge_corpora(corpora: Sequence[Corpus], request: Request, decisions: object = None) -> Merged:
    """The consensus of annotators, after whom their corpora are named, as a request says."""
    protocol = request.protocol.but(lost="drop")  # what is not in the text cannot be merged
    quorum = _check(protocol, len(corpora))
    listed = list(read_decisions([] if decisions is None else decisions, request.encoding))
    annotations = pair_annotations(corpora, protocol, on_first_tokens=True)
    units = Units.of(annotations.corpora, annotations.codes)
    if protocol.match != "exact" and units.row.size:
        units = unite(units, protocol.match, request.tagset)
    group = in_order(np.unique(units.entity, axis=1, return_inverse=True)[1].ravel())
    is_kept = units.votes >= quorum
    constraints = constrain(listed, units, group, is_kept)
    entity, costs, notices = _divide(units, group, np.flatnonzero(is_kept), constraints)
    shown = entity
    if not any((corpus.entity_sizes == 1).any() for corpus in annotations.corpora):
        shown = np.where(np.bincount(entity + 1)[entity + 1] == 1, -1, entity)
        notices += note("lone-mentions", int((shown != entity).sum()), "mention", _LONE)
    corpus = _build(units, shown)
    results = {
        source.name: count(prepare_corpora(corpus, source, request), request.metrics)
        for source in annotations.sources
    }
    scores = result_notices({("the consensus", name): r for name, r in results.items()})
    everything = chain(
        (notice for notice in annotations.notices if not notice.kind.startswith("unscored")),
        chain(*(_note_unmerged(source, protocol) for source in corpora)),
        notices,
        (notice for notice in scores if notice.kind not in ALIGNED),  # pairing has these
    )
    return Merged(
        tuple(results),
        quorum,
        corpus,
        units,
        group,
        entity,
        shown,
        costs,
        constraints,
        results,
        annotations.join_protocols(result.protocol for result in results.values()),
        tuple(dict.fromkeys(everything)),
    )


def _check(protocol: Protocol, total: int) -> int:
    """The quorum of so many annotators; a UsageError for what a consensus does not have."""
    if protocol.across != "none":
        raise UsageError("a consensus is of single documents: leave out across")
    if protocol.singletons not in ("keep", "drop"):
        raise UsageError("a consensus has no key and response: singletons are kept or dropped")
    quorum = -(-total // 2) if protocol.quorum == "half" else int(protocol.quorum)
    if quorum > total:
        raise UsageError(f"the quorum is from 1 to {total}, the number of annotators: not {quorum}")
    return quorum


def _divide(
    units: Units, group: IntArray, kept: IntArray, constraints: Constraints
) -> tuple[IntArray, IntArray, list[Notice]]:
    """The entity of each unit, −1 where it is not kept; costs and bounds of documents; notices."""
    labels, group = units.entity[:, kept], group[kept]
    cluster, component, bounds = divide(labels, constraints.node[group], constraints.apart)
    cost = count_cost(labels, cluster, component, bounds.size)
    document = set_rows(component, units.document[kept], bounds.size)
    numbers, n_documents = (cost, np.clip(bounds, 0, cost)), len(units.corpus.documents)
    costs = integers([np.bincount(document, values, n_documents) for values in numbers])
    _, first = np.unique(group, return_index=True)
    separations = _count_separations(labels[:, first], cluster[first])
    notices = [
        *note("no-bound", int(np.isneginf(bounds).sum()), "part", _NO_BOUND),
        *note("overruled-separations", separations, "pair", _OVERRULED),
    ]
    return set_rows(kept, cluster, units.row.size), costs, notices


def _count_separations(labels: IntArray, entity: IntArray) -> int:
    """How many pairs of groups are together though nobody links them, and somebody has both."""
    if len(labels) > MOST_KEYS:
        return 0
    counts, sizes = [], np.bincount(entity)
    for table in (np.minimum(labels, 0), labels):
        rows, documents = dict(enumerate(table)), all_zero(sizes.size)
        common = count_common_links(entity, sizes, documents, 1, rows)
        counts.append(int(count_united_links(common, list(rows))[0]))
    return counts[0] - counts[1]


def _build(units: Units, shown: IntArray) -> Corpus:
    """The consensus as a corpus, with the most frequent statements about mentions and entities."""
    rows = np.flatnonzero(shown >= 0)
    corpus = units.stated.take_mentions(rows)
    features = dict(corpus.features)
    if _CLASS in features:
        stated = state(units.stacked.features[_CLASS], shown[units.unit], shown[rows], "")
        features[_CLASS] = np.array(stated, dtype=object)
    corpus = corpus.with_details(features=features, name="consensus")
    return number_entities(corpus, corpus.mention_document, shown[rows])


def _note_unmerged(corpus: Corpus, protocol: Protocol) -> Iterator[Notice]:
    """A notice on what a consensus does not have of an annotation: relations, and other layers."""
    kinds = corpus.relations.kind.values() if len(corpus.relations) else []
    left_out = Counter(f"{kind} relations" for kind in sorted(map(str, kinds)))
    layers = Counter([] if corpus.entity_layer is None else corpus.mention_layer.tolist())
    left_out["non-referring mentions"] = layers[NON_REFERRING]
    if protocol.layer == "identity":
        left_out["mentions of discourse deixis"] = layers[DEIXIS]
    if left_out.total():
        text = f"{corpus.name}: not merged, and left out: {{parts}}"
        yield Notice("not-merged", text, left_out.total(), parts=tuple(left_out.items()))
