"""`corefeval merge`, `audit` and `agree --response` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import corefeval
from browsing import CAUTIOUS, EAGER, KEY
from corefeval.formats import FORMATS

SIDES = (f"ann={KEY}", f"bob={CAUTIOUS}", f"cleo={EAGER}")
BUG = Path(__file__).parent.parent / "data" / "anaphora" / "bugs" / "blanc-order-1.key.conllua"


@pytest.mark.parametrize("format", [name for name, f in FORMATS.items() if f.writer])
def test_the_consensus_is_written_in_every_format(run, tmp_path, format):
    target = tmp_path / "gold"
    status, out, _ = run("merge", *SIDES, "-o", target, "--to", format)
    assert status == 0 and "Votes overruled" in out
    merged = corefeval.merge({"ann": KEY, "bob": CAUTIOUS, "cleo": EAGER})
    score = corefeval.score(merged.corpus, target, tokens="align", response_format=format)
    assert score["muc"].f1 == pytest.approx(1)


def test_votes_are_a_feature_and_tables_are_read_back(run, tmp_path):
    votes, table, gold = (tmp_path / name for name in ("votes.tsv", "table.tsv", "gold.conll"))
    assert run("merge", *SIDES, "-o", gold, "--votes", votes, "--contested", table)[0] == 0
    scores = corefeval.score(gold, EAGER, features=votes, by="votes")
    assert {"2", "3"} <= set(scores.slices["votes"])
    header, first, *_ = table.read_text().splitlines()
    table.write_text(f"{header}\n{first}same\n{first}\n{first}same\n")
    status, out, _ = run("merge", *SIDES, "--decisions", table, "--format", "json")
    contested = [c for d in json.loads(out)["documents"] for c in d["contested"]]
    before = corefeval.merge({"ann": KEY, "bob": CAUTIOUS, "cleo": EAGER}).contested
    assert status == 0 and 0 < len(contested) < len(before) + 5


def test_mistakes_in_tables_name_file_and_line(run, conll):
    header = "document\tkind\tstart\tend\tother_start\tother_end\tdecision\n"
    document = corefeval.read(KEY).documents[0]
    for line, words in {
        "d\tlink\t0\t1\t2\t3\tkeep\n": "line 2: an unknown decision",
        "d\tmention\t0\t1\tkeep\n": "line 2: a line of 5 columns",
        f"{document}\tmention\tx\t1\t\t\tkeep\n": "in no annotation",
        "nowhere\tmention\t0\t1\t\t\tkeep\n": "line 2: this mention cannot",
    }.items():
        path = conll(header + line, "decided.tsv")
        status, _, err = run("merge", *SIDES, "--decisions", path)
        assert status == 1 and words in err and "decided.tsv" in err
    assert "not the header" in run("merge", *SIDES, "--decisions", conll("x\n"))[2]
    for wrong in (("--quorum", "9"), ("--to", "conll"), ("--across", "all")):
        assert run("merge", *SIDES, *wrong)[0] == 2


def test_broken_tables_of_decisions_end_in_one_error(run, tmp_path):
    table, path = tmp_path / "table.tsv", tmp_path / "decided.tsv"
    assert run("merge", *SIDES, "--contested", table)[0] == 0
    header, *lines = table.read_text().splitlines()
    columns, cells = header.split("\t"), [line.split("\t") for line in lines]
    kinds = [next(row for row in cells if row[1] == kind) for kind in ("mention", "link")]
    mention, link = (dict(zip(columns, row, strict=True)) for row in kinds)
    other = {"other_start": link["start"], "other_end": link["end"]}
    broken = {
        "": "line 1: not the header",
        header.replace("\t", ","): "line 1: not the header",
        header.removesuffix("\tdecision"): "line 1: not the header",
        f"{header}\tdecision": "line 1: not the header",
        make([columns, mention | {"start": "x"}], "keep"): "line 2: this mention cannot",
        make([columns, mention | {"start": "-1"}], "keep"): "line 2: this mention cannot",
        make([columns, mention | {"start": ""}], "keep"): "line 2: this mention cannot",
        make([columns, mention | {"end": "1_0"}], "drop"): "line 2: this mention cannot",
        make([columns, mention | {"start": "0,4"}], "drop"): "line 2: this mention cannot",
        make([columns, link | {"other_end": ""}], "same"): "line 2: this mention cannot",
        make([columns, mention | {"document": "x"}], "keep"): "line 2: this mention cannot",
        make([columns, mention | {"kind": "x"}], "keep"): "line 2: an unknown decision",
        make([columns, mention], "Keep"): "line 2: an unknown decision",
        make([columns, mention], "same"): "line 2: an unknown decision",
        make([columns, link], "drop"): "line 2: an unknown decision",
        make([columns, mention], "keep\tkeep"): "line 2: a line of 15 columns",
        make([columns, mention, mention], "keep", "drop"): "line 3: this contradicts line 2",
        make(
            [columns, link | {"kind": "mention"}, link], "drop", "same"
        ): "line 3: this contradicts line 2",
        make([columns, link, link], "apart", "same"): "line 2: this contradicts line 3",
        make([columns, link | other], "apart"): "line 2: these cannot be apart",
    }
    for text, words in broken.items():
        path.write_text(text + "\n")
        status, _, err = run("merge", *SIDES, "--decisions", path)
        assert status == 1 and words in err and err.count("error: ") == 1, text
    for text in (header, make([columns, mention, mention], "keep", "keep").replace("\n", "\r\n")):
        path.write_bytes(text.encode("utf-8-sig"))
        assert run("merge", *SIDES, "--decisions", path)[0] == 0


def make(rows: list, *decisions: str) -> str:
    """A table of rows, the first of which has the names of columns, with decisions."""
    columns, *filled = rows
    lines = [
        "\t".join((row | {"decision": decision}).values())
        for row, decision in zip(filled, decisions, strict=True)
    ]
    return "\n".join(("\t".join(columns), *lines))


def test_what_is_not_merged_is_counted_for_each_annotator(run):
    _, _, err = run("merge", f"ann={BUG}", f"bob={BUG}")
    assert "ann: not merged, and left out: 1 split-antecedent relations" in err
    assert "bob: not merged" in err


def test_audit_and_responses(run):
    status, out, err = run("audit", KEY, CAUTIOUS, EAGER, "--top", "3", "--plant", "10")
    assert status == 0 and "3 of" in out and "Precision" in out and "in no response" in err
    command = ("agree", *SIDES[:2], "--response", f"ours={EAGER}", "--metrics", "lea")
    status, out, _ = run(*command, "--ci", "--samples", "20", "--format", "csv")
    assert status == 0 and "share_low" in out and "undisputed" in out
    assert run(*command[:3], "--ci")[0] == 2
    assert run(*command, "--response", f"ann={EAGER}")[0] == 2
