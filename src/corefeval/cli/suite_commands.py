"""The commands of `corefeval suite`, declared: see `commands`."""

from __future__ import annotations

from typing import Any

from corefeval.cli.declarations import Argument, Command
from corefeval.cli.options import TABLE_FORMATS, TABLE_OPTIONS, take

_SUITE = Argument("SUITE", "The suite's file (TOML).")
_SUITE_RESULTS = Argument("RESULTS", "What `suite run --save` wrote.")
# What differs where suites are tested: the suite's file may say otherwise.
TEST_OPTIONS = "trials seed alpha level correction combination resample"
_TESTED: dict[str, str | dict[str, Any]] = {
    "trials": "How many trials tests on a corpus and the bootstrap over corpora have.",
    "seed": {"default": None},
    "alpha": {"default": None, "usual": "0.05", "rare": True},
    "level": {"default": None, "usual": "0.95"},
    "correction": {"default": None, "usual": "holm"},
}
_SHOWN: dict[str, str | dict[str, Any]] = {
    "sort": {
        "help": "Sort systems by score, or as in the suite's file.",
        "choices": ("score", "file"),
    },
    "format": {
        "help": "How to print; `codabench` is a scores.json for its leaderboards.",
        "choices": (*TABLE_FORMATS, "codabench"),
    },
}

SUITE_COMMANDS = (
    Command(
        "suite run",
        "suite:run",
        "Score all systems of a suite on all its corpora, and show the table.",
        (_SUITE,),
        take(
            "cache no_cache no_tests strict metric averages sort rows format output save quiet "
            f"{TABLE_OPTIONS} {TEST_OPTIONS} unpack_limit jobs piece_size scheduler",
            strict="Fail (exit status 3) also if a response is missing or broken.",
            save="Keep all results in this file (.gz: compressed), for `suite table`, `compare` "
            "and `page`.",
            **_SHOWN,
            **_TESTED,
        ),
        """\
corefeval suite run suite.toml
corefeval suite run suite.toml --jobs 8 --save results.json.gz
corefeval suite run suite.toml --rates r,p,f1 --averages macro,micro -f latex""",
        "A response that is missing or broken is named and does not stop the others. Systems are "
        "compared by the headline metric: a superscript names the systems that one is "
        "significantly better than, and systems of the same rank do not differ significantly. The "
        "exit status is 3 if a key is broken.",
    ),
    Command(
        "suite init",
        "suite:init",
        "Write a first suite file from folders of keys and of systems' responses.",
        (
            Argument(
                "PATH",
                "Keys: a folder of them or several files; then systems' folders, each as FOLDER or "
                "NAME=FOLDER.",
            ),
            Argument("[MORE...]", "More of them."),
        ),
        take(
            "output force",
            output={
                "help": "The file to write; `-` is standard output.",
                "default": "suite.toml",
                "is_file": True,
            },
        ),
        """\
corefeval suite init keys/ mine/ theirs/
corefeval suite init keys/*.conll systems/ -o dev.toml
corefeval suite init keys/ mine=runs/2024-05-01 -o -""",
        "Corpora are named after the keys, and responses should have these names in theirs. If "
        "files differ in a number, it is the seed.",
    ),
    Command(
        "suite check",
        "suite:check",
        "Check all files of a suite: one line for each, with a verdict.",
        (_SUITE,),
        take(
            "strict systems format output unpack_limit",
            strict="Let warnings, such as missing documents, fail a file.",
            format={"choices": ("text", "json", "csv")},
        ),
        """\
corefeval suite check suite.toml
corefeval suite check suite.toml --strict --systems mine""",
        "The exit status is 1 if a file fails: it is missing, stops scoring or loses mentions.",
    ),
    Command(
        "suite table",
        "suite:table",
        "Show a table of saved results of a suite.",
        (_SUITE_RESULTS,),
        take(
            f"metric averages sort rows format output quiet {TABLE_OPTIONS} unpack_limit",
            quiet="Print no notices.",
            **_SHOWN,
        ),
        """\
corefeval suite table results.json.gz --metric lea
corefeval suite table results.json.gz --rows corpora --rates p,r,f1
corefeval suite table results.json.gz -f latex --width column --digits 1""",
    ),
    Command(
        "suite compare",
        "suite:compare",
        "Compare the systems of a suite over its corpora: by how much, and on how many, one is "
        "better.",
        (_SUITE_RESULTS,),
        take(
            "metric group format output quiet digits caption label width "
            f"{TEST_OPTIONS} unpack_limit",
            quiet="Print no notices.",
            **_TESTED,
        ),
        """\
corefeval suite compare results.json.gz
corefeval suite compare results.json.gz --metric lea --combination fisher
corefeval suite compare results.json.gz --resample documents,seeds -f json
corefeval suite compare results.json.gz -f latex --width page --digits 1""",
    ),
    Command(
        "suite page",
        "suite:page",
        "Make a leaderboard of a suite: one HTML file that opens anywhere, without a network.",
        (_SUITE_RESULTS,),
        take(
            f"output title reports quiet {TEST_OPTIONS} unpack_limit",
            output={"help": "The file to write.", "default": "leaderboard.html"},
            title="The title of the leaderboard; by default the suite's.",
            quiet="Print no notices.",
            **_TESTED,
        ),
        """\
corefeval suite page results.json.gz
corefeval suite page results.json.gz --title "Shared task" --output board.html
corefeval suite page results.json.gz --reports reports/""",
        "It is made from saved results only, and contains no words of the corpora.",
    ),
)
