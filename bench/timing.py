"""Timing: the best of several runs, and the peak memory of a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import corefeval

# The peak of a process as the system keeps it, which unlike ru_maxrss knows nothing of its parent.
PEAK_OF_PROCESS = """
    import re, resource
    from pathlib import Path
    status = Path("/proc/self/status")
    if status.exists():
        peak = 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1])
    else:
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""
PEAK = (
    """
import json, sys
from corefeval import score
if __name__ == "__main__":
    score(*sys.argv[1:], piece_size="1000TB")
"""
    + PEAK_OF_PROCESS
    + """
    print(json.dumps({"peak": peak}))
"""
)


@dataclass
class Measured:
    """One line of the table: a time, and how it relates to another one of the same run."""

    what: str
    seconds: float
    against: str
    ratio: str
    goal: str = ""


def best(
    function: Callable[[], object],
    repeat: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """The shortest of several runs, in seconds of a clock; the first one only warms up."""
    function()
    times = []
    for _ in range(repeat):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def times_in_turns(
    repeat: int, *functions: Callable[[], object], clock: Callable[[], float] = time.process_time
) -> list[float]:
    """The shortest time of each function, in seconds; they take turns, as machines have moods."""
    best = [float("inf")] * len(functions)
    for function in functions:
        function()
    for _ in range(repeat):
        for place, function in enumerate(functions):
            start = clock()
            function()
            best[place] = min(best[place], clock() - start)
    return best


@contextmanager
def compiled_modules() -> Iterator[dict[str, str]]:
    """An environment whose commands find compiled modules, as they do where they are installed."""
    with tempfile.TemporaryDirectory() as folder:
        known = {name: value for name, value in os.environ.items() if "BYTECODE" not in name}
        source = str(Path(corefeval.__file__).parents[1])
        yield known | {"PYTHONPYCACHEPREFIX": folder, "PYTHONPATH": source}


def command_time(command: Sequence[str] | str, repeat: int = 1) -> float | None:
    """The time of a command, or None where it fails."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        shell = isinstance(command, str)
        done = subprocess.run(command, shell=shell, capture_output=True, check=False)
        times.append(time.perf_counter() - start)
        if done.returncode:
            sys.stderr.write(done.stderr.decode(errors="replace")[-500:])
            return None
    return min(times)


def peak_memory(*paths: object) -> int:
    """The peak of a process that scores two files, in bytes."""
    command = [sys.executable, "-c", PEAK, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, check=True)
    return int(json.loads(done.stdout)["peak"])
