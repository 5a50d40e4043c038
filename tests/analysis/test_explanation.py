"""Explanations: what each choice is worth, by definition, and in examples worked by hand."""

from __future__ import annotations

import json
import math
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, UsageError, explain, explain_results, render, score
from corefeval.analysis.explanation.differences import PIPELINE
from corefeval.analysis.explanation.scorings import round_as
from corefeval.analysis.explanation.sensitivity import other_values
from corefeval.emulation import Material
from corefeval.protocol import STEPS, Protocol, choices
from scorer_vectors import write_files

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
METRICS = ("muc", "b3", "ceafe", "conll")
PAIRS = (
    ("conll-8.01", "allennlp"),
    ("conll-8.01", "scorch"),
    ("default", "stanza"),
    ("e2e", "neleval"),
    ("coval", "allennlp-singletons"),
)


def repeated_entities(most: int = 3):
    """Entities whose mentions may stand in several of them."""
    entity = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4)
    return st.lists(entity, min_size=1, max_size=most)


def f1(key, response, protocol) -> dict[str, float]:
    """The brute force: a score of its own for every protocol."""
    result = score(key, response, protocol=protocol.but(rounding="none"), metrics="conll")
    return {metric: result[metric].f1 for metric in METRICS}


@pytest.mark.parametrize("names", PAIRS, ids=" to ".join)
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_worth_is_what_the_definition_says(names, data):
    key, response = (data.draw(repeated_entities()) for _ in range(2))
    start, goal = (Protocol.parse(name).but(rounding="none") for name in names)
    differ = sorted(set(start.differences(goal)), key=PIPELINE.index)

    def worth(chosen) -> dict[str, float]:
        return f1(key, response, start.but(**{name: getattr(goal, name) for name in chosen}))

    found = explain(key, response, from_=names[0], to=names[1])
    steps = {step.choice: step for step in found.steps if step.choice != "rounding"}
    for metric in METRICS:
        none, every = worth(())[metric], worth(differ)[metric]
        assert found.start.scores[metric] == pytest.approx(none, abs=1e-9)
        assert found.goal.scores[metric] == pytest.approx(every, abs=1e-9)
        total = sum(step.turn[metric] for step in steps.values())
        assert total == pytest.approx(every - none, abs=1e-9)
        for place, name in enumerate(differ):
            rest = [other for other in differ if other != name]
            expected = {
                "alone": worth((name,))[metric] - none,
                "last": every - worth(rest)[metric],
                "turn": worth(differ[: place + 1])[metric] - worth(differ[:place])[metric],
            }
            for kind, value in expected.items():
                mine = getattr(steps[name], kind)[metric] if name in steps else 0.0
                assert mine == pytest.approx(value, abs=1e-9), (kind, name)


@settings(max_examples=5, deadline=None)
@given(repeated_entities(), repeated_entities())
def test_shapley_values_are_means_over_all_orders(key, response):
    names = (
        "singletons:drop-response|b3-singletons:skip|ceafe-singletons:skip-response",
        "default",
    )
    found = explain(key, response, from_="default", to=names[0], shapley=True)
    start, goal = Protocol(), Protocol.parse(names[0])
    differ = ("singletons", "b3_singletons", "ceafe_singletons")
    for metric in METRICS:
        means = dict.fromkeys(differ, 0.0)
        for order in permutations(differ):
            before, chosen = f1(key, response, start)[metric], {}
            for name in order:
                chosen[name] = getattr(goal, name)
                after = f1(key, response, start.but(**chosen))[metric]
                means[name] += (after - before) / math.factorial(len(differ))
                before = after
        shown = {step.choice: step.shapley[metric] for step in found.steps}
        for name, mean in means.items():
            assert shown.get(name, 0.0) == pytest.approx(mean, abs=1e-9)


SHARED = "conll, lea, blanc"
VALUES = [*other_values(Protocol())]


@settings(max_examples=15, deadline=None)
@given(
    repeated_entities(),
    repeated_entities(),
    st.lists(st.lists(st.sampled_from(VALUES), max_size=4), min_size=2, max_size=6),
)
def test_what_protocols_share_is_what_each_makes_alone(key, response, several):
    """A step that was done for one protocol is that of another, or it is not taken."""
    corpora = [corefeval.corpus_from_entities(side) for side in (key, response)]
    shared = Material(*corpora)
    for values in several:
        protocol = Protocol.of(**{n: v for n, v in values if n not in ("match", "window")})
        assert _rates(shared, protocol) == _rates_alone(corpora, protocol)


@pytest.mark.parametrize("name", ["across", "boundary", "parsed"])
def test_steps_are_shared_where_texts_have_sentences(name, tmp_path):
    """With mentions over boundaries, repeats, trees: all choices beside coval's own."""
    corpora = [corefeval.read(file) for file in write_files(name, tmp_path)]
    shared = Material(*corpora)
    base = Protocol.parse("coval").but(missing="empty", repeats_key="keep")
    for choice, value in other_values(base):
        if choice in ("match", "rounding"):
            continue
        protocol = Protocol.of_fields({choice: value}, base)
        assert _rates(shared, protocol) == _rates_alone(corpora, protocol), (choice, value)


def _rates(material, protocol):
    """The rates of each metric, or the error."""
    try:
        return [dict(one.rates) for one in material.result(protocol, SHARED).scores.values()]
    except (InputError, UsageError) as error:
        return str(error)


def _rates_alone(corpora, protocol):
    """The same without anything shared; formulas that are equal may differ in their last digit."""
    rates = _rates(Material(*corpora), protocol)
    if isinstance(rates, str):
        return rates
    return [pytest.approx(one, abs=1e-12, nan_ok=True) for one in rates]


@pytest.fixture(scope="module")
def gum(shared):
    """Readers of GUM's key and systems."""
    corpora = {}

    def read(name):
        if name not in corpora:
            corpora[name] = corefeval.read(shared / "gum" / name)
        return corpora[name]

    return read


def hundredths(points) -> list[float]:
    return [round(100 * points[metric], 2) + 0.0 for metric in METRICS]


def test_the_first_worked_example(gum):
    key, response = gum("key.conllu"), gum("baseline.conllu")
    found = explain(key, response, from_="conll-8.01", to="allennlp", shapley=True)
    assert hundredths(found.start.scores) == [56.23, 63.93, 62.26, 60.80]
    assert hundredths(found.goal.scores) == [56.23, 45.70, 22.13, 41.35]
    expected = {
        "singletons": {
            "alone": [0, -24.68, -40.13, -21.60], "last": [0, 0, 0, 0],
            "shapley": [0, -12.34, -20.06, -10.80], "turn": [0, -24.68, -40.13, -21.60],
        },
        "b3_singletons": {
            "alone": [0, -18.23, 0, -6.08], "last": [0, 6.45, 0, 2.15],
            "shapley": [0, -5.89, 0, -1.96], "turn": [0, 6.45, 0, 2.15],
        },
        "ceafe_singletons": {
            "alone": [0, 0, -40.13, -13.38], "last": [0, 0, 0, 0],
            "shapley": [0, 0, -20.06, -6.69], "turn": [0, 0, 0, 0],
        },
    }  # fmt: skip
    assert [step.choice for step in found.steps] == [*expected]
    for step in found.steps:
        for kind, numbers in expected[step.choice].items():
            assert hundredths(getattr(step, kind)) == numbers, (step.choice, kind)
    quiet = {text.partition(":")[0] for text in found.quiet}
    assert quiet >= {"order", "repeats-response", "muc", "b3", "lea-singletons"}
    same = {(one.choices, one.metric) for one in found.relations if one.kind == "redundant"}
    assert (("singletons", "ceafe_singletons"), "ceafe") in same


def test_the_second_worked_example(gum):
    key, response = gum("key.conllu"), gum("baseline.conllu")
    found = explain(key, response, from_="conll-8.01", to="scorch", shapley=True)
    assert hundredths(found.goal.scores) == [53.95, 72.26, 70.01, 65.40]
    twinless, aggregate = found.steps
    assert (twinless.choice, aggregate.choice) == ("twinless", "aggregate")
    assert hundredths(twinless.alone) == [0, 8.60, 8.32, 5.64]
    assert hundredths(twinless.last) == [-0.20, 8.60, 8.47, 5.62]
    assert hundredths(twinless.shapley) == [-0.10, 8.60, 8.39, 5.63]
    assert hundredths(aggregate.alone) == [-2.07, -0.27, -0.72, -1.02]
    assert hundredths(aggregate.last) == [-2.28, -0.28, -0.57, -1.04]
    assert hundredths(aggregate.shapley) == [-2.18, -0.27, -0.65, -1.03]


def test_the_other_worked_examples(gum):
    key = gum("key.conll")
    found = explain(key, gum("corefgraph.conll"), from_="conll-8.01", to="stanza")
    ends = [round(100 * end.scores["conll"], 2) for end in (found.start, found.goal)]
    assert ends == [53.78, 52.66]
    worth = {step.choice: round(100 * step.turn["conll"], 2) + 0.0 for step in found.steps}
    assert worth == {"aggregate": -1.12, "undefined": 0.0}
    goal = "coval-np-only-min-span-remove-nested"
    found = explain(key, gum("xrenner.conll"), from_="coval", to=goal)
    ends = [round(100 * end.scores["conll"], 2) for end in (found.start, found.goal)]
    assert ends == [46.83, 48.50]
    worth = {step.choice: round(100 * step.turn["conll"], 2) + 0.0 for step in found.steps[:3]}
    assert worth == {"min_span": 0.65, "np_only": 1.01, "remove_nested": 0.0}


def test_every_choice_has_its_place_in_the_pipeline():
    assert set(PIPELINE) == set(choices(STEPS))
    named = {name for name, _ in other_values(Protocol())}
    assert named == set(PIPELINE) - {"emulate", "documents", "layer", "spans", "tagset", "across"}


def test_rounding_is_the_last_step():
    found = explain(KEY, EAGER, from_="e2e", to="conll-8.01")
    last = found.steps[-1]
    assert last.choice == "rounding"
    for metric in METRICS:
        exact, printed = found.goal.scores[metric], found.goal.printed[metric]
        assert printed == round_as(exact, "truncate(2)") <= exact
        assert last.turn[metric] == printed - exact
    assert explain(KEY, EAGER, to="maverick").steps[-1].choice != "rounding"


def test_a_refusal_comes_first_and_says_why():
    key = {"one": [["a", "b"]], "two": [["a", "b"], ["c"]]}
    found = explain(key, {"one": [["a", "b"]]}, from_="coval", to="e2e")
    refusal = found.refusals[0]
    assert (refusal.name, refusal.choices) == ("coval", ("missing",))
    assert "two" in refusal.reason
    assert found.start.scores == {}
    assert "coval gives no number" in render(found).splitlines()[0]
    assert {step.choice for step in found.steps} <= {"b3_singletons", "ceafe_singletons"}
    back = explain(key, {"one": [["a", "b"]]}, from_="e2e", to="coval")
    assert [one.name for one in back.refusals] == ["coval"]


def test_what_both_refuse_is_an_error():
    with pytest.raises(InputError):
        explain({"one": [["a"]]}, {}, from_="coval", to="coval-np-only")


def test_a_score_that_is_no_number():
    key, response = {"1": [["a", "b"]], "2": []}, {"1": [["a", "b"]], "2": [["a", "b"]]}
    found = explain(key, response, to="stanza")
    assert found.goal.scores["ceafe"] is None
    assert "no number" in render(found)
    assert json.loads(render(found, format="json"))["to"]["scores"]["ceafe"] is None


def test_choices_that_need_others():
    found = explain(
        [["a", "b", "c"]], [["a", "b", "c"], ["b", "x"]], to="repeats-response:keep|owner:first"
    )
    kinds = {(one.kind, one.choices) for one in found.relations}
    assert kinds == {("needs", ("owner", "repeats_response"))}
    assert "owner acts only with repeats-response" in render(found)


@pytest.mark.parametrize("wanted", [88.9, "88.9", "88.8", "88.89", "88.88", 89, "89%"])
def test_a_published_number_is_found_rounded_or_truncated(wanted):
    key = [["a", "b"], ["c"]]  # e2e gives 88.888…
    found = explain(key, key, to=wanted)
    assert {one.name for one in found.hits} == {"e2e", "allennlp", "ceafe-singletons skip-response"}
    cut = str(wanted) in ("88.8", "88.88")
    assert {one.hit for one in found.hits} == {"truncated" if cut else "rounded"}


def test_a_number_that_nothing_gives_has_its_nearest():
    found = explain(KEY, EAGER, to=12.3, metrics="muc")
    assert not found.hits
    distances = [abs(one.score - 0.123) for one in found.candidates if one.score is not None]
    assert distances == sorted(distances)
    assert "Nothing gives MUC 12.3" in render(found)


@pytest.mark.parametrize("wanted", ["-1", "1e3", "999", "6.1.3", "+5"])
def test_what_is_no_percentage(wanted):
    with pytest.raises(UsageError):
        explain(KEY, EAGER, to=wanted)


def test_a_number_is_of_one_metric():
    with pytest.raises(UsageError, match="one metric"):
        explain(KEY, EAGER, to=61.3, metrics="muc, lea")


def test_how_much_depends_on_each_choice():
    found = explain(KEY, EAGER)
    sizes = [effect.size for effect in found.effects]
    assert sizes == sorted(sizes, reverse=True)
    default = score(KEY, EAGER, metrics="conll")
    for effect in found.effects:
        if effect.choice in ("singletons", "match", "aggregate", "duplicates", "b3_singletons"):
            if effect.refusals[0]:
                with pytest.raises(InputError):
                    score(KEY, EAGER, metrics="conll", **{effect.choice: effect.value})
                continue
            changed = score(KEY, EAGER, metrics="conll", **{effect.choice: effect.value})
            for metric, points in effect.points[0].items():
                assert points == pytest.approx(changed[metric].f1 - default[metric].f1, abs=1e-9)


def test_an_order_that_a_choice_turns_round():
    key = [["a", "b"], ["c"], ["d"], ["e"]]
    linker, careful = [["a", "b"], ["c", "d"]], [["a"], ["b"], ["c"], ["d"], ["e"]]
    found = explain(key, linker, careful, metrics="b3")
    turn = found.turns[0]
    first, second = (score(key, one, metrics="b3")["b3"].f1 for one in (linker, careful))
    assert (turn.above == "response") == (first > second)
    assert "singletons drop" in turn.values
    assert f"{turn.above} is above {turn.below}, but not with" in render(found)


def test_two_results_that_were_saved(tmp_path):
    names = ("conll-8.01", "e2e")
    results = [score(KEY, EAGER, protocol=name, metrics="conll") for name in names]
    found = explain_results(*results)
    assert found.choices["b3_singletons"] == ("count", "skip")
    assert found.explanation is None
    found = explain_results(*results, KEY, EAGER)
    steps = {step.choice for step in found.explanation.steps}
    assert steps >= {"b3_singletons", "ceafe_singletons"}
    assert not found.remarks
    other = explain_results(*results, KEY, CAUTIOUS)
    assert any("made from other data" in remark for remark in other.remarks)
    apart = explain_results(results[0], score(CAUTIOUS, EAGER, metrics="conll"))
    assert any("different keys" in remark for remark in apart.remarks)


def test_a_preset_with_metrics_that_are_not_defined_here():
    found = explain([["a", "b"]], [["a", "b"]], to="e2e", metrics="standard")
    assert "conll" in found.metrics
    explain([["a", "b"]], [["a"]], metrics="all")


def test_a_program_that_takes_no_choices():
    with pytest.raises(UsageError, match="--to"):
        explain(KEY, EAGER, from_="corefud-1.2")


def test_pairs_of_protocols_add_up():
    names = ("default", "conll-8.01", "e2e", "allennlp", "maverick", "tanl-macro", "wl-coref")
    for start, goal in combinations(names, 2):
        found = explain(KEY, EAGER, from_=start, to=goal)
        steps = [step for step in found.steps if step.choice != "rounding"]
        for metric in METRICS:
            total = sum(step.turn[metric] for step in steps)
            difference = found.goal.scores[metric] - found.start.scores[metric]
            assert total == pytest.approx(difference, abs=1e-9)


def test_answers_are_read_anew_for_each_way_to_place_strings():
    answers = corefeval.example("listed")
    found = explain(KEY, answers, metrics="b3")
    base = score(KEY, answers, metrics="b3")["b3"].f1
    worth = {(row["choice"], row["value"]): row["points"] for row in found.rows()}
    for choice, value in (("occurrences", "first"), ("occurrences", "all"), ("lost", "strict")):
        own = score(KEY, answers, metrics="b3", **{choice: value})["b3"].f1
        assert worth[choice, value] == pytest.approx(own - base) != 0
    both = explain(KEY, answers, to="occurrences:first|lost:strict", metrics="b3")
    assert both.goal.scores["b3"] == score(KEY, answers, **GUESSES, metrics="b3")["b3"].f1
    corpus = corefeval.read_answers(answers, KEY)
    refusal = explain(KEY, corpus, to="occurrences:first")
    assert "the answers were read already" in render(refusal)


GUESSES = {"occurrences": "first", "lost": "strict"}


def test_programs_do_not_know_of_lost_mentions():
    with pytest.raises(UsageError, match="leave out lost strict"):
        score(KEY, corefeval.example("listed"), protocol="e2e", lost="strict")


def test_numbers_that_are_none_come_to_an_end():
    """Where CEAFe of nothing is no number, no set of choices gives it: all are asked for once."""
    both = {"a": [], "b": [["x", "y"]]}
    made = corefeval.explain(both, {"a": [], "b": []}, to="stanza", shapley=True)
    assert made.goal.scores["ceafe"] is None


def test_why_some_choices_give_no_number_together():
    """Both programs give numbers, but the minimum spans of one would end the other."""
    found = explain(KEY, CAUTIOUS, from_="coval-min-span", to="hf-coval")
    assert found.steps[0].alone["muc"] is None
    assert len(found.gaps) == 1
    assert found.gaps[0].startswith("minimum spans stop hf-coval")
    text = " ".join(render(found).split())
    assert "No number (–) for some of these choices together: minimum spans stop hf-coval" in text
    assert found.as_dict()["gaps"] == list(found.gaps)
    assert explain(KEY, CAUTIOUS, from_="coval", to="hf-coval").gaps == ()
