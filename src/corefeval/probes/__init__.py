"""Probes: challenge sets that ask one question of each item, which candidate a word refers to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Unpack

from corefeval.checks import split_list
from corefeval.diagnostics import Notice, PairingError, UsageError, list_names, note, uncollected
from corefeval.probes.decisions import Chosen, decide
from corefeval.probes.items import PROBE_STYLES, Item, Probe
from corefeval.probes.readers import is_probe, read_probe
from corefeval.probes.result import ProbeResult, count
from corefeval.protocol import Protocol
from corefeval.request import Request, ScoreOptions
from corefeval.results.scores import Decision

__all__ = ["PROBE_STYLES", "Probe", "ProbeResult", "is_probe", "probe", "read_probe"]

_STEPS = ("reading", "pairing", "policies", "rates", "probes")


@uncollected()
def probe(
    probe: object,
    response: object,
    *,
    by: str | Iterable[str] | None = None,
    contrast: str | None = None,
    level: float | None = None,
    probe_format: str | None = None,
    protocol: Protocol | str | None = None,
    **options: Unpack[ScoreOptions],
) -> ProbeResult:
    """Score a response to a probe, by the candidate that it chooses for each target.

    The probe is whatever `read_probe` takes. The response is whatever `score` takes, a table with
    the rows of GAP, or answers of a language model: a file, or a mapping from ids to texts.

    `by` names groups whose values are shown; `contrast` is written as `GROUP=FIRST,SECOND`, and
    `level` is that of intervals. Options are those of `score`, and `candidate` ("cover", "exact",
    "nested", "overlap(0.5)"), `names` ("span", "string") and `pair` ("GROUP,GROUP").

    >>> items = [{"id": "1", "text": "[A Ann] saw [B Bea] when [* she] left.", "gold": "A"}]
    >>> result = probe(items, {"1": "Ann"})
    >>> result, result.decisions[0].choice
    (<ProbeResult of 1 item: 1 of 1 right>, 'A')
    """
    base = Protocol.of(protocol)
    scored = base.but(ci="none") if base.ci.startswith("wilson(") else base
    request = Request.of(scored, options, steps=_STEPS, sound=True)
    if (request.protocol.across, request.protocol.documents) != ("none", "*"):
        raise UsageError("every item is a document of its own: leave out --across and --documents")
    questions = read_probe(probe, format=probe_format, encoding=request.key_reading.encoding)
    result = _score(questions, response, request)
    result = replace(result, protocol=request.protocol.but(ci=base.ci)).view(by, contrast, level)
    paired = result.contrast and result.contrast.paired
    remark = "without a twin of the other value, left out of pairs"
    unpaired = note("unpaired-items", paired.unpaired if paired else 0, "item", remark)
    return replace(result, notices=(*result.notices, *unpaired))


def _score(probe: Probe, response: object, request: Request) -> ProbeResult:
    """The result of all items, with notices; one that is missing is wrong, or left out."""
    rules = request.protocol
    name = os.fspath(response) if isinstance(response, str | os.PathLike) else "response"
    chosen, notices = decide(probe, response, request.response_reading, rules)
    if missing := tuple(item.id for item in probe.items if item.id not in chosen):
        if rules.missing == "error":
            fix = "complete the response, or use --missing empty or skip"
            problem = "items are not in the response"
            raise PairingError(problem, file=name, found=list_names(missing), fix=fix)
        outcome = "counted as wrong" if rules.missing == "empty" else "left out"
        text = f"{{n}} not in the response, {outcome}: {{items}}"
        notices = [*notices, Notice("missing-items", text, len(missing), missing, "item")]
    pair = [] if rules.pair == "none" else [*split_list(rules.pair)]
    decisions = [
        _make_decision(item, chosen.get(item.id, "missing"), pair)
        for item in probe.items
        if item.id in chosen or rules.missing == "empty"
    ]
    notices = [*probe.notices, *notices]
    result = ProbeResult(**count(decisions), key=probe.name, response=name, notices=(*notices,))
    for group in pair:
        result.by(group)  # which refuses one that no item has
    return result


def _make_decision(item: Item, chosen: Chosen, groups: list[str]) -> Decision:
    """The decision on an item; its pair is that of the item, or made of the values of groups."""
    values = [item.groups.get(group, "") for group in groups]
    pair = (".".join(values) if all(values) else None) if groups else item.pair
    labels = () if isinstance(chosen, str) else tuple(sorted(chosen))
    choice = "both" if len(labels) > 1 else "".join(chosen) or "none"
    details = (item.gold, item.groups, pair, item.human, len(item.candidates))
    return Decision(item.id, choice, labels, *details)
