"""fastcoref results: `text`, and clusters of spans with exclusive ends.

Spans count characters; where the text was given as words, `text` is their list and spans count
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.live.naming import Named, first_name
from corefeval.model import Corpus, CorpusBuilder
from corefeval.model.text_tokens import TextTokens


def recognises(value: object) -> bool:
    """Whether this looks like a fastcoref `CorefResult`."""
    return (
        not isinstance(value, type)
        and hasattr(value, "text")
        and callable(getattr(value, "get_clusters", None))
    )


def identifier(result: Any) -> str:
    """A `doc_key`, `doc_id` or `id` that somebody gave the result: it has none of its own."""
    return first_name(*(getattr(result, name, None) for name in ("doc_key", "doc_id", "id")))


def corpus(documents: Sequence[Named], name: str) -> Corpus:
    """The corpus of fastcoref results."""
    builder = CorpusBuilder(name=name, source=name or None)
    texts = [result.text for _, result in documents]
    of_characters = _of_characters(texts, name)
    for (named, result), text in zip(documents, texts, strict=True):
        document = (
            builder.document(named, n_tokens=len(text))
            if of_characters
            else builder.document(named, words=list(text))
        )
        for number, (start, end) in _spans(result, named, builder):
            document.mention(str(number), start, end)
    return builder.build(TextTokens(texts, builder.source) if of_characters else None)


def _of_characters(texts: Sequence[object], name: str) -> bool:
    """Whether all of these are texts, rather than all lists of words."""
    if all(isinstance(text, str) for text in texts):
        return True
    if all(
        isinstance(text, list | tuple) and all(isinstance(word, str) for word in text)
        for text in texts
    ):
        return False
    raise InputError(
        "the fastcoref results are neither all of texts nor all of words",
        file=name or None,
        found=", ".join(sorted({type(text).__name__ for text in texts})),
        expected="`text` is a string in every result, or a list of words in every result",
    )


def _spans(result: Any, named: str, builder: CorpusBuilder) -> list[tuple[int, tuple[int, int]]]:
    """Each mention's entity and offsets; a mention of no text, which fastcoref has, is noted."""
    found = []
    lost = 0
    clusters = result.get_clusters(as_strings=False)
    try:
        for number, cluster in enumerate(clusters):
            for span in cluster:
                if span is None:
                    lost += 1
                    continue
                start, end = span
                found.append((number, (index(start), index(end))))
    except (TypeError, ValueError):
        raise InputError(
            f"the clusters of document {excerpt(named)} are no spans",
            file=builder.source,
            found=f"{clusters!r:.60}",
            expected="a list of entities, each a list of (start, end)",
        ) from None
    if lost:
        text = f"{builder.name}: {{n}} without a place in the text left out"
        builder.notices.append(Notice("placeless-mentions", text, lost, noun="mention"))
    return found
