"""Slices and features of odd data: where sides differ, values are odd, or nothing is there."""

from __future__ import annotations

import csv
import io
import json

import pytest

import corefeval
from corefeval.output import render

COLUMNS = "-\t-\t-\t-"


def conll(path, rows, document="d"):
    """A file of (word, tag, named entity, coreference)."""
    lines = [
        f"{document}\t0\t{number}\t{word}\t{tag}\t*\t{COLUMNS}\t{entity}\t{cell}"
        for number, (word, tag, entity, cell) in enumerate(rows)
    ]
    text = "\n".join((f"#begin document ({document}); part 000", *lines, "", "#end document", ""))
    path.write_text(text, encoding="utf-8")
    return path


def conllu(path, cells, header="eid-etype-head"):
    """A file of words with Entity attributes."""
    lines = [f"# newdoc id = d\n# global.Entity = {header}\n# sent_id = 1"]
    for number, cell in enumerate(cells, 1):
        front = f"{number}\tw{number}\tw\tNOUN\tNN\t_\t{int(number > 1)}\tdep"
        lines.append(f"{front}\t_\t{f'Entity={cell}' if cell else '_'}")
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return path


def test_a_response_converted_to_corefud_has_the_same_scores(tmp_path):
    """Where no head is stated and nothing depends on anything, heads are not known."""
    rows = [
        ("His", "PRP$", "*", "(1"),
        ("car", "NN", "*", "1)"),
        ("stopped", "VBD", "*", "-"),
        ("It", "PRP", "*", "(1)"),
        ("President", "NN", "*", "(2"),
        ("Obama", "NNP", "*", "2)"),
        ("he", "PRP", "*", "(2)"),
    ]
    key = conll(tmp_path / "key.conll", rows)
    corefeval.write(corefeval.read(key), tmp_path / "response.conllu", format="corefud")
    same = corefeval.score(key, key, metrics="lmuc", by="kind")
    other = corefeval.score(key, tmp_path / "response.conllu", metrics="lmuc", by="kind")
    assert other["lmuc"].counts == same["lmuc"].counts
    assert other.slices["kind"].sizes == same.slices["kind"].sizes


def test_named_entities_do_not_depend_on_other_mentions(tmp_path):
    """`Green` is the inside of `Old Green`, whichever mentions there are."""
    rows = [
        ("see", "VB", "O", "-"),
        ("Old", "JJ", "B-ORG", "-"),
        ("Green", "JJ", "I-ORG", "(1)"),
        ("it", "PRP", "O", "(1)"),
    ]
    key = conll(tmp_path / "key.conll", rows)
    rows[1] = ("Old", "JJ", "B-ORG", "(2)")
    response = conll(tmp_path / "response.conll", rows)
    result = corefeval.score(key, response, metrics="mentions", by="class")
    assert set(result.slices["class"]) == {"none"}


GIVEN = {"a": {"x": "m", "y": "f"}, "b": {"x": "f", "y": "f"}}
TWO = {"a": [["x", "y"]], "b": [["x", "y"]]}


@pytest.mark.parametrize(
    ("key", "given", "options", "sizes"),
    [
        (TWO, GIVEN, {"documents": "a"}, {"m": 1, "f": 1}),
        (TWO, {**GIVEN, "c": {"x": "m"}}, {}, {"m": 1, "f": 3}),
        ({1: [["x", "y"]]}, {1: {"x": "m", "y": "f"}}, {}, {"m": 1, "f": 1}),
        (TWO, {("x"): "m", "y": "f"}, {}, {"m": 2, "f": 2}),
    ],
)
def test_given_features_find_their_documents(key, given, options, sizes):
    result = corefeval.score(key, key, metrics="mentions", by="g", features={"g": given}, **options)
    assert dict(result.slices["g"].sizes) == sizes


def test_a_feature_of_documents_may_be_given_by_document():
    genres = {"genre": {"a": "news", "b": "talk"}}
    result = corefeval.score(TWO, TWO, metrics="mentions", by="genre", features=genres)
    assert dict(result.slices["genre"].sizes) == {"news": 1, "talk": 1}


def test_discontinuous_mentions_are_not_their_hulls(tmp_path):
    cells = ["(e2-org-1(e1[1/2]-person-1)", "", "(e1[2/2]-person-1)e2)", "(e1-person-1)"]
    key = conllu(tmp_path / "key.conllu", cells)
    classes = corefeval.score(key, key, metrics="mentions", by="class").slices["class"]
    assert {c: part["mentions"].counts["precision_denominator"] for c, part in classes.items()} == {
        "person": 2, "org": 1,
    }  # fmt: skip


def test_mentions_of_one_hull_have_an_order(tmp_path):
    """The one with more tokens comes first, whichever way the file has them."""
    one = conllu(tmp_path / "a.conllu", ["(e1--1(e1[1/2]--1)", "", "(e1[2/2]--1)e1)", "(e1--1)"])
    other = conllu(tmp_path / "b.conllu", ["(e1[1/2]--1)(e1--1", "", "e1)(e1[2/2]--1)", "(e1--1)"])
    result = corefeval.score(one, other, metrics="mentions, immediate")
    assert result["mentions"].f1 == 1.0
    assert result["immediate"].f1 == 1.0


def test_a_value_called_none_is_not_no_value():
    genres = {"genre": lambda m: {"a": "none", "b": None, "c": "news"}[m.document.id.name]}
    key = {name: [["x", "y"]] for name in "abc"}
    result = corefeval.score(key, key, metrics="muc", by="genre", features=genres)
    assert dict(result.slices["genre"].sizes) == {"none": 1, "(none)": 1, "news": 1}


def test_sums_keep_no_value_apart():
    def part(given):
        key = [["x", "y"]]
        return corefeval.score(key, key, metrics="mentions", by="g", features={"g": given})

    total = part({"x": "none"}) + part({"x": "m"})
    assert dict(total.slices["g"].sizes) == {"none": 1, "m": 1, "(none)": 2}
    assert total.slices["g"]["(none)"]["mentions"].counts["recall_denominator"] == 2


def test_documents_without_mentions_have_a_genre(tmp_path):
    key = tmp_path / "key.conll"
    key.write_text(
        "#begin document (nw/a); part 000\nnw/a 0 0 he (1)\n#end document\n"
        "#begin document (bc/b); part 000\nbc/b 0 0 x -\n#end document\n"
    )
    genres = corefeval.score(key, key, metrics="mentions", by="genre").slices["genre"]
    assert dict(genres.sizes) == {"nw": 1, "bc": 1}


def test_bins_are_in_order():
    by_size = corefeval.score([["a"], ["b"]], [["a", "b"]], metrics="mentions", by="size")
    assert list(by_size.slices["size"]) == ["1", "2–10"]
    large = [[str(n) for n in range(12)]]
    total = (
        corefeval.score([["a"]], [["a"]], metrics="mentions", by="size")
        + corefeval.score(large, large, metrics="mentions", by="size")
        + by_size
    )
    assert list(total.slices["size"]) == ["1", "2–10", "11+"]


@pytest.mark.parametrize("value", ["", "all", "[b]", "[2cm]", "*", "a\nb", 'a,b|c"d&e%_$#{}\\~^'])
@pytest.mark.parametrize("format", ["text", "markdown", "latex", "csv", "json"])
def test_odd_values_are_shown(value, format):
    own = {"g": {"x": value, "y": "plain"}}
    key = [["x", "y"]]
    result = corefeval.score(key, key, metrics="mentions, muc", by="g", features=own)
    shown = render([result], format=format)
    assert "plain" in shown
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(shown)))
        assert len(rows) == 2 + 2 * 2
    if format == "latex":
        rows = [line for line in shown.splitlines() if line.endswith(r"\\")]
        assert not any(row.startswith(("[", "*")) for row in rows)
    if format == "text":
        assert sum(line.startswith(("all", "plain", "(empty)", "a", "[", "*")) for line in
                   shown.partition("By g")[2].splitlines()) >= 3  # fmt: skip


def test_labels_are_not_bold_because_they_are_numbers():
    key = [["x", "y"]]
    result = corefeval.score(key, key, metrics="mentions", by="size(1,2,3+)")
    assert "**2**" not in render([result], format="markdown")


def test_an_empty_batch_adds_up():
    corpus = corefeval.corpus_from_arrays(entity=[0, 0], start=[0, 1])
    full = corefeval.score(corpus, [[(0, 1), (1, 2)]], spans="exclusive")
    empty = corefeval.score(corpus, [], spans="exclusive")
    assert (full + empty)["mentions"].recall == 0.5
    guessed = corefeval.score(corpus, [[(0, 1), (1, 2)]]) + corefeval.score(corpus, [])
    assert guessed["mentions"].recall == 0.5


def test_results_with_other_slices_do_not_add_up():
    key = [["x", "y"]]
    with pytest.raises(corefeval.UsageError, match="slices"):
        corefeval.score(key, key, by="size") + corefeval.score(key, key)


def test_bins_of_several_responses_are_in_order_with_no_value_last():
    """One response lacks a bin that the other has, and both have first mentions."""
    key = [[str(n) for n in range(6)], ["x", "y"]]
    responses = ([["x", "y"]], [[str(n) for n in range(6)]])
    results = [
        corefeval.score(key, one, metrics="mentions", by="chain_position") for one in responses
    ]
    own = {"near": lambda mention: None if mention.label == "x" else str(len(mention.label))}
    for given, by in ((None, "chain_position"), (own, "near")):
        results = [
            corefeval.score(key, one, metrics="mentions", by=by, features=given)
            for one in responses
        ]
        table = render(results, format="text").partition(f"By {by}")[2]
        rows = table.partition("─\n")[2].splitlines()
        labels = [line.split()[0] for line in rows if line[:1].strip()]
        values = labels[: labels.index("all")]
        assert len(values) > 1
        assert values == sorted(values, key=lambda value: (value == "none", value))


def three_sentences(*documents: str, nodes: str = "") -> str:
    """Documents of three sentences, whose first words are an entity; a document may have a node."""
    lines = []
    for name in documents:
        lines += [f"# newdoc id = {name}", "# global.Entity = eid-etype-head"]
        for number in range(3):
            lines += [f"# sent_id = {name}{number}", f"# s_type = t{number}", "# speaker = Ann"]
            lines[-1] += str(number)
            lines.append(f"1\tAda\t_\tPROPN\tNNP\t_\t0\troot\t_\tEntity=(e{name}-person-1)")
            if name == nodes and number == 1:
                node = f"1.1\t_\t_\tPRON\tPRP\t_\t_\t_\t1:nsubj\tEntity=(e{name}-person-1)"
                lines.append(node)
            lines += ["2\tmet\t_\tVERB\tVBD\t_\t1\tdep\t_\t_", ""]
    return "\n".join((*lines, ""))


SIDES = [
    (three_sentences("a"), three_sentences("a", "b")),  # a document that one side lacks
    (three_sentences("a", "b", nodes="a"), three_sentences("a", "b", nodes="b")),  # empty nodes
]
FEATURES = ("kind", "noun", "tag", "head_tag", "head", "words", "speaker", "sentence_type",
            "distance(sentences)", "class", "entity_class", "zero", "length")  # fmt: skip


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("feature", FEATURES)
def test_what_the_key_lacks_has_the_values_that_its_own_text_tells(sides, feature, tmp_path):
    paths = [tmp_path / name for name in ("one.conllu", "other.conllu")]
    for path, text in zip(paths, sides, strict=True):
        path.write_text(text, "utf-8")
    there, back = (
        corefeval.score(*order, metrics="mentions, muc, links", by=feature, extra="count").slices
        for order in (paths, paths[::-1])
    )
    for metric in ("mentions", "links"):
        counts = [
            {value: tuple(part[metric].counts.values()) for value, part in one[feature].items()}
            for one in (there, back)
        ]
        swapped = {value: (c, d, a, b) for value, (a, b, c, d) in counts[1].items()}
        assert counts[0] == swapped
        assert feature.startswith("distance") or "none" not in counts[0]
    assert feature != "sentence_type" or set(there[feature]) == {"t0", "t1", "t2"}
    if feature == "distance(sentences)":
        assert {*there[feature]} - {"0"} == {"1", "none"}


@pytest.mark.parametrize("feature", ["speaker", "sentence_type"])
def test_what_is_said_of_sentences_outlives_a_conversion(feature, tmp_path):
    key, response = tmp_path / "key.conllu", tmp_path / "response.conllu"
    key.write_text(three_sentences("a", "b", nodes="b"), "utf-8")
    response.write_text(three_sentences("b", "a"), "utf-8")
    corefeval.write(corefeval.read(key), tmp_path / "other", format="conllua")
    one, other = (
        corefeval.score(path, response, metrics="mentions, links", by=feature).slices[feature]
        for path in (key, tmp_path / "other")
    )
    assert len(one) == 3
    assert {v: part.tables for v, part in one.items()} == {v: p.tables for v, p in other.items()}


def test_documents_without_marked_sentences_are_told_once(tmp_path):
    """Of documents that are one long sentence, as many programs write them, nobody can count."""
    marked = {"doc_key": "a", "sentences": [["Ann", "slept"], ["She", "woke"]]}
    long = {"doc_key": "b", "sentences": [["Bob", "ran", ".", "He", "fell"]]}
    clusters = {"a": [[[0, 0], [2, 2]]], "b": [[[0, 0], [3, 3]]]}
    files = {}
    for name, documents in {"marked": [marked], "long": [marked, long]}.items():
        records = [
            {**document, "clusters": clusters[document["doc_key"]]} for document in documents
        ]
        files[name] = tmp_path / f"{name}.jsonl"
        files[name].write_text("".join(json.dumps(record) + "\n" for record in records))
    for name, messages in {
        "marked": [],
        "long": [
            "long.jsonl: 1 document in which no sentences are marked, each taken as one sentence"
        ],
    }.items():
        by = ["distance(sentences)", "distance(sentences, 0, 1+)"]
        result = corefeval.score(files[name], files[name], metrics="muc", by=by)
        notices = [n for n in result.notices if n.kind == "unmarked-sentences"]
        assert [notice.message.rpartition("/")[2] for notice in notices] == messages
    by_mentions = corefeval.score(files["long"], files["long"], metrics="muc", by="distance")
    assert "unmarked-sentences" not in {notice.kind for notice in by_mentions.notices}
