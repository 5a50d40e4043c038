"""The command line, run as people run it."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import corefeval
from corefeval.formats import FORMATS
from corefeval.formats.registry import ANSWERS
from corefeval.protocol import NAMED, Protocol, choices

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
COREFEVAL = [sys.executable, "-m", "corefeval"]


def test_score(run):
    status, out, err = run("score", KEY, CAUTIOUS)
    assert status == 0
    expected = f"{100 * corefeval.score(KEY, CAUTIOUS)['conll'].f1:.2f}"
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("CoNLL")] == [expected]
    assert "cautious.conll against key.conll, 9 documents" in out
    assert err == ""


def test_a_response_that_is_called_like_its_key_has_its_path(run, tmp_path, monkeypatch):
    """Shared tasks have files of the same name in a folder for the keys and one for each team."""
    for folder, path in (("keys", KEY), ("team", EAGER)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "dev.conll").write_bytes(Path(path).read_bytes())
    monkeypatch.chdir(tmp_path)
    status, out, err = run("score", "keys/dev.conll", "team/dev.conll")
    assert (status, "team/dev.conll against dev.conll, 9 documents" in out) == (0, True)
    assert err.startswith("note: team/dev.conll: 1 repeated mention")


def test_notices_go_to_the_error_stream_unless_quiet(run):
    status, out, err = run("score", KEY, EAGER)
    assert status == 0
    assert err == "note: eager.conll: 1 repeated mention dropped, the first of each kept\n"
    assert "repeated" not in out
    assert run("score", KEY, EAGER, "--quiet")[2] == ""


def test_several_responses_with_labels(run):
    status, out, _ = run("score", KEY, f"old={CAUTIOUS}", EAGER, "-m", "conll", "-f", "json")
    assert status == 0
    report = json.loads(out)
    assert report["key"] == "key.conll"
    assert [response["name"] for response in report["responses"]] == ["old", "eager.conll"]
    assert list(report["responses"][0]["scores"]) == ["muc", "b3", "ceafe", "conll"]


def test_equal_file_names_are_told_apart_by_their_paths(run, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.conll").write_bytes(Path(EAGER).read_bytes())
    paths = [str(tmp_path / folder / "r.conll") for folder in ("one", "two")]
    report = json.loads(run("score", KEY, *paths, "-f", "json")[1])
    assert [response["name"] for response in report["responses"]] == paths


def test_a_path_may_have_an_equals_sign(run, tmp_path):
    path = tmp_path / "lr=0.1.conll"
    path.write_bytes(Path(EAGER).read_bytes())
    report = json.loads(run("score", KEY, path, "-f", "json")[1])
    assert report["responses"][0]["name"] == "lr=0.1.conll"


def test_standard_input(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(KEY).read_bytes())))
    status, out, _ = run("score", KEY, "-", "-m", "lea")
    assert status == 0
    assert "100.00" in out
    assert run("score", "-", "-")[0] == 2


def test_output_file_and_by_document(run, tmp_path):
    target = tmp_path / "scores.csv"
    status, out, _ = run("score", KEY, EAGER, "--by-document", "-f", "csv", "-o", target)
    assert (status, out) == (0, "")
    assert target.read_text().count("\n") == 1 + 8 * 10


@pytest.mark.parametrize("format", ["text", "json", "csv", "markdown", "latex", "conll"])
def test_formats(run, format):
    status, out, _ = run("score", KEY, CAUTIOUS, EAGER, "--format", format, "-m", "muc")
    assert status == 0
    assert "52.4" in out.replace("0.524", "52.4")


def test_options_reach_the_scorer(run, tmp_path):
    options = ("--singletons", "drop", "--duplicates", "last", "--aggregate", "macro")
    out = run("score", KEY, EAGER, *options, "--documents", "bc/*", "-f", "json")[1]
    response = json.loads(out)["responses"][0]
    assert response["signature"].startswith(
        "match:exact|singletons:drop|duplicates:last|documents:bc/*|aggregate:macro|"
    )
    assert len(response["documents"]) == 3
    packed = tmp_path / "response.gz"
    packed.write_bytes(gzip.compress(Path(EAGER).read_text().encode("utf-16")))
    assert run("score", KEY, packed)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("score", KEY, "nowhere.conll"), 1, "error: nowhere.conll: the file cannot be read"),
        (("score", KEY, EAGER, "--duplicates", "error"), 1, "a mention is repeated"),
        (("score", KEY, EAGER, "--documents", "zz"), 1, "no document of"),
        (("score", KEY, EAGER, "-o", "/no/such/folder/x"), 1, "the output cannot be written"),
        (("score", KEY, EAGER, "-m", "mucc"), 2, "did you mean 'muc'?"),
        (("score", KEY, EAGER, "--key-format", "xml"), 2, "there is no format 'xml'"),
        (("score", KEY, EAGER, "--encoding", "klingon"), 2, "there is no encoding"),
        (("score", KEY, EAGER, "-f", "conll", "-m", "mentions"), 2, "prints only muc"),
        (("score", KEY), 2, "RESPONSE"),
        (("score",), 2, "KEY"),
        (("score", KEY, EAGER, "--fromat", "json"), 2, "--fromat"),
        (("score", KEY, EAGER, "--format", "pdf"), 2, "pdf"),
        (("score", KEY, EAGER, "--singletons", "maybe"), 2, "maybe"),
        (("scorre", KEY, EAGER), 2, "scorre"),
    ],
)
def test_what_goes_wrong(run, arguments, status, message):
    done, out, err = run(*arguments)
    assert done == status
    assert message in err
    assert "Traceback" not in out + err


def test_metrics(run):
    status, out, _ = run("metrics")
    assert status == 0
    for name, declaration in corefeval.metrics.REGISTRY.items():
        assert f"\n{name}" in f"\n{out}"
        assert declaration.reference in " ".join(out.split())
    listed = json.loads(run("metrics", "-f", "json")[1])
    assert [metric["name"] for metric in listed["metrics"]] == list(corefeval.metrics.REGISTRY)
    assert set(listed["presets"]) == {"standard", "papers", "anaphora", "all"}


def test_version_and_help(run):
    assert run("--version")[1].strip() == f"corefeval {corefeval.__version__}"
    assert "corefeval score key.conll response.conll" in run("--help")[1]
    assert "--tokens" in run("score", "--help")[1]


USAGE = {
    "score": "KEY [RESPONSE...] [OPTIONS]",
    "errors": "KEY RESPONSE [MORE...] [OPTIONS]",
    "compare": "KEY [RESPONSE...] [OPTIONS]",
    "explain": "[KEY] [RESPONSE] [MORE...] [OPTIONS]",
    "report": "KEY RESPONSE [MORE...] [OPTIONS]",
    "agree": "FILE OTHER [MORE...] [OPTIONS]",
    "suite": "COMMAND",
    "lab": "[EXPERIMENT] [KEY] [RESPONSE] [OPTIONS]",
    "check": "FILE [MORE...] [OPTIONS]",
    "stats": "FILE [MORE...] [OPTIONS]",
    "convert": "SOURCE TARGET [OPTIONS]",
    "prompt": "KEY [OPTIONS]",
    "cite": "[FILE...] [OPTIONS]",
    "metrics": "[NAME...] [OPTIONS]",
    "features": "[NAME...] [OPTIONS]",
    "protocols": "[NAME...] [OPTIONS]",
    "example": "[FOLDER] [OPTIONS]",
}


def test_usage_names_the_arguments_and_help_begins_with_score(run):
    for command, arguments in USAGE.items():
        first, *rest = run(command, "--help")[1].split("\n")
        assert first == f"Usage: corefeval {command} {arguments}"
        for name in arguments.replace("[OPTIONS]", "").replace("COMMAND", "").split():
            assert any(name.strip("[].") in line.split() for line in rest)
    lines = run("--help")[1].split("\n")
    entries = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert entries[0] == "score" and [name for name in entries if name in USAGE] == list(USAGE)


def test_protocols_fit_the_screen_and_say_how_they_are_chosen(run):
    for listing in ("metrics", "features", "protocols"):
        out = run(listing)[1]
        assert max(map(len, out.split("\n"))) <= 80
    for name, choice in choices().items():
        entry = run("protocols", name)[1]
        option = f"--{name.replace('_', '-')}"
        assert (f"option: {option}" in entry) == choice.option
        assert (f"no option of its own: --protocol '{name}:" in entry) != choice.option
    table = out.partition("corefeval protocols NAME")[0]
    for bundle in NAMED.values():
        assert f"\n{bundle.name} " in table
        entry = run("protocols", bundle.name)[1].replace("\n  ", "")
        assert str(Protocol.of(bundle.name)) in entry
    assert "ceafe-singletons" in table and "truncate(2)" in table
    assert run("score", KEY, EAGER, "--protocol", "spans:exclusive", "-q")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "stream", "status"),
    [
        (["-h"], "stdout", 0),
        (["--version"], "stdout", 0),
        (["score", "-h"], "stdout", 0),
        (["metrics"], "stdout", 0),
        (["score", KEY, EAGER], "stdout", 0),
        (["score", KEY, "nowhere.conll"], "stderr", 1),
        (["metrics", "nothing"], "stderr", 2),
        (["score"], "stderr", 2),
        (["score", KEY, EAGER], "stderr", 0),
        (["score", KEY, EAGER, "--fail-under", "conll=99"], "stderr", 3),
    ],
)
def test_a_reader_that_leaves_is_no_mistake(arguments, stream, status):
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writer}
    done = subprocess.run([*COREFEVAL, *arguments], text=True, check=False, **streams)
    os.close(writer)
    assert done.returncode == status
    assert not done.stderr  # neither a traceback nor a complaint
    if stream == "stderr" and not status:  # a notice that nobody reads does not cost the scores
        assert "CoNLL" in done.stdout


def test_as_a_module_and_into_a_closed_pipe():
    done = subprocess.run([*COREFEVAL, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"corefeval {corefeval.__version__}"
    command = [*COREFEVAL, "score", KEY, EAGER, "-f", "json", "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_example(run, tmp_path):
    status, out, _ = run("example", tmp_path / "new")
    assert status == 0
    paths = out.split()
    names = ["key.conll", "cautious.conll", "eager.conll", "tagged.jsonl", "listed.jsonl"]
    assert [Path(path).name for path in paths] == names
    assert run("score", *paths)[0] == 0
    assert run("example", tmp_path / "new")[0] == 0
    Path(paths[0]).write_text("mine")
    assert run("example", tmp_path / "new")[0] == 1
    assert Path(paths[0]).read_text() == "mine"


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (f"PYTHONIOENCODING=ascii {{}} score {KEY} {EAGER}", 0),
        ("PYTHONIOENCODING=latin-1 {} metrics", 0),
        (f"{{}} score {KEY} - <&-", 1),
        (f"{{}} score {KEY} {EAGER} >&-", 0),
        (f"{{}} score {KEY} {EAGER} > /dev/full", 1),
        ("{} metrics > /dev/full", 1),
        ("{} --help > /dev/full", 1),
    ],
)
def test_streams_that_do_not_take_it(command, status):
    done = subprocess.run(
        command.format(" ".join(COREFEVAL)), shell=True, capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == status


def test_file_names_that_are_no_text(run, tmp_path):
    path = tmp_path / "bad\udcff.conll"
    path.write_bytes(Path(EAGER).read_bytes())
    target = tmp_path / "scores.json"
    assert run("score", KEY, path, "-f", "json", "-o", target)[0] == 0
    assert json.loads(target.read_text())["responses"][0]["name"] == "bad\udcff.conll"


def test_misspelt_options_get_a_suggestion(run):
    status, _, err = run("score", KEY, EAGER, "--metric", "muc")
    assert (status, err) == (2, "error: there is no option --metric: did you mean --metrics?\n")


def test_an_input_is_never_overwritten(run, tmp_path):
    path = tmp_path / "response.conll"
    path.write_bytes(Path(EAGER).read_bytes())
    assert run("score", KEY, path, "-o", path)[0] == 2
    assert path.read_bytes() == Path(EAGER).read_bytes()


def test_labels_are_told_apart(run):
    assert run("score", KEY, f"a={EAGER}", f"a={CAUTIOUS}")[0] == 2


def test_one_metric_explained(run):
    status, out, _ = run("metrics", "B-cubed")
    assert status == 0
    assert out.startswith("b3 ")
    assert "Vilain" not in out


def test_what_the_official_form_leaves_out_is_said(run):
    err = run("score", KEY, CAUTIOUS, "-f", "conll", "-m", "lea,lea(importance=one)")[2]
    assert "not in the official scorer's form: lea(importance=one)" in err


@pytest.mark.parametrize("arguments", [("", EAGER), (KEY, ""), (KEY, "name=")])
@pytest.mark.parametrize("command", ["score", "compare", "errors", "agree", "report"])
def test_an_empty_path_is_one_clear_error(run, command, arguments):
    status, _, err = run(command, *arguments)
    assert status == 2
    assert err == "error: a path is empty: name a file, a folder or a pattern\n"


@pytest.mark.parametrize(
    "line",
    [
        "score {key} {long}", "score {key} {key} -o {long}", "score {key} {key} --save {long}",
        "score {key} {key} --by kind --tagset {long}", "stats {key} --features {long}",
        "convert {key} {long} --to brat", "convert {one} {long}.ann --to brat",
        "report {key} {key} -o {long}", "check {key} --fix {long}", "example {long}",
        "example {long}/below",
    ],
)  # fmt: skip
def test_a_name_that_no_file_can_have_is_in_the_error(run, conll, line):
    one, long = conll("#begin document (a);\nx (0)\n#end document\n"), "x" * 300
    status, _, err = run(*line.format(key=KEY, one=one, long=long).split())
    assert status in (1, 2)
    assert err.startswith("error: ") and long in err
    assert "Exception ignored" not in err


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("conl", ": did you mean 'conll'?"),
        ("CoNLLu", ": did you mean 'corefud'?"),
        ("xml", ": did you mean 'xmi'?"),
        ("sgml", ""),
    ],
)
def test_an_unknown_format_is_told_in_two_lines(run, name, hint):
    first, second = run("score", KEY, EAGER, "--key-format", name)[2].splitlines()
    assert first == f"error: there is no format {name!r}{hint}"
    assert second == f"  there are: {', '.join([*FORMATS, *ANSWERS])}"


def test_mentions_without_a_stated_kind_are_named_with_their_documents(run, conll):
    table = conll("document\tstart\tend\tkind\nnw/harbour_01\t0\t4\tname\n", "kinds.tsv")
    status, _, err = run("score", KEY, EAGER, "--features", table, "--by", "kind")
    assert status == 1
    assert " mentions of key.conll: nw/harbour_01; part 000 (17, 27), (25, 27), " in err
    assert "a line with document, start, end (as here) and kind" in err


def test_what_texts_lack_is_said_with_their_names(run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"doc_key": "x", "text": "Ada", "clusters": [[[0, 3]]]}\n')
    for feature in ("kind", "genre"):
        status, _, err = run("score", path, f"b={path}", "--by", feature)
        assert (status, "a.jsonl" in err) == (1, True)


def test_bad_usage_is_one_line_without_colours(run, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)  # which says nothing of the other stream
    for arguments in (("--format", "x"), ("--save",), ("--seed", "x")):
        status, _, err = run("score", KEY, EAGER, *arguments)
        assert status == 2
        assert err.startswith("error: ") and err.count("\n") == 1
        assert err.isascii() and "\x1b" not in err


def test_an_option_in_the_place_of_a_file_is_not_suggested_again(run):
    status, _, err = run("check", KEY, "--fix", "--against", KEY)
    assert (status, "did you mean" in err) == (2, False)


def test_nothing_is_saved_where_the_form_is_refused(run, tmp_path):
    kept = tmp_path / "kept.json"
    assert run("score", KEY, EAGER, "-f", "conll", "--aggregate", "macro", "--save", kept)[0] == 2
    assert not kept.exists()


def test_another_text_in_a_folder_is_named(run, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in (("a", "Ada slept"), ("b", "She")):
        record = {"doc_key": name, "sentences": [text.split()], "clusters": []}
        (folder / f"{name}.jsonl").write_text(json.dumps(record))
        record["sentences"] = [["Ada"]]
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record))
    status, _, err = run("score", tmp_path / "*.jsonl", folder)
    assert (status, err.startswith("error: folder")) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", KEY, "", "--to", "conll"),
        ("convert", KEY, "", "--to", "brat"),
        ("score", KEY, EAGER, "-o", ""),
        ("score", KEY, EAGER, "--save", ""),
        ("check", KEY, "--fix", ""),
    ],
)
def test_an_empty_output_is_one_clear_error(run, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(*arguments)
    assert (status, err.count("error:"), "path is empty" in err) == (2, 1, True)
    assert not list(tmp_path.iterdir())
