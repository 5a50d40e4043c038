"""Kinds and classes that files state, and features from a file of their own."""

from __future__ import annotations

import json

import numpy as np
import pytest

import corefeval
from corefeval import CorefEvalError, InputError
from corefeval.features import Features
from corefeval.formats.feature_table import read_features
from standoff_strategies import write_pair

TEXT = "Ada met the captain .\nShe smiled at him in Rome .\n"
KEY = """MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP
MENTION\tT2\t0\t2\t0\t3\tthe captain\tPER\tNOM
MENTION\tT3\t1\t0\t1\t0\tShe\tPER\tPRON
MENTION\tT4\t1\t3\t1\t3\thim\tPER\tPRON
MENTION\tT5\t1\t5\t1\t5\tRome\tGPE\tPROP
COREF\tT1\tAda-1
COREF\tT2\tcaptain-2
COREF\tT3\tAda-1
COREF\tT4\tcaptain-2
"""
RESPONSE = """#begin document (story);
story 0 0 Ada (1)
story 0 1 met -
story 0 2 the (2
story 0 3 captain 2)
story 0 4 . -

story 0 0 She (1)
story 0 1 smiled {}
story 0 2 at -
story 0 3 him (1)
story 0 4 in (3
story 0 5 Rome 3)
story 0 6 . -
#end document
"""
NOVEL = "lea,links,anchors"  # with --by size: the guide's command for novels


@pytest.fixture
def litbank(tmp_path):
    return write_pair(tmp_path, KEY, TEXT)


@pytest.fixture
def response(conll):
    return conll(RESPONSE.format("-"))


@pytest.fixture
def table(tmp_path):
    def made(text):
        path = tmp_path / "kinds.tsv"
        path.write_text(text)
        return str(path)

    return made


KINDS = "document\tstart\tend\tkind\trole\n" + "".join(
    f"story\t{start}\t{end}\t{kind}\t{role}\n"
    for start, end, kind, role in (
        (0, 1, "name", "hero"), (2, 4, "nominal", "villain"), (5, 6, "pronoun", ""),
        (8, 9, "pronoun", "villain"), (10, 11, "name", "place"), (9, 11, "name", "place"),
        (6, 7, "nominal", ""),
    )
)  # fmt: skip


def test_litbank_states_kinds_and_classes(litbank):
    features = Features(corefeval.read(litbank))
    assert features("kind").values() == ["name", "nominal", "pronoun", "pronoun", "name"]
    assert features("noun").values() == ["yes", "yes", "no", "no", "yes"]
    assert features("tag").values() == ["NOUN", "NOUN", "PRONOUN", "PRONOUN", "NOUN"]
    assert features("class").values() == ["PER"] * 4 + ["GPE"]
    assert features("entity_class").values() == ["PER"] * 4 + ["GPE"]
    assert features.tagset_name == "stated"


def test_brat_states_kinds_and_classes(litbank, tmp_path):
    corefeval.write(corefeval.read(litbank), tmp_path / "brat", format="brat")
    features = Features(corefeval.read(tmp_path / "brat" / "story.ann"))
    assert features("kind").values() == ["name", "nominal", "pronoun", "pronoun", "name"]
    assert features("entity_class").values() == ["PER"] * 4 + ["GPE"]


def test_the_command_for_novels_works_on_litbank(litbank, response):
    result = corefeval.score(litbank, response, metrics=NOVEL, by="size, entity_class")
    assert result["anchors"].f1 < 1
    assert "tagset:stated" in result.signature
    assert set(result.slices["entity_class"]) >= {"PER", "GPE"}
    same = corefeval.score(litbank, litbank, metrics=f"{NOVEL},lmuc", by="kind, entity_class")
    assert {same[name].f1 for name in same.metrics} == {1.0}


def test_kinds_that_nobody_states_are_nominal_with_a_notice(litbank, conll):
    more = RESPONSE.format("(9)").replace("at -", "at (8)").replace("in (3", "in (3)|(7")
    more = more.replace("Rome 3)", "Rome 7)|(6)").replace("met -", "met (5)")
    more = more.replace("story 0 1 met", "story 0 1 She")  # another text, to have a known word
    result = corefeval.score(litbank, conll(more), metrics=NOVEL, by="kind", ignore_tokens=True)
    told = [notice for notice in result.notices if notice.kind == "guessed-kinds"]
    assert {notice.message.split()[0] for notice in told} == {"noun", "kind"}
    assert {notice.count for notice in told} == {5}
    assert "story.ann" in told[0].message


def test_a_kind_that_nobody_states_is_nominal():
    some = np.array(["PRON", ""], dtype=object)
    corpus = corefeval.corpus_from_arrays(entity=[0, 0], start=[0, 5])
    corpus = corpus.with_details(features={"mention_type": some})
    features = Features(corpus)
    assert features("kind").values() == ["pronoun", "nominal"]
    assert features("noun").values() == ["no", "yes"]
    told = [notice for notice in features.notices if notice.kind == "guessed-kinds"]
    assert [notice.count for notice in told] == [1, 1]
    assert "1 mention of the corpus: (5, 6)" in told[0].message
    assert "--features" in told[0].message


def test_tags_of_the_key_count_before_what_a_response_states():
    tagged = corefeval.read(corefeval.example("key"))
    stated = np.array(["PRON"] * tagged.n_mentions, dtype=object)
    states = tagged.with_details(features={"mention_type": stated})
    kinds = Features(tagged, texts=(tagged, states))("kind")
    assert kinds.values() == Features(tagged)("kind").values()


def test_features_from_a_file(litbank, response, table):
    path = table(KINDS)
    result = corefeval.score(litbank, response, metrics=NOVEL, by="kind, role", features=path)
    given = {name: read_features(path)[name] for name in ("kind", "role")}
    again = corefeval.score(litbank, response, metrics=NOVEL, by="kind, role", features=given)
    for role, one in result.slices["role"].items():
        assert one["lea"] == again.slices["role"][role]["lea"]
    assert result["anchors"] == again["anchors"]
    assert "features:kind,role" in result.signature
    told = {(n.kind, n.count) for n in result.notices if "kinds.tsv" in n.message}
    assert told == {("unused-features", 1), ("unstated-features", 1)}


def test_features_by_the_ids_that_the_key_has(litbank, response, table):
    path = table("document\tmention\trole\nstory\tT1\thero\nstory\tT4\tvillain\n")
    result = corefeval.score(litbank, response, metrics="lea", by="role", features=path)
    assert set(result.slices["role"]) == {"hero", "villain", "none"}


def test_features_of_documents(litbank, response, table):
    path = table("document\tgenre\tauthor\nstory\tnovel\tAusten\n")
    result = corefeval.score(litbank, response, metrics="lea", by="genre, author", features=path)
    assert set(result.slices["genre"]) == {"novel"}
    assert set(result.slices["author"]) == {"Austen"}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "not the header"),
        ("kind\nname\n", 1, "not the header"),
        ("document\tstart\tkind\n", 1, "not the header"),
        ("document\tstart\tend\n", 1, "not the header"),
        ("document\tstart\tend\tkind\tkind\n", 1, "not the header"),
        ("document\tstart\tend\tkind\nstory\t0\t1\n", 2, "3 columns"),
        ("document\tstart\tend\tkind\nstory\t1\t1\tname\n", 2, "about nothing"),
        ("document\tstart\tend\tkind\nstory\tx\t1\tname\n", 2, "about nothing"),
        ("document\tmention\tkind\nstory\t\tname\n", 2, "about nothing"),
        ("document\tgenre\n\tnovel\n", 2, "about nothing"),
        ("document\tstart\tend\tkind\n\nstory\t0\t1\tNAME\n", 3, "an unknown kind"),
        ("document\tmention\tx\nstory\tT1\ta\nstory\tT1\tb\n", 3, "appears twice"),
        ("document\tmention\tx\n", None, "without features"),
        ("document\tmention\tx\nother\tT1\ta\n", None, "none of the documents"),
    ],
)
def test_mistakes_in_a_file_of_features_are_named(litbank, response, table, text, line, problem):
    path = table(text)
    with pytest.raises(InputError, match=problem) as error:
        corefeval.score(litbank, response, features=path)
    assert (error.value.file, error.value.line) == (path, line)
    assert error.value.expected


def test_a_file_of_features_that_is_not_there(litbank, response):
    with pytest.raises(CorefEvalError, match="cannot be read"):
        corefeval.score(litbank, response, features="nowhere.tsv")


@pytest.mark.parametrize("command", ["score", "errors", "compare", "report"])
def test_commands_take_features_from_a_file(command, litbank, response, table, tmp_path, run):
    more = {
        "score": ["--metrics", NOVEL, "--by", "role"],
        "errors": ["--by", "role"],
        "compare": [f"b={litbank}", "--metrics", NOVEL],
        "report": ["--output", str(tmp_path / "out.html"), "--by", "role"],
    }[command]
    printed = run(command, litbank, response, *more, "--features", table(KINDS))
    assert "kinds.tsv: 1 line" in printed[2]
    assert printed[0] == 0


def test_stats_count_features_of_a_file(litbank, table, run):
    printed = run("stats", litbank, "--features", table(KINDS), "--format", "json")
    (found,) = json.loads(printed[1])
    assert "role is not stated of 1 mention" in printed[2]
    assert found["kinds"]["role"] == {"": 1, "villain": 2, "hero": 1, "place": 1}


def test_saved_results_take_no_features(litbank, response, table, tmp_path, run):
    saved = str(tmp_path / "kept.json")
    run("score", litbank, response, "--save", saved)
    status, _, printed = run("score", saved, "--features", table(KINDS))
    assert status
    assert "without a file of features" in printed


def test_an_empty_path_of_features_is_one_clear_error(run):
    key, response = (corefeval.example(name) for name in ("key", "eager"))
    status, _, err = run("score", key, response, "--features", "", "--by", "mine")
    assert (status, err.count("error:"), "features is empty" in err) == (2, 1, True)
