"""The commands on corpora before any score, and those that list what there is, declared."""

from __future__ import annotations

from corefeval.cli.file_options import (
    ANSWERS,
    DOCUMENTS,
    FILE,
    KEY,
    LAYER,
    LISTED,
    MORE,
    SIDES,
    WRITTEN_FORMAT,
)
from corefeval.cli.options import take
from corefeval.cli.parsing import Argument, Command

CORPUS_COMMANDS = (
    Command(
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
    ),
    Command(
        "check",
        "corpora:check",
        "Look for mistakes and oddities in files, on their own or against a key.",
        (FILE, MORE._replace(help="More of them.")),
        take(
            "against fix all strict protocol tokens documents format quiet input_format key_format "
            f"layer key_layer encoding key_encoding word_column choice {ANSWERS} unpack_limit "
            "jobs piece_size",
            choice={"group": "Files"},
            protocol={
                "help": "Also fail files that cannot be scored in this way: a name, or a "
                "signature. `corefeval protocols` lists them.",
                "group": "Options",
            },
            tokens={"group": "Options"},
            documents=DOCUMENTS,
            layer=LAYER,
            format={"help": "How to print; `json` has all findings.", **LISTED},
            quiet="Print a verdict on each file, and nothing else.",
        ),
        """\
corefeval check response.conll
corefeval check response.conll --against key.conll
corefeval check response.conllu --against key.conllu --protocol corefud-1.2
corefeval check broken.conll --fix repaired.conll
corefeval check corpus/ --format json
corefeval check corpus/ --quiet --strict""",
        "The exit status is 1 if there is an error: something that stops scoring or loses "
        "mentions. With `--against`, the verdict is that of `corefeval suite check`. Large files "
        "are read in pieces, except with `--against`, `--protocol` and `--fix`.",
    ),
    Command(
        "stats",
        "corpora:stats",
        "Count what is in files: documents, tokens, mentions, entities and their sizes.",
        (
            FILE._replace(help="A file, a folder, or a pattern in quotes."),
            MORE._replace(help="More of them; each is a column of the table."),
        ),
        take(
            "documents entities features format output quiet input_format layer encoding "
            "word_column unpack_limit jobs piece_size",
            documents=DOCUMENTS,
            layer=LAYER,
            features={
                "help": "A file of features of mentions, which are counted too: tab-separated "
                "columns document, start, end (or mention), and one for each feature, such as "
                "kind.",
                "rare": False,
                "group": "Options",
            },
        ),
    ),
    Command(
        "convert",
        "corpora:convert",
        "Convert a corpus from one format to another, and list what the target cannot express.",
        (
            Argument("SOURCE", "A file, a folder, a pattern in quotes, or `-` for standard input."),
            Argument(
                "TARGET",
                "A file, `-` for standard output, or a folder for formats with files per document.",
            ),
        ),
        take(
            "to documents against heads occurrences quiet input_format key_format layer "
            f"key_layer encoding key_encoding word_column choice {ANSWERS} unpack_limit",
            choice={"group": "Files"},
            to=WRITTEN_FORMAT,
            documents=DOCUMENTS,
            layer=LAYER,
            against="The key that a language model's answers are about; its documents and tokens "
            "are written.",
            occurrences={"default": "in-order", "rare": False, "group": "Options"},
        ),
        """\
corefeval convert key.conllu key.conll --to conll
corefeval convert 'dev/*.conll' dev.jsonl --to e2e
corefeval convert key.conll folder --to brat
corefeval convert answers.jsonl response.conll --against key.conll
corefeval convert corpus/ small.conll --documents 'bc/*'
corefeval convert gum.conllu gum-heads.conllu --heads dependencies""",
    ),
    Command(
        "prompt",
        "corpora:prompt",
        "Write prompts for a language model: JSON lines with id, system and user text.",
        (
            KEY._replace(
                help="The documents, or the probe, to ask about: a file, folder or pattern."
            ),
        ),
        take(
            "style mentions shots from_ max_tokens pieces ideal for_ output quiet key_format "
            "key_layer probe_format encoding word_column unpack_limit",
            from_={
                "spelled": "--from FILE",
                "help": "The corpus that worked examples are taken from.",
                "is_file": True,
            },
            pieces={"default": "apart", "rare": False, "group": "Options"},
            output="Write to this file instead of standard output; with `--for` to this folder.",
        ),
        """\
corefeval prompt key.conll -o prompts.jsonl --ideal ideal.jsonl
corefeval prompt key.conll --style xml --for inspect --output folder
corefeval prompt key.conll --style json --shots 2 --from train.conll
corefeval prompt gap-test.tsv --style letter -o prompts.jsonl
corefeval score key.conll answers.jsonl""",
        "No model is called. Score its answers as they are, with the same ids.",
    ),
)
LISTINGS = (
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
