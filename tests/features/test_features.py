"""What is known of mentions: each feature, where its values come from, and what is missing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import corefeval
from conftest import ROOT
from corefeval import DocumentId, UsageError
from corefeval.features import (
    FEATURES,
    FeatureRequest,
    Features,
    MissingFeatureError,
    level_of,
)
from corefeval.features.declarations import parse_bins
from corefeval.model import corpus_from_arrays, corpus_from_entities
from feature_corpora import corpus_from_words, values

CHAIN = """\
#begin document (nw/one); part 000
nw/one 0 0 Ann NNP (S(NP* ann - - ann (PERSON) (0)
nw/one 0 1 saw VBD (VP* see - - ann * -
nw/one 0 2 the DT (NP* the - - ann * (1
nw/one 0 3 Oslo NNP * oslo - - ann (GPE) (2)
nw/one 0 4 train NN *))) train - - ann * 1)

nw/one 0 0 She PRP (S(NP*) she - - bob * (0)
nw/one 0 1 took VBD (VP* take - - bob * -
nw/one 0 2 it PRP (NP*))) it - - bob * (1)
#end document
#begin document (bc/two); part 000
bc/two 0 0 Bob NNP (NP*) bob - - - (PERSON) (7)
#end document
"""


@pytest.fixture
def chain(conll):
    return corefeval.read(conll(CHAIN, "chain.conll"))


@pytest.mark.parametrize(
    ("feature", "expected"),
    [
        ("kind", ["name", "nominal", "name", "pronoun", "pronoun", "name"]),
        ("noun", ["yes", "yes", "yes", "no", "no", "yes"]),
        ("tag", ["NOUN", "NOUN", "NOUN", "PRP", "PRP", "NOUN"]),
        ("head_tag", ["NNP", "NN", "NNP", "PRP", "PRP", "NNP"]),
        ("class", ["PERSON", None, "GPE", None, None, "PERSON"]),
        ("entity_class", ["PERSON", None, "GPE", "PERSON", None, "PERSON"]),
        ("entity_class(vote)", ["PERSON", None, "GPE", "PERSON", None, "PERSON"]),
        ("head", ["ann", "train", "oslo", "she", "it", "bob"]),
        ("words", ["ann", "the oslo train", "oslo", "she", "it", "bob"]),
        ("length", ["1", "3", "1", "1", "1", "1"]),
        ("length(1, 2+)", ["1", "2+", "1", "1", "1", "1"]),
        ("chain_position", ["1", "1", "1", "2", "2", "1"]),
        ("distance", [None, None, None, "3", "3", None]),
        ("distance(sentences)", [None, None, None, "1", "1", None]),
        ("distance(sentences, 0, 1-3)", [None, None, None, "1–3", "1–3", None]),
        ("nested", ["no", "no", "yes", "no", "no", "no"]),
        ("size", ["2–10", "2–10", "1", "2–10", "2–10", "1"]),
        ("size(1, 2, 3+)", ["2", "2", "1", "2", "2", "1"]),
        ("speaker", ["ann", "ann", "ann", "bob", "bob", None]),
        ("genre", ["nw", "nw", "nw", "nw", "nw", "bc"]),
        ("column(lemma)", ["ann", "train", "oslo", "she", "it", "bob"]),
        ("column(7)", ["ann", "train", "oslo", "she", "it", "bob"]),
        ("lemma", ["ann", "train", "oslo", "she", "it", "bob"]),
        ("sentence_type(column=7)", ["ann", "the", "oslo", "she", "it", "bob"]),
    ],
)
def test_features_of_a_small_file(chain, feature, expected):
    assert values(chain, feature) == expected


def test_every_declared_feature_can_be_worked_out(shared):
    corpus = corefeval.read(shared / "gum" / "key.conllu")
    features = Features(corpus)
    arguments = {"metadata": "(title)", "column": "(lemma)"}
    complete = {"kind", "noun", "class", "head", "words", "genre", "sentence_type", "metadata"}
    for name, declared in FEATURES.items():
        found = features(name + arguments.get(name, ""))
        assert len(found) == corpus.n_mentions
        assert found.codes.max() < len(found.names)
        assert name not in complete or (found.codes >= 0).all()
        assert level_of(name) == declared.level
        assert declared.summary


def test_document_and_entity_features_have_one_value_each(shared):
    corpus = corefeval.read(shared / "gum" / "key.conll")
    features = Features(corpus)
    for name, declared in FEATURES.items():
        if declared.level == "mention" or name == "metadata":
            continue
        owner = corpus.mention_entity if declared.level == "entity" else corpus.mention_document
        pairs = set(zip(owner.tolist(), features(name).codes.tolist(), strict=True))
        assert len(pairs) == np.unique(owner).size


def test_named_entities_may_be_in_any_column(shared):
    features = Features(corefeval.read(shared / "annotators" / "AK.conll"))
    assert set(features("class(column=10)").names) == {"LOC", "PER", "MISC"}
    assert set(features("entity_class(column=10)").names) <= {"LOC", "PER", "MISC"}
    with pytest.raises(MissingFeatureError, match="brackets"):
        features("speaker")


def test_names_come_in_the_order_to_show_them(chain):
    features = Features(chain)
    assert features("kind").names == ("name", "nominal", "pronoun")
    assert features("class").names == ("PERSON", "GPE")
    assert features("length").names == ("1", "3")
    assert features("noun").names == ("yes", "no")


def test_features_are_worked_out_once(chain):
    features = Features(chain)
    assert features("kind") is features(" KIND ")


class TestTexts:
    """The response's features come from the key's columns."""

    @pytest.fixture
    def sides(self, conll):
        key = CHAIN
        bare = [line.split() for line in CHAIN.splitlines()]
        response = "\n".join(
            " ".join([*row[:4], "QQ", *row[5:]]) if row and not row[0].startswith("#")
            else " ".join(row)
            for row in bare
        )  # fmt: skip
        return corefeval.read(conll(key)), corefeval.read(conll(response + "\n"))

    def test_the_key_comes_first(self, sides):
        key, response = sides
        assert values(response, "kind", texts=sides) == values(key, "kind")
        with pytest.raises(MissingFeatureError, match="QQ"):
            values(response, "kind")

    def test_the_response_helps_out(self, chain, conll):
        rows = [line.split() for line in CHAIN.splitlines()]
        four = "\n".join(" ".join([*r[:4], r[-1]] if len(r) > 4 else r) for r in rows)
        bare = corefeval.read(conll(four + "\n"))
        assert values(bare, "kind", texts=(bare, chain)) == values(chain, "kind")
        with pytest.raises(MissingFeatureError, match=r"no tag column \(it has .*word"):
            values(bare, "kind")

    def test_a_text_that_lacks_a_document(self, chain):
        short = chain.select_documents(np.array([0, -1]), chain.documents)
        assert values(chain, "kind", texts=(chain, short)) == values(chain, "kind")
        assert values(short, "kind", texts=(short, chain)) == values(chain, "kind")[:-1]
        assert values(chain, "speaker", texts=(short,))[-1] is None
        with pytest.raises(MissingFeatureError, match="bc/two"):
            values(chain, "kind", texts=(short,))

    def test_what_is_stated_of_a_span_counts_for_both_sides(self):
        key = corpus_from_arrays(
            entity=[0, 1], start=[0, 4], end=[2, 5], features={"etype": ["person", "_"]}
        )
        response = corpus_from_arrays(
            entity=[0, 1, 1], start=[0, 4, 6], end=[2, 5, 7], features={"etype": ["x", "y", ""]}
        )
        assert values(response, "class", texts=(key, response)) == ["person", "y", None]
        assert values(key, "class", texts=(key, response)) == ["person", "y"]
        assert values(key, "etype") == ["person", None]

    def test_a_blank_column_is_none(self, conll):
        corpus = corefeval.read(conll(CHAIN.replace(" ann - - ann", " - - - ann")))
        assert values(corpus, "lemma")[:2] == [None, "train"]
        tagless = corpus_from_words(["a", "b"], tag=["-", "_"])
        with pytest.raises(MissingFeatureError, match="no tag column"):
            values(tagless, "kind")


class TestGiven:
    ENTITIES = [["Ann", "she"], ["it", "the train"]]  # noqa: RUF012
    KINDS = {"Ann": "name", "she": "pronoun", "it": "pronoun", "the train": "nominal"}  # noqa: RUF012

    def features(self, **given):
        return Features(corpus_from_entities(self.ENTITIES), given=given)

    def test_what_follows_from_a_kind(self):
        features = self.features(kind=self.KINDS)
        assert features("kind").values() == ["name", "pronoun", "pronoun", "nominal"]
        assert features("noun").values() == ["yes", "no", "no", "yes"]
        assert features("tag").values() == ["NOUN", "PRONOUN", "PRONOUN", "NOUN"]
        assert features.tagset_name is None

    def test_what_follows_from_a_class(self):
        features = self.features(**{"class": {"she": "PERSON"}})
        assert features("entity_class").values() == ["PERSON", "PERSON", None, None]

    def test_the_anchor_decides_between_classes(self):
        classes = {"Ann": "PERSON", "she": "x", "it": "y", "the train": "THING"}
        features = self.features(**{"class": classes, "kind": self.KINDS})
        assert features("entity_class").values() == ["PERSON", "PERSON", "THING", "THING"]
        assert features("entity_class(vote)").values() == ["PERSON", "PERSON", "y", "y"]

    def test_documents_have_their_own(self):
        corpus = corpus_from_entities({"a": [["x"]], "b": [["x"]]})
        given = {"a": {"x": "name"}, DocumentId("b"): {"x": "pronoun"}}
        assert values(corpus, "kind", given={"kind": given}) == ["name", "pronoun"]

    def test_spans_are_mentions(self, chain):
        given = {"mood": {(0, 1): "good", (2, 5): 3}}
        assert values(chain, "mood", given=given) == ["good", "3", None, None, None, "good"]

    def test_a_function_of_a_mention(self, chain):
        given = {"first": lambda mention: mention.text[0]}
        assert values(chain, "first", given=given) == ["A", "t", "O", "S", "i", "B"]

    def test_given_wins(self, chain):
        given = {"Kind": lambda mention: "name", "noun": lambda mention: mention.start == 0}
        assert set(values(chain, "kind", given=given)) == {"name"}
        assert values(chain, "noun", given=given) == ["yes", "no", "no", "no", "no", "yes"]

    def test_kinds_must_be_complete(self):
        with pytest.raises(MissingFeatureError, match=r"2 mentions.*'it', 'the train'"):
            self.features(kind={"Ann": "name", "she": "pronoun"})("kind")

    def test_kinds_must_be_kinds(self):
        with pytest.raises(corefeval.InputError, match="‘proper’"):
            self.features(kind=dict.fromkeys(self.KINDS, "proper"))("kind")

    def test_what_is_neither_mapping_nor_function(self):
        with pytest.raises(UsageError, match="mapping"):
            self.features(kind=["name"])("kind")

    @pytest.mark.parametrize("feature", ["kind", "length", "distance", "nested", "tag", "head"])
    def test_plain_mentions_say_nothing_themselves(self, feature):
        with pytest.raises(MissingFeatureError, match=f"{feature}|noun"):
            self.features()(feature)

    def test_what_plain_mentions_have(self):
        features = self.features()
        assert features("words").values() == ["ann", "she", "it", "the train"]
        assert features("chain_position").values() == ["1", "2", "1", "2"]
        assert features("size").values() == ["2–10"] * 4


class TestRequests:
    def test_a_request_parses_back(self):
        for text in ("kind", "size(1, 2–5, 6+)", "class(column=10)", "metadata(Some name)"):
            assert str(FeatureRequest.parse(text)) == text
            assert FeatureRequest.parse(f" {text} ") == FeatureRequest.parse(text)

    def test_nested_parentheses(self):
        assert FeatureRequest.parse("column(f(a, b))").arguments == ("f(a, b)",)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "not a feature"),
            ("kind(", "not a feature"),
            ("kind(x)", "takes none"),
            ("kind(column=3)", "no setting"),
            ("size(many)", "bins"),
            ("class(column=10, Column=11)", "twice"),
            ("column", "one name"),
            ("distance(words)", "sentences"),
        ],
    )
    def test_mistakes(self, text, message):
        with pytest.raises(UsageError, match=message):
            FeatureRequest.parse(text)

    def test_unknown_names(self, chain):
        with pytest.raises(UsageError, match="did you mean 'kind'"):
            Features(chain)("knid")
        with pytest.raises(UsageError, match="did you mean 'lemma'"):
            Features(chain)("lema")

    @pytest.mark.parametrize("bins", ["size(1, 1)", "size(1-4, 3+)", "size(5-2)", "size(2+, 7)"])
    def test_bins_that_overlap_or_are_empty(self, chain, bins):
        with pytest.raises(UsageError, match="bin"):
            Features(chain)(bins)

    def test_bins_are_put_in_order(self):
        assert parse_bins("size", ["6+", "1", "2-5"]) == ((1, 1), (2, 5), (6, None))

    def test_values_in_no_bin_have_none(self, chain):
        assert values(chain, "length(2+)") == [None, "2+", None, None, None, None]


class TestMissing:
    @pytest.mark.parametrize(
        ("feature", "message"),
        [
            ("metadata(title)", "documents have none"),
            ("column(nothing)", "no nothing column"),
            ("column(99)", "no 99 column"),
            ("class(column=nothing)", "no nothing column"),
            ("sentence_type", "s_type"),
            ("sentence_type(column=50)", "no 50 column"),
        ],
    )
    def test_what_a_file_lacks(self, chain, feature, message):
        with pytest.raises(MissingFeatureError, match=message):
            Features(chain)(feature)

    def test_it_is_an_undefined_metric_and_says_what_to_do(self, chain):
        with pytest.raises(corefeval.UndefinedMetricError, match="fix: "):
            Features(chain)("sentence_type")

    def test_a_corpus_without_tokens(self):
        corpus = corpus_from_arrays(entity=[0, 0], start=[0, 4])
        assert values(corpus, "distance") == [None, "1"]
        for feature in ("kind", "words", "class", "speaker", "distance(sentences)"):
            with pytest.raises(MissingFeatureError, match="no tokens"):
                Features(corpus)(feature)

    def test_heads_need_something(self):
        corpus = corpus_from_words(["a", "b"], mentions=[(0, 2)])
        with pytest.raises(MissingFeatureError, match="tags to find the head"):
            Features(corpus)("head")
        assert Features(corpus).head_positions.tolist() == [-1]
        assert values(corpus_from_words(["A", "b"]), "head") == ["a"]

    def test_an_empty_corpus(self, chain):
        nothing = chain.keep_mentions(np.zeros(chain.n_mentions, dtype=np.bool_))
        features = Features(nothing)
        names = (
            "kind", "tag", "class", "entity_class", "entity_class(vote)", "words", "distance",
            "nested", "size", "genre", "speaker", "column(lemma)",
        )  # fmt: skip
        for name in names:
            assert features(name).values() == []


class TestGenres:
    def genres(self, *names):
        corpus = corpus_from_entities({name: [["m"]] for name in names})
        return values(corpus, "genre")

    def test_the_first_part_of_a_path(self):
        assert self.genres("nw/a", "bc/b/c", "loose") == ["nw", "bc", None]

    def test_the_first_part_that_differs(self):
        names = "X_news_a", "X_news_b", "X_vlog_c"
        assert self.genres(*names) == ["news", "news", "vlog"]

    @pytest.mark.parametrize("names", [("one",), ("wsj_1", "wsj_2"), ("a_x", "b_y")])
    def test_names_without_a_genre(self, names):
        with pytest.raises(MissingFeatureError, match="genre"):
            self.genres(*names)


def test_the_page_lists_every_feature():
    page = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    for name, declared in FEATURES.items():
        assert f"| `{name}` |" in page
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert f"| {declared.level} |" in row


def test_the_list_of_features_needs_no_numpy():
    code = (
        "import sys, corefeval.features\n"
        "from corefeval.features import FEATURES, FeatureRequest, TagSet, level_of\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
