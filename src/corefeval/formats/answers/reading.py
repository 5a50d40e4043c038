"""Answers read against a key: their documents, the pieces of these, the corpus and its ledger."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np

from corefeval.checks import check_choice, check_type
from corefeval.diagnostics import InputError, excerpt
from corefeval.formats import read
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.formats.answers.ledgers import Oddities, describe_form, notices_of
from corefeval.formats.answers.lookup import (
    ATOM,
    Atoms,
    KeyDocument,
    Passage,
    Vocabulary,
    atoms_of_text,
    atoms_of_tokens,
    clean,
    shown_words,
)
from corefeval.formats.answers.pages import REFUSED, Page, read_answer, unfenced
from corefeval.formats.answers.placing import SEED
from corefeval.formats.answers.prompts import STYLES
from corefeval.formats.answers.records import Answer, about_records, answers_of
from corefeval.formats.answers.trees import TREES
from corefeval.formats.registry import ANSWERS
from corefeval.model import Corpus, select_tokens
from corefeval.model.arrays import IntArray, distinct, integers
from corefeval.model.construction import assemble
from corefeval.model.ledger import Coverage, Ledger
from corefeval.model.text_tokens import text_of
from corefeval.texts import hash_runs

# What a format stands for: the forms to choose from.
FAMILIES = {name: (name.removeprefix("llm-"),) for name in ANSWERS} | {
    "llm": (*CONVENTIONS, *TREES),
    "llm-bracket": ("bracket", "number"),
    "llm-xml": ("xml", "elements"),
    "llm-tanl": ("tanl", "inside"),
    "llm-lines": ("lines", "table"),
    "llm-qa": ("lines",),
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
    check_choice("format", format, FAMILIES)
    check_choice("occurrences", occurrences, ("in-order", "first", "all"))
    check_choice("pieces", pieces, ("apart", "joined"))
    key = read(key) if isinstance(key, str | os.PathLike) else key
    check_type("read_answers", key, Corpus, "its key is a corpus, or the file of one")
    reader = _Reader(key, FAMILIES[format], occurrences)
    ids, oddities = reader.identifiers, reader.oddities
    listed, where = answers_of(
        answers, encoding=encoding, choice=choice, answer_at=answer_at, id_at=id_at, documents=ids
    )
    name = name or where
    pages = reader.read_all(listed, apart=pieces == "apart")
    ledger = _ledger_of(pages)
    states = {page.coverage.state for page in pages}
    if not isinstance(answers, Mapping) and "unread" in states and "read" not in states:
        raise _unreadable_error(ledger, listed, format, where)
    if not pages and listed:
        raise InputError(
            "no answer is about a document of the key",
            file=where,
            found=", ".join(map(excerpt, oddities["llm-unknown"][:3])),
            expected=", ".join(map(excerpt, ids[:3])),
            fix="use the ids of the key's documents for answers",
        )
    odd = notices_of(ledger, oddities, ids, name, occurrences=occurrences, pieces=pieces)
    notices = (*about_records(listed, name, choice), *odd)
    return _corpus_of(pages, reader, name=name, ledger=ledger, notices=notices)


def _unreadable_error(
    ledger: Ledger, answers: Sequence[Answer], format: str, where: str
) -> InputError:
    share = f"{ledger.unclear / max(ledger.written, 1):.0%} of what was written is unclear"
    return InputError(
        "no mentions could be read from the answers",
        file=where,
        found=f"{excerpt(answers[0].text.strip(), 60)}; {share}",
        expected="; ".join(map(describe_form, FAMILIES[format])),
        fix="check that each answer has the id of its own document; name the format with "
        "--response-format; or ask the model again",
    )


_LEAST_SHARE = 0.2  # of the seeds of a document, or of an answer with fewer
_PIECE = re.compile(r"(?s)\A(.*)[#_](\d{1,4})[/_](\d{1,4})\Z")
_FEW = 2  # mentions that are not in a document, as any answer may have them


class _Reader:
    """Reads answers against the documents of a key; `oddities` say what is odd about them.

    All documents have one vocabulary.
    """

    def __init__(self, key: Corpus, forms: Sequence[str], occurrences: str) -> None:
        self.forms, self.occurrences, tokens = forms, occurrences, key.tokens
        self.oddities: Oddities = defaultdict(list)
        if tokens is None or ("word" not in tokens.columns and text_of(tokens, 0) is None):
            raise InputError(
                "the key has no words with which answers of language models could be aligned",
                file=key.name or None,
                fix="use a key with words: CoNLL, CoNLL-U, JSON with sentences or tokens …",
            )
        self.key, self.tokens, self.vocabulary = key, tokens, Vocabulary()
        self.identifiers = [str(identifier) for identifier in key.documents]
        self._numbers = {  # of documents, by names that only one has
            **_number_unique([*map(_bare, self.identifiers)]),
            **_number_unique([identifier.name for identifier in key.documents]),
            **_number_unique(self.identifiers),
        }
        self._document = cache(self._prepare)
        self._words = cache(lambda index: self._list_words(self._document(index).atoms)[0])

    def read_all(self, answers: Sequence[Answer], *, apart: bool) -> list[Page]:
        """What was written about each document, in the key's order; pieces may be kept `apart`."""
        self._pair(answers)
        pages = defaultdict[int, dict[int, Page]](dict)  # by document and piece
        for answer in sorted(answers, key=lambda answer: answer.piece):
            for (index, low), (_, high) in pairwise([*answer.parts, (0, len(answer.text))]):
                pieces, document = pages[index], self._document(index)
                # Places stay those of the whole answer.
                name, text = document.identifier, answer.text[low:high].rjust(high)
                if answer.piece in pieces:
                    self.oddities["llm-twice"].append(name)
                    continue
                page = read_exactly(document, answer, self.forms) or read_answer(
                    document, text, answer.finish, self.forms, self.occurrences
                )
                n_lost = sum(unit.state == "lost" for unit in page.units)
                if n_lost > max(len(page.written) / 2, _FEW):
                    self.oddities["llm-foreign"].append(name)
                pieces[answer.piece] = page
                if len(pieces) == 2:
                    self.oddities["llm-pieces"].append(name)
        for index, last in {
            answer.parts[0][0]: answer.n_pieces for answer in answers if answer.piece
        }.items():
            states = {piece: page.coverage.state for piece, page in pages[index].items()}
            self.oddities["llm-part"] += [
                f"{self.identifiers[index]}#{piece}/{last}"
                for piece in range(1, last + 1)
                if states.get(piece) not in ("read", "empty")
            ]
        return [_join([*pages[index].values()], apart) for index in sorted(pages)]

    def _prepare(self, index: int) -> KeyDocument:
        """A document by its number."""
        text = text_of(self.tokens, index)
        if text is not None:
            bounds = [match.span() for match in ATOM.finditer(text)]
            words, starts = [text[start:end] for start, end in bounds], [0]
        else:
            words, starts = shown_words(self.tokens, index), self.tokens.sentence_starts(index)
            bounds = [*pairwise(range(len(words) + 1))]
        sentence = np.searchsorted(starts[1:], np.arange(len(words)), side="right")
        atoms = atoms_of_tokens(words, self.vocabulary)
        return KeyDocument(
            index,
            self.identifiers[index],
            words,
            Passage(words, starts or [0]),
            atoms,
            sentence,
            bounds,
            self.vocabulary,
        )

    # -------------------------------------------------------------- documents of answers

    def _pair(self, answers: Sequence[Answer]) -> None:
        """Find the documents of every answer, by id, else by content."""
        size = len(self.identifiers)
        for answer in answers:
            answer.raw, answer.text = answer.text, clean(answer.text)
            self._find_by_id(answer)
        free = {*range(size)} - {index for answer in answers for index, _ in answer.parts}
        for answer in answers:
            has_id, name = answer.parts, answer.identifier
            if free and not answer.piece:
                self._find_by_content(answer, free)
            if not answer.parts and size == len(answers) == 1:
                answer.parts = [(0, 0)]
            if not answer.parts:
                self.oddities["llm-unknown"].append(name or answer.text.strip()[:40])
            elif name is not None and not has_id:
                self.oddities["llm-guessed"].append(name)
            if answer.parts[1:]:
                self.oddities["llm-several"].append("")
            free -= {index for index, _ in answer.parts}

    def _find_by_id(self, answer: Answer) -> None:
        """The document of an id, or of a name or file name that only one document has."""
        name = answer.identifier or ""
        for stem, number, last in [(name, "0", "0"), *_PIECE.findall(name)]:
            index = self._numbers.get(stem, self._numbers.get(_bare(stem)))
            if index is not None and not answer.parts:
                answer.parts, answer.piece, answer.n_pieces = [(index, 0)], int(number), int(last)

    def _find_by_content(self, answer: Answer, free: set[int]) -> None:
        """Find documents that the text of an answer fits, or else the words in it."""
        text, named = answer.text, {index for index, _ in answer.parts}
        atoms = atoms_of_text(text, self.vocabulary)
        ranges = sorted(self._find_ranges(atoms, named | free))
        if not ranges and not named:
            words = distinct(self._list_words(atoms)[0])
            documents = range(len(self.identifiers))
            common = [np.isin(words, self._words(index)).sum() for index in documents]
            best = common.index(max(common))  # which may have its answer already
            if best in free and 2 * common[best] > max(words.size, 2):
                answer.parts = [(best, 0)]
        elif named <= {index for *_, index in ranges}:
            answer.parts = [(ranges[0][2], 0)]
            for (_, end, _), (start, _, index) in pairwise(ranges):
                newline = text.rfind("\n", end, start)
                answer.parts.append((index, newline if newline >= 0 else (end + start) // 2))

    def _find_ranges(self, atoms: Atoms, among: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        """Where the parts of a text begin and end that are mostly a document, and its number.

        Words alone are compared, and of the text only those that the document has: no tags.
        """
        numbers, rows = self._list_words(atoms)
        for index in among:
            words = self._words(index)
            is_common = np.isin(numbers, words)
            seeds, key_seeds = hash_runs(numbers[is_common], SEED), hash_runs(words, SEED)
            hits = np.flatnonzero(np.isin(seeds, key_seeds))
            least = _LEAST_SHARE * min(np.unique(key_seeds).size, seeds.size)
            if np.unique(seeds[hits]).size >= max(least, 1):
                edges = np.percentile(hits, (2, 98)).astype(np.int64)
                first, last = rows[is_common][edges].tolist()
                yield atoms.start[first], atoms.end[last], index

    def _list_words(self, atoms: Atoms) -> tuple[IntArray, IntArray]:
        """The numbers of atoms that are words, and their places."""
        words = self.vocabulary.words
        rows = np.flatnonzero([words[number].isalpha() for number in atoms.numbers.tolist()])
        return atoms.numbers[rows], rows


def _number_unique(names: Sequence[str]) -> dict[str, int]:
    counts = Counter(names)
    return {name: number for number, name in enumerate(names) if counts[name] == 1}


def _bare(identifier: str) -> str:
    """An id as batch services allow it: all but letters and digits is `_`."""
    return re.sub(r"[\W_]+", "_", identifier)


def _join(pages: Sequence[Page], apart: bool) -> Page:
    """The pages of the pieces of a document as one; `apart` keeps their entities so."""
    joined, *later = pages
    for number, page in enumerate(pages if apart and later else (), start=1):
        for unit in page.units:
            unit.entity = f"{number}:{unit.entity}"
        page.mentions = {(span, f"{number}:{entity}"): None for span, entity in page.mentions}
    for page in later:
        joined.units += page.units
        joined.mentions |= page.mentions
        first, second = joined.coverage, page.coverage
        joined.coverage = replace(
            first if first.state == "read" else second,
            copied=first.copied + second.copied,
            changed=first.changed + second.changed,
            added=first.added + second.added,
            missing=max(first.missing + second.missing - first.tokens, 0),
            reached=max(first.reached, second.reached),
            finish=first.finish or second.finish,
        )
    return joined


def _corpus_of(pages: Sequence[Page], reader: _Reader, **details: Any) -> Corpus:
    """The placed mentions on the key's tokens, with details of the corpus."""
    numbers: dict[tuple[int, str], int] = {}
    rows = [
        (place, *page.document.shift(span), numbers.setdefault((place, entity), len(numbers)))
        for place, page in enumerate(pages)
        for span, entity in page.mentions
    ]
    document, start, end, entity = integers(rows).reshape(-1, 4).T.copy()
    chosen = [page.document.index for page in pages]
    corpus = assemble(
        documents=tuple(reader.key.documents[index] for index in chosen),
        mention_document=document,
        start=start,
        end=end,
        entity=entity,
        tokens=select_tokens(reader.tokens, integers(chosen)),
    )
    return corpus.with_details(names=[entity for _, entity in numbers], **details)


def _ledger_of(pages: Sequence[Page]) -> Ledger:
    entries = [page.entry(unit) for page in pages for unit in page.units]
    return Ledger(
        tuple(entry for entry in entries if entry.state != "aside"),
        tuple(page.coverage for page in pages),
        tuple(entry for entry in entries if entry.state == "aside"),
    )


_MANY = 100  # sentences with which a piece may begin


def read_exactly(document: KeyDocument, answer: Answer, forms: Sequence[str]) -> Page | None:
    """What an answer says that is exact in a style of prompts; None for any other answer.

    A piece begins with the first sentence from which it fits, behind the pieces before it.
    """
    (piece, end), passage, size = document.last_piece, document.passage, len(document.words)
    first = max(end + answer.piece - piece - 1, 0)
    document.last_piece = answer.piece, first + 1  # as a piece has a sentence at least
    sentences = range(first, len(passage.starts))[:_MANY] if answer.piece else (0,)
    texts = {answer.raw, unfenced(answer.raw)[0]} if len(answer.parts) == 1 else ()
    for sentence, style, text in product(sentences, filter(STYLES.__contains__, forms), texts):
        if result := STYLES[style].read(text, passage, sentence):
            units, start, last = result
            n_copied = last - start
            if not (units or answer.piece or 3 * n_copied > size):
                continue
            state = "refused" if answer.finish in REFUSED else "read" if units else "empty"
            n_missing = n_copied and size - n_copied
            counts = size, n_copied, 0, 0, n_missing, last or size, answer.finish, state
            page = Page(document, Coverage(document.identifier, style, *counts))
            page.add(units)
            end = max([last, *(unit.spans[0][1] for unit in units)])
            document.last_piece = answer.piece, document.sentence_of[end - 1] + 1
            return page
    return None
