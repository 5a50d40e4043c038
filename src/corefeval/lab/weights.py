"""What weights do: the linguistically aware metrics of Chen and Ng."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

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
    percent,
    percents,
)
from corefeval.lab.measurement import Measurement
from corefeval.metrics import REGISTRY, Metric
from corefeval.model import Corpus, corpus_from_entities

# Chen and Ng 2013, Figures 1 and 2. All pronouns for the city are in every response.
_YOU = "ghijklm"
CHEN_NG_KEY = ("abc", f"def{_YOU}", "no", "p", "q", "r", "s", "t")
CHEN_NG_RESPONSES = {
    "a": ("bc", _YOU, *"adefnopqrst"),
    "b": ("bc", f"f{_YOU}", *"adenopqrst"),
    "c": ("bc", f"e{_YOU}", *"adfnopqrst"),
    "d": ("bc", f"d{_YOU}", *"aefnopqrst"),
    "e": (f"abc{_YOU}", "def", "no", *"pqrst"),
}
CHEN_NG_KINDS = {
    **dict.fromkeys("ad", "name"),
    **dict.fromkeys("enpqrst", "nominal"),
    **dict.fromkeys(f"bcfo{_YOU}", "pronoun"),
}
# The weights of a link with a name, with a nominal, between pronouns, and of a singleton.
CHEN_NG_WEIGHTS = {
    "W1": (1.0, 1.0, 1.0, 1e-20),
    "W2": (1.0, 1.0, 1.0, 0.5),
    "W3": (1.0, 1.0, 1.0, 1.0),
    "W4": (1.0, 0.75, 0.5, 1.0),
    "W5": (1.0, 0.5, 0.25, 1.0),
}

NAMES = ("name", "nominal", "pronoun", "singleton")
PLAIN = "none"
FAMILIES = {"lmuc": "muc", "lb3": "b3", "lceafm": "ceafm", "lceafe": "ceafe"}
_SINGLETONS = "Chen and Ng 2013, Section 4.2"
_KINDS = "Chen and Ng 2013, Section 4.3"
_SECTION_OF = {"W4": _KINDS, "W5": _KINDS}


def weights(setup: Setup) -> ExperimentResult:
    """Figure 3 of Chen and Ng: five responses under five weightings, beside the plain metrics.

    With a key and a response of yours, the same weightings of it. Any other weights are metrics
    like any other: `metrics="lmuc(name=1, nominal=0.2), lb3"`.
    """
    if setup.key is None:
        key, responses = _chen_ng_corpora()
    else:
        key = setup.key
        response = setup.response_or(lambda: key)
        responses = {response.name or "response": response}
    kinds = None if setup.key is not None else {"kind": CHEN_NG_KINDS}
    measurement = Measurement(setup, metrics=_weight_metrics(), features=kinds)
    for done, (name, response) in enumerate(responses.items()):
        setup.report(f"response {name}", done, len(responses))
        measurement.add(key, response, response=name)
    measurement.describe(_family_and_weights)
    claims = _claims(measurement.rows) if setup.key is None else []
    names = Encoding("response", "response", "ordinal")
    return measurement.finish(
        "weights",
        "Weights of names, nominals and pronouns",
        statements=check_claims(claims, _SINGLETONS),
        charts=[Chart("Responses under weights", names, series="weights", facet="family")],
        key=key.name,
    )


def _chen_ng_corpora() -> tuple[Corpus, dict[str, Corpus]]:
    """The key and the five responses of Chen and Ng's example."""
    responses = {
        name: corpus_from_entities(map(list, entities), name=f"response ({name})")
        for name, entities in CHEN_NG_RESPONSES.items()
    }
    return corpus_from_entities(map(list, CHEN_NG_KEY), name="key"), responses


def _weight_metrics() -> list[Metric]:
    """The plain metrics, and every metric with Chen and Ng's weights under each weighting."""
    metrics = [Metric.parse(plain) for plain in FAMILIES.values()]
    for name, declaration in REGISTRY.items():
        if {parameter.name for parameter in declaration.parameters} >= set(NAMES):
            metrics += [
                Metric.of(name, **dict(zip(NAMES, values, strict=True)))
                for values in CHEN_NG_WEIGHTS.values()
            ]
    return metrics


def _family_and_weights(metric: str) -> Row:
    """The family of a metric (the title of the plain one) and its weights' name."""
    parsed = Metric.parse(metric)
    family = FAMILIES.get(parsed.name, parsed.name)
    title = REGISTRY[family].title
    parameters = {parameter.name: parameter.default for parameter in parsed.declaration.parameters}
    if not parameters.keys() >= set(NAMES):
        return {"family": title, "weights": PLAIN}
    values = tuple({**parameters, **dict(parsed.parameters)}[name] for name in NAMES)
    for name, known in CHEN_NG_WEIGHTS.items():
        if known == values:
            return {"family": title, "weights": name}
    return {"family": title, "weights": ", ".join(f"{value:g}" for value in values)}


def _claims(rows: list[Row]) -> list[Callable[[], Statement]]:
    return [
        partial(_same, rows, "lmuc", ("W1", PLAIN), 1e-6),
        partial(_singletons_cost, rows),
        partial(_singletons_pay, rows),
        partial(_same, rows, "lb3", ("W1", "W2", "W3")),
        partial(_same, rows, "lceafe", ("W1", "W2", "W3")),
        partial(_b3_blind, rows),
        partial(_ranks, rows, "lceafm", "W1", "ae"),
        partial(_ranks, rows, "lceafm", "W3", "ea"),
        partial(_lower, rows, "lb3", "W3", 0.0),
        partial(_lower, rows, "lceafe", "W3", 0.0),
        *(partial(_lower, rows, metric, w) for metric in FAMILIES for w in ("W4", "W5")),
        *(partial(_lower_still, rows, metric) for metric in FAMILIES),
        *(partial(_plain_blind, rows, metric) for metric in FAMILIES),
        *(partial(_ranks, rows, metric, w, "dcb") for metric in FAMILIES for w in ("W4", "W5")),
        *(partial(_wider, rows, metric) for metric in FAMILIES),
    ]


def _f1(rows: list[Row], metric: str, weighting: str, response: str) -> float:
    family = REGISTRY[FAMILIES[metric]].title
    return find_number(rows, "f1", family=family, weights=weighting, response=response)


def _same(
    rows: list[Row], metric: str, weightings: tuple[str, ...], tolerance: float = TINY
) -> Statement:
    distances = {}
    for response in "abcde":
        values = [_f1(rows, metric, weighting, response) for weighting in weightings]
        distances[response] = max(values) - min(values)
    names = [REGISTRY[FAMILIES[metric]].title if w == PLAIN else w for w in weightings]
    return Statement(
        f"{REGISTRY[metric].title} is the same under {', '.join(names)}",
        max(distances.values()) < tolerance,
        distances,
        f"largest distance {percent(max(distances.values()))}",
    )


def _singletons_cost(rows: list[Row]) -> Statement:
    values = {f"{r} {w}": _f1(rows, "lmuc", w, r) for r in "abcd" for w in ("W1", "W2", "W3")}
    return Statement(
        "LMUC of (a) to (d) falls as singletons weigh more",
        all(values[f"{r} W1"] > values[f"{r} W2"] > values[f"{r} W3"] for r in "abcd"),
        values,
        ", ".join(
            f"({r}) {percent(values[f'{r} W1'])} to {percent(values[f'{r} W3'])}" for r in "abcd"
        ),
    )


def _singletons_pay(rows: list[Row]) -> Statement:
    values = {w: _f1(rows, "lmuc", w, "e") for w in (PLAIN, "W2", "W3")}
    return Statement(
        "LMUC of (e) is above MUC, for all its singletons are right",
        values[PLAIN] < values["W2"] < values["W3"],
        values,
        percents({"MUC" if w == PLAIN else w: value for w, value in values.items()}),
    )


def _b3_blind(rows: list[Row]) -> Statement:
    gap = _f1(rows, "lb3", PLAIN, "e") - _f1(rows, "lb3", PLAIN, "a")
    weighted = _f1(rows, "lb3", "W3", "e") - _f1(rows, "lb3", "W3", "a")
    return Statement(
        "B³ gives (e) only 0.7 points more than (a), LB³ much more",
        round(100 * gap, 1) == 0.7 and weighted > 10 * gap,
        {"B³": gap, "LB³": weighted},
        f"B³ {percent(gap)} points, LB³ {percent(weighted)}",
    )


def _ranks(rows: list[Row], metric: str, weighting: str, order: str) -> Statement:
    values = {response: _f1(rows, metric, weighting, response) for response in order}
    return Statement(
        f"{REGISTRY[metric].title} ranks {' > '.join(f'({r})' for r in order)} under {weighting}",
        all(values[one] > values[other] for one, other in pairwise(order)),
        values,
        percents({f"({response})": value for response, value in values.items()}),
        _SECTION_OF.get(weighting, _SINGLETONS),
    )


def _lower(rows: list[Row], metric: str, weighting: str, least: float = 0.1) -> Statement:
    plain, weighted = (_f1(rows, metric, w, "a") for w in (PLAIN, weighting))
    much = "much " if least else ""
    return Statement(
        f"{REGISTRY[metric].title} gives (a) {much}less than {REGISTRY[FAMILIES[metric]].title} "
        f"under {weighting}",
        weighted < plain - least,
        {"plain": plain, weighting: weighted},
        f"{percent(weighted)} against {percent(plain)}",
        _SECTION_OF.get(weighting, _SINGLETONS),
    )


def _lower_still(rows: list[Row], metric: str) -> Statement:
    values = {w: _f1(rows, metric, w, "a") for w in ("W4", "W5")}
    return Statement(
        f"{REGISTRY[metric].title} gives (a) less under W5 than under W4",
        values["W5"] < values["W4"],
        values,
        f"{percent(values['W5'])} against {percent(values['W4'])}",
        _KINDS,
    )


def _plain_blind(rows: list[Row], metric: str) -> Statement:
    values = {response: _f1(rows, metric, PLAIN, response) for response in "bcd"}
    return Statement(
        f"{REGISTRY[FAMILIES[metric]].title} does not tell (b), (c) and (d) apart",
        max(values.values()) - min(values.values()) < TINY,
        values,
        percent(values["b"]),
        _KINDS,
    )


def _wider(rows: list[Row], metric: str) -> Statement:
    gaps = {
        f"{one}{other} {w}": _f1(rows, metric, w, other) - _f1(rows, metric, w, one)
        for one, other in ("bc", "cd")
        for w in ("W4", "W5")
    }
    return Statement(
        f"{REGISTRY[metric].title}: the gaps from (b) to (c) to (d) are wider under W5 than W4",
        gaps["bc W5"] > gaps["bc W4"] and gaps["cd W5"] > gaps["cd W4"],
        gaps,
        source=_KINDS,
    )
