"""CorefUD CoNLL-U: what is read, and what is refused."""

from __future__ import annotations

import pytest

import corefeval
from conllu_texts import PLAIN, entities, row, text
from corefeval import InputError
from corefeval.features import Features
from corefeval.features.annotations import find_matched_heads
from corefeval.linting import inspect
from corefeval.model import CorpusBuilder, Relation


@pytest.mark.parametrize(
    "variant",
    [PLAIN, PLAIN.replace("\n", "\r\n"), "\ufeff" + PLAIN, PLAIN.rstrip("\n"), PLAIN + "\n \n"],
)
def test_reading(conll, variant):
    corpus = corefeval.read(conll(variant, "a.conllu"))
    assert [str(d) for d in corpus.documents] == ["doc"]
    assert entities(corpus) == {"e1": {(0,), (4,)}, "e2": {(2, 3)}}
    document = corpus[0]
    assert document.sentences == [["Ada", "met", "the", "captain"], ["She"]]
    assert document.tags == ["NN"] * 5
    assert document.column("upos") == document.column(4) == ["NOUN"] * 5
    assert document.sentence_metadata[0] == {"sent_id": "s1", "s_type": "decl"}
    assert [dict(m) for m in document.sentence_metadata[:]][1] == {"sent_id": "s2"}
    assert [mention.head for mention in document.mentions] == [0, 3, 4]
    assert document.mentions[1].features == {"etype": "person"}
    assert corpus.notices == ()


def test_document_metadata_and_several_documents(conll):
    both = text("# meta::genre = academic", row(1, "a"), name="a") + text(row(1, "b"), name="b")
    corpus = corefeval.read(conll(both))
    assert [document.metadata for document in corpus] == [{"genre": "academic"}, {}]
    assert [document.words for document in corpus] == [["a"], ["b"]]


def test_nameless_documents_are_called_after_their_file(conll):
    corpus = corefeval.read(conll(text(row(1, "a"), name=None), "GUM_bio.conllu"))
    assert str(corpus.documents[0]) == "GUM_bio"
    two = "# newdoc\n" + row(1, "a") + "\n\n# newdoc\n" + row(1, "b") + "\n"
    assert [str(d) for d in corefeval.read(conll(two, "x.conllu")).documents] == ["x", "x_2"]


def test_brackets_without_separators(conll):
    corpus = corefeval.read(
        conll(
            text(
                row(1, "a", "Entity=(e1-x-1(e2-x-1"),
                row(2, "b", "Entity=e2)(e3-x-1)"),
                row(3, "c", "Entity=(e4-x-1)e1)"),
            )
        )
    )
    assert entities(corpus) == {
        "e1": {(0, 1, 2)}, "e2": {(0, 1)}, "e3": {(1,)}, "e4": {(2,)},
    }  # fmt: skip


def test_discontinuous_mentions(conll):
    corpus = corefeval.read(
        conll(
            text(
                row(1, "not", "Entity=(e1[1/2]-x-2"),
                row(2, "only", "Entity=e1[1/2])"),
                row(3, "you"),
                row(4, "but", "Entity=(e1[2/2]-x-2)"),
                row(5, "he", "Entity=(e1-x-1)"),
            )
        )
    )
    assert entities(corpus) == {"e1": {(0, 1, 3), (4,)}}
    assert corpus[0].mentions[0].head == 1


@pytest.mark.parametrize(("first", "last", "head"), [("-x-1", "-x-3", 3), ("-x-2", "", 1)])
def test_the_last_part_says_the_head_of_a_discontinuous_mention(conll, first, last, head):
    corpus = corefeval.read(
        conll(
            text(
                row(1, "not", f"Entity=(e1[1/2]{first}"),
                row(2, "only", "Entity=e1[1/2])"),
                row(3, "you"),
                row(4, "but", f"Entity=(e1[2/2]{last})"),
                row(5, "he", "Entity=(e1-x-1)"),
            )
        )
    )
    assert corpus[0].mentions[0].head == head


def test_empty_nodes_and_multiword_tokens(conll):
    corpus = corefeval.read(
        conll(
            text(
                row("1-2", "vámonos"),
                row(1, "vamos"),
                row(2, "nos", "Entity=(e1--1)"),
                row("2.1", "_", "Entity=(e1--1)"),
                row(3, "ya"),
            )
        )
    )
    document = corpus[0]
    assert document.words == ["vamos", "nos", "_", "ya"]
    assert document.column("empty") == ["", "", "1", ""]
    assert document.sentences == [["vamos", "nos", "_", "ya"]]
    assert entities(corpus) == {"e1": {(1,), (2,)}}


def test_values_are_percent_decoded(conll):
    header = "# global.Entity = eid-etype-head-identity"
    corpus = corefeval.read(
        conll(text(row(1, "a", "Entity=(e1-person-1-Lord%20Byron%20%28poet%29)"), header=header))
    )
    assert corpus[0].mentions[0].features == {"etype": "person", "identity": "Lord Byron (poet)"}


def test_ids_are_percent_decoded(conll):
    corpus = corefeval.read(
        conll(
            text(
                row(1, "a", "Entity=(e%2D1-person-1)(x%281%29[1/2]-person-1)"),
                row(2, "b", "Entity=(e%2D1-person-1"),
                row(3, "c", "Entity=e%2D1)(x%281%29[2/2]-person-1)"),
            )
        )
    )
    assert entities(corpus) == {"e-1": {(0,), (1, 2)}, "x(1)": {(0, 2)}}


def test_the_order_of_fields_is_the_files_own(conll):
    """GUM's own files call the id GRP, and have other fields behind it."""
    header = "# global.Entity = GRP-etype-infstat-minspan"
    corpus = corefeval.read(
        conll(
            text(
                row(1, "a", "Entity=(7-person-new-1)"),
                row(2, "b", "Entity=(7-person)"),
                header=header,
            )
        )
    )
    assert entities(corpus) == {"7": {(0,), (1,)}}
    assert corpus[0].mentions[0].features == {"etype": "person", "infstat": "new", "minspan": "1"}
    turned = "# global.Entity = etype-eid-head"
    corpus = corefeval.read(
        conll(text(row(1, "a", "Entity=(person-e9-1"), row(2, "b", "Entity=e9)"), header=turned))
    )
    assert entities(corpus) == {"e9": {(0, 1)}}


def test_heads_come_from_the_tree_where_no_field_says(conll):
    header = "# global.Entity = eid-etype"
    rows = [
        row(1, "the", "Entity=(e1-x", head=3),
        row(2, "old", head=3),
        row(3, "man", head=6),
        row(4, "of", head=5),
        row(5, "war", "Entity=e1)", head=3),
        row(6, "spoke", head=0),
    ]
    path = conll(text(*rows, header=header))
    corpus = corefeval.read(path)
    assert corpus[0].mentions[0].head is None  # the file does not say
    heads, _ = find_matched_heads(Features(corpus), "head")
    assert heads.tolist() == [2]
    result = corefeval.score(path, path, match="head", metrics="muc")
    assert "|heads:dependencies|" in result.signature
    assert any("heads of mentions of several tokens: 1 by dep" in str(n) for n in result.notices)


def test_bridging_and_split_antecedents_are_kept(conll):
    corpus = corefeval.read(
        conll(
            text(
                row(1, "a", "Entity=(e1-x-1)"),
                row(2, "b", "Entity=(e2-x-1)"),
                row(3, "c", "Bridge=e1<e3:part|Entity=(e3-x-1)|SplitAnte=e1<e3,e2<e3"),
            )
        )
    )
    assert list(corpus.relations) == [
        Relation("bridging", (2, 2), ((0, -1),), "part"),
        Relation("split-antecedent", (2, -1), ((0, -1), (1, -1))),
    ]


@pytest.mark.parametrize("value", ["foo", "e1<", "<e2", "<", "e1<e2,foo", "e1<e2,<e2:x"])
@pytest.mark.parametrize("name", ["Bridge", "SplitAnte", "Split"])
def test_relations_that_say_nothing_are_counted(conll, name, value):
    rows = row(1, "a", "Entity=(e1-x-1)"), row(2, "b", f"Entity=(e2-x-1)|{name}={value}")
    file = conll(text(*rows))
    corpus = corefeval.read(file)
    assert len(corpus.relations) == value.startswith("e1<e2")
    assert [one.count for one in corpus.notices if one.kind == "unresolved-relations"] == [1]
    [inspection] = inspect(file)
    lines = [one.line for one in inspection.findings if one.kind == "unmentioned-entity"]
    assert lines == [4]


def test_an_anaphor_in_which_another_of_its_entity_opens_is_told_of(tmp_path):
    """A reader takes the mention that opens last; and a set is written with each element once."""
    builder = CorpusBuilder()
    document = builder.document("d", words=list("abc"))
    rows = [document.mention(*one) for one in (("e1", 0, 1), ("e2", 1, 3), ("e2", 1, 2))]
    for row_ in rows[1:]:
        document.relation("bridging", row_, [rows[0]])
        document.relation("split-antecedent", "e2", ["e1"])
    notices = corefeval.write(builder.build(), tmp_path / "x.conllu")
    assert [(one.kind, one.count) for one in notices] == [("moved-anaphors", 1)]
    assert "SplitAnte=e1<e2|" in (tmp_path / "x.conllu").read_text().replace("\n", "|")


def test_attributes_are_looked_for_in_the_last_column_only(conll):
    rows = [row(1, "Entity=(e9)", "MyEntity=(e8)|Entity=(e1-x-1)"), row(2, "b", "XEntity=e1)")]
    assert entities(corefeval.read(conll(text(*rows)))) == {"e1": {(0,)}}


def test_without_a_header_plain_ids_are_accepted_and_reported(conll):
    rows = [row(1, "a", "Entity=(e1"), row(2, "b", "Entity=e1)")]
    corpus = corefeval.read(conll(text(*rows, header=None)))
    assert entities(corpus) == {"e1": {(0, 1)}}
    assert [notice.kind for notice in corpus.notices] == ["no-entity-header"]


def test_entity_attributes_of_another_kind_are_left_aside_and_reported(conll):
    """Some treebanks use the attribute for named entities."""
    rows = [row(1, "Ada", "Entity=B-PER"), row(2, "Lovelace", "Entity=I-PER")]
    corpus = corefeval.read(conll(text(*rows, header=None)))
    assert corpus.n_mentions == 0
    assert [(n.kind, n.count) for n in corpus.notices] == [("foreign-entities", 2)]


def test_types_without_ids_or_header_are_refused(conll):
    with pytest.raises(InputError, match="without ‘# global") as caught:
        corefeval.read(conll(text(row(1, "a", "Entity=(person)"), header=None)))
    assert caught.value.line == 2


def test_a_header_without_ids_makes_singletons_and_says_so(conll):
    rows = [row(1, "a", "Entity=(person-1)"), row(2, "b", "Entity=(person-1)")]
    corpus = corefeval.read(conll(text(*rows, header="# global.Entity = etype-head")))
    assert corpus.n_entities == 2
    assert [notice.kind for notice in corpus.notices] == ["no-entity-ids"]


@pytest.mark.parametrize(
    ("rows", "line", "problem"),
    [
        ([row(1, "a", "Entity=(e1-x-1"), row(2, "b")], 3, "never closes"),
        ([row(1, "a"), row(2, "b", "Entity=e1)")], 4, "never opens"),
        ([row(1, "a", "Entity=e1")], 3, "not a row of brackets"),
        ([row(1, "a", "Entity=(e1[2/2]-x-1)")], 3, "other parts are missing"),
        ([row(1, "a", "Entity=(e1[1/2]-x-1)")], 3, "lacks a part"),
        ([row(1, "a") + "\textra"], 3, "another number of columns"),
        (["1 a b c"], 3, "another number of columns"),
        ([row("one", "a")], 3, "no token number"),
        ([row("", "a")], 3, "no token number"),
        ([row("1-", "a")], 3, "no token number"),
    ],
)
def test_mistakes_name_file_and_line(conll, rows, line, problem):
    path = conll(text(*rows))
    with pytest.raises(InputError, match=problem) as caught:
        corefeval.read(path)
    assert (caught.value.file, caught.value.line) == (path, line)


def test_a_document_that_appears_twice(conll):
    with pytest.raises(InputError, match="twice") as caught:
        corefeval.read(conll(text(row(1, "a")) + text(row(1, "b"))))
    assert caught.value.line == 5


def test_no_sentences_at_all(conll):
    with pytest.raises(InputError, match="no sentence"):
        corefeval.read(conll("# sent_id = 1\n"), format="corefud")


def test_real_corpora(shared):
    """The counts that the conformance vectors' README gives."""
    counts = {"key": 9222, "xrenner": 9429, "baseline": 8975}
    for name, mentions in counts.items():
        corpus = corefeval.read(shared / "gum" / f"{name}.conllu")
        assert (len(corpus), corpus.n_mentions) == (36, mentions)
        assert sum(map(len, (d.words for d in corpus))) == 32682 + 23
    assert corefeval.read(shared / "gum" / "key.conllu")[0].metadata["genre"] == "academic"


@pytest.mark.parametrize("system", ["xrenner", "baseline"])
def test_real_systems(shared, system):
    """As corefud-scorer 1.2 prints them with exact matching and singletons: two decimals."""
    import json

    expected = json.loads((shared / "gum" / "expected-conllu.json").read_text())
    result = corefeval.score(shared / "gum" / "key.conllu", shared / "gum" / f"{system}.conllu")
    for metric, rates in expected[f"{system}.conllu"]["exact"].items():
        score = result[metric]
        ours = [100 * rate for rate in (score.recall, score.precision, score.f1)]
        assert ours == pytest.approx(rates, abs=0.0051), metric


def test_an_empty_file_is_one_clear_error(tmp_path):
    (tmp_path / "a.ann").write_bytes(b"")  # the annotation of a text, read as something else
    (tmp_path / "a.txt").write_text("Ada\n")
    with pytest.raises(InputError, match=r"a\.ann"):
        corefeval.read(tmp_path / "a.ann", format="corefud")
