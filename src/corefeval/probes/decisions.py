"""Decisions: which candidates a response chooses for each item, by its entities or its answers."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from corefeval.checks import split_call
from corefeval.diagnostics import KeyNeededError, Notice, PairingError, UsageError, list_names, note
from corefeval.formats.answers.records import answers_of
from corefeval.formats.answers.text import clean
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
from corefeval.probes.readers import TRUTHS, convert, list_rows, look_up, name_winopron
from corefeval.protocol import Protocol
from corefeval.request import Reading

Chosen = set[str] | str  # labels of candidates, or why there are none
Choices = tuple[dict[str, Chosen], list[Notice]]  # by the ids of items

_LABELLED = re.compile(
    r"(?im)^(?:[^\S\n]|[*_#>`\"'])*(?:the\s+)?(?:final\s+)?answer(?:\s+is)?[\s*_]*[:=][\s*_]*(.*)$"
)
_LETTER = re.compile(
    r"(?im)[\s*_\"'`“‘]*(?:(?:option|choice)\b[\s*_:\"'`“‘]*)?"
    r"(?:[(\[]([a-z])[)\]]|([a-z])(?=$|[).:\]*_\"'`]))"
)
_NEITHER = re.compile(r"(neither|none)( of them)?|none of these|neither one|nobody|no one")
_YES_OR_NO = {"yes": True, "no": False, **TRUTHS}
_GAP = ("id", "A", "B")  # the columns of its rows
_NO_NOTICE = Notice("", "", 0)


def decide(probe: Probe, response: Any, reading: Reading, protocol: Protocol) -> Choices:
    """What a response chooses for the items that it has, and notices."""
    key, rows = _as_key(probe, protocol.names), list[tuple[str, Any]]()
    is_path = isinstance(response, str | os.PathLike)
    if is_path and os.path.isfile(response) and not reading.format:
        rows = [convert(row, _read_row, "an answer") for row in _list_answers(response, reading)]
    elif isinstance(response, Mapping) and {*map(type, response.values())} == {str}:
        rows = [] if reading.format else [(str(name), text) for name, text in response.items()]
    if not rows:
        try:
            corpus = as_corpus(response, "response", reading, key=key if reading.format else None)
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


def _list_answers(path: Any, reading: Reading) -> Iterator[Record]:
    """The rows of a table of answers, or of GAP; none of any other file."""
    source = read_source(path, encoding=reading.encoding)
    header = source.text.strip().partition("\n")[0].strip().lower().replace('"', "")
    cells = re.split("[\t,]", header)
    has_answers = "generation" in cells or {"id", "answer"} <= {*cells}
    if has_answers or (len(cells) == 3 and {"id", "true", "false"} & {*cells}):
        rows = list_rows(source, cells if has_answers else _GAP)
        yield from islice(rows, has_answers or cells[0] == "id", None)


def _read_row(record: Record) -> tuple[str, Any]:
    """The id and the answer in a row of a table, or the labels in a row of GAP."""
    row = record.values
    if "generation" in row:
        return name_winopron(row), row["generation"]
    if "answer" in row:
        return row["id"], row["answer"]
    return row["id"], {label for label in "AB" if look_up(row[label], TRUTHS)}


def _decide_by_answers(probe: Probe, rows: list[tuple[str, Any]]) -> Choices:
    answers = dict(reversed(rows))  # of several to an item, the first counts
    repeated, chosen = len(rows) - len(answers), dict[str, Chosen]()
    for item in probe.items:
        replies = [answers.pop(f"{item.id}#{label}", None) for label, *_ in item.candidates]
        if item.id in answers:
            chosen[item.id] = _read_answer(answers.pop(item.id), item)
        elif replies.count(None) < len(replies):
            words = (_split_words(_find_reply(reply or "")) for reply in replies)
            truths = [_YES_OR_NO.get("".join(reply[:1])) for reply in words]
            answered = zip(item.candidates, truths, strict=True)
            labels = {candidate.label for candidate, is_true in answered if is_true}
            chosen[item.id] = "unclear" if None in truths else labels
    text, extra = "{n} left out, with ids that are not in the probe: {items}", tuple(answers)
    return chosen, [
        *note("unclear-answers", [*chosen.values()].count("unclear"), "answer", "not understood"),
        *note("repeated-answers", repeated, "repeated answer", "left out"),
        *([Notice("extra-documents", text, len(extra), extra, "answer")] if extra else []),
    ]


def _split_words(text: str) -> list[str]:
    composed = unicodedata.normalize("NFC", text.casefold())
    return re.findall(r"(?!(?:the|an?)\b)\b\w+", composed)


def _find_reply(text: str) -> str:
    """What counts of an answer: no thoughts, and what follows the last `Answer:`."""
    spoken = clean(text) or text
    return str((_LABELLED.findall(spoken) or [spoken])[-1]).strip()


def _read_answer(answer: str | set[str], item: Item) -> Chosen:
    """The labels that an answer chooses, or `unclear`."""
    if isinstance(answer, set):
        return answer
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
        raise UsageError("this probe has tokens, so the response needs words, not only spans")
    key, response, notices = prepare_probe(key, response, protocol.but(missing="empty"))
    left, right = (Mentions(side, np.arange(side.n_mentions)) for side in (key, response))
    overlaps = find_overlaps(left, left.codes, right, right.codes)
    labels = np.array(key.names)[key.mention_entity[overlaps.key]]
    entities, documents = response.mention_entity, response.mention_document.tolist()
    targets = overlaps.response[(labels == "*") & (overlaps.weight == 1)]
    chooses = np.isin(entities[overlaps.response], entities[targets]) & (labels != "*")
    chooses &= ~np.isin(overlaps.response, targets)
    chooses &= _fits(protocol.candidate, key, response, overlaps)
    names = defaultdict[int, set[str]](set)  # that each mention chooses
    for mention, label in zip(overlaps.response[chooses].tolist(), labels[chooses], strict=True):
        names[mention].add(str(label))
    clear = {m: n for m, n in names.items() if len(n) == 1 or protocol.candidate != "cover"}
    by_kind = {notice.kind: notice for notice in notices}
    kinds = ("missing-documents", "widened-mentions")
    missing, widened = (by_kind.get(kind, _NO_NOTICE) for kind in kinds)
    marked, absent = {documents[target] for target in targets}, {*missing.items}
    chosen: dict[str, Any] = {
        item.id: set() if number in marked else "unmarked"
        for number, (item, document) in enumerate(zip(probe.items, key.documents, strict=True))
        if str(document) not in absent
    }
    for mention, choice in clear.items():
        chosen[probe.items[documents[mention]].id] |= choice
    of_spans = "of the probe widened to the tokens of the response"
    of_several = "with several candidates in them, counted as choosing none"
    return chosen, [
        *(notice for notice in notices if notice.kind not in kinds),
        *note("widened-spans", widened.count, "span", of_spans),
        *note("mentions-of-several", len(names) - len(clear), "mention", of_several),
    ]


def _fits(rule: str, key: Corpus, response: Corpus, overlaps: Candidates) -> Any:
    """Which mentions of the response choose the candidates that they overlap."""
    questions, mentions, share = overlaps
    if rule != "cover":
        sides = sizes(key, questions), sizes(response, mentions)
        shares: Any = {"exact": 1, "nested": 2 * np.minimum(*sides) / np.add(*sides)}
        return share >= shares.get(rule, float(split_call(rule)[1] or 0)) - 1e-12
    heads = key.find_axis_heads(np.array(key.on_own_text.mention_head))
    begins, (starts, _) = heads.copy(), bounds(key, np.arange(key.n_mentions))
    for row, document in enumerate(key.mention_document.tolist()):
        if text := text_of(key.tokens, document):  # whose heads are runs of letters and digits
            begins[row] -= len(re.findall(r"[^\W_]*$", text[starts[row] : heads[row]])[0])
    edges = (contain(response, mentions, edge[questions]) for edge in (begins, heads))
    return np.logical_and(*edges)


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
