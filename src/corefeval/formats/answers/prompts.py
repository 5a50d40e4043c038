"""What models are asked: a text, instructions and worked examples, in a style that is read back."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from corefeval.diagnostics import Notice, UsageError
from corefeval.display import json_text
from corefeval.formats.answers.reading import read_answers
from corefeval.formats.answers.text import ZERO, fold_text
from corefeval.model import Corpus, Document
from corefeval.model.tokens import unbroken_word

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
        known = earlier[entity]
        clear = next((words for words in reversed(known) if newest[words] == entity), None)
        link = clear or (known[0] if known else None)
        tags.append((start, end, f" | {link}" if link else ""))
        words = fold_text(_words(passage, mention))
        newest[words] = entity
        known.append(words)
    return _tags("[ ", "{e} ]")(Passage(passage.words, passage.starts, tags))


def _clusters(passage: Passage) -> list[list[Triple]]:
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
                {"text": _words(passage, one), "sentence": passage.sentence(one[0])}
                for one in cluster
            ],
        }
        for number, cluster in enumerate(_clusters(passage), start=1)
    ]
    return json.dumps(data, ensure_ascii=False, indent=1)


def _quote(passage: Passage, mention: Triple) -> str:
    """A mention in quotes, with its sentence; quotes in it are others, which are read alike."""
    words = _words(passage, mention).replace('"', "″")
    return f'"{words}" (sentence {passage.sentence(mention[0])})'


def _write_lines(passage: Passage) -> str:
    return "\n".join(
        f"- Entity {number}: " + "; ".join(_quote(passage, one) for one in cluster)
        for number, cluster in enumerate(_clusters(passage), start=1)
    )


def _write_questions(passage: Passage) -> str:
    return "\n".join(
        f"{_quote(passage, one)} refers to {_quote(passage, cluster[0])}"
        for cluster in _clusters(passage)
        for one in cluster[1:]
    )


def _write_links(passage: Passage) -> str:
    links = []
    linked = [cluster for cluster in _clusters(passage) if len(cluster) > 1]
    for number, cluster in enumerate(linked, start=1):
        behind = (" ".join(passage.words[end : end + 4]) for _, end, _ in cluster)
        first, second, *rest = (
            f"{_words(passage, one)} ## {words}" for one, words in zip(cluster, behind, strict=True)
        )
        links.append(f"{second} -> {first} | ;;")
        links += [f"{one} -> [{number} ;;" for one in rest]
    return "\n".join(links) or "None [+ E]"


_COPY = "Copy the text word for word and add nothing but tags: "
_IN_BRACKETS = _COPY + "put every mention into square brackets"
_IN_TAGS = _COPY + "put every mention between <m> and </m>"
_ORDER = "in the order of the text, word for word"
_SENTENCE = "the number of its sentence (a line of the text), counted from 1"
_NUMBER = "the number of its entity"
_AGAIN = "For every mention of an entity that was mentioned before, answer with a line that "
_STYLES = (
    Style(
        "markdown",
        _tags("[", "](#cluster_{e})"),
        f"{_IN_BRACKETS}, with a link to {_NUMBER} behind it",
        "",
    ),
    Style(
        "bracket",
        _tags("[e{e} ", "]"),
        f"{_IN_BRACKETS} that open with its entity, e1, e2 and so on",
    ),
    Style(
        "xml",
        _tags('<m id="{e}">', "</m>"),
        f"{_COPY}put every mention into <m> tags whose id is {_NUMBER}",
    ),
    Style(
        "crac",
        _write_crac,
        f"{_COPY}behind the first word of a mention write |[e1, behind its last word |e1], behind "
        f"a mention of one word |[e1], with {_NUMBER}; marks of one word are joined by commas",
        crossing=True,
    ),
    Style(
        "subscript",
        _tags("[", "]_{e}"),
        f"{_IN_BRACKETS}, with {_NUMBER} as a subscript behind it",
    ),
    Style("hash", _tags("[", "]#{e}"), f"{_IN_BRACKETS}, with # and {_NUMBER} behind it", "MASK"),
    Style(
        "colon",
        _tags("[", ": {e}]"),
        f"{_IN_BRACKETS}, with a colon and {_NUMBER} before the closing one",
        "0",
    ),
    Style(
        "seq2seq",
        _tags("<m> ", " | {e} </m>"),
        f"{_IN_TAGS}, with a bar and {_NUMBER} before </m>",
    ),
    Style(
        "mask",
        _tags("<m>", "</m>#{e}"),
        f"{_IN_TAGS}, with # and {_NUMBER} behind it",
        "MASK",
    ),
    Style(
        "curly",
        _tags("{{", "|{e}}}"),
        f"{_COPY}put every mention into double braces, with a bar and {_NUMBER} at the end",
    ),
    Style(
        "tanl",
        _write_tanl,
        f"{_IN_BRACKETS}; if its entity was mentioned before, add a bar and the words of a mention "
        "before",
    ),
    Style(
        "json",
        _write_json,
        f"Answer with JSON alone: a list of entities, each with its mentions {_ORDER}, each with "
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
        f"{_AGAIN}links it: the mention, ##, the words behind it, ->, the first mention with the "
        "words behind it, or [ and the number of the entity if it has links already, ;;",
        crossing=True,
    ),
)
STYLES = {style.name: style for style in _STYLES}

_TASK = (
    "You annotate coreference: which words of a text mention the same entity. Mark every mention "
    "(names, descriptions, pronouns, possessives), the whole phrase with all that belongs to it; "
    "phrases may stand within phrases. Entities are numbered from 1 in the order of their first "
    "mention, and all mentions of an entity have its number."
)
_GIVEN = "The mentions are marked already: say for each of them which entity it is of."
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
        return "".join(json_text(one, indent=None) for one in self.records)


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
    made = Prompts()
    system = (
        f"{_TASK} {_GIVEN + ' ' if mentions else ''}{chosen.task}. For example, the answer to\n\n"
    )
    system += f"{_ask(_SAMPLE, chosen, mentions)}\n\nis\n\n{chosen.write(_SAMPLE)}"
    worked = _solve(examples, shots, chosen, mentions, made.notices) if examples is not None else ""
    cut = 0
    for document in key:
        pieces = list(_pieces(_passage(document), max_tokens))
        cut += len(pieces) > 1
        for number, piece in enumerate(pieces, start=1):
            behind = f"#{number}/{len(pieces)}" if len(pieces) > 1 else ""
            question = f"{worked}Text:\n{_ask(piece, chosen, mentions)}\n\nAnswer:"
            record = {"id": f"{document.id}{behind}", "system": system, "user": question}
            made.records.append(record)
    text = "{n} cut into pieces: a model that is to link across them must see its earlier answers, "
    text += "and keep their numbers"
    made.notices += [Notice("cut-prompts", text, cut, noun="document")] if cut else []
    return made


def _ask(passage: Passage, style: Style, mentions: bool) -> str:
    """The text as it is shown, with or without its mentions."""
    if not mentions:
        return passage.text
    if not style.task.startswith(_COPY) or style.name == "tanl":
        listed = sorted(passage.mentions, key=lambda m: (m[0], -m[1]))
        return f"{passage.text}\n\nMentions:\n" + "\n".join(_quote(passage, m) for m in listed)
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
        text = f"there are only {{n}} with mentions to take {shots} worked examples from"
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
    if crossing:
        text = f"{{n}} left out of worked examples: {style.name} cannot write mentions that cross"
        notices.append(Notice("crossing-mentions", text, crossing, noun="mention"))
    if lost:
        text = f"{{n}} of worked examples {style.name} cannot tell from others of the same words"
        notices.append(Notice("misread-examples", text, lost, noun="entity"))
    return "".join(parts)


def count_misread(answer: str, passage: Passage, document: Document, style: str) -> int:
    """How many entities are not themselves again when an answer is read; single ones aside."""
    read = read_answers({str(document.id): answer}, document.corpus, format=f"llm-{style}")
    found = defaultdict[int, set[tuple[int, int]]](set)
    for mention in read[str(document.id)].mentions:
        found[mention.entity.index].add((mention.start, mention.end))
    wanted = [{(start, end) for start, end, _ in cluster} for cluster in _clusters(passage)]
    return sum(one not in found.values() for one in wanted if len(one) > 1)


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
    found = []
    for mention in document.mentions:
        number = numbers.setdefault(mention.entity.index, str(len(numbers) + 1))
        found.append((mention.start, mention.end, number))
    tokens = document._tokens()
    words = list(document.words) if document.n_tokens else []
    if words and "empty" in tokens.columns:  # zeros are words that can be tagged
        empty = map(bool, tokens.column(document.index, "empty"))
        words = [_zero(word) if zero else word for word, zero in zip(words, empty, strict=True)]
    starts = [one.start for one in tokens.sentences(document.index)] or [0]
    return Passage(words, starts, tuple(dict.fromkeys(found)))


def _zero(word: str) -> str:
    """The word of an empty node: `##`, with its form where it has one."""
    return f"{ZERO}{word}" if word.isalpha() else ZERO


def passages(corpus: Corpus) -> Iterator[tuple[str, Passage]]:
    """The ids and passages of all documents."""
    for document in corpus:
        yield str(document.id), _passage(document)


def _pieces(passage: Passage, most: int | None) -> Iterator[Passage]:
    """A passage in pieces of whole sentences, of so many tokens at most where sentences are not."""
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
