"""How much numbers depend on each choice, and which choices give a number that was published."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from corefeval.analysis.explanation.differences import PIPELINE
from corefeval.analysis.explanation.scorings import (
    SHOWN,
    Outcome,
    Points,
    Scorings,
    one_line,
    round_as,
    round_scores,
    subtract,
)
from corefeval.diagnostics import Notices, UsageError, merge_notices, plural
from corefeval.display import Record, Row, Tabular, distinct_names
from corefeval.formats.conll.lines import OFFICIAL_DOCUMENT
from corefeval.formats.conll.tokens import ConllLines
from corefeval.metrics import Metric
from corefeval.model import Corpus
from corefeval.protocol import NAMED, STEPS, Protocol, choices

_GIVEN = "as given"
_OFFICIAL = ("conll-8.01", "conll-lea", "e2e-official")  # the numbers of the official scorer
_UNSEEN = "the official scorer does not see every document: corefeval check shows the lines"
_LEFT_OUT = ("emulate", "documents", "layer", "spans", "tagset")


def other_values(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Every choice with each value that it does not have in a protocol, as the pipeline has them.

    A choice that takes any text has the values that named protocols give it. What says which data
    is scored, and what only a program as a whole has, is left out.
    """
    all_choices = choices(STEPS)
    for name in PIPELINE:
        if name not in _LEFT_OUT:
            named = (str(named_protocol.choices.get(name, "")) for named_protocol in NAMED.values())
            values = all_choices[name].spellings or dict.fromkeys(filter(None, named))
            for value in dict.fromkeys((all_choices[name].default, *values)):
                if value != getattr(protocol, name):
                    yield name, value


@dataclass(frozen=True, slots=True)
class ChoiceEffect:
    """A value of a choice: for each response the points that it is worth, and why it has none.

    `points` has a mapping from metrics for each response, against the default.
    """

    choice: str
    value: str
    points: tuple[Points, ...]
    refusals: tuple[str, ...]

    @property
    def name(self) -> str:
        """The choice and the value, as people read it."""
        return f"{self.choice.replace('_', '-')} {self.value}"

    @property
    def size(self) -> float:
        """The largest of the points, of either sign."""
        values = (value for points in self.points for value in points.values())
        numbers = (value for value in values if value is not None)
        return max(map(abs, numbers), default=0.0)

    @property
    def is_shown(self) -> bool:
        """Whether anything of it can be seen with two decimals."""
        return self.size >= SHOWN


@dataclass(frozen=True, slots=True)
class Turn(Record):
    """Two responses whose order by a metric is reversed by the values of choices in `values`."""

    metric: str
    above: str
    below: str
    values: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Sensitivity(Tabular):
    """How much numbers depend on each choice: `effects` of each of its other values, largest first.

    `scores` are those of each response under `protocol`. `turns` are pairs of responses whose order
    depends on a choice.

    >>> from corefeval import explain
    >>> found = explain([["a", "b"], ["c"]], [["a", "b"], ["c"]])
    >>> found.effects[0].name, round(found.effects[0].points[0]["conll"], 4)
    ('singletons drop-response', -0.1778)
    """

    key: str
    responses: tuple[str, ...]
    protocol: Protocol
    metrics: tuple[str, ...]
    titles: Mapping[str, str]
    scores: tuple[Points, ...]
    effects: tuple[ChoiceEffect, ...]
    turns: tuple[Turn, ...]
    notices: Notices = ()

    @property
    def without_effect(self) -> str:
        """The values that change nothing that can be seen, on one line."""
        return group_values(
            (effect.choice, effect.value)
            for effect in self.effects
            if not effect.is_shown and not any(effect.refusals)
        )

    @property
    def refused(self) -> list[str]:
        """A sentence for each reason why values give no number."""
        reasons: dict[str, dict[tuple[str, str], None]] = {}
        for effect in self.effects:
            for reason in filter(None, effect.refusals):
                values = reasons.setdefault(one_line(reason), {})
                values[effect.choice, effect.value] = None
        return [f"No number with {group_values(v)}: {why}." for why, v in reasons.items()]

    @property
    def turned(self) -> list[str]:
        """A sentence for each two responses whose order by a metric depends on a choice."""
        return [
            f"{self.titles.get(turn.metric, turn.metric)}: {turn.above} is above {turn.below}, "
            f"but not with {', '.join(turn.values)}."
            for turn in self.turns
        ]

    def rows(self) -> list[Row]:
        """One row for each value of each choice, response and metric."""
        return [
            {
                "choice": effect.choice,
                "value": effect.value,
                "response": response,
                "metric": metric,
                "points": points.get(metric),
                "refusal": refusal or None,
            }
            for effect in self.effects
            for response, points, refusal in zip(
                self.responses, effect.points, effect.refusals, strict=True
            )
            for metric in self.metrics
        ]

    def as_dict(self) -> Row:
        """For JSON."""
        return {
            "key": self.key,
            "protocol": str(self.protocol),
            "responses": dict(zip(self.responses, self.scores, strict=True)),
            "effects": [
                {
                    "choice": effect.choice,
                    "value": effect.value,
                    "points": dict(zip(self.responses, effect.points, strict=True)),
                    "refusals": {
                        name: why
                        for name, why in zip(self.responses, effect.refusals, strict=True)
                        if why
                    },
                }
                for effect in self.effects
            ],
            "turns": [turn.as_dict() for turn in self.turns],
            "notices": [notice.as_dict() for notice in self.notices],
        }

    def __repr__(self) -> str:
        shown = sum(effect.is_shown for effect in self.effects)
        responses = plural(len(self.responses), "response")
        values = plural(len(self.effects), "value")
        return f"<Sensitivity of {responses} to {values}, of which {shown} matter>"


def group_values(values: Iterable[tuple[str, str]]) -> str:
    """Choices with their values, as people read them.

    >>> group_values([("order", "open"), ("order", "close"), ("owner", "first")])
    'order open, close; owner first'
    """
    groups: dict[str, list[str]] = {}
    for choice, value in values:
        groups.setdefault(choice.replace("_", "-"), []).append(value)
    return "; ".join(
        f"{choice} {', '.join(choice_values)}" for choice, choice_values in groups.items()
    )


def measure_choices(scored: Sequence[Scorings], protocol: Protocol) -> Sensitivity:
    """How much the numbers of the responses depend on each choice.

    Raises the error of a response that gives no number under the protocol itself.
    """
    base = protocol.but(rounding="none")
    outcomes = [scorings.score(base) for scorings in scored]
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    metrics = scored[0].metrics
    defaults = [outcome.scores for outcome in outcomes]
    effects = [_measure(scored, defaults, protocol, *value) for value in other_values(protocol)]
    effects.sort(key=lambda effect: -round(effect.size, 9))
    names = tuple(distinct_names([scorings.response.name or "response" for scorings in scored]))
    return Sensitivity(
        key=scored[0].key.name,
        responses=names,
        protocol=protocol,
        metrics=metrics,
        titles=dict(scored[0].titles),
        scores=tuple(defaults),
        effects=tuple(effects),
        turns=tuple(_find_turns(names, defaults, effects, metrics)),
        notices=merge_notices(dict.fromkeys(n for outcome in outcomes for n in outcome.notices)),
    )


def _measure(
    scored: Sequence[Scorings],
    defaults: Sequence[Points],
    protocol: Protocol,
    name: str,
    value: str,
) -> ChoiceEffect:
    """What a value of a choice changes in the scores of each response."""
    points, refusals = [], []
    changed = Protocol.of_fields({name: value}, protocol).but(rounding="none")
    for scorings, default in zip(scored, defaults, strict=True):
        outcome = scorings.score(changed)
        rounding = value if name == "rounding" else "none"
        scores = round_scores(outcome.scores, rounding)
        points.append(subtract(scores, default, scorings.metrics))
        refusals.append(outcome.error.command_text if outcome.error else "")
    return ChoiceEffect(name, value, tuple(points), tuple(refusals))


def _find_turns(
    names: Sequence[str],
    defaults: Sequence[Points],
    effects: Sequence[ChoiceEffect],
    metrics: Sequence[str],
) -> Iterator[Turn]:
    """The pairs of responses whose order some values of choices turn round."""
    for metric in metrics:
        for pair in combinations(range(len(names)), 2):
            first, second = (defaults[at].get(metric) for at in pair)
            if first is None or second is None or abs(first - second) < SHOWN:
                continue
            above, below = pair if first > second else pair[::-1]
            lead = abs(first - second)
            turned = []
            for effect in effects:
                gains = effect.points[above].get(metric), effect.points[below].get(metric)
                if gains[0] is not None and gains[1] is not None:
                    left = lead + gains[0] - gains[1]
                    turned += [effect.name] if left <= -SHOWN else []
            if turned:
                yield Turn(metric, names[above], names[below], tuple(turned))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A named protocol, or a choice of the base, and the number that it gives.

    `hit` says how that becomes the wanted number: `rounded`, `truncated`, or not at all (empty).
    """

    name: str
    score: float | None
    hit: str
    refusal: str = ""

    @property
    def is_named(self) -> bool:
        """Whether it is a named protocol."""
        return self.name in NAMED


@dataclass(frozen=True, repr=False)
class Search(Tabular):
    """Which named protocols and single choices give a published number, within its rounding.

    >>> from corefeval import explain
    >>> explain([["a", "b"], ["c"]], [["a", "b"], ["c"]], to=88.9)
    <Search for conll 88.9: e2e, allennlp, ceafe-singletons skip-response>
    """

    key: str
    response: str
    protocol: Protocol
    wanted: str
    metric: str
    titles: Mapping[str, str]
    candidates: tuple[Candidate, ...]
    notices: Notices = ()

    @property
    def hits(self) -> list[Candidate]:
        """The candidates that give the number."""
        return [candidate for candidate in self.candidates if candidate.hit]

    def rows(self) -> list[Row]:
        """One row for each candidate, those that give the number first, then the nearest."""
        return [
            {
                "protocol": candidate.name,
                "metric": self.metric,
                "f1": candidate.score,
                "hit": candidate.hit or None,
                "refusal": candidate.refusal or None,
            }
            for candidate in self.candidates
        ]

    def as_dict(self) -> Row:
        """For JSON."""
        return {
            "key": self.key,
            "response": self.response,
            "protocol": str(self.protocol),
            "wanted": float(self.wanted),
            "metric": self.metric,
            "candidates": self.rows(),
            "notices": [notice.as_dict() for notice in self.notices],
        }

    def __repr__(self) -> str:
        names = ", ".join(candidate.name for candidate in self.hits) or "nothing gives it"
        return f"<Search for {self.metric} {self.wanted}: {names}>"


def parse_number(number: object) -> str:
    """The digits of a published percentage; a UsageError for anything else."""
    text = str(number).strip().removesuffix("%")
    if not re.fullmatch(r"\d{1,3}(\.\d{0,12})?|\.\d{1,12}", text) or float(text) > 150:
        raise UsageError(f"a published number is a percentage like 61.3, not {str(number)[:40]!r}")
    return text.rstrip(".")


def search_number(scorings: Scorings, base: Protocol, number: object) -> Search:
    """Which named protocols, and which single choices of a base, give a number in per cent.

    Raises a UsageError for what is no percentage, or where several metrics are asked for.
    """
    parts = {part for name in scorings.metrics for part in Metric.parse(name).declaration.parts}
    metric, *extra_metrics = [name for name in scorings.metrics if name not in parts]
    if extra_metrics:
        raise UsageError(
            f"a number is for one metric, not for {metric}, {', '.join(extra_metrics)}"
        )
    text = parse_number(number)
    first = scorings.score(base.but(rounding="none"))
    base_score = first.scores.get(metric)
    candidates = []
    for name, protocol in _list_candidates(base, metric, scorings.reads_files):
        outcome = scorings.score(protocol.but(rounding="none"))
        if name in _OFFICIAL and any(map(_has_unseen, (scorings.key, scorings.response))):
            outcome = Outcome({}, UsageError(_UNSEEN))
        score = outcome.scores.get(metric)
        # A single choice that changes nothing says nothing.
        changes = score is None or base_score is None or abs(score - base_score) >= SHOWN
        if name in NAMED or name == _GIVEN or changes:
            error = outcome.error.command_text if outcome.error else ""
            candidates.append(Candidate(name, score, _name_hit(score, text), error))

    def distance(candidate: Candidate) -> float:
        score, goal = candidate.score, float(text) / 100
        return math.inf if score is None else round(abs(score - goal), 9)

    candidates.sort(key=lambda candidate: (not candidate.hit, distance(candidate)))
    return Search(
        key=scorings.key.name,
        response=scorings.response.name,
        protocol=base,
        wanted=text,
        metric=metric,
        titles=dict(scorings.titles),
        candidates=tuple(candidates),
        notices=first.notices,
    )


def _has_unseen(corpus: Corpus) -> bool:
    """Whether the official scorer does not know the first line of a document of a CoNLL file."""
    lines = None if corpus.tokens is None else corpus.tokens.lines
    return isinstance(lines, ConllLines) and len(corpus.documents) > len(
        OFFICIAL_DOCUMENT.findall(lines.origin.data.tobytes())
    )


def _list_candidates(base: Protocol, metric: str, in_files: bool) -> Iterator[tuple[str, Protocol]]:
    """What may have given a number: named protocols that have the metric, and single choices."""
    if base != Protocol():
        yield _GIVEN, base
    for name, named in NAMED.items():
        protocol = Protocol.parse(name)
        # People take the mean of three themselves where a program does not.
        has_it = (
            not named.metrics
            or metric in named.metrics
            or (metric == "conll" and "muc" in named.metrics)
        )
        if has_it and (in_files or protocol.emulate == "none"):
            yield name, protocol
    for name, value in other_values(base):
        if name != "rounding":
            yield f"{name.replace('_', '-')} {value}", Protocol.of_fields({name: value}, base)


def _name_hit(score: float | None, text: str) -> str:
    if score is None:
        return ""
    decimals = len(text.partition(".")[2])
    for rule, how in (("round", "rounded"), ("truncate", "truncated")):
        printed = round_as(score, f"{rule}({min(decimals, 9)})")
        if f"{100 * printed:.{decimals}f}" == f"{float(text):.{decimals}f}":
            return how
    return ""
