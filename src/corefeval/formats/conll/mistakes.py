"""What can be wrong with a CoNLL file, as errors that say where and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corefeval.diagnostics import InputError, excerpt
from corefeval.formats.conll.cells import Brackets
from corefeval.formats.conll.hash_lines import is_coreference
from corefeval.formats.conll.tokens import ConllTokens
from corefeval.formats.source import Source
from corefeval.model import DocumentId
from corefeval.model.arrays import IntArray

if TYPE_CHECKING:
    from corefeval.formats.conll.headers import Outline

CELL_EXAMPLES = "‘-’, ‘_’, nothing, or brackets such as ‘(12’, ‘12)’, ‘(12)’, ‘(3|(12)’"


def repeated_document(source: Source, identifier: DocumentId, first: int, again: int) -> InputError:
    """Two documents of one id, by the lines (counted from 0) on which they begin."""
    return InputError(
        f"document {excerpt(str(identifier))} is there twice",
        file=source.file,
        line=again + 1,
        found=f"a second ‘#begin document’ for it (the first is on line {first + 1})",
        expected="one document for each id and part",
        fix="rename or remove one of the two, or number them with ‘part’",
    )


def no_document(source: Source) -> InputError:
    """A file without documents and tokens."""
    return InputError(
        "there is no document in the file",
        file=source.file,
        expected="‘#begin document (id); part 000’ and a line for each token",
        fix="check that this is the file you mean, and its format",
    )


def control_character(source: Source, line: int, text: bytes) -> InputError:
    """A line (counted from 0) with a byte that no text has."""
    return InputError(
        "a control character, which would shift the columns of its line",
        file=source.file,
        line=line + 1,
        found=excerpt(text.decode(source.encoding, "replace").strip(" \r")),
        expected="text: no NUL, nor any other byte below the tab",
        fix="remove the character, or name the file's encoding with --encoding / encoding=…",
    )


def stray_token(source: Source, line: int, text: bytes) -> InputError:
    """A token that no document has: its line (counted from 0), and what stands there."""
    return InputError(
        "a token outside of any document",
        file=source.file,
        line=line + 1,
        found=excerpt(text.decode(source.encoding, "replace").strip()),
        expected="tokens only between ‘#begin document (id); part 000’ and ‘#end document’",
        fix="put the document's first line before its tokens, or check the format of the file",
    )


def no_coreference_cell(tokens: ConllTokens, token: int) -> InputError:
    """A token line whose last cell is no coreference, or is all that there is."""
    cells = tokens.cells(token)
    if len(cells) == 1 and is_coreference(cells[0].encode()):
        return InputError(
            "there is coreference, but no token",
            file=tokens.origin.file,
            line=int(tokens.line_number[token]) + 1,
            found=excerpt(cells[0]) + " as the only column",
            expected="two columns or more, coreference in the last",
            fix="put the token before its coreference",
        )
    return InputError(
        "the last column is no coreference column",
        file=tokens.origin.file,
        line=int(tokens.line_number[token]) + 1,
        found=excerpt(cells[-1]) + (" as the only column" if len(cells) == 1 else ""),
        expected=CELL_EXAMPLES,
        fix="coreference must be the last column of every token line",
    )


def bracket_text(source: Source, brackets: Brackets, row: int) -> str:
    """A bracket as it is written: `(12` or `12)`."""
    begin, length = int(brackets.position[row]), int(brackets.length[row])
    identifier = source.data[begin : begin + length].tobytes().decode(source.encoding, "replace")
    return f"({identifier}" if brackets.opens[row] else f"{identifier})"


def document_of(outline: Outline, tokens: ConllTokens, token: int) -> DocumentId:
    """The document in which a token stands."""
    documents, first = tokens.with_tokens
    place = int(np.searchsorted(first, token, side="right")) - 1
    return outline.identifiers[int(documents[place])]


def unmatched_bracket(
    outline: Outline,
    tokens: ConllTokens,
    token: IntArray,
    brackets: Brackets,
    row: int,
    others: int = 0,
) -> InputError:
    """A bracket without the one that opens or closes it, and so many others of its cell."""
    source = tokens.origin
    opens = bool(brackets.opens[row])
    text = bracket_text(source, brackets, row)
    identifier = text[1:] if opens else text[:-1]
    where = excerpt(str(document_of(outline, tokens, int(token[row]))))
    return InputError(
        f"a mention of entity {excerpt(identifier)} in document {where} never "
        + ("closes" if opens else "opens")
        + (f", and {others:,} other brackets of its cell have no partner either" if others else ""),
        file=source.file,
        line=int(tokens.line_number[token[row]]) + 1,
        found=excerpt(text),
        expected=excerpt(f"{identifier})" if opens else f"({identifier}")
        + (" on this line or a later one" if opens else " on this line or an earlier one"),
        fix="add the missing bracket, or remove this one",
    )
