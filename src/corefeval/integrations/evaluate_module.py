"""A metric for Hugging Face's `evaluate`: `evaluate.load(corefeval.integrations.EVALUATE)`.

It is loaded from this file, without a network. Documents are pairs of a prediction and a reference,
in the order in which they come; each is a document of its own, or the lines of a file with several.
"""

from __future__ import annotations

import datasets
import evaluate

_DESCRIPTION = "Coreference: mentions, MUC, B³, CEAF, BLANC, LEA and the CoNLL average."
_INPUTS = """
Args:
    predictions, references: a document each, all in one of two forms: the lines of a CoNLL file
        (of one document or of several, which then pair by their names), or clusters of mentions,
        each with its first and last token, `[[[0, 1], [4, 4]], …]`.
    metrics: names of metrics and presets, as corefeval has them.
    Other keywords are those of `corefeval.score`: protocol, singletons, duplicates and so on.
Returns:
    A dictionary from `muc/recall`, `muc/precision`, `muc/f1` and so on to fractions, with
    `conll_score` in per cent where MUC, B³ and CEAFe were asked for, and the `signature`.
"""


class Coreference(evaluate.Metric):
    """Scores of documents as `corefeval.score` has them."""

    def _info(self) -> evaluate.MetricInfo:
        lines = [datasets.Value("string")]
        clusters = [[[datasets.Value("int64")]]]
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="See `corefeval metrics` for the papers behind each metric.",
            inputs_description=_INPUTS,
            features=[
                datasets.Features({"predictions": form, "references": form})
                for form in (clusters, lines)  # anything can be text
            ],
        )

    def _compute(
        self,
        predictions: list[list[object]],
        references: list[list[object]],
        metrics: str = "standard",
        **options: object,
    ) -> dict[str, object]:
        """The rates of all documents together; a CorefEvalError says what is wrong with them."""
        from corefeval import score
        from corefeval.integrations.harnesses import number_documents

        key = number_documents(references, "references")
        response = number_documents(predictions, "predictions")
        result = score(key, response, metrics=metrics, **options)  # type: ignore[arg-type]
        conll = {"conll_score": 100 * result["conll"].f1} if "conll" in result else {}
        return {**result.to_dict(flat=True), **conll, "signature": result.signature}
