"""`corefeval check`, `convert`, `stats` and `prompt`: what is done with files before any score."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from corefeval.cli.file_options import (
    ANSWERS,
    DOCUMENTS,
    FILE,
    KEY,
    LAYER,
    LISTED,
    MORE,
    WRITTEN_FORMAT,
)
from corefeval.cli.options import take
from corefeval.cli.parsing import Argument, Command, ParsedOptions
from corefeval.cli.printing import check_paths, put, same_file, show, tell
from corefeval.cli.responses import open_cutting
from corefeval.diagnostics import UsageError
from corefeval.protocol import Protocol

if TYPE_CHECKING:
    from corefeval.analysis.statistics import Statistics
    from corefeval.diagnostics import Notice
    from corefeval.formats.answers.prompts import Prompts
    from corefeval.linting import FileRepair, Inspection
    from corefeval.model import Corpus


CORPUS_COMMANDS = (
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


def check(options: ParsedOptions) -> int:
    """Look for mistakes and oddities in files; the exit status says whether one fails."""
    from corefeval.formats import read
    from corefeval.linting import inspect, repair_file
    from corefeval.suites.checking import judge

    paths, documents = (options.file, *options.more), options.documents
    if [*paths, options.against].count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    if options.fix is not None and options.more:
        raise UsageError("only one file can be repaired at a time")
    if options.fix is not None and documents != "*":
        raise UsageError("only whole files can be repaired: leave out --documents")
    _check_key_options(options)
    if options.against is None and options.tokens is not None:
        raise UsageError("--tokens is about the key's tokens: add --against KEY")
    rules = None
    if options.protocol is not None or options.tokens is not None:
        chosen = {} if options.tokens is None else {"tokens": options.tokens}
        rules = Protocol.of(options.protocol, documents=documents, **chosen)
    key = None
    if options.against is not None:
        key = read(options.against, **options.of_key).choose_documents(documents)
        tell(key.notices, quiet=options.quiet)
    is_plain = key is None and rules is None
    repair, groups = None, []
    if options.fix is not None:
        repair = repair_file(options.file, options.fix, against=key, **options.of_file)
        groups = [list(repair.after)]
    elif is_plain:
        groups = [_check_large(paths, options)]
    if not any(groups):
        reading = {"against": key, "documents": documents, **options.of_file}
        reading["tokens"] = "same" if rules is None else rules.tokens
        groups = [inspect(path, **reading, **options.of_answers) for path in paths]
    if not is_plain:
        groups = [judge(group, key, rules) for group in groups]
    inspections = [inspection for group in groups for inspection in group]
    _print(inspections, repair, options)
    return int(any(inspection.fails(options.strict) for inspection in inspections))


def _check_key_options(options: ParsedOptions) -> None:
    """Refuse options about a key where there is none."""
    stated = options.given("key_format", "key_encoding", "key_layer")
    if options.against is None and stated:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in stated)
        raise UsageError(f"{names} is about the key: add --against KEY")


def _check_large(paths: Sequence[str], options: ParsedOptions) -> list[Inspection]:
    """The inspections of large files, made in pieces; none if any file is not cut into pieces."""
    with open_cutting(options) as cutting:
        if not all(cutting.suits(path) for path in paths):
            return []
        from corefeval.pieces.files import check_file
        from corefeval.request import Reading

        inspections: list[Inspection] = []
        for path in paths:
            inspection = check_file(path, Reading(**options.of_file), cutting, options.documents)
            if inspection is None:
                return []
            inspections.append(inspection)
    return inspections


def _print(
    inspections: list[Inspection], repair: FileRepair | None, options: ParsedOptions
) -> None:
    """Print the report; to the error stream where standard output is the repaired file."""
    from corefeval.linting.rendering import render_json, render_text

    is_taken = repair is not None and repair.target in ("-", "/dev/stdout")
    stream = sys.stderr if is_taken else sys.stdout
    if options.format == "json":
        stream.write(render_json(inspections, repair, strict=options.strict))
        return
    color = stream.isatty() and not os.environ.get("NO_COLOR")
    shown = {"all": options.all, "strict": options.strict, "quiet": options.quiet}
    stream.write(render_text(inspections, repair, color=color, **shown))


def convert(options: ParsedOptions) -> None:
    """Convert a corpus from one format to another, and list what the target cannot express."""
    from corefeval.formats import read, write
    from corefeval.formats.registry import find_format, format_for

    source, target, against = options.source, options.target, options.against
    _ = find_format(options.to) if options.to is not None else format_for(target)
    if [source, against].count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    _check_key_options(options)
    if same_file(source, target):
        raise UsageError(f"the output would overwrite the input: {target}")
    key = None if against is None else read(against, **options.of_key)
    corpus = read(source, key=key, **options.of_answers, **options.of_file)
    corpus = corpus.choose_documents(options.documents)
    if key is not None and corpus.ledger is None:
        raise UsageError(f"{source} has its own tokens: leave out --against")
    if options.heads is not None:
        from corefeval.features.annotations import add_dependency_heads

        corpus = add_dependency_heads(corpus)
    notices = (*corpus.notices, *write(corpus, target, format=options.to))
    tell(notices, quiet=options.quiet)


def stats(options: ParsedOptions) -> None:
    """Count what is in files."""
    from corefeval.analysis.statistics import count_contents
    from corefeval.formats import read
    from corefeval.preparation import stated_features

    paths = (options.file, *options.more)
    check_paths([], paths, options.output)
    counts: list[Statistics] = []
    notices: list[Notice] = []
    with open_cutting(options) as cutting:
        for path in paths:
            if options.features is None and not options.entities and cutting.suits(path):
                from corefeval.pieces.files import count_files
                from corefeval.request import Reading

                tally = count_files(path, Reading(**options.of_file), cutting, options.documents)
                if tally is not None:
                    counts.append(tally[0])
                    notices += tally[1]
                    continue
            corpus = read(path, **options.of_file).choose_documents(options.documents)
            statements, feature_notices = stated_features(
                options.features, corpus, encoding=options.encoding
            )
            counts.append(count_contents(corpus, statements))
            notices += [*corpus.notices, *feature_notices]
    show(counts, options.output, format=options.format, entities=options.entities)
    tell(notices, quiet=options.quiet)


def prompt(options: ParsedOptions) -> None:
    """Write prompts for a language model: JSON lines with id, system and user text."""
    from corefeval.formats import read
    from corefeval.formats.answers.prompts import write_prompts
    from corefeval.probes.readers import STYLES, is_probe

    paths = [path for path in (options.key, options.from_) if path is not None]
    check_paths([], paths, options.ideal, None if options.for_ else options.output)
    if options.from_ is not None and not options.shots:
        raise UsageError("--from is where worked examples come from: add their number with --shots")
    if options.for_ is not None and options.output is None:
        raise UsageError("--for writes a folder: name it with --output")
    if options.for_ is not None and options.max_tokens is not None:
        raise UsageError("a harness scores whole documents: leave out --max-tokens or --for")
    style, format = options.style, options.probe_format
    if style in STYLES or (style is None and (format or is_probe(options.key))):
        _prompt_probe(options)
        return
    corpora = [read(path, **options.of_key) for path in paths]
    prompts = write_prompts(
        corpora[0],
        style or "markdown",
        mentions=options.mentions,
        examples=corpora[1] if len(corpora) > 1 else None,
        shots=options.shots,
        max_tokens=options.max_tokens,
        pieces=options.pieces,
    )
    notices = [notice for corpus in corpora for notice in corpus.notices]
    notices += [*prompts.notices, *_score_ideal(prompts, corpora[0])]
    if options.for_ is not None:
        from corefeval.files import write_folder
        from corefeval.integrations.harnesses import folder_of

        folder = options.output
        files, losses = folder_of(options.for_, prompts, corpora[0], style or "markdown", folder)
        write_folder(folder, files)
        notices += losses
    else:
        put(prompts.text, options.output)
    if options.ideal is not None:
        put(prompts.ideal_text, options.ideal)
    tell(notices, quiet=options.quiet)


def _prompt_probe(options: ParsedOptions) -> None:
    from corefeval.probes.readers import read_probe

    names = ("mentions", "shots", "max_tokens", "ideal", "for_")
    if any(getattr(options, name) for name in names):
        raise UsageError("--mentions, --shots, --max-tokens, --ideal and --for are not for probes")
    questions = read_probe(options.key, format=options.probe_format, encoding=options.encoding)
    put(questions.prompts(options.style or "letter").text, options.output)
    tell(questions.notices, quiet=options.quiet)


def _score_ideal(prompts: Prompts, key: Corpus) -> tuple[Notice, ...]:
    """A notice on what a perfect model can score, where documents are cut into pieces."""
    from corefeval.diagnostics import Notice
    from corefeval.evaluation import score

    if not any(notice.kind == "cut-prompts" for notice in prompts.notices):
        return ()
    ideal = score(key, prompts.carried, metrics="conll", spans="exclusive")["conll"].f1
    return (
        Notice("ideal-score", f"an ideal answer to these pieces scores CoNLL {100 * ideal:.2f}"),
    )
