"""A suite run: every cell scored, or taken from a cache of what did not change since."""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

from corefeval._version import __version__
from corefeval.checks import split_list
from corefeval.diagnostics import (
    CorefEvalError,
    InputError,
    Notice,
    UndefinedMetricError,
    UsageError,
    memory_for,
)
from corefeval.evaluation import read_key, score_request, score_whole
from corefeval.files import PathLike, file_size, is_remote
from corefeval.formats import files_of, fingerprint
from corefeval.metrics import parse_metrics, spell
from corefeval.pieces import Cutting, LostWorkersError, NamedFile, Progress
from corefeval.pieces.execution import Store, map_pieces
from corefeval.protocol import Protocol
from corefeval.request import Request
from corefeval.results import Result
from corefeval.results.saved import result_of_record, result_record
from corefeval.stats import CorporaComparison
from corefeval.suites.definition import Suite, SuiteCorpus
from corefeval.suites.outcome import NO_PART, CellPlace, SuiteCell, SuiteResult
from corefeval.suites.selection import find_path_problem, one_line
from corefeval.suites.statistics import compare_suite

T = TypeVar("T")

# Cells are written to the cache when so many of them wait, or after so many seconds.
_MOST_WAITING, _MOST_SECONDS = 50, 10.0


def run_suite(
    suite: Suite,
    *,
    cache: PathLike | None = None,
    piece_size: int | str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    trials: int | None = None,
    **tests: Any,
) -> SuiteResult:
    """Score every system on every corpus; what cannot be scored has its reason in its cell.

    `cache` is a folder for cells whose inputs do not change: a cell is taken from there where the
    bytes of key and response, protocol, metrics and version are the same. `executor` works on
    cells, and on pieces of large files; `piece_size`, `executor` and `progress` are those of
    `score`, with cells for pieces.

    With `trials` systems are compared by the headline, on each corpus and over all of them, so
    that ranks and tables know which differences are real; `tests` are other options of
    `compare_suite`, such as `seed`, `alpha` and `metrics`.
    """
    if not isinstance(suite, Suite):
        raise UsageError(f"a suite is what read_suite gives, not {suite!r:.60}")
    suite.check()
    cutting = Cutting(piece_size, executor)
    kept = None if cache is None else Cache(cache)
    run = Run(suite.metrics, tuple(split_list(suite.by)), uuid.uuid4().hex)
    cells, jobs, cached = _plan(suite, run, kept)
    try:
        _score_jobs(jobs, run, cutting, cells, kept, progress)
    finally:
        _read_key.cache_clear()
        if kept is not None:
            kept.flush()
    _find_broken_keys(jobs, run, cells)
    outcome = SuiteResult.of(suite, cells)
    if trials is not None:
        outcome = _with_comparison(outcome, {"trials": trials, **tests}, kept, [*cached, *jobs])
    if kept is None:
        return outcome
    notices = [*outcome.notices, *kept.notices]
    if kept.problem:
        notices.append(Notice("no-cache", f"{kept.problem}: the next run scores everything again"))
    return replace(outcome, notices=tuple(notices))


def _score_jobs(
    jobs: Sequence[Job],
    run: Run,
    cutting: Cutting,
    cells: dict[CellPlace, SuiteCell],
    kept: Cache | None,
    progress: Progress | None,
) -> None:
    """Put the cell of each job into `cells` and the cache: large files first, cut into pieces."""
    size_alone = Cutting(cutting.size)  # an executor is no reason to cut small files
    uncut = [job for job in jobs if not size_alone.suits(job.corpus.key, job.path)]
    large = [job for job in jobs if job not in uncut]
    done = passed = 0

    def report(number: int, _: int, size: int) -> None:
        if progress is not None:
            progress(done + number, len(jobs), passed + size)

    def put(number: int, cell: SuiteCell) -> None:  # as soon as it is done: an interrupt loses none
        _record_cell(uncut[number], cell, cells, kept)

    for job in large:
        _record_cell(job, score_cell(job, run, cutting), cells, kept)
        done, passed = done + 1, passed + job.size
        report(0, 0, 0)
    work = Cutting(executor=cutting.executor, progress=report)
    map_pieces(partial(score_cell, run=run), [*uncut], work, keep=put)


def _with_comparison(
    outcome: SuiteResult, options: dict[str, Any], kept: Cache | None, jobs: list[Job]
) -> SuiteResult:
    """The outcome with statistics, or with a notice of why there are none."""
    if len({name for (_, name, _), cell in outcome.cells.items() if cell.result}) < 2:
        notice = Notice("no-tests", "no tests: two systems with results are needed")
        return replace(outcome, notices=(*outcome.notices, notice))
    comparison = _compare(outcome, options, kept, jobs)
    return replace(outcome, statistics=comparison, notices=(*outcome.notices, *comparison.notices))


def _compare(
    outcome: SuiteResult, options: dict[str, Any], kept: Cache | None, jobs: list[Job]
) -> CorporaComparison:
    """The comparison of all systems, from the cache where nothing changed."""
    options |= {"metrics": tuple(options.get("metrics") or (outcome.headline,))}
    facts = [outcome.corpora, outcome.systems, outcome.rate, outcome.missing, options]
    facts.append(outcome.resample)
    cells = [(job.place, job.digest) for job in jobs if outcome.cells[job.place].result]
    inputs = (__version__, facts, outcome.sound_corpora, sorted(cells, key=str))
    digest = hashlib.sha256(repr(inputs).encode()).hexdigest()
    name = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    if kept is None:
        return compare_suite(outcome, **options)
    comparison = kept.look_up(name, digest, CorporaComparison.from_dict)
    if comparison is None:
        comparison = compare_suite(outcome, **options)
        kept.keep(name, digest, comparison.as_dict())
        kept.flush()
    return comparison


@dataclass(frozen=True, slots=True)
class Run:
    """The options that all cells share; `name` is what workers know the keys of a run by."""

    metrics: str
    by: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Job:
    """A cell to be scored; `name` is its name in the cache, `digest` that of its inputs."""

    place: CellPlace
    corpus: SuiteCorpus
    path: str
    label: str
    size: int = 0
    name: str = ""
    digest: str = ""


def _plan(
    suite: Suite, run: Run, kept: Cache | None
) -> tuple[dict[CellPlace, SuiteCell], list[Job], list[Job]]:
    """A cell for each place, jobs for those to be scored, and jobs of those from the cache."""
    cells: dict[CellPlace, SuiteCell] = {}
    jobs: list[Job] = []
    done: list[Job] = []
    make_result = partial(result_of_record, spell=spell)
    for corpus in suite.corpora:
        key, problem, key_size = _examine_inputs(corpus.inputs, corpus.key_format, kept)
        for system in suite.systems:
            for seed in system.seeds or (None,):
                place = corpus.name, system.name, seed
                label = system.name if seed is None else f"{system.name} {seed}"
                cells[place] = SuiteCell(None, problem, "key")
                if problem:
                    continue
                if not system.takes_part(corpus.name):
                    cells[place] = SuiteCell(None, NO_PART, "response")
                    continue
                path = system.path(corpus.name, seed)
                response, why, size = _examine_inputs((path,), corpus.response_format, kept)
                if why:
                    cells[place] = SuiteCell(None, why, "response")
                    continue
                job = Job(place, corpus, path, label, key_size + size)
                if kept is not None:
                    job = _with_digest(job, run, key + response)
                    result = kept.look_up(job.name, job.digest, make_result)
                    if result is not None:
                        cells[place] = SuiteCell(result)
                        done.append(job)
                        continue
                jobs.append(job)
    return cells, jobs, done


def _examine_inputs(
    paths: tuple[str, ...], format: str | None, kept: Cache | None
) -> tuple[list[str], str, int]:
    """The fingerprint of all paths (none without a cache), the problem if any, and the size."""
    facts: list[str] = []
    total = 0
    try:
        for path in paths:
            if problem := find_path_problem(path):
                return [], f"{path}: {problem}", 0
            total += sum(map(file_size, files_of(path)[0]))
            facts += [] if kept is None else fingerprint(path, format)
    except (CorefEvalError, OSError) as error:
        return [], one_line(error), 0
    return facts, "", total


def _with_digest(job: Job, run: Run, inputs: list[str]) -> Job:
    """The job with the name of its cell, by paths and options, and the digest of its inputs."""
    corpus = replace(job.corpus, weight=1.0, group="")  # weight and group change no score
    options = [job.label, job.path, repr(corpus), run.metrics, *run.by]
    protocol = str(Protocol.of(corpus.protocol or None))
    name = hashlib.sha256(json.dumps(options).encode()).hexdigest()[:32]
    facts = [__version__, protocol, *inputs, *_find_code(run.metrics)]
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    return replace(job, name=name, digest=digest)


def _find_code(metrics: str) -> list[str]:
    """The identities of the user's own metrics, which change with their code."""
    try:
        return [m.metric.identity for m in parse_metrics(metrics) if not m.metric.is_own]
    except UsageError:
        return []


def _record_cell(
    job: Job, cell: SuiteCell, cells: dict[CellPlace, SuiteCell], kept: Cache | None
) -> None:
    cells[job.place] = cell
    if kept is not None and cell.result is not None:
        kept.keep(job.name, job.digest, result_record(cell.result))


def score_cell(job: Job, run: Run, cutting: Cutting | None = None) -> SuiteCell:
    """The cell of a job, scored in this process or in a worker."""
    try:
        with memory_for(job.path):
            return SuiteCell(_score(job, run, cutting))
    except LostWorkersError:  # this is not the fault of the response
        raise
    except _BrokenKeyError as error:
        return SuiteCell(None, str(error), "key")
    except (CorefEvalError, OSError) as error:
        return SuiteCell(None, one_line(error), "response")


def _find_broken_keys(jobs: Sequence[Job], run: Run, cells: dict[CellPlace, SuiteCell]) -> None:
    """Blame the key of a corpus without results, if the key cannot be scored against itself either.

    Some problems show only when both sides are read, such as choices that do not suit the key.
    """
    for corpus in {job.corpus.name: job.corpus for job in jobs}.values():
        places = [place for place in cells if place[0] == corpus.name]
        if any(cells[place].result or cells[place].fault == "key" for place in places):
            continue
        itself = replace(corpus, response_format=corpus.key_format)
        cell = score_cell(Job(places[0], itself, corpus.key, corpus.name), run)
        if cell.result is None:
            cells.update(dict.fromkeys(places, replace(cell, fault="key")))


class _BrokenKeyError(CorefEvalError):
    """The key or the suite is wrong, so that no response can be scored."""


def _score(job: Job, run: Run, cutting: Cutting | None) -> Result:
    """The result, with slices by those features that both sides have."""
    by = run.by
    notices: list[Notice] = []
    if by and Protocol.of(job.corpus.protocol or None).emulates:
        notices.append(_skipped_slices(job, by, "another program's numbers have none"))
        by = ()
    try:
        result = _score_by(job, run, by, cutting)
    except (UndefinedMetricError, UsageError):  # perhaps because of a feature
        if not by:
            raise
        mentions_run = replace(run, metrics="mentions")
        for feature in by:
            try:
                _score_by(job, mentions_run, (feature,), cutting)
            except (UndefinedMetricError, UsageError) as error:
                by = tuple(name for name in by if name != feature)
                notices.append(_skipped_slices(job, (feature,), one_line(error)))
        result = _score_by(job, run, by, cutting)
    if not notices:
        return result
    return replace(result, notices=(*result.notices, *notices))


def _skipped_slices(job: Job, by: tuple[str, ...], why: str) -> Notice:
    return Notice("skipped-slices", f"{job.corpus.name}: no slices by {', '.join(by)}: {why}")


def _score_by(job: Job, run: Run, by: tuple[str, ...], cutting: Cutting | None) -> Result:
    corpus, response = job.corpus, NamedFile(job.path, job.label)
    if cutting is None:
        key, request = _read_key(corpus, run.metrics, by, run.name)
        return score_whole(key, response, request)
    try:
        request = replace(_make_request(corpus, run.metrics, by), cutting=cutting)
        return score_request(NamedFile(corpus.key, corpus.name), response, request)
    except UsageError:  # such as answers, which have no pieces
        return _score_by(job, run, by, None)
    except InputError as error:
        if error.file not in files_of(corpus.key)[0]:
            raise
        raise _BrokenKeyError(one_line(error)) from None


@lru_cache(maxsize=2)
def _read_key(
    corpus: SuiteCorpus, metrics: str, by: tuple[str, ...], run: str
) -> tuple[object, Request]:
    """The key of a corpus, read once in each process: cells of one corpus follow each other."""
    try:
        request = _make_request(corpus, metrics, by)
        return read_key(NamedFile(corpus.key, corpus.name), request), request
    except (CorefEvalError, OSError) as error:
        raise _BrokenKeyError(one_line(error)) from None


def _make_request(corpus: SuiteCorpus, metrics: str, by: tuple[str, ...]) -> Request:
    """How responses to a corpus are scored."""
    names = (
        *("key_format", "response_format", "key_layer", "response_layer"),
        *("encoding", "word_column"),
    )
    reading = {name: getattr(corpus, name) for name in names}
    return Request.of(
        corpus.protocol or None, reading, metrics=metrics, by=by, features=corpus.features
    )


class Cache(Store):
    """A folder of results and comparisons, each with the digest of what it was made of.

    `problem` says why nothing is kept, where the folder cannot be written.
    """

    def __init__(self, folder: PathLike) -> None:
        super().__init__(folder)
        if is_remote(self.folder):
            raise UsageError(f"a cache must be a local folder, not {self.folder}")
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise UsageError(f"a cache must be a folder, and {self.folder} is a file")
        self._waiting: dict[str, bytes] = {}
        self._written = time.monotonic()
        self.problem = ""

    def look_up(self, name: str, digest: str, make: Callable[[Any], T]) -> T | None:
        """`make` of the content kept under a name for this digest; None if there is none."""
        return self.find(
            f"{name}.cell",
            lambda record: make(record["content"]) if record["digest"] == digest else None,
        )

    def keep(self, name: str, digest: str, content: Mapping[str, Any]) -> None:
        """Keep plain data; it is written with the next flush, which comes every few seconds."""
        file = f"{name}.cell"
        self._waiting[file] = self.pack(file, {"digest": digest, "content": content})
        waited = time.monotonic() - self._written
        if len(self._waiting) >= _MOST_WAITING or waited > _MOST_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits; a failure is noted in `problem`, so that no scores are lost."""
        try:
            if self._waiting:
                self.write(self._waiting, "the cache cannot be written")
        except InputError as error:
            self.problem = one_line(error)
        self._waiting, self._written = {}, time.monotonic()
