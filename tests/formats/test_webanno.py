"""WebAnno TSV: layers, relations, parts of tokens, and documents that come back as they were."""

from __future__ import annotations

import zipfile
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import examples
from corefeval import InputError, UsageError
from corefeval.model import CorpusBuilder

CHAIN = "#T_CH=a.b.PersonLink|referenceType|referenceRelation"
SPAN = "#T_SP=a.b.Mention|kind|who"
RELATION = "#T_RL=a.b.Coreference|label|BT_a.b.Mention"


@pytest.fixture
def tsv(tmp_path):
    """Writes a document of layers and rows (word and cells), and returns its path."""

    def write(layers: list[str], *rows: str, name: str = "d.tsv", version: str = "3.3"):
        lines = [f"#FORMAT=WebAnno TSV {version}", *layers, "", ""]
        place = token = 0
        for row in rows:
            identifier, _, cells = row.rpartition(" ")
            word = cells.split("\t")[0]
            token += not identifier
            end = place + len(word)
            lines.append(f"{identifier or f'1-{token}'}\t{place}-{end}\t{cells}\t")
            place = end + 1
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def entities(path, layer=None):
    (document,) = corefeval.read(path, layer=layer)
    return {
        entity.name: [mention.parts for mention in entity.mentions] for entity in document.entities
    }


def test_rows_of_one_link_are_one_mention_also_with_a_gap(tsv):
    path = tsv([CHAIN], "Ada\t*[1]\t*->1-1", "and\t_\t_", "Bob\t*[1]\tx->1-1", "she\tpr[1]\t*->1-2")
    assert entities(path) == {"1": [[(0, 1), (2, 3)], [(3, 4)]]}
    features = [mention.features for mention in corefeval.read(path)[0].mentions]
    assert features[1]["referenceType"] == "pr"


def test_words_are_not_escaped_and_values_are(tsv):
    path = tsv([SPAN, RELATION], "a\\[b\t*[1]\tx\\_\\|\\[1\\]y[1]\t_\t_", "_\t*[2]\t*[2]\t_\t_")
    document = corefeval.read(path, layer="Mention.who")[0]
    assert document.words == ["a\\[b", "_"]
    assert {entity.name for entity in document.entities} == {"x_|[1]y", "1"}


def test_relations_join_their_base_and_bridging_does_not(tsv):
    path = tsv(
        [SPAN, RELATION],
        "Ada\tp[1]|q[2]\t_\tcoref|bridge:part\t1-3[0_1]|1-4[3_2]",
        "met\t_\t_\t_\t_",
        "she\tp\t_\t_\t_",
        "her\tp[3]\t_\t_\t_",
        "it\tp\t_\t_\t_",
    )
    corpus = corefeval.read(path)
    assert sorted(map(len, entities(path).values())) == [1, 1, 1, 2]
    (relation,) = corpus.relations
    assert (relation.kind, relation.label) == ("bridging", "part")
    assert corpus[0].mentions[relation.anaphor[1]].text == "her"


def test_tokens_that_relations_join_are_mentions_where_tokens_are_the_base(tsv):
    layer = "#T_RL=a.b.Anaphora|BT_de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
    path = tsv([layer], "Ada\t1-3", "met\t_", "she\t_")
    assert entities(path) == {"0": [[(0, 1)], [(2, 3)]]}


def test_a_part_of_a_token_stands_for_the_token(tsv):
    path = tsv([CHAIN], "Adas\t_\t_", "1-1.1 Ada\t*[1]\t*->1-1", "she\t*[1]\t*->1-2")
    assert entities(path) == {"1": [[(0, 1)], [(1, 2)]]}
    assert [notice.kind for notice in corefeval.read(path).notices] == ["widened-mentions"]


@pytest.mark.parametrize(
    ("layer", "names"),
    [("a.b.PersonLink", {"1"}), ("PlaceLink", {"2"}), ("Mention.who", {"E1", "0"})],
)
def test_layers_are_chosen_by_name(tsv, layer, names):
    layers = [SPAN, CHAIN, CHAIN.replace("Person", "Place")]
    path = tsv(layers, "Ada\tp[1]\tE1[1]\t*[1]\t*->1-1\t*[2]\t*->2-1", "x\t*\t_\t_\t_\t_\t_")
    found = set(entities(path, layer))
    assert found == names or found == {"E1", "1"}


def test_which_layer_is_meant_must_be_clear(tsv, run):
    layers = [SPAN, CHAIN, CHAIN.replace("Person", "Place")]
    path = str(tsv(layers, "Ada\tp\tE1\t*[1]\t*->1-1\t*[2]\t*->2-1"))
    for layer in (None, "Nothing", "Mention", "Mention.what"):
        with pytest.raises(InputError) as error:
            corefeval.read(path, layer=layer)
        for name in ("PersonLink", "PlaceLink", "Mention.who", "layer="):
            assert name in str(error.value)
    assert run("stats", path, "--layer", "PersonLink")[0] == 0
    options = {
        "score": "--key-layer or --response-layer NAME",
        "agree": "--file-layer NAME",
        "stats": "--layer NAME",
    }
    for command, option in options.items():
        paths = [path] if command == "stats" else [f"a={path}", f"b={path}"]
        paths = [path, path] if command == "score" else paths
        status, _, err = run(command, *paths)
        assert status == 1 and option in err


def test_a_layer_that_is_named_is_part_of_the_signature(tsv, run):
    layers = [CHAIN, CHAIN.replace("Person", "Place")]
    path = str(tsv(layers, "Ada\t*[1]\t*->1-1\t*[2]\t*->2-1", "she\t*[1]\t*->1-2\t*[2]\t*->2-2"))
    result = corefeval.score(path, path, key_layer="PersonLink", response_layer="PlaceLink")
    assert result["conll"].f1 == pytest.approx(1)
    assert "key-layer:PersonLink|response-layer:PlaceLink" in result.signature
    again = corefeval.score(path, path, protocol=result.signature)
    assert again.signature == result.signature
    plain = tsv([CHAIN], "Ada\t*[1]\t*->1-1", name="plain.tsv")
    assert "layer" not in corefeval.score(plain, plain).signature
    files = ("ann=" + path, "bob=" + path)
    status, out, _ = run("agree", *files, "--file-layer", "PersonLink", "--format", "json")
    assert status == 0 and "key-layer:PersonLink" in out
    names = ("--key-layer", "PersonLink", "--response-layer", "PlaceLink", "-q")
    for command in ("compare", "errors", "explain"):
        responses = ("a=" + path, "b=" + path) if command == "compare" else (path,)
        assert run(command, path, *responses, *names)[0] == 0


def test_formats_without_layers_refuse_them(run):
    key = corefeval.example("key")
    with pytest.raises(UsageError, match="no layers"):
        corefeval.read(key, layer="x")
    with pytest.raises(UsageError, match="no layers"):
        corefeval.score(key, key, key_layer="x")
    for command in ("check", "stats"):
        status, _, err = run(command, key, "--layer", "x")
        assert status == 2 and "no layers" in err
    with pytest.raises(UsageError, match="name of a layer"):
        corefeval.score(key, key, key_layer=3)


def test_a_layer_in_the_header_that_is_empty_has_no_mentions(tsv):
    assert corefeval.read(tsv([CHAIN], "Ada\t_\t_")).n_mentions == 0
    with pytest.raises(InputError, match=r"no layer of coreference(.|\n)*Mention.who"):
        corefeval.read(tsv([SPAN], "Ada\tp\tE1"))


@pytest.mark.parametrize(
    ("layers", "rows", "line", "words"),
    [
        ([CHAIN], ["Ada\t*[1]\tcoref"], 5, "link of a chain"),
        ([CHAIN], ["Ada\t*[1]"], 5, "2 columns"),
        ([CHAIN], ["x Ada\t*[1]\t*->1-1"], 5, "line of a token"),
        ([SPAN, RELATION], ["Ada\tp\tE\tx\t1-2"], 6, "1-2"),
        ([SPAN, RELATION], ["Ada\tp\tE\tx\t1-1[7_8]"], 6, "‘7’"),
        ([SPAN, RELATION], ["Ada\tp\tE\tx\tAda"], 6, "source of a relation"),
    ],
)
def test_mistakes_are_told_with_their_lines(tsv, layers, rows, line, words):
    with pytest.raises(InputError, match=words) as error:
        corefeval.read(tsv(layers, *rows))
    assert error.value.line == line


def test_layers_and_tokens_are_there_once(tsv):
    path = tsv([CHAIN, CHAIN], "Ada\t*[1]\t*->1-1\t_\t_")
    with pytest.raises(InputError, match=r"(?s)line 3: two layers have one name.*PersonLink"):
        corefeval.read(path)
    path = tsv([CHAIN], "Ada\t*[1]\t*->1-1", "1-1 her\t*[1]\t*->1-2")
    with pytest.raises(InputError, match=r"(?s)line 6: a token appears twice.*her"):
        corefeval.read(path)


def test_a_stacked_annotation_without_a_number_is_one_of_its_own(tsv):
    path = tsv([SPAN, RELATION], "Ada\tP|O\t*|x\t_\t_", "she\tP\t*\t*\t1-1")
    assert sorted(entities(path).values()) == [[[(0, 1)]], [[(0, 1)], [(1, 2)]]]
    path.write_text("\n\n" + path.read_text())  # blank lines before it
    assert len(entities(path)) == 2


def test_older_versions_are_named(tsv):
    with pytest.raises(InputError, match=r"WebAnno TSV 3(.|\n)*3\.x"):
        corefeval.read(tsv([CHAIN], "Ada\t_\t_", version="2"))


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["Ada", "😊", "_", "*", "a|b", "\\", "#x", "1-1", "[1]", "a\tb", "a\nb", " ", "->"]
)


@st.composite
def corpora(draw):
    """Any mentions: nested, crossing, repeated, across sentences; any words."""
    builder = CorpusBuilder(name="random")
    for name in draw(st.lists(st.sampled_from(["a", "b/c", "d%e", "A"]), unique=True, min_size=1)):
        words = draw(st.lists(WORDS, min_size=1, max_size=8))
        starts = sorted({0, *draw(st.lists(st.integers(0, len(words) - 1), max_size=2))})
        document = builder.document(name, words=words, sentence_starts=starts)
        places = st.tuples(
            st.integers(0, len(words) - 1), st.integers(1, 5), st.sampled_from("xyz")
        )
        for start, length, entity in draw(st.lists(places, max_size=8)):
            document.mention(entity, start, min(start + length, len(words)))
    return builder.build()


def partition(document):
    return sorted(
        sorted(mention.span for mention in entity.mentions) for entity in document.entities
    )


@given(corpus=corpora())
@settings(max_examples=examples(60), deadline=None)
def test_a_round_trip_keeps_mentions_and_entities(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("round") / "tsv"
    corefeval.write(corpus, folder, format="webanno")
    again = corefeval.read(folder)
    assert sorted(map(str, again.documents)) == sorted(map(str, corpus.documents))
    for document in corpus:
        twin = again[document.id]
        assert partition(twin) == partition(document)
        assert len(twin.sentences) == len(document.sentences)
        for word, carried in zip(document.words, twin.words, strict=True):
            assert carried.split() == (word.split() or ["_"])


def test_offsets_of_written_documents_are_those_of_java(tmp_path):
    builder = CorpusBuilder()
    document = builder.document("d", words=["😊", "\\x", "it"], sentence_starts=[0, 2])
    document.mention("e", 0, 2)
    corefeval.write(builder.build(), tmp_path / "d.tsv")
    assert (tmp_path / "d.tsv").read_text(encoding="utf-8").splitlines()[4:] == [
        "#Text=😊 \\\\x",
        "1-1\t0-2\t😊\t*[1]\t*->1-1\t",
        "1-2\t3-5\t\\x\t*[1]\t*->1-1\t",
        "",
        "#Text=it",
        "2-1\t6-8\tit\t_\t_\t",
    ]


def test_what_tsv_cannot_carry_is_told(tmp_path, run):
    builder = CorpusBuilder()
    document = builder.document("d", words=["a\tb", "c", "d"], columns={"lemma": ["a", "c", "d"]})
    document.mention_at("Ada", [0, 2], features={"gender": "f"})
    first = document.mention("Bob", 1, 2)
    document.relation("bridging", first, ["Ada"])
    notices = corefeval.write(builder.build(), tmp_path / "out", format="webanno")
    kinds = {notice.kind for notice in notices}
    assert kinds == {
        *("discontinuous-mentions", "entity-names", "mention-features", "token-columns"),
        *("relations", "changed-words"),
    }
    key = corefeval.example("key")
    assert run("convert", key, str(tmp_path / "key"), "--to", "webanno", "-q")[0] == 0
    assert run("score", key, str(tmp_path / "key"), "-q")[0] == 0
    assert corefeval.score(key, tmp_path / "key")["conll"].f1 == 1


def test_spans_that_no_relation_of_the_document_joins_are_counted(tmp_path):
    header = "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Mention|kind\n"
    header += "#T_RL=custom.Coref|label|BT_custom.Mention\n\n"
    path = tmp_path / "empty.tsv"
    path.write_text(header + "1-1\t0-3\tAda\tPER\t_\t_\t\n1-2\t4-7\tran\t_\t_\t_\t\n")
    corpus = corefeval.read(path)
    assert not corpus.n_mentions
    assert [(n.kind, n.count) for n in corpus.notices] == [("unrelated-spans", 1)]


@pytest.mark.parametrize("packed", [False, True])
def test_an_export_with_a_folder_per_document_is_named_by_its_folders(tmp_path, packed):
    texts = {"anna": "1-1\t0-3\tAda\t*[1]\t*->1-1\n1-2\t4-7\tshe\t*[1]\t*->1-2\n"}
    texts["ben"] = texts["anna"].replace("*->1-2", "*->2-1")
    for story, (annotator, text) in product(("story1.txt", "story2.html"), texts.items()):
        folder = tmp_path / "annotation" / story
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{annotator}.tsv").write_text(f"#FORMAT=WebAnno TSV 3.3\n{CHAIN}\n\n\n{text}")
    paths = [tmp_path / "annotation" / "*" / f"{name}.tsv" for name in texts]
    if packed:
        paths = [pack(tmp_path / f"{name}.zip", tmp_path, f"*/*/{name}.tsv") for name in texts]
    result = corefeval.score(*paths, metrics="muc, mentions")
    assert [str(document.id) for document in corefeval.read(paths[0])] == ["story1", "story2"]
    assert (result["mentions"].f1, result["muc"].recall) == (1.0, 0.0)


def test_other_folders_name_no_documents(tmp_path):
    folder = tmp_path / "annotation" / "v1.2"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        text = "1-1\t0-3\tAda\t*[1]\t*->1-1\n"
        (folder / f"{name}.tsv").write_text(f"#FORMAT=WebAnno TSV 3.3\n{CHAIN}\n\n\n{text}")
    assert [str(document.id) for document in corefeval.read(folder)] == ["a", "b"]


def pack(path, folder, pattern):
    """A zip of the files in a folder that match a pattern."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.glob(pattern)):
            archive.write(file, file.relative_to(folder))
    return path
