"""The boundary cases: a resolver that links nothing, and one that links everything."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from corefeval.lab.data import moosavi_strube_key, noisy_response
from corefeval.lab.experiments import Setup
from corefeval.lab.findings import (
    F1,
    TINY,
    Chart,
    Encoding,
    ExperimentResult,
    Finding,
    Row,
    findings,
    number,
    percent,
    title_of,
)
from corefeval.lab.groupings import all_singletons, one_entity
from corefeval.lab.measurement import Measurement
from corefeval.lab.sides import drop_repeats
from corefeval.model import Corpus

RESOLVED, SINGLETONS, ONE = "as resolved", "singletons", "one entity"
_CHANGES: dict[str, Callable[[Corpus, Corpus], Corpus]] = {
    SINGLETONS: all_singletons,
    ONE: one_entity,
}
_TABLE_4 = "Moosavi and Strube 2016, Table 4"
_SECTION_3 = "Moosavi and Strube 2016, Section 3.1"


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
    return measurement.finished(
        "boundary",
        "Boundary cases",
        statements=findings(_claims(measurement.rows)),
        charts=[
            Chart(
                "Everything alone, everything together",
                Encoding("output", "output", "nominal"),
                F1,
                facet="mentions",
                mark="bar",
            )
        ],
        key=key.name,
        response=response.name,
    )


def _claims(rows: list[Row]) -> list[Callable[[], Finding]]:
    return [
        partial(_is, rows, "muc", "f1", "response", SINGLETONS, 0.0, _TABLE_4),
        partial(_is, rows, "lea", "f1", "response", SINGLETONS, 0.0, _TABLE_4),
        partial(_is, rows, "b3", "precision", "key", SINGLETONS, 1.0, "Luo 2005"),
        partial(_is, rows, "b3", "recall", "key", ONE, 1.0, "Luo 2005"),
        partial(_is, rows, "muc", "recall", "key", ONE, 1.0, _SECTION_3),
        partial(_muc_likes_one_entity, rows),
        partial(_not_zero, rows, "b3"),
        partial(_not_zero, rows, "ceafe"),
    ]


def _is(
    rows: list[Row], metric: str, rate: str, side: str, output: str, value: float, source: str
) -> Finding:
    found = number(rows, rate, metric=metric, mentions=side, output=output)
    return Finding(
        f"{title_of(rows, metric)}: {rate} is {value:.0f} for the {side}'s mentions as {output}",
        abs(found - value) < TINY,
        {rate: found},
        percent(found),
        source,
    )


def _muc_likes_one_entity(rows: list[Row]) -> Finding:
    one = number(rows, "f1", metric="muc", mentions="key", output=ONE)
    response = number(rows, "f1", metric="muc", mentions="response", output=RESOLVED)
    return Finding(
        "MUC prefers all key mentions in one entity to the response",
        one > response,
        {"one entity": one, "response": response},
        f"F1 {percent(one)} against {percent(response)}",
        _SECTION_3,
    )


def _not_zero(rows: list[Row], metric: str) -> Finding:
    f1 = number(rows, "f1", metric=metric, mentions="response", output=SINGLETONS)
    return Finding(
        f"{title_of(rows, metric)} is above 0 when nothing is linked",
        f1 > TINY,
        {"f1": f1},
        percent(f1),
        _TABLE_4,
    )
