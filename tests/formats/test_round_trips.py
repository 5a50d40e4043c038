"""From every format to every other, and back: the same documents, tokens, entities and mentions."""

from __future__ import annotations

import itertools
import shutil
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import examples
from corefeval import CorefEvalError
from corefeval.formats import FORMATS
from corefeval.model import CorpusBuilder
from strategies import spans

WRITTEN = [name for name, format in FORMATS.items() if format.writer and name != "json"]
IN_CHARACTERS = {"fastcoref", "brat"}
WITHOUT_SENTENCES = {"crac-text", "crac-json", "maverick"}


@st.composite
def corpora(draw):
    """What every format can carry: whole mentions, which nest within an entity."""
    builder = CorpusBuilder(name="random")
    for name in draw(
        st.lists(st.sampled_from(["a", "b/c", "d"]), min_size=1, max_size=2, unique=True)
    ):
        words = draw(
            st.lists(st.sampled_from(["Ada", "she", "l'été", "日本", "x1"]), min_size=5, max_size=9)
        )
        starts = sorted({0, *draw(st.lists(st.integers(1, len(words) - 1), max_size=2))})
        document = builder.document(name, words=words, sentence_starts=starts)
        taken: dict[str, list[tuple[int, int]]] = {}
        for entity, (start, end) in draw(
            st.lists(
                st.tuples(st.sampled_from(["e1", "e2", "e3"]), spans(len(words))),
                min_size=1,
                max_size=6,
            )
        ):
            own = taken.setdefault(entity, [])
            everyone = [span for group in taken.values() for span in group]
            apart = not any(a < start < b < end or start < a < end < b for a, b in own)
            in_one_sentence = not any(start < boundary < end for boundary in starts)
            if (start, end) not in everyone and apart and in_one_sentence:
                own.append((start, end))
                document.mention(entity, start, end)
    return builder.build()


def through(corpus, format: str, folder: Path):
    """Write a corpus, and read it again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    target = folder / "corpus"
    corefeval.write(corpus, target, format=format)
    return corefeval.read(target, format=format)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(WRITTEN, WRITTEN)))
@settings(max_examples=5)
@given(corpus=corpora())
def test_every_pair_of_formats(first, second, corpus, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / f"{first}-{second}"
    once = through(corpus, first, folder)
    again = through(once, second, folder)
    for read in (once, again):
        result = corefeval.score(corpus, read)
        lost = {"missing-documents", "extra-documents", "repeated-mentions"}
        assert not lost & {notice.kind for notice in result.notices}
        for metric in ("mentions", "b3", "ceafm", "ceafe", "lea") if corpus.n_mentions else ():
            assert result[metric].f1 == pytest.approx(1.0), metric
        assert read.n_entities == corpus.n_entities
    if not IN_CHARACTERS & {first, second}:
        words = {str(d.id).replace("_0", ""): d.words for d in corpus}
        assert sorted(words.values()) == sorted(document.words for document in again)
        if not WITHOUT_SENTENCES & {first, second}:
            assert sorted(d.sentences for d in corpus) == sorted(d.sentences for d in again)


@pytest.mark.parametrize("format", WRITTEN)
def test_the_example_survives_every_format(format, tmp_path):
    """Nine documents with parts, nesting and real words; scored against the original."""
    corpus = corefeval.read(corefeval.example("eager"))
    corefeval.write(corpus, tmp_path / "out", format=format)
    again = corefeval.read(tmp_path / "out", format=format)
    result = corefeval.score(corefeval.example("eager"), again)
    assert result["mentions"].f1 == result["lea"].f1 == 1.0
    assert not {"missing-documents", "extra-documents"} & {n.kind for n in result.notices}


@pytest.mark.parametrize("format", [name for name in WRITTEN if name not in ("litbank", "brat")])
def test_formats_are_told_by_their_content(format, tmp_path):
    corpus = corefeval.read(corefeval.example("cautious"))
    corefeval.write(corpus, tmp_path / "out", format=format)
    assert corefeval.score(corefeval.example("cautious"), tmp_path / "out")["lea"].f1 == 1.0


@pytest.mark.parametrize("format", ["litbank", "brat"])
def test_folders_of_annotations(format, tmp_path):
    corpus = corefeval.read(corefeval.example("cautious"))
    corefeval.write(corpus, tmp_path / "out", format=format)
    assert corefeval.score(corefeval.example("cautious"), tmp_path / "out")["lea"].f1 == 1.0


def small_corpus() -> corefeval.Corpus:
    builder = CorpusBuilder(name="small")
    document = builder.document(
        "d",
        words=["Ada", "met", "the", "captain", ".", "She", "smiled", "."],
        sentence_starts=[0, 5],
    )
    document.mention("e1", 0, 1)
    document.mention("e2", 2, 4)
    document.mention("e1", 5, 6)
    return builder.build()


PIECES = st.sampled_from(
    (
        *(b"", b"\n", b"\t", b"\x00", b"\xff", b"(", b")", b"[", b"]", b"{", b"}", b",", b"|"),
        *(b'"', b":", b"-1", b"99", b"null", b"e1]", b"[e1", b"\\ud800", b"1e999", b"T1"),
        b"R1\tCoref Arg1:T1 Arg2:T9\n",
    )
)
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 12), PIECES | st.binary(max_size=3)), max_size=4
)


@pytest.mark.parametrize("format", WRITTEN)
@settings(max_examples=examples(2000))
@given(edits=EDITS, side=st.integers(0, 9))
def test_broken_files_end_in_scores_or_one_error(format, edits, side, tmp_path_factory):
    """2,000 broken files of each format (or a fifth), one of its files when there are two."""
    folder = tmp_path_factory.getbasetemp() / f"broken-{format}"
    if not folder.exists():
        folder.mkdir()
        corefeval.write(small_corpus(), folder / "whole", format=format)
    whole = folder / "whole"
    files = sorted(whole.iterdir()) if whole.is_dir() else [whole]
    contents = {file.name: file.read_bytes() for file in files}
    chosen = sorted(contents)[side % len(contents)]
    for place, length, piece in edits:
        at = int(place * len(contents[chosen]))
        contents[chosen] = contents[chosen][:at] + piece + contents[chosen][at + length :]
    broken = folder / "broken"
    broken.mkdir(exist_ok=True)
    for name, data in contents.items():
        (broken / name).write_bytes(data)
    path = broken / next(name for name in contents if not name.endswith(".txt"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for forced in (format, None):
            try:
                corpus = corefeval.read(path, format=forced)
                corefeval.score(corpus, corpus)
                corefeval.score(small_corpus(), corpus)
            except CorefEvalError as error:
                assert str(error).strip()
