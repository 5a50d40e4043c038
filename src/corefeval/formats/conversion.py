"""From one format to another: what the target cannot carry is told, never dropped in silence."""

from __future__ import annotations

from corefeval.diagnostics import Notice, plural
from corefeval.model import Corpus

# What formats carry besides documents, tokens, entities and mentions. What a writer itself counts
# (crossing mentions, gaps, names) is not here.
_CARRIES: dict[str, frozenset[str]] = {
    "corefud": frozenset(
        ("heads", "features", "metadata", "sentence metadata", "relations", "empty nodes",
         "lemma", "upos", "tag", "features of tokens", "head", "relation", "deps", "misc")
    ),
    "conll": frozenset(("tag", "parse", "lemma", "frameset", "sense", "speaker", "named_entity")),
    "e2e": frozenset(("speaker",)),
    "json": frozenset(("speaker",)),
    "crac-json": frozenset(("empty nodes",)),
    "crac-text": frozenset(("empty nodes",)),
    "litbank": frozenset(("features",)),
}  # fmt: skip
_ALWAYS = ("word", "number", "document", "part", "empty")


def losses(corpus: Corpus, format: str) -> tuple[Notice, ...]:
    """What a format has no place for, out of what a corpus has."""
    carries = _CARRIES.get(format, frozenset())
    found: dict[str, int] = {}
    if corpus.mention_head is not None:
        found["heads"] = corpus.n_mentions
    if len(corpus.features):
        found["features"] = len(corpus.features)
    found["metadata"] = sum(map(len, corpus.metadata))
    found["sentence metadata"] = sum(
        len(sentence) for document in corpus.sentence_metadata for sentence in document
    )
    found["relations"] = len(corpus.relations)
    found["empty nodes"] = _empty_nodes(corpus)
    notices = [
        Notice(f"lost-{kind.replace(' ', '-')}", _message(kind, count, format), count)
        for kind, count in found.items()
        if count and kind not in carries
    ]
    columns = [
        name
        for name in (corpus.tokens.columns if corpus.tokens is not None else ())
        if name not in _ALWAYS and name not in carries and _named(name) not in carries
    ]
    if columns:
        message = f"{format} has no place for the token columns {', '.join(columns)}"
        notices.append(Notice("lost-columns", message, len(columns), tuple(columns)))
    return tuple(notices)


def _named(column: str) -> str:
    return "features of tokens" if column == "features" else column


def _message(kind: str, count: int, format: str) -> str:
    words = {
        "heads": f"the heads of {plural(count, 'mention')}",
        "features": f"{plural(count, 'property')} of mentions",
        "metadata": f"{plural(count, 'entry')} of document metadata",
        "sentence metadata": f"{plural(count, 'entry')} of sentence metadata",
        "relations": f"{plural(count, 'relation')} between entities",
        "empty nodes": f"the emptiness of {plural(count, 'token')}, which stay as ordinary ones",
    }
    return f"{format} has no place for {words[kind]}"


def _empty_nodes(corpus: Corpus) -> int:
    tokens = corpus.tokens
    if tokens is None or "empty" not in tokens.columns:
        return 0
    documents = range(len(corpus.documents))
    return sum(bool(mark) for index in documents for mark in tokens.column(index, "empty"))
