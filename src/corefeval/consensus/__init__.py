"""The consensus of several annotations: the partition of mentions that overrules fewest votes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.agreement import read_annotations, result_notices
from corefeval.analysis.ceilings import MOST_KEYS, count_linked
from corefeval.consensus.contests import Contest, list_contests
from corefeval.consensus.decisions import Constraints, constrain, read_decisions
from corefeval.consensus.partition import BOUNDED, Groups, divide, in_order
from corefeval.consensus.units import ENTITY_FEATURES, Units
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Row, Tabular
from corefeval.evaluation import count
from corefeval.metrics import Metrics
from corefeval.model import DEIXIS, NON_REFERRING, Corpus
from corefeval.model.arrays import IntArray, dense_ranks
from corefeval.model.construction import number_entities
from corefeval.pairing.annotators import pair_annotations
from corefeval.preparation import prepare_corpora
from corefeval.protocol import STEPS, Protocol, join_protocols
from corefeval.request import Input, Request, ScoreOptions
from corefeval.results import Result

DEFAULT_METRICS = "conll, lea"


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
    entity: IntArray
    """The entity of each unit, lone mentions among them; −1 where it is not kept."""
    shown: IntArray
    """The entity of each unit in the corpus, −1 where it has none."""
    proof: IntArray
    """Cost, bound and whether they are exact, in rows, for each document."""
    constraints: Constraints
    results: Mapping[str, Result]
    protocol: Protocol
    notices: tuple[Notice, ...] = ()

    @property
    def cost(self) -> int:
        """How many votes are overruled."""
        return int(self.proof[0].sum())

    @property
    def bound(self) -> int:
        """How many votes any partition overrules at least."""
        return int(self.proof[1].sum())

    @property
    def exact(self) -> bool:
        """Whether no partition of any document can cost less."""
        return bool(self.proof[2].all())

    @property
    def signature(self) -> str:
        """The protocol behind the numbers, to be quoted with them."""
        return self.protocol.signature

    @cached_property
    def contested(self) -> list[Contest]:
        """What annotators did not agree on; the greatest stakes come first."""
        return list_contests(self.units, self.group, self.entity, self.constraints)

    @cached_property
    def votes(self) -> list[Row]:
        """Who marked each kept mention: rows of a table of features; one for each span."""
        rows: dict[tuple[object, ...], Row] = {}
        for unit in np.flatnonzero(self.entity >= 0).tolist():
            document, start, end = self.place(unit)
            place: Row = {"document": document, "mention": start}
            if end is not None:  # a table of features has no place for gaps
                first, last = str(start).split(",")[0], str(end).split(",")[-1]
                place = {"document": document, "start": int(first), "end": int(last)}
            marked = zip(self.annotators, self.units.entity[:, unit] >= 0, strict=True)
            names = [name for name, is_marked in marked if is_marked]
            row = {**place, "votes": len(names), "annotators": "+".join(names)}
            rows.setdefault(tuple(place.values()), row)
        return list(rows.values())

    def place(self, unit: int) -> tuple[str, Any, Any]:
        """Document, start and end of a unit; several with commas where it is discontinuous.

        A plain mention stands for its start, and has no end.
        """
        document = str(self.units.corpus.documents[int(self.units.document[unit])])
        mention: Any = self.units.mentions[unit]
        if self.units.corpus.labels is not None:
            return document, mention, None
        if isinstance(mention[0], int):
            return document, *mention
        starts, ends = (",".join(map(str, edges)) for edges in zip(*mention, strict=True))
        return document, starts, ends

    def rows(self) -> list[Row]:
        """The contested decisions, a row each; `decision` is empty."""
        texts = self.units.texts
        rows = []
        for contest in self.contested:
            document, start, end = self.place(contest.unit)
            is_link = contest.partner >= 0
            ends = self.place(contest.partner)[1:] if is_link else (None, None)
            row: Row = {"document": document, "kind": contest.kind, "start": start, "end": end}
            row |= {"other_start": ends[0], "other_end": ends[1]}
            row |= dict(zip(contest._fields[3:], contest[3:], strict=True))
            row["text"] = texts[contest.unit]
            row["other_text"] = texts[contest.partner] if is_link else ""
            rows.append(row | {"decision": ""})
        return rows

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

    def _list_documents(self) -> list[Row]:
        records: list[Row] = [
            {"id": str(name), "cost": int(cost), "bound": int(bound), "exact": bool(exact)}
            | {"entities": [], "mentions": [], "contested": []}
            for name, cost, bound, exact in zip(self.corpus.documents, *self.proof, strict=True)
        ]
        mentions, numbers = [_listed(mention) for mention in self.units.mentions], {}
        for unit, document in enumerate(self.units.document.tolist()):
            record, entity = records[document], int(self.shown[unit])
            if entity >= 0 and entity not in numbers:
                numbers[entity] = len(record["entities"])
                record["entities"].append([])
            place = numbers.get(entity)
            row = {"mention": mentions[unit], "votes": int(self.units.votes[unit])}
            record["mentions"].append(row | {"entity": place})
            if place is not None:
                record["entities"][place].append(mentions[unit])
        for contest in self.contested:
            ends: Row = {"kind": contest.kind, "mention": mentions[contest.unit]}
            if contest.partner >= 0:
                ends["other"] = mentions[contest.partner]
            ends |= dict(zip(contest._fields[3:], contest[3:], strict=True))
            records[int(self.units.document[contest.unit])]["contested"].append(ends)
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
    decisions: object = None,
    metrics: Metrics = DEFAULT_METRICS,
    protocol: Protocol | str | None = None,
    format: str | None = None,
    file_layer: str | None = None,
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
    options |= {"key_layer": file_layer, "response_layer": file_layer}
    steps = (*STEPS, "merge")
    request = Request.of(protocol, options, metrics=metrics, steps=steps, sound=True)
    reading = request.response_reading._replace(format=format)
    return merge_corpora(read_annotations(sources, reading, least=1), request, decisions)


def merge_corpora(corpora: Sequence[Corpus], request: Request, decisions: object = None) -> Merged:
    """The consensus of annotators, after whom their corpora are named, as a request says."""
    protocol = request.protocol.but(lost="drop")  # what is not in the text cannot be merged
    quorum = _check(protocol, len(corpora))
    listed, file = read_decisions([] if decisions is None else decisions, request.encoding)
    annotations = pair_annotations(corpora, protocol, on_first_tokens=True)
    units = Units.of(annotations, protocol.match, request.tagset)
    group = in_order(dense_ranks_of_columns(units.entity))
    constraints = constrain(listed, file, units, group, quorum)
    entity, proof, unbounded = _divide(units, group, constraints)
    has_singletons = any((corpus.entity_sizes == 1).any() for corpus in annotations.corpora)
    sizes = np.bincount(entity[entity >= 0], minlength=1)
    is_lone = (entity >= 0) & (sizes[entity] == 1) & (not has_singletons)
    shown = np.where(is_lone, -1, entity)
    corpus = _build(units, shown)
    sources = annotations.sources
    results = {
        name: count(prepare_corpora(corpus, source, request), request.metrics)
        for name, source in zip([c.name for c in corpora], sources, strict=True)
    }
    notices = [notice for source in corpora for notice in source.notices]
    notices += [n for n in annotations.notices if not n.kind.startswith("unscored")]
    notices += _list_unmerged(corpora, protocol)
    text = "linked to nothing left out, as no input has singletons"
    notices += note("lone-mentions", int(is_lone.sum()), "mention", text)
    text = f"of more than {BOUNDED:,} groups of mentions without a bound: it is 0 there"
    notices += note("no-bound", unbounded, "part", text)
    notices += _note_separations(units, group, entity)
    notices += result_notices({(corpus.name, n): result for n, result in results.items()})
    joint = join_protocols([result.protocol for result in results.values()])
    return Merged(
        annotators=tuple(results),
        quorum=quorum,
        corpus=corpus,
        units=units,
        group=group,
        entity=entity,
        shown=shown,
        proof=proof,
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


def _divide(
    units: Units, group: IntArray, constraints: Constraints
) -> tuple[IntArray, IntArray, int]:
    """The entity of each unit; cost, bound and proof by document; how many parts have no bound."""
    kept = np.flatnonzero(constraints.is_kept)
    node = constraints.node[group[kept]]
    number = in_order(node)
    rank = dict(zip(node.tolist(), number.tolist(), strict=True))
    apart = [
        (rank[first], rank[second])
        for first, rivals in constraints.apart.items()
        for second in rivals
        if first < second and first in rank and second in rank
    ]
    groups = Groups.of(units.entity[:, kept], number, units.owner, apart)
    block, costs, bounds = divide(groups)
    exact = costs == bounds
    entity = np.full(group.size, -1, dtype=np.int64)
    entity[kept] = in_order(block[number])
    document = np.zeros(costs.size, dtype=np.int64)
    document[groups.component[number]] = units.document[kept]
    proof = np.stack(
        [
            np.bincount(document, weights=values, minlength=len(units.corpus.documents))
            for values in (costs, bounds, ~exact)
        ]
    ).astype(np.int64)
    proof[2] = proof[2] == 0
    return entity, proof, int((np.bincount(groups.component) > BOUNDED).sum())


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
    numbers = (np.arange(corpus.n_entities) - begin).tolist()
    return corpus.with_details(names=list(map(str, numbers)))


def _list_unmerged(corpora: Sequence[Corpus], protocol: Protocol) -> Iterator[Notice]:
    """What a consensus does not have of each annotation: relations, and other layers."""
    for corpus in corpora:
        kinds = corpus.relations.kind.values() if len(corpus.relations) else []
        parts = [(f"{kind} relations", kinds.count(kind)) for kind in sorted(map(str, {*kinds}))]
        layers = corpus.mention_layer.tolist() if corpus.entity_layer is not None else []
        parts.append(("non-referring mentions", layers.count(NON_REFERRING)))
        if protocol.layer == "identity":
            parts.append(("mentions of discourse deixis", layers.count(DEIXIS)))
        if number := sum(count for _, count in parts):
            text = f"{corpus.name}: not merged, and left out: {{parts}}"
            yield Notice("not-merged", text, number, parts=tuple(parts))


def _note_separations(units: Units, group: IntArray, entity: IntArray) -> Iterator[Notice]:
    """A notice on pairs of groups that are together though nobody links them."""
    kept = np.flatnonzero(entity >= 0)
    first = kept[np.unique(group[kept], return_index=True)[1]]
    labels = units.entity[:, first]
    if len(labels) <= MOST_KEYS:
        everything = np.zeros(first.size, dtype=np.int64)
        marked, linked = (
            int(count_linked(table, entity[first], everything, 1)[0])
            for table in (np.minimum(labels, 0), labels)
        )
        text = "of groups of mentions put together though nobody links them"
        yield from note("overruled-separations", marked - linked, "pair", text)
