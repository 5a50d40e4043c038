"""Responses that are wrong in one way: a split, extra mentions, nothing or everything linked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np

from corefeval.lab.additions import add_extra_mentions
from corefeval.lab.declarations import drop_repeats
from corefeval.lab.experiments import (
    TINY,
    Chart,
    Encoding,
    ExperimentResult,
    Row,
    Setup,
    Statement,
    check_claims,
    find_number,
    find_title,
    percent,
)
from corefeval.lab.measurement import THE_SIX, Measurement, moosavi_strube_key, noisy_response
from corefeval.lab.perturbations import all_singletons, one_entity, split_entity
from corefeval.model import Corpus

# The errors of which the paper's text speaks, and some between them.
SPLITS = (
    *((2, 2), (3, 2), (8, 2), (5, 5), (5, 3, 2)),
    *((18, 2), (16, 4), (10, 10), (9, 9, 2), (9, 5, 6)),
)
EXTRA = ((1, 2), (1, 5), (1, 10), (1, 20), (2, 0), (2, 2), (3, 0), (3, 10))
_SPLITS = "Moosavi and Strube 2016, Section 7.3"
_EXTRA = "Moosavi and Strube 2016, Section 7.4"


def splits(setup: Setup) -> ExperimentResult:
    """Figure 6 of Moosavi and Strube: one entity of the key is split, all else is right.

    18-2 is an entity of 20 mentions in parts of 18 and 2. On a key of yours those are left out
    for which it has no entity, and its largest entity is split too.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    cases = _possible_splits(key)
    measurement = Measurement(setup)
    for done, sizes in enumerate(cases):
        name = "-".join(map(str, sizes))
        setup.report(name, done, len(cases))
        output = split_entity(key, key, sizes=sizes, seed=setup.seed)
        measurement.add(key, output, split=name, size=sum(sizes), parts=len(sizes))
    parts = Encoding("split", "sizes of the parts", "ordinal")
    return measurement.finish(
        "splits",
        "Split entities",
        statements=check_claims(_claims_about_splits(measurement.rows), _SPLITS),
        charts=[Chart("One entity is split", parts, mark="point")],
        key=key.name,
    )


def _possible_splits(key: Corpus) -> list[tuple[int, ...]]:
    there = set(key.entity_sizes.tolist())
    largest = max(there, default=0)
    own = [(largest - 2, 2), (largest - largest // 2, largest // 2)] if largest > 3 else []
    return [sizes for sizes in dict.fromkeys((*SPLITS, *own)) if sum(sizes) in there]


def _claims_about_splits(rows: list[Row]) -> list[Callable[[], Statement]]:
    return [
        partial(_muc_counts_parts, rows),
        partial(_ceafe_alike, rows, ("2-2", "10-10")),
        partial(_ceafe_alike, rows, ("9-9-2", "9-5-6")),
        partial(_ranking, rows, "b3", ("18-2", "5-3-2", "16-4")),
        partial(_ranking, rows, "blanc", ("5-3-2", "18-2", "16-4")),
        *(
            partial(_ranking, rows, metric, ("18-2", "16-4", "5-3-2"))
            for metric in ("ceafm", "ceafe", "lea")
        ),
    ]


def _by_case(rows: list[Row], column: str, metric: str) -> dict[str, float]:
    """The F1 of each case; a LookupError where the key has no entity for any."""
    cases = dict.fromkeys(str(row[column]) for row in rows)
    if not cases:
        raise LookupError(column)
    return {case: find_number(rows, "f1", metric=metric, **{column: case}) for case in cases}


def _muc_counts_parts(rows: list[Row]) -> Statement:
    f1 = _by_case(rows, "split", "muc")
    by_parts: dict[int, list[float]] = {}
    for case, value in f1.items():
        by_parts.setdefault(case.count("-") + 1, []).append(value)
    return Statement(
        "MUC sees only the number of parts, not the size of the entity",
        all(max(values) - min(values) < TINY for values in by_parts.values()),
        f1,
        ", ".join(f"{parts} parts {percent(values[0])}" for parts, values in by_parts.items()),
    )


def _ceafe_alike(rows: list[Row], cases: tuple[str, str]) -> Statement:
    f1 = {case: find_number(rows, "f1", metric="ceafe", split=case) for case in cases}
    one, other = cases
    return Statement(
        f"CEAFe does not tell {one} from {other}",
        abs(f1[one] - f1[other]) < TINY,
        f1,
        f"{percent(f1[one])} and {percent(f1[other])}",
    )


def _ranking(rows: list[Row], metric: str, order: tuple[str, ...]) -> Statement:
    f1 = {case: find_number(rows, "f1", metric=metric, split=case) for case in order}
    ranking = sorted(order, key=lambda case: -f1[case])
    return Statement(
        f"{find_title(rows, metric)} ranks {' > '.join(order)}",
        all(f1[a] > f1[b] + TINY for a, b in pairwise(order)),
        f1,
        " > ".join(f"{case} {percent(f1[case])}" for case in ranking),
    )


def extra_mentions(setup: Setup) -> ExperimentResult:
    """Figure 7 of Moosavi and Strube: mentions that the key lacks, all else is right.

    3-10 are three extra mentions in an entity of ten; 2-0 are two linked to each other. On a key
    of yours those are left out for which it has no entity.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    there = {0, *np.unique(key.entity_sizes).tolist()}
    cases = [(extra, size) for extra, size in EXTRA if size in there]
    measurement = Measurement(setup)
    for done, (extra, size) in enumerate(cases):
        setup.report(f"{extra}-{size}", done, len(cases))
        output = add_extra_mentions(key, key, number=extra, size=size, seed=setup.seed)
        measurement.add(key, output, error=f"{extra}-{size}", extra=extra, size=size)
    title = "extra mentions – size of the entity they are put into"
    errors = Encoding("error", title, "ordinal")
    return measurement.finish(
        "extra-mentions",
        "Extra mentions",
        statements=check_claims(_claims_about_extra_mentions(measurement.rows), _EXTRA),
        charts=[Chart("Extra mentions", errors, mark="point")],
        key=key.name,
    )


def _claims_about_extra_mentions(rows: list[Row]) -> list[Callable[[], Statement]]:
    return [
        partial(_least_discriminative, rows),
        partial(_ceafe_worst, rows),
        partial(_lea_ranks, rows),
        partial(_lea_blind, rows),
        *(partial(_worst, rows, metric) for metric in THE_SIX if metric != "ceafe"),
    ]


def _least_discriminative(rows: list[Row]) -> Statement:
    values = {
        metric: len({round(f1, 9) for f1 in _by_case(rows, "error", metric).values()})
        for metric in THE_SIX
    }
    least = sorted(values, key=lambda metric: values[metric])[:2]
    return Statement(
        "MUC and CEAFm tell the fewest errors apart",
        set(least) == {"muc", "ceafm"},
        values,
        ", ".join(f"{metric} has {number} different scores" for metric, number in values.items()),
    )


def _worst_cases(f1: dict[str, float]) -> list[str]:
    """The case with the lowest score, or several where they are equal."""
    lowest = min(f1.values())
    return [case for case, value in f1.items() if value < lowest + TINY]


def _worst(rows: list[Row], metric: str) -> Statement:
    f1 = _by_case(rows, "error", metric)
    worst = _worst_cases(f1)
    return Statement(
        f"{find_title(rows, metric)} ranks 3-10 as the worst",
        "3-10" in worst,
        f1,
        f"worst {' and '.join(worst)}: {percent(f1[worst[0]])}",
    )


def _ceafe_worst(rows: list[Row]) -> Statement:
    f1 = _by_case(rows, "error", "ceafe")
    return Statement(
        "CEAFe ranks 2-0 and 3-0 as the worst", set(_worst_cases(f1)) == {"2-0", "3-0"}, f1
    )


def _lea_ranks(rows: list[Row]) -> Statement:
    gaps = {}
    for metric in THE_SIX:
        f1 = _by_case(rows, "error", metric)
        gaps[metric] = f1["2-0"] - max(f1["1-2"], f1["1-10"])
    return Statement(
        "LEA is the only one for which 2-0 is less harmful than 1-2 and 1-10",
        {metric for metric, gap in gaps.items() if gap > TINY} == {"lea"},
        gaps,
    )


def _lea_blind(rows: list[Row]) -> Statement:
    f1 = {case: v for case, v in _by_case(rows, "error", "lea").items() if case[:2] == "1-"}
    if not f1:
        raise LookupError("1-")
    return Statement(
        "LEA does not tell entities apart to which one extra mention is added",
        max(f1.values()) - min(f1.values()) < TINY,
        f1,
    )


RESOLVED, SINGLETONS, ONE = "as resolved", "singletons", "one entity"
_CHANGES: dict[str, Callable[[Corpus, Corpus], Corpus]] = {
    SINGLETONS: all_singletons,
    ONE: one_entity,
}
_TABLE_4 = "Moosavi and Strube 2016, Table 4"
_BOUNDARY = "Moosavi and Strube 2016, Section 3.1"


def boundary(setup: Setup) -> ExperimentResult:
    """The last rows of Moosavi and Strube's Table 4, and the same with the key's own mentions.

    All mentions of the response (or of the key) become singletons, or one entity for each
    document.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    response = setup.response_or(partial(noisy_response, key, setup.seed))
    measurement = Measurement(setup)
    measurement.add(key, response, mentions="response", output=RESOLVED)
    for side, corpus in (("response", response), ("key", key)):
        for done, (output, change) in enumerate(_CHANGES.items()):
            setup.report(f"{output} of the {side}'s mentions", done, len(_CHANGES))
            measurement.add(key, change(key, corpus), mentions=side, output=output)
    title = "Everything alone, everything together"
    return measurement.finish(
        "boundary",
        "Boundary cases",
        statements=check_claims(_claims_about_boundary(measurement.rows)),
        charts=[
            Chart(title, Encoding("output", "output", "nominal"), facet="mentions", mark="bar")
        ],
        key=key.name,
        response=response.name,
    )


def _claims_about_boundary(rows: list[Row]) -> list[Callable[[], Statement]]:
    return [
        partial(_is, rows, "muc", "f1", "response", SINGLETONS, 0.0, _TABLE_4),
        partial(_is, rows, "lea", "f1", "response", SINGLETONS, 0.0, _TABLE_4),
        partial(_is, rows, "b3", "precision", "key", SINGLETONS, 1.0, "Luo 2005"),
        partial(_is, rows, "b3", "recall", "key", ONE, 1.0, "Luo 2005"),
        partial(_is, rows, "muc", "recall", "key", ONE, 1.0, _BOUNDARY),
        partial(_muc_likes_one_entity, rows),
        partial(_not_zero, rows, "b3"),
        partial(_not_zero, rows, "ceafe"),
    ]


def _is(
    rows: list[Row], metric: str, rate: str, side: str, output: str, value: float, source: str
) -> Statement:
    measured = find_number(rows, rate, metric=metric, mentions=side, output=output)
    return Statement(
        f"{find_title(rows, metric)}: {rate} is {value:.0f} for the {side}'s mentions as {output}",
        abs(measured - value) < TINY,
        {rate: measured},
        percent(measured),
        source,
    )


def _muc_likes_one_entity(rows: list[Row]) -> Statement:
    one = find_number(rows, "f1", metric="muc", mentions="key", output=ONE)
    response = find_number(rows, "f1", metric="muc", mentions="response", output=RESOLVED)
    return Statement(
        "MUC prefers all key mentions in one entity to the response",
        one > response,
        {"one entity": one, "response": response},
        f"F1 {percent(one)} against {percent(response)}",
        _BOUNDARY,
    )


def _not_zero(rows: list[Row], metric: str) -> Statement:
    f1 = find_number(rows, "f1", metric=metric, mentions="response", output=SINGLETONS)
    return Statement(
        f"{find_title(rows, metric)} is above 0 when nothing is linked",
        f1 > TINY,
        {"f1": f1},
        percent(f1),
        _TABLE_4,
    )
