"""Commands that fail on purpose: exit status 3."""

from __future__ import annotations

import json

import pytest

import corefeval

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


@pytest.mark.parametrize(
    ("limits", "status", "line"),
    [
        (["conll=60"], 0, ""),
        (["conll=70.3,muc.recall=80"], 0, ""),
        (["conll=80"], 3, "failed: conll of eager.conll is 70.31, under 80\n"),
        (
            ["CoNLL = 60", "b3.recall=82"],
            3,
            "failed: b3 recall of eager.conll is 81.84, under 82\n",
        ),
        (
            ["conll=80,lea=61"],
            3,
            "failed: conll of eager.conll is 70.31, under 80; "
            "lea of eager.conll is 60.49, under 61\n",
        ),
        (["muc(twinless=sys)=60"], 2, "error:"),
    ],
)
def test_fail_under(run, limits, status, line):
    options = [part for limit in limits for part in ("--fail-under", limit)]
    done, out, err = run("score", KEY, EAGER, "-q", *options)
    assert done == status
    assert err.startswith(line) if line.endswith(":") else err == line
    assert status == 2 or "CoNLL" in out  # the scores are printed all the same


def test_each_response_has_to_pass(run):
    done, _, err = run("score", KEY, EAGER, CAUTIOUS, "-q", "--fail-under", "conll=65")
    assert (done, err) == (3, "failed: conll of cautious.conll is 63.12, under 65\n")


def test_answers_have_to_be_read(run, tmp_path):
    key = corefeval.read(KEY)
    answers = tmp_path / "answers.jsonl"
    text = " ".join(key[0].words)
    answers.write_text(json.dumps({"id": str(key[0].id), "answer": f"[e1 {text}]"}))
    done, _, err = run("score", KEY, str(answers), "-q", "--fail-under", "read=95")
    share = 100 / len(key.documents)
    assert (done, err) == (3, f"failed: read of answers.jsonl is {share:.2f}, under 95\n")


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("conll", "METRIC=NUMBER"),
        ("conll=high", "METRIC=NUMBER"),
        ("=5", "METRIC=NUMBER"),
        ("conll=600", "METRIC=NUMBER"),
        ("conl=60", "did you mean 'conll'?"),
        ("conll.recall=60", "conll has no recall"),
        ("lmuc=60", "'lmuc' was not scored"),
        ("read=95", "read is a limit for answers"),
    ],
)
def test_senseless_limits(run, limit, message):
    status, _, err = run("score", KEY, EAGER, "-q", "--fail-under", limit)
    assert status == 2
    assert message in err


def test_fail_if_worse(run):
    command = ("compare", KEY, CAUTIOUS, EAGER, "-q", "--trials", "999")
    assert run(*command, "--fail-if-worse", "cautious.conll")[0] == 0
    status, out, err = run(*command, "--fail-if-worse", "eager.conll")
    assert status == 3
    assert "CoNLL" in out
    assert err.startswith(
        "failed: cautious is significantly worse than eager by muc (-10.90, p = 0.00"
    )
    assert err.count("\n") == 1
    assert run(*command, "--fail-if-worse", "eager.conll", "-m", "ceafe")[0] == 0


def test_an_unknown_baseline(run):
    for option in ("--fail-if-worse", "--baseline"):
        status, _, err = run("compare", KEY, CAUTIOUS, EAGER, option, "best")
        assert status == 2
        assert "the responses are cautious, eager" in err


def test_help_says_so(run):
    assert "3 a limit was not met" in " ".join(run("--help")[1].split())


def test_a_gate_goes_by_the_metrics_as_they_are_written(run):
    """By `conll` alone, the parts of it do not fail."""
    status, _, error = run(
        "compare", KEY, CAUTIOUS, EAGER, "-m", "muc", "--fail-if-worse", EAGER.rpartition("/")[2]
    )
    assert status == 3
    assert "by muc" in error
    status, _, error = run(
        "compare", KEY, CAUTIOUS, EAGER, "-m", "ceafe,conll", "--fail-if-worse",
        EAGER.rpartition("/")[2],
    )  # fmt: skip
    assert status == 3
    assert "conll" in error and "muc" not in error


def test_gates_that_gate_nothing_are_refused(run):
    assert run("score", KEY, EAGER, "--fail-under", "")[0] == 2
    names = [path.rpartition("/")[2] for path in (CAUTIOUS, EAGER)]
    arguments = ["--fail-if-worse", names[0], "--baseline", names[1]]
    assert run("compare", KEY, CAUTIOUS, EAGER, *arguments)[0] == 2


def test_a_limit_that_no_score_has_is_refused_before_anything_is_written(run, tmp_path):
    kept, printed = tmp_path / "kept.json", tmp_path / "out.txt"
    printed.write_text("before")
    arguments = ("--save", kept, "-o", printed, "--fail-under", "conll.recall=1")
    status, _, err = run("score", KEY, EAGER, *arguments)
    assert (status, "conll has no recall" in err) == (2, True)
    assert (kept.exists(), printed.read_text()) == (False, "before")
