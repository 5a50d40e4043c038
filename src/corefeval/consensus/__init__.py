"""The consensus of several annotations: the partition of mentions that overrules fewest votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.agreement import read_annotations, result_notices
from corefeval.analysis.ceilings import MOST_KEYS, count_common_links, count_united_links
from corefeval.analysis.units import Units, split_mention, state
from corefeval.consensus.contests import Contest, list_contests
from corefeval.consensus.decisions import COLUMNS, Constraints, constrain, read_decisions
from corefeval.consensus.partition import BOUNDED, Ballot, divide, in_order
from corefeval.consensus.units import unite
from corefeval.diagnostics import Notice, UsageError, note, plural
from corefeval.display import Row, Tabular
from corefeval.evaluation import count
from corefeval.metrics import Metrics
from corefeval.model import DEIXIS, NON_REFERRING, Corpus
from corefeval.model.arrays import IntArray, all_zero, integers, plain_rows, unset
from corefeval.model.construction import number_entities
from corefeval.pairing.annotators import pair_annotations
from corefeval.pairing.axis import ALIGNED
from corefeval.preparation import prepare_corpora
from corefeval.protocol import STEPS, Protocol, join_protocols
from corefeval.request import Input, Request, ScoreOptions
from corefeval.results import Result

DEFAULT_METRICS = "conll, lea"
VOTES = ("document", "start", "end", "votes", "annotators")
_LONE = "linked to nothing left out, as no input has singletons"
_NO_BOUND = f"of more than {BOUNDED:,} groups of mentions without a bound: it is 0 there"
_OVERRULED = "of groups of mentions put together though nobody links them"
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
        """Who marked each kept mention: rows of a table of features, one for each span.

        A plain mention stands for its start, and has no end.
        """
        units, corpus = self.units, self.units.corpus
        spans: Sequence[Any] = corpus.mention_start, corpus.mention_end
        if corpus.labels is not None:
            spans = corpus.labels, [None] * corpus.n_mentions
        rows: dict[tuple[object, ...], Row] = {}  # discontinuous mentions may have the same ends
        columns = units.document_ids, *spans, self.entity >= 0, (units.entity >= 0).T
        for *place, is_kept, marks in plain_rows(*columns):
            names = [*compress(self.annotators, marks)]
            cells = (*place, len(names), "+".join(names))
            if is_kept:
                rows.setdefault(tuple(place), dict(zip(VOTES, cells, strict=True)))
        return list(rows.values())

    def rows(self) -> list[Row]:
        """The contested decisions, a row each; `decision` is empty.

        The starts and ends of discontinuous mentions have commas between. A plain mention stands
        for its start, and has no end.
        """
        return [self._describe(contest) for contest in self.contested]

    def _describe(self, contest: Contest) -> Row:
        units, empty = self.units, (None, None, "")
        (*ends, text), (*other_ends, other_text) = (
            (*split_mention(units.mentions[unit]), units.text(unit)) if unit >= 0 else empty
            for unit in (contest.unit, contest.partner)
        )
        cells = units.document_ids[contest.unit], contest.kind, *ends, *other_ends
        cells += (*contest.figures.values(), text, other_text, "")
        return dict(zip(COLUMNS, cells, strict=True))

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        names = ("annotators", "quorum", "signature", "cost", "bound", "exact")
        agreement = {
            name: {metric: result[metric].f1 for metric in result.metrics}
            for name, result in self.results.items()
        }
        everything = {name: getattr(self, name) for name in names}
        return everything | {"documents": self._list_documents(), "agreement": agreement}

    def _list_documents(self) -> list[Row]:
        units = self.units
        records: list[Row] = [
            {"id": str(name), "cost": cost, "bound": bound, "exact": cost == bound}
            | {"entities": [], "mentions": [], "contested": []}
            for name, cost, bound in plain_rows(self.corpus.documents, self.costs, self.bounds)
        ]
        places: dict[int, int] = {}
        columns = units.document, units.mentions, units.votes, self.shown
        for document, mention, votes, entity in plain_rows(*columns):
            record, place = records[document], None
            if entity >= 0:
                place = places.setdefault(entity, len(record["entities"]))
                if place == len(record["entities"]):
                    record["entities"].append([])
                record["entities"][place].append(mention)
            record["mentions"].append({"mention": mention, "votes": votes, "entity": place})
        for contest in self.contested:
            row: Row = {"kind": contest.kind, "mention": units.mentions[contest.unit]}
            if contest.partner >= 0:
                row["other"] = units.mentions[contest.partner]
            records[units.document[contest.unit]]["contested"].append(row | contest.figures)
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
    constraints = constrain(listed, units, group, units.votes >= quorum)
    entity, costs, bounds, notices = _divide(units, group, constraints)
    shown = entity
    if not any((corpus.entity_sizes == 1).any() for corpus in annotations.corpora):
        shown = np.where(np.bincount(entity + 1)[entity + 1] == 1, -1, entity)
        notices += note("lone-mentions", int((shown != entity).sum()), "mention", _LONE)
    corpus = _build(units, shown)
    results = {
        source.name: count(prepare_corpora(corpus, source, request), request.metrics)
        for source in annotations.sources
    }
    pairing_notices = [n for n in annotations.notices if not n.kind.startswith("unscored")]
    unmerged = (notice for source in corpora for notice in _note_unmerged(source, protocol))
    scores = result_notices({("the consensus", name): r for name, r in results.items()})
    noted = (notice for notice in scores if notice.kind not in ALIGNED)  # pairing has these
    read = (notice for source in corpora for notice in source.notices)
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
        notices=tuple(dict.fromkeys([*read, *pairing_notices, *unmerged, *notices, *noted])),
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
) -> tuple[IntArray, IntArray, IntArray, list[Notice]]:
    """The entity of each unit, −1 where it is not kept; cost and bound by document; notices."""
    kept = np.flatnonzero(constraints.is_kept)
    _, first, number, sizes = np.unique(group[kept], True, True, True)
    labels, node = units.entity[:, kept[first]], constraints.node[group[kept[first]]]
    rank = in_order(node)
    ranks = dict(plain_rows(node, rank))
    apart = [[ranks[node] for node in pair] for pair in constraints.apart]
    cluster, component, proof = divide(Ballot(labels, sizes, rank, apart))
    entity = unset(group.size)
    entity[kept] = in_order(cluster[rank[number]])
    document = all_zero(proof.shape[1])
    document[component[rank]] = units.document[kept[first]]
    n_documents = len(units.corpus.documents)
    costs, bounds = (integers(np.bincount(document, values, n_documents)) for values in proof)
    unbounded = int((np.bincount(component) > BOUNDED).sum())
    separations = _count_separations(labels, entity[kept[first]])
    notices = [
        *note("no-bound", unbounded, "part", _NO_BOUND),
        *note("overruled-separations", separations, "pair", _OVERRULED),
    ]
    return entity, costs, bounds, notices


def _count_separations(labels: IntArray, entity: IntArray) -> int:
    """How many pairs of groups are together though nobody links them, and somebody has both."""
    if len(labels) > MOST_KEYS:
        return 0
    counts = []
    for table in (np.minimum(labels, 0), labels):
        rows, document = dict(enumerate(table)), all_zero(int(entity.max(initial=0)) + 1)
        common = count_common_links(entity, document, 1, rows)
        counts.append(int(count_united_links(common, list(rows))[0]))
    return counts[0] - counts[1]


def _build(units: Units, shown: IntArray) -> Corpus:
    """The consensus as a corpus, with the most frequent statements about mentions and entities."""
    rows = np.flatnonzero(shown >= 0)
    corpus = units.stated.take_mentions(rows)
    features = dict(corpus.features)
    for name in ENTITY_FEATURES & features.keys():
        stated = state(units.stacked.features[name], shown[units.unit], shown[rows], "")
        features[name] = np.array(stated, dtype=object)
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
