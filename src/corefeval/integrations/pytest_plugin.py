"""A fixture for tests of systems: `coref_gate(key, response, conll=70)` fails below that score.

pytest imports this module wherever corefeval is installed: what takes time is imported on use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from corefeval.results import Result


@pytest.fixture(scope="session")
def coref_gate() -> Callable[..., Result]:
    """Score a response against a key, and fail where a rate is under its limit.

    `coref_gate(key, response, conll=70, at_least={"muc.recall": 55.5}, singletons="drop")`: limits
    are in per cent, of F1 or of a rate behind a dot; `at_least` is for names that Python does not
    take. Other keywords are those of `corefeval.score`, whose result comes back.
    """
    return check_gate


def check_gate(
    key: Any, response: Any, *, at_least: Mapping[str, float] | None = None, **options: Any
) -> Result:
    """The result of a response; pytest's failure says which rates are under their limits."""
    __tracebackhide__ = True
    from corefeval import Metric, UsageError, render, score
    from corefeval.cli.scoring import check_rates, find_low, parse_limits

    by_name = {name: options.pop(name) for name in [*options] if _is_metric(name)}
    by_name |= at_least or {}
    for name, limit in by_name.items():
        if not isinstance(limit, int | float) or 0 < limit < 1:
            raise UsageError(f"limits are in percent, such as {name}=70, not {limit!r:.60}")
    limits = parse_limits([f"{name}={limit}" for name, limit in by_name.items()])
    if not limits:
        for name, value in options.items():
            if isinstance(value, int | float):
                Metric.parse(name)  # which says what is wrong with the name
        raise UsageError("coref_gate needs a limit, such as conll=70")
    metrics = options.pop("metrics", ())
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    result = score(key, response, metrics=[*metrics, *(limit[0] for limit in limits)], **options)
    check_rates([result], limits)
    if low := find_low([result], limits):
        pytest.fail("\n".join((*low, "", render(result))), pytrace=False)
    return result


def _is_metric(name: str) -> bool:
    """Whether a keyword names a metric; those of `score` do not."""
    from corefeval import Metric, UsageError

    try:
        return bool(Metric.parse(name))
    except UsageError:
        return False
