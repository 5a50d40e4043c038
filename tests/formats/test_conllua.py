"""Universal Anaphora's CoNLL-U Plus: reading, what is odd in it, writing, and round trips."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import ROOT
from corefeval import CorefEvalError, InputError, read, write
from corefeval.linting import check_corpus, inspect
from corefeval.model import DEIXIS, IDENTITY, NON_REFERRING, CorpusBuilder

BUGS = ROOT / "tests" / "data" / "anaphora" / "bugs"
COLUMNS = (
    "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING "
    "DISCOURSE_DEIXIS REFERENCE NOM_SEM\n"
)


def line(number, word, identity="_", bridging="_", deixis="_", rest="_\t_"):
    return (
        f"{number}\t{word}{chr(9)}{'_' + chr(9)}"
        + "_\t" * 7
        + f"{identity}\t{bridging}\t{deixis}\t{rest}\n"
    )


TEXT = COLUMNS + "# newdoc id = d\n# meta::genre = tale\n# sent_id = s1\n" + "".join((
    line(1, "Ann", "(EntityID=1|MarkableID=a|Min=1|SemType=dn|ElementOf=3)"),
    line(2, "and"),
    line(3, "old", "(EntityID=2|MarkableID=b|ElementOf=3|Min=4"),
    line(4, "Bob", ")", "_", "(EntityID=1-DD|MarkableID=dd_1"),
)) + "\n# sent_id = s2\n" + "".join((
    line(5, "saw", "_", "_", ")"),
    line(6, "it", "(EntityID=7-Pseudo|MarkableID=x)", "_", "(EntityID=1-DD|MarkableID=dd_2)"),
    line("6.1", "_", "(EntityID=3|MarkableID=z)"),
    line(7, "doors", "(EntityID=4|MarkableID=c)",
         "(MarkableID=c|Rel=poss|MentionAnchor=a|EntityAnchor=1)",
         rest="_\t(MarkableID=c|Entity_Type=object|Genericity=generic-no)"),
))  # fmt: skip


@pytest.fixture
def file(tmp_path):
    def make(text, name="x.conllua"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


def told(corpus):
    """Mentions by document, layer, entity and tokens, and relations by names."""
    layers, names = corpus.mention_layer.tolist(), list(corpus.names)
    rows = [
        (str(d.id), layers[m.row], m.entity.name, m.positions) for d in corpus for m in d.mentions
    ]
    relations = [
        (r.kind, names[r.anaphor[0]], rows[r.anaphor[1]][3] if r.anaphor[1] >= 0 else None,
         sorted((names[e], rows[m][3] if m >= 0 else ()) for e, m in r.antecedents), r.label)
        for r in corpus.relations
    ]  # fmt: skip
    return sorted(rows), sorted(map(repr, relations))


def test_what_is_read(file):
    corpus = read(file(TEXT))
    document = corpus[0]
    assert document.words == ["Ann", "and", "old", "Bob", "saw", "it", "_", "doors"]
    assert document.sentences == [document.words[:4], document.words[4:]]
    assert document.column("empty") == [""] * 6 + ["1", ""]
    assert (document.metadata, [dict(one) for one in document.sentence_metadata]) == (
        {"genre": "tale"}, [{"sent_id": "s1"}, {"sent_id": "s2"}],
    )  # fmt: skip
    assert told(corpus)[0] == [
        ("d", IDENTITY, "1", (0,)),
        ("d", IDENTITY, "2", (2, 3)),
        ("d", IDENTITY, "3", (6,)),
        ("d", IDENTITY, "4", (7,)),
        ("d", DEIXIS, "1-DD", (3, 4)),
        ("d", DEIXIS, "1-DD", (5,)),
        ("d", NON_REFERRING, "7-Pseudo", (5,)),
    ]
    assert told(corpus)[1] == [
        "('bridging', '4', (7,), [('1', (0,))], 'poss')",
        "('split-antecedent', '3', None, [('1', ()), ('2', ())], '')",
    ]
    assert corpus.notices == ()
    features = {m.text: m.features for m in document.mentions}
    assert (features["Ann"]["minspan"], features["old Bob"]["minspan"]) == ("1", "2")
    assert features["doors"]["entity_type"] == "object"
    assert corpus.tokens.line(0, 4) == 11


def test_blanks_are_as_good_as_tabs_and_the_last_column_may_be_missing(file):
    rows = [
        row.removesuffix("\t_").replace("\t", "   ") if row[:1].isdigit() else row
        for row in TEXT.splitlines()
    ]
    assert told(read(file("\n".join(rows)))) == told(read(file(TEXT)))


def test_a_column_of_one_document_is_one_of_the_file(file):
    """Tags or empty nodes of one document are not lost because another has none."""
    tagged = "1\ta\t_\tNOUN\t_\t_\t_\t_\t_\t_\t(EntityID=1)\t_\t_\t_\t_\n"
    zero = "1.1\t_\t_\tPRON\t_\t_\t_\t_\t_\t_\t(EntityID=1)\t_\t_\t_\t_\n"
    header = COLUMNS.splitlines(keepends=True)[0]
    plain = line(1, "b", "(EntityID=1)")
    tokens = read(
        file(f"{header}# newdoc id = d\n{plain}\n# newdoc id = e\n{tagged}{zero}\n")
    ).tokens
    assert {"upos", "empty"} <= {*tokens.columns}
    assert [tokens.column(number, "upos") for number in (0, 1)] == [["_"], ["NOUN", "PRON"]]
    assert tokens.column(1, "empty") == ["", "1"]
    assert "upos" not in read(file(header + plain)).tokens.columns


def test_columns_go_by_their_names(file):
    text = "# global.columns = ID FORM BRIDGING IDENTITY\n1 a _ (EntityID=1)\n2 b _ (EntityID=1)\n"
    assert [m.positions for m in read(file(text))[0].mentions] == [(0,), (1,)]
    assert [m.positions for m in read(file(TEXT.removeprefix(COLUMNS)))[0].mentions] == [
        m.positions for m in read(file(TEXT))[0].mentions
    ]


@pytest.mark.parametrize(
    ("cell", "spans"),
    [
        (")(EntityID=2|MarkableID=b)", [(0, 2), (1, 2), (2, 3)]),
        ("(EntityID=2|MarkableID=b))", [(0, 2), (1, 2), (2, 3)]),
        ("(EntityID=2@(EntityID=3))@)", [(0, 2), (1, 2), (1, 2), (2, 3)]),
        (")(EntityId=2|Markable_ID=b)", [(0, 2), (1, 2), (2, 3)]),
        (")(MentionID=b)", [(0, 2), (1, 2), (2, 3)]),
    ],
)
def test_brackets_close_in_any_order(file, cell, spans):
    text = COLUMNS + line(1, "a", "(EntityID=1|MarkableID=a") + line(2, "b", cell)
    corpus = read(file(text + line(3, "c", "(EntityID=1)")))
    assert sorted(m.span for m in corpus[0].mentions) == spans
    assert corpus.documents[0].name == "x"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (line(1, "a", ")"), "closes without being opened"),
        (line(1, "a", "(EntityID=1"), "never closes"),
        (line(1, "a", "EntityID=1"), "not a list of brackets"),
        ("1 a b\n", "not a token line"),
        (line("one", "a"), "not a token line"),
        (line(1, "two words").replace("\t", " "), "not a token line"),
    ],
)
def test_mistakes_are_named_with_their_lines(file, row, problem):
    with pytest.raises(InputError, match=problem) as error:
        read(file(COLUMNS + row))
    assert (error.value.line, bool(error.value.expected)) == (2, True)


ODD = COLUMNS + "# newdoc id = d\n" + "".join((
    line(1, "Ann", "(EntityID=1|MarkableID=a|Min=5|ElementOf=3,3)"),
    line(2, "Bob", "(EntityID=2|MarkableID=b|ElementOf=9)", "(MarkableID=b|MentionAnchor=zz)"),
    line(3, "they", "(EntityID=3|MarkableID=c|ElementOf=4)",
         "(MarkableID=c|MentionAnchor=c)(MarkableID=c|MentionAnchor=c)"),
    line(4, "them", "(EntityID=4|MarkableID=d|ElementOf=3,4)"),
    line(5, "it", "(EntityID=5|MarkableID=d)"),
))  # fmt: skip


def test_what_is_odd_is_found_with_its_line(file):
    [inspection] = inspect(file(ODD))
    found = {(one.kind, one.line) for one in inspection.findings if one.line}
    assert found == {
        ("unusable-minimum", 3),
        ("repeated-relation", 3),
        ("unknown-markable", 4),
        ("unmentioned-entity", 4),
        ("circular-set", 5),
        ("self-reference", 5),
        ("repeated-relation", 5),
        ("circular-set", 6),
        ("self-reference", 6),
        ("set-of-one", 6),
        ("repeated-markable", 7),
    }
    counts = {notice.kind: notice.count for notice in read(file(ODD)).notices}
    assert counts == {"minimum-outside": 1, "repeated-markables": 1, "unresolved-relations": 2}


def test_an_anchor_that_is_not_there_is_noticed_beside_one_that_is(file):
    rows = (
        line(1, "a", "(EntityID=1|MarkableID=a)"),
        line(2, "b", "(EntityID=2|MarkableID=b)", "(MarkableID=b|MentionAnchor=a,zz)"),
    )
    corpus = read(file(COLUMNS + "".join(rows)))
    assert len(corpus.relations) == 1
    assert [one.kind for one in corpus.notices] == ["unresolved-relations"]


@pytest.mark.parametrize(
    ("anchors", "contradicts"),
    [
        ("MentionAnchor=a|EntityAnchor=1", False),
        ("MentionAnchor=a|EntityAnchor=2", True),
        ("MentionAnchor=a|EntityAnchor=99", True),
        ("MentionAnchor=a,b|EntityAnchor=1,2", False),
        ("MentionAnchor=a", False),
        ("EntityAnchor=2", False),
    ],
)
def test_anchors_that_contradict_each_other_are_told_and_the_mention_counts(
    file, anchors, contradicts
):
    text = COLUMNS + "".join((
        line(1, "a", "(EntityID=1|MarkableID=a)"),
        line(2, "b", "(EntityID=2|MarkableID=b)"),
        line(3, "c", "(EntityID=3|MarkableID=c)", f"(MarkableID=c|{anchors})"),
    ))  # fmt: skip
    corpus = read(file(text))
    assert [one.kind for one in corpus.notices] == ["contradictory-anchors"] * contradicts
    [inspection] = inspect(file(text))
    found = [(one.line, one.message) for one in inspection.findings if "anchors" in one.kind]
    entity = anchors.rpartition("=")[2]
    message = f"MentionAnchor ‘a’ is of entity ‘1’, and EntityAnchor is ‘{entity}’"
    assert found == [(text[: text.index("3\tc")].count("\n") + 1, message)] * contradicts
    if contradicts:
        assert corpus.relations.antecedent_mention.tolist() == [0]


def test_what_is_odd_is_scored(file):
    corpus = read(file(ODD))
    result = corefeval.score(corpus, corpus, metrics="anaphora", split="score")
    assert result["bridging"].f1 == result["conll"].f1 == 1


def test_elements_that_nobody_mentions_are_found_in_corefud(file):
    text = (
        "# newdoc id = d\n# global.Entity = eid\n"
        "1\ta\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)|SplitAnte=e9<e1,e2<e1,e2<e1\n"
        "2\tb\t_\t_\t_\t_\t_\t_\t_\tEntity=(e2)|Bridge=e2<e2\n\n"
    )
    [inspection] = inspect(file(text, "x.conllu"))
    assert [(one.kind, one.line) for one in inspection.findings if one.line] == [
        ("unmentioned-entity", 3), ("self-reference", 4), ("set-of-one", 3),
        ("repeated-relation", 3),
    ]  # fmt: skip


def test_layers_may_share_spans_and_cross(file):
    """What is odd within a layer is not between two."""
    kinds = {one.kind for one in check_corpus(read(file(TEXT)))}
    assert not kinds & {"span-in-two-entities", "crossing-entities", "cross-sentence-mention"}


# What the README of the vectors says is sound, where it is a matter of reading and of bridging.
SOUND = {
    "double-close": ("conll", 1.0), "close-first": ("conll", 1.0), "no-markable-id": ("conll", 1.0),
    "entity-anchor-only": ("bridging", 1.0), "two-anchors": ("bridging", 1.0),
    "pseudo-shared": ("non-referring", 2 / 3), "pseudo-underscore": ("b3", 1.0),
    "empty-cell": ("b3", 1.0), "repeated-mention": ("ceafm", 1.0),
}  # fmt: skip


@pytest.mark.parametrize("case", [*SOUND, "cycle", "discontinuous", "missing-document"])
def test_what_other_programs_stumble_over(case):
    cases = {one["id"]: one for one in json.loads((BUGS / "bugs.json").read_text())["cases"]}
    files = [BUGS / file for file in cases[case]["files"]]
    metric, f1 = SOUND.get(case, ("b3", None))
    found = corefeval.score(*files, metrics=metric)[metric]
    if f1 is not None:
        assert found.f1 == pytest.approx(f1)
    elif case == "missing-document":
        assert found.recall == 0.5
    elif case == "discontinuous":
        assert 0 < found.f1 < 1


def test_documents_without_names_pair_by_position():
    files = [BUGS / f"no-newdoc.{side}.conllua" for side in ("key", "response")]
    assert corefeval.score(*files)["b3"].f1 == 1
    assert corefeval.score(*files, pairing="position")["b3"].f1 == 1


# Writing -----------------------------------------------------------------------------------------


def test_what_is_written_is_read_again(file, tmp_path):
    corpus = read(file(TEXT))
    assert write(corpus, tmp_path / "y.conllua") == ()
    again = read(tmp_path / "y.conllua")
    assert told(again) == told(corpus)
    assert again.features.keys() == corpus.features.keys()
    for name in corpus.features:
        assert again.features[name].tolist() == corpus.features[name].tolist()
    assert [d.words for d in again] == [d.words for d in corpus]


@st.composite
def layered(draw):
    builder = CorpusBuilder(name="x")
    for index in range(draw(st.integers(1, 2))):
        document = builder.document(f"d{index}", words=list("abcdefgh"), sentence_starts=[0, 4])
        numbers = []
        for _ in range(draw(st.integers(1, 8))):
            layer = draw(st.sampled_from((IDENTITY, IDENTITY, DEIXIS, NON_REFERRING)))
            ending = ("", "-DD", "-Pseudo")[layer]
            entity = f"{draw(st.integers(1, 3))}{ending}"
            positions = draw(st.sets(st.integers(0, 7), min_size=1, max_size=5))
            numbers.append((document.mention_at(entity, positions, layer=layer), layer, entity))
        some = [one for one in numbers if one[1] != DEIXIS]
        for _ in range(draw(st.integers(0, 2)) if some else 0):
            one, other = draw(st.sampled_from(some)), draw(st.sampled_from(some))
            document.relation("bridging", one[0], [other[0]], draw(st.sampled_from(["", "poss"])))
        wholes = [one for one in numbers if one[1] == IDENTITY]
        if wholes and draw(st.booleans()):
            elements = {(name, layer) for _, layer, name in some}
            document.relation("split-antecedent", wholes[0][2], sorted(elements))
    return builder.build()


@settings(max_examples=80)
@given(layered())
def test_any_mentions_come_back(tmp_path_factory, corpus):
    """Crossing, repeated, discontinuous: all are whole again, in every layer."""
    path = tmp_path_factory.getbasetemp() / "any.conllua"
    notices = write(corpus, path)
    assert {notice.kind for notice in notices} <= {"crossing-mentions"}
    assert told(read(path)) == told(corpus)


def test_sets_and_bridging_go_to_corefud_and_back(file, tmp_path):
    corpus = read(file(TEXT))
    notices = write(corpus, tmp_path / "y.conllu")
    assert {n.kind: n.count for n in notices} == {"layers": 3}
    text = (tmp_path / "y.conllu").read_text()
    assert "SplitAnte=1<3,2<3" in text
    assert "Bridge=1<4:poss" in text
    other = read(tmp_path / "y.conllu")
    told_of = {n.kind: n.count for n in write(other, tmp_path / "z.conllua")}
    assert told_of == {"chosen-anchors": 1}
    again = read(tmp_path / "z.conllua")
    assert told(again)[1] == told(corpus)[1]
    assert [m.features["minspan"] for m in again[0].mentions] == ["1", "2", "", ""]


def test_another_antecedent_than_the_last_is_lost_in_corefud(file, tmp_path):
    text = TEXT.replace(line(2, "and"), line(2, "and", "(EntityID=1|MarkableID=a2)"))
    [notice] = [n for n in write(read(file(text)), tmp_path / "y.conllu") if n.kind != "layers"]
    assert (notice.kind, notice.count) == ("antecedent-mentions", 1)


def test_old_gum_says_split(file):
    text = (
        "# newdoc id = d\n# global.Entity = GRP\n"
        "1\ta\t_\t_\t_\t_\t_\t_\t_\tEntity=(1)\n2\tb\t_\t_\t_\t_\t_\t_\t_\tEntity=(2)\n"
        "3\tc\t_\t_\t_\t_\t_\t_\t_\tEntity=(3)|Split=1<3,2<3\n\n"
    )
    [relation] = read(file(text, "x.conllu")).relations
    assert (relation.kind, relation.antecedents) == ("split-antecedent", ((0, -1), (1, -1)))


@pytest.mark.parametrize("target", ["x.conll", "x.jsonl", "x.conllu"])
def test_layers_that_a_format_lacks_are_told(file, tmp_path, target):
    notices = {n.kind: n.message for n in write(read(file(TEXT)), tmp_path / target)}
    assert notices["layers"] == ("3 mentions of other layers left out: 2 deixis, 1 non-referring")
    assert read(tmp_path / target).n_mentions == 4


def test_heads_are_counted_in_the_sentence(file, tmp_path):
    places = (("1", "a", "2", "_"), ("2", "b", "0", "_"), ("3", "c", "4", "4:x|3:y"),
              ("4", "d", "0", "_"))  # fmt: skip
    rows = [f"{n}\t{word}\t_\t_\t_\t_\t{head}\tx\t{deps}\t_\t_" for n, word, head, deps in places]
    rows.insert(2, "")
    corpus = read(file(COLUMNS + "\n".join(rows)))
    assert corpus[0].column("head") == ["2", "0", "2", "0"]
    assert corpus[0].column("deps")[2] == "2:x|1:y"
    write(corpus, tmp_path / "y.conllua")
    assert "\n3\tc\t_\t_\t_\t_\t4\tx\t4:x|3:y\t" in (tmp_path / "y.conllua").read_text()


@settings(max_examples=60)
@given(st.data())
def test_any_bytes_are_a_corpus_or_one_error(tmp_path_factory, data):
    text = bytearray((ODD + TEXT.removeprefix(COLUMNS)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 9))] = data.draw(
            st.sampled_from([b"(", b")", b"\t", b"\n", b"|", b"=", b"5.1", b"9-Pseudo", b"@", b""])
        )
    path = tmp_path_factory.getbasetemp() / "broken.conllua"
    path.write_bytes(bytes(text))
    try:
        corpus = read(path, format="conllua")
        write(corpus, path, format="conllua")
        read(path, format="conllua")
    except CorefEvalError as error:
        assert str(error).strip()


def test_a_long_chain_of_sets_ends(file):
    count = 400
    rows = [line(n, "w", f"(EntityID={n}|ElementOf={n % count + 1})") for n in range(1, count + 1)]
    corpus = read(file(COLUMNS + "".join(rows)))
    assert np.count_nonzero(corpus.relations.entity >= 0) == count
    assert corefeval.score(corpus, corpus, split="score")["b3"].f1 == 1
    assert len([one for one in check_corpus(corpus) if one.kind == "circular-set"]) == count


def test_a_tenth_column_that_looks_like_a_cell_is_misc_of_conllu(tmp_path):
    path = tmp_path / "misc.conllu"
    path.write_text(
        "# newdoc id = d\n1\tshe" + "\t_" * 7 + "\t(EntityID=3|MarkableID=markable_1\n\n"
    )
    assert corefeval.read(path)[0].words == ["she"]
