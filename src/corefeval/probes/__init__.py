"""Probes: challenge sets that ask one question of each item, which candidate a word refers to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from corefeval.checks import check_choice, split_list
from corefeval.diagnostics import Notice, PairingError, UsageError, excerpt, list_names, note
from corefeval.formats import files_of, skipped_files
from corefeval.formats.json.records import Record
from corefeval.formats.source import Source, read_source
from corefeval.model import DocumentId
from corefeval.model.corpus import match_documents
from corefeval.probes.decisions import Choices, decide
from corefeval.probes.items import PROBE_STYLES, Candidate, Item, Probe
from corefeval.probes.readers import PROBE_FORMATS, detect_probe, read_item
from corefeval.probes.result import ProbeResult, count
from corefeval.protocol import Protocol
from corefeval.request import Request, ScoreOptions
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

_STEPS = ("reading", "pairing", "policies", "rates", "probes")
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
    parts = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(parts, Sequence):
        raise UsageError(f"a probe is a path, or a list of paths or of items, not {source!r:.60}")
    records: dict[str, Record] = {}
    items, formats, skipped = list[Item](), dict[str, None](), list[str]()
    for format_name, record in _list_records(parts, format, encoding, skipped):
        formats[format_name] = None
        items.append(item := read_item(record, format_name))
        if (first := records.setdefault(item.id, record)) is not record:
            problem = f"an item is also item {first.number + 1} of {first.source.file}"
            raise record.error(problem, found=excerpt(item.id), expected="an id for each item")
    paths = [os.fspath(part) for part in parts if not isinstance(part, Mapping)]
    name = ", ".join(paths) or _NO_FILE.file
    if not items:
        raise PairingError("there are no items in the probe", file=name)
    return Probe(tuple(items), name, ", ".join(formats), skipped_files(name, skipped))


def _list_records(
    parts: Sequence[Any], format: str | None, encoding: str, skipped: list[str]
) -> Iterator[tuple[str, Record]]:
    """All records, with the names of their formats; files of none are `skipped`."""
    for number, part in enumerate(parts):
        if isinstance(part, Mapping):
            yield "probe", Record({**part}, _NO_FILE, number)
            continue
        files, several = files_of(part)
        for file in files:
            source = read_source(file, encoding=encoding)
            name = format or detect_probe(source)
            if name is not None:
                check_choice("probe_format", name, PROBE_FORMATS)
                yield from ((name, record) for record in PROBE_FORMATS[name][1](source))
            elif several:
                skipped.append(file)
            else:
                raise source.error(
                    "this is not a probe that corefeval knows",
                    expected=f"one of {', '.join(PROBE_FORMATS)}",
                    fix="name its format with --probe-format / probe_format=…, or write it in "
                    "the own form",
                )


def is_probe(path: str) -> bool:
    """Whether a path has a file that can be nothing but a probe."""
    files = files_of(path)[0] if path != "-" else ()
    formats = filter(None, (detect_probe(read_source(file)) for file in files))
    return next(formats, "winobias-conll") != "winobias-conll"


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
    rules = request.protocol
    if rules.across != "none":
        raise UsageError("items are documents of their own: leave out across")
    read = read_probe(probe, format=probe_format, encoding=request.key_reading.encoding)
    places = match_documents(
        [DocumentId.parse(i.id) for i in read.items], rules.documents, read.name
    )
    read = replace(read, items=tuple(read.items[place] for place in places))
    name = os.fspath(response) if isinstance(response, str | os.PathLike) else "response"
    choices = decide(read, response, request.response_reading, rules)
    fields = count(_make_decisions(read.items, choices, rules, name))
    result = ProbeResult(**fields, key=read.name, response=name, protocol=rules.but(ci=base.ci))
    result = result.view(by, contrast, level)
    for group in split_list(rules.pair) if rules.pair != "none" else ():
        result.by(group)  # which refuses one that no item has
    paired = result.contrast and result.contrast.paired
    remark = "without a twin of the other value"
    unpaired = note("unpaired-items", paired.unpaired if paired else 0, "item", remark)
    return replace(result, notices=(*read.notices, *choices[1], *unpaired))


def _make_decisions(
    items: Sequence[Item], choices: Choices, rules: Protocol, name: str
) -> list[Decision]:
    """The decisions on all items; a notice on those that are missing joins the others."""
    chosen, notices = choices
    missing = tuple(item.id for item in items if item.id not in chosen)
    outcome = {"empty": "counted as wrong", "skip": "left out"}.get(rules.missing)
    if missing and outcome is None:
        fix = "complete the response, or use --missing empty or skip"
        problem = "items are not in the response"
        raise PairingError(problem, file=name, found=list_names(missing), fix=fix)
    text = f"{{n}} not in the response, {outcome}: {{items}}"
    notices += [Notice("missing-items", text, len(missing), missing, "item")] if missing else []
    groups = [] if rules.pair == "none" else [*split_list(rules.pair)]
    decisions = []
    for item in items if rules.missing == "empty" else [i for i in items if i.id in chosen]:
        choice, labels = chosen.get(item.id, "missing"), list[str]()
        if not isinstance(choice, str):
            labels = sorted(choice)
            choice = "both" if len(labels) > 1 else "".join(labels) or "none"
        values = [item.groups.get(group, "") for group in groups]
        pair = (".".join(values) if all(values) else None) if groups else item.pair
        details = (item.gold, item.groups, pair, item.human, len(item.candidates))
        decisions.append(Decision(item.id, choice, tuple(labels), *details))
    return decisions
