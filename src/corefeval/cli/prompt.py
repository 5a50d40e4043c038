"""`corefeval prompt`: what to ask a language model, in a style that is read back."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, check_paths, file_parameter, tell
from corefeval.cli.reading import KEY, KeyReading
from corefeval.diagnostics import UsageError
from corefeval.files import write_file

_FILE = file_parameter("prompt")

StyleName = Literal[
    "markdown", "bracket", "xml", "crac", "subscript", "hash", "colon", "seq2seq", "mask", "curly",
    "tanl", "json", "lines", "qa", "link-append",
]  # fmt: skip


def prompt(
    key: Annotated[str, _FILE(help="The documents to ask about: a file, folder or pattern.")],
    /,
    *,
    style: Annotated[StyleName, Parameter(alias="-s")] = "markdown",
    mentions: Annotated[bool, FLAG()] = False,
    shots: int = 0,
    train: Annotated[str | None, _FILE(name="--from")] = None,
    max_tokens: int | None = None,
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    reading: KeyReading = KEY,
) -> None:
    """Write what to ask a language model: JSON lines with id, system and user text.

    ```
    corefeval prompt key.conll --style markdown -o prompts.jsonl
    corefeval prompt key.conll --style json --shots 2 --from train.conll
    corefeval score key.conll answers.jsonl
    ```

    The answers, with the same ids, are scored as they come. No model is called.

    Parameters
    ----------
    style
        How mentions are to be written.
    mentions
        Mark the key's mentions in the text; only their entities are asked for.
    shots
        How many worked examples come before the text.
    train
        The corpus that worked examples are taken from.
    max_tokens
        Cut documents into pieces of so many tokens, at ends of sentences.
    output
        Write to this file instead of standard output.
    """
    from corefeval.formats import read
    from corefeval.formats.answers.prompts import write_prompts

    paths = [path for path in (key, train) if path is not None]
    check_paths([], paths, output)
    if train is not None and not shots:
        raise UsageError("--from is where worked examples come from: say how many with --shots")
    corpora = [read(path, **reading.of_key) for path in paths]
    examples = corpora[1] if len(corpora) > 1 else None
    made = write_prompts(
        corpora[0], style, mentions=mentions, examples=examples, shots=shots, max_tokens=max_tokens
    )
    if output is None:
        sys.stdout.write(made.text)
    else:
        write_file(output, made.text, problem="the output cannot be written")
    if not reading.quiet:
        tell([*(notice for corpus in corpora for notice in corpus.notices), *made.notices])
