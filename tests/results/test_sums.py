"""Sums of results: the same as scoring everything at once, whatever the parts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import Notice, Result, UsageError
from corefeval.diagnostics import merge_notices
from corefeval.features.annotations import HEAD_RULES
from corefeval.model.identity import digest
from corefeval.protocol import HEADS

KEY, RESPONSE = (corefeval.example(name) for name in ("key", "eager"))


@pytest.fixture(scope="module")
def corpora():
    return corefeval.read(KEY), corefeval.read(RESPONSE)


def pieces(corpora, cuts):
    """The results of parts of the corpora: `cuts` are lists of documents."""
    key, response = corpora
    places = {document: index for index, document in enumerate(response.documents)}
    for cut in cuts:
        rows = np.array(cut)
        others = np.array([places[key.documents[index]] for index in cut])
        yield corefeval.score(
            key.select_documents(rows), response.select_documents(others), by="kind, genre"
        )


def test_parts_add_up_to_the_whole(corpora):
    whole = corefeval.score(*corpora, by="kind, genre")
    parts = list(pieces(corpora, ([0, 1, 2], [3], [4, 5, 6, 7, 8])))
    total = Result.total(parts)
    for metric, table in whole.tables.items():
        for name, column in table.columns().items():
            assert total.tables[metric].columns()[name] == pytest.approx(column, abs=1e-12)
    assert total.document_ids == whole.document_ids
    assert total.key_digest == whole.key_digest != ""
    assert total.signature == whole.signature
    assert total == sum(parts) == parts[0] + parts[1] + parts[2]
    for feature in ("kind", "genre"):
        assert dict(total.by(feature).sizes) == dict(whole.by(feature).sizes)
        for value, part in whole.by(feature).items():
            for metric, score in part.scores.items():
                rates = total.by(feature)[value][metric].rates
                assert rates == pytest.approx(dict(score.rates), abs=1e-12)


@settings(max_examples=20)
@given(st.permutations(range(9)), st.integers(1, 8))
def test_digests_add_up_in_any_order(corpora, order, cut):
    key = corpora[0]
    parts = [np.array(order[:cut]), np.array(order[cut:])]
    results = [
        replace(corefeval.score([["a"]], [["a"]]), key_digest=digest(key.select_documents(p)))
        for p in parts
    ]
    assert sum(results).key_digest == sum(reversed(results)).key_digest == digest(key)


def test_the_digest_of_a_sum_is_unknown_where_one_is(corpora):
    first, second = pieces(corpora, ([0], [1]))
    assert (first + replace(second, key_digest="")).key_digest == ""
    assert (first + first).key_digest != first.key_digest


def test_the_digest_sees_entities_and_documents():
    one = corefeval.corpus_from_entities({"d": [["a", "b"], ["c"]]})
    others = (
        {"d": [["a"], ["b", "c"]]},
        {"d": [["a", "b", "c"]]},
        {"e": [["a", "b"], ["c"]]},
        {"d": [["a", "b"]]},
        {"d": [["a", "b"], ["c"]], "e": []},
    )
    digests = {digest(corefeval.corpus_from_entities(other)) for other in others}
    assert len(digests) == len(others) and digest(one) not in digests
    assert digest(corefeval.corpus_from_entities({"d": [["c"], ["a", "b"]]})) == digest(one)


def test_many_parts_join_at_one_go(monkeypatch):
    """Neither recursion nor a copy for each part: each table is concatenated once."""
    part = corefeval.score({"d": [["a", "b", "c"]]}, {"d": [["a", "b"]]}, metrics="muc, b3, conll")
    calls = []
    concatenate = np.concatenate

    def count(arrays, *args, **options):
        calls.append(len(arrays))
        return concatenate(arrays, *args, **options)

    monkeypatch.setattr(np, "concatenate", count)
    total = Result.total([part] * 20_000)
    tables = [table for table in part.tables.values() if table.values is not None]
    assert calls == [20_000] * len(tables)
    assert len(total.document_ids) == 20_000
    assert total["muc"].counts["recall_denominator"] == 40_000
    assert total["muc"].f1 == pytest.approx(part["muc"].f1)


def test_notices_merge_and_lose_nothing():
    def result(*notices):
        return replace(corefeval.score([["a", "b"]], [["a", "b"]], metrics="muc"), notices=notices)

    cut = "x.conll: {n} cut: {items}"
    first = result(Notice("cut", cut, 2, ("a", "b"), "document"), Notice("odd", "something odd"))
    second = result(Notice("new", "only here"), Notice("cut", cut, 1, ("c",), "document"))
    total = first + second
    assert [str(notice) for notice in total.notices] == [
        "x.conll: 3 documents cut: ‘a’, ‘b’, ‘c’",
        "something odd",
        "only here",
    ]
    assert (total + second).notices[0].count == 4
    kinds = {notice.kind for notice in (*first.notices, *second.notices)}
    assert {notice.kind for notice in total.notices} == kinds
    other = Notice("cut", "y.conll: {n} cut: {items}", 1, ("d",), "document")
    assert len(merge_notices((*total.notices, other))) == 4


def test_real_notices_merge(conll):
    """The parts of one file count what they drop, and the sum counts it together."""
    text = "#begin document ({0}); part 000\n{0} 0 0 a (1)|(2)\n{0} 0 1 b (1)\n\n#end document\n"
    key = corefeval.read(conll("".join(text.format(name) for name in "abc")))
    parts = [key.select_documents(np.array([index])) for index in range(3)]
    total = Result.total(corefeval.score(part, part) for part in parts)
    whole = corefeval.score(key, key)
    assert whole.notices and total.notices == whole.notices


def test_every_notice_that_counts_on_the_way_to_a_score_can_be_merged():
    """A number in the text would keep notices of two parts apart."""
    source = Path(corefeval.__file__).parent
    rooms = ("formats", "model", "live", "pairing", "slicing.py")
    paths = [path for path in source.rglob("*.py") if path.relative_to(source).parts[0] in rooms]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    assert sum("Notice(" in text for text in texts) > 5
    fixed = [
        call
        for text in texts
        for call in re.findall(r"Notice\((?:[^()]|\([^()]*\))*\)", text)
        if "plural(" in call
    ]
    assert not fixed


def test_results_of_segments_refuse(tmp_path):
    lines = [f"x 0 0 he ({n % 3})\n" + "\n" * (n % 4 == 3) for n in range(400)]
    path = tmp_path / "novel.conll"
    path.write_text("#begin document (x); part 000\n" + "".join(lines) + "#end document\n")
    parts = corefeval.score(path, path, metrics="muc", as_segments=True)
    with pytest.raises(UsageError, match="segments of a single document"):
        parts + parts
    whole = corefeval.score(path, path, metrics="muc", ci=0.9, samples=20)
    assert (whole + whole).ci is None  # intervals do not add up, and are left out


def test_what_differs_is_named():
    one, other = (
        corefeval.score([["a", "b"]], [["a", "b"]], metrics="muc", singletons=choice)
        for choice in ("keep", "drop")
    )
    with pytest.raises(UsageError, match="singletons:drop"):
        one + other
    with pytest.raises(UsageError, match="different slices"):
        one + corefeval.score([["a", "b"]], [["a", "b"]], metrics="muc", by="size")
    with pytest.raises(UsageError, match="no results"):
        Result.total([])
    assert Result.total([one]) == one == sum([one])


def corefud(name: str, header: str, *cells: str) -> str:
    """A document of CorefUD whose words depend on the first one, with these brackets."""
    lines = [f"# newdoc id = {name}", f"# global.Entity = {header}", f"# sent_id = {name}"]
    for number, cell in enumerate(cells, start=1):
        entity = f"Entity={cell}" if cell else "_"
        fields = (number, "w", "_", "NOUN", "NN", "_", int(number > 1), "dep", "_", entity)
        lines.append("\t".join(map(str, fields)))
    return "\n".join([*lines, "", ""])


@pytest.mark.parametrize("match", ["head", "partial"])
def test_what_told_heads_adds_up(tmp_path, match):
    texts = [
        corefud("several", "eid-etype-head", "(e-x-2", "e)", "(e-x-1)"),
        corefud("single", "eid-etype-head", "(f-x-1)", "", "(f-x-1)"),
        corefud("outside", "eid-etype-head", "(g-x-9", "g)", "(g-x-1)"),
    ]
    key = tmp_path / "key.conllu"
    results = []
    for text in (*texts, "".join(texts)):
        key.write_text(text)
        results.append(corefeval.score(key, key, match=match))
    *parts, whole = results
    assert HEADS == HEAD_RULES
    assert [part.protocol.heads for part in parts] == ["file", "none", "dependencies"]
    assert whole.protocol.heads == "file+dependencies"
    for order in (parts, parts[::-1]):
        assert Result.total(order).signature == whole.signature


def test_what_each_part_found_out_is_in_the_sum():
    result = corefeval.score([["a"]], [["a"]])
    found = {"spans": "inclusive"}, {"tagset": "penn"}, {"heads": "tags"}
    parts = [replace(result, protocol=result.protocol.but(**one)) for one in found]
    expected = result.protocol.but(spans="inclusive", tagset="penn", heads="tags")
    assert Result.total(parts).protocol == expected
    with pytest.raises(UsageError, match="do not add up"):
        Result.total([*parts, replace(result, protocol=result.protocol.but(tagset="upos"))])


def test_ledgers_of_answers_add_up(tmp_path):
    parts = [corefeval.score(KEY, corefeval.example(name)) for name in ("tagged", "listed")]
    plain = corefeval.score(KEY, RESPONSE)
    total = sum([plain, *parts])
    for name in ("written", "placed", "changed", "repeated", "lost"):
        assert total.answers[name] == sum(part.answers[name] for part in parts)
    documents = [document for part in parts for document in part.answers["documents"]]
    assert total.answers["documents"] == documents
    assert not total.answers["conll"]  # of other readings nothing is counted
    assert plain.answers == {} == (plain + plain).answers
    total.save(tmp_path / "saved.json")
    assert corefeval.load(tmp_path / "saved.json") == total
