"""Functions for tasks of lm-evaluation-harness, which `corefeval prompt --for lm-eval` writes.

The harness keeps the counts of each document, and `aggregate` makes the corpus's score of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from corefeval.integrations.harnesses import counts_of, score_answer, sum_scores


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, dict[str, float]]:
    """The counts of an answer, for the metric `conll`; `doc` is a line of prompts.jsonl."""
    format = doc.get("format", "llm")
    result = score_answer(doc, next(iter(results), ""), metrics="conll", response_format=format)
    return {"conll": counts_of(result)}


def aggregate(items: Iterable[Mapping[str, float]]) -> float:
    """The CoNLL score of all documents together, in per cent."""
    return sum_scores(items).get("conll", 0.0)
