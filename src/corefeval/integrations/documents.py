"""Documents that come in the order of lists, as tools for learning have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError
from corefeval.formats.registry import find_format
from corefeval.formats.source import Source
from corefeval.model import Corpus

Clusters = dict[str, list[list[object]]]
_BEGIN = "#begin document"


def number_documents(documents: Iterable[Sequence[Any]], name: str) -> Corpus | Clusters:
    """Documents with their places as ids: lines of CoNLL files as a corpus, clusters as they are.

    Lines of a whole file, which begin several documents, keep these apart. A mention is made
    hashable where it is a list, such as `[0, 3]`. InputError: documents of both forms, or of none,
    or lines that are no CoNLL.

    >>> number_documents([[[[0, 1], [4, 4]]]], "references")
    {'0': [[(0, 1), (4, 4)]]}
    """
    several = list(documents)
    with suppress(TypeError):
        are_lines = {isinstance(part, str) for document in several for part in document}
        if are_lines == {True}:
            return _read_lines(several, name)
        if True not in are_lines:
            return {
                str(place): [[_freeze(mention) for mention in cluster] for cluster in document]
                for place, document in enumerate(several)
            }
    raise InputError(
        f"the {name} have different forms",
        found=f"{several!r:.60}",
        expected="for each document a list of clusters of mentions, or the lines of a CoNLL file",
    )


def _freeze(mention: object) -> object:
    return tuple(map(_freeze, mention)) if isinstance(mention, list | tuple) else mention


def _read_lines(documents: Sequence[Sequence[object]], name: str) -> Corpus:
    """The corpus of lines: each list is a document, or has as many as it begins, by their names."""
    parts = []
    for place, document in enumerate(documents):
        lines = [str(line).rstrip("\r\n") for line in document]
        if sum(line.startswith(_BEGIN) for line in lines) > 1:
            parts += [
                line.replace("(", f"({place}/", 1) if line.startswith(_BEGIN) else line
                for line in lines
            ]
        else:
            kept = [line for line in lines if not line.startswith("#")]
            parts += [f"{_BEGIN} ({place}); part 000", *kept, "", "#end document"]
    data = np.frombuffer(("\n".join(parts) + "\n").encode(), dtype=np.uint8)
    return find_format("conll").read(Source(data, name), name=name)
