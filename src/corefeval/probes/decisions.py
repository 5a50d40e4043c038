"""Decisions: which candidates a response chooses for each item, by its entities or its answers."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from corefeval.checks import split_call
from corefeval.diagnostics import KeyNeededError, Notice, PairingError, UsageError, list_names, note
from corefeval.formats.answers.records import answers_of
from corefeval.formats.json.records import Record
from corefeval.formats.source import read_source
from corefeval.matching.candidates import (
    Candidates,
    Mentions,
    bounds,
    contain,
    find_overlaps,
    sizes,
)
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
    left, right = (Mentions(side, np.arange(side.n_mentions)) for side in (key, response))
    overlaps = find_overlaps(left, left.codes, right, right.codes)
    counted = {notice.kind: notice for notice in notices}
    missing, widened = (counted.get(f"{k}s") for k in ("missing-document", "widened-mention"))
    labels, entities = np.array(key.names)[key.mention_entity], response.mention_entity
    is_target = labels[overlaps.key] == "*"
    targets = overlaps.response[is_target & (overlaps.weight == 1)]
    may_choose = np.isin(entities[overlaps.response], entities[targets]) & ~is_target
    may_choose &= ~np.isin(overlaps.response, targets)
    picked = defaultdict[int, set[str]](set)
    for place in np.flatnonzero(may_choose & _pick(protocol.candidate, key, response, overlaps)):
        picked[int(overlaps.response[place])].add(str(labels[overlaps.key[place]]))
    marked = {*response.mention_document[targets].tolist()}
    absent = {*missing.items} if missing else ()
    chosen: dict[str, Any] = {
        item.id: set() if number in marked else "unmarked"
        for number, (item, document) in enumerate(zip(probe.items, key.documents, strict=False))
        if str(document) not in absent
    }
    several = 0
    for mention, names in picked.items():
        is_clear = protocol.candidate != "cover" or len(names) == 1
        several += not is_clear
        chosen[probe.items[response.mention_document[mention]].id] |= names if is_clear else set()
    remark = "of the probe widened to the tokens of the response"
    notices += note("widened-spans", widened.count if widened else 0, "span", remark)
    remark = "with several candidates in them, of which they choose none"
    notices += note("mentions-of-several", several, "mention", remark)
    return chosen, [notice for notice in notices if notice not in (missing, widened)]


def _pick(rule: str, key: Corpus, response: Corpus, overlaps: Candidates) -> Any:
    """Which mentions of the response choose the candidates that they overlap."""
    questions, mentions, share = overlaps
    if rule == "exact":
        return share == 1
    if rule == "nested":
        sides = sizes(key, questions), sizes(response, mentions)
        return share * sum(sides) > 2 * np.minimum(*sides) - 0.5
    if rule != "cover":
        return share >= float(split_call(rule)[1] or 0) - 1e-12
    heads = key.find_axis_heads(np.array(key.on_own_text.mention_head))
    starts = heads.copy()
    firsts, _ = bounds(key, np.arange(key.n_mentions))
    for row, document in enumerate(key.mention_document.tolist()):
        text = text_of(key.tokens, document)  # of which a head is a run of letters and digits
        while text and starts[row] > firsts[row] and text[starts[row] - 1].isalnum():
            starts[row] -= 1
    lengths = range(int((heads - starts).max(initial=0)) + 1)
    parts = (np.minimum(starts + length, heads)[questions] for length in lengths)
    return np.all([contain(response, mentions, part) for part in parts], axis=0)


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
