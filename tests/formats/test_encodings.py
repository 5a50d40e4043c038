"""Encodings: every one of text is read, and everything else is refused before a file is opened."""

from __future__ import annotations

import codecs
import encodings
import pkgutil
import warnings
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval import CorefEvalError, UsageError
from corefeval.cli import main

NAMES = sorted(
    {
        *aliases,
        *aliases.values(),
        *(module.name for module in pkgutil.iter_modules(encodings.__path__)),
    }
)
NO_TEXT = {
    "base64", "bz2", "hex", "idna", "punycode", "quopri", "raw-unicode-escape", "rot-13",
    "undefined", "unicode-escape", "uu", "zlib",
}  # fmt: skip
TEXT = (
    "#begin document (d); part 000\n"
    "d 0 0 {0} (1\nd 0 1 in -\nd 0 2 1990 1)\nd 0 3 + (2)\nd 0 4 a~b\\n (1)\n\nd 0 0 {0}s (2)\n"
    "#end document\n"
)


def codec_name(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


ENCODINGS = sorted(set(filter(None, map(codec_name, NAMES))))
TEXT_ENCODINGS = [name for name in ENCODINGS if name not in NO_TEXT]


def test_the_list_is_long_enough():
    assert len(TEXT_ENCODINGS) > 90
    assert set(ENCODINGS) >= NO_TEXT


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_read_or_refused(tmp_path, name):
    path = tmp_path / "key.conll"
    codec = codec_name(name)
    if codec in ("", *NO_TEXT):
        for file in (path, tmp_path / "nowhere.conll"):  # before anything is read
            with pytest.raises(UsageError, match=r"there is no encoding .* of text: "):
                corefeval.read(file, encoding=name)
        return
    path.write_bytes(TEXT.format("word").encode(name))
    corpus = corefeval.read(path, encoding=name)
    assert corpus[0].words == ["word", "in", "1990", "+", "a~b\\n", "words"]
    assert [m.positions for m in corpus[0].mentions] == [(0, 1, 2), (3,), (4,), (5,)]


@pytest.mark.parametrize("name", sorted(NO_TEXT))
@pytest.mark.parametrize(
    "command", ["score {} {}", "check {}", "stats {}", "convert {} - --to e2e", "errors {} {}"]
)
def test_the_command_line_refuses_them(capfd, name, command):
    key = corefeval.example("key")
    arguments = [key if part == "{}" else part for part in command.split()]
    assert main([*arguments, "--encoding", name]) == 2
    said = capfd.readouterr().err
    assert said.startswith(f"error: there is no encoding {name!r} of text: there are utf-8, utf-16")


def test_misspelt_names():
    with pytest.raises(UsageError, match="did you mean 'latin_1'"):
        corefeval.read("x", encoding="latin_11")
    with pytest.raises(UsageError, match=r"there are utf-8, .*and others"):
        corefeval.read("x", encoding="klingon")
    for name in ("", "\0", "\ud800", "x" * 10_000, "../x", None, 5, b"utf-8", ["utf-8"]):
        with pytest.raises(UsageError, match="no encoding"):
            corefeval.read("x", encoding=name)


# Characters that have a byte in them which stands for something else on its own: |, \, [ and _.
HARD = {
    "shift_jis": "ポ表ーソ",
    "cp932": "ポ表ーソ",
    "big5": "功蓋",
    "gbk": "亅亄",
    "gb18030": "亅ㄪ",
}


@pytest.mark.parametrize("encoding", HARD)
def test_bytes_that_are_half_a_character(tmp_path, encoding):
    word = HARD[encoding]
    assert set(word.encode(encoding)) & set(rb"|\[_0123456789")
    text = TEXT.format(word).replace("(1", f"({word}").replace("1)", f"{word})")
    plain, other = tmp_path / "plain.conll", tmp_path / "other.conll"
    plain.write_text(text, encoding="utf-8")
    other.write_text(text, encoding=encoding)
    one, two = corefeval.read(plain), corefeval.read(other, encoding=encoding)
    assert one[0].words == two[0].words and word in two[0].words
    assert [m.positions for m in one[0].mentions] == [m.positions for m in two[0].mentions]
    assert corefeval.score(one, two)["muc"].f1 == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8", "utf-16", "cp037", "utf-7", "hz"])
def test_metadata_in_other_encodings(tmp_path, encoding):
    path = tmp_path / "key.conllu"
    corefeval.write(corefeval.read(corefeval.example("key")), path)
    plain = corefeval.read(path)
    path.write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    again = corefeval.read(path, encoding=encoding)
    assert again.metadata == plain.metadata
    assert [*map(list, again.sentence_metadata)] == [*map(list, plain.sentence_metadata)]
    assert [document.words for document in again] == [document.words for document in plain]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16", "gbk"])
def test_features_in_other_encodings(tmp_path, encoding):
    text = "# newdoc id = d\n# global.Entity = eid-etype-head-other\n" + "".join(
        f"# sent_id = {kind}\n# s_type = {kind}\n1\tA\ta\tX\t_\t_\t0\t_\t_\tEntity=(e1--1)\n\n"
        for kind in ("decl", "wh")
    )
    path = tmp_path / "key.conllu"
    path.write_text(text, encoding=encoding)
    result = corefeval.score(path, path, metrics="mentions", by="sentence_type", encoding=encoding)
    assert list(result.by("sentence_type")) == ["decl", "wh"]


@pytest.mark.parametrize(
    ("encoding", "bad"),
    [
        ("ascii", b"\xe4"),
        ("shift_jis", b"\x81\n"),
        ("utf-16-le", b"\x00\xd8\n\x00"),
        ("cp1252", b"\x81"),
    ],
)
def test_the_line_of_what_is_no_text(tmp_path, encoding, bad):
    path = tmp_path / "key.conll"
    data = TEXT.format("word").encode(encoding)
    place = data.index("+".encode(encoding))
    path.write_bytes(data[:place] + bad + data[place:])
    with pytest.raises(corefeval.InputError, match=r"line 5: the text is not ") as error:
        corefeval.read(path, encoding=encoding)[0].words
    assert error.value.line == 5


@given(data=st.binary(max_size=200), encoding=st.sampled_from(TEXT_ENCODINGS))
def test_any_bytes_in_any_encoding(tmp_path_factory, data, encoding):
    path = tmp_path_factory.getbasetemp() / "bytes.conll"
    for content in (data, TEXT.format("w").encode(encoding) + data):
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                corefeval.score(str(path), str(path), encoding=encoding)
            except CorefEvalError as error:
                assert str(error).strip()
