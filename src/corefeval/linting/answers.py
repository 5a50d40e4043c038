"""What is odd about answers of language models: their ledger, as findings."""

from __future__ import annotations

from collections.abc import Iterator

from corefeval.diagnostics import excerpt
from corefeval.formats.answers.notices import ends_early
from corefeval.linting.findings import Finding
from corefeval.model.ledger import Entry, Ledger


def answer_findings(ledger: Ledger, file: str) -> Iterator[Finding]:
    """A finding for each mention that is not simply placed, with its own words; and for documents
    that end early, or of which nothing can be read.
    """
    for entry in ledger.entries:
        kind = _kind(entry)
        if kind:
            yield _finding(kind, entry, file, entry.why or entry.state)
        if entry.places > 1 and entry.state != "lost":
            message = f"stands at {entry.places:,} places of the text"
            yield _finding("llm-ambiguous", entry, file, message)
    written = {entry.document for entry in ledger.entries}
    for one in ledger.documents:
        if one.document not in written:
            message = f"nothing can be read ({one.finish})" if one.finish else "nothing can be read"
            yield Finding("llm-refusal", message, file, document=one.document)
        elif ends_early(one) or one.finish == "length":
            share = one.reached / max(one.tokens, 1)
            message = (
                f"the answer ends after {one.reached:,} of {one.tokens:,} tokens ({share:.0%})"
            )
            message += f"; it says {one.finish}" if one.finish else ""
            yield Finding("llm-cut", message, file, document=one.document)


def _kind(entry: Entry) -> str:
    if entry.state == "lost":
        return "llm-invented" if "not in the document" in entry.why else "llm-lost"
    if entry.state == "repeated":
        return "llm-repeated"
    mended = ("never closed", "never opened", "another number")
    if any(words in entry.why for words in mended):
        return "llm-unclosed"
    return "llm-changed" if entry.state == "changed" else ""


def _finding(kind: str, entry: Entry, file: str, message: str) -> Finding:
    span = (entry.start, entry.end) if entry.is_placed else None
    place = f"of entity {excerpt(entry.entity)}, at character {entry.where:,} of the answer"
    message = f"{place}: {message}"
    return Finding(kind, message, file, document=entry.document, span=span, text=entry.written)
