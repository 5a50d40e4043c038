"""The experiments: their names, what they need, and how to run them.

Nothing here needs numpy, so that lists of experiments cost nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from corefeval.checks import check_seed, did_you_mean
from corefeval.diagnostics import UsageError
from corefeval.lab.findings import ExperimentResult
from corefeval.metrics import Metric

if TYPE_CHECKING:
    from corefeval.model import Corpus

Need = Literal["none", "optional"]
Metrics = str | Metric | Iterable[str | Metric]
# Called with what is being done, how much of it is done, and of how much.
Progress = Callable[[str, int, int], None]


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

    def report(self, what: str, done: int, total: int) -> None:
        """Tell whoever wants to know how far it is."""
        if self.progress is not None:
            self.progress(what, done, total)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A named, reproducible run: the same data, metrics and seed give the same result."""

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
        module, _, function = self.function.partition(":")
        result: ExperimentResult = getattr(importlib.import_module(module), function)(setup)
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
        "corefeval.lab.identification:mention_identification",
        response="optional",
    ),
    Experiment(
        "correct-links",
        "What is a share of the links worth, with and without wrong ones?",
        "Moosavi and Strube 2016, Figures 2 and 3",
        "corefeval.lab.resolved:correct_links",
    ),
    Experiment(
        "correct-entities",
        "What are entities worth, the largest first and the smallest first?",
        "Moosavi and Strube 2016, Figures 4 and 5",
        "corefeval.lab.resolved:correct_entities",
    ),
    Experiment(
        "splits",
        "What does it cost to split one entity?",
        "Moosavi and Strube 2016, Figure 6",
        "corefeval.lab.errors:splits",
    ),
    Experiment(
        "extra-mentions",
        "What do mentions cost that are in no key entity?",
        "Moosavi and Strube 2016, Figure 7",
        "corefeval.lab.errors:extra_mentions",
    ),
    Experiment(
        "boundary",
        "What do all singletons and one large entity score?",
        "Moosavi and Strube 2016, Table 4; Luo 2005",
        "corefeval.lab.boundary:boundary",
        response="optional",
    ),
    Experiment(
        "mention-tagger",
        "What do mentions cost that a tagger should not have found?",
        "Cai and Strube 2010, Figures 1 and 2",
        "corefeval.lab.tagger:mention_tagger",
        response="optional",
    ),
    Experiment(
        "weights",
        "What do the weights of names, nominals and pronouns do?",
        "Chen and Ng 2013, Figure 3",
        "corefeval.lab.weighing:weights",
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
EXPERIMENTS: dict[str, Experiment] = {one.name: one for one in _ALL}


def experiment(name: str) -> Experiment:
    """The experiment of this name."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    raise UsageError(f"there is no experiment {name!r}: {did_you_mean(name, EXPERIMENTS)}")
