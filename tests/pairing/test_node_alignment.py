"""Empty nodes aligned by their enhanced dependencies, compared with brute force over matchings."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import agree
from corefeval.model import CorpusBuilder
from corefeval.pairing.zeros import settle_zeros
from corefeval.preparation import prepare

# A place is (sentence, word, number of the empty node after it; 0 for the word itself). The nodes
# of a side are {place: DEPS}, where DEPS are pairs of (word, number) and a relation.


@st.composite
def nodes(draw, sentences):
    """The empty nodes of one side, their parents words, nodes, or nothing that there is."""
    found = {}
    for sentence, n_words in enumerate(sentences):
        places = st.tuples(st.integers(0, n_words), st.sampled_from([1, 2, 10]))
        own = draw(st.lists(places, max_size=4, unique=True))
        parents = [(word, 0) for word in range(n_words + 2)] + own + [(1, 7)]
        for place in own:
            entry = st.tuples(st.sampled_from(parents), st.sampled_from(["a", "b"]))
            found[sentence, *place] = draw(st.frozensets(entry, max_size=3))
    return dict(sorted(found.items()))


@st.composite
def sides(draw):
    """The words of each sentence, and the nodes and mentions of key and response."""
    sentences = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    words = [(s, w + 1, 0) for s, n_words in enumerate(sentences) for w in range(n_words)]
    result = []
    for side in (draw(nodes(sentences)), draw(nodes(sentences))):
        axis = sorted([*words, *side])
        chosen = st.sets(st.sampled_from(axis), min_size=1, max_size=3).map(frozenset)
        entities = draw(st.dictionaries(chosen, st.sampled_from("abc"), max_size=5))
        mentions = {
            members: (entity, draw(st.sampled_from(sorted(members))))
            for members, entity in entities.items()
        }
        result.append((axis, side, mentions))
    return result


def cell(dependencies) -> str:
    texts = [f"{w}.{n}:{r}" if n else f"{w}:{r}" for (w, n), r in sorted(dependencies)]
    return "|".join(texts) or "_"


def built(side, name="d"):
    axis, side_nodes, mentions = side
    builder = CorpusBuilder(name=name)
    changes = [i + 1 for i, (one, other) in enumerate(pairwise(axis)) if one[0] != other[0]]
    document = builder.document(
        "d",
        words=[f"{s}-{w}" if not n else "_" for s, w, n in axis],
        sentence_starts=[0, *changes],
        columns={
            "empty": ["1" if number else "" for *_, number in axis],
            "number": [f"{w}.{n}" if n else str(w) for _, w, n in axis],
            "deps": [cell(side_nodes.get(place, ())) for place in axis],
        },
    )
    for members, (entity, head) in mentions.items():
        positions = [axis.index(member) for member in members]
        document.mention_at(entity, positions, head=axis.index(head))
    return builder.build()


def dice(one, other):
    return 2 * len(one & other) / (len(one) + len(other)) if one & other else 0.0


def brute_force(key, response):
    """The alignment of one sentence's nodes, {response place: key place}, joined ones included."""
    contents = sorted({tuple(sorted(d)) for d in (*key.values(), *response.values())})
    partner = {place: place for place in response if place in key}
    rounds = []
    for _ in range(17):
        edges = []
        for mine in key:
            for theirs in response:
                sets = [
                    {(class_of(side, place, parent, known), r) for parent, r in side[place]}
                    for side, place, known in ((key, mine, None), (response, theirs, partner))
                ]
                heads = [{parent for parent, _ in one} for one in sets]
                weight = 10 * dice(*sets) + dice(*heads)
                known = [contents.index(tuple(sorted(d))) for d in (key[mine], response[theirs])]
                exchanged = sorted(zip((mine, theirs), known, strict=True))
                order = (mine != theirs, *(p for p, _ in exchanged), *(c for _, c in exchanged))
                if weight:
                    edges.append(((*order, mine), weight, mine, theirs))
        chosen = best(sorted(edges))
        partner = {theirs: mine for *_, mine, theirs in chosen}
        rounds.append(dict(partner))
        taken = set(partner.values())
        left = {p: p for p in response if p in key and p not in partner and p not in taken}
        partner |= left
        if len(rounds) > 1 and rounds[-1] == rounds[-2]:
            break
    return partner


def class_of(side, place, parent, partner):
    node = (place[0], *parent)
    if node not in side:
        return ("word", parent)
    return ("node", node if partner is None else partner.get(node, ("response", node)))


def best(edges):
    """The heaviest matching; among equals that whose edges come first."""
    found = [(0.0, ())]
    for index, (_, weight, mine, theirs) in enumerate(edges):
        for total, chosen in list(found):
            if all(edges[e][2] != mine and edges[e][3] != theirs for e in chosen):
                found.append((total + weight, (*chosen, index)))
    most = max(total for total, _ in found)
    return [edges[e] for e in min(chosen for total, chosen in found if total > most - 1e-9)]


def places_on_axis(corpus, axis):
    """The position of each of a side's places on the common axis."""
    tokens = corpus.tokens
    own = [tokens.position_in_file(0, position) for position in range(int(tokens.counts[0]))]
    return {axis[mine]: position for position, mine in enumerate(own) if mine >= 0}


@settings(max_examples=250, deadline=None)
@given(sides())
def test_nodes_are_aligned_as_by_brute_force(both):
    (key_axis, key_nodes, _), (response_axis, response_nodes, _) = both
    (key, response), notices = settle_zeros([built(side) for side in both], "align")
    mine, theirs = places_on_axis(key, key_axis), places_on_axis(response, response_axis)
    expected, moved = {}, 0
    for sentence in range(max(place[0] for place in key_axis) + 1):
        parts = [
            {place: d for place, d in one.items() if place[0] == sentence}
            for one in (key_nodes, response_nodes)
        ]
        expected |= brute_force(*parts)
    moved = sum(one != other for one, other in expected.items())
    positions = {position: place for place, position in mine.items()}
    actual = {place: positions[at] for place, at in theirs.items() if place[2] and at in positions}
    assert actual == expected
    counts = {notice.kind: [] for notice in notices}
    for notice in notices:
        counts[notice.kind].append(notice.count)
    alone = [len(key_nodes) - len(expected), len(response_nodes) - len(expected)]
    assert counts.get("aligned-nodes", []) == ([moved] if moved else [])
    assert counts.get("empty-nodes", []) == [count for count in alone if count]
    # Every word stands where the other side has it, and aligned nodes at the earlier place.
    first = {one: min(one, other) for other, one in expected.items()}
    assert [first.get(p, p) for p in mine] == sorted(first.get(p, p) for p in key_axis)
    assert [mine[p] for p in key_axis if not p[2]] == [theirs[p] for p in key_axis if not p[2]]
    every = sorted((at, place[0]) for one in (mine, theirs) for place, at in one.items())
    assert [s for _, s in every] == sorted(s for _, s in every)


METRICS = (
    "mentions",
    "muc",
    "b3",
    "ceafm",
    "ceafe",
    "lea",
    "links",
    "mor",
    "immediate",
    "mentions(zeros=only)",
)
MATCHES = ("exact", "head", "overlap(0.5)")


@settings(max_examples=100, deadline=None)
@given(sides(), st.sampled_from(MATCHES))
def test_exchanging_the_sides_exchanges_recall_and_precision(both, match):
    key, response = (built(side) for side in both)
    one = corefeval.score(key, response, metrics=(*METRICS, "blanc"), match=match)
    other = corefeval.score(response, key, metrics=(*METRICS, "blanc"), match=match)
    for metric in METRICS:  # sums of the same fractions, in another order
        assert one[metric].recall == pytest.approx(other[metric].precision, abs=1e-12)
        assert one[metric].precision == pytest.approx(other[metric].recall, abs=1e-12)
    # What BLANC makes of a side without links looks at the key alone; its counts do not.
    for half in ("coreference", "non_coreference"):
        for side, opposite in (("common", "common"), ("key", "response"), ("response", "key")):
            names = f"{half}_{side}", f"{half}_{opposite}"
            assert one["blanc"].counts[names[0]] == other["blanc"].counts[names[1]]


@settings(max_examples=60, deadline=None)
@given(sides(), st.sampled_from((*MATCHES, "partial")))
def test_a_key_against_itself_is_perfect(both, match):
    metrics = (*METRICS, "zero", "blanc")
    key, again = built(both[0]), built(both[0], "other")
    result = corefeval.score(key, again, metrics=metrics, match=match, undefined="1")
    assert result.notices == () or not both[0][2]
    assert {metric: result[metric].f1 for metric in metrics} == dict.fromkeys(metrics, 1.0)


def conllu(*rows: str) -> str:
    """Lines of number, DEPS and (maybe) Entity; an empty one ends a sentence."""
    lines = ["# newdoc id = d", "# global.Entity = eid-head"]
    for row in rows:
        number, deps, *mark = row.split() if row else ("", "")
        misc = f"Entity={mark[0]}" if mark else "_"
        word = "_" if "." in number else f"w{number}"
        lines.append("\t".join((number, word, *"______", deps, misc)) if row else "")
    return "\n".join((*lines, "", ""))


# Rows of key and response, and whether the only mention of each is found in the other.
CASES = {
    "another place": (("1 _", "1.1 2:nsubj (e-1)", "2 _"), ("1 _", "2 _", "2.1 2:nsubj (e-1)"), 1),
    "another parent": (("1 _", "1.1 2:nsubj (e-1)", "2 _"), ("1 _", "2 _", "2.1 1:nsubj (e-1)"), 0),
    "the parent alone": (("1 _", "1.1 2:obj (e-1)", "2 _"), ("1 _", "2 _", "2.1 2:obl (e-1)"), 1),
    "no common parent, same id": (("1 _", "1.1 1:obj (e-1)"), ("1 _", "1.1 0:obj (e-1)"), 1),
    "no DEPS, same id": (("1 _", "1.1 _ (e-1)"), ("1 _", "1.1 1:obj (e-1)"), 1),
    "no DEPS, another id": (("1 _", "1.1 _ (e-1)"), ("0.1 1:obj (e-1)", "1 _"), 0),
    "other sentence": (
        ("1 _", "1.1 1:obj (e-1)", "", "1 _"), ("1 _", "", "0.1 1:obj (e-1)", "1 _"), 0,
    ),
    "parent that is a zero": (
        ("1 _", "1.1 1:conj", "1.2 1.1:nsubj (e-1)", "2 _"),
        ("1 _", "1.1 1.2:nsubj (e-1)", "1.2 1:conj", "2 _"),
        1,
    ),
    "zeros exchanged in one gap": (
        ("1 _", "1.1 1:nsubj (e-1)", "1.2 1:obj"), ("1 _", "1.1 1:obj", "1.2 1:nsubj (e-1)"), 1,
    ),
    "no room left at its place": (
        ("1 _", "1.1 1:nsubj (e-1)"), ("1 _", "1.1 9:obj (e-1)", "1.2 1:nsubj"), 0,
    ),
    "ids of two digits": (("1 _", "1.10 1:a (e-1)"), ("1 _", "1.1 1:a", "1.10 1:a (e-1)"), 1),
    "parents of two digits": (
        ("1 _", "1.1 1:a", "1.10 1:b", "1.11 1.10:x (e-1)"),
        ("0.1 1.10:x (e-1)", "1 _", "1.1 1:a", "1.10 1:b"),
        1,
    ),
    "a cycle": (
        ("1 _", "1.1 1.2:a (e-1)", "1.2 1.1:b"), ("1 _", "1.1 1.2:a (e-1)", "1.2 1.1:b"), 1,
    ),
    "its own parent": (("1 _", "1.1 1.1:a (e-1)"), ("1 _", "1.1 1.1:a (e-1)"), 1),
    "a parent that is not there": (("1 _", "1.1 7.3:a (e-1)"), ("0.1 7.3:a (e-1)", "1 _"), 1),
    "broken DEPS": (("1 _", "1.1 x:y|:|3 (e-1)"), ("1 _", "1.1 ||- (e-1)"), 1),
    "huge numbers": (
        ("1 _", f"1.1 {'9' * 30}:a (e-1)"), ("1 _", f"1.1 {'9' * 30}.{'9' * 30}:a (e-1)"), 1,
    ),
    "repeated ids": (
        ("1 _", "1.1 1:a", "1.1 1:b (e-1)"), ("1 _", "1.1 1:b (e-1)", "1.1 1:a"), 1,
    ),
    "a sentence of empty nodes": (
        ("1 _", "", "0.1 0:a (e-1)", "0.2 0:b", "", "1 _"),
        ("1 _", "", "0.1 0:b", "0.2 0:a (e-1)", "", "1 _"),
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("key", "response", "same"), CASES.values(), ids=list(CASES))
def test_alignments(conll, key, response, same):
    for one, other in ((key, response), (response, key)):
        paths = conll(conllu(*one), "k.conllu"), conll(conllu(*other), "r.conllu")
        result = corefeval.score(*paths, metrics="mentions")
        assert result["mentions"].f1 == float(same)


def test_the_number_of_aligned_nodes_is_told(conll):
    key, response, _ = CASES["no room left at its place"]
    paths = conll(conllu(*key), "k.conllu"), conll(conllu(*response), "r.conllu")
    result = corefeval.score(*paths)
    assert [(n.kind, n.count) for n in result.notices[:2]] == [
        ("aligned-nodes", 1),
        ("empty-nodes", 1),
    ]
    text = "r.conllu: 1 empty node matched by dependencies with one at another place"
    assert str(result.notices[0]).endswith(text)
    assert "zeros" not in result.signature
    by_place = corefeval.score(*paths, zeros="place")
    assert "|zeros:place|" in by_place.signature
    assert by_place["mentions"].f1 == 1.0


def test_mentions_around_displaced_zeros(conll):
    """Words and zeros of a mention are one set, wherever the zeros stand in their file."""
    key = conllu("1 _ (e-1", "1.1 3:x", "2 _ e)", "3 _")
    response = conllu("1 _ (e[1/2]-1", "2 _ e[1/2])", "3 _", "3.1 3:x (e[2/2]-1)")
    result = corefeval.score(conll(key, "k.conllu"), conll(response, "r.conllu"))
    assert result["mentions"].f1 == 1.0
    prepared = prepare(conll(key, "k.conllu"), conll(response, "r.conllu"))
    assert [mention.span for mention in prepared.response[0].mentions] == [(0, 3)]
    assert prepared.response.gaps.size == 0
    assert prepared.response[0].words == ["w1", "_", "w2", "w3"]
    assert [prepared.response.tokens.line(0, position) for position in range(4)] == [3, 6, 4, 5]


def test_heads_move_with_their_nodes(conll):
    key = conllu("1 _", "1.1 2:x (e-1)", "2 _", "3 _")
    response = conllu("1 _", "2 _ (e-2", "2.1 2:x e)", "3 _")
    prepared = prepare(conll(key, "k.conllu"), conll(response, "r.conllu"))
    assert [(m.span, m.head) for m in prepared.key[0].mentions] == [((1, 2), 1)]
    assert [(m.span, m.head) for m in prepared.response[0].mentions] == [((1, 3), 1)]


def test_annotators_are_aligned_with_the_first(conll):
    texts = (
        conllu("1 _ (e-1)", "1.1 2:x (e-1)", "2 _"),
        conllu("1 _ (e-1)", "2 _", "2.1 9:y", "2.2 2:x (e-1)"),
        conllu("0.1 2:x (e-1)", "1 _ (e-1)", "2 _"),
    )
    agreement = agree([conll(text, f"{n}.conllu") for n, text in enumerate(texts)])
    assert agreement.alpha["masi"] == 1.0
    assert agreement.means["mentions"] == 1.0


def crowd(n, deps, *, mark):
    """A sentence of one word and many empty nodes, one of them a mention."""
    rows = [f"1.{k + 1} {deps(k)}" + (" (e-1)" if k == mark else "") for k in range(n)]
    return conllu("1 _ (e-1)", *rows)


def test_nodes_of_a_crowded_sentence_go_by_place_in_linear_time(conll):
    """Ten thousand nodes of one parent: a hundred million pairs, of which none is made."""
    n = 10_000
    key = conll(crowd(n, lambda k: f"1:r{k // 2}", mark=6), "k.conllu")
    reversed_key = conll(crowd(n, lambda k: f"1:r{(n - 1 - k) // 2}", mark=6), "r.conllu")
    displaced = conll(crowd(n, lambda k: f"1:r{k // 2}", mark=8), "d.conllu")
    for response, f1 in ((key, 1.0), (reversed_key, 1.0), (displaced, 0.5)):
        for sides in ((key, response), (response, key)):
            assert corefeval.score(*sides, metrics="mentions")["mentions"].f1 == f1


def test_a_chain_of_ten_thousand_zeros_ends(conll):
    n = 10_000
    key = conll(crowd(n, lambda k: f"1.{k}:x" if k else "1:x", mark=n - 1), "k.conllu")
    response = conll(crowd(n, lambda k: f"1.{k + 2}:x" if k < n - 1 else "1:x", mark=0), "r.conllu")
    assert 0 < corefeval.score(key, response, metrics="mentions")["mentions"].f1 <= 1
    assert corefeval.score(key, key, metrics="mentions")["mentions"].f1 == 1


def test_dropping_takes_mentions_with_an_empty_head(conll):
    text = conllu("1 _ (e-2", "1.1 1:x e)", "2 _ (e-1", "2.1 1:x e)", "3 _ (e-1)")
    result = corefeval.score(conll(text, "k.conllu"), conll(text, "r.conllu"), zeros="drop")
    assert result["mentions"].counts["recall_denominator"] == 2
    assert [(n.kind, n.count) for n in result.notices] == [
        ("empty-nodes", 2),
        ("zero-mentions", 1),
    ] * 2


def test_dependencies_are_only_parsed_where_both_sides_have_empty_nodes(conll, monkeypatch):
    from corefeval.pairing import node_alignment

    monkeypatch.setattr(node_alignment, "parse_dependencies", None)
    plain, zero = conllu("1 2:x (e-1)", "2 _"), conllu("1 2:x (e-1)", "1.1 2:x", "2 _")
    pairs = ((plain, plain), (plain, zero), (zero, plain))
    for key, response in pairs:
        result = corefeval.score(conll(key, "k.conllu"), conll(response, "r.conllu"))
        assert result["mentions"].f1 == 1.0
    with pytest.raises(TypeError):
        corefeval.score(conll(zero, "k.conllu"), conll(zero, "r.conllu"))
