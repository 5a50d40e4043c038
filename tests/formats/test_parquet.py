"""Parquet: what is written is what is read, and everything that can be wrong with a file."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys

import numpy as np
import pytest

import corefeval
from corefeval import InputError, UsageError
from corefeval.cli import main
from corefeval.formats.parquet import writer
from corefeval.model import CorpusBuilder

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

DOCUMENT = {
    "document": ["d"],
    "start": [[0, 2]],
    "end": [[1, 4]],
    "entity": [["a", "b"]],
    "word": [["Ada", "met", "the", "captain"]],
}


def write_table(path, columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.fixture
def everything():
    builder = CorpusBuilder(name="all")
    builder.document("empty", words=[])
    document = builder.document(
        "doc; part 002",
        words=["Ada", "met", "him", "gone", "here", "."],
        sentence_starts=[0, 3],
        columns={"tag": ["NNP", "VBD", "PRP", "VBN", "RB", "."]},
        metadata={"author": "me"},
        sentence_metadata=[{"sent_id": "s1"}, {}],
    )
    document.mention("Ada", 0, 1, head=0, features={"etype": "PER"})
    document.mention("x", 3, 6, gaps=[(4, 5)])
    second = document.mention("Ada", 4, 5)
    document.relation("bridging", second, ["x"], "part")
    document.relation("split-antecedent", "x", ["Ada"])
    return builder.build()


def facts(corpus):
    return {
        "documents": corpus.documents,
        "mentions": [
            (m.parts, m.head, m.entity.name, m.features) for d in corpus for m in d.mentions
        ],
        "tokens": [
            (d.words, d.column("tag") if d.words else [], d.sentences) for d in corpus
        ],
        "metadata": [dict(d.metadata) for d in corpus],
        "sentences": [list(map(dict, known)) for known in corpus.sentence_metadata],
        "relations": list(corpus.relations),
    }  # fmt: skip


def test_nothing_is_lost(everything, tmp_path):
    path = tmp_path / "all.parquet"
    assert corefeval.write(everything, path) == ()
    again = corefeval.read(path)
    assert facts(again) == facts(everything)
    assert facts(pickle.loads(pickle.dumps(again))) == facts(everything)
    chosen = again.select_documents(np.array([1, 0]))
    assert [d.words for d in chosen] == [everything[1].words, []]
    assert corefeval.score(everything, path)["b3"].f1 == 1.0


def test_row_groups_and_gzip(monkeypatch, tmp_path):
    monkeypatch.setattr(writer, "GROUP", 2)
    corpus = corefeval.read(corefeval.example("key"))
    for name in ("key.parquet", "key.parquet.gz"):
        corefeval.write(corpus, tmp_path / name)
        again = corefeval.read(tmp_path / name)
        result = corefeval.score(corpus, again, metrics="mentions, lea, immediate", by="kind")
        assert result["lea"].f1 == result["immediate"].f1 == 1.0
        assert again.tokens.column(0, "tag") == corpus.tokens.column(0, "tag")
    assert parquet.ParquetFile(tmp_path / "key.parquet").num_row_groups == 5


def test_commands(tmp_path, capsys):
    path = tmp_path / "key.parquet"
    assert main(["convert", str(corefeval.example("key")), str(path), "--to", "parquet"]) == 0
    assert main(["score", str(path), str(corefeval.example("eager"))]) == 0
    assert main(["stats", str(path)]) == main(["check", str(path)]) == 0
    assert "9 documents" in capsys.readouterr().out


def test_only_what_is_asked_for_is_read(tmp_path):
    """A column of nonsense does not matter until somebody asks for it."""
    path = write_table(tmp_path / "a.parquet", {**DOCUMENT, "token:tag": [["DT"]]})
    corpus = corefeval.read(path)
    assert corpus[0].words == DOCUMENT["word"][0]
    with pytest.raises(InputError, match="in the number of tokens"):
        corpus[0].column("tag")


def test_a_row_for_each_mention(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "document": ["x", "y", "x"], "entity": [7, 7, 7], "start": [4, 0, 0],
            "end": [5, 2, 1], "kind": ["pronoun", "name", "name"],
        }
    )  # fmt: skip
    frame.to_parquet(tmp_path / "flat.parquet")
    corpus = corefeval.read(tmp_path / "flat.parquet")
    assert [str(one) for one in corpus.documents] == ["x", "y"]
    assert [m.span for m in corpus["x"].mentions] == [(0, 1), (4, 5)]
    assert corpus.features["kind"].tolist() == ["name", "pronoun", "name"]
    for across, links in (("none", 1), ("all", 2)):
        table = corefeval.score(corpus, corpus, metrics="muc", across=across).tables["muc"]
        assert table.values.sum(0).tolist() == [links] * 4


def test_whether_ids_hold_across_documents_is_kept(tmp_path):
    plain = corefeval.read(corefeval.example("key"))
    corefeval.write(plain, tmp_path / "key.jsonl")
    numbered = corefeval.read(tmp_path / "key.jsonl")
    for corpus, holds in ((plain, True), (numbered, False)):
        corefeval.write(corpus, tmp_path / "key.parquet")
        assert corefeval.read(tmp_path / "key.parquet").names_hold is holds


MISTAKES = {
    "no column 'end'": {"end": None},
    "no column 'start', 'end'": {"start": None, "end": None},
    "'end' has the wrong type": {"end": [[b"x", b"y"]]},
    "'entity' has the wrong type": {"entity": [[0.5, 1.5]]},
    "'word' has the wrong type": {"word": ["Ada met the captain"]},
    "do not fit together": {"end": [[1]]},
    "values missing": {"end": [[1, None]]},
    "a row has no document": {"document": pyarrow.array([None], pyarrow.string())},
    "a mention has no entity": {"entity": [["a", None]]},
    "spans no tokens": {"end": [[1, 2]]},
    "at most 4 tokens": {"end": [[1, 5]]},
    "0 ≤ start < end": {"start": [[-1, 2]]},
    "head is outside": {"head": [[3, None]]},
    "gap is not inside": {"gaps": [[[], [3, 4]]]},
    "start without an end": {"gaps": [[[], [3]]]},
    "no sentence can begin": {"sentence": [[0, 4]]},
    "in the number of tokens": {"n_tokens": [5]},
    "too few tokens": {"n_tokens": [-5]},
    "has the wrong contents": {"relations": ['[["bridging", ["z", -1], [["a", -1]], ""]]']},
    "'metadata' has": {"metadata": ["[1]"]},
    "'sentence_metadata' has": {"sentence_metadata": ["[1]"]},
    "there is twice": None,
}


@pytest.mark.parametrize("message", list(MISTAKES))
def test_mistakes(message, tmp_path):
    changes = MISTAKES[message]
    if changes is None:
        columns = {name: values * 2 for name, values in DOCUMENT.items()}
        message = "appears twice"
    else:
        columns = {n: v for n, v in {**DOCUMENT, **changes}.items() if v is not None}
    path = write_table(tmp_path / "bad.parquet", columns)
    with pytest.raises(InputError, match=message) as caught:
        corefeval.read(path)
    assert str(path) in str(caught.value)


def test_files_that_are_broken(tmp_path):
    path = write_table(tmp_path / "cut.parquet", DOCUMENT)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="not a readable Parquet file"):
        corefeval.read(path)
    big = {**DOCUMENT, "word": [["x"] * 100_000]}
    write_table(path, big)
    with corefeval.unpack_limit("1KB"), pytest.raises(InputError, match="unpacks to more than"):
        corefeval.read(path)


def test_unknown_columns_are_told(tmp_path):
    path = write_table(tmp_path / "more.parquet", {**DOCUMENT, "colour": ["red"]})
    [notice] = corefeval.read(path).notices
    assert notice.kind == "unknown-columns" and "‘colour’" in str(notice)


def test_without_pyarrow(monkeypatch, tmp_path):
    path = write_table(tmp_path / "a.parquet", DOCUMENT)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install pyarrow"):
        corefeval.read(path)
    with pytest.raises(UsageError, match=r"pip install pyarrow"):
        corefeval.write(corefeval.corpus_from_arrays(entity=[0], start=[0]), tmp_path / "b.parquet")


def test_what_is_no_text_is_counted():
    builder = CorpusBuilder(name="odd")
    builder.document("d", words=["a\ud800"]).mention("e", 0, 1)
    target = io.BytesIO()
    [notice] = corefeval.write(builder.build(), target, format="parquet")
    assert notice.kind == "surrogates"


def test_no_damage_of_the_footer_ends_the_process(tmp_path):
    """Pyarrow ends the process where it looks at some damaged statistics: nobody is to see that."""
    path = tmp_path / "a.parquet"
    corefeval.write(corefeval.read(corefeval.example("key")), path)
    script = f"""if __name__ == "__main__":
    import corefeval
    data = open({str(path)!r}, "rb").read()
    size = int.from_bytes(data[-8:-4], "little")
    for place in range(len(data) - 8 - size, len(data) - 8, 5):
        with open({str(tmp_path / "b.parquet")!r}, "wb") as file:
            file.write(data[:place] + bytes([data[place] ^ 2]) + data[place + 1 :])
        try:
            corefeval.read({str(tmp_path / "b.parquet")!r})
        except corefeval.CorefEvalError:
            pass"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
