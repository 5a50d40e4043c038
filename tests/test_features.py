"""What is known of mentions: each feature, where its values come from, and what is missing."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from corefeval.features.bins import parse_bins
from corefeval.features.brackets import named_spans, regions
from corefeval.features.classes import class_of_mentions
from corefeval.features.spans import Spans
from corefeval.model import CorpusBuilder, corpus_from_arrays, corpus_from_entities
from corefeval.model.categories import Categories

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


def values(corpus, feature, **options):
    return Features(corpus, **options)(feature).values()


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


def corpus_from_words(words, mentions=((0, 1),), **columns):
    builder = CorpusBuilder(name="words")
    document = builder.document("d", words=words, columns=columns)
    for number, (start, end) in enumerate(mentions):
        document.mention(str(number), start, end)
    return builder.build()


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
            ("", "no feature"),
            ("kind(", "no feature"),
            ("kind(x)", "takes none"),
            ("kind(column=3)", "no setting"),
            ("size(many)", "bins"),
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


@pytest.mark.parametrize(
    "cells",
    [
        ["(PER*", "*)", "*", "(ORG)", "*"],
        ["(PER", "PER)", "-", "(ORG)", "-"],
        ["B-PER", "I-PER", "O", "B-ORG", "O"],
        ["B-PER", "E-PER", "O", "S-ORG", "O"],
        ["I-PER", "I-PER", "O", "I-ORG", "O"],
        ["PER", "PER", "-", "ORG", "-"],
    ],
)
def test_named_entities_are_written_in_many_ways(cells):
    mentions = [(0, 3), (0, 2), (3, 4), (4, 5)]
    tags = ["NNP", "NNP", "VBD", "NNP", "."]
    corpus = corpus_from_words(list("abcde"), mentions, tag=tags, named_entity=cells)
    assert values(corpus, "class") == ["PER", "PER", "ORG", None]


def test_named_entities_that_touch_are_two():
    cells = ["B-PER", "B-PER", "I-PER"]
    mentions, tags = [(0, 2), (0, 1), (1, 3)], ["NNP"] * 3
    corpus = corpus_from_words(list("abc"), mentions, named_entity=cells, tag=tags)
    assert values(corpus, "class") == [None, "PER", "PER"]


SPANS = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 5)), max_size=6)


@st.composite
def nested_cells(draw):
    """Brackets that nest, as cells; and the spans that they mean."""
    size = 12
    spans: list[tuple[int, int, str]] = []
    for start, length in draw(SPANS):
        end = min(start + length, size)
        if all(e <= start or end <= s or (s <= start and end <= e) or (start <= s and e <= end)
               for s, e, _ in spans):  # fmt: skip
            spans.append((start, end, draw(st.sampled_from("XYZ"))))
    spans.sort(key=lambda span: (span[0], -span[1]))
    cells = ["*"] * size
    for start, _, label in reversed(spans):
        cells[start] = f"({label}{cells[start]}"
    for _, end, _ in spans:
        cells[end - 1] += ")"
    return cells, spans


@given(nested_cells(), st.lists(st.tuples(st.integers(0, 11), st.integers(1, 6)), min_size=1),
       st.data())  # fmt: skip
def test_classes_are_those_of_a_loop(brackets, mentions, data):
    cells, spans = brackets
    start = np.array([start for start, _ in mentions])
    end = np.minimum(start + [length for _, length in mentions], 12)
    heads = np.array([data.draw(st.integers(-1, 0)) or data.draw(st.integers(int(s), int(e) - 1))
                      for s, e in zip(start, end, strict=True)])  # fmt: skip
    where = Spans(np.array([0, 12]), start * 0, start, end, np.empty((0, 3), dtype=np.int64))
    tokens = np.arange(12)
    named = named_spans(Categories.of(cells), tokens, regions(tokens))
    expected = []
    for s, e, head in zip(start.tolist(), end.tolist(), heads.tolist(), strict=True):
        equal = [label for a, b, label in spans if (a, b) == (s, e)]
        within = [
            (b - a, -n, label) for n, (a, b, label) in enumerate(spans)
            if s <= a <= head < b <= e
        ]  # fmt: skip
        expected.append(equal[0] if equal else max(within)[2] if within else None)
    assert class_of_mentions(where, heads, named).values() == expected


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 9), st.integers(1, 4)),
        min_size=1,
        max_size=20,
    )
)
def test_places_of_mentions_are_those_of_a_loop(rows):
    corpus = corpus_from_arrays(
        document=[document for document, _, _, _ in rows],
        entity=[entity for _, entity, _, _ in rows],
        start=[start for _, _, start, _ in rows],
        end=[start + length for _, _, start, length in rows],
    )
    features = Features(corpus)
    positions, distances, nested = [], [], []
    for document in corpus:
        mentions = document.mentions
        for place, mention in enumerate(mentions):
            before = [
                n for n, other in enumerate(mentions[:place])
                if other.entity.index == mention.entity.index
            ]  # fmt: skip
            positions.append(len(before) + 1)
            distances.append(place - before[-1] if before else None)
            nested.append(
                any(
                    other.start <= mention.start
                    and mention.end <= other.end
                    and other.span != mention.span
                    for other in mentions
                )
            )
    top = "11+"
    assert features("chain_position").values() == [str(p) if p < 11 else top for p in positions]
    expected = [None if d is None else str(d) if d < 11 else top for d in distances]
    assert features("distance").values() == expected
    assert features("nested").values() == ["yes" if inside else "no" for inside in nested]
    sizes = Counter(corpus.mention_entity.tolist())
    assert features("size(1, 2, 3+)").values() == [
        f"{sizes[e]}" if sizes[e] < 3 else "3+" for e in corpus.mention_entity.tolist()
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["X", "Y", "Z", None]), st.booleans()),
                min_size=1, max_size=16))  # fmt: skip
def test_classes_of_entities_are_those_of_a_loop(rows):
    entities = [[(n, e) for n, (e, _, _) in enumerate(rows) if e == entity] for entity in range(4)]
    classes = {(n, e): label for n, (e, label, _) in enumerate(rows)}
    nouns = {(n, e): noun for n, (e, _, noun) in enumerate(rows)}
    corpus = corpus_from_entities([entity for entity in entities if entity])
    features = Features(corpus, given={"class": classes, "noun": nouns})
    by_anchor, by_vote = [], []
    for entity in filter(None, entities):
        known = [classes[mention] for mention in entity if classes[mention]]
        anchor = next((classes[mention] for mention in entity if nouns[mention]), None)
        chosen = anchor or (known[0] if len(set(known)) == 1 else None)
        votes = Counter(known).most_common()  # the first seen among equals
        by_anchor += [chosen] * len(entity)
        by_vote += [votes[0][0] if votes else None] * len(entity)
    assert features("entity_class").values() == by_anchor
    assert features("entity_class(vote)").values() == by_vote


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
