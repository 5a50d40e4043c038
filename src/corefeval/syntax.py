"""How metrics and features are written: names with arguments in parentheses, in lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from corefeval.diagnostics import UsageError

CROSS = "*"  # between features that are crossed, and between their values
_CALL = re.compile(r"\s*([^\s()=,][^()=,]*?)\s*(?:\((.*)\))?\s*", re.DOTALL)


class Call(NamedTuple):
    """A name with arguments: `distance(sentences, 0)`, and settings: `class(column=10)`."""

    name: str
    arguments: tuple[str, ...]
    settings: dict[str, str]


def parse_call(text: str, kind: str, form: str) -> Call:
    """The parts of a text; names of settings come in lower case, all else as it is written.

    `kind` is what the text should be and `form` how such arguments are written, for the UsageError
    that a text of another form or a setting that appears twice raises.

    >>> parse_call(" Distance( sentences,0, Unit = a(b=1) )", "feature", "argument")
    Call(name='Distance', arguments=('sentences', '0'), settings={'unit': 'a(b=1)'})
    """
    match = _CALL.fullmatch(text)
    inner = (match[2] or "") if match else ""
    if match is None or inner.count("(") != inner.count(")"):
        raise UsageError(f"{text!r} is not a {kind}: write name or name({form})")
    arguments, settings = [], {}
    for part in split_list(inner):
        key, equals, value = part.partition("=")
        key = key.strip().lower()
        if not equals or not re.fullmatch(r"\w+", key):
            arguments.append(part)
        elif key in settings:
            raise UsageError(f"{text!r} says {key} twice")
        else:
            settings[key] = value.strip()
    return Call(match[1], tuple(arguments), settings)


def split_list(text: str, separator: str = ",") -> Iterator[str]:
    """The parts between separators that are in no parentheses, without blanks around them.

    >>> list(split_list("muc, p-link(by=size(1,2-10), anaphor=1)"))
    ['muc', 'p-link(by=size(1,2-10), anaphor=1)']
    >>> list(split_list("genre * column(*)", CROSS))
    ['genre', 'column(*)']
    """
    depth = begin = 0
    for place, character in enumerate(text + separator):
        depth += (character == "(") - (character == ")")
        if character == separator and (depth == 0 or place == len(text)):
            if part := text[begin:place].strip():
                yield part
            begin = place + 1


def split_call(text: str) -> tuple[str, str | None]:
    """A name and what stands behind it in parentheses, if anything does.

    >>> split_call("overlap(0.5)"), split_call("head")
    (('overlap', '0.5'), ('head', None))
    """
    name, bracket, inner = text.strip().partition("(")
    return (name.strip(), inner[:-1].strip()) if bracket and inner.endswith(")") else (text, None)
