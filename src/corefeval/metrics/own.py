"""Metrics of one's own: plain functions, declared by a decorator, named by their place, or found.

A function is given an `Alignment`, or the entities of one document of each side, and returns
counts or rates. It is known by the name that it was declared with; without one by its place,
`module:function`, which parses back wherever the module can be imported.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import math
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from corefeval.checks import check_choice
from corefeval.diagnostics import CorefEvalError, UsageError
from corefeval.metrics import REGISTRY, Metric, register
from corefeval.metrics.declarations import Declaration, Level, Parameter, Shape

if TYPE_CHECKING:
    from corefeval.alignment import Alignment

GROUP = "corefeval.metrics"  # the entry points by which packages offer metrics
FORMS = "f(alignment), or f(key, response) of the entities of a document"

Function = TypeVar("Function", bound=Callable[..., object])
Entities = list[frozenset[int]]


@overload
def metric(function: Function, /) -> Function: ...
@overload
def metric(
    *,
    name: str = "",
    title: str = "",
    reference: str = "",
    shape: Shape = "ratio",
    needs: Sequence[str] = (),
    levels: Sequence[Level] = ("document",),
) -> Callable[[Function], Function]: ...
def metric(
    function: Any = None,
    /,
    *,
    name: str = "",
    title: str = "",
    reference: str = "",
    shape: Shape = "ratio",
    needs: Sequence[str] = (),
    levels: Sequence[Level] = ("document",),
) -> Any:
    """Declare a function as a metric: `@corefeval.metric(name="own")`, or `@corefeval.metric`.

    A function of one argument is given the `Alignment` of all documents, and returns arrays of
    `alignment.n_groups` numbers. One of two is given the entities of each document of the key and
    of the response, as lists of sets of mentions (numbers; matched mentions are equal), and returns
    numbers. Both return a mapping from `recall` and `precision` to a pair of numerator and
    denominator, which add up over documents; or to a rate, whose mean over documents counts, NaN
    being nothing; or one rate for both; or a mapping with the counts of another `shape`. Further
    arguments have a number as default, and are parameters of the metric: `own(weight=2)`.

    `needs` are features that the metric cannot do without, `levels` what its counts can be divided
    by: a function of entities can only be divided by document. Raises a UsageError if it is no
    such function.

    >>> @metric(name="exact-entities")
    ... def find_exact(key, response):
    ...     found = len(set(key) & set(response))
    ...     return {"recall": (found, len(key)), "precision": (found, len(response))}
    >>> import corefeval
    >>> result = corefeval.score([["a", "b"], ["c"]], [["a", "b"]], metrics="exact-entities")
    >>> result["exact-entities"]
    <exact-entities: recall=0.5000, precision=1.0000, f1=0.6667>
    >>> del REGISTRY["exact-entities"]
    """
    about = Declaration(name, title, reference=reference, shape=shape)
    about = replace(about, needs=_as_tuple(needs), levels=_as_tuple(levels))
    if function is None:
        return lambda function: metric_of(function, about) and function
    metric_of(function, about)
    return function


def _as_tuple(names: Sequence[str]) -> Any:
    return (names,) if isinstance(names, str) else tuple(names)


def metric_of(function: object, about: Declaration) -> str:
    """Register a function as a metric, and return its name."""
    if not inspect.isroutine(function):
        raise UsageError(f"{function!r:.60} is no metric: a metric is a function, {FORMS}")
    place = place_of(function)
    name = about.name or function.__name__
    counts_entities, parameters = _read_signature(function)
    for level in about.levels:
        check_choice(f"a level of {name}", level, get_args(Level))
        if counts_entities and level != "document":
            raise UsageError(f"{name}: entities of documents cannot be divided by {level}")
    lines = (inspect.getdoc(function) or "").splitlines()
    declaration = replace(
        about,
        name=name,
        summary=lines[0] if lines else "",
        parameters=parameters,
        function=_Counting(function, counts_entities),
    )
    earlier = REGISTRY.get(name)
    if earlier is not None and place and place_of(earlier.function) == place:
        del REGISTRY[name]  # a cell of a notebook that is run again
    register(declaration)
    return name


def find_metric(text: str) -> str | None:
    """The name of the metric at a place, or of the one that a package offers by entry point.

    None if there is none of that name. Raises a UsageError if the place cannot be imported, or is
    no metric.
    """
    module, colon, attribute = text.partition(":")
    if colon:
        return _register_place(module.strip(), attribute.strip())
    for entry in _entry_points():
        if entry.name == text:
            return _load(entry)
    return None


def known_at(place: str) -> str:
    """The name of the registered metric whose function is at a place; empty if there is none."""
    names = (
        name
        for name, declaration in REGISTRY.items()
        if place in (name, place_of(declaration.function))
    )
    return next(names, "")


def load_offered() -> list[UsageError]:
    """Register the metrics that installed packages offer by entry point; returns the errors."""
    problems = []
    for entry in _entry_points():
        try:
            _load(entry)
        except UsageError as error:
            problems.append(error)
    return problems


def _entry_points() -> Sequence[Any]:
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))


def _load(entry: Any) -> str:
    """Register the metric of an entry point, by the entry's name if it was not declared."""
    module, _, attribute = entry.value.partition(":")
    return _register_place(module.strip(), attribute.strip(), entry.name)


def _register_place(module: str, attribute: str, name: str = "") -> str:
    """The name of the metric at a place, which is imported and registered if need be."""
    place = f"{module}:{attribute}"
    is_module = all(part.isidentifier() for part in module.split("."))
    if not attribute or not is_module or module.endswith(".py"):
        file = os.path.basename(module.removesuffix(".py")) or "my_module"
        fix = f"{file}:{attribute or 'my_metric'}"
        fix += f", in the folder of {file}.py" if os.path.dirname(module) else ""
        raise UsageError(f"{place!r} is not a metric: write module:function, such as {fix}")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())  # modules of the current folder, as with `python -m`
    try:
        value: Any = importlib.import_module(module)
        for part in attribute.split("."):
            value = getattr(value, part)
    except ModuleNotFoundError as error:
        why = f"there is no module {error.name!r}"
        raise UsageError(f"{place} cannot be imported: {why}, here or installed") from None
    except AttributeError as error:
        raise UsageError(f"{place} cannot be imported: {error}") from None
    except UsageError as error:  # a declaration that is wrong
        raise UsageError(f"{place}: {error}") from None
    except (Exception, SystemExit) as error:  # a script may end the program
        raise UsageError(f"{place} cannot be imported: {_describe_error(error, module)}") from error
    for registered, declaration in REGISTRY.items():
        if getattr(declaration.function, "function", declaration.function) is value:
            return registered
    if isinstance(value, Declaration):
        if value.name not in REGISTRY:
            register(value)
        return value.name
    if not inspect.isroutine(value):
        raise UsageError(
            f"{place} is {value!r:.60}, and no metric: a metric is a function, {FORMS}"
        )
    return metric_of(value, Declaration(name or place, title=attribute))


def place_of(function: object) -> str:
    """Where a function can be imported from, `module:function`; empty for an inner function."""
    function = getattr(function, "function", function)
    module, name = (getattr(function, part, "") for part in ("__module__", "__qualname__"))
    return f"{module}:{name}" if module and name and "<" not in name else ""


def digest_code(metric: Metric) -> str:
    """A digest of the source of a metric's module: cached results must not outlive a change."""
    function = metric.declaration.function
    function = getattr(function, "function", function)
    try:
        text = inspect.getsource(sys.modules[getattr(function, "__module__", "")])
    except (KeyError, OSError, TypeError):  # typed by hand, or no Python
        text = repr(getattr(getattr(function, "__code__", None), "co_code", function))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read_signature(function: Callable[..., object]) -> tuple[bool, tuple[Parameter, ...]]:
    """Whether a function takes the entities of both sides, and its further parameters."""
    name = getattr(function, "__name__", "it")
    try:
        signature = inspect.signature(function)
    except ValueError:  # some built-in functions have no signature
        raise UsageError(f"{name} is no metric. A metric is {FORMS}") from None
    arguments = list(signature.parameters.values())
    counted = [a for a in arguments if a.default is a.empty and a.kind != a.KEYWORD_ONLY]
    settings = arguments[len(counted) :]
    wrong = [
        a.name
        for a in arguments
        if a.kind in (a.VAR_POSITIONAL, a.VAR_KEYWORD)
        or (a in settings and not _is_number(a.default))
    ]
    if wrong or len(counted) not in (1, 2):
        why = f" {wrong[0]!r} has no number as default." if wrong and counted else ""
        raise UsageError(
            f"{name}{signature} is no metric.{why} A metric is {FORMS}; whatever else it takes has "
            "a number as default"
        )
    parameters = (Parameter(a.name, float(a.default), "") for a in settings)
    return len(counted) == 2, tuple(parameters)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class _Counting:
    """A user's function as the registry has it: of an alignment, or of a document's entities."""

    function: Callable[..., object]
    counts_entities: bool

    def __call__(self, alignment: Alignment, **parameters: float) -> Mapping[str, Any]:
        function = _bind(self.function, parameters)
        if not self.counts_entities:
            return as_counts(_call(function, alignment))
        sides = alignment.remember("entities of documents", lambda: list_entities(alignment))
        documents = list(zip(*sides, strict=True))
        rows = [as_counts(_call(function, *sides)) for sides in documents or [([], [])]]
        if any(row.keys() != rows[0].keys() for row in rows):
            raise UsageError("its function gives other counts for some documents than for others")
        return {name: [row[name] for row in rows[: len(documents)]] for name in rows[0]}


def list_entities(alignment: Alignment) -> tuple[list[Entities], list[Entities]]:
    """The entities of each document, for both sides, as sets of numbers of mentions."""
    import numpy as np

    partner, n_key = alignment.swapped.partner, alignment.key.mention_entity.size
    numbers = np.arange(n_key), np.where(partner >= 0, partner, n_key + np.arange(partner.size))
    lists: list[list[Entities]] = []
    for side, number in zip((alignment.key, alignment.response), numbers, strict=True):
        ends = np.cumsum(side.sizes).tolist()
        mentions = number[side.chain].tolist()
        documents: list[Entities] = [[] for _ in range(alignment.n_documents)]
        for document, first, last in zip(
            side.entity_document.tolist(), [0, *ends], ends, strict=False
        ):
            if first < last:
                documents[document].append(frozenset(mentions[first:last]))
        lists.append(documents)
    return lists[0], lists[1]


def as_counts(returned: object) -> Mapping[str, Any]:
    """The counts that a function returned, or those of the rates that it returned."""
    if returned is None:
        raise UsageError("its function returns nothing: return counts or rates")
    if not isinstance(returned, Mapping):
        returned = dict.fromkeys(("recall", "precision"), returned)
    if returned.keys() != {"recall", "precision"}:
        return returned
    counts: dict[str, Any] = {}
    for rate in ("recall", "precision"):
        value = returned[rate]
        pair = value if isinstance(value, tuple) and len(value) == 2 else _as_mean(value)
        counts |= {f"{rate}_numerator": pair[0], f"{rate}_denominator": pair[1]}
    return counts


def _as_mean(rate: object) -> tuple[Any, Any]:
    """A rate as counts whose sum over documents gives their mean; NaN counts as no document."""
    import numpy as np

    try:
        values = np.asarray(rate, dtype=np.float64)
    except (TypeError, ValueError):
        values = None
    if rate is None or values is None:
        raise UsageError(f"its function returns no number but {type(rate).__name__} {rate!r:.60}")
    is_number = ~np.isnan(values)
    return np.where(is_number, values, 0.0), is_number.astype(np.float64)


def _bind(function: Callable[..., object], parameters: Mapping[str, float]) -> partial[object]:
    """A function with its parameters set; numbers are integers where the default is one."""
    declared = inspect.signature(function).parameters if parameters else {}
    values = {
        name: int(value) if isinstance(declared[name].default, int) and value % 1 == 0 else value
        for name, value in parameters.items()
    }
    return partial(function, **values)


def _call(bound: partial[object], *sides: object) -> object:
    """What a function returns; a UsageError where it raises an error that is not corefeval's."""
    try:
        return bound(*sides)
    except CorefEvalError:
        raise
    except (Exception, SystemExit) as error:
        message = f"its function raised {_describe_error(error, bound.func.__module__)}"
        raise UsageError(message) from error


def _describe_error(error: BaseException, module: str) -> str:
    """What was raised, and in which line of the module if it was raised there."""
    file = getattr(sys.modules.get(module), "__file__", None)
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == file
    ]
    if isinstance(error, SyntaxError):  # its message has the line
        lines = []
    where = f" ({os.path.basename(file)}, line {lines[-1]})" if file and lines else ""
    return " ".join(f"{type(error).__name__}: {error}".split())[:160] + where
