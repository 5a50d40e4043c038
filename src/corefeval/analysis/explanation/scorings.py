"""Many scorings of the same key and response: what protocols share is done once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corefeval.diagnostics import CorefEvalError, Notices, UsageError
from corefeval.emulation import (
    METRICS,
    Material,
    count_affected,
    emulate,
    read_text,
    score_anaphora,
    score_emulated,
)
from corefeval.evaluation import count
from corefeval.metrics import Metrics, parse_metrics
from corefeval.model import Corpus
from corefeval.pieces import as_file
from corefeval.preparation import as_corpus, prepare_inputs
from corefeval.protocol import Protocol
from corefeval.request import Input, Request
from corefeval.results import Result

Points = Mapping[str, float | None]  # by metric; None where there is no number

CONLL = "muc, b3, ceafe, conll"
SHOWN = 0.00005  # half a hundredth of a point: less is not seen with two decimals

# Choices that change rates and not counts.
_RATES = ("aggregate", "undefined", "average", "rounding")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a protocol gives: the exact F1 of each metric, or the error that says why it does not.

    A score that is no number is None.
    """

    scores: Points
    error: CorefEvalError | None = None
    notices: Notices = ()


class Scorings:
    """A key and a response under any protocol; `number` counts the protocols that were scored.

    Reading is done once (answers of language models once for each way to place strings), other
    steps once for the choices that they depend on.
    """

    def __init__(
        self,
        key: Input,
        response: Input,
        request: Request,
        metrics: Metrics,
    ) -> None:
        self._requested_metrics = list(metrics) if isinstance(metrics, Iterator) else metrics
        self.metrics = tuple(str(item.metric) for item in parse_metrics(self._requested_metrics))
        self.request, self._inputs = request, (key, response)
        self.key: Corpus = as_corpus(key, "key", request.key_reading)
        self.response: Corpus = as_corpus(
            response, "response", request.response_reading, key=self.key
        )
        self._responses = {_rules(request.protocol): self.response}
        self._materials: dict[tuple[str, ...], Material] = {}
        self.titles: dict[str, str] = {}
        self._outcomes: dict[Protocol, Outcome] = {}
        self._results: dict[Protocol, Result] = {}

    @property
    def reads_files(self) -> bool:
        """Whether there are files, which some programs read in their own way."""
        files = map(as_file, self._inputs)
        return all(file is not None and file.path != "-" for file in files)

    @property
    def number(self) -> int:
        """How many protocols were scored so far."""
        return len(self._outcomes)

    def score(self, protocol: Protocol) -> Outcome:
        """What a protocol gives."""
        if protocol not in self._outcomes:
            self._outcomes[protocol] = self._outcome(protocol)
        return self._outcomes[protocol]

    def _outcome(self, protocol: Protocol) -> Outcome:
        try:
            result = self._result(protocol)
            values = {
                metric: result[metric].f1 if metric in result.tables else math.nan
                for metric in self.metrics
            }
        except CorefEvalError as error:
            return Outcome({}, error)
        self.titles.update(result.titles)
        scores = {name: None if math.isnan(value) else value for name, value in values.items()}
        return Outcome(scores, notices=result.notices)

    def _result(self, protocol: Protocol) -> Result:
        """The result under a protocol, from what was read, prepared or counted for others."""
        if protocol.reads_itself:
            return score_emulated(self.key, self.response, self._requested_metrics, protocol)
        response = self._read(protocol)
        if protocol.emulate != "none":
            return score_anaphora(self.key, response, self._requested_metrics, protocol)
        is_shared = protocol.match == "exact" and {*self.metrics} <= {*METRICS, "conll"}
        is_shared &= protocol.layer == "identity"
        is_shared &= protocol.lost != "strict" or response.ledger is None
        if protocol.emulates or is_shared:
            if _rules(protocol) not in self._materials:
                self._materials[_rules(protocol)] = Material(self.key, response)
            material = self._materials[_rules(protocol)]
            # With split:score, links and BLANC are counted differently even without sets.
            depends = material.has_sets or not {"links", "blanc"}.isdisjoint(self.metrics)
            if protocol.emulates or protocol.split == "off" or not depends:
                return material.result(protocol, self._requested_metrics)
        defaults = {name: getattr(Protocol(), name) for name in _RATES}
        base = Protocol.of_fields(defaults, protocol)
        if base not in self._results:
            prepared = prepare_inputs(self.key, response, replace(self.request, protocol=base))
            self._results[base] = count(prepared, self._requested_metrics)
        chosen = {name: getattr(protocol, name) for name in defaults}
        counted = self._results[base]
        return replace(counted, protocol=Protocol.of_fields(chosen, counted.protocol))

    def split_emulation(self, protocol: Protocol) -> dict[str, Points]:
        """What groups of corefud-scorer's rules are worth, by their names with what they concern.

        The first is measured where spans match exactly and zeros by place, the second where zeros
        are aligned besides; the last is what the others leave.
        """
        key, response = read_text(self.key), read_text(self.response)
        notices = (*key.notices, *response.notices)
        headless = sum(notice.count for notice in notices if notice.kind == "no-heads")
        number = count_affected(emulate(key, response, protocol)) | {"headless": headless}
        rules = (
            ("reading, shared spans ({shared})", ("match", "zeros")),
            ("moved zeros ({zeros})", ("match",)),
            ("no heads ({headless}), assigned ({assigned})", ()),
        )
        worth: dict[str, Points] = {}
        before: Points = dict.fromkeys(self.metrics, 0.0)
        for name, without in rules:
            plain = {"match": "exact", "zeros": "place"}
            program = Protocol.of_fields({choice: plain[choice] for choice in without}, protocol)
            plain_scores = self.score(program.but(emulate="none")).scores
            difference = subtract(self.score(program).scores, plain_scores, self.metrics)
            worth[name.format(**number)] = subtract(difference, before, self.metrics)
            before = difference
        return worth

    def _read(self, protocol: Protocol) -> Corpus:
        """The response; answers that have strings without places are read anew for each rule."""
        if self.response.ledger is None:
            return self.response
        if _rules(protocol) not in self._responses:
            source = self._inputs[1]
            if isinstance(source, Corpus):
                raise UsageError("the answers were read already: give their files or texts")
            reading = self.request.response_reading.under(protocol)
            again = as_corpus(source, "response", reading, key=self.key)
            self._responses[_rules(protocol)] = replace(again, name=self.response.name)
        return self._responses[_rules(protocol)]


def _rules(protocol: Protocol) -> tuple[str, ...]:
    """The choices by which answers are read."""
    pieces = "joined" if protocol.pieces == "joined" else "apart"
    return protocol.occurrences, protocol.choice, pieces


def round_as(rate: float, rounding: str) -> float:
    """A rate as a program prints it in per cent.

    >>> round_as(0.702599, "truncate(2)"), round_as(0.702599, "round(1)")
    (0.7025, 0.703)
    """
    if rounding == "none":
        return rate
    decimals = int(rounding[-2])
    if rounding.startswith("round"):
        return round(100 * rate, decimals) / 100
    scale: int = 10 ** (decimals + 2)
    return math.trunc(rate * scale) / scale


def round_scores(scores: Points, rounding: str) -> Points:
    """Scores as a program prints them."""
    return {m: None if score is None else round_as(score, rounding) for m, score in scores.items()}


def subtract(scores: Points, baseline: Points, metrics: Sequence[str]) -> dict[str, float | None]:
    """The difference of scores by metric; None where either is no number."""
    differences: dict[str, float | None] = {}
    for metric in metrics:
        score, baseline_score = scores.get(metric), baseline.get(metric)
        differences[metric] = (
            None if score is None or baseline_score is None else score - baseline_score
        )
    return differences


def one_line(text: str) -> str:
    """A message of several lines on one."""
    return "; ".join(line.strip() for line in text.splitlines()).rstrip(".")
