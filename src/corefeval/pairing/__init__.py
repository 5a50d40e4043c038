"""Which response document is which key document, and which mentions take part."""

from corefeval.pairing.documents import DocumentPairs, Pairing, pair, pair_documents
from corefeval.pairing.mismatches import (
    Suspects,
    find_suspects,
    joint_mismatch_notices,
    mismatch_notices,
)
from corefeval.pairing.policies import Kept, apply_policies
from corefeval.pairing.segments import Segmentation, join_groups, segment, segment_notice

__all__ = [
    "DocumentPairs",
    "Kept",
    "Pairing",
    "Segmentation",
    "Suspects",
    "apply_policies",
    "find_suspects",
    "join_groups",
    "joint_mismatch_notices",
    "mismatch_notices",
    "pair",
    "pair_documents",
    "segment",
    "segment_notice",
]
