"""JSON whose mentions are token positions: e2e-coref, Maverick, CRAC and PreCo."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import accumulate
from typing import Any

from corefeval.diagnostics import InputError, note, plural
from corefeval.formats.json.documents import (
    Assembly,
    UnpackedDocument,
    boundaries_lost,
    cluster_texts,
    json_lines,
    read_kind,
    unpack,
)
from corefeval.formats.json.parsing import (
    Cluster,
    Record,
    Words,
    cluster_list,
    clusters_in,
    sentences_in,
    show,
    strings,
    tokens_in,
    whole_numbers,
)
from corefeval.formats.registry import Written
from corefeval.model import Corpus

CLUSTER_KEYS = ("clusters", "predicted_clusters")


def add_e2e(record: Record, assembly: Assembly) -> None:
    """Add the document of a record of `doc_key`, `sentences` and `clusters` (inclusive offsets).

    `predicted_clusters` stand for `clusters` where these are not there; `speakers` become a token
    column.
    """
    words = sentences_in(record, "sentences")
    key = next((key for key in CLUSTER_KEYS if key in record.values), CLUSTER_KEYS[0])
    clusters = clusters_in(record, record.value(*CLUSTER_KEYS), key, len(words.words))
    if all(key in record.values for key in CLUSTER_KEYS):
        assembly.tally(
            "other-clusters",
            "document",
            "with both ‘clusters’ and ‘predicted_clusters’: ‘clusters’ were read, the others not",
        )
    assembly.tokens(record, words, clusters, columns=_columns(record, words, assembly))


read_e2e = partial(read_kind, add_e2e)


def _columns(record: Record, words: Words, assembly: Assembly) -> dict[str, list[str]]:
    """The speakers as a column, for every document of a file that states any."""
    if not assembly.anywhere("speakers"):
        return {}
    speakers: list[str] | None = [""] * len(words.words)
    if "speakers" in record.values:
        speakers = _speakers(record.values["speakers"], words)
    if speakers is None:
        assembly.tally(
            "unread-speakers", "document", "whose ‘speakers’ do not fit its sentences: left out"
        )
        speakers = [""] * len(words.words)
    return {"speaker": speakers}


def _speakers(value: Any, words: Words) -> list[str] | None:
    """One speaker per token, from lists per sentence, a name per sentence, or one per token."""
    if strings(value, len(words.words)):
        return list(value)
    if not isinstance(value, list) or len(value) != len(words.lengths):
        return None
    speakers: list[str] = []
    for speaker, length in zip(value, words.lengths, strict=True):
        if isinstance(speaker, str):
            speakers += [speaker] * length
        elif strings(speaker, length):
            speakers += speaker
        else:
            return None
    return speakers


def write_e2e(corpus: Corpus) -> Written:
    """Write all documents, a record per line; what the format cannot carry is told.

    A part becomes part of the `doc_key`. Corpora without words get `_` for each token.
    """
    documents, notices = unpack(corpus, "speaker")
    records = []
    for document in documents:
        record: dict[str, Any] = {"doc_key": document.identifier, "sentences": document.sentences}
        if "speaker" in document.columns:
            record["speakers"] = document.by_sentence(document.columns["speaker"])
        records.append(record | {"clusters": document.clusters})
    return json_lines(records, notices)


def add_maverick(record: Record, assembly: Assembly) -> None:
    """Add the document of a record of `tokens` and `clusters_token_offsets` (both inclusive).

    Other keys are passed over. A record without an id is called after the file.
    """
    words = tokens_in(record, "tokens")
    clusters = clusters_in(record, record.value(OFFSETS), OFFSETS, len(words.words))
    assembly.tokens(record, words, clusters)


read_maverick = partial(read_kind, add_maverick)


def write_maverick(corpus: Corpus) -> Written:
    """Write all documents, a record per line; sentences are not carried.

    The id is written as `doc_key`, a part as part of it. Corpora without words get `_` for each
    token.
    """
    documents, notices = unpack(corpus)
    records = [
        {
            "doc_key": document.identifier,
            "tokens": document.words,
            OFFSETS: document.clusters,
            "clusters_token_text": cluster_texts(document.words, document.clusters),
        }
        for document in documents
    ]
    return json_lines(records, (*notices, *boundaries_lost(documents)))


OFFSETS = "clusters_token_offsets"
_ZERO = "##"


def add_crac(record: Record, assembly: Assembly) -> None:
    """Add the document of a record of `doc_id`, `tokens` and inclusive `clusters_token_offsets`.

    Tokens that begin with `##` are zeros: the column `empty` says so.
    """
    words = tokens_in(record, "tokens")
    clusters = clusters_in(record, record.value(OFFSETS), OFFSETS, len(words.words))
    empty = ["1" if word.startswith(_ZERO) else "" for word in words.words]
    assembly.tokens(record, words, clusters, columns={"empty": empty})


read_crac = partial(read_kind, add_crac)


def write_crac(corpus: Corpus) -> Written:
    """Write all documents, a record per line, zeros with their mark; sentences are not carried.

    A part becomes part of the `doc_id`. Corpora without words get `_` for each token.
    """
    documents, notices = unpack(corpus, "empty")
    records = []
    marked = mistakable = 0
    for document in documents:
        empty = document.columns.get("empty") or [""] * len(document.words)
        tokens = []
        for word, zero in zip(document.words, empty, strict=True):
            is_marked = word.startswith(_ZERO)
            marked += bool(zero) and not is_marked
            mistakable += is_marked and not zero
            tokens.append(_mark(word) if zero and not is_marked else word)
        records.append(
            {
                "doc_id": document.identifier,
                "tokens": tokens,
                OFFSETS: document.clusters,
                "clusters_text_mentions": cluster_texts(tokens, document.clusters),
            }
        )
    notices = (
        *notices,
        *boundaries_lost(documents),
        *note("zero-words", marked, "zero", "whose word is written with ## before it"),
        *note("false-zeros", mistakable, "word", "that will read as a zero"),
    )
    return json_lines(records, notices)


def _mark(word: str) -> str:
    return _ZERO if word == "_" else _ZERO + word


_KEY = "mention_clusters"


def add_preco(record: Record, assembly: Assembly) -> None:
    """Add the document of a record of `id`, `sentences` and `mention_clusters`.

    A mention is [sentence, begin, end], positions in the sentence, the end exclusive.
    """
    words = sentences_in(record, "sentences")
    assembly.tokens(record, words, _clusters(record, words))


read_preco = partial(read_kind, add_preco)


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
        fix = "ends are exclusive here: add 1 if yours are inclusive"
    else:
        length = lengths[mention[0]]
        problem = f"a mention goes beyond sentence {mention[0]}, which has {plural(length, 'word')}"
    return record.error(
        f"{problem}, in cluster {number} of ‘{_KEY}’",
        found=show(mention),
        expected="[sentence, begin, end], counted in the sentence from 0, the end exclusive",
        fix=fix,
    )


def write_preco(corpus: Corpus) -> Written:
    """Write all documents, a record per line; mentions across sentences cannot be carried.

    A part becomes part of the `id`. Corpora without words get `_` for each token.
    """
    documents, notices = unpack(corpus)
    records = []
    left_out = 0
    for document in documents:
        clusters, crossing = _within_sentences(document)
        left_out += crossing
        records.append({"id": document.identifier, "sentences": document.sentences, _KEY: clusters})
    what = "left out: across sentences, which PreCo cannot hold"
    crossed = note("cross-sentence-mentions", left_out, "mention", what)
    return json_lines(records, (*notices, *crossed))


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
