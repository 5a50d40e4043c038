"""Arguments, and other words for options, that several commands share."""

from __future__ import annotations

from corefeval.cli.parsing import Argument

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
