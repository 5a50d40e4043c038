"""The lab: change a response in known ways, and see what metrics make of it.

`PERTURBATIONS` are pure functions from a key and a response to another response; `EXPERIMENTS` are
named runs that give tidy data and sentences. Nothing here needs numpy, so that lists of experiments
cost nothing: what runs them is imported when it is used.

>>> from corefeval.lab import EXPERIMENTS
>>> result = EXPERIMENTS["boundary"].run(metrics="muc, lea")
>>> result.value("f1", metric="lea", output="singletons", mentions="key")
0.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from corefeval.checks import check_seed, did_you_mean, import_on_demand, import_place
from corefeval.diagnostics import Notices, UsageError
from corefeval.display import Record, Tabular
from corefeval.metrics import Metrics

if TYPE_CHECKING:
    from corefeval.lab.perturbations import PERTURBATIONS, compose
    from corefeval.model import Corpus

__all__ = [
    "EXPERIMENTS",
    "PERTURBATIONS",
    "Chart",
    "Encoding",
    "Experiment",
    "ExperimentResult",
    "Statement",
    "compose",
    "experiment",
]

TINY = 1e-9  # rates that differ by less are the same

Cell = str | int | float | bool | None
Row = Mapping[str, Cell]
Scale = Literal["quantitative", "ordinal", "nominal"]
Mark = Literal["line", "point", "bar", "cell"]


@dataclass(frozen=True, slots=True)
class Statement(Record):
    """A claim and whether it holds here; `detail` shows the numbers in words.

    `source` says whose claim it is, where it is not ours.
    """

    text: str
    holds: bool
    numbers: Mapping[str, float] = field(default_factory=dict)
    detail: str = ""
    source: str = ""

    def __str__(self) -> str:
        sentence = f"{'holds' if self.holds else 'does not hold'}: {self.text}"
        return f"{sentence} ({self.detail})" if self.detail else sentence


@dataclass(frozen=True, slots=True)
class Encoding:
    """A column on an axis."""

    field: str
    title: str
    scale: Scale = "quantitative"


F1 = Encoding("f1", "F1")


@dataclass(frozen=True, slots=True)
class Chart:
    """How to draw some of the rows: those that agree with `where`.

    `series` is the column that tells curves apart, `facet` the one that tells panels apart.
    """

    title: str
    x: Encoding
    y: Encoding = F1
    series: str = "title"
    facet: str = ""
    mark: Mark = "line"
    where: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class ExperimentResult(Tabular):
    """An experiment's data (a row for each output and metric), what they say, and how to draw them.

    `settings` is what it takes to repeat it. `notices` say what was left out.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    data: tuple[Row, ...]
    statements: tuple[Statement, ...] = ()
    charts: tuple[Chart, ...] = ()
    settings: Mapping[str, Cell] = field(default_factory=dict)
    notices: Notices = ()

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.data)} rows, {len(self.statements)} statements>"

    def where(self, /, **fields: Cell) -> list[Row]:
        """The rows that have these values."""
        return list(select_rows(self.data, fields))

    def value(self, column: str, /, **fields: Cell) -> float:
        """A number of the only row that has these values."""
        try:
            return find_number(self.data, column, **fields)
        except LookupError as error:
            raise UsageError(f"{self.name}: {error.args[0]}") from None

    def select(self, chart: Chart) -> list[Row]:
        """The rows that a chart shows."""
        return list(select_rows(self.data, chart.where))

    def rows(self) -> list[dict[str, Any]]:
        """The data, each row with all columns; None for what is not defined."""
        return [{column: row.get(column) for column in self.columns} for row in self.data]

    def as_dict(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "experiment": self.name,
            "title": self.title,
            "settings": dict(self.settings),
            "statements": [statement.as_dict() for statement in self.statements],
            "rows": [dict(row) for row in self.data],
            "notices": [str(notice) for notice in self.notices],
        }


def select_rows(rows: Iterable[Row], fields: Mapping[str, Cell]) -> Iterator[Row]:
    """The rows that have these values; numbers may differ by what floats lose."""
    for row in rows:
        if all(_is_equal(row.get(name), value) for name, value in fields.items()):
            yield row


def find_number(rows: Iterable[Row], column: str, /, **fields: Cell) -> float:
    """A number of the only row that has these values; a LookupError where there is none."""
    values = [row.get(column) for row in select_rows(rows, fields)]
    if len(values) != 1 or not isinstance(values[0], int | float):
        conditions = ", ".join(f"{name}={value}" for name, value in fields.items())
        raise LookupError(f"{len(values) or 'no'} rows have {conditions} and a number {column}")
    return values[0]


def percent(value: float) -> str:
    """A rate as people write it: 64.40."""
    return f"{100 * value:.2f}"


def percents(values: Mapping[str, float]) -> str:
    """Rates with their names.

    >>> percents({"muc": 0.5, "lea": 1 / 3})
    'muc 50.00, lea 33.33'
    """
    return ", ".join(f"{name} {percent(value)}" for name, value in values.items())


def _is_equal(cell: Cell, value: Cell) -> bool:
    if isinstance(cell, float) and isinstance(value, int | float):
        return abs(cell - value) < TINY
    return cell == value


Need = Literal["none", "optional"]
# Called with the name of a case, how many cases are done, and of how many.
Progress = Callable[[str, int, int], None]
Case = TypeVar("Case")


@dataclass(frozen=True, slots=True)
class Setup:
    """What an experiment is run with; None for what the experiment itself supplies."""

    key: Corpus | None = None
    response: Corpus | None = None
    metrics: Metrics | None = None
    seed: int = 0
    progress: Progress | None = None
    features: Mapping[str, object] | None = None
    tagset: object = None

    def key_or(self, make: Callable[[], Corpus]) -> Corpus:
        """The user's key, also one without documents, or else the experiment's own."""
        return make() if self.key is None else self.key

    def response_or(self, make: Callable[[], Corpus]) -> Corpus:
        """The user's response, or else the experiment's own."""
        return make() if self.response is None else self.response

    def watch(self, cases: Mapping[str, Case]) -> Iterator[tuple[str, Case]]:
        """The cases with their names, one after the other; `progress` is told of each."""
        report = self.progress or (lambda name, done, total: None)
        for done, (name, case) in enumerate(cases.items()):
            report(name, done, len(cases))
            yield name, case
        report("done", len(cases), len(cases))


@dataclass(frozen=True, slots=True)
class Experiment:
    """A named run, which data, metrics and seed determine."""

    name: str
    summary: str
    reference: str
    function: str
    key: Need = "optional"
    response: Need = "none"

    def run(
        self,
        key: object = None,
        response: object = None,
        *,
        metrics: Metrics | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        features: Mapping[str, object] | None = None,
        tagset: object = None,
    ) -> ExperimentResult:
        """Run it, on the paper's data or on yours.

        `key` and `response` are what `corefeval.score` takes. `metrics` are all that the data
        defines, if not said otherwise. `features` and `tagset` are those of `corefeval.score`.
        """
        self._check(key, response)
        check_seed(seed)
        from corefeval.preparation import as_corpus

        setup = Setup(
            key=None if key is None else as_corpus(key, "key"),
            response=None if response is None else as_corpus(response, "response"),
            metrics=metrics,
            seed=seed,
            progress=progress,
            features=features,
            tagset=tagset,
        )
        result: ExperimentResult = import_place(self.function)(setup)
        return result

    def _check(self, key: object, response: object) -> None:
        if key is not None and self.key == "none":
            raise UsageError(f"{self.name} makes its own data: give neither key nor response")
        if response is not None and self.response == "none":
            raise UsageError(f"{self.name} makes its own responses: give only a key")
        if response is not None and key is None:
            raise UsageError(f"{self.name}: a response needs its key")


_ALL = (
    Experiment(
        "mention-identification",
        "Does finding a mention pay, if it is resolved wrongly?",
        "Moosavi and Strube 2016, Table 1 and Figure 8",
        "corefeval.lab.mention_effects:mention_identification",
        response="optional",
    ),
    Experiment(
        "correct-links",
        "What is a share of the links worth, with and without wrong ones?",
        "Moosavi and Strube 2016, Figures 2 and 3",
        "corefeval.lab.moosavi_strube:correct_links",
    ),
    Experiment(
        "correct-entities",
        "What are entities worth, the largest first and the smallest first?",
        "Moosavi and Strube 2016, Figures 4 and 5",
        "corefeval.lab.moosavi_strube:correct_entities",
    ),
    Experiment(
        "splits",
        "What does it cost to split one entity?",
        "Moosavi and Strube 2016, Figure 6",
        "corefeval.lab.moosavi_strube:splits",
    ),
    Experiment(
        "extra-mentions",
        "What do mentions in no key entity cost?",
        "Moosavi and Strube 2016, Figure 7",
        "corefeval.lab.moosavi_strube:extra_mentions",
    ),
    Experiment(
        "boundary",
        "What do all singletons and one large entity score?",
        "Moosavi and Strube 2016, Table 4; Luo 2005",
        "corefeval.lab.moosavi_strube:boundary",
        response="optional",
    ),
    Experiment(
        "mention-tagger",
        "What do mentions that a tagger should not have found cost?",
        "Cai and Strube 2010, Figures 1 and 2",
        "corefeval.lab.mention_effects:mention_tagger",
        response="optional",
    ),
    Experiment(
        "weights",
        "What do the weights of names, nominals and pronouns do?",
        "Chen and Ng 2013, Figure 3",
        "corefeval.lab.weights:weights",
        response="optional",
    ),
    Experiment(
        "trust",
        "Which metric has which desirable property? With the smallest counterexample.",
        "Moosavi and Strube 2016; Luo 2005; Cai and Strube 2010",
        "corefeval.lab.trust:trust",
        key="none",
    ),
)
EXPERIMENTS: dict[str, Experiment] = {declared.name: declared for declared in _ALL}


def experiment(name: str) -> Experiment:
    """The experiment of this name."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    raise UsageError(f"there is no experiment {name!r}: {did_you_mean(name, EXPERIMENTS)}")


__getattr__ = import_on_demand(
    __name__, dict.fromkeys(("PERTURBATIONS", "compose"), ".perturbations")
)
