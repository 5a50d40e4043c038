"""Maverick's dictionaries: `tokens`, and `clusters_token_offsets` with inclusive ends.

With a `doc_id` they are records of CRAC's JSON, where tokens that begin with `##` are zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import index
from typing import Any

from corefeval.diagnostics import InputError, excerpt
from corefeval.live.naming import Named, first_name
from corefeval.model import Corpus, CorpusBuilder

_ZERO = "##"


def recognises(value: object) -> bool:
    """Whether this is a dictionary as Maverick returns them."""
    return (
        isinstance(value, Mapping)
        and "clusters_token_offsets" in value
        and isinstance(value.get("tokens"), Sequence)
    )


def identifier(record: Any) -> str:
    """`doc_key`, `doc_id` or `id`."""
    return first_name(*(record.get(name) for name in ("doc_key", "doc_id", "id")))


def corpus(documents: Sequence[Named], name: str) -> Corpus:
    """The corpus of such dictionaries."""
    builder = CorpusBuilder(name=name, source=name or None)
    for named, record in documents:
        words, starts = _tokens(record["tokens"], named, name)
        columns = {}
        if "doc_id" in record:
            columns["empty"] = ["1" if word.startswith(_ZERO) else "" for word in words]
            words = [word.removeprefix(_ZERO) or "_" for word in words]
        document = builder.document(named, words=words, sentence_starts=starts, columns=columns)
        for number, span in _spans(record["clusters_token_offsets"], named, name):
            document.mention(str(number), span[0], span[1] + 1)
    return builder.build()


def _tokens(tokens: Any, document: str, name: str) -> tuple[list[str], list[int] | None]:
    """Words, and where sentences start if the tokens come sentence by sentence."""
    starts = None
    words = list(tokens)
    if words and all(isinstance(sentence, list | tuple) for sentence in words):
        lengths = [len(sentence) for sentence in words]
        ends = accumulate(lengths)
        starts = [end - length for end, length in zip(ends, lengths, strict=True) if length]
        words = [word for sentence in words for word in sentence]
    stranger = next((word for word in words if not isinstance(word, str)), None)
    if stranger is not None:
        raise InputError(
            f"a token of document {excerpt(document)} is no text",
            file=name or None,
            found=f"{type(stranger).__name__} {stranger!r:.60}",
            expected="tokens as a list of strings",
        )
    return words, starts


def _spans(clusters: Any, document: str, name: str) -> list[tuple[int, tuple[int, int]]]:
    """Each mention's entity and offsets."""
    found = []
    try:
        for number, cluster in enumerate(clusters or ()):
            for start, end in cluster:
                found.append((number, (index(start), index(end))))
    except (TypeError, ValueError):
        raise InputError(
            f"clusters_token_offsets of document {excerpt(document)} are no spans",
            file=name or None,
            found=f"{clusters!r:.60}",
            expected="a list of entities, each a list of (first token, last token)",
        ) from None
    return found
