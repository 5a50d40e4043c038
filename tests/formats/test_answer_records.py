"""Records of interfaces and harnesses that have answers: each kind, and what is none."""

from __future__ import annotations

import importlib.util
import json
import zipfile

import pytest

import corefeval
from corefeval.diagnostics import InputError, UsageError
from corefeval.formats.answers.records import KINDS
from corefeval.model import CorpusBuilder

# Inspect packs its logs with zstd.
CAN_UNPACK = hasattr(zipfile, "ZIP_ZSTANDARD") or importlib.util.find_spec("inspect_ai") is not None
TEXTS = {"one": "[Ada](#1) saw [her](#1) sister .", "two": "[Bo](#1) left , as [he](#1) had to ."}
CLUSTERS = [{"id": 1, "mentions": [{"text": "Ada", "sentence": 1}, {"text": "her"}]}]
THOUGHT = {"type": "reasoning", "reasoning": "is it [Bob](#9)?"}


@pytest.fixture(scope="module")
def key():
    builder = CorpusBuilder(name="key")
    for name, text in TEXTS.items():
        words = text.replace("[", "").replace("](#1)", "").split()
        document = builder.document(name, words=words)
        for word in ("Ada", "her") if name == "one" else ("Bo", "he"):
            document.mention("1", words.index(word), words.index(word) + 1)
    return builder.build()


def parts(text):
    return [{"type": "thinking", "thinking": "[x](#9)"}, {"type": "text", "text": text}]


def chat(text, reason="stop", **message):
    said = {"role": "assistant", "content": text, **message}
    return {"id": "chatcmpl-1", "choices": [{"message": said, "finish_reason": reason}]}


def dialogue(text):
    return [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": text}]


def sample(name, text, epoch=1):
    choice = {"message": {"content": [THOUGHT, {"type": "text", "text": text}]},
              "stop_reason": "max_tokens"}  # fmt: skip
    return {"id": name, "epoch": epoch, "messages": dialogue("x"), "output": {"choices": [choice]}}


# A record of each kind, and the reason that it says for the end of the answer.
RECORDS = {
    "OpenAI batch": (lambda n, t: {"id": "batch_req_1", "custom_id": n, "error": None,
                                   "response": {"body": chat(t, "length")}}, "length"),
    "OpenAI chat": (lambda n, t: {**chat([{"type": "text", "text": t}]), "doc_id": n}, ""),
    "OpenAI responses": (lambda n, t: {
        "id": "resp_1", "object": "response", "custom_id": n, "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"}, "output": [
            {"type": "reasoning", "summary": [{"text": "[x](#9)"}]},
            {"type": "message", "content": [{"type": "output_text", "text": t}]}]}, "length"),
    "completions": (lambda n, t: {"custom_id": n, "choices": [
        {"text": t, "finish_reason": "content_filter"}]}, "refusal"),
    "Anthropic batch": (lambda n, t: {"custom_id": n, "result": {"type": "succeeded", "message": {
        "id": "msg_1", "content": parts(t), "stop_reason": "max_tokens"}}}, "length"),
    "Anthropic message": (lambda n, t: {"custom_id": n, "content": parts(t),
                                        "stop_reason": "end_turn"}, ""),
    "Gemini batch": (lambda n, t: {"key": n, "response": {"candidates": [
        {"content": {"parts": [{"text": "[x](#9)", "thought": True}, {"text": t}]},
         "finishReason": "SAFETY"}]}}, "refusal"),
    "Gemini": (lambda n, t: {"key": n, "candidates": [
        {"content": {"parts": [{"text": t}]}, "finishReason": "STOP"}]}, ""),
    "Bedrock batch": (lambda n, t: {"recordId": n, "modelOutput": {
        "content": parts(t), "stop_reason": "end_turn"}}, ""),
    "Bedrock Converse": (lambda n, t: {"id": n, "stopReason": "guardrail_intervened", "output": {
        "message": {"content": [{"text": t}]}}}, "refusal"),
    "Bedrock Titan": (lambda n, t: {"id": n, "results": [
        {"outputText": t, "completionReason": "LENGTH"}]}, "length"),
    "Bedrock Llama": (lambda n, t: {"id": n, "generation": t, "stop_reason": "stop"}, ""),
    "Ollama": (lambda n, t: {"id": n, "message": {"content": t}, "done": True,
                             "done_reason": "length"}, "length"),
    "vLLM": (lambda n, t: {"request_id": n, "prompt": "[x](#9)", "outputs": [
        {"text": t, "finish_reason": "abort"}]}, "abort"),
    "lm-eval samples": (lambda n, t: {"doc_id": 7, "doc": {"id": n}, "resps": [[t]],
                                      "filtered_resps": [t]}, ""),
    "Inspect log": (lambda n, t: {"version": 2, "status": "success",
                                  "samples": [sample(n, t)]}, "length"),
    "Inspect sample": (sample, "length"),
    "messages": (lambda n, t: {"id": n, "messages": dialogue(t)}, ""),
    "ShareGPT": (lambda n, t: {"id": n, "conversations": [
        {"from": "human", "value": "Who?"}, {"from": "gpt", "value": t}]}, ""),
    "pipeline": (lambda n, t: {"id": n, "generated_text": dialogue(t)}, ""),
    "plain": (lambda n, t: {"id": n, "output": t, "finish_reason": "length"}, "length"),
}  # fmt: skip


def write(path, records):
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def placed(corpus):
    return {str(d.id): sorted(m.span for m in d.mentions) for d in corpus if d.rows}


def test_every_kind_has_a_record():
    assert list(RECORDS) == [kind.name for kind in KINDS]


@pytest.mark.parametrize("kind", RECORDS)
def test_each_kind(kind, key, tmp_path, run):
    make, finish = RECORDS[kind]
    file = write(tmp_path / "answers.jsonl", [make(*item) for item in TEXTS.items()])
    corpus = corefeval.read_answers(file, key)
    assert placed(corpus) == placed(key)
    assert [document.finish for document in corpus.ledger.documents] == [finish] * 2
    named = [str(notice) for notice in corpus.notices if notice.kind == "llm-records"]
    assert len(named) == (kind != "plain") and all(kind in text for text in named)
    mapped = corefeval.read_answers({name: make("-", TEXTS[name]) for name in TEXTS}, key)
    assert placed(mapped) == (placed(key) if kind != "plain" else placed(mapped))
    corefeval.write(key, tmp_path / "key.conll")
    _, out, _ = run("check", file, "--against", tmp_path / "key.conll", "--all")
    assert kind == "plain" or kind in out


def test_vectors(shared):
    folder = shared / "answers2"
    key = corefeval.read(folder / "keys.jsonlines")
    for name, expect in json.loads((folder / "records" / "expected.json").read_text()).items():
        file = folder / "records" / name
        if name == "inspect-real.eval" and CAN_UNPACK:
            assert len(corefeval.read_answers(file, key).documents) == 3
        elif "error" in expect:
            with pytest.raises(InputError, match=expect["error"]):
                corefeval.read_answers(file, key)
        if "error" in expect:
            continue
        corpus = corefeval.read_answers(file, key, format=f"llm-{expect['style']}")
        finish = {one.document: one.finish for one in corpus.ledger.documents if one.finish}
        assert finish == expect["finish"], name
        left_out = [n.count for n in corpus.notices if n.kind == "llm-choices"]
        assert left_out == ([3 * (expect["choices"] - 1)] if expect["choices"] > 1 else []), name
        assert len(corpus.documents) == 3, name


@pytest.mark.parametrize(
    "record",
    [
        chat(None, "tool_calls", tool_calls=[{"function": {"arguments": json.dumps(CLUSTERS)}}]),
        {"object": "response", "output": [{"type": "function_call",
                                           "arguments": json.dumps({"clusters": CLUSTERS})}]},
        {"content": [{"type": "tool_use", "input": {"clusters": CLUSTERS}}],
         "stop_reason": "tool_use"},
        {"candidates": [{"content": {"parts": [{"functionCall": {"args": {"c": CLUSTERS}}}]}}]},
        {"output": {"message": {"content": [{"toolUse": {"input": CLUSTERS}}]}}},
        {"answer": CLUSTERS},
        {"clusters": CLUSTERS},
        {"response": chat(json.dumps(CLUSTERS))},
        {"message": {"role": "assistant", "content": parts(json.dumps(CLUSTERS))}},
        {"message": {"role": "assistant", "content": json.dumps(CLUSTERS)}},
    ],
)  # fmt: skip
def test_arguments_of_tools_and_parsed_answers(record, key, tmp_path):
    file = write(tmp_path / "answers.jsonl", [{"custom_id": "one", **record}])
    corpus = corefeval.read_answers(file, key)
    assert placed(corpus) == {"one": placed(key)["one"]}
    assert corpus.ledger.documents[0].finish == ""
    assert corefeval.score(key, file, metrics="muc")["muc"].f1 > 0  # whose format is recognised


@pytest.mark.parametrize(
    ("record", "finish"),
    [
        ({"custom_id": "one", "response": None, "error": {"code": "expired"}}, "error"),
        ({"custom_id": "one", "response": {"body": {"error": {"code": 400}}}}, "error"),
        ({"custom_id": "one", "result": {"type": "expired"}}, "error"),
        ({"key": "one", "response": {"promptFeedback": {"blockReason": "OTHER"}}}, "refusal"),
        ({"custom_id": "one", **chat(None, refusal="I cannot.")}, "refusal"),
        ({"custom_id": "one", "response": {"status_code": 500, "body": None}, "error": None}, ""),
        ({"id": "one", "answer": None}, ""),
        ({"id": "one", "error": "overloaded"}, "error"),
    ],
)
def test_records_without_an_answer(record, finish, key, tmp_path):
    file = write(tmp_path / "answers.jsonl", [record])
    corpus = corefeval.read_answers(file, key)
    assert [(one.document, one.finish) for one in corpus.ledger.documents] == [("one", finish)]


def test_choices_and_epochs(key, tmp_path, run):
    three = chat(TEXTS["one"])
    three["choices"] += [chat("[Ada](#1) saw her sister .")["choices"][0]] * 2
    file = write(tmp_path / "answers.jsonl", [{"custom_id": "one", **three}])
    log = tmp_path / "log.json"
    samples = [sample("one", "[Ada](#1) saw her sister .", 2), sample("one", TEXTS["one"], 1)]
    log.write_text(json.dumps({"version": 2, "status": "success", "samples": samples}, indent=1))
    for path, left_out in ((file, 2), (log, 1)):
        first = corefeval.score(key, path, metrics="muc", missing="skip")
        second = corefeval.score(key, path, metrics="muc", missing="skip", choice=2)
        assert (first["muc"].f1, second["muc"].f1) == (1, 0)
        assert "choice:1" in first.signature and "choice:2" in second.signature
        assert [n.count for n in first.notices if n.kind == "llm-choices"] == [left_out]
        assert corefeval.score(key, path, protocol=second.signature)["muc"].f1 == 0
        with pytest.raises(InputError, match="there is no choice 4"):
            corefeval.score(key, path, choice=4)
    corefeval.write(key, tmp_path / "key.conll")
    status, out, _ = run("score", tmp_path / "key.conll", file, "--choice", 2, "-m", "muc")
    assert status == 0 and "choice:2" in out
    assert run("score", tmp_path / "key.conll", file, "--choice", 0)[0] == 2
    assert "choice" not in corefeval.score(key, TEXTS, response_format="llm").signature
    with pytest.raises(UsageError):
        corefeval.read_answers(file, key, choice=True)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"uid": "one", "payload": {"reply": "Ada saw her ."}}',
         "(?s)line 1: not a record of a known kind.*uid.*payload.*one of OpenAI batch"
         ".*--answer-at payload.reply --id-at uid"),
        ('[["Ada", "her"]]', "found: a list"),
        ("[]", "found: a list"),
        ("[" * 700 + "]" * 700, "found: a list"),
        ('{"nobody": "[Ada](#1) saw her sister ."}', "known kind"),
        ('{"id": "one", "system": "Copy it .", "user": "Text: Ada saw her ."}', "known kind"),
        ('{"custom_id": "one", "method": "POST", "body": {"messages": []}}', "body"),
        ('{"id": "one", "messages": [{"role": "user", "content": "[Ada](#1)"}]}', "assistant"),
        ('{"id": "one", "messages": [{"role": "tool", "content": "[Ada](#1)"}]}', "assistant"),
        ('{"id": "one", "conversations": [{"from": "human", "value": "x"}]}', "assistant"),
        ('{"id": "one", "answer": "x"}\n{"id": "two"', "not JSON"),
        ('{"custom_id": "one", "response": {"body": "[Ada](#1)"}}', "known kind"),
    ],
)  # fmt: skip
def test_other_json_is_an_error(text, problem, key, tmp_path):
    file = tmp_path / "answers.json"
    file.write_text(text)
    with pytest.raises(InputError, match=problem):
        corefeval.read_answers(file, key)


def test_paths_that_somebody_names(key, tmp_path, run):
    records = [{"uid": name, "payload": {"turns": ["Who?", text]}} for name, text in TEXTS.items()]
    file = write(tmp_path / "answers.jsonl", records)
    paths = {"answer_at": "payload.turns[-1]", "id_at": "uid"}
    assert placed(corefeval.read_answers(file, key, **paths)) == placed(key)
    assert corefeval.score(key, file, metrics="muc", **paths)["muc"].f1 == 1
    nested = tmp_path / "nested.json"
    nested.write_text(json.dumps({"runs": records}))
    inner = {"answer_at": "runs[*].payload.turns[-1]", "id_at": "runs[*].uid"}
    assert placed(corefeval.read_answers(nested, key, **inner)) == placed(key)
    corefeval.write(key, tmp_path / "key.conll")
    options = ("--answer-at", "payload.turns[-1]", "--id-at", "uid")
    for command in (("score", tmp_path / "key.conll", file),
                    ("check", file, "--against", tmp_path / "key.conll"),
                    ("convert", file, tmp_path / "out.conll", "--against", tmp_path / "key.conll"),
                    ):  # fmt: skip
        assert run(*command, *options)[0] == 0
    assert corefeval.read(tmp_path / "out.conll").n_mentions == 4
    for path in ("", "a..b", "a[", "a[0", "a[x]", "a b", 3):
        with pytest.raises(UsageError, match="path"):
            corefeval.score(key, file, answer_at=path)


def test_logs_of_inspect(key, tmp_path, run):
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for name, text in TEXTS.items():
            archive.writestr(f"samples/{name}_epoch_1.json", json.dumps(sample(name, text)))
    assert placed(corefeval.read_answers(file, key)) == placed(key)
    assert corefeval.score(key, file, metrics="muc")["muc"].f1 == 1
    corefeval.write(key, tmp_path / "key.conll")
    _, out, _ = run("check", file, "--against", tmp_path / "key.conll", "--all")
    assert "Inspect log" in out
    with pytest.raises(InputError, match="log of Inspect"):
        corefeval.read(tmp_path, format="conll")


def test_empty_refusals_and_errors_are_none(key, tmp_path):
    message = {"role": "assistant", "content": TEXTS["one"], "refusal": ""}
    file = tmp_path / "answers.jsonl"
    for record in (
        {"doc_id": "one", "choices": [{"message": message}], "error": ""},
        {"custom_id": "one", "answer": TEXTS["one"], "error": False},
    ):
        file.write_text(json.dumps(record))
        coverage = corefeval.read_answers(file, key).ledger.documents[0]
        assert (coverage.state, coverage.finish) == ("read", "")
