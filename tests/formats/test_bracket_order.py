"""Which of two entities with the same mention has it: as a file's cells have their brackets."""

from __future__ import annotations

import pytest

import corefeval


def write(cells, path) -> str:
    """A CoNLL file of one sentence with these cells."""
    lines = [f"d 0 {index} w{index} {cell}" for index, cell in enumerate(cells.split())]
    path.write_text("\n".join(["#begin document (d); part 000", *lines, "", "#end document", ""]))
    return str(path)


@pytest.mark.parametrize(
    ("protocol", "key", "response", "recall"),
    [
        # The official scorer leaves a repeated mention to the entity that opens first in the file.
        # In a cell it looks for mentions of one token, then for brackets that open.
        ("conll-8.01", "- (0) - (0)", "- (1)|(0 0) (0)|(1)", 1),
        ("conll-8.01", "- (0) - (0)", "- (0|(1) 0) (0)|(1)", 1),
        ("conll-8.01", "(0 - 0) (0)", "(0|(1 0) 1) (0)|(1)", 0),
        ("conll-8.01", "(0 - 0) (0)", "(1|(0 0) 1) (0)|(1)", 1),
        # coval looks it up in the entity that ends last; mentions of one token end first.
        ("coval", "- (0 0) (0)", "(0 (1 0)|1) (0)|(1)", 1),
        ("coval", "- (0 0) (0)", "(0 (1 1)|0) (0)|(1)", 0),
        ("coval", "- - (0) (0)", "- (0 0)|(1) (0)|(1)", 0),
        # Both open before they close: the middle token, inside of all three.
        ("conll-8.01", "(0 0)|(0 0)", "(0 (0) 0)", 1),
        ("conll-lea", "(0 (0) 0)", "(0 0)|(0 0)", 1),
        ("coval", "(0 0)|(0 0)|(0 0)", "(0 (0) (0) 0)", 1),
        ("default", "(0 0)|(0 0)", "(0 (0) 0)", 0),
        ("e2e", "(0 0)|(0 0)", "(0 (0) 0)", 0),
        # Programs that are given lists have them by number here.
        ("e2e", "- (0 0) (0)", "(0 (1 0)|1) (0)|(1)", 1),
        ("e2e", "- (0 0) (0)", "(1 (0 1)|0) (0)|(1)", 0),
    ],
)
def test_brackets_of_a_file(protocol, key, response, recall, tmp_path):
    paths = write(key, tmp_path / "key.conll"), write(response, tmp_path / "response.conll")
    assert corefeval.score(*paths, protocol=protocol)["muc"].recall == recall


def test_spans_in_memory_are_taken_as_files_are_written():
    """Of mentions that begin together those of one token come first, then the longer ones."""
    for key, response, recall in (
        ([[(1, 1), (3, 3)]], [[(1, 2), (3, 3)], [(1, 1), (3, 3)]], 1),
        ([[(0, 2), (3, 3)]], [[(0, 1), (3, 3)], [(0, 2), (3, 3)]], 1),
        ([[(0, 1), (3, 3)]], [[(0, 1), (3, 3)], [(0, 2), (3, 3)]], 0),
    ):
        result = corefeval.score(key, response, protocol="conll-8.01", spans="inclusive")
        assert result["muc"].recall == recall


def test_a_repeated_mention_is_told_with_its_file(tmp_path):
    paths = (
        write("(0) (0)", tmp_path / "key.conll"),
        write("(0) (0)|(1)", tmp_path / "response.conll"),
    )
    with pytest.raises(corefeval.InputError, match="repeated in document") as caught:
        corefeval.score(*paths, duplicates="error", extra="count")
    assert caught.value.file == paths[1]
