"""Responses on the command line: files to be scored, whole or in pieces, or saved results."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from corefeval.checks import split_list
from corefeval.cli.options import PROTOCOL_OPTIONS, REQUEST_OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import (
    check_paths,
    label,
    names_of,
    plain_names,
    short,
    show_progress,
    tell,
)
from corefeval.diagnostics import Notice, UsageError
from corefeval.display import distinct_names
from corefeval.protocol import STEPS

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from corefeval.metrics import Metrics
    from corefeval.model import Corpus
    from corefeval.pieces import Cutting
    from corefeval.request import Request, Sampling
    from corefeval.results import Result


# The steps of all commands: a command offers only the choices that it has.
_STEPS = (*STEPS, "errors", "agreement", "merge", "probes")


def make_request(
    options: ParsedOptions,
    metrics: Metrics,
    by: object = (),
    sampling: Sampling | None = None,
    *,
    sound: bool = True,
    nearest: bool = False,
    **choices: str | None,
) -> Request:
    """The request that the options of a command make; `choices` that are not None replace theirs.

    Raises a UsageError for all that can be known to be wrong before a file is read. `sound` refuses
    the accidents of other programs, and `nearest` takes the nearest rules without them.
    """
    from corefeval.request import Request

    chosen = {name: value for name, value in choices.items() if value is not None}
    keywords = options.given(*REQUEST_OPTIONS) | chosen
    return Request.of(
        keywords.pop("protocol", None),
        keywords,
        metrics=metrics,
        by=by,
        features=keywords.pop("features", None),
        sampling=sampling,
        steps=_STEPS,
        sound=sound,
        nearest=nearest,
    )


def name_responses(options: ParsedOptions, *inputs: str | None) -> list[tuple[str, str]]:
    """The names and paths of the responses of a command that takes RESPONSE and MORE.

    It may take a KEY before them, and other `inputs`.
    """
    labels = [label(argument) for argument in (options.response, *options.more)]
    paths, key = [path for _, path in labels], options.given("key").get("key")
    check_paths(labels, [*filter(None, (key, *inputs)), *paths], options.output)
    return list(zip(names_of(labels, key), paths, strict=True))


def name_systems(options: ParsedOptions, *inputs: str | None) -> dict[str, str]:
    """The paths of the responses of a command by names without the extensions of files."""
    files = name_responses(options, *inputs)
    labels = {label(argument)[0] for argument in (options.response, *options.more)}
    names = plain_names([name for name, _ in files], labels)
    return {name: path for name, (_, path) in zip(names, files, strict=True)}


def list_matches(options: ParsedOptions) -> list[str | None]:
    """The ways to match mentions, where `--match` lists several of them; else [None]."""
    matches = dict.fromkeys(split_list(options.match or ""))
    return [*matches] if len(matches) > 1 else [None]


def results_of(
    command: str,
    options: ParsedOptions,
    requests: Sequence[Request],
    score_files: Callable[..., Iterator[list[Any]]] | None = None,
) -> list[Result]:
    """The results of each response, one for each request; one that was saved needs no key.

    `score_files` scores those that were not saved, if it is not by entities. There may be no
    response where something else is to be written.
    """
    from corefeval.results import is_saved

    score_files = score_files or _score_files

    arguments, key, key_path = [*options.response], options.key, options.key
    if is_saved(label(key)[1]):
        arguments, key_path = [key, *arguments], None
    labels = [label(argument) for argument in arguments]
    paths = [path for _, path in labels]
    inputs = paths if key_path is None else [*paths, key_path]
    check_paths(labels, inputs, *options.given("output", "save", "write").values())
    saves = {path for path in paths if path != "-" and is_saved(path)}
    if key_path is None and (bare := [path for path in paths if path not in saves]):
        raise UsageError(f"{bare[0]} needs a key before it; {key} is a saved result")
    if saves and len(requests) > 1:
        raise UsageError(f"{min(saves)} is already scored: leave out --match, or score the files")
    if not arguments and (options.given("output", "save") or not options.given("write")):
        raise UsageError(
            f"there is no RESPONSE to {short(key)}: corefeval {command} KEY RESPONSE…, "
            "or results that were saved with --save"
        )
    fresh: Iterator[list[Result]] = iter(())
    if key_path is not None:
        files = [*zip(names_of(labels, key_path), paths, strict=True)]
        files = [(name, path) for name, path in files if path not in saves]
        fresh = score_files(key_path, files, options, requests) if files else fresh
    results: list[Result] = []
    by_file: list[str] = []  # what results are called where their own names are equal
    for name, path in labels:
        if path in saves:
            is_whole = command != "compare"
            loaded = _load_saved(name, path, options, requests[0], is_whole=is_whole)
        else:
            loaded = next(fresh)
            if len(loaded) > 1:
                loaded = [r.rename(f"{r.response} ({r.protocol.match})") for r in loaded]
        stem = short(path).removesuffix(".gz").removesuffix(".json")
        by_file += [stem if len(loaded) == 1 else f"{stem}: {r.response}" for r in loaded]
        results += loaded
    if not saves:
        return results
    if key_path is not None and command != "probe":
        _check_key(key_path, results, requests[0])
    names = distinct_names([result.response for result in results], by_file)
    return [result.rename(name) for result, name in zip(results, names, strict=True)]


def _check_key(key: str, results: Sequence[Result], request: Request) -> None:
    """Refuse a key that is not the one that saved results were scored against."""
    from corefeval.evaluation import check_keys
    from corefeval.formats import read

    check_keys(results, read(key, name=short(key), **request.key_reading._asdict()))


def _score_files(
    key: str,
    files: Sequence[tuple[str, str]],
    options: ParsedOptions,
    requests: Sequence[Request],
) -> Iterator[list[Result]]:
    """A list for each response (name and path), with a result for each request."""
    from corefeval.evaluation import read_key, score_whole
    from corefeval.pieces import Cutting, NamedFile

    protocol = requests[0].protocol
    piece_options = options.given("piece_size", "scheduler", "resume")
    piece_options |= {"jobs": options.jobs} if options.jobs != 1 else {}
    if protocol.emulates and piece_options:
        option = next(iter(piece_options)).replace("_", "-")
        raise UsageError(f"--{option}: another program's numbers cannot be made in pieces")
    if piece_options or (
        not protocol.emulates
        and any(Cutting().suits(key, path) for _, path in files if path != "-")
    ):
        yield from _score_in_pieces(key, files, options, requests)
        return
    key_source: object
    sources: Iterator[object]
    if protocol.reads_itself:
        key_source = read_key(NamedFile(key, short(key)), requests[0])
        sources = (NamedFile(path, name) for name, path in files)
    else:
        key_source, sources = read_all(key, files, requests[0], quiet=options.quiet)
    for source in sources:
        yield [score_whole(key_source, source, request) for request in requests]


def _score_in_pieces(
    key: str,
    files: Sequence[tuple[str, str]],
    options: ParsedOptions,
    requests: Sequence[Request],
) -> Iterator[list[Result]]:
    """A list for each response, with a result for each request; files are read in pieces."""
    from corefeval.evaluation import score_request
    from corefeval.pieces import NamedFile

    runs, number, folder = len(files) * len(requests), 0, options.resume
    with open_cutting(options) as cutting:
        for name, path in files:
            results = []
            for request in requests:
                number += 1
                if options.resume is not None and runs > 1:
                    folder = os.path.join(options.resume, f"{number:03d}")
                in_pieces = replace(request, cutting=replace(cutting, resume=folder))
                sides = NamedFile(key, short(key)), NamedFile(path, name)
                results.append(score_request(*sides, in_pieces))
            yield results


def keep(results: Sequence[Result], path: str, *, quiet: bool) -> None:
    """Save the counts; slices by words of the text keep these words, which people should know."""
    from corefeval.results import save

    save(results, path)
    if not quiet:
        tell_words(results, path)


def tell_words(results: Iterable[Result], path: str) -> None:
    """Say what saved slices keep of the text."""
    from corefeval.features import shows_words

    wordy = dict.fromkeys(name for result in results for name in result.slices if shows_words(name))
    if wordy:
        message = f"{path} contains words of the text: the values of {', '.join(wordy)}"
        tell([Notice("saved-words", message)])


def read_all(
    key: str, responses: Sequence[tuple[str, str]], request: Request, *, quiet: bool
) -> tuple[Corpus, Iterator[Corpus]]:
    """The key, and the responses (names and paths), each read while the one before is used."""
    from corefeval.formats import read, read_with_key

    files = request.response_reading._asdict()
    jobs = [
        partial(read, key, name=short(key), **request.key_reading._asdict()),
        *(partial(read, path, name=name, **files) for name, path in responses),
    ]
    corpora = read_with_key(jobs, [key, *(path for _, path in responses)])
    key_corpus = next(corpora)
    return key_corpus, _track_progress(corpora, len(responses), quiet)


def _track_progress(corpora: Iterator[Corpus], number: int, quiet: bool) -> Iterator[Corpus]:
    """The corpora, with a bar that says how many of them are scored."""
    with show_progress("Scoring", quiet) as show:
        for done, corpus in enumerate(corpora):
            if show is not None:
                show(f"{done} of {number} responses", done, number)
            yield corpus


def _load_saved(
    name: str | None, path: str, options: ParsedOptions, request: Request, *, is_whole: bool
) -> list[Result]:
    """Saved results, with the metrics that were asked for; if none were, all of a whole result."""
    from corefeval.evaluation import load_all
    from corefeval.features import canonical_feature

    results = []
    for result in load_all(path):
        check_choices(result, path, options, request)
        if options.given("features") and result.protocol.features == "none":
            raise UsageError(
                f"{path} was scored without a file of features, and counts cannot be redone: "
                "leave out --features, or score the files again"
            )
        for feature in map(canonical_feature, request.by):
            if feature not in result.slices:
                available = ", ".join(result.slices) or "none"
                raise UsageError(
                    f"{path} was saved without slices by {feature}: there are {available}"
                )
        # A score shows all that was kept; a comparison goes by the same metrics as one of files.
        if options.given("metrics") or not is_whole:
            result = result.only(_find_metrics(result, path, options, request))
        results.append(result)
    if name is not None:
        several = len(results) > 1
        results = [r.rename(f"{name} {r.response}" if several else name) for r in results]
    return [_with_intervals(result, request.sampling) for result in results]


def check_choices(result: Result, path: str, options: ParsedOptions, request: Request) -> None:
    """Refuse choices other than those that a saved result was scored with."""
    from corefeval.protocol import choices, split_choices

    chosen = split_choices(options.given(*PROTOCOL_OPTIONS), _STEPS)[0]
    names = choices() if options.protocol else chosen
    for name, (requested, saved) in request.protocol.differences(result.protocol).items():
        if name in names and requested != "auto":
            raise UsageError(
                f"{path} was scored with {name} {saved}, and counts cannot be redone: "
                f"leave out {name} {requested}, or score the files again"
            )


def _find_metrics(result: Result, path: str, options: ParsedOptions, request: Request) -> list[str]:
    """The names of the metrics that were asked for and saved; all that were saved if none was."""
    from corefeval.metrics import parse_metrics

    names = []
    for metric_request in parse_metrics(request.metrics):
        name = str(metric_request.metric)
        if name in result.tables:
            names.append(name)
        elif metric_request.by_name and options.metrics is not None:
            available = ", ".join(result.tables)
            raise UsageError(f"{path} was saved without {name}: there are {available}")
    return names or list(result.tables)


def _with_intervals(result: Result, sampling: Sampling) -> Result:
    """The result with the intervals that are asked for, unless they were saved with it."""
    if sampling.ci is None or result.ci == sampling.ci:
        return result
    if len(result.document_ids) == 1:
        verb = "made anew" if result.ci is not None else "made"
        message = f"{result.response}: intervals of a single document cannot be {verb} from saved "
        message += "counts, because its segments have to be scored"
        notice = Notice("no-segments", message)
        return replace(result, notices=(*result.notices, notice))
    from corefeval.stats import with_intervals

    return with_intervals(
        result.without_intervals(),
        level=sampling.ci,
        samples=sampling.samples,
        seed=sampling.seed,
    )


_PROCESSES_PER_PROCESSOR = 4  # more would only be in each other's way
PATIENCE = "10s"  # with a scheduler that does not answer


@contextmanager
def open_cutting(options: ParsedOptions, noun: str = "pieces") -> Iterator[Cutting]:
    """How files are cut, with workers that live as long as the context, and a progress bar."""
    from corefeval.pieces import Cutting

    if options.jobs < 1:
        raise UsageError(f"--jobs must be 1 or more, not {options.jobs}")
    plain = Cutting(options.piece_size)  # which may be no size
    with ExitStack() as stack:
        executor = _find_executor(options, stack)
        progress = stack.enter_context(_progress(noun, options.quiet))
        yield Cutting(plain.size, executor, None, progress)


def _find_executor(options: ParsedOptions, stack: ExitStack) -> Executor | None:
    """The workers that the options name; None for this process alone."""
    scheduler = options.given("scheduler")
    if options.jobs > 1 and scheduler:
        raise UsageError("--jobs and --scheduler exclude each other: use one of them")
    if scheduler:
        return _connect(options.scheduler, stack)
    if options.jobs == 1:
        return None
    from corefeval.pieces.execution import start_workers

    number = min(options.jobs, _PROCESSES_PER_PROCESSOR * (os.cpu_count() or 1))
    return stack.enter_context(start_workers(number))


def _connect(address: str, stack: ExitStack) -> Executor:
    """The workers of a Dask scheduler, as long as the stack is open."""
    if not re.fullmatch(r"[\w+.-]+(://\S+|:\d+)", address):
        raise UsageError(f"--scheduler is an address such as tcp://host:8786, not {address!r:.60}")
    try:
        from distributed import Client
    except ImportError:
        raise UsageError(
            "--scheduler needs Dask, which is not installed: pip install distributed"
        ) from None
    make: Any = Client
    try:
        client = stack.enter_context(make(address, timeout=PATIENCE, set_as_default=False))
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"--scheduler {address}: there is no answer: {reason}") from None
    executor: Executor = stack.enter_context(client.get_executor())
    return executor


@contextmanager
def _progress(noun: str, quiet: bool) -> Iterator[Callable[[int, int, int], None] | None]:
    """A bar with pieces (or what the noun says) and how many bytes of them are done in a second."""
    with show_progress("Working", quiet) as show:
        begin = before = time.monotonic()
        passed = 0

        def tell(done: int, total: int, size: int) -> None:
            nonlocal begin, before, passed
            begin = before if size < passed else begin  # another response
            before, passed = time.monotonic(), size
            rate = size / 1e6 / max(1e-9, before - begin)
            if show is not None:
                show(f"{done:,} of {total:,} {noun}, {rate:.1f} MB/s", done, total)

        yield None if show is None else tell
