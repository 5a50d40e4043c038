"""Agreement between annotators of the same documents: F1 of each pair, and Krippendorff's α."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from corefeval.analysis.alpha import Alpha, AlphaCounts, Coding, count_alpha, parse_distances
from corefeval.analysis.ceilings import Ceilings, Pair
from corefeval.diagnostics import Notice, UsageError, plural
from corefeval.display import Comparable, Row, Tabular, distinct_names
from corefeval.evaluation import count
from corefeval.formats import read_ahead
from corefeval.metrics import DEFAULT_PRESET, Metrics, parse_metrics
from corefeval.model import Corpus, Document
from corefeval.model.arrays import IntArray
from corefeval.model.identity import digest
from corefeval.pairing.annotators import Annotations, name_sides, pair_annotations
from corefeval.pairing.axis import ALIGNED
from corefeval.pairing.mismatches import MISMATCH
from corefeval.preparation import as_corpus, prepare_corpora
from corefeval.protocol import STEPS, Protocol
from corefeval.request import Input, Reading, Request, Sampling, ScoreOptions, Stated
from corefeval.results import Result

Pairs = dict[Pair, float]
_NUMBERS = ("one", "two")
_ALWAYS_NOTED = ("skipped-metric", "missing-documents", "extra-documents")
# Metrics whose counts of exchanged sides are their counts, under names with these words exchanged.
_SYMMETRIC = {str(metric) for metric, _ in parse_metrics(DEFAULT_PRESET)}
_TURNED = {"recall": "precision", "precision": "recall", "key": "response", "response": "key"}


class Signed(Tabular):
    """A result of several annotations, scored under one protocol."""

    protocol: Protocol

    @property
    def signature(self) -> str:
        """The protocol behind the numbers, to be quoted with them."""
        return self.protocol.signature


class Figures:
    """What there is of all documents, and of each: α by distance, and the F1 of pairs by metric."""

    __slots__ = ()

    @property
    def alpha(self: Any) -> dict[str, float]:
        """Krippendorff's α over all mentions, for each distance."""
        return {name: coefficient.alpha for name, coefficient in self.alphas.items()}

    @property
    def means(self: Any) -> dict[str, float]:
        """The mean F1 over all pairs, for each metric."""
        return {metric: _mean(pairs) for metric, pairs in self.pairwise.items()}

    @property
    def _record(self: Any) -> Row:
        return {
            "alpha": {name: coefficient.as_dict() for name, coefficient in self.alphas.items()},
            "f1": {metric: _f1_as_dict(pairs) for metric, pairs in self.pairwise.items()},
        }

    @property
    def _text(self) -> str:
        return ", ".join(f"α({name}) {value:.3f}" for name, value in self.alpha.items())


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Comparable, Figures, Signed):
    """How far two or more annotators agree.

    `pairwise["muc"]["ann", "bob"]` is the F1 with ann's annotation as key and bob's as response,
    `means["muc"]` the mean over all pairs, `alpha["masi"]` Krippendorff's α with that distance
    (`alphas` also has the observed and expected disagreement). `results` are the whole results of
    scoring each annotator against each other one, `mentions` counts the distinct mentions of each
    document, and `documents` has the same numbers for each document alone.
    """

    annotators: tuple[str, ...]
    document_ids: tuple[str, ...]
    results: Mapping[Pair, Result]
    coding: Coding
    distances: tuple[str, ...]
    protocol: Protocol
    notices: tuple[Notice, ...] = ()
    ceilings: tuple[Row, ...] = ()
    """How close responses come to annotators, for each metric and way to score against several."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that every pair could be scored with, in order."""
        first, *remaining_results = self.results.values()
        return tuple(
            name for name in first.metrics if all(name in result for result in remaining_results)
        )

    @property
    def titles(self) -> dict[str, str]:
        """The names of the metrics for tables."""
        titles = next(iter(self.results.values())).titles
        return {metric: titles.get(metric, metric) for metric in self.metrics}

    @cached_property
    def pairwise(self) -> dict[str, Pairs]:
        """The F1 of each metric for each pair, by (key, response)."""
        return {
            metric: {pair: result[metric].f1 for pair, result in self.results.items()}
            for metric in self.metrics
        }

    @property
    def mentions(self) -> IntArray:
        """How many distinct mentions each document has."""
        return self.coding.units

    @cached_property
    def counts(self) -> dict[str, AlphaCounts]:
        """What α follows from, for each distance."""
        return count_alpha(self.coding, self.distances)

    @cached_property
    def alphas(self) -> dict[str, Alpha]:
        """α with its observed and expected disagreement, for each distance."""
        return {name: counts.total for name, counts in self.counts.items()}

    @cached_property
    def documents(self) -> list[DocumentAgreement]:
        """The agreement on each document."""
        rates = {pair: result.document_rates for pair, result in self.results.items()}
        return [
            DocumentAgreement(
                name,
                int(self.mentions[index]),
                {distance: counts.document(index) for distance, counts in self.counts.items()},
                {
                    metric: {pair: float(rates[pair][metric]["f1"][index]) for pair in rates}
                    for metric in self.metrics
                },
            )
            for index, name in enumerate(self.document_ids)
        ]

    def rows(self, *, by_document: bool = False) -> list[Row]:
        """One row for each measure and pair; for each document too. α may be None: not defined."""
        everything: list[tuple[str, Mapping[str, float], Mapping[str, Pairs]]]
        everything = [("", self.alpha, self.pairwise)]
        if by_document:
            everything += [
                (agreement.id, agreement.alpha, agreement.pairwise) for agreement in self.documents
            ]
        names = ("document", "measure", "name", "key", "response", "value")
        rows = [
            {**dict(zip(names, (document, *row), strict=True)), "signature": self.signature}
            for document, alpha, pairwise in everything
            for row in _list_values(alpha, pairwise)
        ]
        return [*rows, *self.ceiling_rows()]

    def ceiling_rows(self) -> list[Row]:
        """A row for each metric, kind and response, with the ceiling and the ends of intervals."""
        columns = ("value", "level", "ceiling", "share")
        rows = []
        for ceiling in self.ceilings:
            for name, response in ceiling["responses"].items():
                cells = ceiling | response
                row = {"metric": cells["metric"], "kind": cells["kind"], "who": name}
                row |= {column: cells[column] for column in columns}
                for column in columns:
                    ends = cells[f"{column}_interval"] or ()
                    row |= dict(zip((f"{column}_low", f"{column}_high"), ends, strict=False))
                rows.append(row)
        return rows

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        return {
            "annotators": list(self.annotators),
            "signature": self.signature,
            "mentions": int(self.mentions.sum()),
            **self._record,
            "documents": [document.as_dict() for document in self.documents],
            **({"ceilings": list(self.ceilings)} if self.ceilings else {}),
        }

    def __repr__(self) -> str:
        annotators = plural(len(self.annotators), "annotator")
        documents = plural(len(self.document_ids), "document")
        return f"<Agreement of {annotators}, {documents}: {self._text}>"


@dataclass(frozen=True, repr=False)
class DocumentAgreement(Figures):
    """How far annotators agree on one document: its id, distinct mentions, α and F1 of pairs."""

    id: str
    mentions: int
    alphas: dict[str, Alpha]
    pairwise: dict[str, Pairs]

    def as_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        return {"id": self.id, "mentions": self.mentions, **self._record}

    def __repr__(self) -> str:
        return f"<{self.id}: {self._text}>"


def agree(
    sources: Mapping[str, Input] | Iterable[Input],
    responses: Mapping[str, Input] | Iterable[Input] | None = None,
    *,
    metrics: Metrics = DEFAULT_PRESET,
    distances: str | Iterable[str] = "all",
    protocol: Protocol | str | None = None,
    format: str | None = None,
    file_layer: str | None = None,
    features: Stated = None,
    ci: bool = False,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    **options: Unpack[ScoreOptions],
) -> Agreement:
    """Measure the agreement between two or more annotators of the same documents.

    `sources` has an annotation for each annotator, each whatever `score` takes, or maps the names
    of annotators to these. Documents that not all of them have are left out, with a notice.

    α treats every mention that anybody marked as a unit, and the chain (the set of mentions) that
    an annotator puts it into as its value. `distances` between chains are "passonneau" (2004),
    "jaccard", "masi" (Passonneau 2006) and "dice", one or several or "all". A mention that an
    annotator did not mark is a singleton of theirs, or with `unmarked="missing"` no value.
    `protocol` and the other options are those of `score`; files have one `format` and `file_layer`.

    `responses` of systems are scored against all annotators, and `ceilings` then says how close
    they come to annotators, who are scored against each other in the same way; with `ci` there are
    intervals, from `samples` of documents with this `seed`, that hold `level` of them.

    >>> agreement = agree({"ann": [["Ada", "she", "her"]], "bob": [["Ada", "she"], ["her"]]})
    >>> round(agreement.pairwise["muc"]["ann", "bob"], 4), round(agreement.alpha["jaccard"], 4)
    (0.6667, -0.1111)
    """
    distance_names = parse_distances(distances)
    details = {"metrics": metrics, "features": features}
    sampling = Sampling(level if ci else None, samples, seed)
    request = make_request(protocol, options, "agreement", file_layer, sampling=sampling, **details)
    corpora = read_annotations(sources, request.response_reading._replace(format=format))
    systems = []
    if responses is not None:
        systems = read_annotations(responses, request.response_reading, least=1, key=corpora[0])
    return agree_corpora(corpora, request, distance_names, systems)


def make_request(
    protocol: Any, options: ScoreOptions, step: str, layer: str | None, **details: Any
) -> Request:
    """What is asked of annotators, whose files are read alike; `details` are those of a request."""
    options |= {"key_layer": layer, "response_layer": layer}
    return Request.of(protocol, options, steps=(*STEPS, step), sound=True, **details)


def agree_corpora(
    corpora: Sequence[Corpus],
    request: Request,
    distances: Sequence[str],
    responses: Sequence[Corpus] = (),
) -> Agreement:
    """The agreement between annotators, after whom their corpora are named, as a request says.

    With responses, which are named too, it has ceilings.
    """
    names = [corpus.name for corpus in (*corpora, *responses)]
    if responses and len({*names}) < len(names):
        twice = max(names, key=names.count)
        raise UsageError(
            f"two annotators or responses are called {twice!r}: give each a name of its own"
        )
    annotations = pair_annotations(corpora, request.protocol)
    ceilings = Ceilings(
        tuple(corpus.name for corpus in corpora),
        tuple(response.name for response in responses),
        request.sampling,
    )
    results = _score_annotators(annotations, request, ceilings)
    notices = [notice for response in responses for notice in response.notices]
    notices += (*annotations.notices, *_notices(results, request.protocol))
    rows: list[Row] = []
    if responses:
        pairs = product(annotations.sources, responses)
        notices += result_notices(_score_pairs(pairs, request, ceilings))
        rows, ceiling_notices = ceilings.measure()
        notices += ceiling_notices
    return Agreement(
        annotators=ceilings.annotators,
        document_ids=tuple(map(str, annotations.corpora[0].documents)),
        results=results,
        coding=Coding.of(annotations.corpora, annotations.codes, request.protocol.unmarked),
        distances=tuple(distances),
        protocol=annotations.join_protocols(result.protocol for result in results.values()),
        notices=tuple(dict.fromkeys(notices)),
        ceilings=tuple(rows),
    )


def _score_annotators(
    annotations: Annotations, request: Request, ceilings: Ceilings
) -> dict[Pair, Result]:
    """The results of each annotator against each other one, which ceilings take in.

    A pair is counted once where metrics and protocol treat both sides alike, else both ways.
    """
    protocol, sources = request.protocol, annotations.sources
    are_alike = (
        {str(metric) for metric, _ in parse_metrics(request.metrics)} <= _SYMMETRIC
        and (protocol.match, protocol.tokens) == ("exact", "same")
        and protocol.singletons != "drop-response"
        and all(source.ledger is None for source in sources)
    )
    pairs = (combinations if are_alike else permutations)(sources, 2)
    results = _score_pairs(pairs, request, ceilings, both_ways=are_alike)
    return {pair: results[pair] for pair in permutations(ceilings.annotators, 2)}


def _score_pairs(
    pairs: Iterable[tuple[Corpus, Corpus]],
    request: Request,
    ceilings: Ceilings,
    *,
    both_ways: bool = False,
) -> dict[Pair, Result]:
    """The results of pairs of key and response, which ceilings take in, and of exchanged sides."""
    results = {}
    for key, response in pairs:
        pair = key.name, response.name
        with name_sides(*pair):
            prepared = prepare_corpora(key, response, request)
        alignment = prepared.alignment
        results[pair] = count(prepared, request.metrics)
        ceilings.add(pair, alignment, results[pair])
        if both_ways:
            results[pair[::-1]] = _exchange(results[pair], digest(response))
            ceilings.add(pair[::-1], alignment.swapped, results[pair[::-1]])
    return results


def _exchange(result: Result, key_digest: str) -> Result:
    """A result with the sides exchanged, of metrics that treat both alike; `key_digest` is new."""
    tables = dict(result.tables)
    for metric, table in tables.items():
        if table.values is not None:
            turned = [re.sub("|".join(_TURNED), lambda m: _TURNED[m[0]], n) for n in table.names]
            columns = [table.names.index(name) for name in turned]
            tables[metric] = replace(table, values=table.values[:, columns])
    key, response = result.response, result.key
    return replace(result, tables=tables, key=key, response=response, key_digest=key_digest)


def _notices(results: Mapping[Pair, Result], protocol: Protocol) -> Iterator[Notice]:
    """Notices on the F1 of pairs; one that both directions of a pair have is given once."""
    if protocol.match != "exact":
        text = f"F1 counts mentions matched by {protocol.match}; for α they "
        yield Notice("alpha-exact", text + "must have the same tokens")
    yield from result_notices(results)


def result_notices(results: Mapping[Pair, Result]) -> Iterator[Notice]:
    """Notices on results by key and response; what both directions of a pair say comes once."""
    seen_pairs = set[Pair]()
    for (key_name, response_name), result in results.items():
        is_first = (response_name, key_name) not in seen_pairs
        seen_pairs.add((key_name, response_name))
        kinds = (*_ALWAYS_NOTED, *((MISMATCH, "heads", *ALIGNED) if is_first else ()))
        for notice in result.notices:
            has_documents = notice.kind.endswith("-documents")  # which all annotators have
            with name_sides(
                "the annotations" if has_documents else key_name, response_name
            ) as name:
                if notice.kind in kinds:
                    yield replace(notice, text=name(notice.text), noun=name(notice.noun))


def read_annotations(
    sources: Mapping[str, Input] | Iterable[Input],
    reading: Reading,
    *,
    least: int = 2,
    key: Corpus | None = None,
) -> list[Corpus]:
    """A corpus for each annotator, named after them; a UsageError for fewer than `least`.

    With a `key` they are responses: answers of language models are read against it.
    """
    noun, number = "annotator" if key is None else "response", _NUMBERS[least - 1]
    if isinstance(sources, str | os.PathLike | Corpus | Document) or not isinstance(
        sources, Iterable
    ):
        raise UsageError(f"{noun}s must be a list of {number} or more")
    are_named = isinstance(sources, Mapping)
    annotations: list[Input] = list(sources.values() if isinstance(sources, Mapping) else sources)
    if len(annotations) < least:
        raise UsageError(f"there must be {number} or more {noun}s: there is {len(annotations)}")
    defaults = [f"{noun} {number}" for number in range(1, len(annotations) + 1)]
    names = list(map(str, sources)) if isinstance(sources, Mapping) else defaults
    read = partial(as_corpus, reading=reading, key=key)
    jobs = [partial(read, *pair) for pair in zip(annotations, names, strict=True)]
    corpora = list(read_ahead(jobs))
    if not are_named:
        paths = [corpus.name or name for corpus, name in zip(corpora, defaults, strict=True)]
        names = distinct_names([Path(name).name or name for name in paths], paths)
    return [corpus.with_details(name=name) for corpus, name in zip(corpora, names, strict=True)]


def _list_values(
    alpha: Mapping[str, float], pairwise: Mapping[str, Pairs]
) -> Iterator[tuple[object, ...]]:
    for name, value in alpha.items():
        yield "alpha", name, "", "", None if math.isnan(value) else value
    for metric, pairs in pairwise.items():
        for (key, response), f1 in pairs.items():
            yield "f1", metric, key, response, f1


def _mean(pairs: Pairs) -> float:
    return float(np.mean(list(pairs.values())))


def _f1_as_dict(pairs: Pairs) -> dict[str, object]:
    return {
        "mean": _mean(pairs),
        "pairs": [
            {"key": key, "response": response, "f1": f1} for (key, response), f1 in pairs.items()
        ],
    }
