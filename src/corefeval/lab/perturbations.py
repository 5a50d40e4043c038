"""Perturbations: named ways to change a response, and what they do to its links and mentions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from corefeval.checks import check_choice
from corefeval.diagnostics import UsageError
from corefeval.lab.editing import (
    check_share,
    choose,
    choose_targets,
    find_missing,
    find_twins,
    fresh_mentions,
    is_disjoint,
    is_incorrectly_resolved,
    is_pure,
    join,
    link_wrongly,
    regroup,
    resolve_share,
    shuffled_ranks,
    wrong_pairs,
)
from corefeval.model import Corpus
from corefeval.model.arrays import (
    BoolArray,
    IntArray,
    all_true,
    all_zero,
    mark_rows,
    stable_order,
    unset,
)
from corefeval.preparation import Prepared, prepare

LinkEffect = Literal["adds", "removes", "keeps", "either"]
Split = Literal["any", "pure"]
Merged = Literal["any", "disjoint"]
Where = Literal["one", "document", "all"]
Growth = Literal["together", "largest", "smallest"]
Step = Callable[[Corpus, Corpus], Corpus]
Function = TypeVar("Function", bound=Callable[..., Corpus])


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way to change a response: call it with a key, a response and its options.

    Of correct links, wrong links and mentions it says whether they are only added, only removed,
    kept as they are, or either, by the function's defaults.
    """

    name: str
    summary: str
    correct_links: LinkEffect
    wrong_links: LinkEffect
    mentions: LinkEffect
    function: Callable[..., Corpus]
    reference: str = ""

    def __call__(self, key: Corpus, response: Corpus, **options: Any) -> Corpus:
        """The changed response, on the documents of the key."""
        return self.function(key, response, **options)


PERTURBATIONS: dict[str, Perturbation] = {}


def perturbation(
    *, correct_links: LinkEffect, wrong_links: LinkEffect, mentions: LinkEffect, reference: str = ""
) -> Callable[[Function], Function]:
    """Declare a function as a perturbation, by its name and the first line of its docstring."""

    def declare(function: Function) -> Function:
        name = function.__name__.replace("_", "-")
        if name in PERTURBATIONS:
            raise UsageError(f"a perturbation {name!r} already exists")
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

    def run(key: Corpus, response: Corpus) -> Corpus:
        for step in steps:
            response = step(key, response)
        return response

    return run


@perturbation(
    correct_links="keeps",
    wrong_links="adds",
    mentions="adds",
    reference="Moosavi and Strube 2016, Section 2 (less precise a)",
)
def link_missing_pairwise(
    key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0
) -> Corpus:
    """Add key mentions that the response lacks, as wrong entities of two.

    As many pairs as there can be in each document. What is left over (all of one key entity)
    stays out. `share` takes only some of the missing mentions.
    """
    prepared, generator = prepare(key, response), np.random.default_rng(seed)
    rows = _choose_missing(prepared, share, generator)
    document, entity = prepared.key.mention_document, prepared.key.mention_entity
    pairs = wrong_pairs(document[rows], entity[rows], generator)
    return _with_missing(prepared, rows, pairs)


@perturbation(
    correct_links="keeps",
    wrong_links="adds",
    mentions="adds",
    reference="Moosavi and Strube 2016, Section 2 (less precise b)",
)
def link_missing_together(
    key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0
) -> Corpus:
    """Add key mentions that the response lacks, as few large entities, all wrong.

    The first entity of a document has one missing mention of each key entity, the second another
    one of each that has more, and so on; a mention that would be alone stays out. So the entities
    are as large as they can be without a correct link.
    """
    prepared, generator = prepare(key, response), np.random.default_rng(seed)
    rows = _choose_missing(prepared, share, generator)
    round_of = shuffled_ranks(prepared.key.mention_entity[rows], generator)
    codes = prepared.key.mention_document[rows] * (rows.size + 1) + round_of
    _, number, size = np.unique(codes, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    return _with_missing(prepared, rows, np.where(size[number] > 1, number, -1))


def _choose_missing(prepared: Prepared, share: float, generator: np.random.Generator) -> IntArray:
    """A share of the rows of the key's mentions that the response lacks."""
    missing = find_missing(prepared)
    return missing[choose(missing.size, share, generator)]


def _with_missing(prepared: Prepared, rows: IntArray, number: IntArray) -> Corpus:
    """The response with mentions of the key (`rows`) in new entities, by number; −1 stays out."""
    used = number >= 0
    entity = prepared.response.n_entities + number[used]
    response = prepared.response
    return join(response, response.mention_entity, prepared.key, rows[used], entity)


@perturbation(
    correct_links="keeps",
    wrong_links="adds",
    mentions="adds",
    reference="Moosavi and Strube 2016, Section 7.4",
)
def add_extra_mentions(
    key: Corpus,
    response: Corpus,
    *,
    number: int = 1,
    size: int | None = None,
    where: Where = "one",
    seed: int = 0,
) -> Corpus:
    """Add mentions that are in no key entity to an entity of some size, or to each other.

    `number` mentions go into an entity of `size` mentions (None: of any size); size 0 links them
    to each other. `where`: "one" entity of the whole corpus, one of each "document", or "all" such
    entities (for size 0 a new entity in each document).
    """
    if number < 1:
        raise UsageError(f"number is 1 or more, not {number!r}")
    check_choice("where", where, get_args(Where))
    prepared = prepare(key, response)
    changed = prepared.response
    generator = np.random.default_rng(seed)
    document, target = choose_targets(changed, size, where, generator)
    order = stable_order(document)
    documents = np.repeat(document[order], number)
    extra = fresh_mentions(prepared.key, changed, documents, seed)
    rows = np.arange(extra.n_mentions)
    return join(changed, changed.mention_entity, extra, rows, np.repeat(target[order], number))


@perturbation(
    correct_links="either",
    wrong_links="either",
    mentions="either",
    reference="Moosavi and Strube 2016, Section 7.1",
)
def resolve_links(
    key: Corpus,
    response: Corpus,
    *,
    share: float = 1.0,
    wrong: bool = False,
    growth: Growth = "together",
    seed: int = 0,
) -> Corpus:
    """Resolve a share of the key's links, with no wrong ones, or with every other mention wrong.

    The response itself does not count, only the key. With `growth="together"` each entity of n
    mentions has about `share` of its n(n − 1)/2 links; with "largest" or "smallest" one entity is
    resolved after the other, by size. For one seed, a larger share has all links of a smaller.
    Without `wrong` only mentions with a correct link are in the response; with it all key mentions
    are, each of the others linked to mentions of other entities alone (alone with itself where its
    document has no other entity to join). Singletons of the key have no links, so they are always
    among the others.
    """
    check_choice("growth", growth, get_args(Growth))
    check_share(share)
    key = prepare(key, response).key
    generator = np.random.default_rng(seed)
    entity = np.where(resolve_share(key, share, growth, generator), key.mention_entity, -1)
    if wrong:
        entity = link_wrongly(key, entity, generator)
    return regroup(key, entity, entity >= 0).with_details(name=response.name)


@perturbation(correct_links="removes", wrong_links="removes", mentions="keeps")
def all_singletons(key: Corpus, response: Corpus) -> Corpus:
    """Make each mention of the response an entity of its own."""
    corpus = prepare(key, response).response
    return regroup(corpus, np.arange(corpus.n_mentions))


@perturbation(correct_links="adds", wrong_links="adds", mentions="keeps")
def one_entity(key: Corpus, response: Corpus) -> Corpus:
    """Make all mentions of each document one entity."""
    corpus = prepare(key, response).response
    return regroup(corpus, all_zero(corpus.n_mentions))


@perturbation(
    correct_links="removes",
    wrong_links="removes",
    mentions="keeps",
    reference="Moosavi and Strube 2016, Section 7.3",
)
def split_entities(
    key: Corpus,
    response: Corpus,
    *,
    parts: int = 2,
    share: float = 1.0,
    which: Split = "any",
    seed: int = 0,
) -> Corpus:
    """Split a share of the entities at random, so that no part is a single mention.

    Entities with fewer than two mentions for each part stay whole. `which="pure"` splits only
    those whose mentions are all of one key entity: then no wrong link goes.
    """
    if parts < 2:
        raise UsageError(f"parts is 2 or more, not {parts!r}")
    check_choice("which", which, get_args(Split))
    prepared = prepare(key, response)
    entity = prepared.response.mention_entity
    generator = np.random.default_rng(seed)
    fits = prepared.response.entity_sizes >= 2 * parts
    if which == "pure":
        fits &= is_pure(prepared)
    rows = np.flatnonzero(fits)
    split = mark_rows(rows[choose(rows.size, share, generator)], prepared.response.n_entities)
    rank = shuffled_ranks(entity, generator)
    part = np.where(rank < 2 * parts, rank // 2, generator.integers(parts, size=rank.size))
    return regroup(prepared.response, entity * parts + np.where(split[entity], part, 0))


@perturbation(
    correct_links="removes",
    wrong_links="removes",
    mentions="keeps",
    reference="Moosavi and Strube 2016, Figure 6",
)
def split_entity(
    key: Corpus, response: Corpus, *, sizes: Sequence[int] = (1, 1), seed: int = 0
) -> Corpus:
    """Split one entity into parts of given sizes: an entity of 20 mentions into 18 and 2.

    Which of the entities of that size, and which mentions go where, is up to the seed.
    """
    prepared = prepare(key, response)
    entity = prepared.response.mention_entity
    generator = np.random.default_rng(seed)
    fits = np.flatnonzero(prepared.response.entity_sizes == sum(sizes))
    if not fits.size or min(sizes) < 1:
        raise UsageError(f"no entity has {sum(sizes)} mentions that can be split {tuple(sizes)}")
    members = np.flatnonzero(entity == generator.choice(fits))
    numbers = entity.copy()
    part = np.repeat(np.arange(len(sizes)), sizes)
    moved = generator.permutation(members)[part > 0]
    numbers[moved] = prepared.response.n_entities + part[part > 0]
    return regroup(prepared.response, numbers)


@perturbation(correct_links="adds", wrong_links="adds", mentions="keeps")
def merge_entities(
    key: Corpus,
    response: Corpus,
    *,
    share: float = 1.0,
    which: Merged = "any",
    seed: int = 0,
) -> Corpus:
    """Merge a share of the entities of each document, two and two at random.

    `which="disjoint"` merges only two that have no key entity in common: then no correct link
    comes.
    """
    check_choice("which", which, get_args(Merged))
    prepared = prepare(key, response)
    entity, document = prepared.response.mention_entity, prepared.response.entity_document
    generator = np.random.default_rng(seed)
    filled = np.flatnonzero(prepared.response.entity_sizes > 0)
    couple = unset(document.size)
    rank = shuffled_ranks(document[filled], generator)
    couple[filled] = document[filled] * (filled.size + 1) + rank // 2
    _, couple = np.unique(couple, return_inverse=True)
    couple = couple.reshape(-1)
    merge = choose(int(couple.max(initial=0)) + 1, share, generator)
    if which == "disjoint":
        merge &= is_disjoint(prepared, couple)
    numbers = np.where(merge[couple], couple, couple.size + np.arange(couple.size))
    return regroup(prepared.response, numbers[entity])


@perturbation(
    correct_links="keeps",
    wrong_links="removes",
    mentions="removes",
    reference="Moosavi and Strube 2016, Section 2",
)
def remove_incorrectly_resolved(
    key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0
) -> Corpus:
    """Remove mentions of both sides that have links in the response, but not one correct link.

    `share` removes only some of them. What was linked to them stays, if need be alone.
    """
    prepared = prepare(key, response)
    return _without(prepared, is_incorrectly_resolved(prepared), share, seed)


@perturbation(correct_links="removes", wrong_links="removes", mentions="removes")
def drop_mentions(key: Corpus, response: Corpus, *, share: float = 0.1, seed: int = 0) -> Corpus:
    """Remove a share of the response's mentions, whatever they are."""
    prepared = prepare(key, response)
    return _without(prepared, all_true(prepared.response.n_mentions), share, seed)


@perturbation(
    correct_links="keeps",
    wrong_links="removes",
    mentions="removes",
    reference="Cai and Strube 2010, Section 3.2",
)
def drop_twinless(key: Corpus, response: Corpus, *, share: float = 1.0, seed: int = 0) -> Corpus:
    """Remove a share of the response's mentions that the key lacks."""
    prepared = prepare(key, response)
    return _without(prepared, find_twins(prepared) < 0, share, seed)


def _without(prepared: Prepared, which: BoolArray, share: float, seed: int) -> Corpus:
    """The response without a share of the mentions for which `which` is true."""
    rows = np.flatnonzero(which)
    keep = ~mark_rows(rows[choose(rows.size, share, np.random.default_rng(seed))], which.size)
    return regroup(prepared.response, prepared.response.mention_entity, keep)
