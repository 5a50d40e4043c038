"""A tour on the example corpus: `python -m corefeval.examples`."""

from __future__ import annotations

import sys
from pathlib import Path

from corefeval.cli import main
from corefeval.examples import NAMES, example

TOUR = (
    ("How good is one system?", "score {key} {eager}"),
    ("Two systems, by the metrics that you choose", "score {key} {cautious} {eager} -m conll,lea"),
    (
        "One genre only, document by document",
        "score {key} bold={eager} -m conll --documents fi/* --by-document",
    ),
    (
        "What the papers ask for: names before pronouns, antecedents, anchors, mentions of its own",
        "score {key} {cautious} {eager} -m papers",
    ),
    (
        "Which kind of mention is resolved? Tuggener's Table 3",
        "score {key} {cautious} {eager} -m immediate,inferred --by tag",
    ),
    (
        "Which class of entity is found? His Table 4",
        "score {key} {eager} -m anchors -b entity_class",
    ),
    ("Which one is better, and is the difference real?", "compare {key} {cautious} {eager}"),
    ("What should be fixed first?", "errors {key} {eager} -m conll,lea --top 3"),
    ("Three corpora, three systems: who is best?", "suite run {suite} --no-cache -q"),
    ("What does a metric reward?", "lab boundary -m muc,b3,lea"),
    ("A table for your paper", "score {key} {cautious} {eager} -m muc,b3,ceafe,conll -f latex"),
)


def tour() -> int:
    """Show each command and what it prints; the first exit status that is not 0 ends it."""
    paths = {name: example(name) for name in (*NAMES, "suite")}
    for title, command in TOUR:
        shown = command.format(**{name: Path(path).name for name, path in paths.items()})
        sys.stdout.write(f"\n── {title}\n$ corefeval {shown}\n\n")
        sys.stdout.flush()
        if status := main(command.format(**paths).split()):
            return status
    return 0


if __name__ == "__main__":
    sys.exit(tour())
