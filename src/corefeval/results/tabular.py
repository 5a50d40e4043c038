"""Rows and data frames, which every result has."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corefeval.diagnostics import UsageError
from corefeval.results.scores import RATE_NAMES, Score

Row = dict[str, Any]


class Tabular:
    """What has rows: `rows()` are flat dictionaries, and `to_frame()` is a data frame of them."""

    __slots__ = ()

    def rows(self) -> list[Row]:
        """The numbers as flat dictionaries: text, numbers, truth values, and None for nothing."""
        raise NotImplementedError

    def to_frame(self, *args: Any, **options: Any) -> Any:
        """A pandas data frame of `rows`, which takes the same arguments."""
        rows = self.rows(*args, **options)
        try:
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise UsageError(
                "data frames need pandas: pip install 'corefeval[pandas]', or take rows()"
            ) from error
        return pandas.DataFrame(rows)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of some rows, in the order of the row that has most of them.

    >>> columns_of([{"a": 1, "c": 2}, {"a": 1, "b": 0, "c": 2}])
    ['a', 'b', 'c']
    """
    names: dict[str, None] = {}
    for row in sorted(rows, key=len, reverse=True):
        names |= dict.fromkeys(row)
    return list(names)


def score_rows(names: Row, scores: Mapping[str, Score]) -> Iterator[Row]:
    """A row for each metric, and before it for each of its parts: names, rates and signature.

    Where there are intervals their ends stand behind the rates (`f1_low`, `f1_high`); where these
    are of segments of a document, so does the rate of the segments. In a slice, which has a `size`,
    rates of nothing are None.
    """
    for score in scores.values():
        for one in (*score.parts.values(), score):
            known = one.rates if one.has_counted or names["size"] is None else {}
            row = {**names, "metric": one.metric, **{rate: known.get(rate) for rate in RATE_NAMES}}
            intervals = (one.segments or one).intervals
            for rate in RATE_NAMES if intervals else ():
                if one.segments is not None:
                    row[f"{rate}_segments"] = one.segments.rates.get(rate)
                low, high = intervals.get(rate, (None, None))
                row |= {f"{rate}_low": low, f"{rate}_high": high}
            yield {**row, "signature": one.signature}
