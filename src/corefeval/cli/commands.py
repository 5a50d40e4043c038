"""The table of commands: what each one takes, what it is for, and the function that runs it."""

from __future__ import annotations

from collections.abc import Sequence

from corefeval.checks import did_you_mean
from corefeval.cli.corpora import CORPUS_COMMANDS
from corefeval.cli.file_options import (
    ANNOTATOR,
    IN_PIECES,
    INPUTS,
    KEY,
    KEY_OR_SAVED,
    LISTED,
    MORE,
    MORE_ANNOTATORS,
    READING,
    RESPONSE,
    SIDES,
    WRITTEN_FORMAT,
)
from corefeval.cli.options import TABLE_FORMATS, TABLE_OPTIONS, take, take_choices
from corefeval.cli.parsing import INFORMATION, Argument, Command
from corefeval.cli.suite import SUITE_COMMANDS
from corefeval.diagnostics import UsageError
from corefeval.protocol import STEPS

_SCORES = (
    Command(
        "score",
        "scoring:score",
        "Score responses against a key.",
        (
            KEY_OR_SAVED,
            Argument("[RESPONSE...]", "Responses, each as PATH or NAME=PATH; or saved files."),
        ),
        (
            *take(
                f"metrics by by_document ci fail_under format output save quiet {TABLE_OPTIONS} "
                "samples seed level segments",
                metrics={
                    "help": "Metrics, separated by commas: see `corefeval metrics`. Parameters are "
                    "in parentheses, as in `lea(importance=one)`. Presets stand for several: "
                    "`standard`, `papers`, `anaphora`, `all`. `my_module:my_metric` is your own "
                    "function.",
                    "usual": "standard",
                },
                by="Features to show scores by: see `corefeval features`. They are `genre`, "
                "`entity_class`, `size`, `kind`, `tag`, `distance(sentences)`, …, separated by "
                "commas. `genre*kind` crosses two.",
                format={
                    "help": "How to print. `conll`, `coval` and `corefud` print like the official "
                    "scorer, coval and corefud-scorer.",
                    "choices": (*TABLE_FORMATS, "conll", "coval", "corefud"),
                },
                segments="How many segments to cut a single document into for its intervals.",
            ),
            *take_choices(*STEPS),
            *take(IN_PIECES),
        ),
        """\
corefeval score key.conll response.conll
corefeval score key.conll old=a.conll new=b.conll --metrics muc,b3,lea
corefeval score key.conll response.conll --metrics papers --by kind,genre
corefeval score key.conll response.conll --ci --save kept.json.gz
corefeval score key.conll response.conll --by-document --format csv -o out.csv
corefeval score key.conll - --documents 'bc/*' < response.conll
corefeval score key.conll response.conll --match exact,head,partial
corefeval score huge.conll huge-response.conll --jobs 8 --resume finished/
corefeval score key.conll response.conll --fail-under conll=60,lea.recall=40
corefeval score key.conll a.conll b.conll -f latex --digits 1 --width column""",
        "The exit status is 3 if a score is under its limit.",
    ),
    Command(
        "errors",
        "analysis:errors",
        "Show what is wrong with responses, and what each kind of error costs.",
        (KEY, RESPONSE, MORE),
        (
            *take(
                "metrics list top entities by format output quiet",
                metrics={"default": "conll, lea"},
                entities="Also show the N largest entities of the key: where they are, how much "
                "of them was found, and what they were merged with and split into. `csv` then "
                "has these alone.",
                by={
                    "spelled": "--by -b FEATURE",
                    "help": "The feature of mentions to break links down by.",
                    "default": "kind",
                },
            ),
            *take_choices(*STEPS, "errors"),
            *take(INPUTS),
        ),
        """\
corefeval errors key.conll response.conll
corefeval errors key.conll old=a.conll new=b.conll --metrics conll,lea --top 0
corefeval errors key.conll response.conll --list divided
corefeval errors novel.conll response.conll --top 0 --entities 30
corefeval errors key.conll response.conll --list all -f csv -o errors.csv""",
    ),
    Command(
        "compare",
        "scoring:compare",
        "Compare responses to a key: which one is better, and whether the difference is real.",
        (
            KEY_OR_SAVED,
            Argument("[RESPONSE...]", "Two or more, each as PATH or NAME=PATH; or saved files."),
        ),
        (
            *take(
                "metrics metric rate by sort baseline pairs differences agreement power "
                f"fail_if_worse format output save quiet {TABLE_OPTIONS} test alpha correction "
                "trials seed level samples segments",
                metrics={"usual": "muc,b3,ceafe,conll,lea"},
                metric="The main metric, for sorting, `--differences` and `--power`; by default "
                "conll, or else the first.",
                by="Features, separated by commas: compare within each of their values too.",
                format="How to print. `csv` has one table: documents (`--differences`), "
                "`--pairs`, or scores.",
                samples={
                    "help": "How many samples the bootstrap of intervals draws.",
                    "default": None,
                    "usual": "1000",
                },
            ),
            *take_choices(*STEPS),
            *take(IN_PIECES),
        ),
        """\
corefeval compare key.conll old=a.conll new=b.conll
corefeval compare key.conll a.conll b.conll c.conll -f latex -o table.tex
corefeval compare key.conll a.conll b.conll --differences --power --by genre
corefeval compare old.json.gz new.json.gz
corefeval compare key.conll a.conll b.conll -f latex --rates P,R,F1 --digits 1
corefeval compare key.conll old.json.gz new=b.conll --fail-if-worse old.conll""",
        "The exit status is 3 if a response is significantly worse than `--fail-if-worse`.",
    ),
    Command(
        "probe",
        "scoring:probe",
        "Score responses to a probe: which candidate does each pronoun refer to?",
        (
            Argument(
                "PROBE", "GAP, WinoBias, Winogender, … (a file, folder or pattern), or saved."
            ),
            Argument("[RESPONSE...]", "Responses, each as PATH or NAME=PATH; or saved files."),
        ),
        (
            *take(
                f"by contrast by_item write fail_under format output save quiet {TABLE_OPTIONS} "
                "trials seed level",
                by="Groups of items to show figures by, separated by commas; by default that of "
                "the contrast.",
                fail_under="Fail (exit status 3) if accuracy, recall, precision or f1 is under its "
                "limit, such as accuracy=80,f1=70.",
                level={"default": None, "usual": "0.95"},
            ),
            *take(
                "protocol singletons duplicates missing extra tokens undefined candidate names "
                "pair probe_format response_format response_layer encoding "
                "response_encoding word_column unpack_limit"
            ),
        ),
        """\
corefeval probe gap-test.tsv system.jsonl
corefeval probe 'wino/*_stereotyped_*.dev' old=a.jsonl new=b.jsonl --by type
corefeval probe gap-test.tsv answers.jsonl --by-item -f csv
corefeval probe mine.tsv --write items.jsonl""",
        "The exit status is 3 if a figure is under its limit.",
    ),
    Command(
        "explain",
        "analysis:explain",
        "Explain why numbers differ: which choices of scorers they depend on, and how much.",
        (KEY._replace(spelled="[KEY]"), RESPONSE._replace(spelled="[RESPONSE]"), MORE),
        (
            *take(
                "from_ to metrics results format output quiet digits caption label width",
                metrics={
                    "spelled": "--metrics -m --metric LIST",
                    "help": "Metrics and presets, separated by commas; by default muc, b3, ceafe "
                    "and conll, or only conll for a number.",
                },
            ),
            *take_choices(*STEPS),
            *take(INPUTS),
        ),
        """\
corefeval explain key.conll response.conll --from conll-8.01 --to e2e
corefeval explain key.conll response.conll --to 61.3 --metric conll
corefeval explain key.conll old=a.conll new=b.conll
corefeval explain --results mine.json theirs.json
corefeval explain key.conll response.conll --results mine.json theirs.json""",
        "Without options, it shows how much numbers depend on each choice and, with several "
        "responses, whether their order does. With `--to` and one response, it shows what makes "
        "two protocols differ, or which protocols and choices give a number.",
    ),
    Command(
        "report",
        "analysis:report",
        "Make a report on responses: one HTML file that opens anywhere, without a network.",
        (KEY, RESPONSE, MORE),
        (
            *take(
                "output metrics by no_text title explain sort no_ci quiet samples seed level",
                output={"help": "The file to write.", "default": "report.html"},
                metrics={"default": "standard"},
                by={
                    "help": "Features, separated by commas, to show scores by; by default genre, "
                    "kind, entity_class, size, distance and nested. `corefeval features` lists "
                    "them.",
                    "default": None,
                },
                title="The title of the report; by default the name of the key.",
            ),
            *take_choices(*STEPS, "errors"),
            *take(INPUTS),
        ),
        """\
corefeval report key.conll response.conll
corefeval report key.conll old=a.conll new=b.conll --output report.html
corefeval report key.conll response.conll --no-text""",
    ),
    Command(
        "agree",
        "analysis:agree",
        "Measure the agreement between annotators: F1 of each pair, and Krippendorff's α over "
        "chains.",
        (ANNOTATOR, Argument("OTHER", "Another annotator's."), MORE_ANNOTATORS),
        (
            *take(
                "metrics distances response by_document ci format output quiet samples seed level",
                metrics={"default": "standard"},
                by_document="Show each document's agreement too.",
                ci="Show intervals for responses, from a bootstrap over documents.",
            ),
            *take_choices(*STEPS, "agreement"),
            *take("file_format file_layer encoding word_column features unpack_limit"),
        ),
        """\
corefeval agree ann=a.conll bob=b.conll cleo=c.conll --metrics conll,lea
corefeval agree ann=a.conll bob=b.conll --response ours=s.conll --ci
corefeval agree ann/ bob/ --distances masi --unmarked missing --by-document""",
    ),
    Command(
        "merge",
        "analysis:merge",
        "Merge annotations of the same texts: the consensus, and what a person must decide.",
        (ANNOTATOR, MORE_ANNOTATORS),
        (
            *take(
                "output to decisions contested page votes metrics format quiet",
                output="Write the consensus to this file; without it, only a summary is printed.",
                to=WRITTEN_FORMAT,
                metrics={"default": "conll, lea"},
            ),
            *take_choices(*STEPS, "merge"),
            *take("file_format file_layer encoding word_column features unpack_limit"),
        ),
        """\
corefeval merge ann.conll bob.conll -o gold.conll --page decide.html
corefeval merge ann.conll bob.conll --decisions decided.tsv -o gold.conll""",
    ),
    Command(
        "audit",
        "analysis:audit",
        "Find annotations of a key that look wrong: those that responses agree against.",
        (KEY, RESPONSE, MORE),
        (
            *take(
                "top plant format output quiet seed",
                top={"help": "How many findings to show; 0 for all.", "default": 20},
            ),
            *take_choices(*STEPS),
            *take(f"{SIDES} unpack_limit"),
        ),
        """\
corefeval audit key.conll a.conll b.conll c.conll --plant 100""",
    ),
    Command(
        "sample",
        "sampling:sample",
        "Draw what people should look at, to score responses without a key.",
        (RESPONSE, MORE),
        (
            *take(
                "design n seed candidates answers output quiet",
                seed={"rare": False, "group": "Options"},
                output={
                    "help": "The sheet to write: CSV, or a page for labelling if it ends in .html.",
                    "default": "sheet.csv",
                },
            ),
            *take(
                f"protocol singletons duplicates layer documents zeros {READING}",
                singletons={"choices": ("keep", "drop")},
                documents="Draw only from the documents whose id matches this pattern.",
            ),
        ),
        """\
corefeval sample a.conll b=b.conll --design names --n 400 --output sheet.html
corefeval sample a.conll b=b.conll --n 700 --answers sheet.csv -o more.csv""",
        "The same responses, design and seed give the same sheet. A larger number of draws begins "
        "with those of a smaller one.",
    ),
    Command(
        "estimate",
        "sampling:estimate",
        "Estimate scores from a filled sheet: intervals, differences, and the labels still needed.",
        (Argument("SHEET", "A sheet that `corefeval sample` drew, filled in."), RESPONSE, MORE),
        take(
            "annotator sentences candidates margin metrics level format output quiet "
            f"digits caption label width {READING}",
            metrics={"usual": "all that the design offers"},
            level={
                "help": "The share of samples whose intervals contain the true score.",
                "rare": False,
                "group": "Options",
            },
        ),
        """\
corefeval estimate sheet.csv a.conll b=b.conll
corefeval estimate anna.csv a.conll b=b.conll --annotator ben.csv --margin 2""",
        "How responses are scored is in the first line of the sheet.",
    ),
)
_LAB = Command(
    "lab",
    "analysis:lab",
    "Find out what metrics reward: run an experiment, on the papers' data or on your own.",
    (
        Argument("[EXPERIMENT]", "An experiment, or `list`.", "list"),
        Argument("[KEY]", "Your own key, instead of the papers'."),
        Argument("[RESPONSE]", "Your own response, as PATH or NAME=PATH."),
    ),
    take(
        f"metrics output figures format quiet seed {SIDES} tagset unpack_limit",
        metrics="Metrics, separated by commas: see `corefeval metrics`. By default, all "
        "metrics that the data allows are measured; tables show those that most papers report.",
        output={
            "spelled": "--output -o FOLDER",
            "help": "Write data (CSV, JSON) and figures into this folder, which is created if "
            "needed.",
        },
        tagset={"group": "Files"},
    ),
    """\
corefeval lab list
corefeval lab splits
corefeval lab mention-identification key.conll response.conll -m conll,lea
corefeval lab trust --output trust/""",
)
_LISTINGS = (
    Command(
        "cite",
        "listings:cite",
        "Print BibTeX for corefeval and for the papers of the metrics that you used.",
        (Argument("[FILE...]", "Saved results (score … --save FILE): all of their metrics."),),
        take(
            "metrics unpack_limit",
            metrics="Metrics and presets, separated by commas, as for score.",
        ),
    ),
    Command(
        "metrics",
        "listings:metrics",
        "List metrics with their definitions and papers: all of them, or those you name.",
        (Argument("[NAME...]", "Metrics, in any spelling."),),
        take("format", format=LISTED),
    ),
    Command(
        "features",
        "listings:features",
        "List the features of documents, entities and mentions that scores can be broken down by.",
        (Argument("[NAME...]", "Features; all of them if none is named."),),
        take("format", format=LISTED),
    ),
    Command(
        "protocols",
        "listings:protocols",
        "List the choices that affect scores, and named protocols that bundle them.",
        (Argument("[NAME...]", "Named protocols, or choices; all of them if none is named."),),
        take("format", format=LISTED),
        details="Write a protocol like the signature below a score: --protocol 'singletons:drop'.",
    ),
    Command(
        "example",
        "listings:example",
        "Copy the example corpus to a folder: a key, the output of two systems, and model answers.",
        (Argument("[FOLDER]", "Where to put the files; the current folder by default.", "."),),
        take("suite"),
        details="These are key.conll, cautious.conll and eager.conll, and the answers of two "
        "language models, tagged.jsonl and listed.jsonl.",
    ),
    Command(
        "completion",
        "help:completion",
        "Print a shell script that completes commands, options and their values.",
        (Argument("SHELL", "The shell.", choices=("bash", "zsh", "fish")),),
        (),
        """\
corefeval completion bash >> ~/.bash_completion
corefeval completion zsh > ~/.zfunc/_corefeval
corefeval completion fish > ~/.config/fish/completions/corefeval.fish""",
        "For zsh, put `fpath+=~/.zfunc` before `compinit` in ~/.zshrc. Then open a new shell.",
    ),
)
COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (*_SCORES, *SUITE_COMMANDS, _LAB, *CORPUS_COMMANDS, *_LISTINGS)
}
# What groups of commands are for; that of all commands has no name.
SUMMARIES = {
    "": "Evaluate coreference resolution: all metrics, exact and fast.",
    "suite": "Score many systems on many corpora: a suite file, tables, checks of submissions.",
}


def members_of(group: str) -> list[str]:
    """The names of commands in a group, such as `suite`; of all commands for an empty name."""
    prefix = f"{group} " if group else ""
    names = (name.removeprefix(prefix) for name in COMMANDS if name.startswith(prefix))
    return list(dict.fromkeys(name.partition(" ")[0] for name in names))


def find_command(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The name that words begin with, of a command or of a group of them, and the words after it.

    Raises a UsageError where there is no such command.
    """
    name = ""
    while name not in COMMANDS and words and words[0] not in INFORMATION:
        longer = f"{name} {words[0]}".strip()
        if longer not in COMMANDS and longer not in SUMMARIES:
            hint = did_you_mean(words[0], members_of(name))
            raise UsageError(f"there is no command {words[0]!r}: {hint}")
        name, words = longer, words[1:]
    return name, words
