"""Responses in characters find the tokens of their key."""

from __future__ import annotations

import json

import pytest

import corefeval
import json_records
from corefeval import InputError, PairingError
from corefeval.model import CorpusBuilder, tokens_of_texts
from corefeval.model.text_tokens import tokenise
from corefeval.pairing.texts import put_texts_on_tokens
from json_records import (
    INCLUSIVE,
    RECORDS,
    TEXT,
    WORDS,
    changed,
    in_characters,
    kinds_of,
)

file = json_records.file


@pytest.mark.parametrize("text", [TEXT, "Adametthecaptain\u00a0\u2003She\n\n smiled  ", " " + TEXT])
def test_white_space_does_not_matter(file, text):
    spans = [(text.index(word), text.index(word) + len(word)) for word in ("Ada", "She")]
    response = file(in_characters(text, *spans), name="r.json")
    result = corefeval.score(file(changed("e2e", clusters=INCLUSIVE[:1])), response)
    assert result["conll"].f1 == 1.0
    assert result.notices == ()


def test_words_with_blanks(file):
    key = file(changed("maverick", tokens=["New  York", "x"], clusters_token_offsets=[[[0, 0]]]))
    for text in ("New York x", "NewYork x"):
        response = file(in_characters(text, (0, text.index(" x"))), name="r.json")
        assert corefeval.score(key, response)["b3"].f1 == 1.0


def test_mentions_within_words_are_widened_and_counted(file):
    key = corefeval.read(file(changed("e2e", clusters=INCLUSIVE[:1])))
    response = file(in_characters(TEXT, (1, 2), (18, 22), (7, 8)), name="r.json")
    result = corefeval.score(key, response)
    assert [(n.kind, n.count) for n in result.notices] == [
        ("widened-mentions", 2),
        ("blank-mentions", 1),
    ]
    assert result["mentions"].recall == 0.5


def test_widening_keeps_mentions_in_textual_order(file):
    key = corefeval.read(file(RECORDS["e2e"]))
    response = file(in_characters(TEXT, (0, 3), (1, 7), (2, 3)), name="r.json")
    _, moved, *_ = put_texts_on_tokens(key, corefeval.read(response), "same")
    assert [m.span for m in moved[0].mentions] == [(0, 2), (0, 1), (0, 1)]
    assert moved[0].words == WORDS


@pytest.mark.parametrize(
    "text, found, expected",
    [
        (TEXT.replace("captain", "capitan"), "‘capitan\\nShe smiled’ at character 12", "token 3"),
        (TEXT[:-3], "‘smi’", "token 5, ‘smiled’"),
        (TEXT[:-7], "the end of the text at character 23", "token 5, ‘smiled’"),
        (TEXT + " again", "‘again’ at character 31", "the end of the text after 6 tokens"),
        ("", "the end of the text", "token 0, ‘Ada’"),
    ],
)
def test_another_text(file, text, found, expected):
    key, response = file(RECORDS["e2e"]), file(in_characters(text), name="r.json")
    with pytest.raises(PairingError, match="document ‘s’ has another text") as caught:
        corefeval.score(key, response)
    assert found in caught.value.found
    assert expected in caught.value.expected
    assert caught.value.file == response
    result = corefeval.score(key, response, ignore_tokens=True)
    assert "unplaced-documents" in kinds_of(result.notices)
    assert result["mentions"].f1 == 0.0


def test_mentions_with_gaps_and_heads_find_their_tokens(file):
    builder = CorpusBuilder()
    text = builder.document("s", n_tokens=len(TEXT))
    text.mention("a", 0, 19, gaps=[(3, 11)], head=12, features={"n": "1"})  # Ada … captain
    text.mention("a", 0, 19, gaps=[(2, 6)], features={"n": "2"})  # Ad … t the captain
    text.mention("a", 4, 23, gaps=[(7, 11), (13, 20)], features={"n": "3"})  # met … c … She
    text.mention("a", 4, 23, gaps=[(7, 11), (12, 20)], features={"n": "5"})  # met … She
    text.mention("a", 20, 30, gaps=[(23, 24)], features={"n": "4"})  # She smiled
    response = builder.build(tokens_of_texts([TEXT]))
    key = corefeval.read(file(RECORDS["e2e"]))
    _, moved, _, notices = put_texts_on_tokens(key, response, "same")
    found = {m.features["n"]: (m.positions, m.head) for m in moved[0].mentions}
    assert found == {
        "1": ((0, 3), 3),
        "2": ((0, 1, 2, 3), None),
        "3": ((1, 3, 4), None),
        "4": ((4, 5), None),
        "5": ((1, 4), None),
    }
    assert moved.gaps.shape == (3, 3)
    assert [(n.kind, n.count) for n in notices] == [("widened-mentions", 2)]


def test_a_gap_behind_white_space_is_the_edge_of_its_mention(file):
    """Pieces of white space alone: the mention is its other pieces, or nothing."""
    builder = CorpusBuilder()
    text = builder.document("s", n_tokens=len(TEXT))
    text.mention("a", 3, 19, gaps=[(4, 8)])  # a blank … the captain
    text.mention("a", 0, 8, gaps=[(3, 7)])  # Ada … a blank
    text.mention("a", 3, 8, gaps=[(4, 7)])  # a blank … a blank
    response = builder.build(tokens_of_texts([TEXT]))
    key = corefeval.read(file(RECORDS["e2e"]))
    _, moved, _, notices = put_texts_on_tokens(key, response, "same")
    assert [(m.span, m.positions) for m in moved[0].mentions] == [((0, 1), (0,)), ((2, 4), (2, 3))]
    assert moved.gaps.size == 0
    assert [(n.kind, n.count) for n in notices] == [("blank-mentions", 1)]
    assert [m.words for m in tokenise(response)[0].mentions] == [["Ada"], ["the", "captain"]]


def test_zeros_may_be_in_the_text_or_not(file):
    tokens = ["Ada", "##ella", "slept"]
    record = {"doc_id": "s", "tokens": tokens, "clusters_token_offsets": [[[0, 0], [2, 2]]]}
    key = file(record)
    for text in ("Ada slept", "Ada ##ella slept"):
        spans = (0, 3), (len(text) - 5, len(text))
        response = file(in_characters(text, *spans), name="r.json")
        assert corefeval.score(key, response)["muc"].f1 == 1.0


def test_keys_that_cannot_take_characters(file):
    response = file(in_characters(TEXT, (0, 3)), name="r.json")
    wordless = corefeval.corpus_from_arrays(entity=[0], start=[0], document_ids=["s"])
    with pytest.raises(PairingError, match="no words"):
        corefeval.score(wordless, response)
    with pytest.raises(InputError, match="plain Python"):
        corefeval.score({"s": [["a", "b"]]}, response)
    numbered = file("#begin document (s);\n0 (1)\n1 -\n#end document\n", name="key.conll")
    with pytest.raises(PairingError, match="no words"):
        corefeval.score(numbered, response)


def test_a_key_in_characters(file):
    key = file(RECORDS["fastcoref"], name="key.json")
    assert corefeval.score(key, file(RECORDS["e2e"]))["conll"].f1 == 1.0
    part = file(in_characters(TEXT, (0, 2)), name="part.json")
    with pytest.raises(PairingError, match="the key is a text without tokens") as caught:
        corefeval.score(part, file(RECORDS["e2e"], name="response.json"))
    assert "1 mention of the key with an edge inside a token" in caught.value.found
    assert corefeval.score(key, key)["conll"].f1 == 1.0
    other = file(changed("fastcoref", text=TEXT.replace("met", "saw")), name="other.json")
    with pytest.raises(PairingError, match="another text") as caught:
        corefeval.score(key, other)
    assert "‘saw the captain" in caught.value.found
    result = corefeval.score(key, other, ignore_tokens=True)
    assert kinds_of(result.notices) == ["other-tokens"]


def test_missing_documents_in_characters(file):
    key = file(RECORDS["e2e"], changed("e2e", doc_key="t"))
    result = corefeval.score(key, file(RECORDS["fastcoref"], name="r.json"))
    assert kinds_of(result.notices) == ["missing-documents"]
    assert result["mentions"].recall == 0.5
    result = corefeval.score(
        file(RECORDS["fastcoref"], changed("fastcoref", id="t"), name="k.json"),
        file(RECORDS["fastcoref"], name="r.json"),
    )
    assert result["mentions"].recall == 0.5


def test_a_folder_of_texts(file, tmp_path):
    (tmp_path / "texts").mkdir()
    key = file(RECORDS["e2e"], changed("e2e", doc_key="t"), changed("e2e", doc_key="u"))
    for name in "stu":
        record = changed("fastcoref", "id")
        (tmp_path / "texts" / f"{name}.json").write_text(json.dumps(record))
    result = corefeval.score(key, str(tmp_path / "texts"))
    assert result["conll"].f1 == 1.0
    assert result.notices == ()


def test_all_documents_as_one_do_not_mix_characters_with_tokens(file):
    """Positions are compared as they are, which would find nothing in common."""
    words, text = file(RECORDS["e2e"]), file(in_characters(TEXT, (0, 3), (16, 19)), name="r.json")
    for sides in ((words, text), (text, words)):
        with pytest.raises(PairingError, match="count different things") as caught:
            corefeval.score(*sides, protocol="pairing:one")
        assert 'leave out pairing="one"' in str(caught.value)
    assert corefeval.score(text, text, protocol="pairing:one")["conll"].f1 == 1.0
