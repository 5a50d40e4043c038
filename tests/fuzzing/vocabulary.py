"""The metrics and features that runs may ask for."""

from __future__ import annotations

from functools import cache

from corefeval.features.declarations import FEATURES
from corefeval.metrics import REGISTRY, presets


@cache
def metrics(*, sound: bool) -> tuple[str, ...]:
    """Metrics as they are written, with every parameter; unless sound, also with nonsense."""
    names = [*presets(), *(name for one in REGISTRY.values() for name in (one.name, *one.aliases))]
    for one in REGISTRY.values():
        for parameter in one.parameters:
            others = () if sound else ("0", "1e9", "-1", "nan", "size", "x")
            values = (*(parameter.choices or (parameter.default,)), *others)
            names += [f"{one.name}({parameter.name}={value})" for value in values]
    names.append("operator:eq")  # whether the entities of a document are the same
    nonsense = (
        "operator:",
        ":eq",
        "os:getcwd",
        "math:sqrt",
        "builtins:max",
        "os:sep",
        "nowhere:f",
        "a.py:f",
        "::",
    )
    return (*names, *(() if sound else nonsense))


@cache
def features(*, sound: bool) -> tuple[str, ...]:
    """Features as they are written, with every argument; unless sound, also with nonsense."""
    bins = ("1, 2-3, 4+", "0+", *(() if sound else ("2-1", "x", "1,1")))
    places = ("tag", *(() if sound else ("5", "0", "-1", "x")))
    names = ["etype", "size", "length", "distance", "nested", "genre", "words", "kind"]
    for one in FEATURES.values():
        names += [one.name] if not one.takes_name else [f"{one.name}({place})" for place in places]
        names += [f"{one.name}({word})" for word in one.words]
        names += [f"{one.name}({name}={value})" for name in one.settings for value in places]
        names += [f"{one.name}({text})" for text in bins if one.takes_bins]
    names += [f"{one}*{other}" for one in ("genre", "kind") for other in ("size", "tag", "etype")]
    crossed = ("*", "kind*", "kind*kind", "kind*size*tag*genre")
    return (*names, *(() if sound else ("size(", "(1)", "metadata()", "x", *crossed)))
