"""What a declaration of a metric is: all that parses it, lists it, documents it and counts it.

Nothing here needs numpy, so that help pages cost nothing; the counting functions are named, and
imported when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from corefeval.diagnostics import UsageError

Shape = Literal["ratio", "blanc", "blanc-of-both", "antecedents", "anchors", "mean"]
Level = Literal["document", "entity", "mention"]
Value = str | float | Callable[..., object]
# What sets of antecedents are to a metric: no difference, or elements of their entities.
SAME, ELEMENTS = "same", "elements"
INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a metric: one of some choices, a number, or a feature of mentions.

    In Python it may also be a function. Choices that are `suffixes` may be written behind the
    metric's name: `b3-sys` is `b3(twinless=sys)`. Numbers must be in their limits.
    """

    name: str
    default: str | float
    summary: str
    choices: tuple[str, ...] = ()
    accepts_function: bool = False
    suffixes: bool = False
    is_feature: bool = False
    above: float = -INFINITY
    at_least: float = -INFINITY
    at_most: float = 1e9  # sums of larger weights would lose digits
    shapes: tuple[tuple[str, Shape], ...] = ()  # values with which counts have another shape

    def check(self, value: object, metric: str) -> Value:
        """The value that a text or an object stands for."""
        if self.accepts_function and callable(value):
            return value
        if self.is_feature:
            if isinstance(value, str) and value.strip():
                return value.strip()
            expected = "the name of a feature"
        elif self.choices:
            if isinstance(value, str | int) and str(value).strip().lower() in self.choices:
                return str(value).strip().lower()
            expected = "one of " + ", ".join(self.choices)
            expected += " (in Python also a function)" if self.accepts_function else ""
        else:
            with suppress(TypeError, ValueError):
                number = float(value)  # type: ignore[arg-type]
                if self.above < number < INFINITY and self.at_least <= number <= self.at_most:
                    return number
            lower = (("above", self.above), ("of at least", self.at_least))
            limits = [f" {word} {limit:g}" for word, limit in lower if limit > -INFINITY]
            expected = "".join(("a number", *limits, f" and of at most {self.at_most:g}"))
        raise UsageError(f"{metric}: {self.name} is {expected}, not {value!r}")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A metric: its names, its text for people, its parameters and the function that counts.

    `function` is given an `Alignment` and the parameters by name, and gives an array for each count
    of the `shape`, with a number for each of the alignment's groups (documents, unless the metric
    is divided further). It is a function, or its place as text (`module:function`), which is
    imported when it is called. `name` is the function's by default, and `title`, the name for
    tables, is `name` by default.

    `reference` names its papers as `Luo 2005`, with semicolons between; a paper about a parameter
    follows the parameter's name and a colon. `corefeval cite` finds them in `references.bib`.
    `use` says when to report it, `edges` what happens at the edges. `needs` are the features of
    mentions that it cannot do without. `levels` are what it can be divided by: features of
    documents, of entities, of mentions. `with_sets` says what sets of antecedents are to it where
    they count: nothing (`SAME`), or `ELEMENTS` of their entities; without it the metric is not
    defined there. A metric that looks `beyond` coreference counts mentions that are no part of it.
    """

    name: str = ""
    title: str = ""
    summary: str = ""
    definition: str = ""
    reference: str = ""
    shape: Shape = "ratio"
    function: str | Callable[..., Mapping[str, Any]] = ""
    aliases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    parts: tuple[str, ...] = ()
    use: str = ""
    edges: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ("document",)
    with_sets: str = ""
    beyond: bool = False

    def __post_init__(self) -> None:
        if not self.name and callable(self.function):
            object.__setattr__(self, "name", getattr(self.function, "__name__", ""))


TWINLESS = Parameter(
    "twinless",
    "none",
    "what is done with mentions that only one side has",
    choices=("none", "0", "all", "rn", "sys"),
    suffixes=True,
)

STANDARD = (
    Declaration(
        name="mentions",
        title="Mentions",
        summary="Were the mentions found? Says nothing about coreference.",
        definition="Recall: matched mentions / key mentions.",
        reference="Pradhan et al. 2014",
        function="corefeval.metrics.mentions:mentions",
        with_sets=SAME,
        aliases=("mention", "md", "mention-detection"),
        parameters=(
            Parameter(
                "zeros",
                "all",
                "which mentions count: all, only zeros (mentions whose head is an empty node), or "
                "all but zeros",
                choices=("all", "only", "none"),
            ),
        ),
        use=(
            "Next to every other score of a system that finds its own mentions: what is not found "
            "cannot be resolved, so this score is the ceiling for the rest."
        ),
        edges=("A repeated mention counts once.", "If one side has no mentions, the score is 0."),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="muc",
        title="MUC",
        summary="Links of spanning trees; blind to singletons, lenient towards merged entities.",
        definition=(
            "Recall: Σ (|k| − parts of k) / Σ (|k| − 1). A part of a key entity is what it shares "
            "with one response entity; each mention that the response lacks is a part of its own."
        ),
        reference="Vilain et al. 1995",
        function="corefeval.metrics.coreference:muc",
        with_sets=ELEMENTS,
        use=(
            "As part of the CoNLL average and for comparison with old results. Alone it rewards "
            "putting everything into one entity: recall is then 1 and precision stays high."
        ),
        edges=(
            "Singletons have no links: a corpus of nothing else scores 0, even against itself.",
            "All wrong links cost the same, whether they merge two pronouns or two novels.",
            "In slices by a feature of mentions, each link counts half for each of its ends (as "
            "in p-link).",
        ),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="b3",
        title="B³",
        summary="For each mention, how much of its entity was found together with it.",
        definition=(
            "Recall: the sum of |k ∩ r|² / |k| over all pairs of entities, divided by Σ |k|."
        ),
        reference="Bagga and Baldwin 1998; twinless mentions: Cai and Strube 2010",
        function="corefeval.metrics.coreference:b3",
        with_sets=ELEMENTS,
        aliases=("bcub", "bcubed", "b-cubed", "b³"),
        parameters=(TWINLESS,),
        use=(
            "As part of the CoNLL average. For end-to-end systems, whose mentions are not the "
            "key's, Cai and Strube advise `twinless=sys`, which cannot be tricked by adding "
            "singletons that nobody marked."
        ),
        edges=(
            "Every mention is in one entity with itself, so a response of singletons has recall "
            "above 0 and precision 1 (Moosavi and Strube 2016 call this the mention "
            "identification effect).",
            "A twinless mention scores 0 on its side unless a policy says otherwise.",
        ),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="ceafm",
        title="CEAFm",
        summary="The best one-to-one alignment of entities, by shared mentions.",
        definition="Recall: Σ |k ∩ r| (φ3) over the best alignment, divided by Σ |k|.",
        reference="Luo 2005; twinless mentions: Cai and Strube 2010",
        function="corefeval.metrics.coreference:ceafm",
        with_sets=ELEMENTS,
        aliases=("ceaf-m", "ceaf-phi3", "ceafφ3", "mention-ceaf"),
        parameters=(TWINLESS,),
        use=(
            "When each entity must be found in one place. `twinless=sys` is the variant that Cai "
            "and Strube advise for end-to-end systems."
        ),
        edges=(
            "Whatever is right in an entity that was not aligned counts for nothing.",
            "If both sides have the same mentions, recall and precision are equal.",
            "Several alignments can be equally good, so no share of the score belongs to one kind "
            "of entity or mention: slices are by document only.",
        ),
    ),
    Declaration(
        name="ceafe",
        title="CEAFe",
        summary="The best one-to-one alignment of entities, with the same weight for all.",
        definition=(
            "Recall: Σ 2|k ∩ r| / (|k| + |r|) (φ4) over the best alignment, divided by the number "
            "of key entities."
        ),
        reference="Luo 2005; twinless mentions: Cai and Strube 2010",
        function="corefeval.metrics.coreference:ceafe",
        with_sets=ELEMENTS,
        aliases=("ceaf-e", "ceaf-phi4", "ceafφ4", "entity-ceaf"),
        parameters=(TWINLESS,),
        use=(
            "As part of the CoNLL average. An entity of two mentions weighs as much as one of two "
            "hundred, so small entities and singletons dominate the score."
        ),
        edges=(
            "Cai and Strube advise against `twinless=sys` here: added singletons count as "
            "entities, each as much as a real one, and drown the real ones (their Table 6).",
            "Slices are by document only, as for CEAFm.",
        ),
    ),
    Declaration(
        name="blanc",
        title="BLANC",
        summary="Coreference links and non-coreference links, half of the score each.",
        definition=(
            "R, P and F are the means of the rates over coreference links and over "
            "non-coreference links (pairs of a side's mentions that are not coreferent). If the "
            "key has no coreference links, only the other half counts, and vice versa."
        ),
        reference="Recasens and Hovy 2011; Luo et al. 2014",
        shape="blanc",
        function="corefeval.metrics.coreference:blanc",
        with_sets=ELEMENTS,
        use="To see links and non-links together; rarely the only number that is reported.",
        edges=(
            "Nearly all pairs are non-coreferent, so the non-coreference half is high for every "
            "system that finds the mentions.",
            "F is the mean of the two halves' F, not the harmonic mean of R and P.",
            "In slices by a feature of mentions, each link counts half for each of its ends.",
        ),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="lea",
        title="LEA",
        summary="How many of each entity's links are resolved, weighted by its importance.",
        definition=(
            "Recall: Σ importance(k) · Σ links(k ∩ r) / links(k), over Σ importance(k). An entity "
            "of n mentions has n(n − 1)/2 links; a singleton has one, to itself, found only where "
            "the response has the same singleton."
        ),
        reference="Moosavi and Strube 2016",
        function="corefeval.metrics.coreference:lea",
        with_sets=ELEMENTS,
        parameters=(
            Parameter(
                "importance",
                "size",
                "the weight of an entity: its size, or one for all",
                choices=("size", "one"),
                accepts_function=True,
            ),
        ),
        use=(
            "When you want to rely on a single number: finding a mention without resolving it "
            "earns nothing, and recall changes only when correct links do."
        ),
        edges=(
            "If nothing is resolved correctly, the score is 0, however many mentions were found.",
            "In slices by a feature of mentions, each link counts half for each of its ends.",
        ),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="links",
        title="Links",
        summary="All pairs of coreferent mentions, as plain recall and precision.",
        definition="Recall: Σ links(k ∩ r) / Σ links(k), where links(e) = |e|(|e| − 1)/2.",
        reference="pairwise F1 of clusterings; the coreference half of Luo et al. 2014",
        function="corefeval.metrics.coreference:pairs",
        parameters=(
            Parameter(
                "documents",
                "all",
                "which links count if entities span several documents (`--across`): all, those of "
                "two mentions within a document, or those across documents",
                choices=("all", "within", "across"),
            ),
        ),
        aliases=("pairs", "pairwise", "pairwise-f1", "link"),
        use=(
            "Next to mention detection, in slices by entity: how many of the pairs that belong "
            "together are together?"
        ),
        edges=(
            "An entity of 100 mentions has 4,950 links and outweighs a thousand small ones.",
            "Singletons have no links.",
            "In slices by a feature of mentions, each link counts half for each of its ends.",
        ),
        levels=("document", "entity", "mention"),
    ),
    Declaration(
        name="mor",
        title="MOR",
        summary="Mention overlap ratio: how many tokens of mentions are covered. No coreference.",
        definition=(
            "Key mentions k and response mentions r are sets of tokens here, paired one to one so "
            "that Σ |k ∩ r| is greatest. Recall: this sum / Σ |k|. It does not depend on `match`."
        ),
        reference="Žabokrtský et al. 2022",
        function="corefeval.metrics.mentions:mor",
        with_sets=SAME,
        aliases=("mention-overlap-ratio", "mention-overlap"),
        use=(
            "Next to scores with any `match`, to see how far spans agree: a span that is one word "
            "off costs one word here, but the whole mention in exact matching."
        ),
        edges=(
            "Long mentions count more than short ones.",
            "If a mention overlaps more than 64 others, only the nearest are tried.",
            "Plain Python mentions have no tokens: each counts as one.",
            "Several pairings can be equally good, so slices are by document only.",
        ),
    ),
    Declaration(
        name="conll",
        title="CoNLL",
        summary="The mean F1 of MUC, B³ and CEAFe, by which the shared tasks rank.",
        definition="(F1 of muc + F1 of b3 + F1 of ceafe) / 3. It has no recall or precision.",
        reference="Denis and Baldridge 2009; Pradhan et al. 2011",
        shape="mean",
        aliases=("conll-f1", "conll-2012", "conll-score", "avg"),
        parts=("muc", "b3", "ceafe"),
        use="In every paper, for comparison: it is what leaderboards rank by.",
        edges=(
            "Averaging three metrics with different faults does not cancel the faults: report "
            "LEA, too.",
        ),
    ),
)
