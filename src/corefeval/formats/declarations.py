"""What a declaration of a format says: how it is recognised, read and written, what it loses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from corefeval.checks import import_place
from corefeval.diagnostics import Notices

if TYPE_CHECKING:
    from corefeval.model import Corpus, Relation


_ROOM = "corefeval.formats"  # of functions that are named by module and name
EVERYTHING = "*"  # all metadata of documents and sentences


class Written(NamedTuple):
    """What a writer made: the content of files by name, and what the format could not carry.

    A format of one file uses the empty name, which stands for the target itself; a format with
    files for each document names them, and the target is their folder. What was lost is in notices,
    or counted by the kinds of `notices.toml`. Of the corpus' `relations` those are listed that were
    left out, by default all; `features` are those that were written, where this depends on the
    corpus, and `partial` the columns that were left out as only some documents have them.
    """

    files: Mapping[str, str | bytes]
    notices: Notices = ()
    counts: Mapping[str, int] = {}
    relations: Sequence[Relation] | None = None
    features: Collection[str] | None = None
    partial: Collection[str] | None = None


class Format(NamedTuple):
    """A file format: how it is recognised, read and written, what it keeps and what it loses.

    A file is in this format where `sign`, a pattern, is found in its first bytes, or else where
    `looks_like` says so of them; one without either is only read where somebody names it. XML must
    also have one of the `roots`, JSON a key of each choice in `keys` and none that is `absent`.

    `reader` and `writer` are functions, or name those of this package as `module:function`, to be
    imported when a file asks for them: the reader makes a `Corpus` of a `Source` (and `name=`), the
    writer `Written` of a `Corpus`. Where several formats share them, `kind` says which is meant. A
    format without a writer is only read. A file whose name ends in one of `endings` is written in
    this format where none is named; `title` is what errors call it. `companions` are the endings of
    files that differ in nothing else, which the reader opens as well.

    A format that `needs_key` is read against the key's tokens: its reader takes `key=`, a corpus,
    and a path or what else has answers in the place of a `Source`. With `has_columns`, the reader
    can be told which column is the words (`word_column=`), with `takes_layer` which annotation
    counts (`layer=`). A format that is not read `in_archives` needs other files in its folder.

    Of what a corpus has beside words, mentions and entities, `columns` of tokens, `features` of
    mentions and `metadata` with these names are written; with `has_texts` texts without tokens as
    they are, with `has_layers` discourse deixis and mentions that refer to nothing. What the writer
    counts, `notices.toml` says under the `title`. `cutter` is the function that finds the documents
    in the bytes of a file; without one, files are read as a whole.
    """

    name: str
    summary: str
    reader: str | Callable[..., Corpus]
    writer: str | Callable[..., Written] = ""
    sign: bytes = b""
    roots: str = ""
    keys: str = ""
    absent: str = "clusters"
    looks_like: Callable[[bytes], bool] | None = None
    kind: str = ""
    title: str = ""
    endings: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    needs_key: bool = False
    has_columns: bool = False
    takes_layer: bool = False
    in_archives: bool = True
    has_layers: bool = False
    has_texts: bool = False
    columns: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    cutter: str = ""

    def read(self, source: Any, **options: Any) -> Corpus:
        """The corpus in a source; `options` are what the reader takes, such as `name=`."""
        corpus: Corpus = import_place(self.reader, _ROOM)(source, **self._which(), **options)
        return corpus

    def _which(self) -> dict[str, str]:
        return {"kind": self.kind} if self.kind else {}

    def write(self, corpus: Corpus) -> tuple[dict[str, bytes], Notices]:
        """The files of a corpus as bytes, and notices of what they do not keep of it."""
        from corefeval.formats.losses import adapt_corpus, encode_text, note_losses

        fitting, notices = adapt_corpus(corpus, self)
        written: Written = import_place(self.writer, _ROOM)(fitting, **self._which())
        files = {name: encode_text(text) for name, text in written.files.items()}
        return files, (*notices, *written.notices, *note_losses(self, fitting, written))

    def find_documents(self, *arguments: Any) -> Any:
        """The `Ranges` that the cutter finds in a file; None where the format has no cutter."""
        return import_place(self.cutter, _ROOM)(*arguments) if self.cutter else None
