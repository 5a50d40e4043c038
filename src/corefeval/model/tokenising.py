"""Tokens for texts that have none, so that they can be written where there must be some."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from corefeval.diagnostics import Notice
from corefeval.model.builder import CorpusBuilder, DocumentBuilder, Reference
from corefeval.model.corpus import Corpus
from corefeval.model.text_tokens import TextTokens, has_texts, origin, text_of
from corefeval.model.tokens import DocumentTokens, Tokens, TokenTable

_WORD = re.compile(r"\S+")
_LINE_END = re.compile(r"\r\n|\n|\r")


def tokenise(corpus: Corpus) -> Corpus:
    """The corpus with tokens in place of characters, where it has texts; else the corpus itself.

    Tokens are cut at white space, before and behind punctuation at the edges of a word, and
    wherever a mention begins or ends, so that each mention is made of whole tokens. Lines are
    sentences. Mentions of white space alone are left out; that, and how many documents were cut,
    is noted.
    """
    if not has_texts(corpus.tokens) or corpus.mention_start is None or corpus.mention_end is None:
        return corpus
    builder = CorpusBuilder(name=corpus.name)
    names = _unique_names(corpus)
    numbers: dict[int, int] = {}
    tables, cut = [], 0
    for index in range(len(corpus.documents)):
        text = text_of(corpus.tokens, index)
        spans = [(mention.row, mention.parts) for mention in corpus[index].mentions]
        bounds = {bound for _, parts in spans for part in parts for bound in part}
        cuts = [] if text is None else token_spans(text, bounds)
        table = _as_table(corpus.tokens, index) if text is None else _table(text, cuts)
        tables.append(table)
        cut += text is not None
        document = _document(builder, corpus, index, table)
        numbers |= _add_mentions(document, corpus, names, spans, None if text is None else cuts)
    _add_relations(builder, corpus, names, numbers)
    source = corpus.tokens.source if corpus.tokens is not None else None
    built = builder.build(TokenTable(tables, source))
    blank = corpus.n_mentions - len(numbers)
    return built.with_details(notices=(*corpus.notices, *built.notices, *_notices_of(cut, blank)))


def token_spans(text: str, cuts: Iterable[int] = ()) -> list[tuple[int, int]]:
    """Where the tokens of a text are; `cuts` are positions at which a token must not go on.

    >>> [text[s:e] for text in ["(It isn't well-known...)"] for s, e in token_spans(text)]
    ['(', 'It', "isn't", 'well-known', '...', ')']
    """
    places = sorted(set(cuts))
    spans: list[tuple[int, int]] = []
    for word in _WORD.finditer(text):
        for start, end in _without_punctuation(text, *word.span()):
            inside = places[bisect_right(places, start) : bisect_left(places, end)]
            spans += zip((start, *inside), (*inside, end), strict=True)
    return spans


def _without_punctuation(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut off punctuation at the edges of a word; a run of one sign is one token."""
    while start < end and _is_punctuation(text[start]):
        after = start + 1
        while after < end and text[after] == text[start]:
            after += 1
        yield start, after
        start = after
    behind = []
    while end > start and _is_punctuation(text[end - 1]):
        before = end - 1
        while before > start and text[before - 1] == text[end - 1]:
            before -= 1
        behind.append((before, end))
        end = before
    if start < end:
        yield start, end
    yield from reversed(behind)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _table(text: str, cuts: list[tuple[int, int]]) -> DocumentTokens:
    words = [text[start:end] for start, end in cuts]
    starts = [start for start, _ in cuts]
    lines = {bisect_left(starts, line_end.end()) for line_end in _LINE_END.finditer(text)}
    sentence_starts = sorted(({0} | lines) - {len(words)}) if words else []
    return DocumentTokens({"word": words}, len(words), sentence_starts)


def _as_table(tokens: Tokens | None, document: int) -> DocumentTokens:
    """The tokens of a document that has some."""
    owner, index = origin(tokens, document)
    if owner is None or isinstance(owner, TextTokens):
        return DocumentTokens()
    columns = {name: owner.column(index, name) for name in owner.columns}
    return DocumentTokens(columns, int(owner.counts[index]), owner.sentence_starts(index))


def _document(
    builder: CorpusBuilder, corpus: Corpus, index: int, table: DocumentTokens
) -> DocumentBuilder:
    known = corpus.sentence_metadata[index] if corpus.sentence_metadata else ()
    return builder.document(
        corpus.documents[index],
        n_tokens=table.count,
        metadata=corpus.metadata[index] if corpus.metadata else None,
        sentence_metadata=known,
    )


def _add_mentions(
    document: DocumentBuilder,
    corpus: Corpus,
    names: Sequence[str],
    spans: list[tuple[int, list[tuple[int, int]]]],
    cuts: list[tuple[int, int]] | None,
) -> dict[int, int]:
    """Add the mentions that have tokens, the cut ones where there are such; rows to numbers."""
    numbers: dict[int, int] = {}
    starts, ends = zip(*cuts, strict=True) if cuts else ((), ())
    heads = corpus.mention_head
    for row, parts in spans:
        entity = int(corpus.mention_entity[row])
        head = int(heads[row]) if heads is not None else -1
        if cuts is None:
            positions = {p for start, end in parts for p in range(start, end)}
        else:
            positions = {
                position
                for start, end in parts
                for position in range(bisect_left(starts, start), bisect_right(ends, end))
            }
            head = bisect_right(starts, head) - 1
        if positions:
            numbers[row] = document.mention_at(
                names[entity],
                positions,
                head=head if head in positions else None,
                features={name: values[row] for name, values in corpus.features.items()},
            )
    return numbers


def _add_relations(
    builder: CorpusBuilder, corpus: Corpus, names: Sequence[str], numbers: dict[int, int]
) -> None:
    """Add the relations; a mention that is not there any more has no name."""

    def reference(entity: int, row: int) -> Reference:
        return names[entity] if row < 0 else numbers.get(row, "")

    for relation in corpus.relations:
        document = builder.documents[int(corpus.entity_document[relation.anaphor[0]])]
        antecedents = [reference(*antecedent) for antecedent in relation.antecedents]
        document.relation(relation.kind, reference(*relation.anaphor), antecedents, relation.label)


def _unique_names(corpus: Corpus) -> Sequence[str]:
    """The entities' names, or their numbers where two of a document have the same name."""
    known = corpus.names
    if known is not None:
        distinct = set(zip(corpus.entity_document.tolist(), known, strict=True))
        if len(distinct) == corpus.n_entities:
            return known
    return [str(number) for number in range(corpus.n_entities)]


def _notices_of(cut: int, blank: int) -> Iterator[Notice]:
    if cut:
        text = "{n} cut into tokens at white space, punctuation and mentions"
        yield Notice("made-up-tokens", text, cut, noun="text")
    if blank:
        text = "{n} of white space alone left out"
        yield Notice("blank-mentions", text, blank, noun="mention")
