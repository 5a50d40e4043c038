"""`corefeval stats`: what is in a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG, file_parameter, tell
from corefeval.display import json_text

if TYPE_CHECKING:
    from corefeval.analysis.statistics import Statistics

_FILE = file_parameter("stats")

_LABELS = {
    "documents": "Documents",
    "sentences": "Sentences",
    "tokens": "Tokens",
    "empty_nodes": "  empty nodes",
    "mentions": "Mentions",
    "nested": "  nested",
    "discontinuous": "  discontinuous",
    "zeros": "  zeros",
    "repeated": "  repeated",
    "mean_mention_length": "  mean length",
    "entities": "Entities",
    "singletons": "  singletons",
    "mean_entity_size": "  mean size",
    "largest_entity": "  largest",
}


def stats(
    file: Annotated[str, _FILE()],
    /,
    *more: Annotated[str, _FILE(name="MORE")],
    format: Annotated[Literal["text", "json"], Parameter(alias="-f")] = "text",
    input_format: str | None = None,
    features: str | None = None,
    encoding: str = "utf-8",
    word_column: int | None = None,
    quiet: Annotated[bool, FLAG(alias="-q")] = False,
) -> None:
    """Count what is in files: documents, tokens, mentions, entities and their sizes.

    Parameters
    ----------
    file
        A file, a folder, or a pattern in quotes.
    more
        More of them, each a column of the table.
    format
        How to print.
    input_format
        The files' format, if it is not to be told by their content.
    features
        A file that states features of mentions, to be counted too: tab-separated columns document,
        start, end (or mention), and one for each feature, such as kind.
    encoding
        The files' character encoding.
    word_column
        Which column of CoNLL files is the words, counted from 1, if it is not to be told by what is
        in it.
    quiet
        Print no notices.
    """
    from corefeval.analysis.statistics import statistics
    from corefeval.formats import read
    from corefeval.preparation import stated_features

    found, notices = [], []
    for path in (file, *more):
        corpus = read(path, format=input_format, encoding=encoding, word_column=word_column)
        given, said = stated_features(features, corpus, encoding=encoding)
        found.append(statistics(corpus, features=given))
        notices += [*corpus.notices, *said]
    if format == "json":
        sys.stdout.write(json_text([one.as_dict() for one in found]))
    else:
        sys.stdout.write(_table(found))
    if not quiet:
        tell(notices)


def _table(found: list[Statistics]) -> str:
    from corefeval.output.tables import Cell, Column, Table
    from corefeval.output.terminal import drawn_text

    rows = [
        (label, *(_number(getattr(one, name)) for one in found))
        for name, label in _LABELS.items()
        if any(getattr(one, name) is not None for one in found)
    ]
    rows += [
        (f"  of size {size}", *(_number(one.sizes[size]) for one in found))
        for size in found[0].sizes
    ]
    for kind in dict.fromkeys(name for one in found for name in one.kinds):
        rows.append((kind, *("" for _ in found)))
        values = dict.fromkeys(value for one in found for value in one.kinds.get(kind, {}))
        rows += [
            (
                f"  {value or '(none)'}",
                *(_number(one.kinds.get(kind, {}).get(value, 0)) for one in found),
            )
            for value in values
        ]
    names = (one.name.rsplit("/", 1)[-1] for one in found)
    columns = (Column(""), *(Column(name, numeric=True) for name in names))
    table = Table(columns, (tuple(tuple(map(Cell, row)) for row in rows),))
    return drawn_text([table], gap=2)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
