"""Slices: scores for each value of a feature, from the same alignment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corefeval.alignment import Alignment
from corefeval.checks import CROSS
from corefeval.diagnostics import CorefEvalError, Notice, UsageError, plural
from corefeval.metrics import Metric, parse_metrics
from corefeval.metrics.coreference import Counts
from corefeval.metrics.declarations import SAME, Level
from corefeval.model.arrays import ArrayPair, IntArray, stable_order, unset
from corefeval.model.categories import Categories
from corefeval.preparation import Prepared
from corefeval.results import CountTable, Result, Slices
from corefeval.results.rates import rates_of
from corefeval.results.slices import in_order, unlike

if TYPE_CHECKING:
    from corefeval.full_sides import FullSides

NO_VALUE, OTHER = "none", "other"
# Slices by a feature of entities have these metrics, too, whatever was asked for: how many mentions
# and links of each class of entities were found.
ALWAYS_BY_ENTITY = ("mentions", "links")
_ROUNDING = 1e-6
_MOST_VALUES = 500  # counts of more values in each document would fill the memory

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


def list_cuts(metrics: Sequence[Metric], by: Sequence[str]) -> list[Cut]:
    """What to slice by which feature: all metrics by those in `by`, p-link by its own.

    >>> [(cut.feature, cut.level) for cut in list_cuts([Metric.parse("p-link")], ["Genre"])]
    [('genre', 'document')]
    >>> [(cut.feature, cut.level) for cut in list_cuts([Metric.parse("p-link")], [])]
    [('kind', 'mention')]
    """
    if not by and all(metric.by is None for metric in metrics):
        return []
    from corefeval.features import canonical_feature, level_of

    metrics_by_feature: dict[str, dict[Metric, None]] = {}
    features = [canonical_feature(feature) for feature in by]
    for feature in features:
        metrics_by_feature[feature] = dict.fromkeys(metrics)
        if level_of(feature) == "entity":
            always = map(Metric.parse, ALWAYS_BY_ENTITY)
            metrics_by_feature[feature] = dict.fromkeys((*always, *metrics))
    for metric in metrics:
        feature_of_metric = find_feature(metric, features)
        if feature_of_metric:
            metrics_by_feature.setdefault(feature_of_metric, {})[metric] = None
    return [
        Cut(feature, level_of(feature), tuple(chosen))
        for feature, chosen in metrics_by_feature.items()
    ]


def find_feature(metric: Metric, features: Sequence[str]) -> str:
    """The feature by which a metric itself is divided, as p-link is; empty for other metrics.

    A metric that does not name its feature takes the first of `features`, or else kind.
    """
    if metric.by is None:
        return ""
    from corefeval.features import canonical_feature

    return canonical_feature(metric.by or next(iter(features), "kind"))


def slice_result(result: Result, prepared: Prepared, cut: Cut) -> tuple[Slices, list[Notice]]:
    """A result for each value of a feature."""
    if cut.level == "document":
        return _slice_by_document(result, prepared, cut)
    alignment = prepared.alignment
    is_needed = any(m.declaration.beyond and m.divides_by(cut.level) for m in cut.metrics)
    full_sides = alignment.prepared_sides if is_needed else None
    sides = [side.feature(cut.feature) for side in (alignment.key, alignment.response)]
    if full_sides is not None:
        sides = _full_values(prepared, full_sides, cut.feature, sides)
    scored = None if full_sides is None else (full_sides.key.rows, full_sides.response.rows)
    values = _number_values(sides, cut.feature, result.response, scored)
    key, response = values.key, values.response
    if full_sides is not None:
        full_sides = full_sides.with_sides(
            replace(full_sides.key, value=key), replace(full_sides.response, value=response)
        )
        key, response = key[full_sides.key.rows], response[full_sides.response.rows]
    divided = alignment.divided(key, response, len(values.names), full_sides)
    undefined = _find_undefined(alignment, cut)
    metrics = [metric for metric in cut.metrics if str(metric) not in undefined]
    results = _slice_by_value(result, divided, cut.feature, values.names, metrics)
    sizes, special = _count_sizes(alignment, key, cut.level, values.names), values.special
    if full_sides is not None:
        # Mentions that take no part in coreference may have values in which nothing counts.
        present = {*values.key.tolist(), *values.response.tolist()}
        shown = [
            name
            for value, name in enumerate(values.names)
            if value in present or any(t.counted().any() for t in results[name].tables.values())
        ] or values.names[:1]
        results = {name: results[name] for name in shown}
        sizes = {name: sizes[name] for name in shown}
        special = {role: name for role, name in special.items() if name in results}
    tables = {
        str(metric): result.tables.get(str(metric)) or count_table(metric, alignment)
        for metric in metrics
    }
    undivided = _make_slice(result, cut.feature, tables, {str(m): m.title for m in metrics})
    from corefeval.features.statements import ORDERED_VALUES

    slices = Slices(cut.feature, cut.level, undivided, results, sizes, undefined, special)
    return slices.sort_values(ORDERED_VALUES), [*values.notices, *_note_undefined(undefined, cut)]


def _find_undefined(alignment: Alignment, cut: Cut) -> dict[str, str]:
    """The metrics that cannot be divided by a feature, and why."""
    undivided = [metric for metric in cut.metrics if not metric.divides_by(cut.level)]
    with_sets = [
        metric
        for metric in cut.metrics
        if alignment.scores_sets and metric.declaration.with_sets != SAME
    ]
    return {str(metric): f"{metric} {_WHY_NOT[cut.level]}" for metric in undivided} | {
        str(metric): f"{metric} {_WITH_SETS}" for metric in with_sets
    }


def _slice_by_value(
    result: Result, divided: Alignment, feature: str, names: Sequence[str], metrics: list[Metric]
) -> dict[str, Result]:
    """The result of each value, from an alignment whose mentions are divided by it."""
    tables = {str(metric): count_table(metric, divided) for metric in metrics}
    titles = {str(metric): metric.title for metric in metrics}
    return {
        name: _make_slice(
            result,
            f"{feature}={name}",
            {metric: _take_value(table, value, len(names)) for metric, table in tables.items()},
            titles,
        )
        for value, name in enumerate(names)
    }


def count_table(metric: Metric, alignment: Alignment) -> CountTable:
    """A metric's counts: a row for each document, or for each of its groups."""
    shape = metric.shape
    if shape == "mean":
        parts = parse_metrics(", ".join(metric.declaration.parts))
        return CountTable("mean", parts=tuple(str(part.metric) for part in parts))
    counts = metric.count(alignment)
    if not metric.is_own:
        counts = _check_counts(metric, counts, alignment.n_groups)
    values = np.array(list(counts.values())).T.copy()
    if shape == "blanc" and alignment.scores_sets:
        shape = "blanc-of-both"  # key and response can be exchanged: either may have a half
    return CountTable(shape, tuple(counts), values)


def _check_counts(metric: Metric, counts: object, n_groups: int) -> Counts:
    """The counts of a user's metric as arrays; a UsageError if no rates follow from them."""
    try:
        arrays = {name: np.asarray(count, np.float64) for name, count in counts.items()}  # type: ignore[attr-defined]
        rates_of(metric.shape, dict.fromkeys(arrays, np.zeros(1)))
        if all(a.shape == (n_groups,) and np.isfinite(a).all() for a in arrays.values()):
            rates = rates_of(metric.shape, arrays)
            wrong = [f"{name} {a.min():g}" for name, a in arrays.items() if (a < 0).any()]
            high = 1 + _ROUNDING
            wrong += [f"{name} {r.max():g}" for name, r in rates.items() if (r > high).any()]
            if not wrong:
                return arrays
            raise UsageError(
                f"{metric}: its function gives a rate that is not between 0 and 1, or a count "
                f"below 0: {wrong[0]}"
            )
        returned = ", ".join(f"{name} of shape {a.shape}" for name, a in arrays.items())
    except KeyError as error:
        returned = f"{', '.join(map(str, counts)) or 'nothing'}, and none that is called {error}"  # type: ignore[call-overload]
    except (AttributeError, TypeError, ValueError):
        returned = f"{type(counts).__name__} {counts!r:.60}"
    raise UsageError(
        f"{metric}: its function returns no counts of the shape {metric.shape!r}: expected "
        f"{'recall and precision, or ' if metric.shape == 'ratio' else ''}a mapping from names to "
        f"arrays of {n_groups} finite numbers (alignment.n_groups), found {returned}"
    )


def _note_undefined(undefined: dict[str, str], cut: Cut) -> list[Notice]:
    """A notice for each reason why metrics are not defined by a feature."""
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


def _make_slice(
    result: Result, label: str, tables: dict[str, CountTable], titles: dict[str, str]
) -> Result:
    """The result with other tables; `label` is a feature, or `feature=value`, for the signature."""
    return replace(
        result,
        tables=tables,
        protocol=result.protocol.but(slice=label),
        notices=(),
        slices={},
        titles={**result.titles, **titles},
    )


def _take_value(table: CountTable, value: int, n_values: int) -> CountTable:
    """The rows of one value, of a table with a row for each document and value."""
    if table.values is None:
        return table
    return replace(table, values=table.values[value::n_values])


class _Values(NamedTuple):
    """The values of both sides' mentions, as indices of `names`.

    `special` are the names among them that stand for no value, or for all rare values.
    """

    key: IntArray
    response: IntArray
    names: tuple[str, ...]
    special: dict[str, str]
    notices: list[Notice]


def _full_values(
    prepared: Prepared, full_sides: FullSides, feature: str, scored: Sequence[Categories]
) -> list[Categories]:
    """The values of all mentions of both sides, also of those that are no part of coreference.

    Mentions that are scored keep the values in `scored`, except for features of bridging relations:
    antecedents may be no part of coreference, so these are looked up in the full corpus.
    """
    full_values = []
    features = prepared.key_features, prepared.response_features
    for side, lookup, scored_values in zip(full_sides, features, scored, strict=True):
        try:
            values = lookup.of(side.corpus)(feature)
        except CorefEvalError:  # the caller stated values of scored mentions alone
            values = Categories(unset(side.corpus.n_mentions), ())
        if "relation" not in feature.split(CROSS):
            rows = len(scored_values) + np.arange(len(values))
            rows[side.rows] = np.arange(len(scored_values))
            values = Categories.concatenate(scored_values, values).take(rows)
        full_values.append(values)
    return full_values


def _number_values(
    both_sides: Sequence[Categories],
    feature: str,
    name: str,
    scored: ArrayPair | None = None,
) -> _Values:
    """The value of each mention of both sides, as numbers of common names.

    `scored` are the mentions of either side that are part of coreference, if not all are.
    """
    key, response = both_sides
    names = in_order((*key.names, *response.names), feature)
    sides = [side.recoded(names).codes for side in (key, response)]
    all_codes = np.concatenate(sides)
    present = np.bincount(all_codes[all_codes >= 0], minlength=len(names))
    kept = np.flatnonzero(present)
    notices = []
    if kept.size > _MOST_VALUES:
        kept = np.sort(stable_order(-present)[:_MOST_VALUES])
        rare = int(np.count_nonzero(present)) - kept.size
        message = (
            f"{feature} has many values: {plural(rare, 'rare one')} are put together as ‘{OTHER}’"
        )
        notices.append(Notice("rare-values", message, rare))
    # The number of each name, and at the end that of −1, which is no value.
    new_numbers = np.full(len(names) + 1, kept.size, dtype=np.int64)
    new_numbers[kept] = np.arange(kept.size)
    stated = [_one_line(names[index]) for index in kept.tolist()]
    special = {}
    if notices:
        special[OTHER] = unlike(stated, OTHER)
        new_numbers[-1] = kept.size + 1
    in_key, in_response = sides if scored is None else (sides[0][scored[0]], sides[1][scored[1]])
    without = int(np.count_nonzero(in_response < 0))
    if without and not bool((in_key < 0).any()):
        text = f"{name or 'response'}: {{n}} have no {feature}, and count as ‘{NO_VALUE}’, not "
        text += "against the precision of other values"
        notices.append(Notice("no-value", text, without, noun="mention"))
    if bool((all_codes < 0).any()) or not stated:
        special[NO_VALUE] = unlike(stated, NO_VALUE)
    shown = (*stated, *special.values())
    return _Values(new_numbers[sides[0]], new_numbers[sides[1]], shown, special, notices)


def _one_line(name: str) -> str:
    """A value on one line, as tables need it."""
    visible = re.sub(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", lambda m: ascii(m[0])[1:-1], name)
    return visible or "(empty)"


def _count_sizes(
    alignment: Alignment, values: IntArray, level: Level, names: tuple[str, ...]
) -> dict[str, int]:
    """How many of the key's mentions or entities have each value."""
    key = alignment.key
    counted = values
    if level == "entity":
        _, first = np.unique(key.mention_entity, return_index=True)
        counted = values[first]
    numbers = np.bincount(counted, minlength=len(names)).tolist()
    return dict(zip(names, numbers, strict=True))


def _slice_by_document(result: Result, prepared: Prepared, cut: Cut) -> tuple[Slices, list[Notice]]:
    """Documents grouped by the value that their mentions have; every metric is defined."""
    document_values = _document_values(prepared, cut.feature)
    names = [None if value is None else _one_line(value) for value in document_values]
    stated = [name for name in names if name is not None]
    special = {NO_VALUE: unlike(stated, NO_VALUE)} if None in names else {}
    values = [special[NO_VALUE] if name is None else name for name in names]
    chosen = {str(metric): metric for metric in cut.metrics}
    results = {}
    sizes = {}
    for value in (*in_order(stated, cut.feature), *special.values()):
        rows = [row for row, row_value in enumerate(values) if row_value == value]
        tables = {
            metric: replace(table, values=table.values[rows], by="")
            if table.values is not None
            else table
            for metric, table in result.tables.items()
            if metric in chosen
        }
        part = _make_slice(result, f"{cut.feature}={value}", tables, {})
        identifiers = tuple(result.document_ids[row] for row in rows)
        results[value] = replace(part, document_ids=identifiers)
        sizes[value] = len(rows)
    tables = {metric: result.tables[metric] for metric in chosen}
    undivided = _make_slice(result, cut.feature, tables, {})
    return Slices(cut.feature, "document", undivided, results, sizes, {}, special), []


def _document_values(prepared: Prepared, feature: str) -> list[str | None]:
    """The value of each document: as the key's features have it, else the response's."""
    of_key = prepared.key_features.of_documents(feature)
    of_response = prepared.response_features.of_documents(feature)
    return [
        value if value is not None else fallback
        for value, fallback in zip(of_key, of_response, strict=True)
    ]
