"""`corefeval suite`: run, init and check as people call them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from corefeval.protocol import Protocol
from corefeval.suites.definition import read_suite
from corefeval.suites.outcome import load_suite
from corefeval.suites.running import run_suite
from corefeval.suites.statistics import with_tests


def test_run_prints_the_table_and_saves(folder, run):
    status, out, err = run("suite", "run", folder / "suite.toml", "--save", folder / "r.json")
    assert status == 0
    assert "steady" in out
    assert "few-corpora" not in err
    assert "intervals from 3 corpora say little" in err
    assert len([*(folder / "suite.cache").glob("*.cell")]) == 13  # 12 results, and the tests
    again = run("suite", "run", folder / "suite.toml")
    assert again[1] == out
    assert run("suite", "table", folder / "r.json")[1] == out
    status, out, err = run("suite", "table", folder / "r.json", "-f", "codabench", "-q")
    assert (status, err) == (0, "")
    assert json.loads(out)["eager_macro"] > 70


def test_another_metric_is_tested_like_the_headline(folder, run):
    run("suite", "run", folder / "suite.toml", "--save", folder / "r.json", "--trials", "199")
    options = ("--metric", "lea", "--rates", "r,p,f1", "-q")
    status, out, err = run("suite", "table", folder / "r.json", *options)
    assert (status, err) == (0, "")
    out = " ".join(out.split())
    assert "LEA R, P, F1" in out and "significantly better than (199 trials" in out
    saved = load_suite(folder / "r.json")
    assert with_tests(saved, "lea").statistics.metrics == ("conll", "lea")
    assert with_tests(replace(saved, statistics=None), "lea").statistics is None  # as asked


def test_run_fails_by_its_exit_status_where_it_should(folder, run):
    (folder / "eager" / "talk.jsonl").unlink()
    options = ("suite", "run", folder / "suite.toml", "--no-cache", "--no-tests")
    status, out, err = run(*options)
    assert (status, "note: eager on talk: counts as 0: " in err) == (0, True)
    assert not (folder / "suite.cache").exists()
    status, _, err = run(*options, "--strict")
    assert (status, err.count("failed: eager on talk")) == (3, 1)
    (folder / "keys" / "news.conll").unlink()
    status, out, err = run(*options)
    assert (status, "failed: news: left out for all" in err) == (3, True)
    assert "fiction" in out


def test_run_refuses_what_makes_no_sense(folder, run):
    path = folder / "suite.toml"
    for options, message in (
        (("--save", folder / "suite.cache"), "is the cache folder"),
        (("--cache", "x", "--output", "./x"), "is the cache folder"),
        (("--cache", "x", "--no-cache"), "use one of them"),
        (("--averages", "all"), "an average is one of"),
        (("--jobs", "0"), "--jobs must be 1 or more"),
        (("--trials", "0"), "the number of trials must be a whole number"),
        (("--trials", "1" + "0" * 40), "a whole number from 1 to 100,000,000, not more"),
        (("--save", path), "would overwrite an input"),
    ):
        status, out, err = run("suite", "run", path, *options)
        assert (status, out) == (2, "")
        assert message in err


def test_bad_usage_names_the_command(run):
    for arguments, message in (
        (("run",), "SUITE is missing: corefeval suite run SUITE [OPTIONS]"),
        (("page", "--output", "x"), "RESULTS is missing: corefeval suite page RESULTS [OPTIONS]"),
        (("chek",), "there is no command 'chek': did you mean 'check'?"),
        (("run", "x", "--savee"), "there is no option --savee: did you mean --save?"),
    ):
        status, out, err = run("suite", *arguments)
        assert (status, out, err) == (2, "", f"error: {message}\n")


def test_init_writes_a_suite_that_runs(folder, run, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "suite.toml").unlink()
    status, out, _ = run("suite", "init", "keys", "cautious", "eager", "third=steady")
    assert (status, out) == (0, "suite.toml: corpora: 3, systems: 3\n")
    suite = read_suite("suite.toml")
    assert [one.name for one in suite.corpora] == ["fiction", "news", "talk"]
    assert [one.name for one in suite.systems] == ["cautious", "eager", "third"]
    assert suite.systems[2].seeds == ("1", "2")
    outcome = run_suite(replace(suite, metrics="conll", by=""))
    assert all(cell.result is not None for cell in outcome.cells.values())
    status, _, err = run("suite", "init", "keys", "eager")
    assert (status, "already exists" in err) == (2, True)
    assert run("suite", "init", "keys", "eager", "--force")[0] == 0
    # What it offers goes together: a protocol that is taken out of its comment leaves profiles.
    text = (folder / "suite.toml").read_text()
    (folder / "suite.toml").write_text(text.replace("# protocol", "protocol"))
    result = run_suite(read_suite("suite.toml")).cells["news", "eager", None].result
    assert result.protocol != Protocol() and [*result.slices] == ["kind", "size"]


def test_init_tells_keys_from_systems(folder, run, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "all").mkdir()
    for name in ("cautious", "eager"):
        (folder / name).rename(folder / "all" / name)
    keys = sorted(map(str, (folder / "keys").iterdir()))
    status, out, _ = run("suite", "init", *keys, "all", "-o", "-")
    assert status == 0
    assert out.count("[[corpora]]") == 3
    assert 'responses = "all/eager/{corpus}.jsonl"' in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("keys",), "a suite needs keys and systems"),
        (("no", "eager"), "there is no file or folder no"),
        (("keys/news.conll",), "a suite needs keys and systems"),
        (("cautious", "keys/sub"), "no file name contains the name of a corpus"),
    ],
)
def test_init_says_what_it_needs(folder, run, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    (folder / "keys" / "sub").mkdir()
    (folder / "keys" / "sub" / "other.conll").write_text("x")
    status, _, err = run("suite", "init", *arguments, "-o", "new.toml")
    assert (status, message in err) == (2, True)
    assert not (folder / "new.toml").exists()


def test_names_of_corpora_and_languages(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("en_gum", "en_litbank", "cs_pdt"):
        for folder, end in (("keys", "-corefud-dev.key.conllu"), ("mine", "-corefud-dev.conllu")):
            path = tmp_path / folder / f"{name}{end}"
            path.parent.mkdir(exist_ok=True)
            path.write_text("x")
    _, out, _ = run("suite", "init", "keys", "mine", "-o", "-")
    assert 'name = "en_gum"' in out
    assert 'group = "cs"' in out
    assert 'responses = "mine/{corpus}-corefud-dev.conllu"' in out


def test_check_has_a_line_for_each_file(folder, run):
    path = folder / "suite.toml"
    status, out, err = run("suite", "check", path)
    lines = out.splitlines()
    assert (status, err, len(lines)) == (0, "", 16)
    assert lines[-1] == "15 files: 14 ok, 1 warning, 0 failed"
    assert [line.split()[0] for line in lines].count("ok") == 14
    status, out, _ = run("suite", "check", path, "--strict")
    assert (status, out.splitlines()[-1]) == (1, "15 files: 14 ok, 0 warnings, 1 failed")


def test_check_finds_what_is_missing_and_broken(folder, run):
    path, mine = folder / "suite.toml", folder / "eager"
    (mine / "talk.jsonl").unlink()
    whole = (mine / "news.jsonl").read_text().splitlines()
    (mine / "news.jsonl").write_text("\n".join(whole[1:]))
    (mine / "fiction.jsonl").write_text("{")
    status, out, _ = run("suite", "check", path, "--systems", "eager")
    verdicts = {
        line.split(": ")[0].split()[-1]: line for line in out.splitlines() if "eager" in line
    }
    assert status == 1
    assert verdicts["news"].startswith("warning  eager on news: ")
    assert "missing-document" in verdicts["news"]
    assert verdicts["talk"].endswith("there is no such file")
    assert verdicts["fiction"].startswith("failed")
    assert "cautious" not in out
    (mine / "talk.jsonl").write_bytes((folder / "cautious" / "talk.jsonl").read_bytes())
    (mine / "fiction.jsonl").write_bytes((folder / "cautious" / "fiction.jsonl").read_bytes())
    assert run("suite", "check", path, "--systems", "eager")[0] == 0
    assert run("suite", "check", path, "--systems", "eager", "--strict")[0] == 1
    rows = json.loads(run("suite", "check", path, "--systems", "eager", "-f", "json")[1])
    assert {row["ruling"] for row in rows} == {"ok", "warning"}
    status, _, err = run("suite", "check", path, "--systems", "eagre")
    assert (status, "did you mean 'eager'?" in err) == (2, True)


def test_check_misses_features_that_are_not_there(folder, run):
    path = folder / "suite.toml"
    text = path.read_text().replace("[[corpora]]", '[[corpora]]\nfeatures = "no.csv"', 1)
    path.write_text(text)
    status, out, _ = run("suite", "check", path)
    assert status == 1
    assert out.splitlines()[0].endswith("no.csv: there is no such file")


def test_check_goes_on_behind_a_broken_key(folder, run):
    (folder / "keys" / "news.conll").write_text("nothing\n")
    status, out, _ = run("suite", "check", folder / "suite.toml")
    lines = out.splitlines()
    assert (status, len(lines)) == (1, 16)
    assert lines[0].startswith("failed   key of news: ")


def test_a_verdict_on_a_file_is_that_of_the_suite(tmp_path, run):
    """Whatever stops scoring by the protocol fails in both, and nothing else does."""

    def document(name: str) -> str:
        lines = [f"# newdoc id = {name}", "# global.Entity = eid-head", f"# sent_id = {name}"]
        lines += ["1\tShe\t_\t_\t_\t_\t0\troot\t_\tEntity=(e1-1)"]
        lines += ["1.1\t_\t_\t_\t_\t_\t_\t_\t1:dep\tEntity=(e1-1)", "", ""]
        return "\n".join(lines)

    names = [f"d{number}" for number in range(12)]
    key, response = tmp_path / "key.conllu", tmp_path / "response.conllu"
    key.write_text("".join(map(document, names)))
    text = 'metrics = "muc"\nheadline = "muc"\nprotocol = "%s"\n[[corpora]]\nname = "response"\n'
    text += 'key = "key.conllu"\n[[systems]]\nname = "s"\nresponses = "{corpus}.conllu"\n'
    suite = tmp_path / "suite.toml"
    whole, few = ("".join(map(document, some)) for some in (names, names[:2]))
    astray = whole.replace("1:dep", "7:dep")
    for written, protocol, ruling in (
        (whole, "corefud-1.2", "ok"),
        (few, "corefud-1.2", "failed"),
        (few, "coval", "failed"),
        (few, "singletons:keep", "warning"),
        (astray, "corefud-1.2", "failed"),
        (astray, "singletons:keep", "warning"),
    ):
        suite.write_text(text % protocol)
        response.write_text(written)
        for strict in ((), ("--strict",)):
            status, out, _ = run("suite", "check", suite, *strict)
            verdict = out.splitlines()[1]
            expected = "failed" if ruling == "warning" and strict else ruling
            assert (verdict.split()[0], status) == (expected, int(expected == "failed")), verdict
            arguments = (response, "--against", key, "--protocol", protocol, *strict)
            assert run("check", *arguments)[0] == status
            assert ("missing-document 10; " in verdict) == (written is few)
            assert ("lacks 10 documents" in verdict) == (written is few and "fud" in protocol)


def test_check_tries_a_protocol_without_a_key_and_from_standard_input(tmp_path, run, monkeypatch):
    path = tmp_path / "key.conllu"
    path.write_text(
        "# newdoc id = d\n# global.Entity = eid-head\n"
        "1\tShe\t_\t_\t_\t_\t0\troot\t_\tEntity=(e1-two)\n\n"
    )
    assert run("check", path)[0] == 0
    status, out, _ = run("check", path, "--protocol", "corefud-1.2")
    assert status == 1 and "refused-file" in out and "the head of a mention is not a number" in out
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert run("check", "-", "--against", path, "--protocol", "corefud-1.2")[0] == 1
    status, _, err = run("check", path, "--protocol", "corefud-1.3")
    assert status == 2 and "corefud-1.2" in err


def test_a_system_has_a_pattern_for_each_corpus(folder, run):
    """`[systems.responses]`, also with endings that differ, which a pattern of files covers."""
    (folder / "eager" / "news.jsonl").rename(folder / "eager" / "last.json")
    text = (
        (folder / "suite.toml")
        .read_text()
        .replace(
            'responses = "eager/{corpus}.jsonl"',
            '[systems.responses]\nnews = "eager/last.js*"\nfiction = "eager/{corpus}.js*"',
        )
    )
    (folder / "suite.toml").write_text(text)
    suite = read_suite(folder / "suite.toml")
    outcome = run_suite(suite)
    assert (
        outcome.cells["news", "eager", None].result
        and outcome.cells["fiction", "eager", None].result
    )
    assert "does not take part" in outcome.cells["talk", "eager", None].problem
    for wrong, message in (
        ('nwes = "eager/last.js*"', "there is no corpus 'nwes': did you mean 'news'?"),
        ("news = 1", "responses is text, or a table of corpus = pattern"),
        ('news = "eager/{seed}"', "it has {seed} in its responses, but no seeds"),
    ):
        (folder / "suite.toml").write_text(text.replace('news = "eager/last.js*"', wrong))
        status, _, err = run("suite", "run", folder / "suite.toml", "--no-cache")
        assert (status, message in err) == (1, True), err


def test_run_and_check_select_systems_and_corpora(folder, run):
    path = folder / "suite.toml"
    options = ("--systems", "eager,steady", "--corpora", "talk", "-f", "json", "-q", "--no-cache")
    record = json.loads(run("suite", "run", path, *options)[1])
    assert [system["name"] for system in record["systems"]] == ["eager", "steady"]
    assert [corpus["name"] for corpus in record["corpora"]] == ["talk"]
    assert (
        "there is no corpus 'tlak': did you mean"
        in run("suite", "run", path, "--corpora", "tlak")[2]
    )
    out = run("suite", "check", path, "--corpora", "talk", "--systems", "eager")[1]
    assert [line.split(":")[0].split()[-1] for line in out.splitlines()[:2]] == ["talk", "talk"]
    status, out, _ = run("suite", "check", path, "--quiet")
    assert status == 0 and out and all(line.startswith("warning") for line in out.splitlines())


def test_init_lists_files_without_a_place(folder, run):
    (folder / "eager" / "README.md").write_text("about this run")
    (folder / "eager" / "talk.jsonl").rename(folder / "eager" / "talk.json")
    command = ("suite", "init", folder / "keys", folder / "eager", "-o", folder / "new.toml")
    status, out, err = run(*command)
    assert (status, "systems: 1" in out) == (0, True)
    assert "2 files with no place in the suite" in err
    assert "README.md" in err and "talk.json\n" in err
    assert run(*command, "--force", "--quiet")[1:] == ("", "")
    assert read_suite(folder / "new.toml").resample == "documents, seeds"


def test_the_suite_says_which_question_its_tests_answer(folder, run):
    path = folder / "suite.toml"
    legend = " ".join(run("suite", "run", path, "-q")[1].split())
    assert "whether the order would hold on other corpora like these" in legend
    path.write_text('resample = "documents"\n' + path.read_text())
    save = ("--save", folder / "r.json", "-q")
    legend = " ".join(run("suite", "run", path, *save)[1].split())
    assert "bootstrap of documents, which asks whether the order is certain on these" in legend
    assert "on a corpus by paired randomization of documents" in legend
    compared = " ".join(run("suite", "compare", folder / "r.json", "-q")[1].split())
    assert "conll, bootstrap of documents" in compared and "on these corpora" in compared
    run("suite", "run", path, "--no-tests", *save)  # what the file says is saved without tests, too
    assert load_suite(folder / "r.json").resample == "documents"
    assert "resample:documents|" in run("suite", "compare", folder / "r.json", "-q")[1]
    other = run("suite", "compare", folder / "r.json", "--resample", "corpora", "-q")[1]
    assert "resample:corpora|" in other
    path.write_text(path.read_text().replace('"documents"', '"sentences"'))
    assert "resample is any of corpora, documents, seeds" in run("suite", "run", path)[2]


def test_a_check_reads_a_key_for_another_program_once_for_all_responses(folder, monkeypatch):
    """A check must not cost more than a run: it read each key again for every response."""
    from corefeval.emulation import corefud_scorer
    from corefeval.suites.checking import check_suite

    suite = read_suite(folder / "suite.toml")
    key = str(folder / "keys" / "fiction.conllu")
    corpus = replace(suite.corpora[1], protocol="corefud-1.2")
    systems = [
        replace(suite.systems[0], name=f"s{n}", responses=key + "{corpus}") for n in range(5)
    ]
    (folder / "keys" / "fiction.conllufiction").write_bytes(
        (folder / "keys/fiction.conllu").read_bytes()
    )
    read: list[str] = []
    plain = corefud_scorer.read_sentences
    monkeypatch.setattr(
        corefud_scorer, "read_sentences", lambda origin: read.append(origin.file) or plain(origin)
    )
    checked = check_suite(replace(suite, corpora=(corpus,), systems=tuple(systems)))
    assert len(checked.verdicts) == 6
    assert read.count(key) == 1 and len(read) == 6
