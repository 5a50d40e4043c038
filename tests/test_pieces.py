"""Scores in pieces: the same as of the whole in memory, whatever the pieces are."""

from __future__ import annotations

import gzip
import io
import json
import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, PairingError, UsageError
from corefeval.cli import main
from corefeval.pieces import scoring
from corefeval.pieces.execution import _Unpickler
from piece_corpora import Text, conll, corefud, text_pairs

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


def assert_same(one: corefeval.Result, other: corefeval.Result) -> None:
    for field in fields(one):
        if field.name not in ("spell", "titles", "notices"):
            assert getattr(one, field.name) == getattr(other, field.name), field.name
    assert [*map(str, one.notices)] == [*map(str, other.notices)], (one.notices, other.notices)
    for feature, slices in one.slices.items():
        assert list(slices) == list(other.slices[feature]), (feature, slices, other.slices[feature])
    assert one.signature == other.signature


@pytest.fixture(autouse=True)
def no_second_look(monkeypatch):
    """Pieces stand for themselves here: nothing is read again as a whole behind a mistake."""
    monkeypatch.setattr(scoring, "_READ_AGAIN", -1)


@pytest.fixture
def in_pieces(monkeypatch):
    """How many scores were made of pieces to the end."""
    made = []
    join = scoring._join
    monkeypatch.setattr(scoring, "_join", lambda *given: made.append(join(*given)) or made[-1])
    return made


@st.composite
def cases(draw):
    form = draw(st.sampled_from(("conll", "corefud")))
    texts = draw(text_pairs(zeros=form == "corefud"))
    if form == "conll":
        written = [conll(side, end=draw(st.booleans())) for side in texts]
    else:
        written = [corefud(side, draw(st.booleans())) for side in texts]
    ending = draw(st.sampled_from(("\n", "\n", "\r\n")))
    data = [side.replace("\n", ending).encode() for side in written]
    if draw(st.booleans()):
        data[draw(st.integers(0, 1))] += b"\n"
    packed = draw(st.sampled_from(((), (0,), (0, 1))))
    data = [gzip.compress(side) if n in packed else side for n, side in enumerate(data)]
    options = {
        "missing": draw(st.sampled_from(("empty", "skip"))),
        "extra": draw(st.sampled_from(("ignore", "count"))),
        "singletons": draw(st.sampled_from(("keep", "drop"))),
        "metrics": draw(st.sampled_from(("standard", "all", "muc, b3(twinless=sys), mor"))),
        "by": draw(st.sampled_from(("", "", "kind", "genre, size, tag", "distance"))),
        "match": draw(st.sampled_from(("exact", "exact", "head", "partial"))),
        "documents": draw(st.sampled_from(("*", "*", "nw/*0*"))),
    }
    return data, options, draw(st.integers(1, 400))


@settings(max_examples=120)
@given(case=cases())
def test_pieces_are_the_whole(tmp_path_factory, case):
    data, options, piece_size = case
    folder = tmp_path_factory.mktemp("pieces")
    paths = [folder / "key", folder / "response"]
    for path, content in zip(paths, data, strict=True):
        path.write_bytes(content)
    try:
        whole = corefeval.score(*paths, **options)
    except corefeval.CorefEvalError as error:
        with pytest.raises(type(error)):
            corefeval.score(*paths, piece_size=piece_size, **options)
        return
    assert_same(corefeval.score(*paths, piece_size=piece_size, **options), whole)


def corpus(number: int, *, changed: bool = False) -> list[Text]:
    """So many documents, each with a mention that is found and one that is not."""
    words = ("Ada", "met", "her", "dog", "it")
    mentions = ((0, 0, 0), (2, 2, 0), (4, 4, 1 if changed else 0))
    return [Text(f"nw/d{n}", 0, words, (False,) * 5, mentions) for n in range(number)]


def write(folder, name: str, data: str | bytes):
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.fixture
def paths(tmp_path):
    key, response = corpus(12), corpus(12, changed=True)
    return write(tmp_path, "k.conll", conll(key)), write(tmp_path, "r.conll", conll(response))


OPTIONS = [
    {},
    {"metrics": "all"},
    {"by": "kind, genre, size"},
    {"match": "head"},
    {"ci": 0.95, "samples": 50},
    {"aggregate": "macro"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_example_in_pieces(in_pieces, options):
    whole = corefeval.score(KEY, EAGER, **options)
    assert_same(corefeval.score(KEY, EAGER, piece_size="5KB", **options), whole)
    assert len(in_pieces) == 1 and in_pieces[0] is not None


def test_a_piece_larger_than_the_files_is_the_whole(in_pieces, paths):
    corefeval.score(*paths, piece_size="1GB")
    assert not in_pieces


def test_a_folder_is_not_joined(in_pieces, tmp_path):
    for side, changed in (("k", False), ("r", True)):
        (tmp_path / side).mkdir()
        for number, text in enumerate(corpus(6, changed=changed)):
            name = f"{5 - number if changed else number}.conll"
            write(tmp_path / side, name, conll([text], end=number % 2 == 0))
        write(tmp_path / side, "notes.xyz", "nothing to read here")
    sides = tmp_path / "k", tmp_path / "r"
    whole = corefeval.score(*sides)
    pieces = corefeval.score(*sides, piece_size=400)
    assert {n.kind for n in pieces.notices} >= {"skipped-files", "unfinished-file"}
    assert_same(pieces, whole)
    assert_same(corefeval.score(f"{sides[0]}/*.conll", sides[1], piece_size=1),
                corefeval.score(f"{sides[0]}/*.conll", sides[1]))  # fmt: skip
    assert len(in_pieces) == 2


@pytest.mark.parametrize("format", ["e2e", "preco", "crac-json", "fastcoref", "crac-text"])
def test_other_formats(in_pieces, paths, tmp_path, format):
    written = []
    for path in paths:
        target = tmp_path / f"{path.stem}.{format}"
        corefeval.write(corefeval.read(path), target, format=format)
        written.append(target)
    options = {"key_format": format, "response_format": format}
    pieces = corefeval.score(*written, piece_size=500, **options)
    assert_same(pieces, corefeval.score(*written, **options))
    assert len(in_pieces) == int(format != "crac-text")  # which can only be read whole


def test_lines_of_errors_are_those_of_the_file(tmp_path, paths):
    text = conll(corpus(12))
    lines = text.splitlines()
    lines[60] = lines[60].rsplit(" ", 1)[0] + " (7"
    broken = write(tmp_path, "broken.conll", "\n".join(lines) + "\n")
    for arguments in ((broken, paths[1]), (paths[0], broken)):
        with pytest.raises(InputError) as whole:
            corefeval.score(*arguments)
        with pytest.raises(InputError) as pieces:
            corefeval.score(*arguments, piece_size=300)
        assert str(pieces.value) == str(whole.value)
        assert pieces.value.line == 61


def test_lines_of_differing_words_are_those_of_the_file(tmp_path, paths):
    other = write(tmp_path, "o.conll", conll(corpus(12)[:7]) + conll(corpus(12)[7:]).replace(
        "nw/d9 0 1 met", "nw/d9 0 1 saw"))  # fmt: skip
    for arguments in ((paths[0], other), (other, paths[1])):
        with pytest.raises(PairingError) as whole:
            corefeval.score(*arguments)
        with pytest.raises(PairingError) as pieces:
            corefeval.score(*arguments, piece_size=300)
        assert str(pieces.value) == str(whole.value)


def test_lines_of_corefud_are_those_of_the_file(tmp_path):
    text = corefud(corpus(9), header_everywhere=False)
    key = write(tmp_path, "k.conllu", text)
    broken = write(tmp_path, "b.conllu", text.replace("d7_0", "d7_0\n1\tx"))
    with pytest.raises(InputError) as whole:
        corefeval.score(key, broken)
    with pytest.raises(InputError) as pieces:
        corefeval.score(key, broken, piece_size=300)
    assert str(pieces.value) == str(whole.value)


def test_documents_that_are_there_twice(tmp_path, paths):
    for text in (conll(corpus(5)), corefud(corpus(5))):
        twice = write(tmp_path, "twice", text.replace("nw/d4", "nw/d2"))
        with pytest.raises(InputError) as whole:
            corefeval.score(twice, twice)
        with pytest.raises(InputError) as pieces:
            corefeval.score(twice, twice, piece_size=200)
        assert str(pieces.value) == str(whole.value)


def test_documents_of_one_side(in_pieces, tmp_path):
    key = write(tmp_path, "k", conll(corpus(12)))
    response = write(tmp_path, "r", conll(corpus(15, changed=True)[:2:-1]))
    for missing in ("empty", "skip", "error"):
        for extra in ("ignore", "count", "error"):
            options = {"missing": missing, "extra": extra}
            try:
                whole = corefeval.score(key, response, **options)
            except PairingError as error:
                with pytest.raises(PairingError) as caught:
                    corefeval.score(key, response, piece_size=250, **options)
                assert str(caught.value) == str(error)
            else:
                assert_same(corefeval.score(key, response, piece_size=250, **options), whole)
    assert len(in_pieces) == 4


def test_spans_that_are_off_by_one_are_told_of_all(in_pieces, tmp_path):
    sides = []
    for shift in (0, 1):
        spans = tuple((start + shift, start + shift, 0) for start in (0, 2))
        texts = [replace(text, mentions=spans) for text in corpus(12)]
        sides.append(write(tmp_path, f"{shift}", conll(texts)))
    whole = corefeval.score(*sides)
    assert [notice.kind for notice in whole.notices] == ["shifted-spans"]
    assert_same(corefeval.score(*sides, piece_size=300), whole)
    assert len(in_pieces) == 1


def test_what_is_guessed_is_decided_once(in_pieces, tmp_path):
    """One of ten documents has other tags, which alone would be taken for another tag set."""
    texts = [conll([one]) for one in corpus(10)]
    for tag, other in (("NNP", "NE"), ("PRP", "PPER"), ("VBD", "VVFIN")):
        texts[9] = texts[9].replace(f" {tag} ", f" {other} ")
    path = write(tmp_path, "k", "".join(texts))
    whole = corefeval.score(path, path, metrics="lmuc", by="kind")
    pieces = corefeval.score(path, path, metrics="lmuc", by="kind", piece_size=200)
    assert "tagset:penn" in pieces.signature
    assert_same(pieces, whole)
    assert len(in_pieces) == 1


def test_columns_are_decided_by_the_beginning(tmp_path):
    rows = ["#begin document (a); part 000"]
    rows += [f"{n}\t{w}\tNN\tx\ty\t(1)" for n, w in enumerate(("Ada", "saw", "me", "go", "up"))]
    rows += ["#end document", "#begin document (b); part 000", "7\tNN\tNN\tx\ty\t(1)",
             "#end document", ""]  # fmt: skip
    path = write(tmp_path, "k", "\n".join(rows))
    whole, pieces = corefeval.score(path, path), corefeval.score(path, path, piece_size=20)
    assert any(notice.kind == "word-column" for notice in whole.notices)
    assert_same(pieces, whole)


def processes(number: int):
    return ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("make", [ThreadPoolExecutor, processes])
def test_any_executor(in_pieces, paths, make):
    whole = corefeval.score(*paths, metrics="all", by="kind")
    with make(2) as executor:
        pieces = corefeval.score(
            *paths, metrics="all", by="kind", piece_size=300, executor=executor
        )
        assert_same(pieces, whole)
        with pytest.raises(InputError, match="cannot be read"):
            corefeval.score(paths[0], "not there", executor=executor)
    assert len(in_pieces) == 1


def test_errors_of_workers_are_errors_here(tmp_path, paths):
    broken = write(tmp_path, "b", conll(corpus(12)).replace("(1)", "(1").replace("(0)", "(0", 1))
    with processes(1) as executor, pytest.raises(InputError) as caught:
        corefeval.score(paths[0], broken, piece_size=300, executor=executor)
    assert (caught.value.file, caught.value.line) == (str(broken), 2)


class Counting(ThreadPoolExecutor):
    """An executor that knows how much it was given at once."""

    most = running = 0

    def submit(self, *given, **more):
        self.running += 1
        self.most = max(self.most, self.running)
        future = super().submit(*given, **more)
        future.add_done_callback(lambda _: setattr(self, "running", self.running - 1))
        return future


def test_few_pieces_are_submitted_at_a_time(paths):
    with Counting(2) as executor:
        corefeval.score(*paths, piece_size=1, executor=executor)
        assert 1 < executor.most <= 4


def test_comparisons_in_pieces(in_pieces):
    responses = {"cautious": CAUTIOUS, "eager": EAGER}
    whole = corefeval.compare(KEY, responses, trials=50)
    pieces = corefeval.compare(KEY, responses, trials=50, piece_size="5KB")
    assert pieces.rows() == whole.rows()
    assert len(in_pieces) == 2


def test_a_run_that_broke_goes_on(tmp_path, paths, monkeypatch):
    folder = tmp_path / "kept"
    whole = corefeval.score(*paths)
    left = [5]

    def stop(done, total, size):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corefeval.score(*paths, piece_size=300, resume=folder, progress=stop)
    kept = sorted(folder.glob("*.piece"))
    assert len(kept) == 6
    kept[0].write_bytes(b"damaged")
    scored = []
    once = scoring.score_piece
    monkeypatch.setattr(scoring, "score_piece", lambda *given: scored.append(1) or once(*given))
    assert_same(corefeval.score(*paths, piece_size=300, resume=folder), whole)
    pieces = len(list(folder.glob("*.piece")))
    assert len(scored) == pieces - 5
    assert_same(corefeval.score(*paths, piece_size=300, resume=folder), whole)
    assert len(scored) == pieces - 5


@pytest.mark.parametrize("change", ["metrics", "key", "singletons", "piece_size", "files"])
def test_a_folder_of_another_run_is_refused(tmp_path, paths, change):
    folder = tmp_path / "kept"
    corefeval.score(*paths, piece_size=300, resume=folder)
    options = {"piece_size": 300}
    if change == "key":
        paths[0].write_text(conll(corpus(12)) + "\n")
    elif change == "files":
        (folder / "run.json").unlink()
    else:
        options[change] = {"metrics": "muc", "singletons": "drop", "piece_size": 200}[change]
    expected = "other files" if change == "files" else "another run"
    with pytest.raises(UsageError, match=expected):
        corefeval.score(*paths, resume=folder, **options)


def test_kept_pieces_cannot_act():
    for text in (b"cos\nsystem\n.", b"ccorefeval.files\nwrite_file\n.", b"cbuiltins\neval\n."):
        with pytest.raises(pickle.UnpicklingError):
            _Unpickler(io.BytesIO(text)).load()


def test_addresses(in_pieces, paths):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for path, name in zip(paths, ("k", "r"), strict=True):
        memory.pipe(f"/pieces/{name}/a.conll", path.read_bytes())
    memory.pipe("/pieces/k.gz", gzip.compress(paths[0].read_bytes()))
    whole = corefeval.score(*paths)
    for key in ("k/a.conll", "k", "k/*.conll", "k.gz"):
        addresses = f"memory://pieces/{key}", "memory://pieces/r/a.conll"
        assert corefeval.score(*addresses)["conll"] == whole["conll"]
        pieces = corefeval.score(*addresses, piece_size=300)
        assert pieces.tables == whole.tables and pieces.key_digest == whole.key_digest
    assert len(in_pieces) == 4
    with pytest.raises(InputError, match="cannot be read"):
        corefeval.score("memory://pieces/none", "memory://pieces/r/a.conll")


def test_addresses_without_fsspec(monkeypatch, paths):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    for options in ({}, {"piece_size": 100}):
        with pytest.raises(UsageError, match=r"corefeval\[remote\]"):
            corefeval.score("s3://bucket/key.conll", paths[1], **options)


def test_the_command_line(paths, capsys, tmp_path):
    arguments = ["score", *map(str, paths), "--metrics", "all", "--format", "json"]
    assert main(arguments) == 0
    whole = capsys.readouterr()
    for more in (["--piece-size", "300"], ["--piece-size", "300", "--resume", f"{tmp_path}/a"]):
        assert main([*arguments, *more]) == 0
        assert capsys.readouterr() == whole
    saved = tmp_path / "saved.json"
    assert main([*arguments[:3], "--piece-size", "300", "--save", str(saved), "--ci"]) == 0
    assert corefeval.load(saved)["muc"].counts == corefeval.score(*paths)["muc"].counts
    compared = ["compare", str(KEY), str(CAUTIOUS), str(EAGER), "--trials", "20"]
    capsys.readouterr()
    assert main(compared) == 0
    whole = capsys.readouterr()
    assert main([*compared, "--piece-size", "5KB", "--resume", f"{tmp_path}/b"]) == 0
    assert capsys.readouterr() == whole


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--piece-size", "many"], "a size such as"),
        (["--piece-size", "0"], "a byte at least"),
        (["--jobs", "0"], "from 1"),
        (["--jobs", "2", "--scheduler", "tcp://127.0.0.1:1"], "take one"),
        (["--resume", "{folder}", "--piece-size", "99"], "other files"),
        (["--protocol", "corefud-1.2", "--piece-size", "1MB"], "not made in pieces"),
    ],
)
def test_what_cannot_be_asked_for(paths, capsys, options, words):
    options = [option.replace("{folder}", str(paths[0].parent)) for option in options]
    assert main(["score", *map(str, paths), *options]) == 2
    assert words in capsys.readouterr().err


def test_json_lines_that_do_not_name_themselves_are_read_whole(in_pieces, tmp_path):
    record = {"sentences": [["Ada", "saw", "her"]], "clusters": [[[0, 0], [2, 2]]]}
    lines = [json.dumps(record | ({"doc_key": f"d{n}"} if n else {})) for n in range(3)]
    path = write(tmp_path, "k.jsonl", "\n".join(lines))
    assert_same(corefeval.score(path, path, piece_size=10), corefeval.score(path, path))
    assert not in_pieces


def test_statistics_in_pieces(paths, tmp_path, capsys):
    corpora = [str(paths[0]), str(KEY)]
    texts = corpus(9)
    texts[3] = replace(texts[3], mentions=())
    corpora.append(str(write(tmp_path, "k.conllu", corefud(texts))))
    corpora.append(str(write(tmp_path, "cut.conll", conll(texts, end=False))))
    for format in ("json", "text"):
        assert main(["stats", *corpora, "--format", format]) == 0
        whole = capsys.readouterr()
        assert main(["stats", *corpora, "--format", format, "--piece-size", "300"]) == 0
        assert capsys.readouterr() == whole


def test_what_is_packed_is_unpacked_to_a_limit(tmp_path, paths):
    packed = write(tmp_path, "k.gz", gzip.compress(paths[0].read_bytes()))
    assert_same(
        replace(corefeval.score(packed, paths[1], piece_size=300), key=str(paths[0])),
        corefeval.score(*paths),
    )
    damaged = write(tmp_path, "d.gz", packed.read_bytes()[:-30])
    with pytest.raises(InputError, match="damaged"):
        corefeval.score(damaged, paths[1], piece_size=300)
    with corefeval.unpack_limit(500), pytest.raises(InputError, match="more than 500 B"):
        corefeval.score(packed, paths[1], piece_size=300)


def test_checks_in_pieces(tmp_path, capsys):
    odd = corpus(9)
    odd[4] = replace(odd[4], mentions=((0, 1, 0), (1, 2, 0), (0, 1, 0)))
    odd[6] = replace(odd[6], words=("Ada",), empty=(False,), mentions=((0, 0, 3),))
    lines = conll(corpus(9)).splitlines()
    lines[60] = lines[60].rsplit(" ", 1)[0] + " (7"
    texts = [
        conll(odd, end=False),
        conll(odd).replace("#begin document", "#begin  document"),
        corefud(odd),
        "\n".join(lines),
        conll([replace(text, mentions=()) for text in odd]),
        conll(odd).replace("nw/d4", "nw/d5"),
    ]
    for number, text in enumerate(texts):
        path = str(write(tmp_path, f"{number}", text))
        arguments = ["check", path, "--all", "--format", "json"]
        status, whole = main(arguments), capsys.readouterr()
        assert main([*arguments, "--piece-size", "300"]) == status
        assert capsys.readouterr() == whole
