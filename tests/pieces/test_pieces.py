"""Scores in pieces: the same as of the whole in memory, whatever the pieces are."""

# ruff: noqa: F401, F811 (fixtures come from elsewhere)

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import InputError, PairingError
from corefeval.cli import main
from corefeval.pieces import scoring
from piece_corpora import (
    assert_same,
    conll,
    conllua,
    corefud,
    corpus,
    in_pieces,
    no_second_look,
    paths,
    text_pairs,
    write,
)

KEY, CAUTIOUS, EAGER = (corefeval.example(name) for name in ("key", "cautious", "eager"))


@st.composite
def cases(draw):
    form = draw(st.sampled_from((conll, corefud, conllua)))
    texts = draw(text_pairs(zeros=form is corefud))
    written = [form(side, draw(st.booleans())) for side in texts]
    ending = draw(st.sampled_from(("\n", "\n", "\r\n")))
    data = [side.replace("\n", ending).encode() for side in written]
    if draw(st.booleans()):
        data[draw(st.integers(0, 1))] += b"\n"
    packed = draw(st.sampled_from(((), (0,), (0, 1))))
    data = [gzip.compress(side) if n in packed else side for n, side in enumerate(data)]
    options = {
        "missing": draw(st.sampled_from(("empty", "skip"))),
        "extra": draw(st.sampled_from(("ignore", "count"))),
        "singletons": draw(st.sampled_from(("keep", "drop"))),
        "metrics": draw(st.sampled_from(("standard", "all", "muc, b3(twinless=sys), mor"))),
        "by": draw(st.sampled_from(("", "", "kind", "genre, size, tag", "distance", "genre*kind"))),
        "match": draw(st.sampled_from(("exact", "exact", "head", "partial"))),
        "documents": draw(st.sampled_from(("*", "*", "nw/*0*"))),
    }
    return data, options, draw(st.integers(1, 400))


@settings(max_examples=60)
@given(case=cases())
def test_pieces_are_the_whole(tmp_path, case):
    data, options, piece_size = case
    paths = [tmp_path / "key", tmp_path / "response"]
    for path, content in zip(paths, data, strict=True):
        path.write_bytes(content)
    try:
        whole = corefeval.score(*paths, **options)
    except corefeval.CorefEvalError as error:
        with pytest.raises(type(error)):
            corefeval.score(*paths, piece_size=piece_size, **options)
        return
    assert_same(corefeval.score(*paths, piece_size=piece_size, **options), whole)


OPTIONS = [
    {},
    {"metrics": "all"},
    {"by": "kind, genre, size"},
    {"match": "head"},
    {"ci": 0.95, "samples": 50},
    {"aggregate": "macro"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_example_in_pieces(in_pieces, options):
    whole = corefeval.score(KEY, EAGER, **options)
    assert_same(corefeval.score(KEY, EAGER, piece_size="5KB", **options), whole)
    assert len(in_pieces) == 1


@pytest.mark.parametrize("sides", [(KEY, EAGER), (EAGER, KEY)], ids=["key", "eager"])
@pytest.mark.parametrize("by", ["words", "head", "link", "entity_class", "kind*head"])
def test_values_come_in_one_order(in_pieces, sides, by):
    """The largest of the key first, then by name: whatever is counted, and in pieces too."""
    whole = corefeval.score(*sides, metrics="muc", by=by).by(by)
    pieces = corefeval.score(*sides, metrics="muc", by=by, piece_size="1KB").by(by)
    assert len(in_pieces) == 1
    assert list(pieces) == list(whole)
    if by in ("words", "head", "entity_class"):
        stated = [name for name in whole if name not in whole.special.values()]
        assert stated == sorted(stated, key=lambda name: (-whole.sizes[name], name))


def test_a_piece_larger_than_the_files_is_the_whole(in_pieces, paths):
    corefeval.score(*paths, piece_size="1GB")
    assert not in_pieces


def test_a_folder_is_not_joined(in_pieces, tmp_path):
    for side, changed in (("k", False), ("r", True)):
        (tmp_path / side).mkdir()
        for number, text in enumerate(corpus(6, changed=changed)):
            name = f"{5 - number if changed else number}.conll"
            write(tmp_path / side, name, conll([text], end=number % 2 == 0))
        write(tmp_path / side, "notes.xyz", "nothing to read here")
    sides = tmp_path / "k", tmp_path / "r"
    whole = corefeval.score(*sides)
    pieces = corefeval.score(*sides, piece_size=400)
    assert {n.kind for n in pieces.notices} >= {"skipped-files", "unfinished-file"}
    assert_same(pieces, whole)
    assert_same(corefeval.score(f"{sides[0]}/*.conll", sides[1], piece_size=1),
                corefeval.score(f"{sides[0]}/*.conll", sides[1]))  # fmt: skip
    assert len(in_pieces) == 2


@pytest.mark.parametrize("format", ["e2e", "preco", "crac-json", "fastcoref", "crac-text"])
def test_other_formats(in_pieces, paths, tmp_path, format):
    written = []
    for path in paths:
        target = tmp_path / f"{path.stem}.{format}"
        corefeval.write(corefeval.read(path), target, format=format)
        written.append(target)
    options = {"key_format": format, "response_format": format}
    pieces = corefeval.score(*written, piece_size=500, **options)
    assert_same(pieces, corefeval.score(*written, **options))
    assert len(in_pieces) == int(format != "crac-text")  # which can only be read whole


def test_lines_of_errors_are_those_of_the_file(tmp_path, paths):
    text = conll(corpus(12))
    lines = text.splitlines()
    lines[60] = lines[60].rsplit(" ", 1)[0] + " (7"
    broken = write(tmp_path, "broken.conll", "\n".join(lines) + "\n")
    for arguments in ((broken, paths[1]), (paths[0], broken)):
        with pytest.raises(InputError) as whole:
            corefeval.score(*arguments)
        with pytest.raises(InputError) as pieces:
            corefeval.score(*arguments, piece_size=300)
        assert str(pieces.value) == str(whole.value)
        assert pieces.value.line == 61


def test_lines_of_differing_words_are_those_of_the_file(tmp_path, paths):
    other = write(tmp_path, "o.conll", conll(corpus(12)[:7]) + conll(corpus(12)[7:]).replace(
        "nw/d9 0 1 met", "nw/d9 0 1 saw"))  # fmt: skip
    for arguments in ((paths[0], other), (other, paths[1])):
        with pytest.raises(PairingError) as whole:
            corefeval.score(*arguments)
        with pytest.raises(PairingError) as pieces:
            corefeval.score(*arguments, piece_size=300)
        assert str(pieces.value) == str(whole.value)


@pytest.mark.parametrize("header_everywhere", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"metrics": "anaphora, lea", "split": "score"},
        {"metrics": "bridging(typed=true), muc", "by": "relation"},
        {"metrics": "lmuc", "by": "kind, tag"},
    ],
    ids=str,
)
def test_universal_anaphora_in_pieces(in_pieces, tmp_path, options, header_everywhere):
    sides = [
        write(tmp_path, name, conllua(corpus(9, changed=changed), header_everywhere))
        for name, changed in (("k.conllua", False), ("r.conllua", True))
    ]
    whole = corefeval.score(*sides, **options)
    assert_same(corefeval.score(*sides, piece_size=900, **options), whole)
    assert len(in_pieces) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# newdoc id = nw/d3_0", "# newdoc"),
        ("# newdoc id = nw/d0_0", "1\tAda" + "\t_" * 10 + "\n\n# newdoc id = nw/d0_0"),
    ],
    ids=["nameless", "tokens before the first"],
)
def test_universal_anaphora_that_cannot_be_cut_is_read_whole(in_pieces, tmp_path, old, new):
    path = write(tmp_path, "k.conllua", conllua(corpus(6)).replace(old, new))
    assert_same(corefeval.score(path, path, piece_size=500), corefeval.score(path, path))
    assert not in_pieces


def test_lines_of_universal_anaphora_are_those_of_the_file(tmp_path):
    text = conllua(corpus(6), header_everywhere=False)
    place = text.rindex("(EntityID")
    path = write(tmp_path, "k.conllua", text[:place] + ")" + text[place:])
    for options in ({}, {"piece_size": 300}):
        with pytest.raises(corefeval.InputError) as caught:
            corefeval.score(path, path, **options)
        assert caught.value.line == text[:place].count("\n") + 1


@pytest.mark.parametrize(
    ("command", "word"), [("check", "entity without mentions"), ("stats", "zeros")]
)
def test_universal_anaphora_is_checked_and_counted_in_pieces(tmp_path, capsys, command, word):
    text = conllua(corpus(6)).replace("nw/d3_0\n", "nw/d3_0\n" + "0.1\tx" + "\t_" * 10 + "\n")
    path = write(tmp_path, "k.conllua", text)
    told = []
    for more in ([], ["--piece-size", "500"]):
        assert main([command, str(path), *more]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert word in told[0]


def test_lines_of_corefud_are_those_of_the_file(tmp_path):
    text = corefud(corpus(9), header_everywhere=False)
    key = write(tmp_path, "k.conllu", text)
    broken = write(tmp_path, "b.conllu", text.replace("d7_0", "d7_0\n1\tx"))
    with pytest.raises(InputError) as whole:
        corefeval.score(key, broken)
    with pytest.raises(InputError) as pieces:
        corefeval.score(key, broken, piece_size=300)
    assert str(pieces.value) == str(whole.value)


def test_documents_that_are_there_twice(tmp_path, paths):
    for text in (conll(corpus(5)), corefud(corpus(5))):
        twice = write(tmp_path, "twice", text.replace("nw/d4", "nw/d2"))
        with pytest.raises(InputError) as whole:
            corefeval.score(twice, twice)
        with pytest.raises(InputError) as pieces:
            corefeval.score(twice, twice, piece_size=200)
        assert str(pieces.value) == str(whole.value)


def test_documents_of_one_side(in_pieces, tmp_path):
    key = write(tmp_path, "k", conll(corpus(12)))
    response = write(tmp_path, "r", conll(corpus(15, changed=True)[:2:-1]))
    for missing in ("empty", "skip", "error"):
        for extra in ("ignore", "count", "error"):
            options = {"missing": missing, "extra": extra}
            try:
                whole = corefeval.score(key, response, **options)
            except PairingError as error:
                with pytest.raises(PairingError) as caught:
                    corefeval.score(key, response, piece_size=250, **options)
                assert str(caught.value) == str(error)
            else:
                assert_same(corefeval.score(key, response, piece_size=250, **options), whole)
    assert len(in_pieces) == 4


def test_documents_that_pair_by_position(in_pieces, tmp_path):
    """What is told of their names comes first, as of the whole."""
    key = write(tmp_path, "k", conll(corpus(12)))
    response = write(tmp_path, "r", conll(corpus(12, changed=True)[2:]))
    options = {"pairing": "position", "singletons": "drop"}
    whole = corefeval.score(key, response, **options)
    assert [notice.kind for notice in whole.notices][:2] == ["positions", "singletons"]
    assert_same(corefeval.score(key, response, piece_size=250, **options), whole)
    assert len(in_pieces) == 1


def test_spans_that_are_off_by_one_are_told_of_all(in_pieces, tmp_path):
    sides = []
    for shift in (0, 1):
        spans = tuple((start + shift, start + shift, 0) for start in (0, 2))
        texts = [replace(text, mentions=spans) for text in corpus(12)]
        sides.append(write(tmp_path, f"{shift}", conll(texts)))
    whole = corefeval.score(*sides)
    assert [notice.kind for notice in whole.notices] == ["no-common-mentions"]
    assert_same(corefeval.score(*sides, piece_size=300), whole)
    assert len(in_pieces) == 1


def test_what_is_guessed_is_decided_once(in_pieces, tmp_path):
    """One of ten documents has other tags, which alone would be taken for another tag set."""
    texts = [conll([one]) for one in corpus(10)]
    for tag, other in (("NNP", "NE"), ("PRP", "PPER"), ("VBD", "VVFIN")):
        texts[9] = texts[9].replace(f" {tag} ", f" {other} ")
    path = write(tmp_path, "k", "".join(texts))
    whole = corefeval.score(path, path, metrics="lmuc", by="kind")
    pieces = corefeval.score(path, path, metrics="lmuc", by="kind", piece_size=200)
    assert "tagset:penn" in pieces.signature
    assert_same(pieces, whole)
    assert len(in_pieces) == 1


def test_columns_are_decided_by_the_beginning(tmp_path):
    rows = ["#begin document (a); part 000"]
    rows += [f"{n}\t{w}\tNN\tx\ty\t(1)" for n, w in enumerate(("Ada", "saw", "me", "go", "up"))]
    rows += ["#end document", "#begin document (b); part 000", "7\tNN\tNN\tx\ty\t(1)",
             "#end document", ""]  # fmt: skip
    path = write(tmp_path, "k", "\n".join(rows))
    whole, pieces = corefeval.score(path, path), corefeval.score(path, path, piece_size=20)
    assert any(notice.kind == "word-column" for notice in whole.notices)
    assert_same(pieces, whole)


def test_json_lines_that_do_not_name_themselves_are_read_whole(in_pieces, tmp_path):
    record = {"sentences": [["Ada", "saw", "her"]], "clusters": [[[0, 0], [2, 2]]]}
    lines = [json.dumps(record | ({"doc_key": f"d{n}"} if n else {})) for n in range(3)]
    path = write(tmp_path, "k.jsonl", "\n".join(lines))
    assert_same(corefeval.score(path, path, piece_size=10), corefeval.score(path, path))
    assert not in_pieces


def test_a_column_that_a_specimen_lacks_is_looked_for(in_pieces, tmp_path, monkeypatch):
    """The last document alone says who speaks, and is not among those that are looked at first."""
    monkeypatch.setattr(scoring, "_SPECIMEN", 400)
    rows = []
    for number in range(10):
        speaker = "Ada" if number == 9 else "-"
        rows.append(f"#begin document (nw/d{number}); part 000")
        rows += [
            f"nw/d{number} 0 {place} {word} NN * - - - {speaker} * {cell}"
            for place, (word, cell) in enumerate((("Ada", "(0)"), ("saw", "-"), ("me", "(0)")))
        ]
        rows.append("#end document")
    path = write(tmp_path, "k", "\n".join((*rows, "")))
    whole = corefeval.score(path, path, metrics="muc", by="speaker")
    assert list(whole.by("speaker")) == ["Ada", "none"]
    assert_same(corefeval.score(path, path, metrics="muc", by="speaker", piece_size=200), whole)
    assert len(in_pieces) == 1


def test_entities_across_documents_are_not_for_pieces(in_pieces, paths):
    whole = corefeval.score(*paths, across="all")
    assert_same(corefeval.score(*paths, across="all", piece_size=300), whole)
    assert not in_pieces


def test_a_file_that_ends_with_the_name_of_a_document(in_pieces, tmp_path):
    """Its last line has no end, and what the document inherits comes behind it all the same."""
    for form in (corefud, conllua):
        text = form(corpus(3), header_everywhere=False) + "# newdoc id = last"
        for end in ("", "\n"):
            path = write(tmp_path, "k", text + end)
            assert_same(corefeval.score(path, path, piece_size=200), corefeval.score(path, path))
    assert len(in_pieces) == 4


def test_bridging_of_a_piece_without_coreference_counts(in_pieces, tmp_path):
    """A mention that is no part of coreference has no distance, in a piece of its own too."""
    texts = corpus(6)
    texts[3] = replace(texts[3], mentions=((0, 0, 2),))
    path = write(tmp_path, "k.conllua", conllua(texts))
    options = {"metrics": "bridging, muc", "by": "distance", "singletons": "drop"}
    assert_same(corefeval.score(path, path, piece_size=100, **options),
                corefeval.score(path, path, **options))  # fmt: skip
    assert len(in_pieces) == 1


@pytest.mark.parametrize("split", ["off", "score"])
def test_what_is_odd_about_relations_is_told_in_one_order(in_pieces, tmp_path, split):
    """The key's first, wherever it is found, and what metrics tell behind what matching tells."""
    sides = []
    for name in "kr":
        text = conllua(corpus(8, changed=name == "r"))
        half = text.index("# newdoc id = nw/d4_0")
        spoilt = [text[:half], text[half:]]
        which = int(name == "k")  # the key's are in later pieces
        spoilt[which] = spoilt[which].replace("EntityID=1", "EntityID=1|ElementOf=0")
        spoilt[1 - which] = spoilt[1 - which].replace("BRIDGING", "OTHER")
        sides.append(write(tmp_path, f"{name}.conllua", "".join(spoilt)))
    options = {"metrics": "anaphora", "singletons": "drop-response", "split": split}
    options["match"] = "head"
    whole = corefeval.score(*sides, **options)
    assert "self-bridging" in [notice.kind for notice in whole.notices]
    assert_same(corefeval.score(*sides, piece_size=300, **options), whole)
    assert len(in_pieces) == 1


def test_columns_of_a_side_without_documents_are_told_as_of_all(in_pieces, paths, tmp_path):
    key, response = (tmp_path / name for name in ("k.jsonl", "r.jsonl"))
    corefeval.write(corefeval.read(paths[0]), key, format="e2e")
    corefeval.write(corefeval.read(paths[1]), response, format="e2e")
    response.write_text("".join(response.read_text().splitlines(keepends=True)[:-1]))
    whole = corefeval.score(key, response, metrics="papers")
    assert any("(it has word" in str(notice) for notice in whole.notices)
    assert_same(corefeval.score(key, response, metrics="papers", piece_size=100), whole)
    assert len(in_pieces) == 1


def test_heads_that_some_files_state_are_kept(in_pieces, tmp_path):
    """A folder of which one file states no heads has those of the others, in pieces or not."""
    texts = [replace(text, mentions=((0, 2, 0), (4, 4, 0))) for text in corpus(4)]
    texts[0] = replace(texts[0], mentions=())
    bare = corefud(texts[1:2]).replace("etype-head", "etype").replace("person-1", "person")
    for name, data in enumerate((conll(texts[:1]), bare, corefud(texts[2:]))):
        write(tmp_path, f"{name}.conll", data)
    heads = [mention.head for document in corefeval.read(tmp_path) for mention in document.mentions]
    assert heads == [None, None, 0, 4, 0, 4]
    whole = corefeval.score(tmp_path, tmp_path, by="head")
    assert whole.by("head").sizes == {"ada": 3, "it": 3}
    assert_same(corefeval.score(tmp_path, tmp_path, by="head", piece_size=100), whole)
    assert len(in_pieces) == 1
