"""What is said of answers: how they were read, what was placed, what was lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial

from corefeval.diagnostics import Notice, plural
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.model import Corpus
from corefeval.model.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Remarks:
    """What reading noticed beside the ledger.

    `unknown` are answers for no document, `twice` documents with a second one, `unswept` those with
    so many places of listed strings that they were not weighed against each other.
    """

    name: str
    occurrences: str
    unknown: list[str]
    twice: list[str]
    unswept: list[str]
    several: int


def notices_of(corpus: Corpus, remarks: Remarks) -> tuple[Notice, ...]:
    """The notices about how answers were read and placed, but for those that count nothing."""
    ledger = corpus.ledger
    if ledger is None:
        return ()
    notices = [*_about_reading(ledger, remarks), *_about_mentions(ledger, remarks)]
    return tuple(notice for notice in notices if notice.count)


def _about_reading(ledger: Ledger, remarks: Remarks) -> list[Notice]:
    name = remarks.name
    written = {entry.document for entry in ledger.entries}
    conventions = Counter(
        coverage.convention for coverage in ledger.documents if coverage.document in written
    )
    notices = []
    for convention, count in conventions.most_common():
        tags = CONVENTIONS.get(convention)
        how = f"text with tags {tags.example}" if tags else "a list of mentions"
        whose = "" if len(conventions) == 1 else f"{plural(count, 'answer')} "
        family = {"number": "bracket", "named": "xml"}.get(convention, convention)
        text = f"{name}: {whose}read as {how} (llm-{family})"
        notices.append(Notice("llm-convention", text, count))
    named = partial(_documents, name)
    empty = {coverage.document for coverage in ledger.documents} - written
    early = [coverage for coverage in ledger.documents if coverage.ends_early]
    places = tuple(
        f"{coverage.document} after {coverage.reached / coverage.tokens:.0%}" for coverage in early
    )
    cut = [coverage.document for coverage in ledger.documents if coverage.finish == "length"]
    refused = [
        coverage.document
        for coverage in ledger.documents
        if coverage.finish in ("refusal", "error")
    ]
    return [
        *notices,
        named("llm-refusal", "that cannot be read, scored as empty: {items}", sorted(empty)),
        named("llm-stopped", "refused or failed, according to the records: {items}", refused),
        named("llm-limit", "cut off by a token limit, according to the records: {items}", cut),
        named("llm-cut", "ending early: {items}", places),
        named("llm-unknown", "of unknown documents, left out: {items}", remarks.unknown, "answer"),
        named("llm-twice", "answered again, the first answer kept: {items}", remarks.twice),
        named("llm-unswept", "too long to compare all places of listed strings: each gets the "
              "first free one: {items}", remarks.unswept),
        Notice("llm-several", f"{name}: {{n}} with several documents, split", remarks.several,
               noun="answer"),
    ]  # fmt: skip


def _documents(
    name: str, kind: str, text: str, items: list[str] | tuple[str, ...], noun: str = "document"
) -> Notice:
    return Notice(kind, f"{name}: {{n}} {text}", len(items), tuple(items), noun)


def _about_mentions(ledger: Ledger, remarks: Remarks) -> list[Notice]:
    name = remarks.name
    if not ledger.written:
        return []
    text = f"{name}: {plural(ledger.written, 'mention')} written, {ledger.placed:,} placed, "
    text += f"{ledger.lost:,} lost, {ledger.repeated:,} repeated"
    whys = Counter(
        why for entry in ledger.entries if entry.state == "changed" for why in [entry.why]
    )
    listed = ", ".join(f"{count:,} {why}" for why, count in whys.most_common(4))
    changed = f"{name}: {{n}} placed with changes ({listed}); corefeval check lists them"
    notices = [
        Notice("llm-mentions", text, ledger.written),
        Notice("llm-changed", changed, ledger.changed, noun="mention"),
    ]
    return notices + _about_strings(ledger, remarks)


def _about_strings(ledger: Ledger, remarks: Remarks) -> list[Notice]:
    """The share of strings that have several places, and whether a list seems to mean all."""
    lists = {
        coverage.document for coverage in ledger.documents if coverage.convention not in CONVENTIONS
    }
    entries = [
        entry for entry in ledger.entries if entry.document in lists and entry.state != "lost"
    ]
    several = [entry for entry in entries if entry.places > 1]
    if not several:
        return []
    share = len(several) / len(entries)
    text = f"{remarks.name}: {{n}} of {len(entries):,} ({share:.0%}) occur several times in "
    text += f"the text; occurrences:{remarks.occurrences} decided which is meant"
    notices = [Notice("llm-ambiguous", text, len(several), noun="string")]
    strings = [(entry.document, entry.entity, entry.written.lower()) for entry in entries]
    if len(set(strings)) == len(strings) and share >= 0.3 and remarks.occurrences != "all":
        text = f"{remarks.name}: no string is listed twice in a cluster: if each means all of "
        text += "its occurrences, use --occurrences all"
        notices.append(Notice("llm-once", text))
    return notices
