"""What can be odd about documents and files as wholes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from corefeval.diagnostics import plural
from corefeval.linting.findings import Finding, Locator


def document_findings(locator: Locator) -> Iterator[Finding]:
    """All findings about documents, and about the file as a whole."""
    corpus = locator.corpus
    # A file without its last line is found where files are looked at, with that line's number.
    for notice in (notice for notice in corpus.notices if notice.kind != "unfinished-file"):
        yield locator.about_file("reading-notice", notice.message)
    if corpus.tokens is not None:
        counts = corpus.tokens.counts
        for index in np.flatnonzero(counts == 0).tolist():
            yield locator.about_document("empty-document", index, "no tokens")
        if int(counts.sum()) == 1:
            index = int(np.argmax(counts))
            yield locator.about_document("one-token-file", index, "one token in all", 0)
        else:
            for index in np.flatnonzero(counts == 1).tolist():
                yield locator.about_document("one-token-document", index, "one token", 0)
    if not corpus.n_mentions:
        documents = plural(len(corpus.documents), "document")
        yield locator.about_file("no-mentions", f"not a single mention in {documents}")
    single = int((corpus.entity_sizes == 1).sum())
    if single:
        entities = plural(int((corpus.entity_sizes > 0).sum()), "entity")
        told = "has" if single == 1 else "have"
        yield locator.about_file("singletons", f"{single:,} of {entities} {told} one mention")
