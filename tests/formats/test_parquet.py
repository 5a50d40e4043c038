"""Parquet whose rows are records of the JSON family, and everything that can be wrong with it."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import pytest

import corefeval
from corefeval import InputError, UsageError
from corefeval.cli import main

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

KINDS = ("e2e", "bookcoref", "preco", "crac-json", "maverick", "fastcoref")
RECORD = {
    "doc_key": "d",
    "sentences": [["Ada", "met", "the", "captain"]],
    "clusters": [[[0, 0]], [[2, 3]]],
}


def write_rows(path, *records, **options):
    parquet.write_table(pyarrow.Table.from_pylist(list(records)), path, **options)
    return path


def facts(corpus):
    return [
        (
            str(document.id),
            document.words if document.columns else None,
            [[mention.span for mention in entity.mentions] for entity in document.entities],
        )
        for document in corpus
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packing", ["snappy", "zstd", "none"])
def test_rows_are_read_as_the_lines_of_json_are(kind, packing, tmp_path):
    corefeval.write(corefeval.read(corefeval.example("key")), tmp_path / "key.json", format=kind)
    lines = (tmp_path / "key.json").read_text().splitlines()
    path = write_rows(
        tmp_path / "key.parquet", *map(json.loads, lines), row_group_size=2, compression=packing
    )
    corpus, expected = corefeval.read(path), corefeval.read(tmp_path / "key.json")
    assert facts(corpus) == facts(expected)
    assert facts(pickle.loads(pickle.dumps(corpus))) == facts(expected)
    result = corefeval.score(corefeval.example("key"), path, metrics="mentions, lea")
    assert result["lea"].f1 == 1.0


def test_a_null_is_a_key_that_the_record_does_not_have(tmp_path):
    characters = [{"name": "Ada", "cluster": [[0, 0]]}]
    schema = pyarrow.schema(
        {
            "doc_key": pyarrow.string(),
            "sentences": pyarrow.list_(pyarrow.list_(pyarrow.string())),
            "clusters": pyarrow.list_(pyarrow.list_(pyarrow.list_(pyarrow.int32()))),
            "characters": pyarrow.array([characters]).type,
            "year": pyarrow.float64(),
        }
    )
    rows = [RECORD | {"year": 1815.0}, RECORD | {"doc_key": None, "characters": characters}]
    path = tmp_path / "mixed.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), path)
    corpus = corefeval.read(path)
    assert [str(document.id) for document in corpus] == ["d", "mixed_1"]
    assert [entity.name for entity in corpus[1].entities] == ["Ada", "1"]
    assert corpus.notices == ()


def test_commands(tmp_path, capsys):
    path = write_rows(tmp_path / "key.parquet", RECORD)
    assert main(["score", str(path), str(path)]) == 0
    assert main(["stats", str(path)]) == main(["check", str(path)]) == 0
    assert main(["convert", str(path), str(tmp_path / "key.conll")]) == 0
    assert "1 document" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"clusters": [[[0, 4]]]},
            "record 1: a mention in cluster 0 of ‘clusters’ is no span of the document",
        ),
        (
            {"clusters": [[[0.5, 1.0]]]},
            "record 1: a mention in cluster 0 of ‘clusters’ is no span of the document",
        ),
        ({"clusters": None}, "no known kind of JSON has these keys"),
        ({"clusters": [None]}, "cluster 0 of ‘clusters’ is not a list"),
        ({"sentences": "Ada met"}, "‘sentences’ does not hold words"),
        ({"sentences": [[b"Ada"]]}, "‘sentences’ does not hold words"),
        ({"doc_key": [1]}, "‘doc_key’ is not an id"),
    ],
)
def test_mistakes(changes, message, tmp_path):
    path = write_rows(tmp_path / "bad.parquet", RECORD | changes)
    with pytest.raises(InputError, match=message) as caught:
        corefeval.read(path)
    assert str(path) in str(caught.value)


def test_rows_of_one_id_and_no_rows(tmp_path):
    with pytest.raises(InputError, match="record 2: document ‘d’ appears twice"):
        corefeval.read(write_rows(tmp_path / "twice.parquet", RECORD, RECORD))
    path = tmp_path / "none.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([RECORD]).slice(0, 0), path)
    with pytest.raises(InputError, match="there are no rows in the file"):
        corefeval.read(path)


def test_a_column_that_appears_twice(tmp_path):
    table = pyarrow.table([["a"], ["b"]], names=["doc_key", "doc_key"])
    parquet.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(InputError, match="a column appears twice"):
        corefeval.read(tmp_path / "twice.parquet")


def test_files_that_are_broken(tmp_path):
    path = write_rows(tmp_path / "cut.parquet", RECORD)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="not a readable Parquet file"):
        corefeval.read(path)
    write_rows(path, RECORD | {"sentences": [["x"] * 100_000]})
    with corefeval.unpack_limit("1KB"), pytest.raises(InputError, match="unpacks to more than"):
        corefeval.read(path)


def test_without_pyarrow(monkeypatch, tmp_path):
    path = write_rows(tmp_path / "a.parquet", RECORD)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install pyarrow"):
        corefeval.read(path)


def test_it_is_not_written(tmp_path):
    corpus = corefeval.read(corefeval.example("key"))
    with pytest.raises(UsageError, match=r"parquet can only be read"):
        corefeval.write(corpus, tmp_path / "key", format="parquet")
    with pytest.raises(UsageError, match=r"key.parquet does not show which format to write"):
        corefeval.write(corpus, tmp_path / "key.parquet")


def test_no_damage_of_the_footer_ends_the_process(tmp_path):
    """Pyarrow ends the process where it looks at some damaged statistics: nobody is to see that."""
    path = write_rows(tmp_path / "a.parquet", *(RECORD | {"doc_key": name} for name in "abcdefgh"))
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
