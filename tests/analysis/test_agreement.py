"""Agreement between annotators: α against the coincidence matrix written out."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.analysis.agreement import agree
from corefeval.diagnostics import InputError, PairingError, UsageError
from corefeval.model import CorpusBuilder
from strategies import entities

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))
DISTANCES = ("passonneau", "jaccard", "masi", "dice")


# The definitions, written out.


def monotonicity(one: frozenset, other: frozenset) -> float:
    if one == other:
        return 1
    if one <= other or other <= one:
        return 2 / 3
    return 1 / 3 if one & other else 0


def distance(name: str, one: frozenset, other: frozenset) -> float:
    jaccard = len(one & other) / len(one | other)
    return (
        1
        - {
            "passonneau": monotonicity(one, other),
            "jaccard": jaccard,
            "masi": jaccard * monotonicity(one, other),
            "dice": 2 * len(one & other) / (len(one) + len(other)),
        }[name]
    )


def coded_units(annotations, unmarked: str) -> list[list[frozenset]]:
    """The values of each unit; a mention is a pair of its document and itself."""
    owners = []
    for documents in annotations:
        owner = {}
        for number, document in enumerate(documents):
            for entity in document:
                chain = frozenset((number, mention) for mention in entity)
                owner |= dict.fromkeys(chain, chain)
        owners.append(owner)
    return [
        [
            owner.get(unit, frozenset([unit]))
            for owner in owners
            if unit in owner or unmarked == "singleton"
        ]
        for unit in sorted(set().union(*owners))
    ]


def alpha_by_coincidences(units: list[list[frozenset]], name: str) -> float:
    """Krippendorff (2004), ch. 11: the matrix of coincidences of values, over pairable units."""
    units = [values for values in units if len(values) > 1]
    categories = list({value for values in units for value in values})
    place = {value: index for index, value in enumerate(categories)}
    matrix = np.zeros((len(categories), len(categories)))
    for values in units:
        for one, other in permutations(values, 2):
            matrix[place[one], place[other]] += 1 / (len(values) - 1)
    margins, total = matrix.sum(axis=1), matrix.sum()
    if total < 2:
        return math.nan
    far = np.array([[distance(name, one, other) for other in categories] for one in categories])
    observed = (matrix * far).sum() / total
    expected = (np.outer(margins, margins) * far).sum() / (total * (total - 1))
    return 1.0 if observed == 0 else 1 - observed / expected


annotations = st.integers(2, 4).flatmap(
    lambda n: st.integers(1, 3).flatmap(
        lambda d: st.lists(
            st.lists(entities(max_mentions=6), min_size=d, max_size=d), min_size=n, max_size=n
        )
    )
)


def as_sources(annotated):
    return {
        f"annotator {index}": {f"d{number}": document for number, document in enumerate(documents)}
        for index, documents in enumerate(annotated)
    }


@settings(max_examples=100)
@given(annotations, st.sampled_from(["singleton", "missing"]))
def test_alpha_is_what_the_coincidence_matrix_gives(annotated, unmarked):
    agreement = agree(as_sources(annotated), metrics="mentions", unmarked=unmarked)
    units = coded_units(annotated, unmarked)
    assert agreement.mentions.sum() == len(units)
    for name in DISTANCES:
        expected = alpha_by_coincidences(units, name)
        assert agreement.alpha[name] == pytest.approx(expected, nan_ok=True, abs=1e-9)
        for number, document in enumerate(agreement.documents):
            alone = [[documents[number]] for documents in annotated]
            expected = alpha_by_coincidences(coded_units(alone, unmarked), name)
            assert document.alpha[name] == pytest.approx(expected, nan_ok=True, abs=1e-9)


@settings(max_examples=100)
@given(annotations)
def test_names_and_order_make_no_difference(annotated):
    agreement = agree(as_sources(annotated), metrics="conll, lea")
    turned = agree(
        [
            {f"d{n}": [chain[::-1] for chain in d[::-1]] for n, d in enumerate(documents)}
            for documents in reversed(annotated)
        ],
        metrics="conll, lea",
    )
    assert turned.alpha == pytest.approx(agreement.alpha, nan_ok=True)
    assert turned.means == pytest.approx(agreement.means)


@settings(max_examples=100)
@given(st.lists(entities(), min_size=1, max_size=3).filter(any), st.integers(2, 4))
def test_identical_annotators_agree(document, n):
    for unmarked in ("singleton", "missing"):
        agreement = agree(as_sources([document] * n), unmarked=unmarked, metrics="b3, ceafe")
        assert set(agreement.alpha.values()) == {1.0}
        assert agreement.means == pytest.approx({"b3": 1.0, "ceafe": 1.0})


def test_a_case_by_hand():
    """Three mentions; one annotator has them in one chain, the other splits one off.

    Jaccard: within mentions 1/3, 1/3, 2/3, so 4/9 observed; over all pairs of the six values
    (6/3 + 3·2/3 + 2) / 15 = 2/5 expected.
    """
    found = agree([[["a", "b", "c"]], [["a", "b"], ["c"]]], distances="jaccard").alphas["jaccard"]
    assert (found.observed, found.expected) == pytest.approx((4 / 9, 2 / 5))
    assert found.alpha == pytest.approx(-1 / 9)


def test_unmarked_mentions():
    """`c` is a singleton of one annotator and unmarked by the other."""
    sources = [[["a", "b"], ["c"]], [["a", "b"]]]
    assert agree(sources).alpha["masi"] == 1.0
    assert agree(sources, unmarked="missing").alpha["masi"] == 1.0
    sources = [[["a", "b", "c"]], [["a", "b"]]]
    # Values {a b c} ×2 and {a b} ×2 are pairable: D_o = 1/3, D_e = 2 · 4/3 / 12.
    assert agree(sources, unmarked="missing").alpha["jaccard"] == pytest.approx(1 - 3 / 2)
    assert agree(sources).protocol.unmarked == "singleton"
    assert "unmarked:missing" in agree(sources, unmarked="missing").signature


def test_nothing_to_compare_is_not_a_number():
    agreement = agree([[], []])
    assert math.isnan(agreement.alpha["masi"])
    assert agreement.as_dict()["alpha"]["masi"]["alpha"] is None
    assert math.isnan(agree([[["a"]], [["b"]]], unmarked="missing").alpha["dice"])


def test_f1_of_pairs_is_what_scoring_gives():
    agreement = agree([KEY, CAUTIOUS, EAGER], metrics="standard")
    assert agreement.annotators == ("key.conll", "cautious.conll", "eager.conll")
    for (key, response), one in {
        ("key.conll", "eager.conll"): corefeval.score(KEY, EAGER),
        ("eager.conll", "cautious.conll"): corefeval.score(EAGER, CAUTIOUS),
    }.items():
        for metric in agreement.metrics:
            assert agreement.pairwise[metric][key, response] == pytest.approx(one[metric].f1)
            # F1 is the same both ways.
            assert agreement.pairwise[metric][response, key] == pytest.approx(one[metric].f1)
            documents = {d.id: d[metric].f1 for d in one.documents}
            for document in agreement.documents:
                assert document.pairwise[metric][key, response] == documents[document.id]
    pairs = agreement.pairwise["lea"]
    assert agreement.means["lea"] == pytest.approx(sum(pairs.values()) / 6)


def test_blanc_depends_on_the_key_where_a_kind_of_link_is_missing():
    agreement = agree({"one": [["a", "b", "c"]], "two": [["a", "b"], ["c"]]}, metrics="blanc")
    pairs = agreement.pairwise["blanc"]
    assert pairs["one", "two"] != pairs["two", "one"]
    assert agreement.means["blanc"] == pytest.approx(sum(pairs.values()) / 2)


def test_distances_are_chosen():
    assert list(agree([[["a"]], [["a"]]], distances="MASI, jaccard").alpha) == ["masi", "jaccard"]
    assert list(agree([[["a"]], [["a"]]], distances=["dice"]).alpha) == ["dice"]


def test_documents_that_not_all_have_are_left_out():
    one = {"a": [["x", "y"]], "b": [["x", "y"]]}
    two = {"b": [["x", "y"]], "c": [["z"]]}
    agreement = agree([one, two, one])
    assert agreement.document_ids == ("b",)
    assert agreement.alpha["masi"] == 1.0
    (notice,) = agreement.notices
    assert (notice.kind, notice.count, notice.items) == ("missing-documents", 2, ("a", "c"))
    with pytest.raises(PairingError, match="no document that all annotations have"):
        agree([{"a": [["x"]]}, {"b": [["x"]]}])


def test_documents_glob():
    agreement = agree([KEY, EAGER], documents="bc/*")
    assert len(agreement.document_ids) == 3
    assert "documents:bc/*" in agreement.signature


def test_policies_and_their_notices():
    agreement = agree([KEY, EAGER], singletons="drop")
    assert [notice.kind for notice in agreement.notices] == [
        "singletons",
        "repeated-mentions",
        "singletons",
    ]
    assert agreement.means["conll"] == pytest.approx(
        corefeval.score(KEY, EAGER, singletons="drop")["conll"].f1
    )
    with pytest.raises(InputError, match="a mention is repeated"):
        agree([KEY, EAGER], duplicates="error")


def test_plain_spans_go_on_the_tokens_of_another_annotator():
    plain = {
        str(document.id): [
            [(mention.start, mention.end) for mention in entity.mentions]
            for entity in document.entities
        ]
        for document in corefeval.read(KEY)
    }
    agreement = agree([plain, KEY, EAGER], spans="exclusive", metrics="b3")
    assert agreement.annotators == ("annotator 1", "key.conll", "eager.conll")
    assert agreement.pairwise["b3"]["annotator 1", "key.conll"] == 1.0
    assert agreement.protocol.spans == "exclusive"


def test_mentions_of_two_worlds_are_refused(conll):
    path = conll("#begin document (d); part 000\nd\t0\t0\tAda\t(1)\n\n#end document\n")
    with pytest.raises(InputError, match="plain Python mentions"):
        agree([{"d": [["Ada"]]}, path])


def test_characters_go_on_the_tokens_of_another_annotator(tmp_path):
    corefeval.write(corefeval.read(KEY), tmp_path / "key.json", format="fastcoref")
    agreement = agree([tmp_path / "key.json", EAGER, KEY], metrics="mentions")
    assert agreement.pairwise["mentions"]["key.json", "key.conll"] > 0.99


def _with_zeros(*, zeros: bool, split: bool):
    builder = CorpusBuilder(name=f"{zeros}{split}")
    words = ["Ada", "_", "sleeps", "she"] if zeros else ["Ada", "sleeps", "she"]
    columns = {"empty": ["", "1", "", ""] if zeros else ["", "", ""]}
    document = builder.document("d", words=words, columns=columns)
    document.mention("e1", 0, 1)
    document.mention("e2" if split else "e1", len(words) - 1, len(words))
    if zeros:
        document.mention("e1", 1, 2)
    return builder.build()


@pytest.mark.parametrize(("zeros", "mentions", "mean"), [("drop", 2, 1.0), ("place", 3, 13 / 15)])
def test_empty_nodes_that_one_annotator_lacks(zeros, mentions, mean):
    sources = {
        "with": _with_zeros(zeros=True, split=False),
        "also": _with_zeros(zeros=True, split=False),
        "without": _with_zeros(zeros=False, split=False),
    }
    for names in permutations(sources):
        agreement = agree({name: sources[name] for name in names}, zeros=zeros)
        assert agreement.annotators == names
        assert agreement.mentions.tolist() == [mentions]
        assert agreement.means["mentions"] == pytest.approx(mean)
        assert "empty-nodes" in {notice.kind for notice in agreement.notices}


def test_gaps_tell_mentions_apart():
    corpora = []
    for positions in ([0, 2], [0, 1, 2], [0, 2]):
        builder = CorpusBuilder(name="d")
        document = builder.document("d", words=["a", "b", "c"])
        document.mention_at("e", positions)
        corpora.append(builder.build())
    agreement = agree(corpora, metrics="mentions")
    assert agreement.annotators == ("d", "d (2)", "d (3)")
    assert agreement.mentions.tolist() == [2]
    assert agreement.pairwise["mentions"]["d", "d (3)"] == 1.0
    assert agreement.pairwise["mentions"]["d", "d (2)"] == 0.0


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        (KEY, {}, "a list of two or more"),
        (7, {}, "a list of two or more"),
        ([KEY], {}, "there is 1"),
        ([KEY, EAGER], {"unmarked": "maybe"}, "unmarked is one of singleton, missing"),
        ([KEY, EAGER], {"distances": "euclid"}, "there is no distance 'euclid'"),
        ([KEY, EAGER], {"distances": []}, "no distance was asked for"),
        ([KEY, EAGER], {"metrics": "mucc"}, "did you mean 'muc'"),
    ],
)
def test_requests_that_make_no_sense(sources, options, message):
    with pytest.raises(UsageError, match=message):
        agree(sources, **options)


def test_other_texts_are_refused(conll):
    text = "#begin document (d); part 000\nd\t0\t0\t{}\t(1)\n\n#end document\n"
    one, two = conll(text.format("Ada")), conll(text.format("Bob"))
    with pytest.raises(PairingError, match="another text"):
        agree([one, two])
    assert agree([one, two], ignore_tokens=True).means["mentions"] == 1.0


def test_three_people_on_one_act_of_a_play(shared):
    """α as NLTK 3.9's AnnotationTask works it out, with 2/3 and 1/3 in MASI, to 10 digits."""
    paths = [shared / "annotators" / f"{name}.conll" for name in ("AK", "JA", "SH")]
    agreement = agree(paths)
    assert agreement.alpha["jaccard"] == pytest.approx(0.6296904807593, abs=1e-10)
    assert agreement.alpha["masi"] == pytest.approx(0.4050358498655, abs=1e-10)
    missing = agree(paths, metrics="mentions", unmarked="missing").alpha
    assert missing["jaccard"] == pytest.approx(0.6569187662878, abs=1e-10)
    assert missing["masi"] == pytest.approx(0.3647374205716, abs=1e-10)
    assert agreement.pairwise["conll"]["AK.conll", "SH.conll"] == pytest.approx(
        corefeval.score(paths[0], paths[2])["conll"].f1
    )


def test_the_signature_is_that_of_all_pairs(conll):
    """Two annotators state heads; the third states none, and marks other tokens."""
    rows = ("1\tthe\t_\t_\t_\t_\t3", "2\told\t_\t_\t_\t_\t3", "3\tman\t_\t_\t_\t_\t0")
    paths = {}
    for name, header, cells in (
        ("ann", "eid-head", ("(a-3", "", "a)")),
        ("bob", "eid-head", ("(a-3", "", "a)")),
        ("cat", "eid", ("", "(a", "a)")),
    ):
        lines = [
            f"{row}\t_\t_\t{f'Entity={cell}' if cell else '_'}"
            for row, cell in zip(rows, cells, strict=True)
        ]
        lines = ["# newdoc id = d", f"# global.Entity = {header}", *lines, "", ""]
        paths[name] = conll("\n".join(lines), f"{name}.conllu")
    agreement = agree(paths, match="head", metrics="mentions")
    assert agreement.results["ann", "bob"].protocol.heads == "file"
    assert agreement.protocol.heads == "file+dependencies"
    assert agreement.means["mentions"] == 1


@pytest.mark.parametrize("options", [{}, {"singletons": "drop"}, {"match": "overlap"}])
@pytest.mark.parametrize("metrics", ["standard", "all"])
def test_results_of_both_directions_are_those_of_scoring(metrics, options):
    sides = {"ann": KEY, "bob": CAUTIOUS, "cleo": EAGER}
    agreement = agree(sides, metrics=metrics, **options)
    for (key, response), result in agreement.results.items():
        expected = corefeval.score(sides[key], sides[response], metrics=metrics, **options)
        assert (result.key, result.response) == (key, response)
        assert len({r.key_digest for pair, r in agreement.results.items() if pair[0] == key}) == 1
        for metric in agreement.metrics:
            assert result[metric].counts == pytest.approx(expected[metric].counts)
