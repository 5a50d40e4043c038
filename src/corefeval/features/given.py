"""Features that the caller states: mappings from mentions to values, or functions of mentions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError, excerpt, plural
from corefeval.features.errors import MissingFeatureError
from corefeval.features.kinds import KINDS
from corefeval.model import Corpus, Mention
from corefeval.model.categories import Categories

YES_NO = ("yes", "no")
CHOICES: dict[str, tuple[str, ...]] = {"kind": KINDS, "noun": YES_NO}
_SHOWN = 5
_MISSING = object()


def checked_given(given: object) -> Mapping[str, object]:
    """What is given, if it is a mapping from names of features to mappings or functions."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(f"features is a mapping from names to features, not {given!r:.60}")
    for name, source in given.items():
        if not isinstance(name, str) or not (callable(source) or isinstance(source, Mapping)):
            raise UsageError(
                f"{name!r:.60} is given as {source!r:.60}, which is no mapping from mentions to "
                'values and no function: did you mean features={"kind": …}?'
            )
    return given


def given_feature(
    corpus: Corpus,
    name: str,
    source: Mapping[Any, Any] | Callable[[Mention], object],
    *,
    key: Corpus | None = None,
    complete: bool = True,
) -> Categories:
    """What somebody states of each mention; kind and noun must be stated of all if `complete`.

    A mapping has mentions as keys (labels, spans of start and end, exclusive, or ids that the key
    has for mentions, by default the corpus itself), or documents whose values are such mappings; a
    function is called with a `Mention` each.
    """
    if callable(source):
        values = [source(mention) for document in corpus for mention in document.mentions]
    else:
        values = list(_looked_up(corpus, source, corpus if key is None else key))
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
            f"a {name} that there is not",
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


def _looked_up(corpus: Corpus, source: Mapping[Any, Any], key: Corpus) -> Iterator[object]:
    tables = _by_document(corpus, source)
    if corpus.labels is None and any(isinstance(place, str) for t in tables for place in t):
        tables = _by_span(tables, key if "mention_id" in key.features else corpus)
    for row, document in enumerate(corpus.mention_document.tolist()):
        yield tables[document].get(_mention(corpus, row), _MISSING)


def _by_span(tables: Sequence[Mapping[Any, Any]], owner: Corpus) -> list[dict[Any, Any]]:
    """What is stated by ids, by the spans that have these ids; what is stated by spans stays."""
    found = [dict(table) for table in tables]
    ids = owner.features.get("mention_id", ())
    for row, (document, identifier) in enumerate(
        zip(owner.mention_document.tolist(), ids, strict=False)
    ):
        if identifier in tables[document]:
            found[document][_mention(owner, row)] = tables[document][identifier]
    return found


def file_coverage(
    file: str, given: Mapping[str, Mapping[str, Any]], key: Corpus, response: Corpus | None = None
) -> list[Notice]:
    """What a file of features states of nothing, and which mentions it states nothing of.

    A kind or noun that is asked for but not stated is an error anyway.
    """
    corpora = [corpus for corpus in (key, response) if corpus is not None]
    first = next(iter(given.values()))
    unused, known = _unused(first, corpora)
    if not known:
        raise InputError(
            "features of none of the documents",
            file=file,
            found=excerpt(next(iter(first))),
            expected=f"documents such as {', '.join(map(excerpt, map(str, key.documents[:3])))}",
        )
    notices = []
    if unused:
        message = f"{file}: {plural(len(unused), 'line')} about no document or mention that there "
        message += f"is: {', '.join(unused[:_SHOWN])}" + ", …" * (len(unused) > _SHOWN)
        notices.append(Notice("unused-features", message, len(unused), tuple(unused)))
    for name, source in given.items():
        for corpus in corpora:
            if not any(isinstance(table, Mapping) for table in source.values()):
                continue
            codes = given_feature(corpus, name, source, key=key, complete=False).codes
            if missing := int((codes < 0).sum()):
                message = f"{file}: {name} is not stated of {plural(missing, 'mention')} of "
                message += f"{corpus.name or 'the corpus'} ({codes.size - missing} have it)"
                notices.append(Notice("unstated-features", message, missing))
    return notices


def _unused(source: Mapping[str, Any], corpora: Sequence[Corpus]) -> tuple[list[str], set[str]]:
    """The lines of a file whose document or mention is in no corpus; the documents that are."""
    known: dict[str, set[Hashable]] = {}
    for corpus in corpora:
        names = [(str(d), d.name) for d in corpus.documents]
        entries = [full if full in source else name for full, name in names]
        for name in entries:
            known.setdefault(name, set())
        ids = corpus.features.get("mention_id", ()) if corpus is corpora[0] else ()
        documents = corpus.mention_document.tolist()
        for row, document in enumerate(documents):
            known[entries[document]].add(_mention(corpus, row))
        for document, identifier in zip(documents, ids, strict=False):
            known[entries[document]].add(identifier)
    unused = [
        f"{document} {place}" if isinstance(table, Mapping) else document
        for document, table in source.items()
        for place in (table if isinstance(table, Mapping) else (None,))
        if document not in known or (place is not None and place not in known[document])
    ]
    return unused, known.keys() & source.keys()


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
    found = document_entries(corpus, source)
    if corpus.documents and all(table is _MISSING for table in found):
        shown = ", ".join(map(str, corpus.documents[:3]))
        unknown = next(iter(source))
        raise InputError(f"features are given for no document {unknown!r}", expected=shown)
    return [{} if table is _MISSING else table for table in found]


def document_entries(corpus: Corpus, source: Mapping[Any, Any]) -> list[Any]:
    """What a mapping has for each document: by its id, or by its name for all of its parts."""
    by_text = {str(key): value for key, value in source.items()}
    return [
        by_text.get(str(document), by_text.get(document.name, _MISSING))
        for document in corpus.documents
    ]


def given_of_documents(corpus: Corpus, name: str, source: object) -> list[str | None] | None:
    """A feature of documents that is stated for them; None where it is stated of mentions."""
    if not isinstance(source, Mapping) or any(isinstance(v, Mapping) for v in source.values()):
        return None
    found = document_entries(corpus, source)
    if all(value is _MISSING for value in found):
        return None
    return [_text(name, value) for value in found]


def described(corpus: Corpus, rows: Sequence[int]) -> str:
    """How many mentions there are in some rows, of which corpus, and which the first ones are."""
    shown = [repr(_mention(corpus, row)) for row in rows[:_SHOWN]]
    more = ", …" if len(rows) > _SHOWN else ""
    where = corpus.name or "the corpus"
    return f"{plural(len(rows), 'mention')} of {where}: {', '.join(shown)}{more}"


def _incomplete(corpus: Corpus, name: str, missing: Sequence[int]) -> MissingFeatureError:
    return MissingFeatureError(
        name,
        f"is not given for {described(corpus, missing)}",
        fix=f"give the {name} of every mention, those of the response too; "
        f"it is one of {', '.join(CHOICES[name])}",
    )
