"""What a declared choice is, and the choices by which other programs differ. No numpy here.

At their defaults they are corefeval's own rules. Any other value is an accident of some program,
and is done in the room `emulation`; all of them may be combined.
"""

# No `annotations` from __future__ here: to read types from text takes longer than to make them.

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Literal, NamedTuple, TypedDict

NUMBER = r"[1-9]\d{0,8}"  # what choices allow that take a number
_NO_SHARES: Mapping[str, float] = {}


class Choice(NamedTuple):
    """The declaration of a choice.

    `summary` is its line of help, `values` says of each value in a few words what it does, and
    `at` names the step at which it acts. Values in `shares` take a number above 0 and up to 1 in
    parentheses, and have the one that is said there without it. A choice without values takes any
    text that `pattern` allows, or a regular expression where it `is_expression`. The signature has
    it `always`, or where it is not at its default.
    `flag` is an option without a value, as people write it for the value `flagged`; a choice that
    is no `option` is for Python alone. `accidents` are values that only `emulation` can do (of a
    choice that acts there: all but the default), and `example` is the smallest pair of key and
    response that shows what values do.
    """

    default: str
    summary: str
    at: str
    values: Mapping[str, str] | None = None
    shares: Mapping[str, float] = _NO_SHARES
    pattern: str = ".+"
    is_expression: bool = False
    always: bool = False
    flag: str = ""
    flagged: str = ""
    option: bool = True
    accidents: tuple[str, ...] = ()
    example: str = ""

    def is_accident(self, value: str) -> bool:
        """Whether a value is an accident of some program."""
        return value in self.accidents or (self.at == "emulation" and value != self.default)

    @property
    def spellings(self) -> dict[str, str]:
        """The meaning of each value, by the value as it is written: `overlap(0.5)`."""
        return {
            f"{value}({self.shares[value]:g})" if value in self.shares else value: meaning
            for value, meaning in (self.values or {}).items()
        }


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
    "once": "each mention once per document, as `duplicates` says",
    "keep": "count all of them",
    "collapse": "each mention once per entity",
    "adjacent": "as collapse; of entities that close it side by side, only the last keeps it",
}
_COUNTED = {"count": "count them like any entity", "skip": "leave them out"}
_YES = {"no": "no", "yes": "as coval does"}


class Accidents(TypedDict, total=False):
    """The choices by which other programs differ, in the order in which they act."""

    window: Annotated[
        str,
        Accident(
            "none",
            "Cut documents into windows of this many tokens, each scored as a document.",
            pattern=NUMBER,
            example="aefh / ae,fh: MUC 80; windows of 4: 100, as a and e begin windows and vanish",
        ),
    ]
    keyless: Annotated[
        Counted,
        Accident(
            "count",
            "What to do with documents in which the key has no mention.",
            values={"count": "count them like any document", "skip": "leave them out"},
            example="ab / ab and – / ab: count MUC P 50, skip 100",
        ),
    ]
    order: Annotated[
        Order,
        Accident(
            "list",
            "Which of several entities with the same mention comes first.",
            values={
                "list": "the one listed first; in CoNLL files, the one with the lower number",
                "open": "the one whose first mention opens first; within a cell, as written",
                "close": "the one whose first mention closes first; within a cell, as written",
                "start": "the one whose first mention comes first, the shorter before the longer",
            },
            example="{0-3,5} {1-2,5} / {5,1-2} with repeats kept: open MUC 66.7, close 0",
        ),
    ]
    brackets: Annotated[
        Brackets,
        Accident(
            "written",
            "How to read brackets of one entity that close and open on the same token.",
            values={
                "written": "in the order written",
                "opening-first": "opening ones first: `0)|(0` includes a mention of that token",
            },
            example="{0-1,1-2} / {1,0-2}: written MUC 0, opening-first 100",
        ),
    ]
    identity: Annotated[
        Identity,
        Accident(
            "token",
            "What identifies a mention.",
            values={
                "token": "its tokens in the document",
                "bounded": "as token, but a mention across a sentence boundary is an error",
                "sentence": "the sentence it ends in, and each end's position in its sentence",
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
            "Leave out verb phrases, as found in the key's parse.",
            values=_YES,
            example="rose, the rise / the rise: no: one of two is missing, yes: nothing is left",
        ),
    ]
    remove_nested: Annotated[
        YesNo,
        Accident(
            "no",
            "Leave out mentions nested in another mention of their entity.",
            values=_YES,
            example="{0-4,1-2,8} / {0-4,8}: no MUC R 50, yes 100",
        ),
    ]
    repeats_key: Annotated[
        KeyRepeats,
        Accident(
            "once",
            "What to do with mentions that occur more than once in the key.",
            values=_REPEATS,
            example="aab / ab: keep CEAFe 120, collapse 100",
        ),
    ]
    repeats_response: Annotated[
        ResponseRepeats,
        Accident(
            "once",
            "What to do with mentions that occur more than once in the response.",
            values={**_REPEATS, "known": "once if the key has the mention, else all of them"},
            example="ab,cd / abb,cdb,xx: B³ keep 65.6, collapse 67.4, known 80",
        ),
    ]
    limit: Annotated[
        str,
        Accident(
            "none",
            "Refuse to score if more response repeats than this are left out.",
            pattern=NUMBER,
            example="eleven mentions twice, repeats known, limit 10: no number",
        ),
    ]
    owner: Annotated[
        Owner,
        Accident(
            "last",
            "Which entity a mention that is in several is looked up in.",
            values={"last": "the last one", "first": "the first one"},
            example="abc / abc,bx with repeats kept: B³ R last 55.6, first 100",
        ),
    ]
    b3_singletons: Annotated[
        Counted,
        Accident(
            "count",
            "What to do with singletons in B³.",
            values={
                **_COUNTED,
                "skip": "leave them out; matching one earns nothing",
            },
            example="abc,d / ab,cd: count 70.6, skip 58.8",
        ),
    ]
    ceafe_singletons: Annotated[
        CeafeSingletons,
        Accident(
            "count",
            "What to do with singletons in CEAFe.",
            values={"count": _COUNTED["count"], "skip-response": "leave out the response's"},
            example="ab,c,d against itself: count 100, skip-response 50",
        ),
    ]
    lea_singletons: Annotated[
        Counted,
        Accident(
            "count",
            "What to do with singletons in LEA.",
            values=_COUNTED,
            example="a,b,cd / ab,cd: count 50, skip 66.7",
        ),
    ]
    twinless: Annotated[
        Twinless,
        Accident(
            "as-is",
            "What to do with response mentions that the key does not have.",
            values={"as-is": "nothing", "key-singletons": "add each to the key as a singleton"},
            example="ab / abc,d: B³ as-is 50, key-singletons 80; CEAFe 53.3, 72",
        ),
    ]
    muc: Annotated[
        Muc,
        Accident(
            "both",
            "Which side MUC counts links on.",
            values={
                "both": "the key's entities for recall, the response's for precision",
                "response": "the response's entities for both",
            },
            example="aab / ab with repeats kept: R both 100, response 50",
        ),
    ]
    b3: Annotated[
        B3,
        Accident(
            "lookup",
            "How B³ counts what entities share.",
            values={
                "lookup": "by mention, each with one entity on the other side",
                "response": "as lookup, with both sums over the response's mentions",
                "overlap": "over all pairs of entities, as sets",
                "unique": "each mention once, with one entity on either side",
            },
            example="abc,bd / ab,cd with repeats kept: lookup 51.6, response 48.8, overlap 66.3, "
            "unique 55.6",
        ),
    ]
    ceaf: Annotated[
        Ceaf,
        Accident(
            "list",
            "How CEAF treats entities.",
            values={
                "list": "as lists, in which the key's repeats count",
                "set": "as sets",
                "matrix": "as sets, divided by the sum over all pairs of one side",
            },
            example="aab / ab with repeats kept: CEAFe list 120, set 100; CEAFm P 150, 100",
        ),
    ]
    ceafm: Annotated[
        Ceafm,
        Accident(
            "mentions",
            "What CEAFm divides by.",
            values={"mentions": "the number of mentions", "entities": "the number of entities"},
            example="abc against itself: mentions 100, entities 300",
        ),
    ]
    lea: Annotated[
        Lea,
        Accident(
            "label",
            "When LEA counts a link as found.",
            values={
                "label": "when both mentions are looked up in the same entity",
                "member": "when the entity of the second mention also contains the first",
            },
            example="abc / abc,bx with repeats kept: R label 33.3, member 66.7",
        ),
    ]
    blanc: Annotated[
        Blanc,
        Accident(
            "key",
            "When one half of BLANC is left out of the mean.",
            values={
                "key": "when the key has no such links",
                "scorch": "as key, but 100 if neither side has links and mentions are the same",
                "luo": "when neither side has such links",
                "halves": "as key, with links between distinct mentions only",
            },
            example="a / a: key 0, scorch 100",
        ),
    ]
    nothing: Annotated[
        Nothing,
        Accident(
            "ok",
            "Whether a side may have no mentions at all.",
            values={"ok": "yes", "error": "refuse to score"},
            example="ab / –: ok 0, error no number",
        ),
    ]
