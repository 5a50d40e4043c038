"""What was converted is its source: it scores 100 on every metric, whatever the words are."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval.formats import FORMATS
from corefeval.model import CorpusBuilder
from strategies import spans

WRITTEN = [name for name, format in FORMATS.items() if format.writer and name != "json"]
HOSTILE = st.sampled_from(
    (
        *("", " ", "  ", "\t", "\n", "\r\n", "\u3000", "\u00a0", "\u2028", "\x85", "\x1f", "\x00"),
        *("_", "__", "-", "--", "*", ".", "#", "##", "##x", "# newdoc id = x", "#begin document"),
        *(
            "(",
            ")",
            "(1)",
            "(1",
            "1)",
            "[",
            "]",
            "|",
            "a|[e1]",
            "x|",
            "|[e1",
            "e1]",
            "{",
            '"',
            "\\",
        ),
        *(
            "a b",
            "a  b",
            " a",
            "a ",
            "\ta",
            "a\nb",
            "a_b",
            "a\u00a0b",
            "T1",
            "1-2",
            "1.1",
            "=",
            "&",
        ),
        *("日本", "é", "e\u0301", "\U0001f600", "\ufeff", "\ufeffx", "\u202e", "\ud800", "x" * 70),
    )
)
WORDS = st.lists(HOSTILE | st.text(max_size=4) | st.just("Ada"), min_size=1, max_size=9)


@st.composite
def corpora(draw):
    """Hostile words; mentions nest within their entity and stay in their sentence."""
    builder = CorpusBuilder(name="hostile")
    names = st.sampled_from(["a", "b/c", "d_0", "é", "e f"])
    for name in draw(st.lists(names, min_size=1, max_size=2, unique=True)):
        words = draw(WORDS)
        starts = sorted({0, *draw(st.lists(st.integers(0, len(words) - 1), max_size=2))})
        document = builder.document(name, words=words, sentence_starts=starts)
        taken: dict[str, list[tuple[int, int]]] = {}
        entities = st.sampled_from(["e1", "2", "the (old) king", "x|y"])
        for entity, (start, end) in draw(
            st.lists(st.tuples(entities, spans(len(words))), min_size=1, max_size=6)
        ):
            own = taken.setdefault(entity, [])
            everyone = [span for group in taken.values() for span in group]
            apart = not any(a < start < b < end or start < a < end < b for a, b in own)
            in_one_sentence = not any(start < boundary < end for boundary in starts)
            if (start, end) not in everyone and apart and in_one_sentence:
                own.append((start, end))
                document.mention(entity, start, end)
    return builder.build()


def written(corpus, format: str, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    target.unlink(missing_ok=True)
    corefeval.write(corpus, target, format=format)
    return target


def assert_the_same(key, key_format, response, response_format):
    result = corefeval.score(
        key, response, key_format=key_format, response_format=response_format, metrics="standard"
    )
    lost = {"missing-documents", "extra-documents", "blank-mentions", "widened-mentions"}
    assert not lost & {notice.kind for notice in result.notices}, result.notices
    itself = corefeval.score(key, key, key_format=key_format, response_format=key_format)
    for metric, score in result.scores.items():
        # Without a mention or a link there is nothing to score, and a key itself has 0.
        assert score.f1 == pytest.approx(itself[metric].f1), metric


@pytest.mark.parametrize(("first", "second"), list(itertools.product(WRITTEN, WRITTEN)))
@settings(max_examples=4)
@given(corpus=corpora())
def test_a_converted_file_scores_100_against_its_source(first, second, corpus, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / f"{first}-{second}"
    folder.mkdir(exist_ok=True)
    source = written(corpus, first, folder / "source")
    target = written(corefeval.read(source, format=first), second, folder / "target")
    assert_the_same(source, first, target, second)
    assert_the_same(target, second, source, first)


@pytest.mark.parametrize("format", WRITTEN)
def test_a_document_named_by_a_file_in_another_encoding_is_found_again(format, tmp_path):
    for stem in (b"caf\xe9", b"x%ED%B3%BF"):
        source = tmp_path / os.fsdecode(stem + b".ann")
        try:
            source.write_text(
                "T1\tPerson 0 3\tAda\nT2\tPerson 4 7\tshe\nR1\tCoref Arg1:T1 Arg2:T2\n"
            )
        except OSError:
            pytest.skip("names of files are UTF-8 here")
        source.with_suffix(".txt").write_text("Ada she .\n")
        target = tmp_path / f"{len(stem)}.out"
        corefeval.write(corefeval.read(source), target, format=format)
        again = corefeval.read(target, format=format)
        assert corefeval.score(source, again, ignore_tokens=True)["muc"].f1 == 1


def read_with_udapi(path: Path) -> list[list[str]]:
    """The entities that udapi finds: the words of their mentions. Its licence allows no more."""
    pytest.importorskip("udapi", reason="udapi is not installed: pip install udapi")
    from udapi.core.document import Document

    document = Document()
    document.from_conllu_string(path.read_text())
    return sorted(
        sorted(" ".join(word.form for word in mention.words) for mention in entity.mentions)
        for entity in document.coref_entities
    )


def words_of_entities(corpus) -> list[list[str]]:
    return sorted(
        sorted(mention.text for mention in entity.mentions)
        for document in corpus
        for entity in document.entities
        if entity.mentions
    )


@pytest.mark.parametrize("format", WRITTEN)
def test_udapi_reads_every_conversion_to_corefud(format, tmp_path):
    source = written(corefeval.read(corefeval.example()), format, tmp_path / "source")
    corpus = corefeval.read(source, format=format)
    target = written(corpus, "corefud", tmp_path / "target.conllu")
    assert read_with_udapi(target) == words_of_entities(corefeval.read(target))
    assert len(read_with_udapi(target)) == 93


@st.composite
def interrupted_corpora(draw):
    """Mentions across sentences, crossing and interrupted ones; ids that documents share."""
    builder = CorpusBuilder(name="interrupted")
    for name in draw(st.lists(st.sampled_from("abc"), min_size=1, unique=True)):
        size = draw(st.integers(2, 9))
        starts = sorted({0, *draw(st.lists(st.integers(0, size - 1), max_size=2))})
        words = [f"{name}{position}" for position in range(size)]
        document = builder.document(name, words=words, sentence_starts=starts)
        for entity, (start, end) in draw(
            st.lists(st.tuples(st.sampled_from(["e1", "2", "x|y"]), spans(size)), max_size=6)
        ):
            document.mention(entity, start, end, head=start)
        if draw(st.booleans()):
            gapped = draw(st.sets(st.integers(0, size - 1), min_size=2))
            document.mention_at("gapped", gapped, head=min(gapped))
    return builder.build()


@given(corpus=interrupted_corpora())
def test_udapi_reads_what_corefud_can_express(corpus, tmp_path_factory):
    """What is left out is counted, and the rest is the same."""
    path = tmp_path_factory.getbasetemp() / "interrupted.conllu"
    notices = corefeval.write(corpus, path)
    lost = {"crossing-mentions", "cross-sentence-mentions"}
    left_out = sum(notice.count for notice in notices if notice.kind in lost)
    again = corefeval.read(path)
    assert again.n_mentions == corpus.n_mentions - left_out
    assert read_with_udapi(path) == words_of_entities(again)


def test_ids_that_restart_in_every_document_become_unique_in_corefud(run, tmp_path):
    """`GRP` ids are a document's own; `eid`s are those of the file."""
    row = "{0}\t{1}\t_\t_\t_\t_\t_\t_\t_\tEntity={2}\n"
    text = "# newdoc id = {0}\n# global.Entity = GRP-etype\n"
    text += row.format(1, "Ada", "(1-person)") + row.format(2, "Bo", "(2-person)") + "\n"
    source, target = tmp_path / "grp.conllu", tmp_path / "eid.conllu"
    source.write_text(text.format("a") + text.format("b"))
    printed = run("convert", source, target)[2]
    assert "4 entities numbered" in printed
    assert read_with_udapi(target) == [["Ada"], ["Ada"], ["Bo"], ["Bo"]]
    assert (
        corefeval.score(source, target)["conll"].f1 == corefeval.score(source, source)["conll"].f1
    )


def test_mentions_across_sentences_are_left_out_of_corefud_with_a_count(run, tmp_path):
    source, target = tmp_path / "across.conll", tmp_path / "across.conllu"
    rows = "d 0 0 Ada N (1)\nd 0 1 and N (2\n\nd 0 0 Bo N 2)|(1)\n"
    source.write_text(f"#begin document (d); part 000\n{rows}#end document\n")
    assert "1 mention left out: across sentences" in run("convert", source, target)[2]
    assert read_with_udapi(target) == [["Ada", "Bo"]]


def test_a_line_that_breaks_inside_a_mention_does_not_end_a_sentence(run, tmp_path):
    source, target = tmp_path / "wrapped.ann", tmp_path / "wrapped.conllu"
    source.with_suffix(".txt").write_text("The old\nking slept.\nHe woke.\n")
    source.write_text("T1\tE 0 12\tThe old king\nT2\tE 20 22\tHe\nR1\tCoref Arg1:T2 Arg2:T1\n")
    assert "left out" not in run("convert", source, target)[2]
    assert read_with_udapi(target) == [["He", "The old king"]]
    assert len(corefeval.read(target)[0].sentences) == 2
