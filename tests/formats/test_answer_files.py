"""Answers of language models as files, and on the command line; and what models are asked."""

from __future__ import annotations

import json

import numpy as np
import pytest

import corefeval
from answer_writers import CROSSING, WRITERS
from corefeval.diagnostics import InputError
from corefeval.formats.answers.prompts import STYLES, Passage, passage_of, write_prompts
from corefeval.model import CorpusBuilder
from corefeval.preparation import prepare

TEXTS = {
    "a/one": "Ada met the captain of the old ship in the harbour of Tarn . She greeted him .",
    "b": "Every winter Tom repaired nets while his brother painted boats and doors . He sang .",
}
ANSWERS = {
    "a/one": "[Ada](#1) met [the captain](#2) of the old ship in the harbour of Tarn. "
    "[She](#1) greeted [him](#2).",
    "b": "Every winter [Tom](#1) repaired nets while [[his](#1) brother](#2) painted boats and "
    "doors. [He](#2) sang.",
}
LISTS = {"a/one": '[["Ada", "She"], ["the captain", "him"]]', "b": '[["Tom", "his"]]'}


@pytest.fixture(scope="module")
def key():
    builder = CorpusBuilder(name="key")
    for name, text in TEXTS.items():
        words = text.split()
        document = builder.document(name, words=words, sentence_starts=[0, words.index(".") + 1])
        document.mention("1", 0, 1)
        document.mention("1", words.index(".") + 1, words.index(".") + 2)
    return builder.build()


def read(source, key, **options):
    corpus = corefeval.read_answers(source, key, **options)
    return {str(d.id): sorted(m.span for m in d.mentions) for d in corpus}, corpus


@pytest.fixture(scope="module")
def expected(key):
    return read(ANSWERS, key)[0]


def chat(text, reason="stop"):
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


RECORDS = {
    "answer": lambda name, text: {"id": name, "answer": text},
    "output": lambda name, text: {"doc_id": name, "output": text},
    "chat": lambda name, text: {"id": name, **chat(text)},
    "batch": lambda name, text: {"id": "batch_req_1", "custom_id": name,
                                 "response": {"status_code": 200, "body": chat(text)}},
    "blocks": lambda name, text: {"custom_id": name, "result": {"type": "succeeded", "message": {
        "content": [{"type": "thinking", "thinking": "[x](#9)"}, {"type": "text", "text": text}],
        "stop_reason": "end_turn"}}},
    "candidates": lambda name, text: {"key": name, "response": {"candidates": [
        {"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]}},
}  # fmt: skip


@pytest.mark.parametrize("kind", RECORDS)
def test_records(kind, key, expected, tmp_path):
    file = tmp_path / "answers.jsonl"
    records = [RECORDS[kind](name, text) for name, text in ANSWERS.items()]
    file.write_text("\n".join(map(json.dumps, records)))
    assert read(file, key)[0] == expected
    assert {str(d.id): sorted(m.span for m in d.mentions) for d in _response(key, file)} == expected
    file.write_text(json.dumps(records))
    assert read(file, key)[0] == expected


def _response(key, file):
    """What is scored of a file whose format nobody names."""
    return prepare(key, file).response


def test_finish_reasons(key, tmp_path):
    file = tmp_path / "answers.jsonl"
    cut = {"custom_id": "b", "response": {"body": chat(ANSWERS["b"][:60], "length")}}
    error = {"custom_id": "a/one", "error": {"message": "overloaded"}}
    file.write_text(json.dumps(cut) + "\n" + json.dumps(error))
    ledger = read(file, key)[1].ledger
    assert {one.document: one.finish for one in ledger.documents} == {
        "a/one": "error",
        "b": "length",
    }


def test_folder_mapping_and_one_text(key, expected, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_text(ANSWERS["a/one"])
    (tmp_path / "b.txt").write_text(ANSWERS["b"])
    assert read(tmp_path, key)[0] == expected
    assert read(tmp_path / "b.txt", key)[0] == {"b": expected["b"]}


def test_a_file_may_map_ids_to_answers(key, expected, tmp_path):
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(ANSWERS))
    assert read(file, key)[0] == expected
    file.write_text(json.dumps({"uid": "b", "reply": ANSWERS["b"]}))
    with pytest.raises(InputError, match="not a record of a known kind"):
        read(file, key)


@pytest.mark.parametrize("answers", [ANSWERS, LISTS])
def test_pairing_by_content(answers, key, tmp_path):
    file = tmp_path / "answers.jsonl"
    named = read(answers, key)[0]
    file.write_text("\n".join(json.dumps({"answer": answers[name]}) for name in ("b", "a/one")))
    assert read(file, key)[0] == named


def test_several_documents_in_one_answer(key, expected, tmp_path):
    text = f"Document 1:\n{ANSWERS['b']}\n\nDocument 2:\n{ANSWERS['a/one']}"
    (tmp_path / "answer.txt").write_text(text)
    spans, corpus = read(tmp_path / "answer.txt", key)
    assert spans == expected
    assert any(notice.kind == "llm-several" for notice in corpus.notices)
    assert read({"b": text}, key)[0] == expected  # nobody else answered the other one


def test_answers_for_nobody_and_second_answers_are_told(key, expected):
    spans, corpus = read({**ANSWERS, "c": "[x](#1) y"}, key)
    assert spans == expected
    assert [n.items for n in corpus.notices if n.kind == "llm-unknown"] == [("c",)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("Nothing to see here.", "no answer is about a document"),
        ('{"id": "b", "answer": "x"}\n{"id": "b"', "not JSON"),
        ('{"id": "b", "answer": "x"}\n{"id": "a"}', "answer"),
    ],
)
def test_one_clear_error(text, problem, key, tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match=problem):
        read(file, key)


@pytest.mark.parametrize(
    ("texts", "outcome"),
    [
        (["Nothing to see here.", "Once upon a time."], "error"),
        (["Nothing to see here.", "I'm sorry, but I can't do that."], "error"),
        (["Nothing to see here.", ""], "error"),
        (["```json\n[]\n```", '{"clusters": []}'], "llm-empty"),
        ([*TEXTS.values()], "llm-empty"),
        (["I'm sorry, but I can't do that.", ""], "llm-refusal"),
        (["Nothing to see here.", ANSWERS["b"]], "llm-unread"),
    ],
    ids=["prose", "refusal", "nothing", "empty lists", "copies", "sorry", "one answer"],
)
def test_a_file_of_nothing_is_one_error_and_an_answer_of_nothing_is_empty(
    texts, outcome, key, tmp_path
):
    file = tmp_path / "answers.jsonl"
    answers = dict(zip(TEXTS, texts, strict=True))
    file.write_text("".join(json.dumps({"id": n, "answer": t}) + "\n" for n, t in answers.items()))
    if outcome == "error":
        with pytest.raises(InputError, match="no mentions could be read") as caught:
            read(file, key)
        assert "Nothing to see here." in str(caught.value)
        assert "llm-markdown" in str(caught.value)
        assert read(answers, key)[0] == {"a/one": [], "b": []}  # in Python there is no file
        return
    spans, corpus = read(file, key)
    assert spans["a/one"] == []
    [notice] = [notice for notice in corpus.notices if notice.kind == outcome]
    assert "a/one" in notice.items


def test_one_text_that_refuses_is_an_empty_document(key, tmp_path):
    file = tmp_path / "answer.txt"
    file.write_text("I'm sorry, but I cannot help with that.")
    only = key.select_documents(np.array([0]))
    assert read(file, only, format="llm")[0] == {"a/one": []}


def test_a_book_in_which_somebody_cannot_do_something_is_no_refusal(key, tmp_path):
    file = tmp_path / "book.txt"
    story = "It was a bright cold day in April. " * 20
    file.write_text(f"{story}He cannot sleep. {story}")
    only = key.select_documents(np.array([0]))
    with pytest.raises(InputError, match="no mentions could be read"):
        read(file, only, format="llm")
    file.write_text(f"{story}I'm sorry, but I cannot help with that.")  # after thinking aloud
    with pytest.raises(InputError, match="no mentions could be read"):
        read(file, only, format="llm")
    file.write_text(f"I'm sorry, but I cannot help with that. {story}")
    assert read(file, only, format="llm")[0] == {"a/one": []}


# ------------------------------------------------------------------ the command line


def test_score_check_and_convert(run, tmp_path):
    key, tagged, listed = map(corefeval.example, ("key", "tagged", "listed"))
    status, out, err = run("score", key, tagged, listed, "--format", "json")
    assert status == 0
    assert "llm-markdown" in err and "llm-json" in err and "mentions count as wrong" in err
    for response in json.loads(out)["responses"]:
        told = response["answers"]
        assert told["written"] == sum(told[n] for n in ("placed", "repeated", "lost", "unclear"))
        assert len(told["documents"]) == 9
        assert told["conll"]["strict"] < told["conll"]["drop"]
    status, out, _ = run("check", tagged, "--against", key)
    assert status == 1
    assert "llm-invented" in out and "The villagers" in out and "llm-cut" in out
    assert "tokens (56%), because of a token limit, according to its record" in out
    assert run("check", tagged)[0] == 2
    target = tmp_path / "out.conll"
    assert run("convert", listed, target, "--against", key)[0] == 0
    own = corefeval.score(key, listed)
    assert corefeval.score(key, target)["conll"].f1 == own["conll"].f1
    assert run("convert", key, target, "--against", key)[0] == 2


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("list.json", [{"id": name, "text": text} for name, text in ANSWERS.items()]),
        ("lines.jsonl", {"id": "b", "text": ANSWERS["b"]}),
        ("mapping.json", ANSWERS),
    ],
)
def test_answers_that_are_not_recognised_are_refused_with_the_option_that_reads_them(
    name, records, run, tmp_path
):
    key, file = tmp_path / "key.jsonl", tmp_path / name
    lines = [{"doc_key": n, "sentences": [t.split()], "clusters": []} for n, t in TEXTS.items()]
    key.write_text("\n".join(map(json.dumps, lines)))
    file.write_text(json.dumps(records))
    status, _, err = run("score", key, file)
    assert status == 1 and err.rstrip().endswith("answers of a language model, add "
                                                 "--response-format llm")  # fmt: skip
    with pytest.raises(InputError, match='add response_format="llm"'):
        corefeval.score(key, file)
    assert run("score", key, file, "--response-format", "llm")[0] == 0
    _, out, _ = run("check", file, "--against", key)
    assert "add --input-format llm" in out
    assert run("check", file, "--against", key, "--input-format", "llm")[0] == 0


def test_formats_and_choices_of_the_command(run):
    key, listed = corefeval.example("key"), corefeval.example("listed")
    outs = {
        rule: run("score", key, listed, "--occurrences", rule, "-m", "conll", "-q")[1]
        for rule in ("in-order", "first", "all")
    }
    assert len(set(outs.values())) == 3
    assert "occurrences:first" in outs["first"]
    assert "lost:strict" in run("score", key, listed, "--lost", "strict", "-q")[1]
    status, _, err = run("score", key, listed, "--response-format", "llm-markdown")
    assert status == 1 and "no mentions could be read" in err


def test_report_and_compare_take_answers(run, tmp_path):
    key, tagged = corefeval.example("key"), corefeval.example("tagged")
    status, out, _ = run("compare", key, tagged, corefeval.example("eager"))
    assert status == 0 and "tagged" in out
    made = corefeval.report(key, {"model": tagged}, ci=None)
    assert any("mentions written" in str(notice) for notice in made.notices)
    assert "‘The villagers’ was written nowhere" in str(made.payload)
    quiet = corefeval.report(key, {"model": tagged}, ci=None, text=False)
    assert "villagers" not in str(quiet.payload)


# ------------------------------------------------------------------ what models are asked


@pytest.mark.parametrize("style", WRITERS)
def test_what_is_written_is_read_back(style):
    key = corefeval.read(corefeval.example("key"))
    answers, wanted = {}, {}
    for document in key:
        name, passage = str(document.id), passage_of(document)
        carrier = STYLES["json" if style in CROSSING else style if style in STYLES else "xml"]
        mentions = carrier.carry(passage.mentions)
        answers[name] = WRITERS[style](Passage(passage.words, passage.starts, mentions))
        clusters: dict[str, set[tuple[int, int]]] = {}
        for start, end, entity in mentions:
            clusters.setdefault(entity, set()).add((start, end))
        wanted[name] = [one for one in clusters.values() if len(one) > 1]
    for format in ("llm", f"llm-{style}"):
        corpus = corefeval.read_answers(answers, key, format=format)
        assert corpus.ledger.lost == 0
        found = {
            str(document.id): [
                {m.span for m in entity.mentions}
                for entity in document.entities
                if len(entity.mentions) > 1
            ]
            for document in corpus
        }
        missing = [one for name in wanted for one in wanted[name] if one not in found[name]]
        # Links to words cannot tell two entities that are called alike.
        assert len(missing) <= (4 if style == "tanl" else 0)


@pytest.mark.parametrize("style", STYLES)
def test_nothing_leaks(style, key):
    plain = write_prompts(key, style)
    for record, text in zip(plain, TEXTS.values(), strict=True):
        body = record["user"].removeprefix("Text:\n").removesuffix("\n\nAnswer:")
        assert body.split() == text.split()
    assert write_prompts(key.keep_mentions(key.mention_start < 0), style).text == plain.text
    given = write_prompts(key, style, mentions=True)
    apart = key.with_details(
        mention_entity=key.mention_entity * 0 + range(key.n_mentions),
        entity_document=key.mention_document,
        names=None,
    )
    assert write_prompts(apart, style, mentions=True).text == given.text
    assert given.text != plain.text


def test_pieces_are_put_together_again(key, expected):
    made = write_prompts(key, "markdown", max_tokens=10)
    assert [record["id"] for record in made] == ["a/one#1/2", "a/one#2/2", "b#1/2", "b#2/2"]
    cut = {name: text.rindex("[") for name, text in ANSWERS.items()}
    cut["a/one"] = ANSWERS["a/one"].index("[She")
    pieces = {
        f"{name}#{number}/2": text
        for name, whole in ANSWERS.items()
        for number, text in ((2, whole[cut[name] :]), (1, whole[: cut[name]]))
    }
    assert read(pieces, key)[0] == expected


def test_prompt_command(run, tmp_path):
    key, target = corefeval.example("key"), tmp_path / "prompts.jsonl"
    status, out, _ = run(
        "prompt", key, "--style", "json", "--shots", 2, "--from", key, "-o", target
    )
    assert status == 0 and not out
    records = list(map(json.loads, target.read_text().splitlines()))
    assert [set(one) for one in records] == [{"id", "system", "user"}] * 9
    assert records[0]["user"].count("Answer:") == 3
    assert run("prompt", key, "--shots", 1)[0] == 2
    assert run("prompt", key, "--from", key)[0] == 2
    assert run("prompt", key, "--style", "nonsense")[0] == 2
    status, _, err = run("prompt", key, "--style", "tanl")  # which is read, and not asked for
    assert status == 2
    assert all(name in err for name in ("markdown", "xml", "crac", "json"))
    assert run("prompt", key, "--max-tokens", 0)[0] == 2


def test_what_became_of_mentions_is_saved(tmp_path):
    file = tmp_path / "results.json"
    key, answers = corefeval.example("key"), corefeval.example("tagged")
    result = corefeval.score(key, answers, response_format="llm", lost="strict")
    result.save(file)
    assert corefeval.load(file).answers == result.answers
    text = file.read_text()
    for damage in ('"lost":2', '"lost":-1', '"lost":"x"'):
        file.write_text(text.replace('"lost":1', damage))
        with pytest.raises(InputError, match="damaged"):
            corefeval.load(file)


def test_a_score_that_is_no_number_has_no_bounds(key, tmp_path):
    """Under `nan-ceafe` the CoNLL score of nothing is none: it is saved without bounds."""
    empty = key.keep_mentions(key.mention_start < 0)
    answers = {name: LISTS[name] for name in TEXTS}
    result = corefeval.score(empty, answers, response_format="llm", undefined="nan-ceafe")
    result.save(tmp_path / "result.json")
    assert corefeval.load(tmp_path / "result.json").answers["conll"] == {}
    assert not [notice for notice in result.notices if notice.kind == "llm-bounds"]


def test_answers_with_other_ids_are_paired_by_what_they_say_with_a_notice():
    texts = {
        "a": "Ada met him and she smiled at the harbour .",
        "b": "Bob read the paper while he waited for tea .",
    }
    documents = [
        {"doc_key": name, "sentences": [text.split()], "clusters": [[[0, 0], [5, 5]]]}
        for name, text in texts.items()
    ]
    answers = {"1": "[Bob](#1) read the paper while [he](#1) waited for tea ."}
    result = corefeval.score(documents, answers, response_format="llm")
    assert [n.items for n in result.notices if n.kind == "llm-guessed"] == [("1",)]


def shift_ids(path, shifted):
    """Write answers with the ids of their neighbours, and say what these ids are."""
    with open(path, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    name_of_id = next(field for field in ("custom_id", "id") if field in records[0])
    ids = [record[name_of_id] for record in records]
    for record, neighbour in zip(records, [*ids[1:], ids[0]], strict=True):
        record[name_of_id] = neighbour
    shifted.write_text("\n".join(map(json.dumps, records)))
    return ids


def test_answers_under_the_ids_of_their_neighbours_are_told_with_what_to_check(tmp_path):
    key, path, shifted = corefeval.example("key"), corefeval.example("listed"), tmp_path / "x.jsonl"
    ids = shift_ids(path, shifted)
    notices = corefeval.score(key, shifted, metrics="muc").notices
    assert not any("()" in str(notice) for notice in notices)
    (foreign,) = (notice for notice in notices if notice.kind == "llm-foreign")
    assert foreign.count > len(ids) / 2 and "mostly not in the text" in str(foreign)
    assert str(foreign).endswith("check that each answer has the id of its own document")
    usual = corefeval.score(key, path, metrics="muc").notices
    assert "llm-foreign" not in {notice.kind for notice in usual}


def test_tagged_texts_of_which_none_is_the_one_that_was_asked_about_are_an_error(tmp_path):
    key, shifted = corefeval.example("key"), tmp_path / "x.jsonl"
    shift_ids(corefeval.example("tagged"), shifted)
    with pytest.raises(InputError, match="check that each answer has the id of its own document"):
        corefeval.score(key, shifted, metrics="muc")


def test_notices_about_a_single_mention_are_in_the_singular():
    words = ["Ada", "saw", "Ada", ",", "the", "old", "captain", "."]
    document = {"doc_key": "a", "sentences": [words]}
    answers = {"a": '[["Ada"], ["the old captan"]]'}
    result = corefeval.score([{**document, "clusters": []}], answers, response_format="llm")
    texts = {notice.kind: str(notice) for notice in result.notices}
    assert texts["llm-ambiguous"].endswith(
        "1 string of 2 (50%) with several places in the text; --occurrences in-order decided "
        "which one is meant"
    )
    assert "1 mention placed with changes (similar words: 1)" in texts["llm-changed"]


def test_an_answer_about_a_document_that_has_one_is_not_taken_for_another(tmp_path):
    key, path = corefeval.example("key"), tmp_path / "answers.jsonl"
    ideal = corefeval.write_prompts(key, max_tokens=60).ideal
    names = (
        "bc/kitchen_01; part 000#2/3",
        "bc/kitchen_01; part 000#3/3",
        "bc/museum_01; part 000#1/3",
    )
    path.write_text("".join(json.dumps({"answer": ideal[name]}) + "\n" for name in names))
    corpus = corefeval.read_answers(path, key)
    assert [cover.state for cover in corpus.ledger.documents] == ["read", "read"]
    assert "llm-unknown" in {notice.kind for notice in corpus.notices}
