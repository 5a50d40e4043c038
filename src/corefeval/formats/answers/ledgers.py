"""What ledgers say: how answers were read and placed, and what their score could have been.

Leaving out what cannot be placed raises precision, and an answer that was cut off has no chance
behind the cut.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from corefeval.diagnostics import Notice, note, plural
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.formats.registry import ANSWERS
from corefeval.model import Corpus
from corefeval.model.arrays import integers
from corefeval.model.ledger import Ledger
from corefeval.model.text_tokens import text_of

Oddities = dict[str, list[str]]


def variants_of(
    key: Corpus, response: Corpus
) -> Iterator[tuple[str, Corpus, Corpus, Literal["drop", "strict"]]]:
    """The ways to score a response that has a ledger, as far as they apply; `drop` comes first.

    Each has a name, the key and the response to score, and what becomes of lost mentions.

    `drop` and `strict` leave lost and unclear mentions out or count them; `read` has only documents
    whose answers were read, `reached` only the key's mentions in the text that the answers
    reached, where the key has tokens.
    """
    ledger = response.ledger
    if ledger is None:
        return
    yield "drop", key, response, "drop"
    if ledger.lost or ledger.unclear:
        yield "strict", key, response, "strict"
    read = {cover.document for cover in ledger.documents if cover.state == "read"}
    is_read = [str(identifier) in read for identifier in key.documents]
    if any(is_read) and not all(is_read):
        yield "read", key.select_documents(np.flatnonzero(is_read)), response, "drop"
    ends = {cover.document: cover.reached for cover in ledger.documents if cover.ends_early}
    if ends and key.mention_end is not None and key.tokens and text_of(key.tokens, 0) is None:
        limits = integers([ends.get(str(identifier), 1 << 60) for identifier in key.documents])
        key = key.keep_mentions(key.mention_end <= limits[key.mention_document])
        yield "reached", key, response, "drop"


# What is odd about answers and their documents, in the order of notices.
_ODD = {
    "llm-share": ("document", "without a readable answer (SHARE have one)"),
    "llm-unread": ("document", "with an answer that could not be read: {items}"),
    "llm-foreign": ("document", "with mentions that are mostly not in the text: {items}; "
                    "check that each answer has the id of its own document"),
    "llm-refusal": ("document", "refused: {items}"),
    "llm-empty": ("document", "with an answer that has no mentions: {items}"),
    "llm-pieces": ("document", "answered in pieces, whose entities were KEPT"),
    "llm-part": ("piece", "of documents without a readable answer: {items}"),
    "llm-limit": ("document", "cut off by a token limit, according to the records: {items}"),
    "llm-cut": ("document", "with an answer that stops early: {items}"),
    "llm-unknown": ("answer", "of unknown documents, left out: {items}"),
    "llm-guessed": ("answer", "with ids that are not in the key, paired by their words: {items}"),
    "llm-twice": ("document", "with several answers, of which the first counts: {items}"),
    "llm-several": ("answer", "about several documents, split"),
}  # fmt: skip


def notices_of(
    ledger: Ledger,
    oddities: Oddities,
    ids: Sequence[str],
    name: str,
    *,
    occurrences: str,
    pieces: str,
) -> Iterator[Notice]:
    """Notices about how answers were read and placed; `ids` are those of all documents.

    `oddities` are the ids of documents or answers that are odd, by the kind of
    notice.
    """
    yield from _about_forms(ledger, name)
    states, covers = defaultdict(list), ledger.documents
    for cover in covers:
        states[cover.state].append(cover.document)
    read = set(states["read"])
    items = {
        **oddities,
        "llm-share": [identifier for identifier in ids if identifier not in read],
        "llm-unread": states["unread"],
        "llm-refusal": states["refused"],
        "llm-empty": states["empty"],
        "llm-limit": [cover.document for cover in covers if cover.finish == "length"],
        "llm-cut": [
            f"{c.document} after {c.reached / c.tokens:.0%}" for c in covers if c.ends_early
        ],
    }
    share = f"{len(read) / max(len(ids), 1):.1%}"
    kept = "kept apart" if pieces == "apart" else "joined"
    for kind, (noun, text) in _ODD.items():
        if odd := items.get(kind):
            text = f"{name}: {{n}} {text.replace('SHARE', share).replace('KEPT', kept)}"
            yield Notice(kind, text, len(odd), tuple(odd) if "{items}" in text else (), noun)
    yield from _about_mentions(ledger, name)
    yield from _about_strings(ledger, name, occurrences)


def _about_forms(ledger: Ledger, name: str) -> Iterator[Notice]:
    """The forms of the answers that were read, the most frequent first."""
    forms = Counter(cover.convention for cover in ledger.documents if cover.state == "read")
    for form, count in forms.most_common():
        whose = "" if len(forms) == 1 else f"{plural(count, 'answer')} "
        yield Notice("llm-convention", f"{name}: {whose}read as {describe_form(form)}", count)


def describe_form(form: str) -> str:
    """What a form looks like, and the format that insists on it."""
    how = (
        f"text with tags {CONVENTIONS[form].example}"
        if form in CONVENTIONS
        else "a list of mentions"
    )
    return f"{how} ({f'llm-{form}' if f'llm-{form}' in ANSWERS else form})"


def _about_mentions(ledger: Ledger, name: str) -> Iterator[Notice]:
    text = f"{name}: {plural(ledger.written, 'mention')} written, {ledger.placed:,} placed, "
    text += f"{ledger.lost:,} lost, {ledger.unclear:,} unclear, {ledger.repeated:,} repeated"
    if ledger.written:
        yield Notice("llm-mentions", text, ledger.written)
    whys = Counter(entry.why for entry in ledger.entries if entry.state == "changed")
    listed = "; ".join(f"{why}: {count:,}" for why, count in whys.most_common(4))
    outcome = f"placed with changes ({listed}); corefeval check lists them"
    yield from note("llm-changed", ledger.changed, "mention", outcome, whose=name)


def _about_strings(ledger: Ledger, name: str, occurrences: str) -> Iterator[Notice]:
    """The share of strings that have several places."""
    lists = {cover.document for cover in ledger.documents if cover.convention not in CONVENTIONS}
    entries = [entry for entry in ledger.entries if entry.document in lists and entry.is_placed]
    several = sum(entry.places > 1 for entry in entries)
    share = several / max(len(entries), 1)
    outcome = f"of {len(entries):,} ({share:.0%}) with several places in the text; "
    outcome += f"--occurrences {occurrences} decided which one is meant"
    yield from note("llm-ambiguous", several, "string", outcome, whose=name)
