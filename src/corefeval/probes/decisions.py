"""Decisions: which candidates a response chooses for each item, by its entities or its answers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from corefeval.checks import split_call
from corefeval.diagnostics import KeyNeededError, Notice, PairingError, UsageError, list_names, note
from corefeval.formats.answers.records import answers_of
from corefeval.formats.json.records import Record
from corefeval.formats.source import read_source
from corefeval.model import Corpus, CorpusBuilder
from corefeval.model.text_tokens import text_of
from corefeval.model.token_tables import tokens_of_texts
from corefeval.preparation import as_corpus, prepare_probe
from corefeval.probes.items import Item, Probe, Span
from corefeval.probes.readers import (
    TRUTHS,
    convert,
    list_lines,
    list_rows,
    look_up,
    name_winopron,
)
from corefeval.protocol import Protocol
from corefeval.request import Reading

Chosen = set[str] | str  # labels of candidates, or why there are none
Choices = tuple[dict[str, Chosen], list[Notice]]  # by the ids of items

_THOUGHT = re.compile(r"(?is)<think>.*?</think>")
_LABELLED = re.compile(
    r"(?im)^[\s*_#>`\"']*(?:the\s+)?(?:final\s+)?answer(?:\s+is)?[\s*_]*[:=][\s*_]*(.*)$"
)
_LETTER = re.compile(
    r"(?im)[\s*_\"'`“‘]*(?:(?:option|choice)\b[\s*_:\"'`“‘]*)?"
    r"(?:[(\[]([a-z])[)\]]|([a-z])(?=$|[).:\]*_\"'`]))"
)
_NEITHER = re.compile(r"(neither|none)( of them)?|none of these|neither one|nobody|no one")
_GAP = ("id", "a", "b")  # the columns of its rows
_ANSWERED = {"yes": True, "no": False, **TRUTHS}


def decide(probe: Probe, response: Any, reading: Reading, protocol: Protocol) -> Choices:
    """What a response chooses for the items that it has, and notices."""
    key, rows = _as_key(probe, protocol.names), []
    is_path = isinstance(response, str | os.PathLike)
    if reading.format:
        corpus = as_corpus(response, "response", reading, key=key)
        return _decide_by_entities(probe, key, corpus, protocol)
    if is_path and os.path.isfile(response):
        rows = _read_table(response, reading.encoding)
    elif isinstance(response, Mapping) and {*map(type, response.values())} == {str}:
        rows = [(str(name), text) for name, text in response.items()]
    if not rows:
        try:
            corpus = as_corpus(response, "response", reading)
            return _decide_by_entities(probe, key, corpus, protocol)
        except KeyNeededError:
            answers, _ = answers_of(response, encoding=reading.encoding)
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


def _read_table(path: Any, encoding: str) -> list[tuple[str, Any]]:
    """The ids and answers in a table, or the labels in GAP's rows; nothing for any other file."""
    source = read_source(path, encoding=encoding)
    first = next(list_lines(source), None)
    cells = first.values["line"].lower().split("\t") if first else []
    if "generation" in cells or {"id", "answer"} <= {*cells}:
        rows = list_rows(source)
    elif len(cells) == 3 and {"id", "true", "false"} & {*cells}:
        rows = islice(list_rows(source, _GAP), cells[0] == "id", None)
    else:
        return []
    return [convert(row, _read_row, "an answer") for row in rows]


def _read_row(record: Record) -> tuple[str, Any]:
    """The id and the answer in a row of a table, or the labels in a row of GAP."""
    row = {name.strip().lower(): cell for name, cell in record.values.items()}
    name = row["id"] if "id" in row else name_winopron(row)
    if {*row} == {*_GAP}:
        return name, {label for label in "AB" if look_up(row[label.lower()], TRUTHS)}
    return name, row["generation" if "generation" in row else "answer"]


def _decide_by_answers(probe: Probe, rows: Sequence[tuple[str, Any]]) -> Choices:
    answers = dict(reversed(rows))  # of several to an item, the first counts
    repeated, chosen = len(rows) - len(answers), dict[str, Chosen]()
    for item in probe.items:
        parts = {label: f"{item.id}#{label}" for label, *_ in item.candidates}
        replies = {k: _find_reply(answers.pop(p)) for k, p in parts.items() if p in answers}
        truths = {k: _ANSWERED.get("".join(_split_words(r)[:1])) for k, r in replies.items()}
        if item.id in answers:
            answer = answers.pop(item.id)
            chosen[item.id] = _read_answer(answer, item) if isinstance(answer, str) else answer
        elif truths:
            is_clear = len(truths) == len(parts) and None not in truths.values()
            chosen[item.id] = {k for k in truths if truths[k]} if is_clear else "unclear"
    notices = [
        *note("unclear-answers", [*chosen.values()].count("unclear"), "answer", "not understood"),
        *note("repeated-answers", repeated, "repeated answer", "left out"),
    ]
    text, extra = "{n} to no item of the probe, left out: {items}", tuple(answers)
    notices += [Notice("extra-documents", text, len(extra), extra, "answer")] if extra else []
    return chosen, notices


def _split_words(text: str) -> list[str]:
    return re.findall(r"(?!(?:the|an?)\b)\b\w+", text.casefold())


def _find_reply(text: str) -> str:
    """What counts of an answer: no thoughts, and what follows the last `Answer:`."""
    spoken = _THOUGHT.sub("", text)
    return str((_LABELLED.findall(spoken) or [spoken])[-1]).strip()


def _read_answer(answer: str, item: Item) -> Chosen:
    """The labels that an answer chooses, or `unclear`."""
    reply, labels = _find_reply(answer), [candidate.label for candidate in item.candidates]
    words, names = _split_words(reply), [_split_words(entry.text) for entry in item.candidates]
    if words and names.count(words) == 1:
        return {labels[names.index(words)]}
    letter = _LETTER.match(reply)
    place = ord((letter[1] or letter[2]).upper()) - ord("A") if letter else len(labels) + 1
    if place <= len(labels):
        return {*labels[place : place + 1]}
    if _NEITHER.fullmatch(" ".join(words)):
        return set()
    for forms in (names, [name[-1:] for name in names]):
        text, matches = " ".join(words), set[str]()
        for form in sorted(forms, key=len, reverse=True):  # longer names take their words first
            text, times = re.subn(rf"\b{' '.join(form)}\b" if form else "(?!)", "|", text)
            alike = [label for label, name in zip(labels, forms, strict=True) if name == form]
            matches |= {*alike} if times else set()
        if matches:
            return matches if len(matches) == 1 else "unclear"
    return "unclear"


def _decide_by_entities(probe: Probe, key: Corpus, response: Corpus, protocol: Protocol) -> Choices:
    """What the other mentions of the target's entity choose."""
    if response.tokens is None and any(item.tokens for item in probe.items):
        raise UsageError("items of tokens need a response with words: plain spans do not tell them")
    rules = protocol.but(missing="empty", documents="*")
    key, response, notices = prepare_probe(key, response, rules)
    counted = {notice.kind: notice for notice in notices}
    missing, widened = (counted.get(f"{k}s") for k in ("missing-document", "widened-mention"))
    rule, names, several = protocol.candidate, key.names or (), 0
    heads = key.find_axis_heads(np.array(key.on_own_text.mention_head)).tolist()
    chosen: dict[str, Chosen] = {}
    sides = zip(probe.items, _list_mentions(key), _list_mentions(response), strict=False)
    for number, (item, questions, mentions) in enumerate(sides):
        text = text_of(key.tokens, number)
        places = [
            (names[entity], tokens, _find_head(text, min(tokens), heads[row]))
            for entity, tokens, row in questions
        ]
        target = next((tokens for label, tokens, _ in places if label == "*"), None)
        entities = [entity for entity, tokens, _ in mentions if tokens == target]
        if missing and str(key.documents[number]) in missing.items:
            continue
        labels = set[str]()
        for entity, tokens, _ in mentions:
            if entity in entities and tokens != target:
                picked = {label for label, *place in places if _picks(rule, tokens, *place)} - {"*"}
                is_clear = rule != "cover" or len(picked) < 2
                several += not is_clear
                labels |= picked if is_clear else set()
        chosen[item.id] = labels if entities else "unmarked"
    remark = "of the probe widened to the tokens of the response"
    notices += note("widened-spans", widened.count if widened else 0, "span", remark)
    remark = "with several candidates in them, of which they choose none"
    notices += note("mentions-of-several", several, "mention", remark)
    return chosen, [notice for notice in notices if notice not in (missing, widened)]


def _picks(rule: str, tokens: set[int], span: set[int], head: set[int]) -> bool:
    """Whether a mention of these tokens chooses the candidate at a span with this head."""
    if rule == "cover":
        return tokens >= head
    if rule == "exact":
        return tokens == span
    if rule == "nested":
        return tokens <= span or span <= tokens
    return 2 * len(tokens & span) >= float(split_call(rule)[1] or 0) * (len(tokens) + len(span))


def _list_mentions(corpus: Any) -> list[list[tuple[int, set[int], int]]]:
    """The mentions of each document: their entity, their tokens and their row."""
    columns = [corpus.mention_document, corpus.mention_entity]
    columns += [corpus.mention_start, corpus.mention_end]
    documents: list[list[tuple[int, set[int], int]]] = [[] for _ in corpus.documents]
    for row, cells in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        document, entity, start, end = cells
        tokens = {*range(start, end)}
        for gap in corpus.gaps_of.get(row, ()):
            tokens -= {*range(*gap)}
        documents[document].append((entity, tokens, row))
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
        document = builder.document(item.id, n_tokens=len(item.text))
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
    located = [(label, item.locate(span)) for label, span in places]
    yield from located
    edge = r"\S" if item.tokens else r"\w"
    for candidate in item.candidates if names == "string" else ():
        words = rf"(?<!{edge}){re.escape(candidate.text)}(?!{edge})"
        for start, end in (match.span() for match in re.finditer(words, item.text)):
            if all(end <= low or high <= start for _, (low, high) in located):
                yield candidate.label, (start, end)
