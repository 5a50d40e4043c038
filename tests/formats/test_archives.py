"""Zip archives stand for the files in them, and nothing outside of them is ever touched."""

from __future__ import annotations

import gzip
import io
import shutil
import zipfile
from pathlib import Path

import pytest

import corefeval
from conftest import ROOT
from corefeval import InputError
from corefeval.diagnostics import KeyNeededError

KEY = Path(corefeval.example("key"))
MADE = ROOT / "tests" / "data" / "tools" / "made"


def pack(path: Path, files: dict[str, bytes], **options) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def refusal(path: Path, limit: str = "1GB") -> str:
    """The error of reading a path."""
    with corefeval.unpack_limit(limit), pytest.raises(InputError) as error:
        corefeval.read(path)
    return str(error.value)


def test_a_zip_is_read_as_a_folder_is(tmp_path, run):
    folder = tmp_path / "all"
    shutil.copytree(MADE, folder, ignore=shutil.ignore_patterns("*.zip", "b*", "mmax*", "ca-*"))
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    for name in [name for name in files if not name.startswith(("w", "c0.x", "t"))]:
        (folder / name).unlink()
        del files[name]
    extra = {"__MACOSX/w0.tsv": b"x", ".hidden/w0.tsv": b"x", "TypeSystem.xml": b"<x/>"}
    archive = pack(tmp_path / "all.zip", files | extra)
    expected, corpus = corefeval.read(folder), corefeval.read(archive)
    assert corpus.documents == expected.documents
    assert corpus.n_mentions == expected.n_mentions > 0
    assert corefeval.score(folder, archive)["conll"].f1 == 1
    status, out, _ = run("check", str(archive))
    assert status == 0 and "all.zip!/w0.tsv" in out and "webanno" in out
    status, out, _ = run("score", str(archive), str(folder), "--piece-size", "1KB", "-q")
    assert status == 0 and "100.00" in out


def test_a_zip_in_a_folder_stands_for_its_files_too(tmp_path):
    pack(tmp_path / "a.zip", {"inner/key.conll": KEY.read_bytes()})
    assert corefeval.read(tmp_path).documents == corefeval.read(KEY).documents


def test_an_annotation_in_a_zip_has_its_text_there(tmp_path):
    files = {"a.ann": b"T1\tPER 0 3\tAda\n", "a.txt": b"Ada slept."}
    corpus = corefeval.read(pack(tmp_path / "brat.zip", files))
    assert [mention.text for mention in corpus[0].mentions] == ["Ada"]


def test_names_in_a_zip_are_only_names(tmp_path):
    """A path that leads elsewhere opens nothing, and nothing is written."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret.txt").write_text("Ada the secret")
    annotation = b"T1\tPER 0 3\tAda\n"
    path = pack(tmp_path / "inner" / "a.zip", {"../secret.ann": annotation, "/etc/x.ann": b"T1"})
    before = sorted(tmp_path.rglob("*"))
    message = refusal(path)
    assert "there is no ‘../secret.txt’ in the zip" in message and "Ada the" not in message
    assert sorted(tmp_path.rglob("*")) == before


def test_names_with_dots_in_a_zip_are_not_hidden(tmp_path):
    files = {"./x.ann": b"T1\tPER 0 3\tAda\n", "./x.txt": b"Ada", "../a/k.conll": KEY.read_bytes()}
    corpus = corefeval.read(pack(tmp_path / "a.zip", files))
    assert len(corpus) == len(corefeval.read(KEY)) + 1


def test_names_of_windows_in_a_zip_have_folders_too(tmp_path):
    names = ("export\\annotation\\w0.tsv", "__MACOSX\\w0.tsv", "export\\TypeSystem.xml")
    files = dict.fromkeys(names, (MADE / "w0.tsv").read_bytes())
    corpus = corefeval.read(pack(tmp_path / "a.zip", files))
    assert [str(document.id) for document in corpus] == ["w0"]


def test_packed_files_that_belong_together_count_once_in_a_folder(tmp_path):
    for file in (MADE / "b0.entities", MADE / "b0.tokens"):
        (tmp_path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert corefeval.read(tmp_path).n_mentions == corefeval.read(MADE / "b0.entities").n_mentions


def test_the_limit_is_for_all_files_of_a_zip_together(tmp_path):
    data = KEY.read_bytes()
    one = pack(tmp_path / "one.zip", {"a.conll": data})
    several = {f"{n}.conll": data.replace(b"document (", b"document (%d" % n) for n in range(4)}
    all_four = pack(tmp_path / "four.zip", several)
    limit = str(2 * len(data))
    with corefeval.unpack_limit(limit):
        assert corefeval.read(one).n_mentions
    message = refusal(all_four, limit)
    assert "four.zip!/" in message and "--unpack-limit" in message
    assert corefeval.read(all_four).n_mentions == 4 * corefeval.read(one).n_mentions


def test_sizes_that_a_zip_states_are_not_believed(tmp_path):
    path = pack(tmp_path / "liar.zip", {"a.conll": b"x" * 5_000_000})
    data = path.read_bytes().replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(data)
    assert "liar.zip!/a.conll" in refusal(path, "1MB")


def test_what_is_no_folder_is_told(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("a.conll", KEY.read_bytes())
    nested = pack(tmp_path / "nested.zip", {"annotator.zip": inner.getvalue()})
    assert "zip in the zip" in refusal(nested) and "annotator.zip" in refusal(nested)
    log = pack(tmp_path / "log.eval", {"header.json": b"{}", "samples/1.json": b"{}"})
    with pytest.raises(KeyNeededError, match="language model"):
        corefeval.read(log)
    assert "nothing to read" in refusal(pack(tmp_path / "empty.zip", {}))
    assert "known format" in refusal(pack(tmp_path / "photo.zip", {"a.jpg": b"\xff\xd8\xff"}))
    books = {p.name: p.read_bytes() for p in (MADE / "books2").iterdir()}
    assert "not read from a zip" in refusal(pack(tmp_path / "book.zip", books))


def test_a_password_and_damage_are_told(tmp_path):
    path = pack(tmp_path / "a.zip", {"a.conll": KEY.read_bytes()})
    data = bytearray(path.read_bytes())
    locked = bytearray(data)
    for magic, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        locked[locked.index(magic) + place] |= 1
    path.write_bytes(locked)
    assert "password" in refusal(path)
    for cut in (len(data) // 2, len(data) - 10, 30, 4):
        path.write_bytes(data[:cut])
        assert "damaged" in refusal(path)
    data[60:90] = bytes(30)
    path.write_bytes(data)
    assert "damaged" in refusal(path)


@pytest.mark.parametrize("place", range(0, 400, 7))
def test_a_changed_byte_gives_a_corpus_or_one_error(tmp_path, place):
    path = pack(tmp_path / "a.zip", {"a.tsv": (MADE / "w0.tsv").read_bytes()})
    data = bytearray(path.read_bytes())
    data[-place % len(data)] ^= 0x55
    path.write_bytes(data)
    try:
        corefeval.read(path)
    except InputError as error:
        assert "a.zip" in str(error)
