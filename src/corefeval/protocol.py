"""The protocol: every choice that can change a number, in one value whose text parses back.

A choice is declared once, in `Choices`. The keywords of `score` and its like, the options of the
commands, their help, the page on protocols and the signature follow from the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from corefeval._version import __version__
from corefeval.checks import did_you_mean
from corefeval.diagnostics import UsageError
from corefeval.syntax import split_call

Singletons = Literal["keep", "drop"]
Duplicates = Literal["first", "last", "error"]
Zeros = Literal["align", "place", "drop"]
Missing = Literal["empty", "skip", "error"]
Extra = Literal["ignore", "count", "error"]
TokenCheck = Literal["check", "ignore"]
Spans = Literal["auto", "inclusive", "exclusive"]
WrongSpans = Literal["auto", "head", "overlap"]
Unmarked = Literal["singleton", "missing"]
Undefined = Literal["0", "1"]
Aggregate = Literal["micro", "macro"]
Emulate = Literal["none", "corefud-1.2"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is declared of a choice.

    `summary` is its line of help, `values` says of each value in a few words what it does, and
    `at` names the step at which it acts. Values in `shares` take a number above 0 and up to 1 in
    parentheses, and have the one that is said there without it. A choice without values takes any
    text that `pattern` allows. The signature has it `always`, or where it is not at its default.
    `flag` is an option without a value, as people write it for the value `flagged`; a choice that
    is no `option` is for Python alone.
    """

    default: str
    summary: str
    at: str
    values: Mapping[str, str] | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    pattern: str = ".+"
    always: bool = False
    flag: str = ""
    flagged: str = ""
    option: bool = True

    @property
    def spellings(self) -> dict[str, str]:
        """What is said of each value, by the value as it is written: `overlap(0.5)`."""
        return {
            f"{value}({self.shares[value]:g})" if value in self.shares else value: meaning
            for value, meaning in (self.values or {}).items()
        }


# The steps that take part where key and response are compared; errors and agreement have more.
STEPS = ("pairing", "policies", "matching", "features", "rates", "emulation")


# What may have told the heads of mentions, in the order in which a signature names it.
HEADS = ("file", "dependencies", "parse", "tags")


class Choices(TypedDict, total=False):
    """The choices of a protocol, in the order of the signature."""

    match: Annotated[
        str,
        Choice(
            "exact",
            "Which mentions of key and response are the same.",
            at="matching",
            values={
                "exact": "the same tokens",
                "head": "the same head token",
                "partial": "the response inside the key, with the key's head or stated minimum",
                "min": "stated minimum spans as partial, else the same minimum span in the parse",
                "overlap": "tokens in common: twice these by the tokens of both (Dice), at least",
            },
            shares={"overlap": 0.5},
            always=True,
        ),
    ]
    singletons: Annotated[
        Singletons,
        Choice(
            "keep",
            "Keep entities of one mention, or drop them on both sides.",
            at="policies",
            values={"keep": "they take part", "drop": "they are left out on both sides"},
            always=True,
        ),
    ]
    duplicates: Annotated[
        Duplicates,
        Choice(
            "first",
            "Which of repeated mentions stays, or whether they are an error.",
            at="policies",
            values={
                "first": "the one that opens first",
                "last": "the one that opens last",
                "error": "the score is refused",
            },
            always=True,
        ),
    ]
    zeros: Annotated[
        Zeros,
        Choice(
            "align",
            "What empty nodes (zeros) of key and response are to each other.",
            at="pairing",
            values={
                "align": "the same where their dependencies are most alike, else by place",
                "place": "the same where they stand at the same place of a sentence",
                "drop": "left out on both sides, and mentions whose head or only token is one",
            },
        ),
    ]
    documents: Annotated[
        str, Choice("*", "Only documents whose id matches this glob.", at="pairing")
    ]
    missing: Annotated[
        Missing,
        Choice(
            "empty",
            "What becomes of key documents that the response lacks.",
            at="pairing",
            values={
                "empty": "they count, with nothing found",
                "skip": "they are left out",
                "error": "the score is refused",
            },
        ),
    ]
    extra: Annotated[
        Extra,
        Choice(
            "ignore",
            "What becomes of response documents that the key lacks.",
            at="pairing",
            values={
                "ignore": "they are left out",
                "count": "they count, and all in them is spurious",
                "error": "the score is refused",
            },
        ),
    ]
    tokens: Annotated[
        TokenCheck,
        Choice(
            "check",
            "Go on where a response's tokens are not the key's.",
            at="pairing",
            values={"check": "another text is an error", "ignore": "texts may differ"},
            flag="ignore_tokens",
            flagged="ignore",
        ),
    ]
    spans: Annotated[
        Spans,
        Choice(
            "auto",
            "How plain (start, end) mentions end, where the other side has tokens.",
            at="pairing",
            values={
                "auto": "inclusive if a span has start = end, else exclusive",
                "inclusive": "with their last token",
                "exclusive": "before the token at their end",
            },
            option=False,
        ),
    ]
    tagset: Annotated[
        object,
        Choice(
            "auto",
            "What tags mean (penn, upos, stts, or a JSON file of your own), if they do not tell.",
            at="features",
        ),
    ]
    wrong_spans: Annotated[
        WrongSpans,
        Choice(
            "auto",
            "When an extra mention that overlaps a missing one is that mention with a wrong span.",
            at="errors",
            values={
                "auto": "by the head where heads are known, else by overlap",
                "head": "if both have the same head",
                "overlap": "in any case",
            },
        ),
    ]
    unmarked: Annotated[
        Unmarked,
        Choice(
            "singleton",
            "What α takes a mention for that an annotator did not mark.",
            at="agreement",
            values={"singleton": "a chain of its own", "missing": "no value"},
        ),
    ]
    undefined: Annotated[
        Undefined,
        Choice(
            "0",
            "What a recall or precision of nothing (0/0) is.",
            at="rates",
            values={"0": "0, as in the official scorer", "1": "1, where both sides have nothing"},
        ),
    ]
    aggregate: Annotated[
        Aggregate,
        Choice(
            "micro",
            "Rates of all documents' counts together (micro), or means over documents (macro).",
            at="rates",
            values={"micro": "rates of summed counts", "macro": "means of documents' rates"},
            always=True,
        ),
    ]
    emulate: Annotated[
        Emulate,
        Choice(
            "none",
            "The program whose numbers are wanted, with its accidents.",
            at="emulation",
            values={"none": "corefeval's own rules", "corefud-1.2": "corefud-scorer 1.2"},
            option=False,
        ),
    ]


class Fields(Choices, total=False):
    """What a signature has: the choices, and what else was done to the data behind a number."""

    heads: Annotated[
        str,
        Choice("none", "What told the heads of mentions that were matched by them.", at="data"),
    ]
    features: Annotated[
        str, Choice("none", "The features of mentions that were stated beside the data.", at="data")
    ]
    slice: Annotated[
        str, Choice("whole", "The feature and the value that a score is of.", at="slices")
    ]
    segments: Annotated[
        str,
        Choice(
            "none",
            "The number of segments of a single document, each scored as one.",
            at="segments",
            pattern=r"[1-9]\d{0,8}",
        ),
    ]
    ci: Annotated[str, Choice("none", "How intervals were made.", at="intervals")]


@cache
def fields() -> dict[str, Choice]:
    """Every field of a signature by its name, in order."""
    hints = get_type_hints(Fields, include_extras=True)
    declared = {name: get_args(hint)[1] for name, hint in hints.items()}
    for name, hint in hints.items():
        kind = get_args(hint)[0]
        if get_origin(kind) is Literal and get_args(kind) != tuple(declared[name].values or ()):
            raise TypeError(f"{name}: the values of its type and its declaration differ")
    return declared


@cache
def choices(steps: tuple[str, ...] | None = None) -> Mapping[str, Choice]:
    """Every choice that people have, or that acts at one of these steps."""
    return {
        name: choice
        for name, choice in fields().items()
        if name in Choices.__annotations__ and (steps is None or choice.at in steps)
    }


@dataclass(frozen=True, slots=True)
class NamedProtocol:
    """A bundle of choices with a name, and where it comes from."""

    name: str
    summary: str
    choices: Choices
    reference: str = ""


_COREFUD: Choices = {
    "match": "head", "singletons": "drop", "zeros": "align", "emulate": "corefud-1.2"
}  # fmt: skip
_NAMED = (
    NamedProtocol("default", "exact spans, singletons kept, summed counts", {}),
    NamedProtocol(
        "corefud-1.2",
        "corefud-scorer 1.2 as it comes: heads, zeros aligned, singletons dropped",
        _COREFUD,
        "https://github.com/ufal/corefud-scorer",
    ),
    NamedProtocol(
        "crac-2022",
        "the shared task CRAC 2022 by corefud-scorer 1.2: partial match",
        {**_COREFUD, "match": "partial", "zeros": "place"},
        "Žabokrtský et al. 2022",
    ),
    NamedProtocol(
        "crac-2024",
        "the shared tasks CRAC 2024 and later: as corefud-1.2",
        _COREFUD,
        "Novák et al. 2024",
    ),
)
NAMED: dict[str, NamedProtocol] = {one.name: one for one in _NAMED}

# What earlier versions wrote.
_FORMER = {("tokens", "ignored"): "ignore"}


@dataclass(frozen=True, slots=True)
class Protocol:
    """Every choice that can change a number; its text is the signature, and parses back.

    >>> protocol = Protocol.of(singletons="drop", documents="bc/*|x")
    >>> print(protocol)
    match:exact|singletons:drop|duplicates:first|documents:"bc/*|x"|aggregate:micro
    >>> Protocol.parse(str(protocol)) == protocol
    True
    >>> protocol.singletons, protocol.aggregate
    ('drop', 'micro')
    """

    values: tuple[tuple[str, str], ...] = ()
    """The choices that are not at their defaults, in the order of the declaration."""

    @staticmethod
    def of(base: str | Protocol | None = None, /, **changes: Unpack[Fields]) -> Protocol:
        """A protocol by its name or text, or another one, with some choices changed."""
        if base is None:
            protocol = Protocol()
        elif isinstance(base, Protocol):
            protocol = base
        elif isinstance(base, str):
            protocol = Protocol.parse(base)
        else:
            raise UsageError(f"a protocol is a name, a signature or a Protocol, not {base!r:.60}")
        return protocol.but(**changes)

    @staticmethod
    def parse(text: str) -> Protocol:
        """The protocol of a signature, of a name, or of a name and what differs from it.

        Raises a UsageError that names the field where this version cannot do what a text says.
        """
        parts = list(_split(text))
        protocol = Protocol()
        if parts and not parts[0][1]:
            name = parts.pop(0)[0]
            if name not in NAMED:
                raise UsageError(f"there is no protocol {name!r}: {_hint(name, bool(parts))}")
            protocol = protocol.but(**NAMED[name].choices)
        chosen = dict(parts)
        for name, value in parts:
            if [one for one, _ in parts].count(name) > 1:
                raise UsageError(f"the protocol says {name} twice")
            if not value:
                raise UsageError(f"the protocol has no value for {name!r}: write {name}:VALUE")
        if "version" in chosen:
            _check_version(chosen.pop("version"))
        return Protocol.of_fields(chosen, protocol)

    @staticmethod
    def of_fields(values: Mapping[str, str], base: Protocol | None = None) -> Protocol:
        """The protocol of a signature's fields, as this or an earlier version wrote them."""
        named = {name.replace("-", "_"): value for name, value in values.items()}
        former = {name: _FORMER.get((name, value), value) for name, value in named.items()}
        return (base or Protocol()).but(**former)  # type: ignore[arg-type]

    def but(self, **changes: Unpack[Fields]) -> Protocol:
        """The same with some choices changed; a UsageError where a value is none of a choice."""
        if not changes:
            return self
        chosen = {**dict(self.values), **{n: _checked(n, v) for n, v in changes.items()}}
        return Protocol(
            tuple(
                (name, chosen[name])
                for name, choice in fields().items()
                if chosen.get(name, choice.default) != choice.default
            )
        )

    def __getattr__(self, name: str) -> Any:
        """The value of a choice."""
        for other, value in self.values:
            if other == name:
                return value
        if name.startswith("_") or name not in fields():
            raise AttributeError(f"a protocol has no {name!r}")
        return fields()[name].default

    @property
    def shown(self) -> dict[str, str]:
        """The choices that the signature has, by the names that it gives them."""
        return {
            name.replace("_", "-"): getattr(self, name)
            for name, choice in fields().items()
            if (choice.always and (name != "duplicates" or not self.emulates))
            or getattr(self, name) != choice.default
        }

    @property
    def emulates(self) -> bool:
        """Whether another program's numbers are wanted, which has rules of its own for repeats."""
        return bool(self.emulate != "none")

    @property
    def signature(self) -> str:
        """The text of the protocol with the version of corefeval, to be quoted with a number."""
        return f"{self}|version:{__version__}"

    def differences(self, other: Protocol) -> dict[str, tuple[str, str]]:
        """The choices that differ, with the value of each side."""
        names = [name for name in fields() if getattr(self, name) != getattr(other, name)]
        return {name: (getattr(self, name), getattr(other, name)) for name in names}

    def __str__(self) -> str:
        return "|".join(f"{name}:{_quoted(value)}" for name, value in self.shown.items())


def split_choices(
    options: Mapping[str, Any], steps: tuple[str, ...] = STEPS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The choices of some steps among keywords, and the other keywords.

    A flag such as `ignore_tokens` becomes the value that it stands for; None leaves a choice alone.
    """
    known = choices(steps)
    flags = {choice.flag: (name, choice.flagged) for name, choice in known.items() if choice.flag}
    chosen: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in options.items():
        if name in flags:
            chosen.update([flags[name]] if value else [])
        elif name in known:
            chosen.update({name: value} if value is not None else {})
        else:
            rest[name] = value
    return chosen, rest


def _checked(name: str, value: object) -> str:
    """A value that a choice may have."""
    choice = fields().get(name)
    if choice is None:
        raise UsageError(
            f"corefeval {__version__} has no choice {name!r}: {did_you_mean(name, choices())}"
        )
    if choice.values is not None:
        found = _spelled(choice, value)
        if found is None:
            message = f"{name} is one of {', '.join(choice.spellings)}, not {value!r:.60}"
            if name == "match" and "," in str(value):
                message += ": several at once are for the command score"
            raise UsageError(message)
        return found
    if not isinstance(value, str):
        raise UsageError(f"{name} is a text, not {value!r:.60}")
    if value != choice.default and not re.fullmatch(choice.pattern, value, re.DOTALL):
        raise UsageError(f"{name}: {value!r:.60} is no value that it can have")
    return str(value)


def _spelled(choice: Choice, value: object) -> str | None:
    """The one spelling of a value of a choice; None for what is none."""
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str) or choice.values is None:
        return None
    word, share = split_call(value)
    if word not in choice.shares:
        return value if value in choice.values else None
    try:
        number = choice.shares[word] if share is None else float(share)
    except ValueError:
        return None
    return f"{word}({number:.12g})" if 0 < number <= 1 else None


def _hint(name: str, is_before_choices: bool) -> str:
    """What people may have meant by a name that no protocol has."""
    hint = did_you_mean(name, NAMED)
    if is_before_choices and not hint.endswith("?"):
        return f"a metric before a signature is for --metrics / metrics=: leave out {name!r} here"
    more = "or write choices as match:exact|…"
    return f"{hint} {more.capitalize()}" if hint.endswith("?") else f"{hint}; {more}"


def _check_version(version: str) -> None:
    """Refuse what a later version wrote: it may mean something else by the same words."""
    if not re.fullmatch(r"\d+(\.\d+)*\w*", version):
        raise UsageError(f"version:{version} is no version of corefeval: leave it out")
    if _numbers(version) > _numbers(__version__):
        raise UsageError(
            f"version:{version} is later than this corefeval, {__version__}: install that version, "
            "or leave the version out to take its choices as this one understands them"
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


_PART = re.compile(r'\s*([^|:"]*?)\s*(?::\s*("(?:[^"\\]|\\.)*"|[^|"]*?)\s*)?(?:\||$)', re.DOTALL)


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Names and values of a signature, without quotes."""
    place = 0
    while place < len(text):
        part = _PART.match(text, place)
        if part is None or not part[1]:
            raise UsageError(
                f"{text[place : place + 40]!r} is no part of a protocol: write name:value|…, and "
                'values with | or " in them in quotes: documents:"a|b"'
            )
        value = part[2] or ""
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
        yield part[1], value
        place = part.end()


def _quoted(value: str) -> str:
    if re.search(r'[|:"\\]|^\s|\s$', value):
        return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'
    return value
