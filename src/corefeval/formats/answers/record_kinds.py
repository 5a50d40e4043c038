"""Kinds of records that have answers of language models: a declared table, and its small paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from corefeval.diagnostics import UsageError

IDS = "custom_id id doc_id document_id doc_key document docid doc key name"
# Ids of requests, which are no documents.
REQUEST = re.compile(r"(chatcmpl|cmpl|msg|resp|batch_req|gen)[-_].*", re.DOTALL)


class Kind(NamedTuple):
    """A kind of record, and where it has what: paths, separated by blanks, of which one counts.

    A record is of this kind if it has all that it `needs`; `a|b` is one or the other.
    The answer stands at `text` in each of the `choices`, which are the record itself where
    none are named; else the arguments of a tool at `tools` are it. A kind with an `inner` path has
    another record there. Whatever stands at `refusal` or `error` says that there is no answer.
    `speaker` is who spoke last. A value that is `parsed` already may stand where others have text.
    """

    name: str
    needs: str
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


PLAIN = Kind(
    "plain",
    "",
    "answer output response completion prediction generation result message "
    "content[?type=text].text content clusters text",
    finish="finish_reason stop_reason finishReason done_reason finish status",
    error="error",
    parsed=True,
)
# The first that fits is used.
KINDS = (
    Kind("OpenAI batch", "custom_id response.body|error", inner="response.body", ids="custom_id",
         error="error response.body.error"),
    Kind("OpenAI chat", "choices[*].message", "message.content message.content[?type=text].text",
         "message.tool_calls[*].function.arguments", "finish_reason", choices="choices[*]",
         refusal="message.refusal"),
    Kind("OpenAI responses", "object output",
         "output[?type=message].content[?type=output_text].text",
         "output[?type=function_call].arguments", "incomplete_details.reason status",
         refusal="output[?type=message].content[?type=refusal].refusal", error="error"),
    Kind("completions", "choices[*].text", "text", finish="finish_reason", choices="choices[*]"),
    Kind("Anthropic batch", "custom_id result.type", inner="result.message", ids="custom_id",
         finish="result.type"),
    Kind("Anthropic message", "content[*].type stop_reason", "content[?type=text].text",
         "content[?type=tool_use].input", "stop_reason"),
    Kind("Gemini batch", "key response.candidates|response.promptFeedback|error", ids="key",
         inner="response", error="error"),
    Kind("Gemini", "candidates|promptFeedback", "content.parts[?thought=].text",
         "content.parts[*].functionCall.args", "finishReason", choices="candidates[*]",
         refusal="promptFeedback.blockReason"),
    Kind("Bedrock batch", "recordId modelOutput|error", ids="recordId", inner="modelOutput",
         error="error"),
    Kind("Bedrock Converse", "output.message.content", "output.message.content[*].text",
         "output.message.content[*].toolUse.input", "stopReason"),
    Kind("Bedrock Titan", "results[*].outputText", "outputText", finish="completionReason",
         choices="results[*]"),
    Kind("Bedrock Llama", "generation stop_reason", "generation", finish="stop_reason"),
    Kind("Ollama", "message.content|response done", "message.content response",
         "message.tool_calls[*].function.arguments", "done_reason"),
    Kind("vLLM", "request_id outputs[*].text", "text", finish="finish_reason", ids="request_id",
         choices="outputs[*]"),
    Kind("lm-eval samples", "doc_id doc resps", ids="doc.id",
         choices="filtered_resps[*][*] filtered_resps[*] resps[*][*]"),
    Kind("Inspect log", "samples[*].epoch", inner="samples[*]"),
    Kind("Inspect sample", "id epoch output.choices|error",
         "message.content message.content[?type=text].text", "message.tool_calls[*].arguments",
         "stop_reason", ids="id", choices="output.choices[*]", error="error"),
    Kind("messages", "messages[-1].role",
         "messages[-1].content messages[-1].content[?type=text].text",
         "messages[-1].tool_calls[*].function.arguments", "finish_reason",
         speaker="messages[-1].role"),
    Kind("ShareGPT", "conversations[-1].value", "conversations[-1].value",
         speaker="conversations[-1].from"),
    Kind("pipeline", "generated_text", "generated_text generated_text[-1].content",
         finish="finish_reason", speaker="generated_text[-1].role"),
    PLAIN,
)  # fmt: skip
_REASONS = {
    "length": "length max_tokens model_length max_output_tokens incomplete token_limit",
    "refusal": "refusal content_filter content_filtered guardrail_intervened safety recitation "
    "prohibited_content blocklist spii",
    "error": "error errored failed expired canceled cancelled",
    "": "stop end_turn stop_sequence eos complete completed success succeeded finish finished "
    "tool_calls function_call tool_use load",
}
FINISH = {word: reason for reason, words in _REASONS.items() for word in words.split()}

STEP = re.compile(r"\.?([^.\[\]]+)|\[(\*|-?\d{1,6}|\?[^\[\]=]+=[^\[\]]*)\]")


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
    place = slice(None) if index == "*" else slice(int(index), int(index) + 1 or None)
    return elements[place]


def find_first(value: Any, paths: str) -> list[Any]:
    """What stands at the first of some paths at which there is anything."""
    return next(filter(None, (find_all(value, path) for path in paths.split())), [])
