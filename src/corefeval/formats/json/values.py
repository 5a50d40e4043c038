"""What records hold, checked: words, sentences, clusters of spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from corefeval.diagnostics import InputError, plural
from corefeval.formats.json.parsing import Record, shown

Cluster = list[tuple[int, int]]  # spans with the end excluded


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a document and the lengths of its sentences."""

    words: list[str]
    lengths: list[int]

    @property
    def sentence_starts(self) -> list[int]:
        """Where sentences begin; those without words are nothing."""
        starts = accumulate(self.lengths, initial=0)
        return [start for start, length in zip(starts, self.lengths, strict=False) if length]


def sentences_in(record: Record, key: str) -> Words:
    """The words of a list of sentences, each a list of words."""
    sentences = record.value(key)
    if not isinstance(sentences, list):
        raise _no_words(record, key, shown(sentences))
    words: list[str] = []
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, list):
            raise _no_words(record, key, f"{shown(sentence)} as sentence {number}")
        for position, word in enumerate(sentence):
            if not isinstance(word, str):
                found = f"{shown(word)} as word {position} of sentence {number}"
                raise _no_words(record, key, found)
        words += sentence
    return Words(words, [len(sentence) for sentence in sentences])


def tokens_in(record: Record, key: str) -> Words:
    """The words of a flat list, or of a list of sentences."""
    tokens = record.value(key)
    if not isinstance(tokens, list):
        raise _no_words(record, key, shown(tokens))
    if tokens and all(isinstance(token, list) for token in tokens):
        return sentences_in(record, key)
    for position, word in enumerate(tokens):
        if not isinstance(word, str):
            raise _no_words(record, key, f"{shown(word)} as word {position}")
    return Words(tokens, [len(tokens)])


def _no_words(record: Record, key: str, found: str) -> InputError:
    flat = ", or a list of words" if key == "tokens" else ""
    return record.error(
        f"‘{key}’ does not hold words",
        found=found,
        expected=f"a list of sentences, each a list of words (strings){flat}",
    )


def clusters_in(
    record: Record, value: Any, key: str, count: int, *, inclusive: bool = True, unit: str = "token"
) -> list[Cluster]:
    """Clusters of [start, end] as spans with the end excluded; each must lie in the document."""
    beyond = 1 if inclusive else 0
    clusters = []
    for number, cluster in enumerate(cluster_list(record, value, key)):
        spans = []
        for span in cluster:
            if type(span) is list and len(span) == 2:
                start, end = span
                # `True` is an int too, but no offset
                if type(start) is int and type(end) is int and 0 <= start < end + beyond <= count:
                    spans.append((start, end + beyond))
                    continue
            raise _bad_span(record, f"cluster {number} of ‘{key}’", span, count, beyond, unit)
        clusters.append(spans)
    return clusters


def cluster_list(record: Record, value: Any, key: str) -> list[list[Any]]:
    """A list of lists, whatever is in these."""
    if not isinstance(value, list):
        raise record.error(
            f"‘{key}’ is no list", found=shown(value), expected="a list of clusters of mentions"
        )
    for number, cluster in enumerate(value):
        if not isinstance(cluster, list):
            raise record.error(
                f"cluster {number} of ‘{key}’ is no list",
                found=shown(cluster),
                expected="a list of mentions",
            )
    return value


def whole_numbers(values: Any, length: int) -> bool:
    """Whether this is a list of so many whole numbers."""
    return (
        isinstance(values, list)
        and len(values) == length
        and all(type(value) is int for value in values)
    )


def _bad_span(
    record: Record, where: str, span: Any, count: int, beyond: int, unit: str
) -> InputError:
    ends = "inclusive" if beyond else "exclusive"
    pair = f"[start, end] with 0 ≤ start {'≤' if beyond else '<'} end, the end {ends}"
    fix = None
    if not whole_numbers(span, 2):
        problem = "a mention is no pair of whole numbers"
    elif span[0] < 0 or span[1] < 0:
        problem = "a mention begins before the document"
    elif span[0] >= span[1] + beyond:
        problem = "a mention ends before it begins" if beyond else "a mention spans nothing"
        if not beyond:
            fix = "ends are exclusive here: add 1 to them if yours are inclusive"
    else:
        problem = "a mention goes beyond the document"
        pair += f", in a document of {plural(count, unit)}"
        if span[1] + beyond == count + 1:
            fix = (
                "ends are inclusive here: take 1 from them if yours are exclusive"
                if beyond
                else "check that positions are counted from 0"
            )
    return record.error(f"{problem} in {where}", found=shown(span), expected=pair, fix=fix)


def strings(values: Any, length: int | None = None) -> bool:
    """Whether this is a list of strings (and of so many)."""
    return (
        isinstance(values, list)
        and (length is None or len(values) == length)
        and all(isinstance(value, str) for value in values)
    )


def unique_names(names: Sequence[str | None]) -> list[str]:
    """A name for each entity of a document: its own where nobody else has it, else a new one.

    >>> unique_names(["Ada", None, "Ada"])
    ['Ada', '1', 'Ada (2)']
    """
    taken = {name for name in names if name is not None}
    result: list[str] = []
    used: set[str] = set()
    for number, name in enumerate(names):
        chosen, again = (str(number), 1) if name is None else (name, 1)
        base = chosen
        while chosen in used or (name is None and chosen in taken):
            again += 1
            chosen = f"{base} ({again})"
        used.add(chosen)
        result.append(chosen)
    return result
