"""How metrics and features are written: names with arguments in parentheses, in lists."""

from __future__ import annotations

from collections.abc import Iterator


def split_list(text: str) -> Iterator[str]:
    """The parts between commas that are in no parentheses, without blanks around them.

    >>> list(split_list("muc, p-link(by=size(1,2-10), anaphor=1)"))
    ['muc', 'p-link(by=size(1,2-10), anaphor=1)']
    """
    depth = begin = 0
    for place, character in enumerate(text + ","):
        depth += (character == "(") - (character == ")")
        if character == "," and (depth == 0 or place == len(text)):
            if part := text[begin:place].strip():
                yield part
            begin = place + 1


def split_call(text: str) -> tuple[str, str | None]:
    """A name and what stands behind it in parentheses, if anything does.

    >>> split_call("overlap(0.5)"), split_call("head")
    (('overlap', '0.5'), ('head', None))
    """
    name, bracket, rest = text.strip().partition("(")
    return (name.strip(), rest[:-1].strip()) if bracket and rest.endswith(")") else (text, None)
