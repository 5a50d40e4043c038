"""Responses against several keys, and how close they come to what annotators reach.

Each annotator against all others is the ceiling, a response in the annotator's place its level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TypeVar

import numpy as np

from corefeval.alignment import Alignment
from corefeval.diagnostics import Notice
from corefeval.display import Row
from corefeval.matching.candidates import bounds
from corefeval.model.arrays import FloatArray, IntArray, dense_ranks, find_runs, looked_up
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
Keys = tuple[str, ...]
T = TypeVar("T")
Pair = tuple[str, str]  # names of a key and of who is scored against it
Case = tuple[Keys, str]  # a set of keys, and who is scored against it


def count_common_links(
    entity: IntArray, document: IntArray, n_documents: int, labels: Mapping[T, IntArray]
) -> dict[tuple[T, ...], FloatArray]:
    """How many pairs of mentions of one entity all of some labels link, by document.

    `document` is that of each entity. There is an entry for every set of labels, in their order;
    −1 is no label.
    """
    counts: dict[tuple[T, ...], FloatArray] = {}
    names = list(labels)

    def count(keys: tuple[T, ...], rows: IntArray, cell: IntArray, document: IntArray) -> None:
        sizes = np.bincount(cell, minlength=document.size)
        counts[keys] = count_links(sizes, document)
        further = names[names.index(keys[-1]) + 1 if keys else 0 :]
        for name in further:
            label = labels[name][rows]
            inside = (label >= 0) & (sizes[cell] > 1)
            width = int(label.max(initial=0)) + 1
            codes = cell[inside] * width + label[inside]
            if name != further[-1]:
                finer, distinct = dense_ranks(codes)
                count((*keys, name), rows[inside], finer, document[distinct // width])
            else:  # to sort is much faster than to rank
                codes.sort()
                first, runs = find_runs(codes)
                counts[*keys, name] = count_links(runs, document[codes[first] // width])

    def count_links(sizes: IntArray, document: IntArray) -> FloatArray:
        links = np.bincount(document, sizes * (sizes - 1) / 2, n_documents)
        return links.astype(np.float64)

    count((), np.arange(entity.size), entity, document)
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
        results = {pair: self._place(result) for pair, result in self.results.items()}
        first = next(iter(results.values()))
        metrics = [m for m in first.metrics if all(m in result for result in results.values())]
        level, notices = self.sampling.ci, list[Notice]()
        if level is not None and len(self.places) < 2:
            level, text = None, "no intervals: they are over documents, and there is only one"
            notices.append(Notice("no-interval", text))
        elif level is not None:
            notices += warn_of_few(first)
        are_alike = [
            self.mentions[who][0].size == row.size for (_, who), row in self.labels.items()
        ]
        has_links = len(self.annotators) <= MOST_KEYS and all(are_alike)
        if not has_links:
            text = "undisputed links are left out: they need the same mentions against all keys, "
            text += f"and at most {MOST_KEYS} annotators"
            notices.append(Notice("no-undisputed", text))
        rows = []
        for metric, kind, curves in self._list_curves(results, metrics, has_links, level):
            rows.append({"metric": metric, "kind": kind, **self._row(curves, level)})
            if rows[-1]["ceiling"] == 0:
                text = f"{metric}, {kind}: the ceiling is 0, so that there is no share of it"
                notices.append(Notice("no-share", text))
        return rows, notices

    def _list_curves(
        self,
        results: Mapping[Pair, Result],
        metrics: Sequence[str],
        has_links: bool,
        level: float | None,
    ) -> Iterator[tuple[str, str, dict[Case, FloatArray]]]:
        """For each metric and kind the F1 of each case: in the data, and behind it in samples."""
        several = [case for case in self.cases if len(case[0]) > 1]
        stacks, places = [], np.arange(len(self.places))
        for metric in metrics:
            stacked = stack([*results.values()], [metric])
            chosen = _choose_best(results, several, metric)
            stacks += [stacked, replace(stacked, values=stacked.values[:, chosen, places])]
        if has_links:
            first = next(iter(results.values()))
            tables = [self._count_undisputed(*case) for case in self.cases]
            stacks.append(stack([replace(first, tables={_LINKS: t}) for t in tables], [_LINKS]))
        curves = self._sample(stacks, level)
        for metric in metrics:
            of_pair = dict(zip(results, next(curves), strict=True))
            mean = {
                (keys, who): np.mean([of_pair[key, who] for key in sorted(keys)], axis=0)
                for keys, who in self.cases
            }
            yield metric, "mean", mean
            yield metric, "best", mean | dict(zip(several, next(curves), strict=True))
        if has_links:
            yield _LINKS, "undisputed", dict(zip(self.cases, next(curves), strict=True))

    def _place(self, result: Result) -> Result:
        """The result with rows for all documents, which count nothing where it has none."""
        rows = [self.places[name] for name in result.document_ids]
        tables = dict(result.tables)
        for name, table in tables.items():
            if table.values is not None:
                values = np.zeros((len(self.places), table.values.shape[1]))
                values[rows] = table.values
                tables[name] = replace(table, values=values)
        return replace(result, tables=tables, document_ids=tuple(self.places), slices={})

    def _leave_out(self, annotator: str) -> Keys:
        return tuple(name for name in self.annotators if name != annotator)

    @cached_property
    def cases(self) -> list[Case]:
        """Sets of keys, and who is scored against them."""
        return [
            *((self._leave_out(n), who) for n in self.annotators for who in (n, *self.responses)),
            *((self.annotators, who) for who in self.responses),
        ]

    def _sample(self, stacks: Sequence[Stack], level: float | None) -> Iterator[FloatArray]:
        """For each stack of one metric the F1 of its results, in the data and in all samples."""
        curves = [
            [stacked.rate(stacked.totals.__getitem__, "f1")[0, :, None]] for stacked in stacks
        ]
        samples, seed = 0 if level is None else self.sampling.samples, self.sampling.seed
        size = max(stacked.values[..., 0].size for stacked in stacks)
        for weights in resamples(len(self.places), samples, seed, bytes_each=16 * size):
            for blocks, stacked in zip(curves, stacks, strict=True):
                blocks.append(stacked.rate(stacked.sums(weights).__getitem__, "f1")[0])
        yield from (np.concatenate(blocks, axis=1) for blocks in curves)

    @cached_property
    def common_links(self) -> dict[str, dict[Keys, FloatArray]]:
        """Everybody's links that all keys of each set have, by document."""
        return {
            who: count_common_links(
                *self.mentions[who],
                len(self.places),
                {key: self.labels[key, who] for key in sorted(self._leave_out(who))},
            )
            for who in (*self.annotators, *self.responses)
        }

    def _count_undisputed(self, keys: Keys, who: str) -> CountTable:
        """Links that all keys have, and links of the response that any of them has."""
        (first, *further), links = sorted(keys), self.common_links[who]
        agreed = self.common_links[first][*further,]
        columns = (
            np.minimum(links[first, *further], agreed),
            agreed,
            count_united_links(links, (first, *further)),
            links[()],
        )
        return CountTable("ratio", _RATIO, np.stack(columns, axis=1))

    def _row(self, curves: Mapping[Case, FloatArray], level: float | None) -> Row:
        reached = {name: curves[self._leave_out(name), name] for name in self.annotators}
        ceiling = np.mean([*reached.values()], axis=0)
        responses = {}
        for who in self.responses:
            levels = [curves[self._leave_out(name), who] for name in self.annotators]
            columns = {"value": curves[self.annotators, who], "level": np.mean(levels, axis=0)}
            columns["share"] = divide(columns["level"], ceiling, np.nan)
            responses[who] = _summarize(columns, level)
        return {
            **_summarize({"ceiling": ceiling}, level),
            "annotators": {name: float(curve[0]) for name, curve in reached.items()},
            "responses": responses,
        }


def _summarize(curves: Mapping[str, FloatArray], level: float | None) -> Row:
    """The value and the interval of each curve; None where too many samples have no value."""
    row: Row = {}
    for name, (value, *samples) in curves.items():
        defined = [sample for sample in samples if sample == sample]
        row[name], row[f"{name}_interval"] = float(value) if value == value else None, None
        if level is not None and len(defined) >= (1 - _SHARE_LOST) * len(samples):
            row[f"{name}_interval"] = list(middle(np.array(defined), level))
    return row


def _choose_best(results: Mapping[Pair, Result], cases: Sequence[Case], metric: str) -> IntArray:
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
        rows = np.array([place[key, who] for key in sorted(keys)])
        rivals = np.where(f1[rows] < f1[rows].max(axis=0) - _TIE, -1, sizes[rows])
        chosen.append(rows[(rivals >= rivals.max(axis=0) - _TIE).argmax(axis=0)])
    return np.array(chosen)


def _to_find(table: CountTable) -> FloatArray:
    """The denominator of recall in each document."""
    columns = [column for name, column in table.columns().items() if name.endswith(_OF_KEY)]
    return np.asarray(sum(columns, np.zeros(len(table.counted()))))
