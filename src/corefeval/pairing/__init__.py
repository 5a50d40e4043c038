"""Which response document is which key document, and which mentions take part."""

from corefeval.pairing.documents import Pairing, pair
from corefeval.pairing.policies import (
    Duplicates,
    Singletons,
    without_duplicates,
    without_singletons,
)

__all__ = [
    "Duplicates",
    "Pairing",
    "Singletons",
    "pair",
    "without_duplicates",
    "without_singletons",
]
