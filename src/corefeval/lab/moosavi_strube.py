"""Moosavi and Strube: outputs that are partly resolved, or wrong in one way, and their scores."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from corefeval.lab import TINY, Chart, Encoding, ExperimentResult, Setup, percent
from corefeval.lab.editing import count_totals, drop_repeats, regroup
from corefeval.lab.measurement import (
    IF_MEASURED,
    SHARES,
    THE_SIX,
    Measurement,
    moosavi_strube_key,
    noisy_response,
)
from corefeval.lab.perturbations import (
    Growth,
    add_extra_mentions,
    all_singletons,
    one_entity,
    resolve_links,
    split_entity,
)
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray, find_places, stable_order

GROWTHS: dict[Growth, str] = {
    "together": "all entities together",
    "largest": "largest entity first",
}
WITHOUT, WITH = "without wrong links", "with wrong links"
DECREASING, INCREASING = "largest first", "smallest first"
_PRINTED = (0.0, 0.2, 0.4, 0.6, 0.8)  # where the paper's figures have points, but for the end
_STEPS = 20  # a large key has too many entities for a point each


def correct_links(setup: Setup) -> ExperimentResult:
    """Figures 2 and 3 of Moosavi and Strube: a share of the key's links is resolved.

    Without wrong links only mentions that are resolved are in the response; with them all other
    key mentions are there too, each with mentions of other entities. The paper does not say which
    links are resolved first: here all entities grow together, or one after the other from the
    largest on.
    """
    key = setup.key_or(moosavi_strube_key)
    measurement = Measurement(setup, source="Moosavi and Strube 2016, Section 7.1")
    cases = {
        f"{panel}, {title}": (panel, growth, title)
        for panel in (WITHOUT, WITH)
        for growth, title in GROWTHS.items()
    }
    for _, (panel, growth, title) in setup.watch(cases):
        resolve = partial(resolve_links, wrong=panel == WITH, growth=growth, seed=setup.seed)
        for share in SHARES:
            output = resolve(key, key, share=share)
            totals = count_totals(key, output)
            measurement.add(key, output, panel=panel, growth=title, share=share, **totals)
    for title in GROWTHS.values():
        _state_links(measurement, title)
    axis = Encoding("share", "share of the key's links that are resolved")
    charts = [
        Chart(f"Resolved links, {title}", axis, facet="panel", where={"growth": title})
        for title in GROWTHS.values()
    ]
    return measurement.finish("correct-links", "Correct links", charts=charts, key=key.name)


def _state_links(measurement: Measurement, growth: str) -> None:
    """State what the paper says of resolved links, and whether it holds."""
    find_point = partial(_find_point, measurement, growth)
    with IF_MEASURED:
        f1 = find_point(WITH, 0.0)
        measurement.state(
            f"only MUC and LEA are 0 for a response without a correct link ({growth})",
            {metric for metric, value in f1.items() if value < TINY} == {"muc", "lea"},
            f1,
        )
    with IF_MEASURED:
        f1 = {f"{share:.0%}": find_point(WITH, share)["ceafe"] for share in (0.0, 0.2)}
        measurement.state(
            f"with wrong links CEAFe drops from no correct links to 20% of them ({growth})",
            f1["20%"] < f1["0%"],
            f1,
            f"F1 {percent(f1['0%'])}, then {percent(f1['20%'])}",
        )
    with IF_MEASURED:
        gaps = {}
        for share in (*_PRINTED, 1.0):
            f1 = find_point(WITHOUT, share)
            gaps[f"{share:.0%}"] = min(f1["b3"], f1["lea"]) - f1["blanc"]
        closest = min(gaps, key=gaps.__getitem__)
        measurement.state(
            f"without wrong links BLANC is at most as high as B³ and LEA ({growth})",
            gaps[closest] >= -TINY,
            gaps,
            f"least distance {percent(gaps[closest])}, at {closest} of the links",
        )
    with IF_MEASURED:
        ratios = {}
        for share in _PRINTED:
            f1 = find_point(WITH, share)
            blanc = f1.pop("blanc")
            ratios[f"{share:.0%}"] = blanc / max(*f1.values(), TINY)
        measurement.state(
            "with wrong links BLANC is at least 20% higher than all others, "
            f"up to 80% of the links ({growth})",
            min(ratios.values()) >= 1.2,
            ratios,
            ", ".join(f"{ratio - 1:.0%} higher at {share}" for share, ratio in ratios.items()),
        )


def _find_point(
    measurement: Measurement, growth: str, panel: str, share: float
) -> dict[str, float]:
    """F1 at a point of the curves, by each of the six metrics."""
    find = partial(measurement.f1, panel=panel, growth=growth, share=share)
    return {metric: find(metric) for metric in THE_SIX}


def correct_entities(setup: Setup) -> ExperimentResult:
    """Figures 4 and 5 of Moosavi and Strube: whole entities are resolved, the others are missing.

    Entities come in the order of their size, the largest or the smallest first. A key of many
    entities is resolved in twenty steps.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    measurement = Measurement(setup, source="Moosavi and Strube 2016, Section 7.2")
    total_links = max(count_totals(key, key)["correct_links"], 1)
    steps = min(key.n_entities, _STEPS)
    cases = {
        f"{order}, {number}": (order, ranks, number)
        for order, ranks in _rank_entities(key).items()
        for number in (round(key.n_entities * n / max(steps, 1)) for n in range(steps + 1))
    }
    for _, (order, ranks, number) in setup.watch(cases):
        output = regroup(key, key.mention_entity, ranks[key.mention_entity] < number)
        share = count_totals(key, output)["correct_links"] / total_links
        measurement.add(key, output, order=order, entities=number, share_of_links=share)
    _state_entities(measurement)
    axis = Encoding("entities", "number of entities that are resolved")
    chart = Chart("Resolved entities", axis, facet="order")
    return measurement.finish("correct-entities", "Correct entities", charts=[chart], key=key.name)


def _rank_entities(key: Corpus) -> dict[str, IntArray]:
    """The place of each entity, when entities come by size."""
    sizes = {DECREASING: -key.entity_sizes, INCREASING: key.entity_sizes}
    return {name: find_places(stable_order(by), key.n_entities) for name, by in sizes.items()}


def _state_entities(measurement: Measurement) -> None:
    """State what the paper says of resolved entities, and whether it holds."""
    with IF_MEASURED:
        distance = _compare_orders(measurement, "ceafe")
        measurement.state(
            "CEAFe is the same whichever entities are resolved, large or small",
            distance < TINY,
            {"distance": distance},
            f"largest distance between the orders {percent(distance)}",
        )
    with IF_MEASURED:
        distance = 0.0
        for order in (DECREASING, INCREASING):
            curves = [_find_curve(measurement, order, metric) for metric in ("b3", "ceafm", "lea")]
            gaps = (max(point) - min(point) for point in zip(*curves, strict=True))
            distance = max(distance, *gaps)
        measurement.state(
            "B³, CEAFm and LEA are the same for whole entities",
            distance < TINY,
            {"distance": distance},
            f"largest distance {percent(distance)}",
        )
    with IF_MEASURED:
        distances = {metric: _compare_orders(measurement, metric) for metric in THE_SIX}
        steps = {
            metric: max(abs(after - before) for before, after in pairwise(curve))
            for metric in THE_SIX
            for curve in [_find_curve(measurement, DECREASING, metric)]
        }
        largest = {max(numbers, key=numbers.__getitem__) for numbers in (distances, steps)}
        measurement.state(
            "BLANC follows the number of links most: its largest distance between the orders, or "
            "its largest step from one entity to the next, is the largest",
            "blanc" in largest,
            {
                **{f"{metric} distance": distance for metric, distance in distances.items()},
                **{f"{metric} step": step for metric, step in steps.items()},
            },
            ", ".join(f"{m} {percent(d)} and {percent(steps[m])}" for m, d in distances.items()),
        )


def _find_curve(measurement: Measurement, order: str, metric: str) -> list[float]:
    """F1 for each number of entities; a LookupError where there are fewer than two points."""
    rows = (row for row in measurement.rows if (row["order"], row["metric"]) == (order, metric))
    points = [row["f1"] for row in rows if isinstance(row["f1"], float)]
    if len(points) < 2:
        raise LookupError(metric)
    return points


def _compare_orders(measurement: Measurement, metric: str) -> float:
    """The largest distance between the two orders, for equal numbers of entities."""
    down = _find_curve(measurement, DECREASING, metric)
    up = _find_curve(measurement, INCREASING, metric)
    return max(abs(a - b) for a, b in zip(down, up, strict=True))


# The errors of which the paper's text speaks, and some between them.
SPLITS = (
    *((2, 2), (3, 2), (8, 2), (5, 5), (5, 3, 2)),
    *((18, 2), (16, 4), (10, 10), (9, 9, 2), (9, 5, 6)),
)
EXTRA = ((1, 2), (1, 5), (1, 10), (1, 20), (2, 0), (2, 2), (3, 0), (3, 10))


def splits(setup: Setup) -> ExperimentResult:
    """Figure 6 of Moosavi and Strube: one entity of the key is split, all else is right.

    18-2 is an entity of 20 mentions in parts of 18 and 2. On a key of yours those are left out
    for which it has no entity, and its largest entity is split too.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    measurement = Measurement(setup, source="Moosavi and Strube 2016, Section 7.3")
    cases = {"-".join(map(str, sizes)): sizes for sizes in _possible_splits(key)}
    for name, sizes in setup.watch(cases):
        output = split_entity(key, key, sizes=sizes, seed=setup.seed)
        measurement.add(key, output, split=name, size=sum(sizes), parts=len(sizes))
    _state_splits(measurement)
    parts = Encoding("split", "sizes of the parts", "ordinal")
    chart = Chart("One entity is split", parts, mark="point")
    return measurement.finish("splits", "Split entities", charts=[chart], key=key.name)


def _possible_splits(key: Corpus) -> list[tuple[int, ...]]:
    """The paper's splits for which the key has an entity, and two of the key's largest entity."""
    key_sizes = set(key.entity_sizes.tolist())
    largest = max(key_sizes, default=0)
    of_largest = [(largest - 2, 2), (largest - largest // 2, largest // 2)] if largest > 3 else []
    return [sizes for sizes in dict.fromkeys((*SPLITS, *of_largest)) if sum(sizes) in key_sizes]


def _state_splits(measurement: Measurement) -> None:
    """State what the paper says of split entities, and whether it holds."""
    with IF_MEASURED:
        f1 = measurement.f1_by("split", "muc")
        by_parts: dict[int, list[float]] = {}
        for case, value in f1.items():
            by_parts.setdefault(case.count("-") + 1, []).append(value)
        measurement.state(
            "MUC sees only the number of parts, not the size of the entity",
            all(max(values) - min(values) < TINY for values in by_parts.values()),
            f1,
            ", ".join(f"{parts} parts {percent(values[0])}" for parts, values in by_parts.items()),
        )
    for first, second in (("2-2", "10-10"), ("9-9-2", "9-5-6")):
        with IF_MEASURED:
            f1 = {case: measurement.f1("ceafe", split=case) for case in (first, second)}
            measurement.state(
                f"CEAFe does not tell {first} from {second}",
                abs(f1[first] - f1[second]) < TINY,
                f1,
                f"{percent(f1[first])} and {percent(f1[second])}",
            )
    orders = {"b3": ("18-2", "5-3-2", "16-4"), "blanc": ("5-3-2", "18-2", "16-4")}
    orders |= dict.fromkeys(("ceafm", "ceafe", "lea"), ("18-2", "16-4", "5-3-2"))
    for metric, order in orders.items():
        with IF_MEASURED:
            f1 = {case: measurement.f1(metric, split=case) for case in order}
            ranking = sorted(order, key=lambda case: -f1[case])
            measurement.state(
                f"{measurement.title(metric)} ranks {' > '.join(order)}",
                all(f1[better] > f1[worse] + TINY for better, worse in pairwise(order)),
                f1,
                " > ".join(f"{case} {percent(f1[case])}" for case in ranking),
            )


def extra_mentions(setup: Setup) -> ExperimentResult:
    """Figure 7 of Moosavi and Strube: mentions that the key lacks, all else is right.

    3-10 are three extra mentions in an entity of ten; 2-0 are two linked to each other. On a key
    of yours those are left out for which it has no entity.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    key_sizes = {0, *key.entity_sizes.tolist()}
    cases = {f"{extra}-{size}": (extra, size) for extra, size in EXTRA if size in key_sizes}
    measurement = Measurement(setup, source="Moosavi and Strube 2016, Section 7.4")
    for name, (extra, size) in setup.watch(cases):
        output = add_extra_mentions(key, key, number=extra, size=size, seed=setup.seed)
        measurement.add(key, output, error=name, extra=extra, size=size)
    _state_extra_mentions(measurement)
    title = "extra mentions – size of the entity they are put into"
    chart = Chart("Extra mentions", Encoding("error", title, "ordinal"), mark="point")
    return measurement.finish("extra-mentions", "Extra mentions", charts=[chart], key=key.name)


def _state_extra_mentions(measurement: Measurement) -> None:
    """State what the paper says of extra mentions, and whether it holds."""
    with IF_MEASURED:
        by_metric = {metric: measurement.f1_by("error", metric) for metric in THE_SIX}
        scores = {m: len({round(value, 9) for value in f1.values()}) for m, f1 in by_metric.items()}
        measurement.state(
            "MUC and CEAFm tell the fewest errors apart",
            set(sorted(scores, key=scores.__getitem__)[:2]) == {"muc", "ceafm"},
            scores,
            ", ".join(f"{metric} has {count} different scores" for metric, count in scores.items()),
        )
    with IF_MEASURED:
        f1 = measurement.f1_by("error", "ceafe")
        is_worst = set(_find_worst(f1)) == {"2-0", "3-0"}
        measurement.state("CEAFe ranks 2-0 and 3-0 as the worst", is_worst, f1)
    with IF_MEASURED:
        by_metric = {metric: measurement.f1_by("error", metric) for metric in THE_SIX}
        gaps = {m: f1["2-0"] - max(f1["1-2"], f1["1-10"]) for m, f1 in by_metric.items()}
        measurement.state(
            "LEA is the only one for which 2-0 is less harmful than 1-2 and 1-10",
            {metric for metric, gap in gaps.items() if gap > TINY} == {"lea"},
            gaps,
        )
    with IF_MEASURED:
        by_case = measurement.f1_by("error", "lea")
        f1 = {case: value for case, value in by_case.items() if case.startswith("1-")}
        if f1:
            measurement.state(
                "LEA does not distinguish between entities to which one extra mention is added",
                max(f1.values()) - min(f1.values()) < TINY,
                f1,
            )
    for metric in ("muc", "b3", "ceafm", "blanc", "lea"):
        with IF_MEASURED:
            f1 = measurement.f1_by("error", metric)
            worst = _find_worst(f1)
            measurement.state(
                f"{measurement.title(metric)} ranks 3-10 as the worst",
                "3-10" in worst,
                f1,
                f"worst {' and '.join(worst)}: {percent(f1[worst[0]])}",
            )


def _find_worst(f1: dict[str, float]) -> list[str]:
    """The case with the lowest score, or several where they are equal."""
    lowest = min(f1.values())
    return [case for case, value in f1.items() if value < lowest + TINY]


RESOLVED, SINGLETONS, ONE = "as resolved", "singletons", "one entity"
_TABLE_4 = "Moosavi and Strube 2016, Table 4"
_BOUNDARY = "Moosavi and Strube 2016, Section 3.1"
# Metric, rate, whose mentions, what became of them, the value of the rate, who says so
_BOUNDARY_VALUES = (
    ("muc", "f1", "response", SINGLETONS, 0, _TABLE_4),
    ("lea", "f1", "response", SINGLETONS, 0, _TABLE_4),
    ("b3", "precision", "key", SINGLETONS, 1, "Luo 2005"),
    ("b3", "recall", "key", ONE, 1, "Luo 2005"),
    ("muc", "recall", "key", ONE, 1, _BOUNDARY),
)


def boundary(setup: Setup) -> ExperimentResult:
    """The last rows of Moosavi and Strube's Table 4, also with the key's own mentions.

    All mentions of the response (or of the key) become singletons, or one entity for each
    document.
    """
    key = drop_repeats(setup.key_or(moosavi_strube_key))
    response = setup.response_or(partial(noisy_response, key, setup.seed))
    measurement = Measurement(setup)
    measurement.add(key, response, mentions="response", output=RESOLVED)
    cases = {
        f"{output} of the {side}'s mentions": (side, corpus, output)
        for side, corpus in (("response", response), ("key", key))
        for output in (SINGLETONS, ONE)
    }
    for _, (side, corpus, output) in setup.watch(cases):
        change = all_singletons if output == SINGLETONS else one_entity
        measurement.add(key, change(key, corpus), mentions=side, output=output)
    _state_boundary(measurement)
    x = Encoding("output", "output", "nominal")
    chart = Chart("Everything alone, everything together", x, facet="mentions", mark="bar")
    names = {"key": key.name, "response": response.name}
    return measurement.finish("boundary", "Boundary cases", charts=[chart], **names)


def _state_boundary(measurement: Measurement) -> None:
    """State what the papers say of singletons and of one entity, and whether it holds."""
    for metric, rate, side, output, value, source in _BOUNDARY_VALUES:
        with IF_MEASURED:
            measured = measurement.value(rate, metric=metric, mentions=side, output=output)
            title = measurement.title(metric)
            measurement.state(
                f"{title}: {rate} is {value} for the {side}'s mentions as {output}",
                abs(measured - value) < TINY,
                {rate: measured},
                percent(measured),
                source,
            )
    with IF_MEASURED:
        joined = measurement.f1("muc", mentions="key", output=ONE)
        resolved = measurement.f1("muc", mentions="response", output=RESOLVED)
        measurement.state(
            "MUC prefers all key mentions in one entity to the response",
            joined > resolved,
            {"one entity": joined, "response": resolved},
            f"F1 {percent(joined)} against {percent(resolved)}",
            _BOUNDARY,
        )
    for metric in ("b3", "ceafe"):
        with IF_MEASURED:
            f1 = measurement.f1(metric, mentions="response", output=SINGLETONS)
            measurement.state(
                f"{measurement.title(metric)} is above 0 when nothing is linked",
                f1 > TINY,
                {"f1": f1},
                percent(f1),
                _TABLE_4,
            )
