"""What ledgers say: how answers were read and placed, and what their score could have been.

Leaving out what cannot be placed raises precision, and an answer that was cut off has no chance
behind the cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from corefeval.diagnostics import Notice, plural
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.formats.registry import ANSWERS
from corefeval.model import Corpus
from corefeval.model.ledger import Ledger
from corefeval.model.text_tokens import text_of

# Name, key, response, and what becomes of lost mentions.
Variant = tuple[str, Corpus, Corpus, Literal["drop", "strict"]]


def variants_of(key: Corpus, response: Corpus) -> Iterator[Variant]:
    """The other readings of a response that apply to it, each with the corpora to score.

    `drop` and `strict` leave lost and unclear mentions out or count them; `read` has only documents
    whose answers were read, `reached` only the key's mentions in the text that the answers reached.
    """
    ledger = response.ledger
    if ledger is None:
        return
    yield "drop", key, response, "drop"
    if ledger.lost or ledger.unclear:
        yield "strict", key, response, "strict"
    states = {coverage.document: coverage.state for coverage in ledger.documents}
    if {"read"} < {states.get(str(name), "missing") for name in key.documents}:
        read = [states.get(str(name)) == "read" for name in key.documents]
        yield "read", key.select_documents(np.flatnonzero(read)), response, "drop"
    if any(coverage.ends_early for coverage in ledger.documents):
        yield "reached", _cut_unreached(key, ledger), response, "drop"


def _cut_unreached(key: Corpus, ledger: Ledger) -> Corpus:
    """The key without mentions behind the last token that the answer to their document has."""
    if key.mention_end is None or key.tokens is None or text_of(key.tokens, 0) is not None:
        return key
    behind = {
        coverage.document: coverage.reached for coverage in ledger.documents if coverage.ends_early
    }
    limit = [behind.get(str(identifier), 1 << 60) for identifier in key.documents]
    limits = np.array(limit, dtype=np.int64)
    return key.keep_mentions(key.mention_end <= limits[key.mention_document])


@dataclass(slots=True)
class Remarks:
    """What reading noticed beside the ledger.

    `unknown` are answers for no document, `guessed` ids that no document has, whose answers were
    paired by what they say, `twice` documents with a second one, `several` counts
    answers about more than one, `foreign` are documents whose answers seem to be about another
    text, `cut` documents that were answered in pieces, of all `documents`.
    """

    name: str
    occurrences: str
    pieces: str
    documents: int
    unknown: list[str] = field(default_factory=list)
    guessed: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    several: int = 0
    cut: int = 0


def notices_of(corpus: Corpus, remarks: Remarks) -> tuple[Notice, ...]:
    """The notices about how answers were read and placed, but for those that count nothing."""
    ledger = corpus.ledger
    if ledger is None:
        return ()
    notices = [*_about_reading(ledger, remarks), *_about_mentions(ledger, remarks)]
    return tuple(notice for notice in notices if notice.count)


def _about_forms(ledger: Ledger, name: str) -> Iterator[Notice]:
    """The forms of the answers that were read, the most frequent first."""
    written = {entry.document for entry in ledger.entries}
    conventions = Counter(
        coverage.convention
        for coverage in ledger.documents
        if coverage.document in written and coverage.state == "read"
    )
    for convention, count in conventions.most_common():
        tags = CONVENTIONS.get(convention)
        how = f"text with tags {tags.example}" if tags else "a list of mentions"
        whose = "" if len(conventions) == 1 else f"{plural(count, 'answer')} "
        form = f"llm-{convention}" if f"llm-{convention}" in ANSWERS else convention
        text = f"{name}: {whose}read as {how} ({form})"
        yield Notice("llm-convention", text, count)


def _about_reading(ledger: Ledger, remarks: Remarks) -> list[Notice]:
    name = remarks.name
    named = partial(_documents, name)
    of_state = {
        state: [cover.document for cover in ledger.documents if cover.state == state]
        for state in ("read", "unread", "refused", "empty")
    }
    share = len(of_state["read"]) / max(remarks.documents, 1)
    early = [coverage for coverage in ledger.documents if coverage.ends_early]
    places = tuple(
        f"{coverage.document} after {coverage.reached / coverage.tokens:.0%}" for coverage in early
    )
    kept = "kept apart" if remarks.pieces == "apart" else "joined"
    cut = [coverage.document for coverage in ledger.documents if coverage.finish == "length"]
    return [
        *_about_forms(ledger, name),
        Notice("llm-share", f"{name}: {{n}} without a readable answer ({share:.1%} have one)",
               remarks.documents - len(of_state["read"]), noun="document"),
        named("llm-unread", "with an answer that could not be read: {items}", of_state["unread"]),
        named("llm-foreign", "with an answer that seems to be about another text: {items}; check "
              "that each answer has the id of its own document", remarks.foreign),
        named("llm-refusal", "refused: {items}", of_state["refused"]),
        named("llm-empty", "with an answer that has no mentions: {items}", of_state["empty"]),
        Notice("llm-pieces", f"{name}: {{n}} answered in pieces, whose entities were "
               f"{kept}", remarks.cut, noun="document"),
        named("llm-limit", "cut off by a token limit, according to the records: {items}", cut),
        named("llm-cut", "with an answer that stops early: {items}", places),
        named("llm-unknown", "of unknown documents, left out: {items}", remarks.unknown, "answer"),
        named("llm-guessed", "with ids that are not in the key, paired by their words: {items}",
              remarks.guessed, "answer"),
        named("llm-twice", "with several answers, of which the first counts: {items}",
              remarks.twice),
        Notice("llm-several", f"{name}: {{n}} about several documents, split", remarks.several,
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
    text += f"{ledger.lost:,} lost, {ledger.unclear:,} unclear, {ledger.repeated:,} repeated"
    whys = Counter(
        why for entry in ledger.entries if entry.state == "changed" for why in [entry.why]
    )
    listed = "; ".join(f"{why}: {count:,}" for why, count in whys.most_common(4))
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
    entries = [entry for entry in ledger.entries if entry.document in lists and entry.is_placed]
    several = [entry for entry in entries if entry.places > 1]
    if not several:
        return []
    share = len(several) / len(entries)
    text = f"{remarks.name}: {{n}} of {len(entries):,} ({share:.0%}) with several places in "
    text += f"the text; --occurrences {remarks.occurrences} decided which one is meant"
    notices = [Notice("llm-ambiguous", text, len(several), noun="string")]
    strings = [(entry.document, entry.entity, entry.written.lower()) for entry in entries]
    if len(set(strings)) == len(strings) and share >= 0.3 and remarks.occurrences != "all":
        text = f"{remarks.name}: no string is listed twice in a cluster: if each means all of "
        text += "its occurrences, use --occurrences all"
        notices.append(Notice("llm-once", text))
    return notices
