"""The coreference of a file's documents is what each document has if it is read alone."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from conll_texts import document
from corefeval.formats.conll.reader import read_conll
from corefeval.formats.source import Source

CELLS = st.sampled_from(["-", "-", "(1)", "(2)", "(10)", "(2)|(1)", "(a)", "(01)", "(b|(1)|b)"])
TEXTS = st.lists(st.lists(CELLS, min_size=1, max_size=5), min_size=1, max_size=6)


def mentions(text):
    """The entity, start and end of each mention, document by document."""
    corpus = read_conll(Source(np.frombuffer(text.encode(), np.uint8), "a.conll"))
    return [
        [(mention.entity.name, mention.start, mention.end) for mention in document.mentions]
        for document in corpus
    ]


@given(TEXTS)
@example([["(1)", "(2", "2)"], ["-"], ["(1", "1)|(1", "1)"], ["-"]])
@example([["-"], ["(3)"], ["(a)", "(3)"], ["(2)"]])
@example([["(123456789", "123456789)"], ["(1234567890)", "(123456789)"]])
def test_documents_read_together_are_those_read_alone(documents):
    texts = [document(*cells, name=f"d{n}") for n, cells in enumerate(documents)]
    assert mentions("".join(texts)) == [read for text in texts for read in mentions(text)]
