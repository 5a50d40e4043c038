"""Two CorefUD files, scored as corefud-scorer 1.2 scores them: from texts to an ordinary result.

`corefud_sentences` and `corefud_brackets` read as the program does, `corefud_matching` matches.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import zip_longest

import numpy as np

from corefeval.diagnostics import (
    Notice,
    PairingError,
    UsageError,
    excerpt,
    list_names,
    memory_for,
    note,
    plural,
    uncollected,
)
from corefeval.emulation.corefud_brackets import CorefudText, read_mentions
from corefeval.emulation.corefud_matching import (
    Entities,
    Mention,
    Pair,
    make_entities,
    match_mentions,
)
from corefeval.emulation.corefud_sentences import (
    NodePlace,
    Sentence,
    SentenceFile,
    read_sentences,
)
from corefeval.emulation.documents import Document
from corefeval.emulation.tables import (
    CONLL,
    Entry,
    Image,
    find_homes,
    look_up,
    make_result,
    tabulate,
    tabulate_sides,
)
from corefeval.formats import files_of
from corefeval.formats.conllu.tokens import ConlluLines
from corefeval.formats.source import Source, read_source
from corefeval.metrics import Metric, Metrics, parse_metrics
from corefeval.metrics.coreference import (
    Counts,
    b3_recall,
    blanc,
    count_ceaf,
    lea_recall,
    muc_recall,
    phi3,
    phi4,
    ratio_counts,
)
from corefeval.model import Corpus
from corefeval.protocol import Protocol, fields
from corefeval.results import CountTable, Result

# In the program's order.
METRICS = ("muc", "b3", "ceafe", "ceafm", "blanc", "lea", "mor", "zero", "conll")

# What a protocol that names the program may say besides; all else is the program's own affair.
# Sums and means of documents; the others need numbers of mentions.
AGGREGATES = ("micro", "macro", "macro-f", "macro-rates")
_VALUES: Mapping[str, tuple[str, ...]] = {
    "match": ("exact", "partial", "head"),
    "zeros": ("place", "align"),
    "aggregate": AGGREGATES,
}
_FREE = ("singletons", "undefined", "emulate")


@dataclass(frozen=True, slots=True)
class EmulatedDocument(Document):
    """What the program makes of a document: both sides' entities and the pairs."""

    pairs: list[Pair]


@uncollected()
def read_text(source: object, *, encoding: str = "utf-8") -> CorefudText:
    """A file by its path, or the file that a corpus was read from, as the program reads it.

    Raises an InputError with file and line for what the program refuses, and a UsageError for what
    is no single CorefUD file.
    """
    if isinstance(source, CorefudText):
        return source
    origin = _origin(source, encoding)
    with memory_for(origin.file):
        if not isinstance(source, Corpus):
            return read_mentions(read_sentences(origin))
        make = partial(read_mentions, name=source.name)
        return source.remember("corefud-scorer", lambda: make(read_sentences(origin)))


def _origin(source: object, encoding: str) -> Source:
    if isinstance(source, str | os.PathLike):
        files, several = files_of(source)
        if several and len(files) > 1:
            raise UsageError(
                f"corefud-scorer scores one file, and {os.fspath(source)} has {len(files)}: "
                "score them one by one"
            )
        return read_source(files[0], encoding=encoding)
    if isinstance(source, Corpus) and source.tokens is not None:
        lines = source.tokens.lines
        if isinstance(lines, ConlluLines):
            return lines.origin
    label = f"{getattr(source, 'name', source)!s:.60}"
    raise UsageError(
        f"corefud-scorer scores single CorefUD files, not {label}: corefeval convert FILE NEW "
        "--to corefud makes one"
    )


def score_emulated(
    key: object,
    response: object,
    metrics: Metrics,
    protocol: Protocol,
) -> Result:
    """The program's result, with counts for each document of the key.

    `key` and `response` are what `read_text` takes. A UsageError names a choice of the protocol
    that the program does not have.
    """
    chosen = choose_metrics(metrics, protocol)
    texts = read_text(key), read_text(response)
    notices = (*texts[0].notices, *texts[1].notices, *_extra_notices(*texts))
    documents = emulate(*texts, protocol)
    with memory_for():
        counts, key_digest = count_documents(documents), digest_text(texts[0])
    return make_result(
        protocol,
        {name: _table(name, counts) for name in chosen},
        tuple(document.name for document in documents),
        sides=(texts[0].name, texts[1].name),
        key_digest=key_digest,
        notices=(n for n in notices if (n.kind, protocol.match) != ("no-heads", "exact")),
    )


def check_choices(
    protocol: Protocol, values: Mapping[str, tuple[str, ...]], free: Sequence[str]
) -> None:
    """Raise a UsageError for a choice that a program does not have: none is ignored."""
    for name, choice in fields().items():
        value = getattr(protocol, name)
        allowed = values.get(name, (choice.default,))
        if name not in free and value not in allowed:
            raise UsageError(
                f"emulate:{protocol.emulate} has only {name} {' or '.join(allowed)}, not {value}"
            )


def choose_metrics(metrics: Metrics, protocol: Protocol) -> list[str]:
    """The program's metrics among those asked for; all of them for `standard` and `all`.

    Raises a UsageError for a metric or a choice that the program does not have.
    """
    check_choices(protocol, _VALUES, _FREE)
    requests = parse_metrics(metrics)
    for request in requests:
        if request.by_name and str(request.metric) not in METRICS:
            has = ", ".join(METRICS)
            raise UsageError(f"corefud-scorer has no {request.metric}: it has {has}")
    names = [str(request.metric) for request in requests]
    return names if all(request.by_name for request in requests) else list(METRICS)


def emulate(key: CorefudText, response: CorefudText, protocol: Protocol) -> list[EmulatedDocument]:
    """What the program makes of each document of the key; raises what `check_pair` raises."""
    check_pair(key, response)
    documents = []
    with memory_for():
        for name, entities in key.documents.items():
            in_key = make_entities(key.file, entities, protocol)
            in_response = make_entities(response.file, response.documents[name], protocol)
            pairs = match_mentions(in_key, in_response, protocol.match, protocol.zeros)
            documents.append(EmulatedDocument(str(name), None, in_key, in_response, pairs))
    return documents


def check_pair(key: CorefudText, response: CorefudText) -> None:
    """Raise a PairingError if the response lacks a document, or is another text for the program."""
    _check_texts(key.file, response.file)
    missing = [str(name) for name in key.documents if name not in response.documents]
    if missing:
        raise PairingError(
            f"the response lacks {plural(len(missing), 'document')}: {list_names(missing)}",
            file=response.file.file,
            expected=f"all {len(key.documents)} documents of {key.file.file}",
            fix="add them with their sentences, without mentions",
        )


def count_affected(documents: Sequence[EmulatedDocument]) -> dict[str, int]:
    """How many mentions the program's own rules concern, by a name for each of these rules."""
    counts = dict.fromkeys(("shared", "zeros", "assigned"), 0)
    for document in documents:
        for side in document.sides:
            homes = Counter(mention for entity in side for mention in entity)
            counts["shared"] += sum(number > 1 for number in homes.values())
        for key, response in document.pairs:
            counts["zeros" if key.is_zero else "assigned"] += key != response
    return counts


def _check_texts(key: SentenceFile, response: SentenceFile) -> None:
    """Raise a PairingError where texts differ, up to the end of the shorter file or sentence."""
    for expected, sentence in zip(key.sentences, response.sentences, strict=False):
        for name, in_key, in_response in (
            ("newdoc", _new_document(expected), _new_document(sentence)),
            ("sent_id", expected.identifier, sentence.identifier),
        ):
            if in_key != in_response:
                raise _text_error(name, in_key, in_response, key.file, response.file, sentence.line)
        for key_word, word in zip(expected.words, sentence.words, strict=False):
            forms = key.nodes.form[key_word], response.nodes.form[word]
            if forms[0] != forms[1]:
                line = response.nodes.line[word]
                raise _text_error("word", *forms, key.file, response.file, line)


def _new_document(sentence: Sentence) -> str:
    return f"newdoc {sentence.document_id}" if sentence.is_new_document else ""


def _text_error(
    name: str, in_key: str, in_response: str, key_file: str, file: str, line: int
) -> PairingError:
    return PairingError(
        f"the {name} is not the key's",
        file=file,
        line=line,
        found=excerpt(in_response) if in_response else "nothing",
        expected=f"{excerpt(in_key) if in_key else 'nothing'}, as in {key_file}",
    )


def _extra_notices(key: CorefudText, response: CorefudText) -> list[Notice]:
    """Notices of documents and sentences that do not fit, which the program passes over."""
    notices = []
    documents = [
        {sentence.document: 0 for sentence in side.file.sentences} for side in (key, response)
    ]
    extra = [str(name) for name in documents[1] if name not in documents[0] and name is not None]
    if extra:
        text = f"{response.name}: {{n}} not in the key, ignored: {{items}}"
        notices.append(Notice("extra-documents", text, len(extra), tuple(extra), "document"))
    unequal = 0
    for expected, sentence in zip_longest(key.file.sentences, response.file.sentences):
        unequal += (
            expected is None or sentence is None or len(expected.words) != len(sentence.words)
        )
    text = "longer or shorter than the key's, or on one side only; as in corefud-scorer 1.2, "
    text += "mentions there count like all others"
    return [*notices, *note("misaligned", unequal, "sentence", text, whose=response.name)]


def count_documents(documents: Sequence[EmulatedDocument]) -> dict[str, Counts]:
    """Every metric's counts, with a number for each document.

    Most metrics see the pairs through a table of what is matched with another identity: first the
    image of each key mention is its response mention, then that of each response mention its key
    mention, which overwrites what is there. An identity knows no side. Where zeros are matched with
    other places, one that is on both sides may therefore lose its image, or an unmatched one borrow
    the image of another.
    """
    sides = [document.sides for document in documents]
    exchanged = [(response, key) for key, response in sides]
    images = [_find_images(document.pairs) for document in documents]
    lookups = [_look_up_in(table) for table in images]
    recall, precision = (tabulate_sides(pair, "last", lookups) for pair in (sides, exchanged))
    listed = tabulate_sides(sides, "all", lookups)
    places = tabulate(map(_list_places, documents))
    return {
        "muc": ratio_counts(muc_recall(recall), muc_recall(precision)),
        "b3": ratio_counts(b3_recall(recall), b3_recall(precision)),
        "ceafe": count_ceaf(phi4, listed),
        "ceafm": count_ceaf(phi3, listed),
        "blanc": blanc(recall),
        "lea": ratio_counts(lea_recall(recall), lea_recall(precision)),
        "mor": count_ceaf(phi3, places),
        "zero": _count_zeros(documents, images),
    }


Images = Mapping[Mention, Mention]
Spans = list[tuple[NodePlace, ...]]


def _find_images(pairs: Sequence[Pair]) -> Images:
    moved = [(key, response) for key, response in pairs if key != response]
    return dict(moved) | {response: key for key, response in moved}


def _look_up_in(images: Images) -> Image:
    return lambda mention: (images.get(mention, mention), 1.0)


def _list_places(document: EmulatedDocument) -> tuple[Spans, Spans, Iterator[Entry]]:
    """Mentions as entities of places, so that CEAFm of them is the mention overlap ratio."""
    key, response = ([m for entity in side for m in entity] for side in document.sides)
    homes = find_homes([mention.places for mention in response], "all")
    entries = look_up([list(mention.span) for mention in key], homes)
    return [m.places for m in key], [m.places for m in response], entries


def _count_zeros(documents: Sequence[EmulatedDocument], images: Sequence[Images]) -> Counts:
    rows = [
        _count_document_zeros(*document.sides, image)
        for document, image in zip(documents, images, strict=True)
    ]
    return {name: np.array([row[name] for row in rows], dtype=np.float64) for name in _OUTCOMES}


_OUTCOMES = ("tp", "wl", "fn", "fp")


def _count_document_zeros(key: Entities, response: Entities, images: Images) -> Counter[str]:
    """The anaphor-decomposable score of zeros; what stands at the same place precedes images."""
    if not any(mention.is_zero for entity in (*key, *response) for mention in entity):
        return Counter()
    homes = find_homes(response, "last")
    firsts = {min(entity, key=lambda mention: mention.order) for entity in response}
    counts: Counter[str] = Counter()
    covered: set[Mention] = set()
    for entity in key:
        before: set[int] = set()
        for index, mention in enumerate(sorted(entity, key=lambda mention: mention.order)):
            twin = mention if mention in homes else images.get(mention)
            if index and mention.is_zero:
                is_missed = twin is None or twin in firsts
                is_right = not is_missed and homes[twin][0] in before
                counts["fn" if is_missed else "tp" if is_right else "wl"] += 1
                covered.update(() if twin is None else (twin,))
            if twin is not None:
                before.add(homes[twin][0])
    counts["fp"] = sum(
        mention.is_zero and mention not in firsts and mention not in covered
        for entity in response
        for mention in entity
    )
    return counts


def _table(metric: str, counts: Mapping[str, Counts]) -> CountTable:
    if metric == "conll":
        return CONLL
    shape = "blanc-of-both" if metric == "blanc" else Metric.parse(metric).shape
    return CountTable(shape, tuple(counts[metric]), np.column_stack([*counts[metric].values()]))


def digest_text(source: object) -> str:
    """A digest that tells whether two keys have the same mentions in the same entities.

    `source` is what `read_text` takes; see `model.identity.digest`.
    """
    total, number = 0, 0
    for name, entities in read_text(source).documents.items():
        for entity in ([], *entities):
            number += len(entity)
            fact = repr((name, [(mention.nodes, mention.head) for mention in entity]))
            total += int.from_bytes(blake2b(fact.encode(), digest_size=8).digest())
    return f"corefud-{total % (1 << 64):016x}-{number}"
