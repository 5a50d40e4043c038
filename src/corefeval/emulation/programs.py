"""Scores as other programs make them: one pipeline, in which every choice of theirs has its place.

Documents are paired, cut, ordered and identified; then repeats, singletons and twinless mentions
are settled; then metrics count. `Material` remembers what each of these steps gave for the choices
that it depends on, so that protocols which share steps share their work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from corefeval.assignment import heaviest_matching
from corefeval.diagnostics import InputError, Notice, UsageError, memory_for, merge_notices
from corefeval.emulation import formulas
from corefeval.emulation.documents import (
    Document,
    Paired,
    identify,
    make_documents,
    pair_corpora,
)
from corefeval.emulation.formulas import Table
from corefeval.emulation.policies import settle_repeats, settle_singletons, settle_twinless
from corefeval.metrics import Metric, parse_metrics, spell
from corefeval.model import Corpus
from corefeval.model.identity import digest
from corefeval.protocol import Protocol, programs_with
from corefeval.results import CountTable, Result
from corefeval.results.rates import Numbers

T = TypeVar("T")

# The metrics, and the choices that their formulas heed beside those of the steps before.
METRICS: dict[str, tuple[str, ...]] = {
    "mentions": (),
    "muc": ("owner", "muc"),
    "b3": ("owner", "b3", "b3_singletons"),
    "ceafm": ("owner", "ceaf", "ceafm"),
    "ceafe": ("owner", "ceaf", "ceafe_singletons"),
    "blanc": ("owner", "blanc"),
    "lea": ("owner", "lea", "lea_singletons"),
    "links": ("owner", "blanc"),
}
_TITLES = {
    "mentions": "Mentions", "muc": "MUC", "b3": "B³", "ceafm": "CEAFm", "ceafe": "CEAFe",
    "blanc": "BLANC", "lea": "LEA", "links": "Links", "conll": "CoNLL",
}  # fmt: skip
_CONLL = ("muc", "b3", "ceafe")
_RATIO = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")
_BLANC = tuple(
    f"{kind}_{side}"
    for kind in ("coreference", "non_coreference")
    for side in ("common", "key", "response")
)
_SHAPES = {"key": "blanc", "halves": "blanc", "luo": "blanc-of-both", "scorch": "blanc-of-scorch"}

_PAIRING = ("pairing", "documents", "across", "missing", "extra", "tokens", "spans", "zeros")
_DOCUMENTS = (*_PAIRING, "window", "order", "identity", "min_span", "np_only", "remove_nested")
_COVAL = ("min_span", "np_only", "remove_nested")
_MENTIONS = (
    *_DOCUMENTS, "repeats_key", "repeats_response", "duplicates", "limit", "singletons", "keyless",
    "twinless", "nothing",
)  # fmt: skip


class Material:
    """A key and a response, and what the steps made of them so far."""

    def __init__(self, key: Corpus, response: Corpus) -> None:
        self.key, self.response = key, response
        self.key_digest = digest(key)
        self._known: dict[tuple[object, ...], object] = {}

    def result(
        self, protocol: Protocol, metrics: str | Metric | Iterable[str | Metric] = "standard"
    ) -> Result:
        """The result under a protocol; an error where a program that it describes would stop."""
        if protocol.match != "exact":
            raise UsageError(
                f"{_text(protocol)} goes with match exact alone, not {protocol.match}: leave "
                "one of them out"
            )
        wanted = wanted_metrics(metrics, protocol)
        with memory_for():
            documents, notices = self.documents(protocol)
            tables = {name: self._table(name, documents, protocol) for name in wanted}
        paired = self._paired(protocol)
        result = Result(
            tables=tables,
            document_ids=tuple(one.name for one in documents),
            protocol=protocol.but(spans=paired.spans),
            key=self.key.name,
            response=self.response.name,
            key_digest=self.key_digest,
            notices=merge_notices((*paired.notices, *notices)),
            spell=spell,
            titles={name: _TITLES[name] for name in wanted},
        )
        if protocol.undefined == "error":
            _check_defined(result)
        if protocol.aggregate == "weighted" and not any(s for one in documents for s in one.sides):
            raise InputError(
                "there is not a single mention, so that the weights of all documents are zero, "
                f"which ends {programs_with('aggregate', 'weighted')}",
                fix="--aggregate micro goes on",
            )
        return result

    def documents(self, protocol: Protocol) -> tuple[list[Document], list[Notice]]:
        """The documents that metrics count on, and what was left out of them."""
        return self._remember(_MENTIONS, protocol, self._settled)

    def _remember(
        self, names: Sequence[str], protocol: Protocol, make: Callable[[Protocol], T]
    ) -> T:
        known = (make.__qualname__, *(getattr(protocol, name) for name in names))
        if known not in self._known:
            self._known[known] = make(protocol)
        return self._known[known]  # type: ignore[return-value]

    def _paired(self, protocol: Protocol) -> Paired:
        return self._remember(_PAIRING, protocol, self._pair)

    def _pair(self, protocol: Protocol) -> Paired:
        return pair_corpora(self.key, self.response, protocol)

    def _identified(self, protocol: Protocol) -> tuple[list[Document], list[Notice]]:
        paired = self._paired(protocol)
        documents, notices = make_documents(paired, protocol)
        if any(getattr(protocol, name) == "yes" for name in _COVAL):
            from corefeval.emulation.minimum_spans import cut_mentions

            # coval drops singletons while it reads, before anything else.
            documents = settle_singletons(documents, protocol.singletons)
            documents, more = cut_mentions(documents, paired, protocol)
            return documents, [*notices, *more]
        return identify(documents, paired, protocol.identity), notices

    def _settled(self, protocol: Protocol) -> tuple[list[Document], list[Notice]]:
        names = (*_DOCUMENTS, *(["singletons"] if _cuts(protocol) else []))
        documents, notices = self._remember(names, protocol, self._identified)
        _check_something(documents, protocol)
        documents, more = settle_repeats(documents, protocol)
        if not _cuts(protocol):
            documents = settle_singletons(documents, protocol.singletons)
        if protocol.keyless == "skip":
            documents = [one for one in documents if one.key]
        return settle_twinless(documents, protocol.twinless), [*notices, *more]

    def _table(self, metric: str, documents: list[Document], protocol: Protocol) -> CountTable:
        if metric == "conll":
            return CountTable("mean", parts=_CONLL)
        names = (*_MENTIONS, *METRICS[metric])
        values = self._remember(names, protocol, self._counter(metric, documents))
        shape = _SHAPES[protocol.blanc] if metric == "blanc" else "ratio"
        columns = _BLANC if metric == "blanc" else _RATIO
        if protocol.aggregate == "weighted":
            sizes = [[sum(map(len, side)) for side in one.sides] for one in documents]
            values = np.hstack((values, np.array(sizes, dtype=np.float64).reshape(-1, 2)))
            columns = (*columns, "key_weight", "response_weight")
        if metric == "blanc" and (protocol.aggregate == "pool" or protocol.blanc == "scorch"):
            counter = self._counter("mentions", documents)
            mentions = self._remember((*_MENTIONS, "owner"), protocol, counter)
            values = np.hstack((values, mentions[:, [1, 3, 0]]))
            columns = (*columns, "key_mentions", "response_mentions", "common_mentions")
        return CountTable(shape, columns, values)

    def _counter(self, metric: str, documents: list[Document]) -> Callable[[Protocol], Numbers]:
        """What counts a metric; its name is that of the metric, by which it is remembered."""

        def count(protocol: Protocol) -> Numbers:
            known = (*_MENTIONS, "owner")
            tables = self._remember(
                known, protocol, lambda p: [Table(*d.sides, p.owner) for d in documents]
            )
            return count_metric(metric, tables, protocol)

        count.__qualname__ = metric
        return count


def _cuts(protocol: Protocol) -> bool:
    return any(getattr(protocol, name) == "yes" for name in _COVAL)


def _check_something(documents: Sequence[Document], protocol: Protocol) -> None:
    if protocol.nothing == "ok":
        return
    for side in ("key", "response"):
        if not any(getattr(one, side) for one in documents):
            programs = programs_with("nothing", "error")
            raise InputError(
                f"the {side} has not a single mention, which ends {programs}",
                fix="--nothing ok goes on",
            )


def _check_defined(result: Result) -> None:
    for metric, table in result.tables.items():
        for name, column in table.columns().items():
            if name.endswith("_denominator") and not column.all():
                document = result.document_ids[int(np.argmin(column))]
                raise InputError(
                    f"{metric} of {document} divides by zero, which undefined error refuses",
                    fix="--undefined 0 goes on",
                )


def _text(protocol: Protocol) -> str:
    return ", ".join(
        f"{name.replace('_', '-')} {value}" for name, value in protocol.accidents.items()
    )


def wanted_metrics(metrics: str | Metric | Iterable[str | Metric], protocol: Protocol) -> list[str]:
    """The metrics that are asked for; presets leave out what other programs do not have."""
    wanted = []
    for request in parse_metrics(metrics):
        name = str(request.metric)
        if name in METRICS or name == "conll":
            wanted.append(name)
        elif request.by_name:
            known = ", ".join((*METRICS, "conll"))
            raise UsageError(f"there is no {name} with {_text(protocol)}: there are {known}")
    return wanted


def count_metric(metric: str, tables: Sequence[Table], protocol: Protocol) -> Numbers:
    """A metric's counts, a row for each document."""
    if metric in ("ceafm", "ceafe"):
        return _count_ceaf(metric, tables, protocol)
    if metric in ("blanc", "links"):
        rows = []
        for table in tables:
            found, apart = formulas.count_links(table, protocol)
            rows.append(
                [*found, *apart] if metric == "blanc" else [found[0], found[1], found[0], found[2]]
            )
        return np.array(rows, dtype=np.float64).reshape(len(tables), 6 if metric == "blanc" else 4)
    counted = {
        "mentions": lambda table, _: formulas.count_mentions(table),
        "muc": formulas.count_muc,
        "b3": formulas.count_b3,
        "lea": formulas.count_lea,
    }[metric]
    rows = [[*recall, *precision] for recall, precision in (counted(t, protocol) for t in tables)]
    return np.array(rows, dtype=np.float64).reshape(len(tables), 4)


def _count_ceaf(metric: str, tables: Sequence[Table], protocol: Protocol) -> Numbers:
    """CEAF of all documents at once: their entities are numbered through."""
    counts = np.zeros((len(tables), 4))
    edges: list[tuple[int, int, int, float]] = []
    first = [0, 0]
    for index, table in enumerate(tables):
        weights, counts[index, 1::2] = formulas.weigh_pairs(table, protocol, metric)
        edges += [(index, first[0] + one, first[1] + other, w) for one, other, w in weights]
        first = [first[0] + len(table.mine), first[1] + len(table.theirs)]
    if edges:
        document, rows, columns, worth = (np.array(part) for part in zip(*edges, strict=True))
        chosen = heaviest_matching(rows, columns, worth.astype(np.float64))
        sums = np.bincount(document[chosen], worth[chosen], minlength=len(tables))
        counts[:, 0] = counts[:, 2] = sums
    return counts
