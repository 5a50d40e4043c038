"""Minimum spans: those in parse trees (MINA), and those that a key states."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import score
from corefeval.features import Features, MissingFeatureError
from corefeval.features import brackets as finding
from corefeval.model import CorpusBuilder
from corefeval.preparation import prepare
from reference_mina import BUGS, Text, count

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
    trees = finding.Trees(Features(corpus), 0)
    found = trees.minimum(span[0], span[1] + 1)
    assert " ".join(SENTENCE[token][0] for token in found) == minimum


def test_labels_are_read_without_functions(conll):
    plain = text([(0, 12)])
    marked = plain.replace("(S(", "(S-ADV(").replace("(TOP", "(ROOT-1").replace("(NP(", "(NP-SBJ(")
    minima = []
    for content in (plain, marked):
        corpus = corefeval.read(conll(content))
        trees = finding.Trees(Features(corpus), 0)
        minima.append([trees.minimum(*span) for span in ((0, 13), (0, 6), (7, 10))])
    assert minima[0] == minima[1]


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
        "2 tokens of minimum spans outside their mentions"
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


@st.composite
def parses(draw, n_tokens: int = 6):
    """Parse bits of a sentence: random constituents over random stretches."""
    opened, closed = [""] * n_tokens, [""] * n_tokens

    def nest(start: int, end: int, depth: int) -> None:
        opened[start] += "(" + draw(
            st.sampled_from(("NP", "VP", "PP", "S", "QP", "ADJP", "NP-SBJ"))
        )
        while start < end:
            until = draw(st.integers(start + 1, end))
            if depth and draw(st.booleans()):
                nest(start, until, depth - 1)
            start = until
        closed[end - 1] += ")"

    nest(0, n_tokens, 3)
    return [f"{one}*{other}" for one, other in zip(opened, closed, strict=True)]


@st.composite
def parsed_sides(draw, n_tokens: int = 6):
    """Two corpora of one parsed sentence; some mentions have gaps."""
    tags = st.lists(
        st.sampled_from(("NN", "DT", "IN", "CC", "VB")), min_size=n_tokens, max_size=n_tokens
    )
    columns = {"tag": draw(tags), "parse": draw(parses(n_tokens))}
    spans = st.frozensets(st.integers(0, n_tokens - 1), min_size=1, max_size=5)
    sides = []
    for name in ("key", "response"):
        builder = CorpusBuilder(name=name)
        document = builder.document("d", words=["w"] * n_tokens, columns=columns)
        for tokens in sorted(draw(st.sets(spans, min_size=2, max_size=5)), key=sorted):
            document.mention_at(str(draw(st.integers(0, 1))), sorted(tokens))
        sides.append(builder.build())
    return sides


STANDARD = "mentions, muc, b3, ceafm, ceafe, blanc, lea"


@settings(max_examples=100)
@given(parsed_sides())
def test_parsed_minimum_spans_look_at_both_sides_alike(sides):
    one, other = (score(*both, match="min", metrics=STANDARD) for both in (sides, sides[::-1]))
    assert one.protocol == other.protocol
    for name in (name for name in one.metrics if name != "blanc"):  # which looks at the key's links
        assert one[name].recall == pytest.approx(other[name].precision, abs=1e-12)
        assert one[name].precision == pytest.approx(other[name].recall, abs=1e-12)
    rows = [prepare(*both, match="min").matches.rows(sides[0].n_mentions)
            for both in (sides, sides[::-1])]  # fmt: skip
    assert set(zip(*rows[0], strict=True)) == {(i, j) for j, i in zip(*rows[1], strict=True)}


@settings(max_examples=100)
@given(parsed_sides())
def test_a_key_against_itself_is_perfect(sides):
    key = sides[0]
    result = score(key, replace(key, name="again"), match="min", metrics=STANDARD)
    has_links = bool((key.entity_sizes > 1).any())
    for name in result.metrics:
        assert result[name].f1 == pytest.approx(float(has_links or name != "muc"))


def test_mentions_too_long_for_trees_are_counted(conll):
    rows = [("w", "NN", "(NP*")] + [("w", "NN", "*")] * finding.LONGEST + [("w", "NN", "*)")]
    paths = []
    for side, last in (("key", len(rows) - 1), ("response", len(rows) - 2)):
        marks = {0: "(0", last: "0)"}
        lines = [
            "\t".join(("d", "0", str(at), *cells, *"----", "*", marks.get(at, "-")))
            for at, cells in enumerate(rows)
        ]
        content = ("#begin document (d); part 000", *lines, "", "#end document", "")
        paths.append(conll("\n".join(content), f"{side}.conll"))
    result = score(*paths, match="min", metrics="mentions")
    assert result["mentions"].recall == 0
    assert [str(n) for n in result.notices if n.kind == "minimum-long"] == [
        f"{path}: 1 mention of more than 1,000 tokens, matched only where the tokens are the same"
        for path in paths
    ]


def test_what_told_minimum_spans_is_in_the_signature(conll, stated):
    parsed = conll(text([(0, 5), (7, 9)]), "parsed.conll")
    found = {}
    for name, key, match in (
        ("parse", parsed, "min"),
        ("stated", stated["key"], "min"),
        ("partial", stated["key"], "partial"),
    ):
        result = score(key, key, match=match, metrics="muc")
        found[name] = result.protocol.minimum
        again = score(key, key, protocol=result.signature, metrics="muc")
        assert again.signature == result.signature
        assert not [n for n in again.notices if n.kind == "other-minimum"]
    assert found == {"parse": "parse", "stated": "stated", "partial": "stated"}
    other = score(parsed, parsed, protocol="match:min|minimum:stated", metrics="muc")
    assert [str(n) for n in other.notices if n.kind == "other-minimum"] == [
        "the protocol says minimum:stated, but here they are minimum:parse: numbers from "
        "other minimum spans are not comparable"
    ]


class Pair:
    """A key and a response with coval's minimum spans, and those of its own definition."""

    def __init__(self, files, expected) -> None:
        self.prepared = prepare(*files, match="min")
        self.result = score(*files, match="min", metrics="muc, b3, ceafe, lea")
        sides = self.prepared.key, self.prepared.response
        self.texts = [
            Text(
                *map(document.column, ("word", "tag", "parse")), sides[0].tokens.sentence_starts(at)
            )
            for at, document in enumerate(sides[0])
        ]
        self.trees = [finding.Trees(Features(side, texts=(sides[0], side)), 0) for side in sides]
        # coval's entities are in the order in which their first mentions close.
        self.entities = [
            [
                sorted(
                    ([(m.start, m.end) for m in entity.mentions] for entity in document.entities),
                    key=lambda spans: min((end, -start) for start, end in spans),
                )
                for document in side
            ]
            for side in sides
        ]
        self.expected = expected
        self.minimum = cache(lambda at, span, cures: self.texts[at].minimum(*span, cures))

    def identities(self, at, cures):
        """The entities of a document, of identities."""
        return [
            [[self.minimum(at, span, cures) for span in entity] for entity in side[at]]
            for side in self.entities
        ]

    def count(self, at, cures=frozenset()):
        return count(*self.identities(at, cures))

    def coval(self, at):
        """What coval counts."""
        name = self.result.document_ids[at].split(";")[0]
        parts = "r_num", "r_den", "p_num", "p_den"
        metrics = self.expected[name]
        return {metric: [metrics[metric][part] for part in parts] for metric in METRICS.values()}

    def ours(self, at):
        scores = self.result.document(at)
        return {other: list(scores[name].counts.values()) for name, other in METRICS.items()}


METRICS = {"muc": "muc", "b3": "bcub", "ceafe": "ceafe", "lea": "lea"}
CURED = frozenset(BUGS)
SYSTEMS = ["baseline", "corefgraph", "cort-latent", "cort-pair", "xrenner"]


def are_same(one, other) -> bool:
    return all(np.allclose(one[name], other[name], rtol=0, atol=1e-9) for name in one)


def have_equal_minima(entities) -> bool:
    """Whether two mentions of one side have the same identity, as coval takes them for one."""
    sides = [[mention for entity in side for mention in entity] for side in entities]
    return any(len(set(side)) < len(side) for side in sides)


@pytest.fixture(scope="module")
def pairs(shared, tmp_path_factory):
    """The systems on GUM, and a corpus of trees and wrong boundaries."""
    made = {}
    for system in SYSTEMS:
        files = [str(shared / "gum" / f"{name}.conll") for name in ("key", system)]
        known = json.loads((shared / "scorers" / "gum" / f"{system}.json").read_text())
        made[system] = Pair(files, known["coval min_span"]["documents"])
    folder = tmp_path_factory.mktemp("parsed")
    corpus = json.loads((shared / "scorers" / "corpora" / "parsed.json").read_text())
    for side in ("key", "response"):
        lines = []
        for name, document in corpus["documents"].items():
            lines.append(f"#begin document ({name}); part 000")
            columns = (document[c] for c in ("words", "pos", "parse", f"{side}_column"))
            rows = list(zip(*columns, strict=True))
            for length in document["sentences"]:
                for at, (word, tag, parse, mark) in enumerate(rows[:length]):
                    cells = name, "0", str(at), word, tag, parse, *"----", "*", mark
                    lines.append("\t".join(cells))
                del rows[:length]
                lines.append("")
            lines.append("#end document")
        (folder / f"{side}.conll").write_text("\n".join([*lines, ""]))
    files = [str(folder / f"{side}.conll") for side in ("key", "response")]
    known = json.loads((shared / "scorers" / "expected" / "parsed.json").read_text())
    made["parsed"] = Pair(files, known["coval min_span"]["documents"])
    return made


@pytest.mark.parametrize("name", [*SYSTEMS, "parsed"])
def test_minimum_spans_are_those_of_coval_without_its_bugs(pairs, name):
    pair = pairs[name]
    for at, text in enumerate(pair.texts):
        # The reference does what coval does, to the last document.
        assert are_same(pair.count(at), pair.coval(at)), pair.result.document_ids[at]
        # With each bug mended, it finds the minimum span of every mention that we find.
        base = int(pair.prepared.key.tokens.offsets[at])
        for trees, side in zip(pair.trees, pair.entities, strict=True):
            for start, end in (span for entity in side[at] for span in entity):
                found = [token - base for token in trees.minimum(base + start, base + end)]
                assert found == list(text.tokens(start, end, CURED))
        # And where no two mentions of a side have the same one, the same numbers follow.
        cured = pair.identities(at, CURED)
        assert have_equal_minima(cured) or are_same(count(*cured), pair.ours(at))


@pytest.mark.slow
def test_what_each_of_covals_bugs_does(pairs):
    """The documents whose numbers one bug changes, and those with mentions that it makes one."""
    documents = [(pair, at) for pair in pairs.values() for at in range(len(pair.texts))]
    changed = Counter()
    for pair, at in documents:
        wrong = pair.count(at)
        for bug in BUGS:
            changed[bug] += not are_same(pair.count(at, frozenset((bug,))), wrong)
        changed["equal minima"] += have_equal_minima(pair.identities(at, CURED))
        changed["none"] += are_same(pair.coval(at), pair.ours(at))
    assert len(documents) == 187
    assert changed == {
        "words lost": 9,
        "numbers inside": 5,
        "subjects": 38,
        "words on top": 2,
        "places": 11,
        "equal minima": 29,
        "none": 127,
    }
