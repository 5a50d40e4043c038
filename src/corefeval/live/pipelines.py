"""What systems return: documents of spaCy and stanza, results of fastcoref.

In a spaCy document an entity is a span group `coref_clusters_…`, as spacy-experimental makes them.
The groups `coref_head_clusters_…`, which it makes on the way, are no entities.

In a stanza document an entity is a chain of `doc.coref`. A mention has a sentence, the index of its
first word there and the index after its last. A zero has a pair (n, k) for both: it is the k-th
empty word behind word n of the sentence, and becomes a token of its own there.

A fastcoref result has a `text` and clusters of spans with exclusive ends. Spans count characters;
where the text was given as words, `text` is their list and spans count words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any

from corefeval.diagnostics import InputError, Notice, excerpt, list_names
from corefeval.formats.json.records import ID_KEYS
from corefeval.model import Corpus, CorpusBuilder, tokens_of_texts

CLUSTERS = "coref_clusters_"
WordPlace = tuple[int, int]  # word n, counted from 1, and 0; or the empty word k behind it


def is_spacy(value: object) -> bool:
    """Whether this is a spaCy `Doc`."""
    return any(
        base.__name__ == "Doc" and base.__module__.startswith("spacy.tokens")
        for base in type(value).__mro__
    )


def spacy_ids(doc: Any) -> list[object]:
    """`user_data["doc_id"]`, the extension `doc._.doc_id`, or `user_data["id"]`."""
    extension = doc._.doc_id if doc.has_extension("doc_id") else None
    return [doc.user_data.get("doc_id"), extension, doc.user_data.get("id")]


def read_spacy(documents: Sequence[tuple[str, Any]], name: str, prefix: str = CLUSTERS) -> Corpus:
    """The corpus of spaCy documents, whose entities are span groups with this prefix."""
    builder = CorpusBuilder(name=name, source=name or None)
    ignored: dict[str, None] = {}
    has_groups = False
    for named, doc in documents:
        starts = [s.start for s in doc.sents] if doc.has_annotation("SENT_START") else None
        tags = {"tag": [token.tag_ for token in doc]} if doc.has_annotation("TAG") else {}
        document = builder.document(
            named, words=[token.text for token in doc], sentence_starts=starts, columns=tags
        )
        parsed = doc.has_annotation("DEP")
        for group, spans in doc.spans.items():
            if not group.startswith(prefix):
                ignored[group] = None
                continue
            has_groups = True
            for span in spans:
                head = span.root.i if parsed and len(span) else None
                document.mention(group.removeprefix(prefix), span.start, span.end, head=head)
    if ignored and not has_groups:
        names = list_names(list(ignored))
        text = f"{name}: no span group is called {CLUSTERS}…, only {names}: there are no entities"
        builder.notices.append(Notice("no-span-groups", text, len(ignored), tuple(ignored)))
    return builder.build()


def is_stanza(value: object) -> bool:
    """Whether this looks like a stanza `Document`."""
    return not isinstance(value, type) and hasattr(value, "coref") and hasattr(value, "sentences")


def stanza_ids(doc: Any) -> list[object]:
    """`docid` or `doc_id`, of the document or of its first sentence."""
    first = doc.sentences[0] if doc.sentences else None
    owners = (doc, first)
    return [getattr(owner, name, None) for owner in owners for name in ("docid", "doc_id")]


def read_stanza(documents: Sequence[tuple[str, Any]], name: str) -> Corpus:
    """The corpus of stanza documents."""
    builder = CorpusBuilder(name=name, source=name or None)
    for named, doc in documents:
        zeros = _find_zeros(doc)
        tokens = _Tokens()
        for number, sentence in enumerate(doc.sentences):
            tokens.add(sentence, zeros[number])
        empty = {"empty": tokens.empty} if "1" in tokens.empty else {}
        document = builder.document(
            named, words=tokens.words, sentence_starts=tokens.starts, columns=empty
        )
        for number, chain in enumerate(doc.coref or ()):
            for mention in chain.mentions:
                start, end = _find_span(mention, tokens, named, name)
                document.mention(str(getattr(chain, "index", number)), start, end)
    return builder.build()


@dataclass(slots=True)
class _Tokens:
    """The words of a document in order, and the position of each place in each sentence."""

    words: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    positions: list[dict[WordPlace, int]] = field(default_factory=list)

    def add(self, sentence: Any, zeros: dict[WordPlace, str]) -> None:
        """Append a sentence, its empty words behind the words that they follow."""
        texts = {(number, 0): word.text for number, word in enumerate(sentence.words, start=1)}
        first = len(self.words)
        self.positions.append({})
        for place in sorted(texts | zeros):
            self.positions[-1][place] = len(self.words)
            self.words.append(texts[place] if place in texts else zeros[place])
            self.empty.append("" if place in texts else "1")
        if len(self.words) > first:
            self.starts.append(first)


def _find_zeros(doc: Any) -> defaultdict[int, dict[WordPlace, str]]:
    """The empty words of each sentence: those that it lists, and those that mentions name."""
    zeros: defaultdict[int, dict[WordPlace, str]] = defaultdict(dict)
    for chain in doc.coref or ():
        for mention in chain.mentions:
            if isinstance(mention.start_word, tuple):
                zeros[mention.sentence][mention.start_word] = "_"
    for number, sentence in enumerate(doc.sentences):
        for word in getattr(sentence, "empty_words", None) or ():
            zeros[number][tuple(word.id)] = word.text
    return zeros


def _find_span(mention: Any, tokens: _Tokens, document: str, name: str) -> tuple[int, int]:
    """Start and end of a mention in tokens of the document; an InputError for no such words."""
    start, end = mention.start_word, mention.end_word
    if isinstance(start, tuple):
        first = last = start
    else:
        first, last = (start + 1, 0), (end, 0)
    is_inside = 0 <= mention.sentence < len(tokens.positions) and first <= last
    positions = tokens.positions[mention.sentence] if is_inside else {}
    if first not in positions or last not in positions:
        raise InputError(
            f"a mention outside its sentence in document {excerpt(document)}",
            file=name or None,
            found=f"words {start} to {end} of sentence {mention.sentence}",
            expected="indices of words in the sentence, end exclusive, all counted from 0",
        )
    return positions[first], positions[last] + 1


def is_fastcoref(value: object) -> bool:
    """Whether this looks like a fastcoref `CorefResult`."""
    return (
        not isinstance(value, type)
        and hasattr(value, "text")
        and callable(getattr(value, "get_clusters", None))
    )


def fastcoref_ids(result: Any) -> list[object]:
    """A `doc_key`, `doc_id` or `id` that somebody gave the result, which comes without any."""
    return [getattr(result, name, None) for name in ID_KEYS]


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
        for number, start, end in _read_clusters(clusters, builder, named):
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


def _read_clusters(
    clusters: Any, builder: CorpusBuilder, document: str
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
            f"the clusters of document {excerpt(document)} are not spans",
            file=builder.source,
            found=f"{clusters!r:.60}",
            expected="a list of entities, each a list of (start, end)",
        ) from None
    if placeless:
        text = f"{builder.name}: {{n}} without a place in the text, left out"
        builder.notices.append(Notice("placeless-mentions", text, placeless, noun="mention"))
    return spans
