"""A verdict on every file that a suite is made of, before it is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from corefeval.checks import split_call
from corefeval.diagnostics import CorefEvalError, Notice, plural, uncollected
from corefeval.display import Record, Row, Tabular, visible
from corefeval.linting import KINDS, Finding, Inspection, inspect
from corefeval.model import Corpus, join
from corefeval.pairing.mismatches import MISMATCH
from corefeval.preparation import prepare_inputs
from corefeval.protocol import MATCHERS, Protocol
from corefeval.request import Input, Request
from corefeval.suites.definition import Suite, SuiteCorpus
from corefeval.suites.selection import find_path_problem, one_line

Ruling = Literal["ok", "warning", "failed"]
_NOTES = {name for name, kind in KINDS.items() if kind.severity == "note"}


@dataclass(frozen=True, slots=True)
class Verdict(Record):
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
        return [verdict.as_dict() for verdict in self.verdicts]

    def __repr__(self) -> str:
        return f"<SuiteCheck of {self.summary}>"


@uncollected()
def check_suite(suite: Suite, *, strict: bool = False) -> SuiteCheck:
    """Verdicts on all keys and responses of a suite.

    Files with problems that stop scoring or lose mentions fail; with `strict`, so do those with
    problems that change scores silently, such as missing documents.
    """
    corpora = suite.check().corpora
    return SuiteCheck(tuple(v for corpus in corpora for v in _check_corpus(suite, corpus, strict)))


def _check_corpus(suite: Suite, corpus: SuiteCorpus, strict: bool) -> list[Verdict]:
    """The verdicts on a key, and on the responses to it.

    A key is scored against itself where no response shows that it can be scored.
    """
    protocol, responses = Protocol.of(corpus.protocol or None), list[Verdict]()
    problem = find_path_problem(corpus.key)
    if not problem and corpus.features and (problem := find_path_problem(corpus.features)):
        problem = f"{corpus.features}: {problem}"
    ruling: Ruling = "failed"
    if not problem:
        try:
            inspections = [
                replace(item, corpus=item.corpus and item.corpus.with_details(name=corpus.name))
                for item in _inspect(corpus, corpus.key, "key")
            ]
            # Those who submit responses cannot change a key, so it is never judged strictly.
            ruling, problem = _decide(inspections, strict=False)
            if ruling != "failed":  # no response is compared with a broken key
                responses = _check_responses(suite, corpus, _join(inspections), strict)
            if protocol.reads_itself or all(r.ruling == "failed" for r in responses):
                ruling, problem = _decide(judge(inspections, None, protocol), strict=False)
        except CorefEvalError as error:
            ruling, problem = "failed", one_line(error)
    if ruling == "failed":
        responses = _check_responses(suite, corpus, None, strict)
    return [Verdict(corpus.name, "", None, corpus.key, ruling, problem), *responses]


def _check_responses(
    suite: Suite, corpus: SuiteCorpus, key: Corpus | None, strict: bool
) -> list[Verdict]:
    """The verdicts on the responses to a corpus; without a key they are looked at alone."""
    verdicts = []
    for system in suite.systems:
        for seed in (system.seeds or (None,)) if system.takes_part(corpus.name) else ():
            path = system.path(corpus.name, seed)
            ruling: Ruling = "failed"
            if not (problem := find_path_problem(path)):
                try:
                    ruling, problem = _decide(_inspect_response(corpus, path, key), strict)
                except CorefEvalError as error:
                    problem = one_line(error)
            verdicts.append(Verdict(corpus.name, system.name, seed, path, ruling, problem))
    return verdicts


def judge(inspections: list[Inspection], key: Input, protocol: Protocol | None) -> list[Inspection]:
    """The inspections of a file or folder, with an error where a protocol cannot score it.

    Without a key it is scored against itself, and by corefeval's own protocol where none is named.
    What says nothing about scores under the protocol is left out.
    """
    idle = set() if protocol is None else _list_idle(protocol)
    inspections = [
        replace(item, findings=tuple(f for f in item.findings if f.kind not in idle))
        for item in inspections
    ]
    if any(item.fails() or item.corpus is None for item in inspections):
        return inspections
    try:
        _try_scoring(inspections, key, protocol)
    except CorefEvalError as error:
        first, *following = inspections
        refusal = Finding("refused-file", one_line(error), first.file)
        return [replace(first, findings=(refusal, *first.findings)), *following]
    return inspections


def _list_idle(protocol: Protocol) -> set[str]:
    """The kinds of warnings about what a protocol does not take from files."""
    takes_heads = protocol.reads_itself and protocol.match != "exact"
    needs = "" if protocol.emulates else MATCHERS[split_call(protocol.match)[0]].needs
    idle = set() if takes_heads else {"no-heads"}
    return idle if needs in ("cores", "minima") else {*idle, "unusable-minimum"}


def _join(inspections: list[Inspection]) -> Corpus:
    corpora = [item.corpus for item in inspections if item.corpus is not None]
    return corpora[0] if len(corpora) == 1 else join(corpora, name=corpora[0].name)


def _try_scoring(
    inspections: list[Inspection], key: Input, protocol: Protocol | None
) -> Sequence[Notice]:
    """What is noticed in all that comes before counting; an error if scoring is impossible."""
    request = Request.of(protocol, {}, metrics="muc")
    response = _join(inspections)
    sides = response if key is None else key, response
    if not request.protocol.emulates:
        return prepare_inputs(*sides, request).notices
    if not request.protocol.reads_itself:
        from corefeval.evaluation import score_whole

        return score_whole(*sides, request).notices
    from corefeval.emulation.corefud_matching import make_entities
    from corefeval.emulation.corefud_scorer import check_pair, read_text

    key_text, text = map(read_text, sides)
    check_pair(key_text, text)
    for entities in text.documents.values():
        make_entities(text.file, entities, request.protocol)
    return ()


def _inspect(
    corpus: SuiteCorpus, path: str, side: str, against: Corpus | None = None
) -> list[Inspection]:
    """The inspections of a key or of a response, without findings that do not matter here."""
    protocol = Protocol.of(corpus.protocol or None)
    return inspect(
        path,
        against=against,
        format=getattr(corpus, f"{side}_format"),
        encoding=corpus.encoding,
        word_column=corpus.word_column,
        layer=getattr(corpus, f"{side}_layer"),
        tokens=protocol.tokens,
        skipped=_NOTES | _list_idle(protocol),
    )


def _inspect_response(corpus: SuiteCorpus, path: str, key: Corpus | None) -> list[Inspection]:
    """The inspections of a response.

    It is compared with the key only where pairing them raises or notices something, since the
    comparison, which says where, takes longer.
    """
    protocol = Protocol.of(corpus.protocol or None)
    if key is not None and not protocol.reads_itself and protocol.tokens != "align":
        with suppress(CorefEvalError):
            inspections = _inspect(corpus, path, "response")
            if not any(item.fails() for item in inspections) and not any(
                "document" in notice.noun or notice.kind == MISMATCH
                for notice in _try_scoring(inspections, key, protocol)
            ):
                return inspections
    return judge(_inspect(corpus, path, "response", key), key, protocol)


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
