"""The formats: reading and writing corpora."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, TypeVar

from corefeval.archives import MARK, list_samples, split_member
from corefeval.diagnostics import (
    InputError,
    KeyNeededError,
    Notice,
    Notices,
    UsageError,
    memory_for,
    uncollected,
)
from corefeval.files import GZIP_MAGIC, PathLike, file_digest, open_file, write_file, write_folder
from corefeval.formats.declarations import Format, Written
from corefeval.formats.paths import COMPANIONS, files_of
from corefeval.formats.registry import (
    FORMATS,
    HEAD,
    UnknownFormatError,
    detect_format,
    find_format,
    format_for,
)

if TYPE_CHECKING:
    from corefeval.formats.source import Source
    from corefeval.model import Corpus

_SMALL = 1_000_000  # bytes
_NEIGHBOURS = 500  # of a file that does not tell its format

__all__ = [
    "FORMATS",
    "Format",
    "Written",
    "check_reading",
    "files_of",
    "fingerprint",
    "read",
    "read_ahead",
    "read_with_key",
    "write",
]

T = TypeVar("T")


def read(
    path: PathLike,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
    layer: str | None = None,
    name: str = "",
    key: Corpus | None = None,
    occurrences: str = "in-order",
    choice: int = 1,
    pieces: str = "apart",
    answer_at: str | None = None,
    id_at: str | None = None,
) -> Corpus:
    """Read a corpus from a file, packed with gzip or not; `-` is standard input.

    A folder or a pattern such as `'dev/*.conll'` stands for all of its files, whose documents make
    one corpus. The format is recognised by the content unless `format` names it. `word_column` is
    the column of the words in CoNLL files, counted from 1; by default it is recognised, too.
    `layer` says which annotation counts in files of annotation tools, which may have several.

    Answers of language models (formats `llm…`) are read against a `key`, as `read_answers` does,
    which has `occurrences`, `choice`, `pieces`, `answer_at` and `id_at`. Other formats have no use
    for them.
    """
    how: dict[str, Any] = {"occurrences": occurrences, "choice": choice, "encoding": encoding}
    how |= {"pieces": pieces, "answer_at": answer_at, "id_at": id_at, "name": name}
    is_log = isinstance(path, str | os.PathLike) and list_samples(os.fspath(path)) is not None
    if format is None and (answer_at is not None or is_log):
        format = "llm"
    if format is not None and find_format(format).needs_key:
        return _read_answers(path, find_format(format), key, **how)
    files, several = files_of(path)
    reader = partial(
        read_file, format=format, encoding=encoding, word_column=word_column, layer=layer
    )
    if several:
        return _read_files(os.fspath(path), reader, name)
    try:
        return reader(files[0], name=name)
    except KeyNeededError:
        return _read_answers(path, find_format("llm"), key, **how)


def _read_files(path: str, reader: Callable[[str], Corpus], name: str) -> Corpus:
    """The documents of all files behind a path, but for those in no known format."""
    from corefeval.model import join

    corpora, notices = read_each(path, reader)
    if not corpora:
        raise unknown_files(path)
    corpus = join(corpora, name=name or path)
    return corpus.with_details(notices=(*corpus.notices, *notices))


def read_each(path: PathLike, reader: Callable[[str], T]) -> tuple[list[T], Notices]:
    """What is read from each file behind a path, and a notice on those in no known format.

    A single file must be in one.
    """
    files, several = files_of(path)
    results, skipped = list[T](), list[str]()
    for file in files:
        try:
            results.append(reader(file))
        except UnknownFormatError:
            if not several:
                raise
            skipped.append(file)
    return results, skipped_files(os.fspath(path), skipped)


def check_reading(**options: Any) -> None:
    """Refuse unknown formats and encodings, and what is no column, before anything is read.

    `options` are arguments of `read`, under names that end as its parameters do, such as
    `key_format`; None is no choice.
    """
    for name, value in options.items():
        if value is None:
            continue
        if name.endswith("format"):
            find_format(value)
        elif name.endswith("encoding"):
            from corefeval.formats.source import check_encoding

            check_encoding(value)
        elif name.endswith("layer"):
            if not isinstance(value, str):
                raise UsageError(f"{name} is the name of a layer, not {value!r:.60}")
        elif name.endswith("_at"):
            from corefeval.formats.answers.records import check_path

            check_path(value)
        else:
            from corefeval.formats.conll.layout import check_word_column

            check_word_column(value)


def unknown_files(path: str) -> InputError:
    """The error for a folder without a file that can be read."""
    return InputError(
        "none of the files is in a known format",
        file=path,
        expected="; ".join(f"{format.name} ({format.summary})" for format in FORMATS.values()),
    )


def skipped_files(path: str, skipped: Sequence[str]) -> Notices:
    """A notice on files of a folder that cannot be read, if there are any."""
    text = f"{path}: {{n}} of no known format left out"
    notice = Notice("skipped-files", text, len(skipped), tuple(skipped), "file")
    return (notice,) if skipped else ()


def _read_answers(
    path: PathLike,
    format: Format,
    key: Corpus | None,
    **options: Any,
) -> Corpus:
    """Answers of language models against their key; a KeyNeededError where there is none."""
    if key is None:
        raise KeyNeededError(
            f"{os.fspath(path)} has answers of a language model ({format.name}), which are read "
            "against a key: score KEY ANSWERS, check or convert ANSWERS --against KEY, or "
            "read_answers(answers, key)"
        )
    with memory_for(os.fspath(path)):
        return format.read(path, key=key, format=format.name, **options)


def read_file(
    file: str,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
    layer: str | None = None,
    name: str = "",
) -> Corpus:
    """Read a single file: see `read`."""
    from corefeval.formats.source import read_source

    with memory_for(file), uncollected():
        source = read_source(file, encoding=encoding)
        chosen = format_of(source, file, find_format(format) if format else None)
        if chosen.needs_key and file == "-":  # which is gone by now
            raise UsageError(
                "standard input has answers: add --response-format llm, or name a file"
            )
        if chosen.needs_key:
            raise KeyNeededError(f"{source.file} has answers of a language model")
        return chosen.read(source, name=name, **reader_options(chosen, file, word_column, layer))


def reader_options(
    format: Format, file: str, word_column: int | None, layer: str | None
) -> dict[str, Any]:
    """Those options that the reader of a format takes; a UsageError for a layer that it has not."""
    if layer is not None and not format.takes_layer:
        raise UsageError(f"{file} is {format.name}, which has no layers: leave out {layer!r:.60}")
    options: dict[str, Any] = {"word_column": word_column} if format.has_columns else {}
    return options | ({"layer": layer} if format.takes_layer else {})


def format_of(source: Source, file: str, format: Format | None) -> Format:
    """The format that is named, or else that the content tells; an empty file is an InputError.

    So is a file in a zip, if files of its format need each other. An empty `.ann` with its text
    beside it is the annotation of a text without mentions, in the format of its neighbours in the
    folder: a text of LitBank looks like any plain text.
    """
    if source.data.size:
        chosen = format or detect_format(source.data[:HEAD].tobytes(), source.file)
        if not chosen.in_archives and MARK in file and split_member(file):
            raise source.error(
                f"{chosen.title} is not read from a zip, as its files need each other",
                fix="unpack the zip, and name the folder",
            )
        return chosen
    if file.endswith(".ann") and os.path.exists(file.removesuffix(".ann") + ".txt"):
        return format or _format_beside(file)
    raise source.error("the file is empty", fix="check the path")


def _format_beside(file: str) -> Format:
    """The format that an annotation in the folder of a file tells; brat where none does.

    Only the first neighbours are looked at: each of very many may be empty.
    """
    paths: list[str] = []
    with suppress(OSError), os.scandir(os.path.dirname(file) or ".") as folder:
        entries = (entry for entry in islice(folder, _NEIGHBOURS) if entry.name.endswith(".ann"))
        paths += (entry.path for entry in entries if entry.is_file() and entry.stat().st_size)
    for path in sorted(paths):
        with suppress(InputError), open_file(path) as stream:
            return detect_format(stream.read(HEAD), path)
    return find_format("brat")


def read_ahead(jobs: Sequence[Callable[[], T]], paths: Iterable[PathLike] = ("-",)) -> Iterator[T]:
    """Do jobs that read paths, in order, each in the background while the caller uses the last one.

    Reading is most of the time, and mostly array operations, which let another thread run. Small
    files are read when their turn comes: starting a thread would take longer.
    """
    sizes = (os.path.getsize(path) if os.path.isfile(path) else _SMALL for path in paths)
    if sum(sizes) < _SMALL:
        yield from (job() for job in jobs)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        upcoming = [pool.submit(job) for job in jobs[1:2]]
        if jobs:
            yield jobs[0]()
        for index in range(1, len(jobs)):
            corpus = upcoming.pop().result()
            upcoming += [pool.submit(job) for job in jobs[index + 1 : index + 2]]
            yield corpus


def read_with_key(
    jobs: Sequence[Callable[..., Corpus]], paths: Iterable[PathLike] = ("-",)
) -> Iterator[Corpus]:
    """Do reading jobs in order, the first of which reads the key that answers are read against.

    Jobs are calls of `read` that lack no argument but `key`.
    """
    corpora = read_ahead([partial(_try_without_key, job) for job in jobs], paths)
    key = next(corpora)
    for job, corpus in zip(jobs, chain([key], corpora), strict=True):
        yield job(key=key) if corpus is None else corpus


def _try_without_key(job: Callable[[], Corpus]) -> Corpus | None:
    """The corpus that a job reads; None where it needs a key."""
    try:
        return job()
    except KeyNeededError:
        return None


def write(corpus: Corpus, target: PathLike | IO[bytes], *, format: str | None = None) -> Notices:
    """Write a corpus to a file or binary stream; returns notices of what the format cannot express.

    The format follows from the file's ending if it is not named: `.conll` is conll, `.conllu`
    corefud, `.conllua` conllua, `.json` and `.jsonl` are e2e, `.ann` is brat; a file
    without an ending is conll, and any other ending is a UsageError. A path that ends in `.gz` is
    packed; `-` is standard output. Formats with files for each document take a folder, or for a
    single document the name of its `.ann`.

    An earlier file stays as it was until the new one is complete, and so do those of a folder.
    """
    from corefeval.model import Corpus

    if not isinstance(corpus, Corpus):
        raise UsageError(f"only a Corpus can be written, not {corpus!r:.60}")
    if not isinstance(target, str | os.PathLike) and not hasattr(target, "write"):
        raise UsageError(f"a corpus is written to a path or a binary stream, not {target!r:.60}")
    name = os.fspath(target) if isinstance(target, str | os.PathLike) else "-"
    if not name:
        raise UsageError("the file cannot be written: its path is empty")
    chosen = find_format(format) if format else format_for(name)
    if not chosen.writer:
        fix = ": corefeval prompt writes prompts for models" if chosen.needs_key else ""
        raise UsageError(f"{chosen.name} can only be read{fix}")
    files, notices = chosen.write(corpus)
    if set(files) == {""}:
        _write_file(files[""], target)
    elif isinstance(target, str | os.PathLike):
        _write_folder(files, target, chosen)
    else:
        raise UsageError(f"{chosen.name} has files for each document: write it to a folder")
    return notices


def _write_file(data: bytes, target: PathLike | IO[bytes]) -> None:
    if not isinstance(target, str | os.PathLike):
        try:
            target.write(data)
        except TypeError:
            raise UsageError("a corpus is written as bytes: use a binary stream") from None
    elif os.fspath(target) == "-":
        sys.stdout.buffer.write(data)
    else:
        packed = os.fspath(target).endswith(".gz")
        import gzip

        write_file(target, gzip.compress(data) if packed else data)


def _write_folder(files: dict[str, bytes], path: PathLike, format: Format) -> None:
    """Write files into a folder, or those of one document under the name that the path has."""
    from pathlib import Path

    target = Path(path)
    endings = {Path(name).suffix for name in files}
    if target.suffix == ".gz":
        raise UsageError(f"{format.name} has files for each document, not packed: {target}")
    if target.suffix not in endings or os.path.isdir(target):
        write_folder(target, files)
    elif len(files) > len(endings) or not format.endings:
        advice = f"{format.name} has files for each document: write to a folder"
        raise UsageError(f"{target} is one file, and {advice}")
    elif target.suffix not in format.endings:
        raise UsageError(f"{format.name} is written to a folder, or *{format.endings[0]}: {target}")
    else:
        renamed = {target.with_suffix(Path(name).suffix).name: data for name, data in files.items()}
        write_folder(target.parent, renamed)


def fingerprint(path: PathLike, format: str | None = None) -> list[str]:
    """What changes whenever anything does that is read from a path, in this format if it is named.

    For each file behind the path these are its name and digest, and those of the companions that a
    reader may open with it, with the format.
    """
    from corefeval.formats.source import find_sibling

    facts: list[str] = []
    for file in files_of(path)[0]:
        facts += [os.path.basename(file), file_digest(file)]
        endings = [
            ending for ending in dict.fromkeys(chain(*COMPANIONS)) if not file.endswith(ending)
        ]
        siblings = [find_sibling(file, ending) for ending in endings]
        for name in filter(os.path.exists, siblings):
            chosen = find_format(format) if format else _guess_format(file)
            if chosen is None or chosen.companions:
                facts += [str(chosen and chosen.name), os.path.basename(name), file_digest(name)]
        if file.lower().endswith(".mmax"):
            parts = files_of(os.path.dirname(file) or ".", with_companions=True)[0]
            facts += [file_digest(part) for part in parts if part.lower().endswith(".xml")]
    return facts


def _guess_format(file: str) -> Format | None:
    """The format that the first bytes of a file tell; None where they are packed or tell none."""
    with open_file(file) as stream, suppress(UnknownFormatError):
        head: bytes = stream.read(HEAD)
        if not head.startswith(GZIP_MAGIC):
            return detect_format(head, file) if head else _format_beside(file)
    return None
