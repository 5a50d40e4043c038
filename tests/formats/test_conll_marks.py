"""Coreference cells are read some documents at a time, and give what all at once do."""

from unittest.mock import patch

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from conll_texts import END, document, rows
from corefeval.diagnostics import InputError
from corefeval.formats.conll import marks
from corefeval.formats.conll.reader import read_conll
from corefeval.formats.source import Source

CELLS = st.sampled_from(
    ["-", "-", "-", "(1)", "(2)", "(1", "1)", "(10)", "(2|(1)", "1)|(1", "(a)", "(01)", "x"]
)
TEXTS = st.lists(st.lists(CELLS, max_size=5), min_size=1, max_size=6)


def outcome(text):
    """Everything that is read, or the error."""
    try:
        corpus = read_conll(Source(np.frombuffer(text.encode(), np.uint8), "a.conll"))
    except InputError as error:
        return str(error)
    columns = (corpus.entity_document, corpus.mention_entity, corpus.mention_start)
    numbers = [column.tolist() for column in (*columns, corpus.mention_end)]
    return numbers, list(corpus.names), corpus.notices


@given(TEXTS)
@example([["(1)", "(2", "2)"], [], ["(1", "1)|(1", "1)"], [], []])
@example([[], ["(3)"], ["(a)", "(3)"], ["(2)"]])
@example([["(1)"] * 9, ["(1", "-"]])
def test_pieces_give_what_the_whole_gives(documents):
    text = "".join(document(*cells, name=f"d{n}") for n, cells in enumerate(documents))
    whole = outcome(text)
    for size in (1, 2, 4):
        with patch.object(marks, "_MARKS_AT_ONCE", size):
            assert outcome(text) == whole


def test_a_large_sound_file_is_never_looked_at_as_a_whole():
    text = "".join(document("(1", "(12)", "1)", name=f"d{n}") for n in range(50))
    whole = outcome(text)
    with (
        patch.object(marks, "_MARKS_AT_ONCE", 8),
        patch.object(marks, "parse_cells", wraps=marks.parse_cells) as parse,
    ):
        assert outcome(text) == whole
    sizes = [call.args[1].size for call in parse.call_args_list]
    assert sum(sizes) == 150 and max(sizes) <= 12
    assert whole[1] == ["1", "12"] * 50


def test_a_token_outside_of_documents_is_an_error_however_many_there_are():
    text = "".join(document("(1)", "(1)", name=f"d{n}") for n in range(9)) + rows("(1)") + END
    with patch.object(marks, "_MARKS_AT_ONCE", 2):
        assert "line" in outcome(text)
