"""Slices: scores for each value of a feature, from the same alignment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corefeval.alignment import Alignment
from corefeval.diagnostics import CorefEvalError, Notice, UsageError, plural
from corefeval.metrics import Metric, parse_metrics
from corefeval.metrics.counting import Counts
from corefeval.metrics.declarations import SAME, Level
from corefeval.model.arrays import IntArray
from corefeval.model.categories import Categories
from corefeval.preparation import Prepared
from corefeval.results import CountTable, Result, Slices
from corefeval.results.rates import rates_of
from corefeval.results.slices import in_order, unlike
from corefeval.syntax import CROSS

if TYPE_CHECKING:
    from corefeval.beyond import Beyond

NO_VALUE, OTHER = "none", "other"
# Beside the metrics that were asked for, slices of entities say how many mentions and links of
# each class were found.
ALWAYS_BY_ENTITY = ("mentions", "links")
_ROUNDING = 1e-6
_MOST_VALUES = 500  # per-document counts of more would fill the memory for nobody to read

_WHY_NOT = {
    "entity": "cannot be divided among entities",
    "mention": "cannot be divided among mentions",
}
# A set belongs to several entities at once, and is no mention.
_WITH_SETS = "cannot be divided where sets of antecedents count: use --split off"


class Cut(NamedTuple):
    """A feature to slice by, and the metrics to slice."""

    feature: str
    level: Level
    metrics: tuple[Metric, ...]


def cuts(metrics: Sequence[Metric], by: Sequence[str]) -> list[Cut]:
    """What is to be sliced by what: all metrics by what was asked for, p-link by its own feature.

    >>> [(cut.feature, cut.level) for cut in cuts([Metric.parse("p-link")], ["Genre"])]
    [('genre', 'document')]
    >>> [(cut.feature, cut.level) for cut in cuts([Metric.parse("p-link")], [])]
    [('kind', 'mention')]
    """
    if not by and all(metric.by is None for metric in metrics):
        return []
    from corefeval.features import canonical_feature, level_of

    found: dict[str, dict[Metric, None]] = {}
    features = [canonical_feature(feature) for feature in by]
    for feature in features:
        found[feature] = dict.fromkeys(metrics)
        if level_of(feature) == "entity":
            always = map(Metric.parse, ALWAYS_BY_ENTITY)
            found[feature] = dict.fromkeys((*always, *metrics))
    for metric in metrics:
        own = own_feature(metric, features)
        if own:
            found.setdefault(own, {})[metric] = None
    return [Cut(feature, level_of(feature), tuple(chosen)) for feature, chosen in found.items()]


def own_feature(metric: Metric, features: Sequence[str]) -> str:
    """The feature that a metric goes by itself; nothing for one that goes by none.

    One that was not told goes by the first feature that scores are asked for by, else by kind.
    """
    if metric.by is None:
        return ""
    from corefeval.features import canonical_feature

    return canonical_feature(metric.by or next(iter(features), "kind"))


def slice_result(result: Result, prepared: Prepared, cut: Cut) -> tuple[Slices, list[Notice]]:
    """A result for each value of a feature."""
    if cut.level == "document":
        return _by_document(result, prepared, cut)
    alignment = prepared.alignment
    looks_beyond = any(m.declaration.beyond and m.divides_by(cut.level) for m in cut.metrics)
    aside = alignment.aside if looks_beyond else None
    sides = [side.feature(cut.feature) for side in (alignment.key, alignment.response)]
    if aside is not None:
        sides = _beyond(prepared, aside, cut.feature, sides)
    scored = None if aside is None else (aside.key.rows, aside.response.rows)
    values = _values(sides, cut.feature, result.response, scored)
    key, response, names = values.key, values.response, values.names
    if aside is not None:
        own = replace(aside.key, value=key), replace(aside.response, value=response)
        key, response = key[aside.key.rows], response[aside.response.rows]
        aside = aside.with_sides(*own)
    divided = alignment.divided(key, response, len(names), aside)
    undefined = {
        str(metric): f"{metric} {_WHY_NOT[cut.level]}"
        for metric in cut.metrics
        if not metric.divides_by(cut.level)
    } | {
        str(metric): f"{metric} {_WITH_SETS}"
        for metric in cut.metrics
        if alignment.scores_sets and metric.declaration.with_sets != SAME
    }
    metrics = [metric for metric in cut.metrics if str(metric) not in undefined]
    tables = {str(metric): count_table(metric, divided) for metric in metrics}
    titles = {str(metric): metric.title for metric in metrics}
    whole = _slice(
        result,
        cut.feature,
        {
            str(metric): result.tables.get(str(metric)) or count_table(metric, alignment)
            for metric in metrics
        },
        titles,
    )
    results = {
        name: _slice(
            result,
            f"{cut.feature}={name}",
            {metric: _part(table, value, len(names)) for metric, table in tables.items()},
            titles,
        )
        for value, name in enumerate(names)
    }
    sizes, special = _sizes(alignment, key, cut.level, names), values.special
    if aside is not None:  # what is no part of coreference has values that may count for nothing
        there = {*key.tolist(), *response.tolist()}
        shown = [
            name
            for value, name in enumerate(names)
            if value in there or any(t.counted().any() for t in results[name].tables.values())
        ] or names[:1]
        results, sizes = {n: results[n] for n in shown}, {n: sizes[n] for n in shown}
        special = {role: name for role, name in special.items() if name in results}
    from corefeval.features.statements import ORDERED_VALUES

    slices = Slices(cut.feature, cut.level, whole, results, sizes, undefined, special)
    return slices.sort_values(ORDERED_VALUES), [
        *values.notices,
        *_explain(undefined, cut),
    ]


def count_table(metric: Metric, alignment: Alignment) -> CountTable:
    """A metric's counts: a row for each document, or for each of its groups."""
    shape = metric.shape
    if shape == "mean":
        parts = parse_metrics(", ".join(metric.declaration.parts))
        return CountTable("mean", parts=tuple(str(one.metric) for one in parts))
    counts = metric.count(alignment)
    if not metric.is_own:
        counts = _check(metric, counts, alignment.n_groups)
    values = np.array(list(counts.values())).T.copy()
    if shape == "blanc" and alignment.scores_sets:
        shape = "blanc-of-both"  # either side says which halves there are: they can be exchanged
    return CountTable(shape, tuple(counts), values)


def _check(metric: Metric, counts: object, n_groups: int) -> Counts:
    """The counts; an error where somebody's own metric gives what no rates can be made of."""
    try:
        arrays = {name: np.asarray(one, np.float64) for name, one in counts.items()}  # type: ignore[attr-defined]
        rates_of(metric.shape, dict.fromkeys(arrays, np.zeros(1)))
        if all(one.shape == (n_groups,) and np.isfinite(one).all() for one in arrays.values()):
            rates = rates_of(metric.shape, arrays)
            wrong = [f"{name} {one.min():g}" for name, one in arrays.items() if (one < 0).any()]
            high = 1 + _ROUNDING
            wrong += [f"{name} {one.max():g}" for name, one in rates.items() if (one > high).any()]
            if not wrong:
                return arrays
            raise UsageError(
                f"{metric}: its function gives a rate that is not between 0 and 1, or a count "
                f"below 0: {wrong[0]}"
            )
        found = ", ".join(f"{name} of shape {one.shape}" for name, one in arrays.items())
    except KeyError as error:
        found = f"{', '.join(map(str, counts)) or 'nothing'}, and none that is called {error}"  # type: ignore[call-overload]
    except (AttributeError, TypeError, ValueError):
        found = f"{type(counts).__name__} {counts!r:.60}"
    raise UsageError(
        f"{metric}: its function returns no counts of the shape {metric.shape!r}: expected "
        f"{'recall and precision, or ' if metric.shape == 'ratio' else ''}a mapping from names to "
        f"arrays of {n_groups} finite numbers (alignment.n_groups), found {found}"
    )


def _explain(undefined: dict[str, str], cut: Cut) -> list[Notice]:
    reasons: dict[str, list[str]] = {}
    for metric, text in undefined.items():
        reasons.setdefault(text.removeprefix(f"{metric} "), []).append(metric)
    return [
        Notice(
            "undefined-slice",
            f"not defined by {cut.feature}: {', '.join(metrics)} ({why})",
            len(metrics),
            tuple(metrics),
        )
        for why, metrics in reasons.items()
    ]


def _slice(
    result: Result, which: str, tables: dict[str, CountTable], titles: dict[str, str]
) -> Result:
    return replace(
        result,
        tables=tables,
        protocol=result.protocol.but(slice=which),
        notices=(),
        slices={},
        titles={**result.titles, **titles},
    )


def _part(table: CountTable, value: int, n_values: int) -> CountTable:
    if table.values is None:
        return table
    return replace(table, values=table.values[value::n_values])


class _Values(NamedTuple):
    """The value of each mention of both sides, as numbers of names; `special` are no values."""

    key: IntArray
    response: IntArray
    names: tuple[str, ...]
    special: dict[str, str]
    notices: list[Notice]


def _beyond(
    prepared: Prepared, aside: Beyond, feature: str, scored: Sequence[Categories]
) -> list[Categories]:
    """The values of all mentions of both sides, those that are no part of coreference too.

    What is scored has the values that it has there. Bridging is looked for in all there is, as
    antecedents may be no part of coreference.
    """
    found = []
    features = prepared.key_features, prepared.response_features
    for side, lookup, values in zip(aside, features, scored, strict=True):
        try:
            known = lookup.of(side.corpus)(feature)
        except CorefEvalError:  # stated of what is scored alone
            known = Categories(np.full(side.corpus.n_mentions, -1), ())
        if "relation" not in feature.split(CROSS):
            rows = len(values) + np.arange(len(known))
            rows[side.rows] = np.arange(len(values))
            known = Categories.concatenate(values, known).take(rows)
        found.append(known)
    return found


def _values(
    both_sides: Sequence[Categories],
    feature: str,
    name: str,
    scored: tuple[IntArray, IntArray] | None = None,
) -> _Values:
    """The value of each mention of both sides, as numbers of common names.

    `scored` are the mentions of either side that are part of coreference, if not all are.
    """
    key, response = both_sides
    names = in_order((*key.names, *response.names), feature)
    sides = [side.recoded(names).codes for side in (key, response)]
    both = np.concatenate(sides)
    present = np.bincount(both[both >= 0], minlength=len(names))
    kept = np.flatnonzero(present)
    notices = []
    if kept.size > _MOST_VALUES:
        kept = np.sort(np.argsort(-present, kind="stable")[:_MOST_VALUES])
        rare = int(np.count_nonzero(present)) - kept.size
        message = (
            f"{feature} has many values: {plural(rare, 'rare one')} are put together as ‘{OTHER}’"
        )
        notices.append(Notice("rare-values", message, rare))
    new = np.full(len(names) + 1, kept.size, dtype=np.int64)
    new[kept] = np.arange(kept.size)
    stated = [_one_line(names[index]) for index in kept.tolist()]
    special = {}
    if notices:
        special[OTHER] = unlike(stated, OTHER)
        new[-1] = kept.size + 1
    missing = bool((both < 0).any())
    own = sides if scored is None else [one[rows] for one, rows in zip(sides, scored, strict=True)]
    without = int(np.count_nonzero(own[1] < 0))
    if without and not bool((own[0] < 0).any()):
        text = f"{name or 'response'}: {{n}} have no {feature}, and count as ‘{NO_VALUE}’, not "
        text += "against the precision of other values"
        notices.append(Notice("no-value", text, without, noun="mention"))
    if missing or not stated:
        special[NO_VALUE] = unlike(stated, NO_VALUE)
    shown = (*stated, *special.values())
    return _Values(new[sides[0]], new[sides[1]], shown, special, notices)


def _one_line(name: str) -> str:
    """A value as tables can have it."""
    visible = re.sub(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", lambda m: ascii(m[0])[1:-1], name)
    return visible or "(empty)"


def _sizes(
    alignment: Alignment, values: IntArray, level: Level, names: tuple[str, ...]
) -> dict[str, int]:
    """How many of the key's mentions or entities have each value."""
    key = alignment.key
    counted = values
    if level == "entity":
        _, first = np.unique(key.mention_entity, return_index=True)
        counted = values[first]
    found = np.bincount(counted, minlength=len(names)).tolist()
    return dict(zip(names, found, strict=True))


def _by_document(result: Result, prepared: Prepared, cut: Cut) -> tuple[Slices, list[Notice]]:
    """Documents grouped by the value that their mentions have; every metric is defined."""
    found = _document_values(prepared, cut.feature)
    names = [None if value is None else _one_line(value) for value in found]
    stated = [name for name in names if name is not None]
    special = {NO_VALUE: unlike(stated, NO_VALUE)} if None in names else {}
    values = [special[NO_VALUE] if name is None else name for name in names]
    chosen = {str(metric): metric for metric in cut.metrics}
    results = {}
    sizes = {}
    for value in (*in_order(stated, cut.feature), *special.values()):
        rows = [row for row, one in enumerate(values) if one == value]
        tables = {
            metric: replace(table, values=table.values[rows], by="")
            if table.values is not None
            else table
            for metric, table in result.tables.items()
            if metric in chosen
        }
        part = _slice(result, f"{cut.feature}={value}", tables, {})
        identifiers = tuple(result.document_ids[row] for row in rows)
        results[value] = replace(part, document_ids=identifiers)
        sizes[value] = len(rows)
    tables = {metric: result.tables[metric] for metric in chosen}
    whole = _slice(result, cut.feature, tables, {})
    return Slices(cut.feature, "document", whole, results, sizes, {}, special), []


def _document_values(prepared: Prepared, feature: str) -> list[str | None]:
    """The value of each document: as the key's features have it, else the response's."""
    mine = prepared.key_features.of_documents(feature)
    theirs = prepared.response_features.of_documents(feature)
    return [
        value if value is not None else other for value, other in zip(mine, theirs, strict=True)
    ]
