"""`corefeval convert`: from one format to another."""

from __future__ import annotations

import os
from typing import Annotated

from corefeval.cli.arguments import FLAG, file_parameter, tell
from corefeval.diagnostics import UsageError

_FILE = file_parameter("convert")


def convert(
    source: Annotated[str, _FILE()],
    target: Annotated[str, _FILE()],
    /,
    *,
    to: str,
    input_format: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
    quiet: Annotated[bool, FLAG(alias="-q")] = False,
) -> None:
    """Convert a corpus from one format to another; says what the target cannot carry.

    ```
    corefeval convert key.conllu key.conll --to conll
    corefeval convert 'dev/*.conll' dev.jsonl --to e2e
    corefeval convert key.conll folder --to brat
    ```

    Parameters
    ----------
    source
        A file, a folder, a pattern in quotes, or `-` for standard input.
    target
        A file, `-` for standard output, or a folder for formats with files per document.
    to
        The format to write: corefud, conll, e2e, bookcoref, preco, crac-json, maverick, fastcoref,
        crac-text, litbank or brat.
    input_format
        The format to read, if it is not to be told by the content.
    encoding
        The files' character encoding.
    word_column
        Which column of CoNLL files is the words, counted from 1, if it is not to be told by what is
        in it.
    quiet
        Do not list what the format cannot carry.
    """
    from corefeval.formats import read, write
    from corefeval.formats.registry import named

    named(to)
    if os.path.exists(source) and os.path.exists(target) and os.path.samefile(source, target):
        raise UsageError(f"the output would overwrite the input: {target}")
    corpus = read(source, format=input_format, encoding=encoding, word_column=word_column)
    notices = (*corpus.notices, *write(corpus, target, format=to))
    if not quiet:
        tell(notices)
