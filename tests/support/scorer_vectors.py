"""The figures of other scorers: their data as files and in memory, their names, comparisons."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from conftest import ROOT
from corefeval.results import Score

DATA = ROOT / "tests" / "data" / "scorers"
NAMES = sorted(path.stem for path in (DATA / "corpora").glob("*.json"))
METRICS = "mentions, muc, b3, ceafm, ceafe, blanc, lea, links, conll"
_OURS = {"bcub": "b3", "pairwise": "links", "pairwise_negative": "blanc", "average": "conll"}
_RATES = {"r": "recall", "p": "precision", "f": "f1"}
_COUNTS = {
    "r_num": "recall_numerator", "r_den": "recall_denominator",
    "p_num": "precision_numerator", "p_den": "precision_denominator",
}  # fmt: skip
_HALVES = {"r_num": "common", "p_num": "common", "r_den": "key", "p_den": "response"}


@cache
def load(kind: str, name: str) -> Any:
    """The corpus or the figures of a name."""
    return json.loads((DATA / kind / f"{name}.json").read_text())


def write_files(name: str, folder: Path) -> tuple[str, str]:
    """Key and response of a corpus as CoNLL files."""
    return tuple(_write(load("corpora", name), side, folder) for side in ("key", "response"))


def _write(corpus: Mapping[str, Any], side: str, folder: Path) -> str:
    lines = []
    for name in corpus[f"{side}_order"]:
        document = corpus["documents"][name]
        lines.append(f"#begin document ({name}); part 000")
        row = 0
        for length in document["sentences"]:
            for token in range(length):
                word, tag, bits = (
                    document[column][row] if column in document else otherwise
                    for column, otherwise in (("words", "w"), ("pos", "NN"), ("parse", "-"))
                )
                cell = document[f"{side}_column"][row]
                cells = (name, "0", str(token), word, tag, bits, *"----", "*", cell)
                lines.append("\t".join(cells))
                row += 1
            lines.append("")
        lines.append("#end document")
    path = folder / f"{side}.conll"
    path.write_text("\n".join((*lines, "")))
    return str(path)


def in_memory(corpus: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Key and response of a corpus as plain entities."""
    return tuple(
        {
            name: [[tuple(m) for m in entity] for entity in corpus["documents"][name][side]]
            for name in corpus[f"{side}_order"]
        }
        for side in ("key", "response")
    )


def protocol_of(scorer: str) -> tuple[str, dict[str, str]] | None:
    """The protocol and the choices that stand for a program with its options."""
    name, *options = scorer.lower().replace("_", "-").split(" ")
    if name == "coval":
        return "-".join((name, *options)), {}
    if name == "hf-coval":
        choices = {one.replace("-", "_"): "yes" for one in options if one != "remove-singletons"}
        return name, {**choices, **({"singletons": "drop"} if len(choices) < len(options) else {})}
    if name == "bookcoref" and options:
        return f"bookcoref-window({options[1]})", {}
    known = {
        "allennlp allow-singletons": ("allennlp-singletons", {}),
        "fast-coref threshold 2": ("fast-coref-2", {}),
        "s2e": ("e2e", {}),
        "coreference-eval": ("e2e", {"pairing": "position"}),
        "neleval coref-metrics": ("neleval", {"pairing": "one", "nothing": "ok"}),
        "seq2seq": ("tanl", {}),
        "metametric": None,  # no protocol of ours
    }
    return known.get(" ".join((name, *options)), (name, {}))


def metrics_of(figures: Mapping[str, Any]) -> list[str]:
    """The metrics that figures are of, or all: to count what nobody compares costs as much."""
    names = [name for name in figures if name not in ("average_of_printed", "error")]
    return [_OURS.get(name, name) for name in names] or METRICS.split(", ")


def differences(
    scores: Mapping[str, Score], figures: Mapping[str, Any], where: str
) -> Iterator[tuple[str, float, Any]]:
    """Where scores are not a program's figures, to 1e-9."""
    for metric, wanted in figures.items():
        if metric in ("average_of_printed", "error") or "error" in _as_mapping(wanted):
            continue
        if metric == "average":
            score = scores["conll"]
            if isinstance(wanted, Mapping):
                yield from _rates(score, wanted, f"{where} average")
            else:
                scale = 100 if "coval" in where else 1
                yield from _unless_near(f"{where} average", scale * score.f1, wanted)
        elif metric == "pairwise_negative":
            yield from _halves(scores["blanc"], wanted, "non_coreference", where)
        else:
            if "coref" in wanted:
                yield from _halves(scores["blanc"], wanted["coref"], "coreference", where)
                yield from _halves(scores["blanc"], wanted["noncoref"], "non_coreference", where)
            yield from _rates(scores[_OURS.get(metric, metric)], wanted, f"{where} {metric}")


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rates(score: Score, wanted: Mapping[str, Any], where: str) -> Iterator[Any]:
    for name, rate in _RATES.items():
        if name in wanted:
            yield from _unless_near(f"{where} {name}", score.rates[rate], wanted[name])
    for name, count in _COUNTS.items():
        if name in wanted and score.counts:
            yield from _unless_near(f"{where} {name}", score.counts[count], wanted[name])
    for text, rate in zip(wanted.get("printed", ()), score.rates.values(), strict=False):
        if f"{int(10000 * rate) / 100:.15g}" != text:
            yield f"{where} printed", rate, text


def _halves(score: Score, wanted: Mapping[str, Any], kind: str, where: str) -> Iterator[Any]:
    for name, side in _HALVES.items():
        if name in wanted:
            yield from _unless_near(
                f"{where} {kind} {name}", score.counts[f"{kind}_{side}"], wanted[name]
            )


def _unless_near(where: str, got: float, wanted: Any) -> Iterator[tuple[str, float, Any]]:
    number = float(wanted)
    if math.isnan(number) != math.isnan(got) or abs(got - number) > 1e-9 * max(1, abs(number)):
        yield where, got, wanted
