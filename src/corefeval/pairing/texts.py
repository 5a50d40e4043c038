"""Comparing the text of a response with its key's, and mapping characters to tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corefeval.diagnostics import Notice, PairingError, excerpt, plural
from corefeval.model import Corpus, DocumentId, TokenDifference, Tokens, find_difference
from corefeval.model.arrays import IntArray, integers, unset
from corefeval.model.identity import first_unequal, plain_word, seen_word, writable_text
from corefeval.model.text_tokens import (
    Cut,
    Places,
    cut_texts,
    move_to_tokens,
    text_of,
    touch_tokens,
    without_blanks,
)
from corefeval.protocol import TokenRule

_GO_ON = (
    "or use --tokens align, which compares mentions by the text that both sides "
    "have; --tokens ignore compares token numbers, so that all mentions after a word that one "
    "side lacks count as wrong"
)


def check_tokens(
    documents: Sequence[DocumentId], key: Tokens, response: Tokens, paired: IntArray, name: str
) -> None:
    """Refuse a response of another text, at the first difference.

    `name` is the response's name, for tokens of several files, which have no source.
    """
    unequal = paired[key.counts[paired] != response.counts[paired]].tolist()
    difference = find_difference(key, response, unequal[:1] or paired)
    if not unequal and difference is None:
        return
    document = unequal[0] if difference is None else difference.document
    n_key, n_response = int(key.counts[document]), int(response.counts[document])
    actual, expected = f"{n_response:,} tokens", f"{n_key:,} tokens as in the key"
    line = response.line(document, min(n_response - 1, n_key)) if n_response else None
    fix = "use the same tokenisation"
    if difference is not None and (
        difference.response_word or difference.position < n_response - 1 or not unequal
    ):
        lengths = (f"; {actual} in all", f"; {expected}") if unequal else ("", "")
        parts = zip(describe_difference(difference, key), lengths, strict=True)
        actual, expected = map("".join, parts)
        line = difference.response_line
        if "�" in difference.response_word + difference.key_word:
            fix = "name the files' encoding with --encoding"
    elif n_response < n_key:
        actual += ", then the document ends"
        fix = "the response seems to be cut short: produce it again"
    file = response.source or name or None
    raise another_text(documents[document], file, actual, expected, f"{fix}, {_GO_ON}", line)


def find_differing_documents(key: Tokens, response: Tokens, paired: IntArray) -> list[int]:
    """The documents whose texts differ, by index."""
    unequal = key.counts[paired] != response.counts[paired]
    same_length = paired[~unequal]
    differing = set(paired[unequal].tolist())
    while (difference := find_difference(key, response, same_length)) is not None:
        differing.add(difference.document)
        same_length = same_length[same_length > difference.document]
    return sorted(differing)


def another_text(
    identifier: DocumentId,
    file: str | None,
    actual: str,
    expected: str,
    fix: str,
    line: int | None = None,
) -> PairingError:
    """What to raise where a response has another text than its key."""
    return PairingError(
        f"document {excerpt(str(identifier))} has another text in the key",
        file=file,
        line=line,
        found=actual,
        expected=expected,
        fix=fix,
    )


def describe_difference(difference: TokenDifference, key: Tokens) -> tuple[str, str]:
    """What the response has at the first difference, and what the key has."""
    place = f" as on line {difference.key_line} of {key.source}" if difference.key_line else ""
    return (
        f"token {difference.position} is {excerpt(difference.response_word)}",
        f"{excerpt(difference.key_word)}{place}",
    )


_AROUND = 20  # characters of a text that are shown


def put_texts_on_tokens(
    key: Corpus, response: Corpus, rule: TokenRule, *, may_widen: bool = False
) -> tuple[Corpus, Corpus, IntArray, list[Notice]]:
    """Both sides with token positions, in documents where one side is a text without tokens.

    Both must number their documents alike. The words of the side that has tokens are looked for in
    the text one after the other, white space aside; a mention gets the tokens that it touches. A
    text that is not made of these words is an error; where texts are aligned it is cut into words,
    and where they are ignored it counts as empty. Also returns the documents that were cut.
    """
    sides, is_labelled = (key.tokens, response.tokens), key.labels is not None
    has_texts = any(side is not None and side.has_texts for side in sides)
    if is_labelled or response.labels is not None or not has_texts:
        return key, response, unset(0), []
    unfit: list[int] = []
    moves: tuple[dict[int, Cut | None], ...] = {}, {}
    for index in range(len(key)):
        key_text, text = (text_of(side, index) for side in sides)
        place = _fit_texts(key, response, index)
        if isinstance(place, PairingError) and rule == "align":
            unfit.append(index)
        elif isinstance(place, PairingError) and (rule == "same" or text is None):
            raise place
        elif isinstance(place, Cut) or (place is not None and key_text is None):
            moves[text is not None][index] = place if isinstance(place, Cut) else None
    for index in () if may_widen else _find_misplaced(key, response, moves[0], rule):
        del moves[0][index]
        unfit.append(index)
    unfit.sort()
    notices: list[Notice] = []
    moved = []
    for corpus, tokens, places in zip((key, response), sides[::-1], moves, strict=True):
        corpus, cut_notices = cut_texts(corpus, unfit)
        corpus, move_notices = move_to_tokens(corpus, places, tokens)
        notices += (*cut_notices, *move_notices)
        moved.append(corpus)
    emptied = tuple(str(key.documents[index]) for index, place in moves[1].items() if not place)
    if emptied:
        text = f"{response.name or 'response'}: {{n}} whose text is not the key's, counted as "
        text += "empty: {items}"
        notices.append(Notice("unplaced-documents", text, len(emptied), emptied, "document"))
    return moved[0], moved[1], integers(unfit), notices


def _find_misplaced(
    key: Corpus, response: Corpus, cuts: Mapping[int, Cut | None], rule: TokenRule
) -> set[int]:
    """Texts of the key with mentions inside tokens of the response, unless that is an error.

    Nothing of a key that is a text is changed for the response's sake.
    """
    _, widened = touch_tokens(key, Places.of(cuts))
    documents = key.mention_document[widened].tolist()
    if documents and rule != "align":
        raise PairingError(
            "the key is a text without tokens, and not all of its mentions are whole tokens of the "
            "response",
            file=_file(response),
            found=f"{plural(documents.count(documents[0]), 'mention')} of the key with an edge "
            "inside a token",
            expected="tokens that begin and end where the mentions of the key do",
            fix="score against a key with tokens, to which mentions in characters are mapped, or "
            "use --tokens align",
        )
    return {*documents}


def _fit_texts(key: Corpus, response: Corpus, index: int) -> Cut | PairingError | None:
    """Where the words of one side are in the text of the other; what is wrong if they are not.

    None where neither side, or both, are a text.
    """
    key_text, text = (text_of(side.tokens, index) for side in (key, response))
    if key_text is not None and text is not None:
        if writable_text(text) == writable_text(key_text):
            return None
        at = first_unequal(text, key_text)
        actual, expected = (_show_text(side[at : at + _AROUND]) for side in (text, key_text))
        actual, expected = f"{actual} at character {at}", f"{expected} as in the key"
        return _misfit(key, response, index, actual, expected)
    if text is not None:
        place = _place(text, *_words(key, response, index))
        return place if isinstance(place, Cut) else _misfit(key, response, index, *place)
    if key_text is None or response.tokens is None or not response.tokens.counts[index]:
        return None
    place = _place(key_text, *_words(response, key, index))
    return place if isinstance(place, Cut) else _misfit(key, response, index, *place[::-1])


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


def _place(text: str, words: Sequence[str], empty: Sequence[bool]) -> Cut | tuple[str, str]:
    """Where the words are in the text; zeros may be in it or not, blanks in words may be `_`.

    If they are not, what the text has at the first difference, and what was expected.
    """
    characters = without_blanks(text)
    if "".join(words) == characters:  # which is by far the quickest to see
        return Cut(text, [*map(len, words)])
    respellings = str, seen_word, plain_word
    spellings = [[without_blanks(respell(word)) for word in words] for respell in respellings]
    if any(empty):
        spellings += [
            ["" if is_zero else word for word, is_zero in zip(visible, empty, strict=True)]
            for visible in spellings
        ]
    for visible in spellings:
        lengths, joined = [*map(len, visible)], "".join(visible)
        if sum(lengths) == len(characters) and plain_word(joined) == plain_word(characters):
            return Cut(text, lengths)
    visible = spellings[3 if any(empty) else 0]
    place = Places.of({0: Cut(text, [*map(len, visible)])})
    wrong = first_unequal("".join(visible), characters)
    token = int(np.searchsorted(place.end, wrong, side="right"))
    word = words[token] if token < len(words) else None
    character = wrong if word is None else int(place.start[token])
    begin = int(np.append(place.visible, len(text))[character])
    width = max(_AROUND, len(word or ""))
    return (
        f"{_show_text(text[begin : begin + width])} at character {begin}",
        f"the end of the text after {plural(len(words), 'token')}"
        if word is None
        else f"token {token}, {excerpt(word)}",
    )


def _show_text(text: str) -> str:
    return excerpt(text) if text else "the end of the text"


def _misfit(key: Corpus, response: Corpus, index: int, actual: str, expected: str) -> PairingError:
    fix = (
        "give the resolver the key's words with blanks between them, or use --tokens align, "
        "which compares mentions by the text that both sides have; --tokens ignore counts such "
        "documents as empty"
    )
    return another_text(key.documents[index], _file(response), actual, expected, fix)


def _file(corpus: Corpus) -> str | None:
    return (corpus.tokens.source if corpus.tokens is not None else None) or corpus.name or None
