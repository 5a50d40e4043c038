"""Probes: challenge sets that ask one question of each item, which candidate a word refers to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from corefeval.checks import check_probability, split_call, split_list
from corefeval.diagnostics import InputError, Notice, PairingError, UsageError, list_names, note
from corefeval.formats import files_of, skipped_files
from corefeval.formats.registry import UnknownFormatError
from corefeval.formats.source import Source, read_source
from corefeval.probes.decisions import decide
from corefeval.probes.items import PROBE_STYLES, Candidate, Item, Probe, make_item
from corefeval.probes.readers import PROBE_FORMATS, Entry, detect_probe, read_entry, read_items, entry_value
from corefeval.probes.result import ProbeResult, count
from corefeval.protocol import Protocol
from corefeval.request import Options, Reading, Request
from corefeval.results.decisions import Decision

__all__ = [
    "PROBE_FORMATS",
    "PROBE_STYLES",
    "Candidate",
    "Item",
    "Probe",
    "ProbeResult",
    "detect_probe",
    "probe",
    "read_probe",
]

STEPS = ("reading", "pairing", "policies", "rates", "probes")


def read_probe(
    source: object, *, format: str | None = None, encoding: str = "utf-8"
) -> Probe:
    """Read a probe: a path, folder or pattern, a list of paths, or of records in the own form.

    The format is recognised by the content, and AmbiCoref by the names of its files, unless it is
    named.

    >>> probe = read_probe([{"id": "1", "text": "[A Ann] saw [B Bea] when [* she] left."}])
    >>> probe.items[0].text, probe.items[0].target, probe.items[0].candidates[1].text
    ('Ann saw Bea when she left.', (17, 20), 'Bea')
    """
    if isinstance(source, Probe):
        return source
    listed = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(listed, Sequence) or not listed:
        raise UsageError(f"a probe is a path, or a list of paths or of items, not {source!r:.60}")
    items: dict[str, Item] = {}
    homes: dict[str, str] = {}
    formats, skipped = [], []

    def add(item: Item, entry: Entry) -> None:
        if item.id in items:
            raise entry.fail("an item appears twice", f"{item.id} as in {homes[item.id]}", "new ids")
        items[item.id], homes[item.id] = item, f"{entry.source.file}, line {entry.line}"

    for number, path in enumerate(listed):
        if isinstance(path, Mapping):
            entry = Entry(path, number + 1, Source(np.empty(0, np.uint8), "items"), number + 1)
            add(read_entry(entry, "probe", entry_value), entry)
            continue
        files, several = files_of(path)
        for file in files:
            try:
                name, pairs = read_items(read_source(file, encoding=encoding), format)
            except UnknownFormatError:
                if not several:
                    raise
                skipped.append(file)
                continue
            formats.append(name)
            for entry, item in pairs:
                add(item, entry)
    label = ", ".join(str(path) for path in listed if not isinstance(path, Mapping)) or "items"
    if not items:
        raise InputError("there are no items", file=label, expected=", ".join(PROBE_FORMATS))
    notices = skipped_files(label, skipped)
    return Probe(tuple(items.values()), label, "+".join({*formats}) or "probe", notices)


def probe(
    probe: object,
    response: object,
    *,
    by: str | Iterable[str] | None = None,
    contrast: str | None = None,
    level: float | None = None,
    probe_format: str | None = None,
    protocol: Protocol | str | None = None,
    **options: Unpack[Options],
) -> ProbeResult:
    """Score a response to a probe: which candidate does the target of each item refer to?
    """
    base = Protocol.of(protocol)
    stated = float(split_call(base.ci)[1] or 0.95) if base.ci.startswith("wilson") else 0.95
    level = stated if level is None else level
    check_probability("the level of an interval", level)
    request = Request.of(base.but(ci="none"), options, steps=STEPS, sound=True)
    chosen = request.protocol.but(ci=f"wilson({level:g})")
    asked = read_probe(probe, format=probe_format, encoding=request.key_reading.encoding)
    return count_choices(asked, response, request.response_reading, chosen).view(by, contrast)


def count_choices(
    probe: Probe, response: object, reading: Reading, protocol: Protocol, name: str = ""
) -> ProbeResult:
    choices, notices = decide(probe, response, reading, protocol.but(missing="empty"))
    missing = tuple(item.id for item in probe.items if item.id not in choices)
    if missing and protocol.missing == "error":
        raise PairingError("items are missing", found=list_names(missing))
    if missing:
        notices.append(Notice("missing-items", "{n} missing: {items}", len(missing), missing, "item"))
    decisions = []
    groups = [] if protocol.pair == "none" else [*split_list(protocol.pair)]
    for item in probe.items:
        if item.id in missing and protocol.missing == "skip":
            continue
        value = choices.get(item.id, "missing")
        labels = () if isinstance(value, str) else tuple(sorted(value))
        choice = value if isinstance(value, str) else ("none", *labels, "both")[min(len(labels), 2) if len(labels) < 2 else -1]
        pair = item.pair
        if groups:
            pair = ".".join(item.groups[g] for g in groups) if all(g in item.groups for g in groups) else None
        decisions.append(Decision(item.id, choice, labels, item.gold, item.groups, pair, item.human, len(item.candidates)))
    result = ProbeResult(**count(decisions), protocol=protocol, key=probe.name, response=str(response) if isinstance(response,(str,os.PathLike)) else "response", notices=(*probe.notices, *notices))
    for group in groups: result.find_values(group)
    return result
