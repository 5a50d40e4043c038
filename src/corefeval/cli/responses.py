"""Responses on the command line: files to be scored, or results that were saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from corefeval.cli.printing import check_paths, label, names_of, short, tell
from corefeval.diagnostics import Notice, UsageError
from corefeval.display import distinct_names
from corefeval.protocol import STEPS

if TYPE_CHECKING:
    from corefeval.cli.pieces import PieceOptions
    from corefeval.metrics import Metric
    from corefeval.model import Corpus
    from corefeval.protocol import Protocol
    from corefeval.request import Request as ScoreRequest
    from corefeval.results import Result

T = TypeVar("T")

_LONG_WORK = 30_000_000  # bytes; below that a progress bar would only flicker


class ReadingOptions:
    """How files are read, and the choices of the protocol, as they were given: see `reading`."""

    protocol: str | None = None
    features: str | None = None
    key_format: str | None = None
    response_format: str | None = None
    encoding: str = "utf-8"
    key_encoding: str | None = None
    response_encoding: str | None = None
    word_column: int | None = None
    quiet: bool = False

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    @property
    def of_key(self) -> dict[str, Any]:
        """The keywords of `read` for a key."""
        return self._read_options(self.key_format, self.key_encoding)

    @property
    def of_response(self) -> dict[str, Any]:
        """The keywords of `read` for a response."""
        return self._read_options(self.response_format, self.response_encoding)

    def _read_options(self, format: str | None, encoding: str | None) -> dict[str, Any]:
        file_encoding = encoding or self.encoding
        return {"format": format, "encoding": file_encoding, "word_column": self.word_column}

    @property
    def policies(self) -> dict[str, Any]:
        """The protocol and the choices that were made, as keywords of `score` and its like."""
        basic = {"key_format", "response_format", "word_column", "quiet"}
        values = {"encoding": self.encoding, **vars(self)}
        return {
            name: value
            for name, value in values.items()
            if name not in basic and value not in (None, False)
        }


class Request(NamedTuple):
    """What a command is to score: `metrics` by name, None for `default`; `options` of `score`.

    `targets` are files that will be written, which must not be inputs.
    """

    command: str
    metrics: str | Sequence[Metric] | None
    default: str
    options: dict[str, Any]
    reading: ReadingOptions
    pieces: PieceOptions | None = None
    targets: tuple[str | None, ...] = ()


def results_of(key: str, responses: Sequence[str], request: Request) -> list[Result]:
    """A result for each response; one that was saved needs no key."""
    from corefeval.results import is_saved

    if is_saved(label(key)[1]):
        arguments, key_path = [key, *responses], None
    else:
        arguments, key_path = list(responses), key
    labels = [label(argument) for argument in arguments]
    paths = [path for _, path in labels]
    check_paths(labels, [*paths, *([] if key_path is None else [key_path])], *request.targets)
    saves = {path for path in paths if path != "-" and is_saved(path)}
    if key_path is None and (bare := [path for path in paths if path not in saves]):
        raise UsageError(f"{bare[0]} needs a key before it; {key} is a saved result")
    if saves and len(_matches(request)) > 1:
        raise UsageError(f"{min(saves)} is already scored: leave out --match, or score the files")
    if not arguments:
        raise UsageError(
            f"there is no RESPONSE to {short(key)}: corefeval {request.command} KEY RESPONSE…, "
            "or results that were saved with --save"
        )
    fresh = iter(_score_files(key_path, labels, saves, request) if key_path is not None else ())
    results: list[Result] = []
    for name, path in labels:
        results += _load_saved(name, path, request) if path in saves else next(fresh)
    if key_path is not None and saves:
        _check_key(key_path, results, request.reading)
    if not saves:
        return results
    names = distinct_names([result.response for result in results])
    return [result.rename(name) for result, name in zip(results, names, strict=True)]


def _check_key(key: str, results: Sequence[Result], reading: ReadingOptions) -> None:
    """Refuse a key that is not the one that saved results were scored against."""
    from corefeval.evaluation import check_keys
    from corefeval.formats import read

    check_keys(results, read(key, name=short(key), **reading.of_key))


def _score_files(
    key: str, labels: Sequence[tuple[str | None, str]], saves: set[str], request: Request
) -> Iterator[list[Result]]:
    """A list for each response that is no saved result, in order: a result for each `match`."""
    from corefeval.evaluation import score_whole
    from corefeval.pieces import Cutting

    files = [
        (name, path)
        for name, (_, path) in zip(names_of(labels, key), labels, strict=True)
        if path not in saves
    ]
    if not files:
        return
    metrics = request.default if request.metrics is None else request.metrics
    scorings = [
        make_request(metrics, options, request.reading, is_score=True)
        for options in _matches(request)
    ]
    protocol = scorings[0].protocol
    piece_options = [] if request.pieces is None else request.pieces.asked_for
    if protocol.emulates and piece_options:
        option = piece_options[0].replace("_", "-")
        raise UsageError(f"--{option}: another program's numbers cannot be made in pieces")
    if piece_options or (
        not protocol.emulates
        and any(Cutting().suits(key, path) for _, path in files if path != "-")
    ):
        yield from _score_in_pieces(key, files, scorings, request)
        return
    key_source: object
    sources: Iterator[object]
    if protocol.reads_itself:
        key_source, sources = _read_texts(key, files, scorings[0])
    else:
        key_source, sources = read_all(key, files, scorings[0], quiet=request.reading.quiet)
    for source in sources:
        yield _by_match([score_whole(key_source, source, scoring) for scoring in scorings])


def _score_in_pieces(
    key: str,
    files: Sequence[tuple[str, str]],
    scorings: Sequence[ScoreRequest],
    request: Request,
) -> Iterator[list[Result]]:
    """A list for each response, with a result for each `match`; files are read in pieces."""
    from corefeval.cli.pieces import PIECES
    from corefeval.evaluation import score_request
    from corefeval.pieces import NamedFile

    runs, number = len(files) * len(scorings), 0
    source = NamedFile(key, short(key))
    pieces = request.pieces or PIECES
    with pieces.cutting(quiet=request.reading.quiet) as cutting:
        for name, path in files:
            results = []
            for scoring in scorings:
                number += 1
                kept = replace(cutting, resume=pieces.folder(number, runs))
                in_pieces = replace(scoring, cutting=kept)
                results.append(score_request(source, NamedFile(path, name), in_pieces))
            yield _by_match(results)


def _by_match(results: Sequence[Result]) -> list[Result]:
    """The results of one response; where there are several, their names say which `match`."""
    if len(results) == 1:
        return [*results]
    return [result.rename(f"{result.response} ({result.protocol.match})") for result in results]


def _matches(request: Request) -> list[dict[str, Any]]:
    """The options, once for each of the ways to match mentions that a score was asked for."""
    from corefeval.checks import split_list

    wishes = list(split_list(request.options.get("match") or ""))
    if len(wishes) < 2 or request.command != "score":
        return [request.options]
    return [{**request.options, "match": match} for match in dict.fromkeys(wishes)]


def _read_texts(
    key: str, responses: Sequence[tuple[str, str]], request: ScoreRequest
) -> tuple[object, Iterator[object]]:
    """Key and responses for a protocol that names another program, which reads files itself."""
    from corefeval.emulation import read_text

    key_encoding = request.key_reading.encoding
    response_encoding = request.response_reading.encoding
    texts = (
        replace(read_text(path, encoding=encoding), name=name)
        for name, path, encoding in (
            (short(key), key, key_encoding),
            *((name, path, response_encoding) for name, path in responses),
        )
    )
    return next(texts), texts


_STEPS = (*STEPS, "errors", "agreement")  # those of all commands, none of which offers too much
_SAMPLING = ("ci", "samples", "seed", "segments", "as_segments")


def make_request(
    metrics: Any, options: Mapping[str, Any], reading: ReadingOptions, *, is_score: bool = False
) -> ScoreRequest:
    """The request of a command: `options` of `score`, but for formats, which `reading` has.

    Raises a UsageError for all that `score` would refuse, before any file is read. Accidents of
    other programs are for scores alone.
    """
    from corefeval.request import Request, Sampling

    names = ("key_format", "response_format", "word_column")
    settings = {**options, **{name: getattr(reading, name) for name in names}}
    sampling = Sampling(**{name: settings.pop(name) for name in _SAMPLING if name in settings})
    by, features, protocol = (settings.pop(name, None) for name in ("by", "features", "protocol"))
    return Request.of(
        protocol,
        settings,
        metrics=metrics,
        by=by or (),
        features=features,
        sampling=sampling,
        steps=_STEPS,
        sound=not is_score,
    )


def protocol_of(options: Mapping[str, Any]) -> Protocol:
    """The protocol that options of a command ask for."""
    from corefeval.protocol import Protocol, split_choices

    return Protocol.of(options.get("protocol"), **split_choices(options)[0])


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
    key: str, responses: Sequence[tuple[str, str]], request: ScoreRequest, *, quiet: bool
) -> tuple[Corpus, Iterator[Corpus]]:
    """The key, and the responses (names and paths), each read while the one before is used."""
    from corefeval.formats import read, read_with_key

    files = request.response_reading._asdict()
    jobs = [
        partial(read, key, name=short(key), **request.key_reading._asdict()),
        *(partial(read, path, name=name, **files) for name, path in responses),
    ]
    paths = [key, *(path for _, path in responses)]
    corpora = read_with_key(jobs, paths)
    key_corpus = next(corpora)
    return key_corpus, track_progress(corpora, len(responses), paths, quiet)


def _load_saved(name: str | None, path: str, request: Request) -> list[Result]:
    """Saved results, with the metrics that were asked for."""
    from corefeval.checks import split_list
    from corefeval.evaluation import load_all
    from corefeval.features import canonical_feature

    results = []
    for result in load_all(path):
        _check_choices(result, path, request)
        if request.options.get("features") is not None and result.protocol.features == "none":
            raise UsageError(
                f"{path} was scored without a file of features, and counts cannot be redone: "
                "leave out --features, or score the files again"
            )
        for feature in map(canonical_feature, split_list(request.options["by"])):
            if feature not in result.slices:
                available = ", ".join(result.slices) or "none"
                raise UsageError(
                    f"{path} was saved without slices by {feature}: there are {available}"
                )
        # A score shows all that was kept; a comparison goes by the same metrics as one of files.
        if request.metrics is not None or request.command == "compare":
            result = result.only(_metrics(result, path, request))
        results.append(result)
    if name is not None:
        several = len(results) > 1
        results = [r.rename(f"{name} {r.response}" if several else name) for r in results]
    return [_with_intervals(result, request) for result in results]


def _check_choices(result: Result, path: str, request: Request) -> None:
    """Refuse choices other than those that a saved result was scored with."""
    from corefeval.protocol import choices, split_choices

    wishes, _ = split_choices(request.options)
    protocol = protocol_of(request.options)
    names = choices() if request.options.get("protocol") else wishes
    for name, (requested, saved) in protocol.differences(result.protocol).items():
        if name in names and not (name in ("spans", "tagset") and requested == "auto"):
            raise UsageError(
                f"{path} was scored with {name} {saved}, and counts cannot be redone: "
                f"leave out {name} {requested}, or score the files again"
            )


def _metrics(result: Result, path: str, request: Request) -> list[str]:
    from corefeval.metrics import parse_metrics

    names = []
    for metric_request in parse_metrics(request.metrics or request.default):
        name = str(metric_request.metric)
        if name in result.tables:
            names.append(name)
        elif metric_request.by_name and request.metrics is not None:
            available = ", ".join(result.tables)
            raise UsageError(f"{path} was saved without {name}: there are {available}")
    return names or list(result.tables)


def _with_intervals(result: Result, request: Request) -> Result:
    """The result with the intervals that the request asks for, unless they were saved with it."""
    level = request.options.get("ci")
    if level is None or result.ci == level:
        return result
    if len(result.document_ids) == 1:
        verb = "made anew" if result.ci is not None else "made"
        message = f"{result.response}: intervals of a single document cannot be {verb} from saved "
        message += "counts, because its segments have to be scored"
        notice = Notice("no-segments", message)
        return replace(result, notices=(*result.notices, notice))
    from corefeval.stats import with_intervals

    sampling = {name: request.options[name] for name in ("samples", "seed")}
    return with_intervals(result.without_intervals(), level=level, **sampling)


def track_progress(
    corpora: Iterator[T], number: int, paths: Iterable[str], quiet: bool
) -> Iterator[T]:
    """The corpora, with a progress bar where work is long and somebody is watching."""
    size = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    if quiet or size < _LONG_WORK or not sys.stderr.isatty():
        yield from corpora
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(corpora, description="Scoring", total=number, console=console, transient=True)
