"""The consensus of several annotations: the partition of mentions that overrules fewest votes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.agreement import read_annotations, result_notices
from corefeval.analysis.ceilings import count_linked
from corefeval.consensus.contests import Contest, list_contests
from corefeval.consensus.decisions import Constraints, constrain, read_decisions
from corefeval.consensus.partition import (
    BOUNDED,
    EXACT,
    Cluster,
    bound_cost,
    divide,
    in_order,
)
from corefeval.consensus.units import ENTITY_FEATURES, Units
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Row, Tabular
from corefeval.evaluation import count
from corefeval.metrics import Metrics
from corefeval.model import DEIXIS, NON_REFERRING, Corpus, Document, Mention
from corefeval.model.arrays import BoolArray, IntArray, dense_ranks
from corefeval.model.construction import number_entities
from corefeval.pairing.annotators import pair_annotations
from corefeval.preparation import prepare_corpora
from corefeval.protocol import STEPS, Protocol, join_protocols
from corefeval.request import Input, Options, Request
from corefeval.results import Result

DEFAULT_METRICS = "conll, lea"
_MOST = 12  # annotators for whom pairs are counted that nobody links


@dataclass(frozen=True, eq=False)
class Partition:
    """The entity of each unit, −1 where it is not kept, and cost, bound and proof by document."""

    entity: IntArray
    cost: IntArray
    bound: IntArray
    exact: BoolArray
    unbounded: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Merged(Tabular):
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
    partition: Partition
    shown: IntArray
    """The entity of each unit in the corpus, −1 where it has none."""
    constraints: Constraints
    results: Mapping[str, Result]
    protocol: Protocol
    notices: tuple[Notice, ...] = ()

    @property
    def cost(self) -> int:
        """How many votes are overruled."""
        return int(self.partition.cost.sum())

    @property
    def bound(self) -> int:
        """How many votes any partition overrules at least."""
        return int(self.partition.bound.sum())

    @property
    def exact(self) -> bool:
        """Whether no partition of any document can cost less."""
        return bool(self.partition.exact.all())

    @property
    def signature(self) -> str:
        """The protocol behind the numbers, to be quoted with them."""
        return self.protocol.signature

    @cached_property
    def contested(self) -> list[Contest]:
        """What annotators did not agree on; the greatest stakes come first."""
        return list_contests(self.units, self.group, self.partition.entity, self.constraints)

    @cached_property
    def votes(self) -> list[Row]:
        """Who marked each kept mention: rows of a table of features; one for each span."""
        corpus, documents = self.units.corpus, self.document_ids
        marked = self.units.entity >= 0
        rows: dict[tuple[object, ...], Row] = {}
        for unit in np.flatnonzero(self.partition.entity >= 0).tolist():
            place: Row = {"document": documents[int(self.units.document[unit])]}
            if corpus.mention_start is None or corpus.mention_end is None:
                place["mention"] = self.units.mentions[unit]
            else:
                place |= {"start": int(corpus.mention_start[unit])}
                place |= {"end": int(corpus.mention_end[unit])}
            names = [name for name, m in zip(self.annotators, marked[:, unit], strict=True) if m]
            row = {**place, "votes": len(names), "annotators": "+".join(names)}
            rows.setdefault(tuple(place.values()), row)
        return list(rows.values())

    @property
    def document_ids(self) -> list[str]:
        """Names and parts of the documents."""
        return list(map(str, self.units.corpus.documents))

    def rows(self) -> list[Row]:
        """The contested decisions, a row each; `decision` is empty."""
        return list(self._list_rows())

    def _list_rows(self) -> Iterator[Row]:
        views: dict[int, Document] = {}
        for contest in self.contested:
            document = int(self.units.document[contest.unit])
            row: Row = {"document": self.document_ids[document], "kind": contest.kind}
            ends = []
            for name, unit in (("", contest.unit), ("other_", contest.other)):
                start, end = self._place(unit)
                row |= {f"{name}start": start, f"{name}end": end}
                ends.append(self._text(unit, views))
            for name in ("votes", "of", "size", "outcome", "stakes"):
                row[name] = getattr(contest, name)
            yield {**row, "text": ends[0], "other_text": ends[1], "decision": ""}

    def _place(self, unit: int) -> tuple[object, object]:
        """Start and end of a unit; several with commas where it is discontinuous, none for −1."""
        mention: Any = None if unit < 0 else self.units.mentions[unit]
        if mention is None or self.units.corpus.labels is not None:
            return mention, None
        if isinstance(mention[0], int):
            return mention
        starts, ends = zip(*mention, strict=True)
        return ",".join(map(str, starts)), ",".join(map(str, ends))

    def _text(self, unit: int, views: dict[int, Document]) -> str:
        """The words of a unit, where there are any; `views` keeps documents."""
        corpus = self.units.corpus
        number = int(self.units.document[unit])
        document = views.setdefault(number, corpus[number])
        has_words = corpus.labels is not None or "word" in document.columns
        is_shown = unit >= 0 and (has_words or document.text is not None)
        return Mention(document, unit).text if is_shown else ""

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        return {
            "annotators": list(self.annotators),
            "quorum": self.quorum,
            "signature": self.signature,
            "cost": self.cost,
            "bound": self.bound,
            "exact": self.exact,
            "documents": self._list_documents(),
            "agreement": {
                name: {metric: result[metric].f1 for metric in result.metrics}
                for name, result in self.results.items()
            },
        }

    def _list_documents(self) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = [
            {
                "id": name,
                "cost": int(self.partition.cost[number]),
                "bound": int(self.partition.bound[number]),
                "exact": bool(self.partition.exact[number]),
                "entities": [],
                "mentions": [],
                "contested": [],
            }
            for number, name in enumerate(self.document_ids)
        ]
        mentions, begin = self.units.mentions, [0] * len(records)
        for entity, document in enumerate(self.corpus.entity_document.tolist()):
            if not records[document]["entities"]:
                begin[document] = entity
            records[document]["entities"].append([])
        columns = (self.units.document, self.shown, self.units.votes)
        for unit, (document, entity, votes) in enumerate(zip(*map(list, columns), strict=True)):
            record, number = records[document], int(entity - begin[document])
            place = number if entity >= 0 else None
            shown = {"mention": _listed(mentions[unit]), "votes": int(votes), "entity": place}
            record["mentions"].append(shown)
            if place is not None:
                record["entities"][place].append(_listed(mentions[unit]))
        for contest in self.contested:
            row = contest._asdict()
            row["mention"] = _listed(mentions[row.pop("unit")])
            other = row.pop("other")
            row |= {} if other < 0 else {"other": _listed(mentions[other])}
            records[int(self.units.document[contest.unit])]["contested"].append(row)
        return records

    def __repr__(self) -> str:
        annotators = plural(len(self.annotators), "annotator")
        return f"<Merged {annotators}: {self.corpus.n_mentions:,} mentions, cost {self.cost:,}>"


def _listed(mention: object) -> object:
    """A mention as JSON has it: tuples are lists."""
    return [_listed(part) for part in mention] if isinstance(mention, tuple) else mention


def merge(
    sources: Mapping[str, Input] | Iterable[Input],
    *,
    quorum: int | str | None = None,
    decisions: object = None,
    metrics: Metrics = DEFAULT_METRICS,
    protocol: Protocol | str | None = None,
    format: str | None = None,
    file_layer: str | None = None,
    **options: Unpack[Options],
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
    if quorum is not None:
        options["quorum"] = quorum  # type: ignore[typeddict-item]
    options |= {"key_layer": file_layer, "response_layer": file_layer}
    steps = (*STEPS, "merge")
    request = Request.of(protocol, options, metrics=metrics, steps=steps, sound=True)
    reading = request.response_reading._replace(format=format)
    return merge_corpora(read_annotations(sources, reading, least=1), request, decisions)


def merge_corpora(corpora: Sequence[Corpus], request: Request, decisions: object = None) -> Merged:
    """The consensus of annotators, after whom their corpora are named, as a request says."""
    protocol = request.protocol
    quorum = _check(protocol, len(corpora))
    listed, file = read_decisions([] if decisions is None else decisions, request.encoding)
    annotations = pair_annotations(corpora, protocol, on_first_tokens=True)
    units = Units.of(annotations, protocol.match, request.tagset)
    group = in_order(dense_ranks_of_columns(units.entity))
    constraints = constrain(listed, file, units, group, quorum)
    partition = _divide(units, group, constraints)
    has_singletons = any((corpus.entity_sizes == 1).any() for corpus in annotations.corpora)
    shown, lone = _show(partition.entity, has_singletons)
    corpus = _build(units, shown)
    sources = annotations.sources
    results = {
        name: count(prepare_corpora(corpus, source, request), request.metrics)
        for name, source in zip([c.name for c in corpora], sources, strict=True)
    }
    notices = [notice for source in corpora for notice in source.notices]
    notices += [n for n in annotations.notices if not n.kind.startswith("unscored")]
    notices += _list_unmerged(corpora, protocol)
    notices += note(
        "lone-mentions", lone, "mention", "linked to nothing left out, as no input has singletons"
    )
    notices += _note_partition(units, group, partition)
    notices += result_notices({(corpus.name, n): result for n, result in results.items()})
    joint = join_protocols([result.protocol for result in results.values()])
    return Merged(
        annotators=tuple(results),
        quorum=quorum,
        corpus=corpus,
        units=units,
        group=group,
        partition=partition,
        shown=shown,
        constraints=constraints,
        results=results,
        protocol=joint if annotations.spans is None else joint.but(spans=annotations.spans),
        notices=tuple(dict.fromkeys(notices)),
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


def dense_ranks_of_columns(table: IntArray) -> IntArray:
    """Numbers that are equal where all of a table's rows are."""
    ranks = np.zeros(table.shape[1], dtype=np.int64)
    for row in table:
        ranks, _ = dense_ranks(ranks * (int(row.max(initial=0)) + 2) + row + 1)
    return ranks


def _divide(units: Units, group: IntArray, constraints: Constraints) -> Partition:
    """The partition of the kept units under constraints, and its cost and bound."""
    kept = np.flatnonzero(constraints.is_kept)
    n_documents = len(units.corpus.documents)
    node, names = dense_ranks(constraints.node[group[kept]])
    number = in_order(node)
    rank = np.empty(names.size, dtype=np.int64)
    rank[node] = number
    place = {name: int(rank[row]) for row, name in enumerate(names.tolist())}
    apart = {
        place[first]: {place[second] for second in rivals if second in place}
        for first, rivals in constraints.apart.items()
        if first in place
    }
    labels = units.entity[:, kept]
    owner = np.zeros(int(units.entity.max(initial=-1)) + 1, dtype=np.int64)
    for annotator, row in enumerate(units.entity):
        owner[row[row >= 0]] = annotator
    clusters = _make_clusters(labels, number, len(labels))
    block, component = divide(clusters, owner, apart)
    entity = np.full(group.size, -1, dtype=np.int64)
    entity[kept] = in_order(block[number])
    costs = _count_costs(labels, entity[kept], component[number])
    bounds, exact, unbounded = costs.copy(), np.ones(costs.size, dtype=np.bool_), 0
    sizes = np.bincount(component, minlength=costs.size)
    for part in np.flatnonzero(sizes > EXACT).tolist():
        members = np.flatnonzero(component == part).tolist()
        unbounded += len(members) > BOUNDED
        bounds[part] = 0 if len(members) > BOUNDED else bound_cost(clusters, members, apart)
        exact[part] = bounds[part] == costs[part]
    document = np.zeros(costs.size, dtype=np.int64)
    document[component[number]] = units.document[kept]
    cost, bound, open_parts = (
        np.bincount(document, weights=values, minlength=n_documents).astype(np.int64)
        for values in (costs, bounds, ~exact)
    )
    return Partition(entity, cost, bound, open_parts == 0, unbounded)


def _make_clusters(labels: IntArray, number: IntArray, n_annotators: int) -> list[Cluster]:
    """A cluster for each number of units, whose entities the labels are."""
    size = np.bincount(number)
    clusters = [Cluster({}, [0] * n_annotators, n, {row}) for row, n in enumerate(size.tolist())]
    width = int(labels.max(initial=0)) + 1
    for annotator, row in enumerate(labels):
        is_marked = row >= 0
        cell, cells = dense_ranks(number[is_marked] * width + row[is_marked])
        numbers, entities = np.divmod(cells, width)
        columns = (numbers, entities, np.bincount(cell, minlength=cells.size))
        for cluster, entity, n in zip(*(column.tolist() for column in columns), strict=True):
            clusters[cluster].cells[entity] = n
            clusters[cluster].marks[annotator] += n
    return clusters


def _count_costs(labels: IntArray, entity: IntArray, component: IntArray) -> IntArray:
    """How many votes are overruled in each component."""
    number = int(component.max(initial=-1)) + 1
    costs = np.zeros(number, dtype=np.int64)
    for row in labels:
        rows = np.flatnonzero(row >= 0)
        for sign, parts in ((1, (row,)), (-2, (row, entity)), (1, (entity,))):
            cell = dense_ranks_of_columns(np.stack([part[rows] for part in parts]))
            sizes = np.bincount(cell)
            of_cell = np.zeros(sizes.size, dtype=np.int64)
            of_cell[cell] = component[rows]
            pairs = sign * (sizes * (sizes - 1) // 2)
            costs += np.bincount(of_cell, weights=pairs, minlength=number).astype(np.int64)
    return costs


def _show(entity: IntArray, has_singletons: bool) -> tuple[IntArray, int]:
    """The entity of each unit in the corpus, and how many lone mentions are left out."""
    if has_singletons or not entity.size:
        return entity, 0
    sizes = np.bincount(entity[entity >= 0], minlength=1)
    is_lone = (entity >= 0) & (sizes[entity] == 1)
    shown = np.where(is_lone, -1, entity)
    shown[shown >= 0] = in_order(shown[shown >= 0])
    return shown, int(is_lone.sum())


def _build(units: Units, shown: IntArray) -> Corpus:
    """The consensus as a corpus, with the most frequent statements about mentions and entities."""
    rows = np.flatnonzero(shown >= 0)
    place = np.full(shown.size, -1, dtype=np.int64)
    place[rows] = np.arange(rows.size)
    entity = shown[rows]
    features: dict[str, Any] = {}
    for name in sorted(units.statements):
        if name in ENTITY_FEATURES:
            stated = units.state(name, shown, "")
            values = [stated[number] for number in entity.tolist()]
        else:
            values = units.state(name, place, -1 if name == "head" else "")
        features[name] = np.array(values, dtype=np.int64 if name == "head" else object)
    head = features.pop("head", None)
    chosen = units.corpus.take_mentions(rows)
    chosen = chosen.with_details(features=features, mention_head=head, name="consensus")
    corpus = number_entities(chosen, chosen.mention_document, entity)
    begin = np.searchsorted(corpus.entity_document, corpus.entity_document)
    numbers = np.arange(corpus.n_entities) - begin
    return corpus.with_details(names=list(map(str, numbers.tolist())))


def _list_unmerged(corpora: Sequence[Corpus], protocol: Protocol) -> Iterator[Notice]:
    """What a consensus does not have of each annotation: relations, and other layers."""
    for corpus in corpora:
        kinds = corpus.relations.kind.values() if len(corpus.relations) else []
        parts = [(f"{kind} relations", kinds.count(kind)) for kind in sorted({*kinds} - {None})]
        layers = corpus.mention_layer.tolist() if corpus.entity_layer is not None else []
        parts.append(("non-referring mentions", layers.count(NON_REFERRING)))
        if protocol.layer == "identity":
            parts.append(("mentions of discourse deixis", layers.count(DEIXIS)))
        if number := sum(count for _, count in parts):
            text = f"{corpus.name}: not merged, and left out: {{parts}}"
            yield Notice("not-merged", text, number, parts=tuple(parts))


def _note_partition(units: Units, group: IntArray, partition: Partition) -> Iterator[Notice]:
    """Notices on parts without a bound, and on pairs that are together though nobody links them."""
    text = f"of more than {BOUNDED:,} groups of mentions without a bound: it is 0 there"
    yield from note("no-bound", partition.unbounded, "part", text)
    kept = np.flatnonzero(partition.entity >= 0)
    _, first = np.unique(group[kept], return_index=True)
    labels, entity = units.entity[:, kept[first]], partition.entity[kept[first]]
    if len(labels) > _MOST:
        return
    marks = np.where(labels >= 0, 0, -1)
    everything = np.zeros(entity.size, dtype=np.int64)
    together = sum(
        sign * int(count_linked(table, entity, everything, 1)[0])
        for sign, table in ((1, marks), (-1, labels))
    )
    text = "of groups of mentions put together though nobody links them"
    yield from note("overruled-separations", together, "pair", text)
