"""Whatever a corpus has, a format carries it, or a notice counts that it does not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import corefeval
from corefeval.formats import FORMATS
from corefeval.formats.losses import note_counts
from corefeval.model import CorpusBuilder, join
from corefeval.model.text_tokens import text_of
from standoff_strategies import write_pair

WRITABLE = [name for name, format in FORMATS.items() if format.writer]


@pytest.fixture
def everything():
    """A document with something of everything; its words are its own in any format."""
    builder = CorpusBuilder()
    document = builder.document(
        "doc",
        words=["Ada", "met", "him", "gone", "here", "."],
        sentence_starts=[0, 3],
        columns={
            "tag": ["NNP", "VBD", "PRP", "VBN", "RB", "."],
            "lemma": ["Ada", "meet", "he", "go", "here", "."],
            "misc": ["SpaceAfter=No", "_", "_", "_", "_", "_"],
            "own": list("abcdef"),
        },
        metadata={"author": "me"},
        sentence_metadata=[{"sent_id": "s1"}, {"s_type": "frag"}],
    )
    described = {"entity_type": "PER", "mention_type": "PROP", "infstat": "new"}
    document.mention("Ada Lovelace", 0, 1, head=0, features={"mention_id": "T1", **described})
    document.mention("Ada Lovelace", 4, 5, features={"mention_id": "T2", "mention_type": "PRON"})
    document.mention("Lord-Byron", 2, 3, features={"mention_id": "T3", "entity_type": "PER"})
    document.mention("Lord-Byron", 3, 6, gaps=[(4, 5)], features={"mention_id": "T4"})
    document.relation("bridging", "Ada Lovelace", "Lord-Byron", "part")
    document.relation("split-antecedent", "Ada Lovelace", "Lord-Byron")
    document.relation("apposition", "T1", "T3")
    document.relation("copula", "T1", "T9")
    document.relation("agent", "x", "y")
    return builder.build()


def facts(corpus) -> dict[str, Counter]:
    """What there is, by the kind of the notice that must say if some of it is not written."""
    texts = {name: np.asarray(corpus.features[name]).tolist() for name in corpus.features}
    heads = [] if corpus.mention_head is None else np.asarray(corpus.mention_head).tolist()
    columns = {} if corpus.tokens is None else {
        name: corpus.tokens.column(0, name) for name in ("tag", "lemma", "own", "misc")
        if name in corpus.tokens.columns
    }  # fmt: skip
    return {
        "relations": Counter(relation.kind for relation in corpus.relations),
        "mention-features": Counter(
            (name, text)
            for name, values in texts.items()
            if name not in ("entity_type", "mention_type")
            for text in values
            if text
        ) + Counter(("head", "") for head in heads if head >= 0),
        "mention types": Counter(
            (name, text)
            for name in ("entity_type", "mention_type")
            for text in texts.get(name, ())
            if text
        ),
        "entity-names": Counter(corpus.names or ()),
        "metadata": Counter(
            item for known in (*corpus.metadata, *(one for all_ in corpus.sentence_metadata
                                                   for one in all_)) for item in known.items()
        ),
        "token-columns": Counter(
            (name, part)
            for name, cells in columns.items()
            for cell in cells
            for part in cell.split("|")
            if part not in "_-" and not part.startswith(("Entity", "Bridge", "SplitAnte"))
        ),
        "discontinuous-mentions": Counter(corpus.gaps.shape[:1]),
    }  # fmt: skip


# By what other kind of notice a loss may be told, too.
ALSO = {"mention types": {"mention-features", "mention-kinds"}}


@pytest.mark.parametrize("format", WRITABLE)
def test_what_does_not_come_back_was_told(everything, format, tmp_path):
    target = tmp_path / "out"
    notices = corefeval.write(everything, target, format=format)
    told = {notice.kind for notice in notices}
    again = corefeval.read(target)
    before, after = facts(everything), facts(again)
    for kind, there in before.items():
        lost = there - after[kind]
        if lost:
            assert told & ALSO.get(kind, {kind}), (kind, lost)
    counts = {notice.kind: notice.count for notice in notices}
    assert counts.get("relations", 0) == (before["relations"].total() - after["relations"].total())


def test_relations_that_corefud_cannot_carry_are_told(tmp_path, run):
    path = write_pair(
        tmp_path,
        "MENTION\tT1\t0\t0\t0\t0\tAda\tPER\tPROP\nMENTION\tT2\t0\t1\t0\t1\tshe\tPER\tPRON\n"
        "COREF\tT1\tAda-1\nCOREF\tT2\tAda-1\nAPPOS\tT1\tT2\nCOP\tT1\tT2\n",
        "Ada she\n",
    )
    printed = run("convert", path, tmp_path / "out.conllu", "--to", "corefud")[2]
    assert "2 relations left out: 1 apposition, 1 copula" in printed
    assert "1 entity numbered" in printed


def test_folders_of_corefud_keep_their_lines(tmp_path):
    lines = (
        "# newdoc id = {0}\n# global.Entity = eid-etype-head\n# sent_id = {0}-1\n"
        "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "1\tde\tde\tADP\tSP\t_\t2\tcase\t_\tEntity=(e1-person-1)|Gloss=of\n"
        "2\tel\tel\tDET\tDA\t_\t0\troot\t_\t_\n\n"
    )
    for name in "ab":
        (tmp_path / f"{name}.conllu").write_text(lines.format(name))
    corpus = corefeval.read(tmp_path)
    notices = corefeval.write(corpus, tmp_path / "all.conllu")
    assert [(notice.kind, notice.count) for notice in notices] == [("entity-names", 1)]
    written = (tmp_path / "all.conllu").read_text()
    assert written.count("1-2\tdel") == 2
    assert written.count("Gloss=of") == 2
    assert [*corefeval.read(tmp_path / "all.conllu").names] == ["e1", "e2"]


def with_and_without(features=(), **columns):
    """Two documents, of which only the first has these columns and features."""
    builder = CorpusBuilder()
    for known in (True, False):
        given = {"columns": columns} if known and columns else {}
        document = builder.document("with" if known else "without", words=list("abcd"), **given)
        told = dict(features) if known else {}
        document.mention("1", 0, 1, features=told)
        document.mention("1", 2, 4, features=told)
    return builder.build()


@pytest.mark.parametrize("format", WRITABLE)
def test_columns_that_only_some_documents_have_are_told(format, tmp_path):
    corpus = with_and_without(lemma=list("ABCD"), own=list("wxyz"))
    told = [str(one) for one in corefeval.write(corpus, tmp_path / "out", format=format)]
    if format == "corefud":  # each document is written with the lemmas that it has
        assert "1 token column that only some documents have left out: own" in told
        assert "\tB\t" in (tmp_path / "out").read_text()
    else:
        assert "2 token columns that only some documents have left out: lemma, own" in told


def test_what_comes_from_files_of_several_formats_is_told_where_it_is_lost(tmp_path):
    """CoNLL-U is written from the columns of each file, CoNLL from those of all."""
    rows = "#begin document (x); part 000\nx 0 0 a NN (S*) la - - Bob (1)\n#end document\n"
    (tmp_path / "x.conll").write_text(rows)
    (tmp_path / "y.jsonl").write_text('{"doc_key": "y", "sentences": [["b"]], "clusters": []}\n')
    corpus = join([corefeval.read(tmp_path / name) for name in ("x.conll", "y.jsonl")])
    told = {
        format: " ".join(map(str, corefeval.write(corpus, tmp_path / "out", format=format)))
        for format in ("corefud", "conll", "e2e")
    }
    assert "lemma" in told["conll"] and "speaker" in told["conll"] and "word" not in told["conll"]
    assert "lemma" not in told["corefud"] and "speaker" in told["corefud"]
    assert "lemma" in told["e2e"] and "word" not in told["e2e"]
    (tmp_path / "out").unlink()
    corefeval.write(corpus, tmp_path / "out", format="corefud")
    assert "\tla\t" in (tmp_path / "out").read_text()


@pytest.mark.parametrize("format", ["conllua", "litbank", "brat"])
def test_ids_of_mentions_that_are_numbered_anew_are_told(format, tmp_path):
    corpus = with_and_without({"mention_id": "not distinct"})
    told = [str(one) for one in corefeval.write(corpus, tmp_path / "out", format=format)]
    assert "2 mentions whose ids were replaced by numbers" in told


@pytest.mark.parametrize(
    "format, name",
    [("conllua", "EntityID"), ("conllua", "min"), ("conllua", "a=b"), ("conllua", "markable_id"),
     ("corefud", "eid"), ("corefud", "head")],
)  # fmt: skip
def test_a_feature_does_not_take_the_place_of_what_the_format_says(format, name, tmp_path):
    corpus = with_and_without({name: "9"})
    told = [str(one) for one in corefeval.write(corpus, tmp_path / "out", format=format)]
    assert f"1 mention feature left out: {name}" in told
    again = corefeval.read(tmp_path / "out")
    assert [len(entity.mentions) for document in again for entity in document.entities] == [2, 2]


HALF = "half\udc80"  # of a character


@pytest.mark.parametrize("format", WRITABLE)
def test_an_id_that_no_file_can_hold_is_one_error(format, tmp_path):
    builder = CorpusBuilder()
    builder.document(HALF, words=["a"]).mention("1", 0, 1)
    with pytest.raises(corefeval.InputError, match="whose id has half a character"):
        corefeval.write(builder.build(), tmp_path / "out", format=format)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("where", ["word", "entity", "lemma", "speaker", "feature", "metadata"])
@pytest.mark.parametrize("format", WRITABLE)
def test_half_characters_come_back_or_are_told(format, where, tmp_path):
    builder = CorpusBuilder()
    columns = {where: [HALF, "b"]} if where in ("lemma", "speaker") else None
    words = [HALF if where == "word" else "a", "b"]
    metadata = {"author": HALF} if where == "metadata" else None
    document = builder.document("d", words=words, columns=columns, metadata=metadata)
    entity = HALF if where == "entity" else "1"
    document.mention(entity, 0, 1, features={"etype": HALF} if where == "feature" else {})
    document.mention(entity, 1, 2)
    corpus = builder.build()
    told = corefeval.write(corpus, tmp_path / "out", format=format)
    again = corefeval.read(tmp_path / "out")
    assert corefeval.score(corpus, again)["conll"].f1 == 1
    if not told:
        assert HALF in repr_of(again)


def repr_of(corpus) -> str:
    """All texts of a corpus."""
    tokens = corpus.tokens
    columns = [tokens.column(0, name) for name in tokens.columns]
    features = [list(values) for values in corpus.features.values()]
    if tokens is not None and tokens.has_texts:
        return "".join(text_of(tokens, index) or "" for index in range(len(corpus)))
    return "".join(
        str(text)
        for texts in (*columns, *features, corpus.names or (), *map(dict.values, corpus.metadata))
        for text in texts
    )


def test_speakers_with_blanks_are_told(tmp_path):
    corpus = CorpusBuilder()
    corpus.document("d", words=["a", "b"], columns={"speaker": ["Ann Lee", "Bob"]})
    told = corefeval.write(corpus.build(), tmp_path / "out.conll")
    assert [str(one).split(" with")[0] for one in told] == ["1 value of token columns"]


def test_a_kind_that_nobody_declared_is_noted_by_its_name():
    (notice,) = note_counts(Counter({"lost-commas": 2}), whose="a.txt")
    assert (notice.kind, notice.count) == ("lost-commas", 2)
    assert "lost-commas" in str(notice)
