"""Saved results: per-document counts in a file, to be compared years later without the data.

A file is one JSON object. Counts are written column by column with all their digits, so that what
is read back is exactly what was scored.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from corefeval.checks import (
    EXACT,
    check_path,
    parse_choice,
    parse_integer,
    parse_interval,
    parse_level,
    parse_named_texts,
    parse_number,
    parse_numbers,
    parse_text,
    parse_texts,
)
from corefeval.diagnostics import InputError, Notice, UsageError, excerpt, memory_for
from corefeval.files import GZIP_MAGIC, PathLike, unpack, write_file
from corefeval.protocol import Protocol
from corefeval.results.rates import RATES, CountTable, Numbers, rates_of
from corefeval.results.result import LEDGER, Result
from corefeval.results.scores import Decision
from corefeval.results.slices import SPECIAL, Slices

T = TypeVar("T")

VERSION = 1
_MARK = "corefeval_results"  # the first thing in a file, by which it is recognised
_START = f'{{"{_MARK}":'.encode()
_ROUNDING = 1e-6
_MOST = 1e9  # a rate of an emulated program: CEAF with repeated mentions may exceed 1


def save(results: Sequence[Result], path: PathLike) -> None:
    """Write results to a file; compressed where its name ends in `.gz`."""
    write_saved({"results": [result_record(result) for result in results]}, path)


def write_saved(content: Mapping[str, Any], path: PathLike) -> None:
    """Write a file of saved results, which may have more in it than these."""
    import json

    record = {_MARK: VERSION, **content}
    text = json.dumps(record, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    data = text.encode() + b"\n"
    if check_path(path, "name the file to save").endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    write_file(path, data, problem="the results cannot be saved")


def load_all(path: PathLike, *, spell: Callable[[str], str] = str) -> list[Result]:
    """The results in a file that `save` wrote."""
    check_path(path, "name a file that --save wrote")

    def results_of(record: Mapping[str, Any]) -> list[Result]:
        results = [result_of_record(result, spell) for result in record["results"]]
        if not results:
            raise ValueError("there are no results")
        return results

    return read_saved(path, results_of)


def read_saved(path: PathLike, make: Callable[[Mapping[str, Any]], T]) -> T:
    """`make` of the content of a saved file; raises InputError where the file is damaged.

    `make` raises a KeyError, TypeError, ValueError or the like for damaged content.
    """
    file = os.fspath(path)
    try:
        with memory_for(file):
            return make(_read_record(file))
    except UsageError as error:
        raise InputError(
            f"the saved results were scored in a way that this version does not know: {error}",
            file=file,
            fix="read them with the version of corefeval that saved them, or a newer one",
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InputError(
            "the saved results are damaged",
            file=file,
            found=excerpt(f"{type(error).__name__}: {error}", 120),
            fix="save them again, or use another copy of the file",
        ) from None


def is_saved(path: PathLike) -> bool:
    """Whether a file looks like saved results; only its first bytes are read.

    >>> is_saved("no such file")
    False
    """
    try:
        with open(path, "rb") as stream:
            start = stream.read(len(_START))
        if start.startswith(GZIP_MAGIC):
            import gzip

            with gzip.open(path, "rb") as stream:
                start = stream.read(len(_START))
    except (OSError, EOFError, zlib.error):
        return False
    return start == _START


def _read_record(file: str) -> dict[str, Any]:
    """The object in a file of saved results; an InputError for anything else."""
    import json

    try:
        with open(file, "rb") as stream:
            data = stream.read()
        text = unpack(data, file) if data.startswith(GZIP_MAGIC) else data
        record = json.loads(text, object_pairs_hook=_make_object)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise InputError(message, file=file) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            "these are not saved results: the file is not JSON, or not complete",
            file=file,
            found=excerpt(str(error)),
            expected="a file that --save or result.save wrote",
        ) from None
    version: object = record.get(_MARK) if isinstance(record, dict) else None
    if version is None:
        raise InputError(
            "these are not saved results",
            file=file,
            expected=f"a file that --save or result.save wrote, with {_MARK!r} in it",
        )
    if type(version) is not int or version != VERSION:
        raise InputError(
            f"the saved results are of version {version!r:.60}",
            file=file,
            expected=f"version {VERSION}",
            fix="read them with the version of corefeval that saved them, or a newer one",
        )
    return dict(record)


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; raises ValueError where a name appears twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{max(names, key=names.count)!r} appears twice")
    return record


def result_record(result: Result, parent: Result | None = None) -> dict[str, Any]:
    """A result as JSON; a slice leaves out what its parent, the result of all values, has."""
    has_same_documents = parent is not None and parent.document_ids == result.document_ids
    record: dict[str, Any] = {
        "settings": dict(result.settings),
        **({} if has_same_documents else {"documents": list(result.document_ids)}),
        "titles": dict(result.titles),
        "tables": {metric: _table_record(table) for metric, table in result.tables.items()},
    }
    if result.ci is not None:
        record["ci"] = result.ci
        record["intervals"] = {
            metric: {rate: list(ends) for rate, ends in rates.items()}
            for metric, rates in result.intervals.items()
        }
        record["segment_rates"] = {
            name: dict(rates) for name, rates in result.segment_rates.items()
        }
    if parent is not None:
        return record
    return {
        "key": result.key,
        "key_digest": result.key_digest,
        "whole_rates": {metric: dict(rates) for metric, rates in result.whole_rates.items()},
        "response": result.response,
        **record,
        "slices": {
            feature: _slices_record(slices, result) for feature, slices in result.slices.items()
        },
        **({"answers": dict(result.answers)} if result.answers else {}),
        **({"decisions": [d.as_dict() for d in result.decisions]} if result.decisions else {}),
        "notices": [asdict(notice) for notice in result.notices],
    }


def _slices_record(slices: Slices, parent: Result) -> dict[str, Any]:
    return {
        "level": slices.level,
        "sizes": dict(slices.sizes),
        "undefined": dict(slices.undefined),
        "special": dict(slices.special),
        "whole": result_record(slices.whole, parent),
        "values": {value: result_record(part, parent) for value, part in slices.items()},
    }


def _table_record(table: CountTable) -> dict[str, Any]:
    record: dict[str, Any] = {"shape": table.shape}
    if table.parts:
        record["parts"] = list(table.parts)
    if table.by:
        record["by"] = table.by
    if table.values is not None:
        record["counts"] = {name: _list_counts(column) for name, column in table.columns().items()}
    return record


def _list_counts(column: Numbers) -> list[float] | list[int]:
    """The counts of a column as whole numbers if all of them are: these take half the room."""
    if np.all(np.abs(column) < EXACT) and np.all(column == np.rint(column)):
        integers: list[int] = column.astype(np.int64).tolist()
        return integers
    fractions: list[float] = column.tolist()
    return fractions


def result_of_record(
    record: Mapping[str, Any], spell: Callable[[str], str], parent: Result | None = None
) -> Result:
    """The result of a record by `result_record`; a slice takes what it lacks from its parent."""
    if parent is None or "documents" in record:
        documents = tuple(parse_texts(record["documents"], "documents"))
    else:
        documents = parent.document_ids
    settings = parse_named_texts(record["settings"])
    version = settings.pop("version", "0")
    protocol = Protocol.of_fields(settings)
    most = _MOST if protocol.emulates else 1 + _ROUNDING
    tables: dict[str, CountTable] = {}
    for metric, table_record in record["tables"].items():
        tables[metric] = _parse_table(metric, table_record, len(documents), tables, most)
    result = Result(
        tables=tables,
        document_ids=documents,
        protocol=protocol,
        version=version,
        **_parse_origin(record, parent, most),
        spell=spell,
        titles=parse_named_texts(record["titles"]),
        ci=parse_level(record["ci"]) if "ci" in record else None,
        intervals=_parse_intervals(record.get("intervals", {}), most),
        segment_rates=_parse_rates(record.get("segment_rates", {}), most),
        answers=_parse_answers(record["answers"]) if "answers" in record else {},
        decisions=tuple(map(_parse_decision, record.get("decisions", ()))),
    )
    if parent is None and not documents:
        raise ValueError("there are no documents")
    if result.decisions and tuple(decision.id for decision in result.decisions) != documents:
        raise ValueError("the decisions are not those of the documents")
    if strangers := [metric for metric in result.intervals if metric not in tables]:
        raise ValueError(f"there is an interval of {strangers[0]}, but no count")
    if parent is None:
        entries = record["slices"].items()
        slices = {feature: _parse_slices(feature, entry, result) for feature, entry in entries}
        object.__setattr__(result, "slices", slices)  # frozen, but nobody else has it yet
    return result


def _parse_origin(record: Mapping[str, Any], parent: Result | None, most: float) -> dict[str, Any]:
    """What is said of a result as a whole: its sides, its rates under another rule, its notices.

    A slice takes all but the notices from its parent.
    """
    names = ("key", "response", "key_digest")
    if parent is not None:
        return {name: getattr(parent, name) for name in (*names, "whole_rates")}
    origin: dict[str, Any] = {name: parse_text(record[name], name) for name in names}
    origin["whole_rates"] = _parse_rates(record["whole_rates"], most)
    origin["notices"] = tuple(map(notice_of_record, record["notices"]))
    return origin


def _parse_intervals(
    record: Mapping[str, Any], most: float
) -> dict[str, dict[str, tuple[float, float]]]:
    return {
        metric: {
            rate: parse_interval(ends, f"{metric} {rate}", most) for rate, ends in rates.items()
        }
        for metric, rates in record.items()
    }


def _parse_answers(record: Mapping[str, Any]) -> dict[str, object]:
    """What became of the mentions that a language model wrote."""
    counts = {name: parse_integer(record[name], name) for name in LEDGER}
    if counts["written"] != sum(counts[name] for name in ("placed", *LEDGER[3:])):
        raise ValueError("the ledger of the answers does not add up")
    documents = [
        {
            name: parse_text(value, name) if isinstance(value, str) else parse_integer(value, name)
            for name, value in document.items()
        }
        for document in record["documents"]
    ]
    return {**_parse_rates({"conll": record["conll"]}), **counts, "documents": documents}


def _parse_decision(record: Mapping[str, Any]) -> Decision:
    """What was chosen for an item of a probe."""
    gold, pair, human = record["gold"], record["pair"], record["human"]
    return Decision(
        parse_text(record["id"], "id"),
        parse_text(record["choice"], "choice"),
        tuple(parse_texts(record["chosen"], "chosen")),
        None if gold is None else tuple(parse_texts(gold, "gold")),
        parse_named_texts(record["groups"]),
        None if pair is None else parse_text(pair, "pair"),
        {name: parse_number(number, name, 0, _MOST) for name, number in human.items()},
        parse_integer(record["candidates"], "candidates"),
    )


def _parse_rates(
    record: Mapping[str, Any], most: float = 1 + _ROUNDING
) -> dict[str, dict[str, float]]:
    return {
        metric: {
            rate: parse_number(value, f"{metric} {rate}", 0, most) for rate, value in rates.items()
        }
        for metric, rates in record.items()
    }


def _parse_slices(feature: str, record: Mapping[str, Any], parent: Result) -> Slices:
    """The slices of a record by `_slices_record`."""
    values, special = record["values"], record["special"]
    return Slices(
        feature,
        parse_choice(record["level"], ("document", "entity", "mention")),
        result_of_record(record["whole"], parent.spell, parent),
        {value: result_of_record(part, parent.spell, parent) for value, part in values.items()},
        {
            value: parse_integer(size, f"the size of {value}")
            for value, size in record["sizes"].items()
        },
        parse_named_texts(record["undefined"]),
        {parse_choice(role, SPECIAL): parse_choice(name, values) for role, name in special.items()},
    )


def _parse_table(
    metric: str,
    record: Mapping[str, Any],
    n_documents: int,
    earlier: Mapping[str, CountTable],
    most: float,
) -> CountTable:
    """The counts of a metric; the parts of a mean must be among the `earlier` metrics."""
    shape = parse_choice(record["shape"], (*RATES, "mean"))
    parts = tuple(parse_texts(record.get("parts", []), f"the parts of {metric}"))
    if bool(parts) != (shape == "mean"):
        raise ValueError(
            f"{metric} is {'a mean without' if not parts else 'no mean, but has'} parts"
        )
    if missing := [part for part in parts if part not in earlier]:
        raise ValueError(f"{metric} has no {', '.join(missing)}")
    if shape == "mean":
        return CountTable(shape, parts=parts)
    counts = record["counts"]
    columns = [parse_numbers(values, f"{metric} {name}") for name, values in counts.items()]
    values = np.array(columns, dtype=np.float64).T
    if values.shape != (n_documents, len(counts)):
        raise ValueError(f"{metric}: counts of {n_documents} documents were expected")
    _check_counts(metric, shape, counts, values, most)
    return CountTable(
        shape, tuple(counts), values, by=parse_text(record.get("by", ""), f"{metric} by")
    )


def _check_counts(
    metric: str, shape: str, counts: Mapping[str, Any], values: Numbers, most: float
) -> None:
    """Raise ValueError for counts that are missing or below 0, or have rates above `most`."""
    with np.errstate(over="ignore"):
        totals = values.sum(axis=0)
    if not np.isfinite(totals).all() or (values < 0).any():
        raise ValueError(f"{metric}: a count is missing, too large, or below 0")
    rates = rates_of(shape, dict(zip(counts, values.T, strict=True)))
    if any((rate > most).any() for rate in rates.values()):
        raise ValueError(f"{metric}: more was found than exists")


def notice_of_record(record: Mapping[str, Any]) -> Notice:
    """The notice of a record; `parts` may also be pairs, as `asdict` makes them."""
    return Notice(
        parse_text(record["kind"], "the kind of a notice"),
        parse_text(record["text"] if "text" in record else record["message"], "a notice"),
        parse_integer(record["count"], "the count of a notice"),
        tuple(parse_texts(record["items"], "the items of a notice")),
        parse_text(record.get("noun", ""), "the noun of a notice"),
        tuple((name, parse_integer(n, name)) for name, n in dict(record.get("parts", ())).items()),
    )


# A value of the wrong JSON type means that the file is damaged, even if Python could use the value.
