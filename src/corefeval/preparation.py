"""Preparation: from two inputs to what is counted on. Nobody else pairs documents or mentions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from corefeval.alignment import Alignment, align
from corefeval.checks import did_you_mean, split_call
from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.features import Features, pair_features
from corefeval.formats import check_reading, read, read_with_key
from corefeval.matching import Matches, Mentions, matcher
from corefeval.model import Corpus
from corefeval.model.arrays import IntArray
from corefeval.model.identity import digest, mention_codes
from corefeval.model.text_tokens import has_texts
from corefeval.pairing import (
    DocumentPairs,
    Kept,
    apply_policies,
    find_suspects,
    mismatch_notices,
    pair,
)
from corefeval.pieces import as_file
from corefeval.protocol import STEPS, Choices, Protocol, choices, split_choices

if TYPE_CHECKING:
    from corefeval.beyond import Beyond
    from corefeval.features.token_columns import Samples

Input = object  # a path, a Corpus, what a system returned, or plain Python
Stated = Mapping[str, object] | str | os.PathLike[str] | None  # features, or a file of them


class Options(Choices, total=False):
    """What every function that scores takes: choices of the protocol, and how files are read."""

    ignore_tokens: bool
    encoding: str
    word_column: int | None
    key_format: str | None
    response_format: str | None
    key_encoding: str | None
    response_encoding: str | None


class Plan(NamedTuple):
    """A protocol, what the caller states of mentions and tags, and how files are read.

    `base` is the protocol before options change it, which may state where heads and minimum spans
    came from. `samples` are what the token columns of either side hold in all documents, where only
    some of them are prepared.
    """

    protocol: Protocol
    base: Protocol
    features: Stated = None
    tagset: object = None
    encoding: str = "utf-8"
    word_column: int | None = None
    key_format: str | None = None
    response_format: str | None = None
    key_encoding: str | None = None
    response_encoding: str | None = None
    samples: tuple[Samples, Samples] | None = None

    @property
    def encodings(self) -> tuple[str, str]:
        """The encodings of key and response: their own, or else that of all files."""
        return self.key_encoding or self.encoding, self.response_encoding or self.encoding

    def read(
        self, source: Input, name: str, *, is_key: bool = False, key: Corpus | None = None
    ) -> Corpus:
        """A corpus from whatever stands for one; answers of language models need their key."""
        format = self.key_format if is_key else self.response_format
        encoding = self.encodings[not is_key]
        files: dict[str, Any] = {"encoding": encoding, "word_column": self.word_column}
        if not is_key:
            files |= {"key": key, "occurrences": self.protocol.occurrences}
        return as_corpus(source, name, format=format, **files)


_READING = (
    *("encoding", "word_column", "key_format", "response_format"),
    *("key_encoding", "response_encoding"),
)


def plan(
    protocol: Protocol | str | None,
    options: Mapping[str, Any],
    *,
    features: Stated = None,
    steps: tuple[str, ...] = STEPS,
) -> Plan:
    """What the keywords of a function that scores ask for.

    Raises a UsageError for a keyword that is not known, or that does not act at any of `steps`.
    """
    chosen, reading = split_choices(options, steps)
    for name in reading:
        if name not in _READING:
            names = [*choices(steps), *_READING]
            hint = did_you_mean(name, (*names, "metrics", "by", "protocol", "features"), names)
            raise UsageError(f"there is no option {name!r} here: {hint}")
    check_reading(**reading)
    if features is not None and not isinstance(features, str | os.PathLike):
        from corefeval.features.statements import check_given

        check_given(features)
    tagset = chosen.get("tagset")
    if tagset is not None and not isinstance(tagset, str):
        from corefeval.features.tagsets import read_tagset

        tagset = read_tagset(tagset)
        chosen["tagset"] = tagset.name
    base = Protocol.of(protocol)
    if not features and base.features != "none":
        raise UsageError(
            f"the protocol says features:{base.features}: pass them with features=… / --features"
        )
    if base.slice != "whole":
        raise UsageError(
            f"the protocol says slice:{base.slice}, a part of a result: leave it out, and ask for "
            f"scores by {base.slice.partition('=')[0]}"
        )
    adjusted = base
    if chosen or base.values:
        adjusted = base.but(**chosen, features="none", heads="none", minimum="none")
    if tagset is None and adjusted.tagset != "auto":
        tagset = adjusted.tagset
    if isinstance(tagset, str) and tagset != "auto":
        from corefeval.features.tagsets import read_tagset

        read_tagset(tagset)  # an error if it does not exist
    return Plan(adjusted, base, features, tagset, **reading)


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """Both sides of a score, with the same documents in the same places, and their matches.

    Repeated mentions and (where the protocol says so) singletons are gone. `matches` are pairs of
    rows of `key` and `response`. `protocol` has what the data decided where the caller left it
    open. It pickles, and what is derived from it is derived anew on the other side.
    """

    key: Corpus
    response: Corpus
    key_features: Features
    response_features: Features
    matches: Matches
    protocol: Protocol
    key_digest: str = ""
    notices: tuple[Notice, ...] = ()
    variants: tuple[tuple[str, Prepared], ...] = ()
    """Other readings of the same answers of a language model, by name."""
    beyond: Beyond | None = None
    """Both sides with what is no part of coreference, where relations or layers are known."""

    def __repr__(self) -> str:
        n_matches = self.matches.rows(self.key.n_mentions)[0].size
        return (
            f"<Prepared {self.response.name!r} against {self.key.name!r}: "
            f"{plural(len(self.key.documents), 'document')}, {self.key.n_mentions:,} and "
            f"{plural(self.response.n_mentions, 'mention')}, {n_matches:,} matched>"
        )

    @cached_property
    def alignment(self) -> Alignment:
        """What metrics count on."""
        features = self.key_features, self.response_features
        scores_sets = self.protocol.split == "score"
        return align(
            self.key,
            self.response,
            self.matches,
            features,
            scores_sets=scores_sets,
            aside=self.beyond,
        )

    @cached_property
    def _codes(self) -> tuple[IntArray, IntArray]:
        return mention_codes(self.key, self.response)

    @property
    def key_mentions(self) -> Mentions:
        """The key as matchers see it."""
        return Mentions(self.key, self._codes[0])

    @property
    def response_mentions(self) -> Mentions:
        """The response as matchers see it."""
        return Mentions(self.response, self._codes[1])

    @property
    def feature_notices(self) -> list[Notice]:
        """Notices on guesses, for the features of either side that were used so far."""
        sides = self.key_features, self.response_features
        return [notice for side in sides for notice in side.notices]

    @property
    def document_ids(self) -> tuple[str, ...]:
        """Names and parts of the documents."""
        return self.key.remember("document ids", lambda: tuple(map(str, self.key.documents)))

    def __getstate__(self) -> dict[str, Any]:
        return {column.name: getattr(self, column.name) for column in fields(self)}


def prepare(
    key: Input,
    response: Input,
    protocol: Protocol | str | None = None,
    *,
    features: Stated = None,
    **options: Any,
) -> Prepared:
    """Read two inputs, pair their documents, apply the policies and match their mentions.

    Inputs and options are those of `score`.

    >>> prepared = prepare([["Ada", "she"], ["it"]], [["Ada", "she", "it"]])
    >>> prepared.alignment.overlap.count.tolist()
    [2, 1]
    """
    return prepare_inputs(key, response, plan(protocol, options, features=features))


def prepare_inputs(key: Input, response: Input, plan: Plan) -> Prepared:
    """Read two inputs and prepare them as a plan says."""
    plan.protocol.check_sound()
    jobs = partial(plan.read, key, "key", is_key=True), partial(plan.read, response, "response")
    paths = [file.path for side in (key, response) if (file := as_file(side)) is not None]
    if len(paths) == len(jobs):
        corpora = read_with_key(jobs, paths)
        read_key = next(corpora)
        digest(read_key)  # which is remembered; the response may still be on its way
        return prepare_corpora(read_key, next(corpora), plan)
    read_key = jobs[0]()  # what is in memory already has nothing to wait for
    return prepare_corpora(read_key, jobs[1](key=read_key), plan)


def prepare_corpora(
    key: Corpus, response: Corpus, plan: Plan, *, pairs: DocumentPairs | None = None
) -> Prepared:
    """Prepare two corpora as a plan says, with all readings of answers of a language model.

    With `pairs` the corpora are a piece of larger ones, whose documents are paired already: notices
    that depend on all documents are left to whoever joins the pieces.
    """
    prepared = _prepare_corpora(key, response, plan, pairs)
    if response.ledger is None:
        return prepared
    from corefeval.formats.answers.ledgers import variants_of

    variants = []
    for name, variant_key, variant_response, lost in variants_of(key, response):
        read_so = plan._replace(protocol=plan.protocol.but(lost=lost))
        variants.append((name, _prepare_corpora(variant_key, variant_response, read_so, pairs)))
    return replace(prepared, variants=tuple(variants))


def _prepare_corpora(
    key: Corpus, response: Corpus, plan: Plan, pairs: DocumentPairs | None
) -> Prepared:
    protocol = plan.protocol
    protocol.check_sound()
    key_digest, own_tokens = digest(key), not has_texts(key.tokens)
    pairing = pair(key, response, protocol, pairs=pairs)
    if pairing.spans is not None:
        protocol = protocol.but(spans=pairing.spans)
    corpora, joined = [pairing.key, pairing.response], list[Notice]()
    if protocol.across != "none":
        from corefeval.pairing.regrouping import join_groups

        corpora, joined = join_groups(corpora, protocol.across)
    if joined and plan.features:
        raise UsageError(
            "features are given by document, and across joins documents: leave out one of them"
        )
    (key, response), codes, notices, kept = apply_policies(
        corpora, mention_codes(*corpora), protocol
    )
    placed = codes[1] >= 0  # mentions that were lost match nothing
    shown = response if placed.all() else response.keep_mentions(placed)
    sides = Mentions(key, codes[0]), Mentions(shown, codes[1][placed])
    if plan.samples is not None:
        from corefeval.features.token_columns import settle_samples

        settle_samples(key.tokens, plan.samples[0])
        settle_samples(response.tokens, plan.samples[1])
    if protocol.match != "exact":
        from corefeval.matching.evidence import gather

        name = split_call(protocol.match)[0]
        evidence = gather(*sides, name, plan.tagset, own_tokens=own_tokens)
        sides = evidence.key, evidence.response
        protocol = Protocol.of_fields(evidence.fields, protocol)
        if pairs is None:
            notices += (*drop_idle(evidence.notices), *compare_evidence(plan.base, protocol))
        else:
            notices += evidence.notices
    matches = matcher(protocol.match)(*sides)
    if matches.key is not None and pairs is None:
        suspects = find_suspects(key, response, matches.key)
        notices += mismatch_notices([suspects], response.name)
    twins = _twins(*sides, matches)
    if shown is not response:
        rows = np.flatnonzero(placed)
        key_rows, response_rows = matches.rows(rows.size)
        matches = Matches(key_rows, rows[response_rows], matches.weight)
        twins, placed_twins = np.full(placed.size, -1, dtype=np.int64), twins
        twins[rows] = placed_twins
    if matches.weight is not None and matches.response is not None:
        count = int((twins[matches.response] < 0).sum())
        text = f"{response.name or 'response'}: {{n}} matched by {protocol.match} with key "
        text += "mentions of other tokens"
        notices.append(Notice("other-spans", text, count, noun="mention"))
    stated, stated_notices = stated_features(plan.features, key, response, encoding=plan.encoding)
    if stated:
        protocol = protocol.but(features=",".join(map(str, stated)))
    return Prepared(
        key,
        response,
        *pair_features(key, response, twins, given=stated, tagset=plan.tagset),
        matches,
        protocol,
        key_digest,
        (
            *pairing.key.notices,
            *pairing.response.notices,
            *pairing.notices,
            *joined,
            *notices,
            *stated_notices,
        ),
        beyond=_look_beyond(kept, matches, protocol.match, plan.tagset, own_tokens),
    )


def _look_beyond(
    kept: Sequence[Kept], matches: Matches, match: str, tagset: object, own_tokens: bool
) -> Beyond | None:
    """Both sides in full, for what is no part of coreference; None without relations or layers."""
    corpora = [side.full for side in kept if side.full is not None]
    if not any(len(c.relations) or c.entity_layer is not None for c in corpora):
        return None
    from corefeval.beyond import Beyond, FullSide

    sides = []
    for side in kept:
        if side.full is None or side.corpus is None:
            return None
        rows = np.arange(side.full.n_mentions) if side.rows is None else side.rows
        owners, documents = side.corpus.mention_entity, side.full.mention_document
        sides.append(FullSide(side.full, side.full_codes, rows, owners, documents))
    return Beyond(sides[0], sides[1], matches, match, tagset, own_tokens)


def drop_idle(notices: Iterable[Notice]) -> list[Notice]:
    """Notices without those that are made for adding up and count nothing."""
    return [notice for notice in notices if notice.count or not notice.parts]


def compare_evidence(base: Protocol, protocol: Protocol) -> Iterator[Notice]:
    """Notices on heads and minimum spans that are not those of the base protocol."""
    for name, noun in (("heads", "heads"), ("minimum", "minimum spans")):
        expected, actual = getattr(base, name), getattr(protocol, name)
        if "none" not in (expected, actual) and expected != actual:
            text = (
                f"the protocol says {name}:{expected}, but here they are {name}:{actual}: numbers "
            )
            yield Notice(f"other-{name}", f"{text}from other {noun} are not comparable")


def _twins(key: Mentions, response: Mentions, matches: Matches) -> IntArray:
    """For each response mention its key match of the same tokens; −1 where there is none."""
    twins = matches.partners_of_response(response.codes.size)
    if matches.weight is not None:
        is_equal = np.append(key.codes, -1)[twins] == response.codes
        twins = np.where(is_equal, twins, -1)
    return twins


def stated_features(
    features: Stated, key: Corpus, response: Corpus | None = None, *, encoding: str = "utf-8"
) -> tuple[Mapping[str, object] | None, list[Notice]]:
    """The features of a mapping or a file, and notices on mentions that a file lacks or adds."""
    if features is None or not isinstance(features, str | os.PathLike):
        return features, []
    if not os.fspath(features):
        raise UsageError("the path of the features is empty")
    from corefeval.features.statements import CHOICES, check_coverage
    from corefeval.formats.feature_table import read_features

    stated = read_features(features, encoding=encoding, choices=CHOICES)
    return stated, check_coverage(os.fspath(features), stated, key, response)


def as_corpus(source: Input, name: str, *, format: str | None = None, **files: Any) -> Corpus:
    """A corpus from whatever stands for one; `files` says how files are read, as in `read`."""
    if isinstance(source, Mapping) and format is not None and format.startswith("llm"):
        return _answers(source, name, format, **files)
    if isinstance(source, Corpus):
        return source
    if (file := as_file(source)) is not None:
        return read(file.path, format=format, name=file.name, **files)
    from corefeval.model.construction import corpus_from_entities, is_plain
    from corefeval.model.views import Document

    if is_plain(source):
        return corpus_from_entities(source, name=name)
    if isinstance(source, Document):
        return source.corpus.select_documents(np.array([source.index]))
    if isinstance(source, Iterator):
        source = list(source)
    # Imported only where Python objects are scored.
    from corefeval.formats.json.reader import corpus_from_records
    from corefeval.live import corpus_from_object

    for convert in (corpus_from_object, corpus_from_records):
        corpus = convert(source, name)
        if corpus is not None:
            return corpus
    return corpus_from_entities(source, name=name)


def _answers(
    source: Mapping[Any, Any],
    name: str,
    format: str,
    *,
    key: Corpus | None = None,
    occurrences: str = "in-order",
    **_: Any,
) -> Corpus:
    """Answers of a language model by the ids of documents."""
    from corefeval.formats.answers.reading import read_answers

    if key is None:
        raise UsageError("answers of a language model cannot be a key: they are read against one")
    return read_answers(source, key, format=format, occurrences=occurrences, name=name)
