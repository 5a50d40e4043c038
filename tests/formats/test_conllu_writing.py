"""CorefUD CoNLL-U is written so that it reads back the same, and broken files end well."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from conftest import examples
from conllu_texts import PLAIN, entities, row
from corefeval import CorefEvalError, corpus_from_arrays
from strategies import spans


@st.composite
def corpora(draw):
    """Documents with nested, crossing, repeated and interrupted mentions, and empty nodes."""
    builder = corefeval.model.CorpusBuilder(name="random")
    for name in draw(
        st.lists(st.sampled_from(["a", "b/c", "d e; part 003"]), min_size=1, unique=True)
    ):
        words = draw(
            st.lists(
                st.sampled_from(["x", "y|z", "(", "-", "Entity=(e1)", "é"]), min_size=6, max_size=10
            )
        )
        starts = sorted({0, *draw(st.lists(st.integers(1, len(words) - 1), max_size=2))})
        empty = ["1" if draw(st.booleans()) and i not in starts else "" for i in range(len(words))]
        document = builder.document(
            name, words=words, sentence_starts=starts, columns={"empty": empty, "tag": words}
        )
        for entity, (start, end) in draw(
            st.lists(
                st.tuples(st.sampled_from(["e1", "e2", "odd-name"]), spans(len(words))), max_size=8
            )
        ):
            inside = [p for p in range(start, end) if p in (start, end - 1) or draw(st.booleans())]
            document.mention_at(entity, inside, features={"etype": "per-son"})
    return builder.build()


@given(corpus=corpora())
def test_written_then_read_is_the_same(corpus, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "written.conllu"
    notices = corefeval.write(corpus, path, format="corefud")
    left_out = {"crossing-mentions", "cross-sentence-mentions"}
    assert {notice.kind for notice in notices} <= {*left_out, "entity-names"}
    crossing = [notice.count for notice in notices if notice.kind in left_out]
    again = corefeval.read(path)
    assert again.documents == corpus.documents
    for one, other in zip(corpus, again, strict=True):
        assert one.sentences == other.sentences
        assert one.column("empty") == other.column("empty")
        kept = sorted((m.positions, m.features["etype"]) for m in other.mentions)
        had = sorted((m.positions, m.features["etype"]) for m in one.mentions)
        if not crossing:
            assert kept == had
            assert sorted(entities(corpus, one.index).values(), key=str) == sorted(
                entities(again, one.index).values(), key=str
            )
    assert again.n_mentions == corpus.n_mentions - sum(crossing)


def test_what_a_file_has_beside_coreference_survives(conll, tmp_path):
    source = PLAIN.replace("# sent_id = s1", "# meta::genre = bio\n# sent_id = s1").replace(
        row(1, "She", "Entity=(e1-person-1)"),
        row("1-2", "She's")
        + "\n"
        + row(1, "She", "Bridge=e2<e1|Entity=(e1-person-1)")
        + "\n"
        + row("2.1", "_"),
    )
    corpus = corefeval.read(conll(source))
    assert corefeval.write(corpus, tmp_path / "out.conllu", format="corefud") == ()
    again = corefeval.read(tmp_path / "out.conllu")
    assert list(again.relations) == list(corpus.relations) != []
    assert again[0].metadata == {"genre": "bio"}
    assert list(again[0].sentence_metadata) == list(corpus[0].sentence_metadata)
    written = (tmp_path / "out.conllu").read_text()
    assert row("1-2", "She's") in written
    assert "SpaceAfter=No" in written


def test_arrays_can_be_written():
    import io

    corpus = corpus_from_arrays(entity=[0, 0], start=[0, 3], end=[2, 4], document_ids=["d"])
    stream = io.BytesIO()
    assert corefeval.write(corpus, stream, format="corefud") == ()
    assert b"Entity=(e" in stream.getvalue() or b"Entity=(0" in stream.getvalue()


PIECES = st.sampled_from(
    ["(e1", "e1)", "[1/2]", "Entity=", "|", "\t", "\n", "# newdoc id = x\n", "# global.Entity =",
     "1\t", "-", "%2", "\x00", "\udcff", "(", ")", "<", "Bridge=e1<e2", "# newdoc\n"]
)  # fmt: skip


@settings(max_examples=examples(2000))
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(PLAIN)), st.integers(0, 30), PIECES | st.just("")), max_size=4
    )
)
def test_broken_files_end_in_scores_or_one_error(edits, tmp_path_factory):
    broken = PLAIN
    for place, length, piece in edits:
        broken = broken[:place] + piece + broken[place + length :]
    path = tmp_path_factory.getbasetemp() / "broken.conllu"
    path.write_bytes(broken.encode(errors="surrogateescape"))
    try:
        result = corefeval.score(path, path)
        assert all(
            s.f1 in (0.0, pytest.approx(1.0)) for n, s in result.scores.items() if n != "conll"
        )
    except CorefEvalError as error:
        assert str(error)
