"""Which response document is which key document, and which mentions take part."""

from corefeval.pairing.documents import Pairing, pair
from corefeval.pairing.policies import apply_policies
from corefeval.pairing.segments import Segmentation, segment, segment_notice

__all__ = [
    "Pairing",
    "Segmentation",
    "apply_policies",
    "pair",
    "segment",
    "segment_notice",
]
