"""Whole columns as codes are the columns of the documents, one after the other."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corefeval
from corefeval import InputError
from corefeval.formats.conll.columns import Bitmap, coded_cells, nth_set
from corefeval.formats.conll.reader import read_conll
from corefeval.formats.conllu.reader import read_conllu
from corefeval.formats.source import Source
from corefeval.model import (
    DocumentTokens,
    Tokens,
    select_tokens,
    tokens_of_documents,
    tokens_of_texts,
)
from corefeval.model.token_tables import join_tokens

NO_COLUMN = r"no column"


def source(text: str, encoding: str = "utf-8") -> Source:
    return Source(np.frombuffer(text.encode(encoding), dtype=np.uint8), "a file", encoding)


def expected(tokens: Tokens, name: str | int) -> list[str]:
    documents = np.flatnonzero(tokens.counts).tolist()
    return [cell for document in documents for cell in tokens.column(document, name)]


def expected_starts(tokens: Tokens) -> list[int]:
    return [
        start + int(tokens.offsets[document])
        for document in range(tokens.counts.size)
        for start in tokens.sentence_starts(document)
    ]


def check(tokens: Tokens, names: list[str | int], some: np.ndarray) -> None:
    """All that is asked of whole corpora is what the documents say one by one."""
    for name in names:
        values = expected(tokens, name)
        column = tokens.coded(name)
        assert column.values() == values
        assert column.codes.dtype == np.int64
        assert len(set(column.names)) == len(column.names)
        assert tokens.coded(name, some).values() == [values[token] for token in some.tolist()]
    starts = expected_starts(tokens)
    assert tokens.starts.tolist() == starts
    everything = np.arange(tokens.offsets[-1])
    sentences = np.searchsorted(starts, everything, side="right") - 1
    assert tokens.sentence_of(everything).tolist() == sentences.tolist()
    assert tokens.sentence_of(some).tolist() == sentences[some].tolist()


@st.composite
def selections(draw, tokens: Tokens) -> Tokens:
    """The tokens as they are, or for other documents: left out, reordered, repeated, missing."""
    size = tokens.counts.size
    if draw(st.booleans()):
        return tokens
    chosen = draw(st.lists(st.integers(-1, size - 1), min_size=1, max_size=size + 2))
    return select_tokens(tokens, np.array(chosen))


def some_of(draw, tokens: Tokens) -> np.ndarray:
    size = int(tokens.offsets[-1])
    numbers = st.lists(st.integers(0, size - 1), max_size=10) if size else st.just([])
    return np.array(draw(numbers), dtype=np.int64)


LETTERS = "abÄß漢(*)|=.\x7f"
CELLS = st.one_of(
    st.sampled_from(["NN", "(NP*", "*", "-", "ab", "ab\x7fc", "é" * 30, "x" * 8, "x" * 16]),
    st.text(LETTERS, min_size=1, max_size=3),
    st.text(LETTERS, min_size=1, max_size=20).map(lambda text: text * 3),
    st.integers(1, 700).map(lambda size: "long" * (size // 4) + "er"),
)
BLANKS = st.sampled_from(["\t", " ", "  ", "\t \t", " " * 70, "\x0b"])


@st.composite
def conll_texts(draw, cells=CELLS) -> str:
    """Documents with ragged lines, all kinds of blanks, comments between sentences."""
    lines = []
    for document in range(draw(st.integers(1, 4))):
        lines.append(f"#begin document (d{document}); part 000")
        for _ in range(draw(st.integers(0, 8))):
            row = [draw(cells) for _ in range(draw(st.integers(1, 13)))]
            row[0] = f"d{document}x{row[0]}"  # never a comment
            text = "".join(cell + draw(BLANKS) for cell in row) + draw(st.sampled_from("-_"))
            lines.append(draw(st.sampled_from(["", " "])) + text + draw(st.sampled_from(["", " "])))
            lines += draw(st.sampled_from([[], [], [""], ["", "# a comment", ""]]))
        lines.append("#end document")
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=80)
@given(st.data())
def test_conll_columns(data):
    tokens = read_conll(source(data.draw(conll_texts()))).tokens
    if not tokens.counts.any():
        return
    names = [*tokens.columns, *range(1, tokens.lines.n_columns + 1)]
    chosen = data.draw(selections(tokens))
    check(chosen, names, some_of(data.draw, chosen))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis", "gb18030"])
def test_other_encodings(encoding):
    word = {"shift_jis": "漢字ソ", "gb18030": "漢字"}.get(encoding, "Äpfel")
    lines = "\n".join(f"d 0 {n} {word * (n % 4 + 1)} NN -" for n in range(30))
    text = f"#begin document (d); part 000\n{lines}\n#end document\n"
    tokens = read_conll(source(text, encoding)).tokens
    check(tokens, ["word", "tag", 3], np.array([29, 0, 0]))


def test_bytes_that_are_the_same_text_have_one_name():
    lines = b"d 0 0 \x81\xca NN -\nd 0 1 \xee\xf9 NN -\n"
    text = b"#begin document (d); part 000\n" + lines + b"#end document\n"
    tokens = read_conll(Source(np.frombuffer(text, np.uint8), "a file", "cp932")).tokens
    assert tokens.coded("word").names == ("\uffe2",)


def test_a_cell_that_is_no_text_is_an_error_of_its_line():
    text = b"#begin document (d); part 000\nd 0 0 a NN -\nd 0 1 \xff NN -\n#end document\n"
    tokens = read_conll(Source(np.frombuffer(text, np.uint8), "a file")).tokens
    assert tokens.coded("tag").values() == ["NN", "NN"]
    with pytest.raises(InputError) as error:
        tokens.coded("word")
    assert error.value.line == 3
    assert tokens.coded("word", np.array([0])).values() == ["a"]


def test_names_come_in_the_order_of_the_text():
    words = [f"w{n % 5000 * 7919 % 5003}" for n in range(40_000)]
    lines = "\n".join(f"d 0 0 {word} NN -" for word in words)
    text = f"#begin document (d); part 000\n{lines}\n#end document\n"
    column = read_conll(source(text)).tokens.coded("word")
    assert column.values() == words
    assert column.names == tuple(dict.fromkeys(words))


def test_very_long_lines():
    cells = ["d", "0", "x" * 100_000, *["y"] * 5_000, "z" * 3_000, "-"]
    short = ["d", "0", "x"]
    text = f"#begin document (d); part 000\n{' '.join(cells)}\n{' '.join(short)} -\n#end document\n"
    tokens = read_conll(source(text)).tokens
    for number, cell in ((3, cells[2]), (4_000, "y"), (5_004, cells[-2]), (5_005, "-")):
        behind = {3: "x"}.get(number, "")
        assert tokens.coded(number).values() == [cell, behind]


@given(
    st.lists(st.integers(0, 1), min_size=1, max_size=900),
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(0, 899), st.integers(0, 899)), min_size=1, max_size=5),
    st.booleans(),
)
def test_the_nth_mark(flags, n, spans, dense):
    marked = np.array(flags) == 1 if dense else np.arange(len(flags)) % 97 == 5
    bitmap = Bitmap(marked.astype(np.uint8), lambda data: data == 1)
    spans = [(min(a, b) % len(flags), max(a, b) % len(flags) + 1) for a, b in spans]
    spans = [(a, b) for a, b in spans if a < b] or [(0, len(flags))]
    here, limit = (np.array(side) for side in zip(*spans, strict=True))
    ends = ~marked & np.concatenate(([True], marked[:-1]))
    for bits, truth in ((bitmap.after, marked), (bitmap.ends_of_runs, ends)):
        found = [np.flatnonzero(truth[a:b])[n : n + 1] + a for a, b in spans]
        wanted = [int(f[0]) if f.size else b for f, (_, b) in zip(found, spans, strict=True)]
        assert nth_set(bits, here, limit, n).tolist() == wanted


@given(st.lists(st.binary(max_size=70) | st.sampled_from([b"", b"\0", b"a\0", b"a"]), max_size=60))
def test_any_bytes_are_told_apart(texts):
    data = np.frombuffer(b"".join(texts) + b"\n", dtype=np.uint8)
    end = np.cumsum([len(text) for text in texts], dtype=np.int64)
    start = end - np.array([len(text) for text in texts], dtype=np.int64)
    found = coded_cells(
        data,
        len(texts),
        lambda some: (start[some], end[some]),
        lambda cells, _: [text.decode("latin-1") for text in cells],
    )
    assert found.values() == [text.decode("latin-1") for text in texts]


@pytest.mark.parametrize("width", [3, 6, 8, 12, 30, 60, 90])
def test_many_distinct_texts(width):
    numbers = np.random.default_rng(width).integers(0, 30_000, 60_000)
    texts = [f"{number:0{width}d}" for number in numbers.tolist()]
    data = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    end = np.cumsum([len(text) for text in texts])
    start = np.concatenate(([0], end[:-1]))
    found = coded_cells(
        data,
        len(texts),
        lambda some: (start[some], end[some]),
        lambda cells, _: [text.decode() for text in cells],
    )
    assert found.values() == texts
    assert found.names == tuple(dict.fromkeys(texts))


FIELDS = st.sampled_from(
    ["_", "NOUN", "a b", "", "Case=Nom|Number=Sing|Person=3|PronType=Prs", "é"]
)
COMMENTS = st.sampled_from(
    [
        "# s_type = decl",
        "# s_type = wh",
        "#s_type=frag",
        "##  # s_type = q = r ",
        "#\ts_type = tabbed",
        "#\u00a0s_type = odd",
        "# s_type",
        "# s_types = other",
        "# sent_id = s_type",
        "# text = s_type = no",
        "#",
        "# = nameless",
        "#" + " " * 30 + "s_type = far",
        "# newpar_s_type = x",
        "# meta::s_type = document",
        "# clé = valeur",
    ]
)
KEYS = ["s_type", "sent_id", "text", "", "clé", "newpar_s_type", "meta::s_type", "# s_type", "nope"]


@st.composite
def conllu_texts(draw) -> str:
    """Documents with comments, multi-word tokens and empty nodes."""
    lines = []
    for document in range(draw(st.integers(1, 3))):
        lines.append(f"# newdoc id = d{document}")
        for _ in range(draw(st.integers(1, 4))):
            lines += draw(st.lists(COMMENTS, max_size=4))
            for number in range(1, draw(st.integers(1, 4)) + 1):
                kind = draw(st.sampled_from(["{0}", "{0}", "{0}.1", "{0}-{1}\n{0}"]))
                for form in kind.format(number, number + 1).split("\n"):
                    fields = [draw(FIELDS) for _ in range(8)]
                    lines.append("\t".join((form, *fields, draw(st.sampled_from(["_", "X=1"])))))
                    lines += draw(st.sampled_from([[], [], [], ["# s_type = inside"]]))
            lines.append("")
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


@settings(max_examples=80)
@given(st.data())
def test_conllu_columns_and_comments(data):
    corpus = read_conllu(source(data.draw(conllu_texts())))
    whole = corpus.tokens
    tokens = data.draw(selections(whole))
    check(tokens, [*tokens.columns, 1, 4, 10], some_of(data.draw, tokens))
    for key in KEYS:
        comments = [sentence.get(key) for known in corpus.sentence_metadata for sentence in known]
        assert whole.sentence_comments(key).values() == comments
        by_place = {
            whole.line(d, start): sentence.get(key)
            for d, known in enumerate(corpus.sentence_metadata)
            for start, sentence in zip(whole.sentence_starts(d), known, strict=True)
        }
        assert tokens.sentence_comments(key).values() == [
            by_place[tokens.line(d, start)]
            for d in range(tokens.counts.size)
            for start in tokens.sentence_starts(d)
        ]


def table(*documents: list[str]) -> Tokens:
    return tokens_of_documents(
        [
            DocumentTokens(
                {"word": words, "empty": [""] * len(words)}, len(words), [0][: len(words)]
            )
            for words in documents
        ]
    )


@given(st.data())
def test_tables(data):
    words = st.lists(st.sampled_from(["a", "b", "", "漢"]), max_size=5)
    tokens = data.draw(selections(table(*data.draw(st.lists(words, min_size=1, max_size=4)))))
    check(tokens, ["word", "empty", 1] if tokens.counts.any() else [], some_of(data.draw, tokens))
    assert tokens.sentence_comments("s_type") is None


CONLL = "#begin document (d{0}); part 000\nd 0 0 a{0} NN -\n\nd 0 1 b NN -\n#end document\n"
CONLLU = "# newdoc id = u{0}\n# s_type = wh\n1\ta{0}\ta\tX\tNN\t_\t0\tr\t_\t_\n\n"


@given(st.data())
def test_joined_corpora(data):
    kinds = {
        "conll": lambda: read_conll(source(CONLL.format(1) + CONLL.format(2))).tokens,
        "conllu": lambda: read_conllu(source(CONLLU.format(1) + "\n" + CONLLU.format(2))).tokens,
        "table": lambda: table(["x", "b"], [], ["y"]),
    }
    chosen = data.draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=4))
    parts = [data.draw(selections(kinds[kind]())) for kind in chosen]
    tokens = data.draw(selections(join_tokens(parts)))
    if data.draw(st.booleans()):
        tokens = join_tokens([tokens, kinds["table"]()])
    check(tokens, ["word"], some_of(data.draw, tokens))
    comments = tokens.sentence_comments("s_type")
    said = [
        "wh" if table is not None and table.find_comments is not None else None
        for document in range(tokens.counts.size)
        for table in [tokens.table(document)]
        for _ in tokens.sentence_starts(document)
    ]
    assert (comments.values() if comments is not None else [None] * len(said)) == said


def test_texts_have_no_columns_and_one_sentence():
    tokens = tokens_of_texts(["ab c", None, "", "d"])
    with pytest.raises(InputError, match=NO_COLUMN):
        tokens.coded("word")
    check(tokens, [], np.array([4, 0]))


def test_tokens_in_no_sentence():
    tokens = tokens_of_documents(
        [DocumentTokens({}, 2, [0, 1]), DocumentTokens({}, 2), DocumentTokens({}, 3, [1])]
    )
    assert tokens.sentence_of(np.arange(7)).tolist() == [0, 1, -1, -1, -1, 2, 2]


@pytest.mark.parametrize("tokens", [None, np.array([0])])
@pytest.mark.parametrize("name", ["nonsense", 0, 99])
def test_unknown_columns(name, tokens):
    for known in (
        read_conll(source(CONLL.format(1))).tokens,
        read_conllu(source(CONLLU.format(1))).tokens,
        table(["a"]),
    ):
        with pytest.raises(InputError, match=NO_COLUMN):
            known.coded(name, tokens)
        assert len(select_tokens(known, np.array([-1])).coded(name)) == 0


def test_bitmaps_travel_with_the_tokens():
    tokens = read_conll(source(CONLL.format(1))).tokens
    tokens.coded("word")
    assert pickle.loads(pickle.dumps(tokens)).coded("word").values() == ["a1", "b"]


def test_no_tokens_at_all():
    corpus = corefeval.corpus_from_arrays(entity=np.array([0, 0]), start=np.array([0, 1]))
    if corpus.tokens is not None:
        assert corpus.tokens.starts.size == 0
    empty = tokens_of_documents([])
    assert len(empty.coded("word")) == 0
    assert empty.sentence_of(np.empty(0, dtype=np.int64)).size == 0
