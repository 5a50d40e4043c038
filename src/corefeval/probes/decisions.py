"""Decisions: which candidates a response chooses for each item, by its entities or its answers."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from corefeval.checks import split_call
from corefeval.diagnostics import KeyNeededError, Notice, PairingError, UsageError, list_names, note
from corefeval.formats.answers.records import answers_of
from corefeval.formats.source import read_source
from corefeval.model import Corpus, CorpusBuilder, DocumentId
from corefeval.model.token_tables import tokens_of_texts
from corefeval.model.text_tokens import text_of
from corefeval.preparation import as_corpus, prepare_probe
from corefeval.probes.items import Item, Probe, Span
from corefeval.probes.readers import TRUTHS, list_lines, list_rows, name_winopron
from corefeval.protocol import Protocol
from corefeval.request import Reading

Chosen = Collection[str] | str  # labels of candidates, or why there are none
Answer = str | list[bool]  # a text, or whether each candidate is chosen

_THOUGHT = re.compile(r"(?is)<think>.*?</think>")
_LABELLED = re.compile(
    r"(?im)^[\s*_#>`\"']*(?:the\s+)?(?:final\s+)?answer(?:\s+is)?[\s*_]*[:=][\s*_]*(.*)$"
)
_LETTER = re.compile(
    r"(?im)[\s*_\"'`“‘]*(?:(?:option|choice)\b[\s*_:\"'`“‘]*)?"
    r"(?:[(\[]([a-z])[)\]]|([a-z])(?=$|[).:\]*_\"'`]))"
)
_NEITHER = re.compile(r"(neither|none)( of them)?|none of these|neither one|nobody|no one")
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}


def decide(
    probe: Probe, response: object, reading: Reading, protocol: Protocol
) -> tuple[dict[str, Chosen], list[Notice]]:
    """What a response chooses for the items that it has, by their ids, and notices."""
    key = _as_key(probe, protocol.names)
    is_path = isinstance(response, str | os.PathLike)
    rows = _read_table(response, reading) if is_path and reading.format is None else []
    is_mapping = isinstance(response, Mapping) and reading.format is None
    if not rows and not (is_mapping and all(isinstance(text, str) for text in response.values())):
        try:
            tagged = key if reading.format else None
            corpus = as_corpus(response, "response", reading, key=tagged)
            return _decide_by_entities(probe, key, corpus, protocol)
        except KeyNeededError:
            pass
    if not rows:
        answers = answers_of(response, encoding=reading.encoding)[0]
        rows = [(answer.identifier or "", answer.text) for answer in answers]
    chosen, notices = _decide_by_answers(probe, rows)
    if not chosen:
        raise PairingError(
            "there is no answer to any item of the probe",
            file=os.fspath(response) if is_path else None,
            found=list_names([name for name, _ in rows]),
            expected=list_names([item.id for item in probe.items]),
        )
    return chosen, notices


def _read_table(path: str, reading: Reading) -> list[tuple[str, Answer]]:
    """The ids and answers in a table of answers or of GAP's rows; none for any other file."""
    if not os.path.isfile(path):
        return []
    source = read_source(path, encoding=reading.encoding)
    lines = list(list_lines(source))
    cells = lines[0].value.lower().split("\t") if lines else []
    if "generation" in cells:
        rows = [entry.value for entry in list_rows(source)]
        return [(".".join(name_winopron(row)), row["generation"]) for row in rows]
    if {"id", "answer"} <= {*cells}:
        return [(entry.value["id"], entry.value["answer"]) for entry in list_rows(source)]
    if len(cells) != 3 or {"id", "true", "false"}.isdisjoint(cells):
        return []
    rows = [(entry, *entry.value.split("\t")) for entry in lines[cells[0] == "id" :]]
    return [(name, [e.look_up(cell, TRUTHS) for cell in cells]) for e, name, *cells in rows]


def _decide_by_answers(
    probe: Probe, rows: Sequence[tuple[str, Answer]]
) -> tuple[dict[str, Chosen], list[Notice]]:
    answers = dict(reversed(rows))  # of several to an item, the first counts
    chosen: dict[str, Chosen] = {}
    for item in probe.items:
        parts = [f"{item.id}#{candidate.label}" for candidate in item.candidates]
        truths = [_read_truth(answers.pop(part)) for part in parts if part in answers]
        if item.id in answers:
            chosen[item.id] = _read_answer(answers.pop(item.id), item)
        elif truths:
            is_clear = len(truths) == len(parts) and None not in truths
            chosen[item.id] = _read_answer(truths, item) if is_clear else "unclear"
    unclear = [*chosen.values()].count("unclear")
    text, extra = "{n} to no item of the probe, left out: {items}", tuple(answers)
    return chosen, [
        *note("unclear-answers", unclear, "answer", "not understood"),
        *note("repeated-answers", len(rows) - len({*dict(rows)}), "repeated answer", "left out"),
        *([Notice("extra-documents", text, len(extra), extra, "answer")] if extra else []),
    ]


def _split_words(text: str) -> list[str]:
    return re.findall(r"(?!(?:the|an?)\b)\b\w+", text.casefold())


def _find_reply(text: str) -> str:
    """What counts of an answer: no thoughts, and what follows the last `Answer:`."""
    spoken = _THOUGHT.sub("", text)
    return str((_LABELLED.findall(spoken) or [spoken])[-1]).strip()


def _read_truth(text: str) -> bool | None:
    return _TRUTHS.get("".join(_split_words(_find_reply(text))[:1]))


def _read_answer(answer: Answer, item: Item) -> Chosen:
    """The labels that an answer chooses, or `unclear`."""
    labels = [candidate.label for candidate in item.candidates]
    if isinstance(answer, list):
        return [label for label, is_chosen in zip(labels, answer, strict=False) if is_chosen]
    reply = _find_reply(answer)
    words, names = _split_words(reply), [_split_words(entry.text) for entry in item.candidates]
    if words and names.count(words) == 1:
        return [labels[names.index(words)]]
    letter = _LETTER.match(reply)
    place = ord((letter[1] or letter[2]).upper()) - ord("A") if letter else len(labels) + 1
    if place <= len(labels):
        return labels[place : place + 1]
    if _NEITHER.fullmatch(" ".join(words)):
        return []
    for forms in (names, [name[-1:] for name in names]):
        matches = _find_names(" ".join(words), [" ".join(form) for form in forms])
        if matches:
            return [labels[matches[0]]] if len(matches) == 1 else "unclear"
    return "unclear"


def _find_names(words: str, names: Sequence[str]) -> list[int]:
    """The places of names whose words occur in a row; longer names take their words first."""
    matches = []
    for name in sorted({*names} - {""}, key=lambda name: -len(name.split())):
        words, times = re.subn(rf"\b{name}\b", "|", words)
        matches += [place for place, form in enumerate(names) if times and form == name]
    return matches


def _decide_by_entities(
    probe: Probe, key: Corpus, response: Corpus, protocol: Protocol
) -> tuple[dict[str, Chosen], list[Notice]]:
    """What the other mentions of the target's entity choose."""
    if response.tokens is None and any(item.tokens for item in probe.items):
        raise UsageError("items of tokens need a response with words: plain spans do not tell them")
    key, response, notices = prepare_probe(key, response, protocol)
    missing = [n for n in notices if n.kind in ("missing-documents", "widened-mentions")]
    absent = {name for notice in missing for name in notice.items}
    rule, names = protocol.candidate, key.names or ()
    chosen: dict[str, Chosen] = {}
    several = 0
    heads = np.array(key.mention_head).tolist()
    sides = zip(key.documents, _list_mentions(key), _list_mentions(response), strict=True)
    for number, (identifier, asked, mentions) in enumerate(sides):
        text = text_of(key.tokens, number)
        places = [
            (names[entity], tokens, _find_head(text, min(tokens), heads[row]))
            for entity, tokens, row in asked
        ]
        targets = [tokens for label, tokens, _ in places if label == "*"]
        if not targets or str(identifier) in absent:
            continue
        entities = [entity for entity, tokens, _ in mentions if tokens == targets[0]]
        chosen[str(identifier)] = labels = set[str]() if entities else "unmarked"
        for entity, tokens, _ in mentions:
            if entity in entities and tokens != targets[0]:
                picked = {label for label, *place in places if _picks(rule, tokens, *place)} - {"*"}
                is_clear = rule != "cover" or len(picked) < 2
                several += not is_clear
                labels |= picked if is_clear else set()
    remark = "of the probe widened to the tokens of the response that they touch"
    widened = sum(notice.count for notice in notices if notice.kind == "widened-mentions")
    notices += note("widened-spans", widened, "span", remark)
    remark = "that hold several candidates, and choose none of them"
    notices += note("mentions-of-several", several, "mention", remark)
    return chosen, [notice for notice in notices if notice not in missing]


def _picks(rule: str, tokens: set[int], span: set[int], head: set[int]) -> bool:
    """Whether a mention of these tokens chooses the candidate at a span with this head."""
    if rule == "cover":
        return tokens >= head
    if rule == "exact":
        return tokens == span
    if rule == "nested":
        return tokens <= span or span <= tokens
    return 2 * len(tokens & span) >= float(split_call(rule)[1] or 0) * (len(tokens) + len(span))


def _list_mentions(corpus: Corpus) -> list[list[tuple[int, set[int], int]]]:
    """The mentions of each document: their entity, their tokens and their row."""
    columns = (corpus.mention_document, corpus.mention_entity, corpus.mention_start)
    columns = (column.tolist() for column in (*columns, corpus.mention_end))
    documents: list[list[tuple[int, set[int], int]]] = [[] for _ in corpus.documents]
    for row, (document, entity, start, end) in enumerate(zip(*columns, strict=True)):
        documents[document].append((entity, {*range(start, end)}, row))
    for row, start, end in corpus.gaps.tolist():
        document = corpus.mention_document[row]
        documents[document][row - corpus.mention_offsets[document]][1].difference_update(
            range(start, end)
        )
    return documents


def _find_head(text: str | None, start: int, head: int) -> set[int]:
    """A head token, or in a text all letters and digits before the last one."""
    first = head
    while text is not None and first > start and text[first - 1].isalnum():
        first -= 1
    return {*range(first, head + 1)}


def _as_key(probe: Probe, names: str) -> Corpus:
    """The probe as a key of texts: entities are the target, `*`, and the labels of candidates.

    The head of a mention is its last letter or digit, or else its last visible character.
    """
    builder = CorpusBuilder(probe.name)
    for item in probe.items:
        document = builder.document(DocumentId(item.id), n_tokens=len(item.text))
        for label, (start, end) in _list_places(item, names):
            places = range(start + len(item.text[start:end].rstrip()) - 1, start - 1, -1)
            letters = (place for place in places if item.text[place].isalnum())
            document.mention(label, start, end, head=next(letters, places[0]))
    return builder.build(tokens_of_texts([item.text for item in probe.items], probe.name))


def _list_places(item: Item, names: str) -> Iterator[tuple[str, Span]]:
    """Spans of characters with `*` for the target, or the label of a candidate.

    With names as strings, these are all places of a candidate's words that are not taken.
    """
    places = [("*", item.target), *((c.label, span) for c in item.candidates for span in c.spans)]
    taken = [item.locate(span) for _, span in places]
    yield from zip((label for label, _ in places), taken, strict=True)
    edge = r"\S" if item.tokens else r"\w"
    for candidate in item.candidates if names == "string" else ():
        words = rf"(?<!{edge}){re.escape(candidate.text)}(?!{edge})"
        for start, end in (match.span() for match in re.finditer(words, item.text)):
            if all(end <= low or high <= start for low, high in taken):
                yield candidate.label, (start, end)
