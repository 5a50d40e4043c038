"""Tables fit into the terminal, whatever is in them, and lose nothing but what names are cut by."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import corefeval
from corefeval.output.forms import table_markdown, tabular
from corefeval.output.tables import Cell, Column, Sheet, Table
from corefeval.output.terminal import draw_text

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
SIX = [
    f"{name}={path}"
    for name, path in (
        ("cautious", CAUTIOUS),
        ("eager", EAGER),
        ("cautious-large-v1", CAUTIOUS),
        ("cautious-large-v2", CAUTIOUS),
        ("eager-small-v1", EAGER),
        ("the-eager-one-with-a-long-name", EAGER),
    )
]
COMMANDS = {
    "score": ["score", KEY, EAGER, "--ci"],
    "score six": ["score", KEY, *SIX, "-m", "all", "--by-document"],
    "score by kind": ["score", KEY, *SIX, "--by", "kind", "--ci"],
    "compare": ["compare", KEY, *SIX, "--pairs", "--differences", "--agreement", "--by", "kind"],
    "compare all": ["compare", KEY, *SIX, "-m", "all", "--trials", "99"],
    "errors": ["errors", KEY, EAGER, "--top", "9"],
    "errors six": ["errors", KEY, *SIX],
    "errors list": ["errors", KEY, EAGER, "--list", "all"],
    "agree": ["agree", *SIX, "--by-document"],
    "lab": ["lab", "trust", "-q"],
    "stats": ["stats", KEY, EAGER, CAUTIOUS, KEY, EAGER, CAUTIOUS],
}


SLOW = {"lab": pytest.mark.slow}


@pytest.mark.parametrize("name", [pytest.param(one, marks=SLOW.get(one, ())) for one in COMMANDS])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_table_fits(run, monkeypatch, name, width):
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, err = run(*COMMANDS[name])
    assert status == 0, err
    wide = [line for line in out.splitlines() if cell_len(line) > width]
    assert [line for line in wide if not re.match(r"(match|test):", line)] == []


def numbers_in(text: str) -> list[str]:
    return sorted(re.findall(r"\d+\.\d\d+", text))


@pytest.mark.parametrize("name", ["compare all", "errors", "agree", "lab"])
def test_narrow_tables_have_all_numbers_of_wide_ones(run, monkeypatch, name):
    found = []
    for width in ("60", "2000"):
        monkeypatch.setenv("COLUMNS", width)
        found.append(run(*COMMANDS[name])[1])
    assert numbers_in(found[0]) == numbers_in(found[1])
    assert len(found[0].splitlines()) > len(found[1].splitlines())


def test_without_a_terminal_there_are_120_columns(run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    out = run("errors", KEY, EAGER)[1]
    assert 92 <= max(map(len, out.splitlines()[:12])) <= 120  # not cut into blocks


def test_blocks_repeat_what_names_the_rows():
    columns = (Column("Metric"), Column("Response"), *(Column(f"c{n}", "", True) for n in range(9)))
    rows = tuple(
        (Cell("" if n else "MUC"), Cell(f"response-{n}"), *(Cell(f"{n}{c}.00") for c in range(9)))
        for n in range(2)
    )  # fmt: skip
    text = drawn_at(40, Table(columns, (rows,)))
    blocks = text.strip().split("\n\n")
    assert len(blocks) > 1
    for block in blocks:
        head, rule, first, second = block.split("\n")
        assert head.split()[:2] == ["Metric", "Response"]
        assert first.split()[:2] == ["MUC", "response-0"] and second.split()[0] == "response-1"
        assert set(rule) == {"─"}
    widths = [max(map(len, block.split("\n"))) for block in blocks]
    assert max(widths) - min(widths) <= 7  # about the same


def test_groups_of_columns_stay_together():
    columns = (Column("Error"), *(Column(h, f"metric {n}", True) for n in range(6) for h in "ab"))
    rows = ((Cell("span"), *(Cell("12.34") for _ in range(12))),)
    for block in drawn_at(50, Table(columns, (rows,))).strip().split("\n\n"):
        head = block.split("\n")[1].split()
        assert head[1::2] == ["a"] * (len(head) // 2) and head[2::2] == ["b"] * (len(head) // 2)


def drawn_at(width: int, table: Table) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        return draw_text(Sheet((table,)))


def test_labels_leave_room_for_the_widest_column():
    columns = (Column("______ __"), Column(""), Column(""), Column("n", numeric=True))
    row = tuple(Cell(text) for text in ("", "_" * 10, "_" * 18, "1"))
    assert max(map(cell_len, drawn_at(40, Table(columns, ((row,),))).splitlines())) <= 40


words = st.text(st.sampled_from("ab漢é -/_"), max_size=70)


@settings(max_examples=60)
@given(st.data(), st.integers(40, 130))
def test_any_table_fits(data, width):
    kinds = data.draw(st.lists(st.booleans(), min_size=1, max_size=9))
    columns = tuple(Column(data.draw(words), numeric=numeric) for numeric in kinds)
    rows = tuple(
        tuple(Cell("12.34" if numeric else data.draw(words)) for numeric in kinds)
        for _ in range(data.draw(st.integers(1, 3)))
    )
    text = drawn_at(width, Table(columns, (rows,)))
    assert max(map(cell_len, text.splitlines())) <= width
    assert text.count("12.34") == len(rows) * sum(kinds)


@pytest.mark.parametrize(
    ("draw", "bold"),
    [
        (tabular, [r"\textbf{\textless{}0.0001}", r"\textbf{+1.23}", r"\textbf{$-$1.23}"]),
        (table_markdown, [r"**\<0.0001**", "**+1.23**", "**−1.23**"]),
    ],
)
def test_what_is_significant_is_bold(draw, bold):
    row = (Cell("MUC", label=True), *(Cell(x, bold=True) for x in ("<0.0001", "+1.23", "−1.23")))
    drawn = draw(Table((Column("Metric"), *(Column("x", numeric=True),) * 3), ((row,),)))
    for text in bold:
        assert text in drawn
    assert "MUC &" in drawn or "| MUC " in drawn  # a label is bold in terminals only


def test_the_strongest_differences_are_bold_in_papers(run, tmp_path):
    lines = {
        side: [
            f"#begin document (d{n}); part 000\nd 0 0 a (0)\nd 0 1 a ({side})\n#end document\n"
            for n in range(30)
        ]
        for side in (0, 1)
    }
    paths = {side: tmp_path / f"{side}.conll" for side in lines}
    for side, path in paths.items():
        path.write_text("".join(lines[side]))
    systems = (f"good={paths[0]}", f"bad={paths[1]}")
    options = ("-m", "muc", "--trials", "20000")
    latex = run("compare", paths[0], *systems, *options, "-f", "latex")[1]
    assert r"\textbf{+100.00}" in latex and r"\textbf{\textless{}0.0001}" in latex
    markdown = run("compare", paths[0], *systems, *options, "-f", "markdown")[1]
    assert "**+100.00**" in markdown and r"**\<0.0001**" in markdown
