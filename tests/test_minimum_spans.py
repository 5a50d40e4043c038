"""Minimum spans: those in parse trees (MINA), and those that a key states."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import corefeval
from corefeval import score
from corefeval.features import MissingFeatureError
from corefeval.features import minimum_spans as finding
from corefeval.features.annotations import TokenAnnotations
from corefeval.preparation import prepare

# the old man of the sea saw Ada 's dogs , and left
SENTENCE = [
    ("the", "DT", "(TOP(S(NP(NP*"), ("old", "JJ", "*"), ("man", "NN", "*)"), ("of", "IN", "(PP*"),
    ("the", "DT", "(NP*"), ("sea", "NN", "*)))"), ("saw", "VBD", "(VP(VP*"),
    ("Ada", "NNP", "(NP(NP*"), ("'s", "POS", "*)"), ("dogs", "NNS", "*))"), (",", ",", "*"),
    ("and", "CC", "*"), ("left", "VBD", "(VP*))))"),
]  # fmt: skip


def text(spans, *, parse=True) -> str:
    """A document of the sentence, with an entity of some spans (start, last token)."""
    rows = []
    for at, (word, tag, bits) in enumerate(SENTENCE):
        opened = [f"(0{')' if a == b else ''}" for a, b in sorted(spans, reverse=True) if a == at]
        closed = ["0)" for a, b in spans if b == at and a != b]
        cells = "d", "0", str(at), word, tag, bits if parse else "-", *"----", "*"
        rows.append("\t".join((*cells, "|".join((*opened, *closed)) or "-")))
    return "\n".join(("#begin document (d); part 000", *rows, "", "#end document", ""))


@pytest.mark.parametrize(
    ("span", "minimum"),
    [
        ((0, 5), "the old man"),
        ((0, 2), "the old man"),
        ((1, 5), "old man"),  # another terminal: what is before a noun is not forgiven
        ((0, 4), "the old man"),  # cut off inside the phrase
        ((3, 5), "the sea"),
        ((7, 9), "dogs"),
        ((7, 8), "Ada 's"),
        ((9, 10), "dogs"),
        ((6, 9), "saw"),
        ((6, 12), "saw left"),  # each of what is coordinated
        ((0, 12), "saw left"),  # a clause is no noun phrase, not even its subject
        ((3, 3), "of"),
        ((10, 11), ", and"),  # nothing of content: all words
    ],
)
def test_minimum_spans(conll, span, minimum):
    corpus = corefeval.read(conll(text([span])))
    trees = finding.Trees(TokenAnnotations(corpus, (corpus,), None), 0)
    found = trees.minimum(span[0], span[1] + 1)
    assert " ".join(SENTENCE[token][0] for token in found) == minimum


def test_mentions_of_equal_minimum_spans_are_the_same(conll):
    key = conll(text([(0, 5), (7, 9)]), "key.conll")
    response = conll(text([(0, 2), (9, 9), (12, 12)], parse=False), "response.conll")
    prepared = prepare(key, response, match="min")
    assert [rows.tolist() for rows in prepared.matches.rows(2)] == [[0, 1], [0, 1]]
    assert score(key, response, match="min", metrics="muc")["muc"].recall == 1
    other = prepare(response, key, match="min")  # by the same trees, of the side that has them
    assert [rows.tolist() for rows in other.matches.rows(2)] == [[0, 1], [0, 1]]


def test_no_trees_and_no_minimum_spans_are_one_clear_error(conll):
    key = conll(text([(0, 5), (7, 9)], parse=False), "key.conll")
    with pytest.raises(MissingFeatureError, match="match min needs minimum spans that the key"):
        score(key, key, match="min")


CONLLU = """# newdoc id = d
# global.Entity = eid-etype-head-minspan
# sent_id = 1
{rows}

"""


def conllu(cells) -> str:
    rows = [
        f"{at}\tw{at}\t_\tNOUN\t_\t_\t_\t_\t_\t{f'Entity={cell}' if cell else '_'}"
        for at, cell in enumerate(cells, 1)
    ]
    return CONLLU.format(rows="\n".join(rows))


@pytest.fixture
def stated(tmp_path):
    """A key of a mention of four words, its head the third, its minimum the second and third."""
    paths = {}
    for name, cells in {
        "key": ["(a-x-3-2,3", "", "", "a)", "(a-x-1-1)"],
        "inside": ["", "(a-x-1-", "a)", "", "(a-x-1-)"],
        "head": ["", "", "(a-x-1-)", "", "(a-x-1-)"],
        "beyond": ["", "(a-x-2-", "", "", "a)(a-x-1-)"],
        "bad": ["(a-x-3-2,9", "", "", "a)", "(a-x-1-7)"],
        "parts": ["(a[1/2]-x-3-2,3", "a[1/2])", "", "(a[2/2]-x-3-2,3)", "(a-x-1-1)"],
        "in parts": ["", "(a[1/2]-x-2-)", "", "(a[2/2]-x-2-)", "(a-x-1-)"],
    }.items():
        paths[name] = str(tmp_path / f"{name}.conllu")
        (tmp_path / f"{name}.conllu").write_text(conllu(cells))
    return paths


@pytest.mark.parametrize("match", ["partial", "min"])
@pytest.mark.parametrize(
    ("key", "response", "recall"),
    [
        ("key", "inside", 1.0),
        ("key", "head", 0.5),
        ("key", "beyond", 0.5),
        ("parts", "in parts", 1.0),
        ("parts", "inside", 0.5),
    ],
)
def test_the_response_lies_between_a_stated_minimum_and_the_span(
    stated, match, key, response, recall
):
    result = score(stated[key], stated[response], match=match, metrics="mentions")
    assert result["mentions"].recall == recall


def test_stated_minimum_spans_outside_of_their_mentions_are_told(stated):
    result = score(stated["bad"], stated["inside"], match="partial", metrics="mentions")
    told = [str(n) for n in result.notices if n.kind == "minimum-outside"]
    assert [t.partition(": ")[2] for t in told] == [
        "2 tokens of minimum spans outside of their mentions"
    ]
    assert result["mentions"].recall == 1


@pytest.mark.parametrize("match", ["partial", "min"])
@pytest.mark.parametrize("stated", ["9" * 20, "9" * 5000, "x", "1e3", "0"])
def test_a_stated_minimum_that_is_no_number_of_a_token(tmp_path, match, stated):
    path = tmp_path / "key.conllu"
    cells = f"(e-x-1-{stated}", "e)", "(e-x-1-1)"
    lines = ["# newdoc id = d", "# global.Entity = eid-etype-head-minspan", "# sent_id = s"]
    for number, cell in enumerate(cells, start=1):
        lines.append(f"{number}\tw\t_\tNOUN\tNN\t_\t0\troot\t_\tEntity={cell}")
    path.write_text("\n".join([*lines, "", ""]))
    result = score(path, path, match=match)
    assert result["b3"].f1 == 1
    assert [n.count for n in result.notices if n.kind == "minimum-outside"] == [1]


# coval's accidents (scorers.md, section 3) that a document may meet:
def accidents(corpus, trees, words) -> dict[int, set[str]]:
    """What keeps coval's numbers of each document from being those of its own definition."""
    found = {index: set() for index in range(len(corpus.documents))}
    base = corpus.tokens.offsets
    seen = Counter()
    starts = set(corpus.tokens.starts.tolist())
    bounds = zip(corpus.mention_document, corpus.mention_start, corpus.mention_end, strict=True)
    for document, start, end in bounds:
        first, last = int(base[document] + start), int(base[document] + end)
        root = trees._cut(first, last)
        labels = {root.label, *(node.label for node in finding._constituents([root]))}
        minimum = trees.minimum(first, last)
        seen[document, minimum] += 1
        told = found[int(document)]
        if seen[document, minimum] > 1:
            told.add("two mentions of equal minimum spans are one")
        if labels & finding._VERBAL:
            told.add("clauses are their subjects, verbs with punctuation are nouns")
        if first in starts and not trees._terminals(root):
            told.add("mentions at the start have the sentence above them")
        if not trees._terminals(root) and not trees._inside(root):
            told.add("words without content are numbered within the mention")
        if any(not (words[token].isalpha() or words[token].isdigit()) for token in minimum):
            told.add("words that are not all letters or digits are lost")
    return found


def differing(result, expected) -> set[int]:
    """The documents in which some count is another."""
    names = {"muc": "muc", "b3": "bcub", "ceafe": "ceafe", "lea": "lea"}
    parts = ("r_num", "r_den", "p_num", "p_den")
    others = set()
    for index, name in enumerate(result.document_ids):
        theirs = expected[next(one for one in expected if name.split(";")[0] in one)]
        for metric, other in names.items():
            mine = [float(count) for count in result.document(index)[metric].counts.values()]
            wanted = [theirs[other][part] for part in parts]
            if not np.allclose(mine, wanted, rtol=0, atol=1e-9):
                others.add(index)
    return others


@pytest.mark.parametrize(
    "system", ["baseline", "corefgraph", "cort-latent", "cort-pair", "xrenner"]
)
def test_coval_has_the_same_where_no_accident_plays_a_part(shared, system):
    folder = shared
    files = [str(folder / "gum" / f"{name}.conll") for name in ("key", system)]
    expected = json.loads((folder / "scorers" / "gum" / f"{system}.json").read_text())
    result = score(*files, match="min", metrics="muc, b3, ceafe, lea")
    others = differing(result, expected["coval min_span"]["documents"])
    key, response = map(corefeval.read, files)
    trees = finding.Trees(TokenAnnotations(key, (key,), None), 0)
    words = [word for document in key for word in document.column("word")]
    response = prepare(key, response).response
    told = [accidents(one, trees, words) for one in (key, response)]
    for index in others:
        assert told[0][index] | told[1][index], result.document_ids[index]
    assert len(result.document_ids) - len(others) >= 20  # of 36
