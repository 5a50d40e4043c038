"""Perturbations do what they say: links and mentions are counted pair by pair."""

from __future__ import annotations

import inspect
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import UsageError, corpus_from_arrays, corpus_from_entities
from corefeval.lab import PERTURBATIONS, compose
from corefeval.lab import perturbations as lab
from corefeval.lab.measurement import moosavi_strube_key
from strategies import corpora

MADE_FROM_THE_KEY = {"resolve-links"}


def positioned(documents):
    """A corpus with token positions from lists of entities of numbers."""
    rows = [
        (index, number, mention)
        for index, entities in enumerate(documents)
        for number, mentions in enumerate(entities)
        for mention in mentions
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return corpus_from_arrays(
        document=columns[0],
        entity=columns[1],
        start=columns[2],
        document_ids=[f"d{index}" for index in range(len(documents))],
        name="test",
    )


def labelled(documents):
    return corpus_from_entities(
        {f"d{index}": [[(m, m + 1) for m in e] for e in d] for index, d in enumerate(documents)}
    )


def mention(one):
    return one.label if one.label is not None else (one.start, one.end)


def mentions_of(corpus):
    found = [(str(d.id), mention(m)) for d in corpus for m in d.mentions]
    assert len(found) == len(set(found))
    return set(found)


def links_of(corpus):
    """Every pair of coreferent mentions."""
    return {
        (str(document.id), frozenset(pair))
        for document in corpus
        for entity in document.entities
        for pair in combinations(map(mention, entity.mentions), 2)
    }


def assert_effect(effect, before, after, what):
    if effect in ("adds", "keeps"):
        assert before <= after, f"{what} were lost"
    if effect in ("removes", "keeps"):
        assert after <= before, f"{what} were added"


def both_corpora(documents, make):
    return make([key for key, _ in documents]), make([response for _, response in documents])


def assert_truth(truths, key, before, after):
    correct = links_of(key)
    old, new = links_of(before), links_of(after)
    assert_effect(truths[0], old & correct, new & correct, "correct links")
    assert_effect(truths[1], old - correct, new - correct, "wrong links")
    assert_effect(truths[2], mentions_of(before), mentions_of(after), "mentions")


@pytest.mark.parametrize("make", [positioned, labelled])
@pytest.mark.parametrize("name", PERTURBATIONS)
@settings(max_examples=50)
@given(documents=corpora, seed=st.integers(0, 5))
def test_the_documented_truth_holds(name, make, documents, seed):
    key, response = both_corpora(documents, make)
    perturbation = PERTURBATIONS[name]
    takes_seed = "seed" in inspect.signature(perturbation.function).parameters
    options = {"seed": seed} if takes_seed else {}
    try:
        changed = perturbation(key, response, **options)
        again = perturbation(key, response, **options)
    except UsageError:
        assume(False)
    truths = perturbation.correct_links, perturbation.wrong_links, perturbation.mentions
    assert_truth(truths, key, response, changed)
    assert links_of(changed) == links_of(again), "the same seed gives the same response"
    assert changed.documents == key.documents
    if name not in MADE_FROM_THE_KEY:
        assert changed.name == response.name
    corefeval.score(key, changed)  # what comes out can be scored


@pytest.mark.parametrize(
    ("name", "options", "truths"),
    [
        ("split-entities", {"which": "pure"}, ("removes", "keeps", "keeps")),
        ("split-entities", {"parts": 3, "share": 0.5}, ("removes", "removes", "keeps")),
        ("merge-entities", {"which": "disjoint"}, ("keeps", "adds", "keeps")),
        ("merge-entities", {"share": 0.5}, ("adds", "adds", "keeps")),
        ("remove-incorrectly-resolved", {"share": 0.5}, ("keeps", "removes", "removes")),
        ("link-missing-pairwise", {"share": 0.5}, ("keeps", "adds", "adds")),
        ("link-missing-together", {"share": 0.5}, ("keeps", "adds", "adds")),
        ("drop-twinless", {"share": 0.3}, ("keeps", "removes", "removes")),
        ("drop-mentions", {"share": 0.7}, ("removes", "removes", "removes")),
        ("add-extra-mentions", {"number": 3, "size": 0, "where": "all"}, ("keeps", "adds", "adds")),
        ("add-extra-mentions", {"where": "document"}, ("keeps", "adds", "adds")),
        ("add-extra-mentions", {"where": "all", "number": 2}, ("keeps", "adds", "adds")),
    ],
)
@settings(max_examples=50)
@given(documents=corpora, seed=st.integers(0, 5))
def test_options_have_their_truth_too(name, options, truths, documents, seed):
    key, response = both_corpora(documents, positioned)
    try:
        changed = PERTURBATIONS[name](key, response, seed=seed, **options)
    except UsageError:
        assume(False)
    assert_truth(truths, key, response, changed)


def groups(corpus):
    return sorted(
        sorted(str(mention(m)) for m in entity.mentions)
        for document in corpus
        for entity in document.entities
    )


def changed(name, key, response, **options):
    return groups(PERTURBATIONS[name](labels(key), labels(response), **options))


def labels(text):
    """Entities of letters: "abc de"."""
    return corpus_from_entities([list(word) for word in text.split()])


def test_incorrectly_resolved_mentions_are_the_papers():
    # d is with the wrong ones; e is alone, so it has no link; x is not in the key.
    assert changed("remove-incorrectly-resolved", "abc def", "abd e x") == [
        ["a", "b"],
        ["e"],
        ["x"],
    ]


def test_what_is_removed_is_all_that_has_no_correct_link():
    assert changed("remove-incorrectly-resolved", "abc def", "ad be") == []


@pytest.mark.parametrize(
    ("key", "pairs"),
    [("ab cd", 2), ("abcd e", 1), ("abc", 0), ("ab c d", 2), ("ab cd e", 2), ("a b c", 1)],
)
def test_missing_mentions_become_as_many_wrong_pairs_as_can_be(key, pairs):
    for seed in range(5):
        made = changed("link-missing-pairwise", key, "", seed=seed)
        assert [len(group) for group in made] == [2] * pairs


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=20), st.integers(0, 9))
def test_wrong_pairs_are_wrong_and_as_many_as_can_be(mentions, seed):
    documents = [
        [
            [place for place, (d, e) in enumerate(mentions) if (d, e) == (document, entity)]
            for entity in range(5)
        ]
        for document in range(3)
    ]
    key = positioned(documents)
    nothing = lab.drop_mentions(key, key, share=1.0)
    pairs = lab.link_missing_pairwise(key, nothing, seed=seed)
    assert not links_of(pairs) & links_of(key)
    assert all(len(entity.mentions) == 2 for document in pairs for entity in document.entities)
    for document, entities in zip(pairs, documents, strict=True):
        sizes = [len(entity) for entity in entities]
        total, largest = sum(sizes), max(sizes)
        assert len(document.mentions) == 2 * min(total // 2, total - largest)


def test_missing_mentions_become_few_large_wrong_entities():
    made = changed("link-missing-together", "abc de fg", "")
    assert sorted(map(len, made)) == [3, 3]  # the third of abc would be alone


def test_splits_leave_no_singletons():
    made = changed("split-entities", "abcdefg hi", "abcdefg hi", parts=3)
    assert sorted(map(len, made)) in ([2, 2, 2, 3], [2, 2, 2, 3])
    assert ["h", "i"] in made


def test_an_entity_is_split_as_asked():
    made = changed("split-entity", "abcdef gh", "abcdef gh", sizes=(3, 2, 1))
    assert sorted(map(len, made)) == [1, 2, 2, 3]
    with pytest.raises(UsageError, match="no entity has 5 mentions"):
        changed("split-entity", "ab", "ab", sizes=(3, 2))


def test_extra_mentions_go_where_they_are_sent():
    made = changed("add-extra-mentions", "abc de", "abc de", number=2, size=3)
    assert made == [["a", "b", "c", "extra 1", "extra 2"], ["d", "e"]]
    made = changed("add-extra-mentions", "abc de", "abc de", number=2, size=0)
    assert made == [["a", "b", "c"], ["d", "e"], ["extra 1", "extra 2"]]
    with pytest.raises(UsageError, match="there are sizes 2, 3"):
        changed("add-extra-mentions", "abc de", "abc de", size=4)


@given(documents=corpora, share=st.floats(0, 1), more=st.floats(0, 1), seed=st.integers(0, 5))
def test_a_share_of_links_is_resolved(documents, share, more, seed):
    key, response = both_corpora(documents, positioned)
    made = lab.resolve_links(key, response, share=share, seed=seed)
    correct = links_of(key)
    assert links_of(made) <= correct
    largest = int(key.entity_sizes.max(initial=1))
    assert abs(len(links_of(made)) - share * len(correct)) <= largest / 2
    assert all(len(entity.mentions) > 1 for document in made for entity in document.entities)
    wrong = lab.resolve_links(key, response, share=share, seed=seed, wrong=True)
    assert links_of(wrong) & correct == links_of(made)
    assert mentions_of(wrong) == mentions_of(key)
    if more >= share:
        assert links_of(made) <= links_of(lab.resolve_links(key, response, share=more, seed=seed))


def test_all_other_mentions_are_linked_wrongly():
    key = moosavi_strube_key()
    for share in (0.0, 0.2, 0.6, 0.9, 0.99):
        wrong = lab.resolve_links(key, key, share=share, wrong=True)
        assert wrong.n_mentions == 79
        assert min(wrong.entity_sizes) > 1
        assert len(links_of(wrong) & links_of(key)) == pytest.approx(326 * share, abs=10)


@pytest.mark.parametrize("name", ["drop-mentions", "drop-twinless", "link-missing-pairwise"])
def test_a_share_is_a_share(name):
    for wrong in (-0.1, 1.1):
        with pytest.raises(UsageError, match="share is a number from 0 to 1"):
            changed(name, "ab", "ab", share=wrong)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("split-entities", {"parts": 1}),
        ("add-extra-mentions", {"number": 0}),
        ("add-extra-mentions", {"where": "nowhere"}),
        ("resolve-links", {"share": 2}),
    ],
)
def test_options_that_make_no_sense(name, options):
    with pytest.raises(UsageError):
        changed(name, "ab", "ab", **options)


def test_perturbations_compose():
    key = labels("abcd ef gh")
    joined = compose(lab.all_singletons, lab.one_entity)
    assert groups(joined(key, key)) == [list("abcdefgh")]
    worse = compose(partial(lab.drop_mentions, share=1.0), lab.all_singletons)
    assert groups(worse(key, key)) == []
    assert groups(compose()(key, key)) == groups(key)


def test_extra_mentions_have_tokens_of_their_document():
    key = corefeval.read(corefeval.example("key"))
    response = corefeval.read(corefeval.example("cautious"))
    changed = lab.add_extra_mentions(key, response, number=5, size=0, where="all")
    extra = mentions_of(changed) - mentions_of(response)
    assert len(extra) == 5 * len(key.documents)
    assert not extra & mentions_of(key)
    for document in changed:
        assert all(
            m.end <= changed.tokens.counts[document.index] and m.text for m in document.mentions
        )


def test_no_room_for_extra_mentions(conll):
    text = "#begin document (d); part 000\nd 0 0 a - - - - - - - (1)\n\n#end document\n"
    corpus = corefeval.read(conll(text))
    with pytest.raises(corefeval.InputError, match="no room"):
        lab.add_extra_mentions(corpus, corpus)


def test_repeated_mentions_count_once():
    key = labels("abc")
    response = corpus_from_entities([["a", "b"], ["b", "c"]])
    assert groups(lab.one_entity(key, response)) == [["a", "b", "c"]]


def test_interrupted_mentions_and_properties_stay(shared):
    key = corefeval.read(shared / "gum" / "key.conllu")
    response = corefeval.read(shared / "gum" / "xrenner.conllu")
    worse = lab.link_missing_pairwise(key, response)
    again = lab.drop_mentions(key, worse, share=0.0)
    result = corefeval.score(key, again, metrics="mentions, muc, lea")
    old = corefeval.score(key, response, metrics="mentions, muc, lea")
    mentions = old["mentions"].counts
    missing = mentions["recall_denominator"] - mentions["recall_numerator"]
    assert 0 < worse.n_mentions - response.n_mentions <= missing
    assert result["mentions"].recall > 0.99
    assert result["muc"].counts["recall_numerator"] == old["muc"].counts["recall_numerator"]
    assert result["lea"].recall < old["lea"].recall + 0.01


def test_perturbed_corpora_can_be_written_and_read_again(tmp_path):
    key = corefeval.read(corefeval.example("key"))
    response = corefeval.read(corefeval.example("cautious"))
    worse = lab.split_entities(key, response)
    corefeval.write(worse, tmp_path / "worse.conll")
    again = corefeval.read(tmp_path / "worse.conll")
    assert links_of(again) == links_of(worse)


def test_every_perturbation_is_documented():
    for name, perturbation in PERTURBATIONS.items():
        assert perturbation.name == name
        assert perturbation.summary.endswith(".")
        assert getattr(lab, name.replace("-", "_")) is perturbation.function
