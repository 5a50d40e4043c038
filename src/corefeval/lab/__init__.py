"""The lab: change a response in known ways, and see what metrics make of it.

`PERTURBATIONS` are pure functions from a key and a response to another response; `EXPERIMENTS` are
named runs that give tidy data and sentences. Both are imported when they are used.

>>> from corefeval.lab import EXPERIMENTS
>>> result = EXPERIMENTS["boundary"].run(metrics="muc, lea")
>>> result.value("f1", metric="lea", output="singletons", mentions="key")
0.0
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from corefeval.lab.experiments import (
    EXPERIMENTS,
    Chart,
    Encoding,
    Experiment,
    ExperimentResult,
    Statement,
    experiment,
)

if TYPE_CHECKING:
    from corefeval.lab.perturbations import PERTURBATIONS, Perturbation, compose

__all__ = [
    "EXPERIMENTS",
    "PERTURBATIONS",
    "Chart",
    "Encoding",
    "Experiment",
    "ExperimentResult",
    "Perturbation",
    "Statement",
    "compose",
    "experiment",
]


def __getattr__(name: str) -> object:
    if name in ("PERTURBATIONS", "Perturbation", "compose"):
        return getattr(importlib.import_module("corefeval.lab.perturbations"), name)
    raise AttributeError(f"module 'corefeval.lab' has no attribute {name!r}")
