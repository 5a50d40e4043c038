"""Which response document is which key document, and which mentions take part."""

from corefeval.pairing.documents import DocumentPairs, pair, pair_documents
from corefeval.pairing.mismatches import Suspects, find_suspects, mismatch_notices
from corefeval.pairing.policies import Kept, apply_policies, apply_to_side

__all__ = [
    "DocumentPairs",
    "Kept",
    "Suspects",
    "apply_policies",
    "apply_to_side",
    "find_suspects",
    "mismatch_notices",
    "pair",
    "pair_documents",
]
