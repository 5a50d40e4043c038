"""Answers read against a key: the form in which they are written, their documents, the ledger."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.formats.answers.documents import KeyTexts
from corefeval.formats.answers.grammar import read_units
from corefeval.formats.answers.ledgers import Remarks, notices_of
from corefeval.formats.answers.lookup import KeyDocument
from corefeval.formats.answers.pages import NO_FORM, Page, read_list, read_tagged
from corefeval.formats.answers.records import Answer, about_records, answers_of
from corefeval.formats.answers.shapes import TREES
from corefeval.formats.answers.tags import TaggedText
from corefeval.formats.answers.text import atoms_of_text, clean, hide_escapes, unescape
from corefeval.formats.answers.units import Unit
from corefeval.model import Corpus, select_tokens
from corefeval.model.construction import assemble
from corefeval.model.ledger import Coverage, Ledger

# Forms that prose may look like count less, and those that have others as their cases.
_VAGUE = {"lines": 0.8, "resolved": 0.8, "inside": 0.95, "behind": 0.95, "leading": 0.95}
_SIGNS = re.compile(r"[,;，；、\n→⇒/=|\t\"“„«「'<]|->|\Z")  # a list has one for each of its items
# What a format stands for: the forms to choose from.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "llm": (*CONVENTIONS, *TREES),
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
    remarks = Remarks(name or where, occurrences, pieces, len(ids))
    pages = _Reader(texts, FAMILIES[format], remarks).read_all(listed)
    corpus = _corpus_of(pages, texts.key, remarks.name)
    states = {page.coverage.state for page in pages}
    if not isinstance(answers, Mapping) and "unread" in states and "read" not in states:
        raise _unreadable_error(corpus, listed, format, where)
    if not pages and listed:
        raise _unknown_error(remarks.unknown, texts, where)
    notices = (*about_records(listed, remarks.name, choice), *notices_of(corpus, remarks))
    return corpus.with_details(notices=notices)


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
    corpus: Corpus, answers: Sequence[Answer], format: str, where: str
) -> InputError:
    tried = [f"{CONVENTIONS[n].example} (llm-{n})" for n in FAMILIES[format] if n in CONVENTIONS]
    tried += [f"lists written as {name}" for name in FAMILIES[format] if name in TREES]
    counts = corpus.ledger.counts if corpus.ledger else {}
    share = counts["unclear"] / max(sum(counts.values()), 1)
    beginning = excerpt(clean(answers[0].text).strip(), 60)
    return InputError(
        "no mentions could be read from the answers",
        file=where,
        found=f"{beginning}; {share:.0%} of what was written is unclear",
        expected="; ".join(tried),
        fix="check that each answer has the id of its own document; name the format with "
        "--response-format; or ask the model again",
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
    """Reads answers against the texts of a key, and remarks what is odd about them."""

    texts: KeyTexts
    forms: tuple[str, ...]
    remarks: Remarks

    def read_all(self, answers: Sequence[Answer]) -> list[Page]:
        """What was written about each document, in the key's order."""
        jobs = [_Job(answer, clean(answer.text)) for answer in answers]
        self._pair(jobs)
        pages = defaultdict[int, dict[int, Page]](dict)  # by document and piece
        for job in sorted(jobs, key=lambda job: job.piece):
            for page in self._read_job(job):
                parts = pages[page.document.index]
                if job.piece in parts or (parts and not job.piece):
                    self.remarks.twice.append(page.document.identifier)
                else:
                    parts[job.piece] = page
        self.remarks.cut = sum(len(parts) > 1 for parts in pages.values())
        apart = self.remarks.pieces == "apart"
        return [_join([*pages[index].values()], apart) for index in sorted(pages)]

    def _read_job(self, job: _Job) -> Iterator[Page]:
        documents = [self.texts.document(index) for index in job.documents]
        if len(documents) == 1:
            yield self._finish(self._best(documents[0], job.text), job)
        elif documents:
            self.remarks.several += 1
            convention = self._usual(job.text)
            parsed = CONVENTIONS[convention].read(hide_escapes(job.text))
            for index, part in _cut(parsed, job.documents, self.texts):
                page = read_tagged(self.texts.document(index), part, convention)
                yield self._finish(page, job)

    def _finish(self, page: Page, job: _Job) -> Page:
        """The page with what is quoted in the answer besides, and the state of the answer."""
        text, document, size = job.text, page.document, len(page.document.words)
        is_sure = page.entries and page.coverage.convention != "lines"
        is_plain_copy = False
        if text.strip() and not is_sure and len(page.mentions) <= _SPARSE * size:
            rest = read_tagged(document, TaggedText(page.blank(text), []), "")
            if rest.is_copy and page.entries:  # the text in other words, and no list
                page = Page(document, page.coverage)
            is_plain_copy = rest.is_copy and rest.coverage.added <= _ADDED * size
        lines = page.unread_lines(text) if page.entries else ""
        if lines.strip():
            page.add_other(self._best(document, lines))
        page.add_loose(text, is_copy=page.is_copy or is_plain_copy)
        state = _state_of(page, job, is_plain_copy)
        if state == "unread" and not page.entries:
            page.add(Unit(text.strip()[:60], state="unclear", why=NO_FORM))
        page.coverage = replace(page.coverage, finish=job.answer.finish, state=state)
        if self._is_foreign(page, text):
            self.remarks.foreign.append(document.identifier)
        return page

    def _is_foreign(self, page: Page, text: str) -> bool:
        """Whether an answer is no copy of its document, which lacks most of its mentions."""
        document = page.document
        absent = sum(not (e.is_placed or document.stands(e.written)) for e in page.entries)
        if absent < _FEW or 2 * absent <= len(page.entries):
            return False
        atoms = atoms_of_text(text, self.texts.vocabulary)
        return not self.texts.find_by_text(atoms, [document.index])

    def _usual(self, text: str) -> str:
        """The convention of which a text has most tags."""
        names = [name for name in self.forms if name in CONVENTIONS] or list(CONVENTIONS)
        return max(names, key=lambda name: CONVENTIONS[name].count(text))

    def _best(self, document: KeyDocument, text: str) -> Page:
        """The reading that places most, of all forms that are tried; the first of equals."""
        size, most = len(document.words), 0.0
        best = Page(document, Coverage(document.identifier, "", size, missing=size))
        for variant in _variants(text):
            for limit, form, spelling in self._forms(variant):
                if most >= _NEARLY_ALL * limit:  # it cannot place more than it has signs
                    continue
                if form in CONVENTIONS:
                    page = read_tagged(document, CONVENTIONS[form].read(spelling), form)
                    is_sure = bool(page.mentions)
                else:
                    blocks = read_units(TREES[form](spelling), document)
                    page = read_list(document, blocks, form, self.remarks.occurrences)
                    if len(page.mentions) > _MOST * size and len(self.forms) > 1:  # words in rows
                        continue
                    is_sure = bool(page.entries) and form != "lines"
                value = _VAGUE.get(form, 1.0) * page.value
                if value > most or (is_sure and not best.entries):
                    best, most = page, max(value, 0.0)
        return best

    def _forms(self, text: str) -> Iterator[tuple[float, str, str]]:
        """The forms that a text may have with how often they are seen: tags, the most ones first.

        Tags may be escaped, or be escaped signs of the text.
        """
        literal = text.replace("\\", r"\\")  # a backslash can be a word of the text
        spellings = dict.fromkeys(map(hide_escapes, (text, unescape(text), literal)))
        tags = [
            (_VAGUE.get(form, 1.0) * CONVENTIONS[form].count(spelling), form, spelling)
            for form in self.forms if form in CONVENTIONS for spelling in spellings
        ]  # fmt: skip
        yield from sorted(tags, key=lambda seen: (seen[1] in _VAGUE, -seen[0]))
        signs = sum(1 for _ in _SIGNS.finditer(text))
        trees = [form for form in TREES if form in self.forms]
        yield from ((_VAGUE.get(form, 1.0) * signs, form, text) for form in trees)

    # -------------------------------------------------------------- documents

    def _pair(self, jobs: Sequence[_Job]) -> None:
        """Find the documents of every answer, by id, else by content."""
        for job in jobs:
            if job.answer.identifier is not None:
                self._find(job, job.answer.identifier)
        answered = {index for job in jobs for index in job.documents}
        free = [index for index in range(len(self.texts.identifiers)) if index not in answered]
        for job in jobs:
            has_id = bool(job.documents)
            if free and not job.piece:
                self._find_by_content(job, free)
            if not job.documents and len(self.texts.identifiers) == len(jobs) == 1:
                job.documents = [0]
            if not job.documents:
                self.remarks.unknown.append(job.answer.identifier or job.text.strip()[:40])
            elif job.answer.identifier is not None and not has_id:
                self.remarks.guessed.append(job.answer.identifier)
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


_FEW = 3  # mentions that are not in a document, as any answer may have them
_SPARSE = 0.1  # mentions for each word of the document: a copy with no more of them is no list
_ADDED = 0.3  # words for each word of the document: a copy with more of them is no plain one
# A form is not tried if this share of its signs is placed already: what is left of them are
# mentions that the answer changed beyond recognition, which no form would place.
_NEARLY_ALL = 0.9
_MOST = 0.7  # mentions for each word of the document
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
    if len(pages) == 1:
        return pages[0]
    covers = [page.coverage for page in pages]
    sums = {n: sum(getattr(c, n) for c in covers) for n in ("copied", "changed", "added")}
    missing = max(covers[0].tokens - sums["copied"] - sums["changed"], 0) if sums["copied"] else 0
    joined = Page(pages[0].document, replace(
        covers[0], **sums, missing=missing,
        reached=max(cover.reached for cover in covers),
        finish=next(filter(None, (cover.finish for cover in covers)), ""),
        state=min((cover.state for cover in covers), key=lambda state: state != "read"),
    ))  # fmt: skip
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


def _corpus_of(pages: Sequence[Page], key: Corpus, name: str) -> Corpus:
    """The placed mentions on the key's tokens, and the ledger."""
    numbers: dict[tuple[int, str], int] = {}
    rows = [
        (place, start, end, numbers.setdefault((place, entity), len(numbers)))
        for place, page in enumerate(pages)
        for (start, end), entity in page.mentions
    ]
    document, start, end, entity = np.array(rows, dtype=np.int64).reshape(-1, 4).T.copy()
    chosen = np.array([page.document.index for page in pages], dtype=np.int64)
    corpus = assemble(
        documents=tuple(key.documents[index] for index in chosen.tolist()),
        mention_document=document,
        start=start,
        end=end,
        entity=entity,
        tokens=select_tokens(key.tokens, chosen) if key.tokens is not None else None,
        name=name,
    )
    ledger = Ledger(
        tuple(entry for page in pages for entry in page.entries),
        tuple(page.coverage for page in pages),
        tuple(entry for page in pages for entry in page.asides),
    )
    return corpus.with_details(names=[entity for _, entity in numbers], ledger=ledger)
