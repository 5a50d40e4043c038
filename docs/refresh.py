"""Write what commands print now into pages that show something else: `refresh.py docs/errors.md`.

Output that is shortened with `...` is left as it is if it still fits; if not, the command is named,
and somebody has to look. The same holds for a command that fails where the page shows no error.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", re.MULTILINE)
FILE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITER = re.compile(r"^```python\n(with open\(.*?)^```$", re.MULTILINE | re.DOTALL)


def refresh(page: Path) -> list[str]:
    """Rewrite a page; gives the commands whose shortened output does not fit any more."""
    odd: list[str] = []
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["corefeval", "example"], cwd=folder, env=environment, capture_output=True)
        for name, source in FILE.findall(text):
            (Path(folder) / name).write_text(source, encoding="utf-8")
        for source in WRITER.findall(text):  # which makes the files that commands read
            subprocess.run([sys.executable, "-c", source], cwd=folder, check=True)

        def show(found: re.Match[str]) -> str:
            command, shown = found.groups()
            done = subprocess.run(
                command, shell=True, cwd=folder, env=environment, capture_output=True, text=True
            )
            printed = done.stdout + done.stderr
            if doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS):
                return found[0]
            if "..." in shown or "error: " in printed.replace(shown, ""):
                odd.append(f"{page}: $ {command}")
                return found[0]
            return f"$ {command}\n{printed}"

        made = CONSOLE.sub(lambda block: COMMAND.sub(show, block[0]), text)
    page.write_text(made, encoding="utf-8")
    return odd


if __name__ == "__main__":
    lines = [line for name in sys.argv[1:] for line in refresh(Path(name))]
    sys.stderr.writelines(f"{line}\n" for line in lines)
    sys.exit(1 if lines else 0)
