"""CEAF: the best one-to-one alignment of entities, by shared mentions (φ3) or by Dice (φ4)."""

from __future__ import annotations

import numpy as np

from corefeval.alignment import Alignment
from corefeval.metrics.assignment import heaviest_matching
from corefeval.metrics.counting import Counts
from corefeval.model.arrays import FloatArray


def ceafm(alignment: Alignment) -> Counts:
    """CEAF with φ3: the mentions that aligned entities share."""
    sizes = alignment.key.sizes, alignment.response.sizes
    return _ceaf(alignment, alignment.overlap.count.astype(np.float64), sizes)


def ceafe(alignment: Alignment) -> Counts:
    """CEAF with φ4: twice the shared mentions over the sizes of both entities."""
    overlap, key, response = alignment.overlap, alignment.key.sizes, alignment.response.sizes
    similarity = 2.0 * overlap.count / (key[overlap.key] + response[overlap.response])
    return _ceaf(alignment, similarity, (key > 0, response > 0))


def _ceaf(
    alignment: Alignment, similarity: FloatArray, self_similarity: tuple[np.ndarray, np.ndarray]
) -> Counts:
    overlap = alignment.overlap
    aligned = heaviest_matching(overlap.key, overlap.response, similarity)
    shared = alignment.by_document(overlap.document[aligned], similarity[aligned])
    of_key, of_response = self_similarity
    return {
        "recall_numerator": shared,
        "recall_denominator": alignment.by_document(alignment.key.entity_document, of_key),
        "precision_numerator": shared,
        "precision_denominator": alignment.by_document(
            alignment.response.entity_document, of_response
        ),
    }
