"""`corefeval merge` and `audit`: several annotations of one text, and a key under suspicion."""

from __future__ import annotations

from corefeval.cli.analysis import name_annotators, read_keywords
from corefeval.cli.options import REQUEST_OPTIONS
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import put, short, show, tell
from corefeval.cli.responses import name_responses
from corefeval.diagnostics import UsageError


def merge(options: ParsedOptions) -> None:
    """Merge annotations, and write the consensus and what is contested."""
    from corefeval.consensus import VOTES
    from corefeval.consensus import merge as merge_files
    from corefeval.consensus.decisions import make_table
    from corefeval.formats import write

    if options.to is not None and options.output is None:
        raise UsageError("--to is the format of the consensus: add -o FILE")
    is_printed = options.output == "-"
    targets = options.given("contested", "page", "votes", *(() if is_printed else ("output",)))
    decisions = options.given("decisions")
    arguments = (options.file, *options.more)
    files, _ = name_annotators(arguments, [*decisions.values()], *targets.values())
    merged = merge_files(files, **decisions, **read_keywords(options))
    notices = list(merged.notices)
    if options.output is not None:
        notices += write(merged.corpus, options.output, format=options.to)
    if options.contested is not None:
        put(make_table(merged.rows()), options.contested)
    if options.votes is not None:
        put(make_table(merged.votes, VOTES), options.votes)
    if options.page is not None:
        from corefeval.reports.decisions import make_decision_page

        make_decision_page(merged).save(options.page)
    if not is_printed:  # else standard output is the consensus
        show(merged, None, format=options.format)
    tell(notices, quiet=options.quiet)


def audit(options: ParsedOptions) -> None:
    """Find annotations of a key that look wrong."""
    from corefeval.analysis.auditing import audit as find_errors
    from corefeval.pieces import NamedFile

    if options.top < 0:
        raise UsageError(f"--top must be 0 or more, not {options.top}")
    files = {name: NamedFile(path, name) for name, path in name_responses(options)}
    key, keywords = NamedFile(options.key, short(options.key)), options.given(*REQUEST_OPTIONS)
    findings = find_errors(key, files, plant=options.plant, seed=options.seed, **keywords)
    show(findings, options.output, format=options.format, top=options.top)
    tell(findings.notices, quiet=options.quiet)
