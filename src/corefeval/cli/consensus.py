"""`corefeval merge` and `audit`: several annotations of one text, and a key under suspicion."""

from __future__ import annotations

from corefeval.cli.analysis import read_annotators
from corefeval.cli.parsing import ParsedOptions
from corefeval.cli.printing import put, show, tell
from corefeval.cli.responses import make_request, name_responses, read_all
from corefeval.diagnostics import UsageError


def merge(options: ParsedOptions) -> None:
    """Merge annotations, and write the consensus and what is contested."""
    from corefeval.consensus import VOTES, merge_corpora
    from corefeval.consensus.decisions import make_table
    from corefeval.formats import write

    if options.to is not None and options.output is None:
        raise UsageError("--to is the format of the consensus: add -o FILE")
    is_printed = options.output == "-"
    tables = [options.contested, options.page, options.votes]
    tables += [] if is_printed else [options.output]
    further = [] if options.decisions is None else [(None, options.decisions)]
    arguments = (options.file, *options.more)
    request, corpora = read_annotators(options, arguments, further, tables)
    merged = merge_corpora(corpora, request, options.decisions)
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
    from corefeval.analysis.auditing import audit_corpora

    if options.top < 0:
        raise UsageError(f"--top must be 0 or more, not {options.top}")
    files, request = name_responses(options), make_request(options, "conll")
    key, corpora = read_all(options.key, files, request, quiet=options.quiet)
    findings = audit_corpora(key, list(corpora), request, plant=options.plant, seed=options.seed)
    show(findings, options.output, format=options.format, top=options.top)
    tell(findings.notices, quiet=options.quiet)
