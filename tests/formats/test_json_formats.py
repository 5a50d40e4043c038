"""JSON of every kind: what is read."""

from __future__ import annotations

import io
import json

import pytest

import corefeval
import json_records
from corefeval import DocumentId, InputError, PairingError
from corefeval.model import CorpusBuilder
from corefeval.model.text_tokens import text_of
from json_records import (
    EXPECTED,
    IN_TOKENS,
    INCLUSIVE,
    KINDS,
    RECORDS,
    SENTENCES,
    TEXT,
    WORDS,
    changed,
    entities,
    kinds_of,
    names,
    written,
)

file = json_records.file


@pytest.mark.parametrize("format", [True, False], ids=["named", "told by its keys"])
@pytest.mark.parametrize("kind", IN_TOKENS)
def test_every_kind_in_tokens(file, kind, format):
    corpus = corefeval.read(file(RECORDS[kind]), format=kind if format else None)
    assert entities(corpus) == EXPECTED
    assert corpus.documents == (DocumentId("s"),)
    assert corpus[0].words == WORDS
    assert corpus.notices == ()


@pytest.mark.parametrize("format", [None, "fastcoref"])
def test_a_text_has_characters_for_positions(file, format):
    corpus = corefeval.read(file(RECORDS["fastcoref"]), format=format)
    assert entities(corpus) == {frozenset({(0, 3), (20, 23)}), frozenset({(8, 19)})}
    assert text_of(corpus.tokens, 0) == TEXT
    assert corpus[0].n_tokens == len(TEXT)
    with pytest.raises(InputError, match="a text without tokens"):
        corpus[0].words


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{0}\n{1}\n", id="lines"),
        pytest.param("\n{0}\r\n\n  {1}", id="blank lines, CRLF, no final newline"),
        pytest.param("[{0}, {1}]", id="a list"),
        pytest.param("[\n  {0},\n\n{1}\n]\n", id="a list over many lines"),
        pytest.param("\ufeff{0}\n{1}", id="a byte order mark"),
        pytest.param("{2}\n{3}", id="objects over many lines"),
    ],
)
def test_shapes_of_files(file, text):
    one, two = RECORDS["e2e"], changed("preco", id="t")
    texts = [json.dumps(one), json.dumps(two), json.dumps(one, indent=2), json.dumps(two, indent=1)]
    corpus = corefeval.read(file(text.format(*texts)))
    assert corpus.documents == (DocumentId("s"), DocumentId("t"))
    assert entities(corpus, 0) == entities(corpus, 1) == EXPECTED


def test_one_object_over_many_lines(file):
    assert entities(corefeval.read(file(json.dumps(RECORDS["e2e"], indent=1)))) == EXPECTED


def test_all_kinds_in_one_file(file):
    records = [RECORDS[kind] | {"doc_key": kind} for kind in KINDS]
    corpus = corefeval.read(file(*records))
    assert [d.name for d in corpus.documents] == list(KINDS)
    assert all(entities(corpus, kind) == EXPECTED for kind in IN_TOKENS)
    key = corefeval.read(file(*[RECORDS["e2e"] | {"doc_key": k} for k in KINDS], name="key.json"))
    assert corefeval.score(key, corpus)["conll"].f1 == 1.0
    wrong = [*records[:-1], records[-1] | {"text": TEXT.replace("smiled", "smiles")}]
    with pytest.raises(PairingError, match=r"fastcoref.* has another text"):
        corefeval.score(key, file(*wrong, name="wrong.json"))
    wrong[0] = wrong[0] | {"sentences": [["Eva", *SENTENCES[0][1:]], SENTENCES[1]]}
    with pytest.raises(PairingError, match=r"e2e.* has another text"):
        corefeval.score(key, file(wrong[0], *records[1:], name="wrong.json"))


def test_texts_and_tokens_are_written_together(file, tmp_path):
    corpus = corefeval.read(file(RECORDS["fastcoref"], changed("e2e", doc_key="t")))
    for kind in KINDS:
        corefeval.write(corpus, tmp_path / "x.json", format=kind)
        again = corefeval.read(tmp_path / "x.json")
        key = corefeval.read(file(RECORDS["e2e"], changed("e2e", doc_key="t"), name="key.json"))
        assert corefeval.score(key, again)["conll"].f1 == 1.0


def test_names_of_documents_without_an_id(file):
    nameless = changed("maverick", "doc_key")
    assert corefeval.read(file(nameless, name="story.json")).documents == (DocumentId("story"),)
    several = corefeval.read(file(nameless, RECORDS["crac-json"], nameless, name="story.json"))
    assert [d.name for d in several.documents] == ["story_0", "s", "story_2"]


@pytest.mark.parametrize(
    "value, name", [(12, "12"), ("", ""), (None, "file"), ("bc/x_0", "bc/x_0")]
)
def test_ids(file, value, name):
    corpus = corefeval.read(file(changed("e2e", doc_key=value)))
    assert corpus.documents == (DocumentId(name),)


def test_a_doc_key_with_its_part_pairs_with_that_part(file):
    key = corefeval.read(corefeval.example())
    stream = io.BytesIO()
    corefeval.write(key, stream, format="e2e")
    identifiers = [json.loads(line)["doc_key"] for line in stream.getvalue().splitlines()]
    assert identifiers == [f"{d.name}_{d.part}" for d in key.documents]


def test_sentences_are_kept_and_empty_ones_are_nothing(file):
    record = changed("preco", sentences=[[], SENTENCES[0], [], SENTENCES[1], []])
    record["mention_clusters"] = [[[1, 0, 1], [3, 0, 1]], [[1, 2, 4]], []]
    corpus = corefeval.read(file(record))
    assert corpus[0].sentences == SENTENCES
    assert entities(corpus) == EXPECTED


def test_tokens_in_sentences(file):
    for kind in ("crac-json", "maverick"):
        corpus = corefeval.read(file(changed(kind, tokens=SENTENCES)))
        assert corpus[0].sentences == SENTENCES
        assert entities(corpus) == EXPECTED


def test_repeated_spans_are_kept_for_the_policy_to_decide(file):
    corpus = corefeval.read(file(changed("e2e", clusters=[[[0, 0], [0, 0]], [[0, 0]]])))
    assert corpus.n_mentions == 3


def test_documents_without_tokens_or_mentions(file):
    corpus = corefeval.read(file(changed("e2e", sentences=[], clusters=[])))
    assert corpus[0].n_tokens == 0
    assert corpus.n_mentions == 0


def test_predictions(file):
    path = file(changed("e2e", "clusters", predicted_clusters=INCLUSIVE))
    assert entities(corefeval.read(path)) == EXPECTED
    both = corefeval.read(file(changed("e2e", predicted_clusters=[])))
    assert entities(both) == EXPECTED
    assert kinds_of(both.notices) == ["other-clusters"]


@pytest.mark.parametrize(
    "speakers",
    [
        [["A", "A", "A", "A"], ["B", "B"]],
        ["A", "A", "A", "A", "B", "B"],
        ["A", "B"],
        [["A"] * 4, "B"],
    ],
)
def test_speakers(file, speakers):
    corpus = corefeval.read(file(changed("e2e", speakers=speakers), changed("e2e", doc_key="t")))
    assert corpus[0].speakers == ["A"] * 4 + ["B"] * 2
    assert corpus[1].speakers == [""] * 6
    assert corpus.notices == ()
    stream = io.BytesIO()
    assert corefeval.write(corpus, stream, format="e2e") == ()
    assert json.loads(stream.getvalue().splitlines()[0])["speakers"] == [["A"] * 4, ["B"] * 2]


@pytest.mark.parametrize("speakers", [None, "A", ["A"], [["A"], ["B"]], [1, 2], [["A"] * 4, None]])
def test_speakers_that_do_not_fit_are_left_out_and_told(file, speakers):
    corpus = corefeval.read(file(changed("e2e", speakers=speakers)))
    assert kinds_of(corpus.notices) == ["unread-speakers"]
    assert entities(corpus) == EXPECTED


@pytest.mark.parametrize(
    "characters, expected",
    [
        ([{"name": "Ada", "cluster": INCLUSIVE[0]}], ["Ada", "1"]),
        ([{"name": "The captain", "cluster": INCLUSIVE[1]}], ["0", "The captain"]),
        (["Ada", "The captain"], ["Ada", "The captain"]),
        (["Ada", "Ada"], ["Ada", "Ada (2)"]),
        ([{"name": "1", "cluster": INCLUSIVE[0]}], ["1", "1 (2)"]),
    ],
)
def test_characters_name_entities(file, characters, expected):
    corpus = corefeval.read(file(changed("bookcoref", characters=characters, gutenberg_key="42")))
    assert names(corpus) == expected
    assert corpus.notices == ()
    assert corpus[0].metadata == {"gutenberg_key": "42"}


@pytest.mark.parametrize(
    "characters",
    [
        ["Ada"],
        {"Ada": 3},
        "Ada",
        [{"name": "Eva", "cluster": [[1, 1]]}],
        [{"name": "Eva", "cluster": ["?", None, 3]}],
        [{"who": "Ada"}],
        [{"name": "Eva", "cluster": [[[1], 2]]}],
    ],
)
def test_characters_that_name_no_entity_are_kept_as_metadata(file, characters):
    corpus = corefeval.read(file(changed("bookcoref", characters=characters)))
    assert names(corpus) == ["0", "1"]
    assert kinds_of(corpus.notices) == ["unplaced-characters"]
    assert json.loads(corpus[0].metadata["characters"]) == characters


def test_characters_alone(file):
    characters = [{"name": str(n), "cluster": cluster} for n, cluster in enumerate(INCLUSIVE)]
    corpus = corefeval.read(file(changed("bookcoref", "clusters", characters=characters)))
    assert entities(corpus) == EXPECTED


def test_blank_tokens_are_tokens(file):
    sentences = [["\n", "Ada", " ", "slept"], ["\n"], ["She", "woke"]]
    record = changed("bookcoref", sentences=sentences, clusters=[[[1, 1], [5, 5]]], characters=[])
    corpus = corefeval.read(file(record))
    assert corpus[0].n_tokens == 7
    assert [m.text for m in corpus[0].mentions] == ["Ada", "She"]
    text = {"doc_key": "s", "text": "Ada slept She\twoke", "clusters": [[[0, 3], [10, 13]]]}
    assert corefeval.score(corpus, file(text, name="r.json"))["b3"].f1 == 1.0


def test_zeros(file):
    tokens = ["Ada", "##ella", "##", "#3", "x", "y"]
    corpus = corefeval.read(file(changed("crac-json", tokens=tokens)))
    assert corpus[0].words == tokens
    assert corpus[0].column("empty") == ["", "1", "1", "", "", ""]
    stream = io.BytesIO()
    assert corefeval.write(corpus, stream, format="crac-json") == ()
    assert json.loads(stream.getvalue())["tokens"] == tokens
    plain = corefeval.read(file(changed("maverick", tokens=tokens)))
    assert kinds_of(corefeval.write(plain, io.BytesIO(), format="crac-json")) == ["false-zeros"]


def test_zeros_without_a_mark_get_one(tmp_path):
    builder = CorpusBuilder()
    builder.document("d", words=["a", "b", "_"], columns={"empty": ["", "1", "1"]})
    again, notices = written(builder.build(), "crac-json", tmp_path / "x.json")
    assert [(n.kind, n.count) for n in notices] == [("zero-words", 2)]
    assert again[0].words == ["a", "##b", "##"]
