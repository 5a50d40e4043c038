"""Scores as other programs make them: one pipeline, in which every choice of theirs has its place.

Documents are paired, cut, ordered and identified; then repeats, singletons and twinless mentions
are settled; then metrics count. `Material` remembers what each of these steps made of what it was
given, by the choices that it depends on, and a step that changes nothing gives back what it was
given: protocols that share steps share their work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError, memory_for, merge_notices
from corefeval.emulation.corefud_scorer import Metrics
from corefeval.emulation.documents import (
    Document,
    Paired,
    cut_windows,
    identify,
    list_documents,
    pair_corpora,
)
from corefeval.emulation.formulas import Tables, count_metric
from corefeval.emulation.minimum_spans import cut_mentions, read_texts
from corefeval.emulation.policies import (
    Facts,
    drop_keyless,
    drop_repeats,
    find_facts,
    settle_repeats,
    settle_singletons,
    settle_twinless,
)
from corefeval.metrics import parse_metrics, spell
from corefeval.model import IDENTITY, Corpus
from corefeval.model.identity import digest
from corefeval.model.sets import find_sets
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

_PAIRING = ("pairing", "documents", "missing", "extra", "across", "tokens", "spans", "zeros")
_COVAL = ("min_span", "np_only", "remove_nested")
_REPEATS = ("repeats_key", "repeats_response", "duplicates", "limit")
# Variants of formulas that are the same without repeats, and without singletons.
_OF_REPEATS = ("owner", "muc", "b3", "ceaf", "lea", "blanc")
_OF_SINGLETONS = ("b3_singletons", "ceafe_singletons", "lea_singletons")
_ANY = Protocol()


class Material:
    """A key and a response, and what the steps made of them so far."""

    def __init__(self, key: Corpus, response: Corpus) -> None:
        self.key_digest = digest(key)
        # Other programs know of nothing but identity.
        self.key, self.response = (side.keep_layer(IDENTITY) for side in (key, response))
        self._known: dict[tuple[object, ...], tuple[object, Sequence[object]]] = {}

    def result(self, protocol: Protocol, metrics: Metrics = "standard") -> Result:
        """The result under a protocol; an error where a program that it describes would stop."""
        chosen = choose_metrics(metrics, protocol)
        if protocol.split != "off" and self.has_sets:
            raise _no_layers(protocol)
        if protocol.lost == "strict" and self.response.ledger is not None:
            raise UsageError(
                f"{_text(protocol)} does not count lost mentions: leave out lost strict"
            )
        with memory_for():
            documents, notices = self.documents(protocol)
            tables = {name: self._table(name, documents, protocol) for name in chosen}
        paired = self._pair(protocol)
        pairing_notices = paired.notices
        if protocol.brackets != "written":  # of brackets that were read otherwise
            pairing_notices = tuple(
                notice for notice in pairing_notices if notice.kind != "overlapping-mentions"
            )
        result = Result(
            tables=tables,
            document_ids=tuple(document.name for document in documents),
            protocol=protocol.but(spans=paired.spans),
            key=self.key.name,
            response=self.response.name,
            key_digest=self.key_digest,
            notices=merge_notices((*pairing_notices, *notices)),
            spell=spell,
            titles={name: _TITLES[name] for name in chosen},
        )
        if protocol.undefined == "error":
            _check_defined(result)
        # scorch's key has all mentions of the response, so that it never lacks weights alone.
        if protocol.aggregate == "weighted" and not any(
            document.response for document in documents
        ):
            raise InputError(
                "the response has no mentions, so its weights of all documents are zero, which "
                f"stops {programs_with('aggregate', 'weighted')}",
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
        documents, notices = self._identify(protocol)
        names = {"key": self.key.name, "response": self.response.name}
        _check_something(documents, protocol, names)
        repeat_notices: list[Notice] = []
        dropped = self._drop_repeats(protocol).dropped
        if self._facts(documents).has_repeats or any(dropped):
            settle = partial(settle_repeats, documents, protocol, names, dropped)
            documents, repeat_notices = self._remember(
                "repeats", (documents,), _REPEATS, protocol, settle
            )
        if not _cuts(protocol):
            documents = self._with_singletons(documents, protocol)
        if protocol.keyless == "skip" and not all(document.key for document in documents):
            drop = partial(drop_keyless, documents)
            documents = self._remember("keyless", (documents,), (), protocol, drop)
        if protocol.twinless != "as-is":
            add = partial(settle_twinless, documents, protocol.twinless)
            documents = self._remember("twinless", (documents,), ("twinless",), protocol, add)
        return documents, [*notices, *repeat_notices]

    def _remember(
        self,
        step: str,
        inputs: Sequence[object],
        names: Sequence[str],
        protocol: Protocol,
        make: Callable[[], T],
    ) -> T:
        """What a step makes of what is given, under the choices that it depends on."""
        choices = (step, *map(id, inputs), *(getattr(protocol, name) for name in names))
        if choices not in self._known:
            # With what was given, lest something else get its id.
            self._known[choices] = make(), inputs
        return self._known[choices][0]  # type: ignore[return-value]

    def _facts(self, documents: list[Document]) -> Facts:
        return self._remember("facts", (documents,), (), _ANY, lambda: find_facts(documents))

    def _pair(self, protocol: Protocol) -> Paired:
        names = _PAIRING
        if self._are_alike and protocol.pairing != "one":
            # By name or by position, and with none that is missing, it is the same.
            protocol = protocol.but(pairing="name", missing="empty", extra="ignore")
        make = partial(pair_corpora, self.key, self.response, protocol)
        return self._remember("pair", (), names, protocol, make)

    def _drop_repeats(self, protocol: Protocol) -> Paired:
        """The same without repeats that reading leaves out: by corefeval's own rule, or neleval's.

        The own rule is about who opens first, and so needs brackets and entities as written.
        """
        paired = self._pair(protocol)
        rules = protocol.repeats_key, protocol.repeats_response
        is_own = (protocol.order, protocol.brackets) == ("list", "written")
        once = is_own and protocol.duplicates != "error"
        if not (once and "once" in rules) and "adjacent" not in rules:
            return paired
        make = partial(drop_repeats, paired, protocol, once=once)
        step = "once" if once else "adjacent"
        return self._remember(step, (paired,), _REPEATS[:3], protocol, make)

    @cached_property
    def _are_alike(self) -> bool:
        """Whether both sides have the same documents in the same order, each once."""
        names, response_names = ([*map(str, side.documents)] for side in (self.key, self.response))
        return names == response_names and len({*names}) == len(names)

    def _identify(self, protocol: Protocol) -> tuple[list[Document], list[Notice]]:
        """The documents, cut and in order, with mentions by what tells them apart."""
        paired, notices = self._drop_repeats(protocol), list[Notice]()
        is_one = protocol.pairing == "one"
        listing = partial(list_documents, paired, is_one=is_one, brackets=protocol.brackets)
        documents = self._remember("list", (paired,), ("brackets",), protocol, listing)
        if protocol.order != "list" and paired.has_spans and self._may_repeat(documents, protocol):
            make = partial(listing, order=protocol.order)
            documents = self._remember("order", (paired,), ("order", "brackets"), protocol, make)
        if protocol.window != "none":
            cut = partial(cut_windows, documents, paired, int(protocol.window))
            documents, notices = self._remember("cut", (documents,), ("window",), protocol, cut)
        if not _cuts(protocol):
            return self._move(documents, paired, protocol), notices
        # coval drops singletons while it reads, before anything else.
        read = self._with_singletons(documents, protocol)
        names = (*_COVAL, "identity", "singletons", "pairing")
        take = partial(read_texts, documents, paired)
        texts = self._remember("texts", (documents, paired), (), protocol, take)
        cut_down = partial(cut_mentions, read, paired, texts, protocol)
        documents, cut_notices = self._remember("coval", (read, paired), names, protocol, cut_down)
        return documents, [*notices, *cut_notices]

    def _may_repeat(self, documents: list[Document], protocol: Protocol) -> bool:
        """Whether a mention may be there twice, now or once mentions are told apart otherwise."""
        if _cuts(protocol) or self._facts(documents).has_repeats:
            return True
        return self._move(documents, self._drop_repeats(protocol), protocol) is not documents

    def _move(
        self, documents: list[Document], paired: Paired, protocol: Protocol
    ) -> list[Document]:
        make = partial(identify, documents, paired, protocol.identity)
        return self._remember("identify", (documents, paired), ("identity",), protocol, make)

    def _with_singletons(self, documents: list[Document], protocol: Protocol) -> list[Document]:
        """The documents with singletons as they are wanted."""
        if protocol.singletons == "keep" or not self._facts(documents).has_singletons:
            return documents
        make = partial(settle_singletons, documents, protocol.singletons)
        return self._remember("singletons", (documents,), ("singletons",), protocol, make)

    def _table(self, metric: str, documents: list[Document], protocol: Protocol) -> CountTable:
        if metric == "conll":
            return CountTable("mean", parts=_CONLL)
        values = self._count(metric, documents, protocol)
        shape = _SHAPES[protocol.blanc] if metric == "blanc" else "ratio"
        columns = _BLANC if metric == "blanc" else _RATIO
        if protocol.aggregate == "weighted":
            sizes = [[sum(map(len, side)) for side in document.sides] for document in documents]
            values = np.hstack((values, np.array(sizes, dtype=np.float64).reshape(-1, 2)))
            columns = (*columns, "key_weight", "response_weight")
        if metric == "blanc" and (protocol.aggregate == "pool" or protocol.blanc == "scorch"):
            mentions = self._count("mentions", documents, protocol)
            values = np.hstack((values, mentions[:, [1, 3, 0]]))
            columns = (*columns, "key_mentions", "response_mentions", "common_mentions")
        return CountTable(shape, columns, values)

    def _count(self, metric: str, documents: list[Document], protocol: Protocol) -> Numbers:
        """A metric's counts; variants of formulas are not told apart where they do not differ."""
        facts = self._facts(documents)
        moot = (() if facts.has_repeats else _OF_REPEATS) + (
            () if facts.has_singletons else _OF_SINGLETONS
        )
        protocol = protocol.but(**{name: getattr(_ANY, name) for name in moot})
        make = partial(Tables, [document.sides for document in documents], protocol.owner)
        tables = self._remember("tables", (documents,), ("owner",), protocol, make)
        count = partial(count_metric, metric, tables, protocol)
        return self._remember(metric, (tables,), METRICS[metric], protocol, count)


def _cuts(protocol: Protocol) -> bool:
    return any(getattr(protocol, name) == "yes" for name in _COVAL)


def _check_something(
    documents: Sequence[Document], protocol: Protocol, names: Mapping[str, str]
) -> None:
    if protocol.nothing == "ok":
        return
    for side in ("key", "response"):
        if not any(getattr(document, side) for document in documents):
            programs = programs_with("nothing", "error")
            raise InputError(
                f"the {side} has no mentions, which stops {programs}",
                file=names[side] or None,
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


def _text(protocol: Protocol) -> str:
    return ", ".join(
        f"{name.replace('_', '-')} {value}" for name, value in protocol.accidents.items()
    )


def _no_layers(protocol: Protocol) -> UsageError:
    return UsageError(
        f"{_text(protocol)} has no sets of antecedents and no other layers: leave out split "
        "and layer"
    )


def choose_metrics(metrics: Metrics, protocol: Protocol) -> list[str]:
    """The metrics that are asked for; presets leave out what other programs do not have.

    Raises a UsageError for a metric or a choice that they do not have.
    """
    if protocol.match != "exact":
        raise UsageError(
            f"{_text(protocol)} only works with match exact, not {protocol.match}: leave one of "
            "them out"
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
            raise UsageError(f"there is no {name} with {_text(protocol)}: there are {names}")
    return chosen
