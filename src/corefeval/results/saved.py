"""Saved results: per-document counts in a file, to be compared years later without the data.

A file is one JSON object. Counts are written column by column with all their digits, so that what
is read back is exactly what was scored.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError, excerpt
from corefeval.protocol import Protocol
from corefeval.results.rates import RATES, Numbers, rates_of
from corefeval.results.result import CountTable, Result
from corefeval.results.slices import Slices

VERSION = 1
_MARK = "corefeval_results"  # the first thing in a file, by which it is recognised
_START = f'{{"{_MARK}":'.encode()
_GZIP = b"\x1f\x8b"
_ROUNDING = 1e-6
_EXACT = 2.0**53  # whole numbers up to here are the same as floats

PathLike = str | os.PathLike[str]


def save(results: Sequence[Result], path: PathLike) -> None:
    """Write results to a file; compressed where its name ends in `.gz`."""
    record = {_MARK: VERSION, "results": [_result_record(result) for result in results]}
    text = json.dumps(record, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    data = text.encode() + b"\n"
    if os.fspath(path).endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        message = f"the results cannot be saved: {error.strerror or error}"
        raise InputError(message, file=os.fspath(path)) from None


def load_all(path: PathLike, *, spell: Callable[[str], str] = str) -> list[Result]:
    """The results in a file that `save` wrote."""
    file = os.fspath(path)
    record = _record(file)
    try:
        results = [_result(one, None, spell) for one in record["results"]]
        if not results:
            raise ValueError("there are no results")
        return results
    except UsageError as error:
        raise InputError(
            f"the saved results were scored in a way that is not known here: {error}",
            file=file,
            fix="read them with the version of corefeval that saved them, or a newer one",
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InputError(
            "the saved results are damaged",
            file=file,
            found=excerpt(f"{type(error).__name__}: {error}"),
            fix="save them again, or take another copy of the file",
        ) from None


def is_saved(path: PathLike) -> bool:
    """Whether a file looks like saved results; only its first bytes are read.

    >>> is_saved("no such file")
    False
    """
    try:
        with open(path, "rb") as stream:
            start = stream.read(len(_START))
        if start.startswith(_GZIP):
            with gzip.open(path, "rb") as stream:
                start = stream.read(len(_START))
    except (OSError, EOFError, zlib.error):
        return False
    return start == _START


def _record(file: str) -> dict[str, Any]:
    """The object in a file, known to be of this format and version."""
    try:
        data = Path(file).read_bytes()
        record = json.loads(gzip.decompress(data) if data.startswith(_GZIP) else data)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError("the compressed file is damaged, or not complete", file=file) from None
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise InputError(message, file=file) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            "these are no saved results: the file is no JSON, or not complete",
            file=file,
            found=excerpt(str(error)),
            expected="a file that --save or result.save wrote",
        ) from None
    version = record.get(_MARK) if isinstance(record, dict) else None
    if version is None:
        raise InputError(
            "these are no saved results",
            file=file,
            expected=f"a file that --save or result.save wrote, with {_MARK!r} in it",
        )
    if version != VERSION:
        raise InputError(
            f"the saved results are of version {version}",
            file=file,
            expected=f"version {VERSION}",
            fix="read them with the version of corefeval that saved them, or a newer one",
        )
    return dict(record)


def _result_record(result: Result, within: Result | None = None) -> dict[str, Any]:
    """What a file says of a result; a slice leaves out what the whole result says."""
    same = within is not None and within.document_ids == result.document_ids
    record: dict[str, Any] = {
        "settings": dict(result.settings),
        **({} if same else {"documents": list(result.document_ids)}),
        "titles": dict(result.titles or {}),
        "tables": {metric: _table_record(table) for metric, table in result.tables.items()},
    }
    if result.ci is not None:
        record["ci"] = result.ci
        record["intervals"] = {
            metric: {rate: list(ends) for rate, ends in rates.items()}
            for metric, rates in result.intervals.items()
        }
        record["segment_rates"] = {name: dict(one) for name, one in result.segment_rates.items()}
    if within is not None:
        return record
    return {
        "key": result.key,
        "key_digest": result.key_digest,
        "whole_rates": {metric: dict(rates) for metric, rates in result.whole_rates.items()},
        "response": result.response,
        **record,
        "slices": {feature: _slices_record(one, result) for feature, one in result.slices.items()},
        "notices": [
            {
                "kind": n.kind,
                "text": n.text,
                "count": n.count,
                "items": list(n.items),
                "noun": n.noun,
            }
            for n in result.notices
        ],
    }


def _slices_record(slices: Slices, within: Result) -> dict[str, Any]:
    return {
        "level": slices.level,
        "sizes": dict(slices.sizes),
        "undefined": dict(slices.undefined),
        "special": dict(slices.special),
        "whole": _result_record(slices.whole, within),
        "values": {value: _result_record(one, within) for value, one in slices.items()},
    }


def _table_record(table: CountTable) -> dict[str, Any]:
    record: dict[str, Any] = {"shape": table.shape}
    if table.parts:
        record["parts"] = list(table.parts)
    if table.by:
        record["by"] = table.by
    if table.values is not None:
        record["counts"] = {name: _numbers(column) for name, column in table.columns().items()}
    return record


def _numbers(column: Numbers) -> list[float] | list[int]:
    """Whole numbers where all are: they take half the room."""
    if np.all(np.abs(column) < _EXACT) and np.all(column == np.rint(column)):
        whole: list[int] = column.astype(np.int64).tolist()
        return whole
    fractions: list[float] = column.tolist()
    return fractions


def _result(
    record: Mapping[str, Any], within: Result | None, spell: Callable[[str], str]
) -> Result:
    documents = within.document_ids if within and "documents" not in record else None
    if documents is None:
        documents = tuple(map(str, record["documents"]))
    source = within or Result(
        tables={},
        document_ids=documents,
        key=str(record["key"]),
        response=str(record["response"]),
        key_digest=str(record["key_digest"]),
        whole_rates=_rates(record["whole_rates"]),
        spell=spell,
    )
    tables = {metric: _table(one, len(documents)) for metric, one in record["tables"].items()}
    for metric, table in tables.items():
        if missing := [part for part in table.parts if part not in tables]:
            raise ValueError(f"{metric} has no {', '.join(missing)}")
    settings = {str(name): str(value) for name, value in record["settings"].items()}
    version = settings.pop("version", "0")
    result = Result(
        tables=tables,
        document_ids=documents,
        protocol=Protocol.of_fields(settings),
        version=version,
        key=source.key,
        response=source.response,
        key_digest=source.key_digest,
        whole_rates=source.whole_rates,
        notices=() if within else tuple(map(_notice, record["notices"])),
        spell=spell,
        titles={str(name): str(title) for name, title in record["titles"].items()},
        ci=float(record["ci"]) if "ci" in record else None,
        intervals={
            metric: {rate: (float(low), float(high)) for rate, (low, high) in rates.items()}
            for metric, rates in record.get("intervals", {}).items()
        },
        segment_rates=_rates(record.get("segment_rates", {})),
    )
    if within is None:
        slices = {name: _slices(name, one, result) for name, one in record["slices"].items()}
        object.__setattr__(result, "slices", slices)  # it is not known to anybody yet
    return result


def _rates(record: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    return {
        metric: {rate: float(value) for rate, value in rates.items()}
        for metric, rates in record.items()
    }


def _slices(feature: str, record: Mapping[str, Any], within: Result) -> Slices:
    return Slices(
        feature,
        _one_of(record["level"], ("document", "entity", "mention")),
        _result(record["whole"], within, within.spell),
        {value: _result(one, within, within.spell) for value, one in record["values"].items()},
        {value: int(size) for value, size in record["sizes"].items()},
        {metric: str(why) for metric, why in record["undefined"].items()},
        {role: str(name) for role, name in record["special"].items()},
    )


def _table(record: Mapping[str, Any], n_documents: int) -> CountTable:
    shape = _one_of(record["shape"], (*RATES, "mean"))
    parts = tuple(map(str, record.get("parts", ())))
    if shape == "mean":
        if not parts:
            raise ValueError("a mean has no parts")
        return CountTable(shape, parts=parts)
    counts = record["counts"]
    values = np.array(list(counts.values()), dtype=np.float64).T
    if values.shape != (n_documents, len(counts)):
        raise ValueError(f"counts of {n_documents} documents were expected")
    _check_counts(shape, counts, values)
    return CountTable(shape, tuple(counts), values, parts, str(record.get("by", "")))


def _check_counts(shape: str, counts: Mapping[str, Any], values: Numbers) -> None:
    """Counts that somebody may have scored: all there, none below 0, and no rate above 1."""
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("a count is missing, or below 0")
    rates = rates_of(shape, dict(zip(counts, values.T, strict=True)))
    if any((rate > 1 + _ROUNDING).any() for rate in rates.values()):
        raise ValueError("more was found than there is")


def _notice(record: Mapping[str, Any]) -> Notice:
    items = tuple(map(str, record["items"]))
    text = str(record["text"] if "text" in record else record["message"])
    noun = str(record.get("noun", ""))
    return Notice(str(record["kind"]), text, int(record["count"]), items, noun)


def _one_of(value: object, choices: Sequence[str]) -> Any:
    if value not in choices:
        raise ValueError(f"{value!r} is none of {', '.join(choices)}")
    return value
