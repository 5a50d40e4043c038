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

WRITTEN = [name for name in FORMATS if name != "json"]  # json writes e2e
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


@pytest.mark.parametrize("format", FORMATS)
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
