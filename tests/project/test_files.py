"""Files are written whole or not at all."""

from __future__ import annotations

import ast
import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import corefeval
from corefeval import InputError
from corefeval.cli import main
from corefeval.files import write_file, write_folder
from processes import one_error, run

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
SOURCE = Path(corefeval.__file__).parent
EARLIER = "what was there before\n"

resource = pytest.importorskip("resource")  # there is none on Windows


def full(size: int = 200) -> str:
    """Python after which files can have so many bytes, as on a full disk."""
    return (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
    )


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# Every way to write

FILES = {
    "convert": ("convert", KEY, "{}", "--to", "e2e"),
    "convert-packed": ("convert", KEY, "{}.gz", "--to", "conll"),
    "score-output": ("score", KEY, EAGER, "--output", "{}"),
    "score-save": ("score", KEY, EAGER, "--save", "{}"),
    "score-save-packed": ("score", KEY, EAGER, "--save", "{}.gz"),
    "compare-output": ("compare", KEY, CAUTIOUS, EAGER, "--output", "{}"),
    "compare-save": ("compare", KEY, CAUTIOUS, EAGER, "--save", "{}"),
    "errors": ("errors", KEY, EAGER, "--output", "{}"),
    "agree": ("agree", KEY, EAGER, "--output", "{}"),
    "report": ("report", KEY, EAGER, "--no-ci", "--output", "{}"),
    "check": ("check", EAGER, "--fix", "{}"),
}
FOLDERS = {
    "brat": ("convert", KEY, "{}", "--to", "brat"),
    "litbank": ("convert", KEY, "{}", "--to", "litbank"),
    "lab": ("lab", "boundary", "--output", "{}", "--figures", "none"),
    "example": ("example", "{}"),
}


def filled(arguments: tuple[str, ...], target: Path) -> list[str]:
    return [argument.format(target) for argument in arguments]


@pytest.mark.parametrize("name", FILES)
def test_a_full_disk_leaves_the_earlier_file(tmp_path, name):
    arguments = filled(FILES[name], tmp_path / "target")
    path = next(Path(argument) for argument in arguments if str(tmp_path) in argument)
    path.write_text(EARLIER)
    one_error(run(*arguments, before=full()), "File too large")
    assert tree(tmp_path) == {path.name: EARLIER.encode()}


def test_a_full_disk_leaves_no_cut_file(tmp_path):
    one_error(run("convert", KEY, tmp_path / "x", "--to", "e2e", before=full()), "File too large")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FOLDERS)
def test_a_full_disk_leaves_the_earlier_folder(tmp_path, name):
    whole = tmp_path / "a" / "new"
    arguments = filled(FOLDERS[name], whole)
    one_error(run(*arguments, before=full()), "File too large")
    assert list(tmp_path.iterdir()) == []
    assert run(*arguments).returncode == 0
    names = list(tree(whole))
    assert len(names) > 2
    if name != "example":  # which leaves other files alone
        for file in names:
            (whole / file).write_text(EARLIER)
        one_error(run(*arguments, before=full()), "File too large")
        assert tree(whole) == dict.fromkeys(names, EARLIER.encode())


KILLED = (
    "import os, signal\n"
    "def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"
    "os.{} = die\n"
)  # fmt: skip


@pytest.mark.parametrize("moment", ["fsync", "replace"])
@pytest.mark.parametrize("name", ["convert", "score-save", "check"])
def test_a_kill_leaves_the_earlier_file(tmp_path, name, moment):
    target = tmp_path / "target"
    target.write_text(EARLIER)
    done = run(*filled(FILES[name], target), before=KILLED.format(moment))
    assert done.returncode == -signal.SIGKILL
    assert target.read_text() == EARLIER
    assert all(file == "target" or file.startswith(".") for file in tree(tmp_path))


def test_a_kill_leaves_no_half_folder(tmp_path):
    arguments = filled(FOLDERS["brat"], tmp_path / "new")
    assert run(*arguments, before=KILLED.format("rename")).returncode == -signal.SIGKILL
    assert not (tmp_path / "new").exists()
    assert run(*arguments).returncode == 0
    # What a kill leaves over is hidden, so that nobody reads it for data.
    assert len(corefeval.read(tmp_path).documents) == 9
    corpus = corefeval.read(tmp_path / "new")
    before = tree(tmp_path / "new")
    assert run(*arguments, before=KILLED.format("replace")).returncode == -signal.SIGKILL
    after = tree(tmp_path / "new")
    assert {file: data for file, data in after.items() if not file.startswith(".")} == before
    assert corefeval.read(tmp_path / "new").documents == corpus.documents


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "x").write_text(EARLIER)
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "x", b"new")
    monkeypatch.setattr(os, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "y", {"a": b"new"})
    assert tree(tmp_path) == {"x": EARLIER.encode()}
    assert len(list(tmp_path.iterdir())) == 1


def test_from_python(tmp_path, monkeypatch):
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    result = corefeval.score(KEY, EAGER, metrics="conll")
    report = corefeval.report(KEY, EAGER, ci=None, metrics="conll", by=())
    corpus = corefeval.read(KEY)
    target = tmp_path / "target"
    target.write_text(EARLIER)
    monkeypatch.setattr(os, "fsync", fail)
    for write in (result.save, report.save, lambda path: corefeval.write(corpus, path)):
        with pytest.raises(InputError, match="No space left"):
            write(target)
        assert tree(tmp_path) == {"target": EARLIER.encode()}


@pytest.mark.parametrize("bad", ["folder/", "folder", "no/such/file", "x" * 300, "file/below"])
def test_two_outputs_are_written_both_or_neither(run, tmp_path, monkeypatch, bad):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for one, other in (("good", bad), (bad, "good")):
        for command in ("score", "compare"):
            line = [command, KEY, EAGER, f"2={EAGER}", "--output", one, "--save", other]
            status, out, err = run(*line)
            assert (status, out) == (1, "")
            assert err.startswith(f"error: {bad}: the output cannot be written: ")
            assert tree(tmp_path) == {"file": b""}


def test_nobody_writes_in_another_way():
    for path in SOURCE.rglob("*.py"):
        if path.name == "files.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            assert name not in ("write_text", "write_bytes", "copyfile", "copy", "savefig") or (
                name == "copy" and not node.args
            ), f"{path}:{node.lineno}"
            if name == "open" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                devnull = ast.unparse(node.args[0]) == "os.devnull"
                assert devnull or node.args[1].value == "rb", f"{path}:{node.lineno}"


# What is kept


def test_permissions_and_links_are_kept(tmp_path):
    target, link, dangling = (tmp_path / name for name in ("real", "link", "dangling"))
    target.write_text(EARLIER)
    target.chmod(0o640)
    link.symlink_to("real")
    write_file(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    dangling.symlink_to("other")
    write_file(dangling, b"newer")
    assert (tmp_path / "other").read_bytes() == b"newer" and dangling.is_symlink()
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "other").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_folder_behind_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_folder(tmp_path / "link", {"a": b"1"})
    assert tree(tmp_path / "real") == {"a": b"1"} and (tmp_path / "link").is_symlink()


@pytest.mark.skipif(os.getuid() == 0, reason="who is root may do everything")
def test_what_may_not_be_written_is_refused(tmp_path):
    target = tmp_path / "target"
    target.write_text(EARLIER)
    target.chmod(0o444)
    with pytest.raises(InputError, match="Permission denied"):
        write_file(target, b"new")
    assert target.read_text() == EARLIER
    target.chmod(0o644)
    tmp_path.chmod(0o555)  # no new file can be there, but this one may be written
    write_file(target, b"new")
    tmp_path.chmod(0o755)
    assert target.read_bytes() == b"new"


def test_read_only_files_are_refused_before_anything(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / name).write_text(EARLIER)
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).endswith("b"))
    with pytest.raises(InputError, match="Permission denied"):
        write_folder(tmp_path, {"a": b"new", "b": b"new"})
    assert tree(tmp_path) == dict.fromkeys("ab", EARLIER.encode())


def test_a_file_that_cannot_be_replaced_is_written_in_place(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    (tmp_path / "mounted").write_text(EARLIER)
    monkeypatch.setattr(os, "replace", refuse)
    write_file(tmp_path / "mounted", b"new")
    assert tree(tmp_path) == {"mounted": b"new"}


@pytest.mark.parametrize("path", ["nowhere/file", ".", "new/", "a\0b", "\ud800"])
def test_places_where_nothing_can_be(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="the file cannot be written"):
        write_file(path, b"new")
    assert list(tmp_path.iterdir()) == []


def test_pipes_and_devices(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    corefeval.write(corefeval.read(KEY), pipe)
    reader.join()
    assert b"#begin document" in got[0] and pipe.is_fifo()
    write_file(os.devnull, b"gone")
    if os.path.exists("/dev/full"):
        (tmp_path / "link").symlink_to("/dev/full")
        with pytest.raises(InputError, match="No space left"):
            write_file(tmp_path / "link", b"new")
        assert main(["score", KEY, EAGER, "--output", "/dev/full"]) == 1


def test_repaired_files_are_not_read_back_from_pipes(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = run("check", EAGER, "--against", KEY, "--fix", pipe, timeout=60)
    reader.join()
    assert b"#begin document" in got[0] and str(pipe) in done.stdout
    compared = run("check", EAGER, "--against", KEY, "--fix", tmp_path / "file").stdout
    assert done.stdout == compared.replace(str(tmp_path / "file"), str(pipe))
    done = run("check", EAGER, "--fix", "/dev/stdout", timeout=60)
    assert done.stdout.encode() == got[0] and "written again" in done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="a path of Linux")
@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_path(tmp_path, path):
    """It may be a file that others write to as well: what stands in it stays."""
    target = tmp_path / "log"
    target.write_text(EARLIER)
    script = (
        "from corefeval.files import write_file\n"
        f"print(1); write_file({path!r}, 'two\\n'); print(3)"
    )
    with open(target, "ab") as stream:
        subprocess.run([sys.executable, "-c", script], stdout=stream, check=True)
    assert target.read_text() == EARLIER + "1\ntwo\n3\n"
    assert len(list(tmp_path.iterdir())) == 1
