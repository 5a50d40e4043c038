"""Emulation: other programs' numbers, with the accidents by which these came about.

The core imports this room only when a protocol is asked for that names a program
(`emulate:corefud-1.2`) or has an accident of one (`b3:response`). Two programs have modules of
their own. The others are one pipeline, in which every choice acts at one step: documents are
paired, listed, cut and identified; then repeats, singletons and twinless mentions are settled; then
metrics count. `Material` remembers the output of each step by its inputs and by the choices that
act at it, and a step that changes nothing returns its input: protocols that share steps share their
work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError, memory_for
from corefeval.emulation import corefud_scorer, universal_anaphora
from corefeval.emulation.corefud_scorer import (
    count_affected,
    digest_text,
    emulate,
    read_text,
    score_emulated,
)
from corefeval.emulation.documents import (
    Document,
    Paired,
    cut_windows,
    identify,
    list_documents,
    pair_corpora,
)
from corefeval.emulation.minimum_spans import cut_mentions, read_texts
from corefeval.emulation.policies import (
    drop_keyless,
    drop_repeats,
    have_repeats,
    have_singletons,
    settle_repeats,
    settle_singletons,
    settle_twinless,
)
from corefeval.emulation.tables import CONLL, COUNTERS, Tables, make_result
from corefeval.emulation.universal_anaphora import score_anaphora
from corefeval.metrics import Metrics, parse_metrics
from corefeval.metrics.coreference import Counts
from corefeval.model import IDENTITY, Corpus
from corefeval.model.identity import digest
from corefeval.model.relations import find_sets
from corefeval.protocol import Protocol, programs_with
from corefeval.results import CountTable, Result

__all__ = [
    "METRICS",
    "Material",
    "check_request",
    "count_affected",
    "digest_text",
    "emulate",
    "read_text",
    "score_anaphora",
    "score_emulated",
]

# The metrics, and the choices that act in their formulas.
METRICS: dict[str, tuple[str, ...]] = {
    "mentions": (),
    "muc": ("muc",),
    "b3": ("b3", "b3_singletons"),
    "ceafm": ("ceaf", "ceafm"),
    "ceafe": ("ceaf", "ceafe_singletons"),
    "blanc": ("blanc",),
    "lea": ("lea", "lea_singletons"),
    "links": ("blanc",),
}
_SHAPES = {"key": "blanc", "halves": "blanc", "luo": "blanc-of-both", "scorch": "blanc-of-scorch"}
_COVAL = ("min_span", "np_only", "remove_nested")
# The choices that act at each step. Steps that are missing here are called without a protocol.
_CHOICES: dict[Callable[..., Any], tuple[str, ...]] = {
    pair_corpora: (
        *("pairing", "documents", "missing", "extra", "across", "tokens", "spans", "zeros"),
    ),
    drop_repeats: ("repeats_key", "repeats_response", "duplicates", "order", "brackets"),
    list_documents: ("order", "brackets"),
    cut_windows: ("window",),
    cut_mentions: (*_COVAL, "identity", "singletons", "pairing"),
    identify: ("identity",),
    settle_repeats: ("repeats_key", "repeats_response", "duplicates", "limit"),
    settle_singletons: ("singletons",),
    drop_keyless: ("keyless",),
    settle_twinless: ("twinless",),
    Tables: ("owner",),
    **{counter: METRICS[metric] for metric, counter in COUNTERS.items()},
}
# Variants of formulas that do not differ without repeats, and without singletons.
_OF_REPEATS = ("owner", "muc", "b3", "ceaf", "lea", "blanc")
_OF_SINGLETONS = ("b3_singletons", "ceafe_singletons", "lea_singletons")
_DEFAULTS = Protocol()


class Material:
    """A key and a response, and what the steps made of them so far."""

    def __init__(self, key: Corpus, response: Corpus) -> None:
        self.key_digest = digest(key)
        # Other programs know of nothing but identity.
        self.key, self.response = (side.keep_layer(IDENTITY) for side in (key, response))
        self._outputs: dict[tuple[object, ...], tuple[Any, Sequence[object]]] = {}

    def result(self, protocol: Protocol, metrics: Metrics = "standard") -> Result:
        """The result under a protocol; an error where a program that it describes would stop."""
        chosen = _choose_metrics(metrics, protocol)
        if protocol.split != "off" and self.has_sets:
            raise _no_layers(protocol)
        if protocol.lost == "strict" and self.response.ledger is not None:
            raise UsageError(
                f"{_accidents_of(protocol)} does not count lost mentions: leave out lost strict"
            )
        with memory_for():
            documents, notices = self.documents(protocol)
            tables = {name: self._table(name, documents, protocol) for name in chosen}
        paired = self._pair(protocol)
        pairing_notices = paired.notices
        if protocol.brackets != "written":  # it is about brackets as corefeval reads them
            pairing_notices = tuple(
                notice for notice in pairing_notices if notice.kind != "overlapping-mentions"
            )
        result = make_result(
            protocol.but(spans=paired.spans),
            tables,
            tuple(document.name for document in documents),
            sides=(self.key.name, self.response.name),
            key_digest=self.key_digest,
            notices=(*pairing_notices, *notices),
        )
        if protocol.undefined == "error":
            _check_defined(result)
        # scorch's key has all mentions of the response, so that it never lacks weights alone.
        if protocol.aggregate == "weighted" and not any(
            document.response for document in documents
        ):
            raise InputError(
                "the response has no mentions, so the weights of its documents are all zero, "
                f"which stops {programs_with('aggregate', 'weighted')}",
                file=self.response.name or None,
                fix="use --aggregate micro",
            )
        return result

    @cached_property
    def has_sets(self) -> bool:
        """Whether a side has sets of antecedents, of which other programs know nothing."""
        return any(
            len(side.relations) and len(find_sets(side)) for side in (self.key, self.response)
        )

    def documents(self, protocol: Protocol) -> tuple[list[Document], list[Notice]]:
        """The documents that metrics count on, and what was left out of them."""
        paired = self._run(drop_repeats, self._pair(protocol), protocol=protocol)
        documents, notices = self._identify(paired, protocol)
        _check_mentions_exist(documents, protocol, paired)
        documents, of_repeats = self._run(settle_repeats, documents, paired, protocol=protocol)
        if not _is_cut(protocol):
            documents = self._run(settle_singletons, documents, protocol=protocol)
        documents = self._run(drop_keyless, documents, protocol=protocol)
        documents = self._run(settle_twinless, documents, protocol=protocol)
        return documents, [*notices, *of_repeats]

    def _run(self, step: Callable[..., Any], *inputs: object, protocol: Protocol) -> Any:
        """The output of a step, made once for the same inputs and choices that act at it."""
        choices = _CHOICES.get(step, ())
        key = (step, *map(id, inputs), *(getattr(protocol, name) for name in choices))
        if key not in self._outputs:
            output = step(*inputs, protocol) if step in _CHOICES else step(*inputs)
            self._outputs[key] = output, inputs  # kept alive, so that nothing else gets their ids
        return self._outputs[key][0]

    def _pair(self, protocol: Protocol) -> Paired:
        if self._are_alike and protocol.pairing != "one":
            # By name or by position, and with none that is missing, pairs are the same.
            protocol = protocol.but(pairing="name", missing="empty", extra="ignore")
        paired: Paired = self._run(pair_corpora, self.key, self.response, protocol=protocol)
        return paired

    @cached_property
    def _are_alike(self) -> bool:
        """Whether both sides have the same documents in the same order, each once."""
        names, response_names = ([*map(str, side.documents)] for side in (self.key, self.response))
        return names == response_names and len({*names}) == len(names)

    def _identify(self, paired: Paired, protocol: Protocol) -> tuple[list[Document], list[Notice]]:
        """The documents, cut and in order, with mentions by what tells them apart."""
        documents = self._run(list_documents, paired, protocol=protocol.but(order="list"))
        # The order of entities matters if a mention is repeated, already or once mentions are told
        # apart in another way.
        if protocol.order != "list" and paired.has_spans:
            is_moved = not _is_cut(protocol) and documents is not self._run(
                identify, documents, paired, protocol=protocol
            )
            if (
                _is_cut(protocol)
                or is_moved
                or self._run(have_repeats, documents, protocol=protocol)
            ):
                documents = self._run(list_documents, paired, protocol=protocol)
        documents, notices = self._run(cut_windows, documents, paired, protocol=protocol)
        if not _is_cut(protocol):
            return self._run(identify, documents, paired, protocol=protocol), notices
        # coval drops singletons while it reads, before anything else.
        read = self._run(settle_singletons, documents, protocol=protocol)
        texts = self._run(read_texts, documents, paired, protocol=protocol)
        documents, left_out = self._run(cut_mentions, read, paired, texts, protocol=protocol)
        return documents, [*notices, *left_out]

    def _table(self, metric: str, documents: list[Document], protocol: Protocol) -> CountTable:
        if metric == "conll":
            return CONLL
        counts = dict(self._count(metric, documents, protocol))
        shape = _SHAPES[protocol.blanc] if metric == "blanc" else "ratio"
        if protocol.aggregate == "weighted":
            for side in ("key", "response"):
                sizes = [sum(map(len, getattr(document, side))) for document in documents]
                counts[f"{side}_weight"] = np.array(sizes, dtype=np.float64)
        if metric == "blanc" and (protocol.aggregate == "pool" or protocol.blanc == "scorch"):
            mentions = self._count("mentions", documents, protocol)
            counts["key_mentions"] = mentions["recall_denominator"]
            counts["response_mentions"] = mentions["precision_denominator"]
            counts["common_mentions"] = mentions["recall_numerator"]
        return CountTable(shape, tuple(counts), np.column_stack(list(counts.values())))

    def _count(self, metric: str, documents: list[Document], protocol: Protocol) -> Counts:
        """A metric's counts; variants of formulas are not told apart where they do not differ."""
        moot: list[str] = []
        for is_concerned, names in ((have_repeats, _OF_REPEATS), (have_singletons, _OF_SINGLETONS)):
            moot += () if self._run(is_concerned, documents, protocol=protocol) else names
        protocol = protocol.but(**{name: getattr(_DEFAULTS, name) for name in moot})
        tables = self._run(Tables, documents, protocol=protocol)
        counts: Counts = self._run(COUNTERS[metric], tables, protocol=protocol)
        return counts


def _is_cut(protocol: Protocol) -> bool:
    """Whether mentions are cut or left out as coval does it."""
    return any(getattr(protocol, name) == "yes" for name in _COVAL)


def _check_mentions_exist(
    documents: Sequence[Document], protocol: Protocol, paired: Paired
) -> None:
    if protocol.nothing == "ok":
        return
    for side in ("key", "response"):
        if not any(getattr(document, side) for document in documents):
            programs = programs_with("nothing", "error")
            raise InputError(
                f"the {side} has no mentions, which stops {programs}",
                file=getattr(paired, side).name or None,
                fix="--nothing ok scores anyway",
            )


def _check_defined(result: Result) -> None:
    for metric, table in result.tables.items():
        for name, column in table.columns().items():
            if name.endswith("_denominator") and not column.all():
                document = result.document_ids[int(np.argmin(column))]
                where = f" ({document})" if document else ""
                raise InputError(
                    f"{metric} of {result.response} against {result.key}{where} divides by zero, "
                    "which undefined error does not allow",
                    fix="--undefined 0 scores anyway",
                )


def _accidents_of(protocol: Protocol) -> str:
    """The accidents of a protocol as messages name them."""
    return ", ".join(
        f"{name.replace('_', '-')} {value}" for name, value in protocol.accidents.items()
    )


def _no_layers(protocol: Protocol) -> UsageError:
    return UsageError(
        f"{_accidents_of(protocol)} has no sets of antecedents and no other layers: leave out "
        "split and layer"
    )


def check_request(metrics: Metrics, protocol: Protocol) -> None:
    """Refuse metrics and choices that the program does not have: before anything is read."""
    if protocol.reads_itself:
        corefud_scorer.choose_metrics(metrics, protocol)
    elif protocol.emulate != "none":
        universal_anaphora.choose_metrics(metrics, protocol)
    else:
        _choose_metrics(metrics, protocol)


def _choose_metrics(metrics: Metrics, protocol: Protocol) -> list[str]:
    """The metrics that are asked for; presets leave out what other programs do not have.

    Raises a UsageError for a metric or a choice that they do not have.
    """
    if protocol.match != "exact":
        raise UsageError(
            f"{_accidents_of(protocol)} only works with match exact, not {protocol.match}: leave "
            "one of them out"
        )
    if protocol.layer != "identity":
        raise _no_layers(protocol)
    chosen = []
    for request in parse_metrics(metrics):
        name = str(request.metric)
        if name in METRICS or name == "conll":
            chosen.append(name)
        elif request.by_name:
            names = ", ".join((*METRICS, "conll"))
            raise UsageError(
                f"there is no {name} with {_accidents_of(protocol)}: there are {names}"
            )
    return chosen
