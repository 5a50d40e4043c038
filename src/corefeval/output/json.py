"""JSON: everything, unrounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corefeval._version import __version__
from corefeval.display import json_text
from corefeval.results import Result, Score


def render_json(results: Sequence[Result], *, by_document: bool = True) -> str:
    """One object with the key and its responses; documents are always there."""
    report = {
        "corefeval": __version__,
        "key": results[0].key,
        "responses": [_response(result) for result in results],
    }
    return json_text(report)


def _response(result: Result) -> dict[str, object]:
    return {
        "name": result.response,
        "signature": result.signature,
        "scores": _scores(result.scores),
        **(_slices(result) if result.slices else {}),
        "documents": [
            {"id": document.id, "scores": _scores(document.scores)} for document in result.documents
        ],
        "notices": [
            {
                "kind": notice.kind,
                "message": notice.message,
                "count": notice.count,
                **({"items": list(notice.items)} if notice.items else {}),
            }
            for notice in result.notices
        ],
    }


def _slices(result: Result) -> dict[str, object]:
    """Scores by feature and value, null where there was nothing to count; sizes of the key."""
    return {
        "slices": {
            feature: {value: _scores(part.scores, sliced=True) for value, part in slices.items()}
            for feature, slices in result.slices.items()
        },
        "slice_sizes": {name: dict(one.sizes) for name, one in result.slices.items()},
        "undefined_slices": {name: dict(one.undefined) for name, one in result.slices.items()},
    }


def _scores(scores: Mapping[str, Score], *, sliced: bool = False) -> dict[str, object]:
    return {
        metric: None if sliced and not score.has_counted else score.as_dict()
        for metric, score in scores.items()
    }
