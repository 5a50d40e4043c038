"""Answers read against a key: convention, document, placement, and the ledger of it all."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from corefeval.diagnostics import InputError, UsageError, excerpt
from corefeval.formats.answers.conventions import CONVENTIONS
from corefeval.formats.answers.documents import KeyDocument, KeyTexts
from corefeval.formats.answers.json_lists import Listed, read_json
from corefeval.formats.answers.ledgers import Remarks, notices_of
from corefeval.formats.answers.lists import list_counts, read_lines, read_questions
from corefeval.formats.answers.placing import EQUAL, Laid, Projector, lay
from corefeval.formats.answers.records import Answer, about_records, answers_of, join_pieces
from corefeval.formats.answers.strings import Chooser, KeyText
from corefeval.formats.answers.tags import TaggedText
from corefeval.formats.answers.text import Atoms, atoms_of_text, clean, fold_text
from corefeval.model import Corpus, select_tokens
from corefeval.model.construction import assemble
from corefeval.model.ledger import Coverage, Entry, Ledger, Span, State

Written = TaggedText | list[Listed]
_LONG = 2000  # characters of a mention that are kept in the ledger

LISTS = {"json": read_json, "lines": read_lines, "qa": read_questions}
# What a format stands for: the conventions to choose from.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "llm": (*CONVENTIONS, *LISTS),
    "llm-bracket": ("bracket", "number"),
    "llm-xml": ("xml", "named"),
    **{
        f"llm-{name}": (name,)
        for name in (*CONVENTIONS, *LISTS)
        if name not in ("bracket", "number", "xml", "named")
    },
}


def convention_counts(text: str, among: Sequence[str]) -> dict[str, int]:
    """How many well-formed mentions a text has in each of some conventions."""
    counts = {name: CONVENTIONS[name].count(text) for name in among if name in CONVENTIONS}
    listed = dict(list_counts(text)) if set(among) & set(LISTS) else {}
    return {**counts, **{name: n for name, n in listed.items() if name in among}}


def find_convention(counts: Mapping[str, int]) -> str | None:
    """The convention of which most was seen; the first of equals, None where nothing was seen."""
    best = max(counts, key=lambda name: counts[name], default=None)
    return best if best is not None and counts[best] else None


@dataclass(slots=True)
class Page:
    """What was read for one document: a row of the ledger for each mention, and the mentions."""

    document: KeyDocument
    coverage: Coverage
    entries: list[Entry] = field(default_factory=list)
    mentions: dict[tuple[Span, str], None] = field(default_factory=dict)

    def add(
        self, written: str, entity: str, spans: Sequence[Span], why: str, where: int, changed: bool
    ) -> None:
        """A written mention with the words it got: none, one, or several."""
        spans = [self.document.shift(span) for span in spans]
        new = [(span, entity) for span in spans if (span, entity) not in self.mentions]
        self.mentions.update(dict.fromkeys(new))
        state: State = "lost"
        if spans:
            state = ("changed" if changed else "placed") if new else "repeated"
        start, end = spans[0] if new else (-1, -1)
        name = self.document.identifier
        self.entries.append(Entry(name, written, entity, start, end, state, why, where))

    def mark_copies(self) -> None:
        """Call lost mentions repeated that are copies of placed ones, as in a loop."""
        placed = {
            (entry.entity, fold_text(entry.written))
            for entry in self.entries
            if entry.state != "lost"
        }
        for row, entry in enumerate(self.entries):
            if entry.state == "lost" and (entry.entity, fold_text(entry.written)) in placed:
                self.entries[row] = replace(entry, state="repeated", why="a second copy")


@dataclass(slots=True)
class AnswerReader:
    """Reads answers against the texts of a key."""

    texts: KeyTexts
    occurrences: str = "in-order"
    unswept: list[str] = field(default_factory=list)  # documents with too many places to weigh

    def read_all(self, jobs: Iterable[_Job]) -> tuple[list[Page], list[str]]:
        """What was written about each document, in the key's order, and ids of second answers."""
        pages: dict[int, Page] = {}
        twice: list[str] = []
        for job in jobs:
            for index, written in _cut(job, self.texts):
                document = self.texts.document(index)
                if index in pages:
                    twice.append(document.identifier)
                    continue
                if isinstance(written, TaggedText):
                    page = self._read_tagged(document, written, job.convention)
                else:
                    page = self._read_list(document, written, job.convention)
                page.coverage = replace(page.coverage, finish=job.answer.finish)
                pages[index] = page
        return [pages[index] for index in sorted(pages)], twice

    def _read_tagged(self, document: KeyDocument, parsed: TaggedText, convention: str) -> Page:
        """Mentions in a copied text."""
        cuts, key_numbers = parsed.cuts, document.atoms.numbers
        known_numbers = set(key_numbers.tolist()) if cuts else set[int]()
        atoms = atoms_of_text(parsed.text, self.texts.vocabulary, cuts, known_numbers)
        laid = lay(atoms.numbers, key_numbers, self.texts.vocabulary.words)
        places = Projector(atoms, document.atoms, laid, self.texts.vocabulary).place(
            parsed.mentions
        )
        page = Page(document, _coverage(document, atoms, laid, convention))
        for mention, place in zip(parsed.mentions, places, strict=True):
            why = ", ".join(dict.fromkeys(filter(None, (mention.why, place.why))))
            written = " ".join(
                parsed.text[mention.start : min(mention.end, mention.start + _LONG)].split()
            )
            spans = [(place.start, place.end)] if place.is_placed else []
            page.add(written, mention.entity, spans, why, mention.where, bool(why))
        page.mark_copies()
        return page

    def _read_list(self, document: KeyDocument, listed: Sequence[Listed], convention: str) -> Page:
        """Mentions as strings."""
        size = len(document.words)
        page = Page(document, Coverage(document.identifier, convention, size, reached=size))
        vocabulary = self.texts.vocabulary
        text = KeyText(document.words, document.atoms, vocabulary, document.sentence_of)
        chooser = Chooser(text, listed, self.occurrences)
        chosen = chooser.choose()
        self.unswept += [] if chooser.is_swept else [document.identifier]
        for mention, places in zip(listed, chosen, strict=True):
            spans = [(place.start, place.end) for place in places if place.is_placed]
            further_places = f"and {len(spans) - 1} more places" if len(spans) > 1 else ""
            why = ", ".join(filter(None, (places[0].why, further_places)))
            page.add(mention.text, mention.entity, spans, why, mention.where, bool(places[0].why))
        best = _best_places(page, chooser.places)
        for row, every in enumerate(chooser.places):
            entry = page.entries[row]
            page.entries[row] = replace(entry, places=max(len(every), 1), best=best.get(row))
        return page


def _best_places(page: Page, places: Sequence[Sequence[Span]]) -> dict[int, Span]:
    """For strings with several places the ones that the key would like best.

    Each cluster takes after the entity of the key that has places for most of its strings.
    """
    document = page.document
    clusters: dict[str, list[int]] = defaultdict(list)
    for row, entry in enumerate(page.entries):
        if entry.state in ("placed", "changed"):
            clusters[entry.entity].append(row)
    by_entity: dict[int, dict[int, list[Span]]] = {}  # the key's, for each list of places
    for every in places:
        if id(every) not in by_entity:
            spans_of_entity = by_entity[id(every)] = defaultdict(list)
            for span in map(document.shift, every):
                if span in document.spans:
                    spans_of_entity[document.spans[span]].append(span)
    best: dict[int, Span] = {}
    taken: set[Span] = set()
    for rows in clusters.values():
        votes = Counter(entity for row in rows for entity in by_entity[id(places[row])])
        liked = votes.most_common(1)[0][0] if votes else -1
        for row in rows:
            spans = by_entity[id(places[row])].get(liked, ())
            free = [span for span in spans if span not in taken] if len(places[row]) > 1 else []
            if free:
                taken.add(free[0])
                best[row] = free[0]
    return best


def _coverage(document: KeyDocument, atoms: Atoms, laid: Laid, convention: str) -> Coverage:
    """How much of a document a text has."""
    size = len(document.words)
    is_laid = laid.to_key >= 0
    tokens = document.atoms.start[laid.to_key[is_laid]]
    pairs = np.bincount(tokens, minlength=size)
    equal = np.bincount(tokens[laid.kind[is_laid] == EQUAL], minlength=size)
    atom_counts = np.bincount(document.atoms.start, minlength=size)
    copied = int(((equal == atom_counts) & (atom_counts > 0)).sum())
    touched = int((pairs > 0).sum())
    return Coverage(
        document.identifier,
        convention,
        size,
        copied,
        touched - copied,
        int(len(atoms) - is_laid.sum()),
        size - touched,
        int(tokens.max()) + 1 if tokens.size else 0,
    )


@dataclass(slots=True)
class _Job:
    """An answer, how it is written, and the documents of the key that it is for."""

    answer: Answer
    counts: dict[str, int]
    text: str
    convention: str = ""
    written: Written = field(default_factory=list)
    documents: list[int] = field(default_factory=list)


def read_answers(
    answers: object,
    key: Corpus | str | os.PathLike[str],
    *,
    format: str = "llm",
    occurrences: str = "in-order",
    choice: int = 1,
    answer_at: str | None = None,
    id_at: str | None = None,
    encoding: str = "utf-8",
    name: str = "",
) -> Corpus:
    """Read answers of language models as a corpus on the key's tokens, with a `ledger` of mentions.

    `key` is a corpus, or the path of one. `answers` is a path (JSON lines with ids and answers,
    records of chat interfaces, a folder of texts named by document, one text) or a mapping from
    document ids to texts. `format` is `llm`, which finds the convention, or one of them, such
    as `llm-markdown`. `occurrences` says which place is meant by a listed string that has several:
    the one that fits the order of the list (`in-order`), the `first`, or `all`. `choice` is which
    of several answers to a prompt counts. `answer_at` and `id_at` are paths in JSON records of an
    unknown kind, such as `turns[-1].text`.

    >>> import corefeval
    >>> key = corefeval.read(corefeval.example("key"))
    >>> words = " ".join(key[0].words)
    >>> read_answers({str(key[0].id): f"[e1 {words}]"}, key).ledger
    <Ledger: 1 written, 1 placed (0 changed), 0 repeated, 0 lost>
    """
    if format not in FAMILIES:
        raise UsageError(
            f"there is no format {format!r} of answers: there are {', '.join(FAMILIES)}"
        )
    if occurrences not in ("in-order", "first", "all"):
        raise UsageError(f"occurrences are in-order, first or all, not {occurrences!r:.60}")
    texts = KeyTexts(_corpus_at(key))
    at = {"answer_at": answer_at, "id_at": id_at}
    answer_list, where = answers_of(answers, encoding=encoding, choice=choice, **at)
    jobs = _jobs_of(join_pieces(answer_list, texts), FAMILIES[format])
    unknown = _pair(jobs, texts)
    reader = AnswerReader(texts, occurrences)
    pages, twice = reader.read_all(jobs)
    if not isinstance(answers, Mapping) and not _can_be_read(jobs, pages):
        raise _unreadable_error(jobs, format, where)
    if not pages and jobs:
        raise _unknown_error(unknown, texts, where)
    corpus = _corpus_of(pages, texts.key, name or where)
    several = sum(len(job.documents) > 1 for job in jobs)
    remarks = Remarks(name or where, occurrences, unknown, twice, reader.unswept, several)
    notices = (*about_records(answer_list, name or where, choice), *notices_of(corpus, remarks))
    return corpus.with_details(notices=notices)


def _corpus_at(key: object) -> Corpus:
    if isinstance(key, str | os.PathLike):
        from corefeval.formats import read

        return read(key)
    if not isinstance(key, Corpus):
        raise UsageError(f"the key of answers is a corpus or its file, not {key!r:.60}")
    return key


def _jobs_of(answers: Iterable[Answer], conventions: Sequence[str]) -> list[_Job]:
    """The answers read, each in the convention that most have, unless it has nothing of it."""
    jobs = []
    total: Counter[str] = Counter()
    for answer in answers:
        text = clean(answer.text)
        jobs.append(_Job(answer, convention_counts(text, conventions), text))
        total.update(jobs[-1].counts)
    usual = find_convention(total) or conventions[0]
    for job in jobs:
        job.convention = usual if job.counts.get(usual) else find_convention(job.counts) or usual
        read = LISTS.get(job.convention) or CONVENTIONS[job.convention].read
        job.written = read(job.text)
    return jobs


_COPIED = 0.3  # the share of a document that a text has which is a copy of it, though without tags


def _can_be_read(jobs: Sequence[_Job], pages: Iterable[Page]) -> bool:
    """Whether answers say anything: a mention, that there is none, or a text without mentions.

    A model that refuses, or has nothing to list, has answered; prose about nothing is another file.
    """
    return any(any(job.counts.values()) or job.answer.says_nothing for job in jobs) or any(
        page.coverage.copied > _COPIED * page.coverage.tokens for page in pages
    )


def _unreadable_error(jobs: Sequence[_Job], format: str, where: str) -> InputError:
    tried = [f"{CONVENTIONS[n].example} (llm-{n})" for n in FAMILIES[format] if n in CONVENTIONS]
    tried += [f"lists (llm-{name})" for name in FAMILIES[format] if name in LISTS]
    return InputError(
        "no mentions could be read from the answers",
        file=where,
        found=excerpt(jobs[0].text.strip(), 60) if jobs else "nothing",
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


def _pair(jobs: Sequence[_Job], texts: KeyTexts) -> list[str]:
    """Find the documents of every answer, by id, else by content; names of those that have none."""
    for job in jobs:
        if job.answer.identifier is not None:
            index = texts.find(job.answer.identifier)
            job.documents = [] if index is None else [index]
    answered = {index for job in jobs for index in job.documents}
    free = [index for index in range(len(texts.identifiers)) if index not in answered]
    unknown = []
    for job in jobs:
        if free and isinstance(job.written, TaggedText):
            atoms = atoms_of_text(job.written.text, texts.vocabulary)
            fitting = [index for index, *_ in texts.find_by_text(atoms, [*job.documents, *free])]
            job.documents = fitting if set(job.documents) <= set(fitting) else job.documents
        elif free and not job.documents and isinstance(job.written, list):
            job.documents = texts.find_by_strings([item.text for item in job.written], free)[:1]
        if not job.documents and len(texts.identifiers) == len(jobs) == 1:
            job.documents = [0]
        if not job.documents:
            unknown.append(job.answer.identifier or job.text.strip()[:40])
        free = [index for index in free if index not in job.documents]
    return unknown


def _cut(job: _Job, texts: KeyTexts) -> list[tuple[int, Written]]:
    """An answer with several documents in it, cut between them; else the answer as it is."""
    written = job.written
    if len(job.documents) < 2 or not isinstance(written, TaggedText):
        return [(index, written) for index in job.documents]
    atoms = atoms_of_text(written.text, texts.vocabulary)
    ranges = texts.find_by_text(atoms, job.documents)
    pieces: list[tuple[int, Written]] = []
    low = 0
    for (index, _, last), following in zip(ranges, [*ranges[1:], None], strict=True):
        high = len(written.text)
        if following is not None:
            end, start = int(atoms.end[last]), int(atoms.start[following[1]])
            newline = written.text.rfind("\n", end, max(start, end))
            high = newline if newline >= 0 else (end + start) // 2
        inside = [
            replace(mention, start=mention.start - low, end=min(mention.end, high) - low)
            for mention in written.mentions
            if low <= mention.start < high
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
    entries = tuple(entry for page in pages for entry in page.entries)
    ledger = Ledger(entries, tuple(page.coverage for page in pages))
    return corpus.with_details(names=[entity for _, entity in numbers], ledger=ledger)
