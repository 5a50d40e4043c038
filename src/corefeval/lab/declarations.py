"""What a perturbation is: a function, and what is true of every response that it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from corefeval.diagnostics import UsageError
from corefeval.model import Corpus

Effect = Literal["adds", "removes", "keeps", "either"]
Step = Callable[[Corpus, Corpus], Corpus]
Function = TypeVar("Function", bound=Callable[..., Corpus])


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way to make another response, and its truth for the default options.

    Of correct links, wrong links and mentions it says whether they are only added, only removed,
    kept as they are, or either. A link is a pair of coreferent mentions of the response; it is
    correct where the key has it too. Call it with a key, a response and its own options.
    """

    name: str
    summary: str
    correct_links: Effect
    wrong_links: Effect
    mentions: Effect
    function: Callable[..., Corpus]
    reference: str = ""

    def __call__(self, key: Corpus, response: Corpus, **options: Any) -> Corpus:
        """The changed response, on the documents of the key."""
        return self.function(key, response, **options)


PERTURBATIONS: dict[str, Perturbation] = {}


def perturbation(
    *, correct_links: Effect, wrong_links: Effect, mentions: Effect, reference: str = ""
) -> Callable[[Function], Function]:
    """Declare a function as a perturbation, by its own name and the first line of its text."""

    def declare(function: Function) -> Function:
        name = function.__name__.replace("_", "-")
        if name in PERTURBATIONS:
            raise UsageError(f"there is a perturbation {name!r} already")
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        PERTURBATIONS[name] = Perturbation(
            name, summary, correct_links, wrong_links, mentions, function, reference
        )
        return function

    return declare


def compose(*steps: Step) -> Step:
    """One perturbation after the other; options are fixed with `functools.partial`.

    >>> from functools import partial
    >>> from corefeval import corpus_from_entities
    >>> from corefeval.lab.perturbations import drop_mentions, one_entity
    >>> key = corpus_from_entities([["a", "b", "c", "d"]])
    >>> worse = compose(partial(drop_mentions, share=0.5, seed=1), one_entity)
    >>> worse(key, key).entity_sizes.tolist()
    [2]
    """

    def composed(key: Corpus, response: Corpus) -> Corpus:
        for step in steps:
            response = step(key, response)
        return response

    return composed
