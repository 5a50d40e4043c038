"""corefud-scorer 1.2 on the command line: saved results, its output, and heads of mentions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import corefeval
from conftest import ROOT
from corefeval import UsageError

SIDES = [
    ROOT / "tests" / "data" / "corefud" / "quirks" / f"span-in-two-entities-response.{side}.conllu"
    for side in ("key", "response")
]


def write_texts(folder, **heads):
    """Files of two documents of a mention of two words and one of one; the first one's head."""
    for name, head in heads.items():
        cells = f"(e-{head}", "e)", "(e-1)"
        rows = [f"{at}\tw\t_\t_\t_\t_\t{at - 1}\t_\t_\tEntity={c}" for at, c in enumerate(cells, 1)]
        lines = [
            line
            for document in ("d1", "d2")
            for line in (f"# newdoc id = {document}", "# global.Entity = GRP-head", *rows, "")
        ]
        (folder / f"{name}.conllu").write_text("\n".join([*lines, ""]))
    return [str(folder / f"{name}.conllu") for name in heads]


def test_a_saved_result_of_another_key_is_refused(tmp_path, run):
    key, other, response = write_texts(tmp_path, key=1, other=2, response=1)
    saved = str(tmp_path / "kept.json")
    result = corefeval.score(key, response, protocol="corefud-1.2", metrics="muc, b3")
    result.save(saved)
    kept = corefeval.load(saved)
    for options in ({"protocol": "corefud-1.2"}, {}):
        sources = [kept, response] if options else [kept, kept]
        compared = corefeval.compare(key, sources, metrics="b3", trials=10, samples=10, **options)
        assert compared.metrics == ("b3",)
        with pytest.raises(UsageError, match="was scored against another key"):
            corefeval.compare(other, sources, metrics="b3", **options)
    status, _, error = run("score", other, saved)
    assert (status, "was scored against another key" in error) == (2, True)
    assert run("score", key, saved)[0] == 0


PRINTED = """\
The scorer is evaluating coreferential mentions, singletons, zeros (using dependent match method) \
using head match evaluation setting.
The following metrics will be evaluated: muc, bcub, ceafe, ceafm, blanc, lea, mor, zero

muc
Recall: 50.00  Precision: 50.00  F1: 50.00
"""


def test_the_form_over_other_rules_says_so(run):
    status, printed, notes = run("score", *SIDES, "--format", "corefud")
    assert status == 0
    assert "The scorer is" not in printed
    for text in (printed, notes):
        assert "corefeval's own rules, not corefud-scorer's (--protocol corefud-1.2 has" in text
    _, printed, notes = run("score", *SIDES, "--format", "corefud", "--protocol", "crac-2024")
    assert "own rules" not in printed + notes


def test_output(run):
    """The form of the program's output; two blanks between rates, CoNLL last."""
    options = ("--protocol", "corefud-1.2", "--format", "corefud")
    status, printed, _ = run("score", *SIDES, *options, "--singletons", "keep")
    lines = printed.splitlines()
    assert status == 0
    assert lines[:4] == PRINTED.splitlines()[:4]
    result = corefeval.score(*SIDES, protocol="corefud-1.2", singletons="keep")
    muc = [100 * rate for rate in result["muc"].rates.values()]
    assert lines[4] == "Recall: {:.2f}  Precision: {:.2f}  F1: {:.2f}".format(*muc)
    assert len(lines) == 3 + 2 * 8 + 1
    assert lines[-1] == f"CoNLL score: {100 * result['conll'].f1:.2f}"
    status, printed, _ = run(
        "score", *SIDES, "--protocol", "crac-2022", "-f", "corefud", "-m", "mor"
    )
    assert printed.startswith(
        "The scorer is evaluating  using partial-corefud match evaluation setting.\n"
        "The following metrics will be evaluated: mor\n\nmor\nRecall: "
    )
    assert "CoNLL" not in printed
    _, with_documents, _ = run("score", *SIDES, *options, "--by-document", "--singletons", "keep")
    blocks = with_documents.split("\n\n")
    assert blocks[1].removeprefix("d:\n") + "\n" == blocks[2] == "\n".join((*lines[3:], ""))


_WORDS = ["the", "old", "captain", "of", "Bergen", "saw", "himself", "and", "the", "crew"]
_GOVERNORS = [3, 3, 6, 5, 3, 0, 6, 10, 10, 6]
_KEY = {1: "(e1-person{3}", 5: "e1)", 7: "(e1-person{1})", 8: "(e2-group{3}", 10: "e2)"}
_RESPONSE = {2: "(e1-person{2}", 3: "e1)", 7: "(e1-person{1})", 9: "(e2-group{2}", 10: "e2)"}


def write_sides(folder: Path, *, heads: bool) -> list[str]:
    """A key, and a response with shorter mentions: with the heads of dependencies, or none."""
    paths = []
    for name, marks in (("key", _KEY), ("response", _RESPONSE)):
        lines = [
            "# newdoc id = d",
            f"# global.Entity = eid-etype{'-head' * heads}",
            "# sent_id = s",
        ]
        for number, (word, governor) in enumerate(zip(_WORDS, _GOVERNORS, strict=True), start=1):
            mark = re.sub(r"\{(\d)\}", r"-\1" if heads else "", marks.get(number, ""))
            misc = f"Entity={mark}" if mark else "_"
            lines.append(f"{number}\t{word}\t_\tX\t_\t_\t{governor}\tdep\t_\t{misc}")
        paths.append(folder / f"{name}.conllu")
        paths[-1].write_text("\n".join([*lines, "", ""]))
    return [str(path) for path in paths]


PROGRAM = ("--protocol", "corefud-1.2", "--singletons", "keep")


def test_files_without_heads_are_told_with_the_fix(run, tmp_path):
    key, response = write_sides(tmp_path, heads=False)
    status, _, err = run("score", key, response, *PROGRAM)
    assert status == 0
    assert f"note: {key}: 2 mentions of several words without a head" in err
    assert err.count("corefeval convert FILE NEW --heads dependencies") == 2
    assert "head" not in run("score", key, response, *PROGRAM, "--match", "exact")[2]
    assert "head" not in run("score", key, response)[2]
    (tmp_path / "stated").mkdir()
    assert run("score", *write_sides(tmp_path / "stated", heads=True), *PROGRAM)[2] == ""


def test_heads_are_added_from_dependencies(run, tmp_path):
    (tmp_path / "stated").mkdir()
    bare, stated = (write_sides(tmp_path / folder, heads=bool(folder)) for folder in ("", "stated"))
    added = [str(tmp_path / f"{side}-with-heads.conllu") for side in ("key", "response")]
    for source, target in zip(bare, added, strict=True):
        status, _, err = run("convert", source, target, "--heads", "dependencies")
        assert (status, err) == (0, f"note: {source}: 3 heads added from the dependencies\n")
    numbers = [
        corefeval.score(*sides, protocol="corefud-1.2", singletons="keep")["conll"].f1
        for sides in (bare, stated, added)
    ]
    assert numbers[0] < numbers[1] == numbers[2] == 1
    _, _, err = run("convert", added[0], "-", "--to", "corefud", "--heads", "dependencies")
    assert err == f"note: {added[0]}: 0 heads added from the dependencies\n"
    partly = Path(bare[0]).read_text().replace("\t10\tdep", "\t_\tdep")
    (tmp_path / "partly.conllu").write_text(
        partly.replace("10\tcrew\t_\tX\t_\t_\t6", "10\tcrew\t_\tX\t_\t_\t_")
    )
    _, _, err = run(
        "convert", tmp_path / "partly.conllu", "-", "--to", "corefud", "--heads", "dependencies"
    )
    assert err.endswith("2 heads added from the dependencies; 1 mention without a head\n")


def test_heads_need_dependencies(run, tmp_path, conll):
    [key, _] = write_sides(tmp_path, heads=False)
    bare = re.sub(r"(?m)^((?:\S+\t){6})\d+", r"\1_", Path(key).read_text())
    path = conll(bare, "bare.conllu")
    for source in (path, corefeval.example("key")):
        status, out, err = run("convert", source, "-", "--to", "corefud", "--heads", "dependencies")
        assert (status, out) == (1, "") and err.startswith("error: ")
        assert "there are no dependencies" in err and str(source) in err


def test_checks_warn_of_missing_heads(run, tmp_path):
    key, response = write_sides(tmp_path, heads=False)
    status, out, _ = run("check", response)
    assert status == 0 and "warning: no-heads" in out
    assert "‘# global.Entity’ names no head" in out and "--heads dependencies" in out
    suite = tmp_path / "suite.toml"
    text = 'metrics = "muc"\nheadline = "muc"\nprotocol = "%s"\n[[corpora]]\nname = "response"\n'
    text += 'key = "key.conllu"\n[[systems]]\nname = "s"\nresponses = "{corpus}.conllu"\n'
    for protocol, rulings in (("corefud-1.2", ["warning"] * 2), ("singletons:keep", ["ok"] * 2)):
        suite.write_text(text % protocol)
        verdicts = run("suite", "check", suite)[1].splitlines()
        assert [line.split()[0] for line in verdicts[:2]] == rulings
        assert all(("no-heads" in line) == (rulings[0] == "warning") for line in verdicts[:2])
        status, out, _ = run("check", response, "--against", key, "--protocol", protocol)
        assert status == 0 and ("no-heads" in out) == (rulings[0] == "warning")


@pytest.mark.slow
def test_heads_from_dependencies_are_those_of_gum(shared, run, tmp_path):
    key = shared / "gum" / "key.conllu"
    stated = corefeval.read(key)
    text = re.sub(r"(?m)^# global.Entity = .*$", "# global.Entity = eid-etype", key.read_text())
    text = re.sub(r"Entity=[^|\t\n]*", lambda m: re.sub(r"(\(\w+-\w+)[^()]*", r"\1", m[0]), text)
    (tmp_path / "bare.conllu").write_text(text)
    _, _, err = run(
        "convert", tmp_path / "bare.conllu", tmp_path / "new.conllu", "--heads", "dependencies"
    )
    found = corefeval.read(tmp_path / "new.conllu")
    assert f"{stated.n_mentions:,} heads added" in err
    assert np.mean(np.equal(found.mention_head, stated.mention_head)) > 0.999
