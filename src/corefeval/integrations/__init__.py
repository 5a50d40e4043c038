"""Drop-ins for other tools; each imports its tool, and none is imported by default.

`EVALUATE` is the path that Hugging Face's `evaluate.load` takes. `torchmetrics`, `spacy`,
`inspect`, `lm_eval` and `pytest_plugin` are modules of this one.
"""

from __future__ import annotations

from pathlib import Path

EVALUATE = str(Path(__file__).with_name("evaluate_module.py"))
