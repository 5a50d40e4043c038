"""Which response document is which key document, and which mentions take part."""

from corefeval.pairing.documents import Pairing, pair
from corefeval.pairing.groups import join_groups
from corefeval.pairing.mismatches import mismatch_notices
from corefeval.pairing.policies import apply_policies
from corefeval.pairing.segments import Segmentation, segment, segment_notice

__all__ = [
    "Pairing",
    "Segmentation",
    "apply_policies",
    "join_groups",
    "mismatch_notices",
    "pair",
    "segment",
    "segment_notice",
]
