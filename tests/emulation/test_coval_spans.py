"""coval's minimum spans, where a mention's tree is cut: which two mentions are one for coval.

Every case was worked out by hand from coval's steps: how it cuts a tree from parse bits, and how it
then searches it.
"""

from __future__ import annotations

import pytest

import corefeval

# Words with tags and parse bits, and two mentions of the sentence by first and last token.
OUTSIDE = "the/DT/(NP* big/JJ/* red/JJ/(ADJP*) man/NN/*)"
SUBJECT = (
    "the/DT/(TOP(S(NP(NP* man/NN/*) of/IN/(PP* rome/NNP/(NP*))) "
    "saw/VBD/(VP* the/DT/(NP* dog/NN/*))))"
)
BELOW = "one/CD/(NP* the/DT/* of/IN/(PP* rome/NNP/(NP*)))"
SEVERAL = "men/NNS/(NP(NP* big/JJ/* red/JJ/(ADJP*)) and/CC/* boys/NNS/(NP*))"
SIGNS = "½/CD/(NP(NP*) and/CC/* ½/CD/(NP*))"
SAME = [
    # Words before a constituent, outside of all others, stand for all that follows them.
    (OUTSIDE, (1, 3), (1, 2)),
    (SEVERAL, (1, 4), (1, 2)),
    # A clause has the minimum span of its subject, and verb phrases beside it are not opened.
    (SUBJECT, (0, 6), (0, 3)),
    (SUBJECT, (0, 6), (0, 1)),
    # Fractions are neither letters nor digits: all words count, numbered from 0 in the mention.
    (SIGNS, (0, 0), (2, 2)),
]
OTHER = [
    (OUTSIDE, (1, 3), (0, 3)),
    (SUBJECT, (0, 6), (5, 6)),
    # Words that are not good close off what is below them.
    (BELOW, (1, 3), (3, 3)),
]


@pytest.mark.parametrize(("sentence", "one", "other"), SAME)
def test_mentions_with_the_same_minimum_span(sentence, one, other, tmp_path):
    assert compare(sentence, one, other, tmp_path, "coval") == 0
    assert compare(sentence, one, other, tmp_path, "coval-min-span") == 1


@pytest.mark.parametrize(("sentence", "one", "other"), OTHER)
def test_mentions_with_other_minimum_spans(sentence, one, other, tmp_path):
    assert compare(sentence, one, other, tmp_path, "coval-min-span") == 0


def compare(sentence, one, other, folder, protocol) -> float:
    """The F1 of a key with one mention against a response with another."""
    paths = [write(sentence, [m], folder / n) for n, m in (("key", one), ("response", other))]
    return corefeval.score(*paths, protocol=protocol, metrics="mentions")["mentions"].f1


def write(sentence, mentions, path) -> str:
    """A CoNLL file with a sentence whose mentions are one entity."""
    lines = ["#begin document (d); part 000"]
    for index, token in enumerate(sentence.split()):
        brackets = [
            "(0)" if first == last else "(0" if index == first else "0)"
            for first, last in sorted(mentions, key=lambda mention: (mention[0], -mention[1]))
            if index in (first, last)
        ]
        cells = ("d", "0", str(index), *token.split("/"), *"----", "*", "|".join(brackets) or "-")
        lines.append("\t".join(cells))
    path.write_text("\n".join((*lines, "", "#end document", "")))
    return str(path)


def test_trees_are_cut_from_the_sentence_of_the_same_number_in_the_key(tmp_path):
    """Where the response cuts its sentences elsewhere, that is another place in the text."""
    texts = []
    for name, cut in (("key", 2), ("response", 1)):
        path = tmp_path / name
        write("he/PRP/(NP*) saw/VBD/(VP* it/PRP/(NP*)) ran/VBD/(VP*)", [(0, 0), (2, 2)], path)
        lines = path.read_text().splitlines()
        path.write_text("\n".join((*lines[: cut + 1], "", *lines[cut + 1 :], "")))
        texts.append(str(path))
    # Its third word is the second one of its second sentence, and that of the key's is a verb.
    score = corefeval.score(*texts, protocol="coval-np-only", metrics="mentions")["mentions"]
    assert (score.counts["recall_denominator"], score.counts["precision_denominator"]) == (2, 0)
