"""Results: frozen, additive per-document counts, and the rates that follow from them."""

from corefeval.results.rates import CountTable
from corefeval.results.result import Result
from corefeval.results.saved import is_saved, load_all, save
from corefeval.results.scores import Score
from corefeval.results.slices import Slices

__all__ = [
    "CountTable",
    "Result",
    "Score",
    "Slices",
    "is_saved",
    "load_all",
    "save",
]
