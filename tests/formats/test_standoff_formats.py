"""Annotation files with their text beside them: LitBank, and what files are called."""

from __future__ import annotations

import gzip
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import CorefEvalError, InputError, corpus_from_entities
from corefeval.formats import FORMATS, fingerprint
from corefeval.formats.litbank import read_litbank
from corefeval.formats.registry import find_format
from corefeval.formats.source import read_source
from corefeval.formats.standoff import document_id, file_stems
from corefeval.model import CorpusBuilder, DocumentId
from corefeval.pairing.documents import find_partners
from standoff_strategies import (
    contents,
    corpora,
    mutations,
    sentences,
    spans,
    write_litbank,
    write_pair,
    written,
)

TEXT = "Ada met the captain .\n\nShe smiled at him , a sailor .\n"
LITBANK = """COREF\tT3\tAda-1
MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP
MENTION\tT2\t0\t2\t0\t3\tthe captain\tPER\tNOM
MENTION\tT3\t2\t0\t2\t0\tShe\tPER\tPRON
MENTION\tT4\t2\t3\t2\t3\thim\tPER\tPRON
MENTION\tT5\t2\t5\t2\t6\ta sailor\tPER\tNOM
COREF\tT1\tAda-1
COREF\tT2\tcaptain-2
COREF\tT4\tcaptain-2
APPOS\tT5\tT4
COP\tT5\tT2
"""


@pytest.fixture
def pair(tmp_path):
    return lambda annotation, text=TEXT: write_pair(tmp_path, annotation, text)


def test_litbank_is_read_by_sentence_and_token(pair):
    corpus = corefeval.read(pair(LITBANK))
    assert corpus.documents == (DocumentId("story"),)
    assert spans(corpus) == {"Ada-1": [(0, 1), (5, 6)], "captain-2": [(2, 4), (8, 9)],
                             "T5": [(10, 12)]}  # fmt: skip
    assert corpus[0].sentences == [
        ["Ada", "met", "the", "captain", "."],
        ["She", "smiled", "at", "him", ",", "a", "sailor", "."],
    ]
    assert corpus.notices == ()


def test_litbank_features_and_relations_are_kept(pair):
    corpus = corefeval.read(pair(LITBANK))
    assert corpus.features["mention_type"].tolist() == ["PROP", "NOM", "PRON", "PRON", "NOM"]
    assert set(corpus.features["entity_type"].tolist()) == {"PER"}
    ids = corpus.features["mention_id"].tolist()
    found = [
        (r.kind, [ids[row] for _, row in r.antecedents], ids[r.anaphor[1]])
        for r in corpus.relations
    ]
    assert found == [("apposition", ["T5"], "T4"), ("copula", ["T5"], "T2")]
    files = write_litbank(corpus).files
    assert b"APPOS\tT5\tT4\nCOP\tT5\tT2\n" in files["story.ann"]


def test_litbank_relations_follow_mentions_that_are_numbered_anew(pair):
    path = pair(LITBANK.replace("\tT5", "\tfive").replace("\tT2", "\ttwo"))
    files = write_litbank(corefeval.read(path)).files
    assert b"MENTION\tT5\t1\t5\t1\t6\ta sailor" in files["story.ann"]
    assert b"APPOS\tT5\tT4\nCOP\tT5\tT2\n" in files["story.ann"]


def test_litbank_mention_of_two_entities_is_a_mention_of_each(pair):
    corpus = corefeval.read(pair(LITBANK + "COREF\tT5\tcaptain-2\nCOREF\tT5\tAda-1\n"))
    assert spans(corpus)["Ada-1"][-1] == spans(corpus)["captain-2"][-1] == (10, 12)
    assert write_litbank(corpus).files["story.ann"].count(b"MENTION\tT5\t") == 1


def test_litbank_singleton_is_not_mixed_up_with_an_entity_of_its_name(pair):
    corpus = corefeval.read(pair(LITBANK.replace("captain-2", "T5")))
    assert spans(corpus)["T5"] == [(2, 4), (8, 9)]
    assert spans(corpus)["T5 (2)"] == [(10, 12)]


def test_litbank_repeated_links_and_other_texts_are_counted(pair):
    corpus = corefeval.read(pair(LITBANK.replace("a sailor", "the sailor") + "COREF\tT1\tAda-1\n"))
    assert {(n.kind, n.count) for n in corpus.notices} == {("other-text", 1), ("repeated-links", 1)}


def test_litbank_with_other_line_ends(pair):
    path = pair(LITBANK.replace("\n", "\r\n"), TEXT.replace("\n", "\r\n"))
    assert spans(corefeval.read(path))["captain-2"] == [(2, 4), (8, 9)]


@pytest.mark.parametrize(
    ("old", "new", "problem", "line"),
    [
        ("T5\t2\t5\t2\t6", "T5\t2\t6\t2\t5", "a start that is not after the end", 6),
        ("T5\t2\t5\t2\t6", "T5\t2\t5\t2\t8", "outside the text", 6),
        ("T5\t2\t5\t2\t6", "T5\t1\t0\t2\t6", "outside the text", 6),
        ("T5\t2\t5\t2\t6", "T5\t3\t0\t3\t0", "outside the text", 6),
        ("T5\t2\t5\t2\t6", "T5\t-1\t5\t2\t6", "outside the text", 6),
        ("T5\t2\t5\t2\t6", "T4\t2\t5\t2\t6", "appears twice", 6),
        ("T5\t2\t5\t2\t6", "T5\t2\t5", "not a line of LitBank", 6),
        ("COREF\tT4", "COREF\tT9", "no mention ‘T9’", 9),
        ("COP\tT5", "COP\tT9", "no mention ‘T9’", 11),
        ("COP\tT5", "COPULA\tT5", "not a line of LitBank", 11),
    ],
)
def test_litbank_mistakes_are_named(pair, old, new, problem, line):
    if problem.startswith("not a line") and old.startswith("T5"):
        new += "\nMENTION\tT5\t2\t5\t2\t6"
    with pytest.raises(InputError, match=problem) as error:
        corefeval.read(pair(LITBANK.replace(old, new, 1)))
    assert error.value.line == line
    assert error.value.expected


def test_a_missing_text_is_named(pair):
    with pytest.raises(InputError, match=r"with \.txt beside it"):
        corefeval.read(pair(LITBANK, None))


def test_an_annotation_without_mentions(pair):
    corpus = read_litbank(read_source(pair("", "Nobody came .\n")))
    assert corpus.n_mentions == 0
    assert corpus[0].words == ["Nobody", "came", "."]


@given(corpus=corpora(gaps=True))
def test_litbank_written_then_read_is_the_same(corpus, tmp_path_factory):
    made = write_litbank(corpus)
    paths = written(made, tmp_path_factory.getbasetemp() / "litbank")
    again = [read_litbank(read_source(path)) for path in paths]
    ids = [one.documents[0] for one in again]
    assert find_partners(corpus.documents, ids) == {i: i for i in range(len(ids))}
    gapped = len(set(corpus.gaps[:, 0].tolist()))
    assert sum(n.count for n in made.notices if n.kind == "discontinuous-mentions") == gapped
    for index, one in enumerate(again):
        assert one.notices == ()
        assert contents(one[0]) == contents(corpus[index], filled=True)
        assert sentences(one[0]) == sentences(corpus[index])


@settings(max_examples=300)
@given(annotation=mutations(LITBANK), text=mutations(TEXT) | st.just(TEXT.encode()))
def test_litbank_of_any_bytes_is_a_corpus_or_one_error(annotation, text, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    (folder / "broken.ann").write_bytes(annotation)
    (folder / "broken.txt").write_bytes(text)
    try:
        assert read_litbank(read_source(folder / "broken.ann")).documents
    except CorefEvalError as error:
        assert str(error).strip()


def test_words_that_litbank_cannot_carry_are_counted():
    builder = CorpusBuilder()
    document = builder.document("a/b", words=["two words", "", "x"], columns={"tag": "ABC"})
    document.mention("tab\there", 0, 2)
    document.relation("bridging", "tab\there", ["tab\there"])
    made = write_litbank(builder.build())
    assert made.files["a%2Fb.txt"] == b"two_words _ x\n"
    assert {n.kind: n.count for n in made.notices} == {
        "changed-words": 2, "entity-names": 1, "token-columns": 1, "relations": 1
    }  # fmt: skip


def test_labels_cannot_be_written_to_a_folder(tmp_path):
    for name in ("litbank", "brat", "crac-text"):
        with pytest.raises(InputError, match="no token positions"):
            corefeval.write(corpus_from_entities([["a"]]), tmp_path, format=name)


NAMES = st.text(st.sampled_from("aA/.%_ é\\:\n\ud800"), max_size=6) | st.sampled_from(
    ["con", "NUL", "x" * 300, "bc/x", "bc/x_0", "bc/x; part 000"]
)


@given(
    ids=st.lists(
        st.builds(DocumentId, NAMES, st.none() | st.integers(0, 2)), unique=True, max_size=12
    )
)
def test_file_names_are_safe_and_differ_and_give_ids_back(ids):
    stems, changed = file_stems(ids)
    assert len({stem.casefold() for stem in stems}) == len({*map(document_id, stems)}) == len(ids)
    for stem in stems:
        assert not set(stem) & set('/\\:\n\0 "*?<>|')
        assert stem
        assert stem[0] != "."
        assert len(stem.encode()) < 240
    same = sum(
        document_id(s) in (d, DocumentId(f"{d.name}_{d.part}"))
        for s, d in zip(stems, ids, strict=True)
    )
    assert same == len(ids) - changed
    # No other format takes half a character as an id.
    if all(len(d.name) < 20 and "part" not in d.name and "\ud800" not in d.name for d in ids):
        assert changed == 0


def test_the_file_name_of_a_part_pairs_with_it():
    part = DocumentId("bc/x", 0)
    (stem,), changed = file_stems([part])
    assert (stem, changed) == ("bc%2Fx_0", 0)
    assert find_partners([part], [document_id(stem)]) == {0: 0}


@pytest.mark.parametrize("size", ["16MB", "1"])
def test_an_empty_annotation_is_of_the_format_of_its_neighbours(tmp_path, size):
    """Each side has another text without mentions, and both sides have the words of LitBank."""
    for side, full in (("key", "a"), ("response", "b")):
        (tmp_path / side).mkdir()
        for name in "ab":
            (tmp_path / side / f"{name}.txt").write_text("Ada met her .\n")
            rows = ["MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP", "COREF\tT1\tAda-1"]
            text = "\n".join(rows) + "\n" if name == full else ""
            (tmp_path / side / f"{name}.ann").write_text(text)
    result = corefeval.score(tmp_path / "key", tmp_path / "response", metrics="b3", piece_size=size)
    assert result["b3"].counts["recall_denominator"] == 1
    assert result["b3"].counts["precision_denominator"] == 1
    without = corefeval.read(tmp_path / "key" / "b.ann")
    assert without.tokens.column(0, "word") == ["Ada", "met", "her", "."]
    (tmp_path / "key" / "a.ann").write_text("T1 what is this\n")
    assert corefeval.read(tmp_path / "key" / "b.ann").n_mentions == 0


def test_one_of_many_neighbours_tells_the_format(tmp_path):
    for number in range(100):
        (tmp_path / f"{number}.txt").write_text("Ada met her .\n")
        (tmp_path / f"{number}.ann").write_text("")
    (tmp_path / "50.ann").write_text("MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP\n")
    without = corefeval.read(tmp_path / "7.ann")
    assert without.tokens.column(0, "word") == ["Ada", "met", "her", "."]


def test_an_empty_annotation_in_a_folder_that_nobody_may_list_is_read(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("Ada met her .\n")
    (tmp_path / "a.ann").write_text("")

    def refuse(folder):
        raise PermissionError(folder)

    monkeypatch.setattr("os.scandir", refuse)
    assert corefeval.read(tmp_path / "a.ann").n_mentions == 0


@pytest.mark.parametrize("format", [name for name, format in FORMATS.items() if format.writer])
@pytest.mark.parametrize("name", [None, "corpus.txt", "corpus.ann.gz"])
def test_fingerprints_have_all_files_that_are_read(tmp_path, monkeypatch, format, name):
    """Change any file that reading a path opens, and the fingerprint of the path is another one."""
    corpus = corefeval.read(corefeval.example("key")).select_documents(np.array([0]))
    corefeval.write(corpus, tmp_path / "all", format=format)
    path = tmp_path / "all"
    if path.is_dir():
        path = next(path.glob("*.[at][ns][nv]"))
    if name and (name.endswith(".gz") or not find_format(format).companions):
        data = path.read_bytes()
        path = path.with_name(name)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        for text in path.parent.glob("*.txt"):
            text.rename(text.with_name("corpus.txt"))
    real, opened = open, set()
    with monkeypatch.context() as watch:
        watch.setattr(
            "builtins.open", lambda file, *a, **o: opened.add(file) or real(file, *a, **o)
        )
        corefeval.read(path)
    opened = {file for file in map(str, opened) if file.startswith(str(tmp_path))}
    assert len(opened) == 1 + len(find_format(format).companions)
    for file in opened:
        before = fingerprint(path)
        assert before == fingerprint(path)
        with open(file, "ab") as stream:
            stream.write(b"\n")
        assert fingerprint(path) != before, file


def test_fingerprints_do_not_depend_on_other_files(tmp_path):
    path = tmp_path / "key.conll"
    shutil.copy(corefeval.example("key"), path)
    before = fingerprint(path)
    (tmp_path / "key.txt").write_text("a table of scores")
    assert fingerprint(path) == before


def test_an_empty_annotation_has_the_format_of_its_neighbours(tmp_path):
    (tmp_path / "a.ann").touch()
    (tmp_path / "a.txt").write_text("Ada met her dog")
    before = fingerprint(tmp_path / "a.ann")
    (tmp_path / "b.ann").write_text("MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP\n")
    assert fingerprint(tmp_path / "a.ann") != before


def test_a_file_that_is_only_an_ending_has_a_fingerprint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(corefeval.example("key"), ".gz")
    assert fingerprint(".gz")[0] == ".gz"
