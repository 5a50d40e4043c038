"""The command line in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys


def run(*arguments: str, before: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, after some Python."""
    script = f"import sys\nfrom corefeval.cli import main\n{before}\nsys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-B", "-c", script, *map(str, arguments)],
        capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, **options,
    )  # fmt: skip


def one_error(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stderr.count("error:") == 1
    assert words in done.stderr
