"""Decisions: which candidates a response chooses for each item, from entities or from answers."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from corefeval.checks import split_call
from corefeval.diagnostics import (
    KeyNeededError,
    Notice,
    PairingError,
    UsageError,
    list_names,
    note,
)
from corefeval.formats import files_of, format_of, reader_options
from corefeval.formats.answers.records import answers_in, answers_of
from corefeval.formats.registry import find_format
from corefeval.formats.source import read_source
from corefeval.model import Corpus, DocumentId
from corefeval.model.arrays import IntArray, ragged_arange
from corefeval.model.construction import assemble
from corefeval.model.text_tokens import text_of
from corefeval.model.token_tables import tokens_of_texts
from corefeval.preparation import as_corpus, prepare_probe
from corefeval.probes.items import Item, Probe, Span
from corefeval.probes.readers import Entry, list_lines, list_rows, name_winopron
from corefeval.protocol import Protocol
from corefeval.request import Reading

Chosen = Collection[str] | str  # labels, or why there are none
Answers = list[tuple[str, str | list[bool]]]  # ids with a text, or with a truth of each candidate

_THOUGHT = re.compile(r"(?is)<think>.*?</think>")
_LABELLED = re.compile(
    r"(?im)^[\s*_#>`\"']*(?:the\s+)?(?:final\s+)?answer(?:\s+is)?[\s*_]*[:=][\s*_]*(.*)$"
)
_LETTER = re.compile(
    r"(?im)[\s*_\"'`“‘]*(?:(?:option|choice)\b[\s*_:\"'`“‘]*)?"
    r"(?:\(([a-z])\)|\[([a-z])\]|([a-z])(?=$|[).:\]*_\"'`]))"
)
_NEITHER = (
    "neither", "none", "nobody", "no one", "neither of them", "none of them", "none of these",
    "neither one",
)  # fmt: skip


def decide(
    probe: Probe, response: object, reading: Reading, protocol: Protocol
) -> tuple[dict[str, Chosen], list[Notice]]:
    """What a response chooses for the items that it has, by their ids, and notices."""
    source = _read_response(response, reading)
    if not isinstance(source, list):
        return _decide_by_entities(probe, source, protocol)
    answers: dict[str, str | list[bool]] = {}
    for identifier, answer in source:
        answers.setdefault(identifier, answer)
    chosen, used = {}, set()
    for item in probe.items:
        parts = [f"{item.id}#{candidate.label}" for candidate in item.candidates]
        used |= {item.id, *parts}
        if item.id in answers:
            chosen[item.id] = _read_choice(answers[item.id], item)
        elif not answers.keys().isdisjoint(parts):
            chosen[item.id] = _join_truths([str(answers.get(part, "")) for part in parts], item)
    extra = tuple(identifier for identifier in answers if identifier not in used)
    if not chosen:
        raise PairingError(
            "no item of the probe has an answer",
            file=os.fspath(response) if isinstance(response, str | os.PathLike) else None,
            found=list_names(extra) or "no ids",
            expected=list_names([item.id for item in probe.items]),
        )
    notices = [
        *note("repeated-answers", len(source) - len(answers), "repeated answer", "left out"),
        *note("unclear-answers", [*chosen.values()].count("unclear"), "answer", "not understood"),
    ]
    if extra:
        text = "{n} of no item of the probe, left out: {items}"
        notices.append(Notice("extra-documents", text, len(extra), extra, "answer"))
    return chosen, notices


def _read_response(response: object, reading: Reading) -> Corpus | Answers:
    """The entities of a response, or its answers to the items."""
    tagged = (reading.format or "").startswith("llm")
    if isinstance(response, Mapping) and not tagged:
        if response and all(isinstance(answer, str) for answer in response.values()):
            return [(str(name), str(answer)) for name, answer in response.items()]
    if not isinstance(response, str | os.PathLike) or tagged:
        return as_corpus(response, "response", reading)
    files, several = files_of(response)
    if several:
        try:
            return as_corpus(response, "response", reading)
        except KeyNeededError:
            answers = answers_of(response, encoding=reading.encoding)[0]
            return [(answer.identifier or "", answer.text) for answer in answers]
    source = read_source(files[0], encoding=reading.encoding)
    first = next(list_lines(source), None)
    cells = [] if first is None else first.value.lower().split("\t")
    if reading.format is None and {"answer", "generation"} & {*cells} and len(cells) > 1:
        return [_read_row(entry) for entry in list_rows(source)]
    if reading.format is None and len(cells) == 3 and {"id", "true", "false"} & {*cells}:
        rows = [(entry, *entry.value.split("\t")) for entry in list_lines(source)]
        rows = rows[cells[0] == "id" :]
        return [(name, [*map(entry.read_truth, truths)]) for entry, name, *truths in rows]
    format = format_of(source, files[0], reading.format and find_format(reading.format))
    if format.needs_key:
        return [(answer.identifier or "", answer.text) for answer in answers_in(source)]
    options = reader_options(format, files[0], reading.word_column, reading.layer)
    return format.read(source, name=files[0], **options)


def _read_row(entry: Entry) -> tuple[str, str]:
    """The id and the answer in a row of a table, or of WinoPron's with generations."""
    row = entry.value
    try:
        return (row["id"], row["answer"]) if "id" in row else (name_winopron(row)[0], row["generation"])
    except (LookupError, ValueError):
        raise entry.fail("there is no answer in the row", row, "columns id and answer") from None


def _split_words(text: str) -> list[str]:
    words = re.findall(r"\w+", text.casefold())
    return [word for word in words if word not in ("the", "a", "an")]


def _find_reply(text: str) -> str:
    """What counts of an answer: no thoughts, and what follows the last `Answer:`."""
    spoken = _THOUGHT.sub("", text)
    return (_LABELLED.findall(spoken) or [spoken])[-1].strip()


def _read_choice(answer: str | list[bool], item: Item) -> Chosen:
    """The labels that an answer chooses, or `unclear`."""
    labels = [candidate.label for candidate in item.candidates]
    if not isinstance(answer, str):
        return [label for label, is_chosen in zip(labels, answer, strict=False) if is_chosen]
    reply = _find_reply(answer)
    words, names = _split_words(reply), [_split_words(entry.text) for entry in item.candidates]
    if words and names.count(words) == 1:
        return [labels[names.index(words)]]
    if letter := _LETTER.match(reply):
        place = ord("".join(filter(None, letter.groups())).upper()) - ord("A")
        if place <= len(labels):
            return labels[place : place + 1]
    if " ".join(words) in _NEITHER:
        return []
    for forms in (names, [name[-1:] for name in names]):
        matches = _find_names(words, forms)
        if matches:
            return [labels[matches[0]]] if len(matches) == 1 else "unclear"
    return "unclear"


def _find_names(words: Sequence[str], names: Sequence[list[str]]) -> list[int]:
    """The places of names whose words occur in a row; longer names take their words first."""
    free: list[str | None] = [*words]
    matches = []
    for name in sorted(names, key=len, reverse=True):
        starts = range(len(free) - len(name) + 1) if name else ()
        for start in starts:
            if free[start : start + len(name)] == name:
                free[start : start + len(name)] = [None] * len(name)
                matches += [place for place, form in enumerate(names) if form == name]
    return sorted({*matches})


def _join_truths(answers: Sequence[str], item: Item) -> Chosen:
    """The candidates to which yes was answered; unclear if an answer is neither yes nor no."""
    truths = {"yes": True, "true": True, "no": False, "false": False}
    replies = [truths.get("".join(_split_words(_find_reply(text))[:1])) for text in answers]
    return "unclear" if None in replies else _read_choice([*map(bool, replies)], item)


def _decide_by_entities(
    probe: Probe, response: Corpus, protocol: Protocol
) -> tuple[dict[str, Chosen], list[Notice]]:
    """What the entities of the targets choose: one join of their mentions with candidates."""
    if response.tokens is None and any(item.tokens for item in probe.items):
        raise UsageError("items of tokens need a response with words: plain spans do not tell them")
    key = _as_key(probe, protocol.names)
    key, response, codes, notices = prepare_probe(key, response, protocol)
    candidate, document = key.features["candidate"], key.mention_document
    targets = np.flatnonzero(candidate < 0)
    target_code = np.full(len(key), -1, dtype=np.int64)
    target_code[document[targets]] = codes[0][targets]
    owner = response.mention_document
    is_target = codes[1] == target_code[owner]
    entity = np.full(len(key), -1, dtype=np.int64)
    entity[owner[is_target]] = response.mention_entity[is_target]
    members = np.flatnonzero((response.mention_entity == entity[owner]) & ~is_target)
    starts = key.mention_offsets[owner[members]]
    sizes = key.mention_offsets[owner[members] + 1] - starts
    rows, mentions = ragged_arange(starts, sizes), np.repeat(members, sizes)
    is_candidate = candidate[rows] >= 0
    rows, mentions = rows[is_candidate], mentions[is_candidate]
    picks = _pick(key, rows, response, mentions, protocol.candidate)
    pairs = np.unique(np.stack((mentions[picks], candidate[rows[picks]])), axis=1)
    if protocol.candidate == "cover":
        _, first, times = np.unique(pairs[0], return_index=True, return_counts=True)
        remark = "with several candidates in them, which choose none"
        notices += note("mentions-of-several", int((times > 1).sum()), "mention", remark)
        pairs = pairs[:, first[times == 1]]
    absent = {name for notice in notices if notice.kind == "missing-documents" for name in notice.items}
    items = {item.id: item for item in probe.items}
    chosen: dict[str, Chosen] = {}
    names = [str(identifier) for identifier in key.documents]
    for name, chain in zip(names, entity.tolist(), strict=True):
        if name in items and name not in absent:
            chosen[name] = set() if chain >= 0 else "unmarked"
    for place, number in zip(owner[pairs[0]].tolist(), pairs[1].tolist(), strict=True):
        chosen[names[place]] |= {items[names[place]].candidates[number].label}
    return chosen, [notice for notice in notices if notice.kind != "missing-documents"]


def _pick(
    key: Corpus, rows: IntArray, response: Corpus, mentions: IntArray, rule: str
) -> np.ndarray:
    """Which mentions of the response choose which spans of the key, row by row."""
    low, high = key.mention_start[rows], key.mention_end[rows]
    name, share = split_call(rule)
    if name == "cover":
        low, high = np.array(key.mention_head)[rows], np.array(key.mention_head)[rows] + 1
        is_text = np.array([text_of(key.tokens, place) is not None for place in range(len(key))])
        is_text = is_text[key.mention_document[rows]]
        low = np.where(is_text, key.features["run_start"][rows], low)
        high = np.where(is_text, key.features["run_end"][rows], high)
    start, end = response.mention_start[mentions], response.mention_end[mentions]
    size, common = end - start, np.maximum(np.minimum(end, high) - np.maximum(start, low), 0)
    for row, gap_start, gap_end in response.gaps.tolist():
        places = np.flatnonzero(mentions == row)
        size[places] -= gap_end - gap_start
        inside = np.minimum(gap_end, high[places]) - np.maximum(gap_start, low[places])
        common[places] -= np.maximum(inside, 0)
    if name == "cover":
        return common == high - low
    if name == "exact":
        return (common == size) & (common == high - low)
    if name == "nested":
        return common == np.minimum(size, high - low)
    return 2 * common >= float(share or 0.5) * (size + high - low)


def _as_key(probe: Probe, names: str) -> Corpus:
    """The probe as a key: a text for each item, with the target and all candidates as mentions.

    The head of a mention is its last letter or digit, and its run is that with those before it.
    """
    rows: list[tuple[int, ...]] = []
    for number, item in enumerate(probe.items):
        for place, (start, end) in _list_places(item, names):
            words = item.text[start:end].rstrip()
            runs = [run.span() for run in re.finditer(r"[^\W_]+", words)]
            low, high = runs[-1] if runs else (len(words) - 1, len(words))
            rows.append((number, start, end, start + high - 1, start + low, start + high, place))
    document, start, end, head, low, high, candidate = np.array(rows, dtype=np.int64).T
    return assemble(
        documents=tuple(DocumentId(item.id) for item in probe.items),
        mention_document=document,
        entity=document,
        start=start,
        end=end,
        head=head,
        features={"candidate": candidate, "run_start": low, "run_end": high},
        tokens=tokens_of_texts([item.text for item in probe.items], probe.name),
        name=probe.name,
    )


def _list_places(item: Item, names: str) -> Iterator[tuple[int, Span]]:
    """Spans of characters: the target, numbered −1, and those of each candidate.

    With names as strings, these are all places of a candidate's words that are not taken.
    """
    target = item.locate(item.target)
    yield -1, target
    spans = [[*map(item.locate, candidate.spans)] for candidate in item.candidates]
    edge = r"\S" if item.tokens else r"\w"
    for number, candidate in enumerate(item.candidates):
        yield from ((number, span) for span in spans[number])
        if names == "string":
            taken = [target, *(span for places in spans for span in places)]
            words = rf"(?<!{edge}){re.escape(candidate.text)}(?!{edge})"
            for start, end in (match.span() for match in re.finditer(words, item.text)):
                if all(end <= low or high <= start for low, high in taken):
                    yield number, (start, end)
