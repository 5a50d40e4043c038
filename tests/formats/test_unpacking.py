"""Packed files are unpacked up to a limit, and memory has an end."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import zlib
from pathlib import Path

import pytest

import corefeval
from corefeval import InputError, UsageError
from corefeval.cli import main
from corefeval.files import parse_size, unpack
from corefeval.metrics import Metric
from processes import one_error, run

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))

resource = pytest.importorskip("resource")  # there is none on Windows


def packed(data: bytes) -> bytes:
    return gzip.compress(data)


@pytest.mark.parametrize("size", [0, 1, 5000, 3_000_000])
def test_unpacking_is_what_gzip_does(size):
    data = os.urandom(size)
    twice = packed(data) + packed(b"more") + b"\0" * 7
    assert unpack(packed(data), "x") == data == gzip.decompress(packed(data))
    assert unpack(twice, "x") == data + b"more" == gzip.decompress(twice)
    many = b"".join(packed(data[place : place + 1000]) for place in range(0, size, 1000))
    assert unpack(memoryview(many), "x") == data if many else True


def test_damaged_data():
    whole = packed(b"some text " * 100)
    for data in (whole[:-1], whole[:-9], whole[:5], whole + b"x", whole[:20] + b"!" + whole[21:]):
        with pytest.raises(InputError, match="damaged"):
            unpack(data, "x")
        with pytest.raises((OSError, EOFError, zlib.error)):
            gzip.decompress(data)


@pytest.mark.parametrize(("pack", "packing"), [(bz2.compress, "bzip2"), (lzma.compress, "xz")])
def test_other_packings_are_named(pack, packing, tmp_path):
    """Not taken for text in another encoding."""
    path = tmp_path / "key.conllu"
    path.write_bytes(pack(b"1\ta\n\n"))
    for protocol in ("default", "corefud-1.2"):
        with pytest.raises(InputError, match=f"packed with {packing}") as caught:
            corefeval.score(path, path, protocol=protocol)
        assert caught.value.file == str(path)
    path.write_text("#begin document (BZh9); part 000\nBZh9\t0\t0\tPK\t(0)\n\n#end document\n")
    assert corefeval.score(path, path)["b3"].f1 == 1


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "key.conll.gz"
    path.write_bytes(packed(Path(KEY).read_bytes()))
    return str(path)


def test_the_limit(corpus, tmp_path, monkeypatch):
    size = os.path.getsize(KEY)
    with corefeval.unpack_limit(size):
        assert len(corefeval.read(corpus).documents) == 9
    kept = str(tmp_path / "kept.json.gz")
    corefeval.score(KEY, EAGER).save(kept)
    with corefeval.unpack_limit(size - 1):
        for read in (corefeval.read, lambda path: corefeval.score(KEY, path)):
            with pytest.raises(InputError, match=r"unpacks to more than .* KB\n.*packed\n.*raise"):
                read(corpus)
        with corefeval.unpack_limit("1MB"):
            corefeval.read(corpus)
    with corefeval.unpack_limit("1KB"), pytest.raises(InputError, match="more than 1 KB"):
        corefeval.load(kept)
    monkeypatch.setenv("COREFEVAL_UNPACK_LIMIT", "2 kb")
    with pytest.raises(InputError, match="more than 2 KB"):
        corefeval.read(corpus)
    monkeypatch.setenv("COREFEVAL_UNPACK_LIMIT", "much")
    with pytest.raises(UsageError, match="COREFEVAL_UNPACK_LIMIT"):
        corefeval.read(corpus)


@pytest.mark.parametrize("size", ["", "GB", "-1", "1e9", "1 GB more", "１GB", "9" * 30, True, None])
def test_sizes_that_are_none(size):
    with pytest.raises(UsageError, match="a size such as"):
        parse_size(size)


READERS = {
    "score": ("score", "{0}", EAGER),
    "errors": ("errors", "{0}", EAGER),
    "compare": ("compare", "{0}", CAUTIOUS, EAGER),
    "report": ("report", "{0}", EAGER, "--output", "{1}"),
    "agree": ("agree", "{0}", EAGER),
    "lab": ("lab", "splits", "{0}"),
    "check": ("check", "{0}"),
    "stats": ("stats", "{0}"),
    "convert": ("convert", "{0}", "{1}", "--to", "e2e"),
}


@pytest.mark.parametrize("name", READERS)
def test_the_option_of_every_command(corpus, tmp_path, capfd, name):
    arguments = [one.format(corpus, tmp_path / "out") for one in READERS[name]]
    assert main([*arguments, "--unpack-limit", "2KB"]) == 1
    out, err = capfd.readouterr()
    said = out if name == "check" else err
    assert "unpacks to more than 2 KB" in said and "--unpack-limit 20GB" in said
    assert main([*arguments, "--unpack-limit", "plenty"]) == 2
    assert "a size such as" in capfd.readouterr().err
    assert main([*arguments, "--help", "all"]) == 0
    assert "--unpack-limit" in capfd.readouterr().out


def test_a_small_file_of_a_large_text(tmp_path):
    """Ten gigabytes in ten megabytes: refused after the limit, in no more memory than that."""
    path = tmp_path / "bomb.conll.gz"
    line = b"x\t0\t0\tword\t-\n" * 80_000
    with gzip.open(path, "wb") as stream:
        for _ in range(100):
            stream.write(line)
    limit = 300 << 20
    before = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
    one_error(run("stats", str(path), "--unpack-limit", "30MB", before=before), "more than 30 MB")
    # Where the limit lets it pass, memory ends.
    one_error(run("stats", str(path), "--unpack-limit", "9GB", before=before), "not enough memory")


# Memory


@pytest.mark.parametrize("name", READERS)
def test_memory_that_is_not_there(tmp_path, name):
    path, limit = tmp_path / "key.conll", 600 << 20
    with open(path, "wb") as stream:
        stream.truncate(5 << 30)  # which takes no room on the disk
    arguments = [one.format(path, tmp_path / "out") for one in READERS[name]]
    before = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
    done = run(*arguments, before=before)
    if name == "check":  # an error is a finding, and findings are what it prints
        done.stderr = done.stdout
    one_error(done, "not enough memory")
    assert "5.00 GiB requested" in done.stderr and "fewer documents" in done.stderr
    assert str(path) in done.stderr


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("Unable to allocate 14.9 GiB for an array with shape (2,)"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
)
def test_memory_that_ends_on_the_way(monkeypatch, capfd, error):
    assert main_with(monkeypatch, error) == 1
    said = capfd.readouterr().err
    assert "error: there is not enough memory\n  found: " in said
    assert ("14.9 GiB requested" in said) == ("14.9 GiB" in str(error))


@pytest.mark.parametrize("error", [RuntimeError("a bug"), ImportError("there is none")])
def test_other_errors_stay_what_they_are(monkeypatch, error):
    with pytest.raises(type(error)):
        main_with(monkeypatch, error)


def main_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> int:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Metric, "count", fail)
    return main(["score", KEY, EAGER])


def test_memory_that_ends_in_python(tmp_path):
    script = (
        "import resource, corefeval, numpy\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({600 << 20}, {600 << 20}))\n"
        "try: corefeval.read(sys.argv[1])\n"
        "except corefeval.InputError as error: sys.exit(f'error: {error}')\n"
    )
    path = tmp_path / "key.conll"
    with open(path, "wb") as stream:
        stream.truncate(5 << 30)
    one_error(run(str(path), before=script), "5.00 GiB requested")


def test_a_limit_beyond_all_memory(tmp_path):
    path = tmp_path / "key.conll.gz"
    path.write_bytes(gzip.compress(Path(corefeval.example("key")).read_bytes()))
    with corefeval.unpack_limit(f"{10**15}TB"):
        assert corefeval.read(path).n_mentions == 301
