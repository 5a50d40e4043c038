"""Features that are stated, not derived: by the caller, by the format, or about whole documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError, excerpt, plural
from corefeval.features.declarations import FEATURES, MissingFeatureError
from corefeval.features.kinds import KINDS
from corefeval.features.token_columns import BLANK, find_spans
from corefeval.model import Corpus, Mention
from corefeval.model.arrays import ArrayPair, IntArray, find_places, integers, unset
from corefeval.model.categories import Categories

YES_NO = ("yes", "no")
LINKS = ("within", "across")
ORDERED_VALUES = (*KINDS, *YES_NO, *LINKS)  # which come in this order, others by size and name
CHOICES: dict[str, tuple[str, ...]] = {"kind": KINDS, "noun": YES_NO, "zero": YES_NO}
_SHOWN = 5
_MISSING = object()


def check_given(statements: object) -> dict[str, Any]:
    """The features that the caller states, by name; a UsageError for what is no such mapping."""
    if not isinstance(statements, Mapping):
        raise UsageError(f"features is a mapping from names to features, not {statements!r:.60}")
    for name, source in statements.items():
        if not isinstance(name, str) or not (callable(source) or isinstance(source, Mapping)):
            raise UsageError(
                f"{name!r:.60} is given as {source!r:.60}, which is neither a mapping from "
                'mentions to values nor a function: did you mean features={"kind": …}?'
            )
    return {_feature_name(name): source for name, source in statements.items()}


def _feature_name(text: str) -> str:
    name = text.strip()
    return name.lower() if name.lower() in FEATURES else name


def read_given(
    corpus: Corpus,
    name: str,
    source: Mapping[Any, Any] | Callable[[Mention], object],
    *,
    key: Corpus | None = None,
    complete: bool = True,
) -> Categories:
    """What the caller states of each mention; kind and noun must be stated of all if `complete`.

    A mapping has mentions as keys (labels, spans of start and end, exclusive, or ids that the key
    has for mentions, by default the corpus itself), or documents whose values are such mappings; a
    function is called with a `Mention` each.
    """
    if callable(source):
        values = [source(mention) for document in corpus for mention in document.mentions]
    else:
        values = list(_look_up(corpus, source, corpus if key is None else key))
    choices = CHOICES.get(name)
    texts = [_text(name, value) for value in values]
    if choices is None:
        return Categories.of(texts).sort_names()
    missing = [row for row, text in enumerate(texts) if text is None]
    if missing and complete:
        raise _incomplete(corpus, name, missing)
    wrong = next((text for text in texts if text is not None and text not in choices), None)
    if wrong is not None:
        raise InputError(
            f"an unknown {name}",
            found=excerpt(wrong),
            expected=f"one of {', '.join(choices)}",
            fix=f"rename the values that are given for {name}",
        )
    return Categories.of(texts).recoded(choices)


def _text(name: str, value: object) -> str | None:
    if value is None or value is _MISSING:
        return None
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value}"


def _look_up(corpus: Corpus, source: Mapping[Any, Any], key: Corpus) -> Iterator[object]:
    tables = _by_document(corpus, source)
    if corpus.labels is None and any(isinstance(place, str) for t in tables for place in t):
        tables = _by_span(tables, key if "mention_id" in key.features else corpus)
    for row, document in enumerate(corpus.mention_document.tolist()):
        yield tables[document].get(_mention(corpus, row), _MISSING)


def _by_span(tables: Sequence[Mapping[Any, Any]], owner: Corpus) -> list[dict[Any, Any]]:
    """The tables with spans in place of ids of mentions; entries for spans stay."""
    by_span = [dict(table) for table in tables]
    ids = owner.features.get("mention_id", ())
    for row, (document, identifier) in enumerate(
        zip(owner.mention_document.tolist(), ids, strict=False)
    ):
        if identifier in tables[document]:
            by_span[document][_mention(owner, row)] = tables[document][identifier]
    return by_span


def check_coverage(
    file: str,
    statements: Mapping[str, Mapping[str, Any]],
    key: Corpus,
    response: Corpus | None = None,
) -> list[Notice]:
    """Notices on lines of a file of features that are about no mention, and on what it leaves out.

    A kind or noun that is asked for but not stated is an error anyway.
    """
    corpora = [corpus for corpus in (key, response) if corpus is not None]
    first = next(iter(statements.values()))
    unused, documents_found = _find_unused(first, corpora)
    if not documents_found:
        raise InputError(
            "the features are about none of the documents",
            file=file,
            found=excerpt(next(iter(first))),
            expected=f"documents such as {', '.join(map(excerpt, map(str, key.documents[:3])))}",
        )
    notices = []
    if unused:
        message = f"{file}: {plural(len(unused), 'line')} about unknown documents or "
        message += f"mentions: {', '.join(unused[:_SHOWN])}" + ", …" * (len(unused) > _SHOWN)
        notices.append(Notice("unused-features", message, len(unused), tuple(unused)))
    for name, source in statements.items():
        for corpus in corpora:
            if not any(isinstance(table, Mapping) for table in source.values()):
                continue
            codes = read_given(corpus, name, source, key=key, complete=False).codes
            if missing := int((codes < 0).sum()):
                message = f"{file}: {name} is not stated of {plural(missing, 'mention')} of "
                message += f"{corpus.name or 'the corpus'} ({codes.size - missing} have it)"
                notices.append(Notice("unstated-features", message, missing))
    return notices


def _find_unused(
    source: Mapping[str, Any], corpora: Sequence[Corpus]
) -> tuple[list[str], set[str]]:
    """The lines of a file whose document or mention is in no corpus; the documents that are."""
    mentions_of: dict[str, set[Hashable]] = {}
    for corpus in corpora:
        names = [(str(d), d.name) for d in corpus.documents]
        entries = [full if full in source else name for full, name in names]
        for name in entries:
            mentions_of.setdefault(name, set())
        ids = corpus.features.get("mention_id", ()) if corpus is corpora[0] else ()
        documents = corpus.mention_document.tolist()
        for row, document in enumerate(documents):
            mentions_of[entries[document]].add(_mention(corpus, row))
        for document, identifier in zip(documents, ids, strict=False):
            mentions_of[entries[document]].add(identifier)
    unused = [
        f"{document} {place}" if isinstance(table, Mapping) else document
        for document, table in source.items()
        for place in (table if isinstance(table, Mapping) else (None,))
        if document not in mentions_of or (place is not None and place not in mentions_of[document])
    ]
    return unused, mentions_of.keys() & source.keys()


def _mention(corpus: Corpus, row: int) -> Hashable:
    if corpus.labels is not None:
        return corpus.labels[row]
    if corpus.mention_start is None or corpus.mention_end is None:
        return None
    return int(corpus.mention_start[row]), int(corpus.mention_end[row])


def _by_document(corpus: Corpus, source: Mapping[Any, Any]) -> Sequence[Mapping[Any, Any]]:
    """The mapping that counts for each document."""
    if not source or not all(isinstance(table, Mapping) for table in source.values()):
        return [source] * len(corpus.documents)
    entries = _find_entries(corpus, source)
    if corpus.documents and all(table is _MISSING for table in entries):
        examples = ", ".join(map(str, corpus.documents[:3]))
        unknown = next(iter(source))
        raise InputError(f"features are given for no document {unknown!r}", expected=examples)
    return [{} if table is _MISSING else table for table in entries]


def _find_entries(corpus: Corpus, source: Mapping[Any, Any]) -> list[Any]:
    """What a mapping has for each document: by its id, or by its name for all of its parts."""
    by_text = {str(key): value for key, value in source.items()}
    return [
        by_text.get(str(document), by_text.get(document.name, _MISSING))
        for document in corpus.documents
    ]


def read_given_of_documents(corpus: Corpus, name: str, source: object) -> list[str | None] | None:
    """A feature of documents that is stated for them; None where it is stated of mentions."""
    if not isinstance(source, Mapping) or any(isinstance(v, Mapping) for v in source.values()):
        return None
    entries = _find_entries(corpus, source)
    if all(value is _MISSING for value in entries):
        return None
    return [_text(name, value) for value in entries]


def describe_mentions(corpus: Corpus, rows: Sequence[int]) -> str:
    """How many mentions there are in some rows, of which corpus, and which the first ones are."""
    examples = []
    for document, group in groupby(rows[:_SHOWN], key=corpus.mention_document.__getitem__):
        first, *further = (repr(_mention(corpus, row)) for row in group)
        place = f"{corpus.documents[document]} " if len(corpus.documents) > 1 else ""
        examples += [place + first, *further]
    ellipsis = ", …" if len(rows) > _SHOWN else ""
    where = corpus.name or "the corpus"
    return f"{plural(len(rows), 'mention')} of {where}: {', '.join(examples)}{ellipsis}"


def _incomplete(corpus: Corpus, name: str, missing: Sequence[int]) -> MissingFeatureError:
    return MissingFeatureError(
        name,
        f"is not given for {describe_mentions(corpus, missing)}",
        fix=f"give the {name} ({', '.join(CHOICES[name])}) of every mention, those of the response "
        f"too: in a file of features a line with document, start, end (as here) and {name}",
    )


# What LitBank and ACE call kinds.
_KIND_NAMES = {
    "PROP": "name", "NAM": "name", "NAME": "name", "NOM": "nominal", "NOMINAL": "nominal",
    "PRON": "pronoun", "PRO": "pronoun", "PRONOUN": "pronoun",
}  # fmt: skip
# CorefUD's name of it, and that of LitBank and brat.
_CLASS = ("etype", "entity_type")


def find_property(corpus: Corpus, texts: Sequence[Corpus], *names: str) -> Categories | None:
    """A property of each mention, from the first corpus that states it of this span.

    The texts come first, then the corpus itself; None where nobody states it of anything. Of
    several names the first that a corpus has counts.
    """
    numbers: dict[str, int] = {}
    codes = unset(corpus.n_mentions)
    owners = [
        (owner, name)
        for owner in dict.fromkeys((*texts, corpus))
        for name in names
        if name in owner.features
    ]
    for owner, name in owners:
        cells = [str(value) for value in owner.features[name].tolist()]
        stated = [-1 if c in BLANK else numbers.setdefault(c, len(numbers)) for c in cells]
        _adopt(codes, integers(stated), corpus, owner)
    return Categories(codes, tuple(numbers)) if owners else None


def find_stated_kinds(corpus: Corpus, texts: Sequence[Corpus]) -> Categories | None:
    """The kinds that `mention_type` states (PROP, NOM, PRON); None where it states none."""
    types = find_property(corpus, texts, "mention_type")
    kinds = None if types is None else types.renamed(lambda text: _KIND_NAMES.get(text.upper()))
    return kinds.recoded(KINDS) if kinds is not None and kinds.names else None


def find_stated_classes(corpus: Corpus, texts: Sequence[Corpus]) -> Categories | None:
    """The classes that `etype` or `entity_type` state; None where they state none."""
    classes = find_property(corpus, texts, *_CLASS)
    return classes if classes is not None and classes.names else None


def find_stated_heads(corpus: Corpus, texts: Sequence[Corpus]) -> IntArray:
    """The position of each mention's head that a corpus states; −1 where none does."""
    heads = unset(corpus.n_mentions)
    for owner in dict.fromkeys((*texts, corpus)):
        if owner.mention_head is not None:
            _adopt(heads, np.asarray(owner.mention_head), corpus, owner)
    return heads


def _adopt(values: IntArray, stated: IntArray, corpus: Corpus, owner: Corpus) -> None:
    """Take what a corpus states (not −1) of the spans of mentions that have no value yet."""
    rows = np.flatnonzero(stated >= 0)
    place = _find_rows(corpus, owner, rows)
    adopting = np.flatnonzero((place >= 0) & (values < 0))
    values[adopting] = stated[rows[place[adopting]]]


def _find_rows(corpus: Corpus, owner: Corpus, rows: IntArray) -> IntArray:
    """For each mention of a corpus the place in `rows` of the owner's mention of the same span."""
    if corpus is owner:
        return find_places(rows, corpus.n_mentions)
    spans = [_number_spans(side) for side in (corpus, owner)]
    if spans[0] is None or spans[1] is None:
        return unset(corpus.n_mentions)
    (start, end), (their_start, their_end) = spans[0], spans[1]
    place = find_spans(their_start[rows], their_end[rows], (start, end))
    # A mention with a gap is not the one that fills it.
    interrupted = np.isin(rows, owner.gaps[:, 0])
    place[np.append(interrupted, False)[place]] = -1
    place[corpus.gaps[:, 0]] = -1
    return place


_STRIDE = 1 << 32


def _number_spans(corpus: Corpus) -> ArrayPair | None:
    """Spans with the document in them."""
    if corpus.mention_start is None or corpus.mention_end is None:
        return None
    shift = corpus.mention_document * _STRIDE
    return corpus.mention_start + shift, corpus.mention_end + shift


def find_metadata(texts: Sequence[Corpus], name: str) -> list[str | None]:
    """A piece of metadata of each document, from the first text that has it."""
    values = _metadata(texts, name)
    if values is not None:
        return values
    available = list(dict.fromkeys(key for text in texts for meta in text.metadata for key in meta))
    examples = ", ".join(available[:12]) + (", …" if len(available) > 12 else "")
    raise MissingFeatureError(
        f"metadata({name})",
        f"needs metadata of that name, and the documents have {examples or 'none'}",
        fix="name an existing one" if available else "use a format that has it, such as CoNLL-U",
    )


def find_genres(texts: Sequence[Corpus]) -> list[str | None]:
    """The genre of each document: as it is stated, else the first part of the document's name.

    Parts are cut at `/`, as in `nw/wsj/00/wsj_0001`. Names without any are cut at `_`; there the
    first part that differs among documents counts (`GUM_news_nasa`: news), if at least two
    documents share one.
    """
    stated = _metadata(texts, "genre")
    if stated is not None:
        return stated
    names = [document.name for document in texts[0].documents]
    if any("/" in name for name in names):
        return [name.partition("/")[0] if "/" in name else None for name in names]
    parts = [name.split("_") for name in names]
    shortest = min(map(len, parts), default=0)
    for column in range(shortest - 1):  # the last part is the document itself
        values = [part[column] for part in parts]
        if len(set(values)) > 1:
            if Counter(values).most_common(1)[0][1] > 1:
                return list(values)
            break
    whose = f" of {texts[0].name}" if texts[0].name else ""
    raise MissingFeatureError(
        "genre",
        f"is neither given for the documents{whose} nor visible in their names "
        f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''})",
        fix="give the genre of the documents, or name them genre/name",
    )


def _metadata(texts: Sequence[Corpus], name: str) -> list[str | None] | None:
    for text in texts:
        if any(name in meta for meta in text.metadata):
            return [meta.get(name) or None for meta in text.metadata]
    return None
