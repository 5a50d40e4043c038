"""Further spellings of the conventions, and answers that nobody should write."""

from __future__ import annotations

import json

import pytest

import corefeval
from answer_keys import WORDS, key_of, placed
from answer_writers import WRITERS
from corefeval.diagnostics import InputError
from corefeval.formats.answers.prompts import passage_of

TAGGED = {(0, 1, "1"), (2, 7, "2"), (5, 7, "3"), (8, 9, "1"), (10, 11, "2"), (13, 14, "2")}
LISTED = {(0, 1, "0"), (8, 9, "0"), (2, 7, "1"), (10, 11, "1"), (13, 14, "1")}
STRINGS = '"the captain of the Argo", "him", "he"'


def tagged(opening: str, closing: str) -> str:
    """The text with tags, of which `N` is the number."""
    parts = [f"{opening.replace('N', str(n))}X{closing.replace('N', str(n))}" for n in range(4)]
    text = "1 met 2. <1> greeted <2>, and {2} bowed."
    inner = parts[3].replace("X", "the Argo")
    words = {"1": "Ada", "2": f"the captain of {inner}", "<1>": "She", "<2>": "him", "{2}": "he"}
    for mark in ("<1>", "<2>", "{2}", "1", "2"):
        text = text.replace(mark, f"\0{mark}\0", 1)
    pieces = text.split("\0")
    numbers = {mark: int(mark.strip("<>{}")) for mark in words}
    pieces = [parts[numbers[p]].replace("X", words[p]) if p in words else p for p in pieces]
    return "".join(pieces)


@pytest.mark.parametrize("format", ["llm", "own"])
@pytest.mark.parametrize(
    ("own", "opening", "closing"),
    [
        ("llm-xml", f"<{name} {attribute}N{end}>", f"</{name}>")
        for name in ("m", "mention", "entity", "COREF", "rs", "span")
        for attribute, end in (('id="', '"'), ("REF=", ""), ("cluster='", "' b=1"), ("entity=", ""))
    ]
    + [
        ("llm-xml", "<eN>", "</e>"),
        ("llm-xml", "<cN>", "</cN>"),
        ("llm-seq2seq", "<m> ", " <cN>"),
        ("llm-seq2seq", "<m> ", " </mN>"),
        ("llm-seq2seq", "<M> ", " | N </M> <copy>"),
        ("llm-subscript", "[", "]_eN"),
        ("llm-subscript", "[", "]$_{N}$"),
        ("llm-bracket", "[N| ", " ]"),
        ("llm-bracket", "[EN: ", "]"),
        ("llm-colon", "[", " : N]"),
        ("llm-hash", "[", "] #N"),
        ("llm-curly", "{{", " | eN}}"),
        ("llm-mask", "<m>", " </m>#N"),
        ("llm-markdown", "[", "] (#Cluster N)"),
    ],
)
def test_tags(format, own, opening, closing):
    answer = tagged(opening, closing)
    key = key_of({"tokens": WORDS})
    corpus = corefeval.read_answers({"d": answer}, key, format=own if format == "own" else "llm")
    assert placed(corpus) == TAGGED, answer


@pytest.mark.parametrize(
    "answer",
    [
        f'[("Ada", "She"), ({STRINGS})]',
        f'["Ada", "She"]\n[{STRINGS}]',
        f'{{"entities": [{{"name": "A", "mentions": ["Ada", "She"]}}, {{"items": [{STRINGS}]}}]}}',
        f'1. "Ada", "She"\n2. {STRINGS}',
        f'- Ada: "Ada", "She"\n- the man: {STRINGS}',
        f'Cluster 1: ["Ada", "She"]\nCluster 2: [{STRINGS}]',
        "**Entity 1:** Ada, She\n**Entity 2:** the captain of the Argo, him, he",
    ],
)
def test_lists(answer):
    assert placed(corefeval.read_answers({"d": answer}, key_of({"tokens": WORDS}))) == LISTED


def test_a_number_beyond_all_texts_is_no_place():
    answer = '[["Ada", ' + "9" * 5000 + "]]"
    corpus = corefeval.read_answers({"d": answer}, key_of({"tokens": WORDS}))
    assert {span[:2] for span in placed(corpus)} == {(0, 1)}


@pytest.mark.parametrize(
    ("format", "answer"),
    [
        ("llm", "<think>" * 40_000),
        ("llm", "a ## " * 40_000),
        ("llm", '- {"":\n- Ada\n'),
        ("llm-markdown", "] " * 40_000 + "](#1)"),
        ("llm-bracket", "(e1 x " + "(" * 40_000 + "]" * 40_000),
        ("llm-crac", "The|[e1 " * 4_000 + "x" + "|e1]" * 4_000),
    ],
    ids=lambda value: value[:12],
)
def test_nonsense_is_read_to_its_end(format, answer):
    ledger = corefeval.read_answers({"d": answer}, key_of({"tokens": WORDS}), format=format).ledger
    assert ledger.written == sum(ledger.counts.values())


def test_what_is_not_there_is_empty_and_has_no_convention(tmp_path):
    file = tmp_path / "answers.jsonl"
    file.write_text('{"id": "d", "answer": null}\n')
    corpus = corefeval.read_answers(file, key_of({"tokens": WORDS}))
    assert [notice.kind for notice in corpus.notices] == ["llm-share", "llm-empty"]


def test_answers_about_nothing_are_one_error():
    with pytest.raises(InputError, match="no answer is about a document") as caught:
        corefeval.read_answers({"x": "[Ada](#1)", "y": "[he](#1)"}, key_of({"tokens": WORDS}))
    assert "‘x’, ‘y’" in str(caught.value)


def test_a_loop_over_what_the_key_says_twice_is_no_copy_of_the_second():
    passage = "does the change that these symbols show violate any of the ideas of the old theory"
    key = f"here it begins with some words : {passage} ? the solution is this : {passage} ? it ends"
    loop = f"[e1 {passage}] "
    answer = f"here it begins with some words : {loop * 8}"
    corpus = corefeval.read_answers({"d": answer}, key_of({"tokens": key.split()}))
    assert [(m.start, m.end) for document in corpus for m in document.mentions] == [(7, 23)]
    assert corpus.ledger.repeated == 7


def test_a_string_that_is_listed_twice_for_all_its_places_is_repeated():
    key = key_of({"tokens": ["he", "and", "he", "left"]})
    corpus = corefeval.read_answers({"d": '[["he", "he"], ["he"]]'}, key, occurrences="all")
    assert placed(corpus) == {(0, 1, "0"), (2, 3, "0")}
    assert [entry.state for entry in corpus.ledger.entries] == ["placed", "repeated", "lost"]


@pytest.mark.parametrize("style", WRITERS)
def test_zeros_are_asked_for_and_read_back(style, tmp_path):
    rows = ["Los (e1", "jugadores e1)", "dijeron -", "que -", "4.1 (e1)", "ganan -", ". -"]
    lines, number = ["# newdoc id = d", "# global.Entity = eid"], 0
    for word, entity in map(str.split, rows):
        number += word != "4.1"
        place, form = ("4.1", "_") if word == "4.1" else (str(number), word)
        deps = "5:nsubj" if word == "4.1" else "_"
        tree = ["_", "_"] if word == "4.1" else [str(number - 1), "dep" if number > 1 else "root"]
        misc = "_" if entity == "-" else f"Entity={entity}"
        lines.append("\t".join([place, form, "_", "_", "_", "_", *tree, deps, misc]))
    file = tmp_path / "key.conllu"
    file.write_text("\n".join(lines) + "\n\n")
    key = corefeval.read(file)
    name, passage = str(key[0].id), passage_of(key[0])
    assert passage.words == ["Los", "jugadores", "dijeron", "que", "##", "ganan", "."]
    corpus = corefeval.read_answers({name: WRITERS[style](passage)}, key)
    assert {span[:2] for span in placed(corpus)} == {(0, 2), (4, 5)}
    assert corpus.ledger.lost == 0


@pytest.mark.parametrize(
    "answer",
    [
        "<think>" + "Who is she in this line?\n" * 8_000 + '</think>[["Ada", "She"]]',
        "</think>" * 20_000 + '[["Ada", "She"]]',
        "<think>" + "Who is she? " * 16_000 + '</think>Chains: [["Ada", "She"]]',
        json.dumps({"Ada": ["Ada", "She"]} | {str(number): ["x"] for number in range(4_000)}),
    ],
    ids=["thoughts", "ends of thoughts", "thoughts on one line", "names"],
)
def test_long_answers_are_read_without_quadratic_time(answer):
    key = {"doc_key": "d", "sentences": [["Ada", "met", "him", "."], ["She", "smiled", "."]]}
    result = corefeval.score(
        [{**key, "clusters": [[[0, 0], [4, 4]]]}], {"d": answer}, response_format="llm"
    )
    assert result["muc"].recall == 1
