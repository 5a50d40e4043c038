"""PreCo's JSON: mentions are counted within their sentences."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

from corefeval.diagnostics import InputError, plural
from corefeval.formats.json.assembly import Assembly, read_kind
from corefeval.formats.json.parsing import Record, shown
from corefeval.formats.json.values import (
    Cluster,
    Words,
    cluster_list,
    sentences_in,
    whole_numbers,
)
from corefeval.formats.json.writing import UnpackedDocument, json_lines, unpacked
from corefeval.formats.losses import counted
from corefeval.formats.registry import Written
from corefeval.formats.source import Source
from corefeval.model import Corpus

_KEY = "mention_clusters"


def read_preco(source: Source, *, name: str = "") -> Corpus:
    """Read records of `id`, `sentences` and `mention_clusters`.

    A mention is [sentence, begin, end], positions in the sentence, the end exclusive.
    """
    return read_kind(source, add_preco, name)


def add_preco(record: Record, assembly: Assembly) -> None:
    """Add the document of one record."""
    words = sentences_in(record, "sentences")
    assembly.tokens(record, words, _clusters(record, words))


def _clusters(record: Record, words: Words) -> list[Cluster]:
    lengths = words.lengths
    first = list(accumulate(lengths, initial=0))
    clusters = []
    for number, cluster in enumerate(cluster_list(record, record.value(_KEY), _KEY)):
        spans = []
        for mention in cluster:
            if not whole_numbers(mention, 3):
                raise _bad_mention(record, number, mention, lengths)
            sentence, begin, end = mention
            if not (0 <= sentence < len(lengths) and 0 <= begin < end <= lengths[sentence]):
                raise _bad_mention(record, number, mention, lengths)
            spans.append((first[sentence] + begin, first[sentence] + end))
        clusters.append(spans)
    return clusters


def _bad_mention(record: Record, number: int, mention: Any, lengths: list[int]) -> InputError:
    fix = None
    if not whole_numbers(mention, 3):
        problem = "a mention is not three whole numbers"
    elif not 0 <= mention[0] < len(lengths):
        problem = f"there is no sentence {mention[0]}: there are {len(lengths)}"
    elif 0 <= mention[2] <= mention[1]:
        problem = "a mention spans nothing"
        fix = "ends are exclusive here: add 1 to them if yours are inclusive"
    else:
        length = lengths[mention[0]]
        problem = f"a mention goes beyond sentence {mention[0]}, which has {plural(length, 'word')}"
    return record.error(
        f"{problem}, in cluster {number} of ‘{_KEY}’",
        found=shown(mention),
        expected="[sentence, begin, end], counted in the sentence from 0, the end exclusive",
        fix=fix,
    )


def write_preco(corpus: Corpus) -> Written:
    """Write all documents, a record per line; mentions across sentences cannot be carried.

    A part becomes part of the `id`. Corpora without words get `_` for each token.
    """
    documents, notices = unpacked(corpus)
    records = []
    left_out = 0
    for document in documents:
        clusters, crossing = _within_sentences(document)
        left_out += crossing
        records.append({"id": document.identifier, "sentences": document.sentences, _KEY: clusters})
    what = "left out: across sentences, which PreCo cannot hold"
    crossed = counted("cross-sentence-mentions", left_out, "mention", what)
    return Written({"": json_lines(records)}, (*notices, *crossed))


def _within_sentences(document: UnpackedDocument) -> tuple[list[list[list[int]]], int]:
    """The clusters as PreCo counts them, and how many mentions do not stay in their sentence."""
    bounds = list(accumulate(map(len, document.sentences), initial=0))
    left_out = 0
    clusters = []
    for cluster in document.clusters:
        kept = []
        for start, last in cluster:
            sentence = bisect_right(bounds, start) - 1
            if last < bounds[sentence + 1]:
                kept.append([sentence, start - bounds[sentence], last + 1 - bounds[sentence]])
            else:
                left_out += 1
        if kept:
            clusters.append(kept)
    return clusters, left_out
