"""Options about files: how they are read, and how large ones are cut."""

from __future__ import annotations

from corefeval.cli.parsing import Option
from corefeval.files import UNPACK_LIMIT

FILES = (
    Option(
        "--input-format FORMAT",
        "The files' format; by default it is recognised by their content.",
    ),
    Option(
        "--file-format FORMAT",
        "The files' format (conll, corefud, e2e, …); by default it is recognised by their content.",
        rare=True,
    ),
    Option(
        "--key-format FORMAT",
        "The key's format (conll, corefud, e2e, …); by default it is recognised by its content.",
        rare=True,
    ),
    Option(
        "--probe-format FORMAT",
        "The probe's format (gap, winobias, …); by default it is recognised by its content.",
        rare=True,
    ),
    Option(
        "--response-format FORMAT",
        "The responses' format; by default it is recognised by their content.",
        rare=True,
    ),
    Option(
        "--file-layer NAME",
        "Which layer of annotation counts in the files, where they have several.",
        rare=True,
    ),
    Option("--key-layer NAME", "Which layer of annotation counts in the key.", rare=True),
    Option("--response-layer NAME", "Which layer of annotation counts in responses.", rare=True),
    Option(
        "--answer-at PATH",
        "Where records of an unknown kind have a model's answer, such as `turns[-1].text`.",
        rare=True,
    ),
    Option(
        "--id-at PATH",
        "Where records have the id of the document that the answer is about.",
        rare=True,
    ),
    Option("--encoding NAME", "The files' character encoding.", "utf-8", rare=True),
    Option(
        "--key-encoding NAME",
        "The key's character encoding, if it differs from the others'.",
        rare=True,
    ),
    Option(
        "--response-encoding NAME",
        "The responses' character encoding, if it differs from the key's.",
        rare=True,
    ),
    Option(
        "--word-column N",
        "Which column of CoNLL files has the words, counted from 1; by default it is recognised "
        "by its content.",
        rare=True,
    ),
    Option(
        "--features FILE",
        "A file of features of mentions: tab-separated columns document, start, end (or mention), "
        "and one for each feature, such as kind.",
        rare=True,
    ),
    Option(
        "--unpack-limit SIZE",
        "How much a packed file may unpack to, such as 20GB.",
        usual=UNPACK_LIMIT,
        rare=True,
    ),
)
LARGE_FILES = (
    Option("--jobs N", "How many processes work on pieces of large files.", 1),
    Option(
        "--piece-size SIZE",
        "Work in pieces of this size (of the key), such as 16MB; a size above the files' keeps "
        "them whole in memory. By default, files above 200MB are cut into pieces of 16MB.",
        rare=True,
    ),
    Option(
        "--scheduler ADDRESS",
        "The address of a Dask scheduler whose workers work on pieces, such as tcp://host:8786.",
        rare=True,
    ),
    Option(
        "--resume FOLDER",
        "Keep finished pieces in this folder, so that an interrupted run can continue.",
        rare=True,
    ),
)
