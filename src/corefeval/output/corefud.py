"""What corefud-scorer 1.2 prints, for scripts that parse it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corefeval.diagnostics import UsageError
from corefeval.display import visible
from corefeval.results import Result, Score

NAMES = {
    "muc": "muc",
    "b3": "bcub",
    "ceafe": "ceafe",
    "ceafm": "ceafm",
    "blanc": "blanc",
    "lea": "lea",
    "mor": "mor",
    "zero": "zero",
}
_AVERAGE = ("muc", "b3", "ceafe")
_METHODS = {"align": "dependent", "place": "linear"}
_SETTINGS = {"partial": "partial-corefud"}


def draw_corefud(results: Sequence[Result], *, by_document: bool = False) -> str:
    """Every metric that corefud-scorer has, in its own form.

    The program itself prints no documents; `by_document` adds them before the whole.
    """
    if any(result.protocol.aggregate == "macro" for result in results):
        raise UsageError("corefud-scorer sums over documents: it has no macro average")
    lines = []
    for result in results:
        lines += [f"response: {visible(result.response)}"] if len(results) > 1 else []
        chosen = [name for name in result.tables if name in NAMES]
        if not chosen:
            raise UsageError(f"corefud-scorer prints only {', '.join(NAMES)}")
        lines += _heading(result, chosen)
        for document in result.documents if by_document else ():
            lines += [f"{visible(document.id)}:", *_scores(document.scores, chosen), ""]
        lines += _scores(result.scores, chosen)
    return "\n".join((*lines, ""))


def _heading(result: Result, chosen: Sequence[str]) -> list[str]:
    protocol = result.protocol
    kinds = []
    if chosen != ["mor"]:  # which looks at mentions alone
        kinds.append("coreferential mentions")
        kinds += ["singletons"] if protocol.singletons == "keep" else []
        if protocol.zeros in _METHODS:
            kinds.append(f"zeros (using {_METHODS[protocol.zeros]} match method)")
    setting = _SETTINGS.get(protocol.match, protocol.match)
    return [
        f"The scorer is evaluating {', '.join(kinds)} using {setting} match evaluation setting.",
        f"The following metrics will be evaluated: {', '.join(NAMES[name] for name in chosen)}",
        "",
    ]


def _scores(scores: Mapping[str, Score], chosen: Sequence[str]) -> list[str]:
    lines = []
    for name in chosen:
        score = scores[name]
        rates = [100 * rate for rate in (score.recall, score.precision, score.f1)]
        lines += [NAMES[name], "Recall: {:.2f}  Precision: {:.2f}  F1: {:.2f}".format(*rates)]
    if all(name in chosen for name in _AVERAGE):
        average = sum(scores[name].f1 for name in _AVERAGE) / 3
        lines.append(f"CoNLL score: {100 * average:.2f}")
    return lines
