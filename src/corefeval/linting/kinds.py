"""Kinds of findings: how grave each is, what it does to scores, and how it is mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding.

    An error stops scoring or loses mentions; a warning changes scores, here or in other scorers,
    without anybody noticing; a note is good to know.
    """

    name: str
    severity: Severity
    summary: str
    effect: str
    fix: str


# Of each kind: what it is, what it does to scores, how it is mended.
_DECLARED: dict[Severity, dict[str, tuple[str, str, str]]] = {
    "error": {
        "unreadable-file": (
            "a file that cannot be read in its format, or in any",
            "nothing can be scored",
            "see the message",
        ),
        "refused-file": (
            "a file that cannot be scored by the protocol",
            "there is no score; in a suite it counts as 0 or is left out",
            "see the message",
        ),
        "wrong-encoding": (
            "bytes that are not text in the file's encoding",
            "scoring stops when it needs the text, and words differ from the key's",
            "name the encoding with --encoding; --fix replaces the bytes",
        ),
        "unbalanced-bracket": (
            "a mention that never opens or never closes",
            "scoring stops; other scorers stop too, or lose the mention",
            "add the missing bracket, or remove this one; --fix removes it",
        ),
        "unreadable-cell": (
            "a last column that is not coreference",
            "scoring stops; other scorers lose what is there",
            "write ‘-’ or brackets there; --fix writes ‘-’",
        ),
        "incomplete-mention": (
            "a discontinuous mention with a missing part",
            "scoring stops; other scorers stop too, or score the parts that are there",
            "write all parts, from [1/n] to [n/n], or mark the mention as one span",
        ),
        "repeated-document": (
            "two documents with the same id",
            "scoring stops; other scorers take one of the two, or merge them",
            "rename or remove one of the two; --fix gives the second another part number",
        ),
        "stray-tokens": (
            "tokens outside any document",
            "scoring stops; other scorers ignore them",
            "put ‘#begin document (id); part 000’ before them; --fix names them after the file",
        ),
        "out-of-range": (
            "a mention that ends after the last token of its document",
            "the mention is not in the text, so it cannot be right",
            "check whether ends are inclusive, and whether positions count from the start of the "
            "document or of the sentence",
        ),
        "nothing-pairs": (
            "no document has the id of a key document",
            "nothing can be scored",
            "documents are paired by id and part: use the same names on both sides",
        ),
        "differing-tokens": (
            "a document whose words differ from the key's",
            "scoring stops; with --ignore-tokens, mentions after the difference may not match",
            "use the key's tokenisation",
        ),
        "shifted-spans": (
            "a document whose mentions would match the key's if they began or ended one token away",
            "almost no mention matches the key, and scores are near 0",
            "check whether ends are inclusive, and whether tokens are counted from 0 or from 1",
        ),
        "llm-lost": (
            "a language model's mention that could not be located in the text",
            "it is left out of the score; --lost strict counts it as wrong",
            "see the reason; ask the model again, or for another style of tags",
        ),
        "llm-cut": (
            "an answer that ends before its document does",
            "mentions after its end are missed; a note gives the score of the part it covers",
            "allow more tokens, or ask about less text: corefeval prompt --max-tokens",
        ),
        "llm-refusal": (
            "an answer that cannot be read at all",
            "the document counts as if it had no mentions",
            "ask the model again",
        ),
        "truncated-document": (
            "a document that ends before the key's does",
            "scoring needs --ignore-tokens, and mentions in the rest are missed",
            "produce the file again: its end is missing",
        ),
    },
    "warning": {
        "no-common-mentions": (
            "a document that shares no mention with the key",
            "all of its mentions are wrong, and all of the key's are missed",
            "check that both have the same text and tokens, and that no documents are mixed up",
        ),
        "missing-document": (
            "a key document that is missing here",
            "it counts as empty: all of its mentions are missed, and recall drops",
            "add the document, or name it as the key does",
        ),
        "extra-document": (
            "a document that the key does not have",
            "it is left out of the score",
            "remove the document, or name it as the key does",
        ),
        "no-mentions": (
            "a file without a single mention",
            "a response like this scores 0",
            "check that the coreference column was written",
        ),
        "repeated-mention": (
            "a mention that occurs more than once in its entity",
            "counted once here, but repeatedly by some scorers, whose rates can exceed 100 %",
            "keep one of them; --fix keeps the first",
        ),
        "span-in-two-entities": (
            "the same span in different entities",
            "only the entity that opens first keeps the mention (--duplicates last: the last)",
            "decide which entity it belongs to; --fix does not",
        ),
        "crossing-mentions": (
            "two mentions of one entity that overlap without nesting",
            "scored as they are from JSON; CoNLL brackets turn them into other spans, or lose one",
            "correct one of the spans; --fix drops the second where brackets cannot express both",
        ),
        "cross-sentence-mention": (
            "a mention that crosses a sentence boundary",
            "most keys have no such mentions; tools that work by sentence lose or cut it",
            "correct its span, or the sentence boundary",
        ),
        "no-heads": (
            "a CorefUD file without heads",
            "match head finds heads by itself; corefud-1.2 takes the first word of each mention, "
            "and scores can change by tens of points",
            "corefeval convert FILE NEW --heads dependencies adds heads",
        ),
        "unusable-head": (
            "a head that is missing, not a number, or outside its mention",
            "match head finds a head by itself; other scorers take the first word, or stop",
            "give the number of the head in the mention, counting from 1",
        ),
        "unusable-minimum": (
            "a minimum span with tokens outside its mention",
            "match min and partial use the valid tokens only, if there are any",
            "give tokens of the mention: their numbers in it, from 1, separated by commas "
            "(minspan), or the first and last of their numbers in the document (Min)",
        ),
        "unknown-markable": (
            "a bridging relation to a markable that does not exist",
            "the pair is left out; other scorers stop, or leave it out too",
            "name markables from the column IDENTITY, or an entity that has some",
        ),
        "contradictory-anchors": (
            "bridging that names a mention and an entity that do not belong together",
            "the mention counts, with its own entity; other scorers do the same",
            "name the entity of that mention, or only one of the two",
        ),
        "repeated-markable": (
            "a markable with the id of a markable in another entity",
            "relations to that id go to the first; other scorers may lose a markable",
            "give it an id of its own",
        ),
        "unmentioned-entity": (
            "a relation to an entity without mentions",
            "a set is scored without that element, and bridging to it is left out",
            "check the id of the entity",
        ),
        "circular-set": (
            "a set of antecedents that contains itself through its elements",
            "the element that closes the circle is left out; other scorers never finish",
            "decide which of the entities is an element of which",
        ),
        "self-reference": (
            "an entity that is an element of itself, or bridging to the anaphor's own entity",
            "such an element is left out; such bridging is scored as it is",
            "check which entity is meant",
        ),
        "node-without-dependencies": (
            "an empty node without DEPS",
            "it is only aligned with a node of the same id; other scorers stop",
            "give its enhanced dependencies, such as 5:nsubj",
        ),
        "unknown-parent": (
            "an empty node whose DEPS name no parent, or one that its sentence lacks",
            "that dependency is not used for alignment; other scorers stop",
            "write parent:relation, where parent is a word or an empty node of the sentence",
        ),
        "blank-tokens": (
            "a mention that begins or ends with a token that is only white space",
            "the mention does not match a key mention without the blank",
            "leave the blank token out of the mention",
        ),
        "word-ids": (
            "a CoNLL-U word whose id is repeated or out of order",
            "words are read in the order of lines; other scorers go by ids, or stop",
            "number the words of each sentence from 1, and empty nodes after their word (3.1)",
        ),
        "document-line": (
            "a ‘#begin document’ line that the official scorer does not recognise",
            "read here, but the official scorer sees no document and scores 0",
            "write ‘#begin document (id); part 000’, with one space before the id; --fix does",
        ),
        "unfinished-file": (
            "no ‘#end document’ at the end of the file",
            "scored as it is; whatever was cut off is missing",
            "produce the file again if it was cut short; --fix only adds the line",
        ),
        "reading-notice": (
            "something that was left out or repaired on reading",
            "the score is for the file as it was read",
            "see the message",
        ),
        "llm-invented": (
            "a language model's mention whose words are not in the text",
            "it is left out of the score; --lost strict counts it as wrong",
            "nothing is wrong with the file: the model made the mention up",
        ),
        "llm-unclosed": (
            "a language model's tag that never closes, never opens, or closes with another number",
            "the mention is repaired: one word, or up to the best-fitting tag",
            "ask the model again, or for another style of tags",
        ),
    },
    "note": {
        "crossing-entities": (
            "mentions of different entities that overlap without nesting",
            "scored as they are, but rarely intended: phrases nest",
            "check the spans of both",
        ),
        "self-nested-mention": (
            "a mention inside another mention of its entity",
            "scored as they are; many keys have no such mentions",
            "check which of the two is intended",
        ),
        "set-of-one": (
            "a set of antecedents with only one element",
            "scored as it is; an element may be missing",
            "add the others, or merge the two entities",
        ),
        "repeated-relation": (
            "a relation that occurs twice",
            "it counts once",
            "check whether another relation was intended",
        ),
        "empty-document": (
            "a document without tokens",
            "it adds nothing to the score",
            "remove it, unless it belongs there",
        ),
        "one-token-document": (
            "a document with only one token",
            "it adds almost nothing to the score",
            "check how the text was split into documents",
        ),
        "one-token-file": (
            "a file with only one token",
            "it adds almost nothing to the score",
            "check that the file is complete",
        ),
        "singletons": (
            "entities with only one mention",
            "they count in all metrics but MUC; some keys, such as OntoNotes, have none",
            "--singletons drop leaves them out on both sides",
        ),
        "llm-changed": (
            "a mention that was located although the model changed its words",
            "it counts where it was located",
            "check its tokens",
        ),
        "llm-repeated": (
            "a mention that a language model wrote more than once",
            "it counts once",
            "nothing to do: models sometimes repeat themselves",
        ),
        "llm-ambiguous": (
            "a listed string that occurs several times in the text",
            "the occurrence is guessed from the order of the list",
            "ask for tags in the text or for sentence numbers; --occurrences has other rules",
        ),
    },
}
KINDS = {
    name: FindingKind(name, severity, *texts)
    for severity, declared in _DECLARED.items()
    for name, texts in declared.items()
}
