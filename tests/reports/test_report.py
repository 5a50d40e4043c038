"""The report: what its data say, and the command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import corefeval
from corefeval.analysis.errors import KINDS, analyse
from corefeval.diagnostics import InputError, UsageError
from corefeval.reports import Report, report
from html_pages import Page

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


@pytest.fixture(scope="module")
def made() -> Report:
    return report(KEY, {"cautious": CAUTIOUS, "eager": EAGER}, title="The example")


def data_of(made: Report) -> dict:
    return json.loads(Page(made.html).text_of("data"))


def test_the_page_has_the_data_as_they_are(made):
    assert data_of(made) == json.loads(json.dumps(made.payload))


def test_scores_are_those_of_score(made):
    for place, path in enumerate((CAUTIOUS, EAGER)):
        result = corefeval.score(KEY, path, ci=0.95)
        for metric in result.metrics:
            shown = made.payload["scores"][metric][place]
            assert shown["f1"] == pytest.approx(result[metric].f1, abs=1e-6)
            low, high = result[metric].intervals["f1"]
            assert shown["intervals"]["f1"] == pytest.approx([low, high], abs=1e-6)
            by_document = made.payload["byDocument"][metric][place]["f1"]
            assert by_document == pytest.approx([d[metric].f1 for d in result.documents], abs=1e-5)


def test_mentions_and_errors_are_those_of_the_analysis(made):
    errors = analyse(KEY, EAGER).classification
    documents = made.payload["systems"][1]["documents"]
    for number, kind in enumerate(KINDS):
        marked = sum(bits >> number & 1 for one in documents for bits in one["wrong"])
        missing = sum(
            bits >> number & 1
            for one in documents
            for k, bits in enumerate(one["keyWrong"])
            if k not in one["twin"]
        )
        assert marked + missing == int(errors.of_kind(kind).sum())
    key = corefeval.read(KEY)
    for document, shown in zip(key, made.payload["texts"][0], strict=True):
        assert shown["words"].split(" ") == document.words
        assert shown["start"] == [mention.start for mention in document.mentions]
        assert shown["sentences"][0] == 0 and len(shown["sentences"]) == len(document.sentences)


def test_a_perfect_document_gives_back_the_points_that_it_lost(made):
    key, response = corefeval.read(KEY), corefeval.read(EAGER)
    whole = corefeval.score(key, response)
    for place in (0, 4):
        rest = np.array([index for index in range(len(key.documents)) if index != place])
        parts = [
            corefeval.score(key.select_documents(rest), response.select_documents(rest)),
            corefeval.score(key[place], key[place]),
        ]
        better = parts[0] + parts[1]
        for metric, lost in made.payload["systems"][1]["lost"].items():
            gain = better[metric].f1 - whole[metric].f1
            assert lost[place] == pytest.approx(max(gain, 0), abs=1e-6)


def test_costs_add_up_to_the_loss(made):
    result = corefeval.score(KEY, EAGER, metrics="muc, b3, lea")
    documents = made.payload["systems"][1]["documents"]
    for name, rate in (("keyCost", "recall"), ("cost", "precision")):
        loss = np.mean([1 - result[metric].rates[rate] for metric in result.metrics]) / 2
        total = sum(sum(one[name]) for one in documents) / 1e6
        assert total == pytest.approx(loss, abs=1e-3)


def test_differences_are_those_of_the_comparison(made):
    first, second = (corefeval.score(KEY, path) for path in (CAUTIOUS, EAGER))
    for one in made.payload["differences"]:
        assert (one["first"], one["second"]) == (0, 1)
        expected = first[one["metric"]].f1 - second[one["metric"]].f1
        assert one["difference"] == pytest.approx(expected, abs=1e-6)
        assert one["interval"][0] <= one["difference"] <= one["interval"][1]


def test_slices_that_the_data_do_not_have_are_left_out_and_told():
    made = report({"a": [["x", "y"]]}, {"mine": {"a": [["x", "y"]]}}, by=["kind", "size"])
    assert [one["feature"] for one in made.payload["slices"]] == ["size"]
    assert any("no slices by kind" in str(notice) for notice in made.notices)
    assert any("no slices by kind" in text for text in made.payload["systems"][0]["notices"])


def test_labels_become_tokens_one_line_per_entity():
    made = report([["Ada", "she"], ["it"]], {"mine": [["Ada", "it", "zero"]]}, metrics="b3")
    shown = made.payload["texts"][0][0]
    assert (shown["words"], shown["sentences"]) == ("Ada she it zero", [0, 2, 3])
    response = made.payload["systems"][0]["documents"][0]
    assert (response["start"], response["twin"]) == ([0, 2, 3], [0, 2, -1])


def test_words_with_blanks_stay_one_token():
    made = report([["New York", "it"]], {"mine": [["New York", "it"]]}, metrics="b3")
    assert len(made.payload["texts"][0][0]["words"].split(" ")) == 2


def test_texts_without_tokens_are_cut_where_mentions_begin_and_end(tmp_path):
    text = "Ada went. She sat.\nUnderdog barked."
    spans = {"key": [(0, 3), (10, 13), (24, 27)], "response": [(0, 3), (10, 13)]}
    for side, places in spans.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "x.txt").write_text(text)
        lines = [f"T{n}\tEntity {a} {b}\t{text[a:b]}\n" for n, (a, b) in enumerate(places)]
        lines.append("R1\tCoref Arg1:T0 Arg2:T1\n")
        (tmp_path / side / "x.ann").write_text("".join(lines))
    made = report(tmp_path / "key", {"mine": tmp_path / "response"}, metrics="b3")
    shown = made.payload["texts"][0][0]
    words = shown["words"].split(" ")
    assert words == ["Ada", "went", ".", "She", "sat", ".", "Under", "dog", "barked", "."]
    assert [words[start] for start in shown["start"]] == ["Ada", "She", "dog"]
    assert shown["glued"] == [2, 5, 7, 9] and shown["sentences"] == [0, 6]


def test_responses_with_other_empty_nodes_share_the_text_of_the_key(tmp_path):
    node = "1.1\tshe\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)\n"
    lines = "# newdoc id = d\n# global.Entity = eid\n# sent_id = 1\n"
    lines += "1\tAda\t_\t_\t_\t_\t0\t_\t_\tEntity=(e1)\n{}2\tcame\t_\t_\t_\t_\t1\t_\t_\t_\n{}\n"
    more = node.replace("1.1", "2.1").replace("e1", "e2")
    nodes = {"key": (node, ""), "less": ("", ""), "more": (node, more)}
    for name, some in nodes.items():
        (tmp_path / f"{name}.conllu").write_text(lines.format(*some))
    paths = {name: tmp_path / f"{name}.conllu" for name in nodes}
    made = report(paths["key"], paths, metrics="b3", by=())
    assert [one["version"] for one in made.payload["systems"]] == [0, 0, 0]
    assert [texts[0]["count"] for texts in made.payload["texts"]] == [3]


def test_without_text_there_are_no_words(made):
    page = report(KEY, {"mine": EAGER}, text=False, title="T")
    assert "words" not in page.payload["texts"][0][0]
    data = Page(page.html).text_of("data")
    words = {word for document in corefeval.read(KEY) for word in document.words if len(word) > 5}
    known = {word for word in words if word in re.findall(r"\w+", made_of_our_words(made))}
    assert len(words - known) > 100
    assert not [word for word in words - known if word in re.findall(r"\w+", data)]


def made_of_our_words(made: Report) -> str:
    """What the page says by itself: names of documents, features, kinds of errors, notices."""
    kept = {name: value for name, value in made.payload.items() if name not in ("texts", "systems")}
    return json.dumps(kept) + json.dumps([one["notices"] for one in made.payload["systems"]])


def test_a_real_test_set_is_small(shared):
    gum = shared / "gum"
    made = report(gum / "key.conll", [gum / "baseline.conll", gum / "cort-pair.conll"])
    assert len(made.html.encode()) < 2_500_000  # 36 documents; 350 must stay below 15 MB


def test_responses_have_names():
    entities = [["a", "b"]]
    one = report(KEY, CAUTIOUS, by=(), ci=None)
    assert [system["name"] for system in one.payload["systems"]] == ["cautious.conll"]
    twice = report(KEY, [CAUTIOUS, CAUTIOUS], metrics="b3", by=(), ci=None)
    names = [one["name"] for one in twice.payload["systems"]]
    assert names == ["cautious.conll", "cautious.conll (2)"]
    plain = report(entities, [entities], metrics="b3", by=())
    assert plain.payload["systems"][0]["name"] == "response 1"


@pytest.mark.parametrize("responses", [[], {}, 7])
def test_no_response_is_an_error(responses):
    with pytest.raises(UsageError, match="response"):
        report(KEY, responses)


def test_without_the_library_of_charts_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("corefeval.reports.page.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install vl-convert-python"):
        report(KEY, CAUTIOUS)


def test_saving_where_one_cannot_is_an_error(made, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        made.save(tmp_path / "no" / "such" / "folder.html")


def test_a_single_document_has_a_report():
    made = report([["a", "b"]], {"mine": [["a"], ["b"]]})
    assert made.payload["differences"] == []
    assert repr(made) == "<Report of 1 document, 1 response>"


def test_nothing_at_all_has_a_report():
    assert "<main" in report([], {"nothing": []}).html


def test_the_command_writes_a_file(run, tmp_path):
    path = tmp_path / "report.html"
    status, out, err = run("report", KEY, f"mine={CAUTIOUS}", EAGER, "--output", path)
    assert status == 0, err
    assert out.startswith(f"{path}: 9 documents, 2 responses")
    assert "mine" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("match", ["exact", "exact,head"])
def test_an_error_names_the_file_and_not_what_a_page_would_call_it(run, tmp_path, match):
    other = tmp_path / "other.conll"
    other.write_text("#begin document (x); part 000\nx 0 0 a (1)\n#end document\n")
    status, _, err = run("report", KEY, other, "-o", tmp_path / "page.html", "--match", match)
    assert status != 0
    assert err.startswith(f"error: {other}: no document of the response is in the key")


def test_the_command_puts_the_best_first_and_ranks(run, tmp_path):
    shown = {}
    for sort in ("score", "given"):
        path = tmp_path / f"{sort}.html"
        command = (
            "report",
            KEY,
            CAUTIOUS,
            EAGER,
            "-m",
            "muc,ceafe",
            "-b",
            "size",
            "-o",
            path,
            "-q",
        )
        assert run(*command, "--sort", sort)[0] == 0
        shown[sort] = json.loads(Page(path.read_text(encoding="utf-8")).text_of("data"))
    names = {sort: [one["name"] for one in page["systems"]] for sort, page in shown.items()}
    assert names == {"score": ["eager", "cautious"], "given": ["cautious", "eager"]}
    assert shown["score"]["ranks"] == {"muc": [1, 2], "ceafe": [1, 1]}
    assert shown["given"]["ranks"]["muc"] == [2, 1]
    ways = report(KEY, [CAUTIOUS, EAGER], match="exact, head", metrics="muc", by=(), sort="score")
    assert [one["name"] for one in ways.payload["systems"]] == [
        f"{name}.conll ({match})" for name in ("eager", "cautious") for match in ("exact", "head")
    ]
    with pytest.raises(UsageError, match="sort is one of"):
        report(KEY, CAUTIOUS, sort="worst")


def test_the_command_leaves_words_out(run, tmp_path):
    path = tmp_path / "report.html"
    assert run("report", KEY, EAGER, "-o", path, "--no-text", "--by", "genre", "-q")[0] == 0
    data = json.loads(Page(path.read_text(encoding="utf-8")).text_of("data"))
    assert not data["text"] and [one["feature"] for one in data["slices"]] == ["genre"]


def test_the_command_does_not_overwrite_its_input(run, tmp_path):
    path = tmp_path / "key.conll"
    path.write_bytes(Path(KEY).read_bytes())
    status, _, err = run("report", path, EAGER, "--output", path)
    assert status == 2 and "overwrite" in err
    assert run("report", KEY, EAGER, EAGER, "-o", tmp_path / "x.html")[0] == 2


@pytest.mark.parametrize("feature", ["head", "words", "speaker", "column(word)", "column(4)"])
def test_without_text_no_slice_shows_a_word(feature):
    """A feature may have the words of the text as its values."""
    made = report(KEY, {"eager": EAGER}, by=[feature, "kind"], text=False, ci=None)
    corpus = corefeval.read(KEY)
    words = {w.lower() for d in corpus for m in d.mentions for w in m.words if len(w) > 4}
    shown = json.dumps(made.payload, ensure_ascii=False).lower()
    assert not [word for word in words if f'"{word}"' in shown]
    assert any("words of the text" in str(notice) for notice in made.notices)
    assert '"kind"' in shown


def test_empty_texts_are_reported(tmp_path):
    records = [
        {"doc_key": "empty", "text": "", "clusters": []},
        {"doc_key": "full", "text": "Ada slept", "clusters": [[[0, 3]]]},
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    page = corefeval.report(str(path), str(path)).html
    assert "Ada" in page


def test_a_switch_for_ways_to_match_mentions(run, tmp_path):
    made = report(KEY, {"one": EAGER, "two": CAUTIOUS}, match="exact, head", metrics="conll")
    systems = made.payload["systems"]
    names = ["one (exact)", "one (head)", "two (exact)", "two (head)"]
    assert [one["name"] for one in systems] == names
    assert ["match:head" in one["signature"] for one in systems] == [False, True] * 2
    pairs = {(one["first"], one["second"]) for one in made.payload["differences"]}
    assert pairs == {(0, 2), (1, 3)}, "only results of one match are tested against each other"
    page = tmp_path / "page.html"
    status, _, _ = run("report", KEY, EAGER, "--match", "exact,head", "-m", "muc", "-o", page)
    assert status == 0
    assert "eager (head)" in page.read_text()
