"""What models are asked, and what a perfect one would answer."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corefeval
from corefeval.diagnostics import UsageError
from corefeval.formats.answers.prompts import STYLES
from corefeval.model import CorpusBuilder

WORDS = ["the", "The", "captain", "[sic]", "<m>", "&amp;", "a|b", "\\", "她", "e1]", "##"]


@st.composite
def keys(draw):
    """A key of one document, with mentions that nest, repeat, touch and cross."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
    starts = {0, *draw(st.lists(st.integers(0, len(words) - 1), max_size=3))}
    builder = CorpusBuilder(name="key")
    document = builder.document("d", words=words, sentence_starts=sorted(starts))
    spans = st.tuples(st.integers(0, len(words) - 1), st.integers(1, 6), st.sampled_from("abc"))
    for start, length, entity in set(draw(st.lists(spans, max_size=8))):
        document.mention(entity, start, min(start + length, len(words)))
    return builder.build()


def plain(clusters):
    return sorted(sorted(map(tuple, cluster)) for cluster in clusters)


def crosses(first, second):
    return first[0] < second[0] < first[1] < second[1]


def entities(corpus):
    return plain([sorted({m.span for m in entity}) for entity in corpus[0].entities])


def without_marks(style, answer):
    """The text of an answer, read with nothing but the rules of the style."""
    if style == "markdown":
        bare = re.sub(r"(?<!\\)((?:\\\\)*)(\[|\]\(#\d+\))", r"\1", answer)
        return re.sub(r"\\([\[\]\\])", r"\1", bare)
    if style == "xml":
        return unescape(re.sub(r'<m id="\d+">|</m>', "", answer))
    return re.sub(r"\|(\[e\d+\]?|e\d+\])(,(\[e\d+\]?|e\d+\]))*(?=\s|$)", "", answer)


@given(keys(), st.sampled_from(["markdown", "xml", "crac"]))
def test_tagged_answers_are_the_text_with_marks(key, style):
    prompts = corefeval.write_prompts(key, style)
    text = "\n".join(" ".join(sentence) for sentence in key[0].sentences)
    assert without_marks(style, prompts.ideal["d"]) == text
    shown = prompts.records[0]["user"].removeprefix("Text:\n").removesuffix("\n\nAnswer:")
    assert without_marks(style, shown) == text


@given(keys())
def test_json_says_every_place(key):
    """Words, sentence and nth lead back to the tokens, by nothing but counting."""
    prompts = corefeval.write_prompts(key, "json")
    words = key[0].words
    starts = np.cumsum([0, *map(len, key[0].sentences)]).tolist()
    clusters = []
    for cluster in json.loads(prompts.ideal["d"]):
        spans = []
        for mention in cluster["mentions"]:
            line = range(*starts[mention["sentence"] - 1 : mention["sentence"] + 1])
            length = mention["text"].count(" ") + 1
            places = [t for t in line if " ".join(words[t : t + length]) == mention["text"]]
            assert ("nth" in mention) == (len(places) > 1)
            start = places[mention.get("nth", 1) - 1]
            spans.append((start, start + length))
        clusters.append(spans)
    assert plain(clusters) == plain(prompts.carried["d"]) == entities(key)
    assert not prompts.notices


@given(keys(), st.sampled_from(["markdown", "xml", "crac"]))
def test_what_crosses_is_counted_and_left_out(key, style):
    prompts = corefeval.write_prompts(key, style)
    carried = prompts.carried["d"]
    mentions = [(*span, number) for number, cluster in enumerate(carried) for span in cluster]
    for first in mentions:
        for second in mentions:
            if style != "crac" or first[2] == second[2]:
                assert not crosses(first, second)
    lost = sum(map(len, entities(key))) - len(mentions)
    assert [notice.count for notice in prompts.notices] == ([lost] if lost else [])
    spans = {(m.start, m.end, m.entity.index) for m in key[0].mentions}
    if not any(crosses(a, b) for a in spans for b in spans):
        assert plain(carried) == entities(key)


def test_vectors(shared):
    folder = shared / "answers2"
    key = corefeval.read(folder / "keys.jsonlines")
    prompts = {style: corefeval.write_prompts(key, style) for style in STYLES}
    for line in (folder / "roundtrip.jsonl").read_text(encoding="utf-8").splitlines():
        vector = json.loads(line)
        written = prompts[vector["style"]]
        assert written.ideal[vector["id"]] == vector["answer"]
        assert plain(written.carried[vector["id"]]) == plain(vector["clusters"])


def test_no_document_is_its_own_example(run, tmp_path):
    builder = CorpusBuilder(name="train")
    for name, text in {"a": "Ada saw her .", "b": "Bo left .", "c": "Ada saw her ."}.items():
        builder.document(name, words=text.split()).mention("1", 0, 1)
    corpus = builder.build()
    prompts = corefeval.write_prompts(corpus, "xml", examples=corpus, shots=1)
    examples = {r["id"]: r["user"].split("Text:")[1] for r in prompts}
    assert "Bo" in examples["a"] and "Bo" in examples["c"] and "Ada" in examples["b"]
    assert not prompts.notices
    more = corefeval.write_prompts(corpus, "xml", examples=corpus, shots=2)
    assert [(notice.kind, notice.count) for notice in more.notices] == [("few-examples", 1)]


def test_pieces_start_anew_unless_they_are_joined(run, tmp_path):
    key = corefeval.example("key")
    apart = corefeval.write_prompts(key, "markdown", max_tokens=60)
    joined = corefeval.write_prompts(key, "markdown", max_tokens=60, pieces="joined")
    assert list(apart.ideal) == list(joined.ideal) == [record["id"] for record in apart]
    for name, answer in apart.ideal.items():
        numbers = list(dict.fromkeys(re.findall(r"\(#(\d+)\)", answer)))
        assert sorted(map(int, numbers)) == list(range(1, len(numbers) + 1)), name
    afters = [record.get("after") for record in joined]
    assert afters == [
        None if name.split("#")[1].startswith("1/") else before
        for before, name in zip([None, *joined.ideal], joined.ideal, strict=False)
    ]
    assert "keep the numbers of the earlier pieces" in joined.records[0]["system"]
    assert "keep the numbers" not in apart.records[0]["system"]
    corpus = corefeval.read(key)
    whole = {str(document.id): entities([document]) for document in corpus}
    assert {name: plain(clusters) for name, clusters in joined.carried.items()} == whole
    links = sum(len(apart.carried[name]) - len(clusters) for name, clusters in whole.items())
    assert {n.kind: n.count for n in apart.notices} == {"cut-prompts": 9, "cut-links": links}
    status, _, err = run("prompt", key, "--max-tokens", 60, "-o", tmp_path / "p.jsonl")
    ideal = corefeval.score(corpus, apart.carried, metrics="conll", spans="exclusive")["conll"].f1
    assert status == 0 and f"scores CoNLL {100 * ideal:.2f}" in err and f"{links} links" in err


def test_mentions_with_gaps_are_left_out():
    builder = CorpusBuilder(name="key")
    document = builder.document("d", words=["Ada", "and", "Bo", "left", "the", "ship"])
    document.mention("1", 0, 3, gaps=[(1, 2)])
    document.mention("1", 4, 6)
    prompts = corefeval.write_prompts(builder.build(), "crac")
    assert prompts.ideal == {"d": "Ada and Bo left the|[e1 ship|e1]"}
    assert [(n.kind, n.count) for n in prompts.notices] == [("gap-mentions", 1)]


@pytest.mark.parametrize("style", STYLES)
def test_ideal_files_are_perfect_answers(style, run, tmp_path):
    key, ideal = corefeval.example("key"), tmp_path / "ideal.jsonl"
    target = tmp_path / "prompts.jsonl"
    assert run("prompt", key, "--style", style, "--ideal", ideal, "-o", target)[0] == 0
    answers = {
        record["id"]: record["answer"] for record in map(json.loads, ideal.read_text().splitlines())
    }
    assert answers == corefeval.write_prompts(key, style).ideal
    assert corefeval.score(key, ideal, metrics="conll")["conll"].f1 == 1


def test_wrong_wishes_are_refused(run, tmp_path):
    key = corefeval.read(corefeval.example("key"))
    for style in ("tanl", "lines", "link-append"):
        with pytest.raises(UsageError, match="markdown, xml, crac, json"):
            corefeval.write_prompts(key, style)
    with pytest.raises(UsageError):
        corefeval.write_prompts(key, pieces="torn")
    name = corefeval.example("key")
    assert run("prompt", name, "--for", "inspect")[0] == 2
    folder = tmp_path / "folder"
    assert run("prompt", name, "--for", "inspect", "-o", folder, "--max-tokens", 9)[0] == 2
    assert not folder.exists()
