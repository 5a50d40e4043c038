"""Responses against several keys, and how close they come to what annotators reach.

Each annotator against all others is the ceiling, a response in the annotator's place its level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from corefeval.diagnostics import Notice
from corefeval.display import Row
from corefeval.model.arrays import FloatArray, IntArray, stable_order
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
Pair = tuple[str, str]  # names of a key and of who is scored against it


def count_links(cell: IntArray, document: IntArray, n_documents: int) -> FloatArray:
    """How many pairs of mentions are in one cell, for each document."""
    sizes = np.bincount(cell)
    of_cell = np.zeros(sizes.size, dtype=np.int64)
    of_cell[cell] = document
    pairs = sizes * (sizes - 1) // 2
    return np.asarray(np.bincount(of_cell, weights=pairs, minlength=n_documents), np.float64)


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
        rows = rows[np.bincount(inner[rows])[inner[rows]] > 1] if rows.size else rows
        part = inner[rows], document[rows], n_documents
        total += count_links(*part) - count_linked(labels[row + 1 :, rows], *part)
    return total


def refine(cell: IntArray, label: IntArray) -> IntArray:
    """Cells divided by a label; −1 where either is −1."""
    is_inside = (cell >= 0) & (label >= 0)
    width = int(label.max(initial=0)) + 1
    rows, values = np.flatnonzero(is_inside), (cell * width + label)[is_inside]
    order = stable_order(values)
    inner = np.full(cell.size, -1, dtype=np.int64)
    inner[rows[order]] = np.cumsum(np.diff(values[order], prepend=-1) != 0) - 1
    return inner


@dataclass
class Links:
    """The entities of everybody's mentions, and those of the keys that these are matched with."""

    entity: dict[str, IntArray] = field(default_factory=dict)
    document: dict[str, IntArray] = field(default_factory=dict)
    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    label: dict[Pair, IntArray] = field(default_factory=dict)

    def add(self, prepared: Prepared, pair: Pair) -> None:
        """Take in the matches of a key and a response."""
        response = prepared.response
        partner = prepared.matches.partners_of_response(response.n_mentions)
        label = np.append(prepared.key.mention_entity, -1)[partner]
        text, order = response.on_own_text, np.arange(label.size)
        if text.mention_start is not None and text.mention_end is not None:
            # Where tokens differ, the order of mentions depends on the key.
            order = np.lexsort((text.mention_end, text.mention_start, text.mention_document))
        self.entity[pair[1]] = response.mention_entity[order]
        self.document[pair[1]] = response.mention_document[order]
        self.ids[pair[1]] = prepared.document_ids
        self.label[pair] = label[order]

    @property
    def is_sound(self) -> bool:
        """Whether everybody has the same mentions against all keys."""
        return all(label.size == self.entity[who].size for (_, who), label in self.label.items())

    def count(self, keys: Sequence[str], who: str, documents: Mapping[str, int]) -> CountTable:
        """Links that all keys have, and links of the response that any of them has."""
        number = len(documents)
        first, *further = keys
        entity, document = self.entity[who], self._places(who, documents)
        labels = np.stack([self.label[key, who] for key in keys])
        common, agreed = entity, self.entity[first]
        for label in labels:
            common = refine(common, label)
        for key in further:
            agreed = refine(agreed, self.label[key, first])
        sides = ((common, document), (agreed, self._places(first, documents)))
        numerator, denominator = (
            count_links(cell[cell >= 0], place[cell >= 0], number) for cell, place in sides
        )
        linked = count_linked(labels, entity, document, number)
        total = count_links(entity, document, number)
        columns = np.minimum(numerator, denominator), denominator, linked, total
        return CountTable("ratio", _RATIO, np.stack(columns, axis=1))

    def _places(self, who: str, documents: Mapping[str, int]) -> IntArray:
        places = np.array([documents[name] for name in self.ids[who]], dtype=np.int64)
        return np.asarray(places[self.document[who]])


@dataclass(frozen=True, eq=False)
class Ceilings:
    """What ceilings are worked out from: the results of all pairs, and how they are sampled."""

    results: Mapping[Pair, Result]
    annotators: tuple[str, ...]
    responses: tuple[str, ...]
    links: Links
    sampling: Sampling

    def measure(self, metrics: Sequence[str]) -> tuple[list[Row], list[Notice]]:
        """A row for each metric and kind, and notices."""
        sums = _on_same_documents(self.results)
        ids = next(iter(sums.values())).document_ids
        notices = []
        level = self.sampling.ci
        if level is not None and len(ids) < 2:
            level, text = None, "no intervals: they are over documents, and there is only one"
            notices.append(Notice("no-interval", text))
        elif level is not None:
            notices += warn_of_few(next(iter(sums.values())))
        samples = 0 if level is None else self.sampling.samples
        kinds = [(metric, kind) for metric in metrics for kind in ("mean", "best")]
        if len(self.annotators) <= MOST_KEYS and self.links.is_sound:
            kinds.append(("links", "undisputed"))
        else:
            text = "undisputed links are left out: they need the same mentions against all keys, "
            text += f"and at most {MOST_KEYS} annotators"
            notices.append(Notice("no-undisputed", text))
        rows = []
        for metric, kind in kinds:
            curves = self._curves(sums, metric, kind, samples)
            rows.append({"metric": metric, "kind": kind, **self._row(curves, level)})
            if rows[-1]["ceiling"] == 0:
                text = f"{metric}, {kind}: the ceiling is 0, so that there is no share of it"
                notices.append(Notice("no-share", text))
        return rows, notices

    def _cases(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Sets of keys, and who is scored against each."""
        for name in self.annotators:
            keys = tuple(key for key in self.annotators if key != name)
            yield from ((keys, who) for who in (name, *self.responses))
        yield from ((self.annotators, who) for who in self.responses)

    def _curves(
        self, sums: Mapping[Pair, Result], metric: str, kind: str, samples: int
    ) -> dict[tuple[tuple[str, ...], str], Curve]:
        """The value of each case in the data and in all samples."""
        cases = list(dict.fromkeys(self._cases()))
        draw = (samples, self.sampling.seed)
        if kind == "mean":
            pairs = [*sums]
            curves = dict(zip(pairs, _sample([sums[p] for p in pairs], metric, *draw), strict=True))
            return {
                (keys, who): np.mean([curves[key, who] for key in keys], axis=0)
                for keys, who in cases
            }
        if kind == "best":
            chosen = [
                _choose_best([sums[k, who] for k in sorted(keys)], metric) for keys, who in cases
            ]
        else:
            first = next(iter(sums.values()))
            documents = {name: place for place, name in enumerate(first.document_ids)}
            tables = [self.links.count(sorted(keys), who, documents) for keys, who in cases]
            chosen = [replace(first, tables={metric: table}, slices={}) for table in tables]
        return dict(zip(cases, _sample(chosen, metric, *draw), strict=True))

    def _row(self, curves: Mapping[Any, Curve], level: float | None) -> Row:
        everybody = self.annotators
        rivals = {name: tuple(key for key in everybody if key != name) for name in everybody}
        reached = {name: curves[rivals[name], name] for name in everybody}
        ceiling = np.mean([*reached.values()], axis=0)
        responses = {}
        for name in self.responses:
            value = curves[everybody, name]
            place = np.mean([curves[rivals[key], name] for key in everybody], axis=0)
            share = divide(place, ceiling, np.nan)
            columns = {"value": value, "level": place, "share": share}
            row: Row = {column: _observed(curve) for column, curve in columns.items()}
            row |= {f"{c}_interval": _interval(curve, level) for c, curve in columns.items()}
            responses[name] = row
        return {
            "ceiling": _observed(ceiling),
            "ceiling_interval": _interval(ceiling, level),
            "annotators": {name: _observed(curve) for name, curve in reached.items()},
            "responses": responses,
        }


def _observed(curve: Curve) -> float | None:
    return None if np.isnan(curve[0]) else float(curve[0])


def _interval(curve: Curve, level: float | None) -> list[float] | None:
    """The interval of a curve; None where too many samples have no value."""
    samples = curve[1:][~np.isnan(curve[1:])]
    if level is None or samples.size < (1 - _SHARE_LOST) * (curve.size - 1):
        return None
    return list(middle(samples, level))


def _sample(results: Sequence[Result], metric: str, samples: int, seed: int) -> list[Curve]:
    """The F1 of each result, and behind it that of each sample of documents."""
    stacked = stack(results, [metric])
    curves = stacked.rate(stacked.totals.__getitem__, "f1")[0][:, None]
    if samples:
        drawn = bootstrap(stacked, samples, seed, rate="f1")[metric]["f1"]
        curves = np.concatenate((curves, drawn), axis=1)
    return list(curves)


def _choose_best(results: Sequence[Result], metric: str) -> Result:
    """For each document the counts of the result with the greatest F1 there.

    Of several it is the one with more to find, and then the first.
    """
    first = results[0]
    f1 = np.stack([result.document_rates[metric]["f1"] for result in results])
    is_best = f1 >= f1.max(axis=0) - _TIE
    names = first.tables[metric].parts or (metric,)
    sizes = np.stack([sum(_to_find(result.tables[name]) for name in names) for result in results])
    sizes = np.where(is_best, sizes, -1.0)
    chosen = (sizes >= sizes.max(axis=0) - _TIE).argmax(axis=0)
    tables = {}
    for name in dict.fromkeys((*names, metric)):
        table = first.tables[name]
        if table.values is not None:
            values = np.stack([np.asarray(result.tables[name].values) for result in results])
            table = replace(table, values=values[chosen, np.arange(chosen.size)])
        tables[name] = table
    return replace(first, tables=tables, slices={})


def _to_find(table: CountTable) -> FloatArray:
    """The denominator of recall in each document."""
    columns = table.columns()
    of_key = [name for name in columns if name == _RATIO[1] or name.endswith("coreference_key")]
    names = of_key or [name for name in columns if name.endswith(("tp", "wl", "fn"))]
    return np.asarray(sum((columns[name] for name in names), np.zeros(len(table.counted()))))


def _on_same_documents(results: Mapping[Pair, Result]) -> dict[Pair, Result]:
    """The results with rows for all documents, which count nothing where a result has none."""
    ids = tuple(dict.fromkeys(name for r in results.values() for name in r.document_ids))
    placed = {}
    for pair, result in results.items():
        if result.document_ids != ids:
            rows = [ids.index(name) for name in result.document_ids]
            tables = dict(result.tables)
            for name, table in tables.items():
                if table.values is not None:
                    values = np.zeros((len(ids), table.values.shape[1]))
                    values[rows] = table.values
                    tables[name] = replace(table, values=values)
            result = replace(result, tables=tables, document_ids=ids, slices={})
        placed[pair] = result
    return placed
