"""What drop-ins share: documents from lists, counts of results, folders that harnesses run.

Counts add up, so that the total of a harness is the score of the corpus, not a mean of scores.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from corefeval.diagnostics import InputError, Notice, UsageError
from corefeval.evaluation import score
from corefeval.formats.answers.prompts import Prompts, json_lines
from corefeval.formats.registry import find_format
from corefeval.formats.source import source_of
from corefeval.live import corpus_from_object
from corefeval.model import Corpus
from corefeval.results import Result

_BEGIN = "#begin document"


def number_documents(
    documents: Iterable[Sequence[Any]], name: str
) -> Corpus | dict[str, list[list[object]]]:
    """Documents with their places as ids: lines of CoNLL files as a corpus, clusters as they are.

    Lines of a whole file, which begin several documents, keep these apart. A mention is made
    hashable where it is a list, such as `[0, 3]`. Raises an InputError for both forms, or neither,
    or lines that are no CoNLL.

    >>> number_documents([[[[0, 1], [4, 4]]]], "references")
    {'0': [[(0, 1), (4, 4)]]}
    """
    several = list(documents)
    with suppress(TypeError):
        are_lines = {isinstance(part, str) for document in several for part in document}
        if are_lines == {True}:
            return _read_lines(several, name)
        if True not in are_lines:
            return {
                str(place): [[_freeze(mention) for mention in cluster] for cluster in document]
                for place, document in enumerate(several)
            }
    raise InputError(
        f"the {name} have different forms",
        found=f"{several!r:.60}",
        expected="for each document a list of clusters of mentions, or the lines of a CoNLL file",
    )


def _freeze(mention: object) -> object:
    return tuple(map(_freeze, mention)) if isinstance(mention, list | tuple) else mention


def _read_lines(documents: Sequence[Sequence[object]], name: str) -> Corpus:
    """The corpus of lines: each list is a document, or has as many as it begins, by their names."""
    parts = []
    for place, document in enumerate(documents):
        lines = [str(line).rstrip("\r\n") for line in document]
        if sum(line.startswith(_BEGIN) for line in lines) > 1:
            parts += [
                line.replace("(", f"({place}/", 1) if line.startswith(_BEGIN) else line
                for line in lines
            ]
        else:
            kept = [line for line in lines if not line.startswith("#")]
            parts += [f"{_BEGIN} ({place}); part 000", *kept, "", "#end document"]
    return find_format("conll").read(source_of("\n".join([*parts, ""]), name), name=name)


def counts_of(result: Result) -> dict[str, float]:
    """The counts of all documents together, such as `muc/recall_numerator`.

    Raises a UsageError for results that do not add up.
    """
    if (aggregate := result.protocol.aggregate) != "micro":
        raise UsageError(f"counts add up only for aggregate:micro, not {aggregate}")
    return {
        f"{metric}/{name}": float(column.sum())
        for metric, table in result.tables.items()
        for name, column in table.columns().items()
    }


def result_of(counts: Mapping[str, float], empty: Result) -> Result:
    """Counts as a result in which all documents are one; `empty` is a result of nothing."""
    tables = dict(empty.tables)
    for metric, table in tables.items():
        if table.values is not None:
            row = [counts[f"{metric}/{name}"] for name in table.names]
            tables[metric] = replace(table, values=np.array([row]))
    return replace(empty, tables=tables, document_ids=("all documents",), notices=())


def score_answer(sample: Mapping[str, Any], answer: str, **options: Any) -> Result:
    """The result of an answer, against the key that a sample has beside its prompt.

    Raises an InputError for a sample without a key.
    """
    key = corpus_from_object([sample.get("key")], "key")
    if key is None:
        raise InputError(
            "this sample has no key to score its answer against",
            found=f"the fields {', '.join(map(str, sample)) or 'of nothing'}",
            fix="make the folder with corefeval prompt KEY --for inspect|lm-eval --output FOLDER",
        )
    return score(key, {str(key.documents[0]): answer}, **options)


def sum_scores(items: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """F1 of each metric in per cent, from the counts of all answers; CoNLL where it can be had."""
    total = Counter[str]()
    for counts in items:
        total.update(counts)  # type: ignore[arg-type]
    metrics = list(dict.fromkeys(name.rpartition("/")[0] for name in total if "/" in name))
    if {"muc", "b3", "ceafe"} <= {*metrics}:
        metrics.insert(0, "conll")
    result = result_of(total, score({"0": []}, {"0": []}, metrics=metrics or "conll"))
    return {metric: 100 * result[metric].f1 for metric in metrics}


_TASK = '''\
"""Coreference, scored by corefeval: inspect eval task.py --model …"""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.solver import generate

from corefeval.integrations.inspect import coreference


def read_sample(record):
    system, user = record["system"], record["user"]
    messages = [ChatMessageSystem(content=system), ChatMessageUser(content=user)]
    return Sample(id=record["id"], input=messages, metadata={"key": record["key"]})


@task
def corefeval():
    prompts = json_dataset(str(Path(__file__).with_name("prompts.jsonl")), read_sample)
    return Task(dataset=prompts, solver=generate(), scorer=coreference(format="FORMAT"))
'''
_YAML = """\
# Coreference, scored by corefeval: lm_eval --include_path FOLDER --tasks corefeval --model …
task: corefeval
dataset_path: json
dataset_kwargs:
  data_files: PROMPTS
test_split: train
output_type: generate_until
doc_to_text: "{{system}}\\n\\n{{user}}"
doc_to_target: ""
process_results: !function corefeval.integrations.lm_eval.process_results
generation_kwargs:
  until: []
  do_sample: false
  max_gen_toks: 4096
metric_list:
  - metric: conll
    aggregation: !function corefeval.integrations.lm_eval.aggregate
    higher_is_better: true
metadata:
  version: 1
"""


def folder_of(
    harness: str, prompts: Prompts, key: Corpus, style: str, folder: str
) -> tuple[dict[str, bytes], tuple[Notice, ...]]:
    """The files of a folder that a harness runs, and notices on what keys cannot have there."""
    written, notices = find_format("e2e").write(key)
    keys = map(json.loads, written[""].splitlines())
    lines = json_lines(
        {**prompt, "format": f"llm-{style}", "key": record}
        for prompt, record in zip(prompts.records, keys, strict=True)
    )
    if harness == "lm-eval":
        place = json.dumps(os.path.join(os.path.abspath(folder), "prompts.jsonl"))
        task, content = "corefeval.yaml", _YAML.replace("PROMPTS", place)
    else:
        task, content = "task.py", _TASK.replace("FORMAT", f"llm-{style}")
    losses = tuple(notice for notice in notices if notice.noun in ("mention", "empty node"))
    return {task: content.encode(), "prompts.jsonl": lines.encode()}, losses
