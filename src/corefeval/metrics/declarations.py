"""Every metric, declared once: what parses it, lists it, documents it and counts it.

Nothing here needs numpy, so that help pages cost nothing; the counting functions are named, and
imported when they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from corefeval.diagnostics import UsageError

Shape = Literal["ratio", "blanc", "mean"]
Value = str | float | Callable[..., object]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a metric: one of some choices, or a number; in Python also a function."""

    name: str
    default: str | float
    summary: str
    choices: tuple[str, ...] = ()
    accepts_function: bool = False

    def check(self, value: object, metric: str) -> Value:
        """The value that a text or an object stands for."""
        if self.accepts_function and callable(value):
            return value
        if self.choices:
            if isinstance(value, str) and value.strip().lower() in self.choices:
                return value.strip().lower()
            expected = "one of " + ", ".join(self.choices)
            expected += " (in Python also a function)" if self.accepts_function else ""
        else:
            try:
                return float(value)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                expected = "a number"
        raise UsageError(f"{metric}: {self.name} is {expected}, not {value!r}")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A metric: its names, its text for people, its parameters and the function that counts."""

    name: str
    title: str
    summary: str
    definition: str
    reference: str
    shape: Shape = "ratio"
    function: str = ""
    aliases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    parts: tuple[str, ...] = ()


STANDARD = (
    Declaration(
        name="mentions",
        title="Mentions",
        summary="Were the mentions found? Says nothing about coreference.",
        definition="Recall: matched mentions / key mentions.",
        reference="Pradhan et al. 2014",
        function="corefeval.metrics.mentions:mentions",
        aliases=("mention", "md", "mention-detection"),
    ),
    Declaration(
        name="muc",
        title="MUC",
        summary="Links of spanning trees; blind to singletons, kind to merged entities.",
        definition=(
            "Recall: Σ (|k| − parts of k) / Σ (|k| − 1). A part of a key entity is its share of "
            "one response entity; each mention that the response lacks is a part of its own."
        ),
        reference="Vilain et al. 1995",
        function="corefeval.metrics.links:muc",
    ),
    Declaration(
        name="b3",
        title="B³",
        summary="For each mention, how much of its entity is with it.",
        definition="Recall: Σ |k ∩ r|² / |k| over all pairs of entities / Σ |k|.",
        reference="Bagga and Baldwin 1998",
        function="corefeval.metrics.mentions:b3",
        aliases=("bcub", "bcubed", "b-cubed", "b³"),
    ),
    Declaration(
        name="ceafm",
        title="CEAFm",
        summary="The best one-to-one alignment of entities, by shared mentions.",
        definition="Recall: the best alignment's Σ |k ∩ r| (φ3) / Σ |k|.",
        reference="Luo 2005",
        function="corefeval.metrics.ceaf:ceafm",
        aliases=("ceaf-m", "ceaf-phi3", "ceafφ3", "mention-ceaf"),
    ),
    Declaration(
        name="ceafe",
        title="CEAFe",
        summary="The best one-to-one alignment of entities, all entities weighing the same.",
        definition=(
            "Recall: the best alignment's Σ 2|k ∩ r| / (|k| + |r|) (φ4) / number of key entities."
        ),
        reference="Luo 2005",
        function="corefeval.metrics.ceaf:ceafe",
        aliases=("ceaf-e", "ceaf-phi4", "ceafφ4", "entity-ceaf"),
    ),
    Declaration(
        name="blanc",
        title="BLANC",
        summary="Coreference links and non-coreference links, half of the score each.",
        definition=(
            "R, P and F are the means of the rates over coreference links and over non-coreference "
            "links (pairs of a side's mentions that are not coreferent). Without coreference links "
            "in the key only the other half counts, and the other way round."
        ),
        reference="Recasens and Hovy 2011; Luo et al. 2014",
        shape="blanc",
        function="corefeval.metrics.links:blanc",
    ),
    Declaration(
        name="lea",
        title="LEA",
        summary="How much of each entity's links is resolved, by the importance of the entity.",
        definition=(
            "Recall: Σ importance(k) · Σ links(k ∩ r) / links(k), over Σ importance(k). An entity "
            "of n mentions has n(n − 1)/2 links; a singleton has one, to itself, found only where "
            "the response has the same singleton."
        ),
        reference="Moosavi and Strube 2016",
        function="corefeval.metrics.links:lea",
        parameters=(
            Parameter(
                "importance",
                "size",
                "what an entity weighs: its size, or one for all",
                choices=("size", "one"),
                accepts_function=True,
            ),
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
    ),
)

REGISTRY: dict[str, Declaration] = {declaration.name: declaration for declaration in STANDARD}


def presets() -> dict[str, tuple[str, ...]]:
    """The named lists of metrics; `all` follows the registry."""
    return {
        "standard": tuple(declaration.name for declaration in STANDARD),
        "all": tuple(REGISTRY),
    }


def register(declaration: Declaration) -> None:
    """Add a metric of your own: it is then parsed, listed and scored like the others."""
    if declaration.name in REGISTRY or declaration.name in presets():
        raise UsageError(f"there is a metric or preset {declaration.name!r} already")
    REGISTRY[declaration.name] = declaration
