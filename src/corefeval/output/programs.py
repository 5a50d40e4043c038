"""What other programs print, for scripts that parse it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from corefeval.diagnostics import UsageError
from corefeval.display import visible
from corefeval.results import Result, Score

OFFICIAL_METRICS = ("muc", "b3", "ceafm", "ceafe", "blanc", "lea")
COVAL_METRICS = ("mentions", "muc", "b3", "ceafe", "lea")
COREFUD_METRICS = ("muc", "b3", "ceafe", "ceafm", "blanc", "lea", "mor", "zero")
OWN_RULES = "corefeval's own rules, not corefud-scorer's (--protocol corefud-1.2 has these)"
_NAMES = {"b3": "bcub"}  # which all of these programs call so
_RULE = "-" * 74
_AVERAGE = ("muc", "b3", "ceafe")
RATES = ("recall", "precision", "f1")


def draw_conll(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Every metric that the official scorer has, in its own form."""
    _check_sums(results, "the official scorer")
    chosen = [name for name in OFFICIAL_METRICS if name in results[0].tables]
    if not chosen:
        raise UsageError(f"the official scorer prints only {', '.join(OFFICIAL_METRICS)}")
    if "mentions" not in results[0].tables:
        raise UsageError("the official scorer prints mentions too: add mentions to the metrics")
    parts = []
    for result in results:
        parts += [f"response: {visible(result.response)}"] if len(results) > 1 else []
        for metric in chosen:
            parts.append(f"METRIC {_NAMES.get(metric, metric)}:\n")
            if by_document:
                for document in result.documents:
                    totals = _total_lines(document.scores, metric)
                    parts += [f"{visible(document.id)}:", *totals, ""]
            parts += ["====== TOTALS =======", *_total_lines(result.scores, metric), ""]
    return "\n".join(parts)


def _check_sums(results: Sequence[Result], program: str) -> None:
    if any(result.protocol.aggregate != "micro" for result in results):
        raise UsageError(f"{program} sums over documents: it has no macro average")


def _total_lines(scores: Mapping[str, Score], metric: str) -> list[str]:
    lines = [f"Identification of Mentions: {_show_ratios(scores['mentions'])}", _RULE]
    score = scores[metric]
    if metric != "blanc":
        return [*lines, f"Coreference: {_show_ratios(score)}", _RULE]
    lines += ["", "Coreference:"]
    for kind, label in (("coreference", "Coreference"), ("non_coreference", "Non-coreference")):
        common, key, response = (
            score.counts[f"{kind}_{side}"] for side in ("common", "key", "response")
        )
        lines += [f"{label} links: {_show_rates(common, key, common, response)}", _RULE]
    rates = _show_rates(score.recall, 1, score.precision, 1, score.f1)
    return [*lines, f"BLANC: {rates}", _RULE]


def _show_ratios(score: Score) -> str:
    counts = score.counts
    return _show_rates(
        counts["recall_numerator"],
        counts["recall_denominator"],
        counts["precision_numerator"],
        counts["precision_denominator"],
    )


def _show_rates(
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
        f"Recall: ({recall_top:.15g} / {recall_bottom:.15g}) {_truncate(recall)}\t"
        f"Precision: ({precision_top:.15g} / {precision_bottom:.15g}) {_truncate(precision)}\t"
        f"F1: {_truncate(f1)}"
    )


def _truncate(rate: float) -> str:
    return f"{int(10000 * rate) / 100:.15g}%"


_METHODS = {"align": "dependent", "place": "linear"}
_SETTINGS = {"partial": "partial-corefud"}


def draw_coval(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Every metric that coval's scorer.py prints, in its own form.

    The program itself prints no documents; `by_document` adds them before the whole.
    """
    _check_sums(results, "coval")
    lines = []
    for result in results:
        lines += [f"response: {visible(result.response)}"] if len(results) > 1 else []
        chosen = [name for name in COVAL_METRICS if name in result.tables]
        if not chosen:
            raise UsageError(f"coval prints only {', '.join(COVAL_METRICS)}")
        lines += _score_lines(result, chosen, "{:<10} ", by_document)
    return "\n".join((*lines, ""))


def draw_corefud(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Every metric that corefud-scorer has, in its own form.

    The program itself prints no documents; `by_document` adds them before the whole. Where other
    rules than the program's made the numbers, its first line gives way to one that says so.
    """
    _check_sums(results, "corefud-scorer")
    lines = []
    for result in results:
        lines += [f"response: {visible(result.response)}"] if len(results) > 1 else []
        chosen = [name for name in result.tables if name in COREFUD_METRICS]
        if not chosen:
            raise UsageError(f"corefud-scorer prints only {', '.join(COREFUD_METRICS)}")
        lines += _heading_lines(result, chosen)
        lines += _score_lines(result, chosen, "{}\n", by_document)
    return "\n".join((*lines, ""))


def _score_lines(
    result: Result, chosen: Sequence[str], form: str, by_document: bool
) -> Iterator[str]:
    """Metrics with their rates, the average behind them; those of documents before the whole."""
    for document in result.documents if by_document else ():
        yield from (f"{visible(document.id)}:", *_rate_lines(document.scores, chosen, form), "")
    yield from _rate_lines(result.scores, chosen, form)


def _rate_lines(scores: Mapping[str, Score], chosen: Sequence[str], form: str) -> Iterator[str]:
    for name in chosen:
        recall, precision, f1 = (100 * scores[name].rates[rate] for rate in RATES)
        text = f"Recall: {recall:.2f}  Precision: {precision:.2f}  F1: {f1:.2f}"
        yield form.format(_NAMES.get(name, name)) + text
    if all(name in chosen for name in _AVERAGE):
        yield f"CoNLL score: {100 * sum(scores[name].f1 for name in _AVERAGE) / 3:.2f}"


def _heading_lines(result: Result, chosen: Sequence[str]) -> list[str]:
    protocol = result.protocol
    kinds = []
    if chosen != ["mor"]:  # which looks at mentions alone
        kinds.append("coreferential mentions")
        kinds += ["singletons"] if protocol.singletons == "keep" else []
        if protocol.zeros in _METHODS:
            kinds.append(f"zeros (using {_METHODS[protocol.zeros]} match method)")
    setting = _SETTINGS.get(protocol.match, protocol.match)
    metrics = ", ".join(_NAMES.get(name, name) for name in chosen)
    scorer = "The scorer" if protocol.reads_itself else f"These are {OWN_RULES}.\ncorefeval"
    return [
        f"{scorer} is evaluating {', '.join(kinds)} using {setting} match evaluation setting.",
        f"The following metrics will be evaluated: {metrics}",
        "",
    ]


DRAWINGS = {"conll": draw_conll, "coval": draw_coval, "corefud": draw_corefud}
