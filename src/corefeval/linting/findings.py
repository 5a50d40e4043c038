"""The kinds of findings: how grave each is, what it does to scores, and how it is mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding.

    An error stops scoring or loses mentions; a warning changes scores, here or in other scorers,
    without anybody noticing; a note is good to know.
    """

    name: str
    severity: Severity
    summary: str
    effect: str
    fix: str


_DECLARED = (
    Kind(
        "unreadable-file",
        "error",
        "the file cannot be read as any format, or not as the one that it has",
        "nothing can be scored",
        "see the message",
    ),
    Kind(
        "wrong-encoding",
        "error",
        "bytes that are no text in the encoding of the file",
        "scoring stops where it needs the text, and words differ from those of the key",
        "name the encoding with --encoding; --fix replaces the bytes",
    ),
    Kind(
        "unbalanced-bracket",
        "error",
        "a mention that never opens or never closes",
        "scoring stops; other scorers stop too, or lose the mention",
        "add the missing bracket, or remove this one; --fix removes it",
    ),
    Kind(
        "unreadable-cell",
        "error",
        "a last column that is no coreference",
        "scoring stops; other scorers lose what is there",
        "write ‘-’ or brackets there; --fix writes ‘-’",
    ),
    Kind(
        "repeated-document",
        "error",
        "two documents of one id",
        "scoring stops; other scorers take one of the two, or both as one",
        "rename or remove one of the two; --fix gives the second another part",
    ),
    Kind(
        "stray-tokens",
        "error",
        "tokens outside of any document",
        "scoring stops; other scorers do not see them",
        "put ‘#begin document (id); part 000’ before them; --fix names them after the file",
    ),
    Kind(
        "out-of-range",
        "error",
        "a mention that ends behind the last token of its document",
        "the mention is no mention of the text and cannot be right",
        "check whether ends are inclusive, and counted in the document or the sentence",
    ),
    Kind(
        "nothing-pairs",
        "error",
        "no document has an id that the key has",
        "nothing can be scored",
        "documents pair by id and part: both sides must call them the same",
    ),
    Kind(
        "differing-tokens",
        "error",
        "a document whose words are not those of the key",
        "scoring stops; with --ignore-tokens, mentions behind the difference may not match",
        "score the same tokenisation as the key's",
    ),
    Kind(
        "missing-document",
        "warning",
        "a document of the key that is not there",
        "it counts as empty: all of its mentions are missed, and recall falls",
        "add the document, or call it as the key does",
    ),
    Kind(
        "extra-document",
        "warning",
        "a document that the key does not have",
        "it is left out of the score",
        "remove the document, or call it as the key does",
    ),
    Kind(
        "truncated-document",
        "error",
        "a document that ends before the key's does",
        "scoring needs --ignore-tokens, and then the mentions of the rest are missed",
        "write the file again: its end is missing",
    ),
    Kind(
        "repeated-mention",
        "warning",
        "a mention that an entity has more than once",
        "counted once here, and several times by some scorers, so that rates can pass 100 %",
        "keep one of them; --fix keeps the first",
    ),
    Kind(
        "span-in-two-entities",
        "warning",
        "the same tokens as mentions of different entities",
        "only the entity that was opened first keeps the mention, unless --duplicates says last",
        "decide which entity it is; --fix leaves it",
    ),
    Kind(
        "crossing-mentions",
        "warning",
        "two mentions of one entity that overlap, none inside the other",
        "scored as they are from JSON; brackets close in another order, or lose one of them",
        "correct the span of one of them; --fix drops the second where brackets need it",
    ),
    Kind(
        "cross-sentence-mention",
        "warning",
        "a mention that goes on in the next sentence",
        "matches no mention of a usual key; tools that go by sentences lose or cut it",
        "correct its span, or the sentence boundary",
    ),
    Kind(
        "blank-tokens",
        "warning",
        "a mention that begins or ends with a token that is only white space",
        "the mention does not match that of a key without the blank",
        "leave the blank token out of the mention",
    ),
    Kind(
        "document-line",
        "warning",
        "a ‘#begin document’ that the official scorer does not recognise",
        "read here; the official scorer sees no document, and scores 0",
        "write ‘#begin document (id); part 000’, with one blank before the id; --fix does",
    ),
    Kind(
        "unfinished-file",
        "warning",
        "no ‘#end document’ at the end of the file",
        "scored as it is; what was cut off is missing",
        "write the file again if it was cut short; --fix only adds the line",
    ),
    Kind(
        "reading-notice",
        "warning",
        "what the reader left out or repaired",
        "the score is that of the file as it was understood",
        "see the message",
    ),
    Kind(
        "crossing-entities",
        "note",
        "mentions of different entities that overlap, none inside the other",
        "scored as they are; rarely meant, as phrases nest",
        "check the spans of both",
    ),
    Kind(
        "self-nested-mention",
        "note",
        "a mention inside another one of the same entity",
        "scored as they are; in many keys an entity has no mention inside another",
        "check which of the two is meant",
    ),
    Kind(
        "empty-document",
        "note",
        "a document without tokens",
        "it adds nothing to the score",
        "remove it, unless it belongs there",
    ),
    Kind(
        "one-token-document",
        "note",
        "a document of one token",
        "it adds next to nothing to the score",
        "check how documents are divided",
    ),
    Kind(
        "one-token-file",
        "note",
        "a file of one token",
        "it adds next to nothing to the score",
        "check that the file is complete",
    ),
    Kind(
        "no-mentions",
        "note",
        "a file without a single mention",
        "a response like this scores 0",
        "check that the coreference column was written",
    ),
    Kind(
        "singletons",
        "note",
        "entities of one mention",
        "they count for all metrics but MUC; keys such as those of OntoNotes have none",
        "--singletons drop leaves them out on both sides",
    ),
)

KINDS = {kind.name: kind for kind in _DECLARED}
