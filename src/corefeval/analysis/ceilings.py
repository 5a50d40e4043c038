"""Responses against several keys, and how close they come to what annotators reach.

Each annotator against all others is the ceiling, a response in the annotator's place its level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from corefeval.diagnostics import Notice
from corefeval.display import Row
from corefeval.model.arrays import FloatArray, IntArray, begin_runs, looked_up, stable_order, unset
from corefeval.preparation import Prepared
from corefeval.request import Sampling
from corefeval.results import CountTable, Result
from corefeval.results.rates import divide
from corefeval.stats.bootstraps import middle, warn_of_few
from corefeval.stats.resampling import bootstrap, stack

MOST_KEYS = 12  # whose links are counted by inclusion and exclusion
_SHARE_LOST = 0.05  # of samples without a share: with more there is no interval
_TIE = 1e-12
_RATIO = (
    *("recall_numerator", "recall_denominator"),
    *("precision_numerator", "precision_denominator"),
)
Curve = FloatArray  # a value, and behind it that of each sample
Keys = tuple[str, ...]
Pair = tuple[str, str]  # names of a key and of who is scored against it


def count_links(cell: IntArray, document: IntArray, n_documents: int) -> FloatArray:
    """How many pairs of mentions are in one cell, for each document; −1 is no cell."""
    rows = np.flatnonzero(cell >= 0)
    mates = np.bincount(cell[rows])[cell[rows]] - 1
    return np.asarray(np.bincount(document[rows], mates / 2, n_documents))


def count_linked(
    labels: IntArray, cell: IntArray, document: IntArray, n_documents: int
) -> FloatArray:
    """How many pairs of one cell have the same label in any row of `labels`, for each document.

    A label of −1 is none. Pairs that a row links are counted less those that a later row links as
    well, so that each counts once.
    """
    total = np.zeros(n_documents)
    for row, label in enumerate(labels):
        inner = refine(cell, label)
        rows = np.flatnonzero(inner >= 0)
        rows = rows[np.bincount(inner[rows])[inner[rows]] > 1]
        part = inner[rows], document[rows], n_documents
        total += count_links(*part) - count_linked(labels[row + 1 :, rows], *part)
    return total


def refine(cell: IntArray, label: IntArray) -> IntArray:
    """Cells divided by a label; −1 where either is −1."""
    rows = np.flatnonzero((cell >= 0) & (label >= 0))
    values = cell[rows] * (int(label.max(initial=0)) + 1) + label[rows]
    order, inner = stable_order(values), unset(cell.size)
    inner[rows[order]] = np.cumsum(begin_runs(values[order])) - 1
    return inner


@dataclass
class Ceilings:
    """What ceilings are worked out from: results of pairs, matches, and how they are sampled."""

    annotators: tuple[str, ...]
    responses: tuple[str, ...]
    sampling: Sampling
    results: dict[Pair, Result] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """The place of each document, among those of all pairs."""
    mentions: dict[str, tuple[IntArray, IntArray]] = field(default_factory=dict)
    """Entity and document of everybody's mentions."""
    labels: dict[Pair, IntArray] = field(default_factory=dict)
    """The key's entities that these mentions are matched with, −1 where there is none."""

    def add(self, pair: Pair, prepared: Prepared, result: Result) -> None:
        """Take in the matches of a key and a response, and their result."""
        response = prepared.response
        partner = prepared.matches.partners_of_response(response.n_mentions)
        text, order = response.on_own_text, np.arange(partner.size)
        if text.mention_start is not None and text.mention_end is not None:
            # Where tokens differ, the order of mentions depends on the key.
            order = np.lexsort((text.mention_end, text.mention_start, text.mention_document))
        names = prepared.document_ids
        places = np.array([self.places.setdefault(n, len(self.places)) for n in names], np.int64)
        document = places[response.mention_document[order]]
        self.results[pair] = result
        self.mentions[pair[1]] = response.mention_entity[order], document
        self.labels[pair] = looked_up(prepared.key.mention_entity, partner)[order]

    def measure(self) -> tuple[list[Row], list[Notice]]:
        """A row for each metric and kind, and notices."""
        placed = {pair: self._place(result) for pair, result in self.results.items()}
        first = next(iter(placed.values()))
        metrics = [m for m in first.metrics if all(m in result for result in placed.values())]
        kinds = [(metric, kind) for metric in metrics for kind in ("mean", "best")]
        notices, level = [], self.sampling.ci
        if level is not None and len(self.places) < 2:
            level, text = None, "no intervals: they are over documents, and there is only one"
            notices.append(Notice("no-interval", text))
        elif level is not None:
            notices += warn_of_few(first)
        is_sound = all(
            label.size == self.mentions[who][0].size for (_, who), label in self.labels.items()
        )
        if len(self.annotators) <= MOST_KEYS and is_sound:
            kinds.append(("links", "undisputed"))
        else:
            text = "undisputed links are left out: they need the same mentions against all keys, "
            text += f"and at most {MOST_KEYS} annotators"
            notices.append(Notice("no-undisputed", text))
        rows, samples = [], 0 if level is None else self.sampling.samples
        for metric, kind in kinds:
            curves = self._curves(placed, metric, kind, samples)
            rows.append({"metric": metric, "kind": kind, **self._row(curves, level)})
            if rows[-1]["ceiling"] == 0:
                text = f"{metric}, {kind}: the ceiling is 0, so that there is no share of it"
                notices.append(Notice("no-share", text))
        return rows, notices

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

    def _rivals(self, annotator: str) -> Keys:
        return tuple(name for name in self.annotators if name != annotator)

    def _curves(
        self, results: Mapping[Pair, Result], metric: str, kind: str, samples: int
    ) -> dict[tuple[Keys, str], Curve]:
        """The F1 of each set of keys and who is scored against it, in the data and all samples."""
        cases = [
            (self._rivals(name), who) for name in self.annotators for who in (name, *self.responses)
        ]
        cases += [(self.annotators, who) for who in self.responses]
        scored: list[list[Result]] = []  # the mean of which is the value of a case
        for keys, who in cases:
            chosen = [results[key, who] for key in sorted(keys)]
            if kind == "best":
                chosen = [_choose_best(chosen, metric)]
            elif kind == "undisputed":
                table = self._count_undisputed(sorted(keys), who)
                chosen = [replace(chosen[0], tables={metric: table})]
            scored.append(chosen)
        stacked = stack([result for chosen in scored for result in chosen], [metric])
        curves = stacked.rate(stacked.totals.__getitem__, "f1")[0][:, None]
        if samples:
            drawn = bootstrap(stacked, samples, self.sampling.seed, rate="f1")[metric]["f1"]
            curves = np.concatenate((curves, drawn), axis=1)
        parts = np.split(curves, np.cumsum([len(chosen) for chosen in scored])[:-1])
        return {case: part.mean(axis=0) for case, part in zip(cases, parts, strict=True)}

    def _count_undisputed(self, keys: Sequence[str], who: str) -> CountTable:
        """Links that all keys have, and links of the response that any of them has."""
        (entity, document), number = self.mentions[who], len(self.places)
        agreed, place = self.mentions[keys[0]]
        labels = np.stack([self.labels[key, who] for key in keys])
        common = reduce(refine, labels, entity)
        agreed = reduce(refine, (self.labels[key, keys[0]] for key in keys[1:]), agreed)
        denominator = count_links(agreed, place, number)
        columns = (
            np.minimum(count_links(common, document, number), denominator),
            denominator,
            count_linked(labels, entity, document, number),
            count_links(entity, document, number),
        )
        return CountTable("ratio", _RATIO, np.stack(columns, axis=1))

    def _row(self, curves: Mapping[tuple[Keys, str], Curve], level: float | None) -> Row:
        reached = {name: curves[self._rivals(name), name] for name in self.annotators}
        ceiling = np.mean([*reached.values()], axis=0)
        responses = {}
        for name in self.responses:
            place = np.mean([curves[self._rivals(key), name] for key in self.annotators], axis=0)
            columns = {"value": curves[self.annotators, name], "level": place}
            columns["share"] = divide(place, ceiling, np.nan)
            responses[name] = _summarize(columns, level)
        return {
            **_summarize({"ceiling": ceiling}, level),
            "annotators": {name: float(curve[0]) for name, curve in reached.items()},
            "responses": responses,
        }


def _summarize(curves: Mapping[str, Curve], level: float | None) -> Row:
    """The value and the interval of each curve; None where too many samples have no value."""
    row: Row = {}
    for name, curve in curves.items():
        row[name] = None if np.isnan(curve[0]) else float(curve[0])
        samples = curve[1:][~np.isnan(curve[1:])]
        is_certain = samples.size >= (1 - _SHARE_LOST) * (curve.size - 1)
        row[f"{name}_interval"] = list(middle(samples, level)) if level and is_certain else None
    return row


def _choose_best(results: Sequence[Result], metric: str) -> Result:
    """For each document the counts of the result with the greatest F1 there.

    Of several it is the one with more to find, and then the first.
    """
    first = results[0]
    f1 = np.stack([result.document_rates[metric]["f1"] for result in results])
    names = first.tables[metric].parts or (metric,)
    sizes = np.stack([sum(_to_find(result.tables[name]) for name in names) for result in results])
    sizes[f1 < f1.max(axis=0) - _TIE] = -1
    chosen = (sizes >= sizes.max(axis=0) - _TIE).argmax(axis=0)
    tables = {}
    for name in dict.fromkeys((*names, metric)):
        table = first.tables[name]
        if table.values is not None:
            values = np.stack([np.asarray(result.tables[name].values) for result in results])
            table = replace(table, values=values[chosen, np.arange(chosen.size)])
        tables[name] = table
    return replace(first, tables=tables)


def _to_find(table: CountTable) -> FloatArray:
    """The denominator of recall in each document."""
    columns = table.columns()
    of_key = [name for name in columns if name == _RATIO[1] or name.endswith("coreference_key")]
    names = of_key or [name for name in columns if name.endswith(("tp", "wl", "fn"))]
    return np.asarray(sum((columns[name] for name in names), np.zeros(len(table.counted()))))
