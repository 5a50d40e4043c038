"""Items of probes: a text, a target, candidates, and which of them are right."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from string import ascii_uppercase
from typing import Any, NamedTuple

from corefeval.checks import check_choice, parse_integer, parse_number, parse_text, parse_texts
from corefeval.diagnostics import Notices
from corefeval.display import json_text
from corefeval.files import PathLike, write_file
from corefeval.formats.answers.prompts import Prompts

Span = tuple[int, int]
_MARK = r"\[([*A-Z]) ([^\[\]]+)\]"


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
    groups: Mapping[str, str]
    pair: str | None
    human: Mapping[str, float]
    tokens: tuple[str, ...]

    def locate(self, span: Span) -> Span:
        """A span in characters of the text."""
        if not self.tokens:
            return span
        starts = [0, *accumulate(len(token) + 1 for token in self.tokens)]
        return starts[span[0]], starts[span[1]] - 1


def check(holds: object, problem: str) -> None:
    """Raise a ValueError with the problem, unless the condition holds."""
    if not holds:
        raise ValueError(problem)


def remove_marks(pattern: str, text: str) -> tuple[str, dict[Any, list[Span]]]:
    """A text without its marks, and the places of each label.

    The groups of the pattern are the label, and the words that stay.
    """
    places, removed = defaultdict[Any, list[Span]](list), 0
    for mark in re.finditer(pattern, text):
        start = mark.start() - removed
        places[mark[1]].append((start, start + len(mark[2])))
        removed += len(mark[0]) - len(mark[2])
    return re.sub(pattern, r"\2", text), places


def make_item(
    identifier: Any,
    text: Any,
    target: Any = None,
    candidates: Any = None,
    gold: Any = None,
    groups: Any = None,
    pair: Any = None,
    human: Any = None,
    tokens: Any = None,
) -> Item:
    """The item of the values of a record in corefeval's own format.

    Spans are numbers, or marks in the text. Raises a ValueError, or whatever Python raises for
    values of a wrong type.
    """
    needed = "an item must have a text, or a list of tokens"
    tokens = tuple(parse_texts(tokens or [], needed))
    text = " ".join(tokens) or parse_text(text, needed)
    check(identifier is not None and str(identifier).strip(), "an item must have an id")
    if target is None:
        text, places = remove_marks(_MARK, text)
        targets = places.pop("*", [])
        check(len(targets) == 1, f"an item must have one target, [* …], not {len(targets)}")
        target = targets[0]
        candidates = [{"label": label, "spans": places[label]} for label in places]
    options = tuple(sorted(_list_candidates(tokens or text, candidates)))
    labels = "".join(candidate.label for candidate in options)
    are_sound = 0 < len({*labels} & {*ascii_uppercase}) == len(candidates)
    check(are_sound, f"an item must have 1 to 26 candidates, each with its own letter: {labels}")
    if isinstance(gold, str):
        gold = {"?": None, "neither": ()}.get(gold, gold.split("+"))
    check({*labels}.issuperset(gold or ()), f"gold names no candidate of {labels}: {gold}")
    return Item(
        str(identifier),
        text,
        _read_span(tokens or text, target),
        options,
        None if gold is None else tuple(sorted({*gold})),
        {name: str(value) for name, value in (groups or {}).items()},
        None if pair is None else str(pair),
        {
            name: parse_number(number, "a number of people", 0, 1e9)
            for name, number in (human or {}).items()
        },
        tokens,
    )


def _list_candidates(units: str | tuple[str, ...], entries: Any) -> Iterator[Candidate]:
    for letter, entry in zip(ascii_uppercase, entries, strict=False):
        details = entry if isinstance(entry, Mapping) else {"span": entry}
        stated = details.get("spans", [details.get("span")])
        spans = tuple(_read_span(units, span) for span in stated)
        blank = "" if isinstance(units, str) else " "
        words = details.get("text") or blank.join(units[slice(*spans[0])])
        yield Candidate(details.get("label", letter), str(words), spans)


def _read_span(units: str | tuple[str, ...], span: Any) -> Span:
    start, end = (parse_integer(edge, "an item must have spans") for edge in span)
    has_words = start < end <= len(units) and "".join(units[start:end]).strip()
    check(has_words, f"a span has no words: {start} to {end} of {len(units)}")
    return start, end


STYLES = {
    "letter": "Say what the word refers to. Answer with the letter of a choice, and nothing else.",
    "name": "Say what the word refers to. Answer with the words of a choice, and nothing else.",
    "yesno": "Say whether the word refers to what the question names. Answer with yes or no only.",
}


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
        check_choice("style", style, STYLES)
        system = f"In the text, a word is marked with ** on both sides. {STYLES[style]}"
        prompts = Prompts()
        for item in self.items:
            start, end = item.locate(item.target)
            word = f"**{item.text[start:end]}**"
            names = [*(candidate.text for candidate in item.candidates), "neither"]
            choices = map("{}) {}".format, ascii_uppercase + "?", names)
            questions = {"": "\n".join((f"What does {word} refer to?", *choices))}
            if style == "yesno":
                questions = {
                    f"#{label}": f"Does {word} refer to {name}?"
                    for label, name, _ in item.candidates
                }
            text = f"Text:\n{item.text[:start]}{word}{item.text[end:]}"
            for ending, question in questions.items():
                user = f"{text}\n\n{question}\n\nAnswer:"
                record = {"id": f"{item.id}{ending}", "system": system, "user": user}
                prompts.records.append(record)
        return prompts
