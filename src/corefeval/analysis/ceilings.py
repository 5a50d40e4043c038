"""Responses against several keys, and how close they come to what annotators reach.

Each annotator against all others is the ceiling, a response in the annotator's place its level.
Everybody has one result for each set of keys, of the best key of each document and of undisputed
links; what is shown follows from the F1 of these results, in the data and in samples of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TypeVar

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
from corefeval.stats.resampling import bootstrap, stack

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
_NO_LINKS = "undisputed links are left out: they need the same mentions against all keys, and at "
_NO_LINKS += f"most {MOST_KEYS} annotators"
_NO_SHARE = "the ceiling is 0, so that there is no share of it"
Keys = tuple[str, ...]
T = TypeVar("T")
Pair = tuple[str, str]  # names of a key and of who is scored against it
Case = tuple[Keys, str]  # a set of keys, in alphabetical order, and who is scored against it


def count_common_links(
    entity: IntArray,
    sizes: IntArray,
    document: IntArray,
    n_documents: int,
    labels: Mapping[T, IntArray],
) -> dict[tuple[T, ...], FloatArray]:
    """How many pairs of mentions of one entity all of some labels link, by document.

    `sizes` and `document` are those of each entity. There is an entry for every set of labels, in
    their order; −1 is no label.
    """
    links = np.bincount(document, sizes * (sizes - 1) / 2, n_documents)
    counts: dict[tuple[T, ...], FloatArray] = {(): links.astype(np.float64)}
    names = list(labels)
    for place, name in enumerate(names, start=1):
        inside = (labels[name] >= 0) & (sizes[entity] > 1)
        width = int(labels[name].max(initial=0)) + 1
        codes = entity[inside] * width + labels[name][inside]
        ordered = np.sort(codes)
        first, finer_sizes = find_runs(ordered)
        further = {label: labels[label][inside] for label in names[place:]}
        cell = np.searchsorted(ordered[first], codes) if further else codes
        owner = document[ordered[first] // width]
        finer = count_common_links(cell, finer_sizes, owner, n_documents, further)
        counts |= {(name, *keys): numbers for keys, numbers in finer.items()}
    return counts


def count_united_links(
    counts: Mapping[tuple[T, ...], FloatArray], names: Sequence[T]
) -> FloatArray:
    """How many pairs any of some labels links, from what all labels of each set link."""
    sets = [keys for size in range(1, len(names) + 1) for keys in combinations(names, size)]
    return np.asarray(sum((-1) ** (len(keys) + 1) * counts[keys] for keys in sets))


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

    def measure(self) -> tuple[list[Row], list[Notice]]:
        """A row for each metric and kind, and notices."""
        first, notices, rows = next(iter(self.results.values())), list[Notice](), list[Row]()
        level, samples = self.sampling.ci or 0.0, self.sampling.samples
        if level and len(self.places) < 2:
            notices.append(Notice("no-interval", _NO_INTERVAL))
            level = 0.0
        elif level:
            notices += warn_of_few(first)
        are_alike = [self.mentions[pair[1]][0].size == x.size for pair, x in self.labels.items()]
        metrics = [m for m in first.metrics if all(m in r for r in self.results.values())]
        if len(self.annotators) <= MOST_KEYS and all(are_alike):
            metrics.append(_LINKS)
        else:
            notices.append(Notice("no-undisputed", _NO_LINKS))
        cases = [(keys, who) for who in self.mentions for keys in self._list_sets(who)]
        stacked = stack([self._combine(*case, metrics) for case in cases], metrics)
        values = stacked.rate(stacked.totals.__getitem__, "f1")
        sampled = bootstrap(stacked, samples if level else 0, self.sampling.seed, rate="f1")
        for metric, numbers in zip(metrics, values, strict=True):
            curves = [numbers[:, None], *sampled.get(metric, {}).values()]
            of_case = dict(zip(cases, np.concatenate(curves, axis=1), strict=True))
            for kind in ("undisputed",) if metric == _LINKS else ("mean", "best"):
                rows.append({"metric": metric, "kind": kind, **self._row(of_case, kind, level)})
                if rows[-1]["ceiling"] == 0:
                    notices.append(Notice("no-share", f"{metric}, {kind}: {_NO_SHARE}"))
        return rows, notices

    def _list_sets(self, who: str) -> list[Keys]:
        """The sets of keys for somebody: each other one, all others but one, and all others."""
        keys = sorted({*self.annotators} - {who})
        sizes = sorted({1, len(self.annotators) - 1, len(keys)})
        return [chosen for size in sizes for chosen in combinations(keys, size)]

    def _combine(self, keys: Keys, who: str, metrics: Sequence[str]) -> Result:
        """The result of somebody against the best key of each document; and undisputed links."""
        results = [self.results[key, who] for key in keys]
        rows, tables = [self.places[name] for name in results[0].document_ids], {}
        for metric in metrics:
            if metric == _LINKS:
                tables[metric] = self._count_undisputed(keys, who)
                continue
            parts = results[0].tables[metric].parts
            chosen = _choose_best(results, metric, parts or (metric,)) if keys[1:] else 0
            for name in parts or (metric,):
                each = np.array([result.tables[name].values for result in results])
                values = np.zeros((len(self.places), each.shape[2]))
                values[rows] = each[chosen, np.arange(len(rows))]
                table = replace(results[0].tables[name], values=values)
                tables[f"{metric}: {name}" if parts else name] = table
            if parts:  # which have keys of their own as metrics
                names = tuple(f"{metric}: {name}" for name in parts)
                tables[metric] = replace(results[0].tables[metric], parts=names)
        return replace(results[0], tables=tables, document_ids=tuple(self.places), slices={})

    @cached_property
    def common_links(self) -> dict[str, dict[Keys, FloatArray]]:
        """Everybody's links that all keys of each set have, by document."""
        counts = {}
        for who, (entity, document) in self.mentions.items():
            labels = {key: self.labels[key, who] for key in sorted({*self.annotators} - {who})}
            sizes = np.bincount(entity, minlength=document.size)
            counts[who] = count_common_links(entity, sizes, document, len(self.places), labels)
        return counts

    def _count_undisputed(self, keys: Keys, who: str) -> CountTable:
        """Links that all keys have, and links of the response that any of them has."""
        links, agreed = self.common_links[who], self.common_links[keys[0]][keys[1:]]
        united = count_united_links(links, keys)
        columns = np.minimum(links[keys], agreed), agreed, united, links[()]
        return CountTable("ratio", _RATIO, np.stack(columns, axis=1))

    def _row(self, curves: Mapping[Case, FloatArray], kind: str, level: float) -> Row:
        def score(who: str, size: int) -> FloatArray:
            """The mean score against all sets of so many keys."""
            keys = sorted({*self.annotators} - {who})
            size = 1 if kind == "mean" else size
            return np.asarray(np.mean([curves[s, who] for s in combinations(keys, size)], axis=0))

        total = len(self.annotators)
        reached = {name: score(name, total - 1) for name in self.annotators}
        ceiling, responses = np.mean([*reached.values()], axis=0), {}
        for who in self.responses:
            value, reach = score(who, total), score(who, total - 1)
            share = divide(reach, ceiling, np.nan)
            responses[who] = _summarize(level, value=value, level=reach, share=share)
        return {
            **_summarize(level, ceiling=ceiling),
            "annotators": {name: float(curve[0]) for name, curve in reached.items()},
            "responses": responses,
        }


def _summarize(confidence: float, **curves: FloatArray) -> Row:
    """The value and the interval of each curve; None where too many samples have no value."""
    row: Row = {}
    for name, (value, *samples) in curves.items():
        defined = [sample for sample in samples if sample == sample]
        row[name], row[f"{name}_interval"] = float(value) if value == value else None, None
        if samples and len(defined) >= (1 - _SHARE_LOST) * len(samples):
            row[f"{name}_interval"] = list(middle(np.array(defined), confidence))
    return row


def _choose_best(results: Sequence[Result], metric: str, parts: Sequence[str]) -> IntArray:
    """For each document the place of the result with the greatest F1 there.

    Of several it is the one with more to find, and then the first.
    """
    f1 = np.array([result.document_rates[metric]["f1"] for result in results])
    sizes = np.zeros(f1.shape)
    for row, result in zip(sizes, results, strict=True):
        for part in parts:
            counts = result.tables[part].columns()
            row += sum(column for name, column in counts.items() if name.endswith(_OF_KEY))
    rivals = np.where(f1 < f1.max(axis=0) - _TIE, -1, sizes)
    return np.asarray((rivals >= rivals.max(axis=0) - _TIE).argmax(axis=0))
