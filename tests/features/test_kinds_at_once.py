"""What is worked out once, or for few, is what working it out for each mention gives."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import corefeval
from corefeval.features import Features, TagSet
from corefeval.features.brackets import number_regions
from corefeval.features.heads import find_constituent_heads, find_parsed_heads
from corefeval.features.token_columns import TokenSpans, find_spans
from corefeval.formats.conll.reader import read_conll
from corefeval.formats.source import Source
from corefeval.model import CorpusBuilder
from corefeval.model.categories import Categories

PARSE = ("*", "(NP*", "*)", "(NP*)", "(NP(PP*", "*))")
TAGS = ("DT", "NN", "NNP", "IN", "PRP", "POS", "JJ")
NAMED = ("*", "(PERSON*", "*)", "(GPE)", "(DATE*", "(ORG(GPE*)")
WORDS = ("everyone", "EveryOne", "keen", "\u212aEEN", "él", "Él", "Smith", "smith", "x", "X", "éa")


def spans_up_to(size, longest=12):
    starts = st.integers(0, size - 1)
    return st.lists(
        starts.flatmap(lambda s: st.tuples(st.just(s), st.integers(s + 1, min(s + longest, size)))),
        min_size=1,
        max_size=12,
        unique=True,
    ).map(sorted)


@given(
    st.lists(
        st.tuples(st.sampled_from(PARSE), st.sampled_from(TAGS[:2]), st.booleans()),
        min_size=1,
        max_size=20,
    )
)
@example([("(NP*", "DT", True), ("*)", "NN", False), ("(NP*", "DT", True), ("*)", "NN", True)])
def test_heads_of_mentions_with_the_same_cells_are_found_once(cells):
    """Brackets that match nothing are no matter, nor are sentences that end inside mentions."""
    size = len(cells)
    mentions = [(s, e) for s in range(size) for e in range(s + 1, min(s + 12, size) + 1)]
    parse, tags = Categories.of([c[0] for c in cells]), Categories.of([c[1] for c in cells])
    sentences = np.flatnonzero([True, *(begins for _, _, begins in cells[1:])])
    start, end = np.array(mentions).T
    document = np.zeros(start.size, dtype=np.int64)
    offsets = np.array([0, len(cells)])
    spans = TokenSpans(offsets, document, start, end, np.empty((0, 3), dtype=np.int64))
    tokens = np.arange(len(cells))
    nodes, heads = find_constituent_heads(parse, tags, tokens, number_regions(tokens, sentences))
    expected = np.append(heads, -1)[find_spans(nodes.start, nodes.end, (start, end))]
    rows = np.arange(start.size)
    assert find_parsed_heads(spans, rows, parse, tags, sentences).tolist() == expected.tolist()


def written(sentences, mentions):
    """The text of a CoNLL file, whose last columns are named entities and coreference."""
    marks, lines, place = {}, ["#begin document (d); part 000"], 0
    for number, (start, end) in enumerate(mentions):
        marks.setdefault(start, []).append(f"({number})" if end == start + 1 else f"({number}")
        if end > start + 1:
            marks.setdefault(end - 1, []).append(f"{number})")
    for sentence in sentences:
        for number, (word, tag, named) in enumerate(sentence):
            mark = "|".join(marks.get(place, ["-"]))
            cells = ("d", "0", str(number), word, tag, "*", "-", "-", "-", "-", named, mark)
            lines.append("\t".join(cells))
            place += 1
        lines.append("")
    return "\n".join((*lines, "#end document", ""))


SENTENCES = st.lists(
    st.lists(
        st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS), st.sampled_from(NAMED)),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=4,
)
TAGSET = TagSet(
    "own",
    pronoun=("PRP",),
    name_=("NNP",),
    noun=("NN",),
    alone=("DT",),
    words=("everyone", "keen", "él", "x", "keen x"),
)


@given(
    SENTENCES.flatmap(
        lambda s: st.tuples(
            st.just(s), spans_up_to(sum(map(len, s)), 4), st.sampled_from((TAGSET, None))
        )
    )
)
def test_kinds_from_bytes_are_those_from_text(drawn):
    sentences, mentions, tagset = drawn
    data = np.frombuffer(written(sentences, mentions).encode(), dtype=np.uint8)
    from_bytes = read_conll(Source(data, "a file"))
    tokens = [token for sentence in sentences for token in sentence]
    words, tags, named = map(list, zip(*tokens, strict=True))
    builder = CorpusBuilder(name="text")
    starts = np.cumsum([0, *map(len, sentences[:-1])]).tolist()
    columns = {"tag": tags, "named_entity": named}
    document = builder.document("d", words=words, columns=columns, sentence_starts=starts)
    for number, (start, end) in enumerate(mentions):
        document.mention(str(number), start, end)
    from_text = builder.build()
    options = {"tagset": tagset or "penn"}
    assert kinds(from_bytes, options) == kinds(from_text, options)


def kinds(corpus, options):
    """The kind of each mention, by its place."""
    found = Features(corpus, **options)("kind").values()
    places = zip(corpus.mention_start.tolist(), corpus.mention_end.tolist(), strict=True)
    return dict(zip(places, found, strict=True))


@given(
    SENTENCES.flatmap(lambda s: st.tuples(st.just(s), *(2 * [spans_up_to(sum(map(len, s)), 4)])))
)
def test_kinds_of_both_sides_are_those_of_each(drawn):
    """The columns of key and response are read together."""
    sentences, *sides = drawn
    key, response = (
        read_conll(Source(np.frombuffer(written(sentences, one).encode(), np.uint8), "a file"))
        for one in sides
    )
    prepared = corefeval.prepare(key, response, singletons="keep", tagset="penn")
    expected = kinds(key, {"tagset": "penn"}), kinds(response, {"tagset": "penn"})
    for corpus, features, alone in zip(
        (prepared.key, prepared.response),
        (prepared.key_features, prepared.response_features),
        expected,
        strict=True,
    ):
        places = zip(corpus.mention_start.tolist(), corpus.mention_end.tolist(), strict=True)
        assert dict(zip(places, features("kind").values(), strict=True)) == alone


def test_documents_without_tokens_may_come_last():
    """Such a document begins where there is no token."""
    lines = ["#begin document (a); part 000"]
    lines += [
        f"a\t0\t{n}\t{word}\t{tag}\t{parse}\t-\t-\t-\t-\t*\t{cell}"
        for n, (word, tag, parse, cell) in enumerate(
            [("the", "DT", "(NP*", "(0"), ("cat", "NN", "*)", "0)"), ("it", "PRP", "(NP*)", "(0)")]
        )
    ]
    lines += ["#end document", "#begin document (b); part 000", "#end document", ""]
    data = np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)
    corpus = read_conll(Source(data, "a.conll"))
    assert Features(corpus)("kind").values() == ["nominal", "pronoun"]
    for match in ("head", "exact"):
        result = corefeval.score(corpus, corpus, metrics="all", match=match)
        assert result["conll"].f1 == 1
