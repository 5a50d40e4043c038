"""Features that the caller states: mappings from mentions to values, or functions of mentions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, UsageError, excerpt, plural
from corefeval.features.errors import MissingFeatureError
from corefeval.features.kinds import KINDS
from corefeval.features.ordering import by_frequency
from corefeval.model import Corpus, Mention
from corefeval.model.categories import Categories

YES_NO = ("yes", "no")
_CHOICES: dict[str, tuple[str, ...]] = {"kind": KINDS, "noun": YES_NO}
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
    corpus: Corpus, name: str, source: Mapping[Any, Any] | Callable[[Mention], object]
) -> Categories:
    """What somebody states of each mention; kind and noun must be stated of all.

    A mapping has mentions as keys (labels, or spans of start and end, exclusive), or documents
    whose values are such mappings; a function is called with a `Mention` each.
    """
    if callable(source):
        values = [source(mention) for document in corpus for mention in document.mentions]
    else:
        values = list(_looked_up(corpus, source))
    choices = _CHOICES.get(name)
    texts = [_text(name, value) for value in values]
    if choices is None:
        return by_frequency(Categories.of(texts))
    missing = [row for row, text in enumerate(texts) if text is None]
    if missing:
        raise _incomplete(corpus, name, missing)
    wrong = next((text for text in texts if text not in choices), None)
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


def _looked_up(corpus: Corpus, source: Mapping[Any, Any]) -> Iterator[object]:
    tables = _by_document(corpus, source)
    for row, document in enumerate(corpus.mention_document.tolist()):
        yield tables[document].get(_mention(corpus, row), _MISSING)


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
    if all(table is _MISSING for table in found):
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
        f"it is one of {', '.join(_CHOICES[name])}",
    )
