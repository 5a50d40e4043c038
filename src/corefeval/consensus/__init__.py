"""The consensus of several annotations: the partition of mentions that overrules fewest votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.agreement import read_annotations, result_notices
from corefeval.analysis.ceilings import MOST_KEYS, count_common_links, count_united_links
from corefeval.analysis.units import Units, as_lists, state
from corefeval.consensus.contests import Contest, list_contests
from corefeval.consensus.decisions import COLUMNS, Constraints, constrain, read_decisions
from corefeval.consensus.partition import BOUNDED, Groups, divide, in_order
from corefeval.consensus.units import unite
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Row, Tabular
from corefeval.evaluation import count
from corefeval.metrics import Metrics
from corefeval.model import DEIXIS, NON_REFERRING, Corpus
from corefeval.model.arrays import IntArray, unset
from corefeval.model.construction import number_entities
from corefeval.pairing.annotators import pair_annotations
from corefeval.preparation import prepare_corpora
from corefeval.protocol import STEPS, Protocol, join_protocols
from corefeval.request import Input, Request, ScoreOptions
from corefeval.results import Result

DEFAULT_METRICS = "conll, lea"
_LONE = "linked to nothing left out, as no input has singletons"
_NO_BOUND = f"of more than {BOUNDED:,} groups of mentions without a bound: it is 0 there"
ENTITY_FEATURES = {"etype"}  # what is said of an entity, on each of its mentions


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
    costs: IntArray
    """The cost of each document."""
    bounds: IntArray
    """The least that each document can cost."""
    constraints: Constraints
    results: Mapping[str, Result]
    protocol: Protocol
    notices: tuple[Notice, ...] = ()

    @property
    def cost(self) -> int:
        """How many votes are overruled."""
        return int(self.costs.sum())

    @property
    def bound(self) -> int:
        """How many votes any partition overrules at least."""
        return int(self.bounds.sum())

    @property
    def exact(self) -> bool:
        """Whether no partition of any document can cost less."""
        return self.cost == self.bound

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
        corpus = self.units.corpus
        places: dict[str, Any] = {"mention": corpus.labels}
        if corpus.labels is None:  # a table of features has no place for gaps
            spans = {"start": corpus.mention_start, "end": corpus.mention_end}
            places = {name: np.asarray(edges).tolist() for name, edges in spans.items()}
        rows: dict[tuple[object, ...], Row] = {}
        for unit in np.flatnonzero(self.entity >= 0).tolist():
            place = {"document": str(corpus.documents[self.units.document[unit]])}
            place |= {name: values[unit] for name, values in places.items()}
            voters = np.flatnonzero(self.units.entity[:, unit] >= 0).tolist()
            names = "+".join(self.annotators[voter] for voter in voters)
            row = {**place, "votes": len(voters), "annotators": names}
            rows.setdefault(tuple(place.values()), row)
        return list(rows.values())

    def rows(self) -> list[Row]:
        """The contested decisions, a row each; `decision` is empty.

        The starts and ends of discontinuous mentions have commas between. A plain mention stands
        for its start, and has no end.
        """
        documents, rows = self.units.corpus.documents, []
        for contest in self.contested:
            *ends, text = self._describe(contest.unit)
            *other_ends, other_text = self._describe(contest.partner)
            cells = [str(documents[self.units.document[contest.unit]]), contest.kind, *ends]
            cells += [*other_ends, *contest[3:], text, other_text, ""]
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
        return rows

    def _describe(self, unit: int) -> tuple[Any, Any, str]:
        """Start, end and text of a unit; nothing of −1."""
        if unit < 0:
            return None, None, ""
        mention: Any = self.units.mentions[unit]
        start, end = mention, None
        if self.units.corpus.labels is None:
            start, end = mention
        if isinstance(end, tuple):
            start, end = (",".join(map(str, edges)) for edges in zip(*mention, strict=True))
        return start, end, self.units.text(unit)

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
        proofs = zip(self.corpus.documents, self.costs.tolist(), self.bounds.tolist(), strict=True)
        records: list[Row] = [
            {"id": str(name), "cost": cost, "bound": bound, "exact": cost == bound}
            | {"entities": [], "mentions": [], "contested": []}
            for name, cost, bound in proofs
        ]
        mentions, numbers = list(map(as_lists, self.units.mentions)), dict[int, int]()
        columns = self.units.document, self.units.votes, self.shown
        for mention, document, votes, entity in zip(mentions, *map(list, columns), strict=True):
            record, place = records[document], None
            if entity >= 0:
                place = numbers.setdefault(entity, len(record["entities"]))
                if place == len(record["entities"]):
                    record["entities"].append([])
                record["entities"][place].append(mention)
            record["mentions"].append({"mention": mention, "votes": int(votes), "entity": place})
        for contest in self.contested:
            row = contest._asdict()
            unit, partner = row.pop("unit"), row.pop("partner")
            ends = {"mention": mentions[unit]}
            ends |= {"other": mentions[partner]} if partner >= 0 else {}
            records[self.units.document[unit]]["contested"].append(ends | row)
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
    listed = list(read_decisions([] if decisions is None else decisions, request.encoding))
    annotations = pair_annotations(corpora, protocol, on_first_tokens=True)
    units = Units.of(annotations.corpora, annotations.codes)
    if protocol.match != "exact" and units.row.size:
        units = unite(units, protocol.match, request.tagset)
    group = in_order(np.unique(units.entity, axis=1, return_inverse=True)[1].ravel())
    constraints = constrain(listed, units, group, quorum)
    entity, costs, bounds, unbounded = _divide(units, group, constraints)
    shown = entity
    if not any((corpus.entity_sizes == 1).any() for corpus in annotations.corpora):
        sizes = np.bincount(entity + 1)
        shown = np.where(sizes[entity + 1] == 1, -1, entity)  # lone mentions are left out
    corpus = _build(units, shown)
    results = {
        name: count(prepare_corpora(corpus, source, request), request.metrics)
        for name, source in zip([c.name for c in corpora], annotations.sources, strict=True)
    }
    notices = [notice for source in corpora for notice in source.notices]
    notices += [n for n in annotations.notices if not n.kind.startswith("unscored")]
    notices += (notice for source in corpora for notice in _note_unmerged(source, protocol))
    notices += note("lone-mentions", int((shown != entity).sum()), "mention", _LONE)
    notices += note("no-bound", unbounded, "part", _NO_BOUND)
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
        costs=costs,
        bounds=bounds,
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


def _divide(
    units: Units, group: IntArray, constraints: Constraints
) -> tuple[IntArray, IntArray, IntArray, int]:
    """The entity of each unit; cost and bound by document; how many parts have no bound."""
    kept = np.flatnonzero(constraints.is_kept)
    node = constraints.node[group[kept]]
    number = in_order(node)
    rank = dict(zip(node.tolist(), number.tolist(), strict=True))
    apart = [(rank[first], rank[second]) for first, second in constraints.apart]
    groups = Groups.of(units.entity[:, kept], number, apart)
    block, *proof = divide(groups)
    entity = unset(group.size)
    entity[kept] = in_order(block[number])
    document = np.zeros(proof[0].size, dtype=np.int64)
    document[groups.component[number]] = units.document[kept]
    costs, bounds = (
        np.bincount(document, values, len(units.corpus.documents)).astype(np.int64)
        for values in proof
    )
    return entity, costs, bounds, int((np.bincount(groups.component) > BOUNDED).sum())


def _build(units: Units, shown: IntArray) -> Corpus:
    """The consensus as a corpus, with the most frequent statements about mentions and entities."""
    rows = np.flatnonzero(shown >= 0)
    entity = shown[rows]
    chosen = units.corpus.take_mentions(rows)
    features = dict(chosen.features)
    for name in ENTITY_FEATURES & features.keys():
        values = units.stacked.features[name]
        features[name] = state(values, shown[units.unit], entity.tolist())
    chosen = chosen.with_details(features=features, name="consensus")
    corpus = number_entities(chosen, chosen.mention_document, entity)
    begin = np.searchsorted(corpus.entity_document, corpus.entity_document)
    numbers = (np.arange(corpus.n_entities) - begin).tolist()
    return corpus.with_details(names=list(map(str, numbers)))


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


def _note_separations(units: Units, group: IntArray, entity: IntArray) -> Iterator[Notice]:
    """A notice on pairs of groups that are together though nobody links them."""
    kept = np.flatnonzero(entity >= 0)
    first = kept[np.unique(group[kept], return_index=True)[1]]
    labels = units.entity[:, first]
    if len(labels) <= MOST_KEYS:
        numbers = list[int]()
        for table in (np.minimum(labels, 0), labels):
            rows = dict(zip(map(str, range(len(table))), table, strict=True))
            common = count_common_links(entity[first], np.zeros_like(entity), 1, rows)
            numbers.append(int(count_united_links(common, list(rows))[0]))
        marked, linked = numbers
        text = "of groups of mentions put together though nobody links them"
        yield from note("overruled-separations", marked - linked, "pair", text)
