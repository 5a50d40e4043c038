"""Blocks of memory are used again, never while anybody looks at them, and not without a limit."""

import gc
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

from corefeval import read, score
from corefeval.model import memory

pytestmark = pytest.mark.skipif(
    not hasattr(mmap, "MADV_FREE"), reason="this system has no way to offer memory"
)
SIZE = 2 * memory.LARGE


@pytest.fixture(autouse=True)
def nothing_waits():
    memory._waiting.clear()
    yield
    memory._waiting.clear()


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.bool_])
def test_memory_is_used_again(dtype):
    first = memory.empty(SIZE, dtype)
    assert first.shape == (SIZE,) and first.dtype == dtype and first.flags.writeable
    first[:] = 1
    where = address(first)
    del first
    assert address(memory.empty(SIZE - 5, dtype)) == where


@pytest.mark.parametrize(
    "look",
    [
        lambda array: array[5:10],
        lambda array: array.view(np.int64),
        lambda array: array.reshape(2, -1)[1],
        lambda array: array.data,
        lambda array: np.ndarray((3,), "V8", array, strides=(1,)),
    ],
)
def test_no_memory_is_used_again_while_a_view_is_left(look):
    array = memory.empty(SIZE)
    array[:] = 7
    where = address(array)
    view = look(array)
    before = bytes(view)
    del array
    other = memory.empty(SIZE)
    other[:] = 8
    assert address(other) != where
    assert bytes(view) == before
    del view
    assert address(memory.empty(SIZE)) == where


def test_small_arrays_come_from_the_usual_place():
    assert memory.empty(100).flags.owndata
    assert memory.empty(0).size == 0


def test_a_block_is_not_used_for_what_is_much_smaller():
    large = memory.empty(8 * SIZE)
    where = address(large)
    del large
    assert address(memory.empty(SIZE)) != where


def test_what_waits_has_a_limit():
    arrays = [memory.empty(memory.KEPT // 4) for _ in range(6)]
    assert not memory._waiting
    del arrays
    assert memory.KEPT // 2 < sum(map(len, memory._waiting)) <= memory.KEPT


@pytest.mark.parametrize("size", [1 << 60, (1 << 63) - 1])
def test_no_memory_left_is_a_memory_error(size):
    with pytest.raises(MemoryError):
        memory.empty(size)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_copy_of_the_process_begins_without():
    array = memory.empty(SIZE)
    del array
    assert memory._waiting
    child = os.fork()
    if not child:
        os._exit(len(memory._waiting))
    assert os.waitpid(child, 0)[1] == 0


def test_a_corpus_keeps_what_it_was_read_from(tmp_path):
    names = [tmp_path / "one.conll", tmp_path / "other.conll"]
    for path, word in zip(names, (b"aaaa", b"bbbb"), strict=True):
        with path.open("wb") as file:
            for number in range(3):
                file.write(b"#begin document (d%d); part 0\n" % number)
                file.write(b"d 0 0 %b (1)\nd 0 1 %b -\n\n#end document\n" % (word, word))
            file.write(b"#begin document (long); part 0\n")
            file.write(b"d 0 0 %b (1)\n" % (word * 20) * (memory.LARGE // 10))
            file.write(b"#end document\n")
    corpus = read(names[0])
    kept = corpus.tokens.column(0, "word")
    for _ in range(3):
        assert read(names[1]).tokens.column(0, "word") == ["bbbb", "bbbb"]
        gc.collect()
    assert corpus.tokens.column(0, "word") == kept == ["aaaa", "aaaa"]
    assert score(names[0], names[0])["conll"].f1 == 1


@pytest.mark.parametrize("holder", ["__main__", "re", "numpy", "corefeval.model.memory"])
def test_an_interpreter_ends_in_silence(holder):
    """Modules end one after the other, and what they hold may outlive the one that it needs."""
    code = f"""
import importlib
from corefeval.model import memory
importlib.import_module({holder!r}).kept = kept = [memory.empty(1 << 23)]
kept.append(kept)
importlib.import_module({holder!r}).other = memory.empty(1 << 23)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b""


def test_no_memory_waits_where_there_is_a_limit_to_it():
    code = """
import resource
from corefeval.model import memory
array = memory.empty(1 << 23)
del array
print(len(memory._waiting))
resource.setrlimit(resource.RLIMIT_AS, (1 << 40, resource.RLIM_INFINITY))
others = [memory.empty(1 << 23) for _ in range(5)]
del others
print(len(memory._waiting))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.split() == [b"1", b"0"]


@pytest.mark.parametrize("threshold", [1, 3, 10, 700])
def test_garbage_may_give_back_blocks_at_any_time(threshold, monkeypatch):
    """What is part of a cycle ends when garbage is looked for, be it while a block is."""
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    monkeypatch.setattr(memory, "LARGE", 4096)
    before = gc.get_threshold()
    gc.set_threshold(threshold, 1, 1)
    try:
        for turn in range(3000):
            cycle = [memory.empty(5000 + turn % 7 * 300)]
            cycle.append(cycle)
            del cycle
            memory.empty(5000 + turn % 2000)
    finally:
        gc.set_threshold(*before)
        gc.collect()
    assert not unraisable
    assert sum(map(len, memory._waiting)) <= memory.KEPT
