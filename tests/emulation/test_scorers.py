"""Other scorers' numbers, under their protocols: every figure that they gave, and every refusal.

The programs are no dependencies: they were run once, and what they gave is in `data/scorers` (and
in the shared vectors, where they are at hand, for GUM). Rates and counts agree to 1e-9, and prints
to the last digit. What cannot agree is named here: what AllenNLP's interface cannot take, and
neleval's CEAF on a corpus where it depends on a hash.
"""

from __future__ import annotations

import json
import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import ROOT
from corefeval import CorefEvalError, InputError, UsageError
from corefeval.emulation import Material
from corefeval.output import render
from corefeval.protocol import NAMED, Protocol, choices
from piece_corpora import conll, corefud, text_pairs
from scorer_vectors import (
    DATA,
    METRICS,
    NAMES,
    differences,
    in_memory,
    load,
    metrics_of,
    protocol_of,
    write_files,
)

SCORERS = sorted({scorer for name in NAMES for scorer in load("expected", name)} - {"metametric"})
# How it can be scored: by which value of which option.
GOES_ON = r'(fix:|use) .*\w+="\w+'
# Where a text is needed: windows and sentences have no place among plain mentions.
NEED_TEXT = re.compile(r"window|hf-coval|neleval|min_span|NP_only|remove_nested|coval")


def material_of(key, response) -> Material:
    return Material(corefeval.read(key), corefeval.read(response))


def check(material: Material, scorer: str, wanted: dict, name: str) -> list[tuple]:
    """Where a protocol's numbers are not the program's."""
    protocol, options = protocol_of(scorer)
    made = Protocol.of(protocol, **options)
    where = f"{name} {scorer}"
    if "cannot be said" in wanted.get("error", ""):
        return []
    metrics = metrics_of(wanted.get("corpus", wanted.get("micro", {})))
    if "error" in wanted:
        with pytest.raises(CorefEvalError, match=GOES_ON):
            material.result(made, metrics)
        return []
    if scorer in ("tanl", "seq2seq"):
        macro = material.result(Protocol.of("tanl-macro"), metrics)
        found = [*differences(macro.scores, wanted["macro"], f"{where} macro")]
        result = material.result(made, metrics)
        return [*found, *differences(result.scores, wanted["micro"], where)]
    if "error" in str(wanted["corpus"]):  # the corpus ends the program, its documents do not
        with pytest.raises(CorefEvalError, match=GOES_ON):
            material.result(made, metrics)
        made, wanted = (
            made.but(limit="none", aggregate="micro", extra="ignore"),
            {**wanted, "corpus": {}},
        )
    result = material.result(made, metrics)
    found = [*differences(result.scores, wanted["corpus"], where)]
    if scorer == "neleval":
        result = material.result(Protocol.of("neleval-by-doc"), metrics)
        micro = material.result(Protocol.of("neleval-by-doc", aggregate="micro"), metrics)
        found += differences(result.scores, wanted["macro"], f"{where} macro")
        found += differences(micro.scores, wanted["micro"], f"{where} micro")
    if "average_of_printed" in wanted["corpus"]:
        official = material.result(Protocol.of("e2e-official"), "conll")["conll"].f1
        assert 100 * official == pytest.approx(wanted["corpus"]["average_of_printed"], abs=1e-9)
    documents = {document.id.split(";")[0]: document for document in result.documents}
    for identifier, figures in (wanted.get("documents") or {}).items():
        found += differences(documents[identifier].scores, figures, f"{where} {identifier}")
    return found


def is_excepted(place: str) -> bool:
    """What the specification itself leaves out."""
    return "apart neleval" in place and "ceaf" in place


@pytest.mark.parametrize("name", NAMES)
def test_every_figure(name, tmp_path):
    material = material_of(*write_files(name, tmp_path))
    for scorer, wanted in load("expected", name).items():
        if scorer != "metametric":
            found = check(material, scorer, wanted, name)
            assert not [one for one in found if not is_excepted(one[0])]


@pytest.mark.parametrize("name", NAMES)
def test_entities_in_memory_score_as_files(name):
    key, response = in_memory(load("corpora", name))
    for scorer, wanted in load("expected", name).items():
        if (
            scorer != "metametric"
            and not NEED_TEXT.search(scorer)
            and "error" not in str(wanted)[:20]
        ):
            if "error" in str(wanted.get("corpus")):
                continue
            protocol, options = protocol_of(scorer)
            result = corefeval.score(key, response, protocol=protocol, metrics=METRICS, **options)
            figures = wanted.get("micro" if "micro" in wanted else "corpus")
            assert not [*differences(result.scores, figures, f"{name} {scorer}")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "system", ["baseline", "corefgraph", "xrenner", "cort-latent", "cort-pair"]
)
def test_every_figure_on_gum(system, shared):
    gum = shared / "gum"
    material = material_of(gum / "key.conll", gum / f"{system}.conll")
    vectors = json.loads((shared / "scorers" / "gum" / f"{system}.json").read_text())
    for scorer, wanted in vectors.items():
        if scorer != "metametric":
            found = check(material, scorer, wanted, system)
            assert not [one for one in found if not is_excepted(one[0])]


@pytest.mark.slow
@pytest.mark.parametrize("system", ["baseline", "xrenner"])
def test_every_figure_on_gum_with_singletons(system, shared):
    sides = [corefeval.read(shared / "gum" / f"{one}.conllu") for one in ("key", system)]
    material = Material(*sides)
    vectors = json.loads((shared / "scorers" / "gum" / f"{system}-singletons.json").read_text())
    for scorer, wanted in vectors.items():
        if scorer != "metametric" and "error" not in wanted:
            assert not check(material, scorer, wanted, system)


@pytest.mark.parametrize("name", NAMES)
def test_the_programs_own_prints(name, tmp_path):
    material = material_of(*write_files(name, tmp_path))
    for scorer, wanted in load("expected", name).items():
        printed = wanted.get("printed")
        if not isinstance(printed, list) or scorer not in ("coval", "conll-8.01"):
            continue
        result = material.result(Protocol.of(protocol_of(scorer)[0]))
        text = render(result, format="coval" if scorer == "coval" else "conll")
        lines = text.partition("METRIC lea")[0].splitlines()
        assert [one for one in lines if one] == [
            one for one in printed if one and not one.startswith("Repeated")
        ]


# The smallest examples leave other choices as a plain program has them.
PLAIN = {"repeats_key": "keep", "repeats_response": "keep"}
VALUES = {
    ("aggregate", "macro"): "macro-rates", ("zero", "zero"): "0", ("window", "None"): "none",
}  # fmt: skip


@pytest.mark.parametrize(
    "example", json.loads((DATA / "minimal.json").read_text()), ids=lambda one: one["policy"]
)
def test_the_smallest_example_of_each_choice(example):
    key, response = in_memory(_with_orders(example["corpus"]))
    policy = {"zero": "undefined"}.get(example["policy"], example["policy"])
    base = {n: VALUES.get((n, v), v) for n, v in example["base"].items() if n != "metrics"}
    for value, wanted in example["results"].items():
        value = VALUES.get((example["policy"], value), value)
        chosen = {**PLAIN, **base, policy: value}
        if policy == "identity":
            continue  # needs sentences: see the corpus `boundary`
        if isinstance(wanted, str):
            with pytest.raises(CorefEvalError):
                corefeval.score(key, response, **chosen)
            continue
        result = corefeval.score(key, response, metrics=METRICS, **chosen)
        for metric, rates in wanted.items():
            score = result[{"bcub": "b3"}.get(metric, metric)]
            got = [score.recall, score.precision, score.f1]
            assert [100 * one for one in got] == pytest.approx(
                [float(one) for one in rates], abs=0.0051, nan_ok=True
            ), (policy, value, metric)


def _with_orders(corpus):
    return {
        **corpus,
        "documents": {
            n: {**d, "response": d["response"] or []} for n, d in corpus["documents"].items()
        },
    }


def test_every_combination_of_two_choices_runs():
    """No choice of another program keeps another one from being made."""
    corpus = load("corpora", "within")
    key, response = in_memory(corpus)
    material = Material(_corpus(key), _corpus(response))
    accidents = {
        name: [value for value in choice.values or ("4",) if choice.is_accident(value)]
        for name, choice in choices().items()
        if name != "emulate" and any(map(choice.is_accident, choice.values or ("4",)))
    }
    names = list(accidents)
    for one, other in ((a, b) for i, a in enumerate(names) for b in names[i + 1 :]):
        for mine, theirs in product(accidents[one], accidents[other]):
            protocol = Protocol.of(**{one: mine, other: theirs})
            try:
                result = material.result(protocol, METRICS)
            except (InputError, UsageError) as error:
                assert re.search(GOES_ON, str(error))
            else:
                assert set(result.scores) >= {"muc", "b3", "ceafe", "conll"}
                assert Protocol.parse(result.signature) == result.protocol


def _corpus(entities):
    return corefeval.preparation.as_corpus(entities, "key")


@settings(max_examples=40)
@given(
    text_pairs(zeros=True), st.sampled_from(("first", "last")), st.sampled_from(("keep", "drop"))
)
def test_an_accident_that_changes_nothing(tmp_path_factory, texts, duplicates, singletons):
    """Emulation has corefeval's own numbers where nothing else is asked for, repeats included."""
    folder = tmp_path_factory.getbasetemp()
    for form, write in (("conll", conll), ("conllu", corefud)):
        paths = [folder / f"{side}.{form}" for side in ("key", "response")]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(write(text), "utf-8")
        metrics = "mentions, muc, b3, ceafm, ceafe, blanc, lea, links, conll"
        own, emulated = (
            corefeval.score(
                *paths, metrics=metrics, duplicates=duplicates, singletons=singletons, limit=limit
            )
            for limit in ("none", "999")
        )
        assert own.document_ids == emulated.document_ids
        for metric, table in own.tables.items():
            for name, column in table.columns().items():
                assert emulated.tables[metric].columns()[name] == pytest.approx(column), metric


def test_repeats_that_go_by_the_own_rule_count_for_the_limit():
    key, response = [["a", "b"], ["c", "d"]], [["a", "b"], ["b", "a", "c"]]
    with pytest.raises(InputError, match="2 repeated mentions in the response, more than 1"):
        corefeval.score(key, response, limit="1")
    [notice] = corefeval.score(key, response, limit="2").notices
    assert str(notice) == "response: 2 repeated mentions left out (--repeats-response once)"


def test_named_protocols_say_what_is_odd(run):
    for name, named in NAMED.items():
        status, out, _ = run("protocols", name)
        assert status == 0
        assert all(len(line) <= 80 for line in out.splitlines()), name
        assert not named.metrics or (named.oddities and named.reference), name


def test_refusals_name_the_program_and_what_goes_on():
    one, two = {"1": [["a", "b"]]}, {"1": [["a", "b"]], "2": [["c", "d"]]}
    twice = [["a", "b", *range(11)], [*range(11), "c"]]
    for key, response, protocol, program, choice in (
        (two, one, "coval", "coval", "--missing empty"),
        (one, two, "scorch", "scorch", "--extra ignore"),
        (twice, twice, "conll-8.01", "conll-8.01", "--limit none"),
        (one, {"1": []}, "neleval", "neleval", "--nothing ok"),
        ({"1": []}, {"1": []}, "scorch", "scorch", "--aggregate micro"),
        # numpy's weighted mean of the precision, whose weights are the response's mentions
        (one, {"1": []}, "scorch", "scorch", "--aggregate micro"),
    ):
        with pytest.raises(InputError) as caught:
            corefeval.score(key, response, protocol=protocol)
        assert program in caught.value.problem
        assert choice in str(caught.value.fix)
        name, value = choice.removeprefix("--").split()
        go_on = {name.replace("-", "_"): value}
        assert corefeval.score(key, response, protocol=protocol, **go_on)["muc"].f1 >= 0


def test_choices_that_end_a_program_whatever_the_files_are_bad_usage():
    one = {"1": [["a", "b"]]}
    with pytest.raises(UsageError, match=r"minimum spans stop hf-coval .* use min_span=\"no\""):
        corefeval.score(one, one, protocol="hf-coval|min-span:yes")
    assert corefeval.score(one, one, protocol="hf-coval", min_span="no")["muc"].f1 == 1


@pytest.mark.parametrize(
    ("cells", "links"),
    [
        ("(1)|(0) (0)", 1),  # 0 ends last, and keeps the mention that 1 has too
        ("(0)|(1) (0)", 0),
        ("(2 (0)|2)|(1) (0)", 1),  # not side by side: both keep it
        ("(1|(0 (0 0)|1)|0)", 1),  # the first 0) ends the inner mention, the second the outer
        ("(1|(0 (0 0)|0)|1)", 0),
    ],
)
def test_neleval_takes_the_last_of_mentions_that_end_side_by_side(cells, links, tmp_path):
    rows = "".join(f"d\t0\t{place}\tw\t{cell}\n" for place, cell in enumerate(cells.split()))
    path = tmp_path / "both.conll"
    path.write_text(f"#begin document (d); part 000\n{rows}\n#end document\n")
    score = corefeval.score(path, path, protocol="neleval", metrics="links")["links"]
    assert score.counts["recall_denominator"] == score.counts["precision_denominator"] == links


def test_neleval_looks_a_mention_up_in_the_entity_that_begins_last(tmp_path):
    """Not in the one with the highest number, where both have it and do not end it together."""
    paths = []
    for name, cells in (("key", "(1) (2 (0)|2)|(1) (0)"), ("response", "- - (0) (0)")):
        paths.append(tmp_path / name)
        rows = "".join(f"d\t0\t{row}\tw\t{cell}\n" for row, cell in enumerate(cells.split()))
        paths[-1].write_text(f"#begin document (d); part 000\n{rows}\n#end document\n")
    for protocol in ("neleval", "neleval-by-doc"):
        assert corefeval.score(*paths, protocol=protocol, metrics="muc")["muc"].precision == 1


def test_windows_of_nothing_score_nothing():
    """Documents without a mention have no (start, end) spans, and need none."""
    for key, response in (({"1": []}, {"1": []}), ({"1": [[(0, 0), (1, 1)]]}, {})):
        assert corefeval.score(key, response, protocol="bookcoref-window")["conll"].f1 == 0
    with pytest.raises(InputError, match="windows need mentions with positions"):
        corefeval.score([["a", "b"]], [["a", "b"]], protocol="bookcoref-window")


def test_options_of_coval_join():
    joined = Protocol.of("coval-np-only-min-span")
    assert (
        joined
        == Protocol.of("coval-min-span-np-only")
        == Protocol.of("coval", min_span="yes", np_only="yes")
    )
    for name in ("coval-", "coval-min-span-min-span", "coval-min", "bookcoref-window(0)"):
        with pytest.raises(UsageError, match="no protocol"):
            Protocol.of(name)
    assert Protocol.of("bookcoref-window(10)").window == "10"


def test_accidents_have_scores_alone():
    with pytest.raises(UsageError, match="b3:response"):
        corefeval.prepare([["a", "b"]], [["a", "b"]], protocol="conll-8.01", b3="response")
    with pytest.raises(UsageError, match="has no scores by kind"):
        corefeval.score([["a", "b"]], [["a", "b"]], protocol="e2e", by="kind")
    with pytest.raises(UsageError, match="there is no lmuc"):
        corefeval.score([["a", "b"]], [["a", "b"]], protocol="e2e", metrics="lmuc")
    with pytest.raises(UsageError, match="only works with match exact"):
        corefeval.score([["a", "b"]], [["a", "b"]], protocol="e2e", match="head")


def test_results_are_saved_and_compared(tmp_path):
    corpus = load("corpora", "clean")
    key, response = in_memory(corpus)
    for protocol in ("scorch", "neleval", "tanl-macro", "stanza", "e2e-official"):
        result = corefeval.score(key, response, protocol=protocol, identity="token")
        result.save(tmp_path / "saved.json")
        assert corefeval.load(tmp_path / "saved.json").scores == result.scores
        with_intervals = corefeval.score(key, response, protocol=protocol, identity="token", ci=0.9)
        low, high = with_intervals["muc"].intervals["f1"]
        assert low <= result["muc"].f1 <= high


def test_the_default_path_does_without_emulation():
    import subprocess
    import sys

    code = (
        "import sys, corefeval; corefeval.score([['a', 'b']], [['a']], singletons='drop-response')"
    )
    code += "; print([name for name in sys.modules if 'emulation' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr
