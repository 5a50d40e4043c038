"""Two corpora, scored as version 1 of the Universal Anaphora scorer scores them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError, memory_for, merge_notices
from corefeval.emulation.anaphora import (
    Scene,
    count_bridging,
    count_pseudo,
    count_scenes,
    make_scenes,
)
from corefeval.emulation.corefud_scorer import AGGREGATES, Metrics, check_choices
from corefeval.emulation.documents import pair_corpora
from corefeval.metrics import Metric, parse_metrics, spell
from corefeval.model import DEIXIS, Corpus
from corefeval.model.identity import digest
from corefeval.model.sets import find_sets
from corefeval.protocol import Protocol
from corefeval.results import CountTable, Result

# In the program's order.
_METRICS = ("lea", "muc", "b3", "ceafe", "ceafm", "blanc", "conll")
_MORE = ("split", "bridging", "non-referring")
_CONLL = ("muc", "b3", "ceafe")
_RATIO = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
_HALVES = ("coreference", "non_coreference")
# What a protocol that names the program may say besides; all else is the program's own affair.
_VALUES = {"match": ("exact", "min"), "singletons": ("keep", "drop"), "aggregate": AGGREGATES}
_FREE = ("split", "layer", "missing", "documents", "tokens", "undefined", "rounding")


def score_anaphora(
    key: Corpus,
    response: Corpus,
    metrics: Metrics,
    protocol: Protocol,
) -> Result:
    """The program's result, with counts for each document of the key.

    A UsageError names a choice or a metric that the program does not have; an InputError says
    where it stops.
    """
    wanted = choose_metrics(metrics, protocol)
    for corpus in (key, response):
        if corpus.labels is not None:
            raise UsageError(
                f"emulate:{protocol.emulate} needs token positions, and plain Python mentions have "
                "none: give files, or spans of tokens"
            )
    with memory_for():
        paired = pair_corpora(key, response, protocol)
        document_ids = tuple(map(str, paired.key.documents))
        made = _Emulation(paired.key, paired.response, protocol)
        tables = {str(metric): made.table(metric) for metric in wanted}
        looks = protocol.split == "score" or any(metric.name == "split" for metric in wanted)
        notices = [*paired.notices, *(made.notices if looks else ())]
    return Result(
        tables=tables,
        document_ids=document_ids,
        protocol=protocol,
        key=key.name,
        response=response.name,
        key_digest=digest(key),
        notices=merge_notices(notices),
        spell=spell,
        titles={str(metric): metric.title for metric in wanted},
    )


def choose_metrics(metrics: Metrics, protocol: Protocol) -> list[Metric]:
    """The metrics that are asked for; presets leave out what the program does not have.

    Raises a UsageError for a metric or a choice that it does not have.
    """
    check_choices(protocol, _VALUES, (*_FREE, "emulate"))
    if protocol.layer == "deixis" and (protocol.singletons, protocol.split) != ("keep", "score"):
        raise UsageError(
            f"emulate:{protocol.emulate} has layer deixis only with singletons keep and split score"
        )
    wanted = []
    for request in parse_metrics(metrics):
        metric = request.metric
        parameters = {name for name, _ in metric.parameters}
        known = metric.name in _METRICS and not parameters
        if metric.name in _MORE:
            is_other = protocol.layer == "deixis"
            known = parameters <= {"metric", "level"} and not is_other
        if known:
            wanted.append(metric)
        elif request.by_name:
            has = ", ".join((*_METRICS, *(_MORE if protocol.layer == "identity" else ())))
            raise UsageError(f"emulate:{protocol.emulate} has no {metric}: it has {has}")
    return wanted


class _Emulation:
    """Both sides of all documents as the program has them."""

    def __init__(self, key: Corpus, response: Corpus, protocol: Protocol) -> None:
        self.corpora, self.protocol = (key, response), protocol
        self.loose = protocol.match == "min"
        drops = protocol.singletons == "drop"
        if drops and protocol.split == "score" and any(len(find_sets(c)) for c in self.corpora):
            raise InputError(
                "there are sets of antecedents, and the program cannot score them and drop "
                "singletons",
                fix="use --split off or --singletons keep",
            )

    def _make(self, *, with_sets: bool, keeps_singletons: bool) -> list[tuple[Scene, Scene]]:
        make = partial(
            make_scenes,
            deixis=self.protocol.layer == "deixis",
            with_sets=with_sets,
            keeps_singletons=keeps_singletons,
        )
        key = make(self.corpora[0], uses_minima=self.loose)
        return list(zip(key, make(self.corpora[1], uses_minima=False), strict=True))

    @cached_property
    def scenes(self) -> list[tuple[Scene, Scene]]:
        """Both sides of each document."""
        protocol = self.protocol
        with_sets, keeps = protocol.split == "score", protocol.singletons == "keep"
        return self._make(with_sets=with_sets, keeps_singletons=keeps)

    @cached_property
    def scenes_with_sets(self) -> list[tuple[Scene, Scene]]:
        """The same with sets and singletons, which the score of sets alone always has."""
        is_so = self.protocol.split == "score" and self.protocol.singletons == "keep"
        return self.scenes if is_so else self._make(with_sets=True, keeps_singletons=True)

    @property
    def notices(self) -> list[Notice]:
        """What was left out of sets, on which the program hangs or stops."""
        found: list[Notice] = []
        for corpus in self.corpora:
            is_deixis = corpus.mention_layer == DEIXIS
            layer = corpus.keep_mentions(is_deixis == (self.protocol.layer == "deixis"))
            found += find_sets(layer).notices(corpus.name)
        return found

    def table(self, metric: Metric) -> CountTable:
        """The counts of a metric."""
        given = dict(metric.parameters)
        if metric.name == "conll":
            return CountTable("mean", parts=_CONLL)
        if metric.name == "non-referring":
            return _ratios([count_pseudo(*one) for one in self.scenes])
        if metric.name == "bridging":
            level = str(given.get("level", "entity"))
            return _ratios([count_bridging(*one, level) for one in self.scenes])
        inner = metric.name == "split"
        name = str(given.get("metric", "muc")) if inner else metric.name
        scenes = self.scenes_with_sets if inner else self.scenes

        def count(one: str) -> list[list[float]]:
            return [count_scenes(one, *both, loose=self.loose)[inner] for both in scenes]

        if name != "blanc":
            return _ratios(count(name))
        halves = [np.array(count(half)).reshape(-1, 4)[:, [0, 1, 3]] for half in _HALVES]
        sides = ("common", "key", "response")
        columns = tuple(f"{half}_{side}" for half in _HALVES for side in sides)
        return CountTable("blanc-of-both", columns, np.hstack(halves))


def _ratios(counts: Sequence[Sequence[float]]) -> CountTable:
    values = np.array(counts, dtype=np.float64).reshape(-1, len(_RATIO))
    return CountTable("ratio", _RATIO, values)
