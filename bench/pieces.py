"""Pieces against the whole in memory: processor time, peak memory, and the same result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import corefeval
from bench.corpora import write_corpus
from bench.timing import PEAK_OF_PROCESS, compiled_modules

RUN = (
    """
import hashlib, json, resource, sys
from corefeval import score
if __name__ == "__main__":
    result = score(*sys.argv[1:3], **json.loads(sys.argv[3]))
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = [sorted(map(str, result.notices)), result.key_digest, result.signature]
    told += [(name, table.totals()) for name, table in result.tables.items()]
    told = hashlib.sha256(repr(told).encode()).hexdigest()
"""
    + PEAK_OF_PROCESS
    + """
    print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "peak": peak, "told": told}))
"""
)


@dataclass(frozen=True)
class Run:
    """What a score took: seconds of the processor, bytes of memory; and what it told."""

    seconds: float
    peak: int
    told: str


def run(key: Path, response: Path, **options: object) -> Run:
    """Score in a process of its own."""
    command = [sys.executable, "-c", RUN, str(key), str(response), json.dumps(options)]
    done = subprocess.run(command, capture_output=True, check=True)
    return Run(**json.loads(done.stdout))


def write_large(folder: Path, n_tokens: int) -> tuple[Path, Path]:
    """A key and a response, whose documents come again under other names."""
    once = min(n_tokens, 1_000_000)
    paths = write_corpus(folder, "once", once // 500, 500)[:2]
    large = tuple(folder / f"large{n_tokens}.{side}.conll" for side in ("key", "response"))
    for path, target in zip(paths, large, strict=True):
        data = path.read_bytes()
        with open(target, "wb") as stream:
            for number in range(n_tokens // once):
                stream.write(re.sub(rb"(?m)^#begin document \(", b"\\g<0>%d/" % number, data))
    return large  # type: ignore[return-value]


def against_whole(key: Path, response: Path) -> tuple[Run, Run]:
    """The whole in memory and pieces of the usual size, the better of two runs each."""
    kinds = {"1000TB": [], "16MB": []}
    for _ in range(2):
        for size, runs in kinds.items():
            runs.append(run(key, response, piece_size=size))
    whole, pieces = (min(runs, key=lambda one: one.seconds) for runs in kinds.values())
    if whole.told != pieces.told:
        raise SystemExit("pieces do not tell what the whole does")
    return whole, pieces


def joining(number: int) -> float:
    """The time in which so many results are joined."""
    result = corefeval.score(corefeval.example("key"), corefeval.example("eager"))
    results = [
        replace(result, document_ids=tuple(f"{n}/{one}" for one in result.document_ids))
        for n in range(number)
    ]
    start = time.process_time()
    corefeval.Result.total(results)
    return time.process_time() - start


def with_jobs(key: Path, response: Path, turns: int) -> tuple[float, float]:
    """The command line with one process and with two by the clock, best of some turns."""
    command = [sys.executable, "-m", "corefeval", "score", str(key), str(response), "-q", "--jobs"]
    best = [float("inf")] * 2
    with compiled_modules() as known:
        for _ in range(turns):
            for place, jobs in enumerate("12"):
                start = time.perf_counter()
                subprocess.run([*command, jobs], capture_output=True, check=True, env=known)
                best[place] = min(best[place], time.perf_counter() - start)
    return best[0], best[1]
