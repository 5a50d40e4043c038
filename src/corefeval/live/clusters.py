"""Clusters of offsets: fastcoref's results and Maverick's dictionaries.

A fastcoref result has a `text` and clusters of spans with exclusive ends. Spans count characters;
where the text was given as words, `text` is their list and spans count words.

A Maverick dictionary has `tokens`, and `clusters_token_offsets` with inclusive ends. With a
`doc_id` it is a record of CRAC's JSON, where tokens that begin with `##` are zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import index
from typing import Any

from corefeval.diagnostics import InputError, Notice, excerpt
from corefeval.model import Corpus, CorpusBuilder, tokens_of_texts

_IDS = ("doc_key", "doc_id", "id")
_INCLUSIVE = "first token, last token"
_ZERO = "##"


def is_fastcoref(value: object) -> bool:
    """Whether this looks like a fastcoref `CorefResult`."""
    return (
        not isinstance(value, type)
        and hasattr(value, "text")
        and callable(getattr(value, "get_clusters", None))
    )


def fastcoref_ids(result: Any) -> list[object]:
    """A `doc_key`, `doc_id` or `id` that somebody gave the result, which comes without any."""
    return [getattr(result, name, None) for name in _IDS]


def read_fastcoref(documents: Sequence[tuple[str, Any]], name: str) -> Corpus:
    """The corpus of fastcoref results."""
    builder = CorpusBuilder(name=name, source=name or None)
    texts = [result.text for _, result in documents]
    of_characters = _are_texts(texts, name)
    for (named, result), text in zip(documents, texts, strict=True):
        document = (
            builder.document(named, n_tokens=len(text))
            if of_characters
            else builder.document(named, words=list(text))
        )
        clusters = result.get_clusters(as_strings=False)
        where = f"the clusters of document {excerpt(named)}"
        for number, start, end in _read_clusters(clusters, builder, where, "start, end"):
            document.mention(str(number), start, end)
    return builder.build(tokens_of_texts(texts, builder.source) if of_characters else None)


def _are_texts(texts: Sequence[object], name: str) -> bool:
    """Whether all of these are texts, rather than all lists of words."""
    if all(isinstance(text, str) for text in texts):
        return True
    if all(
        isinstance(text, list | tuple) and all(isinstance(word, str) for word in text)
        for text in texts
    ):
        return False
    raise InputError(
        "some fastcoref results are of texts, others of words",
        file=name or None,
        found=", ".join(sorted({type(text).__name__ for text in texts})),
        expected="`text` is a string in every result, or a list of words in every result",
    )


def is_maverick(value: object) -> bool:
    """Whether this is a dictionary as Maverick returns them."""
    return (
        isinstance(value, Mapping)
        and "clusters_token_offsets" in value
        and isinstance(value.get("tokens"), Sequence)
    )


def maverick_ids(record: Any) -> list[object]:
    """`doc_key`, `doc_id` or `id`."""
    return [record.get(name) for name in _IDS]


def read_maverick(documents: Sequence[tuple[str, Any]], name: str) -> Corpus:
    """The corpus of Maverick dictionaries."""
    builder = CorpusBuilder(name=name, source=name or None)
    for named, record in documents:
        words, starts = _read_words(record["tokens"], named, name)
        columns = {}
        if "doc_id" in record:
            columns["empty"] = ["1" if word.startswith(_ZERO) else "" for word in words]
            words = [word.removeprefix(_ZERO) or "_" for word in words]
        document = builder.document(named, words=words, sentence_starts=starts, columns=columns)
        clusters = record["clusters_token_offsets"] or ()
        where = f"clusters_token_offsets of document {excerpt(named)}"
        for number, start, end in _read_clusters(clusters, builder, where, _INCLUSIVE):
            document.mention(str(number), start, end + 1)
    return builder.build()


def _read_words(tokens: Any, document: str, name: str) -> tuple[list[str], list[int] | None]:
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
            f"a token of document {excerpt(document)} is not text",
            file=name or None,
            found=f"{type(stranger).__name__} {stranger!r:.60}",
            expected="tokens as a list of strings",
        )
    return words, starts


def _read_clusters(
    clusters: Any, builder: CorpusBuilder, where: str, form: str
) -> Iterable[tuple[int, int, int]]:
    """Each mention's entity number and offsets; a None instead of a span is left out and noted."""
    spans = []
    placeless = 0
    try:
        for number, cluster in enumerate(clusters):
            for span in cluster:
                if span is None:
                    placeless += 1
                    continue
                start, end = span
                spans.append((number, index(start), index(end)))
    except (TypeError, ValueError):
        raise InputError(
            f"{where} are not spans",
            file=builder.source,
            found=f"{clusters!r:.60}",
            expected=f"a list of entities, each a list of ({form})",
        ) from None
    if placeless:
        text = f"{builder.name}: {{n}} without a place in the text, left out"
        builder.notices.append(Notice("placeless-mentions", text, placeless, noun="mention"))
    return spans
