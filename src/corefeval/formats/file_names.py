"""From document ids to names of files, and back: for formats with a file for each document."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote_to_bytes

from corefeval.diagnostics import Notice
from corefeval.model import DocumentId

_EMPTY = "%"  # no escaped name looks like this
_LONGEST = 200  # bytes; file systems take 255, and there is an ending to come
# Names that some systems keep for devices, whatever their ending.
_RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}


def file_stems(documents: Sequence[DocumentId]) -> tuple[list[str], int]:
    """A file name without ending for each document, and how many do not give the id back.

    Part 0 of `bc/x` becomes `bc%2Fx_0`: what is no letter, digit, `-`, `_` or dot is escaped as in
    web addresses. Names differ even where capitals do not count. Only very long ids, and ids that
    spell the same, are changed.

    >>> file_stems([DocumentId("bc/x", 0), DocumentId("a"), DocumentId("A")])
    (['bc%2Fx_0', 'a', '%41'], 0)
    """
    taken = set(_RESERVED)
    given_back: set[DocumentId] = set()
    stems = [""] * len(documents)
    # Ids without a part have only one spelling, so they choose first.
    for index in sorted(range(len(documents)), key=lambda d: documents[d].part is not None):
        stem = next(
            stem
            for stem in _candidates(documents[index])
            if stem.casefold() not in taken and document_id(stem) not in given_back
        )
        taken.add(stem.casefold())
        given_back.add(document_id(stem))
        stems[index] = stem
    spelled = zip(stems, documents, strict=True)
    return stems, sum(not _gives_back(stem, identifier) for stem, identifier in spelled)


def document_id(stem: str) -> DocumentId:
    """The id of the document in a file, from the file's name without its ending.

    >>> document_id("bc%2Fx_0")
    DocumentId(name='bc/x_0', part=None)
    """
    if stem == _EMPTY:
        return DocumentId("")
    try:
        return DocumentId.parse(unquote_to_bytes(stem).decode("utf-8", "surrogatepass"))
    except UnicodeError:  # somebody else's percent signs
        return DocumentId.parse(stem)


def renamed_documents(count: int) -> list[Notice]:
    """What to say about documents whose files do not give their ids back."""
    text = "{n} whose id cannot be the name of a file as it is"
    return [Notice("document-names", text, count, noun="document")] if count else []


def _candidates(identifier: DocumentId) -> Iterator[str]:
    """Names for a document, the best first, without end."""
    for text in dict.fromkeys((_with_part(identifier), str(identifier))):
        yield from _escapes(text)
    whole = _escaped(_with_part(identifier)).encode()
    shortened = whole[: _LONGEST - 40].decode(errors="ignore")
    number = 1
    while True:
        digest = hashlib.sha256(f"{number} {identifier!r}".encode(errors="replace")).hexdigest()
        yield f"{shortened}_{digest[:16]}"
        number += 1


def _escapes(text: str) -> Iterator[str]:
    """The ways to escape a text, from as little as is needed to all of it."""
    for length in (0, 1, len(text)):
        stem = _escaped(text, length) or _EMPTY
        if len(stem.encode()) <= _LONGEST:
            yield stem


def _escaped(text: str, length: int = 0) -> str:
    """The text with everything unsafe escaped, and everything before a place."""
    return _escape_all(text[:length]) + re.sub(
        r"^\.|[^\w.-]|\.$", lambda unsafe: _escape_all(unsafe[0]), text[length:]
    )


def _escape_all(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def _with_part(identifier: DocumentId) -> str:
    name, part = identifier
    return str(name) if part is None else f"{name}_{part}"


def _gives_back(stem: str, identifier: DocumentId) -> bool:
    again = document_id(stem)
    return again == identifier or again == DocumentId(_with_part(identifier))
