"""The options of all commands that read a key and responses to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from corefeval.cli.arguments import FLAG


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read, and which policies apply.

    Parameters
    ----------
    singletons
        Keep entities of one mention, or drop them on both sides.
    duplicates
        Which of repeated mentions stays, or whether they are an error.
    documents
        Only documents whose id matches this glob.
    ignore_tokens
        Go on where a response's tokens are not the key's.
    tagset
        What tags mean (penn, upos, stts, or a JSON file of your own), if they do not tell.
    features
        A file that states features: tab-separated columns document, start, end (or mention), and
        one for each feature, such as kind.
    key_format
        The key's format (conll, corefud, e2e, …), if it is not to be told by its content.
    response_format
        The responses' format, if it is not to be told by their content.
    encoding
        The files' character encoding.
    word_column
        Which column of CoNLL files is the words, counted from 1, if it is not to be told by what is
        in it.
    quiet
        Print no notices and no progress.
    """

    singletons: Literal["keep", "drop"] = "keep"
    duplicates: Literal["first", "last", "error"] = "first"
    documents: str | None = None
    ignore_tokens: Annotated[bool, FLAG()] = False
    tagset: str | None = None
    features: str | None = None
    key_format: str | None = None
    response_format: str | None = None
    encoding: str = "utf-8"
    word_column: int | None = None
    quiet: Annotated[bool, FLAG(alias="-q")] = False

    @property
    def files(self) -> dict[str, Any]:
        """The options that `read` takes by these names, for keys and responses alike."""
        return {name: getattr(self, name) for name in ("encoding", "word_column")}

    @property
    def policies(self) -> dict[str, Any]:
        """The options that `score` and its like take by these names."""
        names = ("singletons", "duplicates", "documents", "ignore_tokens", "tagset", "features")
        return {name: getattr(self, name) for name in (*names, "encoding")}


READING = Reading()
