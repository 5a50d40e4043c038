"""Answers read against a key: the form in which they are written, their documents, the ledger."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.formats.answers.documents import KeyTexts
from corefeval.formats.answers.grammar import TREES, read_units
from corefeval.formats.answers.ledgers import Remarks, notices_of
from corefeval.formats.answers.lookup import KeyDocument
from corefeval.formats.answers.pages import Page, find_loose, read_list, read_tagged
from corefeval.formats.answers.records import Answer, about_records, answers_of
from corefeval.formats.answers.tags import TaggedText
from corefeval.formats.answers.text import atoms_of_text, clean, hide_escapes, unescape
from corefeval.formats.answers.units import Unit
from corefeval.model import Corpus, select_tokens
from corefeval.model.construction import assemble
from corefeval.model.ledger import Coverage, Ledger

_WEIGHTS = {**dict.fromkeys(TREES, 1.0), "lines": 0.8}  # as prose may look like a list in lines
_SIGNS = re.compile(r"[,;，；、\n→⇒/=|\t\"“„«「'<]|->|\Z")  # a list has one for each of its items
# What a format stands for: the forms to choose from.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "llm": (*CONVENTIONS, *_WEIGHTS),
    "llm-bracket": ("bracket", "number"),
    "llm-xml": ("xml", "elements"),
    "llm-tanl": ("tanl", "inside"),
    "llm-lines": ("lines", "table"),
    "llm-qa": ("lines",),
    **{
        f"llm-{name}": (name,)
        for name in (
            "crac", "markdown", "subscript", "hash", "colon", "seq2seq", "mask", "curly", "json",
        )
    },
}  # fmt: skip


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

    `key` is a corpus, or the path of one. `answers` is a path (JSON lines with ids and answers,
    records of chat interfaces, a folder of texts named by document, one text) or a mapping from
    document ids to texts. `format` is `llm`, which finds the form, or one of them, such as
    `llm-markdown`. `occurrences` says which place is meant by a listed string that has several:
    the one that fits the order of the list (`in-order`), the `first`, or `all`. Entities of
    different `pieces` of a document are kept `apart`, or `joined` where their numbers are equal.
    `choice` says which of several answers in a record is read; `answer_at` and `id_at` are paths
    to the answer and the id in records of no known kind.

    >>> import corefeval
    >>> key = corefeval.read(corefeval.example("key"))
    >>> words = " ".join(key[0].words)
    >>> read_answers({str(key[0].id): f"[e1 {words}]"}, key).ledger
    <Ledger: 1 written, 1 placed (0 changed), 0 repeated, 0 lost, 0 unclear>
    """
    if format not in FAMILIES:
        raise UsageError(
            f"there is no format {format!r} of answers: there are {', '.join(FAMILIES)}"
        )
    if occurrences not in ("in-order", "first", "all"):
        raise UsageError(f"occurrences are in-order, first or all, not {occurrences!r:.60}")
    if pieces not in ("apart", "joined"):
        raise UsageError(f"pieces are apart or joined, not {pieces!r:.60}")
    texts = KeyTexts(_corpus_at(key))
    answer_list, where = answers_of(
        answers, encoding=encoding, choice=choice, answer_at=answer_at, id_at=id_at
    )
    reader = _Reader(texts, FAMILIES[format], occurrences, pieces)
    pages = reader.read_all(answer_list)
    ledger = Ledger(
        tuple(entry for page in pages for entry in page.entries),
        tuple(page.coverage for page in pages),
        tuple(entry for page in pages for entry in page.asides),
    )
    states = {coverage.state for coverage in ledger.documents}
    if not isinstance(answers, Mapping) and "unread" in states and "read" not in states:
        raise _unreadable_error(ledger, answer_list, format, where)
    if not pages and answer_list:
        raise _unknown_error(reader.unknown, texts, where)
    corpus = _corpus_of(pages, texts.key, name or where, ledger)
    counts = reader.several, reader.cut, len(texts.identifiers)
    remarks = Remarks(name or where, occurrences, reader.unknown, reader.twice, *counts, pieces)
    notices = (*about_records(answer_list, name or where, choice), *notices_of(corpus, remarks))
    return corpus.with_details(notices=notices)


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
    tried += [f"lists in {name}" for name in FAMILIES[format] if name in _WEIGHTS]
    share = f"{ledger.unclear / max(ledger.written, 1):.0%} unclear"
    return InputError(
        "no mentions could be read from the answers",
        file=where,
        found=f"{excerpt(clean(answers[0].text).strip(), 60)}, {share}",
        expected="; ".join(tried),
        fix="name the format if you know better, or ask the model again",
    )


def _unknown_error(unknown: Sequence[str], texts: KeyTexts, where: str) -> InputError:
    return InputError(
        "no answer is about a document of the key",
        file=where,
        found=", ".join(map(excerpt, unknown[:3])),
        expected=", ".join(f"‘{identifier}’" for identifier in texts.identifiers[:3]),
        fix="use the ids of the key's documents for answers",
    )


_PIECE = re.compile(r"(.*)(?:#(\d{1,6})/(\d{1,6})|_(\d{1,6})_(\d{1,6}))", re.DOTALL)


@dataclass(slots=True)
class _Job:
    """An answer, the documents of the key that it is for, and which piece of one it is about."""

    answer: Answer
    text: str
    documents: list[int] = field(default_factory=list)
    piece: int = 0


@dataclass(slots=True)
class _Reader:
    """Reads answers against the texts of a key, and remembers what is odd about them.

    `unknown` are answers for no document, `twice` documents with a second one, `several` counts
    answers about more than one, and `cut` documents that were asked for in pieces.
    """

    texts: KeyTexts
    forms: tuple[str, ...]
    occurrences: str
    pieces: str
    unknown: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    several: int = 0
    cut: int = 0

    def read_all(self, answers: Sequence[Answer]) -> list[Page]:
        """What was written about each document, in the key's order."""
        jobs = [_Job(answer, clean(answer.text)) for answer in answers]
        self._pair(jobs)
        pages: dict[int, list[Page]] = {}
        numbers: dict[int, list[int]] = {}
        for job in sorted(jobs, key=lambda job: job.piece):
            for index, page in self._read_job(job):
                if job.piece in numbers.setdefault(index, []) or (numbers[index] and not job.piece):
                    self.twice.append(page.document.identifier)
                    continue
                numbers[index].append(job.piece)
                pages.setdefault(index, []).append(page)
        self.cut = sum(len(parts) > 1 for parts in pages.values())
        apart = self.pieces == "apart"
        ordered = [pages[index] for index in sorted(pages)]
        return [_join(parts, apart) if len(parts) > 1 else parts[0] for parts in ordered]

    def _read_job(self, job: _Job) -> Iterator[tuple[int, Page]]:
        if len(job.documents) > 1:
            self.several += 1
            convention = self._usual(job.text)
            parsed = CONVENTIONS[convention].read(hide_escapes(job.text))
            for index, part in _cut(parsed, job.documents, self.texts):
                document = self.texts.document(index)
                yield index, self._finish(self._tagged(document, part, convention), job)
        for index in job.documents[:1] if len(job.documents) == 1 else ():
            yield index, self._finish(self._best(self.texts.document(index), job.text), job)

    def _finish(self, page: Page, job: _Job) -> Page:
        """The page with what is quoted in the answer besides, and the state of the answer."""
        text, page.coverage = job.text, replace(page.coverage, finish=job.answer.finish)
        loose = [] if page.is_copy and page.entries else list(find_loose(text))
        is_plain_copy = not page.entries and self._is_copy(page.document, text)
        n_quoted = len(list(find_loose(" ".join(page.document.words))))  # in the text itself
        is_marked = re.search(r"\[|<\w+>", text) or len(loose) > n_quoted + _FEW
        if not is_plain_copy or is_marked:
            page.add_loose(loose, text)
        state = _state_of(page, job, is_plain_copy)
        if state == "unread" and not page.entries:
            page.add_loose([Unit(text.strip()[:60])], text)
        page.coverage = replace(page.coverage, state=state)
        return page

    def _is_copy(self, document: KeyDocument, text: str) -> bool:
        return bool(text.strip()) and self._tagged(document, TaggedText(text, []), "").is_copy

    def _tagged(self, document: KeyDocument, parsed: TaggedText, convention: str) -> Page:
        return read_tagged(document, parsed, convention)

    def _usual(self, text: str) -> str:
        """The convention of which a text has most tags."""
        names = [name for name in self.forms if name in CONVENTIONS] or list(CONVENTIONS)
        return max(names, key=lambda name: CONVENTIONS[name].count(text))

    def _best(self, document: KeyDocument, text: str) -> Page:
        """The reading that places most, of all forms that are tried; the first of equals."""
        size, most = len(document.words), 0.0
        best = Page(document, Coverage(document.identifier, "", size, missing=size))
        for variant in _variants(text):
            for form, spelling in self._tagged_forms(variant):
                if CONVENTIONS[form].count(spelling) > most:
                    parsed = CONVENTIONS[form].read(spelling)
                    page = self._tagged(document, parsed, form)
                    if page.value > most or (page.mentions and not best.entries):
                        best, most = page, max(page.value, 0.0)
            for form, weight in _WEIGHTS.items():
                signs = weight * sum(1 for _ in _SIGNS.finditer(variant))
                if form not in self.forms or signs <= most:
                    continue
                blocks = read_units(TREES[form](variant), document)
                if weight * sum(1 + bool(u.antecedent) for block in blocks for u in block) <= most:
                    continue
                page = read_list(document, blocks, form, self.occurrences)
                value = weight * page.value
                if value > most or (page.entries and not best.entries and form != "lines"):
                    best, most = page, max(value, 0.0)
        return best

    def _tagged_forms(self, text: str) -> list[tuple[str, str]]:
        """The conventions of tags, those that are seen most first, and the text without escapes."""
        spellings = dict.fromkeys((hide_escapes(text), hide_escapes(unescape(text))))
        forms = [(f, spelling) for f in self.forms if f in CONVENTIONS for spelling in spellings]
        return sorted(forms, key=lambda pair: -CONVENTIONS[pair[0]].count(pair[1]))

    # -------------------------------------------------------------- documents

    def _pair(self, jobs: Sequence[_Job]) -> None:
        """Find the documents of every answer, by id, else by content."""
        for job in jobs:
            if job.answer.identifier is not None:
                self._find(job, job.answer.identifier)
        answered = {index for job in jobs for index in job.documents}
        free = [index for index in range(len(self.texts.identifiers)) if index not in answered]
        for job in jobs:
            if free and not job.piece:
                self._find_by_content(job, free)
            if not job.documents and len(self.texts.identifiers) == len(jobs) == 1:
                job.documents = [0]
            if not job.documents:
                self.unknown.append(job.answer.identifier or job.text.strip()[:40])
            free = [index for index in free if index not in job.documents]

    def _find(self, job: _Job, identifier: str) -> None:
        index = self.texts.find(identifier)
        piece = _PIECE.fullmatch(identifier) if index is None else None
        if piece is not None and (index := self.texts.find(piece[1])) is not None:
            job.piece = int(piece[2] or piece[4])
        job.documents = [] if index is None else [index]

    def _find_by_content(self, job: _Job, free: Sequence[int]) -> None:
        convention = CONVENTIONS[self._usual(job.text)]
        atoms = atoms_of_text(convention.read(job.text).text, self.texts.vocabulary)
        fitting = [i for i, *_ in self.texts.find_by_text(atoms, [*job.documents, *free])]
        if set(job.documents) <= set(fitting):
            job.documents = fitting
        if not job.documents and not convention.count(job.text):
            strings = re.split(r"[\"“”„«»「」\[\]{}()<>|;:,\n→]+", job.text)
            job.documents = self.texts.find_by_strings(strings, free)[:1]


_FEW = 3  # quotes that a copy of a text may add
_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)


def _variants(text: str) -> list[str]:
    """The whole answer, and what its fences enclose, if it has any; all stays in its place."""
    fences = [match.span() for match in _FENCE.finditer(text)]
    if not fences:
        return [text]
    edges = [place for fence in fences for place in fence]
    edges += [len(text)] if len(fences) % 2 else []
    inside, last = "", 0
    for low, high in zip(edges[1::4], edges[2::4], strict=False):
        inside += re.sub(r"\S", " ", text[last:low]) + text[low:high]
        last = high
    unfenced = _FENCE.sub(lambda match: " " * len(match[0]), text)
    return [inside + re.sub(r"\S", " ", text[last:]), unfenced]


_SORRY = re.compile(
    r"\b(?:sorry|apologi[sz]e|cannot|can['’]t|unable|won['’]t|lo siento|désolée?|leider)\b"
    r"|抱歉|无法|申し訳|не могу",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"(?:\s|[\[\]{}(),:]|\"[\w ]*\"(?=\s*:)|```\w*)*")


def _state_of(page: Page, job: _Job, is_plain_copy: bool) -> str:
    """What became of an answer: the first rule that holds."""
    states = [entry.state for entry in page.entries]
    if job.answer.finish in ("refusal", "error"):
        return "refused"
    if not states and _SORRY.search(job.text[:300]):
        return "refused"
    if _NOTHING.fullmatch(job.text) or (not states and is_plain_copy):
        return "empty"
    is_unread = 2 * states.count("unclear") > len(states)
    return "unread" if not states or is_unread else "read"


def _join(pages: Sequence[Page], apart: bool) -> Page:
    """The pages of the pieces of a document as one; `apart` keeps their entities so."""
    covers = [page.coverage for page in pages]
    sums = {n: sum(getattr(c, n) for c in covers) for n in ("copied", "changed", "added")}
    missing = max(covers[0].tokens - sums["copied"] - sums["changed"], 0)
    states = sorted((c.state for c in covers), key=lambda state: state != "read")
    finish = next(filter(None, (c.finish for c in covers)), "")
    reached = max(c.reached for c in covers)
    cover = replace(covers[0], **sums, reached=reached, finish=finish, state=states[0])
    joined = Page(pages[0].document, replace(cover, missing=missing if sums["copied"] else 0))
    for number, page in enumerate(pages, start=1):
        prefix = f"{number}:" if apart else ""
        joined.entries += [replace(e, entity=prefix + e.entity) for e in page.entries]
        joined.asides += page.asides
        joined.mentions |= {(span, prefix + name): None for span, name in page.mentions}
    return joined


def _cut(
    written: TaggedText, documents: Sequence[int], texts: KeyTexts
) -> list[tuple[int, TaggedText]]:
    """An answer with several documents in it, cut between them."""
    atoms = atoms_of_text(written.text, texts.vocabulary)
    ranges = texts.find_by_text(atoms, documents)
    pieces: list[tuple[int, TaggedText]] = []
    low = 0
    for (index, _, last), following in zip(ranges, [*ranges[1:], None], strict=True):
        high = len(written.text)
        if following is not None:
            end, start = int(atoms.end[last]), int(atoms.start[following[1]])
            newline = written.text.rfind("\n", end, max(start, end))
            high = newline if newline >= 0 else (end + start) // 2
        inside = [
            replace(unit, chars=(unit.chars[0] - low, min(unit.chars[1], high) - low))
            for unit in written.mentions
            if low <= unit.chars[0] < high
        ]
        pieces.append((index, TaggedText(written.text[low:high], inside)))
        low = max(low, high)
    return pieces


def _corpus_of(pages: Sequence[Page], key: Corpus, name: str, ledger: Ledger) -> Corpus:
    """The placed mentions on the key's tokens, and the ledger."""
    numbers: dict[tuple[int, str], int] = {}
    rows = [
        (place, start, end, numbers.setdefault((place, entity), len(numbers)))
        for place, page in enumerate(pages)
        for (start, end), entity in page.mentions
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    chosen = np.array([page.document.index for page in pages], dtype=np.int64)
    corpus = assemble(
        documents=tuple(key.documents[index] for index in chosen.tolist()),
        mention_document=table[:, 0].copy(),
        start=table[:, 1].copy(),
        end=table[:, 2].copy(),
        entity=table[:, 3].copy(),
        tokens=select_tokens(key.tokens, chosen) if key.tokens is not None else None,
        name=name,
    )
    return corpus.with_details(names=[entity for _, entity in numbers], ledger=ledger)
