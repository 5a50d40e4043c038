"""The metrics: declared in one place, counted by small pure functions over an alignment.

A metric is a value whose text parses back to it, such as `lea(importance=one)`. The registry has
the declarations. Nothing here needs numpy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from corefeval.checks import (
    check_choice,
    check_type,
    did_you_mean,
    import_place,
    parse_call,
    split_list,
)
from corefeval.diagnostics import UndefinedMetricError, UsageError
from corefeval.metrics.declarations import (
    STANDARD,
    Declaration,
    Level,
    Parameter,
    Shape,
    Value,
)
from corefeval.metrics.papers import PAPERS

if TYPE_CHECKING:
    from corefeval.alignment import Alignment
    from corefeval.metrics.coreference import Counts

__all__ = [
    "DEFAULT_PRESET",
    "REGISTRY",
    "Declaration",
    "Metric",
    "MetricRequest",
    "Metrics",
    "Parameter",
    "parse_metrics",
    "presets",
    "register",
    "spell",
]

REGISTRY: dict[str, Declaration] = {
    declaration.name: declaration for declaration in (*STANDARD, *PAPERS)
}

DEFAULT_PRESET = "standard"
# The standard metrics are those of the official scorer, and LEA. Of the papers' policies for
# twinless mentions the presets have the one that their authors advise.
_STANDARD = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll")
_PAPERS = (
    *("lea", "b3(twinless=sys)", "ceafm(twinless=sys)", "lmuc", "lb3", "lceafm", "lceafe"),
    *("immediate", "inferred", "anchors", "p-link"),
)
_ANAPHORA = (
    *("muc", "b3", "ceafe", "conll", "split", "bridging(level=anaphor)"),
    *("bridging(level=mention)", "bridging", "non-referring"),
)


def presets() -> dict[str, tuple[str, ...]]:
    """The named lists of metrics; `all` are all of coreference in the registry."""
    of_coreference = (name for name, declared in REGISTRY.items() if not declared.beyond)
    return {
        "standard": _STANDARD,
        "papers": _PAPERS,
        "anaphora": _ANAPHORA,
        "all": tuple(dict.fromkeys((*_STANDARD, *_PAPERS, *of_coreference))),
    }


def register(declaration: Declaration) -> None:
    """Add a metric of your own: it is then parsed, listed and scored like the built-in ones."""
    check_type("register", declaration, Declaration, "Declaration('own', function=f) is one")
    if not re.fullmatch(r"[\w.-]+(:[\w.]+)?", str(declaration.name)):
        raise UsageError(
            f"{declaration.name!r} is not a name for a metric: use letters, digits, dots and "
            "hyphens, as in Declaration('own', function=f)"
        )
    if declaration.name in REGISTRY or declaration.name in presets():
        raise UsageError(
            f"a metric or preset {declaration.name!r} already exists: give yours another name"
        )
    check_choice(f"the shape of {declaration.name}", declaration.shape, get_args(Shape))
    function = declaration.function
    if declaration.shape != "mean" and not callable(function) and ":" not in str(function):
        raise UsageError(
            f"{declaration.name} has no counting function but {function!r}: declare it as "
            "function=f, or as text, 'module:function'"
        )
    REGISTRY[declaration.name] = declaration


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its parameters; those at their default are left out.

    >>> Metric.parse("B-cubed") == Metric.parse("b3")
    True
    >>> str(Metric.parse("LEA( importance = one )"))
    'lea(importance=one)'
    """

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        declaration = REGISTRY.get(self.name)
        names = [parameter.name for parameter in declaration.parameters] if declaration else []
        if declaration is None or any(key not in names for key, _ in self.parameters):
            raise UsageError(f"there is no metric {self}: make metrics with Metric.of or .parse")

    @staticmethod
    def of(name: str, /, **parameters: object) -> Metric:
        """A metric from Python values: `Metric.of("lea", importance=my_function)`."""
        declaration, written = _find(name)
        parameters = {**written, **parameters}
        declared = {parameter.name: parameter for parameter in declaration.parameters}
        for key in parameters:
            if key not in declared:
                has = ", ".join(declared) or "none"
                raise UsageError(f"{declaration.name} has no parameter {key!r} (it has {has})")
        values = [
            (key, parameter.check(parameters[key], declaration.name))
            for key, parameter in declared.items()
            if key in parameters
        ]
        unusual = tuple((key, value) for key, value in values if value != declared[key].default)
        return Metric(declaration.name, unusual)

    @staticmethod
    def parse(text: str) -> Metric:
        """A metric from its text, in any spelling: `b3`, `B³`, `bcub`, `lea(importance=one)`."""
        call = parse_call(text, "metric", "parameter=value")
        for argument in call.arguments:
            raise UsageError(f"{text!r}: write parameters as name=value, not {argument!r}")
        return Metric.of(call.name, **call.settings)

    def __reduce__(self) -> tuple[object, ...]:
        """What restores it in another process, with the place of a function of your own."""
        place = ""
        if self.name in REGISTRY and not self.is_own:
            from corefeval.metrics.own import place_of

            place = place_of(self.declaration.function)
        return _restore, (self.name, self.parameters, place)

    @property
    def declaration(self) -> Declaration:
        """What the registry says about this metric."""
        try:
            return REGISTRY[self.name]
        except KeyError:
            raise UsageError(
                f"the metric {self.name} is not known in this process: define it at the top of a "
                "module that every process can import"
            ) from None

    @property
    def is_own(self) -> bool:
        """Whether it is one of corefeval's own, whose counts need no check."""
        return self.shape == "mean" or str(self.declaration.function).startswith("corefeval.")

    @property
    def identity(self) -> str:
        """Its text, with a digest of the code if it is a metric of your own."""
        if self.is_own:
            return str(self)
        from corefeval.metrics.own import digest_code

        return f"{self} {digest_code(self)}"

    @property
    def shape(self) -> Shape:
        """Which rates follow from the counts, and how."""
        values = dict(self.parameters)
        for parameter in self.declaration.parameters if values else ():
            for value, shape in parameter.shapes:
                if values.get(parameter.name) == value:
                    return shape
        return self.declaration.shape

    @property
    def title(self) -> str:
        """The name for tables: `B³-sys`, `LEA(importance=one)`."""
        title = self.declaration.title or self.name
        if not self.parameters:
            return title
        suffixes = {
            parameter.name for parameter in self.declaration.parameters if parameter.suffixes
        }
        title += "".join(f"-{value}" for key, value in self.parameters if key in suffixes)
        shown = Metric(self.name, tuple(p for p in self.parameters if p[0] not in suffixes))
        return title + str(shown).removeprefix(self.name)

    @property
    def by(self) -> str | None:
        """The feature that divides the metric itself: empty for the default, None without one."""
        for parameter in self.declaration.parameters:
            if parameter.is_feature:
                return str(dict(self.parameters).get(parameter.name, ""))
        return None

    def divides_by(self, level: Level) -> bool:
        """Whether its counts can be divided by features of this level."""
        parts = [Metric.parse(part) for part in self.declaration.parts]
        if parts:
            return all(part.divides_by(level) for part in parts)
        # Policies for twinless mentions put mentions where their own side does not have them.
        twinless = level != "document" and "twinless" in dict(self.parameters)
        return level in self.declaration.levels and not twinless

    def count(self, alignment: Alignment) -> Counts:
        """The metric's counts: arrays with a number for each group of the alignment.

        Raises an UndefinedMetricError where sets of antecedents count, and the metric has no
        definition with them.
        """
        function = self.declaration.function
        if alignment.scores_sets and not self.declaration.with_sets:
            message = "has no definition with sets of antecedents: leave out split score"
            raise UndefinedMetricError(f"{self} {message}")
        if isinstance(function, str):
            function = _import_function(function, self.name)
        try:
            return function(alignment, **dict(self.parameters))  # type: ignore[return-value]
        except UsageError as error:
            if self.is_own:
                raise
            raise UsageError(f"{self}: {error.command_text}") from error.__cause__

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        settings = ", ".join(f"{key}={_spell_value(value)}" for key, value in self.parameters)
        return f"{self.name}({settings})"


class MetricRequest(NamedTuple):
    """A metric that somebody asks for, by its name or as part of a preset."""

    metric: Metric
    by_name: bool


Metrics = str | Metric | Iterable[str | Metric | MetricRequest]


def parse_metrics(metrics: Metrics) -> list[MetricRequest]:
    """The metrics that a text or list asks for, presets expanded, each one once.

    >>> [str(request.metric) for request in parse_metrics("conll, lea")]
    ['muc', 'b3', 'ceafe', 'conll', 'lea']
    """
    if isinstance(metrics, str):  # remembered, because loops ask for the same text many times
        registered, requests = _PARSED.get(metrics, ([], []))
        if registered != [*REGISTRY.values()]:
            requests = _parse_items([metrics])
            _PARSED[metrics] = [*REGISTRY.values()], requests  # parsing may register metrics
        return [*requests]
    return _parse_items([metrics] if isinstance(metrics, Metric) else metrics)


# By text: the declarations that were registered when it was parsed, and the metrics it asks for.
_PARSED: dict[str, tuple[list[Declaration], list[MetricRequest]]] = {}


def _parse_items(items: Iterable[str | Metric | MetricRequest]) -> list[MetricRequest]:
    """The metrics that items of a list ask for, presets expanded, each one once."""
    if not isinstance(items, Iterable) or isinstance(items, Mapping):
        raise UsageError(f"metrics are names, Metric values or a list of them, not {items!r:.60}")
    is_named: dict[Metric, bool] = {}
    for item in items:
        if isinstance(item, MetricRequest):  # parsed before, perhaps in another process
            is_named[item.metric] = item.by_name
            continue
        if not isinstance(item, str | Metric):
            raise UsageError(f"a metric is a name or a Metric value, not {item!r:.60}")
        for name in split_list(item) if isinstance(item, str) else [item]:
            preset = presets().get(name.strip().lower()) if isinstance(name, str) else None
            for listed in preset or (name,):
                metric = listed if isinstance(listed, Metric) else Metric.parse(listed)
                for part in (*map(Metric.parse, metric.declaration.parts), metric):
                    is_named[part] = is_named.get(part, False) or preset is None
    if not is_named:
        raise UsageError("no metric was chosen")
    texts = [str(metric) for metric in is_named]
    for text in texts:
        if texts.count(text) > 1:
            raise UsageError(f"two metrics are written {text}: give their functions other names")
    return [MetricRequest(metric, by_name) for metric, by_name in is_named.items()]


def _restore(name: str, parameters: tuple[tuple[str, Value], ...], place: str) -> Metric:
    """A metric from another process; one that is not registered here raises when it is used."""
    if name not in REGISTRY and place:
        from corefeval.metrics.own import find_metric

        with suppress(UsageError):
            find_metric(place)
    metric = object.__new__(Metric)
    object.__setattr__(metric, "name", name)
    object.__setattr__(metric, "parameters", parameters)
    return metric


def spell(text: str) -> str:
    """The canonical spelling of a metric, from any.

    Texts may come from files that nobody checked: no module is imported for a place that is not
    registered, which stays as it is written.
    """
    if ":" in text and text.strip() not in REGISTRY:
        from corefeval.metrics.own import known_at

        name, bracket, arguments = text.strip().partition("(")
        registered = known_at(name.strip())
        return str(Metric.parse(registered + bracket + arguments)) if registered else text.strip()
    return str(Metric.parse(text))


@lru_cache(maxsize=64)
def _import_function(place: str, metric: str) -> Callable[..., Mapping[str, Any]]:
    """The function that `module:function` names."""
    try:
        function: Callable[..., Mapping[str, Any]] = import_place(place)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{metric}: {place!r} is not a counting function ({error}): declare it as "
            "function=f, or as text, 'module:function'"
        ) from None
    return function


def _spell_value(value: Value) -> str:
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return f"{value:g}" if isinstance(value, float) else value


def _find(name: str) -> tuple[Declaration, dict[str, str]]:
    """The metric that a name or place means, and the parameter that a name such as `b3-sys` has.

    Raises a UsageError if there is none.
    """
    if name in REGISTRY:
        return REGISTRY[name], {}
    spelling = _fold_spelling(name)
    for declaration in REGISTRY.values() if ":" not in name else ():
        spellings = [_fold_spelling(alias) for alias in (declaration.name, *declaration.aliases)]
        if spelling in spellings:
            return declaration, {}
        for parameter in declaration.parameters:
            for choice in parameter.choices if parameter.suffixes else ():
                if spelling in (alias + choice for alias in spellings):
                    return declaration, {parameter.name: choice}
    from corefeval.metrics.own import find_metric

    if name.lower() in presets():
        raise UsageError(f"{name!r} is a preset of several metrics, without parameters")
    base, hyphen, suffix = ("", "", "") if ":" in name else name.rpartition("-")
    if hyphen and any(
        _fold_spelling(base) == _fold_spelling(registered) for registered in REGISTRY
    ):
        choices = [
            choice
            for parameter in _find(base)[0].parameters
            if parameter.suffixes
            for choice in parameter.choices
        ]
        has = f"its policies are {', '.join(choices)}" if choices else "it has none"
        raise UsageError(f"there is no policy {suffix!r} of {base}: {has}")
    if registered := find_metric(name):
        return REGISTRY[registered], {}
    names = [*REGISTRY, *presets()]
    raise UsageError(f"there is no metric {name!r}: {did_you_mean(name.lower(), names)}")


def _fold_spelling(name: str) -> str:
    return re.sub(r"[-_\s]", "", name.lower().replace("³", "3"))
