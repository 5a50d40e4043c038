"""Results that are kept in files, and come back as they were."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, Result, UsageError, score
from corefeval.cli import main
from corefeval.evaluation import load, load_all
from corefeval.results import CountTable, is_saved, save

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


@pytest.fixture(scope="module")
def result() -> Result:
    return score(KEY, EAGER, metrics="all", by="genre, kind, entity_class", ci=0.9, samples=50)


def same(one: Result, other: Result) -> None:
    assert one.signature == other.signature
    assert (one.document_ids, one.protocol, one.key, one.response) == (
        other.document_ids, other.protocol, other.key, other.response,
    )  # fmt: skip
    assert list(one.tables) == list(other.tables)
    assert one.notices == other.notices
    for metric, table in one.tables.items():
        twin = other.tables[metric]
        assert (table.shape, table.names, table.parts, table.by) == (
            twin.shape, twin.names, twin.parts, twin.by,
        )  # fmt: skip
        if table.values is not None:
            assert np.array_equal(table.values, twin.values)
        assert one[metric] == other[metric]
    assert list(one.slices) == list(other.slices)
    for feature, slices in one.slices.items():
        twins = other.slices[feature]
        assert (slices.level, slices.sizes, slices.undefined) == (
            twins.level, twins.sizes, twins.undefined,
        )  # fmt: skip
        same(slices.whole, twins.whole)
        assert list(slices) == list(twins)
        for value in slices:
            same(slices[value], twins[value])


def test_notices_read_as_before(tmp_path):
    """Heads are told of as several numbers in one notice."""
    result = score(KEY, EAGER, metrics="muc", match="head")
    result.save(tmp_path / "kept.json")
    assert "heads" in {notice.kind for notice in result.notices}
    assert load(tmp_path / "kept.json") == result
    text = re.sub(r'"by tags", ?\d+', '"by tags", -1', (tmp_path / "kept.json").read_text("utf-8"))
    (tmp_path / "bad.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match="damaged"):
        load(tmp_path / "bad.json")


@pytest.mark.parametrize("name", ["kept.json", "kept.json.gz"])
def test_there_and_back(result, tmp_path, name):
    path = tmp_path / name
    result.save(path)
    assert is_saved(path)
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    loaded = load(path)
    same(result, loaded)
    assert loaded["B-cubed"].f1 == result["b3"].f1  # any spelling
    assert (loaded + loaded).document_ids == result.document_ids * 2


@given(st.lists(st.floats(0, 1e300), min_size=2, max_size=5))
def test_every_digit_is_kept(tmp_path_factory, values):
    names = (
        *("recall_numerator", "recall_denominator"),
        *("precision_numerator", "precision_denominator"),
    )
    table = CountTable("ratio", names, np.array(values)[:, None] / np.array([3.0, 1, 7, 1]))
    ids = tuple(map(str, range(len(values))))
    path = tmp_path_factory.getbasetemp() / "digits.json"
    Result({"muc": table}, ids).save(path)
    assert np.array_equal(load(path).tables["muc"].values, table.values)


def test_several_in_one_file(result, tmp_path):
    path = tmp_path / "both.json"
    save([result, replace(result, response="twin")], path)
    assert [one.response for one in load_all(path)] == [result.response, "twin"]
    with pytest.raises(UsageError, match="2 results"):
        load(path)


def damaged(path, change):
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def count(record, value):
    record["results"][0]["tables"]["muc"]["counts"]["recall_numerator"][0] = value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(corefeval_results=99), "version 99"),
        (lambda r: r.pop("corefeval_results"), "not saved results"),
        (lambda r: r.pop("results"), "damaged"),
        (lambda r: r["results"][0].pop("settings"), "damaged"),
        (lambda r: r["results"][0]["documents"].pop(), "damaged"),
        (lambda r: r["results"][0]["tables"]["muc"].update(shape="odd"), "damaged"),
        (lambda r: r["results"][0]["tables"]["muc"]["counts"].popitem(), "damaged"),
        (lambda r: r["results"][0]["tables"].pop("muc"), "damaged"),
        (lambda r: r["results"][0]["settings"].update(aggregate="median"), "aggregate is one of"),
        (lambda r: r["results"].__setitem__(0, None), "damaged"),
        (lambda r: r["results"].clear(), "damaged"),
        (lambda r: count(r, None), "damaged"),
        (lambda r: count(r, float("nan")), "damaged"),
        (lambda r: count(r, -1), "damaged"),
        (lambda r: count(r, 10_000), "damaged"),
        (lambda r: r["results"][0]["tables"]["conll"].update(parts=[]), "damaged"),
        (lambda r: r["results"][0]["notices"][0].update(count=float("inf")), "damaged"),
    ],
)
def test_damaged_files(tmp_path, change, message):
    path = tmp_path / "kept.json"
    score(KEY, EAGER, metrics="conll").save(path)
    damaged(path, change)
    with pytest.raises(InputError, match=message):
        load(path)


def first(record):
    return record["results"][0]


def tables(record):
    return first(record)["tables"]


def genre(record):
    return first(record)["slices"]["genre"]


@pytest.mark.parametrize(
    "value", ["1", "", True, False, None, [1], {}, -1, -0.5, 1e400, 10**400, float("nan")]
)
@pytest.mark.parametrize(
    "place",
    [
        lambda r, v: tables(r)["muc"]["counts"]["recall_numerator"].__setitem__(0, v),
        lambda r, v: tables(r)["muc"]["counts"]["precision_denominator"].__setitem__(-1, v),
        lambda r, v: first(r)["notices"][0].update(count=v),
        lambda r, v: genre(r)["sizes"].update({next(iter(genre(r)["sizes"])): v}),
        lambda r, v: first(r).update(ci=v),
        lambda r, v: first(r)["intervals"]["muc"]["f1"].__setitem__(0, v),
        lambda r, v: first(r)["intervals"]["muc"].update(f1=[v, v]),
        lambda r, v: first(r).update(whole_rates={"muc": {"f1": v}}),
        lambda r, v: next(iter(genre(r)["values"].values()))["tables"]["muc"]["counts"][
            "recall_numerator"
        ].__setitem__(0, v),
    ],
)  # fmt: skip
def test_what_is_no_number(result_file, place, value):
    damaged(result_file, lambda record: place(record, value))
    with pytest.raises(InputError, match="damaged"):
        load(result_file)


@pytest.fixture
def result_file(saved_bytes, tmp_path):
    path = tmp_path / "kept.json"
    path.write_bytes(saved_bytes)
    return path


@pytest.fixture(scope="module")
def saved_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "kept.json"
    score(KEY, EAGER, metrics="conll", by="genre", ci=0.9, samples=50).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("value", [1, 0.5, True, None, ["a"], {"a": "b"}])
@pytest.mark.parametrize(
    "place",
    [
        lambda r, v: first(r)["documents"].__setitem__(0, v),
        lambda r, v: first(r).update(key=v),
        lambda r, v: first(r).update(response=v),
        lambda r, v: first(r).update(key_digest=v),
        lambda r, v: first(r)["settings"].update(aggregate=v),
        lambda r, v: first(r)["settings"].update(match=v),
        lambda r, v: first(r)["titles"].update(muc=v),
        lambda r, v: first(r)["notices"][0].update(kind=v),
        lambda r, v: first(r)["notices"][0].update(text=v),
        lambda r, v: first(r)["notices"][0].update(items=[v]),
        lambda r, v: tables(r)["muc"].update(shape=v),
        lambda r, v: tables(r)["muc"].update(by=v),
        lambda r, v: tables(r)["conll"].update(parts=[v]),
        lambda r, v: genre(r).update(level=v),
        lambda r, v: genre(r)["special"].update(none=v),
        lambda r, v: genre(r)["undefined"].update(muc=v),
    ],
)
def test_what_is_no_text(result_file, place, value):
    damaged(result_file, lambda record: place(record, value))
    with pytest.raises(InputError, match="damaged"):
        load(result_file)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: first(r).update(documents="123456789"),
        lambda r: first(r)["notices"][0].update(items="ab"),
        lambda r: first(r)["notices"][0].update(count=1.0),
        lambda r: tables(r)["conll"].update(parts="muc"),
        lambda r: tables(r)["conll"].update(parts=["conll"]),
        lambda r: tables(r)["muc"].update(parts=["b3"]),
        lambda r: first(r)["tables"].update(muc=tables(r).pop("muc")),  # behind its mean
        lambda r: tables(r)["muc"]["counts"].update(recall_numerator={"0": 1}),
        lambda r: tables(r)["muc"]["counts"].update(recall_numerator="123456789"),
        lambda r: tables(r)["muc"]["counts"].update(recall_denominator=[1e308] * 9),
        lambda r: first(r)["intervals"]["muc"].update(f1=[0.5, 0.4]),
        lambda r: first(r)["intervals"]["muc"].update(f1=[0.5]),
        lambda r: first(r)["intervals"]["muc"].update(f1="01"),
        lambda r: first(r)["intervals"].update(lea={"f1": [0.1, 0.2]}),
        lambda r: first(r).update(ci=1),
        lambda r: first(r).update(ci=0),
        lambda r: first(r).update(whole_rates={"muc": {"f1": 1.5}}),
        lambda r: r.update(results={"a": first(r)}),
    ],
)
def test_what_is_of_the_wrong_form(result_file, change):
    damaged(result_file, change)
    with pytest.raises(InputError, match="damaged"):
        load(result_file)


@pytest.mark.parametrize("version", ["true", "1.0", '"1"', "[1]"])
def test_versions_that_are_none(result_file, version):
    text = result_file.read_text().replace('results":1', f'results":{version}', 1)
    result_file.write_text(text)
    with pytest.raises(InputError, match="are of version"):
        load(result_file)


def test_nothing_is_said_twice(result_file):
    text = result_file.read_text().replace('"recall_numerator":[', '"precision_numerator":[', 1)
    result_file.write_text(text)
    with pytest.raises(InputError, match="'precision_numerator' appears twice"):
        load(result_file)


def test_the_error_names_the_place(result_file, capfd):
    damaged(result_file, lambda record: count(record, "1"))
    assert main(["score", str(result_file)]) == 1
    said = capfd.readouterr().err
    assert str(result_file) in said and "muc recall_numerator: '1' is not a number" in said


@pytest.mark.parametrize("data", [b"", b"#begin", b"[1]", b'{"corefeval_results":1', b"\xff\xfe"])
def test_foreign_and_broken_files(tmp_path, data):
    path = tmp_path / "other.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match="not saved results"):
        load(path)
    path.write_bytes(gzip.compress(data or b"x")[:-5])
    with pytest.raises(InputError):
        load(path)
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="cannot be saved"):
        score(KEY, EAGER, metrics="muc").save(tmp_path / "no" / "folder.json")


# On the command line


def test_a_compressed_file_with_a_wrong_byte(tmp_path):
    path = tmp_path / "kept.json.gz"
    score(KEY, EAGER, metrics="conll").save(path)
    data = bytearray(path.read_bytes())
    for place in range(20, len(data), 97):
        broken = data.copy()
        broken[place] ^= 0xFF
        path.write_bytes(broken)
        with pytest.raises(InputError):
            load(path)


def test_sums_of_slices_have_no_intervals():
    def scored(genre):
        key = {f"{genre}/{number}": [["a", "b", "c"]] for number in range(3)}
        response = {name: [["a", "b"]] for name in key}
        return score(key, response, metrics="muc", by="genre", ci=0.9, samples=20)

    total = scored("nw") + scored("fi")
    assert total.ci is None
    assert all(part.ci is None for part in total.by("genre").values())


def test_scored_again_without_the_data(run, tmp_path):
    path = tmp_path / "kept.json.gz"
    status, first, _ = run("score", KEY, EAGER, "-m", "conll,lea", "--ci", "--save", path, "-q")
    assert status == 0
    assert run("score", path, "-q") == (0, first, "")
    assert run("score", path)[2].startswith("note: eager.conll: 1 repeated mention")
    only = json.loads(run("score", path, "-m", "muc", "-f", "json")[1])
    assert list(only["responses"][0]["scores"]) == ["muc"]
    both = run("score", KEY, CAUTIOUS, f"old={path}", "-m", "muc", "-f", "json")[1]
    assert [one["name"] for one in json.loads(both)["responses"]] == ["cautious.conll", "old"]


def test_slices_are_kept(run, tmp_path):
    path = tmp_path / "kept.json"
    first = run("score", KEY, EAGER, "-m", "muc", "--by", "kind", "--save", path, "-q")[1]
    assert run("score", path, "--by", "kind", "-q")[1] == first
    status, _, err = run("score", path, "--by", "genre")
    assert status == 2
    assert "without slices by genre: there are kind" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "blanc"), "was saved without blanc: there are muc, b3, ceafe, conll"),
        (("--singletons", "drop"), "was scored with singletons keep"),
        (("--documents", "bc/*"), "leave out documents bc/*"),
        (("--aggregate", "macro"), "was scored with aggregate micro"),
        ((EAGER,), "needs a key before it"),
    ],
)
def test_what_saved_results_cannot_do(run, tmp_path, arguments, message):
    path = tmp_path / "kept.json"
    run("score", KEY, EAGER, "-m", "conll", "--save", path)
    status, _, err = run("score", path, *arguments)
    assert status == 2
    assert message in err


def test_slices_have_the_name_that_is_given_to_a_result(run, tmp_path):
    kept = str(tmp_path / "kept.json")
    run("score", KEY, EAGER, "-m", "lea", "--by", "kind", "--save", kept)
    status, out, _ = run("score", f"one={kept}", f"two={kept}", "-f", "csv")
    assert status == 0
    names = [line.split(",")[0] for line in out.splitlines()[1:]]
    assert names == ["one"] * 4 + ["two"] * 4


def test_nothing_is_overwritten(run, tmp_path):
    path = tmp_path / "kept.json"
    run("score", KEY, EAGER, "-m", "muc", "--save", path)
    before = path.read_bytes()
    for option in ("--save", "-o"):
        assert run("score", path, option, path)[0] == 2
    assert path.read_bytes() == before


def test_intervals_of_saved_results(run, tmp_path):
    path = tmp_path / "kept.json"
    run("score", KEY, EAGER, "-m", "muc", "--save", path)
    expected = run("score", KEY, EAGER, "-m", "muc", "--ci", "-q")[1]
    assert run("score", path, "--ci", "-q")[1] == expected


def test_intervals_of_rates_above_one_are_read_again(run, tmp_path):
    """coval's CEAFm divides by the number of entities."""
    path = tmp_path / "kept.json"
    command = ("score", KEY, KEY, "--protocol", "coval", "-m", "ceafm", "--ci", "-q")
    status, out, _ = run(*command, "--save", path)
    assert status == 0
    assert run("score", path, "-q")[:2] == (0, out)


def test_results_of_another_key_are_refused(run, tmp_path):
    """The file of a result knows which entities the key had."""
    saved = tmp_path / "eager.json"
    score(KEY, EAGER, metrics="muc").save(saved)
    other = tmp_path / "other.json"
    score(CAUTIOUS, EAGER, metrics="muc").save(other)
    for command in ("score", "compare"):
        arguments = [str(CAUTIOUS), str(saved), *([str(EAGER)] if command == "compare" else [])]
        status, _, error = run(command, *arguments, "-m", "muc")
        assert (status, "another key" in error) == (2, True)
    assert run("score", str(tmp_path / "nowhere.conll"), str(saved))[0] == 1
    status, _, error = run("compare", str(saved), str(other))
    assert (status, "different keys" in error) == (2, True)
    with pytest.raises(UsageError, match="another key"):
        corefeval.compare(CAUTIOUS, {"a": load(saved), "b": EAGER}, metrics="muc")
    same = corefeval.compare(None, {"a": load(saved), "b": load(saved)}, metrics="muc")
    assert same.systems == ("a", "b")
    with pytest.raises(UsageError, match="two responses"):
        corefeval.compare(KEY, str(EAGER))


def test_two_outputs_are_two_files(run, tmp_path):
    path = str(tmp_path / "same.json")
    status, _, error = run("score", KEY, EAGER, "-f", "json", "-o", path, "--save", path)
    assert (status, "same file" in error) == (2, True)
