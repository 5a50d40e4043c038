"""Items of probes: a text, a target, candidates, and which of them are right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from string import ascii_uppercase
from typing import Any, NamedTuple

from corefeval.checks import check_choice
from corefeval.diagnostics import InputError, Notices, excerpt
from corefeval.display import json_text
from corefeval.files import PathLike, write_file
from corefeval.formats.answers.prompts import Prompts

Span = tuple[int, int]
Texts = Mapping[str, str]

_MARK = re.compile(r"\[([*A-Z]) ([^\[\]]+)\]")


class Candidate(NamedTuple):
    """What the target may refer to: a letter, its words, and where these stand, if they do."""

    label: str
    text: str
    spans: tuple[Span, ...] = ()


class Item(NamedTuple):
    """A question: to which candidates the target refers.

    Spans count characters of the `text`, or `tokens` if there are any. `gold` are labels of
    candidates, none of them for neither; it is None if nobody knows. Items with the same `pair` are
    twins. `human` says how many people chose each label, or were unsure.
    """

    id: str
    text: str
    target: Span
    candidates: tuple[Candidate, ...]
    gold: tuple[str, ...] | None
    groups: Texts
    pair: str | None
    human: Mapping[str, float]
    tokens: tuple[str, ...]

    def locate(self, span: Span) -> Span:
        """A span in characters of the text."""
        if not self.tokens:
            return span
        starts = [0, *accumulate(len(token) + 1 for token in self.tokens)]
        return starts[span[0]], starts[span[1]] - 1


def check(holds: object, problem: str, value: object, expected: str) -> None:
    """Raise the error for a problem with a value of an item, unless the condition holds."""
    if not holds:
        raise InputError(problem, found=excerpt(str(value)), expected=expected)


def remove_marks(
    pattern: re.Pattern[str], text: str
) -> tuple[str, list[tuple[re.Match[str], Span]]]:
    """A text without marks, and each mark with the place of its words, its last group."""
    plain, behind = "", 0
    marks: list[tuple[re.Match[str], Span]] = []
    for mark in pattern.finditer(text):
        plain += text[behind : mark.start()]
        behind, words = mark.end(), mark[mark.lastindex or 0]
        marks.append((mark, (len(plain), len(plain) + len(words))))
        plain += words
    return plain + text[behind:], marks


def make_item(record: Mapping[str, Any]) -> Item:
    """The item of a record in corefeval's own format, with spans in numbers or as marks.

    Raises an InputError, or whatever Python raises for values of a wrong type.
    """
    tokens = tuple(record.get("tokens") or ())
    text, identifier = " ".join(tokens) or record["text"], str(record["id"])
    is_text = isinstance(record["tokens"], list | tuple) if tokens else isinstance(text, str)
    check(is_text, "an item must have a text, or a list of tokens", text, "a string, or strings")
    has_id = record["id"] is not None and identifier.strip()
    check(has_id, "an item must have an id", text, "an id for each item")
    gold, pair = record.get("gold"), record.get("pair")
    if tokens or "target" in record:
        target, entries = record["target"], record["candidates"]
    else:
        text, target, entries = _read_marks(text)
    candidates = tuple(sorted(_list_candidates(tokens or text, entries)))
    labels = [candidate.label for candidate in candidates]
    is_sound = 0 < len({*labels} & {*ascii_uppercase}) == len(entries)
    problem = "an item must have 1 to 26 candidates, each with its own letter"
    check(is_sound, problem, entries, "[A Ann]")
    if isinstance(gold, str):
        gold = {"?": None, "neither": []}.get(gold, gold.split("+"))
    expected = f"{', '.join(labels)}, neither or ?"
    names = "+".join(map(str, gold or ()))
    check({*labels}.issuperset(gold or ()), "gold names no candidate", names, expected)
    human = {name: float(number) for name, number in (record.get("human") or {}).items()}
    is_sound = all(0 <= number < inf for number in human.values())
    check(is_sound, "a number of people is below 0", human, "numbers from 0")
    return Item(
        identifier,
        text,
        _read_span(tokens or text, target),
        candidates,
        None if gold is None else tuple(sorted({*gold})),
        {name: str(value) for name, value in (record.get("groups") or {}).items()},
        None if pair is None else str(pair),
        human,
        tokens,
    )


def _read_marks(marked: str) -> tuple[str, Span, list[dict[str, Any]]]:
    """A text without marks, its target, and its candidates by their letters."""
    text, marks = remove_marks(_MARK, marked)
    spans: dict[str, list[Span]] = {"*": []}
    for mark, span in marks:
        spans.setdefault(mark[1], []).append(span)
    targets = spans.pop("*")
    problem = "an item must have exactly one target, [* …]"
    check(len(targets) == 1, problem, text, "[A Ann] and [* her] dog")
    return text, targets[0], [{"label": name, "spans": spans[name]} for name in spans]


def _read_span(units: str | tuple[str, ...], span: Any) -> Span:
    start, end = span
    is_number = bool not in (type(start), type(end))
    has_words = is_number and 0 <= start < end <= len(units) and "".join(units[start:end]).strip()
    check(has_words, "a span has no words", span, f"[start, end) up to {len(units)}")
    return start, end


def _list_candidates(units: str | tuple[str, ...], entries: Any) -> Iterator[Candidate]:
    for letter, entry in zip(ascii_uppercase, entries, strict=False):
        details = entry if isinstance(entry, Mapping) else {"span": entry}
        stated = details["spans"] if "spans" in details else [details["span"]]
        spans = tuple(_read_span(units, span) for span in stated)
        blank = "" if isinstance(units, str) else " "
        words = details.get("text") or blank.join(units[slice(*spans[0])])
        yield Candidate(details.get("label", letter), str(words), spans)


_STYLES = {
    "letter": "Say what the word refers to. Answer with the letter of a choice, and nothing else.",
    "name": "Say what the word refers to. Answer with the words of a choice, and nothing else.",
    "yesno": "Say whether the word refers to what the question names. Answer with yes or no only.",
}
PROBE_STYLES = tuple(_STYLES)


@dataclass(frozen=True, repr=False)
class Probe:
    """Items that are asked together, with the name and the format of their file."""

    items: tuple[Item, ...]
    name: str = ""
    format: str = "probe"
    notices: Notices = ()

    def __repr__(self) -> str:
        return f"<Probe {self.name!r}: {len(self.items):,} items>"

    def write(self, path: PathLike) -> None:
        """Write the items as JSON lines in corefeval's own format."""
        lines = ""
        for item in self.items:
            candidates = [candidate._asdict() for candidate in item.candidates]
            lines += json_text({**item._asdict(), "candidates": candidates}, indent=None)
        write_file(path, lines)

    def prompts(self, style: str = "letter") -> Prompts:
        """What to ask a language model about each item: `id`, `system` and `user`.

        Nothing in it depends on gold, groups or pairs. `yesno` asks about each candidate, under the
        id of the item with `#` and the label.
        """
        check_choice("style", style, PROBE_STYLES)
        prompts = Prompts()
        system = f"In the text, a word is marked with ** on both sides. {_STYLES[style]}"
        for item in self.items:
            start, end = item.locate(item.target)
            word = f"**{item.text[start:end]}**"
            names = [*(candidate.text for candidate in item.candidates), "neither"]
            choices = map("{}) {}".format, ascii_uppercase + "?", names)
            questions = {item.id: "\n".join((f"What does {word} refer to?", *choices))}
            if style == "yesno":
                questions = {
                    f"{item.id}#{candidate.label}": f"Does {word} refer to {candidate.text}?"
                    for candidate in item.candidates
                }
            for identifier, question in questions.items():
                text = f"Text:\n{item.text[:start]}{word}{item.text[end:]}\n\n{question}"
                user = f"{text}\n\nAnswer:"
                prompts.records.append({"id": identifier, "system": system, "user": user})
        return prompts
