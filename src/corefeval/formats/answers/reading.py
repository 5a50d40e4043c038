"""Answers read against a key: their documents, the pieces of these, the corpus and its ledger."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from corefeval.checks import check_choice
from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.formats.answers.documents import KeyTexts
from corefeval.formats.answers.ledgers import Remarks, describe, notices_of
from corefeval.formats.answers.pages import Page, read_answer
from corefeval.formats.answers.records import Answer, about_records, answers_of
from corefeval.formats.answers.shapes import TREES
from corefeval.formats.registry import ANSWERS
from corefeval.model import Corpus, select_tokens
from corefeval.model.arrays import integers
from corefeval.model.construction import assemble
from corefeval.model.ledger import Coverage, Ledger

_FAMILIES = {
    "llm": (*CONVENTIONS, *TREES),
    "llm-bracket": ("bracket", "number"),
    "llm-xml": ("xml", "elements"),
    "llm-tanl": ("tanl", "inside"),
    "llm-lines": ("lines", "table"),
    "llm-qa": ("lines",),
}
# What a format stands for: the forms to choose from.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    name: _FAMILIES.get(name, (name.removeprefix("llm-"),)) for name in ANSWERS
}


def read_answers(
    answers: object,
    key: Corpus | str | os.PathLike[str],
    *,
    format: str = "llm",
    occurrences: str = "in-order",
    pieces: str = "apart",
    choice: int = 1,
    answer_at: str | None = None,
    id_at: str | None = None,
    encoding: str = "utf-8",
    name: str = "",
) -> Corpus:
    """Read answers of language models as a corpus on the key's tokens, with a `ledger` of mentions.

    `answers` is a path (records of chat interfaces, JSON lines with ids and answers, a folder of
    texts named by document, one text) or a mapping from ids to texts. `format` is `llm`, which
    finds the form, or one form, such as `llm-markdown`. A listed string with several places means
    the one that fits the order of the list (`in-order`), the `first`, or `all`. Entities of
    `pieces` of a document are `apart`, or `joined` where their numbers are equal. `choice` is which
    of several answers in a record is read; `answer_at` and `id_at` are paths in unknown records.

    >>> import corefeval
    >>> key = corefeval.read(corefeval.example("key"))
    >>> words = " ".join(key[0].words)
    >>> read_answers({str(key[0].id): f"[e1 {words}]"}, key).ledger
    <Ledger: 1 written, 1 placed (0 changed), 0 repeated, 0 lost, 0 unclear>
    """
    _check_options(format, occurrences, pieces)
    texts = KeyTexts(_corpus_at(key))
    ids = texts.identifiers
    listed, where = answers_of(
        answers, encoding=encoding, choice=choice, answer_at=answer_at, id_at=id_at, documents=ids
    )
    name = name or where
    remarks: Remarks = defaultdict(list)
    texts.pair(listed, remarks)
    read = _read_pages(texts, listed, FAMILIES[format], occurrences, remarks)
    pages = [_join(parts, pieces == "apart") for parts in read.values()]
    ledger, corpus = _ledger_of(pages), _corpus_of(pages, texts.key, name)
    states = {page.coverage.state for page in pages}
    if not isinstance(answers, Mapping) and "unread" in states and "read" not in states:
        raise _unreadable_error(ledger, listed, format, where)
    if not pages and listed:
        raise _unknown_error(remarks["llm-unknown"], ids, where)
    odd = notices_of(ledger, remarks, ids, name, occurrences=occurrences, pieces=pieces)
    notices = (*about_records(listed, name, choice), *odd)
    return corpus.with_details(ledger=ledger, notices=notices)


def _check_options(format: str, occurrences: str, pieces: str) -> None:
    if format not in FAMILIES:
        names = ", ".join(FAMILIES)
        raise UsageError(f"there is no format {format!r} of answers: there are {names}")
    check_choice("occurrences", occurrences, ("in-order", "first", "all"))
    check_choice("pieces", pieces, ("apart", "joined"))


def _corpus_at(key: object) -> Corpus:
    if isinstance(key, str | os.PathLike):
        from corefeval.formats import read

        return read(key)
    if not isinstance(key, Corpus):
        raise UsageError(f"the key of answers is a corpus or its file, not {key!r:.60}")
    return key


def _unreadable_error(
    ledger: Ledger, answers: Sequence[Answer], format: str, where: str
) -> InputError:
    share = ledger.unclear / max(ledger.written, 1)
    beginning = excerpt(answers[0].text.strip(), 60)
    return InputError(
        "no mentions could be read from the answers",
        file=where,
        found=f"{beginning}; {share:.0%} of what was written is unclear",
        expected="; ".join(map(describe, FAMILIES[format])),
        fix="check that each answer has the id of its own document; name the format with "
        "--response-format; or ask the model again",
    )


def _unknown_error(unknown: Sequence[str], ids: Sequence[str], where: str) -> InputError:
    return InputError(
        "no answer is about a document of the key",
        file=where,
        found=", ".join(map(excerpt, unknown[:3])),
        expected=", ".join(f"‘{identifier}’" for identifier in ids[:3]),
        fix="use the ids of the key's documents for answers",
    )


_FEW = 2  # mentions that are not in a document, as any answer may have them


def _read_pages(
    texts: KeyTexts,
    answers: Sequence[Answer],
    forms: Sequence[str],
    occurrences: str,
    remarks: Remarks,
) -> dict[int, list[Page]]:
    """The pages of each document, in the key's order: of the first answer, or of its pieces."""
    pages = defaultdict[int, dict[int, Page]](dict)  # by document and piece
    for answer in sorted(answers, key=lambda answer: answer.piece):
        for (index, low), (_, high) in pairwise([*answer.parts, (0, len(answer.text))]):
            pieces, document = pages[index], texts.document(index)
            if answer.piece in pieces or (pieces and not answer.piece):
                remarks["llm-twice"].append(document.identifier)
                continue
            text = answer.text[low:high]
            page = read_answer(document, text, answer.finish, forms, occurrences)
            for unit in page.units:
                unit.where += low
            if _lacks_mentions(page) and not texts.find_ranges(text, [index]):
                remarks["llm-foreign"].append(document.identifier)
            pieces[answer.piece] = page
            remarks["llm-pieces"] += [document.identifier] if len(pieces) == 2 else []
    return {index: [*pages[index].values()] for index in sorted(pages)}


def _lacks_mentions(page: Page) -> bool:
    """Whether a document lacks most mentions of its answer."""
    unplaced = [unit for unit in page.written if not unit.is_placed]
    most, stands = max(_FEW, len(page.written) // 2), page.document.stands
    return len(unplaced) > most and sum(not stands(unit.text) for unit in unplaced) > most


def _join(pages: Sequence[Page], apart: bool) -> Page:
    """The pages of the pieces of a document as one; `apart` keeps their entities so."""
    joined, *later = pages
    for number, page in enumerate(pages if later else ()):
        prefix = f"{number}:" if apart else ""
        for unit in page.units:
            unit.entity = prefix + unit.entity
        page.mentions = {(span, prefix + entity): None for span, entity in page.mentions}
    for page in later:
        joined.units += page.units
        joined.mentions |= page.mentions
        joined.coverage = _add(joined.coverage, page.coverage)
    return joined


def _add(first: Coverage, second: Coverage) -> Coverage:
    """How much of a document two pieces of its answer have."""
    return replace(
        first if first.state == "read" else second,
        copied=first.copied + second.copied,
        changed=first.changed + second.changed,
        added=first.added + second.added,
        missing=max(first.missing + second.missing - first.tokens, 0),
        reached=max(first.reached, second.reached),
        finish=first.finish or second.finish,
    )


def _corpus_of(pages: Sequence[Page], key: Corpus, name: str) -> Corpus:
    """The placed mentions on the key's tokens."""
    numbers: dict[tuple[int, str], int] = {}
    rows = [
        (place, *page.document.shift(span), numbers.setdefault((place, entity), len(numbers)))
        for place, page in enumerate(pages)
        for span, entity in page.mentions
    ]
    document, start, end, entity = integers(rows).reshape(-1, 4).T.copy()
    chosen = integers([page.document.index for page in pages])
    corpus = assemble(
        documents=tuple(key.documents[index] for index in chosen.tolist()),
        mention_document=document,
        start=start,
        end=end,
        entity=entity,
        tokens=select_tokens(key.tokens, chosen) if key.tokens is not None else None,
        name=name,
    )
    return corpus.with_details(names=[entity for _, entity in numbers])


def _ledger_of(pages: Sequence[Page]) -> Ledger:
    entries = [page.entry(unit) for page in pages for unit in page.units]
    return Ledger(
        tuple(entry for entry in entries if entry.state != "aside"),
        tuple(page.coverage for page in pages),
        tuple(entry for entry in entries if entry.state == "aside"),
    )
