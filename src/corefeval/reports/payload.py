"""What the page shows, as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from corefeval._version import __version__
from corefeval.analysis.errors import KINDS, SUMMARIES, ErrorAnalysis
from corefeval.analysis.errors.classification import Classification
from corefeval.diagnostics import CorefEvalError, Notice, excerpt
from corefeval.display import are_same, visible
from corefeval.full_sides import FullSide
from corefeval.metrics.anaphora import right_pairs
from corefeval.model import Corpus
from corefeval.model.arrays import (
    BoolArray,
    FloatArray,
    find_places,
    plain_rows,
    set_rows,
)
from corefeval.model.relations import bridging_pairs, find_elements
from corefeval.reports.documents import (
    Positions,
    find_positions,
    join_fields,
    key_documents,
    response_documents,
    share_costs,
    show_sides,
)
from corefeval.results import CountTable, Result, Score
from corefeval.results.rates import rates_of
from corefeval.results.slices import all_values
from corefeval.stats import PairDifference, compare

if TYPE_CHECKING:
    from corefeval.analysis.explanation import Sensitivity

Json = dict[str, Any]
_RATES = ("recall", "precision", "f1")


@dataclass(frozen=True, eq=False)
class Scored:
    """One response: its name, its scores with slices and intervals, and its errors."""

    name: str
    result: Result
    analysis: ErrorAnalysis


def make_payload(systems: Sequence[Scored], *, text: bool, title: str, seed: int = 0) -> Json:
    """Everything that the page shows.

    Numbers of mentions, entities and tokens are by document, from 0. `texts` has the documents of
    each *version* of the key: mostly there is one for all responses, but where empty nodes are left
    out, what is left of the key depends on the response.
    """
    versions = _group_by_key(systems)
    texts, responses = [], []
    places: list[Positions] = []
    for members in versions:
        errors = [systems[member].analysis.classification for member in members]
        sides = [show_sides(classification) for classification in errors]
        place = find_positions(sides[0][0], [response for _, response in sides], text=text)
        places.append(place)
        shown = key_documents(errors[0], place, text=text)
        texts.append(join_fields(shown, _describe_relations(errors[0])[0]))
    for number, scored in enumerate(systems):
        version = next(v for v, members in enumerate(versions) if number in members)
        responses.append(_describe_response(scored, version, places[version], text=text))
    results = [scored.result for scored in systems]
    page = {
        "title": title,
        "version": __version__,
        "text": text,
        "kinds": [{"name": kind, "summary": SUMMARIES[kind]} for kind in KINDS],
        **_describe_scores(results),
        **_describe_differences(
            {scored.name: scored.result for scored in systems}, ci=results[0].ci, seed=seed
        ),
        "slices": _describe_slices(results),
        "texts": texts,
        "systems": responses,
    }
    return {name: make_visible(value) for name, value in page.items()}


def make_visible(value: Any) -> Any:
    """The value with every text in it made visible: no character in it acts on a screen."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: make_visible(member) for name, member in value.items()}
    if isinstance(value, list) and value and not isinstance(value[0], int | float):
        return [make_visible(member) for member in value]
    return value


def _describe_response(scored: Scored, version: int, place: Positions, *, text: bool) -> Json:
    """Everything that the page has of one response."""
    errors = scored.analysis.classification
    return {
        "name": scored.name,
        "version": version,
        "signature": scored.result.signature,
        "notices": [
            *(str(notice) for notice in collect_notices(scored)),
            *(_describe_written(errors.response) if text else ()),
        ],
        "errors": _describe_errors(scored.analysis),
        "lost": _count_lost_points(scored.analysis),
        "documents": join_fields(
            response_documents(errors, place, share_costs(scored.analysis), text=text),
            _describe_relations(errors)[1],
        ),
    }


def _describe_relations(errors: Classification) -> tuple[list[Json], list[Json]]:
    """Of each document of the key and of the response its sets and bridging, where it has any.

    `sets` are an entity and its elements; `bridging` an anaphor, its antecedent, the relation and,
    in the response, whether it is right at the level of entities. Entities and mentions have the
    numbers that the page gives them; what is not scored is left out.
    """
    full_sides = errors.alignment.prepared_sides
    if full_sides is None:
        return [{} for _ in errors.key.documents], [{} for _ in errors.response.documents]
    return (
        _describe_side(full_sides.key, errors.key, None),
        _describe_side(full_sides.response, errors.response, right_pairs(errors.alignment)),
    )


def _describe_side(side: FullSide, scored: Corpus, right: BoolArray | None) -> list[Json]:
    """Sets and bridging of each document of a side; `right` are the pairs that the key has."""
    shown: list[Json] = [{} for _ in scored.documents]
    row = find_places(side.rows, side.corpus.n_mentions + 1)
    document = side.corpus.entity_document
    entities, rows = np.unique(side.corpus.mention_entity, return_index=True)
    owner = set_rows(entities, side.entity[rows], side.corpus.n_entities)
    for set_entity, parts in find_elements(side.corpus).items():
        elements = [int(owner[part]) for part in sorted(parts) if owner[part] >= 0]
        if owner[set_entity] >= 0 and elements:
            index = int(document[set_entity])
            shift = int(scored.entity_offsets[index])
            numbers = [
                int(owner[set_entity]) - shift,
                sorted({element - shift for element in elements}),
            ]
            shown[index].setdefault("sets", []).append(numbers)
    pairs = bridging_pairs(side.corpus)
    marks = [None] * pairs.anaphor.size if right is None else right
    owners = side.corpus.mention_document[pairs.anaphor]
    columns = (row[pairs.anaphor], row[pairs.antecedent], pairs.label.values(), marks, owners)
    for anaphor, antecedent, label, mark, index in plain_rows(*columns):
        if anaphor >= 0 and antecedent >= 0:
            shift = int(scored.mention_offsets[index])
            numbers = [anaphor - shift, antecedent - shift, label or ""]
            shown[index].setdefault("bridging", []).append(
                numbers + ([] if mark is None else [mark])
            )
    return shown


_SHOWN = 50  # sentences on mentions that a model wrote in its own words


def _describe_written(response: Corpus) -> Iterator[str]:
    """A sentence for each mention that a language model wrote otherwise than the text has it."""
    ledger = response.ledger
    entries = (
        [] if ledger is None else [e for e in ledger.entries if e.state in ("changed", "lost")]
    )
    has_words = response.tokens is not None and "word" in response.tokens.columns
    for entry in entries[:_SHOWN]:
        where = "elsewhere" if entry.is_placed else "nowhere"
        if entry.is_placed and has_words:
            words = response[entry.document].words[entry.start : entry.end]
            where = f"for {excerpt(' '.join(words))}"
        yield f"{entry.document}: {excerpt(entry.written)} was written {where} ({entry.why})"
    if len(entries) > _SHOWN:
        yield f"and {len(entries) - _SHOWN:,} more mentions: corefeval check lists them"


def collect_notices(scored: Scored) -> list[Notice]:
    """What was dropped, repaired or left out; the charts themselves show undefined slices."""
    notices = (*scored.result.notices, *scored.analysis.notices)
    return list({str(n): n for n in notices if n.kind != "undefined-slice"}.values())


def _group_by_key(systems: Sequence[Scored]) -> list[list[int]]:
    """The numbers of the responses that have the same key."""
    versions: list[list[int]] = []
    for number, scored in enumerate(systems):
        key, _ = show_sides(scored.analysis.classification)
        for members in versions:
            if _have_equal_keys(show_sides(systems[members[0]].analysis.classification)[0], key):
                members.append(number)
                break
        else:
            versions.append([number])
    return versions


def _have_equal_keys(first: Corpus, second: Corpus) -> bool:
    names = ("mention_entity", "mention_start", "mention_end", "gaps", "entity_document", "labels")
    sides = [
        [None if side.tokens is None else side.tokens.counts, *(getattr(side, n) for n in names)]
        for side in (first, second)
    ]
    return first is second or are_same(*sides)


def _describe_scores(results: Sequence[Result]) -> Json:
    """Documents, metrics and scores; `scores` by metric and response, `byDocument` likewise."""
    first = results[0]
    metrics = [metric for metric in first.metrics if all(metric in result for result in results)]
    titles = first.titles
    return {
        "documents": list(first.document_ids),
        "ci": None if first.segment_rates else first.ci,
        "metrics": [{"name": name, "title": titles.get(name, name)} for name in metrics],
        "scores": {
            metric: [_describe_score(result[metric]) for result in results] for metric in metrics
        },
        "byDocument": {
            metric: [_round_document_rates(result, metric) for result in results]
            for metric in metrics
        },
    }


def _describe_score(score: Score) -> Json:
    shown: Json = {name: _round(score.rates[name]) for name in _RATES if name in score.rates}
    intervals = {n: list(map(_round, score.intervals[n])) for n in _RATES if n in score.intervals}
    return {**shown, "intervals": intervals} if intervals else shown


def _round_document_rates(result: Result, metric: str) -> Json:
    """Each document's rates on its own counts: a list per rate."""
    rates = result.document_rates[metric]
    return {name: np.round(rates[name], 8).tolist() for name in _RATES if name in rates}


def _describe_slices(results: Sequence[Result]) -> list[Json]:
    """For each feature its values, and for each metric a score by response and value.

    A value that a response does not have has no score there: None.
    """
    features = dict.fromkeys(name for result in results for name in result.slices)
    shown = []
    for feature in features:
        slices = [result.slices.get(feature) for result in results]
        present = [sliced for sliced in slices if sliced is not None]
        values = all_values(present)
        metrics = dict.fromkeys(metric for sliced in present for metric in sliced.whole.metrics)
        sizes = {value: max(sliced.sizes.get(value, 0) for sliced in present) for value in values}
        shown.append(
            {
                "feature": feature,
                "level": present[0].level,
                "values": [{"name": value, "size": sizes[value]} for value in values],
                "scores": {
                    metric: [
                        [
                            _describe_score(sliced[value][metric])
                            if sliced is not None and value in sliced and metric in sliced[value]
                            else None
                            for value in values
                        ]
                        for sliced in slices
                    ]
                    for metric in metrics
                },
            }
        )
    return shown


def _describe_differences(results: Mapping[str, Result], *, ci: float | None, seed: int) -> Json:
    """F1 of each response less that of each other, with interval and p; none for one document.

    `ranks` are by metric and response; None for a response that was compared with no other.
    """
    names = list(results)
    pairs: list[PairDifference] = []
    ranks: dict[str, list[int | None]] = {}
    for match in dict.fromkeys(result.protocol.match for result in results.values()):
        alike = {name: result for name, result in results.items() if result.protocol.match == match}
        if len(alike) < 2 or ci is None:
            continue
        with suppress(CorefEvalError):  # a single document, or nothing to resample
            compared = compare(alike, level=ci, seed=seed)
            pairs += compared.pairs
            for metric in compared.metrics:
                metric_ranks = ranks.setdefault(metric, [None] * len(names))
                for name, rank in compared.ranks(metric).items():
                    metric_ranks[names.index(name)] = rank
    differences = [
        {
            "metric": pair.metric,
            "first": names.index(pair.first),
            "second": names.index(pair.second),
            "difference": _round(pair.difference),
            "interval": list(map(_round, pair.interval)),
            "p": _round(pair.p),
            "adjusted": _round(pair.adjusted_p),
        }
        for pair in pairs
    ]
    return {"differences": differences, "ranks": ranks}


def describe_choices(sensitivity: Sensitivity) -> Json:
    """What each value of a choice is worth by response and metric; which change an order."""
    record: Json = {
        "metrics": [
            {"name": name, "title": sensitivity.titles.get(name, name)}
            for name in sensitivity.metrics
        ],
        "effects": [
            {
                "name": effect.name,
                "points": {
                    name: {m: None if p is None else _round(p) for m, p in points.items()}
                    for name, points in zip(sensitivity.responses, effect.points, strict=True)
                },
            }
            for effect in sensitivity.effects
            if effect.is_shown
        ],
        "quiet": sensitivity.without_effect,
        "refusals": sensitivity.refused,
        "turns": sensitivity.turned,
    }
    return {name: make_visible(value) for name, value in record.items()}


def _describe_errors(analysis: ErrorAnalysis) -> Json:
    """What kinds of errors there are and cost, by document too; links by kinds of mentions."""
    return {
        "kinds": [
            {
                "count": row.count,
                "alone": {metric: _round(gain) for metric, gain in row.alone.items()},
                "inTurn": {metric: _round(gain) for metric, gain in row.in_turn.items()},
            }
            for row in analysis.kinds
        ],
        "byDocument": [counts.tolist() for counts in analysis.counts.values()],
        "links": [row.as_dict() for row in analysis.links],
    }


def _round(value: float) -> float:
    return round(float(value), 8)


def _count_lost_points(analysis: ErrorAnalysis) -> dict[str, list[float]]:
    """For each metric, how much F1 would gain if a document were perfect; a number per document."""
    perfect = analysis.in_turn[KINDS[-1]]
    gains: dict[str, FloatArray] = {}
    for metric, table in analysis.result.tables.items():
        if table.parts:
            gains[metric] = np.mean([gains[part] for part in table.parts], axis=0)
        else:
            gains[metric] = _measure_gain(analysis.result, table, perfect.tables[metric])
    return {metric: np.round(gain, 6).tolist() for metric, gain in gains.items()}


def _measure_gain(result: Result, table: CountTable, perfect: CountTable) -> FloatArray:
    rates = partial(rates_of, table.shape, undefined=result.protocol.undefined)
    columns, best = table.columns(), perfect.columns()
    instead: Mapping[str, Any] = {
        name: columns[name].sum() - columns[name] + best[name] for name in columns
    }
    now = rates({name: column.sum() for name, column in columns.items()})["f1"]
    gain: FloatArray = np.maximum(rates(instead)["f1"] - now, 0.0)
    return gain
