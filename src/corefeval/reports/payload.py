"""What the page shows, as plain values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corefeval._version import __version__
from corefeval.analysis.errors import KINDS, SUMMARIES, ErrorAnalysis
from corefeval.diagnostics import Notice
from corefeval.display import visible
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray
from corefeval.reports.costs import Costs, costs, points_lost
from corefeval.reports.figures import difference_figures, error_figures, overview, slice_figures
from corefeval.reports.mentions import key_documents, response_documents
from corefeval.reports.texts import Positions, positions
from corefeval.results import Result

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Scored:
    """One response: its name, its scores with slices and intervals, and its errors."""

    name: str
    result: Result
    analysis: ErrorAnalysis


def payload(systems: Sequence[Scored], *, text: bool, title: str, seed: int = 0) -> Json:
    """Everything that the page shows.

    Numbers of mentions, entities and tokens are by document, from 0. `texts` has the documents of
    each *version* of the key: mostly there is one for all responses, but where empty nodes are left
    out, what is left of the key depends on the response.
    """
    versions = _versions(systems)
    texts, responses = [], []
    places: list[Positions] = []
    for members in versions:
        errors = [systems[member].analysis.classification for member in members]
        place = positions(errors[0].key, [one.response for one in errors], text=text)
        places.append(place)
        texts.append(key_documents(errors[0], place, text=text))
    for number, one in enumerate(systems):
        version = next(v for v, members in enumerate(versions) if number in members)
        shares = costs(one.analysis)
        responses.append(_response(one, version, places[version], shares, text=text))
    results = [one.result for one in systems]
    page = {
        "title": title,
        "version": __version__,
        "text": text,
        "kinds": [{"name": kind, "summary": SUMMARIES[kind]} for kind in KINDS],
        **overview(results),
        "differences": difference_figures(
            {one.name: one.result for one in systems}, ci=results[0].ci, seed=seed
        ),
        "slices": slice_figures(results),
        "texts": texts,
        "systems": responses,
    }
    return {name: _seen(value) for name, value in page.items()}


def _seen(value: Any) -> Any:
    """The same with text that only shows: this is where it leaves for a screen."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: _seen(one) for name, one in value.items()}
    if isinstance(value, list) and value and not isinstance(value[0], int | float):
        return [_seen(one) for one in value]
    return value


def _response(one: Scored, version: int, place: Positions, shares: Costs, *, text: bool) -> Json:
    errors = one.analysis.classification
    return {
        "name": one.name,
        "version": version,
        "signature": one.result.signature,
        "notices": [str(notice) for notice in shown_notices(one)],
        "errors": error_figures(one.analysis),
        "lost": points_lost(one.analysis),
        "documents": response_documents(errors, place, shares, text=text),
    }


def shown_notices(one: Scored) -> list[Notice]:
    """What was dropped, repaired or left out; the charts say themselves what has no slices."""
    told = (*one.result.notices, *one.analysis.notices)
    return list({str(n): n for n in told if n.kind != "undefined-slice"}.values())


def _versions(systems: Sequence[Scored]) -> list[list[int]]:
    """The numbers of the responses that have the same key."""
    versions: list[list[int]] = []
    for number, one in enumerate(systems):
        key = one.analysis.classification.key
        for members in versions:
            if _same(systems[members[0]].analysis.classification.key, key):
                members.append(number)
                break
        else:
            versions.append([number])
    return versions


def _same(one: Corpus, other: Corpus) -> bool:
    if one is other:
        return True
    if one.labels != other.labels:
        return False
    counts = [side.tokens.counts if side.tokens is not None else None for side in (one, other)]
    if not _equal(*counts):
        return False
    return all(
        _equal(getattr(one, name), getattr(other, name))
        for name in ("mention_entity", "mention_start", "mention_end", "gaps", "entity_document")
    )


def _equal(one: IntArray | None, other: IntArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
