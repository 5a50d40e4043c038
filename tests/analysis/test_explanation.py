"""Explanations: what each choice is worth, by definition, and in examples worked by hand."""

from __future__ import annotations

import json
import math
from itertools import combinations, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, UsageError, explain, explain_results, render, score
from corefeval.protocol import STEPS, Protocol, choices
from scorer_vectors import write_files

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
METRICS = ("muc", "b3", "ceafe", "conll")
QUIRKS = Path(__file__).parents[1] / "data" / "corefud" / "quirks"
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


def total_points(explanation, metric) -> float:
    """What all choices but rounding are worth together."""
    points = [step.points[metric] for step in explanation.steps if step.choice != "rounding"]
    return sum(value for value in points if value is not None)


@pytest.mark.parametrize("names", PAIRS, ids=" to ".join)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_points_add_up_to_the_difference(names, data):
    key, response = (data.draw(repeated_entities()) for _ in range(2))
    explanation = explain(key, response, from_=names[0], to=names[1])
    ends = [f1(key, response, Protocol.parse(name)) for name in names]
    for metric in METRICS:
        assert explanation.start.scores[metric] == pytest.approx(ends[0][metric], abs=1e-9)
        assert explanation.goal.scores[metric] == pytest.approx(ends[1][metric], abs=1e-9)
        difference = ends[1][metric] - ends[0][metric]
        assert total_points(explanation, metric) == pytest.approx(difference, abs=1e-9)


FEW_CHOICES = (
    "singletons:drop-response|b3-singletons:skip|ceafe-singletons:skip-response",
    "repeats-response:keep|muc:response|b3:response|aggregate:macro-rates",
)


@pytest.mark.parametrize("goal_text", FEW_CHOICES)
@settings(max_examples=5, deadline=None)
@given(repeated_entities(), repeated_entities())
def test_points_are_means_over_all_orders(goal_text, key, response):
    explanation = explain(key, response, to=goal_text)
    assert explanation.sharing == "shapley"
    start, goal = Protocol(), Protocol.parse(goal_text)
    choices_that_differ = [*start.differences(goal)]
    scores = {
        frozenset(chosen): f1(
            key, response, start.but(**{name: getattr(goal, name) for name in chosen})
        )
        for size in range(len(choices_that_differ) + 1)
        for chosen in combinations(choices_that_differ, size)
    }
    orders = [*permutations(choices_that_differ)]
    for metric in METRICS:
        points = {step.choice: step.points[metric] for step in explanation.steps}
        for name in choices_that_differ:
            before = [frozenset(order[: order.index(name)]) for order in orders]
            steps = [scores[chosen | {name}][metric] - scores[chosen][metric] for chosen in before]
            mean = sum(steps) / len(orders)
            assert points.get(name, 0.0) == pytest.approx(mean, abs=1e-9)


MANY_CHOICES = (
    "pairing:one|remove-nested:yes|repeats-response:keep|singletons:drop-response|muc:response|"
    "b3-singletons:skip|ceafe-singletons:skip-response|lea-singletons:skip|b3:response|lea:member|"
    "blanc:luo|aggregate:macro-rates|average:rates"
)


def test_more_than_ten_choices_are_switched_in_turn():
    explanation = explain(KEY, EAGER, to=MANY_CHOICES, metrics="conll, lea, blanc")
    assert explanation.sharing == "in turn"
    assert len(explanation.steps) == 12
    chosen, before = {}, explanation.start.scores["lea"]
    for step in explanation.steps:
        chosen[step.choice] = step.after
        after = score(KEY, EAGER, protocol=Protocol().but(**chosen), metrics="lea")["lea"].f1
        assert step.points["lea"] == pytest.approx(after - before, abs=1e-9)
        before = after
    assert before == pytest.approx(explanation.goal.scores["lea"], abs=1e-9)
    assert "switched in turn from top to bottom" in render(explanation)
    assert json.loads(render(explanation, format="json"))["sharing"] == "in turn"


FAMILIES = "conll, lea, blanc"
EFFECTS = [
    (effect.choice, effect.value)
    for effect in explain([["a", "b"]], [["a", "b"]]).effects
    if effect.choice not in ("match", "window", "rounding")
]


@settings(max_examples=6, deadline=None)
@given(repeated_entities(), repeated_entities(), st.lists(st.sampled_from(EFFECTS), max_size=4))
def test_effects_are_those_of_protocols_that_are_scored_alone(key, response, values):
    """A step that was done for one protocol is that of another, or it is not taken."""
    corpora = [corefeval.corpus_from_entities(side) for side in (key, response)]
    _compare_effects(corpora, Protocol.of(**dict(values)))


@pytest.mark.parametrize("name", ["across", "boundary", "parsed"])
def test_steps_are_shared_where_texts_have_sentences(name, tmp_path):
    """With mentions over boundaries, repeats, trees: all choices beside coval's own."""
    corpora = [corefeval.read(file) for file in write_files(name, tmp_path)]
    _compare_effects(corpora, Protocol.parse("coval").but(missing="empty", repeats_key="keep"))


def _compare_effects(corpora, base):
    """Compare an explanation with a score for each protocol, which shares nothing with others."""
    base = base.but(rounding="none")
    default = _f1_or_error(corpora, base)
    if isinstance(default, str):
        with pytest.raises((InputError, UsageError)):
            explain(*corpora, from_=base, metrics=FAMILIES)
        return
    for effect in explain(*corpora, from_=base, metrics=FAMILIES).effects:
        if (effect.choice, effect.value) not in EFFECTS:
            continue
        changed = _f1_or_error(corpora, Protocol.of_fields({effect.choice: effect.value}, base))
        if isinstance(changed, str):
            assert effect.refusals[0], effect.name
            continue
        for metric, points in effect.points[0].items():
            difference = changed[metric] - default[metric]
            expected = None if math.isnan(difference) else pytest.approx(difference, abs=1e-12)
            assert points == expected, (effect.name, metric)


def _f1_or_error(corpora, protocol):
    try:
        result = score(*corpora, protocol=protocol, metrics=FAMILIES)
    except (InputError, UsageError) as error:
        return str(error)
    return {metric: result[metric].f1 for metric in result.metrics}


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
    found = explain(key, response, from_="conll-8.01", to="allennlp")
    assert hundredths(found.start.scores) == [56.23, 63.93, 62.26, 60.80]
    assert hundredths(found.goal.scores) == [56.23, 45.70, 22.13, 41.35]
    assert {step.choice: hundredths(step.points) for step in found.steps} == {
        "singletons": [0, -12.34, -20.06, -10.80],
        "b3_singletons": [0, -5.89, 0, -1.96],
        "ceafe_singletons": [0, 0, -20.06, -6.69],
    }
    quiet = {text.partition(":")[0] for text in found.quiet}
    assert quiet >= {"order", "repeats-response", "muc", "b3", "lea-singletons"}
    [relation] = [relation for relation in found.relations if relation.metric == "ceafe"]
    assert (relation.kind, relation.choices) == ("redundant", ("singletons", "ceafe_singletons"))
    assert [round(100 * value, 2) for value in (*relation.alone, relation.together)] == [-40.13] * 3


def test_the_second_worked_example(gum):
    key, response = gum("key.conllu"), gum("baseline.conllu")
    found = explain(key, response, from_="conll-8.01", to="scorch")
    assert hundredths(found.goal.scores) == [53.95, 72.26, 70.01, 65.40]
    assert {step.choice: hundredths(step.points) for step in found.steps} == {
        "twinless": [-0.10, 8.60, 8.39, 5.63],
        "aggregate": [-2.18, -0.27, -0.65, -1.03],
    }


def test_the_other_worked_examples(gum):
    key = gum("key.conll")
    found = explain(key, gum("corefgraph.conll"), from_="conll-8.01", to="stanza")
    ends = [round(100 * end.scores["conll"], 2) for end in (found.start, found.goal)]
    assert ends == [53.78, 52.66]
    worth = {step.choice: round(100 * step.points["conll"], 2) + 0.0 for step in found.steps}
    assert worth == {"aggregate": -1.12, "undefined": 0.0}
    goal = "coval-np-only-min-span-remove-nested"
    found = explain(key, gum("xrenner.conll"), from_="coval", to=goal)
    ends = [round(100 * end.scores["conll"], 2) for end in (found.start, found.goal)]
    assert ends == [46.83, 48.50]
    worth = {step.choice: round(100 * step.points["conll"], 2) + 0.0 for step in found.steps[:3]}
    assert worth == {"min_span": 0.67, "np_only": 0.99, "remove_nested": 0.0}


def test_every_choice_can_be_explained():
    """Choices of which data is scored, and those of a program as a whole, are not tried."""
    not_tried = {"emulate", "documents", "layer", "spans", "tagset", "across", "choice"}
    tried = explain([["a", "b"]], [["a", "b"]]).effects
    assert {effect.choice for effect in tried} == set(choices(STEPS)) - not_tried
    for choice, value in {effect.choice: effect.value for effect in tried}.items():
        explanation = explain([["a", "b"]], [["a"]], to=Protocol.of(**{choice: value}))
        names = [step.choice for step in explanation.steps]
        names += [text.partition(":")[0].replace("-", "_") for text in explanation.quiet]
        names += [name for refusal in explanation.refusals for name in refusal.choices]
        assert choice in names or explanation.refusals


def test_rounding_is_the_last_step():
    found = explain(KEY, EAGER, from_="e2e", to="conll-8.01")
    last = found.steps[-1]
    assert last.choice == "rounding"
    for metric in METRICS:
        exact, printed = found.goal.scores[metric], found.goal.printed[metric]
        assert printed == math.trunc(exact * 10000) / 10000 <= exact
        assert last.points[metric] == printed - exact
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
        for metric in METRICS:
            difference = found.goal.scores[metric] - found.start.scores[metric]
            assert total_points(found, metric) == pytest.approx(difference, abs=1e-9)


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
    made = corefeval.explain(both, {"a": [], "b": []}, to="stanza")
    assert made.goal.scores["ceafe"] is None


def test_why_some_choices_give_no_number_together():
    """Both programs give numbers, but the minimum spans of one would end the other."""
    found = explain(KEY, CAUTIOUS, from_="coval-min-span", to="hf-coval")
    assert found.sharing == "in turn"
    assert found.steps[0].points["muc"] is None
    difference = found.goal.scores["muc"] - found.start.scores["muc"]
    assert total_points(found, "muc") == pytest.approx(difference)
    assert len(found.gaps) == 1
    assert found.gaps[0].startswith("minimum spans stop hf-coval")
    text = " ".join(render(found).split())
    assert "Some of these choices together give no number: minimum spans stop hf-coval" in text
    assert found.as_dict()["gaps"] == list(found.gaps)
    assert explain(KEY, CAUTIOUS, from_="coval", to="hf-coval").gaps == ()


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("zero-three-cycle", "moved zeros (3)"),
        ("span-in-two-entities-response", "reading, shared spans (1)"),
        ("no-heads", "no heads ("),
    ],
)
def test_rules_of_corefud_scorer_are_named(name, rules):
    """The points of an emulation are shared out among groups of the program's rules."""
    sides = (QUIRKS / f"{name}.{side}.conllu" for side in ("key", "response"))
    explanation = explain(*sides, from_="match:head|singletons:drop", to="corefud-1.2")
    changes = {step.change: step.points["conll"] for step in explanation.steps}
    assert len(changes) + len(explanation.quiet) == 3
    total = explanation.goal.scores["conll"] - explanation.start.scores["conll"]
    assert sum(changes.values()) == pytest.approx(total)
    named = [change for change in (*changes, *explanation.quiet) if rules in change]
    assert len(named) == 1
    assert total == pytest.approx(0) or named[0] in changes
