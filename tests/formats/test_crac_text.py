"""CRAC plain text: marks behind words, a document per line."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings

import corefeval
from corefeval import CorefEvalError, InputError
from corefeval.formats.crac_text import read_crac_text
from corefeval.formats.source import read_source
from corefeval.model import CorpusBuilder, DocumentId
from standoff_strategies import contents, corpora, mutations, sentences, write_crac_text

LINE = (
    "Los|[e1 jugadores de el Espanyol|[e2],e1] aseguraron hoy que ##|[e1] prefieren enfrentar se "
    "a el Barcelona|[e3] en la|[e4 final de la|[e5 Copa de el Rey|e4],e5]"
)


@pytest.fixture
def read(tmp_path):
    def read(text: str, name: str = "es.txt"):
        (tmp_path / name).write_bytes(text.encode())
        return corefeval.read(tmp_path / name, format="crac-text")

    return read


def texts(corpus, document=0):
    return {e.name: [m.text for m in e.mentions] for e in corpus[document].entities}


def spans(corpus, document=0):
    return {e.name: [m.span for m in e.mentions] for e in corpus[document].entities}


def test_mentions_nest_and_cross(read):
    corpus = read(LINE)
    assert texts(corpus) == {
        "e1": ["Los jugadores de el Espanyol", "##"],
        "e2": ["Espanyol"],
        "e3": ["Barcelona"],
        "e4": ["la final de la Copa de el Rey"],
        "e5": ["la Copa de el Rey"],
    }
    assert corpus.documents == (DocumentId("es"),)
    assert corpus.notices == ()


def test_zeros_are_told_by_their_words(read):
    corpus = read("##|[e1] duerme ##él # x##")
    assert corpus[0].column("empty") == ["1", "", "1", "", ""]


def test_documents_without_mentions_are_recognised(tmp_path):
    builder = CorpusBuilder(name="empty")
    builder.document("a", words=["Ada", "slept"])
    builder.document("b", words=[])
    corefeval.write(builder.build(), tmp_path / "x.txt", format="crac-text")
    corpus = corefeval.read(tmp_path / "x.txt")
    assert [str(document) for document in corpus.documents] == ["a", "b"]
    assert corpus[0].words == ["Ada", "slept"]


def test_comments_of_other_formats_are_no_text(tmp_path):
    (tmp_path / "x.conllu").write_text("# newdoc id = a\n1\tAda\n2\tslept\n")
    with pytest.raises(InputError, match="not in a format that corefeval knows"):
        corefeval.read(tmp_path / "x.conllu")


def test_a_file_of_white_space(tmp_path):
    (tmp_path / "x.conll").write_text("\n \n\n")
    with pytest.raises(InputError, match="there is only white space"):
        corefeval.read(tmp_path / "x.conll")


def test_the_format_is_recognised(tmp_path):
    (tmp_path / "x.txt").write_text(LINE)
    assert corefeval.read(tmp_path / "x.txt").n_mentions == 6


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a b\n", ["es"]),
        ("a b\n\n \nc d", ["es_1", "es_2"]),
        ("# newdoc id = bc/x; part 001\na\n", ["bc/x; part 001"]),
        ("# newdoc id = one\n# genre = news\na\r\n# newdoc id = two\r\nb", ["one", "two"]),
        ("# newdoc id = one\na\nb\n", ["one", "es_2"]),
        ("# newdoc id = one\n# newdoc id = two\na\n", ["one", "two"]),
        ("# newdoc id =\na\n", ["es"]),
    ],
)
def test_names_of_documents(read, text, names):
    assert list(map(str, read(text).documents)) == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|[e1 b|[e1 c|e1] d|e1]", {"e1": [(0, 4), (1, 3)]}),
        ("a|[e1 b|e1],[e1 c|e1]", {"e1": [(0, 2), (1, 3)]}),
        ("a|[e1 b|[e1,e1] c|e1]", {"e1": [(0, 2), (1, 3)]}),
        ("a|[e1,e1] b|e1,[e1]", {"e1": [(0, 1)]}),
        ("a|[e1],[e1] b", {"e1": [(0, 1), (0, 1)]}),
        ("a|[e1,[e1 b|e1],e1]", {"e1": [(0, 2), (0, 2)]}),
        ("a|[Lord_Byron-1]", {"Lord_Byron-1": [(0, 1)]}),
    ],
)
def test_marks_of_one_entity(read, text, expected):
    assert spans(read(text)) == expected


@pytest.mark.parametrize(
    ("text", "words", "mentions"),
    [
        ("a|b|[e1]", ["a|b"], 1),
        ("a|b |[e1] | a| ||", ["a|b", "|[e1]", "|", "a|", "||"], 0),
        ("a|[e1]|[e2]", ["a|[e1]"], 1),
        ("a|[e1| a|[e1]|| b", ["a|[e1", "a|[e1]|", "b"], 0),
        ("a\u00a0b|[e1] \t c", ["a\u00a0b", "c"], 1),
    ],
)
def test_bars_in_words(read, text, words, mentions):
    corpus = read(text)
    assert corpus[0].words == words
    assert corpus.n_mentions == mentions


def test_brackets_that_are_no_marks_are_counted(read):
    corpus = read("a|[e1,,e2] b|[] c|e1][ d")
    assert corpus[0].words[0] == "a|[e1,,e2]"
    assert [(n.kind, n.count) for n in corpus.notices] == [("unread-marks", 3)]


@pytest.mark.parametrize(
    ("text", "problem", "found"),
    [
        ("x\n\na b|[e1 c", "‘e1’ on word 2, ‘b’, never closes", "‘[e1’"),
        ("x\n\na b|e1] c", "‘e1’ on word 2, ‘b’, never opens", "‘e1]’"),
        ("x\n\na|[e1 c|e1],e1]", "on word 2, ‘c’, never opens", "‘e1]’"),
        ("a|[e1\n\nb|e1]", "on word 1, ‘a’, never closes", "‘[e1’"),
    ],
)
def test_unbalanced_marks(read, text, problem, found):
    with pytest.raises(InputError, match=problem) as error:
        read(text)
    assert error.value.line == (1 if text[0] == "a" else 3)
    assert found in error.value.found
    assert error.value.expected
    assert error.value.fix


def test_a_file_of_comments_has_no_document(read):
    with pytest.raises(InputError, match="no document"):
        read("# a = b\n\n")


@given(corpus=corpora(zeros=True))
def test_written_then_read_is_the_same(corpus, tmp_path_factory):
    made = write_crac_text(corpus)
    path = tmp_path_factory.getbasetemp() / "written.txt"
    path.write_bytes(made.files[""])
    again = read_crac_text(read_source(path))
    counts = {notice.kind: notice.count for notice in made.notices}
    crossing = counts.pop("crossing-mentions", 0)
    boundaries = sum(max(len(sentences(document)) - 1, 0) for document in corpus)
    assert counts == ({"sentence-boundaries": boundaries} if boundaries else {})
    assert again.documents == corpus.documents
    assert again.notices == ()
    assert again.n_mentions == corpus.n_mentions - crossing
    for one, other in zip(corpus, again, strict=True):
        assert [w for s in sentences(one) for w in s] == [w for s in sentences(other) for w in s]
        assert contents(other).keys() <= contents(one).keys()
        if not crossing:
            assert contents(one) == contents(other)


def test_what_cannot_be_carried_is_counted():
    builder = CorpusBuilder()
    words = ["two words", "", "él", "##x", "_"]
    columns = {"empty": ["", "", "1", "", "1"], "tag": list("ABCDE")}
    document = builder.document(" a\nb", words=words, columns=columns, sentence_starts=[0, 2])
    document.mention("no mark", 0, 3)
    document.mention("no mark", 1, 4)
    document.mention_at("[2]", [0, 2], head=0, features={"kind": "name"})
    document.relation("bridging", "[2]", ["no mark"])
    made = write_crac_text(builder.build())
    assert made.files[""].decode() == (
        "# newdoc id = a b\ntwo_words|[e1,[e2 _ ##él|e1],e2] ##x ##\n"
    )
    assert {n.kind: n.count for n in made.notices} == {
        "crossing-mentions": 1, "discontinuous-mentions": 1, "sentence-boundaries": 1,
        "changed-words": 2, "zero-words": 2, "false-zeros": 1, "document-names": 1,
        "entity-names": 2, "token-columns": 1, "mention-features": 2, "relations": 1,
    }  # fmt: skip


def test_words_that_would_read_as_a_comment(read):
    builder = CorpusBuilder()
    words = ["#", "a", "=", "b"]
    builder.document("d", words=words)
    assert read(write_crac_text(builder.build()).files[""].decode())[0].words == words


def test_a_name_with_marks_in_it_does_not_make_a_conll_file_crac_text(tmp_path):
    path = tmp_path / "marked-name.conll"
    path.write_text("#begin document (a b|[e4 c|e4] d); part 000\n#end document\n")
    assert corefeval.read(path).documents[0].name == "a b|[e4 c|e4] d"


def test_without_words_there_are_underscores():
    corpus = corefeval.corpus_from_arrays(entity=[0], start=[1], document_ids=["d"])
    target = io.BytesIO()
    assert corefeval.write(corpus, target, format="crac-text") == ()
    assert target.getvalue() == b"# newdoc id = d\n_ _|[0]\n"


@settings(max_examples=300)
@given(data=mutations("# newdoc id = a\n" + LINE + "\n\nb|[e1] c\n"))
def test_any_bytes_are_a_corpus_or_one_error(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "broken.txt"
    path.write_bytes(data)
    try:
        assert read_crac_text(read_source(path)).documents
    except CorefEvalError as error:
        assert str(error).strip()
