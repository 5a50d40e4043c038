"""Kinds of records that have answers of language models (`records.toml`), and its small paths."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from corefeval.diagnostics import UsageError

IDS = "custom_id id doc_id document_id doc_key document docid doc key name"
# Ids of requests, which are no documents.
REQUEST = re.compile(r"(chatcmpl-|cmpl-|msg_|resp_|batch_req_).*", re.DOTALL)


class Kind(NamedTuple):
    """A kind of record, as `records.toml` declares it and says what its fields are."""

    name: str
    needs: str = ""
    text: str = ""
    tools: str = ""
    finish: str = ""
    ids: str = IDS
    choices: str = ""
    inner: str = ""
    refusal: str = ""
    error: str = ""
    speaker: str = ""
    parsed: bool = False


_TABLE = tomllib.loads(Path(__file__).with_name("records.toml").read_text(encoding="utf-8"))
KINDS = tuple(Kind(name, **paths) for name, paths in _TABLE["kinds"].items())
PLAIN = KINDS[-1]
FINISH = {word: reason for reason, words in _TABLE["finish"].items() for word in words.split()}

STEP = re.compile(r"\.?([^.\[\]]+)|\[(\*|-1|\?[^\[\]=]+=[^\[\]]*)\]")


def check_path(path: str) -> None:
    """Raise a UsageError for what is no path."""
    if not isinstance(path, str) or not path or STEP.sub("", path) or re.search(r"[\s|]", path):
        raise UsageError(f"{path!r:.60} is no path in a record, such as choices[*].text")


def find_all(value: Any, path: str) -> list[Any]:
    """All values at a path, such as `choices[*].message.content` or `parts[?type=text].text`.

    >>> find_all({"a": [{"b": 1, "c": "x"}, {"b": 2, "c": "y"}]}, "a[?c=y].b")
    [2]
    """
    values = [value]
    for name, index in STEP.findall(path):
        if name:
            values = [
                value[name] for value in values if isinstance(value, Mapping) and name in value
            ]
        else:
            lists = [value for value in values if isinstance(value, list)]
            values = [element for elements in lists for element in _pick(elements, index)]
    return [value for value in values if value is not None]


def _pick(elements: list[Any], index: str) -> list[Any]:
    """The elements of a list that an index in brackets stands for."""
    if index.startswith("?"):
        name, _, value = index[1:].partition("=")
        objects = (element for element in elements if isinstance(element, Mapping))
        return [element for element in objects if str(element.get(name) or "") == value]
    return elements[-1:] if index == "-1" else elements


def find_first(value: Any, paths: str) -> list[Any]:
    """What stands at the first of some paths at which there is anything."""
    return next(filter(None, (find_all(value, path) for path in paths.split())), [])
