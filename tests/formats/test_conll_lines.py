"""Lines and cells of CoNLL files, found by array operations, against bytes looked at one by one."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corefeval.formats.conll import cells, lines

LINES = st.lists(
    st.text("#-_(1) \t\rab", max_size=7)
    | st.sampled_from(["", "#begin", "a\t(1)", " a\t-", "a (1) ", "a\t-\r", "a" * 40 + "(2)"])
).map(lambda found: "".join(f"{line}\n" for line in ("a -", *found)).encode())


@given(LINES)
def test_lines_are_those_of_bytes_split_at_newlines(text):
    data = np.frombuffer(text, dtype=np.uint8)
    assert np.concatenate([[0], *lines.newlines(data)])[1:].tolist() == [
        place for place, byte in enumerate(text) if byte == 10
    ]
    same, found = lines.split_lines(data)
    rows = text.split(b"\n")[:-1]
    if len(rows) == 1 and b"\r" in text:  # which is a newline in such a file
        rows, text = text.replace(b"\r", b"\n").split(b"\n")[:-1], text.replace(b"\r", b"\n")
    assert same.tobytes() == text
    expected = [row if row.startswith(b"#") else row.rstrip() for row in rows]
    assert [found.read_line(same, line) for line in range(len(rows))] == expected
    assert found.kind.tolist() == [_kind(row) for row in expected]
    marked = np.flatnonzero(found.kind == lines.MARKED)
    cells = [expected[row].split()[-1] for row in marked]
    starts, ends = lines.find_cells(same, found.before[marked] + 1, found.end[marked])
    assert [text[start:end] for start, end in zip(starts, found.end[marked], strict=True)] == cells
    assert ends.tolist() == [int.from_bytes(cell[-8:], "little") for cell in cells]
    assert not found.is_plain or expected == rows


def _kind(line: bytes) -> int:
    if not line:
        return lines.BLANK
    if line.startswith(b"#"):
        return lines.COMMENT
    return lines.UNMARKED if line.split()[-1] in (b"-", b"_") else lines.MARKED


def test_lines_of_a_file_that_is_looked_at_in_pieces():
    rows = ["a\t-\n", "bc\t(12)\n", "\n", "#x\n", "a long word, and then\t12)\n"]
    data = np.frombuffer("".join(rows * 400_000).encode(), dtype=np.uint8)
    same, found = lines.split_lines(data)
    assert np.array_equal(found.end, np.flatnonzero(data == 10))
    kinds = [lines.UNMARKED, lines.MARKED, lines.BLANK, lines.COMMENT, lines.MARKED]
    assert np.array_equal(found.kind, kinds * 400_000)
    assert same is data


def test_many_cells():
    texts = ["(1)", "(22|(1", "1)", "22)", "(3", "3)|(long-name-of-an-entity)"] * 10_000
    check_cells(texts, has_ends=False)


@given(st.lists(st.text("(1)|2a", min_size=1, max_size=12), min_size=1), st.booleans())
def test_cells_are_read_like_a_pattern_reads_them(texts, has_ends):
    """Cells of a single id are read in a faster way; the ends of cells may be known already."""
    check_cells(texts, has_ends)


def check_cells(texts: list[str], has_ends: bool) -> None:
    text = " ".join(texts).encode()
    size = np.array([len(cell) for cell in texts])
    start = np.cumsum(size + 1) - size - 1
    data = np.frombuffer(text, dtype=np.uint8)
    ends = np.array([int.from_bytes(cell.encode()[-8:], "little") for cell in texts], np.uint64)
    brackets, bad = cells.parse_cells(data, start, start + size, ends if has_ends else None)
    expected = [_brackets(cell) for cell in texts]
    assert bad.tolist() == [number for number, rows in enumerate(expected) if rows is None]
    kept = ~np.isin(brackets.cell, bad)  # what is in unreadable cells is nobody's concern
    columns = brackets.cell, brackets.position, brackets.length, brackets.opens, brackets.closes
    assert [*zip(*(column[kept].tolist() for column in columns), strict=True)] == [
        (number, start[number] + place, length, opens, closes)
        for number, rows in enumerate(expected)
        for place, length, opens, closes in rows or ()
    ]
    bounds = zip(brackets.position, brackets.length, strict=True)
    ids = [text[begin : begin + length] for begin, length in bounds]
    assert len(set(zip(ids, brackets.entity.tolist(), strict=True))) == len(set(ids))


def _brackets(cell: str) -> list[tuple[int, int, bool, bool]] | None:
    """Place, length, and whether brackets open and close, of each id; None for unreadable cells."""
    rows = [
        (match.start(), len(match[0]), cell[: match.start()].endswith("("), match[1] == ")")
        for match in re.finditer(r"[^()|]+(?=(.?))", cell)
    ]
    is_readable = all(opens or closes for _, _, opens, closes in rows)
    if not rows or not is_readable or re.search(r"\((?![^()|])|(?<![^()|])\)", cell):
        return None
    return rows
