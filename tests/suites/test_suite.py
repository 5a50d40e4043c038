"""Suites: the file that describes one, its cells, what is saved of it."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import corefeval
from conftest import ROOT
from corefeval import InputError, Notice, Suite, SuiteCorpus, SuiteSystem, UsageError
from corefeval.examples import SUITE
from corefeval.suites.checking import check_suite
from corefeval.suites.definition import read_suite
from corefeval.suites.outcome import SuiteCell, SuiteResult, load_suite
from corefeval.suites.running import run_suite


def test_the_example_is_a_small_suite_whose_cells_are_scores(suite):
    assert sum(path.stat().st_size for path in SUITE.rglob("*") if path.is_file()) < 150_000
    outcome = run_suite(suite)
    assert (len(suite.corpora), len(suite.systems)) == (3, 3)
    assert len(outcome.cells) == 12
    for (corpus, system, seed), cell in outcome.cells.items():
        key = next(one.key for one in suite.corpora if one.name == corpus)
        path = next(one for one in suite.systems if one.name == system).path(corpus, seed)
        alone = corefeval.score(key, path, metrics=suite.metrics)
        assert cell.result is not None
        assert cell.result.scores["conll"].rates == alone.scores["conll"].rates
        assert cell.result.key_digest == alone.key_digest
        assert cell.result.key == corpus
        assert cell.result.response == (system if seed is None else f"{system} {seed}")


# ── files ──

HEAD = '[[corpora]]\nname = "a"\nkey = "a.conll"\n'
TAIL = '[[systems]]\nname = "x"\nresponses = "{corpus}.x"\n'
MISTAKES = [
    (f'titel = "x"\n{HEAD}{TAIL}', "there is no field 'titel': did you mean 'title'?"),
    (f'metrics = "muk"\nheadline = "muc"\n{HEAD}{TAIL}', "metrics: there is no metric 'muk'"),
    (f'headline = "lea"\nmetrics = "muc"\n{HEAD}{TAIL}', "the headline 'lea' is not a metric here"),
    (f'metrics = "muc, evil:f"\n{HEAD}{TAIL}', "names code, which no file may run"),
    (f'metrics = "muc"\nheadline = "evil:f"\n{HEAD}{TAIL}', "headline: 'evil:f' names code"),
    (f'missing = "no"\n{HEAD}{TAIL}', "missing is one of zero, leave-out, not 'no'"),
    (f'by = "size("\n{HEAD}{TAIL}', "by: 'size(' is not a feature"),
    (f'rate = "f2"\n{HEAD}{TAIL}', "rate is one of recall, precision, f1, accuracy, not 'f2'"),
    (f"title = 3\n{HEAD}{TAIL}", "title is text, not 3"),
    (HEAD, "there are no systems: write [[systems]]"),
    (TAIL, "there are no corpora: write [[corpora]]"),
    (f'{HEAD}protocol = "e3e"\n{TAIL}', "line 1, corpus ‘a’: protocol: there is no protocol 'e3e'"),
    (f"{HEAD}weight = 0\n{TAIL}", "line 1, corpus ‘a’: a weight is a number above 0 and below"),
    (f"{HEAD}weight = 1e308\n{TAIL}", "a weight is a number above 0 and below 1e100, not 1e+308"),
    (f"{HEAD}weight = 1{'0' * 400}\n{TAIL}", "weight is a smaller number, not 1000"),
    (f'{HEAD}weight = "2"\n{TAIL}', "line 1, corpus ‘a’: weight is a number, not '2'"),
    (
        f'{HEAD}key_format = "x"\n{TAIL}',
        "corpus ‘a’: key_format: there is no format 'x'; there are",
    ),
    (f'[[corpora]]\nname = "a"\n{TAIL}', "line 1, corpus ‘a’: it has no key"),
    (f'[[corpora]]\nname = "a"\nkey = "-"\n{TAIL}', "the key is a file, a folder or a pattern"),
    (f"{HEAD}{HEAD}{TAIL}", "line 4, corpus ‘a’: 2 entries called 'a'"),
    (f"{HEAD}{TAIL}{TAIL}", "line 7, system ‘x’: 2 entries called 'x'"),
    (HEAD + TAIL.replace("{corpus}", "a"), "line 4, system ‘x’: its responses, ‘a.x’, have no"),
    (HEAD + TAIL.replace(".x", "{run}"), "line 4, system ‘x’: {run} in its responses is not known"),
    (f"{HEAD}{TAIL}seeds = [1]\n", "line 4, system ‘x’: it has seeds, but no {seed}"),
    (HEAD + TAIL.replace(".x", "{seed}"), "it has {seed} in its responses, but no seeds"),
    (
        HEAD + TAIL.replace(".x", "{seed}") + 'seeds = [1, "1"]',
        "line 4, system ‘x’: the seed '1' appears twice",
    ),
    (f"{HEAD}{TAIL}seeds = 3\n", "seeds is a list of names or numbers, not 3"),
    (f"{HEAD}{TAIL}corpora = []\n", "line 4, system ‘x’: it takes part in no corpus"),
    (f'{HEAD}{TAIL}corpora = ["b"]\n', "line 4, system ‘x’: there is no corpus 'b'"),
    (f"{HEAD}{TAIL}corpora = [\n", "this is not TOML"),
    (f"{HEAD}{TAIL}weight = {'9' * 5000}\n", "this is not TOML"),
    ("corpora = 3\n" + TAIL, "corpora are tables: write [[corpora]]"),
    (HEAD.replace('"a"', '" "') + TAIL, "is not a name: it is blank, or has braces"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_in_a_file_is_told_on_one_line(tmp_path, text, message):
    path = tmp_path / "suite.toml"
    path.write_text(text)
    with pytest.raises(InputError) as found:
        read_suite(path)
    assert message in str(found.value)
    assert str(path) in str(found.value).splitlines()[0]


def test_all_mistakes_of_a_file_are_told(tmp_path):
    path = tmp_path / "suite.toml"
    broken = HEAD + 'protocol = "x"\n' + HEAD + TAIL.replace("{corpus}", "a") + "size = 1\n"
    path.write_text('metrics = "muk, b3"\nheadline = "b3"\n' + broken)
    with pytest.raises(InputError) as found:
        read_suite(path)
    first, *lines = str(found.value).splitlines()
    assert first.endswith("5 mistakes in this suite:")
    for word in ("'size'", "'muk'", "2 entries", "no protocol 'x'", "{corpus}"):
        assert sum(word in line for line in lines) == 1, word


def test_a_file_that_is_not_there_is_one_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_suite(tmp_path / "no.toml")


def test_a_file_may_begin_with_a_byte_order_mark(folder):
    plain = read_suite(folder / "suite.toml")
    path = folder / "marked.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (folder / "suite.toml").read_bytes())
    assert replace(read_suite(path), file=plain.file) == plain


def test_paths_are_relative_to_the_file(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    suite = read_suite(Path(folder.name) / "suite.toml")
    assert os.path.exists(suite.corpora[0].key)
    assert os.path.exists(suite.systems[2].path("talk", "2"))


def test_notices_of_results_come_in_the_same_order_each_time(suite):
    """The order of a set of names differs from one process to the next."""
    outcome = run_suite(suite)
    kinds = [f"odd-{letter}" for letter in "hgfedcba"]
    cells = {
        place: SuiteCell(replace(cell.result, notices=tuple(Notice(one, "odd") for one in kinds)))
        for place, cell in outcome.cells.items()
    }
    told = SuiteResult.of(suite, cells).notices[-1].message
    assert told.endswith(", ".join(f"{one} in {len(cells)} results" for one in kinds))


def test_a_suite_made_in_python_is_checked(suite):
    corpus = suite.corpora[0]
    twice = replace(suite, corpora=(corpus, corpus))
    with pytest.raises(UsageError, match="2 entries called 'news'"):
        run_suite(twice)
    with pytest.raises(UsageError, match="no system takes part"):
        system = SuiteSystem(name="x", responses="{corpus}", corpora=("news",))
        run_suite(replace(suite, systems=(system,)))


# ── cells ──


def test_missing_and_broken_responses_have_their_reasons(folder, suite):
    (folder / "eager" / "talk.jsonl").unlink()
    (folder / "cautious" / "news.jsonl").write_text('{"doc_key": "harbour_1_0", "sentences": [[')
    outcome = run_suite(suite)
    missing, broken = outcome.cells["talk", "eager", None], outcome.cells["news", "cautious", None]
    assert (missing.result, missing.fault) == (None, "response")
    assert missing.problem.endswith("eager/talk.jsonl: there is no such file")
    assert "news.jsonl" in broken.problem
    assert "\n" not in broken.problem
    assert sum(cell.result is not None for cell in outcome.cells.values()) == 10
    told = [notice.message for notice in outcome.notices]
    assert any(one.startswith("eager on talk: counts as 0: ") for one in told)
    scores = outcome.scores()[:, :, 0]
    assert scores[1, 2] == 0
    assert scores[0, 0] == 0
    left_out = replace(outcome, missing="leave-out").scores()[:, :, 0]
    assert np.isnan(left_out[1, 2])
    assert np.isnan(left_out[0, 0])


def test_a_broken_key_leaves_its_corpus_out_for_all(folder, suite):
    (folder / "keys" / "news.conll").write_text("#begin document (a); part 000\na\t0\t0\tx\t(0\n")
    (folder / "keys" / "talk.jsonl").unlink()
    outcome = run_suite(suite)
    assert outcome.sound_corpora == ["fiction"]
    assert np.isnan(outcome.scores()[:, [0, 2]]).all()
    kinds = [notice.kind for notice in outcome.notices]
    assert kinds.count("broken-key") == 2
    assert "no-result" not in kinds


@pytest.mark.parametrize("protocol", ["documents:nowhere*", "match:min"])
@pytest.mark.parametrize("piece_size", [None, "2KB"])
def test_what_no_response_can_help_leaves_its_corpus_out_for_all(suite, protocol, piece_size):
    """A choice that the key cannot bear shows only when both sides are there."""
    corpora = [replace(c, protocol=protocol) if c.name == "talk" else c for c in suite.corpora]
    outcome = run_suite(replace(suite, corpora=tuple(corpora)), piece_size=piece_size)
    assert outcome.sound_corpora == ["news", "fiction"]
    assert np.isnan(outcome.scores()[:, [2]]).all()
    (told,) = (notice for notice in outcome.notices if notice.kind == "broken-key")
    assert told.message.startswith("talk: left out for all systems because of its key: ")


def test_a_corpus_of_broken_responses_alone_counts(folder, suite):
    for system in suite.systems:
        path = folder / system.name / "talk.jsonl"
        if path.exists():
            path.write_text('{"doc_key": "x", "sentences": [[')
    assert "talk" in run_suite(suite).sound_corpora


def test_a_suite_by_the_numbers_of_corefud_scorer(tmp_path):
    """Shared tasks on CorefUD have the numbers of `score`, and checks fail what is refused."""
    data = ROOT / "tests" / "data" / "corefud" / "random"
    names = ("000", "003", "006")
    for folder, side in (("keys", "key"), ("ours", "response")):
        (tmp_path / folder).mkdir()
        for name in names:
            text = (data / f"{name}.{side}.conllu").read_text(encoding="utf-8")
            (tmp_path / folder / f"c{name}.conllu").write_text(text, encoding="utf-8")
    corpora = tuple(
        SuiteCorpus(name=f"c{n}", key=f"{tmp_path}/keys/c{n}.conllu", protocol="corefud-1.2")
        for n in names
    )
    system = SuiteSystem(name="ours", responses=f"{tmp_path}/ours/{{corpus}}.conllu")
    suite = Suite(corpora=corpora, systems=(system,), metrics="conll")
    outcome = run_suite(suite)
    sides = [f"{tmp_path}/{folder}/c003.conllu" for folder in ("keys", "ours")]
    alone = corefeval.score(*sides, protocol="corefud-1.2", metrics="conll")
    cell = outcome.cells["c003", "ours", None].result
    assert cell["conll"] == alone["conll"]
    assert (cell.key, cell.response) == ("c003", "ours")
    assert "of one entity cross" in outcome.cells["c000", "ours", None].problem
    verdicts = {(one.corpus, one.system): one for one in check_suite(suite).verdicts}
    assert verdicts["c000", "ours"].ruling == "failed"
    assert "of one entity cross" in verdicts["c000", "ours"].text
    fine = [verdicts[corpus, who].ruling for corpus in ("c003", "c006") for who in ("", "ours")]
    assert "failed" not in fine


def test_who_has_nothing_is_named(folder, suite):
    shutil.rmtree(folder / "eager")
    for path in folder.glob("*/talk*.jsonl"):
        if path.parent.name != "keys":
            path.unlink()
    told = [notice.message for notice in run_suite(suite).notices]
    assert "eager has no response that could be scored" in told
    assert "talk: no system has a response to it that could be scored" in told


def test_a_system_may_take_part_in_some_corpora(suite):
    some = replace(suite.systems[0], corpora=("news",))
    outcome = run_suite(replace(suite, systems=(some, suite.systems[1])))
    assert outcome.cells["talk", "cautious", None].problem == "the system does not take part"
    assert outcome.cells["news", "cautious", None].result is not None


def test_who_does_not_take_part_fails_nobody(folder, run):
    text = (folder / "suite.toml").read_text()
    assert text.count('name = "eager"') == 1
    text = text.replace('name = "eager"', 'name = "eager"\ncorpora = ["news"]')
    (folder / "suite.toml").write_text(text)
    options = ("--no-tests", "--no-cache", "--strict")
    status, _, err = run("suite", "run", folder / "suite.toml", *options)
    assert status == 0 and "eager on talk: counts as 0: the system does not take part" in err
    (folder / "cautious" / "talk.jsonl").unlink()
    (folder / "cautious" / "news.jsonl").unlink()
    status, _, err = run("suite", "run", folder / "suite.toml", "-q", *options)
    assert status == 3 and [line.partition(":")[0] for line in err.splitlines()] == ["failed"] * 2


def test_features_that_a_corpus_does_not_have_are_left_out_with_a_word(suite):
    outcome = run_suite(replace(suite, by="kind, size"))
    news, talk = (outcome.cells[name, "eager", None].result for name in ("news", "talk"))
    assert [len(one.slices) for one in (news, talk)] == [2, 1]
    assert "skipped-slices" in {notice.kind for notice in talk.notices}


def test_a_feature_that_nobody_has_costs_no_scores(suite):
    outcome = run_suite(replace(suite, by="knd, size"))
    assert len(outcome.scored) == 12
    assert all(list(one.slices) == ["size"] for one in outcome.scored)
    [told] = [one.message for one in outcome.notices if one.kind == "skipped-slices"]
    assert told.startswith("news: no slices by knd: there is no feature 'knd'")


def test_reasons_why_there_are_no_slices_are_on_one_line(suite):
    outcome = run_suite(replace(suite, by="kind"))
    told = [n.message for one in outcome.scored for n in one.notices if n.kind == "skipped-slices"]
    assert told and not any("\n" in message for message in told)


def test_another_programs_numbers_are_cells_too(suite):
    fiction = replace(suite.corpora[0], protocol="coval")
    outcome = run_suite(replace(suite, corpora=(fiction,), by="size", metrics="muc, conll"))
    key, path = fiction.key, suite.systems[0].path("news")
    alone = corefeval.score(key, path, metrics="muc, conll", protocol="coval")
    assert outcome.cells["news", "cautious", None].result["conll"].f1 == alone["conll"].f1


def test_workers_and_pieces_give_the_same(suite):
    plain = run_suite(suite)
    with ThreadPoolExecutor(2) as pool:
        seen: list[tuple[int, int]] = []
        found = run_suite(suite, executor=pool, progress=lambda n, of, _: seen.append((n, of)))
    assert seen[-1] == (12, 12)
    in_pieces = run_suite(suite, piece_size=3000)
    for place, cell in plain.cells.items():
        assert found.cells[place].result.scores == cell.result.scores
        assert in_pieces.cells[place].result["conll"].f1 == pytest.approx(cell.result["conll"].f1)


def test_a_broken_key_is_nobodys_fault_in_pieces_either(folder, suite):
    key = folder / "keys" / "talk.jsonl"
    key.write_text(key.read_text(encoding="utf-8") + "{", encoding="utf-8")
    for size in (None, 2000):
        outcome = run_suite(suite, piece_size=size)
        assert {outcome.cells["talk", one, None].fault for one in ("eager", "cautious")} == {"key"}
        assert "talk" not in outcome.sound_corpora


def test_answers_are_scored_as_a_whole_where_others_are_in_pieces(tmp_path):
    key, response = (corefeval.example(name) for name in ("key", "tagged"))
    (tmp_path / "news.jsonl").write_bytes(Path(response).read_bytes())
    system = SuiteSystem(name="model", responses=f"{tmp_path}/{{corpus}}.jsonl")
    suite = Suite(corpora=(SuiteCorpus(name="news", key=str(key)),), systems=(system,))
    cell = run_suite(suite, piece_size=2000).cells["news", "model", None]
    assert cell.problem == ""
    assert cell.result["conll"] == corefeval.score(key, response)["conll"]


def test_lost_workers_are_no_fault_of_a_response(suite):
    """Responses that could not be looked at do not count 0: the run ends."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(os._exit, 1).exception()
        for size in (None, 2000):
            with pytest.raises(InputError, match="the workers are gone"):
                run_suite(suite, piece_size=size, executor=pool)


# ── saved ──


def test_what_is_saved_is_what_was_there(folder, suite):
    (folder / "eager" / "talk.jsonl").unlink()
    outcome = run_suite(suite, trials=99)
    outcome.save(folder / "kept.json.gz")
    found = load_suite(folder / "kept.json.gz")
    for name in ("corpora", "systems", "metrics", "headline", "rate", "missing", "title"):
        assert getattr(found, name) == getattr(outcome, name)
    assert found.cells == outcome.cells
    assert found.notices == outcome.notices
    assert found.statistics.as_dict() == outcome.statistics.as_dict()
    assert np.array_equal(found.scores(), outcome.scores(), equal_nan=True)
    # It is a file of results, too.
    assert len(corefeval.load_all(folder / "kept.json.gz")) == 11


def test_results_of_a_corpus_can_be_compared(suite):
    compared = corefeval.compare(None, run_suite(suite).results("news"), trials=99)
    assert compared.systems == ("cautious", "eager", "steady")


@pytest.mark.parametrize(
    "damage",
    [
        lambda suite: suite.pop("corpora"),
        lambda suite: suite["corpora"].append(suite["corpora"][0]),
        lambda suite: suite["systems"][0].update(name=3),
        lambda suite: suite.update(missing="x"),
        lambda suite: suite.update(headline="x"),
        lambda suite: suite["problems"].append({"cell": ["news", "eager", None]}),
        lambda suite: suite["corpora"][0].update(weight=-1),
        lambda suite: suite.update(corpora=[]),
    ],
)
def test_a_damaged_file_is_one_error(folder, suite, damage):
    path = folder / "kept.json"
    run_suite(suite).save(path)
    content = json.loads(path.read_text())
    damage(content["suite"])
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="damaged"):
        load_suite(path)


def test_results_that_are_not_of_a_suite_say_so(tmp_path):
    corefeval.score([["a", "b"]], [["a", "b"]]).save(tmp_path / "one.json")
    with pytest.raises(InputError, match="not of a suite"):
        load_suite(tmp_path / "one.json")


def test_an_outcome_has_a_row_for_each_cell_and_metric(folder, suite):
    (folder / "eager" / "talk.jsonl").unlink()
    outcome = run_suite(suite)
    rows = outcome.rows()
    assert len(rows) == 11 * 4 + 1
    [problem] = [row["problem"] for row in rows if row["metric"] is None]
    assert problem.endswith("no such file")
    assert repr(outcome) == "<SuiteResult of 3 × 3 systems, 11 of 12 cells scored>"
    assert outcome.cells["talk", "eager", None] == SuiteCell(
        None, f"{folder / 'eager/talk.jsonl'}: there is no such file", "response"
    )


def test_keys_may_be_folders_and_patterns(folder):
    (folder / "parts").mkdir()
    for name in ("news.conll", "fiction.conllu"):
        shutil.copy(folder / "keys" / name, folder / "parts")
    (folder / "both.jsonl").write_bytes(
        b"".join((folder / "eager" / f"{one}.jsonl").read_bytes() for one in ("news", "fiction"))
    )
    suite = Suite(
        corpora=(SuiteCorpus(name="both", key=str(folder / "parts")),),
        systems=(SuiteSystem(name="x", responses=str(folder / "{corpus}.jsonl")),),
    )
    outcome = run_suite(suite, cache=folder / "kept")
    assert len(outcome.cells["both", "x", None].result.document_ids) == 20
    assert run_suite(suite, cache=folder / "kept").cells == outcome.cells
