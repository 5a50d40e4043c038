"""Lines and cells of CoNLL files, found by array operations, against bytes looked at one by one."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corefeval.formats.conll import cells, lines

LINES = st.lists(
    st.text("#-_(1) \t\rab", max_size=7)
    | st.sampled_from(["", "#begin", "a\t(1)", " a\t-", "a (1) ", "a\t-\r", "a" * 40 + "(2)"])
).map(lambda found: "".join(f"{line}\n" for line in ("a -", *found)).encode())


@given(LINES, st.sampled_from([8, 64, lines._CHUNK]))
def test_lines_are_those_of_bytes_split_at_newlines(text, size):
    """Whatever the size of the pieces in which they are looked for."""
    data = np.frombuffer(text, dtype=np.uint8)
    with patch.object(lines, "_CHUNK", size):
        assert np.concatenate([[0], *lines.newlines(data)])[1:].tolist() == [
            place for place, byte in enumerate(text) if byte == 10
        ]
        same, found = lines.split_lines(data)
    rows = text.split(b"\n")[:-1]
    if len(rows) == 1 and b"\r" in text:  # which is a newline in such a file
        rows, text = text.replace(b"\r", b"\n").split(b"\n")[:-1], text.replace(b"\r", b"\n")
    assert same.tobytes() == text
    everything = np.arange(len(found))
    bounds = zip(found.starts(everything).tolist(), found.end.tolist(), strict=True)
    expected = [row if row.startswith(b"#") else row.rstrip() for row in rows]
    assert [text[start:end] for start, end in bounds] == expected
    assert found.kind.tolist() == [_kind(row) for row in expected]
    marked = np.flatnonzero(found.kind == lines.MARKED)
    cells = [expected[row].split()[-1] for row in marked]
    starts, ends = found.cells(same, marked)
    assert [text[start:end] for start, end in zip(starts, found.end[marked], strict=True)] == cells
    assert ends.tolist() == [int.from_bytes(cell[-8:], "little") for cell in cells]
    assert not found.is_plain or expected == rows


def _kind(line: bytes) -> int:
    if not line:
        return lines.BLANK
    if line.startswith(b"#"):
        return lines.COMMENT
    return lines.UNMARKED if line.split()[-1] in (b"-", b"_") else lines.MARKED


@given(st.lists(st.text("(1)|2a", min_size=1, max_size=12), min_size=1), st.booleans())
def test_cells_of_one_id_are_read_as_all_others_are(texts, has_ends):
    """There is a way for them alone, which is faster; the ends of cells may be known already."""
    text = " ".join(texts).encode()
    size = np.array([len(one) for one in texts])
    start = np.cumsum(size + 1) - size - 1
    data = np.frombuffer(text, dtype=np.uint8)
    ends = np.array([int.from_bytes(one.encode()[-8:], "little") for one in texts], np.uint64)
    with patch.object(cells, "_CELLS_AT_ONCE", 3):
        found, bad = cells.parse_cells(data, start, start + size, ends if has_ends else None)
    expected, wrong = cells._parse_any(data, start, size)
    rows = ~np.isin(expected[0], wrong)  # what is in bad cells is nobody's concern
    kept = ~np.isin(found.cell, bad)
    columns = found.cell, found.position, found.length, found.opens, found.closes
    assert [c[kept].tolist() for c in columns] == [c[rows].tolist() for c in expected[:-1]]
    ids = [text[p : p + n] for p, n in zip(found.position, found.length, strict=True)]
    assert len(set(zip(ids, found.entity.tolist(), strict=True))) == len(set(ids))
    assert bad.tolist() == wrong.tolist()
