"""Whether a response is the same text as its key."""

from __future__ import annotations

from collections.abc import Sequence

from corefeval.diagnostics import PairingError, excerpt
from corefeval.model import DocumentId, TokenDifference, Tokens
from corefeval.model.arrays import IntArray

_GO_ON = "or go on with --ignore-tokens / ignore_tokens=True"


def check_tokens(
    documents: Sequence[DocumentId], key: Tokens, response: Tokens, paired: IntArray, name: str
) -> None:
    """Refuse a response of another text, at the first difference.

    `name` is the response's own, for tokens of several files, which have no source.
    """
    file = response.source or name or None
    unequal = paired[key.counts[paired] != response.counts[paired]]
    if unequal.size:
        raise _other_length(documents, key, response, int(unequal[0]), file)
    difference = key.first_difference(response, paired)
    if difference is not None:
        found, expected = _describe(difference, key)
        fix = f"score the same tokenisation, {_GO_ON}"
        if "�" in difference.theirs + difference.mine:
            fix = f"name the files' encoding with --encoding / encoding=…, {_GO_ON}"
        identifier, line = documents[difference.document], difference.their_line
        raise _another_text(identifier, file, line, found, expected, fix)


def differing_documents(key: Tokens, response: Tokens, paired: IntArray) -> list[int]:
    """The documents whose texts differ, by index."""
    unequal = key.counts[paired] != response.counts[paired]
    same_length = paired[~unequal]
    found = set(paired[unequal].tolist())
    while (difference := key.first_difference(response, same_length)) is not None:
        found.add(difference.document)
        same_length = same_length[same_length > difference.document]
    return sorted(found)


def _other_length(
    documents: Sequence[DocumentId], key: Tokens, response: Tokens, document: int, file: str | None
) -> PairingError:
    theirs, mine = int(response.counts[document]), int(key.counts[document])
    difference = key.first_difference(response, [document])
    found, expected = f"{theirs:,} tokens", f"{mine:,} tokens as in the key"
    fix = f"score the same tokenisation, {_GO_ON}"
    line = response.line(document, min(theirs - 1, mine)) if theirs else None
    if difference is not None and (difference.theirs or difference.position < theirs - 1):
        found, expected = _describe(difference, key, f"; {found} in all", f"; {expected}")
        line = difference.their_line
    elif theirs < mine:
        found += ", then the document ends"
        fix = f"the response seems to be cut short: write it again, {_GO_ON}"
    return _another_text(documents[document], file, line, found, expected, fix)


def _another_text(
    identifier: DocumentId, file: str | None, line: int | None, found: str, expected: str, fix: str
) -> PairingError:
    return PairingError(
        f"document {excerpt(str(identifier))} is another text than in the key",
        file=file,
        line=line,
        found=found,
        expected=expected,
        fix=fix,
    )


def _describe(
    difference: TokenDifference, key: Tokens, also_found: str = "", also_expected: str = ""
) -> tuple[str, str]:
    place = f" as on line {difference.my_line} of {key.source}" if difference.my_line else ""
    return (
        f"token {difference.position} is {excerpt(difference.theirs)}{also_found}",
        f"{excerpt(difference.mine)}{place}{also_expected}",
    )
