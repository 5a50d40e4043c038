"""A scorer for spaCy's pipelines, registered as `corefeval.coref_scorer.v1` by an entry point.

In a config: `[components.coref.scorer]` with `@scorers = "corefeval.coref_scorer.v1"`, and
`coref_f` among the `[training.score_weights]`. Entities are span groups `coref_clusters_…`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from corefeval.evaluation import score
from corefeval.live.pipelines import CLUSTERS, read_spacy

_LETTERS = {"recall": "r", "precision": "p", "f1": "f", "accuracy": "acc"}


def make_coref_scorer(
    span_cluster_prefix: str = CLUSTERS,
    metrics: str = "conll, lea",
    main: str = "conll",
    protocol: str = "",
    name: str = "coref",
) -> Callable[..., dict[str, float | None]]:
    """A scorer of `Example`s, which are paired by position, whatever the documents are called.

    It returns `coref_muc_p`, `coref_muc_r`, `coref_muc_f` and so on, and the rates of the `main`
    metric as `coref_f`; all are None where no reference has such a span group. `protocol` is
    what `corefeval.score` takes. Where tokens of predicted and reference documents differ, they are
    aligned by their characters.
    """

    def score_coref(examples: Iterable[Any], **_: Any) -> dict[str, float | None]:
        numbered = [*enumerate(examples)]
        sides = [
            [(str(number), getattr(example, side)) for number, example in numbered]
            for side in ("reference", "predicted")
        ]
        key, response = (read_spacy(side, "", span_cluster_prefix) for side in sides)
        chosen = f"{metrics}, {main}"
        result = score(key, response, metrics=chosen, protocol=protocol or None, tokens="align")
        is_annotated = any(
            group.startswith(span_cluster_prefix) for _, doc in sides[0] for group in doc.spans
        )
        rates = {metric: scored.rates for metric, scored in result.scores.items()}
        rates[""] = result[main].rates
        return {
            "_".join(filter(None, (name, metric, _LETTERS[rate]))): value if is_annotated else None
            for metric, values in rates.items()
            for rate, value in values.items()
            if rate in _LETTERS
        }

    return score_coref
