"""What models are asked: a text, instructions and worked examples, in a style that is read back."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from corefeval.diagnostics import Notice, UsageError, note
from corefeval.display import json_text
from corefeval.formats.answers.reading import read_answers
from corefeval.formats.answers.text import ZERO
from corefeval.model import Corpus, Document
from corefeval.model.identity import unbroken_word

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


COPY = "Copy the text word for word and add nothing but tags: "
_NUMBER = "the number of its entity"
_STYLES = (
    Style(
        "markdown",
        _tags("[", "](#cluster_{e})"),
        f"{COPY}put every mention into square brackets, followed by a link to {_NUMBER}",
        "",
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
        "json",
        _write_json,
        "Answer with JSON only: a list of entities, each with its mentions in the order of the "
        "text, word for word, each with the number of its sentence (a line of the text), counted "
        "from 1",
        crossing=True,
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
_SAMPLE = Passage(
    ["Ada", "met", "the", "captain", "of", "the", "Argo", ".", "She", "greeted", "him", "."],
    (0, 8),
    ((0, 1, "1"), (2, 7, "2"), (5, 7, "3"), (8, 9, "1"), (10, 11, "2")),
)


@dataclass(slots=True)
class Prompts:
    """What models are asked about a corpus, a record for each document or piece of one."""

    records: list[dict[str, str]] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    def __iter__(self) -> Iterator[dict[str, str]]:
        return iter(self.records)

    @property
    def text(self) -> str:
        """As JSON lines."""
        return "".join(json_text(record, indent=None) for record in self.records)


def write_prompts(
    key: Corpus,
    style: str = "markdown",
    *,
    mentions: bool = False,
    examples: Corpus | None = None,
    shots: int = 0,
    max_tokens: int | None = None,
) -> Prompts:
    """What to ask a model about the documents of a key: `id`, `system` and `user` of each.

    Of the key only the words are in it, and with `mentions` which words are mentions. `shots`
    worked examples come from `examples`, the shortest documents of it. `max_tokens` cuts documents
    into pieces at ends of sentences; answers of the pieces are put together again by their ids.

    Raises a UsageError for an unknown style, and for examples without a corpus to take them from.
    """
    if style not in STYLES:
        raise UsageError(f"there is no style {style!r}: there are {', '.join(STYLES)}")
    if shots < 0 or (max_tokens is not None and max_tokens < 1):
        raise UsageError(
            "the number of examples and the most tokens are whole numbers from 0 and 1"
        )
    if shots and examples is None:
        raise UsageError("worked examples need a corpus to take them from: --from TRAIN")
    chosen = STYLES[style]
    prompts = Prompts()
    system = (
        f"{_TASK} {_MARKED + ' ' if mentions else ''}{chosen.task}. For example, the answer to\n\n"
    )
    system += f"{_ask(_SAMPLE, chosen, mentions)}\n\nis\n\n{chosen.write(_SAMPLE)}"
    worked = "" if examples is None else _solve(examples, shots, chosen, mentions, prompts.notices)
    cut = 0
    for document in key:
        pieces = list(_pieces(_passage(document), max_tokens))
        cut += len(pieces) > 1
        for number, piece in enumerate(pieces, start=1):
            behind = f"#{number}/{len(pieces)}" if len(pieces) > 1 else ""
            question = f"{worked}Text:\n{_ask(piece, chosen, mentions)}\n\nAnswer:"
            record = {"id": f"{document.id}{behind}", "system": system, "user": question}
            prompts.records.append(record)
    remark = "cut into pieces: to link across them, a model must see its earlier answers, and "
    prompts.notices += note("cut-prompts", cut, "document", remark + "keep their numbers")
    return prompts


def _ask(passage: Passage, style: Style, mentions: bool) -> str:
    """The text as it is shown, with or without its mentions."""
    if not mentions:
        return passage.text
    if not style.task.startswith(COPY):
        listed = sorted(passage.mentions, key=lambda m: (m[0], -m[1]))
        return f"{passage.text}\n\nMentions:\n" + "\n".join(quote(passage, m) for m in listed)
    blank = [(start, end, style.blank) for start, end, _ in passage.mentions]
    text = style.write(Passage(passage.words, passage.starts, blank))
    return text.replace("#cluster_)", "#)")


def _solve(
    examples: Corpus, shots: int, style: Style, mentions: bool, notices: list[Notice]
) -> str:
    """The shortest documents with mentions, as they should be answered."""
    usable = [document for document in examples if document.rows]
    usable.sort(key=lambda document: (document.n_tokens, document.index))
    if len(usable) < shots:
        text = f"only {{n}} with mentions to take {shots} worked examples from"
        notices.append(Notice("few-examples", text, len(usable), noun="document"))
    parts, crossing, lost = [], 0, 0
    for document in usable[:shots]:
        passage = _passage(document)
        kept = passage.mentions if style.crossing else drop_crossing(passage.mentions)
        crossing += len(passage.mentions) - len(kept)
        passage = Passage(passage.words, passage.starts, kept)
        answer = style.write(passage)
        lost += count_misread(answer, passage, document, style.name)
        parts.append(f"Text:\n{_ask(passage, style, mentions)}\n\nAnswer:\n{answer}\n\n")
    remark = f"left out of worked examples: {style.name} cannot write mentions that cross"
    notices += note("crossing-mentions", crossing, "mention", remark)
    remark = f"in worked examples that {style.name} cannot tell from others with the same words"
    notices += note("misread-examples", lost, "entity", remark)
    return "".join(parts)


def count_misread(answer: str, passage: Passage, document: Document, style: str) -> int:
    """How many entities of two or more mentions differ when an answer is read back."""
    read = read_answers({str(document.id): answer}, document.corpus, format=f"llm-{style}")
    entities_read = defaultdict[int, set[tuple[int, int]]](set)
    for mention in read[str(document.id)].mentions:
        entities_read[mention.entity.index].add((mention.start, mention.end))
    entities_written = [
        {(start, end) for start, end, _ in cluster} for cluster in clusters_of(passage)
    ]
    return sum(
        entity not in entities_read.values() for entity in entities_written if len(entity) > 1
    )


def drop_crossing(mentions: Sequence[Triple]) -> list[Triple]:
    """The mentions without those that cross an earlier one."""
    kept: list[Triple] = []
    stack: list[int] = []
    for start, end, entity in sorted(mentions, key=lambda m: (m[0], -m[1])):
        while stack and stack[-1] <= start:
            stack.pop()
        if not stack or end <= stack[-1]:
            stack.append(end)
            kept.append((start, end, entity))
    return kept


def _passage(document: Document) -> Passage:
    """A document as a passage; entities are numbered in the order of their first mention."""
    numbers: dict[int, str] = {}
    mentions = []
    for mention in document.mentions:
        number = numbers.setdefault(mention.entity.index, str(len(numbers) + 1))
        mentions.append((mention.start, mention.end, number))
    tokens = document._tokens()
    words = list(document.words) if document.n_tokens else []
    if words and "empty" in tokens.columns:  # zeros are words that can be tagged
        empty = map(bool, tokens.column(document.index, "empty"))
        words = [_zero(word) if zero else word for word, zero in zip(words, empty, strict=True)]
    starts = [sentence.start for sentence in tokens.sentence_ranges(document.index)] or [0]
    return Passage(words, starts, tuple(dict.fromkeys(mentions)))


def _zero(word: str) -> str:
    """The word of an empty node: `##`, with its form where it has one."""
    return f"{ZERO}{word}" if word.isalpha() else ZERO


def passages(corpus: Corpus) -> Iterator[tuple[str, Passage]]:
    """The ids and passages of all documents."""
    for document in corpus:
        yield str(document.id), _passage(document)


def _pieces(passage: Passage, most: int | None) -> Iterator[Passage]:
    """A passage in pieces of whole sentences, of `most` tokens unless one sentence has more."""
    if most is None or len(passage.words) <= most:
        yield passage
        return
    bounds = [*passage.starts, len(passage.words)]
    low = 0
    while low < len(passage.starts):
        high = low + 1
        while high < len(passage.starts) and bounds[high + 1] - bounds[low] <= most:
            high += 1
        first, last = bounds[low], bounds[high]
        inside = [
            (start - first, end - first, entity)
            for start, end, entity in passage.mentions
            if first <= start and end <= last
        ]
        starts = [start - first for start in bounds[low:high]]
        yield Passage(passage.words[first:last], starts, inside)
        low = high
