"""Manners of the command line: verdicts, encodings, progress."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest

import corefeval
from corefeval.cli import main
from corefeval.stats.resampling import bootstrap, stack, watch_trials

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))

LATIN = "#begin document (d); part 000\nd 0 0 Café (1)\nd 0 1 née (1)\n\n#end document\n"
DISORDERED = """\
# newdoc id = d
# global.Entity = eid
1\ta\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)
2\tb\t_\t_\t_\t_\t_\t_\t_\t_
2\tc\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)
3\td\t_\t_\t_\t_\t_\t_\t_\t_
3.1\te\t_\t_\t_\t_\t_\t_\t_\t_
5.1\tf\t_\t_\t_\t_\t_\t_\t_\t_

2\tg\t_\t_\t_\t_\t_\t_\t_\t_
"""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "shift_jis"])
def test_json_is_json_whatever_the_output_can_take(tmp_path, monkeypatch, encoding):
    name = "é 日本 𝔸 \\"
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"doc_key": name, "sentences": [["x"]], "clusters": [[[0, 0]]]}))
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["score", str(path), str(path), "--by-document", "--format", "json"]) == 0
    content = json.loads(stream.buffer.getvalue().decode(encoding))
    assert [one["id"] for one in content["responses"][0]["documents"]] == [name]


def test_an_unknown_format_takes_two_lines(run, tmp_path):
    odd = tmp_path / "odd.txt"
    odd.write_text("nothing of the kind\n")
    for words in (("score", odd, odd), ("score", odd, odd, "--key-format", "conl"),
                  ("convert", KEY, tmp_path / "x.odd")):  # fmt: skip
        status, out, err = run(*words)
        assert status in (1, 2) and not out
        assert err.count("\n") == 2 and "corefud" in err


def test_each_side_has_its_encoding(run, tmp_path):
    key, response = tmp_path / "key.conll", tmp_path / "response.conll"
    key.write_text(LATIN, encoding="latin-1")
    response.write_text(LATIN, encoding="utf-8")
    assert run("score", key, response, "-m", "muc")[0] == 1
    for command in (("score",), ("errors",), ("compare", "--trials", "9")):
        options = ("--key-encoding", "latin-1")
        both = (response, response) if command[0] == "compare" else (response,)
        first, *rest = command
        assert run(first, key, *both, *rest, "-m", "muc", "-q", *options)[0] == 0
    for pair in ((key, response), (response, key)):
        side = "key" if pair[0] == key else "response"
        score = corefeval.score(*pair, metrics="muc", **{f"{side}_encoding": "latin-1"})
        assert score["muc"].f1 == 1
    pieces = corefeval.score(
        str(key), str(response), metrics="muc", key_encoding="latin-1", piece_size=1
    )
    assert pieces["muc"].f1 == 1
    assert run("check", response, "--against", key, "--key-encoding", "latin-1")[0] == 0
    for command in (("check", response), ("convert", response, tmp_path / "x.conll")):
        assert run(*command, "--key-encoding", "latin-1")[0] == 2


def test_a_verdict_on_each_file(run, tmp_path):
    broken = tmp_path / "broken.conll"
    broken.write_text("#begin document (a); part 000\na 0 0 x (1\n\n#end document\n")
    assert run("check", KEY, "--quiet")[:2] == (0, f"{KEY} passes: 2 notes\n")
    status, out, err = run("check", EAGER, broken, "-q")
    assert (status, err) == (1, "")
    assert re.fullmatch(r".*eager.conll passes: .*\n.*broken.conll fails: 1 error.*\n", out)
    assert run("check", EAGER)[0] == 0
    status, out, _ = run("check", EAGER, "--strict")
    assert status == 1 and out.endswith("fails: 1 warning, 3 notes\n")
    assert '"verdict": "fails"' in run("check", EAGER, "--strict", "-f", "json")[1]


def test_documents_are_chosen_everywhere(run, tmp_path):
    assert run("convert", KEY, tmp_path / "out.conll", "--documents", "bc/*")[0] == 0
    small = corefeval.read(tmp_path / "out.conll")
    assert {str(one)[:3] for one in small.documents} == {"bc/"}
    for pieces in ((), ("--piece-size", "1KB")):
        out = run("stats", KEY, "-f", "csv", "--documents", "bc/*", *pieces)[1]
        assert f"counts,mentions,{small.n_mentions}\n" in out
    alone = run("check", EAGER, "--documents", "bc/*", "--against", KEY, "-f", "json")
    assert alone[0] == 0 and "fi/" not in alone[1]
    in_pieces = run("check", EAGER, "--documents", "fi/*", "--piece-size", "1KB")[1]
    assert in_pieces == run("check", EAGER, "--documents", "fi/*")[1]
    assert "fi/lighthouse" in in_pieces
    for command in (("stats", KEY), ("check", KEY), ("convert", KEY, tmp_path / "no.conll")):
        status, _, err = run(*command, "--documents", "zz*")
        assert status == 1 and "matches 'zz*'" in err
    assert run("check", KEY, "--documents", "bc/*", "--fix", tmp_path / "x.conll")[0] == 2


def test_words_out_of_order_are_told_of(run, tmp_path):
    path = tmp_path / "odd.conllu"
    path.write_text(DISORDERED)
    assert "3 words not numbered 1, 2, 3, …; the order of lines" in run("score", path, path)[2]
    status, out, _ = run("check", path)
    assert status == 0 and "word-ids" in out
    assert re.findall(r"line (\d+): .*which is out of order", out) == ["5", "8", "10"]
    assert "reading-notice" not in out
    path.write_text(
        DISORDERED.replace("2\tc", "3\tc").replace("3\td", "4\td").replace("3.1\te", "4.1\te")
        .replace("5.1\tf", "4.2\tf").replace("2\tg", "1\tg")
    )  # fmt: skip
    assert run("score", path, path)[2] == "" and "word-ids" not in run("check", path)[1]


def test_an_undefined_score_names_the_files(run, tmp_path):
    path = tmp_path / "empty.conll"
    path.write_text("#begin document (a); part 000\na 0 0 x -\n\n#end document\n")
    for pairing in ("one", "name"):
        options = ("--pairing", pairing, "--undefined", "error")
        status, _, err = run("score", path, path, *options)
        assert status == 1 and "empty.conll against empty.conll" in err


def test_trials_are_told_of():
    result = corefeval.score(KEY, EAGER, metrics="muc")
    told: list[tuple[int, int]] = []
    with watch_trials(lambda done, total: told.append((done, total))):
        bootstrap(stack([result], ["muc"]), 5000, 0)
    assert told[0] == (0, 5000) and [done for done, _ in told] == sorted(done for done, _ in told)
    count = len(told)
    bootstrap(stack([result], ["muc"]), 500, 0)
    assert len(told) == count


@pytest.mark.parametrize("seconds", [0.0, 100.0])
def test_long_trials_show_a_bar_on_a_terminal_alone(monkeypatch, seconds):
    monkeypatch.setattr("corefeval.cli.printing._MOMENT", seconds)
    for is_terminal in (True, False):
        screen = io.StringIO()
        monkeypatch.setattr(screen, "isatty", lambda answer=is_terminal: answer)
        monkeypatch.setattr(sys, "stderr", screen)
        main(["compare", KEY, CAUTIOUS, EAGER, "-m", "muc", "--trials", "99"])
        assert ("Resampling" in screen.getvalue()) == (is_terminal and not seconds)


@pytest.mark.parametrize("more", [[], ["--suite"]])
def test_an_empty_name_is_no_folder_for_the_example(more, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["example", "", *more]) == 2
    assert "names no folder" in capsys.readouterr().err and not [*tmp_path.iterdir()]


class Terminal(io.StringIO):
    """Where somebody is watching."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("command", "told", "moment"),
    [
        (("stats", KEY, "--piece-size", "4kB"), " pieces", 0.0),
        (("stats", KEY, "--piece-size", "4kB"), " pieces", 60.0),  # none where it is done before
        (("check", EAGER, "--piece-size", "4kB"), " pieces", 0.0),
        (("score", KEY, EAGER, "--piece-size", "4kB"), " pieces", 0.0),
        (("score", KEY, EAGER, CAUTIOUS), " of 2 responses", 0.0),
        (("suite", "run", "SUITE", "--trials", 999), " of 12 cells", 0.0),
        (("suite", "page", "RESULTS"), "Resampling: ", 0.0),
    ],
)
def test_bars_show_how_far_it_is(command, told, moment, tmp_path, monkeypatch, capsys):
    """Nothing else in these tests looks like a terminal: here progress is drawn for once."""
    from corefeval.cli import main, printing

    assert main(["example", "--suite", str(tmp_path)]) == 0
    suite = tmp_path / "suite.toml"
    results = str(tmp_path / "results.json")
    if "RESULTS" in command:
        assert main(["suite", "run", str(suite), "-q", "--trials", "99", "--save", results]) == 0
    places = {"SUITE": str(suite), "RESULTS": results}
    monkeypatch.setattr(printing, "_MOMENT", moment)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.chdir(tmp_path)
    assert main([str(places.get(word, word)) for word in command]) == 0
    assert "Traceback" not in terminal.getvalue()
    assert (told in terminal.getvalue()) == (moment == 0)
    assert "\x1b" not in capsys.readouterr().out
