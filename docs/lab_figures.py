"""Draw the figures of the lab's page: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from corefeval.figures import Figure, figures
from corefeval.lab import EXPERIMENTS

FOLDER = Path(__file__).parent / "lab"
# Figures of every metric are many panels; the page shows one of them.
WITH_ALL = ("trust",)


def drawn() -> dict[Path, Figure]:
    """Every figure of the page, and its file."""
    made = [
        figure
        for name, experiment in EXPERIMENTS.items()
        for figure in figures(experiment.run(), everything=name in WITH_ALL)
    ]
    return {FOLDER / f"{figure.name}.svg": figure for figure in made}


def main() -> int:
    """Draw the figures, or with --check say whether they are up to date.

    An SVG carries the fingerprint of what it shows, so that checking draws nothing, and does not
    depend on fonts.
    """
    wanted = drawn()
    if "--check" not in sys.argv:
        FOLDER.mkdir(exist_ok=True)
        for path, figure in wanted.items():
            path.write_text(figure.svg(), encoding="utf-8")
        return 0
    old = [
        path.name
        for path, figure in wanted.items()
        if not path.exists() or figure.fingerprint not in path.read_text(encoding="utf-8")
    ]
    old += [path.name for path in FOLDER.glob("*") if path not in wanted]
    if old:
        sys.stderr.write(f"out of date: {', '.join(old)}: run make docs\n")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
