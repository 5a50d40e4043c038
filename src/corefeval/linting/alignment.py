"""Findings about text that only one side has, where texts are aligned."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from corefeval.diagnostics import excerpt
from corefeval.linting.findings import Finding, Locator
from corefeval.model import Corpus
from corefeval.model.moving import list_tokens
from corefeval.model.own_text import OwnText
from corefeval.model.tokens import documents_of_tokens
from corefeval.model.views import Document, Mention


def find_unaligned(locator: Locator, key: Corpus, response: Corpus) -> Iterator[Finding]:
    """A finding for each token, and for each mention, that the other side has no text for.

    Those of the key have no line of the file that is checked: the message has the key's.
    """
    for corpus in (response, key):
        if corpus.own_text is None:
            continue
        lacks = f"which {'the key' if corpus is response else 'this file'} lacks"
        for kind, document, position, subject in _list_unaligned(corpus, corpus.own_text):
            line = corpus.own_text.tokens.line(document, position)
            message, identifier = f"{subject}, {lacks}", str(key.documents[document])
            if corpus is key:
                place = f" (line {line:,} of {key.name or 'the key'})" if line else ""
                yield Finding(kind, message + place, locator.file, document=identifier)
            else:
                yield Finding(kind, message, locator.file, line, identifier)


def _list_unaligned(corpus: Corpus, own_text: OwnText) -> Iterator[tuple[str, int, int, str]]:
    """Kind, document, position and description of each unaligned token and mention of a side."""
    is_unaligned = own_text.places[:, 0] == own_text.places[:, 1]
    tokens = np.flatnonzero(is_unaligned & (own_text.tokens.rows() >= 0))
    documents = documents_of_tokens(own_text.tokens.offsets, tokens)
    positions = tokens - own_text.tokens.offsets[documents]
    words = own_text.tokens.coded("word", tokens).values()
    for word, document, position in zip(words, documents.tolist(), positions.tolist(), strict=True):
        yield "unaligned-token", document, position, excerpt(word or "")
    text, rows = corpus.on_own_text, np.arange(corpus.n_mentions)
    owner, place = list_tokens(text, rows)
    n_pieces, _ = own_text.list_pieces(corpus.mention_document[owner], place)
    is_aligned = np.bincount(owner, n_pieces, minlength=rows.size) > 0
    for row in np.flatnonzero(~is_aligned).tolist():
        document = int(corpus.mention_document[row])
        mention = Mention(Document(text, document), row)
        words_of_mention = excerpt(mention.text or "")
        yield "unaligned-mention", document, mention.start, f"the mention {words_of_mention}"
