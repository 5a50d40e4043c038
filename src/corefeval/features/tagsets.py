"""Tag sets: which tags are pronouns, names and nouns, and where the core of a phrase ends."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from fnmatch import translate
from functools import cached_property
from typing import Any

from corefeval.diagnostics import InputError, UsageError
from corefeval.display import PlainState

_LISTS = (
    "pronoun", "name", "noun", "alone", "words", "stop", "skip", "partitive", "preposition",
)  # fmt: skip


@dataclass(frozen=True)
class TagSet(PlainState):
    """What tags mean. Tags are glob patterns (`PRP*`), compared with upper and lower case.

    `pronoun`, `name_` and `noun` are the tags of pronouns, proper nouns and common nouns; a tag
    that fits several is the first of these. `alone` are tags that make a pronoun of a mention of
    this one token (`this`), `words` are pronouns that share their tag with nouns or determiners. To
    find heads by tags, `stop` ends the core of a phrase, `skip` is never a head, and a `partitive`
    before a `preposition` is one (`three of them`). `column` is the token column that has the tags.

    >>> TagSet("mine", pronoun=("P*",), name_=("NE",), noun=("N*",)).is_name("NE")
    True
    """

    name: str
    pronoun: tuple[str, ...] = ()
    name_: tuple[str, ...] = ()
    noun: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    stop: tuple[str, ...] = (",", ":", ";", "$,", "PUNCT")
    skip: tuple[str, ...] = (",", ".", ":", "$*", "PUNCT", "POS")
    partitive: tuple[str, ...] = ()
    preposition: tuple[str, ...] = ()
    column: str = "tag"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("name", "column"):
                continue
            if isinstance(value, str) or not all(isinstance(tag, str) for tag in value):
                raise UsageError(f"tag set {self.name}: {field.name} is not a list: {value!r}")
            object.__setattr__(self, field.name, tuple(value))

    @cached_property
    def is_pronoun(self) -> Callable[[str], bool]:
        """Whether a tag is one of pronouns."""
        return tag_matcher(self.pronoun)

    @cached_property
    def is_alone(self) -> Callable[[str], bool]:
        """Whether a tag is one of pronouns where it is all of a mention."""
        return tag_matcher((*self.pronoun, *self.alone))

    @cached_property
    def is_name(self) -> Callable[[str], bool]:
        """Whether a tag is one of proper nouns."""
        matches = tag_matcher(self.name_)
        return lambda tag: matches(tag) and not self.is_pronoun(tag)

    @cached_property
    def is_noun(self) -> Callable[[str], bool]:
        """Whether a tag is one of nouns, proper ones among them."""
        matches = tag_matcher((*self.name_, *self.noun))
        return lambda tag: matches(tag) and not self.is_pronoun(tag)


def tag_matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A function that says whether a tag fits one of some glob patterns."""
    expression = re.compile("|".join(map(translate, patterns)) or r"(?!)")
    return lambda text: expression.match(text) is not None


_INDEFINITE = tuple(
    first + second
    for first in ("any", "every", "no", "some")
    for second in ("body", "one", "thing")
)

_OF_TWO_WORDS = ("each other", "one another")


def _declare(name: str, words: tuple[str, ...] = (), column: str = "tag", **tags: str) -> TagSet:
    """A tag set whose lists are texts, with blanks between tags."""
    lists: dict[str, Any] = {key: tuple(text.split()) for key, text in tags.items()}
    return TagSet(name, words=words, column=column, **lists)


PENN = _declare(
    "penn",
    (*_INDEFINITE, "none", "that", "these", "this", "those", *_OF_TWO_WORDS),
    pronoun="PRP PRP$ PP PP$ WP WP$ EX",
    name_="NNP NNPS NP NPS",
    noun="NN NNS",
    alone="DT PDT WDT",
    stop="IN TO W* V* MD -LRB- ( , :",
    skip="POS , . : `` '' \" -LRB- -RRB- ( ) HYPH SYM NFP",
    partitive="CD DT JJ* PDT PRP RB*",
    preposition="IN",
)
UPOS = _declare(
    "upos",
    _OF_TWO_WORDS,
    "upos",
    pronoun="PRON",
    name_="PROPN",
    noun="NOUN",
    alone="DET",
    stop="ADP SCONJ VERB AUX PUNCT",
    skip="PUNCT PART SYM",
    partitive="ADJ ADV DET NUM PRON",
    preposition="ADP",
)
STTS = _declare(
    "stts",
    pronoun="PPER PRF PPOS* PDS PIS PRELS PWS PAV PROAV PWAV",
    name_="NE",
    noun="NN",
    alone="ART PDAT PIAT PIDAT PRELAT PWAT",
    stop="APPR APPRART APPO PREL* PW* KOU* V?FIN V?INF $, $(",
    skip="$*",
    partitive="CARD PDS PIS PPER",
    preposition="APPR APPRART",
)
TAGSETS: dict[str, TagSet] = {tagset.name: tagset for tagset in (PENN, UPOS, STTS)}

_PENN_TAGS = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : ( ) `` '' \" -LRB- -RRB- HYPH NFP AFX ADD GW "
    "XX"
)
_UPOS_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
_STTS_TAGS = (
    "ADJA ADJD ADV APPR APPRART APPO APZR ART CARD FM ITJ KOUI KOUS KON KOKOM NN NE PDS PDAT PIS "
    "PIAT PIDAT PPER PPOSS PPOSAT PRELS PRELAT PRF PWS PWAT PWAV PAV PROAV PTKZU PTKNEG PTKVZ "
    "PTKANT PTKA TRUNC VVFIN VVIMP VVINF VVIZU VVPP VAFIN VAIMP VAINF VAPP VMFIN VMINF VMPP XY $, "
    "$. $("
)
# All tags of each, by which a tag set is recognised.
INVENTORIES: dict[str, frozenset[str]] = {
    "penn": frozenset(_PENN_TAGS.split()),
    "upos": frozenset(_UPOS_TAGS.split()),
    "stts": frozenset(_STTS_TAGS.split()),
}
_ENOUGH = 0.6  # of the tokens must have a tag of the set


def recognise_tagset(frequencies: Mapping[str, int]) -> TagSet | None:
    """The tag set that most tokens have a tag of, by how often tags occur; None for no known one.

    >>> recognise_tagset({"PPER": 3, "NN": 5, "VVFIN": 2}).name
    'stts'
    """
    total = sum(frequencies.values())
    counts = {
        name: sum(count for tag, count in frequencies.items() if tag in tags)
        for name, tags in INVENTORIES.items()
    }
    best = max(counts, key=lambda name: counts[name])
    if not total or counts[best] < _ENOUGH * total:
        return None
    return TAGSETS[best]


def read_tagset(value: object) -> TagSet:
    """The tag set that a name, a JSON file or a mapping of three lists stands for.

    >>> read_tagset({"pronoun": ["P"], "name": ["NE"], "noun": ["N"]}).noun
    ('N',)
    """
    if isinstance(value, TagSet):
        return value
    if isinstance(value, Mapping):
        return _from_mapping(value, "own")
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"a tag set is a name, a file, a mapping or a TagSet, not {value!r:.60}")
    text = str(os.fspath(value))
    if text.lower() in TAGSETS:
        return TAGSETS[text.lower()]
    import json
    from pathlib import Path

    path = Path(text)
    if not os.path.isfile(path):
        choices = ", ".join(TAGSETS)
        raise UsageError(f"there is no tag set {text!r}: it is {choices} or a JSON file")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"the file cannot be read: {reason}", file=text) from None
    except ValueError as error:
        raise InputError("no JSON", file=text, found=str(error), fix=_FORM) from None
    if not isinstance(content, Mapping):
        raise InputError("no tag set", file=text, expected=_FORM)
    return _from_mapping(content, path.stem)


_FORM = '{"pronoun": ["PRP*"], "name": ["NNP*"], "noun": ["NN*"]}'


def _from_mapping(value: Mapping[str, object], name: str) -> TagSet:
    """The tag set of lists of tags; a UsageError for lists that no tag set has."""
    lists = {str(key).rstrip("_"): tags for key, tags in value.items()}
    column = lists.pop("column", "tag")
    unknown = [key for key in lists if key not in _LISTS]
    wrong = [key for key, tags in lists.items() if isinstance(tags, str) or not _is_list(tags)]
    if unknown or wrong or not {"pronoun", "name"} <= set(lists):
        raise UsageError(
            f"a tag set is lists of tags called pronoun, name and noun, such as {_FORM}; "
            f"this has {', '.join(map(repr, unknown or wrong or lists)) or 'nothing'}"
        )
    patterns: dict[str, tuple[str, ...]] = {
        "name_" if key == "name" else key: tuple(map(str, tags))  # type: ignore[call-overload]
        for key, tags in lists.items()
    }
    return replace(TagSet(name, column=str(column)), **patterns)  # type: ignore[arg-type]


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and all(isinstance(tag, str) for tag in value)
