"""`corefeval check`, `convert`, `stats` and `prompt`: what is done with files before any score."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, Format, Output, file_parameter
from corefeval.cli.pieces import FILE_PIECES, FilePieces
from corefeval.cli.printing import check_paths, put, show, tell
from corefeval.cli.reading import (
    AGAINST,
    CHECKED,
    FILES,
    KEY,
    AgainstReading,
    CheckReading,
    FileReading,
    KeyReading,
)
from corefeval.diagnostics import UsageError
from corefeval.protocol import Occurrences, Protocol

if TYPE_CHECKING:
    from corefeval.analysis.statistics import Statistics
    from corefeval.diagnostics import Notice
    from corefeval.linting import FileRepair, Inspection

_CHECK_FILE = file_parameter("check")
_CONVERT_FILE = file_parameter("convert")
_STATS_FILE = file_parameter("stats")
_PROMPT_FILE = file_parameter("prompt")

StyleName = Literal["markdown", "xml", "crac", "json"]


def check(
    file: Annotated[str, _CHECK_FILE(help="A file, folder or pattern; `-` is standard input.")],
    /,
    *more: Annotated[str, _CHECK_FILE(name="MORE", help="More of them.")],
    against: Annotated[str | None, _CHECK_FILE()] = None,
    fix: Annotated[str | None, _CHECK_FILE()] = None,
    format: Annotated[Literal["text", "json"], Parameter(alias="-f")] = "text",
    show_all: Annotated[bool, FLAG(name="--all")] = False,
    strict: Annotated[bool, FLAG()] = False,
    protocol: str | None = None,
    reading: CheckReading = CHECKED,
    pieces: FilePieces = FILE_PIECES,
) -> int:
    """Look for mistakes and oddities in files, on their own or against a key.

    ```
    corefeval check response.conll
    corefeval check response.conll --against key.conll
    corefeval check response.conllu --against key.conllu --protocol corefud-1.2
    corefeval check broken.conll --fix repaired.conll
    corefeval check corpus/ --format json
    corefeval check corpus/ --quiet --strict
    ```

    The exit status is 1 if there is an error: something that stops scoring or loses mentions.
    With `--against`, the verdict is that of `corefeval suite check`. Large files are read in
    pieces, except with `--against`, `--protocol` and `--fix`.

    Parameters
    ----------
    against
        The key that the files are responses to, to compare documents and tokens with. Both are
        read into memory whole.
    fix
        Write a repaired copy of the file (only one) here, and list every repair. The file is read
        into memory whole.
    format
        How to print; `json` has all findings.
    show_all
        Print all findings of a kind, not only the first five.
    strict
        Let warnings, too, fail a file.
    protocol
        Also fail files that cannot be scored in this way: a name, or a signature. `corefeval
        protocols` lists them.
    """
    from corefeval.formats import read
    from corefeval.linting import inspect, repair_file
    from corefeval.suites.checking import judge

    paths = (file, *more)
    if [*paths, against].count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    if fix is not None and more:
        raise UsageError("only one file can be repaired at a time")
    if fix is not None and reading.documents != "*":
        raise UsageError("only whole files can be repaired: leave out --documents")
    reading.check_key(against)
    documents = reading.documents
    rules = None if protocol is None else Protocol.of(protocol, documents=documents)
    key = None
    if against is not None:
        key = read(against, **reading.of_key).choose_documents(documents)
        tell(() if reading.quiet else key.notices)
    is_plain = key is None and rules is None
    repair, groups = None, []
    if fix is not None:
        repair = repair_file(file, fix, against=key, **reading.of_file)
        groups = [list(repair.after)]
    elif is_plain:
        groups = [_check_large(paths, reading, pieces)]
    if not any(groups):
        file_options: dict[str, Any] = {"against": key, "documents": documents, **reading.of_file}
        groups = [inspect(path, **file_options) for path in paths]
    if not is_plain:
        groups = [judge(group, key, rules) for group in groups]
    inspections = [inspection for group in groups for inspection in group]
    shown: dict[str, bool] = {"all": show_all, "strict": strict, "quiet": reading.quiet}
    _print(inspections, repair, format, shown)
    return int(any(inspection.fails(strict) for inspection in inspections))


def _check_large(
    paths: Sequence[str], reading: CheckReading, pieces: FilePieces
) -> list[Inspection]:
    """The inspections of large files, made in pieces; none if any file is not cut into pieces."""
    with pieces.cutting(quiet=reading.quiet) as cutting:
        if not all(cutting.suits(path) for path in paths):
            return []
        from corefeval.pieces.files import check_file
        from corefeval.request import Reading

        inspections: list[Inspection] = []
        for path in paths:
            inspection = check_file(path, Reading(**reading.of_file), cutting, reading.documents)
            if inspection is None:
                return []
            inspections.append(inspection)
    return inspections


def _print(
    inspections: list[Inspection], repair: FileRepair | None, format: str, shown: dict[str, bool]
) -> None:
    """Print the report; to the error stream where standard output is the repaired file."""
    from corefeval.linting.outcomes import render_json, render_text

    is_taken = repair is not None and repair.target in ("-", "/dev/stdout")
    stream = sys.stderr if is_taken else sys.stdout
    if format == "json":
        stream.write(render_json(inspections, repair, strict=shown["strict"]))
        return
    color = stream.isatty() and not os.environ.get("NO_COLOR")
    stream.write(render_text(inspections, repair, color=color, **shown))


def convert(
    source: Annotated[str, _CONVERT_FILE()],
    target: Annotated[str, _CONVERT_FILE()],
    /,
    *,
    to: str | None = None,
    against: Annotated[str | None, _CONVERT_FILE()] = None,
    occurrences: Occurrences = "in-order",
    heads: Literal["dependencies"] | None = None,
    reading: AgainstReading = AGAINST,
) -> None:
    """Convert a corpus from one format to another, and list what the target cannot express.

    ```
    corefeval convert key.conllu key.conll --to conll
    corefeval convert 'dev/*.conll' dev.jsonl --to e2e
    corefeval convert key.conll folder --to brat
    corefeval convert answers.jsonl response.conll --against key.conll
    corefeval convert corpus/ small.conll --documents 'bc/*'
    corefeval convert gum.conllu gum-heads.conllu --heads dependencies
    ```

    Parameters
    ----------
    source
        A file, a folder, a pattern in quotes, or `-` for standard input.
    target
        A file, `-` for standard output, or a folder for formats with files per document.
    to
        The format to write, if the target's ending does not show it: corefud, conll, conllua, e2e,
        bookcoref, preco, crac-json, maverick, fastcoref, crac-text, litbank or brat.
    against
        The key that a language model's answers are about; its documents and tokens are written.
    occurrences
        Which occurrence a string in a language model's list refers to.
    heads
        Add heads, found by the dependencies, to mentions that have none.
    """
    from corefeval.formats import read, write
    from corefeval.formats.registry import find_format, format_for

    _ = find_format(to) if to is not None else format_for(target)
    if [source, against].count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    reading.check_key(against)
    if os.path.exists(source) and os.path.exists(target) and os.path.samefile(source, target):
        raise UsageError(f"the output would overwrite the input: {target}")
    key = None if against is None else read(against, **reading.of_key)
    corpus = read(source, key=key, occurrences=occurrences, **reading.of_file)
    corpus = corpus.choose_documents(reading.documents)
    if key is not None and corpus.ledger is None:
        raise UsageError(f"{source} has its own tokens: leave out --against")
    if heads is not None:
        from corefeval.features.annotations import add_dependency_heads

        corpus = add_dependency_heads(corpus)
    notices = (*corpus.notices, *write(corpus, target, format=to))
    tell(notices, quiet=reading.quiet)


def stats(
    file: Annotated[str, _STATS_FILE()],
    /,
    *more: Annotated[str, _STATS_FILE(name="MORE")],
    format: Format = "text",
    output: Output = None,
    features: str | None = None,
    reading: FileReading = FILES,
    pieces: FilePieces = FILE_PIECES,
) -> None:
    """Count what is in files: documents, tokens, mentions, entities and their sizes.

    Parameters
    ----------
    file
        A file, a folder, or a pattern in quotes.
    more
        More of them; each is a column of the table.
    features
        A file of features of mentions, which are counted too: tab-separated columns document,
        start, end (or mention), and one for each feature, such as kind.
    """
    from corefeval.analysis.statistics import statistics
    from corefeval.formats import read
    from corefeval.preparation import stated_features

    check_paths([], [file, *more], output)
    counts: list[Statistics] = []
    notices: list[Notice] = []
    with pieces.cutting(quiet=reading.quiet) as cutting:
        for path in (file, *more):
            if features is None and cutting.suits(path):
                from corefeval.pieces.files import count_files
                from corefeval.request import Reading

                file_reading = Reading(**reading.of_file)
                tally = count_files(path, file_reading, cutting, reading.documents)
                if tally is not None:
                    counts.append(tally[0])
                    notices += tally[1]
                    continue
            corpus = read(path, **reading.of_file).choose_documents(reading.documents)
            statements, feature_notices = stated_features(
                features, corpus, encoding=reading.encoding
            )
            counts.append(statistics(corpus, features=statements))
            notices += [*corpus.notices, *feature_notices]
    show(counts, output, format=format)
    tell(notices, quiet=reading.quiet)


def prompt(
    key: Annotated[
        str, _PROMPT_FILE(help="The documents to ask about: a file, folder or pattern.")
    ],
    /,
    *,
    style: Annotated[StyleName, Parameter(alias="-s")] = "markdown",
    mentions: Annotated[bool, FLAG()] = False,
    shots: int = 0,
    train: Annotated[str | None, _PROMPT_FILE(name="--from")] = None,
    max_tokens: int | None = None,
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    reading: KeyReading = KEY,
) -> None:
    """Write prompts for a language model: JSON lines with id, system and user text.

    ```
    corefeval prompt key.conll --style markdown -o prompts.jsonl
    corefeval prompt key.conll --style json --shots 2 --from train.conll
    corefeval score key.conll answers.jsonl
    ```

    No model is called. Score its answers as they are, with the same ids.

    Parameters
    ----------
    style
        How the model should write mentions.
    mentions
        Mark the key's mentions in the text, and ask only for their entities.
    shots
        How many worked examples come before the text.
    train
        The corpus that worked examples are taken from.
    max_tokens
        Cut documents into pieces of at most this many tokens, at ends of sentences.
    output
        Write to this file instead of standard output.
    """
    from corefeval.formats import read
    from corefeval.formats.answers.prompts import write_prompts

    paths = [path for path in (key, train) if path is not None]
    check_paths([], paths, output)
    if train is not None and not shots:
        raise UsageError("--from is where worked examples come from: add their number with --shots")
    corpora = [read(path, **reading.of_key) for path in paths]
    examples = corpora[1] if len(corpora) > 1 else None
    prompts = write_prompts(
        corpora[0], style, mentions=mentions, examples=examples, shots=shots, max_tokens=max_tokens
    )
    put(prompts.text, output)
    tell(
        [*(notice for corpus in corpora for notice in corpus.notices), *prompts.notices],
        quiet=reading.quiet,
    )
