"""Which response document is which key document, and which mentions take part."""

from corefeval.pairing.documents import Pairing, pair
from corefeval.pairing.mismatches import mismatch_notices
from corefeval.pairing.policies import (
    Duplicates,
    Singletons,
    without_duplicates,
    without_singletons,
)
from corefeval.pairing.segments import Segmentation, segment_notice, segmented

__all__ = [
    "Duplicates",
    "Pairing",
    "Segmentation",
    "Singletons",
    "mismatch_notices",
    "pair",
    "segment_notice",
    "segmented",
    "without_duplicates",
    "without_singletons",
]
