"""brat: mentions by characters, scored on the tokens of a key, cut into tokens to be written."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import CorefEvalError, InputError
from corefeval.formats.brat import read_brat
from corefeval.formats.source import read_source
from corefeval.model import CorpusBuilder, DocumentId, join
from corefeval.model.text_tokens import text_of, tokenise
from corefeval.pairing.documents import find_partners
from standoff_strategies import (
    contents,
    corpora,
    mutations,
    sentences,
    spans,
    write_brat,
    write_crac_text,
    write_litbank,
    write_pair,
    written,
)

PROSE = "Ada met the captain.\nShe smiled at him.\n"
BRAT = """T1\tPerson 0 3\tAda
T2\tPerson 8 19\tthe captain
R1\tCoreference Arg1:T3 Arg2:T1
T3\tPerson 21 24\tShe
*\tEquiv T2 T4
T4\tPerson 35 38\thim
T5\tEvent 25 31\tsmiled
A1\tTense T5 Past
#1\tAnnotatorNotes T5\tsure
R2\tAgent Arg1:T5 Arg2:T3
"""
KEY = """#begin document (story);
story 0 0 Ada (1)
story 0 1 met -
story 0 2 the (2
story 0 3 captain 2)
story 0 4 . -

story 0 0 She (1)
story 0 1 smiled (3)
story 0 2 at -
story 0 3 him (2)
story 0 4 . -
#end document
"""


@pytest.fixture
def pair(tmp_path):
    return lambda annotation, text=PROSE: write_pair(tmp_path, annotation, text)


def test_brat_is_read_by_characters(pair):
    corpus = corefeval.read(pair(BRAT, PROSE))
    assert spans(corpus) == {"T1": [(0, 3), (21, 24)], "T2": [(8, 19), (35, 38)], "T5": [(25, 31)]}
    assert corpus.documents == (DocumentId("story"),)
    assert corpus.features["entity_type"].tolist() == ["Person"] * 3 + ["Event", "Person"]
    assert [(n.kind, n.count) for n in corpus.notices] == [("left-aside", 2)]
    assert "1 of attributes, 1 of notes" in corpus.notices[0].message
    [relation] = corpus.relations
    assert (relation.anaphor[1] >= 0, len(relation.antecedents)) == (True, 1)


def test_brat_is_scored_on_the_tokens_of_a_key(pair, conll):
    result = corefeval.score(conll(KEY), pair(BRAT, PROSE))
    assert result["conll"].f1 == 1.0


def test_check_counts_no_tokens_where_there_are_none(pair, run):
    status, out, _ = run("check", pair(BRAT, PROSE))
    assert (status, "brat, 1 document, 3 entities" in out) == (0, True), out


def test_errors_in_a_folder_of_texts_show_the_words(tmp_path, run):
    for side, annotation in (("key", BRAT), ("response", BRAT.replace("*\tEquiv T2 T4\n", ""))):
        (tmp_path / side).mkdir()
        for name in ("one", "two"):
            (tmp_path / side / f"{name}.txt").write_text(PROSE)
            (tmp_path / side / f"{name}.ann").write_text(annotation)
    status, out, _ = run("errors", tmp_path / "key", tmp_path / "response")
    assert (status, "the captain" in out) == (0, True), out


def test_brat_joins_are_transitive(pair):
    text = "a b c d e f"
    lines = [f"T{n}\tX {2 * n} {2 * n + 1}\t{text[2 * n]}" for n in range(6)]
    lines += ["R1\tCOREF Arg1:T5 Arg2:T4", "*\tEquiv T3 T2 T1", "R2\tcoref_x a:T4 b:T3"]
    corpus = corefeval.read(pair("\n".join(lines), text))
    assert {name: len(found) for name, found in spans(corpus).items()} == {"T0": 1, "T1": 5}


def test_brat_mentions_with_gaps(pair):
    corpus = corefeval.read(
        pair("T1\tX 8 11;0 3;2 4\tAda the Ada\nT2\tX 15 19;21 24\tn. She", PROSE)
    )
    first, second = corpus[0].mentions
    assert first.positions == (0, 1, 2, 3, 8, 9, 10)
    assert (second.span, second.positions) == ((15, 24), (*range(15, 19), *range(21, 24)))


def test_brat_pieces_on_two_lines_are_one(pair):
    corpus = corefeval.read(pair("T1\tX 12 20;21 24\tcaptain. She\n", PROSE))
    assert corpus[0].mentions[0].positions == tuple(range(12, 24))
    files = write_brat(corpus).files
    assert files["story.ann"] == b"T1\tX 12 20;21 24\tcaptain. She\n"


def test_brat_texts_are_compared_with_the_offsets(pair):
    corpus = corefeval.read(pair("T1\tX 0 3\tAda\nT2\tX 4 7\tMet\nT3\tX 8 11\n", PROSE))
    assert [(n.kind, n.count) for n in corpus.notices] == [
        ("other-text", 1),
        ("nothing-joined", 3),
    ]


def test_brat_offsets_count_every_character_of_a_line_end(pair):
    corpus = corefeval.read(pair("T1\tX 22 25\tShe\r\n", PROSE.replace("\n", "\r\n")))
    assert corpus.notices == ()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("T1\tX 0 3\tAda", "appears twice"),
        ("T9\tX 3 3\t", "outside of the text"),
        ("T9\tX 5 3\t", "outside of the text"),
        ("T9\tX 38 99\t", "outside of the text"),
        ("T9\tX 0 3;38 99\t", "outside of the text"),
        ("T9\tX 0-3\tAda", "not a line of brat"),
        ("T9 X 0 3 Ada", "not a line of brat"),
        ("R9\tCoreference T1 T2", "not a line of brat"),
        ("R9\tCoreference Arg1:T1 Arg2:T9", "no mention ‘T9’"),
        ("*\tEquiv T1 T9", "no mention ‘T9’"),
        ("MENTION", None),
        ("whatever", "not a line of brat"),
    ],
)
def test_brat_mistakes_are_named(pair, line, problem):
    path = pair(BRAT + line + "\n", PROSE)
    if problem is None:
        assert corefeval.read(path).notices[0].count == 3
        return
    with pytest.raises(InputError, match=problem) as error:
        corefeval.read(path)
    assert error.value.line == 11
    assert error.value.found
    assert error.value.expected


def visible(text: str) -> str:
    return "".join(text.split())


def on_characters(document, words):
    """The entities of a document of tokens by the visible characters of their mentions."""
    ends = list(accumulate(len(visible(word)) for word in words))
    starts = [0, *ends]
    return sorted(
        sorted(
            tuple(c for p in mention.positions for c in range(starts[p], ends[p]))
            for mention in entity.mentions
        )
        for entity in document.entities
    )


def by_characters(document, text):
    """The same for a document that is a text."""
    number = list(accumulate((not c.isspace() for c in text), initial=0))
    return sorted(
        sorted(
            tuple(number[p] for p in mention.positions if not text[p].isspace())
            for mention in entity.mentions
        )
        for entity in document.entities
    )


def words_in(document):
    return [word for sentence in sentences(document) for word in sentence]


@given(corpus=corpora(gaps=True))
def test_brat_written_then_read_is_the_same(corpus, tmp_path_factory):
    made = write_brat(corpus)
    folder = tmp_path_factory.getbasetemp() / "brat"
    again = [read_brat(read_source(path)) for path in written(made, folder)]
    ids = [one.documents[0] for one in again]
    assert find_partners(corpus.documents, ids) == {i: i for i in range(len(ids))}
    for original, one in zip(corpus, again, strict=True):
        words = [word if word.strip() else "_" for s in sentences(original) for word in s]
        text = text_of(one.tokens, 0)
        assert visible(text) == visible("".join(words))
        assert {notice.kind for notice in one.notices} <= {"nothing-joined"}
        assert bool(one.notices) == (1 < one.n_mentions == one.n_entities)
        assert by_characters(one[0], text) == on_characters(original, words)
        cut = tokenise(one)
        assert visible("".join(words_in(cut[0]))) == visible(text)
        assert on_characters(cut[0], words_in(cut[0])) == by_characters(one[0], text)
        (second,) = written(write_brat(one), folder)
        assert contents(read_brat(read_source(second))[0]) == contents(one[0])


@settings(max_examples=300)
@given(annotation=mutations(BRAT), text=mutations(PROSE) | st.just(PROSE.encode()))
def test_brat_of_any_bytes_is_a_corpus_or_one_error(annotation, text, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    (folder / "broken.ann").write_bytes(annotation)
    (folder / "broken.txt").write_bytes(text)
    try:
        corpus = read_brat(read_source(folder / "broken.ann"))
        assert corpus.documents
        for write in (write_brat, write_litbank, write_crac_text):
            assert write(corpus).files
    except CorefEvalError as error:
        assert str(error).strip()


def test_what_brat_cannot_carry_is_counted():
    builder = CorpusBuilder()
    document = builder.document("a", words=["two words", "", "x"], sentence_starts=[0, 2])
    document.mention("Ada", 0, 3, features={"entity_type": "a person"})
    document.mention("T2", 0, 1, features={"kind": "name"})
    document.relation("bridging", "Ada", ["T2"])
    made = write_brat(builder.build())
    assert made.files == {
        "a.ann": b"T1\ta_person 0 11;12 13\ttwo_words _ x\nT2\tMention 0 9\ttwo_words\n"
        b"R1\tBridging Arg1:T1 Arg2:T2\n",
        "a.txt": b"two_words _\nx\n",
    }
    assert {n.kind: n.count for n in made.notices} == {
        "changed-words": 2, "entity-names": 1, "changed-types": 1, "chosen-anchors": 1,
        "mention-features": 1,
    }  # fmt: skip


def test_brat_carries_sets_and_bridging(pair, tmp_path):
    text = "Ann Bob they cars it"
    lines = [f"T{n}\tX {text.index(w)} {text.index(w) + len(w)}\t{w}\n"
             for n, w in enumerate(text.split(), 1)]  # fmt: skip
    lines += ["R1\tBridging_poss Arg1:T4 Arg2:T1\n", "R2\tbridging Arg1:T4 Arg2:T2\n"]
    lines += ["R3\tSplit_antecedent Arg1:T3 Arg2:T1\n", "R4\tSplitAntecedent Arg1:T3 Arg2:T2\n"]
    lines += ["R5\tpart-of Arg1:T5 Arg2:T4\n", "R6\tx Arg1:T9 Arg2:T4\n"]
    corpus = corefeval.read(pair("".join(lines), text))
    told = [(r.kind, r.anaphor, r.antecedents, r.label) for r in corpus.relations]
    assert told == [
        ("bridging", (3, 3), ((0, 0),), "poss"),
        ("bridging", (3, 3), ((1, 1),), ""),
        ("part-of", (4, 4), ((3, 3),), ""),
        ("split-antecedent", (2, -1), ((0, -1), (1, -1)), ""),
    ]
    assert "1 of relations of unknown mentions" in corpus.notices[-1].message
    corefeval.write(corpus, tmp_path / "again.ann")
    again = corefeval.read(tmp_path / "again.ann").relations
    assert [(r.kind, r.anaphor, r.antecedents, r.label) for r in again] == told


def test_what_is_counted_reads_well_of_one_and_of_several():
    for number, noun in ((1, "1 entity"), (3, "3 entities")):
        builder = CorpusBuilder()
        document = builder.document("a", words=["Ada", "and", "Bob"])
        for place in range(number):
            document.mention(f"name{place}", place, place + 1)
        [notice] = write_brat(builder.build()).notices
        assert str(notice) == f"{noun} named after their first mention"


def test_tokens_are_cut_at_blanks_punctuation_and_mentions(pair):
    corpus = tokenise(corefeval.read(pair("T1\tX 0 2\tAd\nT2\tX 3 4\t \n", PROSE)))
    assert corpus[0].sentences == [
        ["Ad", "a", "met", "the", "captain", "."],
        ["She", "smiled", "at", "him", "."],
    ]
    assert spans(corpus) == {"T1": [(0, 1)]}
    assert {n.kind: n.count for n in corpus.notices} == {
        "nothing-joined": 2, "made-up-tokens": 1, "blank-mentions": 1,
    }  # fmt: skip


def test_a_corpus_of_tokens_stays_as_it_is():
    corpus = corefeval.read(corefeval.example())
    assert tokenise(corpus) is corpus


def test_texts_and_tokens_in_one_corpus(pair, conll):
    key = corefeval.read(conll(KEY.replace("(story)", "(other)")))
    corpus = tokenise(join([key, corefeval.read(pair(BRAT, PROSE))]))
    assert corpus[0].words == key[0].words == corpus[1].words
    assert [list(spans(corpus, d).values()) for d in (0, 1)] == [
        [[(0, 1), (5, 6)], [(2, 4), (8, 9)], [(6, 7)]]
    ] * 2


def test_a_text_is_written_in_formats_of_tokens_with_a_notice(pair, tmp_path):
    corpus = corefeval.read(pair(BRAT, PROSE))
    notices = corefeval.write(corpus, tmp_path / "out", format="litbank")
    assert "made-up-tokens" in {notice.kind for notice in notices}
    assert (tmp_path / "out" / "story.txt").read_text() == (
        "Ada met the captain .\nShe smiled at him .\n"
    )
    assert corefeval.read(tmp_path / "out").n_mentions == 5


def test_prompts_name_the_text_that_has_no_tokens(tmp_path, run):
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text("Ada smiled.\n")
        (tmp_path / f"{name}.ann").write_text("")
    status, _, err = run("prompt", tmp_path)
    assert status == 1 and "one.ann: there is no column 'word'" in err
