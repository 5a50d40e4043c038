"""What is known of whole documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from corefeval.features.errors import MissingFeatureError
from corefeval.model import Corpus


def document_values(texts: Sequence[Corpus], name: str) -> list[str | None]:
    """A piece of metadata of each document, from the first text that has it."""
    values = _metadata(texts, name)
    if values is not None:
        return values
    there = list(dict.fromkeys(key for text in texts for meta in text.metadata for key in meta))
    shown = ", ".join(there[:12]) + (", …" if len(there) > 12 else "")
    raise MissingFeatureError(
        f"metadata({name})",
        f"needs metadata of that name, and the documents have {shown or 'none'}",
        fix="name one that is there" if there else "use a format that has it, such as CoNLL-U",
    )


def genres(texts: Sequence[Corpus]) -> list[str | None]:
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
        f"is neither stated about the documents{whose} nor to be seen in their names "
        f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''})",
        fix="state the genre of the documents, or name them genre/name",
    )


def _metadata(texts: Sequence[Corpus], name: str) -> list[str | None] | None:
    for text in texts:
        if any(name in meta for meta in text.metadata):
            return [meta.get(name) or None for meta in text.metadata]
    return None
