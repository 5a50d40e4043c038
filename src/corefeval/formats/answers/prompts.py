"""What models are asked: a text, instructions and worked examples, in a style that is read back."""

from __future__ import annotations

import html
import json
import os
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from operator import attrgetter, methodcaller
from typing import Literal

from corefeval.checks import check_choice, check_count
from corefeval.diagnostics import Notice, UsageError, note
from corefeval.display import json_text
from corefeval.formats import read
from corefeval.formats.answers.lookup import Passage, Triple, Unit, shown_words
from corefeval.formats.answers.trees import unquote
from corefeval.model import Corpus, Document
from corefeval.model.identity import unbroken_word

Reading = tuple[Sequence[Unit], int, int]  # mentions; where the copy begins and ends, or 0, 0


@dataclass(frozen=True, slots=True)
class Style:
    """A way to write coreference: how mentions are written, and the `task` that explains it.

    `escape` changes a word so that it cannot be taken for a tag. `before` and `behind` are patterns
    of the tags before and behind words, whose groups are what opens a mention, its entity, and what
    closes it. A style without them has no tags, and its mentions may cross. With `by_entity`, tags
    are paired by entity, so that only mentions of one entity must not cross. `blank` is written for
    the entity where it is not shown.
    """

    name: str
    write: Callable[[Passage], str]
    task: str
    escape: Callable[[str], str] = str
    before: str = ""
    behind: str = ""
    by_entity: bool = False
    blank: str = "?"

    def carry(self, mentions: Sequence[Triple]) -> list[Triple]:
        """The mentions that can be written: those that cross an earlier one may be left out."""
        if not self.behind:
            return list(mentions)
        kept = []
        open_ends = defaultdict[str, list[int]](list)
        for mention in mentions:
            start, end, entity = mention
            stack = open_ends[entity if self.by_entity else ""]
            while stack and stack[-1] <= start:
                stack.pop()
            if not stack or end <= stack[-1]:
                stack.append(end)
                kept.append(mention)
        return kept

    def read(self, answer: str, passage: Passage, sentence: int) -> Reading | None:
        """The mentions of a tagged copy of the passage, from a sentence on (the first is 0).

        None if it is not word for word the passage.
        """
        if not self.behind:
            return _read_described(answer, passage, sentence)
        before, behind = map(re.compile, (self.before, self.behind))
        opened = defaultdict[str, list[tuple[int, str, int]]](list)
        units, start, words = [], passage.starts[sentence], passage.words
        answer = answer.rstrip(" \n") + "\n"
        place = len(answer) - len(answer.lstrip(" \n"))
        for last in range(start, len(words)):
            word = self.escape(words[last])
            for pattern, texts in ((before, (word,)), (behind, (" ", "\n"))):
                while tag := pattern.match(answer, place):
                    opens, label, closes = tag.groups()
                    stack = opened[label if self.by_entity else ""]
                    if opens:
                        stack.append((last, label, place))
                    if closes:
                        if not stack:
                            return None
                        first, name, where = stack.pop()
                        text, span = " ".join(words[first : last + 1]), (first, last + 1)
                        units.append(Unit(text, where, label or name, spans=[span]))
                    place = tag.end()
                if not answer.startswith(texts, place):
                    return None
                place += len(texts[0])
            if place == len(answer) and not any(opened.values()):
                return units, start, last + 1
        return None


def _write_tags(opening: str, closing: str, passage: Passage) -> str:
    """The text with tags around its mentions; `{}` in them is the entity."""
    words = list(passage.words)
    for start, end, entity in reversed(passage.mentions):  # inner ones before outer ones
        words[start] = opening.format(entity) + words[start]
        words[end - 1] += closing.format(entity)
    return replace(passage, words=words).text


def _write_marks(passage: Passage) -> str:
    """The text with marks behind words; on a word, what opens comes first, in textual order."""
    marks = defaultdict[int, list[str]](list)
    for start, end, entity in reversed(passage.mentions):
        is_long = end > start + 1
        marks[start].insert(0, f"[e{entity}" if is_long else f"[e{entity}]")
        if is_long:
            marks[end - 1].append(f"e{entity}]")
    words = list(passage.words)
    for token, tags in marks.items():
        words[token] += f"|{','.join(tags)}"
    return replace(passage, words=words).text


def clusters_of(passage: Passage) -> dict[str, list[Triple]]:
    """The mentions of each entity, in textual order."""
    clusters = defaultdict(list)
    for mention in passage.mentions:
        clusters[mention[2]].append(mention)
    return clusters


def _describe(passage: Passage, mention: Triple) -> dict[str, object]:
    """A mention for JSON: its words, its sentence, and which place of these words it has there."""
    start, end, _ = mention
    text, sentence = " ".join(passage.words[start:end]), bisect_right(passage.starts, start)
    places = passage.find(text, sentence)
    described = {"text": text, "sentence": sentence}
    if len(places) > 1:
        described["nth"] = bisect_right(places, (start, end))
    return described


_DESCRIBED = re.compile(
    r'"id":\s*(\d{1,9}),\s*"mentions":|\{\s*"text":\s*"((?:[^"\\]|\\.)*)",'
    r'\s*"sentence":\s*(\d{1,9})(?:,\s*"nth":\s*([1-9]\d{0,8}))?\s*\}'
)
# What is around these: `e` stands for the beginning of an entity, `m` for a mention.
_AROUND = re.compile(
    r"(?x) \s*\[\s* (?: \{\s* e \s*\[\s* (?: m \s*,?\s* )* \]\s*\}\s*,?\s* )* \]\s*"
)


def _read_described(answer: str, passage: Passage, first: int) -> Reading | None:
    """Mentions in JSON that has nothing but what is asked for, each with its only place."""
    units, names = [], [""]
    for match in _DESCRIBED.finditer(answer):
        name, text, sentence, nth = match.groups()
        if name:
            names.append(name)
        if sentence:
            words = unquote(text)
            places = passage.find(words, int(sentence) + first)
            places = places[int(nth) - 1 :][:1] if nth else places
            if len(places) != 1:
                return None
            units.append(Unit(words, match.start(), names[-1], spans=places))
    around = _DESCRIBED.sub(lambda match: "e" if match[1] else "m", answer)
    is_exact = units and len({*names}) == len(names) and _AROUND.fullmatch(around)
    return (units, 0, 0) if is_exact else None


def _write_json(passage: Passage) -> str:
    return dump(
        [
            {"id": int(name), "mentions": [_describe(passage, mention) for mention in cluster]}
            for name, cluster in clusters_of(passage).items()
        ]
    )


dump = partial(json.dumps, ensure_ascii=False)


_COPY = "Copy the text word for word and add nothing but tags: "
_NUMBER = "the number of its entity"
_STYLES = (
    Style(
        "markdown",
        partial(_write_tags, "[", "](#{})"),
        f"{_COPY}put every mention into square brackets, followed by a link to {_NUMBER}; a "
        "backslash before a bracket belongs to the text",
        methodcaller("translate", str.maketrans({"[": r"\[", "]": r"\]", "\\": r"\\"})),
        r"(\[)()()",
        r"()\]\(#(\w+)(\))",
        blank="",
    ),
    Style(
        "xml",
        partial(_write_tags, '<m id="{}">', "</m>"),
        f"{_COPY}put every mention into <m> tags whose id is {_NUMBER}",
        partial(html.escape, quote=False),
        r'(<m) id="(\w+)">()',
        "()()(</m>)",
    ),
    Style(
        "crac",
        _write_marks,
        f"{_COPY}after the first word of a mention write |[e1, after its last word |e1], after a "
        f"mention of one word |[e1], with {_NUMBER}; join several marks on one word by commas",
        unbroken_word,
        "(?!)",
        r"[|,](?=\[|\w+\])(\[?)e(\w+)(\]?)",
        by_entity=True,
    ),
    Style(
        "json",
        _write_json,
        "Answer with JSON only: a list of entities, each with its mentions in the order of the "
        "text, word for word, each with the number of its sentence (a line of the text), counted "
        "from 1; where a sentence has these words several times, nth says which of them is meant",
    ),
)
STYLES = {style.name: style for style in _STYLES}


_TASK = (
    "You annotate coreference: which words of a text mention the same entity. Mark every mention "
    "(names, descriptions, pronouns, possessives) as a whole phrase, with everything that belongs "
    "to it; mentions may contain other mentions. Entities are numbered from 1 in the order of "
    "their first mention, and all mentions of an entity have its number."
)
_MARKED = "The mentions are already marked: say which entity each of them belongs to."
_JOINED = (
    "A text may come in pieces: keep the numbers of the earlier pieces for entities that were "
    "mentioned there."
)
_SAMPLE = Passage(
    ["Ada", "met", "the", "captain", "of", "the", "Argo", ".", "She", "greeted", "him", "."],
    (0, 8),
    ((0, 1, "1"), (2, 7, "2"), (5, 7, "3"), (8, 9, "1"), (10, 11, "2")),
)


@dataclass(slots=True)
class Prompts:
    """What models are asked about a corpus, a record for each document or piece of one.

    `ideal` has the answers of a perfect model, by the ids of records. `carried` are the entities
    that these say, as lists of tokens (start, end) for each document.
    """

    records: list[dict[str, str]] = field(default_factory=list)
    ideal: dict[str, str] = field(default_factory=dict)
    carried: dict[str, list[list[tuple[int, int]]]] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

    def __iter__(self) -> Iterator[dict[str, str]]:
        return iter(self.records)

    @property
    def text(self) -> str:
        """As JSON lines."""
        return json_lines(self.records)

    @property
    def ideal_text(self) -> str:
        """The ideal answers as JSON lines, which can be scored."""
        return json_lines({"id": name, "answer": text} for name, text in self.ideal.items())


def json_lines(records: Iterable[object]) -> str:
    """A line of JSON for each record."""
    return "".join(json_text(record, indent=None) for record in records)


def write_prompts(
    key: Corpus | str | os.PathLike[str],
    style: str = "markdown",
    *,
    mentions: bool = False,
    examples: Corpus | None = None,
    shots: int = 0,
    max_tokens: int | None = None,
    pieces: Literal["apart", "joined"] = "apart",
) -> Prompts:
    """What to ask a model about the documents of a key: `id`, `system` and `user` of each.

    `key` is a corpus, or the path of one. Prompts show only the key's words, and with `mentions`
    which of them are mentions. `shots` worked examples come from `examples`, the shortest documents
    of it that are not the one asked about. `max_tokens` cuts documents into pieces at ends of
    sentences, in each of which numbers start anew; with `pieces` "joined", models are told to keep
    numbers, and `after` is the id of the piece before. `ideal` of the prompts has the answers of a
    perfect model; notices say what the style cannot write.

    Raises a UsageError for an unknown style, and for examples without a corpus to take them from.
    """
    check_choice("style", style, STYLES)
    check_choice("pieces", pieces, ("apart", "joined"))
    if shots:
        check_count("--shots", shots)
    if max_tokens is not None:
        check_count("--max-tokens", max_tokens)
    if shots and examples is None:
        raise UsageError("worked examples need a corpus to take them from: --from TRAIN")
    writer = _Writer(STYLES[style], mentions, shots, max_tokens, pieces == "joined")
    return writer.write(key if isinstance(key, Corpus) else read(key), examples or ())


# What answers cannot say, by the kind of notice.
_LOSSES = {
    "gap-mentions": ("mention", "with gaps left out of answers"),
    "crossing-mentions": ("mention", "that cross left out of {style} answers"),
    "cut-prompts": ("document", "cut into pieces"),
    "cut-mentions": ("mention", "across pieces left out of answers"),
    "cut-links": ("link", "of the key between pieces, {need}"),
}


@dataclass(slots=True)
class _Writer:
    """Writes prompts, and counts what they cannot say."""

    style: Style
    mentions: bool
    shots: int
    most: int | None
    joined: bool
    prompts: Prompts = field(default_factory=Prompts)
    tally: Counter[str] = field(default_factory=Counter)

    def write(self, key: Corpus, examples: Iterable[Document]) -> Prompts:
        """The prompts, with what was counted as notices."""
        hints = [_MARKED] * self.mentions + [_JOINED] * (self.joined and self.most is not None)
        system = f"{' '.join([_TASK, *hints])} {self.style.task}. For example, the answer to\n\n"
        system += f"{self._ask(_SAMPLE)}\n\nis\n\n{self.style.write(_SAMPLE)}"
        worked, fewest = [*self._solve(examples)], self.shots
        for document in key:
            name, passage = str(document.id), passage_of(document)
            texts = [text for id_, words, text in worked if id_ != name and words != passage.words]
            fewest = min(fewest, len(texts))
            self._add(name, passage, system, "".join(texts[: self.shots]))
        self.tally["gap-mentions"] = len(key.gaps_of)
        if fewest < self.shots:
            text = "only {n} to take worked examples from, besides the one asked about; "
            text += f"{self.shots} requested"
            self.prompts.notices.append(Notice("few-examples", text, fewest, noun="document"))
        need = "for which a model must see its earlier answers"
        need = need if self.joined else "which no answer can have"
        for kind, (noun, outcome) in _LOSSES.items():
            text = outcome.format(style=self.style.name, need=need)
            self.prompts.notices += note(kind, self.tally[kind], noun, text)
        return self.prompts

    def _add(self, document: str, passage: Passage, system: str, worked: str) -> None:
        """A record and an ideal answer for each piece of a document."""
        pieces = list(_pieces(passage, self.most))
        clusters = defaultdict(list)
        name, entities = "", list[str]()
        for number, (first, piece) in enumerate(pieces, start=1):
            earlier = {"after": name} if self.joined and name else {}
            name = f"{document}#{number}/{len(pieces)}" if len(pieces) > 1 else document
            carried = self._carry(piece if self.joined else _number_anew(piece))
            question = f"{worked}Text:\n{self._ask(carried)}\n\nAnswer:"
            record = {"id": name, "system": system, "user": question, **earlier}
            self.prompts.records.append(record)
            self.prompts.ideal[name] = self.style.write(carried)
            for start, end, entity in carried.mentions:
                cluster = entity, 0 if self.joined else number
                clusters[cluster].append((start + first, end + first))
            self.tally["crossing-mentions"] += len(piece.mentions) - len(carried.mentions)
            self.tally["cut-mentions"] -= len(piece.mentions)
            entities += clusters_of(piece)
        self.prompts.carried[document] = list(clusters.values())
        self.tally["cut-mentions"] += len(passage.mentions)
        self.tally["cut-links"] += len(entities) - len({*entities})
        self.tally["cut-prompts"] += len(pieces) > 1

    def _carry(self, passage: Passage) -> Passage:
        """The passage with escaped words, and the mentions that the style can write."""
        words = list(map(self.style.escape, passage.words))
        return replace(passage, words=words, mentions=self.style.carry(passage.mentions))

    def _ask(self, passage: Passage) -> str:
        """The text as it is shown, with or without its mentions."""
        if not self.mentions:
            return passage.text
        if not self.style.behind:
            listed = [dump(_describe(passage, mention)) for mention in passage.mentions]
            return "\n".join([f"{passage.text}\n\nMentions:", *listed])
        blank = [(start, end, self.style.blank) for start, end, _ in passage.mentions]
        return self.style.write(replace(passage, mentions=blank))

    def _solve(self, examples: Iterable[Document]) -> Iterator[tuple[str, Sequence[str], str]]:
        """Ids, words and solutions of documents with mentions, the shortest first."""
        usable = [document for document in examples if document.rows]
        for document in sorted(usable, key=attrgetter("n_tokens")):
            passage = passage_of(document)
            solved = self._carry(passage)
            text = f"Text:\n{self._ask(solved)}\n\nAnswer:\n{self.style.write(solved)}\n\n"
            yield str(document.id), passage.words, text


def passage_of(document: Document) -> Passage:
    """A document as a passage, without mentions that have gaps; entities are numbered."""
    gaps, tokens = document.corpus.gaps_of, document._tokens()
    mentions = dict.fromkeys(
        (m.start, m.end, str(m.entity.index)) for m in document.mentions if m.row not in gaps
    )
    words = shown_words(tokens, document.index)
    starts = tokens.sentence_starts(document.index) or [0]
    return _number_anew(Passage(words, starts, [*mentions]))


def _number_anew(passage: Passage) -> Passage:
    """The passage with entities numbered from 1 in the order of their first mention."""
    numbers: dict[str, str] = {}
    mentions = [
        (start, end, numbers.setdefault(entity, str(len(numbers) + 1)))
        for start, end, entity in passage.mentions
    ]
    return replace(passage, mentions=mentions)


def _pieces(passage: Passage, most: int | None) -> Iterator[tuple[int, Passage]]:
    """Starts and pieces of whole sentences, of `most` tokens unless one sentence has more."""
    cuts, size = [0], len(passage.words)
    for start, end in pairwise([*passage.starts, size]):
        if end - cuts[-1] > (most or size) and start > cuts[-1]:
            cuts.append(start)
    for low, high in pairwise([*cuts, size]):
        inside = [
            (start - low, end - low, entity)
            for start, end, entity in passage.mentions
            if low <= start and end <= high
        ]
        starts = [start - low for start in passage.starts if low <= start < high]
        yield low, Passage(passage.words[low:high], starts or [0], inside)
