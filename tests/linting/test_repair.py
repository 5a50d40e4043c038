"""Repaired files: whole, in their own format, with every repair listed."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import examples
from conll_texts import BROKEN, END, HEADER, document
from corefeval import UsageError
from corefeval.cli import main
from corefeval.linting import inspect, repair_file
from corefeval.linting.rendering import render_text

MANY = examples(500)


def test_a_repaired_file_is_whole_and_every_repair_is_listed(conll, tmp_path):
    target = tmp_path / "repaired.conll"
    repair = repair_file(conll(BROKEN, "broken.conll"), target)
    assert [(change.line, change.kind) for change in repair.changes] == [
        (1, "document-line"),
        (3, "unbalanced-bracket"),
        (5, "unreadable-cell"),
        (6, "repeated-mention"),
        (9, "stray-tokens"),
        (15, "repeated-document"),
        (16, "unbalanced-bracket"),
    ]
    (after,) = repair.after
    assert not after.fails()
    corpus = corefeval.read(target)
    assert list(map(str, corpus.documents)) == ["a", "broken", "d; part 000", "d; part 001"]
    assert [m.span for m in corpus["a"].mentions] == [(0, 3), (4, 5), (5, 6)]


def test_names_that_differ_in_blanks_alone_stay_two(conll, tmp_path):
    text = document("-", "-", name="a b") + document("-", "-", name="a  b")
    (after,) = repair_file(conll(text), tmp_path / "out.conll").after
    assert not after.fails()


def test_coreference_without_a_token_is_left_out(conll, tmp_path):
    path = conll(HEADER + "d 0 0 Ada N (1)\n\n (1)\n(1)\n" + END)
    (inspection,) = inspect(path)
    assert [f.line for f in inspection.findings if f.kind == "unreadable-cell"] == [4, 5]
    (after,) = repair_file(path, tmp_path / "out.conll").after
    assert (after.corpus.n_mentions, after.fails()) == (1, False)


PIECES = st.sampled_from(
    ["(1", "1)", "(1)", "(2", "2)", "|", "-", "_", "\n", "\n\n", "\t", " ", "#", "(", ")", "é",
     "#begin document (d); part 000\n", "#begin document(d)\n", "#end document\n", "x", "(d)\n",
     "# 0 1 x - (1)\n", "\r", "\x00", "#begin document a  b\n", "#begin document a b\n"]
)  # fmt: skip
WHOLE = document("(1)", "-", "(2", "2)|(3", "", "3)", "(2)|(1)") + document("(1", "1)", name="e")


@st.composite
def mutated(draw):
    """A file with a few edits: pieces put in, cut out and repeated."""
    text = draw(st.sampled_from([WHOLE, BROKEN]))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        new = draw(st.just("") | PIECES | st.just(text[start:end] * 2))
        text = text[:start] + new + text[end:]
    data = text.encode()
    if draw(st.booleans()):
        place = draw(st.integers(0, len(data)))
        data = data[:place] + draw(st.binary(max_size=2)) + data[place:]
    return data


def tokens_of(corpus):
    """How many tokens and mentions each document has."""
    counts = zip(corpus.tokens.counts.tolist(), np.diff(corpus.mention_offsets).tolist(),
                 strict=True)  # fmt: skip
    return dict(zip(map(str, corpus.documents), counts, strict=True))


@settings(max_examples=MANY)
@given(data=mutated())
def test_whatever_is_broken_the_repaired_file_is_whole(data, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    broken, target = folder / "mutated.conll", folder / "mended.conll"
    broken.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (before,) = inspect(broken, format="conll")
        render_text([before], all=True)
        if before.corpus is None:
            with pytest.raises(corefeval.InputError, match="cannot be repaired"):
                repair_file(broken, target, format="conll")
            return
        repair = repair_file(broken, target, format="conll")
    (after,) = repair.after
    assert not after.fails(), render_text([after])
    dropped = sum(f.message.startswith("twice") for f in before.findings)
    if not any("times" in f.message or f.kind == "crossing-mentions" for f in before.findings):
        assert after.corpus.n_mentions == before.corpus.n_mentions - dropped
    assert [n for n, _ in tokens_of(after.corpus).values()] == [
        n for n, _ in tokens_of(before.corpus).values()
    ]
    assert corefeval.score(target, target, metrics="mentions")["mentions"].f1 in (0.0, 1.0)


@pytest.mark.parametrize("format", ["e2e", "preco", "maverick", "crac-json", "corefud"])
def test_other_formats_are_repaired_as_what_they_are(format, conll, tmp_path):
    corpus = corefeval.read(conll(document("(1)|(1)", "-", "(1)")))
    corefeval.write(corpus, tmp_path / "in", format=format)
    repair = repair_file(tmp_path / "in", tmp_path / "out")
    assert repair.format == format
    assert corefeval.read(tmp_path / "out", format=format).n_mentions == 2


def test_fix_on_the_command_line(run, conll, tmp_path):
    broken, target = conll(BROKEN, "broken.conll"), tmp_path / "new.conll"
    status, out, _ = run("check", broken, "--fix", target)
    assert status == 0
    assert f"broken.conll → {target}: 7 repairs\n" in out
    assert "  line 3: unbalanced-bracket: left out ‘(2’\n" in out
    report = json.loads(run("check", broken, "--fix", target, "-f", "json")[1])
    assert len(report["repaired"]["repairs"]) == 7
    assert report["summary"]["errors"] == 0
    assert run("check", target)[0] == 0


def test_fix_writes_to_standard_output_and_reports_to_the_error_stream(conll, capfdbinary):
    assert main(["check", conll(BROKEN), "--fix", "-"]) == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(b"#begin document (a);\n")
    assert b"7 repairs" in err


def test_an_input_is_never_overwritten(run, conll):
    path = conll(BROKEN)
    status, _, err = run("check", path, "--fix", path)
    assert (status, "overwrite its input" in err) == (2, True)
    with pytest.raises(UsageError):
        repair_file(path, Path(path).parent)
    with pytest.raises(UsageError):
        repair_file(Path(path).parent, "elsewhere")
    assert Path(path).read_text() == BROKEN
    assert run("check", path, path, "--fix", "elsewhere")[0] == 2


def test_several_files_are_not_repaired_as_one(run, conll, tmp_path):
    conll(BROKEN, "first.conll")
    conll(BROKEN, "second.conll")
    target = tmp_path / "out" / "fixed.conll"
    status, _, err = run("check", tmp_path / "*.conll", "--fix", target)
    assert (status, "each file" in err, target.exists()) == (2, True, False)
    assert run("check", tmp_path / "first*", "--fix", target)[0] == 2


def test_nothing_is_written_where_the_key_cannot_be_read(run, conll, tmp_path):
    target = tmp_path / "fixed.conll"
    status, _, err = run("check", conll(BROKEN), "--fix", target, "--against", "missing.conll")
    assert (status, "missing.conll" in err) == (1, True)
    assert not target.exists()
