"""The styles in which coreference is written, each of which is read back: writers and tasks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corefeval.formats.answers.text import fold_text
from corefeval.model.words import unbroken_word

Triple = tuple[int, int, str]  # start, end (exclusive), entity


@dataclass(frozen=True, slots=True)
class Passage:
    """Some sentences of a document: their words, where sentences begin, and the mentions."""

    words: Sequence[str]
    starts: Sequence[int]
    mentions: Sequence[Triple] = ()

    @property
    def text(self) -> str:
        """The words with blanks between them, a line for each sentence."""
        bounds = pairwise([*self.starts, len(self.words)])
        return "\n".join(" ".join(self.words[start:end]) for start, end in bounds)

    def sentence(self, token: int) -> int:
        """The number of a token's sentence, from 1."""
        return sum(start <= token for start in self.starts)


@dataclass(frozen=True, slots=True)
class Style:
    """A way to write coreference: how mentions are written, and how it is explained.

    `blank` is the entity of a mention that is given, to be filled in.
    """

    name: str
    write: Callable[[Passage], str]
    task: str
    blank: str = "?"
    crossing: bool = False


def _tags(opening: str, closing: str) -> Callable[[Passage], str]:
    """A writer of tags around words; `{e}` is the entity."""

    def write(passage: Passage) -> str:
        before, behind = defaultdict[int, str](str), defaultdict[int, str](str)
        for start, _, entity in sorted(passage.mentions, key=lambda m: (m[0], -m[1])):
            before[start] += opening.replace("{e}", entity)
        for _, end, entity in sorted(passage.mentions, key=lambda m: (-m[0], m[1])):
            behind[end - 1] += closing.replace("{e}", entity)
        words = [f"{before[i]}{word}{behind[i]}" for i, word in enumerate(passage.words)]
        return Passage(words, passage.starts).text

    return write


def _write_crac(passage: Passage) -> str:
    marks = defaultdict[int, list[str]](list)
    for start, end, entity in passage.mentions:
        if end == start + 1:
            marks[start].append(f"[e{entity}]")
        else:
            marks[start].append(f"[e{entity}")
            marks[end - 1].append(f"e{entity}]")
    pairs = enumerate(map(unbroken_word, passage.words))
    return " ".join(f"{word}|{','.join(marks[i])}" if marks[i] else word for i, word in pairs)


def _write_tanl(passage: Passage) -> str:
    """Each mention but the first names an earlier one, the newest whose words are of its entity."""
    newest: dict[str, str] = {}
    earlier = defaultdict[str, list[str]](list)
    tags: list[Triple] = []
    for mention in sorted(passage.mentions, key=lambda m: (m[0], -m[1])):
        start, end, entity = mention
        spellings = earlier[entity]
        clear = next((words for words in reversed(spellings) if newest[words] == entity), None)
        link = clear or (spellings[0] if spellings else None)
        tags.append((start, end, f" | {link}" if link else ""))
        words = fold_text(_words(passage, mention))
        newest[words] = entity
        spellings.append(words)
    return _tags("[ ", "{e} ]")(Passage(passage.words, passage.starts, tags))


def clusters_of(passage: Passage) -> list[list[Triple]]:
    """The mentions of each entity, in textual order."""
    clusters: dict[str, list[Triple]] = {}
    for mention in sorted(passage.mentions, key=lambda m: (m[0], -m[1])):
        clusters.setdefault(mention[2], []).append(mention)
    return list(clusters.values())


def _words(passage: Passage, mention: Triple) -> str:
    return " ".join(passage.words[mention[0] : mention[1]])


def _write_json(passage: Passage) -> str:
    data = [
        {
            "id": number,
            "mentions": [
                {"text": _words(passage, mention), "sentence": passage.sentence(mention[0])}
                for mention in cluster
            ],
        }
        for number, cluster in enumerate(clusters_of(passage), start=1)
    ]
    return json.dumps(data, ensure_ascii=False, indent=1)


def quote(passage: Passage, mention: Triple) -> str:
    """A mention in quotes, with its sentence; quotes in it become `″`, which is read alike."""
    words = _words(passage, mention).replace('"', "″")
    return f'"{words}" (sentence {passage.sentence(mention[0])})'


def _write_lines(passage: Passage) -> str:
    return "\n".join(
        f"- Entity {number}: " + "; ".join(quote(passage, mention) for mention in cluster)
        for number, cluster in enumerate(clusters_of(passage), start=1)
    )


def _write_questions(passage: Passage) -> str:
    return "\n".join(
        f"{quote(passage, mention)} refers to {quote(passage, cluster[0])}"
        for cluster in clusters_of(passage)
        for mention in cluster[1:]
    )


def _write_links(passage: Passage) -> str:
    links = []
    linked = [cluster for cluster in clusters_of(passage) if len(cluster) > 1]
    for number, cluster in enumerate(linked, start=1):
        behind = (" ".join(passage.words[end : end + 4]) for _, end, _ in cluster)
        first, second, *later_mentions = (
            f"{_words(passage, mention)} ## {words}"
            for mention, words in zip(cluster, behind, strict=True)
        )
        links.append(f"{second} -> {first} | ;;")
        links += [f"{later} -> [{number} ;;" for later in later_mentions]
    return "\n".join(links) or "None [+ E]"


COPY = "Copy the text word for word and add nothing but tags: "
_IN_BRACKETS = COPY + "put every mention into square brackets"
_IN_TAGS = COPY + "put every mention between <m> and </m>"
_ORDER = "in the order of the text, word for word"
_SENTENCE = "the number of its sentence (a line of the text), counted from 1"
_NUMBER = "the number of its entity"
_AGAIN = "For every mention of an entity that was mentioned before, answer with a line that "
_STYLES = (
    Style(
        "markdown",
        _tags("[", "](#cluster_{e})"),
        f"{_IN_BRACKETS}, followed by a link to {_NUMBER}",
        "",
    ),
    Style(
        "bracket",
        _tags("[e{e} ", "]"),
        f"{_IN_BRACKETS} that begin with its entity: e1, e2 and so on",
    ),
    Style(
        "xml",
        _tags('<m id="{e}">', "</m>"),
        f"{COPY}put every mention into <m> tags whose id is {_NUMBER}",
    ),
    Style(
        "crac",
        _write_crac,
        f"{COPY}after the first word of a mention write |[e1, after its last word |e1], after a "
        f"mention of one word |[e1], with {_NUMBER}; join several marks on one word by commas",
        crossing=True,
    ),
    Style(
        "subscript", _tags("[", "]_{e}"), f"{_IN_BRACKETS}, followed by {_NUMBER} as a subscript"
    ),
    Style("hash", _tags("[", "]#{e}"), f"{_IN_BRACKETS}, followed by # and {_NUMBER}", "MASK"),
    Style(
        "colon",
        _tags("[", ": {e}]"),
        f"{_IN_BRACKETS}, with a colon and {_NUMBER} before the closing bracket",
        "0",
    ),
    Style(
        "seq2seq", _tags("<m> ", " | {e} </m>"), f"{_IN_TAGS}, with a bar and {_NUMBER} before </m>"
    ),
    Style("mask", _tags("<m>", "</m>#{e}"), f"{_IN_TAGS}, followed by # and {_NUMBER}", "MASK"),
    Style(
        "curly",
        _tags("{{", "|{e}}}"),
        f"{COPY}put every mention into double braces, with a bar and {_NUMBER} at the end",
    ),
    Style(
        "tanl",
        _write_tanl,
        f"{_IN_BRACKETS}; if its entity was mentioned before, add a bar and the words of an "
        "earlier mention",
    ),
    Style(
        "json",
        _write_json,
        f"Answer with JSON only: a list of entities, each with its mentions {_ORDER}, each with "
        + _SENTENCE,
        crossing=True,
    ),
    Style(
        "lines",
        _write_lines,
        f"Answer with a line for each entity: its mentions in quotes, {_ORDER}, each with "
        + _SENTENCE,
        crossing=True,
    ),
    Style(
        "qa",
        _write_questions,
        f"{_AGAIN}says which first mention it refers to, both in quotes, each with {_SENTENCE}",
        crossing=True,
    ),
    Style(
        "link-append",
        _write_links,
        f"{_AGAIN}links it: the mention, ##, the words after it, ->, the first mention with the "
        "words after it, or [ and the number of the entity if it already has links, ;;",
        crossing=True,
    ),
)
STYLES = {style.name: style for style in _STYLES}
