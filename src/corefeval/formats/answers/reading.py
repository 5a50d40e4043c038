"""Answers read against a key: their documents, the pieces of these, the corpus and its ledger."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from corefeval.checks import check_choice
from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.formats.answers.documents import KeyTexts
from corefeval.formats.answers.ledgers import Remarks, notices_of
from corefeval.formats.answers.pages import Page, read_answer
from corefeval.formats.answers.records import Answer, about_records, answers_of
from corefeval.formats.answers.shapes import TREES
from corefeval.formats.answers.text import atoms_of_text, clean, hide_escapes
from corefeval.formats.registry import ANSWERS
from corefeval.model import Corpus, select_tokens
from corefeval.model.arrays import integers
from corefeval.model.construction import assemble
from corefeval.model.ledger import Ledger

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
    reader = _Reader(texts, FAMILIES[format], occurrences)
    pages = reader.read_all(listed, apart=pieces == "apart")
    ledger, corpus = _ledger_of(pages), _corpus_of(pages, texts.key, name)
    states = {page.coverage.state for page in pages}
    if not isinstance(answers, Mapping) and "unread" in states and "read" not in states:
        raise _unreadable_error(ledger, listed, format, where)
    if not pages and listed:
        raise _unknown_error(reader.remarks["llm-unknown"], ids, where)
    odd = notices_of(ledger, reader.remarks, ids, name, occurrences=occurrences, pieces=pieces)
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
    tried = [f"{CONVENTIONS[n].example} (llm-{n})" for n in FAMILIES[format] if n in CONVENTIONS]
    tried += [f"lists written as {name}" for name in FAMILIES[format] if name in TREES]
    share = ledger.unclear / max(ledger.written, 1)
    beginning = excerpt(answers[0].text.strip(), 60)
    return InputError(
        "no mentions could be read from the answers",
        file=where,
        found=f"{beginning}; {share:.0%} of what was written is unclear",
        expected="; ".join(tried),
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


_PIECE = re.compile(r"(.*)(?:#(\d{1,6})/\d{1,6}|_(\d{1,6})_\d{1,6})", re.DOTALL)
_FEW = 3  # mentions that are not in a document, as any answer may have them


class _Reader:
    """Reads answers against the texts of a key; `remarks` say what is odd about them."""

    def __init__(self, texts: KeyTexts, forms: Sequence[str], occurrences: str) -> None:
        self.texts, self.forms, self.occurrences = texts, forms, occurrences
        self.remarks: Remarks = defaultdict(list)

    def read_all(self, answers: Sequence[Answer], *, apart: bool) -> list[Page]:
        """What was written about each document, in the key's order; pieces may be kept `apart`."""
        self._pair(answers)
        pages = defaultdict[int, dict[int, Page]](dict)  # by document and piece
        for answer in sorted(answers, key=lambda answer: answer.piece):
            for page in self._read(answer):
                parts, name = pages[page.document.index], page.document.identifier
                if answer.piece in parts or (parts and not answer.piece):
                    self.remarks["llm-twice"].append(name)
                else:
                    parts[answer.piece] = page
                    self.remarks["llm-pieces"] += [name] if len(parts) == 2 else []
        return [_join([*pages[index].values()], apart) for index in sorted(pages)]

    def _read(self, answer: Answer) -> Iterator[Page]:
        """A page for each document that an answer is about."""
        edges = pairwise([*answer.edges, len(answer.text)])
        for index, (low, high) in zip(answer.documents, edges, strict=False):
            document, text = self.texts.document(index), answer.text[low:high]
            page = read_answer(document, text, answer.finish, self.forms, self.occurrences)
            for unit in page.units:
                unit.where += low
            if self._is_foreign(page, text):
                self.remarks["llm-foreign"].append(document.identifier)
            yield page

    def _is_foreign(self, page: Page, text: str) -> bool:
        """Whether an answer is no copy of its document, which lacks most of its mentions."""
        document, written = page.document, page.written
        absent = sum(not (unit.is_placed or document.stands(unit.text)) for unit in written)
        if absent < _FEW or 2 * absent <= len(written):
            return False
        atoms = atoms_of_text(text, self.texts.vocabulary)
        return not self.texts.find_by_text(atoms, [document.index])

    # -------------------------------------------------------------- documents

    def _pair(self, answers: Sequence[Answer]) -> None:
        """Find the documents of every answer, by id, else by content."""
        size = len(self.texts.identifiers)
        for answer in answers:
            answer.text = clean(answer.text)
            self._find_by_id(answer)
        answered = {index for answer in answers for index in answer.documents}
        free = [index for index in range(size) if index not in answered]
        for answer in answers:
            has_id, name = bool(answer.documents), answer.identifier
            if free and not answer.piece:
                self._find_by_content(answer, free)
            if not answer.documents and size == len(answers) == 1:
                answer.documents = [0]
            if not answer.documents:
                self.remarks["llm-unknown"].append(name or answer.text.strip()[:40])
            elif name is not None and not has_id:
                self.remarks["llm-guessed"].append(name)
            free = [index for index in free if index not in answer.documents]

    def _find_by_id(self, answer: Answer) -> None:
        name = answer.identifier or ""
        index = self.texts.find(name)
        piece = _PIECE.fullmatch(name) if index is None else None
        if piece is not None and (index := self.texts.find(piece[1])) is not None:
            answer.piece = int(piece[2] or piece[3])
        answer.documents = [] if index is None else [index]

    def _find_by_content(self, answer: Answer, free: Sequence[int]) -> None:
        """Find documents that the text of an answer fits, or else the strings in it."""
        conventions = [CONVENTIONS[form] for form in self.forms if form in CONVENTIONS]
        usual = max(conventions or CONVENTIONS.values(), key=lambda tags: tags.count(answer.text))
        written = usual.read(hide_escapes(answer.text))
        atoms = atoms_of_text(written.text, self.texts.vocabulary)
        ranges = self.texts.find_by_text(atoms, [*answer.documents, *free])
        fitting = [index for _, _, index in ranges]
        if not fitting and not answer.documents and not written.mentions:
            strings = re.split(r"[\"“”„«»「」\[\]{}()<>|;:,\n→]+", answer.text)
            answer.documents = self.texts.find_by_strings(strings, free)
        elif set(answer.documents) <= set(fitting):
            answer.documents = fitting
            for (_, last, _), (first, _, _) in pairwise(ranges):
                end, start = int(atoms.end[last]), int(atoms.start[first])
                newline = written.text.rfind("\n", end, max(start, end))
                edge = newline if newline >= 0 else (end + start) // 2
                answer.edges.append(int(written.origins[edge]))
            if answer.edges[1:]:
                self.remarks["llm-several"].append(usual.name)


def _join(pages: Sequence[Page], apart: bool) -> Page:
    """The pages of the pieces of a document as one; `apart` keeps their entities so."""
    if len(pages) == 1:
        return pages[0]
    covers = [page.coverage for page in pages]
    counts = ("copied", "changed", "added", "missing")
    sums = {name: sum(getattr(cover, name) for cover in covers) for name in counts}
    sums["missing"] = max(sums["missing"] - (len(covers) - 1) * covers[0].tokens, 0)
    joined = Page(pages[0].document, replace(
        covers[0], **sums,
        reached=max(cover.reached for cover in covers),
        finish=next(filter(None, (cover.finish for cover in covers)), ""),
        state=min((cover.state for cover in covers), key=lambda state: state != "read"),
    ))  # fmt: skip
    for number, page in enumerate(pages, start=1):
        prefix = f"{number}:" if apart else ""
        for unit in page.units:
            unit.entity = prefix + unit.entity
        joined.units += page.units
        joined.mentions |= {(span, prefix + name): None for span, name in page.mentions}
    return joined


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
