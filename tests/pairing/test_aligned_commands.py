"""Tokens that differ, in agreement, checks and joined documents."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import corefeval
from aligned_documents import KEY, RESPONSE, document
from corefeval import score


def test_agreement_aligns_every_pair():
    third = document("Mary 's old dog saw big cat , then she left it there .", [(0, 1), (9, 9)])
    pair = corefeval.agree([[KEY], [RESPONSE]], tokens="align", distances="all")
    swapped = corefeval.agree([[RESPONSE], [KEY]], tokens="align", distances="all")
    assert pair.alpha == pytest.approx(swapped.alpha)
    several = corefeval.agree({"a": [KEY], "b": [RESPONSE], "c": [third]}, tokens="align")
    for names, result in several.results.items():
        sides = ({"a": KEY, "b": RESPONSE, "c": third}[name] for name in names)
        alone = score(*([side] for side in sides), tokens="align")
        assert result["conll"].f1 == alone["conll"].f1
    assert any(notice.kind == "alpha-tokens" for notice in several.notices)
    assert all(notice.kind != "alpha-tokens" for notice in pair.notices)


def test_check_lists_what_has_no_counterpart(run, tmp_path):
    lines = Path(corefeval.example("eager")).read_text(encoding="utf-8").split("\n")
    assert lines[5].split()[3] == "returned"
    response, key = tmp_path / "r.conll", corefeval.example("key")
    response.write_text("\n".join(line for n, line in enumerate(lines) if n != 5), encoding="utf-8")
    assert run("check", response, "--against", key)[0] == 1
    assert run("check", response, "--against", key, "--tokens", "align")[0] == 0
    status, out, _ = run("check", key, "--against", response, "--tokens", "align")
    assert status == 0 and "line 6" in out and "‘returned’, which the key lacks" in out
    status, _, err = run("check", response, "--tokens", "align")
    assert status != 0 and "add --against KEY" in err


def test_check_names_tokens_where_files_have_no_lines(run, tmp_path):
    files = tmp_path / "key.jsonl", tmp_path / "response.jsonl"
    sides = document("a b c d e", [(0, 0), (2, 2)]), document("a b d e f", [(0, 0), (4, 4)])
    for path, side in zip(files, sides, strict=True):
        path.write_text(json.dumps(side), encoding="utf-8")
    status, out, _ = run("check", files[1], "--against", files[0], "--tokens", "align")
    assert status == 0
    assert "‘c’, which this file lacks (token 2 of " in out
    assert "‘f’, which the key lacks (d, token 4)" in out
    assert "the mention ‘f’, which the key lacks (d, token 4)" in out


def test_documents_are_joined_after_they_were_aligned(tmp_path, run):
    """Errors are shown on the key's text, and α finds room for the tokens of all annotators."""
    texts = {
        "key": ("Mary 's dog saw the old man .", "The cook slept ."),
        "response": ("Mary's dog saw the man very .", "The cook slept ."),
        "second": ("Mary's dog saw the very old man .", "The big cook slept ."),
    }
    mentions = {
        "key": ({0: "(1)", 6: "(2)"}, {1: "(2)"}),
        "response": ({0: "(1)", 4: "(2)", 5: "(3)"}, {1: "(2)"}),
        "second": ({0: "(1)", 6: "(2)"}, {2: "(2)"}),
    }
    for side, sentences in texts.items():
        lines = []
        for number, (sentence, marks) in enumerate(zip(sentences, mentions[side], strict=True)):
            lines += [f"#begin document (d{number}); part 000"]
            for place, word in enumerate(sentence.split()):
                lines.append(f"d{number}\t0\t{place}\t{word}\t{marks.get(place, '-')}")
            lines += ["", "#end document"]
        (tmp_path / f"{side}.conll").write_text("\n".join(lines) + "\n", encoding="utf-8")
    paths = [str(tmp_path / f"{side}.conll") for side in texts]
    options = {"tokens": "align", "across": "all"}
    assert score(*paths[:2], metrics="mentions", **options)["mentions"].recall == 1
    agreement = corefeval.agree(paths, **options)
    assert all(-1 <= alpha <= 1 for alpha in agreement.alpha.values())
    chosen = ("--tokens", "align", "--across", "all")
    status, out, _ = run("errors", *paths[:2], *chosen)
    assert status == 0
    assert re.search(r"before 7 +very", out)
    status, _, _ = run("report", *paths[:2], *chosen, "--output", str(tmp_path / "report.html"))
    assert status == 0
