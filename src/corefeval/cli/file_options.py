"""What commands take about files: arguments, how they are read, and how large ones are cut."""

from __future__ import annotations

from corefeval.cli.parsing import Argument, Option
from corefeval.files import UNPACK_LIMIT

KEY = Argument("KEY", "The key: a file, folder or pattern; `-` is standard input.")
KEY_OR_SAVED = Argument("KEY", "The key (a file, folder, pattern or `-`), or a saved file.")
RESPONSE = Argument("RESPONSE", "A response, as PATH or NAME=PATH.")
MORE = Argument("[MORE...]", "More responses.")
ANNOTATOR = Argument("FILE", "One annotator's file, folder or pattern, or NAME=PATH.")
MORE_ANNOTATORS = MORE._replace(help="More annotators.")
FILE = Argument("FILE", "A file, folder or pattern; `-` is standard input.")

SIDES = (
    "key_format response_format key_layer response_layer encoding key_encoding response_encoding "
    "word_column"
)
ANSWERS = "answer_at id_at"
READING = "response_format response_layer encoding response_encoding word_column unpack_limit"
DOCUMENTS = {
    "help": "Only documents whose id matches this pattern, such as 'bc/*'.",
    "default": "*",
    "group": "Options",
}
LAYER = {
    "spelled": "--layer NAME",
    "help": "Which layer of annotation counts, in files of annotation tools that have several.",
    "choices": (),
    "usual": "",
    "group": "Files",
}
WRITTEN_FORMAT = {
    "spelled": "--to FORMAT",
    "help": "The format to write, if the target's ending does not show it: corefud, conll, "
    "conllua, e2e, bookcoref, preco, crac-json, maverick, fastcoref, crac-text, litbank, brat or "
    "webanno.",
}
LISTED = {"choices": ("text", "json")}

_RARE_FILES = (
    Option(
        "--file-format FORMAT",
        "The files' format (conll, corefud, e2e, …); by default it is recognised by their content.",
    ),
    Option(
        "--key-format FORMAT",
        "The key's format (conll, corefud, e2e, …); by default it is recognised by its content.",
    ),
    Option(
        "--probe-format FORMAT",
        "The probe's format (gap, winobias, …); by default it is recognised by its content.",
    ),
    Option(
        "--response-format FORMAT",
        "The responses' format; by default it is recognised by their content.",
    ),
    Option(
        "--file-layer NAME",
        "Which layer of annotation counts in the files, where they have several.",
    ),
    Option("--key-layer NAME", "Which layer of annotation counts in the key."),
    Option("--response-layer NAME", "Which layer of annotation counts in responses."),
    Option(
        "--answer-at PATH",
        "Where records of an unknown kind have a model's answer, such as `turns[-1].text`.",
    ),
    Option(
        "--id-at PATH",
        "Where records have the id of the document that the answer is about.",
    ),
    Option("--encoding NAME", "The files' character encoding.", "utf-8"),
    Option(
        "--key-encoding NAME",
        "The key's character encoding, if it differs from the others'.",
    ),
    Option(
        "--response-encoding NAME",
        "The responses' character encoding, if it differs from the key's.",
    ),
    Option(
        "--word-column N",
        "Which column of CoNLL files has the words, counted from 1; by default it is recognised "
        "by its content.",
    ),
    Option(
        "--features FILE",
        "A file of features of mentions: tab-separated columns document, start, end (or mention), "
        "and one for each feature, such as kind.",
    ),
    Option(
        "--unpack-limit SIZE",
        "How much a packed file may unpack to, such as 20GB.",
        usual=UNPACK_LIMIT,
    ),
)
FILES = (
    Option(
        "--input-format FORMAT",
        "The files' format; by default it is recognised by their content.",
    ),
    *(option._replace(rare=True) for option in _RARE_FILES),
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
