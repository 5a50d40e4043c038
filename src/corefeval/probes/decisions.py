"""Decisions: which candidates a response chooses for each item, by its entities or its answers."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import compress, islice
from typing import Any, Unpack

from corefeval.checks import split_call, split_list
from corefeval.diagnostics import KeyNeededError, Notice, UsageError, note, uncollected
from corefeval.formats.answers.lookup import clean
from corefeval.formats.answers.records import answers_of
from corefeval.formats.feature_table import read_table
from corefeval.formats.json.records import refusing
from corefeval.formats.source import read_source
from corefeval.model import Corpus, CorpusBuilder, DocumentId, Mention
from corefeval.model.arrays import plain_rows
from corefeval.model.token_tables import tokens_of_texts
from corefeval.pairing import pair_documents
from corefeval.preparation import as_corpus, prepare_probe
from corefeval.probes.readers import (
    TRUTHS,
    Item,
    Probe,
    list_rows,
    look_up,
    name_winopron,
    read_probe,
)
from corefeval.probes.result import ProbeResult, count
from corefeval.protocol import Protocol
from corefeval.request import Request, ScoreOptions
from corefeval.results.scores import Decision

# By ids of items: the labels that are chosen, one behind the other, or why there are none.
Choices = dict[str, str]
Decided = tuple[Choices, list[Notice]]

_LABELLED = re.compile(
    r"(?im)^(?:[^\S\n]|[*_#>`\"'])*(?:the\s+)?(?:final\s+)?answer(?:\s+is)?[\s*_]*[:=][\s*_]*(.*)$"
)
_LETTER = re.compile(
    r"(?im)[\s*_\"'`“‘]*(?:(?:option|choice)\b[\s*_:\"'`“‘]*)?"
    r"([(\[])?([a-z])(?(1)[)\]]|(?=$|[).:\]*_\"'`]))"
)
_NEITHER = re.compile(r"(neither|none)( of them)?|none of these|neither one|nobody|no one")
_STEPS = ("reading", "pairing", "policies", "rates", "probes")
# What notices of pairing are called here, and what they count.
_RENAMED: dict[str, dict[str, Any]] = {
    "missing-documents": {"kind": "missing-items", "noun": "item"},
    "widened-mentions": {"kind": "widened-spans", "noun": "span"},
}
_YES_OR_NO = {"yes": True, "no": False, **TRUTHS}


@uncollected()
def probe(
    probe: object,
    response: object,
    *,
    by: str | Iterable[str] | None = None,
    contrast: str | None = None,
    level: float | None = None,
    probe_format: str | None = None,
    protocol: Protocol | str | None = None,
    **options: Unpack[ScoreOptions],
) -> ProbeResult:
    """Score a response to a probe, by the candidate that it chooses for each target.

    The probe is whatever `read_probe` takes. The response is whatever `score` takes, a table with
    the rows of GAP, or answers of a language model: a file, or a mapping from ids to texts.

    `by` names groups whose values are shown; `contrast` is written as `GROUP=FIRST,SECOND`, and
    `level` is that of intervals. Options are those of `score`, and `candidate` ("cover", "exact",
    "nested", "overlap(0.5)"), `names` ("span", "string") and `pair` ("GROUP,GROUP").

    >>> items = [{"id": "1", "text": "[A Ann] saw [B Bea] when [* she] left.", "gold": "A"}]
    >>> result = probe(items, {"1": "Ann"})
    >>> result, result.decisions[0].choice
    (<ProbeResult of 1 item: 1 of 1 right>, 'A')
    """
    base = Protocol.of(protocol)
    request = Request.of(base.but(ci="none"), options, steps=_STEPS, sound=True)
    rules = request.protocol
    if (rules.across, rules.documents) != ("none", "*") or rules.extra == "count":
        raise UsageError(
            "every item is a document of its own: leave out --across, --documents, --extra count"
        )
    questions = read_probe(probe, format=probe_format, encoding=request.key_reading.encoding)
    name = os.fspath(response) if isinstance(response, str | os.PathLike) else "response"
    chosen, notices = _decide(questions, response, name, request)
    groups = [] if rules.pair == "none" else [*split_list(rules.pair)]
    decisions = [
        _make_decision(item, chosen[item.id], groups)
        for item in questions.items
        if item.id in chosen
    ]
    renamed = [replace(notice, **_RENAMED.get(notice.kind, {})) for notice in notices]
    result = ProbeResult(
        **count(decisions),
        key=questions.name,
        response=name,
        protocol=rules.but(ci=base.ci),
        notices=(*questions.notices, *renamed),
    )
    for group in groups:
        result.by(group)  # which refuses one that no item has
    return result.view(by, contrast, level)


def _make_decision(item: Item, chosen: str, groups: list[str]) -> Decision:
    """The decision on an item; its pair is that of the item, or made of the values of groups."""
    values = [item.groups.get(group, "") for group in groups]
    pair = (".".join(values) if all(values) else None) if groups else item.pair
    labels = tuple(chosen) if chosen.isupper() else ()
    choice = "both" if len(labels) > 1 else chosen or "none"
    size = len(item.candidates)
    return Decision(item.id, choice, labels, item.gold, item.groups, pair, item.human, size)


def _decide(probe: Probe, response: Any, name: str, request: Request) -> Decided:
    """What a response chooses for each item that counts, and notices."""
    reading, key = request.response_reading, _make_key(probe, request.protocol.names)
    rows = [] if reading.format else [*_list_answers(response, reading.encoding)]
    if not rows:
        try:
            corpus = as_corpus(response, name, reading, key=key if reading.format else None)
            return _decide_by_entities(probe, key, corpus, request.protocol)
        except KeyNeededError:
            answers, _ = answers_of(response, encoding=reading.encoding)
            rows = [(answer.identifier or "", answer.text) for answer in answers]
    ids, replies = {item.id for item in probe.items}, defaultdict[str, dict[str, Any]](dict)
    for identifier, answer in rows:
        stem, _, label = identifier.rpartition("#")
        stem, label = (stem, label) if stem in ids else (identifier, "")
        replies[stem].setdefault(label, answer)  # of several, the first counts
    documents, chosen = [*map(DocumentId.parse, replies)], Choices()
    pairs = pair_documents(key.documents, documents, request.protocol, (probe.name, name))
    answers_by_place = [*replies.values(), {}]  # at place −1 there is none
    for number, place in plain_rows(pairs.key, pairs.response):
        item = probe.items[number]
        chosen[item.id] = _read_replies(answers_by_place[place], item)
    repeated = len(rows) - sum(map(len, replies.values()))
    return chosen, [
        *note("unclear-answers", [*chosen.values()].count("unclear"), "answer", "not understood"),
        *note("repeated-answers", repeated, "repeated answer", "left out"),
        *pairs.notices,
    ]


def _list_answers(response: Any, encoding: str) -> Iterator[tuple[str, Any]]:
    """The ids and answers of a mapping of texts, or of a table; none of anything else.

    An answer in the rows of GAP is a list of labels.
    """
    if isinstance(response, Mapping) and {*map(type, response.values())} == {str}:
        yield from zip(map(str, response), response.values(), strict=True)
    if not isinstance(response, str | os.PathLike) or not os.path.isfile(response):
        return
    source = read_source(response, encoding=encoding)
    names = [name.lower() for name in read_table(source, may_be_csv=True)[0]]
    has_answers = "generation" in names or {"id", "answer"} <= {*names}
    if not has_answers and (len(names) != 3 or {"id", "true", "false"}.isdisjoint(names)):
        return
    records = list_rows(source, names if has_answers else ("id", "A", "B"))
    for record in islice(records, has_answers or names[0] == "id", None):
        row = record.values
        with refusing(record, "an answer"):
            if "generation" in row:
                yield name_winopron(row), row["generation"]
            elif has_answers:
                yield row["id"], row["answer"]
            else:
                yield row["id"], [label for label in "AB" if look_up(row[label], TRUTHS)]


def _split_words(text: str) -> str:
    """The words of a text, without articles."""
    composed = unicodedata.normalize("NFC", text.casefold())
    return " ".join(re.findall(r"(?!(?:the|an?)\b)\b\w+", composed))


def _find_reply(text: str) -> str:
    """What counts of an answer: no thoughts, and what follows the last `Answer:`."""
    spoken = clean(text).rstrip() or text
    return str((_LABELLED.findall(spoken) or [spoken])[-1]).strip()


def _read_replies(replies: Mapping[str, Any], item: Item) -> str:
    """The labels that an answer chooses, or those whose answers are yes; or why there are none."""
    labels = "".join(candidate.label for candidate in item.candidates)
    if not replies:
        return "missing"
    if "" not in replies:
        said = (_split_words(_find_reply(replies.get(label, ""))) for label in labels)
        truths = [_YES_OR_NO.get(words.partition(" ")[0]) for words in said]
        return "unclear" if None in truths else "".join(compress(labels, truths))
    if isinstance(replies[""], list):
        return "".join(replies[""])
    names = [_split_words(candidate.text) for candidate in item.candidates]
    reply = _find_reply(replies[""])
    words, letter = _split_words(reply), _LETTER.match(reply)
    if words and names.count(words) == 1:
        return labels[names.index(words)]
    place = ord(letter[2].upper()) - ord("A") if letter else len(labels) + 1
    if place <= len(labels):
        return labels[place : place + 1]
    if _NEITHER.fullmatch(words):
        return ""
    for forms in (names, [name.rpartition(" ")[2] for name in names]):
        text, matches = words, ""
        for form in sorted(filter(None, forms), key=lambda form: -form.count(" ")):
            text, times = re.subn(rf"\b{form}\b", "|", text)  # which no shorter name has then
            alike = (label for label, name in zip(labels, forms, strict=True) if name == form)
            matches += "".join(alike) if times else ""
        if matches:
            return matches if len(matches) == 1 else "unclear"
    return "unclear"


def _decide_by_entities(probe: Probe, key: Corpus, response: Corpus, protocol: Protocol) -> Decided:
    """What the other mentions of the target's entity choose."""
    if response.tokens is None and any(item.tokens for item in probe.items):
        raise UsageError("this probe has tokens, so the response needs words, not only spans")
    pairs, key, response, notices = prepare_probe(key, response, protocol)
    numbers, rule = plain_rows(pairs.key, pairs.response), protocol.candidate
    chosen, several = Choices(), 0
    for (number, partner), question, answer in zip(numbers, key, response, strict=True):
        [place], *candidates = question.entities
        target = {*place.positions}
        entities = ([{*mention.positions} for mention in entity] for entity in answer.entities)
        entity = next((mentions for mentions in entities if target in mentions), None)
        fits = [
            {c.name for c in candidates if any(_fits(rule, mention, place) for place in c)}
            for mention in entity or ()
            if mention != target
        ]
        clear = [labels for labels in fits if len(labels) < 2 or rule != "cover"]
        several += len(fits) - len(clear)
        labels = "unmarked" if entity is None else "".join(sorted(set[str]().union(*clear)))
        chosen[probe.items[number].id] = "missing" if partner < 0 else labels
    of_several = "with several candidates in them, counted as choosing none"
    return chosen, [*notices, *note("mentions-of-several", several, "mention", of_several)]


def _fits(rule: str, mention: set[int], place: Mention) -> bool:
    """Whether a mention chooses a candidate that stands at a place, by a rule.

    The head is the last token with a letter or digit, or of a text the last run of these.
    """
    if rule == "cover" and (text := place.document.text) is not None:
        run: Any = re.search(r"[^\W_]+(?=[\W_]*$)|\S(?=\s*$)", text[place.start : place.end])
        return {*range(place.start + run.start(), place.start + run.end())} <= mention
    candidate = {*place.positions}
    if rule == "cover":
        words = place.document.words
        solid = (token for token in candidate if re.search(r"[^\W_]", words[token]))
        return max(solid, default=max(candidate)) in mention
    if rule == "nested":
        return mention <= candidate or candidate <= mention
    least = 1 if rule == "exact" else float(split_call(rule)[1] or 0)
    return 2 * len(mention & candidate) / (len(mention) + len(candidate)) >= least - 1e-12


def _make_key(probe: Probe, names: str) -> Corpus:
    """The probe as a key of texts, whose entities are the target, then candidates by their labels.

    With names as strings, candidates stand wherever their words do and nothing else stands.
    """
    builder = CorpusBuilder(probe.name)
    for item in probe.items:
        document = builder.document(item.id, n_tokens=len(item.text))
        parts = (("*", "", [item.target]), *item.candidates)
        places = [(label, *item.locate(span)) for label, _, spans in parts for span in spans]
        taken = tuple(places)
        edge = r"\S" if item.tokens else r"\w"
        for label, words, _ in item.candidates if names == "string" else ():
            matches = re.finditer(rf"(?<!{edge}){re.escape(words)}(?!{edge})", item.text)
            places += (
                (label, *match.span())
                for match in matches
                if all(match.end() <= start or end <= match.start() for _, start, end in taken)
            )
        for place in places:
            document.mention(*place)
    return builder.build(tokens_of_texts([item.text for item in probe.items], probe.name))
