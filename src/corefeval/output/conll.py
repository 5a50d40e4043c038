"""What the official CoNLL scorer v8.01 prints, for scripts that parse it.

Its habits are kept: percentages are cut after two decimals, not rounded, and trailing zeros are
left out; fractions have fifteen significant digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corefeval.diagnostics import UsageError
from corefeval.display import visible
from corefeval.results import Result, Score

NAMES = {
    "muc": "muc",
    "b3": "bcub",
    "ceafm": "ceafm",
    "ceafe": "ceafe",
    "blanc": "blanc",
    "lea": "lea",
}
_RULE = "-" * 74


def draw_conll(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Every metric that the official scorer has, in its own form."""
    if any(result.protocol.aggregate == "macro" for result in results):
        raise UsageError("the official scorer sums over documents: it has no macro average")
    chosen = [name for name in NAMES if name in results[0].tables]
    if not chosen:
        raise UsageError(f"the official scorer prints only {', '.join(NAMES)}")
    if "mentions" not in results[0].tables:
        raise UsageError("the official scorer prints mentions too: add mentions to the metrics")
    parts = []
    for result in results:
        parts += [f"response: {visible(result.response)}"] if len(results) > 1 else []
        for metric in chosen:
            parts.append(f"METRIC {NAMES[metric]}:\n")
            if by_document:
                for document in result.documents:
                    totals = _totals(document.scores, metric)
                    parts += [f"{visible(document.id)}:", *totals, ""]
            parts += ["====== TOTALS =======", *_totals(result.scores, metric), ""]
    return "\n".join(parts)


def _totals(scores: Mapping[str, Score], metric: str) -> list[str]:
    lines = [f"Identification of Mentions: {_ratios(scores['mentions'])}", _RULE]
    score = scores[metric]
    if metric != "blanc":
        return [*lines, f"Coreference: {_ratios(score)}", _RULE]
    lines += ["", "Coreference:"]
    for kind, label in (("coreference", "Coreference"), ("non_coreference", "Non-coreference")):
        common, key, response = (
            score.counts[f"{kind}_{side}"] for side in ("common", "key", "response")
        )
        lines += [f"{label} links: {_line(common, key, common, response)}", _RULE]
    rates = _line(score.recall, 1, score.precision, 1, score.f1)
    return [*lines, f"BLANC: {rates}", _RULE]


def _ratios(score: Score) -> str:
    counts = score.counts
    return _line(
        counts["recall_numerator"],
        counts["recall_denominator"],
        counts["precision_numerator"],
        counts["precision_denominator"],
    )


def _line(
    recall_top: float,
    recall_bottom: float,
    precision_top: float,
    precision_bottom: float,
    f1: float | None = None,
) -> str:
    recall = recall_top / recall_bottom if recall_bottom else 0.0
    precision = precision_top / precision_bottom if precision_bottom else 0.0
    if f1 is None:
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    return (
        f"Recall: ({recall_top:.15g} / {recall_bottom:.15g}) {_cut(recall)}\t"
        f"Precision: ({precision_top:.15g} / {precision_bottom:.15g}) {_cut(precision)}\t"
        f"F1: {_cut(f1)}"
    )


def _cut(rate: float) -> str:
    return f"{int(10000 * rate) / 100:.15g}%"
