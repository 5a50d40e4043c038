"""What weights do: the linguistically aware metrics of Chen and Ng."""

from __future__ import annotations

from itertools import pairwise, product

from corefeval.lab import (
    TINY,
    Chart,
    Encoding,
    ExperimentResult,
    Row,
    Setup,
    percent,
    percents,
)
from corefeval.lab.measurement import IF_MEASURED, Measurement
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
_KINDS = "Chen and Ng 2013, Section 4.3"
_SECTION_OF = {"W4": _KINDS, "W5": _KINDS}


def weights(setup: Setup) -> ExperimentResult:
    """Figure 3 of Chen and Ng: five responses under five weightings, beside the plain metrics.

    A key and a response of yours are scored under these weightings. Other weights are metrics
    like any other: `metrics="lmuc(name=1, nominal=0.2), lb3"`.
    """
    if setup.key is None:
        key, responses = _chen_ng_corpora()
    else:
        key = setup.key
        response = setup.response_or(lambda: key)
        responses = {response.name or "response": response}
    measurement = Measurement(
        setup,
        metrics=_weight_metrics(),
        features=None if setup.key is not None else {"kind": CHEN_NG_KINDS},
        source="Chen and Ng 2013, Section 4.2",
    )
    for name, response in setup.watch(responses):
        measurement.add(key, response, response=name)
    measurement.describe(_family_and_weights)
    if setup.key is None:
        _state_singletons(measurement)
        _state_kinds(measurement)
    axis = Encoding("response", "response", "ordinal")
    chart = Chart("Responses under weights", axis, series="weights", facet="family")
    title = "Weights of names, nominals and pronouns"
    return measurement.finish("weights", title, charts=[chart], key=key.name)


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
    for name, weighting in CHEN_NG_WEIGHTS.items():
        if weighting == values:
            return {"family": title, "weights": name}
    return {"family": title, "weights": ", ".join(f"{value:g}" for value in values)}


def _f1(measurement: Measurement, metric: str, weighting: str, response: str) -> float:
    fields = {"family": _plain_title(metric), "weights": weighting, "response": response}
    return measurement.value("f1", **fields)


def _plain_title(metric: str) -> str:
    return REGISTRY[FAMILIES[metric]].title


def _state_singletons(measurement: Measurement) -> None:
    """Section 4.2: what the weight of singletons does."""
    _state_equal(measurement, "lmuc", ("W1", PLAIN), 1e-6)
    with IF_MEASURED:
        cases = product("abcd", ("W1", "W2", "W3"))
        f1 = {f"{r} {w}": _f1(measurement, "lmuc", w, r) for r, w in cases}
        falls = {r: f"{percent(f1[f'{r} W1'])} to {percent(f1[f'{r} W3'])}" for r in "abcd"}
        measurement.state(
            "LMUC of (a) to (d) falls as singletons weigh more",
            all(f1[f"{r} W1"] > f1[f"{r} W2"] > f1[f"{r} W3"] for r in "abcd"),
            f1,
            ", ".join(f"({response}) {fall}" for response, fall in falls.items()),
        )
    with IF_MEASURED:
        f1 = {w: _f1(measurement, "lmuc", w, "e") for w in (PLAIN, "W2", "W3")}
        measurement.state(
            "LMUC of (e) is above MUC, because all its singletons are right",
            f1[PLAIN] < f1["W2"] < f1["W3"],
            f1,
            percents({"MUC" if w == PLAIN else w: value for w, value in f1.items()}),
        )
    _state_equal(measurement, "lb3", ("W1", "W2", "W3"))
    _state_equal(measurement, "lceafe", ("W1", "W2", "W3"))
    with IF_MEASURED:
        plain, weighted = (
            _f1(measurement, "lb3", w, "e") - _f1(measurement, "lb3", w, "a") for w in (PLAIN, "W3")
        )
        measurement.state(
            "B³ gives (e) only 0.7 points more than (a), LB³ much more",
            round(100 * plain, 1) == 0.7 and weighted > 10 * plain,
            {"B³": plain, "LB³": weighted},
            f"B³ {percent(plain)} points, LB³ {percent(weighted)}",
        )
    _state_ranking(measurement, "lceafm", "W1", "ae")
    _state_ranking(measurement, "lceafm", "W3", "ea")
    _state_lower(measurement, "lb3", "W3", 0.0)
    _state_lower(measurement, "lceafe", "W3", 0.0)


def _state_kinds(measurement: Measurement) -> None:
    """Section 4.3: what the weights of names, nominals and pronouns do."""
    for metric, weighting in product(FAMILIES, ("W4", "W5")):
        _state_lower(measurement, metric, weighting)
    for metric in FAMILIES:
        with IF_MEASURED:
            f1 = {w: _f1(measurement, metric, w, "a") for w in ("W4", "W5")}
            measurement.state(
                f"{REGISTRY[metric].title} gives (a) less under W5 than under W4",
                f1["W5"] < f1["W4"],
                f1,
                f"{percent(f1['W5'])} against {percent(f1['W4'])}",
                _KINDS,
            )
    for metric in FAMILIES:
        with IF_MEASURED:
            f1 = {response: _f1(measurement, metric, PLAIN, response) for response in "bcd"}
            measurement.state(
                f"{_plain_title(metric)} does not tell (b), (c) and (d) apart",
                max(f1.values()) - min(f1.values()) < TINY,
                f1,
                percent(f1["b"]),
                _KINDS,
            )
    for metric, weighting in product(FAMILIES, ("W4", "W5")):
        _state_ranking(measurement, metric, weighting, "dcb")
    for metric in FAMILIES:
        with IF_MEASURED:
            gaps = {
                f"{low}{high} {w}": _f1(measurement, metric, w, high)
                - _f1(measurement, metric, w, low)
                for (low, high), w in product((("b", "c"), ("c", "d")), ("W4", "W5"))
            }
            measurement.state(
                f"{REGISTRY[metric].title}: the gaps from (b) to (c) to (d) are wider under W5 "
                "than W4",
                gaps["bc W5"] > gaps["bc W4"] and gaps["cd W5"] > gaps["cd W4"],
                gaps,
                source=_KINDS,
            )


def _state_equal(
    measurement: Measurement, metric: str, weightings: tuple[str, ...], tolerance: float = TINY
) -> None:
    """State that a metric is the same under some weightings, and whether it holds."""
    with IF_MEASURED:
        distances = {}
        for response in "abcde":
            values = [_f1(measurement, metric, weighting, response) for weighting in weightings]
            distances[response] = max(values) - min(values)
        names = [_plain_title(metric) if w == PLAIN else w for w in weightings]
        measurement.state(
            f"{REGISTRY[metric].title} is the same under {', '.join(names)}",
            max(distances.values()) < tolerance,
            distances,
            f"largest distance {percent(max(distances.values()))}",
        )


def _state_ranking(measurement: Measurement, metric: str, weighting: str, order: str) -> None:
    with IF_MEASURED:
        f1 = {f"({name})": _f1(measurement, metric, weighting, name) for name in order}
        measurement.state(
            f"{REGISTRY[metric].title} ranks {' > '.join(f1)} under {weighting}",
            all(better > worse for better, worse in pairwise(f1.values())),
            dict(zip(order, f1.values(), strict=True)),
            percents(f1),
            _SECTION_OF.get(weighting, ""),
        )


def _state_lower(measurement: Measurement, metric: str, weighting: str, least: float = 0.1) -> None:
    with IF_MEASURED:
        plain, weighted = (_f1(measurement, metric, w, "a") for w in (PLAIN, weighting))
        much = "much " if least else ""
        measurement.state(
            f"{REGISTRY[metric].title} gives (a) {much}less than {_plain_title(metric)} "
            f"under {weighting}",
            weighted < plain - least,
            {"plain": plain, weighting: weighted},
            f"{percent(weighted)} against {percent(plain)}",
            _SECTION_OF.get(weighting, ""),
        )
