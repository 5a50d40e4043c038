"""The table of options: every option of every command is declared here, once.

The parser, help, the completion of shells and the page of commands are made from this table and
from the one of commands. The choices of the protocol come from the protocol's own declarations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corefeval.cli.file_options import ANSWERS, FILES, LARGE_FILES, SIDES
from corefeval.cli.parsing import Option
from corefeval.protocol import Choice, choices

TABLE_OPTIONS = "digits rates caption label width"
TABLE_FORMATS = ("text", "json", "csv", "markdown", "latex")
OTHER_SCORERS = "What other scorers do differently"
# The choices of the protocol that brief help shows.
_USUAL_CHOICES = (
    *("match", "singletons", "documents", "missing", "tokens", "quorum"),
    *("candidate", "names", "pair"),
)

_OPTIONS = (
    Option(
        "--metrics -m LIST",
        "Metrics, separated by commas: see `corefeval metrics`.",
    ),
    Option("--metric METRIC", "Which metric to show; by default the suite's headline."),
    Option("--by -b LIST", "Features to show scores by: see `corefeval features`.", ""),
    Option("--by-document", "Show each document's scores too."),
    Option("--ci", "Show intervals, from a bootstrap over documents."),
    Option(
        "--fail-under LIMITS",
        "Fail (exit status 3) if a score is under its limit. A limit is METRIC=NUMBER in percent, "
        "or METRIC.recall=NUMBER, or read=NUMBER for the share of answers that were read; separate "
        "several by commas.",
        repeats=True,
    ),
    Option(
        "--rate RATE",
        "Which rate of each metric to compare.",
        "f1",
        ("f1", "recall", "precision", "accuracy"),
    ),
    Option(
        "--sort ORDER",
        "Sort responses by score, best first, or keep the order given.",
        "score",
        ("score", "given"),
    ),
    Option("--baseline NAME", "Compare all others with this response only."),
    Option(
        "--pairs",
        "Show every pair's difference, interval, p-value and effect sizes (always with two).",
    ),
    Option(
        "--differences",
        "Show in which documents and slices the best response and the others differ.",
    ),
    Option(
        "--agreement",
        "Show how well the metrics agree on the order of the responses (Kendall's τ).",
    ),
    Option(
        "--power",
        "Show how many documents it would take to make the other differences significant.",
    ),
    Option(
        "--fail-if-worse NAME",
        "Fail (exit status 3) if a response is significantly worse than this one by any metric.",
    ),
    Option(
        "--list -l KINDS",
        "List all errors of these kinds, separated by commas, or of `all`. They are `span`, "
        "`conflated`, `extra mention`, `extra entity`, `missing mention`, `missing entity`, "
        "`divided`, `missed set`, `spurious set`, `wrong set`, or `set` for all three, and "
        "likewise with `bridging`.",
        "",
    ),
    Option(
        "--entities N",
        "Also show the N largest entities: name, mentions, first and last place. `csv` then has "
        "these alone.",
        0,
    ),
    Option(
        "--response NAME=PATH",
        "A response to compare with the annotators: how close it comes to their agreement. "
        "Repeat it for several.",
        repeats=True,
        is_file=True,
    ),
    Option(
        "--decisions FILE",
        "A table that `--contested` or the page wrote, with decisions: the consensus obeys them.",
        is_file=True,
    ),
    Option("--contested FILE", "Write what annotators did not agree on to this file, as a table."),
    Option("--page FILE", "Write a page for making these decisions, as one HTML file."),
    Option("--votes FILE", "Write who marked each mention to this file, for `--features`."),
    Option(
        "--plant N",
        "Plant this many errors into copies of the key, and show how many of them are found.",
        0,
    ),
    Option("--top -n N", "How many of the most expensive mentions and entities to show.", 5),
    Option(
        "--distances LIST",
        "Distances between chains for α, separated by commas.",
        "all",
        ("all", "passonneau", "jaccard", "masi", "dice"),
        is_open=True,
    ),
    Option(
        "--from PROTOCOL",
        "The protocol to start from; corefeval's own by default. `corefeval protocols` lists them.",
    ),
    Option(
        "--to TARGET",
        "The protocol to compare with, or a published number in percent, digits as published.",
    ),
    Option(
        "--results FILE FILE",
        "Two files that `--save` wrote: show how their protocols differ. With the key and the "
        "response, also show what each difference is worth.",
    ),
    Option(
        "--design DESIGN",
        "What is asked: who mentions are (names), which others are the same (entities), whether "
        "two are the same (pairs), or what is missing (sentences).",
        choices=("names", "entities", "pairs", "sentences"),
    ),
    Option("--n N", "How many mentions or sentences to draw."),
    Option(
        "--candidates FILE",
        "A corpus whose mentions can be drawn, too, such as all noun phrases.",
        is_file=True,
    ),
    Option(
        "--answers FILE",
        "An older sheet of the same responses, to continue with more draws.",
        is_file=True,
    ),
    Option("--annotator FILE", "The sheet of another person.", repeats=True, is_file=True),
    Option(
        "--sentences FILE",
        "A filled sheet of sentences, which tells how many mentions were found at all.",
        is_file=True,
    ),
    Option("--margin NUMBER", "Show how many draws an interval of ± this many points needs."),
    Option("--no-text", "Leave out the words of the corpus, for texts that may not be shared."),
    Option("--no-ci", "Show no intervals."),
    Option("--title TEXT", "The title of the page."),
    Option("--explain", "Also show how much scores depend on the choices that scorers make."),
    Option(
        "--figures LIST",
        "Formats of figures, separated by commas.",
        "svg,png,html",
        ("svg", "png", "html", "none"),
        is_open=True,
    ),
    Option(
        "--against KEY",
        "The key that the files are responses to, to compare documents and tokens with. Both are "
        "read into memory whole.",
        is_file=True,
    ),
    Option(
        "--fix FILE",
        "Write a repaired copy of the file (only one) here, and list every repair. The file is "
        "read into memory whole.",
        is_file=True,
    ),
    Option("--all", "Print all findings of a kind, not only the first five."),
    Option("--strict", "Fail files with warnings too."),
    Option(
        "--heads SOURCE",
        "Add heads, found by the dependencies, to mentions that have none.",
        choices=("dependencies",),
    ),
    Option(
        "--style -s STYLE",
        "How the model should write mentions, or answer the questions of a probe.",
        choices=("markdown", "xml", "crac", "json", "letter", "name", "yesno"),
        usual="markdown, or letter for a probe",
    ),
    Option("--ideal FILE", "Also write the answers of a perfect model, as the style allows, here."),
    Option(
        "--for HARNESS",
        "Write a folder (`--output`) that an evaluation harness runs as it is.",
        choices=("inspect", "lm-eval"),
    ),
    Option(
        "--pieces CHOICE",
        "How models are to number entities in the pieces of a document: anew in each piece "
        "(apart), or on from earlier pieces, which the model must then see (joined).",
        "apart",
        ("apart", "joined"),
    ),
    Option("--by-item", "Show what was chosen for each item."),
    Option("--contrast CONTRAST", "A group and two of its values to contrast: GROUP=FIRST,SECOND."),
    Option("--write FILE", "Write the items of the probe as JSON lines, to run a system on."),
    Option("--mentions", "Mark the key's mentions in the text, and ask only for their entities."),
    Option("--shots N", "How many worked examples come before the text.", 0),
    Option(
        "--max-tokens N",
        "Cut documents into pieces of at most this many tokens, at ends of sentences.",
    ),
    Option(
        "--suite",
        "Copy the example of a suite instead: suite.toml, three corpora and three systems.",
    ),
    Option(
        "--cache FOLDER",
        "The folder for results that can be used again; by default the path of the suite's file "
        "with `.cache` at the end.",
    ),
    Option("--no-cache", "Score everything again, and keep nothing."),
    Option("--no-tests", "Do not test differences: only equal averages share a rank."),
    Option("--force", "Overwrite the file if it exists."),
    Option(
        "--systems LIST",
        "Check only the responses of these systems; names separated by commas.",
        "",
    ),
    Option("--corpora LIST", "Score only these corpora; names separated by commas.", ""),
    Option("--group NAME", "Only the corpora of this group.", ""),
    Option(
        "--averages LIST",
        "Which averages to show, separated by commas.",
        "macro,groups",
        ("macro", "micro", "groups", "none"),
        is_open=True,
    ),
    Option("--rows ROWS", "What the rows are.", "systems", ("systems", "corpora")),
    Option(
        "--reports FOLDER",
        "A folder of reports to link: CORPUS.html or CORPUS/SYSTEM.html; or a pattern of paths "
        "with {corpus} and {system} in it.",
    ),
)
_OUTPUT = (
    Option("--format -f FORMAT", "How to print.", "text", TABLE_FORMATS),
    Option("--output -o FILE", "Write to this file instead of the terminal."),
    Option(
        "--save FILE",
        "Keep the counts of each document in this file, for later. Scores and comparisons then "
        "need no data; a name that ends in .gz compresses it.",
    ),
    Option("--quiet -q", "Print no notices and no progress."),
    Option("--verbose", "Print every notice, also where many files have the same.", rare=True),
    Option("--digits N", "How many decimals percentages have.", usual="2", rare=True),
    Option(
        "--rates LIST",
        "Which rates to show, in this order: any of R, P and F1, separated by commas.",
        rare=True,
    ),
    Option("--caption TEXT", "The caption of the table.", rare=True),
    Option(
        "--label TEXT",
        "The label of the table in LaTeX, for cross-references; makes it a float.",
        rare=True,
    ),
    Option(
        "--width WIDTH",
        "Whether the table has to fit a column or the page in LaTeX; makes it a float.",
        choices=("column", "page"),
        rare=True,
    ),
)
_TESTS = (
    Option(
        "--test TEST",
        "How to test differences. The tests are paired approximate randomization, paired "
        "bootstrap, and an exact test (20 documents at most).",
        "randomization",
        ("randomization", "bootstrap", "exact"),
    ),
    Option("--alpha NUMBER", "The largest corrected p-value that counts as significant.", 0.05),
    Option(
        "--correction CORRECTION",
        "The correction of p-values for many pairs, for each metric.",
        "holm",
        ("holm", "bonferroni", "none"),
        rare=True,
    ),
    Option(
        "--trials N",
        "How many trials the test has; not for the exact test.",
        usual="10,000",
        rare=True,
    ),
    Option("--samples N", "How many samples the bootstrap draws.", 1000, rare=True),
    Option("--seed N", "The seed of the random numbers.", 0, rare=True),
    Option("--level NUMBER", "The share of samples that an interval covers.", 0.95, rare=True),
    Option(
        "--segments N",
        "How many segments to cut a single document into, as one document cannot be tested.",
        20,
        rare=True,
    ),
    Option(
        "--combination METHOD",
        "How to combine the p-values of corpora. `bonferroni` is for any corpora, `fisher` for "
        "independent ones.",
        choices=("bonferroni", "fisher"),
        rare=True,
    ),
    Option(
        "--resample LIST",
        "What the bootstrap draws: any of corpora, documents and seeds; by default all three.",
        rare=True,
    ),
)
_NAMED = Option(
    "--protocol PROTOCOL",
    "A name or a signature: see `corefeval protocols`. The signature is printed under a number. "
    "Other choices you give override it.",
)


def _choice_options(name: str, choice: Choice) -> Iterator[Option]:
    """The option for a choice of the protocol, from the choice's own declaration, and its flag."""
    rare = name not in _USUAL_CHOICES
    values = tuple(choice.spellings)
    yield Option(
        f"--{name.replace('_', '-')} {'CHOICE' if values else 'TEXT'}",
        choice.summary,
        choices=values,
        usual=choice.default if values else "",
        rare=rare,
        is_open=bool(choice.shares or choice.flag),
        rare_choices=tuple(value for value in values if choice.is_accident(value)),
    )
    if choice.flag:
        flag, spelling = choice.flag.replace("_", "-"), f"--{name} {choice.flagged}"
        yield Option(f"--{flag}", f"As {spelling}.", rare=True)


_CHOICES = {name: choice for name, choice in choices().items() if choice.option}
_ACCIDENTS = choices(("emulation",))
# By groups, in the order in which help shows them.
GROUPS: dict[str, tuple[Option, ...]] = {
    "Options": _OPTIONS,
    "Output": _OUTPUT,
    "Tests and intervals": _TESTS,
    "Protocol": (
        _NAMED,
        *(
            option
            for entry in _CHOICES.items()
            if entry[0] not in _ACCIDENTS
            for option in _choice_options(*entry)
        ),
    ),
    "Files": FILES,
    "Large files": LARGE_FILES,
    OTHER_SCORERS: tuple(
        option
        for entry in _CHOICES.items()
        if entry[0] in _ACCIDENTS
        for option in _choice_options(*entry)
    ),
}
OPTIONS: dict[str, Option] = {
    option.attribute: option._replace(group=group)
    for group, options in GROUPS.items()
    for option in options
}
PROTOCOL_OPTIONS = tuple(
    option.attribute for group in ("Protocol", OTHER_SCORERS) for option in GROUPS[group]
)
# The protocol, its choices, features and how files are read: all are keywords of `score`.
REQUEST_OPTIONS = (
    "features",
    *SIDES.split(),
    *ANSWERS.split(),
    *PROTOCOL_OPTIONS,
)


def take(names: str, **changes: str | dict[str, Any]) -> tuple[Option, ...]:
    """The options of these names; `changes` are other fields, or just another help."""
    taken = []
    for name in names.replace("quiet", "quiet verbose").split():
        fields = changes.get(name, {})
        taken.append(
            OPTIONS[name]._replace(**({"help": fields} if isinstance(fields, str) else fields))
        )
    return tuple(taken)


def take_choices(*steps: str) -> tuple[Option, ...]:
    """The protocol, and the choices that act at these steps."""
    names = (f"{name} {choice.flag}" for name, choice in choices(steps).items() if choice.option)
    return take(" ".join(("protocol", *names)))
