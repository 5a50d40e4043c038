"""Named protocols: bundles of choices under the names of the programs that make them."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from corefeval.protocol.declarations import Choices
from corefeval.protocol.signatures import choices


class NamedProtocol(NamedTuple):
    """A bundle of choices with a name, and where it comes from.

    `metrics` are those that the program has, and `oddities` what is odd about its numbers.
    """

    name: str
    summary: str
    choices: Choices
    reference: str = ""
    metrics: str = ""
    oddities: tuple[str, ...] = ()


_COREFUD: Choices = {
    "match": "head", "singletons": "drop", "zeros": "align", "emulate": "corefud-1.2"
}  # fmt: skip
_KEEP: Choices = {"repeats_key": "keep", "repeats_response": "keep"}
_OFFICIAL: Choices = {
    "order": "open", "brackets": "opening-first", "repeats_key": "keep",
    "repeats_response": "known", "limit": "10", "muc": "response", "b3": "response",
    "rounding": "truncate(2)",
}  # fmt: skip
_COVAL: Choices = {
    **_KEEP, "missing": "error", "order": "close", "brackets": "opening-first",
    "identity": "sentence", "ceafm": "entities", "rounding": "round(2)",
}  # fmt: skip
_LEA_SKIPS: Choices = {**_KEEP, "lea_singletons": "skip", "average": "rates"}
_E2E: Choices = {**_LEA_SKIPS, "b3_singletons": "skip", "ceafe_singletons": "skip-response"}
_WL: Choices = {**_KEEP, "lea_singletons": "skip", "lea": "member", "undefined": "epsilon"}
_NELEVAL: Choices = {
    "extra": "count", "order": "start", "identity": "bounded",
    "repeats_key": "adjacent", "repeats_response": "adjacent",
    "b3": "unique", "ceaf": "matrix", "blanc": "halves", "aggregate": "pool", "nothing": "error",
}  # fmt: skip

_CONLL_METRICS = "muc, b3, ceafe, conll"
_REPEATS = "A mention that occurs twice counts twice, and CEAF can exceed 100."
_E2E_ODD = (
    "Singletons are skipped in B³ and LEA, and the response's in CEAFe: a key with singletons "
    "scores less than 100 against itself.",
    "Numbers for corpora with singletons (LitBank, PreCo, ARRAU) are off by tens of points.",
)
_PROGRAMS = (
    NamedProtocol(
        "conll-8.01",
        "the official CoNLL-2011/2012 scorer, version 8.01",
        _OFFICIAL,
        "Pradhan et al. 2014; https://github.com/conll/reference-coreference-scorers",
        "muc, b3, ceafm, ceafe, blanc, mentions",
        (
            "Percentages are truncated, not rounded: 70.609 is printed as 70.6.",
            "Repeats of a mention in the response are dropped where the key has the mention, and "
            "more than ten of them stop the program.",
            "MUC and B³ are counted over the response's mentions for recall too, which matters "
            "where the key has a mention twice.",
        ),
    ),
    NamedProtocol(
        "conll-lea",
        "the official scorer's branch with LEA",
        _OFFICIAL,
        "Moosavi and Strube 2016; branch LEA-scorer of the official scorer",
        "lea, and those of conll-8.01",
        ("As conll-8.01. In LEA, a singleton counts as a link to itself.",),
    ),
    NamedProtocol(
        "coval",
        "coval's scorer.py, without options",
        _COVAL,
        "Moosavi and Strube 2016; https://github.com/ns-moosavi/coval",
        "mentions, muc, b3, ceafe, lea, conll",
        (
            "A key document that the response lacks stops the program (KeyError).",
            "A mention across a sentence boundary may be confused with another that ends there.",
            _REPEATS,
            "Its CEAFm, which no option selects, divides by the number of entities: a key scores "
            "more than 100 against itself.",
        ),
    ),
    NamedProtocol(
        "hf-coval",
        "coval in Hugging Face's evaluate, which treats all documents as one",
        {**_COVAL, "pairing": "one", "rounding": "none"},
        "https://huggingface.co/spaces/evaluate-metric/coval",
        "mentions, muc, b3, ceafe, lea, conll",
        (
            "All sentences are one text: entities with the same number in two documents become "
            "one entity.",
            "A different number of sentences stops the program; the same number of different "
            "sentences does not.",
            "Its min_span always crashes.",
        ),
    ),
    NamedProtocol(
        "e2e",
        "the metrics in e2e-coref, s2e, lingmess, coref-hoi and their successors",
        _E2E,
        "Lee et al. 2017; https://github.com/kentonl/e2e-coref",
        "muc, b3, ceafe, lea, conll",
        (*_E2E_ODD, "For OntoNotes, these papers report e2e-official."),
    ),
    NamedProtocol(
        "e2e-official",
        "the mean of the three F1 printed by the official scorer: e2e, s2e, lingmess, wl-coref",
        {**_OFFICIAL, "average": "truncated"},
        "Lee et al. 2017; https://github.com/kentonl/e2e-coref",
        "muc, b3, ceafe, conll",
        ("The mean is of truncated numbers, so up to 0.01 too low.",),
    ),
    NamedProtocol(
        "allennlp",
        "AllenNLP's ConllCorefScores",
        {**_E2E, "singletons": "drop-response"},
        "https://github.com/allenai/allennlp-models",
        _CONLL_METRICS,
        ("Its input, antecedents, cannot express predicted singletons.", *_E2E_ODD),
    ),
    NamedProtocol(
        "allennlp-singletons",
        "AllenNLP's ConllCorefScores with allow_singletons",
        {**_E2E, "singletons": "double-response"},
        "https://github.com/allenai/allennlp-models",
        _CONLL_METRICS,
        ("A predicted singleton becomes an entity with the same mention twice.",),
    ),
    NamedProtocol(
        "maverick",
        "the metrics of Maverick and xCoRe",
        _LEA_SKIPS,
        "Martinelli et al. 2024; https://github.com/SapienzaNLP/maverick-coref",
        "muc, b3, ceafe, lea, conll",
        ("Singletons are skipped in LEA only.", _REPEATS),
    ),
    NamedProtocol(
        "bookcoref",
        "BookCoref's evaluation of whole and of split books",
        {**_LEA_SKIPS, "pairing": "position"},
        "Martinelli et al. 2025; https://github.com/SapienzaNLP/bookcoref",
        _CONLL_METRICS,
        ("Documents are paired by position, whatever their names.",),
    ),
    NamedProtocol(
        "bookcoref-window",
        "BookCoref's gold windows: 1500 tokens, or as in bookcoref-window(2000)",
        {**_LEA_SKIPS, "pairing": "position", "window": "1500"},
        "Martinelli et al. 2025; https://github.com/SapienzaNLP/bookcoref",
        _CONLL_METRICS,
        ("Mentions that begin at the first token of a window are lost.",),
    ),
    NamedProtocol(
        "fast-coref",
        "fast-coref's metrics",
        {**_LEA_SKIPS, "rounding": "round(1)"},
        "Toshniwal et al. 2021; https://github.com/shtoshni/fast-coref",
        "muc, b3, ceafe, lea, conll",
        ("Singletons are skipped in LEA only.", "Numbers are rounded to one decimal."),
    ),
    NamedProtocol(
        "fast-coref-2",
        "fast-coref's metrics with a cluster threshold of 2",
        {**_LEA_SKIPS, "singletons": "drop", "rounding": "round(1)"},
        "Toshniwal et al. 2021; https://github.com/shtoshni/fast-coref",
        "muc, b3, ceafe, lea, conll",
        ("Singletons are dropped on both sides, even if the corpus annotates them.",),
    ),
    NamedProtocol(
        "tanl",
        "the metrics of TANL (over all documents) and Seq2seqCoref",
        {**_KEEP, "ceaf": "set", "average": "rates"},
        "Paolini et al. 2021; https://github.com/amazon-science/tanl",
        _CONLL_METRICS,
        ("It also prints means over documents: tanl-macro.",),
    ),
    NamedProtocol(
        "tanl-macro",
        "TANL's means over documents",
        {**_KEEP, "ceaf": "set", "average": "rates", "aggregate": "macro-f"},
        "Paolini et al. 2021; https://github.com/amazon-science/tanl",
        _CONLL_METRICS,
        ("A document with nothing to find counts as 0.", "Short and long documents weigh alike."),
    ),
    NamedProtocol(
        "wl-coref",
        "the LEA in wl-coref's logs",
        _WL,
        "Dobrovolskii 2021; https://github.com/vdobrovolskii/wl-coref",
        "lea",
        (
            "Singletons are skipped, and 1e-7 is added to every denominator.",
            "The paper reports e2e-official.",
        ),
    ),
    NamedProtocol(
        "stanza",
        "stanza's coreference checker",
        {**_WL, "b3": "overlap", "aggregate": "macro-rates", "undefined": "nan-ceafe"},
        "https://github.com/stanfordnlp/stanza",
        "muc, b3, ceafe, lea, conll",
        (
            "Recall and precision are means over documents, except LEA's, which are of sums.",
            "CEAFe is not a number (nan) if any key document has no entity.",
            "The average that it logs is computed on head words.",
        ),
    ),
    NamedProtocol(
        "spacy",
        "spacy-experimental's LEA",
        _KEEP,
        "https://github.com/explosion/spacy-experimental",
        "lea",
        ("Only LEA, the same as coval's.",),
    ),
    NamedProtocol(
        "scorch",
        "scorch, used for French corpora",
        {
            "missing": "skip", "extra": "error", "repeats_key": "collapse",
            "repeats_response": "collapse", "owner": "first", "twinless": "key-singletons",
            "b3": "overlap", "ceaf": "set", "blanc": "scorch", "aggregate": "weighted",
        },
        "https://github.com/LoicGrobol/scorch",
        "muc, b3, ceafm, ceafe, blanc, conll",
        (
            "Response mentions that the key lacks are added to the key as singletons, so spurious "
            "mentions cost less.",
            "Rates are means over documents, weighted by mentions.",
            "Key documents without a response are skipped; extra response files are an error.",
        ),
    ),
    NamedProtocol(
        "neleval",
        "neleval evaluate, the scorer of TAC KBP",
        _NELEVAL,
        "https://github.com/wikilinks/neleval",
        "mentions, muc, b3, ceafm, ceafe, links, blanc's halves",
        (
            "Response documents that the key lacks count against precision.",
            "CEAF divides by a sum over all pairs of one side's entities, more than the number "
            "of entities (CEAFm: of mentions) where they share mentions.",
            "Pairs of mentions in different documents are non-coreference links.",
            "A file without mentions, or a mention across a sentence boundary, stops the program.",
        ),
    ),
    NamedProtocol(
        "neleval-by-doc",
        "neleval evaluate --by-doc: its means over documents (its sums: aggregate:micro)",
        {**_NELEVAL, "aggregate": "macro-f", "keyless": "skip"},
        "https://github.com/wikilinks/neleval",
        "mentions, muc, b3, ceafm, ceafe, links, blanc's halves",
        ("Only documents with mentions in the key count.",),
    ),
)  # fmt: skip
_NAMED = (
    NamedProtocol("default", "exact spans, singletons kept, summed counts", {}),
    NamedProtocol(
        "corefud-1.2",
        "corefud-scorer 1.2 with its defaults: head match, zeros aligned, singletons dropped",
        _COREFUD,
        "Žabokrtský et al. 2022; https://github.com/ufal/corefud-scorer",
    ),
    NamedProtocol(
        "crac-2022",
        "the shared task CRAC 2022, as corefud-scorer 1.2 scores it: partial match",
        {**_COREFUD, "match": "partial", "zeros": "place"},
        "Žabokrtský et al. 2022; https://github.com/ufal/corefud-scorer",
    ),
    NamedProtocol(
        "crac-2024",
        "the shared tasks CRAC 2024 and later: the same as corefud-1.2",
        _COREFUD,
        "Novák et al. 2024; https://github.com/ufal/corefud-scorer",
    ),
    NamedProtocol(
        "ua-1",
        "version 1 of the Universal Anaphora scorer, used at CODI-CRAC 2021 and 2022",
        {
            "emulate": "ua-1", "split": "score", "missing": "skip", "tokens": "ignore",
            "rounding": "round(2)",
        },
        "Yu et al. 2021; https://github.com/juntaoy/universal-anaphora-scorer",
        "lea, muc, b3, ceafe, ceafm, blanc, conll, split, bridging, non-referring",
        (
            "LEA and BLANC of entities with split antecedents depend on the order of Python's "
            "sets: the same mentions at other positions give other numbers.",
            "With --match min, mentions with different spans match only in CEAF, non-referring "
            "and bridging antecedents.",
            "Documents that the response lacks are left out.",
            "It keeps only the last part of a discontinuous markable, and only the last of several "
            "antecedents.",
        ),
    ),
    NamedProtocol(
        "ua-2",
        "version 2 of the Universal Anaphora scorer with its defaults: no singletons or sets",
        {"singletons": "drop", "missing": "error", "extra": "error", "rounding": "round(2)"},
        "Yu et al. 2022; https://github.com/juntaoy/universal-anaphora-scorer",
        "muc, b3, ceafe, conll, lea, ceafm, mentions",
        (
            "Its -s is --singletons keep, -l --split score, -p --match min, -d --layer deixis.",
            "Its BLANC with sets has the quirks of version 1, which this protocol leaves out.",
            "Its scores for bridging and non-referring are always 0.",
        ),
    ),
    *_PROGRAMS,
)  # fmt: skip
NAMED: dict[str, NamedProtocol] = {protocol.name: protocol for protocol in _NAMED}

# coval's options, which may be joined: coval-min-span-np-only.
_COVAL_OPTIONS: dict[str, tuple[Choices, str]] = {
    "-min-span": ({"min_span": "yes"}, "minimum spans from the key's parse"),
    "-np-only": ({"np_only": "yes"}, "without verb phrases"),
    "-remove-nested": (
        {"remove_nested": "yes"},
        "without mentions inside others of their entity",
    ),
    "-remove-singletons": ({"singletons": "drop"}, "without singletons"),
}


def find_named(name: str) -> NamedProtocol | None:
    """The protocol of a name: a listed one, coval with options joined, or one with its length.

    >>> find_named("coval-np-only-min-span").choices["np_only"]
    'yes'
    >>> find_named("bookcoref-window(10)").choices["window"]
    '10'
    """
    if name in NAMED:
        return NAMED[name]
    if length := re.fullmatch(r"bookcoref-window\(([1-9]\d{0,8})\)", name):
        base = NAMED["bookcoref-window"]
        return base._replace(name=name, choices={**base.choices, "window": length[1]})
    options = re.findall("|".join(_COVAL_OPTIONS), name.removeprefix("coval"))
    if not options or name != "coval" + "".join(options) or len(set(options)) < len(options):
        return None
    base, chosen = NAMED["coval"], dict(NAMED["coval"].choices)
    for option in options:
        chosen.update(_COVAL_OPTIONS[option][0])
    effects = ", ".join(_COVAL_OPTIONS[option][1] for option in options)
    summary = f"coval: {effects}"
    return base._replace(name=name, summary=summary, choices=cast("Choices", chosen))


NAMED.update(
    {
        f"coval{option}": cast("NamedProtocol", find_named(f"coval{option}"))
        for option in _COVAL_OPTIONS
    }
)


def programs_with(name: str, value: str) -> str:
    """The programs whose protocols have this value of a choice, for messages: `coval, scorch`."""
    default = choices()[name].default
    return ", ".join(
        program.name
        for program in _PROGRAMS
        if program.choices.get(name, default) == value and "emulate" not in program.choices
    )
