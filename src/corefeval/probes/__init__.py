"""Probes: challenge sets that ask one question of each item, which candidate a word refers to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from corefeval.checks import split_list
from corefeval.diagnostics import Notice, PairingError, UsageError, list_names, note
from corefeval.files import open_file
from corefeval.formats import files_of, skipped_files
from corefeval.formats.registry import HEAD, UnknownFormatError
from corefeval.formats.source import Source, read_source
from corefeval.model import DocumentId
from corefeval.model.corpus import match_documents
from corefeval.probes.decisions import Chosen, decide
from corefeval.probes.items import PROBE_STYLES, Candidate, Item, Probe
from corefeval.probes.readers import PROBE_FORMATS, Entry, detect_probe, read_entry, read_items
from corefeval.probes.result import ProbeResult, count
from corefeval.protocol import Protocol
from corefeval.request import Options, Request
from corefeval.results.decisions import Decision

__all__ = [
    "PROBE_FORMATS",
    "PROBE_STYLES",
    "Candidate",
    "Item",
    "Probe",
    "ProbeResult",
    "is_probe",
    "probe",
    "read_probe",
]

STEPS = ("reading", "pairing", "policies", "rates", "probes")
_NO_FILE = Source(np.empty(0, dtype=np.uint8), "items")


def read_probe(source: object, *, format: str | None = None, encoding: str = "utf-8") -> Probe:
    """Read a probe: a path, folder or pattern, a list of these, or a list of items.

    Items are dictionaries in corefeval's own form. The format of files is recognised by their
    content, and AmbiCoref by the names of its files, unless it is named.

    >>> probe = read_probe([{"id": "1", "text": "[A Ann] saw [B Bea] when [* she] left."}])
    >>> probe.items[0].text, probe.items[0].target, probe.items[0].candidates[1].text
    ('Ann saw Bea when she left.', (17, 20), 'Bea')
    """
    if isinstance(source, Probe):
        return source
    listed = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(listed, Iterable):
        raise UsageError(f"a probe is a path, or a list of paths or of items, not {source!r:.60}")
    entries: list[tuple[Entry, Item]] = []
    formats, names, skipped = dict[str, None](), list[str](), list[str]()
    for number, part in enumerate(listed, start=1):
        if isinstance(part, Mapping):
            entry = Entry(part, number, _NO_FILE, number)
            entries.append((entry, read_entry(entry, "probe")))
            continue
        names.append(os.fspath(part))
        files, several = files_of(part)
        for file in files:
            try:
                format_name, pairs = read_items(read_source(file, encoding=encoding), format)
            except UnknownFormatError:
                if not several or len(skipped) == len(files) - 1:
                    raise
                skipped.append(file)
            else:
                formats[format_name] = None
                entries += pairs
    homes: dict[str, Entry] = {}
    for entry, item in entries:
        if (home := homes.setdefault(item.id, entry)) is not entry:
            where = f"{item.id}, as in {home.source.file}, line {home.line}"
            raise entry.fail("an item appears twice", where, "an id for each item")
    if not entries:
        raise PairingError("there are no items in the probe", file=", ".join(names) or None)
    name, items = ", ".join(names) or "items", tuple(item for _, item in entries)
    return Probe(items, name, ", ".join(formats) or "probe", skipped_files(name, skipped))


def is_probe(path: str) -> bool:
    """Whether a path has a file that can be nothing but a probe."""
    for file in files_of(path)[0] if path != "-" else ():
        with open_file(file) as stream:
            if (name := detect_probe(stream.read(HEAD), file)) is not None:
                return name != "winobias-conll"
    return False


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
    request = Request.of(base.but(ci="none"), options, steps=STEPS, sound=True)
    chosen = request.protocol
    if chosen.across != "none":
        raise UsageError("items are documents of their own: leave out across")
    asked = read_probe(probe, format=probe_format, encoding=request.key_reading.encoding)
    places = match_documents([DocumentId(i.id) for i in asked.items], chosen.documents, asked.name)
    asked = replace(asked, items=tuple(asked.items[place] for place in places))
    name = os.fspath(response) if isinstance(response, str | os.PathLike) else "response"
    choices, notices = decide(asked, response, request.response_reading, chosen)
    missing = tuple(item.id for item in asked.items if item.id not in choices)
    outcomes = {"empty": "counted as wrong", "skip": "left out"}
    if missing and chosen.missing == "error":
        fix = "complete the response, or use --missing empty or skip"
        problem = "items are not in the response"
        raise PairingError(problem, file=name, found=list_names(missing), fix=fix)
    if missing:
        text = f"{{n}} not in the response, {outcomes[chosen.missing]}: {{items}}"
        notices.append(Notice("missing-items", text, len(missing), missing, "item"))
    groups = [] if chosen.pair == "none" else [*split_list(chosen.pair)]
    decisions = [
        _decide_item(item, choices.get(item.id, "missing"), groups)
        for item in asked.items
        if item.id in choices or chosen.missing == "empty"
    ]
    fields = {**count(decisions), "key": asked.name, "response": name}
    result = ProbeResult(**fields, protocol=chosen.but(ci=base.ci)).view(by, contrast, level)
    for group in groups:
        result.by(group)  # which refuses one that no item has
    paired = result.contrast and result.contrast.paired
    remark = "without a twin of the other value"
    notices += note("unpaired-items", paired.unpaired if paired else 0, "item", remark)
    return replace(result, notices=(*asked.notices, *notices))


def _decide_item(item: Item, chosen: Chosen, groups: Sequence[str]) -> Decision:
    """The decision on an item, with the pair that some groups make of it."""
    labels = () if isinstance(chosen, str) else tuple(sorted(chosen))
    choice = (
        chosen if isinstance(chosen, str) else "both" if labels[1:] else "".join(labels) or "none"
    )
    values = [item.groups.get(group, "") for group in groups]
    pair = (".".join(values) if all(values) else None) if groups else item.pair
    number = len(item.candidates)
    return Decision(item.id, choice, labels, item.gold, item.groups, pair, item.human, number)
