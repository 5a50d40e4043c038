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
            "the file cannot be read as any format, or not as the one that it has",
            "nothing can be scored",
            "see the message",
        ),
        "wrong-encoding": (
            "bytes that are no text in the encoding of the file",
            "scoring stops where it needs the text, and words differ from those of the key",
            "name the encoding with --encoding; --fix replaces the bytes",
        ),
        "unbalanced-bracket": (
            "a mention that never opens or never closes",
            "scoring stops; other scorers stop too, or lose the mention",
            "add the missing bracket, or remove this one; --fix removes it",
        ),
        "unreadable-cell": (
            "a last column that is no coreference",
            "scoring stops; other scorers lose what is there",
            "write ‘-’ or brackets there; --fix writes ‘-’",
        ),
        "incomplete-mention": (
            "a discontinuous mention of which a part never comes",
            "scoring stops; other scorers stop too, or score the parts that are there",
            "write all parts, from [1/n] to [n/n], or mark the mention as one span",
        ),
        "repeated-document": (
            "two documents of one id",
            "scoring stops; other scorers take one of the two, or both as one",
            "rename or remove one of the two; --fix gives the second another part",
        ),
        "stray-tokens": (
            "tokens outside of any document",
            "scoring stops; other scorers do not see them",
            "put ‘#begin document (id); part 000’ before them; --fix names them after the file",
        ),
        "out-of-range": (
            "a mention that ends behind the last token of its document",
            "the mention is no mention of the text and cannot be right",
            "check whether ends are inclusive, and counted in the document or the sentence",
        ),
        "nothing-pairs": (
            "no document has an id that the key has",
            "nothing can be scored",
            "documents pair by id and part: both sides must call them the same",
        ),
        "differing-tokens": (
            "a document whose words are not those of the key",
            "scoring stops; with --ignore-tokens, mentions behind the difference may not match",
            "score the same tokenisation as the key's",
        ),
        "shifted-spans": (
            "a document whose mentions would be the key's if they began or ended one token away",
            "next to no mention matches the key, and scores are near 0",
            "check whether ends are inclusive, and whether tokens are counted from 0 or from 1",
        ),
        "llm-lost": (
            "a mention that a language model wrote and that could not be placed",
            "it is left out of the score; --lost strict counts it as wrong",
            "see the reason; ask the model again, or for another style of tags",
        ),
        "llm-cut": (
            "an answer that ends before its document does",
            "what is behind the end is missed; a note has the score on the text that was reached",
            "allow for more tokens, or ask about less text: corefeval prompt --max-tokens",
        ),
        "llm-refusal": (
            "an answer of which nothing can be read",
            "the document counts as one without mentions",
            "ask the model again",
        ),
        "truncated-document": (
            "a document that ends before the key's does",
            "scoring needs --ignore-tokens, and then the mentions of the rest are missed",
            "write the file again: its end is missing",
        ),
    },
    "warning": {
        "no-common-mentions": (
            "a document with mentions of which not one is the key's",
            "all of its mentions are wrong, and all of the key's are missed",
            "check that both are of the same text and tokens, and that documents are not exchanged",
        ),
        "missing-document": (
            "a document of the key that is not there",
            "it counts as empty: all of its mentions are missed, and recall falls",
            "add the document, or call it as the key does",
        ),
        "extra-document": (
            "a document that the key does not have",
            "it is left out of the score",
            "remove the document, or call it as the key does",
        ),
        "no-mentions": (
            "a file without a single mention",
            "a response like this scores 0",
            "check that the coreference column was written",
        ),
        "repeated-mention": (
            "a mention that an entity has more than once",
            "counted once here, and several times by some scorers, so that rates can pass 100 %",
            "keep one of them; --fix keeps the first",
        ),
        "span-in-two-entities": (
            "the same tokens as mentions of different entities",
            "only the entity that was opened first keeps the mention, unless --duplicates says "
            "last",
            "decide which entity it is; --fix leaves it",
        ),
        "crossing-mentions": (
            "two mentions of one entity that overlap, none inside the other",
            "scored as they are from JSON; brackets close in another order, or lose one of them",
            "correct the span of one of them; --fix drops the second where brackets need it",
        ),
        "cross-sentence-mention": (
            "a mention that goes on in the next sentence",
            "matches no mention of a usual key; tools that go by sentences lose or cut it",
            "correct its span, or the sentence boundary",
        ),
        "unusable-head": (
            "a stated head that is missing, is no number, or is no token of its mention",
            "match head has to find the head by itself; other scorers take the first word, or stop",
            "state the number of the head in the mention, from 1",
        ),
        "unusable-minimum": (
            "a stated minimum span that is not made of tokens of its mention",
            "match min and partial go by the tokens that are there, or by none",
            "state tokens of the mention: the numbers that they have in it, from 1, with "
            "commas between (minspan), or the first and last of those in the document (Min)",
        ),
        "unknown-markable": (
            "bridging of a markable that is not there",
            "the pair is left out; other scorers stop, or leave it out too",
            "name markables of the column IDENTITY, or an entity that has some",
        ),
        "contradictory-anchors": (
            "bridging to a mention of another entity than the one that stands beside it",
            "the mention counts, with its own entity; other scorers do the same",
            "name the entity of the mention, or one of the two alone",
        ),
        "repeated-markable": (
            "a markable with the id of one of another entity",
            "relations of that id mean the first; other scorers may lose a markable",
            "give it an id of its own",
        ),
        "unmentioned-entity": (
            "a relation of an entity that no mention belongs to",
            "a set is scored without that element, and bridging is left out",
            "check the id of the entity",
        ),
        "circular-set": (
            "a set of antecedents whose elements lead back to it",
            "the element that closes the circle is left out; other scorers never end",
            "decide which of the entities is an element of which",
        ),
        "self-reference": (
            "an entity that is an element of itself, or bridging to the anaphor's own entity",
            "such an element is left out; such bridging is scored as it is",
            "check which entity is meant",
        ),
        "node-without-dependencies": (
            "an empty node whose DEPS say nothing",
            "it is aligned with no node of the other side but one of the same id; other "
            "scorers stop",
            "state its enhanced dependencies, such as 5:nsubj",
        ),
        "unknown-parent": (
            "an empty node whose DEPS name a parent that its sentence has not, or no parent at all",
            "that dependency helps to align nothing; other scorers stop",
            "write parent:relation, the parent a word or an empty node of the sentence",
        ),
        "blank-tokens": (
            "a mention that begins or ends with a token that is only white space",
            "the mention does not match that of a key without the blank",
            "leave the blank token out of the mention",
        ),
        "word-ids": (
            "a word of CoNLL-U whose id is repeated, or out of order",
            "words are taken in the order of lines; other scorers go by ids, or stop",
            "number the words of each sentence from 1, and empty nodes behind their word",
        ),
        "document-line": (
            "a ‘#begin document’ that the official scorer does not recognise",
            "read here; the official scorer sees no document, and scores 0",
            "write ‘#begin document (id); part 000’, with one blank before the id; --fix does",
        ),
        "unfinished-file": (
            "no ‘#end document’ at the end of the file",
            "scored as it is; what was cut off is missing",
            "write the file again if it was cut short; --fix only adds the line",
        ),
        "reading-notice": (
            "what the reader left out or repaired",
            "the score is that of the file as it was understood",
            "see the message",
        ),
        "llm-invented": (
            "a mention that a language model wrote of words that the text does not have",
            "it is left out of the score; --lost strict counts it as wrong",
            "nothing is wrong with the file: the model made it up",
        ),
        "llm-unclosed": (
            "a tag of a language model that never closes, never opens, or closes another number",
            "the mention is mended: one word, or up to the tag that fits best",
            "ask the model again, or for another style of tags",
        ),
    },
    "note": {
        "crossing-entities": (
            "mentions of different entities that overlap, none inside the other",
            "scored as they are; rarely meant, as phrases nest",
            "check the spans of both",
        ),
        "self-nested-mention": (
            "a mention inside another one of the same entity",
            "scored as they are; in many keys an entity has no mention inside another",
            "check which of the two is meant",
        ),
        "set-of-one": (
            "a set of antecedents that has one element",
            "scored as it is; an element may be missing",
            "add the others, or make the two one entity",
        ),
        "repeated-relation": (
            "a relation that is there twice",
            "it counts once",
            "check whether another one is meant",
        ),
        "empty-document": (
            "a document without tokens",
            "it adds nothing to the score",
            "remove it, unless it belongs there",
        ),
        "one-token-document": (
            "a document of one token",
            "it adds next to nothing to the score",
            "check how documents are divided",
        ),
        "one-token-file": (
            "a file of one token",
            "it adds next to nothing to the score",
            "check that the file is complete",
        ),
        "singletons": (
            "entities of one mention",
            "they count for all metrics but MUC; keys such as those of OntoNotes have none",
            "--singletons drop leaves them out on both sides",
        ),
        "llm-changed": (
            "a mention that was placed although its words were changed",
            "it counts where its place is",
            "check its tokens",
        ),
        "llm-repeated": (
            "a mention that a language model wrote more than once",
            "it counts once",
            "nothing: models go round in loops",
        ),
        "llm-ambiguous": (
            "a listed string that stands at several places of the text",
            "which is meant is guessed from the order of the list",
            "ask for tags in the text, or for sentence numbers; --occurrences has other rules",
        ),
    },
}
KINDS = {
    name: FindingKind(name, severity, *texts)
    for severity, declared in _DECLARED.items()
    for name, texts in declared.items()
}
