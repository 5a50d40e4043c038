"""Matching by heads, parts, minimum spans and overlap: against brute force, and in odd cases."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import corefeval
from corefeval import UsageError, analyse, corpus_from_arrays, score
from corefeval.features import MissingFeatureError
from corefeval.model import DocumentId
from corefeval.model.construction import assemble
from corefeval.preparation import prepare
from corefeval.protocol import MATCHERS, Protocol

SYMMETRIC = ("exact", "head", "overlap(0.5)", "overlap(0.2)")
INEXACT = ("head", "partial", "overlap(0.5)", "overlap(0.2)")


def corpus(mentions, name=""):
    """A corpus of one document; a mention is an entity, a set of tokens and a head."""
    entity, tokens, heads = zip(*mentions, strict=True) if mentions else ((), (), ())
    found = [(row, *gap) for row, some in enumerate(tokens) for gap in gaps(some)]
    return assemble(
        documents=(DocumentId("d"),),
        mention_document=None,
        entity=np.array(entity, dtype=np.int64),
        start=np.array([min(some) for some in tokens], dtype=np.int64),
        end=np.array([max(some) + 1 for some in tokens], dtype=np.int64),
        head=np.array(heads, dtype=np.int64),
        gaps=np.array(found, dtype=np.int64).reshape(-1, 3),
        name=name,
    )


@st.composite
def sides(draw, n_tokens: int = 6):
    """Mentions of a short text: nested, discontinuous, some with the same head."""
    sets = st.frozensets(st.integers(0, n_tokens - 1), min_size=1, max_size=4)
    made = []
    for tokens in sorted(draw(st.sets(sets, max_size=5)), key=sorted):
        head = draw(st.sampled_from(sorted(tokens)))
        made.append((draw(st.integers(0, 2)), tokens, head))
    return made


def rows_of(side):
    """Each row of a corpus: its tokens and its head."""
    [document] = side
    return [(frozenset(one.positions), one.head) for one in document.mentions]


def allowed(match, key, response) -> bool:
    """Whether a rule lets two mentions be the same."""
    (mine, head), (theirs, other) = key, response
    if match == "head":
        return head == other
    if match == "partial":
        return head in theirs and theirs <= mine
    share = Fraction(match.partition("(")[2][:-1])
    return dice(mine, theirs) >= share


def dice(one, other) -> Fraction:
    return Fraction(2 * len(one & other), len(one) + len(other))


def brute_force(match, key, response):
    """Twins first; then of all one-to-one pairs the heaviest, the first of these in order."""
    twins = {
        (i, j)
        for i, one in enumerate(key)
        for j, other in enumerate(response)
        if one[0] == other[0] and (match != "head" or one[1] == other[1])
    }
    lone = [set(range(len(key))), set(range(len(response)))]
    for i, j in twins:
        lone[0].remove(i)
        lone[1].remove(j)
    pairs = [(i, j) for i in lone[0] for j in lone[1] if allowed(match, key[i], response[j])]
    best = None
    for number in range(min(map(len, lone)) + 1):
        for chosen in combinations(pairs, number):
            if len({i for i, _ in chosen}) == len({j for _, j in chosen}) == number:
                weight = sum((dice(key[i][0], response[j][0]) for i, j in chosen), Fraction())
                ranked = (-weight, sorted(rank(key[i][0], response[j][0]) for i, j in chosen))
                if best is None or ranked < best[0]:
                    best = (ranked, chosen)
    return twins | set(best[1])


def rank(one, other):
    """Starts, ends and (where these are the same) gaps of a pair, the earlier of each first."""
    starts, ends = sorted((min(one), min(other))), sorted((max(one), max(other)))
    return *starts, *ends, *sorted((gaps(one), gaps(other)))


def gaps(tokens):
    edges = sorted(tokens)
    return [(a + 1, b) for a, b in pairwise(edges) if b > a + 1]


def matched(key, response, match):
    prepared = prepare(key, response, match=match)
    rows = prepared.matches.rows(prepared.key.n_mentions)
    return set(zip(*(one.tolist() for one in rows), strict=True))


@settings(max_examples=300)
@given(sides(), sides(), st.sampled_from(INEXACT))
def test_matches_are_the_heaviest_and_first(mine, theirs, match):
    key, response = corpus(mine), corpus(theirs)
    assert matched(key, response, match) == brute_force(match, rows_of(key), rows_of(response))


METRICS = "mentions, muc, b3, b3-sys, ceafm, ceafe, blanc, lea, links, conll, immediate"


@settings(max_examples=150)
@given(sides(), sides(), st.sampled_from(SYMMETRIC))
def test_exchanged_sides_exchange_recall_and_precision(mine, theirs, match):
    assume(mine and theirs)
    key, response = corpus(mine), corpus(theirs)
    one = score(key, response, match=match, metrics="mentions, muc, b3, ceafm, ceafe, lea")
    other = score(response, key, match=match, metrics="mentions, muc, b3, ceafm, ceafe, lea")
    assert matched(key, response, match) == {(i, j) for j, i in matched(response, key, match)}
    for name in one.metrics:
        assert one[name].recall == pytest.approx(other[name].precision, abs=1e-12)
        assert one[name].precision == pytest.approx(other[name].recall, abs=1e-12)


@given(sides(), st.sampled_from(("exact", *INEXACT)))
def test_the_key_against_itself_is_perfect(mine, match):
    assume(any(e == f for (e, *_), (f, *_) in combinations(mine, 2)))  # some link
    key = corpus(mine)
    result = score(key, corpus(mine), match=match, metrics=METRICS)
    for name in result.metrics:
        assert result[name].f1 == pytest.approx(1)
    assert prepare(key, corpus(mine), match=match).matches.weight is None


def test_every_value_of_match_has_a_matcher_and_one_spelling():
    assert set(MATCHERS) == {"exact", "head", "partial", "min", "overlap"}
    assert Protocol.of(match="overlap").match == "overlap(0.5)"
    assert Protocol.parse("match:overlap(0.50)").match == "overlap(0.5)"
    assert Protocol.parse(str(Protocol.of(match="overlap(.25)"))).match == "overlap(0.25)"
    for wrong in ("overlap(0)", "overlap(1.1)", "overlap(x)", "overlap()", "head(0.5)", "Head", 7):
        with pytest.raises(UsageError, match=r"match is one of exact, head, .*overlap\(0\.5\)"):
            Protocol.of(match=wrong)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("50", "0.5"), ("75%", "0.75"), ("0", "0.5"), ("x", "0.5"), ("1.1", "0.5")],
)
def test_a_share_that_is_none_is_explained(run, wrong, right):
    key = corefeval.example("key")
    status, _, error = run("score", key, key, "--match", f"overlap({wrong})")
    assert status == 2
    assert f": overlap takes a share above 0 and up to 1, such as overlap({right})" in error


def test_several_matches_in_python_are_refused_with_the_way():
    key = corefeval.example("key")
    with pytest.raises(UsageError, match="in Python, read the files once and call score for each"):
        score(key, key, match="head, partial")


def test_the_same_span_with_another_head_is_no_head_match():
    key = corpus([(0, {0, 1}, 0), (0, {3}, 3)])
    response = corpus([(0, {0, 1}, 1), (0, {3}, 3)])
    assert matched(key, response, "head") == {(1, 1)}
    assert matched(key, response, "exact") == {(0, 0), (1, 1)}


def test_nobody_states_a_head_that_others_state_of_the_same_tokens():
    key = corpus([(0, {0, 1, 2}, 1), (0, {4}, 4)])
    response = corpus([(0, {0, 1, 2}, -1), (0, {4}, 4)])
    assert matched(key, response, "head") == {(0, 0), (1, 1)}


def test_unknown_heads_match_by_their_tokens_alone_and_are_told():
    key = corpus([(0, {0, 1, 2}, -1), (0, {4, 5}, 5), (0, {7, 8}, -1)], "key")
    response = corpus([(0, {0, 1}, -1), (0, {5}, 5), (0, {7, 8}, -1)], "response")
    prepared = prepare(key, response, match="head")
    assert matched(key, response, "head") == {(1, 1), (2, 2)}
    notices = [n.message for n in prepared.notices if n.kind == "heads"]
    assert notices == [
        "key: heads of mentions of several tokens: 1 as stated, 2 unknown, "
        "matched only where the tokens are the same",
        "response: heads of mentions of several tokens: 2 unknown, "
        "matched only where the tokens are the same",
    ]


def test_heads_outside_of_their_mentions_tell_nothing():
    key = corpus([(0, {0, 2}, 1), (0, {4, 5}, 9), (0, {7, 8}, 7)])
    response = corpus([(0, {0, 1}, 1), (0, {5, 6}, 9), (0, {7}, 7)])
    assert matched(key, response, "head") == {(2, 2)}


def test_a_head_that_one_side_lacks_does_not_part_the_same_tokens():
    """A head outside of its mention tells nothing, and the other side's is then not asked for."""
    right = corpus([(0, {0, 1}, 0), (0, {4, 5}, 5)])
    wrong = corpus([(0, {0, 1}, 9), (0, {4, 5}, 5)])
    for sides in ((right, wrong), (wrong, right)):
        assert matched(*sides, "head") == {(0, 0), (1, 1)}


@pytest.mark.parametrize("match", ["head", "partial", "min", "overlap"])
def test_plain_mentions_cannot_be_matched_but_by_themselves(match):
    with pytest.raises(MissingFeatureError, match=f"match {match} needs token positions"):
        score([["a", "b"]], [["a", "b"]], match=match)


def test_without_any_heads_nothing_is_matched_by_them():
    spans = corpus_from_arrays(entity=[0, 0], start=[0, 5], end=[3, 8])
    with pytest.raises(MissingFeatureError, match="match head needs heads"):
        score(spans, spans, match="head")
    single = corpus_from_arrays(entity=[0, 0], start=[0, 5], end=[1, 6])
    assert score(single, single, match="head", metrics="muc")["muc"].f1 == 1


def test_where_heads_come_from_is_in_the_signature():
    key, response = corefeval.example("key"), corefeval.example("eager")
    result = score(key, response, match="head", metrics="conll")
    assert "match:head|" in result.signature
    assert "|heads:parse+tags" in result.signature
    assert "|tagset:penn" in result.signature
    assert score(key, response, metrics="conll", protocol=result.signature) == result
    exact = score(key, response, metrics="conll")
    assert result["conll"].f1 > exact["conll"].f1
    assert "heads" not in exact.signature


@pytest.mark.parametrize("match", ["head", "overlap(0.5)"])
@pytest.mark.parametrize("nested", [True, False])
def test_a_crowd_is_matched_alike_from_either_side(match, nested):
    """A thousand mentions on one head, whose best partners are next to them."""
    n = 1000
    places = np.arange(n)
    bounds = (places, 2 * n - places) if nested else (places, places + n)
    key, response = (
        corpus_from_arrays(entity=places, start=bounds[0] + by, end=bounds[1] + by, head=[n] * n)
        for by in (0, 1)
    )
    there = matched(key, response, match)
    assert there == {(i, j) for j, i in matched(response, key, match)}
    assert len(there) >= n - 2


def test_of_equal_matches_those_whose_earlier_mention_comes_first_are_taken():
    """Both ways to match two pairs weigh 7/9: the key's first mention decides, not the response's.

    Its partner begins at 10; the pair of the other way that comes first begins at 1 and 2.
    """
    key = [(0, {0, 20}, 0), (1, {1, 23}, 1), (2, {11, 21, 22, 24, 25}, 11)]
    response = [(0, {2, 23, 24, 25}, 2), (1, {10, 20, 21, 22}, 10)]
    assert matched(corpus(key), corpus(response), "overlap(0.2)") == {(0, 1), (2, 0)}
    assert matched(corpus(response), corpus(key), "overlap(0.2)") == {(1, 0), (0, 2)}


def spans(*bounds):
    """Entities of one mention each, by start and end, all of which have token 500 as head."""
    starts, ends = zip(*bounds, strict=True)
    heads = [500] * len(bounds)
    return corpus_from_arrays(entity=range(len(bounds)), start=starts, end=ends, head=heads)


def test_in_a_crowd_the_sixteenth_neighbour_inside_a_mention_is_seen():
    """The longest by far, but 15 begin before it, 15 end behind it, and there are many more."""
    nearer = [pair for i in range(15) for pair in ((i, 501 + i), (499 - i, 1000 - i))]
    crowd = [(100 + i, 900 - i) for i in range(70)]
    key, response = spans((0, 1000)), spans((20, 980), *nearer, *crowd)
    [(_, row)] = matched(key, response, "partial")
    assert (response.mention_start[row], response.mention_end[row]) == (20, 980)


def test_in_a_crowd_the_tenth_neighbour_that_overlaps_is_seen():
    """Each side has mentions that begin or end nearer to the only partner, and many more."""
    near_key = [pair for i in range(1, 10) for pair in ((i, i + 20), (980 - i, 1000 - i))]
    near_response = [pair for i in range(11, 20) for pair in ((i, i + 20), (980 - i, 1000 - i))]
    key = spans((0, 1000), *near_response, *((100 + 4 * i, 101 + 4 * i) for i in range(70)))
    response = spans((20, 980), *near_key, *((102 + 4 * i, 103 + 4 * i) for i in range(70)))
    for sides in ((key, response), (response, key)):
        [rows] = matched(*sides, "overlap(0.97)")
        pairs = zip(sides, rows, strict=True)
        assert {side.mention_end[row] - side.mention_start[row] for side, row in pairs} == {
            1000,
            960,
        }


@settings(max_examples=200)
@given(sides(), sides())
def test_mor_is_the_greatest_overlap_of_mentions_paired_one_to_one(mine, theirs):
    key, response = corpus(mine), corpus(theirs)
    ours, others = ([tokens for tokens, _ in rows_of(one)] for one in (key, response))
    common = np.array([[len(a & b) for b in others] for a in ours]).reshape(len(ours), len(others))
    best = common[linear_sum_assignment(common, maximize=True)].sum()
    counts = score(key, response, metrics="mor")["mor"].counts
    assert list(counts.values()) == [best, sum(map(len, ours)), best, sum(map(len, others))]
    assert score(key, response, metrics="mor", match="head")["mor"].counts == counts


ZEROS = """# newdoc id = d
# global.Entity = eid-etype-head
# sent_id = 1
{rows}

"""


def zeros(cells) -> str:
    rows = [
        f"{number}\tw\t_\t_\t_\t_\t{'_' if '.' in number else 0}\t_\t_\t{cell}"
        for number, cell in cells
    ]
    return ZEROS.format(rows="\n".join(rows))


def test_zeros_are_mentions_whose_head_is_an_empty_node(tmp_path):
    key, response = tmp_path / "key.conllu", tmp_path / "response.conllu"
    cells = ["(a-x-1)", "(a-x-1)", "(b-x-1", "b)(b-x-1)", "(a-x-2", "a)"]
    numbers = ["1", "1.1", "2", "2.1", "3", "3.1"]
    key.write_text(zeros(zip(numbers, (f"Entity={c}" for c in cells), strict=True)))
    cells = ["(a-x-1)", "(a-x-1)", "(b-x-1", "b)(c-x-1)", "(b-x-2", "b)"]
    response.write_text(zeros(zip(numbers, (f"Entity={c}" for c in cells), strict=True)))
    key, response = str(key), str(response)
    prepared = prepare(key, response)
    assert prepared.key_features("zero").values() == ["no", "yes", "no", "yes", "yes"]
    counts = score(key, response, metrics="zero")["zero"].counts
    # 1.1 follows its own; 2.1 is the first of its entity; 3.1 is in the wrong one
    assert dict(counts) == {"tp": 1, "wl": 1, "fn": 1, "fp": 0}
    assert score(key, key, metrics="zero")["zero"].f1 == 1
    result = score(key, response, metrics="mentions(zeros=only), mentions(zeros=none)")
    assert [list(result[m].counts.values()) for m in result.metrics] == [[3] * 4, [2] * 4]
    by = score(key, response, metrics="mentions", by="zero").slices["zero"]
    assert by["yes"]["mentions"].counts == result["mentions(zeros=only)"].counts


def test_errors_show_what_a_mention_is_matched_with(run):
    key = corpus([(0, {0, 1, 2}, 1), (0, {4}, 4), (1, {6}, 6), (1, {8}, 8)], "key")
    response = corpus([(0, {0, 1}, 1), (0, {4}, 4), (0, {6}, 6), (0, {8}, 8)], "response")
    analysis = analyse(key, response, match="head", metrics="b3, mor")
    assert int(analysis.counts["span"].sum()) == 0
    [error] = analysis.listed("conflated")
    assert [str(one) for one in error.mentions] == ["6", "8"]
    assert str(error.instead) == "0–1 (matched with 0–2)"
    assert [n.message for n in analysis.notices if n.kind == "other-spans"] == [
        "response: 1 mention matched by head with key mentions of other tokens"
    ]
    assert analysis.kinds[-1].kind == "divided"
