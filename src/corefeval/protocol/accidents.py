"""The choices by which other programs differ from each other, each declared once. No numpy here.

At their defaults they are corefeval's own rules. Any other value is an accident of some program,
and is done in the room `emulation`; all of them may be combined.
"""

# No `annotations` from __future__ here: to read types from text takes longer than to make them.

from functools import partial
from typing import Annotated, Literal, TypedDict

from corefeval.protocol.choice import NUMBER, Choice

Order = Literal["list", "open", "close", "start"]
Brackets = Literal["written", "opening-first"]
Identity = Literal["token", "bounded", "sentence"]
YesNo = Literal["no", "yes"]
KeyRepeats = Literal["once", "keep", "collapse", "adjacent"]
ResponseRepeats = Literal["once", "keep", "collapse", "adjacent", "known"]
Owner = Literal["last", "first"]
Counted = Literal["count", "skip"]
CeafeSingletons = Literal["count", "skip-response"]
Twinless = Literal["as-is", "key-singletons"]
Muc = Literal["both", "response"]
B3 = Literal["lookup", "response", "overlap", "unique"]
Ceaf = Literal["list", "set", "matrix"]
Ceafm = Literal["mentions", "entities"]
Lea = Literal["label", "member"]
Blanc = Literal["key", "scorch", "luo", "halves"]
Nothing = Literal["ok", "error"]

Accident = partial(Choice, at="emulation")

_REPEATS = {
    "once": "each mention once in a document, as `duplicates` says",
    "keep": "all of them count",
    "collapse": "each mention once in an entity",
    "adjacent": "as collapse; of entities that end it side by side, only the last has it",
}
_COUNTED = {"count": "they count as any entity", "skip": "they are left out"}
_YES = {"no": "no", "yes": "as coval does it"}


class Accidents(TypedDict, total=False):
    """What other programs choose otherwise, in the order in which it is done."""

    window: Annotated[
        str,
        Accident(
            "none",
            "Cut documents into windows of so many tokens, each a document of its own.",
            pattern=NUMBER,
            example="aefh / ae,fh: MUC 80; windows of 4: 100, as a and e begin windows and vanish",
        ),
    ]
    keyless: Annotated[
        Counted,
        Accident(
            "count",
            "What becomes of documents in which the key has no mention.",
            values={"count": "they count as any document", "skip": "they are left out"},
            example="ab / ab and – / ab: count MUC P 50, skip 100",
        ),
    ]
    order: Annotated[
        Order,
        Accident(
            "list",
            "Which of several entities with the same mention comes first.",
            values={
                "list": "the one that is listed first; in CoNLL files, the one of the lower number",
                "open": "the one whose first mention opens first, in a cell as it is written",
                "close": "the one whose first mention ends first, in a cell as it is written",
                "start": "the one whose first mention stands first, the shorter before the longer",
            },
            example="{0-3,5} {1-2,5} / {5,1-2} with repeats kept: open MUC 66.7, close 0",
        ),
    ]
    brackets: Annotated[
        Brackets,
        Accident(
            "written",
            "How brackets of one entity are read that close and open on one token.",
            values={
                "written": "in the order in which they are written",
                "opening-first": "those that open come first: `0)|(0` is a mention of that token",
            },
            example="{0-1,1-2} / {1,0-2}: written MUC 0, opening-first 100",
        ),
    ]
    identity: Annotated[
        Identity,
        Accident(
            "token",
            "What tells mentions apart.",
            values={
                "token": "their tokens in the document",
                "bounded": "the same; one over a sentence boundary refuses the score",
                "sentence": "the sentence of their end, and both ends, each in its own sentence",
            },
            example="sentences of 4 and 6 tokens, {5-6,8} {1-6} / {1-6,8}: token B³ 50, sentence "
            "66.7",
        ),
    ]
    min_span: Annotated[
        YesNo,
        Accident(
            "no",
            "Compare minimum spans (MINA), cut from the key's parse.",
            values=_YES,
            example="the old man of the sea / the old man: no: two mentions, yes: one",
        ),
    ]
    np_only: Annotated[
        YesNo,
        Accident(
            "no",
            "Leave out verb phrases, by the key's parse.",
            values=_YES,
            example="rose, the rise / the rise: no: one of two is missing, yes: nothing is left",
        ),
    ]
    remove_nested: Annotated[
        YesNo,
        Accident(
            "no",
            "Leave out mentions inside another one of their entity.",
            values=_YES,
            example="{0-4,1-2,8} / {0-4,8}: no MUC R 50, yes 100",
        ),
    ]
    repeats_key: Annotated[
        KeyRepeats,
        Accident(
            "once",
            "What becomes of mentions that the key has several times.",
            values=_REPEATS,
            example="aab / ab: keep CEAFe 120, collapse 100",
        ),
    ]
    repeats_response: Annotated[
        ResponseRepeats,
        Accident(
            "once",
            "What becomes of mentions that the response has several times.",
            values={**_REPEATS, "known": "once where the key has the mention, else all of them"},
            example="ab,cd / abb,cdb,xx: B³ keep 65.6, collapse 67.4, known 80",
        ),
    ]
    limit: Annotated[
        str,
        Accident(
            "none",
            "Refuse the score where more than so many repeats of the response are left out.",
            pattern=NUMBER,
            example="eleven mentions twice, repeats known, limit 10: no number",
        ),
    ]
    owner: Annotated[
        Owner,
        Accident(
            "last",
            "Which of several entities a mention is looked up in.",
            values={"last": "the last of them", "first": "the first of them"},
            example="abc / abc,bx with repeats kept: B³ R last 55.6, first 100",
        ),
    ]
    b3_singletons: Annotated[
        Counted,
        Accident(
            "count",
            "What becomes of singletons in B³.",
            values={**_COUNTED, "skip": "left out, and what meets one on the other side is wrong"},
            example="abc,d / ab,cd: count 70.6, skip 58.8",
        ),
    ]
    ceafe_singletons: Annotated[
        CeafeSingletons,
        Accident(
            "count",
            "What becomes of singletons in CEAFe.",
            values={"count": "they count as any entity", "skip-response": "the response's go"},
            example="ab,c,d against itself: count 100, skip-response 50",
        ),
    ]
    lea_singletons: Annotated[
        Counted,
        Accident(
            "count",
            "What becomes of singletons in LEA.",
            values=_COUNTED,
            example="a,b,cd / ab,cd: count 50, skip 66.7",
        ),
    ]
    twinless: Annotated[
        Twinless,
        Accident(
            "as-is",
            "What becomes of response mentions that the key does not have.",
            values={"as-is": "nothing", "key-singletons": "the key has them too, each alone"},
            example="ab / abc,d: B³ as-is 50, key-singletons 80; CEAFe 53.3, 72",
        ),
    ]
    muc: Annotated[
        Muc,
        Accident(
            "both",
            "From which side MUC counts links.",
            values={
                "both": "recall from the key's entities, precision from the response's",
                "response": "both from the response's",
            },
            example="aab / ab with repeats kept: R both 100, response 50",
        ),
    ]
    b3: Annotated[
        B3,
        Accident(
            "lookup",
            "How B³ finds what entities share.",
            values={
                "lookup": "each mention has one entity on the other side",
                "response": "both sums are over the response's mentions",
                "overlap": "all pairs of entities, as sets",
                "unique": "each mention once, with one entity on each side",
            },
            example="abc,bd / ab,cd with repeats kept: lookup 51.6, response 48.8, overlap 66.3, "
            "unique 55.6",
        ),
    ]
    ceaf: Annotated[
        Ceaf,
        Accident(
            "list",
            "What CEAF takes entities for.",
            values={
                "list": "lists, in which the key's repeats count",
                "set": "sets",
                "matrix": "sets, of which all pairs of one side are the whole",
            },
            example="aab / ab with repeats kept: CEAFe list 120, set 100; CEAFm P 150, 100",
        ),
    ]
    ceafm: Annotated[
        Ceafm,
        Accident(
            "mentions",
            "What CEAFm divides by.",
            values={"mentions": "the mentions of each side", "entities": "the entities"},
            example="abc against itself: mentions 100, entities 300",
        ),
    ]
    lea: Annotated[
        Lea,
        Accident(
            "label",
            "When LEA takes a link for found.",
            values={
                "label": "both mentions have the same entity on the other side",
                "member": "the first is in the entity of the second, whatever its own",
            },
            example="abc / abc,bx with repeats kept: R label 33.3, member 66.7",
        ),
    ]
    blanc: Annotated[
        Blanc,
        Accident(
            "key",
            "Which half of BLANC counts alone.",
            values={
                "key": "the one that the key has",
                "scorch": "the same, but 100 where neither has a link and mentions are the same",
                "luo": "the one that either side has",
                "halves": "as key; links are of distinct mentions, and each half may stand alone",
            },
            example="a / a: key 0, scorch 100",
        ),
    ]
    nothing: Annotated[
        Nothing,
        Accident(
            "ok",
            "Whether a side may have not a single mention.",
            values={"ok": "it may", "error": "the score is refused"},
            example="ab / –: ok 0, error no number",
        ),
    ]
