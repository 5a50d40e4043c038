"""Comparing the text of a response with its key's, and mapping characters to tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from corefeval.diagnostics import Notice, PairingError, excerpt, plural
from corefeval.model import Corpus, DocumentId, TokenDifference, Tokens, find_difference
from corefeval.model.arrays import IntArray
from corefeval.model.identity import first_unequal, plain_word, seen_word, writable_text
from corefeval.model.text_tokens import (
    Places,
    cut_texts,
    has_texts,
    has_whole_tokens,
    move_to_tokens,
    text_of,
    visible_positions,
    without_blanks,
)
from corefeval.model.token_tables import mix_tokens
from corefeval.protocol import TokenRule

_GO_ON = (
    'or use --tokens align (tokens="align"), which compares mentions by the text that both sides '
    "have; --tokens ignore compares token numbers, so that mentions behind a word that one side "
    "lacks all count as wrong"
)


def check_tokens(
    documents: Sequence[DocumentId], key: Tokens, response: Tokens, paired: IntArray, name: str
) -> None:
    """Refuse a response of another text, at the first difference.

    `name` is the response's name, for tokens of several files, which have no source.
    """
    file = response.source or name or None
    unequal = paired[key.counts[paired] != response.counts[paired]]
    if unequal.size:
        raise _other_length(documents, key, response, int(unequal[0]), file)
    difference = find_difference(key, response, paired)
    if difference is not None:
        actual, expected = _describe(difference, key)
        fix = f"use the same tokenisation, {_GO_ON}"
        if "�" in difference.response_word + difference.key_word:
            fix = f"name the files' encoding with --encoding / encoding=…, {_GO_ON}"
        identifier, line = documents[difference.document], difference.response_line
        raise _another_text(identifier, file, line, actual, expected, fix)


def find_differing_documents(key: Tokens, response: Tokens, paired: IntArray) -> list[int]:
    """The documents whose texts differ, by index."""
    unequal = key.counts[paired] != response.counts[paired]
    same_length = paired[~unequal]
    differing = set(paired[unequal].tolist())
    while (difference := find_difference(key, response, same_length)) is not None:
        differing.add(difference.document)
        same_length = same_length[same_length > difference.document]
    return sorted(differing)


def _other_length(
    documents: Sequence[DocumentId], key: Tokens, response: Tokens, document: int, file: str | None
) -> PairingError:
    response_length, key_length = int(response.counts[document]), int(key.counts[document])
    difference = find_difference(key, response, [document])
    actual, expected = f"{response_length:,} tokens", f"{key_length:,} tokens as in the key"
    fix = f"use the same tokenisation, {_GO_ON}"
    last = min(response_length - 1, key_length)
    line = response.line(document, last) if response_length else None
    if difference is not None and (
        difference.response_word or difference.position < response_length - 1
    ):
        actual, expected = _describe(difference, key, f"; {actual} in all", f"; {expected}")
        line = difference.response_line
    elif response_length < key_length:
        actual += ", then the document ends"
        fix = f"the response seems to be cut short: produce it again, {_GO_ON}"
    return _another_text(documents[document], file, line, actual, expected, fix)


def _another_text(
    identifier: DocumentId, file: str | None, line: int | None, actual: str, expected: str, fix: str
) -> PairingError:
    return PairingError(
        f"document {excerpt(str(identifier))} has another text than in the key",
        file=file,
        line=line,
        found=actual,
        expected=expected,
        fix=fix,
    )


def _describe(
    difference: TokenDifference, key: Tokens, also_found: str = "", also_expected: str = ""
) -> tuple[str, str]:
    place = f" as on line {difference.key_line} of {key.source}" if difference.key_line else ""
    return (
        f"token {difference.position} is {excerpt(difference.response_word)}{also_found}",
        f"{excerpt(difference.key_word)}{place}{also_expected}",
    )


_AROUND = 20  # characters of a text that are shown


class _Misfit(NamedTuple):
    """Where a text is not made of the key's words."""

    found: str
    expected: str


def put_texts_on_tokens(
    key: Corpus, response: Corpus, rule: TokenRule, *, may_widen: bool = False
) -> tuple[Corpus, Corpus, IntArray, list[Notice]]:
    """Both sides with token positions, in documents where one side is a text without tokens.

    Both must number their documents alike. Also returns the documents whose texts do not fit and
    were cut into words, to be aligned, where the rule is to do so. Mentions of the key that end
    inside tokens are an error, unless they `may_widen`.
    """
    notices: list[Notice] = []
    unfit = _find_unfit_texts(key, response, may_widen) if rule == "align" else []
    if unfit:
        key, key_notices = cut_texts(key, unfit)
        response, response_notices = cut_texts(response, unfit)
        notices += (*key_notices, *response_notices)
    key, key_notices = with_key_on_tokens(key, response, may_widen)
    response, response_notices = on_tokens(response, key, ignore_tokens=rule == "ignore")
    notices += (*key_notices, *response_notices)
    return key, response, np.array(unfit, dtype=np.int64), notices


def _find_unfit_texts(key: Corpus, response: Corpus, may_widen: bool) -> list[int]:
    """The documents in which one side is a text that is not made of the other side's words."""
    sides = key.tokens, response.tokens
    if key.labels is not None or response.labels is not None or not any(map(has_texts, sides)):
        return []
    unfit = []
    for index in range(len(key.documents)):
        key_text, text = (text_of(side, index) for side in sides)
        if any(side is None or not side.counts[index] for side in sides):
            continue
        if key_text is not None and text is not None:
            fits = writable_text(key_text) == writable_text(text)
        elif text is not None:
            fits = isinstance(_place(text, *_words(key, response, index)), Places)
        elif key_text is not None:
            place = _place(key_text, *_words(response, key, index))
            fits = isinstance(place, Places) and (may_widen or has_whole_tokens(key, index, place))
        else:
            continue
        if not fits:
            unfit.append(index)
    return unfit


def on_tokens(
    response: Corpus, key: Corpus, *, ignore_tokens: bool = False
) -> tuple[Corpus, tuple[Notice, ...]]:
    """The response with token positions, where it has character positions and the key has not.

    Both must number their documents alike. The key's words are looked for in the text one after
    the other, white space aside; a mention gets the tokens that it touches. A text that is not
    made of the key's words is an error; with `ignore_tokens` such a document counts as empty.
    """
    if key.labels is not None or not (has_texts(response.tokens) or has_texts(key.tokens)):
        return response, ()
    places: dict[int, Places | None] = {}
    for index in range(len(key.documents)):
        text, key_text = text_of(response.tokens, index), text_of(key.tokens, index)
        if key_text is not None:
            _check_key_text(key, response, index, ignore_tokens)
        elif text is not None:
            place = _place(text, *_words(key, response, index))
            if isinstance(place, _Misfit) and not ignore_tokens:
                raise _misfit_error(key, response, index, place)
            places[index] = None if isinstance(place, _Misfit) else place
    if not places or key.tokens is None:
        return response, ()
    moved, notices = move_to_tokens(response, places, _tokens(key.tokens, response, places))
    emptied = tuple(str(key.documents[index]) for index, place in places.items() if place is None)
    if emptied:
        text = f"{response.name or 'response'}: {{n}} of another text than in the key, counted as "
        text += "empty: {items}"
        notice = Notice("unplaced-documents", text, len(emptied), emptied, "document")
        notices = (*notices, notice)
    return moved, notices


def with_key_on_tokens(
    key: Corpus, response: Corpus, may_widen: bool
) -> tuple[Corpus, tuple[Notice, ...]]:
    """The key with token positions in the documents where it is a text and the response has tokens.

    Both must number their documents alike. Nothing of the key is changed for the response's sake: a
    mention that does not begin and end with tokens of the response is an error, unless it
    `may_widen`.
    """
    if response.labels is not None or response.tokens is None or not has_texts(key.tokens):
        return key, ()
    places: dict[int, Places | None] = {}
    for index in np.flatnonzero(response.tokens.counts).tolist():
        text = text_of(key.tokens, index)
        if text is not None and text_of(response.tokens, index) is None:
            place = _place(text, *_words(response, key, index))
            if isinstance(place, _Misfit):
                raise _misfit_error(key, response, index, _Misfit(place.expected, place.found))
            places[index] = place
    if not places or key.tokens is None:
        return key, ()
    tokens = response.tokens
    if len(places) < len(key.documents):
        tokens = mix_tokens(tokens, key.tokens, [index in places for index in range(len(key))])
    moved, notices = move_to_tokens(key, places, tokens)
    widened = [notice for notice in notices if notice.kind == "widened-mentions"]
    if widened and not may_widen:
        raise PairingError(
            "the key is a text without tokens, and not all of its mentions are whole tokens of the "
            "response",
            file=_file(response),
            found=f"{plural(widened[0].count, 'mention')} of the key inside tokens",
            expected="tokens that begin and end where the mentions of the key do",
            fix="score against a key with tokens: mentions in characters are mapped to these",
        )
    return moved, notices


def _check_key_text(key: Corpus, response: Corpus, index: int, ignore_tokens: bool) -> None:
    """Raise a PairingError if a key and a response that are texts differ."""
    key_text, text = text_of(key.tokens, index) or "", text_of(response.tokens, index)
    if text is not None and writable_text(text) != writable_text(key_text) and not ignore_tokens:
        place = first_unequal(text, key_text)
        response_part, key_part = text[place : place + _AROUND], key_text[place : place + _AROUND]
        misfit = _Misfit(
            f"{_some_text(response_part)} at character {place}",
            f"{_some_text(key_part)} as in the key",
        )
        raise _misfit_error(key, response, index, misfit)


def _words(key: Corpus, response: Corpus, index: int) -> tuple[list[str], list[bool]]:
    """The key's words, and which of them are empty nodes, which the text lacks."""
    tokens = key.tokens
    if tokens is None or (tokens.counts[index] and "word" not in tokens.columns):
        raise PairingError(
            f"document {excerpt(str(key.documents[index]))} of the response is a text without "
            "tokens, and the key has no words to find in it",
            file=_file(response),
            expected="a key with words, so that mentions in characters can be mapped to its tokens",
        )
    words = tokens.column(index, "word") if tokens.counts[index] else []
    if "empty" not in tokens.columns:
        return words, [False] * len(words)
    return words, [value == "1" for value in tokens.column(index, "empty")]


def _place(text: str, words: Sequence[str], empty: Sequence[bool]) -> Places | _Misfit:
    """Where the words are in the text; zeros may be in it or not, blanks in words may be `_`."""
    characters = without_blanks(text)
    if "".join(words) == characters:  # which is by far the quickest to see
        return Places.of(text, list(map(len, words)))
    spellings: list[list[str]] = []
    for respell in (str, seen_word, plain_word):
        visible = [without_blanks(respell(word)) for word in words]
        spellings.append(visible)
        if any(empty):
            real = zip(visible, empty, strict=True)
            spellings.append(["" if zero else word for word, zero in real])
        for visible in spellings:
            if "".join(visible) == characters:
                return Places.of(text, list(map(len, visible)))
    plain = plain_word(characters) if characters else ""  # of the same length
    for visible in spellings:
        if "".join(visible) == plain:
            return Places.of(text, list(map(len, visible)))
    return _misfit(text, words, spellings[1] if any(empty) else spellings[0])


def _misfit(text: str, words: Sequence[str], visible: Sequence[str]) -> _Misfit:
    place = Places.of(text, list(map(len, visible)))
    wrong = first_unequal("".join(visible), without_blanks(text))
    token = int(np.searchsorted(place.end, wrong, side="right"))
    character = int(place.start[token]) if token < len(words) else wrong
    positions = visible_positions(text)
    begin = int(positions[character]) if character < positions.size else len(text)
    width = max(_AROUND, len(words[token]) if token < len(words) else 0)
    return _Misfit(
        f"{_some_text(text[begin : begin + width])} at character {begin}",
        f"token {token}, {excerpt(words[token])}"
        if token < len(words)
        else f"the end of the text after {plural(len(words), 'token')}",
    )


def _some_text(text: str) -> str:
    return excerpt(text) if text else "the end of the text"


def _misfit_error(key: Corpus, response: Corpus, index: int, misfit: _Misfit) -> PairingError:
    return PairingError(
        f"document {excerpt(str(key.documents[index]))} has another text than in the key",
        file=_file(response),
        found=misfit.found,
        expected=misfit.expected,
        fix="give the resolver the key's words with blanks between them, or use --tokens align "
        '(tokens="align"), which compares mentions by the text that both sides have; --tokens '
        "ignore counts such documents as empty",
    )


def _file(corpus: Corpus) -> str | None:
    return (corpus.tokens.source if corpus.tokens is not None else None) or corpus.name or None


def _tokens(tokens: Tokens, response: Corpus, moved: Collection[int]) -> Tokens:
    """The key's tokens for documents that moved onto them, the response's for the others."""
    is_moved = [index in moved for index in range(len(response))]
    if response.tokens is None or all(is_moved):
        return tokens
    return mix_tokens(tokens, response.tokens, is_moved)
