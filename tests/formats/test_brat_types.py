"""What the types of brat say: chains where nothing else joins mentions, kinds and classes."""

from __future__ import annotations

import pytest

import corefeval
from corefeval.formats.standoff import chain_types
from corefeval.model import CorpusBuilder
from standoff_strategies import spans, write_brat, write_pair, written

TEXT = "Ada met the captain . She smiled at him . They left Rome .\n"
KEY = """#begin document (story);
story 0 0 Ada (1)
story 0 1 met -
story 0 2 the (2
story 0 3 captain 2)
story 0 4 . -
story 0 5 She (1)
story 0 6 smiled -
story 0 7 at -
story 0 8 him (2)
story 0 9 . -
story 0 10 They (3)
story 0 11 left -
story 0 12 Rome (4)
story 0 13 . -
#end document
"""
PLACES = {"Ada": (0, 3), "the captain": (8, 19), "She": (22, 25), "him": (36, 39),
          "They": (42, 46), "Rome": (52, 56)}  # fmt: skip


@pytest.fixture
def read(tmp_path):
    def made(*annotations, rest=""):
        lines = [
            f"T{number}\t{kind} {PLACES[text][0]} {PLACES[text][1]}\t{text}\n"
            for number, (kind, text) in enumerate(annotations)
        ]
        return corefeval.read(write_pair(tmp_path, "".join(lines) + rest, TEXT))

    return made


def shared(corpus):
    """The entities of several mentions."""
    return {name: places for name, places in spans(corpus).items() if len(places) > 1}


ADA, CAPTAIN = [PLACES["Ada"], PLACES["She"]], [PLACES["the captain"], PLACES["him"]]
LITBANK = [
    ("PROP_PER", "Ada"), ("NOM_PER", "the captain"), ("PRON_PER", "She"), ("PRON_PER", "him"),
    ("PRON_PER", "They"), ("PROP_GPE", "Rome"),
    ("Ada-0", "Ada"), ("captain-1", "the captain"), ("Ada-0", "She"), ("captain-1", "him"),
    ("They-2", "They"), ("Rome-3", "Rome"),
]  # fmt: skip


def test_litbank_names_entities_in_types_and_classes_in_others(read, conll):
    corpus = read(*LITBANK, rest="R1\tcop Arg1:T0 Arg2:T1\n")
    assert spans(corpus) == {"Ada-0": ADA, "captain-1": CAPTAIN, "They-2": [PLACES["They"]],
                             "Rome-3": [PLACES["Rome"]]}  # fmt: skip
    assert corpus.features["mention_type"].tolist() == ["PROP", "NOM", "PRON", "PRON", "PRON",
                                                        "PROP"]  # fmt: skip
    assert corpus.features["entity_type"].tolist() == ["PER"] * 5 + ["GPE"]
    assert corpus.features["mention_id"].tolist() == [f"T{number}" for number in range(6)]
    told = {notice.kind: notice for notice in corpus.notices}
    assert told["chains-in-types"].count == 4
    assert told["described-mentions"].count == 6
    assert corefeval.score(conll(KEY), corpus)["conll"].f1 == 1.0


@pytest.mark.parametrize(
    "form", ["Cluster{}", "cluster_{}", "Chain-{}", "Coref{}", "coref_chain{}"]
)
def test_clusters_with_numbers_are_chains(read, form):
    one, two = form.format(1), form.format(12)
    corpus = read((one, "Ada"), ("Entity", "the captain"), (one, "She"), (two, "him"))
    assert spans(corpus) == {one: ADA, "T1": [PLACES["the captain"]], two: [PLACES["him"]]}
    assert corpus.features["entity_type"].tolist() == ["", "Entity", "", ""]
    assert [notice.kind for notice in corpus.notices] == ["chains-in-types"]


@pytest.mark.parametrize(
    ("types", "chains"),
    [
        (["PER", "PER", "LOC"], []),
        (["Person", "Person", "Location", "Person"], []),
        (["PROP_PER", "PROP_PER", "NOM_PER"], []),
        (["Stage-1", "Stage-1", "Stage-2"], []),  # one name with numbers: classes
        (["COVID-19", "COVID-19", "Person"], []),
        (["Type1", "Type1", "Type2"], []),
        (["ARG0", "ARG0", "ARG1", "ARG2"], []),
        (["Entity1", "Entity1", "Entity2"], []),  # the two sides of a relation
        (["Cluster1", "Cluster2", "Cluster3"], []),  # nothing shared: nothing joined
        (["Ada-1", "Bob-2", "Eve-3"], []),
        (["Entity1", "Entity1", "Entity2", "Entity7"], ["Entity1", "Entity2", "Entity7"]),
        (["Ada_Byron-1", "Ada_Byron-1", "Bob-2"], ["Ada_Byron-1", "Bob-2"]),
        (["Ada-1", "Ada-1", "PER"], []),
    ],
)
def test_which_types_name_chains(types, chains):
    assert sorted(chain_types([(kind, "something") for kind in types])) == chains


def test_a_name_that_is_the_text_of_a_mention_is_a_chain():
    assert chain_types([("Kellynch_Hall-1", "Kellynch Hall"), ("Kellynch_Hall-1", "it")])
    assert not chain_types([("COVID-19", "COVID-19"), ("COVID-19", "it")])


@pytest.mark.parametrize("join", ["R1\tCoreference Arg1:T0 Arg2:T3\n", "*\tEquiv T0 T3\n"])
def test_types_are_no_chains_where_lines_join(read, join):
    corpus = read(("Cluster1", "Ada"), ("Cluster1", "She"), ("Cluster2", "him"),
                  ("Cluster3", "They"), rest=join)  # fmt: skip
    assert shared(corpus) == {"T0": [PLACES["Ada"], PLACES["They"]]}
    assert corpus.features["entity_type"].tolist()[0] == "Cluster1"


def test_that_nothing_is_joined_is_said(read):
    corpus = read(("PER", "Ada"), ("PER", "She"), ("GPE", "Rome"))
    assert shared(corpus) == {}
    (notice,) = corpus.notices
    assert (notice.kind, notice.count) == ("nothing-joined", 3)
    assert "3 mentions that nothing joins, each an entity of its own" in str(notice)
    assert read(("PER", "Ada")).notices == ()
    other = read(("PER", "Ada"), ("PER", "She"), rest="R1\tSameAs Arg1:T0 Arg2:T1\n")
    assert "relations join whose type begins with coref" in str(other.notices[0])


def test_entities_of_one_mention_with_types_like_chains_come_back(tmp_path):
    builder = CorpusBuilder()
    document = builder.document("a", words=["x", "y"])
    document.mention("T1", 0, 1, features={"entity_type": "Cluster1"})
    document.mention("T2", 1, 2, features={"entity_type": "Cluster1"})
    made = write_brat(builder.build())
    (path,) = written(made, tmp_path / "again")
    again = corefeval.read(path)
    assert (again.n_entities, again.notices) == (2, ())
    assert write_brat(again).files == made.files


def test_kinds_and_classes_come_back(read, tmp_path):
    corpus = read(*LITBANK)
    (path,) = written(write_brat(corpus), tmp_path / "again")
    again = corefeval.read(path)
    for name in ("mention_id", "entity_type", "mention_type"):
        assert again.features[name].tolist() == corpus.features[name].tolist()
    assert sorted(shared(again).values()) == sorted(shared(corpus).values())
    assert write_brat(again).files == write_brat(corpus).files


def test_kinds_alone(read):
    corpus = read(("PROP", "Ada"), ("PRON", "She"), rest="*\tEquiv T0 T1\n")
    assert corpus.features["mention_type"].tolist() == ["PROP", "PRON"]
    mixed = read(("PROP_PER", "Ada"), ("PRON", "She"), ("Mention", "Rome"))
    assert mixed.features["mention_type"].tolist() == ["PROP", "PRON", ""]
    assert mixed.features["entity_type"].tolist() == ["PER", "", ""]
    assert read(("PRO", "Ada"), ("LOC", "Rome")).features["entity_type"].tolist() == ["PRO", "LOC"]


def test_a_kind_that_a_type_cannot_carry_is_counted():
    builder = CorpusBuilder()
    document = builder.document("a", words=["x"])
    document.mention("T1", 0, 1, features={"entity_type": "PER", "mention_type": "list of names"})
    made = write_brat(builder.build())
    assert made.files["a.ann"].startswith(b"T1\tPER 0 1")
    assert {notice.kind: notice.count for notice in made.notices} == {"mention-kinds": 1}
