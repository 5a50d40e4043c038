"""The protocol: every choice that can change a number, in one value whose text parses back.

A choice is declared once, in `declarations`. The keywords of `score` and its like, the options of
the commands, their help, the page on protocols and the signature follow from the declaration.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from corefeval._version import __version__
from corefeval.checks import did_you_mean, split_call
from corefeval.diagnostics import KEYWORDS, UsageError
from corefeval.protocol.accidents import NUMBER, Choice
from corefeval.protocol.declarations import (
    STEPS,
    Choices,
    Duplicates,
    Layer,
    Spans,
    TokenRule,
    Unmarked,
    WrongSpans,
    Zeros,
)
from corefeval.protocol.named import NAMED, NamedProtocol, find_named, programs_with
from corefeval.protocol.signatures import (
    HEADS,
    MATCHERS,
    MINIMA,
    Fields,
    Matcher,
    choices,
    fields,
    register_matcher,
)

__all__ = [
    "MATCHERS",
    "NAMED",
    "OF_MENTIONS",
    "STEPS",
    "Choice",
    "Choices",
    "Duplicates",
    "Layer",
    "Matcher",
    "NamedProtocol",
    "Protocol",
    "Spans",
    "TokenRule",
    "Unmarked",
    "WrongSpans",
    "Zeros",
    "choices",
    "fields",
    "find_named",
    "join_protocols",
    "programs_with",
    "register_matcher",
    "split_choices",
]

# What earlier versions wrote.
_FORMER = {("tokens", "ignored"): "ignore", ("tokens", "check"): "same"}


# How errors in Python name what the command line calls --match head or --encoding NAME.
KEYWORDS.update({n: (*choice.spellings, choice.default) for n, choice in choices().items()})
KEYWORDS.update(dict.fromkeys(("encoding", "features", "word_column"), ()))
KEYWORDS["tagset"] = ("penn", "upos", "stts")
KEYWORDS["response_format"] = ("llm",)


@dataclass(frozen=True)
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
        if isinstance(base, str):
            base = Protocol.parse(base)
        elif base is not None and not isinstance(base, Protocol):
            raise UsageError(f"a protocol is a name, a signature or a Protocol, not {base!r:.60}")
        return (base or Protocol()).but(**changes)

    @staticmethod
    def parse(text: str) -> Protocol:
        """The protocol of a signature, of a name, or of a name and what differs from it.

        Raises a UsageError that names the field where this version cannot do what a text says.
        """
        parts = list(_split(text))
        protocol = Protocol()
        if parts and not parts[0][1]:
            name = parts.pop(0)[0]
            named = find_named(name)
            if named is None:
                raise UsageError(f"there is no protocol {name!r}: {_hint(name, bool(parts))}")
            protocol = protocol.but(**named.choices)
        chosen = dict(parts)
        for name, value in parts:
            if [field for field, _ in parts].count(name) > 1:
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
        return (base or Protocol()).but(**named)  # type: ignore[arg-type]

    def but(self, **changes: Unpack[Fields]) -> Protocol:
        """A protocol with some choices changed; a UsageError for what is no value of a choice."""
        if not changes:
            return self
        chosen = {**dict(self.values), **{n: _check_value(n, v) for n, v in changes.items()}}
        return Protocol(
            tuple(
                (name, chosen[name])
                for name, choice in fields().items()
                if chosen.get(name, choice.default) != choice.default
            )
        )

    def __post_init__(self) -> None:
        vars(self).update(self.values)

    def __getattr__(self, name: str) -> Any:
        """The default of a choice that is at its default."""
        if name.startswith("_") or name not in fields():
            raise AttributeError(f"a protocol has no {name!r}")
        return fields()[name].default

    def __reduce__(self) -> tuple[type[Protocol], tuple[object]]:
        return Protocol, (self.values,)

    @property
    def shown(self) -> dict[str, str]:
        """The choices that the signature has, by the names that it gives them."""
        values = dict(self.values)
        always = {name for name, choice in fields().items() if choice.always}
        # Unless repeats go by corefeval's own rule, on one side at least.
        if self.emulate != "none" or "once" not in (self.repeats_key, self.repeats_response):
            always.discard("duplicates")
        if self.ci.startswith("wilson"):  # the result is of a probe
            always |= {"candidate", "names", "missing"}
        return {
            name.replace("_", "-"): values.get(name, choice.default)
            for name, choice in fields().items()
            if name in values or name in always
        }

    @property
    def accidents(self) -> dict[str, str]:
        """The choices that are accidents of other programs, which only emulation can do."""
        declared = fields()
        return {name: value for name, value in self.values if declared[name].is_accident(value)}

    @property
    def without_accidents(self) -> Protocol:
        """A protocol with the defaults in place of accidents of other programs."""
        declared = fields()
        return self.but(**{name: declared[name].default for name in self.accidents})  # type: ignore[arg-type]

    @property
    def nearest(self) -> Protocol:
        """The nearest sound rules, which say the program that they stand for."""
        named = (name for name in NAMED if Protocol.parse(name).accidents == self.accidents)
        name = next(named, "+".join(self.accidents))
        return self.without_accidents.but(stands_for=name)

    @property
    def emulates(self) -> bool:
        """Whether any choice is an accident of another program."""
        return bool(self.values) and bool(self.accidents)

    def check_sound(self) -> None:
        """Raise a UsageError for accidents of other programs, for which only scores exist."""
        if self.emulates:
            shown = (f"{n.replace('_', '-')}:{value}" for n, value in self.accidents.items())
            raise UsageError(
                f"{'|'.join(shown)} is only for scores, errors and reports: without it the "
                f"protocol is '{self.without_accidents}'"
            )

    @property
    def reads_itself(self) -> bool:
        """Whether the program that is emulated reads files in its own way."""
        return bool(self.emulate == "corefud-1.2")

    @property
    def signature(self) -> str:
        """The text of the protocol with the version of corefeval, to be quoted with a number."""
        return f"{self}|version:{__version__}"

    def differences(self, protocol: Protocol) -> dict[str, tuple[str, str]]:
        """The choices that differ from another protocol's, with the values of both."""
        values = {name: (getattr(self, name), getattr(protocol, name)) for name in fields()}
        return {
            name: (value, differing)
            for name, (value, differing) in values.items()
            if value != differing
        }

    def __str__(self) -> str:
        parts = []
        for name, value in self.shown.items():
            if re.search(r'[|:"\\]|^\s|\s$', value):
                value = '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'
            parts.append(f"{name}:{value}")
        return "|".join(parts)


# Decided by mentions, where there are any; heads and minimum spans may have several sources.
OF_MENTIONS = ("spans", "tagset", "choice", "pieces", "heads", "minimum")
_RULES = {"heads": HEADS, "minimum": MINIMA}


def join_protocols(protocols: Sequence[Protocol]) -> Protocol:
    """The first of some protocols, with the choices that the mentions behind all of them decided.

    Heads and minimum spans have the rules of all of them; else what differs is left open.

    >>> print(join_protocols([Protocol.of(heads="tags"), Protocol.of(heads="file")]))
    match:exact|singletons:keep|duplicates:first|aggregate:micro|heads:file+tags
    """
    joint: dict[str, str] = {}
    for name in OF_MENTIONS:
        default = fields()[name].default
        values = {getattr(protocol, name) for protocol in protocols} - {default}
        if name in _RULES:
            rules = {rule for value in values for rule in value.split("+")}
            ordered = [rule for rule in _RULES[name] if rule in rules]
            joint[name] = "+".join([*ordered, *sorted(rules.difference(ordered))]) or default
        elif name == "tagset" and "stated" in {value.partition("+")[0] for value in values}:
            # Kinds may be stated of all mentions of a part, and not of another's.
            tagsets = {value.removeprefix("stated").removeprefix("+") for value in values} - {""}
            joint[name] = "+".join(("stated", *tagsets)) if len(tagsets) < 2 else default
        else:
            joint[name] = values.pop() if len(values) == 1 else default
    return protocols[0].but(**joint)  # type: ignore[arg-type]


def split_choices(
    options: Mapping[str, Any], steps: tuple[str, ...] = STEPS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The choices of some steps among keywords, and the other keywords.

    A flag such as `ignore_tokens` becomes the value that it stands for; None leaves a choice alone.
    """
    if not options:
        return {}, {}
    declared = choices(steps)
    flags = {
        choice.flag: (name, choice.flagged) for name, choice in declared.items() if choice.flag
    }
    chosen: dict[str, Any] = {}
    keywords: dict[str, Any] = {}
    for name, value in options.items():
        if name in flags:
            choice, flagged = flags[name]
            if value and options.get(choice) not in (None, flagged):
                raise UsageError(f"{name} means {choice} {flagged}: leave out one of the two")
            chosen.update({choice: flagged} if value else {})
        elif name in declared:
            chosen.update({name: value} if value is not None else {})
        else:
            keywords[name] = value
    return chosen, keywords


def _check_value(name: str, value: object) -> str:
    """The canonical text of a value; a UsageError for what is no value of the choice."""
    choice = fields().get(name)
    if choice is None:
        raise UsageError(
            f"corefeval {__version__} has no choice {name!r}: {did_you_mean(name, choices())}"
        )
    if choice.values is not None:
        if isinstance(value, str):
            value = _FORMER.get((name, value), value)
        spelling = _spell(choice, value)
        if spelling is None:
            message = f"{name} is one of {', '.join(choice.spellings)}, not {value!r:.60}"
            if name == "match" and "," in str(value):
                message += ": only the command score takes several at once; in Python, read the "
                message += "files once and call score for each"
            raise UsageError(message + _explain_share(choice, value))
        return spelling
    if type(value) is int and choice.pattern == NUMBER:
        value = str(value)
    if not isinstance(value, str):
        raise UsageError(f"{name} is a text, not {value!r:.60}")
    if value != choice.default and not re.fullmatch(choice.pattern, value, re.DOTALL):
        raise UsageError(f"{name}: {value!r:.60} is not a possible value")
    if choice.is_expression:
        try:
            with warnings.catch_warnings():  # of what later Pythons may take for something else
                warnings.simplefilter("error", FutureWarning)
                re.compile(value)
        except (re.error, OverflowError, RecursionError, FutureWarning) as error:
            message = f"{name}: {value!r:.60} is not a regular expression: {error}"
            raise UsageError(message) from None
    return str(value)


def _spell(choice: Choice, value: object) -> str | None:
    """The canonical spelling of a value of a choice; None for what is no value of it."""
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


def _explain_share(choice: Choice, value: object) -> str:
    """A hint on the share that a value takes in parentheses; empty where it takes none."""
    word, share = split_call(value) if isinstance(value, str) else ("", None)
    if share is None or word not in choice.shares:
        return ""
    percent = re.fullmatch(r"\s*(\d{1,3}(?:\.\d+)?)\s*%?\s*", share)
    number = float(percent[1]) / 100 if percent else 0.0
    number = number if 0.05 <= number <= 1 else choice.shares[word]
    return f": {word} takes a share above 0 and up to 1, such as {word}({number:g})"


def _hint(name: str, is_before_choices: bool) -> str:
    """A hint on what was meant by a name that no protocol has."""
    import difflib  # imported only for mistakes

    hint = did_you_mean(name, NAMED)
    if is_before_choices and not difflib.get_close_matches(name, NAMED, cutoff=0.75):
        return f"a metric before a signature is for --metrics / metrics=: leave out {name!r} here"
    advice = "or write choices as match:exact|…"
    return f"{hint} {advice.capitalize()}" if hint.endswith("?") else f"{hint}; {advice}"


def _check_version(version: str) -> None:
    """Raise a UsageError for a later version, whose words may mean something else."""
    if not re.fullmatch(r"\d+(\.\d+)*\w*", version):
        raise UsageError(f"version:{version} is not a version of corefeval: leave it out")
    numbers, current = (
        tuple(map(int, re.findall(r"\d+", text)[:3])) for text in (version, __version__)
    )
    if numbers > current:
        raise UsageError(
            f"version:{version} is newer than this corefeval, {__version__}: install that version, "
            "or leave the version out to take its choices as this one understands them"
        )


_PART = re.compile(r'\s*([^|:"]*?)\s*(?::\s*("(?:[^"\\]|\\.)*"|[^|"]*?)\s*)?(?:\||$)', re.DOTALL)


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Names and values of a signature, without quotes."""
    place = 0
    while place < len(text):
        part = _PART.match(text, place)
        if part is None or not part[1]:
            raise UsageError(
                f"{text[place : place + 40]!r} is not part of a protocol: write name:value|…, and "
                'values with | or " in them in quotes: documents:"a|b"'
            )
        value = part[2] or ""
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
        yield part[1], value
        place = part.end()
