"""All perturbations, by name and as functions."""

from __future__ import annotations

from corefeval.lab.additions import (
    add_extra_mentions,
    link_missing_pairwise,
    link_missing_together,
)
from corefeval.lab.declarations import PERTURBATIONS, Effect, Perturbation, compose
from corefeval.lab.groupings import (
    all_singletons,
    merge_entities,
    one_entity,
    reattach_pronouns,
    split_entities,
    split_entity,
)
from corefeval.lab.removals import (
    drop_entities,
    drop_mentions,
    drop_twinless,
    keep_entities,
    remove_incorrectly_resolved,
)
from corefeval.lab.resolution import resolve_links

__all__ = [
    "PERTURBATIONS",
    "Effect",
    "Perturbation",
    "add_extra_mentions",
    "all_singletons",
    "compose",
    "drop_entities",
    "drop_mentions",
    "drop_twinless",
    "keep_entities",
    "link_missing_pairwise",
    "link_missing_together",
    "merge_entities",
    "one_entity",
    "reattach_pronouns",
    "remove_incorrectly_resolved",
    "resolve_links",
    "split_entities",
    "split_entity",
]
