"""Error analysis: kinds of errors, what fixing them gains, links, and who is to blame."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval import corpus_from_arrays, corpus_from_entities
from corefeval.analysis.errors import KINDS, analyse, error_kind
from corefeval.cli import main
from corefeval.metrics import REGISTRY, Metric
from corefeval.output.errors import render_errors
from strategies import corpora, spans

FORMATS = ("text", "json", "csv", "markdown", "latex")
ALL = "all"
DIVISIBLE = "mentions, muc, b3, lea, lea(importance=one), links, blanc, lb3, p-link, immediate, "
DIVISIBLE += "inferred, lmuc"


def by_position(mention) -> str:
    return ("name", "nominal", "pronoun")[mention.start % 3]


def by_label(mention) -> str:
    return ("name", "nominal", "pronoun")[int(mention.label) % 3]


def counts(analysis) -> dict[str, int]:
    return {row.kind: row.count for row in analysis.kinds if row.count}


def as_documents(documents) -> tuple[dict, dict]:
    pairs = list(enumerate(documents))
    return (
        {str(number): key for number, (key, _) in pairs},
        {str(number): response for number, (_, response) in pairs},
    )


def labelled(documents, **options):
    key, response = as_documents(documents)
    options.setdefault("features", {"kind": by_label})
    return analyse(corpus_from_entities(key), corpus_from_entities(response), **options)


@st.composite
def sides(draw) -> tuple:
    """Two corpora of spans that may overlap, be the same, or be on one side only."""
    n_documents = draw(st.integers(1, 3))
    corpus = []
    for _ in range(2):
        chosen = draw(
            st.lists(st.tuples(st.integers(0, n_documents - 1), spans(9)), unique=True, max_size=14)
        )
        entity = [draw(st.integers(0, 3)) for _ in chosen]
        corpus.append(
            corpus_from_arrays(
                entity=entity,
                document=[document for document, _ in chosen],
                start=[span[0] for _, span in chosen],
                end=[span[1] for _, span in chosen],
                document_ids=[str(number) for number in range(n_documents)],
            )
        )
    return tuple(corpus)


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
def test_wrong_spans_against_a_loop(both):
    key, response = both
    analysis = analyse(key, response, wrong_spans="overlap")
    expected = 0
    for one, other in zip(key, response, strict=True):
        mine, theirs = {m.span for m in one.mentions}, {m.span for m in other.mentions}
        pairs = [
            (-(min(b, d) - max(a, c)) / (b - a + d - c), (c, -d), (a, -b))
            for a, b in mine - theirs
            for c, d in theirs - mine
            if max(a, c) < min(b, d)
        ]
        used: set = set()
        for _, left, right in sorted(pairs):
            if ("r", left) not in used and ("k", right) not in used:
                used |= {("r", left), ("k", right)}
                expected += 1
    assert int(analysis.counts["span"].sum()) == expected


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
    assert set(REGISTRY) <= {Metric.parse(metric).name for metric in analysis.metrics}
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


# Links


def test_links_by_pair_of_kinds():
    kinds = {"kind": {"Ada": "name", "she": "pronoun", "the poet": "nominal", "it": "pronoun",
                      "Bob": "name", "he": "pronoun"}}  # fmt: skip
    key = [["Ada", "she", "the poet"], ["Bob", "he"], ["it"]]
    response = [["Ada", "she", "it"], ["the poet", "he"], ["Bob"]]
    analysis = analyse(key, response, features=kinds)
    found = {(row.anaphor, row.antecedent): row for row in analysis.links}
    assert found["pronoun", "name"].correct == 1
    assert found["pronoun", "nominal"].wrong == 1  # he → the poet
    assert found["nominal", "pronoun"].missed == 1
    assert found["pronoun", "pronoun"].spurious == 1  # it → she
    assert len(found) == 4
    assert analysis.antecedents["immediate"]["pronoun"] == {"tp": 1, "wl": 1, "fn": 0, "fp": 1}
    assert analysis.antecedents["immediate"]["nominal"]["fn"] == 1


@given(corpora)
def test_links_add_up(documents):
    analysis = labelled(documents, metrics="immediate, inferred")
    key_links = sum(len(k) - 1 for key, _ in documents for k in key)
    response_links = sum(len(r) - 1 for _, response in documents for r in response)
    assert sum(row.correct + row.wrong + row.missed for row in analysis.links) == key_links
    assert sum(row.response for row in analysis.links) == response_links
    for metric in ("immediate", "inferred"):
        expected = analysis.result[metric].counts
        for name in expected:
            found = sum(one[name] for one in analysis.antecedents[metric].values())
            assert found == expected[name]


def test_links_without_kinds():
    analysis = analyse([["a", "b"]], [["a", "b"]])
    assert [(row.anaphor, row.correct) for row in analysis.links] == [("mention", 1)]
    assert any("links are not told apart by kind" in str(notice) for notice in analysis.notices)


# Who is to blame


def check_that_shares_add_up(analysis):
    for name in analysis.metrics:
        score = analysis.result[name]
        shares = analysis.attribution(name)
        rates = {
            "recall": (shares.key_mentions, shares.key_entities),
            "precision": (shares.response_mentions, shares.response_entities),
        }
        for rate, (by_mention, by_entity) in rates.items():
            value = getattr(score, rate)
            if not counted(score, rate):
                assert by_entity.sum() == 0
                continue
            assert by_entity.sum() == pytest.approx(1 - value, abs=1e-9)
            assert (by_entity >= -1e-9).all()
            assert (by_mention is None) == (name == "lmuc")
            if by_mention is not None:
                assert by_mention.sum() == pytest.approx(1 - value, abs=1e-9)


def counted(score, rate) -> bool:
    """Whether a side has anything to count; BLANC in each half that the key has."""
    side = {"recall": "key", "precision": "response"}[rate]
    if score.metric == "blanc":
        halves = [k for k in ("coreference", "non_coreference") if score.counts[f"{k}_key"]]
        return bool(halves) and all(score.counts[f"{kind}_{side}"] for kind in halves)
    if "tp" in score.counts:
        error = {"recall": "fn", "precision": "fp"}[rate]
        return bool(score.counts["tp"] + score.counts["wl"] + score.counts[error])
    return bool(score.counts[f"{rate}_denominator"])


@given(sides())
def test_shares_add_up_to_the_loss(both):
    analysis = analyse(*both, metrics=DIVISIBLE, features={"kind": by_position})
    check_that_shares_add_up_with_halves(analysis)


@given(corpora)
def test_shares_of_labels_add_up_to_the_loss(documents):
    check_that_shares_add_up_with_halves(labelled(documents, metrics=DIVISIBLE))


def check_that_shares_add_up_with_halves(analysis):
    """A half of BLANC that one side lacks is a loss that nobody has: leave those cases out."""
    blanc = analysis.result["blanc"]
    if not (counted(blanc, "recall") and counted(blanc, "precision")):
        from dataclasses import replace

        tables = {k: v for k, v in analysis.result.tables.items() if k != "blanc"}
        analysis = replace(analysis, result=replace(analysis.result, tables=tables))
    check_that_shares_add_up(analysis)


def test_shares_by_hand():
    analysis = analyse([["a", "b", "c"]], [["a", "b"], ["c", "x"]], metrics="b3")
    shares = analysis.attribution("b3")
    assert shares.key_mentions == pytest.approx([1 / 9, 1 / 9, 2 / 9])
    assert shares.response_mentions == pytest.approx([0, 0, 1 / 8, 1 / 4])
    dearest = analysis.mentions(2)
    assert [one.mention.text for one in dearest] == ["c", "x"]
    assert dearest[0].cost == pytest.approx((2 / 9 + 1 / 8) / 2)
    assert dearest[1].errors == ("extra mention",)
    first, second = analysis.entities(2, metric="b3")
    assert (first.side, first.size, first.parts, first.alone) == ("key", 3, 2, 0)
    assert (second.side, second.first.text, second.alone) == ("response", "c", 1)


def test_ceaf_is_not_shared_out():
    analysis = analyse([["a", "b"]], [["a"], ["b"]], metrics="ceafe")
    for ask in (lambda: analysis.attribution("ceafe"), analysis.mentions):
        with pytest.raises(corefeval.UndefinedMetricError, match="shared out"):
            ask()
    assert analysis.as_dict()["mentions"] == []


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


# Output


AWKWARD = r"a|b_c & [bold]d[/] <e> {f} 50% #1 ~^ \g *h* ³"


@pytest.fixture(scope="module")
def analyses():
    key = corefeval.read(corefeval.example("key"), name="key")
    return [
        analyse(key, corefeval.read(corefeval.example(name), name=name))
        for name in ("cautious", "eager")
    ]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kinds", [(), KINDS])
def test_everything_renders(analyses, format, kinds):
    key = {AWKWARD: [[AWKWARD, "b"], ["c"]]}
    response = corpus_from_entities({AWKWARD: [[AWKWARD, "b", "c"]]}, name=AWKWARD)
    nothing = analyse(key, key, metrics="ceafe")
    for some in (analyses, analyses[:1], [analyse(key, response)], [nothing]):
        text = render_errors(some, format=format, kinds=kinds)
        assert text.endswith("\n")
        assert "nan" not in text.replace("finance", "")


def test_unknown_formats(analyses):
    with pytest.raises(corefeval.UsageError, match="no output format 'pdf'"):
        render_errors(analyses, format="pdf")


def test_text_fits_a_terminal(analyses):
    lines = render_errors(analyses[1:]).splitlines()
    assert max(map(len, lines[:-1])) <= 100
    (whole,) = (line.split() for line in lines if line.startswith("all "))
    (f1,) = (line.split() for line in lines if line.startswith("F1 "))
    for points, score in zip(whole[2:], f1[1:], strict=True):
        assert float(points) + float(score) == pytest.approx(100, abs=0.011)


def test_json_and_csv_say_the_same(analyses):
    report = json.loads(render_errors(analyses, format="json"))
    _, eager = report["responses"]
    rows = list(csv.DictReader(io.StringIO(render_errors(analyses, format="csv"))))
    for kind in eager["kinds"]:
        (count,) = (
            row
            for row in rows
            if row["response"] == "eager"
            and row["row"] == kind["kind"]
            and row["measure"] == "count"
        )
        assert int(count["value"]) == kind["count"]
    gains = [row for row in rows if row["measure"] == "in_turn" and row["metric"] == "b3"]
    assert sum(float(row["value"]) for row in gains if row["response"] == "eager") == (
        pytest.approx(1 - eager["scores"]["b3"])
    )
    assert sum(document["errors"]["span"] for document in eager["documents"]) == 4


def test_listed_csv_has_every_mention(analyses):
    text = render_errors(analyses[1:], format="csv", kinds=["extra entity"])
    rows = list(csv.DictReader(io.StringIO(text)))
    errors = analyses[1].listed("extra entity")
    assert len(rows) == sum(len(one.mentions) for one in errors)
    assert len({row["error"] for row in rows}) == len(errors)
    assert {row["key_entity"] for row in rows} == {""}


def test_command(tmp_path, capsys):
    key, cautious, eager = (str(corefeval.example(n)) for n in ("key", "cautious", "eager"))
    assert main(["errors", key, cautious, f"mine={eager}", "-m", "b3", "--top", "1"]) == 0
    shown = capsys.readouterr()
    assert "The most expensive mentions of mine" in shown.out
    assert "1 repeated mention dropped" in shown.err
    output = tmp_path / "errors.csv"
    arguments = ["errors", key, eager, "--quiet"]
    assert main([*arguments, "--list", "all", "-f", "csv", "-o", str(output)]) == 0
    assert capsys.readouterr() == ("", "")
    kinds = {row["kind"] for row in csv.DictReader(io.StringIO(output.read_text(encoding="utf-8")))}
    assert kinds == set(KINDS) - {"missing entity"}
    assert main([*arguments, "--list", "spurious mention"]) == 0
    assert capsys.readouterr().out.startswith("extra mention: 22\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"list": "nonsense"}, "no kind of error"),
        ({"output": "KEY"}, "overwrite an input"),
        ({"metrics": "nonsense"}, "no metric"),
    ],
)
def test_bad_usage(conll, options, message):
    from corefeval.cli.errors import errors

    key = conll("#begin document (d); part 000\nd 0 0 a - (0)\n\n#end document\n")
    options = {name: key if value == "KEY" else value for name, value in options.items()}
    with pytest.raises(corefeval.UsageError, match=message):
        errors(key, key, **options)
    with pytest.raises(corefeval.UsageError, match="only once"):
        errors("-", "-")
    with pytest.raises(corefeval.UsageError, match="two responses are called 'a'"):
        errors(key, f"a={key}", f"a={key}")
