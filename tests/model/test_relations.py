"""Relations by number: they follow documents, entities and mentions wherever these go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import read, write
from corefeval.model import CorpusBuilder, Relation, Relations, join

REFERENCES = st.tuples(st.sampled_from("abcd"), st.booleans())


@st.composite
def corpora(draw, prefix="d"):
    """Documents of mentions in any order, and relations of some of them to others."""
    builder = CorpusBuilder(name="related")
    for index in range(draw(st.integers(1, 3))):
        document = builder.document(f"{prefix}{index}", words=list("uvwxyz"))
        numbers: dict[str, list[int]] = {}
        for _ in range(draw(st.integers(1, 6))):
            entity, start = draw(st.sampled_from("abcd")), draw(st.integers(0, 5))
            end = draw(st.integers(start + 1, 6))
            tag = {"id": f"{prefix}{index}:{sum(map(len, numbers.values()))}"}
            number = document.mention(entity, start, end, features=tag)
            numbers.setdefault(entity, []).append(number)
        for _ in range(draw(st.integers(0, 4))):
            references = [
                draw(st.sampled_from(numbers[entity])) if of_mention else entity
                for entity, of_mention in draw(st.lists(REFERENCES, min_size=2, max_size=4))
                if entity in numbers
            ]
            kind, label = (
                draw(st.sampled_from(["bridging", "set"])),
                draw(st.sampled_from(["", "x"])),
            )
            if len(references) > 1:
                document.relation(kind, references[0], references[1:], label)
    return builder.build()


def named(corpus):
    """Relations by documents, names of entities and ids of mentions, in their order."""

    def name(entity, row):
        place = str(corpus.documents[corpus.entity_document[entity]]), corpus.names[entity]
        if row >= 0:
            assert corpus.mention_entity[row] == entity
        return *place, str(corpus.features["id"][row]) if row >= 0 else ""

    return [
        (r.kind, name(*r.anaphor), tuple(name(*one) for one in r.antecedents), r.label)
        for r in corpus.relations
    ]


def without(relations, gone):
    """What is left of named relations when mentions or documents are gone."""
    left = []
    for kind, anaphor, antecedents, label in relations:
        kept = tuple(one for one in antecedents if not gone(one))
        if kept and not gone(anaphor):
            left.append((kind, anaphor, kept, label))
    return left


@settings(max_examples=80)
@given(corpora(), st.data())
def test_relations_follow_mentions(corpus, data):
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=corpus.n_mentions,
                                       max_size=corpus.n_mentions)), dtype=np.bool_)  # fmt: skip
    dropped = set(corpus.features["id"][~keep].tolist())
    assert named(corpus.keep_mentions(keep)) == without(named(corpus), lambda o: o[2] in dropped)


@settings(max_examples=80)
@given(corpora(), st.data())
def test_relations_follow_documents(corpus, data):
    order = data.draw(st.permutations(range(len(corpus))))
    chosen = order[: data.draw(st.integers(1, len(order)))]
    names = {str(corpus.documents[index]) for index in chosen}
    selected = corpus.select_documents(np.array([*chosen, -1]), [
        *(corpus.documents[index] for index in chosen), corefeval.model.DocumentId("none")
    ])  # fmt: skip
    assert named(selected) == without(named(corpus), lambda one: one[0] not in names)


@settings(max_examples=40)
@given(st.tuples(corpora("a"), corpora("b"), corpora("c")))
def test_relations_are_joined(parts):
    assert named(join(parts)) == [relation for part in parts for relation in named(part)]


def test_without_relations_nothing_is_made():
    corpus = corefeval.corpus_from_arrays(entity=[0, 0], start=[0, 1])
    assert len(corpus.relations) == 0
    assert list(join([corpus]).relations) == []


def test_an_antecedent_counts_once():
    relations = Relations.of([Relation("set", (0, -1), ((1, -1), (1, -1), (2, -1)))])
    assert relations.antecedent_entity.tolist() == [1, 2]


def test_what_has_no_mention_is_told():
    builder = CorpusBuilder(name="x")
    document = builder.document("d", words=["a"])
    document.mention("e", 0, 1)
    document.relation("bridging", "e", ["nobody"])
    document.relation("set", "e", ["e", "nobody"])
    corpus = builder.build()
    assert list(corpus.relations) == [Relation("set", (0, -1), ((0, -1),))]
    assert [(n.kind, n.count) for n in corpus.notices] == [("unresolved-relations", 2)]


COREFUD = """# newdoc id = d
# global.Entity = eid-head
1	a	_	_	_	_	_	_	_	Entity=(e1-1)
2	b	_	_	_	_	_	_	_	Entity=(e2-1)
3	c	_	_	_	_	_	_	_	Entity=(e3-1)|SplitAnte=e1<e3,e2<e3
4	d	_	_	_	_	_	_	_	Entity=(e3-1)(e2-1)|Bridge=e1<e3:part,e1<e2

# newdoc id = f
# global.Entity = eid-head
1	a	_	_	_	_	_	_	_	Entity=(e1-1)
2	b	_	_	_	_	_	_	_	Entity=(e3-1)|Bridge=e1<e3

"""


def test_corefud_says_which_mention_bridges(conll, tmp_path):
    corpus = read(conll(COREFUD, "x.conllu"))
    relations = [(r.kind, r.anaphor, r.antecedents, r.label) for r in corpus.relations]
    assert relations == [
        ("bridging", (2, 3), ((0, -1),), "part"),
        ("bridging", (1, 4), ((0, -1),), ""),
        ("bridging", (4, 6), ((3, -1),), ""),
        ("split-antecedent", (2, -1), ((0, -1), (1, -1)), ""),
    ]
    notices = write(corpus, tmp_path / "y.conllu")
    assert [(n.kind, n.count) for n in notices] == [("entity-names", 2)]  # e1 and e3, again
    written = (tmp_path / "y.conllu").read_text()
    assert "Entity=(e3-1)(e2-1)|Bridge=e1<e3:part,e1<e2\n" in written
    assert "Entity=(e3-1)|SplitAnte=e1<e3,e2<e3\n" in written
    assert list(read(tmp_path / "y.conllu").relations) == list(corpus.relations)


def test_corefud_relations_of_unknown_entities_are_told(conll):
    corpus = read(conll(COREFUD.replace("e2<e3", "e9<e3"), "x.conllu"))
    assert [(n.kind, n.count) for n in corpus.notices] == [("unresolved-relations", 1)]
    assert [len(r.antecedents) for r in corpus.relations if r.kind == "split-antecedent"] == [1]


@pytest.mark.parametrize("format", ["litbank", "json"])
def test_what_a_format_cannot_carry_is_told(conll, tmp_path, format):
    corpus = read(conll(COREFUD, "x.conllu"))
    notices = write(corpus, tmp_path / "out", format=format)
    assert {n.kind: n.count for n in notices}["relations"] == len(corpus.relations) == 4


def test_corefud_cannot_carry_appositions(tmp_path):
    (tmp_path / "s.txt").write_text("Ada a poet\n")
    (tmp_path / "s.ann").write_text(
        "MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP\nMENTION\tT2\t0\t1\t0\t2\ta poet\tPER\tNOM\n"
        "APPOS\tT2\tT1\n"
    )
    corpus = read(tmp_path / "s.ann", format="litbank")
    notices = write(corpus, tmp_path / "s.conllu", format="corefud")
    assert [n.count for n in notices if n.kind == "relations"] == [1]
