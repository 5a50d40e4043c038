"""Preparation: from two inputs to what is counted on. Nobody else pairs documents or mentions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from corefeval.alignment import Alignment, Side
from corefeval.checks import split_call
from corefeval.diagnostics import Notice, Notices, UsageError, plural
from corefeval.display import PlainState
from corefeval.features import Features, pair_features
from corefeval.formats import read, read_with_key
from corefeval.matching import Matches, Mentions, matcher
from corefeval.model import Corpus
from corefeval.model.arrays import ArrayPair, IntArray, looked_up
from corefeval.model.identity import digest, mention_codes
from corefeval.pairing import (
    DocumentPairs,
    Kept,
    apply_policies,
    apply_to_side,
    find_suspects,
    mismatch_notices,
    pair,
    pair_documents,
)
from corefeval.pieces import as_file
from corefeval.protocol import Protocol
from corefeval.request import Input, Reading, Request, Stated

if TYPE_CHECKING:
    from corefeval.full_sides import FullSides


_BY_CONTENT = Reading()  # the format is recognised by what is in the file


@dataclass(frozen=True, eq=False, repr=False)
class Prepared(PlainState):
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
    notices: Notices = ()
    variants: tuple[tuple[str, Prepared], ...] = ()
    """Other readings of the same answers of a language model, by name."""
    full_sides: FullSides | None = None
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
        key, response = self.key, self.response
        return Alignment(
            len(key.documents),
            Side(key.entity_document, key.mention_entity, self.key_features, corpus=key),
            Side(
                response.entity_document,
                response.mention_entity,
                self.response_features,
                corpus=response,
            ),
            self.matches.key,
            self.matches.response,
            scores_sets=self.protocol.split == "score",
            prepared_sides=self.full_sides,
        )

    @cached_property
    def _codes(self) -> ArrayPair:
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
    return prepare_inputs(
        key, response, Request.of(protocol, options, features=features, sound=True)
    )


def prepare_inputs(key: Input, response: Input, request: Request) -> Prepared:
    """Read two inputs and prepare them as a request says."""
    jobs = (
        partial(as_corpus, key, "key", request.key_reading),
        partial(as_corpus, response, "response", request.response_reading),
    )
    paths = [file.path for side in (key, response) if (file := as_file(side)) is not None]
    if len(paths) == len(jobs):
        corpora = read_with_key(jobs, paths)
        read_key = next(corpora)
        digest(read_key)  # remembered for later, while the response is still being read
        return prepare_corpora(read_key, next(corpora), request)
    read_key = jobs[0]()  # what is in memory already has nothing to wait for
    return prepare_corpora(read_key, jobs[1](key=read_key), request)


def prepare_corpora(
    key: Corpus, response: Corpus, request: Request, *, pairs: DocumentPairs | None = None
) -> Prepared:
    """Prepare two corpora as a request says, with all readings of answers of a language model.

    With `pairs` the corpora are a piece of larger ones, whose documents are paired already: notices
    that depend on all documents are left to whoever joins the pieces.
    """
    prepared = _pair_and_match(key, response, request, pairs)
    if response.ledger is None:
        return prepared
    from corefeval.formats.answers.ledgers import variants_of

    variants = []
    for name, variant_key, variant_response, lost in variants_of(key, response):
        variant = replace(request, protocol=request.protocol.but(lost=lost))
        variants.append((name, _pair_and_match(variant_key, variant_response, variant, pairs)))
    return replace(prepared, variants=tuple(variants))


def _pair_and_match(
    key: Corpus, response: Corpus, request: Request, pairs: DocumentPairs | None
) -> Prepared:
    """Pair documents, apply the policies and match mentions; notices are in the order of steps."""
    key_digest = digest(key)
    own_tokens = key.tokens is None or not key.tokens.has_texts
    pairing = pair(key, response, request.protocol, pairs=pairs)
    protocol, corpora = request.protocol, [pairing.key, pairing.response]
    if response.ledger is not None:
        protocol = _state_choice(protocol, response)
    if pairing.spans is not None:
        protocol = protocol.but(spans=pairing.spans)
    notices = [*pairing.key.notices, *pairing.response.notices, *pairing.notices]
    if protocol.across != "none":
        corpora, joined = _join_documents(corpora, request)
        notices += joined
    (key, response), codes, policy_notices, kept = apply_policies(
        corpora, mention_codes(*corpora), protocol
    )
    if request.samples is not None:
        from corefeval.features.token_columns import settle_samples

        settle_samples(key.on_own_text.tokens, request.samples[0])
        settle_samples(response.on_own_text.tokens, request.samples[1])
    sides = Mentions(key, codes[0]), Mentions(response, codes[1])
    matches, protocol, match_notices = _match(*sides, protocol, request, own_tokens, pairs)
    twins, other_spans = _find_twins(*sides, matches, protocol.match)
    stated, stated_notices = None, list[Notice]()
    if request.features is not None:
        stated, stated_notices = stated_features(
            request.features, key, response, encoding=request.encoding
        )
        if stated:
            protocol = protocol.but(features=",".join(map(str, stated)))
    return Prepared(
        key,
        response,
        *pair_features(key, response, twins, given=stated, tagset=request.tagset),
        matches,
        protocol,
        key_digest,
        (*notices, *policy_notices, *match_notices, *other_spans, *stated_notices),
        full_sides=_make_full_sides(kept, matches, protocol.match, request.tagset, own_tokens),
    )


def _join_documents(
    corpora: Sequence[Corpus], request: Request
) -> tuple[list[Corpus], list[Notice]]:
    """Both sides with documents joined as the protocol's `across` says, and notices."""
    from corefeval.pairing.regrouping import join_groups

    if request.features:
        raise UsageError(
            "features are given by document, and across joins documents: leave out one of them"
        )
    return join_groups(corpora, request.protocol.across)


def _state_choice(protocol: Protocol, response: Corpus) -> Protocol:
    """The protocol, which says which answers count, and that pieces are apart, if there are any."""
    kinds = {notice.kind for notice in response.notices}
    if "llm-choices" in kinds and protocol.choice == "auto":
        protocol = protocol.but(choice="1")
    if "llm-pieces" in kinds and protocol.pieces == "auto":
        protocol = protocol.but(pieces="apart")
    return protocol


def prepare_probe(
    key: Corpus, response: Corpus, protocol: Protocol
) -> tuple[DocumentPairs, Corpus, Corpus, list[Notice]]:
    """The pairs of questions and answers, both on the tokens of the response, and notices.

    Policies are for the response alone: several questions may be about the same words.
    """
    names = key.name, response.name
    pairs = pair_documents(key.documents, response.documents, protocol, names)
    key, response, notices, _ = pair(key, response, protocol, pairs=pairs, may_widen=True)
    codes = mention_codes(key, response)[1]
    kept = apply_to_side(response, codes, protocol, protocol.singletons != "keep")
    return pairs, key, kept.corpus or response, [*response.notices, *notices, *kept.notices]


def _match(
    key: Mentions,
    response: Mentions,
    protocol: Protocol,
    request: Request,
    own_tokens: bool,
    pairs: DocumentPairs | None,
) -> tuple[Matches, Protocol, list[Notice]]:
    """The matches of two sides, the protocol with the sources of heads and so on, and notices.

    Where `pairs` are given, the sides are a piece: see `prepare_corpora`. A key that was a plain
    text has no `own_tokens`: pairing put it on the tokens of the response.
    """
    is_placed = response.codes >= 0  # mentions that were lost match nothing
    sides, notices = (key, response), list[Notice]()
    if not is_placed.all():
        corpus = response.corpus.keep_mentions(is_placed)
        sides = key, Mentions(corpus, response.codes[is_placed])
    if protocol.match != "exact":
        from corefeval.matching.evidence import gather

        name = split_call(protocol.match)[0]
        evidence = gather(*sides, name, request.tagset, own_tokens=own_tokens)
        sides = evidence.key, evidence.response
        protocol = Protocol.of_fields(evidence.fields, protocol)
        notices = evidence.notices
        if pairs is None:
            notices = [*drop_idle(notices), *compare_evidence(request.base, protocol)]
    matches = matcher(protocol.match)(*sides)
    if matches.key is not None and pairs is None:
        suspects = find_suspects(key.corpus, response.corpus, matches.key)
        notices = [*notices, *mismatch_notices([suspects], response.corpus.name)]
    if not is_placed.all():
        rows = np.flatnonzero(is_placed)
        key_rows, response_rows = matches.rows(rows.size)
        matches = Matches(key_rows, rows[response_rows], matches.weight)
    return matches, protocol, notices


def _make_full_sides(
    kept: Sequence[Kept], matches: Matches, match: str, tagset: object, own_tokens: bool
) -> FullSides | None:
    """Both sides in full, for what is no part of coreference; None without relations or layers."""
    corpora = [side.full for side in kept if side.full is not None]
    if not any(len(c.relations) or c.entity_layer is not None for c in corpora):
        return None
    from corefeval.full_sides import FullSide, FullSides

    sides = []
    for side in kept:
        if side.full is None or side.corpus is None:
            return None
        rows = np.arange(side.full.n_mentions) if side.rows is None else side.rows
        owners, documents = side.corpus.mention_entity, side.full.mention_document
        sides.append(FullSide(side.full, side.full_codes, rows, owners, documents))
    return FullSides(sides[0], sides[1], matches, match, tagset, own_tokens)


def drop_idle(notices: Iterable[Notice]) -> list[Notice]:
    """The notices, without those that count nothing and exist only to be added up over pieces."""
    return [notice for notice in notices if notice.count or not notice.parts]


def compare_evidence(base: Protocol, protocol: Protocol) -> Iterator[Notice]:
    """A notice where heads or minimum spans come from elsewhere than the base protocol says."""
    for name, noun in (("heads", "heads"), ("minimum", "minimum spans")):
        expected, actual = getattr(base, name), getattr(protocol, name)
        if "none" not in (expected, actual) and expected != actual:
            text = (
                f"the protocol says {name}:{expected}, but here they are {name}:{actual}: numbers "
            )
            yield Notice(f"other-{name}", f"{text}from other {noun} are not comparable")


def _find_twins(
    key: Mentions, response: Mentions, matches: Matches, match: str
) -> tuple[IntArray, list[Notice]]:
    """For each response mention its key match of the same tokens, −1 where there is none.

    There is a notice where mentions were matched with those of other tokens.
    """
    twins = matches.partners_of_response(response.codes.size)
    if matches.weight is None:
        return twins, []
    is_equal = looked_up(key.codes, twins) == response.codes
    twins = np.where(is_equal, twins, -1)
    if matches.response is None:
        return twins, []
    count = int((twins[matches.response] < 0).sum())
    text = f"{response.corpus.name or 'response'}: {{n}} matched by {match} with key "
    text += "mentions of other tokens"
    return twins, [Notice("other-spans", text, count, noun="mention")]


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


def as_corpus(
    source: Input, name: str, reading: Reading = _BY_CONTENT, *, key: Corpus | None = None
) -> Corpus:
    """A corpus from whatever stands for one; answers of language models need their key."""
    format = reading.format
    if isinstance(source, Mapping) and format is not None and format.startswith("llm"):
        from corefeval.formats.answers.reading import read_answers

        if key is None:
            message = "answers of a language model cannot be a key: they are read against one"
            raise UsageError(message)
        names = ("occurrences", "choice", "pieces")
        rules: dict[str, Any] = {rule: getattr(reading, rule) for rule in names}
        return read_answers(source, key, format=format, name=name, **rules)
    if isinstance(source, Corpus):
        return source
    if (file := as_file(source)) is not None:
        return read(file.path, name=file.name, key=key, **reading._asdict())
    from corefeval.model.construction import corpus_from_entities, is_plain
    from corefeval.model.views import Document

    if is_plain(source):
        return corpus_from_entities(source, name=name)
    if isinstance(source, Document):
        return source.corpus.select_documents(np.array([source.index]))
    if isinstance(source, Iterator):
        source = list(source)
    # Imported only where Python objects are scored.
    from corefeval.live import corpus_from_object

    corpus = corpus_from_object(source, name)
    return corpus_from_entities(source, name=name) if corpus is None else corpus
