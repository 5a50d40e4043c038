"""A scorer and a metric for Inspect, for tasks that `corefeval prompt --for inspect` writes.

The scorer's values are counts. Inspect averages them over epochs, and averaged counts have the
rates of all epochs together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from corefeval.integrations.harnesses import counts_of, score_answer, sum_scores

_UNREAD = "unread"


@metric
def corpus_score() -> Metric:
    """F1 of each metric over all documents in per cent, and the share of unread answers."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        counts = [sample.score.as_dict() for sample in scores]
        unread = sum(values[_UNREAD] for values in counts) / max(len(counts), 1)
        return {**sum_scores(counts), _UNREAD: unread}

    return compute


@scorer(metrics=[corpus_score()])
def coreference(*, format: str = "llm", metrics: str = "conll", **options: Any) -> Scorer:
    """A scorer of answers against `key` in the metadata; options are those of `corefeval.score`."""
    chosen = {"metrics": metrics, "response_format": format, **options}

    async def score_sample(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        result = score_answer(state.metadata or {}, answer, **chosen)
        ledger: Mapping[str, Any] = result.answers
        counts = {name: value for name, value in ledger.items() if isinstance(value, int)}
        reading = ledger["documents"][0]["state"]
        return Score(
            value={**counts_of(result), _UNREAD: float(reading == _UNREAD)},
            answer=answer,
            metadata={"answers": counts, "state": reading},
        )

    return score_sample
