"""The segments of a single document, for which intervals and tests take the place of documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from corefeval.diagnostics import Notice
from corefeval.features import PartFeatures
from corefeval.matching import Matches
from corefeval.pairing.regrouping import Segmentation, segment
from corefeval.preparation import Prepared

if TYPE_CHECKING:
    from corefeval.beyond import Beyond, FullSide


def segment_prepared(prepared: Prepared, number: int) -> Prepared | Notice:
    """The segments of a single document, each a document of its own; a notice if it cannot be cut.

    A mention that is matched goes with its match; singletons that the cuts made are dropped where
    the protocol drops singletons.
    """
    partners = prepared.matches.partners_of_response(prepared.response.n_mentions)
    cut = segment(prepared.key, prepared.response, partners, number)
    if isinstance(cut, Notice):
        return cut
    corpora = [cut.key, cut.response]
    keep = [np.ones(corpus.n_mentions, dtype=np.bool_) for corpus in corpora]
    full = None if prepared.beyond is None else _segment_beyond(prepared.beyond, cut)
    # Of an entity that runs on, one may be left.
    for side in {"drop": (0, 1), "drop-response": (1,)}.get(prepared.protocol.singletons, ()):
        sizes = corpora[side].entity_sizes
        if full is not None and prepared.protocol.split == "score":
            owners = full[side].set_entities
            sizes = sizes + np.bincount(owners, minlength=sizes.size)
        keep[side] = sizes[corpora[side].mention_entity] > 1
    rows = [np.flatnonzero(kept) for kept in keep]
    matches = prepared.matches
    if not all(kept.all() for kept in keep):
        key_rows, response_rows = matches.rows(corpora[0].n_mentions)
        is_kept = keep[0][key_rows] & keep[1][response_rows]
        new = [np.cumsum(kept) - 1 for kept in keep]
        weight = None if matches.weight is None else matches.weight[is_kept]
        matches = Matches(new[0][key_rows[is_kept]], new[1][response_rows[is_kept]], weight)
        corpora = [c.keep_mentions(k) for c, k in zip(corpora, keep, strict=True)]
    full_sides = prepared.beyond
    if full is not None and full_sides is not None:
        scored = [
            replace(side, rows=side.rows[side_rows], scored_entity=corpus.mention_entity)
            for side, side_rows, corpus in zip(full, rows, corpora, strict=True)
        ]
        again = replace(full_sides, key=scored[0], response=scored[1], scored=matches)
        vars(again)["matches"] = full_sides.matches  # which cuts do not change
        full_sides = again
    sides = (prepared.key_features, prepared.response_features)
    number = len(cut)
    of_key, of_response = (
        PartFeatures(side, side_rows, number) for side, side_rows in zip(sides, rows, strict=True)
    )
    return replace(
        prepared,
        key=corpora[0],
        response=corpora[1],
        key_features=of_key,
        response_features=of_response,
        matches=matches,
        protocol=prepared.protocol.but(segments=str(number)),
        notices=(),
        variants=(),
        beyond=full_sides,
    )


def _segment_beyond(full_sides: Beyond, cut: Segmentation) -> list[FullSide]:
    """Both sides in full with segments for documents; what is not scored goes by its start."""
    sides = []
    for side, corpus in zip(full_sides, (cut.key, cut.response), strict=True):
        starts = np.asarray(side.corpus.mention_start)
        document = np.searchsorted(np.array(cut.cuts), starts, side="right")
        document[side.rows] = corpus.mention_document
        sides.append(replace(side, scored_entity=corpus.mention_entity, document=document))
    return sides
