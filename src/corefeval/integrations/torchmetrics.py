"""A metric for torchmetrics: counts add up over batches and over processes.

>>> metric = CorefMetric("conll")                    # doctest: +SKIP
>>> metric.update(preds=[[[(0, 1), (4, 4)]]], target=[[[(0, 1), (4, 4)]]])   # doctest: +SKIP
>>> metric.compute()["conll/f1"]                     # doctest: +SKIP
tensor(1., dtype=torch.float64)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torchmetrics import Metric

from corefeval.diagnostics import UsageError
from corefeval.evaluation import score
from corefeval.integrations.harnesses import counts_of, number_documents, result_of
from corefeval.metrics import DEFAULT_PRESET, Metrics
from corefeval.results import Result

# What torchmetrics asks of its metrics.
_OF_TORCH = (
    "compute_on_cpu",
    "dist_sync_on_step",
    "process_group",
    "dist_sync_fn",
    "distributed_available_fn",
    "sync_on_compute",
    "compute_with_cache",
)


class CorefMetric(Metric):
    """Coreference scores in a training loop, each a tensor: `muc/f1`, `conll/f1` and so on.

    `preds` and `target` are documents in the same order, each a list of clusters of hashable
    mentions, or the lines of a CoNLL file. `options` are those of `corefeval.score`, and `protocol`
    its protocol; only what adds up over documents will do (`aggregate="micro"`), which is the
    default. The state is one vector of counts, whose sum over processes is that of the whole.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    counts: torch.Tensor
    documents: torch.Tensor

    def __init__(
        self, metrics: Metrics = DEFAULT_PRESET, *, protocol: str | None = None, **options: Any
    ) -> None:
        super().__init__(**{name: options.pop(name) for name in _OF_TORCH if name in options})
        self._options = {"metrics": metrics, "protocol": protocol, **options}
        self._empty: Result = score({"0": []}, {"0": []}, **self._options)
        width = len(counts_of(self._empty))
        self.add_state("counts", torch.zeros(width, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("documents", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, preds: Iterable[Sequence[Any]], target: Iterable[Sequence[Any]]) -> None:
        """Add documents; UsageError where there are not as many on both sides."""
        response, key = list(preds), list(target)
        if len(response) != len(key):
            raise UsageError(f"there are {len(response)} preds for {len(key)} targets")
        if not key:
            return
        result = score(
            number_documents(key, "target"), number_documents(response, "preds"), **self._options
        )
        self.counts += self.counts.new_tensor([*counts_of(result).values()])
        self.documents += len(key)

    def compute(self) -> dict[str, torch.Tensor]:
        """The rates of all documents so far, of all processes."""
        return {
            name: torch.tensor(value, dtype=torch.float64, device=self.counts.device)
            for name, value in self.result.to_dict(flat=True).items()
        }

    @property
    def result(self) -> Result:
        """The counts so far as a result, in which all documents are one."""
        sums = self.counts.detach().cpu().tolist()
        return result_of(dict(zip(counts_of(self._empty), sums, strict=True)), self._empty)
