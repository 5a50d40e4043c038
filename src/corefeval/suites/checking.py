"""A verdict on every file that a suite is made of, before it is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from corefeval.diagnostics import CorefEvalError, Notice, plural, uncollected
from corefeval.display import Row, Tabular, visible
from corefeval.evaluation import read_key, score_whole
from corefeval.linting import Finding, Inspection, inspect
from corefeval.model import Corpus, join
from corefeval.pairing.mismatches import MISMATCH
from corefeval.preparation import prepare_inputs
from corefeval.protocol import Protocol
from corefeval.request import Input, Request
from corefeval.suites.definition import Suite, SuiteCorpus
from corefeval.suites.selection import find_path_problem, one_line, select

Ruling = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The ruling on a file (good, odd or failed), and a text that says why.

    `system` is empty for keys.
    """

    corpus: str
    system: str
    seed: str | None
    file: str
    ruling: Ruling
    text: str

    @property
    def line(self) -> str:
        """The verdict as a line of text."""
        who = f"{self.system}{'' if self.seed is None else f' {self.seed}'} on " * bool(self.system)
        return visible(
            f"{self.ruling:7}  {who or 'key of '}{self.corpus}: {self.file}: {self.text}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class SuiteCheck(Tabular):
    """The verdicts on all files of a suite."""

    verdicts: tuple[Verdict, ...]

    @property
    def has_failed(self) -> bool:
        """Whether any file fails."""
        return any(verdict.ruling == "failed" for verdict in self.verdicts)

    @property
    def summary(self) -> str:
        """How many files, and how many of them fail."""
        times = Counter(verdict.ruling for verdict in self.verdicts)
        counts = f"{plural(times['warning'], 'warning')}, {times['failed']} failed"
        return f"{plural(len(self.verdicts), 'file')}: {times['ok']} ok, {counts}"

    def rows(self) -> list[Row]:
        """One row for each file."""
        names = ("corpus", "system", "seed", "file", "ruling", "text")
        return [{name: getattr(verdict, name) for name in names} for verdict in self.verdicts]

    def __repr__(self) -> str:
        return f"<SuiteCheck of {self.summary}>"


@uncollected()
def check_suite(suite: Suite, *, strict: bool = False, systems: Iterable[str] = ()) -> SuiteCheck:
    """Verdicts on all keys and responses of a suite, or on those of some systems.

    Files with problems that stop scoring or lose mentions fail; with `strict`, so do those with
    problems that change scores silently, such as missing documents.
    """
    chosen = select(suite.check(), [*systems])
    verdicts: list[Verdict] = []
    for corpus in chosen.corpora:
        verdicts += _check_corpus(chosen, corpus, strict)
    return SuiteCheck(tuple(verdicts))


def _check_corpus(suite: Suite, corpus: SuiteCorpus, strict: bool) -> Iterator[Verdict]:
    """The verdicts on a key, and on the responses to it."""
    key: Corpus | None = None
    key_as_scored: Input = None
    problem = find_path_problem(corpus.key)
    if not problem and corpus.features and (problem := find_path_problem(corpus.features)):
        problem = f"{corpus.features}: {problem}"
    ruling: Ruling = "failed"
    if not problem:
        try:
            inspections = _inspect_side(corpus, corpus.key, None, is_key=True)
            # Those who submit responses cannot change a key, so it is never judged strictly.
            ruling, problem = _decide(inspections, strict=False)
            if ruling != "failed":  # no response is compared with a broken key
                key_as_read = _join(inspections)
                key_as_scored = read_key(key_as_read, Request.of(corpus.protocol or None, {}))
                key = key_as_read.with_details(name=corpus.name)
        except CorefEvalError as error:
            key, ruling, problem = None, "failed", one_line(error)
    yield Verdict(corpus.name, "", None, corpus.key, ruling, problem)
    for system in suite.systems:
        if not system.takes_part(corpus.name):
            continue
        for seed in system.seeds or (None,):
            path = system.path(corpus.name, seed)
            decision = _check_response(corpus, path, key, key_as_scored, strict)
            yield Verdict(corpus.name, system.name, seed, path, *decision)


def _check_response(
    corpus: SuiteCorpus, path: str, key: Corpus | None, key_as_scored: Input, strict: bool
) -> tuple[Ruling, str]:
    if problem := find_path_problem(path):
        return "failed", problem
    try:
        return _decide(_inspect_side(corpus, path, key, key_as_scored), strict)
    except CorefEvalError as error:
        return "failed", one_line(error)


def judge(inspections: list[Inspection], key: Input, protocol: Protocol | None) -> list[Inspection]:
    """The inspections of a file or folder, with an error where a protocol cannot score it.

    Without a key it is scored against itself, and by corefeval's own protocol where none is named.
    A protocol that takes no heads from the file does without the warning that there are none.
    """
    inspections = _drop_heads(inspections, protocol)
    if any(item.has_errors or item.corpus is None for item in inspections):
        return inspections
    try:
        _try_scoring(inspections, key, protocol)
    except CorefEvalError as error:
        first, *following = inspections
        refusal = Finding("refused-file", one_line(error), first.file)
        return [replace(first, findings=(refusal, *first.findings)), *following]
    return inspections


def _drop_heads(inspections: list[Inspection], protocol: Protocol | None) -> list[Inspection]:
    """The inspections without warnings of missing heads, where a protocol takes none from files."""
    if protocol is None or (protocol.reads_itself and protocol.match != "exact"):
        return inspections
    return [
        replace(item, findings=tuple(f for f in item.findings if f.kind != "no-heads"))
        for item in inspections
    ]


def _join(inspections: list[Inspection]) -> Corpus:
    corpora = [item.corpus for item in inspections if item.corpus is not None]
    return corpora[0] if len(corpora) == 1 else join(corpora)


def _try_scoring(
    inspections: list[Inspection], key: Input, protocol: Protocol | None
) -> Sequence[Notice]:
    """What is noticed in all that comes before counting; an error if scoring is impossible."""
    request = Request.of(protocol, {}, metrics="muc")
    response: Any = read_key(_join(inspections), request)  # once, also where it is its own key
    scored_key: Any = response if key is None else read_key(key, request)
    if request.protocol.reads_itself:
        from corefeval.emulation.corefud_matching import make_entities
        from corefeval.emulation.corefud_scorer import check_pair

        check_pair(scored_key, response)
        for entities in response.documents.values():
            make_entities(response.file, entities, request.protocol)
        return ()
    if request.protocol.emulates:
        return score_whole(scored_key, response, request).notices
    return prepare_inputs(scored_key, response, request).notices


def _inspect_side(
    corpus: SuiteCorpus,
    path: str,
    key: Corpus | None,
    key_as_scored: Input = None,
    *,
    is_key: bool = False,
) -> list[Inspection]:
    """The inspections of a key or of a response.

    A response is compared with the key only where pairing them raises or notices something, since
    the comparison, which says where, takes longer.
    """
    protocol = Protocol.of(corpus.protocol or None)
    inspect_side = partial(
        inspect,
        path,
        format=corpus.key_format if is_key else corpus.response_format,
        encoding=corpus.encoding,
        word_column=corpus.word_column,
        layer=corpus.key_layer if is_key else corpus.response_layer,
        tokens=protocol.tokens,
        notes=False,
    )
    if key is not None and not protocol.reads_itself and protocol.tokens != "align":
        with suppress(CorefEvalError):
            inspections = inspect_side()
            if not any(item.has_errors for item in inspections) and not any(
                "document" in notice.noun or notice.kind == MISMATCH
                for notice in _try_scoring(inspections, key_as_scored, protocol)
            ):
                return _drop_heads(inspections, protocol)
    return judge(inspect_side(against=key), key_as_scored, protocol)


def _decide(inspections: list[Inspection], strict: bool) -> tuple[Ruling, str]:
    """The ruling on the files of a side, and the kinds of findings with the first one's message."""
    findings = [finding for inspection in inspections for finding in inspection.findings]
    errors = [finding for finding in findings if finding.severity == "error"]
    warnings = [finding for finding in findings if finding.severity == "warning"]
    if not errors and not warnings:
        contents = [
            inspection.contents for inspection in inspections if inspection.contents is not None
        ]
        documents = sum(content.documents for content in contents)
        mentions = sum(content.mentions for content in contents)
        return "ok", f"{plural(documents, 'document')}, {plural(mentions, 'mention')}"
    first = (errors or warnings)[0]
    kinds = Counter(finding.kind for finding in (*errors, *warnings))
    listed = ", ".join(f"{kind} {number}" if number > 1 else kind for kind, number in kinds.items())
    where = f"line {first.line}: " if first.line else ""
    named = f" ({first.document})" if first.document else ""
    ruling: Ruling = "failed" if errors or strict else "warning"
    where = f"the first: {where}" if kinds[first.kind] > 1 else where
    return ruling, f"{listed}; {where}{first.message}{named}"
