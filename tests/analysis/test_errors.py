"""Error analysis: kinds of errors, wrong spans, and what fixing them gains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linear_sum_assignment

import corefeval
from corefeval import corpus_from_arrays, corpus_from_entities
from corefeval.analysis.errors import KINDS, analyse, error_kind
from corefeval.metrics import REGISTRY, Metric
from error_strategies import as_documents, by_label, by_position, labelled, sides
from strategies import corpora

ALL = "all"


def counts(analysis) -> dict[str, int]:
    return {row.kind: row.count for row in analysis.kinds if row.count}


# What there is


def test_kinds_of_errors():
    key = [["a", "b", "c", "d"], ["e", "f"], ["g", "h"], ["i"]]
    response = [["a", "b", "e"], ["c"], ["f", "x"], ["y", "z"], ["i"]]
    analysis = analyse(key, response)
    assert counts(analysis) == {
        "conflated": 1,
        "extra mention": 1,
        "extra entity": 1,
        "missing mention": 1,
        "missing entity": 1,
        "divided": 2,
    }
    (conflated,) = analysis.listed("conflated")
    assert [place.text for place in conflated.mentions] == ["e"]
    assert conflated.instead.text == "a"
    assert (conflated.key_entity, conflated.response_entity) == ("1", "0")
    assert [place.text for place in analysis.listed("missing entity")[0].mentions] == ["g", "h"]
    assert [place.text for place in analysis.listed("extra entity")[0].mentions] == ["y", "z"]
    assert analysis.listed("missing mention")[0].mentions[0].text == "d"
    assert analysis.listed("extra mention")[0].response_entity == "2"
    divided = analysis.listed("divided")
    assert [[place.text for place in one.mentions] for one in divided] == [["c"], ["f"]]


def test_nothing_is_wrong():
    analysis = analyse([["a", "b"], ["c"]], [["c"], ["a", "b"]])
    assert counts(analysis) == {}
    assert all(not gain for row in analysis.kinds for gain in row.alone.values())
    assert all(analysis.listed(kind) == [] for kind in KINDS)
    assert analysis.mentions() == analysis.entities() == []


@pytest.mark.parametrize(("key", "response"), [([], []), ([["a", "b"]], []), ([], [["a", "b"]])])
def test_empty_sides(key, response):
    analysis = analyse(key, response, metrics="standard")
    assert analysis.as_dict()
    final = analysis.in_turn["divided"]
    assert all(final[metric].f1 == float(bool(key)) for metric in ("mentions", "muc", "b3", "lea"))
    analysis.mentions(), analysis.entities()


@given(corpora)
def test_counts_against_sets(documents):
    analysis = labelled(documents)
    for index, (key, response) in enumerate(documents):
        everywhere = {m for k in key for m in k}
        found = {m for r in response for m in r}
        expected = {
            "span": 0,
            "conflated": sum(max(0, sum(bool(set(k) & set(r)) for k in key) - 1) for r in response),
            "divided": sum(max(0, sum(bool(set(k) & set(r)) for r in response) - 1) for k in key),
            "extra mention": sum(
                m not in everywhere for r in response if set(r) & everywhere for m in r
            ),
            "extra entity": sum(not set(r) & everywhere for r in response),
            "missing mention": sum(m not in found for k in key if set(k) & found for m in k),
            "missing entity": sum(not set(k) & found for k in key),
        }
        assert {kind: int(analysis.counts[kind][index]) for kind in KINDS} == expected


@given(sides())
def test_lists_have_what_was_counted(both):
    analysis = analyse(*both)
    for row in analysis.kinds:
        listed = analysis.listed(row.kind)
        assert len(listed) == row.count
        assert all(one.mentions for one in listed)


def test_other_names_of_kinds():
    assert error_kind("Missing-Mentions") == "missing mention"
    assert error_kind("spurious entity") == "extra entity"
    with pytest.raises(corefeval.UsageError, match="did you mean 'divided'"):
        error_kind("dvided")


# Wrong spans


def positions(*entities):
    rows = [(number, *span) for number, entity in enumerate(entities) for span in entity]
    return corpus_from_arrays(
        entity=[row[0] for row in rows],
        start=[row[1] for row in rows],
        end=[row[2] for row in rows],
    )


def test_wrong_spans_by_overlap():
    key = positions([(0, 5), (10, 11)], [(20, 22), (30, 31)])
    response = positions([(1, 5), (10, 11)], [(0, 2), (30, 31)])
    analysis = analyse(key, response)
    assert counts(analysis) == {"span": 1, "extra mention": 1, "missing mention": 1}
    (wrong,) = analysis.listed("span")
    assert (wrong.mentions[0].start, wrong.mentions[0].end) == (1, 5)
    assert (wrong.instead.start, wrong.instead.end) == (0, 5)


def test_wrong_spans_by_head(conll):
    """`the man` and `the man with him` have one head; `him` has another."""

    def text(*cells):
        words = zip(
            ("the", "man", "with", "him", "left"), ("DT", "NN", "IN", "PRP", "VBD"), cells,
            strict=True,
        )  # fmt: skip
        lines = [
            "\t".join(("d", "0", str(n), word, tag, "*", "-", "-", "-", "-", "*", cell))
            for n, (word, tag, cell) in enumerate(words)
        ]
        return "\n".join(("#begin document (d); part 000", *lines, "", "#end document", ""))

    key = conll(text("(0", "-", "-", "0)", "-"))
    near, far = conll(text("(0", "0)", "-", "-", "-")), conll(text("-", "-", "-", "(0)", "-"))
    assert counts(analyse(key, near)) == {"span": 1}
    assert counts(analyse(key, far)) == {"extra entity": 1, "missing entity": 1}
    assert counts(analyse(key, far, wrong_spans="overlap")) == {"span": 1}
    assert "wrong-spans:overlap" in analyse(key, far, wrong_spans="overlap").result.signature
    (wrong,) = analyse(key, near).listed("span")
    assert (wrong.mentions[0].text, wrong.instead.text) == ("the man", "the man with him")


def test_a_mention_in_a_gap_does_not_overlap():
    from dataclasses import replace

    key = replace(positions([(0, 5)]), gaps=np.array([[0, 1, 4]]))
    assert counts(analyse(key, positions([(2, 3)]))) == {"extra entity": 1, "missing entity": 1}
    assert counts(analyse(key, positions([(0, 2)]))) == {"span": 1}


@given(sides())
def test_wrong_spans_are_the_heaviest_pairs(both):
    key, response = both
    analysis = analyse(key, response, wrong_spans="overlap")
    found = expected = 0.0
    for one, other in zip(key, response, strict=True):
        mine, theirs = ({m.span for m in side.mentions} for side in (one, other))
        missing, extra = sorted(mine - theirs), sorted(theirs - mine)
        shares = np.array([[dice(a, b) for b in extra] for a in missing])
        if shares.size:
            expected += shares[linear_sum_assignment(shares, maximize=True)].sum()
    for wrong in analysis.listed("span"):
        found += dice(*((m.start, m.end) for m in (wrong.mentions[0], wrong.instead)))
    assert found == pytest.approx(expected)


def dice(one, other) -> float:
    common = min(one[1], other[1]) - max(one[0], other[0])
    return 2 * max(common, 0) / (one[1] - one[0] + other[1] - other[0])


# What fixing them gains


def check_that_all_fixed_is_the_key(analysis, key, features):
    perfect = corefeval.score(key, key, metrics=analysis.metrics, features=features)
    final = analysis.in_turn[KINDS[-1]]
    for metric in analysis.metrics:
        assert final[metric].f1 == pytest.approx(perfect[metric].f1, abs=1e-12)
        if metric != "conll":  # a mean may have a part with nothing to count
            assert final[metric].f1 in (0.0, pytest.approx(1.0))
        gains = sum(row.in_turn[metric] for row in analysis.kinds)
        assert gains == pytest.approx(final[metric].f1 - analysis.result[metric].f1, abs=1e-9)


@given(sides())
def test_fixing_everything_reaches_the_key(both):
    features = {"kind": by_position}
    analysis = analyse(*both, metrics=ALL, features=features)
    assert {one for one in REGISTRY if not REGISTRY[one].beyond} <= {
        Metric.parse(metric).name for metric in analysis.metrics
    }
    check_that_all_fixed_is_the_key(analysis, both[0], features)


@given(corpora)
def test_fixing_everything_reaches_the_key_of_labels(documents):
    key, _ = as_documents(documents)
    features = {"kind": by_label}
    analysis = labelled(documents, metrics=ALL, features=features)
    check_that_all_fixed_is_the_key(analysis, corpus_from_entities(key), features)


@given(sides())
def test_what_is_fixed_is_not_wrong_any_more(both):
    """Fixing one kind alone changes no other mentions than its own."""
    analysis = analyse(*both, metrics="mentions, b3, muc")
    before = analysis.result["mentions"].counts
    for row in analysis.kinds:
        after = analysis.alone[row.kind]["mentions"].counts
        gained = after["recall_numerator"] - before["recall_numerator"]
        if row.kind in ("span", "missing mention"):
            assert gained == row.count
        elif row.kind != "missing entity":
            assert gained == 0
    for rate, kind in (("precision", "conflated"), ("recall", "divided")):
        for metric in ("muc", "b3"):
            after = getattr(analysis.alone[kind][metric], rate)
            assert after >= getattr(analysis.result[metric], rate) - 1e-12


def test_gains_by_hand():
    analysis = analyse([["a", "b", "c"]], [["a", "b"], ["c"], ["x"]], metrics="b3, mentions")
    extra, divided = (row for row in analysis.kinds if row.count)
    assert (extra.kind, divided.kind) == ("extra entity", "divided")
    # Recall (2/3 + 2/3 + 1/3)/3 = 5/9; precision 3/4, then 1.
    f1 = 2 * (5 / 9) / (1 + 5 / 9)
    assert extra.alone["b3"] == pytest.approx(f1 - analysis.result["b3"].f1)
    assert extra.in_turn["mentions"] == pytest.approx(1 - 6 / 7)
    assert divided.in_turn["b3"] == pytest.approx(1 - f1)
    assert divided.in_turn["mentions"] == 0


def test_labels_in_another_order():
    analysis = analyse([["a", "b", "c"]], [["c", "b", "x", "a"]], metrics="immediate, muc")
    assert analysis.in_turn["divided"]["immediate"].f1 == 1.0


# Real outputs


def test_real_outputs(shared):
    for name in ("baseline", "cort-pair", "xrenner"):
        folder = shared / "gum"
        analysis = analyse(
            folder / "key.conll", folder / f"{name}.conll", metrics="standard, links"
        )
        final = analysis.in_turn["divided"]
        assert all(score.f1 == pytest.approx(1) for score in final.scores.values())
        assert sum(row.count for row in analysis.kinds) > 100
        assert all(len(analysis.listed(row.kind)) == row.count for row in analysis.kinds)
        for metric in ("mentions", "muc", "b3", "lea", "links", "blanc"):
            shares, score = analysis.attribution(metric), analysis.result[metric]
            assert shares.key_mentions.sum() == pytest.approx(1 - score.recall)
            assert shares.response_mentions.sum() == pytest.approx(1 - score.precision)


def test_options_are_those_of_score():
    key, response = [["a", "b"], ["c"]], [["a", "b", "c"]]
    analysis = analyse(key, response, singletons="drop")
    assert counts(analysis) == {"extra mention": 1}
    with pytest.raises(corefeval.UsageError, match="wrong_spans"):
        analyse(key, response, wrong_spans="some")
    with pytest.raises(corefeval.UsageError, match="no feature"):
        analyse(key, response, by="nothing").links


# Other programs' protocols


@pytest.mark.parametrize("name", ["conll-8.01", "e2e", "stanza"])
def test_the_nearest_rules_stand_for_another_programs(name):
    key, response = corefeval.example("key"), corefeval.example("eager")
    analysis = analyse(key, response, protocol=name)
    rules = corefeval.Protocol.parse(name)
    assert counts(analysis) == counts(analyse(key, response, protocol=rules.without_accidents))
    assert f"stands-for:{name}" in analysis.result.signature
    parsed = corefeval.Protocol.parse(analysis.result.signature)
    assert parsed == analysis.result.protocol and not parsed.emulates
    [notice] = [notice for notice in analysis.notices if notice.kind == "nearest-rules"]
    totals = (
        analysis.result["conll"].f1,
        corefeval.score(key, response, protocol=name)["conll"].f1,
    )
    assert f"F1 is {100 * totals[0]:.2f} by these, {100 * totals[1]:.2f} by {name}" in str(notice)


def test_errors_and_reports_under_corefud_scorers_protocol(run, tmp_path):
    quirks = Path(__file__).parents[1] / "data" / "corefud" / "quirks"
    paths = [quirks / f"zero-three-cycle.{side}.conllu" for side in ("key", "response")]
    status, out, err = run("errors", *paths, "--protocol", "corefud-1.2", "--metrics", "muc")
    assert status == 0 and "stands-for:corefud-1.2" in out
    assert "MUC F1 is 100.00 by these, 0.00 by corefud-1.2" in err
    page = tmp_path / "report.html"
    status, _, err = run("report", *paths, "--protocol", "corefud-1.2", "-o", page)
    totals = "CoNLL F1 is 100.00 by these, 38.89 by corefud-1.2"
    assert status == 0 and totals in err
    text = page.read_text()
    assert totals in text and "stands-for:corefud-1.2" in text


def test_a_total_that_the_program_does_not_give_is_said():
    key, response = [["a", "b"], ["c"]], [["a", "b", "c"]]
    analysis = analyse(key, response, protocol="ua-1")
    [notice] = [notice for notice in analysis.notices if notice.kind == "nearest-rules"]
    assert "no number by ua-1 (emulate:ua-1 needs token positions" in str(notice)
    with pytest.raises(corefeval.UsageError, match="only for scores, errors and reports"):
        corefeval.prepare(key, response, "ua-1")
