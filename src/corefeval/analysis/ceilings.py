"""Responses against several keys, and how close they come to what annotators reach.

Each annotator against all others is the ceiling, a response in the annotator's place its level.
Everything follows from curves: the F1 of somebody against a set of keys, in the data, and behind it
in samples of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

import numpy as np

from corefeval.alignment import Alignment
from corefeval.diagnostics import Notice
from corefeval.display import Row
from corefeval.matching.candidates import bounds
from corefeval.model.arrays import FloatArray, IntArray, find_runs, looked_up
from corefeval.request import Sampling
from corefeval.results import CountTable, Result
from corefeval.results.rates import divide
from corefeval.stats.bootstraps import middle, warn_of_few
from corefeval.stats.resampling import Stack, resamples, stack

MOST_KEYS = 12  # whose links are counted by inclusion and exclusion
_SHARE_LOST = 0.05  # of samples without a share: with more there is no interval
_TIE = 1e-12
_LINKS = "links"
_RATIO = (
    *("recall_numerator", "recall_denominator"),
    *("precision_numerator", "precision_denominator"),
)
_OF_KEY = ("recall_denominator", "coreference_key", "tp", "wl", "fn")  # ends of names of counts
_NO_INTERVAL = "no intervals: they are over documents, and there is only one"
_NO_LINKS = "undisputed links are left out: they need the same mentions against all keys, and "
Keys = tuple[str, ...]
Pair = tuple[str, str]  # names of a key and of who is scored against it
Case = tuple[Keys, str]  # a set of keys, in alphabetical order, and who is scored against it
Curves = Mapping[Case, FloatArray]


def count_common_links(
    entity: IntArray, sizes: IntArray, document: IntArray, n_documents: int, labels: IntArray
) -> dict[tuple[int, ...], FloatArray]:
    """How many pairs of mentions of one entity all of some labels link, by document.

    `sizes` and `document` are those of each entity, and `labels` has a row of each sort, with −1
    for no label. There is an entry for every set of sorts.
    """
    links = np.bincount(document, sizes * (sizes - 1) / 2, n_documents)
    counts: dict[tuple[int, ...], FloatArray] = {(): links.astype(np.float64)}
    for sort, label in enumerate(labels):
        inside = (label >= 0) & (sizes[entity] > 1)
        width = int(label.max(initial=0)) + 1
        codes = entity[inside] * width + label[inside]
        ordered = np.sort(codes)
        first, finer_sizes = find_runs(ordered)
        distinct, further = ordered[first], labels[sort + 1 :, inside]
        cell = np.searchsorted(distinct, codes) if len(further) else codes
        finer_document = document[distinct // width]
        finer = count_common_links(cell, finer_sizes, finer_document, n_documents, further)
        counts |= {
            (sort, *(sort + 1 + n for n in sorts)): n_links for sorts, n_links in finer.items()
        }
    return counts


def count_united_links(
    counts: Mapping[tuple[int, ...], FloatArray], sorts: Sequence[int]
) -> FloatArray:
    """How many pairs any of some sorts of labels links, from what all of each set link."""
    sets = [chosen for size in range(1, len(sorts) + 1) for chosen in combinations(sorts, size)]
    return np.asarray(sum((-1) ** (len(chosen) + 1) * counts[chosen] for chosen in sets))


@dataclass
class Ceilings:
    """What ceilings are worked out from: results of pairs, matches, and how they are sampled."""

    annotators: Keys
    responses: Keys
    sampling: Sampling
    results: dict[Pair, Result] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """The place of each document, among those of all pairs."""
    mentions: dict[str, tuple[IntArray, IntArray]] = field(default_factory=dict)
    """The entities of everybody's mentions, and the documents of these entities."""
    labels: dict[Pair, IntArray] = field(default_factory=dict)
    """The key's entities that these mentions are matched with, −1 where there is none."""

    def add(self, pair: Pair, alignment: Alignment, result: Result) -> None:
        """Take in the matches of a key and a response, and their result."""
        response, partner = alignment.response, alignment.swapped.partner
        order = np.arange(partner.size)
        if result.protocol.tokens == "align" and response.corpus:  # the order depends on the key
            start, end = bounds(response.corpus.on_own_text, order)
            order = np.lexsort((end, start, response.group)) if start.size else order
        places = [self.places.setdefault(n, len(self.places)) for n in result.document_ids]
        documents = np.array(places, np.int64)[response.entity_document]
        self.results[pair] = result
        self.mentions[pair[1]] = response.mention_entity[order], documents
        self.labels[pair] = looked_up(alignment.key.mention_entity, partner)[order]

    def list_sets(self, who: str) -> list[Keys]:
        """The sets of keys that somebody is scored against: all others, and all of these but one."""
        keys = sorted({*self.annotators} - {who})
        sizes = {len(self.annotators) - 1, len(keys)}
        return [chosen for size in sorted(sizes) for chosen in combinations(keys, size)]

    def measure(self) -> tuple[list[Row], list[Notice]]:
        """A row for each metric and kind, and notices."""
        first, notices = next(iter(self.results.values())), list[Notice]()
        samples = 0 if self.sampling.ci is None else self.sampling.samples
        if samples and len(self.places) < 2:
            notices.append(Notice("no-interval", _NO_INTERVAL))
            samples = 0
        elif samples:
            notices += warn_of_few(first)
        cases = [
            (s, who) for who in (*self.annotators, *self.responses) for s in self.list_sets(who)
        ]
        stacks = self._stack_metrics(first.metrics, [case for case in cases if len(case[0]) > 1])
        are_alike = (self.mentions[who][0].size == x.size for (_, who), x in self.labels.items())
        if len(self.annotators) <= MOST_KEYS and all(are_alike):
            tables = [{_LINKS: table} for table in self._count_undisputed(cases)]
            results = [replace(first, tables=t, document_ids=(*self.places,)) for t in tables]
            stacks[_LINKS] = cases, stack(results, [_LINKS])
        else:
            notices.append(Notice("no-undisputed", _NO_LINKS))
        rows = []
        for metric, curves in self._sample(stacks, samples):
            for kind in ("undisputed",) if metric == _LINKS else ("mean", "best"):
                rows.append({"metric": metric, "kind": kind, **self._row(curves, kind)})
                if rows[-1]["ceiling"] == 0:
                    text = f"{metric}, {kind}: the ceiling is 0, so that there is no share of it"
                    notices.append(Notice("no-share", text))
        return rows, notices

    def _stack_metrics(
        self, metrics: Iterable[str], cases: Sequence[Case]
    ) -> dict[str, tuple[list[Case], Stack]]:
        """For each metric the counts of pairs, and of the best keys of cases with several."""
        results, stacks = (
            {((key,), who): self._place(r) for (key, who), r in self.results.items()},
            {},
        )
        for metric in metrics:
            if all(metric in result for result in results.values()):
                stacked = stack([*results.values()], [metric])
                chosen = _choose_best(results, cases, metric)
                best = stacked.values[:, chosen, np.arange(len(self.places))]
                values = np.concatenate((stacked.values, best), axis=1)
                stacks[metric] = [*results, *cases], replace(stacked, values=values)
        return stacks

    def _place(self, result: Result) -> Result:
        """The result with rows for all documents, which count nothing where it has none."""
        rows, tables = [self.places[name] for name in result.document_ids], dict(result.tables)
        for name, table in tables.items():
            if table.values is not None:
                values = np.zeros((len(self.places), table.values.shape[1]))
                values[rows] = table.values
                tables[name] = replace(table, values=values)
        return replace(result, tables=tables, document_ids=tuple(self.places), slices={})

    def _sample(
        self, stacks: Mapping[str, tuple[Sequence[Case], Stack]], samples: int
    ) -> Iterator[tuple[str, Curves]]:
        """For each metric the F1 of all cases, in the data and in all samples."""
        n_documents, seed = len(self.places), self.sampling.seed
        size = 16 * max(stacked.values[..., 0].size for _, stacked in stacks.values())
        everything = np.ones((1, n_documents))
        blocks = chain([everything], resamples(n_documents, samples, seed, bytes_each=size))
        curves = [
            [
                stacked.rate(stacked.sums(weights).__getitem__, "f1")[0]
                for _, stacked in stacks.values()
            ]
            for weights in blocks
        ]
        for (metric, (cases, _)), parts in zip(stacks.items(), zip(*curves), strict=True):
            yield metric, dict(zip(cases, np.concatenate(parts, axis=1), strict=True))

    def _count_undisputed(self, cases: Iterable[Case]) -> Iterator[CountTable]:
        """Links that all keys have, and links of the response that any of them has."""
        common: dict[str, dict[tuple[int, ...], FloatArray]] = {}
        sorts = {}
        for who, (entity, document) in self.mentions.items():
            keys = sorted({*self.annotators} - {who})
            labels = np.array([self.labels[key, who] for key in keys])
            sizes = np.bincount(entity, minlength=document.size)
            sorts[who] = {key: sort for sort, key in enumerate(keys)}
            common[who] = count_common_links(entity, sizes, document, len(self.places), labels)
        for (first, *further), who in cases:
            chosen = [sorts[who][key] for key in (first, *further)]
            agreed, links = common[first][*(sorts[first][key] for key in further),], common[who]
            columns = (
                np.minimum(links[*chosen,], agreed),
                agreed,
                count_united_links(links, chosen),
                links[()],
            )
            yield CountTable("ratio", _RATIO, np.stack(columns, axis=1))

    def _row(self, curves: Curves, kind: str) -> Row:
        def phi(keys: Keys, who: str) -> FloatArray:
            if kind == "mean":
                return np.asarray(np.mean([curves[(key,), who] for key in keys], axis=0))
            return curves[keys, who]

        reached = {name: phi(self.list_sets(name)[0], name) for name in self.annotators}
        ceiling, responses = np.mean([*reached.values()], axis=0), {}
        for who in self.responses:
            *fewer, everybody = self.list_sets(who)
            level = np.mean([phi(keys, who) for keys in fewer], axis=0)
            share = divide(level, ceiling, np.nan)
            responses[who] = self._summarize(value=phi(everybody, who), level=level, share=share)
        return {
            **self._summarize(ceiling=ceiling),
            "annotators": {name: float(curve[0]) for name, curve in reached.items()},
            "responses": responses,
        }

    def _summarize(self, **curves: FloatArray) -> Row:
        """The value and the interval of each curve; None where too many samples have no value."""
        row: Row = {}
        for name, (value, *samples) in curves.items():
            defined = [sample for sample in samples if sample == sample]
            row[name], row[f"{name}_interval"] = float(value) if value == value else None, None
            if samples and len(defined) >= (1 - _SHARE_LOST) * len(samples):
                row[f"{name}_interval"] = list(middle(np.array(defined), self.sampling.ci))
        return row


def _choose_best(results: Mapping[Case, Result], cases: Sequence[Case], metric: str) -> IntArray:
    """For each case and document the place of the result with the greatest F1 there.

    Of several it is the one with more to find, and then the first.
    """
    names = next(iter(results.values())).tables[metric].parts or (metric,)
    f1 = np.stack([result.document_rates[metric]["f1"] for result in results.values()])
    sizes = np.stack(
        [sum(_to_find(result.tables[name]) for name in names) for result in results.values()]
    )
    place = {pair: number for number, pair in enumerate(results)}
    chosen = []
    for keys, who in cases:
        rows = np.array([place[(key,), who] for key in keys])
        rivals = np.where(f1[rows] < f1[rows].max(axis=0) - _TIE, -1, sizes[rows])
        chosen.append(rows[(rivals >= rivals.max(axis=0) - _TIE).argmax(axis=0)])
    return np.array(chosen, dtype=np.int64).reshape(-1, f1.shape[1])


def _to_find(table: CountTable) -> FloatArray:
    """The denominator of recall in each document."""
    columns = [column for name, column in table.columns().items() if name.endswith(_OF_KEY)]
    return np.asarray(sum(columns, np.zeros(len(table.counted()))))
